#include <string.h>
#include <strings.h>

#include <bsd/string.h>

#include "common/base/buf.h"
#include "common/codec/json.h"
#include "common/codec/protobuf.h"
#include "common/kube/client.h"
#include "common/net/http_text.h"

enum {
	TEXT_KEPT = 256, /* of an answer that is no Status */
	MS_PER_S = 1000,
};

/* The part of metav1.Status that is used. */
struct cause {
	const char *reason, *message, *field;
};

struct details {
	struct kar_array causes;
	int64_t retry_after_seconds;
};

struct status {
	const char *kind, *message, *reason;
	int32_t code;
	struct details details;
};

static const struct kar_field cause_fields[] = {
	KAR_FIELD_PB(struct cause, reason, "reason", 1, KAR_F_STRING),
	KAR_FIELD_PB(struct cause, message, "message", 2, KAR_F_STRING),
	KAR_FIELD_PB(struct cause, field, "field", 3, KAR_F_STRING),
};
static const struct kar_desc cause_desc = KAR_DESC("StatusCause", struct cause, cause_fields);

static const struct kar_field details_fields[] = {
	KAR_FIELD_PB_SUB(struct details, causes, "causes", 4, KAR_F_ARRAY, &cause_desc),
	KAR_FIELD_PB(struct details, retry_after_seconds, "retryAfterSeconds", 5, KAR_F_INT64),
};
static const struct kar_desc details_desc = KAR_DESC("StatusDetails", struct details, details_fields);

static const struct kar_field status_fields[] = {
	KAR_FIELD(struct status, kind, "kind", KAR_F_STRING),
	KAR_FIELD_PB(struct status, message, "message", 3, KAR_F_STRING),
	KAR_FIELD_PB(struct status, reason, "reason", 4, KAR_F_STRING),
	KAR_FIELD_PB(struct status, code, "code", 6, KAR_F_INT32),
	KAR_FIELD_PB_SUB(struct status, details, "details", 5, KAR_F_OBJECT, &details_desc),
};
static const struct kar_desc status_desc = KAR_DESC("Status", struct status, status_fields);

static bool equal(const char *a, const char *b)
{
	return a && strcmp(a, b) == 0;
}

/* The reasons of causes say more than the Status's own: "NamespaceTerminating", "ResourceVersionTooLarge". */
static bool has_cause(const struct status *s, const char *reason)
{
	const struct cause *causes = s->details.causes.items;

	for (size_t i = 0; i < s->details.causes.n; i++) {
		if (equal(causes[i].reason, reason))
			return true;
	}
	return false;
}

/* Only the message tells: its words are those of the admission plug-in ResourceQuota, or of the authorizer. */
static enum kar_cause cause_of(int http, const struct status *s)
{
	const char *message = http == 403 && s->message ? s->message : "";

	if (has_cause(s, "NamespaceTerminating"))
		return KAR_CAUSE_NAMESPACE_ENDS;
	if (strstr(message, "exceeded quota: "))
		return KAR_CAUSE_QUOTA;
	if (strstr(message, "failed quota: "))
		return KAR_CAUSE_QUOTA_NEEDS;
	return strstr(message, "User \"") && strstr(message, "\" cannot ") ? KAR_CAUSE_RBAC : KAR_CAUSE_NONE;
}

/* What stands in @text behind @before and up to @after; "" if that is not there, or is longer than @size allows. */
static void read_between(const char *text, const char *before, const char *after, char *out, size_t size)
{
	const char *start = strstr(text, before);
	const char *end = start ? strstr(start, after) : NULL;
	size_t n = end ? (size_t)(end - start) - strlen(before) : 0;

	out[0] = '\0';
	if (n && n < size)
		strlcpy(out, start + strlen(before), n + 1);
}

/* `exceeded quota: q, requested: pods=1,requests.cpu=2, used: ...`: without the amounts, which change with each pod that is tried. */
void kar_quota_words_read(const char *message, struct kar_quota_words *out)
{
	char *end = out->lacks;

	read_between(message, "exceeded quota: ", ", requested: ", out->name, sizeof(out->name));
	read_between(message, "requested: ", ", used: ", out->lacks, sizeof(out->lacks));
	for (const char *at = out->lacks; *at;) {
		size_t n = strcspn(at, "=,");

		memmove(end, at, n);
		end += n;
		at += strcspn(at, ",");
		if (*at)
			*end++ = *at++;
	}
	*end = '\0';
}

static bool version_too_large(const struct status *s)
{
	return has_cause(s, "ResourceVersionTooLarge") ||
		(s->message && strcasestr(s->message, "too large resource version"));
}

/*
 * 5xx, 408: a write may have been executed (a lost reply of etcd's, a proxy's time-out). 503 with a reason
 * or a Retry-After is the API server refusing work before it begins; 429 always is.
 */
static enum kar_class classify_transient(int http, bool refused, bool write)
{
	if (http == 429 || (http == 503 && refused))
		return KAR_RETRY;
	return write ? KAR_UNKNOWN : KAR_RETRY;
}

