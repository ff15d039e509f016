/* Pods as the API serves them, and what is kept of them. */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/str.h"
#include "test/fixture/projection.h"

static void release(const struct kar_pod *p)
{
	kar_object_unref(&p->o);
}

#define META "\"metadata\":{\"name\":\"p\",\"namespace\":\"ns\",\"uid\":\"u\",\"resourceVersion\":\"7\""
#define POD_META(more) "{" META more "}}"
#define POD_STATUS(status) "{" META "},\"status\":{" status "}}"
#define POD_SPEC(spec) "{" META "},\"spec\":{" spec "}}"
#define LABELS(...) ",\"labels\":{" __VA_ARGS__ "}"
#define ANNOTATIONS(...) ",\"annotations\":{" __VA_ARGS__ "}"

#define STRONGEST "\"scheduling.x-k8s.io/pod-group\":\"first\""
#define OLD "\"pod-group.scheduling.sigs.k8s.io\":\"second\""
#define NAME \
	"\"pod-group.scheduling.sigs.k8s.io/name\":\"third\",\"pod-group.scheduling.sigs.k8s.io/min-available\":\"3\""
#define GANG "\"gang.scheduling.koordinator.sh/name\":\"fourth\""
#define GROUP_NAME "\"scheduling.k8s.io/group-name\":\"fifth\""

static const struct {
	const char *name, *json, *group;
} memberships[] = {
	{ "no_label_no_group", POD_META(""), NULL },
	{ "label", POD_META(LABELS(STRONGEST)), "ns/first" },
	{ "older_label", POD_META(LABELS(OLD)), "ns/second" },
	{ "name_label", POD_META(LABELS(NAME)), "ns/third" },
	{ "gang_annotation", POD_META(ANNOTATIONS(GANG)), "ns/fourth" },
	{ "group_name_annotation", POD_META(ANNOTATIONS(GROUP_NAME)), "ns/fifth" },
	{ "strongest_label_wins", POD_META(LABELS(NAME "," OLD "," STRONGEST)), "ns/first" },
	{ "older_label_beats_name_label", POD_META(LABELS(NAME "," OLD)), "ns/second" },
	{ "weakest_label_beats_annotation", POD_META(LABELS(NAME) ANNOTATIONS(GANG "," GROUP_NAME)),
		"ns/third" },
	{ "gang_annotation_beats_group_name", POD_META(ANNOTATIONS(GROUP_NAME "," GANG)), "ns/fourth" },
	{ "label_of_an_annotation_key_is_no_membership", POD_META(LABELS(GANG)), NULL },
	{ "annotation_of_a_label_key_is_no_membership", POD_META(ANNOTATIONS(STRONGEST)), NULL },
	{ "empty_label_names_nothing",
		POD_META(LABELS("\"scheduling.x-k8s.io/pod-group\":\"\"") ANNOTATIONS(GROUP_NAME)),
		"ns/fifth" },
	{ "other_namespace_cannot_be_named",
		POD_META(ANNOTATIONS("\"scheduling.k8s.io/group-name\":\"other/g\"")), NULL },
};

static void membership_follows_the_order_of_keys(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(memberships); i++) {
		const struct kar_pod *p = pod_of(memberships[i].json);
		const char *want = memberships[i].group;

		if (want ? !p->group || strcmp(p->group, want) != 0 : p->group != NULL)
			fail_msg("%s: want %s, got %s", memberships[i].name, want ? want : "none",
				p->group ? p->group : "none");
		assert_ptr_equal(kar_pod_type.index_key(&p->o, KAR_POD_BY_GROUP), p->group);
		release(p);
	}
}

static void annotation_too_long_for_a_name_is_no_group(void **state)
{
	char name[301], json[512];
	const struct kar_pod *p;

	(void)state;
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	snprintf(json, sizeof(json), POD_META(ANNOTATIONS("\"scheduling.k8s.io/group-name\":\"%s\"")), name);
	p = pod_of(json);
	assert_null(p->group);
	release(p);
}

enum {
	READY = 1,
	UNSCHEDULABLE = 2,
	DISRUPTED = 4,
	GATE_OURS = 8,
	GATE_FOREIGN = 16,
	TRACKED = 32,
	NATIVE = 64,
	SEEN = 128,
};

