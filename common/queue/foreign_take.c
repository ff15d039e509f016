/* Which pods of no queue go for a group that has no room otherwise (decision 092). */
#include <stdlib.h>
#include <string.h>

#include "common/queue/candidates.h"
#include "common/queue/explain.h"

enum { KEPT_ASKED = 4 }; /* groups of a pass whose texts name who of no queue stays */

static const struct kar_queue_preemptible *pod(const struct q_pass *p, uint32_t i)
{
	return &p->in->snapshot->preemptible[i];
}

/* --- who goes --------------------------------------------------------------------------------------- */

/* The first of its budgets by which not even one more pod may go; KAR_QUEUE_NONE: they all allow one. */
static uint32_t exhausted(const struct q_pass *p, const int64_t *left, uint32_t i)
{
	for (uint32_t k = 0; k < pod(p, i)->n_budgets; k++) {
		if (left[pod(p, i)->budgets[k]] <= 0)
			return pod(p, i)->budgets[k];
	}
	return KAR_QUEUE_NONE;
}

static void spend(const struct q_pass *p, int64_t *left, uint32_t i)
{
	for (uint32_t k = 0; k < pod(p, i)->n_budgets; k++)
		left[pod(p, i)->budgets[k]]--;
}

/* What is left of the budgets, in the arena. */
static int64_t *budgets_left(const struct q_pass *p)
{
	int64_t *left = kar_arena_alloc(p->arena, p->in->snapshot->n_budgets + 1, sizeof(*left));

	for (uint32_t i = 0; i < p->in->snapshot->n_budgets; i++)
		left[i] = p->plan.budgets[i];
	for (uint32_t i = 0; i < p->in->snapshot->n_preemptible; i++) {
		if (p->plan.foreign.takers[i] != KAR_QUEUE_NONE)
			spend(p, left, i);
	}
	return left;
}

/* All that may go of one priority after the other, until it fits. So nobody of a higher priority goes than is needed. */
static bool all_go(struct taking *t)
{
	struct q_pass *p = t->pass;
	uint32_t n = p->in->snapshot->n_preemptible;
	int64_t *left = budgets_left(p);

	for (uint32_t i = 0; i < n && q_foreign_goes_before(p, t->taker, i); i++) {
		bool may = p->round.ignore_budgets ||
			(!pod(p, i)->kept && exhausted(p, left, i) == KAR_QUEUE_NONE);

		if (!p->plan.foreign.gone[i] && may) {
			spend(p, left, i);
			q_foreign_goes(p, i, t->taker);
		}
		if ((i + 1 == n || pod(p, i + 1)->priority != pod(p, i)->priority ||
			    !q_foreign_goes_before(p, t->taker, i + 1)) &&
			q_taker_fits(t))
			return true;
	}
	return false;
}

/* Pods of a node that go for the taker. */
struct on_node {
	const char *node;
	uint32_t *pods, n;
	int32_t highest; /* priority */
};

static int by_node(const void *a, const void *b)
{
	return strcmp(((const struct on_node *)a)->node, ((const struct on_node *)b)->node);
}

/* Nodes on which the highest priorities go come first, then those on which most go. */
static int by_loss(const void *a, const void *b)
{
	const struct on_node *x = a, *y = b;

	if (x->highest != y->highest)
		return (x->highest < y->highest) - (x->highest > y->highest);
	if (x->n != y->n)
		return (x->n < y->n) - (x->n > y->n);
	return by_node(a, b);
}

static struct on_node *group_by_node(const struct taking *t, uint32_t *n_nodes)
{
	const struct q_pass *p = t->pass;
	uint32_t n = p->in->snapshot->n_preemptible, k = 0, m = 0;
	struct on_node *all = kar_arena_alloc(p->arena, n + 1, sizeof(*all));
	uint32_t *pods = kar_arena_alloc(p->arena, n + 1, sizeof(*pods));
	uint32_t *sorted = kar_arena_alloc(p->arena, n + 1, sizeof(*sorted));

