/* Scenarios played: the real manager in a simulated cluster. What becomes of the jobs is told in one line each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/log.h"
#include "sim/crds.h"
#include "sim/scenario/report.h"
#include "sim/scenario/run.h"

#define HEAD "apiVersion: kube-arbitrator.io/v1alpha1\nkind: Scenario\n"
#define NODES HEAD "nodes: [{name: n, count: 2, capacity: {cpu: 4}}]\n"

/* Priority 0. */
#define PENDING_POD \
	"objects: [{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {schedulerName: nobody, " \
	"containers: [{name: c, image: i, resources: {requests: {cpu: 3}}}]}}]\n"

enum { MINUTES = 24 /* bytes of a number of minutes */ };

static void parse(const char *yaml, struct sim_scenario *s)
{
	struct sim_causes causes = { 0 };
	struct kar_err err = { 0 };

	if (sim_scenario_parse(yaml, strlen(yaml), NULL, s, &causes, &err))
		fail_msg("%s%s in\n%s", causes.n ? causes.items[0].message : "", err.msg, yaml);
}

static int play(const char *yaml, struct sim_record *r, struct kar_err *err)
{
	const struct sim_run_options o = { .crds = sim_crds_folder() };
	struct sim_scenario s;
	int rc;

	parse(yaml, &s);
	rc = sim_run(&s, &o, r, err);
	sim_scenario_release(&s);
	return rc;
}

/* Whole minutes: the seconds that schedulers and kubelets take are drawn. */
static const char *minutes(kar_time from, kar_time to, char out[MINUTES])
{
	if (from == KAR_NEVER || to == KAR_NEVER)
		snprintf(out, MINUTES, "-");
	else
		snprintf(out, MINUTES, "%lldm", (long long)((to - from + KAR_MINUTE / 2) / KAR_MINUTE));
	return out;
}

/* "a Completed waited 0m ran 10m restarts 0; ..." */
static void tell(const struct sim_record *r, struct kar_buf *out)
{
	for (size_t i = 0; i < r->n_jobs; i++) {
		const struct sim_job_record *j = &r->jobs[i];
		char waited[MINUTES], ran[MINUTES];

		kar_buf_printf(out, "%s%s %s%s waited %s ran %s restarts %lld", i ? "; " : "", j->name,
			j->phase, j->deleted == KAR_NEVER ? "" : " deleted",
			minutes(j->submitted, j->running, waited), minutes(j->running, j->ended, ran),
			(long long)j->restarts);
		if (j->waited_for[0])
			kar_buf_printf(out, " for: %s", j->waited_for);
	}
}

