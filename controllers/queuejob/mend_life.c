/* The stage that a job is in which has not ended: which it is, and what goes with it. */
#include "controllers/queuejob/mend.h"

#include "api/keep.h"

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
	const struct kar_condition *formed = queuejob_mend_find(m, KAR_QJ_FORMED);
	bool started = st->incarnation > 0 || formed;

	if (st->phase == KAR_QJ_PHASE_NONE || kar_qj_phase_terminal(st->phase))
		return started && !is_paused(formed);
	if (st->phase == KAR_QJ_PHASE_PENDING || st->phase == KAR_QJ_PHASE_SUSPENDED)
		return (st->start_time || queuejob_mend_has_live_pods(m)) && started && !is_paused(formed);
	if (is_paused(formed))
		return st->start_time != 0;
	return st->start_time || started || m->r->v->n_pods > 0;
}

/* By one that runs: what it lacks, it has lost. Of one that somebody has only written to run, the others have not started yet. */
static bool had_quorum(const struct mend *m)
{
	return queuejob_has_quorum(m->r) || m->r->t.lost.n > 0;
}

/* All its pods go, and none has a success to lose: it is given up, or nothing is lost by that. */
static bool leaves(const struct mend *m)
{
	const struct queuejob_view *v = m->r->v;

	for (size_t i = 0; i < v->n_pods; i++) {
		if (!v->pods[i]->deletion)
			return false;
	}
	return v->n_pods > 0 && m->st->last_restart.time && !queuejob_counted_results(m);
}

static enum kar_qj_phase phase_of_incarnation(const struct mend *m)
{
	const struct kar_queuejob_status *st = m->st;
	const struct kar_condition *formed = queuejob_mend_find(m, KAR_QJ_FORMED);
	int marks = (st->phase == KAR_QJ_PHASE_RUNNING) + queuejob_mend_is_true(m, KAR_QJ_FORMED) +
		(st->formed_min_available > 0 && had_quorum(m));

	if (marks >= 2)
		return KAR_QJ_PHASE_RUNNING;
	if (st->phase == KAR_QJ_PHASE_RESTARTING)
		return (is_at_work(formed) && !leaves(m)) || (!formed && !st->last_restart.time)
			? KAR_QJ_PHASE_STARTING
			: KAR_QJ_PHASE_RESTARTING;
	return formed && formed->status == KAR_COND_FALSE && st->last_restart.time &&
			kar_same(formed->reason, st->last_restart.reason)
		? KAR_QJ_PHASE_RESTARTING
		: KAR_QJ_PHASE_STARTING;
}

static enum kar_qj_phase phase_without(const struct mend *m)
{
	const struct kar_condition *admitted = queuejob_mend_find(m, KAR_QJ_ADMITTED);
	int marks = (m->st->phase == KAR_QJ_PHASE_SUSPENDED) + queuejob_mend_is_true(m, KAR_QJ_SUSPENDED) +
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
	const struct kar_condition *c = queuejob_mend_find(m, KAR_QJ_FORMED);

	if (is_at_work(c) && !kar_same(c->reason, kar_reason_QuorumReached))
		return c->reason;
	return m->r->t.running ? kar_reason_QuorumRaised : kar_reason_Starting;
}

static const char *why_it_restarts(const struct mend *m)
{
	const struct kar_condition *c = queuejob_mend_find(m, KAR_QJ_FORMED);
	const struct kar_reason *cause = kar_reason_find(m->st->last_restart.reason);

	if (c && c->status == KAR_COND_FALSE && !is_at_work(c))
		return c->reason;
	return cause && cause->where & KAR_SHOWN_FORMED ? cause->name : kar_reason_PodsMissing;
}

/* What may be stopped hangs on the reason: one that it cannot have is put right as well. */
static void put_unformed(struct mend *m, const char *reason)
{
	const struct kar_condition *c = queuejob_mend_find(m, KAR_QJ_FORMED);

	if (c && c->status == KAR_COND_FALSE && kar_same(c->reason, reason))
		return;
	queuejob_mend_note(m, KAR_QJ_FORMED);
	queuejob_set_condition(m->r, KAR_QJ_FORMED, false, reason, "%s", "");
}

static void put_formed(struct mend *m)
{
	if (m->st->phase == KAR_QJ_PHASE_RUNNING)
		queuejob_mend_condition(m, KAR_QJ_FORMED, true, kar_reason_QuorumReached);
	else
		put_unformed(m,
			m->st->phase == KAR_QJ_PHASE_STARTING ? why_it_starts(m) : why_it_restarts(m));
}

/* A clock that is days behind has not seen the admission either, so that tells how late it is at least. */
static bool is_possible(const struct mend *m, kar_time start)
{
	const struct kar_condition *admitted = queuejob_mend_find(m, KAR_QJ_ADMITTED);
	kar_time latest =
		admitted && admitted->last_transition > m->r->now ? admitted->last_transition : m->r->now;

	return !queuejob_mend_is_after(m->r->job->creation, start) && !queuejob_mend_is_after(start, latest);
}

/* What is not possible is left as it is, if that is not known better: by a clock that is wrong, each moment would be. */
static void mend_start_time(struct mend *m)
{
	kar_time *at = &m->st->start_time, start = queuejob_admitted_at(m->r);

	if (!*at || (!is_possible(m, *at) && is_possible(m, start)))
		queuejob_mend_time(m, "startTime", at, start);
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

	queuejob_mend_phase(m, phase_of_incarnation(m));
	if (st->incarnation < 1)
		queuejob_mend_number(m, "incarnation", &st->incarnation, queuejob_incarnation(m->r->v));
	mend_start_time(m);
	mend_quorum(m);
	if (queuejob_mend_is_true(m, KAR_QJ_SUSPENDED))
		queuejob_mend_condition(m, KAR_QJ_SUSPENDED, false, kar_reason_Resumed);
	put_formed(m);
}

static void mend_pause(struct mend *m)
{
	struct kar_queuejob_status *st = m->st;

	queuejob_mend_phase(m, phase_without(m));
	queuejob_mend_time(m, "startTime", &st->start_time, 0);
	queuejob_mend_number(m, "formedMinAvailable", &st->formed_min_available, 0);
	if (st->phase == KAR_QJ_PHASE_SUSPENDED) {
		queuejob_mend_condition(m, KAR_QJ_SUSPENDED, true, kar_reason_Suspended);
		queuejob_mend_condition(m, KAR_QJ_ADMITTED, false, kar_reason_Suspended);
		put_unformed(m, kar_reason_Suspended);
		queuejob_mend_number(m, "position", &st->position, 0);
		return;
	}
	if (queuejob_mend_is_true(m, KAR_QJ_SUSPENDED))
		queuejob_mend_condition(m, KAR_QJ_SUSPENDED, false, kar_reason_Resumed);
	if (queuejob_mend_is_true(m, KAR_QJ_FORMED) || !is_paused(queuejob_mend_find(m, KAR_QJ_FORMED)))
		queuejob_mend_no_condition(m, KAR_QJ_FORMED); /* of an incarnation that there is not */
}

void queuejob_mend_life(struct mend *m)
{
	bool works = has_incarnation(m);

	queuejob_mend_no_condition(m, KAR_QJ_COMPLETE);
	queuejob_mend_no_condition(m, KAR_QJ_FAILED);
	queuejob_mend_time(m, "completionTime", &m->st->completion_time, 0);
	if (works)
		mend_incarnation(m);
	else
		mend_pause(m);
	mend_template_hash(m, works);
}
