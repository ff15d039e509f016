#include "controllers/cluster/devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/sys/tree.h>

#include "api/core/node.h"
#include "api/core/resourceclaim.h"
#include "api/core/resourceslice.h"
#include "common/base/mem.h"
#include "common/base/str.h"
#include "common/kube/store.h"

static const char not_read[] = "a selector of its DeviceClass", shared[] = "devices that share counters",
		  overlap[] = "devices of several DeviceClasses",
		  two_names[] = "a DeviceClass that has another name as well";

/* An extended resource, and the class that serves it. */
struct served {
	const char *resource;                /* interned, one reference */
	const struct kar_deviceclass *class; /* of the cache */
	const char *doubt;                   /* static; NULL: its amounts are exact */
	bool implicit;                       /* named after the class */
};

/* A device that is allocated to claims that no extended resource stands for. */
struct taken {
	RB_ENTRY(taken) link;
	const char *pool_key, *device; /* interned, one reference each */
	uint32_t claims;
};
RB_HEAD(taken_tree, taken);

/* A node that offers something by classes. */
struct offer {
	RB_ENTRY(offer) link;
	const char *node;                 /* interned, one reference */
	struct kar_sched_amount *amounts; /* resources as in .served, one reference each */
	uint32_t n;
	bool counted; /* in the capacity */
};
RB_HEAD(offer_tree, offer);

struct kar_devices {
	struct kar_devices_input in;
	struct served *served; /* by name of the resource */
	uint32_t n_served;
	struct taken_tree taken;
	struct offer_tree offers;
	void (*changed)(void *arg);
	void *arg;
};

static int compare_taken(const struct taken *a, const struct taken *b)
{
	int order = strcmp(a->pool_key, b->pool_key);

	return order ? order : strcmp(a->device, b->device);
}

static int compare_offers(const struct offer *a, const struct offer *b)
{
	return strcmp(a->node, b->node);
}

RB_GENERATE_INTERNAL(taken_tree, taken, link, compare_taken, KAR_UNUSED static)
RB_GENERATE_INTERNAL(offer_tree, offer, link, compare_offers, KAR_UNUSED static)

/* --- classes ----------------------------------------------------------------------------------------- */

static struct served *find_served(const struct kar_devices *d, const char *resource)
{
	for (uint32_t i = 0; i < d->n_served; i++) {
		if (strcmp(d->served[i].resource, resource) == 0)
			return &d->served[i];
	}
	return NULL;
}

const struct kar_deviceclass *kar_devices_class(const struct kar_devices *d, const char *resource)
{
	const struct served *s = find_served(d, resource);

	return s ? s->class : NULL;
}

/* Of two classes of one name the younger one serves it, of two of one age the first by name. */
static bool goes_first(const struct kar_deviceclass *a, const struct kar_deviceclass *b)
{
	return a->creation != b->creation ? a->creation > b->creation : strcmp(a->o.name, b->o.name) < 0;
}

static void serve(struct kar_devices *d, const char *resource, const struct kar_deviceclass *class,
	bool implicit)
{
	struct served *known = find_served(d, resource);

	if (known && !goes_first(class, known->class))
		return;
	if (!known) {
		d->served = kar_xrealloc(d->served, d->n_served + 1, sizeof(*d->served));
		known = &d->served[d->n_served++];
		*known = (struct served){ .resource = kar_intern_get(d->in.strings, resource) };
	}
	known->class = class;
	known->implicit = implicit;
	known->doubt = implicit && kar_has_text(class->resource) ? two_names : NULL;
}

static void forget_served(struct kar_devices *d)
{
	for (uint32_t i = 0; i < d->n_served; i++) {
		kar_sched_doubt(kar_snapshot_sched(d->in.snapshot), d->served[i].resource, NULL);
		kar_intern_put(d->in.strings, d->served[i].resource);
	}
	d->n_served = 0;
}

static void read_classes(struct kar_devices *d)
{
	const struct kar_object *o;
	char name[sizeof(KAR_DEVICECLASS_PREFIX) + KAR_KEY_LEN];

	forget_served(d);
	for (struct kar_iter it = kar_store_all(d->in.classes); kar_iter_next(&it, &o);) {
		const struct kar_deviceclass *c = kar_as_deviceclass(o);

		if (kar_has_text(c->resource))
			serve(d, c->resource, c, false);
		snprintf(name, sizeof(name), KAR_DEVICECLASS_PREFIX "%s", o->name);
		serve(d, name, c, true);
	}
}