static const struct {
	const char *name, *yaml, *told;
	int64_t minutes; /* that the run took */
} stories[] = {
	{ "job_alone_runs_at_once", NODES "jobs: [{name: a, duration: 10m}]\n",
		"a Completed waited 0m ran 10m restarts 0", 10 },
	{ "max_jobs_2_makes_the_third_wait",
		NODES
		"queues: [{name: q, spec: {maxJobs: 2}}]\njobs: [{name: a, queue: q, count: 3, every: 1m, duration: 10m}]\n",
		"a-0 Completed waited 0m ran 10m restarts 0; a-1 Completed waited 0m ran 10m restarts 0; a-2 Completed waited 8m ran 10m "
		"restarts 0 for: queue q has 2 of 2 jobs; 1st of 1 in queue q",
		20 },
	{ "reservation_ends_if_nothing_comes_free_for_it",
		NODES
		"jobs: [{name: long, duration: 2h, requests: {cpu: 1}}, {name: large, at: 1m, duration: 1m, replicas: 2, requests: {cpu: 4}}, "
		"{name: small, at: 7m, count: 2, every: 12m, duration: 2m, requests: {cpu: 1}}]\n",
		"long Completed waited 0m ran 120m restarts 0; large Completed waited 119m ran 1m restarts 0 for: insufficient cpu: 8 requested, 7 of 8 free (1 short); 1st of 1 in queue default; "
		"small-0 Completed waited 9m ran 2m restarts 0 for: insufficient cpu: 1 requested, 0 of 8 free (1 short), 7 held for default/large, which waits since 2026-01-01T00:01:10Z; 2nd of 2 in queue default; "
		"small-1 Completed waited 0m ran 2m restarts 0",
		121 },
	{ "two_tasks_of_one_name_are_invalid",
		NODES
		"jobs: [{name: a, spec: {taskSpecs: [{name: w, template: {spec: {containers: [{name: c, image: i}]}}}, "
		"{name: w, template: {spec: {containers: [{name: c, image: i}]}}}]}}]\nuntil: 10m\n",
		"a Pending waited - ran - restarts 0 for: two tasks have the name w", 10 },
	{ "nobody_is_evicted_for_a_template_that_is_refused",
		HEAD
		"nodes: [{name: n, capacity: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 8}}]\n"
		"queues: [{name: lab, spec: {}}, {name: studio, spec: {deserved: {cpu: 8, nvidia.com/gpu: 8}}}]\n"
		"jobs: [{name: a, queue: lab, duration: 50m, replicas: 8, requests: {cpu: 1}}, "
		"{name: bad, queue: studio, at: 10m, spec: {taskSpecs: [{name: main, replicas: 2, template: {spec: {containers: [{name: main, image: i,"
		" resources: {requests: {cpu: 4, nvidia.com/gpu: 1}}}]}}}]}}]\nuntil: 1h\n",
		"a Completed waited 0m ran 50m restarts 0; bad Pending waited - ran - restarts 0 for: task main: Pod \"bad-main-0\" is "
		"invalid: spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources",
		60 },
	{ "devices_of_the_short_form_are_limited_by_what_is_asked",
		HEAD "nodes: [{name: n, capacity: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 8}}]\n"
		     "jobs: [{name: a, replicas: 2, requests: {cpu: 4, nvidia.com/gpu: 4}}]\n",
		"a Completed waited 0m ran 10m restarts 0", 10 },
	{ "higher_priority_goes_first",
		NODES
		"queues: [{name: q, spec: {maxJobs: 1}}]\njobs: [{name: a, queue: q}, {name: low, at: 1m, queue: q}, "
		"{name: high, at: 2m, queue: q, priority: 5}]\n",
		"a Completed waited 0m ran 10m restarts 0; low Completed waited 19m ran 10m restarts 0 for: queue q has 1 of 1 jobs; 1st of 1 in queue q; high Completed waited 8m ran 10m restarts 0 for: queue q has 1 of 1 jobs; 1st of 2 in queue q",
		30 },
	{ "lost_node_restarts_the_whole_gang",
		NODES "jobs: [{name: a, duration: 20m, replicas: 2, requests: {cpu: 3}}]\n"
		      "events: [{at: 10m, kill: n-0}, {at: 30m, recover: n-0}]\n",
		"a Completed waited 0m ran 50m restarts 1", 50 },
	{ "drained_node_restarts_the_whole_gang",
		NODES
		"jobs: [{name: a, duration: 20m, replicas: 2, requests: {cpu: 1}}]\nevents: [{at: 10m, drain: n-0}]\n",
		"a Completed waited 0m ran 30m restarts 1", 30 },
	{ "elastic_job_goes_on_without_a_restart",
		HEAD
		"nodes: [{name: n, count: 3, capacity: {cpu: 4}}]\n"
		"jobs: [{name: a, duration: 20m, replicas: 2, minAvailable: 1, requests: {cpu: 3}}]\nevents: [{at: 10m, drain: n-0}]\n",
		"a Completed waited 0m ran 30m restarts 0", 30 },
	{ "no_capacity_is_held_in_vain_for_pods_that_the_job_keeps",
		HEAD
		"nodes: [{name: n, count: 2, capacity: {cpu: 4}}]\njobs:\n- name: trap\n  spec:\n    schedSpec: {minAvailable: 1}\n    taskSpecs:\n"
		"    - {name: a, replicas: 1, template: {metadata: {annotations: {test.kube-arbitrator.io/outcome: run}}, spec: {containers: [{name: m, image: x, resources: {requests: {cpu: 1}}}], nodeSelector: {kubernetes.io/hostname: n-0}}}}\n"
		"    - {name: b, replicas: 2, template: {metadata: {annotations: {test.kube-arbitrator.io/outcome: succeed, test.kube-arbitrator.io/after: 15s}}, spec: {containers: [{name: m, image: x, resources: {requests: {cpu: 1}}}]}}}\n"
		"    - {name: c, replicas: 3, minAvailable: 2, dependsOn: [{name: a, status: Succeeded}, {name: b}], template: {metadata: {annotations: {test.kube-arbitrator.io/outcome: run}}, spec: {containers: [{name: m, image: x}], nodeSelector: {kubernetes.io/hostname: n-1}}}}\n"
		"- {name: big, at: 5m, replicas: 2, requests: {cpu: 4}}\n- {name: small, at: 6m, duration: 1m, replicas: 1, requests: {cpu: 3}}\nuntil: 20m\n",
		"trap Running waited 0m ran - restarts 0 for: task c waits until task a has succeeded: 0 of 1; big Pending waited - ran - restarts 0 for: insufficient cpu: 8 requested, 7 of 8 free (1 short); 1st of 1 in queue default; "
		"small Completed waited 0m ran 1m restarts 0",
		20 },
	{ "cordoned_node_gets_no_pods",
		NODES
		"jobs: [{name: a, at: 1m, duration: 1h, replicas: 2, requests: {cpu: 3}}]\nevents: [{at: 0s, cordon: n-0}, {at: 31m, uncordon: n-0}]\n",
		"a Completed waited 30m ran 60m restarts 0 for: insufficient cpu: 6 requested, 4 of 4 free (2 short), nodes: 1 node lacks cpu (short 2), 1 cordoned; 1st of 1 in queue default",
		91 },
	{ "nobody_waits_or_goes_for_room_that_a_cordoned_node_takes_away",
		HEAD
		"nodes: [{name: n, count: 4, capacity: {cpu: 64}}]\nqueues: [{name: pre, spec: {preemptionPolicy: LowerPriority}}]\n"
		"jobs: [{name: victim, queue: pre, duration: 3h, replicas: 4, requests: {cpu: 40}}, "
		"{name: fits, queue: pre, priority: 10, at: 10m, duration: 30m, replicas: 3, requests: {cpu: 20}}]\n"
		"events: [{at: 5m, cordon: n-3}]\n",
		"victim Completed waited 0m ran 180m restarts 0; fits Completed waited 0m ran 30m restarts 0",
		180 },
	{ "elastic_job_loses_no_pod_for_room_that_a_cordoned_node_takes_away",
		HEAD
		"nodes: [{name: n, count: 4, capacity: {cpu: 64}}]\n"
		"jobs: [{name: a, duration: 1h, replicas: 4, minAvailable: 2, requests: {cpu: 40}}, "
		"{name: b, at: 10m, duration: 10m, replicas: 3, requests: {cpu: 20}}]\nevents: [{at: 5m, cordon: n-3}]\n",
		"a Completed waited 0m ran 60m restarts 0; b Completed waited 0m ran 10m restarts 0", 60 },
	{ "removed_node_is_no_more",
		NODES
		"jobs: [{name: a, at: 1m, duration: 2h, replicas: 2, requests: {cpu: 3}}]\nevents: [{at: 0s, remove: n-0}]\nuntil: 1h\n",
		"a Pending waited - ran - restarts 0 for: insufficient cpu: 6 requested, 4 of 4 free (2 short)",
		60 },
	{ "deleted_job_is_gone", NODES "jobs: [{name: a, duration: 1h}]\nevents: [{at: 5m, delete: a}]\n",
		"a Running deleted waited 0m ran - restarts 0", 5 },
	{ "deleted_job_comes_again",
		NODES
		"jobs: [{name: a, duration: 1h}, {name: a, at: 10m, duration: 5m}]\nevents: [{at: 5m, delete: a}]\n",
		"a Running deleted waited 0m ran - restarts 0; a Completed waited 0m ran 5m restarts 0", 15 },
	{ "suspended_job_starts_anew_when_resumed",
		NODES
		"jobs: [{name: a, duration: 10m}]\nevents: [{at: 5m, suspend: a}, {at: 20m, resume: default/a}]\n",
		"a Completed waited 0m ran 30m restarts 0", 30 },
	{ "gangs_on_too_few_nodes_run_one_after_the_other",
		HEAD
		"nodes: [{name: n, count: 4, capacity: {cpu: 4}}]\njobs: [{name: a, count: 3, replicas: 3, requests: {cpu: 3}}]\n",
		"a-0 Completed waited 0m ran 10m restarts 0; a-1 Completed waited 10m ran 10m restarts 0 for: insufficient cpu: 9 requested, 7 of 16 free (2 short); 1st of 2 in queue default; a-2 Completed waited 20m ran 10m restarts 0 for: insufficient cpu: 9 requested, 7 of 16 free (2 short); 2nd of 2 in queue default",
		30 },
	{ "gang_that_never_fits_lets_others_run",
		HEAD
		"nodes: [{name: n, count: 4, capacity: {cpu: 4}}]\njobs: [{name: large, replicas: 5, outcome: run, requests: {cpu: 3}}, "
		"{name: b, at: 10m, count: 2, replicas: 3, requests: {cpu: 3}}]\nuntil: 1h\n",
		"large Pending waited - ran - restarts 0 for: 4 of 5 pods fit on empty nodes: 4 nodes lack cpu (short 2); b-0 Completed waited 0m ran 10m restarts 0; b-1 Completed waited 10m ran 10m restarts 0 for: insufficient cpu: 9 requested, 7 of 16 free (2 short); 1st of 1 in queue default",
		60 },
	{ "until_ends_the_run", NODES "jobs: [{name: a, duration: 3h, requests: {cpu: 2}}]\nuntil: 20m\n",
		"a Running waited 0m ran - restarts 0", 20 },
	{ "job_that_never_fits_is_given_up_after_a_day", NODES "jobs: [{name: a, requests: {cpu: 5}}]\n",
		"a Pending waited - ran - restarts 0 for: a pod asks for 5 cpu, the largest node has 4",
		24 * 60 },
	{ "long_job_is_not_given_up", NODES "jobs: [{name: a, duration: 50h}]\n",
		"a Completed waited 0m ran 3000m restarts 0", 50 * 60 },
	{ "job_that_runs_until_deleted_is_given_up_after_a_day", NODES "jobs: [{name: a, outcome: run}]\n",
		"a Running waited 0m ran - restarts 0", 24 * 60 },
	{ "failing_pods_use_up_the_backoff_limit",
		NODES
		"jobs: [{name: a, outcome: fail, duration: 2m, spec: {backoffLimit: 0, taskSpecs: [{name: w}]}}]\n",
		"a Failed waited 0m ran 2m restarts 0", 2 },
	{ "quota_in_the_file_is_enforced",
		NODES
		"objects: [{apiVersion: v1, kind: ResourceQuota, metadata: {name: x}, spec: {hard: {pods: 0}}}]\n"
		"jobs: [{name: a}]\nuntil: 1m\n",
		"a Pending waited - ran - restarts 0 for: insufficient pods: 1 requested, 0 of 0 free (1 short), quota x allows 0",
		1 },
	{ "quota_with_scopes_too",
		NODES
		"objects: [{apiVersion: v1, kind: ResourceQuota, metadata: {name: x}, spec: {hard: {pods: 0}, scopes: [BestEffort]}}]\n"
		"jobs: [{name: a}]\nuntil: 1m\n",
		"a Pending waited - ran - restarts 0 for: insufficient pods: 1 requested, 0 of 0 free (1 short), quota x allows 0",
		1 },
	{ "typo_below_resources_is_refused",
		NODES
		"jobs: [{name: a, spec: {taskSpecs: [{name: w, template: {spec: {containers: [{name: m, image: i, "
		"resources: {request: {cpu: 1}}}]}}}]}}]\nuntil: 1m\n",
		"a Pending waited - ran - restarts 0 for: task w: Pod in version \"v1\" cannot be handled as a Pod: strict decoding "
		"error: unknown field \"spec.containers[0].resources.request\"",
		1 },
	{ "gang_is_not_held_up_by_a_pod_that_no_scheduler_has_bound_for_a_minute",
		NODES PENDING_POD
		"jobs: [{name: a, at: 70s, replicas: 2, requests: {cpu: 4}, priority: 1000}]\n",
		"a Completed waited 0m ran 10m restarts 0", 11 },
	{ "gang_of_its_priority_leaves_room_to_a_pod_that_is_about_to_be_bound",
		NODES PENDING_POD "jobs: [{name: a, replicas: 2, requests: {cpu: 4}}]\n",
		"a Completed waited 1m ran 10m restarts 0 for: 1 of 2 pods fit now: 2 nodes lack cpu (short 3), 1 pod about to be bound takes 3 cpu; 1st of 1 in queue default",
		11 },
	{ "gang_of_a_higher_priority_does_not",
		NODES PENDING_POD "jobs: [{name: a, replicas: 2, requests: {cpu: 4}, priority: 1000}]\n",
		"a Completed waited 0m ran 10m restarts 0", 10 },
	{ "no_jobs_are_no_trouble", NODES, "", 0 },
	{ "count_0_is_none", HEAD "nodes: [{name: n, count: 0}]\njobs: [{name: a, count: 0}]\n", "", 0 },
};

