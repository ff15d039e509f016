#include <inttypes.h>
#include <stdio.h>

#include "api/queuejob/queuejob_wire.h"
#include "api/status/reasons.h"
#include "common/codec/json.h"
#include "common/base/str.h"
#include "api/copy.h"

/* --- the table --------------------------------------------------------------------------------------- */

static const char *const phase_names[] = { "", "Pending", "Starting", "Running", "Restarting", "Suspended",
	"Completed", "Failed", NULL };
static const char *const restart_kinds[] = { "", "Failure", "Disruption", "Policy", "Template", "Quota",
	"Nodes", "Task", NULL };

const char *kar_qj_restart_name(enum kar_qj_restart_kind k)
{
	return restart_kinds[k];
}

static const char *const formations[] = { "", "First", "QuorumRaised", "PodRecreated", "TaskRestarting",
	"Formed", NULL };
static const char *const objections[] = { "", "Spec", "Template", "Object", "Forbidden", NULL };

const char *kar_qj_phase_name(enum kar_qj_phase p)
{
	return phase_names[p];
}

enum {
	STORY = KAR_SF_STORY,
	COUNTER = KAR_SF_COUNTER,
	SOMETIMES = COUNTER, /* sometimes worth a write at once: kar_queuejob_status_same_story() */
	BELIEVED = KAR_QJ_BELIEVED,
	DIGEST_SIZE = 17, /* NUL included */
};
/* Where a row is printed. Rows without a position follow the reason. */
#define AT_INCARNATION KAR_SF_PRINT_AT(1)
#define AT_FORMED KAR_SF_PRINT_AT(2)
#define AT_LOSSES KAR_SF_PRINT_AT(3)
#define AT_DESIRED KAR_SF_PRINT_AT(4)
#define AT_QUORUM KAR_SF_PRINT_AT(5)
#define AT_PODS KAR_SF_PRINT_AT(6)
#define AT_TASKS KAR_SF_PRINT_AT(7)
#define AT_TIMES KAR_SF_PRINT_AT(8)
#define AT_END KAR_SF_PRINT_AT(KAR_SF_PRINT_LAST)

/* The name identifies the task, because an edit can change the order of tasks. */
#define TASK struct kar_task_status
static const struct kar_field task_rows[] = {
	KAR_STATUS_TEXT(TASK, name, "name", KAR_COPY_VALUE, COUNTER | BELIEVED, NULL),
	KAR_STATUS(INT32, TASK, replicas, "replicas", COUNTER, NULL),
	KAR_STATUS(INT32, TASK, desired, "desired", COUNTER, NULL),
	KAR_STATUS(INT32, TASK, pending, "pending", COUNTER, NULL),
	KAR_STATUS(INT32, TASK, running, "running", COUNTER, NULL),
	KAR_STATUS(INT32, TASK, succeeded, "succeeded", COUNTER, NULL),
	KAR_STATUS(INT32, TASK, failed, "failed", COUNTER, NULL),
	KAR_STATUS(BOOL, TASK, started, "started", STORY | BELIEVED | KAR_SF_NORMALLY_TRUE, "started"),
	KAR_STATUS_TEXT(TASK, succeeded_indexes, "succeededIndexes", KAR_QJ_INDEXES_BYTES,
		COUNTER | BELIEVED | KAR_SF_WHOLE, "done"),
	KAR_STATUS_TEXT(TASK, failed_indexes, "failedIndexes", KAR_QJ_INDEXES_BYTES,
		STORY | BELIEVED | KAR_SF_WHOLE, "failedIndexes"),
	KAR_STATUS_TEXT(TASK, index_failures, "indexFailures", KAR_QJ_INDEXES_BYTES,
		STORY | BELIEVED | KAR_SF_WHOLE, "indexFailures"),
	KAR_STATUS(TIME, TASK, restart_time, "restartTime", STORY | BELIEVED, "restart"),
};
static const struct kar_desc task_table = KAR_DESC("TaskStatus", TASK, task_rows);

#define AFTER struct kar_after_status
static const struct kar_field after_rows[] = {
	KAR_STATUS_TEXT(AFTER, name, "name", KAR_COPY_NAME, STORY | BELIEVED, NULL),
	KAR_STATUS_TEXT(AFTER, phase, "phase", KAR_COPY_VALUE, STORY | BELIEVED, "after"),
};
static const struct kar_desc after_table = KAR_DESC("AfterStatus", AFTER, after_rows);

