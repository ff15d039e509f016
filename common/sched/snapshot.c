/* The nodes, and what is taken from them. */
#include "common/sched/impl.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_STRIDE = 4, FIRST_NODES = 16 };

static void forget_offer(struct kar_sched *s, struct sched_node *n)
{
	for (uint32_t i = 0; i < n->offer.n_labels; i++) {
		kar_intern_put(s->strings, n->offer.labels[i].key);
		sched_value_put(s, n->offer.labels[i].value);
	}
	for (uint32_t i = 0; i < n->offer.n_taints; i++) {
		kar_intern_put(s->strings, n->offer.taints[i].key);
		sched_value_put(s, n->offer.taints[i].value);
	}
	free(n->block);
	n->block = NULL;
	n->offer = (struct kar_node_offer){ .name = n->name };
}

static void forget_port(struct kar_sched *s, const struct kar_host_port *port)
{
	kar_intern_put(s->strings, port->ip);
	kar_intern_put(s->strings, port->protocol);
}

void kar_sched_free(struct kar_sched *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->n_nodes; i++) {
		forget_offer(s, &s->nodes[i]);
		kar_intern_put(s->strings, s->nodes[i].name);
		for (uint32_t k = 0; k < s->nodes[i].n_ports; k++)
			forget_port(s, &s->nodes[i].ports[k].port);
		free(s->nodes[i].ports);
		free(s->nodes[i].tallies);
	}
	for (uint32_t i = 1; i < s->n_classes; i++)
		sched_class_free(s, i);
	for (uint32_t i = 0; i < s->n_keys; i++)
		sched_key_free(s, &s->keys[i]);
	for (uint32_t i = 0; i < s->n_resources; i++)
		kar_intern_put(s->strings, s->resources[i].name);
	kar_table_release(&s->node_by_name);
	free(s->named);
	free(s->nodes);
	free(s->unused);
	free(s->allocatable);
	free(s->taken);
	free(s->classes);
	free(s->log);
	kar_intern_free(s->strings);
	free(s);
}

/* --- resources ------------------------------------------------------------------------------------- */

static bool is_extended(const char *name)
{
	static const char *const plain[] = { "cpu", "memory", "ephemeral-storage", "pods" };

	for (size_t i = 0; i < KAR_LEN(plain); i++) {
		if (strcmp(name, plain[i]) == 0)
			return false;
	}
	return strncmp(name, "hugepages-", 10) != 0;
}

/* The cells of both arrays move to rows of another length. */
static void resize_cells(struct kar_sched *s, uint32_t rows, uint32_t stride)
{
	int64_t *allocatable = kar_xcalloc((size_t)rows * stride + 1, sizeof(*allocatable));
	uint64_t *taken = kar_xcalloc((size_t)rows * stride + 1, sizeof(*taken));

	for (size_t i = 0; i < s->n_nodes; i++) {
		memcpy(&allocatable[i * stride], &s->allocatable[i * s->stride],
			s->stride * sizeof(*allocatable));
		memcpy(&taken[i * stride], &s->taken[i * s->stride], s->stride * sizeof(*taken));
	}
	free(s->allocatable);
	free(s->taken);
	s->allocatable = allocatable;
	s->taken = taken;
	s->stride = stride;
}

uint32_t sched_resource(const struct kar_sched *s, const char *name)
{
	const char *known = kar_intern_find(s->strings, name);

	for (uint32_t i = 0; known && i < s->n_resources; i++) {
		if (s->resources[i].name == known)
			return i;
	}
	return SCHED_NONE;
}

static uint32_t count_of_pods(const struct kar_sched *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_resources; i++)
		n += !s->resources[i].of_node;
	return n;
}

uint32_t sched_resource_make(struct kar_sched *s, const char *name, bool of_node)
{
	uint32_t known = sched_resource(s, name);

	if (known != SCHED_NONE) {
		s->resources[known].of_node |= of_node;
		return known;
	}
	if (s->n_resources == KAR_SCHED_RESOURCES ||
		(!of_node && count_of_pods(s) >= KAR_SCHED_RESOURCES / 2))
		return SCHED_NONE;
	if (s->n_resources == s->stride)
		resize_cells(s, s->room_nodes,
			s->stride + 1); /* a cluster has few resources, and each costs all nodes */
	s->resources[s->n_resources] = (struct sched_resource){ .name = kar_intern_get(s->strings, name),
		.extended = is_extended(name),
		.of_node = of_node };
	return s->n_resources++;
}

