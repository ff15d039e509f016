/* Where the pods of a group are, what leaves, the two views, and pods of nobody that are about to be bound. */
#include "common/queue/places.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/str.h"

/*
 * What leaves, and the two views. The engine has taken the view `fut`. For the view `now` it takes what leaves as well, but where something
 * waits for room of that on the same node, the larger of the two counts.
 */

/* --- what leaves ------------------------------------------------------------------------------------ */

/* Bound pods beyond those that are kept, and what stops already. */
static void visit_gone(struct q_pass *p, const struct q_group *g, q_pod_visitor *visit, void *context)
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

	kar_sched_take(p->in->snapshot->sched, node, class, *sign * n);
}

static void all_gone(struct q_pass *p, q_pod_visitor *visit, void *context)
{
	for (uint32_t i = 0; i < p->plan.n_gone; i++) {
		if (p->plan.gone[i]->n_gone) /* of most in the list nothing is gone after all */
			visit_gone(p, p->plan.gone[i], visit, context);
	}
	for (uint32_t i = 0; i < p->in->snapshot->n_preemptible && p->plan.foreign.n; i++) {
		const struct kar_queue_preemptible *e = &p->in->snapshot->preemptible[i];

		if (p->plan.foreign.gone[i] && !(e->soon && p->round.early))
			visit(p, context, e->node, e->class, 1);
	}
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

/* --- the view `now` --------------------------------------------------------------------------------- */

static void add_node(const struct q_pass *p, struct q_overlap *o, struct q_per_node n)
{
	o->all = kar_arena_grow(p->arena, o->all, o->n, sizeof(*o->all));
	o->all[o->n++] = n;
}

static void add_leaving(struct q_pass *p, void *context, const char *node, kar_class class, int32_t n)
{
	add_node(p, context, (struct q_per_node){ node, class, n, true });
}

static int by_node(const void *a, const void *b)
{
	return strcmp(((const struct q_per_node *)a)->node, ((const struct q_per_node *)b)->node);
}

kar_class q_room_class(struct q_pass *p, const int64_t *v)
{
	struct kar_sched_amount list[Q_RESOURCES];
	struct kar_pod_needs needs = { .amounts = list, .room_only = true };
	kar_class c;

	for (uint32_t r = 0; r < p->in->n_plain; r++) {
		if (v[r] > 0)
			list[needs.n_amounts++] = (struct kar_sched_amount){ p->in->names[r], v[r] };
	}
	if (!needs.n_amounts)
		return 0;
	p->memo->made = kar_arena_grow(p->arena, p->memo->made, p->memo->n_made, sizeof(*p->memo->made));
	c = kar_sched_class(p->in->snapshot->sched, &needs);
	p->memo->made[p->memo->n_made++] = c;
	return c;
}

static void add_overlap(struct q_pass *p, struct q_overlap *o, uint32_t from, uint32_t to)
{
	int64_t leaves[Q_RESOURCES] = { 0 }, waits[Q_RESOURCES] = { 0 };
	kar_class class;

	for (uint32_t i = from; i < to; i++) {
		const int64_t *needs = q_class_needs(p, o->all[i].class);
		int64_t *sum = o->all[i].leaves ? leaves : waits;

		for (uint32_t r = 0; r < p->in->n_resources; r++)
			sum[r] = q_add(sum[r], q_mul(needs[r], o->all[i].n));
	}
	for (uint32_t r = 0; r < p->in->n_resources; r++)
		leaves[r] = q_min(leaves[r], waits[r]);
	class = q_room_class(p, leaves);
	if (!class)
		return;
	o->both = kar_arena_grow(p->arena, o->both, o->n_both, sizeof(*o->both));
	o->both[o->n_both++] = (struct q_reserved){ o->all[from].node, class };
}

void q_find_overlap(struct q_pass *p, struct q_overlap *o)
{
	for (uint32_t i = 0; i < p->in->n_line; i++) {
		const struct q_group *g = p->in->line[i];

		for (uint32_t k = 0; k < g->st.n_spots; k++) {
			const struct q_spot *s = &g->st.spots[k];

			if (!s->waits || !s->node)
				continue;
			o->any_waits = true;
			add_node(p, o,
				(struct q_per_node){ s->node, g->in->runs[s->run].class, s->n, false });
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

void q_switch_view(struct q_pass *p, const struct q_overlap *o, int32_t sign)
{
	all_gone(p, take_gone, &sign);
	for (uint32_t i = 0; i < o->n_both; i++)
		kar_sched_take(p->in->snapshot->sched, o->both[i].node, o->both[i].class, -sign);
}

void q_lift_gone(struct q_pass *p, const struct q_group *g)
{
	int32_t minus = -1;

	visit_gone(p, g, take_gone, &minus);
}

/* --- what is kept free for the head of the cluster ---------------------------------------------------- */

static bool is_in_room(const struct q_pass *p, const struct q_group *g, const struct kar_queue_seat *s)
{
	return p->plan.shadow ? q_ended_in_time(p, g) : s->bound && s->created < p->plan.reserved_since;
}

void q_visit_old(struct q_pass *p, const struct q_group *g, int32_t from, int32_t to, q_pod_visitor *visit,
	void *context)
{
	int32_t first = 0;

	for (uint32_t i = 0; i < g->in->n_runs && first < to; first += g->in->runs[i++].n) {
		const struct kar_queue_run *run = &g->in->runs[i];
		int32_t at = first;

		for (uint32_t k = 0; k < run->n_seats; k++) {
			const struct kar_queue_seat *s = &run->seats[k];
			int32_t begin = from > at ? from : at, end = to < at + s->n ? to : at + s->n;

			at += s->n;
			if (begin < end && s->node && is_in_room(p, g, s))
				visit(p, context, s->node, run->class, end - begin);
		}
	}
}

static void take_old(struct q_pass *p, void *context, const char *node, kar_class class, int32_t n)
{
	const int32_t *sign = context;

	if (kar_table_find(&p->plan.reserved_at, node))
		kar_sched_take(p->in->snapshot->sched, node, class, *sign * n);
}

void q_reserve_room(struct q_pass *p, int32_t sign)
{
	uint32_t n;

	for (uint32_t i = 0; i < p->plan.n_reserved; i++)
		kar_sched_take(p->in->snapshot->sched, p->plan.reserved[i].node, p->plan.reserved[i].class,
			sign);
	/* Those that end in time may have places without pods there, which are not counted as leaving. */
	n = p->plan.shadow ? p->plan.n_live : p->plan.leaving > p->plan.left_before ? p->plan.n_gone : 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct q_group *g = p->plan.shadow ? p->plan.live[i] : p->plan.gone[i];
		int32_t kept = q_kept(g), before = p->plan.kept_before[g->index];

		if (kept < before)
			q_visit_old(p, g, kept, before, take_old, &sign);
	}
}

/* === spots, in the order of the pods ============================================================= */

void q_take_spot(struct q_pass *p, const struct q_group *g, const struct q_spot *s, int32_t n)
{
	if (s->node)
		kar_sched_take(p->in->snapshot->sched, s->node, g->in->runs[s->run].class, n);
}

/* The array of .spots: states share it, as each of them looks at the first that are its own. */
struct spot_list {
	uint32_t used, room;
	struct q_spot items[];
};

static struct spot_list *list_of(const struct q_state *st)
{
	return st->spots ? kar_container_of(st->spots, struct spot_list, items) : NULL;
}

static void copy_spots(struct q_pass *p, struct q_state *st)
{
	uint32_t room = st->n_spots < 2 ? 2 : 2 * st->n_spots;
	struct spot_list *l = kar_arena_alloc(p->arena, 1, sizeof(*l) + room * sizeof(*l->items));

	if (st->n_spots)
		memcpy(l->items, st->spots, st->n_spots * sizeof(*l->items));
	l->used = st->n_spots;
	l->room = room;
	st->spots = l->items;
}

/* The list is copied where an older state, which may be restored, has what changes, or another what would be overwritten. */
void q_push(struct q_pass *p, struct q_state *st, struct q_spot spot)
{
	const struct q_spot *last = st->n_spots ? &st->spots[st->n_spots - 1] : NULL;
	struct spot_list *l = list_of(st);
	bool more = last && last->run == spot.run && last->bound == spot.bound && last->fresh == spot.fresh &&
		last->waits == spot.waits && last->none == spot.none && kar_streq(last->node, spot.node);

	if (more || !l || l->used != st->n_spots || l->used == l->room) {
		copy_spots(p, st);
		l = list_of(st);
	}
	if (more) {
		l->items[st->n_spots - 1].n += spot.n;
		return;
	}
	l->items[l->used++] = spot;
	st->n_spots++;
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

struct q_state q_without_pods(struct q_pass *p, const struct q_group *g)
{
	struct q_state st = g->st;

	q_release(p, g, &st, 0);
	st.standing = KAR_QUEUE_WAITING;
	st.n_kept = 0;
	return st;
}

void q_drop(struct q_pass *p, struct q_group *g)
{
	const struct q_state st = q_without_pods(p, g);

	q_set(p, g, &st);
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
	if (!kar_sched_stays_on(p->in->snapshot->sched, g->in->runs[spot.run].class, s->node))
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

/* === pods that are about to be bound ============================================================= */

/*
 * Pods of nobody that the scheduler is about to bind (docs/design/podgroup.md, 2.3): where they will be, and whom they hold up. A list is
 * never changed, so that an older one can be restored (struct q_mark).
 */

/* A pod that is freed room for by the scheduler waits for it as long as it takes. */
static kar_time end_of(const struct kar_queue_expected *e)
{
	return e->nominated ? KAR_NEVER : q_add(e->created, KAR_QUEUE_EXPECTED);
}

static bool is_about_to_be_bound(const struct q_pass *p, const struct kar_queue_expected *e)
{
	return e->created > p->in->now - KAR_QUEUE_BOUND_AT_ONCE;
}

/*
 * The minimum of a group goes before pods of lower priority. One whose pods we create bound would race with the scheduler for the same room,
 * which looks at what is new without delay. A claim was decided before: only what is bound ends it.
 */
bool q_goes_before(const struct q_pass *p, const struct q_ask *ask, const struct kar_queue_expected *e)
{
	const struct kar_queue_group *in = ask->group->in;

	if (ask->extra)
		return false;
	if (in->standing == KAR_QUEUE_RESERVING)
		return true;
	return e->priority < in->base && !(in->created_bound && is_about_to_be_bound(p, e));
}

/* --- laying them out ---------------------------------------------------------------------------------- */

static void add(const struct q_pass *p, struct q_expected_list *l, const struct kar_queue_expected *in,
	const char *node, int32_t n)
{
	struct q_expected *items = (struct q_expected *)(uintptr_t)l->items;

	items = kar_arena_grow(p->arena, items, l->n, sizeof(*items));
	items[l->n++] = (struct q_expected){ in, node, n };
	l->items = items;
}

/* As many of @n as the node has room for; they are taken. */
static int32_t fill(struct q_pass *p, kar_class class, const char *node, int32_t n)
{
	int32_t fit = 0;

	for (; fit < n && kar_sched_fits_on(p->in->snapshot->sched, class, node); fit++)
		kar_sched_take(p->in->snapshot->sched, node, class, 1);
	return fit;
}

static void lay(struct q_pass *p, struct q_expected_list *l, const struct kar_queue_expected *e)
{
	const struct kar_role role = { .class = e->class, .want = e->n };
	const struct kar_gang gang = { .roles = &role, .n_roles = 1 };
	struct kar_placement out;
	int32_t n = e->n;

	if (e->node) {
		if (e->nominated)
			kar_sched_take(p->in->snapshot->sched, e->node, e->class, n);
		else
			n = fill(p, e->class, e->node, n);
		if (n)
			add(p, l, e, e->node, n);
		return;
	}
	kar_sched_place(p->in->snapshot->sched, &gang, p->arena, &out);
	for (uint32_t i = 0; i < out.n_places; i++)
		add(p, l, e, out.places[i].node, out.places[i].n);
}

void q_lay_expected(struct q_pass *p)
{
	struct q_expected_list all = { 0 };
	struct q_overlap o = { 0 };

	if (p->in->snapshot->no_nodes || !p->in->snapshot->n_expected)
		return;
	if (q_leaves(p)) {
		q_find_overlap(p, &o);
		q_switch_view(p, &o, 1);
	}
	for (uint32_t i = 0; i < p->in->snapshot->n_expected; i++) {
		if (end_of(&p->in->snapshot->expected[i]) > p->in->now)
			lay(p, &all, &p->in->snapshot->expected[i]);
	}
	if (q_leaves(p))
		q_switch_view(p, &o, -1);
	p->plan.expected = all;
}

/* --- who goes before them ----------------------------------------------------------------------------- */

bool q_goes_before_expected(const struct q_pass *p, const struct q_ask *ask)
{
	bool any = false;

	for (uint32_t i = 0; i < p->plan.expected.n && !any; i++)
		any = q_goes_before(p, ask, p->plan.expected.items[i].in);
	return any;
}

void q_lift_expected(struct q_pass *p, const struct q_ask *ask)
{
	for (uint32_t i = 0; i < p->plan.expected.n; i++) {
		const struct q_expected *e = &p->plan.expected.items[i];

		if (q_goes_before(p, ask, e->in))
			kar_sched_take(p->in->snapshot->sched, e->node, e->in->class, -e->n);
	}
}

void q_settle_expected(struct q_pass *p, const struct q_ask *ask)
{
	struct q_expected_list left = { 0 };

	for (uint32_t i = 0; i < p->plan.expected.n; i++) {
		const struct q_expected *e = &p->plan.expected.items[i];
		int32_t n = q_goes_before(p, ask, e->in) ? fill(p, e->in->class, e->node, e->n) : e->n;

		if (n)
			add(p, &left, e->in, e->node, n);
	}
	p->plan.expected = left;
}

void q_forget_expected(struct q_pass *p)
{
	for (uint32_t i = 0; i < p->plan.expected.n; i++) {
		const struct q_expected *e = &p->plan.expected.items[i];

		kar_sched_take(p->in->snapshot->sched, e->node, e->in->class, -e->n);
	}
	p->plan.expected = (struct q_expected_list){ 0 };
}
