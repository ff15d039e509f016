/*
 * What queues have had of the cluster, as the order of their siblings counts it (decision 134).
 *
 * The value of a queue falls by half in each half-life of its parent, and rises by the part of the cluster that it has. Both are known
 * from its status alone, in closed form, so no pass is needed meanwhile, and another manager goes on where the last one was:
 *   value(t) = value * 2^(-t/h) + rate * h/ln 2 * (1 - 2^(-t/h))
 */
#include <math.h>

#include "controllers/queue/pass.h"

/* By a hundredth of the cluster: as a share that has moved. */
enum { RATE_STEP = 10000 };

static const double ln_2 = 0.69314718055994530942;

int64_t queue_history_at(const struct kar_queue_history *h, kar_time half_life, kar_time now)
{
	double t = now > h->time ? (double)(now - h->time) / KAR_SECOND : 0;
	double life = (double)half_life / KAR_SECOND, left;

	if (half_life <= 0 || !h->time)
		return 0;
	left = exp2(-t / life);
	return (int64_t)((double)h->value * left + (double)h->rate * life / ln_2 * (1 - left));
}

/* ms; 0: the children of the queue go by shares. KAR_QUEUE_NONE: top queues. */
static kar_time half_life_of(const struct queue_pass *p, uint32_t parent)
{
	return parent == KAR_QUEUE_NONE ? p->settings->usage_half_life
					: p->queues[parent]->spec.half_life * KAR_SECOND;
}

void queue_observe_history(const struct queue_pass *p, uint32_t i, struct kar_queue_in *in)
{
	uint32_t parent = in->parent ? queue_named(p, in->parent) : KAR_QUEUE_NONE;

	in->by_history = p->queues[i]->spec.half_life > 0;
	in->history = queue_history_at(&p->queues[i]->status.history, half_life_of(p, parent), p->now);
}

/* By parent, top queues last: groups that wait below. */
static int32_t *sum_waiting(const struct queue_pass *p)
{
	int32_t *all = kar_arena_alloc(p->arena, p->n_queues + 1, sizeof(*all));

	for (uint32_t i = 0; i < p->n_queues; i++) {
		const struct kar_queue_status_out *out = &p->result.queues[i];

		if (out->in_force)
			all[out->parent == KAR_QUEUE_NONE ? p->n_queues : out->parent] += out->waits;
	}
	return all;
}

static bool charges_idle(const struct queue_pass *p, uint32_t parent)
{
	return parent != KAR_QUEUE_NONE && p->queues[parent]->spec.charge_idle;
}

static bool has_moved(int32_t before, int32_t now)
{
	return !before != !now || before - now >= RATE_STEP || now - before >= RATE_STEP;
}

void queue_count_history(struct queue_pass *p, uint32_t i, struct kar_queue_status *st)
{
	const struct kar_queue_status_out *out = &p->result.queues[i];
	const struct kar_queue_history *was = &p->queues[i]->status.history;
	uint32_t parent = out->parent;
	kar_time half_life = out->in_force ? half_life_of(p, parent) : 0;
	int32_t others, rate;

	if (!half_life)
		return;
	if (!p->waiting)
		p->waiting = sum_waiting(p);
	others = p->waiting[parent == KAR_QUEUE_NONE ? p->n_queues : parent] - out->waits;
	rate = others > 0 || charges_idle(p, parent) ? out->part : 0;
	st->history = *was;
	if (!has_moved(was->rate, rate) &&
		kar_status_same_pairs(&st->allocated, &p->queues[i]->status.allocated))
		return;
	if (was->time || rate)
		st->history = (struct kar_queue_history){ .time = p->now - p->now % KAR_SECOND,
			.value = queue_history_at(was, half_life, p->now - p->now % KAR_SECOND),
			.rate = rate };
}
