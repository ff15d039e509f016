/* What the status of each queue says. */
#include "common/queue/explain.h"

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

/* It could start if there were room, and its turn had come. */
static bool is_waiting(const struct q_group *g, enum kar_queue_reason reason)
{
	return g->st.standing == KAR_QUEUE_WAITING && reason >= KAR_QR_RESERVING;
}

static void count_groups(const struct q_pass *p, struct kar_queue_result *out)
{
	for (uint32_t i = 0; i < p->in->snapshot->n_groups; i++) {
		const struct q_group *g = &p->in->groups[i];

		for (const struct q_queue *q = g->queue; q->in; q = q->parent) {
			count(&out->queues[q->index].counts, g, out->groups[i].reason);
			out->queues[q->index].waits += is_waiting(g, out->groups[i].reason);
		}
	}
	for (uint32_t i = 0; i < p->in->snapshot->n_queues; i++) {
		out->queues[i].counts.live = p->in->queues[i].live;
		out->queues[i].counts.completed += p->in->queues[i].in->completed;
		for (const struct q_queue *q = p->in->queues[i].parent; p->in->queues[i].in_force && q->in;
			q = q->parent)
			out->queues[q->index].counts.completed += p->in->queues[i].in->completed;
	}
}

static struct kar_queue_amounts list(struct q_pass *p, const int64_t *v, bool zeroes)
{
	struct kar_sched_amount *items = kar_arena_alloc(p->arena, p->in->n_resources + 1, sizeof(*items));
	struct kar_queue_amounts out = { items, 0 };

	for (uint32_t r = 0; r < p->in->n_plain; r++) {
		if (v[r] > 0 || (zeroes && p->in->alloc[r] > 0))
			items[out.n++] = (struct kar_sched_amount){ p->in->names[r], v[r] };
	}
	return out;
}

static void put_reservations(struct q_pass *p, struct kar_queue_result *out)
{
	for (uint32_t i = 0; i <= p->in->snapshot->n_queues; i++) {
		struct q_group *head = p->in->queues[i].reserved;
		struct kar_queue_status_out *o;

		if (!head || head->st.standing != KAR_QUEUE_WAITING)
			continue;
		o = &out->queues[head->queue->index];
		if (o->reserved_for !=
			KAR_QUEUE_NONE) { /* heads of several pools: the first in line is shown */
			const struct q_group *other = &p->in->groups[o->reserved_for];

			if (q_compare_line(&other, &head) < 0)
				continue;
		}
		o->reserved_for = head->index;
		q_reservation_result(p, head, o);
		o->reserved = list(p, head->kind->minimum, false);
	}
	for (uint32_t i = 0; i < p->in->snapshot->n_queues; i++)
		out->queues[i].keeps_reservation = out->queues[i].reserved_for == KAR_QUEUE_NONE &&
			q_keeps_reservation(p, &p->in->queues[i]);
}

/* What live pods of the group use: those that have a node, those that stop, and those that are about to get a node. */
static void add_live(struct q_pass *p, const struct q_group *g, int64_t *to)
{
	for (uint32_t r = 0; r < p->in->n_resources && g->pods; r++)
		to[r] = q_add(to[r], g->pods[r]);
	for (uint32_t i = 0; i < g->in->n_unbound; i++)
		q_add_class(p, q_class_in(p, g->in->unbound[i].class, g->in->flavor), g->in->unbound[i].n,
			to);
}

/* By queue. */
static int64_t **sum_live(struct q_pass *p)
{
	int64_t **all = kar_arena_alloc(p->arena, p->in->snapshot->n_queues + 1, sizeof(*all));

	for (uint32_t i = 0; i <= p->in->snapshot->n_queues; i++)
		all[i] = q_vector(p);
	for (uint32_t i = 0; i < p->in->snapshot->n_groups; i++) {
		const struct q_group *g = &p->in->groups[i];

		for (const struct q_queue *q = g->queue; q->in && (g->pods || g->in->n_unbound);
			q = q->parent)
			add_live(p, g, all[q->index]);
	}
	return all;
}

