/*
 * access - may the bearer of this token do that? Asks the API server, as every component of Kubernetes does: TokenReview says who it is,
 * SubjectAccessReview whether that user may use a path that is no resource ("/metrics").
 *
 * Answers are remembered: a yes for 60 s, a no for 10 s, by keyed hashes of the token, never by the token. At most KAR_ACCESS_ASKED
 * questions are open at a time, and strangers ask KAR_ACCESS_RATE a second, so that they cannot make us a burden for the API server;
 * more get 503 at once. Whose token was once good is no stranger, and finds a place when strangers have taken all of theirs.
 */
#ifndef KAR_ACCESS_H
#define KAR_ACCESS_H

#include "common/kube/client.h"
#include "common/loop/loop.h"

enum { KAR_ACCESS_ASKED = 16, KAR_ACCESS_STRANGERS = 12, KAR_ACCESS_RATE = 10, KAR_ACCESS_REMEMBERED = 128 };

struct kar_access;

/* @status: 200, 401 (no token, or a bad one), 403, or 503: nobody knows now. */
typedef void kar_access_fn(void *arg, int status);

/* Both are borrowed and must outlive it. */
struct kar_access *kar_access_new(struct kar_loop *l, struct kar_client *client) KAR_MUSTUSE KAR_RETNN;
void kar_access_free(struct kar_access *a); /* accepts NULL; nobody is answered any more */
/*
 * @authorization: the header, "Bearer ..."; NULL: none. @verb: "get", "put". Answers exactly once, in the call or later from the loop.
 */
void kar_access_ask(struct kar_access *a, const char *authorization, const char *verb, const char *path,
	kar_access_fn *done, void *arg) __attribute__((nonnull(1, 3, 4, 5)));

#endif
