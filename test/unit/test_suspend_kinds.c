/* Workloads that are no batch Jobs, as they are read: which pods they make, and whether they may be in a queue; and how they are resumed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/str.h"
#include "controllers/suspend/suspend.h"
#include "test/fixture/reconciler.h"

#define BY_QUEUE "\"annotations\":{\"kube-arbitrator.io/suspended-by\":\"queue\"}"
#define LABEL ",\"labels\":{\"kube-arbitrator.io/queue\":\"q\"}"
#define POD_TEMPLATE(rest) \
	"\"template\":{" rest \
	"\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"1500m\",\"memory\":\"1Gi\"}}}]}}"
#define POD POD_TEMPLATE("")
#define MEMBER \
	"\"template\":{\"metadata\":{\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"j\"}},\"spec\":{\"containers\":[],\"schedulingGates\":[{\"name\":\"kube-arbitrator.io/gang\"}]}}"
#define A_JOB(name, rest, spec) "{\"name\":\"" name "\"" rest ",\"template\":{\"spec\":{" spec "}}}"
#define JOBS(jobs) "{\"suspend\":true,\"replicatedJobs\":[" jobs "]}"
#define DRIVER A_JOB("driver", "", POD)
#define WORKERS A_JOB("workers", ",\"replicas\":2", "\"parallelism\":3,\"completions\":4," POD)

enum kind { JOBSET, PYTORCH, TF, XGBOOST, PADDLE, JAX, MPI, RAYCLUSTER, RAYJOB };

static const struct {
	void (*controller)(struct kar_controller *c);
	size_t store; /* offset in struct kar_stores */
} kinds[] = {
	[JOBSET] = { kar_suspend_jobsets_controller, offsetof(struct kar_stores, jobsets) },
	[PYTORCH] = { kar_suspend_pytorchjobs_controller, offsetof(struct kar_stores, pytorchjobs) },
	[TF] = { kar_suspend_tfjobs_controller, offsetof(struct kar_stores, tfjobs) },
	[XGBOOST] = { kar_suspend_xgboostjobs_controller, offsetof(struct kar_stores, xgboostjobs) },
	[PADDLE] = { kar_suspend_paddlejobs_controller, offsetof(struct kar_stores, paddlejobs) },
	[JAX] = { kar_suspend_jaxjobs_controller, offsetof(struct kar_stores, jaxjobs) },
	[MPI] = { kar_suspend_mpijobs_controller, offsetof(struct kar_stores, mpijobs) },
	[RAYCLUSTER] = { kar_suspend_rayclusters_controller, offsetof(struct kar_stores, rayclusters) },
	[RAYJOB] = { kar_suspend_rayjobs_controller, offsetof(struct kar_stores, rayjobs) },
};

static void set_up(enum kind kind)
{
	static const struct kar_settings settings = { 0 };

	open_world(kinds[kind].controller, &settings);
	w.controller.start(&w.controller);
}

static struct kar_store *store_of(enum kind kind)
{
	return *(struct kar_store **)(void *)((char *)&w.stores + kinds[kind].store);
}

static const struct kar_suspendable *put_one(enum kind kind, const char *spec, const char *status)
{
	char text[4096];

	snprintf(text, sizeof(text), ",\"spec\":%s,\"status\":%s", spec, *status ? status : "{}");
	put_named(store_of(kind), "j", "," BY_QUEUE LABEL, text);
	return kar_as_suspendable(kar_store_get(store_of(kind), "ns", "j"));
}

/* "driver 1/1/1 /spec/...; workers ..." and what else is said of it. */
static const char *printed(const struct kar_suspendable *s)
{
	static char text[2048];
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < s->n_sets; i++) {
		const struct kar_suspendable_set *set = &s->sets[i];

		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s %d/%d/%d %s%s", i ? "; " : "",
			set->name, (int)set->count, (int)set->most, (int)set->ever, set->at,
			set->needs ? "" : " unknown");
	}
	snprintf(text + n, sizeof(text) - n, "%s%s%s%s%s%s%s", s->suspended ? "" : " runs",
		s->in_turn ? " in-turn" : "", s->ended ? " ended" : "", s->managed_by ? " of " : "",
		s->managed_by ? s->managed_by : "", s->unsupported ? ": " : "",
		s->unsupported ? s->unsupported : "");
	return text;
}

