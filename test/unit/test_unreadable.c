/* What of an object cannot be read is left out and named, and never hides another object: in lists and watches, JSON and protobuf. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/types.h"
#include "common/kube/reflector_stream.h"
#include "test/unit/protobuf_text.h"

#define META(name) \
	"\"metadata\":{\"name\":\"" name "\",\"namespace\":\"n\",\"uid\":\"u\",\"resourceVersion\":\"5\""
#define GOOD(name) "{" META(name) "}}"

static void print_object(struct kar_buf *out, const struct kar_wire_object *w)
{
	kar_buf_printf(out, "%s", w->meta.name ? w->meta.name : "?");
	if (w->problem)
		kar_buf_printf(out, " (%s)", w->problem);
	kar_buf_puts(out, "; ");
}

static int on_item(void *arg, const void *item, struct kar_err *err KAR_UNUSED)
{
	print_object(arg, item);
	return 0;
}

static int on_event(void *arg, const void *event, struct kar_err *err KAR_UNUSED)
{
	print_object(arg, ((const struct kar_watch_root *)event)->object);
	return 0;
}

/* Feeds @bytes to a reader of @type; what it has read is added to @out. */
static void read_stream(const struct kar_type *type, bool watch, const struct kar_buf *bytes,
	struct kar_buf *out)
{
	struct kar_reflector_tables tables;
	struct kar_err err = { 0 };

	kar_reflector_tables_init(&tables, type);
	struct kar_reflector_stream *s = watch ? kar_reflector_stream_watch(&tables, on_event, out)
					       : kar_reflector_stream_list(&tables, on_item, NULL, out);

	if (kar_reflector_stream_feed(s, bytes->p, bytes->n, &err) || kar_reflector_stream_finish(s, &err))
		kar_buf_printf(out, "failed: %s", err.msg);
	kar_reflector_stream_free(s);
}

static void expect(const char *row, const char *got, const char *want)
{
	if (strcmp(got, want) != 0)
		fail_msg("%s:\n  got  %s\n  want %s", row, got, want);
}

/* --- JSON ---------------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	const struct kar_type *type;
	const char *rest; /* of the second of three objects, after its metadata's first members */
	const char *problem;
} rows[] = {
	{ "number instead of a text", &kar_pod_type, "},\"status\":{\"phase\":5}",
		" (status.phase: want a string, got a number)" },
	{ "text instead of an object", &kar_pod_type, "},\"status\":\"x\"",
		" (status: want an object, got a string)" },
	{ "object instead of an array", &kar_pod_type, "},\"status\":{\"conditions\":{\"a\":[1,{}]}}",
		" (status.conditions: want an array, got an object)" },
	{ "element of another type", &kar_pod_type, "},\"status\":{\"conditions\":[{\"type\":\"Ready\"},[]]}",
		" (status.conditions[1]: want an object, got an array)" },
	{ "label that is an object", &kar_pod_type, ",\"labels\":{\"a\":{}}}",
		" (metadata.labels[\"a\"]: want a string or a number, got an object)" },
	{ "finalizer that is a number", &kar_pod_type, ",\"finalizers\":[\"a\",3]}",
		" (metadata.finalizers[1]: want a string, got a number)" },
	{ "the first is named", &kar_pod_type, "},\"spec\":{\"nodeName\":1},\"status\":{\"phase\":2}",
		" (spec.nodeName: want a string, got a number)" },
	{ "number out of range", &kar_podgroup_type, "},\"spec\":{\"minMember\":2147483648}",
		" (spec.minMember: integer out of range)" },
	{ "number with a fraction", &kar_podgroup_type, "},\"spec\":{\"minMember\":1.5}",
		" (spec.minMember: want an integer, got a number with a fraction or an exponent)" },
	{ "deletion at no time", &kar_podgroup_type, ",\"deletionTimestamp\":\"soon\"}",
		" (metadata.deletionTimestamp: not an RFC 3339 time)" },
	{ "time of another writer", &kar_podgroup_type,
		"},\"status\":{\"scheduleStartTime\":\"2020-01-01T00:00:00,5Z\"}", "" },
	{ "time of a condition", &kar_podgroup_type,
		"},\"status\":{\"conditions\":[{\"type\":\"A\",\"lastTransitionTime\":\"10000-01-01T00:00:00Z\"}]}",
		"" },
	{ "times of a job", &kar_queuejob_type,
		"},\"status\":{\"startTime\":\"now\",\"lastRestart\":{\"time\":7},\"tasks\":[{\"restartTime\":{}}]}",
		"" },
};

static void put_list(const char *rest, struct kar_buf *out)
{
	kar_buf_printf(out,
		"{\"kind\":\"XList\",\"metadata\":{\"resourceVersion\":\"9\"},\"items\":[" GOOD(
			"a") ",{" META("b") "%s}," GOOD("c") "]}",
		rest);
}

