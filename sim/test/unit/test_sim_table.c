/*
 * What `kubectl get` shows. The cells of the rows are those that a Kubernetes 1.37 API server gave to the same objects; every
 * object was created 30 s ago.
 */
#include "sim/test/unit/table_rows.h"

/* ---- pods ---- */

#define SPEC1 "\"spec\":{\"nodeName\":\"n\",\"containers\":[{\"name\":\"a\"}]}"
#define SPEC2 "\"spec\":{\"nodeName\":\"n\",\"containers\":[{\"name\":\"a\"},{\"name\":\"b\"}]}"
#define SPECI \
	"\"spec\":{\"nodeName\":\"n\",\"initContainers\":[{\"name\":\"i\"},{\"name\":\"j\"}],\"containers\":[{\"name\":\"a\"}]}"
#define SPECS \
	"\"spec\":{\"nodeName\":\"n\",\"initContainers\":[{\"name\":\"i\",\"restartPolicy\":\"Always\"},{\"name\":\"j\"}]," \
	"\"containers\":[{\"name\":\"a\"}]}"
#define C(name, state) "{\"name\":\"" name "\",\"restartCount\":0,\"state\":{" state "}}"
#define READY(name) "{\"name\":\"" name "\",\"ready\":true,\"restartCount\":0,\"state\":{\"running\":{}}}"
#define RUNNING "\"running\":{}"
#define ENDED(fields) "\"terminated\":{" fields "}"
#define COMPLETED ENDED("\"exitCode\":0,\"reason\":\"Completed\"")
#define WAITING(reason) "\"waiting\":{\"reason\":\"" reason "\"}"
#define CONDITIONS \
	"\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"},{\"type\":\"Initialized\",\"status\":\"True\"}]"
#define CONTAINERS(...) "\"containerStatuses\":[" __VA_ARGS__ "]"
#define INITS(...) "\"initContainerStatuses\":[" __VA_ARGS__ "]"
#define POD(spec, status) "{" META("p") "," spec ",\"status\":{" status "}}"
#define GOING(status) \
	"{\"metadata\":{\"name\":\"p\",\"deletionTimestamp\":\"2026-11-21T10:00:20Z\"," CREATED "}," SPEC1 \
	",\"status\":{" status "}}"
#define CELLS(ready, status, restarts) \
	"[\"p\",\"" ready "\",\"" status "\",\"" restarts "\",\"30s\",\"<none>\",\"n\",\"<none>\",\"<none>\"]"

static void pods(void **state)
{
	static const struct {
		const char *name, *json, *want;
	} rows[] = {
		{ "phase_only", POD(SPEC1, "\"phase\":\"Pending\""), CELLS("0/1", "Pending", "0") },
		{ "gated",
			POD(SPEC1,
				"\"phase\":\"Pending\",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\",\"reason\":\"SchedulingGated\"}]"),
			CELLS("0/1", "SchedulingGated", "0") },
		{ "runs", POD(SPEC1, "\"phase\":\"Running\"," CONDITIONS "," CONTAINERS(READY("a"))),
			CELLS("1/1", "Running", "0") },
		{ "runs_but_is_not_ready", POD(SPEC1, "\"phase\":\"Running\"," CONTAINERS(C("a", RUNNING))),
			CELLS("0/1", "Running", "0") },
		{ "restarted",
			POD(SPEC1,
				"\"phase\":\"Running\"," CONTAINERS(
					"{\"name\":\"a\",\"ready\":true,\"restartCount\":2,\"state\":{\"running\":{}},"
					"\"lastState\":{\"terminated\":{\"finishedAt\":\"2026-11-21T09:58:00Z\"}}}")),
			CELLS("1/1", "Running", "2 (2m30s ago)") },
		{ "one_of_two_is_done",
			POD(SPEC2,
				"\"phase\":\"Running\"," CONDITIONS
				"," CONTAINERS(READY("a") "," C("b", COMPLETED))),
			CELLS("1/2", "Running", "0") },
		{ "first_is_done_second_runs",
			POD(SPEC2,
				"\"phase\":\"Running\"," CONDITIONS
				"," CONTAINERS(C("a", COMPLETED) "," READY("b"))),
			CELLS("1/2", "Running", "0") },
		{ "first_is_done_pod_not_ready",
			POD(SPEC2, "\"phase\":\"Running\"," CONTAINERS(C("a", COMPLETED) "," READY("b"))),
			CELLS("1/2", "NotReady", "0") },
		{ "error_of_another_container",
			POD(SPEC2,
				"\"phase\":\"Running\"," CONTAINERS(C("a", COMPLETED) "," C("b",
					ENDED("\"exitCode\":3,\"reason\":\"Error\"")))),
			CELLS("0/2", "Error", "0") },
		{ "first_container_speaks_last",
			POD(SPEC2,
				"\"phase\":\"Running\"," CONTAINERS(
					C("a", ENDED("\"exitCode\":3")) "," C("b", COMPLETED))),
			CELLS("0/2", "ExitCode:3", "0") },
		{ "succeeded", POD(SPEC1, "\"phase\":\"Succeeded\"," CONTAINERS(C("a", COMPLETED))),
			CELLS("0/1", "Completed", "0") },
		{ "failed",
			POD(SPEC1,
				"\"phase\":\"Failed\"," CONTAINERS(
					C("a", ENDED("\"exitCode\":7,\"reason\":\"Error\"")))),
			CELLS("0/1", "Error", "0") },
		{ "failed_by_signal",
			POD(SPEC1,
				"\"phase\":\"Failed\"," CONTAINERS(
					C("a", ENDED("\"exitCode\":137,\"signal\":9")))),
			CELLS("0/1", "Signal:9", "0") },
		{ "crash_loop",
			POD(SPEC1,
				"\"phase\":\"Running\"," CONTAINERS(
					"{\"name\":\"a\",\"restartCount\":5,\"state\":{" WAITING(
						"CrashLoopBackOff") "}}")),
			CELLS("0/1", "CrashLoopBackOff", "5") },
		{ "evicted", POD(SPEC1, "\"phase\":\"Failed\",\"reason\":\"Evicted\""),
			CELLS("0/1", "Evicted", "0") },
		{ "initializing",
			POD(SPECI,
				"\"phase\":\"Pending\"," INITS(C("i", WAITING("PodInitializing")) "," C("j",
					WAITING("PodInitializing")))),
			CELLS("0/1", "Init:0/2", "0") },
		{ "second_init_container",
			POD(SPECI, "\"phase\":\"Pending\"," INITS(C("i", COMPLETED) "," C("j", RUNNING))),
			CELLS("0/1", "Init:1/2", "0") },
		{ "init_container_failed",
			POD(SPECI,
				"\"phase\":\"Pending\"," INITS(
					"{\"name\":\"i\",\"restartCount\":3,\"state\":{" ENDED(
						"\"exitCode\":1,\"reason\":\"Error\"") "}}")),
			CELLS("0/1", "Init:Error", "3") },
		{ "init_container_exit_code",
			POD(SPECI, "\"phase\":\"Pending\"," INITS(C("i", ENDED("\"exitCode\":4")))),
			CELLS("0/1", "Init:ExitCode:4", "0") },
		{ "init_container_signal",
			POD(SPECI,
				"\"phase\":\"Pending\"," INITS(
					C("i", ENDED("\"exitCode\":4,\"signal\":11")))),
			CELLS("0/1", "Init:Signal:11", "0") },
		{ "init_container_waits",
			POD(SPECI, "\"phase\":\"Pending\"," INITS(C("i", WAITING("ImagePullBackOff")))),
			CELLS("0/1", "Init:ImagePullBackOff", "0") },
		{ "initialized_all_the_same",
			POD(SPECI,
				"\"phase\":\"Running\"," CONDITIONS
				"," INITS(C("i", COMPLETED) "," C("j", RUNNING)) "," CONTAINERS(READY("a"))),
			CELLS("1/1", "Init:1/2", "0") },
		{ "sidecar",
			POD(SPECS,
				"\"phase\":\"Running\"," CONDITIONS "," INITS(
					"{\"name\":\"i\",\"ready\":true,\"started\":true,\"restartCount\":2,\"state\":{\"running\":{}}}," C(
						"j", COMPLETED)) "," CONTAINERS(READY("a"))),
			CELLS("2/2", "Running", "2") },
		{ "terminating", GOING("\"phase\":\"Running\"," CONTAINERS(READY("a"))),
			CELLS("1/1", "Terminating", "0") },
		{ "terminating_but_over", GOING("\"phase\":\"Failed\""), CELLS("0/1", "Failed", "0") },
		{ "node_lost", GOING("\"phase\":\"Running\",\"reason\":\"NodeLost\""),
			CELLS("0/1", "Unknown", "0") },
		{ "wide",
			"{" META(
				"p") ",\"spec\":{\"containers\":[{\"name\":\"a\"}],\"readinessGates\":[{\"conditionType\":\"x\"},{\"conditionType\":\"y\"}]},"
				     "\"status\":{\"phase\":\"Pending\",\"podIPs\":[{\"ip\":\"10.0.0.1\"}],\"nominatedNodeName\":\"m\","
				     "\"conditions\":[{\"type\":\"x\",\"status\":\"True\"},{\"type\":\"y\",\"status\":\"False\"}]}}",
			"[\"p\",\"0/1\",\"Pending\",\"0\",\"30s\",\"10.0.0.1\",\"<none>\",\"m\",\"1/2\"]" },
		{ "empty", "{}",
			"[\"\",\"0/0\",\"\",\"0\",\"<unknown>\",\"<none>\",\"<none>\",\"<none>\",\"<none>\"]" },
	};
	static const struct sim_resource resource = { .group = "", .plural = "pods" };

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++)
		check_cells(rows[i].name, &resource, rows[i].json, rows[i].want);
}

