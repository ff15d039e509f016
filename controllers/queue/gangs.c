/* The pods of a workload as the pass sees them: those that it has, and those that it lacks. Where they are: seats.c. */
#include <assert.h>

#include "controllers/queue/making.h"

#include "api/names.h"
#include "api/podgroup/pg_members.h"
#include "common/base/str.h"
#include "controllers/cluster/owner.h"
#include "controllers/queue/backend.h"
#include "controllers/queue/doubts.h"

/* --- whose pods are placed ------------------------------------------------------------------------- */

/* Workloads whose pods are created bound are never left to anybody else. */
static bool is_placeable(const struct making *m)
{
	for (size_t i = 0; i < m->roles.n; i++) {
		if (!m->roles.items[i].needs ||
			!kar_streq(m->roles.items[i].scheduler, KAR_DEFAULT_SCHEDULER))
			return false;
	}
	return m->roles.n && m->qg->workload->minimum > 0;
}

/* --- what is there --------------------------------------------------------------------------------- */

/* A quota lets no pod of a role in, whatever it has room for; or nobody knows yet what it has room for. */
static void check_templates(struct making *m)
{
	for (size_t i = 0; i < m->roles.n; i++) {
		const struct queue_charges *c =
			queue_quota_of_role(m->p->quota, m->owner->ns, &m->roles.items[i]);
		const char *why = c ? queue_charges_problem(c, m->roles.items[i].name, m->arena) : NULL;

		if (why)
			queue_refuse(m->in, KAR_QR_QUOTA_INVALID_TEMPLATE, why);
		if (c && c->unknown)
			queue_refuse(m->in, KAR_QR_QUOTA_EXCEEDED,
				kar_arena_printf(m->arena, "quota %s is not computed yet", c->unknown));
	}
}

/* Nobody sees all of its pods, so a part of it would start. */
static void check_schedulers(struct making *m)
{
	const char *why = m->kind->why_mixed(m->owner, m->arena);

	if (why)
		queue_refuse(m->in, KAR_QR_UNSUPPORTED, why);
}

/* The job starts anew when all of its old pods are gone, and nobody knows when that will be: no room is kept for it. */
static void check_overdue(struct making *m)
{
	assert(!m->qg->admitted);
	if (!m->overdue)
		return;
	queue_refuse(m->in, KAR_QR_WAITING_FOR_TERMINATION,
		kar_arena_printf(m->arena,
			"pod %s%s%s should be gone, and is not (node lost?): restore the node, or delete the pod by force",
			m->overdue->o.name, m->overdue->node ? " on node " : "",
			m->overdue->node ? m->overdue->node : ""));
	m->p->groups[m->qg - m->p->groups].waits_for_pods = true;
}

/* --- the group -------------------------------------------------------------------------------------- */

static struct making new_making(struct queue_pass *p, uint32_t i)
{
	struct making m = { .p = p,
		.qg = &p->groups[i],
		.in = &p->in[i],
		.group = p->groups[i].group,
		.owner = p->groups[i].owner,
		.kind = kar_owner_kind(p->groups[i].owner),
		.arena = p->arena,
		.runs = { .arena = p->arena } };
	struct kar_roles *roles = kar_arena_alloc(m.arena, 1, sizeof(*roles));
	size_t n;

	queue_find_roles(&m);
	*roles = m.roles;
	p->groups[i].roles = roles;
	for (size_t k = 0; k < roles->n; k++) {
		if (roles->items[k].replicas && !roles->items[k].asks_for)
			kar_topology_wishes_add(&m.wishes, roles->items[k].topology);
	}
	n = roles->n + 1;
	m.seats = kar_arena_alloc(m.arena, n, sizeof(*m.seats));
	m.stored = kar_arena_alloc(m.arena, n, sizeof(*m.stored));
	m.running = kar_arena_alloc(m.arena, n, sizeof(*m.running));
	m.pending = kar_arena_alloc(m.arena, n, sizeof(*m.pending));
	return m;
}

