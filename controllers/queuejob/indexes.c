/*
 * Failures per index (spec.backoffLimitPerIndex, docs/decisions/077): an index that has failed too often gets no pod any more, and
 * the job goes on with the others, as long as enough are left for its minimum.
 *
 * The status has the number of failures of each index. It is written together with the UID of the lost pod that was counted, so that no
 * failure counts twice or is forgotten. Both outlive a restart of the gang; a new template starts with none.
 */
#include "controllers/queuejob/reconcile.h"

#include "api/queuejob/index_counts.h"
#include "common/base/str.h"

/* --- what is recorded ------------------------------------------------------------------------------ */

/* Other work may fail otherwise. Until the gang is re-created with a new template, the failures of the old one count. */
static bool keeps_failures(const struct queuejob_facts *f)
{
	enum kar_qj_phase phase = f->seen->phase;

	return f->job->spec.per_index &&
		(!f->template_changed || queuejob_has_gang(phase) || kar_qj_phase_terminal(phase) ||
			f->job->spec.suspend);
}

static int32_t replicas_of(const struct queuejob_reconcile *r, size_t task)
{
	return (int32_t)kar_clamp(r->f->job->spec.tasks[task].replicas, 0, KAR_QJ_MAX_PODS);
}

void queuejob_read_indexes(struct queuejob_reconcile *r)
{
	const struct queuejob_facts *f = r->f;
	bool keep = keeps_failures(f);

	r->indexes = kar_arena_alloc(r->arena, f->job->spec.n_tasks, sizeof(*r->indexes));
	for (size_t i = 0; i < f->job->spec.n_tasks; i++) {
		bool known = keep && f->known[i];

		r->indexes[i].failed = known ? f->known[i]->failed_indexes : "";
		if (known && f->known[i]->index_failures[0])
			r->indexes[i].failures = kar_index_counts_parse(f->known[i]->index_failures,
				replicas_of(r, i), r->arena);
	}
}

static int32_t failures_of(const struct queuejob_reconcile *r, size_t task, int32_t index)
{
	return r->indexes[task].failures ? r->indexes[task].failures[index] : 0;
}

/* --- losses ------------------------------------------------------------------------------------------ */

/* The task and the index of loss number @i, a pod at an index of the spec. */
static size_t place_of(const struct queuejob_reconcile *r, size_t i, int32_t *index)
{
	size_t task = 0;

	kar_queuejob_pod_index(r->f->job, r->loss.lost.items[i]->o.name, &task, index);
	return task;
}

bool queuejob_ends_index(const struct queuejob_reconcile *r, size_t i)
{
	enum kar_failure_action action = queuejob_loss_action(r, i);
	int32_t index = 0;
	size_t task;

	if (!r->f->job->spec.per_index)
		return false;
	if (action == KAR_FAILURE_FAIL_INDEX)
		return true;
	if (podset_is_disrupted(r->loss.lost.items[i]) || action == KAR_FAILURE_IGNORE)
		return false;
	task = place_of(r, i, &index);
	return failures_of(r, task, index) >= r->f->job->spec.backoff_limit_per_index;
}

static void give_up(struct queuejob_reconcile *r, size_t task, int32_t index)
{
	struct kar_intervals failed = { 0 };

	if (kar_intervals_parse(r->indexes[task].failed, r->arena, &failed))
		failed = (struct kar_intervals){ 0 };
	kar_intervals_add(&failed, index, r->arena);
	r->indexes[task].failed = kar_intervals_format(&failed, r->arena);
	r->gives_up = true;
}

void queuejob_count_index(struct queuejob_reconcile *r, size_t i)
{
	bool ends = queuejob_ends_index(r, i),
	     counts = !podset_is_disrupted(r->loss.lost.items[i]) &&
		queuejob_loss_action(r, i) != KAR_FAILURE_IGNORE;
	int32_t index = 0;
	size_t task;

	if (!r->f->job->spec.per_index || !(ends || counts))
		return;
	task = place_of(r, i, &index);
	if (!r->indexes[task].failures)
		r->indexes[task].failures = kar_index_counts_parse("", replicas_of(r, task), r->arena);
	if (ends)
		give_up(r, task, index);
	else
		r->indexes[task].failures[index]++;
}

/* --- the end ----------------------------------------------------------------------------------------- */