static void jobs_become_what_the_scenario_makes_of_them(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(stories); i++) {
		struct sim_record r;
		struct kar_err err = { 0 };
		struct kar_buf told = { 0 };
		char took[MINUTES], expected[MINUTES];

		if (play(stories[i].yaml, &r, &err))
			fail_msg("%s: %s", stories[i].name, err.msg);
		tell(&r, &told);
		minutes(0, r.end, took);
		snprintf(expected, sizeof(expected), "%lldm", (long long)stories[i].minutes);
		if (strcmp(kar_buf_cstr(&told), stories[i].told) || strcmp(took, expected))
			fail_msg("%s: after %s\n%s\nwant after %s\n%s", stories[i].name, took,
				kar_buf_cstr(&told), expected, stories[i].told);
		if (sim_record_use(&r, "cpu") > 1000 || (r.n_nodes && sim_record_use(&r, "cpu") < 0))
			fail_msg("%s: %d thousandths of the CPUs in use", stories[i].name,
				sim_record_use(&r, "cpu"));
		kar_buf_release(&told);
		sim_record_release(&r);
	}
}

/* `first` has two of the four nodes for five minutes; `victim`, which comes before the crowd, needs three. */
#define CROWD_AROUND_A_VICTIM(crowd) \
	HEAD "nodes: [{name: n, count: 4, capacity: {cpu: 4}}]\n" \
	     "jobs: [{name: first, duration: 5m, replicas: 2, requests: {cpu: 3}}, " \
	     "{name: victim, at: 10s, duration: 20m, replicas: 3, requests: {cpu: 3}}, " \
	     "{name: x, at: 20s, count: 30, outcome: run" crowd "}]\nuntil: 2h\n"
