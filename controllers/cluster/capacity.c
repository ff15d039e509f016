#include "controllers/cluster/capacity.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/sys/tree.h>

#include "common/base/mem.h"
#include "common/codec/quantity.h"

/* Needs; they are here while a pod has them, which holds them. */
struct kind {
	RB_ENTRY(kind) link;
	const struct kar_pod_needs *needs;
	int64_t on_nodes, elsewhere; /* .elsewhere: on nodes that are not usable or not known */
};
RB_HEAD(kinds, kind);

struct pods {
	struct kind *kind;
	int64_t n;
};

/* A node that is known, or on which pods are said to be. */
struct place {
	RB_ENTRY(place) link;
	const char *name; /* interned, one reference */
	bool known, usable;
	struct pods *pods; /* one entry per kind, without those of 0 */
	uint32_t n_pods, room_pods;
};
RB_HEAD(places, place);

/* A resource of usable nodes. */
struct offer {
	const char *resource; /* interned, one reference */
	kar_nano amount;
	uint32_t nodes; /* that offer it */
};

struct kar_capacity {
	struct kar_intern *strings;
	struct kinds kinds;
	struct places places;
	struct offer *offers;
	uint32_t n_offers, room_offers;
};

/* By what they are, not by address: whoever asks about all of them does so in the same order in each process. */
static int compare_kinds(const struct kind *a, const struct kind *b)
{
	return kar_shape_compare(&kar_needs_shape, a->needs, b->needs);
}

static int compare_places(const struct place *a, const struct place *b)
{
	return strcmp(a->name, b->name);
}

RB_GENERATE_INTERNAL(kinds, kind, link, compare_kinds, KAR_UNUSED static)
RB_GENERATE_INTERNAL(places, place, link, compare_places, KAR_UNUSED static)

struct kar_capacity *kar_capacity_new(struct kar_intern *strings)
{
	struct kar_capacity *c = kar_xcalloc(1, sizeof(*c));

	c->strings = strings;
	RB_INIT(&c->kinds);
	RB_INIT(&c->places);
	return c;
}

/* --- places ------------------------------------------------------------------------------------------ */

static struct place *find_place(const struct kar_capacity *c, const char *name)
{
	struct place key = { .name = name };

	return RB_FIND(places, (struct places *)(uintptr_t)&c->places, &key);
}

static struct place *place_of(struct kar_capacity *c, const char *name)
{
	struct place *p = find_place(c, name);

	if (p)
		return p;
	p = kar_xcalloc(1, sizeof(*p));
	p->name = kar_intern_get(c->strings, name);
	RB_INSERT(places, &c->places, p);
	return p;
}

static void drop_place(struct kar_capacity *c, struct place *p)
{
	RB_REMOVE(places, &c->places, p);
	kar_intern_put(c->strings, p->name);
	free(p->pods);
	free(p);
}

static void drop_if_unused(struct kar_capacity *c, struct place *p)
{
	if (!p->known && !p->n_pods)
		drop_place(c, p);
}

void kar_capacity_free(struct kar_capacity *c)
{
	struct place *p;
	struct kind *k;

	while (c && (p = RB_ROOT(&c->places)))
		drop_place(c, p);
	while (c && (k = RB_ROOT(&c->kinds))) {
		RB_REMOVE(kinds, &c->kinds, k);
		free(k);
	}
	for (uint32_t i = 0; c && i < c->n_offers; i++)
		kar_intern_put(c->strings, c->offers[i].resource);
	if (c)
		free(c->offers);
	free(c);
}

/* --- pods --------------------------------------------------------------------------------------------- */

/* The node on which it takes room; NULL: none. */
static const char *room_of(const struct kar_pod *p)
{
	return p && p->needs ? kar_pod_room(p) : NULL;
}

static void add_to_place(struct place *p, struct kind *k, int64_t n)
{
	uint32_t i = 0;

	while (i < p->n_pods && p->pods[i].kind != k)
		i++;
	if (i == p->room_pods) {
		p->room_pods = p->room_pods ? 2 * p->room_pods : 2;
		p->pods = kar_xrealloc(p->pods, p->room_pods, sizeof(*p->pods));
	}
	if (i == p->n_pods)
		p->pods[p->n_pods++] = (struct pods){ .kind = k };
	p->pods[i].n += n;
	if (!p->pods[i].n)
		p->pods[i] = p->pods[--p->n_pods];
}

