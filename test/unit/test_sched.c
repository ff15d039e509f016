/* Where gangs go, and why not: rows in the words of sched_words.h. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/sched/impl.h"
#include "test/unit/sched_words.h"

static const struct {
	const char *name, *nodes, *taken, *gang, *expected;
} rows[] = {
	/* --- one role */
	{ "fewest_copies_first", "a gpu=8; b gpu=2; c gpu=1; d gpu=1", "", "w 4xgpu=1", "w:c w:d w:b*2" },
	{ "big_holes_stay_whole", "a gpu=8; b gpu=2; c gpu=1; d gpu=1", "a 2xgpu=1", "w 1xgpu=6", "w:a" },
	{ "not_where_gpus_are_idle", "a cpu=2 gpu=1; b cpu=8", "", "w 2xcpu=1", "w:b*2" },
	{ "unless_nothing_else_has_room", "a cpu=2 gpu=1; b cpu=1", "", "w 2xcpu=1", "w:b w:a" },
	{ "busy_gpus_are_no_reason", "a cpu=2 gpu=1; b cpu=8", "a 1xgpu=1", "w 2xcpu=1", "w:a*2" },
	{ "all_or_nothing", "a cpu=6", "a 4xcpu=1", "w 4xcpu=1",
		"2/4 pods placed: 1 node lacks cpu (short 2)" },
	{ "wanted_pods_as_they_fit", "a cpu=6", "", "w 2xcpu=2 +4", "w:a*2 w:a" },
	{ "nothing_to_place", "a cpu=1", "", "w 0xcpu=1", "" },
	{ "no_nodes", "", "", "w 1xcpu=1", "0/1 pods placed: the cluster has no nodes" },
	{ "pods_are_counted", "a cpu=9 pods=3", "a 1xmemory=1", "w 3xcpu=1",
		"2/3 pods placed: 1 node lacks pods (short 1)" },
	{ "node_that_is_not_known_has_no_room", "a cpu=1", "b 1xcpu=1", "w 2xcpu=1",
		"1/2 pods placed: 1 node lacks cpu (short 1)" },
	{ "overcommitted_resource_that_nobody_asks_for", "a cpu=1 memory=1", "a 2xcpu=1", "w 1xmemory=1",
		"w:a" },
	{ "resource_that_no_node_has", "a cpu=1; b cpu=1", "", "w 2xfpga=1",
		"0/2 pods placed: 2 nodes lack fpga (short 2)" },
	/* --- what a node must be like */
	{ "first_obstacle_of_each_node", "a gpu=3; b gpu=3; c gpu=8 !infra; d gpu=8 !infra; e gpu=8 notready",
		"", "w 3xgpu=4",
		"0/3 pods placed: 2 nodes lack nvidia.com/gpu (short 3), 2 tainted (infra), 1 not ready" },
	{ "cordoned_and_not_selected", "a cpu=8 cordoned; b cpu=8; c cpu=8; d cpu=2 @disk=ssd", "",
		"w 3xcpu=2 on=disk=ssd",
		"1/3 pods placed: 2 excluded by nodeSelector or affinity, 1 lacks cpu (short 4), 1 cordoned" },
	{ "tolerated", "a cpu=2 !infra; b cpu=1", "", "w 3xcpu=1 ~infra", "w:b w:a*2" },
	{ "other_value_is_tolerated", "a cpu=1 !infra; b cpu=1 !infra=x; c cpu=1 !infra=y", "",
		"w 1xcpu=1 ~infra=x +2", "w:b" },
	{ "label_without_a_value", "a cpu=1; b cpu=1 @gpu; c cpu=1 @gpu=x", "", "w 1xcpu=1 on=gpu +2",
		"w:b" },
	{ "domain_without_a_name", "a cpu=1; b cpu=2 @rack; c cpu=1 @rack=x", "",
		"w 2xcpu=1 | topology rack required", "w:b*2 in " },
	{ "host_port_once_per_node", "a cpu=9; b cpu=9; c cpu=9", "a 1xport=80", "w 3xport=80",
		"2/3 pods placed: 3 with host port 80 in use" },
	{ "other_host_port", "a cpu=9; b cpu=9", "a 1xport=81", "w 2xport=80", "w:a w:b" },
	{ "cpu_in_thousandths_memory_in_bytes", "a cpu=1 memory=1024; b cpu=1 memory=1024",
		"a 1xcpu=1; b 1xcpu=1", "w 1xmemory=2048",
		"0/1 pods placed: 2 nodes lack memory (short 1Ki)" },
	/* --- several roles */
	{ "largest_role_first", "a cpu=4; b cpu=8", "", "small 4xcpu=1; large 1xcpu=8", "large:b small:a*4" },
	{ "scarce_role_first", "a cpu=4 @disk=ssd; b cpu=4", "", "w 1xcpu=4; s 1xcpu=3 on=disk=ssd",
		"s:a w:b" },
	{ "largest_first_misses_scarcest_first_fits", "a cpu=12; b cpu=12", "",
		"x 1xcpu=6; y 3xcpu=4; z 2xcpu=3", "y:a*3 x:b z:b*2" },
	{ "role_by_role_misses_so_all_ways_are_tried", "a cpu=9; b cpu=8", "", "x 2xcpu=4; y 3xcpu=3",
		"x:b x:b y:a y:a y:a" },
	{ "role_that_is_missing_is_named", "a cpu=4", "", "w 2xcpu=1; l 1xcpu=4",
		"1/3 pods placed: role w (cpu 1): 1 node lacks cpu (short 2)" },
	/* --- room for later */
	{ "hold_beside_the_pod", "a cpu=4; b cpu=3; c cpu=4", "", "driver 1xcpu=1 | hold cpu=8",
		"driver:b | a holds cpu=4 | c holds cpu=4" },
	{ "hold_in_proportion", "c cpu=4; n1 cpu=64 gpu=8; n2 cpu=64 gpu=8", "",
		"i 1xcpu=2 | hold cpu=32 gpu=16",
		"i:c | n1 holds cpu=16 nvidia.com/gpu=8 | n2 holds cpu=16 nvidia.com/gpu=8" },
	{ "hold_on_nodes_that_the_pod_does_not_tolerate",
		"c cpu=4; n1 cpu=64 gpu=8 !gpu; m cpu=64 gpu=8 !node-role.kubernetes.io/control-plane", "",
		"i 1xcpu=2 | hold cpu=16 gpu=8", "i:c | n1 holds cpu=16 nvidia.com/gpu=8" },
	{ "no_room_to_hold", "a cpu=4", "", "driver 1xcpu=1 | hold cpu=4",
		"1/1 pods placed: no room for what the gang holds for later pods: cpu 4" },