/* ---- the other built-in types ---- */

static void built_in_types(void **state)
{
	static const struct {
		const char *name, *group, *plural, *json, *want;
	} rows[] = {
		{ "node", "", "nodes",
			"{\"metadata\":{\"name\":\"t1\"," CREATED
			",\"labels\":{\"node-role.kubernetes.io/worker\":\"\",\"node-role.kubernetes.io/control-plane\":\"\","
			"\"kubernetes.io/role\":\"zz\"}},\"spec\":{\"unschedulable\":true},\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}],"
			"\"addresses\":[{\"type\":\"InternalIP\",\"address\":\"1.2.3.4\"},{\"type\":\"ExternalIP\",\"address\":\"5.6.7.8\"}],\"nodeInfo\":{\"architecture\":\"amd64\","
			"\"containerRuntimeVersion\":\"cr://1\",\"kernelVersion\":\"6.1\",\"kubeletVersion\":\"v1.37.1\",\"osImage\":\"Debian\"}}}",
			"[\"t1\",\"Ready,SchedulingDisabled\",\"control-plane,worker,zz\",\"30s\",\"v1.37.1\",\"1.2.3.4\",\"5.6.7.8\",\"Debian\",\"6.1 (amd64)\",\"cr://1\"]" },
		{ "node_not_ready", "", "nodes",
			"{" META(
				"t2") ",\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"Unknown\"}]}}",
			"[\"t2\",\"NotReady\",\"<none>\",\"30s\",\"\",\"<none>\",\"<none>\",\"<unknown>\",\"<unknown>\",\"<unknown>\"]" },
		{ "node_without_status", "", "nodes", "{" META("t3") "}",
			"[\"t3\",\"Unknown\",\"<none>\",\"30s\",\"\",\"<none>\",\"<none>\",\"<unknown>\",\"<unknown>\",\"<unknown>\"]" },
		{ "namespace", "", "namespaces", "{" META("x") ",\"status\":{\"phase\":\"Active\"}}",
			"[\"x\",\"Active\",\"30s\"]" },
		{ "configmap", "", "configmaps",
			"{" META("x") ",\"data\":{\"a\":\"b\"},\"binaryData\":{\"c\":\"AA==\"}}",
			"[\"x\",2,\"30s\"]" },
		{ "secret", "", "secrets", "{" META("x") ",\"type\":\"Opaque\",\"data\":{\"a\":\"AA==\"}}",
			"[\"x\",\"Opaque\",1,\"30s\"]" },
		{ "serviceaccount", "", "serviceaccounts", "{" META("x") "}", "[\"x\",\"30s\"]" },
		{ "what_nothing_acts_upon_has_no_columns", "", "limitranges", "{" META("x") "}",
			"[\"x\",\"2026-11-21T10:00:00Z\"]" },
		{ "quota", "", "resourcequotas",
			"{" META(
				"q") ",\"status\":{\"hard\":{\"limits.cpu\":\"5\",\"requests.cpu\":\"3\",\"pods\":\"100\"},\"used\":{\"limits.cpu\":\"1\",\"pods\":\"2\",\"requests.cpu\":\"500m\"}}}",
			"[\"q\",\"pods: 2/100, requests.cpu: 500m/3\",\"limits.cpu: 1/5\",\"30s\"]" },
		{ "event", "", "events",
			"{" META(
				"e") ",\"involvedObject\":{\"kind\":\"Pod\",\"name\":\"p\",\"fieldPath\":\"spec.x\"},\"reason\":\"R\",\"message\":\"  hi\\n\","
				     "\"source\":{\"component\":\"c\",\"host\":\"h\"},\"type\":\"Normal\",\"count\":3,\"firstTimestamp\":\"2026-11-21T09:00:30Z\","
				     "\"lastTimestamp\":\"2026-11-21T09:59:00Z\"}",
			"[\"90s\",\"Normal\",\"R\",\"pod/p\",\"spec.x\",\"c, h\",\"hi\",\"60m\",3,\"e\"]" },
		{ "event_with_series", "events.k8s.io", "events",
			"{" META(
				"e") ",\"regarding\":{\"kind\":\"QueueJob\",\"name\":\"p\"},\"reason\":\"R\",\"note\":\"n\",\"reportingController\":\"rc\",\"reportingInstance\":\"ri\","
				     "\"type\":\"Warning\",\"eventTime\":\"2026-11-21T10:00:00.000000Z\",\"series\":{\"count\":9,\"lastObservedTime\":\"2026-11-21T10:00:29.000000Z\"}}",
			"[\"1s\",\"Warning\",\"R\",\"queuejob/p\",\"\",\"rc, ri\",\"n\",\"30s\",9,\"e\"]" },
		{ "event_alone", "", "events",
			"{" META(
				"e") ",\"involvedObject\":{\"kind\":\"Pod\"},\"eventTime\":\"2026-11-21T10:00:00.000000Z\"}",
			"[\"30s\",\"\",\"\",\"pod\",\"\",\"\",\"\",\"30s\",1,\"e\"]" },
		{ "lease", "coordination.k8s.io", "leases",
			"{" META("l") ",\"spec\":{\"holderIdentity\":\"me\"}}", "[\"l\",\"me\",\"30s\"]" },
		{ "priorityclass", "scheduling.k8s.io", "priorityclasses",
			"{" META("p") ",\"value\":7,\"preemptionPolicy\":\"Never\"}",
			"[\"p\",7,false,\"30s\",\"Never\"]" },
		{ "service", "", "services",
			"{" META(
				"s") ",\"spec\":{\"type\":\"ClusterIP\",\"clusterIPs\":[\"10.1.1.1\"],\"selector\":{\"b\":\"2\",\"a\":\"1\"},\"ports\":[{\"port\":80,\"protocol\":\"TCP\",\"nodePort\":30000},"
				     "{\"port\":81,\"protocol\":\"UDP\"}]}}",
			"[\"s\",\"ClusterIP\",\"10.1.1.1\",\"<none>\",\"80:30000/TCP,81/UDP\",\"30s\",\"a=1,b=2\"]" },
		{ "service_elsewhere", "", "services",
			"{" META("s") ",\"spec\":{\"type\":\"ExternalName\",\"externalName\":\"a.b\"}}",
			"[\"s\",\"ExternalName\",\"<none>\",\"a.b\",\"<none>\",\"30s\",\"<none>\"]" },
		{ "budget", "policy", "poddisruptionbudgets",
			"{" META("p") ",\"spec\":{\"maxUnavailable\":\"25%\"}}",
			"[\"p\",\"N/A\",\"25%\",0,\"30s\"]" },
		{ "budget_in_numbers", "policy", "poddisruptionbudgets",
			"{" META("p") ",\"spec\":{\"minAvailable\":2},\"status\":{\"disruptionsAllowed\":1}}",
			"[\"p\",\"2\",\"N/A\",1,\"30s\"]" },
		{ "rolebinding", "rbac.authorization.k8s.io", "rolebindings",
			"{" META(
				"r") ",\"roleRef\":{\"kind\":\"Role\",\"name\":\"x\"},\"subjects\":[{\"kind\":\"User\",\"name\":\"u\"},{\"kind\":\"User\",\"name\":\"v\"},"
				     "{\"kind\":\"Group\",\"name\":\"g\"},{\"kind\":\"ServiceAccount\",\"name\":\"s\",\"namespace\":\"t\"}]}",
			"[\"r\",\"Role/x\",\"30s\",\"u, v\",\"g\",\"t/s\"]" },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const struct sim_resource resource = { .group = rows[i].group, .plural = rows[i].plural };

		check_cells(rows[i].name, &resource, rows[i].json, rows[i].want);
	}
}

