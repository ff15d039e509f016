#include "common/kube/store.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/siphash.h"
#include "common/kube/store_index.h"

enum {
	MAX_LISTENERS = 24,
	FIRST_ROOM = 16, /* entries and slots; both stay powers of two */
	MAX_NAMESPACE = 63,
	WALK_ALL = -1,
};
#define NONE KAR_STORE_NONE

/* One object. Its number is its address: in the slots of the name table and in the lists of the indexes. */
struct entry {
	struct kar_object *o; /* NULL: free */
	uint32_t hash;        /* of ns and name, keyed; while free: the next free entry */
	uint32_t seen;        /* the last replace that listed this very version */
};

struct change {
	const struct kar_object *old; /* a reference, dropped after the listeners */
	struct kar_object *new;       /* while staged: a reference; afterwards the store's */
};

struct changes {
	struct change *items;
	size_t n, room;
};

struct kar_store {
	const struct kar_type *type;
	struct kar_intern *strings;
	struct kar_hash_key key;
	struct entry *entries;
	uint32_t n_entries, room; /* used or freed; allocated */
	uint32_t free;            /* head of the freed ones */
	uint32_t count;
	uint32_t *slots; /* open addressing by name; twice `room` of them, so never more than half full */
	struct kar_store_index index[KAR_MAX_INDEX];
	kar_rv rv;
	bool synced, replacing;
	uint32_t replace; /* number of the current one */
	struct changes staged;
	struct {
		kar_store_fn *fn;
		void *arg;
	} listeners[MAX_LISTENERS];
	int n_listeners;
};

struct kar_store *kar_store_new(const struct kar_type *t, struct kar_intern *strings)
{
	struct kar_store *s = kar_xcalloc(1, sizeof(*s));

	assert(t->n_index >= 0 && t->n_index <= KAR_MAX_INDEX);
	s->type = t;
	s->strings = strings;
	s->key = kar_hash_key_new();
	s->free = NONE;
	return s;
}

void kar_store_free(struct kar_store *s)
{
	if (!s)
		return;
	kar_store_replace_abort(s);
	for (uint32_t e = 0; e < s->n_entries; e++)
		kar_object_unref(s->entries[e].o);
	for (int i = 0; i < s->type->n_index; i++)
		kar_store_index_release(&s->index[i]);
	free(s->entries);
	free(s->slots);
	free(s);
}

void kar_store_listen(struct kar_store *s, kar_store_fn *fn, void *arg)
{
	assert(s->n_listeners < MAX_LISTENERS);
	s->listeners[s->n_listeners].fn = fn;
	s->listeners[s->n_listeners++].arg = arg;
}

const struct kar_type *kar_store_type(const struct kar_store *s)
{
	return s->type;
}

struct kar_intern *kar_store_strings(const struct kar_store *s)
{
	return s->strings;
}

size_t kar_store_count(const struct kar_store *s)
{
	return s->count;
}

kar_rv kar_store_rv(const struct kar_store *s)
{
	return s->rv;
}

bool kar_store_synced(const struct kar_store *s)
{
	return s->synced;
}

/* The table of names. */

/* Of as much as names can have by the API; what is cut is compared all the same. */
static uint32_t hash_name(const struct kar_store *s, const char *ns, const char *name)
{
	char key[KAR_KEY_LEN];
	size_t n = ns ? strnlen(ns, MAX_NAMESPACE) : 0, n_name = strnlen(name, sizeof(key) - 1 - n);

	if (n)
		memcpy(key, ns, n);
	key[n++] = '/';
	memcpy(key + n, name, n_name);
	return (uint32_t)kar_siphash(&s->key, key, n + n_name);
}

static bool is_named(const struct kar_object *o, const char *ns, const char *name)
{
	return strcmp(o->name, name) == 0 && strcmp(o->ns ? o->ns : "", ns ? ns : "") == 0;
}

static uint32_t slot_mask(const struct kar_store *s)
{
	return 2 * s->room - 1;
}

static uint32_t find(const struct kar_store *s, const char *ns, const char *name)
{
	if (!s->room)
		return NONE;

	uint32_t hash = hash_name(s, ns, name);
	uint32_t at = hash & slot_mask(s);

	for (; s->slots[at] != NONE; at = (at + 1) & slot_mask(s)) {
		const struct entry *e = &s->entries[s->slots[at]];

		if (e->hash == hash && is_named(e->o, ns, name))
			return s->slots[at];
	}
	return NONE;
}

size_t kar_store_longest_search(const struct kar_store *s)
{
	size_t longest = 0;

	for (uint32_t at = 0; s->room && at <= slot_mask(s); at++) {
		if (s->slots[at] == NONE)
			continue;

		uint32_t n = ((at - s->entries[s->slots[at]].hash) & slot_mask(s)) + 1;

		longest = n > longest ? n : longest;
	}
	return longest;
}

static void fill_slot(struct kar_store *s, uint32_t number)
{
	uint32_t at = s->entries[number].hash & slot_mask(s);

	while (s->slots[at] != NONE)
		at = (at + 1) & slot_mask(s);
	s->slots[at] = number;
}

