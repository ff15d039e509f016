/* Scenario files: what they mean, and what is said of those that mean nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sim/scenario/scenario.h"
#include "sim/test/fixture/sim_value.h"

#define HEAD "apiVersion: kube-arbitrator.io/v1alpha1\nkind: Scenario\n"

static const struct {
	const char *name, *yaml, *said; /* causes and error, joined by "; " */
} broken[] = {
	{ "empty", "", "the file is empty" },
	{ "no_yaml", "a: [", "line 2, column 1" },
	{ "wrong_head", "apiVersion: v1\nkind: Pod\n",
		"apiVersion: Invalid value: want kube-arbitrator.io/v1alpha1; kind: Invalid value: want Scenario" },
	{ "list", "- a\n", ": Invalid value: want an object" },
	{ "unknown_field", HEAD "job: []\n", "job: Invalid value: unknown field" },
	{ "unknown_field_deep", HEAD "jobs: [{name: a, durations: 3m}]\n",
		"jobs[0].durations: Invalid value: unknown field" },
	{ "wrong_kind", HEAD "nodes: {}\n", "nodes: Invalid value: want an array, got an object" },
	{ "node_without_name", HEAD "nodes: [{count: 2}]\n",
		"nodes[0].name: Invalid value: a name is required" },
	{ "negative_count", HEAD "nodes: [{name: a, count: -1}]\n",
		"nodes[0].count: Invalid value: -1: want 0 to 100000" },
	{ "capacity_that_is_no_quantity", HEAD "nodes: [{name: a, capacity: {cpu: lots, memory: -1}}]\n",
		"nodes[0].capacity[cpu]: Invalid value: want a quantity such as 8, 500m or 64Gi; "
		"nodes[0].capacity[memory]: Invalid value: want a quantity such as 8, 500m or 64Gi" },
	{ "second_document", HEAD "---\n" HEAD, "the file has a second document: a scenario is one" },
	{ "time_that_is_a_list", HEAD "jobs: [{name: a, at: [1]}]\n",
		"jobs[0].at: Invalid value: want a duration such as 90s, 10m or 1h30m, got an array" },
	{ "bad_time", HEAD "jobs: [{name: a}, {name: b, at: soon}]\n",
		"jobs[1].at: Invalid value: \"soon\": want a duration such as 90s, 10m or 1h30m" },
	{ "bad_range", HEAD "jobs: [{name: a, duration: 5m-3m}]\n",
		"jobs[0].duration: Invalid value: want a duration or a range such as 20m-40m" },
	{ "bad_range_of_gaps", HEAD "jobs: [{name: a, every: 5m-}]\n",
		"jobs[0].every: Invalid value: want a duration or a range such as 20m-40m" },
	{ "range_of_pods_that_runs_backwards", HEAD "jobs: [{name: a, replicas: 4-3}]\n",
		"jobs[0].replicas: Invalid value: want a number or a range such as 1-8" },
	{ "range_of_pods_from_none", HEAD "jobs: [{name: a, replicas: 0-3}]\n",
		"jobs[0].replicas: Invalid value: want a number or a range such as 1-8" },
	{ "range_of_pods_without_an_end", HEAD "jobs: [{name: a, replicas: 4-5x}]\n",
		"jobs[0].replicas: Invalid value: want a number or a range such as 1-8" },
	{ "unknown_outcome", HEAD "jobs: [{name: a, outcome: succeeds}]\n",
		"jobs[0].outcome: Invalid value: want succeed, fail, run, pending, oom, hang, pull-error or evict" },
	{ "unknown_field_of_assume", HEAD "assume: {durations: 5m}\n",
		"assume.durations: Invalid value: unknown field" },
	{ "bad_time_of_assume", HEAD "assume: {duration: long}\n",
		"assume.duration: Invalid value: \"long\": want a duration" },
	{ "two_jobs_of_one_name", HEAD "jobs: [{name: a-0}, {name: a, count: 2}]\n",
		"jobs[1].name: Duplicate value: \"default/a-0\"" },
	{ "too_many_jobs", HEAD "jobs: [{name: a, count: 60000}, {name: b, count: 60000}]\n",
		"jobs[1].count: Invalid value: more than 100000 jobs" },
	{ "too_many_nodes", HEAD "nodes: [{name: a, count: 60000}, {name: b, count: 60000}]\n",
		"nodes[1].count: Invalid value: more than 100000 nodes" },
	{ "two_forms", HEAD "jobs: [{name: a, replicas: 2, spec: {}}]\n",
		"jobs[0].spec: Invalid value: replicas and requests are for jobs without a spec" },
	{ "event_without_action", HEAD "events: [{at: 1m}]\n",
		"events[0]: Invalid value: want exactly one of kill, recover, cordon, uncordon, drain, remove, delete, suspend, resume" },
	{ "object_without_kind", HEAD "objects: [{metadata: {name: a}}]\n",
		"objects[0]: Invalid value: apiVersion, kind and metadata.name are required" },
	{ "two_mistakes_are_both_told", HEAD "jobs: [{at: 1m}, {name: 7}]\n",
		"jobs[0].name: Invalid value: a name of at most 253 characters is required; "
		"jobs[1].name: Invalid value: want a string, got an integer" },
};