#define IMPATIENT(replicas) \
	", spec: {schedSpec: {scheduleTimeoutSeconds: 2147483647}, taskSpecs: [{name: w, replicas: " replicas \
	", template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1000}}}]}}}]}"

/* Jobs that can never be scheduled. */
static const struct {
	const char *name, *yaml;
} crowds[] = {
	{ "one_pod_each", CROWD_AROUND_A_VICTIM(", requests: {cpu: 1000}") },
	{ "gangs", CROWD_AROUND_A_VICTIM(", requests: {cpu: 1000}, replicas: 2") },
	{ "gangs_of_high_priority",
		CROWD_AROUND_A_VICTIM(", requests: {cpu: 1000}, replicas: 2, priority: 1000") },
	{ "one_pod_each_with_a_long_time_out", CROWD_AROUND_A_VICTIM(IMPATIENT("1")) },
	{ "gangs_with_a_long_time_out", CROWD_AROUND_A_VICTIM(IMPATIENT("2")) },
};

static void jobs_that_never_fit_hold_up_no_gang(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(crowds); i++) {
		struct sim_record r;
		struct kar_err err = { 0 };

		if (play(crowds[i].yaml, &r, &err))
			fail_msg("%s: %s", crowds[i].name, err.msg);
		for (size_t k = 0; k < r.n_jobs; k++) {
			const struct sim_job_record *j = &r.jobs[k];
			char waited[MINUTES];

			if (strcmp(j->name, "victim") == 0 &&
				(j->running == KAR_NEVER || j->running - j->submitted > 10 * KAR_MINUTE))
				fail_msg("%s: the victim waited %s", crowds[i].name,
					minutes(j->submitted, j->running, waited));
		}
		sim_record_release(&r);
	}
}

