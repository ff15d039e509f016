/* The times that a job sets: activeDeadlineSeconds from its start on, ttlSecondsAfterFinished from its end on. */
#include <stdlib.h>

#include "common/base/str.h"
#include "api/names.h"
#include "api/status/reasons.h"
#include "common/base/timefmt.h"
#include "test/sim/rules.h"

enum { SOON = 10000 }; /* ms within which a manager that nobody disturbs does what is due */

/* A time in the status, as mono ms of the timeline; 0: there is none. */
static kar_time recorded(const struct model *l, const struct sim_value *job, const char *field)
{
	const char *text = sim_get_text(job, "status", field);
	kar_time wall;

	if (!text || kar_time_parse(text, &wall))
		return 0;
	return wall - sim_timeline_wall(l->timeline) + model_now(l);
}

static int64_t seconds(const struct sim_value *job, const char *field)
{
	return sim_get_int(job, MODEL_NO_TIME, "spec", field);
}

/* By how much a time that one clock has recorded may differ from what another one makes of it. */
static kar_time doubt(const struct model *l)
{
	return 2 * l->worst_clock;
}

/* The moment that is @after s after @from, as far as an observer knows it who saw the write arrive late. */
static bool is_early(const struct model *l, kar_time from, int64_t after)
{
	return model_now(l) + l->staleness + KAR_SECOND + doubt(l) < from + after * KAR_SECOND;
}

/* --- activeDeadlineSeconds ------------------------------------------------------------------------------- */

static bool exceeds_deadline(const struct write *w)
{
	return w->by_manager && w->c->old && !w->job->status_edited &&
		!kar_qj_phase_terminal(model_phase(w->c->old)) &&
		model_phase(w->c->new) == KAR_QJ_PHASE_FAILED &&
		kar_streq(sim_text(sim_member(model_condition(w->c->new, KAR_QJ_FAILED), "reason")),
			kar_reason_DeadlineExceeded);
}

static void check_deadline_early(const struct rule *r, const struct write *w)
{
	int64_t deadline = seconds(w->c->new, "activeDeadlineSeconds");
	kar_time start = recorded(w->l, w->c->new, "startTime");

	if (!exceeds_deadline(w))
		return;
	if (deadline == MODEL_NO_TIME || (!w->job->runs_since && !start))
		model_break(w->l, r->name, "job %s/%s has %s, and fails of its deadline", w->c->ns,
			w->c->name, deadline != MODEL_NO_TIME ? "not started" : "no deadline");
	else if ((!w->job->admitted_before && w->job->runs_since &&
			 is_early(w->l, w->job->runs_since, deadline)) ||
		model_now(w->l) + doubt(w->l) < start + deadline * KAR_SECOND)
		model_break(w->l, r->name,
			"job %s/%s fails of its deadline of %lld s %.3f s after it was admitted, or resumed",
			w->c->ns, w->c->name, (long long)deadline,
			(double)(model_now(w->l) - w->job->runs_since) / KAR_SECOND);
}

static void check_start_kept(const struct rule *r, const struct write *w)
{
	kar_time was = recorded(w->l, w->c->old, "startTime"), is = recorded(w->l, w->c->new, "startTime");
	bool suspended = !is &&
		(model_phase(w->c->new) == KAR_QJ_PHASE_SUSPENDED ||
			model_phase(w->c->new) == KAR_QJ_PHASE_PENDING);
	/* Of one that is not possible, as far as a clock tells. */
	bool same = is && llabs(is - was) <= doubt(w->l);

	if (w->by_manager && was && !same && !suspended && !w->job->status_edited)
		model_break(w->l, r->name, "the startTime of job %s/%s is moved by %lld s", w->c->ns,
			w->c->name, (long long)(is - was) / KAR_SECOND);
}

/* --- ttlSecondsAfterFinished ----------------------------------------------------------------------------- */

static void check_ttl_early(const struct rule *r, const struct write *w)
{
	const struct sim_value *job = w->c->old;
	int64_t ttl = seconds(job, "ttlSecondsAfterFinished");

	if (w->job->status_edited)
		return;
	if (!w->job->finished || ttl == MODEL_NO_TIME)
		model_break(w->l, r->name, "%s deletes job %s/%s, which %s", w->c->user, w->c->ns, w->c->name,
			w->job->finished ? "has no TTL" : "has not finished");
	else if (is_early(w->l, w->job->finished, ttl) ||
		model_now(w->l) + doubt(w->l) < recorded(w->l, job, "completionTime") + ttl * KAR_SECOND)
		model_break(w->l, r->name, "%s deletes job %s/%s %.3f s after its end; its TTL is %lld s",
			w->c->user, w->c->ns, w->c->name,
			(double)(model_now(w->l) - w->job->finished) / KAR_SECOND, (long long)ttl);
}

/* --- what is due ----------------------------------------------------------------------------------------- */

static kar_time latest(kar_time a, kar_time b)
{
	return a > b ? a : b;
}

/* Is what was due @after s after @from not done for long, although that is known? */
static bool is_overdue(const struct model *l, const struct model_job *j, kar_time from, int64_t after)
{
	kar_time known = latest(j->spec_edited, latest(j->finished, j->start_noted));
	kar_time due = latest(from + after * KAR_SECOND, latest(known, l->undisturbed));

	return after != MODEL_NO_TIME && model_now(l) > due + SOON + doubt(l);
}

static void check_job_due(struct model *l, const struct model_job *j)
{
	const struct sim_value *job = model_stored(l, j);
	int64_t ttl = seconds(job, "ttlSecondsAfterFinished"),
		deadline = seconds(job, "activeDeadlineSeconds");
	kar_time end = recorded(l, job, "completionTime"), start = recorded(l, job, "startTime");
	bool runs = start || j->phase == KAR_QJ_PHASE_STARTING || j->phase == KAR_QJ_PHASE_RUNNING;

	if (j->finished && is_overdue(l, j, latest(end, j->finished - l->staleness), ttl))
		model_break(l, "ttl-kept",
			"job %s/%s ended %.3f s ago, its TTL is %lld s, and it is still there", j->ns,
			j->name, (double)(model_now(l) - j->finished) / KAR_SECOND, (long long)ttl);
	else if (!j->finished && !j->suspended && runs &&
		is_overdue(l, j, start ? start : j->runs_since, deadline))
		model_break(l, "deadline-kept",
			"job %s/%s, phase %s, started %.3f s ago and goes on; its deadline is %lld s", j->ns,
			j->name, kar_qj_phase_name(j->phase),
			(double)(model_now(l) - (start ? start : j->runs_since)) / KAR_SECOND,
			(long long)deadline);
}

void rules_check_due(struct model *l)
{
	struct model_job *j;

	if (l->undisturbed == KAR_NEVER)
		return;
	TAILQ_FOREACH(j, &l->present, in_present) {
		if (!j->deleting && !j->status_edited && j->has_times)
			check_job_due(l, j);
	}
}

const struct rule rules_of_time[] = {
	{ RULE_JOB_CHANGED, "deadline-early",
		"a job fails of its deadline only when that has passed since it was admitted, or resumed",
		check_deadline_early },
	{ RULE_JOB_CHANGED, "start-kept",
		"startTime stays until the job is suspended, or waits in its queue again", check_start_kept },
	{ RULE_JOB_DELETED, "ttl-early",
		"a manager deletes a job only when it has finished and its TTL, as it is stored, has passed",
		check_ttl_early },
};
const size_t n_rules_of_time = KAR_LEN(rules_of_time);
