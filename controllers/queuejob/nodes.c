/*
 * A gang of which only a part gets nodes: how long it keeps them, and when it tries again (see docs/decisions/026).
 *
 * The default scheduler binds pod by pod, so two gangs may each hold what the other lacks. Whoever is not the first of those
 * that wait for nodes gives its own back after scheduleTimeoutSeconds, and creates no pod before it is the first; the first
 * one loses its turn if it has not got enough so long after the others gave back. Nobody else waits: nothing is given back.
 */
#include "controllers/queuejob/round.h"

#include "api/keep.h"
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

static kar_time timeout_of(const struct queuejob_round *r)
{
	const struct kar_schedspec *s = &r->job->spec.sched;
	const struct kar_podgroup *g = queuejob_own_group(r);
	int32_t seconds = r->v->schedule_timeout_seconds;

	if (s->has_schedule_timeout)
		seconds = s->schedule_timeout_seconds;
	else if (g && g->spec.has_schedule_timeout)
		seconds = g->spec.schedule_timeout_seconds;
	return seconds > 0 ? seconds * KAR_SECOND : DEFAULT_TIMEOUT;
}

/* --- what it holds ------------------------------------------------------------------------------- */

static kar_time later(kar_time a, kar_time b)
{
	return a > b ? a : b;
}

static void look_at_slot(struct seats *s, const struct queuejob_slot *slot)
{
	bool live = slot->state == QUEUEJOB_SLOT_PENDING || slot->state == QUEUEJOB_SLOT_RUNNING;
	bool bound = live && slot->pod->node;

	s->taken += bound || slot->state == QUEUEJOB_SLOT_DONE;
	s->bound += bound;
	if (!live)
		return;
	s->waits |= !bound && slot->pod->unschedulable;
	s->created = later(s->created, slot->pod->creation);
	s->since = later(s->since, later(slot->pod->creation, bound ? slot->pod->bound : 0));
}

static struct seats look(const struct queuejob_round *r)
{
	struct seats s = { 0 };

	for (size_t i = 0; i < r->t.n_tasks; i++) {
		const struct kar_taskspec *spec = &r->job->spec.tasks[i];
		const struct queuejob_task_tally *task = &r->t.tasks[i];
		int32_t before = s.taken;

		for (int32_t k = 0; k < task->n && task->started; k++)
			look_at_slot(&s, &task->slots[k]);
		s.lack |= task->started && spec->has_min_available && s.taken - before < spec->min_available;
	}
	s.lack |= s.taken < r->min;
	return s;
}

/* It does not form: it is not to, has, or runs with the minimum that it had before an edit. */
static bool is_whole(const struct queuejob_round *r)
{
	return !r->min || queuejob_was_formed(r) || queuejob_is_raised(r);
}

bool queuejob_gave_nodes_back(const struct queuejob_round *r)
{
	return kar_same(r->seen->last_restart.reason, kar_reason_ScheduleTimeout);
}

/*
 * Who has lost turns stays away for longer each time, whether or not others wait: they may have just what it would preempt. When
 * a job has ended since, it tries after 10 minutes at the latest. @since: ms ago; returns ms that are left.
 */
static kar_time rest_left(const struct queuejob_round *r, kar_time since)
{
	kar_time first = timeout_of(r), room = r->v->nodes.room, rest;
	kar_time longest = room && room <= since ? QUEUEJOB_LONGEST_BACKOFF : LONGEST_REST;
	int32_t n = r->st.schedule_timeouts;

	first = first < QUEUEJOB_LONGEST_BACKOFF ? first : QUEUEJOB_LONGEST_BACKOFF;
	rest = n > 0 ? kar_backoff_delay((unsigned)n - 1, first, longest) : 0;
	return since >= 0 && since < rest ? rest - since : 0;
}

/* Nobody tells when a job ends. */
static void wake_from_rest(struct queuejob_round *r, kar_time left)
{
	kar_plan_requeue(r->p, left < QUEUEJOB_LONGEST_BACKOFF ? left : QUEUEJOB_LONGEST_BACKOFF);
}

/* Its pods wait without a claim: they had their turn, and what was given back for them was not enough. */
static bool rests(struct queuejob_round *r)
{
	kar_time passed = r->v->nodes.passed, left = passed ? rest_left(r, passed) : 0;

	if (left)
		wake_from_rest(r, left);
	return left > 0;
}

/* It is in the line, and a pod that it has lost, to a failure or to one of higher priority, comes again. */
static bool keeps_place(const struct queuejob_round *r)
{
	return r->v->nodes.stands && !(r->v->refused && r->v->refusal_stands);
}

/* One that tries again keeps its turn from its first create on, until it has its nodes. */
static enum kar_node_wait judge(struct queuejob_round *r, const struct seats *s)
{
	bool stuck = s->waits && !queuejob_lacks(r);

	if (!s->lack || !(stuck || queuejob_gave_nodes_back(r) || keeps_place(r)))
		return KAR_NODES_NONE;
	return s->bound ? KAR_NODES_HOLDS : rests(r) ? KAR_NODES_RESTS : KAR_NODES_WAITS;
}

