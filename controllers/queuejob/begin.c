/*
 * The beginning of a decision: the facts, from the view and a status.
 *
 * A start is decided in two ways (decision 007). Every start but the first one is a status write before anything is
 * created: phase Starting is stored, and the sync after it creates the pods. The first start of a job is folded into the
 * next write instead: queuejob_assume_recorded() lets the same decision create the pods. That is safe because the pods and
 * the PodGroup show all that the first start records: incarnation, template hash and start time. A later sync that finds
 * pods but no recorded start derives it from them (queuejob_runs_unrecorded()).
 */
#include "controllers/queuejob/reconcile.h"

#include <string.h>

/* Suspend and resume keep the succeeded indexes, unless the template was changed meanwhile. A restart drops them. */
static bool keeps_results(const struct queuejob_facts *f)
{
	if (queuejob_drops_results(f->seen))
		return false;
	return !f->template_changed || queuejob_has_gang(f->seen->phase) ||
		kar_qj_phase_terminal(f->seen->phase) || f->job->spec.suspend;
}

/* A pod may succeed after a suspension is recorded: that counts. It does not in an incarnation that was given up. */
static bool records_success(const struct queuejob_facts *f)
{
	bool paused = f->seen->phase == KAR_QJ_PHASE_SUSPENDED || f->seen->phase == KAR_QJ_PHASE_PENDING ||
		(f->seen->phase == KAR_QJ_PHASE_RESTARTING && !queuejob_drops_results(f->seen));

	return queuejob_has_gang(f->seen->phase) ||
		(paused && f->seen->record.template_hash[0] && keeps_results(f));
}

static bool index_of(const void *job, const char *pod_name, size_t *task, int32_t *index)
{
	return kar_queuejob_pod_index(job, pod_name, task, index);
}

static const struct kar_task_status *find_recorded_task(const struct kar_queuejob_status *s, const char *task)
{
	for (size_t i = 0; i < s->n_tasks; i++) {
		if (strcmp(s->tasks[i].name, task) == 0)
			return &s->tasks[i];
	}
	return NULL;
}

/* @restart_times: per task, 0: no restart; NULL: the recorded ones. */
static const struct podset_task_input *task_inputs(const struct queuejob_reconcile *r,
	const struct queuejob_facts *f, const kar_time *restart_times)
{
	size_t n = f->job->spec.n_tasks;
	struct podset_task_input *in = kar_arena_alloc(r->arena, n, sizeof(*in));
	bool gang = queuejob_has_gang(f->seen->phase), keep = keeps_results(f);

	for (size_t i = 0; i < n; i++) {
		const struct kar_task_status *known = f->known[i];
		bool recorded = gang && known && known->restart_time;

		in[i] = (struct podset_task_input){
			.replicas = f->job->spec.tasks[i].replicas,
			.done = keep && known ? known->succeeded_indexes : "",
			.given_up = r->indexes[i].failed,
			.given_up_before = known ? known->failed_indexes : "",
			.restarts = restart_times ? restart_times[i] != 0 : recorded,
			.restart_recorded = recorded,
		};
	}
	return in;
}

static void count(const struct queuejob_reconcile *r, struct queuejob_facts *f, const kar_time *restart_times)
{
	const struct podset_input in = {
		.owner = { f->job, index_of },
		.tasks = task_inputs(r, f, restart_times),
		.n_tasks = f->job->spec.n_tasks,
		.max_pods = KAR_QJ_MAX_PODS, /* a job that wants more is invalid, but its pods are counted */
		.pods = f->v->pods,
		.n_pods = f->v->n_pods,
		.blocking = f->v->blocking,
		.n_blocking = f->v->n_blocking,
		.incarnation = f->seen->incarnation,
		.template_hash = f->seen->record.template_hash,
		.counted = f->seen->record.counted_pods,
		.at_work = queuejob_has_gang(f->seen->phase),
		.record = records_success(f),
	};

	podset_count(&in, r->arena, &f->pods);
}

static void restore_wants(struct queuejob_reconcile *r)
{
	size_t n = r->f->job->spec.n_tasks;
	bool gang = queuejob_has_gang(r->f->seen->phase);

	r->want = (struct queuejob_want){ .tasks = kar_arena_alloc(r->arena, n, sizeof(*r->want.tasks)) };
	for (size_t i = 0; i < n; i++) {
		const struct kar_task_status *known = r->f->known[i];

		r->want.tasks[i].started = known && known->started;
		r->want.tasks[i].restart_time = known && gang ? known->restart_time : 0;
	}
	queuejob_want_started(r);
	queuejob_limit(r);
}

void queuejob_begin(struct queuejob_reconcile *r, const struct queuejob_view *v,
	const struct kar_queuejob_status *recorded, kar_time now)
{
	struct queuejob_facts *f = kar_arena_alloc(r->arena, 1, sizeof(*f));
	const struct kar_queuejob_status *seen = &v->job->status;

	r->f = f;
	*f = (struct queuejob_facts){
		.v = v,
		.job = v->job,
		.recorded = recorded,
		.seen = seen,
		.now = now,
		.second = now - now % KAR_SECOND,
		.template_changed = seen->record.template_hash[0] &&
			strcmp(seen->record.template_hash, v->job->spec_template_hash),
	};
	f->known = kar_arena_alloc(r->arena, v->job->spec.n_tasks, sizeof(const struct kar_task_status *));
	for (size_t i = 0; i < v->job->spec.n_tasks; i++)
		f->known[i] = find_recorded_task(seen, v->job->spec.tasks[i].name);
	f->unchecked = queuejob_awaits_check(r) || queuejob_awaits_service(r);
	f->replaces_template =
		f->template_changed && queuejob_has_gang(seen->phase) && !v->job->invalid && !f->unchecked;
	f->edit_waits = f->replaces_template && !queuejob_edit_is_let_in(r);
	f->replaces_template &= !f->edit_waits;
	queuejob_read_indexes(r);
	r->gives_up = false;
	count(r, f, NULL);
	r->st = *seen;
	if (!v->job->asks)
		r->st.what_if = (struct kar_what_if){ 0 };
	r->st.conditions = kar_conditions_copy(&seen->conditions, r->arena);
	r->loss = (struct queuejob_loss){ .lost = f->pods.lost };
	restore_wants(r);
}

void queuejob_assume_recorded(struct queuejob_reconcile *r)
{
	struct queuejob_view *v = kar_arena_alloc(r->arena, 1, sizeof(*v));
	struct kar_queuejob *job = kar_arena_alloc(r->arena, 1, sizeof(*job));

	*job = *r->f->job;
	job->status = r->st;
	*v = *r->f->v;
	v->job = job;
	r->reported = false;
	queuejob_begin(r, v, r->f->recorded, r->f->now);
}

void queuejob_count_again(struct queuejob_reconcile *r)
{
	struct queuejob_facts *f = kar_arena_alloc(r->arena, 1, sizeof(*f));
	kar_time *times = kar_arena_alloc(r->arena, r->f->pods.n_tasks, sizeof(*times));

	for (size_t i = 0; i < r->f->pods.n_tasks; i++)
		times[i] = r->want.tasks[i].restart_time;
	*f = *r->f;
	count(r, f, times);
	r->f = f;
}
