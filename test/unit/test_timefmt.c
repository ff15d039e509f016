#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/timefmt.h"

static void parse(void **state)
{
	static const struct {
		const char *name, *text;
		int rc;
		kar_time want;
	} rows[] = {
		{ "epoch", "1970-01-01T00:00:00Z", 0, 0 },
		{ "now", "2026-11-21T13:46:27Z", 0, 1795268787000 },
		{ "fraction_then_cut_to_ms", "2026-11-21T13:46:27.123987654Z", 0, 1795268787123 },
		{ "one_digit_fraction", "2026-11-21T13:46:27.5Z", 0, 1795268787500 },
		{ "offset_east", "2026-11-21T15:16:27+01:30", 0, 1795268787000 },
		{ "offset_west", "2026-11-21T05:46:27-08:00", 0, 1795268787000 },
		{ "lower_case", "2026-11-21t13:46:27z", 0, 1795268787000 },
		{ "before_epoch", "1969-12-31T23:59:59.250Z", 0, -750 },
		{ "leap_day", "2024-02-29T00:00:00Z", 0, 1709164800000 },
		{ "leap_day_of_a_400th_year", "2000-02-29T00:00:00Z", 0, 951782400000 },
		{ "leap_second_then_next_minute", "2016-12-31T23:59:60Z", 0, 1483228800000 },
		{ "first_moment", "0000-01-01T00:00:00Z", 0, -62167219200000 },
		{ "last_moment", "9999-12-31T23:59:59.999Z", 0, 253402300799999 },
		{ "no_leap_day", "2026-02-29T00:00:00Z", -1, 0 },
		{ "no_leap_day_in_1900", "1900-02-29T00:00:00Z", -1, 0 },
		{ "month_13", "2026-13-01T00:00:00Z", -1, 0 },
		{ "month_0", "2026-00-01T00:00:00Z", -1, 0 },
		{ "day_0", "2026-01-00T00:00:00Z", -1, 0 },
		{ "day_31_in_april", "2026-04-31T00:00:00Z", -1, 0 },
		{ "hour_24", "2026-01-01T24:00:00Z", -1, 0 },
		{ "minute_60", "2026-01-01T00:60:00Z", -1, 0 },
		{ "second_61", "2026-01-01T00:00:61Z", -1, 0 },
		{ "offset_hour_24", "2026-01-01T00:00:00+24:00", -1, 0 },
		{ "no_zone", "2026-01-01T00:00:00", -1, 0 },
		{ "space_instead_of_t", "2026-01-01 00:00:00Z", -1, 0 },
		{ "point_without_digits", "2026-01-01T00:00:00.Z", -1, 0 },
		{ "trailing_text", "2026-01-01T00:00:00Z ", -1, 0 },
		{ "short_year", "206-01-01T00:00:00Z", -1, 0 },
		{ "signs", "+026-01-01T00:00:00Z", -1, 0 },
		{ "date_only", "2026-01-01", -1, 0 },
		{ "empty", "", -1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		kar_time got = 42;
		int rc = kar_time_parse(rows[i].text, &got);

		if (rc != rows[i].rc || got != (rc ? 42 : rows[i].want))
			fail_msg("%s: %d, %jd", rows[i].name, rc, (intmax_t)got);
	}
}

static void format(void **state)
{
	static const struct {
		kar_time wall;
		const char *seconds, *micros;
	} rows[] = {
		{ 0, "1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000000Z" },
		{ 1795268787123, "2026-11-21T13:46:27Z", "2026-11-21T13:46:27.123000Z" },
		{ -1, "1969-12-31T23:59:59Z", "1969-12-31T23:59:59.999000Z" },
		{ KAR_NEVER, "9999-12-31T23:59:59Z", "9999-12-31T23:59:59.999000Z" },
		{ INT64_MIN, "0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000000Z" },
	};
	char out[KAR_TIME_LEN];

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		assert_string_equal(kar_time_format(rows[i].wall, out), rows[i].seconds);
		assert_string_equal(kar_time_format_micro(rows[i].wall, out), rows[i].micros);
	}
}

/* Property: every moment survives being written and read, over all years, days and times of day. */
static void every_moment_reads_back(void **state)
{
	char text[KAR_TIME_LEN];

	(void)state;
	for (kar_time t = -62167219200000; t <= 253402300799999; t += 86399 * KAR_SECOND * 17 + 1013) {
		kar_time got = 0;

		if (kar_time_parse(kar_time_format_micro(t, text), &got) != 0 || got != t)
			fail_msg("%jd written as %s reads as %jd", (intmax_t)t, text, (intmax_t)got);
	}
}

static void durations(void **state)
{
	static const struct {
		kar_time ms;
		const char *want;
	} rows[] = {
		{ 0, "0s" },
		{ 999, "0s" },
		{ 3000, "3s" },
		{ 59999, "59s" },
		{ 60000, "1m" },
		{ 320000, "5m20s" },
		{ 3600000, "1h" },
		{ 3600000 + 59000, "1h" },
		{ 7500000, "2h5m" },
		{ 86400000, "1d" },
		{ 76 * 3600000, "3d4h" },
		{ 400 * KAR_SECOND * 86400, "400d" },
		{ KAR_NEVER, "106751991167d7h" },
	};
	char out[KAR_TIME_LEN];

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++)
		assert_string_equal(kar_duration_format(rows[i].ms, out), rows[i].want);
}

static void parse_durations(void **state)
{
	static const struct {
		const char *text;
		int rc;
		kar_time want;
	} rows[] = {
		{ "90s", 0, 90000 },
		{ "5m", 0, 300000 },
		{ "1h30m", 0, 5400000 },
		{ "250ms", 0, 250 },
		{ "90", 0, 90000 },
		{ "0", 0, 0 },
		{ "0s", 0, 0 },
		{ "1.5h", 0, 5400000 },
		{ ".5s", 0, 500 },
		{ "0.3s", 0, 300 },
		{ "1.s", 0, 1000 },
		{ "1m0.25s", 0, 60250 },
		{ "1500us", 0, 1 },
		{ "1500\xC2\xB5s", 0, 1 },
		{ "999999ns", 0, 0 },
		{ "1h1m1s1ms", 0, 3661001 },
		{ "2562047h", 0, (kar_time)2562047 * 3600000 },
		{ "0.123456789012345678901234567890s", 0, 123 },
		{ "2562048h", -1, 0 },
		{ "9223372036854775807", -1, 0 },
		{ "99999999999999999999", -1, 0 },
		{ "99999999999999999999s", -1, 0 },
		{ "-5s", -1, 0 },
		{ "+5s", -1, 0 },
		{ "5", 0, 5000 },
		{ "5x", -1, 0 },
		{ "5s5", -1, 0 },
		{ "1.5", -1, 0 },
		{ "s", -1, 0 },
		{ ".s", -1, 0 },
		{ " 5s", -1, 0 },
		{ "5s ", -1, 0 },
		{ "", -1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		kar_time got = 42;
		int rc = kar_duration_parse(rows[i].text, &got);

		if (rc != rows[i].rc || got != (rc ? 42 : rows[i].want))
			fail_msg("\"%s\": %d, %jd", rows[i].text, rc, (intmax_t)got);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parse),
		cmocka_unit_test(format),
		cmocka_unit_test(every_moment_reads_back),
		cmocka_unit_test(durations),
		cmocka_unit_test(parse_durations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
