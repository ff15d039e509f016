/* Rights by kinds of nodes: in which flavor a gang starts, whom it evicts there, what queues use of each, and why others wait. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/unit/queue_world.h"

/* "h100:16" (admitted, in that flavor), "claim@a100", "evicted", or "Reason: text". */
static void describe_groups(struct world *w, struct kar_buf *out)
{
	for (uint32_t i = 0; i < w->s.n_groups; i++) {
		const struct kar_queue_decision *d = &w->r.groups[i];
		const char *flavor = d->flavor ? w->flavors[d->flavor - 1].name : "-";

		kar_buf_printf(out, "%s%s ", i ? "; " : "", w->groups[i].name);
		if (d->cause)
			kar_buf_printf(out, "evicted (%s)", kar_queue_cause_name(d->cause));
		else if (d->standing == KAR_QUEUE_WAITING)
			kar_buf_printf(out, "%s", world_answer(w, i));
		else
			kar_buf_printf(out, "%s@%s", world_answer(w, i), flavor);
	}
}

/* Each place is on a node of the flavor; returns false else. */
static bool is_placed_there(struct world *w, uint32_t i)
{
	const struct kar_queue_decision *d = &w->r.groups[i];

	for (uint32_t k = 0; d->places && d->flavor && k < d->places->n_places; k++) {
		const char *of =
			kar_sched_label_of(w->sched, d->places->places[k].node, KAR_QUEUE_FLAVOR_LABEL);

		if (!of || strcmp(of, w->flavors[d->flavor - 1].name) != 0)
			return false;
	}
	return true;
}

#define NODES \
	"flavor a100; flavor h100; 4*node h gpu=8 cpu=64 @:flavor=h100 @model=h100; 4*node a gpu=8 cpu=64 @:flavor=a100 @model=a100; "
#define BOTH " of=h100 n=gpu:16 of=a100 n=gpu:16"

