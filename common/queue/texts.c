/* Words for reasons, and amounts and times in texts. */
#include "common/queue/impl.h"

#include <string.h>

#include "common/base/timefmt.h"
#include "common/sched/amounts.h"

const char *kar_queue_reason_name(enum kar_queue_reason r)
{
	static const char *const names[KAR_N_QUEUE_REASONS] = {
		[KAR_QR_ADMITTED] = "Admitted",
		[KAR_QR_FINISHED] = "Finished",
		[KAR_QR_JOB_INVALID] = "JobInvalid",
		[KAR_QR_SUSPENDED] = "Suspended",
		[KAR_QR_QUEUE_NOT_FOUND] = "QueueNotFound",
		[KAR_QR_QUEUE_INVALID] = "QueueInvalid",
		[KAR_QR_QUEUE_NOT_LEAF] = "QueueNotLeaf",
		[KAR_QR_QUEUE_CLOSED] = "QueueClosed",
		[KAR_QR_NAMESPACE_NOT_ALLOWED] = "NamespaceNotAllowed",
		[KAR_QR_RUN_TIME_TOO_LONG] = "RunTimeTooLong",
		[KAR_QR_INVALID_TEMPLATE] = "InvalidTemplate",
		[KAR_QR_PRIORITY_CLASS_NOT_FOUND] = "PriorityClassNotFound",
		[KAR_QR_FORBIDDEN] = "Forbidden",
		[KAR_QR_CHECKING_TEMPLATE] = "CheckingTemplate",
		[KAR_QR_UNSUPPORTED] = "Unsupported",
		[KAR_QR_DEACTIVATED] = "Deactivated",
		[KAR_QR_BACKEND_UNAVAILABLE] = "BackendUnavailable",
		[KAR_QR_VOLUME_PENDING] = "VolumePending",
		[KAR_QR_DEVICES_UNKNOWN] = "DevicesUnknown",
		[KAR_QR_TOPOLOGY_NOT_FOUND] = "TopologyNotFound",
		[KAR_QR_TOPOLOGY_AMBIGUOUS] = "TopologyAmbiguous",
		[KAR_QR_SCHEDULINGSPEC_NOT_FOUND] = "SchedulingSpecNotFound",
		[KAR_QR_WAITING_FOR_MEMBERS] = "WaitingForMembers",
		[KAR_QR_WAITING_FOR_TERMINATION] = "WaitingForTermination",
		[KAR_QR_PREEMPTED] = "Preempted",
		[KAR_QR_BACK_OFF] = "BackOff",
		[KAR_QR_QUOTA_INVALID_TEMPLATE] = "QuotaInvalidTemplate",
		[KAR_QR_INFEASIBLE] = "Infeasible",
		[KAR_QR_QUOTA_INFEASIBLE] = "QuotaInfeasible",
		[KAR_QR_RESERVING] = "Reserving",
		[KAR_QR_GANG_GROUP] = "WaitingForGangGroup",
		[KAR_QR_BEHIND_HEAD] = "BehindHead",
		[KAR_QR_QUOTA_EXCEEDED] = "QuotaExceeded",
		[KAR_QR_NAMESPACE_LIMIT] = "NamespaceLimit",
		[KAR_QR_MAX_JOBS] = "MaxJobsReached",
		[KAR_QR_QUEUE_CAPABILITY] = "QueueCapability",
		[KAR_QR_HEAD_RESERVED] = "HeadReserved",
		[KAR_QR_GUARANTEE_RESERVED] = "GuaranteeReserved",
		[KAR_QR_WAITING_FOR_RECLAIM] = "WaitingForReclaim",
		[KAR_QR_NO_FIT] = "NoFit",
		[KAR_QR_INSUFFICIENT_CAPACITY] = "InsufficientCapacity",
		[KAR_QR_PROVISIONING] = "Provisioning",
	};

	assert(r < KAR_N_QUEUE_REASONS);
	return names[r];
}

const char *kar_queue_cause_name(enum kar_queue_cause c)
{
	static const char *const names[] = {
		[KAR_QUEUE_NOT_EVICTED] = "",
		[KAR_QUEUE_RECLAIM] = "Reclaim",
		[KAR_QUEUE_IN_QUEUE] = "InQueue",
		[KAR_QUEUE_DRAIN] = "Drain",
	};

	return names[c];
}

const char *kar_queue_validity_name(enum kar_queue_validity v)
{
	static const char *const names[] = {
		[KAR_QUEUE_VALID] = "Valid",
		[KAR_QUEUE_PARENT_NOT_FOUND] = "ParentNotFound",
		[KAR_QUEUE_PARENT_CYCLE] = "ParentCycle",
		[KAR_QUEUE_TOO_DEEP] = "TooDeep",
	};

	return names[v];
}

static const char *amount_text(struct kar_arena *a, const char *resource, int64_t amount, bool up)
{
	char text[KAR_AMOUNT_TEXT];

	return kar_arena_printf(a, "%s", kar_amount_text(resource, amount, up, text));
}

const char *q_text_amount(const struct q_pass *p, const char *resource, int64_t amount, bool up)
{
	return amount_text(p->arena, resource, amount, up);
}

const char *kar_queue_short_text(struct kar_arena *a, const char *resource, int64_t requested, int64_t free,
	int64_t limit)
{
	int64_t lacks =
		q_sub(requested, q_max(0, free)); /* what others have beyond the limit is no part of it */

	return kar_arena_printf(a, "insufficient %s: %s requested, %s of %s free (%s short)", resource,
		amount_text(a, resource, requested, true), amount_text(a, resource, free, false),
		amount_text(a, resource, limit, false), amount_text(a, resource, lacks, true));
}

const char *q_text_ordinal(int32_t n)
{
	static const char *const suffixes[] = { "th", "st", "nd", "rd" };

	return n % 10 > 3 || n % 100 / 10 == 1 ? "th" : suffixes[n % 10];
}

const char *q_text_time(const struct q_pass *p, kar_time at)
{
	char text[KAR_TIME_LEN];

	return kar_arena_printf(p->arena, "%s", kar_time_format(at, text));
}
