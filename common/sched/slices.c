/*
 * Slices: a gang may ask that every so many pods of a role that follow each other are in one domain of a level; balance: that its domains get
 * equally many of them. And the order of places, which is that of ranks.
 */
#include "common/sched/impl.h"

#include <stdlib.h>
#include <string.h>

bool sched_is_sliced(const struct sched_try *t)
{
	return t->gang->topology.slice_depth > t->depth;
}

/* --- the order of places ---------------------------------------------------------------------------- */

struct seat {
	struct kar_place place;
	const char *path; /* of the narrowest domain that the node is in; "": of none */
};

/* Each domain is a beginning of paths, so its places follow each other. */
static int by_path(const void *a, const void *b)
{
	const struct seat *x = a, *y = b;
	int order;

	if (x->place.role != y->place.role)
		return x->place.role < y->place.role ? -1 : 1;
	order = strcmp(x->path, y->path);
	return order ? order : strcmp(x->place.node, y->place.node);
}

static const char *path_of(struct kar_sched *s, const struct kar_topology_wish *w, uint32_t node)
{
	for (uint32_t depth = w->n_labels; depth > 0; depth--) {
		const struct sched_key *k = &s->keys[sched_key(s, w->labels, depth)];

		if (k->domain[node] != SCHED_NONE)
			return k->values[k->domain[node]];
	}
	return "";
}

void sched_sort_places(struct sched_try *t, uint32_t from)
{
	uint32_t n = t->n_places - from;
	struct seat *seats = kar_xmalloc((n + 1) * sizeof(*seats));

	for (uint32_t i = 0; i < n; i++) {
		const struct kar_place *p = &t->places[from + i];

		seats[i] = (struct seat){ *p,
			path_of(t->s, &t->gang->topology, sched_find_node(t->s, p->node)) };
	}
	qsort(seats, n, sizeof(*seats), by_path);
	for (uint32_t i = 0; i < n; i++)
		t->places[from + i] = seats[i].place;
	free(seats);
}

/* --- room in slices --------------------------------------------------------------------------------- */

int64_t *sched_whole_slices(struct sched_try *t, uint32_t class, uint32_t depth)
{
	const struct kar_topology_wish *w = &t->gang->topology;
	uint32_t wide = sched_key(t->s, w->labels, depth);
	uint32_t narrow = sched_key(t->s, w->labels, w->slice_depth);
	const struct sched_key *of = &t->s->keys[wide], *k = &t->s->keys[narrow];
	const int64_t *total = sched_hot(t->s, class)->domain_total[narrow];
	int64_t *whole = kar_arena_alloc(t->a, of->n + 1, sizeof(*whole));

	assert(depth <= w->slice_depth);
	for (uint32_t d = 0; d < k->n; d++) {
		if (k->first[d] != SCHED_NONE)
			whole[of->domain[k->first[d]]] += total[d] / w->slice_size * w->slice_size;
	}
	return whole;
}

/* Pods of @need that have a place in slices; the last slice may be smaller. @whole: room in whole ones, @most: in the best other domain. */
static int64_t placed_in_slices(const struct kar_topology_wish *w, int64_t need, int64_t whole, int64_t most)
{
	int64_t rest = need % w->slice_size;

	if (whole >= need)
		return need;
	if (whole < need - rest)
		return whole;
	return need - rest + (most < rest ? most : rest);
}

bool sched_may_hold(struct sched_try *t, uint32_t class, int64_t need)
{
	const struct kar_topology_wish *w = &t->gang->topology;
	int64_t whole = 0, most = 0;
	uint32_t n;
	const struct sched_ranked *all;

	if (!sched_is_sliced(t))
		return sched_total(t, class) >= need;
	all = sched_domains_inside(t, w->slice_depth, class, false, &n);
	for (uint32_t i = 0; i < n; i++) {
		int64_t rest = all[i].copies % w->slice_size;

		whole += all[i].copies - rest;
		most = rest > most ? rest : most;
	}
	return placed_in_slices(w, need, whole, most) == need;
}

int64_t sched_missing_slices(struct kar_sched *s, const struct kar_gang *gang, const struct kar_role *role,
	uint32_t key, uint32_t domain)
{
	const struct kar_topology_wish *w = &gang->topology;
	const struct sched_class *c = &s->classes[role->class];
	const struct sched_key *k = &s->keys[sched_key(s, w->labels, w->slice_depth)];
	int64_t *room = kar_xcalloc(k->n + 1, sizeof(*room)), whole = 0, most = 0;

	for (uint32_t i = key == SCHED_NONE ? 0 : s->keys[key].first[domain]; i < s->n_nodes;
		i = key == SCHED_NONE ? i + 1 : s->keys[key].next[i]) {
		if (s->nodes[i].known && k->domain[i] != SCHED_NONE &&
			sched_may_suit(&s->nodes[i].offer, c->needs))
			room[k->domain[i]] += sched_copies(s, c, i, true);
	}
	for (uint32_t d = 0; d < k->n; d++) {
		int64_t rest = room[d] % w->slice_size;

		whole += room[d] - rest;
		most = rest > most ? rest : most;
	}
	free(room);
	return role->need - placed_in_slices(w, role->need, whole, most);
}

void sched_put_slices(const struct kar_topology_wish *w, struct kar_buf *out)
{
	kar_buf_printf(out, "each %d in one %s", (int)w->slice_size, w->labels[w->slice_depth - 1]);
}

