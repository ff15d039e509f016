#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/kube/reflector_policy.h"

/* A plan in words: "watch", "list position", "list latest paged, wait >= 5000, trouble" ... */
static void print_plan(struct kar_buf *out, struct kar_reflector_plan p)
{
	static const char *const from[] = {
		[KAR_LIST_LATEST_PAGED] = "list latest paged",
		[KAR_LIST_LATEST] = "list latest",
		[KAR_LIST_POSITION] = "list position",
	};

	kar_buf_puts(out, p.watch ? "watch" : from[p.from]);
	if (p.wait)
		kar_buf_puts(out, ", wait");
	if (p.within)
		kar_buf_printf(out, " within %jd", (intmax_t)p.within);
	if (p.at_least)
		kar_buf_printf(out, " >= %jd", (intmax_t)p.at_least);
	if (p.at_most)
		kar_buf_printf(out, " <= %jd", (intmax_t)p.at_most);
	if (p.reset)
		kar_buf_puts(out, ", reset");
	if (p.trouble)
		kar_buf_puts(out, ", trouble");
}

static void compare(const char *name, struct kar_reflector_plan plan, const char *want)
{
	struct kar_buf got = { 0 };

	print_plan(&got, plan);
	if (strcmp(kar_buf_cstr(&got), want))
		fail_msg("%s: \"%s\", want \"%s\"", name, kar_buf_cstr(&got), want);
	kar_buf_release(&got);
}

/* clang-format off: tables and texts */
#define GONE \
	{ \
		.what = KAR_GONE, .http = 410, .reason = "Expired" \
	}
#define TOO_LARGE \
	{ \
		.what = KAR_GONE, .http = 504, .reason = "Timeout" \
	}
#define BUSY \
	{ \
		.what = KAR_RETRY, .http = 429, .retry_after = 5000 \
	}
#define LOST \
	{ \
		.what = KAR_RETRY \
	}
#define HTTP(class_, code_) \
	{ \
		.what = (class_), .http = (code_) \
	}

static void after_a_list(void **state)
{
	static const struct {
		const char *name;
		enum kar_list_from from;
		struct kar_err err; /* KAR_OK: complete */
		bool continued;
		const char *want;
	} rows[] = {
		{ "complete_then_watch", KAR_LIST_LATEST_PAGED, { 0 }, false, "watch" },
		{ "complete_relist_then_watch", KAR_LIST_POSITION, { 0 }, false, "watch" },
		{ "position_gone_then_latest_at_once", KAR_LIST_POSITION, GONE, false, "list latest paged" },
		{ "position_ahead_of_server_then_latest_at_once", KAR_LIST_POSITION, TOO_LARGE, false,
			"list latest paged" },
		{ "page_expired_then_one_piece_at_once", KAR_LIST_LATEST_PAGED, GONE, true, "list latest" },
		{ "latest_gone_then_wait", KAR_LIST_LATEST_PAGED, GONE, false,
			"list latest paged, wait, trouble" },
		{ "one_piece_gone_then_wait", KAR_LIST_LATEST, GONE, false,
			"list latest paged, wait, trouble" },
		{ "connection_lost_then_same_again", KAR_LIST_LATEST_PAGED, LOST, false,
			"list latest paged, wait, trouble" },
		{ "connection_lost_on_page_3_then_from_the_start", KAR_LIST_LATEST_PAGED, LOST, true,
			"list latest paged, wait, trouble" },
		{ "relist_lost_then_position_is_kept", KAR_LIST_POSITION, LOST, false,
			"list position, wait, trouble" },
		{ "429_then_at_least_retry_after", KAR_LIST_POSITION, BUSY, false,
			"list position, wait within 500 >= 5000, trouble" },
		{ "500_then_same_again", KAR_LIST_POSITION, HTTP(KAR_RETRY, 500), false,
			"list position, wait, trouble" },
		{ "malformed_then_same_again", KAR_LIST_POSITION, HTTP(KAR_INVALID, 0), false,
			"list position, wait, trouble" },
		{ "401_then_same_again", KAR_LIST_LATEST_PAGED, HTTP(KAR_UNAUTHORIZED, 401), false,
			"list latest paged, wait, trouble" },
		{ "403_then_every_30_s", KAR_LIST_LATEST_PAGED, HTTP(KAR_DENIED, 403), false,
			"list latest paged, wait <= 30000, trouble" },
		{ "404_then_every_30_s", KAR_LIST_POSITION, HTTP(KAR_NOTFOUND, 404), false,
			"list position, wait <= 30000, trouble" },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_reflector_policy p = { .times = &kar_reflector_default_times };
		struct kar_list_end end = { .from = rows[i].from, .continued = rows[i].continued };

		end.err = rows[i].err.what == KAR_OK ? NULL : &rows[i].err;
		compare(rows[i].name, kar_reflector_after_list(&p, &end), rows[i].want);
	}
}

