/* Quantities: every row was checked against k8s.io/apimachinery/pkg/api/resource of Kubernetes 1.37. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/codec/quantity.h"

#define MALFORMED \
	"quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
#define BAD_SUFFIX "unable to parse quantity's suffix"
#define NO_NUMBER "unable to parse numeric part of quantity"

static const struct {
	const char *text;
	const char *sum; /* 0 plus it */
	int64_t value, milli;
} good[] = {
	{ "0", "0", 0, 0 },
	{ "-0", "0", 0, 0 },
	{ "1", "1", 1, 1000 },
	{ "+1", "1", 1, 1000 },
	{ "1.", "1", 1, 1000 },
	{ ".5", "500m", 1, 500 },
	{ "1.5", "1500m", 2, 1500 },
	{ "1.500", "1500m", 2, 1500 },
	{ "0.25", "250m", 1, 250 },
	{ "1000", "1k", 1000, 1000000 },
	{ "2500", "2500", 2500, 2500000 },
	{ "1000m", "1", 1, 1000 },
	{ "0100", "100", 100, 100000 },
	{ "1024", "1024", 1024, 1024000 },
	{ "1024Ki", "1Mi", 1048576, 1048576000 },
	{ "1023Ki", "1023Ki", 1047552, 1047552000 },
	{ "512Mi", "512Mi", 536870912, 536870912000 },
	{ "1.5Gi", "1536Mi", 1610612736, 1610612736000 },
	{ "0.1Gi", "107374182400m", 107374183, 107374182400 },
	{ "0.5Ki", "512", 512, 512000 },
	{ ".8042510004Ki", "823553024410n", 824, 823554 },
	{ "-1Ki", "-1Ki", -1024, -1024000 },
	{ "-1.5", "-1500m", -2, -1500 },
	{ "8Ei", "9223372036854775807", INT64_MAX, INT64_MAX },
	{ "100E", "100E", INT64_MAX, INT64_MAX },
	{ "0.1m", "100u", 1, 1 },
	{ "0.0000000001", "1n", 1, 1 },
	{ "3.14159265358979", "3141592654n", 4, 3142 },
	{ "1e3", "1e3", 1000, 1000000 },
	{ "1e4", "10e3", 10000, 10000000 },
	{ "12E6", "12e6", 12000000, 12000000000 },
	{ "1e-30", "1e-9", 1, 1 },
};

static void quantity_is_parsed_then_it_prints_as_the_api_does(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(good); i++) {
		struct kar_quantity q = { 0 }, sum = { 0 };
		char text[KAR_QUANTITY_LEN];

		print_message("row %zu\n", i);
		assert_int_equal(kar_quantity_parse(good[i].text, &q, NULL), 0);
		kar_quantity_add(&sum, &q);
		assert_string_equal(kar_quantity_text(&sum, text), good[i].sum);
		assert_true(kar_quantity_value(&q) == good[i].value);
		assert_true(kar_quantity_milli(&q) == good[i].milli);
	}
}

static const struct {
	const char *text, *error;
} bad[] = {
	{ "", MALFORMED },
	{ " 1", MALFORMED },
	{ "1 ", MALFORMED },
	{ "1.2.3", MALFORMED },
	{ "1,5", MALFORMED },
	{ "abc", MALFORMED },
	{ "5i", BAD_SUFFIX },
	{ "1Ki5", BAD_SUFFIX },
	{ "1kk", BAD_SUFFIX },
	{ "1e", BAD_SUFFIX },
	{ "Pi", NO_NUMBER },
};

static void quantity_is_malformed_then_the_error_is_the_apis(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(bad); i++) {
		struct kar_quantity q = { .nano = 7 };
		struct kar_err err = { 0 };

		print_message("\"%s\"\n", bad[i].text);
		assert_int_equal(kar_quantity_parse(bad[i].text, &q, &err), -1);
		assert_string_equal(err.msg, bad[i].error);
		assert_int_equal(err.what, KAR_INVALID);
		assert_true(q.nano == 7);
	}
}

static void amount_is_beyond_everything_then_it_is_cut(void **state)
{
	struct kar_quantity a, b, sum;

	(void)state;
	assert_int_equal(kar_quantity_parse("1e100", &a, NULL), 0);
	assert_int_equal(kar_quantity_parse("99999999999999999999999999999999999999999999", &b, NULL), 0);
	assert_int_equal(kar_quantity_cmp(&a, &b), 0);
	sum = a;
	kar_quantity_add(&sum, &b);
	assert_int_equal(kar_quantity_cmp(&sum, &a), 0);
	kar_quantity_sub(&sum, &a);
	assert_true(sum.nano == 0);
	kar_quantity_sub(&sum, &a);
	kar_quantity_sub(&sum, &a);
	assert_true(kar_quantity_value(&sum) == INT64_MIN);
	kar_quantity_times(&sum, INT32_MAX);
	assert_true(kar_quantity_value(&sum) == INT64_MIN);
	sum = b;
	kar_quantity_times(&sum, INT32_MAX);
	assert_int_equal(kar_quantity_cmp(&sum, &a), 0);
}

static void product_is_exact(void **state)
{
	char text[KAR_QUANTITY_LEN];
	struct kar_quantity q;

	(void)state;
	assert_int_equal(kar_quantity_parse("333m", &q, NULL), 0);
	kar_quantity_times(&q, 3);
	assert_string_equal(kar_quantity_text(&q, text), "999m");
	kar_quantity_times(&q, 0);
	assert_string_equal(kar_quantity_text(&q, text), "0");
}

/* What is printed is read back as the same amount, and sums can be undone. */
static void any_quantity_goes_through_its_text(void **state)
{
	static const char *const suffixes[] = { "", "n", "u", "m", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti",
		"e3", "e-6" };
	unsigned seed = 2026;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		char text[KAR_QUANTITY_LEN], printed[KAR_QUANTITY_LEN], again[KAR_QUANTITY_LEN];
		struct kar_quantity q, r, sum = { 0 };

		snprintf(text, sizeof(text), "%d.%d%s", rand_r(&seed) % 1000000 - 9999,
			rand_r(&seed) % 100000, suffixes[(size_t)rand_r(&seed) % KAR_LEN(suffixes)]);
		assert_int_equal(kar_quantity_parse(text, &q, NULL), 0);
		kar_quantity_text(&q, printed);
		assert_int_equal(kar_quantity_parse(printed, &r, NULL), 0);
		if (kar_quantity_cmp(&q, &r) != 0 || strcmp(kar_quantity_text(&r, again), printed) != 0)
			fail_msg("seed 2026, %s: printed %s, then %s", text, printed, again);
		kar_quantity_add(&sum, &q);
		kar_quantity_add(&sum, &r);
		kar_quantity_sub(&sum, &q);
		assert_int_equal(kar_quantity_cmp(&sum, &r), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantity_is_parsed_then_it_prints_as_the_api_does),
		cmocka_unit_test(quantity_is_malformed_then_the_error_is_the_apis),
		cmocka_unit_test(amount_is_beyond_everything_then_it_is_cut),
		cmocka_unit_test(product_is_exact),
		cmocka_unit_test(any_quantity_goes_through_its_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
