/*
 * What queues allow each namespace (spec.perNamespace): rows of the snapshot beside those of ResourceQuotas, one for each resource of each
 * pair of a queue and a namespace that has a group in it or below it (docs/decisions/132-limits-of-a-namespace-are-rows.md).
 */
#include "controllers/queue/pass.h"

#include <string.h>

#include <bsd/sys/tree.h>

#include "common/base/str.h"

#define JOBS "jobs"

/* Rows of a queue and a namespace: of .limits in their order, and then that of the jobs. */
struct account {
	RB_ENTRY(account) link;
	uint32_t queue;
	const char *ns;
	uint32_t first;
};
RB_HEAD(accounts, account);

struct limiting {
	struct queue_pass *p;
	struct accounts accounts;
	struct kar_queue_quota_row *rows;
	uint32_t n_rows;
};

static int compare(const struct account *a, const struct account *b)
{
	return a->queue != b->queue ? (a->queue > b->queue) - (a->queue < b->queue) : strcmp(a->ns, b->ns);
}

RB_GENERATE_INTERNAL(accounts, account, link, compare, KAR_UNUSED static)

static const struct kar_queue_spec *spec_of(const struct limiting *l, uint32_t queue)
{
	return &l->p->queues[queue]->spec;
}

static bool is_limited(const struct kar_queue_spec *s)
{
	return s->per_namespace.n || s->per_namespace_jobs;
}

static void add_row(struct limiting *l, const struct account *a, const char *resource, int64_t limit)
{
	l->rows = kar_arena_grow(l->p->arena, l->rows, l->n_rows, sizeof(*l->rows));
	l->rows[l->n_rows++] = (struct kar_queue_quota_row){ .ns = a->ns,
		.quota = l->p->queues[a->queue]->o.name,
		.of_queue = true,
		.resource = resource,
		.limit = limit,
		.hard = limit };
}

static const struct account *account_of(struct limiting *l, uint32_t queue, const char *ns)
{
	struct account key = { .queue = queue, .ns = ns }, *a = RB_FIND(accounts, &l->accounts, &key);
	const struct kar_queue_spec *s = spec_of(l, queue);

	if (a)
		return a;
	a = kar_arena_alloc(l->p->arena, 1, sizeof(*a));
	*a = key;
	a->first = l->n_rows;
	RB_INSERT(accounts, &l->accounts, a);
	for (uint32_t i = 0; i < s->per_namespace.n; i++)
		add_row(l, a, s->per_namespace.items[i].resource, s->per_namespace.items[i].amount);
	if (s->per_namespace_jobs)
		add_row(l, a, JOBS, s->per_namespace_jobs);
	return a;
}

/* --- charges --------------------------------------------------------------------------------------------- */

struct charges {
	struct kar_queue_charge *items;
	uint32_t n;
};

/* Those that the caller has, to which more are added. */
static struct charges begin(const struct limiting *l, const struct kar_queue_charge *had, uint32_t n)
{
	struct charges c = { .n = n };

	for (uint32_t i = 0; i < n; i++) {
		c.items = kar_arena_grow(l->p->arena, c.items, i, sizeof(*c.items));
		c.items[i] = had[i];
	}
	return c;
}

static void charge(const struct limiting *l, struct charges *c, uint32_t row, int64_t amount)
{
	if (amount <= 0)
		return;
	c->items = kar_arena_grow(l->p->arena, c->items, c->n, sizeof(*c->items));
	c->items[c->n++] = (struct kar_queue_charge){ row, amount };
}

static int64_t amount_of(const struct kar_sched_amount *all, uint32_t n, const char *resource)
{
	for (uint32_t i = 0; i < n; i++) {
		if (kar_streq(all[i].resource, resource))
			return all[i].amount;
	}
	return 0;
}

/* What each pod of the class is charged with: what it is already, and its needs as far as there are limits. */
static struct charges charges_of(const struct limiting *l, const struct account *a, kar_class class,
	const struct kar_queue_charge *had, uint32_t n)
{
	const struct kar_pod_needs *needs =
		kar_sched_needs(kar_snapshot_sched(l->p->stores->snapshot), class);
	const struct kar_queue_amounts *limits = &spec_of(l, a->queue)->per_namespace;
	struct charges c = begin(l, had, n);

	for (uint32_t i = 0; i < limits->n; i++) {
		const char *resource = limits->items[i].resource;

		charge(l, &c, a->first + i,
			kar_streq(resource, "pods") ? 1
						    : amount_of(needs->amounts, needs->n_amounts, resource));
	}
	return c;
}

