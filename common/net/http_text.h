/*
 * http_text - the textual side of HTTP: response header lines, Retry-After, URLs. Pure; for http.c.
 */
#ifndef KAR_HTTP_TEXT_H
#define KAR_HTTP_TEXT_H

#include "common/base/base.h"

/* What is kept of a response's header lines. Zero-initialise it. Longer values are cut. */
struct kar_head_text {
	int status; /* 0 before the first status line */
	bool http2;
	bool done; /* the blank line of a final (not 1xx) response has been seen; the rest are trailers */
	kar_time retry_after; /* ms, 0 if absent */
	char content_type[128];
	char warning[512];
};

/* Takes one line, with or without its line end. @wall: now, for a Retry-After that is a date. */
void kar_head_text_add(struct kar_head_text *t, const char *line, size_t n, kar_time wall) KAR_NONNULL;

/*
 * ms of a Retry-After value: seconds or an HTTP date (RFC 9110, 10.2.3). At most KAR_RETRY_AFTER_MAX, so
 * that no answer can silence a client for good; 0 if it is neither or lies in the past.
 */
#define KAR_RETRY_AFTER_MAX (10 * KAR_MINUTE)
kar_time kar_retry_after_parse(const char *value, kar_time wall) KAR_NONNULL;

/* Parts of "scheme://host[:port][/path]"; they point into the URL. */
struct kar_url {
	struct kar_str scheme;
	struct kar_str host; /* IPv6 addresses with their brackets */
	struct kar_str port; /* n == 0 if absent */
	struct kar_str rest; /* from the "/" on; may be empty */
};
/* 0, or -1 if @url is not of that form (user information is refused). */
int kar_url_split(const char *url, struct kar_url *out) KAR_NONNULL;

/* True if a request with this method changes something. */
bool kar_method_writes(const char *method) KAR_NONNULL;

/* True if @header is one header line: no control character that could start another one. */
bool kar_header_is_clean(const char *header) KAR_NONNULL;

/* Appends to the text of a failed TLS handshake what it means where the server speaks plain text; @size: room of @text. */
void kar_tls_error_explain(char *text, size_t size) KAR_NONNULL;

#endif
