/*
 * reflector_impl - what the parts of a reflector share: its state, and the way from one request to the next.
 *
 * Private to reflector.c (life, trouble, what happens between two requests), reflector_list.c and reflector_watch.c.
 */
#ifndef KAR_REFLECTOR_IMPL_H
#define KAR_REFLECTOR_IMPL_H

#include "common/base/backoff.h"
#include "common/kube/reflector.h"
#include "common/kube/reflector_policy.h"
#include "common/kube/reflector_stream.h"
#include "common/kube/reflector_wire.h"

enum { MAX_VERSION = 128 }; /* bytes of a resourceVersion; it is opaque, but not a novel */

enum phase { STOPPED, WAITING, LISTING, WATCHING };

/* One request: what it has brought so far. */
struct attempt {
	kar_time started, last_byte;
	kar_time begun;  /* mono: when the answer to a watch began; KAR_NEVER: it has not */
	kar_time length; /* of a watch, as asked for */
	bool bytes, moved;
	bool in_stream;     /* `err` came as an event */
	bool broken;        /* `err`: bytes that could not be understood */
	struct kar_err err; /* why our side aborted it; KAR_OK: it did not */
	/* Of a list: */
	char *continue_token; /* of the page just read, or NULL */
	bool complete;        /* the document of this page was */
};

struct kar_reflector {
	struct kar_loop *loop;
	struct kar_client *client;
	struct kar_store *store;
	struct kar_intern *strings;
	struct kar_reflector_options options;
	char *ns, *label_selector, *field_selector;
	const struct kar_reflector_times *times;
	struct kar_reflector_tables tables;

	enum phase phase;
	struct kar_timer *timer; /* WAITING: for the next step; WATCHING: for the nearest deadline */
	struct kar_call *call;
	struct kar_reflector_stream *stream;
	struct attempt attempt;
	struct kar_reflector_policy policy;
	struct kar_reflector_plan plan;
	struct kar_backoff backoff;
	uint64_t random;
	kar_time waits_since, waits_until; /* mono; WAITING */
	kar_time next_hurry;               /* mono: before that kar_reflector_retry() does nothing */

	char position[MAX_VERSION];     /* where the next watch begins; verbatim */
	char list_version[MAX_VERSION]; /* of the list under way: that of its first page; "" before */
	char *next_page;                /* continue token to ask with, or NULL */

	bool synced, in_trouble, list_trouble;
	bool bookmarks; /* a watch has brought one: the server sends them, so silence means something */
	struct kar_err trouble;
	struct kar_reflector_stats stats;
};

/* Starts the list (or its next page) or the watch that the plan wants. */
void kar_reflector_list(struct kar_reflector *r) KAR_NONNULL;
void kar_reflector_watch(struct kar_reflector *r) KAR_NONNULL;
/* A deadline of the watch may have come. */
void kar_reflector_check_watch(struct kar_reflector *r) KAR_NONNULL;
/* Forgets the pages and the version of the list under way. */
void kar_reflector_forget_list(struct kar_reflector *r) KAR_NONNULL;

/*
 * Ends the attempt and goes on with @plan, from the loop, never from inside a callback of the client. @err: why it
 * ended, or NULL.
 */
void kar_reflector_follow(struct kar_reflector *r, struct kar_reflector_plan plan, const struct kar_err *err)
	__attribute__((nonnull(1)));
/* A random time of @least to @most ms. */
kar_time kar_reflector_moment(struct kar_reflector *r, kar_time least, kar_time most) KAR_NONNULL;
/* Frees what the attempt has brought. */
void kar_reflector_end_attempt(struct kar_reflector *r) KAR_NONNULL;
void kar_reflector_leave_trouble(struct kar_reflector *r) KAR_NONNULL;
/* The API server has begun to answer a watch, or has answered a list as a whole. */
void kar_reflector_answered(struct kar_reflector *r) KAR_NONNULL;

/* @q with the options that list and watch share. */
struct kar_request kar_reflector_request(const struct kar_reflector *r, struct kar_request q) KAR_NONNULL;
/* on_data of list and watch. */
int kar_reflector_on_data(void *arg, const char *bytes, size_t n);
/* The object from @w, to be stored next; reports one that is unreadable. NULL with KAR_INVALID: it cannot be stored. */
struct kar_object *kar_reflector_make(struct kar_reflector *r, const struct kar_wire_object *w,
	struct kar_err *err);
/* The bytes have ended: inside a document? Then attempt.err says so. */
void kar_reflector_finish_stream(struct kar_reflector *r) KAR_NONNULL;
/*
 * Why the attempt failed; NULL: it did not. Our own reason beats @err, the client's, which only knows that we aborted.
 */
const struct kar_err *kar_reflector_reason(const struct kar_reflector *r, const struct kar_err *err)
	__attribute__((nonnull(1)));
/* Copies a resourceVersion; KAR_INVALID if it is too long. */
int kar_reflector_keep_version(char to[MAX_VERSION], const char *version, struct kar_err *err);

#endif
