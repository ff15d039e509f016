/* Queues: which parents are in force, who is a leaf, closed, and what rights count. */
#include "common/queue/impl.h"

#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
	const struct q_queue *const *x = a, *const *y = b;

	return strcmp((*x)->in->name, (*y)->in->name);
}

static struct q_queue *find(struct q_queue **sorted, uint32_t n, const char *name)
{
	const struct kar_queue_in in = { .name = name };
	struct q_queue wanted = { .in = &in }, *key = &wanted;
	struct q_queue **found = bsearch(&key, sorted, n, sizeof(struct q_queue *), by_name);

	return found ? *found : NULL;
}

/* NULL: top; @missing: it does not exist. */
static struct q_queue *named_parent(struct q_queue **sorted, uint32_t n, const char *name, bool *missing)
{
	struct q_queue *parent = NULL;

	if (name && *name && strcmp(name, "root") != 0) {
		parent = find(sorted, n, name);
		*missing = !parent;
	}
	return parent;
}

static enum kar_queue_validity of_depth(int depth)
{
	return depth > KAR_QUEUE_LEVELS ? KAR_QUEUE_TOO_DEEP : KAR_QUEUE_VALID;
}

/*
 * By the specs alone, so that the answer for a queue is that for all of its path. Up to one whose answer is known, then down again: each
 * queue is passed about twice. @path has room for all queues.
 */
static void check(struct q_queue **sorted, uint32_t n, struct q_queue *q, struct q_queue **path)
{
	enum kar_queue_validity found = KAR_QUEUE_VALID;
	uint32_t steps = 0;
	int depth = 0;

	for (struct q_queue *x = q; x && !found;) {
		bool missing = false;

		if (x->checked) {
			found = x->validity == KAR_QUEUE_TOO_DEEP ? KAR_QUEUE_VALID : x->validity;
			depth = x->depth;
			break;
		}
		if (steps == n) {
			found = KAR_QUEUE_PARENT_CYCLE;
			break;
		}
		path[steps++] = x;
		x = named_parent(sorted, n, x->in->parent, &missing);
		if (missing || (x && x->in->deleting))
			found = KAR_QUEUE_PARENT_NOT_FOUND;
	}
	while (steps-- > 0) {
		struct q_queue *x = path[steps];

		x->depth = ++depth;
		x->validity = found ? found : of_depth(depth);
		x->checked = true;
	}
}

static void hang_up(struct q_pass *p, struct q_queue **sorted, struct q_queue *q)
{
	uint32_t n = p->in->snapshot->n_queues;
	const char *name = q->validity == KAR_QUEUE_VALID ? q->in->parent : q->in->parent_in_force;
	bool missing = q->validity != KAR_QUEUE_VALID && !name;
	struct q_queue *parent = named_parent(sorted, n, name, &missing);

	q->in_force = !missing;
	q->parent = parent ? parent : p->in->root;
}

/* Parents in force of invalid queues may form what no spec may: those that do not reach the root within the levels have no place. */
static void find_depth(const struct q_pass *p, struct q_queue *q)
{
	const struct q_queue *x = q;
	int depth = 0;

	while (x != p->in->root && x->in_force && depth <= KAR_QUEUE_LEVELS) {
		x = x->parent;
		depth++;
	}
	q->depth = depth;
	if (x != p->in->root || depth > KAR_QUEUE_LEVELS)
		q->in_force = false;
}

static void link_children(struct q_pass *p)
{
	for (uint32_t i = 0; i < p->in->snapshot->n_queues; i++) {
		if (p->in->queues[i].in_force)
			p->in->queues[i].parent->n_children++;
	}
	for (uint32_t i = 0; i <= p->in->snapshot->n_queues; i++) {
		p->in->queues[i].children =
			kar_arena_alloc(p->arena, p->in->queues[i].n_children + 1, sizeof(struct q_queue *));
		for (p->in->queues[i].width = 1; p->in->queues[i].width < p->in->queues[i].n_children;)
			p->in->queues[i].width *= 2;
		p->in->queues[i].n_children = 0;
	}
}

static int64_t weight_of(const struct q_queue *q)
{
	return q->in->weight > 0 ? q->in->weight : 1;
}