#define POLICY(rest) "\"runPolicy\":{\"suspend\":true" rest "}"
#define ROLES(in, roles) "{" POLICY("") ",\"" in "\":{" roles "}}"
#define ONE(name) "\"" name "\":{" POD "}"
#define TWO(name) "\"" name "\":{\"replicas\":2," POD "}"
#define HEAD "\"headGroupSpec\":{" POD "}"
#define WORKER(name, rest) "{\"groupName\":\"" name "\"," rest POD "}"
#define CLUSTER(workers) HEAD ",\"workerGroupSpecs\":[" workers "]"
#define RAY(rest, workers) "{\"suspend\":true," rest CLUSTER(workers) "}"
#define RAY_JOB(rest) \
	"{\"suspend\":true," rest "\"rayClusterSpec\":{" CLUSTER(WORKER("w", "\"replicas\":2,")) "}}"
#define SHUTS_DOWN "\"shutdownAfterJobFinishes\":true,"
#define AT_HEAD "head 1/1/1 /spec/headGroupSpec/template"
#define AT_GROUP(i) "/spec/workerGroupSpecs/" #i "/template"
#define OF_JOB \
	"head 1/1/1 /spec/rayClusterSpec/headGroupSpec/template; w 2/2/2 /spec/rayClusterSpec/workerGroupSpecs/0/template"
#define AT_DRIVER "/spec/replicatedJobs/0/template/spec/template"
#define AT_WORKERS "/spec/replicatedJobs/1/template/spec/template"