bool kar_sched_knows(const struct kar_sched *s, const char *resource)
{
	return sched_resource(s, resource) != SCHED_NONE;
}

void kar_sched_doubt(struct kar_sched *s, const char *resource, const char *why)
{
	uint32_t r = sched_resource(s, resource);

	if (r != SCHED_NONE)
		s->resources[r].doubt = why;
}

/* --- nodes ----------------------------------------------------------------------------------------- */

uint32_t sched_find_node(const struct kar_sched *s, const char *name)
{
	const uint32_t *at = kar_table_find(&s->node_by_name, name);

	return at ? *at : SCHED_NONE;
}

static void grow_nodes(struct kar_sched *s)
{
	uint32_t room = s->room_nodes + s->room_nodes / 8 + FIRST_NODES;

	s->nodes = kar_xrealloc(s->nodes, room, sizeof(*s->nodes));
	s->unused = kar_xrealloc(s->unused, room, sizeof(*s->unused));
	resize_cells(s, room, s->stride);
	s->room_nodes = room;
	sched_hot_grow(s);
	sched_keys_grow(s);
}

struct kar_sched *kar_sched_new(struct kar_intern *strings)
{
	struct kar_sched *s = kar_xcalloc(1, sizeof(*s));

	s->strings = kar_intern_new();
	s->shared = strings ? strings : s->strings;
	s->stride = FIRST_STRIDE;
	s->n_classes = 1;
	s->whole = SCHED_NONE;
	grow_nodes(s);
	sched_resource_make(s, "pods", true);
	return s;
}

static uint32_t new_node(struct kar_sched *s, const char *name)
{
	uint32_t i;

	if (s->n_unused) {
		i = s->unused[--s->n_unused];
	} else {
		if (s->n_nodes == s->room_nodes)
			grow_nodes(s);
		i = s->n_nodes++;
	}
	s->nodes[i] = (struct sched_node){ .name = kar_intern_get(s->strings, name) };
	s->nodes[i].offer.name = s->nodes[i].name;
	memset(&s->allocatable[(size_t)i * s->stride], 0, s->stride * sizeof(*s->allocatable));
	memset(&s->taken[(size_t)i * s->stride], 0, s->stride * sizeof(*s->taken));
	kar_table_add(&s->node_by_name, s->nodes[i].name, i);
	s->n_named = 0;
	sched_recount(s, i, true);
	return i;
}

/* A node that is neither known nor used by anybody is forgotten. */
static void drop_unused(struct kar_sched *s, uint32_t i)
{
	struct sched_node *n = &s->nodes[i];

	if (n->known || n->n_taken || s->marks)
		return;
	kar_table_remove(&s->node_by_name, n->name);
	s->n_named = 0;
	kar_intern_put(s->strings, n->name);
	free(n->ports);
	free(n->tallies);
	*n = (struct sched_node){ 0 };
	s->unused[s->n_unused++] = i;
}

/* Also used to take a node out of the sums before it changes. */
static void add_spare(struct kar_sched *s, uint32_t node, int sign)
{
	if (!s->nodes[node].known)
		return;
	for (uint32_t r = 0; r < s->n_resources; r++) {
		int64_t room = sched_free(s, node, r);

		if (room > 0)
			s->resources[r].spare += sign * room;
	}
}

static void set_idle(struct kar_sched *s, uint32_t node)
{
	struct sched_node *n = &s->nodes[node];

	n->idle = 0;
	for (uint32_t r = 0; n->known && r < s->n_resources; r++) {
		if (s->resources[r].extended && sched_free(s, node, r) > 0)
			n->idle |= (uint64_t)1 << r;
	}
}

static void copy_offer(struct kar_sched *s, struct sched_node *n, const struct kar_node_offer *from)
{
	size_t labels = from->n_labels * sizeof(struct kar_sched_label),
	       taints = from->n_taints * sizeof(struct kar_taint);
	char *block = kar_xmalloc(labels + taints + 1);
	struct kar_sched_label *l = (void *)block;
	struct kar_taint *t = (void *)(block + labels);

	for (uint32_t i = 0; i < from->n_labels; i++) {
		l[i].key = kar_intern_get(s->strings, from->labels[i].key);
		l[i].value = sched_value_get(s, from->labels[i].value);
	}
	for (uint32_t i = 0; i < from->n_taints; i++) {
		t[i] = from->taints[i];
		t[i].key = kar_intern_get(s->strings, from->taints[i].key);
		t[i].value = sched_value_get(s, from->taints[i].value);
	}
	n->block = block;
	n->offer = (struct kar_node_offer){ .name = n->name,
		.labels = l,
		.n_labels = from->n_labels,
		.taints = t,
		.n_taints = from->n_taints,
		.ready = from->ready,
		.cordoned = from->cordoned };
}

