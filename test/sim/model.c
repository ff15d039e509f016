#include "test/sim/model.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>

#include "api/names.h"
#include "common/base/mem.h"
#include "test/sim/model_impl.h"
#include "test/sim/plan.h"
#include "test/sim/rules.h"

int model_compare_jobs(const struct model_job *a, const struct model_job *b)
{
	return strcmp(a->uid, b->uid);
}

int model_compare_pods(const struct model_pod *a, const struct model_pod *b)
{
	int order = strcmp(a->name, b->name);

	return order ? order : strcmp(a->ns, b->ns);
}

RB_GENERATE(model_jobs, model_job, by_uid, model_compare_jobs)
RB_GENERATE(model_pods, model_pod, by_name, model_compare_pods)

/* --- reading objects ------------------------------------------------------------------------------------------ */

static bool is_phase(const struct sim_value *pod, const char *phase)
{
	return strcmp(sim_text_or(sim_get(pod, "status", "phase"), ""), phase) == 0;
}

/* --- the model ---------------------------------------------------------------------------------------- */

kar_time model_now(const struct model *l)
{
	return sim_timeline_mono(l->timeline);
}

kar_time model_horizon(const struct model *l)
{
	kar_time now = model_now(l);

	return now > l->staleness ? now - l->staleness : 0;
}

void model_break(struct model *l, const char *rule, const char *fmt, ...)
{
	va_list ap;

	if (l->broken)
		return;
	l->broken = rule;
	va_start(ap, fmt);
	vsnprintf(l->story, sizeof(l->story), fmt, ap);
	va_end(ap);
}

struct model_job *model_find_job(const struct model *l, const char *uid)
{
	struct model_job key;

	strlcpy(key.uid, uid, sizeof(key.uid));
	return RB_FIND(model_jobs, (struct model_jobs *)(void *)(uintptr_t)&l->jobs, &key);
}

struct model_pod *model_find_pod(const struct model *l, const char *ns, const char *name)
{
	struct model_pod key;

	strlcpy(key.ns, ns, sizeof(key.ns));
	strlcpy(key.name, name, sizeof(key.name));
	return RB_FIND(model_pods, (struct model_pods *)(void *)(uintptr_t)&l->pods, &key);
}

struct model_task *model_find_task(struct model_job *j, const char *name)
{
	for (int i = 0; i < j->n_known; i++) {
		if (strcmp(j->tasks[i].name, name) == 0)
			return &j->tasks[i];
	}
	return NULL;
}

/* --- groups -------------------------------------------------------------------------------------------- */

/* @group: NULL: it is gone, and the limit with it. */
static int limit_of(const struct sim_value *group)
{
	if (!group || is_deleting(group))
		return MODEL_NO_LIMIT;
	return (int)sim_get_int(group, MODEL_NO_LIMIT, "status", "desired");
}

static void on_group(struct model *l, const struct sim_change *c)
{
	const char *uid = model_owner(c->new ? c->new : c->old);
	struct write w = { .l = l,
		.c = c,
		.job = uid ? model_find_job(l, uid) : NULL,
		.by_manager = model_is_manager(c->user) };
	bool admitted;

	rules_check(&w, RULE_GROUP_CHANGED);
	model_note_eviction(l, c);
	if (model_is_of_others(c->ns))
		model_note_gang_group(l, c);
	if (!w.job)
		return;
	w.job->admitted_before |= c->old && !model_owner(c->old) && model_is_admitted(c->old);
	/* An admission belongs to the queue that gave it, whatever queue somebody writes into the group. */
	admitted = model_is_admitted_by(c->new, w.job->queue);
	model_set(&w.job->limit, limit_of(c->new), model_now(l));
	if (w.job->admitted && !admitted)
		w.job->was_admitted = model_now(l);
	w.job->admitted = since(admitted, w.job->admitted, model_now(l));
	if (rules_begins_attempt(c))
		w.job->placed = model_now(l);
	model_note_scaling(l, w.job, c);
	model_note_places(l, w.job, c->new);
	model_note_run(l, w.job);
}

static void on_queue(struct model *l, const struct sim_change *c)
{
	if (c->new &&strcmp(c->name, PLAN_TEAM) != 0)
		model_set(&l->max_jobs[model_queue(c->name)],
			(int)sim_get_int(c->new, INT32_MAX, "spec", "maxJobs"), model_now(l));
}

/* --- pods ---------------------------------------------------------------------------------------------- */