static const struct {
	const char *name;
	enum kind kind;
	const char *spec, *status, *read;
} rows[] = {
	{ "jobs_of_two_templates", JOBSET, JOBS(DRIVER "," WORKERS), "",
		"driver 1/1/1 " AT_DRIVER "; workers 6/6/8 " AT_WORKERS },
	{ "jobs_that_are_complete_are_not_made_again", JOBSET, JOBS(DRIVER "," WORKERS),
		"{\"replicatedJobsStatus\":[{\"name\":\"workers\",\"succeeded\":1},{\"name\":\"x\",\"succeeded\":1}]}",
		"driver 1/1/1 " AT_DRIVER "; workers 3/6/8 " AT_WORKERS },
	{ "jobs_in_order", JOBSET,
		"{\"startupPolicy\":{\"startupPolicyOrder\":\"InOrder\"},\"replicatedJobs\":[" DRIVER "]}",
		"", "driver 1/1/1 " AT_DRIVER " runs in-turn" },
	{ "jobs_that_depend_on_others", JOBSET,
		JOBS(A_JOB("driver", ",\"dependsOn\":[{\"name\":\"x\",\"status\":\"Ready\"}]", POD)), "",
		"driver 1/1/1 " AT_DRIVER " in-turn" },
	{ "jobs_are_complete", JOBSET, JOBS(DRIVER),
		"{\"conditions\":[{\"type\":\"Completed\",\"status\":\"True\"}]}",
		"driver 1/1/1 " AT_DRIVER " ended" },
	{ "jobs_have_failed", JOBSET, JOBS(DRIVER),
		"{\"conditions\":[{\"type\":\"Failed\",\"status\":\"True\"}]}",
		"driver 1/1/1 " AT_DRIVER " ended" },
	{ "jobs_have_not_failed", JOBSET, JOBS(DRIVER),
		"{\"conditions\":[{\"type\":\"Failed\",\"status\":\"False\"},{\"type\":\"Suspended\",\"status\":\"True\"}]}",
		"driver 1/1/1 " AT_DRIVER },
	{ "jobs_of_its_own_controller", JOBSET,
		"{\"suspend\":true,\"managedBy\":\"jobset.sigs.k8s.io/jobset-controller\",\"replicatedJobs\":[" DRIVER
		"]}",
		"", "driver 1/1/1 " AT_DRIVER },
	{ "jobs_of_another_controller", JOBSET,
		"{\"suspend\":true,\"managedBy\":\"kueue.x-k8s.io/multikueue\",\"replicatedJobs\":[" DRIVER
		"]}",
		"", "driver 1/1/1 " AT_DRIVER " of kueue.x-k8s.io/multikueue" },
	{ "no_jobs", JOBSET, "{\"suspend\":true}", "", "" },
	{ "jobs_without_a_template", JOBSET, JOBS("{\"name\":\"driver\"},{}"), "",
		"driver 1/1/1 " AT_DRIVER " unknown;  1/1/1 " AT_WORKERS " unknown" },
	{ "jobs_with_counts_below_zero", JOBSET,
		JOBS(A_JOB("driver", ",\"replicas\":-2", "\"parallelism\":3," POD) "," A_JOB("workers", "",
			"\"parallelism\":-3,\"completions\":5," POD)),
		"", "driver 0/0/0 " AT_DRIVER "; workers 0/0/5 " AT_WORKERS },
	{ "jobs_with_counts_beyond_all_sense", JOBSET,
		JOBS(A_JOB("driver", ",\"replicas\":2147483647", "\"parallelism\":2147483647," POD)), "",
		"driver 2147483647/2147483647/2147483647 " AT_DRIVER },
	{ "pytorch", PYTORCH, ROLES("pytorchReplicaSpecs", TWO("Worker") "," ONE("Master")), "",
		"Master 1/1/1 /spec/pytorchReplicaSpecs/Master/template; Worker 2/2/2 /spec/pytorchReplicaSpecs/Worker/template" },
	{ "tensorflow", TF,
		ROLES("tfReplicaSpecs",
			ONE("Chief") "," TWO("PS") "," TWO("Worker") "," ONE("Evaluator") "," ONE("Master")),
		"",
		"Master 1/1/1 /spec/tfReplicaSpecs/Master/template; Chief 1/1/1 /spec/tfReplicaSpecs/Chief/template; PS 2/2/2 /spec/tfReplicaSpecs/PS/template; Worker 2/2/2 /spec/tfReplicaSpecs/Worker/template; Evaluator 1/1/1 /spec/tfReplicaSpecs/Evaluator/template" },
	{ "xgboost", XGBOOST, ROLES("xgbReplicaSpecs", TWO("Worker")), "",
		"Worker 2/2/2 /spec/xgbReplicaSpecs/Worker/template" },
	{ "paddle", PADDLE, ROLES("paddleReplicaSpecs", TWO("Worker")), "",
		"Worker 2/2/2 /spec/paddleReplicaSpecs/Worker/template" },
	{ "jax", JAX, ROLES("jaxReplicaSpecs", TWO("Worker")), "",
		"Worker 2/2/2 /spec/jaxReplicaSpecs/Worker/template" },
	{ "mpi", MPI, ROLES("mpiReplicaSpecs", ONE("Launcher") "," TWO("Worker")), "",
		"Launcher 1/1/1 /spec/mpiReplicaSpecs/Launcher/template; Worker 2/2/2 /spec/mpiReplicaSpecs/Worker/template" },
	{ "mpi_whose_launcher_comes_last", MPI,
		"{" POLICY("") ",\"launcherCreationPolicy\":\"WaitForWorkersReady\",\"mpiReplicaSpecs\":{" ONE(
			"Worker") "}}",
		"", "Worker 1/1/1 /spec/mpiReplicaSpecs/Worker/template in-turn" },
	{ "mpi_whose_launcher_comes_first", MPI,
		"{" POLICY("") ",\"launcherCreationPolicy\":\"AtStartup\",\"mpiReplicaSpecs\":{" ONE(
			"Worker") "}}",
		"", "Worker 1/1/1 /spec/mpiReplicaSpecs/Worker/template" },
	{ "mpi_of_its_own_controller", MPI,
		"{" POLICY(",\"managedBy\":\"kubeflow.org/mpi-operator\"") ",\"mpiReplicaSpecs\":{" ONE(
			"Worker") "}}",
		"", "Worker 1/1/1 /spec/mpiReplicaSpecs/Worker/template" },
	{ "pytorch_of_its_own_controller", PYTORCH,
		"{" POLICY(",\"managedBy\":\"kubeflow.org/training-operator\"") ",\"pytorchReplicaSpecs\":{" ONE(
			"Worker") "}}",
		"", "Worker 1/1/1 /spec/pytorchReplicaSpecs/Worker/template" },
	{ "pytorch_of_another_controller", PYTORCH,
		"{" POLICY(",\"managedBy\":\"kueue.x-k8s.io/multikueue\"") ",\"pytorchReplicaSpecs\":{" ONE(
			"Worker") "}}",
		"", "Worker 1/1/1 /spec/pytorchReplicaSpecs/Worker/template of kueue.x-k8s.io/multikueue" },
	{ "pytorch_that_has_succeeded", PYTORCH, ROLES("pytorchReplicaSpecs", ONE("Worker")),
		"{\"conditions\":[{\"type\":\"Running\",\"status\":\"False\"},{\"type\":\"Succeeded\",\"status\":\"True\"}]}",
		"Worker 1/1/1 /spec/pytorchReplicaSpecs/Worker/template ended" },
	{ "pytorch_that_has_failed", PYTORCH, ROLES("pytorchReplicaSpecs", ONE("Worker")),
		"{\"conditions\":[{\"type\":\"Failed\",\"status\":\"True\"}]}",
		"Worker 1/1/1 /spec/pytorchReplicaSpecs/Worker/template ended" },
	{ "pytorch_without_a_policy_runs", PYTORCH, "{\"pytorchReplicaSpecs\":{" ONE("Worker") "}}", "",
		"Worker 1/1/1 /spec/pytorchReplicaSpecs/Worker/template runs" },
	{ "pytorch_without_sense", PYTORCH,
		ROLES("pytorchReplicaSpecs",
			"\"Worker\":{\"replicas\":-1},\"Master\":{},\"Other\":{" POD "}"),
		"",
		"Master 1/1/1 /spec/pytorchReplicaSpecs/Master/template unknown; Worker 0/0/0 /spec/pytorchReplicaSpecs/Worker/template unknown" },
	{ "pytorch_with_the_roles_of_another", PYTORCH, ROLES("tfReplicaSpecs", ONE("Worker")), "", "" },
	{ "ray_cluster", RAYCLUSTER,
		RAY("", WORKER("a", "\"replicas\":2,") "," WORKER("b", "\"replicas\":3,\"numOfHosts\":4,")),
		"", AT_HEAD "; a 2/2/2 " AT_GROUP(0) "; b 12/12/12 " AT_GROUP(1) },
	{ "workers_between_the_least_and_the_most", RAYCLUSTER,
		RAY("",
			WORKER("a", "\"replicas\":9,\"minReplicas\":1,\"maxReplicas\":3,") "," WORKER("b",
				"\"minReplicas\":2,\"maxReplicas\":3,") "," WORKER("c",
				"\"maxReplicas\":0,\"replicas\":2,")),
		"", AT_HEAD "; a 3/3/3 " AT_GROUP(0) "; b 2/2/2 " AT_GROUP(1) "; c 0/0/0 " AT_GROUP(2) },
	{ "workers_that_are_suspended", RAYCLUSTER, RAY("", WORKER("a", "\"replicas\":2,\"suspend\":true,")),
		"", AT_HEAD "; a 0/0/0 " AT_GROUP(0) },
	{ "workers_without_sense", RAYCLUSTER,
		"{\"suspend\":true,\"workerGroupSpecs\":[{\"groupName\":\"a\",\"replicas\":-3,\"numOfHosts\":-1},{\"replicas\":2147483647,\"numOfHosts\":2147483647}]}",
		"",
		"a 0/0/0 " AT_GROUP(0) " unknown;  2147483647/2147483647/2147483647 " AT_GROUP(
			1) " unknown" },
	{ "ray_cluster_of_its_own_controller", RAYCLUSTER,
		RAY("\"managedBy\":\"ray.io/kuberay-operator\",", ""), "", AT_HEAD },
	{ "ray_cluster_of_another_controller", RAYCLUSTER,
		RAY("\"managedBy\":\"kueue.x-k8s.io/multikueue\",", ""), "",
		AT_HEAD " of kueue.x-k8s.io/multikueue" },
	{ "ray_job", RAYJOB, RAY_JOB(SHUTS_DOWN), "", OF_JOB },
	{ "ray_job_that_keeps_its_cluster", RAYJOB, RAY_JOB(""), "",
		OF_JOB
		": KubeRay suspends only a RayJob with spec.shutdownAfterJobFinishes: true: delete it, and create it again with that, or without the label kube-arbitrator.io/queue" },
	{ "ray_job_in_a_cluster_of_others", RAYJOB,
		RAY_JOB(SHUTS_DOWN "\"clusterSelector\":{\"ray.io/cluster\":\"x\"},"), "",
		OF_JOB " of the RayCluster of its clusterSelector" },
	{ "ray_job_that_is_complete", RAYJOB, RAY_JOB(SHUTS_DOWN),
		"{\"jobDeploymentStatus\":\"Complete\",\"jobStatus\":\"SUCCEEDED\"}", OF_JOB " ended" },
	{ "ray_job_that_has_failed", RAYJOB, RAY_JOB(SHUTS_DOWN), "{\"jobDeploymentStatus\":\"Failed\"}",
		OF_JOB " ended" },
	{ "ray_job_that_is_invalid", RAYJOB, RAY_JOB(SHUTS_DOWN),
		"{\"jobDeploymentStatus\":\"ValidationFailed\"}", OF_JOB " ended" },
	{ "ray_job_that_is_invalid_because_it_is_suspended", RAYJOB, RAY_JOB(""),
		"{\"jobDeploymentStatus\":\"ValidationFailed\"}",
		OF_JOB
		": KubeRay suspends only a RayJob with spec.shutdownAfterJobFinishes: true: delete it, and create it again with that, or without the label kube-arbitrator.io/queue" },
	{ "ray_job_that_runs", RAYJOB, RAY_JOB(SHUTS_DOWN), "{\"jobDeploymentStatus\":\"Running\"}", OF_JOB },
	{ "ray_job_without_a_cluster", RAYJOB, "{\"suspend\":true," SHUTS_DOWN "\"entrypoint\":\"x\"}", "",
		"" },
};

