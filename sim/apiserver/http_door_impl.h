/* http_door_impl - what the files of the door share. Private to sim/apiserver/http_*.c. */
#ifndef SIM_HTTP_DOOR_IMPL_H
#define SIM_HTTP_DOOR_IMPL_H

#include "sim/apiserver/http_accept.h"
#include "sim/apiserver/http_door.h"
#include "sim/apiserver/http_path.h"
#include "sim/apiserver/internal.h"
#include "sim/apiserver/openapi.h"

struct sim_token {
	char *text, *user; /* owned */
};

struct sim_door {
	struct sim_apiserver *server;
	struct sim_openapi *openapi;
	struct sim_door_options options; /* strings owned */
	struct sim_token *tokens;        /* [0] is the administrator's */
	size_t n_tokens;
	uint64_t audit_ids;
	size_t streams;
};

/* One request on its way. */
struct sim_door_call {
	struct sim_door *door;
	const struct sim_http_request *rq;
	struct kar_arena arena; /* dies with the call */
	struct sim_route route;
	char user[256];
	kar_time received; /* wall */
	void (*notify)(void *arg);
	void *notify_arg;
	struct sim_http_answer *out;
};

/* --- http_door.c: answers --- */
/* Answers with @r, which is released. */
void sim_door_answer(struct sim_door_call *c, struct sim_response *r) KAR_NONNULL;
/* Answers with a document, which is consumed. */
void sim_door_answer_value(struct sim_door_call *c, struct sim_value *consumed) KAR_NONNULL;
/* Answers with plain text. */
void sim_door_answer_text(struct sim_door_call *c, int code, const char *text) KAR_NONNULL;
/* What the server says about a path it does not know, a method a resource does not have, a form it cannot give. */
void sim_door_refuse_path(struct sim_door_call *c) KAR_NONNULL;
void sim_door_refuse_method(struct sim_door_call *c) KAR_NONNULL;
void sim_door_refuse_accept(struct sim_door_call *c) KAR_NONNULL;
/* Sets the ETag of the answer from its body, and empties the answer with 304 if the client has it already. */
void sim_door_tag(struct sim_door_call *c) KAR_NONNULL;

/* --- http_auth.c --- */
/* Finds the user of the request; false with @refused filled: 401, or 403 for what needs a user. */
bool sim_door_authenticate(struct sim_door_call *c, struct sim_response *refused) KAR_NONNULL;
void sim_door_add_token(struct sim_door *d, const char *text, const char *user) KAR_NONNULL;
/* Remembers the token that an answer of serviceaccounts/token holds. */
void sim_door_learn_token(struct sim_door_call *c, const struct sim_response *r) KAR_NONNULL;

/* --- http_paths.c: everything but resources --- */
void sim_door_path(struct sim_door_call *c) KAR_NONNULL;

/* --- http_resource.c, http_body.c, http_watch.c --- */
void sim_door_resource(struct sim_door_call *c) KAR_NONNULL;
/*
 * Puts the body into the call's sim_request, as JSON text or, from protobuf, as a tree that is given to *@tree (owned by the
 * caller). False with @refused filled: 400, 415.
 */
bool sim_door_body(struct sim_door_call *c, const struct sim_resource *r, struct sim_value **tree,
	struct sim_response *refused) KAR_NONNULL;
void sim_door_watch(struct sim_door_call *c) KAR_NONNULL;

/* --- http_audit.c --- */
/* Who asked for what, kept for a stream that ends later. Owned; NULL if there is no audit log. */
struct sim_audit *sim_audit_new(const struct sim_door_call *c) KAR_MUSTUSE KAR_NONNULL;
/* Writes the line; @name: of the object, if the path has none (may be NULL). Frees @a. */
void sim_audit_end(struct sim_door *d, struct sim_audit *a, int code, const char *name)
	__attribute__((nonnull(1)));

#endif
