/* What the model notes of QueueJobs: their spec, and what managers make of their status. */
#include <string.h>

#include <bsd/string.h>

#include "common/base/mem.h"
#include "test/sim/model_impl.h"
#include "test/sim/rules.h"

/* The task of this name comes to position @i; what was there is kept behind. */
static struct model_task *task_at(struct model_job *j, int i, const char *name)
{
	struct model_task other;
	int at = i;

	while (at < j->n_known && strcmp(j->tasks[at].name, name) != 0)
		at++;
	if (at == j->n_known) {
		at = j->n_known < MODEL_TASKS ? j->n_known++ : MODEL_TASKS - 1;
		j->tasks[at] = (struct model_task){ 0 };
		strlcpy(j->tasks[at].name, name, sizeof(j->tasks[at].name));
	}
	if (at != i) {
		other = j->tasks[i];
		j->tasks[i] = j->tasks[at];
		j->tasks[at] = other;
	}
	return &j->tasks[i];
}

/* What an edit scales away has no back-off: its pod, which showed it, is gone. */
static void end_backoffs(struct model_task *t, int replicas)
{
	for (int i = replicas > 0 ? replicas : 0; i < MODEL_INDEXES; i++)
		t->held_until[i] = 0;
}

static void note_tasks(struct model *l, struct model_job *j, const struct sim_value *job)
{
	const struct sim_value *specs = sim_get(job, "spec", "taskSpecs");

	if (j->spec_edited) /* what might start before the edit may have started */
		model_note_order(l, j);
	j->n_tasks = 0;
	j->total = 0;
	for (size_t i = 0; i < sim_count(specs) && i < MODEL_TASKS; i++) {
		const struct sim_value *spec = sim_item(specs, i);
		int replicas = (int)sim_int_of(sim_member(spec, "replicas"), 1);

		struct model_task *t = task_at(j, (int)i, sim_text_or(sim_member(spec, "name"), ""));

		model_set(&t->replicas, replicas, model_now(l));
		end_backoffs(t, replicas);
		j->total += replicas;
		j->n_tasks++;
	}
	for (int i = j->n_tasks; i < j->n_known; i++)
		model_set(&j->tasks[i].replicas, 0, model_now(l));
	j->minimum = (int)sim_get_int(job, j->total, "spec", "schedSpec", "minAvailable");
	model_note_dependencies(l, j, job);
}

static bool has_host_names(const struct sim_value *job)
{
	return sim_bool_of(sim_get(job, "spec", "network", "enableDNSHostnames"), false);
}

/* Each pod has the names of all pods of its task. */
static bool same_replicas(const struct sim_value *x, const struct sim_value *y)
{
	for (size_t i = 0; i < sim_count(x) || i < sim_count(y); i++) {
		if (sim_int_of(sim_member(sim_item(x, i), "replicas"), 1) !=
			sim_int_of(sim_member(sim_item(y, i), "replicas"), 1))
			return false;
	}
	return true;
}

static bool same_templates(const struct sim_value *a, const struct sim_value *b)
{
	const struct sim_value *x = sim_get(a, "spec", "taskSpecs"), *y = sim_get(b, "spec", "taskSpecs");

	if (has_host_names(a) != has_host_names(b) || (has_host_names(a) && !same_replicas(x, y)) ||
		!sim_equal(sim_get(a, "spec", "schedulerName"), sim_get(b, "spec", "schedulerName")) ||
		!sim_equal(sim_get(a, "spec", "schedSpec", "nodeSelector"),
			sim_get(b, "spec", "schedSpec", "nodeSelector")))
		return false;
	if (x == y)
		return true;
	if (sim_count(x) != sim_count(y))
		return false;
	for (size_t i = 0; i < sim_count(x); i++) {
		if (!sim_equal(sim_member(sim_item(x, i), "template"),
			    sim_member(sim_item(y, i), "template")) ||
			!sim_equal(sim_member(sim_item(x, i), "name"), sim_member(sim_item(y, i), "name")))
			return false;
	}
	return true;
}

static void note_templates(struct model_job *j, const struct sim_change *c)
{
	if (!c->old || same_templates(c->old, c->new))
		return;
	j->template_changed = true;
	for (int i = 0; i < j->n_tasks; i++)
		j->tasks[i].checked[0] = '\0';
}

