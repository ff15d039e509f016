/* Quantities: every row was checked against k8s.io/apimachinery/pkg/api/resource of Kubernetes 1.37. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/apiserver/amounts.h"
#include "sim/apiserver/quantity.h"
#include "sim/timeline.h"
#include "test/fixture/sim_value.h"

#define MALFORMED \
	"quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
#define BAD_SUFFIX "unable to parse quantity's suffix"
#define NO_NUMBER "unable to parse numeric part of quantity"

static const struct {
	const char *text;
	const char *stored; /* as the API server keeps it */
	const char *sum;    /* 0 plus it */
	int64_t value, milli;
} good[] = {
	{ "0", "0", "0", 0, 0 },
	{ "-0", "0", "0", 0, 0 },
	{ "1", "1", "1", 1, 1000 },
	{ "+1", "+1", "1", 1, 1000 },
	{ "1.", "1.", "1", 1, 1000 },
	{ ".5", "500m", "500m", 1, 500 },
	{ "1.5", "1500m", "1500m", 2, 1500 },
	{ "1.500", "1.500", "1500m", 2, 1500 },
	{ "0.25", "250m", "250m", 1, 250 },
	{ "1000", "1k", "1k", 1000, 1000000 },
	{ "2500", "2500", "2500", 2500, 2500000 },
	{ "1000m", "1", "1", 1, 1000 },
	{ "0100", "0100", "100", 100, 100000 },
	{ "1024", "1024", "1024", 1024, 1024000 },
	{ "1024Ki", "1Mi", "1Mi", 1048576, 1048576000 },
	{ "1023Ki", "1023Ki", "1023Ki", 1047552, 1047552000 },
	{ "512Mi", "512Mi", "512Mi", 536870912, 536870912000 },
	{ "1.5Gi", "1536Mi", "1536Mi", 1610612736, 1610612736000 },
	{ "0.1Gi", "107374182400m", "107374182400m", 107374183, 107374182400 },
	{ "0.5Ki", "512", "512", 512, 512000 },
	{ ".8042510004Ki", "823553024410n", "823553024410n", 824, 823554 },
	{ "-1Ki", "-1Ki", "-1Ki", -1024, -1024000 },
	{ "-1.5", "-1500m", "-1500m", -2, -1500 },
	{ "8Ei", "9223372036854775807", "9223372036854775807", INT64_MAX, INT64_MAX },
	{ "100E", "100E", "100E", INT64_MAX, INT64_MAX },
	{ "0.1m", "100u", "100u", 1, 1 },
	{ "0.0000000001", "1n", "1n", 1, 1 },
	{ "3.14159265358979", "3141592654n", "3141592654n", 4, 3142 },
	{ "1e3", "1e3", "1e3", 1000, 1000000 },
	{ "1e4", "10e3", "10e3", 10000, 10000000 },
	{ "12E6", "12E6", "12e6", 12000000, 12000000000 },
	{ "1e-30", "1e-9", "1e-9", 1, 1 },
};

static void quantity_is_parsed_then_it_prints_as_the_api_does(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(good); i++) {
		struct sim_value *given = sim_string(good[i].text), *stored = sim_quantity_canonical(given);
		struct sim_quantity q = { 0 }, sum = { 0 };
		char text[SIM_QUANTITY_LEN];

		print_message("row %zu\n", i);
		assert_int_equal(sim_quantity_parse(good[i].text, &q, NULL), 0);
		assert_string_equal(sim_text(stored), good[i].stored);
		sim_quantity_add(&sum, &q);
		assert_string_equal(sim_quantity_text(&sum, text), good[i].sum);
		assert_true(sim_quantity_value(&q) == good[i].value);
		assert_true(sim_quantity_milli(&q) == good[i].milli);
		sim_unref(given);
		sim_unref(stored);
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
		struct sim_quantity q = { .nano = 7 };
		struct kar_err err = { 0 };

		print_message("\"%s\"\n", bad[i].text);
		assert_int_equal(sim_quantity_parse(bad[i].text, &q, &err), -1);
		assert_string_equal(err.msg, bad[i].error);
		assert_int_equal(err.what, KAR_INVALID);
		assert_true(q.nano == 7);
	}
}

static void json_number_is_read_then_it_is_as_good_as_its_text(void **state)
{
	struct sim_value *whole = sim_int(2000), *half = sim_real(0.5), *list = sim_array(), *stored;
	struct sim_quantity q;

	(void)state;
	assert_int_equal(sim_quantity_read(half, &q, NULL), 0);
	assert_int_equal(sim_quantity_milli(&q), 500);
	stored = sim_quantity_canonical(whole);
	assert_string_equal(sim_text(stored), "2k");
	sim_unref(stored);
	assert_int_equal(sim_quantity_read(list, &q, NULL), -1);
	assert_int_equal(sim_quantity_read(NULL, &q, NULL), -1);
	assert_true(sim_quantity_of(list).nano == 0);
	sim_unref(whole);
	sim_unref(half);
	sim_unref(list);
}

static void amount_is_beyond_everything_then_it_is_cut(void **state)
{
	struct sim_quantity a, b, sum;

	(void)state;
	assert_int_equal(sim_quantity_parse("1e100", &a, NULL), 0);
	assert_int_equal(sim_quantity_parse("99999999999999999999999999999999999999999999", &b, NULL), 0);
	assert_int_equal(sim_quantity_cmp(&a, &b), 0);
	sum = a;
	sim_quantity_add(&sum, &b);
	assert_int_equal(sim_quantity_cmp(&sum, &a), 0);
	sim_quantity_sub(&sum, &a);
	assert_true(sum.nano == 0);
	sim_quantity_sub(&sum, &a);
	sim_quantity_sub(&sum, &a);
	assert_true(sim_quantity_value(&sum) == INT64_MIN);
}

