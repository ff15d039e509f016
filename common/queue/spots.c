/* Where the pods of a group are: spots in the order of its pods. */
#include "common/queue/nodes.h"

#include <string.h>

#include "common/str.h"

void q_take_spot(struct q_pass *p, const struct q_group *g, const struct q_spot *s, int32_t n)
{
	if (s->node)
		kar_sched_take(p->in->snapshot->sched, s->node, g->in->runs[s->run].class, n);
}

/* The list is copied, as an older state may be restored. */
void q_push(struct q_pass *p, struct q_state *st, struct q_spot spot)
{
	struct q_spot *all = kar_arena_alloc(p->arena, st->n_spots + 1, sizeof(*all)), *last;

	if (st->n_spots)
		memcpy(all, st->spots, st->n_spots * sizeof(*all));
	st->spots = all;
	last = st->n_spots ? &all[st->n_spots - 1] : NULL;
	if (last && last->run == spot.run && last->bound == spot.bound && last->fresh == spot.fresh &&
		last->waits == spot.waits && last->none == spot.none && kar_streq(last->node, spot.node))
		last->n += spot.n;
	else
		all[st->n_spots++] = spot;
}

void q_release(struct q_pass *p, const struct q_group *g, struct q_state *st, int32_t d)
{
	struct q_state out = *st;
	int32_t at = 0;

	out.spots = NULL;
	out.n_spots = 0;
	for (uint32_t i = 0; i < st->n_spots; i++) {
		struct q_spot s = st->spots[i];
		int32_t stay = (int32_t)kar_clamp(d - at, 0, s.n);

		at += s.n;
		q_take_spot(p, g, &s, stay - s.n);
		s.n = stay;
		if (stay)
			q_push(p, &out, s);
	}
	for (uint32_t i = 0; i < st->n_held && d <= 0; i++)
		kar_sched_take(p->in->snapshot->sched, st->held[i].node, st->held[i].class, -1);
	if (d <= 0)
		out.n_held = 0;
	*st = out;
}

void q_retake(struct q_pass *p, const struct q_group *g, const struct q_state *from, const struct q_state *to)
{
	for (uint32_t i = 0; i < from->n_spots; i++)
		q_take_spot(p, g, &from->spots[i], -from->spots[i].n);
	for (uint32_t i = 0; i < to->n_spots; i++)
		q_take_spot(p, g, &to->spots[i], to->spots[i].n);
	for (uint32_t i = 0; i < from->n_held; i++)
		kar_sched_take(p->in->snapshot->sched, from->held[i].node, from->held[i].class, -1);
	for (uint32_t i = 0; i < to->n_held; i++)
		kar_sched_take(p->in->snapshot->sched, to->held[i].node, to->held[i].class, 1);
}

static const struct kar_queue_seat *seat_of(const struct q_group *g, int32_t k)
{
	uint32_t run = q_run_of(g, k);

	for (uint32_t i = 0; i < run; i++)
		k -= g->in->runs[i].n;
	for (uint32_t i = 0; i < g->in->runs[run].n_seats; i++) {
		if (k < g->in->runs[run].seats[i].n)
			return &g->in->runs[run].seats[i];
		k -= g->in->runs[run].seats[i].n;
	}
	return NULL;
}

int q_keep_bound(struct q_pass *p, const struct q_group *g, int32_t k, struct q_state *st)
{
	const struct kar_queue_seat *s = seat_of(g, k);
	struct q_spot spot = { .run = q_run_of(g, k), .n = 1, .bound = true };

	if (!s || !s->bound || !s->node)
		return -1;
	if (!kar_sched_fits_on(p->in->snapshot->sched, g->in->runs[spot.run].class, s->node))
		return 0;
	spot.node = s->node;
	q_take_spot(p, g, &spot, 1);
	q_push(p, st, spot);
	return 1;
}

const struct kar_placement *q_placement(struct q_pass *p, const struct q_group *g)
{
	struct kar_placement *out = kar_arena_alloc(p->arena, 1, sizeof(*out));
	struct kar_place *places = kar_arena_alloc(p->arena, g->st.n_spots + 1, sizeof(*places));

	for (uint32_t i = 0; i < g->st.n_spots; i++) {
		const struct q_spot *s = &g->st.spots[i];

		if (s->fresh && s->node)
			places[out->n_places++] = (struct kar_place){ s->node, s->run, s->n };
	}
	out->places = places;
	return out->n_places ? out : NULL;
}
