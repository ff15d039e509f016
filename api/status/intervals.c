#include "api/status/intervals.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { RUN_TEXT = 24 }; /* bytes of one run: two numbers of ten digits, '-' and ',' */

/* Reads a number without sign or leading zeros at *@s and moves *@s behind it; -1 if there is none. */
static int32_t read_number(const char **s)
{
	const char *p = *s;
	int64_t n = 0;

	if (*p == '0' && p[1] >= '0' && p[1] <= '9')
		return -1;
	for (; *p >= '0' && *p <= '9'; p++) {
		n = n * 10 + (*p - '0');
		if (n > INT32_MAX)
			return -1;
	}
	if (p == *s)
		return -1;
	*s = p;
	return (int32_t)n;
}

/* Reads one run at *@s: "7", or "3-9" with 3 < 9. */
static int read_run(const char **s, struct kar_interval *run)
{
	run->first = read_number(s);
	run->last = run->first;
	if (run->first < 0 || **s != '-')
		return run->first < 0 ? -1 : 0;
	(*s)++;
	run->last = read_number(s);
	return run->last > run->first ? 0 : -1;
}

static void append(struct kar_intervals *set, struct kar_interval run, struct kar_arena *arena)
{
	set->items = kar_arena_grow(arena, set->items, set->n, sizeof(*set->items));
	set->items[set->n++] = run;
}

int kar_intervals_parse(const char *s, struct kar_arena *arena, struct kar_intervals *out)
{
	struct kar_intervals set = { 0 };

	while (*s) {
		struct kar_interval run;

		if (read_run(&s, &run))
			return -1;
		/* Canonical: adjacent runs are joined, so a gap lies between two of them. */
		if (set.n && run.first <= (int64_t)set.items[set.n - 1].last + 1)
			return -1;
		append(&set, run, arena);
		if (*s == ',' && s[1])
			s++;
		else if (*s)
			return -1;
	}
	*out = set;
	return 0;
}

const char *kar_intervals_format(const struct kar_intervals *set, struct kar_arena *arena)
{
	char *text = kar_arena_alloc(arena, set->n + 1, RUN_TEXT);
	size_t room = (set->n + 1) * RUN_TEXT, at = 0;

	for (size_t i = 0; i < set->n; i++) {
		const struct kar_interval *run = &set->items[i];
		const char *comma = i ? "," : "";
		int n = run->first == run->last
			? snprintf(text + at, room - at, "%s%" PRId32, comma, run->first)
			: snprintf(text + at, room - at, "%s%" PRId32 "-%" PRId32, comma, run->first,
				  run->last);

		assert(n > 0 && (size_t)n < room - at);
		at += (size_t)n;
	}
	return text;
}

/* Position of the first run that ends at @value or later. */
static size_t search(const struct kar_intervals *set, int32_t value)
{
	size_t low = 0, high = set->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (set->items[middle].last < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool kar_intervals_has(const struct kar_intervals *set, int32_t value)
{
	size_t i = search(set, value);

	return i < set->n && set->items[i].first <= value;
}

static void remove_run(struct kar_intervals *set, size_t i)
{
	set->n--;
	memmove(&set->items[i], &set->items[i + 1], (set->n - i) * sizeof(*set->items));
}

static void insert_run(struct kar_intervals *set, size_t i, int32_t value, struct kar_arena *arena)
{
	append(set, (struct kar_interval){ 0 }, arena);
	memmove(&set->items[i + 1], &set->items[i], (set->n - 1 - i) * sizeof(*set->items));
	set->items[i] = (struct kar_interval){ .first = value, .last = value };
}

void kar_intervals_add(struct kar_intervals *set, int32_t value, struct kar_arena *arena)
{
	assert(value >= 0);
	if (kar_intervals_has(set, value))
		return;

	size_t i = search(set, value);
	bool joins_left = i > 0 && set->items[i - 1].last == value - 1;
	bool joins_right = i < set->n && set->items[i].first - 1 == value;

	if (joins_left && joins_right) {
		set->items[i - 1].last = set->items[i].last;
		remove_run(set, i);
	} else if (joins_left) {
		set->items[i - 1].last = value;
	} else if (joins_right) {
		set->items[i].first = value;
	} else {
		insert_run(set, i, value, arena);
	}
}

int32_t kar_intervals_count(const struct kar_intervals *set)
{
	int64_t n = 0;

	for (size_t i = 0; i < set->n; i++)
		n += (int64_t)set->items[i].last - set->items[i].first + 1;
	return n > INT32_MAX ? INT32_MAX : (int32_t)n;
}

void kar_intervals_truncate(struct kar_intervals *set, int32_t limit)
{
	while (set->n && set->items[set->n - 1].first >= limit)
		set->n--;
	if (set->n && set->items[set->n - 1].last >= limit)
		set->items[set->n - 1].last = limit - 1;
}
