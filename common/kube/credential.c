#include "common/kube/credential.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>
#include <bsd/sys/queue.h>

#include "common/codec/json.h"
#include "common/kube/credential_files.h"
#include "common/kube/exec.h"
#include "common/kube/pem.h"
#include "common/loop/clock.h"

static const struct kar_credential_options defaults = {
	.token_period = 60 * KAR_SECOND,
	.tls_period = 5 * KAR_MINUTE,
	.settle = 2 * KAR_SECOND,
	.exec_timeout = 60 * KAR_SECOND,
	.retry_base = KAR_SECOND,
	.forced_gap = 30 * KAR_SECOND,
};
static const kar_time retry_cap = 60 * KAR_SECOND;
static const kar_time longest_margin = 30 * KAR_SECOND;

struct waiter {
	TAILQ_ENTRY(waiter) link;
	kar_auth_fn *ready;
	void *arg;
};
TAILQ_HEAD(waiters, waiter);

/* What the plug-in gave and when to run it again. */
struct plugin {
	struct kar_exec *run; /* while it runs */
	bool have;            /* it has succeeded at least once */
	char *token, *cert, *key;
	kar_time expires;    /* wall */
	kar_time refresh_at; /* wall, before it expires */
	kar_time retry_at;   /* mono: not again before, after a failure */
	kar_time retry_delay;
	struct kar_err err; /* of the last run; KAR_OK if it went well */
};

struct kar_credential {
	struct kar_loop *loop;
	const struct kar_kubeconfig *config;
	struct kar_credential_options o;
	struct kar_credfiles files;
	struct plugin plugin;              /* unused without config->exec */
	struct waiters waiting, answering; /* for the plug-in */
	bool rejected;                     /* by a 401 and not refreshed since */
	kar_time forced_at;                /* mono: when a 401 was last honoured; -1: never */
	char *authorization;
	struct kar_auth auth;
	kar_time expires;      /* wall, of what is in auth */
	char expired_what[24]; /* which part that is */
};

/* "exp" of a JSON web token (RFC 7519 section 4.1.4) as wall ms; KAR_NEVER for any other token. */
static kar_time token_expiry(const char *token)
{
	struct claims {
		int64_t exp;
	} claims = { 0 };
	static const struct kar_field fields[] = {
		{ .name = "exp",
			.type = KAR_F_INT64,
			.lenient = true,
			.offset = offsetof(struct claims, exp) },
	};
	static const struct kar_desc desc = KAR_DESC("token", struct claims, fields);
	const int64_t year_9999 = 253402300799;
	const char *dot = strchr(token, '.');
	struct kar_arena arena = { 0 };
	struct kar_err ignored;
	size_t n = 0, bad_at;
	char *json;

	if (!dot)
		return KAR_NEVER;
	json = kar_base64_decode(&arena, KAR_BASE64_URL, dot + 1, strcspn(dot + 1, "."), &n, &bad_at);
	if (!json || kar_json_decode(&arena, &desc, NULL, json, n, &claims, &ignored))
		claims.exp = 0;
	kar_arena_wipe(&arena);
	return claims.exp > 0 && claims.exp <= year_9999 ? claims.exp * KAR_SECOND : KAR_NEVER;
}

static char *make_authorization(const char *token, const struct kar_kubeconfig *config)
{
	struct kar_buf basic = { .secret = true }, encoded = { .secret = true };

	if (token)
		return kar_xasprintf("Bearer %s", token);
	if (!config->username)
		return NULL;
	kar_buf_printf(&basic, "%s:%s", config->username, config->password ? config->password : "");
	kar_buf_puts(&encoded, "Basic ");
	kar_base64_encode(&encoded, kar_buf_cstr(&basic), basic.n);
	kar_buf_release(&basic);
	return kar_buf_detach(&encoded);
}

static const char *first(const char *a, const char *b, const char *c)
{
	if (a)
		return a;
	return b ? b : c;
}

static void note_expiry(struct kar_credential *c, const char *what, kar_time when)
{
	if (when >= c->expires)
		return;
	c->expires = when;
	strlcpy(c->expired_what, what, sizeof(c->expired_what));
}

