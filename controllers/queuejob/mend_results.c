/*
 * Which indexes have succeeded, if somebody has edited that: the list of each task, its number, the sum of these, and the pods
 * tell of it. An index that runs has not; one that cannot be told from others runs again.
 */
#include "controllers/queuejob/mend.h"

#include <string.h>

#include "api/intervals.h"
#include "api/keep.h"

/* One task of the status, and what else tells of it. */
struct result {
	struct kar_task_status *st;
	const struct kar_pod **pods; /* by index */
	int32_t n;
	struct kar_intervals done; /* as it is recorded */
};

static const struct kar_pod **pods_by_index(const struct mend *m, size_t task, int32_t n)
{
	const struct queuejob_view *v = m->r->v;
	const struct kar_pod **pods = kar_arena_alloc(m->r->arena, (size_t)n, sizeof(const struct kar_pod *));

	for (size_t i = 0; i < v->n_pods; i++) {
		size_t its;
		int32_t index;

		if (kar_queuejob_pod_index(v->job, v->pods[i]->o.name, &its, &index) && its == task &&
			index < n)
			pods[index] = v->pods[i];
	}
	return pods;
}

/* Its pod may be gone since it has succeeded. */
static bool may_be_done(const struct kar_pod *pod)
{
	return !pod || pod->phase == KAR_POD_SUCCEEDED;
}

/* Are those that may be, together with those that are named, as many as were counted? */
static bool is_known_by_count(const struct result *t)
{
	int32_t n = 0;

	for (int32_t i = 0; i < t->n; i++)
		n += kar_intervals_has(&t->done, i) || may_be_done(t->pods[i]);
	return n == t->st->succeeded;
}

/* @agrees: with the sum over all tasks. So both numbers are against what is named, or it is against both. */
static struct kar_intervals believed(const struct mend *m, const struct result *t, bool raised, bool agrees)
{
	bool found = !raised && agrees && is_known_by_count(t), none = agrees && !t->st->succeeded;
	struct kar_intervals done = { 0 };

	for (int32_t i = 0; i < t->n; i++) {
		bool named = !none && kar_intervals_has(&t->done, i);
		bool runs = raised && t->pods[i] && kar_pod_alive(t->pods[i]);

		if ((named && !runs) || (found && may_be_done(t->pods[i])))
			kar_intervals_add(&done, i, m->r->arena);
	}
	return done;
}

/* A number may be anything, and tasks as many. */
static int32_t bounded(int64_t sum)
{
	return (int32_t)kar_clamp(sum, 0, INT32_MAX);
}

int32_t queuejob_counted_results(const struct mend *m)
{
	int64_t sum = 0;

	for (size_t i = 0; i < m->st->n_tasks; i++)
		sum += m->st->tasks[i].succeeded;
	return bounded(sum);
}

/*
 * Tasks that the spec does not name are not counted. A job that has ended may be told other names since; what it wanted then
 * says which were. Of one that works that is no witness: with the list of what has succeeded it may have been overwritten.
 */
static bool is_counted(const struct mend *m, const struct kar_task_status *t, bool ended)
{
	if (ended)
		return t->desired > 0;
	return kar_queuejob_find_task(&m->r->job->spec, t->name) != KAR_NO_TASK;
}

static int32_t sum_of_counted(const struct mend *m, bool ended)
{
	int64_t sum = 0;

	for (size_t i = 0; i < m->st->n_tasks; i++)
		sum += is_counted(m, &m->st->tasks[i], ended) ? m->st->tasks[i].succeeded : 0;
	return bounded(sum);
}

static bool sum_agrees(const struct mend *m, bool ended)
{
	int32_t n = m->st->succeeded;

	return n == sum_of_counted(m, ended) || n == queuejob_counted_results(m);
}

static void mend_task(struct mend *m, struct kar_task_status *st, size_t task, bool agrees)
{
	struct result t = { .st = st, .n = m->r->job->spec.tasks[task].replicas };
	struct kar_arena *arena = m->r->arena;
	bool readable = kar_intervals_parse(st->succeeded_indexes, arena, &t.done) == 0;
	int32_t n = readable ? kar_intervals_count(&t.done) : 0;

	if (readable && n == st->succeeded && agrees)
		return;
	if (!readable)
		t.done = (struct kar_intervals){ 0 };
	if (t.n > KAR_QJ_MAX_PODS)
		t.n = KAR_QJ_MAX_PODS;
	t.pods = pods_by_index(m, task, t.n);
	t.done = believed(m, &t, n > st->succeeded || !agrees, agrees);
	queuejob_mend_text(m, "succeededIndexes", &st->succeeded_indexes,
		kar_intervals_format(&t.done, arena));
	queuejob_mend_number(m, "tasks.succeeded", &st->succeeded, kar_intervals_count(&t.done));
}

/* Of a live job the sum is counted anew in every round. */
void queuejob_mend_results(struct mend *m, bool ended)
{
	struct kar_queuejob_status *st = m->st;
	struct kar_task_status *tasks = kar_arena_alloc(m->r->arena, st->n_tasks, sizeof(*tasks));
	bool agrees = sum_agrees(m, ended);

	if (!st->n_tasks)
		return;
	memcpy(tasks, st->tasks, st->n_tasks * sizeof(*tasks));
	st->tasks = tasks;
	for (size_t i = 0; i < st->n_tasks; i++) {
		size_t task = kar_queuejob_find_task(&m->r->job->spec, tasks[i].name);

		if (task != KAR_NO_TASK)
			mend_task(m, &tasks[i], task, agrees);
	}
	if (ended && !sum_agrees(m, ended))
		queuejob_mend_number(m, "succeeded", &st->succeeded, sum_of_counted(m, ended));
}
