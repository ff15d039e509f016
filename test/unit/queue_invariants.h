/*
 * queue_invariants - the invariants of section 11 of docs/design/queue.md as functions over a model (queue_model.h), which has the
 * snapshot and the decisions. Each returns NULL, or what is wrong, in a static buffer.
 */
#ifndef KAR_TEST_QUEUE_INVARIANTS_H
#define KAR_TEST_QUEUE_INVARIANTS_H

#include "test/unit/queue_model.h"

typedef const char *invariant(const struct model *m, const struct kar_queue_result *r);

static inline const char *wrong(const char *fmt, ...) KAR_PRINTF(1, 2);
static inline const char *wrong(const char *fmt, ...)
{
	static char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return text;
}

static inline const char *group_name(const struct model *m, uint32_t g)
{
	return m->s->groups[g].name;
}

static inline const char *queue_name(const struct model *m, uint32_t q)
{
	return q == MODEL_ROOT ? "the root" : m->s->queues[q].name;
}

static inline bool is_admitted(const struct model_state *st, uint32_t g)
{
	return st->standing[g] == KAR_QUEUE_ADMITTED;
}

static inline bool was_started(const struct model *m, uint32_t g)
{
	return is_admitted(&m->after, g) && !is_admitted(&m->before, g);
}

/* It holds more than before. */
static inline bool grew(const struct model *m, uint32_t g)
{
	return was_started(m, g) || m->after.d[g] > m->before.d[g] ||
		(m->after.standing[g] == KAR_QUEUE_RESERVING && m->before.standing[g] == KAR_QUEUE_WAITING);
}

static inline kar_time freezing_window(const struct model *m, uint32_t g)
{
	kar_time own = m->s->groups[g].freezing_window;

	return own < 0 ? 0 : own ? own : m->s->flags.freezing_window;
}

static inline bool is_frozen(const struct model *m, uint32_t g)
{
	return m->s->groups[g].last_scale && m->s->groups[g].last_scale >= m->s->groups[g].formed_at &&
		m->now < m->s->groups[g].last_scale + freezing_window(m, g);
}

static inline bool is_protected(const struct model *m, uint32_t g)
{
	const struct kar_queue_group *x = &m->s->groups[g];
	kar_time since = x->formed_at ? x->formed_at : x->admitted_at;

	return x->standing == KAR_QUEUE_ADMITTED && m->now < since + m->s->flags.min_runtime;
}

/* Whole groups go for it. */
static inline bool has_victims(const struct kar_queue_result *r, uint32_t n, uint32_t g)
{
	for (uint32_t i = 0; i < n; i++) {
		if (r->groups[i].cause != KAR_QUEUE_NOT_EVICTED && r->groups[i].evicted_for == g)
			return true;
	}
	return false;
}

/* --- what every result has ------------------------------------------------------------------------------------------------------ */

static inline const char *decisions_are_whole(const struct model *m, const struct kar_queue_result *r)
{
	if (r->unsettled || r->steps < 1 || r->steps > KAR_QUEUE_STEPS)
		return wrong("not settled after %d steps", (int)r->steps);
	if (r->again_at <= m->now)
		return wrong("again at %lld, it is %lld", (long long)r->again_at, (long long)m->now);
	for (uint32_t g = 0; g < m->s->n_groups; g++) {
		const struct kar_queue_decision *d = &r->groups[g];
		bool admitted = d->standing == KAR_QUEUE_ADMITTED;

		if (admitted != (d->reason == KAR_QR_ADMITTED) ||
			(d->standing == KAR_QUEUE_RESERVING) != (d->reason == KAR_QR_RESERVING))
			return wrong("%s: standing %d, reason %s", group_name(m, g), (int)d->standing,
				kar_queue_reason_name(d->reason));
		if (!admitted && (d->desired || !d->text || !*d->text || !d->message))
			return wrong("%s waits: d %d, text %s", group_name(m, g), (int)d->desired,
				d->text ? d->text : "NULL");
		if ((d->text && strstr(d->text, "it fits")) ||
			(d->limit_text && strstr(d->limit_text, "it fits")))
			return wrong("texts: %s fits, and waits: %s", group_name(m, g),
				d->limit_text ? d->limit_text : d->text);
		if ((d->cause != KAR_QUEUE_NOT_EVICTED) != (d->evicted_text != NULL))
			return wrong("%s: cause %d without a text", group_name(m, g), (int)d->cause);
		if (d->cause && (m->before.standing[g] == KAR_QUEUE_WAITING))
			return wrong("%s is evicted and was not live", group_name(m, g));
		if (d->cause && d->cause != KAR_QUEUE_DRAIN && d->evicted_for >= m->s->n_groups)
			return wrong("%s is evicted for nobody", group_name(m, g));
	}
	return NULL;
}

