/* How many copies of a class each node has room for, kept by events for the classes that were asked about lately. */
#include "common/sched/impl.h"

#include <stdlib.h>
#include <string.h>

/* --- one node -------------------------------------------------------------------------------------- */

static bool port_in_use(const struct sched_node *n, const struct kar_pod_needs *needs)
{
	for (uint32_t i = 0; i < n->n_ports; i++) {
		for (uint32_t k = 0; n->ports[i].n > 0 && k < needs->n_ports; k++) {
			if (kar_sched_ports_meet(&n->ports[i].port, &needs->ports[k]))
				return true;
		}
	}
	return false;
}

static int32_t copies_in_room(const struct kar_sched *s, const struct sched_class *c, uint32_t node,
	bool empty)
{
	int64_t most = INT32_MAX, all;

	for (uint32_t i = 0; i < c->n_shares; i++) {
		const struct sched_share *share = &c->shares[i];
		int64_t room = empty ? sched_allocatable(s, node, share->resource)
				     : sched_free(s, node, share->resource);

		if (room < share->amount)
			return 0;
		/* A division costs more than all the rest, and mostly another resource is the one that is short. */
		if (__builtin_mul_overflow(share->amount, most, &all) || all > room)
			most = room / share->amount;
	}
	return (int32_t)most;
}

int32_t sched_copies(const struct kar_sched *s, const struct sched_class *c, uint32_t node, bool empty)
{
	int32_t n;

	if (c->unknown)
		return 0;
	n = copies_in_room(s, c, node, empty);
	if (n > 0 && c->has_ports)
		return empty || !port_in_use(&s->nodes[node], c->needs);
	return n;
}

/* --- buckets --------------------------------------------------------------------------------------- */

static uint8_t bucket_of(const struct kar_sched *s, const struct sched_class *c, uint32_t node,
	int32_t copies)
{
	uint32_t b = copies < SCHED_COPIES ? (uint32_t)copies : SCHED_COPIES - 1;
	uint32_t group = (s->nodes[node].idle & ~c->wants ? 2U : 0U) + (sched_is_whole(s, node) ? 1U : 0U);

	return (uint8_t)(group * SCHED_COPIES + b);
}

static void leave_bucket(struct sched_hot *h, uint32_t node)
{
	uint8_t b = h->bucket[node];

	if (b == SCHED_NO_BUCKET)
		return;
	if (h->prev[node] == SCHED_NONE)
		h->head[b] = h->next[node];
	else
		h->next[h->prev[node]] = h->next[node];
	if (h->next[node] != SCHED_NONE)
		h->prev[h->next[node]] = h->prev[node];
	if (h->head[b] == SCHED_NONE)
		h->filled[b / SCHED_COPIES] &= ~((uint64_t)1 << (b % SCHED_COPIES));
	h->bucket[node] = SCHED_NO_BUCKET;
}

static void enter_bucket(struct sched_hot *h, uint32_t node, uint8_t b)
{
	h->next[node] = h->head[b];
	h->prev[node] = SCHED_NONE;
	if (h->head[b] != SCHED_NONE)
		h->prev[h->head[b]] = node;
	h->head[b] = node;
	h->filled[b / SCHED_COPIES] |= (uint64_t)1 << (b % SCHED_COPIES);
	h->bucket[node] = b;
}

uint32_t sched_best(const struct sched_hot *h)
{
	for (uint32_t i = 0; i < SCHED_GROUPS; i++) {
		uint64_t filled = h->filled[i] & ~(uint64_t)1; /* without the nodes that have no copy */

		if (filled)
			return h->head[i * SCHED_COPIES + (uint32_t)__builtin_ctzll(filled)];
	}
	return SCHED_NONE;
}

static void set_copies(struct kar_sched *s, struct sched_hot *h, uint32_t node, int32_t copies)
{
	int64_t more = (int64_t)copies - h->copies[node];

	if (!more)
		return;
	h->copies[node] = copies;
	h->total += more;
	for (uint32_t k = 0; k < s->n_keys; k++) {
		if (s->keys[k].domain[node] != SCHED_NONE)
			h->domain_total[k][s->keys[k].domain[node]] += more;
	}
}

static void recount(struct kar_sched *s, const struct sched_class *c, uint32_t node)
{
	struct sched_hot *h = c->hot;
	int32_t copies;
	uint8_t b;

	if (h->match[node] != KAR_FITS)
		return; /* it has left its bucket */
	copies = sched_copies(s, c, node, false);
	b = bucket_of(s, c, node, copies);
	set_copies(s, h, node, copies);
	if (b == h->bucket[node])
		return;
	leave_bucket(h, node);
	enter_bucket(h, node, b);
}

void sched_rebucket(struct kar_sched *s, const uint32_t *nodes, uint32_t n)
{
	for (uint32_t i = 0; i < s->n_hot; i++) {
		const struct sched_class *c = &s->classes[s->hot[i]];
		struct sched_hot *h = c->hot;

		for (uint32_t k = n; k-- > 0;) {
			if (h->bucket[nodes[k]] == SCHED_NO_BUCKET)
				continue;
			leave_bucket(h, nodes[k]);
			enter_bucket(h, nodes[k], bucket_of(s, c, nodes[k], h->copies[nodes[k]]));
		}
	}
}

static void match(struct kar_sched *s, const struct sched_class *c, uint32_t node)
{
	const struct sched_node *n = &s->nodes[node];

	c->hot->match[node] = n->known ? (uint8_t)kar_sched_match(&n->offer, c->needs, NULL) : KAR_NOT_READY;
}

