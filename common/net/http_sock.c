#include "common/net/http_sock.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "common/base/mem.h"

enum {
	/*
	 * A silently dropped path is noticed by the kernel within about 45 s: probes after 30 s of silence,
	 * 10 s apart, given up 30 s after the last sign of life. This costs the process no wake-up.
	 * curl_easy_upkeep() (an HTTP/2 PING) does nothing for multi handles in libcurl 7.88, and nobody
	 * would wait for the answer.
	 */
	KEEPALIVE_IDLE_S = 30,
	KEEPALIVE_INTERVAL_S = 10,
	KEEPALIVE_PROBES = 3,
	USER_TIMEOUT_MS = 30000,

	FRUITLESS_MAX = 4,
	BREATH_MS = 5,
};

struct sock {
	struct kar_socks *table;
	struct kar_io *io;
	int want; /* KAR_IO_* that libcurl asked for */
	unsigned fruitless;
	bool muted; /* does not wait for writability although libcurl wants it */
};

struct kar_socks {
	struct kar_loop *loop;
	kar_io_fn *fn;
	void *arg;
	struct sock **by_fd; /* n; NULL: unknown */
	size_t n;
	struct kar_timer *breath;
};

static void apply(struct sock *s)
{
	kar_io_set(s->io, s->muted ? s->want & ~KAR_IO_WRITE : s->want);
}

static void unmute(struct sock *s)
{
	s->muted = false;
	s->fruitless = 0;
	apply(s);
}

static void on_breath(void *arg)
{
	struct kar_socks *t = arg;

	for (size_t fd = 0; fd < t->n; fd++) {
		if (t->by_fd[fd] && t->by_fd[fd]->muted)
			unmute(t->by_fd[fd]);
	}
}

struct kar_socks *kar_socks_new(struct kar_loop *l, kar_io_fn *fn, void *arg)
{
	struct kar_socks *t = kar_xcalloc(1, sizeof(*t));

	t->loop = l;
	t->fn = fn;
	t->arg = arg;
	t->breath = kar_timer_new(l, on_breath, t);
	return t;
}

void kar_socks_free(struct kar_socks *t)
{
	if (!t)
		return;
	for (size_t fd = 0; fd < t->n; fd++)
		kar_socks_drop(t, (int)fd);
	kar_timer_free(t->breath);
	free(t->by_fd);
	free(t);
}

int kar_sock_open(int family, int type, int protocol)
{
	static const struct {
		int level, name, value;
	} options[] = {
		{ SOL_SOCKET, SO_KEEPALIVE, 1 },
		{ IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S },
		{ IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S },
		{ IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_PROBES },
		{ IPPROTO_TCP, TCP_USER_TIMEOUT, USER_TIMEOUT_MS },
	};
	int fd = socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);

	if (fd < 0 || (family != AF_INET && family != AF_INET6))
		return fd;
	/* Best effort: without them a dead path is noticed later, by the users' own deadlines. */
	for (size_t i = 0; i < KAR_LEN(options); i++)
		(void)setsockopt(fd, options[i].level, options[i].name, &options[i].value, sizeof(int));
	return fd;
}

static struct sock *find(struct kar_socks *t, int fd)
{
	return fd >= 0 && (size_t)fd < t->n ? t->by_fd[fd] : NULL;
}

static void on_io(void *arg, int fd, int events)
{
	struct sock *s = arg;
	struct kar_socks *t = s->table;

	if (s->muted && (events & KAR_IO_READ))
		unmute(s);
	t->fn(t->arg, fd, events); /* may free s and t */
}

static struct sock *add(struct kar_socks *t, int fd)
{
	struct sock *s = kar_xcalloc(1, sizeof(*s));
	size_t need = (size_t)fd + 1;

	if (need > t->n) {
		t->by_fd = kar_xrealloc(t->by_fd, need, sizeof(struct sock *));
		memset(t->by_fd + t->n, 0, (need - t->n) * sizeof(struct sock *));
		t->n = need;
	}
	s->table = t;
	s->io = kar_io_new(t->loop, fd, on_io, s);
	t->by_fd[fd] = s;
	return s;
}

void kar_socks_want(struct kar_socks *t, int fd, int events)
{
	struct sock *s = find(t, fd);

	if (!s)
		s = add(t, fd);
	s->want = events;
	apply(s);
}

void kar_socks_drop(struct kar_socks *t, int fd)
{
	struct sock *s = find(t, fd);

	if (!s)
		return;
	kar_io_free(s->io);
	free(s);
	t->by_fd[fd] = NULL;
}

void kar_socks_note(struct kar_socks *t, int fd, int events, bool moved)
{
	struct sock *s = find(t, fd);

	if (!s)
		return;
	s->fruitless = events == KAR_IO_WRITE && !moved ? s->fruitless + 1 : 0;
	if (s->fruitless < FRUITLESS_MAX)
		return;
	s->muted = true;
	apply(s);
	if (!kar_timer_running(t->breath))
		kar_timer_start(t->breath, BREATH_MS);
}