/* Positions of a leaf are 1 to .line, in line order. */
static inline const char *positions_are_the_line(const struct model *m, const struct kar_queue_result *r)
{
	for (uint32_t g = 0; g < m->s->n_groups; g++) {
		const struct kar_queue_decision *d = &r->groups[g];
		int32_t ahead = 0, line = 0;

		if (d->standing == KAR_QUEUE_ADMITTED || d->reason < KAR_QR_RESERVING) {
			if (d->position)
				return wrong("%s has position %d: %s", group_name(m, g), (int)d->position,
					kar_queue_reason_name(d->reason));
			continue;
		}
		for (uint32_t i = 0; i < m->s->n_groups; i++) {
			if (m->s->groups[i].queue != m->s->groups[g].queue ||
				r->groups[i].standing == KAR_QUEUE_ADMITTED ||
				r->groups[i].reason < KAR_QR_RESERVING)
				continue;
			line++;
			ahead += model_before(m, i, g);
		}
		if (d->position != ahead + 1 || d->line != line)
			return wrong("%s is %d of %d, not %d of %d", group_name(m, g), (int)d->position,
				(int)d->line, (int)ahead + 1, (int)line);
	}
	return NULL;
}

/* What live pods below the queue use, whatever becomes of their groups. */
static inline struct vec allocated_to(const struct model *m, uint32_t q)
{
	struct vec all = { 0 };

	for (uint32_t g = 0; g < m->s->n_groups; g++) {
		if (model_counts(m, g, q))
			all = model_sum(all, model_live(m, g));
	}
	return all;
}

static inline const char *queues_are_counted(const struct model *m, const struct kar_queue_result *r)
{
	for (uint32_t q = 0; q < m->s->n_queues; q++) {
		const struct kar_queue_status_out *o = &r->queues[q];
		struct kar_queue_counts c = { .completed = m->s->queues[q].completed };
		struct vec used = allocated_to(m, q), said = model_vec(&o->allocated, 0),
			   cap = model_capability(m, q);
		bool over = false;

		if (o->validity != model_validity(m, q) || o->in_force != model_in_force(m, q) ||
			(o->in_force && o->parent != model_parent(m, q)))
			return wrong("queue %s: validity %d, in force %d", queue_name(m, q), (int)o->validity,
				o->in_force);
		if (!o->in_force)
			continue;
		if (o->leaf != model_is_leaf(m, q) || o->closed != model_is_closed(m, q))
			return wrong("queue %s: leaf %d, closed %d", queue_name(m, q), o->leaf, o->closed);
		for (uint32_t g = 0; g < m->s->n_groups; g++) {
			enum kar_queue_reason why = m->s->groups[g].ineligible;

			if (!model_counts(m, g, q) || why == KAR_QR_SUSPENDED)
				continue;
			c.pending += !model_is_live(&m->after, g);
			c.running += is_admitted(&m->after, g) && !was_started(m, g) &&
				m->s->groups[g].phase == KAR_QUEUE_RUNS;
			c.live += model_is_live(&m->after, g);
		}
		c.inqueue = c.live - c.running;
		if (c.pending != o->counts.pending || c.inqueue != o->counts.inqueue ||
			c.running != o->counts.running || c.live != o->counts.live)
			return wrong("queue %s: pending %d, inqueue %d, running %d, not %d, %d, %d",
				queue_name(m, q), (int)o->counts.pending, (int)o->counts.inqueue,
				(int)o->counts.running, (int)c.pending, (int)c.inqueue, (int)c.running);
		if (o->closing != (o->closed && c.live > 0))
			return wrong("queue %s: closing %d", queue_name(m, q), o->closing);
		for (uint32_t i = 0; i < MODEL_RESOURCES; i++) {
			if (said.of[i] != used.of[i])
				return wrong("queue %s: allocated %s %lld, not %lld", queue_name(m, q),
					model_resources[i], (long long)said.of[i], (long long)used.of[i]);
			over |= used.of[i] > cap.of[i];
		}
		if (over != (o->over != NULL))
			return wrong("queue %s: over its capability: %s", queue_name(m, q),
				o->over ? o->over : "no");
	}
	return NULL;
}

/* --- I1 to I4 --------------------------------------------------------------------------------------------------------------------- */

/* A pod that is kept has no node: the sums count it, and only the nodes know whether there is any room for it. */
static inline bool has_unplaced(const struct model *m, const struct kar_queue_result *res)
{
	for (uint32_t g = 0; g < m->s->n_groups; g++) {
		const struct kar_queue_run *run = m->s->groups[g].runs;
		const struct kar_placement *p = res->groups[g].places;
		int32_t have = 0;

		for (uint32_t i = 0; i < run->n_seats; i++)
			have += run->seats[i].n;
		for (uint32_t i = 0; p && i < p->n_places; i++)
			have += p->places[i].n;
		if (is_admitted(&m->after, g) && m->after.d[g] > have)
			return true;
	}
	return false;
}

