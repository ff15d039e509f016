/*
 * PodGroup.status.desired: how many pods the queue allows now, and which ones are kept (see docs/decisions/023).
 *
 * The choice is not recorded. Among the indexes that have not succeeded, those with a running pod are kept first, then those with
 * a pending pod, and equals in the order of creation. So the next sync makes the same choice, and scaling down stops pending pods
 * first, then the last ones in the order of creation. The minimum is always kept; one that was raised counts when the queue allows it.
 */
#include "common/base/str.h"
#include "controllers/queuejob/reconcile.h"

/* Why an index is kept, best first. */
enum preference {
	RUNS = QUEUEJOB_KEPT_RUNS,
	EXISTS = QUEUEJOB_KEPT_EXISTS,
	KEEPS_INDEX, /* its pod has failed and is replaced later, or its task is being restarted */
	FREE,
	NAME_TAKEN, /* a pod of another owner has the name */
	WAITS,      /* its task waits for a dependency */
	PREFERENCES,
};

int32_t queuejob_desired(const struct queuejob_reconcile *r)
{
	return (r->want.from_nothing ? 0 : r->f->pods.done) + r->want.pods;
}

/* --- how many ------------------------------------------------------------------------------------ */

static int32_t own_minimum_left(const struct kar_taskspec *spec, int32_t min, int32_t done)
{
	int64_t left = spec->has_min_available && min > 0 ? (int64_t)spec->min_available - done : 0;

	return (int32_t)kar_clamp(left, 0, INT32_MAX); /* @done may be what somebody has written */
}

int32_t queuejob_own_minimum_left(const struct queuejob_reconcile *r, size_t i)
{
	int32_t done = r->want.from_nothing ? 0 : r->f->pods.tasks[i].n_done;

	return own_minimum_left(&r->f->job->spec.tasks[i], r->want.min, done);
}

int32_t queuejob_minimum_left(const struct queuejob_reconcile *r)
{
	int32_t left = r->want.min, own = 0;

	for (size_t i = 0; i < r->f->pods.n_tasks; i++) {
		int32_t done = r->want.from_nothing ? 0 : r->f->pods.tasks[i].n_done;

		if (!r->want.tasks[i].started)
			continue;
		left -= done;
		own += queuejob_own_minimum_left(r, i);
	}
	return left > own ? left : own;
}

/* queuejob_minimum_left() of the recorded status; only if the spec has not been edited since. */
static int64_t minimum_left_before(const struct queuejob_reconcile *r)
{
	const struct kar_queuejob_status *seen = r->f->seen;
	int64_t left = seen->min_available, own = 0;

	for (size_t i = 0; i < seen->n_tasks && i < r->f->pods.n_tasks; i++) {
		if (!seen->tasks[i].started)
			continue;
		left -= seen->tasks[i].succeeded;
		own += own_minimum_left(&r->f->job->spec.tasks[i], seen->min_available,
			seen->tasks[i].succeeded);
	}
	return left > own ? left : own;
}

static int32_t not_done(const struct queuejob_reconcile *r)
{
	return r->f->pods.total - r->f->pods.given_up - (r->want.from_nothing ? 0 : r->f->pods.done);
}

int32_t queuejob_count_live(const struct queuejob_reconcile *r)
{
	int32_t n = 0;

	for (size_t i = 0; i < r->f->pods.n_tasks; i++) {
		const struct podset_task *task = &r->f->pods.tasks[i];

		for (int32_t k = 0; k < task->n; k++)
			n += task->slots[k].state == PODSET_RUNNING || task->slots[k].state == PODSET_PENDING;
	}
	return n;
}

/* It runs, or is let in with fewer pods than its minimum, as a job is that had none. */
static bool had_less(const struct queuejob_reconcile *r)
{
	const struct kar_podgroup *g = queuejob_own_group(r);
	const struct kar_queuejob_status *seen = r->f->seen;

	if (seen->phase == KAR_QJ_PHASE_RUNNING)
		return r->want.raised && !seen->min_available;
	return seen->phase == KAR_QJ_PHASE_STARTING && queuejob_admission(r) && g->status.has_desired &&
		g->status.desired < queuejob_minimum_left(r);
}

/* A minimum that was raised when it had the former one does not run yet. */
static bool forms_for_raised(const struct queuejob_reconcile *r)
{
	return queuejob_is_raised(r) || (r->want.raised && r->f->seen->record.formed_min_available > 0) ||
		had_less(r);
}

/*
 * What the queue must give. A minimum that was raised when the job had the former one is a wish until the queue allows it: no pod is stopped for it,
 * and none is created beyond what the queue allows.
 */
