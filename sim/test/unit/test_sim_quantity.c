/* Quantities in JSON: how the API server stores them, and what a pod asks for. The rows were checked against Kubernetes 1.37. */
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
#include "sim/nodes/requests.h"
#include "sim/test/fixture/sim_value.h"
#include "sim/timeline.h"

static const struct {
	const char *text, *stored;
} rows[] = {
	{ "0", "0" },
	{ "-0", "0" },
	{ "1", "1" },
	{ "+1", "+1" },
	{ "1.", "1." },
	{ ".5", "500m" },
	{ "1.5", "1500m" },
	{ "1.500", "1.500" },
	{ "0.25", "250m" },
	{ "1000", "1k" },
	{ "2500", "2500" },
	{ "1000m", "1" },
	{ "0100", "0100" },
	{ "1024", "1024" },
	{ "1024Ki", "1Mi" },
	{ "1023Ki", "1023Ki" },
	{ "512Mi", "512Mi" },
	{ "1.5Gi", "1536Mi" },
	{ "0.1Gi", "107374182400m" },
	{ "0.5Ki", "512" },
	{ ".8042510004Ki", "823553024410n" },
	{ "-1Ki", "-1Ki" },
	{ "-1.5", "-1500m" },
	{ "8Ei", "9223372036854775807" },
	{ "100E", "100E" },
	{ "0.1m", "100u" },
	{ "0.0000000001", "1n" },
	{ "3.14159265358979", "3141592654n" },
	{ "1e3", "1e3" },
	{ "1e4", "10e3" },
	{ "12E6", "12E6" },
	{ "1e-30", "1e-9" },
};

static void quantity_is_stored_as_it_was_written_if_that_is_as_good(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct sim_value *given = sim_string(rows[i].text), *stored = sim_quantity_canonical(given);

		assert_string_equal(sim_text(stored), rows[i].stored);
		sim_unref(given);
		sim_unref(stored);
	}
}

/* But 62.5Ki becomes 64000, which has lost the suffix of base 1024, and 64000 becomes 64k. */
static void what_is_stored_is_the_same_amount_and_stays(void **state)
{
	static const char *const suffixes[] = { "", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi",
		"Gi", "Ti", "Pi", "Ei", "e3", "E1", "e-6" };
	struct sim_random random = sim_random_of(2026, "stored quantities");

	(void)state;
	for (int i = 0; i < 20000; i++) {
		const char *suffix = suffixes[sim_random_below(&random, KAR_LEN(suffixes))];
		int64_t whole = sim_random_between(&random, -9999, 9999);
		char *text = kar_xasprintf("%lld%s%s", (long long)whole,
			sim_random_below(&random, 2) ? ".50" : "", suffix);
		struct sim_value *given = sim_string(text), *stored = sim_quantity_canonical(given);
		struct sim_value *again = sim_quantity_canonical(stored);
		struct kar_quantity q = sim_quantity_of(given), same = sim_quantity_of(stored);

		if (kar_quantity_cmp(&q, &same) != 0 || (!sim_equal(stored, again) && !strchr(suffix, 'i')))
			fail_msg("seed 2026, %s: stored as %s, then %s", text, sim_text_or(stored, ""),
				sim_text_or(again, ""));
		sim_unref(given);
		sim_unref(stored);
		sim_unref(again);
		free(text);
	}
}

static void json_number_is_read_then_it_is_as_good_as_its_text(void **state)
{
	struct sim_value *whole = sim_int(2000), *half = sim_real(0.5), *list = sim_array(), *stored;
	struct kar_quantity q;

	(void)state;
	assert_int_equal(sim_quantity_read(half, &q, NULL), 0);
	assert_int_equal(kar_quantity_milli(&q), 500);
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
	struct kar_amounts amounts = { 0 };
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
	kar_amounts_release(&amounts);
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

/* ---- the simulated scheduler counts for itself, and comes to the same ---- */

static void draw_container(struct sim_random *random, bool init, struct kar_buf *out)
{
	kar_buf_printf(out, "{%s'resources':{'requests':{",
		init && sim_random_below(random, 2) ? "'restartPolicy':'Always'," : "");
	if (sim_random_below(random, 4))
		kar_buf_printf(out, "'cpu':'%dm',", (int)sim_random_between(random, 1, 4000));
	if (sim_random_below(random, 3) == 0)
		kar_buf_printf(out, "'example.com/gpu':%d,", (int)sim_random_between(random, 1, 4));
	kar_buf_printf(out, "'memory':'%dMi'}}},", (int)sim_random_between(random, 1, 999));
}

static void draw_containers(struct sim_random *random, const char *key, uint64_t most, struct kar_buf *out)
{
	kar_buf_printf(out, "'%s':[", key);
	for (uint64_t n = sim_random_below(random, most + 1); n > 0; n--)
		draw_container(random, most > 2, out);
	kar_buf_printf(out, "{}],");
}

static struct sim_value *draw_pod(struct sim_random *random)
{
	struct kar_buf text = { 0 };
	struct sim_value *pod = sim_object();

	kar_buf_printf(&text, "{");
	draw_containers(random, "containers", 2, &text);
	draw_containers(random, "initContainers", 4, &text);
	if (sim_random_below(random, 3) == 0)
		kar_buf_printf(&text, "'resources':{'requests':{'cpu':'%d'}},",
			(int)sim_random_between(random, 1, 20));
	kar_buf_printf(&text, "'overhead':{'memory':'%dKi'}}", (int)sim_random_between(random, 1, 99));
	/* No comma before a bracket. */
	for (char *at; (at = strstr(kar_buf_cstr(&text), ",}")) || (at = strstr(kar_buf_cstr(&text), ",]"));)
		*at = ' ';
	sim_set(&pod, tree(kar_buf_cstr(&text)), "spec");
	kar_buf_release(&text);
	return pod;
}

static void check_same(const struct sim_resource_names *names, const struct sim_requests *r,
	const struct kar_amounts *a, int round)
{
	assert_int_equal(r->n, a->n);
	for (size_t i = 0; i < r->n; i++) {
		const struct kar_quantity *q = kar_amounts_find(a, names->names[r->items[i].resource]);

		if (!q ||
			r->items[i].amount !=
				(r->items[i].resource == SIM_CPU ? kar_quantity_milli(q)
								 : kar_quantity_value(q)))
			fail_msg("seed 2026, pod %d: %s", round, names->names[r->items[i].resource]);
	}
}

static void scheduler_and_library_count_alike(void **state)
{
	struct sim_random random = sim_random_of(2026, "requests of pods");
	struct sim_resource_names names;

	(void)state;
	sim_resource_names_init(&names);
	for (int round = 0; round < 2000; round++) {
		struct sim_value *pod = draw_pod(&random);
		struct kar_amounts amounts = { 0 };
		struct sim_requests r;

		sim_pod_resources(pod, "requests", &amounts);
		sim_requests_read(&r, &names, sim_member(pod, "spec"));
		check_same(&names, &r, &amounts, round);
		sim_requests_release(&r);
		kar_amounts_release(&amounts);
		sim_unref(pod);
	}
	sim_resource_names_release(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantity_is_stored_as_it_was_written_if_that_is_as_good),
		cmocka_unit_test(what_is_stored_is_the_same_amount_and_stays),
		cmocka_unit_test(json_number_is_read_then_it_is_as_good_as_its_text),
		cmocka_unit_test(pod_is_weighed_then_it_asks_for_what_the_scheduler_counts),
		cmocka_unit_test(scheduler_and_library_count_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
