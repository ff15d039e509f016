/* What an API server sends as protobuf is what it sends as JSON (test/unit/data/protobuf). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/core/namespace.h"
#include "api/core/node.h"
#include "api/pod/pod.h"
#include "api/core/priorityclass.h"
#include "common/kube/client.h"
#include "common/kube/reflector_stream.h"
#include "test/unit/wire_text.h"
#include "test/fixture/needs_text.h"

static void read_data(const char *name, struct kar_buf *out)
{
	char path[512], chunk[4096];
	size_t n;

	snprintf(path, sizeof(path), "%s/protobuf/%s", KAR_TEST_DATA, name);
	FILE *f = fopen(path, "rb");

	if (!f)
		fail_msg("cannot open %s", path);
	for (n = fread(chunk, 1, sizeof(chunk), f); n; n = fread(chunk, 1, sizeof(chunk), f))
		kar_buf_append(out, chunk, n);
	fclose(f);
}

struct reader {
	const struct kar_type *type;
	struct kar_reflector_tables tables;
	struct wire_seen seen;
	struct kar_buf text;
};

/* What the cached pod has of it. */
static void print_needs(struct reader *r, const void *item)
{
	struct kar_arena a = { 0 };
	struct kar_intern *strings = kar_intern_new();
	struct kar_object *o = kar_pod_type.project(item, strings);
	const struct kar_pod *p = kar_as_pod(o);

	kar_buf_printf(&r->text, "needs%s\n", p->needs ? needs_text(p->needs, &a) : " nothing");
	kar_arena_release(&a);
	kar_object_unref(o);
	kar_intern_free(strings);
}

static int on_item(void *arg, const void *item, struct kar_err *err)
{
	struct reader *r = arg;

	(void)err;
	wire_print(&r->text, r->type->wire, item, &r->seen);
	kar_buf_puts(&r->text, "\n");
	if (r->type == &kar_pod_type && ((const struct kar_wire_object *)item)->meta.uid)
		print_needs(r, item);
	return 0;
}

static int on_page(void *arg, const void *root, struct kar_err *err)
{
	struct reader *r = arg;

	wire_print(&r->text, &r->tables.list, root, &r->seen);
	return kar_list_check(root, err);
}

static int on_event(void *arg, const void *elem, struct kar_err *err)
{
	struct reader *r = arg;
	const struct kar_watch_root *root = elem;
	struct kar_err why;

	kar_buf_printf(&r->text, "%s: ", root->type);
	if (kar_event_kind(root) != KAR_EVENT_ERROR)
		return on_item(arg, root->object, err);
	kar_event_error(root, &why);
	kar_buf_printf(&r->text, "%s, http %d, %s, %s\n", kar_err_class_name(why.what), why.http, why.reason,
		why.msg);
	return 0;
}

/* Reads @bytes in pieces of @chunk into r->text. */
static void read_all(struct reader *r, bool watch, const struct kar_buf *bytes, size_t chunk)
{
	struct kar_reflector_stream *s = watch ? kar_reflector_stream_watch(&r->tables, on_event, r)
					       : kar_reflector_stream_list(&r->tables, on_item, on_page, r);
	struct kar_err err = { 0 };

	kar_buf_clear(&r->text);
	for (size_t at = 0; at < bytes->n; at += chunk) {
		size_t n = bytes->n - at < chunk ? bytes->n - at : chunk;

		if (kar_reflector_stream_feed(s, bytes->p + at, n, &err))
			fail_msg("in pieces of %zu: %s", chunk, err.msg);
	}
	if (kar_reflector_stream_finish(s, &err))
		fail_msg("in pieces of %zu: %s", chunk, err.msg);
	kar_reflector_stream_free(s);
}

/* Sizes of pieces: all small ones, then around the powers of two up to the whole. */
static size_t next_chunk(size_t chunk)
{
	enum { SMALL = 130 };

	return chunk < SMALL ? chunk + 1 : chunk + chunk / 7;
}