static bool is_live(const struct model_pod *p)
{
	return !p->deleting && !p->succeeded && !p->failed;
}

static void note_success(struct model_pod *p)
{
	struct model_task *t = p->job ? model_find_task(p->job, p->task) : NULL;

	if (t && p->index >= 0 && p->index < MODEL_INDEXES) {
		t->succeeded[p->index] = true;
		t->done_in[p->index] = p->incarnation;
	}
}

/*
 * A manager takes it away for the queue, or because it was scaled away. Where requests are late, or two managers work at once, it may
 * be wanted again by then: that looks like somebody else's deletion.
 */
static bool is_shed_late(const struct model *l, const struct model_pod *p)
{
	const struct model_task *t = model_find_task(p->job, p->task);
	kar_time then = model_horizon(l);
	bool limited = setting_min(&p->job->limit, then) < MODEL_NO_LIMIT;
	bool scaled_away = t && setting_min(&t->replicas, then) <= p->index && p->index < t->replicas.now;

	return !l->faultless && (limited || scaled_away);
}

static void lose(const struct model *l, struct model_pod *p)
{
	p->job->losses++;
	p->job->lost_at = model_now(l);
	p->lost = true;
}

static void note_loss(struct model *l, struct model_pod *p, const struct sim_change *c, bool deleting)
{
	bool by_other = deleting && !p->deleting && !model_is_manager(c->user);
	/* What ends because a manager stops it is neither. */
	bool failed = is_phase(c->new, "Failed") && !p->failed && !p->stopped;

	if (!p->job)
		return;
	if (failed && !model_is_disrupted(c->new))
		p->job->failures++;
	if ((failed || by_other || (!c->new && !p->deleting)) && !p->lost)
		lose(l, p);
	if (deleting && !p->deleting && !by_other && !p->lost && is_shed_late(l, p)) {
		p->job->losses++;
		p->shed_late = true;
		if (p->incarnation > p->job->last_gang_loss)
			p->job->last_gang_loss = p->incarnation;
	}
	if ((p->lost || p->tampered || p->shed_late) && p->incarnation > p->job->last_loss)
		p->job->last_loss = p->incarnation;
}

void model_note_gang(struct model_job *j, int incarnation)
{
	const struct model_pod *p;
	int up = 0;

	if (incarnation > j->up_incarnation) {
		j->most_up = 0;
		j->up_incarnation = incarnation;
	}
	/* A create that arrives late makes a pod with an older label, which is taken for one of this incarnation. */
	TAILQ_FOREACH(p, &j->pods, of_job)
		up += p->incarnation <= j->up_incarnation && p->running && !p->deleting;
	for (int i = 0; i < j->n_tasks; i++) {
		for (int k = 0; k < j->tasks[i].replicas.now && k < MODEL_INDEXES; k++)
			up += j->tasks[i].succeeded[k];
	}
	if (up > j->most_up)
		j->most_up = up;
}

static void note_pod(struct model *l, struct model_pod *p, const struct sim_change *c)
{
	bool was_live = is_live(p);

	model_note_end(l, p, c);
	note_loss(l, p, c, !c->new || is_deleting(c->new));
	model_note_policy(l, p, c);
	p->deleting = since(is_deleting(c->new), p->deleting, model_now(l));
	p->running = is_phase(c->new, "Running");
	p->failed = is_phase(c->new, "Failed");
	if (!p->succeeded && (!p->stopped || p->shed_late) && is_phase(c->new, "Succeeded"))
		note_success(p);
	p->succeeded = is_phase(c->new, "Succeeded");
	if (!p->job)
		return;
	p->job->live += is_live(p) - was_live;
	if (was_live && !is_live(p))
		p->job->fewer = model_now(l);
	model_note_gang(p->job, p->incarnation);
	if (p->job->ordered)
		model_note_order(l, p->job);
}

static struct model_pod *add_pod(struct model *l, const struct sim_change *c, struct model_job *job)
{
	struct model_pod *p = kar_xcalloc(1, sizeof(*p));
	const struct sim_value *labels = sim_get(c->new, "metadata", "labels");

