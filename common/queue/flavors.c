/*
 * Flavors: what queues have of one kind of nodes.
 *
 * A resource of a flavor that a queue has a right or a limit to is one more resource of all vectors, behind the plain ones. Needs of a pod in a
 * flavor are a class of their own, which asks for the flavor by a label and has the tolerations of it: what is summed up, compared and placed
 * follows from that. Where no queue names a flavor nothing of this is there.
 */
#include "common/queue/impl.h"

#include <string.h>

#include "common/base/str.h"

/* === resources and rights ======================================================================== */

static bool names(const struct q_pass *p, const struct kar_queue_amounts *list, uint32_t plain)
{
	bool any = false;

	for (uint32_t i = 0; i < list->n && !any; i++)
		any = strcmp(list->items[i].resource, p->in->names[plain]) == 0;
	return any;
}

/* A queue has a right to it, or a limit. */
static bool is_named(const struct q_pass *p, uint32_t flavor, uint32_t plain)
{
	for (uint32_t i = 0; i < p->in->snapshot->n_queues; i++) {
		const struct kar_queue_in *q = &p->in->snapshot->queues[i];

		for (uint32_t k = 0; k < q->n_flavors; k++) {
			if (q->flavors[k].flavor == flavor &&
				(names(p, &q->flavors[k].deserved, plain) ||
					names(p, &q->flavors[k].capability, plain)))
				return true;
		}
	}
	return false;
}

static void add_amounts(const struct q_pass *p, uint32_t flavor, const struct kar_queue_amounts *list,
	int64_t *to)
{
	for (uint32_t i = 0; i < list->n; i++) {
		uint32_t plain = q_resource(p, list->items[i].resource);
		uint32_t r = plain < Q_RESOURCES ? p->in->by_flavor[flavor][plain] : Q_RESOURCES;

		if (r < Q_RESOURCES)
			to[r] = q_add(to[r], list->items[i].amount);
	}
}

void q_number_flavors(struct q_input *in, struct q_pass *p)
{
	uint32_t n = p->in->snapshot->n_flavors;

	in->n_plain = in->n_resources;
	if (!n)
		return;
	in->n_flavors = n;
	in->by_flavor = kar_arena_alloc(p->arena, n + 1, sizeof(*in->by_flavor));
	memset(in->by_flavor, Q_RESOURCES, (n + 1) * sizeof(*in->by_flavor));
	for (uint32_t f = 1; f <= n; f++) {
		for (uint32_t plain = 0; plain < in->n_plain; plain++) {
			uint32_t r = in->n_resources;

			if (r == Q_RESOURCES || !is_named(p, f - 1, plain))
				continue;
			in->names[r] = in->names[plain];
			in->plain_of[r] = (uint8_t)plain;
			in->flavor_of[r] = (uint8_t)f;
			in->by_flavor[f][plain] = (uint8_t)r;
			in->load[r] = Q_NO_LIMIT;
			in->n_resources++;
		}
		add_amounts(p, f, &p->in->snapshot->flavors[f - 1].alloc, in->alloc);
		add_amounts(p, f, &p->in->snapshot->flavors[f - 1].taken, in->foreign);
	}
}

void q_count_flavors(struct q_input *in, const struct q_pass *p)
{
	for (uint32_t i = 0; i < in->snapshot->n_groups && in->n_flavors; i++) {
		const struct q_group *g = &in->groups[i];

		for (uint32_t r = in->n_plain; r < in->n_resources && g->pods; r++)
			in->foreign[r] = q_sub(in->foreign[r], g->pods[r] - (g->away ? g->away[r] : 0));
	}
	for (uint32_t r = in->n_plain; r < in->n_resources; r++)
		in->foreign[r] = q_max(0, p->in->foreign[r]);
}