static void join(const struct sim_causes *causes, const struct kar_err *err, char *out, size_t size)
{
	size_t n = 0;

	out[0] = '\0';
	for (size_t i = 0; i < causes->n; i++)
		n += (size_t)snprintf(out + n, size - n, "%s%s: %s", n ? "; " : "", causes->items[i].field,
			causes->items[i].message);
	if (err->msg[0])
		snprintf(out + n, size - n, "%s%s", n ? "; " : "", err->msg);
}

static void what_is_wrong_is_said_with_its_place(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(broken); i++) {
		struct sim_scenario s;
		struct sim_causes causes = { 0 };
		struct kar_err err = { 0 };
		char said[2048];
		int rc = sim_scenario_parse(broken[i].yaml, strlen(broken[i].yaml), NULL, &s, &causes, &err);

		join(&causes, &err, said, sizeof(said));
		if (rc != -1 || !strstr(said, broken[i].said))
			fail_msg("%s: %d, said \"%s\"", broken[i].name, rc, said);
		sim_causes_release(&causes);
		sim_scenario_release(&s);
	}
}

static struct sim_scenario read_good(const char *yaml, const uint64_t *seed)
{
	struct sim_scenario s;
	struct sim_causes causes = { 0 };
	struct kar_err err = { 0 };
	char said[2048];

	if (sim_scenario_parse(yaml, strlen(yaml), seed, &s, &causes, &err)) {
		join(&causes, &err, said, sizeof(said));
		fail_msg("%s", said);
	}
	return s;
}

static void file_that_is_wrong_all_over_is_not_told_so_forever(void **state KAR_UNUSED)
{
	struct kar_buf yaml = { 0 };
	struct sim_scenario s;
	struct sim_causes causes = { 0 };
	struct kar_err err = { 0 };

	kar_buf_puts(&yaml, HEAD "jobs:\n");
	for (int i = 0; i < 1000; i++)
		kar_buf_printf(&yaml, "- {a: 1, b: 2}\n");
	assert_int_equal(sim_scenario_parse(yaml.p, yaml.n, NULL, &s, &causes, &err), -1);
	assert_int_equal(causes.n, 100);
	sim_causes_release(&causes);
	sim_scenario_release(&s);
	kar_buf_release(&yaml);
}

static const char *annotation(const struct sim_scenario *s, size_t job, const char *key)
{
	const struct sim_value *task = sim_item(sim_get(s->jobs[job].object, "spec", "taskSpecs"), 0);

	return sim_get_text(task, "template", "metadata", "annotations", key);
}

