/*
 * Where pods are. The engine has taken the view `fut`. For the view `now` it takes what leaves as well, but where something waits for room of
 * that on the same node, the larger of the two counts.
 */
#include "common/queue/impl.h"

#include <stdlib.h>
#include <string.h>

#include "common/str.h"

/* --- spots ----------------------------------------------------------------------------------------- */

static void take(struct q_pass *p, const struct q_group *g, const struct q_spot *s, int32_t n)
{
	if (s->node)
		kar_sched_take(p->s->sched, s->node, g->in->runs[s->run].class, n);
}

/* The list is copied, as an older state may be restored. */
static void push(struct q_pass *p, struct q_state *st, struct q_spot spot)
{
	struct q_spot *all = kar_arena_alloc(p->a, st->n_spots + 1, sizeof(*all)), *last;

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
		take(p, g, &s, stay - s.n);
		s.n = stay;
		if (stay)
			push(p, &out, s);
	}
	for (uint32_t i = 0; i < st->n_held && d <= 0; i++)
		kar_sched_take(p->s->sched, st->held[i].node, st->held[i].class, -1);
	if (d <= 0)
		out.n_held = 0;
	*st = out;
}

/* --- what leaves ------------------------------------------------------------------------------------ */

typedef void gone_visitor(struct q_pass *p, void *context, const char *node, kar_class class, int32_t n);

/* Bound pods beyond those that are kept, and what stops already. */
static void visit_gone(struct q_pass *p, const struct q_group *g, gone_visitor *visit, void *context)
{
	int32_t kept = q_kept(g), at = 0;

	for (uint32_t i = 0; i < g->in->n_runs; i++) {
		const struct kar_queue_run *run = &g->in->runs[i];
		int32_t k = at;

		for (uint32_t j = 0; j < run->n_seats; j++) {
			const struct kar_queue_seat *s = &run->seats[j];
			int32_t n = (int32_t)kar_clamp((int64_t)k + s->n - kept, 0, s->n);

			k += s->n;
			if (n && s->bound && s->node)
				visit(p, context, s->node, run->class, n);
		}
		at += run->n;
	}
	for (uint32_t i = 0; i < g->in->n_leaving; i++) {
		if (g->in->leaving[i].node)
			visit(p, context, g->in->leaving[i].node, g->in->leaving[i].class,
				g->in->leaving[i].n);
	}
}

static void take_gone(struct q_pass *p, void *context, const char *node, kar_class class, int32_t n)
{
	const int32_t *sign = context;

	kar_sched_take(p->s->sched, node, class, *sign * n);
}

static void all_gone(struct q_pass *p, gone_visitor *visit, void *context)
{
	for (uint32_t i = 0; i < p->n_gone; i++)
		visit_gone(p, p->gone[i], visit, context);
}

static void count_gone(struct q_pass *p, void *context, const char *node, kar_class class, int32_t n)
{
	int32_t *sum = context;

	(void)p;
	(void)node;
	(void)class;
	*sum += n;
}

int32_t q_count_gone(struct q_pass *p, const struct q_group *g)
{
	int32_t n = 0;

	visit_gone(p, g, count_gone, &n);
	return n;
}

void q_retake(struct q_pass *p, const struct q_group *g, const struct q_state *from, const struct q_state *to)
{
	for (uint32_t i = 0; i < from->n_spots; i++)
		take(p, g, &from->spots[i], -from->spots[i].n);
	for (uint32_t i = 0; i < to->n_spots; i++)
		take(p, g, &to->spots[i], to->spots[i].n);
	for (uint32_t i = 0; i < from->n_held; i++)
		kar_sched_take(p->s->sched, from->held[i].node, from->held[i].class, -1);
	for (uint32_t i = 0; i < to->n_held; i++)
		kar_sched_take(p->s->sched, to->held[i].node, to->held[i].class, 1);
}

/* --- the view `now` --------------------------------------------------------------------------------- */

struct per_node {
	const char *node;
	kar_class class;
	int32_t n;
	bool leaves;
};

struct overlap {
	struct per_node *all;
	uint32_t n;
	bool any_waits;
	struct q_reserved *both; /* what counts twice, by node */
	uint32_t n_both;
};

