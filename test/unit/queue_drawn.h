/*
 * queue_drawn - random small worlds for the pass: drawn from one number, built without parsing, printed as the words of queue_world.h, and
 * made smaller while they show the same fault.
 *
 * Amounts are whole numbers (cpu in cores), times are seconds before now.
 */
#ifndef KAR_TEST_QUEUE_DRAWN_H
#define KAR_TEST_QUEUE_DRAWN_H

#include "test/unit/queue_world.h"

enum {
	DRAWN_QUEUES = 6,
	DRAWN_GROUPS = 12,
	DRAWN_NODES = 5,
	DRAWN_ROWS = 3,
	DRAWN_FOREIGN = 2,
	DRAWN_BUDGETS = 2,
	DRAWN_RESOURCES = 3
};
static const char *const drawn_words[DRAWN_RESOURCES] = { "cpu", "memory", "gpu" };

struct drawn_queue {
	bool gone, strict, preempt, closed, drain, keep;
	int8_t parent; /* index; -1: top; DRAWN_QUEUES: one that does not exist */
	uint8_t weight, jobs;
	int8_t n[DRAWN_RESOURCES], g[DRAWN_RESOURCES], cap[DRAWN_RESOURCES]; /* -1: does not name it */
};

struct drawn_group {
	bool gone, fixed, keep;
	uint8_t queue; /* DRAWN_QUEUES: one that does not exist */
	uint8_t ns, needs[DRAWN_RESOURCES], min, left, ineligible;
	int32_t base;
	int32_t age, waited, formed, scaled; /* seconds; formed, scaled 0: never */
	int32_t window;                      /* seconds; as in struct kar_queue_group */
	bool resized;
	enum kar_queue_standing standing;
	uint8_t desired, stops, at; /* at: the node where its pods begin */
	bool runs;                  /* its pods are bound, and its phase is Running */
	uint8_t budget;             /* 1 + the number of the one that protects its bound pods; 0: none does */
};

struct drawn {
	uint64_t seed;
	uint8_t n_nodes, nodes[DRAWN_NODES][DRAWN_RESOURCES];
	uint8_t cordoned; /* bits by node */
	struct drawn_queue queues[DRAWN_QUEUES];
	uint8_t n_queues;
	struct drawn_group groups[DRAWN_GROUPS];
	uint8_t n_groups;
	struct {
		bool gone, cpu; /* cpu: requests.cpu, else pods */
		uint8_t ns, limit, foreign;
	} rows[DRAWN_ROWS];
	uint8_t n_rows;
	uint8_t budgets[DRAWN_BUDGETS], n_budgets; /* what each allows */
	struct {
		uint8_t cpu;
		bool bound;
	} foreign[DRAWN_FOREIGN];
	int32_t runtime, window, starve, age, load;
	uint8_t turns; /* passes with life between them */
};

/* --- drawing ---------------------------------------------------------------------------------------------------------------- */

/* xorshift64* of Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled" (2016). */
static uint64_t drawn_state;

static inline uint32_t drawn_below(uint32_t n)
{
	drawn_state ^= drawn_state >> 12;
	drawn_state ^= drawn_state << 25;
	drawn_state ^= drawn_state >> 27;
	return (uint32_t)(((drawn_state * 0x2545f4914f6cdd1dULL) >> 33) % n);
}

static inline bool drawn_one_in(uint32_t n)
{
	return !drawn_below(n);
}

/* Begins the numbers of a case; near seeds give different numbers (the finaliser of splitmix64). */
static inline void drawn_begin(uint64_t seed)
{
	seed += 0x9e3779b97f4a7c15ULL;
	seed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9ULL;
	seed = (seed ^ (seed >> 27)) * 0x94d049bb133111ebULL;
	drawn_state = (seed ^ (seed >> 31)) | 1;
}

