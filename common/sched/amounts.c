#include "common/sched/amounts.h"

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
