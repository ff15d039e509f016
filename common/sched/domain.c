/* Topology: equal values of some labels are a domain, and a node is in one domain of each path of labels that somebody asked for. */
#include "common/sched/impl.h"

#include <stdlib.h>
#include <string.h>

void sched_key_free(struct kar_sched *s, struct sched_key *key)
{
	for (uint32_t i = 0; i < key->n; i++) {
		if (key->values[i])
			sched_value_put(s, key->values[i]);
	}
	for (uint32_t i = 0; i < key->n_labels; i++)
		kar_intern_put(s->strings, key->labels[i]);
	kar_table_release(&key->by_value);
	free(key->values);
	free(key->first);
	free(key->state);
	free(key->unused);
	free(key->domain);
	free(key->next);
	free(key->prev);
}

static void make_room(struct kar_sched *s, struct sched_key *k)
{
	k->room = k->room ? 2 * k->room : 16;
	k->values = kar_xrealloc(k->values, k->room, sizeof(*k->values));
	k->first = kar_xrealloc(k->first, k->room, sizeof(*k->first));
	k->state = kar_xrealloc(k->state, k->room, sizeof(*k->state));
	k->unused = kar_xrealloc(k->unused, k->room, sizeof(*k->unused));
	for (uint32_t i = 0; i < s->n_hot; i++)
		sched_hot_add_key(s, s->classes[s->hot[i]].hot, (uint32_t)(k - s->keys));
}

static uint32_t domain_of(struct kar_sched *s, struct sched_key *k, const char *value)
{
	const uint32_t *known = kar_table_find(&k->by_value, value);
	uint32_t d;

	if (known)
		return *known;
	if (!k->n_unused && k->n == k->room)
		make_room(s, k);
	d = k->n_unused ? k->unused[--k->n_unused] : k->n++;
	k->values[d] = sched_value_get(s, value);
	k->first[d] = SCHED_NONE;
	k->state[d] = (struct sched_state){ 0 };
	kar_table_add(&k->by_value, k->values[d], d);
	return d;
}

/* Its last node has left. Each node may be a domain, and nodes come and go without end. */
static void forget_domain(struct kar_sched *s, struct sched_key *k, uint32_t d)
{
	assert(k->first[d] == SCHED_NONE && k->values[d]);
	kar_table_remove(&k->by_value, k->values[d]);
	sched_value_put(s, k->values[d]);
	k->values[d] = NULL;
	k->unused[k->n_unused++] = d;
}

/* No value of a label has a slash. False: the node is in no domain. */
static bool find_path(const struct sched_node *node, const struct sched_key *k, struct kar_buf *out)
{
	for (uint32_t i = 0; i < k->n_labels; i++) {
		const char *value = sched_label(node, k->labels[i]);

		if (!value)
			return false;
		kar_buf_printf(out, "%s%s", i ? "/" : "", value);
	}
	return true;
}

static void enter(struct kar_sched *s, uint32_t node, uint32_t key)
{
	struct sched_key *k = &s->keys[key];
	struct kar_buf path = { 0 };
	uint32_t d;

	k->domain[node] = SCHED_NONE;
	if (!find_path(&s->nodes[node], k, &path)) {
		kar_buf_release(&path);
		return;
	}
	d = domain_of(s, k, kar_buf_cstr(&path));
	kar_buf_release(&path);
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
	sched_whole_enter(s, node);
}

void sched_domains_leave(struct kar_sched *s, uint32_t node)
{
	sched_whole_leave(s, node);
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
		if (k->first[d] == SCHED_NONE)
			forget_domain(s, k, d);
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

static bool is_path(const struct sched_key *k, const char *const *labels, uint32_t n)
{
	if (k->n_labels != n)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(k->labels[i], labels[i]) != 0)
			return false;
	}
	return true;
}

/* The number of a key that nobody has asked for for the longest time, which is forgotten, or an unused one. */
static uint32_t free_key(struct kar_sched *s)
{
	uint32_t oldest = s->whole == 0;

	if (s->n_keys < KAR_SCHED_KEYS)
		return s->n_keys++;
	for (uint32_t i = 0; i < s->n_keys; i++) {
		if (i != s->whole && s->keys[i].asked < s->keys[oldest].asked)
			oldest = i;
	}
	sched_key_free(s, &s->keys[oldest]);
	return oldest;
}

uint32_t sched_key(struct kar_sched *s, const char *const *labels, uint32_t n)
{
	uint32_t key;

	assert(n > 0 && n <= KAR_SCHED_LEVELS);
	for (uint32_t i = 0; i < s->n_keys; i++) {
		if (is_path(&s->keys[i], labels, n)) {
			s->keys[i].asked = ++s->questions;
			return i;
		}
	}
	key = free_key(s);
	s->keys[key] = (struct sched_key){ .n_labels = n, .asked = ++s->questions };
	for (uint32_t i = 0; i < n; i++)
		s->keys[key].labels[i] = kar_intern_get(s->strings, labels[i]);
	size_arrays(&s->keys[key], s->room_nodes);
	for (uint32_t i = 0; i < s->n_nodes; i++) {
		if (s->nodes[i].known)
			enter(s, i, key);
	}
	for (uint32_t i = 0; i < s->n_hot; i++)
		sched_hot_add_key(s, s->classes[s->hot[i]].hot, key);
	return key;
}

void kar_sched_keep_whole(struct kar_sched *s, const char *const *labels, uint32_t n)
{
	bool kept = s->whole == SCHED_NONE ? n == 0 : is_path(&s->keys[s->whole], labels, n);

	assert(!s->marks);
	if (!kept)
		sched_whole_begin(s, n ? sched_key(s, labels, n) : SCHED_NONE);
}

const char *kar_sched_label_of(const struct kar_sched *s, const char *node, const char *label)
{
	const char *interned = kar_intern_find(s->strings, label);
	uint32_t i = sched_find_node(s, node);

	return interned && i != SCHED_NONE && s->nodes[i].known ? sched_label(&s->nodes[i], interned) : NULL;
}