/* --- topology: rack a has 4 nodes of 2, b 2 of 8, c 3 of 3 */
#define RACKS \
	"a1 gpu=2 @rack=a; a2 gpu=2 @rack=a; a3 gpu=2 @rack=a; a4 gpu=2 @rack=a; b1 gpu=8 @rack=b; b2 gpu=8 @rack=b; c1 gpu=3 @rack=c; c2 gpu=3 @rack=c; c3 gpu=3 @rack=c"
	{ "least_room_that_fits", RACKS, "", "w 4xgpu=2 | topology rack required",
		"w:a1 w:a2 w:a3 w:a4 in a" },
	{ "larger_gang_larger_rack", RACKS, "", "w 5xgpu=2 | topology rack required", "w:b1*4 w:b2 in b" },
	{ "no_rack_is_large_enough", RACKS, "", "w 9xgpu=2 | topology rack required",
		"8/9 pods placed: domain rack=b: 2 nodes lack nvidia.com/gpu (short 2)" },
	{ "preferred_goes_anywhere", RACKS, "", "w 9xgpu=2 | topology rack preferred", "w:b1*4 w:b2*4 w:c1" },
/* --- levels: block 1 has racks 1 (2 nodes of 2) and 2 (1 of 4), block 2 rack 1 (2 of 4); one node has no rack */
#define BLOCKS \
	"a1 cpu=2 @block=1 @rack=1; a2 cpu=2 @block=1 @rack=1; a3 cpu=4 @block=1 @rack=2; b1 cpu=4 @block=2 @rack=1; b2 cpu=4 @block=2 @rack=1; n cpu=9 @block=2"
	{ "rack_1_of_one_block_is_not_rack_1_of_another", BLOCKS, "",
		"w 9xcpu=1 | topology block/rack required",
		"8/9 pods placed: domain rack=2/1: 2 nodes lack cpu (short 1)" },
	{ "least_room_of_all_racks", BLOCKS, "", "w 4xcpu=1 | topology block/rack required",
		"w:a1*2 w:a2*2 in 1/1" },
	{ "one_level_wider_if_no_rack_holds_it", BLOCKS, "", "w 12xcpu=1 | topology block/rack preferred",
		"w:n*4 w:b1*4 w:b2*4 in 2" },
	{ "preferred_inside_what_is_required", BLOCKS, "a1 2xcpu=1",
		"w 6xcpu=1 | topology block/rack required:1 preferred", "w:b1*4 w:b2*2 in 2/1" },
	{ "no_wider_than_what_is_required", BLOCKS, "",
		"w 18xcpu=1 | topology block/rack required:1 preferred",
		"17/18 pods placed: domain block=2: 3 nodes lack cpu (short 1)" },
	{ "as_few_racks_as_possible", "a cpu=3 @rack=a; b cpu=5 @rack=b; c cpu=4 @rack=c; d cpu=2 @rack=d",
		"", "w 7xcpu=1 | topology rack preferred", "w:b*5 w:d*2" },
	{ "node_without_the_label_is_filled_last", "a cpu=3 @rack=a; b cpu=1; c cpu=4 @rack=c", "",
		"w 7xcpu=1 | topology rack preferred", "w:a*3 w:c*4" },
	{ "places_are_in_the_order_of_the_tree",
		"z cpu=1 @block=1 @rack=2; y cpu=2 @block=1 @rack=1; x cpu=3 @block=2 @rack=1; b cpu=4 @block=2 @rack=1",
		"", "w 10xcpu=1 | topology block/rack preferred", "w:y*2 w:z w:b*4 w:x*3" },
	{ "several_roles_in_one_rack", BLOCKS, "", "w 1xcpu=4; v 4xcpu=1 | topology block/rack required",
		"w:b1 v:b2*4 in 2/1" },
