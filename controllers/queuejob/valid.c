/*
 * Can the spec be run? Condition Invalid shows why not: this program or the API server rejects the spec, or an object made from it.
 *
 * The API server rejects a template when a pod is created. A dry run of the create, once per task and template, shows that
 * earlier: to a job that waits, before a gang is stopped for an edited template, and before an Invalid job creates pods again
 * (see docs/decisions/013).
 */
#include "controllers/queuejob/reconcile.h"

#include "api/copy.h"
#include "common/base/str.h"

static const struct kar_condition *recorded(const struct queuejob_reconcile *r)
{
	const struct kar_condition *c = kar_condition_find(&r->f->seen->conditions, KAR_QJ_INVALID);

	return c && c->status == KAR_COND_TRUE ? c : NULL;
}

static bool was_refused(const struct queuejob_reconcile *r)
{
	return r->f->seen->record.objection == KAR_QJ_OBJECTION_TEMPLATE;
}

/* The API server has accepted a pod of every task with replicas. */
static bool has_passed(const struct queuejob_reconcile *r)
{
	for (size_t i = 0; i < r->f->job->spec.n_tasks && i < KAR_QJ_MAX_TASKS; i++) {
		if (r->f->job->spec.tasks[i].replicas > 0 && !(r->f->v->check.passed >> i & 1))
			return false;
	}
	return true;
}

/* The running gang was created from older templates. It restarts only when pods of the new ones can be created. */
static bool runs_old_template(const struct queuejob_reconcile *r)
{
	return r->f->template_changed && queuejob_has_gang(r->f->seen->phase);
}

static bool template_is_invalid(const struct queuejob_reconcile *r)
{
	return r->f->v->check.refused && !r->f->v->check.forbidden;
}

static bool template_is_forbidden(const struct queuejob_reconcile *r)
{
	return r->f->v->check.refused && r->f->v->check.forbidden && runs_old_template(r);
}

bool queuejob_awaits_check(const struct queuejob_reconcile *r)
{
	if (template_is_invalid(r))
		return true;
	if (has_passed(r))
		return false;
	return was_refused(r) || runs_old_template(r);
}

bool queuejob_template_is_pending(const struct queuejob_reconcile *r)
{
	return r->f->template_changed && (r->f->unchecked || r->f->job->invalid || r->f->edit_waits);
}

static void report(struct queuejob_reconcile *r, enum kar_qj_objection objection, const char *reason,
	const char *event, const char *problem)
{
	const struct kar_condition *c = recorded(r);
	bool known = c && r->f->seen->record.objection == objection &&
		c->observed_generation == r->f->job->generation;

	r->st.record.objection = objection;
	queuejob_report(r, event, "%s", problem);
	if (!known)
		kar_plan_event(r->p, true, event, "Validate", "%s", problem);
	queuejob_set_condition(r, KAR_QJ_INVALID, true, reason, "%s", problem);
}

static const char *describe_refusal(const struct queuejob_reconcile *r)
{
	const struct queuejob_check *c = &r->f->v->check;
	const char *task = c->task < r->f->job->spec.n_tasks ? r->f->job->spec.tasks[c->task].name : "";

	return kar_arena_printf(r->arena, "task %s: %s", task, c->refused);
}

/* RBAC, a policy or a missing class forbids the pods; the template itself may be valid. */
static void report_denial(struct queuejob_reconcile *r)
{
	r->st.record.objection = KAR_QJ_OBJECTION_FORBIDDEN;
	if (r->reported)
		return;
	queuejob_report(r, kar_reason_Forbidden, "cannot replace the pods of %s", describe_refusal(r));
	if (!kar_streq(r->st.message, r->f->seen->message))
		kar_plan_event(r->p, true, kar_reason_FailedCreate, "Validate", "%s", r->st.message);
}

/* The denial was reported, perhaps by another manager, and the API server has not been asked again. */
static bool was_forbidden(const struct queuejob_reconcile *r)
{
	return runs_old_template(r) && !has_passed(r) &&
		r->f->seen->record.objection == KAR_QJ_OBJECTION_FORBIDDEN;
}

static bool lacks_child(const struct queuejob_reconcile *r)
{
	return !r->f->v->sched || !r->f->v->group || (r->f->job->spec.dns_hostnames && !r->f->v->service);
}

