/*
 * scenario_impl - what the parts of the reader of scenario files know of each other. Private to sim/scenario/scenario*.c.
 */
#ifndef SIM_SCENARIO_IMPL_H
#define SIM_SCENARIO_IMPL_H

#include "sim/scenario/scenario.h"

enum { SIM_SCENARIO_PATH = 256 };

/* One reading: where in the file it is, and what is wrong so far. */
struct sim_reading {
	struct sim_scenario *s;
	struct sim_causes *causes;
	char path[SIM_SCENARIO_PATH];  /* "jobs[3]"; "": the document */
	struct sim_random random;      /* of durations */
	struct sim_random sizes, gaps; /* of replicas, and of times between jobs */
	int64_t nodes;                 /* so far, over all pools */
};

/*
 * Notes that @field (below the path; "": the path itself) is wrong: "Invalid value: @what". Of a file that is wrong all over
 * only the first mistakes are noted.
 */
void sim_reading_wrong(struct sim_reading *r, const char *field, const char *what) KAR_NONNULL;
/* Likewise: "Duplicate value: "@value"". */
void sim_reading_duplicate(struct sim_reading *r, const char *field, const char *value) KAR_NONNULL;
/* Is @v an object with no members but the @known ones (NULL-terminated)? Unknown members are noted; false: no object. */
bool sim_reading_object(struct sim_reading *r, const struct sim_value *v, const char *const *known)
	__attribute__((nonnull(1, 3)));
/* The member @key if it is of @kind; NULL if absent or null; NULL and noted if it is of another kind. */
const struct sim_value *sim_reading_member(struct sim_reading *r, const struct sim_value *v, const char *key,
	enum sim_kind kind) __attribute__((nonnull(1, 3)));
/* Likewise, as a value; @otherwise: absent or wrong. Numbers are 0 to @most. */
const char *sim_reading_text(struct sim_reading *r, const struct sim_value *v, const char *key,
	const char *otherwise) __attribute__((nonnull(1, 3)));
int64_t sim_reading_number(struct sim_reading *r, const struct sim_value *v, const char *key,
	int64_t otherwise, int64_t most) __attribute__((nonnull(1, 3)));
/* "10m" in ms; a bare number is seconds. */
kar_time sim_reading_time(struct sim_reading *r, const struct sim_value *v, const char *key,
	kar_time otherwise) __attribute__((nonnull(1, 3)));
/* "20m" or "20m-40m". */
struct sim_range sim_reading_range(struct sim_reading *r, const struct sim_value *v, const char *key,
	kar_time otherwise) __attribute__((nonnull(1, 3)));
/* Likewise "1-8", of numbers from 1 to @most. High is 0 if the member is no text: a number, or absent. */
struct sim_range sim_reading_numbers(struct sim_reading *r, const struct sim_value *v, const char *key,
	int64_t most) __attribute__((nonnull(1, 3)));
/* Calls @fn for each item of the array @key of @v, with the path set to it. */
typedef void sim_item_fn(struct sim_reading *r, const struct sim_value *item);
void sim_reading_items(struct sim_reading *r, const struct sim_value *v, const char *key, sim_item_fn *fn)
	__attribute__((nonnull(1, 3, 4)));

/* scenario_jobs.c: one item of `jobs`. Appends to r->s->jobs. */
sim_item_fn sim_scenario_read_job;

#endif
