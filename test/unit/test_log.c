#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/log.h"
#include "common/loop/clock.h"

static void collect(void *arg, const char *line, size_t n)
{
	kar_buf_append(arg, line, n);
}

/* The line that @kv makes, without what differs from run to run. */
static void text_tail(const struct kar_kv *kv, struct kar_buf *out)
{
	struct kar_buf line = { 0 };

	kar_log_redirect(collect, &line);
	kar_log_write('I', 0, "some/dir/file.c", 88, kv);
	kar_log_redirect(NULL, NULL);
	const char *tail = strstr(kar_buf_cstr(&line), "file.c:88] ");

	kar_buf_puts(out, tail ? tail : kar_buf_cstr(&line));
	kar_buf_release(&line);
}

/* Somebody has opened a pipe for the log, and does not read. */
static void unread_log_does_not_stop_the_process(void **state)
{
	enum { LINES = 3000, BYTES = 1 << 20 };
	static char got[BYTES];
	int64_t began = kar_clock_wall_micros();
	int saved = dup(STDERR_FILENO), ends[2];
	ssize_t n, all = 0;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_true(dup2(ends[1], STDERR_FILENO) >= 0);
	for (int i = 0; i < LINES; i++)
		kar_warn(KAR_MSG("a line of the log that is as long as most are"), KAR_I("i", i));
	assert_true(kar_clock_wall_micros() - began < 5000000);
	assert_int_equal(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	while ((n = read(ends[0], got, sizeof(got))) > 0)
		;
	kar_warn(KAR_MSG("read again"));
	while ((n = read(ends[0], got + all, sizeof(got) - 1 - (size_t)all)) > 0)
		all += n;
	assert_true(dup2(saved, STDERR_FILENO) >= 0);
	assert_non_null(strstr(got, "Nobody read the log: lines were dropped\" lines="));
	assert_non_null(strstr(got, "read again"));
	close(saved);
	close(ends[0]);
	close(ends[1]);
}

static void text(void **state)
{
	static const struct {
		const char *name;
		struct kar_kv kv[4];
		const char *want;
	} rows[] = {
		{ "message", { KAR_MSG("Caches synced") }, "\"Caches synced\"" },
		{ "pairs", { KAR_MSG("m"), KAR_S("k", "v"), KAR_I("n", -3) }, "\"m\" k=\"v\" n=-3" },
		{ "null_string", { KAR_MSG("m"), KAR_S("k", NULL) }, "\"m\" k=\"\"" },
		{ "quotes_and_backslashes", { KAR_MSG("m"), KAR_S("k", "a\"b\\") },
			"\"m\" k=\"a\\\"b\\\\\"" },
		{ "no_raw_newline", { KAR_MSG("m"), KAR_S("k", "a\nI1121 fake\r\t") },
			"\"m\" k=\"a\\nI1121 fake\\r\\t\"" },
		{ "no_control_characters", { KAR_MSG("m"), KAR_S("k", "\x1b[31m\x07\x7f\x01") },
			"\"m\" k=\"\\x1b[31m\\x07\\x7f\\x01\"" },
		{ "no_c1_control_characters",
			{ KAR_MSG("m"),
				KAR_S("k",
					"\xC2\x9B"
					"31m\xC2\xA0") },
			"\"m\" k=\"\\u009b31m\xC2\xA0\"" },
		{ "no_change_of_direction",
			{ KAR_MSG("m"), KAR_S("k", "\u061c\u200e\u200f\u202a\u202e\u2066\u2069"),
				KAR_S("others", "\u0627\u200d\u2027\u202f\u2065\u206a") },
			"\"m\" k=\"\\u061c\\u200e\\u200f\\u202a\\u202e\\u2066\\u2069\""
			" others=\"\u0627\u200d\u2027\u202f\u2065\u206a\"" },
		{ "no_separator_of_lines", { KAR_MSG("m"), KAR_S("k", "\u2028\u2029") },
			"\"m\" k=\"\\u2028\\u2029\"" },
		{ "no_invalid_utf8", { KAR_MSG("m"), KAR_S("k", "a\xFF\xC3\xA9\xED\xA0\x80") },
			"\"m\" k=\"a\\xff\xC3\xA9\\xed\\xa0\\x80\"" },
		{ "optional_and_empty_then_left_out", { KAR_MSG("m"), KAR_S_IF("a", ""), KAR_S_IF("c", "v") },
			"\"m\" c=\"v\"" },
		{ "message_is_quoted_too", { KAR_MSG("a\n\"") }, "\"a\\n\\\"\"" },
	};

	(void)state;
	kar_log_init(KAR_LOG_TEXT, 0);
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_buf got = { 0 }, want = { 0 };

		text_tail(rows[i].kv, &got);
		kar_buf_printf(&want, "file.c:88] %s\n", rows[i].want);
		if (strcmp(kar_buf_cstr(&got), kar_buf_cstr(&want)) != 0)
			fail_msg("%s:\n  got  %s  want %s", rows[i].name, kar_buf_cstr(&got),
				kar_buf_cstr(&want));
		kar_buf_release(&got);
		kar_buf_release(&want);
	}
}

