/*
 * index_counts - a small number for each index of a task, as text: "3:1,7-9:2" says 1 for index 3, 2 for 7 to 9, 0 for all others.
 *
 * Pure. The text is ascending; neighbours with the same number are one run. Lists live in an arena.
 */
#ifndef KAR_API_INDEX_COUNTS_H
#define KAR_API_INDEX_COUNTS_H

#include "common/base/base.h"
#include "common/base/mem.h"

/* Numbers of @n indexes. What cannot be read, and what follows it, is 0, and so are indexes of @n and above. */
int32_t *kar_index_counts_parse(const char *text, int32_t n, struct kar_arena *arena) KAR_NONNULL KAR_RETNN;
/* The text of @n numbers; those below 1 are left out. */
const char *kar_index_counts_format(const int32_t *counts, int32_t n,
	struct kar_arena *arena) KAR_NONNULL KAR_RETNN;

#endif
