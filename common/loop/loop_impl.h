/*
 * loop_impl - what a kind of loop provides. Two exist: libev's (loop_ev.c), and virtual time (sim/virtual_loop.c).
 *
 * Only those two include this. Each function is what its namesake in common/loop/loop.h says, but accepts no NULL.
 */
#ifndef KAR_LOOP_IMPL_H
#define KAR_LOOP_IMPL_H

#include "common/loop/loop.h"

struct kar_loop_kind {
	void (*free)(struct kar_loop *l);
	void (*run)(struct kar_loop *l);
	void (*stop)(struct kar_loop *l);
	kar_time (*mono)(const struct kar_loop *l);
	kar_time (*mono_now)(const struct kar_loop *l);
	kar_time (*wall)(const struct kar_loop *l);
	kar_time (*take_lag)(struct kar_loop *l);
	void (*took)(struct kar_loop *l, size_t bytes); /* NULL: of no interest */
	struct kar_timer *(*timer_new)(struct kar_loop *l, kar_timer_fn *fn, void *arg);
	void (*timer_start)(struct kar_timer *t, kar_time after_ms);
	void (*timer_start_slack)(struct kar_timer *t, kar_time after_ms);
	void (*timer_stop)(struct kar_timer *t);
	bool (*timer_is_running)(const struct kar_timer *t);
	void (*timer_free)(struct kar_timer *t);
};

/* First members of what a kind makes of them. */
struct kar_loop {
	const struct kar_loop_kind *kind;
};
struct kar_timer {
	const struct kar_loop_kind *kind;
};

/* How the loop lets descriptors gather. */
struct kar_gather {
	int us;       /* how far apart turns begin; 0: whenever there is something */
	int64_t rate; /* bytes per second that have been read of late */
};
/*
 * How it goes on, when the last two turns began @between ms apart, of which the callbacks of the first lasted @busy ms and those
 * of the second have read @took bytes. Pure.
 *
 * Under load an answer or a watch event comes every few milliseconds, and each would be a turn of its own: a
 * wake-up with cold caches, and a walk through libcurl over every request that shares the connection. So turns that
 * follow closely upon each other begin a while apart, and what comes meanwhile is taken together. The while grows with
 * the length of the load: the repair of one gang is a matter of tens of turns and must not wait, while 100 ms more do
 * not hurt thousands of pods. It is shorter if little comes, which is then not worth the wait, and if so much comes that the
 * peer's window is full before it is over, as in a list. What comes after a quiet moment is never held up.
 */
struct kar_gather kar_loop_gather(struct kar_gather g, kar_time between, kar_time busy, size_t took);
/*
 * The delay, in ms, of a timer with slack that is to fire @after from now, which is @since ms after the start of the turn:
 * at least @after, so that it fires when a turn begins, if turns begin @gather_us apart. Pure.
 */
kar_time kar_loop_slack(kar_time after, kar_time since, int gather_us);

#endif
