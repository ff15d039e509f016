/* A parser by recursive descent that evaluates as it reads: expressions are short, and results are kept per class. */
#include "common/device/selector.h"

#include <ctype.h>
#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>

#include "common/base/str.h"
#include "common/codec/quantity.h"

enum { DEPTH = 32, NAME = 128, TEXT = 256 };

enum kind {
	FAILED,  /* the value is not there */
	UNKNOWN, /* not read */
	BOOL,
	INT,
	STRING,
	VERSION,
	QUANTITY,
	DEVICE,     /* the variable */
	ATTRIBUTES, /* its map of domains */
	CAPACITY,
	DOMAIN_OF_ATTRIBUTES, /* .text: the domain */
	DOMAIN_OF_CAPACITY,
};

struct value {
	enum kind kind;
	int64_t number; /* of BOOL and INT */
	char text[TEXT];
};

struct reader {
	const char *at;
	const struct kar_device_view *device;
	int depth;
	bool lost; /* what follows cannot be read: the whole is unknown */
};

static struct value read_or(struct reader *r);

static struct value of_kind(enum kind kind)
{
	return (struct value){ .kind = kind };
}

static struct value of_bool(bool b)
{
	return (struct value){ .kind = BOOL, .number = b };
}

static struct value lose(struct reader *r)
{
	r->lost = true;
	return of_kind(UNKNOWN);
}

/* --- words ------------------------------------------------------------------------------------------- */

static void skip_space(struct reader *r)
{
	while (isspace((unsigned char)*r->at))
		r->at++;
}

/* Takes @word if it is next. A word of letters ends where its letters end. */
static bool take(struct reader *r, const char *word)
{
	size_t n = strlen(word);

	skip_space(r);
	if (strncmp(r->at, word, n) != 0)
		return false;
	if (isalpha((unsigned char)word[0]) && (isalnum((unsigned char)r->at[n]) || r->at[n] == '_'))
		return false;
	r->at += n;
	return true;
}

/* False: there is none, or it is too long. */
static bool read_name(struct reader *r, char out[NAME])
{
	size_t n = 0;

	skip_space(r);
	if (!isalpha((unsigned char)*r->at) && *r->at != '_')
		return false;
	while (isalnum((unsigned char)r->at[n]) || r->at[n] == '_')
		n++;
	if (n >= NAME)
		return false;
	memcpy(out, r->at, n);
	out[n] = '\0';
	r->at += n;
	return true;
}

/* A text in quotes without escapes, which nobody needs here. */
static struct value read_text(struct reader *r)
{
	char quote = *r->at;
	const char *end = strchr(r->at + 1, quote);
	struct value v = of_kind(STRING);
	size_t n = end ? (size_t)(end - r->at) - 1 : 0;

	if (!end || n >= TEXT || memchr(r->at, '\\', n + 1))
		return lose(r);
	memcpy(v.text, r->at + 1, n);
	r->at = end + 1;
	return v;
}

static struct value read_number(struct reader *r)
{
	char *end;
	struct value v = of_kind(INT);

	errno = 0;
	v.number = strtoll(r->at, &end, 10);
	if (errno || end == r->at || isalpha((unsigned char)*end) || *end == '.')
		return lose(r);
	r->at = end;
	return v;
}

/* --- values of the device ---------------------------------------------------------------------------- */

static bool is_named(const struct kar_device_value *v, const char *domain, const char *name,
	const char *driver)
{
	const char *slash = strchr(v->name, '/');
	size_t n = strlen(domain);

	if (!slash)
		return kar_streq(v->name, name) && kar_streq(domain, driver);
	return (size_t)(slash - v->name) == n && strncmp(v->name, domain, n) == 0 &&
		kar_streq(slash + 1, name);
}

static struct value value_of(const struct kar_device_value *from)
{
	static const enum kind kinds[] = { [KAR_DEVICE_TEXT] = STRING,
		[KAR_DEVICE_NUMBER] = INT,
		[KAR_DEVICE_FLAG] = BOOL,
		[KAR_DEVICE_VERSION] = VERSION,
		[KAR_DEVICE_QUANTITY] = QUANTITY,
		[KAR_DEVICE_OTHER] = UNKNOWN };
	struct value v = { .kind = kinds[from->kind], .number = from->number };

