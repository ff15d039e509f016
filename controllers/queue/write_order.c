/*
 * In which order a pass writes what it has decided about groups, and what waits for the next pass.
 */
#include <assert.h>
#include <stdlib.h>

#include "controllers/queue/write.h"

enum {
	MESSAGES = 1000,           /* for groups that wait, in one plan */
	WITHHELD = 5 * KAR_SECOND, /* ms for which admissions wait for others that are taken back, at most */
};

/* --- admissions that are taken back --------------------------------------------------------------------- */

/* It loses its admission by a write of this pass. */
static bool loses_admission(const struct queue_pass *p, uint32_t i)
{
	const struct queue_group *qg = &p->groups[i];
	const struct kar_queue_decision *d = &p->result.groups[i];

	return qg->recorded && !queue_is_admitted(d) && !qg->label && queue_is_written(qg);
}

/*
 * For each queue, in the arena: does somebody in it, or in a part of it, lose an admission? Then no place or right of it is given anew
 * before the next pass, when that is recorded: requests that are sent one after the other may arrive in another order, or only the
 * second of them.
 */
static const bool *queues_that_take_back(const struct queue_pass *p)
{
	bool *all = kar_arena_alloc(p->arena, p->n_queues + 1, sizeof(*all));

	for (uint32_t i = 0; i < p->n_groups; i++) {
		if (!loses_admission(p, i))
			continue;
		for (uint32_t q = p->in[i].queue; q != KAR_QUEUE_NONE; q = p->result.queues[q].parent)
			all[q] = true;
	}
	return all;
}

/* Is an admission of the group new, and does it have to wait for those that are taken back? */
static bool must_wait(const struct queue_pass *p, uint32_t i, const bool *take_back)
{
	if (queue_turn_of(p, i) != QUEUE_GIVES)
		return false;
	for (uint32_t q = p->in[i].queue; q != KAR_QUEUE_NONE; q = p->result.queues[q].parent) {
		if (take_back[q])
			return true;
	}
	return false;
}

/*
 * Do admissions wait in this pass? After WITHHELD they go out once: else a write that the API server refuses, or one eviction after the
 * other, would keep the whole queue from starting anything.
 */
static bool withholds(const struct queue_pass *p, const bool *take_back)
{
	struct queue_shared *shared = p->shared;
	bool any = false;

	if (p->for_positions)
		return false;
	for (uint32_t i = 0; i < p->n_groups && !any; i++)
		any = must_wait(p, i, take_back);
	if (any && !shared->withheld)
		shared->withheld = p->mono;
	if (any && p->mono - shared->withheld < WITHHELD)
		return true;
	shared->withheld = 0;
	return false;
}

/* --- why groups wait ------------------------------------------------------------------------------------ */

/* A group that waits for a new reason. */
struct told {
	const char *ns; /* interned */
	uint32_t group;
	uint32_t before; /* others of its namespace that are told before it */
};

static int compare_groups(const void *a, const void *b)
{
	const struct told *x = a, *y = b;

	return (x->group > y->group) - (x->group < y->group);
}

static int compare_told(const void *a, const void *b)
{
	const struct told *x = a, *y = b;

	if (x->ns != y->ns)
		return (uintptr_t)x->ns < (uintptr_t)y->ns ? -1 : 1;
	return compare_groups(a, b);
}

/* How many of each namespace may be told, at least one, so that all are MESSAGES at most. @list is sorted, and gets .before. */
static uint32_t share_messages(struct queue_pass *p, struct told *list, uint32_t n)
{
	uint32_t *of_rank = kar_arena_alloc(p->arena, n + 1, sizeof(*of_rank)), most = 1;

	for (uint32_t i = 0; i < n; i++) {
		list[i].before = i && list[i].ns == list[i - 1].ns ? list[i - 1].before + 1 : 0;
		of_rank[list[i].before]++;
	}
	assert(n > MESSAGES && of_rank[0]);
	for (uint32_t all = of_rank[0]; most < n && all + of_rank[most] <= MESSAGES; most++)
		all += of_rank[most];
	return most;
}

/*
 * Why groups wait. When very many come at once, a few of each namespace in this pass, and others in the next: if something changes meanwhile,
 * the rest of a plan is dropped, so all of them would be encoded again and again.
 */
static void write_waiting(struct queue_pass *p)
{
	struct told *list = kar_arena_alloc(p->arena, p->n_groups + 1, sizeof(*list));
	bool *later = kar_arena_alloc(p->arena, p->n_groups + 1, sizeof(*later));
	uint32_t n = 0, most;

	for (uint32_t i = 0; i < p->n_groups; i++) {
		if (queue_turn_of(p, i) != QUEUE_WAITS)
			continue;
		if (!queue_is_written(&p->groups[i]))
			continue;
		if (!p->for_positions && queue_is_news(p, &p->groups[i], &p->result.groups[i]))
			list[n++] = (struct told){ .ns = p->groups[i].group->o.ns, .group = i };
		else
			queue_write_group(p, i);
	}
	if (n > MESSAGES) {
		qsort(list, n, sizeof(*list), compare_told);
		most = share_messages(p, list, n);
		for (uint32_t i = 0; i < n; i++)
			later[list[i].group] = list[i].before >= most;
		qsort(list, n, sizeof(*list), compare_groups); /* addresses of namespaces mean nothing */
		kar_plan_requeue(p->plan, 0);                  /* as soon as these are written */
	}
	for (uint32_t i = 0; i < n; i++) {
		if (!later[list[i].group])
			queue_write_group(p, list[i].group);
	}
}

/* --- all of them ---------------------------------------------------------------------------------------- */

void queue_write_groups(struct queue_pass *p)
{
	const bool *take_back = queues_that_take_back(p);
	bool withheld = withholds(p, take_back);

	queue_write_finished(p);
	for (enum queue_turn turn = QUEUE_RESERVES; turn < QUEUE_WAITS; turn++) {
		for (uint32_t i = 0; i < p->n_groups; i++) {
			if (queue_turn_of(p, i) == turn && !(withheld && must_wait(p, i, take_back)))
				queue_write_group(p, i);
		}
		if (turn == QUEUE_RESERVES)
			queue_write_evictions(p);
	}
	write_waiting(p);
}
