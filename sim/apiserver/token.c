#include "sim/apiserver/token.h"

#include <string.h>

#include <bsd/string.h>

#include "common/kube/pem.h"
#include "sim/tree.h"

static const char api[] = "meta.k8s.io/v1", nul[] = "\\u0000\"}";

/* Standard base64 to the URL-safe form without padding. */
static void append_url(struct kar_buf *out, struct kar_buf *standard)
{
	while (standard->n && standard->p[standard->n - 1] == '=')
		standard->n--;
	for (size_t i = 0; i < standard->n; i++) {
		if (standard->p[i] == '+')
			standard->p[i] = '-';
		else if (standard->p[i] == '/')
			standard->p[i] = '_';
	}
	kar_buf_append(out, standard->p, standard->n);
}

void sim_token_print(int64_t rv, const char *after, struct kar_buf *out)
{
	struct kar_buf json KAR_CLEANUP(kar_cleanup_buf) = { 0 }, base64 KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	struct sim_value *start = sim_string(after);

	kar_buf_printf(&json, "{\"v\":\"%s\",\"rv\":%lld,\"start\":", api, (long long)rv);
	sim_print(start, &json);
	sim_unref(start);
	json.n--; /* its closing quote: NUL comes before it, which a tree cannot hold */
	kar_buf_puts(&json, nul);
	kar_base64_encode(&base64, json.p, json.n);
	append_url(out, &base64);
}

/* The JSON text as a tree, without the NUL at the end of "start". */
static struct sim_value *parse_json(char *json, size_t n, struct kar_err *err)
{
	size_t tail = strlen(nul);

	if (n > tail && !memcmp(json + n - tail, nul, tail)) {
		memcpy(json + n - tail, "\"}", 3);
		n -= tail - 2;
	}
	struct kar_err inner = { 0 };
	struct sim_value *v = sim_parse(json, n, &inner);

	if (!v)
		kar_fail(err, KAR_INVALID, "continue key is not valid: %s", inner.msg);
	return v;
}

static bool climbs(const char *key)
{
	return !strncmp(key, "../", 3) || strstr(key, "/../") || strstr(key, "//") || strstr(key, "/./") ||
		!strcmp(key, "..");
}

static int take(const struct sim_value *v, struct sim_token *out, struct kar_err *err)
{
	const char *version = sim_text_or(sim_member(v, "v"), ""),
		   *start = sim_text_or(sim_member(v, "start"), "");
	int64_t rv = sim_int_of(sim_member(v, "rv"), 0);

	if (strcmp(version, api) != 0)
		return kar_fail(err, KAR_INVALID,
			"continue key is not valid: server does not recognize this encoded version %s",
			version);
	if (rv == 0)
		return kar_fail(err, KAR_INVALID,
			"continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
	if (!*start)
		return kar_fail(err, KAR_INVALID,
			"continue key is not valid: encoded start key empty (version meta.k8s.io/v1)");
	start += *start == '/';
	if (climbs(start) || strlcpy(out->after, start, sizeof(out->after)) >= sizeof(out->after))
		return kar_fail(err, KAR_INVALID, "continue key is not valid: %s", start);
	out->rv = rv;
	return 0;
}

int sim_token_parse(const char *text, struct sim_token *out, struct kar_err *err)
{
	struct kar_arena arena = { 0 };
	size_t n = 0, bad = 0;
	char *json = kar_base64_decode(&arena, KAR_BASE64_URL, text, strlen(text), &n, &bad);
	int rc = -1;

	if (!json) {
		/* Go counts up to the character that stands alone. */
		kar_fail(err, KAR_INVALID, "continue key is not valid: illegal base64 data at input byte %zu",
			bad == strlen(text) && bad % 4 == 1 ? bad - 1 : bad);
	} else {
		struct sim_value *v KAR_CLEANUP(sim_cleanup_value) = parse_json(json, n, err);

		rc = v ? take(v, out, err) : -1;
	}
	kar_arena_release(&arena);
	return rc;
}