static enum kar_class classify(int http, const struct status *s, bool refused, bool write)
{
	switch (http) {
	case 401:
		return KAR_UNAUTHORIZED;
	case 403:
		return KAR_DENIED;
	case 404:
		return KAR_NOTFOUND;
	case 409:
		return equal(s->reason, "AlreadyExists") ? KAR_EXISTS : KAR_CONFLICT;
	case 410:
		return KAR_GONE;
	case 408:
	case 429:
		return classify_transient(http, refused, write);
	default:
		if (version_too_large(s))
			return KAR_GONE;
		return http >= 500 ? classify_transient(http, refused, write) : KAR_INVALID;
	}
}

/*
 * At most TEXT_KEPT bytes of @text in one line of printable ASCII: it may be HTML, binary, or cut in a
 * character.
 */
static void put_text(char *out, size_t size, struct kar_str text)
{
	size_t n = 0;

	for (size_t i = 0; i < text.n && n < TEXT_KEPT && n + 1 < size; i++) {
		char c = text.p[i];
		bool space = c == ' ' || (c >= '\t' && c <= '\r');

		if (space && (n == 0 || out[n - 1] == ' '))
			continue;
		if (space)
			out[n++] = ' ';
		else
			out[n++] = c > ' ' && c < 0x7f ? c : '?';
	}
	while (n && out[n - 1] == ' ')
		n--;
	out[n] = '\0';
}

static bool says(const char *text, const struct cause *c)
{
	return c->message && strstr(text, c->message) && (!c->field || strstr(text, c->field));
}

/* Adds what the message does not say already, as far as an error has room for it. */
static void put_causes(struct kar_buf *text, const struct status *s)
{
	const struct cause *causes = s->details.causes.items;

	for (size_t i = 0; i < s->details.causes.n && text->n < KAR_ERR_MSG_BYTES; i++) {
		const struct cause *c = &causes[i];

		if (!says(kar_buf_cstr(text), c))
			kar_buf_printf(text, "%s%s%s%s%s%s", i ? ", " : "; ", c->field ? c->field : "",
				c->field ? ": " : "", c->reason ? c->reason : "",
				c->reason && c->message ? " " : "", c->message ? c->message : "");
	}
}

static void put_status(struct kar_buf *text, const struct status *s)
{
	kar_buf_printf(text, ": %s", s->message ? s->message : s->reason ? s->reason : "");
	put_causes(text, s);
}

static void put_answer(struct kar_buf *text, int http, struct kar_str body)
{
	char kept[TEXT_KEPT + 1];

	put_text(kept, sizeof(kept), body);
	kar_buf_printf(text, ": HTTP %d%s%s", http, *kept ? ": " : "", kept);
}

/* With or without parameters. */
static bool is_type(const char *content_type, const char *type)
{
	return strncasecmp(content_type, type, strlen(type)) == 0;
}

static bool read_status(struct kar_arena *arena, const char *content_type, struct kar_str body,
	struct status *s)
{
	int rc = -1;

	if (!body.n)
		return false;
	if (is_type(content_type, "application/json"))
		rc = kar_json_decode(arena, &status_desc, NULL, body.p, body.n, s, NULL);
	else if (is_type(content_type, "application/vnd.kubernetes.protobuf"))
		rc = kar_protobuf_decode(arena, &status_desc, NULL, body.p, body.n, s, NULL);
	if (rc)
		return false;
	if (equal(s->kind, "Status"))
		return true;
	*s = (struct status){ 0 };
	return false;
}

static kar_time longest_wait(kar_time header, int64_t seconds)
{
	kar_time body = 0;

	if (seconds > 0)
		body = seconds < KAR_RETRY_AFTER_MAX / MS_PER_S ? seconds * MS_PER_S : KAR_RETRY_AFTER_MAX;
	return header > body ? header : body;
}

void kar_status_error(struct kar_err *err, int http, const char *content_type, struct kar_str body,
	kar_time retry_after, bool write, const char *what)
{
	struct kar_arena arena = { 0 };
	struct status s = { 0 };
	bool is_status = read_status(&arena, content_type, body, &s);
	struct kar_buf text = { 0 };

	if (http < 400 && s.code >= 400) /* an ERROR event inside a 200 answer */
		http = s.code;
	retry_after = longest_wait(retry_after, s.details.retry_after_seconds);
	kar_buf_puts(&text, what);
	if (is_status)
		put_status(&text, &s);
	else
		put_answer(&text, http, body);
	kar_fail(err, classify(http, &s, is_status || retry_after, write), "%s", kar_buf_cstr(&text));
	err->http = http;
	err->cause = cause_of(http, &s);
	if (err->cause == KAR_CAUSE_QUOTA && s.message)
		kar_quota_words_read(s.message, &err->quota);
	err->retry_after = retry_after;
	strlcpy(err->reason, s.reason ? s.reason : "", sizeof(err->reason));
	kar_buf_release(&text);
	kar_arena_release(&arena);
}
