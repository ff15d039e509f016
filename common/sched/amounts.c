#include "common/sched/amounts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void kar_amounts_release(struct kar_amounts *a)
{
	kar_arena_release(&a->arena);
	*a = (struct kar_amounts){ 0 };
}

void kar_amounts_cleanup(struct kar_amounts *a)
{
	kar_amounts_release(a);
}

/* Index of @name, or of the first after it. */
static size_t position(const struct kar_amounts *a, const char *name)
{
	size_t i = 0;

	while (i < a->n && strcmp(a->items[i].name, name) < 0)
		i++;
	return i;
}

struct kar_quantity *kar_amounts_find(const struct kar_amounts *a, const char *name)
{
	size_t i = position(a, name);

	return i < a->n && !strcmp(a->items[i].name, name) ? &a->items[i].q : NULL;
}

struct kar_quantity *kar_amounts_at(struct kar_amounts *a, const char *name)
{
	size_t i = position(a, name);

	if (i < a->n && !strcmp(a->items[i].name, name))
		return &a->items[i].q;
	a->items = kar_arena_grow(&a->arena, a->items, a->n, sizeof(*a->items));
	memmove(&a->items[i + 1], &a->items[i], (a->n - i) * sizeof(*a->items));
	a->items[i] = (struct kar_amount){ .name = kar_arena_strndup(&a->arena, name, strlen(name)) };
	a->n++;
	return &a->items[i].q;
}

void kar_amounts_add(struct kar_amounts *a, const char *name, const struct kar_quantity *q)
{
	kar_quantity_add(kar_amounts_at(a, name), q);
}

void kar_amounts_sub(struct kar_amounts *a, const char *name, const struct kar_quantity *q)
{
	kar_quantity_sub(kar_amounts_at(a, name), q);
}

void kar_amounts_add_all(struct kar_amounts *a, const struct kar_amounts *more)
{
	for (size_t i = 0; i < more->n; i++)
		kar_amounts_add(a, more->items[i].name, &more->items[i].q);
}

void kar_amounts_max_all(struct kar_amounts *a, const struct kar_amounts *other)
{
	for (size_t i = 0; i < other->n; i++) {
		struct kar_quantity *q = kar_amounts_at(a, other->items[i].name);

		if (kar_quantity_cmp(q, &other->items[i].q) < 0)
			*q = other->items[i].q;
	}
}

void kar_amounts_set_all(struct kar_amounts *a, const struct kar_amounts *other)
{
	for (size_t i = 0; i < other->n; i++)
		*kar_amounts_at(a, other->items[i].name) = other->items[i].q;
}

struct kar_sched_amount kar_amount_rounded(const char *name, const struct kar_quantity *q)
{
	int64_t amount = strcmp(name, "cpu") == 0 ? kar_quantity_milli(q) : kar_quantity_value(q);

	return (struct kar_sched_amount){ .resource = name, .amount = kar_clamp(amount, 0, KAR_SCHED_MOST) };
}

struct kar_sched_amount kar_amount_rounded_down(const char *name, const struct kar_quantity *q)
{
	kar_nano unit = strcmp(name, "cpu") == 0 ? 1000000 : 1000000000;
	kar_nano amount = q->nano / unit;

	if (amount < 0)
		amount = 0;
	if (amount > INT64_MAX)
		amount = INT64_MAX;
	return (struct kar_sched_amount){ .resource = name, .amount = (int64_t)amount };
}

/* --- in messages ------------------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), k = strlen(end);

	return n >= k && strcmp(text + n - k, end) == 0;
}

static bool is_cpu(const char *resource)
{
	return strcmp(resource, "cpu") == 0 || ends_with(resource, ".cpu");
}

static bool is_bytes(const char *resource)
{
	if (strchr(resource, '/')) /* an extended resource, or the storage of a class */
		return ends_with(resource, "/requests.storage");
	return strstr(resource, "memory") || strstr(resource, "storage") || strstr(resource, "hugepages-");
}

static const char *put_tenths(kar_nano tenths, const char *unit, char *out)
{
	int64_t whole = (int64_t)(tenths / 10);
	int rest = (int)(tenths % 10);

	if (rest)
		snprintf(out, KAR_AMOUNT_TEXT, "%" PRId64 ".%d%s", whole, rest, unit);
	else
		snprintf(out, KAR_AMOUNT_TEXT, "%" PRId64 "%s", whole, unit);
	return out;
}

static kar_nano tenths_of(int64_t amount, kar_nano unit, bool up)
{
	return ((kar_nano)amount * 10 + (up ? unit - 1 : 0)) / unit;
}

static const char *put_bytes(int64_t amount, bool up, char *out)
{
	static const char *const units[] = { "", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei" };
	kar_nano unit = 1;
	size_t i = 0;

	while (i + 1 < KAR_LEN(units) && tenths_of(amount, unit, up) >= 10240) {
		unit *= 1024;
		i++;
	}
	return put_tenths(tenths_of(amount, unit, up), units[i], out);
}

const char *kar_amount_text(const char *resource, int64_t amount, bool up, char out[KAR_AMOUNT_TEXT])
{
	amount = amount > 0 ? amount : 0;
	if (is_bytes(resource))
		return put_bytes(amount, up, out);
	if (!is_cpu(resource))
		return put_tenths((kar_nano)amount * 10, "", out);
	if (amount > 0 && amount < 100) {
		snprintf(out, KAR_AMOUNT_TEXT, "%" PRId64 "m", amount);
		return out;
	}
	return put_tenths(tenths_of(amount, 1000, up), "", out);
}
