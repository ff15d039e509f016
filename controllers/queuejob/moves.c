/*
 * The state machine of a job (docs/design/queuejob.md). A decision makes the first move of the table that holds; a second
 * table lists the possible transitions between recorded phases.
 *
 * A row of moves has the phases it starts from, its condition, the phases it leads to, and its effect (gang.c, finish.c).
 */
#include "controllers/queuejob/reconcile.h"

#include <assert.h>

#define IN(phase) (1U << KAR_QJ_PHASE_##phase)
#define WAITING (IN(NONE) | IN(PENDING) | IN(SUSPENDED)) /* no incarnation runs or restarts */
#define GANG (IN(STARTING) | IN(RUNNING))
#define LIVE (WAITING | GANG | IN(RESTARTING))
#define ENDED (IN(COMPLETED) | IN(FAILED))

struct move {
	unsigned long from;                          /* phases */
	bool (*holds)(struct queuejob_reconcile *r); /* may request a sync at the time when it will hold */
	unsigned long to;                            /* phases; the move leads to one of them */
	void (*make)(struct queuejob_reconcile *r);
};

/* --- when a move is made --------------------------------------------------------------------------- */

static bool always(struct queuejob_reconcile *r KAR_UNUSED)
{
	return true;
}

static bool is_complete(struct queuejob_reconcile *r)
{
	return queuejob_is_complete(r);
}

static bool is_to_be_suspended(struct queuejob_reconcile *r)
{
	return r->f->job->spec.suspend;
}

static bool rule_completes(struct queuejob_reconcile *r)
{
	return r->loss.action == KAR_FAILURE_COMPLETE_JOB;
}

static bool rule_fails(struct queuejob_reconcile *r)
{
	return r->loss.action == KAR_FAILURE_FAIL_JOB;
}

static bool is_over_limit(struct queuejob_reconcile *r)
{
	return queuejob_over_limit(r);
}

static bool restarts_too_often(struct queuejob_reconcile *r)
{
	return queuejob_over_restart_limit(r);
}

static bool has_new_template(struct queuejob_reconcile *r)
{
	return r->f->replaces_template;
}

/* The gang is below its quorum because of losses, or a rule of the failure policy restarts it (losses.c). */
static bool is_broken(struct queuejob_reconcile *r)
{
	return r->loss.broken;
}

/*
 * A quota has refused a pod of the minimum, and the gang has never formed: it keeps no part of it while it waits, because others could
 * use that. Work that is done is kept.
 */
static bool minimum_is_refused(struct queuejob_reconcile *r)
{
	const struct queuejob_view *v = r->f->v;
	bool refused = v->refused && v->refusal_stands && !v->refused_extra && queuejob_refused_is_pod(r) &&
		v->refused->cause == KAR_CAUSE_QUOTA;

	return refused && r->f->seen->phase == KAR_QJ_PHASE_STARTING && !r->f->pods.done &&
		r->f->seen->record.formation == KAR_QJ_FORMATION_FIRST && queuejob_lacks(r) &&
		queuejob_count_live(r);
}

/* --- the tables ------------------------------------------------------------------------------------ */

static const struct move moves[] = {
	{ ENDED, always, ENDED, queuejob_stay_finished },
	{ LIVE, is_complete, IN(COMPLETED), queuejob_complete },
	{ LIVE, is_to_be_suspended, IN(SUSPENDED), queuejob_suspend },
	/* A rule has precedence over the limit, and the limit over the deadline. */
	{ GANG, rule_completes, IN(COMPLETED), queuejob_end_by_rule },
	{ GANG, rule_fails, IN(FAILED), queuejob_end_by_rule },
	{ LIVE, queuejob_ends_by_indexes, IN(FAILED), queuejob_fail_indexes },
	{ LIVE, is_over_limit, IN(FAILED), queuejob_fail_limit },
	{ GANG, restarts_too_often, IN(FAILED), queuejob_fail_restarts },
	{ LIVE, queuejob_past_deadline, IN(FAILED), queuejob_fail_deadline },
	{ WAITING, queuejob_cannot_follow, IN(FAILED), queuejob_fail_dependency },
	{ WAITING, queuejob_waits_for_jobs, IN(PENDING), queuejob_wait_for_jobs },
	{ GANG, has_new_template, IN(RESTARTING), queuejob_restart_with_new_template },
	{ GANG, is_broken, IN(RESTARTING), queuejob_restart_broken },
	{ IN(STARTING), queuejob_start_is_over, IN(PENDING), queuejob_wait_again },
	{ GANG, minimum_is_refused, IN(RESTARTING), queuejob_restart_for_quota },
	{ GANG, queuejob_is_rolled_back, IN(RESTARTING), queuejob_roll_back },
	{ GANG, always, GANG, queuejob_keep_gang },
	{ IN(RESTARTING), always, IN(RESTARTING) | IN(STARTING) | IN(PENDING), queuejob_wait_until_gone },
	{ WAITING, always, IN(PENDING) | IN(STARTING), queuejob_wait_for_admission },
};

/* One decision may make several moves: a first start is recorded together with the move that follows it. */
static const unsigned possible[] = {
	[KAR_QJ_PHASE_NONE] = LIVE | ENDED,
	[KAR_QJ_PHASE_PENDING] = LIVE | ENDED,
	[KAR_QJ_PHASE_STARTING] = GANG | IN(PENDING) | IN(RESTARTING) | IN(SUSPENDED) | ENDED,
	[KAR_QJ_PHASE_RUNNING] = GANG | IN(RESTARTING) | IN(SUSPENDED) | ENDED,
	[KAR_QJ_PHASE_RESTARTING] = IN(RESTARTING) | IN(STARTING) | IN(PENDING) | IN(SUSPENDED) | ENDED,
	/* The cache of jobs may lag behind the pods: the gang of a job that was resumed may be found before its Pending is seen. */
	[KAR_QJ_PHASE_SUSPENDED] = LIVE | ENDED,
	[KAR_QJ_PHASE_COMPLETED] = IN(COMPLETED),
	[KAR_QJ_PHASE_FAILED] = IN(FAILED),
};

static const struct move *first_that_holds(struct queuejob_reconcile *r)
{
	const struct move *m = moves;

	while (!(m->from & 1U << r->f->seen->phase) || !m->holds(r)) {
		m++;
		assert(m < moves + KAR_LEN(moves)); /* each phase has a row that always holds */
	}
	return m;
}

/* Without a recorded incarnation the pods may show any phase of one, whatever phase is recorded. */
static enum kar_qj_phase recorded_phase(const struct queuejob_reconcile *r)
{
	const struct kar_queuejob_status *s = r->f->recorded;

	return s->incarnation || kar_qj_phase_terminal(s->phase) ? s->phase : KAR_QJ_PHASE_NONE;
}

void queuejob_move(struct queuejob_reconcile *r)
{
	const struct move *m;

	if (queuejob_has_gang(r->f->seen->phase) && !is_complete(r) && !is_to_be_suspended(r))
		queuejob_count_losses(r); /* losses of a gang that ends or is suspended do not count */
	m = first_that_holds(r);
	m->make(r);
	assert(m->to & 1U << r->st.phase);
	assert(r->f->recorded->edited || possible[recorded_phase(r)] & 1U << r->st.phase);
}
