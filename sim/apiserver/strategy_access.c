/*
 * Answers about identity. Everybody may do everything here, and tokens prove nothing: they only look like real
 * ones.
 */
#include <string.h>

#include "common/base/timefmt.h"
#include "sim/apiserver/strategy.h"

enum { TOKEN_SECONDS = 3600, SHORTEST_TOKEN = 600 };
static const char issuer[] = "https://kubernetes.default.svc";

/* ---- tokens ---- */

static void append_base64url(struct kar_buf *out, const char *text, size_t n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

	for (size_t i = 0; i < n; i += 3) {
		size_t left = n - i < 3 ? n - i : 3;
		uint32_t bits = 0;

		for (size_t k = 0; k < 3; k++)
			bits = bits << 8 | (k < left ? (unsigned char)text[i + k] : 0u);
		for (size_t k = 0; k <= left; k++)
			kar_buf_append(out, &digits[bits >> (18 - 6 * k) & 63], 1);
	}
}

static struct sim_value *make_token(struct sim_apiserver *s, const char *ns, const char *name,
	int64_t seconds)
{
	struct kar_buf token KAR_CLEANUP(kar_cleanup_buf) = { 0 },
			     claims KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	kar_time now = sim_timeline_wall(sim_apiserver_timeline(s)) / KAR_SECOND;
	static const char header[] = "{\"alg\":\"none\",\"typ\":\"JWT\"}";

	kar_buf_printf(&claims,
		"{\"aud\":[\"%s\"],\"exp\":%lld,\"iat\":%lld,\"iss\":\"%s\",\"nbf\":%lld,"
		"\"sub\":\"system:serviceaccount:%s:%s\"}",
		issuer, (long long)now + seconds, (long long)now, issuer, (long long)now, ns, name);
	append_base64url(&token, header, strlen(header));
	kar_buf_puts(&token, ".");
	append_base64url(&token, claims.p, claims.n);
	kar_buf_puts(&token, ".");
	append_base64url(&token, "simulated", strlen("simulated"));
	return sim_string_n(token.p, token.n);
}

static void answer_token(struct sim_apiserver *s, const struct sim_request *rq, const struct sim_value *body,
	struct sim_response *out)
{
	int64_t seconds = sim_get_int(body, TOKEN_SECONDS, "spec", "expirationSeconds");
	struct sim_value *answer = sim_object(), *audiences = sim_get(body, "spec", "audiences");

	sim_set_text(&answer, "TokenRequest", "kind");
	sim_set_text(&answer, "authentication.k8s.io/v1", "apiVersion");
	sim_set_text(&answer, rq->name, "metadata", "name");
	sim_set_text(&answer, rq->ns, "metadata", "namespace");
	if (audiences) {
		audiences = sim_ref(audiences);
	} else {
		audiences = sim_array();
		sim_append(&audiences, sim_string(issuer));
	}
	sim_set(&answer, audiences, "spec", "audiences");
	sim_set(&answer, sim_int(seconds), "spec", "expirationSeconds");
	sim_set(&answer, sim_null(), "spec", "boundObjectRef");
	sim_set(&answer, make_token(s, rq->ns, rq->name, seconds), "status", "token");
	sim_set(&answer, sim_time(sim_timeline_wall(sim_apiserver_timeline(s)) + seconds * KAR_SECOND),
		"status", "expirationTimestamp");
	*out = (struct sim_response){ .code = 201, .object = answer };
}

static void refuse_short(struct sim_response *out, const struct sim_value *seconds)
{
	static const struct sim_resource tokens = { .group = "authentication.k8s.io",
		.version = "v1",
		.plural = "tokenrequests",
		.kind = "TokenRequest" };
	struct sim_causes causes = { 0 };

	sim_cause_invalid(&causes, SIM_AT(SIM_AT(NULL, "spec"), "expirationSeconds"), seconds,
		"may not specify a duration less than 10 minutes");
	sim_refuse_invalid(out, &tokens, "", &causes);
	sim_causes_release(&causes);
}

static bool token(struct sim_apiserver *s, const struct sim_resource *r, const struct sim_request *rq,
	struct sim_response *out)
{
	struct sim_value *body;
	const struct sim_value *seconds;

	if (strcmp(rq->subresource, "token") != 0 || rq->verb != KAR_CREATE)
		return false;
	body = sim_request_object(rq, out);
	seconds = sim_get(body, "spec", "expirationSeconds");
	if (!body)
		return true;
	if (!sim_apiserver_peek(s, "", "serviceaccounts", rq->ns, rq->name))
		sim_refuse_not_found(out, r, rq->name);
	else if (sim_int_of(seconds, TOKEN_SECONDS) < SHORTEST_TOKEN)
		refuse_short(out, seconds);
	else
		answer_token(s, rq, body, out);
	sim_unref(body);
	return true;
}

const struct sim_strategy sim_strategy_service_account = { .subresource = token };

/* ---- reviews ---- */

/* The request with a status is the answer; nothing is stored. */
static bool review_access(struct sim_apiserver *s, const struct sim_resource *r, const struct sim_request *rq,
	struct sim_response *out)
{
	struct sim_value *body = sim_request_object(rq, out), *answer;
	const struct sim_value *spec = sim_member(body, "spec");

	(void)s;
	if (!body)
		return true;
	answer = sim_object();
	sim_set_text(&answer, r->kind, "kind");
	sim_set(&answer, sim_printf("%s/%s", r->group, r->version), "apiVersion");
	sim_set(&answer, sim_object(), "metadata");
	sim_set(&answer, spec ? sim_ref(spec) : sim_object(), "spec");
	sim_set(&answer, sim_bool(true), "status", "allowed");
	sim_unref(body);
	*out = (struct sim_response){ .code = 201, .object = answer };
	return true;
}

const struct sim_strategy sim_strategy_access_review = { .create = review_access };
