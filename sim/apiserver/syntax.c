#include "sim/apiserver/syntax.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

enum { LABEL_MAX = 63, SUBDOMAIN_MAX = 253 };

#define LETTER "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
#define LOWER "abcdefghijklmnopqrstuvwxyz0123456789"

/* Messages of the API server; clients compare them. */
#define NAME_RULE \
	"must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. " \
	"'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
#define VALUE_RULE \
	"a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with " \
	"an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is " \
	"'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
#define LABEL_REGEX "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
#define DNS_LABEL_RULE \
	"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an " \
	"alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '" LABEL_REGEX \
	"')"
#define LABEL_1035_RULE \
	"a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with " \
	"an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
#define SUBDOMAIN_RULE \
	"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with " \
	"an alphanumeric character (e.g. 'example.com', regex used for validation is '" LABEL_REGEX \
	"(\\." LABEL_REGEX ")*')"

static void complain(struct sim_complaints *c, const char *text)
{
	assert(c->n < SIM_COMPLAINTS);
	c->text[c->n++] = text;
}

/* The @n bytes at @s: all of @inside, the first and the last of @edge. */
static bool framed(const char *s, size_t n, const char *edge, const char *inside)
{
	return n > 0 && strspn(s, inside) >= n && strchr(edge, s[0]) && strchr(edge, s[n - 1]);
}

static bool is_label_name(const char *s)
{
	return framed(s, strlen(s), LETTER, LETTER "-_.");
}

/* Labels of lower-case letters, digits and '-', joined by dots. */
static bool is_subdomain(const char *s, size_t n)
{
	const char *end = s + n;

	for (const char *label = s;; label++) {
		const char *dot = memchr(label, '.', (size_t)(end - label));
		const char *stop = dot ? dot : end;

		if (!framed(label, (size_t)(stop - label), LOWER, LOWER "-"))
			return false;
		if (!dot)
			return true;
		label = dot;
	}
}

static void check_prefix(const char *s, size_t n, struct sim_complaints *c)
{
	if (n == 0) {
		complain(c, "prefix part must be non-empty");
		return;
	}
	if (n > SUBDOMAIN_MAX)
		complain(c, "prefix part must be no more than 253 bytes");
	if (!is_subdomain(s, n))
		complain(c, "prefix part " SUBDOMAIN_RULE);
}

struct sim_complaints sim_check_label_key(const char *s)
{
	const char *slash = strchr(s, '/');
	const char *name = slash ? slash + 1 : s;
	struct sim_complaints c = { 0 };

	if (strchr(name, '/')) {
		complain(&c,
			"a valid label key " NAME_RULE
			" with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')");
		return c;
	}
	if (slash)
		check_prefix(s, (size_t)(slash - s), &c);
	if (!*name)
		complain(&c, "name part must be non-empty");
	else if (strlen(name) > LABEL_MAX)
		complain(&c, "name part must be no more than 63 bytes");
	if (!is_label_name(name))
		complain(&c, "name part " NAME_RULE);
	return c;
}

struct sim_complaints sim_check_label_value(const char *s)
{
	struct sim_complaints c = { 0 };

	if (strlen(s) > LABEL_MAX)
		complain(&c, "must be no more than 63 bytes");
	if (*s && !is_label_name(s))
		complain(&c, VALUE_RULE);
	return c;
}

struct sim_complaints sim_check_dns_label(const char *s)
{
	struct sim_complaints c = { 0 };
	size_t n = strlen(s);

	if (n > LABEL_MAX)
		complain(&c, "must be no more than 63 characters");
	if (framed(s, n, LOWER, LOWER "-"))
		return c;
	complain(&c, is_subdomain(s, n) ? "must not contain dots" : DNS_LABEL_RULE);
	return c;
}

struct sim_complaints sim_check_dns_label_1035(const char *s)
{
	struct sim_complaints c = { 0 };
	size_t n = strlen(s);

