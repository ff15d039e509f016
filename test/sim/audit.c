/* What each manager has been told and what it asks for then: rules about the moment at which it sends, whatever happens on the way. */
#include <stdlib.h>
#include <string.h>

#include "api/names.h"
#include "test/sim/rules.h"

static struct model_manager *manager_of(struct model *l, const char *user)
{
	size_t n = l->n_managers < MODEL_MANAGERS ? l->n_managers : MODEL_MANAGERS;
	struct model_manager *m;

	for (size_t i = 0; i < n; i++) {
		if (strcmp(l->managers[i].user, user) == 0)
			return &l->managers[i];
	}
	m = &l->managers[l->n_managers++ % MODEL_MANAGERS]; /* instead of one that is dead for long */
	*m = (struct model_manager){ .user = user };
	return m;
}

void model_told(struct model *l, const char *user, const char *resource, int64_t rv)
{
	enum model_resource r = model_resource_of(resource);

	if (!rv)
		rules_check_list(l, user, resource);
	if (r < MODEL_RESOURCES)
		manager_of(l, user)->told[r] = rv;
}

/* As long as it lives, it reads. */
void rules_check_reader_at_rest(struct model *l, const char *user)
{
	const struct model_manager *m = manager_of(l, user);

	for (int r = 0; r < MODEL_RESOURCES; r++) {
		if (m->told[r] < l->written[r])
			model_break(l, "reads-all",
				"%s knows %s up to version %lld only; the last write is version %lld", user,
				model_resource_name((enum model_resource)r), (long long)m->told[r],
				(long long)l->written[r]);
	}
}

static bool has_read(const struct model_job *j, const struct model_reader *reader)
{
	for (size_t i = 0; i < j->n_readers && i < MODEL_READERS; i++) {
		if (j->readers[i].incarnation == reader->incarnation &&
			strcmp(j->readers[i].user, reader->user) == 0)
			return true;
	}
	return false;
}

void model_read(struct model *l, const char *user, const struct sim_value *object)
{
	const char *uid = sim_get_text(object, "metadata", "uid");
	struct model_job *j = uid ? model_find_job(l, uid) : NULL;
	struct model_reader reader = { .user = user };

	if (!j || sim_get(object, "metadata", "deletionTimestamp") ||
		kar_qj_phase_terminal(model_phase(object)) ||
		sim_bool_of(sim_get(object, "spec", "suspend"), false))
		return;
	reader.incarnation = (int)sim_get_int(object, 0, "status", "incarnation");
	if (!has_read(j, &reader))
		j->readers[j->n_readers++ % MODEL_READERS] = reader;
}

/* A pod is asked for once more, or for the first time. */
static void note_asked(const struct model *l, struct model_job *j, const struct ask *a)
{
	if (!a->task || a->index < 0 || a->index >= MODEL_INDEXES)
		return;
	j->asked += !a->task->asked[a->index];
	a->task->asked[a->index] = true;
	a->task->asked_at[a->index] = model_now(l);
}

static void check_pod(struct model *l, const char *user, const struct sim_value *pod)
{
	const char *uid = model_owner(pod);
	const struct sim_value *labels = sim_get(pod, "metadata", "labels");
	struct ask a = { .user = user, .pod = pod };
	struct write w = { .l = l,
		.ask = &a,
		.job = uid ? model_find_job(l, uid) : NULL,
		.by_manager = true };

	if (!w.job)
		return; /* rule owner-known waits for it at the server */
	a.told = manager_of(l, user)->told[MODEL_JOBS];
	a.task = model_find_task(w.job, sim_text_or(sim_member(labels, KAR_LABEL_TASK), ""));
	a.index = atoi(sim_text_or(sim_member(labels, KAR_LABEL_INDEX), "-1"));
	rules_check(&w, RULE_POD_ASKED);
	note_asked(l, w.job, &a);
}

/* --- refusals -------------------------------------------------------------------------------------------- */

static void note_refused(struct model *l, struct model_job *j, const char *user)
{
	j->refused.user = user;
	j->refused.at = model_now(l);
	j->refused.spec_rv = j->spec_rv;
}

static void hear_create(struct model *l, const char *user, const struct sim_request *rq, bool forbidden)
{
	struct kar_err err;
	struct sim_value *pod = sim_parse(rq->body.p, rq->body.n, &err);
	const char *uid = model_owner(pod);
	struct model_job *j = uid ? model_find_job(l, uid) : NULL;

	if (j)
		note_refused(l, j, user);
	if (j && forbidden)
		model_note_short(l, j);
	sim_unref(pod);
}

/* A manager looks at a pod when its create was answered AlreadyExists: now it knows whose it is. */
static void hear_pod(struct model *l, const char *user, const char *name, const struct sim_value *pod)
{
	const char *uid = model_owner(pod);
	struct model_job *j;

	TAILQ_FOREACH(j, &l->present, in_present) {
		bool mine = uid && strcmp(uid, j->uid) == 0;

		if (!mine && strcmp(j->ns, sim_text_or(sim_get(pod, "metadata", "namespace"), "")) == 0 &&
			model_has_name(j, name))
			note_refused(l, j, user);
	}
}

void model_heard(struct model *l, const char *user, const struct sim_request *rq,
	const struct sim_response *answer)
{
	enum { FORBIDDEN = 403, INVALID = 422, FOUND = 200 };

	if (rq->subresource || rq->dry_run || strcmp(rq->resource, "pods") != 0 || !model_is_manager(user))
		return;
	if (rq->verb == KAR_CREATE && (answer->code == FORBIDDEN || answer->code == INVALID))
		hear_create(l, user, rq, answer->code == FORBIDDEN);
	else if (rq->verb == KAR_GET && answer->code == FOUND)
		hear_pod(l, user, rq->name, answer->object);
}

void model_sent(struct model *l, const char *user, const struct sim_request *rq)
{
	struct sim_value *pod;
	struct kar_err err;

	if (rq->verb != KAR_CREATE || rq->dry_run || rq->subresource || strcmp(rq->resource, "pods") != 0 ||
		!model_is_manager(user))
		return;
	pod = sim_parse(rq->body.p, rq->body.n, &err);
	if (pod)
		check_pod(l, user, pod);
	sim_unref(pod);
}

/* --- writes that change nothing -------------------------------------------------------------------------- */

void model_executed(struct model *l, const char *user, const struct sim_request *rq,
	const struct sim_response *answer)
{
	const char *version = sim_text_or(sim_get(answer->object, "metadata", "resourceVersion"), "0");
	bool edit = rq->verb == KAR_UPDATE || rq->verb == KAR_PATCH;

	if (!l->faultless || !edit || answer->code != 200 || rq->dry_run || !model_is_manager(user))
		return;
	/* Somebody may have been faster. */
	if (model_is_hostile(rq->ns) || (l->last_edit && l->last_edit >= model_horizon(l)))
		return;
	/* A write that changes something gives the latest of all versions; taking the last finalizer away removes the object. */
	if ((int64_t)kar_rv_parse(version) != sim_apiserver_rv(l->server) &&
		sim_apiserver_peek(l->server, rq->group, rq->resource, rq->ns, rq->name))
		model_break(l, "idle-write", "%s writes %s%s%s %s/%s without changing anything", user,
			rq->resource, rq->subresource ? "/" : "", rq->subresource ? rq->subresource : "",
			rq->ns ? rq->ns : "", rq->name ? rq->name : "");
}
