#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/kube/reflector.h"
#include "common/kube/reflector_policy.h"
#include "test/unit/fake_client.h"
#include "test/unit/script_protobuf.h"
#include "test/unit/toy.h"

/* clang-format off: tables and texts */
#define TOY(name, uid, rv) \
	"{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"n\",\"uid\":\"" uid \
	"\",\"resourceVersion\":\"" rv "\"," \
	"\"managedFields\":[{\"manager\":\"m\",\"fieldsV1\":{\"f:x\":{}}}]},\"colour\":\"red\"}"
#define MORE(rv, token, items) \
	"{\"kind\":\"ToyList\",\"apiVersion\":\"example.com/v1\",\"metadata\":{\"resourceVersion\":\"" rv \
	"\"," \
	"\"continue\":\"" token "\",\"remainingItemCount\":1},\"items\":[" items "]}\n"
#define LIST(rv, items) MORE(rv, "", items)
#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"
#define ADDED(name, uid, rv) EVENT("ADDED", TOY(name, uid, rv))
#define MODIFIED(name, uid, rv) EVENT("MODIFIED", TOY(name, uid, rv))
#define DELETED(name, uid, rv) EVENT("DELETED", TOY(name, uid, rv))
#define BOOKMARK(rv) \
	EVENT("BOOKMARK", \
		"{\"kind\":\"Toy\",\"metadata\":{\"resourceVersion\":\"" rv "\"," \
		"\"creationTimestamp\":null},\"colour\":null}")
#define ERROR(code, reason) \
	EVENT("ERROR", \
		"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{}," \
		"\"status\":\"Failure\",\"message\":\"told so\",\"reason\":\"" reason "\",\"code\":" code \
		"}")

#define TOYS "/apis/example.com/v1/toys"
#define FIRST "list " TOYS "?limit=500"
#define PAGE(token) "list " TOYS "?limit=500&continue=" token
#define WHOLE "list " TOYS
#define RELIST(rv) "list " TOYS "?resourceVersion=" rv "&resourceVersionMatch=NotOlderThan"
#define WATCH(rv) "watch " TOYS "?watch=true&allowWatchBookmarks=true&resourceVersion=" rv "&timeoutSeconds=1"

#define GONE \
	{ \
		.what = KAR_GONE, .http = 410, .reason = "Expired" \
	}
#define LOST \
	{ \
		.what = KAR_RETRY, .msg = "connection reset" \
	}
#define FORBIDDEN \
	{ \
		.what = KAR_DENIED, .http = 403, .reason = "Forbidden", .msg = "toys is forbidden" \
	}

enum { MAX_STEPS = 10 };

/* The requests that must be made, with their answers; then what the store holds and what its listener heard. */
struct row {
	const char *name;
	struct fake_step steps[MAX_STEPS];
	const char *holds;
	const char *heard;
	const char *trouble; /* one word per call of on_trouble: a class, or "ok" */
};