static void jobs_are_sorted_and_completed(void **state KAR_UNUSED)
{
	struct sim_scenario s = read_good(HEAD
		"jobs:\n"
		"- {name: late, at: 1h, spec: {queue: q, taskSpecs: [{name: w, template: {metadata: {annotations: "
		"{test.kube-arbitrator.io/outcome: hang}}}}]}}\n"
		"- {name: many, count: 2, every: 90s, duration: 5m, replicas: 3, requests: {cpu: 2}, minAvailable: 2}\n",
		NULL);

	assert_int_equal(s.n_jobs, 3);
	assert_string_equal(sim_get_text(s.jobs[0].object, "metadata", "name"), "many-0");
	assert_string_equal(sim_get_text(s.jobs[1].object, "metadata", "name"), "many-1");
	assert_int_equal(s.jobs[1].at, 90 * KAR_SECOND);
	assert_int_equal(sim_get_int(s.jobs[1].object, 0, "spec", "schedSpec", "minAvailable"), 2);
	assert_string_equal(annotation(&s, 0, "test.kube-arbitrator.io/after"), "300000ms");
	assert_string_equal(annotation(&s, 0, "test.kube-arbitrator.io/outcome"), "succeed");
	assert_string_equal(sim_get_text(s.jobs[2].object, "metadata", "name"), "late");
	assert_string_equal(annotation(&s, 2, "test.kube-arbitrator.io/outcome"), "hang");
	assert_null(annotation(&s, 2, "test.kube-arbitrator.io/after"));
	sim_scenario_release(&s);
}

static void ranges_are_drawn_from_the_seed(void **state KAR_UNUSED)
{
	const char yaml[] = HEAD "seed: 3\njobs: [{name: a, count: 20, duration: 1m-9m}]\n";
	const uint64_t three = 3, four = 4;
	struct sim_scenario a = read_good(yaml, NULL), b = read_good(yaml, &three),
			    c = read_good(yaml, &four);
	int different = 0;

	for (size_t i = 0; i < 20; i++) {
		const char *key = "test.kube-arbitrator.io/after";

		assert_string_equal(annotation(&a, i, key), annotation(&b, i, key));
		different += strcmp(annotation(&a, i, key), annotation(&c, i, key)) != 0;
	}
	assert_true(different > 15);
	sim_scenario_release(&a);
	sim_scenario_release(&b);
	sim_scenario_release(&c);
}

static int64_t replicas(const struct sim_scenario *s, size_t job)
{
	return sim_get_int(sim_item(sim_get(s->jobs[job].object, "spec", "taskSpecs"), 0), 0, "replicas");
}

static void times_between_jobs_and_numbers_of_pods_are_drawn(void **state KAR_UNUSED)
{
	const char yaml[] =
		HEAD "jobs: [{name: a, at: 1h, count: 50, every: 1m-9m, replicas: 2-5, duration: 1m-9m}]\n",
		   plain[] = HEAD "jobs: [{name: a, count: 50, duration: 1m-9m}]\n";
	const char *key = "test.kube-arbitrator.io/after";
	struct sim_scenario a = read_good(yaml, NULL), b = read_good(yaml, NULL), c = read_good(plain, NULL);
	int64_t fewest = 5, most = 2;
	kar_time shortest = 9 * KAR_MINUTE, longest = KAR_MINUTE;

	assert_int_equal(a.jobs[0].at, 60 * KAR_MINUTE);
	for (size_t i = 0; i < 50; i++) {
		int64_t n = replicas(&a, i);
		kar_time gap = i ? a.jobs[i].at - a.jobs[i - 1].at : shortest;

		assert_int_equal(a.jobs[i].at, b.jobs[i].at);
		assert_int_equal(n, replicas(&b, i));
		assert_string_equal(annotation(&a, i, key),
			annotation(&c, i, key)); /* each draws for itself */
		assert_true(n >= 2 && n <= 5 && gap >= KAR_MINUTE && gap <= 9 * KAR_MINUTE);
		fewest = n < fewest ? n : fewest;
		most = n > most ? n : most;
		shortest = gap < shortest ? gap : shortest;
		longest = gap > longest ? gap : longest;
	}
	assert_true(fewest == 2 && most == 5 && shortest < 2 * KAR_MINUTE && longest > 8 * KAR_MINUTE);
	sim_scenario_release(&a);
	sim_scenario_release(&b);
	sim_scenario_release(&c);
}

