/* Equal needs are one class: they are found by a text that has everything in it. */
#include "common/sched/impl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- the text -------------------------------------------------------------------------------------- */

/* With its length in front, so that two different lists of texts never give the same text. */
static void put_text(struct kar_buf *b, const char *s)
{
	kar_buf_printf(b, "%zu:%s", s ? strlen(s) : 0, s ? s : "");
}

static void put_constraints(struct kar_buf *b, const struct kar_pod_needs *n)
{
	for (uint32_t i = 0; i < n->n_selector; i++) {
		kar_buf_puts(b, "s");
		put_text(b, n->selector[i].key);
		put_text(b, n->selector[i].value);
	}
	kar_buf_puts(b, n->has_terms ? "T" : "");
	for (uint32_t i = 0; i < n->n_terms; i++) {
		kar_buf_puts(b, "t");
		for (uint32_t k = 0; k < n->terms[i].n; k++) {
			const struct kar_requirement *r = &n->terms[i].requirements[k];

			kar_buf_printf(b, "r%d%d", (int)r->op, r->field);
			put_text(b, r->key);
			for (uint32_t v = 0; v < r->n_values; v++)
				put_text(b, r->values[v]);
		}
	}
	for (uint32_t i = 0; i < n->n_tolerations; i++) {
		const struct kar_toleration *t = &n->tolerations[i];

		kar_buf_printf(b, "o%d%d%d%d", (int)t->effect, t->exists, t->unknown, !t->key);
		put_text(b, t->key);
		put_text(b, t->value);
	}
}

static char *code_of(const struct kar_pod_needs *n)
{
	struct kar_buf b = { 0 };

	kar_buf_puts(&b, n->room_only ? "R" : "P");
	for (uint32_t i = 0; i < n->n_amounts; i++) {
		put_text(&b, n->amounts[i].resource);
		kar_buf_printf(&b, "=%" PRId64, n->amounts[i].amount);
	}
	for (uint32_t i = 0; i < n->n_ports; i++) {
		kar_buf_printf(&b, "p%" PRId32, n->ports[i].port);
		put_text(&b, n->ports[i].ip);
		put_text(&b, n->ports[i].protocol);
	}
	put_constraints(&b, n);
	kar_buf_puts(&b, n->node ? "n" : "");
	put_text(&b, n->node);
	put_text(&b, n->unverified);
	return kar_buf_detach(&b);
}

/* --- the copy -------------------------------------------------------------------------------------- */

static const char *copy_text(struct kar_arena *a, const char *s)
{
	return s ? kar_arena_strndup(a, s, strlen(s)) : NULL;
}

static void *copy_array(struct kar_arena *a, const void *items, uint32_t n, size_t size)
{
	void *copy = n ? kar_arena_alloc(a, n, size) : NULL;

	if (n)
		memcpy(copy, items, n * size);
	return copy;
}

static const struct kar_requirement *copy_requirements(struct kar_arena *a, const struct kar_node_term *t)
{
	struct kar_requirement *copy = copy_array(a, t->requirements, t->n, sizeof(*copy));

	for (uint32_t i = 0; i < t->n; i++) {
		const char **values = copy_array(a, copy[i].values, copy[i].n_values, sizeof(*values));

		for (uint32_t v = 0; v < copy[i].n_values; v++)
			values[v] = copy_text(a, values[v]);
		copy[i].key = copy_text(a, copy[i].key);
		copy[i].values = values;
	}
	return copy;
}

static void copy_constraints(struct kar_arena *a, struct kar_pod_needs *n)
{
	struct kar_sched_label *selector = copy_array(a, n->selector, n->n_selector, sizeof(*selector));
	struct kar_node_term *terms = copy_array(a, n->terms, n->n_terms, sizeof(*terms));
	struct kar_toleration *tolerations =
		copy_array(a, n->tolerations, n->n_tolerations, sizeof(*tolerations));

	for (uint32_t i = 0; i < n->n_selector; i++) {
		selector[i].key = copy_text(a, selector[i].key);
		selector[i].value = copy_text(a, selector[i].value);
	}
	for (uint32_t i = 0; i < n->n_terms; i++)
		terms[i].requirements = copy_requirements(a, &terms[i]);
	for (uint32_t i = 0; i < n->n_tolerations; i++) {
		tolerations[i].key = copy_text(a, tolerations[i].key);
		tolerations[i].value = copy_text(a, tolerations[i].value);
	}
	n->selector = selector;
	n->terms = terms;
	n->tolerations = tolerations;
}

/* Ports stay on nodes after the class, so their texts are interned. */
static const struct kar_host_port *copy_ports(struct kar_sched *s, struct kar_arena *a,
	const struct kar_pod_needs *n)
{
	struct kar_host_port *ports = copy_array(a, n->ports, n->n_ports, sizeof(*ports));

	for (uint32_t i = 0; i < n->n_ports; i++) {
		ports[i].ip =
			kar_intern_get(s->strings, ports[i].ip && ports[i].ip[0] ? ports[i].ip : "0.0.0.0");
		ports[i].protocol = kar_intern_get(s->strings, ports[i].protocol);
	}
	return ports;
}