/* --- giving back --------------------------------------------------------------------------------- */

static const char *describe(const struct queuejob_round *r, const struct seats *s)
{
	const char *pods = queuejob_count_pods(r, r->min);
	char text[KAR_TIME_LEN];

	if (!s->since)
		return kar_arena_printf(r->arena, "%d of %s bound", (int)s->taken, pods);
	return kar_arena_printf(r->arena, "%d of %s bound after %s", (int)s->taken, pods,
		kar_duration_format((r->now - s->since) / KAR_SECOND * KAR_SECOND, text));
}

/* By a clock that is behind, pods come from the future: it may soon be right again. */
static bool is_over(struct queuejob_round *r, kar_time timeout, kar_time waited)
{
	kar_time left = waited > 0 ? timeout - waited : timeout;

	if (left > 0)
		kar_plan_requeue(r->p, left);
	return left <= 0;
}

/* It holds nodes in vain: its pods exist, and the scheduler has no place for the rest of them. */
static bool is_stuck(const struct queuejob_round *r, const struct seats *s)
{
	return s->bound && s->waits && !queuejob_lacks(r);
}

/* Others go before it: what it holds is theirs, if they too have waited for so long. */
static const char *yields(struct queuejob_round *r, const struct seats *s)
{
	if (!is_stuck(r, s) || !is_over(r, timeout_of(r), r->now - later(s->since, r->v->nodes.ahead_since)))
		return NULL;
	return kar_arena_printf(r->arena,
		"%s; gives its nodes to %s, which goes first, and tries again after it", describe(r, s),
		r->v->nodes.ahead);
}

/* What it does not hold, or cannot use because it waits for something else, it need not give, but others wait for it. */
static void lets_pass(struct queuejob_round *r, const struct seats *s)
{
	r->p->nodes = KAR_NODES_RESTS;
	kar_plan_requeue(r->p, timeout_of(r));
	kar_plan_event(r->p, true, kar_reason_ScheduleTimeout, "RestartGang",
		"%s; lets others go first that wait for nodes", describe(r, s));
}

/* Nobody who has given back stands idle for longer than 10 minutes, whatever time-out somebody else has chosen. */
static kar_time length_of_turn(const struct queuejob_round *r)
{
	kar_time timeout = timeout_of(r);

	return r->v->nodes.awaited && timeout > QUEUEJOB_LONGEST_BACKOFF ? QUEUEJOB_LONGEST_BACKOFF : timeout;
}

/* The first of the line: it has had its turn, and others could go on. */
static const char *loses_turn(struct queuejob_round *r, const struct seats *s)
{
	const struct kar_node_outlook *v = &r->v->nodes;
	kar_time waited = r->now - s->since;
	bool stuck = is_stuck(r, s);

	if (!v->rivals || !(stuck || v->awaited) ||
		!is_over(r, length_of_turn(r), waited < v->turn ? waited : v->turn))
		return NULL;
	r->st.schedule_timeouts++;
	if (stuck)
		return kar_arena_printf(r->arena,
			"%s; gives its nodes to others that wait for some, and tries again after them",
			describe(r, s));
	lets_pass(r, s);
	return NULL;
}

const char *queuejob_wants_to_give_nodes_back(struct queuejob_round *r)
{
	const char *why = NULL;
	struct seats s;

	if (is_whole(r))
		return NULL;
	s = look(r);
	r->p->nodes = judge(r, &s);
	r->p->nodes_since = s.created;
	if (r->p->nodes == KAR_NODES_HOLDS || r->p->nodes == KAR_NODES_WAITS)
		why = r->v->nodes.ahead ? yields(r, &s) : loses_turn(r, &s);
	/* To the others it holds its nodes until it is recorded that it gives them back. */
	r->p->lost_turns = why ? r->seen->schedule_timeouts : r->st.schedule_timeouts;
	return why;
}

/* --- trying again -------------------------------------------------------------------------------- */

bool queuejob_may_try_nodes(struct queuejob_round *r, bool gone)
{
	const struct kar_node_outlook *v = &r->v->nodes;
	kar_time left = rest_left(r, r->now - r->seen->last_restart.time);
	char text[KAR_TIME_LEN];

	if (!queuejob_gave_nodes_back(r))
		return true;
	r->p->lost_turns = r->st.schedule_timeouts;
	r->p->nodes_since = r->seen->last_restart.time;
	r->p->nodes = !gone ? KAR_NODES_LEAVES : left ? KAR_NODES_RESTS : KAR_NODES_AWAY;
	if (!gone)
		return false;
	if (v->unsure)
		kar_plan_requeue(r->p, v->unsure);
	if (left) {
		wake_from_rest(r, left);
		queuejob_say(r, kar_reason_ScheduleTimeout, "rests until %s at the latest; %s",
			kar_time_format(r->now + left, text), r->seen->last_restart.message);
	}
	if (v->unsure || left || v->ahead)
		return false;
	/* Others need not wait until its start can be recorded. */
	r->p->nodes = v->awaited && v->turn >= length_of_turn(r) ? KAR_NODES_RESTS : KAR_NODES_WAITS;
	return true;
}
