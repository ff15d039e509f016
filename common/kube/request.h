/*
 * request - the texts of a request and the few facts of an answer; pure, shared by the clients that speak
 * HTTP.
 */
#ifndef KAR_KUBE_REQUEST_H
#define KAR_KUBE_REQUEST_H

#include "common/base/mem.h"
#include "common/kube/client.h"

/* "POST" ... Static string. */
const char *kar_request_method(enum kar_verb verb);
/* True for verbs that change something. */
bool kar_request_writes(enum kar_verb verb);
/* Of the body: application/json, or the patch type. Static string. */
const char *kar_request_content_type(const struct kar_request *r) KAR_NONNULL;
/* What the answer may be encoded as: the value of Accept. Static string. */
const char *kar_request_accept(const struct kar_request *r) KAR_RETNN KAR_NONNULL;
/* Server address, path and query. The caller frees it. */
char *kar_request_url(const struct kar_request *r, const char *server) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
/* For error texts: "create pods in default", "patch queuejobs/status default/j". The caller frees it. */
char *kar_request_what(const struct kar_request *r) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
/*
 * True if @r has a name, if its verb is about one object. Without one its path would be that of the collection, and a DELETE would delete
 * all objects of the namespace: clients refuse it. A GET whose name is NULL is about an API group.
 */
bool kar_request_is_whole(const struct kar_request *r) KAR_NONNULL;
/*
 * The body to send, with its length in *@n; NULL if there is none. The caller frees it. A DELETE always has
 * one (DeleteOptions), because a request without a body cannot be kept from being replayed (see
 * http_curl.c). A dry run is asked for in that body: an API server that gets one does not read the query.
 */
char *kar_request_body(const struct kar_request *r, size_t *n) KAR_MUSTUSE KAR_NONNULL;

/*
 * Decodes the one document in @body, Kubernetes protobuf if it begins like that, else JSON. As kar_json_decode().
 */
int kar_document_decode(struct kar_arena *arena, const struct kar_desc *desc, struct kar_str body, void *out,
	struct kar_err *err);

/*
 * Fills @answer for a 2xx @status with @body. KAR_RETRY, or KAR_UNKNOWN for a @write, if the body is not
 * one complete document: libcurl may have taken a cut body for complete. answer->uid lives in @arena.
 */
int kar_answer_read(struct kar_arena *arena, int status, struct kar_str body, bool write,
	struct kar_answer *answer, struct kar_err *err);

/*
 * Token bucket: @burst requests at once, then @qps per second. Times are mono ms.
 */
struct kar_bucket {
	double qps; /* 0: unlimited */
	double burst;
	double tokens;
	kar_time at; /* when `tokens` was true */
};
/* Takes a token and returns 0, or returns the ms until there is one. */
kar_time kar_bucket_take(struct kar_bucket *b, kar_time now) KAR_NONNULL;

/* The last KAR_SEEN texts, as hashes: for saying a thing once. Zero-initialise it. */
enum { KAR_SEEN = 64 };
struct kar_seen {
	uint64_t hashes[KAR_SEEN]; /* a ring */
	size_t n;
};
/* True if @text is not among them; it is then. */
bool kar_seen_first(struct kar_seen *s, const char *text) KAR_NONNULL;

#endif