static inline void drawn_queue(struct drawn_queue *q, uint8_t i, bool deep)
{
	*q = (struct drawn_queue){ .parent =
					   (int8_t)(i && deep && !drawn_one_in(3) ? (int)drawn_below(i) : -1),
		.weight = (uint8_t)(1 + drawn_below(3)),
		.jobs = (uint8_t)(drawn_one_in(6) ? 1 + drawn_below(3) : 0),
		.strict = drawn_one_in(4),
		.preempt = drawn_one_in(3),
		.closed = drawn_one_in(20),
		.keep = drawn_one_in(10) };
	if (drawn_one_in(60))
		q->parent = DRAWN_QUEUES;
	else if (drawn_one_in(60))
		q->parent = (int8_t)drawn_below(DRAWN_QUEUES); /* a cycle, or one that is not there */
	q->drain = q->closed && drawn_one_in(2);
	for (uint32_t r = 0; r < DRAWN_RESOURCES; r++) {
		q->n[r] = (int8_t)(drawn_one_in(r ? 5 : 2) ? (int)drawn_below(9) : -1);
		q->g[r] = (int8_t)(q->n[r] > 0 && drawn_one_in(4) ? (int)drawn_below((uint32_t)q->n[r] + 1)
								  : -1);
		q->cap[r] =
			(int8_t)(drawn_one_in(r ? 12 : 6) ? (q->n[r] > 0 ? q->n[r] : 0) + (int)drawn_below(8)
							  : -1);
	}
}

static inline void drawn_running(struct drawn_group *g)
{
	uint32_t more = (uint32_t)(g->left - g->min);

	g->standing = KAR_QUEUE_ADMITTED;
	g->desired = (uint8_t)(g->min + drawn_below(more + 1));
	if (drawn_one_in(12) && g->min > 1)
		g->desired = (uint8_t)(1 + drawn_below(g->min - 1U)); /* its minimum was raised */
	g->runs = !drawn_one_in(4);
	g->formed = g->runs ? 1 + (int32_t)drawn_below(drawn_one_in(2) ? 100 : 2000) : 0;
	g->scaled = drawn_one_in(3) ? 1 + (int32_t)drawn_below(120) : 0;
	g->window = drawn_one_in(8) ? (int32_t)drawn_below(200) - 1 : 0;
	g->resized = drawn_one_in(8);
}

static inline void drawn_group(struct drawn_group *g, uint8_t n_queues, uint32_t kinds)
{
	static const int32_t bases[] = { 0, 10, 10, 100, 1000, 2000, 10000 };

	*g = (struct drawn_group){ .queue =
					   (uint8_t)(drawn_one_in(40) ? DRAWN_QUEUES : drawn_below(n_queues)),
		.ns = (uint8_t)drawn_below(2),
		.base = bases[drawn_below(KAR_LEN(bases))],
		.fixed = drawn_one_in(4),
		.keep = drawn_one_in(12),
		.min = (uint8_t)(1 + drawn_below(4)),
		.age = (int32_t)drawn_below(3000),
		.waited = drawn_one_in(4) ? (int32_t)drawn_below(2000) : 0,
		.at = (uint8_t)drawn_below(DRAWN_NODES) };
	g->left = (uint8_t)(g->min + (drawn_one_in(2) ? drawn_below(5) : 0));
	g->needs[0] = (uint8_t)(drawn_one_in(3) ? 1 + drawn_below(3) : 1);
	for (uint32_t r = 1; r < kinds; r++)
		g->needs[r] = (uint8_t)(drawn_one_in(2) ? drawn_below(3) : 0);
	if (kinds > 1 && drawn_one_in(8))
		g->needs[0] = 0;
	if (drawn_one_in(2))
		drawn_running(g);
	else if (drawn_one_in(12))
		g->standing = KAR_QUEUE_RESERVING;
	if (drawn_one_in(20))
		g->ineligible = KAR_QR_SUSPENDED;
	else if (drawn_one_in(20))
		g->ineligible = (uint8_t)(KAR_QR_NAMESPACE_NOT_ALLOWED +
			drawn_below(KAR_QR_QUOTA_INVALID_TEMPLATE - KAR_QR_NAMESPACE_NOT_ALLOWED + 1));
	if (drawn_one_in(10) && g->standing == KAR_QUEUE_WAITING) {
		g->stops = (uint8_t)(1 + drawn_below(2));
		g->ineligible = KAR_QR_PREEMPTED;
	}
}

