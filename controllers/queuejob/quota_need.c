/*
 * What the minimum asks for at the least: of each task its own minimum, and for the rest the cheapest pods there are. More than a
 * ResourceQuota allows in total can never fit, whatever ends. A LimitRange or a webhook may add to what a template
 * says; one that lowers it is not seen (docs/QUOTA.md).
 */
#include "controllers/queuejob/reconcile.h"

#include "common/quantity.h"

/* The amounts of one resource, while pods are chosen. */
struct choice {
	const char *resource;
	int32_t rest; /* pods of the minimum that may be of any task */
	bool *used;   /* by task: its pods have been chosen from */
	struct kar_quantity sum;
};

static const struct kar_quantity *amount_of(const struct queuejob_reconcile *r, size_t task,
	const char *resource)
{
	static const struct kar_quantity none = { 0 };
	const struct kar_quantity *q = kar_template_amount(&r->f->job->spec.tasks[task].amounts, resource);

	return q ? q : &none;
}

static void add_pods(const struct queuejob_reconcile *r, struct choice *c, size_t task, int32_t n)
{
	struct kar_quantity q = *amount_of(r, task, c->resource);

	kar_quantity_times(&q, n);
	kar_quantity_add(&c->sum, &q);
}

/* Pods that are left of a task beside its own minimum. */
static int32_t beside_own(const struct queuejob_reconcile *r, size_t i)
{
	const struct podset_task *t = &r->f->pods.tasks[i];

	return t->n - (r->want.from_nothing ? 0 : t->n_done) - queuejob_own_minimum_left(r, i);
}

/* KAR_NO_TASK: all have been used. */
static size_t cheapest(const struct queuejob_reconcile *r, const struct choice *c)
{
	size_t best = KAR_NO_TASK;

	for (size_t i = 0; i < r->f->pods.n_tasks; i++) {
		if (c->used[i] || !r->want.tasks[i].started)
			continue;
		if (best == KAR_NO_TASK ||
			kar_quantity_cmp(amount_of(r, i, c->resource), amount_of(r, best, c->resource)) < 0)
			best = i;
	}
	return best;
}

static struct kar_quantity least_asked(const struct queuejob_reconcile *r, const char *resource)
{
	struct choice c = { .resource = resource,
		.rest = queuejob_minimum_left(r),
		.used = kar_arena_alloc(r->arena, r->f->pods.n_tasks, sizeof(*c.used)) };
	size_t i;

	for (i = 0; i < r->f->pods.n_tasks; i++) {
		int32_t own = r->want.tasks[i].started ? queuejob_own_minimum_left(r, i) : 0;

		add_pods(r, &c, i, own);
		c.rest -= own;
	}
	while (c.rest > 0 && (i = cheapest(r, &c)) != KAR_NO_TASK) {
		int32_t n = beside_own(r, i);

		n = n > c.rest ? c.rest : n > 0 ? n : 0;
		c.used[i] = true;
		add_pods(r, &c, i, n);
		c.rest -= n;
	}
	return c.sum;
}

static bool exceeds(const struct queuejob_reconcile *r, const struct kar_resourcequota *q,
	struct queuejob_excess *out)
{
	const struct kar_quota_amount *hard = q->amounts.items;

	for (size_t i = 0; i < q->amounts.n; i++) {
		struct kar_quantity asked = least_asked(r, hard[i].resource);

		if (kar_quantity_cmp(&asked, &hard[i].q) <= 0)
			continue;
		*out = (struct queuejob_excess){ .quota = q->o.name,
			.resource = hard[i].resource,
			.asked = asked,
			.allowed = hard[i].q };
		return true;
	}
	return false;
}

bool queuejob_exceeds_quota(const struct queuejob_reconcile *r, struct queuejob_excess *out)
{
	for (size_t i = 0; i < r->f->v->quota.n; i++) {
		if (exceeds(r, r->f->v->quota.all[i], out))
			return true;
	}
	return false;
}