/* ---- rows ---- */

static void rows_carry_what_was_asked_for(void **state)
{
	static const struct {
		const char *include, *want;
	} rows[] = {
		{ NULL,
			"{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\"," META(
				"x") "}" },
		{ "Metadata",
			"{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\"," META(
				"x") "}" },
		{ "Object", "{" META("x") ",\"data\":{}}" },
		{ "None", "null" },
	};
	static const struct sim_resource resource = { .group = "", .plural = "configmaps" };

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct sim_value *table KAR_CLEANUP(sim_cleanup_value) =
			table_of(&resource, "{" META("x") ",\"data\":{}}", rows[i].include);
		struct kar_buf got KAR_CLEANUP(kar_cleanup_buf) = { 0 };

		sim_print(sim_get(sim_item(sim_get(table, "rows"), 0), "object"), &got);
		assert_string_equal(kar_buf_cstr(&got), rows[i].want);
	}
}

static void ended_pods_are_marked(void **state)
{
	static const struct sim_resource resource = { .group = "", .plural = "pods" };
	struct sim_value *done KAR_CLEANUP(sim_cleanup_value) =
		table_of(&resource, POD(SPEC1, "\"phase\":\"Succeeded\""), NULL);
	struct sim_value *runs KAR_CLEANUP(sim_cleanup_value) =
		table_of(&resource, POD(SPEC1, "\"phase\":\"Running\""), NULL);
	struct kar_buf got KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	(void)state;
	sim_print(sim_get(sim_item(sim_get(done, "rows"), 0), "conditions"), &got);
	assert_string_equal(kar_buf_cstr(&got),
		"[{\"type\":\"Completed\",\"status\":\"True\",\"reason\":\"Succeeded\",\"message\":\"The pod has completed successfully.\"}]");
	assert_null(sim_get(sim_item(sim_get(runs, "rows"), 0), "conditions"));
}

