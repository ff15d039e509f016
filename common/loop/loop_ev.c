#include "common/loop/loop_impl.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ev.h>

#include "common/base/mem.h"
#include "common/loop/clock.h"

enum { US_PER_S = 1000000, US_PER_MS = 1000 };

struct ev_kind_loop {
	struct kar_loop base; /* first */
	struct ev_loop *ev;
	ev_check awake;      /* first thing after the sleep */
	ev_prepare asleep;   /* last thing before it */
	kar_time mono, wall; /* as of `awake` */
	kar_time before;     /* `mono` of the turn before */
	kar_time busy;       /* what its callbacks lasted */
	kar_time lag;
	size_t took; /* bytes, that it read */
	struct kar_gather gather;
};

struct ev_kind_timer {
	struct kar_timer base; /* first */
	ev_timer w;
	struct ev_kind_loop *loop;
	kar_timer_fn *fn;
	void *arg;
};

struct kar_io {
	ev_io w;
	struct ev_kind_loop *loop;
	kar_io_fn *fn;
	void *arg;
};

struct kar_signal {
	ev_signal w;
	struct ev_kind_loop *loop;
	kar_signal_fn *fn;
	void *arg;
};

/*
 * Not libev's ev_child: that needs the default loop and reaps every child of the process. A descriptor of
 * the one child (pidfd) becomes readable when it ends; where there is none (old kernel, strict seccomp
 * filter, no descriptor left) the child is asked after, while it lives.
 */
struct kar_child {
	struct kar_io *io;
	struct kar_timer *poll;
	int pid;
	int pidfd;
	kar_child_fn *fn;
	void *arg;
};

static const struct kar_loop_kind ev_kind;

static struct ev_kind_loop *ev_of(struct kar_loop *l)
{
	return kar_container_of(l, struct ev_kind_loop, base);
}

/* Descriptors, signals and children exist for this kind of loop only: asking another for one is a programming error. */
static struct ev_kind_loop *real(struct kar_loop *l, const char *function)
{
	if (l->kind == &ev_kind)
		return ev_of(l);
	fprintf(stderr, "%s() was called with a virtual loop, which has timers only\n", function);
	abort();
}

static const struct ev_kind_loop *const_ev_of(const struct kar_loop *l)
{
	return (const struct ev_kind_loop *)(const void *)l;
}

static struct ev_kind_timer *timer_of(struct kar_timer *t)
{
	return kar_container_of(t, struct ev_kind_timer, base);
}

static void read_clocks(struct ev_kind_loop *l)
{
	l->mono = kar_clock_mono();
	l->wall = kar_clock_wall();
}

static void on_awake(struct ev_loop *ev KAR_UNUSED, ev_check *w, int revents KAR_UNUSED)
{
	struct ev_kind_loop *l = w->data;

	l->before = l->mono;
	read_clocks(l);
}

/* libev counts the interval from its last look at the clock, which may be this turn's start, or any timer's since. */
static void gather(struct ev_kind_loop *l)
{
	kar_time left_us = l->gather.us - l->busy * US_PER_MS;

	ev_now_update(l->ev);
	ev_set_io_collect_interval(l->ev, left_us > 0 ? (ev_tstamp)left_us / US_PER_S : 0.);
}

static void on_asleep(struct ev_loop *ev KAR_UNUSED, ev_prepare *w, int revents KAR_UNUSED)
{
	struct ev_kind_loop *l = w->data;
	kar_time busy = kar_clock_mono() - l->mono;

	if (busy > l->lag)
		l->lag = busy;
	l->gather = kar_loop_gather(l->gather, l->mono - l->before, l->busy, l->took);
	l->busy = busy;
	l->took = 0;
	gather(l);
}

struct kar_loop *kar_loop_new(void)
{
	struct ev_kind_loop *l = kar_xcalloc(1, sizeof(*l));

