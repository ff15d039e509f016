/* An end that the status tells of: whether to believe it, and what goes with it. */
#include "controllers/queuejob/mend.h"

#include "api/keep.h"

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

	if (queuejob_mend_is_true(m, e->condition))
		return marks + 2;
	return marks == 3 && queuejob_mend_has_live_pods(m) ? 0 : marks;
}

const struct ending *queuejob_mend_ending_of(const struct mend *m)
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

	if (a == b || !queuejob_mend_is_after(later, m->r->now))
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
	const struct kar_condition *known = queuejob_mend_find(m, e->condition);
	struct kar_condition c = { .type = e->condition,
		.status = KAR_COND_TRUE,
		.observed_generation = m->r->job->generation,
		.reason = st->reason,
		.message = st->message };

	if (known && known->status == c.status && known->last_transition == st->completion_time &&
		kar_same(known->reason, c.reason))
		return;
	if (known)
		queuejob_mend_no_condition(m, e->condition); /* else it would keep its time */
	else
		queuejob_mend_note(m, e->condition);
	kar_condition_set(&m->st->conditions, &c, st->completion_time, m->r->arena);
}

void queuejob_mend_end(struct mend *m, const struct ending *e)
{
	struct kar_queuejob_status *st = m->st;
	const struct kar_condition *c =
		queuejob_mend_is_true(m, e->condition) ? queuejob_mend_find(m, e->condition) : NULL;
	const char *reason = ending_reason(m, e, c), *message = c ? c->message : st->message;

	queuejob_mend_phase(m, e->phase);
	queuejob_mend_text(m, "reason", &st->reason, reason);
	queuejob_mend_text(m, "message", &st->message, message);
	queuejob_mend_time(m, "completionTime", &st->completion_time, ended_at(m, c));
	queuejob_mend_number(m, "position", &st->position, 0);
	put_end_condition(m, e);
	queuejob_mend_no_condition(m, e == &COMPLETED ? FAILED.condition : COMPLETED.condition);
}
