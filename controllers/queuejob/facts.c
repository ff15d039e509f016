/* Questions about the job, answered without a change: the gang, missing pods, the end, the running incarnation. */
#include "controllers/queuejob/reconcile.h"

#include <string.h>

#include "api/copy.h"
#include "api/status/intervals.h"
#include "common/base/str.h"

/* --- the gang ------------------------------------------------------------------------------------- */

bool queuejob_was_formed(const struct queuejob_reconcile *r)
{
	if (r->want.min == 0)
		return r->f->seen->phase == KAR_QJ_PHASE_RUNNING;
	return r->f->seen->record.formed_min_available >= r->want.min;
}

bool queuejob_has_quorum(const struct queuejob_reconcile *r)
{
	int32_t up = 0;

	for (size_t i = 0; i < r->f->pods.n_tasks; i++) {
		const struct kar_taskspec *spec = &r->f->job->spec.tasks[i];
		const struct podset_task *task = &r->f->pods.tasks[i];

		if (!r->want.tasks[i].started)
			continue;
		up += task->running + task->n_done;
		if (r->want.min > 0 && spec->has_min_available &&
			task->running + task->n_done < spec->min_available)
			return false;
	}
	return up >= (r->want.min > 0 ? r->want.min : 1);
}

bool queuejob_is_raised(const struct queuejob_reconcile *r)
{
	return r->st.record.formation == KAR_QJ_FORMATION_RAISED;
}

bool queuejob_restarts_task(const struct queuejob_reconcile *r)
{
	for (size_t i = 0; i < r->f->pods.n_tasks; i++) {
		if (r->want.tasks[i].restart_time)
			return true;
	}
	return false;
}

bool queuejob_drops_results(const struct kar_queuejob_status *s)
{
	return s->phase == KAR_QJ_PHASE_RESTARTING && s->record.restart_kind != KAR_QJ_RESTART_NODES;
}

bool queuejob_was_rolled_back(const struct queuejob_reconcile *r)
{
	return r->f->seen->record.restart_kind == KAR_QJ_RESTART_NODES;
}

const struct kar_podgroup *queuejob_own_group(const struct queuejob_reconcile *r)
{
	const struct kar_podgroup *g = r->f->v->group;

	return g && !g->deletion && kar_streq(g->owner_uid, r->f->job->o.uid) ? g : NULL;
}

/* --- missing pods --------------------------------------------------------------------------------- */

const size_t *queuejob_creation_order(const struct queuejob_reconcile *r)
{
	return queuejob_order(r->f->v->task_priority, r->f->pods.n_tasks, r->arena);
}

int32_t queuejob_covered(const struct podset_task *t)
{
	return t->pending + t->running + t->n_done;
}

int32_t queuejob_task_lacks(const struct queuejob_reconcile *r, size_t i)
{
	const struct kar_taskspec *spec = &r->f->job->spec.tasks[i];
	int32_t lacks = spec->has_min_available && r->want.min && r->want.tasks[i].started
		? spec->min_available - queuejob_covered(&r->f->pods.tasks[i])
		: 0;

	return lacks > 0 ? lacks : 0;
}

int32_t queuejob_lacks(const struct queuejob_reconcile *r)
{
	int32_t own = 0, have = 0, others;

	for (size_t i = 0; i < r->f->pods.n_tasks; i++) {
		have += r->want.tasks[i].started ? queuejob_covered(&r->f->pods.tasks[i]) : 0;
		own += queuejob_task_lacks(r, i);
	}
	others = r->want.min - own - have; /* may belong to any task */
	return own + (others > 0 ? others : 0);
}

/* --- the end --------------------------------------------------------------------------------------- */

static bool counts_for_success(const struct kar_queuejob_spec *s, const char *task)
{
	return !s->success_tasks.n || kar_strings_have(&s->success_tasks, task);
}

/* Returns the replicas of the tasks that count for the success policy; *@done: how many of them have succeeded. */
static int32_t count_for_success(const struct queuejob_reconcile *r, int32_t *done)
{
	const struct kar_queuejob_spec *s = &r->f->job->spec;
	int32_t all = 0;

	*done = 0;
	for (size_t i = 0; i < r->f->pods.n_tasks; i++) {
		if (!counts_for_success(s, s->tasks[i].name))
			continue;
		all += r->f->pods.tasks[i].n;
		*done += r->f->pods.tasks[i].n_done;
	}
	return all;
}

/* A job without any replicas is neither complete nor failed: it waits for an edit. */
bool queuejob_is_complete(const struct queuejob_reconcile *r)
{
	const struct kar_queuejob_spec *s = &r->f->job->spec;
	int32_t done, want = count_for_success(r, &done);

	if (s->has_min_succeeded && s->min_succeeded > 0)
		want = s->min_succeeded;
	return want > 0 && done >= want;
}

bool queuejob_can_complete(const struct queuejob_reconcile *r)
{
	int32_t done;

	return count_for_success(r, &done) > 0;
}

bool queuejob_over_limit(const struct queuejob_reconcile *r)
{
	return !r->f->job->spec.per_index && r->st.pod_failures > r->f->job->spec.backoff_limit;
}

