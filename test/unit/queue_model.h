/*
 * queue_model - the accounts of section 5 of docs/design/queue.md, recomputed from the objects at each question: slow and obvious. The
 * tests compare the pass with it. It knows the four resources of the worlds of queue_drawn.h, and holds only what no plan changes: what
 * pods of a class ask for, and the parents of queues.
 */
#ifndef KAR_TEST_QUEUE_MODEL_H
#define KAR_TEST_QUEUE_MODEL_H

#include "test/unit/queue_world.h"

enum { MODEL_RESOURCES = 4, MODEL_PODS = 3, MODEL_CLASSES = 64 };
#define MODEL_ROOT KAR_QUEUE_NONE
static const char *const model_resources[MODEL_RESOURCES] = { "cpu", "memory", "nvidia.com/gpu", "pods" };

struct vec {
	int64_t of[MODEL_RESOURCES];
};

static const struct vec model_nothing;

/* What is decided about groups. */
struct model_state {
	enum kar_queue_standing standing[16];
	int32_t d[16];
};

struct model {
	const struct kar_queue_snapshot *s;
	kar_time now;
	bool one_node; /* what the sums say is then all there is */
	struct vec alloc, foreign;
	struct vec units[MODEL_CLASSES]; /* by class: what one pod asks for */
	uint32_t parents[WORLD_QUEUES];  /* MODEL_ROOT: top */
	bool in_force[WORLD_QUEUES];
	struct model_state before, after;
};

static inline struct vec model_vec(const struct kar_queue_amounts *l, int64_t otherwise)
{
	struct vec v;

	for (uint32_t r = 0; r < MODEL_RESOURCES; r++) {
		v.of[r] = otherwise;
		for (uint32_t i = 0; i < l->n; i++) {
			if (strcmp(l->items[i].resource, model_resources[r]) == 0)
				v.of[r] = l->items[i].amount;
		}
	}
	return v;
}

static inline struct vec model_sum(struct vec a, struct vec b)
{
	for (uint32_t r = 0; r < MODEL_RESOURCES; r++)
		a.of[r] += b.of[r];
	return a;
}

/* Of classes that runs and pods that stop have. */
static inline void model_note_class(struct model *m, kar_class c)
{
	const struct kar_pod_needs *needs = kar_sched_needs(m->s->sched, c);

	assert(c < MODEL_CLASSES);
	m->units[c] = model_vec(&(struct kar_queue_amounts){ needs->amounts, needs->n_amounts }, 0);
	m->units[c].of[MODEL_PODS] = 1;
}

static inline struct vec model_times(const struct model *m, kar_class c, int64_t n)
{
	struct vec v = m->units[c];

	for (uint32_t r = 0; r < MODEL_RESOURCES; r++)
		v.of[r] *= n;
	return v;
}

/* --- groups ------------------------------------------------------------------------------------------------------------------- */

/* V(k) */
static inline struct vec model_pods(const struct model *m, uint32_t g, int32_t k)
{
	const struct kar_queue_group *x = &m->s->groups[g];
	struct vec v = { 0 };

	for (uint32_t i = 0; i < x->n_runs && k > 0; i++) {
		int32_t n = k < x->runs[i].n ? k : x->runs[i].n;

		v = model_sum(v, model_times(m, x->runs[i].class, n));
		k -= n;
	}
	return v;
}

/* M */
static inline struct vec model_minimum(const struct model *m, uint32_t g)
{
	return model_pods(m, g, m->s->groups[g].min);
}

/* P */
static inline struct vec model_live(const struct model *m, uint32_t g)
{
	const struct kar_queue_group *x = &m->s->groups[g];
	struct vec v = { 0 };

	for (uint32_t i = 0; i < x->n_runs; i++) {
		for (uint32_t k = 0; k < x->runs[i].n_seats; k++) {
			if (x->runs[i].seats[k].bound)
				v = model_sum(v, model_times(m, x->runs[i].class, x->runs[i].seats[k].n));
		}
	}
	for (uint32_t i = 0; i < x->n_leaving; i++)
		v = model_sum(v, model_times(m, x->leaving[i].class, x->leaving[i].n));
	return v;
}

static inline bool model_is_live(const struct model_state *st, uint32_t g)
{
	return st->standing[g] != KAR_QUEUE_WAITING;
}

