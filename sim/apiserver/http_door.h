/*
 * http_door - the API server as HTTP sees it: one complete request in, one answer out; without a socket.
 *
 * It knows users by their bearer tokens, paths, media types and the documents around the resources (discovery, OpenAPI, health).
 * RBAC is not enforced: whoever has a token may do everything; without one, only health and version can be asked for.
 * http_server.h puts it on the network. Not thread-safe.
 */
#ifndef SIM_HTTP_DOOR_H
#define SIM_HTTP_DOOR_H

#include "sim/apiserver/apiserver.h"

struct sim_door;

struct sim_door_options {
	const char *address;     /* "127.0.0.1:6443", for /api; copied */
	const char *admin_token; /* the bearer token of kubernetes-admin; copied */
	/* Gets one line of the audit log (audit.k8s.io/v1 Event, JSON, with "\n") per answered request; NULL: nobody. */
	void (*audit)(void *arg, const char *line, size_t n);
	void *audit_arg;
};

/* @s is borrowed. */
struct sim_door *sim_door_new(struct sim_apiserver *s,
	const struct sim_door_options *o) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
void sim_door_free(struct sim_door *d); /* accepts NULL; all streams must be closed */

/* One request. Header values are NULL if absent. Borrowed for the call. */
struct sim_http_request {
	const char *method, *target;
	const char *authorization, *accept, *content_type, *user_agent, *impersonate_user, *if_none_match;
	struct kar_str body;
	bool too_large; /* the body was, and is not here */
};

/* Owned by the caller: zero it, release it with sim_http_answer_release(). */
struct sim_http_answer {
	int code;
	const char *content_type; /* static */
	struct kar_buf body;
	struct kar_buf warnings; /* values of Warning headers, one per line */
	char etag[40];           /* "" or a quoted value */
	int64_t retry_after;     /* seconds, for the header; 0: none */
	struct sim_http_stream
		*stream; /* of a watch that began; the body comes from it. NULL: the body is complete */
};

enum { SIM_HTTP_BODY_MAX = 3 << 20 }; /* bytes of a request body */

/*
 * Answers @rq. A watch that is accepted has code 200 and a stream; @notify (with @arg) is then called, not from within
 * a function of this header, when the stream may have something to read.
 */
void sim_door_call(struct sim_door *d, const struct sim_http_request *rq, void (*notify)(void *arg),
	void *arg, struct sim_http_answer *out) __attribute__((nonnull(1, 2, 5)));
void sim_http_answer_release(
	struct sim_http_answer *a) KAR_NONNULL; /* closes the stream, if it is still there */

/* Appends the next event to @out; see sim_watch_read(). */
enum sim_watch_state sim_http_stream_read(struct sim_http_stream *s, struct kar_buf *out) KAR_NONNULL;
void sim_http_stream_close(struct sim_http_stream *s); /* accepts NULL */

#endif