	if (from->text && strlcpy(v.text, from->text, sizeof(v.text)) >= sizeof(v.text))
		v.kind = UNKNOWN;
	return v;
}

static struct value member_of_domain(const struct reader *r, const struct value *of, const char *name)
{
	bool attributes = of->kind == DOMAIN_OF_ATTRIBUTES;
	const struct kar_device_value *list = attributes ? r->device->attributes : r->device->capacity;
	uint32_t n = attributes ? r->device->n_attributes : r->device->n_capacity;

	for (uint32_t i = 0; i < n; i++) {
		if (is_named(&list[i], of->text, name, r->device->driver))
			return value_of(&list[i]);
	}
	return of_kind(FAILED);
}

static struct value member(struct reader *r, const struct value *of, const char *name)
{
	struct value v = of_kind(STRING);

	if (of->kind == FAILED || of->kind == UNKNOWN)
		return *of;
	if (of->kind == DOMAIN_OF_ATTRIBUTES || of->kind == DOMAIN_OF_CAPACITY)
		return member_of_domain(r, of, name);
	if (of->kind != DEVICE)
		return lose(r);
	if (kar_streq(name, "attributes"))
		return of_kind(ATTRIBUTES);
	if (kar_streq(name, "capacity"))
		return of_kind(CAPACITY);
	if (!kar_streq(name, "driver"))
		return lose(r);
	if (strlcpy(v.text, r->device->driver, sizeof(v.text)) >= sizeof(v.text))
		return lose(r);
	return v;
}

/* "[...]": a domain of a map, or a name in a domain. */
static struct value subscript(struct reader *r, const struct value *of)
{
	struct value key = read_or(r);

	if (!take(r, "]") || key.kind != STRING)
		return lose(r);
	if (of->kind == ATTRIBUTES || of->kind == CAPACITY) {
		key.kind = of->kind == ATTRIBUTES ? DOMAIN_OF_ATTRIBUTES : DOMAIN_OF_CAPACITY;
		return key;
	}
	if (of->kind == DOMAIN_OF_ATTRIBUTES || of->kind == DOMAIN_OF_CAPACITY)
		return member_of_domain(r, of, key.text);
	return lose(r);
}

static bool has_domain(const struct reader *r, const struct value *domain, bool attributes)
{
	const struct kar_device_value *list = attributes ? r->device->attributes : r->device->capacity;
	uint32_t n = attributes ? r->device->n_attributes : r->device->n_capacity;
	size_t size = strlen(domain->text);

	for (uint32_t i = 0; i < n; i++) {
		const char *slash = strchr(list[i].name, '/');

		if (slash ? (size_t)(slash - list[i].name) == size &&
					strncmp(list[i].name, domain->text, size) == 0
			  : kar_streq(domain->text, r->device->driver))
			return true;
	}
	return false;
}

/* --- comparison -------------------------------------------------------------------------------------- */

/* "1.2.3" of "v1.2.3-rc+x"; false: it is no version, or one with a part that is not compared here. */
static bool read_version(const char *text, long long out[3])
{
	char *end;

	for (int i = 0; i < 3; i++) {
		if (!isdigit((unsigned char)*text))
			return false;
		out[i] = strtoll(text, &end, 10);
		if (*end != (i < 2 ? '.' : '\0'))
			return false;
		text = end + 1;
	}
	return true;
}

/* Below 0, 0 or above 0 in *@out; false: they are not compared. */
static bool order(const struct value *a, const struct value *b, int *out)
{
	long long x[3], y[3];
	struct kar_quantity p, q;

	if (a->kind != b->kind)
		return false;
	if (a->kind == INT || a->kind == BOOL) {
		*out = (a->number > b->number) - (a->number < b->number);
	} else if (a->kind == STRING) {
		*out = strcmp(a->text, b->text);
	} else if (a->kind == VERSION && read_version(a->text, x) && read_version(b->text, y)) {
		*out = 0;
		for (int i = 0; i < 3 && !*out; i++)
			*out = (x[i] > y[i]) - (x[i] < y[i]);
	} else if (a->kind == QUANTITY && !kar_quantity_parse(a->text, &p, NULL) &&
		!kar_quantity_parse(b->text, &q, NULL)) {
		*out = kar_quantity_cmp(&p, &q);
	} else {
		return false;
	}
	return true;
}

