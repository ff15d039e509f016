/* Equal needs are one class. */
#include "common/sched/impl.h"

#include <stdlib.h>

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
	if (!c->needs->room_only)
		add_share(s, c, sched_resource(s, "pods"), 1);
	for (uint32_t i = 0; i < c->needs->n_amounts; i++) {
		uint32_t r;

		if (c->needs->amounts[i].amount <= 0)
			continue;
		r = sched_resource_make(s, c->needs->amounts[i].resource, false);
		if (r != SCHED_NONE)
			add_share(s, c, r, c->needs->amounts[i].amount);
		else
			c->unknown = &c->needs->amounts[i];
	}
}

/* Of a class of which pods are somewhere the shares stay: what they took must be given back. */
void sched_classes_read(struct kar_sched *s)
{
	for (uint32_t i = 1; i < s->n_classes; i++) {
		struct sched_class *c = &s->classes[i];

		if (!c->known || !c->unknown || c->n_taken)
			continue;
		sched_cool(s, i);
		read_shares(s, c);
	}
}

static int compare_known(const struct sched_known *a, const struct sched_known *b)
{
	return kar_shape_compare(&kar_needs_shape, a->needs, b->needs);
}

RB_GENERATE_INTERNAL(sched_knowns, sched_known, link, compare_known, KAR_UNUSED static)

/* --- classes --------------------------------------------------------------------------------------- */

static uint32_t new_class(struct kar_sched *s)
{
	for (uint32_t i = 1; s->n_free_classes && i < s->n_classes; i++) {
		if (!s->classes[i].known) {
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
	struct sched_known key = { .needs = needs }, *known = RB_FIND(sched_knowns, &s->known, &key);
	struct sched_class *c;

	if (known) {
		s->classes[known->class].refs++;
		return known->class;
	}
	known = kar_xmalloc(sizeof(*known));
	*known = (struct sched_known){ .needs = kar_share_get(s->shared, &kar_needs_shape, needs),
		.class = new_class(s) };
	RB_INSERT(sched_knowns, &s->known, known);
	c = &s->classes[known->class];
	*c = (struct sched_class){ .needs = known->needs,
		.known = known,
		.refs = 1,
		.has_ports = known->needs->n_ports };
	c->shares = kar_xcalloc(c->needs->n_amounts + 1, sizeof(*c->shares));
	read_shares(s, c);
	sched_rules_read(s, c);
	return known->class;
}

void sched_class_free(struct kar_sched *s, uint32_t class)
{
	struct sched_class *c = &s->classes[class];

	if (!c->known)
		return;
	sched_cool(s, class);
	RB_REMOVE(sched_knowns, &s->known, c->known);
	sched_rules_forget(s, c);
	kar_share_put(s->shared, c->needs);
	free(c->known);
	free(c->shares);
	*c = (struct sched_class){ 0 };
	s->n_free_classes++;
}

void sched_class_drop_unused(struct kar_sched *s, uint32_t class)
{
	struct sched_class *c = &s->classes[class];

	if (c->known && !c->refs && !c->n_taken && !s->marks)
		sched_class_free(s, class);
}

const char *kar_sched_unverified(const struct kar_sched *s, kar_class c)
{
	const struct sched_class *class = &s->classes[c];

	for (uint32_t i = 0; !class->needs->unverified && i < class->n_shares; i++) {
		if (s->resources[class->shares[i].resource].doubt)
			return s->resources[class->shares[i].resource].doubt;
	}
	return class->needs->unverified;
}

void kar_sched_class_ref(struct kar_sched *s, kar_class c)
{
	assert(c && c < s->n_classes && s->classes[c].known);
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
	assert(c && c < s->n_classes && s->classes[c].known);
	return s->classes[c].needs;
}
