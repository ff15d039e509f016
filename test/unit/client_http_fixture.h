/*
 * client_http_fixture - a client whose credentials a test can rotate, and a scripted server that it talks to. For
 * one test executable: all functions are static.
 */
#ifndef KAR_TEST_CLIENT_HTTP_FIXTURE_H
#define KAR_TEST_CLIENT_HTTP_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include "common/base/log.h"
#include "common/kube/client_http.h"
#include "common/loop/clock.h"
#include "common/net/http.h"
#include "test/fixture/curl.h"
#include "test/fixture/fake_credential.h"
#include "test/fixture/scripted_server.h"
#include "test/fixture/wait.h"

#define SECRET "s3cr3t-t0ken"
#define POD "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"uid\":\"u-1\",\"resourceVersion\":\"42\"}}"

static const struct kar_resource pods = { "", "v1", "pods", "Pod", true };

struct world {
	struct kar_loop *loop;
	struct server server;
	char url[64];
	struct kar_kubeconfig config;
	struct kar_client *client;
	/* What the server saw. */
	char last_head[4096];
	struct kar_buf heads;    /* all request lines */
	unsigned open, open_max; /* requests waiting for their answer */
	/* What it does. */
	unsigned refuse_first; /* requests that get `refusal` before the others are answered */
	const char *refusal;   /* whole response */
	const char *body;
	bool hold; /* answers nothing by itself */
	struct server_conn *held[1024];
	unsigned n_held;
	struct kar_buf log;
};

struct result {
	struct kar_client *client;
	struct kar_call *call;
	int begun, dones;
	bool ok, cancel_in_data, free_in_done;
	int refuse;
	struct kar_answer answer;
	char uid[16];
	struct kar_buf body, stream;
	struct kar_err err;
	kar_time at;
};

static void on_begun(void *arg)
{
	((struct result *)arg)->begun++;
}

static int on_data(void *arg, const char *bytes, size_t n)
{
	struct result *r = arg;

	kar_buf_append(&r->stream, bytes, n);
	if (r->cancel_in_data)
		kar_client_cancel(r->client, r->call);
	return r->refuse;
}

static void on_done(void *arg, const struct kar_answer *answer, const struct kar_err *err)
{
	struct result *r = arg;

	r->dones++;
	r->at = kar_clock_mono();
	r->ok = answer != NULL;
	assert_true((answer == NULL) != (err == NULL));
	if (err)
		r->err = *err;
	if (answer) {
		r->answer = *answer;
		kar_buf_append(&r->body, answer->body.p, answer->body.n);
		snprintf(r->uid, sizeof(r->uid), "%s", answer->uid);
	}
	if (r->free_in_done)
		kar_client_free(r->client);
}

static KAR_UNUSED bool is_done(void *arg)
{
	return ((struct result *)arg)->dones > 0;
}

static void serve(struct server_conn *c, const struct server_request *r, void *arg)
{
	struct world *w = arg;

	snprintf(w->last_head, sizeof(w->last_head), "%s\n%.*s", r->head, (int)r->body_n, r->body);
	kar_buf_append(&w->heads, r->head, strcspn(r->head, "\r"));
	kar_buf_puts(&w->heads, "\n");
	if (w->hold && w->n_held < KAR_LEN(w->held)) {
		w->held[w->n_held++] = c;
		w->open++;
		w->open_max = w->open > w->open_max ? w->open : w->open_max;
		return;
	}
	if (r->nth < w->refuse_first)
		server_send(c, w->refusal);
	else
		server_answer(c, 200, "", w->body);
}

static void keep_log(void *arg, const char *line, size_t n)
{
	kar_buf_append(arg, line, n);
}

static KAR_UNUSED void open_world(struct world *w, const struct kar_client_http_options *o)
{
	struct kar_client_http_options plain = { .user_agent = "kar-controllers/test" };
	struct kar_err err;

	memset(w, 0, sizeof(*w));
	memset(&fake_credential, 0, sizeof(fake_credential));
	w->loop = kar_loop_new();
	w->body = POD;
	server_start(&w->server, w->loop, serve, w);
	snprintf(w->url, sizeof(w->url), "http://127.0.0.1:%u", w->server.port);
	w->config = (struct kar_kubeconfig){ .source = "test", .server = w->url, .token = SECRET };
	w->client = kar_client_http_new(w->loop, &w->config, o ? o : &plain, &err);
	assert_non_null(w->client);
	kar_log_init(KAR_LOG_TEXT, 10);
	kar_log_redirect(keep_log, &w->log);
}

static KAR_UNUSED void close_world(struct world *w)
{
	kar_client_free(w->client);
	server_stop(&w->server);
	kar_loop_free(w->loop);
	kar_log_redirect(NULL, NULL);
	assert_null(strstr(kar_buf_cstr(&w->log), SECRET));
	assert_null(strstr(kar_buf_cstr(&w->log), "uid"));
	kar_buf_release(&w->log);
	kar_buf_release(&w->heads);
}

static KAR_UNUSED void start(struct world *w, struct result *r, struct kar_request request)
{
	request.on_begun = on_begun;
	request.on_data = on_data;
	request.on_done = on_done;
	request.arg = r;
	r->client = w->client;
	r->call = kar_client_start(w->client, &request);
	assert_int_equal(r->dones, 0); /* never from inside the start */
}

static KAR_UNUSED void release(struct result *r)
{
	kar_buf_release(&r->body);
	kar_buf_release(&r->stream);
}

static KAR_UNUSED struct kar_str text(const char *s)
{
	return (struct kar_str){ s, strlen(s) };
}

#endif
