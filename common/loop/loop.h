/*
 * loop - one thread's event loop.
 *
 * Callbacks run from kar_loop_run() only, one at a time, never from inside the call that started the
 * watcher. Watchers belong to their creator, who frees them before the loop. A callback may stop or
 * free any watcher, its own included. Nothing here blocks except kar_loop_run().
 *
 * There are two kinds: the real one on libev (loop_ev.c), and one in virtual time for simulations (sim/virtual_loop.h),
 * which has timers only.
 *
 * Idle cost: the loop sleeps until the next timer or descriptor; it makes no periodic wake-ups of its own. Under load it
 * lets descriptors gather, for 4 ms and, if much comes for six seconds, up to 100 ms. Timers are never late for that, but
 * those that may be.
 */
#ifndef KAR_LOOP_H
#define KAR_LOOP_H

#include "common/base/base.h"

struct kar_loop;
struct kar_timer;
struct kar_io;
struct kar_signal;
struct kar_child;

struct kar_loop *kar_loop_new(void) KAR_MUSTUSE KAR_RETNN;
void kar_loop_free(struct kar_loop *l); /* accepts NULL */
/* Runs until kar_loop_stop(). */
void kar_loop_run(struct kar_loop *l) KAR_NONNULL;
/* Makes kar_loop_run() return after the current callbacks. */
void kar_loop_stop(struct kar_loop *l) KAR_NONNULL;

/* The clocks as read at the start of this turn (see common/loop/clock.h). Cheap. */
kar_time kar_loop_mono(const struct kar_loop *l) KAR_NONNULL;
kar_time kar_loop_wall(const struct kar_loop *l) KAR_NONNULL;
/*
 * The monotonic clock as it is at this moment: later than kar_loop_mono() if the process was stopped within this turn. For what must
 * not happen after a moment, however late the turn is.
 */
kar_time kar_loop_mono_now(const struct kar_loop *l) KAR_NONNULL;
/* A callback has read so many bytes from a descriptor: the more come, the longer it pays to let them gather. */
void kar_loop_took(struct kar_loop *l, size_t bytes) KAR_NONNULL;
/* Longest time one turn's callbacks took since the last call of this function, in ms: the loop lag. */
kar_time kar_loop_take_lag(struct kar_loop *l) KAR_NONNULL;

typedef void kar_timer_fn(void *arg);
struct kar_timer *kar_timer_new(struct kar_loop *l, kar_timer_fn *fn, void *arg) KAR_MUSTUSE KAR_RETNN;
/* Fires once, @after_ms from now (0: in the next turn). Restarts a running timer. */
void kar_timer_start(struct kar_timer *t, kar_time after_ms) KAR_NONNULL;
/*
 * As kar_timer_start(), for what may be a little late (timer slack): under load it fires with the descriptors that have
 * gathered, and makes no turn of its own.
 */
void kar_timer_start_slack(struct kar_timer *t, kar_time after_ms) KAR_NONNULL;
void kar_timer_stop(struct kar_timer *t) KAR_NONNULL;
bool kar_timer_running(const struct kar_timer *t) KAR_NONNULL;
void kar_timer_free(struct kar_timer *t); /* accepts NULL; stops it */

enum { KAR_IO_READ = 1, KAR_IO_WRITE = 2, KAR_IO_ERROR = 4 };
typedef void kar_io_fn(void *arg, int fd, int events);
struct kar_io *kar_io_new(struct kar_loop *l, int fd, kar_io_fn *fn, void *arg) KAR_MUSTUSE KAR_RETNN;
/* Waits for @events (0: none). Call kar_io_free() before closing the descriptor. */
void kar_io_set(struct kar_io *io, int events) KAR_NONNULL;
void kar_io_free(struct kar_io *io); /* accepts NULL */

typedef void kar_signal_fn(void *arg, int signum);
struct kar_signal *kar_signal_new(struct kar_loop *l, int signum, kar_signal_fn *fn,
	void *arg) KAR_MUSTUSE KAR_RETNN;
void kar_signal_free(struct kar_signal *s); /* accepts NULL */

/* Calls @fn once when child @pid has ended, with its wait status. */
typedef void kar_child_fn(void *arg, int status);
struct kar_child *kar_child_new(struct kar_loop *l, int pid, kar_child_fn *fn,
	void *arg) KAR_MUSTUSE KAR_RETNN;
void kar_child_free(struct kar_child *c); /* accepts NULL */

#endif