/* The largest of its parts of what the nodes have of a resource, in millionths. */
static int32_t part_of(const struct q_pass *p, const int64_t *used)
{
	kar_nano most = 0;

	for (uint32_t r = 0; r < p->in->n_plain; r++) {
		kar_nano part = r != p->in->pods && p->in->alloc[r] > 0
			? (kar_nano)used[r] * 1000000 / p->in->alloc[r]
			: 0;

		most = part > most ? part : most;
	}
	return most > INT32_MAX ? INT32_MAX : (int32_t)most;
}

static const char *describe_over(struct q_pass *p, const struct q_queue *q, const int64_t *used)
{
	const char *text = NULL;

	for (uint32_t r = 0; r < p->in->n_resources; r++) {
		const char *name = p->in->names[r];

		if (used[r] <= q->capability[r])
			continue;
		text = Q_TEXT(p, "%s%s%s%s%s %s of %s (%s over)", text ? text : "", text ? ", " : "",
			p->in->flavor_of[r] ? p->in->snapshot->flavors[p->in->flavor_of[r] - 1].name : "",
			p->in->flavor_of[r] ? ": " : "", name, q_text_amount(p, name, used[r], true),
			q_text_amount(p, name, q->capability[r], false),
			q_text_amount(p, name, used[r] - q->capability[r], true));
	}
	return text;
}

/* What of @v is of the flavor; @of: only where the queue has a right or a limit. */
static struct kar_queue_amounts list_flavor(struct q_pass *p, uint32_t flavor, const int64_t *v,
	const struct q_queue *of)
{
	struct kar_sched_amount *items = kar_arena_alloc(p->arena, p->in->n_resources + 1, sizeof(*items));
	struct kar_queue_amounts out = { items, 0 };

	for (uint32_t r = p->in->n_plain; r < p->in->n_resources; r++) {
		if (p->in->flavor_of[r] == flavor &&
			(of ? of->right[r] != Q_UNNAMED || of->capability[r] != Q_NO_LIMIT : v[r] > 0))
			items[out.n++] = (struct kar_sched_amount){ p->in->names[r], v[r] };
	}
	return out;
}

static void put_flavors(struct q_pass *p, const struct q_queue *q, const int64_t *live,
	struct kar_queue_status_out *o)
{
	struct kar_queue_flavor_use *all = kar_arena_alloc(p->arena, p->in->n_flavors + 1, sizeof(*all));

	for (uint32_t f = 1; f <= p->in->n_flavors && q->in_force; f++) {
		struct kar_queue_flavor_use u = { .name = p->in->snapshot->flavors[f - 1].name,
			.allocated = list_flavor(p, f, live, NULL),
			.entitled = list_flavor(p, f, q->due, q) };

		if (u.allocated.n || u.entitled.n)
			all[o->n_flavors++] = u;
	}
	o->flavors = all;
}

void q_queue_results(struct q_pass *p, struct kar_queue_result *out)
{
	int64_t **live = sum_live(p);

	out->queues = kar_arena_alloc(p->arena, p->in->snapshot->n_queues + 1, sizeof(*out->queues));
	for (uint32_t i = 0; i < p->in->snapshot->n_queues; i++) {
		const struct q_queue *q = &p->in->queues[i];
		struct kar_queue_status_out *o = &out->queues[i];
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
		o->allocated = list(p, live[i], false);
		o->part = part_of(p, live[i]);
		put_flavors(p, q, live[i], o);
		o->over = describe_over(p, q, live[i]);
		for (uint32_t k = 0; k < q->n_line && o->head == KAR_QUEUE_NONE; k++) {
			if (out->groups[q->line[k]->index].position == 1)
				o->head = q->line[k]->index;
		}
	}
	count_groups(p, out);
	put_reservations(p, out);
}