static const struct {
	const char *name, *yaml, *said;
} refused[] = {
	{ "name_of_a_job", NODES "jobs: [{name: ok}, {name: A_b}]\n",
		"jobs[1]: QueueJob A_b: QueueJob.kube-arbitrator.io \"A_b\" is invalid: "
		"metadata.name: Invalid value: \"A_b\": a lowercase RFC 1123 subdomain" },
	{ "unknown_field_of_a_job", NODES "jobs: [{name: a, count: 2, spec: {taskSpec: []}}]\n",
		"jobs[0]: QueueJob a-0: QueueJob in version \"v1alpha1\" cannot be handled as a QueueJob: strict decoding error: unknown "
		"field \"spec.taskSpec\"" },
	{ "name_of_a_node", HEAD "nodes: [{name: N}]\n",
		"nodes[0]: Node \"N\" is invalid: metadata.name: Invalid value: \"N\"" },
	{ "two_nodes_of_one_name", HEAD "nodes: [{name: n, count: 2}, {name: n-1}]\n",
		"nodes[1]: nodes \"n-1\" already exists" },
	{ "two_queues_of_one_name", HEAD "queues: [{name: q}, {name: q}]\n",
		"queues[1]: Queue q: queues.kube-arbitrator.io \"q\" already exists" },
	{ "kind_of_an_object", HEAD "objects: [{apiVersion: v2, kind: Foo, metadata: {name: x}}]\n",
		"objects[0]: Foo x: no matches for kind \"Foo\" in version \"v2\"" },
	{ "namespace_of_a_job", NODES "jobs: [{name: a, namespace: B}]\n",
		"jobs[0]: namespace: Namespace \"B\" is invalid: metadata.name: Invalid value: \"B\"" },
	{ "event_of_an_unknown_node", NODES "events: [{at: 5h, kill: n}]\n",
		"events[0].kill: Not found: \"n\": there is no such node" },
	{ "event_of_an_unknown_job",
		NODES "jobs: [{name: a, namespace: b}]\nevents: [{at: 5h, suspend: a}]\n",
		"events[0].suspend: Not found: \"default/a\": there is no such job" },
	{ "event_before_its_job", NODES "jobs: [{name: a, at: 5m}]\nevents: [{at: 3m, suspend: a}]\n",
		"after 3m: events[0].suspend: queuejobs.kube-arbitrator.io \"a\" not found" },
};