/* Closes the gap, so that no search ever needs a tombstone (Knuth 6.4, algorithm R). */
static void empty_slot(struct kar_store *s, uint32_t number)
{
	uint32_t mask = slot_mask(s);
	uint32_t gap = s->entries[number].hash & mask;

	while (s->slots[gap] != number)
		gap = (gap + 1) & mask;
	for (uint32_t at = (gap + 1) & mask; s->slots[at] != NONE; at = (at + 1) & mask) {
		uint32_t home = s->entries[s->slots[at]].hash & mask;

		if (((at - home) & mask) < ((at - gap) & mask))
			continue;
		s->slots[gap] = s->slots[at];
		gap = at;
	}
	s->slots[gap] = NONE;
}

/* The entries. */

static void grow(struct kar_store *s)
{
	assert(s->room < NONE / 4);
	s->room = s->room ? 2 * s->room : FIRST_ROOM;
	s->entries = kar_xrealloc(s->entries, s->room, sizeof(*s->entries));
	for (int i = 0; i < s->type->n_index; i++)
		kar_store_index_reserve(&s->index[i], s->room);
	free(s->slots);
	s->slots = kar_xmalloc(2 * (size_t)s->room * sizeof(*s->slots));
	memset(s->slots, 0xff, 2 * (size_t)s->room * sizeof(*s->slots));
	for (uint32_t e = 0; e < s->n_entries; e++) {
		if (s->entries[e].o)
			fill_slot(s, e);
	}
}

static uint32_t take_entry(struct kar_store *s)
{
	uint32_t number = s->free;

	if (number != NONE) {
		s->free = s->entries[number].hash;
		return number;
	}
	if (s->n_entries == s->room)
		grow(s);
	return s->n_entries++;
}

static void insert(struct kar_store *s, struct kar_object *o)
{
	uint32_t number = take_entry(s);

	s->entries[number] =
		(struct entry){ .o = o, .hash = hash_name(s, o->ns, o->name), .seen = s->replace };
	fill_slot(s, number);
	for (int i = 0; i < s->type->n_index; i++)
		kar_store_index_add(&s->index[i], number, s->type->index_key(o, i));
	s->count++;
}

/* Takes the object out and hands over the store's reference. */
static const struct kar_object *take_out(struct kar_store *s, uint32_t number)
{
	struct entry *e = &s->entries[number];
	const struct kar_object *o = e->o;

	empty_slot(s, number);
	for (int i = 0; i < s->type->n_index; i++)
		kar_store_index_remove(&s->index[i], number, s->type->index_key(o, i));
	e->o = NULL;
	e->hash = s->free;
	s->free = number;
	s->count--;
	return o;
}

/* Replaces the object of an entry by @o. The indexes change first: they use the interned keys of the old object. */
static const struct kar_object *swap(struct kar_store *s, uint32_t number, struct kar_object *o)
{
	struct entry *e = &s->entries[number];
	const struct kar_object *old = e->o;

	for (int i = 0; i < s->type->n_index; i++) {
		const char *was = s->type->index_key(old, i), *is = s->type->index_key(o, i);

		if (was == is)
			continue;
		kar_store_index_remove(&s->index[i], number, was);
		kar_store_index_add(&s->index[i], number, is);
	}
	e->o = o;
	e->seen = s->replace;
	return old;
}

static const struct kar_object *insert_or_swap(struct kar_store *s, struct kar_object *o)
{
	uint32_t number = find(s, o->ns, o->name);

	if (number != NONE)
		return swap(s, number, o);
	insert(s, o);
	return NULL;
}

/* Telling. */

static bool is_same(const struct kar_object *a, const struct kar_object *b)
{
	return strcmp(a->uid, b->uid) == 0;
}

static void tell_one(struct kar_store *s, const struct kar_object *old, const struct kar_object *new)
{
	for (int i = 0; i < s->n_listeners; i++)
		s->listeners[i].fn(s->listeners[i].arg, old, new);
}

/* One name, two objects: the second is not a version of the first, so nobody may see an "update". */
static void tell(struct kar_store *s, const struct kar_object *old, const struct kar_object *new)
{
	if (old && new && !is_same(old, new)) {
		tell_one(s, old, NULL);
		tell_one(s, NULL, new);
		return;
	}
	tell_one(s, old, new);
}

static void advance(struct kar_store *s, kar_rv rv)
{
	if (rv > s->rv)
		s->rv = rv;
}

/* Reads. */

const struct kar_object *kar_store_get(const struct kar_store *s, const char *ns, const char *name)
{
	uint32_t number = find(s, ns, name);

	return number == NONE ? NULL : s->entries[number].o;
}

struct kar_iter kar_store_all(const struct kar_store *s)
{
	return (struct kar_iter){ .store = s, .index = WALK_ALL, .at = 0 };
}

