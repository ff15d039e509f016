/*
 * Whose turn it is: from the root down the child that is furthest below what it is due. Each queue keeps its children in a tree of winners,
 * so that a change of one leaf costs the logarithm of the number of queues.
 */
#include "common/queue/impl.h"

#include <string.h>

static int compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* Does @a go first? NULL never does. */
static bool goes_first(const struct q_queue *a, const struct q_queue *b)
{
	int order;

	if (!a || !a->candidate || !b || !b->candidate)
		return a && a->candidate;
	order = compare(a->key_over, b->key_over);
	if (!order)
		order = compare(a->key_share, b->key_share);
	if (!order)
		order = compare(b->candidate->level, a->candidate->level);
	if (!order)
		order = compare(a->candidate->in->creation, b->candidate->in->creation);
	return order ? order < 0 : a->place < b->place; /* children are in the order of their names */
}

void q_race_begin(struct q_pass *p)
{
	for (uint32_t i = 0; i <= p->in->snapshot->n_queues; i++) {
		struct q_queue *q = &p->in->queues[i];

		q->candidate = NULL;
		q->dirty = true;
		if (!q->winners && q->n_children)
			q->winners =
				kar_arena_alloc(p->arena, 2 * (size_t)q->width, sizeof(struct q_queue *));
		else if (q->n_children)
			memset(q->winners, 0, 2 * (size_t)q->width * sizeof(struct q_queue *));
	}
}

static void run_again(struct q_queue *q, struct q_queue *child)
{
	uint32_t i = q->width + child->place;

	q->winners[i] = child;
	while (i > 1) {
		struct q_queue *left = q->winners[i & ~1U], *right = q->winners[i | 1U];

		i /= 2;
		q->winners[i] = goes_first(right, left) ? right : left;
	}
}

void q_race_enter(struct q_pass *p, struct q_queue *leaf, struct q_group *candidate, const int64_t *v)
{
	leaf->candidate = candidate;
	leaf->want = v;
	leaf->dirty = false;
	for (struct q_queue *q = leaf; q->parent; q = q->parent) {
		struct q_queue *best;

		if (q->candidate) {
			q->key_over = !q_within(p, q, q->want);
			q->key_share = q_share(p, q, q->want, Q_SHARE_UNIT);
		}
		run_again(q->parent, q);
		best = q->parent->winners[1];
		q->parent->candidate = best ? best->candidate : NULL;
		q->parent->want = best ? best->want : NULL;
	}
}
