#include "common/base/timefmt.h"

#include <stdio.h>
#include <string.h>

enum {
	SECONDS_PER_DAY = 86400,
	DAYS_PER_400_YEARS = 146097,
	NS_PER_MS = 1000000,
	EPOCH_DAYS = 719468, /* from 0000-03-01 to 1970-01-01 */
	MAX_SCALE = 1000000, /* fraction digits of a duration that count, as a power of ten */
};

/* The moments that RFC 3339 can write: years 0000 to 9999. */
static const kar_time first_time = -62167219200 * KAR_SECOND;
static const kar_time last_time = 253402300799 * KAR_SECOND + 999;

struct civil {
	int year, month, day, hour, minute, second;
};

/* Days since the epoch. The year begins in March, so that the leap day comes last. */
static int64_t days_from_civil(int year, int month, int day)
{
	int y = month <= 2 ? year - 1 : year;
	int era = (y >= 0 ? y : y - 399) / 400;
	int year_of_era = y - era * 400;
	int day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
	int day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;

	return (int64_t)era * DAYS_PER_400_YEARS + day_of_era - EPOCH_DAYS;
}

static struct civil civil_from_seconds(int64_t seconds)
{
	int64_t days = seconds / SECONDS_PER_DAY - (seconds % SECONDS_PER_DAY < 0);
	int rest = (int)(seconds - days * SECONDS_PER_DAY);
	int64_t z = days + EPOCH_DAYS;
	int64_t era = (z >= 0 ? z : z - (DAYS_PER_400_YEARS - 1)) / DAYS_PER_400_YEARS;
	int doe = (int)(z - era * DAYS_PER_400_YEARS);
	int yoe = (doe - doe / 1460 + doe / 36524 - doe / (DAYS_PER_400_YEARS - 1)) / 365;
	int doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	int march_month = (5 * doy + 2) / 153;
	int month = march_month < 10 ? march_month + 3 : march_month - 9;

	return (struct civil){
		.year = (int)(era * 400) + yoe + (month <= 2),
		.month = month,
		.day = doy - (153 * march_month + 2) / 5 + 1,
		.hour = rest / 3600,
		.minute = rest / 60 % 60,
		.second = rest % 60,
	};
}

static int days_in_month(int year, int month)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return days[month - 1] + (month == 2 && leap);
}

/* Reads exactly @digits digits at *@s into *@out and moves *@s past them. */
static bool number(const char **s, int digits, int *out)
{
	int v = 0;

	for (int i = 0; i < digits; i++, (*s)++) {
		if (**s < '0' || **s > '9')
			return false;
		v = v * 10 + (**s - '0');
	}
	*out = v;
	return true;
}

static bool literal(const char **s, char c)
{
	if (**s != c)
		return false;
	(*s)++;
	return true;
}

static bool date_and_time(const char **s, struct civil *c)
{
	return number(s, 4, &c->year) && literal(s, '-') && number(s, 2, &c->month) && literal(s, '-') &&
		number(s, 2, &c->day) && (literal(s, 'T') || literal(s, 't')) && number(s, 2, &c->hour) &&
		literal(s, ':') && number(s, 2, &c->minute) && literal(s, ':') && number(s, 2, &c->second);
}

static bool in_range(const struct civil *c)
{
	/* A leap second (60) is the first second of the next minute. */
	return c->month >= 1 && c->month <= 12 && c->day >= 1 && c->day <= days_in_month(c->year, c->month) &&
		c->hour <= 23 && c->minute <= 59 && c->second <= 60;
}

/* ".123456" to whole ms; further digits are dropped. */
static bool fraction(const char **s, int *ms)
{
	int scale = 100;

	*ms = 0;
	if (!literal(s, '.'))
		return true;
	if (**s < '0' || **s > '9')
		return false;
	for (; **s >= '0' && **s <= '9'; (*s)++) {
		*ms += scale * (**s - '0');
		scale /= 10;
	}
	return true;
}

static bool zone(const char **s, int *offset_minutes)
{
	int hours, minutes;
	int sign = **s == '-' ? -1 : 1;

	*offset_minutes = 0;
	if (literal(s, 'Z') || literal(s, 'z'))
		return true;
	if (!literal(s, '+') && !literal(s, '-'))
		return false;
	if (!number(s, 2, &hours) || !literal(s, ':') || !number(s, 2, &minutes) || hours > 23 ||
		minutes > 59)
		return false;
	*offset_minutes = sign * (hours * 60 + minutes);
	return true;
}

int kar_time_parse(const char *s, kar_time *wall)
{
	struct civil c;
	int ms, offset;

	if (!date_and_time(&s, &c) || !in_range(&c) || !fraction(&s, &ms) || !zone(&s, &offset) || *s)
		return -1;
	int64_t seconds = days_from_civil(c.year, c.month, c.day) * SECONDS_PER_DAY + c.hour * 3600 +
		(c.minute - offset) * 60 + c.second;

	*wall = seconds * KAR_SECOND + ms;
	return 0;
}

