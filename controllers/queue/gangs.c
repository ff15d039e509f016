/* What a pass places: the pods that a QueueJob must start with, or lacks. */
#include "controllers/queue/pass.h"

#include "api/pg_members.h"
#include "api/intervals.h"
#include "api/pg_plan.h"
#include "api/pod_needs.h"
#include "api/queuejob_direct.h"
#include "api/queuejob_gang.h"
#include "common/str.h"
#include "controllers/queue/backend.h"

/* One job while its gang is made. */
struct making {
	struct queue_pass *p;
	const struct kar_podgroup *group;
	const struct kar_queuejob *job;
	struct kar_arena *arena;
	int32_t *have;      /* per task: pods that need no place any more */
	kar_class *classes; /* per task */
};

bool queue_waits_for_places(const struct kar_podgroup *g)
{
	return g->status.placement.state == KAR_PG_STATE_WAITING ||
		g->status.placement.state == KAR_PG_STATE_DEACTIVATED;
}

/* --- whose pods are placed ------------------------------------------------------------------------- */

/* Jobs whose pods are created bound are never left to anybody else. */
static bool is_placeable(const struct kar_queuejob *job)
{
	for (size_t i = 0; i < job->spec.n_tasks; i++) {
		if (!job->spec.tasks[i].needs ||
			!kar_streq(kar_queuejob_scheduler(job, i), "default-scheduler"))
			return false;
	}
	return job->spec.n_tasks && kar_queuejob_min_available(&job->spec) > 0;
}

/* --- classes --------------------------------------------------------------------------------------- */

/* The class of the template's needs with the node selector of the job, which its pods get as well (api/queuejob_pod.c). */
static kar_class class_with_selector(const struct making *m, const char *text)
{
	const struct kar_array *own = &m->job->spec.sched.node_selector;
	const struct kar_pair *pairs = own->items;
	struct kar_pod_needs needs;
	struct kar_sched_label *all;
	kar_class class;

	if (kar_pod_needs_parse(text, m->arena, &needs, NULL))
		return 0;
	all = kar_arena_alloc(m->arena, needs.n_selector + own->n, sizeof(*all));
	for (uint32_t i = 0; i < needs.n_selector; i++)
		all[i] = needs.selector[i];
	for (size_t i = 0; i < own->n; i++)
		all[needs.n_selector++] = (struct kar_sched_label){ pairs[i].key, pairs[i].value };
	needs.selector = all;
	class = kar_sched_class(kar_snapshot_sched(m->p->nodes), &needs);
	m->p->classes = kar_arena_grow(m->arena, m->p->classes, m->p->n_classes, sizeof(*m->p->classes));
	m->p->classes[m->p->n_classes++] = class;
	return class;
}

void queue_forget_classes(struct queue_pass *p)
{
	for (size_t i = 0; i < p->n_classes; i++)
		kar_sched_class_put(kar_snapshot_sched(p->nodes), p->classes[i]);
	p->n_classes = 0;
}

static bool find_classes(struct making *m)
{
	m->classes = kar_arena_alloc(m->arena, m->job->spec.n_tasks, sizeof(*m->classes));
	for (size_t i = 0; i < m->job->spec.n_tasks; i++) {
		const struct kar_taskspec *t = &m->job->spec.tasks[i];

		m->classes[i] = m->job->spec.sched.node_selector.n
			? class_with_selector(m, t->needs)
			: kar_snapshot_class_of(m->p->nodes, t->needs);
		if (!m->classes[i])
			return false;
	}
	return true;
}

/* --- what is there --------------------------------------------------------------------------------- */

/* KAR_NO_TASK: it is of none. */
static size_t task_of(const struct making *m, const struct kar_pod *pod)
{
	size_t task;
	int32_t index;

	return kar_streq(pod->owner_uid, m->job->o.uid) &&
			kar_queuejob_pod_index(m->job, pod->o.name, &task, &index)
		? task
		: KAR_NO_TASK;
}

static struct kar_iter pods_of(const struct making *m)
{
	char key[KAR_KEY_LEN];

	return kar_store_by_index(m->p->stores->pods, KAR_POD_BY_GROUP, kar_object_key(&m->group->o, key));
}

static void count_done(struct making *m)
{
	m->have = kar_arena_alloc(m->arena, m->job->spec.n_tasks, sizeof(*m->have));
	for (size_t i = 0; i < m->job->spec.n_tasks; i++)
		m->have[i] = kar_queuejob_done(m->job, i);
}