static void read_history(const struct q_pass *p, struct q_queue *q)
{
	const struct q_queue *parent = q->parent;
	bool counts = parent->in ? parent->in->by_history : p->in->snapshot->flags.by_history;

	q->had = counts ? q->in->history / weight_of(q) : 0;
}

static void set_state(struct q_queue *q, bool closed, bool drain)
{
	q->closed = closed || (q->in && (q->in->closed || q->in->deleting));
	q->drain = drain || (q->in && q->in->closed && q->in->drain);
	for (uint32_t i = 0; i < q->n_children; i++)
		set_state(q->children[i], q->closed, q->drain);
}

static void read_amounts(const struct q_pass *p, const struct kar_queue_amounts *list, int64_t *to, bool pods)
{
	for (uint32_t i = 0; i < list->n; i++) {
		uint32_t r = q_resource(p, list->items[i].resource);

		if (r < Q_RESOURCES && (pods || r != p->in->pods))
			to[r] = list->items[i].amount;
	}
}

static void read_rights(const struct q_pass *p, struct q_queue *q)
{
	q->right = q_vector(p);
	q->floor = p->in->n_flavors ? q_vector(p) : q->right;
	q->guarantee = q_vector(p);
	q->capability = q_vector(p);
	q->idle = q_vector(p);
	q->due = q_vector(p);
	q->sum = kar_arena_alloc(p->arena, p->in->n_resources, sizeof(*q->sum));
	for (uint32_t r = 0; r < p->in->n_resources; r++) {
		q->right[r] = Q_UNNAMED;
		q->capability[r] = Q_NO_LIMIT;
	}
	if (!q->in)
		return;
	read_amounts(p, &q->in->deserved, q->right, false);
	read_amounts(p, &q->in->guarantee, q->guarantee, false);
	read_amounts(p, &q->in->capability, q->capability, true);
	q->names_any = q->in->deserved.n > 0;
	q_read_flavor_rights(p, q);
}

static void find_floor(const struct q_input *in, struct q_queue *q)
{
	if (q->floor == q->right)
		return;
	for (uint32_t r = 0; r < in->n_resources; r++)
		q->floor[r] = q->right[r];
	for (uint32_t r = in->n_plain; r < in->n_resources; r++) {
		uint32_t plain = in->plain_of[r];

		if (q->right[plain] == Q_UNNAMED && q->right[r] != Q_UNNAMED)
			q->floor[plain] = q_add(q_max(q->floor[plain], 0), q->right[r]);
	}
}

/* Children first: an inner queue without rights has those of its children, and guarantees at least what they do. */
static void add_up_rights(struct q_input *in, struct q_queue *q)
{
	bool own = q->names_any;

	for (uint32_t i = 0; i < q->n_children; i++) {
		const struct q_queue *c = q->children[i];

		add_up_rights(in, q->children[i]);
		for (uint32_t r = 0; r < in->n_resources && !own; r++) {
			if (c->right[r] != Q_UNNAMED)
				q->right[r] = q_add(q_max(q->right[r], 0), c->right[r]);
		}
		q->names_any |= c->names_any;
	}
	find_floor(in, q);
	for (uint32_t r = 0; r < in->n_resources; r++) {
		int64_t all = 0;

		for (uint32_t i = 0; i < q->n_children; i++)
			all = q_add(all, q->children[i]->guarantee[r]);
		q->guarantee[r] = q_max(q->guarantee[r], all);
		q->idle[r] = all;
		in->has_guarantees |= all > 0;
	}
	in->has_rights |= q->names_any;
}

/* --- what they are entitled to --------------------------------------------------------------------- */

/* A sibling has a right to the resource. */
static bool has_rivals(const struct q_queue *q, uint32_t r)
{
	for (uint32_t i = 0; i < q->parent->n_children; i++) {
		const struct q_queue *c = q->parent->children[i];

		if (c != q && !c->closed && c->right[r] > 0)
			return true;
	}
	return false;
}