/* What the API server has may be another thing soon. */
static void choose_backend(struct making *m, struct queue_gang *out)
{
	const struct kar_topology_ask ask = queue_topology_asked(m->p, m->qg, &m->wishes);
	const struct queue_backend b = queue_choose_backend(m->p->settings, m->group, &ask, m->qg->workload,
		&m->roles, m->live > 0, m->arena);

	out->backend = b.backend;
	if (!b.unavailable)
		return;
	queue_refuse(m->in, KAR_QR_BACKEND_UNAVAILABLE,
		kar_arena_printf(m->arena, "backend %s was asked for: %s", kar_pg_backend_name(b.backend),
			b.unavailable));
	queue_come_again(m->p, kar_native_interval(m->p->settings));
}

/* How the places of its runs are recorded. */
static void describe(struct making *m, struct queue_gang *out)
{
	const char **tasks = kar_arena_alloc(m->arena, m->runs.n + 1, sizeof(char *)),
		   **names = kar_arena_alloc(m->arena, m->runs.n + 1, sizeof(char *));
	bool *unverified = kar_arena_alloc(m->arena, m->runs.n + 1, sizeof(*unverified));
	const struct kar_sched *sched = kar_snapshot_sched(m->p->stores->snapshot);

	for (uint32_t i = 0; i < m->runs.n; i++) {
		names[i] = m->roles.items[m->role_of[i]].name;
		tasks[i] = m->roles.items[m->role_of[i]].started ? names[i] : NULL;
		unverified[i] = kar_sched_unverified(sched, m->runs.items[i].class) != NULL;
		m->in->unverified |= unverified[i];
	}
	out->tasks = tasks;
	out->unverified = unverified;
	out->doubts = queue_doubts(m->p, &m->runs, unverified, names);
	out->n_runs = m->runs.n;
	m->in->run_names = names;
}

/* Whether the pass finds places for it; then how they are recorded. */
static struct queue_gang *make_gang(struct making *m, bool known)
{
	bool direct = m->kind->is_direct(m->owner, m->p->served);
	struct queue_gang *out;
	const char *obstacle;

	m->in->no_provisioning = m->in->created_bound = direct;
	if (!m->p->nodes || !kar_pg_keeps_placement(m->group) || !(direct || is_placeable(m)))
		return NULL;
	obstacle = m->kind->why_not_direct(m->owner, m->p->served, m->arena);
	if (obstacle && !m->qg->admitted)
		queue_refuse(m->in, KAR_QR_UNSUPPORTED, obstacle);
	if (obstacle || !known)
		return NULL;
	out = kar_arena_alloc(m->arena, 1, sizeof(*out));
	out->direct = direct;
	out->backend = direct ? KAR_PG_BACKEND_DIRECT : KAR_PG_BACKEND_GATES;
	return out;
}

static void place_admitted(struct making *m, struct queue_gang *out)
{
	enum kar_pg_state state = m->group->status.placement.state;

	assert(m->qg->admitted && out->n_runs == m->runs.n);
	if (state == KAR_PG_STATE_PLACED)
		queue_seat_planned(m, out);
	else if (out->direct && state == KAR_PG_STATE_SATISFIED)
		queue_renew_plan(m, out);
	else if (state == KAR_PG_STATE_ROLLING_BACK || (state == KAR_PG_STATE_UNPLACED && !m->live))
		queue_seat_nowhere(m);
}

/* ms after which pods that are to go, and that nobody stops, count as pods that stay. */
static const kar_time STOPPED_WITHIN = 10 * KAR_SECOND;

/* How many pods, in the order in which the pass keeps them, there are up to the last one that has a node; *@later: some of them are of tasks that wait. */
static int32_t last_bound(const struct making *m, bool *later)
{
	int32_t at = 0, last = 0;
	bool waits = false;

	for (uint32_t i = 0; i < m->runs.n; i++) {
		const struct kar_queue_run *run = &m->runs.items[i];
		int32_t bound = 0;

		for (uint32_t k = 0; k < run->n_seats; k++)
			bound += run->seats[k].bound ? run->seats[k].n : 0;
		if (bound) {
			last = at + bound;
			*later = waits;
		}
		waits |= !m->roles.items[m->role_of[i]].started;
		at += run->n;
	}
	return last;
}

