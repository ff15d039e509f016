#include "sim/apiserver/quantity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	NANO_DIGITS = 9,
	MOST_DIGITS = 28,  /* of whole units that are kept: twice 10^37 billionths still fits in 127 bits */
	FAST_DIGITS = 18,  /* numbers up to this long keep their text if it is canonical enough */
	SHORT_SHIFT = 18,  /* int64 times ten to this fits for sure */
	FAR_EXPONENT = 50, /* from "Pi" on, a suffix without a number is an error; before, it is 0 */
};

/* A text taken apart: sign, digits before and after the point, suffix. Digits are borrowed from the text. */
struct parts {
	bool negative, empty;           /* @empty: no digit at all */
	struct kar_str whole, fraction; /* @whole without leading zeros */
	const char *suffix;
};

struct unit {
	const char *suffix;
	int base, exponent;
};

static const struct unit units[] = {
	{ "n", 10, -9 },
	{ "u", 10, -6 },
	{ "m", 10, -3 },
	{ "", 10, 0 },
	{ "k", 10, 3 },
	{ "M", 10, 6 },
	{ "G", 10, 9 },
	{ "T", 10, 12 },
	{ "P", 10, 15 },
	{ "E", 10, 18 },
	{ "Ki", 2, 10 },
	{ "Mi", 2, 20 },
	{ "Gi", 2, 30 },
	{ "Ti", 2, 40 },
	{ "Pi", 2, 50 },
	{ "Ei", 2, 60 },
};

static sim_nano ten_to(int n)
{
	static const int64_t powers[] = { 1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000,
		1000000000 };
	sim_nano v = 1;

	for (; n > NANO_DIGITS; n -= NANO_DIGITS)
		v *= powers[NANO_DIGITS];
	return n > 0 && n <= NANO_DIGITS ? v * powers[n] : v;
}

/* The largest amount either way; sums are cut to it, so that nothing ever wraps. */
static sim_nano most(void)
{
	return (sim_nano)10000000000000000 * 1000000000000 * 1000000000; /* 10^MOST_DIGITS in billionths */
}