#define CONDITION(type, status, reason) \
	"\"conditions\":[{\"type\":\"" type "\",\"status\":\"" status "\",\"reason\":\"" reason "\"}]"

static const struct {
	const char *name, *json;
	enum kar_pod_phase phase;
	int flags;
} states[] = {
	{ "no_status_is_pending", POD_META(""), KAR_POD_PENDING, 0 },
	{ "pending", POD_STATUS("\"phase\":\"Pending\""), KAR_POD_PENDING, 0 },
	{ "running", POD_STATUS("\"phase\":\"Running\""), KAR_POD_RUNNING, 0 },
	{ "succeeded", POD_STATUS("\"phase\":\"Succeeded\""), KAR_POD_SUCCEEDED, 0 },
	{ "failed", POD_STATUS("\"phase\":\"Failed\""), KAR_POD_FAILED, 0 },
	{ "unknown", POD_STATUS("\"phase\":\"Unknown\""), KAR_POD_UNKNOWN, 0 },
	{ "ready", POD_STATUS(CONDITION("Ready", "True", "")), KAR_POD_PENDING, READY },
	{ "not_ready", POD_STATUS(CONDITION("Ready", "False", "ContainersNotReady")), KAR_POD_PENDING, 0 },
	{ "unschedulable", POD_STATUS(CONDITION("PodScheduled", "False", "Unschedulable")), KAR_POD_PENDING,
		UNSCHEDULABLE | SEEN },
	{ "gated_is_not_unschedulable", POD_STATUS(CONDITION("PodScheduled", "False", "SchedulingGated")),
		KAR_POD_PENDING, 0 },
	{ "scheduled_is_not_unschedulable", POD_STATUS(CONDITION("PodScheduled", "True", "Unschedulable")),
		KAR_POD_PENDING, SEEN },
	{ "scheduler_fails", POD_STATUS(CONDITION("PodScheduled", "False", "SchedulerError")),
		KAR_POD_PENDING, SEEN },
	{ "disruption_target",
		POD_STATUS("\"phase\":\"Failed\"," CONDITION("DisruptionTarget", "True",
			"EvictionByEvictionAPI")),
		KAR_POD_FAILED, DISRUPTED },
	{ "disruption_target_false", POD_STATUS(CONDITION("DisruptionTarget", "False", "x")), KAR_POD_PENDING,
		0 },
	{ "evicted", POD_STATUS("\"phase\":\"Failed\",\"reason\":\"Evicted\""), KAR_POD_FAILED, DISRUPTED },
	{ "preempting", POD_STATUS("\"phase\":\"Failed\",\"reason\":\"Preempting\""), KAR_POD_FAILED,
		DISRUPTED },
	{ "node_lost", POD_STATUS("\"phase\":\"Unknown\",\"reason\":\"NodeLost\""), KAR_POD_UNKNOWN,
		DISRUPTED },
	{ "node_shutdown", POD_STATUS("\"phase\":\"Failed\",\"reason\":\"Terminated\""), KAR_POD_FAILED,
		DISRUPTED },
	{ "evicted_stays_disrupted_with_other_conditions",
		POD_STATUS("\"reason\":\"Evicted\"," CONDITION("DisruptionTarget", "False", "x")),
		KAR_POD_PENDING, DISRUPTED },
	{ "deadline_is_a_failure", POD_STATUS("\"phase\":\"Failed\",\"reason\":\"DeadlineExceeded\""),
		KAR_POD_FAILED, 0 },
	{ "refused_by_the_node_is_a_failure", POD_STATUS("\"phase\":\"Failed\",\"reason\":\"OutOfcpu\""),
		KAR_POD_FAILED, 0 },
	{ "our_gate", POD_SPEC("\"schedulingGates\":[{\"name\":\"kube-arbitrator.io/gang\"}]"),
		KAR_POD_PENDING, GATE_OURS },
	{ "foreign_gate", POD_SPEC("\"schedulingGates\":[{\"name\":\"other\"}]"), KAR_POD_PENDING,
		GATE_FOREIGN },
	{ "both_gates",
		POD_SPEC("\"schedulingGates\":[{\"name\":\"other\"},{\"name\":\"kube-arbitrator.io/gang\"}]"),
		KAR_POD_PENDING, GATE_OURS | GATE_FOREIGN },
	{ "group_of_kubernetes", POD_SPEC("\"schedulingGroup\":{\"podGroupName\":\"g\"}"), KAR_POD_PENDING,
		NATIVE },
	{ "group_without_a_name", POD_SPEC("\"schedulingGroup\":{}"), KAR_POD_PENDING, 0 },
	{ "tracked", POD_META(",\"finalizers\":[\"other\",\"kube-arbitrator.io/pod-tracking\"]"),
		KAR_POD_PENDING, TRACKED },
	{ "foreign_finalizer", POD_META(",\"finalizers\":[\"other\"]"), KAR_POD_PENDING, 0 },
};

