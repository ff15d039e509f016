/* The members of a group of another controller as the pass sees them: they exist, and are gated until they get places. */
#include <assert.h>
#include <stdlib.h>

#include "api/names.h"
#include "api/podgroup/pg_hold.h"
#include "api/podgroup/pg_members.h"
#include "api/podgroup/pg_plan.h"
#include "common/base/str.h"
#include "controllers/queue/doubts.h"
#include "controllers/queue/gather.h"
#include "controllers/queue/promised.h"

static kar_class class_of(const struct gathering *m, const struct kar_pod *pod)
{
	if (m->domain.n && !pod->node)
		return kar_needs_class_within(m->p->stores, pod, &m->domain);
	return kar_needs_class_of_pod(m->p->stores, pod);
}

/* --- runs ------------------------------------------------------------------------------------------- */

static bool is_unverified(const struct gathering *m, const struct kar_pod *pod)
{
	const struct kar_sched *s = kar_snapshot_sched(m->p->stores->snapshot);

	/* One that was released and is looked at here has its pin from us (stuck.c); one that comes in its stead has none. */
	return kar_sched_unverified(s, class_of(m, pod)) || (!pod->released && kar_pg_is_unpinnable(pod));
}

/* What the API server has let in is charged whatever the queue decides: only of an admitted group it is more than what others use. */
static const struct queue_charges *charges_of(const struct gathering *m, const struct kar_pod *pod)
{
	return m->admitted ? queue_quota_of_pod(m->p->quota, pod) : NULL;
}

static bool is_like(const struct gathering *m, uint32_t run, const struct kar_pod *pod, bool unverified)
{
	const struct kar_queue_run *r = &m->runs.items[run];
	const struct queue_charges *c = charges_of(m, pod);

	return r->class == class_of(m, pod) && m->unverified[run] == unverified &&
		r->charges == (c ? c->items : NULL);
}

/* The run of pods like this one among those from number @first on; a new one if there is none. */
static uint32_t run_of(struct gathering *m, uint32_t first, const struct kar_pod *pod)
{
	bool unverified = is_unverified(m, pod);
	uint32_t i = first;

	if (m->admitted)
		queue_gather_add(m, &m->charged, pod);
	while (i < m->runs.n && !is_like(m, i, pod, unverified))
		i++;
	if (i < m->runs.n)
		return i;
	m->unverified = kar_arena_grow(m->arena, m->unverified, m->runs.n, sizeof(*m->unverified));
	m->pods = kar_arena_grow(m->arena, m->pods, m->runs.n, sizeof(*m->pods));
	m->unverified[i] = unverified;
	m->pods[i] = NULL;
	return queue_run_add(&m->runs, class_of(m, pod), 0, charges_of(m, pod));
}

/* Those who have a place, or need none: @node of each by @place_of; "": it is looked for by the pass. */
static void add_seated(struct gathering *m, const struct queue_members *of,
	const char *(*place_of)(const struct gathering *m, const struct kar_pod *pod))
{
	uint32_t first = m->runs.n;

	for (size_t i = 0; i < of->n; i++) {
		const struct kar_pod *pod = of->items[i];
		const char *node = place_of(m, pod);
		uint32_t run = run_of(m, first, pod);
		struct queue_seats seat = { 0 };

		m->runs.items[run].n++;
		if (node && !node[0])
			continue;
		queue_seat_add(&seat, node, 1, pod->node != NULL, pod->creation, m->arena);
		queue_run_seat(&m->runs, run, &seat);
	}
}

/* Of one that is released and has no node yet: that of the plan. */
static const char *node_of(const struct gathering *m, const struct kar_pod *pod)
{
	if (pod->node || !queue_planned(m, pod))
		return pod->node;
	return queue_planned_node(m, pod) ? queue_planned_node(m, pod) : "";
}

/* Members of @of from @from on, up to @to: they get places. */
static void add_some(struct gathering *m, const struct queue_members *of, size_t from, size_t to)
{
	uint32_t first = m->runs.n;

	for (size_t i = from; i < to && i < of->n; i++) {
		const struct kar_pod *pod = of->items[i];
		uint32_t run = run_of(m, first, pod);
		size_t n = (size_t)m->runs.items[run].n++;

		m->pods[run] = kar_arena_grow(m->arena, m->pods[run], n, sizeof(**m->pods));
		m->pods[run][n] = pod;
	}
}

