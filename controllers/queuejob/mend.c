/*
 * A status that somebody else has edited is put right before anything is done by it (see docs/decisions/025).
 *
 * What a decision writes agrees with itself: phase, conditions and times tell the same story. If they do not, the story that
 * most of them tell is believed, and among equals the one by which no pod is stopped. What nothing else tells of, like the
 * number of restarts, is taken as it is, if it can be a number of them; what is counted in every round needs no mending.
 */
#include "controllers/queuejob/mend.h"

#include <string.h>

#include "api/keep.h"

/* No clock is ahead of another by more. (Two managers that disagree would put each other right for ever.) */
static const kar_time CLOCK_SKEW = 24 * 60 * KAR_MINUTE;

/* --- tools --------------------------------------------------------------------------------------- */

void queuejob_mend_note(struct mend *m, const char *field)
{
	m->fields = kar_arena_printf(m->r->arena, "%s%s%s", m->fields, m->fields[0] ? ", " : "", field);
}

static void put_phase(struct mend *m, enum kar_qj_phase phase)
{
	if (m->st->phase != phase)
		queuejob_mend_note(m, "phase");
	m->st->phase = phase;
}

void queuejob_mend_number(struct mend *m, const char *field, int32_t *at, int32_t n)
{
	if (*at != n)
		queuejob_mend_note(m, field);
	*at = n;
}

static void put_time(struct mend *m, const char *field, kar_time *at, kar_time t)
{
	if (*at != t)
		queuejob_mend_note(m, field);
	*at = t;
}

void queuejob_mend_text(struct mend *m, const char *field, const char **at, const char *text)
{
	if (!kar_same(*at, text))
		queuejob_mend_note(m, field);
	*at = text;
}

static const struct kar_condition *find(const struct mend *m, const char *type)
{
	return kar_condition_find(&m->st->conditions, type);
}

static bool is_true(const struct mend *m, const char *type)
{
	return kar_condition_is_true(&m->st->conditions, type);
}

static void put_condition(struct mend *m, const char *type, bool value, const char *reason)
{
	const struct kar_condition *c = find(m, type);

	if (c && c->status == (value ? KAR_COND_TRUE : KAR_COND_FALSE))
		return;
	queuejob_mend_note(m, type);
	queuejob_set_condition(m->r, type, value, reason, "%s", "");
}

static void drop_condition(struct mend *m, const char *type)
{
	struct kar_conditions *list = &m->st->conditions;
	size_t n = 0;

	if (!find(m, type))
		return;
	queuejob_mend_note(m, type);
	for (size_t i = 0; i < list->n; i++) {
		if (strcmp(list->items[i].type, type))
			list->items[n++] = list->items[i];
	}
	list->n = n;
}

/* --- the end ------------------------------------------------------------------------------------- */

struct ending {
	enum kar_qj_phase phase;
	const char *condition;
	unsigned shown;     /* where the reasons that it may have are shown */
	const char *reason; /* if none of these is left */
};

static const struct ending COMPLETED = { KAR_QJ_PHASE_COMPLETED, KAR_QJ_COMPLETE, KAR_SHOWN_COMPLETE,
	kar_reason_Completed };
static const struct ending FAILED = { KAR_QJ_PHASE_FAILED, KAR_QJ_FAILED, KAR_SHOWN_FAILED,
	kar_reason_BackoffLimitExceeded };

static bool has_live_pods(const struct mend *m)
{
	for (size_t i = 0; i < m->r->v->n_pods; i++) {
		if (kar_pod_alive(m->r->v->pods[i]))
			return true;
	}
	return false;
}

static bool is_reason_of(const struct ending *e, const char *reason)
{
	const struct kar_reason *known = kar_reason_find(reason);

	return known && known->where & e->shown;
}

/*
 * Phase, condition, completionTime and reason are written together. The condition is believed with one of the others; these
 * three without it only if nothing runs that would be stopped for it.
 */