static inline const char *i1_cluster(const struct model *m, const struct kar_queue_result *res)
{
	struct vec used = model_used(m, &m->after, MODEL_ROOT),
		   claims = model_total(m, &m->after, MODEL_ROOT, MODEL_H);

	(void)res;
	for (uint32_t r = 0; r < MODEL_RESOURCES; r++) {
		bool over = m->foreign.of[r] + used.of[r] > m->alloc.of[r],
		     loaded = used.of[r] > model_load(m, r);

		if (over && claims.of[r])
			return wrong("I1: a claim of %s beyond the cluster", model_resources[r]);
		for (uint32_t g = 0; g < m->s->n_groups; g++) {
			if (over && was_started(m, g) && model_minimum(m, g).of[r])
				return wrong("I1: %s starts beyond the cluster (%s)", group_name(m, g),
					model_resources[r]);
			if (loaded && model_extra_uses(m, &m->after, g, r))
				return wrong("I1: extras of %s beyond the load of %s", group_name(m, g),
					model_resources[r]);
		}
	}
	return NULL;
}

static inline const char *i2_capability(const struct model *m, uint32_t q)
{
	struct vec used = model_used(m, &m->after, q), cap = model_capability(m, q);
	int32_t jobs = m->s->queues[q].max_jobs;
	bool many = jobs && model_jobs(m, &m->after, q) > jobs;

	for (uint32_t g = 0; g < m->s->n_groups; g++) {
		if (!model_counts(m, g, q))
			continue;
		if (many && model_is_live(&m->after, g) && !model_is_live(&m->before, g))
			return wrong("I2: %s is one job too many of %s", group_name(m, g), queue_name(m, q));
		for (uint32_t r = 0; r < MODEL_RESOURCES; r++) {
			if (used.of[r] <= cap.of[r])
				continue;
			if (model_extra_uses(m, &m->after, g, r))
				return wrong("I2: extras of %s beyond the capability of %s", group_name(m, g),
					queue_name(m, q));
			if (grew(m, g) && model_minimum(m, g).of[r])
				return wrong("I2: %s starts beyond the capability of %s", group_name(m, g),
					queue_name(m, q));
		}
	}
	return NULL;
}

static inline const char *i2_limits(const struct model *m, const struct kar_queue_result *r)
{
	(void)r;
	for (uint32_t q = 0; q < m->s->n_queues; q++) {
		const char *found = model_in_force(m, q) ? i2_capability(m, q) : NULL;

		if (found)
			return found;
	}
	return NULL;
}

static inline const char *i3_gangs_are_whole(const struct model *m, const struct kar_queue_result *r)
{
	(void)r;
	for (uint32_t g = 0; g < m->s->n_groups; g++) {
		const struct kar_queue_group *x = &m->s->groups[g];
		int32_t left = 0, d = m->after.d[g];

		for (uint32_t i = 0; i < x->n_runs; i++)
			left += x->runs[i].n;
		if (is_admitted(&m->after, g) ? d > left || d < 1 : d != 0)
			return wrong("I3: %s has d = %d of %d", group_name(m, g), (int)d, (int)left);
		if (d && d < x->min && (!is_admitted(&m->before, g) || d != m->before.d[g]))
			return wrong("I3: %s has d = %d below its minimum", group_name(m, g), (int)d);
		if (was_started(m, g) && !x->elastic && d != x->min)
			return wrong("I3: %s has d = %d and is not elastic", group_name(m, g), (int)d);
	}
	return NULL;
}

static inline const char *i4_guarantees(const struct model *m, const struct kar_queue_result *res)
{
	struct vec all = model_used(m, &m->after, MODEL_ROOT), old = model_used(m, &m->before, MODEL_ROOT);

	(void)res;
	for (uint32_t q = 0; q < m->s->n_queues; q++) {
		struct vec g, here, used, before;

		if (!model_in_force(m, q))
			continue;
		g = model_guarantee(m, q);
		here = model_used_here(m, &m->after, q);
		used = model_used(m, &m->after, q);
		before = model_used_here(m, &m->before, q);
		for (uint32_t r = 0; r < MODEL_RESOURCES; r++) {
			int64_t others = all.of[r] - here.of[r], away = used.of[r] - here.of[r];

			if (g.of[r] && m->foreign.of[r] + others + g.of[r] - away > m->alloc.of[r] &&
				others > old.of[r] - before.of[r])
				return wrong("I4: others take the guarantee of %s (%s)", queue_name(m, q),
					model_resources[r]);
		}
	}
	return NULL;
}

/* --- I6: nobody who fits is left ---------------------------------------------------------------------------------------------------- */

/* M exceeds the room of the row. */
static inline bool exceeds(const struct model *m, const struct model_state *st, uint32_t g, uint32_t row)
{
	const struct kar_queue_quota_row *x = &m->s->rows[row];
	int64_t charge = model_charge(m, g, m->s->groups[g].min, row);

	if (!charge || x->unknown)
		return false;
	return model_row(m, st, row, true) + charge > x->limit;
}

static inline bool asks(const struct model *m, const struct model_state *st, uint32_t g)
{
	uint32_t q = m->s->groups[g].queue;

	return st->standing[g] == KAR_QUEUE_WAITING && m->s->groups[g].ineligible == KAR_QR_ADMITTED &&
		q != KAR_QUEUE_NONE && model_in_force(m, q) && model_is_leaf(m, q) && !model_is_closed(m, q);
}

