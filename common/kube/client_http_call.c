#include "common/kube/client_http_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>

#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/timefmt.h"
#include "common/kube/kube_metrics.h"

enum {
	ANSWER_MAX = 8 << 20, /* an object is at most about 1.5 MiB in etcd */
	ERROR_BODY_MAX = 64 << 10,
	THROTTLED_MAX = 3, /* times a request is repeated here after 429 or 503 */
};

static bool is_stream(const struct kar_call *call)
{
	return call->verb == KAR_LIST || call->verb == KAR_WATCH;
}

static bool is_success(int status)
{
	return status >= 200 && status < 300;
}

/* --- the end of a call --- */

void kar_call_free(struct kar_call *call)
{
	kar_timer_free(call->pause);
	kar_timer_free(call->unanswered);
	kar_buf_release(&call->answer);
	free(call->url);
	free(call->what);
	free(call->body);
	free(call);
}

void kar_call_withdraw(struct kar_call *call)
{
	struct http_client *c = call->client;

	if (call->state == CALL_WAITING)
		TAILQ_REMOVE(&c->waiting, call, in_waiting);
	if (call->state == CALL_ASKING)
		kar_credential_abandon(c->credential, call);
	if (call->state != CALL_WAITING && call->lane == KAR_LANE_WRITES)
		c->writes--;
	kar_http_cancel(call->http);
	TAILQ_REMOVE(&c->all, call, in_all);
	if (!TAILQ_EMPTY(&c->waiting))
		kar_timer_start(c->pump, 0);
}

/* The callback comes last: it may free the client. */
static void end_call(struct kar_call *call, const struct kar_answer *answer, const struct kar_err *err)
{
	if (err)
		call->client->stats.errors++;
	kar_call_withdraw(call);
	if (call->on_done)
		call->on_done(call->arg, answer, err);
	kar_call_free(call);
}

static void on_pause_over(void *arg)
{
	struct kar_call *call = arg;

	if (call->failure.what != KAR_OK)
		end_call(call, NULL, &call->failure);
	else
		kar_call_begin(call);
}

static void pause_call(struct kar_call *call, kar_time ms)
{
	call->state = CALL_PAUSED;
	if (!call->pause)
		call->pause = kar_timer_new(call->client->loop, on_pause_over, call);
	kar_timer_start(call->pause, ms);
}

/*
 * The connection of a watch is kept for the next one, and a server or proxy that has got stuck in between acknowledges
 * what it is sent for ever.
 */
static void on_unanswered(void *arg)
{
	struct kar_call *call = arg;
	struct kar_err err;

	kar_fail(&err, KAR_RETRY, "%s: no answer within %jd s", call->what,
		(intmax_t)(call->client->watch_answer / KAR_SECOND));
	err.cause = KAR_CAUSE_CONNECTION;
	end_call(call, NULL, &err);
}

static void await_answer(struct kar_call *call)
{
	if (call->verb != KAR_WATCH)
		return;
	if (!call->unanswered)
		call->unanswered = kar_timer_new(call->client->loop, on_unanswered, call);
	kar_timer_start(call->unanswered, call->client->watch_answer);
}

/* --- answers --- */

static void end_unary(struct kar_call *call)
{
	struct kar_arena arena = { 0 };
	struct kar_str body = { kar_buf_cstr(&call->answer), call->answer.n };
	struct kar_answer answer;
	struct kar_err err;

	if (kar_answer_read(&arena, call->status, body, kar_request_writes(call->verb), &answer, &err)) {
		kar_wrap(&err, "%s", call->what);
		end_call(call, NULL, &err);
	} else {
		end_call(call, &answer, NULL);
	}
	kar_arena_release(&arena);
}

/* The server refused before doing anything and said when to come back. Streams leave this to their reader. */
static bool may_wait(const struct kar_call *call)
{
	bool refused = call->status == 429 || (call->status == 503 && call->retry_after);

	return refused && !is_stream(call) && call->throttled < THROTTLED_MAX &&
		call->retry_after <= KAR_CALL_WAIT_MAX;
}

