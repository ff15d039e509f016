/*
 * What one object may cost the manager, whoever wrote it: each kind that is cached, made of long texts wherever the API
 * server lets them through. Counted is all that is taken from the heap, interned strings included.
 */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/copy.h"
#include "common/base/str.h"
#include "common/base/buf.h"
#include "test/fixture/projection.h"

enum { MIB = 1 << 20, KIB = 1 << 10 };

/*
 * In a row: '@' is a text of 64 KiB, '$' one of 1 MiB, which is the longest that is decoded, each another; '%' the members of a
 * map of 1,000 texts of 1 KiB. The whole has to be below 4 MiB.
 */
static void put_text(struct kar_buf *out, unsigned *n, size_t size)
{
	kar_buf_printf(out, "\"t%u-", ++*n);
	for (size_t i = 0; i + 1 < size / 16; i++)
		kar_buf_puts(out, "xxxxxxxxxxxxxxxx");
	kar_buf_puts(out, "\"");
}

static void expand(struct kar_buf *out, const char *json)
{
	enum { MANY = 1000 };
	unsigned n = 0;

	for (; *json; json++) {
		if (*json == '@' || *json == '$')
			put_text(out, &n, *json == '@' ? MIB / 16 : MIB);
		for (unsigned i = 0; i < MANY && *json == '%'; i++) {
			kar_buf_puts(out, i ? "," : "");
			put_text(out, &n, KIB);
			kar_buf_puts(out, ":\"1\"");
		}
		if (!strchr("@$%", *json))
			kar_buf_append(out, json, 1);
	}
}

static struct kar_object *make(const struct kar_type *type, const char *json)
{
	struct kar_buf text = { 0 };
	struct kar_object *o;

	expand(&text, json);
	o = object_of(type, kar_buf_cstr(&text));
	kar_buf_release(&text);
	return o;
}

static const struct kar_arena *arena_of(const struct kar_object *o)
{
	return o->type == &kar_queuejob_type          ? &kar_as_queuejob(o)->mem
		: o->type == &kar_podgroup_type       ? &kar_as_podgroup(o)->mem
		: o->type == &kar_schedulingspec_type ? &kar_as_schedulingspec(o)->mem
		: o->type == &kar_queue_type          ? &kar_as_queue(o)->mem
		: o->type == &kar_topology_type       ? &kar_as_topology(o)->mem
		: o->type == &kar_flavor_type         ? &kar_as_flavor(o)->mem
		: o->type == &kar_service_type        ? &kar_as_service(o)->mem
						      : NULL;
}

/* All that @o took from the heap; no other object has strings in the table. */
static size_t cost_of(const struct kar_object *o)
{
	const struct kar_arena *arena = arena_of(o);

	return malloc_usable_size((void *)(uintptr_t)o) + (arena ? kar_arena_bytes(arena) : 0) +
		kar_intern_bytes(strings);
}

#define META "\"name\":\"n\",\"namespace\":\"ns\",\"uid\":\"u\",\"resourceVersion\":\"7\",\"finalizers\":[@]"
#define OWNER "\"ownerReferences\":[{\"apiVersion\":@,\"kind\":@,\"name\":@,\"uid\":@,\"controller\":true}]"
#define HEAD "\"metadata\":{" META "," OWNER ",\"annotations\":{\"a\":@},\"generateName\":@}"
#define CONDITIONS \
	"\"conditions\":[{\"type\":@,\"status\":@,\"reason\":@,\"message\":@},{\"type\":@,\"reason\":@,\"message\":@}]"
#define TASK(template) "\"taskSpecs\":[{\"name\":\"w\",\"replicas\":2,\"template\":" template "}]"
#define BIG \
	"{\"metadata\":{\"annotations\":{\"a\":@}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":$}]," \
	"\"priorityClassName\":@,\"schedulerName\":@,\"hostname\":@,\"subdomain\":@}}"
#define MEDIUM \
	"{\"metadata\":{\"annotations\":{\"a\":@}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":@}]}}"
