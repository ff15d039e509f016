/*
 * Slices: a gang may ask that every so many pods of a role that follow each other are in one domain of a level. How much room there is for these,
 * and the order of places, which is that of ranks. tree.c fills them.
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

/* --- domains ------------------------------------------------------------------------------------------ */

int sched_compare_room(const void *a, const void *b)
{
	const struct sched_ranked *x = a, *y = b;

	if (x->copies != y->copies)
		return x->copies < y->copies ? -1 : 1;
	return strcmp(x->path, y->path);
}

static void add_domain(const int64_t *room, const struct sched_key *k, uint32_t domain,
	struct sched_ranked *all, uint32_t *n)
{
	if (k->first[domain] != SCHED_NONE && room[domain] > 0)
		all[(*n)++] = (struct sched_ranked){ domain, room[domain], k->values[domain] };
}

struct sched_ranked *sched_domains_inside(struct sched_try *t, uint32_t depth, uint32_t class, bool whole,
	uint32_t *n)
{
	uint32_t key = sched_key(t->s, t->gang->topology.labels, depth);
	const struct sched_key *below = &t->s->keys[key],
			       *k = t->domain == SCHED_NONE ? NULL : &t->s->keys[t->key];
	const int64_t *room =
		whole ? sched_whole_slices(t, class, depth) : sched_hot(t->s, class)->domain_total[key];
	uint32_t first = k ? k->first[t->domain] : SCHED_NONE, nodes = 0;
	struct sched_ranked *all;

	for (uint32_t i = first; i != SCHED_NONE; i = k->next[i])
		nodes++;
	all = kar_arena_alloc(t->a, (k ? nodes : below->n) + 1, sizeof(*all));
	*n = 0;
	for (uint32_t d = 0; !k && d < below->n; d++)
		add_domain(room, below, d, all, n);
	for (uint32_t i = first; i != SCHED_NONE; i = k->next[i]) {
		uint32_t d = below->domain[i];

		if (d != SCHED_NONE &&
			below->first[d] == i) /* once for all of its nodes, which are all in the scope */
			add_domain(room, below, d, all, n);
	}
	qsort(all, *n, sizeof(*all), sched_compare_room);
	return all;
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
