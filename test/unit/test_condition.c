/* metav1.Condition lists: one per type, and a time that moves only with the status. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/status/condition.h"
#include "common/codec/json.h"

static const kar_time t0 = 1795268787123;
static struct kar_arena arena;

static int teardown(void **state)
{
	(void)state;
	kar_arena_release(&arena);
	return 0;
}

static void set(struct kar_conditions *list, const char *type, enum kar_condition_status status,
	const char *reason, kar_time now)
{
	const struct kar_condition c = { .type = type, .status = status, .reason = reason, .message = "" };

	kar_condition_set(list, &c, now, &arena);
}

static kar_time since(const struct kar_conditions *list, const char *type)
{
	return kar_condition_find(list, type)->last_transition;
}

static void time_moves_only_with_the_status(void **state)
{
	struct kar_conditions list = { 0 };

	(void)state;
	set(&list, "Formed", KAR_COND_FALSE, "Starting", t0);
	assert_int_equal(since(&list, "Formed"), t0 - 123); /* whole seconds, as the API keeps them */
	set(&list, "Formed", KAR_COND_FALSE, "Waiting", t0 + 5000);
	assert_int_equal(since(&list, "Formed"), t0 - 123);
	assert_string_equal(kar_condition_find(&list, "Formed")->reason, "Waiting");
	set(&list, "Formed", KAR_COND_TRUE, "QuorumReached", t0 + 5000);
	assert_int_equal(since(&list, "Formed"), t0 + 5000 - 123);
	assert_int_equal(list.n, 1);
}

static void order_is_that_of_first_appearance(void **state)
{
	struct kar_conditions list = { 0 };

	(void)state;
	for (int round = 0; round < 2; round++) {
		set(&list, "A", KAR_COND_TRUE, "X", t0);
		set(&list, "B", KAR_COND_TRUE, "X", t0);
		set(&list, "C", KAR_COND_FALSE, "X", t0);
	}
	assert_int_equal(list.n, 3);
	assert_string_equal(list.items[0].type, "A");
	assert_string_equal(list.items[2].type, "C");
	assert_true(kar_condition_is_true(&list, "B"));
	assert_false(kar_condition_is_true(&list, "C"));
	assert_false(kar_condition_is_true(&list, "D"));
	assert_null(kar_condition_find(&list, "D"));
}

static void setting_a_copy_leaves_the_original(void **state)
{
	struct kar_conditions list = { 0 }, copy;

	(void)state;
	set(&list, "A", KAR_COND_TRUE, "X", t0);
	copy = kar_conditions_copy(&list, &arena);
	assert_true(kar_conditions_equal(&list, &copy));
	set(&copy, "A", KAR_COND_FALSE, "Y", t0);
	set(&copy, "B", KAR_COND_TRUE, "Y", t0);
	assert_int_equal(list.n, 1);
	assert_true(kar_condition_is_true(&list, "A"));
	assert_false(kar_conditions_equal(&list, &copy));
}

static void every_member_matters_for_equality(void **state)
{
	const struct kar_condition base = { "A", KAR_COND_TRUE, 3, t0, "R", "m" };
	struct kar_condition other[] = { base, base, base, base, base, base };
	const struct kar_conditions a = { .items = (struct kar_condition[]){ base }, .n = 1 };

	(void)state;
	other[0].type = "B";
	other[1].status = KAR_COND_UNKNOWN;
	other[2].observed_generation = 4;
	other[3].last_transition++;
	other[4].reason = "S";
	other[5].message = "n";
	for (size_t i = 0; i < KAR_LEN(other); i++) {
		const struct kar_conditions b = { .items = &other[i], .n = 1 };

		if (kar_conditions_equal(&a, &b))
			fail_msg("member %zu is not looked at", i);
	}
}

static void wire_keeps_the_first_of_a_type(void **state)
{
	struct kar_wire_condition items[] = {
		{ .type = "A", .status = "True", .reason = "R", .message = NULL, .last_transition = t0 },
		{ .type = NULL, .status = "True" },
		{ .type = "A", .status = "False" },
		{ .type = "B", .status = "maybe" },
	};
	const struct kar_array wire = { .items = items, .n = KAR_LEN(items) };
	struct kar_conditions list = kar_conditions_from_wire(&wire, &arena);

	(void)state;
	assert_int_equal(list.n, 2);
	assert_true(kar_condition_is_true(&list, "A"));
	assert_string_equal(list.items[0].message, "");
	assert_int_equal(list.items[1].status, KAR_COND_UNKNOWN);
	set(&list, "C", KAR_COND_TRUE, "X", t0); /* a decoded list may grow */
	set(&list, "D", KAR_COND_TRUE, "X", t0);
	assert_int_equal(list.n, 4);
}

static void list_is_written_as_an_array(void **state)
{
	struct kar_conditions list = { 0 };
	struct kar_buf out = { 0 };
	struct kar_json_writer w;

	(void)state;
	set(&list, "Formed", KAR_COND_TRUE, "QuorumReached", t0);
	kar_json_writer_init(&w, &out);
	kar_conditions_write(&w, &list);
	kar_json_writer_release(&w);
	assert_string_equal(kar_buf_cstr(&out),
		"[{\"type\":\"Formed\",\"status\":\"True\",\"observedGeneration\":0,"
		"\"lastTransitionTime\":\"2026-11-21T13:46:27Z\",\"reason\":\"QuorumReached\",\"message\":\"\"}]");
	kar_buf_release(&out);
}

static void news_is_another_status_or_reason(void **state)
{
	static const struct {
		const char *name, *old_reason, *reason;
		enum kar_condition_status old_status, status;
		bool news;
	} rows[] = {
		{ "same", "R", "R", KAR_COND_FALSE, KAR_COND_FALSE, false },
		{ "other_status", "R", "R", KAR_COND_FALSE, KAR_COND_TRUE, true },
		{ "other_reason", "R", "S", KAR_COND_FALSE, KAR_COND_FALSE, true },
		{ "appears", NULL, "R", 0, KAR_COND_FALSE, true },
		{ "goes", "R", NULL, KAR_COND_FALSE, 0, true },
		{ "in_neither", NULL, NULL, 0, 0, false },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_conditions old = { 0 }, new = { 0 };

		if (rows[i].old_reason)
			set(&old, "A", rows[i].old_status, rows[i].old_reason, t0);
		if (rows[i].reason)
			set(&new, "A", rows[i].status, rows[i].reason, t0 + 5000);
		if (kar_condition_is_news(&old, &new, "A") != rows[i].news)
			fail_msg("%s: want %d", rows[i].name, rows[i].news);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(time_moves_only_with_the_status, teardown),
		cmocka_unit_test_teardown(news_is_another_status_or_reason, teardown),
		cmocka_unit_test_teardown(order_is_that_of_first_appearance, teardown),
		cmocka_unit_test_teardown(setting_a_copy_leaves_the_original, teardown),
		cmocka_unit_test_teardown(every_member_matters_for_equality, teardown),
		cmocka_unit_test_teardown(wire_keeps_the_first_of_a_type, teardown),
		cmocka_unit_test_teardown(list_is_written_as_an_array, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