static const struct row rows[] = {
	{ "lists_then_watches",
		{ { FIRST, LIST("7", TOY("a", "1", "5") "," TOY("b", "2", "6")) },
			{ WATCH("7"),
				ADDED("c", "3", "8") MODIFIED("a", "1", "9") DELETED("b", "2", "10") } },
		"a.1@9 c.3@8 rv=10", "+a@5 +b@6 +c@8 ~a@9 -b@6 ", "" },
	{ "clean_end_then_resumes_without_relist",
		{ { FIRST, LIST("7", TOY("a", "1", "5")) }, { WATCH("7"), "" },
			{ WATCH("7"), ADDED("b", "2", "9") }, { WATCH("9"), "" } },
		"a.1@5 b.2@9 rv=9", "+a@5 +b@9 ", "" },
	{ "pages_are_one_list_of_the_first_version",
		{ { FIRST, MORE("7", "x/y", TOY("a", "1", "5")) }, { PAGE("x%2Fy"), MORE("8", "z", "") },
			{ PAGE("z"), LIST("9", TOY("b", "2", "6")) }, { WATCH("7"), "" } },
		"a.1@5 b.2@6 rv=7", "+a@5 +b@6 ", "" },
	{ "410_on_page_2_then_one_whole_list",
		{ { FIRST, MORE("7", "x", TOY("a", "1", "5")) }, { PAGE("x"), "", GONE },
			{ WHOLE, LIST("9", TOY("b", "2", "8")) }, { WATCH("9"), "" } },
		"b.2@8 rv=9", "+b@8 ", "" },
	{ "connection_lost_on_page_2_then_starts_again",
		{ { FIRST, MORE("7", "x", TOY("a", "1", "5")) }, { PAGE("x"), "", LOST },
			{ FIRST, LIST("9", TOY("b", "2", "8")) }, { WATCH("9"), "" } },
		"b.2@8 rv=9", "+b@8 ", "Retry ok " },
	{ "endless_pages_then_failed_list",
		{ { FIRST, MORE("7", "x", "") }, { PAGE("x"), MORE("7", "x", "") }, { FIRST, LIST("9", "") },
			{ WATCH("9"), "" } },
		"rv=9", "", "Invalid ok " },
	{ "bookmark_moves_the_position",
		{ { FIRST, LIST("7", "") }, { WATCH("7"), BOOKMARK("20") }, { WATCH("20"), "" } }, "rv=20",
		"", "" },
	{ "lower_bookmark_then_ignored",
		{ { FIRST, LIST("7", "") }, { WATCH("7"), ADDED("a", "1", "9") BOOKMARK("8") },
			{ WATCH("9"), "" } },
		"a.1@9 rv=9", "+a@9 ", "" },
	{ "replayed_events_then_ignored",
		{ { FIRST, LIST("7", TOY("a", "1", "5")) },
			{ WATCH("7"),
				MODIFIED("a", "1", "9") MODIFIED("a", "1", "9") MODIFIED("a", "1", "5") },
			{ WATCH("9"), "" } },
		"a.1@9 rv=9", "+a@5 ~a@9 ", "" },
	{ "recreated_while_disconnected_then_two_calls",
		{ { FIRST, LIST("7", TOY("a", "1", "5")) }, { WATCH("7"), "", GONE },
			{ RELIST("7"), LIST("12", TOY("a", "2", "11")) }, { WATCH("12"), "" } },
		"a.2@11 rv=12", "+a@5 -a@5 +a@11 ", "" },
	{ "410_event_then_relist_at_position",
		{ { FIRST, LIST("7", TOY("a", "1", "5")) },
			{ WATCH("7"), ADDED("b", "2", "8") ERROR("410", "Expired") },
			{ RELIST("8"), LIST("12", TOY("b", "2", "8")) }, { WATCH("12"), "" } },
		"b.2@8 rv=12", "+a@5 +b@8 -a@5 ", "" },
	{ "410_of_the_relist_too_then_latest",
		{ { FIRST, LIST("7", "") }, { WATCH("7"), ERROR("410", "Gone") }, { RELIST("7"), "", GONE },
			{ FIRST, LIST("12", "") }, { WATCH("12"), "" } },
		"rv=12", "", "" },
	{ "429_in_stream_then_no_relist",
		{ { FIRST, LIST("7", "") }, { WATCH("7"), ERROR("429", "TooManyRequests") },
			{ WATCH("7"), "" } },
		"rv=7", "", "" },
	{ "500_in_stream_then_relist",
		{ { FIRST, LIST("7", "") }, { WATCH("7"), ERROR("500", "InternalError") },
			{ RELIST("7"), LIST("9", "") }, { WATCH("9"), "" } },
		"rv=9", "", "" },
	{ "refused_then_same_position",
		{ { FIRST, LIST("7", "") }, { WATCH("7"), NULL, LOST }, { WATCH("7"), NULL, LOST },
			{ WATCH("7"), BOOKMARK("8") }, { WATCH("8"), "" } },
		"rv=8", "", "Retry ok " },
	{ "cut_inside_an_event_then_delivered_once",
		{ { FIRST, LIST("7", "") },
			{ WATCH("7"),
				ADDED("a", "1", "8") "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"na",
				LOST },
			{ WATCH("8"), ADDED("b", "2", "9") }, { WATCH("9"), "" } },
		"a.1@8 b.2@9 rv=9", "+a@8 +b@9 ", "" },
	{ "clean_end_inside_an_event_then_the_same",
		{ { FIRST, LIST("7", "") },
			{ WATCH("7"),
				ADDED("a", "1", "8") "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"na" },
			{ WATCH("8"), "" } },
		"a.1@8 rv=8", "+a@8 ", "" },
	{ "clean_end_inside_the_same_event_twice_then_relist",
		{ { FIRST, LIST("7", "") }, { WATCH("7"), "{\"type\":\"ADDED\",\"obj" },
			{ WATCH("7"), "{\"type\":\"ADDED\",\"obj" }, { RELIST("7"), LIST("9", "") },
			{ WATCH("9"), "" } },
		"rv=9", "", "" },
	{ "garbage_twice_then_relist",
		{ { FIRST, LIST("7", TOY("a", "1", "5")) }, { WATCH("7"), "<html>" },
			{ WATCH("7"), "<html>" }, { RELIST("7"), LIST("9", TOY("a", "1", "5")) },
			{ WATCH("9"), "" } },
		"a.1@5 rv=9", "+a@5 ", "" },
	{ "event_without_uid_then_version_stays",
		{ { FIRST, LIST("7", "") },
			{ WATCH("7"), ADDED("a", "1", "8") ADDED("b", "", "9") ADDED("c", "3", "10") },
			{ WATCH("8"), "" } },
		"a.1@8 rv=8", "+a@8 ", "" },
	{ "delete_without_name_then_version_stays",
		{ { FIRST, LIST("7", TOY("a", "1", "5")) }, { WATCH("7"), DELETED("", "1", "9") },
			{ WATCH("7"), "" } },
		"a.1@5 rv=7", "+a@5 ", "" },
	{ "bookmark_without_version_then_stream_error",
		{ { FIRST, LIST("7", "") }, { WATCH("7"), BOOKMARK("") }, { WATCH("7"), "" } }, "rv=7", "",
		"" },
	{ "unknown_event_type_then_skipped",
		{ { FIRST, LIST("7", "") },
			{ WATCH("7"), EVENT("RENAMED", TOY("a", "1", "8")) ADDED("b", "2", "9") },
			{ WATCH("9"), "" } },
		"b.2@9 rv=9", "+b@9 ", "" },
	{ "list_item_malformed_then_whole_list_failed",
		{ { FIRST, LIST("7", TOY("a", "1", "5") "," TOY("b", "2", "6")) }, { WATCH("7"), "", GONE },
			{ RELIST("7"), LIST("9", TOY("a", "1", "5") "," TOY("b", "", "6")) },
			{ RELIST("7"), LIST("10", TOY("a", "1", "5") "," TOY("b", "2", "6")) },
			{ WATCH("10"), "" } },
		"a.1@5 b.2@6 rv=10", "+a@5 +b@6 ", "Invalid ok " },
	{ "list_truncated_then_cache_intact",
		{ { FIRST, LIST("7", TOY("a", "1", "5")) }, { WATCH("7"), "", GONE },
			{ RELIST("7"),
				"{\"kind\":\"ToyList\",\"metadata\":{\"resourceVersion\":\"9\"},\"items\":[" },
			{ RELIST("7"), LIST("10", TOY("a", "1", "5")) }, { WATCH("10"), "" } },
		"a.1@5 rv=10", "+a@5 ", "Invalid ok " },
	{ "list_without_version_then_failed",
		{ { FIRST, "{\"kind\":\"ToyList\",\"metadata\":{},\"items\":[]}" }, { FIRST, LIST("7", "") },
			{ WATCH("7"), "" } },
		"rv=7", "", "Invalid ok " },
	{ "status_instead_of_a_list_then_failed",
		{ { FIRST, "{\"kind\":\"Status\",\"metadata\":{\"resourceVersion\":\"3\"}}" },
			{ FIRST, LIST("7", "") }, { WATCH("7"), "" } },
		"rv=7", "", "Invalid ok " },
	{ "empty_answer_then_failed", { { FIRST, "" }, { FIRST, LIST("7", "") }, { WATCH("7"), "" } }, "rv=7",
		"", "Retry ok " },
	{ "forbidden_then_told_once_and_never_empty",
		{ { FIRST, LIST("7", TOY("a", "1", "5")) }, { WATCH("7"), "", GONE },
			{ RELIST("7"), NULL, FORBIDDEN }, { RELIST("7"), NULL, FORBIDDEN },
			{ RELIST("7"), NULL, FORBIDDEN }, { RELIST("7"), LIST("9", TOY("a", "1", "5")) },
			{ WATCH("9"), "" } },
		"a.1@5 rv=9", "+a@5 ", "Denied ok " },
	{ "trouble_changes_then_told_again",
		{ { FIRST, NULL, LOST }, { FIRST, NULL, LOST }, { FIRST, NULL, FORBIDDEN },
			{ FIRST, LIST("7", "") }, { WATCH("7"), "" } },
		"rv=7", "", "Retry Denied ok " },
	{ "opaque_versions_then_kept_verbatim",
		{ { FIRST, LIST("v-7", TOY("a", "1", "v-5")) },
			{ WATCH("v-7"), MODIFIED("a", "1", "v-9") BOOKMARK("v-3") },
			{ WATCH("v-3"), "", GONE }, { RELIST("v-3"), LIST("v-4", "") },
			{ WATCH("v-4"), "" } },
		"rv=0", "+a@0 ~a@0 -a@0 ", "" },
	{ "server_does_not_end_the_watch_then_we_do",
		{ { FIRST, LIST("7", "") },
			{ .expect = WATCH("7"), .give = ADDED("a", "1", "8"), .hang = true },
			{ WATCH("8"), "" } },
		"a.1@8 rv=8", "+a@8 ", "" },
	{ "silent_but_standing_watch_then_trouble_ends",
		{ { FIRST, LIST("7", "") }, { WATCH("7"), NULL, LOST }, { WATCH("7"), NULL, LOST },
			{ .expect = WATCH("7"), .hang = true }, { WATCH("7"), "" } },
		"rv=7", "", "Retry ok " },
	{ "standing_watch_that_nobody_answers_then_trouble_stays",
		{ { FIRST, LIST("7", "") }, { WATCH("7"), NULL, LOST }, { WATCH("7"), NULL, LOST },
			{ .expect = WATCH("7"), .hang = true, .mute = true }, { WATCH("7"), NULL, LOST } },
		"rv=7", "", "Retry " },
};
/* clang-format on */

/* A server that has protobuf for toys sends it, as it was asked to. */
static void speak_protobuf(const struct kar_request *r, const char *give, struct kar_buf *out)
{
	assert_true(r->protobuf);
	script_to_protobuf(&toy_type, r->verb == KAR_WATCH, give, out);
}

struct scene {
	struct fake_client fake;
	struct kar_intern *strings;
	struct kar_store *store;
	struct kar_reflector *reflector;
	struct kar_buf heard, trouble;
	int synced;
};

static void hear(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct scene *s = arg;
	const struct kar_object *o = new ? new : old;

	kar_buf_printf(&s->heard, "%c%s@%ju ", !old ? '+' : new ? '~' : '-', o->name, (uintmax_t)o->rv);
}

static void on_synced(void *arg)
{
	struct scene *s = arg;

	s->synced++;
	assert_true(kar_reflector_synced(s->reflector));
	assert_true(kar_store_synced(s->store));
}

static void on_trouble(void *arg, const struct kar_reflector *r, const struct kar_err *err)
{
	struct scene *s = arg;

	assert_true((kar_reflector_trouble(r) != NULL) == (err != NULL));
	kar_buf_printf(&s->trouble, "%s ", err ? kar_err_class_name(err->what) : "ok");
}

/* Every watch counts as long enough: the policy has a test of its own. */
static const struct kar_reflector_times quick = {
	.backoff_base = 1,
	.backoff_cap = 4,
	.watch_min = 20,
	.watch_max = 20,
	.grace = 20,
	.idle = 10,
	.settle = 10,
	.brief = 0,
	.healthy = 10,
	.refused = 3,
	.list = 1000,
};

static void begin(struct scene *s, const char *name, const struct fake_step *steps, size_t chunk,
	struct kar_reflector_options o)
{
	o.seed = 1;
	o.on_synced = on_synced;
	o.on_trouble = on_trouble;
	o.arg = s;
	o.times = o.times ? o.times : &quick;
	fake_init(&s->fake, name, steps);
	s->fake.chunk = chunk;
	s->strings = kar_intern_new();
	s->store = kar_store_new(&toy_type, s->strings);
	kar_store_listen(s->store, hear, s);
	s->reflector = kar_reflector_new(s->fake.loop, &s->fake.base, s->store, &o);
	kar_reflector_start(s->reflector);
}

static void end(struct scene *s)
{
	kar_reflector_free(s->reflector);
	kar_store_free(s->store);
	kar_intern_free(s->strings);
	fake_release(&s->fake);
	kar_buf_release(&s->heard);
	kar_buf_release(&s->trouble);
	assert_int_equal(toy_alive, 0);
}

static void print_store(struct kar_buf *out, const struct kar_store *s)
{
	for (char name[2] = "a"; name[0] <= 'c'; name[0]++) {
		const struct kar_object *o = kar_store_get(s, "n", name);

		if (o)
			kar_buf_printf(out, "%s.%s@%ju ", o->name, o->uid, (uintmax_t)o->rv);
	}
	kar_buf_printf(out, "rv=%ju", (uintmax_t)kar_store_rv(s));
}

static void expect(const char *row, const char *what, const char *got, const char *want)
{
	if (strcmp(got, want))
		fail_msg("%s: %s\n  \"%s\", want\n  \"%s\"", row, what, got, want);
}

static void play(const struct row *row, size_t chunk, bool protobuf)
{
	struct scene s = { 0 };
	struct kar_buf holds = { 0 };

	begin(&s, row->name, row->steps, chunk, (struct kar_reflector_options){ 0 });
	s.fake.encode = protobuf ? speak_protobuf : NULL;
	kar_loop_run(s.fake.loop);
	print_store(&holds, s.store);
	expect(row->name, "store", kar_buf_cstr(&holds), row->holds);
	expect(row->name, "listener", kar_buf_cstr(&s.heard), row->heard);
	expect(row->name, "trouble", kar_buf_cstr(&s.trouble), row->trouble);
	if (s.synced != 1)
		fail_msg("%s: on_synced called %d times", row->name, s.synced);
	kar_buf_release(&holds);
	end(&s);
}

static void scripts_in_one_piece(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++)
		play(&rows[i], 0, false);
}