static void events_are_sorted_and_name_their_object(void **state KAR_UNUSED)
{
	struct sim_scenario s = read_good(HEAD
		"events: [{at: 2m, suspend: train}, {at: 1m, kill: n-0}, {at: 3m, delete: a/b}]\n",
		NULL);

	assert_int_equal(s.n_events, 3);
	assert_int_equal(s.events[0].what, SIM_SCENARIO_KILL);
	assert_string_equal(s.events[0].name, "n-0");
	assert_string_equal(s.events[1].name, "default/train");
	assert_string_equal(s.events[2].name, "a/b");
	sim_scenario_release(&s);
}

/* One list of a cluster. */
static struct sim_value *lists_of(const char *kind, const char *items)
{
	struct sim_value *lists = sim_object();

	sim_set(&lists, parse(items), kind);
	return lists;
}

static struct sim_scenario merge(const char *yaml, const char *kind, const char *items)
{
	struct sim_scenario s = read_good(yaml, NULL);
	struct sim_value *lists = lists_of(kind, items);

	sim_scenario_merge(&s, lists);
	sim_unref(lists);
	return s;
}

static void objects_of_the_file_win_over_the_cluster(void **state KAR_UNUSED)
{
	struct sim_scenario s = merge(HEAD "queues: [{name: research, spec: {maxJobs: 9}}]\n", "Queue",
		"[{\"metadata\":{\"name\":\"research\"},\"spec\":{\"maxJobs\":1}},{\"metadata\":{\"name\":\"system-q\",\"uid\":\"u\"},\"spec\":{}}]");

	assert_int_equal(sim_count(s.objects), 2);
	assert_string_equal(sim_get_text(sim_item(s.objects, 0), "metadata", "name"), "system-q");
	assert_null(sim_get(sim_item(s.objects, 0), "metadata", "uid"));
	assert_int_equal(sim_get_int(sim_item(s.objects, 1), 0, "spec", "maxJobs"), 9);
	sim_scenario_release(&s);
}

static void built_in_priority_classes_are_left_out(void **state KAR_UNUSED)
{
	struct sim_scenario s = merge(HEAD, "PriorityClass",
		"[{\"metadata\":{\"name\":\"system-node-critical\"},\"value\":1},{\"metadata\":{\"name\":\"high\"},\"value\":5}]");

	assert_int_equal(sim_count(s.objects), 1);
	assert_int_equal(sim_get_int(sim_item(s.objects, 0), 0, "value"), 5);
	sim_scenario_release(&s);
}

static void nodes_of_the_cluster_come_in_the_state_they_are_in(void **state KAR_UNUSED)
{
	struct sim_scenario s = merge(HEAD "nodes: [{name: n, count: 2, capacity: {cpu: 9}}]\n", "Node",
		"[{\"metadata\":{\"name\":\"a\"},\"spec\":{\"unschedulable\":true,\"taints\":[{\"key\":\"node.kubernetes.io/unschedulable\"},{\"key\":\"gpu\"}]},"
		"\"status\":{\"allocatable\":{\"cpu\":\"4\"}}},"
		"{\"metadata\":{\"name\":\"b\"},\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"Unknown\"}]}},"
		"{\"metadata\":{\"name\":\"c\"},\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}},"
		"{\"metadata\":{\"name\":\"n-1\"}}]");

	assert_int_equal(s.n_pools, 4);
	assert_true(s.pools[0].cordoned);
	assert_string_equal(sim_get_text(s.pools[0].capacity, "cpu"), "4");
	assert_int_equal(sim_count(s.pools[0].taints), 1);
	assert_string_equal(sim_get_text(sim_item(s.pools[0].taints, 0), "key"), "gpu");
	assert_true(s.pools[1].cordoned);
	assert_false(s.pools[2].cordoned);
	assert_string_equal(s.pools[3].name, "n"); /* n-1 of the file wins */
	sim_scenario_release(&s);
}

