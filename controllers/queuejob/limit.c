/*
 * How many pods the queue wants of the job now, PodGroup.status.desired, and which (see docs/decisions/023).
 *
 * Nothing of the choice is remembered. Of the indexes that have not succeeded, those whose pod runs are wanted first, then those
 * whose pod exists, and among equals those that are created first; so what was chosen once is chosen again, and what is taken
 * away are the pods that do not run yet, then the last in the order of creation. The minimum is always chosen.
 */
#include "controllers/queuejob/round.h"

#include "api/keep.h"

/* Whose turn it is to be wanted: the order of indexes. */
enum turn {
	RUNS,
	EXISTS,
	KEEPS_PLACE, /* its pod has failed and is replaced later, or its task is being restarted */
	FREE,
	TAKEN, /* somebody else's pod has the name */
	WAITS, /* for a task that its own depends on */
	TURNS,
};

int32_t queuejob_desired(const struct queuejob_round *r)
{
	return (r->forget ? 0 : r->t.done) + r->wanted;
}

/* --- how many ------------------------------------------------------------------------------------ */

static int32_t own_minimum_left(const struct kar_taskspec *spec, int32_t min, int32_t done)
{
	int32_t left = spec->has_min_available && min > 0 ? spec->min_available - done : 0;

	return left > 0 ? left : 0;
}

int32_t queuejob_minimum_left(const struct queuejob_round *r)
{
	int32_t left = r->min, own = 0;

	for (size_t i = 0; i < r->t.n_tasks; i++) {
		int32_t done = r->forget ? 0 : r->t.tasks[i].n_done;

		if (!r->t.tasks[i].started)
			continue;
		left -= done;
		own += own_minimum_left(&r->job->spec.tasks[i], r->min, done);
	}
	return left > own ? left : own;
}

/* The same as it was recorded; the spec is the same. */
static int32_t minimum_left_before(const struct queuejob_round *r)
{
	const struct kar_queuejob_status *seen = r->seen;
	int32_t left = seen->min_available, own = 0;

	for (size_t i = 0; i < seen->n_tasks && i < r->t.n_tasks; i++) {
		if (!seen->tasks[i].started)
			continue;
		left -= seen->tasks[i].succeeded;
		own += own_minimum_left(&r->job->spec.tasks[i], seen->min_available,
			seen->tasks[i].succeeded);
	}
	return left > own ? left : own;
}

static int32_t not_done(const struct queuejob_round *r)
{
	return r->t.total - (r->forget ? 0 : r->t.done);
}

/* @n pods, but no less than the minimum, and no more than there are. */
static int32_t within(const struct queuejob_round *r, int32_t n)
{
	int32_t least = queuejob_minimum_left(r), most = not_done(r);

	n = n < least ? least : n;
	return n < most ? n : most;
}

/* --- which --------------------------------------------------------------------------------------- */

static bool is_done(const struct queuejob_round *r, const struct queuejob_task_tally *task, int32_t index)
{
	enum queuejob_slot_state state = task->slots[index].state;

	return !r->forget &&
		(state == QUEUEJOB_SLOT_DONE ||
			(state == QUEUEJOB_SLOT_OLD && kar_intervals_has(&task->done, index)));
}

static enum turn turn_of(const struct queuejob_round *r, const struct queuejob_task_tally *task,
	const struct queuejob_slot *slot)
{
	if (!task->started)
		return WAITS;
	if (r->forget)
		return FREE;
	if (task->restart_time)
		return KEEPS_PLACE;
	switch (slot->state) {
	case QUEUEJOB_SLOT_RUNNING:
		return RUNS;
	case QUEUEJOB_SLOT_PENDING:
		return EXISTS;
	case QUEUEJOB_SLOT_LOST:
		return slot->pod->deletion ? FREE : KEEPS_PLACE;
	case QUEUEJOB_SLOT_BLOCKED:
		return TAKEN;
	default:
		return FREE;
	}
}

/* Wants up to @n more of the indexes of one task whose turn it is; returns how many. */
static int32_t want_some(struct queuejob_round *r, struct queuejob_task_tally *task, enum turn turn,
	int32_t n)
{
	int32_t got = 0;

	for (int32_t k = 0; k < task->n && got < n; k++) {
		struct queuejob_slot *slot = &task->slots[k];

		if (!slot->held || turn_of(r, task, slot) != turn)
			continue;
		slot->held = false;
		got++;
	}
	task->wanted += got;
	return got;
}

/* Wants @n more of the indexes of these tasks, the best ones. */
static void want(struct queuejob_round *r, const size_t *tasks, size_t n_tasks, int32_t n)
{
	for (int turn = RUNS; turn < TURNS; turn++) {
		for (size_t i = 0; i < n_tasks; i++)
			n -= want_some(r, &r->t.tasks[tasks[i]], (enum turn)turn, n);
	}
}

static void hold_all(struct queuejob_round *r, bool hold)
{
	for (size_t i = 0; i < r->t.n_tasks; i++) {
		struct queuejob_task_tally *task = &r->t.tasks[i];

		for (int32_t k = 0; k < task->n; k++)
			task->slots[k].held = hold && !is_done(r, task, k);
	}
}

