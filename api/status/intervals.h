/*
 * intervals - sets of small non-negative integers in interval notation, "0-57,59" (as batch/v1 Job's indexes).
 *
 * Pure. Canonical form: ascending, disjoint, adjacent runs joined. Lists live in an arena.
 */
#ifndef KAR_API_INTERVALS_H
#define KAR_API_INTERVALS_H

#include "common/base/base.h"
#include "common/base/mem.h"

struct kar_interval {
	int32_t first, last; /* inclusive */
};

struct kar_intervals {
	struct kar_interval *items;
	size_t n;
};

/* Parses @s ("" is the empty set); -1 if it is not canonical or has a number above INT32_MAX. */
int kar_intervals_parse(const char *s, struct kar_arena *arena, struct kar_intervals *out) KAR_NONNULL;
/* Canonical text in @arena. */
const char *kar_intervals_format(const struct kar_intervals *set,
	struct kar_arena *arena) KAR_NONNULL KAR_RETNN;
bool kar_intervals_has(const struct kar_intervals *set, int32_t value) KAR_NONNULL; /* O(log n) */
void kar_intervals_add(struct kar_intervals *set, int32_t value, struct kar_arena *arena) KAR_NONNULL;
/* Number of members. */
int32_t kar_intervals_count(const struct kar_intervals *set) KAR_NONNULL;
/* Removes all members >= @limit (indexes that no longer exist after a scale-down). */
void kar_intervals_truncate(struct kar_intervals *set, int32_t limit) KAR_NONNULL;

#endif