#define SMALL "{\"spec\":{\"containers\":[{\"name\":\"c\"}]}}"
#define ENDED "\"phase\":\"Failed\",\"completionTime\":\"2026-11-21T10:00:00Z\","
#define JOB_STATUS(more) \
	"\"status\":{" more \
	"\"reason\":@,\"message\":@,\"record\":{\"templateHash\":@,\"podsResourceVersion\":@,\"digest\":@,\"formation\":@}," \
	"\"tasks\":[{\"name\":@,\"succeededIndexes\":$}]," \
	"\"lastRestart\":{\"reason\":@,\"message\":@,\"pod\":@,\"node\":@}," \
	"\"conditions\":[{\"type\":\"Failed\",\"status\":\"True\",\"reason\":@,\"message\":@}]}"
#define POD(labels, status) POD_WITH("", labels, status)
#define POD_WITH(spec, labels, status) \
	"{\"metadata\":{" META "," OWNER ",\"labels\":{" labels \
	"},\"annotations\":{\"kube-arbitrator.io/template-hash\":$,\"scheduling.k8s.io/group-name\":@,\"x\":@}}," \
	"\"spec\":{" spec "\"nodeName\":@,\"schedulingGates\":[{\"name\":@}]},\"status\":{" status "}}"
#define OF_JOB "\"kube-arbitrator.io/queuejob\":\"j\",\"kube-arbitrator.io/task\":\"w\""
#define CONTAINER \
	"{\"name\":@,\"state\":{\"terminated\":{\"exitCode\":1,\"reason\":@,\"message\":@},\"waiting\":{\"reason\":@,\"message\":@}},\"restartCount\":1}"
#define POD_STATUS(phase) \
	"\"phase\":\"" phase "\",\"reason\":@,\"message\":@," \
	"\"conditions\":[{\"type\":\"DisruptionTarget\",\"status\":\"True\",\"reason\":@}]," \
	"\"containerStatuses\":[" CONTAINER "]"

/* Of about 100 bytes each, 25 of them, as many as are kept of constraints. */
#define TEXT_63 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde"
#define SELECT(n) "\"kubernetes.example.com/label-" n "\":\"" TEXT_63 "\","
#define SELECT_5(n) SELECT(n "1") SELECT(n "2") SELECT(n "3") SELECT(n "4") SELECT(n "5")
#define SELECT_25 SELECT_5("a") SELECT_5("b") SELECT_5("c") SELECT_5("d") SELECT_5("e")
/* Likewise of requests, of a pod that has a node. */
#define REQUEST(n) "\"resource-" TEXT_63 ".example.com/" n "\":1,"
#define REQUEST_5(n) REQUEST(n "1") REQUEST(n "2") REQUEST(n "3") REQUEST(n "4") REQUEST(n "5")
#define REQUESTS REQUEST_5("a") REQUEST_5("b")
#define PORT(n) "{\"hostPort\":1" n ",\"hostIP\":\"10.0.0.1\"},"
#define PORT_5(n) PORT(n "1") PORT(n "2") PORT(n "3") PORT(n "4") PORT(n "5")
#define PORTS PORT_5("1") PORT_5("2") PORT_5("3") PORT_5("4") PORT_5("5") PORT_5("6") PORT_5("7") PORT_5("8")
#define WITH_PORTS \
	"\"containers\":[{\"resources\":{\"requests\":{" REQUESTS "\"cpu\":1}},\"ports\":[" PORTS \
	"{\"hostPort\":1}]}],"