static void scripts_byte_by_byte(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++)
		play(&rows[i], 1, false);
}

static void scripts_in_protobuf(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++)
		play(&rows[i], 0, true);
}

static void scripts_in_protobuf_byte_by_byte(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++)
		play(&rows[i], 1, true);
}

static void freed_in_the_middle_then_nothing_is_left(void **state)
{
	static const struct fake_step steps[] = {
		{ FIRST, MORE("7", "x", TOY("a", "1", "5")) },
		{ .expect = PAGE("x"),
			.hang = true,
			.stop = true,
			.give = "{\"kind\":\"ToyList\",\"items\":[" TOY("b", "2",
				"6") ",{\"metadata\":{\"na" },
		{ 0 },
	};
	struct scene s = { 0 };

	(void)state;
	begin(&s, "freed", steps, 0, (struct kar_reflector_options){ 0 });
	end(&s); /* while its first request is under way */
	s = (struct scene){ 0 };
	begin(&s, "freed", steps, 0, (struct kar_reflector_options){ 0 });
	kar_loop_run(s.fake.loop);
	assert_int_equal(toy_alive, 2);
	end(&s);
}

#define LONG_WATCH(rv) \
	"watch " TOYS "?watch=true&allowWatchBookmarks=true&resourceVersion=" rv "&timeoutSeconds=60"

