#include "controllers/cluster/devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/sys/tree.h>

#include "api/core/node.h"
#include "api/core/resourceslice.h"
#include "common/base/mem.h"
#include "common/base/str.h"
#include "common/kube/store.h"
#include "controllers/cluster/device_claims.h"
#include "controllers/cluster/device_classes.h"
#include "controllers/cluster/device_pools.h"

struct amount {
	const char *resource; /* as in .classes, where this is noted */
	int64_t n;
	int64_t claimed; /* of .n: claims have them */
	uint8_t doubts;  /* bits 1 << enum kar_device_doubt */
};

/* What a node, or (KAR_SLICE_OF_SEVERAL) several together, offer by classes: something. */
struct offer {
	RB_ENTRY(offer) link;
	const char *node; /* interned, one reference */
	struct amount *amounts;
	uint32_t n;
	kar_class claimed; /* what claims have, which is taken from the node; 0: nothing */
	bool counted;      /* in the capacity */
};
RB_HEAD(offer_tree, offer);

struct kar_devices {
	struct kar_devices_input in;
	struct kar_device_classes classes;
	struct kar_device_pools *pools;
	struct kar_device_claims *claims;
	struct offer_tree offers;
	bool news; /* since .changed was called */
	void (*changed)(void *arg);
	void *arg;
};

static int compare_offers(const struct offer *a, const struct offer *b)
{
	return strcmp(a->node, b->node);
}

RB_GENERATE_INTERNAL(offer_tree, offer, link, compare_offers, KAR_UNUSED static)

const struct kar_deviceclass *kar_devices_class(const struct kar_devices *d, const char *resource)
{
	const struct kar_device_resource *r = kar_device_classes_find(&d->classes, resource);

	return r ? r->class : NULL;
}

/* --- what is there ------------------------------------------------------------------------------------ */

static bool is_of_several(const struct kar_resourceslice *s)
{
	return strcmp(s->node_key, KAR_SLICE_OF_SEVERAL) == 0;
}

/* Devices by the numbers of resources in .classes. */
struct counts {
	int64_t *all, *claimed;
	uint8_t *doubts;
};

/* What claims have of several nodes is not taken: it would change all nodes, and how many each may have is not known anyway. */
static bool is_claimed(const struct kar_devices *d, const struct kar_resourceslice *s,
	const struct kar_device *device)
{
	return !is_of_several(s) && kar_device_claims_have(d->claims, s->pool_key, device->name);
}

static void count_slice(const struct kar_devices *d, const struct kar_resourceslice *s, struct counts *c)
{
	for (uint32_t i = 0; i < s->n_devices; i++) {
		const struct kar_device *device = &s->devices[i];

		if (device->tainted)
			continue;
		kar_device_classes_count(&d->classes, device, c->all, c->doubts);
		if (is_claimed(d, s, device))
			kar_device_classes_count(&d->classes, device, c->claimed, c->doubts);
	}
}

/* A kubelet goes on listing 0 of a resource whose device plugin has gone, so that says nothing: kube-scheduler asks for devices then. */
static bool lists(const struct kar_node_offer *node, const char *resource)
{
	for (uint32_t i = 0; i < node->n_allocatable; i++) {
		if (strcmp(node->allocatable[i].resource, resource) == 0)
			return node->allocatable[i].amount > 0;
	}
	return false;
}

/* Of a node (@node), or of several together (NULL). In @a; *@n is how many. */
static struct amount *count(const struct kar_devices *d, const struct kar_node_offer *node,
	struct kar_arena *a, uint32_t *n)
{
	const struct kar_device_classes *c = &d->classes;
	struct counts counts = { .all = kar_arena_alloc(a, c->n + 1, sizeof(int64_t)),
		.claimed = kar_arena_alloc(a, c->n + 1, sizeof(int64_t)),
		.doubts = kar_arena_alloc(a, c->n + 1, 1) };
	struct amount *out = kar_arena_alloc(a, c->n + 1, sizeof(*out));
	const struct kar_object *o;