static bool counts_for_success(const struct queuejob_reconcile *r, size_t task)
{
	const struct kar_array *tasks = &r->f->job->spec.success_tasks;

	return !tasks->n || kar_strings_have(tasks, r->f->job->spec.tasks[task].name);
}

/* Replicas less failed indexes are fewer than the minimum of the job, or of a task. */
static bool lacks_indexes(const struct queuejob_reconcile *r)
{
	const struct kar_queuejob_spec *s = &r->f->job->spec;

	for (size_t i = 0; i < r->f->pods.n_tasks; i++) {
		const struct podset_task *t = &r->f->pods.tasks[i];

		if (r->want.min > 0 && s->tasks[i].has_min_available && t->n_given_up &&
			t->n - t->n_given_up < s->tasks[i].min_available)
			return true;
	}
	return r->f->pods.total - r->f->pods.given_up < kar_queuejob_min_available(s);
}

/* Each index has succeeded or failed: of the tasks of the success policy, or of all that ever start. */
static bool has_no_index_left(const struct queuejob_reconcile *r)
{
	int32_t of_success = 0, of_started = 0;

	for (size_t i = 0; i < r->f->pods.n_tasks; i++) {
		const struct podset_task *t = &r->f->pods.tasks[i];
		int32_t left = t->n - t->n_done - t->n_given_up;

		of_success += counts_for_success(r, i) ? left : 0;
		of_started += r->want.tasks[i].started ? left : 0;
	}
	return !of_success || (!of_started && !queuejob_can_start_task(r));
}

static bool exceeds_maximum(const struct queuejob_reconcile *r)
{
	const struct kar_queuejob_spec *s = &r->f->job->spec;

	return s->has_max_failed_indexes && r->f->pods.given_up > s->max_failed_indexes;
}

bool queuejob_ends_by_indexes(struct queuejob_reconcile *r)
{
	return r->f->pods.given_up > 0 && (exceeds_maximum(r) || lacks_indexes(r) || has_no_index_left(r));
}

/* "1 of 8 indexes has failed: w 3". */
static const char *describe_failed(const struct queuejob_reconcile *r)
{
	const struct podset *pods = &r->f->pods;
	const char *list = "";

	for (size_t i = 0; i < pods->n_tasks; i++) {
		if (pods->tasks[i].n_given_up)
			list = kar_arena_printf(r->arena, "%s%s %s %s", list, list[0] ? ";" : ":",
				r->f->job->spec.tasks[i].name,
				kar_intervals_format(&pods->tasks[i].given_up, r->arena));
	}
	return kar_arena_printf(r->arena, "%d of %d index%s ha%s failed%s", (int)pods->given_up,
		(int)pods->total, pods->total == 1 ? "" : "es", pods->given_up == 1 ? "s" : "ve", list);
}

const char *queuejob_describe_failed_indexes(const struct queuejob_reconcile *r, const char **message)
{
	const char *what = describe_failed(r);

	*message = what;
	if (exceeds_maximum(r)) {
		*message = kar_arena_printf(r->arena, "maxFailedIndexes is %d; %s",
			(int)r->f->job->spec.max_failed_indexes, what);
		return kar_reason_MaxFailedIndexesExceeded;
	}
	if (lacks_indexes(r))
		*message = kar_arena_printf(r->arena, "fewer are left than minAvailable asks for; %s", what);
	return kar_reason_FailedIndexes;
}

/* --- the status ------------------------------------------------------------------------------------- */

const char *queuejob_failed_indexes(const struct queuejob_reconcile *r, size_t task)
{
	return kar_intervals_format(&r->f->pods.tasks[task].given_up, r->arena);
}

/* The numbers of indexes that have succeeded, or failed for good, are of no use any more. */
const char *queuejob_index_failures(const struct queuejob_reconcile *r, size_t task)
{
	const struct podset_task *t = &r->f->pods.tasks[task];
	int32_t *all = r->indexes[task].failures;

	for (int32_t i = 0; all && i < t->n; i++) {
		if (all[i] && (kar_intervals_has(&t->done, i) || kar_intervals_has(&t->given_up, i)))
			all[i] = 0;
	}
	return all ? kar_index_counts_format(all, t->n, r->arena) : "";
}

int32_t queuejob_failures_of(const struct queuejob_reconcile *r, const struct kar_pod *pod)
{
	size_t task = 0;
	int32_t index = 0;

	kar_queuejob_pod_index(r->f->job, pod->o.name, &task, &index);
	return failures_of(r, task, index);
}
