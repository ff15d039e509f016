/* Plans as text, and the order in which waiting writes go out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "controllers/runtime/plan.h"

static const struct kar_type pods = { .res = { "", "v1", "pods", "Pod", true } };

static void prints_everything_it_holds(void **state)
{
	struct kar_arena arena = { 0 };
	struct kar_plan p;
	struct kar_buf out = { 0 };
	struct kar_action *a;

	(void)state;
	kar_plan_init(&p, &arena);
	p.status = "";
	p.status_text = "phase=Starting";
	kar_plan_event(&p, true, "Restarting", "Restart", "pod %s failed", "j-w-0");
	a = kar_plan_add(&p, KAR_CREATE, &pods, "default", "j-w-0");
	a->note = "task=w index=0";
	a = kar_plan_add(&p, KAR_PATCH, &pods, "default", "j-w-1");
	a->subresource = "status";
	kar_plan_requeue(&p, 10 * KAR_SECOND);
	kar_plan_requeue(&p, 20 * KAR_SECOND);
	kar_plan_print(&p, &out);
	assert_string_equal(kar_buf_cstr(&out),
		"status phase=Starting; event Warning Restarting: pod j-w-0 failed; "
		"create pods default/j-w-0 (task=w index=0); patch pods/status default/j-w-1; requeue 10s");
	kar_buf_release(&out);
	kar_arena_release(&arena);
}

static void prints_nothing_when_there_is_nothing_to_do(void **state)
{
	struct kar_arena arena = { 0 };
	struct kar_plan p;
	struct kar_buf out = { 0 };

	(void)state;
	kar_plan_init(&p, &arena);
	kar_plan_print(&p, &out);
	assert_string_equal(kar_buf_cstr(&out), "");
	kar_arena_release(&arena);
}

static void knows_whether_it_has_an_action(void **state)
{
	struct kar_arena arena = { 0 };
	struct kar_plan p;

	(void)state;
	kar_plan_init(&p, &arena);
	assert_false(kar_plan_has(&p, 0));
	kar_plan_add(&p, KAR_PATCH, &pods, "default", "a")->what = 1;
	kar_plan_add(&p, KAR_PATCH, &pods, "default", "b")->what = 3;
	assert_false(kar_plan_has(&p, 0));
	assert_true(kar_plan_has(&p, 1));
	assert_false(kar_plan_has(&p, 2));
	assert_true(kar_plan_has(&p, 3));
	kar_arena_release(&arena);
}

/* In each row the first write goes out before the second. */
static const struct {
	const char *name;
	struct kar_rank first;
	const char *first_key;
	struct kar_rank second;
	const char *second_key;
} order_rows[] = {
	{ "control_before_any_pod", { KAR_TIER_CONTROL, 0, 9, 0 }, "z", { KAR_TIER_MINIMUM, 1000, 1, 0 },
		"a" },
	{ "every_minimum_before_any_extra", { KAR_TIER_MINIMUM, -5, 9, 99 }, "z",
		{ KAR_TIER_EXTRA, 1000, 1, 0 }, "a" },
	{ "minimum_by_priority", { KAR_TIER_MINIMUM, 10, 9, 7 }, "z", { KAR_TIER_MINIMUM, 5, 1, 0 }, "a" },
	{ "minimum_by_age_then", { KAR_TIER_MINIMUM, 10, 1, 7 }, "z", { KAR_TIER_MINIMUM, 10, 2, 0 }, "a" },
	{ "minimum_by_key_then", { KAR_TIER_MINIMUM, 10, 1, 7 }, "a", { KAR_TIER_MINIMUM, 10, 1, 0 }, "b" },
	{ "minimum_of_one_job_in_its_order", { KAR_TIER_MINIMUM, 10, 1, 6 }, "a",
		{ KAR_TIER_MINIMUM, 10, 1, 7 }, "a" },
	{ "extras_in_rounds_whatever_the_priority", { KAR_TIER_EXTRA, 0, 9, 1 }, "z",
		{ KAR_TIER_EXTRA, 10, 1, 2 }, "a" },
	{ "extras_of_a_round_by_priority", { KAR_TIER_EXTRA, 10, 9, 1 }, "z", { KAR_TIER_EXTRA, 0, 1, 1 },
		"a" },
};