static inline void drawn_draw(struct drawn *d, uint64_t seed)
{
	uint32_t kinds = 1;
	uint8_t room;
	bool deep;

	drawn_begin(seed);
	*d = (struct drawn){ .seed = seed, .turns = (uint8_t)(1 + drawn_below(3)) };
	kinds += drawn_one_in(3) ? drawn_below(DRAWN_RESOURCES) : 0;
	deep = drawn_one_in(2);
	d->n_nodes = (uint8_t)(drawn_one_in(2) ? 1 : 1 + drawn_below(DRAWN_NODES));
	for (uint32_t i = 0; i < d->n_nodes; i++) {
		d->nodes[i][0] = (uint8_t)(d->n_nodes == 1 ? 4 + drawn_below(16) : 2 + drawn_below(6));
		for (uint32_t r = 1; r < kinds; r++)
			d->nodes[i][r] = (uint8_t)(drawn_one_in(4) ? 0 : 2 + drawn_below(12));
	}
	d->n_queues = (uint8_t)(1 + drawn_below(DRAWN_QUEUES));
	for (uint8_t i = 0; i < d->n_queues; i++)
		drawn_queue(&d->queues[i], i, deep);
	d->n_rows = (uint8_t)(drawn_one_in(3) ? 1 + drawn_below(DRAWN_ROWS) : 0);
	for (uint32_t i = 0; i < d->n_rows; i++) {
		d->rows[i].ns = (uint8_t)drawn_below(2);
		d->rows[i].cpu = drawn_one_in(3);
		d->rows[i].limit = (uint8_t)drawn_below(14);
		d->rows[i].foreign = (uint8_t)(drawn_one_in(4) ? drawn_below(4) : 0);
		(void)drawn_one_in(20); /* of what rows had once: a seed goes on meaning the same world */
	}
	room = d->nodes[0][0];
	for (uint32_t i = 0; i < DRAWN_FOREIGN; i++) {
		d->foreign[i].cpu = (uint8_t)(drawn_one_in(5) ? 1 + drawn_below(4) : 0);
		d->foreign[i].bound = !drawn_one_in(3);
		if (d->foreign[i].bound && d->foreign[i].cpu > room)
			d->foreign[i].cpu = room;
		room = (uint8_t)(room - (d->foreign[i].bound ? d->foreign[i].cpu : 0));
	}
	d->n_groups = (uint8_t)drawn_below(DRAWN_GROUPS + 1);
	for (uint32_t i = 0; i < d->n_groups; i++)
		drawn_group(&d->groups[i], d->n_queues, kinds);
	d->runtime = drawn_one_in(3) ? 60 : 0;
	d->window = drawn_one_in(3) ? 60 : 0;
	d->starve = drawn_one_in(4) ? 300 : 0;
	d->age = drawn_one_in(2) ? 600 : 0;
	d->load = drawn_one_in(3) ? 700 + (int32_t)drawn_below(300) : 1000;
	d->n_budgets = (uint8_t)(drawn_one_in(3) ? 1 + drawn_below(DRAWN_BUDGETS) : 0);
	for (uint32_t i = 0; i < d->n_budgets; i++)
		d->budgets[i] = (uint8_t)drawn_below(6);
	for (uint32_t i = 0; i < d->n_groups && d->n_budgets; i++)
		d->groups[i].budget = (uint8_t)(drawn_one_in(2) ? 1 + drawn_below(d->n_budgets) : 0);
	for (uint32_t i = 0; i < d->n_nodes; i++)
		d->cordoned = (uint8_t)(d->cordoned | (i && drawn_one_in(4) ? 1U << i : 0));
}

/* Of nodes that are usable: what the sums say is then all there is. */
static inline bool drawn_has_one_node(const struct drawn *d)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < d->n_nodes; i++)
		n += !(d->cordoned >> i & 1);
	return n == 1;
}

/* --- building --------------------------------------------------------------------------------------------------------------- */

static inline const char *drawn_name(const char *kind, uint32_t i)
{
	static const char *const names[] = { "a", "b", "c", "d", "e", "f", "none" };
	static const char *const groups[] = { "j0", "j1", "j2", "j3", "j4", "j5", "j6", "j7", "j8", "j9",
		"j10", "j11" };
	static const char *const nodes[] = { "n0", "n1", "n2", "n3", "n4" };

	return *kind == 'q'    ? names[i]
		: *kind == 'g' ? groups[i]
		: *kind == 'n' ? nodes[i]
		: i            ? "blue"
			       : "red";
}

