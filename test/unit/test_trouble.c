/* Scripts of attempts to read the caches, and the log lines about them. */
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
#include "controllers/runtime/trouble.h"

static const struct kar_type pods = { .res = { "", "v1", "pods", "Pod", true } };
static const struct kar_type jobs = { .res = { "example.com", "v1", "jobs", "Job", true } };

enum { PODS, JOBS, CACHES };

static const struct kar_err refused = { .what = KAR_RETRY,
	.cause = KAR_CAUSE_CONNECTION,
	.msg = "list pods: Failed to connect to 10.0.0.1 port 6443 after 0 ms" };
static const struct kar_err refused_later = { .what = KAR_RETRY,
	.cause = KAR_CAUSE_CONNECTION,
	.msg = "watch jobs in ns: Failed to connect to 10.0.0.1 port 6443 after 17 ms" };
static const struct kar_err bad_ca = { .what = KAR_RETRY,
	.cause = KAR_CAUSE_CONNECTION,
	.msg = "list pods: SSL certificate problem: self-signed certificate" };
static const struct kar_err expired = { .what = KAR_UNAUTHORIZED,
	.http = 401,
	.msg = "list pods: Unauthorized" };
static const struct kar_err plugin_fails = { .what = KAR_RETRY,
	.cause = KAR_CAUSE_CREDENTIALS,
	.msg = "list jobs: aws-auth ended with exit code 1" };
static const struct kar_err busy = { .what = KAR_RETRY, .http = 503, .msg = "list jobs: etcd is slow" };
static const struct kar_err webhook = { .what = KAR_RETRY,
	.http = 500,
	.msg = "list jobs: conversion webhook failed" };
static const struct kar_err denied = { .what = KAR_DENIED, .http = 403, .msg = "list pods: no" };
static const struct kar_err missing = { .what = KAR_NOTFOUND, .http = 404, .msg = "list jobs: not found" };
static const struct kar_err closes = { .what = KAR_RETRY,
	.msg = "the server keeps closing the watch at once" };

/* What happens at .at ms to a cache. */
struct step {
	kar_time at;
	enum { END, FAILED, ANSWERED, OVER } what;
	size_t cache;
	const struct kar_err *err;
};

#define S(seconds) ((seconds)*KAR_SECOND)
#define DOWN \
	"E \"API server unreachable, trying again\" err=\"Failed to connect to 10.0.0.1 port 6443 after 0 ms\""
#define UP "I \"API server reachable again\""

