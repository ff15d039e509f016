/* Times and durations: what is read prints and reads again as the same second, or is refused. */
#include <stdlib.h>
#include <string.h>

#include "common/base/timefmt.h"
#include "test/fuzz/fuzz.h"

/* What can be written: an offset or a leap second may lead out of the years 0 to 9999. */
static bool is_printable(kar_time t)
{
	kar_time first, last;

	FUZZ_CHECK(kar_time_parse("0000-01-01T00:00:00Z", &first) == 0, "no year 0");
	FUZZ_CHECK(kar_time_parse("9999-12-31T23:59:59.999Z", &last) == 0, "no year 9999");
	return t >= first && t <= last;
}

/* The same clock elsewhere: an hour and a half ahead of or behind UTC. */
static void check_offset(kar_time t)
{
	static const char *const zones[] = { "+01:30", "-01:30" };
	static const kar_time earlier[] = { 90 * KAR_MINUTE, -90 * KAR_MINUTE };
	char text[2 * KAR_TIME_LEN];
	kar_time there;

	for (size_t i = 0; i < KAR_LEN(zones); i++) {
		kar_time_format(t, text);
		strcpy(strchr(text, 'Z'), zones[i]);
		FUZZ_CHECK(kar_time_parse(text, &there) == 0, "%s is no time", text);
		FUZZ_CHECK(there == t - t % KAR_SECOND - (t % KAR_SECOND < 0 ? KAR_SECOND : 0) - earlier[i],
			"%s is %lld ms", text, (long long)there);
	}
}

static void check_time(const char *text)
{
	char printed[KAR_TIME_LEN];
	kar_time t, again;

	if (kar_time_parse(text, &t) || !is_printable(t))
		return;
	kar_time_format(t, printed);
	FUZZ_CHECK(kar_time_parse(printed, &again) == 0, "%s printed as %s, which is no time", text, printed);
	FUZZ_CHECK(again <= t && t - again < KAR_SECOND, "%s is %lld ms, %s is %lld", text, (long long)t,
		printed, (long long)again);
	kar_time_format_micro(t, printed);
	FUZZ_CHECK(kar_time_parse(printed, &again) == 0 && again == t, "%s became %s", text, printed);
	check_offset(t);
}

static void check_duration(const char *text)
{
	char printed[KAR_TIME_LEN];
	kar_time d;

	if (kar_duration_parse(text, &d))
		return;
	FUZZ_CHECK(d >= 0, "%s is %lld ms", text, (long long)d);
	FUZZ_CHECK(*kar_duration_format(d, printed), "%s prints as nothing", text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *text = fuzz_text(data, n);

	check_time(text);
	check_duration(text);
	free(text);
	return 0;
}
