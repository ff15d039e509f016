/* What is recorded of a cluster that is changed by hand, and what the tables make of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sim/scenario/shares.h"
#include "sim/test/fixture/sim_value.h"
#include "sim/test/unit/sim_record_world.h"

static void jobs_pods_and_nodes_are_recorded(void **state KAR_UNUSED)
{
	struct world w;
	const struct sim_job_record *a, *b, *c;
	const struct sim_pod_record *p;

	set_up(&w);
	play(&w);
	assert_int_equal(w.r.n_jobs, 4);
	a = &w.r.jobs[0];
	b = &w.r.jobs[1];
	c = &w.r.jobs[2];
	assert_int_equal(a->pods, 3);
	assert_int_equal(a->admitted, 10 * KAR_SECOND);
	assert_int_equal(a->running, RUNS * KAR_SECOND);
	assert_int_equal(a->ended, DONE * KAR_SECOND);
	assert_string_equal(a->waited_for, "1st of 1 in queue q: maxJobs 1 reached");
	assert_int_equal(a->n_stretches, 3);
	assert_string_equal(a->stretches[1].phase, "Starting");
	assert_int_equal(a->stretches[1].from, 10 * KAR_SECOND);
	assert_int_equal(a->stretches[1].to, RUNS * KAR_SECOND);
	assert_int_equal(b->submitted, 20 * KAR_SECOND);
	assert_int_equal(b->running, KAR_NEVER);
	assert_int_equal(c->deleted, 40 * KAR_SECOND);
	assert_string_equal(c->waited_for, "there is no such queue");
	assert_int_equal(w.r.n_pods, 1);
	p = &w.r.pods[0];
	assert_int_equal(p->job, 0);
	assert_int_equal(p->bound, BOUND * KAR_SECOND);
	assert_int_equal(p->started, RUNS * KAR_SECOND);
	assert_int_equal(p->ended, DONE * KAR_SECOND);
	assert_int_equal(sim_record_pod_share(&w.r, p), 500); /* 4 of 8 Gi, which is more than 1 of 4 CPUs */
	assert_int_equal(sim_record_node_use(&w.r, 0, "cpu"), 153); /* 61 s of one CPU, 100 s of four */
	assert_int_equal(sim_record_use(&w.r, "memory"), 305);
	assert_int_equal(sim_record_use(&w.r, "example.com/gpu"), -1);
	assert_int_equal(w.r.nodes[0].n_down, 1);
	assert_string_equal(w.r.nodes[0].down[0].phase, "Cordoned");
	assert_int_equal(w.r.nodes[0].down[0].from, DOWN * KAR_SECOND);
	assert_int_equal(w.r.nodes[0].down[0].to, END * KAR_SECOND);
	tear_down(&w);
}

static void expect_row(const double *row, const int *thousandths, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal((int)(row[i] * 1000 + 0.5), thousandths[i]);
}

/* Two nodes of 4, of which the second comes at 20 s. b of queue q runs from 5 s to 15 s; d of queue p waits for 8 from 10 s to the end. */
static void queues_have_shares_over_time(void **state KAR_UNUSED)
{
	struct sim_value *four = parse("{\"cpu\":\"4\"}"), *two = parse("{\"cpu\":\"2\"}");
	struct sim_node_record nodes[] = { { .removed = KAR_NEVER, .allocatable = four },
		{ .added = 20 * KAR_SECOND, .removed = KAR_NEVER, .allocatable = four } };
	struct sim_stretch runs = { "Running", "", 5 * KAR_SECOND, 15 * KAR_SECOND },
			   waits = { "Pending", "", 10 * KAR_SECOND, KAR_NEVER };
	struct sim_job_record jobs[] = {
		{ .queue = "q", .stretches = &runs, .n_stretches = 1, .milli_cpu = 2000 },
		{ .queue = "p", .stretches = &waits, .n_stretches = 1, .milli_cpu = 8000 },
	};
	struct sim_pod_record pod = { .bound = 5 * KAR_SECOND, .ended = 15 * KAR_SECOND, .requests = two };
	const struct sim_record r = { .end = 39 * KAR_SECOND,
		.jobs = jobs,
		.n_jobs = 2,
		.pods = &pod,
		.n_pods = 1,
		.nodes = nodes,
		.n_nodes = 2 };
	struct sim_shares s;

	sim_shares_of(&r, SIZE_MAX, 10 * KAR_SECOND, &s);
	assert_int_equal(s.n_queues, 2);
	assert_int_equal(s.n_steps, 4);
	assert_string_equal(s.queues[1], "p");
	expect_row(s.used, (int[]){ 250, 250, 0, 0 }, 4);
	expect_row(s.used + 4, (int[]){ 0, 0, 0, 0 }, 4);
	expect_row(s.asked + 4, (int[]){ 0, 2000, 1000, 1000 }, 4); /* the last step is shorter */
	sim_shares_release(&s);
	sim_shares_of(&r, 1, 10 * KAR_SECOND, &s);
	expect_row(s.used, (int[]){ 0, 0, 0, 0 }, 4);
	expect_row(s.asked + 4, (int[]){ 0, 0, 0, 0 }, 4);
	sim_shares_release(&s);
	sim_unref(four);
	sim_unref(two);
}