static void add_unseated(struct gathering *m, size_t from, size_t to)
{
	add_some(m, &m->unbound, from, to);
}

static void describe(struct gathering *m, struct queue_gang *out)
{
	const char ***names = kar_arena_alloc(m->arena, m->runs.n + 1, sizeof(char **));
	const char **first = kar_arena_alloc(m->arena, m->runs.n + 1, sizeof(char *));

	for (uint32_t i = 0; i < m->runs.n; i++) {
		first[i] = "";
		if (!m->pods[i])
			continue;
		if (out->in_order)
			queue_sort_by_rank(m->pods[i], (size_t)m->runs.items[i].n);
		names[i] = kar_arena_alloc(m->arena, (size_t)m->runs.items[i].n, sizeof(char *));
		for (int32_t k = 0; k < m->runs.items[i].n; k++)
			names[i][k] = m->pods[i][k]->o.name;
		first[i] = names[i][0];
		m->in->unverified |= m->unverified[i];
	}
	out->pods = (const char *const *const *)names;
	out->unverified = m->unverified;
	out->doubts = queue_doubts(m->p, &m->runs, m->unverified, first);
	out->n_runs = m->runs.n;
	m->in->run_names = first;
}

/* Members wait here that do not start, and nothing of the gang is there: it holds no place in its queue. */
static bool is_mixed_and_waits(const struct gathering *m, bool started)
{
	return m->mixed && m->unbound.n && !m->bound && !started;
}

/* --- members that have a place in the plan ---------------------------------------------------------- */

/* Moves those that have a certain place to @out, and those that have an uncertain one to the front. Returns how many these are. */
static size_t take_planned(struct gathering *m, struct queue_members *out)
{
	struct queue_members front = { 0 }, rest = { 0 };

	for (size_t i = 0; i < m->unbound.n; i++) {
		const struct kar_pod *pod = m->unbound.items[i];

		if (queue_planned_node(m, pod)) {
			queue_gather_add(m, out, pod);
			queue_gather_add(m, &m->held, pod);
		} else {
			queue_gather_add(m, queue_planned(m, pod) ? &front : &rest, pod);
		}
	}
	m->unbound = front;
	for (size_t i = 0; i < rest.n; i++)
		queue_gather_add(m, &m->unbound, rest.items[i]);
	return front.n;
}

/* --- members that are bound by us ------------------------------------------------------------------- */

/* Why they cannot be: the first that asks for something that nobody would check. NULL: they can. */
static const char *obstacle(const struct gathering *m)
{
	const struct kar_sched *s = kar_snapshot_sched(m->p->stores->snapshot);

	for (size_t i = 0; m->direct && i < m->unbound.n; i++) {
		const struct kar_pod *pod = m->unbound.items[i];
		const char *what = kar_sched_unverified(s, class_of(m, pod));

		if (pod->needs && pod->needs->n_claims)
			what = "resource claims";
		else if (!what && pod->needs)
			what = kar_volumes_by_scheduler(m->p->stores, pod->o.ns, pod->needs);
		if (what || pod->pin)
			return kar_arena_printf(m->arena,
				"%s does not place %s (pod %s): use " KAR_DEFAULT_SCHEDULER,
				pod->scheduler ? pod->scheduler : KAR_DEFAULT_SCHEDULER,
				what ? what : "an affinity to one node", pod->o.name);
	}
	return NULL;
}

