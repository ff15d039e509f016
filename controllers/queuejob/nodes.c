/*
 * A gang of which only a part gets nodes: how long it keeps them, and when it tries again (see docs/decisions/026).
 *
 * The default scheduler binds pod by pod, so two gangs may each hold what the other lacks. Whoever is not the first of those
 * that wait for nodes gives its own back after a turn, and creates no pod before it is the first; the first one loses its turn
 * if it has not got enough so long after the others gave back. Nobody else waits: nothing is given back. Who has got no node
 * yet is never the first, and one pod needs no other: jobs that fit nowhere hold up nobody.
 */
#include "controllers/queuejob/reconcile.h"

#include "common/backoff.h"
#include "common/timefmt.h"

static const kar_time DEFAULT_TIMEOUT = KAR_MINUTE;
/* For a gang that fits nowhere, whose pods may preempt those of others in each try. */
static const kar_time LONGEST_REST = 60 * KAR_MINUTE;

/* Who of the started tasks has a node. What has succeeded needs none any more. */
struct seats {
	int32_t taken;    /* pods on nodes, or done */
	int32_t bound;    /* pods on nodes */
	kar_time created; /* wall ms, of the last pod; 0: there is none */
	kar_time since;   /* the same, or when the last one got its node */
	bool lack;        /* more are needed for the quorum */
	bool waits;       /* a pod is unschedulable */
};

static kar_time timeout_of(const struct queuejob_reconcile *r)
{
	const struct kar_schedspec *s = &r->f->job->spec.sched;
	const struct kar_podgroup *g = queuejob_own_group(r);
	int32_t seconds = r->f->v->schedule_timeout_seconds;

	if (s->has_schedule_timeout)
		seconds = s->schedule_timeout_seconds;
	else if (g && g->spec.has_schedule_timeout)
		seconds = g->spec.schedule_timeout_seconds;
	return seconds > 0 ? seconds * KAR_SECOND : DEFAULT_TIMEOUT;
}

/* While others wait: what a job may choose itself is bounded by what the manager's operator has. */
static kar_time length_of_turn(const struct queuejob_reconcile *r)
{
	kar_time own = timeout_of(r), longest = r->f->v->schedule_timeout_seconds * KAR_SECOND;

	longest = longest > 0 ? longest : DEFAULT_TIMEOUT;
	return own < longest ? own : longest;
}

/* --- what it holds ------------------------------------------------------------------------------- */

static kar_time later(kar_time a, kar_time b)
{
	return a > b ? a : b;
}

static void look_at_slot(struct seats *s, const struct podset_slot *slot)
{
	bool live = slot->state == PODSET_PENDING || slot->state == PODSET_RUNNING;
	bool bound = live && slot->pod->node;

	s->taken += bound || slot->state == PODSET_DONE;
	s->bound += bound;
	if (!live)
		return;
	s->waits |= !bound && slot->pod->unschedulable;
	s->created = later(s->created, slot->pod->creation);
	s->since = later(s->since, later(slot->pod->creation, bound ? slot->pod->bound : 0));
}

static struct seats look(const struct queuejob_reconcile *r)
{
	struct seats s = { 0 };

	for (size_t i = 0; i < r->f->pods.n_tasks; i++) {
		const struct kar_taskspec *spec = &r->f->job->spec.tasks[i];
		const struct podset_task *task = &r->f->pods.tasks[i];
		int32_t before = s.taken;

		for (int32_t k = 0; k < task->n && r->want.tasks[i].started; k++)
			look_at_slot(&s, &task->slots[k]);
		s.lack |= r->want.tasks[i].started && spec->has_min_available &&
			s.taken - before < spec->min_available;
	}
	s.lack |= s.taken < r->want.min;
	return s;
}

/* It does not form: it is not to (one pod is no gang), has, or runs with the minimum that it had before an edit. */
static bool is_whole(const struct queuejob_reconcile *r)
{
	return r->want.min <= 1 || queuejob_was_formed(r) || queuejob_is_raised(r);
}

/*
 * Who has lost turns stays away for longer each time, whether or not others wait: they may have just what it would preempt. When
 * a job has ended since, it tries after 10 minutes at the latest. @since: ms ago; returns ms that are left.
 */
static kar_time rest_left(const struct queuejob_reconcile *r, kar_time since)
{
	kar_time first = timeout_of(r), room = r->f->v->nodes.room, rest;
	kar_time longest = room && room <= since ? QUEUEJOB_LONGEST_BACKOFF : LONGEST_REST;
	int32_t n = r->st.record.schedule_timeouts;

	first = first < QUEUEJOB_LONGEST_BACKOFF ? first : QUEUEJOB_LONGEST_BACKOFF;
	rest = n > 0 ? kar_backoff_delay((unsigned)n - 1, first, longest) : 0;
	return since >= 0 && since < rest ? rest - since : 0;
}

/* Nobody tells when a job ends. */
static void wake_from_rest(struct queuejob_reconcile *r, kar_time left)
{
	kar_plan_requeue(r->p, left < QUEUEJOB_LONGEST_BACKOFF ? left : QUEUEJOB_LONGEST_BACKOFF);
}

/* Its pods wait without a claim: they had their turn, and what was given back for them was not enough. */
static bool rests(struct queuejob_reconcile *r)
{
	kar_time passed = r->f->v->nodes.passed, left = passed ? rest_left(r, passed) : 0;

	if (left)
		wake_from_rest(r, left);
	return left > 0;
}

/* It is in the line, and a pod that it has lost, to a failure or to one of higher priority, comes again. */
static bool keeps_place(const struct queuejob_reconcile *r)
{
	return r->f->v->nodes.stands && !(r->f->v->refused && r->f->v->refusal_stands);
}