static int32_t least_of(const struct queuejob_reconcile *r, int32_t n)
{
	int32_t least = queuejob_minimum_left(r), there;

	if (n < 0 || n >= least || r->want.from_nothing || !forms_for_raised(r))
		return least;
	there = queuejob_count_live(r);
	return there < least ? there : least;
}

/* @n pods, but at least the minimum, and at most those that have not succeeded. */
static int32_t within(const struct queuejob_reconcile *r, int32_t n)
{
	int32_t least = least_of(r, n), most = not_done(r);

	n = n < least ? least : n;
	return n < most ? n : most;
}

/* --- which --------------------------------------------------------------------------------------- */

/* It has succeeded, or failed for good. */
static bool has_ended(const struct queuejob_reconcile *r, const struct podset_task *task, int32_t index)
{
	enum podset_state state = task->slots[index].state;

	if (kar_intervals_has(&task->given_up, index))
		return true;
	return !r->want.from_nothing &&
		(state == PODSET_DONE || (state == PODSET_OLD && kar_intervals_has(&task->done, index)));
}

static enum preference preference_of(const struct queuejob_reconcile *r,
	const struct queuejob_task_want *want, const struct podset_slot *slot)
{
	if (!want->started)
		return WAITS;
	if (r->want.from_nothing)
		return FREE;
	if (want->restart_time)
		return KEEPS_INDEX;
	switch (slot->state) {
	case PODSET_RUNNING:
	case PODSET_PENDING:
		return (enum preference)queuejob_kept(slot->pod);
	case PODSET_LOST:
		return slot->pod->deletion ? FREE : KEEPS_INDEX;
	case PODSET_BLOCKED:
		return NAME_TAKEN;
	default:
		return FREE;
	}
}

/* Wants up to @n more indexes of task number @i with preference @p; returns how many. */
static int32_t want_up_to(struct queuejob_reconcile *r, size_t i, enum preference p, int32_t n)
{
	const struct podset_task *task = &r->f->pods.tasks[i];
	int32_t got = 0;

	for (int32_t k = 0; k < task->n && got < n; k++) {
		const struct podset_slot *slot = &task->slots[k];

		if (!queuejob_is_scaled_down(r, slot) || preference_of(r, &r->want.tasks[i], slot) != p)
			continue;
		r->want.scaled_down[slot->number] = false;
		got++;
	}
	r->want.tasks[i].pods += got;
	return got;
}

/* Wants @n more indexes of these tasks, those with the best preference. */
static void want_best(struct queuejob_reconcile *r, const size_t *tasks, size_t n_tasks, int32_t n)
{
	for (int p = RUNS; p < PREFERENCES; p++) {
		for (size_t i = 0; i < n_tasks; i++)
			n -= want_up_to(r, tasks[i], (enum preference)p, n);
	}
}

static void scale_down_all(struct queuejob_reconcile *r)
{
	r->want.scaled_down = kar_arena_alloc(r->arena, r->f->pods.n_slots, sizeof(*r->want.scaled_down));
	for (size_t i = 0; i < r->f->pods.n_tasks; i++) {
		const struct podset_task *task = &r->f->pods.tasks[i];

		for (int32_t k = 0; k < task->n; k++)
			r->want.scaled_down[task->slots[k].number] = !has_ended(r, task, k);
	}
}

/* Wants all indexes that have not succeeded. */
static void want_all(struct queuejob_reconcile *r)
{
	for (size_t i = 0; i < r->f->pods.n_tasks; i++) {
		const struct podset_task *task = &r->f->pods.tasks[i];

		r->want.tasks[i].pods =
			task->n - task->n_given_up - (r->want.from_nothing ? 0 : task->n_done);
	}
}

bool queuejob_waits_for_raised(const struct queuejob_reconcile *r)
{
	return r->want.limited && forms_for_raised(r) && r->want.pods < queuejob_minimum_left(r);
}

static void choose(struct queuejob_reconcile *r)
{
	bool waits =
		queuejob_waits_for_raised(r); /* then the tasks' own minimums may be those that were raised */
	int32_t n = r->want.pods;

	scale_down_all(r);
	for (size_t i = 0; i < r->f->pods.n_tasks; i++) {
		int32_t done = r->want.from_nothing ? 0 : r->f->pods.tasks[i].n_done;

		r->want.tasks[i].pods = 0;
		if (r->want.tasks[i].started && !waits)
			want_best(r, &i, 1, own_minimum_left(&r->f->job->spec.tasks[i], r->want.min, done));
		n -= r->want.tasks[i].pods;
	}
	want_best(r, queuejob_creation_order(r), r->f->pods.n_tasks, n);
}

/* --- scaling down ---------------------------------------------------------------------------------- */

static bool is_scaled_down_live(const struct queuejob_reconcile *r, const struct podset_slot *slot)
{
	return queuejob_is_scaled_down(r, slot) &&
		(slot->state == PODSET_PENDING || slot->state == PODSET_RUNNING);
}

