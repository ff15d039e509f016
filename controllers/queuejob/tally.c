#include "controllers/queuejob/tally.h"

#include <stdlib.h>
#include <string.h>

/* What counting one job needs to know besides the tally. */
struct count {
	const struct kar_queuejob *job;
	const struct kar_queuejob_status *seen;
	bool record;
	bool gang; /* is at work */
	struct kar_arena *arena;
	struct queuejob_tally *t;
};

bool queuejob_pod_disrupted(const struct kar_pod *pod)
{
	/* An evicted pod is Failed first and deleted later: whatever says "disruption" goes before the phase. */
	return pod->deletion || pod->disrupted;
}

static int compare_texts(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

static void sort_counted(const struct count *c)
{
	const struct kar_array *uids = &c->seen->counted_pods;
	const char **sorted = kar_arena_alloc(c->arena, uids->n, sizeof(*sorted));

	if (!uids->n)
		return;
	memcpy(sorted, uids->items, uids->n * sizeof(*sorted));
	qsort(sorted, uids->n, sizeof(*sorted), compare_texts);
	c->t->counted = sorted;
	c->t->n_counted = uids->n;
}

bool queuejob_pod_counted(const struct queuejob_tally *t, const struct kar_pod *pod)
{
	return t->n_counted &&
		bsearch(&pod->o.uid, t->counted, t->n_counted, sizeof(*t->counted), compare_texts);
}

const struct queuejob_slot *queuejob_find_slot(const struct queuejob_tally *t, const struct kar_queuejob *job,
	const struct kar_pod *pod)
{
	size_t task;
	int32_t index;

	if (!kar_queuejob_pod_index(job, pod->o.name, &task, &index) || index >= t->tasks[task].n)
		return NULL;
	return &t->tasks[task].slots[index];
}

static void append(struct queuejob_pods *list, const struct kar_pod *pod, struct kar_arena *arena)
{
	list->items = kar_arena_grow(arena, list->items, list->n, sizeof(const struct kar_pod *));
	list->items[list->n++] = pod;
}

/* Without a readable label it is taken for a current one, which is the careful reading: nothing is deleted. */
static bool is_old(const struct count *c, const struct kar_pod *pod)
{
	return pod->job && pod->job->incarnation > 0 && pod->job->incarnation < c->seen->incarnation;
}

static const struct kar_task_status *find_status(const struct kar_queuejob_status *s, const char *task)
{
	for (size_t i = 0; i < s->n_tasks; i++) {
		if (strcmp(s->tasks[i].name, task) == 0)
			return &s->tasks[i];
	}
	return NULL;
}

static void init_task(const struct count *c, size_t i, int32_t room, bool keep_done)
{
	const struct kar_taskspec *spec = &c->job->spec.tasks[i];
	const struct kar_task_status *known = find_status(c->seen, spec->name);
	struct queuejob_task_tally *task = &c->t->tasks[i];

	task->n = spec->replicas < room ? spec->replicas : room;
	task->slots = kar_arena_alloc(c->arena, (size_t)task->n, sizeof(*task->slots));
	task->known = known != NULL;
	task->started = known && known->started;
	task->restart_time = known && c->gang ? known->restart_time : 0;
	task->restart_recorded = task->restart_time != 0;
	if (keep_done && known && kar_intervals_parse(known->succeeded_indexes, c->arena, &task->done) == 0)
		kar_intervals_truncate(&task->done, task->n);
	c->t->total += task->n;
}

/*
 * Not one that was told to stop, by the restart of its task or a suspension: exit code 0 is how well-behaved programs do that.
 * Nor one that was taken away and then ended well: it had been counted as lost. (One that was to be taken away has succeeded
 * if it did so before that came.)
 */
static bool has_succeeded(const struct count *c, const struct queuejob_task_tally *task,
	const struct kar_pod *pod)
{
	bool told_to_stop = pod->deletion && (task->restart_time || !c->gang);

	return c->record && pod->phase == KAR_POD_SUCCEEDED && !told_to_stop &&
		!(pod->deletion && queuejob_pod_counted(c->t, pod));
}

/* The pod of a wanted index, of this incarnation. */
static enum queuejob_slot_state judge(const struct count *c, struct queuejob_task_tally *task, int32_t index,
	const struct kar_pod *pod)
{
	if (kar_intervals_has(&task->done, index) || has_succeeded(c, task, pod))
		return QUEUEJOB_SLOT_DONE;
	if (kar_pod_lost(pod) || kar_pod_finished(pod) || task->restart_time)
		return QUEUEJOB_SLOT_LOST;
	return pod->phase == KAR_POD_PENDING ? QUEUEJOB_SLOT_PENDING : QUEUEJOB_SLOT_RUNNING;
}

static bool same_template(const struct count *c, const struct kar_pod *pod)
{
	const char *runs = c->seen->template_hash;

	return !pod->job->template_hash || !runs[0] || strcmp(pod->job->template_hash, runs) == 0;
}

/*
 * Does a pod with an older label belong to this incarnation all the same? It starts when all pods of the one before are gone,
 * so what then lives under an older label, made of the templates that run, has been edited, or created by a request
 * that was very late. Neither is a reason to kill it: its label is put right.
 */
static bool is_mislabelled(const struct count *c, const struct kar_pod *pod,
	const struct queuejob_task_tally *task, int32_t index)
{
	bool lost = kar_pod_lost(pod) && pod->phase != KAR_POD_SUCCEEDED;

	return c->gang && !lost && task && index < task->n && !kar_intervals_has(&task->done, index) &&
		same_template(c, pod);
}

static void place_old(const struct count *c, const struct kar_pod *pod, struct queuejob_task_tally *task,
	int32_t index)
{
	bool wanted = task && index < task->n;

	/* The work of a resumed job that was done before it was suspended. */
	if (wanted && pod->phase == KAR_POD_SUCCEEDED && kar_intervals_has(&task->done, index)) {
		task->slots[index] =
			(struct queuejob_slot){ .state = QUEUEJOB_SLOT_DONE, .recorded = true, .pod = pod };
		return;
	}
	append(&c->t->old, pod, c->arena);
	if (wanted)
		task->slots[index] = (struct queuejob_slot){ .state = QUEUEJOB_SLOT_OLD, .pod = pod };
}

static void place(const struct count *c, const struct kar_pod *pod)
{
	struct queuejob_task_tally *task = NULL;
	size_t number;
	int32_t index = 0;

	if (kar_queuejob_pod_index(c->job, pod->o.name, &number, &index))
		task = &c->t->tasks[number];
	c->t->objects++;
	c->t->terminating += pod->deletion != 0;
	if (is_old(c, pod) && !is_mislabelled(c, pod, task, index)) {
		place_old(c, pod, task, index);
		return;
	}
	if (!task || index >= task->n) {
		append(&c->t->beyond, pod, c->arena);
		return;
	}
	task->objects++;
	bool recorded = kar_intervals_has(&task->done, index);

	task->slots[index] = (struct queuejob_slot){ .state = judge(c, task, index, pod),
		.recorded = recorded,
		.pod = pod };
}

static void block(const struct count *c, const struct kar_pod *pod)
{
	size_t number;
	int32_t index;

	if (!kar_queuejob_pod_index(c->job, pod->o.name, &number, &index))
		return;
	struct queuejob_task_tally *task = &c->t->tasks[number];

	if (index >= task->n || task->slots[index].state != QUEUEJOB_SLOT_MISSING ||
		kar_intervals_has(&task->done, index))
		return;
	task->slots[index].state = QUEUEJOB_SLOT_BLOCKED;
	if (!c->t->blocker)
		c->t->blocker = pod;
}

static void count_pending(const struct count *c, const struct kar_pod *pod)
{
	bool stuck = kar_pod_loss_of(pod)->waiting;

	c->t->unschedulable |= pod->unschedulable;
	c->t->n_stuck += stuck;
	if (stuck && !c->t->stuck)
		c->t->stuck = pod;
}

static void count_slot(const struct count *c, struct queuejob_task_tally *task, int32_t index)
{
	struct queuejob_slot *slot = &task->slots[index];
	const struct kar_pod *pod = slot->pod;

	if (slot->state == QUEUEJOB_SLOT_MISSING && kar_intervals_has(&task->done, index))
		slot->state = QUEUEJOB_SLOT_DONE;
	task->pending += slot->state == QUEUEJOB_SLOT_PENDING;
	task->running += slot->state == QUEUEJOB_SLOT_RUNNING;
	if (slot->state == QUEUEJOB_SLOT_PENDING)
		count_pending(c, pod);
	if (slot->state != QUEUEJOB_SLOT_LOST)
		return;
	task->failed += pod->phase == KAR_POD_FAILED && !pod->deletion;
	if (!task->restart_time && !queuejob_pod_counted(c->t, pod) && !kar_pod_withdrawn(pod))
		append(&c->t->lost, pod, c->arena);
}

/* In the order of indexes, in which a set grows at its end; the pods are in another. */
static void collect_done(const struct count *c, struct queuejob_task_tally *task)
{
	struct kar_intervals done = { 0 };

	for (int32_t i = 0; i < task->n; i++) {
		enum queuejob_slot_state state = task->slots[i].state;

		/* An old pod may stand at an index whose work was done before. */
		if (state == QUEUEJOB_SLOT_DONE ||
			(state == QUEUEJOB_SLOT_OLD && kar_intervals_has(&task->done, i)))
			kar_intervals_add(&done, i, c->arena);
	}
	task->done = done;
}

static void count_task(const struct count *c, struct queuejob_task_tally *task)
{
	for (int32_t i = 0; i < task->n; i++)
		count_slot(c, task, i);
	collect_done(c, task);
	task->n_done = kar_intervals_count(&task->done);
	c->t->pending += task->pending;
	c->t->running += task->running;
	c->t->done += task->n_done;
	c->t->failed += task->failed;
}

void queuejob_tally_give_up(struct queuejob_tally *t, size_t i, kar_time restart_time)
{
	struct queuejob_task_tally *task = &t->tasks[i];

	for (int32_t k = 0; k < task->n; k++) {
		enum queuejob_slot_state *state = &task->slots[k].state;

		if (*state == QUEUEJOB_SLOT_PENDING || *state == QUEUEJOB_SLOT_RUNNING)
			*state = QUEUEJOB_SLOT_LOST;
	}
	t->pending -= task->pending;
	t->running -= task->running;
	task->pending = task->running = 0;
	task->restart_time = restart_time;
}

void queuejob_tally(const struct queuejob_view *v, bool keep_done, bool record, struct kar_arena *arena,
	struct queuejob_tally *out)
{
	struct count c = { .job = v->job,
		.seen = &v->job->status,
		.record = record,
		.gang = queuejob_has_gang(v->job->status.phase),
		.arena = arena,
		.t = out };
	int32_t room =
		KAR_QJ_MAX_PODS; /* a job that wants more is invalid; its existing pods are counted all the same */

	*out = (struct queuejob_tally){ .n_tasks = v->job->spec.n_tasks };
	out->tasks = kar_arena_alloc(arena, out->n_tasks, sizeof(*out->tasks));
	for (size_t i = 0; i < out->n_tasks; i++) {
		init_task(&c, i, room, keep_done);
		room -= out->tasks[i].n;
	}
	sort_counted(&c);
	for (size_t i = 0; i < v->n_pods; i++)
		place(&c, v->pods[i]);
	for (size_t i = 0; i < v->n_blocking; i++)
		block(&c, v->blocking[i]);
	for (size_t i = 0; i < out->n_tasks; i++)
		count_task(&c, &out->tasks[i]);
}