/* --- other pods: two racks of two nodes */
#define HOSTS "a1 cpu=4 @host @rack=a; a2 cpu=4 @host @rack=a; b1 cpu=4 @host @rack=b; b2 cpu=2 @host @rack=b"
	{ "one_copy_per_node", HOSTS, "", "w 4xcpu=1 in=x anti=x/host", "w:b2 w:a1 w:a2 w:b1" },
	{ "no_node_for_the_fifth", HOSTS, "", "w 5xcpu=1 in=x anti=x/host",
		"4/5 pods placed: 4 taken (one copy per node)" },
	{ "one_copy_per_rack", HOSTS, "", "w 2xcpu=1 in=x anti=x/rack", "w:b2 w:a1" },
	{ "no_rack_for_the_third", HOSTS, "", "w 3xcpu=1 in=x anti=x/rack",
		"2/3 pods placed: 4 taken (one copy per rack)" },
	{ "not_beside_pods_of_others", HOSTS, "a1 1xcpu=1 in=x; b1 1xcpu=1 in=x", "w 2xcpu=2 anti=x/rack",
		"0/2 pods placed: 4 excluded by its anti-affinity" },
	{ "beside_its_like_if_it_is_no_such_pod", HOSTS, "a1 1xcpu=1 in=x", "w 3xcpu=2 anti=x/rack",
		"w:b2 w:b1*2" },
	{ "pods_there_do_not_like_it", HOSTS, "a1 1xcpu=1 anti=x/rack; b1 1xcpu=1 anti=x/host",
		"w 2xcpu=2 in=x",
		"1/2 pods placed: 3 excluded by anti-affinity of other pods, 1 lacks cpu (short 2)" },
	{ "anti_affinity_of_a_member_and_of_the_gang", HOSTS, "", "w 2xcpu=1 in=x; v 1xcpu=2 anti=x/rack",
		"v:b2 w:a1*2" },
	{ "node_without_the_label_is_in_no_domain", "a cpu=4; b cpu=1 @rack=b", "",
		"w 3xcpu=1 in=x anti=x/rack", "w:b w:a w:a" },
	{ "with_pods_that_are_there", HOSTS, "a1 1xcpu=1 in=x", "w 3xcpu=2 near=x/rack", "w:a1 w:a2*2" },
	{ "no_pod_is_there", HOSTS, "", "w 1xcpu=2 near=x/rack",
		"0/1 pods placed: 4 without a pod that its affinity asks for" },
	{ "all_in_one_rack", HOSTS, "", "w 3xcpu=2 in=x near=x/rack", "w:b2 w:b1 w:b1" },
	{ "the_larger_rack_for_more", HOSTS, "", "w 4xcpu=2 in=x near=x/rack", "w:a1 w:a1 w:a2 w:a2" },
	{ "no_rack_has_room_for_all", HOSTS, "", "w 5xcpu=2 in=x near=x/rack",
		"4/5 pods placed: 2 nodes lack cpu (short 2), 2 without a pod that its affinity asks for" },
	{ "roles_that_follow_one_another", HOSTS, "", "w 4xcpu=2 near=x/rack; l 1xcpu=0 in=x",
		"l:a1 w:a1*2 w:a2*2" },
	{ "those_that_ask_for_no_company_follow_as_well",
		"z cpu=4 @rack=a; b1 cpu=4 @rack=b; b2 cpu=4 @rack=b; b3 cpu=4 @rack=b", "",
		"l 1xcpu=4 in=x near=x/rack; w 1xcpu=4 in=x", "l:b1 w:b2" },
	{ "or_they_are_where_there_is_room", "a cpu=4 @rack=a; b cpu=4 @rack=b; c cpu=2 @rack=b", "",
		"l 1xcpu=2 in=x near=x/rack; w 2xcpu=4 in=x", "w:a w:b l:c" },
	{ "no_first_of_its_like_if_others_of_the_gang_may_come_before_it", "a cpu=4 @rack=a; b cpu=2 @rack=b",
		"", "w 1xcpu=4 in=x near=x/rack; v 1xcpu=2 in=x",
		"2/2 pods placed: topology spreads and affinities between the pods would hold in one order only" },
	{ "nor_if_more_of_them_may", "a cpu=4 @rack=a; b cpu=2 @rack=b", "",
		"w 1xcpu=4 in=x near=x/rack; v 0xcpu=2 in=x +5", "w:a" },
	{ "as_many_in_each_rack", HOSTS, "a1 1xcpu=1 in=x", "w 3xcpu=1 in=x spread=x/rack/1",
		"w:b2 w:b2 w:a1" },
	{ "spread_holds_with_those_that_come_later", "a cpu=9 @rack=a; b cpu=9 @rack=b cordoned", "",
		"w 1xcpu=2 in=y spread=x/rack/1; v 1xcpu=1 in=x +5", "v:a w:a" },
	{ "followers_of_pods_on_several_nodes", "a cpu=4 @host; b cpu=4 @host", "",
		"w 6xcpu=1 near=x/host; l 2xcpu=1 in=x anti=x/host", "l:a l:b w:a*3 w:b*3" },
	{ "spread_after_those_that_are_not", "a cpu=9 @rack=a; b cpu=6 @rack=b; c cpu=6 @rack=c", "",
		"w 3xcpu=3 in=x spread=x/rack/1; p 2xcpu=1 in=x", "p:b*2 w:c w:a w:c" },
	{ "full_rack_holds_up_the_other", "a cpu=9 @rack=a; b cpu=1 @rack=b", "",
		"w 4xcpu=1 in=x spread=x/rack/1",
		"3/4 pods placed: 1 node lacks cpu (short 1), 1 with more copies than its topology spread allows (per rack)" },
	{ "label_that_no_node_has", "a cpu=1", "", "w 1xcpu=1 | topology zone required",
		"0/1 pods placed: no node has label zone" },
};