static void summary_counts_every_job_once(void **state KAR_UNUSED)
{
	struct sim_summary s;
	struct world w;

	set_up(&w);
	play(&w);
	s = sim_record_summary(&w.r);
	assert_int_equal(s.completed, 1);
	assert_int_equal(s.failed, 1);
	assert_int_equal(s.deleted, 1);
	assert_int_equal(s.waiting, 1);
	assert_int_equal(s.running, 0);
	assert_int_equal(s.wait_mean, RUNS * KAR_SECOND);
	assert_int_equal(s.makespan, KAR_NEVER);
	assert_int_equal(s.cpu_use, 153);
	tear_down(&w);
}

static void waits_are_summed_up(void **state KAR_UNUSED)
{
	struct sim_summary s;
	struct world w;
	char name[8];

	set_up(&w);
	s = sim_record_summary(&w.r);
	assert_int_equal(s.wait_mean, KAR_NEVER);
	assert_int_equal(s.wait_p90, KAR_NEVER);
	for (int i = 1; i <= 10; i++) {
		snprintf(name, sizeof(name), "j%d", i);
		submit(&w, name, 1);
	}
	for (int i = 1; i <= 10; i++) { /* the one that waits longest is not the last of the list */
		at(&w, i);
		snprintf(name, sizeof(name), "j%d", i % 10 + 1);
		tell(&w, name, "Running", "", "");
	}
	at(&w, 20);
	for (int i = 1; i <= 10; i++) {
		snprintf(name, sizeof(name), "j%d", i);
		tell(&w, name, "Completed", "", "");
	}
	at(&w, END);
	sim_record_close(&w.r);
	s = sim_record_summary(&w.r);
	assert_int_equal(s.wait_mean, 5500);
	assert_int_equal(s.wait_p50, 5500);
	assert_int_equal(s.wait_p90, 9000); /* nine of the ten waited 9 s or less */
	assert_int_equal(s.wait_max, 10000);
	assert_int_equal(s.makespan, 20000);
	tear_down(&w);
}

static void job_that_comes_again_under_its_name_is_another(void **state KAR_UNUSED)
{
	struct world w;

	set_up(&w);
	submit(&w, "a", 1);
	at(&w, 2);
	tell(&w, "a", "Completed", "", ""); /* too quick to be seen running */
	at(&w, 5);
	remove_job(&w, "a");
	at(&w, 7);
	submit(&w, "a", 2);
	at(&w, 9);
	tell(&w, "a", "Failed", "", "");
	sim_record_close(&w.r);
	assert_int_equal(w.r.n_jobs, 2);
	assert_int_equal(w.r.n_ended, 2);
	assert_string_equal(w.r.jobs[0].phase, "Completed");
	assert_int_equal(w.r.jobs[0].running, 2 * KAR_SECOND);
	assert_int_equal(w.r.jobs[0].deleted, 5 * KAR_SECOND);
	assert_int_equal(w.r.jobs[1].submitted, 7 * KAR_SECOND);
	assert_int_equal(w.r.jobs[1].deleted, KAR_NEVER);
	assert_string_equal(w.r.jobs[1].phase, "Failed");
	tear_down(&w);
}

static void unschedulable_job_waits_for_what_the_scheduler_says(void **state KAR_UNUSED)
{
	struct world w;

	set_up(&w);
	submit(&w, "a", 1);
	call(&w, KAR_CREATE, "-/v1/pods/default/a-w-0", NULL,
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a-w-0\",\"labels\":{\"kube-arbitrator.io/queuejob\":\"a\"}},"
		"\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}");
	call(&w, KAR_PATCH, "-/v1/pods/default/a-w-0", "status",
		"{\"status\":{\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\",\"reason\":\"Unschedulable\",\"message\":\"0/2 nodes\"}]}}");
	tell(&w, "a", "Starting", "Unschedulable",
		"pods wait for a node that fits; see the conditions of podgroup a");
	at(&w, 3);
	sim_record_close(&w.r);
	assert_string_equal(w.r.jobs[0].waited_for, "0/2 nodes");
	tear_down(&w);
}

