/*
 * Whole gangs are evicted for one of higher priority in the same queue (docs/design/podgroup.md, 6; preemptionPolicy of the queue).
 *
 * Rules: nobody is evicted unless the whole taker then starts; none that is not needed; the lowest priority first, of equals the one that was
 * admitted last. The taker holds the room until their pods are gone.
 */
#include "controllers/queue/entry.h"

#include <stdlib.h>
#include <string.h>

#include "common/str.h"

enum { NAMED = 3 };

/* Groups whose pods leave for one taker. */
struct victims {
	const struct queue_group **groups;
	struct entry **entries; /* NULL: it is being evicted already */
	size_t n;
};

static bool is_evicted_for(const struct kar_podgroup *g, const struct kar_podgroup *taker)
{
	const char *by = g->status.placement.evicted_by;
	size_t ns = strlen(taker->o.ns);

	return by && strncmp(by, taker->o.ns, ns) == 0 && by[ns] == '/' &&
		kar_streq(by + ns + 1, taker->o.name);
}

static int compare_victims(const void *a, const void *b)
{
	const struct queue_group *x = (*(struct entry *const *)a)->g, *y = (*(struct entry *const *)b)->g;

	if (x->priority != y->priority)
		return x->priority < y->priority ? -1 : 1;
	if (x->started != y->started)
		return x->started > y->started ? -1 : 1;
	return -queue_group_compare(x, y);
}

/* Those that may be evicted for @e, the first to go first. */
static struct entry **find_candidates(const struct entry *e, struct kar_arena *a, size_t *n)
{
	struct entry **out = kar_arena_alloc(a, e->w->n, sizeof(struct entry *));

	for (size_t i = 0; i < e->w->n; i++) {
		struct entry *c = &e->w->entries[i];

		if (c->g->admitted && c->g->used && c->g->priority < e->g->priority && !c->decided &&
			!is_evicted_for(e->g->group, c->g->group))
			out[(*n)++] = c;
	}
	qsort(out, *n, sizeof(struct entry *), compare_victims);
	return out;
}

static void add(struct victims *v, const struct queue_group *g, struct entry *e)
{
	v->groups[v->n] = g;
	v->entries[v->n++] = e;
}

static struct victims find_leaving(const struct entry *e, struct kar_arena *a)
{
	struct victims v = { kar_arena_alloc(a, e->w->n, sizeof(struct queue_group *)),
		kar_arena_alloc(a, e->w->n, sizeof(struct entry *)), 0 };

	for (size_t i = 0; i < e->w->n; i++) {
		const struct queue_group *g = e->w->entries[i].g;

		if (queue_is_evicted(g->group) && g->used && is_evicted_for(g->group, e->g->group))
			add(&v, g, NULL);
	}
	return v;
}

/* Is there a place in the queue for @e when these are gone? */
static bool has_job_place(const struct entry *e, const struct victims *v)
{
	int32_t left = 0;

	for (size_t i = 0; i < v->n; i++)
		left += v->entries[i] != NULL;
	return !e->w->queue->spec.has_max_jobs || e->w->jobs - left < e->w->queue->spec.max_jobs;
}

static bool suffices(struct queue_fit *f, const struct entry *e, const struct victims *v)
{
	return has_job_place(e, v) && queue_fit_after(f, e->g->gang, v->groups, v->n, false);
}

/* In reverse order, each without which @e still starts stays. */
static void spare(struct queue_fit *f, const struct entry *e, struct victims *v)
{
	for (size_t i = v->n; i-- > 0;) {
		struct victims rest = *v;
		struct entry *victim = v->entries[i];
		const struct queue_group *g = v->groups[i];

		if (!victim)
			continue;
		rest.n--;
		memmove(&v->groups[i], &v->groups[i + 1], (rest.n - i) * sizeof(struct queue_group *));
		memmove(&v->entries[i], &v->entries[i + 1], (rest.n - i) * sizeof(struct entry *));
		if (suffices(f, e, &rest)) {
			v->n--;
			continue;
		}
		memmove(&v->groups[i + 1], &v->groups[i], (rest.n - i) * sizeof(struct queue_group *));
		memmove(&v->entries[i + 1], &v->entries[i], (rest.n - i) * sizeof(struct entry *));
		v->groups[i] = g;
		v->entries[i] = victim;
	}
}

/* A group is evicted, and its CRD does not keep for whom. */
static bool somebody_leaves(const struct entry *e)
{
	for (size_t i = 0; i < e->w->n; i++) {
		const struct kar_podgroup *g = e->w->entries[i].g->group;

		if (queue_is_rolled_back(g) && !queue_is_evicted(g) &&
			kar_condition_is_true(&g->status.conditions, KAR_PG_PREEMPTED))
			return true;
	}
	return false;
}

/* All candidates suffice; leaves the fewest of them, in their order, that do. */
static void halve(struct queue_fit *f, const struct entry *e, struct victims *v, size_t least)
{
	size_t most = v->n;

	while (least < most) {
		v->n = (least + most) / 2;
		if (suffices(f, e, v))
			most = v->n;
		else
			least = v->n + 1;
	}
	v->n = most;
}

static bool choose(struct queue_fit *f, const struct entry *e, struct victims *v, struct kar_arena *a)
{
	size_t n = 0, leaving = v->n;
	struct entry **candidates;

	if (suffices(f, e, v))
		return v->n > 0;
	candidates = find_candidates(e, a, &n);
	if (!n || somebody_leaves(e))
		return false;
	for (size_t i = 0; i < n; i++)
		add(v, candidates[i]->g, candidates[i]);
	if (!suffices(f, e, v))
		return false;
	halve(f, e, v, leaving + 1);
	spare(f, e, v);
	return true;
}

static const char *name_victims(const struct victims *v, struct kar_arena *a)
{
	const char *text = "";

	for (size_t i = 0; i < v->n && i < NAMED; i++)
		text = kar_arena_printf(a, "%s%s%s/%s", text, i ? ", " : "", v->groups[i]->group->o.ns,
			v->groups[i]->group->o.name);
	return v->n > NAMED ? kar_arena_printf(a, "%s and %zu more", text, v->n - NAMED) : text;
}

static bool is_unverified(const struct queue_gang *g)
{
	for (uint32_t i = 0; g->unverified && i < g->gang.n_roles; i++) {
		if (g->unverified[i])
			return true;
	}
	return false;
}

static bool may_preempt(const struct entry *e)
{
	enum queue_reason r = e->d->reason;

	/* Whether it starts is certain: nobody is evicted again and again for one that does not. */
	return (r == QUEUE_NO_FIT || r == QUEUE_MAX_JOBS) && e->w->queue->spec.preempts && e->g->gang &&
		!e->g->never_preempts && !e->g->unit && !e->g->group->status.placement.failures &&
		!is_unverified(e->g->gang);
}

void queue_preempt(struct queue_fit *f, struct entry *e, struct kar_arena *a)
{
	struct victims v;

	if (!may_preempt(e))
		return;
	v = find_leaving(e, a);
	if (!choose(f, e, &v, a))
		return;
	queue_fit_after(f, e->g->gang, v.groups, v.n, true);
	for (size_t i = 0; i < v.n; i++) {
		if (!v.entries[i])
			continue;
		*v.entries[i]->d = (struct queue_decision){ .reason = QUEUE_PREEMPTED, .evicted_for = e->g };
		v.entries[i]->decided = true;
		e->w->jobs--;
	}
	e->w->jobs++;
	*e->d = (struct queue_decision){ .reason = QUEUE_RESERVING, .stopping = name_victims(&v, a) };
}
