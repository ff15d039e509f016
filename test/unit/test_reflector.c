/* Scripts of the answers of a server: the objects in the store afterwards, the calls of its listeners, and the reported trouble. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/reflector_script.h"
#include "test/unit/script_protobuf.h"

/* clang-format off: tables and texts */
enum { MAX_STEPS = 10 };

/* The requests that must be made, with their answers; then what the store holds and what its listener heard. */
struct row {
	const char *name;
	struct fake_step steps[MAX_STEPS];
	const char *holds;
	const char *heard;
	const char *
		trouble; /* one word per call of on_trouble: a class, or "ok"; "name?" per call of on_unreadable */
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
		"b.2@8 rv=9", "+b@8 ", "Retry answer ok " },
	{ "endless_pages_then_failed_list",
		{ { FIRST, MORE("7", "x", "") }, { PAGE("x"), MORE("7", "x", "") }, { FIRST, LIST("9", "") },
			{ WATCH("9"), "" } },
		"rv=9", "", "Invalid answer ok " },
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
		"rv=8", "", "Retry answer ok " },
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
	{ "unreadable_item_then_all_others_are_listed",
		{ { FIRST, LIST("7", TOY("a", "1", "5") "," BAD_TOY("b", "2", "6") "," TOY("c", "3", "6")) },
			{ WATCH("7"), ADDED("d", "4", "8") }, { WATCH("8"), "" } },
		"a.1@5 b.2@6? c.3@6 rv=8", "+a@5 +b@6? +c@6 +d@8 ", "b? " },
	{ "unreadable_event_then_the_watch_goes_on",
		{ { FIRST, LIST("7", TOY("a", "1", "5") "," TOY("b", "2", "6")) },
			{ WATCH("7"), BAD("a", "1", "8") MODIFIED("b", "2", "9") }, { WATCH("9"), "" } },
		"a.1@8? b.2@9 rv=9", "+a@5 +b@6 ~a@8? ~b@9 ", "a? " },
	{ "unreadable_is_told_once_until_it_is_readable",
		{ { FIRST, LIST("7", BAD_TOY("a", "1", "5")) },
			{ WATCH("7"), BAD("a", "1", "8") BAD("a", "1", "9") MODIFIED("a", "1", "10") },
			{ WATCH("10"), BAD("a", "1", "11") DELETED("a", "1", "12") BAD("a", "2", "13") },
			{ WATCH("13"), "" } },
		"a.2@13? rv=13", "+a@5? ~a@8? ~a@9? ~a@10 ~a@11? -a@11? +a@13? ", "a? a? a? " },
	{ "list_item_malformed_then_whole_list_failed",
		{ { FIRST, LIST("7", TOY("a", "1", "5") "," TOY("b", "2", "6")) }, { WATCH("7"), "", GONE },
			{ RELIST("7"), LIST("9", TOY("a", "1", "5") "," TOY("b", "", "6")) },
			{ RELIST("7"), LIST("10", TOY("a", "1", "5") "," TOY("b", "2", "6")) },
			{ WATCH("10"), "" } },
		"a.1@5 b.2@6 rv=10", "+a@5 +b@6 ", "Invalid answer ok " },
	{ "list_truncated_then_cache_intact",
		{ { FIRST, LIST("7", TOY("a", "1", "5")) }, { WATCH("7"), "", GONE },
			{ RELIST("7"),
				"{\"kind\":\"ToyList\",\"metadata\":{\"resourceVersion\":\"9\"},\"items\":[" },
			{ RELIST("7"), LIST("10", TOY("a", "1", "5")) }, { WATCH("10"), "" } },
		"a.1@5 rv=10", "+a@5 ", "Invalid answer ok " },
	{ "list_without_version_then_failed",
		{ { FIRST, "{\"kind\":\"ToyList\",\"metadata\":{},\"items\":[]}" }, { FIRST, LIST("7", "") },
			{ WATCH("7"), "" } },
		"rv=7", "", "Invalid answer ok " },
	{ "status_instead_of_a_list_then_failed",
		{ { FIRST, "{\"kind\":\"Status\",\"metadata\":{\"resourceVersion\":\"3\"}}" },
			{ FIRST, LIST("7", "") }, { WATCH("7"), "" } },
		"rv=7", "", "Invalid answer ok " },
	{ "empty_answer_then_failed", { { FIRST, "" }, { FIRST, LIST("7", "") }, { WATCH("7"), "" } }, "rv=7",
		"", "Retry answer ok " },
	{ "forbidden_then_told_once_and_never_empty",
		{ { FIRST, LIST("7", TOY("a", "1", "5")) }, { WATCH("7"), "", GONE },
			{ RELIST("7"), NULL, FORBIDDEN }, { RELIST("7"), NULL, FORBIDDEN },
			{ RELIST("7"), NULL, FORBIDDEN }, { RELIST("7"), LIST("9", TOY("a", "1", "5")) },
			{ WATCH("9"), "" } },
		"a.1@5 rv=9", "+a@5 ", "Denied Denied Denied answer ok " },
	{ "trouble_changes_then_told_again",
		{ { FIRST, NULL, LOST }, { FIRST, NULL, LOST }, { FIRST, NULL, FORBIDDEN },
			{ FIRST, LIST("7", "") }, { WATCH("7"), "" } },
		"rv=7", "", "Retry Retry Denied answer ok " },
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
		"rv=7", "", "Retry answer ok " },
	{ "standing_watch_that_nobody_answers_then_trouble_stays",
		{ { FIRST, LIST("7", "") }, { WATCH("7"), NULL, LOST }, { WATCH("7"), NULL, LOST },
			{ .expect = WATCH("7"), .hang = true, .mute = true }, { WATCH("7"), NULL, LOST } },
		"rv=7", "", "Retry Retry Retry " },
};
/* clang-format on */

/* A server that has protobuf for toys sends it, as it was asked to. */
static void speak_protobuf(const struct kar_request *r, const char *give, struct kar_buf *out)
{
	assert_true(r->protobuf);
	script_to_protobuf(&toy_type, r->verb == KAR_WATCH, give, out);
}

static void print_store(struct kar_buf *out, const struct kar_store *s)
{
	for (char name[2] = "a"; name[0] <= 'c'; name[0]++) {
		const struct kar_object *o = kar_store_get(s, "n", name);

		if (o)
			kar_buf_printf(out, "%s.%s@%ju%s ", o->name, o->uid, (uintmax_t)o->rv,
				o->unreadable ? "?" : "");
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scripts_in_one_piece),
		cmocka_unit_test(scripts_byte_by_byte),
		cmocka_unit_test(scripts_in_protobuf),
		cmocka_unit_test(scripts_in_protobuf_byte_by_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