static void explain(struct kar_sched *s, struct kar_arena *a, const struct words_gang *g, struct kar_buf *out)
{
	const struct kar_sched_why why = kar_sched_explain(s, &g->gang, g->names, a);
	int64_t needed = 0;

	assert_false(why.fits);
	for (uint32_t i = 0; i < g->gang.n_roles; i++)
		needed += g->gang.roles[i].need;
	kar_buf_printf(out, "%" PRId64 "/%" PRId64 " pods placed: %s", why.placed, needed, why.text);
}

static void gangs_are_placed_or_explained(void **state)
{
	int failed = 0;

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_sched *s = kar_sched_new(NULL);
		struct kar_arena a = { 0 };
		struct kar_buf got = { 0 };
		struct words_gang g;
		struct kar_placement p;

		words_nodes(s, &a, rows[i].nodes);
		words_taken(s, &a, rows[i].taken);
		words_gang(s, &a, rows[i].gang, &g);
		if (kar_sched_place(s, &g.gang, &a, &p))
			words_placement(s, &g, &p, &got);
		else
			explain(s, &a, &g, &got);
		if (strcmp(kar_buf_cstr(&got), rows[i].expected) != 0) {
			print_error("%s:\n  want %s\n  got  %s\n", rows[i].name, rows[i].expected,
				kar_buf_cstr(&got));
			failed++;
		}
		words_placement_put(s, &p);
		words_gang_put(s, &g);
		kar_buf_release(&got);
		kar_arena_release(&a);
		kar_sched_free(s);
	}
	assert_int_equal(failed, 0);
}

