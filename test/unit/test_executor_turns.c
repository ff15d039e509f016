/* The executor with one write at a time: whose goes out next. */
#include "executor_bench.h"

#include <bsd/string.h>

static int set_up_narrow(void **state)
{
	const struct kar_executor_options one = { .max_in_flight = 1 };
	struct bench *b;

	set_up(state);
	b = *state;
	kar_executor_free(b->x);
	b->x = kar_executor_new(b->loop, &b->fake->client, b->recorder, &one, on_applied, b);
	return 0;
}

/* --- plans as text ------------------------------------------------------------------------------- */

/* "+": a higher priority; "s": an urgent status; else the name of an object, whose first letter says what is done with it. */
static void add_word(struct job *j, const char *word)
{
	char *name = kar_arena_strndup(&j->s.arena, word, strlen(word)), *ns = strchr(name, '@');
	struct kar_action *a;

	if (strcmp(word, "+") == 0) {
		j->s.plan.priority++;
		return;
	}
	if (strcmp(word, "s") == 0) {
		j->s.plan.status = "new";
		j->s.plan.urgent = true;
		return;
	}
	if (ns)
		*ns++ = '\0';
	a = add(j, name[0] == 'd' ? KAR_DELETE : name[0] == 'b' ? KAR_PATCH : KAR_CREATE, name);
	a->ns = ns;
	a->rank.priority = name[0] == 'm' || name[0] == 'x' ? j->s.plan.priority : 0;
	a->rank.tier = name[0] == 'm' ? KAR_TIER_MINIMUM
		: name[0] == 'x'      ? KAR_TIER_EXTRA
		: name[0] == 'b'      ? KAR_TIER_BACKGROUND
				      : KAR_TIER_CONTROL;
}

/* A plan: its key, how many "+" its priority has, and what it does. The object of its key has the last part of that as name. */
static struct job *read_plan(struct bench *b, char *text)
{
	const char *key = strtok_r(text, " ", &text), *slash = strchr(key, '/');
	struct job *j = new_job(b, slash ? slash + 1 : key);

	j->s.key = key;
	for (const char *word; (word = strtok_r(NULL, " ", &text)) != NULL;)
		add_word(j, word);
	return j;
}

/* Answers what is open, one after the other, and tells the names. */
static const char *play_on(struct bench *b, struct kar_buf *out)
{
	char open[256];

	while (*fake_open(b->fake, open, sizeof(open))) {
		const char *slash = strrchr(open, '/'), *space = strrchr(open, ' ');

		kar_buf_printf(out, "%s%s", out->n ? " " : "", (slash > space ? slash : space) + 1);
		answer(b, open);
	}
	return kar_buf_cstr(out);
}

enum { PLANS = 8 };

/* Plans come in this order while another write is in flight. d: delete, m: minimum, x: extra, b: background, s: status. */
static const struct {
	const char *name, *plans, *want;
} rows[] = {
	{ "namespaces_take_turns", "a/A d1 d2 d3; b/B d4 d5", "d1 d4 d2 d5 d3" },
	{ "in_a_namespace_first_come_first_served", "a/A d1 d2; a/A2 d3; b/B d4", "d1 d4 d2 d3" },
	{ "many_plans_of_one_namespace_are_one_turn", "a/A d1; a/A2 d2; a/A3 d3; b/B d4 d5",
		"d1 d4 d2 d5 d3" },
	{ "names_of_namespaces_are_compared_whole", "a/A d1 d2; ab/B d3; a-b/C d4", "d1 d3 d4 d2" },
	{ "status_is_stored_before_anything_is_done", "a/A s d1; b/B s d2", "A B d1 d2" },
	{ "flood_of_statuses_does_not_hold_up_pods", "a/A s; a/A2 s; a/A3 s; b/B m1 m2", "A m1 A2 m2 A3" },
	{ "nor_extras", "a/A d1 d2 d3; b/B x1 x2", "d1 x1 d2 x2 d3" },
	{ "nor_do_pods_hold_up_a_status", "a/A m1 m2 m3 m4; b/B s", "B m1 m2 m3 m4" },
	{ "among_pods_no_turns_but_the_order_of_keys", "a/A m1 m2; b/B m3", "m1 m2 m3" },
	{ "in_a_namespace_control_writes_go_by_priority", "a/A d1 d2; a/A2 + d3 d4; a/A3 + s",
		"d3 d4 A3 d1 d2" },
	{ "but_not_over_namespaces", "a/A d1 d2; b/B + d3 d4", "d1 d3 d2 d4" },
	{ "extras_do_not_hold_up_control_writes_of_a_higher_priority", "a/A x1 x2 x3; b/B + d1 d2 d3",
		"d1 d2 d3 x1 x2 x3" },
	{ "nor_do_pods_of_a_minimum", "a/A m1 m2 m3; b/B + d1 d2", "d1 d2 m1 m2 m3" },
	{ "but_those_of_the_same_priority_do", "a/A + x1 x2 x3; b/B + d1 d2 d3", "d1 x1 d2 x2 d3 x3" },
	{ "and_eight_in_a_row_at_most", "a/A x1 x2 x3; b/B + d1 d2 d3 d4 d5 d6 d7 d8 d9 d10",
		"d1 d2 d3 d4 d5 d6 d7 d8 x1 d9 d10 x2 x3" },
	{ "whose_namespace_has_its_turn", "a/A x1 x2 x3; b/B d1 d2; c/C + d3 d4", "d1 d3 d2 d4 x1 x2 x3" },
	{ "background_goes_last", "a/A b1 b2; b/B d1 d2; b/B2 x1 x2", "d1 x1 d2 x2 b1 b2" },
	{ "namespaces_take_turns_in_the_background", "a/A b1 b2; b/B b3", "b1 b3 b2" },
	{ "plan_for_all_is_fair_to_all", "all d1@a d2@a d3@b d4; a/A d5 d6", "d1 d5 d3 d6 d4 d2" },
	{ "and_keeps_the_background_for_the_end", "all b1@a d1@b b2@a d2@b", "d1 d2 b1 b2" },
};