static void pods_are_read(void **state)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const char *got;

		set_up(rows[i].kind);
		got = printed(put_one(rows[i].kind, rows[i].spec, rows[i].status));
		if (!kar_streq(got, rows[i].read))
			fail_msg("%s: want '%s', got '%s'", rows[i].name, rows[i].read, got);
		assert_int_equal(teardown(state), 0);
	}
}

static void more_templates_than_make_sense_are_not_read(void **state)
{
	KAR_CLEANUP(kar_buf_release) struct kar_buf spec = { 0 };
	const struct kar_suspendable *s;

	kar_buf_puts(&spec, "{\"suspend\":true,\"replicatedJobs\":[{}");
	for (int i = 0; i < 1000; i++)
		kar_buf_puts(&spec, ",{}");
	kar_buf_puts(&spec, "]}");
	set_up(JOBSET);
	s = put_one(JOBSET, kar_buf_cstr(&spec), "");
	assert_int_equal(s->n_sets, KAR_SUSPENDABLE_SETS);
	assert_string_equal(s->unsupported, "it has pods of more than 64 templates");
	assert_true(sync_named("ns/j"));
	assert_int_equal(w.sync.plan.n_actions, 0); /* an event alone */
	assert_int_equal(teardown(state), 0);
}

/* --- what is written ---------------------------------------------------------------------------------- */

