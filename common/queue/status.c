/* What the status of each queue says. */
#include "common/queue/impl.h"

static void count(struct kar_queue_counts *c, const struct q_group *g, enum kar_queue_reason reason)
{
	bool admitted = q_is_admitted(g), old = g->in->standing == KAR_QUEUE_ADMITTED;

	if (reason == KAR_QR_FINISHED || reason == KAR_QR_JOB_INVALID || reason == KAR_QR_SUSPENDED)
		return;
	if (admitted && old && g->in->phase == KAR_QUEUE_RUNS)
		c->running++;
	else if (admitted && old && g->in->phase == KAR_QUEUE_UNKNOWN)
		c->unknown++;
	else if (g->st.standing != KAR_QUEUE_WAITING)
		c->inqueue++;
	else
		c->pending++;
}

static void count_groups(struct q_pass *p, struct kar_queue_result *out)
{
	for (uint32_t i = 0; i < p->snapshot->n_groups; i++) {
		const struct q_group *g = &p->groups[i];

		for (const struct q_queue *q = g->queue; q->in; q = q->parent)
			count(&out->queues[q->index].counts, g, out->groups[i].reason);
	}
	for (uint32_t i = 0; i < p->snapshot->n_queues; i++) {
		out->queues[i].counts.live = p->queues[i].live;
		out->queues[i].counts.completed += p->queues[i].in->completed;
		for (const struct q_queue *q = p->queues[i].parent; p->queues[i].in_force && q->in;
			q = q->parent)
			out->queues[q->index].counts.completed += p->queues[i].in->completed;
	}
}

static struct kar_queue_amounts list(struct q_pass *p, const int64_t *v, bool zeroes)
{
	struct kar_sched_amount *items = kar_arena_alloc(p->arena, p->n_resources + 1, sizeof(*items));
	struct kar_queue_amounts out = { items, 0 };

	for (uint32_t r = 0; r < p->n_resources; r++) {
		if (v[r] > 0 || (zeroes && p->alloc[r] > 0))
			items[out.n++] = (struct kar_sched_amount){ p->names[r], v[r] };
	}
	return out;
}

static void put_reservations(struct q_pass *p, struct kar_queue_result *out)
{
	for (uint32_t i = 0; i <= p->snapshot->n_queues; i++) {
		struct q_group *head = p->queues[i].reserved;
		struct kar_queue_status_out *o;

		if (!head || head->st.standing != KAR_QUEUE_WAITING)
			continue;
		o = &out->queues[head->queue->index];
		if (o->reserved_for !=
			KAR_QUEUE_NONE) { /* heads of several pools: the first in line is shown */
			const struct q_group *other = &p->groups[o->reserved_for];

			if (q_compare_line(&other, &head) < 0)
				continue;
		}
		o->reserved_for = head->index;
		q_reservation_result(p, head, o);
		o->reserved = list(p, head->kind->minimum, false);
	}
	for (uint32_t i = 0; i < p->snapshot->n_queues; i++)
		out->queues[i].keeps_reservation = out->queues[i].reserved_for == KAR_QUEUE_NONE &&
			q_keeps_reservation(p, &p->queues[i]);
}

void q_queue_results(struct q_pass *p, struct kar_queue_result *out)
{
	out->queues = kar_arena_alloc(p->arena, p->snapshot->n_queues + 1, sizeof(*out->queues));
	for (uint32_t i = 0; i < p->snapshot->n_queues; i++) {
		const struct q_queue *q = &p->queues[i];
		struct kar_queue_status_out *o = &out->queues[i];
		int64_t used[Q_RESOURCES] = { 0 };

		*o = (struct kar_queue_status_out){ .validity = q->validity,
			.in_force = q->in_force,
			.parent = q->in_force ? q->parent->index : KAR_QUEUE_NONE,
			.leaf = q->in_force && !q->n_children,
			.closed = q->closed || q->in->closed || q->in->deleting,
			.head = KAR_QUEUE_NONE,
			.reserved_for = KAR_QUEUE_NONE,
			.share = q_share(p, q, NULL, 1000) };
		o->closing = o->closed && q->live > 0;
		o->entitled = q->in_force ? list(p, q->due, true) : (struct kar_queue_amounts){ 0 };
		for (uint32_t r = 0; r < p->n_resources; r++)
			used[r] = q_used(q, r);
		o->allocated = list(p, used, false);
		for (uint32_t k = 0; k < q->n_line && o->head == KAR_QUEUE_NONE; k++) {
			if (out->groups[q->line[k]->index].position == 1)
				o->head = q->line[k]->index;
		}
	}
	count_groups(p, out);
	put_reservations(p, out);
}