/* Of the group itself: what it holds for members that do not exist yet, and that it is a job. */
static void charge_group(const struct limiting *l, const struct account *a, struct kar_queue_group *g)
{
	const struct kar_queue_spec *s = spec_of(l, a->queue);
	struct charges c = begin(l, g->hold_charges, g->n_hold_charges);

	for (uint32_t i = 0; i < s->per_namespace.n; i++)
		charge(l, &c, a->first + i,
			amount_of(g->hold.items, g->hold.n, s->per_namespace.items[i].resource));
	if (s->per_namespace_jobs)
		charge(l, &c, a->first + s->per_namespace.n, 1);
	g->hold_charges = c.items;
	g->n_hold_charges = c.n;
}

static const struct kar_queue_run *charge_runs(const struct limiting *l, const struct account *a,
	const struct kar_queue_run *runs, uint32_t n)
{
	struct kar_queue_run *out = kar_arena_alloc(l->p->arena, n + 1, sizeof(*out));

	for (uint32_t i = 0; i < n; i++) {
		const struct charges c = charges_of(l, a, runs[i].class, runs[i].charges, runs[i].n_charges);

		out[i] = runs[i];
		out[i].charges = c.items;
		out[i].n_charges = c.n;
	}
	return out;
}

static void charge_leaving(const struct limiting *l, const struct account *a, struct kar_queue_group *g)
{
	struct kar_queue_leaving *out = kar_arena_alloc(l->p->arena, g->n_leaving + 1, sizeof(*out));

	for (uint32_t i = 0; i < g->n_leaving; i++) {
		const struct kar_queue_leaving *r = &g->leaving[i];
		const struct charges c = charges_of(l, a, r->class, r->charges, r->n_charges);

		out[i] = *r;
		out[i].charges = c.items;
		out[i].n_charges = c.n;
	}
	g->leaving = out;
}

/* By its queue and those above it. */
static void limit_group(struct limiting *l, struct kar_queue_group *g)
{
	uint32_t q = g->queue;

	for (int depth = 0; q != KAR_QUEUE_NONE && depth < KAR_QUEUE_LEVELS; depth++) {
		const char *parent = spec_of(l, q)->parent;

		if (is_limited(spec_of(l, q))) {
			const struct account *a = account_of(l, q, g->ns);

			charge_group(l, a, g);
			g->runs = charge_runs(l, a, g->runs, g->n_runs);
			g->edited = charge_runs(l, a, g->edited, g->n_edited);
			charge_leaving(l, a, g);
		}
		q = parent ? queue_named(l->p, parent) : KAR_QUEUE_NONE;
	}
}

static const struct kar_queue_group *limit_question(struct limiting *l,
	const struct kar_queue_group *question)
{
	struct kar_queue_group *g = kar_arena_alloc(l->p->arena, 1, sizeof(*g));

	*g = *question;
	limit_group(l, g);
	return g;
}

void queue_observe_namespaces(struct queue_pass *p)
{
	struct limiting l = { .p = p };
	bool any = false;

	for (uint32_t i = 0; i < p->n_queues; i++)
		any |= is_limited(&p->queues[i]->spec);
	if (!any)
		return;
	RB_INIT(&l.accounts);
	for (uint32_t i = 0; i < p->snapshot.n_rows; i++) {
		l.rows = kar_arena_grow(p->arena, l.rows, i, sizeof(*l.rows));
		l.rows[i] = p->snapshot.rows[i];
	}
	l.n_rows = p->snapshot.n_rows;
	for (uint32_t i = 0; i < p->n_groups; i++) {
		limit_group(&l, &p->in[i]);
		if (p->groups[i].question)
			p->groups[i].question = limit_question(&l, p->groups[i].question);
	}
	p->snapshot.rows = l.rows;
	p->snapshot.n_rows = l.n_rows;
}
