#include "common/codec/quantity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	NANO_DIGITS = 9,
	MOST_DIGITS = 28,  /* of whole units that are kept: twice 10^37 billionths still fits in 127 bits */
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

static kar_nano ten_to(int n)
{
	static const int64_t powers[] = { 1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000,
		1000000000 };
	kar_nano v = 1;

	for (; n > NANO_DIGITS; n -= NANO_DIGITS)
		v *= powers[NANO_DIGITS];
	return n > 0 && n <= NANO_DIGITS ? v * powers[n] : v;
}

/* The largest amount, positive or negative. Sums saturate at it, so that nothing wraps. */
static kar_nano most(void)
{
	return (kar_nano)10000000000000000 * 1000000000000 * 1000000000; /* 10^MOST_DIGITS in billionths */
}

static kar_nano cut(kar_nano v)
{
	kar_nano limit = most();

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

static bool unit_of(const char *suffix, struct unit *out, enum kar_quantity_format *format)
{
	for (size_t i = 0; i < KAR_LEN(units); i++) {
		if (strcmp(units[i].suffix, suffix) != 0)
			continue;
		*out = units[i];
		*format = units[i].base == 2 ? KAR_BINARY_SI : KAR_DECIMAL_SI;
		return true;
	}
	*format = KAR_DECIMAL_EXPONENT;
	return exponent_of(suffix, out);
}

/* Ten times @v, which is not negative, and @digit; once the number is beyond everything kept, it stays there. */
static kar_nano push_digit(kar_nano v, int digit)
{
	return v < most() / 10 ? v * 10 + digit : most();
}

static void push_digits(kar_nano *v, struct kar_str run)
{
	for (size_t i = 0; i < run.n; i++)
		*v = push_digit(*v, run.p[i] - '0');
}

/* @digits * 10^@exponent in billionths, rounded up; cut. */
static kar_nano scale_decimal(kar_nano digits, int exponent)
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

static kar_nano amount_decimal(const struct parts *p, int exponent)
{
	kar_nano v = 0;
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
static kar_nano amount_binary(const struct parts *p, int exponent)
{
	const kar_nano limit = (kar_nano)INT64_MAX * ten_to(NANO_DIGITS);
	bool lost = false;
	struct kar_str fraction = fine_digits(p->fraction, MOST_DIGITS, &lost),
		       coarse = { fraction.p, fraction.n }, fine;
	kar_nano v = 0, rest = 0, of;

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

int kar_quantity_parse(const char *text, struct kar_quantity *out, struct kar_err *err)
{
	struct kar_quantity q = { 0 };
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
	if (q.format == KAR_BINARY_SI && q.nano > 0 && q.nano < ten_to(NANO_DIGITS))
		q.format = KAR_DECIMAL_SI;
	if (p.negative)
		q.nano = -q.nano;
	*out = q;
	return 0;
}

struct kar_quantity kar_quantity_units(int64_t n)
{
	return (struct kar_quantity){ .nano = (kar_nano)n * ten_to(NANO_DIGITS) };
}

static int64_t rounded(kar_nano nano, kar_nano step)
{
	kar_nano v = nano / step;

	if (nano % step != 0)
		v += nano > 0 ? 1 : -1;
	if (v > INT64_MAX)
		return INT64_MAX;
	return v < INT64_MIN ? INT64_MIN : (int64_t)v;
}

int64_t kar_quantity_value(const struct kar_quantity *q)
{
	return rounded(q->nano, ten_to(NANO_DIGITS));
}

int64_t kar_quantity_milli(const struct kar_quantity *q)
{
	return rounded(q->nano, ten_to(NANO_DIGITS - 3));
}

void kar_quantity_add(struct kar_quantity *q, const struct kar_quantity *more)
{
	if (q->nano == 0)
		q->format = more->format;
	q->nano = cut(q->nano + more->nano);
}

void kar_quantity_sub(struct kar_quantity *q, const struct kar_quantity *less)
{
	if (q->nano == 0)
		q->format = less->format;
	q->nano = cut(q->nano - less->nano);
}

void kar_quantity_times(struct kar_quantity *q, int32_t n)
{
	kar_nano product;

	if (__builtin_mul_overflow(q->nano, (kar_nano)n, &product))
		product = q->nano < 0 ? -most() : most();
	q->nano = cut(product);
}

int kar_quantity_cmp(const struct kar_quantity *a, const struct kar_quantity *b)
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
static void print_digits(kar_nano v, char *out, size_t size)
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
static void print_decimal(const struct kar_quantity *q, char out[KAR_QUANTITY_LEN])
{
	char digits[KAR_QUANTITY_LEN];
	kar_nano v = q->nano;
	int exponent = -NANO_DIGITS;

	while (v % 1000 == 0) {
		v /= 1000;
		exponent += 3;
	}
	print_digits(v, digits, sizeof(digits));
	if (q->format == KAR_DECIMAL_EXPONENT && exponent != 0)
		snprintf(out, KAR_QUANTITY_LEN, "%.40se%d", digits, exponent);
	else
		snprintf(out, KAR_QUANTITY_LEN, "%.45s%s", digits, suffix_of(10, exponent));
}

static void print_binary(const struct kar_quantity *q, char out[KAR_QUANTITY_LEN])
{
	char digits[KAR_QUANTITY_LEN];
	kar_nano v = q->nano / ten_to(NANO_DIGITS);
	int exponent = 0;

	while (v % 1024 == 0) {
		v /= 1024;
		exponent += 10;
	}
	print_digits(v, digits, sizeof(digits));
	snprintf(out, KAR_QUANTITY_LEN, "%.45s%s", digits, exponent ? suffix_of(2, exponent) : "");
}

const char *kar_quantity_text(const struct kar_quantity *q, char out[KAR_QUANTITY_LEN])
{
	const kar_nano small = 1024 * ten_to(NANO_DIGITS);
	struct kar_quantity as = *q;

	if (q->nano == 0) {
		snprintf(out, KAR_QUANTITY_LEN, "0");
		return out;
	}
	/* Binary suffixes only where nothing is lost by them. */
	if (q->format == KAR_BINARY_SI && q->nano % ten_to(NANO_DIGITS) == 0 &&
		(q->nano <= -small || q->nano >= small)) {
		print_binary(q, out);
		return out;
	}
	if (as.format == KAR_BINARY_SI)
		as.format = KAR_DECIMAL_SI;
	print_decimal(&as, out);
	return out;
}
