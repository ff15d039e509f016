/* Whole domains are broken last: small gangs and those without a wish leave racks to gangs that need all of one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "sched_words.h"

enum { RACKS = 12, NODES = 18 };

static struct kar_sched *sched;
static struct kar_arena arena;
static const char *const path[] = { "rack" };

static int setup(void **state KAR_UNUSED)
{
	sched = kar_sched_new(NULL);
	return 0;
}

static int teardown(void **state KAR_UNUSED)
{
	kar_sched_free(sched);
	kar_arena_release(&arena);
	return 0;
}

static const char *node_name(int rack, int node)
{
	return kar_arena_printf(&arena, "n%02d-%02d", rack, node);
}

/* Nodes with GPUs, in the order in which racks and nodes have no part. */
static void put_racks(const char *amounts)
{
	for (int node = 0; node < NODES; node++) {
		for (int rack = RACKS; rack-- > 0;)
			words_node(sched, &arena,
				kar_arena_printf(&arena, "%s @rack=r%02d %s", node_name(rack, node), rack,
					amounts));
	}
}

/* Places the gang for good, and returns how many of its pods are in each rack: "r00:18 r03:2". */
static const char *places(const char *gang)
{
	struct words_gang g;
	struct kar_placement p;
	int32_t of[RACKS] = { 0 };
	const char *text = "";

	words_gang(sched, &arena, gang, &g);
	if (!kar_sched_place(sched, &g.gang, &arena, &p))
		text = "no place";
	for (uint32_t i = 0; i < p.n_places; i++)
		of[strtol(p.places[i].node + 1, NULL, 10)] += p.places[i].n;
	for (int i = 0; i < RACKS; i++) {
		if (of[i])
			text = kar_arena_printf(&arena, "%s%sr%02d:%d", text, *text ? " " : "", i,
				(int)of[i]);
	}
	words_gang_put(sched, &g);
	return text;
}

static size_t count_racks(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == 'r';
	return n;
}

static void take(const char *text)
{
	words_taken(sched, &arena, text);
}

/* The example of the specification: one pod a node. */
static void pods_without_a_wish_break_few_racks(void **state KAR_UNUSED)
{
	put_racks("cpu=64 gpu=8");
	kar_sched_keep_whole(sched, path, 1);
	assert_int_equal(count_racks(places("w 64xcpu=64")), 4);
	for (int i = 0; i < 8; i++)
		assert_int_equal(count_racks(places("w 16xcpu=64 gpu=8 | topology rack required")), 1);
}

static void broken_rack_is_filled_first(void **state KAR_UNUSED)
{
	put_racks("cpu=64");
	take("n07-03 1xcpu=60");
	kar_sched_keep_whole(sched, path, 1);
	assert_string_equal(places("w 17xcpu=64"), "r07:17");
	assert_string_equal(places("w 1xcpu=4"), "r07:1");
	assert_int_equal(count_racks(places("w 1xcpu=4")), 1);
}

/* Best fit alone would take the smaller hole, and break a rack by that. */
static void whole_rack_is_worth_more_than_a_small_hole(void **state KAR_UNUSED)
{
	words_nodes(sched, &arena,
		"n00-00 cpu=2 @rack=a; n00-01 cpu=8 @rack=a; n01-00 cpu=64 @rack=b; n01-01 cpu=64 @rack=b");
	take("n01-00 1xcpu=1");
	kar_sched_keep_whole(sched, path, 1);
	assert_string_equal(places("w 1xcpu=2"), "r01:1");
	kar_sched_keep_whole(sched, NULL, 0);
	assert_string_equal(places("w 1xcpu=2"), "r00:1");
}

/* Idle devices come first: a rack without them is broken rather than a node with them used. */
static void idle_devices_count_more(void **state KAR_UNUSED)
{
	words_nodes(sched, &arena,
		"n00-00 cpu=8 @rack=a; n00-01 cpu=8 @rack=a; n01-00 cpu=8 gpu=8 @rack=b; n01-01 cpu=8 gpu=8 @rack=b");
	take("n01-00 1xcpu=1");
	kar_sched_keep_whole(sched, path, 1);
	assert_string_equal(places("w 1xcpu=2"), "r00:1");
}

static void pods_that_each_node_has_break_nothing(void **state KAR_UNUSED)
{
	put_racks("cpu=64");
	for (int rack = 0; rack < RACKS; rack++) {
		for (int node = 0; node < NODES; node++) {
			take(kar_arena_printf(&arena, "%s 1xcpu=1", node_name(rack, node)));
			kar_sched_take_own(sched, node_name(rack, node), 1);
		}
	}
	take("n05-00 1xcpu=1");
	kar_sched_keep_whole(sched, path, 1);
	assert_string_equal(places("w 17xcpu=63"), "r05:17");
	kar_sched_take_own(sched, node_name(9, 0), -1);
	assert_string_equal(places("w 17xcpu=63"), "r09:17");
}

static void rack_is_whole_again_when_its_pods_are_gone(void **state KAR_UNUSED)
{
	put_racks("cpu=64");
	kar_sched_keep_whole(sched, path, 1);
	take("n03-00 1xcpu=1; n04-00 1xcpu=1");
	take("n03-00 -1xcpu=1");
	assert_string_equal(places("w 17xcpu=64"), "r04:17");
}

/* What was tried and undone leaves nothing behind, and equal snapshots are filled equally. */
static void undone_placements_break_nothing(void **state KAR_UNUSED)
{
	size_t mark;

	put_racks("cpu=64");
	kar_sched_keep_whole(sched, path, 1);
	take("n11-00 1xcpu=1");
	mark = kar_sched_mark(sched);
	(void)places("w 200xcpu=64");
	kar_sched_undo(sched, mark);
	assert_string_equal(places("w 17xcpu=64"), "r11:17");
}

static void nodes_that_come_and_go_and_move(void **state KAR_UNUSED)
{
	put_racks("cpu=64");
	kar_sched_keep_whole(sched, path, 1);
	take("n02-00 1xcpu=1");
	words_node(sched, &arena, "n02-00 @rack=r06 cpu=64"); /* with its pod */
	assert_string_equal(places("w 17xcpu=64"), "r06:17");
	take("n08-01 1xcpu=1");
	kar_sched_node_gone(sched, "n08-01");
	assert_string_equal(places("w 1xcpu=64"), "r06:1");
	words_node(sched, &arena, "n08-01 @rack=r08 cpu=64");
	assert_string_equal(places("w 17xcpu=64"), "r08:17");
}

static void domain_that_is_no_rack_is_not_kept(void **state KAR_UNUSED)
{
	for (int i = 0; i < KAR_SCHED_WHOLE + 1; i++)
		words_node(sched, &arena, kar_arena_printf(&arena, "n00-%03d @rack=zone cpu=2", i));
	words_nodes(sched, &arena, "n01-00 cpu=8 @rack=b; n01-01 cpu=8 @rack=b");
	take("n01-00 1xcpu=1");
	kar_sched_keep_whole(sched, path, 1);
	assert_string_equal(places("w 1xcpu=2"), "r00:1");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(pods_without_a_wish_break_few_racks),
		TEST(broken_rack_is_filled_first),
		TEST(whole_rack_is_worth_more_than_a_small_hole),
		TEST(idle_devices_count_more),
		TEST(pods_that_each_node_has_break_nothing),
		TEST(rack_is_whole_again_when_its_pods_are_gone),
		TEST(undone_placements_break_nothing),
		TEST(nodes_that_come_and_go_and_move),
		TEST(domain_that_is_no_rack_is_not_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