/* The gang has started: members that come later get places as far as there is room; those that have one in the plan keep it. */
static void renew(struct gathering *m, struct queue_gang *out)
{
	struct kar_pg_planned *kept = kar_arena_alloc(m->arena, m->unbound.n + 1, sizeof(*kept));
	struct queue_members with_place = { 0 };

	assert(m->admitted && out->direct);
	for (size_t i = 0; i < m->unbound.n; i++) {
		const struct kar_pg_planned *entry = queue_planned(m, m->unbound.items[i]);

		if (entry && queue_planned_node(m, m->unbound.items[i]))
			kept[out->n_kept++] = *entry;
	}
	take_planned(m, &with_place);
	add_seated(m, &with_place, queue_planned_node);
	add_unseated(m, 0, m->unbound.n);
	out->kept = kept;
	out->renews = true;
	m->in->replaces = m->unbound.n > 0;
}

/* --- what must be there ----------------------------------------------------------------------------- */

/*
 * Its controller makes some members only after others run, and spec.minResources says what they need: those that exist start, if there is
 * room for all.
 */
static bool starts_in_stages(const struct gathering *m)
{
	kar_time left = m->youngest + KAR_PG_STAGED_AFTER - m->p->now;

	if (!m->group->spec.has_min_resources || !m->unbound.n)
		return false;
	queue_come_again(m->p, left);
	return left <= 0;
}

/* Its controller makes more members than the minimum, and some of them have come a moment ago. */
static bool expects_more(const struct gathering *m, bool started)
{
	kar_time left = m->youngest + KAR_PG_STAGED_AFTER - m->p->now;

	if (started || m->group->options.total <= (int64_t)(m->have.n + m->unbound.n) || left <= 0)
		return false;
	queue_come_again(m->p, left);
	return true;
}

/*
 * A group is admitted without members, because its controller may wait for that. If some have come, the rest follows within moments; else
 * it has no place in the queue until they are all there.
 */
static bool may_be_incomplete(struct gathering *m)
{
	kar_time left = queue_members_come_for(&m->p->groups[m->in - m->p->in], m->p->now);

	if (kar_pg_lasting_state(m->group) != KAR_PG_STATE_NONE)
		return false;
	if (m->n_gated)
		queue_come_again(m->p, left);
	return !m->n_gated || left > 0;
}

/* Members are missing, so that it is not placed yet. False: it goes on without them, or has nothing to be placed. */
static bool waits_for_members(struct gathering *m, int64_t need, bool started)
{
	bool incomplete = need > (int64_t)m->unbound.n || expects_more(m, started);

	return incomplete && !started && !may_be_incomplete(m);
}

/* Nobody finds places for it here: they only count. */
static struct queue_gang *leave_alone(struct gathering *m)
{
	add_seated(m, &m->unbound, node_of);
	return NULL;
}

/* Members of a group that is not admitted are counted like anybody's pods. */
static struct kar_queue_amounts hold(struct gathering *m)
{
	struct gathering others = { .p = m->p,
		.group = m->group,
		.arena = m->arena,
		.runs = { .arena = m->arena } };

	if (!m->admitted)
		add_seated(&others, &m->have, node_of);
	return queue_hold(m->p, m->group, &m->runs, &others.runs);
}

static const struct kar_pod *only_member(const struct gathering *m)
{
	if (m->have.n + m->unbound.n != 1)
		return NULL;
	return m->unbound.n ? m->unbound.items[0] : m->have.items[0];
}

static struct queue_gang *wait_for_members(struct gathering *m, struct queue_gang *out)
{
	int64_t min = m->group->spec.min_member, total = m->group->options.total;

	queue_refuse(m->in, KAR_QR_WAITING_FOR_MEMBERS,
		kar_arena_printf(m->arena, "%lld of %lld members can start%s",
			(long long)m->have.n + (long long)m->unbound.n + (long long)m->succeeded,
			(long long)(total > min ? total : min),
			kar_pg_about_order(only_member(m), m->arena)));
	leave_alone(m);
	return out;
}

/* OnlyWaiting: those who wait, if they are a gang by themselves; beyond the minimum, as many as fit go with it. */
static struct queue_gang *wave_of(struct gathering *m, struct queue_gang *out, bool started)
{
	int64_t left = queue_minimum_left(m), need = left > 1 ? left : 1;
	bool few = need > (int64_t)m->unbound.n;