static int weigh(const struct mend *m, const struct ending *e)
{
	const struct kar_queuejob_status *st = m->st;
	int marks = (st->phase == e->phase) + (st->completion_time != 0) + is_reason_of(e, st->reason);

	if (is_true(m, e->condition))
		return marks + 2;
	return marks == 3 && has_live_pods(m) ? 0 : marks;
}

/* NULL: it has not ended. */
static const struct ending *ending_of(const struct mend *m)
{
	int completed = weigh(m, &COMPLETED), failed = weigh(m, &FAILED);

	if (completed < 3 && failed < 3)
		return NULL;
	return completed >= failed ? &COMPLETED : &FAILED;
}

/* The later of the two, for the TTL counts from it; but not one that is still to come. */
static kar_time ended_at(const struct mend *m, const struct kar_condition *c)
{
	kar_time a = m->st->completion_time, b = c ? c->last_transition : a;
	kar_time later = a > b ? a : b, earlier = a > b ? b : a;

	if (a == b || later <= m->r->now + CLOCK_SKEW)
		return later;
	return earlier ? earlier : m->r->second;
}

static const char *ending_reason(const struct mend *m, const struct ending *e, const struct kar_condition *c)
{
	if (c && is_reason_of(e, c->reason))
		return c->reason;
	return is_reason_of(e, m->st->reason) ? m->st->reason : e->reason;
}

static void put_end_condition(struct mend *m, const struct ending *e)
{
	const struct kar_queuejob_status *st = m->st;
	const struct kar_condition *known = find(m, e->condition);
	struct kar_condition c = { .type = e->condition,
		.status = KAR_COND_TRUE,
		.observed_generation = m->r->job->generation,
		.reason = st->reason,
		.message = st->message };

	if (known && known->status == c.status && known->last_transition == st->completion_time &&
		kar_same(known->reason, c.reason))
		return;
	if (known)
		drop_condition(m, e->condition); /* else it would keep its time */
	else
		queuejob_mend_note(m, e->condition);
	kar_condition_set(&m->st->conditions, &c, st->completion_time, m->r->arena);
}

static void mend_end(struct mend *m, const struct ending *e)
{
	struct kar_queuejob_status *st = m->st;
	const struct kar_condition *c = is_true(m, e->condition) ? find(m, e->condition) : NULL;
	const char *reason = ending_reason(m, e, c), *message = c ? c->message : st->message;

	put_phase(m, e->phase);
	queuejob_mend_text(m, "reason", &st->reason, reason);
	queuejob_mend_text(m, "message", &st->message, message);
	put_time(m, "completionTime", &st->completion_time, ended_at(m, c));
	queuejob_mend_number(m, "position", &st->position, 0);
	put_end_condition(m, e);
	drop_condition(m, e == &COMPLETED ? FAILED.condition : COMPLETED.condition);
}

/* --- the stage of its life ----------------------------------------------------------------------- */

/* Why a gang at work is Formed or not; any other reason is that of a restart, or Suspended. */
static bool is_at_work(const struct kar_condition *formed)
{
	const char *const reasons[] = { kar_reason_Starting, kar_reason_QuorumReached,
		kar_reason_QuorumRaised, kar_reason_PodRecreated, kar_reason_TaskRestarting };

	return formed && kar_same_any(formed->reason, reasons, KAR_LEN(reasons));
}

static bool is_paused(const struct kar_condition *formed)
{
	return formed && kar_same(formed->reason, kar_reason_Suspended);
}

/* An incarnation is at work, or on its way out: phase, startTime or pods, and condition Formed vote. */
static bool has_incarnation(const struct mend *m)
{
	const struct kar_queuejob_status *st = m->st;
	const struct kar_condition *formed = find(m, KAR_QJ_FORMED);
	bool started = st->incarnation > 0 || formed;

	if (st->phase == KAR_QJ_PHASE_NONE || kar_qj_phase_terminal(st->phase))
		return started && !is_paused(formed);
	if (st->phase == KAR_QJ_PHASE_PENDING || st->phase == KAR_QJ_PHASE_SUSPENDED)
		return (st->start_time || has_live_pods(m)) && started && !is_paused(formed);
	if (is_paused(formed))
		return st->start_time != 0;
	return st->start_time || started || m->r->v->n_pods > 0;
}