static void orders_waiting_writes(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(order_rows); i++) {
		int forth = kar_rank_compare(&order_rows[i].first, order_rows[i].first_key,
			&order_rows[i].second, order_rows[i].second_key);
		int back = kar_rank_compare(&order_rows[i].second, order_rows[i].second_key,
			&order_rows[i].first, order_rows[i].first_key);

		if (forth >= 0 || back <= 0)
			fail_msg("%s: compares %d and back %d", order_rows[i].name, forth, back);
	}
}

static void control_writes_have_no_order_but_priority(void **state)
{
	const struct kar_rank a = { KAR_TIER_CONTROL, 1, 2, 3 }, b = { KAR_TIER_CONTROL, 1, 5, 6 },
			      high = { KAR_TIER_CONTROL, 4, 5, 6 };

	(void)state;
	assert_true(kar_rank_compare(&high, "b", &a, "a") < 0);
	assert_int_equal(kar_rank_compare(&a, "a", &b, "b"), 0);
}

/* Actions as "namespace/name", those of the background as "-namespace/name", firm ones as "+namespace/name". */
static const struct {
	const char *name, *before, *after;
} turn_rows[] = {
	{ "nothing", "", "" },
	{ "one_namespace_stays_in_its_order", "a/3 a/1 a/2", "a/3 a/1 a/2" },
	{ "one_for_each_first", "a/1 a/2 a/3 b/1 c/1 b/2", "a/1 b/1 c/1 a/2 b/2 a/3" },
	{ "without_a_namespace_is_one_too", "a/1 a/2 /1 /2", "a/1 /1 a/2 /2" },
	{ "firm_first", "a/1 a/2 +b/1 +a/3 +b/2", "b/1 a/3 b/2 a/1 a/2" },
	{ "background_last", "-a/1 a/1 -a/2 a/2 -b/1 b/1", "a/1 b/1 a/2 -a/1 -b/1 -a/2" },
};

static void namespaces_take_turns(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(turn_rows); i++) {
		struct kar_arena arena = { 0 };
		struct kar_plan p;
		struct kar_buf got = { 0 };
		char *rest = kar_arena_strndup(&arena, turn_rows[i].before, strlen(turn_rows[i].before));

		kar_plan_init(&p, &arena);
		for (char *word; (word = strtok_r(NULL, " ", &rest)) != NULL;) {
			char *ns = word + (*word == '-' || *word == '+'), *slash = strchr(word, '/');
			struct kar_action *a =
				kar_plan_add(&p, KAR_PATCH, &pods, *ns == '/' ? NULL : ns, slash + 1);

			a->firm = *word == '+';
			a->rank.tier = *word == '-' ? KAR_TIER_BACKGROUND : KAR_TIER_CONTROL;
			*slash = '\0';
		}
		kar_plan_take_turns(&p);
		for (size_t k = 0; k < p.n_actions; k++)
			kar_buf_printf(&got, "%s%s%s/%s", k ? " " : "",
				p.actions[k].rank.tier == KAR_TIER_BACKGROUND ? "-" : "",
				p.actions[k].ns ? p.actions[k].ns : "", p.actions[k].name);
		if (strcmp(kar_buf_cstr(&got), turn_rows[i].after))
			fail_msg("%s: %s", turn_rows[i].name, kar_buf_cstr(&got));
		kar_buf_release(&got);
		kar_arena_release(&arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prints_everything_it_holds),
		cmocka_unit_test(prints_nothing_when_there_is_nothing_to_do),
		cmocka_unit_test(knows_whether_it_has_an_action),
		cmocka_unit_test(orders_waiting_writes),
		cmocka_unit_test(namespaces_take_turns),
		cmocka_unit_test(control_writes_have_no_order_but_priority),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