/* The texts are long: shows where they part. */
static void expect_same(const char *name, size_t chunk, const char *got, const char *want)
{
	enum { CONTEXT = 60, SHOWN = 200 };
	size_t same = 0;

	while (got[same] && got[same] == want[same])
		same++;
	if (got[same] == want[same])
		return;
	same -= same < CONTEXT ? same : CONTEXT;
	fail_msg("%s, in pieces of %zu: protobuf says\n... %.*s\nJSON says\n... %.*s", name, chunk, SHOWN,
		got + same, SHOWN, want + same);
}

static void compare(struct reader *r, const char *name, bool watch)
{
	struct kar_buf json = { 0 }, protobuf = { 0 }, want = { 0 };
	char file[64];

	snprintf(file, sizeof(file), "%s.json", name);
	read_data(file, &json);
	snprintf(file, sizeof(file), "%s.pb", name);
	read_data(file, &protobuf);
	assert_int_equal(json.p[0], '{');
	assert_true(protobuf.p[0] == 'k' || protobuf.p[0] == '\0');
	read_all(r, watch, &json, json.n);
	kar_buf_puts(&want, r->text.p);
	assert_true(want.n > 0);
	for (size_t chunk = 1; chunk < 2 * protobuf.n; chunk = next_chunk(chunk)) {
		read_all(r, watch, &protobuf, chunk);
		expect_same(name, chunk, r->text.p, want.p);
	}
	kar_buf_release(&json);
	kar_buf_release(&protobuf);
	kar_buf_release(&want);
}

static void begin(struct reader *r, const struct kar_type *type)
{
	*r = (struct reader){ .type = type };
	kar_reflector_tables_init(&r->tables, type);
}

/* Every member that is read has been there with a value: an equal but empty one would prove nothing. */
static void end(struct reader *r, const struct kar_desc *complete)
{
	struct kar_buf missing = { 0 };

	if (complete)
		wire_missing(&missing, complete, &r->seen);
	if (missing.n)
		fail_msg("no sample has %s", missing.p);
	kar_buf_release(&missing);
	kar_buf_release(&r->text);
}

static void pods(void **state)
{
	struct reader r;

	(void)state;
	begin(&r, &kar_pod_type);
	compare(&r, "pods", false);
	compare(&r, "needs", false);
	compare(&r, "charge", false);
	compare(&r, "native", false);
	compare(&r, "nominated", false);
	compare(&r, "rules", false);
	compare(&r, "declared", false);
	end(&r, kar_pod_type.wire);
}

/* Of a pod that waits, and of one whose resize the node has put off. */
static void needs_of_pods(void **state)
{
	static const char *const wants[] = {
		"\nneeds cpu=1700 memory=104857600 example.com/gpu=2 0.0.0.0:9000/UDP 127.0.0.1:8080/TCP disk=ssd empty="
		" terms (generation Gt 3 and gpu Exists and field metadata.name NotIn node-7 and zone In a b)"
		" ~any ~infra=yes:NoSchedule ~node.kubernetes.io/not-ready:NoExecute"
		" ~node.kubernetes.io/unreachable:NoExecute"
		" devices of claim claim devices by devices volume of fast volume data apart from (own: app In a) per kubernetes.io/hostname with (own: app In db) per zone"
		" spread 1 (own: app In a) per zone unverified: volumes\n",
		"\nneeds cpu=3000 memory=1073741824\n",
	};
	struct kar_buf bytes = { 0 };
	struct reader r;

	(void)state;
	begin(&r, &kar_pod_type);
	read_data("needs.pb", &bytes);
	read_all(&r, false, &bytes, bytes.n);
	for (size_t i = 0; i < KAR_LEN(wants); i++) {
		if (!strstr(r.text.p, wants[i]))
			fail_msg("got\n%s\nwant\n%s", r.text.p, wants[i]);
	}
	kar_buf_release(&bytes);
	end(&r, NULL);
}

