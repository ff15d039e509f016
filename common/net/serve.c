#include "common/net/serve.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <bsd/sys/queue.h>
#include <microhttpd.h>

#include "common/base/log.h"
#include "common/base/mem.h"

enum {
	PATIENCE = 10 * 1000, /* ms */
	CONNECTIONS = 256,
	SPARE = 64, /* connections that may be open beyond that while idle ones are being closed */
	HEADER_MEMORY =
		16 << 10, /* bytes for request line and headers of a connection; a token has a few thousand */
	IDLE_RUNS = 8,    /* at once, */
	PAUSE = 25,       /* and then after so many ms */
	IDLE_SECONDS = 120, /* longer than Prometheus usually waits between two scrapes */
	UNTAKEN = 1000,     /* ms after which an answer that is not taken keeps nobody else out */
	ROOM_AGAIN = 250,   /* ms until room is made again where there was none to make */
	REQUESTS = 16,      /* of a connection */
	BURST = 50 * 1000,  /* us of CPU at once that count for no share */
};

struct kar_server {
	struct kar_loop *loop;
	struct kar_server_options options;
	struct MHD_Daemon *daemon;
	struct kar_io *io;                  /* the daemon's epoll descriptor */
	struct kar_timer *timer;            /* when the daemon wants to be run anyway */
	struct kar_timer *room;             /* when room is to be made again */
	TAILQ_HEAD(, peer) peers;           /* the one that has been idle longest first */
	TAILQ_HEAD(, kar_exchange) waiting; /* suspended */
	size_t n_peers, n_waiting;
	bool running, again, stopping;
	bool resting;       /* until the timer ends: it has had more than its share of the time */
	unsigned idle_runs; /* in a row that the daemon has asked for without news from a socket */
	int64_t spent;      /* us of CPU that the daemon has had beyond its share, at .spent_at */
	kar_time spent_at;  /* mono */
};

/* One TCP connection. */
struct peer {
	TAILQ_ENTRY(peer) link;
	struct kar_server *server;
	int fd;
	bool busy; /* with a request */
	bool closing;
	unsigned requests;          /* answered */
	kar_time answered;          /* mono, when the answer that is being sent was ready; 0: none is */
	struct kar_timer *deadline; /* of the request that is arriving, or of the answer that is being sent */
};

struct kar_exchange {
	TAILQ_ENTRY(kar_exchange) link;
	struct kar_server *server;
	struct MHD_Connection *connection;
	struct peer *peer;
	char *target; /* path, and after a NUL the query */
	const char *query;
	struct kar_buf body;
	struct MHD_Response *response;
	unsigned status;
	bool begun, asked, suspended;
};

/* ---- the daemon in the loop ---- */

/*
 * The daemon asks to be run again at once while a TLS handshake stands still in the middle: it forgets that there is nothing to read.
 * A stranger must not keep a core busy so.
 */
static kar_time bounded(struct kar_server *s, MHD_UNSIGNED_LONG_LONG timeout)
{
	if (timeout)
		return (kar_time)timeout;
	return s->idle_runs++ < IDLE_RUNS ? 0 : PAUSE;
}

static int64_t cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* ms for which the daemon rests now, after @us more of work: 0 unless it has had more than its share. */
static kar_time rest(struct kar_server *s, int64_t us)
{
	kar_time now = kar_loop_mono(s->loop);
	int64_t share = s->options.share, left;

	if (!share)
		return 0;
	left = s->spent - (now - s->spent_at) * 1000 / share;
	s->spent = (left > 0 ? left : 0) + us;
	s->spent_at = now;
	return s->spent > BURST ? (s->spent - BURST) * share / 1000 + 1 : 0;
}

