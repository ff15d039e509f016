/*
 * Gangs whose roles ask for different things: each ask is placed as a gang of its own, the narrowest first, and all have a place or none.
 */
#include "common/sched/impl.h"

#include "common/base/text.h"

/* The roles of one ask, as a gang. */
struct part {
	struct kar_gang gang;
	struct kar_role *roles;
	uint32_t *numbers;  /* of them in the whole gang */
	const char **names; /* NULL: they have none */
	int64_t need;       /* pods */
};

static const struct kar_topology_wish *wish_of(const struct kar_gang *gang, uint32_t ask)
{
	return ask ? &gang->asks[ask - 1] : &gang->topology;
}

static void fill_part(const struct kar_gang *gang, uint32_t ask, const char *const *names,
	struct kar_arena *a, struct part *p)
{
	p->roles = kar_arena_alloc(a, gang->n_roles + 1, sizeof(*p->roles));
	p->numbers = kar_arena_alloc(a, gang->n_roles + 1, sizeof(*p->numbers));
	p->names = names ? kar_arena_alloc(a, gang->n_roles + 1, sizeof(*p->names)) : NULL;
	p->gang = (struct kar_gang){ .roles = p->roles, .topology = *wish_of(gang, ask) };
	for (uint32_t i = 0; i < gang->n_roles; i++) {
		uint32_t n = p->gang.n_roles;

		assert(gang->roles[i].ask <= gang->n_asks && !gang->roles[i].want);
		if (gang->roles[i].ask != ask)
			continue;
		p->roles[n] = gang->roles[i];
		p->roles[n].ask = 0;
		p->numbers[n] = i;
		if (names)
			p->names[n] = names[i];
		p->need += gang->roles[i].need;
		p->gang.n_roles++;
	}
}

/* How much its wish leaves open: what must be in one domain has the fewest places. */
static int openness(const struct kar_topology_wish *w)
{
	return !w->n_labels ? 3 : w->required ? 0 : w->slice_depth ? 1 : 2;
}

/* Of those that must be in one domain, the narrowest first; then the one with most pods. The sort is stable. */
static bool goes_before(const struct part *a, const struct part *b)
{
	const struct kar_topology_wish *x = &a->gang.topology, *y = &b->gang.topology;

	if (openness(x) != openness(y))
		return openness(x) < openness(y);
	if (x->required != y->required)
		return x->required > y->required;
	return a->need > b->need;
}

static struct part *parts_of(const struct kar_gang *gang, const char *const *names, struct kar_arena *a,
	uint32_t *n)
{
	struct part *all = kar_arena_alloc(a, gang->n_asks + 2, sizeof(*all));

	*n = 0;
	for (uint32_t ask = 0; ask <= gang->n_asks; ask++) {
		struct part new = { .need = 0 };
		uint32_t k;

		fill_part(gang, ask, names, a, &new);
		if (!new.gang.n_roles)
			continue;
		for (k = (*n)++; k > 0 && goes_before(&new, &all[k - 1]); k--)
			all[k] = all[k - 1];
		all[k] = new;
	}
	return all;
}

/* The gang without what it asks for. */
static struct kar_gang plain(const struct kar_gang *gang, struct kar_arena *a)
{
	struct kar_gang all = *gang;
	struct kar_role *roles = kar_arena_alloc(a, gang->n_roles + 1, sizeof(*roles));

	for (uint32_t i = 0; i < gang->n_roles; i++) {
		roles[i] = gang->roles[i];
		roles[i].ask = 0;
	}
	all.roles = roles;
	all.topology = (struct kar_topology_wish){ 0 };
	all.asks = NULL;
	all.n_asks = 0;
	return all;
}

/* --- placing ---------------------------------------------------------------------------------------- */

static void add_places(struct sched_try *t, const struct part *p, const struct kar_placement *from)
{
	for (uint32_t i = 0; i < from->n_places; i++) {
		t->places = kar_arena_grow(t->a, t->places, t->n_places, sizeof(*t->places));
		t->places[t->n_places] = from->places[i];
		t->places[t->n_places++].role = p->numbers[from->places[i].role];
	}
}

/* All of them in this order (@back: from the last one), or none. A miss of the first is one of the gang. */
static bool place_parts(struct sched_try *t, const struct part *all, uint32_t n, bool back,
	struct kar_placement *out)
{
	size_t mark = kar_sched_mark(t->s);
	bool fits = true;

	t->n_places = 0;
	for (uint32_t i = 0; i < n && fits; i++) {
		const struct part *p = &all[back ? n - 1 - i : i];
		struct kar_placement got;

		fits = sched_place(t->s, &p->gang, t->a, &got);
		out->proved |= !fits && got.proved && !i;
		if (fits)
			add_places(t, p, &got);
	}
	if (fits && sched_hold(t->s, t->gang, t->a, out)) {
		kar_sched_keep(t->s, mark);
		return true;
	}
	kar_sched_undo(t->s, mark);
	t->n_places = 0;
	return false;
}

