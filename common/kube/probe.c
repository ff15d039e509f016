#include "common/kube/probe.h"

#include <stdlib.h>

#include "common/base/backoff.h"
#include "common/base/mem.h"

enum {
	PAUSE = 250,    /* ms between two requests; jitter up to twice the value */
	TIMEOUT = 3000, /* ms of a request: a lost packet must not delay the next one */
	REFUSALS = 8,   /* in a row that are believed: some three seconds */
	HTTP_TOO_MANY_REQUESTS = 429,
	HTTP_SERVER_ERROR = 500,
};

struct kar_probe {
	struct kar_client *client;
	struct kar_timer *timer;
	struct kar_call *call; /* NULL: none in flight */
	struct kar_backoff pause;
	bool running;
	int refusals; /* in a row */
	void (*on_ready)(void *arg);
	void *arg;
};

/* While an API server starts it refuses everything, since it has not read its roles yet. */
static bool is_ready(struct kar_probe *p, const struct kar_err *err)
{
	bool refused = err && (err->what == KAR_DENIED || err->what == KAR_UNAUTHORIZED);

	p->refusals = refused ? p->refusals + 1 : 0;
	if (refused)
		return p->refusals >= REFUSALS;
	return !err || (err->http && err->http < HTTP_SERVER_ERROR && err->http != HTTP_TOO_MANY_REQUESTS);
}

static void on_done(void *arg, const struct kar_answer *answer KAR_UNUSED, const struct kar_err *err)
{
	struct kar_probe *p = arg;

	p->call = NULL;
	kar_timer_start(p->timer, kar_backoff_next(&p->pause, 0));
	if (is_ready(p, err))
		p->on_ready(p->arg);
}

/* A list, because its answer is text of any kind for a client, and need not be an object. */
static void ask(void *arg)
{
	static const struct kar_resource readyz = { .group = "", .version = "", .plural = "readyz" };
	struct kar_probe *p = arg;
	struct kar_request q = kar_client_list(&readyz, NULL);

	q.path = "/readyz";
	q.lane = KAR_LANE_LISTS;
	q.timeout = TIMEOUT;
	q.on_done = on_done;
	q.arg = p;
	p->call = kar_client_start(p->client, &q);
}

struct kar_probe *kar_probe_new(struct kar_loop *l, struct kar_client *client, uint64_t seed,
	void (*on_ready)(void *arg), void *arg)
{
	struct kar_probe *p = kar_xcalloc(1, sizeof(*p));

	p->client = client;
	p->timer = kar_timer_new(l, ask, p);
	p->pause = (struct kar_backoff){ .base = PAUSE, .cap = PAUSE, .jitter = 1.0, .random = seed };
	p->on_ready = on_ready;
	p->arg = arg;
	return p;
}

void kar_probe_start(struct kar_probe *p)
{
	if (p->running)
		return;
	p->running = true;
	kar_timer_start(p->timer, kar_backoff_next(&p->pause, 0));
}

void kar_probe_stop(struct kar_probe *p)
{
	kar_client_cancel(p->client, p->call);
	p->call = NULL;
	kar_timer_stop(p->timer);
	p->running = false;
}

void kar_probe_free(struct kar_probe *p)
{
	if (!p)
		return;
	kar_probe_stop(p);
	kar_timer_free(p->timer);
	free(p);
}
