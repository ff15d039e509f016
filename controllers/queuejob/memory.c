#include "controllers/queuejob/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>

#include "api/pod/pod_renderer.h"
#include "common/base/backoff.h"
#include "common/base/mem.h"

/* Most jobs are admitted before that, and their first create makes the dry run needless. */
static const kar_time CHECK_AFTER = KAR_SECOND;
/* Between two dry runs of a template that was refused as invalid and not edited since: a webhook or a policy may have changed. */
static const kar_time FIRST_HOLD = 30 * KAR_SECOND, LONGEST_HOLD = 10 * KAR_MINUTE;
/* After a request without an answer, or with one that may change without an edit. */
static const kar_time FIRST_RETRY = KAR_SECOND, LONGEST_RETRY = 30 * KAR_SECOND;

/* Must cover every part of the spec that kar_queuejob_pod_write() reads. */
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

static void update(struct queuejob_memory *m, const struct kar_queuejob *job)
{
	uint64_t pods = hash_pods(job);

	if (strcmp(m->uid, job->o.uid)) {
		forget_pods(m);
		strlcpy(m->uid, job->o.uid, sizeof(m->uid));
	}
	if (m->pods != pods)
		forget_pods(m);
	m->pods = pods;
	if (m->message && m->generation != job->generation) { /* any edit may have made the pods valid */
		m->generation = job->generation;
		m->tries = 0;
		m->retry_at = 0;
	}
}

struct queuejob_memory *queuejob_recall(const struct kar_sync *s)
{
	if (queuejob_key(s)->job)
		update(queuejob_key(s)->job, queuejob_of(s));
	return queuejob_key(s)->job;
}

struct queuejob_memory *queuejob_remember(const struct kar_sync *s)
{
	struct queuejob_memory *m = queuejob_key(s)->job;

	if (!m)
		m = queuejob_key(s)->job = kar_xcalloc(1, sizeof(*m));
	update(m, queuejob_of(s));
	return m;
}

void queuejob_forget(void *memory)
{
	struct queuejob_key *key = memory;

	if (key->job)
		free(key->job->message);
	free(key->job);
	key->job = NULL;
	kar_pod_renderer_drop(&key->renderer);
}

static bool is_invalid(const struct kar_err *err)
{
	return err->what == KAR_INVALID;
}

/*
 * The template may be valid, but RBAC, a policy, or a missing object that it names forbids its pods: a gang that runs must not be given up
 * for them, and nobody be evicted. A refusal by a quota does not count: the queue counts quotas, and deleting old pods makes room.
 */
static bool is_denial(const struct kar_err *err)
{
	return (err->what == KAR_DENIED || err->what == KAR_NOTFOUND) && err->cause != KAR_CAUSE_QUOTA;
}

/*
 * The template was accepted, but the create was refused by a quota, or because the name is taken. That a quota needs what the template does
 * not set is said by the queue while the job waits there (reason QuotaInvalidTemplate).
 */
static bool accepts_template(const struct kar_err *err, bool waits)
{
	return err->what == KAR_EXISTS ||
		(err->what == KAR_DENIED &&
			(err->cause == KAR_CAUSE_QUOTA || (waits && err->cause == KAR_CAUSE_QUOTA_NEEDS)));
}

static kar_time hold_after(const struct queuejob_memory *m, const struct kar_err *err, bool denied)
{
	if (is_invalid(err))
		return kar_backoff_delay(m->tries, FIRST_HOLD, LONGEST_HOLD);
	return kar_backoff_delay(m->tries, FIRST_RETRY, denied ? LONGEST_RETRY : LONGEST_HOLD);
}

void queuejob_remember_passed(struct queuejob_memory *m, size_t task)
{
	if (task < KAR_QJ_MAX_TASKS)
		m->passed |= UINT64_C(1) << task;
	if (!m->message || m->task == task)
		forget_refusal(m);
}

/* The client puts its request in front of the API server's message, which is all that a user needs here. */
static const char *message_of(const struct kar_err *err)
{
	static const char request[] = "create pods";
	const char *end = strncmp(err->msg, request, strlen(request)) ? NULL : strstr(err->msg, ": ");

	return end ? end + 2 : err->msg;
}

static void record_refusal(struct queuejob_memory *m, size_t task, int64_t generation,
	const struct kar_err *err)
{
	if (m->message && m->task < task)
		return;
	free(m->message);
	m->message = kar_xstrdup(message_of(err));
	m->forbidden = !is_invalid(err);
	m->task = task;
	m->generation = generation;
	if (task < KAR_QJ_MAX_TASKS)
		m->passed &= ~(UINT64_C(1) << task);
}

void queuejob_remember_refused(struct queuejob_memory *m, const struct queuejob_new_pod *pod,
	int64_t generation, const struct kar_err *err, kar_time mono)
{
	bool denied = is_denial(err);

	if (accepts_template(err, m->waits_since != 0)) {
		queuejob_remember_passed(m, pod->task);
		return;
	}
	m->retry_at = mono + hold_after(m, err, denied);
	m->tries++;
	if (is_invalid(err) || denied)
		record_refusal(m, pod->task, generation, err);
}

/* Returns the ms from @now until @due, 0 if it has passed. */
static kar_time time_until(kar_time due, kar_time now)
{
	return due > now ? due - now : 0;
}

