/*
 * Pods of no queue that may be evicted (--preemptible-below, decision 092): what of them leaves. They are no part of any group, so that this is a list
 * of its own: struct q_foreign. Who goes is decided in foreign_take.c.
 */
#include "common/queue/explain.h"

static const struct kar_queue_preemptible *pod(const struct q_pass *p, uint32_t i)
{
	return &p->in->snapshot->preemptible[i];
}

/* Only kube-scheduler keeps the pods that come in their stead out of the room, and only for pods of a higher priority that may preempt. */
bool q_may_use_foreign(const struct q_pass *p, const struct q_group *g)
{
	return p->in->snapshot->n_preemptible && !p->in->snapshot->no_nodes && !g->in->unverified &&
		!g->in->never_preempts && !g->in->created_bound && !g->in->no_node_check &&
		!g->in->takes_nothing;
}

bool q_foreign_goes_before(const struct q_pass *p, const struct q_group *g, uint32_t i)
{
	return pod(p, i)->priority < g->in->base;
}

int64_t *q_yielded_to(const struct q_pass *p, const struct q_group *g)
{
	int64_t *v = q_vector(p);

	for (uint32_t i = 0; i < p->in->snapshot->n_preemptible; i++) {
		if (pod(p, i)->leaving || (q_may_use_foreign(p, g) && q_foreign_goes_before(p, g, i)))
			q_add_class_on(p, pod(p, i)->class, pod(p, i)->node, 1, v);
	}
	return v;
}

/* --- what leaves ------------------------------------------------------------------------------------ */

void q_foreign_copy(struct q_pass *p)
{
	struct q_foreign old = p->plan.foreign, *f = &p->plan.foreign;
	uint32_t n = p->in->snapshot->n_preemptible;

	f->takers = kar_arena_alloc(p->arena, n + 1, sizeof(*f->takers));
	f->gone = kar_arena_alloc(p->arena, n + 1, sizeof(*f->gone));
	f->freed = q_vector(p);
	f->soon = q_vector(p);
	for (uint32_t i = 0; i < n; i++)
		f->takers[i] = old.takers ? old.takers[i] : KAR_QUEUE_NONE;
	for (uint32_t i = 0; i < n; i++)
		f->gone[i] = old.gone && old.gone[i];
	for (uint32_t r = 0; old.freed && r < p->in->n_resources; r++) {
		f->freed[r] = old.freed[r];
		f->soon[r] = old.soon[r];
	}
}

/* @sign 1: the pod leaves; -1: it stays. */
static void change(struct q_pass *p, uint32_t i, int sign)
{
	struct q_foreign *f = &p->plan.foreign;

	assert(f->gone[i] == (sign < 0));
	kar_sched_take(p->in->snapshot->sched, pod(p, i)->node, pod(p, i)->class, -sign);
	q_add_class_on(p, pod(p, i)->class, pod(p, i)->node, sign, f->freed);
	f->gone[i] = sign > 0;
	f->n += sign > 0 ? 1 : UINT32_MAX;
}

void q_foreign_goes(struct q_pass *p, uint32_t i, const struct q_group *taker)
{
	change(p, i, 1);
	p->plan.foreign.takers[i] = taker->index;
}

void q_foreign_stays(struct q_pass *p, uint32_t i)
{
	change(p, i, -1);
	p->plan.foreign.takers[i] = KAR_QUEUE_NONE;
}

void q_foreign_begin(struct q_pass *p)
{
	if (!p->in->snapshot->n_preemptible || p->in->snapshot->no_nodes)
		return;
	q_foreign_copy(p);
	for (uint32_t i = 0; i < p->in->snapshot->n_preemptible; i++) {
		if (!pod(p, i)->leaving)
			continue;
		change(p, i, 1);
		if (pod(p, i)->soon)
			q_add_class_on(p, pod(p, i)->class, pod(p, i)->node, 1, p->plan.foreign.soon);
	}
}

bool q_lift_young(struct q_pass *p, const struct q_group *g, int32_t sign)
{
	bool any = false;

	for (uint32_t i = 0; q_may_use_foreign(p, g) && i < p->in->snapshot->n_preemptible; i++) {
		if (!pod(p, i)->young || p->plan.foreign.gone[i] || !q_foreign_goes_before(p, g, i))
			continue;
		kar_sched_take(p->in->snapshot->sched, pod(p, i)->node, pod(p, i)->class, -sign);
		any = true;
	}
	return any;
}

bool q_foreign_goes_for(const struct q_pass *p, const struct q_group *g)
{
	bool any = false;

	for (uint32_t i = 0; p->plan.foreign.n && i < p->in->snapshot->n_preemptible && !any; i++)
		any = p->plan.foreign.takers[i] == g->index;
	return any;
}

void q_foreign_settle(struct q_pass *p)
{
	if (!p->plan.foreign.n)
		return;
	q_foreign_copy(p);
	for (uint32_t i = 0; i < p->in->snapshot->n_preemptible; i++) {
		uint32_t taker = p->plan.foreign.takers[i];

		if (taker != KAR_QUEUE_NONE && p->in->groups[taker].st.standing == KAR_QUEUE_WAITING)
			q_foreign_stays(p, i);
	}
}

/* --- words ------------------------------------------------------------------------------------------ */

enum { NAMED = 3 };

const char *q_name_foreign(const struct q_pass *p, const struct q_group *g)
{
	const char *names = NULL;
	uint32_t n = 0;

	for (uint32_t i = 0; p->plan.foreign.n && i < p->in->snapshot->n_preemptible; i++) {
		const struct kar_queue_preemptible *e = pod(p, i);

		if (!p->plan.foreign.gone[i] ||
			(p->plan.foreign.takers[i] != g->index &&
				p->plan.foreign.takers[i] != KAR_QUEUE_NONE))
			continue;
		if (++n <= NAMED)
			names = names ? Q_TEXT(p, "%s, %s/%s", names, e->ns, e->name)
				      : Q_TEXT(p, "%s/%s", e->ns, e->name);
	}
	if (!names)
		return NULL;
	if (n > NAMED)
		names = Q_TEXT(p, "%s and %d more", names, (int)(n - NAMED));
	return Q_TEXT(p, "pod%s %s of no queue %s", n == 1 ? "" : "s", names, n == 1 ? "is" : "are");
}