/* What is printed is read back as the same amount, and sums can be undone. */
static void any_quantity_goes_through_its_text(void **state)
{
	static const char *const suffixes[] = { "", "n", "u", "m", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti",
		"e3", "e-6" };
	struct sim_random random = sim_random_of(2026, "quantities");

	(void)state;
	for (int i = 0; i < 20000; i++) {
		char text[SIM_QUANTITY_LEN], printed[SIM_QUANTITY_LEN], again[SIM_QUANTITY_LEN];
		struct sim_quantity q, r, sum = { 0 };

		snprintf(text, sizeof(text), "%lld.%llu%s",
			(long long)sim_random_between(&random, -9999, 999999),
			(unsigned long long)sim_random_below(&random, 100000),
			suffixes[sim_random_below(&random, KAR_LEN(suffixes))]);
		assert_int_equal(sim_quantity_parse(text, &q, NULL), 0);
		sim_quantity_text(&q, printed);
		assert_int_equal(sim_quantity_parse(printed, &r, NULL), 0);
		if (sim_quantity_cmp(&q, &r) != 0 || strcmp(sim_quantity_text(&r, again), printed) != 0)
			fail_msg("seed 2026, %s: printed %s, then %s", text, printed, again);
		sim_quantity_add(&sum, &q);
		sim_quantity_add(&sum, &r);
		sim_quantity_sub(&sum, &q);
		assert_int_equal(sim_quantity_cmp(&sum, &r), 0);
	}
}

/* ---- what a pod asks for ---- */

static const struct {
	const char *name, *spec, *requests, *limits;
} pods[] = {
	{ "containers_are_added_up",
		"{'containers':[{'resources':{'requests':{'cpu':'1','memory':'1Gi'},'limits':{'cpu':'2'}}},"
		"{'resources':{'requests':{'cpu':'500m'}}},{}]}",
		"{'cpu':'1500m','memory':'1Gi'}", "{'cpu':'2'}" },
	{ "largest_init_container_counts_if_it_is_more",
		"{'containers':[{'resources':{'requests':{'cpu':'1','memory':'1Gi'}}}],"
		"'initContainers':[{'resources':{'requests':{'cpu':'3'}}},{'resources':{'requests':{'cpu':'2'}}}]}",
		"{'cpu':'3','memory':'1Gi'}", "{}" },
	{ "sidecars_run_beside_all_that_start_later",
		"{'containers':[{'resources':{'requests':{'cpu':'1'}}}],"
		"'initContainers':[{'resources':{'requests':{'cpu':'2'}}},"
		"{'restartPolicy':'Always','resources':{'requests':{'cpu':'1'}}},{'resources':{'requests':{'cpu':'4'}}}]}",
		"{'cpu':'5'}", "{}" },
	{ "sidecar_and_containers_are_more_than_any_start",
		"{'containers':[{'resources':{'requests':{'cpu':'4'}}}],"
		"'initContainers':[{'restartPolicy':'Always','resources':{'requests':{'cpu':'1'}}},{'resources':{'requests':{'cpu':'2'}}}]}",
		"{'cpu':'5'}", "{}" },
	{ "overhead_is_added_to_requests",
		"{'containers':[{'resources':{'requests':{'cpu':'1'}}}],'overhead':{'cpu':'250m'}}",
		"{'cpu':'1250m'}", "{}" },
	{ "resources_of_the_pod_win",
		"{'containers':[{'resources':{'requests':{'cpu':'1','memory':'1Mi'}}}],"
		"'resources':{'requests':{'cpu':'8'}},'overhead':{'cpu':'1'}}",
		"{'cpu':'9','memory':'1Mi'}", "{}" },
};

static void check_resources(const char *name, const struct sim_value *pod, const char *kind,
	const char *expected)
{
	struct sim_amounts amounts = { 0 };
	struct sim_value *list, *wanted = tree(expected);
	struct kar_buf is = { 0 };

	sim_pod_resources(pod, kind, &amounts);
	list = sim_amounts_list(&amounts);
	sim_print(list, &is);
	if (!sim_equal(list, wanted))
		fail_msg("%s: %s are %s, expected %s", name, kind, kar_buf_cstr(&is), expected);
	sim_unref(list);
	sim_unref(wanted);
	kar_buf_release(&is);
	sim_amounts_release(&amounts);
}

static void pod_is_weighed_then_it_asks_for_what_the_scheduler_counts(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(pods); i++) {
		struct sim_value *pod = sim_object();

		sim_set(&pod, tree(pods[i].spec), "spec");
		check_resources(pods[i].name, pod, "requests", pods[i].requests);
		check_resources(pods[i].name, pod, "limits", pods[i].limits);
		sim_unref(pod);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantity_is_parsed_then_it_prints_as_the_api_does),
		cmocka_unit_test(quantity_is_malformed_then_the_error_is_the_apis),
		cmocka_unit_test(json_number_is_read_then_it_is_as_good_as_its_text),
		cmocka_unit_test(amount_is_beyond_everything_then_it_is_cut),
		cmocka_unit_test(any_quantity_goes_through_its_text),
		cmocka_unit_test(pod_is_weighed_then_it_asks_for_what_the_scheduler_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