static inline bool is_feasible(const struct model *m, uint32_t g)
{
	struct vec v = model_minimum(m, g), lock = { 0 };
	uint32_t q = m->s->groups[g].queue;

	for (uint32_t a = q; a != MODEL_ROOT; a = model_parent(m, a)) {
		for (uint32_t r = 0; r < MODEL_RESOURCES; r++) {
			if (v.of[r] && v.of[r] > model_capability(m, a).of[r])
				return false;
		}
		for (uint32_t p = 0; p < m->s->n_queues; p++) {
			if (p != a && model_in_force(m, p) && model_parent(m, p) == model_parent(m, a))
				lock = model_sum(lock, model_guarantee(m, p));
		}
	}
	for (uint32_t r = 0; r < MODEL_RESOURCES; r++) {
		if (v.of[r] && m->foreign.of[r] + v.of[r] + lock.of[r] > m->alloc.of[r])
			return false;
	}
	for (uint32_t i = 0; i < m->s->n_rows; i++) {
		int64_t charge = model_charge(m, g, m->s->groups[g].min, i);

		if (charge && charge > m->s->rows[i].hard)
			return false;
	}
	return true;
}

/* A row of the group has too little room, or is closed by a group ahead of it in its namespace. */
static inline bool is_quota_blocked(const struct model *m, const struct model_state *st, uint32_t g)
{
	for (uint32_t row = 0; row < m->s->n_rows; row++) {
		if (!model_charge(m, g, 1, row))
			continue;
		if (exceeds(m, st, g, row))
			return true;
		for (uint32_t i = 0; i < m->s->n_groups; i++) {
			if (i != g && strcmp(m->s->groups[i].ns, m->s->groups[g].ns) == 0 && asks(m, st, i) &&
				is_feasible(m, i) && exceeds(m, st, i, row) && model_before(m, i, g))
				return true;
		}
	}
	return false;
}

static inline bool is_behind_head(const struct model *m, const struct model_state *st, uint32_t g)
{
	uint32_t q = m->s->groups[g].queue;

	for (uint32_t i = 0; i < m->s->n_groups && m->s->queues[q].strict; i++) {
		if (i != g && m->s->groups[i].queue == q && asks(m, st, i) && model_before(m, i, g) &&
			is_feasible(m, i) && !is_quota_blocked(m, st, i))
			return true;
	}
	return false;
}

/* (a), without the nodes: a sum over all of them refuses only for guarantees of others. @sums: it stands for the nodes. */
static inline bool rows_fit(const struct model *m, const struct model_state *st, uint32_t g, bool fut,
	bool sums)
{
	struct vec v = model_minimum(m, g), lock = model_lock(m, st, m->s->groups[g].queue),
		   view = model_view(m, st, MODEL_ROOT, fut);

	for (uint32_t r = 0; r < MODEL_RESOURCES; r++) {
		if (v.of[r] && (lock.of[r] || sums) &&
			m->foreign.of[r] + view.of[r] + v.of[r] + lock.of[r] > m->alloc.of[r])
			return false;
	}
	for (uint32_t a = m->s->groups[g].queue; a != MODEL_ROOT; a = model_parent(m, a)) {
		struct vec cap = model_capability(m, a), used = model_view(m, st, a, fut);

		if (m->s->queues[a].max_jobs && model_jobs(m, st, a) >= m->s->queues[a].max_jobs)
			return false;
		for (uint32_t r = 0; r < MODEL_RESOURCES; r++) {
			if (v.of[r] && cap.of[r] != INT64_MAX && used.of[r] + v.of[r] > cap.of[r])
				return false;
		}
	}
	for (uint32_t i = 0; i < m->s->n_rows; i++) {
		int64_t charge = model_charge(m, g, m->s->groups[g].min, i);

		if (charge && !m->s->rows[i].unknown &&
			model_row(m, st, i, fut) + charge > m->s->rows[i].limit)
			return false;
	}
	return true;
}

/* The nodes with all plans: those of the snapshot that stay, and the new ones. */
static inline void take_plans(const struct model *m, const struct kar_queue_result *res)
{
	for (uint32_t g = 0; g < m->s->n_groups; g++) {
		const struct kar_queue_run *run = m->s->groups[g].runs;
		const struct kar_placement *p = res->groups[g].places;
		int32_t have = 0;

		for (uint32_t i = 0; i < run->n_seats && is_admitted(&m->after, g); i++) {
			int32_t n = (int32_t)kar_clamp(m->after.d[g] - have, 0, run->seats[i].n);

			if (!run->seats[i].bound && run->seats[i].node)
				kar_sched_take(m->s->sched, run->seats[i].node, run->class, n);
			have += run->seats[i].n;
		}
		for (uint32_t i = 0; p && i < p->n_places; i++)
			kar_sched_take(m->s->sched, p->places[i].node, run->class, p->places[i].n);
	}
}

