#include "common/device/cel.h"

#include <ctype.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/str.h"
#include "common/codec/quantity.h"

enum { TEXT = 256 /* of versions, quantities and what is matched with a pattern */ };

static bool is_equal(struct kar_str a, struct kar_str b)
{
	return a.n == b.n && (!a.n || memcmp(a.p, b.p, a.n) == 0);
}

static struct kar_str text_of(const char *s)
{
	return (struct kar_str){ .p = s, .n = s ? strlen(s) : 0 };
}

bool cel_is(struct kar_str s, const char *word)
{
	return is_equal(s, text_of(word));
}

/* A value that is not there, or not read, decides before the other one. */
static bool is_settled(const struct cel_value *a, const struct cel_value *b, struct cel_value *out)
{
	if (a->kind == CEL_FAILED || b->kind == CEL_FAILED)
		*out = cel_of_kind(CEL_FAILED);
	else if (a->kind == CEL_UNKNOWN || b->kind == CEL_UNKNOWN)
		*out = cel_of_kind(CEL_UNKNOWN);
	else
		return false;
	return true;
}

/* --- values of the device ---------------------------------------------------------------------------- */

/*
 * What comes after the name in the attribute @a, if it is called so; NULL: it is not. @own: the domain is that of its driver, so that it need
 * not be in the name. @name NULL: any.
 */
static const char *after_name(const char *a, struct kar_str domain, bool own, const struct kar_str *name)
{
	const char *rest = a;

	if (strncmp(a, domain.p, domain.n) == 0 && a[domain.n] == '/')
		rest += domain.n + 1;
	else if (!own || (!name && a[strcspn(a, "/=")] == '/'))
		return NULL;
	if (!name)
		return rest;
	return strncmp(rest, name->p, name->n) == 0 && rest[name->n] == '=' ? rest + name->n + 1 : NULL;
}

/* Of the first of them; NULL: there is none. */
static const char *find(const struct kar_device_view *device, bool attributes, struct kar_str domain,
	const struct kar_str *name)
{
	const char *const *list = attributes ? device->attributes : device->capacity;
	uint32_t n = attributes ? device->n_attributes : device->n_capacity;
	bool own = cel_is(domain, device->driver);
	const char *found = NULL;

	for (uint32_t i = 0; i < n && !found; i++)
		found = after_name(list[i], domain, own, name);
	return found;
}

/* @text: a letter and the value, as in an attribute. */
static struct cel_value read_value(const char *text)
{
	struct cel_value v = { .text = text_of(text + 1) };

	switch (text[0]) {
	case KAR_DEVICE_TEXT:
		v.kind = CEL_STRING;
		return v;
	case KAR_DEVICE_VERSION:
		v.kind = CEL_VERSION;
		return v;
	case KAR_DEVICE_QUANTITY:
		v.kind = CEL_QUANTITY;
		return v;
	case KAR_DEVICE_NUMBER:
		return (struct cel_value){ .kind = CEL_INT, .number = strtoll(text + 1, NULL, 10) };
	case KAR_DEVICE_FLAG:
		return cel_bool(text[1] == 't');
	default:
		return cel_of_kind(CEL_UNKNOWN);
	}
}

static struct cel_value member_of_domain(const struct kar_device_view *device, const struct cel_value *of,
	struct kar_str name)
{
	const char *text = find(device, of->kind == CEL_DOMAIN_OF_ATTRIBUTES, of->text, &name);

	return text ? read_value(text) : cel_of_kind(CEL_FAILED);
}

static bool is_domain(const struct cel_value *v)
{
	return v->kind == CEL_DOMAIN_OF_ATTRIBUTES || v->kind == CEL_DOMAIN_OF_CAPACITY;
}