static int flags_of(const struct kar_pod *p)
{
	return (p->ready ? READY : 0) | (p->unschedulable ? UNSCHEDULABLE : 0) | (p->seen ? SEEN : 0) |
		(p->disrupted ? DISRUPTED : 0) | (p->gate_ours ? GATE_OURS : 0) |
		(p->gate_foreign ? GATE_FOREIGN : 0) | (p->tracked ? TRACKED : 0) | (p->native ? NATIVE : 0);
}

static void status_becomes_phase_and_flags(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(states); i++) {
		const struct kar_pod *p = pod_of(states[i].json);

		if (p->phase != states[i].phase || flags_of(p) != states[i].flags)
			fail_msg("%s: want phase %d flags %d, got phase %d flags %d", states[i].name,
				states[i].phase, states[i].flags, p->phase, flags_of(p));
		release(p);
	}
}

/* Pods of a QueueJob. */
#define OURS "\"kube-arbitrator.io/queuejob\":\"j\""
#define ENDED(code, reason, at) \
	"{\"state\":{\"terminated\":{\"exitCode\":" #code ",\"reason\":\"" reason \
	"\",\"finishedAt\":\"2026-11-21T10:00:" at "Z\"}}}"
#define RUNS "{\"state\":{\"running\":{}}}"
#define FAILED(status) "{" META LABELS(OURS) "},\"status\":{\"phase\":\"Failed\"," status "}}"

static const struct {
	const char *name, *json, *reason;
	int exit_code;
} failures[] = {
	{ "container_failed", FAILED("\"containerStatuses\":[" ENDED(3, "Error", "01") "]"), "Error", 3 },
	{ "out_of_memory", FAILED("\"containerStatuses\":[" ENDED(137, "OOMKilled", "01") "]"), "OOMKilled",
		137 },
	{ "earliest_is_the_cause",
		FAILED("\"containerStatuses\":[" ENDED(137, "Error", "09") "," ENDED(5, "Error",
			"02") "," ENDED(143, "Error", "09") "]"),
		"Error", 5 },
	{ "same_time_first_in_the_list",
		FAILED("\"containerStatuses\":[" ENDED(4, "A", "02") "," ENDED(5, "B", "02") "]"), "A", 4 },
	{ "init_container_failed",
		FAILED("\"initContainerStatuses\":[" ENDED(0, "Completed", "01") "," ENDED(2, "Error",
			"02") "],"
			      "\"containerStatuses\":[{\"state\":{\"waiting\":{\"reason\":\"PodInitializing\"}}}]"),
		"Error", 2 },
	{ "sidecar_killed_after_the_container_failed",
		FAILED("\"initContainerStatuses\":[" ENDED(143, "Error",
			"05") "],\"containerStatuses\":[" ENDED(1, "Bug", "03") "]"),
		"Bug", 1 },
	{ "completed_container_is_not_the_cause",
		FAILED("\"containerStatuses\":[" ENDED(0, "Completed", "01") "," ENDED(7, "Error", "02") "]"),
		"Error", 7 },
	{ "reason_of_the_pod_wins",
		FAILED("\"reason\":\"Evicted\",\"containerStatuses\":[" ENDED(137, "Error", "01") "]"),
		"Evicted", 137 },
	{ "pod_failed_without_a_container", FAILED("\"reason\":\"NodeAffinity\""), "NodeAffinity", 0 },
	{ "no_reason_at_all", FAILED("\"containerStatuses\":[" RUNS "]"), NULL, 0 },
	{ "running_pod_has_no_failure",
		"{" META LABELS(OURS) "},\"status\":{\"phase\":\"Running\",\"containerStatuses\":[" ENDED(1,
			"Error", "01") "]}}",
		NULL, 0 },
};