void q_read_flavor_rights(const struct q_pass *p, struct q_queue *q)
{
	for (uint32_t i = 0; i < q->in->n_flavors; i++) {
		const struct kar_queue_flavor_right *f = &q->in->flavors[i];

		for (uint32_t k = 0; k < f->deserved.n; k++) {
			uint32_t plain = q_resource(p, f->deserved.items[k].resource), r = Q_RESOURCES;

			if (plain < Q_RESOURCES && plain != p->in->pods)
				r = p->in->by_flavor[f->flavor + 1][plain];
			if (r < Q_RESOURCES)
				q->right[r] = f->deserved.items[k].amount;
		}
		for (uint32_t k = 0; k < f->capability.n; k++) {
			uint32_t plain = q_resource(p, f->capability.items[k].resource), r = Q_RESOURCES;

			if (plain < Q_RESOURCES)
				r = p->in->by_flavor[f->flavor + 1][plain];
			if (r < Q_RESOURCES)
				q->capability[r] = f->capability.items[k].amount;
		}
		q->names_any |= f->deserved.n > 0;
	}
}

/* === needs and accounts ========================================================================== */

static uint32_t named(const struct q_pass *p, const char *name)
{
	uint32_t f = p->in->n_flavors;

	while (f > 0 && !kar_streq(p->in->snapshot->flavors[f - 1].name, name))
		f--;
	return f;
}

uint32_t q_flavor_of_node(const struct q_pass *p, const char *node)
{
	if (!p->in->n_flavors || !node || p->in->snapshot->no_nodes)
		return 0;
	return named(p, kar_sched_label_of(p->in->snapshot->sched, node, KAR_QUEUE_FLAVOR_LABEL));
}

void q_add_flavored(const struct q_pass *p, const struct kar_pod_needs *needs, int64_t *v)
{
	const struct kar_sched_label *last =
		needs->n_selector ? &needs->selector[needs->n_selector - 1] : NULL;
	uint32_t f = p->in->n_flavors && last && kar_streq(last->key, KAR_QUEUE_FLAVOR_LABEL)
		? named(p, last->value)
		: 0;

	for (uint32_t r = p->in->n_plain; r < p->in->n_resources && f; r++) {
		if (p->in->flavor_of[r] == f)
			v[r] = v[p->in->plain_of[r]];
	}
}

static kar_class make_class(const struct q_pass *p, kar_class c, uint32_t flavor, bool tolerates)
{
	const struct kar_queue_flavor *f = &p->in->snapshot->flavors[flavor - 1];
	struct kar_pod_needs needs = *kar_sched_needs(p->in->snapshot->sched, c);
	struct kar_sched_label *selector = kar_arena_alloc(p->arena, needs.n_selector + 1, sizeof(*selector));
	uint32_t more = tolerates ? f->n_tolerations : 0;
	struct kar_toleration *all = kar_arena_alloc(p->arena, needs.n_tolerations + more + 1, sizeof(*all));

	if (needs.n_selector)
		memcpy(selector, needs.selector, needs.n_selector * sizeof(*selector));
	if (needs.n_tolerations)
		memcpy(all, needs.tolerations, needs.n_tolerations * sizeof(*all));
	if (more)
		memcpy(&all[needs.n_tolerations], f->tolerations, more * sizeof(*all));
	selector[needs.n_selector++] = (struct kar_sched_label){ KAR_QUEUE_FLAVOR_LABEL, f->name };
	needs.selector = selector;
	needs.tolerations = all;
	needs.n_tolerations += more;
	p->memo->made = kar_arena_grow(p->arena, p->memo->made, p->memo->n_made, sizeof(*p->memo->made));
	return p->memo->made[p->memo->n_made++] = kar_sched_class(p->in->snapshot->sched, &needs);
}

