/* Reason and message of the status, conditions, the last restart, and messages about refused creates. */
#include "controllers/queuejob/reconcile.h"

#include <stdarg.h>
#include <string.h>

#include "api/copy.h"
#include "common/base/str.h"
#include "common/base/text.h"

static KAR_PRINTF(2, 0) const char *format(struct kar_arena *arena, const char *fmt, va_list ap)
{
	char text[KAR_MAX_MESSAGE_BYTES];

	kar_text_vprintf(text, sizeof(text), fmt, ap);
	return kar_arena_strndup(arena, text, strlen(text));
}

void queuejob_report(struct queuejob_reconcile *r, const char *reason, const char *fmt, ...)
{
	va_list ap;

	if (r->reported)
		return;
	va_start(ap, fmt);
	r->st.message = format(r->arena, fmt, ap);
	va_end(ap);
	r->st.reason = reason;
	r->reported = true;
}

void queuejob_warn(struct queuejob_reconcile *r, const char *reason, const char *action)
{
	bool known = kar_streq(r->f->seen->reason, reason) && kar_streq(r->f->seen->message, r->st.message);

	if (kar_streq(r->st.reason, reason) && !known)
		kar_plan_event(r->p, true, reason, action, "%s", r->st.message);
}

void queuejob_warn_once(struct queuejob_reconcile *r, const char *reason, const char *action)
{
	if (kar_streq(r->st.reason, reason) && !kar_streq(r->f->seen->reason, reason))
		kar_plan_event(r->p, true, reason, action, "%s", r->st.message);
}

/* What a job is told about a create that was refused has an event of its own. */
static bool is_of_creates(const struct queuejob_reconcile *r)
{
	if (kar_streq(r->st.reason, kar_reason_Forbidden) && r->f->v->refused)
		return true;
	return kar_condition_is_true(&r->st.conditions, KAR_QJ_ADMITTED) &&
		(kar_streq(r->st.reason, kar_reason_QuotaExceeded) ||
			kar_streq(r->st.reason, kar_reason_Forbidden));
}

void queuejob_announce_wait(struct queuejob_reconcile *r)
{
	const struct kar_reason *why;
	bool warns;

	if (!r->st.reason || kar_streq(r->st.reason, r->f->recorded->reason) || is_of_creates(r))
		return;
	why = kar_reason_find(r->st.reason);
	warns = why && why->where & KAR_WAIT_WARNS;
	if (!warns && !(why && why->where & KAR_WAIT_IS_TOLD))
		return;
	kar_plan_event(r->p, warns, warns ? why->name : kar_reason_Waiting, "Queue", "%s", r->st.message);
	r->announced = true;
}

/* The default message of a condition: its reason as in docs/REASONS.md. */
static const char *meaning_of(const char *reason)
{
	const struct kar_reason *known = kar_reason_find(reason);

	return known ? known->meaning : "";
}

void queuejob_set_condition(struct queuejob_reconcile *r, const char *type, bool value, const char *reason,
	const char *fmt, ...)
{
	struct kar_condition c = {
		.type = type,
		.status = value ? KAR_COND_TRUE : KAR_COND_FALSE,
		.observed_generation = r->f->job->generation,
		.reason = reason,
	};
	va_list ap;

	va_start(ap, fmt);
	c.message = format(r->arena, fmt, ap);
	va_end(ap);
	if (!c.message[0])
		c.message = meaning_of(reason);
	kar_condition_set(&r->st.conditions, &c, r->f->now, r->arena);
}

const char *queuejob_count_pods(const struct queuejob_reconcile *r, int32_t n)
{
	return kar_arena_printf(r->arena, "%d pod%s", (int)n, n == 1 ? "" : "s");
}

void queuejob_record_restart(struct queuejob_reconcile *r, enum kar_qj_restart_kind kind, const char *reason,
	const char *message)
{
	const struct kar_pod *pod = r->loss.cause;

	r->st.record.restart_kind = kind;
	r->st.last_restart = (struct kar_restart){
		.time = r->f->second,
		.reason = reason,
		.message = kar_text_fit(r->arena, message, KAR_MAX_MESSAGE_BYTES),
		.pod = kar_copy_text(r->arena, pod ? pod->o.name : NULL),
		.node = kar_copy_text(r->arena, pod ? pod->node : NULL),
		.exit_code = pod ? kar_pod_loss_of(pod)->exit_code : 0,
	};
}

/* --- refused creates ---------------------------------------------------------------------------------- */