static inline struct vec model_kept(const struct model *m, const struct model_state *st, uint32_t g)
{
	return st->standing[g] == KAR_QUEUE_ADMITTED ? model_pods(m, g, st->d[g]) : (struct vec){ 0 };
}

static inline struct vec model_claimed(const struct model *m, const struct model_state *st, uint32_t g)
{
	return st->standing[g] == KAR_QUEUE_RESERVING ? model_minimum(m, g) : (struct vec){ 0 };
}

static inline int32_t model_extras(const struct model *m, const struct model_state *st, uint32_t g)
{
	const struct kar_queue_group *x = &m->s->groups[g];

	return st->standing[g] == KAR_QUEUE_ADMITTED && x->elastic && st->d[g] > x->min ? st->d[g] - x->min
											: 0;
}

/* Does an extra of it use the resource? */
static inline bool model_extra_uses(const struct model *m, const struct model_state *st, uint32_t g,
	uint32_t r)
{
	return model_extras(m, st, g) && model_pods(m, g, st->d[g]).of[r] > model_minimum(m, g).of[r];
}

static inline int64_t model_charge(const struct model *m, uint32_t g, int32_t k, uint32_t row)
{
	const struct kar_queue_group *x = &m->s->groups[g];
	int64_t sum = 0;

	for (uint32_t i = 0; i < x->n_runs && k > 0; i++) {
		int32_t n = k < x->runs[i].n ? k : x->runs[i].n;

		for (uint32_t c = 0; c < x->runs[i].n_charges; c++)
			sum += x->runs[i].charges[c].row == row ? n * x->runs[i].charges[c].amount : 0;
		k -= n;
	}
	return sum;
}

/* --- queues ------------------------------------------------------------------------------------------------------------------- */

static inline uint32_t model_find_queue(const struct model *m, const char *name)
{
	for (uint32_t i = 0; i < m->s->n_queues; i++) {
		if (strcmp(m->s->queues[i].name, name) == 0)
			return i;
	}
	return KAR_QUEUE_NONE;
}

static inline enum kar_queue_validity model_validity(const struct model *m, uint32_t q)
{
	int depth = 1;

	for (const char *parent = m->s->queues[q].parent; parent; depth++) {
		uint32_t p = model_find_queue(m, parent);

		if (depth > 100)
			return KAR_QUEUE_PARENT_CYCLE;
		if (p == KAR_QUEUE_NONE || m->s->queues[p].deleting)
			return KAR_QUEUE_PARENT_NOT_FOUND;
		parent = m->s->queues[p].parent;
	}
	return depth > KAR_QUEUE_LEVELS ? KAR_QUEUE_TOO_DEEP : KAR_QUEUE_VALID;
}

static inline const char *model_parent_name(const struct model *m, uint32_t q)
{
	const struct kar_queue_in *x = &m->s->queues[q];

	if (model_validity(m, q) == KAR_QUEUE_VALID)
		return x->parent ? x->parent : "root";
	return x->parent_in_force;
}

static inline bool model_in_force(const struct model *m, uint32_t q)
{
	return m->in_force[q];
}

/* MODEL_ROOT: top */
static inline uint32_t model_parent(const struct model *m, uint32_t q)
{
	return m->parents[q];
}

static inline bool model_is_leaf(const struct model *m, uint32_t q)
{
	for (uint32_t i = 0; i < m->s->n_queues; i++) {
		if (i != q && model_in_force(m, i) && model_parent(m, i) == q)
			return false;
	}
	return true;
}

static inline bool model_is_closed(const struct model *m, uint32_t q)
{
	for (; q != MODEL_ROOT; q = model_parent(m, q)) {
		if (m->s->queues[q].closed || m->s->queues[q].deleting)
			return true;
	}
	return false;
}

static inline bool model_is_drained(const struct model *m, uint32_t q)
{
	for (; q != MODEL_ROOT; q = model_parent(m, q)) {
		if (m->s->queues[q].closed && m->s->queues[q].drain)
			return true;
	}
	return false;
}

/* Is q in the subtree of a? */
static inline bool model_below(const struct model *m, uint32_t q, uint32_t a)
{
	if (a == MODEL_ROOT)
		return true;
	for (; q != MODEL_ROOT; q = model_in_force(m, q) ? model_parent(m, q) : MODEL_ROOT) {
		if (q == a)
			return true;
	}
	return false;
}

