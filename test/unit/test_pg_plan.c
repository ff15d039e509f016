/* The text of a plan (api/podgroup/pg_plan.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/podgroup/pg_plan.h"
#include "common/base/buf.h"

static const char *print(const struct kar_pg_seats *s, struct kar_arena *a)
{
	const char *text = "";

	for (size_t i = 0; i < s->n; i++)
		text = kar_arena_printf(a, "%s%s%s=%d", text, i ? " " : "", s->items[i].node,
			(int)s->items[i].n);
	return text;
}

static const struct {
	const char *nodes, *seats, *written; /* written: NULL: as .nodes */
} rows[] = {
	{ "", "", NULL },
	{ "n1", "n1=1", NULL },
	{ "n1*4 n2", "n1=4 n2=1", NULL },
	{ "*3 n1", "=3 n1=1", NULL },
	{ "*1", "=1", NULL },
	{ "n2  n1 n2*2", "n2=1 n1=1 n2=2", "n2 n1 n2*2" },
	{ "n2 n2*2 n1", "n2=3 n1=1", "n2*3 n1" },
	{ "n1*0", "", "" },
	{ "n1*x n2", "", "" },
	{ "n1*", "", "" },
	{ "*", "", "" },
	{ "n1*99999999999", "", "" },
	{ "n1*2147483647 n1", "n1=2147483647", "n1*2147483647" },
};

static void plans_are_read_and_written(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_pg_planned plan = { "w", rows[i].nodes };
		const struct kar_pg_placement p = { .plan = &plan, .n_plan = 1 };
		struct kar_arena a = { 0 };
		struct kar_pg_seats s = kar_pg_plan_seats(&p, "w", &a);

		assert_string_equal(print(&s, &a), rows[i].seats);
		assert_string_equal(kar_pg_plan_text(s.items, s.n, &a),
			rows[i].written ? rows[i].written : rows[i].nodes);
		assert_int_equal(kar_pg_plan_seats(&p, "v", &a).n, 0);
		kar_arena_release(&a);
	}
}

static void seats_are_taken_once(void **state)
{
	struct kar_pg_planned plan = { "w", "n1*2 n2" };
	const struct kar_pg_placement p = { .plan = &plan, .n_plan = 1 };
	struct kar_arena a = { 0 };
	struct kar_pg_seats s = kar_pg_plan_seats(&p, "w", &a);

	(void)state;
	assert_true(kar_pg_seats_take(&s, "n1"));
	assert_true(kar_pg_seats_take(&s, "n1"));
	assert_false(kar_pg_seats_take(&s, "n1"));
	assert_false(kar_pg_seats_take(&s, "n3"));
	assert_true(kar_pg_seats_take(&s, "n2"));
	kar_arena_release(&a);
}

/* The order is that of ranks. */
static void seats_of_a_node_that_comes_back_are_taken_in_order(void **state)
{
	struct kar_pg_planned plan = { "w", "n2*2 n1 n2" };
	const struct kar_pg_placement p = { .plan = &plan, .n_plan = 1 };
	struct kar_arena a = { 0 };
	struct kar_pg_seats s = kar_pg_plan_seats(&p, "w", &a);

	(void)state;
	assert_true(kar_pg_seats_take(&s, "n2"));
	assert_string_equal(print(&s, &a), "n2=1 n1=1 n2=1");
	assert_true(kar_pg_seats_take(&s, "n2"));
	assert_true(kar_pg_seats_take(&s, "n2"));
	assert_string_equal(print(&s, &a), "n2=0 n1=1 n2=0");
	assert_false(kar_pg_seats_take(&s, "n2"));
	assert_string_equal(kar_pg_plan_text(s.items, s.n, &a), "n1");
	kar_pg_seats_sort(s.items, s.n);
	assert_string_equal(print(&s, &a), "n1=1 n2=0 n2=0");
	kar_arena_release(&a);
}

/* 40,000 long names are more than a status takes: the number of pods is left. */
static void long_plan_has_no_nodes(void **state)
{
	enum { N = 40000 };
	struct kar_arena a = { 0 };
	struct kar_pg_seat *seats = kar_arena_alloc(&a, N, sizeof(*seats));

	(void)state;
	for (int i = 0; i < N; i++)
		seats[i] = (struct kar_pg_seat){ kar_arena_printf(&a, "node-%d", i), 2 };
	assert_string_equal(kar_pg_plan_text(seats, N, &a), "*80000");
	kar_arena_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plans_are_read_and_written),
		cmocka_unit_test(seats_are_taken_once),
		cmocka_unit_test(seats_of_a_node_that_comes_back_are_taken_in_order),
		cmocka_unit_test(long_plan_has_no_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
