/*
 * What leaves, and the two views. The engine has taken the view `fut`. For the view `now` it takes what leaves as well, but where something
 * waits for room of that on the same node, the larger of the two counts.
 */
#include "common/queue/nodes.h"

#include <stdlib.h>
#include <string.h>

/* --- what leaves ------------------------------------------------------------------------------------ */

/* Bound pods beyond those that are kept, and what stops already. */
static void visit_gone(struct q_pass *p, const struct q_group *g, q_pod_visitor *visit, void *context)
{
	int32_t kept = q_kept(g), at = 0;

	for (uint32_t i = 0; i < g->in->n_runs; i++) {
		const struct kar_queue_run *run = &g->in->runs[i];
		int32_t k = at;

		for (uint32_t j = 0; j < run->n_seats; j++) {
			const struct kar_queue_seat *s = &run->seats[j];
			int32_t n = (int32_t)kar_clamp((int64_t)k + s->n - kept, 0, s->n);

			k += s->n;
			if (n && s->bound && s->node)
				visit(p, context, s->node, run->class, n);
		}
		at += run->n;
	}
	for (uint32_t i = 0; i < g->in->n_leaving; i++) {
		if (g->in->leaving[i].node)
			visit(p, context, g->in->leaving[i].node, g->in->leaving[i].class,
				g->in->leaving[i].n);
	}
}

static void take_gone(struct q_pass *p, void *context, const char *node, kar_class class, int32_t n)
{
	const int32_t *sign = context;

	kar_sched_take(p->in->snapshot->sched, node, class, *sign * n);
}

static void all_gone(struct q_pass *p, q_pod_visitor *visit, void *context)
{
	for (uint32_t i = 0; i < p->plan.n_gone; i++)
		visit_gone(p, p->plan.gone[i], visit, context);
}

static void count_gone(struct q_pass *p, void *context, const char *node, kar_class class, int32_t n)
{
	int32_t *sum = context;

	(void)p;
	(void)node;
	(void)class;
	*sum += n;
}

int32_t q_count_gone(struct q_pass *p, const struct q_group *g)
{
	int32_t n = 0;

	visit_gone(p, g, count_gone, &n);
	return n;
}

/* --- the view `now` --------------------------------------------------------------------------------- */

static void add_node(const struct q_pass *p, struct q_overlap *o, struct q_per_node n)
{
	o->all = kar_arena_grow(p->arena, o->all, o->n, sizeof(*o->all));
	o->all[o->n++] = n;
}

static void add_leaving(struct q_pass *p, void *context, const char *node, kar_class class, int32_t n)
{
	add_node(p, context, (struct q_per_node){ node, class, n, true });
}

static int by_node(const void *a, const void *b)
{
	return strcmp(((const struct q_per_node *)a)->node, ((const struct q_per_node *)b)->node);
}

kar_class q_room_class(struct q_pass *p, const int64_t *v)
{
	struct kar_sched_amount list[Q_RESOURCES];
	struct kar_pod_needs needs = { .amounts = list, .room_only = true };
	kar_class c;

	for (uint32_t r = 0; r < p->in->n_resources; r++) {
		if (v[r] > 0)
			list[needs.n_amounts++] = (struct kar_sched_amount){ p->in->names[r], v[r] };
	}
	if (!needs.n_amounts)
		return 0;
	p->memo->made = kar_arena_grow(p->arena, p->memo->made, p->memo->n_made, sizeof(*p->memo->made));
	c = kar_sched_class(p->in->snapshot->sched, &needs);
	p->memo->made[p->memo->n_made++] = c;
	return c;
}