struct cel_value cel_member(const struct kar_device_view *device, const struct cel_value *of,
	struct kar_str name)
{
	if (of->kind == CEL_FAILED)
		return *of;
	if (is_domain(of))
		return member_of_domain(device, of, name);
	if (of->kind != CEL_DEVICE)
		return cel_of_kind(CEL_UNKNOWN);
	if (cel_is(name, "attributes"))
		return cel_of_kind(CEL_ATTRIBUTES);
	if (cel_is(name, "capacity"))
		return cel_of_kind(CEL_CAPACITY);
	if (cel_is(name, "driver"))
		return (struct cel_value){ .kind = CEL_STRING, .text = text_of(device->driver) };
	return cel_of_kind(CEL_UNKNOWN);
}

struct cel_value cel_subscript(const struct kar_device_view *device, const struct cel_value *of,
	const struct cel_value *key)
{
	struct cel_value v;

	if (is_settled(of, key, &v))
		return v;
	if (key->kind == CEL_STRING && is_domain(of))
		return member_of_domain(device, of, key->text);
	if (key->kind == CEL_STRING && of->kind == CEL_ATTRIBUTES)
		return (struct cel_value){ .kind = CEL_DOMAIN_OF_ATTRIBUTES, .text = key->text };
	if (key->kind == CEL_STRING && of->kind == CEL_CAPACITY)
		return (struct cel_value){ .kind = CEL_DOMAIN_OF_CAPACITY, .text = key->text };
	return cel_of_kind(CEL_UNKNOWN);
}

struct cel_value cel_in(const struct kar_device_view *device, const struct cel_value *domain,
	const struct cel_value *map)
{
	bool attributes = map->kind == CEL_ATTRIBUTES;

	if (domain->kind != CEL_STRING || (!attributes && map->kind != CEL_CAPACITY))
		return cel_of_kind(CEL_UNKNOWN);
	return cel_bool(find(device, attributes, domain->text, NULL));
}

/* --- comparison -------------------------------------------------------------------------------------- */

static bool copy(struct kar_str s, char out[TEXT])
{
	if (s.n >= TEXT)
		return false;
	if (s.n)
		memcpy(out, s.p, s.n);
	out[s.n] = '\0';
	return true;
}

/* "1.2.3"; false: it is no version, or one with a part that is not compared here. */
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

static bool order_versions(const char *a, const char *b, int *out)
{
	long long x[3], y[3];

	if (!read_version(a, x) || !read_version(b, y))
		return false;
	*out = 0;
	for (int i = 0; i < 3 && !*out; i++)
		*out = (x[i] > y[i]) - (x[i] < y[i]);
	return true;
}

static bool order_quantities(const char *a, const char *b, int *out)
{
	struct kar_quantity p, q;

	if (kar_quantity_parse(a, &p, NULL) || kar_quantity_parse(b, &q, NULL))
		return false;
	*out = kar_quantity_cmp(&p, &q);
	return true;
}

static int order_texts(struct kar_str a, struct kar_str b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int order = n ? memcmp(a.p, b.p, n) : 0;

	return order ? order : (a.n > b.n) - (a.n < b.n);
}

/* Below 0, 0 or above 0 in *@out; false: they are not compared. */
static bool order(const struct cel_value *a, const struct cel_value *b, int *out)
{
	char x[TEXT], y[TEXT];

	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case CEL_BOOL:
	case CEL_INT:
		*out = (a->number > b->number) - (a->number < b->number);
		return true;
	case CEL_STRING:
		*out = order_texts(a->text, b->text);
		return true;
	case CEL_VERSION:
		return copy(a->text, x) && copy(b->text, y) && order_versions(x, y, out);
	case CEL_QUANTITY:
		return copy(a->text, x) && copy(b->text, y) && order_quantities(x, y, out);
	default:
		return false;
	}
}

struct cel_value cel_compare(const struct cel_value *a, const struct cel_value *b, const char *op)
{
	struct cel_value v;
	int c;

	if (is_settled(a, b, &v))
		return v;
	if (!order(a, b, &c))
		return cel_of_kind(CEL_UNKNOWN);
	return cel_bool(op[0] == '='   ? c == 0
			: op[0] == '!' ? c != 0
			: op[0] == '<' ? (op[1] ? c <= 0 : c < 0)
				       : (op[1] ? c >= 0 : c > 0));
}