#define GROUP(meta_kind, api, spec) \
	"{\"apiVersion\":\"scheduling.x-k8s.io/v1alpha1\",\"kind\":\"PodGroup\",\"metadata\":{\"name\":\"j\",\"namespace\":\"ns\",\"labels\":{\"kube-arbitrator.io/queue\":\"q\",\"kube-arbitrator.io/made-for-pods\":\"workload\"},\"ownerReferences\":[{\"apiVersion\":\"" api \
	"\",\"kind\":\"" meta_kind \
	"\",\"name\":\"j\",\"uid\":\"uid-j\",\"controller\":true}]},\"spec\":{" spec "}}"
#define RESUMES \
	"[{\"op\":\"test\",\"path\":\"/metadata/uid\",\"value\":\"uid-j\"},{\"op\":\"replace\",\"path\":\"/metadata/resourceVersion\",\"value\":\"11\"},{\"op\":\"remove\",\"path\":\"/metadata/annotations/kube-arbitrator.io~1suspended-by\"},{\"op\":\"add\",\"path\":\"/metadata/annotations/kube-arbitrator.io~1resumed-by\",\"value\":\"queue\"},"
#define OPENS(at) \
	"{\"op\":\"add\",\"path\":\"" at \
	"/metadata\",\"value\":{\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"j\"}}},{\"op\":\"add\",\"path\":\"" at \
	"/spec/schedulingGates\",\"value\":[{\"name\":\"kube-arbitrator.io/gang\"}]},"
