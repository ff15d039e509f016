#include "common/kube/store_index.h"

#include <assert.h>
#include <stdlib.h>

#include "common/base/mem.h"

enum { FIRST_ROOM = 8 };
#define NONE KAR_STORE_NONE

struct kar_store_links {
	uint32_t before, after;
};

struct kar_store_value {
	const char *value; /* NULL: empty slot */
	uint32_t first, count;
};

void kar_store_index_release(struct kar_store_index *x)
{
	free(x->links);
	free(x->values);
	*x = (struct kar_store_index){ 0 };
}

void kar_store_index_reserve(struct kar_store_index *x, uint32_t n_entries)
{
	x->links = kar_xrealloc(x->links, n_entries, sizeof(*x->links));
}

/* Where a search for @value begins. Addresses of small blocks differ little: mix them well. */
static uint32_t home(const struct kar_store_index *x, const char *value)
{
	uint64_t h = (uint64_t)(uintptr_t)value * 0x9e3779b97f4a7c15;

	return (uint32_t)(h >> 32) & (x->room - 1);
}

/* The slot of @value, or the empty one where it would be. */
static uint32_t slot_of(const struct kar_store_index *x, const char *value)
{
	uint32_t at = home(x, value);

	while (x->values[at].value && x->values[at].value != value)
		at = (at + 1) & (x->room - 1);
	return at;
}

static const struct kar_store_value *find(const struct kar_store_index *x, const char *value)
{
	return x->room && value ? &x->values[slot_of(x, value)] : NULL;
}

static void grow(struct kar_store_index *x)
{
	struct kar_store_value *old = x->values;
	uint32_t n = x->room;

	x->room = n ? 2 * n : FIRST_ROOM;
	x->values = kar_xcalloc(x->room, sizeof(*x->values));
	for (uint32_t i = 0; i < n; i++) {
		if (old[i].value)
			x->values[slot_of(x, old[i].value)] = old[i];
	}
	free(old);
}

static struct kar_store_value *find_or_make(struct kar_store_index *x, const char *value)
{
	if (4 * (uint64_t)x->n_values >= 3 * (uint64_t)x->room)
		grow(x);

	struct kar_store_value *v = &x->values[slot_of(x, value)];

	if (!v->value) {
		*v = (struct kar_store_value){ .value = value, .first = NONE };
		x->n_values++;
	}
	return v;
}

/* Closes the gap, so that no search ever needs a tombstone (Knuth 6.4, algorithm R). */
static void forget(struct kar_store_index *x, uint32_t gap)
{
	uint32_t mask = x->room - 1;

	for (uint32_t at = (gap + 1) & mask; x->values[at].value; at = (at + 1) & mask) {
		uint32_t start = home(x, x->values[at].value);

		if (((at - start) & mask) < ((at - gap) & mask))
			continue;
		x->values[gap] = x->values[at];
		gap = at;
	}
	x->values[gap].value = NULL;
	x->n_values--;
}

void kar_store_index_add(struct kar_store_index *x, uint32_t entry, const char *value)
{
	if (!value)
		return;

	struct kar_store_value *v = find_or_make(x, value);

	x->links[entry] = (struct kar_store_links){ .before = NONE, .after = v->first };
	if (v->first != NONE)
		x->links[v->first].before = entry;
	v->first = entry;
	v->count++;
}

void kar_store_index_remove(struct kar_store_index *x, uint32_t entry, const char *value)
{
	if (!value)
		return;

	uint32_t slot = slot_of(x, value);
	struct kar_store_value *v = &x->values[slot];
	struct kar_store_links l = x->links[entry];

	assert(v->value == value && v->count > 0);
	if (l.before == NONE)
		v->first = l.after;
	else
		x->links[l.before].after = l.after;
	if (l.after != NONE)
		x->links[l.after].before = l.before;
	if (--v->count == 0)
		forget(x, slot);
}

uint32_t kar_store_index_first(const struct kar_store_index *x, const char *value)
{
	const struct kar_store_value *v = find(x, value);

	return v && v->value ? v->first : NONE;
}

uint32_t kar_store_index_next(const struct kar_store_index *x, uint32_t entry)
{
	return x->links[entry].after;
}

uint32_t kar_store_index_size(const struct kar_store_index *x, const char *value)
{
	const struct kar_store_value *v = find(x, value);

	return v && v->value ? v->count : 0;
}
