/* Groups as the pass sees them: what they need, which are alike, and the lines. */
#include "common/queue/impl.h"

#include <stdlib.h>
#include <string.h>

/* --- order ----------------------------------------------------------------------------------------- */

static int64_t level_of(struct q_pass *p, const struct q_group *g)
{
	static const int32_t classes[] = { 10, 100, 1000 };
	kar_time age = p->snapshot->flags.aging_interval;
	int64_t base = g->in->base, k;
	int64_t i = -1;

	if (base >= classes[2] || !age)
		return base;
	for (int64_t c = 0; c < 3; c++)
		i = classes[c] <= base ? c : i;
	k = g->wait / (age / KAR_SECOND > 0 ? age / KAR_SECOND : 1);
	if (k <= 0)
		return base;
	return q_max(base, classes[q_min(i + k, 2)]);
}

static kar_time waits_since(const struct kar_queue_group *in)
{
	return in->waiting_since ? in->waiting_since : in->creation;
}

/* Who may write statuses may have written any number: within these bounds no time overflows. */
static int64_t waited_seconds(const struct kar_queue_group *in)
{
	return kar_clamp(in->waited_seconds, 0, KAR_QUEUE_MAX_WAITED);
}

static void find_level(struct q_pass *p, struct q_group *g)
{
	kar_time age = p->snapshot->flags.aging_interval, starve = p->snapshot->flags.starvation_timeout;
	int64_t waited = waited_seconds(g->in);

	if (g->in->standing == KAR_QUEUE_ADMITTED) {
		g->wait = waited;
	} else {
		kar_time begin = waits_since(g->in) - waited * KAR_SECOND;

		g->wait = q_max(0, p->now - begin) / KAR_SECOND;
		if (age > 0 && level_of(p, g) < 1000 && p->now >= begin)
			q_note_time(p, begin + ((p->now - begin) / age + 1) * age);
		if (starve > 0)
			q_note_time(p, begin + starve);
	}
	g->level = (int32_t)level_of(p, g);
}

/* --- one group ------------------------------------------------------------------------------------- */

static int32_t count(const struct kar_queue_group *in)
{
	int64_t n = 0;

	for (uint32_t i = 0; i < in->n_runs; i++)
		n += in->runs[i].n;
	return (int32_t)kar_clamp(n, 0, INT32_MAX);
}

static bool has_pods(const struct kar_queue_group *in)
{
	bool any = in->n_leaving > 0;

	for (uint32_t i = 0; i < in->n_runs; i++)
		any |= in->runs[i].n_seats > 0;
	return any;
}

static void count_away(struct q_pass *p, struct q_group *g, kar_class class, int32_t n)
{
	g->away = g->away ? g->away : q_vector(p);
	q_add_class(p, class, n, g->away);
}

static void count_pods(struct q_pass *p, struct q_group *g)
{
	if (!has_pods(g->in))
		return;
	g->pods = q_vector(p);
	g->row_pods = kar_arena_alloc(p->arena, g->kind->n_rows + 1, sizeof(*g->row_pods));
	for (uint32_t i = 0; i < g->in->n_runs; i++) {
		const struct kar_queue_run *run = &g->in->runs[i];

		for (uint32_t k = 0; k < run->n_seats; k++) {
			if (!run->seats[k].bound)
				continue;
			q_add_class(p, run->class, run->seats[k].n, g->pods);
			q_add_charges(g->kind, run->charges, run->n_charges, run->seats[k].n, g->row_pods);
			if (q_is_away(p, &run->seats[k]))
				count_away(p, g, run->class, run->seats[k].n);
		}
	}
	for (uint32_t i = 0; i < g->in->n_leaving; i++) {
		const struct kar_queue_leaving *l = &g->in->leaving[i];

		q_add_class(p, l->class, l->n, g->pods);
		q_add_charges(g->kind, l->charges, l->n_charges, l->n, g->row_pods);
		if (l->node && !p->snapshot->no_nodes && !kar_sched_node_usable(p->snapshot->sched, l->node))
			count_away(p, g, l->class, l->n);
	}
}

static void set_up(struct q_pass *p, struct q_group *g)
{
	const struct kar_queue_group *in = g->in;

	g->queue = in->queue != KAR_QUEUE_NONE && p->queues[in->queue].in_force ? &p->queues[in->queue]
										: p->root;
	g->left = count(in);
	g->min = (int32_t)kar_clamp(in->min, g->left > 0, g->left);
	g->desired = in->desired < g->left ? in->desired : g->left;
	find_level(p, g);
	g->kind = q_kind_of(p, g);
	count_pods(p, g);
	if (in->ineligible == KAR_QR_FINISHED || in->ineligible == KAR_QR_JOB_INVALID ||
		in->ineligible == KAR_QR_SUSPENDED)
		return;
	g->st.standing = in->standing;
	g->st.n_kept = in->standing == KAR_QUEUE_ADMITTED ? g->desired : 0;
}

