/* PodGroups as the API serves them, what is kept of them, and their spec as it is written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/str.h"
#include "api/podgroup/pg_kept.h"
#include "common/base/mem.h"
#include "test/fixture/projection.h"

static const struct kar_podgroup *group_of(const char *json)
{
	return kar_as_podgroup(object_of(&kar_podgroup_type, json));
}

#define META \
	"\"metadata\":{\"name\":\"g\",\"namespace\":\"ns\",\"uid\":\"u\",\"resourceVersion\":\"7\",\"generation\":2"
#define SPEC(...) "{" META "},\"spec\":{" __VA_ARGS__ "}}"

static const char whole[] =
	"{" META
	",\"ownerReferences\":[{\"apiVersion\":\"kube-arbitrator.io/v1alpha1\",\"kind\":\"QueueJob\",\"name\":\"j\","
	"\"uid\":\"job-uid\",\"controller\":true}],\"managedFields\":[{\"manager\":\"x\"}]},"
	"\"spec\":{\"minMember\":3,\"queue\":\"a\",\"priorityClassName\":\"high\",\"priority\":0,\"scheduleTimeoutSeconds\":60,"
	"\"minResources\":{\"memory\":\"1Gi\",\"cpu\":2},\"totalResources\":{\"cpu\":\"4\"},\"foreign\":{\"x\":1}},"
	"\"status\":{\"phase\":\"Running\",\"occupiedBy\":\"ns/j\",\"scheduled\":3,\"running\":2,\"succeeded\":1,\"failed\":4,"
	"\"members\":7,\"desired\":6,\"position\":5,\"admittedQueue\":\"b\",\"waitingSince\":\"2026-11-21T09:30:00Z\",\"scheduleStartTime\":\"2026-11-21T10:00:00Z\",\"conditions\":[{\"type\":\"Admitted\","
	"\"status\":\"True\",\"reason\":\"Admitted\",\"message\":\"\",\"lastTransitionTime\":\"2026-11-21T09:00:00Z\"}]}}";

#define GANG(key, value) "\"gang.scheduling.koordinator.sh/" key "\":\"" value "\""

static const struct {
	const char *name, *annotations, *options;
} options[] = {
	{ "none", "", "" },
	{ "all",
		GANG("groups", "[\\\"ns/g\\\",\\\"other/h\\\"]") "," GANG("total-number",
			"7") "," GANG("waiting-time", "1m30s") "," GANG("mode",
			"NonStrict") "," GANG("match-policy", "waiting-and-running"),
		"other/h total=7 wait=90000 non-strict and-running" },
	{ "defaults",
		GANG("mode", "Strict") "," GANG("match-policy", "once-satisfied") "," GANG("groups", "[]"),
		"" },
	{ "groups_that_are_no_list", GANG("groups", "ns/h"),
		"groups: want a JSON list of \"name\" or \"namespace/name\"" },
	{ "groups_that_are_no_names", GANG("groups", "[\\\"h/\\\"]"),
		"groups: want a JSON list of \"name\" or \"namespace/name\"" },
	{ "groups_of_the_own_namespace", GANG("groups", "[\\\"h\\\",\\\"g\\\",\\\"o/h\\\"]"), "ns/h o/h" },
	{ "too_many",
		GANG("groups",
			"[\\\"n/a\\\",\\\"n/b\\\",\\\"n/c\\\",\\\"n/d\\\",\\\"n/e\\\",\\\"n/f\\\",\\\"n/g\\\",\\\"n/h\\\","
			"\\\"n/i\\\",\\\"n/j\\\",\\\"n/k\\\",\\\"n/l\\\",\\\"n/m\\\",\\\"n/n\\\",\\\"n/o\\\",\\\"n/p\\\",\\\"n/q\\\"]"),
		"groups: it names more than 16 groups" },
	{ "total", GANG("total-number", "-1"), "total-number: too small" },
	{ "waiting_time", GANG("waiting-time", "soon"), "waiting-time: want a duration such as 90s" },
	{ "mode", GANG("mode", "strict"), "mode: want Strict or NonStrict" },
	{ "those_that_wait", GANG("match-policy", "only-waiting"), "only-waiting" },
	{ "in_the_words_of_others", GANG("match-policy", "OnlyWaiting"), "only-waiting" },
	{ "policy", GANG("match-policy", "never"),
		"match-policy: want once-satisfied, waiting-and-running or only-waiting" },
	{ "the_others_count_all_the_same", GANG("mode", "x") "," GANG("total-number", "3"),
		"total=3 mode: want Strict or NonStrict" },
};

static void annotations_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(options); i++) {
		static const char before[] = "annotation gang.scheduling.koordinator.sh/",
				  middle[] = " is ignored";
		const struct kar_podgroup *g;
		const struct kar_pg_options *o;
		char json[2048], got[512] = "";
		size_t n = 0;

		snprintf(json, sizeof(json), "{" META ",\"annotations\":{%s}},\"spec\":{\"minMember\":1}}",
			options[i].annotations);
		g = group_of(json);
		o = &g->options;
		for (size_t k = 0; k < o->groups.n; k++)
			n += (size_t)snprintf(got + n, sizeof(got) - n, " %s",
				((const char **)o->groups.items)[k]);
		if (o->total)
			n += (size_t)snprintf(got + n, sizeof(got) - n, " total=%d", (int)o->total);
		if (o->waiting_time)
			n += (size_t)snprintf(got + n, sizeof(got) - n, " wait=%d", (int)o->waiting_time);
		n += (size_t)snprintf(got + n, sizeof(got) - n, "%s%s%s", o->non_strict ? " non-strict" : "",
			o->and_running ? " and-running" : "", o->only_waiting ? " only-waiting" : "");
		if (o->invalid) {
			const char *rest = strstr(o->invalid, middle);

			assert_int_equal(strncmp(o->invalid, before, strlen(before)), 0);
			assert_non_null(rest);
			snprintf(got + n, sizeof(got) - n, " %.*s%s",
				(int)(rest - o->invalid - (long)strlen(before)), o->invalid + strlen(before),
				rest + strlen(middle));
		}
		if (strcmp(got[0] ? got + 1 : got, options[i].options) != 0)
			fail_msg("%s: want '%s', got '%s'", options[i].name, options[i].options, got);
		kar_object_unref(&g->o);
	}
}

static void whole_group_is_projected(void **state)
{
	const struct kar_podgroup *g = group_of(whole);
	const struct kar_pair *min = g->spec.min_resources.items;
	const struct kar_condition *c;

	(void)state;
	assert_string_equal(g->o.name, "g");
	assert_string_equal(g->o.ns, "ns");
	assert_int_equal(g->o.rv, 7);
	assert_int_equal(g->generation, 2);
	assert_string_equal(g->owner_name, "j");
	assert_true(g->owner_is_queuejob);
	assert_ptr_equal(kar_podgroup_type.index_key(&g->o, KAR_PG_BY_OWNER),
		kar_intern_find(strings, "job-uid"));
	assert_int_equal(g->spec.min_member, 3);
	assert_string_equal(g->spec.queue, "a");
	assert_string_equal(g->spec.priority_class_name, "high");
	assert_true(g->spec.has_priority);
	assert_true(g->spec.has_schedule_timeout);
	assert_int_equal(g->spec.schedule_timeout_seconds, 60);
	assert_int_equal(g->spec.min_resources.n, 2);
	assert_string_equal(min[0].key, "cpu");
	assert_string_equal(min[0].value, "2");
	assert_string_equal(min[1].key, "memory");
	assert_int_equal(g->status.phase, KAR_PG_PHASE_RUNNING);
	assert_string_equal(g->status.occupied_by, "ns/j");
	assert_int_equal(g->status.scheduled, 3);
	assert_int_equal(g->status.running, 2);
	assert_int_equal(g->status.succeeded, 1);
	assert_int_equal(g->status.failed, 4);
	assert_int_equal(g->status.members, 7);
	assert_int_equal(g->status.position, 5);
	assert_true(g->status.has_desired);
	assert_int_equal(g->status.desired, 6);
	c = kar_condition_find(&g->status.conditions, KAR_PG_ADMITTED);
	assert_non_null(c);
	assert_int_equal(g->status.schedule_start_time - c->last_transition, 60 * KAR_MINUTE);
	assert_string_equal(g->status.admitted_queue, "b");
	assert_int_equal(g->status.waiting_since - c->last_transition, 30 * KAR_MINUTE);
	kar_object_unref(&g->o);
}

static void admission_is_of_one_queue(void **state)
{
	static const struct {
		const char *spec, *status, *queue;
		bool admitted;
	} rows[] = {
		{ "\"queue\":\"a\"", "\"admittedQueue\":\"a\",", "a", true },
		{ "\"queue\":\"a\"", "\"admittedQueue\":\"b\",", "a", false },
		{ "\"queue\":\"a\"", "\"admittedQueue\":\"a\",", "b", false },
		{ "", "\"admittedQueue\":\"default\",", "default", true },
		{ "", "\"admittedQueue\":\"default\",", "b", false },
		/* by a version that did not name it */
		{ "\"queue\":\"a\"", "", "a", true },
		{ "\"queue\":\"a\"", "", "b", false },
		/* the CRD knows no queues */
		{ "", "", "b", true },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const struct kar_podgroup *g;
		char text[512];

		snprintf(text, sizeof(text),
			"{" META
			"},\"spec\":{%s},\"status\":{%s\"conditions\":[{\"type\":\"Admitted\",\"status\":\"True\"}]}}",
			rows[i].spec, rows[i].status);
		g = group_of(text);
		if (kar_podgroup_admitted_by(g, rows[i].queue) != rows[i].admitted)
			fail_msg("{%s} {%s} by %s: want %d", rows[i].spec, rows[i].status, rows[i].queue,
				rows[i].admitted);
		kar_object_unref(&g->o);
	}
}

