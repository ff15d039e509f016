#include "controllers/queuejob/observe.h"
#include "controllers/cluster/asked.h"
#include "controllers/cluster/flavors.h"
#include "controllers/cluster/unit.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/str.h"
#include "controllers/queuejob/memory.h"
#include "controllers/podset/podset.h"
#include "controllers/runtime/create_backoff.h"
#include "controllers/cluster/stores.h"

enum { OWNER_CHECK_INTERVAL = 1000 }; /* ms between two reads of a job from the API server */

static int compare_pods(const void *a, const void *b)
{
	const struct kar_pod *const *x = a, *const *y = b;

	return strcmp((*x)->o.name, (*y)->o.name);
}

/* Decisions must not depend on the order of a hash table. */
static void sort(struct podset_pods *list)
{
	if (list->n)
		qsort(list->items, list->n, sizeof(const struct kar_pod *), compare_pods);
}

/* --- priority ------------------------------------------------------------------------------------ */

/* The highest class of the templates; NULL: none has one. Notes one that does not exist. */
static const struct kar_priorityclass *highest_of_templates(const struct kar_stores *stores,
	struct queuejob_view *v)
{
	const struct kar_priorityclass *highest = NULL;

	for (size_t i = 0; i < v->job->spec.n_tasks; i++) {
		const struct kar_taskspec *t = &v->job->spec.tasks[i];
		const struct kar_priorityclass *class =
			kar_stores_priorityclass(stores, t->template_priority_class);

		if (class && (!highest || class->value > highest->value))
			highest = class;
		if (!class && kar_has_text(t->template_priority_class) && t->replicas > 0)
			v->missing_class = t->template_priority_class;
	}
	return highest;
}

static void observe_priority(const struct kar_stores *stores, struct queuejob_view *v)
{
	const struct kar_schedspec *s = &v->job->spec.sched;
	const struct kar_priorityclass *class = kar_stores_priorityclass(stores, s->priority_class_name);
	const struct kar_priorityclass *highest = highest_of_templates(stores, v);

	v->priority_class = s->priority_class_name;
	if (kar_has_text(s->priority_class_name) && !class && !s->has_priority)
		v->missing_class = s->priority_class_name;
	else if (!kar_has_text(s->priority_class_name))
		class = highest;
	if (class)
		v->priority_class = class->o.name;
	v->priority_class_missing = v->missing_class != NULL;
	if (s->has_priority)
		v->priority = s->priority;
	else if (class)
		v->priority = class->value;
	else if (!v->priority_class_missing)
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
	return job && kar_streq(pod->owner_uid, job->o.uid);
}

static void observe_own(const struct kar_stores *stores, struct kar_arena *arena, struct queuejob_view *v)
{
	struct kar_iter it = kar_store_by_index(stores->pods, KAR_POD_BY_OWNER, v->job->o.uid);
	const struct kar_object *o;
	struct podset_pods own = { 0 };

	while (kar_iter_next(&it, &o)) {
		if (kar_streq(o->ns, v->job->o.ns))
			podset_append(&own, kar_as_pod(o), arena);
	}
	sort(&own);
	v->pods = own.items;
	v->n_pods = own.n;
}

/*
 * Is the pod unowned, so that its finalizer must be removed? Its job is gone (another job may have got the name since), or somebody
 * removed its ownerReference. While the job of the name exists, a pod without ownerReference keeps the finalizer until it has ended
 * or is being deleted.
 */
static bool is_orphan(const struct kar_pod *pod, const struct kar_queuejob *job)
{
	if (!pod->tracked || is_own(pod, job))
		return false;
	return !job || pod->owner_uid || job->deletion || pod->deletion || kar_pod_finished(pod);
}

/* Somebody removed the label of these pods, or set it to another group; only their ownerReference still names the job. */
static void observe_unlabelled(const struct kar_stores *stores, const char *ns, const char *name,
	const struct kar_queuejob *job, struct kar_arena *arena, struct podset_pods *orphans)
{
	struct kar_iter it = kar_store_by_index(stores->pods, KAR_POD_BY_UNLABELLED, name);
	const struct kar_object *o;

	while (kar_iter_next(&it, &o)) {
		if (kar_streq(o->ns, ns) && is_orphan(kar_as_pod(o), job))
			podset_append(orphans, kar_as_pod(o), arena);
	}
}

