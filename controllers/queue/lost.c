/*
 * Room for what a started gang of another controller has lost. Its controller makes the members again, a while after: until they exist,
 * room for them is kept as for members to come (hold.c), from what the gang asked for when it was placed (docs/design/podgroup.md, 4).
 */
#include <string.h>

#include "controllers/queue/gather.h"

#include "api/podgroup/pg_members.h"
#include "common/base/str.h"
#include "common/sched/amounts.h"

enum {
	REPLACED_WITHIN = 60 *
		KAR_SECOND, /* of some of its members, from the moment in which its minimum was bound no more */
	BEGINS_WITHIN = 10 * KAR_SECOND, /* of all of them, from the moment in which the last was gone */
};

/* --- what it asks for --------------------------------------------------------------------------------- */

struct sums {
	const struct gathering *m;
	struct kar_sched_amount *items;
	size_t n;
	int64_t pods;
};

static void add_amount(struct sums *s, const struct kar_sched_amount *amount)
{
	size_t i = 0;

	while (i < s->n && !kar_streq(s->items[i].resource, amount->resource))
		i++;
	if (i == s->n) {
		s->items = kar_arena_grow(s->m->arena, s->items, s->n, sizeof(*s->items));
		s->items[s->n++] = (struct kar_sched_amount){ .resource = amount->resource };
	}
	s->items[i].amount = kar_clamp(s->items[i].amount + amount->amount, 0, KAR_SCHED_MOST);
}

/* The first of @members that belong to the minimum. */
static void add_members(struct sums *s, const struct queue_members *members)
{
	const struct kar_snapshot *snapshot = s->m->p->stores->snapshot;

	for (size_t i = 0; i < members->n && s->pods < queue_minimum_left(s->m); i++, s->pods++) {
		const struct kar_pod *pod = members->items[i];
		const struct kar_pod_needs *of = kar_sched_needs(kar_snapshot_sched(snapshot),
			kar_needs_class_of_pod(s->m->p->stores, pod));

		for (uint32_t k = 0; k < of->n_amounts; k++)
			add_amount(s, &of->amounts[k]);
	}
}

const char *queue_requests(const struct gathering *m)
{
	struct sums s = { .m = m };
	struct kar_buf text = { 0 };
	const char *out;

	add_members(&s, &m->have);
	add_members(&s, &m->unbound);
	kar_buf_printf(&text, "pods=%lld", (long long)s.pods);
	for (size_t i = 0; i < s.n; i++) {
		if (strpbrk(s.items[i].resource,
			    ",=")) /* a selector of devices, which the device itself stands for */
			continue;
		kar_buf_printf(&text, ",%s=%lld%s", s.items[i].resource, (long long)s.items[i].amount,
			kar_streq(s.items[i].resource, "cpu") ? "m" : "");
	}
	out = kar_arena_printf(m->arena, "%s", kar_buf_cstr(&text));
	kar_buf_release(&text);
	return strlen(out) < KAR_PG_REQUESTS_BYTES ? out : "";
}

/* --- what it has lost --------------------------------------------------------------------------------- */

static bool is_in(const struct kar_sched_amount *items, uint32_t n, const char *resource)
{
	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(items[i].resource, resource) == 0)
			return true;
	}
	return false;
}

enum { REQUESTS = 32 }; /* resources of a record; of more the first */

/* What is recorded, without `pods`, of which there are *@pods. Others may have written it: each resource counts once, and not too many. */
static struct kar_queue_amounts read_requests(const struct gathering *m, int64_t *pods)
{
	char *rest = kar_arena_printf(m->arena, "%s", m->group->status.placement.requests), *name;
	struct kar_sched_amount *items = NULL;
	uint32_t n = 0;

	while ((name = strsep(&rest, ",")) != NULL) {
		char *value = strchr(name, '=');
		struct kar_quantity q;

		if (value)
			*value++ = '\0';
		if (!value || n == REQUESTS || is_in(items, n, name) ||
			kar_quantity_parse(value, &q, NULL) != 0)
			continue;
		if (kar_streq(name, "pods")) {
			*pods = kar_quantity_value(&q);
			continue;
		}
		items = kar_arena_grow(m->arena, items, n, sizeof(*items));
		items[n++] = kar_amount_rounded(name, &q);
	}
	return (struct kar_queue_amounts){ items, n };
}

kar_time queue_keeps_room_for(const struct kar_podgroup *g, kar_time now)
{
	const struct kar_condition *c = kar_condition_find(&g->status.conditions, KAR_PG_SCHEDULED);
	const struct kar_pg_placement *pl = &g->status.placement;

	if (!kar_has_text(pl->requests) || g->options.only_waiting)
		return 0;
	if (kar_pg_lasting_state(g) == KAR_PG_STATE_NONE)
		return pl->time + BEGINS_WITHIN - now;
	if (pl->state != KAR_PG_STATE_SATISFIED)
		return 0;
	return (c && c->status == KAR_COND_FALSE ? c->last_transition : now) + REPLACED_WITHIN - now;
}

/* Members that have succeeded are not made again: of each resource no more than the missing ones' share is kept. */
static void keep_share(struct kar_sched_amount *amounts, uint32_t n, const struct kar_queue_amounts *all,
	int64_t missing, int64_t pods)
{
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = 0; k < all->n && pods > 0; k++) {
			kar_nano share = (kar_nano)all->items[k].amount * missing / pods;

			if (kar_streq(all->items[k].resource, amounts[i].resource) &&
				amounts[i].amount > share)
				amounts[i].amount = (int64_t)share;
		}
	}
}

/*
 * What all of its members ask for. Of one that starts in stages the record has only those that came first; spec.minResources has the others, too.
 */
static struct kar_queue_amounts whole(const struct gathering *m, int64_t *pods)
{
	const struct kar_podgroup_spec *spec = &m->group->spec;
	struct kar_queue_amounts all = read_requests(m, pods);
	struct kar_sched_amount *staged =
		kar_arena_alloc(m->arena, spec->min_resources.n + 1, sizeof(*staged));
	uint32_t n;

	if (*pods >= spec->min_member)
		return all;
	n = queue_hold_whole(m->group, staged);
	if (!n)
		return all;
	*pods = spec->min_member;
	return (struct kar_queue_amounts){ staged, n };
}

struct kar_queue_amounts queue_hold_lost(const struct gathering *m)
{
	int64_t missing = queue_minimum_left(m) - (int64_t)m->have.n - (int64_t)m->unbound.n, pods = 0;
	bool begins = m->group->status.placement.state == KAR_PG_STATE_NONE;
	kar_time left = queue_keeps_room_for(m->group, m->p->now);
	struct kar_queue_amounts all;
	struct kar_sched_amount *rest;
	uint32_t n;

	if (!m->admitted || left <= 0 || (missing <= 0 && !begins))
		return (struct kar_queue_amounts){ 0 };
	queue_come_again(m->p, left);
	all = whole(m, &pods);
	rest = kar_arena_alloc(m->arena, all.n + 1, sizeof(*rest));
	if (all.n)
		memcpy(rest, all.items, all.n * sizeof(*rest));
	n = queue_hold_rest(m->p, rest, all.n, &m->runs);
	if (m->succeeded)
		keep_share(rest, n, &all, missing, pods);
	return (struct kar_queue_amounts){ rest, n };
}