static void queue_is_of_the_spec_else_of_the_label(void **state)
{
#define LABEL ",\"labels\":{\"kube-arbitrator.io/queue\":\"b\"}"
#define OWNER(group) \
	",\"ownerReferences\":[{\"apiVersion\":\"" group \
	"/v1\",\"kind\":\"QueueJob\",\"name\":\"j\",\"uid\":\"u2\",\"controller\":true}]"
	static const struct {
		const char *meta, *spec, *queue;
	} rows[] = {
		{ "", "", NULL },
		{ LABEL, "", "b" },
		{ LABEL, "\"queue\":\"a\"", "a" },
		{ LABEL OWNER("example.com"), "", "b" },
		{ LABEL OWNER("kube-arbitrator.io"), "", NULL },
		{ ",\"labels\":{\"kube-arbitrator.io/queue\":\"\"}", "", NULL },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const struct kar_podgroup *g;
		char text[512];

		snprintf(text, sizeof(text),
			"{" META
			"%s},\"spec\":{%s},\"status\":{\"conditions\":[{\"type\":\"Admitted\",\"status\":\"True\"}]}}",
			rows[i].meta, rows[i].spec);
		g = group_of(text);
		assert_true(kar_streq(kar_podgroup_queue(g), rows[i].queue));
		assert_true(kar_podgroup_admitted_by(g, rows[i].queue ? rows[i].queue : "default"));
		if (rows[i].queue)
			assert_false(kar_podgroup_admitted_by(g, "default"));
		kar_object_unref(&g->o);
	}
}