/* --- filling ---------------------------------------------------------------------------------------- */

static void enter(struct sched_try *t, uint32_t depth, uint32_t domain)
{
	t->key = sched_key(t->s, t->gang->topology.labels, depth);
	t->domain = domain;
	t->depth = depth;
}

static void leave(struct sched_try *t, const struct sched_try *scope)
{
	t->key = scope->key;
	t->domain = scope->domain;
	t->depth = scope->depth;
}

/* Pods decide where others of the role go: slice by slice, where there is least room. */
static int32_t fill_ruled_slices(struct sched_try *t, uint32_t role, int32_t n)
{
	const struct kar_topology_wish *w = &t->gang->topology;
	const struct sched_try scope = *t;
	int32_t left = n;
	uint32_t n_all;
	const struct sched_ranked *all =
		sched_domains_inside(t, w->slice_depth, t->gang->roles[role].class, false, &n_all);

	for (uint32_t i = 0; i < n_all && left > 0;) {
		int32_t size = left < w->slice_size ? left : w->slice_size;
		size_t mark = kar_sched_mark(t->s);
		uint32_t before = t->n_places;

		enter(t, w->slice_depth, all[i].domain);
		if (all[i].copies >= size && sched_fill_ruled(t, role, size) == size) {
			kar_sched_keep(t->s, mark);
			sched_sort_places(t, before);
			left -= size;
			continue;
		}
		kar_sched_undo(t->s, mark);
		t->n_places = before;
		i++;
	}
	leave(t, &scope);
	return n - left;
}

/* The last slice, which is smaller: where there is least room of all domains that hold it. */
static int32_t fill_rest(struct sched_try *t, uint32_t role, int32_t n)
{
	const struct sched_try scope = *t;
	int32_t got = 0;
	uint32_t n_all, i = 0;
	const struct sched_ranked *all = sched_domains_inside(t, t->gang->topology.slice_depth,
		t->gang->roles[role].class, false, &n_all);

	while (i < n_all && all[i].copies < n)
		i++;
	if (i < n_all) {
		enter(t, t->gang->topology.slice_depth, all[i].domain);
		got = sched_fill_packed(t, role, n);
		leave(t, &scope);
	}
	return got;
}

/* The level whose domains get equally many; 0: none, or the scope is not wider. */
static uint32_t balanced_depth(const struct sched_try *t)
{
	const struct kar_topology_wish *w = &t->gang->topology;
	uint32_t depth = w->slice_depth ? w->slice_depth : w->preferred ? w->preferred : w->required + 1;

	return w->balance && depth > t->depth && depth <= w->n_labels ? depth : 0;
}

static int most_first(const void *a, const void *b)
{
	const struct sched_ranked *x = a, *y = b;

	if (x->copies != y->copies)
		return x->copies > y->copies ? -1 : 1;
	return strcmp(x->path, y->path);
}

/* Do the first @k have room for equal parts of @n, of which some may have one more? */
static bool holds_parts(const struct sched_ranked *all, uint32_t k, int64_t n, int64_t unit)
{
	bool holds = true;

	for (uint32_t i = 0; i < k && holds; i++)
		holds = all[i].copies / unit >= n / k + (i < n % k);
	return holds;
}

/* In equal parts, over the fewest domains with which that is possible; 0: it is not. */
static int32_t fill_balanced(struct sched_try *t, uint32_t role, int32_t n)
{
	const struct sched_try scope = *t;
	uint32_t depth = balanced_depth(t), n_all, k = 1;
	int32_t unit = sched_is_sliced(t) ? t->gang->topology.slice_size : 1, got = 0;
	struct sched_ranked *all;

	if (!depth || n <= 0)
		return 0;
	all = sched_domains_inside(t, depth, t->gang->roles[role].class, sched_is_sliced(t), &n_all);
	qsort(all, n_all, sizeof(*all), most_first);
	while (k <= n_all && !holds_parts(all, k, n / unit, unit))
		k++;
	for (uint32_t i = 0; i < k && k <= n_all; i++) {
		int32_t units = n / unit, part = units / (int32_t)k + ((int32_t)i < units % (int32_t)k);

		enter(t, depth, all[i].domain);
		got += part ? sched_fill_packed(t, role, part * unit) : 0;
	}
	leave(t, &scope);
	return got;
}

static int32_t fill_some(struct sched_try *t, uint32_t role, int32_t n)
{
	int32_t got = fill_balanced(t, role, n);

	return got ? got : sched_fill_packed(t, role, n);
}

int32_t sched_fill_by_wish(struct sched_try *t, uint32_t role, int32_t n)
{
	bool sliced = sched_is_sliced(t);
	int32_t whole = sliced ? n - n % t->gang->topology.slice_size : n, got;
	uint32_t from = t->n_places;

	if (sched_is_ruled(&t->s->classes[t->gang->roles[role].class])) {
		got = sliced ? fill_ruled_slices(t, role, n) : sched_fill_ruled(t, role, n);
		if (!sliced)
			sched_sort_places(t, from);
		return got;
	}
	got = fill_some(t, role, whole);
	sched_sort_places(t, from);
	if (got < whole || whole == n)
		return got;
	from = t->n_places;
	got += fill_rest(t, role, n - whole);
	sched_sort_places(t, from);
	return got;
}
