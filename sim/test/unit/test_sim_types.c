/* What the built-in kinds look like: protobuf to JSON, unknown members, finding them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "sim/apiserver/types.h"
#include "sim/timeline.h"
#include "test/unit/protobuf_text.h"

static struct sim_types *types;

static int setup(void **state)
{
	(void)state;
	types = sim_types_new();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	sim_types_free(types);
	types = NULL;
	return 0;
}

/* @v as JSON, or if there is none the text of @err, is @want. */
static void check(const char *name, const struct sim_value *v, const struct kar_err *err, const char *want)
{
	struct kar_buf got KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	if (v)
		sim_print(v, &got);
	else
		kar_buf_puts(&got, err->msg);
	if (strcmp(kar_buf_cstr(&got), want) != 0)
		fail_msg("%s: got %s, want %s", name, kar_buf_cstr(&got), want);
}

static void protobuf_becomes_json(void **state)
{
	static const struct {
		const char *name, *bytes, *want;
	} rows[] = {
		{ "namespace",
			"'k8s' 00 1={1={'v1'}2={'Namespace'}} 2={1={1={'x'}2={}3={}4={}5={}6={}7#"
			"00 8={}}2={}3={1={}}} 3={} 4={}",
			"{\"kind\":\"Namespace\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"x"
			"\"},\"spec\":{},\"status\":{}}" },
		{ "configmap",
			"'k8s' 00 1={1={'v1'}2={'ConfigMap'}} 2={1={1={'c'}2={}3={}4={}5={}6={}7#"
			"00 8={}}2={1={'a'}2={'b'}}2={1={'c'}2={}}} 3={} 4={}",
			"{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"c"
			"\"},\"data\":{\"a\":\"b\",\"c\":\"\"}}" },
		{ "token_request",
			"'k8s' 00 1={1={'authentication.k8s.io/v1'}2={'TokenRequest'}} 2={1={} 2="
			"{4#90 4e}3={}} 3={} 4={}",
			"{\"kind\":\"TokenRequest\",\"apiVersion\":\"authentication.k8s.io/v1\","
			"\"metadata\":{},\"spec\":{\"expirationSeconds\":10000},\"status\":{}}" },
		{ "bytes_in_base64",
			"'k8s' 00 1={1={'v1'}2={'Secret'}} 2={2={1={'a'}2={'hello'}}3={'Opaque'}}"
			" 3={} 4={}",
			"{\"kind\":\"Secret\",\"apiVersion\":\"v1\",\"data\":{\"a\":\"aGVsbG8=\"}"
			",\"type\":\"Opaque\"}" },
		{ "list_of_messages",
			"'k8s' 00 1={1={'v1'}2={'Pod'}} 2={2={2={1={'a'}2={'x'}}2={1={'b'}}}} 3={"
			"} 4={}",
			"{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"spec\":{\"containers\":[{\"nam"
			"e\":\"a\",\"image\":\"x\"},{\"name\":\"b\"}]}}" },
		{ "inlined_message",
			"'k8s' 00 1={1={'v1'}2={'Pod'}} 2={2={1={1={'v'}2={2={1={'Memory'}}}}}} 3"
			"={} 4={}",
			"{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"spec\":{\"volumes\":[{\"name\""
			":\"v\",\"emptyDir\":{\"medium\":\"Memory\"}}]}}" },
		{ "quantities",
			"'k8s' 00 1={1={'v1'}2={'ResourceQuota'}} 2={2={1={1={'pods'}2={1={'3'}}}"
			"}} 3={} 4={}",
			"{\"kind\":\"ResourceQuota\",\"apiVersion\":\"v1\",\"spec\":{\"hard\":{\""
			"pods\":\"3\"}}}" },
		{ "int_or_string",
			"'k8s' 00 1={1={'policy/v1'}2={'PodDisruptionBudget'}} 2={2={1={1#00 2#05"
			"}3={1#01 3={'25%'}}}} 3={} 4={}",
			"{\"kind\":\"PodDisruptionBudget\",\"apiVersion\":\"policy/v1\",\"spec\":"
			"{\"minAvailable\":5,\"maxUnavailable\":\"25%\"}}" },
		{ "time",
			"'k8s' 00 1={1={'v1'}2={'Namespace'}} 2={1={8={1#b3 c1 86 d8 06}}} 3={} 4"
			"={}",
			"{\"kind\":\"Namespace\",\"apiVersion\":\"v1\",\"metadata\":{\"creationTi"
			"mestamp\":\"2026-11-21T13:46:27Z\"}}" },
		{ "time_with_microseconds",
			"'k8s' 00 1={1={'coordination.k8s.io/v1'}2={'Lease'}} 2={2={3={1#b3 c1 86"
			" d8 06 2#c0 84 3d}}} 3={} 4={}",
			"{\"kind\":\"Lease\",\"apiVersion\":\"coordination.k8s.io/v1\",\"spec\":{"
			"\"acquireTime\":\"2026-11-21T13:46:27.001000Z\"}}" },
		{ "pointer_to_zero_stays",
			"'k8s' 00 1={1={'apps/v1'}2={'Deployment'}} 2={2={1#00 5#00}} 3={} 4={}",
			"{\"kind\":\"Deployment\",\"apiVersion\":\"apps/v1\",\"spec\":{\"replicas"
			"\":0}}" },
		{ "bool", "'k8s' 00 1={1={'v1'}2={'Pod'}} 2={2={11#01 12#00 21#00}} 3={} 4={}",
			"{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"spec\":{\"hostNetwork\":true,"
			"\"automountServiceAccountToken\":false}}" },
		{ "negative_number",
			"'k8s' 00 1={1={'scheduling.k8s.io/v1'}2={'PriorityClass'}} 2={2#ff ff ff"
			" ff ff ff ff ff ff 01} 3={} 4={}",
			"{\"kind\":\"PriorityClass\",\"apiVersion\":\"scheduling.k8s.io/v1\",\"va"
			"lue\":-1}" },
		{ "json_inside",
			"'k8s' 00 1={1={'v1'}2={'Namespace'}} 2={1={17={1={'m'}7={1={'{\"f:a\":{}"
			"}'}}}}} 3={} 4={}",
			"{\"kind\":\"Namespace\",\"apiVersion\":\"v1\",\"metadata\":{\"managedFie"
			"lds\":[{\"manager\":\"m\",\"fieldsV1\":{\"f:a\":{}}}]}}" },
		{ "options_of_any_group",
			"'k8s' 00 1={1={'policy/v1'}2={'DeleteOptions'}} 2={1#05 5={'All'}} 3={} "
			"4={}",
			"{\"kind\":\"DeleteOptions\",\"apiVersion\":\"policy/v1\",\"gracePeriodSe"
			"conds\":5,\"dryRun\":[\"All\"]}" },
		{ "unknown_numbers_are_dropped",
			"'k8s' 00 1={1={'v1'}2={'Namespace'}} 2={99={'x'}98#01 1={1={'x'}97={}}} "
			"3={} 4={}",
			"{\"kind\":\"Namespace\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"x"
			"\"}}" },
		{ "nothing_in_it", "'k8s' 00 1={1={'v1'}2={'Namespace'}} 2={} 3={} 4={}",
			"{\"kind\":\"Namespace\",\"apiVersion\":\"v1\"}" },
		{ "not_protobuf", "'{}'",
			"provided data does not appear to be a protobuf message, expected prefix "
			"[107 56 115 0]" },
		{ "only_the_magic", "'k8s' 00", "the document names no apiVersion and kind" },
		{ "custom_resource", "'k8s' 00 1={1={'x.io/v1'}2={'Foo'}} 2={} 3={} 4={}",
			"no kind \"Foo\" is registered for version \"x.io/v1\" in protobuf" },
		{ "cut_off", "'k8s' 00 0a 20 41", "not valid protobuf: it is cut off" },
		{ "cut_off_inside", "'k8s' 00 1={1={'v1'}2={'Namespace'}} 2={0a 50 0a} 3={} 4={}",
			"not valid protobuf: it is cut off" },
		{ "number_where_text_belongs", "'k8s' 00 1={1={'v1'}2={'Namespace'}} 2={1={1#05}} 3={} 4={}",
			"not valid protobuf: field name is a number" },
		{ "text_where_a_number_belongs", "'k8s' 00 1={1={'v1'}2={'Pod'}} 2={2={4={'x'}}} 3={} 4={}",
			"not valid protobuf: field terminationGracePeriodSeconds is bytes" },
		{ "bad_json_inside",
			"'k8s' 00 1={1={'v1'}2={'Namespace'}} 2={1={17={7={1={'{'}}}}} 3={} 4={}",
			"unexpected end of JSON input" },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_buf bytes KAR_CLEANUP(kar_cleanup_buf) = { 0 };
		struct kar_err err = { 0 };

		pb_text(rows[i].bytes, &bytes);
		struct sim_value *v KAR_CLEANUP(sim_cleanup_value) =
			sim_types_from_protobuf(types, kar_buf_cstr(&bytes), bytes.n, &err);

		check(rows[i].name, v, &err, rows[i].want);
	}
}

