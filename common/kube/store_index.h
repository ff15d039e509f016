/*
 * store_index - one secondary index of a store: from an interned string to the entries that have it.
 *
 * Private to store.c. Values are compared by address: whoever links an entry under a value keeps that string interned
 * for as long. An entry's links are found by its number; a value costs one slot, an entry two numbers.
 */
#ifndef KAR_STORE_INDEX_H
#define KAR_STORE_INDEX_H

#include "common/base/base.h"

#define KAR_STORE_NONE UINT32_MAX /* no entry */

struct kar_store_links;
struct kar_store_value;

struct kar_store_index {
	struct kar_store_links *links;  /* one per entry */
	struct kar_store_value *values; /* open addressing; a power of two of them, or NULL */
	uint32_t n_values, room;
};

void kar_store_index_release(struct kar_store_index *x) KAR_NONNULL;
/* Makes room for entries numbered below @n_entries. */
void kar_store_index_reserve(struct kar_store_index *x, uint32_t n_entries) KAR_NONNULL;
/* Links or unlinks @entry under @value; nothing happens if that is NULL. */
void kar_store_index_add(struct kar_store_index *x, uint32_t entry, const char *value)
	__attribute__((nonnull(1)));
void kar_store_index_remove(struct kar_store_index *x, uint32_t entry, const char *value)
	__attribute__((nonnull(1)));

/* First entry of @value (NULL accepted) and the one after @entry; KAR_STORE_NONE at the end. */
uint32_t kar_store_index_first(const struct kar_store_index *x, const char *value)
	__attribute__((nonnull(1)));
uint32_t kar_store_index_next(const struct kar_store_index *x, uint32_t entry) KAR_NONNULL;
uint32_t kar_store_index_size(const struct kar_store_index *x, const char *value) __attribute__((nonnull(1)));

#endif
