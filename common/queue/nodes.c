/* Places for pods: in one of the two views, beside what is reserved; and where all pods are at the beginning. */
#include "common/queue/places.h"

#include <stdlib.h>
#include <string.h>

static bool is_guaranteed(const struct q_pass *p, const struct q_queue *q, const int64_t *v)
{
	bool asks = false;

	for (uint32_t r = 0; r < p->in->n_resources; r++) {
		if (v[r] <= 0 || q->guarantee[r] <= 0)
			continue;
		if (q_add(q_used(q, r), v[r]) > q->guarantee[r])
			return false;
		asks = true;
	}
	return asks;
}

/* Of a whole group against the queue of the head: its guarantee or its right has room for it. */
static bool is_its_right(const struct q_pass *p, const struct q_group *head, const struct q_ask *ask)
{
	struct q_queue *a, *b;

	return q_pair(ask->group->queue, head->queue, &a, &b) &&
		(is_guaranteed(p, a, ask->needs) || q_within(p, a, ask->needs));
}

bool q_binds(const struct q_pass *p, const struct q_group *head, const struct q_ask *ask)
{
	if (!head || head == ask->group || ask->no_reservation ||
		(head->binds_own && head->queue != ask->group->queue) ||
		(head == p->in->root->reserved && !ask->extra && q_ends_in_time(p, ask->group)))
		return false;
	return ask->extra ||
		(ask->group->level <= head->level && ask->group->in->base <= head->in->base &&
			!is_its_right(p, head, ask));
}

/* --- placing ---------------------------------------------------------------------------------------- */

struct wish {
	struct kar_gang gang;
	struct kar_role roles[16];
	const struct q_group *group;
};

/* Which all its nodes have. */
static struct kar_sched_label flavor_label(const struct q_pass *p, const struct q_group *g)
{
	if (!g->st.flavor)
		return (struct kar_sched_label){ 0 };
	return (struct kar_sched_label){ KAR_QUEUE_FLAVOR_LABEL,
		p->in->snapshot->flavors[g->st.flavor - 1].name };
}

/* A role for each run, with as many pods as are asked for of it. */
static void make_wish(const struct q_pass *p, const struct q_ask *ask, struct wish *w)
{
	const struct kar_queue_group *in = ask->group->in;
	struct kar_role *roles = in->n_runs > KAR_LEN(w->roles)
		? kar_arena_alloc(p->arena, in->n_runs, sizeof(*roles))
		: w->roles;
	int32_t at = 0;

	w->gang = (struct kar_gang){ .roles = roles };
	w->group = ask->group;
	for (uint32_t i = 0; i < in->n_runs; i++) {
		int32_t first = ask->from > at ? ask->from : at;
		int32_t end = ask->to < at + in->runs[i].n ? ask->to : at + in->runs[i].n;

		at += in->runs[i].n;
		roles[w->gang.n_roles++] = (struct kar_role){ .class = q_class_of(p, ask->group, i),
			.need = end > first ? end - first : 0,
			.ask = ask->job ? in->runs[i].ask : 0 };
		if (ask->job)
			roles[i].later = in->runs[i].n - roles[i].need;
	}
	if (ask->job) {
		w->gang.hold = in->hold.items;
		w->gang.n_hold = in->hold.n;
		w->gang.hold_on = flavor_label(p, ask->group);
		w->gang.topology = in->topology;
		w->gang.topology.inside = ask->inside;
		w->gang.asks = in->wishes;
		w->gang.n_asks = in->n_wishes;
	}
}

static void push_places(struct q_pass *p, const struct kar_placement *out, uint32_t role, uint32_t run,
	bool waits, struct q_state *st)
{
	for (uint32_t i = 0; i < out->n_places; i++) {
		if (out->places[i].role == role)
			q_push(p, st,
				(struct q_spot){ .node = out->places[i].node,
					.run = run,
					.n = out->places[i].n,
					.fresh = true,
					.waits = waits });
	}
}

/* Pods whose places nobody looks for. */
static void push_nowhere(struct q_pass *p, const struct q_ask *ask, struct q_state *st)
{
	for (int32_t k = ask->from; k < ask->to;) {
		uint32_t run = q_run_of(ask->group, k);
		int32_t end = 0;

		for (uint32_t i = 0; i <= run; i++)
			end += ask->group->in->runs[i].n;
		end = end < ask->to ? end : ask->to;
		q_push(p, st, (struct q_spot){ .run = run, .n = end - k, .none = true });
		k = end;
	}
}

