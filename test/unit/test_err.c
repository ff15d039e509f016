#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/err.h"
#include "common/base/utf8.h"

static void fail_fills_and_returns(void **state)
{
	struct kar_err e = { .http = 409, .retry_after = 5, .reason = "AlreadyExists", .msg = "old" };

	(void)state;
	assert_int_equal(kar_fail(&e, KAR_INVALID, "pod %s: %d", "a", 7), -1);
	assert_int_equal(e.what, KAR_INVALID);
	assert_string_equal(e.msg, "pod a: 7");
	assert_int_equal(e.http, 0); /* nothing of an earlier error stays */
	assert_int_equal(e.retry_after, 0);
	assert_string_equal(e.reason, "");
}

static void null_then_only_minus_one(void **state)
{
	(void)state;
	assert_int_equal(kar_fail(NULL, KAR_RETRY, "x"), -1);
	assert_int_equal(kar_wrap(NULL, "x"), -1);
}

static void wrap_keeps_class_and_status(void **state)
{
	struct kar_err e = { 0 };

	(void)state;
	kar_fail(&e, KAR_DENIED, "no");
	e.http = 403;
	strcpy(e.reason, "Forbidden");
	assert_int_equal(kar_wrap(&e, "create %s", "pod"), -1);
	assert_string_equal(e.msg, "create pod: no");
	assert_int_equal(e.what, KAR_DENIED);
	assert_int_equal(e.http, 403);
	assert_string_equal(e.reason, "Forbidden");
}

static void texts_may_quote_the_error_itself(void **state)
{
	struct kar_err e;

	(void)state;
	kar_fail(&e, KAR_RETRY, "in%s", "ner");
	kar_fail(&e, KAR_FATAL, "%s", e.msg);
	assert_int_equal(e.what, KAR_FATAL);
	kar_wrap(&e, "%s!", e.msg);
	assert_string_equal(e.msg, "inner!: inner");
}

static void long_texts_are_cut(void **state)
{
	struct kar_err e;
	char text[2000];

	(void)state;
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	kar_fail(&e, KAR_RETRY, "%s", text);
	assert_int_equal(strlen(e.msg), sizeof(e.msg) - 1);
	kar_wrap(&e, "%s", text);
	assert_int_equal(strlen(e.msg), sizeof(e.msg) - 1);
	kar_fail(&e, KAR_RETRY, "%s", text);
	kar_wrap(&e, "ctx");
	assert_int_equal(strlen(e.msg), sizeof(e.msg) - 1);
	assert_memory_equal(e.msg, "ctx: xxx", 8);
	assert_string_equal(e.msg + strlen(e.msg) - 4, "x...");
}

/* Wherever the cut falls, what is left is text, and says that there was more. */
static void no_character_is_cut(void **state)
{
	char text[3000] = "";

	(void)state;
	while (strlen(text) + 4 < sizeof(text))
		strcat(text, "\xF0\x9F\x98\x80");
	for (int shift = 0; shift < 4; shift++) {
		struct kar_err e;

		kar_fail(&e, KAR_DENIED, "%.*s%s", shift, "abc", text);
		assert_int_equal(kar_utf8_clean(e.msg, strlen(e.msg)), strlen(e.msg));
		assert_string_equal(e.msg + strlen(e.msg) - 3, "...");
		kar_wrap(&e, "%.*s%s", shift, "abc", text);
		assert_int_equal(kar_utf8_clean(e.msg, strlen(e.msg)), strlen(e.msg));
	}
}

static void class_names(void **state)
{
	static const struct {
		enum kar_class what;
		const char *name;
	} rows[] = { { KAR_OK, "OK" }, { KAR_RETRY, "Retry" }, { KAR_UNKNOWN, "Unknown" },
		{ KAR_CONFLICT, "Conflict" }, { KAR_EXISTS, "AlreadyExists" }, { KAR_NOTFOUND, "NotFound" },
		{ KAR_GONE, "Gone" }, { KAR_UNAUTHORIZED, "Unauthorized" }, { KAR_DENIED, "Denied" },
		{ KAR_INVALID, "Invalid" }, { KAR_FATAL, "Fatal" },
		{ (enum kar_class)(KAR_FATAL + 1), "Unknown" } };

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++)
		assert_string_equal(kar_err_class_name(rows[i].what), rows[i].name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fail_fills_and_returns),
		cmocka_unit_test(null_then_only_minus_one),
		cmocka_unit_test(wrap_keeps_class_and_status),
		cmocka_unit_test(texts_may_quote_the_error_itself),
		cmocka_unit_test(long_texts_are_cut),
		cmocka_unit_test(no_character_is_cut),
		cmocka_unit_test(class_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
