/*
 * Pods of nobody that the scheduler is about to bind (docs/design/podgroup.md, 2.3): where they will be, and whom they hold up. A list is
 * never changed, so that an older one can be restored (struct q_mark).
 */
#include "common/queue/nodes.h"

/* A pod that is freed room for by the scheduler waits for it as long as it takes. */
static kar_time end_of(const struct kar_queue_expected *e)
{
	return e->nominated ? KAR_NEVER : q_add(e->created, KAR_QUEUE_EXPECTED);
}

static bool is_about_to_be_bound(const struct q_pass *p, const struct kar_queue_expected *e)
{
	return e->created > p->in->now - KAR_QUEUE_BOUND_AT_ONCE;
}

/*
 * The minimum of a group goes before pods of lower priority. One whose pods we create bound would race with the scheduler for the same room,
 * which looks at what is new without delay. A claim was decided before: only what is bound ends it.
 */
bool q_goes_before(const struct q_pass *p, const struct q_ask *ask, const struct kar_queue_expected *e)
{
	const struct kar_queue_group *in = ask->group->in;

	if (ask->extra)
		return false;
	if (in->standing == KAR_QUEUE_RESERVING)
		return true;
	return e->priority < in->base && !(in->created_bound && is_about_to_be_bound(p, e));
}

/* --- laying them out ---------------------------------------------------------------------------------- */

static void add(const struct q_pass *p, struct q_expected_list *l, const struct kar_queue_expected *in,
	const char *node, int32_t n)
{
	struct q_expected *items = (struct q_expected *)(uintptr_t)l->items;

	items = kar_arena_grow(p->arena, items, l->n, sizeof(*items));
	items[l->n++] = (struct q_expected){ in, node, n };
	l->items = items;
}

/* As many of @n as the node has room for; they are taken. */
static int32_t fill(struct q_pass *p, kar_class class, const char *node, int32_t n)
{
	int32_t fit = 0;

	for (; fit < n && kar_sched_fits_on(p->in->snapshot->sched, class, node); fit++)
		kar_sched_take(p->in->snapshot->sched, node, class, 1);
	return fit;
}

static void lay(struct q_pass *p, struct q_expected_list *l, const struct kar_queue_expected *e)
{
	const struct kar_role role = { .class = e->class, .want = e->n };
	const struct kar_gang gang = { .roles = &role, .n_roles = 1 };
	struct kar_placement out;
	int32_t n = e->n;

	if (e->node) {
		if (e->nominated)
			kar_sched_take(p->in->snapshot->sched, e->node, e->class, n);
		else
			n = fill(p, e->class, e->node, n);
		if (n)
			add(p, l, e, e->node, n);
		return;
	}
	kar_sched_place(p->in->snapshot->sched, &gang, p->arena, &out);
	for (uint32_t i = 0; i < out.n_places; i++)
		add(p, l, e, out.places[i].node, out.places[i].n);
}

void q_lay_expected(struct q_pass *p)
{
	struct q_expected_list all = { 0 };
	struct q_overlap o = { 0 };

	if (p->in->snapshot->no_nodes || !p->in->snapshot->n_expected)
		return;
	if (p->plan.leaving) {
		q_find_overlap(p, &o);
		q_switch_view(p, &o, 1);
	}
	for (uint32_t i = 0; i < p->in->snapshot->n_expected; i++) {
		if (end_of(&p->in->snapshot->expected[i]) > p->in->now)
			lay(p, &all, &p->in->snapshot->expected[i]);
	}
	if (p->plan.leaving)
		q_switch_view(p, &o, -1);
	p->plan.expected = all;
}

/* --- who goes before them ----------------------------------------------------------------------------- */

bool q_goes_before_expected(const struct q_pass *p, const struct q_ask *ask)
{
	bool any = false;

	for (uint32_t i = 0; i < p->plan.expected.n && !any; i++)
		any = q_goes_before(p, ask, p->plan.expected.items[i].in);
	return any;
}

void q_lift_expected(struct q_pass *p, const struct q_ask *ask)
{
	for (uint32_t i = 0; i < p->plan.expected.n; i++) {
		const struct q_expected *e = &p->plan.expected.items[i];

		if (q_goes_before(p, ask, e->in))
			kar_sched_take(p->in->snapshot->sched, e->node, e->in->class, -e->n);
	}
}

void q_settle_expected(struct q_pass *p, const struct q_ask *ask)
{
	struct q_expected_list left = { 0 };

	for (uint32_t i = 0; i < p->plan.expected.n; i++) {
		const struct q_expected *e = &p->plan.expected.items[i];
		int32_t n = q_goes_before(p, ask, e->in) ? fill(p, e->in->class, e->node, e->n) : e->n;

		if (n)
			add(p, &left, e->in, e->node, n);
	}
	p->plan.expected = left;
}

void q_forget_expected(struct q_pass *p)
{
	for (uint32_t i = 0; i < p->plan.expected.n; i++) {
		const struct q_expected *e = &p->plan.expected.items[i];

		kar_sched_take(p->in->snapshot->sched, e->node, e->in->class, -e->n);
	}
	p->plan.expected = (struct q_expected_list){ 0 };
}