static void min_resources_may_be_empty(void **state)
{
	static const struct {
		const char *spec;
		bool has;
	} rows[] = {
		{ "", false },
		{ "\"minResources\":null", false },
		{ "\"minResources\":{}", true },
		{ "\"minResources\":{\"cpu\":1}", true },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		char text[256];
		const struct kar_podgroup *g;

		snprintf(text, sizeof(text), "{" META "},\"spec\":{%s}}", rows[i].spec);
		g = group_of(text);
		assert_int_equal(g->spec.has_min_resources, rows[i].has);
		kar_object_unref(&g->o);
	}
}

static void group_that_is_not_admitted_is_so_by_no_queue(void **state)
{
	const struct kar_podgroup *g = group_of("{" META "},\"status\":{\"admittedQueue\":\"a\"}}");

	(void)state;
	assert_false(kar_podgroup_admitted_by(g, "a"));
	assert_null(kar_podgroup_queue(g));
	kar_object_unref(&g->o);
}

static void owner_is_ours_by_group_and_kind(void **state)
{
	static const struct {
		const char *owner;
		bool ours;
	} rows[] = {
		{ "\"apiVersion\":\"kube-arbitrator.io/v1alpha1\",\"kind\":\"QueueJob\"", true },
		{ "\"apiVersion\":\"kube-arbitrator.io/v2\",\"kind\":\"QueueJob\"", true },
		{ "\"apiVersion\":\"example.com/v1\",\"kind\":\"QueueJob\"", false },
		{ "\"apiVersion\":\"kube-arbitrator.io.example.com/v1\",\"kind\":\"QueueJob\"", false },
		{ "\"apiVersion\":\"kube-arbitrator.io/v1alpha1\",\"kind\":\"CRDJob\"", false },
		{ "\"kind\":\"QueueJob\"", false },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		char text[512];
		const struct kar_podgroup *g;

		snprintf(text, sizeof(text),
			"{" META
			",\"ownerReferences\":[{%s,\"name\":\"j\",\"uid\":\"u\",\"controller\":true}]},\"spec\":{}}",
			rows[i].owner);
		g = group_of(text);
		if (g->owner_is_queuejob != rows[i].ours)
			fail_msg("%s: want %d", rows[i].owner, rows[i].ours);
		kar_object_unref(&g->o);
	}
}