static void set_allocatable(struct kar_sched *s, uint32_t node, const struct kar_node_offer *from)
{
	uint32_t known = s->n_resources;

	for (uint32_t r = 0; r < s->n_resources; r++) {
		if (sched_allocatable(s, node, r) && sched_allocatable(s, node, r) == s->resources[r].largest)
			s->resources[r].stale = true;
		s->resources[r].offered -= sched_allocatable(s, node, r);
		s->allocatable[(size_t)node * s->stride + r] = 0;
	}
	for (uint32_t i = 0; from && i < from->n_allocatable; i++) {
		uint32_t r = sched_resource_make(s, from->allocatable[i].resource, true);
		int64_t amount = kar_clamp(from->allocatable[i].amount, 0, KAR_SCHED_MOST);

		if (r == SCHED_NONE)
			continue; /* the cluster has more kinds of resources than are counted; who asks for it fits nowhere */
		s->resources[r].offered +=
			amount - sched_allocatable(s, node, r); /* it may be listed twice */
		s->allocatable[(size_t)node * s->stride + r] = amount;
		if (amount > s->resources[r].largest)
			s->resources[r].largest = amount;
	}
	if (s->n_resources > known)
		sched_classes_read(s);
}

/* NULL: it is gone. */
static void set_node(struct kar_sched *s, uint32_t i, const struct kar_node_offer *offer)
{
	assert(!s->marks);
	add_spare(s, i, -1);
	sched_withdraw(s, i);
	sched_domains_leave(s, i);
	sched_rules_move(s, i, -1);
	forget_offer(s, &s->nodes[i]);
	if (offer)
		copy_offer(s, &s->nodes[i], offer);
	s->nodes[i].known = offer;
	sched_rules_move(s, i, 1);
	set_allocatable(s, i, offer);
	add_spare(s, i, 1);
	set_idle(s, i);
	if (offer)
		sched_domains_enter(s, i);
	sched_recount(s, i, true);
}

void kar_sched_node(struct kar_sched *s, const struct kar_node_offer *node)
{
	uint32_t i = sched_find_node(s, node->name);

	set_node(s, i == SCHED_NONE ? new_node(s, node->name) : i, node);
}

void kar_sched_node_gone(struct kar_sched *s, const char *name)
{
	uint32_t i = sched_find_node(s, name);

	if (i == SCHED_NONE)
		return;
	set_node(s, i, NULL);
	drop_unused(s, i);
}

bool kar_sched_node_usable(const struct kar_sched *s, const char *name)
{
	uint32_t i = sched_find_node(s, name);

	return i != SCHED_NONE && s->nodes[i].known && kar_sched_usable(&s->nodes[i].offer);
}

int64_t kar_sched_node_free(const struct kar_sched *s, const char *name, const char *resource)
{
	uint32_t i = sched_find_node(s, name), r = sched_resource(s, resource);

	return i == SCHED_NONE || r == SCHED_NONE ? 0 : sched_free(s, i, r);
}

/* --- what is taken --------------------------------------------------------------------------------- */

static void take_port(struct kar_sched *s, struct sched_node *n, const struct kar_host_port *port, int32_t by)
{
	struct sched_port_use *u = NULL;

	for (uint32_t i = 0; i < n->n_ports && !u; i++) {
		if (kar_shape_compare(&kar_port_shape, &n->ports[i].port, port) == 0)
			u = &n->ports[i];
	}
	if (!u) {
		if (n->n_ports == n->room_ports) {
			n->room_ports = n->room_ports ? 2 * n->room_ports : 4;
			n->ports = kar_xrealloc(n->ports, n->room_ports, sizeof(*n->ports));
		}
		u = &n->ports[n->n_ports++];
		*u = (struct sched_port_use){ .port = { .ip = kar_intern_get(s->strings, port->ip),
						      .protocol = kar_intern_get(s->strings, port->protocol),
						      .port = port->port } };
	}
	u->n += by;
	if (u->n)
		return;
	forget_port(s, &u->port);
	*u = n->ports[--n->n_ports];
}

