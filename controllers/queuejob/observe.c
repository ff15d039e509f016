#include "controllers/queuejob/observe.h"

#include <stdlib.h>
#include <string.h>

#include "api/keep.h"
#include "controllers/queuejob/memory.h"
#include "controllers/refusal.h"

enum { OWNER_CHECK_INTERVAL = 1000 }; /* ms between two reads of a job that may be gone */

struct pods {
	const struct kar_pod **items;
	size_t n;
};

static void append(struct pods *list, const struct kar_pod *pod, struct kar_arena *arena)
{
	list->items = kar_arena_grow(arena, list->items, list->n, sizeof(const struct kar_pod *));
	list->items[list->n++] = pod;
}

static int compare_pods(const void *a, const void *b)
{
	const struct kar_pod *const *x = a, *const *y = b;

	return strcmp((*x)->o.name, (*y)->o.name);
}

/* Decisions do not depend on the order of a hash table. */
static void sort(struct pods *list)
{
	if (list->n)
		qsort(list->items, list->n, sizeof(const struct kar_pod *), compare_pods);
}

/* --- priority ------------------------------------------------------------------------------------ */

static void observe_priority(const struct kar_stores *stores, struct queuejob_view *v)
{
	const struct kar_schedspec *s = &v->job->spec.sched;
	const struct kar_priorityclass *class = kar_stores_priorityclass(stores, s->priority_class_name);

	if (s->has_priority)
		v->priority = s->priority;
	else if (class)
		v->priority = class->value;
	else if (kar_has_text(s->priority_class_name))
		v->priority_class_missing = true;
	else
		v->priority = kar_stores_default_priority(stores);
}

static void observe_task_priorities(const struct kar_stores *stores, struct kar_arena *arena,
	struct queuejob_view *v)
{
	const struct kar_queuejob_spec *s = &v->job->spec;
	int32_t *values = kar_arena_alloc(arena, s->n_tasks, sizeof(*values));

	for (size_t i = 0; i < s->n_tasks; i++) {
		const struct kar_priorityclass *class =
			kar_stores_priorityclass(stores, s->tasks[i].template_priority_class);

		values[i] = s->tasks[i].has_priority ? s->tasks[i].priority : class ? class->value : 0;
	}
	v->task_priority = values;
}

/* --- pods ---------------------------------------------------------------------------------------- */

static bool is_own(const struct kar_pod *pod, const struct kar_queuejob *job)
{
	return job && kar_same(pod->owner_uid, job->o.uid);
}

static void observe_own(const struct kar_stores *stores, struct kar_arena *arena, struct queuejob_view *v)
{
	struct kar_iter it = kar_store_by_index(stores->pods, KAR_POD_BY_OWNER, v->job->o.uid);
	const struct kar_object *o;
	struct pods own = { 0 };

	while (kar_iter_next(&it, &o)) {
		if (kar_same(o->ns, v->job->o.ns))
			append(&own, kar_as_pod(o), arena);
	}
	sort(&own);
	v->pods = own.items;
	v->n_pods = own.n;
}

/*
 * Our finalizer on a pod that the job does not control: its owner is gone (the name may have been taken by another job
 * since), or somebody took the ownerReference away. Of the latter, while the job lives, only those are let go that
 * the finalizer keeps from going.
 */
static bool is_orphan(const struct kar_pod *pod, const struct kar_queuejob *job)
{
	if (!pod->tracked || is_own(pod, job))
		return false;
	return !job || pod->owner_uid || job->deletion || pod->deletion || kar_pod_finished(pod);
}

/* Those whose label somebody took off, or gave another group, so that only the ownerReference tells whose they were. */
static void observe_strays(const struct kar_stores *stores, const char *ns, const char *name,
	const struct kar_queuejob *job, struct kar_arena *arena, struct pods *orphans)
{
	struct kar_iter it = kar_store_by_index(stores->pods, KAR_POD_STRAY, name);
	const struct kar_object *o;

	while (kar_iter_next(&it, &o)) {
		if (kar_same(o->ns, ns) && is_orphan(kar_as_pod(o), job))
			append(orphans, kar_as_pod(o), arena);
	}
}

/* Label and ownerReference are gone: then the key is the pod's own. */
static void observe_nobodys(const struct kar_stores *stores, const char *ns, const char *name,
	const struct kar_queuejob *job, struct kar_arena *arena, struct pods *orphans)
{
	const struct kar_object *o = kar_store_get(stores->pods, ns, name);
	const struct kar_pod *pod = o ? kar_as_pod(o) : NULL;

	if (pod && kar_pod_is_nobodys(pod) && is_orphan(pod, job))
		append(orphans, pod, arena);
}