/* It must go, though its index may be wanted. */
static bool is_surplus(struct queuejob_reconcile *r, const struct podset_slot *slot)
{
	return is_scaled_down_live(r, slot) || queuejob_is_stranded(r, slot);
}

static bool has_surplus(struct queuejob_reconcile *r)
{
	for (size_t i = 0; i < r->f->pods.n_tasks; i++) {
		const struct podset_task *task = &r->f->pods.tasks[i];

		for (int32_t k = 0; k < task->n; k++) {
			if (is_surplus(r, &task->slots[k]))
				return true;
		}
	}
	return false;
}

/* Adds live pods that are scaled down or stranded to the surplus, which stays in the order of the view. */
static void add_surplus(struct queuejob_reconcile *r)
{
	const struct podset_pods unindexed = r->want.surplus;
	struct podset_pods all = { 0 };
	size_t k = 0;

	for (size_t i = 0; i < r->f->v->n_pods; i++) {
		const struct kar_pod *pod = r->f->v->pods[i];
		const struct podset_slot *slot = podset_find(&r->f->pods, pod);
		bool is_unindexed = k < unindexed.n && unindexed.items[k] == pod;

		k += is_unindexed;
		if (!is_unindexed && !(slot && slot->pod == pod && is_surplus(r, slot)))
			continue;
		podset_append(&all, pod, r->arena);
	}
	r->want.surplus = all;
}

void queuejob_limit(struct queuejob_reconcile *r)
{
	const struct kar_podgroup *g = queuejob_own_group(r);
	int32_t n = g ? kar_podgroup_allows(g, kar_queuejob_total(&r->f->job->spec), not_done(r)) : 0;

	r->want.pods = g && g->status.has_desired ? within(r, n) : not_done(r);
	r->want.limited = r->want.pods < not_done(r);
	r->want.surplus = r->f->pods.surplus;
	if (queuejob_template_is_pending(r))
		r->want.surplus = (struct podset_pods){ 0 };
	r->want.scaled_down = NULL;
	queuejob_find_unplanned(r);
	if (!r->want.limited)
		want_all(r);
	else
		choose(r);
	if (has_surplus(r))
		add_surplus(r);
}

/* --- reports --------------------------------------------------------------------------------------- */

/* Pods that were wanted, and had not succeeded, when the status was written. */
static int64_t wanted_before(const struct queuejob_reconcile *r)
{
	return (int64_t)r->f->seen->desired - r->f->seen->succeeded;
}

/*
 * Have only successes changed the number of wanted pods? The status does not record the limit itself, only the number that
 * resulted from it.
 */
static bool is_unchanged(const struct queuejob_reconcile *r)
{
	int64_t before = wanted_before(r);
	int64_t least = minimum_left_before(r), now = queuejob_minimum_left(r);

	if (before >= (int64_t)r->f->pods.total - r->f->pods.given_up - r->f->seen->succeeded)
		return !r->want.limited;
	if (before > least)
		return r->want.pods == within(r, (int32_t)kar_clamp(before, INT32_MIN, INT32_MAX));
	return r->want.pods <= (least > now ? least : now); /* the limit was at the minimum, or below */
}

static bool is_edited(const struct queuejob_reconcile *r)
{
	return r->f->job->generation != r->f->seen->observed_generation;
}

static bool is_scaled(const struct queuejob_reconcile *r)
{
	if (!queuejob_has_gang(r->f->seen->phase) ||
		!r->f->recorded->incarnation) /* the first start is no scaling */
		return false;
	if (is_edited(r))
		return r->want.limited ? r->want.pods != wanted_before(r)
				       : queuejob_desired(r) != r->f->seen->desired;
	return queuejob_has_gang(r->st.phase) && !is_unchanged(r);
}

/* Replicas were edited. The pods of an edit that is not accepted yet stay, and a limit of the queue has the last word. */
static void report_edit(struct queuejob_reconcile *r)
{
	int32_t before = r->f->seen->desired, now = queuejob_desired(r);

	if (r->want.limited || now == before || r->f->job->invalid || queuejob_template_is_pending(r))
		return;
	kar_plan_event(r->p, false, kar_reason_Scaled, "ScaleJob", "spec edited: scaled %s from %d to %s",
		now < before ? "down" : "up", (int)before, queuejob_count_pods(r, now));
}

void queuejob_record_scaling(struct queuejob_reconcile *r)
{
	if (!is_scaled(r))
		return;
	r->st.last_scale_time = r->f->second;
	if (is_edited(r)) {
		report_edit(r);
		return;
	}
	if (!queuejob_own_group(r))
		return;
	kar_plan_event(r->p, false, kar_reason_Scaled, "ScaleJob", "queue %s scaled the job %s to %d of %s%s",
		r->f->v->queue, r->want.pods < wanted_before(r) ? "down" : "up", (int)r->want.pods,
		queuejob_count_pods(r, not_done(r)), r->f->pods.done ? " that have not succeeded" : "");
}