struct cel_value cel_not(const struct cel_value *v)
{
	if (v->kind == CEL_FAILED)
		return *v;
	return v->kind == CEL_BOOL ? cel_bool(!v->number) : cel_of_kind(CEL_UNKNOWN);
}

struct cel_value cel_join(const struct cel_value *a, const struct cel_value *b, bool decides)
{
	struct cel_value v;

	if ((a->kind == CEL_BOOL && a->number == decides) || (b->kind == CEL_BOOL && b->number == decides))
		return cel_bool(decides);
	if (a->kind == CEL_UNKNOWN || b->kind == CEL_UNKNOWN)
		return cel_of_kind(CEL_UNKNOWN);
	if (is_settled(a, b, &v))
		return v;
	return a->kind == CEL_BOOL && b->kind == CEL_BOOL ? cel_bool(!decides) : cel_of_kind(CEL_UNKNOWN);
}

/* --- functions --------------------------------------------------------------------------------------- */

/*
 * In these patterns RE2, which CEL has, and POSIX mean the same. A group that is repeated is left out: the memory that the C library takes
 * for one doubles with each level of nesting.
 */
static bool is_simple(const char *pattern)
{
	return strspn(pattern, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-.*+^$|()") ==
		strlen(pattern) &&
		!strstr(pattern, "**") && !strstr(pattern, "++") && !strstr(pattern, "*+") &&
		!strstr(pattern, "+*") && !strstr(pattern, "(*") && !strstr(pattern, "()") &&
		!strstr(pattern, ")*") && !strstr(pattern, ")+");
}

static struct cel_value matches(struct kar_str text, struct kar_str with)
{
	char s[TEXT], pattern[TEXT];
	regex_t re;
	bool found;

	if (!copy(text, s) || !copy(with, pattern) || !is_simple(pattern) ||
		regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB))
		return cel_of_kind(CEL_UNKNOWN);
	found = regexec(&re, s, 0, NULL, 0) == 0;
	regfree(&re);
	return cel_bool(found);
}

struct cel_value cel_method(const struct cel_value *of, struct kar_str name, const struct cel_value *arg)
{
	struct kar_str s = of->text, t = arg->text;
	struct cel_value v;
	int c;

	if (is_settled(of, arg, &v))
		return v;
	if (cel_is(name, "compareTo") && of->kind != CEL_STRING && order(of, arg, &c))
		return (struct cel_value){ .kind = CEL_INT, .number = (c > 0) - (c < 0) };
	if (of->kind != CEL_STRING || arg->kind != CEL_STRING)
		return cel_of_kind(CEL_UNKNOWN);
	if (cel_is(name, "startsWith"))
		return cel_bool(t.n <= s.n && is_equal(t, (struct kar_str){ .p = s.p, .n = t.n }));
	if (cel_is(name, "endsWith"))
		return cel_bool(
			t.n <= s.n && is_equal(t, (struct kar_str){ .p = s.p + s.n - t.n, .n = t.n }));
	if (cel_is(name, "contains"))
		return cel_bool(!t.n || (s.n && memmem(s.p, s.n, t.p, t.n)));
	return cel_is(name, "matches") ? matches(s, t) : cel_of_kind(CEL_UNKNOWN);
}

struct cel_value cel_function(struct kar_str name, const struct cel_value *arg)
{
	if (cel_is(name, "has"))
		return arg->kind == CEL_UNKNOWN ? *arg : cel_bool(arg->kind != CEL_FAILED);
	if (arg->kind == CEL_STRING && cel_is(name, "quantity"))
		return (struct cel_value){ .kind = CEL_QUANTITY, .text = arg->text };
	if (arg->kind == CEL_STRING && cel_is(name, "semver"))
		return (struct cel_value){ .kind = CEL_VERSION, .text = arg->text };
	return cel_of_kind(CEL_UNKNOWN);
}
