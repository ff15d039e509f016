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
 *   "reservation:a=j since 5 until 605 pods 2" (or none, ended)   "start:a=90" when its room is free by known ends   "share:a=156"   "entitled:a=6" (cpu)   "m:j~" its message   "at:j=9" its estimated start   "level:j=10"   "places:j=2"   "hold:j=t" its hold ends for t ("kept")   "again=10060"
 * .then: more statements, after the plan was carried out and what stops is gone; "" : the same again, and nothing may change.
 */
struct row {
	const char *name, *world, *expected, *then, *expected_then;
};

static int32_t count_places(const struct kar_placement *p)
{
	int32_t n = 0;

	for (uint32_t i = 0; p && i < p->n_places; i++)
		n += p->places[i].n;
	return n;
}

static const char *of_group(struct world *w, uint32_t i, const char *what)
{
	const struct kar_queue_decision *d = &w->r.groups[i];

	if (strncmp(what, "m:", 2) == 0)
		return kar_arena_printf(&w->a, ": %s", d->message);
	if (strncmp(what, "hold:", 5) == 0)
		return d->hold_ends_for == KAR_QUEUE_NONE ? "kept" : w->groups[d->hold_ends_for].name;
	if (strncmp(what, "at:", 3) == 0)
		return kar_arena_printf(&w->a, "%" PRId64, d->estimated_start / KAR_SECOND);
	if (strncmp(what, "level:", 6) == 0)
		return kar_arena_printf(&w->a, "%" PRId64, d->level);
	if (strncmp(what, "places:", 7) == 0)
		return kar_arena_printf(&w->a, "%d", (int)count_places(d->places));
	return world_answer(w, i);
}

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
	if (strncmp(what, "reservation:", 12) == 0) {
		const struct kar_queue_status_out *q = &w->r.queues[world_find_queue(w, what + 12)];

		if (q->keeps_reservation)
			return "ended";
		return q->reserved_for == KAR_QUEUE_NONE
			? "none"
			: kar_arena_printf(&w->a, "%s since %" PRId64 " until %" PRId64 " pods %d",
				  w->groups[q->reserved_for].name, q->reserved_since / KAR_SECOND,
				  q->reserved_until / KAR_SECOND, (int)q->reserved_pods);
	}
	if (strncmp(what, "start:", 6) == 0)
		return kar_arena_printf(&w->a, "%" PRId64,
			w->r.queues[world_find_queue(w, what + 6)].reserved_start / KAR_SECOND);
	if (strcmp(what, "again") == 0)
		return kar_arena_printf(&w->a, "%" PRId64, w->r.again_at / KAR_SECOND);
	i = world_find(w, strchr(what, ':') ? strchr(what, ':') + 1 : what);
	if (i == KAR_QUEUE_NONE)
		fail_msg("no group %s", what);
	return of_group(w, i, what);
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
		"q:a=4 | x4=Preempted | x10=1 | y1=claim | y6=claim | y7~insufficient cpu: 1 requested, 0 of 10 free (1 short)",
		"", "q:b=6 | q:a=4 | y7=InsufficientCapacity" },
	{ "within_by_gpu",
		"node n cpu=16 gpu=4; queue a n=gpu:4; queue b; group g b 4 cpu=4 run=4; 2*group x a 1 cpu=4 gpu=2",
		"g=Preempted | x1=claim | x2=claim", "", "x1=1 | x2=1" },
	{ "in_queue",
		"node n cpu=5; queue a preempt; group v a 2 cpu=1 p=10 run=2; group w a 1 cpu=1 p=10 run=1; group x a 2 cpu=1 p=100 run=2; group t a 3 cpu=1 p=1000",
		"v=Preempted | w=Preempted | x=2 | t=claim", "", "t=3" },
	/* --- room for members to come goes first */
	{ "held_room_is_reclaimed_before_pods",
		"node n cpu=10; queue a n=cpu:5; queue b n=cpu:5; group u b 2 cpu=1 run=2; group v b 2 cpu=1 run=2 hold=cpu:4; group x a 4 cpu=1",
		"hold:v=x | u=2 | v=2 | x=4", "", "u=2 | v=2 | x=4 | hold:v=kept" },
	{ "held_room_within_the_right_of_its_queue_stays",
		"node n cpu=10; queue a n=cpu:2; queue b n=cpu:8; group v b 2 cpu=1 run=2 hold=cpu:6; group x a 4 cpu=1",
		"hold:v=kept | v=2 | x=InsufficientCapacity" },
	{ "so_does_that_of_a_queue_which_is_not_reclaimed",
		"node n cpu=10; queue a n=cpu:5; queue b n=cpu:5 keep; group v b 2 cpu=1 run=2 hold=cpu:6; group x a 4 cpu=1",
		"hold:v=kept | v=2 | x=InsufficientCapacity" },
	{ "held_room_makes_room_for_a_higher_priority_before_pods",
		"node n cpu=10; queue a preempt; group u a 4 cpu=1 p=1 run=4; group v a 2 cpu=1 p=10 run=2 hold=cpu:4; group t a 4 cpu=1 p=100",
		"hold:v=t | u=4 | v=2 | t=4" },
	{ "room_for_what_was_lost_goes_with_the_group",
		"node n cpu=10; queue a preempt; group v a 2 cpu=1 p=10 run=2 lost=cpu:8; group t a 4 cpu=1 p=100",
		"v=Preempted | t=4" },
	{ "for_none_of_its_own_priority",
		"node n cpu=10; queue a preempt; group v a 2 cpu=1 p=10 run=2 hold=cpu:8; group t a 4 cpu=1 p=10",
		"hold:v=kept | v=2 | t=InsufficientCapacity" },
	{ "held_room_stays_if_the_taker_fits_without_it",
		"node n cpu=10; queue a preempt; group v a 2 cpu=1 p=10 run=2 hold=cpu:4; group t a 4 cpu=1 p=100",
		"hold:v=kept | v=2 | t=4" },
	{ "pods_go_if_held_room_is_not_enough",
		"node n cpu=10; queue a preempt; group u a 4 cpu=1 p=1 run=4; group v a 2 cpu=1 p=10 run=2 hold=cpu:4; group t a 6 cpu=1 p=100",
		"hold:v=t | u=Preempted | v=2 | t=claim", "", "v=2 | t=6" },
	{ "claim_holds",
		"node n cpu=6; queue a; group t a 6 cpu=1 claim; group v a 3 cpu=1 stops=3; group w a 1 cpu=1",
		"t=claim | w=InsufficientCapacity | v=InsufficientCapacity" },
	{ "window",
		"node n cpu=10; flags window=60; queue a n=cpu:4; queue b n=cpu:6; group x a 4..9 cpu=1 run=9 scaled=10000; group y b 3 cpu=1",
		"x=9 | y=WaitingForReclaim", "now 10060", "x=7 | y=claim" },
	{ "window_of_its_own",
		"node n cpu=10; flags window=60; queue a n=cpu:4; queue b n=cpu:6; group x a 4..9 cpu=1 run=9 scaled=10000 window=20; group y b 3 cpu=1",
		"x=9 | y=WaitingForReclaim", "now 10020", "x=7 | y=claim" },
	{ "window_of_none",
		"node n cpu=10; flags window=60; queue a n=cpu:4; queue b n=cpu:6; group x a 4..9 cpu=1 run=9 scaled=10000 window=-1; group y b 3 cpu=1",
		"x=7 | y=claim" },
	{ "an_edit_of_replicas_is_no_scaling",
		"node n cpu=10; flags window=60; queue a; group x a 2..5 cpu=1 run=3 scaled=10000; group y a 2..5 cpu=1 run=3 scaled=10000 resized",
		"x=3 | y=5" },
	{ "who_lost_an_extra_to_others_pauses_before_the_next",
		"node n cpu=10; queue a; group x a 2..5 cpu=1 run=3 scaled=9998 grows=10008; group y a 2..5 cpu=1 run=3 scaled=9998",
		"x=3 | y=5", "now 10008", "x=5 | y=5" },
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
		"x~insufficient cpu: 8 requested, 7 of 10 free (1 short), held for guarantees of other queues: 3 cpu are free but guaranteed to queue a | y=7" },
	{ "capability_shrinks",
		"node n cpu=10; queue a cap=cpu:2; group x a 1..3 cpu=1 run=3; group y a 2 cpu=1 run=2; group z a 1 cpu=1",
		"x=1 | y=2 | z=QueueCapability" },
	{ "load_bounds_extras", "node n cpu=30; flags load=900; queue a; group x a 5..40 cpu=1 run=5",
		"x=27" },
	{ "load_does_not_bound_minima", "node n cpu=30; flags load=900; queue a; group x a 30 cpu=1",
		"x=30" },
	{ "extras_go_before_groups_when_the_queue_has_come_back_within_its_right",
		"node n0 cpu=5; queue a n=cpu:4 preempt; queue c; group j3 a 2..2 cpu=1 t=9903 bare=2; group j6 a 4..4 cpu=1 p=1000 t=9906; "
		"group j7 c 1..2 cpu=1 t=9907 bare=2",
		"j3=Preempted | j6=4 | j7=1" },
	{ "foreign_pod", "node n cpu=10; queue a; group x a 2..9 cpu=1 run=5; foreign cpu=4 on=n", "x=6" },
	{ "foreign_pod_that_is_not_bound_takes_no_room",
		"node n cpu=10; queue a; group x a 2..9 cpu=1 run=9; foreign cpu=4", "x=9" },
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
	{ "none_moves_to_who_has_one_without_a_pod_yet",
		"node n cpu=4; queue a w=3; queue b; group x a 1..4 cpu=1 run=3 on=n:1; group y b 1..2 cpu=1 run=2",
		"x=2 | y=2" },
	{ "one_moves_to_who_has_pods_for_all",
		"node n cpu=4; queue a w=3; queue b; group x a 1..4 cpu=1 run=2; group y b 1..2 cpu=1 run=2",
		"x=2 | y=1", "", "x=3 | y=1" },
	{ "quota_gang_takes_extras",
		"node n cpu=20; quota default c pods=8; queue a; group x a 3..7 cpu=1 p=1000 run=7; group y a 4 cpu=1 p=10",
		"x=4 | y=claim", "", "x=4 | y=4" },
	{ "quota_too_small",
		"node n cpu=20; quota default c pods=6; queue a; group x a 3..7 cpu=1 p=1000 run=5; group y a 4 cpu=1 p=10",
		"x=6 | y=QuotaExceeded" },
	{ "quota_one_of_two",
		"node n cpu=20; quota default c pods=8; queue a; group x a 5 cpu=1; group y a 5 cpu=1",
		"x=5 | y~insufficient pods: 5 requested, 3 of 8 free (2 short), quota c has 8, used 5" },
	{ "raised_minimum_waits", "node n cpu=20; quota default c pods=5; queue a; group x a 6 cpu=1 run=4",
		"x=4" },
	{ "raised_minimum", "node n cpu=20; quota default c pods=6; queue a; group x a 6 cpu=1 run=4",
		"x=6" },
	/* --- budgets for disruptions */
	{ "budget_spares_the_lowest",
		"node n cpu=6; budget b=2; queue a preempt; group v a 3 cpu=1 p=1 run=3 budget=b:3; group w a 3 cpu=1 p=10 run=3; group t a 3 cpu=1 p=100",
		"v=3 | w=Preempted | t=claim", "", "v=3 | t=3" },
	{ "budget_is_enough",
		"node n cpu=6; budget b=3; queue a preempt; group v a 3 cpu=1 p=1 run=3 budget=b:3; group w a 3 cpu=1 p=10 run=3; group t a 3 cpu=1 p=100",
		"v=Preempted | w=3 | t=claim" },
	{ "budget_is_for_all_victims_together",
		"node n cpu=6; budget b=3; queue a preempt; group v a 2 cpu=1 p=1 run=2 budget=b:2; group w a 2 cpu=1 p=2 run=2 budget=b:2; group x a 2 cpu=1 p=3 run=2; group t a 4 cpu=1 p=100",
		"v=Preempted | w=2 | x=Preempted | t=claim" },
	{ "budget_is_for_all_decisions_together",
		"node n cpu=4; budget b=2; queue a preempt; group v a 2 cpu=1 p=1 run=2 budget=b:2; group w a 2 cpu=1 p=2 run=2 budget=b:2; 2*group t a 2 cpu=1 p=100",
		"v=Preempted | w=2 | t1=claim | t2=InsufficientCapacity" },
	{ "nobody_goes_in_vain_for_a_budget",
		"node n cpu=6; budget b=0; queue a preempt; group v a 3 cpu=1 p=1 run=3; group w a 3 cpu=1 p=2 run=3 budget=b:1; group t a 6 cpu=1 p=100",
		"v=3 | w=3 | t=InsufficientCapacity" },
	{ "budget_holds_against_rights",
		"node n cpu=10; budget b=4; queue a n=cpu:4; queue b n=cpu:6; 10*group x a 1 cpu=1 run=1 budget=b:1; 6*group y b 1 cpu=1",
		"q:a=6 | y4=claim | y5=InsufficientCapacity" },
	{ "two_budgets",
		"node n cpu=2; budget b=2; budget c=1; queue a preempt; group v a 2 cpu=1 p=1 run=2 budget=b:2 budget=c:2; group t a 2 cpu=1 p=100",
		"v=2 | t=InsufficientCapacity" },
	{ "drain_asks_no_budget",
		"node n cpu=4; budget b=0; queue a drain; group v a 2 cpu=1 run=2 budget=b:2",
		"v=Preempted" },
	{ "what_is_drained_is_gone_from_the_budget",
		"node n cpu=4; budget b=3; queue d drain; queue a preempt; group u d 2 cpu=1 run=2 budget=b:2; group v a 2 cpu=1 p=1 run=2 budget=b:2; group t a 4 cpu=1 p=100",
		"u=Preempted | v=2" },
	/* --- why it waits */
	{ "no_queue", "node n cpu=9; queue a; group x b 1 cpu=1", "x=QueueNotFound | x~there is no queue b" },
	{ "not_a_leaf", "node n cpu=9; queue a; queue b under=a; group x a 1 cpu=1",
		"x~queue a has child queues" },
	{ "no_parent", "node n cpu=9; queue a under=c; group x a 1 cpu=1",
		"x~queue a is invalid: parent c does not exist" },
	{ "cycle", "node n cpu=9; queue a under=b; queue b under=a; group x a 1 cpu=1",
		"x~queue a is invalid: parent b is in a cycle" },
	{ "too_deep",
		"node n cpu=9; queue a; queue b under=a; queue c under=b; queue d under=c; queue e under=d; group x d 1 cpu=1; group y e 1 cpu=1",
		"x=1 | y~queue e is invalid: parent d is too deep" },
	{ "closed_parent",
		"node n cpu=9; queue a closed; queue b under=a; group x b 1 cpu=1; group y b 1 cpu=1 run=1",
		"x~queue b is closed: its parent a is | y=1" },
	{ "drained", "node n cpu=9; queue a drain; queue b under=a; group y b 1 cpu=1 run=1 formed=9999",
		"y=Preempted | y~queue b is drained" },
	{ "the_caller_knows",
		"node n cpu=9; queue a closed; group x a 1 cpu=1 ineligible=Suspended; group y a 1 cpu=1 ineligible=BackOff",
		"x~the caller says so | y=QueueClosed" },
	{ "strict",
		"node n cpu=9; queue a strict; group r a 5 cpu=1 run=5; group x a 5 cpu=1; group y a 1 cpu=1; group z a 10 cpu=1",
		"x=InsufficientCapacity | y~queue a is StrictFIFO: default/x goes first | z=Infeasible | m:y~queue a is StrictFIFO: default/x goes first; 2nd of 2 in queue a" },
	{ "strict_passes_infeasible", "node n cpu=9; queue a strict; group x a 10 cpu=1; group y a 1 cpu=1",
		"x=Infeasible | y=1" },
	{ "best_effort",
		"node n cpu=9; queue a; group r a 5 cpu=1 run=5; group x a 5 cpu=1; group y a 1 cpu=1",
		"x=InsufficientCapacity | y=1" },
	{ "max_jobs",
		"node n cpu=9; queue t jobs=2; queue a under=t; queue b under=t; group r a 1 cpu=1 run=1; group x b 1 cpu=1; group y a 1 cpu=1",
		"x=1 | y~queue t has 2 of 2 jobs" },
	{ "capability_of_parent",
		"node n cpu=9; queue t cap=cpu:3; queue a under=t; group r a 2 cpu=1 run=2; group x a 2 cpu=1",
		"x~insufficient cpu: 2 requested, 1 of 3 free (1 short), queue t has capability 3" },
	{ "infeasible_by_capability", "node n cpu=9; queue a cap=cpu:2; group x a 3 cpu=1",
		"x~insufficient cpu: 3 requested, 2 of 2 free (1 short), queue a has capability 2" },
	{ "infeasible_by_quota", "node n cpu=9; quota default c pods=2; queue a; group x a 3 cpu=1",
		"x=QuotaInfeasible | x~insufficient pods: 3 requested, 2 of 2 free (1 short), quota c allows 2" },
	{ "infeasible_by_nodes", "node n cpu=3; node m cpu=3; queue a; group x a 1 cpu=4",
		"x=Infeasible | x~a pod asks for 4 cpu, the largest node has 3" },
	{ "no_fit_though_sums_suffice",
		"node n cpu=3; node m cpu=3; queue a; group r a 1 cpu=2 run=1 on=n:1; group s a 1 cpu=2 run=1 on=m:1; group x a 1 cpu=2",
		"x=NoFit | x~0 of 1 pods fit now: " },
	{ "guarantee_held",
		"node n cpu=10; queue a g=cpu:3 n=cpu:3; queue b; group r b 5 cpu=1 run=5; group x b 3 cpu=1; group y a 3 cpu=1",
		"y=3 | x=InsufficientCapacity" },
	{ "guarantee_is_kept_free",
		"node n cpu=10; queue a g=cpu:3 n=cpu:3; queue b; group r b 5 cpu=1 run=5; group x b 3 cpu=1",
		"x=GuaranteeReserved | x~insufficient cpu: 3 requested, 2 of 10 free (1 short), held for guarantees of other queues" },
	{ "quota_line",
		"node n cpu=20; quota default c pods=8; queue a; queue b; group r a 5 cpu=1 run=5; group x a 4 cpu=1 p=5; group y b 2 cpu=1; group other/z b 2 cpu=1",
		"x=QuotaExceeded | y~default/x goes first for pods of quota c | z=2" },
	{ "quota_gone_before_release",
		"node n cpu=20; quota default c pods=2 foreign=1; queue a; group x a 2 cpu=1 bare=2",
		"x=QuotaExceeded" },
	{ "first_of_an_age",
		"node n cpu=1; flags age=600; queue a; group x a 1 cpu=1 p=150 t=8500; group y a 1 cpu=1 p=1000 t=9000; group z a 1 cpu=1 p=0 t=8200",
		"z=1 | level:z=1000 | level:x=1000 | level:y=1000" },
	{ "levels",
		"node n cpu=1; flags age=600; queue a; group x a 1 cpu=1 p=0 t=9400; group y a 1 cpu=1 p=150 t=9400; group z a 1 cpu=1 p=2000 t=9400; group u a 1 cpu=1 p=0 t=8800",
		"level:x=10 | level:y=1000 | level:z=2000 | level:u=100" },
	{ "estimate_by_deadline",
		"node n cpu=4; queue a; group r a 4 cpu=1 run=4 ends=10600; group x a 3 cpu=1; group y a 3 cpu=1",
		"at:x=10600 | at:y=0 | m:x~insufficient cpu: 3 requested, 0 of 4 free (3 short); 1st of 2 in queue a; may start about 1970-01-01T02:56:40Z (deadlines)" },
	/* --- preemption */
	{ "protected",
		"node n cpu=5; flags runtime=60; queue a preempt; group v a 5 cpu=1 p=1 run=5 formed=9990; group t a 5 cpu=1 p=5",
		"v=5 | t=WaitingForReclaim | t~insufficient cpu: 5 requested, 0 of 5 free (5 short), can be taken from others at 1970-01-01T02:47:30Z",
		"now 10050", "v=Preempted | t=claim" },
	{ "nobody_goes_in_vain",
		"node n cpu=5; queue a preempt; group v a 2 cpu=1 p=1 run=2; group w a 3 cpu=1 p=9 run=3; group t a 4 cpu=1 p=5",
		"v=2 | w=3 | t=InsufficientCapacity" },
	{ "for_a_job_place",
		"node n cpu=5; queue a preempt jobs=1; group v a 2 cpu=1 p=1 run=2; group t a 1 cpu=1 p=5",
		"v=Preempted | t=1" },
	{ "not_reclaimable",
		"node n cpu=4; queue a n=cpu:4; queue b keep; group v b 4 cpu=1 run=4; group t a 4 cpu=1",
		"v=4 | t=InsufficientCapacity" },
	{ "not_evictable",
		"node n cpu=4; queue a n=cpu:4; queue b; group v b 4 cpu=1 run=4 keep; group t a 4 cpu=1",
		"v=4 | t=InsufficientCapacity" },
	{ "minima_within_the_right_stay",
		"node n cpu=4; queue a n=cpu:2; queue b n=cpu:4; group v b 4 cpu=1 run=4; group t a 2 cpu=1",
		"v=4 | t=InsufficientCapacity" },
	{ "priority_and_texts",
		"node n cpu=1; queue a preempt; group v a 1 cpu=1 p=1 run=1; group t a 1 cpu=1 p=5",
		"v~evicted for default/t: priority 5 over 1 | m:t~capacity is held; 1 pod of default/v is still stopping" },
	{ "extras_go_before_groups",
		"node n cpu=6; queue a preempt; group v a 1..3 cpu=1 p=1 run=3; group w a 3 cpu=1 p=1 run=3; group t a 2 cpu=1 p=5",
		"v=1 | w=3 | t=claim" },
	{ "given_back",
		"node n cpu=4; node m cpu=2; queue a preempt; group v a 2 cpu=1 p=1 run=2 on=m:2; group w a 1 cpu=4 p=2 run=1 on=n:1; group t a 1 cpu=4 p=5",
		"v=2 | w=Preempted | t=claim" },
	/* --- statuses that somebody has forged */
	{ "waits_since_before_time",
		"node n cpu=1; queue a; flags age=600 starve=300; group j a 1 cpu=1 waited=9223372036854775807; "
		"group k a 1 cpu=1 waited=-9223372036854775807",
		"j=1 | level:j=1000 | k=InsufficientCapacity" },
	/* --- units */
	{ "unit_starts_whole", "node n cpu=4; queue a; group x a 2 cpu=1; group y a 2 cpu=1 unit=x",
		"x=2 | y=2" },
	{ "unit_is_one_sided", "node n cpu=4; queue a; group x a 2 cpu=1; group y a 3 cpu=1 unit=x",
		"x=2 | y=InsufficientCapacity" },
	{ "unit_misses_one", "node n cpu=4; queue a; group y a 3 cpu=1 unit=default/z",
		"y~it starts with default/z, which does not exist" },
	{ "of_another_namespace_nothing_is_said", "node n cpu=4; queue a; group y a 3 cpu=1 unit=ns/z",
		"y~it starts with ns/z, which is not ready" },
	{ "unit_names_reason",
		"node n cpu=4; queue a; queue b closed; group x b 2 cpu=1; group y a 2 cpu=1 unit=x",
		"y~it starts with default/x, which waits (QueueClosed)" },
	/* --- nodes on demand */
	{ "one_waits_for_nodes",
		"node n cpu=2; queue a provisions; queue b; group x a 3 cpu=1; group y a 3 cpu=1; group z b 2 cpu=1",
		"x=3 | y~waiting for default/x, for which nodes are being added | z=2" },
	{ "no_nodes_for_a_full_queue", "node n cpu=2; queue a provisions cap=cpu:2; group x a 3 cpu=1",
		"x=Infeasible" },
	/* --- what runs */
	{ "replaced_before_new_ones",
		"node n cpu=4; queue a; group x a 3 cpu=1 replaces bare=3; group y a 2 cpu=1",
		"x=3 | y=InsufficientCapacity | places:x=3" },
	{ "no_room_for_a_replacement", "node n cpu=2; queue a; group x a 3 cpu=1 replaces bare=3",
		"x=3 | places:x=0" },
	{ "extras_do_not_wait_for_a_start",
		"node n cpu=9; queue a; group x a 1..5 cpu=1 run=1; group y a 1 cpu=1 bare=1 admitted=9990",
		"x=5 | y=1" },
	{ "extras_wait_for_a_start_under_a_quota",
		"node n cpu=9; queue a; quota default c pods=9; group x a 1..5 cpu=1 run=1; group y a 1 cpu=1 bare=1 admitted=9990",
		"x=1 | y=1", "", "x=5" },
	{ "extras_wait_for_room",
		"node n cpu=4; queue a; group x a 1..4 cpu=1 run=1; group y a 2 cpu=1 stops=2 ineligible=BackOff",
		"x=1", "", "x=4" },
	{ "extras_do_not_come_where_a_claim_waits", /* kube-scheduler would put it on n, and the claim would take it back */
		"node n cpu=3; node m cpu=2; queue a; group t a 1 cpu=3 claim; group v a 2 cpu=1 stops=2 ineligible=BackOff; group x a 1..3 cpu=1 run=1 on=m:1",
		"t=claim | x=1", "", "t=1 | x=1" },
	{ "extras_come_where_there_is_room_beside_a_claim", /* for one; two on n would be in the way of the claim */
		"node n cpu=4; node m cpu=2; queue a; group t a 1 cpu=3 claim; group v a 2 cpu=1 stops=2 ineligible=BackOff; group x a 1..2 cpu=1 run=1 on=m:1",
		"t=claim | x=2", "", "t=1 | x=2" },
	{ "extras_do_not_come_where_a_gang_starts",
		"node n cpu=3; node m cpu=2; queue a; group t a 1 cpu=3 bare=1; group x a 1..3 cpu=1 run=1 on=m:1",
		"t=1 | x=1", "", "t=1 | x=2" },
	{ "extras_come_if_it_does_not_start_in_time",
		"node n cpu=3; node m cpu=2; queue a; group t a 1 cpu=3 bare=1 admitted=9970; group x a 1..3 cpu=1 run=1 on=m:1",
		"t=1 | x=2" },
	{ "extras_come_if_they_do_not_fit_where_a_claim_waits",
		"node n cpu=3; node m cpu=3; queue a; group t a 1 cpu=3 claim; group v a 3 cpu=1 stops=3 ineligible=BackOff; group x a 1..3 cpu=1 run=1 on=m:1",
		"t=claim | x=3" },
	{ "what_is_moved_waits_alone",
		"node n cpu=10; queue a; queue b; group x a 1..9 cpu=1 run=7; group z b 1..9 cpu=1 run=1",
		"x=5 | z=3", "", "x=5 | z=5" },
	{ "moved_only_as_far_as_nobody_takes_it",
		"node n cpu=18; queue a; queue b; queue f; group x a 1..9 cpu=1 run=9; group z b 1..9 cpu=1 run=1; group j f 8 cpu=1 run=8; group m f 3 cpu=1",
		"x=7 | z=1 | m=InsufficientCapacity", "", "x=5 | z=3 | m=InsufficientCapacity" },
	{ "nobody_is_evicted_beside_whom_it_fits",
		"node n cpu=12; queue a n=cpu:4 preempt; queue b w=5; queue x n=cpu:6; group h x 6 cpu=1 run=6; group v a 2 cpu=1 run=2; group i b 4 cpu=1;"
		" group k a 3 cpu=1 p=10000",
		"h=6 | v=2 | i=InsufficientCapacity | k=3" },
	{ "yields_to_others",
		"node n cpu=4; queue a jobs=1; group x a 1 cpu=1 bare=1 yields; group y a 1 cpu=1",
		"x=MaxJobsReached | y=1" },
	{ "yields_to_nobody",
		"node n cpu=4; queue a jobs=2; group x a 1 cpu=1 bare=1 yields; group y a 1 cpu=1",
		"x=1 | y=1" },
	{ "empty_yields_at_once_to_who_has_members",
		"node n cpu=4; queue a jobs=1; group x a 1 cpu=1 bare=1 empty p=9; group y a 1 cpu=1",
		"x=MaxJobsReached | y=1" },
	{ "but_to_no_other_empty_one",
		"node n cpu=4; queue a jobs=1; group y a 1 cpu=1 empty p=9; group x a 1 cpu=1 bare=1 empty",
		"x=1 | y=MaxJobsReached" },
	{ "until_it_has_had_its_time",
		"node n cpu=4; queue a jobs=1; group y a 1 cpu=1 empty; group x a 1 cpu=1 bare=1 yields p=9",
		"x=MaxJobsReached | y=1" },
	/* --- who was evicted before; a group that runs has run for 1000 s */
	{ "twice_evicted_is_protected_four_times_as_long",
		"node n cpu=4; flags runtime=300; queue a preempt; group v a 4 cpu=1 run=4 evictions=2; group t a 1 cpu=1 p=9",
		"v=4 | t~insufficient cpu: 1 requested, 0 of 4 free (1 short), can be taken from others at" },
	{ "once_is_twice_as_long",
		"node n cpu=4; flags runtime=300; queue a preempt; group v a 4 cpu=1 run=4 evictions=1; group t a 1 cpu=1 p=9",
		"v=Preempted | t=claim" },
	{ "an_hour_at_most",
		"node n cpu=4; flags runtime=300; queue a preempt; group v a 4 cpu=1 run=4 evictions=30 formed=6400; group t a 1 cpu=1 p=9",
		"v=Preempted | t=claim" },
	{ "a_right_is_not_delayed",
		"node n cpu=4; flags runtime=300; queue a n=cpu:4; queue b; group v b 4 cpu=1 run=4 evictions=9; group t a 1 cpu=1",
		"v=Preempted | t=claim" },
	{ "and_takes_who_was_evicted_least",
		"node n cpu=4; queue a n=cpu:2; queue b; group v b 2 cpu=1 run=2 evictions=1; group w b 2 cpu=1 run=2 evictions=2; group t a 1 cpu=1",
		"v=Preempted | w=2" },
	{ "of_the_lowest_priority",
		"node n cpu=4; queue a n=cpu:2; queue b; group v b 2 cpu=1 p=1 run=2 evictions=1; group w b 2 cpu=1 run=2 evictions=2; group t a 1 cpu=1",
		"v=2 | w=Preempted" },
	/* --- what is borrowed comes back */
	{ "borrower_that_could_not_be_evicted_gets_what_its_queue_is_entitled_to",
		"node n cpu=24; queue a n=cpu:4; queue b n=cpu:16; group x a 6 cpu=1 bound-for-good; group y a 3 cpu=1 bound-for-good; group z a 18 cpu=1 bound-for-good",
		"x=6 | y~insufficient cpu: 3 requested, 0 of 6 free (3 short), queue a is entitled to 6 and lends it nothing: nobody would make p again | z=QueueCapability | "
		"z~insufficient cpu: 18 requested, 6 of 6 free (12 short), queue a is entitled to 6 and lends it nothing: nobody would make p again" },
	{ "one_that_can_be_gets_all", "node n cpu=24; queue a n=cpu:4; queue b n=cpu:16; group x a 20 cpu=1",
		"x=20" },
	{ "without_rights_of_others_nothing_is_borrowed",
		"node n cpu=24; queue a; queue b w=5; group x a 20 cpu=1 bound-for-good", "x=20" },
	{ "what_runs_goes_on_and_grows_no_more",
		"node n cpu=24; queue a n=cpu:4; queue b n=cpu:16; group x a 2..20 cpu=1 run=10 bound-for-good; group y a 2..12 cpu=1 run=2",
		"x=10 | y=12" },
	{ "pool_of_a_queue",
		"node n cpu=9; flags starve=300; queue a cap=cpu:4; queue b; group r a 3 cpu=1 run=3; group head a 3 cpu=1 t=10; group x a 1 cpu=1; group y b 1 cpu=1",
		"x~insufficient cpu: 1 requested, 0 of 4 free (1 short), 1 held for default/head, which waits since 1970-01-01T00:00:10Z | y=1" },
	{ "head_goes_first",
		"node n cpu=4; flags starve=300; queue a; group r a 2 cpu=1 run=2; group head a 4 cpu=1 t=10; group x a 2 cpu=1; group y a 2 cpu=1 p=5",
		"y=2 | x=InsufficientCapacity" },
	{ "head_keeps_its_node_when_others_fill_the_next", /* x came after the reservation: that node is nothing that head waits for */
		"node n cpu=4; node o cpu=4; flags starve=300; queue a; group r a 1 cpu=1 run=1; group x a 1 cpu=3 run=1 on=o:1 admitted=10000; group head a 1 cpu=4 t=10; group y a 1 cpu=3",
		"head=NoFit | y=HeadReserved" },
	{ "claim_is_met_beside_head", /* and not on the fullest node, which head waits for */
		"node n cpu=4; node o cpu=4; node q cpu=4; flags starve=300; queue a; group r a 1 cpu=1 run=1; group s a 1 cpu=1 run=1 on=o:1; group head a 2 cpu=4 t=10; group c a 1 cpu=1 claim; group y a 1 cpu=4",
		"c=1 | head=NoFit | y=NoFit" },
	{ "claim_from_before_head_is_met_all_the_same",
		"node n cpu=4; flags starve=300; queue a; group r a 1 cpu=1 run=1; group head a 1 cpu=4 t=10; group c a 1 cpu=1 claim",
		"c=1 | head=InsufficientCapacity" },
	{ "only_one_domain_is_held_for_a_head_that_must_be_in_one", /* y has what is free of the other rack, and z none of that of head */
		"node m1 cpu=4 @rack=m; node n1 cpu=4 @rack=n; node n2 cpu=4 @rack=n; flags starve=300; queue a; "
		"group r a 1 cpu=1 run=1 on=n1:1; group head a 2 cpu=4 required=rack t=10; group y a 1 cpu=4; group z a 1 cpu=4",
		"head=InsufficientCapacity | y=1 | z=HeadReserved" },
	/* At 10000: r ends at 17200, and head, which needs both nodes, has its room then. */
	{ "jobs_that_end_before_the_head_can_start_use_its_room",
		"node m cpu=4; node n cpu=4; flags starve=300; queue a; group r a 1 cpu=1 run=1 ends=17200; group head a 2 cpu=4 t=10; group x a 1 cpu=3 t=20 for=10800; group y a 1 cpu=4 t=30 for=3600",
		"start:a=17200 | reservation:a=head since 10000 until 17800 pods 0 | y=1 | x=HeadReserved | x~insufficient cpu: 3 requested, 0 of 8 free (3 short), 3 held for default/head, which waits since 1970-01-01T00:00:10Z; jobs that end by 1970-01-01T04:46:40Z may use it",
		"" },
	{ "to_the_second",
		"node m cpu=4; node n cpu=4; flags starve=300; queue a; group r a 1 cpu=1 run=1 ends=17200; group head a 2 cpu=4 t=10; group x a 1 cpu=1 t=20 for=7201; group y a 1 cpu=1 t=30 for=7200",
		"y=1 | x=HeadReserved" },
	{ "who_says_no_end_stays_out",
		"node m cpu=4; node n cpu=4; flags starve=300; queue a; group r a 1 cpu=1 run=1 ends=17200; group head a 2 cpu=4 t=10; group x a 1 cpu=1 t=20",
		"start:a=17200 | x=HeadReserved" },
	{ "nobody_knows_when_the_room_is_free",
		"node m cpu=4; node n cpu=4; flags starve=300; queue a; group r a 1 cpu=1 run=1; group head a 2 cpu=4 t=10; group y a 1 cpu=1 t=30 for=60",
		"start:a=0 | y=HeadReserved" },
	{ "who_ends_last_on_the_nodes_decides",
		"node m cpu=4; node n cpu=4; flags starve=300; queue a; group r a 1 cpu=1 run=1 ends=11000; group s a 1 cpu=1 run=1 on=n:1 ends=12000; group head a 2 cpu=4 t=10; group y a 1 cpu=1 t=30 for=2000",
		"start:a=12000 | y=1" },
	{ "who_ends_elsewhere_does_not", /* the head needs one node, and that is the first that is free */
		"node m cpu=4; node n cpu=2; flags starve=300; queue a; group r a 1 cpu=1 run=1 ends=11000; group s a 1 cpu=1 run=1 on=n:1; group head a 1 cpu=4 t=10; group y a 1 cpu=1 t=30 for=1000",
		"start:a=11000 | y=1" },
	{ "who_has_not_started_ends_after_its_time", /* admitted a moment ago */
		"node m cpu=4; flags starve=300; queue a; group r a 1 cpu=1 run=1 admitted=9990 for=1000; group head a 1 cpu=4 t=10; group y a 1 cpu=1 t=30 for=990",
		"start:a=10990 | y=1" },
	{ "what_was_found_first_holds",
		"node m cpu=4; flags starve=300; queue a; group r a 1 cpu=1 run=1 ends=20000; group head a 1 cpu=4 t=10; group y a 1 cpu=1 t=30 for=2000; group x a 1 cpu=1 t=40 for=1000; reservation a head since=9500 until=12000 pods=0 start=11000",
		"start:a=11000 | y=HeadReserved | x=1" },
	{ "until_it_has_passed",
		"node m cpu=4; flags starve=300; queue a; group r a 1 cpu=1 run=1 ends=20000; group head a 1 cpu=4 t=10; group y a 1 cpu=1 t=30 for=2000; reservation a head since=9000 until=12000 pods=0 start=9900",
		"start:a=20000 | y=1" },
	{ "extras_stay_out_of_it", /* whenever they end */
		"node m cpu=4; node n cpu=4; node o cpu=2; flags starve=300; queue a; group r a 1 cpu=1 run=1 ends=17200; group head a 2 cpu=4 t=10; group y a 1..4 cpu=1 run=1 on=o:1 ends=11000",
		"start:a=17200 | y=2" },
	{ "groups_that_are_alike_but_for_their_ends",
		"node m cpu=4; flags starve=300; queue a; group r a 1 cpu=1 run=1 ends=11000; group head a 1 cpu=4 t=10; group v a 1 cpu=1 t=20; group w a 1 cpu=1 t=30 for=900; group x a 1 cpu=1 t=40 for=9000; group y a 1 cpu=1 t=50 for=900",
		"v=HeadReserved | w=1 | x=HeadReserved | y=1" },
	{ "reservation_begins",
		"node m cpu=4; node n cpu=4; flags starve=300; queue a; group r a 1 cpu=1 run=1; group head a 2 cpu=4 t=10; group x a 1 cpu=4 t=20; group y a 1 cpu=1",
		"reservation:a=head since 10000 until 10600 pods 1 | y=HeadReserved | x=HeadReserved" },
	{ "reservation_without_progress_keeps_its_end",
		"node m cpu=4; node n cpu=4; flags starve=300; queue a; group r a 1 cpu=1 run=1; group head a 2 cpu=4 t=10; group x a 1 cpu=4 t=20; group y a 1 cpu=1; reservation a head since=9500 until=10100 pods=1 gathered=87",
		"reservation:a=head since 9500 until 10100 pods 1 | x=HeadReserved" },
	{ "pods_that_fitted_once_are_no_progress",
		"node m cpu=4; node n cpu=4; flags starve=300; queue a; group r a 1 cpu=1 run=1; group head a 2 cpu=4 t=10; group x a 1 cpu=4 t=20; group y a 1 cpu=1; reservation a head since=9500 until=10100 pods=2 gathered=87",
		"reservation:a=head since 9500 until 10100 pods 2" },
	{ "one_pod_more_fits_than_ever",
		"node m cpu=4; node n cpu=4; flags starve=300; queue a; group r a 1 cpu=1 run=1; group head a 2 cpu=4 t=10; group x a 1 cpu=4 t=20; group y a 1 cpu=1; reservation a head since=9500 until=10100 pods=0 gathered=87",
		"reservation:a=head since 9500 until 10600 pods 1" },
	{ "room_for_a_large_pod_that_comes_free_bit_by_bit_is_progress",
		"node n cpu=16; flags starve=300; queue a; group r a 11 cpu=1 run=11; group head a 1 cpu=16 t=10; group y a 1 cpu=1; reservation a head since=9500 until=10100 pods=0 gathered=25",
		"reservation:a=head since 9500 until 10600 pods 0 | y=HeadReserved" },
	{ "less_than_a_sixteenth_is_none",
		"node n cpu=16; flags starve=300; queue a; group r a 11 cpu=1 run=11; group head a 1 cpu=16 t=10; group y a 1 cpu=1; reservation a head since=9500 until=10100 pods=0 gathered=26",
		"reservation:a=head since 9500 until 10100 pods 0 | y=HeadReserved" },
	{ "room_in_a_queue_is_progress_as_well",
		"node n cpu=64; flags starve=300; queue a cap=cpu:16; group r a 11 cpu=1 run=11; group head a 1 cpu=16 t=10; group y a 1 cpu=1; reservation a head since=9500 until=10100 pods=0 gathered=25",
		"reservation:a=head since 9500 until 10600 pods 0 | y=HeadReserved" },
	{ "where_jobs_run_for_hours_nothing_need_come_free_for_as_long",
		"node n cpu=16; flags starve=300; queue a usual=7200; group r a 16 cpu=1 run=16; group head a 1 cpu=16 t=10",
		"reservation:a=head since 10000 until 17200 pods 0" },
	{ "but_no_longer_than_four_hours",
		"node n cpu=16; flags starve=300; queue a usual=86400; group r a 16 cpu=1 run=16; group head a 1 cpu=16 t=10",
		"reservation:a=head since 10000 until 24400 pods 0" },
	{ "and_the_queue_cools_down_for_no_longer_than_elsewhere",
		"node n cpu=4; flags starve=300; queue a usual=7200; group r a 1 cpu=1 run=1; group head a 1 cpu=4 t=10; group x a 1 cpu=4 t=20; group y a 1 cpu=3; reservation a head since=2000 until=9400 pods=1",
		"reservation:a=x since 10000 until 17200 pods 0 | y=HeadReserved" },
	{ "median_of_the_medians",
		"node n cpu=16; flags starve=300; queue a usual=7200; queue b usual=900; queue c usual=30; group r a 16 cpu=1 run=16; group head a 1 cpu=16 t=10",
		"reservation:a=head since 10000 until 10900 pods 0" },
	{ "room_comes_together_where_jobs_end", /* old has run for twice as long as a reservation may last */
		"node m cpu=4; node n cpu=4; flags starve=300; queue a; group old a 1 cpu=1 run=1 on=m:1 started=8000; group r a 1 cpu=1 run=1 on=n:1 started=9900; group head a 1 cpu=4 t=10; group y a 1 cpu=3",
		"reservation:a=head since 10000 until 10600 pods 0 | y=1" },
	{ "but_not_beside_who_is_as_young",
		"node m cpu=4; node n cpu=4; flags starve=300; queue a; group old a 1 cpu=1 run=1 on=m:1 started=9000; group r a 1 cpu=1 run=1 on=n:1 started=9900; group head a 1 cpu=4 t=10; group y a 1 cpu=3 on=m:1",
		"reservation:a=head since 10000 until 10600 pods 0" },
	{ "who_is_to_be_asked_about_keeps_its_reservation",
		"node n cpu=4; flags starve=300; queue a preempt; group r a 2 cpu=1 run=2; group head a 4 cpu=1 t=10 p=5 asks; group y a 2 cpu=1; reservation a head since=9500 until=10100 pods=2 gathered=50",
		"r=2 | head=CheckingTemplate | reservation:a=head since 9500 until 10100 pods 2 | y=HeadReserved" },
	{ "and_its_turn_to_reclaim",
		"node n cpu=6; queue a n=cpu:4; queue b; group v b 3 cpu=1 run=3; group w b 3 cpu=1 run=3; group x a 3 cpu=1 p=5 asks; group y a 3 cpu=1",
		"v=3 | w=3 | x=CheckingTemplate | y=InsufficientCapacity" },
	{ "extras_are_given_up_after_the_answer",
		"node n cpu=6; queue a n=cpu:4; queue b; group v b 1..6 cpu=1 run=6; group x a 3 cpu=1 asks; group y b 1 cpu=1",
		"v=6 | x=CheckingTemplate | y=InsufficientCapacity" },
	{ "and_room_for_members_to_come",
		"node n cpu=10; queue a preempt; group u a 4 cpu=1 p=1 run=4; group v a 2 cpu=1 p=10 run=2 hold=cpu:4; group t a 4 cpu=1 p=100 asks",
		"u=4 | v=2 | t=CheckingTemplate" },
	{ "what_one_that_has_no_pods_yet_would_leave_is_nobodys",
		"node n cpu=4; queue a preempt; group v a 4 cpu=1 p=1 bare=4; group x a 2 cpu=1 p=5 asks; group y a 2 cpu=1 p=4",
		"v=4 | x=CheckingTemplate | y=InsufficientCapacity" },
	{ "what_is_free_beside_it_is_for_everybody",
		"node n cpu=4; node o cpu=2; queue a n=cpu:2; queue b; group v b 4 cpu=1 run=4 on=n:4; group x a 1 cpu=2 asks; group y b 2 cpu=1; group z a 1 cpu=3 asks",
		"v=4 | x=1" },
	{ "job_slot_of_its_victim_is_nobodys",
		"node n cpu=4; node o cpu=4; queue a n=cpu:6; queue b jobs=1; group v b 4 cpu=1 run=4 on=n:4; group z a 1 cpu=1 run=1 on=o:1; group x a 1 cpu=4 p=9 asks; group y b 1 cpu=1",
		"v=4 | x=CheckingTemplate | y=MaxJobsReached" },
	{ "room_of_a_claim_that_it_would_take_is_no_extras",
		"node n cpu=11; queue a preempt; group e a 1..4 cpu=1 run=1; group s a 3 cpu=1 stops=3; group v a 8 cpu=1 p=1 claim; group x a 4 cpu=1 p=5 asks",
		"x=CheckingTemplate | e=1 | v=claim" },
	{ "reservation_of_a_manager_that_knew_no_end",
		"node m cpu=4; node n cpu=4; flags starve=300; queue a; group r a 1 cpu=1 run=1; group head a 2 cpu=4 t=10; group x a 1 cpu=4 t=20; group y a 1 cpu=1; reservation a head since=9500 pods=0",
		"reservation:a=head since 9500 until 10600 pods 1" },
	{ "reservation_ends_and_nobody_waits_for_it",
		"node m cpu=4; node n cpu=4; flags starve=300; queue a; group r a 1 cpu=1 run=1; group head a 2 cpu=4 t=10; group x a 1 cpu=4 t=20; group y a 1 cpu=1; reservation a head since=9500 until=10000 pods=1",
		"reservation:a=ended | x=1 | head=InsufficientCapacity" },
	{ "queue_of_an_ended_reservation_has_no_other",
		"node n cpu=4; flags starve=300; queue a; group r a 1 cpu=1 run=1; group head a 1 cpu=4 t=10; group x a 1 cpu=4 t=20; group y a 1 cpu=3; reservation a head since=9000 until=9401 pods=1",
		"reservation:a=ended | y=1" },
	{ "after_as_long_the_next_one_has_it",
		"node n cpu=4; flags starve=300; queue a; group r a 1 cpu=1 run=1; group head a 1 cpu=4 t=10; group x a 1 cpu=4 t=20; group y a 1 cpu=3; reservation a head since=9000 until=9400 pods=1",
		"reservation:a=x since 10000 until 10600 pods 0 | y=HeadReserved" },
	{ "and_then_the_first_again",
		"node n cpu=4; flags starve=300; queue a; group r a 1 cpu=1 run=1; group head a 1 cpu=4 t=10; group x a 1 cpu=4 t=20; group y a 1 cpu=3; reservation a x since=9000 until=9400 pods=0",
		"reservation:a=head since 10000 until 10600 pods 0 | y=HeadReserved" },
	{ "who_has_its_turn_keeps_it", /* it is behind one that had its own */
		"node n cpu=4; flags starve=300; queue a; group r a 1 cpu=1 run=1; group head a 1 cpu=4 t=10; group x a 1 cpu=4 t=20; group y a 1 cpu=3; reservation a x since=9900 until=10500 pods=0 gathered=75",
		"reservation:a=x since 9900 until 10500 pods 0 | y=HeadReserved" },
	{ "a_higher_level_takes_the_turn_over",
		"node n cpu=4; flags starve=300; queue a; group r a 1 cpu=1 run=1; group head a 1 cpu=4 t=10 p=10; group x a 1 cpu=4 t=20; group y a 1 cpu=3; reservation a x since=9900 until=10500 pods=0 gathered=75",
		"reservation:a=head since 10000 until 10600 pods 0 | y=HeadReserved" },
	{ "head_of_another_queue_takes_the_pool",
		"node n cpu=8; flags starve=300; queue a; queue b; group r a 1 cpu=5 run=1; group head a 1 cpu=4 t=10; group x b 1 cpu=4 t=20; group y b 1 cpu=1 t=9990; group z b 1 cpu=5; reservation a head since=9000 until=9500 pods=0",
		"reservation:a=ended | reservation:b=x since 10000 until 10600 pods 0 | y=1" },
	{ "who_had_a_turn_comes_after_other_queues",
		"node n cpu=8; flags starve=300; queue a; queue b; group r a 1 cpu=5 run=1; group head a 1 cpu=4 t=10; group x b 1 cpu=4 t=20; reservation a head since=8000 until=9000 pods=0",
		"reservation:a=ended | reservation:b=x since 10000 until 10600 pods 0" },
	{ "ended_reservation_of_who_has_gone",
		"node m cpu=4; node n cpu=4; flags starve=300; queue a; group r a 1 cpu=1 run=1; group head a 2 cpu=4 t=10; group x a 1 cpu=4 t=20; group y a 1 cpu=1; reservation a - until=9401",
		"reservation:a=ended" },
	{ "ended_reservation_of_who_has_gone_is_forgotten",
		"node m cpu=4; node n cpu=4; flags starve=300; queue a; group r a 1 cpu=1 run=1; group head a 2 cpu=4 t=10; group x a 1 cpu=4 t=20; group y a 1 cpu=1; reservation a - until=9400",
		"reservation:a=head since 10000 until 10600 pods 1" },
	{ "head_above_what_its_queue_is_due_stops_its_own_queue",
		"node n cpu=8; flags starve=300; queue a; queue idle; group r a 1 cpu=2 run=1; group head a 1 cpu=7 t=10; group y a 1 cpu=2",
		"reservation:a=head since 10000 until 10600 pods 0 | y=HeadReserved" },
	{ "and_no_other_queue",
		"node n cpu=8; flags starve=300; queue a; queue b; group r a 1 cpu=2 run=1; group head a 1 cpu=7 t=10; group y b 1 cpu=2; group z a 1 cpu=2",
		"y=1 | z=HeadReserved" },
	{ "pods_that_a_capability_has_room_for",
		"node n cpu=9; flags starve=300; queue a cap=cpu:4; group r a 2 cpu=1 run=2; group head a 3 cpu=1 t=10",
		"reservation:a=head since 10000 until 10600 pods 2" },
	/* --- pods of nobody that are about to be bound (docs/design/podgroup.md, 2.3) */
	{ "young_pod_of_equal_priority_has_its_room",
		"node n cpu=8; queue a; expect cpu=1 count=3 p=5; group x a 3 cpu=2 p=5; group y a 1 cpu=1 p=5",
		"x~2 of 3 pods fit now: 1 node lacks cpu (short 2), 3 pods about to be bound take 3 cpu | y=1" },
	{ "pod_of_lower_priority_has_not",
		"node n cpu=8; queue a; expect cpu=1 count=3; group x a 4 cpu=2 p=1000", "x=4" },
	{ "and_keeps_what_is_left",
		"node n cpu=8; queue a; expect cpu=1 count=3; group x a 3 cpu=2 p=1000; group y a 1 cpu=1; group z a 1 cpu=1",
		"x=3 | y=NoFit" },
	{ "pod_that_nobody_has_bound_for_a_minute_has_none",
		"node n cpu=8; queue a; expect cpu=1 count=3 p=5 t=9940; group x a 4 cpu=2", "x=4" },
	{ "and_a_second_before_it_has",
		"node n cpu=8; queue a; expect cpu=1 count=3 p=5 t=9941; group x a 4 cpu=2",
		"x~2 of 4 pods fit now: 1 node lacks cpu (short 2), each of 2 more asks for 2 cpu and a node has at most 1 free, 3 pods about to be bound take 3 cpu | again=10001",
		"now 10001", "x=4" },
	{ "pod_that_fits_nowhere_holds_up_nobody",
		"node n cpu=8; queue a; expect cpu=9 p=5; group x a 4 cpu=2", "x=4" },
	{ "pod_of_one_node_is_there_or_nowhere",
		"node m cpu=2; node n cpu=3; queue a; expect cpu=2 on=m p=5; expect cpu=3 on=m p=5; group x a 1 cpu=3; group y a 1 cpu=2",
		"x=1 | y~0 of 1 pods fit now: 2 nodes lack cpu (short 2), 1 pod about to be bound takes 2 cpu" },
	{ "node_that_the_scheduler_frees_for_a_pod_is_not_free",
		"node n cpu=8; queue a; group v a 1 cpu=6 stops=1 ineligible=Suspended; expect cpu=6 for=n p=5 t=1000; group x a 1 cpu=3",
		"x~0 of 1 pods fit now: 1 node lacks cpu (short 1), 1 pod about to be bound takes 6 cpu" },
	{ "but_is_for_who_goes_before_it",
		"node n cpu=8; queue a; expect cpu=6 for=n p=5 t=1000; group x a 1 cpu=3 p=6", "x=1" },
	{ "pods_that_are_created_bound_do_not_race_with_the_scheduler",
		"node n cpu=8; queue a; expect cpu=3 t=9999; group x a 1 cpu=6 p=9 direct",
		"x~0 of 1 pods fit now: 1 node lacks cpu (short 1), 1 pod about to be bound takes 3 cpu | again=10001",
		"now 10001", "x=1" },
	{ "others_have_their_scheduler_for_that",
		"node n cpu=8; queue a; expect cpu=3 t=9999; group x a 1 cpu=6 p=9", "x=1" },
	{ "extras_leave_room_to_all_of_them",
		"node n cpu=8; queue a; expect cpu=1 count=3; group x a 1..8 cpu=1 p=9 run=1", "x=5",
		"now 10060", "x=8" },
	{ "claim_is_not_taken_back_for_them",
		"node n cpu=6; queue a; group t a 6 cpu=1 claim; group v a 3 cpu=1 stops=3; expect cpu=2 p=5",
		"t=claim" },
	{ "they_are_laid_beside_plans",
		"node m cpu=4; node n cpu=4; queue a; expect cpu=3; group x a 2 cpu=4 p=9 bare=2; group y a 1 cpu=1",
		"x=2" },
	{ "nobody_is_infeasible_for_them", "node n cpu=4; queue a; expect cpu=3 p=5; group x a 1 cpu=4",
		"x=NoFit" },
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