static inline struct kar_queue_amounts drawn_amounts(struct world *w, const int8_t *amounts)
{
	struct kar_sched_amount *items = kar_arena_alloc(&w->a, DRAWN_RESOURCES, sizeof(*items));
	uint32_t n = 0;

	for (uint32_t r = 0; r < DRAWN_RESOURCES; r++) {
		if (amounts[r] >= 0)
			items[n++] = (struct kar_sched_amount){ words_resource(drawn_words[r]),
				amounts[r] * (r ? 1 : 1000) };
	}
	return (struct kar_queue_amounts){ items, n };
}

static inline void drawn_build_queue(const struct drawn *d, struct world *w, uint32_t i)
{
	const struct drawn_queue *q = &d->queues[i];

	w->queues[w->s.n_queues++] = (struct kar_queue_in){ .name = drawn_name("q", i),
		.parent = q->parent < 0 ? NULL : drawn_name("q", (uint32_t)q->parent),
		.weight = q->weight,
		.max_jobs = q->jobs,
		.strict = q->strict,
		.preempts = q->preempt,
		.closed = q->closed,
		.drain = q->drain,
		.not_reclaimable = q->keep,
		.deserved = drawn_amounts(w, q->n),
		.guarantee = drawn_amounts(w, q->g),
		.capability = drawn_amounts(w, q->cap),
		.reserved_for = KAR_QUEUE_NONE };
}

/* Pods of the group on the nodes that have room, as free[] says; the rest has no seat. Returns how many have one. */
static inline int32_t drawn_seat(const struct drawn *d, struct world *w, const struct drawn_group *g,
	struct kar_queue_run *r, int32_t (*room)[DRAWN_RESOURCES])
{
	struct kar_queue_seat *seats = kar_arena_alloc(&w->a, 64, sizeof(*seats));
	int32_t left = g->runs ? g->desired : 0, have = 0;

	r->seats = seats;
	for (uint32_t k = 0; k < d->n_nodes && left; k++) {
		uint32_t node = (g->at + k) % d->n_nodes;
		int32_t n = left;

		for (uint32_t i = 0; i < DRAWN_RESOURCES; i++)
			n = g->needs[i] && room[node][i] / g->needs[i] < n ? room[node][i] / g->needs[i] : n;
		if (n <= 0)
			continue;
		for (uint32_t i = 0; i < DRAWN_RESOURCES; i++)
			room[node][i] -= n * g->needs[i];
		seats[r->n_seats++] =
			(struct kar_queue_seat){ .node = drawn_name("n", node), .n = n, .bound = true };
		left -= n;
		have += n;
	}
	return have;
}

static inline kar_class drawn_class(struct world *w, const uint8_t *amounts)
{
	struct kar_sched_amount items[DRAWN_RESOURCES];
	struct kar_pod_needs needs = { .amounts = items };

	for (uint32_t r = 0; r < DRAWN_RESOURCES; r++) {
		if (amounts[r])
			items[needs.n_amounts++] = (struct kar_sched_amount){ words_resource(drawn_words[r]),
				amounts[r] * (r ? 1 : 1000) };
	}
	return w->classes[w->n_classes++] = kar_sched_class(w->sched, &needs);
}

