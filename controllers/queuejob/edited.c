/*
 * A status that another client has edited (docs/design/architecture.md rule 11, docs/decisions/025).
 *
 * The digest of the record shows that the status was edited, but not where. So only the fields that decision 025 lists are
 * believed; the rest is derived from the pods.
 */
#include "controllers/queuejob/reconcile.h"

#include "api/status/intervals.h"
#include "api/copy.h"
#include "common/base/str.h"

static size_t count_live(const struct queuejob_reconcile *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->f->v->n_pods; i++)
		n += kar_pod_alive(r->f->v->pods[i]);
	return n;
}

static bool has_terminating(const struct queuejob_reconcile *r)
{
	for (size_t i = 0; i < r->f->v->n_pods; i++) {
		if (r->f->v->pods[i]->deletion)
			return true;
	}
	return false;
}

/*
 * A live pod shows that there is a gang. Without one the recorded phase is believed, unless pods terminate: these may belong
 * to a restarting gang, and no pod may be created before they are gone.
 */
static bool has_gang(const struct queuejob_reconcile *r, size_t live)
{
	return live || (r->st.incarnation && queuejob_has_gang(r->f->recorded->phase) && !has_terminating(r));
}

/* The pods of a restarting gang terminate. If all pods are alive, the phase itself was edited, and they keep running. */
static bool is_restarting(const struct queuejob_reconcile *r, size_t live)
{
	return r->st.incarnation && r->f->recorded->phase == KAR_QJ_PHASE_RESTARTING &&
		(!live || live < r->f->v->n_pods);
}

/* Losses whose objects exist may have been counted before the edit: counting them again could fail the job. */
static struct kar_array existing_losses(const struct queuejob_reconcile *r)
{
	const char **uids = kar_arena_alloc(r->arena, r->f->v->n_pods, sizeof(*uids));
	size_t n = 0;

	for (size_t i = 0; i < r->f->v->n_pods && n < KAR_QJ_MAX_COUNTED_PODS; i++) {
		const struct kar_pod *pod = r->f->v->pods[i];

		if (!kar_pod_alive(pod) && pod->phase != KAR_POD_SUCCEEDED)
			uids[n++] = kar_copy_text(r->arena, pod->o.uid);
	}
	return (struct kar_array){ .items = uids, .n = n };
}

static bool is_live(const struct queuejob_reconcile *r, size_t task, int32_t index)
{
	char name[KAR_POD_NAME_LEN];

	kar_queuejob_pod_name(r->f->job, r->f->job->spec.tasks[task].name, index, name);
	for (size_t i = 0; i < r->f->v->n_pods; i++) {
		if (kar_streq(r->f->v->pods[i]->o.name, name))
			return kar_pod_alive(r->f->v->pods[i]);
	}
	return false;
}

/* Returns the recorded indexes @indexes, of which none has a pod at work, without those whose pod is alive. */
static const char *possible_indexes(const struct queuejob_reconcile *r, const struct kar_task_status *t,
	const char *indexes)
{
	size_t task = kar_queuejob_find_task(&r->f->job->spec, t->name);
	struct kar_intervals done = { 0 }, possible = { 0 };

	if (task == KAR_NO_TASK || kar_intervals_parse(indexes, r->arena, &done))
		return task == KAR_NO_TASK ? indexes : "";
	for (int32_t i = 0; i < r->f->job->spec.tasks[task].replicas && i < KAR_QJ_MAX_PODS; i++) {
		if (kar_intervals_has(&done, i) && !is_live(r, task, i))
			kar_intervals_add(&possible, i, r->arena);
	}
	return kar_intervals_format(&possible, r->arena);
}

/* Believes only the results of a task. The task has started if it has results or pods, or waits for no other. */
static void keep_results(struct queuejob_reconcile *r)
{
	struct kar_queuejob_status *st = &r->st;
	struct kar_task_status *tasks = kar_arena_alloc(r->arena, st->n_tasks, sizeof(*tasks));

	for (size_t i = 0; i < st->n_tasks; i++) {
		const char *indexes = possible_indexes(r, &st->tasks[i], st->tasks[i].succeeded_indexes);
		size_t task = kar_queuejob_find_task(&r->f->job->spec, st->tasks[i].name);
		bool depends = task != KAR_NO_TASK && r->f->job->spec.tasks[task].depends_on.n;

		tasks[i] = (struct kar_task_status){
			.name = st->tasks[i].name,
			.succeeded_indexes = indexes,
			.failed_indexes = possible_indexes(r, &st->tasks[i], st->tasks[i].failed_indexes),
			.index_failures = st->tasks[i].index_failures,
			.succeeded = queuejob_count_indexes(r, indexes),
			.started = indexes[0] != '\0' || !depends,
		};
	}
	st->tasks = tasks;
}

