/* The decision, rule by rule in order of precedence. What each rule does stands in the file it is named after. */
#include "controllers/queuejob/round.h"

#include <stdarg.h>
#include <string.h>

#include "common/text.h"

static KAR_PRINTF(2, 0) const char *format(struct kar_arena *arena, const char *fmt, va_list ap)
{
	char text[KAR_MAX_MESSAGE_BYTES];

	kar_text_vprintf(text, sizeof(text), fmt, ap);
	return kar_arena_strndup(arena, text, strlen(text));
}

void queuejob_say(struct queuejob_round *r, const char *reason, const char *fmt, ...)
{
	va_list ap;

	if (r->said)
		return;
	va_start(ap, fmt);
	r->st.message = format(r->arena, fmt, ap);
	va_end(ap);
	r->st.reason = reason;
	r->said = true;
}

void queuejob_set_condition(struct queuejob_round *r, const char *type, bool value, const char *reason,
	const char *fmt, ...)
{
	struct kar_condition c = {
		.type = type,
		.status = value ? KAR_COND_TRUE : KAR_COND_FALSE,
		.observed_generation = r->job->generation,
		.reason = reason,
	};
	va_list ap;

	va_start(ap, fmt);
	c.message = format(r->arena, fmt, ap);
	va_end(ap);
	kar_condition_set(&r->st.conditions, &c, r->now, r->arena);
}

const char *queuejob_count_pods(const struct queuejob_round *r, int32_t n)
{
	return kar_arena_printf(r->arena, "%d pod%s", (int)n, n == 1 ? "" : "s");
}

bool queuejob_was_formed(const struct queuejob_round *r)
{
	if (r->min == 0)
		return r->seen->phase == KAR_QJ_PHASE_RUNNING;
	return r->seen->formed_min_available >= r->min;
}

bool queuejob_has_quorum(const struct queuejob_round *r)
{
	int32_t up = 0;

	for (size_t i = 0; i < r->t.n_tasks; i++) {
		const struct kar_taskspec *spec = &r->job->spec.tasks[i];
		const struct queuejob_task_tally *task = &r->t.tasks[i];

		if (!task->started)
			continue;
		up += task->running + task->n_done;
		if (r->min > 0 && spec->has_min_available &&
			task->running + task->n_done < spec->min_available)
			return false;
	}
	return up >= (r->min > 0 ? r->min : 1);
}

bool queuejob_has_gang(enum kar_qj_phase p)
{
	return p == KAR_QJ_PHASE_STARTING || p == KAR_QJ_PHASE_RUNNING;
}

/*
 * Suspend and resume keep what has succeeded, unless the template was changed meanwhile. (A restart keeps nothing: its
 * status write cleared the list.)
 */
static bool keeps_done(const struct queuejob_round *r)
{
	return !r->template_changed || queuejob_has_gang(r->seen->phase) ||
		kar_qj_phase_terminal(r->seen->phase) || r->job->spec.suspend;
}

/* Also of pods that were quicker than a suspension, but not of an incarnation that was given up. */
static bool records_success(const struct queuejob_round *r)
{
	bool paused = r->seen->phase == KAR_QJ_PHASE_SUSPENDED || r->seen->phase == KAR_QJ_PHASE_PENDING ||
		(r->seen->phase == KAR_QJ_PHASE_RESTARTING && queuejob_gave_nodes_back(r));

	return queuejob_has_gang(r->seen->phase) || (paused && r->seen->template_hash[0] && keeps_done(r));
}

void queuejob_look(struct queuejob_round *r)
{
	const struct kar_queuejob_status *seen = &r->job->status;

	r->seen = seen;
	r->st = *seen;
	r->template_changed =
		seen->template_hash[0] && strcmp(seen->template_hash, r->job->spec_template_hash);
	r->st.conditions = kar_conditions_copy(&seen->conditions, r->arena);
	r->unchecked = queuejob_awaits_check(r) || queuejob_awaits_service(r);
	r->replaces_template =
		r->template_changed && queuejob_has_gang(seen->phase) && !r->job->invalid && !r->unchecked;
	queuejob_tally(r->v, keeps_done(r), records_success(r), r->arena, &r->t);
	queuejob_look_at_order(r);
	queuejob_limit(r);
}

static void begin(struct queuejob_round *r, const struct queuejob_view *v, kar_time now, struct kar_plan *p)
{
	*r = (struct queuejob_round){
		.v = v,
		.job = v->job,
		.recorded = &v->job->status,
		.now = now,
		.second = now - now % KAR_SECOND,
		.p = p,
		.arena = p->arena,
	};
	queuejob_look(r);
}

/* What has succeeded of tasks that the spec names no more. */
static void keep_vanished_tasks(struct queuejob_round *r)
{
	struct kar_queuejob_status *st = &r->st;

	for (size_t i = 0; i < r->seen->n_tasks && st->n_tasks < KAR_QJ_MAX_TASKS; i++) {
		const struct kar_task_status *known = &r->seen->tasks[i];

		if (kar_queuejob_find_task(&r->job->spec, known->name) != KAR_NO_TASK)
			continue;
		st->tasks[st->n_tasks++] = (struct kar_task_status){
			.name = known->name,
			.started = known->started,
			.succeeded = known->succeeded,
			.succeeded_indexes = known->succeeded_indexes,
		};
	}
}