/* A context's name with ESC, a line break and a change of direction; quotes stay as they are written. */
static void last_words_are_escaped(void **state)
{
	struct kar_buf log = { 0 };
	char line[256] = "";
	int ends[2], own = dup(STDERR_FILENO);

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_true(dup2(ends[1], STDERR_FILENO) >= 0);
	kar_log_redirect(collect, &log); /* they do not get lost where the log goes */
	kar_log_fatal("kar-controllers: %s",
		"no context \"a\x1b[2J\nkar-controllers: ok\u202e\xff\" in C:\\x");
	kar_log_redirect(NULL, NULL);
	assert_true(dup2(own, STDERR_FILENO) >= 0);
	assert_true(read(ends[0], line, sizeof(line) - 1) > 0);
	assert_string_equal(line,
		"kar-controllers: no context \"a\\x1b[2J\\nkar-controllers: ok\\u202e\\xff\" in C:\\x\n");
	assert_int_equal(log.n, 0);
	kar_buf_release(&log);
	close(own);
	close(ends[0]);
	close(ends[1]);
}

/* "I1121 13:46:27.123456    4711 test_log.c:LINE] ", with the time of now. */
static void header(void **state)
{
	struct kar_buf line = { 0 };
	char severity, file[32] = "";
	int month, day, hour, minute, second, micros, pid, number, end = 0;
	kar_time before = kar_clock_wall();

	(void)state;
	kar_log_init(KAR_LOG_TEXT, 0);
	kar_log_redirect(collect, &line);
	kar_warn(KAR_MSG("x"));
	int want_line = __LINE__ - 1;

	kar_log_redirect(NULL, NULL);
	assert_int_equal(sscanf(kar_buf_cstr(&line), "%c%2d%2d %2d:%2d:%2d.%6d %d %31[^:]:%d] \"x\"%n",
				 &severity, &month, &day, &hour, &minute, &second, &micros, &pid, file,
				 &number, &end),
		10);
	assert_string_equal(line.p + end, "\n");
	assert_int_equal(severity, 'W');
	assert_int_equal(pid, getpid());
	assert_string_equal(file, "test_log.c");
	assert_int_equal(number, want_line);
	time_t start = before / KAR_SECOND;
	struct tm tm;

	localtime_r(&start, &tm);
	tm.tm_mon = month - 1;
	tm.tm_mday = day;
	tm.tm_hour = hour;
	tm.tm_min = minute;
	tm.tm_sec = second;
	kar_time logged = mktime(&tm) * KAR_SECOND + micros / 1000;

	assert_in_range(logged, before, kar_clock_wall());
	/* The columns are fixed: severity and time take 21 bytes, the process id is padded to 7. */
	assert_int_equal(line.p[21], ' ');
	assert_int_equal(line.p[29], ' ');
	kar_buf_release(&line);
}

