/* What the pods of a job have used, as its status says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/queuejob_sync_fixture.h"

#define JOB_SPEC \
	",\"spec\":{\"schedSpec\":{\"minAvailable\":1},\"taskSpecs\":[{\"name\":\"w\",\"replicas\":2," TEMPLATE \
	"}]}"

static void put_running_job(const char *counts, const char *usage)
{
	struct kar_buf rest = { 0 };

	put_job(JOB_SPEC);
	kar_buf_printf(&rest,
		"%s,\"status\":{\"phase\":\"Running\",\"incarnation\":1,\"record\":{\"formedMinAvailable\":1,\"formation\":\"Formed\",\"templateHash\":\"%s\"},"
		"\"observedGeneration\":1,%s\"usage\":{%s}" FORMED "}",
		JOB_SPEC, spec_hash(), counts, usage);
	put_job(kar_buf_cstr(&rest));
	kar_buf_release(&rest);
	put_children(true);
}

/* @bound: seconds before now; 0: it has no node. */
static void put_pod(int index, const char *phase, int bound, const char *cpu)
{
	char name[16], meta[512], rest[512], at[64] = "";

	if (bound)
		snprintf(at, sizeof(at), "2026-11-21T13:%02d:%02dZ", 46 - (bound + 32) / 60,
			(87 - bound % 60) % 60);
	snprintf(name, sizeof(name), "j-w-%d", index);
	snprintf(meta, sizeof(meta),
		BY_JOB TRACKED
		",\"labels\":{\"kube-arbitrator.io/queuejob\":\"j\",\"kube-arbitrator.io/task\":\"w\","
		"\"kube-arbitrator.io/index\":\"%d\",\"kube-arbitrator.io/incarnation\":\"1\","
		"\"scheduling.x-k8s.io/pod-group\":\"j\"}",
		index);
	snprintf(rest, sizeof(rest),
		",\"spec\":{%s\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"%s\",\"memory\":\"1Gi\"}}}]},"
		"\"status\":{\"phase\":\"%s\",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"%s\",\"lastTransitionTime\":\"%s\"}]}",
		bound ? "\"nodeName\":\"n1\"," : "", cpu, phase, bound ? "True" : "False",
		bound ? at : "2026-11-21T13:00:00Z");
	put(w.stores.pods, name, name, meta, rest);
}

struct pod_row {
	const char *phase; /* NULL: there is none */
	int bound;         /* seconds ago */
	const char *cpu;
};

/* It is 13:46:27. The status was written 27 s ago, unless its usage says otherwise. "": nothing is written. */
static const struct {
	const char *name, *counts, *usage;
	struct pod_row pods[2];
	const char *says;
} rows[] = {
	{ "first_pods", "", "", { { "Running", 7, "2" }, { "Pending", 2, "1" } },
		"\"usage\":{\"seconds\":{\"cpu\":\"16\",\"memory\":\"9Gi\",\"pods\":\"9\"},\"allocated\":{\"cpu\":\"3\",\"memory\":\"2Gi\",\"pods\":\"2\"},"
		"\"time\":\"2026-11-21T13:46:27Z\"}" },
	{ "no_pod_has_a_node", "", "", { { "Pending", 0, "2" }, { "Pending", 0, "2" } }, "\"usage\":null" },
	{ "used_since_and_more_pods", "",
		"\"seconds\":{\"cpu\":\"10\"},\"allocated\":{\"cpu\":\"2\"},\"time\":\"2026-11-21T13:46:00Z\"",
		{ { "Running", 40, "2" }, { "Running", 7, "1" } },
		"\"usage\":{\"seconds\":{\"cpu\":\"71\",\"memory\":\"7Gi\",\"pods\":\"7\"},\"allocated\":{\"cpu\":\"3\",\"memory\":\"2Gi\",\"pods\":\"2\"}," },
	{ "pod_has_ended", "",
		"\"seconds\":{\"cpu\":\"10\"},\"allocated\":{\"cpu\":\"3\",\"memory\":\"2Gi\"},\"time\":\"2026-11-21T13:46:00Z\"",
		{ { "Succeeded", 40, "2" }, { "Running", 40, "1" } },
		"\"usage\":{\"seconds\":{\"cpu\":\"91\",\"memory\":\"54Gi\"},\"allocated\":{\"cpu\":\"1\",\"memory\":\"1Gi\",\"pods\":\"1\"}," },
};

static void status_says_what_was_used(void **state)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_buf body = { 0 };

		assert_int_equal(teardown(state), 0);
		setup(state);
		put_running_job(rows[i].counts, rows[i].usage);
		for (int k = 0; k < 2; k++) {
			if (rows[i].pods[k].phase)
				put_pod(k, rows[i].pods[k].phase, rows[i].pods[k].bound, rows[i].pods[k].cpu);
		}
		assert_true(sync_key());
		assert_non_null(w.sync.plan.status);
		w.controller.encode_status(&w.sync, &body);
		if (!strstr(kar_buf_cstr(&body), rows[i].says))
			fail_msg("%s: no '%s' in '%s'", rows[i].name, rows[i].says, kar_buf_cstr(&body));
		kar_buf_release(&body);
	}
}

/* Time alone is no reason to write, but another amount is. */
static void status_is_written_when_the_amount_changes(void **state KAR_UNUSED)
{
	put_running_job("", "");
	put_pod(0, "Running", 7, "2");
	put_pod(1, "Running", 7, "1");
	assert_true(sync_key());
	store_status(w.stores.queuejobs, JOB_SPEC);
	assert_true(sync_key());
	assert_null(w.sync.plan.status);
	put_pod(1, "Running", 7, "4"); /* resized in place */
	assert_true(sync_key());
	assert_non_null(w.sync.plan.status);
	assert_true(w.sync.plan.counters);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(status_says_what_was_used, setup, teardown),
		cmocka_unit_test_setup_teardown(status_is_written_when_the_amount_changes, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