/* What the server never says: the credentials that it refuses are too old. */
static void tell_expiry(const struct kar_call *call, struct kar_err *err)
{
	kar_time expiry = kar_credential_expiry(call->client->credential);
	char when[KAR_TIME_LEN], text[80];

	if (call->status != 401 || expiry > kar_loop_wall(call->client->loop))
		return;
	snprintf(text, sizeof(text), " (the credentials expired at %s; log in again)",
		kar_time_format(expiry, when));
	strlcat(err->msg, text, sizeof(err->msg));
}

static void end_refused(struct kar_call *call)
{
	struct kar_str body = { kar_buf_cstr(&call->answer), call->answer.n };
	struct kar_err err;

	if (call->status == 401)
		kar_credential_rejected(call->client->credential, call->generation);
	if (call->status == 401 && !call->reauthorized) {
		call->reauthorized = true;
		kar_call_begin(call);
	} else if (may_wait(call)) {
		call->throttled++;
		pause_call(call, kar_backoff_next(&call->backoff, call->retry_after));
	} else {
		kar_status_error(&err, call->status, call->answer_type, body, call->retry_after,
			kar_request_writes(call->verb), call->what);
		tell_expiry(call, &err);
		end_call(call, NULL, &err);
	}
}

/* @status 0: no answer. */
static void count_request(const struct kar_call *call, int status)
{
	const struct http_client *c = call->client;
	const char *method = kar_request_method(call->verb);
	char code[12] = "<error>";

	if (status)
		snprintf(code, sizeof(code), "%d", status);
	kar_metric_add(c->metrics, &kar_m_rest_client_requests_total, 1, KAR_LABELS(code, method, c->host));
	kar_metric_observe(c->metrics, &kar_m_rest_client_request_duration_seconds,
		(double)(kar_loop_mono(c->loop) - call->sent) / KAR_SECOND, KAR_LABELS(method, c->host));
}

static void on_http_done(void *arg, const struct kar_err *err)
{
	struct kar_call *call = arg;
	struct kar_answer answer = { .status = call->status, .uid = "" };
	struct kar_err mine;

	call->http = NULL;
	if (!call->status)
		count_request(call, 0);
	if (err) {
		mine = *err;
		kar_wrap(&mine, "%s", call->what);
		if (call->answer.overflow && kar_request_writes(call->verb))
			mine.what = KAR_UNKNOWN; /* the answer was too long, the write may be done */
		end_call(call, NULL, &mine);
	} else if (!is_success(call->status)) {
		end_refused(call);
	} else if (is_stream(call)) {
		end_call(call, &answer, NULL);
	} else {
		end_unary(call);
	}
}

static void on_http_head(void *arg, const struct kar_http_head *head)
{
	struct kar_call *call = arg;

	call->status = head->status;
	count_request(call, head->status);
	call->retry_after = head->retry_after;
	strlcpy(call->answer_type, head->content_type, sizeof(call->answer_type));
	call->answer.cap = is_success(head->status) ? ANSWER_MAX : ERROR_BODY_MAX;
	if (call->unanswered)
		kar_timer_stop(call->unanswered);
	if (*head->warning && kar_seen_first(&call->client->said, head->warning))
		kar_warn(KAR_MSG("Warning from the API server"), KAR_S("warning", head->warning));
	if (is_stream(call) && is_success(head->status) && call->on_begun)
		call->on_begun(call->arg);
}

static int on_http_data(void *arg, const char *bytes, size_t n)
{
	struct kar_call *call = arg;

	call->client->stats.bytes_received += n;
	if (is_stream(call) && is_success(call->status))
		return call->on_data ? call->on_data(call->arg, bytes, n) : 0;
	kar_buf_append(&call->answer, bytes, n);
	/* Of an error, the beginning is enough. */
	return call->answer.overflow && is_success(call->status) ? -1 : 0;
}

/* --- sending --- */

static bool may_send(void *arg)
{
	const struct kar_call *call = arg;

	return kar_client_may_send(&call->client->base, call->verb, call->lane);
}

static void replace(char **copy, const char *now, bool *changed)
{
	if (*copy && now && strcmp(*copy, now) == 0)
		return;
	if (!*copy && !now)
		return;
	*changed = true;
	kar_wipe_free(*copy);
	*copy = now ? kar_xstrdup(now) : NULL;
}

