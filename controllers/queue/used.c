/* What the pods of each queue have used, for its status (decision 134). */
#include <string.h>

#include "api/core/amounts_wire.h"
#include "common/base/str.h"
#include "controllers/queue/pass.h"

static struct kar_array sum(const struct kar_array *seconds, const struct kar_array *allocated, kar_time ms,
	struct kar_arena *a)
{
	KAR_CLEANUP(kar_amounts_cleanup) struct kar_amounts all = { 0 };
	struct kar_array used;

	if (seconds)
		kar_amounts_read(seconds, &all);
	if (allocated)
		kar_usage_add(&all, allocated, ms);
	used = kar_usage_pairs(&all, a);
	return seconds ? kar_status_pairs_over(seconds, &used, a) : used;
}

static const struct kar_array *allocated_of(const struct kar_queue_status *s, const char *flavor)
{
	for (size_t i = 0; i < s->n_flavors; i++) {
		if (kar_streq(s->flavors[i].name, flavor))
			return &s->flavors[i].allocated;
	}
	return NULL;
}

static const struct kar_array *seconds_of(const struct kar_queue_usage *u, const char *flavor)
{
	for (size_t i = 0; i < u->n_flavors; i++) {
		if (kar_streq(u->flavors[i].name, flavor))
			return &u->flavors[i].seconds;
	}
	return NULL;
}

/* Flavors that it has used, in the order in which it first had them; those that it has now follow. */
static void add_flavors(const struct kar_queue_status *before, kar_time ms, struct kar_queue_usage *out,
	const struct kar_queue_status *now, struct kar_arena *a)
{
	const struct kar_queue_usage *was = &before->usage;

	out->flavors = kar_arena_alloc(a, was->n_flavors + now->n_flavors + 1, sizeof(*out->flavors));
	for (size_t i = 0; i < was->n_flavors; i++) {
		const char *name = was->flavors[i].name;

		out->flavors[out->n_flavors++] = (struct kar_queue_flavor_usage){ name,
			sum(&was->flavors[i].seconds, allocated_of(before, name), ms, a) };
	}
	for (size_t i = 0; i < now->n_flavors; i++) {
		const char *name = now->flavors[i].name;

		if (now->flavors[i].allocated.n && !seconds_of(was, name))
			out->flavors[out->n_flavors++] = (struct kar_queue_flavor_usage){ name,
				sum(NULL, allocated_of(before, name), ms, a) };
	}
}

static bool is_same_allocation(const struct kar_queue_status *a, const struct kar_queue_status *b)
{
	bool same = kar_status_same_pairs(&a->allocated, &b->allocated) && a->n_flavors == b->n_flavors;

	for (size_t i = 0; i < a->n_flavors && same; i++)
		same = kar_streq(a->flavors[i].name, b->flavors[i].name) &&
			kar_status_same_pairs(&a->flavors[i].allocated, &b->flavors[i].allocated);
	return same;
}

void queue_count_usage(const struct kar_queue_status *before, struct kar_queue_status *now, kar_time at,
	struct kar_arena *a)
{
	const struct kar_queue_usage *was = &before->usage;
	kar_time second = at - at % KAR_SECOND, ms = was->time ? second - was->time : 0;

	now->usage = *was;
	if (is_same_allocation(before, now) && was->time)
		return;
	if (!now->allocated.n && !was->time)
		return;
	now->usage = (struct kar_queue_usage){ .time = second,
		.seconds = sum(&was->seconds, &before->allocated, ms, a) };
	add_flavors(before, ms, &now->usage, now, a);
}
