/* When the first of each line may start, if what is admitted ends as it is expected to. */
#include "common/queue/impl.h"

#include <stdlib.h>

enum {
	BUDGET = 1000,
	ENDS = 200
}; /* fits of one pass, and ends that are looked at: the rest gets no estimate */

struct end {
	struct q_group *g;
	kar_time at;
	const char *basis;
};

static int by_time(const void *a, const void *b)
{
	const struct end *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return q_compare_names(x->g, y->g);
}

/* False: not known, or past. */
static bool find_end(const struct q_pass *p, struct q_group *g, struct end *out)
{
	const struct kar_queue_in *q = g->queue->in;

	*out = (struct end){ g, g->in->ends_at, "deadlines" };
	if (!out->at && q && q->n_run_times >= 5 && g->in->started_at) {
		out->at = g->in->started_at + q->median_seconds * KAR_SECOND;
		out->basis = kar_arena_printf(p->arena, "median of %d jobs", (int)q->n_run_times);
	}
	return out->at > p->in->now;
}

static struct end *find_ends(const struct q_pass *p, uint32_t *n)
{
	struct end *all = kar_arena_alloc(p->arena, p->plan.n_live + 1, sizeof(*all));

	for (uint32_t i = 0; i < p->plan.n_live; i++)
		*n += q_is_admitted(p->plan.live[i]) && find_end(p, p->plan.live[i], &all[*n]);
	qsort(all, *n, sizeof(*all), by_time);
	*n = *n < ENDS ? *n : ENDS;
	return all;
}

/* Groups that wait for room alone, the first of each line. */
static struct q_group **find_waiting(const struct q_pass *p, const struct kar_queue_result *out, uint32_t *n)
{
	struct q_group **all = NULL;

	for (uint32_t i = 0; i < p->in->n_line; i++) {
		const struct kar_queue_decision *d = &out->groups[p->in->line[i]->index];

		if (!d->position || d->position > KAR_QUEUE_ESTIMATES || !q_is_candidate(p->in->line[i]) ||
			d->reason == KAR_QR_GANG_GROUP || !q_is_feasible(p, p->in->line[i]))
			continue;
		all = kar_arena_grow(p->arena, all, *n, sizeof(struct q_group *));
		all[(*n)++] = p->in->line[i];
	}
	return all;
}

/* Its message names the time already, at which it can be taken from others: a second one would contradict that. */
static bool knows_its_time(const struct q_group *g, const struct kar_queue_decision *d)
{
	return d->reason == KAR_QR_WAITING_FOR_RECLAIM && g->queue->takes == g;
}

static void end_group(struct q_pass *p, struct q_group *g)
{
	struct q_state st = q_without_pods(p, g);

	st.cause = KAR_QUEUE_DRAIN; /* it is no candidate any more */
	q_set(p, g, &st);
}

void q_estimate(struct q_pass *p, struct kar_queue_result *out)
{
	uint32_t n_ends = 0, n = 0, budget = BUDGET;
	struct end *ends = find_ends(p, &n_ends);
	struct q_group **waiting = find_waiting(p, out, &n);
	struct q_mark mark = q_mark(p);

	for (uint32_t i = 0; i < n_ends && n && budget; i++) {
		uint32_t left = 0;

		end_group(p, ends[i].g);
		for (uint32_t k = 0; k < n; k++) {
			struct kar_queue_decision *d = &out->groups[waiting[k]->index];
			struct q_short s;

			if (budget && budget-- && q_admit(p, waiting[k], &s) != Q_NO) {
				d->estimated_start = knows_its_time(waiting[k], d) ? 0 : ends[i].at;
				d->basis = ends[i].basis;
			} else {
				waiting[left++] = waiting[k];
			}
		}
		n = left;
	}
	q_undo(p, mark);
}
