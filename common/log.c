#include "common/log.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/json.h"
#include "common/utf8.h"

enum {
	US_PER_SECOND = 1000000,
	VALUE_MAX = 16 * 1024, /* longer values are cut: a line stays a line */
};

static struct {
	enum kar_log_format format;
	int verbosity;
	void (*write)(void *arg, const char *line, size_t n);
	void *arg;
} logger;

void kar_log_init(enum kar_log_format format, int verbosity)
{
	logger.format = format;
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

/* --- text ------------------------------------------------------------------------------------------ */

/* One character of @len bytes (0: an invalid byte). No control character reaches a terminal. */
static void quote_char(struct kar_buf *out, const char *s, size_t len)
{
	static const char plain[] = "\"\\\n\r\t", escaped[] = "\"\\nrt";
	unsigned char c = (unsigned char)s[0];
	const char *simple = len == 1 && c ? strchr(plain, c) : NULL;

	if (simple)
		kar_buf_printf(out, "\\%c", escaped[simple - plain]);
	else if (len == 0 || (len == 1 && (c < 0x20 || c == 0x7F)))
		kar_buf_printf(out, "\\x%02x", c);
	else if (len == 2 && c == 0xC2 && (unsigned char)s[1] < 0xA0)
		kar_buf_printf(out, "\\u00%02x", (unsigned char)s[1]);
	else
		kar_buf_append(out, s, len);
}

static void quote(struct kar_buf *out, const struct kar_kv *kv)
{
	struct kar_str v = value(kv);

	kar_buf_puts(out, "\"");
	for (size_t i = 0; i < v.n;) {
		size_t len = kar_utf8_step(v.p + i, v.n - i);

		quote_char(out, v.p + i, len);
		i += len ? len : 1;
	}
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

void kar_log_write(char severity, int verbosity, const char *file, int line, const struct kar_kv *kv)
{
	struct kar_buf out = { 0 };

	if (logger.format == KAR_LOG_JSON)
		json_line(&out, severity, verbosity, file, line, kv);
	else
		text_line(&out, severity, file, line, kv);
	kar_buf_puts(&out, "\n");
	if (logger.write)
		logger.write(logger.arg, out.p, out.n);
	else if (write(STDERR_FILENO, out.p, out.n) < 0)
		(void)0; /* nowhere to report to */
	kar_buf_release(&out);
}