#define JOB(name, age, status) \
	"{\"metadata\":{\"namespace\":\"default\",\"name\":\"" name \
	"\",\"creationTimestamp\":\"2026-01-0" age "T00:00:00Z\"},\"spec\":{},\"status\":{" status "}}"

static void jobs_of_the_cluster_come_in_the_order_in_which_they_wait(void **state KAR_UNUSED)
{
	static const char *const names[] = { "running", "file", "second", "young", "third", "late" };
	static const int seconds[] = { 0, 0, 1, 2, 3, 3600 };
	struct sim_scenario s = merge(HEAD "jobs: [{name: file}, {name: late, at: 1h}]\n", "QueueJob",
		"[" JOB("third", "1", "\"phase\":\"Pending\",\"position\":3") "," JOB("young", "4",
			"\"phase\":\"Pending\",\"position\":2") "," JOB("second", "3",
			"\"position\":2") "," JOB("running", "5", "\"phase\":\"Running\"") "," JOB("file",
			"1", "") "," JOB("done", "1", "\"phase\":\"Completed\"") "]");

	assert_int_equal(s.n_jobs, KAR_LEN(names));
	for (size_t i = 0; i < s.n_jobs; i++) {
		assert_string_equal(sim_get_text(s.jobs[i].object, "metadata", "name"), names[i]);
		assert_int_equal(s.jobs[i].at, seconds[i] * KAR_SECOND);
	}
	assert_null(sim_get(s.jobs[0].object, "status"));
	sim_scenario_release(&s);
}

static void many_waiting_jobs_come_within_a_minute(void **state KAR_UNUSED)
{
	enum { JOBS = 600 };
	struct kar_buf items = { 0 };
	struct sim_scenario s;

	for (int i = 0; i < JOBS; i++)
		kar_buf_printf(&items,
			"%c{\"metadata\":{\"namespace\":\"d\",\"name\":\"j%d\"},\"spec\":{},\"status\":{\"position\":%d}}",
			i ? ',' : '[', i, JOBS - i);
	kar_buf_puts(&items, "]");
	s = merge(HEAD, "QueueJob", kar_buf_cstr(&items));
	assert_int_equal(s.n_jobs, JOBS);
	assert_int_equal(s.jobs[0].at, KAR_SECOND);
	assert_string_equal(sim_get_text(s.jobs[0].object, "metadata", "name"), "j599");
	assert_int_equal(s.jobs[JOBS - 1].at, KAR_MINUTE);
	sim_scenario_release(&s);
	kar_buf_release(&items);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_wrong_is_said_with_its_place),
		cmocka_unit_test(jobs_are_sorted_and_completed),
		cmocka_unit_test(ranges_are_drawn_from_the_seed),
		cmocka_unit_test(times_between_jobs_and_numbers_of_pods_are_drawn),
		cmocka_unit_test(events_are_sorted_and_name_their_object),
		cmocka_unit_test(file_that_is_wrong_all_over_is_not_told_so_forever),
		cmocka_unit_test(objects_of_the_file_win_over_the_cluster),
		cmocka_unit_test(built_in_priority_classes_are_left_out),
		cmocka_unit_test(nodes_of_the_cluster_come_in_the_state_they_are_in),
		cmocka_unit_test(jobs_of_the_cluster_come_in_the_order_in_which_they_wait),
		cmocka_unit_test(many_waiting_jobs_come_within_a_minute),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
