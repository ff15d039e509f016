#include <stdlib.h>
#include <string.h>

#include "common/base/intern.h"
#include "common/base/mem.h"
#include "sim/tree_impl.h"

enum { FIRST_ROOM = 4, SMALL = 32 /* members that are searched without an index */, FIRST_BUCKETS = 1024 };

/* ---- keys ---- */

/* One table for the process: it has no effect but memory saved and comparisons that are short. */
static struct {
	struct sim_key **buckets;
	size_t n, count;
} keys;

/* Seeded, so that keys chosen to collide in one process do not in the next. */
static uint64_t hash_of(const char *s)
{
	return kar_hash_str((uint64_t)(uintptr_t)&keys, s);
}

static struct sim_key **bucket(uint64_t hash)
{
	return &keys.buckets[(hash ^ hash >> 32) & (keys.n - 1)];
}

static void grow_keys(void)
{
	struct sim_key **old = keys.buckets;
	size_t n = keys.n;

	keys.n = n ? 2 * n : FIRST_BUCKETS;
	keys.buckets = kar_xcalloc(keys.n, sizeof(*keys.buckets));
	for (size_t i = 0; i < n; i++) {
		for (struct sim_key *k = old[i], *next; k; k = next) {
			struct sim_key **b = bucket(k->hash);

			next = k->next;
			k->next = *b;
			*b = k;
		}
	}
	free(old);
}

/* New reference. */
static struct sim_key *key_get(const char *s)
{
	uint64_t hash = hash_of(s);
	struct sim_key *k;
	size_t size;

	if (keys.count == keys.n)
		grow_keys();
	for (k = *bucket(hash); k; k = k->next) {
		if (k->hash == hash && !strcmp(k->p, s)) {
			k->refs++;
			return k;
		}
	}
	size = strlen(s) + 1;
	k = kar_xmalloc(sizeof(*k) + size);
	*k = (struct sim_key){ .next = *bucket(hash), .hash = hash, .refs = 1, .n = size - 1 };
	memcpy(k->p, s, size);
	*bucket(hash) = k;
	keys.count++;
	return k;
}

static void key_put(struct sim_key *k)
{
	struct sim_key **at;

	if (--k->refs)
		return;
	for (at = bucket(k->hash); *at != k; at = &(*at)->next)
		;
	*at = k->next;
	keys.count--;
	free(k);
}

/* The first bytes as a number, the rest zero: equal for equal keys, and unequal for most others. @whole: that is all. */
static uint64_t prefix_of(const char *s, bool *whole)
{
	char bytes[8] = { 0 };
	uint64_t prefix;

	for (size_t i = 0; i < sizeof(bytes) && s[i]; i++)
		bytes[i] = s[i];
	*whole = !bytes[sizeof(bytes) - 1];
	memcpy(&prefix, bytes, sizeof(prefix));
	return prefix;
}

/* ---- index ---- */

static size_t index_size(size_t room)
{
	size_t size = 2 * SMALL;

	while (size < 2 * room)
		size *= 2;
	return size;
}

static void enter(struct sim_map *m, size_t position)
{
	size_t mask = index_size(m->room) - 1,
	       i = (m->pairs[position].key->hash ^ m->pairs[position].key->hash >> 32) & mask;

	while (m->index[i])
		i = (i + 1) & mask;
	m->index[i] = (uint32_t)position + 1;
}

static void make_index(struct sim_map *m)
{
	free(m->index);
	m->index = NULL;
	if (m->room <= SMALL)
		return;
	m->index = kar_xcalloc(index_size(m->room), sizeof(*m->index));
	for (size_t i = 0; i < m->used; i++)
		enter(m, i);
}

static struct sim_pair *find_indexed(const struct sim_map *m, const char *key)
{
	uint64_t hash = hash_of(key);
	size_t mask = index_size(m->room) - 1;

	for (size_t i = (hash ^ hash >> 32) & mask; m->index[i]; i = (i + 1) & mask) {
		const struct sim_pair *p = &m->pairs[m->index[i] - 1];

		if (p->key && p->key->hash == hash && !strcmp(p->key->p, key))
			return (struct sim_pair *)(uintptr_t)p;
	}
	return NULL;
}