void sched_recount(struct kar_sched *s, uint32_t node, bool matches)
{
	for (uint32_t i = 0; i < s->n_hot; i++) {
		const struct sched_class *c = &s->classes[s->hot[i]];

		if (matches)
			match(s, c, node);
		recount(s, c, node);
	}
}

void sched_withdraw(struct kar_sched *s, uint32_t node)
{
	for (uint32_t i = 0; i < s->n_hot; i++) {
		struct sched_hot *h = s->classes[s->hot[i]].hot;

		set_copies(s, h, node, 0);
		leave_bucket(h, node);
		h->match[node] = KAR_NOT_READY;
	}
}

/* --- becoming hot and cold ------------------------------------------------------------------------- */

static void size_arrays(struct sched_hot *h, uint32_t from, uint32_t room)
{
	h->match = kar_xrealloc(h->match, room, sizeof(*h->match));
	h->bucket = kar_xrealloc(h->bucket, room, sizeof(*h->bucket));
	h->copies = kar_xrealloc(h->copies, room, sizeof(*h->copies));
	h->next = kar_xrealloc(h->next, room, sizeof(*h->next));
	h->prev = kar_xrealloc(h->prev, room, sizeof(*h->prev));
	memset(&h->match[from], KAR_NOT_READY, room - from);
	memset(&h->bucket[from], SCHED_NO_BUCKET, room - from);
	memset(&h->copies[from], 0, (room - from) * sizeof(*h->copies));
	h->room = room;
}

void sched_hot_grow(struct kar_sched *s)
{
	for (uint32_t i = 0; i < s->n_hot; i++) {
		struct sched_hot *h = s->classes[s->hot[i]].hot;

		size_arrays(h, h->room, s->room_nodes);
	}
}

void sched_hot_add_key(struct kar_sched *s, struct sched_hot *h, uint32_t key)
{
	const struct sched_key *k = &s->keys[key];

	free(h->domain_total[key]);
	h->domain_total[key] = kar_xcalloc(k->room + 1, sizeof(*h->domain_total[key]));
	for (uint32_t i = 0; i < s->n_nodes; i++) {
		if (k->domain[i] != SCHED_NONE)
			h->domain_total[key][k->domain[i]] += h->copies[i];
	}
}

void sched_cool(struct kar_sched *s, uint32_t class)
{
	struct sched_hot *h = s->classes[class].hot;

	if (!h)
		return;
	for (uint32_t i = 0; i < s->n_hot; i++) {
		if (s->hot[i] == class)
			s->hot[i] = s->hot[--s->n_hot];
	}
	for (uint32_t k = 0; k < KAR_SCHED_KEYS; k++)
		free(h->domain_total[k]);
	free(h->match);
	free(h->bucket);
	free(h->copies);
	free(h->next);
	free(h->prev);
	free(h);
	s->classes[class].hot = NULL;
}

static void make_room(struct kar_sched *s)
{
	uint32_t oldest = s->hot[0];

	if (s->n_hot < KAR_SCHED_HOT)
		return;
	for (uint32_t i = 1; i < s->n_hot; i++) {
		if (s->classes[s->hot[i]].hot->asked < s->classes[oldest].hot->asked)
			oldest = s->hot[i];
	}
	sched_cool(s, oldest);
}

struct sched_hot *sched_hot(struct kar_sched *s, uint32_t class)
{
	struct sched_class *c = &s->classes[class];
	struct sched_hot *h = c->hot;

	if (!h) {
		make_room(s);
		h = c->hot = kar_xcalloc(1, sizeof(*h));
		memset(h->head, 0xff, sizeof(h->head)); /* SCHED_NONE */
		size_arrays(h, 0, s->room_nodes);
		for (uint32_t k = 0; k < s->n_keys; k++)
			sched_hot_add_key(s, h, k);
		for (uint32_t i = s->n_nodes; i-- > 0;) { /* the first node is the first of its bucket */
			match(s, c, i);
			recount(s, c, i);
		}
		s->hot[s->n_hot++] = class;
	}
	h->asked = ++s->questions;
	return h;
}

static int compare_names(const void *a, const void *b)
{
	const struct sched_named *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void sort_names(struct kar_sched *s)
{
	if (s->n_named)
		return;
	s->named = kar_xrealloc(s->named, s->n_nodes + 1, sizeof(*s->named));
	for (uint32_t i = 0; i < s->n_nodes; i++) {
		if (s->nodes[i].name)
			s->named[s->n_named++] = (struct sched_named){ s->nodes[i].name, i };
	}
	qsort(s->named, s->n_named, sizeof(*s->named), compare_names);
}

void kar_sched_settle(struct kar_sched *s, kar_class c)
{
	struct sched_hot *h = sched_hot(s, c);

	sort_names(s);
	for (uint32_t i = s->n_named; i-- > 0;) { /* the first node is the first of its bucket */
		uint32_t node = s->named[i].node;
		uint8_t b = h->bucket[node];

		if (b == SCHED_NO_BUCKET)
			continue;
		leave_bucket(h, node);
		enter_bucket(h, node, b);
	}
}

size_t sched_hot_bytes(const struct kar_sched *s)
{
	size_t n = 0;

	for (uint32_t i = 0; i < s->n_hot; i++)
		n += sizeof(struct sched_hot) +
			(size_t)s->classes[s->hot[i]].hot->room *
				(2 * sizeof(uint8_t) + 3 * sizeof(uint32_t));
	return n;
}
