/* What groups ask for: resources, pods and names of groups, times, asks, and which groups are alike. */
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

	uint32_t n = in->n_plain ? in->n_plain : in->n_resources; /* while they are numbered, all are plain */

	while (r < n && strcmp(in->names[r], name) != 0)
		r++;
	return r < n ? r : Q_RESOURCES;
}

uint32_t q_number_resource(struct q_input *in, const char *name)
{
	uint32_t r = find_resource(in, name);

	if (r < Q_RESOURCES || in->n_resources == Q_RESOURCES)
		return r;
	assert(!in->groups); /* vectors are as long as there were resources */
	in->names[in->n_resources] = name;
	in->plain_of[in->n_resources] = (uint8_t)in->n_resources;
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
	q_add_flavored(p, needs, v);
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
		q_add_class(p, q_class_of(p, g, i), end - first, v);
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

kar_time q_grows_at(const struct q_pass *p, const struct q_group *g)
{
	return q_max(q_frozen_until(p, g), g->in->grows_at);
}

bool q_pauses(const struct q_pass *p, const struct q_group *g)
{
	return holds_until(p, q_grows_at(p, g));
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

/* === asks ======================================================================================== */

bool q_is_candidate(const struct q_group *g)
{
	if (g->st.standing == KAR_QUEUE_WAITING)
		return !g->st.cause && q_ineligible(g) == KAR_QR_ADMITTED;
	return q_is_admitted(g) && g->in->elastic && g->st.n_kept < g->min && g->queue->in &&
		!g->queue->closed; /* its minimum was raised, perhaps from nothing */
}

struct q_ask q_ask_minimum(struct q_group *g)
{
	return (struct q_ask){ .group = g,
		.from = 0,
		.to = g->min,
		.needs = g->kind->minimum,
		.rows = g->kind->row_minimum,
		.job = true };
}

struct q_ask q_ask_pods(const struct q_pass *p, struct q_group *g, int32_t from, int32_t to)
{
	int64_t *v = q_vector(p);
	int64_t *rows = kar_arena_alloc(p->arena, g->kind->n_rows + 1, sizeof(*rows));

	q_add_pods(p, g, from, to, v, rows);
	return (struct q_ask){ .group = g,
		.from = from,
		.to = to,
		.needs = v,
		.rows = rows,
		.extra = from >= g->min };
}

struct q_ask q_ask_of(const struct q_pass *p, struct q_group *g)
{
	return q_is_admitted(g) ? q_ask_pods(p, g, g->st.n_kept, g->min) : q_ask_minimum(g);
}

/* === groups that are alike share what they need, and whether it can be had ======================= */

static uint64_t mix(uint64_t hash, uint64_t n)
{
	hash ^= n;
	hash *= 0x9e3779b97f4a7c15U;
	return hash ^ (hash >> 29);
}

static uint64_t flags_of(const struct kar_queue_group *in)
{
	return (uint64_t)in->elastic | (uint64_t)(in->topology.n_labels > 0) << 1 |
		(uint64_t)in->no_node_check << 2 | (uint64_t)in->unverified << 3 |
		(uint64_t)in->never_preempts << 4 | (uint64_t)in->no_provisioning << 5 |
		(uint64_t)in->takes_nothing << 6 | (uint64_t)(in->not_returnable != NULL) << 7 |
		(uint64_t)in->created_bound << 8 | (uint64_t)(in->standing == KAR_QUEUE_RESERVING) << 9 |
		(uint64_t)in->own_tolerations << 10;
}

static uint64_t hash_of(const struct q_group *g)
{
	uint64_t h = mix(g->queue->index, (uint64_t)(uint32_t)g->in->base << 32 | (uint32_t)g->min);

	h = mix(mix(h, (uint64_t)g->level), flags_of(g->in));
	for (uint32_t i = 0; i < g->in->n_runs; i++)
		h = mix(h, (uint64_t)g->in->runs[i].class << 32 | (uint32_t)g->in->runs[i].n);
	return g->st.flavor ? mix(h, g->st.flavor) : h;
}

static bool same_charges(const struct kar_queue_charge *a, const struct kar_queue_charge *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (a[i].row != b[i].row || a[i].amount != b[i].amount)
			return false;
	}
	return true;
}

static bool same_runs(const struct kar_queue_run *a, const struct kar_queue_run *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (a[i].class != b[i].class || a[i].n != b[i].n || a[i].n_charges != b[i].n_charges ||
			a[i].ask != b[i].ask || !same_charges(a[i].charges, b[i].charges, a[i].n_charges))
			return false;
	}
	return true;
}

static bool same_hold(const struct kar_queue_amounts *a, const struct kar_queue_amounts *b)
{
	for (uint32_t i = 0; a->n == b->n && i < a->n; i++) {
		if (a->items[i].amount != b->items[i].amount ||
			strcmp(a->items[i].resource, b->items[i].resource) != 0)
			return false;
	}
	return a->n == b->n;
}

