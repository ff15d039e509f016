#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/kube/event.h"
#include "common/kube/event_filter.h"

/* A client that keeps what is asked and answers when the test says so. */

enum { MAX_CALLS = 64 };

struct kar_call {
	struct kar_request request;
	char *text; /* "create /apis/... {body}" */
	bool open;
};

struct desk {
	struct kar_client client;
	struct kar_loop *loop;
	struct kar_recorder *recorder;
	struct kar_call calls[MAX_CALLS];
	size_t n;
	int cancelled;
	bool stop_on_start;
};

static struct kar_call *start(struct kar_client *c, const struct kar_request *r)
{
	struct desk *d = kar_container_of(c, struct desk, client);
	struct kar_call *call = &d->calls[d->n++];
	struct kar_buf text = { 0 };

	assert_true(d->n <= MAX_CALLS);
	kar_buf_printf(&text, "%s ", kar_verb_name(r->verb));
	kar_request_path(r, &text);
	kar_buf_printf(&text, " %.*s", (int)r->body.n, r->body.p);
	*call = (struct kar_call){ .request = *r, .text = kar_buf_detach(&text), .open = true };
	if (d->stop_on_start)
		kar_loop_stop(d->loop);
	return call;
}

static void cancel(struct kar_client *c, struct kar_call *call)
{
	struct desk *d = kar_container_of(c, struct desk, client);

	assert_true(call->open);
	call->open = false;
	d->cancelled++;
}

static void free_client(struct kar_client *c)
{
	(void)c;
}

static const struct kar_client_ops ops = { .start = start, .cancel = cancel, .free = free_client };

static int setup(void **state)
{
	struct desk *d = kar_xcalloc(1, sizeof(*d));

	d->client.ops = &ops;
	d->loop = kar_loop_new();
	d->recorder = kar_recorder_new(d->loop, &d->client, "example.com/toy-controller", "host-1", 1);
	*state = d;
	return 0;
}

static int teardown(void **state)
{
	struct desk *d = *state;

	kar_recorder_free(d->recorder);
	for (size_t i = 0; i < d->n; i++) {
		assert_false(d->calls[i].open);
		free(d->calls[i].text);
	}
	kar_loop_free(d->loop);
	free(d);
	return 0;
}

/* Ends call @i: @err NULL is success. */
static void answer(struct desk *d, size_t i, const struct kar_err *err)
{
	const struct kar_answer ok = { .status = 201, .uid = "" };
	const struct kar_request r = d->calls[i].request;

	assert_true(i < d->n && d->calls[i].open);
	d->calls[i].open = false;
	r.on_done(r.arg, err ? NULL : &ok, err);
}

static void answer_all(struct desk *d)
{
	for (size_t i = 0; i < d->n; i++) {
		if (d->calls[i].open)
			answer(d, i, NULL);
	}
}

static void record(struct desk *d, const char *uid, const char *note)
{
	struct kar_object_ref about = { "example.com/v1", "Toy", "team", "bear", uid, "12" };

	kar_recorder_event(d->recorder, &about, KAR_NORMAL, "Formed", "Form", note);
}

/* True if @text matches @pattern, where '*' stands for any text. */
static bool matches(const char *text, const char *pattern)
{
	const char *star = strchr(pattern, '*');
	size_t n = star ? (size_t)(star - pattern) : strlen(pattern);

	if (strncmp(text, pattern, n) != 0)
		return false;
	if (!star)
		return text[n] == '\0';
	for (text += n; !matches(text, star + 1); text++) {
		if (!*text)
			return false;
	}
	return true;
}

static void expect(struct desk *d, size_t i, const char *pattern)
{
	if (i >= d->n)
		fail_msg("request %zu was not made; want %s", i, pattern);
	if (!matches(d->calls[i].text, pattern))
		fail_msg("request %zu is\n  %s\nwant\n  %s", i, d->calls[i].text, pattern);
}

