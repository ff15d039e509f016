/* What all files of the pass stand on: resources, pods and names of groups, and times. */
#include "common/queue/impl.h"

#include <string.h>

/* --- resources ------------------------------------------------------------------------------------- */

/* What counts first when pods are compared: GPUs of any maker, then cpu, then memory. */
static bool is_ranked(const char *name, size_t rank)
{
	static const char *const ranked[] = { "/gpu", "cpu", "memory" };
	const char *slash = strrchr(name, '/');

	return strcmp(rank || !slash ? name : slash, ranked[rank]) == 0;
}

static uint32_t find_resource(const struct q_input *in, const char *name)
{
	uint32_t r = 0;

	while (r < in->n_resources && strcmp(in->names[r], name) != 0)
		r++;
	return r < in->n_resources ? r : Q_RESOURCES;
}

uint32_t q_number_resource(struct q_input *in, const char *name)
{
	uint32_t r = find_resource(in, name);

	if (r < Q_RESOURCES || in->n_resources == Q_RESOURCES)
		return r;
	assert(!in->groups); /* vectors are as long as there were resources */
	in->names[in->n_resources] = name;
	for (size_t i = 0; i < KAR_LEN(in->ranked); i++)
		in->ranked[i] |= (uint64_t)is_ranked(name, i) << in->n_resources;
	return in->n_resources++;
}

uint32_t q_resource(const struct q_pass *p, const char *name)
{
	return find_resource(p->in, name);
}

bool q_knows_class(const struct q_pass *p, kar_class c)
{
	return c < p->memo->n_class_needs && p->memo->class_needs[c];
}

const int64_t *q_class_needs(const struct q_pass *p, kar_class c)
{
	const struct kar_pod_needs *needs;
	int64_t *v;

	if (c >= p->memo->n_class_needs) {
		uint32_t n = 2 * c + 64;
		const int64_t **all = kar_arena_alloc(p->arena, n, sizeof(int64_t *));
		uint32_t *failed = kar_arena_alloc(p->arena, n, sizeof(*failed));

		if (p->memo->n_class_needs) {
			memcpy(all, p->memo->class_needs, p->memo->n_class_needs * sizeof(int64_t *));
			memcpy(failed, p->memo->failed, p->memo->n_class_needs * sizeof(*failed));
		}
		p->memo->class_needs = all;
		p->memo->failed = failed;
		p->memo->n_class_needs = n;
	}
	if (p->memo->class_needs[c])
		return p->memo->class_needs[c];
	needs = kar_sched_needs(p->in->snapshot->sched, c);
	p->memo->class_needs[c] = v = kar_arena_alloc(p->arena, Q_RESOURCES, sizeof(*v));
	for (uint32_t i = 0; i < needs->n_amounts; i++) {
		uint32_t r = q_resource(p, needs->amounts[i].resource);

		if (r < Q_RESOURCES)
			v[r] = q_add(v[r], needs->amounts[i].amount);
	}
	if (!needs->room_only)
		v[p->in->pods] = q_add(v[p->in->pods], 1);
	return v;
}

uint32_t q_run_of(const struct q_group *g, int32_t k)
{
	uint32_t i = 0;

	while (i + 1 < g->in->n_runs && k >= g->in->runs[i].n)
		k -= g->in->runs[i++].n;
	return i;
}

bool q_is_away(const struct q_pass *p, const struct kar_queue_seat *s)
{
	return s->bound && s->node && !p->in->snapshot->no_nodes &&
		!kar_sched_node_usable(p->in->snapshot->sched, s->node);
}

void q_add_class(const struct q_pass *p, kar_class c, int64_t n, int64_t *v)
{
	const int64_t *needs = q_class_needs(p, c);

	for (uint32_t r = 0; r < p->in->n_resources; r++)
		v[r] = q_add(v[r], q_mul(needs[r], n));
}

uint32_t q_row_of(const struct q_kind *k, uint32_t row)
{
	uint32_t i = 0;

	while (i < k->n_rows && k->rows[i] != row)
		i++;
	return i;
}

void q_add_charges(const struct q_kind *k, const struct kar_queue_charge *charges, uint32_t n_charges,
	int64_t n, int64_t *rows)
{
	for (uint32_t i = 0; i < n_charges; i++) {
		uint32_t at = q_row_of(k, charges[i].row);

		if (at < k->n_rows)
			rows[at] = q_add(rows[at], q_mul(charges[i].amount, n));
	}
}

