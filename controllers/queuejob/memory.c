#include "controllers/queuejob/memory.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>

#include "api/keep.h"
#include "api/pod_stencil.h"
#include "common/backoff.h"
#include "common/mem.h"
#include "controllers/quota_line.h"

/* Most jobs are admitted before that, and then their first create tells the same. */
static const kar_time CHECK_AFTER = KAR_SECOND;
/* Between two tries of what nobody has edited: a webhook or a policy may have changed. */
static const kar_time FIRST_HOLD = 30 * KAR_SECOND, LONGEST_HOLD = 10 * KAR_MINUTE;
/* After no answer, or one that may change without an edit. */
static const kar_time FIRST_RETRY = KAR_SECOND, LONGEST_RETRY = 30 * KAR_SECOND;

static const struct kar_queuejob *job_of(const struct kar_sync *s)
{
	return kar_as_queuejob(s->object);
}

/* Whatever kar_queuejob_pod_write() takes from the spec. */
static uint64_t hash_pods(const struct kar_queuejob *job)
{
	const char *class = job->spec.sched.priority_class_name;

	return kar_hash_str(kar_hash_str(1, job->spec_template_hash), class ? class : "");
}

static void forget_refusal(struct queuejob_memory *m)
{
	free(m->message);
	m->message = NULL;
	m->forbidden = false;
	m->tries = 0;
	m->retry_at = 0;
}

static void forget_pods(struct queuejob_memory *m)
{
	forget_refusal(m);
	m->passed = 0;
	m->waits_since = 0;
}

static void keep_up(struct queuejob_memory *m, const struct kar_queuejob *job)
{
	uint64_t pods = hash_pods(job);

	if (strcmp(m->uid, job->o.uid)) {
		forget_pods(m);
		m->service[0] = '\0';
		strlcpy(m->uid, job->o.uid, sizeof(m->uid));
	}
	if (m->pods != pods)
		forget_pods(m);
	m->pods = pods;
	if (m->message && m->generation != job->generation) { /* an edit is worth a try, whatever it was */
		m->generation = job->generation;
		m->tries = 0;
		m->retry_at = 0;
	}
}

struct queuejob_memory *queuejob_recall(const struct kar_sync *s)
{
	if (s->state->job)
		keep_up(s->state->job, job_of(s));
	return s->state->job;
}

struct queuejob_memory *queuejob_remember(const struct kar_sync *s)
{
	struct queuejob_memory *m = s->state->job;

	if (!m)
		m = s->state->job = kar_xcalloc(1, sizeof(*m));
	keep_up(m, job_of(s));
	return m;
}

void queuejob_forget(struct kar_key_state *state)
{
	if (state->job)
		free(state->job->message);
	free(state->job);
	state->job = NULL;
	kar_pod_stencil_drop(&state->stencil);
	kar_node_line_leave(state->nodes);
	state->nodes = NULL;
}

static bool is_objection(const struct kar_err *err)
{
	return err->what == KAR_INVALID;
}

/* No quota, no right, no such class: all that may change without the job. And that the name is taken. */
static bool is_answer(const struct kar_err *err)
{
	return err->what == KAR_DENIED || err->what == KAR_EXISTS || err->what == KAR_NOTFOUND;
}

/* Of pods for which a gang that runs would be given up. For a quota its own pods make room when they go. */
static bool is_denial(const struct queuejob_new_pod *pod, const struct kar_err *err)
{
	bool may_not = err->what == KAR_DENIED || err->what == KAR_NOTFOUND;

	return pod->replaces && may_not && !kar_quota_exceeded(err->msg);
}

static kar_time hold_after(const struct queuejob_memory *m, const struct kar_err *err, bool denied)
{
	if (is_objection(err))
		return kar_backoff_delay(m->tries, FIRST_HOLD, LONGEST_HOLD);
	return kar_backoff_delay(m->tries, FIRST_RETRY, denied ? LONGEST_RETRY : LONGEST_HOLD);
}

void queuejob_note_passed(struct queuejob_memory *m, size_t task)
{
	if (task < KAR_QJ_MAX_TASKS)
		m->passed |= UINT64_C(1) << task;
	if (!m->message || m->task == task)
		forget_refusal(m);
}

/* The client puts its request before the API server's words. */
static const char *message_of(const struct kar_err *err)
{
	static const char request[] = "create pods";
	const char *end = strncmp(err->msg, request, strlen(request)) ? NULL : strstr(err->msg, ": ");

	return end ? end + 2 : err->msg;
}

static void keep_words(struct queuejob_memory *m, size_t task, int64_t generation, const struct kar_err *err)
{
	if (m->message && m->task < task)
		return;
	free(m->message);
	m->message = kar_xstrdup(message_of(err));
	m->forbidden = !is_objection(err);
	m->task = task;
	m->generation = generation;
	if (task < KAR_QJ_MAX_TASKS)
		m->passed &= ~(UINT64_C(1) << task);
}

void queuejob_note_refused(struct queuejob_memory *m, const struct queuejob_new_pod *pod, int64_t generation,
	const struct kar_err *err, kar_time mono)
{
	bool denied = is_denial(pod, err);

	if (is_answer(err) && !denied) {
		queuejob_note_passed(m, pod->task);
		return;
	}
	m->retry_at = mono + hold_after(m, err, denied);
	m->tries++;
	if (is_objection(err) || denied)
		keep_words(m, pod->task, generation, err);
}

/* ms from now until @due. */
static kar_time left_until(kar_time due, kar_time now)
{
	return due > now ? due - now : 0;
}

struct queuejob_check queuejob_check_of(const struct kar_sync *s, bool waits)
{
	struct queuejob_memory *m = waits ? queuejob_remember(s) : queuejob_recall(s);

	if (!m)
		return (struct queuejob_check){ 0 };
	if (!waits)
		m->waits_since = 0;
	else if (!m->waits_since)
		m->waits_since = s->mono;
	return (struct queuejob_check){
		.waits = waits,
		.passed = m->passed,
		.refused = m->message,
		.forbidden = m->forbidden,
		.task = m->task,
		.retry_in = left_until(m->retry_at, s->mono),
		.early_in = waits ? left_until(m->waits_since + CHECK_AFTER, s->mono) : 0,
	};
}
