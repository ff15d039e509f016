#include "api/core/device_values.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/copy.h"
#include "common/codec/json_events.h"

/* {"type":{"string":"gpu"},"memory":{"value":"80Gi"}}: names at depth 1, kinds and values at depth 2. */
struct reading {
	struct kar_intern *strings;
	const char *items[KAR_DEVICE_ATTRIBUTES];
	uint32_t n, most;
	int depth;
	bool taken; /* the entry has its value */
	char name[KAR_COPY_KEY], kind[16];
};

static bool copy_key(char *out, size_t size, const char *s, size_t n)
{
	bool fits = n < size;

	memcpy(out, s, fits ? n : 0);
	out[fits ? n : 0] = '\0';
	return fits;
}

static int on_begin(void *arg, bool is_array KAR_UNUSED, size_t at KAR_UNUSED)
{
	struct reading *r = arg;

	if (++r->depth == 2)
		r->taken = false;
	return 0;
}

static int on_key(void *arg, const char *s, size_t n, size_t at KAR_UNUSED)
{
	struct reading *r = arg;

	if (r->depth == 1)
		copy_key(r->name, sizeof(r->name), s, n);
	else if (r->depth == 2)
		copy_key(r->kind, sizeof(r->kind), s, n);
	return 0;
}

static void add(struct reading *r, char kind, const char *value)
{
	char text[KAR_COPY_KEY + KAR_COPY_VALUE + 2];

	if (r->depth != 2 || r->taken || !r->name[0] || strchr(r->name, '=') || r->n == r->most)
		return;
	snprintf(text, sizeof(text), "%s=%c%s", r->name, kind, value);
	r->items[r->n++] = kar_intern_get(r->strings, text);
	r->taken = true;
}

/* An entry without a value that is read is kept: that it is there may be asked, and what it says is unknown, not absent. */
static int on_end(void *arg, size_t at KAR_UNUSED)
{
	struct reading *r = arg;

	add(r, KAR_DEVICE_OTHER, "");
	r->depth--;
	return 0;
}

static int on_string(void *arg, const char *s, size_t n, size_t at KAR_UNUSED)
{
	static const struct {
		const char *word;
		char kind;
	} kinds[] = {
		{ "string", KAR_DEVICE_TEXT },
		{ "version", KAR_DEVICE_VERSION },
		{ "value", KAR_DEVICE_QUANTITY },
	};
	struct reading *r = arg;
	char text[KAR_COPY_VALUE];

	for (size_t i = 0; i < KAR_LEN(kinds); i++) {
		if (strcmp(r->kind, kinds[i].word) == 0 && copy_key(text, sizeof(text), s, n))
			add(r, kinds[i].kind, text);
	}
	return 0;
}

static int on_number(void *arg, const char *s, size_t n, size_t at)
{
	struct reading *r = arg;
	char text[KAR_COPY_VALUE], *end;

	if (strcmp(r->kind, "value") == 0) /* a quantity may be a number */
		return on_string(arg, s, n, at);
	if (strcmp(r->kind, "int") != 0 || !copy_key(text, sizeof(text), s, n))
		return 0;
	errno = 0;
	(void)strtoll(text, &end, 10);
	if (!errno && !*end)
		add(r, KAR_DEVICE_NUMBER, text);
	return 0;
}

static int on_boolean(void *arg, bool value, size_t at KAR_UNUSED)
{
	struct reading *r = arg;

	if (strcmp(r->kind, "bool") == 0)
		add(r, KAR_DEVICE_FLAG, value ? "true" : "false");
	return 0;
}

static int on_null(void *arg KAR_UNUSED, size_t at KAR_UNUSED)
{
	return 0;
}

const char *const *kar_device_values_read(struct kar_str json, uint32_t most, struct kar_intern *strings,
	struct kar_arena *mem, uint32_t *n)
{
	static const struct kar_json_events events = { .begin = on_begin,
		.end = on_end,
		.key = on_key,
		.string = on_string,
		.number = on_number,
		.boolean = on_boolean,
		.null = on_null };
	struct reading r = { .strings = strings, .most = most };
	const char **out;

	assert(most <= KAR_DEVICE_ATTRIBUTES);
	if (json.n)
		(void)kar_json_read(json.p, json.n, &events, &r, NULL);
	out = kar_arena_alloc(mem, r.n, sizeof(*out));
	memcpy(out, r.items, r.n * sizeof(*out));
	*n = r.n;
	return out;
}

void kar_device_values_release(const char *const *values, uint32_t n, struct kar_intern *strings)
{
	for (uint32_t i = 0; i < n; i++)
		kar_intern_put(strings, values[i]);
}

bool kar_device_values_same(const char *const *a, uint32_t n_a, const char *const *b, uint32_t n_b)
{
	bool same = n_a == n_b;

	for (uint32_t i = 0; i < n_a && same; i++)
		same = a[i] == b[i];
	return same;
}