static void observe_orphans(const struct kar_stores *stores, const struct kar_sync *s,
	struct kar_arena *arena, struct queuejob_view *v)
{
	/* Every pod of ours carries the PodGroup's label, and a group has the name of its job. */
	struct kar_iter it = kar_store_by_index(stores->pods, KAR_POD_BY_GROUP, s->key);
	char buf[KAR_KEY_LEN];
	const char *ns, *name;
	const struct kar_object *o;
	struct pods orphans = { 0 };

	while (kar_iter_next(&it, &o)) {
		if (!kar_as_pod(o)->stray && is_orphan(kar_as_pod(o), v->job))
			append(&orphans, kar_as_pod(o), arena);
	}
	kar_key_split(s->key, buf, &ns, &name);
	observe_strays(stores, ns, name, v->job, arena, &orphans);
	observe_nobodys(stores, ns, name, v->job, arena, &orphans);
	sort(&orphans);
	v->orphans = orphans.items;
	v->n_orphans = orphans.n;
}

static void observe_task_blockers(const struct kar_stores *stores, const struct kar_queuejob *job,
	size_t task, struct kar_arena *arena, struct pods *blocking)
{
	const struct kar_taskspec *spec = &job->spec.tasks[task];
	char name[KAR_POD_NAME_LEN];

	for (int32_t i = 0; i < spec->replicas && i < KAR_QJ_MAX_PODS; i++) {
		kar_queuejob_pod_name(job, spec->name, i, name);

		const struct kar_object *o = kar_store_get(stores->pods, job->o.ns, name);

		if (o && !is_own(kar_as_pod(o), job))
			append(blocking, kar_as_pod(o), arena);
	}
}

static bool creates_pods(const struct queuejob_view *v)
{
	enum kar_qj_phase p = v->job->status.phase;
	bool starts = v->group && kar_condition_is_true(&v->group->status.conditions, KAR_PG_ADMITTED);

	return p == KAR_QJ_PHASE_STARTING || p == KAR_QJ_PHASE_RUNNING ||
		(starts && (p == KAR_QJ_PHASE_NONE || p == KAR_QJ_PHASE_PENDING));
}

/*
 * Are as many pods alive as the queue lets be active, and as the minimum is? Then none is created, but what the own minimum of a
 * task lacks: of that the API server says whose name it is.
 */
static bool has_all_allowed(const struct queuejob_view *v)
{
	const struct kar_podgroup *g = v->group;
	int32_t min = kar_queuejob_min_available(&v->job->spec), live = 0;

	if (!g || g->deletion || !kar_same(g->owner_uid, v->job->o.uid) || !g->status.has_desired)
		return false;
	for (size_t i = 0; i < v->n_pods; i++)
		live += !kar_pod_lost(v->pods[i]) && !kar_pod_finished(v->pods[i]);
	return live >= min && live >= g->status.desired;
}

/* A look at every name costs; it is only taken while some are missing. */
static void observe_blocking(const struct kar_stores *stores, struct kar_arena *arena,
	struct queuejob_view *v)
{
	struct pods blocking = { 0 };

	if (!creates_pods(v) || v->n_pods >= (size_t)kar_queuejob_total(&v->job->spec) || has_all_allowed(v))
		return;
	for (size_t i = 0; i < v->job->spec.n_tasks; i++)
		observe_task_blockers(stores, v->job, i, arena, &blocking);
	v->blocking = blocking.items;
	v->n_blocking = blocking.n;
}

/* --- the view ------------------------------------------------------------------------------------ */

static void observe_refusal(const struct kar_sync *s, struct kar_arena *arena, struct queuejob_view *v)
{
	const struct kar_refusal *r = kar_refusal_of(s);

	if (!r)
		return;
	v->refused = &r->err;
	v->refused_what = kar_arena_printf(arena, "%s %s", r->type->res.plural, r->name);
	v->refusal_stands = !r->trying;
	v->stands_behind = r->place && !kar_quota_place_is_head(r->place);
	v->refused_extra = r->tier == KAR_TIER_EXTRA;
	v->refused_for = s->mono - r->since;
	v->taken_back = r->taken_back;
}