#define NOW(path) "{\"op\":\"replace\",\"path\":\"" path "\",\"value\":false}]"

static const struct {
	const char *name;
	enum kind kind;
	int minimum; /* of its group, which is admitted; 0: there is no group */
	const char *spec, *body;
} bodies[] = {
	{ "group_of_jobs", JOBSET, 0, JOBS(DRIVER "," WORKERS),
		GROUP("JobSet", "jobset.x-k8s.io/v1alpha2", "\"minMember\":7") },
	{ "group_of_jobs_in_order", JOBSET, 0,
		"{\"suspend\":true,\"startupPolicy\":{\"startupPolicyOrder\":\"InOrder\"},\"replicatedJobs\":[" DRIVER
		"," WORKERS "]}",
		GROUP("JobSet", "jobset.x-k8s.io/v1alpha2",
			"\"minMember\":7,\"minResources\":{\"cpu\":\"10500m\",\"memory\":\"7516192768\"}") },
	{ "group_of_jobs_in_order_without_requests", JOBSET, 0,
		"{\"suspend\":true,\"startupPolicy\":{\"startupPolicyOrder\":\"InOrder\"},\"replicatedJobs\":[" A_JOB(
			"a", "", "\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\"}]}}") "]}",
		GROUP("JobSet", "jobset.x-k8s.io/v1alpha2",
			"\"minMember\":1,\"minResources\":{\"cpu\":\"0\"}") },
	{ "jobs_are_resumed", JOBSET, 7, JOBS(DRIVER "," WORKERS),
		RESUMES OPENS(AT_DRIVER) OPENS(AT_WORKERS) NOW("/spec/suspend") },
	{ "templates_that_are_ready_stay_as_they_are", JOBSET, 2,
		JOBS(A_JOB("driver", "", MEMBER) "," A_JOB("workers", "", POD)),
		RESUMES OPENS(AT_WORKERS) NOW("/spec/suspend") },
	{ "pytorch_is_resumed", PYTORCH, 3, ROLES("pytorchReplicaSpecs", TWO("Worker") "," ONE("Master")),
		RESUMES OPENS("/spec/pytorchReplicaSpecs/Master/template")
			OPENS("/spec/pytorchReplicaSpecs/Worker/template") NOW("/spec/runPolicy/suspend") },
	{ "pytorch_is_suspended", PYTORCH, 0, "{\"pytorchReplicaSpecs\":{" ONE("Worker") "}}",
		"{\"metadata\":{\"uid\":\"uid-j\",\"resourceVersion\":\"11\",\"annotations\":{\"kube-arbitrator.io/suspended-by\":\"queue\",\"kube-arbitrator.io/resumed-by\":null}},\"spec\":{\"runPolicy\":{\"suspend\":true}}}" },
	{ "group_of_mpi", MPI, 0, ROLES("mpiReplicaSpecs", ONE("Launcher") "," TWO("Worker")),
		GROUP("MPIJob", "kubeflow.org/v2beta1", "\"minMember\":3") },
	{ "ray_job_is_resumed", RAYJOB, 3, RAY_JOB(SHUTS_DOWN),
		RESUMES OPENS("/spec/rayClusterSpec/headGroupSpec/template")
			OPENS("/spec/rayClusterSpec/workerGroupSpecs/0/template") NOW("/spec/suspend") },
	{ "group_of_ray", RAYCLUSTER, 0, RAY("", WORKER("a", "\"replicas\":2,")),
		GROUP("RayCluster", "ray.io/v1", "\"minMember\":3") },
};