static void table_has_a_row_per_job_and_node(void **state KAR_UNUSED)
{
	static const char *const lines[] = {
		"4 jobs in 1m40s: 1 completed, 1 failed, 0 running, 1 waiting, 1 deleted; 0 gang restarts\n",
		"waited for the first run: mean 12s, median 12s, nine in ten <= 12s, longest 12s\ncpu in use: 15.3%\n",
		"\nJOB         QUEUE   PODS   SUBMITTED   WAITED   RAN   LOST   ENDED   RESTARTS   RESULT              WAITED FOR\n",
		"\ndefault/a   q       3      0s          12s      1m    0s     1m12s   0          Completed           1st of 1 in queue q: maxJobs 1 reached\n",
		"\ndefault/b   q       1      20s         30s      -     -      50s     0          Failed              \n",
		"\ndefault/c   q       1      20s         20s      -     -      -       0          Pending (deleted)   there is no such queue\n",
		"\ndefault/d   q       1      1m30s       10s      -     -      -       0          Pending             \n",
		"\nNODE   PODS   CPU USED   MEMORY USED\nn1     1      15.3%      30.5%\n",
	};
	struct kar_buf out = { 0 };
	struct world w;

	set_up(&w);
	play(&w);
	sim_report_table(&w.r, &out);
	for (size_t i = 0; i < KAR_LEN(lines); i++) {
		if (!strstr(kar_buf_cstr(&out), lines[i]))
			fail_msg("no line %s in\n%s", lines[i], kar_buf_cstr(&out));
	}
	kar_buf_release(&out);
	tear_down(&w);
}

static void lost_time_is_what_did_not_run_after_the_first_run(void **state KAR_UNUSED)
{
	struct kar_buf out = { 0 };
	struct world w;

	set_up(&w);
	play_losses(&w);
	assert_int_equal(sim_record_lost(&w.r, &w.r.jobs[0]), 11 * KAR_SECOND);
	sim_report_json(&w.r, &out);
	assert_non_null(strstr(kar_buf_cstr(&out), "\"lost\":11"));
	assert_non_null(strstr(kar_buf_cstr(&out),
		"{\"phase\":\"Restarting\",\"reason\":\"PodFailed\",\"from\":15,\"to\":16}"));
	kar_buf_release(&out);
	tear_down(&w);
}

static void request(struct world *w, enum kar_verb verb, const char *resource, const char *subresource,
	bool dry_run)
{
	const struct sim_request rq = { .verb = verb,
		.resource = resource,
		.subresource = subresource,
		.dry_run = dry_run };

	sim_record_request(&w->r, &rq);
}

static void admission_is_what_the_group_of_the_job_says(void **state KAR_UNUSED)
{
	struct world w;
	char body[512];

	set_up(&w);
	submit(&w, "a", 1);
	snprintf(body, sizeof(body),
		"{\"apiVersion\":\"scheduling.x-k8s.io/v1alpha1\",\"kind\":\"PodGroup\",\"metadata\":{\"name\":\"a\",\"ownerReferences\":"
		"[{\"apiVersion\":\"kube-arbitrator.io/v1alpha1\",\"kind\":\"QueueJob\",\"name\":\"a\",\"uid\":\"%s\"}]},\"spec\":{\"minMember\":1}}",
		sim_text_or(sim_get(sim_apiserver_peek(w.s, "kube-arbitrator.io", "queuejobs", "default",
					    "a"),
				    "metadata", "uid"),
			""));
	call(&w, KAR_CREATE, "scheduling.x-k8s.io/v1alpha1/podgroups/default/a", NULL, body);
	at(&w, 2);
	call(&w, KAR_PATCH, "scheduling.x-k8s.io/v1alpha1/podgroups/default/a", "status",
		"{\"status\":{\"conditions\":[{\"type\":\"Admitted\",\"status\":\"False\",\"reason\":\"R\",\"message\":\"\",\"lastTransitionTime\":\"2027-01-15T08:00:00Z\"}]}}");
	assert_int_equal(w.r.jobs[0].admitted, KAR_NEVER);
	at(&w, 3);
	call(&w, KAR_PATCH, "scheduling.x-k8s.io/v1alpha1/podgroups/default/a", "status",
		"{\"status\":{\"conditions\":[{\"type\":\"Admitted\",\"status\":\"True\",\"reason\":\"R\",\"message\":\"\",\"lastTransitionTime\":\"2027-01-15T08:00:00Z\"}]}}");
	at(&w, 4);
	tell(&w, "a", "Starting", "", "");
	assert_int_equal(w.r.jobs[0].admitted, 3 * KAR_SECOND);
	tear_down(&w);
}

