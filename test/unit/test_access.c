/* Who may read what: the questions to the API server, what becomes of its answers, and how long they are remembered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/kube/access.h"
#include "common/base/log.h"
#include "test/fixture/fake_client.h"
#include "sim/virtual_loop.h"

#define REVIEW_TOKEN "create tokenreviews "
#define REVIEW_ACCESS "create subjectaccessreviews "
#define YES \
	"{\"status\":{\"authenticated\":true,\"user\":{\"username\":\"ann\",\"uid\":\"7\",\"groups\":[\"a\",\"b\"],\"extra\":{\"k\":[\"v\"]}}}}"

struct world {
	struct sim_timeline *timeline;
	struct kar_loop *loop;
	struct fake_client *client;
	struct kar_access *access;
};

static void open_world(struct world *w)
{
	w->timeline = sim_timeline_new(1795268787000);
	w->loop = sim_loop_new(w->timeline);
	w->client = fake_client_new();
	w->access = kar_access_new(w->loop, &w->client->client);
}

static void close_world(struct world *w)
{
	kar_access_free(w->access);
	kar_client_free(&w->client->client);
	kar_loop_free(w->loop);
	sim_timeline_free(w->timeline);
}

static void on_access(void *arg, int status)
{
	assert_int_equal(*(int *)arg, 0); /* answered once */
	*(int *)arg = status;
}

/* Answers the open question @text; NULL as @answer: the API server refuses. */
static void say(struct world *w, const char *text, const char *answer)
{
	int i = fake_find(w->client, text);

	if (i < 0)
		fail_msg("nobody asks to %s", text);
	if (answer)
		fake_answer(w->client, i, answer, 0);
	else
		fake_refuse(w->client, i, KAR_DENIED, "no");
}

static const struct {
	const char *name, *authorization;
	const char *token, *access; /* answers; "": not asked */
	int status;
} rows[] = {
	{ "no_token", NULL, "", "", 401 },
	{ "another_scheme", "Basic YTpi", "", "", 401 },
	{ "an_empty_token", "Bearer  ", "", "", 401 },
	{ "a_bad_token", "Bearer x", "{\"status\":{\"error\":\"bad\"}}", "", 401 },
	{ "a_user_without_the_right", "Bearer x", YES, "{\"status\":{\"allowed\":false}}", 403 },
	{ "a_user_with_the_right", "bearer x", YES, "{\"status\":{\"allowed\":true}}", 200 },
	{ "we_may_not_ask", "Bearer x", NULL, "", 503 },
	{ "we_may_not_ask_the_second_thing", "Bearer x", YES, NULL, 503 },
	{ "no_review", "Bearer x", "[]", "", 503 },
	{ "no_second_review", "Bearer x", YES, "{\"status\":4}", 503 },
	{ "nothing_in_it", "Bearer x", "{}", "", 401 },
	{ "nothing_in_the_second", "Bearer x", YES, "{}", 403 },
};

static void drop(void *arg KAR_UNUSED, const char *line KAR_UNUSED, size_t n KAR_UNUSED)
{
}

static void answers_become_statuses(void **state KAR_UNUSED)
{
	kar_log_redirect(drop, NULL);
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct world w;
		int status = 0;

		open_world(&w);
		kar_access_ask(w.access, rows[i].authorization, "get", "/metrics", on_access, &status);
		if (!rows[i].token || rows[i].token[0])
			say(&w, REVIEW_TOKEN, rows[i].token);
		if (!rows[i].access || rows[i].access[0])
			say(&w, REVIEW_ACCESS, rows[i].access);
		if (status != rows[i].status)
			fail_msg("%s: %d, want %d", rows[i].name, status, rows[i].status);
		close_world(&w);
	}
	kar_log_redirect(NULL, NULL);
}

static void questions_say_who_and_what(void **state KAR_UNUSED)
{
	struct world w;
	int status = 0;

	open_world(&w);
	kar_access_ask(w.access, "Bearer a\"b", "put", "/debug/flags/v", on_access, &status);
	assert_string_equal(w.client->requests[0].body,
		"{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenReview\",\"spec\":{\"token\":\"a\\\"b\"}}");
	say(&w, REVIEW_TOKEN, YES);
	assert_string_equal(w.client->requests[1].body,
		"{\"apiVersion\":\"authorization.k8s.io/v1\",\"kind\":\"SubjectAccessReview\",\"spec\":{\"user\":\"ann\",\"uid\":\"7\","
		"\"groups\":[\"a\",\"b\"],\"extra\":{\"k\":[\"v\"]},"
		"\"nonResourceAttributes\":{\"path\":\"/debug/flags/v\",\"verb\":\"put\"}}}");
	close_world(&w);
}

