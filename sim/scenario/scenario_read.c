/* The fields of a scenario file, one by one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/timefmt.h"
#include "sim/scenario/scenario_impl.h"

enum { MAX_CAUSES = 100 };
static const kar_time longest = 100 * (kar_time)365 * 24 * 60 * KAR_MINUTE;

static void note(struct sim_reading *r, const char *reason, const char *field, const char *what)
{
	char path[SIM_SCENARIO_PATH * 2];
	const char *dot = r->path[0] && field[0] ? "." : "";

	if (r->causes->n == MAX_CAUSES)
		return;
	snprintf(path, sizeof(path), "%s%s%s", r->path, dot, field);
	sim_cause_add(r->causes, reason, path, "%s", what);
}

void sim_reading_wrong(struct sim_reading *r, const char *field, const char *what)
{
	char text[SIM_SCENARIO_PATH];

	snprintf(text, sizeof(text), "Invalid value: %s", what);
	note(r, "FieldValueInvalid", field, text);
}

void sim_reading_duplicate(struct sim_reading *r, const char *field, const char *value)
{
	char text[SIM_SCENARIO_PATH * 2];

	snprintf(text, sizeof(text), "Duplicate value: \"%s\"", value);
	note(r, "FieldValueDuplicate", field, text);
}

static bool is_known(const char *key, const char *const *known)
{
	for (; *known; known++) {
		if (!strcmp(key, *known))
			return true;
	}
	return false;
}

bool sim_reading_object(struct sim_reading *r, const struct sim_value *v, const char *const *known)
{
	if (sim_kind(v) != SIM_OBJECT) {
		sim_reading_wrong(r, "", "want an object");
		return false;
	}
	for (struct sim_member m = sim_first(v); m.value; m = sim_next(m)) {
		if (!is_known(m.key, known))
			sim_reading_wrong(r, m.key, "unknown field");
	}
	return true;
}

const struct sim_value *sim_reading_member(struct sim_reading *r, const struct sim_value *v, const char *key,
	enum sim_kind kind)
{
	const struct sim_value *m = sim_member(v, key);
	char text[64];

	if (!m || sim_kind(m) == SIM_NULL)
		return NULL;
	if (sim_kind(m) == kind)
		return m;
	snprintf(text, sizeof(text), "want %s, got %s", sim_kind_name(kind), sim_kind_name(sim_kind(m)));
	sim_reading_wrong(r, key, text);
	return NULL;
}

const char *sim_reading_text(struct sim_reading *r, const struct sim_value *v, const char *key,
	const char *otherwise)
{
	const struct sim_value *m = sim_reading_member(r, v, key, SIM_STRING);

	return m ? sim_text(m) : otherwise;
}

int64_t sim_reading_number(struct sim_reading *r, const struct sim_value *v, const char *key,
	int64_t otherwise, int64_t most)
{
	const struct sim_value *m = sim_reading_member(r, v, key, SIM_INT);
	int64_t n = sim_int_of(m, otherwise);
	char text[64];

	if (n >= 0 && n <= most)
		return n;
	snprintf(text, sizeof(text), "%lld: want 0 to %lld", (long long)n, (long long)most);
	sim_reading_wrong(r, key, text);
	return otherwise;
}

/* "10m"; longer than anybody means is no duration, so that sums of a few never overflow. */
static bool parse_time(const char *text, kar_time *ms)
{
	return text && kar_duration_parse(text, ms) == 0 && *ms <= longest;
}

kar_time sim_reading_time(struct sim_reading *r, const struct sim_value *v, const char *key,
	kar_time otherwise)
{
	const struct sim_value *m = sim_member(v, key);
	int64_t seconds = sim_kind(m) == SIM_INT ? sim_int_of(m, -1) : -1;
	char text[128];
	kar_time ms;

	if (!m || sim_kind(m) == SIM_NULL)
		return otherwise;
	if (seconds >= 0 && seconds <= longest / KAR_SECOND)
		return seconds * KAR_SECOND;
	if (parse_time(sim_text(m), &ms))
		return ms;
	if (sim_text(m))
		snprintf(text, sizeof(text), "\"%.60s\": want a duration such as 90s, 10m or 1h30m",
			sim_text(m));
	else
		snprintf(text, sizeof(text), "want a duration such as 90s, 10m or 1h30m, got %s",
			sim_kind_name(sim_kind(m)));
	sim_reading_wrong(r, key, text);
	return otherwise;
}

struct sim_range sim_reading_range(struct sim_reading *r, const struct sim_value *v, const char *key,
	kar_time otherwise)
{
	const char *text = sim_text(sim_member(v, key));
	const char *dash = text ? strchr(text, '-') : NULL;
	struct sim_range range;
	char low[32];

	if (!dash) {
		range.low = range.high = sim_reading_time(r, v, key, otherwise);
		return range;
	}
	snprintf(low, sizeof(low), "%.*s", (int)(dash - text), text);
	if (!parse_time(low, &range.low) || !parse_time(dash + 1, &range.high) || range.low > range.high) {
		sim_reading_wrong(r, key, "want a duration or a range such as 20m-40m");
		return (struct sim_range){ otherwise, otherwise };
	}
	return range;
}

struct sim_range sim_reading_numbers(struct sim_reading *r, const struct sim_value *v, const char *key,
	int64_t most)
{
	const char *text = sim_text(sim_member(v, key));
	struct sim_range range = { 0 };
	char *end;

	if (!text)
		return range;
	range.low = strtoll(text, &end, 10);
	range.high = *end == '-' ? strtoll(end + 1, &end, 10) : 0;
	if (!*end && range.low >= 1 && range.low <= range.high && range.high <= most)
		return range;
	sim_reading_wrong(r, key, "want a number or a range such as 1-8");
	return (struct sim_range){ 0 };
}

void sim_reading_items(struct sim_reading *r, const struct sim_value *v, const char *key, sim_item_fn *fn)
{
	const struct sim_value *list = sim_reading_member(r, v, key, SIM_ARRAY);

	for (size_t i = 0; i < sim_count(list); i++) {
		snprintf(r->path, sizeof(r->path), "%s[%zu]", key, i);
		fn(r, sim_item(list, i));
	}
	r->path[0] = '\0';
}
