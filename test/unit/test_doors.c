/* What is answered at the two addresses, and to whom. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/log.h"
#include "common/net/http.h"
#include "controllers/controllers.h"
#include "controllers/process/doors.h"
#include "controllers/kar_metrics.h"
#include "test/fixture/curl.h"
#include "test/fixture/fake_client.h"
#include "test/fixture/wait.h"

#define YES "{\"status\":{\"authenticated\":true,\"user\":{\"username\":\"ann\"}}}"

struct world {
	struct kar_loop *loop;
	struct fake_client *client;
	struct kar_metrics *metrics;
	struct kar_manager *manager;
	struct kar_doors *doors;
	struct kar_http *http;
	int health, private; /* ports */
};

/* Reads the ports from the log. */
static void on_line(void *arg, const char *line, size_t n KAR_UNUSED)
{
	struct world *w = arg;
	const char *port = strstr(line, "port=");

	if (port && strstr(line, "health probes"))
		w->health = atoi(port + 5);
	else if (port)
		w->private = atoi(port + 5);
}

static void open_world(struct world *w, const struct kar_doors_options *doors)
{
	const struct kar_http_options http = { .user_agent = "test" };

	*w = (struct world){ .loop = kar_loop_new(), .client = fake_client_new() };
	w->metrics = kar_all_metrics_new();
	const struct kar_controllers_options o = { .instance = "test", .seed = 1, .metrics = w->metrics };

	w->manager = kar_controllers_new(w->loop, &w->client->client, &o);
	kar_log_redirect(on_line, w);
	w->doors = kar_doors_new(w->loop, &w->client->client, doors, w->metrics, w->manager);
	kar_log_redirect(NULL, NULL);
	kar_manager_start(w->manager);
	w->http = kar_http_new(w->loop, &http);
}

static void close_world(struct world *w)
{
	kar_doors_free(w->doors);
	kar_http_free(w->http);
	kar_manager_free(w->manager);
	kar_client_free(&w->client->client);
	kar_metrics_free(w->metrics);
	kar_loop_free(w->loop);
}

/* ---- requests ---- */

struct reply {
	struct world *w;
	int status;
	bool done;
	const char *token, *access; /* what the API server says meanwhile */
	char type[128];
	struct kar_buf body;
};

static void on_head(void *arg, const struct kar_http_head *head)
{
	struct reply *r = arg;

	r->status = head->status;
	snprintf(r->type, sizeof(r->type), "%s", head->content_type);
}

static int on_data(void *arg, const char *bytes, size_t n)
{
	kar_buf_append(&((struct reply *)arg)->body, bytes, n);
	return 0;
}

static void on_done(void *arg, const struct kar_err *err)
{
	if (err)
		fail_msg("%s", err->msg);
	((struct reply *)arg)->done = true;
}

static void say(struct world *w, const char *text, const char *answer)
{
	int i = fake_find(w->client, text);

	if (i >= 0)
		fake_answer(w->client, i, answer, 0);
}

static bool is_done(void *arg)
{
	struct reply *r = arg;

	say(r->w, "create tokenreviews ", r->token);
	say(r->w, "create subjectaccessreviews ", r->access);
	return r->done;
}

static void call(struct world *w, const char *method, const char *url, const char *const *headers,
	const char *body, struct reply *r)
{
	const struct kar_tls tls = { .insecure_skip_verify = true };
	const struct kar_http_request *started = kar_http_start(w->http,
		&(const struct kar_http_call){ .method = method,
			.url = url,
			.headers = headers,
			.body = body,
			.body_n = body ? strlen(body) : 0,
			.tls = &tls,
			.on_head = on_head,
			.on_data = on_data,
			.on_done = on_done,
			.arg = r });

	(void)started;
	r->w = w;
	wait_until(w->loop, is_done, r);
}

/* ---- probes ---- */

static const char *const no_headers[] = { NULL };

static const struct {
	const char *name, *method, *path;
	int status;
	const char *body;
} probes[] = {
	{ "alive", "GET", "/livez", 200, "ok" },
	{ "alive_in_detail", "GET", "/livez?verbose", 200, "[+]loop ok\nlivez check passed\n" },
	{ "healthy", "GET", "/healthz", 200, "ok" },
	{ "not_ready_yet", "GET", "/readyz", 503, "[-]caches-synced failed\nreadyz check failed\n" },
	{ "not_ready_in_detail", "GET", "/readyz?a=b&verbose=1", 503,
		"[-]caches-synced failed\n[+]informers ok\nreadyz check failed\n" },
	{ "another_word", "GET", "/livez?verbosely", 200, "ok" },
	{ "no_path", "GET", "/", 404, "not found\n" },
	{ "no_metrics_here", "GET", "/metrics", 404, "not found\n" },
	{ "read_only", "PUT", "/livez", 405, "only GET\n" },
};

static void probes_name_checks_and_nothing_else(void **state KAR_UNUSED)
{
	const struct kar_doors_options o = { .health = "127.0.0.1:0", .metrics = "0" };
	struct world w;

	open_world(&w, &o);
	assert_int_equal(w.private, 0);
	for (size_t i = 0; i < KAR_LEN(probes); i++) {
		struct reply r = { 0 };
		char url[128];

		snprintf(url, sizeof(url), "http://127.0.0.1:%d%s", w.health, probes[i].path);
		call(&w, probes[i].method, url, no_headers, NULL, &r);
		if (r.status != probes[i].status || strcmp(kar_buf_cstr(&r.body), probes[i].body))
			fail_msg("%s: %d %s", probes[i].name, r.status, kar_buf_cstr(&r.body));
		kar_buf_release(&r.body);
	}
	close_world(&w);
}

