#include "sim/scenario/shares.h"

#include <stdlib.h>

#include "common/base/str.h"
#include "sim/apiserver/quantity.h"

static size_t queue_of(struct sim_shares *s, const char *name)
{
	size_t i = 0;

	while (i < s->n_queues && !kar_streq(s->queues[i], name))
		i++;
	if (i == s->n_queues)
		s->queues[s->n_queues++] = name;
	return i;
}

static double milli_cpu(const struct sim_value *amounts)
{
	struct kar_quantity q = sim_quantity_of(sim_member(amounts, "cpu"));

	return (double)kar_quantity_milli(&q);
}

/* Adds @amount times ms to the steps that @from .. @to touches. */
static void spread(const struct sim_shares *s, double *row, kar_time from, kar_time to, double amount)
{
	kar_time end = s->step * (kar_time)s->n_steps;

	to = to < end ? to : end;
	for (size_t k = (size_t)(from / s->step); k < s->n_steps && (kar_time)k * s->step < to; k++) {
		kar_time begin = (kar_time)k * s->step, stop = begin + s->step;

		row[k] += amount * (double)((stop < to ? stop : to) - (begin > from ? begin : from));
	}
}

static bool waits(const struct sim_stretch *s)
{
	return kar_streq(s->phase, "Pending") || kar_streq(s->phase, "Restarting");
}

static void add_asked(struct sim_shares *s, const struct sim_job_record *j, kar_time end)
{
	double *row = s->asked + queue_of(s, j->queue) * s->n_steps;

	for (size_t i = 0; i < j->n_stretches; i++) {
		if (waits(&j->stretches[i]))
			spread(s, row, j->stretches[i].from,
				j->stretches[i].to < end ? j->stretches[i].to : end, (double)j->milli_cpu);
	}
}

static void divide(struct sim_shares *s, const double *offered)
{
	for (size_t i = 0; i < s->n_queues * s->n_steps; i++) {
		double whole = offered[i % s->n_steps];

		s->used[i] = whole > 0 ? s->used[i] / whole : 0;
		s->asked[i] = whole > 0 ? s->asked[i] / whole : 0;
	}
}

void sim_shares_of(const struct sim_record *r, size_t node, kar_time step, struct sim_shares *out)
{
	size_t n_steps = (size_t)(r->end / step) + 1;
	double *offered = kar_xcalloc(n_steps, sizeof(*offered));

	*out = (struct sim_shares){ .n_steps = n_steps, .step = step };
	out->queues = kar_xcalloc(r->n_jobs + 1, sizeof(*out->queues));
	for (size_t i = 0; i < r->n_jobs; i++)
		queue_of(out, r->jobs[i].queue);
	out->used = kar_xcalloc(out->n_queues * n_steps + 1, sizeof(*out->used));
	out->asked = kar_xcalloc(out->n_queues * n_steps + 1, sizeof(*out->asked));
	for (size_t i = 0; i < r->n_nodes; i++) {
		if (node == SIZE_MAX || node == i)
			spread(out, offered, r->nodes[i].added > 0 ? r->nodes[i].added : 0,
				r->nodes[i].removed < r->end ? r->nodes[i].removed : r->end,
				milli_cpu(r->nodes[i].allocatable));
	}
	for (size_t i = 0; i < r->n_pods; i++) {
		const struct sim_pod_record *p = &r->pods[i];

		if (p->job != SIZE_MAX && (node == SIZE_MAX || node == p->node_number))
			spread(out, out->used + queue_of(out, r->jobs[p->job].queue) * n_steps, p->bound,
				p->ended < r->end ? p->ended : r->end, milli_cpu(p->requests));
	}
	for (size_t i = 0; i < r->n_jobs && node == SIZE_MAX; i++)
		add_asked(out, &r->jobs[i], r->end);
	divide(out, offered);
	free(offered);
}

void sim_shares_release(struct sim_shares *s)
{
	free(s->queues);
	free(s->used);
	free(s->asked);
	*s = (struct sim_shares){ 0 };
}
