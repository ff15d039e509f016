/*
 * table - from a text to a number: node names, classes. Pure.
 *
 * The table has a key of its own (common/base/siphash.h), so that nobody can choose texts that make it slow. Texts are borrowed and must
 * stay as long as they are in the table.
 */
#ifndef KAR_SCHED_TABLE_H
#define KAR_SCHED_TABLE_H

#include "common/base/siphash.h"

struct kar_table_slot {
	const char *text; /* NULL: free */
	uint32_t hash;
	uint32_t value;
};

/* Zero-initialise; free with kar_table_release(). */
struct kar_table {
	struct kar_table_slot *slots;
	size_t n, n_slots; /* n_slots: 0 or a power of two */
	struct kar_hash_key key;
};

void kar_table_release(struct kar_table *t) KAR_NONNULL;
/* NULL: not in the table. Valid until the next change. */
uint32_t *kar_table_find(const struct kar_table *t, const char *text) KAR_NONNULL;
/* @text is not in the table. */
void kar_table_add(struct kar_table *t, const char *text, uint32_t value) KAR_NONNULL;
/* Nothing happens if it is not there. */
void kar_table_remove(struct kar_table *t, const char *text) KAR_NONNULL;

#endif