static void note_spec(struct model *l, struct model_job *j, const struct sim_change *c)
{
	kar_time now = model_now(l);
	bool suspend = sim_bool_of(sim_get(c->new, "spec", "suspend"), false);

	if (!c->old || sim_get(c->old, "spec") != sim_get(c->new, "spec")) {
		note_tasks(l, j, c->new);
		model_note_gang(j, j->up_incarnation); /* other tasks than before count, perhaps */
		if (j->suspended && !suspend)
			j->resumed = now;
		j->suspended = since(suspend, j->suspended, now);
		j->ever_suspended |= suspend;
		j->keeps_done |= suspend;
		j->spec_edited = now;
		j->has_times = sim_get(c->new, "spec", "activeDeadlineSeconds") ||
			sim_get(c->new, "spec", "ttlSecondsAfterFinished");
		j->spec_rv = c->rv;
		note_templates(j, c);
	}
	if (is_deleting(c->new) && !j->deleting)
		j->spec_rv = c->rv;
	j->deleting = since(is_deleting(c->new), j->deleting, now);
}

void model_note_run(const struct model *l, struct model_job *j)
{
	if (j->phase == KAR_QJ_PHASE_SUSPENDED)
		j->runs_since = 0;
	else if (j->admitted && !j->runs_since)
		j->runs_since = model_now(l);
}

static void note_status(struct model *l, struct model_job *j, const struct sim_change *c, bool by_manager)
{
	int incarnation = (int)sim_get_int(c->new, 0, "status", "incarnation");
	enum kar_qj_phase phase = model_phase(c->new);

	if (incarnation != j->incarnation) {
		/* A first start is recorded later: its pods may have an older template already. */
		j->template_changed &= j->incarnation == 0;
		j->restarts_here = 0;
	}
	j->restarts_here += (int)(sim_get_int(c->new, 0, "status", "restarts") -
		sim_get_int(c->old, 0, "status", "restarts"));
	if (phase != j->phase)
		j->phase_since = model_now(l);
	j->incarnation = incarnation;
	/* Who lost its admission while it started waits again, and so does one of whom a manager read so in an old cache. */
	j->keeps_done |= (phase == KAR_QJ_PHASE_RESTARTING && model_gave_back(c->new)) ||
		(phase == KAR_QJ_PHASE_PENDING &&
			(j->phase == KAR_QJ_PHASE_STARTING || j->phase == KAR_QJ_PHASE_RUNNING));
	j->phase = phase;
	if (!sim_equal(sim_get(c->old, "status", "startTime"), sim_get(c->new, "status", "startTime")))
		j->start_noted = model_now(l);
	j->finished = since(kar_qj_phase_terminal(phase), j->finished, model_now(l));
	model_note_run(l, j);
	j->writes += by_manager;
	model_note_task_restarts(l, j, c->new);
	if (by_manager)
		model_note_backoff(l, j, c);
	if (j->ordered)
		model_note_order(l, j);
	if (!by_manager)
		j->status_edited = true;
	if (model_is_invalid(c->new))
		j->invalid = KAR_NEVER;
	else if (j->invalid == KAR_NEVER)
		j->invalid = model_now(l);
}

static struct model_job *add_job(struct model *l, const struct sim_change *c)
{
	struct model_job *j = kar_xcalloc(1, sizeof(*j));

	strlcpy(j->uid, sim_text_or(sim_get(c->new, "metadata", "uid"), ""), sizeof(j->uid));
	strlcpy(j->ns, c->ns, sizeof(j->ns));
	strlcpy(j->name, c->name, sizeof(j->name));
	j->created = j->without_service = model_now(l);
	j->limit.now = MODEL_NO_LIMIT;
	j->queue = model_queue(sim_text_or(sim_get(c->new, "spec", "queue"), "default"));
	TAILQ_INIT(&j->pods);
	RB_INSERT(model_jobs, &l->jobs, j);
	TAILQ_INSERT_TAIL(&l->present, j, in_present);
	return j;
}

void model_note_job(struct model *l, const struct sim_change *c)
{
	const char *uid = sim_text_or(sim_get(c->new ? c->new : c->old, "metadata", "uid"), "");
	struct write w = { .l = l,
		.c = c,
		.job = model_find_job(l, uid),
		.by_manager = model_is_manager(c->user) };

	if (!w.job)
		w.job = add_job(l, c);
	if (w.by_manager && c->verb == KAR_DELETE && !is_deleting(c->old))
		rules_check(&w, RULE_JOB_DELETED);
	if (!c->new) {
		w.job->gone = model_now(l);
		w.job->spec_rv = c->rv;
		TAILQ_REMOVE(&l->present, w.job, in_present);
		return;
	}
	rules_check(&w, RULE_JOB_CHANGED);
	note_spec(l, w.job, c);
	if (!c->old)
		w.job->crowded = !model_names_are_free(l, w.job) || model_has_just_followed(l, w.job);
	if (c->old && sim_get(c->old, "status") != sim_get(c->new, "status"))
		note_status(l, w.job, c, w.by_manager);
}
