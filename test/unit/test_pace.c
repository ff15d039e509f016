/* When status writes go out: one object's interval, and the budget that counters share. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "controllers/pace.h"

static const struct {
	const char *name;
	kar_time written;
	bool counters;
	kar_time now, want;
} rows[] = {
	{ "first_write_goes_out", 0, false, 5000, 0 },
	{ "within_the_interval_it_waits_for_the_rest", 4400, false, 5000, 400 },
	{ "at_the_end_of_the_interval_it_goes_out", 4000, false, 5000, 0 },
	{ "counters_wait_for_the_interval_too", 4400, true, 5000, 400 },
	{ "counters_go_out_while_there_is_budget", 4000, true, 5000, 0 },
};

static void one_object(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_pace p = { .interval = 1000, .rate = 10 };
		kar_time got = kar_pace_delay(&p, rows[i].written, rows[i].counters, rows[i].now);

		if (got != rows[i].want)
			fail_msg("%s: %d ms, want %d", rows[i].name, (int)got, (int)rows[i].want);
	}
}

/* How many of 100 objects may write their counters at @now. */
static int allowed(struct kar_pace *p, kar_time now)
{
	int n = 0;

	for (int i = 0; i < 100; i++)
		n += kar_pace_delay(p, 1, true, now) == 0;
	return n;
}

static void counters_of_all_objects_share_a_budget(void **state)
{
	struct kar_pace p = { .interval = 1000, .rate = 10 };

	(void)state;
	assert_int_equal(allowed(&p, 5000), 10);
	assert_int_equal(allowed(&p, 5000), 0);
	assert_int_equal(allowed(&p, 5100), 1);
	assert_int_equal(allowed(&p, 5500), 4);
	assert_int_equal(allowed(&p, 60000), 10); /* a quiet minute saves up no more than a second's worth */
}

static void stories_do_not_spend_the_budget(void **state)
{
	struct kar_pace p = { .interval = 1000, .rate = 10 };

	(void)state;
	assert_int_equal(allowed(&p, 5000), 10);
	assert_int_equal(kar_pace_delay(&p, 1, false, 5000), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_object),
		cmocka_unit_test(counters_of_all_objects_share_a_budget),
		cmocka_unit_test(stories_do_not_spend_the_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