/* In one flavor: what is taken is of the classes that its pods have anywhere, as that is what is given back. */
static bool place_in_flavor(struct q_pass *p, const struct wish *w, struct kar_arena *a,
	struct kar_placement *out)
{
	struct kar_sched *s = p->in->snapshot->sched;
	size_t mark = kar_sched_mark(s);
	bool fits = kar_sched_place(s, &w->gang, a, out);

	kar_sched_undo(s, mark);
	for (uint32_t i = 0; i < out->n_places && fits; i++)
		kar_sched_take(s, out->places[i].node, w->group->in->runs[out->places[i].role].class,
			out->places[i].n);
	for (uint32_t i = 0; i < out->n_held && fits; i++)
		kar_sched_take(s, out->held[i].node, out->held[i].class, 1);
	return fits;
}

static bool place(struct q_pass *p, const struct wish *w, struct kar_placement *out)
{
	struct kar_arena *a = p->round.scratch ? p->round.scratch : p->arena;

	if (w->group->st.flavor)
		return place_in_flavor(p, w, a, out);
	return kar_sched_place(p->in->snapshot->sched, &w->gang, a, out);
}

/* Likewise in the view `now`. */
static bool place_now(struct q_pass *p, const struct wish *w, struct kar_placement *out)
{
	struct q_overlap o = { 0 };
	bool fits;

	if (q_leaves(p)) {
		q_find_overlap(p, &o);
		q_switch_view(p, &o, 1);
	}
	fits = place(p, w, out);
	if (q_leaves(p))
		q_switch_view(p, &o, -1);
	return fits;
}

static bool find_places(struct q_pass *p, const struct q_ask *ask, const struct wish *w, enum q_view view,
	struct kar_placement *out)
{
	bool binds = q_binds(p, p->in->root->reserved, ask), fits;

	if (binds)
		q_reserve_room(p, 1);
	p->round.early = !ask->extra && q_may_use_foreign(p, ask->group);
	fits = view == Q_NOW ? place_now(p, w, out) : place(p, w, out);
	p->round.early = false;
	if (binds)
		q_reserve_room(p, -1);
	return fits;
}

/* Nothing is free on the nodes that the group takes last, until empty_last(). */
static const kar_class *fill_last(struct q_pass *p, const struct kar_queue_group *in)
{
	kar_class *filled = kar_arena_alloc(p->arena, in->n_last + 1, sizeof(*filled));

	for (uint32_t i = 0; i < in->n_last; i++) {
		int64_t *free = q_vector(p);

		for (uint32_t r = 0; r < p->in->n_plain; r++)
			free[r] = kar_sched_node_free(p->in->snapshot->sched, in->last[i], p->in->names[r]);
		filled[i] = q_room_class(p, free);
		if (filled[i])
			kar_sched_take(p->in->snapshot->sched, in->last[i], filled[i], 1);
	}
	return filled;
}

static void empty_last(struct q_pass *p, const struct kar_queue_group *in, const kar_class *filled)
{
	for (uint32_t i = 0; i < in->n_last; i++) {
		if (filled[i])
			kar_sched_take(p->in->snapshot->sched, in->last[i], filled[i], -1);
	}
}

/* Beside all pods that are about to be bound; if that is not possible, in the room of those that it goes before. */
static bool find_places_beside_expected(struct q_pass *p, const struct q_ask *ask, const struct wish *w,
	enum q_view view, struct kar_placement *out)
{
	size_t mark;

	if (find_places(p, ask, w, view, out))
		return true;
	if (!q_goes_before_expected(p, ask))
		return false;
	mark = kar_sched_mark(p->in->snapshot->sched);
	q_lift_expected(p, ask);
	if (!find_places(p, ask, w, view, out)) {
		kar_sched_undo(p->in->snapshot->sched, mark);
		return false;
	}
	kar_sched_keep(p->in->snapshot->sched, mark);
	q_settle_expected(p, ask);
	return true;
}

/* Without the nodes that the group takes last. */
static bool find_places_elsewhere(struct q_pass *p, const struct q_ask *ask, const struct wish *w,
	enum q_view view, struct kar_placement *out)
{
	const kar_class *filled;
	bool fits;

	if (!ask->group->in->n_last)
		return false;
	filled = fill_last(p, ask->group->in);
	fits = find_places_beside_expected(p, ask, w, view, out);
	empty_last(p, ask->group->in, filled);
	return fits;
}

