/* Gangs whose roles ask for different topologies: rows in the words of sched_words.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/sched/impl.h"
#include "test/unit/sched_words.h"

/* Rack a has 2 nodes of 4, rack b 2 of 3, rack c 1 of 2. */
#define RACKS "a1 cpu=4 @rack=a; a2 cpu=4 @rack=a; b1 cpu=3 @rack=b; b2 cpu=3 @rack=b; c1 cpu=2 @rack=c"

static const struct {
	const char *name, *taken, *gang, *expected;
} rows[] = {
	{ "each_in_a_rack", "", "w 8xcpu=1; p 2xcpu=1 | ask w rack required | ask p rack required",
		"w:a1*4 w:a2*4 p:c1*2" },
	{ "one_ask_of_two_roles", "",
		"l 1xcpu=2; w 4xcpu=1; p 2xcpu=1 | ask l,w rack required | ask p rack required",
		"l:b1 w:b1 w:b2*3 p:c1*2" },
	{ "one_rack_for_both_if_it_has_room", "b1 3xcpu=1; b2 3xcpu=1; c1 2xcpu=1",
		"w 4xcpu=1; p 4xcpu=1 | ask w rack required | ask p rack required", "w:a1*4 p:a2*4" },
	{ "the_rest_asks_for_what_the_gang_asks_for", "",
		"w 6xcpu=1; p 2xcpu=1 | topology rack required | ask p rack preferred",
		"w:b1*3 w:b2*3 p:c1*2" },
	{ "roles_without_a_wish_are_anywhere", "", "w 6xcpu=1; p 9xcpu=1 | ask w rack required",
		"w:b1*3 w:b2*3 p:c1*2 p:a1*4 p:a2*3" },
	{ "what_must_be_together_is_first", "",
		"p 12xcpu=1; w 1xcpu=2 | ask p rack preferred | ask w rack required",
		"w:c1 p:a1*4 p:a2*4 p:b1*3 p:b2" },
	{ "the_first_order_misses_the_other_fits", "",
		"w 4xcpu=1; p 4xcpu=3 | ask w rack preferred | ask p rack preferred",
		"p:a1 p:a2 p:b1 p:b2 w:a1 w:a2 w:c1*2" },
	{ "all_or_nothing", "", "w 8xcpu=1; p 7xcpu=1 | ask w rack required | ask p rack required",
		"14/8 pods placed: p: domain rack=b: 2 nodes lack cpu (short 1)" },
	{ "what_fits_beside_a_miss_is_counted", "a1 3xcpu=1; a2 3xcpu=1",
		"w 3xcpu=3; p 5xcpu=1 | ask w rack required",
		"7/3 pods placed: w: domain rack=b: 2 nodes lack cpu (short 3)" },
	{ "slices_of_one_of_them", "", "w 6xcpu=1; p 8xcpu=1 | ask w rack slice:1=2 | ask p rack required",
		"p:a1*4 p:a2*4 w:b1*3 w:b2*3" },
	{ "room_to_hold_beside_all", "",
		"w 8xcpu=1; p 2xcpu=1 | hold cpu=7 | ask w rack required | ask p rack required",
		"10/8 pods placed: no room for what the gang holds for later pods: cpu 7" },
};

static void roles_are_placed_by_what_they_ask_for(void **state)
{
	int failed = 0;

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_sched *s = kar_sched_new(NULL);
		struct kar_arena a = { 0 };
		struct kar_buf got = { 0 };
		struct words_gang g;
		struct kar_placement p;

		words_nodes(s, &a, RACKS);
		words_taken(s, &a, rows[i].taken);
		words_gang(s, &a, rows[i].gang, &g);
		if (kar_sched_place(s, &g.gang, &a, &p)) {
			words_placement(s, &g, &p, &got);
			words_placement_put(s, &p);
		} else {
			const struct kar_sched_why why = kar_sched_explain(s, &g.gang, g.names, &a);

			kar_buf_printf(&got, "%d/%d pods placed: %s", (int)why.placed, (int)g.roles[0].need,
				why.text);
		}
		if (strcmp(kar_buf_cstr(&got), rows[i].expected) != 0) {
			print_error("%s:\n  want %s\n  got  %s\n", rows[i].name, rows[i].expected,
				kar_buf_cstr(&got));
			failed++;
		}
		words_gang_put(s, &g);
		kar_buf_release(&got);
		kar_arena_release(&a);
		kar_sched_free(s);
	}
	assert_int_equal(failed, 0);
}

static const struct {
	const char *name, *gang, *text; /* NULL: it is feasible; "": only the sum of all says why not */
} never[] = {
	{ "one_ask_is_too_large", "w 9xcpu=1; p 1xcpu=1 | ask w rack required | ask p rack required",
		"9 placed: w: largest rack holds 8 of 9 pods on empty nodes (a)" },
	{ "of_two_roles", "l 1xcpu=1; w 8xcpu=1; p 1xcpu=1 | ask l,w rack required",
		"10 placed: l ...: all pods together ask for 9 cpu, rack a has 8" },
	{ "all_nodes_are_enough", "w 8xcpu=1; p 8xcpu=1 | ask w rack required", NULL },
	{ "all_nodes_are_too_few", "w 8xcpu=1; p 9xcpu=1 | ask w rack required", "" },
};

static void asks_that_no_node_could_meet_are_infeasible(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(never); i++) {
		struct kar_sched *s = kar_sched_new(NULL);
		struct kar_arena a = { 0 };
		struct words_gang g;

		words_nodes(s, &a, RACKS);
		words_gang(s, &a, never[i].gang, &g);
		if (kar_sched_feasible(s, &g.gang) != !never[i].text)
			fail_msg("%s: feasible", never[i].name);
		if (never[i].text && never[i].text[0]) {
			const struct kar_sched_why why = kar_sched_explain_empty(s, &g.gang, g.names, &a);
			const char *got = kar_arena_printf(&a, "%d placed: %s", (int)why.placed, why.text);

			if (strcmp(got, never[i].text) != 0)
				fail_msg("%s: want '%s', got '%s'", never[i].name, never[i].text, got);
		}
		words_gang_put(s, &g);
		kar_arena_release(&a);
		kar_sched_free(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(roles_are_placed_by_what_they_ask_for),
		cmocka_unit_test(asks_that_no_node_could_meet_are_infeasible),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
