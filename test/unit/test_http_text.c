#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/err.h"
#include "common/net/http_text.h"

static void rows_of_retry_after(void **state KAR_UNUSED)
{
	enum { NOV_21 = 1795268787 }; /* Sat, 21 Nov 2026 13:46:27 GMT */
	static const struct {
		const char *value;
		kar_time expect;
	} rows[] = {
		{ "0", 0 },
		{ "5", 5000 },
		{ "99999999999999999999", KAR_RETRY_AFTER_MAX },
		{ "601", KAR_RETRY_AFTER_MAX },
		{ "Sat, 21 Nov 2026 13:46:37 GMT", 10000 },
		{ "Sat, 21 Nov 2026 13:46:17 GMT", 0 },
		{ "Sun, 21 Nov 2027 13:46:17 GMT", KAR_RETRY_AFTER_MAX },
		{ "soon", 0 },
		{ "", 0 },
		{ "-3", 0 },
		{ "1.5", 0 },
	};

	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		kar_time got = kar_retry_after_parse(rows[i].value, (kar_time)NOV_21 * KAR_SECOND);

		if (got != rows[i].expect)
			print_error("\"%s\": %lld\n", rows[i].value, (long long)got);
		assert_int_equal(got, rows[i].expect);
	}
}

static void rows_of_urls(void **state KAR_UNUSED)
{
	static const struct {
		const char *url;
		int rc;
		const char *host, *port, *rest;
	} rows[] = {
		{ "https://k:6443/api", 0, "k", "6443", "/api" },
		{ "https://k", 0, "k", "", "" },
		{ "https://[::1]:6443", 0, "[::1]", "6443", "" },
		{ "https://[::1]/x", 0, "[::1]", "", "/x" },
		{ "https://k?x:1", 0, "k", "", "?x:1" },
		{ "https://u:p@k", -1, "", "", "" },
		{ "https://", -1, "", "", "" },
		{ "https://:1", -1, "", "", "" },
		{ "https://[::1", -1, "", "", "" },
		{ "k:6443", -1, "", "", "" },
		{ "://k", -1, "", "", "" },
	};

	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_url u = { 0 };

		if (kar_url_split(rows[i].url, &u) != rows[i].rc)
			print_error("%s\n", rows[i].url);
		assert_int_equal(kar_url_split(rows[i].url, &u), rows[i].rc);
		if (rows[i].rc)
			continue;
		assert_int_equal(u.host.n, strlen(rows[i].host));
		assert_memory_equal(u.host.p, rows[i].host, u.host.n);
		assert_int_equal(u.port.n, strlen(rows[i].port));
		assert_memory_equal(u.port.p, rows[i].port, u.port.n);
		assert_string_equal(u.rest.p, rows[i].rest);
	}
}

static void add_line(struct kar_head_text *t, const char *line)
{
	kar_head_text_add(t, line, strlen(line), 0);
}

static void head_keeps_what_is_used_of_the_final_response(void **state KAR_UNUSED)
{
	struct kar_head_text t = { 0 };

	add_line(&t, "HTTP/1.1 103 Early Hints\r\n");
	add_line(&t, "Content-Type: wrong\r\n");
	add_line(&t, "\r\n");
	assert_false(t.done);
	add_line(&t, "HTTP/2 200 \r\n");
	assert_string_equal(t.content_type, "");
	add_line(&t, "content-TYPE:\t application/json \r\n");
	add_line(&t, "warning: 299 - \"first\"\r\n");
	add_line(&t, "warning: 299 - \"second\"\r\n");
	add_line(&t, "X-Retry-After: 9\r\n");
	add_line(&t, "no colon\r\n");
	add_line(&t, "\r\n");
	assert_true(t.done && t.http2);
	assert_int_equal(t.status, 200);
	assert_string_equal(t.content_type, "application/json");
	assert_string_equal(t.warning, "299 - \"first\"");
	assert_int_equal(t.retry_after, 0);
	add_line(&t, "Content-Type: trailer\r\n");
	assert_string_equal(t.content_type, "application/json");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_retry_after),
		cmocka_unit_test(rows_of_urls),
		cmocka_unit_test(head_keeps_what_is_used_of_the_final_response),
	};

	return cmocka_run_group_tests_name("http_text", tests, NULL, NULL);
}