struct sim_pair *sim_map_find(const struct sim_map *m, const char *key)
{
	uint64_t prefix;
	bool whole;

	if (m->index)
		return find_indexed(m, key);
	prefix = prefix_of(key, &whole);
	for (size_t i = 0; i < m->used; i++) {
		const struct sim_pair *p = &m->pairs[i];

		if (p->prefix == prefix && p->key &&
			(whole || !strcmp(p->key->p + sizeof(prefix), key + sizeof(prefix))))
			return (struct sim_pair *)(uintptr_t)p;
	}
	return NULL;
}

struct sim_pair *sim_map_find_key(const struct sim_map *m, const struct sim_key *key, size_t hint)
{
	if (hint < m->used && m->pairs[hint].key == key)
		return (struct sim_pair *)(uintptr_t)&m->pairs[hint];
	if (m->index)
		return find_indexed(m, key->p);
	for (size_t i = 0; i < m->used; i++) {
		if (m->pairs[i].key == key)
			return (struct sim_pair *)(uintptr_t)&m->pairs[i];
	}
	return NULL;
}

/* ---- life ---- */

struct sim_value *sim_map_new(size_t room)
{
	struct sim_map *m = kar_xmalloc(sizeof(*m) + room * sizeof(m->pairs[0]));

	*m = (struct sim_map){ .head = { 1, SIM_OBJECT }, .room = room };
	return &m->head;
}

static void take_pairs(struct sim_map *to, const struct sim_map *from)
{
	for (size_t i = 0; i < from->used; i++) {
		if (from->pairs[i].key)
			to->pairs[to->used++] = from->pairs[i];
	}
	to->n = to->used;
}

struct sim_value *sim_map_copy(const struct sim_map *m)
{
	struct sim_map *copy = sim_map_of(sim_map_new(m->n + 1));

	take_pairs(copy, m);
	for (size_t i = 0; i < copy->used; i++) {
		copy->pairs[i].key->refs++;
		sim_ref(copy->pairs[i].value);
	}
	make_index(copy);
	return &copy->head;
}

void sim_map_free(struct sim_map *m)
{
	for (size_t i = 0; i < m->used; i++) {
		if (m->pairs[i].key)
			key_put(m->pairs[i].key);
		sim_unref(m->pairs[i].value);
	}
	free(m->index);
	free(m);
}

/* Removed pairs make room if they are many, else it grows. */
static void make_room(struct sim_value **v)
{
	struct sim_map *old = sim_map_of(*v);
	size_t room = old->n < old->used / 2 ? old->room : 2 * old->room;
	struct sim_map *m = sim_map_of(sim_map_new(room < FIRST_ROOM ? FIRST_ROOM : room));

	take_pairs(m, old);
	make_index(m);
	free(old->index);
	free(old);
	*v = &m->head;
}

void sim_map_put(struct sim_value **v, const char *key, struct sim_value *consumed)
{
	struct sim_map *m = sim_map_of(*v);
	struct sim_pair *p = sim_map_find(m, key);
	bool whole;

	if (p) {
		struct sim_value *before = p->value;

		p->value = consumed;
		sim_unref(before);
		return;
	}
	if (m->used == m->room) {
		make_room(v);
		m = sim_map_of(*v);
	}
	m->pairs[m->used] = (struct sim_pair){ key_get(key), prefix_of(key, &whole), consumed };
	m->n++;
	if (m->index)
		enter(m, m->used);
	m->used++;
}

void sim_map_remove(struct sim_map *m, struct sim_pair *pair)
{
	struct sim_value *value = pair->value;

	key_put(pair->key);
	m->n--;
	if (m->index) {
		*pair = (struct sim_pair){ 0 };
	} else {
		m->used--;
		memmove(pair, pair + 1, (size_t)(&m->pairs[m->used] - pair) * sizeof(*pair));
	}
	sim_unref(value);
}
