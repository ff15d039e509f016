/* The pass of the queues (common/queue): rows in the words of queue_world.h, many of them from docs/design/queue.md, 12. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/unit/queue_world.h"

/*
 * Expected: facts, with " | " between them.
 *   "j=5"  d of an admitted group   "j=claim"   "j=NoFit"  its reason   "j~text"  its text begins so   "q:a=6"  sum of d in a queue
 *   "share:a=156"   "entitled:a=cpu:6"
 * .then: more statements, after the plan was carried out and what stops is gone; "" : the same again, and nothing may change.
 */
struct row {
	const char *name, *world, *expected, *then, *expected_then;
};

static const char *answer(struct world *w, const char *what)
{
	uint32_t i;

	if (strncmp(what, "q:", 2) == 0)
		return kar_arena_printf(&w->a, "%d",
			(int)world_sum_of_queue(w, world_find_queue(w, what + 2)));
	if (strncmp(what, "share:", 6) == 0)
		return kar_arena_printf(&w->a, "%" PRId64, w->r.queues[world_find_queue(w, what + 6)].share);
	if (strncmp(what, "entitled:", 9) == 0) {
		const struct kar_queue_amounts *l = &w->r.queues[world_find_queue(w, what + 9)].entitled;

		for (i = 0; i < l->n && strcmp(l->items[i].resource, "cpu") != 0;)
			i++;
		return kar_arena_printf(&w->a, "%" PRId64, i < l->n ? l->items[i].amount / 1000 : -1);
	}
	i = world_find(w, what);
	if (i == KAR_QUEUE_NONE)
		fail_msg("no group %s", what);
	return world_answer(w, i);
}

static void check_fact(struct world *w, const struct row *r, char *fact)
{
	char *mark = fact + strcspn(fact, "=~");
	bool text = *mark == '~';
	const char *found, *expected = mark + 1;

	*mark = '\0';
	found = answer(w, fact);
	if (text) {
		found = strstr(found, ": ") ? strstr(found, ": ") + 2 : found;
		if (strncmp(found, expected, strlen(expected)) != 0)
			fail_msg("%s: %s says \"%s\", not \"%s\"", r->name, fact, found, expected);
		return;
	}
	if (strncmp(found, expected, strlen(expected)) != 0 ||
		(found[strlen(expected)] && found[strlen(expected)] != ':'))
		fail_msg("%s: %s is \"%s\", not \"%s\"", r->name, fact, found, expected);
}

static void check(struct world *w, const struct row *r, const char *expected)
{
	world_plan(w);
	assert_false(w->r.unsettled);
	while (*expected) {
		const char *end = strstr(expected, " | ");
		size_t n = end ? (size_t)(end - expected) : strlen(expected);

		check_fact(w, r, kar_arena_strndup(&w->a, expected, n));
		expected += end ? n + 3 : n;
	}
}

/* The same again, before anything has happened. */
static void check_settled(struct world *w, const struct row *r)
{
	const struct kar_queue_decision *old = w->r.groups;

	world_apply(w);
	world_plan(w);
	for (uint32_t i = 0; i < w->s.n_groups; i++) {
		const struct kar_queue_decision *new = &w->r.groups[i];

		if (old[i].standing != new->standing || old[i].desired != new->desired || new->cause)
			fail_msg("%s: planned again, %s changes from %s, d %d", r->name, w->groups[i].name,
				world_answer(w, i), (int)old[i].desired);
	}
}

static void run(const struct row *r)
{
	struct world w;

	world_begin(&w, r->world);
	check(&w, r, r->expected);
	check_settled(&w, r);
	if (r->expected_then) {
		world_settle(&w);
		world_say(&w, r->then ? r->then : "");
		check(&w, r, r->expected_then);
		check_settled(&w, r);
	}
	world_end(&w);
}