	assert(m->group->options.only_waiting);
	if (started || m->unbound.n > kar_pg_plan_pods(m->group) || m->placed_by_others || (few && m->have.n))
		return leave_alone(m);
	if (waits_for_members(m, need, started))
		return wait_for_members(m, out);
	if (few)
		return leave_alone(m);
	m->wave = (int32_t)need;
	add_unseated(m, 0, (size_t)need);
	add_unseated(m, (size_t)need, m->unbound.n);
	m->in->replaces = true;
	return out;
}

/* Could a pod like this one have a node if all of them were empty? */
static bool may_have_a_node(const struct gathering *m, const struct kar_pod *pod)
{
	const struct kar_role role = { .class = class_of(m, pod), .need = 1 };
	const struct kar_gang alone = { .roles = &role, .n_roles = 1 };

	return kar_sched_feasible(kar_snapshot_sched(m->p->stores->snapshot), &alone);
}

/* More members wait than must start: those for which there is no node at all stand behind the others. Members that are alike follow each other. */
static void pass_over_impossible(struct gathering *m)
{
	struct queue_members first = { 0 }, last = { 0 };
	kar_class asked = 0;
	bool may = true;

	for (size_t i = 0; i < m->unbound.n; i++) {
		const struct kar_pod *pod = m->unbound.items[i];

		if (!i || class_of(m, pod) != asked)
			may = may_have_a_node(m, pod);
		asked = class_of(m, pod);
		queue_gather_add(m, may ? &first : &last, pod);
	}
	for (size_t i = 0; i < last.n; i++)
		queue_gather_add(m, &first, last.items[i]);
	m->unbound = first;
}

/* Nothing of it has started, and nobody could start it whole: it says so, and has no place in its queue. @why: an obstacle; NULL: none. */
static bool is_unsupported(struct gathering *m, bool started, const char *why)
{
	if (is_mixed_and_waits(m, started))
		why = "its members name more than one scheduler, a gang needs one";
	else if (started || m->bound)
		why = NULL;
	if (why)
		queue_refuse(m->in, KAR_QR_UNSUPPORTED, why);
	return why;
}

/* No member gets a node before it has its volumes and devices: those that wait for one keep all from starting. */
static void check_objects(struct gathering *m, bool started)
{
	bool waits = !started && !m->bound && !m->placed_by_others;

	for (size_t i = 0; waits && i < m->unbound.n; i++) {
		const struct kar_pod *pod = m->unbound.items[i];
		struct kar_needs_pending pending = { 0 };

		if (pod->needs)
			pending = kar_needs_pending(m->p->stores, pod->o.ns, pod->needs, m->arena);
		if (!pending.why)
			continue;
		queue_refuse(m->in, pending.devices ? KAR_QR_DEVICES_UNKNOWN : KAR_QR_VOLUME_PENDING,
			pending.why);
		return;
	}
}

/* The first @need members that could have a node; if they are bound by us the others as well. */
static void start_with(struct gathering *m, const struct queue_gang *out, int64_t need)
{
	if (need > 0 && (size_t)need < m->unbound.n)
		pass_over_impossible(m);
	add_unseated(m, 0, need > 0 ? (size_t)need : 0);
	if (out->direct)
		add_unseated(m, (size_t)need, m->unbound.n);
}

/* What it lacks, or must start with; NULL: nothing is placed. @holds: room is held for members to come. */
static struct queue_gang *gang_of(struct gathering *m, struct queue_gang *out, bool started, bool admitted,
	bool holds)
{
	int64_t need = queue_minimum_left(m) - (int64_t)m->have.n;
	const char *why = m->placed_by_others ? NULL : obstacle(m);

	if (!why && !started)
		why = queue_not_together(m);
	check_objects(m, started);
	if (is_unsupported(m, started, why)) {
		leave_alone(m);
		return out;
	}
	if (why)
		return leave_alone(m);
	if (out->direct && started && admitted && !m->placed_by_others && !m->group->options.only_waiting) {
		renew(m, out);
		return out;
	}
	if (m->group->options.only_waiting)
		return wave_of(m, out, started);
	if ((need <= 0 && !holds) || m->unbound.n > kar_pg_plan_pods(m->group) || m->placed_by_others)
		return leave_alone(m); /* nothing to place, or not here (controllers/podgroup/release.c) */
	if (need > (int64_t)m->unbound.n && starts_in_stages(m))
		need = (int64_t)m->unbound.n;
	if (need > 0 && waits_for_members(m, need, started))
		return wait_for_members(m, out);
	if (need > (int64_t)m->unbound.n || (need > 0 && expects_more(m, started)))
		return started ? leave_alone(m) : NULL; /* who has come before the others holds nothing yet */
	start_with(m, out, need);
	if (!started || holds)
		m->in->hold = hold(m);
	return out;
}