/* A pod without label and ownerReference names no job, so it has a key of its own. */
static void observe_unreferenced(const struct kar_stores *stores, const char *ns, const char *name,
	const struct kar_queuejob *job, struct kar_arena *arena, struct podset_pods *orphans)
{
	const struct kar_object *o = kar_store_get(stores->pods, ns, name);
	const struct kar_pod *pod = o ? kar_as_pod(o) : NULL;

	if (pod && kar_pod_is_unreferenced(pod) && is_orphan(pod, job))
		podset_append(orphans, pod, arena);
}

static void observe_orphans(const struct kar_stores *stores, const struct kar_sync *s,
	struct kar_arena *arena, struct queuejob_view *v)
{
	/* The label of our pods names their PodGroup, which has the name of the job. */
	struct kar_iter it = kar_store_by_index(stores->pods, KAR_POD_BY_GROUP, s->key);
	char buf[KAR_KEY_LEN];
	const char *ns, *name;
	const struct kar_object *o;
	struct podset_pods orphans = { 0 };

	while (kar_iter_next(&it, &o)) {
		if (!kar_as_pod(o)->outside_group && is_orphan(kar_as_pod(o), v->job))
			podset_append(&orphans, kar_as_pod(o), arena);
	}
	kar_key_split(s->key, buf, &ns, &name);
	observe_unlabelled(stores, ns, name, v->job, arena, &orphans);
	observe_unreferenced(stores, ns, name, v->job, arena, &orphans);
	sort(&orphans);
	v->orphans = orphans.items;
	v->n_orphans = orphans.n;
}

static void observe_task_blockers(const struct kar_stores *stores, const struct kar_queuejob *job,
	size_t task, struct kar_arena *arena, struct podset_pods *blocking)
{
	const struct kar_taskspec *spec = &job->spec.tasks[task];
	char name[KAR_POD_NAME_LEN];

	for (int32_t i = 0; i < spec->replicas && i < KAR_QJ_MAX_PODS; i++) {
		kar_queuejob_pod_name(job, spec->name, i, name);

		const struct kar_object *o = kar_store_get(stores->pods, job->o.ns, name);

		if (o && !is_own(kar_as_pod(o), job))
			podset_append(blocking, kar_as_pod(o), arena);
	}
}

static bool creates_pods(const struct queuejob_view *v)
{
	enum kar_qj_phase p = v->job->status.phase;
	bool starts = v->group && kar_podgroup_admitted_by(v->group, v->queue);

	return p == KAR_QJ_PHASE_STARTING || p == KAR_QJ_PHASE_RUNNING ||
		(starts && (p == KAR_QJ_PHASE_NONE || p == KAR_QJ_PHASE_PENDING));
}

/*
 * Are as many pods alive as the queue allows, and as the minimum needs? Then only a task below its own minimum may get a pod, and the
 * API server's refusal shows if the name of that one is taken.
 */
static bool has_all_allowed(const struct queuejob_view *v)
{
	const struct kar_podgroup *g = v->group;
	int32_t min = kar_queuejob_min_available(&v->job->spec), live = 0;

	if (!g || g->deletion || !kar_streq(g->owner_uid, v->job->o.uid) || !g->status.has_desired)
		return false;
	for (size_t i = 0; i < v->n_pods; i++)
		live += !kar_pod_lost(v->pods[i]) && !kar_pod_finished(v->pods[i]);
	return live >= min && live >= g->status.desired;
}

/* One lookup per name is expensive, so it is made only while pods are missing. */
static void observe_blocking(const struct kar_stores *stores, struct kar_arena *arena,
	struct queuejob_view *v)
{
	struct podset_pods blocking = { 0 };

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
	const struct kar_create_backoff *r = kar_create_backoff_of(s);

	if (!r)
		return;
	v->refused = &r->err;
	v->refused_type = r->type;
	v->refused_what = kar_arena_printf(arena, "%s %s", r->type->res.plural, r->name);
	v->refusal_stands = !r->trying;
	v->refused_extra = r->tier == KAR_TIER_EXTRA;
	v->rolled_back = r->rolled_back;
}

