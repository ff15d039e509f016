#include "controllers/cluster/device_claims.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/sys/tree.h>

#include "common/base/mem.h"

struct taken {
	RB_ENTRY(taken) link;
	const char *pool_key, *device; /* interned, one reference each */
	uint32_t claims;
};
RB_HEAD(taken_tree, taken);

struct kar_device_claims {
	struct kar_intern *strings;
	struct taken_tree taken;
};

static int compare(const struct taken *a, const struct taken *b)
{
	int order = strcmp(a->pool_key, b->pool_key);

	return order ? order : strcmp(a->device, b->device);
}

RB_GENERATE_INTERNAL(taken_tree, taken, link, compare, KAR_UNUSED static)

struct kar_device_claims *kar_device_claims_new(struct kar_intern *strings)
{
	struct kar_device_claims *c = kar_xcalloc(1, sizeof(*c));

	c->strings = strings;
	RB_INIT(&c->taken);
	return c;
}

static void drop(struct kar_device_claims *c, struct taken *t)
{
	RB_REMOVE(taken_tree, &c->taken, t);
	kar_intern_put(c->strings, t->pool_key);
	kar_intern_put(c->strings, t->device);
	free(t);
}

void kar_device_claims_free(struct kar_device_claims *c)
{
	struct taken *t;

	while (c && (t = RB_ROOT(&c->taken)))
		drop(c, t);
	free(c);
}

static struct taken *find(const struct kar_device_claims *c, const char *pool_key, const char *device)
{
	const struct taken wanted = { .pool_key = pool_key, .device = device };

	return RB_FIND(taken_tree, (struct taken_tree *)(uintptr_t)&c->taken,
		(struct taken *)(uintptr_t)&wanted);
}

bool kar_device_claims_have(const struct kar_device_claims *c, const char *pool_key, const char *device)
{
	return find(c, pool_key, device);
}

/* --- changes ----------------------------------------------------------------------------------------- */

static void take(struct kar_device_claims *c, const struct kar_claimed_device *device)
{
	struct taken *t = find(c, device->pool_key, device->device);

	if (!t) {
		t = kar_xcalloc(1, sizeof(*t));
		t->pool_key = kar_intern_ref(c->strings, device->pool_key);
		t->device = kar_intern_ref(c->strings, device->device);
		RB_INSERT(taken_tree, &c->taken, t);
	}
	t->claims++;
}

static void give_back(struct kar_device_claims *c, const struct kar_claimed_device *device)
{
	struct taken *t = find(c, device->pool_key, device->device);

	assert(t);
	if (!--t->claims)
		drop(c, t);
}

struct kar_claimed kar_device_claims_of(const struct kar_object *claim)
{
	const struct kar_resourceclaim *c = claim ? kar_as_resourceclaim(claim) : NULL;

	return c && !c->by_extended_resource ? (struct kar_claimed){ c->devices, c->n_devices }
					     : (struct kar_claimed){ NULL, 0 };
}

static bool is_same(const struct kar_claimed *a, const struct kar_claimed *b)
{
	for (uint32_t i = 0; a->n == b->n && i < a->n; i++) {
		if (a->items[i].pool_key != b->items[i].pool_key || a->items[i].device != b->items[i].device)
			return false;
	}
	return a->n == b->n;
}

bool kar_device_claims_change(struct kar_device_claims *c, const struct kar_object *old,
	const struct kar_object *new)
{
	const struct kar_claimed was = kar_device_claims_of(old), is = kar_device_claims_of(new);

	if (is_same(&was, &is))
		return false;
	for (uint32_t i = 0; i < is.n; i++)
		take(c, &is.items[i]);
	for (uint32_t i = 0; i < was.n; i++)
		give_back(c, &was.items[i]);
	return true;
}
