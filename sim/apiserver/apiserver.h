/*
 * apiserver - a Kubernetes API server in memory, in virtual time.
 *
 * Behaves like kube-apiserver wherever a controller or kubectl can tell: one resourceVersion per write, list and watch
 * semantics, optimistic locking, finalizers and deletion, subresources, patches, admission. What it leaves out is listed in
 * docs/SIMULATION.md; a differential test (test/differential) compares it with the real one.
 *
 * One call = one request, answered at once. Two doors lead here: sim/client_sim.h (struct kar_client, in process) and
 * sim/apiserver/http_server.h. It owns no thread, socket or clock: time is the timeline's. Not thread-safe, not re-entrant:
 * listeners must not call it from inside their callback (they start an alarm).
 */
#ifndef SIM_APISERVER_H
#define SIM_APISERVER_H

#include "common/kube/verb.h"
#include "sim/timeline.h"
#include "sim/tree.h"

struct sim_apiserver;
struct sim_watch;
struct sim_version;

struct sim_apiserver_options {
	uint64_t seed;  /* of uids and generated names */
	size_t history; /* events kept for watches, per resource; older ones are answered 410; 0: 10000 */
	bool no_initial_events; /* refuse sendInitialEvents, as servers before 1.27 do */
};

/*
 * A server that has the built-in types of sim/apiserver/builtin.c, the namespaces default, kube-system, kube-public and
 * kube-node-lease, and the system PriorityClasses. @t is borrowed.
 */
struct sim_apiserver *sim_apiserver_new(struct sim_timeline *t,
	const struct sim_apiserver_options *o) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
void sim_apiserver_free(struct sim_apiserver *s); /* accepts NULL; all watches must be closed */

/* How objects are given back. */
enum sim_form { SIM_FORM_OBJECT, SIM_FORM_METADATA /* PartialObjectMetadata(List) */, SIM_FORM_TABLE };

/* A request for a resource, after path and query were taken apart. Strings are borrowed; NULL: not given. */
struct sim_request {
	enum kar_verb verb;
	const char *group;              /* "" for the core group */
	const char *version, *resource; /* "v1", "pods" */
	const char *ns, *name, *subresource;
	enum kar_patch_type patch_type;
	/* Body of create, update, patch, and DeleteOptions of delete: a tree (borrowed; @object wins), or JSON text. */
	const struct sim_value *object;
	struct kar_str body;
	const char *resource_version, *resource_version_match, *continue_token;
	const char *label_selector, *field_selector;
	int64_t limit; /* 0: none */
	bool bookmarks, send_initial_events;
	bool skip_initial_events; /* sendInitialEvents=false was asked for, which is not the same as nothing */
	int64_t timeout_seconds;  /* of a watch; 0: the server's choice */
	const char *field_manager,
		*field_validation; /* "Strict" | "Warn" | "Ignore" (also NULL: HTTP clients get "Warn") */
	bool force, dry_run;
	const char *propagation_policy; /* from the query; DeleteOptions in the body win */
	int64_t grace_period_seconds; /* likewise; -1: not given. Zero-initialised requests mean 0 only with has_grace */
	bool has_grace;
	enum sim_form form;
	const char *include_object; /* of a Table's rows: "Metadata" (also NULL), "Object" or "None" */
	const char *user;           /* "system:kube-scheduler"; NULL: "kubernetes-admin" */
};

/* Owned by the caller; release with sim_response_release(). */
struct sim_response {
	int code;                 /* HTTP status */
	struct sim_value *object; /* object, list, Table or Status; new reference */
	/* What the texts are taken from: the one object, or the items of the list. NULL: nothing is kept. Owned. */
	struct sim_version **versions;
	size_t n_versions;
	bool is_list;
	size_t skip; /* bytes at the start of an item's text that a list leaves out: kind and apiVersion of built-in types */
	/* `object` as JSON text if the server has it at hand (it is kept with each stored version); else NULL. Counted. */
	struct sim_text *text;
	const char *
		warning; /* for Warning headers, one per line (unknown fields with fieldValidation=Warn); owned, or NULL */
};