/* The places of its plan, and its members beyond the minimum. */
static void hold_plan(struct gathering *m, struct queue_gang *out, bool holds)
{
	struct queue_members with_place = { 0 };
	size_t front = take_planned(m, &with_place),
	       new = queue_count_new(m, with_place.n + front, m->unbound.n - front);

	assert(m->admitted && !m->joins);
	out->stuck = m->stuck.n > 0;
	out->repairs = m->in->replaces = m->in->at_once = out->stuck || new > 0;
	if (out->repairs)
		queue_keep_rest(m, front, out);
	add_seated(m, &with_place, queue_planned_node);
	add_some(m, &m->stuck, 0, m->stuck.n);
	add_unseated(m, 0, front + new);
	if (holds)
		m->in->hold = hold(m);
}

/* Those that wait for their queue, each run after the one before. They need no place: the scheduler looks for it. */
static void add_late(struct gathering *m, size_t from)
{
	uint32_t first = m->runs.n;

	for (size_t i = from; i < m->late.n; i++) {
		const struct kar_pod *pod = m->late.items[i];
		uint32_t run = run_of(m, m->runs.n > first ? m->runs.n - 1 : first, pod);
		struct queue_seats seat = { 0 };

		m->runs.items[run].n++;
		queue_seat_add(&seat, NULL, 1, false, pod->creation, m->arena);
		queue_run_seat(&m->runs, run, &seat);
	}
}

static void finish(struct gathering *m, const struct queue_gang *out)
{
	struct kar_queue_group *in = m->in;
	int64_t have = m->admitted ? 0 : (int64_t)m->have.n;
	int32_t active = m->joins ? queue_runs_pods(&m->runs) : (int32_t)m->have.n, left, min;
	size_t held = 0;

	if (m->joins)
		m->p->groups[m->in - m->p->in].late = queue_note_late(m, &held);
	add_late(m, held);
	left = queue_runs_pods(&m->runs);
	min = (int32_t)kar_clamp(queue_minimum_left(m) - have, 0, left);

	for (size_t i = 0; i < m->leaving.n; i++) {
		const struct kar_pod *pod = m->leaving.items[i];

		queue_gather_add(m, &m->held, pod);
		if (queue_is_overdue(m->p, pod))
			continue;
		queue_leaving_add(&m->runs,
			&(struct kar_queue_leaving){ .node = pod->node,
				.class = class_of(m, pod),
				.n = 1,
				.deletion = pod->deletion },
			queue_quota_of_pod(m->p->quota, pod));
	}
	for (size_t i = 0; i < m->have.n && m->admitted; i++)
		queue_gather_add(m, &m->held, m->have.items[i]);
	for (size_t i = 0; i < m->released.n; i++)
		queue_unbound_add(&m->runs, class_of(m, m->released.items[i]));
	for (size_t i = 0; i < m->unbound.n; i++)
		queue_gather_add(m, &m->held, m->unbound.items[i]);
	for (size_t i = 0; i < m->late.n; i++)
		queue_gather_add(m, &m->held, m->late.items[i]);
	queue_runs_give(&m->runs, in);
	in->min = m->wave ? m->wave : left && min < 1 ? 1 : min;
	/* Those that are released, and those that get places at once. */
	in->desired = out && out->renews ? left : active;
	in->desired -= (int32_t)have;
	if (in->desired < in->min)
		in->desired = in->min;
	assert(in->min <= left && in->desired >= in->min && in->desired <= left);
	in->joins = m->joins;
	if (m->joins)
		in->joined = in->desired + queue_let_in_before(&m->p->groups[in - m->p->in]);
	in->no_node_check = !out || in->ineligible == KAR_QR_WAITING_FOR_MEMBERS;
	in->released = true;
	in->not_evictable = m->bare;
	if (m->unowned)
		in->not_returnable = kar_arena_printf(m->arena,
			"pod %s has no controller that would make it again", m->unowned->o.name);
}

