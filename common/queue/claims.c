/* Room of claims against pods that no plan binds: kube-scheduler knows of no claim, and puts a new pod wherever there is room. */
#include "common/queue/nodes.h"

typedef bool place_visitor(struct q_pass *p, void *context, const char *node);

/* Calls @visit for each place that the claims hold, until it returns true. NULL: is there one? */
static bool any_place(struct q_pass *p, place_visitor *visit, void *context)
{
	for (uint32_t i = 0; i < p->n_live; i++) {
		const struct q_group *g = p->live[i];

		for (uint32_t k = 0; k < g->st.n_spots && g->st.standing == KAR_QUEUE_RESERVING; k++) {
			if (g->st.spots[k].node && (!visit || visit(p, context, g->st.spots[k].node)))
				return true;
		}
	}
	return false;
}

struct stray {
	kar_class class;
	int64_t *sum;       /* what it asks for, and all other extras without a node */
	const char **tight; /* nodes without so much room beside the claims */
	uint32_t n_tight;
};

static bool note_tight(struct q_pass *p, void *context, const char *node)
{
	struct stray *s = context;
	const int64_t *u = q_class_needs(p, s->class);
	bool tight = false;

	for (uint32_t r = 0; r < p->n_resources && !tight; r++)
		tight = u[r] > 0 && s->sum[r] > kar_sched_node_free(p->s->sched, node, p->names[r]);
	if (!tight)
		return false;
	s->tight = kar_arena_grow(p->a, s->tight, s->n_tight, sizeof(*s->tight));
	s->tight[s->n_tight++] = node;
	return false;
}

/* Extras that have no node yet: all of them may come to be on one. */
static void add_unbound(struct q_pass *p, int64_t *sum)
{
	for (uint32_t i = 0; i < p->n_live; i++) {
		const struct q_group *g = p->live[i];
		int32_t at = 0;

		for (uint32_t k = 0; k < g->st.n_spots && q_extras(g) && !g->in->replaces; k++) {
			const struct q_spot *s = &g->st.spots[k];
			int32_t n = (int32_t)kar_clamp((int64_t)at + s->n - g->min, 0, s->n);
			const int64_t *u = q_class_needs(p, g->in->runs[s->run].class);

			at += s->n;
			for (uint32_t r = 0; r < p->n_resources && n && !s->bound; r++)
				sum[r] = q_add(sum[r], q_mul(u[r], n));
		}
	}
}

/* Nodes as kube-scheduler sees them: only bound pods, those that stop included, use room. */
static bool fits_a_tight_node(struct q_pass *p, const struct stray *s)
{
	const struct q_overlap none = { 0 };
	size_t mark = kar_sched_mark(p->s->sched);
	bool fits = false;

	for (uint32_t i = 0; i < p->n_live; i++) {
		const struct q_group *g = p->live[i];

		for (uint32_t k = 0; k < g->st.n_spots; k++) {
			if (!g->st.spots[k].bound)
				q_take_spot(p, g, &g->st.spots[k], -g->st.spots[k].n);
		}
	}
	q_switch_view(p, &none, 1);
	for (uint32_t i = 0; i < s->n_tight && !fits; i++)
		fits = kar_sched_fits_on(p->s->sched, s->class, s->tight[i]);
	kar_sched_undo(p->s->sched, mark);
	return fits;
}

bool q_may_stray(struct q_pass *p, const struct q_ask *ask)
{
	struct stray s = { .class = ask->g->in->runs[q_run_of(ask->g, ask->from)].class };
	struct q_overlap o = { 0 };
	size_t mark;

	if (!ask->g->in->elastic || ask->g->in->replaces || p->s->no_nodes || !any_place(p, NULL, NULL))
		return false;
	s.sum = q_vector(p);
	for (uint32_t r = 0; r < p->n_resources; r++)
		s.sum[r] = ask->v[r];
	add_unbound(p, s.sum);
	mark = kar_sched_mark(p->s->sched);
	q_find_overlap(p, &o);
	q_switch_view(p, &o, 1);
	any_place(p, note_tight, &s);
	kar_sched_undo(p->s->sched, mark);
	return s.n_tight && fits_a_tight_node(p, &s);
}