static void durations(void **state)
{
	static const struct {
		kar_time seconds;
		const char *want;
	} rows[] = {
		{ -5, "<invalid>" },
		{ -1, "0s" },
		{ 0, "0s" },
		{ 119, "119s" },
		{ 120, "2m" },
		{ 150, "2m30s" },
		{ 599, "9m59s" },
		{ 600, "10m" },
		{ 3 * 3600 - 1, "179m" },
		{ 3 * 3600, "3h" },
		{ 3 * 3600 + 60, "3h1m" },
		{ 8 * 3600 + 60, "8h" },
		{ 47 * 3600, "47h" },
		{ 48 * 3600, "2d" },
		{ 49 * 3600, "2d1h" },
		{ 8 * 86400 + 3600, "8d" },
		{ 729 * 86400, "729d" },
		{ 730 * 86400, "2y" },
		{ 731 * 86400, "2y1d" },
		{ (kar_time)2921 * 86400, "8y" },
	};
	char text[32];

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++)
		assert_string_equal(sim_human_duration(rows[i].seconds * KAR_SECOND, text), rows[i].want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pods),
		cmocka_unit_test(built_in_types),
		cmocka_unit_test(rows_carry_what_was_asked_for),
		cmocka_unit_test(ended_pods_are_marked),
		cmocka_unit_test(durations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