static inline void drawn_build_group(const struct drawn *d, struct world *w, uint32_t i,
	int32_t (*room)[DRAWN_RESOURCES])
{
	const struct drawn_group *x = &d->groups[i];
	struct kar_queue_group *g = &w->groups[w->s.n_groups++];
	struct kar_queue_run *r = kar_arena_alloc(&w->a, 1, sizeof(*r));
	int32_t have;

	*r = (struct kar_queue_run){ .class = drawn_class(w, x->needs), .n = x->left };
	*g = (struct kar_queue_group){ .ns = drawn_name("s", x->ns),
		.name = drawn_name("g", i),
		.queue = world_find_queue(w, drawn_name("q", x->queue)),
		.queue_name = drawn_name("q", x->queue),
		.also_in = KAR_QUEUE_NONE,
		.evicted_by = KAR_QUEUE_NONE,
		.standing = x->standing,
		.ineligible = (enum kar_queue_reason)x->ineligible,
		.why = x->ineligible ? "the caller says so" : NULL,
		.base = x->base,
		.creation = w->now - x->age * KAR_SECOND,
		.waited_seconds = x->waited,
		.runs = r,
		.n_runs = 1,
		.min = x->min,
		.desired = x->desired,
		.elastic = !x->fixed,
		.not_evictable = x->keep,
		.last_scale = x->scaled ? w->now - x->scaled * KAR_SECOND : 0,
		.freezing_window = x->window * KAR_SECOND,
		.resized = x->resized,
		.schedule_timeout = 30 * KAR_SECOND };
	world_charge(w, g->ns, r);
	have = drawn_seat(d, w, x, r, room);
	if (have && x->budget)
		world_protect(w, g, kar_arena_printf(&w->a, "b%d:%d", (int)x->budget - 1, (int)have));
	if (x->standing == KAR_QUEUE_ADMITTED) {
		g->phase = have ? KAR_QUEUE_RUNS : KAR_QUEUE_STARTS;
		g->released = have > 0;
		g->formed_at = have ? w->now - x->formed * KAR_SECOND : 0;
		g->admitted_at = have ? g->formed_at : w->now;
	}
	for (uint32_t k = 0; k < r->n_seats; k++) {
		((struct kar_queue_seat *)(uintptr_t)r->seats)[k].created = g->admitted_at;
		kar_sched_take(w->sched, r->seats[k].node, r->class, r->seats[k].n);
	}
	if (!x->stops)
		return;
	world_leave(w, g, w->node, x->stops);
	kar_sched_take(w->sched, w->node, r->class, x->stops);
}

/* The statements of what is not built by hand: nodes, foreign pods and flags. */
static inline void drawn_say_cluster(const struct drawn *d, struct kar_buf *out)
{
	for (uint32_t i = 0; i < d->n_nodes; i++) {
		kar_buf_printf(out, "node %s cpu=%d", drawn_name("n", i), (int)d->nodes[i][0]);
		for (uint32_t r = 1; r < DRAWN_RESOURCES; r++) {
			if (d->nodes[i][r])
				kar_buf_printf(out, " %s=%d", drawn_words[r], (int)d->nodes[i][r]);
		}
		kar_buf_printf(out, "%s; ", d->cordoned >> i & 1 ? " cordoned" : "");
	}
	for (uint32_t i = 0; i < DRAWN_FOREIGN; i++) {
		if (d->foreign[i].cpu)
			kar_buf_printf(out, "foreign cpu=%d%s; ", (int)d->foreign[i].cpu,
				d->foreign[i].bound ? " on=n0" : "");
	}
	for (uint32_t i = 0; i < d->n_rows; i++) {
		if (!d->rows[i].gone)
			kar_buf_printf(out, "quota %s c%" PRIu32 " %s=%d foreign=%d; ",
				drawn_name("s", d->rows[i].ns), i, d->rows[i].cpu ? "requests.cpu" : "pods",
				(int)d->rows[i].limit, (int)d->rows[i].foreign);
	}
	for (uint32_t i = 0; i < d->n_budgets; i++)
		kar_buf_printf(out, "budget b%" PRIu32 "=%d; ", i, (int)d->budgets[i]);
	kar_buf_printf(out, "flags runtime=%d window=%d starve=%d age=%d load=%d; ", (int)d->runtime,
		(int)d->window, (int)d->starve, (int)d->age, (int)d->load);
}

static inline void drawn_build(const struct drawn *d, struct world *w)
{
	struct kar_buf text = { 0 };
	int32_t room[DRAWN_NODES][DRAWN_RESOURCES];

	drawn_say_cluster(d, &text);
	world_begin(w, kar_buf_cstr(&text));
	kar_buf_release(&text);
	for (uint32_t i = 0; i < DRAWN_NODES; i++) {
		for (uint32_t r = 0; r < DRAWN_RESOURCES; r++)
			room[i][r] = d->nodes[i][r];
	}
	for (uint32_t i = 0; i < DRAWN_FOREIGN; i++)
		room[0][0] -= d->foreign[i].bound ? d->foreign[i].cpu : 0;
	for (uint32_t i = 0; i < d->n_queues; i++) {
		if (!d->queues[i].gone)
			drawn_build_queue(d, w, i);
	}
	w->groups = kar_arena_alloc(&w->a, DRAWN_GROUPS, sizeof(*w->groups));
	for (uint32_t i = 0; i < d->n_groups; i++) {
		if (!d->groups[i].gone)
			drawn_build_group(d, w, i, room);
	}
}