struct kar_iter kar_store_by_index(const struct kar_store *s, int index, const char *value)
{
	assert(index >= 0 && index < s->type->n_index);

	uint32_t first = kar_store_index_first(&s->index[index], kar_intern_find(s->strings, value));

	return (struct kar_iter){ .store = s, .index = index, .at = first };
}

bool kar_iter_next(struct kar_iter *it, const struct kar_object **o)
{
	const struct kar_store *s = it->store;

	if (it->index == WALK_ALL) {
		while (it->at < s->n_entries && !s->entries[it->at].o)
			it->at++;
		if (it->at >= s->n_entries)
			return false;
		*o = s->entries[it->at++].o;
		return true;
	}
	if (it->at == NONE)
		return false;
	*o = s->entries[it->at].o;
	it->at = kar_store_index_next(&s->index[it->index], it->at);
	return true;
}

size_t kar_store_index_count(const struct kar_store *s, int index, const char *value)
{
	assert(index >= 0 && index < s->type->n_index);
	return kar_store_index_size(&s->index[index], kar_intern_find(s->strings, value));
}

/* Changes one by one. */

/* Versions of one type compare across objects (KEP-5504): lower means older, whoever's UID it has. */
static bool is_newer(kar_rv rv, const struct kar_object *known)
{
	return !rv || !known->rv || rv > known->rv;
}

void kar_store_apply(struct kar_store *s, struct kar_object *o)
{
	assert(!s->replacing && o->type == s->type);

	const struct kar_object *known = kar_store_get(s, o->ns, o->name);

	if (known && !is_newer(o->rv, known)) {
		kar_object_unref(o);
		return;
	}

	const struct kar_object *old = insert_or_swap(s, o);

	advance(s, o->rv);
	tell(s, old, o);
	kar_object_unref(old);
}

void kar_store_delete(struct kar_store *s, const char *ns, const char *name, const char *uid, kar_rv rv)
{
	assert(!s->replacing);

	uint32_t number = find(s, ns, name);

	advance(s, rv);
	if (number == NONE)
		return;

	const struct kar_object *known = s->entries[number].o;
	bool newer = is_newer(rv, known) || rv == known->rv;

	if ((uid && strcmp(uid, known->uid)) || !newer)
		return;
	take_out(s, number);
	tell(s, known, NULL);
	kar_object_unref(known);
}

void kar_store_bookmark(struct kar_store *s, kar_rv rv)
{
	advance(s, rv);
}

/* Replacing everything. */

static void add_change(struct changes *c, const struct kar_object *old, struct kar_object *new)
{
	if (c->n == c->room) {
		c->room = c->room ? 2 * c->room : FIRST_ROOM;
		c->items = kar_xrealloc(c->items, c->room, sizeof(*c->items));
	}
	c->items[c->n++] = (struct change){ .old = old, .new = new };
}

static void tell_all(struct kar_store *s, const struct changes *c)
{
	for (size_t i = 0; i < c->n; i++)
		tell(s, c->items[i].old, c->items[i].new);
}

static void release_changes(struct changes *c)
{
	for (size_t i = 0; i < c->n; i++)
		kar_object_unref(c->items[i].old);
	free(c->items);
	*c = (struct changes){ 0 };
}

void kar_store_replace_begin(struct kar_store *s)
{
	assert(!s->replacing);
	s->replacing = true;
	s->replace++;
}

void kar_store_replace_add(struct kar_store *s, struct kar_object *o)
{
	assert(s->replacing && o->type == s->type);

	uint32_t number = find(s, o->ns, o->name);
	struct entry *e = number == NONE ? NULL : &s->entries[number];

	if (!e || !is_same(e->o, o)) {
		add_change(&s->staged, NULL, o);
		return;
	}
	e->seen = s->replace;
	if (o->rv && o->rv == e->o->rv)
		kar_object_unref(o); /* unchanged: never two copies in memory */
	else
		add_change(&s->staged, NULL, o);
}

void kar_store_replace_abort(struct kar_store *s)
{
	for (size_t i = 0; i < s->staged.n; i++)
		kar_object_unref(s->staged.items[i].new);
	s->staged.n = 0;
	release_changes(&s->staged);
	s->replacing = false;
}

/* The whole store changes before the first listener hears of it: none can see a mixture of two lists. */
void kar_store_replace_commit(struct kar_store *s, kar_rv rv)
{
	struct changes deleted = { 0 };
	struct changes listed = s->staged;

	assert(s->replacing);
	for (uint32_t e = 0; e < s->n_entries; e++) {
		if (s->entries[e].o && s->entries[e].seen != s->replace)
			add_change(&deleted, take_out(s, e), NULL);
	}
	for (size_t i = 0; i < listed.n; i++)
		listed.items[i].old = insert_or_swap(s, listed.items[i].new);
	s->staged = (struct changes){ 0 };
	s->replacing = false;
	s->rv = rv;
	tell_all(s, &deleted);
	tell_all(s, &listed);
	s->synced = true;
	release_changes(&deleted);
	release_changes(&listed);
}
