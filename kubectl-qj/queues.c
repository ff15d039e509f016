/* queues: the tree of queues, and of each resource what a queue uses, has a right to, has a share of and may have. */
#include "kubectl-qj/qj.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/str.h"
#include "common/codec/quantity.h"

struct queues {
	struct qj *q;
	struct qj_queue *items; /* in the order of names */
	size_t n;
	struct qj_table table;
};

static int add_page(void *arg, const struct kar_array *items)
{
	struct queues *all = arg;
	const struct qj_queue *from = items->items;

	for (size_t i = 0; i < items->n; i++) {
		all->items = kar_arena_grow(&all->q->arena, all->items, all->n, sizeof(*all->items));
		all->items[all->n++] = from[i];
	}
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct qj_queue *x = a, *y = b;

	return strcmp(x->meta.name, y->meta.name);
}

/* The parent in force; "root": it has none. */
static const char *parent_of(const struct qj_queue *q)
{
	return kar_has_text(q->status.parent)  ? q->status.parent
		: kar_has_text(q->spec.parent) ? q->spec.parent
					       : "root";
}

static bool exists(const struct queues *all, const char *name)
{
	const struct qj_queue key = { .meta.name = name };

	return bsearch(&key, all->items, all->n, sizeof(*all->items), by_name) != NULL;
}

/* Of a quantity; 0: it cannot be read. */
static double number(const char *quantity)
{
	struct kar_quantity n;

	return quantity && kar_quantity_parse(quantity, &n, NULL) == 0 ? (double)n.nano : 0;
}

static void add_amounts(struct queues *all, const struct qj_queue *q, const char *name)
{
	const char *used = kar_pairs_get(&q->status.allocated, name),
		   *right = kar_pairs_get(&q->spec.deserved, name),
		   *share = kar_pairs_get(&q->status.entitled, name),
		   *most = kar_pairs_get(&q->spec.capability, name);
	double part = number(share) > 0 ? number(used) / number(share) : -1;
	struct qj_table *t = &all->table;

	qj_cell(t, "%s", name);
	qj_cell(t, "%s", used ? used : "0");
	qj_cell(t, "%s", right ? right : "");
	qj_cell(t, "%s", share ? share : "");
	qj_cell(t, "%s", most ? most : "");
	qj_cell(t, "%s",
		part < 0                   ? ""
			: all->q->terminal ? qj_bar(all->q, part, 16)
					   : kar_arena_printf(&all->q->arena, "%.0f%%", 100 * part));
}

/* @name NULL: it has no resources. */
static void add_row(struct queues *all, const struct qj_queue *q, int depth, const char *name, bool first)
{
	struct qj_table *t = &all->table;

	if (first || !all->q->terminal) { /* programs read each row by itself */
		qj_cell(t, "%*s%s", all->q->terminal ? 2 * depth : 0, "", q->meta.name);
		qj_cell(t, "%s", q->status.state ? q->status.state : "");
		qj_cell(t, "%d", (int)q->status.pending);
		qj_cell(t, "%d", (int)(q->status.inqueue + q->status.running));
	} else {
		for (int i = 0; i < 4; i++)
			qj_cell(t, "%s", " ");
	}
	if (name) {
		add_amounts(all, q, name);
		return;
	}
	for (int i = 0; i < 6; i++)
		qj_cell(t, "%s", "");
}

static void add_below(struct queues *all, const char *parent, int depth)
{
	enum { DEEPEST = 8 }; /* the manager allows 4 */

	for (size_t i = 0; i < all->n && depth < DEEPEST; i++) {
		const struct qj_queue *q = &all->items[i];
		bool root = !exists(all, parent_of(q));
		struct kar_array names;

		if (depth ? !kar_streq(parent_of(q), parent) : !root)
			continue;
		names = qj_queue_resources(all->q, q);
		for (size_t k = 0; k == 0 || k < names.n; k++)
			add_row(all, q, depth, names.n ? ((const char *const *)names.items)[k] : NULL,
				k == 0);
		add_below(all, q->meta.name, depth + 1);
	}
}

int qj_cmd_queues(struct qj *q)
{
	static const char *const heads[] = { "QUEUE", "STATE", "WAITING", "RUNNING", "RESOURCE", "USED",
		"RIGHT", "SHARE", "LIMIT", "OF-SHARE", NULL };
	struct queues all = { .q = q };

	if (q->o.n_args)
		return qj_misused(q);
	if (qj_list(q, &(struct qj_query){ &qj_queues, &qj_queue_desc, "", NULL, NULL }, add_page, &all))
		return qj_fail(q);
	if (!all.n) {
		fprintf(stderr, "No queues found\n");
		return 0;
	}
	qsort(all.items, all.n, sizeof(*all.items), by_name);
	all.table = qj_table_begin(q, heads);
	add_below(&all, "root", 0);
	qj_table_flush(&all.table);
	return 0;
}
