/* BACKFILL: who has ended before the head of the cluster can start may use its room until then (decision 127). */
#include "common/queue/places.h"

#include <stdlib.h>

/* --- when groups end ---------------------------------------------------------------------------------- */

/* A start is recorded in whole seconds. */
static kar_time whole_second(kar_time t)
{
	return t - t % KAR_SECOND;
}

/* As it @runs, or if it is admitted now; 0: not known. */
static kar_time end_of(const struct q_pass *p, const struct q_group *g, bool runs)
{
	kar_time start = runs && g->in->admitted_at ? g->in->admitted_at : p->in->now;

	if (runs && g->in->ends_at)
		return g->in->ends_at;
	return g->in->runs_for ? q_add(whole_second(start), g->in->runs_for) : 0;
}

static bool was_admitted(const struct q_group *g)
{
	return g->in->standing == KAR_QUEUE_ADMITTED;
}

bool q_ends_in_time(const struct q_pass *p, const struct q_group *g)
{
	kar_time end;

	if (!p->plan.shadow || g == p->in->root->reserved)
		return false;
	end = end_of(p, g, q_is_admitted(g) && was_admitted(g));
	return end && end <= p->plan.shadow;
}

bool q_ended_in_time(const struct q_pass *p, const struct q_group *g)
{
	kar_time end = end_of(p, g, was_admitted(g));

	return end && end <= p->plan.shadow;
}

/* --- when the room of the head is free ------------------------------------------------------------------- */

/* Pods of a node that are gone at a time. */
struct going {
	kar_time at;
	uint32_t room;
	kar_class class;
	int32_t n;
};

struct goings {
	struct going *items;
	uint32_t n;
};

static int by_time(const void *a, const void *b)
{
	const struct going *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

static void collect(const struct q_pass *p, const struct q_group *g, struct goings *out)
{
	kar_time end = q_is_admitted(g) ? end_of(p, g, was_admitted(g)) : 0;

	for (uint32_t i = 0; i < g->st.n_spots && end; i++) {
		const struct q_spot *s = &g->st.spots[i];
		const uint32_t *room = s->node ? kar_table_find(&p->plan.reserved_at, s->node) : NULL;

		if (!room)
			continue;
		out->items = kar_arena_grow(p->arena, out->items, out->n, sizeof(*out->items));
		out->items[out->n++] = (struct going){ end, *room, g->in->runs[s->run].class, s->n };
	}
}

/* What is not free of a room, per resource. */
static int64_t *find_missing(const struct q_pass *p, const struct q_room *room)
{
	int64_t *missing = q_vector(p);

	for (uint32_t r = 0; r < p->in->n_plain; r++) {
		if (room->v[r] > 0)
			missing[r] = room->v[r] -
				kar_sched_node_free(p->in->snapshot->sched, room->node, p->in->names[r]);
	}
	return missing;
}

static bool is_free(const struct q_pass *p, const int64_t *missing)
{
	for (uint32_t r = 0; r < p->in->n_plain; r++) {
		if (missing[r] > 0)
			return false;
	}
	return true;
}

/* The first time at which all rooms are free; 0: never, as far as is known. */
static kar_time all_free_at(struct q_pass *p, const struct goings *all, const struct q_room *rooms,
	uint32_t n)
{
	int64_t **missing = kar_arena_alloc(p->arena, n, sizeof(*missing));
	uint32_t left = 0;

	for (uint32_t i = 0; i < n; i++) {
		missing[i] = find_missing(p, &rooms[i]);
		left += !is_free(p, missing[i]);
	}
	if (!left)
		return p->in->now;
	for (uint32_t i = 0; i < all->n; i++) {
		const struct going *g = &all->items[i];
		const int64_t *needs = q_class_needs(p, g->class);
		int64_t *of_room = missing[g->room];

		if (is_free(p, of_room))
			continue;
		for (uint32_t r = 0; r < p->in->n_plain; r++)
			of_room[r] = q_sub(of_room[r], q_mul(needs[r], g->n));
		left -= is_free(p, of_room);
		if (!left)
			return g->at;
	}
	return 0;
}

/* What was found first holds: whoever was let in since ends before that. It is forgotten when it has passed. */
void q_find_shadow(struct q_pass *p, const struct q_group *head, bool held, const struct q_room *rooms,
	uint32_t n)
{
	kar_time first = held ? head->queue->in->reserved_start : 0;
	struct goings all = { 0 };

	p->plan.shadow = 0;
	for (uint32_t i = 0; i < p->plan.n_live; i++)
		collect(p, p->plan.live[i], &all);
	if (all.n) {
		qsort(all.items, all.n, sizeof(*all.items), by_time);
		p->plan.shadow = whole_second(all_free_at(p, &all, rooms, n));
	}
	if (first > p->in->now && (!p->plan.shadow || first < p->plan.shadow))
		p->plan.shadow = first;
}

/* Those that stay on beyond that time are beside the rooms, and no part of them. */
void q_leave_room_to_those_in_time(const struct q_pass *p, struct q_room *rooms)
{
	for (uint32_t i = 0; i < p->plan.n_live; i++) {
		const struct q_group *g = p->plan.live[i];

		for (uint32_t k = 0; q_is_admitted(g) && q_ends_in_time(p, g) && k < g->st.n_spots; k++) {
			const struct q_spot *s = &g->st.spots[k];
			const uint32_t *room = s->node ? kar_table_find(&p->plan.reserved_at, s->node) : NULL;

			if (room)
				q_add_class(p, g->in->runs[s->run].class, -(int64_t)s->n, rooms[*room].v);
		}
	}
}