static inline uint32_t model_queue_of(const struct model *m, uint32_t g)
{
	uint32_t q = m->s->groups[g].queue;

	return q != KAR_QUEUE_NONE && model_in_force(m, q) ? q : MODEL_ROOT;
}

static inline bool model_counts(const struct model *m, uint32_t g, uint32_t a)
{
	return model_below(m, model_queue_of(m, g), a);
}

static inline struct vec model_guarantee(const struct model *m, uint32_t q)
{
	struct vec own = model_vec(&m->s->queues[q].guarantee, 0), all = { 0 };

	for (uint32_t i = 0; i < m->s->n_queues; i++) {
		if (model_in_force(m, i) && model_parent(m, i) == q)
			all = model_sum(all, model_guarantee(m, i));
	}
	for (uint32_t r = 0; r < MODEL_RESOURCES; r++)
		own.of[r] = r == MODEL_PODS ? 0 : own.of[r] > all.of[r] ? own.of[r] : all.of[r];
	return own;
}

/* n; -1 where it names nothing */
static inline struct vec model_right(const struct model *m, uint32_t q)
{
	struct vec n = model_vec(&m->s->queues[q].deserved, -1);

	n.of[MODEL_PODS] = -1;
	for (uint32_t i = 0; i < m->s->n_queues && !m->s->queues[q].deserved.n; i++) {
		struct vec c;

		if (!model_in_force(m, i) || model_parent(m, i) != q)
			continue;
		c = model_right(m, i);
		for (uint32_t r = 0; r < MODEL_RESOURCES; r++) {
			if (c.of[r] >= 0)
				n.of[r] = (n.of[r] > 0 ? n.of[r] : 0) + c.of[r];
		}
	}
	return n;
}

static inline struct vec model_capability(const struct model *m, uint32_t q)
{
	return model_vec(&m->s->queues[q].capability, INT64_MAX);
}

/* --- sums ----------------------------------------------------------------------------------------------------------------------- */

enum model_part { MODEL_K = 1, MODEL_H = 2, MODEL_T = 4, MODEL_U0 = 8 };

static inline struct vec model_part_of(const struct model *m, const struct model_state *st, uint32_t g,
	enum model_part part)
{
	struct vec v = { 0 }, kept = model_kept(m, st, g), live = model_live(m, g);

	if (part == MODEL_K)
		return kept;
	if (part == MODEL_H)
		return model_claimed(m, st, g);
	if (part == MODEL_U0)
		return model_is_live(st, g) ? model_minimum(m, g) : v;
	for (uint32_t r = 0; r < MODEL_RESOURCES; r++)
		v.of[r] = live.of[r] > kept.of[r] ? live.of[r] - kept.of[r] : 0;
	return v;
}

/* Of the pods that are kept (else of all live ones): those on nodes that are not usable, which no sum of the cluster counts. */
static inline struct vec model_away(const struct model *m, const struct model_state *st, uint32_t g,
	bool kept)
{
	const struct kar_queue_group *x = &m->s->groups[g];
	int32_t left = st->standing[g] == KAR_QUEUE_ADMITTED ? st->d[g] : 0;
	struct vec v = { 0 };

	for (uint32_t i = 0; i < x->n_runs; i++) {
		int32_t first = left;

		for (uint32_t k = 0; k < x->runs[i].n_seats; k++) {
			const struct kar_queue_seat *s = &x->runs[i].seats[k];
			int32_t n = !kept || first > s->n ? s->n : first > 0 ? first : 0;

			first -= s->n;
			if (s->bound && !kar_sched_node_usable(m->s->sched, s->node))
				v = model_sum(v, model_times(m, x->runs[i].class, n));
		}
		left -= x->runs[i].n;
	}
	for (uint32_t i = 0; i < x->n_leaving && !kept; i++) {
		if (!kar_sched_node_usable(m->s->sched, x->leaving[i].node))
			v = model_sum(v, model_times(m, x->leaving[i].class, x->leaving[i].n));
	}
	return v;
}

/* As model_part_of(), for the sums of the cluster. */
static inline struct vec model_part_here(const struct model *m, const struct model_state *st, uint32_t g,
	enum model_part part)
{
	struct vec v = model_part_of(m, st, g, part), kept = model_part_of(m, st, g, MODEL_K),
		   away = model_away(m, st, g, true), all = model_away(m, st, g, false),
		   live = model_live(m, g);

