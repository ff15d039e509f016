#include "common/kube/client_http.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/stdlib.h>
#include <bsd/string.h>
#include <bsd/sys/queue.h>

#include "common/buf.h"
#include "common/http.h"
#include "common/http_text.h"
#include "common/kube/request.h"
#include "common/log.h"
#include "common/mem.h"

enum {
	WRITES_DEFAULT = 64, /* in flight; one HTTP/2 connection to an API server carries 100 streams */
	TIMEOUT_DEFAULT_MS = 30000,
	ANSWER_MAX = 8 << 20, /* an object is at most about 1.5 MiB in etcd */
	ERROR_BODY_MAX = 64 << 10,
	THROTTLED_MAX = 3,   /* times a request is repeated here after 429 or 503 */
	WAIT_MAX_MS = 10000, /* a longer Retry-After is for the caller to plan with */
	WAIT_BASE_MS = 500,
};

TAILQ_HEAD(call_list, kar_call);

struct http_client {
	struct kar_client base;
	struct kar_loop *loop;
	const struct kar_kubeconfig *config;
	struct kar_credential *credential;
	struct kar_http *lanes[KAR_LANE_COUNT];
	struct call_list all;     /* kar_call::in_all */
	struct call_list waiting; /* kar_call::in_waiting, in order of their start */
	struct kar_timer *pump;
	size_t writes, max_writes; /* in flight on the writes lane */
	struct kar_bucket bucket;
	uint64_t generation;               /* of the credentials that the connections were made with */
	char *ca_pem, *cert_pem, *key_pem; /* of that generation */
	struct kar_seen warnings;          /* already logged */
	struct kar_client_http_stats stats;
};

enum call_state {
	CALL_WAITING, /* for its turn */
	CALL_ASKING,  /* for credentials */
	CALL_RUNNING, /* an HTTP request is in flight */
	CALL_PAUSED,  /* after Retry-After, or to report `failure` from the loop */
};

struct kar_call {
	struct http_client *client;
	TAILQ_ENTRY(kar_call) in_all, in_waiting;
	enum call_state state;
	enum kar_verb verb;
	enum kar_lane lane;
	const char *content_type; /* of the body; static */
	char *url, *what, *body;
	size_t body_n;
	bool replayable;
	kar_time timeout;
	int (*on_data)(void *arg, const char *bytes, size_t n);
	void (*on_done)(void *arg, const struct kar_answer *answer, const struct kar_err *err);
	void *arg;

	struct kar_http_request *http;
	struct kar_timer *pause;
	struct kar_err failure;
	uint64_t generation; /* of the credentials it was sent with */
	bool reauthorized;
	unsigned throttled;
	struct kar_backoff backoff;
	int status;
	kar_time retry_after;
	char answer_type[128];
	struct kar_buf answer;
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

static void free_call(struct kar_call *call)
{
	kar_timer_free(call->pause);
	kar_buf_release(&call->answer);
	free(call->url);
	free(call->what);
	free(call->body);
	free(call);
}

/* Takes @call out of the client; the slot it held goes to the next one. */
static void withdraw(struct kar_call *call)
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
	withdraw(call);
	if (call->on_done)
		call->on_done(call->arg, answer, err);
	free_call(call);
}

static void ask_credentials(struct kar_call *call);

static void on_pause_over(void *arg)
{
	struct kar_call *call = arg;

	if (call->failure.what != KAR_OK)
		end_call(call, NULL, &call->failure);
	else
		ask_credentials(call);
}

static void pause_call(struct kar_call *call, kar_time ms)
{
	call->state = CALL_PAUSED;
	if (!call->pause)
		call->pause = kar_timer_new(call->client->loop, on_pause_over, call);
	kar_timer_start(call->pause, ms);
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
		call->retry_after <= WAIT_MAX_MS;
}

static void end_refused(struct kar_call *call)
{
	struct kar_str body = { kar_buf_cstr(&call->answer), call->answer.n };
	struct kar_err err;

	if (call->status == 401)
		kar_credential_rejected(call->client->credential, call->generation);
	if (call->status == 401 && !call->reauthorized) {
		call->reauthorized = true;
		ask_credentials(call);
	} else if (may_wait(call)) {
		call->throttled++;
		pause_call(call, kar_backoff_next(&call->backoff, call->retry_after));
	} else {
		kar_status_error(&err, call->status, call->answer_type, body, call->retry_after,
			kar_request_writes(call->verb), call->what);
		end_call(call, NULL, &err);
	}
}