/* Bytes of a pod with some of them changed, cut off anywhere: no answer is expected, but that there is one. */
static void damaged_protobuf_is_survived(void **state)
{
	struct sim_random random = sim_random_of(20261121, "protobuf");
	struct kar_buf bytes KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	(void)state;
	pb_text("'k8s' 00 1={1={'v1'}2={'Pod'}} 2={1={1={'p'}2={}3={}4={}5={}6={}7#00 8={}}2={1={"
		"1={'v'}2={2={1={'Memory'}}}}2={1={'a'}8={1={1={'cpu'}2={1={'5'}}}}}11#01}3={1={'"
		"Running'}}} 3={} 4={}",
		&bytes);
	for (int i = 0; i < 20000; i++) {
		char *copy = malloc(bytes.n);

		assert_non_null(copy);
		memcpy(copy, bytes.p, bytes.n);
		for (uint64_t n = sim_random_below(&random, 3); n > 0; n--)
			copy[4 + sim_random_below(&random, bytes.n - 4)] =
				(char)sim_random_below(&random, 256);
		sim_unref(sim_types_from_protobuf(types, copy, 4 + sim_random_below(&random, bytes.n - 3),
			&(struct kar_err){ 0 }));
		free(copy);
	}
}

static void unknown_members_are_named_and_removed(void **state)
{
	static const struct {
		const char *name, *group, *kind, *json, *want, *removed;
	} rows[] = {
		{ "none", "", "Pod",
			"{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"labels\":{\"a\":"
			"\"b\"}},\"spec\":{\"containers\":[{\"name\":\"a\"}]}}",
			"{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"labels\":{\"a\":"
			"\"b\"}},\"spec\":{\"containers\":[{\"name\":\"a\"}]}}",
			"[]" },
		{ "at_the_top", "", "Pod", "{\"foo\":1,\"spec\":{}}", "{\"spec\":{}}", "[\"foo\"]" },
		{ "in_lists", "", "Pod",
			"{\"spec\":{\"containers\":[{\"name\":\"a\"},{\"imge\":\"x\",\"name\":\"b"
			"\"}]}}",
			"{\"spec\":{\"containers\":[{\"name\":\"a\"},{\"name\":\"b\"}]}}",
			"[\"spec.containers[1].imge\"]" },
		{ "in_inlined_messages", "", "Pod",
			"{\"spec\":{\"volumes\":[{\"name\":\"v\",\"emptyDir\":{\"x\":1}}]}}",
			"{\"spec\":{\"volumes\":[{\"name\":\"v\",\"emptyDir\":{}}]}}",
			"[\"spec.volumes[0].emptyDir.x\"]" },
		{ "several", "apps", "Deployment",
			"{\"metadata\":{\"x\":1},\"spec\":{\"y\":{},\"template\":{\"spec\":{\"z\""
			":[]}}}}",
			"{\"metadata\":{},\"spec\":{\"template\":{\"spec\":{}}}}",
			"[\"metadata.x\",\"spec.y\",\"spec.template.spec.z\"]" },
		{ "kind_only_at_the_top", "", "Pod", "{\"kind\":\"Pod\",\"spec\":{\"kind\":\"x\"}}",
			"{\"kind\":\"Pod\",\"spec\":{}}", "[\"spec.kind\"]" },
		{ "other_kinds_are_left_alone", "", "Pod", "{\"spec\":[1],\"status\":\"x\"}",
			"{\"spec\":[1],\"status\":\"x\"}", "[]" },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct sim_value *v KAR_CLEANUP(sim_cleanup_value) =
			sim_parse(rows[i].json, strlen(rows[i].json), NULL);
		struct sim_value *removed KAR_CLEANUP(sim_cleanup_value) = sim_array();
		struct sim_value *shared KAR_CLEANUP(sim_cleanup_value) = sim_ref(v);

		sim_types_prune(sim_types_find(types, rows[i].group, rows[i].kind), &v, &removed);
		check(rows[i].name, v, NULL, rows[i].want);
		check(rows[i].name, removed, NULL, rows[i].removed);
		check(rows[i].name, shared, NULL, rows[i].json); /* another holder sees no change */
	}
}

static void kinds_are_found_by_group(void **state)
{
	(void)state;
	assert_string_equal(sim_types_find(types, "", "Event")->openapi_name, "io.k8s.api.core.v1.Event");
	assert_string_equal(sim_types_find(types, "events.k8s.io", "Event")->openapi_name,
		"io.k8s.api.events.v1.Event");
	assert_string_equal(sim_types_find(types, "rbac.authorization.k8s.io", "Role")->package, "rbac");
	assert_null(sim_types_find(types, "kube-arbitrator.io", "QueueJob"));
	assert_string_equal(sim_type_field(sim_types_find(types, "", "PodSpec"), "containers")->merge_key,
		"name");
	assert_null(sim_type_field(sim_types_find(types, "", "PodSpec"), "container"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(protobuf_becomes_json),
		cmocka_unit_test(damaged_protobuf_is_survived),
		cmocka_unit_test(unknown_members_are_named_and_removed),
		cmocka_unit_test(kinds_are_found_by_group),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