/* --- devices of a node ------------------------------------------------------------------------------- */

/* All slices of the newest generation of its pool are there, and it is one of them. */
static bool is_current(const struct kar_devices *d, const struct kar_resourceslice *s)
{
	const struct kar_object *o;
	int64_t n = 0;

	for (struct kar_iter it = kar_store_by_index(d->in.slices, KAR_SLICE_BY_POOL, s->pool_key);
		kar_iter_next(&it, &o);) {
		const struct kar_resourceslice *other = kar_as_resourceslice(o);

		if (other->generation > s->generation)
			return false;
		n += other->generation == s->generation;
	}
	return n == s->pool_slices;
}

static bool is_taken(const struct kar_devices *d, const struct kar_resourceslice *s,
	const struct kar_device *device)
{
	const struct taken wanted = { .pool_key = s->pool_key, .device = device->name };

	return RB_FIND(taken_tree, (struct taken_tree *)(uintptr_t)&d->taken,
		(struct taken *)(uintptr_t)&wanted);
}

static enum kar_match match(const struct kar_deviceclass *c, const struct kar_device *device)
{
	const char *const *selectors = c->selectors.items;
	enum kar_match all = KAR_MATCH;

	for (size_t i = 0; i < c->selectors.n; i++) {
		enum kar_match m =
			selectors[i] ? kar_selector_match(selectors[i], &device->view) : KAR_MATCH_UNKNOWN;

		if (m == KAR_NO_MATCH)
			return m;
		all = m == KAR_MATCH ? all : m;
	}
	return all;
}

static void doubt(struct served *s, const char *why)
{
	if (!s->doubt)
		s->doubt = why;
}

/* Adds the device to each resource that it may serve. */
static void count_device(struct kar_devices *d, const struct kar_device *device, int64_t *counts)
{
	const struct kar_deviceclass *class = NULL;
	bool several = false;

	for (uint32_t i = 0; i < d->n_served; i++) {
		struct served *s = &d->served[i];
		enum kar_match m = match(s->class, device);

		if (m == KAR_NO_MATCH)
			continue;
		counts[i]++;
		several |= class && class != s->class;
		class = s->class;
		if (m == KAR_MATCH_UNKNOWN)
			doubt(s, not_read);
		if (device->partial)
			doubt(s, shared);
	}
	for (uint32_t i = 0; several && i < d->n_served; i++) {
		if (match(d->served[i].class, device) != KAR_NO_MATCH)
			doubt(&d->served[i], overlap);
	}
}

static void count_devices(struct kar_devices *d, const char *node, int64_t *counts)
{
	const struct kar_object *o;

	for (struct kar_iter it = kar_store_by_index(d->in.slices, KAR_SLICE_BY_NODE, node);
		kar_iter_next(&it, &o);) {
		const struct kar_resourceslice *s = kar_as_resourceslice(o);

		for (uint32_t i = 0; i < s->n_devices && is_current(d, s); i++) {
			if (!s->devices[i].tainted && !is_taken(d, s, &s->devices[i]))
				count_device(d, &s->devices[i], counts);
		}
	}
}

/* A kubelet goes on listing 0 of a resource whose device plugin has gone, so that says nothing: kube-scheduler asks for devices then. */
static bool lists(const struct kar_node *node, const char *resource)
{
	for (uint32_t i = 0; i < node->offer.n_allocatable; i++) {
		if (strcmp(node->offer.allocatable[i].resource, resource) == 0)
			return node->offer.allocatable[i].amount > 0;
	}
	return false;
}

/* In @a; *@n is how many. */
static struct kar_sched_amount *amounts_of(struct kar_devices *d, const struct kar_node *node,
	struct kar_arena *a, uint32_t *n)
{
	int64_t *counts = kar_arena_alloc(a, d->n_served + 1, sizeof(*counts));
	struct kar_sched_amount *out = kar_arena_alloc(a, d->n_served + 1, sizeof(*out));