	l->base.kind = &ev_kind;
	l->ev = ev_loop_new(EVFLAG_AUTO);
	if (!l->ev) {
		fprintf(stderr, "cannot create an event loop: %s\n", strerror(errno));
		abort();
	}
	read_clocks(l);
	ev_check_init(&l->awake, on_awake);
	ev_prepare_init(&l->asleep, on_asleep);
	ev_set_priority(&l->awake, EV_MAXPRI); /* before the callbacks of the same turn */
	l->awake.data = l;
	l->asleep.data = l;
	ev_check_start(l->ev, &l->awake);
	ev_prepare_start(l->ev, &l->asleep);
	return &l->base;
}

static void free_loop(struct kar_loop *base)
{
	struct ev_kind_loop *l = ev_of(base);

	ev_check_stop(l->ev, &l->awake);
	ev_prepare_stop(l->ev, &l->asleep);
	ev_loop_destroy(l->ev);
	free(l);
}

static void run(struct kar_loop *base)
{
	struct ev_kind_loop *l = ev_of(base);

	read_clocks(l); /* time spent outside the loop is not the loop's lag */
	ev_run(l->ev, 0);
}

static void stop(struct kar_loop *l)
{
	ev_break(ev_of(l)->ev, EVBREAK_ALL);
}

static kar_time mono(const struct kar_loop *l)
{
	return const_ev_of(l)->mono;
}

static kar_time mono_now(const struct kar_loop *l KAR_UNUSED)
{
	return kar_clock_mono();
}

static kar_time wall(const struct kar_loop *l)
{
	return const_ev_of(l)->wall;
}

static kar_time take_lag(struct kar_loop *base)
{
	struct ev_kind_loop *l = ev_of(base);
	kar_time lag = l->lag;

	l->lag = 0;
	return lag;
}

static void took(struct kar_loop *l, size_t bytes)
{
	ev_of(l)->took += bytes;
}

static void on_timer(struct ev_loop *ev KAR_UNUSED, ev_timer *w, int revents KAR_UNUSED)
{
	struct ev_kind_timer *t = w->data;

	t->fn(t->arg); /* may free t */
}

static struct kar_timer *new_timer(struct kar_loop *l, kar_timer_fn *fn, void *arg)
{
	struct ev_kind_timer *t = kar_xcalloc(1, sizeof(*t));

	t->base.kind = &ev_kind;
	t->loop = ev_of(l);
	t->fn = fn;
	t->arg = arg;
	ev_timer_init(&t->w, on_timer, 0., 0.);
	t->w.data = t;
	return &t->base;
}

static void start_timer(struct kar_timer *base, kar_time after_ms)
{
	enum { MS_PER_S = 1000 };
	struct ev_kind_timer *t = timer_of(base);

	assert(after_ms >= 0);
	ev_timer_stop(t->loop->ev, &t->w);
	/* libev counts from the start of the turn: after a long callback that would be too early. */
	ev_now_update(t->loop->ev);
	/* Floating division: an integer one would make every delay below a second 0 and spin. */
	ev_timer_set(&t->w, (ev_tstamp)after_ms / MS_PER_S, 0.);
	ev_timer_start(t->loop->ev, &t->w);
}

static void start_slack(struct kar_timer *base, kar_time after_ms)
{
	struct ev_kind_loop *l = timer_of(base)->loop;

	start_timer(base, kar_loop_slack(after_ms, kar_clock_mono() - l->mono, l->gather.us));
}

static void stop_timer(struct kar_timer *base)
{
	struct ev_kind_timer *t = timer_of(base);

	ev_timer_stop(t->loop->ev, &t->w);
}

static bool timer_is_running(const struct kar_timer *t)
{
	return ((const struct ev_kind_timer *)(const void *)t)->w.active != 0;
}

static void free_timer(struct kar_timer *t)
{
	stop_timer(t);
	free(timer_of(t));
}

static const struct kar_loop_kind ev_kind = {
	.free = free_loop,
	.run = run,
	.stop = stop,
	.mono = mono,
	.mono_now = mono_now,
	.wall = wall,
	.take_lag = take_lag,
	.took = took,
	.timer_new = new_timer,
	.timer_start = start_timer,
	.timer_start_slack = start_slack,
	.timer_stop = stop_timer,
	.timer_is_running = timer_is_running,
	.timer_free = free_timer,
};

