/*
 * http_curl - transfers on one libcurl multi handle; the part of http.c that knows libcurl.
 *
 * What arrives is put into the transfer's inbox (http_inbox.h); nobody is called from inside libcurl.
 */
#ifndef KAR_HTTP_CURL_H
#define KAR_HTTP_CURL_H

#include "common/net/http.h"
#include "common/net/http_inbox.h"

struct kar_engine;   /* a multi handle with its connections */
struct kar_transfer; /* one request on it */

struct kar_transfer_end {
	bool ok;          /* a complete response as far as HTTP can tell; its JSON may still be cut */
	bool never_valid; /* it could not be sent as asked (bad URL, header, option) */
	bool sent;        /* at least a part of the request has left */
	const char *text; /* why, if not ok; borrowed for the call */
};

struct kar_engine_hooks {
	/* The transfer with inbox @in has ended and is no more. May not enter the engine. */
	void (*ended)(struct kar_inbox *in, const struct kar_transfer_end *end);
	/* The end of a turn: users may be told now, who may do anything, even free the engine. */
	void (*turn_over)(void *arg);
	void *arg;
};

/* @o is borrowed for the engine's life, and so is @hooks->arg. */
struct kar_engine *kar_engine_new(struct kar_loop *l, const struct kar_http_options *o,
	const struct kar_engine_hooks *hooks) KAR_MUSTUSE KAR_RETNN;
/*
 * Frees @e, which closes its connections, once its last transfer has ended or was aborted; perhaps at once.
 */
void kar_engine_retire(struct kar_engine *e) KAR_NONNULL;

/* @call is borrowed for this call, @in until the end. Failures come through hooks->ended, never from here. */
struct kar_transfer *kar_transfer_start(struct kar_engine *e, const struct kar_http_call *call,
	struct kar_inbox *in) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
/* Ends it without a word. */
void kar_transfer_abort(struct kar_transfer *t) KAR_NONNULL;

#endif