/* clang-format off: tables and texts */
static const struct {
	const char *name;
	struct step steps[12];
	const char *lines;
} rows[] = {
	{ "one line for all caches, and one when all have had an answer",
		{ { S(1), FAILED, PODS, &refused }, { S(1), FAILED, JOBS, &refused_later },
			{ S(3), FAILED, JOBS, &refused }, { S(26), ANSWERED, PODS },
			{ S(27), ANSWERED, JOBS }, { S(42), OVER, PODS }, { S(42), OVER, JOBS } },
		DOWN "\n" UP " after=\"25s\"\n" },
	{ "one that was answered between two failures has not ended it",
		{ { S(1), FAILED, PODS, &refused }, { S(1), FAILED, JOBS, &refused },
			{ S(5), ANSWERED, PODS }, { S(6), FAILED, JOBS, &refused },
			{ S(9), ANSWERED, JOBS } },
		DOWN "\n" UP " after=\"8s\"\n" },
	{ "another text is news, at once and for all",
		{ { S(1), FAILED, PODS, &refused }, { S(1), FAILED, JOBS, &refused },
			{ S(9), FAILED, JOBS, &bad_ca }, { S(9), FAILED, PODS, &bad_ca },
			{ S(10), FAILED, JOBS, &refused }, { S(11), FAILED, PODS, &bad_ca } },
		DOWN
		"\n"
		"E \"API server unreachable, trying again\" err=\"SSL certificate problem: self-signed certificate\" since=\"8s\"\n" },
	{ "repeated every five minutes while it lasts",
		{ { S(0), FAILED, PODS, &refused }, { S(299), FAILED, PODS, &refused },
			{ S(301), FAILED, JOBS, &refused }, { S(400), FAILED, PODS, &refused },
			{ S(601), FAILED, PODS, &refused } },
		DOWN "\n" DOWN " since=\"5m1s\"\n" DOWN " since=\"10m1s\"\n" },
	{ "a second outage is logged like the first",
		{ { S(0), FAILED, PODS, &refused }, { S(2), ANSWERED, PODS }, { S(5), OVER, PODS },
			{ S(9), FAILED, PODS, &refused } },
		DOWN "\n" UP " after=\"2s\"\n" DOWN "\n" },
	{ "credentials that are refused concern all caches",
		{ { S(0), FAILED, PODS, &refused }, { S(0), FAILED, JOBS, &refused },
			{ S(5), FAILED, PODS, &expired }, { S(5), FAILED, JOBS, &expired } },
		DOWN
		"\n"
		"E \"API server not usable with these credentials, trying again\" err=\"Unauthorized\" remedy=\"the credentials are not accepted: check the token or certificate in the kubeconfig\" since=\"5s\"\n" },
	{ "so do credentials that cannot be had",
		{ { S(0), FAILED, JOBS, &plugin_fails }, { S(0), FAILED, PODS, &plugin_fails } },
		"E \"API server not usable with these credentials, trying again\" err=\"aws-auth ended with exit code 1\" remedy=\"the credentials are not accepted: check the token or certificate in the kubeconfig\"\n" },
	{ "and an API server that is too busy",
		{ { S(0), FAILED, JOBS, &busy }, { S(0), FAILED, PODS, &busy }, { S(2), OVER, JOBS },
			{ S(2), OVER, PODS } },
		"E \"API server fails to answer, trying again\" err=\"etcd is slow\"\n" UP
		" after=\"2s\"\n" },
	{ "a refusal concerns one cache, and is an answer",
		{ { S(0), FAILED, PODS, &refused }, { S(3), FAILED, PODS, &denied },
			{ S(4), FAILED, PODS, &denied }, { S(9), OVER, PODS } },
		DOWN
		"\n" UP " after=\"3s\"\n"
		"E \"Cannot list or watch a resource\" resource=\"pods\" err=\"list pods: no\" remedy=\"grant get, list and watch on this resource: kubectl apply -f manifests/rbac.yaml; waiting for it\"\n"
		"I \"Resource is readable again\" resource=\"pods\" after=\"6s\"\n" },
	{ "a CRD that is missing has a group and a remedy of its own, and is repeated",
		{ { S(0), FAILED, JOBS, &missing }, { S(30), FAILED, JOBS, &missing },
			{ S(330), FAILED, JOBS, &missing } },
		"E \"Cannot list or watch a resource\" resource=\"jobs\" group=\"example.com\" err=\"list jobs: not found\" remedy=\"install it\"\n"
		"E \"Cannot list or watch a resource\" resource=\"jobs\" group=\"example.com\" err=\"list jobs: not found\" remedy=\"install it\" since=\"5m30s\"\n" },
	{ "a refusal that outlives an outage is not news afterwards",
		{ { S(0), FAILED, PODS, &denied }, { S(9), FAILED, PODS, &refused },
			{ S(20), FAILED, PODS, &denied } },
		"E \"Cannot list or watch a resource\" resource=\"pods\" err=\"list pods: no\" remedy=\"grant get, list and watch on this resource: kubectl apply -f manifests/rbac.yaml; waiting for it\"\n" DOWN
		"\n" UP " after=\"11s\"\n" },
	{ "a server error of one resource is no outage", { { S(0), FAILED, JOBS, &webhook } },
		"E \"Cannot list or watch a resource\" resource=\"jobs\" group=\"example.com\" err=\"list jobs: conversion webhook failed\" remedy=\"trying again\"\n" },
	{ "a watch that keeps ending is no outage", { { S(0), FAILED, PODS, &closes } },
		"E \"Cannot list or watch a resource\" resource=\"pods\" err=\"the server keeps closing the watch at once\" remedy=\"trying again\"\n" },
};
/* clang-format on */