static inline bool nodes_fit(const struct model *m, uint32_t g, const struct kar_queue_result *res)
{
	const struct kar_role role = { .class = m->s->groups[g].runs->class, .need = m->s->groups[g].min };
	const struct kar_gang gang = { .roles = &role, .n_roles = 1 };
	size_t mark = kar_sched_mark(m->s->sched);
	struct kar_placement p;
	struct kar_arena a = { 0 };
	bool fits;

	take_plans(m, res);
	fits = kar_sched_place(m->s->sched, &gang, &a, &p);
	kar_sched_undo(m->s->sched, mark);
	kar_arena_release(&a);
	return fits;
}

static inline const char *i6_nobody_fits(const struct model *m, const struct kar_queue_result *res)
{
	if (m->s->flags.starvation_timeout || !m->one_node)
		return NULL; /* a reservation may be in the way, and where pods are that have no place yet is not in the result */
	for (uint32_t g = 0; g < m->s->n_groups; g++) {
		struct vec claims = model_total(m, &m->after, MODEL_ROOT, MODEL_H);

		if (!asks(m, &m->after, g) || is_behind_head(m, &m->after, g) ||
			is_quota_blocked(m, &m->after, g) || !is_feasible(m, g))
			continue;
		if (claims.of[MODEL_PODS])
			continue; /* where they go is not in the result */
		if (!res->groups[g].cause && rows_fit(m, &m->after, g, false, has_unplaced(m, res)) &&
			nodes_fit(m, g, res))
			return wrong("I6: %s fits and waits: %s: %s", group_name(m, g),
				kar_queue_reason_name(res->groups[g].reason), res->groups[g].text);
	}
	return NULL;
}

/* --- I9 to I12, I15, I16 -------------------------------------------------------------------------------------------------------------- */

/* Before the plan, K + H exceeded a limit that extras of the group use: SHED may take them whatever the window says. */
static inline bool may_be_shed(const struct model *m, uint32_t g)
{
	for (uint32_t r = 0; r < MODEL_RESOURCES; r++) {
		if (!model_extra_uses(m, &m->before, g, r))
			continue;
		if (model_used(m, &m->before, MODEL_ROOT).of[r] > model_load(m, r) ||
			m->s->flags.max_load_permille < 1000)
			return true;
		for (uint32_t a = model_queue_of(m, g); a != MODEL_ROOT; a = model_parent(m, a)) {
			if (model_used(m, &m->before, a).of[r] > model_capability(m, a).of[r])
				return true;
		}
	}
	/* An extra may have no node, and what no pod was released of may lose its admission and get it back. */
	return m->before.d[g] > m->s->groups[g].runs->n || !m->one_node ||
		(m->s->n_rows && !m->s->groups[g].released);
}

static inline const char *i9_window(const struct model *m, const struct kar_queue_result *res)
{
	for (uint32_t g = 0; g < m->s->n_groups; g++) {
		int32_t before = m->before.d[g], after = m->after.d[g];

		if (!is_admitted(&m->before, g) || !is_admitted(&m->after, g))
			continue;
		if (before >= m->s->groups[g].min && after != before && m->s->groups[g].elastic &&
			!(m->s->groups[g].resized && after > before) && !res->groups[g].scaled &&
			before <= m->s->groups[g].runs->n)
			return wrong("I9: %s goes from %d to %d and is not scaled", group_name(m, g),
				(int)before, (int)after);
		if (!is_frozen(m, g) || before < m->s->groups[g].min || may_be_shed(m, g) ||
			(m->s->groups[g].resized && after > before))
			continue;
		if (after != before && res->groups[g].cause == KAR_QUEUE_NOT_EVICTED)
			return wrong("I9: %s is frozen and goes from %d to %d", group_name(m, g), (int)before,
				(int)after);
	}
	return NULL;
}

/* Something was shed, taken, asked for by a minimum or admitted again, so that extras went for other reasons than that others grow. */
static inline bool extras_had_to_go(const struct model *m, const struct kar_queue_result *res)
{
	for (uint32_t q = 0; q < m->s->n_queues; q++) {
		if (m->s->queues[q].capability.n)
			return true;
	}
	for (uint32_t g = 0; g < m->s->n_groups; g++) {
		if (was_started(m, g) || res->groups[g].took_extras || res->groups[g].cause ||
			m->after.standing[g] != m->before.standing[g] ||
			(is_admitted(&m->before, g) && !m->s->groups[g].released) ||
			m->after.standing[g] == KAR_QUEUE_RESERVING ||
			m->s->groups[g].desired > m->s->groups[g].runs->n ||
			(is_admitted(&m->after, g) && m->before.d[g] < m->s->groups[g].min))
			return true;
	}
	for (uint32_t r = 0; r < MODEL_RESOURCES; r++) {
		if (model_used(m, &m->before, MODEL_ROOT).of[r] > model_load(m, r))
			return true;
	}
	return !m->one_node; /* or the nodes had no place for an extra */
}

