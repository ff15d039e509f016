/*
 * http - HTTP requests without blocking, over HTTP/2 or HTTP/1.1 with TLS; the only user of libcurl.
 *
 * A pool (struct kar_http) is one libcurl multi handle: its requests share connections. Users keep
 * separate pools for watches, for lists, for writes and for the lease, so that a stuck or flow-blocked
 * connection of one kind cannot delay the others.
 *
 * Rules that are kept here, each with a test:
 *  - a request body is sent through a read function without a seek function unless the request says it is
 *    `replayable`: libcurl would otherwise silently send a POST twice on a reused connection that dies;
 *  - done with class KAR_RETRY means "surely not executed" for a write (nothing of it was sent), and any
 *    transport failure for a GET; KAR_UNKNOWN means the server may have executed the write;
 *  - no user callback runs from inside a libcurl callback; a request can be cancelled at any time;
 *  - redirects are never followed, only https (and http, for tests and --master) is spoken, proxies only when
 *    asked for, compression only when asked for, the response is bounded where it is collected;
 *  - a request that ends badly or is cancelled after a long silence takes its connection out of use: a
 *    wedged server or proxy acknowledges bytes for ever, and an HTTP/2 connection would be shared again;
 *  - a request that ends during the lookup of its host's name does not wait for that;
 *  - timers are exact to the ms; descriptors are owned here (no stale watcher after close).
 */
#ifndef KAR_HTTP_H
#define KAR_HTTP_H

#include "common/base/base.h"
#include "common/base/err.h"
#include "common/loop/loop.h"

/*
 * How to reach and verify a server. Contents, not paths: a changed certificate is a changed connection.
 * Plain data owned by the caller; a request copies what it needs when it starts.
 */
struct kar_tls {
	const char *ca_pem;      /* NULL: the system's CA bundle */
	const char *cert_pem;    /* client certificate chain, or NULL */
	const char *key_pem;     /* its key, or NULL */
	const char *server_name; /* verify (and send as SNI) this name instead of the URL's host, or NULL */
	bool insecure_skip_verify;
};

struct kar_http_options {
	const char *user_agent;
	bool http1_only; /* never negotiate HTTP/2 */
	/*
	 * While a request is in flight no other is on its connection, which is then kept for the next. For watches: when
	 * a connection can be read, libcurl tries every request on it, so that each event would cost as much as there are
	 * watches. An API server under load ends watches often; a connection anew each time would cost both sides more
	 * than hundreds of events.
	 */
	bool own_connections;
	/* Requests that are in flight at most; 0: a few. With HTTP/1.1 each needs a connection, which is kept for the next one. */
	size_t in_flight;
	kar_time connect_timeout; /* ms; 0: 10 s */
	const char *proxy;        /* URL, or NULL: none */
	const char *no_proxy;     /* hosts that are asked without it, parted by commas; or NULL */
	kar_time silence;         /* ms without a byte after which a given-up request is doubted; 0: 20 s */
	/*
	 * ms after the last request when the connections are closed; 0: they are kept. For pools that are seldom used: nobody
	 * looks at an idle connection, so that what the server closes would stay half-closed until the next request.
	 */
	kar_time idle;
};

struct kar_http;         /* a pool of connections */
struct kar_http_request; /* one request in flight */

struct kar_http *kar_http_new(struct kar_loop *l, const struct kar_http_options *o) KAR_MUSTUSE KAR_RETNN;
/* Cancels what is in flight (without callbacks) and closes all connections. Accepts NULL. */
void kar_http_free(struct kar_http *h);
/* Retires all idle connections and lets busy ones finish: after credentials or CA have changed. */
void kar_http_reset_connections(struct kar_http *h) KAR_NONNULL;
/* Requests in flight. */
size_t kar_http_in_flight(const struct kar_http *h) KAR_NONNULL;

struct kar_http_head {
	int status;
	kar_time retry_after;     /* ms from Retry-After (seconds or HTTP date), 0 if absent */
	const char *content_type; /* "" if absent; borrowed for the call */
	const char *warning;      /* first Warning header, "" if absent; borrowed */
	bool http2;
};

struct kar_http_call {
	const char *method; /* "GET" ... */
	const char *url;
	const char *const *headers; /* "Name: value", ended by NULL; may be NULL. Never logged. */
	const char *body;           /* NULL: none; copied */
	size_t body_n;
	bool replayable;  /* safe to execute twice: libcurl may replay it on a dead connection */
	bool accept_gzip; /* lists only, never watches (the server's multi-member gzip) */
	kar_time timeout; /* ms for the whole exchange; 0: none (watches set their own) */
	const struct kar_tls *tls;
	/*
	 * Asked when all that the request had to wait for is there, its connection included, just before its first byte; says no: nothing
	 * is sent, and it ends with KAR_RETRY. May start and cancel nothing. NULL: always.
	 */
	bool (*may_send)(void *arg);
	/*
	 * Called in order, from the loop: head at most once, then data any number of times, then done exactly
	 * once unless the request was cancelled. data may return -1 to abort: done then reports KAR_INVALID.
	 * done: @err is NULL if a complete response arrived, whatever its status.
	 */
	void (*on_head)(void *arg, const struct kar_http_head *head);
	int (*on_data)(void *arg, const char *bytes, size_t n);
	void (*on_done)(void *arg, const struct kar_err *err);
	void *arg;
};

/* Starts @call; what it points to is only borrowed for this call. Never fails here: errors arrive in on_done. */
struct kar_http_request *kar_http_start(struct kar_http *h,
	const struct kar_http_call *call) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
/* Forgets the request: no further callback. Allowed inside its own callbacks except on_done. */
void kar_http_cancel(struct kar_http_request *r); /* accepts NULL */

/* Once per process, before and after all use: libcurl's global state. -1 if this libcurl cannot do what is
 * needed (no TLS, no asynchronous name resolution). */
int kar_http_global_init(struct kar_err *err);
void kar_http_global_cleanup(void);

#endif
