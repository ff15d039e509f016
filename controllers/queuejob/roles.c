/* What queues and groups ask of a QueueJob (controllers/workload.h). */
#include "api/queuejob_direct.h"
#include "api/reasons.h"
#include "common/str.h"
#include "controllers/workload.h"

static kar_time true_since(const struct kar_conditions *list, const char *type)
{
	const struct kar_condition *c = kar_condition_find(list, type);

	return c && c->status == KAR_COND_TRUE ? c->last_transition : 0;
}

static int64_t count_succeeded(const struct kar_queuejob_status *st)
{
	int64_t n = 0;

	for (size_t i = 0; i < st->n_tasks; i++)
		n += st->tasks[i].succeeded;
	return n;
}

static void describe_times(const struct kar_queuejob *job, struct kar_workload *out)
{
	const struct kar_queuejob_status *st = &job->status;

	out->formed_at = true_since(&st->conditions, KAR_QJ_FORMED);
	out->started_at = st->start_time;
	out->completed_at = st->phase == KAR_QJ_PHASE_COMPLETED ? st->completion_time : 0;
	if (st->start_time && job->spec.has_active_deadline)
		out->ends_at = st->start_time + job->spec.active_deadline_seconds * KAR_SECOND;
	if (job->spec.has_freezing_window)
		out->freezing_window =
			job->spec.freezing_window ? job->spec.freezing_window * KAR_SECOND : -1;
}

static void describe(const struct kar_object *o, struct kar_workload *out)
{
	const struct kar_queuejob *job = kar_as_queuejob(o);
	const struct kar_queuejob_status *st = &job->status;

	*out = (struct kar_workload){
		.generation = job->generation,
		.queue_label = job->queue_label,
		.conflict = kar_streq(st->reason, kar_reason_NameConflict) ? st->message : NULL,
		.gang_groups = &job->spec.sched.gang_groups,
		.succeeded = count_succeeded(st),
		.pods = kar_queuejob_total(&job->spec),
		.deleting = job->deletion != 0,
		.orphans = job->has_orphan_finalizer,
		.ended = kar_queuejob_has_ended(st),
		.suspended = job->spec.suspend,
		.unusable = kar_condition_is_true(&st->conditions, KAR_QJ_INVALID),
		.begun = st->incarnation > 0,
		.ran = st->incarnation > 0 && kar_streq(st->record.template_hash, job->spec_template_hash),
		.raised = st->record.formation == KAR_QJ_FORMATION_RAISED,
		.non_strict = kar_streq(job->spec.sched.mode, "NonStrict"),
	};
	out->invalid = out->unusable && !st->replicas;
	describe_times(job, out);
}

static bool is_direct(const struct kar_object *o, const char *served)
{
	return kar_queuejob_is_direct(kar_as_queuejob(o), served);
}

const struct kar_workload_kind kar_queuejob_workload = {
	.type = &kar_queuejob_type,
	.describe = describe,
	.is_direct = is_direct,
};