	for (uint32_t i = 0; i < n; i++) {
		if (p->plan.foreign.takers[i] != t->taker->index)
			continue;
		pods[k] = i;
		all[k] = (struct on_node){ pod(p, i)->node, &pods[k], 1, pod(p, i)->priority };
		k++;
	}
	qsort(all, k, sizeof(*all), by_node);
	for (uint32_t i = 0; i < k; i++) { /* entries of a node become one */
		struct on_node *last = m ? &all[m - 1] : NULL;

		sorted[i] = all[i].pods[0];
		if (last && strcmp(last->node, all[i].node) == 0) {
			last->n++;
			last->highest = last->highest > all[i].highest ? last->highest : all[i].highest;
			continue;
		}
		all[m] = all[i];
		all[m++].pods = &sorted[i];
	}
	*n_nodes = m;
	return all;
}

/* Whole nodes stay if it fits without their pods; then single pods, of the others, the highest priority and the oldest first. */
static void some_stay(struct taking *t)
{
	struct q_pass *p = t->pass;
	uint32_t n_nodes;
	struct on_node *nodes = group_by_node(t, &n_nodes);

	qsort(nodes, n_nodes, sizeof(*nodes), by_loss);
	for (uint32_t i = 0; i < n_nodes; i++) {
		for (uint32_t k = 0; k < nodes[i].n; k++)
			q_foreign_stays(p, nodes[i].pods[k]);
		if (q_taker_fits(t))
			continue;
		for (uint32_t k = 0; k < nodes[i].n; k++)
			q_foreign_goes(p, nodes[i].pods[k], t->taker);
	}
	for (uint32_t i = p->in->snapshot->n_preemptible; i-- > 0;) {
		if (p->plan.foreign.takers[i] != t->taker->index)
			continue;
		q_foreign_stays(p, i);
		if (!q_taker_fits(t))
			q_foreign_goes(p, i, t->taker);
	}
}

static bool lacks_only_nodes(const struct taking *t)
{
	bool other = t->lacks.quota || t->lacks.jobs || t->lacks.closed;

	for (int i = 0; i < Q_PATH; i++)
		other |= t->lacks.capability[i] != 0;
	return !other;
}

bool q_take_foreign(struct taking *t)
{
	struct q_pass *p = t->pass;
	struct q_mark mark;

	if (!lacks_only_nodes(t))
		return false;
	mark = q_mark(p);
	q_foreign_copy(p);
	if (!all_go(t)) {
		q_undo(p, mark);
		return false;
	}
	some_stay(t);
	q_keep_changes(p, mark);
	return true;
}

/* --- words ------------------------------------------------------------------------------------------ */

/* Of those that would go for @g, the first that something keeps. */
static const char *name_first_kept(const struct q_pass *p, const struct q_group *g)
{
	int64_t *left = kar_arena_alloc(p->arena, p->in->snapshot->n_budgets + 1, sizeof(*left));

	for (uint32_t i = 0; i < p->in->snapshot->n_budgets; i++)
		left[i] = p->plan.budgets[i];
	for (uint32_t i = 0; i < p->in->snapshot->n_preemptible; i++) {
		const struct kar_queue_preemptible *e = pod(p, i);
		uint32_t b = exhausted(p, left, i);

		if (p->plan.foreign.takers[i] != g->index)
			continue;
		if (e->kept || b != KAR_QUEUE_NONE)
			return Q_TEXT(p, ", pod %s/%s of no queue stays: %s", e->ns, e->name,
				e->kept ? e->kept
					: Q_TEXT(p, "PodDisruptionBudget %s",
						  p->in->snapshot->budget_names[b]));
		spend(p, left, i);
	}
	return "";
}

/* A pod that something may keep. */
static bool may_stay(const struct q_pass *p)
{
	bool any = false;

	for (uint32_t i = 0; i < p->in->snapshot->n_preemptible && !any; i++)
		any = pod(p, i)->kept || pod(p, i)->n_budgets;
	return any;
}

/* It costs a placement for each pod that would go, so this is done for the first groups of the line only. */
const char *q_name_kept(struct q_pass *p, struct q_group *g)
{
	bool trial = p->round.trial;
	const char *text = "";
	struct q_mark mark;

	if (!q_may_use_foreign(p, g) || g->st.standing != KAR_QUEUE_WAITING ||
		p->memo->n_kept_asked >= KEPT_ASKED || !may_stay(p))
		return "";
	p->memo->n_kept_asked++;
	mark = q_mark(p);
	p->round.ignore_budgets = p->round.trial = true;
	if (q_take_from_others(p, g))
		text = name_first_kept(p, g);
	p->round.ignore_budgets = false;
	p->round.trial = trial;
	q_undo(p, mark);
	return text;
}