	for (struct kar_iter it = kar_store_by_index(d->in.slices, KAR_SLICE_BY_NODE,
		     node ? node->name : KAR_SLICE_OF_SEVERAL);
		kar_iter_next(&it, &o);) {
		if (kar_device_pools_counts(d->pools, kar_as_resourceslice(o)))
			count_slice(d, kar_as_resourceslice(o), &counts);
	}
	kar_device_classes_compare(c, counts.all, counts.doubts);
	for (uint32_t i = 0; i < c->n; i++) {
		if (node && c->items[i].asked && lists(node, c->items[i].resource))
			out[(*n)++] = (struct amount){ .resource = c->items[i].resource,
				.doubts = 1 << KAR_DOUBT_LISTED };
		else if (counts.all[i])
			out[(*n)++] = (struct amount){ c->items[i].resource, counts.all[i], counts.claimed[i],
				(uint8_t)(counts.doubts[i] | (!node) << KAR_DOUBT_NODES) };
	}
	return out;
}

/* --- what is published ------------------------------------------------------------------------------- */

static struct offer *find_offer(const struct kar_devices *d, const char *node)
{
	const struct offer wanted = { .node = node };

	return RB_FIND(offer_tree, (struct offer_tree *)(uintptr_t)&d->offers,
		(struct offer *)(uintptr_t)&wanted);
}

/* @sign 1: its amounts count; -1: no longer. */
static void note(struct kar_devices *d, const struct offer *o, int sign)
{
	for (uint32_t i = 0; i < o->n; i++) {
		const struct kar_sched_amount one = { o->amounts[i].resource, o->amounts[i].n };

		if (o->counted)
			kar_capacity_add(d->in.capacity, &one, 1, sign);
		kar_device_classes_note(&d->classes, one.resource, o->amounts[i].doubts,
			o->counted ? o->amounts[i].claimed : 0, sign);
	}
}

/* What claims have of the node is taken from it, as room that no pod of ours has. */
static kar_class class_of_claimed(const struct kar_devices *d, const struct offer *o)
{
	struct kar_sched_amount *claimed = kar_xcalloc(o->n + 1, sizeof(*claimed));
	struct kar_pod_needs needs = { .amounts = claimed, .room_only = true };
	kar_class class = 0;

	for (uint32_t i = 0; i < o->n; i++) {
		if (o->amounts[i].claimed)
			claimed[needs.n_amounts++] =
				(struct kar_sched_amount){ o->amounts[i].resource, o->amounts[i].claimed };
	}
	if (needs.n_amounts)
		class = kar_sched_class(kar_snapshot_sched(d->in.snapshot), &needs);
	free(claimed);
	return class;
}

static void take(const struct kar_devices *d, const struct offer *o, int32_t n)
{
	if (o->claimed)
		kar_sched_take(kar_snapshot_sched(d->in.snapshot), o->node, o->claimed, n);
}

static void withdraw(struct kar_devices *d, struct offer *o)
{
	note(d, o, -1);
	take(d, o, -1);
	if (o->claimed)
		kar_sched_class_put(kar_snapshot_sched(d->in.snapshot), o->claimed);
	RB_REMOVE(offer_tree, &d->offers, o);
	kar_intern_put(d->in.strings, o->node);
	free(o->amounts);
	free(o);
}

static void publish(struct kar_devices *d, const char *node, const struct amount *amounts, uint32_t n,
	bool counted)
{
	struct offer *o = kar_xcalloc(1, sizeof(*o));

	o->node = kar_intern_get(d->in.strings, node);
	o->amounts = kar_xcalloc(n, sizeof(*o->amounts));
	memcpy(o->amounts, amounts, n * sizeof(*amounts));
	o->n = n;
	o->counted = counted;
	o->claimed = class_of_claimed(d, o);
	note(d, o, 1);
	take(d, o, 1);
	RB_INSERT(offer_tree, &d->offers, o);
}

static bool is_same(const struct offer *o, const struct amount *amounts, uint32_t n, bool counted)
{
	if (o->n != n || o->counted != counted)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (o->amounts[i].resource != amounts[i].resource || o->amounts[i].n != amounts[i].n ||
			o->amounts[i].claimed != amounts[i].claimed ||
			o->amounts[i].doubts != amounts[i].doubts)
			return false;
	}
	return true;
}

/* --- what the engine is told ------------------------------------------------------------------------- */

