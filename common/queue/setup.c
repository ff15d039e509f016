/* Groups as the pass sees them: what they need, which are alike, and the lines. */
#include "common/queue/impl.h"

#include <stdlib.h>
#include <string.h>

/* --- order ----------------------------------------------------------------------------------------- */

static int64_t level_of(const struct q_pass *p, const struct q_group *g)
{
	static const int32_t classes[] = { 10, 100, 1000 };
	kar_time age = p->in->snapshot->flags.aging_interval;
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

static void find_level(const struct q_pass *p, struct q_group *g)
{
	kar_time age = p->in->snapshot->flags.aging_interval,
		 starve = p->in->snapshot->flags.starvation_timeout;
	int64_t waited = waited_seconds(g->in);

	if (g->in->standing == KAR_QUEUE_ADMITTED) {
		g->wait = waited;
	} else {
		kar_time begin = waits_since(g->in) - waited * KAR_SECOND;

		g->wait = q_max(0, p->in->now - begin) / KAR_SECOND;
		if (age > 0 && level_of(p, g) < 1000 && p->in->now >= begin)
			q_note_time(p, begin + ((p->in->now - begin) / age + 1) * age);
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

static void count_away(const struct q_pass *p, struct q_group *g, kar_class class, const char *node,
	int32_t n)
{
	g->away = g->away ? g->away : q_vector(p);
	q_add_class_on(p, class, node, n, g->away);
}

static void count_pods(const struct q_pass *p, struct q_group *g)
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
			q_add_class_on(p, run->class, run->seats[k].node, run->seats[k].n, g->pods);
			q_add_charges(g->kind, run->charges, run->n_charges, run->seats[k].n, g->row_pods);
			if (q_is_away(p, &run->seats[k]))
				count_away(p, g, run->class, run->seats[k].node, run->seats[k].n);
		}
	}
	for (uint32_t i = 0; i < g->in->n_leaving; i++) {
		const struct kar_queue_leaving *l = &g->in->leaving[i];

		q_add_class_on(p, l->class, l->node, l->n, g->pods);
		q_add_charges(g->kind, l->charges, l->n_charges, l->n, g->row_pods);
		if (l->node && !p->in->snapshot->no_nodes &&
			!kar_sched_node_usable(p->in->snapshot->sched, l->node))
			count_away(p, g, l->class, l->node, l->n);
	}
}

static void set_up(struct q_pass *p, struct q_group *g)
{
	const struct kar_queue_group *in = g->in;

	g->queue = in->queue != KAR_QUEUE_NONE && p->in->queues[in->queue].in_force
		? &p->in->queues[in->queue]
		: p->in->root;
	g->left = count(in);
	g->min = (int32_t)kar_clamp(in->min, g->left > 0, g->left);
	g->desired = in->desired < g->left ? in->desired : g->left;
	g->st.flavor = in->standing != KAR_QUEUE_WAITING ? in->flavor : 0;
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
		struct q_row *row = &p->in->rows[g->kind->rows[i]];

		row->line = kar_arena_grow(p->arena, row->line, row->n_line, sizeof(struct q_group *));
		row->line[row->n_line++] = g;
		row->largest = q_max(row->largest, g->kind->row_minimum[i]);
	}
}

static void make_lines(struct q_pass *p)
{
	for (uint32_t i = 0; i < p->in->n_line; i++)
		p->in->line[i]->queue->n_line++;
	for (uint32_t i = 0; i <= p->in->snapshot->n_queues; i++) {
		p->in->queues[i].line =
			kar_arena_alloc(p->arena, p->in->queues[i].n_line + 1, sizeof(struct q_group *));
		p->in->queues[i].n_line = 0;
	}
	for (uint32_t i = 0; i < p->in->n_line; i++) {
		struct q_queue *q = p->in->line[i]->queue;

		q->line[q->n_line++] = p->in->line[i];
		enter_rows(p, p->in->line[i]);
	}
}

