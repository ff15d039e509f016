#include "controllers/cluster/device_pools.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/sys/tree.h>

#include "common/base/mem.h"

struct pool {
	RB_ENTRY(pool) link;
	const char *key;    /* interned, one reference */
	int64_t generation; /* the newest */
	bool complete;
};
RB_HEAD(pools, pool);

struct kar_device_pools {
	struct kar_store *slices;
	struct kar_intern *strings;
	struct pools pools;
};

static int compare(const struct pool *a, const struct pool *b)
{
	return strcmp(a->key, b->key);
}

RB_GENERATE_INTERNAL(pools, pool, link, compare, KAR_UNUSED static)

struct kar_device_pools *kar_device_pools_new(struct kar_store *slices, struct kar_intern *strings)
{
	struct kar_device_pools *p = kar_xcalloc(1, sizeof(*p));

	p->slices = slices;
	p->strings = strings;
	RB_INIT(&p->pools);
	return p;
}

static void drop(struct kar_device_pools *p, struct pool *pool)
{
	RB_REMOVE(pools, &p->pools, pool);
	kar_intern_put(p->strings, pool->key);
	free(pool);
}

void kar_device_pools_free(struct kar_device_pools *p)
{
	struct pool *pool;

	while (p && (pool = RB_ROOT(&p->pools)))
		drop(p, pool);
	free(p);
}

static struct pool *find(const struct kar_device_pools *p, const char *key)
{
	const struct pool wanted = { .key = key };

	return RB_FIND(pools, (struct pools *)(uintptr_t)&p->pools, (struct pool *)(uintptr_t)&wanted);
}

/* The slices of the newest generation must agree on how many they are. Returns how many slices there are of any generation. */
static int64_t read_slices(const struct kar_device_pools *p, const char *key, struct pool *out)
{
	const struct kar_object *o;
	int64_t all = 0, n = 0, wanted = 0;

	for (struct kar_iter it = kar_store_by_index(p->slices, KAR_SLICE_BY_POOL, key);
		kar_iter_next(&it, &o); all++) {
		const struct kar_resourceslice *s = kar_as_resourceslice(o);

		if (!all || s->generation > out->generation) {
			out->generation = s->generation;
			wanted = s->pool_slices;
			n = 0;
		}
		if (s->generation == out->generation)
			n = s->pool_slices == wanted ? n + 1 : INT32_MIN;
	}
	out->complete = n > 0 && n == wanted;
	return all;
}

bool kar_device_pools_look(struct kar_device_pools *p, const char *pool_key)
{
	struct pool *known = find(p, pool_key), was = known ? *known : (struct pool){ 0 }, is = { 0 };

	if (!read_slices(p, pool_key, &is)) {
		if (known)
			drop(p, known);
	} else {
		if (!known) {
			known = kar_xcalloc(1, sizeof(*known));
			known->key = kar_intern_get(p->strings, pool_key);
			RB_INSERT(pools, &p->pools, known);
		}
		known->generation = is.generation;
		known->complete = is.complete;
	}
	return was.complete != is.complete || (is.complete && was.generation != is.generation);
}

bool kar_device_pools_counts(const struct kar_device_pools *p, const struct kar_resourceslice *s)
{
	const struct pool *pool = find(p, s->pool_key);

	return pool && pool->complete && pool->generation == s->generation;
}
