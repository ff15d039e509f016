/* What a record says afterwards: time that was lost, and how much of the nodes was in use. */
#include "sim/scenario/record.h"

#include "api/status/reasons.h"
#include "common/base/str.h"

enum { SHARE = 1000 };

static kar_time earlier(kar_time a, kar_time b)
{
	return a < b ? a : b;
}

/* ---- jobs, afterwards ---- */

bool sim_stretch_releases(const struct sim_stretch *s)
{
	return kar_streq(s->reason, kar_reason_RolledBack) || kar_streq(s->reason, kar_reason_QuotaExceeded);
}

kar_time sim_record_lost(const struct sim_record *r, const struct sim_job_record *j)
{
	kar_time lost = 0;

	for (size_t i = 0; i < j->n_stretches; i++) {
		const struct sim_stretch *s = &j->stretches[i];

		if (s->from >= j->running && !kar_streq(s->phase, "Running"))
			lost += earlier(s->to, r->end) - s->from;
	}
	return lost;
}

/* ---- use ---- */

/* Resource-milliseconds: thousandths of the resource times ms. */
static double used(const struct sim_record *r, size_t node, const char *resource)
{
	const struct sim_node_record *n = &r->nodes[node];
	double sum = 0;

	for (size_t i = 0; i < n->n_pods; i++) {
		const struct sim_pod_record *p = &r->pods[n->pods[i]];
		struct kar_quantity q = sim_quantity_of(sim_member(p->requests, resource));

		sum += (double)kar_quantity_milli(&q) * (double)(earlier(p->ended, r->end) - p->bound);
	}
	return sum;
}

static double offered(const struct sim_record *r, size_t node, const char *resource)
{
	const struct sim_node_record *n = &r->nodes[node];
	struct kar_quantity q = sim_quantity_of(sim_member(n->allocatable, resource));

	return (double)kar_quantity_milli(&q) * (double)(earlier(n->removed, r->end) - n->added);
}

static int share(double part, double whole)
{
	return whole > 0 ? (int)(part * SHARE / whole + 0.5) : -1;
}

int sim_record_node_use(const struct sim_record *r, size_t i, const char *resource)
{
	return share(used(r, i, resource), offered(r, i, resource));
}

int sim_record_use(const struct sim_record *r, const char *resource)
{
	double part = 0, whole = 0;

	for (size_t i = 0; i < r->n_nodes; i++) {
		part += used(r, i, resource);
		whole += offered(r, i, resource);
	}
	return share(part, whole);
}

int sim_record_pod_share(const struct sim_record *r, const struct sim_pod_record *pod)
{
	size_t node = pod->node_number;
	int most = 0;

	if (node == SIZE_MAX)
		return 0;
	for (struct sim_member m = sim_first(pod->requests); m.value; m = sim_next(m)) {
		struct kar_quantity asked = sim_quantity_of(m.value),
				    has = sim_quantity_of(sim_member(r->nodes[node].allocatable, m.key));
		int s = share((double)kar_quantity_milli(&asked), (double)kar_quantity_milli(&has));

		if (s > most)
			most = s;
	}
	return most;
}