/* Something was read or given anew: puts all parts together as the next generation. */
static void rebuild(struct kar_credential *c)
{
	const struct kar_kubeconfig *k = c->config;
	const struct plugin *p = &c->plugin;
	const char *token = first(p->token, c->files.files[KAR_CREDFILE_TOKEN].text, k->token);
	bool given = p->cert != NULL; /* a certificate never goes with the key of another source */

	kar_wipe_free(c->authorization);
	c->authorization = make_authorization(token, k);
	c->auth.authorization = c->authorization;
	c->auth.tls = (struct kar_tls){
		.ca_pem = first(k->ca_pem, c->files.files[KAR_CREDFILE_CA].text, NULL),
		.cert_pem =
			given ? p->cert : first(k->cert_pem, c->files.files[KAR_CREDFILE_CERT].text, NULL),
		.key_pem = given ? p->key : first(k->key_pem, c->files.files[KAR_CREDFILE_KEY].text, NULL),
		.server_name = k->tls_server_name,
		.insecure_skip_verify = k->insecure_skip_tls_verify,
	};
	c->auth.generation++;
	c->expires = KAR_NEVER;
	if (token)
		note_expiry(c, "token", token_expiry(token));
	if (c->auth.tls.cert_pem)
		note_expiry(c, "client certificate", kar_pem_not_after(c->auth.tls.cert_pem));
	if (p->have)
		note_expiry(c, "exec credential", p->expires);
}

static kar_time or_default(kar_time given, kar_time fallback)
{
	return given ? given : fallback;
}

static struct kar_credential_options with_defaults(const struct kar_credential_options *o)
{
	return (struct kar_credential_options){
		.token_period = or_default(o->token_period, defaults.token_period),
		.tls_period = or_default(o->tls_period, defaults.tls_period),
		.settle = or_default(o->settle, defaults.settle),
		.exec_timeout = or_default(o->exec_timeout, defaults.exec_timeout),
		.exec_margin = o->exec_margin,
		.retry_base = or_default(o->retry_base, defaults.retry_base),
		.forced_gap = or_default(o->forced_gap, defaults.forced_gap),
	};
}

/* Here a missing file or an expired credential is an error; later the old one may still do. */
static int load_first(struct kar_credential *c, struct kar_err *err)
{
	kar_time wall = kar_loop_wall(c->loop);
	const struct kar_err *why;
	char when[KAR_TIME_LEN];

	kar_credfiles_refresh(&c->files, kar_loop_mono(c->loop), wall, true);
	why = kar_credfiles_error(&c->files);
	if (why)
		return kar_fail(err, KAR_FATAL, "%s", why->msg);
	rebuild(c);
	if (c->expires <= wall)
		return kar_fail(err, KAR_FATAL, "the %s expired at %s; renew it, or check the clock",
			c->expired_what, kar_time_format(c->expires, when));
	return 0;
}

struct kar_credential *kar_credential_new_with(struct kar_loop *l, const struct kar_kubeconfig *config,
	const struct kar_credential_options *o, struct kar_err *err)
{
	struct kar_credential *c = kar_xcalloc(1, sizeof(*c));

	c->loop = l;
	c->config = config;
	c->o = with_defaults(o);
	c->forced_at = -1;
	c->auth.problem = "";
	TAILQ_INIT(&c->waiting);
	TAILQ_INIT(&c->answering);
	kar_credfiles_init(&c->files, config, c->o.token_period, c->o.tls_period, c->o.settle);
	if (load_first(c, err)) {
		kar_wrap(err, "%.150s", config->source ? config->source : "credentials");
		kar_credential_free(c);
		return NULL;
	}
	return c;
}

struct kar_credential *kar_credential_new(struct kar_loop *l, const struct kar_kubeconfig *config,
	struct kar_err *err)
{
	return kar_credential_new_with(l, config, &defaults, err);
}

static void drop_waiters(struct waiters *list, const void *arg, bool all)
{
	struct waiter *w, *next;

	TAILQ_FOREACH_SAFE(w, list, link, next) {
		if (!all && w->arg != arg)
			continue;
		TAILQ_REMOVE(list, w, link);
		free(w);
	}
}

void kar_credential_free(struct kar_credential *c)
{
	if (!c)
		return;
	kar_exec_free(c->plugin.run);
	drop_waiters(&c->waiting, NULL, true);
	drop_waiters(&c->answering, NULL, true);
	kar_wipe_free(c->plugin.token);
	free(c->plugin.cert);
	kar_wipe_free(c->plugin.key);
	kar_credfiles_release(&c->files);
	kar_wipe_free(c->authorization);
	free(c);
}

/* ---- the plug-in ---- */

/* Without a plug-in always. A refused credential is useless until the plug-in has run again. */
static bool is_usable(const struct kar_credential *c)
{
	if (!c->config->exec)
		return true;
	return c->plugin.have && !c->rejected && kar_loop_wall(c->loop) < c->plugin.expires;
}

static void answer(struct kar_credential *c, kar_auth_fn *ready, void *arg)
{
	const struct kar_err *file_err = kar_credfiles_error(&c->files);

	if (!is_usable(c)) {
		ready(arg, NULL, &c->plugin.err);
		return;
	}
	c->auth.problem = "";
	if (c->plugin.err.what != KAR_OK)
		c->auth.problem = c->plugin.err.msg;
	else if (file_err)
		c->auth.problem = file_err->msg;
	ready(arg, &c->auth, NULL);
}

