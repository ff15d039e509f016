#include "sim/scenario/lookup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/intern.h"
#include "common/base/mem.h"

enum { FIRST_ROOM = 64 }; /* a power of two */

struct sim_lookup_slot {
	const char *name; /* NULL: free */
	uint64_t hash;
	size_t number;
};

/* The slot of @name, or the free one where it belongs. */
static struct sim_lookup_slot *find(const struct sim_lookup *l, const char *name, uint64_t hash)
{
	for (size_t i = (size_t)(hash ^ hash >> 32);; i++) {
		struct sim_lookup_slot *s = &l->slots[i & (l->room - 1)];

		if (!s->name || (s->hash == hash && !strcmp(s->name, name)))
			return s;
	}
}

static void grow(struct sim_lookup *l)
{
	struct sim_lookup old = *l;

	l->room = old.room ? old.room * 2 : FIRST_ROOM;
	l->slots = kar_xcalloc(l->room, sizeof(*l->slots));
	for (size_t i = 0; i < old.room; i++) {
		if (old.slots[i].name)
			*find(l, old.slots[i].name, old.slots[i].hash) = old.slots[i];
	}
	free(old.slots);
}

void sim_lookup_put(struct sim_lookup *l, const char *name, size_t number)
{
	uint64_t hash = kar_hash_str(0, name);
	struct sim_lookup_slot *s;

	if (2 * l->n >= l->room)
		grow(l);
	s = find(l, name, hash);
	l->n += !s->name;
	*s = (struct sim_lookup_slot){ name, hash, number };
}

size_t sim_lookup_get(const struct sim_lookup *l, const char *name)
{
	const struct sim_lookup_slot *s = l->room ? find(l, name, kar_hash_str(0, name)) : NULL;

	return s && s->name ? s->number : SIZE_MAX;
}

void sim_lookup_release(struct sim_lookup *l)
{
	free(l->slots);
	*l = (struct sim_lookup){ 0 };
}

const char *sim_key(const char *ns, const char *name, char out[SIM_KEY_LEN])
{
	snprintf(out, SIM_KEY_LEN, "%s/%s", ns ? ns : "", name);
	return out;
}