static void add_overlap(struct q_pass *p, struct q_overlap *o, uint32_t from, uint32_t to)
{
	int64_t leaves[Q_RESOURCES] = { 0 }, waits[Q_RESOURCES] = { 0 };
	kar_class class;

	for (uint32_t i = from; i < to; i++) {
		const int64_t *needs = q_class_needs(p, o->all[i].class);
		int64_t *sum = o->all[i].leaves ? leaves : waits;

		for (uint32_t r = 0; r < p->in->n_resources; r++)
			sum[r] = q_add(sum[r], q_mul(needs[r], o->all[i].n));
	}
	for (uint32_t r = 0; r < p->in->n_resources; r++)
		leaves[r] = q_min(leaves[r], waits[r]);
	class = q_room_class(p, leaves);
	if (!class)
		return;
	o->both = kar_arena_grow(p->arena, o->both, o->n_both, sizeof(*o->both));
	o->both[o->n_both++] = (struct q_reserved){ o->all[from].node, class };
}

void q_find_overlap(struct q_pass *p, struct q_overlap *o)
{
	for (uint32_t i = 0; i < p->in->n_line; i++) {
		const struct q_group *g = p->in->line[i];

		for (uint32_t k = 0; k < g->st.n_spots; k++) {
			const struct q_spot *s = &g->st.spots[k];

			if (!s->waits || !s->node)
				continue;
			o->any_waits = true;
			add_node(p, o,
				(struct q_per_node){ s->node, g->in->runs[s->run].class, s->n, false });
		}
	}
	if (!o->any_waits)
		return;
	all_gone(p, add_leaving, o);
	qsort(o->all, o->n, sizeof(*o->all), by_node);
	for (uint32_t i = 0, from = 0; i < o->n; i++) {
		if (i + 1 < o->n && strcmp(o->all[i + 1].node, o->all[from].node) == 0)
			continue;
		add_overlap(p, o, from, i + 1);
		from = i + 1;
	}
}

void q_switch_view(struct q_pass *p, const struct q_overlap *o, int32_t sign)
{
	all_gone(p, take_gone, &sign);
	for (uint32_t i = 0; i < o->n_both; i++)
		kar_sched_take(p->in->snapshot->sched, o->both[i].node, o->both[i].class, -sign);
}

void q_lift_gone(struct q_pass *p, const struct q_group *g)
{
	int32_t minus = -1;

	visit_gone(p, g, take_gone, &minus);
}

/* --- what is kept free for the head of the cluster ---------------------------------------------------- */

void q_visit_old(struct q_pass *p, const struct q_group *g, int32_t from, int32_t to, q_pod_visitor *visit,
	void *context)
{
	int32_t first = 0;

	for (uint32_t i = 0; i < g->in->n_runs && first < to; first += g->in->runs[i++].n) {
		const struct kar_queue_run *run = &g->in->runs[i];
		int32_t at = first;

		for (uint32_t k = 0; k < run->n_seats; k++) {
			const struct kar_queue_seat *s = &run->seats[k];
			int32_t begin = from > at ? from : at, end = to < at + s->n ? to : at + s->n;

			at += s->n;
			if (begin < end && s->node && s->bound && s->created < p->plan.reserved_since)
				visit(p, context, s->node, run->class, end - begin);
		}
	}
}

static void take_old(struct q_pass *p, void *context, const char *node, kar_class class, int32_t n)
{
	const int32_t *sign = context;

	if (kar_table_find(&p->plan.reserved_at, node))
		kar_sched_take(p->in->snapshot->sched, node, class, *sign * n);
}

void q_reserve_room(struct q_pass *p, int32_t sign)
{
	for (uint32_t i = 0; i < p->plan.n_reserved; i++)
		kar_sched_take(p->in->snapshot->sched, p->plan.reserved[i].node, p->plan.reserved[i].class,
			sign);
	for (uint32_t i = 0; i < p->plan.n_gone && p->plan.leaving > p->plan.left_before; i++) {
		const struct q_group *g = p->plan.gone[i];
		int32_t kept = q_kept(g), before = p->plan.kept_before[g->index];

		if (kept < before)
			q_visit_old(p, g, kept, before, take_old, &sign);
	}
}