static void on_http_done(void *arg, const struct kar_err *err)
{
	struct kar_call *call = arg;
	struct kar_answer answer = { .status = call->status, .uid = "" };
	struct kar_err mine;

	call->http = NULL;
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
	call->retry_after = head->retry_after;
	strlcpy(call->answer_type, head->content_type, sizeof(call->answer_type));
	call->answer.cap = is_success(head->status) ? ANSWER_MAX : ERROR_BODY_MAX;
	if (*head->warning && kar_seen_first(&call->client->warnings, head->warning))
		kar_warn(KAR_MSG("Warning from the API server"), KAR_S("warning", head->warning));
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

static void replace(char **copy, const char *now, bool *changed)
{
	if (*copy && now && strcmp(*copy, now) == 0)
		return;
	if (!*copy && !now)
		return;
	*changed = true;
	free(*copy);
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

/* Room for all, ended by NULL. Lives in @arena. */
static const char *const *headers_of(const struct kar_call *call, const struct kar_auth *auth,
	struct kar_arena *arena)
{
	enum { FIXED = 6 };
	const struct kar_kubeconfig *k = call->client->config;
	const char **headers = kar_arena_alloc(arena, FIXED + k->n_as_groups, sizeof(*headers));
	size_t n = 0;

	headers[n++] = "Accept: application/json";
	if (call->body)
		headers[n++] = kar_arena_printf(arena, "Content-Type: %s", call->content_type);
	if (auth->authorization)
		headers[n++] = kar_arena_printf(arena, "Authorization: %s", auth->authorization);
	if (k->as_user)
		headers[n++] = kar_arena_printf(arena, "Impersonate-User: %s", k->as_user);
	if (k->as_uid)
		headers[n++] = kar_arena_printf(arena, "Impersonate-Uid: %s", k->as_uid);
	for (size_t i = 0; i < k->n_as_groups; i++)
		headers[n++] = kar_arena_printf(arena, "Impersonate-Group: %s", k->as_groups[i]);
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
	call->http = kar_http_start(c->lanes[call->lane], &http);
	kar_arena_release(&arena);
}

static void on_credentials(void *arg, const struct kar_auth *auth, const struct kar_err *err)
{
	struct kar_call *call = arg;

	if (err) {
		call->failure = *err;
		kar_wrap(&call->failure, "%s", call->what);
		pause_call(call, 0); /* we may be inside ask_credentials(): report from the loop */
		return;
	}
	note_generation(call->client, auth);
	send_call(call, auth);
}

static void ask_credentials(struct kar_call *call)
{
	call->state = CALL_ASKING;
	kar_credential_acquire(call->client->credential, on_credentials, call);
}

/* --- waiting for a turn --- */

static void begin(struct kar_call *call)
{
	TAILQ_REMOVE(&call->client->waiting, call, in_waiting);
	if (call->lane == KAR_LANE_WRITES)
		call->client->writes++;
	ask_credentials(call);
}

/* Only the writes lane is limited: a lease renewal or a watch never waits for anything else. */
static void on_pump(void *arg)
{
	struct http_client *c = arg;
	struct kar_call *call, *next;

	TAILQ_FOREACH_SAFE(call, &c->waiting, in_waiting, next) {
		kar_time wait;

		if (call->lane != KAR_LANE_WRITES) {
			begin(call);
			continue;
		}
		if (c->writes >= c->max_writes)
			return; /* withdraw() comes back here; the other lanes put themselves in front */
		wait = kar_bucket_take(&c->bucket, kar_loop_mono(c->loop));
		if (wait) {
			kar_timer_start(c->pump, wait);
			return;
		}
		begin(call);
	}
}

static struct kar_call *start(struct kar_client *base, const struct kar_request *r)
{
	struct http_client *c = kar_container_of(base, struct http_client, base);
	struct kar_call *call = kar_xcalloc(1, sizeof(*call));

	call->client = c;
	call->verb = r->verb;
	call->lane = r->lane;
	call->replayable = r->replayable;
	call->content_type = kar_request_content_type(r);
	call->url = kar_request_url(r, c->config->server);
	call->what = kar_request_what(r);
	call->timeout = r->timeout || r->verb == KAR_WATCH ? r->timeout : TIMEOUT_DEFAULT_MS;
	call->on_data = r->on_data;
	call->on_done = r->on_done;
	call->arg = r->arg;
	call->backoff = (struct kar_backoff){ .base = WAIT_BASE_MS,
		.cap = WAIT_MAX_MS,
		.jitter = 0.5,
		.random = arc4random() };
	call->body = kar_request_body(r, &call->body_n);
	TAILQ_INSERT_TAIL(&c->all, call, in_all);
	if (call->lane == KAR_LANE_WRITES)
		TAILQ_INSERT_TAIL(&c->waiting, call, in_waiting);
	else
		TAILQ_INSERT_HEAD(&c->waiting, call, in_waiting);
	kar_timer_start(c->pump, 0);
	return call;
}

static void cancel(struct kar_client *base KAR_UNUSED, struct kar_call *call)
{
	withdraw(call);
	free_call(call);
}

static void free_client(struct kar_client *base)
{
	struct http_client *c = kar_container_of(base, struct http_client, base);

	while (!TAILQ_EMPTY(&c->all))
		cancel(base, TAILQ_FIRST(&c->all));
	for (size_t i = 0; i < KAR_LANE_COUNT; i++)
		kar_http_free(c->lanes[i]);
	kar_credential_free(c->credential);
	kar_timer_free(c->pump);
	free(c->ca_pem);
	free(c->cert_pem);
	free(c->key_pem);
	free(c);
}

static int check_config(const struct kar_kubeconfig *k, struct kar_err *err)
{
	struct kar_url url;
	bool clean = (!k->as_user || kar_header_is_clean(k->as_user)) &&
		(!k->as_uid || kar_header_is_clean(k->as_uid));

	for (size_t i = 0; i < k->n_as_groups; i++)
		clean = clean && kar_header_is_clean(k->as_groups[i]);
	if (!clean)
		return kar_fail(err, KAR_FATAL, "%s: as, as-uid or as-groups contains a control character",
			k->source);
	if (!k->server || kar_url_split(k->server, &url))
		return kar_fail(err, KAR_FATAL, "%s: server \"%s\" is not of the form https://host:port",
			k->source, k->server ? k->server : "");
	return 0;
}

struct kar_client *kar_client_http_new(struct kar_loop *l, const struct kar_kubeconfig *config,
	const struct kar_client_http_options *o, struct kar_err *err)
{
	static const struct kar_client_ops ops = { .start = start, .cancel = cancel, .free = free_client };
	struct kar_http_options http = { .user_agent = o->user_agent,
		.http1_only = o->http1_only,
		.proxy = config->proxy_url };
	double burst = o->burst > 0 ? o->burst : 1;
	struct kar_credential *credential;
	struct http_client *c;

	if (check_config(config, err))
		return NULL;
	credential = kar_credential_new(l, config, err);
	if (!credential)
		return NULL;
	c = kar_xcalloc(1, sizeof(*c));
	c->base.ops = &ops;
	c->loop = l;
	c->config = config;
	c->credential = credential;
	c->max_writes = o->max_in_flight_writes > 0 ? (size_t)o->max_in_flight_writes : WRITES_DEFAULT;
	c->bucket =
		(struct kar_bucket){ .qps = o->qps, .burst = burst, .tokens = burst, .at = kar_loop_mono(l) };
	c->pump = kar_timer_new(l, on_pump, c);
	TAILQ_INIT(&c->all);
	TAILQ_INIT(&c->waiting);
	for (size_t i = 0; i < KAR_LANE_COUNT; i++)
		c->lanes[i] = kar_http_new(l, &http);
	return &c->base;
}

struct kar_client_http_stats kar_client_http_stats(const struct kar_client *c)
{
	return ((const struct http_client *)(const void *)c)->stats;
}