	count_devices(d, node->offer.name, counts);
	*n = 0;
	for (uint32_t i = 0; i < d->n_served; i++) {
		if (counts[i] && !lists(node, d->served[i].resource))
			out[(*n)++] = (struct kar_sched_amount){ d->served[i].resource, counts[i] };
	}
	return out;
}

/* --- what is told ------------------------------------------------------------------------------------ */

static struct offer *find_offer(const struct kar_devices *d, const char *node)
{
	const struct offer wanted = { .node = node };

	return RB_FIND(offer_tree, (struct offer_tree *)(uintptr_t)&d->offers,
		(struct offer *)(uintptr_t)&wanted);
}

static void withdraw(struct kar_devices *d, struct offer *o)
{
	if (o->counted)
		kar_capacity_add(d->in.capacity, o->amounts, o->n, -1);
	for (uint32_t i = 0; i < o->n; i++)
		kar_intern_put(d->in.strings, o->amounts[i].resource);
	RB_REMOVE(offer_tree, &d->offers, o);
	kar_intern_put(d->in.strings, o->node);
	free(o->amounts);
	free(o);
}

static void publish(struct kar_devices *d, const struct kar_node *node,
	const struct kar_sched_amount *amounts, uint32_t n)
{
	struct offer *o = kar_xcalloc(1, sizeof(*o));

	o->node = kar_intern_get(d->in.strings, node->offer.name);
	o->amounts = kar_xcalloc(n, sizeof(*o->amounts));
	o->n = n;
	for (uint32_t i = 0; i < n; i++)
		o->amounts[i] = (struct kar_sched_amount){ kar_intern_ref(d->in.strings, amounts[i].resource),
			amounts[i].amount };
	o->counted = kar_sched_usable(&node->offer);
	if (o->counted)
		kar_capacity_add(d->in.capacity, o->amounts, o->n, 1);
	RB_INSERT(offer_tree, &d->offers, o);
}

/* The node with what it offers by classes, for the engine. */
static void tell(struct kar_devices *d, const struct kar_node *node, const struct kar_sched_amount *more,
	uint32_t n, struct kar_arena *a)
{
	struct kar_node_offer offer = node->offer;
	struct kar_sched_amount *all =
		kar_arena_alloc(a, offer.n_allocatable + n + 1, sizeof(struct kar_sched_amount));

	if (offer.n_allocatable)
		memcpy(all, offer.allocatable, offer.n_allocatable * sizeof(*all));
	if (n)
		memcpy(all + offer.n_allocatable, more, n * sizeof(*all));
	offer.allocatable = all;
	offer.n_allocatable += n;
	kar_sched_node(kar_snapshot_sched(d->in.snapshot), &offer);
}

static void tell_doubts(const struct kar_devices *d)
{
	for (uint32_t i = 0; i < d->n_served; i++)
		kar_sched_doubt(kar_snapshot_sched(d->in.snapshot), d->served[i].resource,
			d->served[i].doubt);
}

static bool is_same(const struct offer *o, const struct kar_sched_amount *amounts, uint32_t n, bool usable)
{
	if (o->n != n || o->counted != usable)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(o->amounts[i].resource, amounts[i].resource) != 0 ||
			o->amounts[i].amount != amounts[i].amount)
			return false;
	}
	return true;
}

/* @changed: the node itself; the engine has it without what classes offer then. */
static void recount(struct kar_devices *d, const char *name, bool changed)
{
	const struct kar_object *o = kar_store_get(d->in.nodes, NULL, name);
	struct offer *known = find_offer(d, name);
	struct kar_arena a = { 0 };
	struct kar_sched_amount *amounts = NULL;
	bool news = known != NULL;
	uint32_t n = 0;

	if (o)
		amounts = amounts_of(d, kar_as_node(o), &a, &n);
	if (known && o && is_same(known, amounts, n, kar_sched_usable(&kar_as_node(o)->offer))) {
		news = changed;
	} else {
		news |= n > 0;
		if (known)
			withdraw(d, known);
		if (n)
			publish(d, kar_as_node(o), amounts, n);
	}
	if (o && news)
		tell(d, kar_as_node(o), amounts, n, &a);
	if (news && d->changed)
		d->changed(d->arg);
	tell_doubts(d);
	kar_arena_release(&a);
}

