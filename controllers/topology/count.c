/* Domains of a Topology, level by level: a domain is a value of its label below a domain of the level above. */
#include "controllers/topology/topology.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

/* A node that is in a domain of the level. */
struct place {
	const char *value;
	uint32_t parent; /* domain of the level above */
	uint32_t node;
};

static int by_domain(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int order = x->value == y->value ? 0 : strcmp(x->value, y->value); /* interned */

	return order ? order : (x->parent > y->parent) - (x->parent < y->parent);
}

static int by_key(const void *key, const void *label)
{
	const struct kar_sched_label *l = label;

	return strcmp(key, l->key);
}

static const char *value_of(const struct kar_node *n, const char *label)
{
	const struct kar_sched_label *found = n->offer.n_labels
		? bsearch(label, n->offer.labels, n->offer.n_labels, sizeof(*found), by_key)
		: NULL;

	return found ? found->value : NULL;
}

/* Those that are in domains of the level; @domains: of the level above, per node, NONE: in none. */
static uint32_t collect(const struct topology_view *v, const char *label, uint32_t *domains,
	struct place *out)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->n_nodes; i++) {
		const char *value = domains[i] == NONE ? NULL : value_of(v->nodes[i], label);

		if (value)
			out[n++] = (struct place){ value, domains[i], i };
		domains[i] = NONE;
	}
	return n;
}

static struct kar_topology_level count_level(const struct topology_view *v, const char *label,
	uint32_t *domains, struct place *places)
{
	uint32_t n = collect(v, label, domains, places), below = 0;
	struct kar_topology_level level = { .label = label,
		.nodes = (int32_t)n,
		.without_label = (int32_t)(v->n_nodes - n) };

	qsort(places, n, sizeof(*places), by_domain);
	for (uint32_t i = 0; i < n; i++) {
		bool same_value = i > 0 && places[i].value == places[i - 1].value;

		if (!same_value)
			below = 0;
		if (!same_value || places[i].parent != places[i - 1].parent) {
			level.domains++;
			level.ambiguous += ++below == 2;
		}
		domains[places[i].node] = (uint32_t)level.domains - 1;
	}
	return level;
}

struct kar_topology_level *topology_count(const struct topology_view *v, struct kar_arena *a)
{
	struct kar_topology_level *levels = kar_arena_alloc(a, v->topology->n + 1, sizeof(*levels));
	uint32_t *domains =
		kar_arena_alloc(a, v->n_nodes + 1, sizeof(*domains)); /* all 0: above is one domain */
	struct place *places = kar_arena_alloc(a, v->n_nodes + 1, sizeof(*places));

	for (uint32_t i = 0; i < v->topology->n; i++)
		levels[i] = count_level(v, v->topology->levels[i], domains, places);
	return levels;
}