static const struct row {
	const char *name;
	const struct kar_type *type;
	const char *json;
	size_t most;
} rows[] = {
	{ "pod_of_others", &kar_pod_type, POD("", POD_STATUS("Running")), 4 * KIB },
	{ "pod_of_a_job", &kar_pod_type, POD(OF_JOB, POD_STATUS("Running")), 4 * KIB },
	{ "pod_that_failed", &kar_pod_type, POD(OF_JOB, POD_STATUS("Failed")), 4 * KIB },
	{ "pod_that_is_stuck", &kar_pod_type, POD(OF_JOB, POD_STATUS("Pending")), 4 * KIB },
	{ "pod_that_is_stuck_with_ports", &kar_pod_type, POD_WITH(WITH_PORTS, OF_JOB, POD_STATUS("Pending")),
		8 * KIB },
	{ "pod_with_constraints", &kar_pod_type,
		"{" HEAD ",\"spec\":{\"nodeSelector\":{" SELECT_25 "\"a\":\"b\"}}}", 4 * KIB },
	{ "pod_with_long_constraints", &kar_pod_type,
		"{" HEAD ",\"spec\":{\"nodeSelector\":{@:@},\"tolerations\":[{\"key\":@,\"value\":@}],"
		"\"containers\":[{\"resources\":{\"requests\":{%}}}]}}",
		4 * KIB },
	{ "pod_with_a_long_pin", &kar_pod_type,
		"{" HEAD
		",\"spec\":{\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":"
		"{\"nodeSelectorTerms\":[{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[@]}]}]}}}}}",
		4 * KIB },
	{ "pod_that_asks_for_a_gang_at_length", &kar_pod_type,
		"{\"metadata\":{" META
		",\"annotations\":{\"gang.scheduling.koordinator.sh/name\":\"g\",\"gang.scheduling.koordinator.sh/min-available\":\"2\",\"gang.scheduling.koordinator.sh/groups\":@}}}",
		4 * KIB },
	{ "pod_that_asks_for_a_gang_by_too_much", &kar_pod_type,
		"{\"metadata\":{" META
		",\"annotations\":{\"gang.scheduling.koordinator.sh/name\":\"g\",\"gang.scheduling.koordinator.sh/min-available\":@,\"gang.scheduling.koordinator.sh/mode\":@}}}",
		4 * KIB },
	{ "node", &kar_node_type,
		"{\"metadata\":{" META
		",\"labels\":{@:@,%}},\"spec\":{\"taints\":[{\"key\":@,\"value\":@,\"effect\":\"NoSchedule\"}]},"
		"\"status\":{\"allocatable\":{%},\"conditions\":[{\"type\":@,\"status\":@}]}}",
		256 * KIB },
	{ "invalid_job", &kar_queuejob_type, "{" HEAD ",\"spec\":{" TASK(BIG) "}}", 4 * KIB },
	{ "invalid_job_with_a_large_status", &kar_queuejob_type,
		"{" HEAD ",\"spec\":{" TASK(BIG) "}," JOB_STATUS("") "}", 9 * KIB },
	{ "ended_job", &kar_queuejob_type,
		"{" HEAD
		",\"spec\":{" TASK(MEDIUM) "},\"status\":{" ENDED
					   "\"conditions\":[{\"type\":\"Failed\",\"status\":\"True\"}]}}",
		4 * KIB },
	{ "ended_job_with_a_large_status", &kar_queuejob_type,
		"{" HEAD ",\"spec\":{" TASK(MEDIUM) "}," JOB_STATUS(ENDED) "}", 9 * KIB },
	{ "podgroup", &kar_podgroup_type,
		"{" HEAD
		",\"spec\":{\"minMember\":1,\"queue\":@,\"priorityClassName\":@,\"minResources\":{@:@}},"
		"\"status\":{\"phase\":@,\"occupiedBy\":$," CONDITIONS "}}",
		24 * KIB },
	{ "podgroup_with_many_resources", &kar_podgroup_type,
		"{" HEAD ",\"spec\":{\"minMember\":1,\"minResources\":{%},\"totalResources\":{%}}}",
		72 * KIB },
	{ "schedulingspec", &kar_schedulingspec_type,
		"{" HEAD ",\"spec\":{\"priorityClassName\":@,\"mode\":@,\"matchPolicy\":@,\"gangGroups\":[@],"
		"\"nodeSelector\":{@:@}}}",
		8 * KIB },
	{ "queue", &kar_queue_type,
		"{" HEAD ",\"spec\":{\"state\":@,\"queueingStrategy\":@},\"status\":{\"state\":@," CONDITIONS
		"}}",
		9 * KIB },
	{ "namespace", &kar_namespace_type,
		"{\"metadata\":{" META
		",\"labels\":{@:@},\"annotations\":{\"kube-arbitrator.io/queue\":@,@:@}}}",
		4 * KIB },
	{ "namespace_with_many_labels", &kar_namespace_type, "{\"metadata\":{" META ",\"labels\":{%}}}",
		36 * KIB },
	{ "service", &kar_service_type,
		"{" HEAD ",\"spec\":{\"clusterIP\":@,\"selector\":{\"kube-arbitrator.io/queuejob\":@}}}",
		4 * KIB },
	{ "priorityclass", &kar_priorityclass_type, "{" HEAD ",\"value\":7,\"description\":@}", 4 * KIB },
	{ "resourcequota", &kar_resourcequota_type,
		"{" HEAD
		",\"spec\":{\"hard\":{@:@},\"scopes\":[@],\"scopeSelector\":{\"a\":@,\"matchExpressions\":[{"
		"\"scopeName\":\"PriorityClass\",\"operator\":\"In\",\"values\":[@,@]},{\"scopeName\":@}]}},"
		"\"status\":{\"hard\":{@:@},\"used\":{@:@}}}",
		8 * KIB },
	{ "resourcequota_with_many_limits", &kar_resourcequota_type,
		"{" HEAD ",\"spec\":{\"hard\":{%}},\"status\":{\"hard\":{%},\"used\":{%}}}", 4 * KIB },
	{ "limitrange", &kar_limitrange_type,
		"{" HEAD
		",\"spec\":{\"limits\":[{\"type\":\"Container\",\"default\":{@:@},\"defaultRequest\":{@:@}}]}}",
		8 * KIB },
	{ "deviceclass", &kar_deviceclass_type,
		"{" HEAD
		",\"spec\":{\"extendedResourceName\":@,\"selectors\":[{\"cel\":{\"expression\":@}}]}}",
		16 * KIB },
	{ "resourceslice", &kar_resourceslice_type,
		"{" HEAD
		",\"spec\":{\"driver\":@,\"nodeName\":@,\"pool\":{\"name\":@,\"generation\":1,\"resourceSliceCount\":1},"
		"\"devices\":[{\"name\":@,\"attributes\":{@:{\"string\":@}},\"capacity\":{@:{\"value\":@}}}]}}",
		8 * KIB },
	{ "resourceclaim", &kar_resourceclaim_type,
		"{" HEAD
		",\"status\":{\"allocation\":{\"devices\":{\"results\":[{\"driver\":@,\"pool\":@,\"device\":@}]}}}}",
		8 * KIB },
	{ "volumeclaim", &kar_volumeclaim_type,
		"{" HEAD
		",\"spec\":{\"volumeName\":@,\"storageClassName\":@,\"accessModes\":[@]},\"status\":{\"phase\":@}}",
		4 * KIB },
	{ "volume", &kar_volume_type,
		"{" HEAD
		",\"spec\":{\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":@,\"operator\":\"In\",\"values\":[@]}]}]}}}}",
		8 * KIB },
	{ "storageclass", &kar_storageclass_type,
		"{" HEAD
		",\"provisioner\":@,\"allowedTopologies\":[{\"matchLabelExpressions\":[{\"key\":@,\"values\":[@]}]}]}",
		8 * KIB },
	{ "topology", &kar_topology_type,
		"{" HEAD
		",\"spec\":{\"levels\":[{\"nodeLabel\":@}]},\"status\":{\"levels\":[{\"nodeLabel\":@}],\"conditions\":[{\"type\":@,\"status\":\"True\",\"reason\":@,\"message\":@}]}}",
		16 * KIB },
	{ "flavor", &kar_flavor_type,
		"{" HEAD
		",\"spec\":{\"nodeSelector\":{\"matchLabels\":{%}},\"tolerations\":[{\"key\":@,\"operator\":@,\"value\":@,\"effect\":@}]},\"status\":{\"nodes\":1,\"allocatable\":{%}}}",
		72 * KIB },
	{ "csidriver", &kar_csidriver_type, "{" HEAD ",\"spec\":{\"nodeIDAllocatable\":@}}", 4 * KIB },
	{ "limitrange_with_many_defaults", &kar_limitrange_type,
		"{" HEAD ",\"spec\":{\"limits\":[{\"type\":\"Container\",\"default\":{%}}]}}", 36 * KIB },
};