#define RESTART struct kar_restart
static const struct kar_field restart_rows[] = {
	KAR_STATUS(TIME, RESTART, time, "time", STORY | BELIEVED, NULL),
	KAR_STATUS_TEXT(RESTART, reason, "reason", KAR_COPY_REASON, STORY, NULL),
	KAR_STATUS_TEXT(RESTART, message, "message", KAR_MAX_MESSAGE_BYTES, STORY, NULL),
	KAR_STATUS_TEXT(RESTART, pod, "pod", KAR_COPY_NAME, STORY, NULL),
	KAR_STATUS_TEXT(RESTART, node, "node", KAR_COPY_NAME, STORY, NULL),
	KAR_STATUS(INT32, RESTART, exit_code, "exitCode", STORY, NULL),
};
static const struct kar_desc restart_table = KAR_DESC("Restart", RESTART, restart_rows);

#define RECORD struct kar_wire_qj_record
static const struct kar_field record_rows[] = {
	KAR_STATUS_ENUM(RECORD, restart_kind, s.restart_kind, "restartKind", restart_kinds, STORY | BELIEVED,
		NULL),
	KAR_STATUS_ENUM(RECORD, formation, s.formation, "formation", formations, STORY | BELIEVED, NULL),
	KAR_STATUS_ENUM(RECORD, objection, s.objection, "objection", objections, STORY | BELIEVED, NULL),
	KAR_STATUS(INT32, RECORD, s.formed_min_available, "formedMinAvailable",
		STORY | BELIEVED | AT_FORMED | KAR_SF_OMIT_ZERO, "formed"),
	KAR_STATUS(INT32, RECORD, s.backoff_steps, "backoffSteps",
		STORY | BELIEVED | AT_LOSSES | KAR_SF_OMIT_ZERO, "backoffSteps"),
	KAR_STATUS(TIME, RECORD, s.last_failure_time, "lastFailureTime", STORY | BELIEVED, NULL),
	KAR_STATUS_STRINGS(RECORD, s.counted_pods, "countedPods", COUNTER | BELIEVED | AT_LOSSES, "counted"),
	KAR_STATUS_TEXT(RECORD, s.template_hash, "templateHash", KAR_COPY_UID, STORY | BELIEVED, NULL),
	/* A change of these two alone is no reason to write. */
	KAR_STATUS_VERSION(RECORD, pods_version, s.pods_version, "podsResourceVersion", BELIEVED, NULL),
	KAR_STATUS_TEXT(RECORD, s.digest, "digest", DIGEST_SIZE, KAR_SF_INTERNAL, NULL),
};
static const struct kar_desc record_table = KAR_DESC("QueueJobRecord", RECORD, record_rows);