/* Nobody is recorded to have a quorum that the numbers beside it do not bear out, unless pods were lost since. */
static bool remembers_quorum(const struct mend *m)
{
	const struct kar_queuejob_status *st = m->st;

	return st->formed_min_available > 0 &&
		(st->running + st->succeeded >= st->min_available || m->r->t.lost.n > 0);
}

static enum kar_qj_phase phase_of_incarnation(const struct mend *m)
{
	const struct kar_queuejob_status *st = m->st;
	const struct kar_condition *formed = find(m, KAR_QJ_FORMED);
	int marks = (st->phase == KAR_QJ_PHASE_RUNNING) + is_true(m, KAR_QJ_FORMED) + remembers_quorum(m);

	if (marks >= 2)
		return KAR_QJ_PHASE_RUNNING;
	if (st->phase == KAR_QJ_PHASE_RESTARTING)
		return is_at_work(formed) || (!formed && !st->last_restart.time) ? KAR_QJ_PHASE_STARTING
										 : KAR_QJ_PHASE_RESTARTING;
	return formed && formed->status == KAR_COND_FALSE && st->last_restart.time &&
			kar_same(formed->reason, st->last_restart.reason)
		? KAR_QJ_PHASE_RESTARTING
		: KAR_QJ_PHASE_STARTING;
}

static enum kar_qj_phase phase_without(const struct mend *m)
{
	const struct kar_condition *admitted = find(m, KAR_QJ_ADMITTED);
	int marks = (m->st->phase == KAR_QJ_PHASE_SUSPENDED) + is_true(m, KAR_QJ_SUSPENDED) +
		(admitted && kar_same(admitted->reason, kar_reason_Suspended));

	if (marks >= 2)
		return KAR_QJ_PHASE_SUSPENDED;
	return m->st->phase == KAR_QJ_PHASE_NONE ? KAR_QJ_PHASE_NONE : KAR_QJ_PHASE_PENDING;
}

/* --- what goes with the phase -------------------------------------------------------------------- */

/*
 * Why a gang that starts is not Formed. If nobody knows any more, a pod that runs is taken for one of a gang whose quorum was
 * raised: then none is stopped for a quota or for nodes, as those of one may be that has never formed.
 */
static const char *why_it_starts(const struct mend *m)
{
	const struct kar_condition *c = find(m, KAR_QJ_FORMED);

	if (is_at_work(c) && !kar_same(c->reason, kar_reason_QuorumReached))
		return c->reason;
	return m->r->t.running ? kar_reason_QuorumRaised : kar_reason_Starting;
}

static void put_formed(struct mend *m)
{
	const struct kar_restart *last = &m->st->last_restart;
	const struct kar_reason *cause = kar_reason_find(last->reason);

	if (m->st->phase == KAR_QJ_PHASE_RUNNING)
		put_condition(m, KAR_QJ_FORMED, true, kar_reason_QuorumReached);
	else if (m->st->phase == KAR_QJ_PHASE_STARTING)
		put_condition(m, KAR_QJ_FORMED, false, why_it_starts(m));
	else
		put_condition(m, KAR_QJ_FORMED, false,
			cause && cause->where & KAR_SHOWN_FORMED ? cause->name : kar_reason_PodsMissing);
}

/* A clock that is days behind has not seen the admission either, so that tells how late it is at least. */
static bool is_possible(const struct mend *m, kar_time start)
{
	const struct kar_condition *admitted = find(m, KAR_QJ_ADMITTED);
	kar_time latest =
		admitted && admitted->last_transition > m->r->now ? admitted->last_transition : m->r->now;

	return start + CLOCK_SKEW >= m->r->job->creation && start <= latest + CLOCK_SKEW;
}