/* Of a claim for which pods of no queue have left: others are in their room already, and the scheduler preempts these for its pods. */
static bool find_places_of_young(struct q_pass *p, const struct q_ask *ask, const struct wish *w,
	enum q_view view, struct kar_placement *out)
{
	bool fits;

	if (ask->group->in->standing != KAR_QUEUE_RESERVING || !q_lift_young(p, ask->group, 1))
		return false;
	fits = find_places(p, ask, w, view, out);
	q_lift_young(p, ask->group, -1);
	return fits;
}

/* Nobody looks for places of its pods. */
static bool is_nowhere(const struct q_pass *p, const struct q_ask *ask)
{
	return ask->group->in->no_node_check || p->in->snapshot->no_nodes;
}

static bool find_all_places(struct q_pass *p, const struct q_ask *ask, enum q_view view, struct wish *w,
	struct kar_placement *out)
{
	make_wish(p, ask, w);
	if (!find_places_elsewhere(p, ask, w, view, out) &&
		!find_places_beside_expected(p, ask, w, view, out) &&
		!find_places_of_young(p, ask, w, view, out))
		return false;
	for (uint32_t i = 0; i < out->n_held; i++)
		kar_sched_class_put(p->in->snapshot->sched,
			out->held[i].class); /* it stays known while it is taken */
	return true;
}

bool q_has_places(struct q_pass *p, const struct q_ask *ask, enum q_view view)
{
	struct kar_arena scratch = { 0 };
	struct kar_placement out;
	struct wish w;
	bool fits;

	if (is_nowhere(p, ask))
		return true;
	p->round.scratch = &scratch;
	fits = find_all_places(p, ask, view, &w, &out);
	p->round.scratch = NULL;
	kar_arena_release(&scratch);
	return fits;
}

bool q_place(struct q_pass *p, const struct q_ask *ask, enum q_view view, struct q_state *st)
{
	struct kar_placement out;
	struct wish w;

	if (is_nowhere(p, ask)) {
		push_nowhere(p, ask, st);
		return true;
	}
	if (!find_all_places(p, ask, view, &w, &out))
		return false;
	for (uint32_t i = 0; i < w.gang.n_roles; i++)
		push_places(p, &out, i, i, view == Q_FUT, st);
	if (out.n_held) {
		st->held = kar_arena_alloc(p->arena, out.n_held, sizeof(*st->held));
		memcpy(st->held, out.held, out.n_held * sizeof(*st->held));
		st->n_held = out.n_held;
	}
	return true;
}

uint32_t q_domains_for(struct q_pass *p, const struct q_ask *ask, uint32_t most, const char **out)
{
	struct wish w;

	make_wish(p, ask, &w);
	return kar_sched_domains_for(p->in->snapshot->sched, &w.gang, most, p->arena, out);
}

bool q_fits_empty_nodes(const struct q_pass *p, const struct q_group *g)
{
	const struct q_ask ask = q_ask_minimum((struct q_group *)(uintptr_t)g);
	struct wish w;

	if (g->in->no_node_check || p->in->snapshot->no_nodes)
		return true;
	make_wish(p, &ask, &w);
	return kar_sched_feasible(p->in->snapshot->sched, &w.gang);
}

struct kar_sched_why q_explain_nodes(struct q_pass *p, const struct q_ask *ask)
{
	struct kar_sched_why out;
	struct wish w;
	size_t mark;

	make_wish(p, ask, &w);
	mark = kar_sched_mark(p->in->snapshot->sched);
	q_lift_expected(p, ask);
	out = kar_sched_explain(p->in->snapshot->sched, &w.gang, ask->group->in->run_names, p->arena);
	kar_sched_undo(p->in->snapshot->sched, mark);
	return out;
}

struct kar_sched_why q_explain_empty_nodes(struct q_pass *p, struct q_group *g)
{
	const struct q_ask ask = q_ask_minimum(g);
	struct wish w;

	make_wish(p, &ask, &w);
	return kar_sched_explain_empty(p->in->snapshot->sched, &w.gang, g->in->run_names, p->arena);
}

struct kar_sched_why q_explain_beside_head(struct q_pass *p, const struct q_ask *ask)
{
	struct kar_sched_why out;

	q_reserve_room(p, 1);
	out = q_explain_nodes(p, ask);
	q_reserve_room(p, -1);
	return out;
}

