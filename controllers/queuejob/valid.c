/*
 * Whether the spec can be run: condition Invalid, with what this program or the API server has against it, or against the
 * objects that are made from it.
 *
 * The API server says it when a pod is created. A job that waits is told earlier: a dry run of the create is asked for once
 * per task and template. So is one whose template is changed while its gang lives, before the gang is killed for it, and
 * one that was Invalid, before anything is created again (see docs/decisions/013).
 */
#include "controllers/queuejob/round.h"

#include "api/keep.h"

static const struct kar_condition *recorded(const struct queuejob_round *r)
{
	const struct kar_condition *c = kar_condition_find(&r->seen->conditions, KAR_QJ_INVALID);

	return c && c->status == KAR_COND_TRUE ? c : NULL;
}

static bool was_refused(const struct kar_condition *c)
{
	return c && kar_same(c->reason, kar_reason_InvalidTemplate);
}

/* The API server has answered for every task of which a pod is wanted. */
static bool has_passed(const struct queuejob_round *r)
{
	for (size_t i = 0; i < r->job->spec.n_tasks && i < KAR_QJ_MAX_TASKS; i++) {
		if (r->job->spec.tasks[i].replicas > 0 && !(r->v->check.passed >> i & 1))
			return false;
	}
	return true;
}

/* A gang runs that was made of other templates. It is not given up before pods of the new ones can be created. */
static bool is_spared(const struct queuejob_round *r)
{
	return r->template_changed && queuejob_has_gang(r->seen->phase);
}

static bool is_impossible(const struct queuejob_round *r)
{
	return r->v->check.refused && !r->v->check.forbidden;
}

static bool is_forbidden(const struct queuejob_round *r)
{
	return r->v->check.refused && r->v->check.forbidden && is_spared(r);
}

bool queuejob_awaits_check(const struct queuejob_round *r)
{
	if (is_impossible(r))
		return true;
	if (has_passed(r))
		return false;
	return was_refused(recorded(r)) || is_spared(r);
}

bool queuejob_awaits_edit(const struct queuejob_round *r)
{
	return r->template_changed && (r->unchecked || r->job->invalid);
}

static void report(struct queuejob_round *r, const char *reason, const char *event, const char *problem)
{
	const struct kar_condition *c = recorded(r);
	bool known = c && kar_same(c->reason, reason) && c->observed_generation == r->job->generation;

	queuejob_say(r, event, "%s", problem);
	if (!known)
		kar_plan_event(r->p, true, event, "Validate", "%s", problem);
	queuejob_set_condition(r, KAR_QJ_INVALID, true, reason, "%s", problem);
}

static const char *words_of_refusal(const struct queuejob_round *r)
{
	const struct queuejob_check *c = &r->v->check;
	const char *task = c->task < r->job->spec.n_tasks ? r->job->spec.tasks[c->task].name : "";

	return kar_arena_printf(r->arena, "task %s: %s", task, c->refused);
}

/* A right, a policy or a missing class: nothing is said against the template. */
static void report_denial(struct queuejob_round *r)
{
	if (r->said)
		return;
	queuejob_say(r, kar_reason_Forbidden, "cannot replace the pods of %s", words_of_refusal(r));
	if (!kar_same(r->st.message, r->seen->message))
		kar_plan_event(r->p, true, kar_reason_FailedCreate, "Validate", "%s", r->st.message);
}

/* Told before, perhaps by another manager, and the API server has not been asked again. */
static bool was_forbidden(const struct queuejob_round *r)
{
	return is_spared(r) && !has_passed(r) && kar_same(r->seen->reason, kar_reason_Forbidden);
}

static bool lacks_child(const struct queuejob_round *r)
{
	return !r->v->sched || !r->v->group || (r->job->spec.dns_hostnames && !r->v->service);
}

/* Told before, perhaps by another manager, and not mended yet: the pods have not all passed, or a child is not there. */
static bool still_stands(const struct queuejob_round *r, const struct kar_condition *c)
{
	if (was_refused(c))
		return !has_passed(r) && !is_forbidden(r);
	return c && kar_same(c->reason, kar_reason_InvalidObject) && lacks_child(r);
}

bool queuejob_is_valid(struct queuejob_round *r)
{
	const struct kar_condition *c = recorded(r);
	const char *child = queuejob_invalid_child(r);

	if (r->job->invalid) {
		report(r, kar_reason_SpecInvalid, kar_reason_Invalid, r->job->invalid);
		return false;
	}
	if (is_impossible(r)) {
		report(r, kar_reason_InvalidTemplate, kar_reason_InvalidTemplate, words_of_refusal(r));
		return true;
	}
	if (is_forbidden(r))
		report_denial(r);
	else if (was_forbidden(r))
		queuejob_say(r, kar_reason_Forbidden, "%s", r->seen->message);
	if (child)
		report(r, kar_reason_InvalidObject, kar_reason_InvalidObject, child);
	else if (still_stands(r, c))
		queuejob_say(r, kar_keep_text(r->arena, c->reason), "%s",
			kar_keep_text(r->arena, c->message));
	else if (c)
		queuejob_set_condition(r, KAR_QJ_INVALID, false, kar_reason_SpecValid, "%s", "");
	return true;
}

/* As it would be created; of an index that exists the answer is that its name is taken, which is no objection. */
static void ask(struct queuejob_round *r, size_t task)
{
	struct queuejob_new_pod *payload = kar_arena_alloc(r->arena, 1, sizeof(*payload));
	char name[KAR_POD_NAME_LEN];
	struct kar_action *a;

	kar_queuejob_pod_name(r->job, r->job->spec.tasks[task].name, 0, name);
	a = kar_plan_add(r->p, KAR_CREATE, &kar_pod_type, kar_keep(r->arena, r->job->o.ns),
		kar_keep_text(r->arena, name));
	*payload = (struct queuejob_new_pod){
		.task = task,
		.incarnation = r->st.incarnation,
		.replaces = is_spared(r),
	};
	a->dry_run = true;
	a->what = QUEUEJOB_CREATE_POD;
	a->payload = payload;
}

void queuejob_check_templates(struct queuejob_round *r)
{
	const struct queuejob_check *c = &r->v->check;
	kar_time in = r->unchecked ? c->retry_in : c->early_in > c->retry_in ? c->early_in : c->retry_in;

	if (r->job->invalid || kar_qj_phase_terminal(r->st.phase) || !(r->unchecked || c->waits) ||
		(has_passed(r) && !c->refused))
		return;
	if (in) {
		kar_plan_requeue(r->p, in);
		return;
	}
	for (size_t i = 0; i < r->job->spec.n_tasks && i < KAR_QJ_MAX_TASKS; i++) {
		if (r->job->spec.tasks[i].replicas > 0 && !(c->passed >> i & 1))
			ask(r, i);
	}
}
