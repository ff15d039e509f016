/*
 * http_fixture - a scripted server, a pool that talks to it, and requests that note what they are told. For one test
 * executable: all functions are static.
 */
#ifndef KAR_TEST_HTTP_FIXTURE_H
#define KAR_TEST_HTTP_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include "common/loop/clock.h"
#include "common/net/http.h"
#include "test/fixture/curl.h"
#include "test/fixture/scripted_server.h"
#include "test/fixture/wait.h"

/* What the user of one request has been told. */
struct result {
	struct kar_http *http;
	struct kar_http_request *request;
	int heads, chunks, dones;
	int status;
	kar_time retry_after;
	char content_type[64];
	struct kar_buf body;
	bool ok;
	struct kar_err err;
	/* What to do from inside a callback. */
	bool cancel_in_head, cancel_in_data, refuse_data, free_pool_in_data, free_pool_in_done;
	struct result *start_in_done;
	const char *next_url;
};

static KAR_UNUSED struct kar_http_request *start_get(struct kar_http *h, struct result *r, const char *url);

static void on_head(void *arg, const struct kar_http_head *head)
{
	struct result *r = arg;

	r->heads++;
	r->status = head->status;
	r->retry_after = head->retry_after;
	snprintf(r->content_type, sizeof(r->content_type), "%s", head->content_type);
	if (r->cancel_in_head)
		kar_http_cancel(r->request);
}

static int on_data(void *arg, const char *bytes, size_t n)
{
	struct result *r = arg;

	if (r->cancel_in_data)
		kar_http_cancel(r->request);
	if (r->free_pool_in_data)
		kar_http_free(r->http);
	r->chunks++;
	kar_buf_append(&r->body, bytes, n); /* the bytes are still there */
	return r->refuse_data ? -1 : 0;
}

static void on_done(void *arg, const struct kar_err *err)
{
	struct result *r = arg;

	r->dones++;
	r->ok = !err;
	if (err)
		r->err = *err;
	if (r->free_pool_in_done)
		kar_http_free(r->http);
	if (r->start_in_done)
		r->start_in_done->request = start_get(r->http, r->start_in_done, r->next_url);
}

static KAR_UNUSED bool is_done(void *arg)
{
	return ((struct result *)arg)->dones > 0;
}

static KAR_UNUSED bool has_data(void *arg)
{
	return ((struct result *)arg)->chunks > 0;
}

static KAR_UNUSED struct kar_http_request *start_write(struct kar_http *h, struct result *r,
	const char *method, const char *url, const char *body, bool replayable)
{
	struct kar_http_call call = { .method = method,
		.url = url,
		.body = body,
		.body_n = body ? strlen(body) : 0,
		.replayable = replayable,
		.on_head = on_head,
		.on_data = on_data,
		.on_done = on_done,
		.arg = r };

	r->http = h;
	return kar_http_start(h, &call);
}

static KAR_UNUSED struct kar_http_request *start_get(struct kar_http *h, struct result *r, const char *url)
{
	return start_write(h, r, "GET", url, NULL, false);
}

/* What a server sends, and what the user is told. */
struct row {
	const char *name;
	const char *method;
	const char *script; /* the server's bytes */
	enum server_end end;
	bool slow;             /* one byte at a time */
	enum kar_class expect; /* KAR_OK: done without error */
	int status;
	const char *body;
};

struct world {
	struct kar_loop *loop;
	struct kar_http *http;
	struct server server;
	char url[64];
	const struct row *row;
	/* of the scripted handler used by a test */
	unsigned posts, deletes;
	const char *held; /* bytes that open a stream which stays open */
	struct server_conn *held_conn;
	char last_head[2048];
};

static KAR_UNUSED void open_world(struct world *w, server_fn *fn)
{
	struct kar_http_options o = { .user_agent = "kar-controllers/test" };

	*w = (struct world){ .loop = kar_loop_new() };
	server_start(&w->server, w->loop, fn, w);
	w->http = kar_http_new(w->loop, &o);
	snprintf(w->url, sizeof(w->url), "http://127.0.0.1:%u/x", w->server.port);
}

static KAR_UNUSED void close_world(struct world *w)
{
	kar_http_free(w->http);
	server_stop(&w->server);
	kar_loop_free(w->loop);
}

static KAR_UNUSED void play_row(struct server_conn *c, const struct server_request *r KAR_UNUSED, void *arg)
{
	struct world *w = arg;

	if (w->row->slow)
		server_one_byte_at_a_time(c);
	server_send(c, w->row->script);
	c->end = w->row->end;
}

/* Answers the first request with what the test gives, which may be nothing, and the others at once if it gives nothing. */
static KAR_UNUSED void hold_open(struct server_conn *c, const struct server_request *r, void *arg)
{
	struct world *w = arg;

	snprintf(w->last_head, sizeof(w->last_head), "%s", r->head);
	w->held_conn = c;
	if (w->held)
		server_send(c, w->held);
	if (r->nth > 0 && !w->held)
		server_answer(c, 200, "", "{}");
}

#define STREAM "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n"

#endif
