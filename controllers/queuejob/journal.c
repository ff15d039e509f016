#include "controllers/queuejob/journal.h"

#include "common/base/log.h"
#include "common/base/str.h"
#include "controllers/kar_metrics.h"

static const char *describe_pending(enum kar_qj_phase from)
{
	return from == KAR_QJ_PHASE_SUSPENDED ? "Job resumed" : "Job waits";
}

/* Phase Starting: the first incarnation is what follows the admission. A gang that ran may have to form again, without a restart. */
static const char *describe_starting(enum kar_qj_phase from)
{
	if (from == KAR_QJ_PHASE_RESTARTING)
		return "Job starts again";
	return from == KAR_QJ_PHASE_RUNNING ? "Job forms again" : "Job admitted";
}

/* @to is not KAR_QJ_PHASE_NONE. */
static const char *describe(enum kar_qj_phase from, enum kar_qj_phase to)
{
	switch (to) {
	case KAR_QJ_PHASE_PENDING:
		return describe_pending(from);
	case KAR_QJ_PHASE_STARTING:
		return describe_starting(from);
	case KAR_QJ_PHASE_RUNNING:
		return "Job runs";
	case KAR_QJ_PHASE_RESTARTING:
		return "Job restarts";
	case KAR_QJ_PHASE_SUSPENDED:
		return "Job suspended";
	case KAR_QJ_PHASE_COMPLETED:
		return "Job completed";
	default:
		return "Job failed";
	}
}

/* Of a gang that starts or runs the message counts pods, which is no cause. */
static bool has_cause(enum kar_qj_phase p)
{
	return p != KAR_QJ_PHASE_STARTING && p != KAR_QJ_PHASE_RUNNING;
}

static void log_phase(const struct kar_object *o, enum kar_qj_phase from)
{
	const struct kar_queuejob_status *s = &kar_as_queuejob(o)->status;
	bool restarts = s->phase == KAR_QJ_PHASE_RESTARTING;
	const char *reason = restarts ? s->last_restart.reason : s->reason,
		   *cause = restarts ? s->last_restart.message : s->message;
	char key[KAR_KEY_LEN];

	if (!has_cause(s->phase))
		reason = cause = NULL;
	kar_info(2, KAR_MSG(describe(from, s->phase)), KAR_S("job", kar_object_key(o, key)),
		KAR_S("phase", kar_qj_phase_name(s->phase)), KAR_S_IF("reason", reason),
		KAR_I("restarts", s->restarts), KAR_S_IF("cause", cause));
}

static void log_deletion(const struct kar_object *o)
{
	char key[KAR_KEY_LEN];

	kar_info(2, KAR_MSG("Job deleted"), KAR_S("job", kar_object_key(o, key)),
		KAR_S_IF("phase", kar_qj_phase_name(kar_as_queuejob(o)->status.phase)));
}

void queuejob_log_change(const struct kar_object *old, const struct kar_object *new)
{
	bool same = old && new &&kar_streq(old->uid, new->uid);
	enum kar_qj_phase from = same ? kar_as_queuejob(old)->status.phase : KAR_QJ_PHASE_NONE;
	enum kar_qj_phase to = new ? kar_as_queuejob(new)->status.phase : KAR_QJ_PHASE_NONE;

	if (old && !same)
		log_deletion(old);
	if (to != from && to != KAR_QJ_PHASE_NONE)
		log_phase(new, from);
}

static void count_restart(struct kar_metrics *m, const struct kar_queuejob_status *s)
{
	const char *cause = kar_qj_restart_name(s->record.restart_kind);

	if (*cause)
		kar_metric_add(m, &kar_m_kar_gang_restarts_total, 1, KAR_LABELS(cause));
}

/* Anybody may have written the counts. */
static int64_t losses(const struct kar_queuejob_status *s)
{
	return (int64_t)s->pod_failures + s->disruptions;
}

void queuejob_count_written(struct kar_metrics *m, const struct kar_queuejob_status *was,
	const struct kar_queuejob_status *is)
{
	if (is->phase == KAR_QJ_PHASE_RESTARTING && was->phase != is->phase)
		count_restart(m, is);
	else if (is->phase == was->phase && is->incarnation == was->incarnation && losses(is) > losses(was))
		kar_metric_add(m, &kar_m_kar_pods_replaced_total, (double)(losses(is) - losses(was)), NULL);
}