/*
 * Pods beyond the limit that the job does not stop stay: whoever has a claim on their room gets other room, or waits without one. At once if pods of tasks that
 * wait stand before them: those cannot exist yet, so the job keeps what it has in their stead.
 */
static void keep_what_stays(struct making *m)
{
	kar_time scaled = m->group->status.last_scale_time, left = scaled + STOPPED_WITHIN - m->p->now;
	struct kar_queue_group *in = m->in;
	bool later = false;
	int32_t last = last_bound(m, &later);

	if (!m->qg->admitted || (last <= in->desired && !(later && last > in->min)))
		return;
	if (later) {
		in->min = last > in->min ? last : in->min;
		in->desired = last > in->desired ? last : in->desired;
	} else if (left > 0) {
		queue_come_again(m->p, left);
	} else if (scaled && !in->n_leaving) {
		in->desired = last;
	}
}

/*
 * The minimum as it would be made anew: results of pods of the old templates do not count then. Where nothing runs on there is nothing
 * to wait for: that asks for nothing.
 */
static void observe_edit(struct making *m)
{
	const struct kar_workload *w = m->qg->workload;
	struct queue_runs runs = { .arena = m->arena };

	assert(m->classes);
	if (!w->edited || !m->qg->recorded)
		return;
	for (size_t i = 0; i < m->roles.n && m->live; i++) {
		const struct kar_workload_role *r = &m->roles.items[i];
		int32_t n = (int32_t)kar_clamp((int64_t)r->need + (r->need ? r->n_done : 0), 0, r->replicas);

		if (!n)
			continue;
		queue_run_add(&runs, m->classes[i], n, queue_quota_of_role(m->p->quota, m->owner->ns, r));
		runs.items[runs.n - 1].ask = r->ask;
	}
	m->in->edit = kar_podgroup_has_let_in(m->group, w->generation) ? KAR_QUEUE_EDIT_COMES
								       : KAR_QUEUE_EDIT_WAITS;
	m->in->edited = runs.items;
	m->in->n_edited = runs.n;
}

static void finish(struct making *m)
{
	struct kar_queue_group *in = m->in;
	const struct kar_podgroup_status *st = &m->group->status;
	int32_t left = queue_runs_pods(&m->runs);

	if (left && !in->min)
		in->min = 1;
	queue_runs_give(&m->runs, in);
	in->desired = st->has_desired ? kar_podgroup_allows(m->group, m->qg->workload->pods, left) : left;
	/* It is adopted with the pods that it has: what it lacks is asked of the queue, as if its owner had made it larger. */
	if (m->qg->admitted && !m->qg->recorded && m->live < in->desired)
		in->desired = (int32_t)m->live;
	if (in->desired < in->min &&
		m->let_go > in->desired) /* its minimum was raised: what has started for it counts */
		in->desired = (int32_t)kar_clamp(m->let_go, 0, left);
	keep_what_stays(m);
	assert(in->min <= left && in->desired <= left);
	in->elastic = left > in->min || in->desired < in->min;
	observe_edit(m);
	in->released = m->let_go > 0 || st->placement.state != KAR_PG_STATE_PLACED;
}

/* What the owner of the group controls goes with it, or is stopped. Other pods that name the group may run on: they use what they use. */
static bool must_go(const struct kar_podgroup *g, const struct kar_pod *pod)
{
	return pod->deletion || (g->owner_uid && kar_streq(pod->owner_uid, g->owner_uid));
}

