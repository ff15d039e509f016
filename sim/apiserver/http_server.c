#include "sim/apiserver/http_server.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bsd/sys/queue.h>
#include <microhttpd.h>

#include "common/base/log.h"
#include "common/base/mem.h"

enum {
	PATIENCE = 30 * 1000, /* ms for a request to arrive */
	CONNECTIONS = 1000,
	HEADER_MEMORY = 64 << 10, /* bytes for request line and headers of a connection */
	IDLE_SECONDS = 300,       /* a connection without a request, or whose client does not read */
	BLOCK = 32 << 10,         /* bytes of a watch that are handed over at once */
	RECHECK = 1000,           /* ms until a silent client is looked at again */
	BODY_IGNORED_MAX =
		16 << 20, /* bytes of a body that is too large that are read before the connection is cut */
};

struct sim_http_server {
	struct kar_loop *loop;
	struct sim_http_server_options options;
	struct MHD_Daemon *daemon;
	struct sim_door *door;
	struct kar_io *io;       /* the daemon's epoll descriptor */
	struct kar_timer *timer; /* when the daemon wants to be run anyway */
	TAILQ_HEAD(, exchange) exchanges;
	bool closed; /* a connection, since the last run: only another run lets the next one in */
	bool stopping;
};

/* One TCP connection. */
struct peer {
	struct sim_http_server *server;
	int fd;
	struct kar_timer *deadline; /* of the request that is arriving */
};

/* One request and its answer. */
struct exchange {
	TAILQ_ENTRY(exchange) link;
	struct sim_http_server *server;
	struct MHD_Connection *connection;
	struct peer *peer;
	char *target;
	bool begun, answered;
	struct kar_buf body;
	size_t ignored; /* bytes of a body beyond the limit */
	/* Of a watch: */
	struct sim_http_answer answer;
	struct kar_buf waiting; /* to be sent, from `sent` on */
	size_t sent;
	bool ended, gone, suspended;
	struct kar_io *hangup; /* while suspended nobody else looks at the socket */
	struct kar_timer *recheck;
};

/* ---- the daemon in the loop ---- */

static void run(struct sim_http_server *s)
{
	MHD_UNSIGNED_LONG_LONG timeout;

	if (s->options.before)
		s->options.before(s->options.arg);
	s->closed = false;
	MHD_run(s->daemon);
	if (s->options.after)
		s->options.after(s->options.arg);
	if (s->closed)
		kar_timer_start(s->timer, 0);
	else if (MHD_get_timeout(s->daemon, &timeout) == MHD_YES)
		kar_timer_start(s->timer, (kar_time)timeout);
	else
		kar_timer_stop(s->timer);
}

static void on_io(void *arg, int fd, int events)
{
	(void)fd;
	(void)events;
	run(arg);
}

static void on_timer(void *arg)
{
	run(arg);
}

static void __attribute__((format(printf, 2, 0))) log_message(void *arg, const char *format, va_list ap)
{
	char text[256];

	(void)arg;
	vsnprintf(text, sizeof(text), format, ap);
	text[strcspn(text, "\n")] = '\0';
	kar_info(4, KAR_MSG("HTTP server"), KAR_S("said", text));
}

/* ---- connections ---- */

static void on_deadline(void *arg)
{
	struct peer *p = arg;

	shutdown(p->fd, SHUT_RDWR); /* the daemon sees the end, and closes it */
}

static void on_connection(void *arg, struct MHD_Connection *c, void **context,
	enum MHD_ConnectionNotificationCode what)
{
	struct sim_http_server *s = arg;
	struct peer *p = *context;

	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		p = kar_xcalloc(1, sizeof(*p));
		p->server = s;
		p->fd = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
		p->deadline = kar_timer_new(s->loop, on_deadline, p);
		kar_timer_start(p->deadline, s->options.patience);
		*context = p;
	} else {
		s->closed = true;
		kar_timer_free(p->deadline);
		free(p);
		*context = NULL;
	}
}

/* ---- exchanges ---- */

/* The request line has arrived. */
static void *on_uri(void *arg, const char *uri, struct MHD_Connection *c)
{
	struct sim_http_server *s = arg;
	struct exchange *x = kar_xcalloc(1, sizeof(*x));

	x->server = s;
	x->connection = c;
	x->peer = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
	x->target = kar_xstrdup(uri);
	x->body.cap = SIM_HTTP_BODY_MAX;
	x->waiting.cap = SIZE_MAX;
	TAILQ_INSERT_TAIL(&s->exchanges, x, link);
	kar_timer_start(x->peer->deadline, s->options.patience);
	return x;
}

static void stop_listening(struct exchange *x)
{
	kar_io_free(x->hangup);
	kar_timer_free(x->recheck);
	x->hangup = NULL;
	x->recheck = NULL;
}

static void on_completed(void *arg, struct MHD_Connection *c, void **context,
	enum MHD_RequestTerminationCode why)
{
	struct exchange *x = *context;

	(void)arg;
	(void)c;
	(void)why;
	if (!x)
		return;
	stop_listening(x);
	sim_http_answer_release(&x->answer);
	TAILQ_REMOVE(&x->server->exchanges, x, link);
	kar_buf_release(&x->body);
	kar_buf_release(&x->waiting);
	free(x->target);
	free(x);
	*context = NULL;
}

