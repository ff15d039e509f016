/* Topology: the values of a label are domains, and a node is in one domain of each label that somebody asked for. */
#include "common/sched/impl.h"

#include <stdlib.h>

void sched_key_free(struct kar_sched *s, struct sched_key *key)
{
	for (uint32_t i = 0; i < key->n; i++)
		sched_value_put(s, key->values[i]);
	kar_intern_put(s->strings, key->label);
	kar_table_release(&key->by_value);
	free(key->values);
	free(key->first);
	free(key->domain);
	free(key->next);
	free(key->prev);
}

/* Domains are never forgotten: there are few values of a label. */
static uint32_t domain_of(struct kar_sched *s, struct sched_key *k, const char *value)
{
	const uint32_t *known = kar_table_find(&k->by_value, value);

	if (known)
		return *known;
	if (k->n == k->room) {
		k->room = k->room ? 2 * k->room : 16;
		k->values = kar_xrealloc(k->values, k->room, sizeof(*k->values));
		k->first = kar_xrealloc(k->first, k->room, sizeof(*k->first));
		for (uint32_t i = 0; i < s->n_hot; i++)
			sched_hot_add_key(s, s->classes[s->hot[i]].hot, (uint32_t)(k - s->keys));
	}
	k->values[k->n] = sched_value_get(s, value);
	k->first[k->n] = SCHED_NONE;
	kar_table_add(&k->by_value, k->values[k->n], k->n);
	return k->n++;
}

static void enter(struct kar_sched *s, uint32_t node, uint32_t key)
{
	struct sched_key *k = &s->keys[key];
	const char *value = sched_label(&s->nodes[node], k->label);
	uint32_t d;

	k->domain[node] = SCHED_NONE;
	if (!value)
		return;
	d = domain_of(s, k, value);
	assert(k->first && d < k->n);
	k->domain[node] = d;
	k->next[node] = k->first[d];
	k->prev[node] = SCHED_NONE;
	if (k->first[d] != SCHED_NONE)
		k->prev[k->first[d]] = node;
	k->first[d] = node;
}

void sched_domains_enter(struct kar_sched *s, uint32_t node)
{
	for (uint32_t k = 0; k < s->n_keys; k++)
		enter(s, node, k);
}

void sched_domains_leave(struct kar_sched *s, uint32_t node)
{
	for (uint32_t i = 0; i < s->n_keys; i++) {
		struct sched_key *k = &s->keys[i];
		uint32_t d = k->domain[node];

		if (d == SCHED_NONE)
			continue;
		if (k->prev[node] == SCHED_NONE)
			k->first[d] = k->next[node];
		else
			k->next[k->prev[node]] = k->next[node];
		if (k->next[node] != SCHED_NONE)
			k->prev[k->next[node]] = k->prev[node];
		k->domain[node] = SCHED_NONE;
	}
}

static void size_arrays(struct sched_key *k, uint32_t room)
{
	k->domain = kar_xrealloc(k->domain, room, sizeof(*k->domain));
	k->next = kar_xrealloc(k->next, room, sizeof(*k->next));
	k->prev = kar_xrealloc(k->prev, room, sizeof(*k->prev));
	for (uint32_t i = k->room_nodes; i < room; i++)
		k->domain[i] = SCHED_NONE;
	k->room_nodes = room;
}

void sched_keys_grow(struct kar_sched *s)
{
	for (uint32_t i = 0; i < s->n_keys; i++)
		size_arrays(&s->keys[i], s->room_nodes);
}

uint32_t sched_key(struct kar_sched *s, const char *label)
{
	const char *known = kar_intern_find(s->strings, label);
	uint32_t key;

	for (uint32_t i = 0; known && i < s->n_keys; i++) {
		if (s->keys[i].label == known)
			return i;
	}
	if (s->n_keys == KAR_SCHED_KEYS)
		return SCHED_NONE;
	key = s->n_keys;
	s->keys[key] = (struct sched_key){ .label = kar_intern_get(s->strings, label) };
	size_arrays(&s->keys[key], s->room_nodes);
	for (uint32_t i = 0; i < s->n_nodes; i++) {
		if (s->nodes[i].known)
			enter(s, i, key);
	}
	s->n_keys++;
	for (uint32_t i = 0; i < s->n_hot; i++)
		sched_hot_add_key(s, s->classes[s->hot[i]].hot, key);
	return key;
}
