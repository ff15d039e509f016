#include "common/net/http_text.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include <bsd/stdlib.h>
#include <bsd/string.h>

enum { MS_PER_S = 1000 };

/* Copies "  value \r\n" without the white space around it; cuts what does not fit. */
static void copy_trimmed(char *out, size_t size, const char *p, size_t n)
{
	while (n && isspace((unsigned char)*p)) {
		p++;
		n--;
	}
	while (n && isspace((unsigned char)p[n - 1]))
		n--;
	if (n >= size)
		n = size - 1;
	memcpy(out, p, n);
	out[n] = '\0';
}

/*
 * "HTTP/1.1 200 OK", "HTTP/2 200": the head starts anew, since 1xx responses may come before the final one.
 */
static void add_status_line(struct kar_head_text *t, const char *line, size_t n)
{
	const char *space = memchr(line, ' ', n);
	size_t left = space ? n - (size_t)(space + 1 - line) : 0;

	*t = (struct kar_head_text){ .http2 = n > 5 && line[5] == '2' };
	for (size_t i = 0; i < 3 && i < left && isdigit((unsigned char)space[1 + i]); i++)
		t->status = t->status * 10 + (space[1 + i] - '0');
}

static bool name_is(const char *line, size_t n, const char *name)
{
	size_t len = strlen(name);

	return n > len && line[len] == ':' && strncasecmp(line, name, len) == 0;
}

static void add_field(struct kar_head_text *t, const char *line, size_t n, kar_time wall)
{
	const char *value = memchr(line, ':', n);
	size_t left;
	char seconds_or_date[64];

	if (!value)
		return;
	value++;
	left = n - (size_t)(value - line);
	if (name_is(line, n, "Content-Type")) {
		copy_trimmed(t->content_type, sizeof(t->content_type), value, left);
	} else if (name_is(line, n, "Warning") && !t->warning[0]) {
		copy_trimmed(t->warning, sizeof(t->warning), value, left);
	} else if (name_is(line, n, "Retry-After")) {
		copy_trimmed(seconds_or_date, sizeof(seconds_or_date), value, left);
		t->retry_after = kar_retry_after_parse(seconds_or_date, wall);
	}
}

void kar_head_text_add(struct kar_head_text *t, const char *line, size_t n, kar_time wall)
{
	if (t->done)
		return;
	if (n >= 5 && memcmp(line, "HTTP/", 5) == 0)
		add_status_line(t, line, n);
	else if (n == 0 || line[0] == '\r' || line[0] == '\n')
		t->done = t->status >= 200;
	else
		add_field(t, line, n, wall);
}

kar_time kar_retry_after_parse(const char *value, kar_time wall)
{
	const char *error;
	long long seconds = strtonum(value, 0, KAR_RETRY_AFTER_MAX / MS_PER_S, &error);
	struct tm tm = { 0 };
	kar_time wait;

	if (!error)
		return seconds * MS_PER_S;
	if (strspn(value, "0123456789") == strlen(value) && value[0])
		return KAR_RETRY_AFTER_MAX;
	if (!strptime(value, "%a, %d %b %Y %H:%M:%S GMT", &tm))
		return 0;
	wait = (kar_time)timegm(&tm) * MS_PER_S - wall;
	if (wait <= 0)
		return 0;
	return wait < KAR_RETRY_AFTER_MAX ? wait : KAR_RETRY_AFTER_MAX;
}

int kar_url_split(const char *url, struct kar_url *out)
{
	const char *colon = strstr(url, "://");
	const char *host = colon ? colon + 3 : url;
	size_t authority = strcspn(host, "/?#");
	const char *end = host + authority;
	const char *after = host; /* where a port may start */

	if (!colon || colon == url || authority == 0 || memchr(host, '@', authority))
		return -1;
	if (host[0] == '[') {
		after = memchr(host, ']', authority);
		if (!after)
			return -1;
	}
	after = memchr(after, ':', (size_t)(end - after));
	if (!after)
		after = end;
	*out = (struct kar_url){
		.scheme = { url, (size_t)(colon - url) },
		.host = { host, (size_t)(after - host) },
		.port = { after < end ? after + 1 : end, after < end ? (size_t)(end - after - 1) : 0 },
		.rest = { end, strlen(end) },
	};
	return out->host.n ? 0 : -1;
}

bool kar_method_writes(const char *method)
{
	return strcmp(method, "GET") != 0;
}

bool kar_header_is_clean(const char *header)
{
	for (; *header; header++) {
		if (iscntrl((unsigned char)*header) && *header != '\t')
			return false;
	}
	return true;
}

/* What TLS libraries say of it (OpenSSL, GnuTLS) helps nobody who mistyped a URL. */
void kar_tls_error_explain(char *text, size_t size)
{
	static const char *const signs[] = { "wrong version number", "packet length",
		"unexpected TLS packet" };

	for (size_t i = 0; i < KAR_LEN(signs); i++) {
		if (!strstr(text, signs[i]))
			continue;
		strlcat(text, " (the server does not speak TLS: should the URL begin with http://?)", size);
		return;
	}
}