static struct kar_pod_needs copy_needs(struct kar_sched *s, struct kar_arena *a,
	const struct kar_pod_needs *from)
{
	struct kar_pod_needs n = *from;
	struct kar_sched_amount *amounts = copy_array(a, n.amounts, n.n_amounts, sizeof(*amounts));

	for (uint32_t i = 0; i < n.n_amounts; i++)
		amounts[i].resource = copy_text(a, amounts[i].resource);
	n.amounts = amounts;
	n.ports = copy_ports(s, a, &n);
	n.node = copy_text(a, n.node);
	n.unverified = copy_text(a, n.unverified);
	copy_constraints(a, &n);
	return n;
}

static void add_share(struct kar_sched *s, struct sched_class *c, uint32_t r, int64_t amount)
{
	c->shares[c->n_shares++] = (struct sched_share){ r, kar_clamp(amount, 0, KAR_SCHED_MOST) };
	if (s->resources[r].extended)
		c->wants |= (uint64_t)1 << r;
}

static void read_shares(struct kar_sched *s, struct sched_class *c)
{
	c->n_shares = 0;
	c->unknown = NULL;
	if (!c->needs.room_only)
		add_share(s, c, sched_resource(s, "pods"), 1);
	for (uint32_t i = 0; i < c->needs.n_amounts; i++) {
		uint32_t r;

		if (c->needs.amounts[i].amount <= 0)
			continue;
		r = sched_resource_make(s, c->needs.amounts[i].resource, false);
		if (r != SCHED_NONE)
			add_share(s, c, r, c->needs.amounts[i].amount);
		else
			c->unknown = &c->needs.amounts[i];
	}
}

/* Of a class of which pods are somewhere the shares stay: what they took must be given back. */
void sched_classes_read(struct kar_sched *s)
{
	for (uint32_t i = 1; i < s->n_classes; i++) {
		struct sched_class *c = &s->classes[i];

		if (!c->code || !c->unknown || c->n_taken)
			continue;
		sched_cool(s, i);
		read_shares(s, c);
	}
}

/* --- classes --------------------------------------------------------------------------------------- */

static uint32_t new_class(struct kar_sched *s)
{
	for (uint32_t i = 1; s->n_free_classes && i < s->n_classes; i++) {
		if (!s->classes[i].code) {
			s->n_free_classes--;
			return i;
		}
	}
	if (s->n_classes >= s->room_classes) {
		s->room_classes = s->room_classes ? 2 * s->room_classes : 64;
		s->classes = kar_xrealloc(s->classes, s->room_classes, sizeof(*s->classes));
		s->classes[0] = (struct sched_class){ 0 };
	}
	return s->n_classes++;
}

kar_class kar_sched_class(struct kar_sched *s, const struct kar_pod_needs *needs)
{
	char *code = code_of(needs);
	const uint32_t *known = kar_table_find(&s->class_by_code, code);
	struct sched_class *c;
	uint32_t i;

	if (known) {
		free(code);
		s->classes[*known].refs++;
		return *known;
	}
	i = new_class(s);
	c = &s->classes[i];
	*c = (struct sched_class){ .code = code, .refs = 1 };
	c->needs = copy_needs(s, &c->memory, needs);
	c->shares = kar_arena_alloc(&c->memory, c->needs.n_amounts + 1, sizeof(*c->shares));
	read_shares(s, c);
	kar_table_add(&s->class_by_code, code, i);
	return i;
}

void sched_class_free(struct kar_sched *s, uint32_t class)
{
	struct sched_class *c = &s->classes[class];

	if (!c->code)
		return;
	sched_cool(s, class);
	for (uint32_t i = 0; i < c->needs.n_ports; i++) {
		kar_intern_put(s->strings, c->needs.ports[i].ip);
		kar_intern_put(s->strings, c->needs.ports[i].protocol);
	}
	kar_table_remove(&s->class_by_code, c->code);
	free(c->code);
	kar_arena_release(&c->memory);
	*c = (struct sched_class){ 0 };
	s->n_free_classes++;
}

void sched_class_drop_unused(struct kar_sched *s, uint32_t class)
{
	struct sched_class *c = &s->classes[class];

	if (c->code && !c->refs && !c->n_taken && !s->marks)
		sched_class_free(s, class);
}

void kar_sched_class_ref(struct kar_sched *s, kar_class c)
{
	assert(c && c < s->n_classes && s->classes[c].code);
	s->classes[c].refs++;
}

void kar_sched_class_put(struct kar_sched *s, kar_class c)
{
	assert(c && c < s->n_classes && s->classes[c].refs);
	s->classes[c].refs--;
	sched_class_drop_unused(s, c);
}

const struct kar_pod_needs *kar_sched_needs(const struct kar_sched *s, kar_class c)
{
	assert(c && c < s->n_classes && s->classes[c].code);
	return &s->classes[c].needs;
}