/* Growth evicts nobody, and takes extras one for one: who gives one up gives it to somebody who may grow, at once or when it is gone. */
static inline const char *i10_growth_is_paid(const struct model *m, const struct kar_queue_result *res)
{
	int32_t given = 0, taken = 0, wanted = 0;

	for (uint32_t g = 0; g < m->s->n_groups; g++) {
		uint32_t taker = res->groups[g].evicted_for;

		/* Who is not released may lose its admission in the plan, and have it again. */
		if (res->groups[g].cause && res->groups[g].cause != KAR_QUEUE_DRAIN &&
			is_admitted(&m->before, taker) && m->s->groups[taker].released)
			return wrong("I10: %s is evicted for %s, which is admitted", group_name(m, g),
				group_name(m, taker));
	}
	if (extras_had_to_go(m, res))
		return NULL;
	for (uint32_t g = 0; g < m->s->n_groups; g++) {
		const struct kar_queue_group *x = &m->s->groups[g];
		int32_t more = m->after.d[g] - m->before.d[g];

		given += more < 0 ? -more : 0;
		taken += more > 0 ? more : 0;
		wanted += is_admitted(&m->after, g) && x->elastic && x->phase == KAR_QUEUE_RUNS && more >= 0
			? x->runs->n - m->before.d[g]
			: 0;
	}
	return given > taken && given > wanted
		? wrong("I10: %d pods are given up, %d taken, %d wanted", (int)given, (int)taken, (int)wanted)
		: NULL;
}

static inline bool are_alike(const struct model *m, uint32_t y, uint32_t z)
{
	const struct kar_queue_group *a = &m->s->groups[y], *b = &m->s->groups[z];

	return a->queue == b->queue && strcmp(a->ns, b->ns) == 0 && a->runs->class == b->runs->class &&
		a->elastic && b->elastic;
}

/* Nobody of its queue or namespace grows before it runs. */
static inline bool somebody_starts(const struct model *m, uint32_t y)
{
	const struct kar_queue_group *a = &m->s->groups[y];

	for (uint32_t g = 0; g < m->s->n_groups; g++) {
		const struct kar_queue_group *x = &m->s->groups[g];

		if (is_admitted(&m->after, g) && (was_started(m, g) || x->phase != KAR_QUEUE_RUNS) &&
			(x->queue == a->queue || strcmp(x->ns, a->ns) == 0))
			return true;
	}
	return false;
}

/* Somebody waits for the room of one pod of @z, so that nobody else would get that. */
static inline bool goes_to_who_waits(const struct model *m, uint32_t z)
{
	struct model_state st = m->after;

	st.d[z]--;
	for (uint32_t g = 0; g < m->s->n_groups; g++) {
		if (asks(m, &m->after, g) && !is_behind_head(m, &m->after, g) && is_feasible(m, g) &&
			rows_fit(m, &st, g, true, true))
			return true;
	}
	return false;
}

static inline const char *i11_even_extras(const struct model *m, const struct kar_queue_result *res)
{
	struct vec leaves = model_total(m, &m->after, MODEL_ROOT, MODEL_T);

	for (uint32_t q = 0; q < m->s->n_queues; q++) {
		if (m->s->queues[q].guarantee.n || res->queues[q].reserved_for != KAR_QUEUE_NONE)
			return NULL; /* a guarantee or a head that has waited for too long may have no room for another one */
	}
	if (leaves.of[MODEL_PODS] || m->s->n_rows || !m->one_node)
		return NULL; /* a rise may wait, or a row or the nodes may have no room for it */
	for (uint32_t y = 0; y < m->s->n_groups; y++) {
		for (uint32_t z = 0; z < m->s->n_groups; z++) {
			const struct kar_queue_group *a = &m->s->groups[y];
			uint32_t q = model_queue_of(m, y);

			if (y == z || q == MODEL_ROOT || !model_is_leaf(m, q) || somebody_starts(m, y) ||
				!are_alike(m, y, z) || !is_admitted(&m->after, y) ||
				!is_admitted(&m->after, z))
				continue;
			if (a->phase != KAR_QUEUE_RUNS || was_started(m, y) || was_started(m, z) ||
				is_frozen(m, y) || is_frozen(m, z) || a->desired < a->min ||
				m->s->groups[z].base > a->base || model_is_closed(m, q))
				continue;
			if (m->after.d[y] < a->runs->n &&
				model_extras(m, &m->after, y) + 1 < model_extras(m, &m->after, z) &&
				!goes_to_who_waits(m, z))
				return wrong("I11: %s has %d extras, %s has %d (%d steps)", group_name(m, y),
					(int)model_extras(m, &m->after, y), group_name(m, z),
					(int)model_extras(m, &m->after, z), (int)res->steps);
		}
	}
	return NULL;
}

