/* The order in which groups are decided about, and those that start together (controllers/unit.h). */
#include "controllers/queue/entry.h"

#include <stdlib.h>

#include "api/pg_members.h"
#include "common/str.h"

static int compare_groups(const void *a, const void *b)
{
	const struct entry *const *x = a, *const *y = b;
	uintptr_t p = (uintptr_t)(*x)->g->group, q = (uintptr_t)(*y)->g->group;

	return (p > q) - (p < q);
}

/* NULL: it has finished. */
static struct entry *entry_of(const struct order *o, const struct kar_podgroup *g)
{
	const struct queue_group qg = { .group = g };
	const struct entry wanted = { .g = &qg };
	const struct entry *key = &wanted;
	struct entry **found = bsearch(&key, o->by_group, o->n, sizeof(struct entry *), compare_groups);

	return found ? *found : NULL;
}

/* Whose turn is last. */
static size_t last_of_unit(const struct order *o, const struct entry *e)
{
	size_t last = e->rank;

	for (size_t i = 1; i < e->g->n_unit; i++) {
		const struct entry *other = entry_of(o, e->g->unit[i]);

		last = other && other->rank > last ? other->rank : last;
	}
	return last;
}

/* An entry before its unit was tried. */
struct saved {
	struct entry *member; /* NULL: it needs no decision */
	struct queue_decision d;
	bool decided;
};

/* A group of others is admitted before it has members, but then the others of its unit have to wait for it. */
static bool is_ready(const struct entry *e)
{
	const struct kar_podgroup *g = e->g->group;
	bool empty = e->g->admitted && kar_pg_of_others(g) && g->status.placement.state == KAR_PG_STATE_NONE;

	return (e->g->admitted || (e->decided && e->d->reason == QUEUE_ADMITTED)) && !empty;
}

/* Those of the unit that are not admitted yet, @e first. */
static struct saved *save_unit(const struct order *o, const struct entry *e, struct kar_arena *a)
{
	struct saved *all = kar_arena_alloc(a, e->g->n_unit, sizeof(*all));

	for (size_t i = 0; i < e->g->n_unit; i++) {
		struct entry *member = entry_of(o, e->g->unit[i]);

		if (member && !is_ready(member))
			all[i] = (struct saved){ member, *member->d, member->decided };
	}
	return all;
}

/* Tries to admit all of them. Returns the first that cannot start, with the reason in its decision; NULL: all are admitted. */
static struct entry *try_unit(struct queue_fit *f, const struct saved *all, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct entry *member = all[i].member;

		if (!member)
			continue;
		*member->d = (struct queue_decision){ .reason = QUEUE_FEW_MEMBERS };
		if (member->g->admitted)
			return member;
		member->d->reason = queue_try_to_admit(f, member);
		if (member->d->reason != QUEUE_ADMITTED)
			return member;
		member->decided = true;
	}
	return NULL;
}

static void undo_unit(const struct saved *all, size_t n, const struct entry *failed)
{
	bool tried = true;

	for (size_t i = 0; i < n; i++) {
		struct entry *member = all[i].member;

		tried &= member != failed;
		if (!member)
			continue;
		member->w->jobs -= tried;
		member->decided = all[i].decided;
		*member->d = all[i].d;
	}
}

/* All that have not started are admitted together, each by its own queue, or @e waits. */
static void decide_unit(struct queue_fit *f, const struct order *o, struct entry *e, struct kar_arena *a)
{
	struct saved *all = save_unit(o, e, a);
	struct queue_decision failure = { .reason = QUEUE_GANG_GROUP };
	struct entry *failed = NULL;

	if (!e->g->missing) {
		size_t mark = queue_fit_mark(f);

		failed = try_unit(f, all, e->g->n_unit);
		if (!failed) {
			queue_fit_keep(f, mark);
			return;
		}
		queue_fit_undo(f, mark);
		failure = *failed->d;
		undo_unit(all, e->g->n_unit, failed);
	}
	*e->d = failed == e || !failed ? failure
				       : (struct queue_decision){ .reason = QUEUE_GANG_GROUP,
						 .partner = failed->g->group,
						 .partner_reason = failure.reason };
	e->decided = true;
	queue_note_head(e);
}

/* Each unit has its turn with its last member. */
void queue_decide_in_order(struct queue_fit *f, const struct order *o, struct kar_arena *a)
{
	struct entry **deferred = kar_arena_alloc(a, o->n + 1, sizeof(struct entry *));
	size_t n = 0;

	for (size_t i = 0; i < o->n; i++) {
		struct entry *e = o->entries[i];

		if (e->g->unit)
			deferred[n++] = e;
		else if (!e->decided) /* it may have been chosen to make room */
			queue_decide_entry(f, e, a);
		for (size_t k = 0; k < n; k++) {
			if (!deferred[k]->decided && last_of_unit(o, deferred[k]) <= i)
				decide_unit(f, o, deferred[k], a);
		}
	}
}

static int compare_ordered(const void *a, const void *b)
{
	const struct entry *const *x = a, *const *y = b;

	return queue_group_compare((*x)->g, (*y)->g);
}

/* All queues share the nodes, so their groups are decided about in one order. */
struct order queue_order(struct entry *entries, size_t n, struct kar_arena *arena)
{
	struct order o = { .entries = kar_arena_alloc(arena, n + 1, sizeof(struct entry *)),
		.by_group = kar_arena_alloc(arena, n + 1, sizeof(struct entry *)),
		.n = n };
	bool units = false;

	for (size_t i = 0; i < n; i++)
		o.entries[i] = &entries[i];
	qsort(o.entries, n, sizeof(struct entry *), compare_ordered);
	for (size_t i = 0; i < n; i++) {
		o.entries[i]->rank = i;
		o.by_group[i] = o.entries[i];
		units |= o.entries[i]->g->unit != NULL;
	}
	if (units)
		qsort(o.by_group, n, sizeof(struct entry *), compare_groups);
	return o;
}
