/*
 * serve - an HTTP/1.1 server for a few small answers, in the loop; the only user of libmicrohttpd in the product.
 *
 * No threads: libmicrohttpd's epoll descriptor hangs in the loop. A request may be answered at once or later. What clients can take is
 * bounded: connections (beyond the limit the one that has been idle longest is closed, so that a crowd that only connects keeps nobody
 * out), bytes of request line and headers, bytes of a body, the time from the first byte of a request to its last, the time that
 * an answer takes to be sent (beyond the limit of connections an answer that nobody takes is given up after a second), the time
 * without a request, and the requests of a connection. All clients together may be given a share of the time of
 * the thread: who makes more work than that, by TLS handshakes for example, waits, and the rest of the loop does not.
 */
#ifndef KAR_SERVE_H
#define KAR_SERVE_H

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/loop/loop.h"

struct kar_server;
struct kar_exchange; /* a request that has no answer yet */

enum { KAR_SERVE_BODY_MAX = 1024 }; /* bytes of a request's body; a larger one is answered with 413 */

/* Borrowed for the call. Texts NULL: absent. */
struct kar_server_request {
	const char *method;
	const char *path;  /* as sent, without the query */
	const char *query; /* what follows the question mark; "" */
	const char *authorization, *accept;
	struct kar_str body;
};

struct kar_server_options {
	const char *certificate, *key; /* PEM, for TLS 1.2 and 1.3; NULL: plain */
	unsigned connections;          /* most at a time; 0: 256 */
	kar_time patience; /* ms for a request to arrive, and for its answer to be taken; 0: 10 s */
	unsigned
		share; /* one part in so many of the time of the thread is for all clients together; 0: all of it */
	/* A request is complete. It must be answered, in the call or later. */
	void (*on_request)(void *arg, struct kar_exchange *x, const struct kar_server_request *rq);
	void *arg;
};

/* Accepts on the listening socket @fd, which stays the caller's. @o is copied. NULL with KAR_FATAL: the certificate is refused. */
struct kar_server *kar_server_new(struct kar_loop *l, int fd, const struct kar_server_options *o,
	struct kar_err *err) KAR_MUSTUSE KAR_NONNULL;
/* Accepts nothing any more; requests on open connections are still answered. */
void kar_server_retire(struct kar_server *s) KAR_NONNULL;
/* Closes all connections. Accepts NULL. Exchanges that are not answered yet are gone. Not from inside a callback. */
void kar_server_free(struct kar_server *s);
size_t kar_server_connections(const struct kar_server *s) KAR_NONNULL;
/* Exchanges that have no answer yet. */
size_t kar_server_waiting(const struct kar_server *s) KAR_NONNULL;

/* Ends @x. The bytes of @body are taken; it is empty afterwards. @content_type is static. */
void kar_exchange_answer(struct kar_exchange *x, int status, const char *content_type,
	struct kar_buf *body) KAR_NONNULL;

#endif