void q_add_pods(const struct q_pass *p, const struct q_group *g, int32_t from, int32_t to, int64_t *v,
	int64_t *rows)
{
	int32_t at = 0;

	for (uint32_t i = 0; i < g->in->n_runs && at < to; i++) {
		const struct kar_queue_run *run = &g->in->runs[i];
		int32_t first = from > at ? from : at, end = to < at + run->n ? to : at + run->n;

		at += run->n;
		if (first >= end)
			continue;
		q_add_class(p, run->class, end - first, v);
		if (rows && run->n_charges)
			q_add_charges(g->kind, run->charges, run->n_charges, end - first, rows);
	}
}

void q_add_list(const struct q_pass *p, const struct kar_queue_amounts *list, int64_t *to)
{
	for (uint32_t i = 0; i < list->n; i++) {
		uint32_t r = q_resource(p, list->items[i].resource);

		if (r < Q_RESOURCES)
			to[r] = q_add(to[r], list->items[i].amount);
	}
}

/* --- groups ---------------------------------------------------------------------------------------- */

int q_compare_names(const struct q_group *a, const struct q_group *b)
{
	int order = strcmp(a->in->ns, b->in->ns);

	return order ? order : strcmp(a->in->name, b->in->name);
}

/* Of those that yield to groups with members, the admitted ones yield to no other. */
static int yields(const struct q_group *g)
{
	bool waits = g->in->standing != KAR_QUEUE_ADMITTED;

	return 2 * (int)g->in->yields + (g->in->yields == KAR_QUEUE_YIELDS_TO_MEMBERS && waits);
}

/* It runs, and asks for what its raised minimum lacks. */
static bool grows(const struct q_group *g)
{
	return g->in->standing == KAR_QUEUE_ADMITTED && g->in->elastic && g->in->released &&
		g->desired < g->min;
}

int q_compare_line(const void *a, const void *b)
{
	const struct q_group *x = *(struct q_group *const *)a, *y = *(struct q_group *const *)b;

	if (yields(x) != yields(y))
		return yields(x) < yields(y) ? -1 : 1;
	if (x->level != y->level)
		return x->level > y->level ? -1 : 1;
	if (grows(x) != grows(y)) /* who waits goes first: when the minimum was raised is not known */
		return grows(x) ? 1 : -1;
	if (x->in->creation != y->in->creation)
		return x->in->creation < y->in->creation ? -1 : 1;
	return q_compare_names(x, y);
}

enum kar_queue_reason q_ineligible(const struct q_group *g)
{
	const struct kar_queue_group *in = g->in;
	enum kar_queue_reason found = KAR_QR_ADMITTED;

	if (in->queue == KAR_QUEUE_NONE)
		found = KAR_QR_QUEUE_NOT_FOUND;
	else if (!g->queue->in || g->queue->in->problem)
		found = KAR_QR_QUEUE_INVALID;
	else if (g->queue->n_children)
		found = KAR_QR_QUEUE_NOT_LEAF;
	else if (g->queue->closed)
		found = KAR_QR_QUEUE_CLOSED;
	if (!found || (in->ineligible && in->ineligible < found))
		found = in->ineligible;
	return found;
}

/* --- time ------------------------------------------------------------------------------------------ */

void q_note_time(const struct q_pass *p, kar_time at)
{
	if (at > p->in->now && at < p->memo->again_at)
		p->memo->again_at = at;
}

/* Does something hold until @end? In a dry run it does not, but then the run is about a later time. */
static bool holds_until(const struct q_pass *p, kar_time end)
{
	if (p->in->now >= end)
		return false;
	if (p->round.ignore_time) {
		p->memo->free_at = q_max(p->memo->free_at, end);
		return false;
	}
	q_note_time(p, end);
	return true;
}

/* ms after a scaling in which there is no other. */
static kar_time window(const struct q_pass *p, const struct q_group *g)
{
	kar_time own = g->in->freezing_window;

	return own ? q_max(own, 0) : p->in->snapshot->flags.freezing_window;
}

kar_time q_frozen_until(const struct q_pass *p, const struct q_group *g)
{
	/* Since then it has started anew, with its minimum. */
	if (!g->in->last_scale || g->in->last_scale < g->in->formed_at)
		return 0;
	return g->in->last_scale + window(p, g);
}

bool q_is_frozen(const struct q_pass *p, const struct q_group *g)
{
	return holds_until(p, q_frozen_until(p, g));
}

bool q_is_protected(const struct q_pass *p, const struct q_group *g, kar_time runtime)
{
	kar_time since = g->in->formed_at ? g->in->formed_at : g->in->admitted_at;

	if (g->in->standing != KAR_QUEUE_ADMITTED)
		since = p->in->now;
	if (g->st.readmitted || g->st.evicts)
		return true;
	return q_is_admitted(g) && since && holds_until(p, since + runtime);
}