static void writes_go_out_in_turn(void **state)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct bench *b = *state;
		char text[256], *rest = text, hold[] = "hold/h d0";
		struct job *jobs_of[PLANS] = { read_plan(b, hold) };
		struct kar_buf got = { 0 };
		size_t n = 1;

		kar_executor_start(b->x, &jobs_of[0]->s);
		strlcpy(text, rows[i].plans, sizeof(text));
		for (char *plan; (plan = strtok_r(NULL, ";", &rest)) != NULL; n++) {
			jobs_of[n] = read_plan(b, plan);
			kar_executor_start(b->x, &jobs_of[n]->s);
		}
		answer(b, "delete pods d0");
		if (strcmp(play_on(b, &got), rows[i].want))
			fail_msg("%s: %s, want %s", rows[i].name, kar_buf_cstr(&got), rows[i].want);
		kar_buf_release(&got);
		while (n)
			free_job(jobs_of[--n]);
		tear_down(state);
		set_up_narrow(state);
	}
}

/* --- what a plan for all namespaces leaves to the next ------------------------------------------- */

static struct job *start_for_all(struct bench *b, enum kar_tier tier, kar_time firm)
{
	struct job *j = new_job(b, "all");

	kar_workqueue_add(b->controller.queue, "all");
	(void)kar_workqueue_take(b->controller.queue, 0);
	j->s.mono = kar_loop_mono(b->loop) - (firm < 0 ? 0 : firm);
	for (int i = 0; i < 60; i++) {
		struct kar_action *a = add(j, KAR_PATCH, kar_arena_printf(&j->s.arena, "g%d", i));

		a->rank.tier = tier;
		a->firm = firm >= 0 && i < 30;
	}
	kar_executor_start(b->x, &j->s);
	return j;
}

static const struct {
	const char *name;
	enum kar_tier tier;
	kar_time firm; /* ms since the plan was made, of which 30 actions are firm; -1: none is */
	bool changed;
	int written;
} shares[] = {
	{ "nothing_has_changed", KAR_TIER_CONTROL, -1, false, 60 },
	{ "something_has_changed", KAR_TIER_CONTROL, -1, true, 16 },
	{ "what_is_firm_is_sent_and_no_share", KAR_TIER_CONTROL, 0, true, 46 },
	{ "for_a_while", KAR_TIER_CONTROL, 10000, true, 16 },
	{ "the_background_is_decided_anew_by_its_own_key", KAR_TIER_BACKGROUND, -1, true, 60 },
};

static void large_plan_for_all_does_not_hold_up_the_next(void **state)
{
	struct bench *b = *state;

	for (size_t i = 0; i < KAR_LEN(shares); i++) {
		struct job *j = start_for_all(b, shares[i].tier, shares[i].firm);
		struct kar_buf got = { 0 };

		b->wrote = b->applied = 0;
		if (shares[i].changed)
			kar_workqueue_add(b->controller.queue, "all");
		play_on(b, &got);
		assert_int_equal(b->applied, 1);
		assert_int_equal(b->outcome.what, KAR_OK);
		if (b->wrote != shares[i].written)
			fail_msg("%s: %d were written", shares[i].name, b->wrote);
		kar_workqueue_done(b->controller.queue, "all");
		if (shares[i].changed)
			kar_workqueue_done(b->controller.queue, kar_workqueue_take(b->controller.queue, 0));
		kar_buf_release(&got);
		free_job(j);
	}
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up_narrow, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(writes_go_out_in_turn),
		TEST(large_plan_for_all_does_not_hold_up_the_next),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