	if (n > LABEL_MAX)
		complain(&c, "must be no more than 63 characters");
	if (!framed(s, n, LOWER, LOWER "-") || (s[0] >= '0' && s[0] <= '9'))
		complain(&c, LABEL_1035_RULE);
	return c;
}

struct sim_complaints sim_check_dns_subdomain(const char *s)
{
	struct sim_complaints c = { 0 };
	size_t n = strlen(s);

	if (n > SUBDOMAIN_MAX)
		complain(&c, "must be no more than 253 characters");
	if (!is_subdomain(s, n))
		complain(&c, SUBDOMAIN_RULE);
	return c;
}

void sim_complaints_print(const struct sim_complaints *c, struct kar_buf *out)
{
	for (size_t i = 0; i < c->n; i++) {
		if (i > 0)
			kar_buf_puts(out, "; ");
		kar_buf_puts(out, c->text[i]);
	}
}

static void quote_byte(unsigned char c, struct kar_buf *out)
{
	static const char letters[] = "abtnvfr"; /* of \a (7) to \r (13) */

	if (c == '"' || c == '\\')
		kar_buf_printf(out, "\\%c", c);
	else if (c >= '\a' && c <= '\r')
		kar_buf_printf(out, "\\%c", letters[c - '\a']);
	else if (c < ' ' || c == 0x7f)
		kar_buf_printf(out, "\\x%02x", c);
	else
		kar_buf_append(out, &c, 1);
}

void sim_quote(const char *s, struct kar_buf *out)
{
	kar_buf_append(out, "\"", 1);
	for (; *s; s++)
		quote_byte((unsigned char)*s, out);
	kar_buf_append(out, "\"", 1);
}

void sim_print_real(double d, struct kar_buf *out)
{
	enum { MAX_DIGITS = 17, FIRST_EXPONENT = 21, FIRST_SMALL = -4 };
	char text[64];
	int digits = 0, exponent;

	do
		snprintf(text, sizeof(text), "%.*e", digits, d);
	while (digits++ < MAX_DIGITS && (strtod(text, NULL) < d || strtod(text, NULL) > d));
	exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10);
	if (exponent < FIRST_SMALL || exponent >= FIRST_EXPONENT)
		kar_buf_puts(out, text);
	else
		kar_buf_printf(out, "%.*f", digits - 1 > exponent ? digits - 1 - exponent : 0, d);
}

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct sim_member *)a)->key, ((const struct sim_member *)b)->key);
}

static void print_map(const struct sim_value *v, struct kar_buf *out)
{
	struct sim_member *members = kar_xcalloc(sim_count(v) + 1, sizeof(*members));
	size_t n = 0;

	for (struct sim_member m = sim_first(v); m.value; m = sim_next(m))
		members[n++] = m;
	qsort(members, n, sizeof(*members), by_key);
	kar_buf_puts(out, "map[");
	for (size_t i = 0; i < n; i++) {
		kar_buf_printf(out, "%s%s:", i ? " " : "", members[i].key);
		sim_print_go(members[i].value, out);
	}
	kar_buf_puts(out, "]");
	free(members);
}

void sim_print_go(const struct sim_value *v, struct kar_buf *out)
{
	switch (sim_kind(v)) {
	case SIM_OBJECT:
		print_map(v, out);
		break;
	case SIM_ARRAY:
		for (size_t i = 0; i < sim_count(v); i++) {
			kar_buf_puts(out, i ? " " : "[");
			sim_print_go(sim_item(v, i), out);
		}
		kar_buf_puts(out, sim_count(v) ? "]" : "[]");
		break;
	case SIM_STRING:
		kar_buf_puts(out, sim_text(v));
		break;
	case SIM_REAL:
		sim_print_real(sim_number_of(v, 0), out);
		break;
	case SIM_ABSENT:
	case SIM_NULL:
		kar_buf_puts(out, "<nil>");
		break;
	default:
		sim_print(v, out);
	}
}