static void put_group_of(enum kind kind, int minimum, const char *spec)
{
	const struct kar_resource *res = &kar_store_type(store_of(kind))->res;
	char meta[512], rest[512];

	snprintf(meta, sizeof(meta),
		LABEL
		",\"ownerReferences\":[{\"apiVersion\":\"%s/%s\",\"kind\":\"%s\",\"name\":\"j\",\"uid\":\"uid-j\",\"controller\":true}]",
		res->group, res->version, res->kind);
	snprintf(rest, sizeof(rest),
		",\"spec\":{\"minMember\":%d%s},\"status\":{\"admittedQueue\":\"q\",\"conditions\":[{\"type\":\"Admitted\",\"status\":\"True\",\"reason\":\"Admitted\",\"message\":\"m\",\"lastTransitionTime\":\"2026-11-21T10:00:00Z\"}]}",
		minimum, spec);
	put_named(w.stores.podgroups, "j", meta, rest);
}

#define IN_ORDER(jobs) \
	"{\"suspend\":true,\"startupPolicy\":{\"startupPolicyOrder\":\"InOrder\"},\"replicatedJobs\":[" jobs \
	"]}"
#define FOLLOWS(resources) \
	"{\"metadata\":{\"uid\":\"uid-j\",\"resourceVersion\":\"12\",\"labels\":{\"kube-arbitrator.io/queue\":\"q\"}},\"spec\":{\"minMember\":7,\"minResources\":{" resources \
	"}}}"

/* The group of a JobSet that is edited while it waits. What all its pods need now, as a merge patch: a resource that is not asked for any more goes. */
static void group_follows_its_templates(void **state)
{
	static const struct {
		const char *before, *body;
	} edits[] = {
		{ "\"cpu\":\"1\",\"memory\":\"1\"", FOLLOWS("\"cpu\":\"10500m\",\"memory\":\"7516192768\"") },
		{ "\"cpu\":\"10500m\",\"memory\":\"7516192768\",\"nvidia.com/gpu\":\"8\"",
			FOLLOWS("\"cpu\":\"10500m\",\"memory\":\"7516192768\",\"nvidia.com/gpu\":null") },
		{ "\"cpu\":\"10500m\",\"memory\":\"7516192768\"", NULL },
	};

	for (size_t i = 0; i < KAR_LEN(edits); i++) {
		struct kar_buf out = { 0 };
		struct kar_err err = { 0 };
		char spec[256];

		set_up(JOBSET);
		put_one(JOBSET, IN_ORDER(DRIVER "," WORKERS), "");
		snprintf(spec, sizeof(spec), ",\"minResources\":{%s}", edits[i].before);
		put_group_of(JOBSET, 7, spec);
		assert_true(sync_named("ns/j"));
		assert_int_equal(w.sync.plan.n_actions, 1);
		assert_int_equal(w.controller.encode(&w.sync, &w.sync.plan.actions[0], &out, &err), 0);
		if (edits[i].body)
			assert_string_equal(kar_buf_cstr(&out), edits[i].body);
		else
			assert_non_null(
				strstr(kar_buf_cstr(&out), "resumed-by")); /* nothing is left to follow */
		kar_buf_release(&out);
		assert_int_equal(teardown(state), 0);
	}
}

static void bodies_are_preconditioned(void **state)
{
	for (size_t i = 0; i < KAR_LEN(bodies); i++) {
		struct kar_buf out = { 0 };
		struct kar_err err = { 0 };

		set_up(bodies[i].kind);
		put_one(bodies[i].kind, bodies[i].spec, "");
		if (bodies[i].minimum)
			put_group_of(bodies[i].kind, bodies[i].minimum, "");
		assert_true(sync_named("ns/j"));
		assert_int_equal(w.sync.plan.n_actions, 1);
		assert_int_equal(w.controller.encode(&w.sync, &w.sync.plan.actions[0], &out, &err), 0);
		if (!kar_streq(kar_buf_cstr(&out), bodies[i].body))
			fail_msg("%s: want '%s', got '%s'", bodies[i].name, bodies[i].body,
				kar_buf_cstr(&out));
		kar_buf_release(&out);
		assert_int_equal(teardown(state), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pods_are_read),
		cmocka_unit_test(more_templates_than_make_sense_are_not_read),
		cmocka_unit_test(bodies_are_preconditioned),
		cmocka_unit_test(group_follows_its_templates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
