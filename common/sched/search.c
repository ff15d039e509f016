/*
 * Backtracking for small gangs of several roles, when filling role by role has missed: 5+5 and 3+3+4 on two nodes of 10 may need the
 * threes together. Depth first; pods of one role go to nodes in ascending order, so that no two ways differ by a swap only.
 */
#include "common/sched/impl.h"

enum { MAX_PODS = 12, MAX_STEPS = 4096, MAX_NODES = 256 };

struct search {
	struct sched_try *t;
	struct {
		uint32_t role;
		const uint32_t *nodes; /* that had a copy at the start */
		uint32_t n_nodes;
		uint32_t chosen; /* index of its node */
	} pods[MAX_PODS];
	uint32_t n_pods, steps;
};

/* False: there are too many pods, or too many nodes, to try all ways. */
static bool set_up(struct search *x)
{
	struct sched_try *t = x->t;
	const uint32_t *order = sched_order_by_size(t);

	for (uint32_t i = 0; i < t->gang->n_roles; i++) {
		const struct kar_role *r = &t->gang->roles[order[i]];
		uint32_t n_nodes;
		const uint32_t *nodes;

		if (!r->need)
			continue;
		if (r->need > (int32_t)(MAX_PODS - x->n_pods))
			return false;
		nodes = sched_candidates(t, r->class, &n_nodes);
		if (n_nodes > MAX_NODES)
			return false;
		for (int32_t k = 0; k < r->need; k++) {
			x->pods[x->n_pods].role = order[i];
			x->pods[x->n_pods].nodes = nodes;
			x->pods[x->n_pods++].n_nodes = n_nodes;
		}
	}
	return true;
}

static uint32_t first_node_of(const struct search *x, uint32_t pod)
{
	return pod && x->pods[pod - 1].role == x->pods[pod].role ? x->pods[pod - 1].chosen : 0;
}

/* The next node for the pod, from number @from on, that has a copy; the pod is put there. */
static bool put_next(struct search *x, uint32_t pod, uint32_t from)
{
	struct sched_try *t = x->t;
	uint32_t role = x->pods[pod].role;
	const struct sched_hot *h = sched_hot(t->s, t->gang->roles[role].class);
	const struct sched_class *c = &t->s->classes[t->gang->roles[role].class];

	for (uint32_t i = from; i < x->pods[pod].n_nodes; i++) {
		if (h->copies[x->pods[pod].nodes[i]] <= 0 ||
			(c->social && !sched_rules_allow(t->s, c, x->pods[pod].nodes[i])))
			continue;
		x->pods[pod].chosen = i;
		sched_put(t, role, x->pods[pod].nodes[i], 1);
		return true;
	}
	return false;
}

static void take_back(struct search *x, uint32_t pod)
{
	struct sched_try *t = x->t;

	sched_take(t->s, x->pods[pod].nodes[x->pods[pod].chosen], t->gang->roles[x->pods[pod].role].class,
		-1);
	t->n_places--;
}

/* Does it make no difference which of the pods goes first? */
static bool is_orderless(const struct sched_try *t)
{
	for (uint32_t i = 0; i < t->gang->n_roles; i++) {
		if (!sched_is_orderless(&t->s->classes[t->gang->roles[i].class]))
			return false;
	}
	return true;
}

/* To count all members of all domains for each step would take too long. */
static bool has_spread(const struct sched_try *t)
{
	for (uint32_t i = 0; i < t->gang->n_roles; i++) {
		if (sched_is_spread(&t->s->classes[t->gang->roles[i].class]))
			return true;
	}
	return false;
}

bool sched_search(struct sched_try *t, bool *all)
{
	struct search x = { .t = t };
	uint32_t pod = 0, from = 0;

	*all = false;
	if (has_spread(t) || !set_up(&x))
		return false;
	while (pod < x.n_pods) {
		if (x.steps++ >= MAX_STEPS) {
			while (pod > 0)
				take_back(&x, --pod);
			return false;
		}
		if (put_next(&x, pod, from)) {
			pod++;
			from = pod < x.n_pods ? first_node_of(&x, pod) : 0;
			continue;
		}
		if (!pod) {
			*all = is_orderless(t);
			return false;
		}
		take_back(&x, --pod);
		from = x.pods[pod].chosen + 1;
	}
	return true;
}