static void run(struct kar_server *s)
{
	MHD_UNSIGNED_LONG_LONG timeout;
	int64_t begun = cpu_us();
	kar_time pause;

	s->running = true;
	s->again = false;
	MHD_run(s->daemon);
	s->running = false;
	pause = rest(s, cpu_us() - begun);
	kar_io_set(s->io, pause ? 0 : KAR_IO_READ);
	if (pause) {
		s->resting = true;
		kar_timer_start(s->timer, pause);
		return;
	}
	if (s->again)
		kar_timer_start(s->timer, 0);
	else if (MHD_get_timeout(s->daemon, &timeout) == MHD_YES)
		kar_timer_start(s->timer, bounded(s, timeout));
	else
		kar_timer_stop(s->timer);
}

static void on_io(void *arg, int fd KAR_UNUSED, int events KAR_UNUSED)
{
	((struct kar_server *)arg)->idle_runs = 0;
	run(arg);
}

static void on_timer(void *arg)
{
	((struct kar_server *)arg)->resting = false;
	run(arg);
}

/* What happens now is handled by another run of the daemon. */
static void run_again(struct kar_server *s)
{
	s->again = true;
	if (!s->running && !s->stopping && !s->resting)
		kar_timer_start(s->timer, 0);
}

static void __attribute__((format(printf, 2, 0)))
log_message(void *arg KAR_UNUSED, const char *format, va_list ap)
{
	char text[256];

	vsnprintf(text, sizeof(text), format, ap);
	text[strcspn(text, "\n")] = '\0';
	kar_info(4, KAR_MSG("HTTP server"), KAR_S("said", text));
}

/* ---- connections ---- */

/* The daemon sees the end of the connection, and closes it. */
static void close_peer(struct peer *p)
{
	p->closing = true;
	shutdown(p->fd, SHUT_RDWR);
}

static void on_deadline(void *arg)
{
	close_peer(arg);
}

/* Neither with a request nor with bytes of one that have not been read yet. */
static bool is_idle(const struct peer *p)
{
	char byte;

	return !p->busy && !p->closing && recv(p->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) <= 0;
}

static bool is_untaken(const struct peer *p)
{
	return p->answered && kar_loop_mono(p->server->loop) - p->answered >= UNTAKEN;
}

static void make_room(void *arg)
{
	struct kar_server *s = arg;
	size_t excess = s->n_peers > s->options.connections ? s->n_peers - s->options.connections : 0;
	struct peer *p;

	TAILQ_FOREACH(p, &s->peers, link) {
		if (!excess)
			return;
		if (is_idle(p) || (is_untaken(p) && !p->closing))
			close_peer(p);
		excess -= p->closing;
	}
	if (excess)
		kar_timer_start(s->room, ROOM_AGAIN);
}

static void used(struct peer *p)
{
	TAILQ_REMOVE(&p->server->peers, p, link);
	TAILQ_INSERT_TAIL(&p->server->peers, p, link);
}

static struct peer *new_peer(struct kar_server *s, struct MHD_Connection *c)
{
	struct peer *p = kar_xcalloc(1, sizeof(*p));

	p->server = s;
	p->fd = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
	p->deadline = kar_timer_new(s->loop, on_deadline, p);
	kar_timer_start(p->deadline, s->options.patience);
	TAILQ_INSERT_TAIL(&s->peers, p, link);
	s->n_peers++;
	make_room(s);
	run_again(
		s); /* it accepts a few at a time, and a loop under load is slow to come back for the next ones */
	return p;
}

static void free_peer(struct peer *p)
{
	TAILQ_REMOVE(&p->server->peers, p, link);
	p->server->n_peers--;
	run_again(p->server); /* only another run lets the next one in */
	kar_timer_free(p->deadline);
	free(p);
}

static void on_connection(void *arg, struct MHD_Connection *c, void **context,
	enum MHD_ConnectionNotificationCode what)
{
	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		*context = new_peer(arg, c);
	} else {
		free_peer(*context);
		*context = NULL;
	}
}

/* ---- exchanges ---- */

