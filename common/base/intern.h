/*
 * intern - one shared copy of what repeats: namespaces, node names, label values, owner UIDs; and structs, such as what pods need.
 *
 * Equal interned strings of one table have equal pointers, so they compare with ==. Each is refcounted
 * and freed with its last user. Tables are not shared between threads. They have a key of their own, so that
 * nobody can choose strings that make them slow.
 */
#ifndef KAR_INTERN_H
#define KAR_INTERN_H

#include "common/base/base.h"
#include "common/base/shape.h"

struct kar_intern;

struct kar_intern *kar_intern_new(void) KAR_MUSTUSE KAR_RETNN;
/* All strings must have been put back; asserts otherwise. Accepts NULL. */
void kar_intern_free(struct kar_intern *t);
/* The shared copy of @s with one more reference; NULL for NULL or "". Give back with kar_intern_put(). */
const char *kar_intern_get(struct kar_intern *t, const char *s);
/* The shared copy if somebody holds one, without a new reference; NULL otherwise. */
const char *kar_intern_find(const struct kar_intern *t, const char *s);
/* Another reference to an interned string (NULL allowed); returns it. */
const char *kar_intern_ref(struct kar_intern *t, const char *s);
void kar_intern_put(struct kar_intern *t, const char *s); /* accepts NULL */
size_t kar_intern_count(const struct kar_intern *t) KAR_NONNULL;
/* Bytes of all strings and structs and what is kept with them; walks the whole table, for tests. */
size_t kar_intern_bytes(const struct kar_intern *t) KAR_NONNULL;
/* Strings that the slowest search compares; walks the whole table, for tests. */
size_t kar_intern_longest_chain(const struct kar_intern *t) KAR_NONNULL;

/*
 * The shared copy of the struct @like, with all that it points to, and one more reference; NULL for NULL. As with strings, equal ones have
 * equal pointers. They are found by their order, which nobody can choose so that it is slow.
 */
const void *kar_share_get(struct kar_intern *t, const struct kar_shape *shape, const void *like)
	__attribute__((nonnull(1, 2)));
void kar_share_put(struct kar_intern *t, const void *shared); /* accepts NULL */

/*
 * FNV-1a, 64 bits: the same in every process; @seed chains several parts. Whoever chooses the text can choose its hash, so a
 * table of texts of strangers takes common/base/siphash.h.
 */
uint64_t kar_hash(uint64_t seed, const void *p, size_t n);
uint64_t kar_hash_str(uint64_t seed, const char *s);

#endif