/* ---- metrics and debugging ---- */

static const struct {
	const char *name, *method, *path, *header, *body;
	const char *token, *access;
	int status;
	const char *begins;
} visits[] = {
	{ "without_a_token", "GET", "/metrics", NULL, NULL, "{}", "{}", 401, "a valid bearer token" },
	{ "with_a_bad_token", "GET", "/metrics", "Authorization: Bearer bad", NULL, "{}", "{}", 401,
		"a valid bearer token" },
	{ "without_the_right", "GET", "/metrics", "Authorization: Bearer ann", NULL, YES, "{}", 403,
		"the user of this token may not" },
	{ "with_the_right", "GET", "/metrics", "Authorization: Bearer bob", NULL, YES,
		"{\"status\":{\"allowed\":true}}", 200, "# HELP process_cpu_seconds_total" },
	{ "the_state_needs_its_own", "GET", "/debug/state", "Authorization: Bearer bob", NULL, YES, "{}", 403,
		"the user" },
	{ "the_state", "GET", "/debug/state", "Authorization: Bearer eve", NULL, YES,
		"{\"status\":{\"allowed\":true}}", 200, "{\"version\":" },
	{ "the_verbosity", "PUT", "/debug/flags/v", "Authorization: Bearer eve", "3", YES,
		"{\"status\":{\"allowed\":true}}", 200, "successfully set klog.logging.verbosity to 3\n" },
	{ "a_bad_verbosity", "PUT", "/debug/flags/v", "Authorization: Bearer eve", "11", YES,
		"{\"status\":{\"allowed\":true}}", 400, "the body must be a number" },
	{ "no_method", "GET", "/debug/flags/v", "Authorization: Bearer eve", NULL, YES, "{}", 405, "" },
	{ "no_path", "GET", "/debug/pprof", NULL, NULL, YES, "{}", 404, "not found\n" },
	{ "no_probes_here", "GET", "/livez", NULL, NULL, YES, "{}", 404, "not found\n" },
};

static void drop(void *arg KAR_UNUSED, const char *line KAR_UNUSED, size_t n KAR_UNUSED)
{
}

static void each_path_needs_a_right(void **state KAR_UNUSED)
{
	const struct kar_doors_options o = { .health = "0", .metrics = "127.0.0.1:0" };
	struct world w;

	open_world(&w, &o);
	kar_log_redirect(drop, NULL);
	for (size_t i = 0; i < KAR_LEN(visits); i++) {
		const char *const headers[] = { visits[i].header, NULL };
		struct reply r = { .token = visits[i].token, .access = visits[i].access };
		char url[128];

		snprintf(url, sizeof(url), "https://127.0.0.1:%d%s", w.private, visits[i].path);
		call(&w, visits[i].method, url, headers, visits[i].body, &r);
		if (r.status != visits[i].status ||
			strncmp(kar_buf_cstr(&r.body), visits[i].begins, strlen(visits[i].begins)))
			fail_msg("%s: %d %s", visits[i].name, r.status, kar_buf_cstr(&r.body));
		kar_buf_release(&r.body);
	}
	kar_log_redirect(NULL, NULL);
	assert_true(kar_log_enabled(3));
	assert_false(kar_log_enabled(4));
	kar_log_set_verbosity(0);
	close_world(&w);
}

static void insecure_asks_for_nothing(void **state KAR_UNUSED)
{
	const struct kar_doors_options o = { .health = "0",
		.metrics = "127.0.0.1:0",
		.metrics_insecure = true };
	static const char *const headers[] = { "Accept: application/openmetrics-text; version=1.0.0", NULL };
	struct world w;
	struct reply r = { 0 };
	char url[128];

	open_world(&w, &o);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d/metrics", w.private);
	call(&w, "GET", url, headers, NULL, &r);
	assert_int_equal(r.status, 200);
	assert_string_equal(r.type, "application/openmetrics-text; version=1.0.0; charset=utf-8");
	assert_non_null(strstr(kar_buf_cstr(&r.body), "\n# EOF\n"));
	assert_non_null(strstr(kar_buf_cstr(&r.body), "\nkar_caches_synced 0\n"));
	kar_buf_release(&r.body);
	close_world(&w);
}

static bool is_asked(void *arg)
{
	return fake_find(arg, "create tokenreviews ") >= 0;
}

/* The manager stops while the API server has not said yet who asks. */
static void an_open_question_does_not_hold_the_end(void **state KAR_UNUSED)
{
	const struct kar_doors_options o = { .health = "0", .metrics = "127.0.0.1:0" };
	static const char *const headers[] = { "Authorization: Bearer x", NULL };
	const struct kar_tls tls = { .insecure_skip_verify = true };
	struct world w;
	struct reply r = { 0 };
	struct kar_http_request *started;
	char url[128];

	open_world(&w, &o);
	snprintf(url, sizeof(url), "https://127.0.0.1:%d/metrics", w.private);
	started = kar_http_start(w.http,
		&(const struct kar_http_call){ .method = "GET",
			.url = url,
			.headers = headers,
			.tls = &tls,
			.on_head = on_head,
			.on_done = on_done,
			.arg = &r });
	wait_until(w.loop, is_asked, w.client);
	kar_http_cancel(started);
	close_world(&w);
	assert_false(r.done);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(probes_name_checks_and_nothing_else),
		cmocka_unit_test(each_path_needs_a_right),
		cmocka_unit_test(insecure_asks_for_nothing),
		cmocka_unit_test(an_open_question_does_not_hold_the_end),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, init_curl, cleanup_curl);
}
