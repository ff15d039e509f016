#include "api/queuejob.h"

#include <inttypes.h>
#include <stdio.h>

#include "api/keep.h"
#include "api/reasons.h"
#include "common/json.h"

const char *kar_qj_phase_name(enum kar_qj_phase p)
{
	switch (p) {
	case KAR_QJ_PHASE_PENDING:
		return "Pending";
	case KAR_QJ_PHASE_STARTING:
		return "Starting";
	case KAR_QJ_PHASE_RUNNING:
		return "Running";
	case KAR_QJ_PHASE_RESTARTING:
		return "Restarting";
	case KAR_QJ_PHASE_SUSPENDED:
		return "Suspended";
	case KAR_QJ_PHASE_COMPLETED:
		return "Completed";
	case KAR_QJ_PHASE_FAILED:
		return "Failed";
	default:
		return "";
	}
}

bool kar_queuejob_has_ended(const struct kar_queuejob_status *s)
{
	bool completed = s->phase == KAR_QJ_PHASE_COMPLETED;

	return kar_qj_phase_terminal(s->phase) &&
		kar_condition_is_true(&s->conditions, completed ? KAR_QJ_COMPLETE : KAR_QJ_FAILED);
}

static bool same_restart(const struct kar_restart *a, const struct kar_restart *b)
{
	return a->time == b->time && a->exit_code == b->exit_code && kar_same(a->reason, b->reason) &&
		kar_same(a->message, b->message) && kar_same(a->pod, b->pod) && kar_same(a->node, b->node);
}

static bool same_counts_of_losses(const struct kar_queuejob_status *a, const struct kar_queuejob_status *b)
{
	return a->restarts == b->restarts && a->pod_failures == b->pod_failures &&
		a->disruptions == b->disruptions && a->backoff_steps == b->backoff_steps &&
		a->schedule_timeouts == b->schedule_timeouts &&
		a->last_failure_time == b->last_failure_time &&
		same_restart(&a->last_restart, &b->last_restart);
}

static bool same_times(const struct kar_queuejob_status *a, const struct kar_queuejob_status *b)
{
	return a->start_time == b->start_time && a->completion_time == b->completion_time &&
		a->last_scale_time == b->last_scale_time;
}

/* Which tasks have started, or are being restarted, is recorded before anything is done about it. */
static bool same_start(const struct kar_queuejob_status *a, const struct kar_queuejob_status *b)
{
	for (size_t i = 0; i < a->n_tasks && i < b->n_tasks; i++) {
		if (a->tasks[i].started != b->tasks[i].started ||
			a->tasks[i].restart_time != b->tasks[i].restart_time)
			return false;
	}
	return true;
}

/* Its message tells of pods one by one, so it changes with the counters. */
static bool counts_pods(const struct kar_queuejob_status *s)
{
	const char *const reasons[] = { kar_reason_TaskWaiting, kar_reason_Starting,
		kar_reason_ContainerWaiting, kar_reason_WaitingForTermination };

	return s->phase == KAR_QJ_PHASE_RESTARTING || kar_same_any(s->reason, reasons, KAR_LEN(reasons));
}

/* So is that one pod is replaced: the story was told when it was lost. */
static const char *story_of(const struct kar_queuejob_status *s)
{
	return s->phase == KAR_QJ_PHASE_RUNNING && kar_same(s->reason, kar_reason_WaitingForTermination)
		? ""
		: s->reason;
}

static bool same_words(const struct kar_queuejob_status *a, const struct kar_queuejob_status *b)
{
	if (!kar_same(story_of(a), story_of(b)))
		return false;
	return kar_same(a->message, b->message) || counts_pods(a) || counts_pods(b);
}

/* What succeeds makes room for others while the queue lets only some run: then it moves with the counters. */
static bool same_desired(const struct kar_queuejob_status *a, const struct kar_queuejob_status *b)
{
	return a->desired == b->desired || a->desired - a->succeeded == b->desired - b->succeeded;
}

bool kar_queuejob_status_same_story(const struct kar_queuejob_status *a, const struct kar_queuejob_status *b)
{
	return a->phase == b->phase && same_words(a, b) && same_start(a, b) &&
		a->observed_generation == b->observed_generation && kar_same(a->selector, b->selector) &&
		same_desired(a, b) && a->min_available == b->min_available &&
		a->incarnation == b->incarnation && a->formed_min_available == b->formed_min_available &&
		same_counts_of_losses(a, b) && kar_same(a->template_hash, b->template_hash) &&
		same_times(a, b) && a->position == b->position &&
		kar_conditions_equal(&a->conditions, &b->conditions);
}

static bool same_counts(const struct kar_queuejob_status *a, const struct kar_queuejob_status *b)
{
	return a->desired == b->desired && a->replicas == b->replicas && a->pending == b->pending &&
		a->running == b->running && a->succeeded == b->succeeded && a->failed == b->failed &&
		a->terminating == b->terminating;
}

static bool same_task(const struct kar_task_status *a, const struct kar_task_status *b)
{
	return kar_same(a->name, b->name) && a->replicas == b->replicas && a->desired == b->desired &&
		a->pending == b->pending && a->running == b->running && a->succeeded == b->succeeded &&
		a->failed == b->failed && a->started == b->started && a->restart_time == b->restart_time &&
		kar_same(a->succeeded_indexes, b->succeeded_indexes);
}

