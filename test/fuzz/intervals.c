/* Numbers of indexes: what was printed is read as it was. Interval sets: only canonical text is accepted, what is accepted prints as it was, and membership agrees with the text. */
#include <stdlib.h>
#include <string.h>

#include "api/queuejob/index_counts.h"
#include "api/status/intervals.h"
#include "test/fuzz/fuzz.h"

static void check(const struct kar_intervals *set, const char *text, struct kar_arena *arena)
{
	int64_t members = 0;

	FUZZ_CHECK(!strcmp(kar_intervals_format(set, arena), text), "%s printed as %s", text,
		kar_intervals_format(set, arena));
	for (size_t i = 0; i < set->n; i++) {
		const struct kar_interval run = set->items[i];

		FUZZ_CHECK(run.first >= 0 && run.last >= run.first, "%s: a run of %d to %d", text, run.first,
			run.last);
		FUZZ_CHECK(kar_intervals_has(set, run.first) && kar_intervals_has(set, run.last),
			"%s lacks an end", text);
		FUZZ_CHECK(run.first == 0 || !kar_intervals_has(set, run.first - 1), "%s has the one before",
			text);
		members += (int64_t)run.last - run.first + 1;
	}
	FUZZ_CHECK(members > INT32_MAX || kar_intervals_count(set) == members, "%s has %d members", text,
		kar_intervals_count(set));
}

/* One member more, which is there afterwards, as nobody else is. */
static void check_add(struct kar_intervals *set, int32_t value, struct kar_arena *arena)
{
	bool there = kar_intervals_has(set, value);
	int32_t before = kar_intervals_count(set);
	struct kar_intervals again;

	if (before == INT32_MAX)
		return;
	kar_intervals_add(set, value, arena);
	FUZZ_CHECK(kar_intervals_has(set, value) && kar_intervals_count(set) == before + !there,
		"%d was not added", value);
	FUZZ_CHECK(kar_intervals_parse(kar_intervals_format(set, arena), arena, &again) == 0,
		"not canonical after %d: %s", value, kar_intervals_format(set, arena));
	kar_intervals_truncate(set, value);
	FUZZ_CHECK(!kar_intervals_has(set, value) && kar_intervals_count(set) <= before, "%d is still there",
		value);
}

static void check_counts(const char *text, struct kar_arena *arena)
{
	enum { INDEXES = 300 };
	const char *once =
		kar_index_counts_format(kar_index_counts_parse(text, INDEXES, arena), INDEXES, arena);
	const char *twice =
		kar_index_counts_format(kar_index_counts_parse(once, INDEXES, arena), INDEXES, arena);

	FUZZ_CHECK(!strcmp(once, twice), "%s printed as %s", once, twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct kar_arena arena = { 0 };
	struct kar_intervals set;
	char *text = fuzz_text(data, n);

	if (kar_intervals_parse(text, &arena, &set) == 0) {
		check(&set, text, &arena);
		check_add(&set, (int32_t)fuzz_choose(data, n, 20), &arena);
	}
	check_counts(text, &arena);
	free(text);
	kar_arena_release(&arena);
	return 0;
}