/* The severity and the line behind its header. */
static void collect(void *arg, const char *line, size_t n)
{
	const char *text = strstr(line, "] ");

	kar_buf_printf(arg, "%c %.*s", line[0], (int)(line + n - text - 2), text + 2);
}

static void play(struct kar_trouble *t, const struct step *steps)
{
	for (const struct step *s = steps; s->what != END; s++) {
		if (s->what == FAILED)
			kar_trouble_failed(t, s->cache, s->err, s->at);
		else if (s->what == ANSWERED)
			kar_trouble_answered(t, s->cache, s->at);
		else
			kar_trouble_over(t, s->cache, s->at);
	}
}

static void an_operator_reads_what_is_wrong_once(void **state)
{
	struct kar_intern *strings = kar_intern_new();
	const struct kar_cache caches[CACHES] = {
		[PODS] = { .store = kar_store_new(&pods, strings) },
		[JOBS] = { .store = kar_store_new(&jobs, strings), .if_missing = "install it" },
	};
	const struct kar_manager_options o = { .caches = caches, .n_caches = CACHES };

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_trouble *t = kar_trouble_new(&o);
		struct kar_buf lines = { 0 };

		kar_log_redirect(collect, &lines);
		play(t, rows[i].steps);
		kar_log_redirect(NULL, NULL);
		if (strcmp(kar_buf_cstr(&lines), rows[i].lines) != 0)
			fail_msg("%s:\n%swant\n%s", rows[i].name, kar_buf_cstr(&lines), rows[i].lines);
		kar_buf_release(&lines);
		kar_trouble_free(t);
	}
	for (size_t i = 0; i < CACHES; i++)
		kar_store_free(caches[i].store);
	kar_intern_free(strings);
}

/* Only the first answer to a cache is a reason to try the others again. */
static void the_first_answer_says_that_others_may_try_again(void **state)
{
	struct kar_intern *strings = kar_intern_new();
	const struct kar_cache caches[] = { { .store = kar_store_new(&pods, strings) } };
	const struct kar_manager_options o = { .caches = caches, .n_caches = 1 };
	struct kar_trouble *t = kar_trouble_new(&o);
	struct kar_buf lines = { 0 };

	(void)state;
	kar_log_redirect(collect, &lines);
	assert_false(kar_trouble_is_outage(t));
	assert_int_equal(kar_trouble_lasts(t, 0, 1), 0);
	kar_trouble_failed(t, 0, &refused, 1);
	kar_trouble_failed(t, 0, &refused, 2);
	assert_int_equal(kar_trouble_lasts(t, 0, 61), 60); /* of the outage */
	assert_true(kar_trouble_is_outage(t) && kar_trouble_is_unreachable(t));
	kar_trouble_answered(t, 0, 2);
	assert_false(kar_trouble_is_outage(t) || kar_trouble_is_unreachable(t));
	assert_int_equal(kar_trouble_lasts(t, 0, 61), 0);
	kar_trouble_failed(t, 0, &denied, 100);
	assert_int_equal(kar_trouble_lasts(t, 0, 300), 200); /* of this cache alone */
	kar_trouble_over(t, 0, 300);
	assert_int_equal(kar_trouble_lasts(t, 0, 301), 0);
	kar_log_redirect(NULL, NULL);
	kar_buf_release(&lines);
	kar_trouble_free(t);
	kar_store_free(caches[0].store);
	kar_intern_free(strings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_operator_reads_what_is_wrong_once),
		cmocka_unit_test(the_first_answer_says_that_others_may_try_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