static void silent_after_bookmarks_then_cut(void **state)
{
	struct kar_reflector_times long_watch = quick;
	static const struct fake_step scripts[][4] = {
		{ { FIRST, LIST("7", "") },
			{ .expect = LONG_WATCH("7"), .give = BOOKMARK("8"), .hang = true }, { 0 } },
		/* What the last watch has taught holds for one that never brings a byte. */
		{ { FIRST, LIST("7", "") }, { LONG_WATCH("7"), BOOKMARK("8") },
			{ .expect = LONG_WATCH("8"), .hang = true }, { 0 } },
	};

	(void)state;
	long_watch.watch_min = long_watch.watch_max = 60000;
	for (size_t i = 0; i < KAR_LEN(scripts); i++) {
		struct scene s = { 0 };

		begin(&s, "silent", scripts[i], 0, (struct kar_reflector_options){ .times = &long_watch });
		kar_loop_run(s.fake.loop); /* the fake's watchdog is sooner than the end of this watch */
		assert_int_equal(s.fake.cancelled, 1);
		end(&s);
	}
}

static void selectors_and_namespace_are_on_every_request(void **state)
{
	static const struct fake_step steps[] = {
		{ "list /apis/example.com/v1/namespaces/team/toys?labelSelector=kar%3Dyes&fieldSelector=a%3Db&limit=500",
			MORE("7", "x", "") },
		{ "list /apis/example.com/v1/namespaces/team/toys?labelSelector=kar%3Dyes&fieldSelector=a%3Db&limit=500"
		  "&continue=x",
			LIST("7", "") },
		{ "watch /apis/example.com/v1/namespaces/team/toys?watch=true&allowWatchBookmarks=true&resourceVersion=7"
		  "&labelSelector=kar%3Dyes&fieldSelector=a%3Db&timeoutSeconds=1",
			"" },
		{ 0 },
	};
	struct scene s = { 0 };

	(void)state;
	begin(&s, "selectors", steps, 0,
		(struct kar_reflector_options){ .ns = "team",
			.label_selector = "kar=yes",
			.field_selector = "a=b" });
	kar_loop_run(s.fake.loop);
	assert_int_equal(s.fake.at, 3);
	end(&s);
}