/* The request line has arrived. */
static void *on_uri(void *arg, const char *uri, struct MHD_Connection *c)
{
	struct kar_server *s = arg;
	struct kar_exchange *x = kar_xcalloc(1, sizeof(*x));
	char *mark;

	x->server = s;
	x->connection = c;
	x->peer = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
	x->target = kar_xstrdup(uri);
	x->query = "";
	mark = strchr(x->target, '?');
	if (mark) {
		*mark = '\0';
		x->query = mark + 1;
	}
	x->body.cap = KAR_SERVE_BODY_MAX;
	kar_timer_start(x->peer->deadline, s->options.patience);
	return x;
}

static void on_completed(void *arg KAR_UNUSED, struct MHD_Connection *c KAR_UNUSED, void **context,
	enum MHD_RequestTerminationCode why KAR_UNUSED)
{
	struct kar_exchange *x = *context;

	if (!x)
		return;
	assert(!x->suspended); /* a suspended connection does not end */
	if (x->response)
		MHD_destroy_response(x->response);
	x->peer->busy = false;
	x->peer->answered = 0;
	kar_timer_stop(x->peer->deadline);
	kar_buf_release(&x->body);
	free(x->target);
	free(x);
	*context = NULL;
}

static const char *header(const struct kar_exchange *x, const char *name)
{
	return MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, name);
}

void kar_exchange_answer(struct kar_exchange *x, int status, const char *content_type, struct kar_buf *body)
{
	size_t n = body->n;

	assert(!x->response);
	x->status = (unsigned)status;
	x->response = MHD_create_response_from_buffer(n, kar_buf_detach(body), MHD_RESPMEM_MUST_FREE);
	MHD_add_response_header(x->response, "Content-Type", content_type);
	MHD_add_response_header(x->response, "Cache-Control", "no-store");
	MHD_add_response_header(x->response, "X-Content-Type-Options", "nosniff");
	if (++x->peer->requests >= REQUESTS)
		MHD_add_response_header(x->response, "Connection", "close");
	x->peer->answered = kar_loop_mono(x->server->loop);
	kar_timer_start(x->peer->deadline, x->server->options.patience);
	if (status == 401)
		MHD_add_response_header(x->response, "WWW-Authenticate", "Bearer");
	if (!x->suspended)
		return; /* we are in ask() */
	x->suspended = false;
	TAILQ_REMOVE(&x->server->waiting, x, link);
	x->server->n_waiting--;
	MHD_resume_connection(x->connection);
	run_again(x->server);
}

static void answer_too_large(struct kar_exchange *x)
{
	struct kar_buf text = { 0 };

	kar_buf_puts(&text, "the body is too large\n");
	kar_exchange_answer(x, 413, "text/plain; charset=utf-8", &text);
}

static void ask(struct kar_exchange *x, const char *method)
{
	struct kar_server *s = x->server;
	const struct kar_server_request rq = {
		.method = method,
		.path = x->target,
		.query = x->query,
		.authorization = header(x, "Authorization"),
		.accept = header(x, "Accept"),
		.body = { kar_buf_cstr(&x->body), x->body.n },
	};

	x->asked = true;
	x->peer->busy = true;
	used(x->peer);
	kar_timer_stop(x->peer->deadline);
	if (x->body.overflow)
		answer_too_large(x);
	else
		s->options.on_request(s->options.arg, x, &rq);
	if (x->response)
		return;
	x->suspended = true;
	TAILQ_INSERT_TAIL(&s->waiting, x, link);
	s->n_waiting++;
	MHD_suspend_connection(x->connection);
}

/* Called with the headers, then with each piece of the body, then once more, and again when the connection is resumed. */
/* NOLINTNEXTLINE(readability-function-size): what libmicrohttpd calls has so many parameters */
static enum MHD_Result on_request(void *arg KAR_UNUSED, struct MHD_Connection *c, const char *url KAR_UNUSED,
	const char *method, const char *version KAR_UNUSED, const char *data, size_t *n, void **context)
{
	struct kar_exchange *x = *context;

	if (!x->begun) {
		x->begun = true;
		return MHD_YES;
	}
	if (*n) {
		kar_buf_append(&x->body, data, *n);
		*n = 0;
		return MHD_YES; /* the deadline bounds what is read */
	}
	if (!x->asked)
		ask(x, method);
	return x->response ? MHD_queue_response(c, x->status, x->response) : MHD_YES;
}

