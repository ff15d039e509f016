/*
 * How an incarnation starts.
 *
 * Every start but the first is a status write, and nothing is created before it is stored. The first records nothing that the
 * pods and the PodGroup do not show as well (that they exist, their incarnation, their template, when the group was
 * admitted), so its write need not come before them: it is folded into the next one, mostly that of phase
 * Running. Until then each round finds the start again (see docs/decisions/007).
 */
#include "controllers/queuejob/round.h"

#include <string.h>

#include "api/keep.h"

/* The newest incarnation among the pods that is below @limit, 1 at least; *@n: how many live pods are of it. */
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

	if (v->job->status.incarnation > 0 && v->job->status.incarnation <= QUEUEJOB_COUNT_MAX)
		return v->job->status.incarnation;
	newest = newest_below(v, QUEUEJOB_COUNT_MAX, &n);
	before = newest_below(v, newest, &n_before);
	/* Live pods of two incarnations: somebody has edited labels. To take the older one kills none of them. */
	return n_before > 0 && n <= n_before ? before : newest;
}

/* An edit before the first record leaves pods of both templates: one of the former is enough for all to be replaced. */
const char *queuejob_template_of(const struct queuejob_round *r)
{
	const char *specified = r->job->spec_template_hash;

	for (size_t i = 0; i < r->v->n_pods; i++) {
		const struct kar_pod_job *pod = r->v->pods[i]->job;

		if (pod && pod->incarnation == r->st.incarnation && pod->template_hash &&
			strcmp(pod->template_hash, specified) != 0)
			return kar_keep_text(r->arena, pod->template_hash);
	}
	return specified;
}

/* NULL: the queue has not admitted it, or not any more. */
static const struct kar_condition *admission(const struct queuejob_round *r)
{
	const struct kar_podgroup *g = queuejob_own_group(r);
	const struct kar_condition *c = g ? kar_condition_find(&g->status.conditions, KAR_PG_ADMITTED) : NULL;

	return c && c->status == KAR_COND_TRUE ? c : NULL;
}

/* Of a job that has adopted the PodGroup of a former job of its name, together with that one's admission: when its first pod came. */
static kar_time admitted_with_former(const struct queuejob_round *r)
{
	const struct kar_condition *c = kar_condition_find(&r->seen->conditions, KAR_QJ_ADMITTED);
	kar_time first = r->second > r->job->creation ? r->second : r->job->creation;

	if (c && c->status == KAR_COND_TRUE && c->last_transition >= r->job->creation &&
		c->last_transition <= r->second)
		return c->last_transition;
	for (size_t i = 0; i < r->v->n_pods; i++) {
		kar_time at = r->v->pods[i]->creation;

		first = at >= r->job->creation && at < first ? at : first;
	}
	return first;
}

/* The manager's clock tells when a job was admitted, the API server's when it was created: the former may be behind. */
kar_time queuejob_admitted_at(const struct queuejob_round *r)
{
	const struct kar_condition *c = admission(r);

	if (!c || c->last_transition > r->second)
		return r->second;
	if (c->last_transition >= r->job->creation)
		return c->last_transition;
	return queuejob_own_group(r)->creation < r->job->creation ? admitted_with_former(r)
								  : r->job->creation;
}

static void tell(struct queuejob_round *r)
{
	bool restarted = r->seen->phase == KAR_QJ_PHASE_RESTARTING;
	const char *missing = queuejob_count_pods(r, queuejob_missing(r));

	queuejob_set_condition(r, KAR_QJ_FORMED, false, kar_reason_Starting, "%s", "");
	queuejob_say_starting(r, kar_reason_Starting);
	if (restarted)
		kar_plan_event(r->p, false, kar_reason_Starting, "CreatePods", "incarnation %d: creating %s",
			(int)r->st.incarnation, missing);
	else if (admission(r))
		kar_plan_event(r->p, false, kar_reason_Admitted, "CreatePods",
			"admitted by queue %s; creating %s", r->job->spec.queue, missing);
}

void queuejob_start(struct queuejob_round *r)
{
	struct kar_queuejob_status *st = &r->st;

	st->phase = KAR_QJ_PHASE_STARTING;
	st->incarnation = r->seen->incarnation > 0 ? r->seen->incarnation + 1 : queuejob_incarnation(r->v);
	st->formed_min_available = 0;
	if (r->seen->phase != KAR_QJ_PHASE_RESTARTING)
		st->schedule_timeouts = 0;
	st->counted_pods = (struct kar_array){ 0 };
	st->template_hash = r->seen->incarnation > 0 ? r->job->spec_template_hash : queuejob_template_of(r);
	if (!st->start_time) /* of the first start that of the admission, which stays the same until it is recorded */
		st->start_time = r->seen->incarnation > 0 ? r->second : queuejob_admitted_at(r);
	tell(r);
}

bool queuejob_is_known(const struct queuejob_round *r, const struct kar_pod *pod)
{
	return r->v->latest && pod->o.rv <= r->v->latest_pods;
}

bool queuejob_is_behind(const struct queuejob_round *r)
{
	int32_t last = r->recorded->incarnation > 1 ? r->recorded->incarnation : 1;

	for (size_t i = 0; i < r->v->n_pods; i++) {
		const struct kar_pod *pod = r->v->pods[i];

		if (pod->job && pod->job->incarnation > last && !queuejob_is_known(r, pod))
			return true;
	}
	return false;
}

bool queuejob_runs_unrecorded(const struct queuejob_round *r)
{
	const struct queuejob_view *v = r->v;

	if (r->recorded->incarnation > 0 || kar_qj_phase_terminal(r->recorded->phase))
		return false;
	for (size_t i = 0; i < v->n_pods; i++) {
		const struct kar_pod *pod = v->pods[i];

		/* The label may have been taken off. */
		if ((pod->job && pod->job->incarnation > 0) || pod->tracked)
			return true;
	}
	return false;
}

void queuejob_take_as_recorded(struct queuejob_round *r)
{
	struct queuejob_view *v = kar_arena_alloc(r->arena, 1, sizeof(*v));
	struct kar_queuejob *job = kar_arena_alloc(r->arena, 1, sizeof(*job));

	*job = *r->job;
	queuejob_count_tasks(r);
	job->status = r->st;
	*v = *r->v;
	v->job = job;
	r->v = v;
	r->job = job;
	r->said = false;
	queuejob_look(r);
}

bool queuejob_only_starts(const struct queuejob_round *r)
{
	for (size_t i = 0; i < r->p->n_events; i++) {
		if (!kar_same(r->p->events[i].reason, kar_reason_Admitted))
			return false;
	}
	return r->st.phase == KAR_QJ_PHASE_STARTING && !r->recorded->incarnation &&
		(r->recorded->phase == KAR_QJ_PHASE_NONE || r->recorded->phase == KAR_QJ_PHASE_PENDING);
}