	for (uint32_t r = 0; r < MODEL_RESOURCES; r++) {
		int64_t leaves = live.of[r] - all.of[r] - (kept.of[r] - away.of[r]);

		if (part == MODEL_K)
			v.of[r] -= away.of[r];
		else if (part == MODEL_T)
			v.of[r] = leaves > 0 ? leaves : 0;
	}
	return v;
}

/* Sum of a part over the groups below @q. */
static inline struct vec model_total(const struct model *m, const struct model_state *st, uint32_t q,
	enum model_part part)
{
	struct vec v = { 0 };

	for (uint32_t g = 0; g < m->s->n_groups; g++) {
		if (model_counts(m, g, q))
			v = model_sum(v,
				q == MODEL_ROOT ? model_part_here(m, st, g, part)
						: model_part_of(m, st, g, part));
	}
	return v;
}

/* U of the subtree, without pods on nodes that are not usable. */
static inline struct vec model_used_here(const struct model *m, const struct model_state *st, uint32_t q)
{
	struct vec v = { 0 };

	for (uint32_t g = 0; g < m->s->n_groups; g++) {
		if (model_counts(m, g, q))
			v = model_sum(v,
				model_sum(model_part_here(m, st, g, MODEL_K),
					model_part_here(m, st, g, MODEL_H)));
	}
	return v;
}

/* U */
static inline struct vec model_used(const struct model *m, const struct model_state *st, uint32_t q)
{
	return model_sum(model_total(m, st, q, MODEL_K), model_total(m, st, q, MODEL_H));
}

/* What is seen of the queue: now, or (fut) when all that leaves is gone; without F. */
static inline struct vec model_view(const struct model *m, const struct model_state *st, uint32_t q, bool fut)
{
	struct vec k = model_total(m, st, q, MODEL_K), h = model_total(m, st, q, MODEL_H),
		   t = model_total(m, st, q, MODEL_T);

	for (uint32_t r = 0; r < MODEL_RESOURCES; r++)
		k.of[r] += !fut && t.of[r] > h.of[r] ? t.of[r] : h.of[r];
	return k;
}

static inline int32_t model_jobs(const struct model *m, const struct model_state *st, uint32_t q)
{
	int32_t n = 0;

	for (uint32_t g = 0; g < m->s->n_groups; g++)
		n += model_is_live(st, g) && model_counts(m, g, q);
	return n;
}

/* Of a row, with what is foreign. */
static inline int64_t model_row(const struct model *m, const struct model_state *st, uint32_t row, bool fut)
{
	int64_t k = 0, h = 0, t = 0;

	for (uint32_t g = 0; g < m->s->n_groups; g++) {
		const struct kar_queue_group *x = &m->s->groups[g];
		int64_t kept = st->standing[g] == KAR_QUEUE_ADMITTED ? model_charge(m, g, st->d[g], row) : 0,
			live;

		k += kept;
		h += st->standing[g] == KAR_QUEUE_RESERVING ? model_charge(m, g, x->min, row) : 0;
		live = model_live(m, g).of[MODEL_PODS] *
			model_charge(m, g, 1, row); /* all pods of a group are alike */
		t += live > kept ? live - kept : 0;
	}
	return m->s->rows[row].foreign + k + (!fut && t > h ? t : h);
}

static inline int64_t model_load(const struct model *m, uint32_t r)
{
	int32_t permille = m->s->flags.max_load_permille ? m->s->flags.max_load_permille : 1000;
	int64_t limit = r < 2 ? m->alloc.of[r] * permille / 1000 : m->alloc.of[r];

	return limit > m->foreign.of[r] ? limit - m->foreign.of[r] : 0;
}

/* What is guaranteed to the queue, or to single queues below it, and not used by them. */
static inline struct vec model_idle(const struct model *m, const struct model_state *st, uint32_t q)
{
	struct vec idle = { 0 }, g = model_guarantee(m, q), u = model_used(m, st, q);

	for (uint32_t i = 0; i < m->s->n_queues; i++) {
		if (model_in_force(m, i) && model_parent(m, i) == q)
			idle = model_sum(idle, model_idle(m, st, i));
	}
	for (uint32_t r = 0; r < MODEL_RESOURCES; r++)
		idle.of[r] = g.of[r] - u.of[r] > idle.of[r] ? g.of[r] - u.of[r] : idle.of[r];
	return idle;
}

