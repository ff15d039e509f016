#include "common/net/http.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>
#include <bsd/sys/queue.h>

#include "common/base/mem.h"
#include "common/net/http_curl.h"
#include "common/net/http_inbox.h"

enum { SILENCE_MS = 20000 };

struct kar_http {
	struct kar_loop *loop;
	struct kar_http_options options;
	char *user_agent, *proxy, *no_proxy; /* what options points to */
	struct kar_engine *engine;
	bool doubtful; /* a connection of the engine may be dead: the next request gets a new one */
	struct kar_inboxes inboxes;
	TAILQ_HEAD(, kar_http_request) all; /* kar_http_request::link */
	size_t in_flight;
	struct kar_timer *idle;
};

struct kar_http_request {
	struct kar_inbox inbox;
	struct kar_http *pool;
	const struct kar_engine *engine; /* it was started on; perhaps retired, or gone once it has ended */
	struct kar_transfer *transfer;   /* NULL once it has ended */
	TAILQ_ENTRY(kar_http_request) link;
	void (*on_done)(void *arg, const struct kar_err *err);
	bool write; /* the method changes something */
	bool ok;
	enum kar_class what; /* if not ok */
	char text[256];
	bool fenced; /* it was not sent, because kar_inbox_may_send() says no */
};

static void fail_request(struct kar_http_request *r, enum kar_class what, const char *text)
{
	r->ok = false;
	r->what = what;
	strlcpy(r->text, text, sizeof(r->text));
}

static void fence_request(struct kar_http_request *r)
{
	fail_request(r, KAR_RETRY, "not sent: this process may not write now");
	r->fenced = true;
}

/*
 * @r ends without a proper answer. After a long silence that is what a dead connection looks like that nobody
 * has closed: a stopped server or a wedged proxy still acknowledges what it is sent, so the kernel sees nothing
 * wrong, and HTTP/2 would put the next request on the same connection, and so on for ever. Go has its PING for
 * this; libcurl would send one but not miss the answer.
 */
static void note_silence(struct kar_http_request *r)
{
	struct kar_http *h = r->pool;
	kar_time limit = h->options.silence ? h->options.silence : SILENCE_MS;

	if (r->engine == h->engine && kar_loop_mono(h->loop) - r->inbox.heard >= limit)
		h->doubtful = true;
}

/*
 * kar_engine_hooks::ended. What the caller may conclude: a write of which at least one byte has left may
 * have been executed. A refused HTTP/2 stream is known not to have been, but libcurl reports it like a lost
 * connection when the body cannot be sent again (CURLE_SEND_FAIL_REWIND), so it counts as unknown: the safe
 * side.
 */
static void ended(struct kar_inbox *in, const struct kar_transfer_end *end)
{
	struct kar_http_request *r = kar_container_of(in, struct kar_http_request, inbox);

	r->transfer = NULL;
	r->ok = end->ok;
	if (!end->ok)
		note_silence(r);
	if (end->never_valid)
		fail_request(r, KAR_INVALID, end->text);
	else if (!end->ok && !end->sent && !kar_inbox_may_send(in))
		fence_request(r);
	else if (!end->ok)
		fail_request(r, r->write && end->sent ? KAR_UNKNOWN : KAR_RETRY, end->text);
	kar_inbox_end(in);
}

static void turn_over(void *arg)
{
	struct kar_http *h = arg;

	kar_inboxes_deliver(&h->inboxes);
}

/* Frees @r without a word to its user. */
static void dispose(struct kar_http_request *r)
{
	struct kar_http *h = r->pool;

	if (r->transfer) {
		note_silence(r);
		kar_transfer_abort(r->transfer);
	}
	kar_inbox_release(&r->inbox);
	TAILQ_REMOVE(&h->all, r, link);
	if (--h->in_flight == 0 && h->options.idle)
		kar_timer_start(h->idle, h->options.idle);
	free(r);
}

