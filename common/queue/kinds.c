/* Groups that are alike share what they need, and whether it can be had. */
#include "common/queue/impl.h"

#include <string.h>

static uint64_t mix(uint64_t hash, uint64_t n)
{
	hash ^= n;
	hash *= 0x9e3779b97f4a7c15U;
	return hash ^ (hash >> 29);
}

static uint64_t flags_of(const struct kar_queue_group *in)
{
	return (uint64_t)in->elastic | (uint64_t)in->required << 1 | (uint64_t)in->no_node_check << 2 |
		(uint64_t)in->unverified << 3 | (uint64_t)in->never_preempts << 4 |
		(uint64_t)in->no_provisioning << 5 | (uint64_t)in->takes_nothing << 6 |
		(uint64_t)(in->not_returnable != NULL) << 7 | (uint64_t)in->created_bound << 8 |
		(uint64_t)(in->standing == KAR_QUEUE_RESERVING) << 9;
}

static uint64_t hash_of(const struct q_group *g)
{
	uint64_t h = mix(g->queue->index, (uint64_t)(uint32_t)g->in->base << 32 | (uint32_t)g->min);

	h = mix(mix(h, (uint64_t)g->level), flags_of(g->in));
	for (uint32_t i = 0; i < g->in->n_runs; i++)
		h = mix(h, (uint64_t)g->in->runs[i].class << 32 | (uint32_t)g->in->runs[i].n);
	return h;
}

static bool same_charges(const struct kar_queue_charge *a, const struct kar_queue_charge *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (a[i].row != b[i].row || a[i].amount != b[i].amount)
			return false;
	}
	return true;
}

static bool same_runs(const struct kar_queue_run *a, const struct kar_queue_run *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (a[i].class != b[i].class || a[i].n != b[i].n || a[i].n_charges != b[i].n_charges ||
			!same_charges(a[i].charges, b[i].charges, a[i].n_charges))
			return false;
	}
	return true;
}

static bool same_hold(const struct kar_queue_amounts *a, const struct kar_queue_amounts *b)
{
	for (uint32_t i = 0; a->n == b->n && i < a->n; i++) {
		if (a->items[i].amount != b->items[i].amount ||
			strcmp(a->items[i].resource, b->items[i].resource) != 0)
			return false;
	}
	return a->n == b->n;
}

/* Rows of what leaves are rows of the kind, so it is alike to no other. */
static bool leaves_rows(const struct kar_queue_group *in)
{
	for (uint32_t i = 0; i < in->n_leaving; i++) {
		if (in->leaving[i].n_charges)
			return true;
	}
	return false;
}

static bool are_alike(const struct q_group *a, const struct q_group *b)
{
	const struct kar_queue_group *x = a->in, *y = b->in;

	return !leaves_rows(x) && !leaves_rows(y) && a->queue == b->queue && a->level == b->level &&
		a->min == b->min && x->base == y->base && x->n_runs == y->n_runs &&
		flags_of(x) == flags_of(y) &&
		strcmp(x->topology ? x->topology : "", y->topology ? y->topology : "") == 0 &&
		same_hold(&x->hold, &y->hold) && x->n_hold_charges == y->n_hold_charges &&
		same_charges(x->hold_charges, y->hold_charges, x->n_hold_charges) &&
		same_runs(x->runs, y->runs, x->n_runs);
}

/* By name: the order of the snapshot says nothing. */
static void sort_rows(const struct q_pass *p, struct q_kind *k)
{
	for (uint32_t i = 1; i < k->n_rows; i++) {
		for (uint32_t j = i; j > 0; j--) {
			const struct kar_queue_quota_row *a = &p->in->snapshot->rows[k->rows[j - 1]],
							 *b = &p->in->snapshot->rows[k->rows[j]];
			int order = strcmp(a->quota, b->quota);
			uint32_t row = k->rows[j];

			if (order < 0 || (!order && strcmp(a->resource, b->resource) <= 0))
				break;
			k->rows[j] = k->rows[j - 1];
			k->rows[j - 1] = row;
		}
	}
}

static void add_rows(const struct q_pass *p, struct q_kind *k, const struct kar_queue_charge *charges,
	uint32_t n, uint32_t most)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t row = charges[i].row;

		if (q_row_of(k, row) == k->n_rows && k->n_rows < most && !p->in->snapshot->rows[row].unknown)
			k->rows[k->n_rows++] = row;
	}
}

static void find_rows(const struct q_pass *p, struct q_kind *k, const struct kar_queue_group *in)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < in->n_runs; i++)
		most += in->runs[i].n_charges;
	for (uint32_t i = 0; i < in->n_leaving; i++)
		most += in->leaving[i].n_charges;
	most += in->n_hold_charges;
	most = most < Q_ROWS ? most : Q_ROWS;
	k->rows = kar_arena_alloc(p->arena, most + 1, sizeof(*k->rows));
	k->row_minimum = kar_arena_alloc(p->arena, most + 1, sizeof(*k->row_minimum));
	for (uint32_t i = 0; i < in->n_runs; i++)
		add_rows(p, k, in->runs[i].charges, in->runs[i].n_charges, most);
	for (uint32_t i = 0; i < in->n_leaving; i++)
		add_rows(p, k, in->leaving[i].charges, in->leaving[i].n_charges, most);
	add_rows(p, k, in->hold_charges, in->n_hold_charges, most);
	sort_rows(p, k);
}

struct q_kind *q_kind_of(struct q_pass *p, struct q_group *g)
{
	uint64_t hash = hash_of(g);
	struct q_kind **slot = &p->in->kinds[hash & (p->in->kind_slots - 1)], *k;

	for (k = *slot; k; k = k->next) {
		if (k->hash == hash && are_alike(k->first, g))
			return k;
	}
	k = kar_arena_alloc(p->arena, 1, sizeof(*k));
	*k = (struct q_kind){ .first = g, .next = *slot, .hash = hash, .feasible = -1 };
	*slot = k;
	k->minimum = q_vector(p);
	find_rows(p, k, g->in);
	g->kind = k;
	q_add_pods(p, g, 0, g->min, k->minimum, k->row_minimum);
	q_add_list(p, &g->in->hold, k->minimum);
	q_add_charges(k, g->in->hold_charges, g->in->n_hold_charges, 1, k->row_minimum);
	return k;
}
