#include "common/base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/utf8.h"
#include "common/codec/json.h"
#include "common/loop/clock.h"

enum {
	US_PER_SECOND = 1000000,
	VALUE_MAX = 16 * 1024, /* longer values are cut: a line stays a line */
	READER_PATIENCE =
		500, /* ms that a full pipe is waited for; then lines are dropped until somebody reads again */
};

static struct {
	enum kar_log_format format;
	int verbosity;
	void (*write)(void *arg, const char *line, size_t n);
	void *arg;
	bool stuck;      /* nobody reads what is written */
	int64_t dropped; /* lines since then */
} logger;

void kar_log_init(enum kar_log_format format, int verbosity)
{
	logger.format = format;
	logger.verbosity = verbosity;
}

void kar_log_set_verbosity(int verbosity)
{
	logger.verbosity = verbosity;
}

bool kar_log_enabled(int verbosity)
{
	return verbosity <= logger.verbosity;
}

void kar_log_redirect(void (*write)(void *arg, const char *line, size_t n), void *arg)
{
	logger.write = write;
	logger.arg = arg;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_left_out(const struct kar_kv *kv)
{
	return kv->optional && (!kv->s || !kv->s[0]);
}

/* The value of @kv and how much of it is printed: at most VALUE_MAX bytes, ending between characters. */
static struct kar_str value(const struct kar_kv *kv)
{
	struct kar_str v = { .p = kv->s ? kv->s : "" };

	v.n = strnlen(v.p, VALUE_MAX + 1);
	if (v.n <= VALUE_MAX)
		return v;
	v.n = VALUE_MAX;
	while (v.n > VALUE_MAX - 4 && ((unsigned char)v.p[v.n] & 0xC0) == 0x80)
		v.n--;
	return v;
}

static bool cut(const struct kar_kv *kv, struct kar_str v)
{
	return kv->s && kv->s[v.n] != '\0';
}

/* A pipe has room for PIPE_BUF bytes. What cannot be asked is written to. */
static bool has_room(int patience)
{
	struct pollfd p = { .fd = STDERR_FILENO, .events = POLLOUT };
	int n = poll(&p, 1, patience);

	return n != 0;
}

/* False: nobody has read for too long. A process must not stand still for its log. */
static bool write_all(const struct kar_buf *out)
{
	for (size_t at = 0; at < out->n;) {
		size_t part = out->n - at < PIPE_BUF ? out->n - at : PIPE_BUF;
		ssize_t n;

		if (!has_room(logger.stuck ? 0 : READER_PATIENCE))
			return false;
		n = write(STDERR_FILENO, out->p + at, part);
		if (n < 0 && errno != EINTR)
			return true; /* nowhere to report to */
		at += n > 0 ? (size_t)n : 0;
	}
	return true;
}

static void to_stderr(const struct kar_buf *out)
{
	int64_t dropped = logger.dropped;

	if (logger.stuck && has_room(0)) {
		logger.stuck = false;
		logger.dropped = 0;
		kar_warn(KAR_MSG("Nobody read the log: lines were dropped"), KAR_I("lines", dropped));
	}
	if (write_all(out))
		return;
	logger.stuck = true;
	logger.dropped++;
}

static void emit(const struct kar_buf *out)
{
	if (logger.write)
		logger.write(logger.arg, out->p, out->n);
	else
		to_stderr(out);
}

/* --- text ------------------------------------------------------------------------------------------ */

/* The code point of a valid character of 2 or 3 bytes; 0 for others. */
static unsigned code_point(const char *s, size_t len)
{
	const unsigned char *c = (const unsigned char *)s;

	if (len == 2)
		return (c[0] & 0x1FU) << 6 | (c[1] & 0x3FU);
	return len == 3 ? (c[0] & 0x0FU) << 12 | (c[1] & 0x3FU) << 6 | (c[2] & 0x3FU) : 0;
}

/* C1 controls; separators of lines; and what changes the direction of the text around it, so that it reads as another. */
static bool is_unseen(unsigned c)
{
	return (c >= 0x80 && c < 0xA0) || c == 0x061C || (c >= 0x200E && c <= 0x200F) ||
		(c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

/* One character of @len bytes (0: an invalid byte). No control character reaches a terminal. @special are escaped by '\\' too. */
static void escape_char(struct kar_buf *out, const char *s, size_t len, const char *special)
{
	static const char plain[] = "\n\r\t", letters[] = "nrt";
	unsigned char c = (unsigned char)s[0];
	const char *simple = len == 1 && c ? strchr(plain, c) : NULL;

	if (simple)
		kar_buf_printf(out, "\\%c", letters[simple - plain]);
	else if (len == 1 && c && strchr(special, c))
		kar_buf_printf(out, "\\%c", c);
	else if (len == 0 || (len == 1 && (c < 0x20 || c == 0x7F)))
		kar_buf_printf(out, "\\x%02x", c);
	else if (is_unseen(code_point(s, len)))
		kar_buf_printf(out, "\\u%04x", code_point(s, len));
	else
		kar_buf_append(out, s, len);
}

static void escape(struct kar_buf *out, struct kar_str text, const char *special)
{
	for (size_t i = 0; i < text.n;) {
		size_t len = kar_utf8_step(text.p + i, text.n - i);

		escape_char(out, text.p + i, len, special);
		i += len ? len : 1;
	}
}

static void quote(struct kar_buf *out, const struct kar_kv *kv)
{
	struct kar_str v = value(kv);

	kar_buf_puts(out, "\"");
	escape(out, v, "\"\\");
	kar_buf_puts(out, cut(kv, v) ? "...\"" : "\"");
}

static void text_line(struct kar_buf *out, char severity, const char *file, int line, const struct kar_kv *kv)
{
	int64_t now = kar_clock_wall_micros();
	time_t seconds = now / US_PER_SECOND;
	struct tm tm = { 0 };

	localtime_r(&seconds, &tm);
	kar_buf_printf(out, "%c%02d%02d %02d:%02d:%02d.%06d %7d %s:%d]", severity, tm.tm_mon + 1, tm.tm_mday,
		tm.tm_hour, tm.tm_min, tm.tm_sec, (int)(now % US_PER_SECOND), (int)getpid(), base_name(file),
		line);
	for (; kv->key; kv++) {
		if (is_left_out(kv))
			continue;
		kar_buf_printf(out, kv->key[0] ? " %s=" : " ", kv->key);
		if (kv->is_int)
			kar_buf_printf(out, "%lld", (long long)kv->i);
		else
			quote(out, kv);
	}
}

/* --- JSON ------------------------------------------------------------------------------------------ */

static void json_head(struct kar_json_writer *w, const char *file, int line)
{
	int64_t now = kar_clock_wall_micros();
	char ts[48], caller[128];
	int n = snprintf(ts, sizeof(ts), "%lld.%03d", (long long)(now / 1000), (int)(now % 1000));

	snprintf(caller, sizeof(caller), "%s:%d", base_name(file), line);
	kar_jw_key(w, "ts");
	kar_jw_raw(w, (struct kar_str){ .p = ts, .n = (size_t)n });
	kar_jw_kv_string(w, "caller", caller);
}

static void json_value(struct kar_json_writer *w, const struct kar_kv *kv)
{
	struct kar_str v = value(kv);

	if (kv->is_int)
		kar_jw_int(w, kv->i);
	else
		kar_jw_string_n(w, v.p, v.n);
}

static void json_line(struct kar_buf *out, char severity, int verbosity, const char *file, int line,
	const struct kar_kv *kv)
{
	struct kar_json_writer w;

	kar_json_writer_init(&w, out);
	kar_jw_begin_object(&w);
	json_head(&w, file, line);
	for (const struct kar_kv *p = kv; p->key; p++) {
		if (is_left_out(p))
			continue;
		kar_jw_key(&w, p->key[0] ? p->key : "msg");
		json_value(&w, p);
		if (p->key[0])
			continue;
		if (severity == 'I')
			kar_jw_kv_int(&w, "v", verbosity);
		else
			kar_jw_kv_string(&w, "severity", severity == 'W' ? "warning" : "error");
	}
	kar_jw_end_object(&w);
	kar_json_writer_release(&w);
}

void kar_log_fatal(const char *fmt, ...)
{
	struct kar_buf out = { 0 };
	va_list ap;
	char *text;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	escape(&out, (struct kar_str){ .p = text, .n = (size_t)n }, "");
	kar_buf_puts(&out, "\n");
	to_stderr(&out);
	kar_buf_release(&out);
	free(text);
}

void kar_log_write(char severity, int verbosity, const char *file, int line, const struct kar_kv *kv)
{
	struct kar_buf out = { 0 };

	if (logger.format == KAR_LOG_JSON)
		json_line(&out, severity, verbosity, file, line, kv);
	else
		text_line(&out, severity, file, line, kv);
	kar_buf_puts(&out, "\n");
	emit(&out);
	kar_buf_release(&out);
}