/* Asks, and answers what is asked with yes or no. Returns how many questions that took. */
static size_t ask(struct world *w, const char *token, const char *path, bool allowed, int want)
{
	size_t before = w->client->n;
	int status = 0;

	kar_access_ask(w->access, token, "get", path, on_access, &status);
	if (w->client->n > before) {
		say(w, REVIEW_TOKEN, YES);
		say(w, REVIEW_ACCESS,
			allowed ? "{\"status\":{\"allowed\":true}}" : "{\"status\":{\"allowed\":false}}");
	}
	assert_int_equal(status, want);
	return w->client->n - before;
}

static void pass_time(struct world *w, kar_time ms)
{
	sim_timeline_run(w->timeline, sim_timeline_mono(w->timeline) + ms);
}

static void answers_are_remembered(void **state KAR_UNUSED)
{
	struct world w;

	open_world(&w);
	assert_int_equal(ask(&w, "Bearer a", "/metrics", true, 200), 2);
	assert_int_equal(ask(&w, "Bearer b", "/metrics", false, 403), 2);
	assert_int_equal(ask(&w, "Bearer a", "/debug/state", false, 403), 2); /* a right of its own */
	pass_time(&w, 9 * KAR_SECOND);
	assert_int_equal(ask(&w, "Bearer b", "/metrics", true, 403), 0);
	assert_int_equal(ask(&w, "Bearer a", "/metrics", false, 200), 0);
	pass_time(&w, 2 * KAR_SECOND);
	assert_int_equal(ask(&w, "Bearer b", "/metrics", true, 200), 2);
	pass_time(&w, 48 * KAR_SECOND);
	assert_int_equal(ask(&w, "Bearer a", "/metrics", false, 200), 0);
	pass_time(&w, 2 * KAR_SECOND);
	assert_int_equal(ask(&w, "Bearer a", "/metrics", false, 403), 2);
	close_world(&w);
}

/* A crowd of bad tokens pushes out what will be forgotten first: itself. */
static void what_is_remembered_is_bounded(void **state KAR_UNUSED)
{
	enum { CROWD = FAKE_MAX / 2 - 4 };
	struct world w;
	char token[32];

	open_world(&w);
	ask(&w, "Bearer good", "/metrics", true, 200);
	for (int i = 0; i < CROWD; i++) {
		snprintf(token, sizeof(token), "Bearer %d", i);
		pass_time(&w, KAR_SECOND / KAR_ACCESS_RATE);
		ask(&w, token, "/metrics", false, 403);
	}
	assert_int_equal(ask(&w, "Bearer good", "/metrics", false, 200), 0);
	close_world(&w);
}

/* Bad tokens, as fast as they come: some questions a second, and whoever was allowed once is asked about all the same. */
static void strangers_ask_at_a_rate(void **state KAR_UNUSED)
{
	struct world w;
	char token[32];
	size_t before;
	int status;

	open_world(&w);
	ask(&w, "Bearer good", "/metrics", true, 200);
	pass_time(&w, KAR_MINUTE + 1);
	before = w.client->n;
	for (int i = 0; i < 100; i++) { /* in 2 s */
		status = 0;
		snprintf(token, sizeof(token), "Bearer %d", i);
		kar_access_ask(w.access, token, "get", "/metrics", on_access, &status);
		if (!status)
			say(&w, REVIEW_TOKEN, "{\"status\":{\"authenticated\":false}}");
		pass_time(&w, 20);
	}
	assert_in_range(w.client->n - before, 20, KAR_ACCESS_STRANGERS + 2 * KAR_ACCESS_RATE + 2);
	assert_int_equal(ask(&w, "Bearer good", "/metrics", true, 200), 2);
	close_world(&w);
}

static void questions_are_bounded(void **state KAR_UNUSED)
{
	struct world w;
	int status[KAR_ACCESS_STRANGERS + 1] = { 0 };
	char token[32];

	open_world(&w);
	for (size_t i = 0; i < KAR_LEN(status); i++) {
		snprintf(token, sizeof(token), "Bearer %zu", i);
		kar_access_ask(w.access, token, "get", "/metrics", on_access, &status[i]);
	}
	assert_int_equal(status[KAR_ACCESS_STRANGERS], 503);
	assert_int_equal(w.client->n, KAR_ACCESS_STRANGERS);
	close_world(&w); /* nobody is answered any more */
	assert_int_equal(status[0], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_become_statuses),
		cmocka_unit_test(questions_say_who_and_what),
		cmocka_unit_test(answers_are_remembered),
		cmocka_unit_test(what_is_remembered_is_bounded),
		cmocka_unit_test(strangers_ask_at_a_rate),
		cmocka_unit_test(questions_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