/* What stops the next pod, if the queue has not said it with numbers; "": nothing is known. */
static const char *describe_cause(const struct kar_podgroup_status *st)
{
	static const char *const words[KAR_PG_LIMITS] = {
		[KAR_PG_LIMIT_STARTING] = "more pods come when its minimum runs",
		[KAR_PG_LIMIT_QUEUE_CLOSED] = "the queue is closed",
		[KAR_PG_LIMIT_FREEZING_WINDOW] = "the freezing window has not ended",
		[KAR_PG_LIMIT_MAX_LOAD] = "--max-load-desired keeps the rest of the cluster free",
		[KAR_PG_LIMIT_QUOTA_EXCEEDED] = "a quota of the namespace has no room for more",
		[KAR_PG_LIMIT_NAMESPACE_LIMIT] = "the namespace has what the queue allows it",
		[KAR_PG_LIMIT_QUEUE_CAPABILITY] = "the capability of the queue is used up",
		[KAR_PG_LIMIT_FAIR_SHARE] = "there is no room, and others have their share of it",
		[KAR_PG_LIMIT_HEAD_RESERVED] = "room is held for a job that waits long",
		[KAR_PG_LIMIT_GUARANTEE_RESERVED] = "room is held for guarantees of other queues",
		[KAR_PG_LIMIT_INSUFFICIENT_CAPACITY] = "the cluster has no room for more",
		[KAR_PG_LIMIT_NO_FIT] = "no node has room for one more pod",
		[KAR_PG_LIMIT_WAITING_FOR_TERMINATION] = "pods that stop have the room for more",
	};
	const char *cause = kar_has_text(st->scaling_limit_message) ? st->scaling_limit_message
								    : words[st->scaling_limit];

	return st->scaling_limit ? cause : "";
}

void queuejob_report_raised(struct queuejob_reconcile *r, const char *reason)
{
	const struct kar_podgroup *g = queuejob_own_group(r);
	const struct kar_condition *c = g ? kar_condition_find(&g->status.conditions, KAR_PG_ADMITTED) : NULL;

	if (queuejob_waits_for_raised(r))
		queuejob_report(r, reason, "queue %s allows %d of %s that the raised minimum needs: %s",
			r->f->v->queue, (int)r->want.pods, queuejob_count_pods(r, queuejob_minimum_left(r)),
			c && g->spec.min_member + g->spec.succeeded_members == r->want.min
				? c->message
				: "it has not decided yet");
}

/*
 * It has pods, and never had a place for them: it has taken over a group of others whose admission has ended. A job that has formed had one,
 * whatever a group says that was made again.
 */
static bool has_no_place(const struct queuejob_reconcile *r, const struct kar_podgroup *g)
{
	const struct kar_condition *c = kar_condition_find(&g->status.conditions, KAR_PG_ADMITTED);

	return c && c->status != KAR_COND_TRUE && g->status.placement.state == KAR_PG_STATE_NONE &&
		!r->f->seen->record.formed_min_available;
}

bool queuejob_edit_is_let_in(const struct queuejob_reconcile *r)
{
	const struct kar_podgroup *g = queuejob_own_group(r);

	/* A queue judges edits of jobs that it has admitted. One without a place gives up its pods, and is judged as a whole. */
	return g && (has_no_place(r, g) || kar_podgroup_has_let_in(g, r->f->job->generation));
}

void queuejob_report_edit(struct queuejob_reconcile *r)
{
	const struct kar_podgroup *g = queuejob_own_group(r);
	const struct kar_condition *c =
		g ? kar_condition_find(&g->status.conditions, KAR_PG_TEMPLATES_ADMITTED) : NULL;

	/* Before the queue has decided, which takes a moment, there is nothing to say. */
	if (r->f->edit_waits && c && c->observed_generation == r->f->job->generation)
		queuejob_report(r, kar_reason_WaitingForAdmission, "incarnation %d runs on: %s",
			(int)r->st.incarnation, c->message);
}

void queuejob_report_limit(struct queuejob_reconcile *r)
{
	const struct kar_podgroup *g = queuejob_own_group(r);
	const char *cause = g ? describe_cause(&g->status) : "";

	if (r->want.limited)
		queuejob_report(r, kar_reason_Scaled, "queue %s allows %d of %s at once%s%s", r->f->v->queue,
			(int)r->want.pods, queuejob_count_pods(r, r->f->pods.total), cause[0] ? ": " : "",
			cause);
}