/* Returns how many live pods it has. */
static size_t count_pods(struct making *m)
{
	const struct kar_object *o;
	size_t live = 0;

	count_done(m);
	for (struct kar_iter it = pods_of(m); kar_iter_next(&it, &o);) {
		const struct kar_pod *pod = kar_as_pod(o);
		size_t task = kar_pod_alive(pod) ? task_of(m, pod) : KAR_NO_TASK;

		if (task == KAR_NO_TASK)
			continue;
		live++;
		m->have[task] += pod->node != NULL;
	}
	return live;
}

/* --- an admitted gang ------------------------------------------------------------------------------ */

/* What the plan names no node for is looked for again by each pass, and is in @roles then. */
static void hold_seats(struct making *m, struct queue_gang *out, size_t task, struct kar_pg_seats *seats,
	struct kar_role *roles)
{
	struct queue_seat *held;
	const struct kar_object *o;

	for (struct kar_iter it = pods_of(m); kar_iter_next(&it, &o);) {
		const struct kar_pod *pod = kar_as_pod(o);

		if (pod->node && task_of(m, pod) == task && !kar_pg_seats_take(seats, pod->node))
			kar_pg_seats_take(seats, ""); /* it has its place now, or had it */
	}
	for (size_t i = 0; i < seats->n; i++) {
		if (!seats->items[i].n)
			continue;
		if (!seats->items[i].node[0]) {
			roles[out->gang.n_roles++] =
				(struct kar_role){ .class = m->classes[task], .need = seats->items[i].n };
			continue;
		}
		held = kar_arena_grow(m->arena, (void *)(uintptr_t)out->held, out->n_held, sizeof(*held));
		held[out->n_held++] =
			(struct queue_seat){ seats->items[i].node, m->classes[task], seats->items[i].n };
		out->held = held;
	}
}

static void hold_plan(struct making *m, struct queue_gang *out)
{
	struct kar_role *roles = kar_arena_alloc(m->arena, m->job->spec.n_tasks, sizeof(*roles));

	out->gang.roles = roles;
	for (size_t i = 0; i < m->job->spec.n_tasks; i++) {
		struct kar_pg_seats seats =
			kar_pg_plan_seats(&m->group->status.placement, m->job->spec.tasks[i].name, m->arena);

		if (seats.n)
			hold_seats(m, out, i, &seats, roles);
	}
}

bool queue_is_whole(const struct kar_podgroup *g)
{
	enum kar_pg_state state = g->status.placement.state;

	return (state == KAR_PG_STATE_SATISFIED || state == KAR_PG_STATE_NONE) &&
		kar_condition_is_true(&g->status.conditions, KAR_PG_SCHEDULED);
}

/* --- the gang -------------------------------------------------------------------------------------- */

static const int32_t *priorities(const struct making *m)
{
	int32_t *all = kar_arena_alloc(m->arena, m->job->spec.n_tasks, sizeof(*all));

	for (size_t i = 0; i < m->job->spec.n_tasks; i++) {
		const struct kar_taskspec *t = &m->job->spec.tasks[i];
		const struct kar_priorityclass *class =
			kar_stores_priorityclass(m->p->stores, t->template_priority_class);

		all[i] = t->has_priority ? t->priority : class ? class->value : 0;
	}
	return all;
}

static int32_t most_extras(const struct kar_podgroup *g)
{
	int32_t min = g->spec.min_member;

	if (!g->status.has_desired)
		return INT32_MAX;
	return g->status.desired > min ? g->status.desired - min : 0;
}

/* @most: pods beyond the needs. */
static void add_roles(struct making *m, struct queue_gang *out, int32_t most)
{
	size_t n_tasks = m->job->spec.n_tasks, n;
	struct kar_gang_role *parts = kar_arena_alloc(m->arena, n_tasks, sizeof(*parts));
	struct kar_role *roles = kar_arena_alloc(m->arena, n_tasks, sizeof(*roles));
	const char **names = kar_arena_alloc(m->arena, n_tasks, sizeof(char *));
	bool *started = kar_arena_alloc(m->arena, n_tasks, sizeof(*started));
	bool *unverified = kar_arena_alloc(m->arena, n_tasks, sizeof(*unverified));

	kar_queuejob_started(m->job, started);
	n = kar_queuejob_roles(&m->job->spec, started, m->have, priorities(m), most, parts);
	for (size_t i = 0; i < n; i++) {
		roles[i] = (struct kar_role){ .class = m->classes[parts[i].task],
			.need = parts[i].need,
			.want = parts[i].want };
		names[i] = m->job->spec.tasks[parts[i].task].name;
		unverified[i] = kar_sched_needs(kar_snapshot_sched(m->p->nodes), roles[i].class)->unverified;
	}
	out->gang = (struct kar_gang){ .roles = roles, .n_roles = (uint32_t)n };
	out->names = names;
	out->unverified = unverified;
}