static void recount_pool(struct kar_devices *d, const char *pool_key)
{
	const struct kar_object *o;

	for (struct kar_iter it = kar_store_by_index(d->in.slices, KAR_SLICE_BY_POOL, pool_key);
		kar_iter_next(&it, &o);) {
		if (kar_as_resourceslice(o)->node_key)
			recount(d, kar_as_resourceslice(o)->node_key, false);
	}
}

/* --- changes ----------------------------------------------------------------------------------------- */

static void on_class(void *arg, const struct kar_object *old KAR_UNUSED,
	const struct kar_object *new KAR_UNUSED)
{
	struct kar_devices *d = arg;
	const struct kar_object *o;

	read_classes(d);
	for (struct kar_iter it = kar_store_all(d->in.nodes); kar_iter_next(&it, &o);)
		recount(d, o->name, false);
	if (d->changed)
		d->changed(d->arg);
}

static void on_slice(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_devices *d = arg;
	const struct kar_resourceslice *was = old ? kar_as_resourceslice(old) : NULL,
				       *is = new ? kar_as_resourceslice(new) : NULL;

	if (was && is && kar_resourceslice_same(was, is))
		return;
	if (was && was->node_key)
		recount(d, was->node_key, false);
	if (was)
		recount_pool(d, was->pool_key);
	if (is && !(was && was->pool_key == is->pool_key && was->node_key == is->node_key))
		recount_pool(d, is->pool_key);
}

static void take(struct kar_devices *d, const struct kar_claimed_device *c)
{
	const struct taken wanted = { .pool_key = c->pool_key, .device = c->device };
	struct taken *t = RB_FIND(taken_tree, &d->taken, (struct taken *)(uintptr_t)&wanted);

	if (!t) {
		t = kar_xcalloc(1, sizeof(*t));
		t->pool_key = kar_intern_ref(d->in.strings, c->pool_key);
		t->device = kar_intern_ref(d->in.strings, c->device);
		RB_INSERT(taken_tree, &d->taken, t);
	}
	t->claims++;
}

static void drop(struct kar_devices *d, struct taken *t)
{
	RB_REMOVE(taken_tree, &d->taken, t);
	kar_intern_put(d->in.strings, t->pool_key);
	kar_intern_put(d->in.strings, t->device);
	free(t);
}

static void give_back(struct kar_devices *d, const struct kar_claimed_device *c)
{
	const struct taken wanted = { .pool_key = c->pool_key, .device = c->device };
	struct taken *t = RB_FIND(taken_tree, &d->taken, (struct taken *)(uintptr_t)&wanted);

	assert(t);
	if (!--t->claims)
		drop(d, t);
}

/* Its devices, as far as they count; *@n is how many. */
static const struct kar_claimed_device *devices_of(const struct kar_object *o, uint32_t *n)
{
	const struct kar_resourceclaim *c = o ? kar_as_resourceclaim(o) : NULL;

	*n = c && !c->by_extended_resource ? c->n_devices : 0;
	return *n ? c->devices : NULL;
}

static void on_claim(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_devices *d = arg;
	uint32_t n_was, n_is;
	const struct kar_claimed_device *was = devices_of(old, &n_was), *is = devices_of(new, &n_is);

	for (uint32_t i = 0; i < n_is; i++)
		take(d, &is[i]);
	for (uint32_t i = 0; i < n_was; i++)
		give_back(d, &was[i]);
	for (uint32_t i = 0; i < n_is; i++)
		recount_pool(d, is[i].pool_key);
	for (uint32_t i = 0; i < n_was; i++)
		recount_pool(d, was[i].pool_key);
}

static void on_node(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	bool same = old && new &&kar_node_same_offer(kar_as_node(old), kar_as_node(new));

	assert(old || new);
	if (!same)
		recount(arg, new ? new->name : old->name, true);
}

struct kar_devices *kar_devices_new(const struct kar_devices_input *in)
{
	struct kar_devices *d = kar_xcalloc(1, sizeof(*d));

	d->in = *in;
	RB_INIT(&d->taken);
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
	struct taken *t;
	struct offer *o;

	if (!d)
		return;
	while ((o = RB_ROOT(&d->offers)))
		withdraw(d, o);
	while ((t = RB_ROOT(&d->taken)))
		drop(d, t);
	forget_served(d);
	free(d->served);
	free(d);
}
