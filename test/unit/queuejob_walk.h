/*
 * queuejob_walk - the state of a random walk (test_queuejob_walk.c), and what happens in its cluster: pods run, end and vanish,
 * people edit, the queue changes its mind. For one test executable: all functions are static.
 */
#ifndef KAR_TEST_QUEUEJOB_WALK_H
#define KAR_TEST_QUEUEJOB_WALK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/fixture/scene.h"

enum { MAX_INDEX = 16 };

/* How far the walks got: without this, a reconciler that does nothing would pass. */
struct reach {
	unsigned phase[KAR_QJ_PHASE_FAILED + 1]; /* status writes that entered it */
	unsigned creates, releases, repairs, restarts, resumed, task_restarts, shed;
};

struct walk {
	struct reach *reach;
	struct scene s;
	uint64_t random;
	uint64_t seed;
	int step;
	int32_t incarnation;               /* the one that the following belongs to */
	int32_t restarts;                  /* when it began */
	bool done[SCENE_TASKS][MAX_INDEX]; /* succeeded in it, of its own accord, with our finalizer on */
	bool ended;
	bool ordered; /* its tasks depend on each other */
};

static uint32_t draw(struct walk *w, uint32_t n)
{
	w->random = w->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(w->random >> 33) % n;
}

#define CHECK(w, condition, ...) \
	do { \
		if (!(condition)) \
			broken((w), #condition, __VA_ARGS__); \
	} while (0)

static KAR_PRINTF(3, 4) void broken(const struct walk *w, const char *rule, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fail_msg("seed %llu, step %d: %s: %s", (unsigned long long)w->seed, w->step, rule, text);
}

/* --- what happens in the cluster ----------------------------------------------------------------- */

/* The incarnation that runs, recorded or not. */
static int32_t incarnation_of(struct walk *w)
{
	struct queuejob_view v = scene_view(&w->s);

	return queuejob_incarnation(&v);
}

/* Its first start need not be recorded before its pods are created. */
static bool may_create(const struct walk *w)
{
	const struct kar_queuejob_status *st = &w->s.job.status;

	return st->phase == KAR_QJ_PHASE_STARTING || st->phase == KAR_QJ_PHASE_RUNNING ||
		(!st->incarnation && (st->phase == KAR_QJ_PHASE_NONE || st->phase == KAR_QJ_PHASE_PENDING));
}

static bool is_current(struct walk *w, const struct kar_pod *pod)
{
	return pod->job && pod->job->incarnation == incarnation_of(w) && may_create(w);
}

static void succeed(struct walk *w, struct kar_pod *pod)
{
	size_t task;
	int32_t index;

	pod->phase = KAR_POD_SUCCEEDED;
	if (is_current(w, pod) && !pod->deletion && pod->tracked &&
		kar_queuejob_pod_index(&w->s.job, pod->o.name, &task, &index) &&
		index < w->s.tasks[task].replicas)
		w->done[task][index] = true;
}

static void run_pod(struct walk *w, struct kar_pod *pod)
{
	uint32_t luck = draw(w, 10);

	if (pod->phase == KAR_POD_PENDING) {
		pod->phase = KAR_POD_RUNNING;
		pod->unschedulable = false;
	} else if (pod->phase == KAR_POD_RUNNING && luck < 3) {
		succeed(w, pod);
	} else if (pod->phase == KAR_POD_RUNNING && luck < 6) {
		pod->phase = KAR_POD_FAILED;
		pod->disrupted = luck == 5;
		scene_exit(pod, "main", 1);
	}
}

/* Is it to go, or has it been counted as lost? */
static bool is_recorded(const struct walk *w, const struct kar_pod *pod)
{
	const struct kar_array *list = &w->s.job.status.record.counted_pods;
	const char *const *uids = list->items;

	for (size_t i = 0; i < list->n; i++) {
		if (strcmp(uids[i], pod->o.uid) == 0)
			return true;
	}
	return false;
}

/*
 * Nobody can tell one that succeeded just before from one that was told to stop, if it was to go anyway: because of the queue, of
 * an edit, or of the restart of its task.
 */
static void delete_pod(struct walk *w, struct kar_pod *pod)
{
	size_t task;
	int32_t index;

	if (!pod->deletion && kar_queuejob_pod_index(&w->s.job, pod->o.name, &task, &index) &&
		(is_recorded(w, pod) || w->s.job.status.tasks[task].restart_time))
		w->done[task][index] = false;
	pod->deletion = w->s.now;
}

static void hurt_pod(struct walk *w, size_t i)
{
	struct kar_pod *pod = w->s.pods[i];

	switch (draw(w, 6)) {
	case 0: /* kubectl delete pod, node GC */
		if (pod->tracked)
			delete_pod(w, pod);
		else
			scene_remove_pod(&w->s, i);
		break;
	case 1: /* kubectl patch */
		if (!kar_pod_finished(pod))
			pod->tracked = false;
		break;
	case 2:
		if (!kar_pod_finished(pod))
			pod->job = NULL;
		break;
	case 3:
		pod->unschedulable = pod->phase == KAR_POD_PENDING;
		break;
	case 4: /* kubectl label */
		if (pod->job && pod->job->incarnation > 1 && !kar_pod_finished(pod))
			scene_pod_job(pod)->incarnation--;
		break;
	default:
		if (!kar_pod_finished(pod))
			pod->phase = KAR_POD_UNKNOWN;
		break;
	}
}

/* The last task waits for the first until that runs, or has succeeded, or not at all. */
static void edit_order(struct walk *w)
{
	struct kar_array *list = &w->s.tasks[2].depends_on;
	struct kar_dependency *d = list->items;

	list->n = draw(w, 4) > 0;
	d->succeeded = draw(w, 2);
}

static void edit_job(struct walk *w)
{
	struct kar_queuejob *job = &w->s.job;
	uint32_t what = draw(w, 13);
	size_t task = draw(w, (uint32_t)job->spec.n_tasks);

	job->generation++;
	if (what < 4)
		w->s.tasks[task].replicas = (int32_t)draw(w, 5);
	else if (what < 7)
		job->spec.sched.min_available = (int32_t)draw(w, 4);
	else if (what < 9)
		job->spec.suspend = !job->spec.suspend;
	else if (what < 10)
		job->spec_template_hash = kar_arena_printf(&w->s.arena, "h%u", draw(w, 3));
	else if (what < 11)
		job->invalid = job->invalid ? NULL : "broken";
	else
		job->spec.backoff_limit = (int32_t)draw(w, 10);
	if (w->ordered)
		edit_order(w);
	if (job->spec.sched.min_available > kar_queuejob_total(&job->spec))
		job->spec.sched.min_available = kar_queuejob_total(&job->spec);
	/* What a scale-down takes away is forgotten. */
	for (int32_t i = w->s.tasks[task].replicas; i < MAX_INDEX; i++)
		w->done[task][i] = false;
}

static void change_queue(struct walk *w)
{
	const bool admit = draw(w, 4) > 0;
	const struct kar_condition c = {
		.type = KAR_PG_ADMITTED,
		.status = admit ? KAR_COND_TRUE : KAR_COND_FALSE,
		.reason = admit ? "Admitted" : "QueueClosed",
		.message = "",
	};

	if (draw(w, 10) == 0)
		w->s.has_group = false;
	else if (w->s.has_group)
		kar_condition_set(&w->s.group.status.conditions, &c, w->s.now, &w->s.arena);
}

static void change_limit(struct walk *w)
{
	w->s.group.status.has_desired = draw(w, 4) > 0;
	w->s.group.status.desired = (int32_t)draw(w, 7);
}

static void happen(struct walk *w)
{
	uint32_t what = draw(w, 42);

	w->s.now += draw(w, 30) * KAR_SECOND;
	size_t pod = w->s.n_pods ? draw(w, (uint32_t)w->s.n_pods) : 0;

	if (what < 34 && !w->s.n_pods)
		return;
	if (what < 28)
		run_pod(w, w->s.pods[pod]);
	else if (what < 34)
		hurt_pod(w, pod);
	else if (what < 35)
		edit_job(w);
	else if (what < 38)
		change_queue(w);
	else if (what < 39)
		w->s.owner_checked = -1; /* the manager was started again */
	else
		change_limit(w);
}

#endif