void queue_fill_gang(struct queue_pass *p, const struct kar_podgroup *g, struct queue_gang *out)
{
	out->timeout = kar_podgroup_timeout(g, p->settings->schedule_timeout);
	out->deactivated = g->status.placement.state == KAR_PG_STATE_DEACTIVATED;
	out->retry_in = g->status.placement.retry_after - p->s->now;
	if (out->retry_in > 0 && out->retry_in < p->retry_in)
		p->retry_in = out->retry_in;
}

static void come_again(struct queue_pass *p, kar_time in)
{
	if (in > 0 && in < p->retry_in)
		p->retry_in = in;
}

/* --- what a gang of bound pods lacks ---------------------------------------------------------------- */

/* ms for which places are held for pods that nobody creates. */
static const kar_time RENEWED_STAYS = 30 * KAR_SECOND;
/* ms until it is looked again whether a pod of somebody else still has the name of one that is missing. */
static const kar_time LOOK_AGAIN = 30 * KAR_SECOND;

/* When the youngest pod of the job was created. */
static kar_time youngest_of(const struct making *m)
{
	const struct kar_object *o;
	kar_time youngest = 0;

	for (struct kar_iter it = pods_of(m); kar_iter_next(&it, &o);) {
		if (kar_as_pod(o)->creation > youngest)
			youngest = kar_as_pod(o)->creation;
	}
	return youngest;
}

/* A pod that has failed stays until its back-off is over; one of somebody else may have the name. One that goes is to be replaced. */
static bool name_is_in_use(const struct making *m, size_t task, int32_t index)
{
	char name[KAR_POD_NAME_LEN];
	const struct kar_object *o;

	kar_queuejob_pod_name(m->job, m->job->spec.tasks[task].name, index, name);
	o = kar_store_get(m->p->stores->pods, m->job->o.ns, name);
	if (!o)
		return false;
	if (kar_streq(kar_as_pod(o)->owner_uid, m->job->o.uid))
		return !kar_as_pod(o)->deletion;
	come_again(m->p, LOOK_AGAIN);
	return true;
}

/* What counts as there, per task, so that the rest are pods that the job creates as soon as they have places. */
static void count_names(struct making *m)
{
	m->have = kar_arena_alloc(m->arena, m->job->spec.n_tasks, sizeof(*m->have));
	for (size_t i = 0; i < m->job->spec.n_tasks; i++) {
		struct kar_intervals done = { 0 };

		if (kar_queuejob_done(m->job, i))
			kar_intervals_parse(kar_queuejob_done_indexes(m->job, i), m->arena, &done);
		for (int32_t k = 0; k < m->job->spec.tasks[i].replicas; k++)
			m->have[i] += kar_intervals_has(&done, k) || name_is_in_use(m, i, k);
	}
}

/* How many of what is beyond the needs of @gang may be active as well. */
static int32_t most_more(const struct making *m, const struct queue_gang *gang)
{
	const struct kar_podgroup_status *s = &m->group->status;
	const struct kar_object *o;
	int64_t most = s->desired;

	if (!s->has_desired)
		return INT32_MAX;
	for (struct kar_iter it = pods_of(m); kar_iter_next(&it, &o);)
		most -= kar_pod_alive(kar_as_pod(o)) && task_of(m, kar_as_pod(o)) != KAR_NO_TASK;
	for (uint32_t i = 0; i < gang->gang.n_roles; i++)
		most -= gang->gang.roles[i].need;
	return (int32_t)kar_clamp(most, 0, INT32_MAX);
}

static void hold(struct making *m, struct queue_gang *out, const struct kar_pg_seat *seat, int32_t n,
	kar_class class)
{
	struct queue_seat *held =
		kar_arena_grow(m->arena, (void *)(uintptr_t)out->held, out->n_held, sizeof(*held));

	held[out->n_held++] = (struct queue_seat){ seat->node, class, n };
	out->held = held;
}

/* Holds the places of @task for which no pod was created since the plan was written, as far as pods are missing, which are fewer then. */
static void hold_rest(struct making *m, struct queue_gang *out, size_t task, struct kar_role *missing)
{
	const struct kar_pg_placement *plan = &m->group->status.placement;
	struct kar_pg_seats seats = kar_pg_plan_seats(plan, m->job->spec.tasks[task].name, m->arena);
	const struct kar_object *o;

	for (struct kar_iter it = pods_of(m); seats.n && kar_iter_next(&it, &o);) {
		const struct kar_pod *pod = kar_as_pod(o);

		if (pod->node && pod->creation >= plan->time && task_of(m, pod) == task)
			kar_pg_seats_take(&seats, pod->node);
	}
	for (size_t i = 0; i < seats.n; i++) {
		int32_t n = (int32_t)kar_clamp(seats.items[i].n, 0, (int64_t)missing->need + missing->want);
		int32_t needed = n < missing->need ? n : missing->need;

		if (!n || !seats.items[i].node[0])
			continue;
		hold(m, out, &seats.items[i], n, missing->class);
		missing->need -= needed;
		missing->want -= n - needed;
	}
}