#define STATUS struct kar_wire_qj_status
static const struct kar_field status_rows[] = {
	KAR_STATUS_ENUM(STATUS, phase, s.phase, "phase", phase_names, STORY | BELIEVED | KAR_SF_PRINT_ALWAYS,
		"phase"),
	KAR_STATUS_TEXT(STATUS, s.reason, "reason", KAR_COPY_REASON, SOMETIMES, "reason"),
	KAR_STATUS_TEXT(STATUS, s.message, "message", KAR_MAX_MESSAGE_BYTES, SOMETIMES, NULL),
	KAR_STATUS(INT64, STATUS, s.observed_generation, "observedGeneration", STORY, NULL),
	KAR_STATUS_TEXT(STATUS, s.selector, "selector", KAR_QJ_SELECTOR_BYTES, STORY, NULL),
	KAR_STATUS_TEXT(STATUS, s.queue, "queue", KAR_COPY_NAME, STORY, NULL),
	KAR_STATUS(INT32, STATUS, s.replicas, "replicas", COUNTER, NULL),
	KAR_STATUS(INT32, STATUS, s.desired, "desired", SOMETIMES | AT_DESIRED, "desired"),
	KAR_STATUS(INT32, STATUS, s.pending, "pending", COUNTER | AT_PODS, "pending"),
	KAR_STATUS(INT32, STATUS, s.running, "running", COUNTER | AT_PODS, "running"),
	KAR_STATUS(INT32, STATUS, s.succeeded, "succeeded", COUNTER | BELIEVED | AT_PODS, "succeeded"),
	KAR_STATUS(INT32, STATUS, s.failed, "failed", COUNTER | AT_PODS, "failed"),
	KAR_STATUS(INT32, STATUS, s.terminating, "terminating", COUNTER | AT_PODS | KAR_SF_OMIT_ZERO,
		"terminating"),
	KAR_STATUS(INT32, STATUS, s.min_available, "minAvailable", STORY | AT_QUORUM, "min"),
	KAR_STATUS(INT32, STATUS, s.incarnation, "incarnation", STORY | BELIEVED | AT_INCARNATION,
		"incarnation"),
	KAR_STATUS(INT32, STATUS, s.restarts, "restarts", STORY | BELIEVED | AT_LOSSES, "restarts"),
	KAR_STATUS(INT32, STATUS, s.pod_failures, "podFailures", STORY | BELIEVED | AT_LOSSES, "podFailures"),
	KAR_STATUS(INT32, STATUS, s.disruptions, "disruptions", STORY | BELIEVED | AT_LOSSES, "disruptions"),
	KAR_STATUS(TIME, STATUS, s.start_time, "startTime", STORY | BELIEVED | AT_TIMES, "startTime"),
	KAR_STATUS(TIME, STATUS, s.completion_time, "completionTime", STORY | BELIEVED | AT_TIMES,
		"completionTime"),
	KAR_STATUS(TIME, STATUS, s.last_scale_time, "lastScaleTime", STORY | AT_TIMES, "lastScaleTime"),
	KAR_STATUS_STRUCT(STATUS, s.last_restart, s.last_restart, "lastRestart", &restart_table, STORY, NULL),
	KAR_STATUS_STRUCTS(STATUS, after, s.after, s.n_after, AFTER, "after", &after_table,
		STORY | BELIEVED | KAR_SF_OMIT_ZERO, "after"),
	KAR_STATUS(INT32, STATUS, s.evictions, "evictions", STORY | AT_LOSSES | KAR_SF_OMIT_ZERO,
		"evictions"),
	KAR_STATUS_STRUCT(STATUS, s.last_eviction, s.last_eviction, "lastEviction", &kar_eviction_table,
		STORY, NULL),
	KAR_STATUS_STRUCT(STATUS, what_if, s.what_if, "whatIf", &kar_what_if_table, STORY, NULL),
	KAR_STATUS_STRUCT(STATUS, s.usage, s.usage, "usage", &kar_usage_table, 0, NULL),
	KAR_STATUS(INT32, STATUS, s.priority, "priority", STORY | AT_TASKS, "priority"),
	KAR_STATUS(INT32, STATUS, s.position, "position", STORY | AT_TASKS | KAR_SF_OMIT_ZERO, "position"),
	KAR_STATUS_STRUCTS(STATUS, tasks, s.tasks, s.n_tasks, TASK, "tasks", &task_table, COUNTER | AT_TASKS,
		"tasks"),
	KAR_STATUS_CONDITIONS(STATUS, conditions, s.conditions, "conditions", STORY | AT_END, "conditions"),
	KAR_STATUS_STRUCT(STATUS, record, s.record, "record", &record_table, KAR_SF_INTERNAL, "record"),
};
const struct kar_desc kar_queuejob_status_table = KAR_DESC("QueueJobStatus", STATUS, status_rows);

/* --- the digest -------------------------------------------------------------------------------------- */

/* Decisions rely on status and time of our own conditions, not on reasons, messages or conditions of others. */
static uint64_t add_conditions(uint64_t h, const struct kar_conditions *list)
{
	static const char *const own[] = { KAR_QJ_ADMITTED, KAR_QJ_FORMED, KAR_QJ_COMPLETE, KAR_QJ_FAILED,
		KAR_QJ_SUSPENDED };

	for (size_t i = 0; i < KAR_LEN(own); i++) {
		const struct kar_condition *c = kar_condition_find(list, own[i]);
		const int64_t parts[] = { c ? (int)c->status : -1, c ? c->last_transition / KAR_SECOND : 0 };

		h = kar_hash(h, parts, sizeof(parts));
	}
	return h;
}

uint64_t kar_queuejob_status_digest(const struct kar_queuejob_status *s)
{
	return add_conditions(kar_status_hash(&kar_queuejob_status_table, s, BELIEVED, 0), &s->conditions);
}

static const char *digest_text(const struct kar_queuejob_status *s, char out[DIGEST_SIZE])
{
	snprintf(out, DIGEST_SIZE, "%016" PRIx64, kar_queuejob_status_digest(s));
	return out;
}

/* The status of a new job, or one that was cleared: no decision relies on anything in it. */
static bool is_blank(const struct kar_queuejob_status *s)
{
	return s->phase == KAR_QJ_PHASE_NONE && !s->incarnation && !s->n_tasks && !s->conditions.n &&
		!s->start_time && !s->completion_time;
}

static bool is_edited(const struct kar_queuejob_status *s)
{
	char digest[DIGEST_SIZE];

	/* A former version wrote no record. An end needs none: phase and condition show it. */
	if (!s->record.digest[0] && (is_blank(s) || kar_queuejob_has_ended(s)))
		return false;
	return !kar_streq(s->record.digest, digest_text(s, digest));
}

/* --- read and write ---------------------------------------------------------------------------------- */

