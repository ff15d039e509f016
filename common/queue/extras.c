/* EXTRAS: pods beyond the minima, to whom is due the most; and when a rise is carried out. */
#include "common/queue/impl.h"

#include <stdlib.h>
#include <string.h>

/* --- one more --------------------------------------------------------------------------------------- */

/* Extras of one class fit or fail together, whosesoever they are; but some leave a head its room. */
static bool place(struct q_pass *p, const struct q_ask *ask, enum q_view view, struct q_state *st)
{
	kar_class class = ask->group->in->runs[q_run_of(ask->group, ask->from)].class;
	uint32_t *failed = view == Q_FUT && !ask->group->in->no_node_check ? &p->memo->failed[class] : NULL;
	bool fits;

	if (failed && *failed == p->round.change)
		return false;
	fits = q_place(p, ask, view, st);
	if (failed && !fits && !q_binds(p, p->in->root->reserved, ask))
		*failed = p->round.change;
	return fits;
}

bool q_raise_by_one(struct q_pass *p, struct q_group *g, enum q_view view)
{
	int64_t v[Q_RESOURCES] = { 0 }, rows[Q_ROWS] = { 0 };
	struct q_ask ask = { .group = g,
		.from = g->st.n_kept,
		.to = g->st.n_kept + 1,
		.needs = v,
		.rows = rows,
		.extra = true };
	struct q_state st = g->st;
	struct q_short s;
	int bound;

	q_add_pods(p, g, ask.from, ask.to, v, rows);
	if ((g->in->elastic && q_exceeds_load(p, v)) || !q_rows_fit(p, &ask, view, &s))
		return false;
	bound = q_keep_bound(p, g, g->st.n_kept, &st);
	if (bound < 0 && view == Q_NOW && q_may_stray(p, &ask))
		return false;
	if (!bound || (bound < 0 && !place(p, &ask, view, &st)))
		return false;
	st.n_kept++;
	q_set(p, g, &st);
	return true;
}

/* Gives one pod to the group that is first; NULL: nobody can have one. */
static struct q_group *give_one(struct q_pass *p)
{
	struct q_group *g;

	while ((g = p->in->root->candidate)) {
		bool given = q_raise_by_one(p, g, Q_FUT);

		g->full = !given;
		q_growth_note(p, g);
		if (given)
			return g;
	}
	return NULL;
}

bool q_extras_step(struct q_pass *p)
{
	struct q_group *g;
	bool changed = false;

	q_growth_begin(p, true);
	while ((g = give_one(p))) {
		g->raised = g->raised ? g->raised : ++p->plan.n_raised;
		changed = true;
	}
	return changed;
}

/* --- when a rise is carried out ---------------------------------------------------------------------- */

static int by_time_raised(const void *a, const void *b)
{
	const struct q_group *const *x = a, *const *y = b;

	return ((*x)->raised > (*y)->raised) - ((*x)->raised < (*y)->raised);
}

/* Something that stops takes long, or longer than it was to take. */
static bool something_lingers(const struct q_pass *p)
{
	for (uint32_t i = 0; i < p->plan.n_gone; i++) {
		const struct kar_queue_group *in = p->plan.gone[i]->in;

		for (uint32_t k = 0; k < in->n_leaving; k++) {
			kar_time end = in->leaving[k].deletion;

			if (end > p->in->now + 60 * KAR_SECOND || end < p->in->now - 30 * KAR_SECOND)
				return true;
		}
	}
	return false;
}

/* All of it if it fits now, or (@partly) as much as does. */
static bool raise_now(struct q_pass *p, struct q_group *g, int32_t d, bool partly)
{
	struct q_mark mark = q_mark(p);
	bool whole;

	while (g->st.n_kept < d && q_raise_by_one(p, g, Q_NOW))
		continue;
	whole = g->st.n_kept >= d;
	if (whole || partly)
		q_keep_changes(p, mark);
	else
		q_undo(p, mark);
	return whole;
}

bool q_raise(struct q_pass *p)
{
	struct q_group **all = kar_arena_alloc(p->arena, p->plan.n_raised + 1, sizeof(struct q_group *));
	int32_t *d = kar_arena_alloc(p->arena, p->plan.n_raised + 1, sizeof(*d));
	uint32_t n = 0;
	bool withdrawn = false, lingers, may_wait = p->plan.n_raised && (p->plan.leaving || q_awaits_room(p));

	for (uint32_t i = 0; i < p->plan.n_live && may_wait; i++) {
		struct q_group *g = p->plan.live[i];

		if (g->raised && q_is_admitted(g) && g->in->standing == KAR_QUEUE_ADMITTED &&
			g->st.n_kept > g->desired && g->desired >= g->min)
			all[n++] = g;
	}
	qsort(all, n, sizeof(struct q_group *), by_time_raised);
	for (uint32_t i = 0; i < n; i++) {
		struct q_state st = all[i]->st;

		d[i] = st.n_kept;
		st.n_kept = all[i]->desired;
		q_release(p, all[i], &st, st.n_kept);
		q_set(p, all[i], &st);
	}
	lingers = n && something_lingers(p);
	for (uint32_t i = 0; i < n; i++) {
		if (raise_now(p, all[i], d[i], lingers))
			continue;
		withdrawn = true;
		if (all[i]->moved >
			0) /* what it has from EXTRAS does not wait for what others are to give up */
			raise_now(p, all[i], d[i] - all[i]->moved, lingers);
	}
	return withdrawn;
}

/* --- members of others ------------------------------------------------------------------------------- */

/* Members beyond the minimum of groups that the pass does not scale get places in what is left, one per group and round. */
void q_grow_members(struct q_pass *p)
{
	bool again = true;

	for (uint32_t i = 0; i < p->in->n_line; i++)
		p->in->line[i]->full = p->in->line[i]->in->elastic || !p->in->line[i]->in->replaces;
	while (again) {
		again = false;
		for (uint32_t i = 0; i < p->in->n_line; i++) {
			struct q_group *g = p->in->line[i];
			bool grows =
				!g->full && q_is_admitted(g) && !g->st.provisions && g->st.n_kept < g->left;

			g->full |= !grows || !q_raise_by_one(p, g, Q_NOW);
			again |= !g->full;
		}
	}
}