void queue_observe_leaving(struct queue_pass *p, uint32_t i)
{
	struct queue_runs runs = { .arena = p->arena };
	const struct kar_object *o;
	char key[KAR_KEY_LEN];

	kar_object_key(&p->groups[i].group->o, key);
	for (struct kar_iter it = kar_store_by_index(p->stores->pods, KAR_POD_BY_GROUP, key);
		kar_iter_next(&it, &o);) {
		const struct kar_pod *pod = kar_as_pod(o);

		if (kar_pod_finished(pod) || !pod->node || !pod->needs || !must_go(p->groups[i].group, pod))
			continue;
		queue_owns(p, pod);
		if (queue_is_overdue(p, pod))
			continue;
		queue_quota_owns(p->quota, pod);
		queue_leaving_add(&runs,
			&(struct kar_queue_leaving){ .node = pod->node,
				.class = kar_needs_class_of_pod(p->stores, pod),
				.n = 1,
				.deletion = pod->deletion },
			queue_quota_of_pod(p->quota, pod));
	}
	queue_runs_give(&runs, &p->in[i]);
}

/* It has no place, and its pods stop. */
static void let_all_go(struct making *m)
{
	for (size_t i = 0; i < m->roles.n; i++)
		queue_let_go(m, i);
}

static bool has_bound_pods(const struct making *m)
{
	bool any = false;

	for (size_t i = 0; i < m->roles.n; i++)
		any |= m->seats[i].n > 0;
	return any;
}

/* Its group was made again, and its pods are there already: it is admitted as it is. */
static bool is_adopted(const struct making *m)
{
	/* Only a job that has started has such pods: before that, somebody else has made them to get past the queue. */
	return m->live > 0 && m->qg->workload->begun &&
		!kar_condition_find(&m->group->status.conditions, KAR_PG_ADMITTED);
}

/* Its pods would start anywhere. */
static void check_together(struct making *m, uint32_t i)
{
	const char *why = m->qg->admitted
		? NULL
		: queue_why_not_together(m->p, i, &m->wishes, QUEUE_NOT_BY_ITS_SCHEDULER);

	if (why)
		queue_refuse(m->in, KAR_QR_UNSUPPORTED, why);
}

void queue_observe_gang(struct queue_pass *p, uint32_t i)
{
	struct making m = new_making(p, i);
	bool known = queue_find_classes(&m), bound;
	struct queue_gang *out;

	queue_count_pods(&m);
	bound = has_bound_pods(&m);
	p->groups[i].taken_back =
		m.qg->admitted && (queue_is_refused_at_its_start(&m) || queue_is_edited_at_its_start(&m));
	p->groups[i].admitted = (m.qg->admitted || is_adopted(&m)) && !m.qg->taken_back;
	if (!m.qg->admitted) /* as they are stored; what comes in their stead is as the template says */
		let_all_go(&m);
	queue_add_runs(&m);
	if (m.qg->admitted)
		queue_seat_bound(&m);
	if (!m.qg->admitted) {
		check_schedulers(&m);
		check_templates(&m);
		queue_check_accepted(&m);
		check_overdue(&m);
	}
	out = make_gang(&m, known);
	if (out) {
		/*
		 * Whoever admits a new job gives it places: this was not us, or the job was nobody's to place then. One that has started may be
		 * without places, as one that ran before queues placed anything.
		 */
		if (!m.live && !m.qg->workload->begun && m.group->status.placement.state == KAR_PG_STATE_NONE)
			p->groups[i].admitted = false;
		/* Nor does it take room from others before it has pods on nodes: no pass has looked whether there is any. */
		m.in->provisioned = !bound && m.group->status.placement.state == KAR_PG_STATE_NONE;
		m.in->no_provisioning |= m.in->provisioned && m.qg->admitted; /* nor does it wait for nodes */
		queue_fill_gang(p, i, out);
		describe(&m, out);
		if (m.qg->admitted)
			place_admitted(&m, out);
		else if (!out->direct)
			choose_backend(&m, out);
	}
	for (uint32_t k = 0; k < m.runs.n; k++)
		m.runs.items[k].ask = m.roles.items[m.role_of[k]].ask;
	if (out)
		queue_ask_topology(p, i, &m.wishes, out);
	else
		check_together(&m, i);
	m.in->no_node_check = !out;
	p->groups[i].gang = out;
	finish(&m);
}