static sim_nano cut(sim_nano v)
{
	sim_nano limit = most();

	if (v > limit)
		return limit;
	return v < -limit ? -limit : v;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static struct kar_str digits_at(const char **p)
{
	struct kar_str run = { .p = *p };

	while (is_digit(**p))
		(*p)++;
	run.n = (size_t)(*p - run.p);
	return run;
}

/* What may stand in a suffix, well known or not: letters, then a signed number. */
static bool suffix_is_regular(const char *s)
{
	s += strspn(s, "eEinumkKMGTP");
	if (*s == '-' || *s == '+')
		s++;
	while (is_digit(*s))
		s++;
	return *s == '\0';
}

static bool split(const char *text, struct parts *out)
{
	struct parts p = { .negative = *text == '-' };

	if (*text == '-' || *text == '+')
		text++;
	p.empty = !is_digit(*text);
	while (*text == '0')
		text++;
	p.whole = digits_at(&text);
	p.fraction.p = text;
	if (*text == '.') {
		text++;
		p.fraction = digits_at(&text);
		p.empty &= p.fraction.n == 0;
	}
	p.suffix = text;
	*out = p;
	return suffix_is_regular(text);
}

/* "e3", "E-3": the exponent counts. */
static bool exponent_of(const char *suffix, struct unit *out)
{
	char *end;

	if ((*suffix != 'e' && *suffix != 'E') || suffix[1] == '\0')
		return false;
	long n = strtol(suffix + 1, &end, 10);

	if (*end != '\0' || end == suffix + 1)
		return false;
	if (n > 1000 || n < -1000)
		n = n > 0 ? 1000 : -1000; /* far beyond what is kept, either way */
	*out = (struct unit){ .suffix = suffix, .base = 10, .exponent = (int)n };
	return true;
}

static bool unit_of(const char *suffix, struct unit *out, enum sim_quantity_format *format)
{
	for (size_t i = 0; i < KAR_LEN(units); i++) {
		if (strcmp(units[i].suffix, suffix) != 0)
			continue;
		*out = units[i];
		*format = units[i].base == 2 ? SIM_BINARY_SI : SIM_DECIMAL_SI;
		return true;
	}
	*format = SIM_DECIMAL_EXPONENT;
	return exponent_of(suffix, out);
}

/* Ten times @v, which is not negative, and @digit; once the number is beyond everything kept, it stays there. */
static sim_nano push_digit(sim_nano v, int digit)
{
	return v < most() / 10 ? v * 10 + digit : most();
}

static void push_digits(sim_nano *v, struct kar_str run)
{
	for (size_t i = 0; i < run.n; i++)
		*v = push_digit(*v, run.p[i] - '0');
}

/* @digits * 10^@exponent in billionths, rounded up; cut. */
static sim_nano scale_decimal(sim_nano digits, int exponent)
{
	int shift = exponent + NANO_DIGITS;

	if (shift >= 0 && shift <= SHORT_SHIFT && digits < INT64_MAX)
		return cut(digits * ten_to(shift));
	for (; shift > 0 && digits != 0 && digits < most(); shift--)
		digits = push_digit(digits, 0);
	bool rest = false;

	for (; shift < 0 && digits != 0; shift++) {
		rest |= digits % 10 != 0;
		digits /= 10;
	}
	return cut(digits + rest);
}

/* Digits after the point that billionths can hold; whether something was lost is told in @rest. */
static struct kar_str fine_digits(struct kar_str fraction, size_t room, bool *rest)
{
	struct kar_str kept = { fraction.p, fraction.n < room ? fraction.n : room };

	for (size_t i = kept.n; i < fraction.n; i++)
		*rest |= fraction.p[i] != '0';
	return kept;
}

static sim_nano amount_decimal(const struct parts *p, int exponent)
{
	sim_nano v = 0;
	bool rest = false;
	struct kar_str fraction = fine_digits(p->fraction, MOST_DIGITS, &rest);

	push_digits(&v, p->whole);
	if (v >= most())
		return most();
	/* Whole and fraction together may be longer than what is kept: then the fraction gives way. */
	while (fraction.n > 0 && p->whole.n + fraction.n > MOST_DIGITS + NANO_DIGITS - 1) {
		fraction.n--;
		rest |= fraction.p[fraction.n] != '0';
	}
	push_digits(&v, fraction);
	v = scale_decimal(v, exponent - (int)fraction.n);
	return v == 0 && rest ? 1 : v;
}

/*
 * Binary amounts are cut to int64 by the API. Doubled step by step, with what is finer than billionths as @rest of
 * @of.
 */
static sim_nano amount_binary(const struct parts *p, int exponent)
{
	const sim_nano limit = (sim_nano)INT64_MAX * ten_to(NANO_DIGITS);
	bool lost = false;
	struct kar_str fraction = fine_digits(p->fraction, MOST_DIGITS, &lost),
		       coarse = { fraction.p, fraction.n }, fine;
	sim_nano v = 0, rest = 0, of;

	coarse.n = fraction.n < NANO_DIGITS ? fraction.n : NANO_DIGITS;
	fine = (struct kar_str){ fraction.p + coarse.n, fraction.n - coarse.n };
	push_digits(&v, p->whole);
	push_digits(&v, coarse);
	v = scale_decimal(v, -(int)coarse.n);
	push_digits(&rest, fine);
	of = ten_to((int)fine.n);
	for (; exponent > 0 && v <= limit; exponent--) {
		v = 2 * v + (2 * rest >= of);
		rest = 2 * rest % of;
	}
	v += rest > 0 || lost;
	return v > limit ? limit : v;
}

int sim_quantity_parse(const char *text, struct sim_quantity *out, struct kar_err *err)
{
	struct sim_quantity q = { 0 };
	struct parts p;
	struct unit unit;

	if (*text == '\0' || !split(text, &p))
		return kar_fail(err, KAR_INVALID,
			"quantities must match the regular expression "
			"'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
	if (!unit_of(p.suffix, &unit, &q.format))
		return kar_fail(err, KAR_INVALID, "unable to parse quantity's suffix");
	if (p.empty && unit.base == 2 && unit.exponent >= FAR_EXPONENT)
		return kar_fail(err, KAR_INVALID, "unable to parse numeric part of quantity");
	q.nano = unit.base == 2 ? amount_binary(&p, unit.exponent) : amount_decimal(&p, unit.exponent);
	if (q.format == SIM_BINARY_SI && q.nano > 0 && q.nano < ten_to(NANO_DIGITS))
		q.format = SIM_DECIMAL_SI;
	if (p.negative)
		q.nano = -q.nano;
	*out = q;
	return 0;
}

/* The text of a JSON string or number; numbers are printed to @room. NULL: neither. */
static const char *text_of(const struct sim_value *v, char room[SIM_QUANTITY_LEN])
{
	if (sim_kind(v) == SIM_INT) {
		snprintf(room, SIM_QUANTITY_LEN, "%lld", (long long)sim_int_of(v, 0));
		return room;
	}
	if (sim_kind(v) != SIM_REAL)
		return sim_text(v);
	double d = sim_number_of(v, 0);

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(room, SIM_QUANTITY_LEN, "%.*g", digits, d);
		if (strtod(room, NULL) == d)
			break;
	}
	return room;
}

int sim_quantity_read(const struct sim_value *v, struct sim_quantity *out, struct kar_err *err)
{
	char room[SIM_QUANTITY_LEN];
	const char *text = text_of(v, room);

	return sim_quantity_parse(text ? text : "", out, err);
}

struct sim_quantity sim_quantity_of(const struct sim_value *v)
{
	struct sim_quantity q = { 0 };

	(void)sim_quantity_read(v, &q, NULL);
	return q;
}

struct sim_quantity sim_quantity_units(int64_t n)
{
	return (struct sim_quantity){ .nano = (sim_nano)n * ten_to(NANO_DIGITS) };
}

static int64_t rounded(sim_nano nano, sim_nano step)
{
	sim_nano v = nano / step;

	if (nano % step != 0)
		v += nano > 0 ? 1 : -1;
	if (v > INT64_MAX)
		return INT64_MAX;
	return v < INT64_MIN ? INT64_MIN : (int64_t)v;
}

int64_t sim_quantity_value(const struct sim_quantity *q)
{
	return rounded(q->nano, ten_to(NANO_DIGITS));
}

int64_t sim_quantity_milli(const struct sim_quantity *q)
{
	return rounded(q->nano, ten_to(NANO_DIGITS - 3));
}

void sim_quantity_add(struct sim_quantity *q, const struct sim_quantity *more)
{
	if (q->nano == 0)
		q->format = more->format;
	q->nano = cut(q->nano + more->nano);
}

void sim_quantity_sub(struct sim_quantity *q, const struct sim_quantity *less)
{
	if (q->nano == 0)
		q->format = less->format;
	q->nano = cut(q->nano - less->nano);
}

int sim_quantity_cmp(const struct sim_quantity *a, const struct sim_quantity *b)
{
	return (a->nano > b->nano) - (a->nano < b->nano);
}

/* ---- text ---- */

static const char *suffix_of(int base, int exponent)
{
	for (size_t i = 0; i < KAR_LEN(units); i++) {
		if (units[i].base == base && units[i].exponent == exponent)
			return units[i].suffix;
	}
	return ""; /* nothing fits: the API leaves the suffix out too */
}

/* Decimal digits of @v: printf has no 128-bit numbers. */
static void print_digits(sim_nano v, char *out, size_t size)
{
	char backwards[64];
	size_t n = 0, at = 0;
	bool negative = v < 0;

	if (negative)
		v = -v;
	do {
		backwards[n++] = (char)('0' + (int)(v % 10));
		v /= 10;
	} while (v > 0);
	if (negative)
		backwards[n++] = '-';
	while (n > 0 && at + 1 < size)
		out[at++] = backwards[--n];
	out[at] = '\0';
}

/* Decimal: as few digits as possible, an exponent that is a multiple of three. */
static void print_decimal(const struct sim_quantity *q, char out[SIM_QUANTITY_LEN])
{
	char digits[SIM_QUANTITY_LEN];
	sim_nano v = q->nano;
	int exponent = -NANO_DIGITS;

	while (v % 1000 == 0) {
		v /= 1000;
		exponent += 3;
	}
	print_digits(v, digits, sizeof(digits));
	if (q->format == SIM_DECIMAL_EXPONENT && exponent != 0)
		snprintf(out, SIM_QUANTITY_LEN, "%.40se%d", digits, exponent);
	else
		snprintf(out, SIM_QUANTITY_LEN, "%.45s%s", digits, suffix_of(10, exponent));
}

static void print_binary(const struct sim_quantity *q, char out[SIM_QUANTITY_LEN])
{
	char digits[SIM_QUANTITY_LEN];
	sim_nano v = q->nano / ten_to(NANO_DIGITS);
	int exponent = 0;

	while (v % 1024 == 0) {
		v /= 1024;
		exponent += 10;
	}
	print_digits(v, digits, sizeof(digits));
	snprintf(out, SIM_QUANTITY_LEN, "%.45s%s", digits, exponent ? suffix_of(2, exponent) : "");
}

const char *sim_quantity_text(const struct sim_quantity *q, char out[SIM_QUANTITY_LEN])
{
	const sim_nano small = 1024 * ten_to(NANO_DIGITS);
	struct sim_quantity as = *q;

	if (q->nano == 0) {
		snprintf(out, SIM_QUANTITY_LEN, "0");
		return out;
	}
	/* Binary suffixes only where nothing is lost by them. */
	if (q->format == SIM_BINARY_SI && q->nano % ten_to(NANO_DIGITS) == 0 &&
		(q->nano <= -small || q->nano >= small)) {
		print_binary(q, out);
		return out;
	}
	if (as.format == SIM_BINARY_SI)
		as.format = SIM_DECIMAL_SI;
	print_decimal(&as, out);
	return out;
}

struct sim_value *sim_quantity_string(const struct sim_quantity *q)
{
	char text[SIM_QUANTITY_LEN];

	return sim_string(sim_quantity_text(q, text));
}

static bool ends_in_thousands(struct kar_str whole, struct kar_str fraction)
{
	char last[3];
	size_t n = whole.n + fraction.n;

	if (n < sizeof(last))
		return false;
	for (size_t i = 0; i < sizeof(last); i++) {
		size_t at = n - sizeof(last) + i;

		last[i] = at < whole.n ? whole.p[at] : fraction.p[at - whole.n];
	}
	return memcmp(last, "000", sizeof(last)) == 0;
}

/* Whether the API keeps the text as it was written, though it is perhaps not canonical. */
static bool kept_as_written(const char *text)
{
	enum sim_quantity_format format;
	struct parts p;
	struct unit unit;

	if (strcmp(text, "0") == 0)
		return true;
	if (!split(text, &p) || !unit_of(p.suffix, &unit, &format) || p.whole.n == 0)
		return false;
	int scale = unit.exponent - (int)p.fraction.n;

	if (format == SIM_BINARY_SI) /* few enough digits, and odd enough not to be worth a larger suffix */
		return p.fraction.n == 0 && 14 - (int)p.whole.n - unit.exponent * 3 / 10 >= 0 &&
			(strtoull(p.whole.p, NULL, 10) & 7) != 0;
	return p.whole.n + p.fraction.n <= FAST_DIGITS && scale >= -NANO_DIGITS && scale % 3 == 0 &&
		!ends_in_thousands(p.whole, p.fraction);
}

struct sim_value *sim_quantity_canonical(const struct sim_value *v)
{
	char room[SIM_QUANTITY_LEN];
	struct sim_quantity q = { 0 };
	const char *text = text_of(v, room);

	if (!text || sim_quantity_parse(text, &q, NULL))
		return sim_ref(v);
	if (!kept_as_written(text))
		return sim_quantity_string(&q);
	return sim_kind(v) == SIM_STRING ? sim_ref(v) : sim_string(text);
}
