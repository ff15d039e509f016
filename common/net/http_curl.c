#include "common/net/http_curl.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <curl/curl.h>

#include "common/base/mem.h"
#include "common/net/http_sock.h"
#include "common/net/http_text.h"

enum {
	BUFFER_PLAIN = 64 << 10,
	BUFFER_GZIP = 16 << 10, /* smaller: what it inflates to waits in the inbox */
	SPARE_MAX = 64,         /* easy handles kept for reuse */
	CONNECTIONS_KEPT = 64,
	CONNECT_MS = 10000,
	CA_CACHE_S = 300, /* libcurl would keep a parsed CA file for 24 h */
};

struct kar_engine {
	struct kar_loop *loop;
	const struct kar_http_options *options;
	struct kar_engine_hooks hooks;
	CURLM *multi;
	struct kar_timer *timer;
	struct kar_socks *socks;
	TAILQ_HEAD(, kar_transfer) transfers; /* kar_transfer::link */
	uint64_t progress;                    /* changes whenever a callback sees bytes */
	bool retired;
	CURL *spare[SPARE_MAX];
	size_t n_spare;
};

struct kar_transfer {
	struct kar_engine *engine;
	struct kar_inbox *inbox;
	TAILQ_ENTRY(kar_transfer) link;
	CURL *easy;
	struct curl_slist *headers, *connect_to;
	char *body;
	size_t body_n, body_at;
	const char *refusal; /* why it cannot be sent at all; static text */
	char error[CURL_ERROR_SIZE];
};

static void close_multi(struct kar_engine *e)
{
	curl_multi_cleanup(e->multi);
	kar_socks_free(e->socks);
	kar_timer_free(e->timer);
}

static void free_if_retired(struct kar_engine *e)
{
	if (!e->retired || !TAILQ_EMPTY(&e->transfers))
		return;
	close_multi(e);
	while (e->n_spare)
		curl_easy_cleanup(e->spare[--e->n_spare]);
	free(e);
}

/* Its handle is kept for the next one. */
static void free_transfer(struct kar_transfer *t)
{
	struct kar_engine *e = t->engine;

	curl_multi_remove_handle(e->multi, t->easy);
	TAILQ_REMOVE(&e->transfers, t, link);
	curl_easy_reset(t->easy);
	if (e->n_spare < SPARE_MAX)
		e->spare[e->n_spare++] = t->easy;
	else
		curl_easy_cleanup(t->easy);
	for (struct curl_slist *h = t->headers; h; h = h->next)
		explicit_bzero(h->data, strlen(h->data)); /* one holds the token */
	curl_slist_free_all(t->headers);
	curl_slist_free_all(t->connect_to);
	free(t->body);
	free(t);
}

void kar_transfer_abort(struct kar_transfer *t)
{
	struct kar_engine *e = t->engine;

	free_transfer(t);
	free_if_retired(e);
}

static void end_transfer(struct kar_transfer *t, CURLcode result)
{
	long sent = 0;
	struct kar_transfer_end end = { .ok = result == CURLE_OK && t->inbox->head.done && !t->refusal };
	bool bad_url = result == CURLE_URL_MALFORMAT || result == CURLE_UNSUPPORTED_PROTOCOL;

	kar_tls_error_explain(t->error, sizeof(t->error));
	curl_easy_getinfo(t->easy, CURLINFO_REQUEST_SIZE, &sent);
	end.sent = sent > 0;
	/* Not so if something was sent: an answer in HTTP/0.9 is "unsupported" too. */
	end.never_valid = t->refusal || (bad_url && !end.sent);
	end.text = t->refusal ? t->refusal : t->error[0] ? t->error : curl_easy_strerror(result);
	t->engine->hooks.ended(t->inbox, &end);
	free_transfer(t);
}

static void drain_messages(struct kar_engine *e)
{
	int left;

	for (CURLMsg *m; (m = curl_multi_info_read(e->multi, &left)) != NULL;) {
		struct kar_transfer *t = NULL;
		CURLcode result = m->data.result; /* read before the handle is removed, which frees m */

		if (m->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&t);
		end_transfer(t, result);
	}
}