/* One that tries again keeps its turn from its first create on, until it has its nodes. */
static enum kar_node_wait judge(struct queuejob_reconcile *r, const struct seats *s)
{
	bool stuck = s->waits && !queuejob_lacks(r);

	if (!s->lack || !(stuck || queuejob_released_nodes(r) || keeps_place(r)))
		return KAR_NODES_NONE;
	if (s->bound)
		return KAR_NODES_HOLDS;
	return rests(r) ? KAR_NODES_RESTS : queuejob_released_nodes(r) ? KAR_NODES_TRIES : KAR_NODES_WAITS;
}

/* --- giving back --------------------------------------------------------------------------------- */

static const char *describe(const struct queuejob_reconcile *r, const struct seats *s)
{
	const char *got = s->taken ? kar_arena_printf(r->arena, "only %d", (int)s->taken) : "none";
	const char *pods = queuejob_count_pods(r, r->want.min);
	char text[KAR_TIME_LEN];

	if (!s->since)
		return kar_arena_printf(r->arena, "%s of %s got a node", got, pods);
	return kar_arena_printf(r->arena, "%s of %s got a node in %s", got, pods,
		kar_duration_format((r->f->now - s->since) / KAR_SECOND * KAR_SECOND, text));
}

/* By a clock that is behind, pods come from the future: it may soon be right again. */
static bool is_over(struct queuejob_reconcile *r, kar_time timeout, kar_time waited)
{
	kar_time left = waited > 0 ? timeout - waited : timeout;

	if (left > 0)
		kar_plan_requeue(r->p, left);
	return left <= 0;
}

/* It holds nodes in vain: its pods exist, and the scheduler has no place for the rest of them. */
static bool is_stuck(const struct queuejob_reconcile *r, const struct seats *s)
{
	return s->bound && s->waits && !queuejob_lacks(r);
}

/* Others go before it: what it holds is theirs, if they too have waited for so long. */
static const char *yields(struct queuejob_reconcile *r, const struct seats *s)
{
	if (!is_stuck(r, s) ||
		!is_over(r, length_of_turn(r), r->f->now - later(s->since, r->f->v->nodes.ahead_since)))
		return NULL;
	return kar_arena_printf(r->arena, "%s; all were deleted so that %s can start; next try when it has",
		describe(r, s), r->f->v->nodes.ahead);
}

/* What it does not hold, or cannot use because it waits for something else, it need not give, but others wait for it. */
static void lets_pass(struct queuejob_reconcile *r, const struct seats *s)
{
	r->nodes->how = KAR_NODES_RESTS;
	kar_plan_requeue(r->p, length_of_turn(r));
	kar_plan_event(r->p, true, kar_reason_ScheduleTimeout, "RestartGang",
		"%s; other gangs that wait for nodes go first", describe(r, s));
}

/* The first of the line: it has had its turn, and others could go on. */
static const char *loses_turn(struct queuejob_reconcile *r, const struct seats *s)
{
	const struct kar_node_outlook *v = &r->f->v->nodes;
	kar_time waited = r->f->now - s->since;
	bool stuck = is_stuck(r, s);

	if (!v->rivals || !(stuck || v->awaited) ||
		!is_over(r, length_of_turn(r), waited < v->turn ? waited : v->turn))
		return NULL;
	r->st.record.schedule_timeouts++;
	if (stuck)
		return kar_arena_printf(r->arena,
			"%s; all were deleted so that other gangs can start; next try when they have",
			describe(r, s));
	lets_pass(r, s);
	return NULL;
}

bool queuejob_loses_nodes(struct queuejob_reconcile *r)
{
	struct seats s;

	if (is_whole(r))
		return false;
	s = look(r);
	r->nodes->how = judge(r, &s);
	r->nodes->since = s.created;
	if (r->nodes->how == KAR_NODES_HOLDS || r->nodes->how == KAR_NODES_TRIES)
		r->nodes_lost = r->f->v->nodes.ahead ? yields(r, &s) : loses_turn(r, &s);
	/* To the others it holds its nodes until it is recorded that it releases them. */
	r->nodes->lost_turns =
		r->nodes_lost ? r->f->seen->record.schedule_timeouts : r->st.record.schedule_timeouts;
	return r->nodes_lost != NULL;
}

/* --- trying again -------------------------------------------------------------------------------- */

bool queuejob_may_try_nodes(struct queuejob_reconcile *r, bool gone)
{
	const struct kar_node_outlook *v = &r->f->v->nodes;
	kar_time left = rest_left(r, r->f->now - r->f->seen->last_restart.time);
	char text[KAR_TIME_LEN];

	if (!queuejob_released_nodes(r))
		return true;
	r->nodes->lost_turns = r->st.record.schedule_timeouts;
	r->nodes->since = r->f->seen->last_restart.time;
	r->nodes->how = !gone ? KAR_NODES_LEAVES : left ? KAR_NODES_RESTS : KAR_NODES_AWAY;
	if (!gone)
		return false;
	if (v->unsure)
		kar_plan_requeue(r->p, v->unsure);
	if (left) {
		wake_from_rest(r, left);
		queuejob_report(r, kar_reason_ScheduleTimeout, "%s, at the latest at %s",
			r->f->seen->last_restart.message, kar_time_format(r->f->now + left, text));
	}
	if (v->unsure || left || v->ahead)
		return false;
	/* Others need not wait until its start can be recorded. */
	r->nodes->how = v->awaited && v->turn >= length_of_turn(r) ? KAR_NODES_RESTS : KAR_NODES_TRIES;
	return true;
}