static void cause_of_a_failure_is_kept(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(failures); i++) {
		const struct kar_pod *p = pod_of(failures[i].json);
		const char *got, *want = failures[i].reason;
		int code;

		assert_non_null(p->job);
		got = p->job->loss ? p->job->loss->reason : NULL;
		code = p->job->loss ? p->job->loss->exit_code : 0;
		if (code != failures[i].exit_code || (want ? !got || strcmp(got, want) != 0 : got != NULL))
			fail_msg("%s: want %s, exit code %d; got %s, exit code %d", failures[i].name,
				want ? want : "none", failures[i].exit_code, got ? got : "none", code);
		release(p);
	}
}

static const struct {
	const char *name, *labels;
	int index, incarnation;
} numbers[] = {
	{ "numbers", OURS ",\"kube-arbitrator.io/index\":\"12\",\"kube-arbitrator.io/incarnation\":\"3\"", 12,
		3 },
	{ "absent", OURS, -1, 0 },
	{ "no_numbers", OURS ",\"kube-arbitrator.io/index\":\"x\",\"kube-arbitrator.io/incarnation\":\"1x\"",
		-1, 0 },
	{ "empty", OURS ",\"kube-arbitrator.io/index\":\"\",\"kube-arbitrator.io/incarnation\":\"\"", -1, 0 },
	{ "too_large",
		OURS
		",\"kube-arbitrator.io/index\":\"2147483648\",\"kube-arbitrator.io/incarnation\":\"99999999999\"",
		-1, 0 },
	{ "negative", OURS ",\"kube-arbitrator.io/index\":\"-3\",\"kube-arbitrator.io/incarnation\":\"-3\"",
		-1, 0 },
};

static void index_and_incarnation_are_read_from_labels(void **state)
{
	char json[512];

	(void)state;
	for (size_t i = 0; i < KAR_LEN(numbers); i++) {
		snprintf(json, sizeof(json), POD_META(LABELS("%s")), numbers[i].labels);

		const struct kar_pod *p = pod_of(json);

		assert_non_null(p->job);
		if (p->job->index != numbers[i].index || p->job->incarnation != numbers[i].incarnation)
			fail_msg("%s: want %d/%d, got %d/%d", numbers[i].name, numbers[i].index,
				numbers[i].incarnation, p->job->index, p->job->incarnation);
		release(p);
	}
}

/* As served, with what is never kept: managedFields, volumes, environment, foreign owners. */
static const char whole[] =
	"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"j-worker-0\",\"namespace\":\"default\","
	"\"uid\":\"0f8fad5b-d9cb-469f-a165-70867728950e\",\"resourceVersion\":\"4711\","
	"\"creationTimestamp\":\"2026-11-21T10:00:00Z\",\"deletionTimestamp\":\"2026-11-21T10:05:00Z\","
	"\"labels\":{\"kube-arbitrator.io/queuejob\":\"j\",\"kube-arbitrator.io/task\":\"worker\","
	"\"kube-arbitrator.io/index\":\"0\",\"scheduling.x-k8s.io/pod-group\":\"j\"},"
	"\"annotations\":{\"kube-arbitrator.io/template-hash\":\"00ff00ff00ff00ff\"},"
	"\"ownerReferences\":[{\"kind\":\"Other\",\"name\":\"o\",\"uid\":\"x\",\"controller\":false},"
	"{\"apiVersion\":\"kube-arbitrator.io/v1alpha1\",\"kind\":\"QueueJob\",\"name\":\"j\",\"uid\":\"job-uid\",\"controller\":true}],"
	"\"managedFields\":[{\"manager\":\"kubectl\",\"fieldsV1\":{\"f:metadata\":{\"f:labels\":{}}}}]},"
	"\"spec\":{\"nodeName\":\"node-1\",\"priority\":1000,\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"env\":"
	"[{\"name\":\"A\",\"value\":\"B\"}]}],\"volumes\":[{\"name\":\"v\",\"emptyDir\":{}}]},"
	"\"status\":{\"phase\":\"Running\",\"podIP\":\"10.0.0.1\"}}";