static void open_multi(struct kar_engine *e);

/* A multi handle that has failed once cannot be trusted: everything on it ends, and a new one takes its place. */
static void rebuild(struct kar_engine *e)
{
	while (!TAILQ_EMPTY(&e->transfers))
		end_transfer(TAILQ_FIRST(&e->transfers), CURLE_RECV_ERROR);
	close_multi(e);
	open_multi(e);
}

/* After every curl_multi_socket_action(). @e may not be used afterwards. */
static void end_turn(struct kar_engine *e, CURLMcode rc)
{
	struct kar_engine_hooks hooks = e->hooks;

	drain_messages(e);
	if (rc != CURLM_OK && rc != CURLM_BAD_SOCKET)
		rebuild(e);
	free_if_retired(e);
	hooks.turn_over(hooks.arg);
}

static void on_sock(void *arg, int fd, int events)
{
	struct kar_engine *e = arg;
	uint64_t before = e->progress;
	int mask = (events & KAR_IO_READ ? CURL_CSELECT_IN : 0) |
		(events & KAR_IO_WRITE ? CURL_CSELECT_OUT : 0) |
		(events & KAR_IO_ERROR ? CURL_CSELECT_ERR : 0);
	int running;
	CURLMcode rc = curl_multi_socket_action(e->multi, fd, mask, &running);

	kar_socks_note(e->socks, fd, events, e->progress != before);
	end_turn(e, rc);
}

static void on_time(void *arg)
{
	struct kar_engine *e = arg;
	int running;

	end_turn(e, curl_multi_socket_action(e->multi, CURL_SOCKET_TIMEOUT, 0, &running));
}

/* libcurl's timer is one-shot; 0 means "soon" and must not enter libcurl from here. */
static int on_curl_timer(CURLM *multi KAR_UNUSED, long ms, void *arg)
{
	if (ms < 0)
		kar_timer_stop(arg);
	else
		kar_timer_start(arg, ms);
	return 0;
}

static int on_curl_socket(CURL *easy KAR_UNUSED, curl_socket_t fd, int what, void *arg,
	void *sockp KAR_UNUSED)
{
	if (what == CURL_POLL_REMOVE)
		kar_socks_drop(arg, fd);
	else
		kar_socks_want(arg, fd,
			(what & CURL_POLL_IN ? KAR_IO_READ : 0) | (what & CURL_POLL_OUT ? KAR_IO_WRITE : 0));
	return 0;
}

static curl_socket_t on_curl_open(void *arg KAR_UNUSED, curlsocktype purpose KAR_UNUSED,
	struct curl_sockaddr *a)
{
	return kar_sock_open(a->family, a->socktype, a->protocol);
}

static int on_curl_close(void *arg, curl_socket_t fd)
{
	kar_socks_drop(arg, fd);
	return close(fd);
}

/* --- bytes: these only note what happened, see http_inbox.h --- */

static size_t on_curl_header(char *line, size_t size, size_t n, void *arg)
{
	struct kar_transfer *t = arg;

	t->engine->progress++;
	kar_inbox_head_line(t->inbox, line, size * n, kar_loop_wall(t->engine->loop));
	return size * n;
}

static size_t on_curl_write(char *bytes, size_t size, size_t n, void *arg)
{
	struct kar_transfer *t = arg;

	t->engine->progress++;
	kar_loop_took(t->engine->loop, size * n);
	return kar_inbox_bytes(t->inbox, bytes, size * n) ? size * n : 0; /* 0 ends the transfer */
}

static size_t on_curl_read(char *out, size_t size, size_t n, void *arg)
{
	struct kar_transfer *t = arg;
	size_t left = t->body_n - t->body_at;
	size_t take = left < size * n ? left : size * n;

	if (!take)
		return 0;
	t->engine->progress++;
	memcpy(out, t->body + t->body_at, take);
	t->body_at += take;
	return take;
}

/* The connection is there, and nothing has been sent. */
static int on_ready(void *arg, char *a KAR_UNUSED, char *b KAR_UNUSED, int c KAR_UNUSED, int d KAR_UNUSED)
{
	return kar_inbox_may_send(((struct kar_transfer *)arg)->inbox) ? 0 : CURL_PREREQFUNC_ABORT;
}