int32_t queuejob_count_indexes(const struct queuejob_reconcile *r, const char *indexes)
{
	struct kar_intervals done = { 0 };

	return kar_intervals_parse(indexes, r->arena, &done) == 0 ? kar_intervals_count(&done) : 0;
}

/* --- the incarnation ---------------------------------------------------------------------------------- */

/* Returns the newest incarnation of the pods below @limit, at least 1; *@n: the number of its live pods. */
static int32_t newest_below(const struct queuejob_view *v, int32_t limit, size_t *n)
{
	int32_t newest = 1;

	*n = 0;
	for (size_t i = 0; i < v->n_pods; i++) {
		const struct kar_pod *pod = v->pods[i];
		int32_t is = pod->job ? pod->job->incarnation : 0;

		if (is >= limit || is < newest)
			continue;
		if (is > newest)
			*n = 0;
		*n += kar_pod_alive(pod);
		newest = is;
	}
	return newest;
}

int32_t queuejob_incarnation(const struct queuejob_view *v)
{
	int32_t newest, before;
	size_t n, n_before;

	if (v->job->status.incarnation > 0 && v->job->status.incarnation <= KAR_QJ_COUNT_MAX)
		return v->job->status.incarnation;
	newest = newest_below(v, KAR_QJ_COUNT_MAX, &n);
	before = newest_below(v, newest, &n_before);
	/* Live pods of two incarnations: somebody has edited labels. The older one stops none of them. */
	return n_before > 0 && n <= n_before ? before : newest;
}

/*
 * An edit before the first record can leave pods of two templates. One pod of the former template is enough to return its
 * hash: it differs from the specified one, so all pods are replaced.
 */
const char *queuejob_template_of(const struct queuejob_reconcile *r)
{
	const char *specified = r->f->job->spec_template_hash;

	for (size_t i = 0; i < r->f->v->n_pods; i++) {
		const struct kar_pod_job *pod = r->f->v->pods[i]->job;

		if (pod && pod->incarnation == r->st.incarnation && pod->template_hash &&
			strcmp(pod->template_hash, specified) != 0)
			return kar_copy_text(r->arena, pod->template_hash);
	}
	return specified;
}

const struct kar_condition *queuejob_admission(const struct queuejob_reconcile *r)
{
	const struct kar_podgroup *g = queuejob_own_group(r);

	if (!g || !kar_podgroup_admitted_by(g, r->f->v->queue))
		return NULL;
	return kar_condition_find(&g->status.conditions, KAR_PG_ADMITTED);
}

/*
 * The time of the first pod stands in for the admission when the group does not show it. Either the job adopted the group of
 * a former job of its name, with that job's admission, or it was suspended and resumed, which need not change the group.
 */
static kar_time first_pod_at(const struct queuejob_reconcile *r)
{
	const struct kar_condition *c = kar_condition_find(&r->f->seen->conditions, KAR_QJ_ADMITTED);
	kar_time first = r->f->second > r->f->job->creation ? r->f->second : r->f->job->creation;

	if (c && c->status == KAR_COND_TRUE && c->last_transition >= r->f->job->creation &&
		c->last_transition <= r->f->second)
		return c->last_transition;
	for (size_t i = 0; i < r->f->v->n_pods; i++) {
		kar_time at = r->f->v->pods[i]->creation;

		first = at >= r->f->job->creation && at < first ? at : first;
	}
	return first;
}

/* Admission has the time of the manager's clock, creation that of the API server's: the former may be behind. */
kar_time queuejob_admitted_at(const struct queuejob_reconcile *r)
{
	const struct kar_condition *c = queuejob_admission(r);

	if (!c || c->last_transition > r->f->second)
		return r->f->second;
	if (r->f->job->generation > 1)
		return first_pod_at(r);
	if (c->last_transition >= r->f->job->creation)
		return c->last_transition;
	return queuejob_own_group(r)->creation < r->f->job->creation ? first_pod_at(r) : r->f->job->creation;
}

bool queuejob_is_known(const struct queuejob_reconcile *r, const struct kar_pod *pod)
{
	return r->f->v->latest && pod->o.rv <= r->f->v->latest_pods;
}

bool queuejob_is_behind(const struct queuejob_reconcile *r)
{
	int32_t last = r->f->recorded->incarnation > 1 ? r->f->recorded->incarnation : 1;

	for (size_t i = 0; i < r->f->v->n_pods; i++) {
		const struct kar_pod *pod = r->f->v->pods[i];

		if (pod->job && pod->job->incarnation > last && !queuejob_is_known(r, pod))
			return true;
	}
	return false;
}

bool queuejob_runs_unrecorded(const struct queuejob_reconcile *r)
{
	const struct queuejob_view *v = r->f->v;

	if (r->f->recorded->incarnation > 0 || kar_qj_phase_terminal(r->f->recorded->phase))
		return false;
	for (size_t i = 0; i < v->n_pods; i++) {
		const struct kar_pod *pod = v->pods[i];

		/* Somebody may have removed the label: then the finalizer shows it. */
		if ((pod->job && pod->job->incarnation > 0) || pod->tracked)
			return true;
	}
	return false;
}