/* Somebody has given up an extra, and not to the taker. */
static inline bool gave_to_others(const struct model *m, const struct kar_queue_result *res, uint32_t taker)
{
	for (uint32_t g = 0; g < m->s->n_groups && !res->groups[taker].took_extras; g++) {
		if (is_admitted(&m->after, g) && m->after.d[g] < m->before.d[g])
			return true;
	}
	return false;
}

/* With one taker of the plan, and nobody else who starts or grows: with any of its victims it does not fit. */
static inline const char *i12_victims_are_needed(const struct model *m, const struct kar_queue_result *res)
{
	struct model_state kept = m->after;
	uint32_t taker = KAR_QUEUE_NONE;
	bool reclaims = false; /* then one of its own queue may be gone only so that this is its right */

	for (uint32_t g = 0; g < m->s->n_groups; g++) {
		uint32_t j = res->groups[g].evicted_for;

		if (res->groups[g].cause == KAR_QUEUE_DRAIN || res->groups[g].cause == KAR_QUEUE_NOT_EVICTED)
			continue;
		if (!model_is_live(&m->after, j) && res->groups[j].cause == KAR_QUEUE_NOT_EVICTED)
			return wrong("I12: %s is evicted for %s, which waits", group_name(m, g),
				group_name(m, j));
		if (taker != KAR_QUEUE_NONE && taker != j)
			return NULL;
		taker = j;
		reclaims |= res->groups[g].cause == KAR_QUEUE_RECLAIM;
	}
	for (uint32_t g = 0; g < m->s->n_groups && taker != KAR_QUEUE_NONE; g++) {
		if (g != taker && grew(m, g))
			return NULL;
	}
	/* What is shed for the load, or given up for a rise that has to wait, goes later, and might have been enough. */
	if (taker == KAR_QUEUE_NONE || gave_to_others(m, res, taker) || is_admitted(&m->before, taker) ||
		m->s->flags.starvation_timeout || m->s->flags.max_load_permille < 1000)
		return NULL;
	if (reclaims && model_parent(m, m->s->groups[taker].queue) != MODEL_ROOT)
		return NULL; /* likewise one of a sibling, for the right of their parent */
	kept.standing[taker] = KAR_QUEUE_WAITING;
	kept.d[taker] = 0;
	for (uint32_t g = 0; g < m->s->n_groups; g++) {
		struct model_state with = kept;

		if (res->groups[g].cause == KAR_QUEUE_NOT_EVICTED || res->groups[g].cause == KAR_QUEUE_DRAIN)
			continue;
		with.standing[g] = m->before.standing[g];
		with.d[g] = m->before.d[g];
		if (m->s->groups[g].elastic && !is_frozen(m, g) && with.d[g] > m->s->groups[g].min)
			with.d[g] = m->s->groups[g].min; /* its extras may have gone before */
		/* A raised minimum may have been admitted first. */
		if ((reclaims && res->groups[g].cause == KAR_QUEUE_IN_QUEUE) ||
			m->before.d[g] < m->s->groups[g].min)
			continue;
		if (!is_feasible(m, g))
			continue; /* what would fit nowhere does not go on beside somebody who was let in first, and is gone */
		if (m->one_node && rows_fit(m, &with, taker, true, true))
			return wrong("I12: %s fits beside %s", group_name(m, taker), group_name(m, g));
	}
	return NULL;
}

static inline const char *i15_quota(const struct model *m, const struct kar_queue_result *r)
{
	(void)r;
	for (uint32_t row = 0; row < m->s->n_rows; row++) {
		const struct kar_queue_quota_row *x = &m->s->rows[row];
		bool full = model_row(m, &m->after, row, true) > x->limit;

		for (uint32_t g = 0; g < m->s->n_groups; g++) {
			if (full && !x->unknown && grew(m, g) && model_charge(m, g, 1, row))
				return wrong("I15: %s grows and row %u has no room", group_name(m, g),
					(unsigned)row);
		}
	}
	return NULL;
}

/* Who exceeds a row closes it to those behind it, as long as nothing is given back in this plan. */
static inline const char *i15_closed_rows(const struct model *m, const struct kar_queue_result *res)
{
	for (uint32_t g = 0; g < m->s->n_groups; g++) {
		if (!m->one_node || res->groups[g].cause || m->after.d[g] < m->before.d[g] ||
			(model_is_live(&m->before, g) && !model_is_live(&m->after, g)))
			return NULL;
	}
	for (uint32_t g = 0; g < m->s->n_groups; g++) {
		for (uint32_t row = 0; row < m->s->n_rows; row++) {
			if (!asks(m, &m->after, g) || !is_feasible(m, g) || !exceeds(m, &m->before, g, row))
				continue;
			for (uint32_t h = 0; h < m->s->n_groups; h++) {
				if (h != g && grew(m, h) && model_charge(m, h, 1, row) &&
					model_before(m, g, h) && m->before.standing[h] != KAR_QUEUE_RESERVING)
					return wrong("I15: %s passes %s on row %u", group_name(m, h),
						group_name(m, g), (unsigned)row);
			}
		}
	}
	return NULL;
}

