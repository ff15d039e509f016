#include "common/codec/yaml_scalar.h"

#include <string.h>

static bool one_of(const char *s, size_t n, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strlen(words[i]) == n && memcmp(words[i], s, n) == 0)
			return true;
	}
	return false;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Index after the decimal digits that start at @i. */
static size_t digits(const char *s, size_t n, size_t i)
{
	while (i < n && is_digit(s[i]))
		i++;
	return i;
}

/* Where in "-12.5e3" the parts end. */
struct number {
	size_t sign, whole, point, part, exponent;
};

static bool split_number(const char *s, size_t n, struct number *x)
{
	x->sign = n > 0 && (s[0] == '-' || s[0] == '+');
	x->whole = digits(s, n, x->sign);
	x->point = x->whole + (x->whole < n && s[x->whole] == '.');
	x->part = x->point > x->whole ? digits(s, n, x->point) : x->point;
	x->exponent = x->part;
	if (x->whole == x->sign && x->part == x->point)
		return false;
	if (x->part < n && (s[x->part] == 'e' || s[x->part] == 'E')) {
		size_t i = x->part + 1;

		if (i < n && (s[i] == '-' || s[i] == '+'))
			i++;
		x->exponent = digits(s, n, i);
		if (x->exponent == i)
			return false;
	}
	return x->exponent == n;
}

/* JSON wants no plus sign, no leading zeros, and digits on both sides of the point. */
static void put_number(const char *s, const struct number *x, struct kar_buf *out)
{
	size_t i = x->sign;

	while (i + 1 < x->whole && s[i] == '0')
		i++;
	kar_buf_puts(out, s[0] == '-' ? "-" : "");
	if (x->whole == x->sign)
		kar_buf_puts(out, "0");
	kar_buf_append(out, s + i, x->whole - i);
	if (x->part > x->point) {
		kar_buf_puts(out, ".");
		kar_buf_append(out, s + x->point, x->part - x->point);
	}
	kar_buf_append(out, s + x->part, x->exponent - x->part);
}

static int digit_value(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
}

/* 0x1F and 0o17. */
static enum kar_yaml_plain based_number(const char *s, size_t n, struct kar_buf *out)
{
	int base = n > 2 && s[0] == '0' ? (s[1] == 'x' ? 16 : s[1] == 'o' ? 8 : 0) : 0;
	uint64_t v = 0;
	bool fits = true;

	if (base == 0)
		return KAR_YAML_STRING;
	for (size_t i = 2; i < n; i++) {
		int d = digit_value(s[i]);

		if (d >= base)
			return KAR_YAML_STRING;
		fits = fits && !__builtin_mul_overflow(v, (uint64_t)base, &v) &&
			!__builtin_add_overflow(v, (uint64_t)d, &v);
	}
	if (!fits)
		return KAR_YAML_NOT_JSON;
	kar_buf_printf(out, "%llu", (unsigned long long)v);
	return KAR_YAML_JSON;
}

enum kar_yaml_plain kar_yaml_plain(const char *s, size_t n, struct kar_buf *out)
{
	static const char *const nulls[] = { "", "~", "null", "Null", "NULL" };
	static const char *const trues[] = { "true", "True", "TRUE" };
	static const char *const falses[] = { "false", "False", "FALSE" };
	static const char *const not_finite[] = { ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf",
		"-.Inf", "-.INF", ".nan", ".NaN", ".NAN" };
	struct number x;

	if (one_of(s, n, not_finite, KAR_LEN(not_finite)))
		return KAR_YAML_NOT_JSON;
	if (one_of(s, n, nulls, KAR_LEN(nulls)))
		kar_buf_puts(out, "null");
	else if (one_of(s, n, trues, KAR_LEN(trues)))
		kar_buf_puts(out, "true");
	else if (one_of(s, n, falses, KAR_LEN(falses)))
		kar_buf_puts(out, "false");
	else if (split_number(s, n, &x))
		put_number(s, &x, out);
	else
		return based_number(s, n, out);
	return KAR_YAML_JSON;
}