static void observe_quotas(const struct kar_stores *stores, struct queuejob_view *v)
{
	struct kar_iter it =
		kar_store_by_index(stores->resourcequotas, KAR_RESOURCEQUOTA_BY_NAMESPACE, v->job->o.ns);
	const struct kar_object *o;

	while (kar_iter_next(&it, &o))
		v->quota_limits_pods |= kar_as_resourcequota(o)->limits_pods;
}

static void observe_owner_check(const struct kar_sync *s, struct queuejob_view *v)
{
	const struct queuejob_key *state = queuejob_key(s);

	v->owner_checked = state->owner_checked == queuejob_incarnation(v) &&
		state->owner_uid == kar_hash_str(1, v->job->o.uid);
	v->latest = state->owner_latest && state->owner_latest == v->job->o.rv;
	v->latest_pods = state->owner_latest_pods;
	if (state->owner_asked && s->mono - state->owner_asked < OWNER_CHECK_INTERVAL)
		v->owner_check_in = state->owner_asked + OWNER_CHECK_INTERVAL - s->mono;
}

bool queuejob_waits(const struct kar_stores *stores, const struct kar_sync *s)
{
	const struct kar_queuejob *job = s->object ? kar_as_queuejob(s->object) : NULL;
	const struct kar_podgroup *group;
	const struct kar_object *o;
	const struct kar_condition *c;

	if (!job)
		return false;
	if (job->spec.suspend)
		return true;
	o = kar_store_get(stores->podgroups, job->o.ns, job->o.name);
	group = o ? kar_as_podgroup(o) : NULL;
	if (!group || !kar_streq(group->owner_uid, job->o.uid))
		return kar_queuejob_follows(job);
	if ((job->status.phase != KAR_QJ_PHASE_NONE && job->status.phase != KAR_QJ_PHASE_PENDING))
		return false;
	c = kar_condition_find(&group->status.conditions, KAR_PG_ADMITTED);
	return c && c->status != KAR_COND_TRUE;
}

static void observe_memory(const struct kar_stores *stores, const struct kar_sync *s, struct queuejob_view *v)
{
	const struct queuejob_key *memory = queuejob_key(s);

	v->check = queuejob_check_of(memory->job, s->mono);
	queuejob_share_check(stores->templates, s, &v->check);
	v->mark_refused = memory->mark_refused && s->mono - memory->mark_refused < KAR_MARK_AGAIN;
	v->native.exists = memory->native_uid == kar_hash_str(1, v->job->o.uid);
	v->native.min_count = v->native.exists ? memory->native_min : 0;
}

static bool pods_are_unreadable(const struct kar_pod *const *pods, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (pods[i]->o.unreadable)
			return true;
	}
	return false;
}

bool queuejob_view_is_unreadable(const struct queuejob_view *v)
{
	return (v->job && v->job->o.unreadable) || (v->group && v->group->o.unreadable) ||
		(v->sched && v->sched->o.unreadable) || (v->service && v->service->o.unreadable) ||
		pods_are_unreadable(v->pods, v->n_pods) || pods_are_unreadable(v->orphans, v->n_orphans);
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
	v->flavor = v->group ? kar_flavor_named(stores->flavors, v->group->status.flavor) : NULL;
	v->unit_waits = v->job && v->group && v->job->spec.sched.gang_groups.n &&
		kar_unit_of(stores, v->group, arena).waits;
	o = kar_store_get(stores->services, ns, name);
	v->service = o ? kar_as_service(o) : NULL;
	v->queue = kar_asked_queue_of_job(stores, v->job);
	kar_asked_path(stores, v->queue, v->queues);
	v->pods_version = kar_store_rv(stores->pods);
	v->jobs_version = kar_store_rv(stores->queuejobs);
	queuejob_observe_after(stores, arena, v);
	observe_own(stores, arena, v);
	observe_blocking(stores, arena, v);
	observe_priority(stores, v);
	observe_task_priorities(stores, arena, v);
	observe_refusal(s, arena, v);
	observe_quotas(stores, v);
	observe_owner_check(s, v);
	observe_memory(stores, s, v);
	return true;
}