static const struct {
	const char *name, *nodes, *gang, *text;
} never[] = {
	{ "wider_label_is_missing", "a cpu=1 @rack=1; b cpu=1 @rack=2",
		"w 1xcpu=1 | topology block/rack required", "no node has label block" },
	{ "each_label_is_there_and_not_on_one_node", "a cpu=1 @rack=1; b cpu=1 @block=1",
		"w 1xcpu=1 | topology block/rack required", "no node that has label block has label rack" },
	{ "nodes_lack_the_wider_label", "a cpu=1 @block=1 @rack=1; b cpu=4 @rack=2",
		"w 4xcpu=1 | topology block/rack required",
		"largest rack holds 1 of 4 pods on empty nodes (1/1); 1 node has no label block" },
	{ "others_another_one", "a cpu=1 @block=1 @rack=1; b cpu=4 @rack=2; c cpu=4 @block=1",
		"w 4xcpu=1 | topology block/rack required",
		"largest rack holds 1 of 4 pods on empty nodes (1/1); 2 nodes have no label block or rack" },
	{ "roles_fit_one_by_one_and_not_together", "a cpu=8 @rack=1; b cpu=6 @rack=1; c cpu=12 @rack=2",
		"w 4xcpu=2; v 4xcpu=2 | topology rack required",
		"all pods together ask for 16 cpu, rack 1 has 14" },
	{ "of_equal_racks_the_first", "a cpu=8 @rack=2; b cpu=8 @rack=1",
		"w 4xcpu=2; v 4xcpu=2 | topology rack required",
		"all pods together ask for 16 cpu, rack 1 has 8" },
};

