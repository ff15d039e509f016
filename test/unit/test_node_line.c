/* Who goes first when several gangs wait for nodes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "controllers/queuejob/node_line.h"

enum { JOBS = 5 };
static const char *const keys[JOBS] = { "ns/a", "ns/b", "other/c", "ns/d", "ns/e" };

static struct {
	struct kar_workqueue *queue;
	struct kar_node_line *line;
	struct kar_node_place *place[JOBS];
	int32_t lost[JOBS];
	struct kar_rank rank[JOBS];
} w;

static int set_up(void **state)
{
	const struct kar_workqueue_options o = { 0 };

	(void)state;
	memset(&w, 0, sizeof(w));
	w.queue = kar_workqueue_new(&o);
	w.line = kar_node_line_new(w.queue);
	for (int i = 0; i < JOBS; i++)
		w.rank[i] = (struct kar_rank){ .tier = KAR_TIER_MINIMUM, .age = i };
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	for (int i = 0; i < JOBS; i++)
		kar_node_line_leave(w.place[i]);
	kar_node_line_free(w.line);
	kar_workqueue_free(w.queue);
	return 0;
}

static void move(int job, enum kar_node_wait how, kar_time mono)
{
	const struct kar_node_wish p = { .how = how, .lost_turns = w.lost[job], .since = 100 + job };

	w.place[job] = kar_node_line_move(w.line, w.place[job], keys[job], &w.rank[job], &p, mono);
}

static struct kar_node_outlook look(int job, kar_time mono)
{
	kar_node_line_begin_turn(w.line, w.place[job], mono);
	return kar_node_line_look(w.line, w.place[job], keys[job], &w.rank[job], w.lost[job], mono);
}

/* Who goes before it; "" nobody. */
static const char *ahead(int job)
{
	const char *key = look(job, 1000).ahead;

	return key ? key : "";
}

/* The keys that were woken since: "ab". */
static const char *woken(void)
{
	static char text[JOBS + 1];
	const char *key;
	size_t n = 0;

	while ((key = kar_workqueue_take(w.queue, 1000)) != NULL) {
		text[n++] = key[strlen(key) - 1];
		kar_workqueue_done(w.queue, key);
	}
	text[n] = '\0';
	return text;
}

static void alone_nobody_is_in_the_way(void **state)
{
	struct kar_node_outlook v;

	(void)state;
	move(0, KAR_NODES_HOLDS, 1000);
	v = look(0, 500000);
	assert_null(v.ahead);
	assert_false(v.rivals);
	assert_false(v.awaited);
	assert_string_equal(woken(), "");
}

static void priority_goes_before_age(void **state)
{
	(void)state;
	w.rank[2].priority = 5;
	move(0, KAR_NODES_HOLDS, 1000);
	move(1, KAR_NODES_HOLDS, 1000);
	assert_string_equal(ahead(0), "");
	assert_string_equal(ahead(1), "ns/a");
	(void)woken();
	move(2, KAR_NODES_HOLDS, 1000);
	assert_string_equal(ahead(0), "other/c");
	assert_string_equal(ahead(1), "other/c");
	assert_string_equal(ahead(2), "");
	assert_string_equal(woken(), "a"); /* who was the first; the others have a time-out of their own */
}

/* It may fit nowhere. One that gave some back, and asks again, has had one. */
static void who_never_had_a_node_holds_up_nobody(void **state)
{
	(void)state;
	w.rank[2].priority = 5;
	move(2, KAR_NODES_WAITS, 1000);
	move(0, KAR_NODES_AWAY, 1000);
	move(1, KAR_NODES_HOLDS, 1000);
	assert_string_equal(ahead(0), "");
	assert_string_equal(ahead(1), "ns/a");
	assert_string_equal(ahead(2), "");
	assert_true(look(1, 1000).rivals);
	move(2, KAR_NODES_TRIES, 1000);
	assert_string_equal(ahead(0), "other/c");
}

static void newcomer_sees_who_goes_first(void **state)
{
	(void)state;
	move(1, KAR_NODES_HOLDS, 1000);
	assert_string_equal(ahead(2), "ns/b");
	assert_int_equal(look(2, 1000).ahead_since, 101);
	assert_string_equal(ahead(0), "");
	assert_true(look(0, 1000).rivals);
}

static void first_is_woken_when_a_rival_comes(void **state)
{
	(void)state;
	move(0, KAR_NODES_HOLDS, 1000);
	assert_string_equal(woken(), "");
	move(1, KAR_NODES_WAITS, 1000);
	assert_string_equal(woken(), "a");
	move(1, KAR_NODES_WAITS, 2000);
	assert_string_equal(woken(), "");
}