struct watch_row {
	const char *name;
	const char *how;    /* h: answer began, s: in stream, b: broken, y: bytes came, m: position moved */
	struct kar_err err; /* KAR_OK: none */
	kar_time lived;
	int times; /* the same end so often in a row; the last answer counts */
	const char *want;
};

static const struct watch_row watch_rows[] = {
	{ "timed_out_as_asked_then_rewatch", "ym", { 0 }, 400000, 1, "watch, reset" },
	{ "timed_out_without_any_event_then_rewatch", "", { 0 }, 400000, 1, "watch, reset" },
	{ "closed_after_2_s_without_event_then_rewatch", "", { 0 }, 2000, 1, "watch" },
	{ "closed_after_2_s_with_events_then_rewatch", "ym", { 0 }, 2000, 1, "watch, reset" },
	{ "closed_at_once_without_event_then_relist", "", { 0 }, 10, 1, "list position, wait" },
	{ "closed_at_once_again_and_again_then_trouble", "", { 0 }, 10, 5, "list position, wait, trouble" },
	{ "closed_at_once_with_event_then_rewatch", "ym", { 0 }, 10, 1, "watch" },
	{ "closed_after_events_again_and_again_then_rewatch", "ym", { 0 }, 10, 5, "watch" },

	{ "reset_between_events_then_rewatch", "ym", LOST, 60000, 1, "watch, reset" },
	{ "reset_with_old_bytes_only_then_rewatch", "y", LOST, 60000, 1, "watch, reset" },
	{ "reset_while_idle_then_wait", "h", LOST, 60000, 1, "watch, wait, reset" },
	{ "no_answer_for_30_s_then_wait", "", LOST, 30000, 1, "watch, wait" },
	{ "no_answer_for_30_s_again_then_trouble", "", LOST, 30000, 2, "watch, wait, trouble" },
	{ "connection_timed_out_for_long_then_trouble", "", LOST, 10000, 2, "watch, wait, trouble" },
	{ "refused_then_wait_without_relist", "", LOST, 0, 1, "watch, wait" },
	{ "refused_for_long_then_still_no_relist", "", LOST, 0, 50, "watch, wait, trouble" },
	{ "lost_at_once_with_event_then_wait", "ym", LOST, 10, 1, "watch, wait" },

	{ "cut_inside_event_then_rewatch", "bym", LOST, 60000, 1, "watch, reset" },
	{ "cut_inside_first_event_then_rewatch", "by", LOST, 5000, 1, "watch" },
	{ "cut_inside_first_event_twice_then_relist", "by", LOST, 5000, 2, "list position, wait" },
	{ "cut_inside_event_after_progress_never_relists", "bym", LOST, 5000, 9, "watch, reset" },
	{ "garbage_at_once_then_rewatch_slowly", "by", HTTP(KAR_INVALID, 0), 10, 1, "watch, wait" },
	{ "garbage_twice_then_relist", "by", HTTP(KAR_INVALID, 0), 10, 2, "list position, wait, trouble" },

	{ "410_on_start_then_relist", "", GONE, 5, 1, "list position, wait within 500" },
	{ "410_in_stream_then_relist", "sy", GONE, 5, 1, "list position, wait within 500" },
	{ "410_after_a_good_watch_then_relist", "sym", GONE, 100000, 1,
		"list position, wait within 500, reset" },
	{ "410_storm_then_trouble", "sy", GONE, 5, 3, "list position, wait, trouble" },
	{ "position_ahead_of_server_then_latest", "", TOO_LARGE, 3000, 1,
		"list latest paged, wait within 500" },

	{ "429_on_start_then_no_relist", "", BUSY, 5, 1, "watch, wait within 500 >= 5000" },
	{ "429_in_stream_then_no_relist", "sy", BUSY, 5, 1, "watch, wait within 500 >= 5000" },
	{ "429_for_long_then_still_no_relist", "", BUSY, 5, 50, "watch, wait >= 5000, trouble" },
	{ "429_without_retry_after_then_own_backoff", "", HTTP(KAR_RETRY, 429), 5, 1, "watch, wait" },
	{ "500_in_stream_then_relist", "sy", HTTP(KAR_RETRY, 500), 5, 1, "list position, wait" },
	{ "500_on_start_then_rewatch", "", HTTP(KAR_RETRY, 500), 5, 1, "watch, wait" },
	{ "503_on_start_then_rewatch", "", HTTP(KAR_RETRY, 503), 5, 1, "watch, wait" },
	{ "504_on_start_then_rewatch", "", HTTP(KAR_RETRY, 504), 60000, 1, "watch, wait" },

	{ "401_then_rewatch_with_fresh_credentials", "", HTTP(KAR_UNAUTHORIZED, 401), 5, 1, "watch, wait" },
	{ "403_then_relist_and_trouble", "", HTTP(KAR_DENIED, 403), 5, 1,
		"list position, wait <= 30000, trouble" },
	{ "404_then_relist_and_trouble", "", HTTP(KAR_NOTFOUND, 404), 5, 1,
		"list position, wait <= 30000, trouble" },
	{ "400_then_relist", "", HTTP(KAR_INVALID, 400), 5, 1, "list position, wait" },
};
/* clang-format on */