static void whole_pod_is_projected(void **state)
{
	const struct kar_pod *p = pod_of(whole);

	(void)state;
	assert_string_equal(p->o.name, "j-worker-0");
	assert_string_equal(p->o.ns, "default");
	assert_string_equal(p->o.uid, "0f8fad5b-d9cb-469f-a165-70867728950e");
	assert_int_equal(p->o.rv, 4711);
	assert_string_equal(p->node, "node-1");
	assert_string_equal(p->group, "default/j");
	assert_string_equal(p->owner_uid, "job-uid");
	assert_string_equal(p->owner_name, "j");
	assert_string_equal(p->owner_kind, "QueueJob");
	assert_int_equal(p->priority, 1000);
	assert_int_equal(p->deletion - p->creation, 5 * KAR_MINUTE);
	assert_string_equal(p->job->task, "worker");
	assert_string_equal(p->job->template_hash, "00ff00ff00ff00ff");
	assert_ptr_equal(kar_pod_type.index_key(&p->o, KAR_POD_BY_OWNER), p->owner_uid);
	assert_ptr_equal(kar_pod_type.index_key(&p->o, KAR_POD_BY_NODE), p->node);
	release(p);
}

/* What a PodGroup is made from if nobody makes one. */
static void gang_without_a_podgroup_is_kept(void **state)
{
#define OPTION "gang.scheduling.koordinator.sh/"
#define ASKS_FOR(min) ",\"annotations\":{\"" OPTION "name\":\"g\",\"" OPTION "min-available\":\"" min "\"}"
	static const struct {
		const char *meta, *gang; /* NULL: none */
	} rows[] = {
		{ ASKS_FOR("3"), "{\"minMember\":3,\"annotations\":{}}" },
		{ ",\"labels\":{\"pod-group.scheduling.sigs.k8s.io/name\":\"g\",\"pod-group.scheduling.sigs.k8s.io/min-available\":\"2\"}",
			"{\"minMember\":2,\"annotations\":{}}" },
		{ ",\"annotations\":{\"" OPTION "name\":\"g\",\"" OPTION "min-available\":\"3\",\"" OPTION
		  "mode\":\"NonStrict\",\"" OPTION "waiting-time\":\"90s\",\"" OPTION
		  "timeout\":\"true\",\"x\":\"y\"}",
			"{\"minMember\":3,\"annotations\":{\"" OPTION "mode\":\"NonStrict\",\"" OPTION
			"waiting-time\":\"90s\"}}" },
		{ ASKS_FOR("0"), NULL },
		{ ASKS_FOR("-1"), NULL },
		{ ASKS_FOR("2147483648"), NULL },
		{ ASKS_FOR("three"), NULL },
		{ ASKS_FOR(""), NULL },
		{ ",\"annotations\":{\"" OPTION "name\":\"g\"}", NULL },
		{ ",\"annotations\":{\"" OPTION "min-available\":\"3\"}", NULL },
		{ ",\"annotations\":{\"" OPTION "name\":\"a/b\",\"" OPTION "min-available\":\"3\"}", NULL },
		/* somebody makes the group */
		{ ",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"g\"}" ASKS_FOR("3"), NULL },
		{ ",\"labels\":{\"pod-group.scheduling.sigs.k8s.io\":\"g\"}" ASKS_FOR("3"), NULL },
		/* the minimum is beside the name */
		{ ",\"labels\":{\"pod-group.scheduling.sigs.k8s.io/name\":\"g\"}" ASKS_FOR("3"), NULL },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		char text[1024];
		const struct kar_pod *p;

		snprintf(text, sizeof(text), "{" META "%s}}", rows[i].meta);
		p = pod_of(text);
		if (!kar_streq(kar_pod_gang(p), rows[i].gang))
			fail_msg("%s: want %s, got %s", rows[i].meta, rows[i].gang ? rows[i].gang : "none",
				kar_pod_gang(p) ? kar_pod_gang(p) : "none");
		release(p);
	}
}