static void bare_group_is_projected(void **state)
{
	const struct kar_podgroup *g = group_of("{" META "}}");

	(void)state;
	assert_null(g->owner_uid);
	assert_null(kar_podgroup_type.index_key(&g->o, KAR_PG_BY_OWNER));
	assert_int_equal(g->spec.min_member, 0);
	assert_null(g->spec.queue);
	assert_false(g->spec.has_priority);
	assert_int_equal(g->status.phase, KAR_PG_PHASE_NONE);
	assert_string_equal(g->status.occupied_by, "");
	assert_int_equal(g->status.conditions.n, 0);
	kar_object_unref(&g->o);
}

static void spec_is_written_as_it_was_read(void **state)
{
	static const struct {
		const char *name, *json, *written;
	} rows[] = {
		{ "all", whole,
			"{\"minMember\":3,\"queue\":\"a\",\"priorityClassName\":\"high\",\"priority\":0,"
			"\"scheduleTimeoutSeconds\":60,\"minResources\":{\"cpu\":\"2\",\"memory\":\"1Gi\"},"
			"\"totalResources\":{\"cpu\":\"4\"}}" },
		{ "absent_members_are_left_out", SPEC("\"minMember\":1"), "{\"minMember\":1}" },
		{ "what_minMember_leaves_out_is_kept", SPEC("\"minMember\":1,\"succeededMembers\":2"),
			"{\"minMember\":1,\"succeededMembers\":2}" },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const struct kar_podgroup *g = group_of(rows[i].json);
		struct kar_json_writer w;
		struct kar_buf out = { 0 };

		kar_json_writer_init(&w, &out);
		kar_podgroup_spec_write(&w, &g->spec);
		kar_json_writer_release(&w);
		if (strcmp(kar_buf_cstr(&out), rows[i].written) != 0)
			fail_msg("%s: want %s, got %s", rows[i].name, rows[i].written, kar_buf_cstr(&out));
		kar_buf_release(&out);
		kar_object_unref(&g->o);
	}
}