static void take_share(struct kar_sched *s, uint32_t node, const struct sched_share *share, int32_t n)
{
	struct sched_resource *r = &s->resources[share->resource];
	int64_t before = sched_free(s, node, share->resource), after;

	s->taken[(size_t)node * s->stride + share->resource] +=
		(uint64_t)share->amount * (uint64_t)(int64_t)n;
	after = sched_free(s, node, share->resource);
	if (!s->nodes[node].known)
		return;
	r->spare += (after > 0 ? after : 0) - (before > 0 ? before : 0);
	if (r->extended && after > 0)
		s->nodes[node].idle |= (uint64_t)1 << share->resource;
	else if (r->extended)
		s->nodes[node].idle &= ~((uint64_t)1 << share->resource);
}

void sched_take(struct kar_sched *s, uint32_t node, uint32_t class, int32_t n)
{
	struct sched_class *c = &s->classes[class];
	bool busy = sched_is_busy(&s->nodes[node]);

	for (uint32_t i = 0; i < c->n_shares; i++)
		take_share(s, node, &c->shares[i], n);
	for (uint32_t i = 0; c->has_ports && i < c->needs->n_ports; i++)
		take_port(s, &s->nodes[node], &c->needs->ports[i], n);
	if (c->social)
		sched_rules_take(s, node, c, n);
	s->nodes[node].n_taken += n;
	c->n_taken += n;
	s->touched++;
	sched_whole_taken(s, node, busy);
	sched_recount(s, node, false);
	if (!s->marks)
		return;
	if (s->n_log == s->room_log) {
		s->room_log = s->room_log ? 2 * s->room_log : 64;
		s->log = kar_xrealloc(s->log, s->room_log, sizeof(*s->log));
	}
	s->log[s->n_log++] = (struct sched_change){ node, class, n };
}

void kar_sched_take(struct kar_sched *s, const char *node, kar_class c, int32_t n)
{
	uint32_t i = sched_find_node(s, node);

	if (!n)
		return;
	if (i == SCHED_NONE)
		i = new_node(s, node);
	sched_take(s, i, c, n);
	drop_unused(s, i);
	sched_class_drop_unused(s, c);
}

void kar_sched_take_own(struct kar_sched *s, const char *node, int32_t n)
{
	uint32_t i = sched_find_node(s, node);
	bool busy;

	assert(i != SCHED_NONE && !s->marks);
	busy = sched_is_busy(&s->nodes[i]);
	s->nodes[i].n_own += n;
	sched_whole_taken(s, i, busy);
}

size_t kar_sched_mark(struct kar_sched *s)
{
	s->marks++;
	return s->n_log;
}

/* What was forgotten only because of a mark (drop_unused()) is met again when it changes next. */
static void end_mark(struct kar_sched *s)
{
	assert(s->marks);
	s->marks--;
	if (s->marks)
		return;
	for (size_t i = 0; i < s->n_log; i++)
		sched_class_drop_unused(s, s->log[i].class);
	s->n_log = 0;
}

void kar_sched_undo(struct kar_sched *s, size_t mark)
{
	size_t marks = s->marks, n = s->n_log;

	assert(marks && mark <= n);
	s->marks = 0; /* undoing is not logged */
	while (n > mark) {
		const struct sched_change *c = &s->log[--n];

		sched_take(s, c->node, c->class, -c->n);
	}
	s->marks = marks;
	if (marks == 1) {
		end_mark(s);
		return;
	}
	s->n_log = mark;
	s->marks--;
}

void kar_sched_keep(struct kar_sched *s, size_t mark)
{
	assert(s->marks && mark <= s->n_log);
	end_mark(s);
}

size_t kar_sched_bytes(const struct kar_sched *s)
{
	size_t cells = (size_t)s->room_nodes * s->stride * (sizeof(*s->allocatable) + sizeof(*s->taken));
	size_t nodes = s->room_nodes * (sizeof(*s->nodes) + sizeof(*s->unused)) +
		s->node_by_name.n_slots * sizeof(struct kar_table_slot);
	size_t offers = 0;

	for (uint32_t i = 0; i < s->n_nodes; i++)
		offers += s->nodes[i].offer.n_labels * sizeof(struct kar_sched_label) +
			s->nodes[i].offer.n_taints * sizeof(struct kar_taint);
	return sizeof(*s) + cells + nodes + offers + kar_intern_bytes(s->strings) + sched_hot_bytes(s);
}

uint64_t kar_sched_touched(const struct kar_sched *s)
{
	return s->touched;
}
