/* top: queues with what they use and who is next, and nodes with what is free; a terminal gets it again and again. */
#include "kubectl-qj/top.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/str.h"
#include "common/codec/quantity.h"
#include "common/loop/clock.h"

enum { PERIOD = 5000 /* ms; four lists are asked for each time */ };

struct next {
	const char *queue, *who; /* "ns/name" */
};
struct top {
	struct qj *q;
	struct qj_queue *queues;
	size_t n;
	struct next *next; /* the first of each queue */
	size_t n_next;
};

static int add_queues(void *arg, const struct kar_array *items)
{
	const struct qj_queue *from = items->items;
	struct top *t = arg;

	for (size_t i = 0; i < items->n; i++) {
		t->queues = kar_arena_grow(&t->q->arena, t->queues, t->n, sizeof(*t->queues));
		t->queues[t->n++] = from[i];
	}
	return 0;
}

static int add_next(void *arg, const struct kar_array *items)
{
	const struct qj_group *g = items->items;
	struct top *t = arg;

	for (size_t i = 0; i < items->n; i++) {
		if (g[i].status.position != 1)
			continue;
		t->next = kar_arena_grow(&t->q->arena, t->next, t->n_next, sizeof(*t->next));
		t->next[t->n_next++] = (struct next){ qj_group_queue(&g[i]),
			kar_arena_printf(&t->q->arena, "%s/%s", g[i].meta.ns ? g[i].meta.ns : "",
				g[i].meta.name) };
	}
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct qj_queue *x = a, *y = b;

	return strcmp(x->meta.name, y->meta.name);
}

static const char *next_of(const struct top *t, const char *queue)
{
	for (size_t i = 0; i < t->n_next; i++) {
		if (kar_streq(t->next[i].queue, queue))
			return t->next[i].who;
	}
	return "";
}

static double number(const char *quantity)
{
	struct kar_quantity n;

	return quantity && kar_quantity_parse(quantity, &n, NULL) == 0 ? (double)n.nano : 0;
}

static void add_row(const struct top *t, struct qj_table *table, const struct qj_queue *queue, size_t i)
{
	const struct kar_pair *used = queue->status.allocated.items;
	bool has = i < queue->status.allocated.n;
	const char *right = has ? kar_pairs_get(&queue->status.entitled, used[i].key) : NULL;
	double part = number(right) > 0 ? number(used[i].value) / number(right) : -1;

	qj_cell(table, "%s", queue->meta.name);
	qj_cell(table, "%s", has ? used[i].key : "");
	qj_cell(table, "%s", right ? right : "");
	qj_cell(table, "%s", has ? used[i].value : "");
	if (part < 0)
		qj_cell(table, "%s", "");
	else if (t->q->terminal)
		qj_cell(table, "%s %.0f%%", qj_bar(t->q, part, 12), 100 * part);
	else
		qj_cell(table, "%.0f%%", 100 * part);
	qj_cell(table, "%d", (int)queue->status.pending);
	qj_cell(table, "%s", next_of(t, queue->meta.name));
}

static int print_queues(struct qj *q)
{
	static const char *const heads[] = { "QUEUE", "RESOURCE", "SHARE", "USED", "OF-SHARE", "WAITING",
		"NEXT", NULL };
	const struct qj_query queues = { &qj_queues, &qj_queue_desc, "", NULL, NULL };
	struct qj_query groups = { &qj_groups, &qj_group_desc, "", NULL, NULL };
	struct top t = { .q = q };
	struct qj_table table;

	if (qj_list(q, &queues, add_queues, &t))
		return -1;
	/* Who may not see the groups of all sees those of his namespace as next. */
	if (qj_list(q, &groups, add_next, &t)) {
		if (q->err.what != KAR_DENIED)
			return -1;
		t.n_next = 0;
		groups.ns = q->ns;
		if (qj_list(q, &groups, add_next, &t) && q->err.what != KAR_DENIED)
			return -1;
	}
	if (t.n)
		qsort(t.queues, t.n, sizeof(*t.queues), by_name);
	table = qj_table_begin(q, heads);
	for (size_t i = 0; i < t.n; i++) {
		for (size_t k = 0; k == 0 || k < t.queues[i].status.allocated.n; k++)
			add_row(&t, &table, &t.queues[i], k);
	}
	qj_table_flush(&table);
	return 0;
}

/* Its memory is given back: it may be drawn for days. -1: .err says why it is not drawn. */
static int draw(struct qj *q)
{
	struct kar_arena kept = q->arena;
	FILE *out = q->out;
	char *text = NULL;
	size_t n = 0;
	int status;

	q->arena = (struct kar_arena){ 0 };
	q->out = open_memstream(&text, &n);
	if (!q->out)
		abort();
	status = print_queues(q);
	if (status == 0) {
		fprintf(q->out, "\n");
		qj_print_nodes(q);
	}
	fclose(q->out);
	q->out = out;
	if (q->terminal && status == 0)
		fprintf(out, "\033[H\033[J");
	fwrite(text, 1, n, out);
	fflush(out);
	free(text);
	kar_arena_release(&q->arena);
	q->arena = kept;
	return status;
}

/* Who could see the queues before sees them again when the server has time, or is back. */
static bool may_pass(const struct qj *q)
{
	return q->err.what != KAR_DENIED && q->err.what != KAR_UNAUTHORIZED;
}

/* The picture before stays, with one line below it that says why it is old. */
static int draw_again_and_again(struct qj *q)
{
	bool drawn = true;

	for (;;) {
		bool before = drawn;

		qj_pause(q, PERIOD);
		q->now = kar_clock_wall();
		drawn = draw(q) == 0;
		if (!drawn && (before || !may_pass(q)))
			(void)qj_fail(q);
		if (!drawn && !may_pass(q))
			return 1;
	}
}

int qj_cmd_top(struct qj *q)
{
	if (q->o.n_args || q->o.all)
		return qj_misused(q);
	if (draw(q))
		return qj_fail(q);
	return q->terminal ? draw_again_and_again(q) : 0;
}
