/* What a workload needs: the classes of its pods, and the runs of its minimum and of its extras. */
#include <assert.h>

#include "controllers/queue/making.h"

#include "common/base/str.h"

/* --- classes --------------------------------------------------------------------------------------- */

/* The template's needs with what the node selector of its pods has in addition. */
static const struct kar_pod_needs *with_selector(const struct making *m, const struct kar_pod_needs *of,
	const struct kar_array *own)
{
	const struct kar_pair *pairs = own->items;
	struct kar_pod_needs *needs;
	struct kar_sched_label *all;

	if (!own->n)
		return of;
	needs = kar_arena_alloc(m->arena, 1, sizeof(*needs));
	*needs = *of;
	all = kar_arena_alloc(m->arena, needs->n_selector + own->n, sizeof(*all));
	for (uint32_t i = 0; i < needs->n_selector; i++)
		all[i] = needs->selector[i];
	for (size_t i = 0; i < own->n; i++)
		all[needs->n_selector++] = (struct kar_sched_label){ pairs[i].key, pairs[i].value };
	needs->selector = all;
	return needs;
}

/* Of pods to come. */
static kar_class class_of(const struct making *m, size_t role, const struct kar_pod_needs *needs)
{
	struct kar_snapshot *s = m->p->stores->snapshot;
	struct kar_array labels = { 0 };

	if (kar_snapshot_minds_labels(s, needs))
		labels = m->kind->labels(m->owner, role, false, m->arena);
	return kar_needs_class_to_come(m->p->stores, needs, m->owner->ns, &labels);
}

bool queue_find_classes(struct making *m)
{
	bool all = true;

	m->classes = kar_arena_alloc(m->arena, m->roles.n + 1, sizeof(*m->classes));
	for (size_t i = 0; i < m->roles.n; i++) {
		const struct kar_workload_role *r = &m->roles.items[i];
		const struct kar_array domain =
			queue_domain(m->group, r->name, m->qg->admitted, false, m->arena);
		const struct kar_pod_needs *stored =
			m->kind->needs(m->owner, i, m->p->stores->templates, m->p->mono).stored;

		if (stored) /* with the node selector of the workload */
			m->classes[i] = class_of(m, i, with_selector(m, stored, &domain));
		else if (r->needs)
			m->classes[i] = class_of(m, i,
				with_selector(m, with_selector(m, r->needs, r->selector), &domain));
		all &= m->classes[i] != 0;
		if (!m->classes[i])
			m->classes[i] = kar_snapshot_class_of(m->p->stores->snapshot, &kar_no_needs);
		assert(m->classes[i]); /* 0 is no class of the engine */
	}
	return all;
}

/* --- its pods as runs -------------------------------------------------------------------------------- */

struct stored_pods queue_next_pods(struct making *m, size_t role, int32_t most)
{
	struct stored_list *of = &m->stored[role];
	struct stored_pods next = { m->classes[role],
		queue_quota_of_role(m->p->quota, m->owner->ns, &m->roles.items[role]), most };

	assert(most > 0 && of->next <= of->n);
	if (of->next == of->n)
		return next;
	next = of->items[of->next];
	next.n = next.n < most ? next.n : most;
	of->items[of->next].n -= next.n;
	of->next += !of->items[of->next].n;
	return next;
}

static void add_run(struct making *m, size_t role, int32_t n)
{
	while (n > 0) {
		const struct stored_pods some = queue_next_pods(m, role, n);

		m->role_of = kar_arena_grow(m->arena, m->role_of, m->runs.n, sizeof(*m->role_of));
		m->role_of[m->runs.n] = role;
		queue_run_add(&m->runs, some.class, some.n, some.charges);
		n -= some.n;
	}
}

static int32_t live_of(const struct making *m, size_t role)
{
	int64_t n = m->pending[role];

	for (uint32_t i = 0; i < m->seats[role].n; i++)
		n += m->seats[role].items[i].n;
	return (int32_t)kar_clamp(n, 0, INT32_MAX);
}

/*
 * The order is that in which the workload keeps its pods: those that run, then those that exist, then those to come. So an extra that comes or goes
 * is the one that the pass had in mind, with its needs and its node.
 */
static void add_extras(struct making *m)
{
	const struct kar_workload_role *r = m->roles.items;
	const size_t *order = m->roles.order;
	size_t n = m->roles.n;
	int32_t *added = kar_arena_alloc(m->arena, n + 1, sizeof(*added));

	for (int part = 0; part < 2; part++) {
		for (size_t k = 0; k < n; k++) {
			size_t i = order[k];
			int32_t there = part ? live_of(m, i) : m->running[i];
			int32_t extras = (int32_t)kar_clamp((int64_t)there - r[i].need, 0, r[i].want);

			add_run(m, i, extras - added[i]);
			added[i] = extras;
		}
	}
	for (int later = 0; later < 2; later++) {
		for (size_t k = 0; k < n; k++) {
			size_t i = order[k];

			if (r[i].started == !later)
				add_run(m, i, r[i].want - added[i]);
		}
	}
}

/* What exists is before what is to come: of a minimum that was raised the queue may not allow the rest. */
static void add_minimum(struct making *m)
{
	const struct kar_workload_role *r = m->roles.items;
	size_t n = m->roles.n;
	int32_t *added = kar_arena_alloc(m->arena, n + 1, sizeof(*added));

	for (size_t i = 0; i < n && m->qg->admitted; i++) {
		added[i] = (int32_t)kar_clamp(live_of(m, i), 0, r[i].need);
		add_run(m, i, added[i]);
	}
	for (int later = 0; later < 2; later++) {
		for (size_t i = 0; i < n; i++) {
			if (r[i].started == !later)
				add_run(m, i, r[i].need - added[i]);
		}
	}
}

void queue_add_runs(struct making *m)
{
	add_minimum(m);
	add_extras(m);
	for (size_t i = 0; i < m->roles.n; i++)
		m->in->min += m->roles.items[i].need;
}