bool queuejob_refused_is_pod(const struct queuejob_reconcile *r)
{
	return r->f->v->refused_type == &kar_pod_type;
}

static const char *refusal_reason(const struct queuejob_reconcile *r)
{
	const struct kar_err *err = r->f->v->refused;
	bool of_pod = queuejob_refused_is_pod(r);

	if (err->cause == KAR_CAUSE_QUOTA)
		return kar_reason_QuotaExceeded;
	switch (err->what) {
	case KAR_DENIED:
		return kar_reason_Forbidden;
	case KAR_INVALID:
		return of_pod ? kar_reason_InvalidTemplate : kar_reason_InvalidObject;
	case KAR_EXISTS:
		return of_pod ? kar_reason_PodNameConflict : kar_reason_NameConflict;
	default:
		return kar_reason_FailedCreate;
	}
}

/* Returns how many pods of the minimum were rolled back because of the refusal. */
static int32_t count_rolled_back(const struct queuejob_reconcile *r)
{
	return r->f->v->rolled_back > r->p->rolled_back ? r->f->v->rolled_back : r->p->rolled_back;
}

/*
 * A quota has refused the rest of the minimum. Its words would count as used what is rolled back, which `kubectl describe quota`
 * does not show any more.
 */
static const char *describe_part(const struct queuejob_reconcile *r, int32_t n)
{
	const struct kar_quota_words *q = &r->f->v->refused->quota;

	return kar_arena_printf(r->arena,
		"%d of %s fitted and %s deleted again; waits until %s%s has room for all%s%s%s", (int)n,
		queuejob_count_pods(r, r->want.min), n == 1 ? "was" : "were",
		q->name[0] ? "quota " : "the quota", q->name, q->lacks[0] ? " (it lacks " : "", q->lacks,
		q->lacks[0] ? ")" : "");
}

/* One event per distinct refusal, and only one while a job waits for quota. */
static bool is_worth_an_event(const struct queuejob_reconcile *r)
{
	if (kar_streq(r->st.reason, kar_reason_QuotaExceeded) && kar_streq(r->st.reason, r->f->seen->reason))
		return false;
	return !kar_streq(r->st.message, r->f->seen->message);
}

/* r->f->v->refused is not NULL. */
static const char *describe_refusal(const struct queuejob_reconcile *r)
{
	const char *message = r->f->v->refused->msg;

	if (r->f->v->refused->what == KAR_EXISTS) /* a whole sentence */
		return message;
	if (strncmp(message, "create ", strlen("create ")) == 0) /* the client has named its request */
		return kar_arena_printf(r->arena, "cannot %s", message);
	return kar_arena_printf(r->arena, "cannot create %s: %s",
		r->f->v->refused_what ? r->f->v->refused_what : "objects", message);
}

const char *queuejob_invalid_child(const struct queuejob_reconcile *r)
{
	const struct kar_err *err = r->f->v->refused;

	return err && err->what == KAR_INVALID && !queuejob_refused_is_pod(r) ? describe_refusal(r) : NULL;
}

static bool is_by_quota(const struct queuejob_reconcile *r)
{
	return r->f->v->refused->cause == KAR_CAUSE_QUOTA;
}

void queuejob_report_refusal(struct queuejob_reconcile *r)
{
	int32_t n = count_rolled_back(r);
	bool as_in_status;

	if (!r->f->v->refused || r->reported)
		return;
	as_in_status = r->f->v->refused->what == KAR_EXISTS || is_by_quota(r);
	queuejob_report(r, refusal_reason(r), "%s", n ? describe_part(r, n) : describe_refusal(r));
	if (is_worth_an_event(r))
		kar_plan_event(r->p, true, as_in_status ? r->st.reason : kar_reason_FailedCreate,
			queuejob_refused_is_pod(r) ? "CreatePods" : "CreateChildren", "%s", r->st.message);
}

void queuejob_report_blocker(struct queuejob_reconcile *r)
{
	const struct kar_pod *pod = r->f->pods.blocker;

	if (!pod || r->reported)
		return;
	if (pod->owner_name)
		queuejob_report(r, kar_reason_PodNameConflict,
			"pod %s exists already and belongs to %s %s; waiting for the name", pod->o.name,
			pod->owner_kind ? pod->owner_kind : "another object", pod->owner_name);
	else
		queuejob_report(r, kar_reason_PodNameConflict,
			"pod %s exists already and has no owner; waiting for the name", pod->o.name);
	queuejob_warn(r, kar_reason_PodNameConflict, "CreatePods");
}
