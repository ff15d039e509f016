/*
 * reflector_policy - what a reflector does after a list or a watch has ended; pure.
 *
 * The shell (reflector.c) says how it ended, the policy answers with the next step. Principles: never a tight loop; the
 * position is given up only when the server says that it is gone; a consistent list ("") is the last rung, because a
 * list at a known version is the cheaper one for the server. The back-off grows with failures of one kind in a row (no answer, a
 * busy server, a version that is gone, a refusal ...): that a server was away for long says nothing about how it answers now. The
 * first version that is gone is listed anew within half a second, since every restart of an API server leads to that, and the first
 * Retry-After is waited for as it is: a server says so while it starts.
 */
#ifndef KAR_REFLECTOR_POLICY_H
#define KAR_REFLECTOR_POLICY_H

#include "common/base/base.h"
#include "common/base/err.h"

/* All in ms. Tests shorten them; production uses the defaults. */
struct kar_reflector_times {
	kar_time backoff_base, backoff_cap; /* jitter up to twice the value */
	kar_time watch_min, watch_max;      /* length of a watch that the server is asked for */
	kar_time grace;                     /* after which we end a watch that the server should have ended */
	kar_time idle;    /* without a byte, where bookmarks have been seen: the connection is dead */
	kar_time settle;  /* a watch answered this long ago has ended the trouble, even if silent */
	kar_time brief;   /* a watch that ended sooner was not a working one */
	kar_time healthy; /* a watch that stood this long makes the back-off start anew */
	kar_time refused; /* longest wait after 403 and 404, which end when a person acts */
	kar_time
		soon; /* longest wait after the first version that is gone; jitter after the first Retry-After */
	kar_time hurry; /* between two attempts that are made because the server is back */
	kar_time list;  /* limit of one list request */
};
extern const struct kar_reflector_times kar_reflector_default_times;

/* Which version a list asks for. */
enum kar_list_from {
	KAR_LIST_LATEST_PAGED, /* resourceVersion "", in pages */
	KAR_LIST_LATEST,       /* the same in one piece: pages expire, this cannot */
	KAR_LIST_POSITION,     /* resourceVersion = position, NotOlderThan, in one piece: served from cache */
};

struct kar_reflector_plan {
	bool watch;              /* watch from the position; otherwise list */
	enum kar_list_from from; /* of the list */
	bool wait;               /* take a step of the back-off first */
	kar_time within;         /* above 0: no step, but a random moment of at most this, after .at_least */
	kar_time at_least, at_most; /* bounds of the wait; 0: none */
	bool reset;                 /* all was well: begin the back-off anew before that step */
	bool trouble;               /* worth telling a person */
};

/* Zero-initialise; set @times. */
struct kar_reflector_policy {
	const struct kar_reflector_times *times;
	unsigned failures; /* waits since the last healthy watch */
	int kind; /* of the failure that was waited for at last; 0: none since the last healthy watch */
	unsigned broken; /* streams broken at the same position */
};

struct kar_list_end {
	enum kar_list_from from;
	const struct kar_err *err; /* NULL: complete */
	bool continued;            /* it failed on a page after the first */
};

struct kar_watch_end {
	const struct kar_err *err; /* NULL: the server ended it between two events */
	bool in_stream;            /* @err came as an ERROR event after a 200 */
	bool broken;               /* @err: cut inside an event, or bytes that are no event */
	bool begun;                /* its answer began: a 200 */
	bool bytes;                /* something arrived */
	bool moved;                /* the position advanced */
	kar_time lived;
};

struct kar_reflector_plan kar_reflector_after_list(struct kar_reflector_policy *p,
	const struct kar_list_end *end) KAR_NONNULL;
struct kar_reflector_plan kar_reflector_after_watch(struct kar_reflector_policy *p,
	const struct kar_watch_end *end) KAR_NONNULL;

#endif