static void next_is_woken_when_the_first_has_its_nodes(void **state)
{
	(void)state;
	move(0, KAR_NODES_HOLDS, 1000);
	move(1, KAR_NODES_AWAY, 1000);
	move(2, KAR_NODES_AWAY, 1000);
	(void)woken();
	move(0, KAR_NODES_NONE, 2000);
	assert_null(w.place[0]);
	assert_string_equal(woken(), "b");
	assert_string_equal(ahead(1), "");
	assert_string_equal(ahead(2), "ns/b");
}

static void lost_turn_goes_behind_all(void **state)
{
	(void)state;
	w.rank[0].priority = 9;
	move(0, KAR_NODES_HOLDS, 1000);
	move(1, KAR_NODES_AWAY, 1000);
	move(2, KAR_NODES_AWAY, 1000);
	w.lost[0]++;
	move(0, KAR_NODES_AWAY, 2000);
	assert_string_equal(ahead(0), "ns/b");
	assert_string_equal(ahead(2), "ns/b");
	move(1, KAR_NODES_NONE, 3000);
	assert_string_equal(ahead(0), "other/c");
}

/* Who has lost as many turns as it likes does not stay first by having lost fewer than others. */
static void lost_turn_goes_behind_one_that_has_lost_more(void **state)
{
	(void)state;
	move(0, KAR_NODES_HOLDS, 1000);
	w.lost[1] = 5;
	move(1, KAR_NODES_AWAY, 1000);
	assert_string_equal(ahead(1), "ns/a");
	w.lost[0]++;
	move(0, KAR_NODES_WAITS, 2000);
	assert_string_equal(ahead(0), "ns/b");
	assert_string_equal(ahead(1), "");
}

static void newcomers_do_not_overtake_for_ever(void **state)
{
	(void)state;
	w.lost[0] = 3;
	move(0, KAR_NODES_AWAY, 1000);
	move(1, KAR_NODES_HOLDS, 1000);
	assert_string_equal(ahead(0), "");
	assert_string_equal(ahead(1), "ns/a");
}

/* One that has lost its turn goes behind those that are there, not behind all that will ever come. */
static void newcomers_come_behind_who_has_lost_a_turn(void **state)
{
	(void)state;
	move(0, KAR_NODES_HOLDS, 1000);
	move(1, KAR_NODES_AWAY, 1000);
	w.lost[0]++;
	move(0, KAR_NODES_AWAY, 2000);
	move(2, KAR_NODES_HOLDS, 3000);
	assert_string_equal(ahead(2), "ns/b");
	move(1, KAR_NODES_NONE, 4000);
	assert_string_equal(ahead(0), "");
	assert_string_equal(ahead(2), "ns/a");
}

static void who_rests_is_in_nobodys_way(void **state)
{
	(void)state;
	move(0, KAR_NODES_RESTS, 1000);
	assert_false(look(1, 1000).rivals);
	move(1, KAR_NODES_HOLDS, 1000);
	assert_false(look(1, 1000).rivals);
	assert_string_equal(ahead(1), "");
	assert_true(look(0, 1000).rivals);
	(void)woken();
	move(1, KAR_NODES_NONE, 2000);
	assert_string_equal(woken(), "a"); /* nobody else waits: it need not rest */
	assert_false(look(0, 2000).rivals);
}

static void who_leaves_its_nodes_is_in_nobodys_way(void **state)
{
	(void)state;
	move(0, KAR_NODES_LEAVES, 1000);
	move(1, KAR_NODES_AWAY, 1000);
	assert_string_equal(ahead(1), "");
	assert_false(look(1, 1000).rivals);
}

static void turn_begins_when_the_others_have_given_back(void **state)
{
	(void)state;
	move(0, KAR_NODES_HOLDS, 1000);
	move(1, KAR_NODES_HOLDS, 1000);
	assert_int_equal(look(0, 1000).turn, 0);
	assert_int_equal(look(0, 61000).turn, 0);
	move(1, KAR_NODES_LEAVES, 61000);
	assert_int_equal(look(0, 65000).turn, 0);
	move(1, KAR_NODES_AWAY, 65000);
	assert_int_equal(look(0, 65000).turn, 0);
	assert_true(look(0, 65000).awaited);
	assert_int_equal(look(0, 75000).turn, 10000);
	assert_int_equal(look(1, 75000).turn, 0);
}

static void turn_begins_with_the_first_rival(void **state)
{
	(void)state;
	move(0, KAR_NODES_HOLDS, 1000);
	(void)look(0, 1000);
	move(1, KAR_NODES_WAITS, 900000);
	assert_int_equal(look(0, 900000).turn, 0);
	assert_int_equal(look(0, 905000).turn, 5000);
}