/* @tolerates: its pods get the tolerations of the flavor. */
static kar_class class_in(const struct q_pass *p, kar_class c, uint32_t flavor, bool tolerates)
{
	kar_class *in;

	if (!flavor)
		return c;
	if (c >= p->memo->n_in_flavors) {
		uint32_t n = 2 * c + 64;
		kar_class **all = kar_arena_alloc(p->arena, n, sizeof(*all));

		if (p->memo->n_in_flavors)
			memcpy(all, p->memo->in_flavors, p->memo->n_in_flavors * sizeof(*all));
		p->memo->in_flavors = all;
		p->memo->n_in_flavors = n;
	}
	in = p->memo->in_flavors[c];
	if (!in)
		in = p->memo->in_flavors[c] =
			kar_arena_alloc(p->arena, 2 * ((size_t)p->in->n_flavors + 1), sizeof(*in));
	in += 2 * (size_t)flavor + tolerates;
	if (!*in) {
		*in = make_class(p, c, flavor, tolerates);
		q_class_needs(p, *in);
	}
	return *in;
}

kar_class q_class_in(const struct q_pass *p, kar_class c, uint32_t flavor)
{
	return class_in(p, c, flavor, false);
}

kar_class q_class_of(const struct q_pass *p, const struct q_group *g, uint32_t run)
{
	return class_in(p, g->in->runs[run].class, g->st.flavor, !g->in->own_tolerations);
}

void q_add_class_on(const struct q_pass *p, kar_class c, const char *node, int64_t n, int64_t *v)
{
	q_add_class(p, q_class_in(p, c, q_flavor_of_node(p, node)), n, v);
}

/* @sign times what @n pods of the class are charged with in the flavor. */
static void charge(const struct q_pass *p, kar_class c, uint32_t flavor, int64_t n, int64_t *v)
{
	const int64_t *needs = q_class_needs(p, c);

	for (uint32_t r = p->in->n_plain; r < p->in->n_resources && flavor; r++) {
		if (p->in->flavor_of[r] == flavor)
			v[r] = q_add(v[r], q_mul(needs[p->in->plain_of[r]], n));
	}
}

void q_charge_nodes(const struct q_pass *p, const struct q_group *g, int32_t n, int64_t *v)
{
	for (uint32_t i = 0; i < g->in->n_runs && p->in->n_flavors && n > 0; n -= g->in->runs[i++].n) {
		const struct kar_queue_run *run = &g->in->runs[i];
		int32_t left = n < run->n ? n : run->n;

		for (uint32_t k = 0; k < run->n_seats && left > 0; left -= run->seats[k++].n) {
			const struct kar_queue_seat *s = &run->seats[k];
			int32_t here = s->n < left ? s->n : left;
			uint32_t flavor = q_flavor_of_node(p, s->node);

			if (!s->node || flavor == g->st.flavor)
				continue;
			charge(p, run->class, g->st.flavor, -here, v);
			charge(p, run->class, flavor, here, v);
		}
	}
}

void q_add_hold(const struct q_pass *p, const struct q_group *g, int64_t *v)
{
	q_add_list(p, &g->in->hold, v);
	if (g->st.flavor)
		add_amounts(p, g->st.flavor, &g->in->hold, v);
}

uint64_t q_with_plain(const struct q_pass *p, uint64_t resources)
{
	for (uint32_t r = p->in->n_plain; r < p->in->n_resources; r++)
		resources |= (resources >> r & 1) << p->in->plain_of[r];
	return resources;
}

void q_set_kind(struct q_pass *p, struct q_group *g)
{
	struct q_kind *old = g->kind, *k;

	if (!p->in->n_flavors || old->flavor == g->st.flavor)
		return;
	if (!old->in_flavors) {
		old->in_flavors = kar_arena_alloc(p->arena, p->in->n_flavors + 1, sizeof(*old->in_flavors));
		old->in_flavors[old->flavor] = old;
	}
	k = old->in_flavors[g->st.flavor];
	if (!k) {
		k = q_kind_of(p, g);
		old->in_flavors[g->st.flavor] = k;
		if (!k->in_flavors)
			k->in_flavors = old->in_flavors;
	}
	g->kind = k;
}