static void queue_of_the_group_is_kept(void **state)
{
#define QUEUE "\"kube-arbitrator.io/queue\":\"q\""
	static const struct {
		const char *meta, *queue; /* NULL: none */
		bool gang;
	} rows[] = {
		{ ",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"g\"," QUEUE "}", "q", false },
		{ ",\"labels\":{" QUEUE "}" ASKS_FOR("3"), "q", true },
		{ "" ASKS_FOR("3"), NULL, true },
		{ ",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"g\"},\"annotations\":{" QUEUE "}", NULL,
			false },
		{ ",\"labels\":{" QUEUE "}", NULL, false }, /* in no group */
		{ ",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"g\",\"kube-arbitrator.io/queuejob\":\"g\"," QUEUE
		  "}",
			NULL, false },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		char text[1024];
		const struct kar_pod *p;

		snprintf(text, sizeof(text),
			"{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\",\"uid\":\"u\",\"resourceVersion\":\"1\"%s}}",
			rows[i].meta);
		p = pod_of(text);
		if (!kar_streq(kar_pod_queue(p), rows[i].queue) || (kar_pod_gang(p) != NULL) != rows[i].gang)
			fail_msg("row %zu: %s", i, kar_pod_queue(p));
		assert_string_equal(p->o.name, "p");
		release(p);
	}
#undef QUEUE
}

/* By what a pod that our finalizer holds is found when its job is gone, and the group's label with it. */
static void pods_outside_their_group_are_found_by_job(void **state)
{
#define OWNED_BY(kind) \
	",\"ownerReferences\":[{\"kind\":\"" kind "\",\"name\":\"j\",\"uid\":\"o\",\"controller\":true}]"
#define HELD ",\"finalizers\":[\"kube-arbitrator.io/pod-tracking\"]"
	static const struct {
		const char *name, *json, *job;
	} rows[] = {
		{ "held", POD_META(OWNED_BY("QueueJob") HELD), "j" },
		{ "not held", POD_META(OWNED_BY("QueueJob")), NULL },
		{ "of another kind", POD_META(OWNED_BY("ReplicaSet") HELD), NULL },
		{ "nobody's", POD_META(HELD), NULL },
		{ "with its label",
			POD_META(OWNED_BY("QueueJob") HELD
				",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"j\"}"),
			NULL },
		{ "with another's label",
			POD_META(OWNED_BY("QueueJob") HELD
				",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"jj\"}"),
			"j" },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const struct kar_pod *p = pod_of(rows[i].json);

		if (!kar_streq(kar_pod_type.index_key(&p->o, KAR_POD_BY_UNLABELLED), rows[i].job))
			fail_msg("%s", rows[i].name);
		assert_int_equal(kar_pod_is_unreferenced(p), strcmp(rows[i].name, "nobody's") == 0);
		release(p);
	}
}

/* The label by which a Service, and people, find the pods of a job. */
static void label_is_that_of_the_owner(void **state)
{
	static const struct {
		const char *json;
		bool labelled;
	} rows[] = {
		{ POD_META(OWNED_BY("QueueJob") ",\"labels\":{\"kube-arbitrator.io/queuejob\":\"j\"}"),
			true },
		{ POD_META(OWNED_BY("QueueJob") ",\"labels\":{\"kube-arbitrator.io/queuejob\":\"x\"}"),
			false },
		{ POD_META(OWNED_BY("QueueJob")), false },
		{ POD_META(",\"labels\":{\"kube-arbitrator.io/queuejob\":\"j\"}"), false },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const struct kar_pod *p = pod_of(rows[i].json);

		if (p->labelled != rows[i].labelled)
			fail_msg("%s", rows[i].json);
		release(p);
	}
}

#define UNPLACED(group, node, spec, message) \
	"{" META ",\"labels\":{" group "}},\"spec\":{" node spec \
	"},\"status\":{\"conditions\":[{\"type\":\"PodScheduled\"," \
	"\"status\":\"False\",\"reason\":\"Unschedulable\",\"message\":\"" message "\"}]}}"
