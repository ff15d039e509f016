#include "controllers/queue/runs.h"

#include <assert.h>

#include "common/base/str.h"

uint32_t queue_run_add(struct queue_runs *r, kar_class class, int32_t n, const struct queue_charges *c)
{
	assert(n >= 0 && (!c || c->items || !c->n));
	r->items = kar_arena_grow(r->arena, r->items, r->n, sizeof(*r->items));
	r->items[r->n] = (struct kar_queue_run){ .class = class,
		.n = n,
		.charges = c ? c->items : NULL,
		.n_charges = c ? c->n : 0 };
	return r->n++;
}

static kar_time later(kar_time a, kar_time b)
{
	return a > b ? a : b;
}

void queue_seat_add(struct queue_seats *s, const char *node, int32_t n, bool bound, kar_time created,
	struct kar_arena *a)
{
	struct kar_queue_seat *last = s->n ? &s->items[s->n - 1] : NULL;

	if (!n)
		return;
	if (last && last->bound == bound && kar_streq(last->node, node)) {
		last->n += n;
		last->created = later(last->created, created);
		return;
	}
	s->items = kar_arena_grow(a, s->items, s->n, sizeof(*s->items));
	s->items[s->n++] = (struct kar_queue_seat){ node, n, bound, created };
}

int32_t queue_run_unseated(const struct queue_runs *r, uint32_t run)
{
	const struct kar_queue_run *to = &r->items[run];
	int32_t left = to->n;

	for (uint32_t i = 0; i < to->n_seats; i++)
		left -= to->seats[i].n;
	assert(left >= 0);
	return left;
}

void queue_run_seat(struct queue_runs *r, uint32_t run, struct queue_seats *from)
{
	struct kar_queue_run *to = &r->items[run];
	struct queue_seats seats = { (struct kar_queue_seat *)(uintptr_t)to->seats, to->n_seats };
	int32_t left = queue_run_unseated(r, run);

	while (left && from->n) {
		struct kar_queue_seat *s = &from->items[0];
		int32_t n = s->n < left ? s->n : left;

		queue_seat_add(&seats, s->node, n, s->bound, s->created, r->arena);
		s->n -= n;
		left -= n;
		if (!s->n) {
			from->items++;
			from->n--;
		}
	}
	assert(left >= 0);
	to->seats = seats.items;
	to->n_seats = seats.n;
}

void queue_leaving_add(struct queue_runs *r, const struct kar_queue_leaving *l, const struct queue_charges *c)
{
	assert(l->n > 0 && l->node); /* what has no node holds none */
	r->leaving = kar_arena_grow(r->arena, r->leaving, r->n_leaving, sizeof(*r->leaving));
	r->leaving[r->n_leaving] = *l;
	r->leaving[r->n_leaving].charges = c ? c->items : NULL;
	r->leaving[r->n_leaving++].n_charges = c ? c->n : 0;
}

void queue_unbound_add(struct queue_runs *r, kar_class class)
{
	if (!r->n_unbound || r->unbound[r->n_unbound - 1].class != class) {
		r->unbound = kar_arena_grow(r->arena, r->unbound, r->n_unbound, sizeof(*r->unbound));
		r->unbound[r->n_unbound++] = (struct kar_queue_run){ .class = class };
	}
	r->unbound[r->n_unbound - 1].n++;
}

int32_t queue_runs_pods(const struct queue_runs *r)
{
	int64_t n = 0;

	for (uint32_t i = 0; i < r->n; i++)
		n += r->items[i].n;
	return (int32_t)kar_clamp(n, 0, INT32_MAX);
}

void queue_runs_give(const struct queue_runs *r, struct kar_queue_group *in)
{
	in->runs = r->items;
	in->n_runs = r->n;
	in->leaving = r->leaving;
	in->n_leaving = r->n_leaving;
	in->unbound = r->unbound;
	in->n_unbound = r->n_unbound;
}
