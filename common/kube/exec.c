#include "common/kube/exec.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/kube/exec_result.h"
#include "common/kube/exec_spawn.h"
#include "common/loop/clock.h"

enum {
	ERR_KEEP = 4 * 1024,  /* of standard error, at least; it is cut when it has grown to twice as much */
	LINE_MAX_SHOWN = 200, /* bytes of its last line in an error text */
	CHUNK = 16 * 1024,
	LAST_READS = KAR_EXEC_OUT_MAX / CHUNK +
		2, /* after the end of the plug-in: a descendant could write for ever */
};
static const kar_time default_timeout = 60 * KAR_SECOND, attended_timeout = 10 * KAR_MINUTE;

/* One of the two pipes. */
struct stream {
	struct kar_exec *run;
	int fd; /* -1: closed */
	struct kar_io *io;
	struct kar_buf text;
};

struct kar_exec {
	struct kar_loop *loop;
	const struct kar_exec_config *config;
	kar_exec_fn *done;
	void *arg;
	kar_time timeout;
	int pid; /* 0: not running, or ended and collected */
	struct kar_child *child;
	struct kar_timer *timer; /* the time limit; or the report of a failed start */
	struct stream out, errs;
	struct kar_arena arena; /* the result */
	struct kar_err err;
};

static void close_stream(struct stream *s)
{
	kar_io_free(s->io);
	s->io = NULL;
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

/* Ends everything that is under way; a second call does nothing. */
static void stop(struct kar_exec *x)
{
	if (x->pid > 0) {
		kill(-x->pid, SIGKILL);
		/* If that is too early, it is collected when this process ends. */
		waitpid(x->pid, NULL, WNOHANG);
		x->pid = 0;
	}
	kar_child_free(x->child);
	x->child = NULL;
	kar_timer_free(x->timer);
	x->timer = NULL;
	close_stream(&x->out);
	close_stream(&x->errs);
}

static void report_failure(struct kar_exec *x)
{
	stop(x);
	kar_wrap(&x->err, "exec plug-in \"%.100s\"", x->config->command);
	x->done(x->arg, NULL, &x->err); /* may free x */
}

/* Kills the plug-in for the reason in x->err; reported when it has ended, so that no dead process is left. */
static void kill_plugin(struct kar_exec *x)
{
	/* A process in the kernel's hands may outlive SIGKILL; it is not waited for longer. */
	enum { GRACE_MS = 5000 };

	kill(-x->pid, SIGKILL);
	close_stream(&x->out);
	close_stream(&x->errs);
	kar_timer_start(x->timer, GRACE_MS);
}

/* Keeps only the end of a text that has grown long. */
static void keep_tail(struct kar_buf *b)
{
	if (b->n <= 2 * ERR_KEEP)
		return;
	memmove(b->p, b->p + b->n - ERR_KEEP, ERR_KEEP + 1);
	b->n = ERR_KEEP;
}

/* One read. True if there may be more to read at once. */
static bool slurp(struct stream *s)
{
	char chunk[CHUNK];
	ssize_t n;

	if (s->fd < 0)
		return false;
	n = read(s->fd, chunk, sizeof(chunk));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return errno == EINTR;
	if (n <= 0) {
		close_stream(s);
		return false;
	}
	kar_buf_append(&s->text, chunk, (size_t)n);
	if (s == &s->run->errs && s->run->config->attended)
		fprintf(stderr, "%.*s", (int)n, chunk);
	explicit_bzero(chunk, (size_t)n);
	if (s == &s->run->errs)
		keep_tail(&s->text);
	return true;
}

static int check_size(struct kar_exec *x)
{
	if (!x->out.text.overflow)
		return 0;
	return kar_fail(&x->err, KAR_RETRY, "printed more than %d KiB on its standard output",
		KAR_EXEC_OUT_MAX / 1024);
}

static void on_readable(void *arg, int fd KAR_UNUSED, int events KAR_UNUSED)
{
	struct stream *s = arg;
	struct kar_exec *x = s->run;

	slurp(s);
	if (check_size(x))
		kill_plugin(x);
}

/* What it wrote before it ended is in the pipes; the end of file may never come (see exec.h). */
static void slurp_rest(struct stream *s)
{
	for (int i = 0; i < LAST_READS && slurp(s); i++)
		continue;
}

/* The last line of standard error that is not blank, as ": line" for an error text, or "". */
static void last_line(const struct kar_buf *b, char *out, size_t size)
{
	const char *end, *start;
	size_t n;

	out[0] = '\0';
	if (!b->n)
		return;
	end = b->p + b->n;
	while (end > b->p && (unsigned char)end[-1] <= ' ')
		end--;
	for (start = end; start > b->p && start[-1] != '\n';)
		start--;
	n = (size_t)(end - start);
	if (!n)
		return;
	if (n > size - 3)
		n = size - 3;
	memcpy(out, ": ", 2);
	memcpy(out + 2, start, n);
	out[2 + n] = '\0';
	for (char *p = out; *p; p++) {
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = ' ';
	}
}

static int check_exit(struct kar_exec *x, int status)
{
	char line[LINE_MAX_SHOWN];

	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	last_line(&x->errs.text, line, sizeof(line));
	if (WIFSIGNALED(status))
		return kar_fail(&x->err, KAR_RETRY, "was ended by signal %d%s", WTERMSIG(status), line);
	return kar_fail(&x->err, KAR_RETRY, "ended with exit code %d%s", WEXITSTATUS(status), line);
}

static int read_result(struct kar_exec *x, struct kar_exec_result *result)
{
	const struct kar_str out = { kar_buf_cstr(&x->out.text), x->out.text.n };

	return kar_exec_result_read(&x->arena, out, x->config->api_version, kar_loop_wall(x->loop), result,
		&x->err);
}

static void on_ended(void *arg, int status)
{
	struct kar_exec *x = arg;
	struct kar_exec_result result;

	x->pid = 0; /* collected: the number may belong to someone else from now on */
	if (x->err.what == KAR_OK) {
		slurp_rest(&x->out);
		slurp_rest(&x->errs);
	}
	stop(x);
	if (x->err.what != KAR_OK || check_size(x) || check_exit(x, status) || read_result(x, &result))
		report_failure(x);
	else
		x->done(x->arg, &result, NULL); /* may free x */
}

/* The time limit; or the plug-in could not be started; or it survived its killing. */
static void on_timer(void *arg)
{
	struct kar_exec *x = arg;

	if (x->err.what != KAR_OK) {
		report_failure(x);
		return;
	}
	kar_fail(&x->err, KAR_RETRY, "did not end within %g s and was killed",
		(double)x->timeout / (double)KAR_SECOND);
	kill_plugin(x);
}

static void open_stream(struct kar_exec *x, struct stream *s, int fd)
{
	s->fd = fd;
	s->io = kar_io_new(x->loop, fd, on_readable, s);
	kar_io_set(s->io, KAR_IO_READ);
}

struct kar_exec *kar_exec_start(struct kar_loop *l, const struct kar_exec_config *config,
	const char *cluster_json, kar_time timeout, kar_exec_fn *done, void *arg)
{
	struct kar_exec *x = kar_xcalloc(1, sizeof(*x));
	struct kar_exec_process p;

	x->loop = l;
	x->config = config;
	x->done = done;
	x->arg = arg;
	x->timeout = timeout ? timeout : config->attended ? attended_timeout : default_timeout;
	x->out = (struct stream){ .run = x, .fd = -1, .text = { .cap = KAR_EXEC_OUT_MAX, .secret = true } };
	x->errs = (struct stream){ .run = x,
		.fd = -1,
		.text = { .cap = 2 * ERR_KEEP + CHUNK, .secret = true } };
	x->timer = kar_timer_new(l, on_timer, x);
	if (kar_exec_spawn(config, cluster_json, &p, &x->err)) {
		kar_timer_start(x->timer, 0);
		return x;
	}
	x->pid = p.pid;
	x->child = kar_child_new(l, p.pid, on_ended, x);
	open_stream(x, &x->out, p.out);
	open_stream(x, &x->errs, p.err);
	kar_timer_start(x->timer, x->timeout);
	return x;
}

void kar_exec_free(struct kar_exec *x)
{
	if (!x)
		return;
	stop(x);
	kar_buf_release(&x->out.text);
	kar_buf_release(&x->errs.text);
	kar_arena_wipe(&x->arena);
	free(x);
}