/* So that rules between pods of different parts hold, whichever of them kube-scheduler takes first. */
static bool place_by_rules(struct sched_try *t, const struct part *all, uint32_t n, bool back,
	struct kar_placement *out)
{
	size_t mark = kar_sched_mark(t->s);

	if (place_parts(t, all, n, back, out) && sched_rules_hold(t)) {
		kar_sched_keep(t->s, mark);
		return true;
	}
	kar_sched_undo(t->s, mark);
	return false;
}

/* If neither order does that, one in which they fit: it may be that kube-scheduler takes them as they were placed. */
static bool place_asks(struct sched_try *t, struct kar_placement *out)
{
	uint32_t n;
	const struct part *all = parts_of(t->gang, NULL, t->a, &n);

	if (!place_by_rules(t, all, n, false, out) &&
		(out->proved ||
			(!place_by_rules(t, all, n, true, out) && !place_parts(t, all, n, false, out) &&
				!place_parts(t, all, n, true, out))))
		return false;
	out->places = t->places;
	out->n_places = t->n_places;
	return true;
}

bool kar_sched_place(struct kar_sched *s, const struct kar_gang *gang, struct kar_arena *a,
	struct kar_placement *out)
{
	struct sched_try t = { .s = s, .gang = gang, .a = a, .key = SCHED_NONE, .domain = SCHED_NONE };

	*out = (struct kar_placement){ 0 };
	return gang->n_asks ? place_asks(&t, out) : sched_place(s, gang, a, out);
}

/* --- on empty nodes, and why not -------------------------------------------------------------------- */

static bool asks_feasible(struct kar_sched *s, const struct kar_gang *gang)
{
	struct kar_arena a = { 0 };
	uint32_t n;
	const struct part *all = parts_of(gang, NULL, &a, &n);
	const struct kar_gang whole = plain(gang, &a);
	bool feasible = sched_feasible(s, &whole);

	for (uint32_t i = 0; i < n && feasible; i++)
		feasible = sched_feasible(s, &all[i].gang);
	kar_arena_release(&a);
	return feasible;
}

bool kar_sched_feasible(struct kar_sched *s, const struct kar_gang *gang)
{
	return gang->n_asks ? asks_feasible(s, gang) : sched_feasible(s, gang);
}

/* "w: largest rack holds ..": of several roles the obstacles name one themselves. */
static const char *of_part(const struct part *p, const char *text, struct kar_arena *a)
{
	char bounded[SCHED_WHY_BYTES];

	if (!p->names)
		return text;
	kar_text_printf(bounded, sizeof(bounded), "%s%s: %s", p->names[0], p->gang.n_roles > 1 ? " ..." : "",
		text);
	return kar_arena_printf(a, "%s", bounded);
}

static struct kar_sched_why explain_parts(struct kar_sched *s, const struct kar_gang *gang,
	const char *const *names, struct kar_arena *a)
{
	size_t mark = kar_sched_mark(s);
	uint32_t n;
	const struct part *all = parts_of(gang, names, a, &n);
	struct kar_sched_why why = { 0 };
	int64_t placed = 0;
	bool found = false;

	for (uint32_t i = 0; i < n; i++) {
		struct kar_placement got;

		if (sched_place(s, &all[i].gang, a, &got)) {
			placed += all[i].need;
			continue;
		}
		if (!found) {
			why = sched_explain(s, &all[i].gang, all[i].names, a);
			why.text = of_part(&all[i], why.text, a);
		}
		found = true;
	}
	kar_sched_undo(s, mark);
	if (!found) {
		const struct kar_gang whole = plain(gang, a);

		return sched_explain(s, &whole, names, a);
	}
	why.placed += placed;
	return why;
}

static struct kar_sched_why explain_parts_on_empty(struct kar_sched *s, const struct kar_gang *gang,
	const char *const *names, struct kar_arena *a)
{
	const struct kar_gang whole = plain(gang, a);
	struct kar_sched_why why = { 0 };
	int64_t others = 0;
	uint32_t n;
	const struct part *all = parts_of(gang, names, a, &n);

	for (uint32_t i = 0; i < n; i++)
		others += all[i].need;
	for (uint32_t i = 0; i < n; i++) {
		why = sched_explain_empty(s, &all[i].gang, all[i].names, a);
		if (why.fits)
			continue;
		why.placed += others - all[i].need;
		why.text = of_part(&all[i], why.text, a);
		return why;
	}
	return sched_explain_empty(s, &whole, names, a);
}

struct kar_sched_why kar_sched_explain(struct kar_sched *s, const struct kar_gang *gang,
	const char *const *names, struct kar_arena *a)
{
	return gang->n_asks ? explain_parts(s, gang, names, a) : sched_explain(s, gang, names, a);
}

struct kar_sched_why kar_sched_explain_empty(struct kar_sched *s, const struct kar_gang *gang,
	const char *const *names, struct kar_arena *a)
{
	return gang->n_asks ? explain_parts_on_empty(s, gang, names, a)
			    : sched_explain_empty(s, gang, names, a);
}
