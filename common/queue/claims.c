/*
 * Room that gangs wait for, against extras that no plan binds: kube-scheduler knows neither claims nor plans, and puts a new pod wherever
 * there is room.
 */
#include "common/queue/places.h"

#include <assert.h>
#include <string.h>

#include "common/base/str.h"
#include "common/sched/table.h"

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
	/* What extras without a node ask for: all of them, and per node those that are expected there. */
	int64_t all[Q_RESOURCES];
	struct kar_table numbers; /* node -> of .there */
	int64_t (*there)[Q_RESOURCES];
	uint32_t n_there;
};

static void add_expected(struct q_pass *p, struct stray *s, const char *node, const int64_t *each, int32_t n)
{
	uint32_t *number = kar_table_find(&s->numbers, node), i = number ? *number : s->n_there;

	if (!number) {
		s->there = kar_arena_grow(p->arena, s->there, i, sizeof(*s->there));
		memset(s->there[i], 0, sizeof(s->there[i]));
		kar_table_add(&s->numbers, node, s->n_there++);
	}
	assert(s->there); /* a node with a number is in it */
	for (uint32_t r = 0; r < p->in->n_resources; r++)
		s->there[i][r] = q_add(s->there[i][r], q_mul(each[r], n));
}

/* Extras without a node may come to be on any. */
static void sum_unbound(struct q_pass *p, struct stray *s)
{
	for (uint32_t i = 0; i < p->plan.n_live; i++) {
		const struct q_group *g = p->plan.live[i];
		int32_t at = 0;

		for (uint32_t k = 0; k < g->st.n_spots && q_extras(g) && !g->in->replaces; k++) {
			const struct q_spot *spot = &g->st.spots[k];
			int32_t n = (int32_t)kar_clamp((int64_t)at + spot->n - g->min, 0, spot->n);
			const int64_t *u = q_class_needs(p, g->in->runs[spot->run].class);

			at += spot->n;
			if (spot->bound || !n)
				continue;
			for (uint32_t r = 0; r < p->in->n_resources; r++)
				s->all[r] = q_add(s->all[r], q_mul(u[r], n));
			if (spot->node)
				add_expected(p, s, spot->node, u, n);
		}
	}
}

/* Those that are expected on the node have taken room there; the others may come. */
static bool note_tight(struct q_pass *p, void *context, const char *node)
{
	struct stray *s = context;
	const uint32_t *number = kar_table_find(&s->numbers, node);
	bool tight = false;

	for (uint32_t r = 0; r < p->in->n_resources && !tight; r++) {
		int64_t others = q_sub(s->all[r], number ? s->there[*number][r] : 0);

		tight = s->ask->needs[r] > 0 &&
			q_add(s->ask->needs[r], others) >
				kar_sched_node_free(p->in->snapshot->sched, node, p->in->names[r]);
	}
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
	sum_unbound(p, &s);
	any_place(p, note_tight, &s);
	kar_table_release(&s.numbers);
	kar_sched_undo(p->in->snapshot->sched, mark);
	return s.n_tight && fits_a_tight_node(p, &s);
}

bool q_awaits_room(struct q_pass *p)
{
	return any_place(p, NULL, NULL);
}