static void gangs_that_no_domain_could_hold_say_why(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(never); i++) {
		struct kar_sched *s = kar_sched_new(NULL);
		struct kar_arena a = { 0 };
		struct kar_sched_why why;
		struct words_gang g;

		words_nodes(s, &a, never[i].nodes);
		words_gang(s, &a, never[i].gang, &g);
		assert_false(kar_sched_feasible(s, &g.gang));
		why = kar_sched_explain_empty(s, &g.gang, g.names, &a);
		if (strcmp(why.text, never[i].text) != 0)
			fail_msg("%s: want '%s', got '%s'", never[i].name, never[i].text, why.text);
		words_gang_put(s, &g);
		kar_arena_release(&a);
		kar_sched_free(s);
	}
}

/* Each is a domain of its own. */
static void nodes_that_are_gone_leave_no_domains(void **state)
{
	struct kar_sched *s = kar_sched_new(NULL);
	struct kar_arena a = { 0 };
	struct words_gang g;
	struct kar_placement p;

	(void)state;
	words_gang(s, &a, "w 1xcpu=1 | topology rack/h required", &g);
	for (int i = 0; i < 1000; i++) {
		const char *name = kar_arena_printf(&a, "n%d", i);
		size_t mark;

		words_node(s, &a, kar_arena_printf(&a, "%s cpu=1 @rack=1 @h=%s", name, name));
		mark = kar_sched_mark(s);
		assert_true(kar_sched_place(s, &g.gang, &a, &p));
		assert_string_equal(p.domain, kar_arena_printf(&a, "1/%s", name));
		kar_sched_undo(s, mark);
		kar_sched_node_gone(s, name);
	}
	assert_in_range(s->keys[0].n, 1, 2);
	words_gang_put(s, &g);
	kar_arena_release(&a);
	kar_sched_free(s);
}

/* The nodes of other racks are not looked at. */
static void hosts_of_one_rack_are_sorted_alone(void **state)
{
	struct kar_sched *s = kar_sched_new(NULL);
	struct kar_arena a = { 0 }, own = { 0 };
	struct words_gang g;
	struct kar_placement p;

	(void)state;
	for (int i = 0; i < 5000; i++)
		words_node(s, &a, kar_arena_printf(&a, "n%d cpu=1 @rack=%d @h=n%d", i, i % 10, i));
	words_gang(s, &a, "w 20xcpu=1 | topology rack/h required:1", &g);
	assert_true(kar_sched_place(s, &g.gang, &own, &p));
	assert_in_range(kar_arena_bytes(&own), 1, 5000 * sizeof(void *));
	words_gang_put(s, &g);
	kar_arena_release(&a);
	kar_arena_release(&own);
	kar_sched_free(s);
}

/* What was placed and taken back does not decide which of equal nodes is next. */
static void equal_nodes_are_filled_by_name(void **state)
{
	struct kar_sched *s = kar_sched_new(NULL);
	struct kar_arena a = { 0 };
	struct words_gang g;
	struct kar_placement p;

	(void)state;
	words_nodes(s, &a, "c cpu=1; a cpu=1; b cpu=1");
	words_gang(s, &a, "w 2xcpu=1", &g);
	for (int i = 0; i < 3; i++) {
		size_t mark = kar_sched_mark(s);

		kar_sched_settle(s, g.gang.roles[0].class);
		assert_true(kar_sched_place(s, &g.gang, &a, &p));
		assert_string_equal(p.places[0].node, "a");
		assert_string_equal(p.places[1].node, "b");
		kar_sched_undo(s, mark);
	}
	kar_sched_node_gone(s, "a");
	kar_sched_settle(s, g.gang.roles[0].class);
	assert_true(kar_sched_place(s, &g.gang, &a, &p));
	assert_string_equal(p.places[0].node, "b");
	words_gang_put(s, &g);
	kar_arena_release(&a);
	kar_sched_free(s);
}