/* --- printing --------------------------------------------------------------------------------------------------------------- */

static inline void drawn_say_amounts(struct kar_buf *out, const char *name, const int8_t *amounts)
{
	bool any = false;

	for (uint32_t r = 0; r < DRAWN_RESOURCES; r++) {
		if (amounts[r] < 0)
			continue;
		if (!any)
			kar_buf_printf(out, " %s=", name);
		kar_buf_printf(out, "%s%s:%d", any ? "," : "", drawn_words[r], (int)amounts[r]);
		any = true;
	}
}

static inline void drawn_say_queue(const struct drawn *d, struct kar_buf *out, uint32_t i)
{
	const struct drawn_queue *q = &d->queues[i];

	kar_buf_printf(out, "queue %s w=%d", drawn_name("q", i), (int)q->weight);
	if (q->parent >= 0)
		kar_buf_printf(out, " under=%s", drawn_name("q", (uint32_t)q->parent));
	drawn_say_amounts(out, "n", q->n);
	drawn_say_amounts(out, "g", q->g);
	drawn_say_amounts(out, "cap", q->cap);
	if (q->jobs)
		kar_buf_printf(out, " jobs=%d", (int)q->jobs);
	kar_buf_printf(out, "%s%s%s%s%s; ", q->strict ? " strict" : "", q->preempt ? " preempt" : "",
		q->closed && !q->drain ? " closed" : "", q->drain ? " drain" : "", q->keep ? " keep" : "");
}

static inline void drawn_say_group(const struct drawn *d, const struct world *w, struct kar_buf *out,
	uint32_t i)
{
	const struct drawn_group *x = &d->groups[i];
	const struct kar_queue_group *g = &w->groups[world_find(w, drawn_name("g", i))];

	kar_buf_printf(out, "\n group %s/%s %s %d..%d", g->ns, g->name, g->queue_name, (int)x->min,
		(int)x->left);
	for (uint32_t r = 0; r < DRAWN_RESOURCES; r++) {
		if (x->needs[r])
			kar_buf_printf(out, " %s=%d", drawn_words[r], (int)x->needs[r]);
	}
	kar_buf_printf(out, " p=%d t=%d", (int)x->base, (int)(g->creation / KAR_SECOND));
	if (x->waited)
		kar_buf_printf(out, " waited=%d", (int)x->waited);
	if (g->standing == KAR_QUEUE_ADMITTED)
		kar_buf_printf(out, " %s=%d", g->released ? "run" : "bare", (int)g->desired);
	for (uint32_t k = 0; k < g->runs->n_seats; k++)
		kar_buf_printf(out, "%s%s:%d", k ? "," : " on=", g->runs->seats[k].node,
			(int)g->runs->seats[k].n);
	if (g->formed_at)
		kar_buf_printf(out, " formed=%d", (int)(g->formed_at / KAR_SECOND));
	if (g->last_scale)
		kar_buf_printf(out, " scaled=%d", (int)(g->last_scale / KAR_SECOND));
	if (x->window)
		kar_buf_printf(out, " window=%d", (int)x->window);
	if (x->resized)
		kar_buf_puts(out, " resized");
	if (x->ineligible)
		kar_buf_printf(out, " ineligible=%s",
			kar_queue_reason_name((enum kar_queue_reason)x->ineligible));
	if (x->stops)
		kar_buf_printf(out, " stops=%d", (int)x->stops);
	for (uint32_t k = 0; k < g->n_budgets; k++)
		kar_buf_printf(out, " budget=b%" PRIu32 ":%d", g->budgets[k].budget, (int)g->budgets[k].pods);
	kar_buf_printf(out, "%s%s%s;", x->standing == KAR_QUEUE_RESERVING ? " claim" : "",
		x->fixed ? " fixed" : "", x->keep ? " keep" : "");
}

/* The world as words; @w is it as it was built. */
static inline void drawn_say(const struct drawn *d, const struct world *w, struct kar_buf *out)
{
	drawn_say_cluster(d, out);
	for (uint32_t i = 0; i < d->n_queues; i++) {
		if (!d->queues[i].gone)
			drawn_say_queue(d, out, i);
	}
	for (uint32_t i = 0; i < d->n_groups; i++) {
		if (!d->groups[i].gone)
			drawn_say_group(d, w, out, i);
	}
}

#endif