static void turn_of_the_next_begins_anew(void **state)
{
	(void)state;
	move(0, KAR_NODES_HOLDS, 1000);
	move(1, KAR_NODES_AWAY, 1000);
	(void)look(0, 1000);
	move(2, KAR_NODES_AWAY, 1000);
	move(0, KAR_NODES_NONE, 50000);
	assert_int_equal(look(1, 50000).turn, 0);
	assert_int_equal(look(1, 53000).turn, 3000);
}

/* However many come, hold something, and give it back again. */
static void turn_does_not_last_for_ever(void **state)
{
	(void)state;
	move(0, KAR_NODES_HOLDS, 1000);
	move(1, KAR_NODES_AWAY, 1000);
	(void)look(0, 1000);
	for (kar_time t = 10000; t < 700000; t += 10000) {
		move(2, KAR_NODES_HOLDS, t);
		move(2, KAR_NODES_NONE, t + 5000);
		if (t < 600000)
			assert_true(look(0, t + 5000).turn <= 5000);
	}
	assert_int_equal(look(0, 701000).turn, 100000);
	move(3, KAR_NODES_LEAVES, 702000); /* on a node that is dead */
	assert_int_equal(look(0, 761000).turn, 160000);
}

static void others_are_not_known_at_once(void **state)
{
	(void)state;
	assert_int_equal(look(0, 1000).unsure, 5000);
	move(0, KAR_NODES_AWAY, 1000);
	assert_int_equal(look(0, 2000).unsure, 4000);
	assert_int_equal(look(0, 6000).unsure, 0);
	move(1, KAR_NODES_HOLDS, 1000); /* it was here when it gave back */
	move(1, KAR_NODES_LEAVES, 1000);
	move(1, KAR_NODES_AWAY, 1000);
	assert_int_equal(look(1, 1000).unsure, 0);
}

static void who_let_others_pass_knows_when(void **state)
{
	(void)state;
	move(0, KAR_NODES_WAITS, 1000);
	move(1, KAR_NODES_AWAY, 1000);
	assert_int_equal(look(0, 1000).passed, 0);
	w.lost[0]++;
	move(0, KAR_NODES_RESTS, 2000);
	assert_int_equal(look(0, 2999).passed, 1000);
	assert_string_equal(ahead(1), "");
}

static void room_is_when_a_job_has_ended(void **state)
{
	const struct kar_node_wish ends = { .frees = true };

	(void)state;
	move(0, KAR_NODES_RESTS, 1000);
	assert_int_equal(look(0, 2000).room, 0);
	w.place[1] = kar_node_line_move(w.line, w.place[1], keys[1], &w.rank[1], &ends, 2000);
	assert_null(w.place[1]);
	assert_int_equal(look(0, 2999).room, 1000);
	move(2, KAR_NODES_HOLDS, 3000); /* one that is bound, or gives back, makes no room */
	move(2, KAR_NODES_LEAVES, 4000);
	move(2, KAR_NODES_NONE, 5000);
	assert_int_equal(look(0, 5999).room, 4000);
}

static void who_is_in_the_line_knows_it(void **state)
{
	(void)state;
	assert_false(look(0, 1000).stands);
	move(0, KAR_NODES_HOLDS, 1000);
	assert_true(look(0, 1000).stands);
	move(0, KAR_NODES_NONE, 2000);
	assert_false(look(0, 2000).stands);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(alone_nobody_is_in_the_way),
		TEST(priority_goes_before_age),
		TEST(who_never_had_a_node_holds_up_nobody),
		TEST(newcomer_sees_who_goes_first),
		TEST(first_is_woken_when_a_rival_comes),
		TEST(next_is_woken_when_the_first_has_its_nodes),
		TEST(lost_turn_goes_behind_all),
		TEST(lost_turn_goes_behind_one_that_has_lost_more),
		TEST(newcomers_do_not_overtake_for_ever),
		TEST(newcomers_come_behind_who_has_lost_a_turn),
		TEST(who_rests_is_in_nobodys_way),
		TEST(who_leaves_its_nodes_is_in_nobodys_way),
		TEST(turn_begins_when_the_others_have_given_back),
		TEST(turn_begins_with_the_first_rival),
		TEST(turn_of_the_next_begins_anew),
		TEST(turn_does_not_last_for_ever),
		TEST(others_are_not_known_at_once),
		TEST(who_let_others_pass_knows_when),
		TEST(room_is_when_a_job_has_ended),
		TEST(who_is_in_the_line_knows_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