static struct kar_watch_end end_of(const struct watch_row *row)
{
	return (struct kar_watch_end){
		.err = row->err.what == KAR_OK ? NULL : &row->err,
		.in_stream = strchr(row->how, 's'),
		.broken = strchr(row->how, 'b'),
		.begun = strchr(row->how, 'h') || strchr(row->how, 'y'),
		.bytes = strchr(row->how, 'y'),
		.moved = strchr(row->how, 'm'),
		.lived = row->lived,
	};
}

static void after_a_watch(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(watch_rows); i++) {
		const struct watch_row *row = &watch_rows[i];
		struct kar_reflector_policy p = { .times = &kar_reflector_default_times };
		struct kar_watch_end end = end_of(row);
		struct kar_reflector_plan plan = { 0 };

		for (int n = 0; n < row->times; n++)
			plan = kar_reflector_after_watch(&p, &end);
		compare(row->name, plan, row->want);
	}
}

static void healthy_watch_ends_the_count(void **state)
{
	struct kar_reflector_policy p = { .times = &kar_reflector_default_times };
	const struct kar_err lost = LOST;
	struct kar_watch_end refused = { .err = &lost }, good = { .lived = 60000 };

	(void)state;
	for (int i = 0; i < 3; i++)
		kar_reflector_after_watch(&p, &refused);
	compare("third", kar_reflector_after_watch(&p, &refused), "watch, wait, trouble");
	compare("good", kar_reflector_after_watch(&p, &good), "watch, reset");
	compare("first again", kar_reflector_after_watch(&p, &refused), "watch, wait");
}

/* One end after another: what grew with one kind of failure says nothing about the next kind. */
static void backoff_grows_with_one_kind(void **state)
{
	static const struct kar_err lost = LOST, gone = GONE, busy = BUSY, denied = HTTP(KAR_DENIED, 403);
	static const struct {
		const char *name;
		const struct kar_err *before, *then;
		const char *want;
	} rows[] = {
		{ "server_was_away_then_410_is_listed_at_once", &lost, &gone,
			"list position, wait within 500, reset, trouble" },
		{ "server_was_away_then_429", &lost, &busy,
			"watch, wait within 500 >= 5000, reset, trouble" },
		{ "server_was_away_then_403", &lost, &denied,
			"list position, wait <= 30000, reset, trouble" },
		{ "403_then_away", &denied, &lost, "watch, wait, reset, trouble" },
		{ "busy_then_410", &busy, &gone, "list position, wait within 500, reset, trouble" },
		{ "410_then_410", &gone, &gone, "list position, wait, trouble" },
		{ "away_then_away", &lost, &lost, "watch, wait, trouble" },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_reflector_policy p = { .times = &kar_reflector_default_times };
		struct kar_watch_end before = { .err = rows[i].before }, then = { .err = rows[i].then };

		for (int n = 0; n < 5; n++)
			kar_reflector_after_watch(&p, &before);
		compare(rows[i].name, kar_reflector_after_watch(&p, &then), rows[i].want);
	}
}

/*
 * Whatever fails for ever, no two requests follow each other without a wait more than twice. A clean end after events is
 * no failure: each of those watches has moved the position.
 */
static void never_a_tight_loop(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(watch_rows); i++) {
		struct kar_reflector_policy p = { .times = &kar_reflector_default_times };
		struct kar_watch_end end = end_of(&watch_rows[i]);
		struct kar_list_end listed = { 0 };
		int without = 0;

		for (int n = 0; n < 20 && end.lived < 1000; n++) {
			struct kar_reflector_plan plan = kar_reflector_after_watch(&p, &end);

			without = plan.wait || (end.moved && !end.err && !end.broken) ? 0 : without + 1;
			if (!plan.watch)
				plan = kar_reflector_after_list(&p, &listed);
			if (without > 2 || !plan.watch)
				fail_msg("%s: %d steps without a wait", watch_rows[i].name, without);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(after_a_list),
		cmocka_unit_test(after_a_watch),
		cmocka_unit_test(healthy_watch_ends_the_count),
		cmocka_unit_test(backoff_grows_with_one_kind),
		cmocka_unit_test(never_a_tight_loop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