/* Does the recorded objection still hold? Yes until all tasks have passed, or until the missing child exists. */
static bool still_stands(const struct queuejob_reconcile *r)
{
	if (was_refused(r))
		return !has_passed(r) && !template_is_forbidden(r);
	return r->f->seen->record.objection == KAR_QJ_OBJECTION_OBJECT && lacks_child(r);
}

/* Keeps a recorded objection, with its reason and message. */
static void keep_objection(struct queuejob_reconcile *r, enum kar_qj_objection objection, const char *reason,
	const char *message)
{
	r->st.record.objection = objection;
	queuejob_report(r, kar_copy_text(r->arena, reason), "%s", message);
}

static const char *describe_circle(const struct queuejob_reconcile *r)
{
	return kar_arena_printf(r->arena, "spec.after is a circle: each of %s waits for the next",
		r->f->v->circle);
}

bool queuejob_is_valid(struct queuejob_reconcile *r)
{
	const struct kar_condition *c = recorded(r);
	const char *child = queuejob_invalid_child(r);

	r->st.record.objection = KAR_QJ_OBJECTION_NONE;
	if (r->f->job->invalid || r->f->v->circle) {
		report(r, KAR_QJ_OBJECTION_SPEC, kar_reason_SpecInvalid, kar_reason_Invalid,
			r->f->job->invalid ? r->f->job->invalid : describe_circle(r));
		return false;
	}
	if (template_is_invalid(r)) {
		report(r, KAR_QJ_OBJECTION_TEMPLATE, kar_reason_InvalidTemplate, kar_reason_InvalidTemplate,
			describe_refusal(r));
		return true;
	}
	if (template_is_forbidden(r))
		report_denial(r);
	else if (was_forbidden(r))
		keep_objection(r, KAR_QJ_OBJECTION_FORBIDDEN, r->f->seen->reason, r->f->seen->message);
	if (child)
		report(r, KAR_QJ_OBJECTION_OBJECT, kar_reason_InvalidObject, kar_reason_InvalidObject, child);
	else if (c && still_stands(r))
		keep_objection(r, r->f->seen->record.objection, c->reason, c->message);
	else if (c)
		queuejob_set_condition(r, KAR_QJ_INVALID, false, kar_reason_SpecValid, "%s", "");
	return true;
}

bool queuejob_is_unproven(const struct queuejob_reconcile *r, size_t task)
{
	const struct kar_queuejob_status *s = r->f->seen;
	const struct podset_task *t = &r->f->pods.tasks[task];

	if (r->f->template_changed || !s->record.template_hash[0])
		return true;
	if (!queuejob_has_gang(s->phase) && !was_refused(r))
		return false;
	return s->incarnation <= 1 && !s->restarts && !s->pod_failures && !s->disruptions && !t->objects &&
		!t->n_done;
}

/* Adds a dry run of the create of index 0. If that pod exists the answer is AlreadyExists, which is no objection. */
static void check_task(struct queuejob_reconcile *r, size_t task)
{
	struct queuejob_new_pod *payload = kar_arena_alloc(r->arena, 1, sizeof(*payload));
	char name[KAR_POD_NAME_LEN];
	struct kar_action *a;

	kar_queuejob_pod_name(r->f->job, r->f->job->spec.tasks[task].name, 0, name);
	a = kar_plan_add(r->p, KAR_CREATE, &kar_pod_type, kar_copy(r->arena, r->f->job->o.ns),
		kar_copy_text(r->arena, name));
	*payload = (struct queuejob_new_pod){
		.task = task,
		.incarnation = r->st.incarnation,
		.replaces = runs_old_template(r),
	};
	a->dry_run = true;
	a->strict = queuejob_is_unproven(r, task);
	a->what = QUEUEJOB_CREATE_POD;
	a->payload = payload;
}

void queuejob_check_templates(struct queuejob_reconcile *r)
{
	const struct queuejob_check *c = &r->f->v->check;
	kar_time in = r->f->unchecked ? c->retry_in : c->early_in > c->retry_in ? c->early_in : c->retry_in;

	if (r->f->job->invalid || kar_qj_phase_terminal(r->st.phase) || !(r->f->unchecked || c->waits) ||
		(has_passed(r) && !c->refused))
		return;
	if (in) {
		kar_plan_requeue(r->p, in);
		return;
	}
	for (size_t i = 0; i < r->f->job->spec.n_tasks && i < KAR_QJ_MAX_TASKS; i++) {
		if (r->f->job->spec.tasks[i].replicas > 0 && !(c->passed >> i & 1))
			check_task(r, i);
	}
}
