/*
 * Domains without pods. As long as a gang without a wish has room elsewhere it does not break one, so that racks stay whole for gangs that need all of
 * one. Nodes of whole domains are in buckets of their own (hot.c).
 */
#include "common/sched/impl.h"

#include <stdlib.h>
#include <string.h>

struct named {
	const char *name;
	uint32_t node;
};

static int by_name(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* In the order of names: equal snapshots fill nodes equally. */
static void rebucket_domain(struct kar_sched *s, uint32_t d)
{
	const struct sched_key *k = &s->keys[s->whole];
	struct named *named = kar_xcalloc(k->state[d].nodes + 1, sizeof(*named));
	uint32_t *nodes = kar_xcalloc(k->state[d].nodes + 1, sizeof(*nodes)), n = 0;

	for (uint32_t i = k->first[d]; i != SCHED_NONE; i = k->next[i])
		named[n++] = (struct named){ s->nodes[i].name, i };
	qsort(named, n, sizeof(*named), by_name);
	for (uint32_t i = 0; i < n; i++)
		nodes[i] = named[i].node;
	sched_rebucket(s, nodes, n);
	free(nodes);
	free(named);
}

static bool is_whole(const struct sched_state *d)
{
	return d->nodes && !d->busy && d->nodes <= KAR_SCHED_WHOLE;
}

static void renew(struct kar_sched *s, uint32_t d)
{
	struct sched_state *state = &s->keys[s->whole].state[d];

	if (state->whole == is_whole(state))
		return;
	state->whole = !state->whole;
	rebucket_domain(s, d);
}

/* The domain of the node; SCHED_NONE: it is in none, or none is to stay whole. */
static uint32_t domain_of(const struct kar_sched *s, uint32_t node)
{
	return s->whole == SCHED_NONE || !s->nodes[node].known ? SCHED_NONE : s->keys[s->whole].domain[node];
}

void sched_whole_enter(struct kar_sched *s, uint32_t node)
{
	uint32_t d = domain_of(s, node);

	if (d == SCHED_NONE)
		return;
	s->keys[s->whole].state[d].nodes++;
	s->keys[s->whole].state[d].busy += sched_is_busy(&s->nodes[node]);
	renew(s, d);
}

void sched_whole_leave(struct kar_sched *s, uint32_t node)
{
	uint32_t d = domain_of(s, node);

	if (d == SCHED_NONE)
		return;
	s->keys[s->whole].state[d].nodes--;
	s->keys[s->whole].state[d].busy -= sched_is_busy(&s->nodes[node]);
	renew(s, d);
}

void sched_whole_taken(struct kar_sched *s, uint32_t node, bool was)
{
	bool is = sched_is_busy(&s->nodes[node]);
	uint32_t d = is == was ? SCHED_NONE : domain_of(s, node);

	if (d == SCHED_NONE)
		return;
	if (is)
		s->keys[s->whole].state[d].busy++;
	else
		s->keys[s->whole].state[d].busy--;
	renew(s, d);
}

static void rebucket_all(struct kar_sched *s)
{
	for (uint32_t i = 0; i < s->n_nodes; i++)
		sched_rebucket(s, &i, 1);
}

static void count(struct kar_sched *s, struct sched_key *k)
{
	memset(k->state, 0, k->n * sizeof(*k->state));
	for (uint32_t i = 0; i < s->n_nodes; i++) {
		if (k->domain[i] == SCHED_NONE)
			continue;
		k->state[k->domain[i]].nodes++;
		k->state[k->domain[i]].busy += sched_is_busy(&s->nodes[i]);
	}
	for (uint32_t d = 0; d < k->n; d++)
		k->state[d].whole = is_whole(&k->state[d]);
}

void sched_whole_begin(struct kar_sched *s, uint32_t key)
{
	s->whole = key;
	if (key != SCHED_NONE && s->keys[key].n)
		count(s, &s->keys[key]);
	rebucket_all(s);
}
