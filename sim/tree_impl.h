/*
 * tree_impl - how JSON values lie in memory. Private to sim/tree*.c.
 *
 * Every value is one block: what it contains follows its header. Keys are interned, so that equal keys are equal pointers,
 * and counted. Objects keep their members in the order of insertion; beyond a few dozen they have an index, so that a
 * document with a hundred thousand members cannot make the server slow.
 */
#ifndef SIM_TREE_IMPL_H
#define SIM_TREE_IMPL_H

#include "sim/tree.h"

struct sim_scalar {
	struct sim_value head;
	union {
		int64_t i;
		double d;
	};
};

struct sim_string {
	struct sim_value head;
	size_t n;
	char p[];
};

struct sim_list {
	struct sim_value head;
	size_t n, room;
	struct sim_value *items[];
};

struct sim_key {
	struct sim_key *next; /* in its bucket */
	uint64_t hash;
	size_t refs, n;
	char p[];
};

/* One member. The first eight bytes of the key are here, so that a search seldom looks further. */
struct sim_pair {
	struct sim_key *key; /* NULL: was removed */
	uint64_t prefix;
	struct sim_value *value;
};

struct sim_map {
	struct sim_value head;
	size_t n;          /* members */
	size_t used, room; /* pairs, with removed ones */
	uint32_t *index;   /* position + 1 by hash, open addressing, 2 * room entries; NULL: few members */
	struct sim_pair pairs[];
};

/* tree.c */
struct sim_list *sim_list_new(size_t room) KAR_RETNN;
/* As sim_string_n(), of bytes that are known to be clean (utf8.h). */
struct sim_value *sim_string_clean(const char *s, size_t n) KAR_RETNN KAR_NONNULL;

/* tree_map.c. All take values of kind SIM_OBJECT. */
struct sim_value *sim_map_new(size_t room) KAR_RETNN;
/* A copy of the first level, with room for one more. */
struct sim_value *sim_map_copy(const struct sim_map *m) KAR_RETNN KAR_NONNULL;
void sim_map_free(struct sim_map *m) KAR_NONNULL;
struct sim_pair *sim_map_find(const struct sim_map *m, const char *key) KAR_NONNULL;
/* The member with this interned key; looks at @hint first. NULL: none. */
struct sim_pair *sim_map_find_key(const struct sim_map *m, const struct sim_key *key,
	size_t hint) KAR_NONNULL;
/* Sets or adds a member of the object *@v, which nobody else holds and which may move. */
void sim_map_put(struct sim_value **v, const char *key, struct sim_value *consumed) KAR_NONNULL;
void sim_map_remove(struct sim_map *m, struct sim_pair *pair) KAR_NONNULL;

static inline struct sim_map *sim_map_of(const struct sim_value *v)
{
	return (struct sim_map *)(uintptr_t)v;
}

static inline struct sim_list *sim_list_of(const struct sim_value *v)
{
	return (struct sim_list *)(uintptr_t)v;
}

static inline const struct sim_string *sim_string_of(const struct sim_value *v)
{
	return (const struct sim_string *)v;
}

static inline struct sim_scalar *sim_scalar_of(const struct sim_value *v)
{
	return (struct sim_scalar *)(uintptr_t)v;
}

#endif
