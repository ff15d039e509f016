/* usage: what queues, namespaces or jobs have used, in amounts times hours. */
#include "kubectl-qj/qj.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/core/amounts_wire.h"
#include "api/status/usage.h"
#include "common/base/str.h"

/* What one of them has used until now, and has now. */
struct user {
	const char *ns, *name, *queue, *phase; /* those that are shown */
	struct kar_amounts used, has;
};

struct users {
	struct qj *q;
	struct user *items;
	size_t n;
	bool by_namespace;
};

static void count(const struct qj *q, struct user *u, const struct qj_usage *usage,
	const struct kar_array *allocated)
{
	struct kar_amounts until KAR_CLEANUP(kar_amounts_cleanup) = { 0 };
	struct kar_amounts now KAR_CLEANUP(kar_amounts_cleanup) = { 0 };

	kar_amounts_read(&usage->seconds, &until);
	if (usage->time)
		kar_usage_add(&until, allocated, q->now - usage->time);
	kar_amounts_add_all(&u->used, &until);
	kar_amounts_read(allocated, &now);
	kar_amounts_add_all(&u->has, &now);
}

static struct user *new_user(struct users *all)
{
	all->items = kar_arena_grow(&all->q->arena, all->items, all->n, sizeof(*all->items));
	all->items[all->n] = (struct user){ 0 };
	return &all->items[all->n++];
}

static int add_queues(void *arg, const struct kar_array *items)
{
	struct users *all = arg;
	const struct qj_queue *from = items->items;

	for (size_t i = 0; i < items->n; i++) {
		struct user *u = new_user(all);

		u->name = kar_arena_printf(&all->q->arena, "%s", from[i].meta.name);
		count(all->q, u, &from[i].status.usage, &from[i].status.allocated);
	}
	return 0;
}

static struct user *namespace_of(struct users *all, const char *ns)
{
	struct user *u;

	for (size_t i = 0; i < all->n; i++) {
		if (kar_streq(all->items[i].ns, ns))
			return &all->items[i];
	}
	u = new_user(all);
	u->ns = kar_arena_printf(&all->q->arena, "%s", ns);
	return u;
}

static int add_jobs(void *arg, const struct kar_array *items)
{
	struct users *all = arg;
	const struct qj_job *from = items->items;

	for (size_t i = 0; i < items->n; i++) {
		struct user *u = all->by_namespace ? namespace_of(all, from[i].meta.ns) : new_user(all);
		struct kar_arena *a = &all->q->arena;

		if (!all->by_namespace) {
			u->ns = kar_arena_printf(a, "%s", from[i].meta.ns);
			u->name = kar_arena_printf(a, "%s", from[i].meta.name);
			u->queue = kar_arena_printf(a, "%s", qj_job_queue(&from[i]));
			u->phase = kar_arena_printf(a, "%s",
				kar_has_text(from[i].status.phase) ? from[i].status.phase : "Pending");
		}
		count(all->q, u, &from[i].status.usage, &from[i].status.usage.allocated);
	}
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct user *x = a, *y = b;
	int order = x->ns && y->ns ? strcmp(x->ns, y->ns) : 0;

	return order || !x->name || !y->name ? order : strcmp(x->name, y->name);
}

/* As amounts are written, with one decimal: cores, bytes with a suffix, pieces. */
static const char *amount_of(struct qj *q, const char *resource, const struct kar_quantity *amount)
{
	const struct kar_sched_amount x = kar_amount_rounded_down(resource, amount);
	char text[KAR_AMOUNT_TEXT];

	return kar_arena_printf(&q->arena, "%s", kar_amount_text(resource, x.amount, false, text));
}

/* Pieces have hours with a decimal, too. */
static const char *hours_of(struct qj *q, const char *resource, const struct kar_quantity *seconds)
{
	struct kar_quantity hours = { .nano = seconds->nano / 3600, .format = seconds->format };

	if (kar_counts_bytes(resource))
		return amount_of(q, resource, &hours);
	return kar_arena_printf(&q->arena, "%.1f", (double)hours.nano / 1e9);
}

static void add_rows(struct users *all, struct qj_table *t, const struct user *u)
{
	static const struct kar_quantity none;

	for (size_t i = 0; i < u->used.n || i == 0; i++) {
		const struct kar_amount *used = u->used.n ? &u->used.items[i] : NULL;
		const struct kar_quantity *has = used ? kar_amounts_find(&u->has, used->name) : NULL;

		if (u->ns && (all->by_namespace || all->q->o.all))
			qj_cell(t, "%s", u->ns);
		if (u->name)
			qj_cell(t, "%s", u->name);
		if (u->queue)
			qj_cell(t, "%s", u->queue);
		if (u->phase)
			qj_cell(t, "%s", u->phase);
		qj_cell(t, "%s", used ? used->name : "");
		qj_cell(t, "%s", used ? hours_of(all->q, used->name, &used->q) : "");
		qj_cell(t, "%s", used ? amount_of(all->q, used->name, has ? has : &none) : "");
	}
}

static int print(struct users *all, const char *const *heads, const char *what)
{
	struct qj_table t = qj_table_begin(all->q, heads);

	if (!all->n) {
		fprintf(stderr, "No %s found\n", what);
		return 0;
	}
	qsort(all->items, all->n, sizeof(*all->items), by_name);
	for (size_t i = 0; i < all->n; i++) {
		add_rows(all, &t, &all->items[i]);
		kar_amounts_release(&all->items[i].used);
		kar_amounts_release(&all->items[i].has);
	}
	qj_table_flush(&t);
	return 0;
}

int qj_cmd_usage(struct qj *q)
{
	static const char *const queues[] = { "QUEUE", "RESOURCE", "HOURS", "NOW", NULL };
	static const char *const namespaces[] = { "NAMESPACE", "RESOURCE", "HOURS", "NOW", NULL };
	static const char *const jobs[] = { "NAMESPACE", "JOB", "QUEUE", "PHASE", "RESOURCE", "HOURS", "NOW",
		NULL };
	const char *of = q->o.n_args ? q->o.args[0] : "queues";
	struct users all = { .q = q, .by_namespace = kar_streq(of, "namespaces") };
	const struct qj_query of_jobs = { &qj_jobs, &qj_job_desc, all.by_namespace && !q->o.ns ? "" : q->ns,
		q->o.labels, NULL };

	if (q->o.n_args > 1 || (!kar_streq(of, "queues") && !kar_streq(of, "jobs") && !all.by_namespace))
		return qj_misused(q);
	if (kar_streq(of, "queues")) {
		if (qj_list(q, &(struct qj_query){ &qj_queues, &qj_queue_desc, "", NULL, NULL }, add_queues,
			    &all))
			return qj_fail(q);
		return print(&all, queues, "queues");
	}
	if (qj_list(q, &of_jobs, add_jobs, &all))
		return qj_fail(q);
	return print(&all, all.by_namespace ? namespaces : jobs + !q->o.all, "jobs");
}