static void observe_quotas(const struct kar_stores *stores, struct queuejob_view *v)
{
	struct kar_iter it =
		kar_store_by_index(stores->resourcequotas, KAR_RESOURCEQUOTA_BY_NAMESPACE, v->job->o.ns);
	const struct kar_object *o;

	while (kar_iter_next(&it, &o)) {
		const struct kar_resourcequota *q = kar_as_resourcequota(o);

		v->quota.limits_pods |= q->limits_pods;
		if (q->pods < 0 || (v->quota.name && q->pods >= v->quota.pods))
			continue;
		v->quota.pods = q->pods;
		v->quota.name = q->o.name;
	}
}

static void observe_owner_check(const struct kar_sync *s, struct queuejob_view *v)
{
	const struct kar_key_state *state = s->state;

	v->owner_checked = state->owner_checked == queuejob_incarnation(v) &&
		state->owner_uid == kar_hash_str(1, v->job->o.uid);
	v->latest = state->owner_latest && state->owner_latest == v->job->o.rv;
	v->latest_pods = state->owner_latest_pods;
	if (state->owner_asked && s->mono - state->owner_asked < OWNER_CHECK_INTERVAL)
		v->owner_check_in = state->owner_asked + OWNER_CHECK_INTERVAL - s->mono;
}

/* Suspended, or told by its queue to wait. (Before that it waits for us.) */
static bool job_waits(const struct queuejob_view *v)
{
	enum kar_qj_phase p = v->job->status.phase;
	const struct kar_condition *c;

	if (v->job->spec.suspend)
		return true;
	if (!v->group || !kar_same(v->group->owner_uid, v->job->o.uid) ||
		(p != KAR_QJ_PHASE_NONE && p != KAR_QJ_PHASE_PENDING))
		return false;
	c = kar_condition_find(&v->group->status.conditions, KAR_PG_ADMITTED);
	return c && c->status != KAR_COND_TRUE;
}

struct kar_rank queuejob_node_rank(const struct queuejob_view *v)
{
	return (struct kar_rank){ .tier = KAR_TIER_MINIMUM,
		.priority = v->priority,
		.age = v->job->creation };
}

static void observe_nodes(const struct kar_sync *s, struct queuejob_view *v)
{
	const struct kar_rank rank = queuejob_node_rank(v);

	if (s->controller->nodes)
		v->nodes = kar_node_line_look(s->controller->nodes, s->state->nodes, s->key, &rank,
			v->job->status.schedule_timeouts, s->mono);
}

static void observe_service(const struct kar_stores *stores, const struct kar_sync *s,
	struct kar_arena *arena, struct queuejob_view *v)
{
	const struct kar_object *o = kar_store_get(stores->services, v->job->o.ns, v->job->o.name);
	struct queuejob_memory *m = queuejob_recall(s);

	v->service = o ? kar_as_service(o) : NULL;
	if (!m || !m->service[0])
		return;
	if (!v->service)
		v->hidden_service = kar_keep(arena, m->service);
	m->service[0] = '\0'; /* for one try: it may be gone */
}

bool queuejob_observe(const struct kar_stores *stores, const struct kar_sync *s, struct kar_arena *arena,
	struct queuejob_view *v)
{
	char buf[KAR_KEY_LEN];
	const char *ns, *name;
	const struct kar_object *o;

	*v = (struct queuejob_view){ 0 };
	kar_key_split(s->key, buf, &ns, &name);
	v->job = s->object ? kar_as_queuejob(s->object) : NULL;
	observe_orphans(stores, s, arena, v);
	if (!v->job)
		return v->n_orphans > 0;
	o = kar_store_get(stores->schedulingspecs, ns, name);
	v->sched = o ? kar_as_schedulingspec(o) : NULL;
	o = kar_store_get(stores->podgroups, ns, name);
	v->group = o ? kar_as_podgroup(o) : NULL;
	v->pods_version = kar_store_rv(stores->pods);
	v->jobs_version = kar_store_rv(stores->queuejobs);
	observe_own(stores, arena, v);
	observe_blocking(stores, arena, v);
	observe_priority(stores, v);
	observe_task_priorities(stores, arena, v);
	observe_refusal(s, arena, v);
	observe_quotas(stores, v);
	observe_owner_check(s, v);
	observe_nodes(s, v);
	observe_service(stores, s, arena, v);
	v->check = queuejob_check_of(s, job_waits(v));
	return true;
}