static void no_object_costs_more_than_its_kind_may(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_object *o = make(rows[i].type, rows[i].json);
		size_t cost = cost_of(o);

		kar_object_unref(o);
		if (getenv("KAR_PRINT"))
			printf("# %s: %zu bytes\n", rows[i].name, cost);
		if (cost > rows[i].most)
			fail_msg("%s: %zu bytes of at most %zu", rows[i].name, cost, rows[i].most);
	}
}

#define TEXT_64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* What was cut equals nothing that it could be taken for: not even the text of as many bytes that it begins with. */
static void a_cut_text_never_equals_a_good_one(void **state KAR_UNUSED)
{
	const struct kar_pod *p =
		pod_of("{\"metadata\":{\"name\":\"p\",\"uid\":\"u\",\"resourceVersion\":\"7\","
		       "\"labels\":{\"kube-arbitrator.io/queuejob\":\"j\"},"
		       "\"annotations\":{\"kube-arbitrator.io/template-hash\":\"" TEXT_64
		       "\"},\"ownerReferences\":[{\"kind\":\"QueueJob\",\"name\":\"j\",\"uid\":\"" TEXT_64
		       "\",\"controller\":true}]}}");

	assert_int_equal(strlen(p->owner_uid), KAR_COPY_UID - 1);
	assert_string_equal(p->owner_uid + KAR_COPY_UID - 4, "...");
	assert_ptr_equal(p->job->template_hash, p->owner_uid);
	kar_object_unref(&p->o);
}