static void put_watch(const char *rest, struct kar_buf *out)
{
	kar_buf_printf(out,
		"{\"type\":\"ADDED\",\"object\":" GOOD("a") "}\n{\"type\":\"ADDED\",\"object\":{" META(
			"b") "%s}}\n{\"type\":\"ADDED\",\"object\":" GOOD("c") "}\n",
		rest);
}

static void others_are_read_from_json(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		for (int watch = 0; watch < 2; watch++) {
			struct kar_buf bytes = { 0 }, out = { 0 };
			char want[256];

			(watch ? put_watch : put_list)(rows[i].rest, &bytes);
			read_stream(rows[i].type, watch, &bytes, &out);
			snprintf(want, sizeof(want), "a; b%s; c; ", rows[i].problem);
			expect(rows[i].name, kar_buf_cstr(&out), want);
			kar_buf_release(&bytes);
			kar_buf_release(&out);
		}
	}
}

/* --- protobuf ------------------------------------------------------------------------------------ */

#define PB_META(name) "1={1={'" name "'} 3={'n'} 5={'u'} 6={'5'}}"

static const struct {
	const char *name, *rest, *problem;
} pods[] = {
	{ "number instead of a text", "3={1#05}", " (status.phase: want a string, got a number)" },
	{ "number instead of a message", "3#05", " (status: want an object, got a number)" },
	{ "message that is cut short", "3={0a 7f}", " (status: truncated)" },
	{ "object that is cut short", "1a 7f", " (Pod: truncated)" },
	{ "what comes behind is read", "3={1#05} 1={11={1={'k'}}}",
		" (status.phase: want a string, got a number)" },
	{ "time of a condition in the year 10000", "3={2={1={'Ready'} 4={1#80 83 d1 ff af 07}}}", "" },
	{ "deletion in the year 10000", "1={9={1#80 83 d1 ff af 07}}",
		" (metadata.deletionTimestamp: time out of range)" },
};

static void put_pod(struct kar_buf *out, const char *name, const char *rest)
{
	char text[256];

	snprintf(text, sizeof(text), "1={1={'%s'} 3={'n'} 5={'u'} 6={'5'}} %s", name, rest);
	pb_text(text, out);
}

static void put_pod_list(const char *rest, struct kar_buf *out)
{
	static const char *const names[] = { "a", "b", "c" };
	struct kar_buf list = { 0 };

	pb_text("1={2={'9'}}", &list);
	for (size_t i = 0; i < KAR_LEN(names); i++) {
		struct kar_buf pod = { 0 };

		put_pod(&pod, names[i], i == 1 ? rest : "");
		pb_put_message(&list, 2, &pod);
	}
	pb_put_envelope(out, "v1", "PodList", list.n);
	kar_buf_append(out, list.p, list.n);
	pb_put_envelope_end(out);
	kar_buf_release(&list);
}

static void put_pod_event(struct kar_buf *out, const char *name, const char *rest)
{
	struct kar_buf pod = { 0 }, document = { 0 }, extension = { 0 }, event = { 0 };

	put_pod(&pod, name, rest);
	pb_put_envelope(&document, "v1", "Pod", pod.n);
	kar_buf_append(&document, pod.p, pod.n);
	pb_put_envelope_end(&document);
	pb_put_message(&extension, 1, &document);
	pb_put_text(&event, 1, "ADDED");
	pb_put_message(&event, 2, &extension);
	for (int shift = 24; shift >= 0; shift -= 8)
		kar_buf_append(out, &(char){ (char)(event.n >> shift & 0xff) }, 1);
	kar_buf_append(out, event.p, event.n);
	kar_buf_release(&pod);
	kar_buf_release(&event);
}

static void put_pod_watch(const char *rest, struct kar_buf *out)
{
	put_pod_event(out, "a", "");
	put_pod_event(out, "b", rest);
	put_pod_event(out, "c", "");
}

/* Offsets in the problem are of no interest here. */
static void drop_offset(struct kar_buf *out)
{
	char *at = strstr(out->p, " (at byte ");

	if (at)
		memmove(at, strchr(at, ')') + 1, strlen(strchr(at, ')') + 1) + 1);
}

static void others_are_read_from_protobuf(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(pods); i++) {
		for (int watch = 0; watch < 2; watch++) {
			struct kar_buf bytes = { 0 }, out = { 0 };
			char want[256];

			(watch ? put_pod_watch : put_pod_list)(pods[i].rest, &bytes);
			read_stream(&kar_pod_type, watch, &bytes, &out);
			(void)kar_buf_cstr(&out);
			drop_offset(&out);
			snprintf(want, sizeof(want), "a; b%s; c; ", pods[i].problem);
			expect(pods[i].name, out.p, want);
			kar_buf_release(&bytes);
			kar_buf_release(&out);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(others_are_read_from_json),
		cmocka_unit_test(others_are_read_from_protobuf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
