/*
 * client - the seam between the controllers and the API server.
 *
 * A request is data (verb, resource, name, body, options); a client is a table of two functions that start
 * and cancel one. Three implementations are planned to sit behind it: HTTP (client_http.h), a simulated API
 * server in the same process, and that server through HTTP. The functions kar_client_get() ... fill the
 * request for each verb of the API.
 *
 * Answers arrive from the loop, never from inside kar_client_start(). A request ends in exactly one on_done
 * unless it is cancelled. Single-threaded.
 */
#ifndef KAR_CLIENT_H
#define KAR_CLIENT_H

#include "common/base/base.h"
#include "common/base/err.h"
#include "common/kube/object.h"
#include "common/kube/verb.h"

/* Which connections carry it; each lane has its own, so that none can starve another. */
enum kar_lane { KAR_LANE_WRITES, KAR_LANE_LISTS, KAR_LANE_WATCHES, KAR_LANE_LEASE, KAR_LANE_COUNT };

/* How a request ended well. Borrowed for the call. */
struct kar_answer {
	int status;          /* 2xx */
	struct kar_str body; /* JSON or protobuf (kar_document_decode()); empty for list and watch */
	kar_rv rv;           /* metadata.resourceVersion of the object (or list) in the body, 0 if none */
	const char *uid;     /* metadata.uid of the object in the body, "" if none */
};

struct kar_request {
	enum kar_verb verb;
	const struct kar_resource *res;
	const char *ns;          /* NULL or "": cluster scope, or all namespaces for list/watch */
	const char *name;        /* NULL for list, watch, create and deletecollection */
	const char *subresource; /* "status", or NULL */
	enum kar_patch_type patch_type;
	struct kar_str body; /* object, patch or DeleteOptions; borrowed for the start call */
	const char *
		path; /* asked for instead of the resource, which then only has a name: "/readyz"; NULL: none */
	bool replayable; /* may be executed twice without harm (see common/net/http.h) */
	enum kar_lane lane;
	kar_time timeout; /* ms; 0: 30 s for unary requests and lists, none for watches */

	/* Options; strings NULL: not sent. */
	const char *resource_version;
	const char *resource_version_match; /* "NotOlderThan", "Exact" */
	const char *label_selector, *field_selector;
	const char *continue_token;
	int64_t limit;       /* 0: none */
	bool bookmarks;      /* watch: allowWatchBookmarks */
	int timeout_seconds; /* watch: the server ends it after this; 0: not sent */
	const char *field_manager;
	bool force; /* apply */
	bool dry_run;
	/* create, update, patch: a field that the resource does not have is refused (400), not dropped (fieldValidation=Strict) */
	bool strict;
	/* list and watch: the bytes, and the Status of an error, may be Kubernetes protobuf if the server has it */
	bool protobuf;
	/* The object in the answer may be cut down to its metadata: not encoding a whole pod saves the server time. */
	bool metadata_only;

	/* list and watch: a 200 answer has begun, its bytes come later. May cancel nothing. NULL: not told. */
	void (*on_begun)(void *arg);
	/*
	 * list and watch: the bytes of a 200 answer as they come (any chunking). -1 aborts the request, and
	 * on_done then carries KAR_INVALID.
	 */
	int (*on_data)(void *arg, const char *bytes, size_t n);
	/* Exactly one of @answer and @err is not NULL. Both borrowed for the call. */
	void (*on_done)(void *arg, const struct kar_answer *answer, const struct kar_err *err);
	void *arg;
};

struct kar_client;
struct kar_call; /* one request in flight; valid until on_done or kar_client_cancel() */

struct kar_client_ops {
	struct kar_call *(*start)(struct kar_client *c, const struct kar_request *r);
	void (*cancel)(struct kar_client *c, struct kar_call *call);
	void (*free)(struct kar_client *c);
};

/* First member of every implementation. */
struct kar_client {
	const struct kar_client_ops *ops;
	bool (*may_write)(void *arg); /* NULL: always */
	void *may_write_arg;
};

/* Starts @r; what it points to is borrowed for this call only. Errors arrive in on_done. */
struct kar_call *kar_client_start(struct kar_client *c, const struct kar_request *r) KAR_NONNULL KAR_RETNN;
/* No further callback of @call (NULL accepted). A write may still be executed by the server. */
void kar_client_cancel(struct kar_client *c, struct kar_call *call) __attribute__((nonnull(1)));
void kar_client_free(struct kar_client *c); /* accepts NULL; cancels everything */

/*
 * The fence: from now on @may_write(@arg) is asked whenever a write on KAR_LANE_WRITES is handed to its connection, that is after all
 * that it had to wait for. If it says no, nothing is sent, and the request ends with KAR_RETRY. Requests of other lanes are not asked
 * about.
 */
void kar_client_fence(struct kar_client *c, bool (*may_write)(void *arg), void *arg)
	__attribute__((nonnull(1, 2)));
/* For the implementations: may a request of @verb on @lane be handed to its connection now? */
bool kar_client_may_send(const struct kar_client *c, enum kar_verb verb, enum kar_lane lane) KAR_NONNULL;

/*
 * One function per verb: each returns a filled request; set callbacks and options, then start it.
 * Strings and bodies are borrowed until the start. Deletes are built with kar_delete_options().
 */
struct kar_request kar_client_get(const struct kar_resource *res, const char *ns, const char *name);
struct kar_request kar_client_list(const struct kar_resource *res, const char *ns);
struct kar_request kar_client_watch(const struct kar_resource *res, const char *ns,
	const char *resource_version);
struct kar_request kar_client_create(const struct kar_resource *res, const char *ns, struct kar_str body);
struct kar_request kar_client_update(const struct kar_resource *res, const char *ns, const char *name,
	struct kar_str body);
struct kar_request kar_client_patch(const struct kar_resource *res, const char *ns, const char *name,
	enum kar_patch_type type, struct kar_str body);
struct kar_request kar_client_delete(const struct kar_resource *res, const char *ns, const char *name,
	struct kar_str options);
struct kar_request kar_client_deletecollection(const struct kar_resource *res, const char *ns,
	const char *label_selector, struct kar_str options);

/*
 * Body of a DELETE in @out: preconditions uid (NULL: none) and resourceVersion (0: none), propagation ("Background"),
 * grace (-1: default).
 */
struct kar_buf;
void kar_delete_options(struct kar_buf *out, const char *uid, kar_rv rv, const char *propagation,
	int64_t grace_seconds);

/* Path and query of @r, e.g. "/apis/batch/v1/namespaces/x/jobs/j/status?fieldManager=f". */
void kar_request_path(const struct kar_request *r, struct kar_buf *out) KAR_NONNULL;

/*
 * Pure: the typed error for a non-2xx answer (common/kube/status.c). Reads metav1.Status from @body when it is one, as JSON or
 * protobuf (reason, causes, details.retryAfterSeconds); otherwise classifies by the status code and keeps at most
 * 256 bytes of the text. @write: the verb changes something (a 504 then is KAR_UNKNOWN).
 * @what names the request in the text: "create pods default/j-0".
 */
void kar_status_error(struct kar_err *err, int http, const char *content_type, struct kar_str body,
	kar_time retry_after, bool write, const char *what) KAR_NONNULL;
/* What the @message of an API server says of a ResourceQuota. */
void kar_quota_words_read(const char *message, struct kar_quota_words *out) KAR_NONNULL;

#endif
