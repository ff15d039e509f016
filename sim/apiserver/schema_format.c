#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/timefmt.h"
#include "sim/apiserver/schema_impl.h"
#include "sim/apiserver/syntax.h"

/* ---- formats ---- */

/* "2026-11-21": the first @n bytes. */
static bool is_date_of(const char *s, size_t n)
{
	enum { DATE = 10 };
	static const char midnight[] = "T00:00:00Z";
	char text[DATE + sizeof(midnight)];
	kar_time ignored;

	if (n != DATE)
		return false;
	memcpy(text, s, DATE);
	memcpy(text + DATE, midnight, sizeof(midnight));
	return kar_time_parse(text, &ignored) == 0;
}

static bool is_date(const char *s)
{
	return is_date_of(s, strlen(s));
}

/* Two digits of at most @most. */
static bool is_pair(const char *s, int most)
{
	return isdigit((unsigned char)s[0]) && isdigit((unsigned char)s[1]) &&
		(s[0] - '0') * 10 + s[1] - '0' <= most;
}

/* "13:46:27.5z", "13:46:27+01:00" and so on, @n bytes; offsets may be any, the seconds no leap second. */
static bool is_time_of(const char *s, size_t n)
{
	enum { CLOCK = 8, OFFSET = 6, ANY = 99 };
	const char *end = s + n, *zone = s + CLOCK;

	if (n <= CLOCK || !is_pair(s, 23) || s[2] != ':' || !is_pair(s + 3, 59) || s[5] != ':' ||
		!is_pair(s + 6, 59))
		return false;
	if (end - zone > 1 && isdigit((unsigned char)zone[1]) && strcspn(zone, "+-") != 0)
		zone += 1 + strspn(zone + 1, "0123456789");
	if (end - zone == 1)
		return *zone == 'z' || *zone == 'Z';
	return end - zone == OFFSET && (*zone == '+' || *zone == '-') && is_pair(zone + 1, ANY) &&
		zone[3] == ':' && is_pair(zone + 4, ANY);
}

/* As the server looks at it: what follows a second "t" is not seen. */
static bool is_date_time(const char *s)
{
	size_t date = strcspn(s, "tT");
	const char *clock = s + date + 1;

	return s[date] && is_date_of(s, date) && is_time_of(clock, strcspn(clock, "tT"));
}

static bool is_short_name(const char *s)
{
	return sim_check_dns_label(s).n == 0;
}

static bool is_long_name(const char *s)
{
	return sim_check_dns_subdomain(s).n == 0;
}

static bool of_numbers(const struct schema_node *n, const char *format)
{
	if (n->types == TYPE_INTEGER)
		return !strcmp(format, "int32") || !strcmp(format, "int64");
	return !strcmp(format, "float") || !strcmp(format, "double");
}

/* The server ignores dashes when it looks a format up. */
static bool same_format(const char *a, const char *known)
{
	for (; *a; a++) {
		if (*a == '-')
			continue;
		if (*a != *known++)
			return false;
	}
	return !*known;
}

void schema_format_compile(struct schema_node *n, const char *format)
{
	static const struct {
		const char *name;
		schema_format_fn *holds; /* NULL: not checked here */
	} of_text[] = {
		{ "datetime", is_date_time },
		{ "date", is_date },
		{ "k8sshortname", is_short_name },
		{ "k8slongname", is_long_name },
		{ "bsonobjectid", NULL },
		{ "uri", NULL },
		{ "email", NULL },
		{ "hostname", NULL },
		{ "ipv4", NULL },
		{ "ipv6", NULL },
		{ "cidr", NULL },
		{ "mac", NULL },
		{ "uuid", NULL },
		{ "uuid3", NULL },
		{ "uuid4", NULL },
		{ "uuid5", NULL },
		{ "isbn", NULL },
		{ "isbn10", NULL },
		{ "isbn13", NULL },
		{ "creditcard", NULL },
		{ "ssn", NULL },
		{ "hexcolor", NULL },
		{ "rgbcolor", NULL },
		{ "byte", NULL },
		{ "password", NULL },
		{ "duration", NULL },
	};
	bool several = (n->types & (n->types - 1)) != 0;

	if (n->types == TYPE_INTEGER || n->types == TYPE_NUMBER) {
		n->format = of_numbers(n, format) ? format : NULL;
		return;
	}
	for (size_t i = 0; i < KAR_LEN(of_text); i++) {
		if ((n->types && n->types != TYPE_STRING && !several) ||
			!same_format(format, of_text[i].name))
			continue;
		n->format = format;
		n->format_holds = of_text[i].holds;
	}
}

/* ---- patterns ---- */

enum {
	WRITTEN_OUT_MAX = 2000
}; /* characters; what takes more is not compiled, which would take memory and time */

/*
 * An RE2 pattern as a POSIX extended one; false if it has something that POSIX has no words for: flags, lazy repetitions,
 * escapes inside brackets, classes of other letters.
 */
static bool to_posix(const char *p, struct kar_buf *out)
{
	static const char same[] = "\\.+*?()[]{}|^$/-";
	bool bracket = false;

	for (; *p; p++) {
		if (bracket && *p == '\\')
			return false;
		if (*p == '[' && !bracket)
			bracket = true;
		else if (*p == ']')
			bracket = false;
		if (!bracket && strchr("*+?}", p[0]) && p[1] == '?')
			return false;
		if (!bracket && p[0] == '(' && p[1] == '?') {
			if (p[2] != ':')
				return false;
			kar_buf_puts(out, "(");
			p += 2;
		} else if (p[0] == '\\' && p[1] == 'd') {
			kar_buf_puts(out, "[0-9]");
			p++;
		} else if (p[0] == '\\') {
			if (!p[1] || !strchr(same, p[1]))
				return false;
			kar_buf_append(out, p++, 2);
		} else {
			kar_buf_append(out, p, 1);
		}
	}
	return true;
}

int schema_pattern_compile(struct sim_schema *s, struct schema_node *n, const char *pattern,
	struct kar_err *err)
{
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf posix = { 0 };
	struct schema_regex *r = kar_arena_alloc(&s->arena, 1, sizeof(*r));
	struct schema_extent extent;
	char why[128];

	n->pattern = pattern;
	if (!to_posix(pattern, &posix))
		return 0;
	extent = schema_pattern_extent(kar_buf_cstr(&posix));
	if (extent.refused.n)
		return kar_fail(err, KAR_INVALID,
			"must be a valid regular expression, but isn't: error parsing regexp: %s: `%.*s`",
			extent.nested ? "invalid nested repetition operator" : "invalid repeat count",
			(int)extent.refused.n, extent.refused.p);
	if (extent.characters > WRITTEN_OUT_MAX)
		return 0;

	int rc = regcomp(&r->regex, kar_buf_cstr(&posix), REG_EXTENDED | REG_NOSUB);

	if (rc) {
		regerror(rc, &r->regex, why, sizeof(why));
		return kar_fail(err, KAR_INVALID, "must be a valid regular expression, but isn't: %s", why);
	}
	SLIST_INSERT_HEAD(&s->regexes, r, link);
	n->regex = &r->regex;
	return 0;
}