/* ---- life ---- */

static struct MHD_Daemon *start(struct kar_server *s, int fd)
{
	const struct kar_server_options *o = &s->options;
	const struct MHD_OptionItem tls[] = {
		{ MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)o->certificate },
		{ MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)o->key },
		{ MHD_OPTION_HTTPS_PRIORITIES, 0,
			(void *)(uintptr_t) "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2" },
		{ MHD_OPTION_END, 0, NULL },
	};
	unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;

	if (o->certificate)
		flags |= MHD_USE_TLS;
	return MHD_start_daemon(flags, 0, NULL, NULL, on_request, s, MHD_OPTION_EXTERNAL_LOGGER, log_message,
		NULL, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, o->connections + SPARE,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADER_MEMORY, MHD_OPTION_CONNECTION_TIMEOUT,
		(unsigned)IDLE_SECONDS, MHD_OPTION_NOTIFY_COMPLETED, on_completed, s,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, s, MHD_OPTION_URI_LOG_CALLBACK, on_uri, s,
		MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_ARRAY,
		o->certificate ? tls : &tls[KAR_LEN(tls) - 1], MHD_OPTION_END);
}

struct kar_server *kar_server_new(struct kar_loop *l, int fd, const struct kar_server_options *o,
	struct kar_err *err)
{
	struct kar_server *s = kar_xcalloc(1, sizeof(*s));
	int own = dup(fd);

	s->loop = l;
	s->options = *o;
	s->options.patience = o->patience ? o->patience : PATIENCE;
	s->options.connections = o->connections ? o->connections : CONNECTIONS;
	TAILQ_INIT(&s->peers);
	TAILQ_INIT(&s->waiting);
	s->daemon = own < 0 ? NULL : start(s, own);
	if (!s->daemon) {
		kar_fail(err, KAR_FATAL, "the HTTP server does not start%s",
			o->certificate ? ": the certificate or its key is refused" : "");
		if (own >= 0)
			close(own);
		free(s);
		return NULL;
	}
	/* They were copied. */
	s->options.certificate = s->options.key = NULL;
	s->timer = kar_timer_new(l, on_timer, s);
	s->room = kar_timer_new(l, make_room, s);
	s->io = kar_io_new(l, MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd, on_io, s);
	kar_io_set(s->io, KAR_IO_READ);
	kar_timer_start(s->timer, 0);
	return s;
}

void kar_server_retire(struct kar_server *s)
{
	MHD_socket fd = MHD_quiesce_daemon(s->daemon);

	if (fd != MHD_INVALID_SOCKET)
		close(fd);
}

size_t kar_server_connections(const struct kar_server *s)
{
	return s->n_peers;
}

size_t kar_server_waiting(const struct kar_server *s)
{
	return s->n_waiting;
}

static void answer_nobody(struct kar_exchange *x)
{
	struct kar_buf text = { 0 };

	kar_buf_puts(&text, "stopping\n");
	kar_exchange_answer(x, 503, "text/plain; charset=utf-8", &text);
}

void kar_server_free(struct kar_server *s)
{
	if (!s)
		return;
	s->stopping = true;
	kar_io_free(s->io);
	while (!TAILQ_EMPTY(&s->waiting))
		answer_nobody(TAILQ_FIRST(&s->waiting));
	MHD_run(s->daemon);
	MHD_stop_daemon(s->daemon);
	assert(TAILQ_EMPTY(&s->peers));
	kar_timer_free(s->timer);
	kar_timer_free(s->room);
	free(s);
}