/* kar_inboxes::complete. */
static void complete(struct kar_inbox *in)
{
	struct kar_http_request *r = kar_container_of(in, struct kar_http_request, inbox);
	void (*on_done)(void *arg, const struct kar_err *err) = r->on_done;
	void *arg = in->arg;
	bool ok = r->ok;
	struct kar_err err;

	kar_fail(&err, r->what, "%s", r->text);
	if (r->what == KAR_RETRY || r->what == KAR_UNKNOWN)
		err.cause = r->fenced ? KAR_CAUSE_FENCE : KAR_CAUSE_CONNECTION;
	dispose(r);
	if (on_done)
		on_done(arg, ok ? NULL : &err);
}

/* kar_inboxes::refused. */
static void refused(struct kar_inbox *in)
{
	struct kar_http_request *r = kar_container_of(in, struct kar_http_request, inbox);

	if (r->transfer)
		kar_transfer_abort(r->transfer);
	r->transfer = NULL;
	fail_request(r, KAR_INVALID, "the response was refused by its receiver");
	kar_inbox_end(in);
}

struct kar_http_request *kar_http_start(struct kar_http *h, const struct kar_http_call *call)
{
	struct kar_http_request *r = kar_xcalloc(1, sizeof(*r));

	r->pool = h;
	r->on_done = call->on_done;
	r->write = kar_method_writes(call->method);
	kar_inbox_init(&r->inbox, &h->inboxes, call);
	TAILQ_INSERT_TAIL(&h->all, r, link);
	h->in_flight++;
	kar_timer_stop(h->idle);
	if (h->doubtful)
		kar_http_reset_connections(h);
	r->engine = h->engine;
	r->transfer = kar_transfer_start(h->engine, call, &r->inbox);
	return r;
}

void kar_http_cancel(struct kar_http_request *r)
{
	if (r)
		dispose(r);
}

static struct kar_engine *new_engine(struct kar_http *h)
{
	struct kar_engine_hooks hooks = { .ended = ended, .turn_over = turn_over, .arg = h };

	return kar_engine_new(h->loop, &h->options, &hooks);
}

static char *dup_or_null(const char *s)
{
	return s ? kar_xstrdup(s) : NULL;
}

static void on_idle(void *arg)
{
	kar_http_reset_connections(arg);
}

struct kar_http *kar_http_new(struct kar_loop *l, const struct kar_http_options *o)
{
	struct kar_http *h = kar_xcalloc(1, sizeof(*h));

	h->loop = l;
	h->options = *o;
	h->options.user_agent = h->user_agent = dup_or_null(o->user_agent);
	h->options.proxy = h->proxy = dup_or_null(o->proxy);
	h->options.no_proxy = h->no_proxy = dup_or_null(o->no_proxy);
	TAILQ_INIT(&h->all);
	kar_inboxes_init(&h->inboxes, l);
	h->inboxes.refused = refused;
	h->inboxes.complete = complete;
	h->idle = kar_timer_new(l, on_idle, h);
	h->engine = new_engine(h);
	return h;
}

void kar_http_free(struct kar_http *h)
{
	if (!h)
		return;
	while (!TAILQ_EMPTY(&h->all))
		dispose(TAILQ_FIRST(&h->all)); /* the last one of a retired engine frees that */
	kar_engine_retire(h->engine);
	kar_inboxes_release(&h->inboxes);
	kar_timer_free(h->idle);
	free(h->user_agent);
	free(h->proxy);
	free(h->no_proxy);
	free(h);
}

/* Busy connections stay with the old engine until their last request is done. */
void kar_http_reset_connections(struct kar_http *h)
{
	struct kar_engine *old = h->engine;

	h->engine = new_engine(h);
	h->doubtful = false;
	kar_engine_retire(old);
}

size_t kar_http_in_flight(const struct kar_http *h)
{
	return h->in_flight;
}