static void on_io(struct ev_loop *ev KAR_UNUSED, ev_io *w, int revents)
{
	struct kar_io *io = w->data;
	int events = 0;

	if (revents & EV_READ)
		events |= KAR_IO_READ;
	if (revents & EV_WRITE)
		events |= KAR_IO_WRITE;
	if (revents & EV_ERROR) /* libev has stopped the watcher: the descriptor is bad */
		events |= KAR_IO_ERROR;
	io->fn(io->arg, w->fd, events); /* may free io */
}

struct kar_io *kar_io_new(struct kar_loop *l, int fd, kar_io_fn *fn, void *arg)
{
	struct kar_io *io = kar_xcalloc(1, sizeof(*io));

	io->loop = real(l, __func__);
	io->fn = fn;
	io->arg = arg;
	ev_io_init(&io->w, on_io, fd, 0);
	io->w.data = io;
	return io;
}

void kar_io_set(struct kar_io *io, int events)
{
	int want = (events & KAR_IO_READ ? EV_READ : 0) | (events & KAR_IO_WRITE ? EV_WRITE : 0);

	if (want == (io->w.events & (EV_READ | EV_WRITE)) && (io->w.active != 0) == (want != 0))
		return;
	ev_io_stop(io->loop->ev, &io->w);
	ev_io_set(&io->w, io->w.fd, want);
	if (want)
		ev_io_start(io->loop->ev, &io->w);
}

void kar_io_free(struct kar_io *io)
{
	if (!io)
		return;
	ev_io_stop(io->loop->ev, &io->w);
	free(io);
}

static void on_signal(struct ev_loop *ev KAR_UNUSED, ev_signal *w, int revents KAR_UNUSED)
{
	struct kar_signal *s = w->data;

	s->fn(s->arg, w->signum); /* may free s */
}

struct kar_signal *kar_signal_new(struct kar_loop *l, int signum, kar_signal_fn *fn, void *arg)
{
	struct kar_signal *s = kar_xcalloc(1, sizeof(*s));

	s->loop = real(l, __func__);
	s->fn = fn;
	s->arg = arg;
	ev_signal_init(&s->w, on_signal, signum);
	s->w.data = s;
	ev_signal_start(s->loop->ev, &s->w);
	return s;
}

void kar_signal_free(struct kar_signal *s)
{
	if (!s)
		return;
	ev_signal_stop(s->loop->ev, &s->w);
	free(s);
}

static void close_child(struct kar_child *c)
{
	kar_timer_free(c->poll);
	kar_io_free(c->io);
	if (c->pidfd >= 0)
		close(c->pidfd);
	c->poll = NULL;
	c->io = NULL;
	c->pidfd = -1;
}

static void check_child(void *arg)
{
	enum { POLL_MS = 50 };
	struct kar_child *c = arg;
	int status = 0;
	pid_t done;

	do
		done = waitpid(c->pid, &status, WNOHANG);
	while (done < 0 && errno == EINTR);
	if (done == 0) {
		if (c->poll)
			kar_timer_start(c->poll, POLL_MS);
		return; /* not yet */
	}
	close_child(c);
	c->fn(c->arg, status); /* may free c */
}

static void on_child(void *arg, int fd KAR_UNUSED, int events KAR_UNUSED)
{
	check_child(arg);
}

struct kar_child *kar_child_new(struct kar_loop *l, int pid, kar_child_fn *fn, void *arg)
{
	struct kar_child *c = kar_xcalloc(1, sizeof(*c));

	(void)real(l, __func__);
	c->pid = pid;
	c->fn = fn;
	c->arg = arg;
	c->pidfd = (int)syscall(SYS_pidfd_open, pid, 0); /* close-on-exec by definition */
	if (c->pidfd < 0) {
		c->poll = kar_timer_new(l, check_child, c);
		kar_timer_start(c->poll, 0);
		return c;
	}
	c->io = kar_io_new(l, c->pidfd, on_child, c);
	kar_io_set(c->io, KAR_IO_READ);
	return c;
}

void kar_child_free(struct kar_child *c)
{
	if (!c)
		return;
	close_child(c);
	free(c);
}
