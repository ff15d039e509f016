#include "common/kube/exec_result.h"

#include <string.h>

#include "common/base/timefmt.h"
#include "common/codec/json.h"
#include "common/kube/pem.h"

struct status {
	const char *token, *cert_pem, *key_pem;
	kar_time expires; /* 0: absent */
};

struct credential {
	const char *api_version, *kind;
	struct status *status;
};

static const struct kar_field status_fields[] = {
	KAR_FIELD(struct status, token, "token", KAR_F_STRING),
	KAR_FIELD(struct status, cert_pem, "clientCertificateData", KAR_F_STRING),
	KAR_FIELD(struct status, key_pem, "clientKeyData", KAR_F_STRING),
	KAR_FIELD(struct status, expires, "expirationTimestamp", KAR_F_TIME),
};
static const struct kar_desc status_desc = KAR_DESC("status", struct status, status_fields);
static const struct kar_field credential_fields[] = {
	KAR_FIELD(struct credential, api_version, "apiVersion", KAR_F_STRING),
	KAR_FIELD(struct credential, kind, "kind", KAR_F_STRING),
	KAR_FIELD_SUB(struct credential, status, "status", KAR_F_OBJECT_PTR, &status_desc),
};
static const struct kar_desc credential_desc =
	KAR_DESC("ExecCredential", struct credential, credential_fields);

static bool is_set(const char *s)
{
	return s && *s;
}

static const char *or_null(const char *s)
{
	return is_set(s) ? s : NULL;
}

static int check_version(const struct credential *c, const char *wanted, struct kar_err *err)
{
	const char *version = c->api_version ? c->api_version : "";

	if (!c->kind || strcmp(c->kind, "ExecCredential") != 0)
		return kar_fail(err, KAR_FATAL, "did not print an ExecCredential (its kind is \"%.64s\")",
			c->kind ? c->kind : "");
	if (strcmp(version, wanted) != 0)
		return kar_fail(err, KAR_FATAL,
			"answered with apiVersion \"%.64s\", but the kubeconfig asks for \"%s\"; make them equal",
			version, wanted);
	return 0;
}

/* Puts the name of the checked member in front of a text like "is empty". */
static int blame(struct kar_err *err, const char *member)
{
	struct kar_err e = *err;

	return kar_fail(err, KAR_RETRY, "status.%s %s", member, e.msg);
}

static int check_status(const struct status *s, kar_time wall, struct kar_err *err)
{
	char when[KAR_TIME_LEN];

	if (!s || (!is_set(s->token) && !is_set(s->cert_pem)))
		return kar_fail(err, KAR_RETRY, "gave neither a token nor a client certificate");
	if (is_set(s->cert_pem) != is_set(s->key_pem))
		return kar_fail(err, KAR_RETRY, "gave only one of clientCertificateData and clientKeyData");
	if (is_set(s->token) && kar_token_check(s->token, err))
		return blame(err, "token");
	if (is_set(s->cert_pem) && kar_pem_check(s->cert_pem, KAR_PEM_CERTIFICATE, err))
		return blame(err, "clientCertificateData");
	if (is_set(s->key_pem) && kar_pem_check(s->key_pem, KAR_PEM_PRIVATE_KEY, err))
		return blame(err, "clientKeyData");
	if (s->expires && s->expires <= wall)
		return kar_fail(err, KAR_RETRY,
			"gave a credential that expired at %s; log in again, or check the clock",
			kar_time_format(s->expires, when));
	return 0;
}

/* The decoder's texts name a path and an offset, never a value of ours. */
int kar_exec_result_read(struct kar_arena *arena, struct kar_str out, const char *api_version, kar_time wall,
	struct kar_exec_result *result, struct kar_err *err)
{
	const struct kar_limits limits = { .string = KAR_EXEC_OUT_MAX, .document = KAR_EXEC_OUT_MAX };
	struct credential c = { 0 };

	if (!out.n)
		return kar_fail(err, KAR_RETRY, "printed nothing on its standard output");
	if (kar_json_decode(arena, &credential_desc, &limits, out.p, out.n, &c, err)) {
		err->what = KAR_RETRY;
		return kar_wrap(err, "did not print an ExecCredential");
	}
	if (check_version(&c, api_version, err) || check_status(c.status, wall, err))
		return -1;
	*result = (struct kar_exec_result){
		.token = or_null(c.status->token),
		.cert_pem = or_null(c.status->cert_pem),
		.key_pem = or_null(c.status->key_pem),
		.expires = c.status->expires ? c.status->expires : KAR_NEVER,
	};
	return 0;
}