	p->job = job;
	p->created = model_now(l);
	strlcpy(p->uid, sim_text_or(sim_get(c->new, "metadata", "uid"), ""), sizeof(p->uid));
	strlcpy(p->ns, c->ns, sizeof(p->ns));
	strlcpy(p->name, c->name, sizeof(p->name));
	strlcpy(p->task, sim_text_or(sim_member(labels, KAR_LABEL_TASK), ""), sizeof(p->task));
	p->index = atoi(sim_text_or(sim_member(labels, KAR_LABEL_INDEX), "-1"));
	p->incarnation = atoi(sim_text_or(sim_member(labels, KAR_LABEL_INCARNATION), "0"));
	RB_INSERT(model_pods, &l->pods, p);
	if (job) {
		TAILQ_INSERT_TAIL(&job->pods, p, of_job);
		job->live++;
		model_note_template(l, job, c->new);
	}
	return p;
}

static void leave_job(struct model_pod *p)
{
	TAILQ_REMOVE(&p->job->pods, p, of_job);
	p->job->live -= is_live(p);
	p->job = NULL;
}

static void note_free(const struct model *l, struct model_pod *p)
{
	struct model_task *t = p->job ? model_find_task(p->job, p->task) : NULL;

	if (t && p->index >= 0 && p->index < MODEL_INDEXES)
		t->freed_at[p->index] = model_now(l);
}

static void remove_pod(struct model *l, struct model_pod *p)
{
	note_free(l, p);
	if (!p->job || p->job->gone) /* whose successor may wait for the name */
		l->freed = model_now(l);
	if (p->job)
		leave_job(p);
	RB_REMOVE(model_pods, &l->pods, p);
	free(p);
}

static bool is_person(const char *user)
{
	return user && strcmp(user, "alice") == 0;
}

static void on_pod(struct model *l, const struct sim_change *c)
{
	const char *uid = c->new ? model_owner(c->new) : NULL;
	struct write w = { .l = l, .c = c, .by_manager = model_is_manager(c->user) };

	w.pod = c->old ? model_find_pod(l, c->ns, c->name) : NULL;
	w.job = w.pod ? w.pod->job : uid ? model_find_job(l, uid) : NULL;
	rules_check(&w, w.pod ? RULE_POD_CHANGED : RULE_POD_CREATED);
	if (model_is_of_others(c->ns))
		model_note_gang_pod(l, c);
	if (!w.pod) {
		if (c->new)
			note_pod(l, add_pod(l, c, w.job), c);
		return;
	}
	/* A deletion is no edit; to take off the last finalizer is one, and there is nothing afterwards. */
	if (is_person(c->user) && c->verb != KAR_DELETE && !c->subresource) {
		w.pod->tampered = true;
		if (c->new)
			model_note_edit(w.pod, c);
		if (w.job)
			w.job->pods_edited = true;
	}
	if (c->new) {
		note_pod(l, w.pod, c);
		if (w.job && (!uid || strcmp(uid, w.job->uid) != 0)) {
			if (is_live(w.pod) && !w.pod->lost)
				lose(l, w.pod); /* for the job, what somebody takes from it is gone */
			leave_job(w.pod);
		}
	} else {
		note_loss(l, w.pod, c, true);
		model_note_policy(l, w.pod, c);
		remove_pod(l, w.pod);
	}
	if (w.job)
		model_note_part(w.job);
}

/* --- life ---------------------------------------------------------------------------------------------- */

static void on_event(struct model *l, const struct sim_change *c)
{
	const char *uid = sim_text_or(sim_get(c->new, "involvedObject", "uid"), "");
	struct write w = { .l = l,
		.c = c,
		.job = model_find_job(l, uid),
		.by_manager = model_is_manager(c->user) };

	if (c->new &&w.job)
		rules_check(&w, RULE_EVENT_WRITTEN);
}

static void note_write(struct model *l, const struct sim_change *c)
{
	const char *uid = model_owner(c->new ? c->new : c->old);
	struct write w = { .l = l, .c = c, .job = uid ? model_find_job(l, uid) : NULL, .by_manager = true };
	enum model_resource r = model_resource_of(c->resource);

	if (r < MODEL_RESOURCES)
		l->written[r] = c->rv;
	if (!model_is_manager(c->user) || strcmp(c->resource, "events") == 0)
		return;
	l->manager_writes++;
	l->last_manager_write = model_now(l);
	rules_check(&w, RULE_WRITTEN);
}

static const struct sim_value *readiness(const struct sim_value *node)
{
	return sim_member(model_condition(node, "Ready"), "status");
}

static bool is_equal(const struct sim_value *a, const struct sim_value *b)
{
	return a == b || (a && b && sim_equal(a, b));
}

