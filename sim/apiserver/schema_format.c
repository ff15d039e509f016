#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/timefmt.h"
#include "sim/apiserver/schema_impl.h"
#include "sim/apiserver/syntax.h"

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