/* Set only for requests that may be executed twice: this is what lets libcurl send a body again. */
static int on_curl_seek(void *arg, curl_off_t offset, int origin)
{
	struct kar_transfer *t = arg;

	if (origin != SEEK_SET || offset < 0 || (size_t)offset > t->body_n)
		return CURL_SEEKFUNC_FAIL;
	t->body_at = (size_t)offset;
	return CURL_SEEKFUNC_OK;
}

/* --- setting a request up --- */

#define SET(t, option, value) \
	do { \
		CURLcode set_code = curl_easy_setopt((t)->easy, option, value); \
		if (set_code != CURLE_OK && !(t)->refusal) \
			(t)->refusal = curl_easy_strerror(set_code); \
	} while (0)

static void add_header(struct kar_transfer *t, const char *header)
{
	if (!kar_header_is_clean(header)) {
		t->refusal = "a request header contains a control character";
		return;
	}
	t->headers = curl_slist_append(t->headers, header); /* cannot fail, see kar_http_global_init() */
}

static void set_callbacks(struct kar_transfer *t)
{
	SET(t, CURLOPT_PRIVATE, t);
	SET(t, CURLOPT_ERRORBUFFER, t->error);
	SET(t, CURLOPT_HEADERFUNCTION, on_curl_header);
	SET(t, CURLOPT_HEADERDATA, t);
	SET(t, CURLOPT_WRITEFUNCTION, on_curl_write);
	SET(t, CURLOPT_WRITEDATA, t);
	SET(t, CURLOPT_PREREQFUNCTION, on_ready);
	SET(t, CURLOPT_PREREQDATA, t);
	SET(t, CURLOPT_OPENSOCKETFUNCTION, on_curl_open);
	SET(t, CURLOPT_CLOSESOCKETFUNCTION, on_curl_close);
	SET(t, CURLOPT_CLOSESOCKETDATA, t->engine->socks);
}

static void set_limits(struct kar_transfer *t, const struct kar_http_call *call)
{
	const struct kar_http_options *o = t->engine->options;

	SET(t, CURLOPT_NOSIGNAL, 1L);   /* no SIGALRM, no sigaction per request */
	SET(t, CURLOPT_QUICK_EXIT, 1L); /* else a request that ends waits, in here, for its name's lookup */
	SET(t, CURLOPT_FOLLOWLOCATION, 0L); /* a redirect would carry the token elsewhere */
	SET(t, CURLOPT_PROTOCOLS_STR, "https,http");
	SET(t, CURLOPT_PATH_AS_IS, 1L);
	SET(t, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L); /* a proxy's head is not the answer's */
	SET(t, CURLOPT_CONNECTTIMEOUT_MS, (long)(o->connect_timeout ? o->connect_timeout : CONNECT_MS));
	SET(t, CURLOPT_TIMEOUT_MS, (long)call->timeout);
	SET(t, CURLOPT_ACCEPT_ENCODING, call->accept_gzip ? "gzip" : NULL);
	/* "" keeps libcurl from looking at the environment. */
	SET(t, CURLOPT_PROXY, o->proxy ? o->proxy : "");
	SET(t, CURLOPT_NOPROXY, o->no_proxy ? o->no_proxy : "");
	SET(t, CURLOPT_USERAGENT, o->user_agent); /* NULL: none */
}

/*
 * A body goes through a read function. Without a seek function libcurl cannot send it a second time, which it would do silently
 * when a reused connection dies before the answer, though the server may have executed the first. A write without a body has no
 * such brake: it gets a connection of its own, because replays happen on reused ones only.
 */