/* Adds what is offered by classes to the last amounts of the node, which @first .. are. */
static void add_offer(const struct kar_node_offer *node, const struct offer *o, struct kar_sched_amount *all,
	uint32_t first, uint32_t *n)
{
	for (uint32_t i = 0; o && i < o->n; i++) {
		const char *resource = o->amounts[i].resource;
		uint32_t k = first;

		if (lists(node, resource))
			continue;
		while (k < *n && all[k].resource != resource)
			k++;
		if (k == *n)
			all[(*n)++] = (struct kar_sched_amount){ resource, 0 };
		all[k].amount += o->amounts[i].n;
	}
}

static void tell(struct kar_devices *d, const struct kar_node *node)
{
	const struct offer *own = find_offer(d, node->offer.name),
			   *several = find_offer(d, KAR_SLICE_OF_SEVERAL);
	struct kar_node_offer offer = node->offer;
	uint32_t first = offer.n_allocatable;
	struct kar_sched_amount *all =
		kar_xcalloc(first + (own ? own->n : 0) + (several ? several->n : 0) + 1, sizeof(*all));

	if (first)
		memcpy(all, offer.allocatable, first * sizeof(*all));
	add_offer(&node->offer, own, all, first, &offer.n_allocatable);
	add_offer(&node->offer, several, all, first, &offer.n_allocatable);
	offer.allocatable = all;
	kar_sched_node(kar_snapshot_sched(d->in.snapshot), &offer);
	free(all);
}

static void tell_all(struct kar_devices *d)
{
	const struct kar_object *o;

	for (struct kar_iter it = kar_store_all(d->in.nodes); kar_iter_next(&it, &o);)
		tell(d, kar_as_node(o));
}

/* After an event. */
static void finish(struct kar_devices *d)
{
	kar_device_classes_tell(&d->classes);
	if (d->news && d->changed)
		d->changed(d->arg);
	d->news = false;
}

/* --- changes ----------------------------------------------------------------------------------------- */

/* Returns whether what it offers by classes is not what it was; the engine is not told. */
static bool recount(struct kar_devices *d, const char *name, const struct kar_node *node, bool there)
{
	struct offer *known = find_offer(d, name);
	struct kar_arena a = { 0 };
	uint32_t n = 0;
	bool counted = !node || kar_sched_usable(&node->offer), same;
	struct amount *amounts = there ? count(d, node ? &node->offer : NULL, &a, &n) : NULL;

	same = known ? is_same(known, amounts, n, counted) : !n;
	if (!same && known)
		withdraw(d, known);
	if (!same && n)
		publish(d, name, amounts, n, counted);
	d->news |= !same;
	kar_arena_release(&a);
	return !same;
}

static void look_at_node(struct kar_devices *d, const struct kar_node *node)
{
	if (recount(d, node->offer.name, node, true))
		tell(d, node);
}

/* Of a node, or KAR_SLICE_OF_SEVERAL. */
static void look_at(struct kar_devices *d, const char *name)
{
	const struct kar_object *o;

	if (strcmp(name, KAR_SLICE_OF_SEVERAL) == 0) {
		if (recount(d, name, NULL, true))
			tell_all(d);
		return;
	}
	o = kar_store_get(d->in.nodes, NULL, name);
	if (o)
		look_at_node(d, kar_as_node(o));
}

static void look_at_all(struct kar_devices *d)
{
	const struct kar_object *o;

	look_at(d, KAR_SLICE_OF_SEVERAL);
	for (struct kar_iter it = kar_store_all(d->in.nodes); kar_iter_next(&it, &o);)
		look_at_node(d, kar_as_node(o));
}

static void look_at_pool(struct kar_devices *d, const char *pool_key)
{
	const struct kar_object *o;

	for (struct kar_iter it = kar_store_by_index(d->in.slices, KAR_SLICE_BY_POOL, pool_key);
		kar_iter_next(&it, &o);)
		look_at(d, kar_as_resourceslice(o)->node_key);
}

static void on_class(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_devices *d = arg;

	kar_device_classes_read(&d->classes,
		d->in.classes); /* also if it is the same: the object is another one */
	if (old && new &&kar_deviceclass_same(kar_as_deviceclass(old), kar_as_deviceclass(new)))
		return;
	look_at_all(d);
	d->news = true;
	finish(d);
}