static void add_node(struct q_pass *p, struct overlap *o, struct per_node n)
{
	o->all = kar_arena_grow(p->a, o->all, o->n, sizeof(*o->all));
	o->all[o->n++] = n;
}

static void add_leaving(struct q_pass *p, void *context, const char *node, kar_class class, int32_t n)
{
	add_node(p, context, (struct per_node){ node, class, n, true });
}

static int by_node(const void *a, const void *b)
{
	return strcmp(((const struct per_node *)a)->node, ((const struct per_node *)b)->node);
}

kar_class q_room_class(struct q_pass *p, const int64_t *v)
{
	struct kar_sched_amount list[Q_RESOURCES];
	struct kar_pod_needs needs = { .amounts = list, .room_only = true };
	kar_class c;

	for (uint32_t r = 0; r < p->n_resources; r++) {
		if (v[r] > 0)
			list[needs.n_amounts++] = (struct kar_sched_amount){ p->names[r], v[r] };
	}
	if (!needs.n_amounts || p->n_made == KAR_LEN(p->made))
		return 0; /* so many at once: then what waits counts in full */
	c = kar_sched_class(p->s->sched, &needs);
	p->made[p->n_made++] = c;
	return c;
}

static void add_overlap(struct q_pass *p, struct overlap *o, uint32_t from, uint32_t to)
{
	int64_t leaves[Q_RESOURCES] = { 0 }, waits[Q_RESOURCES] = { 0 };
	kar_class class;

	for (uint32_t i = from; i < to; i++) {
		const int64_t *needs = q_class_needs(p, o->all[i].class);
		int64_t *sum = o->all[i].leaves ? leaves : waits;

		for (uint32_t r = 0; r < p->n_resources; r++)
			sum[r] = q_add(sum[r], q_mul(needs[r], o->all[i].n));
	}
	for (uint32_t r = 0; r < p->n_resources; r++)
		leaves[r] = q_min(leaves[r], waits[r]);
	class = q_room_class(p, leaves);
	if (!class)
		return;
	o->both = kar_arena_grow(p->a, o->both, o->n_both, sizeof(*o->both));
	o->both[o->n_both++] = (struct q_reserved){ o->all[from].node, class };
}

static void find_overlap(struct q_pass *p, struct overlap *o)
{
	for (uint32_t i = 0; i < p->n_line; i++) {
		const struct q_group *g = p->line[i];

		for (uint32_t k = 0; k < g->st.n_spots; k++) {
			const struct q_spot *s = &g->st.spots[k];

			if (!s->waits || !s->node)
				continue;
			o->any_waits = true;
			add_node(p, o, (struct per_node){ s->node, g->in->runs[s->run].class, s->n, false });
		}
	}
	if (!o->any_waits)
		return;
	all_gone(p, add_leaving, o);
	qsort(o->all, o->n, sizeof(*o->all), by_node);
	for (uint32_t i = 0, from = 0; i < o->n; i++) {
		if (i + 1 < o->n && strcmp(o->all[i + 1].node, o->all[from].node) == 0)
			continue;
		add_overlap(p, o, from, i + 1);
		from = i + 1;
	}
}

static void switch_view(struct q_pass *p, const struct overlap *o, int32_t sign)
{
	all_gone(p, take_gone, &sign);
	for (uint32_t i = 0; i < o->n_both; i++)
		kar_sched_take(p->s->sched, o->both[i].node, o->both[i].class, -sign);
}

static void reserve_room(struct q_pass *p, int32_t sign)
{
	for (uint32_t i = 0; i < p->n_reserved; i++)
		kar_sched_take(p->s->sched, p->reserved[i].node, p->reserved[i].class, sign);
}

/* --- placing ---------------------------------------------------------------------------------------- */

struct wish {
	struct kar_gang gang;
	struct kar_role roles[16];
	uint32_t runs[16];
};