/*
 * A new token travels on the old connections; new certificates do not, so the old connections are of no
 * more use.
 */
static void note_generation(struct http_client *c, const struct kar_auth *auth)
{
	bool first = c->generation == 0, changed = false;

	if (auth->generation == c->generation)
		return;
	c->generation = auth->generation;
	replace(&c->ca_pem, auth->tls.ca_pem, &changed);
	replace(&c->cert_pem, auth->tls.cert_pem, &changed);
	replace(&c->key_pem, auth->tls.key_pem, &changed);
	for (size_t i = 0; changed && !first && i < KAR_LANE_COUNT; i++)
		kar_http_reset_connections(c->lanes[i]);
}

/* Joined by hand: a token has a thousand bytes, and this is done for every request. */
static const char *header(struct kar_arena *arena, const char *name, const char *value)
{
	size_t before = strlen(name), n = strlen(value) + 1;
	char *line = kar_arena_alloc(arena, before + n, 1);

	memcpy(line, name, before);
	memcpy(line + before, value, n);
	return line;
}

/* Room for all, ended by NULL. Lives in @arena. */
static const char *const *headers_of(const struct kar_call *call, const struct kar_auth *auth,
	struct kar_arena *arena)
{
	enum { FIXED = 6 };
	const struct kar_kubeconfig *k = call->client->config;
	const char **headers = kar_arena_alloc(arena, FIXED + k->n_as_groups, sizeof(*headers));
	size_t n = 0;

	headers[n++] = header(arena, "Accept: ", call->accept);
	if (call->body)
		headers[n++] = header(arena, "Content-Type: ", call->content_type);
	if (auth->authorization)
		headers[n++] = header(arena, "Authorization: ", auth->authorization);
	if (k->as_user)
		headers[n++] = header(arena, "Impersonate-User: ", k->as_user);
	if (k->as_uid)
		headers[n++] = header(arena, "Impersonate-Uid: ", k->as_uid);
	for (size_t i = 0; i < k->n_as_groups; i++)
		headers[n++] = header(arena, "Impersonate-Group: ", k->as_groups[i]);
	headers[n] = NULL;
	return headers;
}

static void send_call(struct kar_call *call, const struct kar_auth *auth)
{
	struct http_client *c = call->client;
	struct kar_arena arena = { 0 };
	/*
	 * No gzip: it costs both sides more CPU than a data centre's network is worth (lists only, 9 times
	 * smaller).
	 */
	struct kar_http_call http = {
		.method = kar_request_method(call->verb),
		.url = call->url,
		.headers = headers_of(call, auth, &arena),
		.body = call->body,
		.body_n = call->body_n,
		.replayable = call->replayable,
		.timeout = call->timeout,
		.tls = &auth->tls,
		.may_send = may_send,
		.on_head = on_http_head,
		.on_data = on_http_data,
		.on_done = on_http_done,
		.arg = call,
	};

	call->state = CALL_RUNNING;
	call->generation = auth->generation;
	call->status = 0;
	call->retry_after = 0;
	kar_buf_release(&call->answer);
	c->stats.requests++;
	call->sent = kar_loop_mono(c->loop);
	call->http = kar_http_start(c->lanes[call->lane], &http);
	await_answer(call);
	kar_arena_wipe(&arena);
}

static void on_credentials(void *arg, const struct kar_auth *auth, const struct kar_err *err)
{
	struct kar_call *call = arg;

	if (err) {
		call->failure = *err;
		call->failure.cause = KAR_CAUSE_CREDENTIALS;
		kar_wrap(&call->failure, "%s", call->what);
		pause_call(call, 0); /* we may be inside kar_call_begin(): report from the loop */
		return;
	}
	if (*auth->problem && kar_seen_first(&call->client->said, auth->problem))
		kar_warn(KAR_MSG("Credentials could not be refreshed, using the old ones"),
			KAR_S("err", auth->problem));
	note_generation(call->client, auth);
	send_call(call, auth);
}

void kar_call_begin(struct kar_call *call)
{
	if (call->failure.what != KAR_OK) {
		pause_call(call, 0);
		return;
	}
	call->state = CALL_ASKING;
	kar_credential_acquire(call->client->credential, on_credentials, call);
}