bool q_exceeds_nodes(const struct q_pass *p, struct q_group *g, struct kar_sched_excess *out)
{
	const struct q_ask ask = q_ask_minimum(g);
	struct wish w;

	make_wish(p, &ask, &w);
	return kar_sched_exceeds_nodes(p->in->snapshot->sched, &w.gang, out);
}

bool q_nodes_are_alike(const struct q_pass *p, struct q_group *g)
{
	const struct q_ask ask = q_ask_minimum(g);
	struct wish w;

	make_wish(p, &ask, &w);
	return kar_sched_all_alike(p->in->snapshot->sched, &w.gang);
}

/* --- the beginning and the end ----------------------------------------------------------------------- */

/* Spots of the first d pods as the snapshot has them; those of plans are taken. */
static void seat(struct q_pass *p, struct q_group *g)
{
	struct q_state st = g->st;
	int32_t at = 0;

	for (uint32_t i = 0; i < g->in->n_runs && at < st.n_kept; i++) {
		const struct kar_queue_run *run = &g->in->runs[i];
		int32_t left = run->n < st.n_kept - at ? run->n : st.n_kept - at;

		at += run->n;
		for (uint32_t k = 0; k < run->n_seats && left > 0; k++) {
			const struct kar_queue_seat *s = &run->seats[k];
			struct q_spot spot = { .node = s->node,
				.run = i,
				.bound = s->bound,
				.none = !s->node };

			spot.n = s->n < left ? s->n : left;
			left -= spot.n;
			if (!s->bound)
				q_take_spot(p, g, &spot, spot.n);
			q_push(p, &st, spot);
		}
		if (left > 0)
			q_push(p, &st, (struct q_spot){ .run = i, .n = left });
	}
	g->st = st;
}

static bool seems_placed(const struct q_spot *s)
{
	return s->node || s->none;
}

static int32_t count_unplaced(const struct q_state *st)
{
	int32_t n = 0;

	for (uint32_t i = 0; i < st->n_spots; i++)
		n += seems_placed(&st->spots[i]) ? 0 : st->spots[i].n;
	return n;
}

/* Roles for its pods without a place: the minimum is needed, the rest wanted. @soft: all are wanted. */
static void wish_for_rest(const struct q_pass *p, const struct q_group *g, struct wish *w,
	struct kar_role *roles, bool soft)
{
	int32_t at = 0;

	w->gang = (struct kar_gang){ .roles = roles, .n_roles = g->in->n_runs };
	w->group = g;
	for (uint32_t i = 0; i < g->in->n_runs; i++)
		roles[i] = (struct kar_role){ .class = q_class_of(p, g, i) };
	for (uint32_t i = 0; i < g->st.n_spots; i++) {
		const struct q_spot *s = &g->st.spots[i];
		int32_t need = (int32_t)kar_clamp(g->min - at, 0, s->n);

		at += s->n;
		if (seems_placed(s))
			continue;
		roles[s->run].need += soft ? 0 : need;
		roles[s->run].want += soft ? s->n : s->n - need;
	}
}

/* Spots without a node get those of @out, in order. */
static void fill_in(struct q_pass *p, struct q_group *g, const struct kar_placement *out, bool real)
{
	struct q_state old = g->st;
	int32_t *left = kar_arena_alloc(p->arena, out->n_places + 1, sizeof(*left));

	for (uint32_t k = 0; k < out->n_places; k++)
		left[k] = out->places[k].n;
	g->st.spots = NULL;
	g->st.n_spots = 0;
	for (uint32_t i = 0; i < old.n_spots; i++) {
		struct q_spot s = old.spots[i];

		for (uint32_t k = 0; k < out->n_places && !seems_placed(&s) && s.n; k++) {
			int32_t n = out->places[k].role == s.run ? (left[k] < s.n ? left[k] : s.n) : 0;

			if (!n)
				continue;
			q_push(p, &g->st,
				(struct q_spot){ .node = out->places[k].node,
					.run = s.run,
					.n = n,
					.fresh = real,
					.waits = !(real && g->in->at_once) });
			left[k] -= n;
			s.n -= n;
		}
		if (s.n)
			q_push(p, &g->st, s);
	}
}

