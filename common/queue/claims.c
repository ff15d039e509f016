/*
 * Room that gangs wait for, against extras that no plan binds: kube-scheduler knows neither claims nor plans, and puts a new pod wherever
 * there is room.
 */
#include "common/queue/places.h"

#include "common/base/str.h"

typedef bool place_visitor(struct q_pass *p, void *context, const char *node);

/* Its minimum is to be bound soon; if it is not, it is rolled back. */
static bool is_starting(const struct q_pass *p, const struct q_group *g)
{
	bool old = g->in->standing == KAR_QUEUE_ADMITTED;

	if (!q_is_admitted(g))
		return g->st.standing == KAR_QUEUE_RESERVING;
	return (!old || g->in->phase != KAR_QUEUE_RUNS) &&
		p->in->now < q_add(old ? g->in->admitted_at : p->in->now, g->in->schedule_timeout);
}

/* Calls @visit for each node where a minimum is to be bound, until it returns true. NULL: is there one? */
static bool any_place(struct q_pass *p, place_visitor *visit, void *context)
{
	for (uint32_t i = 0; i < p->plan.n_live; i++) {
		const struct q_group *g = p->plan.live[i];
		int32_t at = 0;

		for (uint32_t k = 0; k < g->st.n_spots && at < g->min && is_starting(p, g); k++) {
			const struct q_spot *s = &g->st.spots[k];

			at += s->n;
			if (s->node && !s->bound && (!visit || visit(p, context, s->node)))
				return true;
		}
	}
	return false;
}

struct stray {
	const struct q_ask *ask;
	kar_class class;
	const char **tight; /* nodes without so much room beside those minima */
	uint32_t n_tight;
};

/* Extras without a node, but those that are expected on @node and have taken room there: all of them may come to be on it. */
static void add_unbound(const struct q_pass *p, const char *node, int64_t *sum)
{
	for (uint32_t i = 0; i < p->plan.n_live; i++) {
		const struct q_group *g = p->plan.live[i];
		int32_t at = 0;

		for (uint32_t k = 0; k < g->st.n_spots && q_extras(g) && !g->in->replaces; k++) {
			const struct q_spot *s = &g->st.spots[k];
			int32_t n = (int32_t)kar_clamp((int64_t)at + s->n - g->min, 0, s->n);
			const int64_t *u = q_class_needs(p, g->in->runs[s->run].class);

			at += s->n;
			if (s->bound || kar_streq(s->node, node))
				continue;
			for (uint32_t r = 0; r < p->in->n_resources; r++)
				sum[r] = q_add(sum[r], q_mul(u[r], n));
		}
	}
}

static bool note_tight(struct q_pass *p, void *context, const char *node)
{
	struct stray *s = context;
	int64_t sum[Q_RESOURCES] = { 0 };
	bool tight = false;

	add_unbound(p, node, sum);
	for (uint32_t r = 0; r < p->in->n_resources && !tight; r++)
		tight = s->ask->needs[r] > 0 &&
			q_add(s->ask->needs[r], sum[r]) >
				kar_sched_node_free(p->in->snapshot->sched, node, p->in->names[r]);
	if (!tight)
		return false;
	s->tight = kar_arena_grow(p->arena, s->tight, s->n_tight, sizeof(*s->tight));
	s->tight[s->n_tight++] = node;
	return false;
}

/* Nodes as kube-scheduler sees them: only bound pods, those that stop included, use room. */
static bool fits_a_tight_node(struct q_pass *p, const struct stray *s)
{
	const struct q_overlap none = { 0 };
	size_t mark = kar_sched_mark(p->in->snapshot->sched);
	bool fits = false;

	for (uint32_t i = 0; i < p->plan.n_live; i++) {
		const struct q_group *g = p->plan.live[i];

		for (uint32_t k = 0; k < g->st.n_spots; k++) {
			if (!g->st.spots[k].bound)
				q_take_spot(p, g, &g->st.spots[k], -g->st.spots[k].n);
		}
	}
	q_switch_view(p, &none, 1);
	for (uint32_t i = 0; i < s->n_tight && !fits; i++)
		fits = kar_sched_fits_on(p->in->snapshot->sched, s->class, s->tight[i]);
	kar_sched_undo(p->in->snapshot->sched, mark);
	return fits;
}

bool q_may_stray(struct q_pass *p, const struct q_ask *ask)
{
	struct stray s = { .ask = ask, .class = ask->group->in->runs[q_run_of(ask->group, ask->from)].class };
	struct q_overlap o = { 0 };
	size_t mark;

	if (!ask->group->in->elastic || ask->group->in->replaces || p->in->snapshot->no_nodes ||
		!any_place(p, NULL, NULL))
		return false;
	mark = kar_sched_mark(p->in->snapshot->sched);
	q_find_overlap(p, &o);
	q_switch_view(p, &o, 1);
	any_place(p, note_tight, &s);
	kar_sched_undo(p->in->snapshot->sched, mark);
	return s.n_tight && fits_a_tight_node(p, &s);
}

bool q_awaits_room(struct q_pass *p)
{
	return any_place(p, NULL, NULL);
}