static void first_time_then_created_with_everything_kubectl_joins_on(void **state)
{
	struct desk *d = *state;

	record(d, "u-1", "all 3 pods run");
	assert_int_equal(kar_recorder_pending(d->recorder), 1);
	expect(d, 0,
		"create /apis/events.k8s.io/v1/namespaces/team/events {\"apiVersion\":\"events.k8s.io/v1\",\"kind\":\"Event\","
		"\"metadata\":{\"name\":\"bear.*\",\"namespace\":\"team\"},\"eventTime\":\"20*-*-*T*:*:*.*Z\","
		"\"reportingController\":\"example.com/toy-controller\",\"reportingInstance\":\"host-1\","
		"\"type\":\"Normal\",\"reason\":\"Formed\",\"action\":\"Form\",\"note\":\"all 3 pods run\","
		"\"regarding\":{\"apiVersion\":\"example.com/v1\",\"kind\":\"Toy\",\"namespace\":\"team\",\"name\":\"bear\","
		"\"uid\":\"u-1\",\"resourceVersion\":\"12\"}}");
	assert_true(d->calls[0].request.replayable);
	answer(d, 0, NULL);
	assert_int_equal(kar_recorder_pending(d->recorder), 0);
}

static void cluster_scoped_object_then_namespace_default(void **state)
{
	struct desk *d = *state;
	struct kar_object_ref about = { "v1", "Node", NULL, "n1", "u", NULL };

	kar_recorder_event(d->recorder, &about, KAR_WARNING, "Lost", "Watch", "gone");
	expect(d, 0,
		"create /apis/events.k8s.io/v1/namespaces/default/events *\"namespace\":\"default\"*"
		"\"type\":\"Warning\"*\"regarding\":{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"n1\",\"uid\":\"u\"}}");
}

static void equal_events_then_one_series(void **state)
{
	struct desk *d = *state;

	record(d, "u-1", "waiting");
	record(d, "u-1", "waiting");
	record(d, "u-1", "waiting");
	assert_int_equal(d->n, 1);
	answer(d, 0, NULL);
	expect(d, 1,
		"patch /apis/events.k8s.io/v1/namespaces/team/events/bear.* "
		"{\"series\":{\"count\":3,\"lastObservedTime\":\"20*Z\"}}");
	assert_int_equal(d->calls[1].request.patch_type, KAR_PATCH_MERGE);
	answer(d, 1, NULL);
	assert_int_equal(kar_recorder_pending(d->recorder), 0);
	record(d, "u-1", "waiting"); /* counted, but the series was updated just now */
	assert_int_equal(d->n, 2);
}

static void second_after_the_first_was_sent_then_series_begins(void **state)
{
	struct desk *d = *state;

	record(d, "u-1", "waiting");
	answer(d, 0, NULL);
	record(d, "u-1", "waiting");
	expect(d, 1, "patch *{\"series\":{\"count\":2,*");
	answer(d, 1, NULL);
}

static void series_patches_the_event_it_began_with(void **state)
{
	struct desk *d = *state;
	char path[400];

	record(d, "u-1", "waiting");
	record(d, "u-1", "waiting");
	answer(d, 0, NULL);
	assert_int_equal(sscanf(d->calls[1].text,
				 "patch /apis/events.k8s.io/v1/namespaces/team/events/%399[^ ]", path),
		1);
	assert_non_null(strstr(d->calls[0].text, path));
	answer_all(d);
}

static void different_events_then_different_names(void **state)
{
	struct desk *d = *state;
	char name[2][64];

	record(d, "u-1", "one");
	record(d, "u-2", "one");
	for (int i = 0; i < 2; i++)
		assert_int_equal(sscanf(strstr(d->calls[i].text, "\"name\":\"bear."), "\"name\":\"%63[^\"]",
					 name[i]),
			1);
	assert_string_not_equal(name[0], name[1]);
	answer_all(d);
}

static void two_in_flight_and_the_rest_in_order(void **state)
{
	struct desk *d = *state;

	record(d, "u-1", "one");
	record(d, "u-1", "two");
	record(d, "u-1", "three");
	record(d, "u-1", "four");
	assert_int_equal(d->n, 2);
	assert_int_equal(kar_recorder_pending(d->recorder), 4);
	answer(d, 1, NULL);
	expect(d, 2, "create *\"note\":\"three\"*");
	answer(d, 0, NULL);
	expect(d, 3, "create *\"note\":\"four\"*");
	answer_all(d);
	assert_int_equal(d->n, 4);
}

static void more_important_writes_go_first(void **state)
{
	struct desk *d = *state;

	kar_recorder_busy(d->recorder, true);
	record(d, "u-1", "one");
	assert_int_equal(d->n, 0);
	assert_int_equal(kar_recorder_pending(d->recorder), 1);
	kar_recorder_busy(d->recorder, false);
	expect(d, 0, "create *\"note\":\"one\"*");
	answer_all(d);
}