/* Immutable shared text of one version of one object. */
struct sim_text {
	size_t refs, n;
	char p[];
};
struct sim_text *sim_text_ref(struct sim_text *t) KAR_NONNULL;
void sim_text_unref(struct sim_text *t); /* accepts NULL */

/* Not for KAR_WATCH. @out is filled in always: what it held before is overwritten, not released. */
void sim_apiserver_call(struct sim_apiserver *s, const struct sim_request *rq,
	struct sim_response *out) KAR_NONNULL;
/* The body of @r as JSON text, appended to @out, whose cap is lifted if it is the default: lists can be long. */
void sim_response_body(const struct sim_response *r, struct kar_buf *out) KAR_NONNULL;
void sim_response_release(struct sim_response *r) KAR_NONNULL;

/*
 * A watch is a cursor in the server's history: nothing is buffered for it, so that a slow reader costs nothing and a door can
 * let it lag behind. Read it once after opening, until it is dry. @notify (may be NULL) is called once when, after that,
 * something new may be readable; it must not call the server, not even read: the caller reads later, again until dry.
 * NULL with @refused filled if the request is refused (400, 404 ...); else @refused is empty.
 */
struct sim_watch *sim_watch_open(struct sim_apiserver *s, const struct sim_request *rq,
	void (*notify)(void *arg), void *arg, struct sim_response *refused) __attribute__((nonnull(1, 2, 5)));
enum sim_watch_state {
	SIM_WATCH_EVENT, /* one event was appended */
	SIM_WATCH_DRY,   /* nothing now */
	SIM_WATCH_ENDED, /* timed out, or an ERROR event was given (410: history compacted): close it */
};
/* Appends the next event as one line of JSON with "\n": {"type":"ADDED","object":{...}}. */
enum sim_watch_state sim_watch_read(struct sim_watch *w, struct kar_buf *out) KAR_NONNULL;
void sim_watch_close(struct sim_watch *w); /* accepts NULL */

/* Forgets history up to now: open watches that are behind, and later ones from before, are answered 410. */
void sim_apiserver_compact(struct sim_apiserver *s) KAR_NONNULL;
/* Every watch that is open ends at its next read, without an error event, as when a server goes away. */
void sim_apiserver_cut_watches(struct sim_apiserver *s) KAR_NONNULL;

/* --- for the other inhabitants of the same process --------------------------------------------------------- */

/* One write as it was committed. @old NULL: created; @new NULL: removed. Borrowed for the call. */
struct sim_change {
	const char *group, *resource, *ns, *name; /* ns NULL: cluster-scoped */
	const struct sim_value *old, *new;
	int64_t rv;
	const char *user;
	enum kar_verb verb;
	const char *subresource; /* or NULL */
};
/* @fn sees every write after it was committed; it must not call the server. There may be many; none is removed. */
typedef void sim_change_fn(void *arg, const struct sim_change *c);
void sim_apiserver_listen(struct sim_apiserver *s, sim_change_fn *fn, void *arg)
	__attribute__((nonnull(1, 2)));

/* The present version, borrowed until the next write; NULL: none. @ns NULL for cluster-scoped ones. */
const struct sim_value *sim_apiserver_peek(const struct sim_apiserver *s, const char *group,
	const char *resource, const char *ns, const char *name) __attribute__((nonnull(1, 2, 3, 5)));
/* Calls @fn for each object of the resource, in order of namespace and name. */
void sim_apiserver_each(const struct sim_apiserver *s, const char *group, const char *resource,
	void (*fn)(void *arg, const struct sim_value *object), void *arg)
	__attribute__((nonnull(1, 2, 3, 4)));
size_t sim_apiserver_count(const struct sim_apiserver *s, const char *group,
	const char *resource) KAR_NONNULL;
int64_t sim_apiserver_rv(const struct sim_apiserver *s) KAR_NONNULL; /* of the last write */
struct sim_timeline *sim_apiserver_timeline(const struct sim_apiserver *s) KAR_NONNULL KAR_RETNN;

/* Installs every CustomResourceDefinition (YAML documents) of the files in @folder. -1 with @err. */
int sim_apiserver_install_crds(struct sim_apiserver *s, const char *folder, struct kar_err *err) KAR_NONNULL;

#endif