static void on_node(struct model *l, const struct sim_change *c)
{
	if (!c->old || !c->new || !is_equal(sim_get(c->old, "spec"), sim_get(c->new, "spec")) ||
		!is_equal(readiness(c->old), readiness(c->new))) {
		l->nodes_changed = model_now(l);
		l->n_evictions = 0;
	}
}

/*
 * Room is kept for a head, and after a while is not, by turns as long as it waits (docs/design/queue.md, 6): nothing else moves, if nothing
 * else is written within a whole turn.
 */
static bool is_turn_of_reservation(const struct sim_change *c)
{
	static const char *const others[] = { "state", "parent", "pending", "inqueue", "running", "completed",
		"unknown", "allocated", "entitled", "share", "head", "conditions" };
	bool same = c->old && c->new &&strcmp(c->resource, "queues") == 0 && model_is_manager(c->user);

	for (size_t i = 0; same && i < KAR_LEN(others); i++)
		same = is_equal(sim_get(c->old, "status", others[i]), sim_get(c->new, "status", others[i]));
	return same && is_equal(sim_get(c->old, "spec"), sim_get(c->new, "spec")) &&
		!is_equal(sim_get(c->old, "status", "reservation"), sim_get(c->new, "status", "reservation"));
}

static bool waits_behind_a_head(const struct sim_value *o)
{
	const char *message = sim_text_or(sim_member(model_condition(o, "Admitted"), "message"), "");

	return strstr(message, "held for ") || strstr(message, " fit now");
}

/* Who waits says for whom the room is kept, of which queue the turn is now. */
static bool tells_of_a_turn(const struct sim_change *c)
{
	bool waits = c->old && c->new &&model_is_manager(c->user) &&
		(strcmp(c->resource, "podgroups") == 0 || strcmp(c->resource, "queuejobs") == 0);

	return waits && waits_behind_a_head(c->old) && waits_behind_a_head(c->new) &&
		is_equal(sim_get(c->old, "status", "phase"), sim_get(c->new, "status", "phase")) &&
		is_equal(sim_get(c->old, "spec"), sim_get(c->new, "spec"));
}

static void on_change(void *arg, const struct sim_change *c)
{
	struct model *l = arg;

	if (strcmp(c->resource, "leases") == 0) {
		model_note_lease(l, c);
		return;
	}
	l->writes++;
	if (!is_turn_of_reservation(c) && !tells_of_a_turn(c))
		l->last_write = model_now(l);
	if (is_person(c->user)) {
		l->last_edit = model_now(l);
		l->n_evictions = 0;
	}
	note_write(l, c);
	if (model_is_hostile(c->ns))
		return;
	if (strcmp(c->resource, "pods") == 0)
		on_pod(l, c);
	else if (strcmp(c->resource, "queuejobs") == 0)
		model_note_job(l, c);
	else if (strcmp(c->resource, "podgroups") == 0)
		on_group(l, c);
	else if (strcmp(c->resource, "queues") == 0)
		on_queue(l, c);
	else if (strcmp(c->resource, "nodes") == 0)
		on_node(l, c);
	else if (strcmp(c->resource, "services") == 0)
		model_note_service(l, c);
	else if (strcmp(c->resource, "events") == 0)
		on_event(l, c);
}

struct model *model_new(struct sim_apiserver *s, kar_time staleness)
{
	struct model *l = kar_xcalloc(1, sizeof(*l));

	l->server = s;
	l->timeline = sim_apiserver_timeline(s);
	l->staleness = staleness;
	for (size_t i = 0; i < MODEL_QUEUES; i++)
		l->max_jobs[i].now = INT32_MAX;
	RB_INIT(&l->jobs);
	TAILQ_INIT(&l->present);
	RB_INIT(&l->pods);
	TAILQ_INIT(&l->gangs);
	sim_apiserver_listen(s, on_change, l);
	return l;
}

void model_free(struct model *l)
{
	struct model_pod *p;
	struct model_job *j;
	struct model_gang *g;

	if (!l)
		return;
	while ((g = TAILQ_FIRST(&l->gangs)) != NULL) {
		TAILQ_REMOVE(&l->gangs, g, of_model);
		free(g);
	}
	while ((p = RB_MIN(model_pods, &l->pods)) != NULL)
		remove_pod(l, p);
	while ((j = RB_MIN(model_jobs, &l->jobs)) != NULL) {
		RB_REMOVE(model_jobs, &l->jobs, j);
		free(j);
	}
	free(l);
}