static void nodes(void **state)
{
	struct reader r;

	(void)state;
	begin(&r, &kar_node_type);
	compare(&r, "nodes", false);
	assert_non_null(strstr(r.text.p,
		"labels: kubernetes.io/hostname=elsewhere node-role.kubernetes.io/worker= zone=a annotations:"));
	assert_non_null(strstr(r.text.p,
		"spec: NodeSpec{ unschedulable: 1 taints: Taint{ key: 'infra' value: 'yes' effect: 'NoSchedule' } "
		"Taint{ key: 'soft' effect: 'PreferNoSchedule' } "
		"Taint{ key: 'node.kubernetes.io/unschedulable' effect: 'NoSchedule' } } status: NodeStatus{ "
		"allocatable: cpu=7910m ephemeral-storage=100Gi example.com/gpu=4 hugepages-1Gi=0 memory=33554432500m pods=110 "
		"conditions: NodeCondition{ type: 'MemoryPressure' status: 'False' } NodeCondition{ type: 'Ready' status: 'True' } } "));
	end(&r, NULL);
}

static void pages_of_pods(void **state)
{
	struct reader r;

	(void)state;
	begin(&r, &kar_pod_type);
	compare(&r, "page", false);
	for (size_t i = 0; i < KAR_LEN(r.tables.list_fields); i++) {
		if (r.tables.list_fields[i].type == KAR_F_OBJECT)
			end(&r, r.tables.list_fields[i].sub);
	}
}

static void watch_of_pods(void **state)
{
	struct reader r;

	(void)state;
	begin(&r, &kar_pod_type);
	compare(&r, "watch", true);
	assert_non_null(strstr(r.text.p,
		"\nBOOKMARK: Pod{ apiVersion: 'v1' kind: 'Pod' metadata: ObjectMeta{ "
		"resourceVersion: '824' annotations: k8s.io/initial-events-end=true } "));
	assert_non_null(
		strstr(r.text.p, "\nERROR: Gone, http 410, Expired, watch: too old resource version"));
	end(&r, NULL);
}

static void priority_classes(void **state)
{
	struct reader r;

	(void)state;
	begin(&r, &kar_priorityclass_type);
	compare(&r, "priorityclasses", false);
	assert_non_null(strstr(r.text.p, "value: -10 "));
	assert_non_null(strstr(r.text.p, "value: 1000 globalDefault: 1 "));
	end(&r, NULL);
}

static void namespaces(void **state)
{
	struct reader r;

	(void)state;
	begin(&r, &kar_namespace_type);
	compare(&r, "namespaces", false);
	assert_non_null(strstr(r.text.p,
		"labels: kube-arbitrator.io/queue=gold kubernetes.io/metadata.name=fixture team=vip "
		"annotations: kube-arbitrator.io/queue=silver "));
	end(&r, NULL);
}