static void set_body(struct kar_transfer *t, const struct kar_http_call *call)
{
	if (!kar_method_writes(call->method))
		return;
	if (call->body_n) {
		t->body = kar_xmalloc(call->body_n);
		t->body_n = call->body_n;
		memcpy(t->body, call->body, call->body_n);
	}
	SET(t, CURLOPT_POST, 1L);
	SET(t, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)t->body_n);
	SET(t, CURLOPT_READFUNCTION, on_curl_read);
	SET(t, CURLOPT_READDATA, t);
	SET(t, CURLOPT_CUSTOMREQUEST, call->method);
	add_header(t, "Expect:"); /* no 100-continue round trip for large bodies */
	if (call->replayable) {
		SET(t, CURLOPT_SEEKFUNCTION, on_curl_seek);
		SET(t, CURLOPT_SEEKDATA, t);
	} else if (!t->body_n) {
		SET(t, CURLOPT_FRESH_CONNECT, 1L);
	}
}

static void set_blob(struct kar_transfer *t, CURLoption option, const char *pem)
{
	struct curl_blob blob = { (void *)(uintptr_t)pem, strlen(pem), CURL_BLOB_COPY };

	SET(t, option, &blob);
}

/* Connections are matched by the blobs' contents: a rotated certificate never travels on an old connection. */
static void set_tls(struct kar_transfer *t, const struct kar_tls *tls)
{
	SET(t, CURLOPT_CA_CACHE_TIMEOUT, (long)CA_CACHE_S);
	SET(t, CURLOPT_SSL_VERIFYPEER, tls->insecure_skip_verify ? 0L : 1L);
	SET(t, CURLOPT_SSL_VERIFYHOST, tls->insecure_skip_verify ? 0L : 2L);
	if (tls->ca_pem) {
		SET(t, CURLOPT_CAINFO, NULL);
		SET(t, CURLOPT_CAPATH, NULL); /* else the system's CAs would be trusted too */
		set_blob(t, CURLOPT_CAINFO_BLOB, tls->ca_pem);
	}
	if (tls->cert_pem)
		set_blob(t, CURLOPT_SSLCERT_BLOB, tls->cert_pem);
	if (tls->key_pem)
		set_blob(t, CURLOPT_SSLKEY_BLOB, tls->key_pem);
}

/*
 * tls-server-name: libcurl verifies the URL's host, so the URL gets the wanted name and the connection is
 * redirected to the real host; the Host header stays the real one.
 */
static void set_renamed_url(struct kar_transfer *t, const struct kar_url *u, const char *name)
{
	int before_host = (int)(u->host.p - u->scheme.p), authority = (int)(u->rest.p - u->host.p);
	char *url = kar_xasprintf("%.*s%s%s", before_host, u->scheme.p, name, u->host.p + u->host.n);
	char *to = kar_xasprintf("::%.*s:%.*s", (int)u->host.n, u->host.p, (int)u->port.n, u->port.p);
	char *host = kar_xasprintf("Host: %.*s", authority, u->host.p);

	t->connect_to = curl_slist_append(NULL, to);
	add_header(t, host);
	SET(t, CURLOPT_CONNECT_TO, t->connect_to);
	SET(t, CURLOPT_URL, url);
	free(url);
	free(to);
	free(host);
}

static void set_target(struct kar_transfer *t, const struct kar_http_call *call)
{
	const struct kar_tls *tls = call->tls;
	const struct kar_http_options *o = t->engine->options;
	bool https = strncmp(call->url, "https:", 6) == 0, http2 = https && !o->http1_only;
	struct kar_url u;

	/* Only with TLS: ALPN tells at once whether streams can share a connection, so the others may wait. */
	SET(t, CURLOPT_PIPEWAIT, https && !o->own_connections ? 1L : 0L);
	SET(t, CURLOPT_HTTP_VERSION, http2 ? (long)CURL_HTTP_VERSION_2TLS : (long)CURL_HTTP_VERSION_1_1);
	if (kar_url_split(call->url, &u)) {
		t->refusal = "the URL is not of the form scheme://host[:port]/path";
		return;
	}
	if (tls)
		set_tls(t, tls);
	if (tls && tls->server_name)
		set_renamed_url(t, &u, tls->server_name);
	else
		SET(t, CURLOPT_URL, call->url);
}

/*
 * A handle that has shared an HTTP/2 connection keeps its buffer, which then cannot be resized (libcurl
 * 7.88). Writes do well with any; a GET may be a list or a watch and deserves a large one.
 */
