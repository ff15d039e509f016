/*
 * http_server - puts a door (http_door.h) on the network: HTTP/1.1 over TLS; the only user of libmicrohttpd.
 *
 * No threads: libmicrohttpd's descriptor hangs in the loop. A watch is a chunked answer whose connection is suspended while there
 * is nothing to say. What clients can take is bounded: connections, bytes of request line and headers, bytes of a
 * body, and the time from the first byte of a request to its last.
 */
#ifndef SIM_HTTP_SERVER_H
#define SIM_HTTP_SERVER_H

#include "common/base/err.h"
#include "common/loop/loop.h"
#include "sim/apiserver/http_door.h"

struct sim_http_server;

struct sim_http_server_options {
	const char *address;           /* IPv4, "127.0.0.1" */
	uint16_t port;                 /* 0: any that is free */
	const char *certificate, *key; /* PEM */
	kar_time patience;             /* ms for a request to arrive; 0: 30 s */
	unsigned connections;          /* most at a time; 0: 1000 */
	/* Called before requests are answered, and after: where virtual time catches up, and is waited for. */
	void (*before)(void *arg);
	void (*after)(void *arg);
	void *arg;
};

/* Listens at once; answers from kar_loop_run() on. NULL with KAR_FATAL (port in use, certificate). Strings are borrowed. */
struct sim_http_server *sim_http_server_new(struct kar_loop *l, const struct sim_http_server_options *o,
	struct kar_err *err) KAR_MUSTUSE KAR_NONNULL;
/* Must be called before the loop runs. @door is borrowed. */
void sim_http_server_open(struct sim_http_server *s, struct sim_door *door) KAR_NONNULL;
uint16_t sim_http_server_port(const struct sim_http_server *s) KAR_NONNULL;
/* Cuts all connections. Accepts NULL. To be called before the door is freed, not from inside a callback. */
void sim_http_server_free(struct sim_http_server *s);

#endif
