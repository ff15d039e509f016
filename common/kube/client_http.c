#include "common/kube/client_http.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/stdlib.h>

#include "common/base/mem.h"
#include "common/kube/client_http_impl.h"
#include "common/net/http_text.h"

enum {
	WRITES_DEFAULT = 64, /* in flight; one HTTP/2 connection to an API server carries 100 streams */
	TIMEOUT_DEFAULT_MS = 30000,
	/* An API server begins at once, or after 15 s in its queue. More than http.c's SILENCE_MS: a new connection is next. */
	WATCH_ANSWER_MS = 30000,
	WAIT_BASE_MS = 500,
	LISTS_IDLE_MS = 10000, /* one page follows the other at once */
};

/* --- waiting for a turn --- */

static void begin(struct kar_call *call)
{
	TAILQ_REMOVE(&call->client->waiting, call, in_waiting);
	if (call->lane == KAR_LANE_WRITES)
		call->client->writes++;
	kar_call_begin(call);
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
			return; /* kar_call_withdraw() comes back here; the other lanes put themselves in front */
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
	call->accept = kar_request_accept(r);
	call->url = kar_request_url(r, c->config->server);
	call->what = kar_request_what(r);
	if (!kar_request_is_whole(r))
		kar_fail(&call->failure, KAR_INVALID, "%s: the name is empty", call->what);
	call->timeout = r->timeout || r->verb == KAR_WATCH ? r->timeout : TIMEOUT_DEFAULT_MS;
	call->on_begun = r->on_begun;
	call->on_data = r->on_data;
	call->on_done = r->on_done;
	call->arg = r->arg;
	call->backoff = (struct kar_backoff){ .base = WAIT_BASE_MS,
		.cap = KAR_CALL_WAIT_MAX,
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
	kar_call_withdraw(call);
	kar_call_free(call);
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
	free(c->host);
	free(c->ca_pem);
	free(c->cert_pem);
	kar_wipe_free(c->key_pem);
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

/* "10.0.0.1:6443" of "https://10.0.0.1:6443/path". */
static char *host_of(const char *server)
{
	const char *start = strstr(server, "://");

	start = start ? start + strlen("://") : server;
	return kar_xstrndup(start, strcspn(start, "/"));
}

struct kar_client *kar_client_http_new(struct kar_loop *l, const struct kar_kubeconfig *config,
	const struct kar_client_http_options *o, struct kar_err *err)
{
	static const struct kar_client_ops ops = { .start = start, .cancel = cancel, .free = free_client };
	struct kar_http_options http = { .user_agent = o->user_agent,
		.http1_only = o->http1_only,
		.proxy = config->proxy_url,
		.no_proxy = config->no_proxy };
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
	c->watch_answer = o->watch_answer ? o->watch_answer : WATCH_ANSWER_MS;
	c->bucket =
		(struct kar_bucket){ .qps = o->qps, .burst = burst, .tokens = burst, .at = kar_loop_mono(l) };
	c->metrics = o->metrics;
	c->host = host_of(config->server);
	c->pump = kar_timer_new(l, on_pump, c);
	TAILQ_INIT(&c->all);
	TAILQ_INIT(&c->waiting);
	for (size_t i = 0; i < KAR_LANE_COUNT; i++) {
		http.own_connections = i == KAR_LANE_WATCHES;
		http.idle = i == KAR_LANE_LISTS ? LISTS_IDLE_MS : 0;
		http.in_flight = i == KAR_LANE_WRITES ? c->max_writes : 0;
		c->lanes[i] = kar_http_new(l, &http);
	}
	return &c->base;
}

struct kar_client_http_stats kar_client_http_stats(const struct kar_client *c)
{
	return ((const struct http_client *)(const void *)c)->stats;
}