static void writes_are_counted_by_kind(void **state KAR_UNUSED)
{
	struct kar_buf out = { 0 };
	struct world w;

	set_up(&w);
	request(&w, KAR_CREATE, "pods", NULL, true);
	request(&w, KAR_PATCH, "podgroups", "status", false);
	request(&w, KAR_WATCH, "pods", NULL, false);
	request(&w, KAR_CREATE, "pods", NULL, false);
	request(&w, KAR_PATCH, "podgroups", "status", false);
	sim_record_close(&w.r);
	sim_report_json(&w.r, &out);
	assert_non_null(strstr(kar_buf_cstr(&out),
		"\"writes\":{\"create pods (dry run)\":1,\"patch podgroups/status\":2,\"create pods\":1}"));
	kar_buf_release(&out);
	tear_down(&w);
}

static void check_json(const struct sim_value *v)
{
	const struct sim_value *a = sim_item(sim_member(v, "jobs"), 0),
			       *b = sim_item(sim_member(v, "jobs"), 1),
			       *pod = sim_item(sim_member(v, "pods"), 0),
			       *node = sim_item(sim_member(v, "nodes"), 0);

	assert_int_equal(sim_get_int(v, -1, "summary", "simulated"), END);
	assert_int_equal(sim_get_int(v, -1, "summary", "deleted"), 1);
	assert_int_equal(sim_kind(sim_get(v, "summary", "makespan")), SIM_NULL);
	assert_true(sim_number_of(sim_get(v, "summary", "cpuUsed"), -1) == 0.153);
	assert_int_equal(sim_count(sim_member(v, "jobs")), 4);
	assert_int_equal(sim_get_int(a, -1, "running"), RUNS);
	assert_int_equal(sim_get_int(a, -1, "ended"), DONE);
	assert_int_equal(sim_get_int(sim_item(sim_member(a, "phases"), 2), -1, "from"), RUNS);
	assert_int_equal(sim_kind(sim_member(b, "running")), SIM_NULL);
	assert_string_equal(sim_get_text(pod, "job"), "a");
	assert_string_equal(sim_get_text(pod, "requests", "cpu"), "1");
	assert_true(sim_number_of(sim_get(node, "used", "memory"), -1) == 0.305);
	assert_string_equal(sim_get_text(sim_item(sim_member(node, "down"), 0), "phase"), "Cordoned");
}

static void json_says_the_same(void **state KAR_UNUSED)
{
	struct kar_buf out = { 0 };
	struct kar_err err = { 0 };
	struct sim_value *v;
	struct world w;

	set_up(&w);
	play(&w);
	sim_report_json(&w.r, &out);
	v = sim_parse(out.p, out.n, &err);
	if (!v)
		fail_msg("%s in %s", err.msg, kar_buf_cstr(&out));
	check_json(v);
	sim_unref(v);
	kar_buf_release(&out);
	tear_down(&w);
}

/* The end of one that is deleted is no failure. */
static void stopped_pods_have_not_failed(void **state KAR_UNUSED)
{
	static const char pod[] =
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\",\"finalizers\":[\"x.y/z\"]},"
		"\"spec\":{\"nodeName\":\"n1\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}";
	char path[64], body[256];
	struct world w;

	set_up(&w);
	add_node(&w, "n1");
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "-/v1/pods/default/p%d", i);
		snprintf(body, sizeof(body), pod, strrchr(path, '/') + 1);
		call(&w, KAR_CREATE, path, NULL, body);
		if (i)
			call(&w, KAR_DELETE, path, NULL, NULL);
		call(&w, KAR_PATCH, path, "status", "{\"status\":{\"phase\":\"Failed\"}}");
	}
	sim_record_close(&w.r);
	assert_int_equal(w.r.n_pods, 2);
	assert_true(w.r.pods[0].failed);
	assert_false(w.r.pods[1].failed);
	tear_down(&w);
}

static void empty_record_is_reported(void **state KAR_UNUSED)
{
	struct kar_buf out = { 0 };
	struct world w;

	set_up(&w);
	sim_record_close(&w.r);
	sim_report_table(&w.r, &out);
	assert_non_null(strstr(kar_buf_cstr(&out), "0 jobs in 0s: 0 completed"));
	assert_non_null(strstr(kar_buf_cstr(&out), "mean -, median -"));
	kar_buf_release(&out);
	tear_down(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_pods_and_nodes_are_recorded),
		cmocka_unit_test(queues_have_shares_over_time),
		cmocka_unit_test(summary_counts_every_job_once),
		cmocka_unit_test(waits_are_summed_up),
		cmocka_unit_test(job_that_comes_again_under_its_name_is_another),
		cmocka_unit_test(unschedulable_job_waits_for_what_the_scheduler_says),
		cmocka_unit_test(table_has_a_row_per_job_and_node),
		cmocka_unit_test(admission_is_what_the_group_of_the_job_says),
		cmocka_unit_test(writes_are_counted_by_kind),
		cmocka_unit_test(json_says_the_same),
		cmocka_unit_test(lost_time_is_what_did_not_run_after_the_first_run),
		cmocka_unit_test(stopped_pods_have_not_failed),
		cmocka_unit_test(empty_record_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