static const char *format(kar_time wall, bool micro, char out[KAR_TIME_LEN])
{
	kar_time t = wall < first_time ? first_time : wall > last_time ? last_time : wall;
	int ms = (int)((t % KAR_SECOND + KAR_SECOND) % KAR_SECOND);
	struct civil c = civil_from_seconds((t - ms) / KAR_SECOND);
	char tail[sizeof(".000000Z")] = "Z";

	/* The remainders change nothing; they show the compiler how wide each number can be. */
	if (micro)
		snprintf(tail, sizeof(tail), ".%03u000Z", (unsigned)ms % 1000);
	snprintf(out, KAR_TIME_LEN, "%04u-%02u-%02uT%02u:%02u:%02u%s", (unsigned)c.year % 10000,
		(unsigned)c.month % 100, (unsigned)c.day % 100, (unsigned)c.hour % 100,
		(unsigned)c.minute % 100, (unsigned)c.second % 100, tail);
	return out;
}

const char *kar_time_format(kar_time wall, char out[KAR_TIME_LEN])
{
	return format(wall, false, out);
}

const char *kar_time_format_micro(kar_time wall, char out[KAR_TIME_LEN])
{
	return format(wall, true, out);
}

const char *kar_duration_format(kar_time ms, char out[KAR_TIME_LEN])
{
	static const struct {
		const char *unit;
		int64_t seconds;
	} steps[] = { { "d", SECONDS_PER_DAY }, { "h", 3600 }, { "m", 60 }, { "s", 1 } };
	int64_t seconds = ms / KAR_SECOND;
	size_t i = 0;

	while (i + 1 < KAR_LEN(steps) && seconds < steps[i].seconds)
		i++;
	int n = snprintf(out, KAR_TIME_LEN, "%lld%s", (long long)(seconds / steps[i].seconds), steps[i].unit);

	if (n < 0 || i + 1 == KAR_LEN(steps))
		return out;
	int64_t rest = seconds % steps[i].seconds / steps[i + 1].seconds;

	if (rest > 0)
		snprintf(out + n, KAR_TIME_LEN - (size_t)n, "%lld%s", (long long)rest, steps[i + 1].unit);
	return out;
}

/* Nanoseconds of the unit at *@s, which is moved past it; 0 if there is none. Longer names come first. */
static int64_t duration_unit(const char **s)
{
	static const struct {
		const char *name;
		int64_t ns;
	} units[] = {
		{ "ns", 1 },
		{ "us", 1000 },
		{ "\xC2\xB5s", 1000 },
		{ "\xCE\xBCs", 1000 },
		{ "ms", 1000000 },
		{ "s", 1000000000 },
		{ "m", 60 * (int64_t)1000000000 },
		{ "h", 3600 * (int64_t)1000000000 },
	};

	for (size_t i = 0; i < KAR_LEN(units); i++) {
		size_t n = strlen(units[i].name);

		if (strncmp(*s, units[i].name, n) == 0) {
			*s += n;
			return units[i].ns;
		}
	}
	return 0;
}

/* Digits at *@s as a number; @scale (if not NULL) is ten to the power of how many were used. */
static bool digits(const char **s, int64_t *value, int64_t *scale)
{
	const char *start = *s;

	*value = 0;
	for (; **s >= '0' && **s <= '9'; (*s)++) {
		if (scale && *scale >= MAX_SCALE)
			continue; /* below 4 ms even in hours */
		if (__builtin_mul_overflow(*value, 10, value) ||
			__builtin_add_overflow(*value, **s - '0', value))
			return false;
		if (scale)
			*scale *= 10;
	}
	return *s != start;
}

/* One "1.5h" of a duration, added to *@ns. */
static bool duration_part(const char **s, int64_t *ns)
{
	int64_t whole = 0, part = 0, scale = 1;
	bool has_whole = **s != '.';

	if (has_whole && !digits(s, &whole, NULL))
		return false;
	if (literal(s, '.')) {
		bool has_part = **s >= '0' && **s <= '9';

		if ((!has_whole && !has_part) || (has_part && !digits(s, &part, &scale)))
			return false;
	}
	int64_t unit = duration_unit(s);

	if (unit == 0 || __builtin_mul_overflow(whole, unit, &whole))
		return false;
	part = part * unit / scale; /* MAX_SCALE hours in ns fit */
	return !__builtin_add_overflow(*ns, whole, ns) && !__builtin_add_overflow(*ns, part, ns);
}

int kar_duration_parse(const char *s, kar_time *ms)
{
	const char *p = s;
	int64_t sum = 0;

	if (*s == '\0')
		return -1;
	if (digits(&p, &sum, NULL) && *p == '\0') {
		if (__builtin_mul_overflow(sum, KAR_SECOND, &sum))
			return -1;
		*ms = sum;
		return 0;
	}
	sum = 0;
	while (*s) {
		if (!duration_part(&s, &sum))
			return -1;
	}
	*ms = sum / NS_PER_MS;
	return 0;
}