static void what_the_api_refuses_is_told_with_its_words(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(refused); i++) {
		struct sim_record r;
		struct kar_err err = { 0 };

		if (play(refused[i].yaml, &r, &err) != -1)
			fail_msg("%s: was not refused", refused[i].name);
		if (strncmp(err.msg, refused[i].said, strlen(refused[i].said)))
			fail_msg("%s: said %s\nwant %s", refused[i].name, err.msg, refused[i].said);
	}
}

static void play_to_json(const char *yaml, struct kar_buf *out)
{
	struct sim_record r;
	struct kar_err err = { 0 };

	if (play(yaml, &r, &err))
		fail_msg("%s", err.msg);
	sim_report_json(&r, out);
	sim_record_release(&r);
}

static int64_t slow_clock(void)
{
	enum { NS_PER_S = 1000000000 };
	static int64_t ns;

	return ns += NS_PER_S;
}

/* Also that of a manager that takes a second for everything. */
static void writes_of_the_manager_are_in_the_record(void **state KAR_UNUSED)
{
	for (int slow = 0; slow < 2; slow++) {
		const struct sim_run_options o = { .crds = sim_crds_folder(),
			.clock = slow ? slow_clock : NULL };
		struct sim_record r;
		struct sim_scenario s;
		struct kar_err err = { 0 };
		int64_t creates = 0;

		parse(NODES "jobs: [{name: a, count: 3}]\n", &s);
		assert_int_equal(sim_run(&s, &o, &r, &err), 0);
		sim_scenario_release(&s);
		for (size_t i = 0; i < r.n_writes; i++)
			creates += strcmp(r.writes[i].what, "create pods") == 0 ? r.writes[i].n : 0;
		assert_int_equal(creates, 3);
		assert_true(r.jobs[2].admitted < (slow ? KAR_NEVER : KAR_SECOND));
		assert_true(r.jobs[0].admitted > (slow ? 3 * KAR_SECOND : 0));
		sim_record_release(&r);
	}
}