/* A gang that cannot fit costs a comparison; one that fits looks only at the nodes that it uses. */
static void work_is_proportional_to_the_change(void **state)
{
	struct kar_sched *s = kar_sched_new(NULL);
	struct kar_arena a = { 0 };
	struct words_gang small, large;
	struct kar_placement p;
	uint64_t touched;

	(void)state;
	for (int i = 0; i < 1000; i++)
		words_node(s, &a, kar_arena_printf(&a, "n%d cpu=4", i));
	words_gang(s, &a, "w 10xcpu=1", &small);
	words_gang(s, &a, "w 4001xcpu=1", &large);
	touched = kar_sched_touched(s);
	assert_false(kar_sched_place(s, &large.gang, &a, &p));
	assert_true(p.proved);
	assert_int_equal(kar_sched_touched(s), touched);
	assert_true(kar_sched_place(s, &small.gang, &a, &p));
	assert_int_equal(kar_sched_touched(s), touched + 3);
	assert_false(kar_sched_feasible(s, &large.gang));
	assert_true(kar_sched_feasible(s, &small.gang));
	words_gang_put(s, &small);
	words_gang_put(s, &large);
	kar_arena_release(&a);
	kar_sched_free(s);
}

/* Anybody may name resources in a pod: only those of nodes are counted, also if a node has them only later. */
static void resources_of_pods_use_up_nothing(void **state)
{
	struct kar_sched *s = kar_sched_new(NULL);
	struct kar_arena a = { 0 };
	struct words_gang g;
	struct kar_placement p;

	(void)state;
	words_gang(s, &a, "w 1xgpu=1", &g);
	words_node(s, &a, "a cpu=1");
	assert_false(kar_sched_place(s, &g.gang, &a, &p));
	for (int i = 0; i < 2 * KAR_SCHED_RESOURCES; i++)
		words_taken(s, &a, kar_arena_printf(&a, "a 1xr%d=1", i));
	words_node(s, &a, "b cpu=1 gpu=1");
	assert_true(kar_sched_place(s, &g.gang, &a, &p));
	assert_string_equal(p.places[0].node, "b");
	words_gang_put(s, &g);
	kar_arena_release(&a);
	kar_sched_free(s);
}

static void equal_needs_are_one_class(void **state)
{
	static const struct {
		const char *a, *b;
		bool equal;
	} pairs[] = {
		{ "cpu=1", "cpu=1", true },
		{ "cpu=1", "cpu=2", false },
		{ "cpu=1 on=a=b", "cpu=1", false },
		{ "cpu=1 on=a=bc", "cpu=1 on=ab=c", false },
		{ "cpu=1 ~a", "cpu=1 ~b", false },
		{ "cpu=1 port=80", "cpu=1 port=81", false },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(pairs); i++) {
		struct kar_sched *s = kar_sched_new(NULL);
		struct kar_arena a = { 0 };
		int32_t want;
		kar_class x = words_class(s, &a, pairs[i].a, &want),
			  y = words_class(s, &a, pairs[i].b, &want);

		assert_int_equal(x == y, pairs[i].equal);
		kar_sched_class_put(s, x);
		kar_sched_class_put(s, y);
		kar_arena_release(&a);
		kar_sched_free(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gangs_are_placed_or_explained),
		cmocka_unit_test(gangs_that_no_domain_could_hold_say_why),
		cmocka_unit_test(nodes_that_are_gone_leave_no_domains),
		cmocka_unit_test(hosts_of_one_rack_are_sorted_alone),
		cmocka_unit_test(equal_nodes_are_filled_by_name),
		cmocka_unit_test(work_is_proportional_to_the_change),
		cmocka_unit_test(resources_of_pods_use_up_nothing),
		cmocka_unit_test(equal_needs_are_one_class),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