void kar_devices_ask(struct kar_devices *d, const char *resource)
{
	struct kar_device_resource *r = kar_device_classes_find(&d->classes, resource);

	if (!r || r->asked)
		return;
	r->asked = true;
	look_at_all(d);
	finish(d);
}

/* The name by which a class is counted: that of its own, if none is younger. */
static const char *resource_of(const struct kar_devices *d, const struct kar_deviceclass *c,
	char name[KAR_DEVICECLASS_NAME])
{
	const struct kar_device_resource *own =
		kar_has_text(c->resource) ? kar_device_classes_find(&d->classes, c->resource) : NULL;

	if (own && own->class == c)
		return own->resource;
	snprintf(name, KAR_DEVICECLASS_NAME, KAR_DEVICECLASS_PREFIX "%s", c->o.name);
	return kar_device_classes_find(&d->classes, name) ? name : NULL;
}

struct kar_device_asked kar_devices_ask_for(struct kar_devices *d, const char *ns,
	const struct kar_device_request *r)
{
	const struct kar_object *o = kar_store_get(d->in.classes, NULL, r->class);
	char name[KAR_DEVICECLASS_NAME];
	const char *resource = o && !o->unreadable ? resource_of(d, kar_as_deviceclass(o), name) : NULL;
	const struct kar_device_resource *is;
	struct kar_device_asked out = { 0 };
	bool added = false;

	if (!resource)
		return out;
	kar_devices_ask(d, resource);
	if (r->selectors.n) {
		out.part = kar_device_classes_part(&d->classes, ns, resource, &r->selectors, &added);
		out.unread = out.part ? NULL : "selectors of a device request";
	}
	if (added) {
		look_at_all(d);
		finish(d);
	}
	is = kar_device_classes_find(&d->classes, resource);
	out.resource = is->resource;
	if (is->doubts[KAR_DOUBT_LISTED])
		out.unread = "devices of nodes that list them";
	return out;
}

static void on_slice(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_devices *d = arg;
	const struct kar_resourceslice *was = old ? kar_as_resourceslice(old) : NULL,
				       *is = new ? kar_as_resourceslice(new) : NULL;

	if (was && is && kar_resourceslice_same(was, is))
		return;
	if (was && kar_device_pools_look(d->pools, was->pool_key))
		look_at_pool(d, was->pool_key);
	if (is && kar_device_pools_look(d->pools, is->pool_key))
		look_at_pool(d, is->pool_key);
	if (was)
		look_at(d, was->node_key);
	if (is && !(was && was->node_key == is->node_key))
		look_at(d, is->node_key);
	finish(d);
}

/* --- devices of claims ------------------------------------------------------------------------------- */

static bool lists_device(const struct kar_resourceslice *s, const char *device)
{
	for (uint32_t i = 0; i < s->n_devices; i++) {
		if (strcmp(s->devices[i].name, device) == 0)
			return true;
	}
	return false;
}

static bool lists_one_of(const struct kar_resourceslice *s, const struct kar_claimed *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		if (c->items[i].pool_key == s->pool_key && lists_device(s, c->items[i].device))
			return true;
	}
	return false;
}

static void look_at_claimed(struct kar_devices *d, const struct kar_claimed *c)
{
	const struct kar_object *o;

	for (uint32_t i = 0; i < c->n; i++) {
		if (i && c->items[i].pool_key == c->items[i - 1].pool_key)
			continue; /* most often all are of one pool */
		for (struct kar_iter it =
				kar_store_by_index(d->in.slices, KAR_SLICE_BY_POOL, c->items[i].pool_key);
			kar_iter_next(&it, &o);) {
			const struct kar_resourceslice *s = kar_as_resourceslice(o);

			if (!is_of_several(s) && lists_one_of(s, c))
				look_at(d, s->node_key);
		}
	}
}

static void on_claim(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_devices *d = arg;
	const struct kar_claimed was = kar_device_claims_of(old), is = kar_device_claims_of(new);

	if (!kar_device_claims_change(d->claims, old, new))
		return;
	look_at_claimed(d, &is);
	look_at_claimed(d, &was);
	finish(d);
}