/* A value that is not there, or not read, decides before the other one. */
static bool is_settled(const struct value *a, const struct value *b, struct value *out)
{
	if (a->kind == FAILED || b->kind == FAILED)
		*out = of_kind(FAILED);
	else if (a->kind == UNKNOWN || b->kind == UNKNOWN)
		*out = of_kind(UNKNOWN);
	else
		return false;
	return true;
}

static struct value compare(const struct value *a, const struct value *b, const char *op)
{
	struct value v;
	int c;

	if (is_settled(a, b, &v))
		return v;
	if (!order(a, b, &c))
		return of_kind(UNKNOWN);
	return of_bool(op[0] == '='    ? c == 0
			: op[0] == '!' ? c != 0
			: op[0] == '<' ? (op[1] ? c <= 0 : c < 0)
				       : (op[1] ? c >= 0 : c > 0));
}

/* --- functions --------------------------------------------------------------------------------------- */

/* In these patterns RE2, which CEL has, and POSIX mean the same. */
static bool is_simple(const char *pattern)
{
	return strspn(pattern, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-.*+^$|()") ==
		strlen(pattern) &&
		!strstr(pattern, "**") && !strstr(pattern, "++") && !strstr(pattern, "*+") &&
		!strstr(pattern, "+*") && !strstr(pattern, "(*") && !strstr(pattern, "()");
}

static struct value matches(const char *text, const char *pattern)
{
	regex_t re;
	bool found;

	if (!is_simple(pattern) || regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB))
		return of_kind(UNKNOWN);
	found = regexec(&re, text, 0, NULL, 0) == 0;
	regfree(&re);
	return of_bool(found);
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

static struct value call(struct reader *r, const struct value *of, const char *name)
{
	struct value arg = read_or(r), v;
	int c;

	if (!take(r, ")"))
		return lose(r);
	if (is_settled(of, &arg, &v))
		return v;
	if (kar_streq(name, "compareTo") && of->kind != STRING && order(of, &arg, &c))
		return (struct value){ .kind = INT, .number = (c > 0) - (c < 0) };
	if (of->kind != STRING || arg.kind != STRING)
		return of_kind(UNKNOWN);
	if (kar_streq(name, "startsWith"))
		return of_bool(strncmp(of->text, arg.text, strlen(arg.text)) == 0);
	if (kar_streq(name, "endsWith"))
		return of_bool(ends_with(of->text, arg.text));
	if (kar_streq(name, "contains"))
		return of_bool(strstr(of->text, arg.text));
	if (kar_streq(name, "matches"))
		return matches(of->text, arg.text);
	return of_kind(UNKNOWN);
}

/* quantity("40Gi"), semver("1.2.3"), has(x). */
static struct value call_global(struct reader *r, const char *name)
{
	struct value arg = read_or(r);

	if (!take(r, ")"))
		return lose(r);
	if (kar_streq(name, "has"))
		return arg.kind == UNKNOWN ? arg : of_bool(arg.kind != FAILED);
	if (arg.kind != STRING)
		return of_kind(UNKNOWN);
	if (kar_streq(name, "quantity"))
		arg.kind = QUANTITY;
	else if (kar_streq(name, "semver"))
		arg.kind = VERSION;
	else
		return of_kind(UNKNOWN);
	return arg;
}

/* --- the grammar ------------------------------------------------------------------------------------- */

static struct value read_word(struct reader *r)
{
	char name[NAME];

	if (!read_name(r, name))
		return lose(r);
	if (kar_streq(name, "device"))
		return of_kind(DEVICE);
	if (kar_streq(name, "true") || kar_streq(name, "false"))
		return of_bool(name[0] == 't');
	return take(r, "(") ? call_global(r, name) : lose(r);
}

static struct value read_primary(struct reader *r)
{
	struct value v;

	skip_space(r);
	if (take(r, "(")) {
		v = read_or(r);
		return take(r, ")") ? v : lose(r);
	}
	if (*r->at == '"' || *r->at == '\'')
		return read_text(r);
	if (isdigit((unsigned char)*r->at) || *r->at == '-')
		return read_number(r);
	return read_word(r);
}

static struct value read_postfix(struct reader *r)
{
	struct value v = read_primary(r);
	char name[NAME];

	while (!r->lost) {
		if (take(r, "[")) {
			v = subscript(r, &v);
		} else if (take(r, ".")) {
			if (!read_name(r, name))
				return lose(r);
			v = take(r, "(") ? call(r, &v, name) : member(r, &v, name);
		} else {
			return v;
		}
	}
	return v;
}

static struct value read_unary(struct reader *r)
{
	struct value v;

	skip_space(r);
	if (r->at[0] != '!' || r->at[1] == '=')
		return read_postfix(r);
	r->at++;
	if (++r->depth > DEPTH)
		return lose(r);
	v = read_unary(r);
	r->depth--;
	if (v.kind == FAILED)
		return v;
	return v.kind == BOOL ? of_bool(!v.number) : of_kind(UNKNOWN);
}

/* "in": a domain of a map, or one of a list of values. */
static struct value read_in(struct reader *r, const struct value *what)
{
	struct value any = of_bool(false), of;

	if (!take(r, "[")) {
		of = read_unary(r);
		if (what->kind != STRING || (of.kind != ATTRIBUTES && of.kind != CAPACITY))
			return of_kind(UNKNOWN);
		return of_bool(has_domain(r, what, of.kind == ATTRIBUTES));
	}
	do {
		struct value one = read_or(r), same = compare(what, &one, "==");

		if (r->lost)
			return same;
		if (same.kind != BOOL)
			any = any.kind == BOOL && any.number ? any : same;
		else if (same.number)
			any = same;
	} while (take(r, ","));
	return take(r, "]") ? any : lose(r);
}

static struct value read_relation(struct reader *r)
{
	static const char *const operators[] = { "==", "!=", "<=", ">=", "<", ">" };
	struct value a = read_unary(r), b;

	if (take(r, "in"))
		return read_in(r, &a);
	for (size_t i = 0; i < KAR_LEN(operators); i++) {
		if (take(r, operators[i])) {
			b = read_unary(r);
			return compare(&a, &b, operators[i]);
		}
	}
	return a;
}

/* @decides: the value of one side that decides, whatever the other one is. */
static struct value join(const struct value *a, const struct value *b, bool decides)
{
	struct value v;

	if ((a->kind == BOOL && a->number == decides) || (b->kind == BOOL && b->number == decides))
		return of_bool(decides);
	if (a->kind == UNKNOWN || b->kind == UNKNOWN)
		return of_kind(UNKNOWN);
	if (is_settled(a, b, &v))
		return v;
	return a->kind == BOOL && b->kind == BOOL ? of_bool(!decides) : of_kind(UNKNOWN);
}

static struct value read_and(struct reader *r)
{
	struct value a = read_relation(r), b;

	while (!r->lost && take(r, "&&")) {
		b = read_relation(r);
		a = join(&a, &b, false);
	}
	return a;
}

static struct value read_or(struct reader *r)
{
	struct value a, b;

	if (++r->depth > DEPTH)
		return lose(r);
	a = read_and(r);
	while (!r->lost && take(r, "||")) {
		b = read_and(r);
		a = join(&a, &b, true);
	}
	r->depth--;
	return a;
}

enum kar_match kar_selector_match(const char *expression, const struct kar_device_view *device)
{
	struct reader r = { .at = expression, .device = device };
	struct value v;

	if (strnlen(expression, KAR_SELECTOR_BYTES + 1) > KAR_SELECTOR_BYTES)
		return KAR_MATCH_UNKNOWN;
	v = read_or(&r);
	skip_space(&r);
	if (r.lost || *r.at)
		return KAR_MATCH_UNKNOWN;
	if (v.kind == FAILED)
		return KAR_NO_MATCH;
	if (v.kind != BOOL)
		return KAR_MATCH_UNKNOWN;
	return v.number ? KAR_MATCH : KAR_NO_MATCH;
}