/* A map that is too large equals none that has all that was kept of it. */
static void a_cut_map_never_equals_a_good_one(void **state KAR_UNUSED)
{
	enum { MANY = KAR_COPY_PAIRS + 1 };
	struct kar_arena arena = { 0 };
	struct kar_pair pairs[MANY];
	struct kar_array in = { .items = pairs, .n = MANY }, all, most;

	for (size_t i = 0; i < MANY; i++)
		pairs[i] = (struct kar_pair){ kar_arena_printf(&arena, "k%03zu", i), "1" };
	all = kar_copy_pairs(&arena, &in);
	in.n = KAR_COPY_PAIRS;
	most = kar_copy_pairs(&arena, &in);
	assert_int_equal(most.n, KAR_COPY_PAIRS);
	assert_false(kar_pairs_equal(&all, &most));
	assert_non_null(kar_pairs_get(&all, "..."));
	kar_arena_release(&arena);
}

/* An honest job of any size is kept byte for byte; of one that gets no pod any more there is nothing to keep. */
static void templates_are_kept_for_those_who_get_pods(void **state KAR_UNUSED)
{
	static const struct {
		const char *name, *more;
		bool kept;
	} samples[] = {
		{ "new", "\"spec\":{" TASK(SMALL) "}", true },
		{ "ended",
			"\"spec\":{" TASK(
				SMALL) "},\"status\":{" ENDED
				       "\"conditions\":[{\"type\":\"Failed\",\"status\":\"True\"}]}",
			false },
		{ "condition_alone_says_so",
			"\"spec\":{" TASK(
				SMALL) "},\"status\":{\"phase\":\"Running\","
				       "\"conditions\":[{\"type\":\"Failed\",\"status\":\"True\"}]}",
			true },
		{ "phase_alone_says_so", "\"spec\":{" TASK(SMALL) "},\"status\":{" ENDED "\"position\":0}",
			true },
		{ "invalid", "\"spec\":{\"schedSpec\":{\"minAvailable\":3}," TASK(SMALL) "}", false },
	};

	for (size_t i = 0; i < KAR_LEN(samples); i++) {
		char json[1024];
		const struct kar_queuejob *job;
		struct kar_str raw;

		snprintf(json, sizeof(json),
			"{\"metadata\":{\"name\":\"j\",\"uid\":\"u\",\"resourceVersion\":\"7\"},%s}",
			samples[i].more);
		job = job_of(json);
		raw = job->spec.tasks[0].template_raw;
		if (!raw.n == samples[i].kept || (raw.n && memcmp(raw.p, SMALL, raw.n) != 0))
			fail_msg("%s: %zu bytes kept", samples[i].name, raw.n);
		kar_object_unref(&job->o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(no_object_costs_more_than_its_kind_may),
		TEST(a_cut_text_never_equals_a_good_one),
		TEST(a_cut_map_never_equals_a_good_one),
		TEST(templates_are_kept_for_those_who_get_pods),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