/* What the roles lack beyond the places of the plan. */
static int64_t hold_all(struct making *m, struct queue_gang *out)
{
	struct kar_role *roles = (void *)(uintptr_t)out->gang.roles;
	int64_t missing = 0;

	for (uint32_t i = 0; i < out->gang.n_roles; i++) {
		hold_rest(m, out, kar_queuejob_find_task(&m->job->spec, out->names[i]), &roles[i]);
		missing += roles[i].need + roles[i].want;
	}
	return missing;
}

static void free_places(struct queue_gang *out)
{
	out->n_held = 0;
	out->keeps_plan = false;
	out->ends_plan = true;
}

/*
 * Its minimum is bound; what is missing gets places, in addition to those for which pods are still to be created. A plan is younger than all
 * pods that were there before it: so its time tells which pods were created for it.
 */
static void renew_plan(struct making *m, struct queue_gang *out)
{
	const struct kar_pg_placement *plan = &m->group->status.placement;
	kar_time now = m->p->s->now, youngest = youngest_of(m), age = now - plan->time;
	int64_t missing;

	out->renews = true;
	/* No pod can be created from an impossible template; somebody edits it, or the check of it succeeds. */
	out->waits = out->retry_in > 0 || kar_condition_is_true(&m->job->status.conditions, KAR_QJ_INVALID);
	count_names(m);
	add_roles(m, out, 0);
	add_roles(m, out, most_more(m, out));
	missing = hold_all(m, out);
	out->keeps_plan = out->n_held > 0;
	out->expired = out->keeps_plan && age > RENEWED_STAYS;
	if (out->expired || (plan->n_plan && !out->keeps_plan))
		free_places(out);
	else if (out->keeps_plan)
		come_again(m->p, RENEWED_STAYS + KAR_SECOND - age);
	if (!out->keeps_plan && youngest >= now - now % KAR_SECOND && youngest < now + RENEWED_STAYS) {
		come_again(m->p, youngest + KAR_SECOND - now);
		out->waits = true;
	}
	if (!missing || out->waits || out->expired)
		out->gang.n_roles = 0;
}

/* Nothing of it is placed now: its minimum is bound, or it goes away. */
static bool needs_nothing(const struct kar_podgroup *g, bool direct)
{
	return g->status.placement.state == KAR_PG_STATE_ROLLING_BACK || (queue_is_whole(g) && !direct);
}

/* What the API server has may be another thing soon. */
static void choose_backend(struct making *m, struct queue_gang *out, bool has_pods)
{
	const struct queue_backend b =
		queue_choose_backend(m->p->settings, m->group, m->job, has_pods, m->arena);

	out->backend = b.backend;
	out->unavailable = b.unavailable;
	if (b.unavailable)
		come_again(m->p, kar_native_interval(m->p->settings));
}

const struct queue_gang *queue_observe_gang(struct queue_pass *p, const struct kar_podgroup *g,
	const struct kar_queuejob *job, bool admitted)
{
	struct making m = { .p = p, .group = g, .job = job, .arena = &p->s->arena };
	enum kar_pg_state state = g->status.placement.state;
	bool direct = kar_queuejob_is_direct(job, p->served);
	struct queue_gang *out;
	size_t live;

	if (!p->nodes || (admitted && needs_nothing(g, direct)) || !kar_pg_keeps_placement(g) ||
		!(direct || is_placeable(job)))
		return NULL;
	out = kar_arena_alloc(m.arena, 1, sizeof(*out));
	out->direct = direct;
	out->obstacle = kar_queuejob_direct_obstacle(job, p->served, m.arena);
	if (out->obstacle || !find_classes(&m))
		return out->obstacle && !admitted ? out : NULL;
	queue_fill_gang(p, g, out);
	out->backend = direct ? KAR_PG_BACKEND_DIRECT : KAR_PG_BACKEND_GATES;
	if (admitted && state == KAR_PG_STATE_PLACED) {
		hold_plan(&m, out);
		return out;
	}
	if (admitted && direct && state == KAR_PG_STATE_SATISFIED) {
		renew_plan(&m, out);
		return out;
	}
	live = count_pods(&m);
	if (!live && admitted && state == KAR_PG_STATE_UNPLACED)
		return NULL; /* nothing of it is there, and nobody knows when it comes */
	add_roles(&m, out, most_extras(g));
	if (!admitted && !direct)
		choose_backend(&m, out, live > 0);
	return out;
}