/* Groups of the rows, for those that are blocked. */
static void enter_rows(struct q_pass *p, struct q_group *g)
{
	for (uint32_t i = 0; i < g->kind->n_rows; i++) {
		struct q_row *row = &p->rows[g->kind->rows[i]];

		row->line = kar_arena_grow(p->arena, row->line, row->n_line, sizeof(struct q_group *));
		row->line[row->n_line++] = g;
		row->largest = q_max(row->largest, g->kind->row_minimum[i]);
	}
}

static void make_lines(struct q_pass *p)
{
	for (uint32_t i = 0; i < p->n_line; i++)
		p->line[i]->queue->n_line++;
	for (uint32_t i = 0; i <= p->snapshot->n_queues; i++) {
		p->queues[i].line =
			kar_arena_alloc(p->arena, p->queues[i].n_line + 1, sizeof(struct q_group *));
		p->queues[i].n_line = 0;
	}
	for (uint32_t i = 0; i < p->n_line; i++) {
		struct q_queue *q = p->line[i]->queue;

		q->line[q->n_line++] = p->line[i];
		enter_rows(p, p->line[i]);
	}
}

static int by_string(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The resources of the cluster are numbered by name, so that the order of the list says nothing. */
static void number_resources(struct q_pass *p, const struct kar_queue_amounts *list)
{
	const char **names = list->n ? kar_arena_alloc(p->arena, list->n, sizeof(*names)) : NULL;

	for (uint32_t i = 0; i < list->n; i++)
		names[i] = list->items[i].resource;
	if (list->n > 1)
		qsort(names, list->n, sizeof(*names), by_string);
	for (uint32_t i = 0; i < list->n; i++)
		q_resource(p, names[i]);
}

static void read_cluster(struct q_pass *p)
{
	int32_t permille = p->snapshot->flags.max_load_permille;

	number_resources(p, &p->snapshot->alloc);
	p->pods = q_resource(p, "pods");
	q_add_list(p, &p->snapshot->alloc, p->alloc);
	q_add_list(p, &p->snapshot->foreign, p->foreign);
	for (uint32_t r = 0; r < p->n_resources; r++) {
		bool scaled =
			permille && (strcmp(p->names[r], "cpu") == 0 || strcmp(p->names[r], "memory") == 0);
		kar_nano all = (kar_nano)p->alloc[r] * (scaled ? permille : 1000) / 1000;

		p->load[r] = q_max(0, (int64_t)all - p->foreign[r]);
	}
}

/* All resources that anything names have a number before there are vectors. */
static void number_rest(struct q_pass *p)
{
	for (uint32_t i = 0; i < p->snapshot->n_queues; i++) {
		const struct kar_queue_in *q = &p->snapshot->queues[i];

		number_resources(p, &q->deserved);
		number_resources(p, &q->guarantee);
		number_resources(p, &q->capability);
	}
	for (uint32_t i = 0; i < p->snapshot->n_groups; i++) {
		const struct kar_queue_group *g = &p->snapshot->groups[i];

		number_resources(p, &g->hold);
		p->n_holding += g->hold_yields;
		for (uint32_t k = 0; k < g->n_runs; k++)
			q_class_needs(p, g->runs[k].class);
		for (uint32_t k = 0; k < g->n_leaving; k++)
			q_class_needs(p, g->leaving[k].class);
	}
}

void q_setup(struct q_pass *p)
{
	uint32_t n = p->snapshot->n_groups;

	read_cluster(p);
	number_rest(p);
	q_tree(p);
	p->rows = kar_arena_alloc(p->arena, p->snapshot->n_rows + 1, sizeof(*p->rows));
	p->budgets = kar_arena_alloc(p->arena, p->snapshot->n_budgets + 1, sizeof(*p->budgets));
	for (uint32_t i = 0; i < p->snapshot->n_budgets; i++)
		p->budgets[i] = p->snapshot->budgets[i];
	p->groups = kar_arena_alloc(p->arena, n + 1, sizeof(*p->groups));
	p->line = kar_arena_alloc(p->arena, n + 1, sizeof(struct q_group *));
	for (p->kind_slots = 64; p->kind_slots < n;)
		p->kind_slots *= 2;
	p->kinds = kar_arena_alloc(p->arena, p->kind_slots, sizeof(struct q_kind *));
	for (uint32_t i = 0; i < n; i++) {
		struct q_group *g = &p->groups[i];

		*g = (struct q_group){ .in = &p->snapshot->groups[i], .index = i };
		set_up(p, g);
		if (g->in->ineligible != KAR_QR_FINISHED)
			p->line[p->n_line++] = g;
	}
	qsort(p->line, p->n_line, sizeof(struct q_group *), q_compare_line);
	make_lines(p);
	q_count_all(p);
}