/* What is not possible is left as it is, if that is not known better: by a clock that is wrong, each moment would be. */
static void mend_start_time(struct mend *m)
{
	kar_time *at = &m->st->start_time, start = queuejob_admitted_at(m->r);

	if (!*at || (!is_possible(m, *at) && is_possible(m, start)))
		put_time(m, "startTime", at, start);
}

/*
 * Pods of the incarnation. Of those that go only the ones count that bear the recorded hash, which is true then: of a gang that
 * restarts, or pauses, a part may be left.
 */
struct templates {
	size_t as_specified, others;
};

static struct templates count_templates(const struct mend *m)
{
	const struct queuejob_view *v = m->r->v;
	struct templates t = { 0 };

	for (size_t i = 0; i < v->n_pods; i++) {
		const struct kar_pod *pod = v->pods[i];

		if (!pod->job || pod->job->incarnation != m->st->incarnation ||
			(pod->deletion && !kar_same(pod->job->template_hash, m->st->template_hash)))
			continue;
		if (kar_same(pod->job->template_hash, v->job->spec_template_hash))
			t.as_specified++;
		else
			t.others++;
	}
	return t;
}

/* It decides what is kept: not of an incarnation that is given up, for the next has that of the spec. */
static bool is_read(const struct mend *m)
{
	return m->st->template_hash[0] &&
		(m->st->phase != KAR_QJ_PHASE_RESTARTING || queuejob_gave_nodes_back(m->r));
}

/* Nobody is stopped for a template that differs only from what somebody has written. */
static void mend_template_hash(struct mend *m, bool has_incarnation)
{
	const char *specified = kar_keep_text(m->r->arena, m->r->job->spec_template_hash);
	const char **hash = &m->st->template_hash;
	struct templates pods = count_templates(m);

	if (!*hash[0] && (has_incarnation || queuejob_counted_results(m) > 0))
		queuejob_mend_text(m, "templateHash", hash,
			pods.as_specified ? specified : queuejob_template_of(m->r));
	else if (is_read(m) && !kar_same(*hash, specified) && pods.as_specified && !pods.others)
		queuejob_mend_text(m, "templateHash", hash, specified);
}

/* A gang forms before it runs, unless it has several stages: then the others form while the first runs. An edit may have changed that. */
static bool forms_at_once(const struct mend *m)
{
	const struct kar_queuejob *job = m->r->job;

	for (size_t i = 0; i < m->r->t.n_tasks; i++) {
		if (job->spec.tasks[i].depends_on.n)
			return false;
	}
	return job->generation == m->st->observed_generation;
}

/* By one that runs: what it lacks, it has lost. Of one that somebody has only written to run, the others have not started yet. */
static bool had_quorum(const struct mend *m)
{
	return queuejob_has_quorum(m->r) || m->r->t.lost.n > 0;
}

static void mend_quorum(struct mend *m)
{
	struct kar_queuejob_status *st = m->st;

	if (st->phase != KAR_QJ_PHASE_RUNNING)
		queuejob_mend_number(m, "formedMinAvailable", &st->formed_min_available, 0);
	else if (st->formed_min_available < m->r->min && forms_at_once(m) && had_quorum(m))
		queuejob_mend_number(m, "formedMinAvailable", &st->formed_min_available, m->r->min);
}

static void mend_incarnation(struct mend *m)
{
	struct kar_queuejob_status *st = m->st;

	put_phase(m, phase_of_incarnation(m));
	if (st->incarnation < 1)
		queuejob_mend_number(m, "incarnation", &st->incarnation, queuejob_incarnation(m->r->v));
	mend_start_time(m);
	mend_quorum(m);
	if (is_true(m, KAR_QJ_SUSPENDED))
		put_condition(m, KAR_QJ_SUSPENDED, false, kar_reason_Resumed);
	put_formed(m);
}