/* Rows of what leaves are rows of the kind, so it is alike to no other. */
static bool leaves_rows(const struct kar_queue_group *in)
{
	for (uint32_t i = 0; i < in->n_leaving; i++) {
		if (in->leaving[i].n_charges)
			return true;
	}
	return false;
}

static bool same_wish(const struct kar_topology_wish *a, const struct kar_topology_wish *b)
{
	if (a->n_labels != b->n_labels || a->required != b->required || a->preferred != b->preferred ||
		a->slice_depth != b->slice_depth || a->slice_size != b->slice_size ||
		a->balance != b->balance)
		return false;
	for (uint32_t i = 0; i < a->n_labels; i++) {
		if (strcmp(a->labels[i], b->labels[i]) != 0)
			return false;
	}
	return true;
}

static bool same_wishes(const struct kar_queue_group *a, const struct kar_queue_group *b)
{
	bool same = a->n_wishes == b->n_wishes && same_wish(&a->topology, &b->topology);

	for (uint32_t i = 0; i < a->n_wishes && same; i++)
		same = same_wish(&a->wishes[i], &b->wishes[i]);
	return same;
}

static bool are_alike(const struct q_group *a, const struct q_group *b)
{
	const struct kar_queue_group *x = a->in, *y = b->in;

	return !x->n_last && !y->n_last && !leaves_rows(x) && !leaves_rows(y) && a->queue == b->queue &&
		a->level == b->level && a->min == b->min && x->base == y->base && x->n_runs == y->n_runs &&
		flags_of(x) == flags_of(y) && same_wishes(x, y) && same_hold(&x->hold, &y->hold) &&
		x->n_hold_charges == y->n_hold_charges &&
		same_charges(x->hold_charges, y->hold_charges, x->n_hold_charges) &&
		same_runs(x->runs, y->runs, x->n_runs);
}

/* By name: the order of the snapshot says nothing. */
static void sort_rows(const struct q_pass *p, struct q_kind *k)
{
	for (uint32_t i = 1; i < k->n_rows; i++) {
		for (uint32_t j = i; j > 0; j--) {
			const struct kar_queue_quota_row *a = &p->in->snapshot->rows[k->rows[j - 1]],
							 *b = &p->in->snapshot->rows[k->rows[j]];
			int order = strcmp(a->quota, b->quota);
			uint32_t row = k->rows[j];

			if (order < 0 || (!order && strcmp(a->resource, b->resource) <= 0))
				break;
			k->rows[j] = k->rows[j - 1];
			k->rows[j - 1] = row;
		}
	}
}

static void add_rows(const struct q_pass *p, struct q_kind *k, const struct kar_queue_charge *charges,
	uint32_t n, uint32_t most)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t row = charges[i].row;

		if (q_row_of(k, row) == k->n_rows && k->n_rows < most && !p->in->snapshot->rows[row].unknown)
			k->rows[k->n_rows++] = row;
	}
}

static void find_rows(const struct q_pass *p, struct q_kind *k, const struct kar_queue_group *in)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < in->n_runs; i++)
		most += in->runs[i].n_charges;
	for (uint32_t i = 0; i < in->n_leaving; i++)
		most += in->leaving[i].n_charges;
	most += in->n_hold_charges;
	most = most < Q_ROWS ? most : Q_ROWS;
	k->rows = kar_arena_alloc(p->arena, most + 1, sizeof(*k->rows));
	k->row_minimum = kar_arena_alloc(p->arena, most + 1, sizeof(*k->row_minimum));
	for (uint32_t i = 0; i < in->n_runs; i++)
		add_rows(p, k, in->runs[i].charges, in->runs[i].n_charges, most);
	for (uint32_t i = 0; i < in->n_leaving; i++)
		add_rows(p, k, in->leaving[i].charges, in->leaving[i].n_charges, most);
	add_rows(p, k, in->hold_charges, in->n_hold_charges, most);
	sort_rows(p, k);
}

struct q_kind *q_kind_of(struct q_pass *p, struct q_group *g)
{
	uint64_t hash = hash_of(g);
	struct q_kind **slot = &p->in->kinds[hash & (p->in->kind_slots - 1)], *k;

	for (k = *slot; k; k = k->next) {
		if (k->hash == hash && k->flavor == g->st.flavor && are_alike(k->first, g))
			return k;
	}
	k = kar_arena_alloc(p->arena, 1, sizeof(*k));
	*k = (struct q_kind){ .first = g,
		.next = *slot,
		.hash = hash,
		.flavor = g->st.flavor,
		.feasible = -1 };
	*slot = k;
	k->minimum = q_vector(p);
	find_rows(p, k, g->in);
	g->kind = k;
	q_add_pods(p, g, 0, g->min, k->minimum, k->row_minimum);
	q_add_hold(p, g, k->minimum);
	q_add_charges(k, g->in->hold_charges, g->in->n_hold_charges, 1, k->row_minimum);
	return k;
}