/*
 * A waiter may acquire, abandon or reject while it is answered. New waiters go to the other list; if the new
 * credential was rejected before all have had it, the rest waits for the next one.
 */
static void answer_waiters(struct kar_credential *c)
{
	TAILQ_CONCAT(&c->answering, &c->waiting, link);
	while (!TAILQ_EMPTY(&c->answering)) {
		struct waiter *w = TAILQ_FIRST(&c->answering);
		struct waiter it = *w;

		TAILQ_REMOVE(&c->answering, w, link);
		free(w);
		if (is_usable(c) || c->plugin.err.what != KAR_OK)
			answer(c, it.ready, it.arg);
		else
			kar_credential_acquire(c, it.ready, it.arg);
	}
}

static bool same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Stores a copy of @new. True if it differs from what was there. */
static bool replace(char **old, const char *new)
{
	if (same(*old, new))
		return false;
	kar_wipe_free(*old);
	*old = new ? kar_xstrdup(new) : NULL;
	return true;
}

/* How long before the expiry a new run starts, so that nobody has to wait for it. */
static kar_time margin_for(const struct kar_credential *c, kar_time life)
{
	enum { LIFE_PARTS = 10 };

	if (c->o.exec_margin)
		return c->o.exec_margin;
	return life / LIFE_PARTS < longest_margin ? life / LIFE_PARTS : longest_margin;
}

static void keep_result(struct kar_credential *c, const struct kar_exec_result *result)
{
	struct plugin *p = &c->plugin;
	kar_time margin = margin_for(c, result->expires - kar_loop_wall(c->loop));
	bool changed = !p->have || p->expires != result->expires;

	changed = replace(&p->token, result->token) || changed;
	changed = replace(&p->cert, result->cert_pem) || changed;
	changed = replace(&p->key, result->key_pem) || changed;
	p->have = true;
	p->expires = result->expires;
	p->refresh_at = result->expires == KAR_NEVER ? KAR_NEVER : result->expires - margin;
	p->retry_delay = 0;
	p->err = (struct kar_err){ .what = KAR_OK };
	c->rejected = false;
	if (changed)
		rebuild(c);
}

static void keep_failure(struct kar_credential *c, const struct kar_err *err)
{
	struct plugin *p = &c->plugin;

	p->retry_delay = p->retry_delay ? 2 * p->retry_delay : c->o.retry_base;
	if (p->retry_delay > retry_cap)
		p->retry_delay = retry_cap;
	p->retry_at = kar_loop_mono(c->loop) + p->retry_delay;
	p->err = *err;
}

static void on_plugin_done(void *arg, const struct kar_exec_result *result, const struct kar_err *err)
{
	struct kar_credential *c = arg;

	if (result)
		keep_result(c, result);
	else
		keep_failure(c, err);
	kar_exec_free(c->plugin.run); /* what @result and @err point to */
	c->plugin.run = NULL;
	answer_waiters(c);
}

/* Starts the plug-in if there is a reason and it is not held back by its last failure. */
static void run_if_needed(struct kar_credential *c)
{
	struct plugin *p = &c->plugin;
	bool wanted = !p->have || c->rejected || kar_loop_wall(c->loop) >= p->refresh_at;

	if (!wanted || p->run || (p->retry_delay && kar_loop_mono(c->loop) < p->retry_at))
		return;
	p->run = kar_exec_start(c->loop, c->config->exec, c->config->exec_cluster_json, c->o.exec_timeout,
		on_plugin_done, c);
}

void kar_credential_acquire(struct kar_credential *c, kar_auth_fn *ready, void *arg)
{
	bool force = c->rejected && !c->config->exec;
	struct waiter *w;

	if (force)
		c->rejected = false;
	if (kar_credfiles_refresh(&c->files, kar_loop_mono(c->loop), kar_loop_wall(c->loop), force))
		rebuild(c);
	if (c->config->exec)
		run_if_needed(c);
	if (is_usable(c) || !c->plugin.run) {
		answer(c, ready, arg);
		return;
	}
	w = kar_xcalloc(1, sizeof(*w));
	w->ready = ready;
	w->arg = arg;
	TAILQ_INSERT_TAIL(&c->waiting, w, link);
}

void kar_credential_abandon(struct kar_credential *c, void *arg)
{
	drop_waiters(&c->waiting, arg, false);
	drop_waiters(&c->answering, arg, false);
}

/* A server that refuses everybody must not make the plug-in run for each request. */
void kar_credential_rejected(struct kar_credential *c, uint64_t generation)
{
	kar_time now = kar_loop_mono(c->loop);

	if (generation != c->auth.generation || (c->forced_at >= 0 && now - c->forced_at < c->o.forced_gap))
		return;
	c->forced_at = now;
	c->rejected = true;
}

kar_time kar_credential_expiry(const struct kar_credential *c)
{
	return c->expires;
}