static inline struct vec model_lock(const struct model *m, const struct model_state *st, uint32_t q)
{
	struct vec lock = { 0 };

	for (; q != MODEL_ROOT; q = model_parent(m, q)) {
		for (uint32_t p = 0; p < m->s->n_queues; p++) {
			if (p != q && model_in_force(m, p) && model_parent(m, p) == model_parent(m, q))
				lock = model_sum(lock, model_idle(m, st, p));
		}
	}
	return lock;
}

/* --- order ---------------------------------------------------------------------------------------------------------------------- */

static inline int64_t model_level(const struct model *m, uint32_t g)
{
	static const int32_t classes[] = { 10, 100, 1000 };
	const struct kar_queue_group *x = &m->s->groups[g];
	int64_t since = x->waiting_since ? x->waiting_since : x->creation, steps = 0, i = -1;
	int64_t wait = x->waited_seconds;

	if (x->standing != KAR_QUEUE_ADMITTED)
		wait += (m->now - since) / KAR_SECOND;
	if (m->s->flags.aging_interval)
		steps = wait / (m->s->flags.aging_interval / KAR_SECOND);
	if (x->base >= 1000 || steps <= 0)
		return x->base;
	for (int64_t k = 0; k < 3; k++)
		i = classes[k] <= x->base ? k : i;
	i = i + steps > 2 ? 2 : i + steps;
	return classes[i] > x->base ? classes[i] : x->base;
}

static inline int model_compare_names(const struct kar_queue_group *a, const struct kar_queue_group *b)
{
	char x[64], y[64];

	snprintf(x, sizeof(x), "%s/%s", a->ns, a->name);
	snprintf(y, sizeof(y), "%s/%s", b->ns, b->name);
	return strcmp(x, y); /* no name of the worlds has a byte below the slash */
}

static inline int model_yields(const struct kar_queue_group *g)
{
	switch (g->yields) {
	case KAR_QUEUE_YIELDS_TO_NOBODY:
		return 0;
	case KAR_QUEUE_YIELDS_TO_MEMBERS:
		return g->standing == KAR_QUEUE_ADMITTED ? 1 : 2;
	default:
		return 3;
	}
}

/* It runs, and waits for what its raised minimum lacks. */
static inline bool model_asks_to_grow(const struct kar_queue_group *g)
{
	return g->standing == KAR_QUEUE_ADMITTED && g->elastic && g->released && g->desired < g->min;
}

/* Does a stand before b? */
static inline bool model_before(const struct model *m, uint32_t a, uint32_t b)
{
	const struct kar_queue_group *x = &m->s->groups[a], *y = &m->s->groups[b];

	if (model_yields(x) != model_yields(y))
		return model_yields(x) < model_yields(y);
	if (model_level(m, a) != model_level(m, b))
		return model_level(m, a) > model_level(m, b);
	if (model_asks_to_grow(x) != model_asks_to_grow(y))
		return model_asks_to_grow(y);
	if (x->creation != y->creation)
		return x->creation < y->creation;
	return model_compare_names(x, y) < 0;
}

static inline void model_init(struct model *m, const struct kar_queue_snapshot *s, kar_time now,
	const struct kar_queue_result *r)
{
	*m = (struct model){ .s = s,
		.now = now,
		.alloc = model_vec(&s->alloc, 0),
		.foreign = model_vec(&s->foreign, 0) };
	assert(s->n_groups <= KAR_LEN(m->after.d));
	for (uint32_t q = 0; q < s->n_queues; q++) {
		const char *name = model_parent_name(m, q);

		m->in_force[q] = name != NULL;
		m->parents[q] = name ? model_find_queue(m, name) : MODEL_ROOT;
	}
	for (uint32_t g = 0; g < s->n_groups; g++) {
		for (uint32_t i = 0; i < s->groups[g].n_runs; i++)
			model_note_class(m, s->groups[g].runs[i].class);
		for (uint32_t i = 0; i < s->groups[g].n_leaving; i++)
			model_note_class(m, s->groups[g].leaving[i].class);
		m->before.standing[g] = s->groups[g].standing;
		m->before.d[g] = s->groups[g].standing == KAR_QUEUE_ADMITTED ? s->groups[g].desired : 0;
		m->after.standing[g] = r->groups[g].standing;
		m->after.d[g] = r->groups[g].desired;
	}
}

#endif