/* Not only equal, but right. */
static void pod_with_everything(void **state)
{
	static const char want[] =
		"Pod{ metadata: ObjectMeta{ name: 'whole' namespace: 'fixture' uid: '4f5f457e-f9c8-4ad6-a58e-b71c630b14d2' "
		"resourceVersion: '613' generation: 2 creationTimestamp: 1795280530000 deletionTimestamp: 1795280560000 "
		"deletionGracePeriodSeconds: 30 "
		"labels: kube-arbitrator.io/incarnation=2 kube-arbitrator.io/index=1 kube-arbitrator.io/queuejob=j "
		"kube-arbitrator.io/task=worker scheduling.x-k8s.io/pod-group=j "
		"annotations: example.com/text=Gr\xC3\xBC\xC3\x9F"
		"e \xF0\x9F\x98\x80 \"quoted\"\n "
		"kube-arbitrator.io/template-hash=00ff00ff00ff00ff finalizers: example.com/keep kube-arbitrator.io/pod-tracking "
		"ownerReferences: OwnerReference{ apiVersion: 'v1' kind: 'ConfigMap' name: 'o' "
		"uid: '11111111-2222-3333-4444-555555555555' } OwnerReference{ apiVersion: 'kube-arbitrator.io/v1alpha1' "
		"kind: 'QueueJob' name: 'j' uid: '66666666-7777-8888-9999-000000000000' controller: 1 } } "
		"spec: PodSpec{ restartPolicy: 'Never' nodeName: 'nowhere' schedulerName: 'default-scheduler' priority: -10 priorityClassName: 'low' schedulingGroup: SchedulingGroup{ } "
		"containers: Container{ name: 'c' resources: ResourceRequirements{ requests: cpu=100m } } Container{ name: 'd' resources: ResourceRequirements{ } } "
		"initContainers: Container{ name: 'i' resources: ResourceRequirements{ } } resources: ResourceRequirements{ } nodeSelector: disk=ssd "
		"affinity: Affinity{ nodeAffinity: NodeAffinity{ } podAffinity: PodAffinity{ } podAntiAffinity: PodAffinity{ } } "
		"tolerations: Toleration{ key: 'node.kubernetes.io/not-ready' operator: 'Exists' effect: 'NoExecute' } "
		"Toleration{ key: 'node.kubernetes.io/unreachable' operator: 'Exists' effect: 'NoExecute' } "
		"volumes: Volume{ volumeSource: VolumeSource{ } } Volume{ volumeSource: VolumeSource{ } } } status: PodStatus{ phase: 'Failed' "
		"reason: 'DeadlineExceeded' conditions: PodCondition{ type: 'Ready' status: 'False' lastTransitionTime: 1795255200000 reason: 'PodFailed' } "
		"PodCondition{ type: 'DisruptionTarget' status: 'True' reason: 'EvictionByEvictionAPI' } "
		"initContainerStatuses: ContainerStatus{ name: 'i' state: ContainerState{ terminated: ContainerStateTerminated{ "
		"reason: 'Completed' finishedAt: 1795255201000 } } lastState: ContainerState{ } image: 'i' resources: ResourceRequirements{ } } containerStatuses: ContainerStatus{ name: 'c' "
		"state: ContainerState{ terminated: ContainerStateTerminated{ reason: 'ContainerStatusUnknown' exitCode: -1 "
		"finishedAt: 1795255209000 } } lastState: ContainerState{ } image: 'i' resources: ResourceRequirements{ } } ContainerStatus{ name: 'd' state: ContainerState{ waiting: ContainerStateWaiting{ "
		"reason: 'ImagePullBackOff' message: 'Back-off pulling image \"i\"' } } lastState: ContainerState{ } image: 'i' resources: ResourceRequirements{ } } resources: ResourceRequirements{ } } } \n";
	struct kar_buf bytes = { 0 };
	struct reader r;

	(void)state;
	begin(&r, &kar_pod_type);
	read_data("pods.pb", &bytes);
	read_all(&r, false, &bytes, bytes.n);
	if (!strstr(r.text.p, want))
		fail_msg("got\n%s\nwant\n%s", r.text.p, want);
	kar_buf_release(&bytes);
	end(&r, NULL);
}

static void errors(void **state)
{
	struct kar_buf json = { 0 }, protobuf = { 0 };
	struct kar_err a, b;

	(void)state;
	read_data("forbidden.json", &json);
	read_data("forbidden.pb", &protobuf);
	kar_status_error(&a, 403, "application/json", (struct kar_str){ json.p, json.n }, 0, false,
		"list pods");
	kar_status_error(&b, 403, "application/vnd.kubernetes.protobuf",
		(struct kar_str){ protobuf.p, protobuf.n }, 0, false, "list pods");
	assert_string_equal(b.msg,
		"list pods: pods is forbidden: User \"nobody\" cannot list resource \"pods\" in API group \"\" "
		"at the cluster scope");
	assert_string_equal(a.msg, b.msg);
	assert_string_equal(b.reason, "Forbidden");
	assert_int_equal(b.what, KAR_DENIED);
	assert_int_equal(b.http, 403);
	kar_buf_release(&json);
	kar_buf_release(&protobuf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pods),
		cmocka_unit_test(needs_of_pods),
		cmocka_unit_test(nodes),
		cmocka_unit_test(pages_of_pods),
		cmocka_unit_test(watch_of_pods),
		cmocka_unit_test(priority_classes),
		cmocka_unit_test(namespaces),
		cmocka_unit_test(pod_with_everything),
		cmocka_unit_test(errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
