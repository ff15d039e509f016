#include "common/base/intern.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/sys/tree.h>

#include "common/base/mem.h"
#include "common/base/siphash.h"

enum { FIRST_BUCKETS = 64 };

struct entry {
	struct entry *next; /* in its bucket */
	uint64_t hash;
	size_t refs;
	char s[];
};

/* The struct is behind it. */
struct shared {
	RB_ENTRY(shared) link;
	const struct kar_shape *shape;
	const void *of;
	size_t refs;
};
RB_HEAD(shareds, shared);

struct kar_intern {
	struct entry **buckets;
	size_t n_buckets; /* a power of two */
	size_t count;
	struct kar_hash_key key;
	struct shareds shared;
	size_t n_shared;
};

static int compare_shared(const struct shared *a, const struct shared *b)
{
	if (a->shape != b->shape)
		return (uintptr_t)a->shape < (uintptr_t)b->shape ? -1 : 1;
	return kar_shape_compare(a->shape, a->of, b->of);
}

RB_GENERATE_INTERNAL(shareds, shared, link, compare_shared, KAR_UNUSED static)

struct kar_intern *kar_intern_new(void)
{
	struct kar_intern *t = kar_xcalloc(1, sizeof(*t));

	t->key = kar_hash_key_new();
	t->n_buckets = FIRST_BUCKETS;
	t->buckets = kar_xcalloc(t->n_buckets, sizeof(*t->buckets));
	return t;
}

void kar_intern_free(struct kar_intern *t)
{
	if (!t)
		return;
	assert(t->count == 0 && t->n_shared == 0);
	free(t->buckets);
	free(t);
}

static struct entry **bucket(const struct kar_intern *t, uint64_t h)
{
	return &t->buckets[h & (t->n_buckets - 1)];
}

static struct entry *find(const struct kar_intern *t, const char *s, uint64_t h)
{
	for (struct entry *e = *bucket(t, h); e; e = e->next) {
		if (e->hash == h && strcmp(e->s, s) == 0)
			return e;
	}
	return NULL;
}

static void link_entry(struct kar_intern *t, struct entry *e)
{
	struct entry **b = bucket(t, e->hash);

	e->next = *b;
	*b = e;
}

static void grow(struct kar_intern *t)
{
	struct entry **old = t->buckets;
	size_t n = t->n_buckets;

	t->n_buckets = 2 * n;
	t->buckets = kar_xcalloc(t->n_buckets, sizeof(*t->buckets));
	for (size_t i = 0; i < n; i++) {
		for (struct entry *e = old[i], *next; e; e = next) {
			next = e->next;
			link_entry(t, e);
		}
	}
	free(old);
}

const char *kar_intern_get(struct kar_intern *t, const char *s)
{
	if (!s || !*s)
		return NULL;
	size_t n = strlen(s) + 1;
	uint64_t h = kar_siphash(&t->key, s, n);
	struct entry *e = find(t, s, h);

	if (!e) {
		if (t->count == t->n_buckets)
			grow(t);
		e = kar_xmalloc(sizeof(*e) + n);
		e->hash = h;
		e->refs = 0;
		memcpy(e->s, s, n);
		link_entry(t, e);
		t->count++;
	}
	e->refs++;
	return e->s;
}

const char *kar_intern_find(const struct kar_intern *t, const char *s)
{
	struct entry *e = s && *s ? find(t, s, kar_siphash(&t->key, s, strlen(s) + 1)) : NULL;

	return e ? e->s : NULL;
}

/* The entry that @s is the text of. */
static struct entry *entry_of(const struct kar_intern *t, const char *s)
{
	struct entry *e = kar_container_of((uintptr_t)s, struct entry, s);

	assert(find(t, s, e->hash) == e); /* of another table, or not interned */
	(void)t;
	return e;
}

const char *kar_intern_ref(struct kar_intern *t, const char *s)
{
	if (s)
		entry_of(t, s)->refs++;
	return s;
}

void kar_intern_put(struct kar_intern *t, const char *s)
{
	if (!s)
		return;
	struct entry *e = entry_of(t, s);

	if (--e->refs > 0)
		return;
	struct entry **at = bucket(t, e->hash);

	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
	t->count--;
	free(e);
}

const void *kar_share_get(struct kar_intern *t, const struct kar_shape *shape, const void *like)
{
	struct shared key = { .shape = shape, .of = like }, *s;

	if (!like)
		return NULL;
	s = RB_FIND(shareds, &t->shared, &key);
	if (!s) {
		s = kar_xmalloc(sizeof(*s) + kar_shape_bytes(shape, like));
		*s = (struct shared){ .shape = shape, .of = kar_shape_copy(shape, like, s + 1) };
		RB_INSERT(shareds, &t->shared, s);
		t->n_shared++;
	}
	s->refs++;
	return s->of;
}

void kar_share_put(struct kar_intern *t, const void *shared)
{
	struct shared *s = shared ? (struct shared *)(uintptr_t)shared - 1 : NULL;

	if (!s)
		return;
	assert(s->of == shared && RB_FIND(shareds, &t->shared, s) == s);
	if (--s->refs > 0)
		return;
	RB_REMOVE(shareds, &t->shared, s);
	t->n_shared--;
	free(s);
}

size_t kar_intern_count(const struct kar_intern *t)
{
	return t->count + t->n_shared;
}

size_t kar_intern_bytes(const struct kar_intern *t)
{
	struct shared *s;
	size_t bytes = 0;

	for (size_t i = 0; i < t->n_buckets; i++) {
		for (const struct entry *e = t->buckets[i]; e; e = e->next)
			bytes += sizeof(*e) + strlen(e->s) + 1;
	}
	RB_FOREACH(s, shareds, (struct shareds *)(uintptr_t)&t->shared)
		bytes += sizeof(*s) + kar_shape_bytes(s->shape, s->of);
	return bytes;
}

size_t kar_intern_longest_chain(const struct kar_intern *t)
{
	size_t longest = 0;

	for (size_t i = 0; i < t->n_buckets; i++) {
		size_t n = 0;

		for (const struct entry *e = t->buckets[i]; e; e = e->next)
			n++;
		longest = n > longest ? n : longest;
	}
	return longest;
}

uint64_t kar_hash(uint64_t seed, const void *p, size_t n)
{
	const uint64_t basis = 0xcbf29ce484222325u, prime = 0x100000001b3u;
	const unsigned char *bytes = p;
	uint64_t h = basis ^ seed;

	for (size_t i = 0; i < n; i++)
		h = (h ^ bytes[i]) * prime;
	return h;
}

uint64_t kar_hash_str(uint64_t seed, const char *s)
{
	return kar_hash(seed, s, strlen(s));
}