void queuejob_count_tasks(struct queuejob_round *r)
{
	struct kar_queuejob_status *st = &r->st;

	st->n_tasks = r->t.n_tasks;
	st->tasks = kar_arena_alloc(r->arena, st->n_tasks + r->seen->n_tasks, sizeof(*st->tasks));
	for (size_t i = 0; i < st->n_tasks; i++) {
		const struct queuejob_task_tally *t = &r->t.tasks[i];

		st->tasks[i] = (struct kar_task_status){
			.name = r->job->spec.tasks[i].name,
			.replicas = t->objects,
			.desired = (r->forget ? 0 : t->n_done) + t->wanted,
			.pending = t->pending,
			.running = t->running,
			.succeeded = r->forget ? 0 : t->n_done,
			.failed = t->failed,
			.started = t->started,
			.restart_time = queuejob_has_gang(st->phase) ? t->restart_time : 0,
			.succeeded_indexes = r->forget ? "" : kar_intervals_format(&t->done, r->arena),
		};
	}
	/* Without a hash nothing that was done with the old templates counts. */
	if (queuejob_awaits_edit(r) && st->template_hash[0] && !r->forget)
		keep_vanished_tasks(r);
}

/* The counters: always recomputed, never incremented. A finished job keeps the result it finished with. */
static void count(struct queuejob_round *r)
{
	struct kar_queuejob_status *st = &r->st;

	st->replicas = r->t.objects;
	st->pending = r->t.pending;
	st->running = r->t.running;
	st->terminating = r->t.terminating;
	if (kar_qj_phase_terminal(r->seen->phase))
		return;
	if (!queuejob_has_gang(st->phase))
		queuejob_limit(r); /* of what it is to begin anew with */
	queuejob_note_scaling(r);
	st->desired = queuejob_desired(r);
	st->succeeded = r->forget ? 0 : r->t.done;
	st->failed = r->t.failed;
	st->min_available = r->min;
	queuejob_count_tasks(r);
}

/* Most jobs are admitted a moment after they are first seen: that they wait is news only if they still do. */
static bool is_first_look(const struct queuejob_round *r)
{
	return r->recorded->phase == KAR_QJ_PHASE_NONE && r->st.phase == KAR_QJ_PHASE_PENDING &&
		!r->p->n_events;
}

static void conclude(struct queuejob_round *r)
{
	count(r);
	r->st.observed_generation = r->job->generation;
	r->st.selector = r->job->spec.selector;
	r->st.pods_version = r->v->pods_version;
	if (kar_queuejob_status_equal(r->recorded, &r->st))
		return;

	struct kar_queuejob_status *st = kar_arena_alloc(r->arena, 1, sizeof(*st));

	*st = r->st;
	r->p->status = st;
	r->p->status_text = queuejob_status_text(r->recorded, st, r->arena);
	r->p->counters = !r->remembers_surplus &&
		(kar_queuejob_status_same_story(r->recorded, st) || queuejob_only_starts(r));
	r->p->urgent = !r->p->counters && !is_first_look(r);
}

/* A first start is not recorded before anything else is done. Its children first, if anything was wrong with them. */
static void start_at_once(struct queuejob_round *r)
{
	if (r->p->n_actions) {
		r->p->unfinished = true;
		return;
	}
	queuejob_take_as_recorded(r);
	queuejob_keep_gang(r);
}

/* What is done in each phase that is neither final nor paused. */
static void go_on(struct queuejob_round *r)
{
	switch (r->seen->phase) {
	case KAR_QJ_PHASE_STARTING:
	case KAR_QJ_PHASE_RUNNING:
		queuejob_keep_gang(r);
		break;
	case KAR_QJ_PHASE_RESTARTING:
		queuejob_wait_until_gone(r);
		break;
	default:
		queuejob_wait_for_admission(r);
		if (r->st.phase == KAR_QJ_PHASE_STARTING && !r->seen->incarnation)
			start_at_once(r);
		break;
	}
}

/* A rule goes before the limit, and that before the deadline, when several hold. */
static void fail_or_go_on(struct queuejob_round *r)
{
	if (queuejob_has_gang(r->seen->phase))
		queuejob_count_losses(r);
	if (r->verdict >= KAR_FAILURE_COMPLETE_JOB)
		queuejob_end_by_rule(r);
	else if (queuejob_over_limit(r))
		queuejob_fail_limit(r);
	else if (queuejob_past_deadline(r))
		queuejob_fail_deadline(r);
	else
		go_on(r);
}

void queuejob_decide(const struct queuejob_view *v, kar_time now, struct kar_plan *p)
{
	struct queuejob_round r;

	queuejob_release_orphans(v, p);
	if (!v->job)
		return;
	begin(&r, v, now, p);
	if (v->job->deletion) {
		queuejob_let_go(&r);
		return;
	}
	/* Or somebody has edited a pod's label or cleared the status: then the API server says that nothing is newer. */
	if (queuejob_is_behind(&r)) {
		queuejob_check_owner(&r);
		p->unfinished = true; /* what is wanted is not known yet */
		return;
	}
	if (queuejob_mend_status(&r))
		return;
	if (queuejob_runs_unrecorded(&r)) {
		queuejob_start(&r);
		queuejob_take_as_recorded(&r);
	}
	if (kar_qj_phase_terminal(r.seen->phase))
		queuejob_stay_finished(&r);
	else if (queuejob_is_complete(&r))
		queuejob_complete(&r);
	else if (v->job->spec.suspend)
		queuejob_suspend(&r);
	else
		fail_or_go_on(&r);
	queuejob_check_templates(&r);
	conclude(&r);
}