static void hold_for_members(struct q_pass *p, struct q_group *g)
{
	struct kar_gang gang = { .hold = g->in->hold.items,
		.n_hold = g->in->hold.n,
		.hold_on = flavor_label(p, g) };
	struct kar_placement out;

	if (!gang.n_hold || !kar_sched_place(p->in->snapshot->sched, &gang, p->arena, &out) || !out.n_held)
		return;
	g->st.held = kar_arena_alloc(p->arena, out.n_held, sizeof(*g->st.held));
	g->st.n_held = out.n_held;
	memcpy(g->st.held, out.held, out.n_held * sizeof(*g->st.held));
	for (uint32_t i = 0; i < out.n_held; i++)
		kar_sched_class_put(p->in->snapshot->sched, out.held[i].class);
}

static bool place_rest_of(struct q_pass *p, const struct q_group *g, const struct wish *w,
	struct kar_placement *out)
{
	return g->in->at_once ? place_now(p, w, out) : place(p, w, out);
}

static bool place_rest_elsewhere(struct q_pass *p, const struct q_group *g, const struct wish *w,
	struct kar_placement *out)
{
	const kar_class *filled;
	bool fits;

	if (!g->in->n_last)
		return false;
	filled = fill_last(p, g->in);
	fits = place_rest_of(p, g, w, out);
	empty_last(p, g->in, filled);
	return fits;
}

/*
 * Pods that stay and have no node get room before all new groups: those of the minimum together, the rest as they fit. What is only
 * reserved for them is no plan: if the minimum does not fit, as much of it is taken as there is.
 */
static void place_rest(struct q_pass *p, struct q_group *g)
{
	struct kar_role *roles;
	struct kar_placement out;
	struct wish w;
	bool whole;

	if (g->in->no_node_check || g->in->provisioned || !count_unplaced(&g->st)) {
		hold_for_members(p, g);
		return;
	}
	roles = kar_arena_alloc(p->arena, g->in->n_runs + 1, sizeof(*roles));
	wish_for_rest(p, g, &w, roles, false);
	whole = place_rest_elsewhere(p, g, &w, &out) || place_rest_of(p, g, &w, &out);
	if (!whole) {
		wish_for_rest(p, g, &w, roles, true);
		place(p, &w, &out);
	}
	fill_in(p, g, &out, whole);
	if (count_unplaced(&g->st)) {
		p->plan.stranded = kar_arena_grow(p->arena, p->plan.stranded, p->plan.n_stranded,
			sizeof(*p->plan.stranded));
		p->plan.stranded[p->plan.n_stranded++] = g;
	}
	hold_for_members(p, g);
}

/*
 * Who is admitted and found no node in place_rest() is the first to have what comes free: the next pass begins with it. So whoever makes room
 * for others looks what is left beside it. It still waits: what it is given here leaves only later.
 */
void q_place_stranded(struct q_pass *p)
{
	for (uint32_t i = 0; i < p->plan.n_stranded; i++) {
		struct q_group *g = p->plan.stranded[i];
		struct q_state old = g->st, st;
		struct kar_role *roles;
		struct kar_placement out;
		struct wish w;

		if (!q_is_admitted(g) || !count_unplaced(&g->st))
			continue;
		roles = kar_arena_alloc(p->arena, g->in->n_runs + 1, sizeof(*roles));
		wish_for_rest(p, g, &w, roles, false);
		if (!place(p, &w, &out))
			continue;
		fill_in(p, g, &out, false);
		st = g->st;
		g->st = old;
		q_set(p, g, &st);
	}
}

/* The claim is looked for again: a node may have gone. KEEP decides if there is none. */
static void place_claim(struct q_pass *p, struct q_group *g)
{
	const struct q_ask ask = q_ask_minimum(g);
	struct q_state st = g->st;

	if (q_place(p, &ask, Q_FUT, &st))
		g->st = st;
}

void q_nodes_begin(struct q_pass *p)
{
	for (uint32_t i = 0; i < p->in->snapshot->n_groups && !p->in->snapshot->no_nodes; i++)
		q_lift_gone(p, &p->in->groups[i]);
	q_foreign_begin(p);
	for (uint32_t i = 0; i < p->in->n_line; i++) {
		if (q_is_admitted(p->in->line[i]))
			seat(p, p->in->line[i]);
	}
	for (uint32_t i = 0; i < p->in->n_line && !p->in->snapshot->no_nodes; i++) {
		if (q_is_admitted(p->in->line[i]))
			place_rest(p, p->in->line[i]);
	}
	for (uint32_t i = 0; i < p->in->n_line; i++) {
		if (p->in->line[i]->st.standing == KAR_QUEUE_RESERVING)
			place_claim(p, p->in->line[i]);
	}
	q_lay_expected(p);
}
