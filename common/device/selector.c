/* A parser by recursive descent that evaluates as it reads: expressions are short. */
#include "common/device/selector.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/device/cel.h"

enum { DEPTH = 32 };

struct reader {
	const char *at;
	const struct kar_device_view *device;
	int depth;
	bool lost; /* what follows cannot be read: the whole is unknown */
};

static struct cel_value read_or(struct reader *r);

static struct cel_value lose(struct reader *r)
{
	r->lost = true;
	return cel_of_kind(CEL_UNKNOWN);
}

/* --- words ------------------------------------------------------------------------------------------- */

static void skip_space(struct reader *r)
{
	while (isspace((unsigned char)*r->at))
		r->at++;
}

static bool is_of_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Takes @word if it is next. A word of letters ends where its letters end. */
static bool take(struct reader *r, const char *word)
{
	size_t n = strlen(word);

	skip_space(r);
	if (strncmp(r->at, word, n) != 0 || (isalpha((unsigned char)word[0]) && is_of_name(r->at[n])))
		return false;
	r->at += n;
	return true;
}

/* False: there is none. */
static bool read_name(struct reader *r, struct kar_str *out)
{
	skip_space(r);
	*out = (struct kar_str){ .p = r->at };
	if (isdigit((unsigned char)*r->at))
		return false;
	while (is_of_name(r->at[out->n]))
		out->n++;
	r->at += out->n;
	return out->n > 0;
}

/* A text in quotes without escapes, which nobody needs here. */
static struct cel_value read_text(struct reader *r)
{
	const char *first = r->at + 1, *end = strchr(first, *r->at);
	struct cel_value v = { .kind = CEL_STRING,
		.text = { .p = first, .n = end ? (size_t)(end - first) : 0 } };

	if (!end || memchr(first, '\\', v.text.n))
		return lose(r);
	r->at = end + 1;
	return v;
}

static struct cel_value read_number(struct reader *r)
{
	char *end;
	struct cel_value v = cel_of_kind(CEL_INT);

	errno = 0;
	v.number = strtoll(r->at, &end, 10);
	if (errno || end == r->at || is_of_name(*end) || *end == '.')
		return lose(r);
	r->at = end;
	return v;
}

/* --- the grammar ------------------------------------------------------------------------------------- */

/* What stands in the brackets that have begun. */
static struct cel_value read_inside(struct reader *r, const char *end)
{
	struct cel_value v = read_or(r);

	return take(r, end) ? v : lose(r);
}

static struct cel_value read_word(struct reader *r)
{
	struct kar_str name;
	struct cel_value arg;

	if (!read_name(r, &name))
		return lose(r);
	if (cel_is(name, "device"))
		return cel_of_kind(CEL_DEVICE);
	if (cel_is(name, "true") || cel_is(name, "false"))
		return cel_bool(name.p[0] == 't');
	if (!take(r, "("))
		return lose(r);
	arg = read_inside(r, ")");
	return cel_function(name, &arg);
}

static struct cel_value read_primary(struct reader *r)
{
	if (take(r, "("))
		return read_inside(r, ")");
	if (*r->at == '"' || *r->at == '\'')
		return read_text(r);
	if (isdigit((unsigned char)*r->at) || *r->at == '-')
		return read_number(r);
	return read_word(r);
}

/* ".name" or ".name(argument)" of @v. */
static struct cel_value read_member(struct reader *r, const struct cel_value *v)
{
	struct kar_str name;
	struct cel_value arg;

	if (!read_name(r, &name))
		return lose(r);
	if (!take(r, "("))
		return cel_member(r->device, v, name);
	arg = read_inside(r, ")");
	return cel_method(v, name, &arg);
}

static struct cel_value read_postfix(struct reader *r)
{
	struct cel_value v = read_primary(r), key;

	while (!r->lost) {
		if (take(r, "[")) {
			key = read_inside(r, "]");
			v = cel_subscript(r->device, &v, &key);
		} else if (take(r, ".")) {
			v = read_member(r, &v);
		} else {
			return v;
		}
	}
	return v;
}

static struct cel_value read_unary(struct reader *r)
{
	struct cel_value v;

	skip_space(r);
	if (r->at[0] != '!' || r->at[1] == '=')
		return read_postfix(r);
	r->at++;
	if (++r->depth > DEPTH)
		return lose(r);
	v = read_unary(r);
	r->depth--;
	return cel_not(&v);
}

/* One of the values of the list that has begun. */
static struct cel_value read_list(struct reader *r, const struct cel_value *what)
{
	struct cel_value any = cel_bool(false);

	do {
		struct cel_value one = read_or(r), same = cel_compare(what, &one, "==");

		if (r->lost)
			return same;
		if (same.kind != CEL_BOOL)
			any = any.kind == CEL_BOOL && any.number ? any : same;
		else if (same.number)
			any = same;
	} while (take(r, ","));
	return take(r, "]") ? any : lose(r);
}

static struct cel_value read_relation(struct reader *r)
{
	static const char *const operators[] = { "==", "!=", "<=", ">=", "<", ">" };
	struct cel_value a = read_unary(r), b;

	if (take(r, "in")) {
		if (take(r, "["))
			return read_list(r, &a);
		b = read_unary(r);
		return cel_in(r->device, &a, &b);
	}
	for (size_t i = 0; i < KAR_LEN(operators); i++) {
		if (take(r, operators[i])) {
			b = read_unary(r);
			return cel_compare(&a, &b, operators[i]);
		}
	}
	return a;
}

static struct cel_value read_and(struct reader *r)
{
	struct cel_value a = read_relation(r), b;

	while (!r->lost && take(r, "&&")) {
		b = read_relation(r);
		a = cel_join(&a, &b, false);
	}
	return a;
}

static struct cel_value read_or(struct reader *r)
{
	struct cel_value a, b;

	if (++r->depth > DEPTH)
		return lose(r);
	a = read_and(r);
	while (!r->lost && take(r, "||")) {
		b = read_and(r);
		a = cel_join(&a, &b, true);
	}
	r->depth--;
	return a;
}

enum kar_match kar_selector_match(const char *expression, const struct kar_device_view *device)
{
	struct reader r = { .at = expression, .device = device };
	struct cel_value v;

	if (strnlen(expression, KAR_SELECTOR_BYTES + 1) > KAR_SELECTOR_BYTES)
		return KAR_MATCH_UNKNOWN;
	v = read_or(&r);
	skip_space(&r);
	if (r.lost || *r.at)
		return KAR_MATCH_UNKNOWN;
	if (v.kind == CEL_FAILED)
		return KAR_MATCH_FAILED;
	if (v.kind != CEL_BOOL)
		return KAR_MATCH_UNKNOWN;
	return v.number ? KAR_MATCH : KAR_NO_MATCH;
}