static CURL *take_handle(struct kar_engine *e, const struct kar_http_call *call)
{
	long size = call->accept_gzip ? BUFFER_GZIP : BUFFER_PLAIN;
	CURL *easy = e->n_spare ? e->spare[--e->n_spare] : curl_easy_init();

	if (kar_method_writes(call->method) || curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, size) == CURLE_OK)
		return easy;
	curl_easy_cleanup(easy);
	easy = curl_easy_init();
	curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, size);
	return easy;
}

struct kar_transfer *kar_transfer_start(struct kar_engine *e, const struct kar_http_call *call,
	struct kar_inbox *in)
{
	struct kar_transfer *t = kar_xcalloc(1, sizeof(*t));

	t->engine = e;
	t->inbox = in;
	t->easy = take_handle(e, call);
	set_callbacks(t);
	set_limits(t, call);
	set_target(t, call);
	set_body(t, call);
	for (const char *const *header = call->headers; header && *header; header++)
		add_header(t, *header);
	SET(t, CURLOPT_HTTPHEADER, t->headers);
	if (t->refusal)
		SET(t, CURLOPT_URL, NULL); /* libcurl then ends it at once, through the ordinary way */
	TAILQ_INSERT_TAIL(&e->transfers, t, link);
	/* Cannot fail: a handle of our own, outside libcurl's callbacks, with memory that does not fail. */
	if (curl_multi_add_handle(e->multi, t->easy) != CURLM_OK)
		abort();
	return t;
}

static void open_multi(struct kar_engine *e)
{
	e->multi = curl_multi_init();
	e->timer = kar_timer_new(e->loop, on_time, e);
	e->socks = kar_socks_new(e->loop, on_sock, e);
	curl_multi_setopt(e->multi, CURLMOPT_SOCKETFUNCTION, on_curl_socket);
	curl_multi_setopt(e->multi, CURLMOPT_SOCKETDATA, e->socks);
	curl_multi_setopt(e->multi, CURLMOPT_TIMERFUNCTION, on_curl_timer);
	curl_multi_setopt(e->multi, CURLMOPT_TIMERDATA, e->timer);
	curl_multi_setopt(e->multi, CURLMOPT_MAXCONNECTS, (long)(CONNECTIONS_KEPT + e->options->in_flight));
	curl_multi_setopt(e->multi, CURLMOPT_PIPELINING,
		e->options->own_connections ? (long)CURLPIPE_NOTHING : (long)CURLPIPE_MULTIPLEX);
}

struct kar_engine *kar_engine_new(struct kar_loop *l, const struct kar_http_options *o,
	const struct kar_engine_hooks *hooks)
{
	struct kar_engine *e = kar_xcalloc(1, sizeof(*e));

	e->loop = l;
	e->options = o;
	e->hooks = *hooks;
	TAILQ_INIT(&e->transfers);
	open_multi(e);
	return e;
}

void kar_engine_retire(struct kar_engine *e)
{
	e->retired = true;
	free_if_retired(e);
}

static void *resize(void *p, size_t n)
{
	return kar_xrealloc(p, n, 1);
}

int kar_http_global_init(struct kar_err *err)
{
	const curl_version_info_data *v;
	/* libcurl's own memory cannot fail either, so no option or list append can. */
	CURLcode code = curl_global_init_mem(CURL_GLOBAL_DEFAULT, kar_xmalloc, free, resize, kar_xstrdup,
		kar_xcalloc);

	if (code != CURLE_OK)
		return kar_fail(err, KAR_FATAL, "cannot initialise libcurl: %s", curl_easy_strerror(code));
	v = curl_version_info(CURLVERSION_NOW);
	if ((v->features & CURL_VERSION_SSL) && (v->features & CURL_VERSION_ASYNCHDNS))
		return 0;
	kar_fail(err, KAR_FATAL,
		"libcurl %s is of no use: it was built without TLS or without asynchronous name resolution",
		v->version);
	curl_global_cleanup();
	return -1;
}

void kar_http_global_cleanup(void)
{
	curl_global_cleanup();
}