/* ---- watches ---- */

static void resume(struct exchange *x)
{
	if (!x->suspended)
		return;
	x->suspended = false;
	stop_listening(x);
	MHD_resume_connection(x->connection);
	if (!x->server->stopping)
		kar_timer_start(x->server->timer, 0); /* it takes effect in the next run */
}

static void on_event(void *arg)
{
	resume(arg);
}

/* A client of a watch sends nothing any more; if there is something to read it is most likely the end. */
static void look_at_peer(struct exchange *x)
{
	struct pollfd p = { .fd = x->peer->fd, .events = POLLRDHUP };

	if (poll(&p, 1, 0) > 0) {
		x->gone = true;
		resume(x);
		return;
	}
	kar_io_set(x->hangup, 0);
	kar_timer_start(x->recheck, RECHECK);
}

static void on_readable(void *arg, int fd, int events)
{
	(void)fd;
	(void)events;
	look_at_peer(arg);
}

static void on_recheck(void *arg)
{
	look_at_peer(arg);
}

static void suspend(struct exchange *x)
{
	struct kar_loop *l = x->server->loop;

	if (x->server->stopping)
		return;
	x->suspended = true;
	x->hangup = kar_io_new(l, x->peer->fd, on_readable, x);
	x->recheck = kar_timer_new(l, on_recheck, x);
	kar_io_set(x->hangup, KAR_IO_READ);
	MHD_suspend_connection(x->connection);
}

/* Reads events until there are enough for a block. */
static void refill(struct exchange *x)
{
	kar_buf_clear(&x->waiting);
	x->sent = 0;
	while (!x->ended && x->waiting.n < BLOCK) {
		enum sim_watch_state state = sim_http_stream_read(x->answer.stream, &x->waiting);

		if (state == SIM_WATCH_DRY)
			break;
		x->ended = state == SIM_WATCH_ENDED;
	}
}

static ssize_t on_pull(void *arg, uint64_t position, char *out, size_t max)
{
	struct exchange *x = arg;
	size_t n;

	(void)position;
	if (x->server->stopping)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	if (x->gone) /* not an error: libmicrohttpd 0.9.75 would keep the connection until its time is over */
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (x->sent == x->waiting.n)
		refill(x);
	n = x->waiting.n - x->sent;
	if (n > max)
		n = max;
	if (!n && x->ended)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (!n)
		suspend(x);
	else
		memcpy(out, x->waiting.p + x->sent, n);
	x->sent += n;
	return (ssize_t)n;
}

/* ---- answers ---- */

/* Warning: 299 - "text", one header per line. */
static void add_warnings(struct MHD_Response *r, const char *lines)
{
	while (*lines) {
		struct kar_buf value KAR_CLEANUP(kar_cleanup_buf) = { 0 };

		kar_buf_puts(&value, "299 - \"");
		for (; *lines && *lines != '\n'; lines++) {
			if (*lines == '"' || *lines == '\\')
				kar_buf_append(&value, "\\", 1);
			if ((unsigned char)*lines >= ' ')
				kar_buf_append(&value, lines, 1);
		}
		lines += *lines == '\n';
		kar_buf_puts(&value, "\"");
		MHD_add_response_header(r, "Warning", kar_buf_cstr(&value));
	}
}

static struct MHD_Response *make_response(struct exchange *x)
{
	struct sim_http_answer *a = &x->answer;
	size_t n = a->body.n;

	if (a->stream)
		return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, on_pull, x, NULL);
	return MHD_create_response_from_buffer(n, kar_buf_detach(&a->body), MHD_RESPMEM_MUST_FREE);
}

static enum MHD_Result send_answer(struct exchange *x)
{
	struct sim_http_answer *a = &x->answer;
	struct MHD_Response *r = make_response(x);
	enum MHD_Result done;

	if (!r)
		return MHD_NO;
	MHD_add_response_header(r, "Cache-Control", "no-cache, private");
	if (a->content_type)
		MHD_add_response_header(r, "Content-Type", a->content_type);
	if (*a->etag) {
		MHD_add_response_header(r, "Etag", a->etag);
		MHD_add_response_header(r, "Vary", "Accept");
	}
	if (a->retry_after) {
		char seconds[24];

		snprintf(seconds, sizeof(seconds), "%" PRId64, a->retry_after);
		MHD_add_response_header(r, "Retry-After", seconds);
	}
	if (a->code == 401)
		MHD_add_response_header(r, "WWW-Authenticate", "Bearer");
	add_warnings(r, kar_buf_cstr(&a->warnings));
	done = MHD_queue_response(x->connection, (unsigned)a->code, r);
	MHD_destroy_response(r);
	return done;
}

static const char *header(struct exchange *x, const char *name)
{
	return MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, name);
}