static void queue_is_bounded(void **state)
{
	struct desk *d = *state;
	char uid[16];

	for (int i = 0; i < 1500; i++) {
		snprintf(uid, sizeof(uid), "u-%d", i);
		record(d, uid, "x");
	}
	assert_int_equal(kar_recorder_pending(d->recorder), 1000);
}

static void one_object_cannot_flood(void **state)
{
	struct desk *d = *state;
	char note[16];

	for (int i = 0; i < 100; i++) {
		snprintf(note, sizeof(note), "%d", i);
		record(d, "u-1", note);
	}
	assert_int_equal(kar_recorder_pending(d->recorder), 25);
	record(d, "u-2", "other");
	assert_int_equal(kar_recorder_pending(d->recorder), 26);
}

static void count_line(void *arg, const char *line, size_t n)
{
	(void)line;
	(void)n;
	++*(int *)arg;
}

static void answers_and_what_follows(void **state)
{
	static const struct {
		const char *name;
		struct kar_err err;
		size_t pending; /* afterwards */
		int told;       /* lines of the log */
	} rows[] = {
		{ "created_before_reply_was_lost", { .what = KAR_EXISTS, .http = 409 }, 0 },
		{ "forbidden_then_dropped_and_told", { .what = KAR_DENIED, .http = 403 }, 0, 1 },
		{ "invalid_then_dropped_and_told", { .what = KAR_INVALID, .http = 422 }, 0, 1 },
		{ "500_then_dropped_and_told", { .what = KAR_UNKNOWN, .http = 500 }, 0, 1 },
		{ "namespace_leaving_then_dropped",
			{ .what = KAR_DENIED,
				.cause = KAR_CAUSE_NAMESPACE_ENDS,
				.http = 403,
				.msg = "x is forbidden" },
			0 },
		{ "namespace_gone_then_dropped", { .what = KAR_NOTFOUND, .http = 404 }, 0 },
		{ "connection_lost_then_kept", { .what = KAR_UNKNOWN }, 1 },
		{ "refused_then_kept", { .what = KAR_RETRY }, 1 },
		{ "429_then_kept", { .what = KAR_RETRY, .http = 429, .retry_after = 1000 }, 1 },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		void *fresh;
		int told = 0;

		setup(&fresh);

		struct desk *d = fresh;

		kar_log_redirect(count_line, &told);
		record(d, "u-1", "x");
		answer(d, 0, &rows[i].err);
		if (rows[i].told) { /* a second refusal is no news */
			record(d, "u-1", "z");
			answer(d, 1, &rows[i].err);
		}
		kar_log_redirect(NULL, NULL);
		if (told != rows[i].told)
			fail_msg("%s: %d lines of log", rows[i].name, told);
		if (kar_recorder_pending(d->recorder) != rows[i].pending)
			fail_msg("%s: %zu pending, want %zu", rows[i].name, kar_recorder_pending(d->recorder),
				rows[i].pending);
		record(d, "u-2", "y");
		bool went = d->calls[d->n - 1].open;

		if (went == (rows[i].pending == 1))
			fail_msg("%s: the next event %s", rows[i].name,
				went ? "did not wait" : "was held up");
		teardown(&fresh);
	}
}

static void stuck(void *arg)
{
	(void)arg;
	fail_msg("the event was not sent again");
}

static void transport_error_then_same_event_again(void **state)
{
	struct desk *d = *state;
	const struct kar_err lost = { .what = KAR_UNKNOWN };
	struct kar_timer *watchdog = kar_timer_new(d->loop, stuck, NULL);

	record(d, "u-1", "first");
	record(d, "u-1", "second");
	record(d, "u-1", "third");
	answer(d, 0, &lost);
	answer(d, 1, NULL);
	assert_int_equal(d->n, 2);
	d->stop_on_start = true;
	kar_timer_start(watchdog, 3000);
	kar_loop_run(d->loop);
	assert_string_equal(d->calls[2].text, d->calls[0].text);
	expect(d, 3, "create *\"note\":\"third\"*");
	answer_all(d);
	kar_timer_free(watchdog);
}

static void freed_with_requests_in_flight_then_cancelled(void **state)
{
	void *fresh;

	(void)state;
	setup(&fresh);

	struct desk *d = fresh;

	record(d, "u-1", "one");
	record(d, "u-1", "two");
	record(d, "u-1", "three");
	kar_recorder_free(d->recorder);
	d->recorder = NULL;
	assert_int_equal(d->cancelled, 2);
	teardown(&fresh);
}