/* Roles for pods @from .. @to; false: they are of more runs than one gang has. */
static bool make_wish(struct q_pass *p, const struct q_ask *ask, struct wish *w)
{
	const struct kar_queue_group *in = ask->g->in;
	struct kar_role *roles =
		in->n_runs > KAR_LEN(w->roles) ? kar_arena_alloc(p->a, in->n_runs, sizeof(*roles)) : w->roles;
	int32_t at = 0;

	w->gang = (struct kar_gang){ .roles = roles };
	for (uint32_t i = 0; i < in->n_runs; i++) {
		int32_t first = ask->from > at ? ask->from : at;
		int32_t end = ask->to < at + in->runs[i].n ? ask->to : at + in->runs[i].n;

		at += in->runs[i].n;
		roles[w->gang.n_roles++] = (struct kar_role){ .class = in->runs[i].class,
			.need = end > first ? end - first : 0 };
	}
	if (ask->job) {
		w->gang.hold = in->hold.items;
		w->gang.n_hold = in->hold.n;
		w->gang.topology = in->topology;
		w->gang.required = in->required;
	}
	return true;
}

static void push_places(struct q_pass *p, const struct kar_placement *out, uint32_t role, uint32_t run,
	bool waits, struct q_state *st)
{
	for (uint32_t i = 0; i < out->n_places; i++) {
		if (out->places[i].role == role)
			push(p, st,
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
		uint32_t run = q_run_of(ask->g, k);
		int32_t end = 0;

		for (uint32_t i = 0; i <= run; i++)
			end += ask->g->in->runs[i].n;
		end = end < ask->to ? end : ask->to;
		push(p, st, (struct q_spot){ .run = run, .n = end - k, .none = true });
		k = end;
	}
}

bool q_place(struct q_pass *p, const struct q_ask *ask, enum q_view view, struct q_state *st)
{
	bool binds = q_binds(p->root->reserved, ask), fits;
	struct overlap o = { 0 };
	struct kar_placement out;
	struct wish w;

	if (ask->g->in->no_node_check || p->s->no_nodes) {
		push_nowhere(p, ask, st);
		return true;
	}
	make_wish(p, ask, &w);
	if (view == Q_NOW && p->leaving) {
		find_overlap(p, &o);
		switch_view(p, &o, 1);
	}
	if (binds)
		reserve_room(p, 1);
	fits = kar_sched_place(p->s->sched, &w.gang, p->a, &out);
	if (binds)
		reserve_room(p, -1);
	if (view == Q_NOW && p->leaving)
		switch_view(p, &o, -1);
	if (!fits)
		return false;
	for (uint32_t i = 0; i < w.gang.n_roles; i++)
		push_places(p, &out, i, i, view == Q_FUT, st);
	for (uint32_t i = 0; i < out.n_held; i++)
		kar_sched_class_put(p->s->sched, out.held[i].class); /* it stays known while it is taken */
	if (out.n_held) {
		st->held = kar_arena_alloc(p->a, out.n_held, sizeof(*st->held));
		memcpy(st->held, out.held, out.n_held * sizeof(*st->held));
		st->n_held = out.n_held;
	}
	return true;
}

bool q_fits_empty_nodes(struct q_pass *p, const struct q_group *g)
{
	const struct q_ask ask = q_ask_minimum((struct q_group *)(uintptr_t)g);
	struct wish w;

	if (g->in->no_node_check || p->s->no_nodes)
		return true;
	make_wish(p, &ask, &w);
	return kar_sched_feasible(p->s->sched, &w.gang);
}

const char *q_explain_nodes(struct q_pass *p, struct q_group *g, int32_t *fit)
{
	const struct q_ask ask = q_ask_minimum(g);
	struct kar_buf text = { 0 };
	const char *out, *colon;
	struct wish w;

	make_wish(p, &ask, &w);
	kar_sched_explain(p->s->sched, &w.gang, g->in->run_names, &text);
	out = kar_arena_printf(p->a, "%s", kar_buf_cstr(&text));
	kar_buf_release(&text);
	*fit = atoi(out);
	colon = strstr(out, ": ");
	return colon ? colon + 2 : out;
}

/* --- the beginning and the end ----------------------------------------------------------------------- */

/* Is there room for one more pod of the class on this node? */
static bool fits_on(struct q_pass *p, kar_class class, const char *node)
{
	struct kar_pod_needs needs = *kar_sched_needs(p->s->sched, class);
	kar_class there;
	bool fits;

	needs.node = node;
	there = kar_sched_class(p->s->sched, &needs);
	fits = kar_sched_copies(p->s->sched, there) > 0;
	kar_sched_class_put(p->s->sched, there);
	return fits;
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
	if (!fits_on(p, g->in->runs[spot.run].class, s->node))
		return 0;
	spot.node = s->node;
	take(p, g, &spot, 1);
	push(p, st, spot);
	return 1;
}

static void lift(struct q_pass *p, const struct q_group *g)
{
	int32_t minus = -1;

	visit_gone(p, g, take_gone, &minus);
}

/* Spots of the first d pods as the snapshot has them; those of plans are taken. */
static void seat(struct q_pass *p, struct q_group *g)
{
	struct q_state st = g->st;
	int32_t at = 0;

	for (uint32_t i = 0; i < g->in->n_runs && at < st.d; i++) {
		const struct kar_queue_run *run = &g->in->runs[i];
		int32_t left = run->n < st.d - at ? run->n : st.d - at;

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
				take(p, g, &spot, spot.n);
			push(p, &st, spot);
		}
		if (left > 0)
			push(p, &st, (struct q_spot){ .run = i, .n = left });
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
static void wish_for_rest(const struct q_group *g, struct wish *w, struct kar_role *roles, bool soft)
{
	int32_t at = 0;

	w->gang = (struct kar_gang){ .roles = roles, .n_roles = g->in->n_runs };
	for (uint32_t i = 0; i < g->in->n_runs; i++)
		roles[i] = (struct kar_role){ .class = g->in->runs[i].class };
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
	int32_t *left = kar_arena_alloc(p->a, out->n_places + 1, sizeof(*left));

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
			push(p, &g->st,
				(struct q_spot){ .node = out->places[k].node,
					.run = s.run,
					.n = n,
					.fresh = real,
					.waits = true });
			left[k] -= n;
			s.n -= n;
		}
		if (s.n)
			push(p, &g->st, s);
	}
}