static enum MHD_Result answer(struct exchange *x, const char *method, bool too_large)
{
	const struct sim_http_request rq = {
		.method = method,
		.target = x->target,
		.authorization = header(x, "Authorization"),
		.accept = header(x, "Accept"),
		.content_type = header(x, "Content-Type"),
		.user_agent = header(x, "User-Agent"),
		.impersonate_user = header(x, "Impersonate-User"),
		.if_none_match = header(x, "If-None-Match"),
		.body = { kar_buf_cstr(&x->body), x->body.n },
		.too_large = too_large,
	};

	x->answered = true;
	if (!too_large) /* else the rest of the body is waited for, and thrown away, before the answer goes */
		kar_timer_stop(x->peer->deadline);
	sim_door_call(x->server->door, &rq, on_event, x, &x->answer);
	kar_buf_release(&x->body);
	return send_answer(x);
}

/* Less than that is read to its end, so that the client sees the answer before the connection is closed. */
static bool announces_too_much(struct exchange *x)
{
	const char *length = header(x, "Content-Length");

	return length && strtoull(length, NULL, 10) > BODY_IGNORED_MAX;
}

/* Called with the headers, then with each piece of the body, then once more. */
/* NOLINTNEXTLINE(readability-function-size): what libmicrohttpd calls has so many parameters */
static enum MHD_Result on_request(void *arg, struct MHD_Connection *c, const char *url, const char *method,
	const char *version, const char *data, size_t *n, void **context)
{
	struct exchange *x = *context;

	(void)arg;
	(void)c;
	(void)url;
	(void)version;
	if (!x->begun) {
		x->begun = true;
		return announces_too_much(x) ? answer(x, method, true) : MHD_YES;
	}
	if (!*n)
		return x->answered ? MHD_YES : answer(x, method, x->body.overflow);
	kar_buf_append(&x->body, data, *n);
	if (x->body.overflow)
		x->ignored += *n;
	*n = 0;
	return x->ignored < BODY_IGNORED_MAX ? MHD_YES : MHD_NO;
}

/* ---- life ---- */

static struct MHD_Daemon *start(struct sim_http_server *s, struct sockaddr_in *at)
{
	const unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_TLS | MHD_USE_ERROR_LOG;

	return MHD_start_daemon(flags, s->options.port, NULL, NULL, on_request, s, MHD_OPTION_EXTERNAL_LOGGER,
		log_message, NULL, MHD_OPTION_SOCK_ADDR, (struct sockaddr *)at, MHD_OPTION_HTTPS_MEM_CERT,
		s->options.certificate, MHD_OPTION_HTTPS_MEM_KEY, s->options.key, MHD_OPTION_CONNECTION_LIMIT,
		s->options.connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADER_MEMORY,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS, MHD_OPTION_NOTIFY_COMPLETED,
		on_completed, s, MHD_OPTION_NOTIFY_CONNECTION, on_connection, s, MHD_OPTION_URI_LOG_CALLBACK,
		on_uri, s, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_END);
}

/* Why the daemon did not start: libmicrohttpd does not keep errno. */
static const char *obstacle(const struct sockaddr_in *at)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int reuse = 1; /* as libmicrohttpd does: what a former process has left open is no obstacle */
	const char *why = "the certificate is refused";

	if (fd < 0)
		return strerror(errno);
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &reuse, sizeof(reuse)) ||
		bind(fd, (const struct sockaddr *)at, sizeof(*at)))
		why = strerror(errno);
	close(fd);
	return why;
}

struct sim_http_server *sim_http_server_new(struct kar_loop *l, const struct sim_http_server_options *o,
	struct kar_err *err)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(o->port) };
	struct sim_http_server *s;

	if (inet_pton(AF_INET, o->address, &at.sin_addr) != 1) {
		kar_fail(err, KAR_FATAL, "%s is not an IPv4 address", o->address);
		return NULL;
	}
	s = kar_xcalloc(1, sizeof(*s));
	s->loop = l;
	s->options = *o;
	s->options.patience = o->patience ? o->patience : PATIENCE;
	s->options.connections = o->connections ? o->connections : CONNECTIONS;
	TAILQ_INIT(&s->exchanges);
	s->daemon = start(s, &at);
	if (!s->daemon) {
		kar_fail(err, KAR_FATAL, "cannot listen on %s:%d: %s", o->address, o->port, obstacle(&at));
		free(s);
		return NULL;
	}
	s->timer = kar_timer_new(l, on_timer, s);
	s->io = kar_io_new(l, MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd, on_io, s);
	return s;
}

void sim_http_server_open(struct sim_http_server *s, struct sim_door *door)
{
	s->door = door;
	kar_io_set(s->io, KAR_IO_READ);
	kar_timer_start(s->timer, 0);
}

uint16_t sim_http_server_port(const struct sim_http_server *s)
{
	return MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_BIND_PORT)->port;
}

void sim_http_server_free(struct sim_http_server *s)
{
	struct exchange *x;

	if (!s)
		return;
	s->stopping = true;
	kar_io_free(s->io);
	kar_timer_free(s->timer);
	TAILQ_FOREACH(x, &s->exchanges, link)
		resume(x);
	MHD_run(s->daemon);
	MHD_stop_daemon(s->daemon);
	assert(TAILQ_EMPTY(&s->exchanges));
	free(s);
}