static void long_texts_are_cut_to_the_limits(void **state)
{
	struct desk *d = *state;
	char note[1100], object[254] = { 0 }, name[300];
	struct kar_object_ref about = { "v1", "Pod", "n", object, "u", "1" };

	memset(note, 'x', sizeof(note));
	memcpy(note + 1020, "\xc3\xa9",
		2); /* a character of two bytes across the end, for "..." to begin at 1021 */
	note[sizeof(note) - 1] = '\0';
	memset(object, 'o', 253);
	object[231] = '.';
	kar_recorder_event(d->recorder, &about, KAR_NORMAL, "R", "A", note);

	const char *p = strstr(d->calls[0].text, "\"note\":\"");

	assert_int_equal(strcspn(p + 8, "\""), 1023);
	assert_int_equal(strncmp(p + 8 + 1019, "x...\"", 5), 0);
	p = strstr(d->calls[0].text, "\"name\":\"");
	assert_int_equal(sscanf(p, "\"name\":\"%299[^\"]", name), 1);
	assert_true(strlen(name) <= 253);
	assert_null(strstr(name, ".."));
	answer_all(d);
}

static void filter_refills_with_time(void **state)
{
	struct kar_event_filter *f = kar_event_filter_new();
	kar_time now = 1000;

	(void)state;
	for (int i = 0; i < 25; i++)
		assert_true(kar_event_filter_admit(f, "a", now));
	assert_false(kar_event_filter_admit(f, "a", now));
	assert_true(kar_event_filter_admit(f, "b", now));
	now += 5 * KAR_MINUTE - 1;
	assert_false(kar_event_filter_admit(f, "a", now));
	now += 1;
	assert_true(kar_event_filter_admit(f, "a", now));
	assert_false(kar_event_filter_admit(f, "a", now));
	now += 1000 * KAR_MINUTE; /* full, not fuller */
	for (int i = 0; i < 25; i++)
		assert_true(kar_event_filter_admit(f, "a", now));
	assert_false(kar_event_filter_admit(f, "a", now));
	kar_event_filter_free(f);
}

static void filter_forgets_the_least_recently_used(void **state)
{
	struct kar_event_filter *f = kar_event_filter_new();
	char key[16];

	(void)state;
	for (int i = 0; i < 26; i++) {
		(void)!kar_event_filter_admit(f, "first", 0);
		(void)!kar_event_filter_admit(f, "second", 0);
	}
	for (int i = 0; i < 1022; i++) {
		snprintf(key, sizeof(key), "%d", i);
		assert_true(kar_event_filter_admit(f, key, 0));
	}
	assert_false(kar_event_filter_admit(f, "first", 0));
	assert_true(kar_event_filter_admit(f, "one too many", 0));
	assert_true(kar_event_filter_admit(f, "second", 0));
	assert_false(kar_event_filter_admit(f, "first", 0));
	kar_event_filter_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(first_time_then_created_with_everything_kubectl_joins_on,
			setup, teardown),
		cmocka_unit_test_setup_teardown(cluster_scoped_object_then_namespace_default, setup,
			teardown),
		cmocka_unit_test_setup_teardown(equal_events_then_one_series, setup, teardown),
		cmocka_unit_test_setup_teardown(second_after_the_first_was_sent_then_series_begins, setup,
			teardown),
		cmocka_unit_test_setup_teardown(series_patches_the_event_it_began_with, setup, teardown),
		cmocka_unit_test_setup_teardown(different_events_then_different_names, setup, teardown),
		cmocka_unit_test_setup_teardown(two_in_flight_and_the_rest_in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(more_important_writes_go_first, setup, teardown),
		cmocka_unit_test_setup_teardown(queue_is_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(one_object_cannot_flood, setup, teardown),
		cmocka_unit_test(answers_and_what_follows),
		cmocka_unit_test_setup_teardown(transport_error_then_same_event_again, setup, teardown),
		cmocka_unit_test(freed_with_requests_in_flight_then_cancelled),
		cmocka_unit_test_setup_teardown(long_texts_are_cut_to_the_limits, setup, teardown),
		cmocka_unit_test(filter_refills_with_time),
		cmocka_unit_test(filter_forgets_the_least_recently_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
