#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <time.h>

#include <cmocka.h>

#include "common/loop/clock.h"

static void wall_is_the_time_of_day(void **state)
{
	kar_time before = (kar_time)time(NULL) * KAR_SECOND;
	kar_time wall = kar_clock_wall();
	int64_t micros = kar_clock_wall_micros();
	kar_time after = (kar_time)(time(NULL) + 1) * KAR_SECOND;

	(void)state;
	/* time() may be a few ms behind, as it reads a coarse clock. */
	assert_in_range(wall, before - 100, after + 100);
	assert_in_range(micros / 1000, wall, after + 100);
}

static void mono_goes_forward(void **state)
{
	kar_time last = kar_clock_mono(), end = last + 20;

	(void)state;
	assert_true(last > 0);
	while (last < end) {
		kar_time now = kar_clock_mono();

		assert_true(now >= last);
		last = now;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wall_is_the_time_of_day),
		cmocka_unit_test(mono_goes_forward),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
