#include "sim/apiserver/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>

#include "common/base/mem.h"
#include "common/base/timefmt.h"

enum { TEXT = 32 }; /* bytes of a duration */

static const char *say(const char *text, char *out)
{
	strlcpy(out, text, TEXT);
	return out;
}

/* "5m20s"; without the second unit where it is 0. */
static const char *two_units(int64_t big, const char *big_unit, int64_t small, const char *small_unit,
	char *out)
{
	if (small)
		snprintf(out, TEXT, "%" PRId64 "%s%" PRId64 "%s", big, big_unit, small, small_unit);
	else
		snprintf(out, TEXT, "%" PRId64 "%s", big, big_unit);
	return out;
}

/* The steps of k8s.io/apimachinery/pkg/util/duration.HumanDuration: two or three significant digits. */
const char *sim_human_duration(kar_time ms, char out[TEXT])
{
	int64_t seconds = ms / KAR_SECOND, minutes = seconds / 60, hours = minutes / 60, days = hours / 24;

	if (seconds < -1)
		return say("<invalid>", out);
	if (seconds < 0)
		return say("0s", out);
	if (seconds < 120)
		return two_units(seconds, "s", 0, "", out);
	if (minutes < 10)
		return two_units(minutes, "m", seconds % 60, "s", out);
	if (hours < 3)
		return two_units(minutes, "m", 0, "", out);
	if (hours < 8)
		return two_units(hours, "h", minutes % 60, "m", out);
	if (hours < 48)
		return two_units(hours, "h", 0, "", out);
	if (days < 8)
		return two_units(days, "d", hours % 24, "h", out);
	if (days < 365 * 2)
		return two_units(days, "d", 0, "", out);
	if (days < 365 * 8)
		return two_units(days / 365, "y", days % 365, "d", out);
	return two_units(days / 365, "y", 0, "", out);
}

const char *sim_since(kar_time now, const char *time, char out[TEXT])
{
	kar_time then;

	if (!time)
		return say("<unknown>", out);
	if (kar_time_parse(time, &then))
		return say("<invalid>", out);
	return sim_human_duration(now - then, out);
}

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct sim_member *)a)->key, ((const struct sim_member *)b)->key);
}

struct sim_value *sim_labels_text(const struct sim_value *labels)
{
	struct sim_member *members = kar_xcalloc(sim_count(labels) + 1, sizeof(*members));
	struct kar_buf out KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	size_t n = 0;

	for (struct sim_member m = sim_first(labels); m.value; m = sim_next(m))
		members[n++] = m;
	qsort(members, n, sizeof(*members), by_key);
	for (size_t i = 0; i < n; i++)
		kar_buf_printf(&out, "%s%s=%s", i ? "," : "", members[i].key,
			sim_text_or(members[i].value, ""));
	free(members);
	return sim_string(n ? kar_buf_cstr(&out) : "<none>");
}

const struct sim_value *sim_condition(const struct sim_value *object, const char *type)
{
	const struct sim_value *conditions = sim_get(object, "status", "conditions");

	for (size_t i = 0; i < sim_count(conditions); i++) {
		const struct sim_value *c = sim_item(conditions, i);

		if (!strcmp(sim_text_or(sim_get(c, "type"), ""), type))
			return c;
	}
	return NULL;
}