/* What the children are due of what their parent is due: their rights, and the rest by weight. */
static void entitle(struct q_pass *p, const struct q_queue *q, const int64_t *due)
{
	int64_t rights[Q_RESOURCES] = { 0 }, weights = 0;

	for (uint32_t i = 0; i < q->n_children; i++) {
		const struct q_queue *c = q->children[i];

		weights += c->closed ? 0 : weight_of(c);
		for (uint32_t r = 0; r < p->in->n_resources && !c->closed; r++)
			rights[r] = q_add(rights[r], q_max(c->floor[r], 0));
	}
	for (uint32_t i = 0; i < q->n_children; i++) {
		struct q_queue *c = q->children[i];

		c->lent = q_vector(p);
		for (uint32_t r = 0; r < p->in->n_resources; r++) {
			int64_t own = q_max(c->floor[r], 0);

			assert(c->closed || weights > 0);
			if (!c->closed && due[r] > rights[r])
				own = q_add(own,
					(int64_t)((kar_nano)(due[r] - rights[r]) * weight_of(c) / weights));
			c->due[r] = q_min(own, c->capability[r]);
			c->lent[r] = has_rivals(c, r) ? c->due[r] : Q_NO_LIMIT;
		}
		entitle(p, c, c->due);
	}
}

int64_t q_limit(const struct q_queue *q, uint32_t r, const struct q_group *g)
{
	return g->in->not_returnable && q->lent ? q_min(q->capability[r], q->lent[r]) : q->capability[r];
}

int64_t q_queue_room(const struct q_queue *q, uint32_t r, const struct q_group *g, enum q_view view,
	int64_t *limit)
{
	int64_t room = q->capability[r] == Q_NO_LIMIT ? Q_NO_LIMIT
						      : q_sub(q->capability[r], q_seen(&q->sum[r], view)),
		lent = q_limit(q, r, g), used;

	*limit = q->capability[r];
	if (lent >= q->capability[r])
		return room;
	used = q_is_admitted(g) ? q_seen(&q->sum[r], view) : q->sum[r].minima;
	if (q_sub(lent, used) >= room)
		return room;
	*limit = lent;
	return q_sub(lent, used);
}

void q_tree(struct q_input *in, struct q_pass *p)
{
	uint32_t n = p->in->snapshot->n_queues;
	struct q_queue **sorted = kar_arena_alloc(p->arena, n + 1, sizeof(struct q_queue *));
	struct q_queue **path = kar_arena_alloc(p->arena, n + 1, sizeof(struct q_queue *));

	in->queues = kar_arena_alloc(p->arena, n + 1, sizeof(*in->queues));
	in->root = &in->queues[n];
	*in->root = (struct q_queue){ .index = KAR_QUEUE_NONE, .in_force = true };
	for (uint32_t i = 0; i < n; i++) {
		in->queues[i] = (struct q_queue){ .in = &p->in->snapshot->queues[i], .index = i };
		sorted[i] = &in->queues[i];
	}
	qsort(sorted, n, sizeof(struct q_queue *), by_name);
	for (uint32_t i = 0; i <= n; i++)
		read_rights(p, &in->queues[i]);
	for (uint32_t i = 0; i < n; i++) {
		check(sorted, n, &in->queues[i], path);
		hang_up(p, sorted, &in->queues[i]);
	}
	for (uint32_t i = 0; i < n; i++)
		find_depth(p, &in->queues[i]);
	link_children(p);
	for (uint32_t i = 0; i < n; i++) {
		struct q_queue *q = sorted[i];

		if (!q->in_force)
			continue;
		read_history(p, q);
		q->place = q->parent->n_children;
		q->parent->children[q->parent->n_children++] = q;
	}
	set_state(in->root, false, false);
	add_up_rights(in, in->root);
	entitle(p, in->root, p->in->alloc);
}

bool q_is_below(const struct q_queue *q, const struct q_queue *a)
{
	while (q->depth > a->depth)
		q = q->parent;
	return q == a;
}

bool q_pair(struct q_queue *q, struct q_queue *v, struct q_queue **a, struct q_queue **b)
{
	while (q->depth > v->depth && q->parent != v)
		q = q->parent;
	while (v->depth > q->depth && v->parent != q)
		v = v->parent;
	while (q->parent != v->parent && q->parent && v->parent) {
		q = q->parent;
		v = v->parent;
	}
	*a = q;
	*b = v;
	return q != v && q->parent && q->parent == v->parent;
}