static void count(struct kar_capacity *c, const struct kar_pod *pod, int64_t n)
{
	const char *room = room_of(pod);
	struct kind key = { 0 }, *k;
	struct place *p;

	if (!room)
		return;
	key.needs = pod->needs;
	k = RB_FIND(kinds, &c->kinds, &key);
	if (!k) {
		k = kar_xcalloc(1, sizeof(*k));
		*k = key;
		RB_INSERT(kinds, &c->kinds, k);
	}
	p = place_of(c, room);
	add_to_place(p, k, n);
	*(p->usable ? &k->on_nodes : &k->elsewhere) += n;
	drop_if_unused(c, p);
	if (k->on_nodes || k->elsewhere)
		return;
	RB_REMOVE(kinds, &c->kinds, k);
	free(k);
}

/* The new one first, so that what stays keeps its place. */
void kar_capacity_pod(struct kar_capacity *c, const struct kar_pod *old, const struct kar_pod *new)
{
	if (old && new && old->needs == new->needs && room_of(old) == room_of(new))
		return;
	count(c, new, 1);
	count(c, old, -1);
}

/* --- nodes -------------------------------------------------------------------------------------------- */

static void add_offer(struct kar_capacity *c, const struct kar_sched_amount *a, int sign)
{
	uint32_t i = 0;

	while (i < c->n_offers && strcmp(c->offers[i].resource, a->resource) != 0)
		i++;
	if (i == c->room_offers) {
		c->room_offers = c->room_offers ? 2 * c->room_offers : 8;
		c->offers = kar_xrealloc(c->offers, c->room_offers, sizeof(*c->offers));
	}
	if (i == c->n_offers)
		c->offers[c->n_offers++] =
			(struct offer){ .resource = kar_intern_get(c->strings, a->resource) };
	c->offers[i].amount += (kar_nano)sign * a->amount;
	c->offers[i].nodes += sign > 0 ? 1 : UINT32_MAX;
	if (c->offers[i].nodes)
		return;
	kar_intern_put(c->strings, c->offers[i].resource);
	c->offers[i] = c->offers[--c->n_offers];
}

static void add_offers(struct kar_capacity *c, const struct kar_node *n, int sign)
{
	if (!n || !kar_sched_usable(&n->offer))
		return;
	for (uint32_t i = 0; i < n->offer.n_allocatable; i++)
		add_offer(c, &n->offer.allocatable[i], sign);
}

void kar_capacity_add(struct kar_capacity *c, const struct kar_sched_amount *amounts, uint32_t n, int sign)
{
	for (uint32_t i = 0; i < n; i++)
		add_offer(c, &amounts[i], sign);
}

static void set_usable(struct place *p, bool usable)
{
	int64_t sign = usable - p->usable;

	for (uint32_t i = 0; i < p->n_pods; i++) {
		p->pods[i].kind->on_nodes += sign * p->pods[i].n;
		p->pods[i].kind->elsewhere -= sign * p->pods[i].n;
	}
	p->usable = usable;
}

void kar_capacity_node(struct kar_capacity *c, const struct kar_node *old, const struct kar_node *new)
{
	struct place *p;

	if (old && new &&kar_node_same_offer(old, new))
		return;
	add_offers(c, new, 1);
	add_offers(c, old, -1);
	assert(old || new);
	p = place_of(c, new ? new->offer.name : old->offer.name);
	p->known = new != NULL;
	set_usable(p, new &&kar_sched_usable(&new->offer));
	drop_if_unused(c, p);
}

/* --- questions ---------------------------------------------------------------------------------------- */

enum kar_capacity_use kar_capacity_use(const struct kar_capacity *c, const struct kar_pod *pod)
{
	const char *room = room_of(pod);
	const struct place *p = room ? find_place(c, room) : NULL;

	return p && p->usable ? KAR_CAPACITY_ON_NODE : KAR_CAPACITY_NOWHERE;
}

uint32_t kar_capacity_offers(const struct kar_capacity *c, struct kar_arena *a, struct kar_sched_amount **out)
{
	*out = kar_arena_alloc(a, c->n_offers + 1, sizeof(**out));
	for (uint32_t i = 0; i < c->n_offers; i++) {
		kar_nano amount = c->offers[i].amount;

		(*out)[i] = (struct kar_sched_amount){ c->offers[i].resource,
			amount > INT64_MAX ? INT64_MAX : (int64_t)amount };
	}
	return c->n_offers;
}

void kar_capacity_each(const struct kar_capacity *c, kar_capacity_fn *fn, void *arg)
{
	struct kind *k;

	RB_FOREACH(k, kinds, (struct kinds *)(uintptr_t)&c->kinds) {
		if (k->on_nodes)
			fn(arg, k->needs, k->on_nodes);
	}
}