#define IN_GROUP "\"scheduling.x-k8s.io/pod-group\":\"g\""
#define ASKS(more, requests) "{\"name\":\"c\"," more "\"resources\":{\"requests\":{" requests "}}}"

/* The words of the scheduler, and what the pod asks for as the scheduler counts. */
static void pod_without_a_node_says_why(void **state)
{
	static const struct {
		const char *json, *message, *asks;
	} samples[] = {
		{ UNPLACED(IN_GROUP, "",
			  "\"containers\":[" ASKS("", "\"cpu\":\"99500m\",\"memory\":\"16Mi\"") "," ASKS("",
				  "\"cpu\":\"500m\",\"memory\":\"16Mi\"") "]",
			  "0/4 nodes are available: 4 Insufficient cpu. preemption: 0/4 nodes are available: 4 No preemption victims found."),
			"0/4 nodes are available: 4 Insufficient cpu", "cpu 100, memory 32Mi" },
		{ UNPLACED(IN_GROUP, "", "",
			  "0/1 nodes are available: 1 Too many pods. no new claims to deallocate, preemption: not eligible."),
			"0/1 nodes are available: 1 Too many pods", NULL },
		{ UNPLACED(IN_GROUP, "",
			  "\"overhead\":{\"cpu\":\"1\"},\"containers\":[" ASKS("",
				  "\"cpu\":1") "],\"initContainers\":[" ASKS("",
				  "\"cpu\":\"5\"") "," ASKS("\"restartPolicy\":\"Always\",",
				  "\"cpu\":\"2\"") "]",
			  " no\\tnodes \\n\\u0007 available \\u202e"),
			"no nodes available", "cpu 6" },
		{ UNPLACED(IN_GROUP, "",
			  "\"resources\":{\"requests\":{\"cpu\":\"7\"}},\"containers\":[" ASKS("",
				  "\"cpu\":\"x\"") "]",
			  ""),
			NULL, "cpu 7" },
		{ UNPLACED("", "", "", "no node"), "-", "-" },
		{ UNPLACED(IN_GROUP, "\"nodeName\":\"n\"", "", "no node"), "-", "-" },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(samples); i++) {
		const struct kar_pod *p = pod_of(samples[i].json);
		const struct kar_pod_unplaced none = { "-", "-" }, *u = p->unplaced ? p->unplaced : &none;

		if (!kar_streq(u->message, samples[i].message) || !kar_streq(u->asks, samples[i].asks))
			fail_msg("%s: %s, %s", samples[i].json, u->message ? u->message : "NULL",
				u->asks ? u->asks : "NULL");
		release(p);
	}
}

static void repeated_strings_are_shared(void **state)
{
	const struct kar_pod *a = pod_of(whole), *b = pod_of(whole);

	(void)state;
	assert_ptr_equal(a->node, b->node);
	assert_ptr_equal(a->group, b->group);
	assert_ptr_equal(a->owner_uid, b->owner_uid);
	assert_ptr_equal(a->job->task, b->job->task);
	release(a);
	release(b);
}

static void pod_without_our_label_has_no_job_part(void **state)
{
	const struct kar_pod *p = pod_of(POD_META(LABELS("\"kube-arbitrator.io/task\":\"worker\"")));

	(void)state;
	assert_null(p->job);
	release(p);
}

static void pod_stays_small(void **state)
{
	const struct kar_pod *p = pod_of(whole);

	(void)state;
	assert_in_range(malloc_usable_size((void *)(uintptr_t)p), 1, 344);
	release(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(membership_follows_the_order_of_keys),
		TEST(annotation_too_long_for_a_name_is_no_group),
		TEST(status_becomes_phase_and_flags),
		TEST(cause_of_a_failure_is_kept),
		TEST(index_and_incarnation_are_read_from_labels),
		TEST(whole_pod_is_projected),
		TEST(gang_without_a_podgroup_is_kept),
		TEST(queue_of_the_group_is_kept),
		TEST(pods_outside_their_group_are_found_by_job),
		TEST(label_is_that_of_the_owner),
		TEST(pod_without_a_node_says_why),
		TEST(repeated_strings_are_shared),
		TEST(pod_without_our_label_has_no_job_part),
		TEST(pod_stays_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