/* The device of a claim, if it is one of a node that counts; NULL: it is not. */
static const struct kar_device *find_claimed(const struct kar_devices *d, const struct kar_claimed_device *of)
{
	const struct kar_object *o;

	for (struct kar_iter it = kar_store_by_index(d->in.slices, KAR_SLICE_BY_POOL, of->pool_key);
		kar_iter_next(&it, &o);) {
		const struct kar_resourceslice *s = kar_as_resourceslice(o);

		for (uint32_t i = 0;
			i < s->n_devices && !is_of_several(s) && kar_device_pools_counts(d->pools, s); i++) {
			if (strcmp(s->devices[i].name, of->device) == 0)
				return s->devices[i].tainted ? NULL : &s->devices[i];
		}
	}
	return NULL;
}

static uint32_t list_amounts(const struct kar_devices *d, const int64_t *counts, struct kar_arena *a,
	struct kar_sched_amount **out)
{
	uint32_t n = 0;

	*out = kar_arena_alloc(a, d->classes.n + 1, sizeof(**out));
	for (uint32_t i = 0; i < d->classes.n; i++) {
		if (counts[i] > 0)
			(*out)[n++] = (struct kar_sched_amount){ d->classes.items[i].resource, counts[i] };
	}
	return n;
}

uint32_t kar_devices_claimed(const struct kar_devices *d, struct kar_arena *a, struct kar_sched_amount **out)
{
	int64_t *counts = kar_arena_alloc(a, d->classes.n + 1, sizeof(*counts));

	for (uint32_t i = 0; i < d->classes.n; i++)
		counts[i] = d->classes.items[i].claimed;
	return list_amounts(d, counts, a, out);
}

uint32_t kar_devices_claimed_by(const struct kar_devices *d, const char *uid, struct kar_arena *a,
	struct kar_sched_amount **out)
{
	int64_t *counts = kar_arena_alloc(a, d->classes.n + 1, sizeof(*counts));
	uint8_t *doubts = kar_arena_alloc(a, d->classes.n + 1, 1);
	const struct kar_object *o;

	for (struct kar_iter it = kar_store_by_index(d->in.claims, KAR_CLAIM_BY_POD, uid);
		kar_iter_next(&it, &o);) {
		const struct kar_claimed c = kar_device_claims_of(o);

		for (uint32_t i = 0; i < c.n; i++) {
			const struct kar_device *device = find_claimed(d, &c.items[i]);

			if (device)
				kar_device_classes_count(&d->classes, device, counts, doubts);
		}
	}
	return list_amounts(d, counts, a, out);
}

/* --- nodes ------------------------------------------------------------------------------------------- */

/* The engine has a node that has changed without what classes offer. */
static void on_node(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_devices *d = arg;
	bool same = old && new &&kar_node_same_offer(kar_as_node(old), kar_as_node(new));

	assert(old || new);
	if (same)
		return;
	recount(d, new ? new->name : old->name, new ? kar_as_node(new) : NULL, new != NULL);
	if (new && (find_offer(d, new->name) || find_offer(d, KAR_SLICE_OF_SEVERAL)))
		tell(d, kar_as_node(new));
	finish(d);
}

struct kar_devices *kar_devices_new(const struct kar_devices_input *in)
{
	struct kar_devices *d = kar_xcalloc(1, sizeof(*d));

	d->in = *in;
	d->classes.strings = in->strings;
	d->classes.sched = kar_snapshot_sched(in->snapshot);
	d->pools = kar_device_pools_new(in->slices, in->strings);
	d->claims = kar_device_claims_new(in->strings);
	RB_INIT(&d->offers);
	kar_store_listen(in->nodes, on_node, d);
	kar_store_listen(in->classes, on_class, d);
	kar_store_listen(in->slices, on_slice, d);
	kar_store_listen(in->claims, on_claim, d);
	return d;
}

void kar_devices_listen(struct kar_devices *d, void (*changed)(void *arg), void *arg)
{
	d->changed = changed;
	d->arg = arg;
}

void kar_devices_free(struct kar_devices *d)
{
	struct offer *o;

	if (!d)
		return;
	while ((o = RB_ROOT(&d->offers)))
		withdraw(d, o);
	kar_device_classes_release(&d->classes);
	kar_device_pools_free(d->pools);
	kar_device_claims_free(d->claims);
	free(d);
}
