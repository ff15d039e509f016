#include "sim/apiserver/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>

#include "common/mem.h"
#include "common/timefmt.h"

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

/* ---- labels and selectors ---- */

struct term {
	const char *key; /* borrowed, the order */
	char *text;      /* owned */
};

struct terms {
	struct term *items; /* owned */
	size_t n;
};

static void add_term(struct terms *t, struct term term)
{
	t->items = kar_xrealloc(t->items, t->n + 1, sizeof(*t->items));
	t->items[t->n++] = term;
}

static void add_labels(struct terms *t, const struct sim_value *labels)
{
	for (struct sim_member m = sim_first(labels); m.value; m = sim_next(m))
		add_term(t, (struct term){ m.key, kar_xasprintf("%s=%s", m.key, sim_text_or(m.value, "")) });
}

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct term *)a)->key, ((const struct term *)b)->key);
}

/* "a,b"; consumes the terms. New value. */
static struct sim_value *join_terms(struct terms *t, const char *empty)
{
	struct kar_buf out KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	if (t->n)
		qsort(t->items, t->n, sizeof(*t->items), by_key);
	for (size_t i = 0; i < t->n; i++) {
		kar_buf_printf(&out, "%s%s", i ? "," : "", t->items[i].text);
		free(t->items[i].text);
	}
	free(t->items);
	return sim_string(out.n ? kar_buf_cstr(&out) : empty);
}

struct sim_value *sim_labels_text(const struct sim_value *labels)
{
	struct terms t = { 0 };

	add_labels(&t, labels);
	return join_terms(&t, "<none>");
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void print_values(const struct sim_value *values, struct kar_buf *out)
{
	size_t n = sim_count(values);
	const char **sorted = kar_xcalloc(n + 1, sizeof(*sorted));

	for (size_t i = 0; i < n; i++)
		sorted[i] = sim_text_or(sim_item(values, i), "");
	if (n)
		qsort(sorted, n, sizeof(*sorted), by_text);
	for (size_t i = 0; i < n; i++)
		kar_buf_printf(out, "%s%s", i ? "," : "", sorted[i]);
	free(sorted);
}

static char *expression_text(const struct sim_value *e, const char *key)
{
	const char *operator= sim_text_or(sim_get(e, "operator"), "");
	struct kar_buf out = { 0 };

	if (!strcmp(operator, "DoesNotExist")) {
		kar_buf_printf(&out, "!%s", key);
	} else if (!strcmp(operator, "Exists")) {
		kar_buf_puts(&out, key);
	} else {
		kar_buf_printf(&out, "%s %s (", key, strcmp(operator, "In") ? "notin" : "in");
		print_values(sim_get(e, "values"), &out);
		kar_buf_puts(&out, ")");
	}
	return kar_buf_detach(&out);
}

struct sim_value *sim_selector_text(const struct sim_value *selector, const char *empty)
{
	const struct sim_value *expressions = sim_get(selector, "matchExpressions");
	struct terms t = { 0 };

	add_labels(&t, sim_get(selector, "matchLabels"));
	for (size_t i = 0; i < sim_count(expressions); i++) {
		const struct sim_value *e = sim_item(expressions, i);
		const char *key = sim_text_or(sim_get(e, "key"), "");

		add_term(&t, (struct term){ key, expression_text(e, key) });
	}
	return join_terms(&t, empty);
}

struct sim_value *sim_joined(const struct sim_value *items, const char *key)
{
	struct kar_buf out KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	for (size_t i = 0; i < sim_count(items); i++)
		kar_buf_printf(&out, "%s%s", i ? "," : "",
			sim_text_or(sim_member(sim_item(items, i), key), ""));
	return sim_string(kar_buf_cstr(&out));
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