static void hold_for_members(struct q_pass *p, struct q_group *g)
{
	struct kar_gang gang = { .hold = g->in->hold.items, .n_hold = g->in->hold.n };
	struct kar_placement out;

	if (!gang.n_hold || !kar_sched_place(p->s->sched, &gang, p->a, &out) || !out.n_held)
		return;
	g->st.held = kar_arena_alloc(p->a, out.n_held, sizeof(*g->st.held));
	g->st.n_held = out.n_held;
	memcpy(g->st.held, out.held, out.n_held * sizeof(*g->st.held));
	for (uint32_t i = 0; i < out.n_held; i++)
		kar_sched_class_put(p->s->sched, out.held[i].class);
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
	roles = kar_arena_alloc(p->a, g->in->n_runs + 1, sizeof(*roles));
	wish_for_rest(g, &w, roles, false);
	whole = kar_sched_place(p->s->sched, &w.gang, p->a, &out);
	if (!whole) {
		wish_for_rest(g, &w, roles, true);
		kar_sched_place(p->s->sched, &w.gang, p->a, &out);
	}
	fill_in(p, g, &out, whole);
	hold_for_members(p, g);
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
	for (uint32_t i = 0; i < p->s->n_groups && !p->s->no_nodes; i++)
		lift(p, &p->groups[i]);
	for (uint32_t i = 0; i < p->n_line; i++) {
		if (q_is_admitted(p->line[i]))
			seat(p, p->line[i]);
	}
	for (uint32_t i = 0; i < p->n_line && !p->s->no_nodes; i++) {
		if (q_is_admitted(p->line[i]))
			place_rest(p, p->line[i]);
	}
	for (uint32_t i = 0; i < p->n_line; i++) {
		if (p->line[i]->st.standing == KAR_QUEUE_RESERVING)
			place_claim(p, p->line[i]);
	}
}

const struct kar_placement *q_placement(struct q_pass *p, const struct q_group *g)
{
	struct kar_placement *out = kar_arena_alloc(p->a, 1, sizeof(*out));
	struct kar_place *places = kar_arena_alloc(p->a, g->st.n_spots + 1, sizeof(*places));

	for (uint32_t i = 0; i < g->st.n_spots; i++) {
		const struct q_spot *s = &g->st.spots[i];

		if (s->fresh && s->node)
			places[out->n_places++] = (struct kar_place){ s->node, s->run, s->n };
	}
	out->places = places;
	return out->n_places ? out : NULL;
}