static void json(void **state)
{
	static const struct {
		char severity;
		const char *want;
	} rows[] = {
		{ 'I', "\"caller\":\"f.c:7\",\"msg\":\"m\\n\",\"v\":2,\"k\":\"\\u001B\xEF\xBF\xBD\",\"n\":5}\n" },
		{ 'W', "\"caller\":\"f.c:7\",\"msg\":\"m\\n\",\"severity\":\"warning\",\"k\":\"\\u001B\xEF\xBF\xBD\",\"n\":5}\n" },
		{ 'E', "\"caller\":\"f.c:7\",\"msg\":\"m\\n\",\"severity\":\"error\",\"k\":\"\\u001B\xEF\xBF\xBD\",\"n\":5}\n" },
	};

	(void)state;
	kar_log_init(KAR_LOG_JSON, 2);
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_buf line = { 0 };
		long long ms;
		int micros, end = 0;

		kar_log_redirect(collect, &line);
		kar_log_write(rows[i].severity, 2, "d/f.c", 7,
			KAR_KVS(KAR_MSG("m\n"), KAR_S("k", "\x1b\xFF"), KAR_I("n", 5)));
		kar_log_redirect(NULL, NULL);
		assert_int_equal(sscanf(kar_buf_cstr(&line), "{\"ts\":%lld.%3d,%n", &ms, &micros, &end), 2);
		assert_in_range(ms, kar_clock_wall() - 10000, kar_clock_wall());
		assert_string_equal(line.p + end, rows[i].want);
		kar_buf_release(&line);
	}
}

static void long_values_are_cut_between_characters(void **state)
{
	struct kar_buf value = { 0 }, got = { 0 };

	(void)state;
	kar_log_init(KAR_LOG_TEXT, 0);
	kar_buf_puts(&value, "ab");
	while (value.n < 20000)
		kar_buf_puts(&value, "\xE2\x82\xAC"); /* 16384 is within a character */
	text_tail(KAR_KVS(KAR_MSG("m"), KAR_S("k", value.p)), &got);
	size_t kept = got.n - strlen("file.c:88] \"m\" k=\"...\"\n");

	assert_int_equal(kept, 2 + (16384 - 2) / 3 * 3);
	assert_string_equal(got.p + got.n - 8, "\xE2\x82\xAC...\"\n");
	kar_buf_release(&value);
	kar_buf_release(&got);
}

static void verbosity(void **state)
{
	struct kar_buf line = { 0 };

	(void)state;
	kar_log_init(KAR_LOG_TEXT, 2);
	assert_true(kar_log_enabled(2));
	assert_false(kar_log_enabled(3));
	kar_log_redirect(collect, &line);
	kar_info(3, KAR_MSG("hidden"));
	assert_int_equal(line.n, 0);
	kar_info(2, KAR_MSG("shown"));
	assert_non_null(strstr(kar_buf_cstr(&line), "\"shown\""));
	kar_log_init(KAR_LOG_TEXT, 0);
	kar_buf_clear(&line);
	kar_error(KAR_MSG("always"));
	assert_int_equal(line.p[0], 'E');
	kar_log_redirect(NULL, NULL);
	kar_buf_release(&line);
}

/* A line reaches stderr by one write, so that lines of several processes do not mix. */
static void one_write_per_line(void **state)
{
	int ends[2], saved = dup(STDERR_FILENO);
	char got[256] = "";

	(void)state;
	assert_int_equal(pipe2(ends, O_DIRECT), 0); /* packet mode: each read returns one write */
	dup2(ends[1], STDERR_FILENO);
	kar_log_init(KAR_LOG_TEXT, 0);
	kar_error(KAR_MSG("first"), KAR_S("k", "v"));
	kar_error(KAR_MSG("second"));
	dup2(saved, STDERR_FILENO);
	assert_true(read(ends[0], got, sizeof(got) - 1) > 0);
	assert_non_null(strstr(got, "\"first\" k=\"v\"\n"));
	assert_null(strstr(got, "second"));
	close(ends[0]);
	close(ends[1]);
	close(saved);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text),
		cmocka_unit_test(unread_log_does_not_stop_the_process),
		cmocka_unit_test(last_words_are_escaped),
		cmocka_unit_test(header),
		cmocka_unit_test(json),
		cmocka_unit_test(long_values_are_cut_between_characters),
		cmocka_unit_test(verbosity),
		cmocka_unit_test(one_write_per_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