static const struct {
	const char *name, *a, *b;
	bool equal;
} pairs[] = {
	{ "same", whole, whole, true },
	{ "order_of_resources", SPEC("\"minResources\":{\"a\":\"1\",\"b\":\"2\"}"),
		SPEC("\"minResources\":{\"b\":\"2\",\"a\":\"1\"}"), true },
	{ "succeeded_members", SPEC("\"minMember\":1"), SPEC("\"minMember\":1,\"succeededMembers\":1"),
		false },
	{ "min_member", SPEC("\"minMember\":1"), SPEC("\"minMember\":2"), false },
	{ "queue", SPEC("\"queue\":\"a\""), SPEC("\"queue\":\"b\""), false },
	{ "queue_absent", SPEC("\"queue\":\"a\""), SPEC(""), false },
	{ "class", SPEC("\"priorityClassName\":\"a\""), SPEC("\"priorityClassName\":\"b\""), false },
	{ "priority", SPEC("\"priority\":1"), SPEC("\"priority\":2"), false },
	{ "priority_zero_is_not_absent", SPEC("\"priority\":0"), SPEC(""), false },
	{ "timeout", SPEC("\"scheduleTimeoutSeconds\":1"), SPEC("\"scheduleTimeoutSeconds\":2"), false },
	{ "timeout_absent", SPEC("\"scheduleTimeoutSeconds\":1"), SPEC(""), false },
	{ "resource_value", SPEC("\"minResources\":{\"a\":\"1\"}"), SPEC("\"minResources\":{\"a\":\"2\"}"),
		false },
	{ "resource_more", SPEC("\"totalResources\":{\"a\":\"1\"}"), SPEC(""), false },
};

static void specs_are_compared_member_by_member(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(pairs); i++) {
		const struct kar_podgroup *a = group_of(pairs[i].a), *b = group_of(pairs[i].b);

		if (kar_podgroup_spec_equal(&a->spec, &b->spec) != pairs[i].equal ||
			kar_podgroup_spec_equal(&b->spec, &a->spec) != pairs[i].equal)
			fail_msg("%s: want %s", pairs[i].name, pairs[i].equal ? "equal" : "different");
		kar_object_unref(&a->o);
		kar_object_unref(&b->o);
	}
}

#define KEY(name, value) "\"kube-arbitrator.io/" name "\":\"" value "\""
#define PLACED_OF(uid) \
	KEY("placement", \
		"{\\\"placement\\\":{\\\"state\\\":\\\"Placed\\\",\\\"attempt\\\":2},\\\"backend\\\":\\\"Gates\\\"" uid \
		"}")
#define OF(uid) ",\\\"uid\\\":\\\"" uid "\\\""
#define PLACED PLACED_OF(OF("u"))
#define IN_QUEUE_OF(uid) \
	KEY("queue-status", \
		"{\\\"phase\\\":\\\"Failed\\\",\\\"running\\\":7,\\\"members\\\":3,\\\"position\\\":4,\\\"admittedQueue\\\":\\\"a\\\"," \
		"\\n\\\"conditions\\\":[{\\\"type\\\":\\\"Admitted\\\",\\\"status\\\":\\\"True\\\"}]" uid \
		"}")
#define IN_QUEUE IN_QUEUE_OF(OF("u"))
#define SHOWN "\"phase\":\"Running\",\"running\":2"
#define OURS \
	SHOWN ",\"position\":1,\"members\":9,\"conditions\":[{\"type\":\"Scheduled\",\"status\":\"True\"}]"

