#include "controllers/podset/podset.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "api/pod/pod_direct.h"

struct count {
	const struct podset_input *in;
	struct kar_arena *arena;
	struct podset *set;
};

bool podset_is_disrupted(const struct kar_pod *pod)
{
	/* An evicted pod is Failed before it is deleted, so evidence of a disruption overrides the phase. */
	return pod->deletion || pod->disrupted;
}

static int compare_texts(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

static void sort_counted(const struct count *c)
{
	const struct kar_array *uids = &c->in->counted;
	const char **sorted = kar_arena_alloc(c->arena, uids->n, sizeof(*sorted));

	if (!uids->n)
		return;
	memcpy(sorted, uids->items, uids->n * sizeof(*sorted));
	qsort(sorted, uids->n, sizeof(*sorted), compare_texts);
	c->set->counted = sorted;
	c->set->n_counted = uids->n;
}

bool podset_is_counted(const struct podset *set, const struct kar_pod *pod)
{
	return set->n_counted &&
		bsearch(&pod->o.uid, set->counted, set->n_counted, sizeof(*set->counted), compare_texts);
}

bool podset_never_ran(const struct kar_pod *pod)
{
	return kar_pod_is_refused(pod);
}

const struct podset_slot *podset_find(const struct podset *set, const struct kar_pod *pod)
{
	size_t task;
	int32_t index;

	if (!set->owner.index_of(set->owner.owner, pod->o.name, &task, &index) || index >= set->tasks[task].n)
		return NULL;
	return &set->tasks[task].slots[index];
}

void podset_append(struct podset_pods *list, const struct kar_pod *pod, struct kar_arena *arena)
{
	list->items = kar_arena_grow(arena, list->items, list->n, sizeof(const struct kar_pod *));
	list->items[list->n++] = pod;
}

static bool same_template(const struct count *c, const struct kar_pod *pod)
{
	const char *runs = c->in->template_hash;

	return !pod->job->template_hash || !runs[0] || strcmp(pod->job->template_hash, runs) == 0;
}

/*
 * A create that was carried out long after its client gave up, when an edit of the templates had been recorded, makes a pod of the
 * former ones. It is replaced as long as it has no node: perhaps no node fits it.
 */
static bool came_late(const struct count *c, const struct kar_pod *pod)
{
	return pod->job->incarnation == c->in->incarnation && !same_template(c, pod) &&
		pod->phase == KAR_POD_PENDING && !pod->node;
}

/* A pod without a readable label counts as current, so that it is not deleted. */
static bool is_old(const struct count *c, const struct kar_pod *pod)
{
	return pod->job && pod->job->incarnation > 0 &&
		(pod->job->incarnation < c->in->incarnation || came_late(c, pod));
}

/* @room: slots that are left for this task. */
static void init_task(const struct count *c, size_t i, int32_t room)
{
	const struct podset_task_input *in = &c->in->tasks[i];
	struct podset_task *task = &c->set->tasks[i];

	assert(room >= 0); /* the slots of all tasks have consecutive numbers, which index arrays */
	task->n = in->replicas < room ? in->replicas : room;
	task->slots = kar_arena_alloc(c->arena, (size_t)task->n, sizeof(*task->slots));
	for (int32_t k = 0; k < task->n; k++)
		task->slots[k].number = c->set->n_slots++;
	if (kar_intervals_parse(in->done, c->arena, &task->done) == 0)
		kar_intervals_truncate(&task->done, task->n);
	if (in->given_up && kar_intervals_parse(in->given_up, c->arena, &task->given_up) == 0)
		kar_intervals_truncate(&task->given_up, task->n);
	if (in->given_up_before && kar_intervals_parse(in->given_up_before, c->arena, &task->given_up_before))
		task->given_up_before = (struct kar_intervals){ 0 };
	c->set->total += task->n;
}

/*
 * Counts as succeeded unless it was stopped by a restart of its task or a suspension (well-behaved programs exit with 0 then), or
 * its deletion was already counted as a loss. A pod that finished before our delete arrived counts.
 */
static bool has_succeeded(const struct count *c, size_t task, const struct kar_pod *pod)
{
	bool stopped = pod->deletion && (c->in->tasks[task].restart_recorded || !c->in->at_work);

	return c->in->record && pod->phase == KAR_POD_SUCCEEDED && !stopped &&
		!(pod->deletion && podset_is_counted(c->set, pod));
}

/* The pod of a wanted index, of this incarnation. */
static enum podset_state state_of(const struct count *c, size_t task, int32_t index,
	const struct kar_pod *pod)
{
	if (kar_intervals_has(&c->set->tasks[task].done, index))
		return PODSET_DONE;
	if (kar_intervals_has(&c->set->tasks[task].given_up, index))
		return PODSET_GIVEN_UP;
	if (has_succeeded(c, task, pod))
		return PODSET_DONE;
	if (kar_pod_lost(pod) || kar_pod_finished(pod) || c->in->tasks[task].restarts)
		return PODSET_LOST;
	return pod->phase == KAR_POD_PENDING ? PODSET_PENDING : PODSET_RUNNING;
}

/*
 * An incarnation starts when all older pods are gone. So a live pod with an older label and the current templates was edited, or
 * created by a very late request. Neither is a reason to stop it; its label is repaired.
 */
static bool is_mislabelled(const struct count *c, const struct kar_pod *pod, const struct podset_task *task,
	int32_t index)
{
	bool lost = kar_pod_lost(pod) && pod->phase != KAR_POD_SUCCEEDED;

	return c->in->at_work && !lost && task && index < task->n && !kar_intervals_has(&task->done, index) &&
		!kar_intervals_has(&task->given_up, index) && same_template(c, pod);
}

static void set_slot(struct podset_task *task, int32_t index, enum podset_state state, bool recorded,
	const struct kar_pod *pod)
{
	struct podset_slot *slot = &task->slots[index];

	assert(!slot->pod); /* names are unique: a second pod would hide the first, which nobody would then release */
	slot->state = state;
	slot->recorded = recorded;
	slot->pod = pod;
}

static void add_old(const struct count *c, const struct kar_pod *pod, struct podset_task *task, int32_t index)
{
	bool wanted = task && index < task->n;

	/* This success is from before a suspension. */
	if (wanted && pod->phase == KAR_POD_SUCCEEDED && kar_intervals_has(&task->done, index)) {
		set_slot(task, index, PODSET_DONE, true, pod);
		return;
	}
	podset_append(&c->set->old, pod, c->arena);
	if (wanted)
		set_slot(task, index, PODSET_OLD, false, pod);
}

static void add(const struct count *c, const struct kar_pod *pod)
{
	struct podset_task *task = NULL;
	size_t number = 0;
	int32_t index = 0;

	if (c->in->owner.index_of(c->in->owner.owner, pod->o.name, &number, &index))
		task = &c->set->tasks[number];
	c->set->objects++;
	c->set->terminating += pod->deletion != 0;
	if (is_old(c, pod) && !is_mislabelled(c, pod, task, index)) {
		add_old(c, pod, task, index);
		return;
	}
	if (!task || index >= task->n) {
		podset_append(&c->set->surplus, pod, c->arena);
		return;
	}
	task->objects++;
	bool recorded =
		kar_intervals_has(&task->done, index) || kar_intervals_has(&task->given_up_before, index);

	set_slot(task, index, state_of(c, number, index, pod), recorded, pod);
}

static void add_blocking(const struct count *c, const struct kar_pod *pod)
{
	size_t number;
	int32_t index;

	if (!c->in->owner.index_of(c->in->owner.owner, pod->o.name, &number, &index))
		return;
	struct podset_task *task = &c->set->tasks[number];

	if (index >= task->n || task->slots[index].state != PODSET_MISSING ||
		kar_intervals_has(&task->done, index) || kar_intervals_has(&task->given_up, index))
		return;
	task->slots[index].state = PODSET_BLOCKED;
	if (!c->set->blocker)
		c->set->blocker = pod;
}

static void count_pending(const struct count *c, const struct kar_pod *pod)
{
	bool stuck = kar_pod_waits(pod);

	if (pod->unschedulable)
		kar_unplaced_add(&c->set->unplaced, pod);
	c->set->n_stuck += stuck;
	if (stuck && !c->set->stuck)
		c->set->stuck = pod;
}

static void count_slot(const struct count *c, size_t number, int32_t index)
{
	struct podset_task *task = &c->set->tasks[number];
	struct podset_slot *slot = &task->slots[index];
	const struct kar_pod *pod = slot->pod;

	if (slot->state == PODSET_MISSING && kar_intervals_has(&task->done, index))
		slot->state = PODSET_DONE;
	else if (slot->state == PODSET_MISSING && kar_intervals_has(&task->given_up, index))
		slot->state = PODSET_GIVEN_UP;
	task->pending += slot->state == PODSET_PENDING;
	task->running += slot->state == PODSET_RUNNING;
	if (slot->state == PODSET_PENDING)
		count_pending(c, pod);
	if (pod && (slot->state == PODSET_LOST || slot->state == PODSET_GIVEN_UP))
		task->failed += pod->phase == KAR_POD_FAILED && !pod->deletion && !podset_never_ran(pod);
	if (slot->state != PODSET_LOST)
		return;
	assert(pod);
	if (!c->in->tasks[number].restarts && !podset_is_counted(c->set, pod) && !podset_never_ran(pod))
		podset_append(&c->set->lost, pod, c->arena);
}

/* Adds in the order of indexes, because intervals are cheap to extend at the end. */
static void collect_ended(const struct count *c, struct podset_task *task)
{
	struct kar_intervals done = { 0 }, given_up = { 0 };

	for (int32_t i = 0; i < task->n; i++) {
		enum podset_state state = task->slots[i].state;

		/* A done index may have a pod of an older incarnation. */
		if (state == PODSET_DONE || (state == PODSET_OLD && kar_intervals_has(&task->done, i)))
			kar_intervals_add(&done, i, c->arena);
		else if (kar_intervals_has(&task->given_up, i))
			kar_intervals_add(&given_up, i, c->arena);
	}
	task->done = done;
	task->given_up = given_up;
}

static void count_task(const struct count *c, size_t number)
{
	struct podset_task *task = &c->set->tasks[number];

	for (int32_t i = 0; i < task->n; i++)
		count_slot(c, number, i);
	collect_ended(c, task);
	task->n_done = kar_intervals_count(&task->done);
	task->n_given_up = kar_intervals_count(&task->given_up);
	/* No index counts twice: else a gang could form with too few pods. */
	assert(task->pending + task->running + task->n_done + task->n_given_up <= task->n);
	c->set->pending += task->pending;
	c->set->running += task->running;
	c->set->done += task->n_done;
	c->set->failed += task->failed;
	c->set->given_up += task->n_given_up;
}

void podset_count(const struct podset_input *in, struct kar_arena *arena, struct podset *out)
{
	const struct count c = { .in = in, .arena = arena, .set = out };
	int32_t room = in->max_pods;

	*out = (struct podset){ .owner = in->owner, .n_tasks = in->n_tasks };
	out->tasks = kar_arena_alloc(arena, out->n_tasks, sizeof(*out->tasks));
	for (size_t i = 0; i < out->n_tasks; i++) {
		init_task(&c, i, room);
		room -= out->tasks[i].n;
	}
	sort_counted(&c);
	for (size_t i = 0; i < in->n_pods; i++)
		add(&c, in->pods[i]);
	for (size_t i = 0; i < in->n_blocking; i++)
		add_blocking(&c, in->blocking[i]);
	for (size_t i = 0; i < out->n_tasks; i++)
		count_task(&c, i);
}
