/*
 * client_http_impl - what the two halves of the HTTP client share. Private to client_http.c, which gives each call
 * its turn, and client_http_call.c, which takes one call from there to its answer.
 */
#ifndef KAR_CLIENT_HTTP_IMPL_H
#define KAR_CLIENT_HTTP_IMPL_H

#include <bsd/sys/queue.h>

#include "common/base/backoff.h"
#include "common/base/buf.h"
#include "common/kube/client_http.h"
#include "common/kube/request.h"
#include "common/net/http.h"

enum { KAR_CALL_WAIT_MAX = 10000 }; /* ms; a longer Retry-After is for the caller to plan with */

TAILQ_HEAD(call_list, kar_call);

struct http_client {
	struct kar_client base;
	struct kar_loop *loop;
	const struct kar_kubeconfig *config;
	struct kar_credential *credential;
	struct kar_http *lanes[KAR_LANE_COUNT];
	struct call_list all;     /* kar_call::in_all */
	struct call_list waiting; /* kar_call::in_waiting, in order of their start */
	struct kar_timer *pump;
	size_t writes, max_writes; /* in flight on the writes lane */
	struct kar_bucket bucket;
	kar_time watch_answer;             /* ms */
	uint64_t generation;               /* of the credentials that the connections were made with */
	char *ca_pem, *cert_pem, *key_pem; /* of that generation */
	struct kar_seen said;              /* warnings and problems already logged */
	struct kar_client_http_stats stats;
	struct kar_metrics *metrics;
	char *host; /* of the API server, with its port, for them */
};

enum call_state {
	CALL_WAITING, /* for its turn */
	CALL_ASKING,  /* for credentials */
	CALL_RUNNING, /* an HTTP request is in flight */
	CALL_PAUSED,  /* after Retry-After, or to report `failure` from the loop */
};

struct kar_call {
	struct http_client *client;
	TAILQ_ENTRY(kar_call) in_all, in_waiting;
	enum call_state state;
	enum kar_verb verb;
	enum kar_lane lane;
	const char *content_type; /* of the body; static */
	const char *accept;       /* static */
	char *url, *what, *body;
	size_t body_n;
	bool replayable;
	kar_time timeout;
	void (*on_begun)(void *arg);
	int (*on_data)(void *arg, const char *bytes, size_t n);
	void (*on_done)(void *arg, const struct kar_answer *answer, const struct kar_err *err);
	void *arg;

	struct kar_http_request *http;
	struct kar_timer *pause;
	struct kar_timer *unanswered; /* of a watch, until its answer begins */
	struct kar_err failure;
	uint64_t generation; /* of the credentials it was sent with */
	bool reauthorized;
	kar_time sent; /* mono */
	unsigned throttled;
	struct kar_backoff backoff;
	int status;
	kar_time retry_after;
	char answer_type[128];
	struct kar_buf answer;
};

/* Its turn has come: @call has been taken off the waiting list and is counted in its lane. */
void kar_call_begin(struct kar_call *call) KAR_NONNULL;
/* Takes @call out of the client, in any state; the slot it held goes to the next one. No callback. */
void kar_call_withdraw(struct kar_call *call) KAR_NONNULL;
/* A call that has been withdrawn. */
void kar_call_free(struct kar_call *call) KAR_NONNULL;

#endif