static void mend_pause(struct mend *m)
{
	struct kar_queuejob_status *st = m->st;

	put_phase(m, phase_without(m));
	put_time(m, "startTime", &st->start_time, 0);
	queuejob_mend_number(m, "formedMinAvailable", &st->formed_min_available, 0);
	if (st->phase == KAR_QJ_PHASE_SUSPENDED) {
		put_condition(m, KAR_QJ_SUSPENDED, true, kar_reason_Suspended);
		put_condition(m, KAR_QJ_ADMITTED, false, kar_reason_Suspended);
		put_condition(m, KAR_QJ_FORMED, false, kar_reason_Suspended);
		queuejob_mend_number(m, "position", &st->position, 0);
		return;
	}
	if (is_true(m, KAR_QJ_SUSPENDED))
		put_condition(m, KAR_QJ_SUSPENDED, false, kar_reason_Resumed);
	if (is_true(m, KAR_QJ_FORMED) || !is_paused(find(m, KAR_QJ_FORMED)))
		drop_condition(m, KAR_QJ_FORMED); /* of an incarnation that there is not */
}

static void mend_life(struct mend *m)
{
	bool works = has_incarnation(m);

	drop_condition(m, KAR_QJ_COMPLETE);
	drop_condition(m, KAR_QJ_FAILED);
	put_time(m, "completionTime", &m->st->completion_time, 0);
	if (works)
		mend_incarnation(m);
	else
		mend_pause(m);
	mend_template_hash(m, works);
}

/* --- counters ------------------------------------------------------------------------------------ */

/* So that there is room to count on. What is put right is far below what is wrong: the next true count must not be wrong again. */
static int32_t mend_count(int32_t n)
{
	enum { ROOM = 1000000000 };

	return n < 0 ? 0 : n > QUEUEJOB_COUNT_MAX ? ROOM : n;
}

static void mend_counters(struct mend *m)
{
	struct kar_queuejob_status *st = m->st;
	const struct {
		const char *field;
		int32_t *at;
	} counters[] = {
		{ "restarts", &st->restarts },
		{ "podFailures", &st->pod_failures },
		{ "disruptions", &st->disruptions },
		{ "backoffSteps", &st->backoff_steps },
		{ "scheduleTimeouts", &st->schedule_timeouts },
	};

	for (size_t i = 0; i < KAR_LEN(counters); i++)
		queuejob_mend_number(m, counters[i].field, counters[i].at, mend_count(*counters[i].at));
	if (st->incarnation > QUEUEJOB_COUNT_MAX)
		queuejob_mend_number(m, "incarnation", &st->incarnation, queuejob_incarnation(m->r->v));
}

/* --- the whole ----------------------------------------------------------------------------------- */

static void write(struct mend *m)
{
	struct queuejob_round *r = m->r;
	struct kar_queuejob_status *st = kar_arena_alloc(r->arena, 1, sizeof(*st));

	if (m->st->phase == KAR_QJ_PHASE_NONE)
		m->st->phase = KAR_QJ_PHASE_PENDING;
	m->st->pods_version = r->v->pods_version;
	*st = *m->st;
	r->p->status = st;
	r->p->status_text = queuejob_status_text(r->recorded, st, r->arena);
	r->p->urgent = true;
	r->p->unfinished = true; /* what is wanted is not known yet */
	kar_plan_event(r->p, true, kar_reason_StatusRepaired, "RepairStatus",
		"status contradicted itself, as if somebody had edited it; put right: %s", m->fields);
}

bool queuejob_mend_status(struct queuejob_round *r)
{
	struct mend m = { .r = r, .st = &r->st, .fields = "" };
	const struct ending *e = ending_of(&m);

	mend_counters(&m);
	queuejob_mend_results(&m, e != NULL);
	if (e)
		mend_end(&m, e);
	else
		mend_life(&m);
	if (!m.fields[0])
		return false;
	write(&m);
	return true;
}