/* @got: state of the placement, attempt, backend, phase, running, members, position, queue, number of conditions; + if it was dropped. */
static const struct {
	const char *name, *annotations, *status, *got;
} kept[] = {
	{ "what_the_crd_drops_is_in_annotations", PLACED "," IN_QUEUE, SHOWN,
		"Placed 2 Gates Running 2 3 4 a 1 +" },
	{ "what_it_keeps_is_in_the_status", PLACED "," IN_QUEUE, OURS, " 0  Running 2 9 1  1" },
	{ "before_anybody_has_written_nothing_is_known", PLACED "," IN_QUEUE, "", " 0   0 0 0  0" },
	{ "annotations_may_be_missing", "", SHOWN, " 0  Running 2 0 0  0 +" },
	{ "annotation_that_is_no_json_is_as_if_it_were_missing", KEY("placement", "Placed") "," IN_QUEUE,
		SHOWN, " 0  Running 2 3 4 a 1 +" },
	{ "annotation_of_other_types_too", PLACED "," KEY("queue-status", "{\\\"members\\\":[]" OF("u") "}"),
		SHOWN, "Placed 2 Gates Running 2 0 0  0 +" },
	{ "what_was_copied_from_another_group_does_not_count", PLACED "," IN_QUEUE_OF(OF("x")), SHOWN,
		"Placed 2 Gates Running 2 0 0  0 +" },
	{ "nor_does_its_placement", PLACED_OF(OF("x")) "," IN_QUEUE, SHOWN, " 0  Running 2 3 4 a 1 +" },
	{ "nor_what_names_no_group", PLACED_OF("") "," IN_QUEUE_OF(""), SHOWN, " 0  Running 2 0 0  0 +" },
	{ "placement_that_is_kept_shows_that_the_crd_is_ours", IN_QUEUE,
		SHOWN ",\"placement\":{\"state\":\"Satisfied\"}", "Satisfied 0  Running 2 0 0  0" },
};

static void what_the_crd_drops_is_read_from_annotations(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(kept); i++) {
		const struct kar_podgroup_status *s;
		const struct kar_podgroup *g;
		char json[2048], got[256];

		snprintf(json, sizeof(json), "{" META ",\"annotations\":{%s}},\"spec\":{},\"status\":{%s}}",
			kept[i].annotations, kept[i].status);
		g = group_of(json);
		s = &g->status;
		snprintf(got, sizeof(got), "%s %d %s %s %d %d %d %s %zu%s",
			kar_pg_state_name(s->placement.state), (int)s->placement.attempt,
			kar_pg_backend_name(s->backend), kar_pg_phase_name(s->phase), (int)s->running,
			(int)s->members, (int)s->position, s->admitted_queue, s->conditions.n,
			g->pruned ? " +" : "");
		if (strcmp(got, kept[i].got) != 0)
			fail_msg("%s: want '%s', got '%s'", kept[i].name, kept[i].got, got);
		kar_object_unref(&g->o);
	}
}

/* @text as JSON has it between quotes. */
static const char *quoted(const char *text, struct kar_arena *a)
{
	char *out = kar_arena_alloc(a, 2 * strlen(text) + 1, 1), *to = out;

	for (; *text; text++) {
		if (*text == '"' || *text == '\\' || *text == '\n')
			*to++ = '\\';
		*to++ = *text == '\n' ? 'n' : *text;
	}
	return out;
}