/* By any of its marks: formation, the quorum that it had, the condition, the phase. */
static bool had_formed(const struct queuejob_reconcile *r)
{
	const struct kar_queuejob_status *s = r->f->recorded;

	return s->phase == KAR_QJ_PHASE_RUNNING || s->record.formation > KAR_QJ_FORMATION_FIRST ||
		s->record.formed_min_available > 0 || kar_condition_is_true(&s->conditions, KAR_QJ_FORMED);
}

/*
 * The gang must form again. One that had formed, or has its quorum, is not stopped for a quota or for nodes meanwhile
 * (moves.c). One that never formed may be, or two such gangs could block each other without end.
 */
static void derive_gang(struct queuejob_reconcile *r)
{
	bool spared = had_formed(r) || queuejob_has_quorum(r);

	r->st.phase = KAR_QJ_PHASE_STARTING;
	r->st.record.formation = spared ? KAR_QJ_FORMATION_RAISED : KAR_QJ_FORMATION_FIRST;
	r->st.start_time = queuejob_admitted_at(r);
}

static void derive_restart(struct queuejob_reconcile *r)
{
	bool results_count = r->f->recorded->record.restart_kind == KAR_QJ_RESTART_NODES;

	if (!r->st.last_restart.time)
		queuejob_record_restart(r, KAR_QJ_RESTART_DISRUPTION, kar_reason_PodsMissing,
			"pods of the gang are gone");
	r->st.phase = KAR_QJ_PHASE_RESTARTING;
	r->st.record.restart_kind = results_count ? KAR_QJ_RESTART_NODES : KAR_QJ_RESTART_DISRUPTION;
	r->st.start_time = queuejob_admitted_at(r);
	queuejob_set_condition(r, KAR_QJ_FORMED, false, kar_reason_PodsMissing, "%s", "");
}

static void derive_wait(struct queuejob_reconcile *r)
{
	r->st.phase = KAR_QJ_PHASE_PENDING;
	if (kar_condition_is_true(&r->st.conditions, KAR_QJ_FORMED))
		queuejob_set_condition(r, KAR_QJ_FORMED, false, kar_reason_PodsMissing, "%s", "");
}

static void derive_unfinished(struct queuejob_reconcile *r)
{
	struct kar_queuejob_status *st = &r->st;
	size_t live = count_live(r);

	st->incarnation = st->incarnation > 0 || r->f->v->n_pods ? queuejob_incarnation(r->f->v) : 0;
	st->record = (struct kar_qj_record){
		.counted_pods = existing_losses(r),
		.template_hash = st->incarnation ? queuejob_template_of(r) : "",
	};
	st->start_time = st->completion_time = 0;
	st->n_after = 0; /* the jobs themselves show their ends, as long as they exist */
	st->observed_generation = r->f->job->generation;
	keep_results(r);
	if (!r->f->job->spec.suspend && kar_condition_is_true(&st->conditions, KAR_QJ_SUSPENDED))
		queuejob_set_condition(r, KAR_QJ_SUSPENDED, false, kar_reason_Resumed, "%s", "");
	if (is_restarting(r, live))
		derive_restart(r);
	else if (has_gang(r, live))
		derive_gang(r);
	else
		derive_wait(r);
}

/* The condition shows when and how the job ended. */
static void derive_end(struct queuejob_reconcile *r)
{
	struct kar_queuejob_status *st = &r->st;
	bool completed = st->phase == KAR_QJ_PHASE_COMPLETED;
	const struct kar_condition *end =
		kar_condition_find(&st->conditions, completed ? KAR_QJ_COMPLETE : KAR_QJ_FAILED);

	st->completion_time = end->last_transition;
	st->succeeded = 0;
	for (size_t i = 0; i < st->n_tasks; i++)
		st->succeeded += queuejob_count_indexes(r, st->tasks[i].succeeded_indexes);
}

void queuejob_derive_status(struct queuejob_reconcile *r)
{
	r->st.edited = false;
	if (kar_queuejob_has_ended(r->f->recorded))
		derive_end(r);
	else
		derive_unfinished(r);
	kar_plan_event(r->p, true, kar_reason_StatusEdited, "DeriveStatus",
		"another client, or another version of kar-controllers, has written the status; %s",
		kar_queuejob_has_ended(r->f->recorded)
			? "the job stays finished"
			: "kept the incarnation, the succeeded indexes and the counters, derived the rest from the pods");
	queuejob_assume_recorded(r);
}

void queuejob_drop_false_ends(struct queuejob_reconcile *r)
{
	const struct kar_queuejob_status *st = &r->st;
	const char *true_end = st->phase == KAR_QJ_PHASE_COMPLETED ? KAR_QJ_COMPLETE
		: st->phase == KAR_QJ_PHASE_FAILED                 ? KAR_QJ_FAILED
								   : "";
	struct kar_conditions *list = &r->st.conditions;
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++) {
		const char *type = list->items[i].type;
		bool is_end = kar_streq(type, KAR_QJ_COMPLETE) || kar_streq(type, KAR_QJ_FAILED);

		if (!is_end || kar_streq(type, true_end))
			list->items[n++] = list->items[i];
	}
	list->n = n;
}