void queuejob_refresh_memory(const struct kar_sync *s, bool waits)
{
	struct queuejob_memory *m = waits ? queuejob_remember(s) : queuejob_recall(s);

	if (!m)
		return;
	if (!waits)
		m->waits_since = 0;
	else if (!m->waits_since)
		m->waits_since = s->mono;
}

struct queuejob_check queuejob_check_of(const struct queuejob_memory *m, kar_time mono)
{
	if (!m)
		return (struct queuejob_check){ 0 };
	return (struct queuejob_check){
		.waits = m->waits_since != 0,
		.passed = m->passed,
		.refused = m->message,
		.forbidden = m->forbidden,
		.task = m->task,
		.retry_in = time_until(m->retry_at, mono),
		.early_in = m->waits_since ? time_until(m->waits_since + CHECK_AFTER, mono) : 0,
	};
}

/* --- what jobs share ------------------------------------------------------------------------------ */

bool queuejob_is_asked(struct kar_templates *t, const struct kar_sync *s)
{
	const struct kar_queuejob *job = queuejob_of(s);
	bool waits = !queuejob_has_gang(job->status.phase) && !kar_qj_phase_terminal(job->status.phase);

	for (size_t i = 0; waits && i < job->spec.n_tasks; i++) {
		const struct kar_template *e = kar_templates_find(t, job, i, s->mono);

		if (e && e->wanted)
			return true;
	}
	return false;
}

/* Any edit may have made the pods valid. */
static void forget_pauses(struct kar_templates *t, const struct kar_sync *s)
{
	const struct kar_queuejob *job = queuejob_of(s);

	for (size_t i = 0; i < job->spec.n_tasks; i++) {
		struct kar_template *e = kar_templates_find(t, job, i, s->mono);

		if (e)
			e->tries = 0;
		if (e)
			e->retry_at = 0;
	}
}

static void import(struct queuejob_memory *m, size_t task, const struct kar_queuejob *job,
	const struct kar_template *e)
{
	struct kar_arena arena = { 0 };

	if (e->verdict == KAR_TEMPLATE_ACCEPTED && !e->wanted) {
		queuejob_remember_passed(m, task);
		return;
	}
	if (e->wanted && e->verdict <= KAR_TEMPLATE_ACCEPTED) /* it is asked once more */
		m->passed &= ~(UINT64_C(1) << task);
	m->tries = m->tries > e->tries ? m->tries : e->tries;
	if (e->verdict <= KAR_TEMPLATE_ACCEPTED || (m->message && m->task < task))
		return;
	free(m->message);
	m->message = kar_xstrdup(kar_template_refusal(e, job, task, &arena));
	kar_arena_release(&arena);
	m->forbidden = e->verdict == KAR_TEMPLATE_FORBIDDEN;
	m->task = task;
	m->generation = job->generation;
	m->passed &= ~(UINT64_C(1) << task);
}

void queuejob_import_verdicts(struct kar_templates *t, const struct kar_sync *s)
{
	const struct queuejob_memory *had = queuejob_key(s)->job;
	const struct kar_queuejob *job = queuejob_of(s);
	struct queuejob_memory *m;

	if (had && had->message && had->generation != job->generation)
		forget_pauses(t, s);
	m = queuejob_recall(s);
	for (size_t i = 0; m && m->waits_since && i < job->spec.n_tasks && i < KAR_QJ_MAX_TASKS; i++) {
		const struct kar_template *e = kar_templates_find(t, job, i, s->mono);

		if (e)
			import(m, i, job, e);
	}
}

void queuejob_share_check(struct kar_templates *t, const struct kar_sync *s, struct queuejob_check *check)
{
	const struct kar_queuejob *job = queuejob_of(s);

	for (size_t i = 0; check->waits && i < job->spec.n_tasks && i < KAR_QJ_MAX_TASKS; i++) {
		const struct kar_template *e = kar_templates_find(t, job, i, s->mono);
		kar_time answer, retry;

		if (!e || check->passed >> i & 1)
			continue;
		answer = e->asked ? time_until(e->asked + KAR_TEMPLATES_ANSWER, s->mono) : 0;
		retry = time_until(e->retry_at, s->mono);
		answer = answer > retry ? answer : retry;
		check->retry_in = answer > check->retry_in ? answer : check->retry_in;
		if (e->wanted)
			check->early_in = 0;
	}
}

static enum kar_template_verdict verdict_of(const struct kar_err *err)
{
	if (!err || accepts_template(err, true))
		return KAR_TEMPLATE_ACCEPTED;
	return is_invalid(err)   ? KAR_TEMPLATE_INVALID
		: is_denial(err) ? KAR_TEMPLATE_FORBIDDEN
				 : KAR_TEMPLATE_UNKNOWN;
}

void queuejob_share_answer(struct kar_templates *t, const struct kar_sync *s,
	const struct queuejob_new_pod *pod, const struct kar_err *err, const struct kar_pod_stored *stored)
{
	const struct queuejob_memory *m = queuejob_key(s)->job;
	struct kar_template *e = kar_templates_of(t, queuejob_of(s), pod->task, s->mono);

	if (err && m) {
		e->tries = m->tries;
		e->retry_at = m->retry_at;
	}
	kar_templates_answer(t, e, verdict_of(err), err ? message_of(err) : NULL, stored, s->mono);
}