static void statistics_count_what_happened(void **state)
{
	static const struct fake_step steps[] = {
		{ FIRST, MORE("7", "x", "") },
		{ PAGE("x"), LIST("7", "") },
		{ WATCH("7"), ADDED("a", "1", "8") BOOKMARK("9") EVENT("RENAMED", TOY("a", "1", "8")) },
		{ WATCH("9"), "]" },
		{ 0 },
	};
	struct scene s = { 0 };

	(void)state;
	begin(&s, "statistics", steps, 0, (struct kar_reflector_options){ 0 });
	kar_loop_run(s.fake.loop);

	struct kar_reflector_stats stats = kar_reflector_stats(s.reflector);

	assert_int_equal(stats.lists, 1);
	assert_int_equal(stats.watches, 3);
	assert_int_equal(stats.events, 1);
	assert_int_equal(stats.bookmarks, 1);
	assert_int_equal(stats.parse_errors, 2);
	assert_true(stats.last_event > 0);
	assert_ptr_equal(kar_reflector_store(s.reflector), s.store);
	end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scripts_in_one_piece),
		cmocka_unit_test(scripts_byte_by_byte),
		cmocka_unit_test(scripts_in_protobuf),
		cmocka_unit_test(scripts_in_protobuf_byte_by_byte),
		cmocka_unit_test(freed_in_the_middle_then_nothing_is_left),
		cmocka_unit_test(silent_after_bookmarks_then_cut),
		cmocka_unit_test(selectors_and_namespace_are_on_every_request),
		cmocka_unit_test(statistics_count_what_happened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
