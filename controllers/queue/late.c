/* Members of a group of others beyond its minimum, once that has started: their queue says how many of them start, and which (decision 087). */
#include <assert.h>

#include "controllers/queue/gather.h"

#include "api/podgroup/pg_members.h"
#include "api/status/reasons.h"
#include "common/base/str.h"
#include "controllers/queue/next.h"

/* Its members start one by one, and its queue bounds them. Those of kar-scheduler get places, and waves are gangs. */
static bool joins(const struct gathering *m, bool bounded)
{
	enum kar_pg_state state = m->group->status.placement.state;
	bool unplaced = m->placed_by_others || !m->p->nodes;

	return bounded && m->admitted && !m->direct && !m->group->options.only_waiting &&
		(state == KAR_PG_STATE_SATISFIED || state == KAR_PG_STATE_UNPLACED ||
			(state == KAR_PG_STATE_NONE && unplaced));
}

void queue_take_late(struct gathering *m, bool bounded)
{
	struct queue_members stay = { 0 };
	int64_t need;

	m->joins = joins(m, bounded);
	if (!m->joins)
		return;
	need = queue_minimum_left(m) - (int64_t)m->have.n;
	for (size_t i = 0; i < m->unbound.n; i++)
		need -= !kar_pg_waits(m->unbound.items[i]);
	for (size_t i = 0; i < m->unbound.n; i++) {
		const struct kar_pod *pod = m->unbound.items[i];

		queue_gather_add(m, kar_pg_waits(pod) && need-- <= 0 ? &m->late : &stay, pod);
	}
	m->unbound = stay;
}

/* --- room that is held for them --------------------------------------------------------------------- */

static bool is_named(const struct kar_podgroup *g, const char *resource)
{
	for (size_t i = 0; i < g->spec.min_resources.n; i++) {
		if (kar_streq(((const struct kar_pair *)g->spec.min_resources.items)[i].key, resource))
			return true;
	}
	return false;
}

static struct kar_sched_amount *amount_of(const struct kar_queue_amounts *rest, const char *resource)
{
	for (uint32_t i = 0; i < rest->n; i++) {
		if (kar_streq(rest->items[i].resource, resource))
			return (struct kar_sched_amount *)(uintptr_t)&rest->items[i];
	}
	return NULL;
}

/* Takes what @pod asks for from @rest, of which the first members have some already. False: it is not in it. */
static bool take_from_hold(const struct gathering *m, struct kar_queue_amounts *rest,
	const struct kar_pod *pod, bool at_all_costs)
{
	const struct kar_snapshot *nodes = m->p->stores->snapshot;
	const struct kar_pod_needs *needs =
		kar_sched_needs(kar_snapshot_sched(nodes), kar_needs_class_of_pod(m->p->stores, pod));
	bool fits = true;

	for (uint32_t i = 0; i < needs->n_amounts; i++) {
		const struct kar_sched_amount *left = amount_of(rest, needs->amounts[i].resource);

		fits &= needs->amounts[i].amount <= (left ? left->amount : 0) ||
			!is_named(m->group, needs->amounts[i].resource);
	}
	for (uint32_t i = 0; i < needs->n_amounts && (fits || at_all_costs); i++) {
		struct kar_sched_amount *left = amount_of(rest, needs->amounts[i].resource);

		if (left)
			left->amount -= left->amount < needs->amounts[i].amount ? left->amount
										: needs->amounts[i].amount;
	}
	return fits;
}

/* How many of the first late members have their room in what is held for members to come. */
static size_t count_held(const struct gathering *m)
{
	struct kar_queue_amounts rest = { kar_arena_alloc(m->arena, m->in->hold.n + 1, sizeof(*rest.items)),
		m->in->hold.n };
	size_t n = 0;

	if (!rest.n || !m->group->spec.has_min_resources)
		return 0;
	for (uint32_t i = 0; i < rest.n; i++)
		*(struct kar_sched_amount *)(uintptr_t)&rest.items[i] = m->in->hold.items[i];
	for (size_t i = 0; i < m->unbound.n; i++)
		take_from_hold(m, &rest, m->unbound.items[i], true);
	while (n < m->late.n && take_from_hold(m, &rest, m->late.items[n], false))
		n++;
	return n;
}

/* --- in the pass -------------------------------------------------------------------------------------- */

static void append(struct gathering *m, struct queue_members *to, const struct queue_members *from)
{
	for (size_t i = 0; i < from->n; i++)
		queue_gather_add(m, to, from->items[i]);
}

const struct queue_late *queue_note_late(struct gathering *m, size_t *held)
{
	struct queue_late *late = kar_arena_alloc(m->arena, 1, sizeof(*late));
	struct queue_members all = { 0 };

	assert(m->joins);
	*held = count_held(m);
	assert(*held <= m->late.n);
	append(m, &all, &m->have);
	append(m, &all, &m->unbound);
	append(m, &all, &m->late);
	*late = (struct queue_late){ .members = all.items,
		.n = all.n,
		.n_late = m->late.n,
		.before = m->have.n + m->unbound.n + *held };
	return late;
}

int32_t queue_let_in_before(const struct queue_group *qg)
{
	return (int32_t)kar_clamp((int64_t)qg->group->status.desired - (int64_t)qg->late->before, 0,
		(int64_t)(qg->late->n - qg->late->before));
}

/* --- what is recorded --------------------------------------------------------------------------------- */

static size_t count_let_in(const struct queue_pass *p, const struct queue_group *qg,
	const struct kar_queue_decision *d)
{
	assert(qg->late->before <= qg->late->n && qg->late->n_late <= qg->late->n);
	return qg->late->before +
		(size_t)kar_clamp(d->desired - p->in[qg - p->groups].desired, 0,
			(int64_t)(qg->late->n - qg->late->before));
}

bool queue_lets_in(const struct queue_pass *p, const struct queue_group *qg,
	const struct kar_queue_decision *d)
{
	const struct kar_podgroup_status *st = &qg->group->status;
	struct kar_podgroup_status next = *st;

	if (qg->late && !qg->late->n_late)
		return false; /* whoever comes next is not among those of the record */
	queue_set_let_in(p, qg, d, &next);
	return next.has_desired != st->has_desired || next.desired != st->desired ||
		next.desired_of != st->desired_of;
}

void queue_set_let_in(const struct queue_pass *p, const struct queue_group *qg,
	const struct kar_queue_decision *d, struct kar_podgroup_status *st)
{
	if (qg->workload || !queue_is_admitted(d))
		return;
	if (qg->late) {
		st->has_desired = true;
		st->desired = (int32_t)count_let_in(p, qg, d);
		st->desired_of = kar_pg_digest(qg->late->members, (size_t)st->desired);
	} else if (st->desired_of &&
		(!qg->bounded || qg->group->status.placement.state == KAR_PG_STATE_NONE)) {
		/* Nobody bounds it, or it begins again with its minimum: what the queue had let in beside that counts no more. */
		st->has_desired = false;
		st->desired = st->desired_of = 0;
	}
}

const char *queue_who_is_late(const struct queue_pass *p, const struct queue_group *qg,
	const struct kar_queue_decision *d)
{
	size_t n;

	if (!queue_is_admitted(d) || !qg->late || !d->limit_text)
		return NULL;
	n = count_let_in(p, qg, d);
	if (n >= qg->late->n)
		return NULL;
	return kar_arena_printf(p->arena, "member %s waits: %s", qg->late->members[n]->o.name, d->limit_text);
}