static struct gathering observe(struct queue_pass *p, uint32_t i)
{
	struct queue_group *qg = &p->groups[i];
	const struct kar_podgroup *g = qg->group;
	struct gathering m = { .p = p,
		.group = g,
		.in = &p->in[i],
		.arena = p->arena,
		.admitted = qg->admitted,
		.runs = { .arena = p->arena } };
	enum kar_pg_state state = g->status.placement.state;
	bool started = state == KAR_PG_STATE_SATISFIED || state == KAR_PG_STATE_UNPLACED;
	bool holds = qg->admitted && kar_pg_holds(g, p->now);
	struct queue_gang *out = NULL;

	queue_gather(&m, started);
	m.domain = queue_domain(g, "", qg->admitted, m.have.n > 0, m.arena);
	queue_take_late(&m, qg->bounded);
	if (qg->admitted && state == KAR_PG_STATE_PLACED && p->nodes && kar_pg_keeps_placement(g))
		queue_take_stuck(&m);
	if (qg->admitted)
		add_seated(&m, &m.have, node_of);
	if (holds)
		queue_come_again(p, kar_pg_hold_ends(g) - p->now); /* its room is free then */
	if (p->nodes && kar_pg_keeps_placement(g) && state != KAR_PG_STATE_ROLLING_BACK) {
		out = kar_arena_alloc(m.arena, 1, sizeof(*out));
		queue_fill_gang(p, i, out);
		out->direct = m.direct != NULL;
		out->backend = out->direct ? KAR_PG_BACKEND_DIRECT : KAR_PG_BACKEND_GATES;
		if (qg->admitted && state == KAR_PG_STATE_PLACED)
			hold_plan(&m, out, holds);
		else
			out = gang_of(&m, out, started, qg->admitted, holds);
	} else {
		const char *why = state == KAR_PG_STATE_NONE && !m.bound ? queue_not_together(&m) : NULL;

		if (why)
			queue_refuse(m.in, KAR_QR_UNSUPPORTED, why);
		leave_alone(&m);
	}
	m.in->no_provisioning = m.in->created_bound = m.direct != NULL;
	if (out) {
		queue_ask_topology(p, i, &m.wishes, out);
		describe(&m, out);
	}
	if (out && !qg->admitted)
		out->requests = queue_requests(&m);
	m.in->hold_yields = holds && m.in->hold.n;
	if (!m.in->hold.n)
		m.in->hold = queue_hold_lost(&m);
	qg->gang = out;
	if (!out || state != KAR_PG_STATE_NONE || !qg->admitted)
		finish(&m, out);
	return m;
}

/* What it uses is not what others use. */
static void own(const struct gathering *m)
{
	for (size_t i = 0; i < m->held.n; i++)
		queue_owns(m->p, m->held.items[i]);
	for (size_t i = 0; i < m->charged.n; i++)
		queue_quota_owns(m->p->quota, m->charged.items[i]);
}

void queue_observe_members(struct queue_pass *p, uint32_t i)
{
	const struct kar_queue_group begin = p->in[i];
	struct queue_group *qg = &p->groups[i];
	struct gathering m;

	m = observe(p, i);
	if ((qg->gang || p->in[i].ineligible == KAR_QR_UNSUPPORTED) && qg->admitted &&
		qg->group->status.placement.state == KAR_PG_STATE_NONE) {
		/* Its members are all there, and were not placed: it waits for places. If it had some a moment ago, before others. */
		qg->admitted = false;
		qg->keeps_place =
			queue_keeps_room_for(qg->group, p->now) > 0 || queue_promised_for(qg, p->now) > 0;
		p->in[i] = begin;
		m = observe(p, i);
	}
	own(&m);
}