static const struct row rows[] = {
	/* --- docs/design/queue.md, 12 */
	{ "rights_and_weights",
		"node n cpu=20; queue a n=cpu:4 w=1; queue b n=cpu:6 w=4; 25*group x a 1 cpu=1; 25*group y b 1 cpu=1",
		"q:a=6 | q:b=14 | entitled:a=6 | entitled:b=14" },
	{ "dominant_resource",
		"node n cpu=10 memory=20; queue a; queue b; 9*group x a 1 cpu=1 memory=4; 9*group y b 1 cpu=2 memory=1",
		"q:a=4 | q:b=3" },
	{ "share", "node n cpu=16; queue a n=cpu:2 w=2; group x a 7 cpu=1 run=7", "x=7 | share:a=156" },
	{ "reclaim",
		"node n cpu=10; queue a n=cpu:4; queue b n=cpu:6; 10*group x a 1 cpu=1 run=1; 7*group y b 1 cpu=1",
		"q:a=4 | x4=Preempted | x10=1 | y1=claim | y6=claim | y7~cpu short 1: 1 wanted, 0 free of 10",
		"", "q:b=6 | q:a=4 | y7=InsufficientCapacity" },
	{ "within_by_gpu",
		"node n cpu=16 gpu=4; queue a n=gpu:4; queue b; group g b 4 cpu=4 run=4; 2*group x a 1 cpu=4 gpu=2",
		"g=Preempted | x1=claim | x2=claim", "", "x1=1 | x2=1" },
	{ "in_queue",
		"node n cpu=5; queue a preempt; group v a 2 cpu=1 p=10 run=2; group w a 1 cpu=1 p=10 run=1; group x a 2 cpu=1 p=100 run=2; group t a 3 cpu=1 p=1000",
		"v=Preempted | w=Preempted | x=2 | t=claim", "", "t=3" },
	{ "claim_holds",
		"node n cpu=6; queue a; group t a 6 cpu=1 claim; group v a 3 cpu=1 stops=3; group w a 1 cpu=1",
		"t=claim | w=InsufficientCapacity | v=InsufficientCapacity" },
	{ "window",
		"node n cpu=10; flags window=60; queue a n=cpu:4; queue b n=cpu:6; group x a 4..9 cpu=1 run=9 scaled=10000; group y b 3 cpu=1",
		"x=9 | y=WaitingForReclaim", "now 10060", "x=7 | y=claim" },
	{ "backfill_fits_beside_head",
		"node n cpu=8 gpu=4; flags starve=300; queue a; group old a 1 gpu=2 run=1; group head a 1 cpu=4 gpu=4 t=10; group x a 1 cpu=4",
		"x=1 | head=InsufficientCapacity" },
	{ "backfill_must_leave_room",
		"node n cpu=8 gpu=4; flags starve=300; queue a; group old a 1 gpu=2 run=1; group head a 1 cpu=4 gpu=4 t=10; group x a 1 cpu=5; group y a 1 gpu=1",
		"x=HeadReserved | y=HeadReserved" },
	{ "tree",
		"node n cpu=9; queue eng w=2; queue w1 under=eng; queue w2 under=eng w=2; queue sci w=1; 9*group x w1 1 cpu=1; 9*group y w2 1 cpu=1; 9*group z sci 1 cpu=1",
		"q:w1=2 | q:w2=4 | q:sci=3" },
	{ "guarantee_is_infeasible",
		"node n cpu=10; queue a g=cpu:3 n=cpu:3; queue b; group x b 8 cpu=1; group y b 7 cpu=1",
		"x~cpu short 1: 8 wanted, 7 of 10 can be had | y=7" },
	{ "capability_shrinks",
		"node n cpu=10; queue a cap=cpu:2; group x a 1..3 cpu=1 run=3; group y a 2 cpu=1 run=2; group z a 1 cpu=1",
		"x=1 | y=2 | z=QueueCapability" },
	{ "load_bounds_extras", "node n cpu=30; flags load=900; queue a; group x a 5..40 cpu=1 run=5",
		"x=27" },
	{ "load_does_not_bound_minima", "node n cpu=30; flags load=900; queue a; group x a 30 cpu=1",
		"x=30" },
	{ "foreign_pod", "node n cpu=10; queue a; group x a 2..9 cpu=1 run=9; foreign cpu=4", "x=6" },
	{ "extras_by_count", "node n cpu=9; queue a; group x a 2..8 cpu=1 run=5; group y a 1..9 cpu=1 run=1",
		"x=5 | y=4" },
	{ "shrink_by_priority",
		"node n cpu=7; queue a; group x a 2..5 cpu=1 p=1000 run=5; group y a 2..5 cpu=1 p=10 run=5",
		"x=5 | y=2" },
	{
		"weights_move_extras",
		"node n cpu=9; queue a w=2; queue b; group x a 1..9 cpu=1 run=9; group y b 1..9 cpu=1",
		"x=8 | y=claim",
		"",
		"y=1",
	},
	{ "quota_gang_takes_extras",
		"node n cpu=20; quota default c pods=8; queue a; group x a 3..7 cpu=1 p=1000 run=7; group y a 4 cpu=1 p=10",
		"x=4 | y=claim", "", "x=4 | y=4" },
	{ "quota_too_small",
		"node n cpu=20; quota default c pods=6; queue a; group x a 3..7 cpu=1 p=1000 run=5; group y a 4 cpu=1 p=10",
		"x=6 | y=QuotaExceeded" },
	{ "quota_one_of_two",
		"node n cpu=20; quota default c pods=8; queue a; group x a 5 cpu=1; group y a 5 cpu=1",
		"x=5 | y~pods short 2: 5 wanted, quota c has 8, used 5" },
	{ "raised_minimum_waits", "node n cpu=20; quota default c pods=5; queue a; group x a 6 cpu=1 run=4",
		"x=4" },
	{ "raised_minimum", "node n cpu=20; quota default c pods=6; queue a; group x a 6 cpu=1 run=4",
		"x=6" },
};

static void rows_hold(void **state)
{
	const char *only = getenv("ROW");

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		if (!only || strcmp(only, rows[i].name) == 0)
			run(&rows[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(rows_hold) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