static void same_file_gives_the_same_run(void **state KAR_UNUSED)
{
	static const char rest[] =
		"nodes: [{name: n, count: 3, capacity: {cpu: 4}}]\nqueues: [{name: q, spec: {maxJobs: 3}}]\n"
		"jobs: [{name: a, queue: q, count: 8, every: 90s, duration: 3m-20m, replicas: 3, requests: {cpu: 1}}]\n"
		"events: [{at: 6m, kill: n-1}, {at: 20m, recover: n-1}, {at: 9m, drain: n-0}, {at: 12m, uncordon: n-0}]\n";
	struct kar_buf first = { 0 }, second = { 0 }, other = { 0 };
	char yaml[1024];

	snprintf(yaml, sizeof(yaml), "%sseed: 5\n%s", HEAD, rest);
	play_to_json(yaml, &first);
	play_to_json(yaml, &second);
	snprintf(yaml, sizeof(yaml), "%sseed: 6\n%s", HEAD, rest);
	play_to_json(yaml, &other);
	assert_true(first.n > 1000);
	assert_string_equal(kar_buf_cstr(&first), kar_buf_cstr(&second));
	assert_string_not_equal(kar_buf_cstr(&first), kar_buf_cstr(&other));
	kar_buf_release(&first);
	kar_buf_release(&second);
	kar_buf_release(&other);
}

static void say_nothing(void *arg KAR_UNUSED, const char *line KAR_UNUSED, size_t n KAR_UNUSED)
{
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_become_what_the_scenario_makes_of_them),
		cmocka_unit_test(jobs_that_never_fit_hold_up_no_gang),
		cmocka_unit_test(what_the_api_refuses_is_told_with_its_words),
		cmocka_unit_test(writes_of_the_manager_are_in_the_record),
		cmocka_unit_test(same_file_gives_the_same_run),
	};

	kar_log_redirect(say_nothing, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