bool kar_queuejob_status_equal(const struct kar_queuejob_status *a, const struct kar_queuejob_status *b)
{
	if (!kar_queuejob_status_same_story(a, b) || !kar_same(a->reason, b->reason) ||
		!kar_same(a->message, b->message) || !same_counts(a, b) || a->n_tasks != b->n_tasks)
		return false;
	for (size_t i = 0; i < a->n_tasks; i++) {
		if (!same_task(&a->tasks[i], &b->tasks[i]))
			return false;
	}
	return kar_same_strings(&a->counted_pods, &b->counted_pods);
}

/* Nothing rather than an empty string: `kubectl describe` would print a name without a value. */
static void write_text(struct kar_json_writer *w, const char *key, const char *text)
{
	if (text[0])
		kar_jw_kv_string(w, key, text);
}

/* At the top level of a merge patch what is absent must be named. */
static void write_optional_text(struct kar_json_writer *w, const char *key, const char *text)
{
	kar_jw_key(w, key);
	if (text[0])
		kar_jw_string(w, text);
	else
		kar_jw_null(w);
}

static void write_version(struct kar_json_writer *w, const char *key, kar_rv rv)
{
	char text[24] = "";

	if (rv)
		snprintf(text, sizeof(text), "%" PRIu64, rv);
	write_optional_text(w, key, text);
}

static void write_task(struct kar_json_writer *w, const struct kar_task_status *t)
{
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "name", t->name);
	kar_jw_kv_int(w, "replicas", t->replicas);
	kar_jw_kv_int(w, "desired", t->desired);
	kar_jw_kv_int(w, "pending", t->pending);
	kar_jw_kv_int(w, "running", t->running);
	kar_jw_kv_int(w, "succeeded", t->succeeded);
	kar_jw_kv_int(w, "failed", t->failed);
	kar_jw_kv_bool(w, "started", t->started);
	write_text(w, "succeededIndexes", t->succeeded_indexes);
	if (t->restart_time)
		kar_jw_kv_time(w, "restartTime", t->restart_time);
	kar_jw_end_object(w);
}

static void write_optional_time(struct kar_json_writer *w, const char *key, kar_time t)
{
	kar_jw_key(w, key);
	if (t)
		kar_jw_time(w, t);
	else
		kar_jw_null(w);
}

static void write_restart(struct kar_json_writer *w, const struct kar_restart *r)
{
	kar_jw_key(w, "lastRestart");
	if (!r->time) {
		kar_jw_null(w);
		return;
	}
	kar_jw_begin_object(w);
	kar_jw_kv_time(w, "time", r->time);
	write_optional_text(w, "reason", r->reason);
	write_optional_text(w, "message", r->message);
	write_optional_text(w, "pod", r->pod);
	write_optional_text(w, "node", r->node);
	kar_jw_kv_int(w, "exitCode", r->exit_code);
	kar_jw_end_object(w);
}

static void write_counts(struct kar_json_writer *w, const struct kar_queuejob_status *s)
{
	kar_jw_kv_int(w, "replicas", s->replicas);
	kar_jw_kv_int(w, "desired", s->desired);
	kar_jw_kv_int(w, "pending", s->pending);
	kar_jw_kv_int(w, "running", s->running);
	kar_jw_kv_int(w, "succeeded", s->succeeded);
	kar_jw_kv_int(w, "failed", s->failed);
	kar_jw_kv_int(w, "terminating", s->terminating);
	kar_jw_kv_int(w, "minAvailable", s->min_available);
}

static void write_counted_pods(struct kar_json_writer *w, const struct kar_array *pods)
{
	const char *const *uids = pods->items;

	kar_jw_key(w, "countedPods");
	if (!pods->n) {
		kar_jw_null(w);
		return;
	}
	kar_jw_begin_array(w);
	for (size_t i = 0; i < pods->n; i++)
		kar_jw_string(w, uids[i]);
	kar_jw_end_array(w);
}

static void write_lists(struct kar_json_writer *w, const struct kar_queuejob_status *s)
{
	kar_jw_key(w, "tasks");
	kar_jw_begin_array(w);
	for (size_t i = 0; i < s->n_tasks; i++)
		write_task(w, &s->tasks[i]);
	kar_jw_end_array(w);
	write_counted_pods(w, &s->counted_pods);
	kar_jw_key(w, "conditions");
	kar_conditions_write(w, &s->conditions);
}

void kar_queuejob_status_write(struct kar_json_writer *w, const struct kar_queuejob_status *s)
{
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "phase", kar_qj_phase_name(s->phase));
	write_optional_text(w, "reason", s->reason);
	write_optional_text(w, "message", s->message);
	kar_jw_kv_int(w, "observedGeneration", s->observed_generation);
	write_optional_text(w, "selector", s->selector);
	write_counts(w, s);
	kar_jw_kv_int(w, "incarnation", s->incarnation);
	kar_jw_kv_int(w, "formedMinAvailable", s->formed_min_available);
	kar_jw_kv_int(w, "restarts", s->restarts);
	kar_jw_kv_int(w, "podFailures", s->pod_failures);
	kar_jw_kv_int(w, "disruptions", s->disruptions);
	kar_jw_kv_int(w, "backoffSteps", s->backoff_steps);
	kar_jw_kv_int(w, "scheduleTimeouts", s->schedule_timeouts);
	write_optional_time(w, "lastFailureTime", s->last_failure_time);
	write_optional_text(w, "templateHash", s->template_hash);
	write_version(w, "podsResourceVersion", s->pods_version);
	write_optional_time(w, "startTime", s->start_time);
	write_optional_time(w, "completionTime", s->completion_time);
	write_optional_time(w, "lastScaleTime", s->last_scale_time);
	write_restart(w, &s->last_restart);
	kar_jw_kv_int(w, "position", s->position);
	write_lists(w, s);
	kar_jw_end_object(w);
}