/* Without a limit: all that have not succeeded. */
static void want_all(struct queuejob_round *r)
{
	for (size_t i = 0; i < r->t.n_tasks; i++) {
		struct queuejob_task_tally *task = &r->t.tasks[i];

		task->wanted = task->n - (r->forget ? 0 : task->n_done);
	}
}

static void choose(struct queuejob_round *r)
{
	int32_t n = r->wanted;

	hold_all(r, true);
	for (size_t i = 0; i < r->t.n_tasks; i++) {
		struct queuejob_task_tally *task = &r->t.tasks[i];
		int32_t done = r->forget ? 0 : task->n_done;

		task->wanted = 0;
		if (task->started)
			want(r, &i, 1, own_minimum_left(&r->job->spec.tasks[i], r->min, done));
		n -= task->wanted;
	}
	want(r, queuejob_creation_order(r), r->t.n_tasks, n);
}

/* --- what is taken away -------------------------------------------------------------------------- */

static bool is_shed(const struct queuejob_slot *slot)
{
	return slot->held && (slot->state == QUEUEJOB_SLOT_PENDING || slot->state == QUEUEJOB_SLOT_RUNNING);
}

static bool sheds(const struct queuejob_round *r)
{
	for (size_t i = 0; i < r->t.n_tasks; i++) {
		const struct queuejob_task_tally *task = &r->t.tasks[i];

		for (int32_t k = 0; k < task->n; k++) {
			if (is_shed(&task->slots[k]))
				return true;
		}
	}
	return false;
}

/* In the order of the view, as those that no index wants at all. */
static void add_shed(struct queuejob_round *r)
{
	const struct queuejob_pods beyond = r->t.surplus;
	struct queuejob_pods all = { 0 };
	size_t k = 0;

	for (size_t i = 0; i < r->v->n_pods; i++) {
		const struct kar_pod *pod = r->v->pods[i];
		const struct queuejob_slot *slot = queuejob_find_slot(&r->t, r->job, pod);
		bool is_beyond = k < beyond.n && beyond.items[k] == pod;

		k += is_beyond;
		if (!is_beyond && !(slot && slot->pod == pod && is_shed(slot)))
			continue;
		all.items = kar_arena_grow(r->arena, all.items, all.n, sizeof(const struct kar_pod *));
		all.items[all.n++] = pod;
	}
	r->t.surplus = all;
}

void queuejob_limit(struct queuejob_round *r)
{
	const struct kar_podgroup *g = queuejob_own_group(r);
	bool was_limited = r->limited;

	r->wanted = g && g->status.has_desired ? within(r, g->status.desired) : not_done(r);
	r->limited = r->wanted < not_done(r);
	r->t.surplus = r->t.beyond;
	if (queuejob_awaits_edit(r))
		r->t.surplus = (struct queuejob_pods){ 0 };
	if (!r->limited && was_limited)
		hold_all(r, false);
	if (!r->limited)
		want_all(r);
	else
		choose(r);
	if (r->limited && sheds(r))
		add_shed(r);
}

/* --- what is told of it -------------------------------------------------------------------------- */

/* Active pods that were wanted when the status was written. */
static int32_t wanted_before(const struct queuejob_round *r)
{
	return r->seen->desired - r->seen->succeeded;
}

/* Has nothing but successes changed what is wanted? The limit as it was then is not recorded, only what it came to. */
static bool is_unchanged(const struct queuejob_round *r)
{
	int32_t before = wanted_before(r), least = minimum_left_before(r), now = queuejob_minimum_left(r);

	if (before >= r->t.total - r->seen->succeeded)
		return !r->limited;
	if (before > least)
		return r->wanted == within(r, before);
	return r->wanted <= (least > now ? least : now); /* it was at the minimum, or below */
}

static bool is_edited(const struct queuejob_round *r)
{
	return r->job->generation != r->seen->observed_generation;
}

static bool is_scaled(const struct queuejob_round *r)
{
	if (!queuejob_has_gang(r->seen->phase) ||
		!r->recorded->incarnation) /* the first number is no scaling */
		return false;
	if (is_edited(r))
		return r->limited ? r->wanted != wanted_before(r) : queuejob_desired(r) != r->seen->desired;
	return queuejob_has_gang(r->st.phase) && !is_unchanged(r);
}

void queuejob_note_scaling(struct queuejob_round *r)
{
	if (!is_scaled(r))
		return;
	r->st.last_scale_time = r->second;
	if (is_edited(r) || !queuejob_own_group(r))
		return;
	kar_plan_event(r->p, false, kar_reason_Scaled, "ScaleJob", "scaled %s to %d of %s%s by queue %s",
		r->wanted < wanted_before(r) ? "down" : "up", (int)r->wanted,
		queuejob_count_pods(r, not_done(r)), r->t.done ? " left" : "", r->job->spec.queue);
}

void queuejob_say_limit(struct queuejob_round *r)
{
	if (r->limited)
		queuejob_say(r, kar_reason_Scaled, "queue %s lets %d of %s run at once", r->job->spec.queue,
			(int)r->wanted, queuejob_count_pods(r, r->t.total));
}