/* Clamps numbers that no decision can have written. An impossible incarnation becomes 0, unknown. */
static void clamp_counts(struct kar_queuejob_status *s)
{
	int32_t *const counts[] = { &s->desired, &s->min_available, &s->restarts, &s->pod_failures,
		&s->disruptions, &s->record.backoff_steps, &s->record.formed_min_available };

	for (size_t i = 0; i < KAR_LEN(counts); i++)
		*counts[i] = (int32_t)kar_clamp(*counts[i], 0, KAR_QJ_COUNT_MAX);
	for (size_t i = 0; i < s->n_tasks; i++)
		s->tasks[i].succeeded = (int32_t)kar_clamp(s->tasks[i].succeeded, 0, KAR_QJ_MAX_PODS);
	if (s->incarnation < 0 || s->incarnation > KAR_QJ_COUNT_MAX)
		s->incarnation = 0;
}

void kar_queuejob_status_read(const struct kar_wire_qj_status *wire, struct kar_queuejob_status *s,
	struct kar_arena *mem)
{
	kar_status_read(&kar_queuejob_status_table, wire, s, mem);
	s->edited = is_edited(s);
	clamp_counts(s);
	/* A digest is no proof: who forges one must not bring about a state that no decision writes. */
	s->edited |=
		!s->incarnation && s->phase >= KAR_QJ_PHASE_STARTING && s->phase <= KAR_QJ_PHASE_RESTARTING;
	if (!s->last_restart.time) /* without a time the other members mean nothing */
		s->last_restart = (struct kar_restart){ .reason = "", .message = "", .pod = "", .node = "" };
}

void kar_queuejob_status_write(struct kar_json_writer *w, const struct kar_queuejob_status *s)
{
	struct kar_queuejob_status written = *s;
	char digest[DIGEST_SIZE];

	written.record.digest = digest_text(s, digest);
	kar_jw_begin_object(w);
	kar_status_write(w, &kar_queuejob_status_table, &written, KAR_SF_ALL);
	kar_jw_end_object(w);
}

/* --- queries ----------------------------------------------------------------------------------------- */

bool kar_queuejob_waits(const struct kar_queuejob_status *s)
{
	return s->phase == KAR_QJ_PHASE_NONE || s->phase == KAR_QJ_PHASE_PENDING ||
		s->phase == KAR_QJ_PHASE_SUSPENDED;
}

bool kar_queuejob_follows(const struct kar_queuejob *job)
{
	return job->spec.after.n && !job->status.incarnation && kar_queuejob_waits(&job->status);
}

bool kar_queuejob_has_ended(const struct kar_queuejob_status *s)
{
	bool completed = s->phase == KAR_QJ_PHASE_COMPLETED;

	return kar_qj_phase_terminal(s->phase) &&
		kar_condition_is_true(&s->conditions, completed ? KAR_QJ_COMPLETE : KAR_QJ_FAILED);
}

/* The message contains a number of pods, so it changes with the counters. */
static bool counts_pods(const struct kar_queuejob_status *s)
{
	const struct kar_reason *reason = kar_has_text(s->reason) ? kar_reason_find(s->reason) : NULL;

	return s->phase == KAR_QJ_PHASE_RESTARTING || (reason && (reason->where & KAR_REASON_COUNTS));
}

/* In Running, WaitingForTermination is not worth a write at once: the loss of the pod was already reported. */
static const char *urgent_reason(const struct kar_queuejob_status *s)
{
	return s->phase == KAR_QJ_PHASE_RUNNING && kar_streq(s->reason, kar_reason_WaitingForTermination)
		? ""
		: s->reason;
}

static bool same_message(const struct kar_queuejob_status *a, const struct kar_queuejob_status *b)
{
	if (!kar_streq(urgent_reason(a), urgent_reason(b)))
		return false;
	return kar_streq(a->message, b->message) || counts_pods(a) || counts_pods(b);
}

/* Under a limit each success lets another pod start, so desired grows with succeeded: that follows the counters. */
static bool same_desired(const struct kar_queuejob_status *a, const struct kar_queuejob_status *b)
{
	return a->desired == b->desired || a->desired - a->succeeded == b->desired - b->succeeded;
}

bool kar_queuejob_status_same_story(const struct kar_queuejob_status *a, const struct kar_queuejob_status *b)
{
	return same_message(a, b) && same_desired(a, b) &&
		kar_status_equal(&kar_queuejob_status_table, a, b, KAR_SF_STORY);
}

bool kar_queuejob_status_equal(const struct kar_queuejob_status *a, const struct kar_queuejob_status *b)
{
	return kar_status_equal(&kar_queuejob_status_table, a, b, KAR_QJ_WRITTEN);
}