static int by_string(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The resources of the cluster are numbered by name, so that the order of the list says nothing. */
static void number_resources(struct q_input *in, const struct q_pass *p, const struct kar_queue_amounts *list)
{
	const char **names = list->n ? kar_arena_alloc(p->arena, list->n, sizeof(*names)) : NULL;

	for (uint32_t i = 0; i < list->n; i++)
		names[i] = list->items[i].resource;
	if (list->n > 1)
		qsort(names, list->n, sizeof(*names), by_string);
	for (uint32_t i = 0; i < list->n; i++)
		q_number_resource(in, names[i]);
}

static void read_cluster(struct q_input *in, const struct q_pass *p)
{
	int32_t permille = p->in->snapshot->flags.max_load_permille;

	number_resources(in, p, &p->in->snapshot->alloc);
	in->pods = q_number_resource(in, "pods");
	for (uint32_t i = 0; i < p->in->snapshot->foreign.n; i++)
		q_number_resource(in, p->in->snapshot->foreign.items[i].resource);
	q_add_list(p, &p->in->snapshot->alloc, in->alloc);
	q_add_list(p, &p->in->snapshot->foreign, in->foreign);
	for (uint32_t r = 0; r < p->in->n_resources; r++) {
		bool scaled = permille &&
			(strcmp(p->in->names[r], "cpu") == 0 || strcmp(p->in->names[r], "memory") == 0);
		kar_nano all = (kar_nano)p->in->alloc[r] * (scaled ? permille : 1000) / 1000;

		in->load[r] = q_max(0, (int64_t)all - p->in->foreign[r]);
	}
}

static void number_class(struct q_input *in, const struct q_pass *p, kar_class class)
{
	const struct kar_pod_needs *needs;

	if (q_knows_class(p, class))
		return;
	needs = kar_sched_needs(p->in->snapshot->sched, class);
	for (uint32_t i = 0; i < needs->n_amounts; i++)
		q_number_resource(in, needs->amounts[i].resource);
	q_class_needs(p, class);
}

/* All resources that anything names have a number before there are vectors. */
static void number_rest(struct q_input *in, struct q_pass *p)
{
	for (uint32_t i = 0; i < p->in->snapshot->n_queues; i++) {
		const struct kar_queue_in *q = &p->in->snapshot->queues[i];

		number_resources(in, p, &q->deserved);
		number_resources(in, p, &q->guarantee);
		number_resources(in, p, &q->capability);
		for (uint32_t k = 0; k < q->n_flavors; k++) {
			number_resources(in, p, &q->flavors[k].deserved);
			number_resources(in, p, &q->flavors[k].capability);
		}
	}
	for (uint32_t i = 0; i < p->in->snapshot->n_preemptible; i++)
		number_class(in, p, p->in->snapshot->preemptible[i].class);
	for (uint32_t i = 0; i < p->in->snapshot->n_groups; i++) {
		const struct kar_queue_group *g = &p->in->snapshot->groups[i];

		number_resources(in, p, &g->hold);
		p->plan.n_holding += g->hold_yields;
		p->plan.n_held += g->hold.n > 0;
		for (uint32_t k = 0; k < g->n_runs; k++)
			number_class(in, p, g->runs[k].class);
		for (uint32_t k = 0; k < g->n_edited; k++)
			number_class(in, p, g->edited[k].class);
		for (uint32_t k = 0; k < g->n_leaving; k++)
			number_class(in, p, g->leaving[k].class);
		for (uint32_t k = 0; k < g->n_unbound; k++)
			number_class(in, p, g->unbound[k].class);
	}
}

void q_setup(struct q_input *in, struct q_pass *p)
{
	uint32_t n = p->in->snapshot->n_groups;

	read_cluster(in, p);
	number_rest(in, p);
	q_number_flavors(in, p);
	q_tree(in, p);
	in->rows = kar_arena_alloc(p->arena, p->in->snapshot->n_rows + 1, sizeof(*in->rows));
	p->plan.budgets = kar_arena_alloc(p->arena, p->in->snapshot->n_budgets + 1, sizeof(*p->plan.budgets));
	for (uint32_t i = 0; i < p->in->snapshot->n_budgets; i++)
		p->plan.budgets[i] = p->in->snapshot->budgets[i];
	in->groups = kar_arena_alloc(p->arena, n + 1, sizeof(*in->groups));
	in->line = kar_arena_alloc(p->arena, n + 1, sizeof(struct q_group *));
	for (in->kind_slots = 64; in->kind_slots < n;)
		in->kind_slots *= 2;
	in->kinds = kar_arena_alloc(p->arena, in->kind_slots, sizeof(struct q_kind *));
	for (uint32_t i = 0; i < n; i++) {
		struct q_group *g = &in->groups[i];

		*g = (struct q_group){ .in = &p->in->snapshot->groups[i], .index = i };
		set_up(p, g);
		if (g->in->ineligible != KAR_QR_FINISHED)
			in->line[in->n_line++] = g;
	}
	qsort(in->line, in->n_line, sizeof(struct q_group *), q_compare_line);
	make_lines(p);
	q_count_flavors(in, p);
	q_count_all(p);
}
