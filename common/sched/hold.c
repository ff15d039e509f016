/*
 * Room for pods that do not exist yet. How they will be cut is not known, so the room may lie on any nodes: it is laid out where the
 * largest part of the whole fits, in the proportions of the whole, and what is left over goes by resource to the emptiest nodes.
 */
#include "common/sched/impl.h"

#include <stdlib.h>

#include "common/base/str.h"

struct room {
	uint32_t node;
	double part; /* of the whole, at most 1 */
};

struct hold {
	struct kar_sched *s;
	const struct kar_gang *gang;
	struct kar_arena *a;
	uint32_t resources[KAR_SCHED_RESOURCES];
	int64_t left[KAR_SCHED_RESOURCES],
		whole[KAR_SCHED_RESOURCES]; /* of the resource of the same number in .resources */
	uint32_t n;
	struct room *rooms;
	uint32_t n_rooms;
	struct kar_held *held;
	uint32_t n_held;
};

static int64_t usable(const struct hold *h, uint32_t node, uint32_t i)
{
	int64_t room = sched_free(h->s, node, h->resources[i]);

	return room > 0 ? room : 0;
}

static int by_part(const void *a, const void *b)
{
	const struct room *x = a, *y = b;

	if (x->part < y->part || x->part > y->part)
		return x->part > y->part ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

/* The part of the whole that fits there, of the resource that is the shortest. */
static double part_on(const struct hold *h, uint32_t node)
{
	double part = 1;

	for (uint32_t i = 0; i < h->n; i++) {
		double here = (double)usable(h, node, i) / (double)h->whole[i];

		if (here < part)
			part = here;
	}
	return part;
}

static bool may_hold(const struct hold *h, const struct sched_node *n)
{
	const struct kar_sched_label *on = &h->gang->hold_on;

	return n->known && kar_sched_usable(&n->offer) &&
		(!on->key || kar_streq(kar_sched_label_of(h->s, n->name, on->key), on->value));
}

static void find_rooms(struct hold *h)
{
	h->rooms = kar_arena_alloc(h->a, h->s->n_nodes + 1, sizeof(*h->rooms));
	for (uint32_t i = 0; i < h->s->n_nodes; i++) {
		if (may_hold(h, &h->s->nodes[i]))
			h->rooms[h->n_rooms++] = (struct room){ i, part_on(h, i) };
	}
	qsort(h->rooms, h->n_rooms, sizeof(*h->rooms), by_part);
}

static bool is_enough(const struct hold *h)
{
	for (uint32_t i = 0; i < h->n; i++) {
		int64_t left = h->left[i];

		for (uint32_t k = 0; k < h->n_rooms && left > 0; k++)
			left -= usable(h, h->rooms[k].node, i);
		if (left > 0)
			return false;
	}
	return true;
}

static void hold_on(struct hold *h, uint32_t node, const int64_t *amounts)
{
	struct kar_sched_amount list[KAR_SCHED_RESOURCES];
	struct kar_pod_needs needs = { .amounts = list, .room_only = true };
	struct kar_held *to;

	for (uint32_t i = 0; i < h->n; i++) {
		h->left[i] -= amounts[i];
		if (amounts[i] > 0)
			list[needs.n_amounts++] =
				(struct kar_sched_amount){ h->s->resources[h->resources[i]].name,
					amounts[i] };
	}
	if (!needs.n_amounts)
		return;
	h->held = kar_arena_grow(h->a, h->held, h->n_held, sizeof(*h->held));
	to = &h->held[h->n_held++];
	*to = (struct kar_held){ h->s->nodes[node].name, kar_sched_class(h->s, &needs) };
	sched_take(h->s, node, to->class, 1);
}

static bool something_left(const struct hold *h)
{
	for (uint32_t i = 0; i < h->n; i++) {
		if (h->left[i] > 0)
			return true;
	}
	return false;
}

/* In the proportions of the whole, rounded down, or all that is left. */
static void lay_out(struct hold *h)
{
	for (uint32_t k = 0; k < h->n_rooms && something_left(h); k++) {
		int64_t amounts[KAR_SCHED_RESOURCES];

		for (uint32_t i = 0; i < h->n; i++) {
			int64_t here = (int64_t)(h->rooms[k].part * (double)h->whole[i]);

			here = here < h->left[i] ? here : h->left[i];
			amounts[i] =
				here < usable(h, h->rooms[k].node, i) ? here : usable(h, h->rooms[k].node, i);
		}
		hold_on(h, h->rooms[k].node, amounts);
	}
}

static uint32_t emptiest(const struct hold *h, uint32_t resource)
{
	uint32_t best = h->rooms[0].node;

	for (uint32_t k = 1; k < h->n_rooms; k++) {
		if (usable(h, h->rooms[k].node, resource) > usable(h, best, resource))
			best = h->rooms[k].node;
	}
	return best;
}

static void lay_out_rest(struct hold *h)
{
	for (uint32_t i = 0; i < h->n; i++) {
		while (h->left[i] > 0) {
			int64_t amounts[KAR_SCHED_RESOURCES] = { 0 };
			uint32_t node = emptiest(h, i);

			amounts[i] = h->left[i] < usable(h, node, i) ? h->left[i] : usable(h, node, i);
			assert(amounts[i] > 0); /* is_enough() */
			hold_on(h, node, amounts);
		}
	}
}

bool sched_hold(struct kar_sched *s, const struct kar_gang *gang, struct kar_arena *a,
	struct kar_placement *out)
{
	struct hold h = { .s = s, .gang = gang, .a = a };

	for (uint32_t i = 0; i < gang->n_hold; i++) {
		uint32_t r = sched_resource(s, gang->hold[i].resource);

		if (gang->hold[i].amount <= 0)
			continue;
		if (r == SCHED_NONE)
			return false;
		h.resources[h.n] = r;
		h.left[h.n] = h.whole[h.n] = kar_clamp(gang->hold[i].amount, 0, KAR_SCHED_MOST);
		h.n++;
	}
	if (!h.n)
		return true;
	find_rooms(&h);
	if (!is_enough(&h))
		return false;
	lay_out(&h);
	lay_out_rest(&h);
	out->held = h.held;
	out->n_held = h.n_held;
	return true;
}