static void annotations_say_what_the_status_did(void **state)
{
	static const char status[] =
		"\"phase\":\"Running\",\"running\":2,\"occupiedBy\":\"ns/o\",\"members\":3,\"scheduled\":2,\"desired\":6,\"desiredOf\":7,"
		"\"position\":0,\"admittedQueue\":\"a\",\"evictions\":1,\"record\":{\"quorumLost\":true},\"backend\":\"Gates\","
		"\"placement\":{\"state\":\"Placed\",\"attempt\":2,\"cause\":\"\\\"x\\\", {y}\",\"plan\":[{\"role\":\"p\",\"nodes\":\"n1*2\"}],\"domains\":[{\"label\":\"r\",\"value\":\"r1\",\"required\":true}]},"
		"\"conditions\":[{\"type\":\"Admitted\",\"status\":\"True\",\"reason\":\"Admitted\",\"message\":\"m\"},"
		"{\"type\":\"Scheduled\",\"status\":\"False\",\"reason\":\"Placing\",\"message\":\"0/2 members bound\"}]";
	char json[4096];
	struct kar_arena a = { 0 };
	const struct kar_podgroup *before, *after;
	struct kar_pg_kept texts;

	(void)state;
	snprintf(json, sizeof(json), "{" META "},\"spec\":{},\"status\":{%s}}", status);
	before = group_of(json);
	texts = kar_pg_kept(before, &before->status, &a);
	assert_string_equal(texts.texts[0],
		"{\"placement\":{\"state\":\"Placed\",\"attempt\":2,\"cause\":\"\\\"x\\\", {y}\",\"plan\":[{\"role\":\"p\",\"nodes\":\"n1*2\"}],\"domains\":[{\"label\":\"r\",\"value\":\"r1\",\"required\":true}]},\n"
		"\"backend\":\"Gates\",\n\"uid\":\"u\"}");
	assert_string_equal(texts.texts[2], "Placing: 0/2 members bound");
	snprintf(json, sizeof(json),
		"{" META
		",\"annotations\":{\"%s\":\"%s\",\"%s\":\"%s\"}},\"spec\":{},\"status\":{\"phase\":\"Running\",\"running\":2,\"occupiedBy\":\"ns/o\"}}",
		kar_pg_kept_keys[0], quoted(texts.texts[0], &a), kar_pg_kept_keys[1],
		quoted(texts.texts[1], &a));
	after = group_of(json);
	assert_true(after->pruned);
	assert_true(
		kar_status_equal(&kar_podgroup_status_table, &before->status, &after->status, KAR_SF_ALL));
	assert_false(kar_pg_kept_differs(after, &before->status, &a));
	kar_object_unref(&before->o);
	kar_object_unref(&after->o);
	kar_arena_release(&a);
}

/* .desired was chosen for a job of .of pods; now it asks for .pods, of which .left have not succeeded. */
static const struct {
	int32_t desired, of, pods, left, allowed;
} chosen[] = {
	{ 3, 3, 3, 3, 3 },
	{ 3, 3, 3, 1, 1 },
	{ 2, 5, 5, 4, 2 },
	{ 9, 5, 5, 4, 4 },
	{ 3, 3, 6, 4, 1 }, /* two of three have succeeded before three more were asked for */
	{ 3, 3, 6, 3, 0 },
	{ 3, 6, 6, 4, 3 },
	{ 3, 3, 2, 1, 1 },
	{ 3, 0, 6, 4, 3 },
};

static void room_of_successes_is_asked_for_anew(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(chosen); i++) {
		const struct kar_podgroup g = { .status = { .has_desired = true,
							.desired = chosen[i].desired,
							.desired_of = chosen[i].of } };

		assert_int_equal(kar_podgroup_allows(&g, chosen[i].pods, chosen[i].left), chosen[i].allowed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(annotations_are_read),
		TEST(whole_group_is_projected),
		TEST(admission_is_of_one_queue),
		TEST(queue_is_of_the_spec_else_of_the_label),
		TEST(min_resources_may_be_empty),
		TEST(group_that_is_not_admitted_is_so_by_no_queue),
		TEST(owner_is_ours_by_group_and_kind),
		TEST(bare_group_is_projected),
		TEST(spec_is_written_as_it_was_read),
		TEST(specs_are_compared_member_by_member),
		TEST(room_of_successes_is_asked_for_anew),
		TEST(what_the_crd_drops_is_read_from_annotations),
		TEST(annotations_say_what_the_status_did),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