/* Is something that the victims use above the right of their queue, as it was before they went? */
static inline bool was_over(const struct model *m, const struct kar_queue_result *res, uint32_t b, uint32_t v)
{
	struct vec n = model_right(m, b), u0 = model_total(m, &m->after, b, MODEL_U0),
		   ask = model_minimum(m, v);
	bool names = false, asks_named = false;

	for (uint32_t g = 0; g < m->s->n_groups; g++) {
		if (model_counts(m, g, b) &&
			(res->groups[g].cause ||
				asks(m, &m->after, g))) /* it may have been there for a while */
			u0 = model_sum(u0, model_minimum(m, g));
	}
	for (uint32_t r = 0; r < MODEL_RESOURCES; r++) {
		names |= n.of[r] >= 0;
		asks_named |= n.of[r] >= 0 && ask.of[r];
		if (n.of[r] >= 0 && ask.of[r] && u0.of[r] > n.of[r])
			return true;
	}
	return !names || !asks_named;
}

static inline const char *i16_reclaim(const struct model *m, const struct kar_queue_result *res, uint32_t v,
	uint32_t j)
{
	uint32_t a = m->s->groups[j].queue, b = m->s->groups[v].queue;
	struct vec n, ask = model_minimum(m, j);
	bool within = false;

	for (uint32_t x = b; x != MODEL_ROOT && !model_below(m, a, x); x = model_parent(m, x)) {
		if (m->s->queues[x].not_reclaimable)
			return wrong("I16: %s goes, and %s keeps its groups", group_name(m, v),
				queue_name(m, x));
	}
	while (model_parent(m, a) != MODEL_ROOT && !model_below(m, b, model_parent(m, a)))
		a = model_parent(m, a);
	while (model_parent(m, b) != MODEL_ROOT && !model_below(m, m->s->groups[j].queue, model_parent(m, b)))
		b = model_parent(m, b);
	if (a == b || model_parent(m, a) != model_parent(m, b))
		return wrong("I16: %s is of no other queue than %s", group_name(m, v), group_name(m, j));
	n = model_right(m, a);
	for (uint32_t r = 0; r < MODEL_RESOURCES; r++) {
		if (n.of[r] >= 0 && ask.of[r] > n.of[r])
			return wrong("I16: %s is not within the right of %s", group_name(m, j),
				queue_name(m, a));
		within |= n.of[r] >= 0 && ask.of[r];
	}
	if (!within)
		return wrong("I16: %s has no right", group_name(m, j));
	return was_over(m, res, b, v)
		? NULL
		: wrong("I16: %s goes, and %s is within its right", group_name(m, v), queue_name(m, b));
}

/* Pods of @v that more than a budget allows would be gone with, beside those of all whom the plan evicts, and (@st) of who is gone in it. */
static inline bool exceeds_a_budget(const struct model *m, const struct kar_queue_result *res,
	const struct model_state *st, uint32_t v)
{
	const struct kar_queue_group *x = &m->s->groups[v];
	bool exceeds = false;

	for (uint32_t i = 0; i < x->n_budgets; i++) {
		int64_t left = m->s->budgets[x->budgets[i].budget];

		for (uint32_t g = 0; g < m->s->n_groups; g++) {
			bool gone = g == v || res->groups[g].cause ||
				(st && model_is_live(&m->after, g) && !model_is_live(st, g));

			for (uint32_t k = 0; gone && k < m->s->groups[g].n_budgets; k++) {
				if (m->s->groups[g].budgets[k].budget == x->budgets[i].budget)
					left -= m->s->groups[g].budgets[k].pods;
			}
		}
		exceeds |= left < 0;
	}
	return exceeds;
}

static inline const char *i16_victims_are_lawful(const struct model *m, const struct kar_queue_result *res)
{
	for (uint32_t v = 0; v < m->s->n_groups; v++) {
		const struct kar_queue_group *x = &m->s->groups[v];
		uint32_t j = res->groups[v].evicted_for;
		const char *found = NULL;

		switch (res->groups[v].cause) {
		case KAR_QUEUE_NOT_EVICTED:
			continue;
		case KAR_QUEUE_DRAIN:
			if (x->queue == KAR_QUEUE_NONE || !model_is_drained(m, x->queue))
				return wrong("I16: %s is drained, its queue is not", group_name(m, v));
			continue;
		case KAR_QUEUE_RECLAIM:
			found = i16_reclaim(m, res, v, j);
			break;
		case KAR_QUEUE_IN_QUEUE:
			if (x->queue != m->s->groups[j].queue || x->base >= m->s->groups[j].base ||
				!m->s->queues[x->queue].preempts)
				return wrong("I16: %s goes for %s", group_name(m, v), group_name(m, j));
		}
		if (!found && exceeds_a_budget(m, res, NULL, v))
			return wrong("P15: %s goes beyond a budget", group_name(m, v));
		if (!found && (x->not_evictable || is_protected(m, v)))
			return wrong("I16: %s is protected or not evictable", group_name(m, v));
		if (found)
			return found;
	}
	return NULL;
}

#endif