static const struct {
	const char *name, *world, *groups;
} rows[] = {
	{ "in_the_order_of_the_queue_within_its_right",
		NODES "queue q of=h100 n=gpu:32 of=a100 n=gpu:32; 4*group g q 2..2 gpu=8 t=1",
		"g1 2@h100; g2 2@h100; g3 2@a100; g4 2@a100" },
	{ "then_it_borrows_where_there_is_room",
		NODES
		"queue q of=h100 n=gpu:16 of=a100 n=gpu:8; 3*group g q 2..2 gpu=8 t=1; group x q 1..1 gpu=8 t=2",
		"g1 2@h100; g2 2@h100; g3 2@a100; x 1@a100" },
	{ "the_first_that_it_likes_is_borrowed_first",
		NODES "queue q of=h100 n=gpu:8 of=a100 n=gpu:8; 4*group g q 1..1 gpu=8 t=1",
		"g1 1@h100; g2 1@a100; g3 1@h100; g4 1@h100" },
	{ "room_in_another_flavor_goes_before_an_eviction",
		NODES
		"queue q" BOTH
		"; queue o of=h100 n=gpu:1; group b o 4..4 gpu=8 run=4 flavor=h100 on=h1:1,h2:1,h3:1,h4:1; group g q 2..2 gpu=8 t=1",
		"b 4@h100; g 2@a100" },
	{ "but_not_in_order",
		NODES
		"queue q in-order" BOTH
		"; queue o of=h100 n=gpu:1; group b o 4..4 gpu=8 run=4 flavor=h100 on=h1:1,h2:1,h3:1,h4:1; group g q 2..2 gpu=8 t=1",
		"b evicted (Reclaim); g claim@h100" },
	{ "a_right_takes_back_where_both_are_full",
		NODES
		"queue q" BOTH
		"; queue o of=h100 of=a100 n=gpu:32; group b o 4..4 gpu=8 run=4 flavor=h100 on=h1:1,h2:1,h3:1,h4:1; group c o 4..4 gpu=8 run=4 flavor=a100 on=a1:1,a2:1,a3:1,a4:1; group g q 2..2 gpu=8 t=1",
		"b evicted (Reclaim); c 4@a100; g claim@h100" },
	{ "a_node_selector_leaves_one_flavor", NODES "queue q" BOTH "; group g q 2..2 gpu=8 only=model=a100",
		"g 2@a100" },
	{ "and_the_text_names_no_other",
		NODES
		"queue q" BOTH
		"; group b q 4..4 gpu=8 run=4 flavor=a100 on=a1:1,a2:1,a3:1,a4:1; group g q 2..2 gpu=8 only=model=a100 t=1",
		"b 4@a100; g InsufficientCapacity: a100: insufficient nvidia.com/gpu: 16 requested, 0 of 32 free (16 short), nodes: 4 nodes lack nvidia.com/gpu (short 16), 4 excluded by nodeSelector or affinity" },
	{ "one_obstacle_per_flavor",
		NODES
		"queue q of=h100 of=a100 cap=gpu:8; group b q 3..3 gpu=8 run=3 flavor=h100 on=h1:1,h2:1,h3:1; group g q 2..2 gpu=8 t=1",
		"b 3@h100; g NoFit: h100: 1 of 2 pods fit now: 4 nodes lack nvidia.com/gpu (short 8), 4 excluded by nodeSelector or affinity; a100: insufficient nvidia.com/gpu: 16 requested, 8 of 8 free (8 short), queue q has capability 8" },
	{ "a_capability_of_the_only_flavor", NODES "queue q of=h100 cap=gpu:8; group g q 9..9 gpu=1",
		"g Infeasible: h100: insufficient nvidia.com/gpu: 9 requested, 8 of 8 free (1 short), queue q has capability 8" },
	{ "capability_counts_what_runs_there",
		NODES
		"queue q of=h100 cap=gpu:16 of=a100 cap=gpu:8; group b q 2..2 gpu=8 run=2 flavor=h100 on=h1:1,h2:1; group g q 1..1 gpu=8 t=1; group x q 1..1 gpu=8 t=2",
		"b 2@h100; g 1@a100; x QueueCapability: h100: insufficient nvidia.com/gpu: 8 requested, 0 of 16 free (8 short), queue q has capability 16; a100: insufficient nvidia.com/gpu: 8 requested, 0 of 8 free (8 short), queue q has capability 8" },
	{ "the_plain_capability_bounds_the_sum",
		NODES "queue q cap=gpu:16" BOTH "; 2*group g q 1..1 gpu=8 t=1; group x q 1..1 gpu=8 t=2",
		"g1 1@h100; g2 1@h100; x QueueCapability: h100: insufficient nvidia.com/gpu: 8 requested, 0 of 16 free (8 short), queue q has capability 16; a100: insufficient nvidia.com/gpu: 8 requested, 0 of 16 free (8 short), queue q has capability 16" },
	{ "spot_nodes_are_tolerated",
		"flavor spot ~spot; node s gpu=8 cpu=8 !spot=x @:flavor=spot; queue q of=spot; queue o; group g q 1..1 gpu=8; group x o 1..1 gpu=1 t=1",
		"g 1@spot; x Infeasible: 0 of 1 pods fit on empty nodes: 1 tainted (spot)" },
	{ "no_node_of_any",
		"flavor a100; flavor h100; node n gpu=8; queue q of=h100 of=a100; group g q 1..1 gpu=8",
		"g Infeasible: no node of flavors h100, a100" },
	{ "one_without_nodes_is_passed_over",
		"flavor a100; flavor h100; node n gpu=8 @:flavor=a100; queue q of=h100 of=a100; group g q 1..1 gpu=8",
		"g 1@a100" },
	{ "pods_of_no_queue_make_room_in_a_flavor",
		NODES
		"queue q of=h100 cap=gpu:32; foreign gpu=8 on=h1 p=-10; foreign gpu=8 on=h2 p=-10; foreign gpu=8 on=h3 p=-10; foreign gpu=8 on=h4 p=-10; group g q 1..1 gpu=8 t=1",
		"g claim@h100" },
	{ "new_nodes_are_waited_for_in_a_flavor_of_which_the_queue_may_have_more",
		"flavor a100; flavor h100; 2*node h gpu=8 @:flavor=h100; node a gpu=8 @:flavor=a100; queue q provisions of=h100 cap=gpu:16 of=a100; group b q 1..1 gpu=8 run=1 flavor=h100 on=h1:1; group g q 2..2 gpu=8 t=1",
		"b 1@h100; g 2@a100" },
	{ "without_flavors_all_nodes_are_used", NODES "queue o; queue q of=h100; group g o 8..8 gpu=8",
		"g 8@-" },
	{ "the_queue_above_says_which", NODES "queue t of=a100; queue q under=t; group g q 1..1 gpu=8",
		"g 1@a100" },
	{ "and_what_all_below_may_use",
		NODES
		"queue t of=h100 cap=gpu:8; queue q under=t of=h100; queue r under=t of=h100; group g q 1..1 gpu=8 run=1 on=h1:1 flavor=h100; group x r 1..1 gpu=8",
		"g 1@h100; x QueueCapability: h100: insufficient nvidia.com/gpu: 8 requested, 0 of 8 free (8 short), queue t has capability 8" },
	{ "pods_beyond_the_minimum_stay_in_it",
		NODES "queue q" BOTH "; group g q 1..6 gpu=8 run=1 on=h1:1 flavor=h100", "g 4@h100" },
	{ "and_stop_at_its_capability",
		NODES "queue q of=h100 cap=gpu:16 of=a100; group g q 1..6 gpu=8 run=1 on=h1:1 flavor=h100",
		"g 2@h100" },
	{ "a_relabelled_node_is_charged_to_its_new_flavor",
		NODES
		"queue q of=h100 cap=gpu:8 of=a100 cap=gpu:8; group b q 1..1 gpu=8 run=1 on=a1:1 flavor=h100; group g q 1..1 gpu=8 t=1",
		"b 1@h100; g 1@h100" },
	{ "a_claim_stays_where_room_comes_free",
		NODES
		"queue q" BOTH
		"; queue o; group b o 4..4 gpu=8 stops=1 run=3 on=h2:1,h3:1,h4:1 keep fixed; group c o 4..4 gpu=8 run=4 on=a1:1,a2:1,a3:1,a4:1 keep; group g q 1..1 gpu=8 claim flavor=h100 t=1",
		"b 3@-; c 4@-; g claim@h100" },
	{ "unless_there_is_some_elsewhere",
		NODES
		"queue q" BOTH
		"; queue o; group b o 4..4 gpu=8 stops=1 run=3 on=h2:1,h3:1,h4:1 keep fixed; group g q 1..1 gpu=8 claim flavor=h100 t=1",
		"b 3@-; g 1@a100" },
};

static void where_gangs_start(void **state KAR_UNUSED)
{
	bool wrong = false;

	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_buf out = { 0 };
		struct world w;

		world_begin(&w, rows[i].world);
		world_plan(&w);
		describe_groups(&w, &out);
		for (uint32_t k = 0; k < w.s.n_groups; k++)
			assert_true(is_placed_there(&w, k));
		if (strcmp(kar_buf_cstr(&out), rows[i].groups) != 0) {
			print_error("%s:\n  expected %s\n  found    %s\n", rows[i].name, rows[i].groups,
				kar_buf_cstr(&out));
			wrong = true;
		}
		kar_buf_release(&out);
		world_end(&w);
	}
	assert_false(wrong);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(where_gangs_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
