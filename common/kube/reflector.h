/*
 * reflector - keeps one store equal to the API server: LIST, then WATCH, for ever.
 *
 * The contract of client-go's reflector, except where that overloads or misses something: first list consistent
 * (resourceVersion "", pages of 500), relist at the last version NotOlderThan without pages, "" after 410 or
 * "too large"; a list replaces the store only when it is complete; watches with bookmarks, ended by the server
 * after a random 5 to 10 minutes and by us 30 s later; a watch without a byte for 150 s although bookmarks were
 * seen is cut; partial documents are dropped without moving the version; 429 and refused connections back off
 * at the same version; a watch that ends within 1 s without an event backs off and lists again; what troubled watches
 * is over with an event, or when an answer has stood for 15 s.
 * An object of which a part cannot be read is stored without it (kar_object.unreadable) and reported through
 * on_unreadable; all others are not affected.
 * A version that is gone is listed anew within half a second; if the next one is gone too, the back-off grows.
 * 403 and 404 on a list are reported through on_trouble and tried again every 30 s at most, never read as "empty".
 */
#ifndef KAR_REFLECTOR_H
#define KAR_REFLECTOR_H

#include "common/kube/client.h"
#include "common/kube/store.h"
#include "common/loop/loop.h"

struct kar_reflector;
struct kar_reflector_times;

struct kar_reflector_options {
	const char *ns;                              /* NULL: all namespaces */
	const char *label_selector, *field_selector; /* NULL: none */
	uint64_t seed;                               /* of jitter and watch lengths */
	/* The first list is in (once). */
	void (*on_synced)(void *arg);
	/*
	 * An attempt failed (@err), or the trouble is over (NULL). The first failure of a watch that worked is not reported: one lost
	 * connection is nothing unusual. Must not free @r.
	 */
	void (*on_trouble)(void *arg, const struct kar_reflector *r, const struct kar_err *err);
	/* In trouble, the API server has begun to answer a watch, or has answered a list. The trouble may not be over yet. */
	void (*on_answer)(void *arg, const struct kar_reflector *r);
	/* @o could not be read as a whole: "status.phase: want a string, got a number". Once until it is readable again. */
	void (*on_unreadable)(void *arg, const struct kar_object *o, const char *problem);
	void *arg;
	/* NULL: the defaults; borrowed (common/kube/reflector_policy.h) */
	const struct kar_reflector_times *times;
};

struct kar_reflector_stats {
	uint64_t lists, watches, events, bookmarks, parse_errors;
	uint64_t unreadable; /* objects that could not be read as a whole, counted each time they arrived */
	kar_time last_event; /* mono ms, 0: none yet */
};

/* Feeds @store through @client. All three are borrowed and must outlive it. Options are copied. */
struct kar_reflector *kar_reflector_new(struct kar_loop *l, struct kar_client *client,
	struct kar_store *store, const struct kar_reflector_options *o) KAR_MUSTUSE KAR_RETNN;
void kar_reflector_start(struct kar_reflector *r) KAR_NONNULL;
void kar_reflector_free(struct kar_reflector *r); /* accepts NULL; cancels its request */
/*
 * The API server is back: if @r waits after a failure, of whatever kind, it tries again at once, or after the Retry-After of the
 * last answer, but every 5 s at most.
 */
void kar_reflector_retry(struct kar_reflector *r) KAR_NONNULL;

bool kar_reflector_synced(const struct kar_reflector *r) KAR_NONNULL;
struct kar_store *kar_reflector_store(const struct kar_reflector *r) KAR_NONNULL;
/* The trouble it is in, or NULL. */
const struct kar_err *kar_reflector_trouble(const struct kar_reflector *r) KAR_NONNULL;
struct kar_reflector_stats kar_reflector_stats(const struct kar_reflector *r) KAR_NONNULL;

#endif
