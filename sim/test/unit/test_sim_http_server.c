/* The door on the network: TLS, streams, limits. The client is common/net/http.h, in the same loop. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cmocka.h>

#include "common/net/http.h"
#include "common/base/mem.h"
#include "common/net/cert.h"
#include "sim/apiserver/http_server.h"
#include "sim/pacemaker.h"
#include "test/fixture/wait.h"

#define TOKEN "secret"
#define MAPS "/api/v1/namespaces/default/configmaps"

enum { PATIENCE = 300, CONNECTIONS = 8 };

struct world {
	struct kar_loop *loop;
	struct sim_timeline *timeline;
	struct sim_apiserver *server;
	struct sim_door *door;
	struct sim_pacemaker *pacemaker;
	struct kar_cert cert;
	struct sim_http_server *http;
	struct kar_http *client;
	struct kar_tls tls;
	size_t watches_ended;
};

static void count_watches(void *arg, const char *line, size_t n)
{
	struct world *w = arg;

	(void)n;
	w->watches_ended += strstr(line, "\"verb\":\"watch\"") != NULL;
}

static void before(void *arg)
{
	sim_pacemaker_catch_up(((struct world *)arg)->pacemaker);
}

static void after(void *arg)
{
	sim_pacemaker_rest(((struct world *)arg)->pacemaker);
}

static struct sim_http_server_options options_of(struct world *w)
{
	return (struct sim_http_server_options){ .address = "127.0.0.1",
		.certificate = w->cert.certificate,
		.key = w->cert.key,
		.patience = PATIENCE,
		.connections = CONNECTIONS,
		.before = before,
		.after = after,
		.arg = w };
}

static int setup(void **state)
{
	const struct sim_apiserver_options server = { .seed = 1 };
	struct sim_door_options door = { .address = "127.0.0.1:1",
		.admin_token = TOKEN,
		.audit = count_watches };
	const struct kar_http_options client = { .user_agent = "test" };
	struct world *w = kar_xcalloc(1, sizeof(*w));
	struct kar_err err = { 0 };

	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(kar_http_global_init(&err), 0);
	w->loop = kar_loop_new();
	w->timeline = sim_timeline_new(1795268787000);
	w->server = sim_apiserver_new(w->timeline, &server);
	w->pacemaker = sim_pacemaker_new(w->loop, w->timeline, 1);
	door.audit_arg = w;
	w->door = sim_door_new(w->server, &door);
	assert_int_equal(kar_cert_make("kar-sim", "127.0.0.1", 365LL * KAR_CERT_DAY, &w->cert, &err), 0);
	struct sim_http_server_options o = options_of(w);

	w->http = sim_http_server_new(w->loop, &o, &err);
	if (!w->http)
		fail_msg("%s", err.msg);
	sim_http_server_open(w->http, w->door);
	w->client = kar_http_new(w->loop, &client);
	w->tls.ca_pem = w->cert.certificate;
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	kar_http_free(w->client);
	sim_http_server_free(w->http);
	sim_door_free(w->door);
	sim_pacemaker_free(w->pacemaker);
	sim_apiserver_free(w->server);
	sim_timeline_free(w->timeline);
	kar_cert_release(&w->cert);
	kar_loop_free(w->loop);
	free(w);
	kar_http_global_cleanup();
	return 0;
}

/* ---- requests ---- */

struct answer {
	int status, dones;
	char warning[256];
	struct kar_err err;
	struct kar_buf body;
};

static void on_head(void *arg, const struct kar_http_head *head)
{
	struct answer *a = arg;

	a->status = head->status;
	snprintf(a->warning, sizeof(a->warning), "%s", head->warning);
}

static int on_data(void *arg, const char *bytes, size_t n)
{
	kar_buf_append(&((struct answer *)arg)->body, bytes, n);
	return 0;
}

static void on_done(void *arg, const struct kar_err *err)
{
	struct answer *a = arg;

	a->dones++;
	if (err)
		a->err = *err;
}

static struct kar_http_request *start(struct world *w, const char *method, const char *path, const char *body,
	size_t n, struct answer *a)
{
	const char *const headers[] = { "Authorization: Bearer " TOKEN, "Content-Type: application/json",
		NULL };
	char *url = kar_xasprintf("https://127.0.0.1:%d%s", sim_http_server_port(w->http), path);
	struct kar_http_request *r;

	*a = (struct answer){ .body = { .cap = 16 << 20 } };
	r = kar_http_start(w->client,
		&(const struct kar_http_call){ .method = method,
			.url = url,
			.headers = headers,
			.body = body,
			.body_n = n,
			.tls = &w->tls,
			.on_head = on_head,
			.on_data = on_data,
			.on_done = on_done,
			.arg = a });
	free(url);
	return r;
}

static bool is_done(void *arg)
{
	return ((struct answer *)arg)->dones > 0;
}

static void call(struct world *w, const char *method, const char *path, const char *body, struct answer *a)
{
	struct kar_http_request *r = start(w, method, path, body, body ? strlen(body) : 0, a);

	(void)r; /* it ends by itself */
	wait_until(w->loop, is_done, a);
	if (a->err.msg[0])
		fail_msg("%s %s: %s", method, path, a->err.msg);
}

static void requests_are_answered(void **state)
{
	struct answer a;

	call(*state, "GET", "/readyz", NULL, &a);
	assert_int_equal(a.status, 200);
	assert_string_equal(kar_buf_cstr(&a.body), "ok");
	kar_buf_release(&a.body);

	call(*state, "POST", MAPS "?fieldValidation=Warn", "{\"metadata\":{\"name\":\"a\"},\"dat\":{}}", &a);
	assert_int_equal(a.status, 201);
	assert_string_equal(a.warning, "299 - \"unknown field \\\"dat\\\"\"");
	kar_buf_release(&a.body);

	call(*state, "GET", MAPS "/b", NULL, &a);
	assert_int_equal(a.status, 404);
	kar_buf_release(&a.body);
}

static void large_lists_come_whole(void **state)
{
	struct kar_buf body KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	struct answer a;

	for (int i = 0; i < 8; i++) {
		kar_buf_clear(&body);
		kar_buf_printf(&body, "{\"metadata\":{\"name\":\"large-%d\"},\"data\":{\"x\":\"", i);
		for (int k = 0; k < 50000; k++)
			kar_buf_puts(&body, "0123456789");
		kar_buf_puts(&body, "\"}}");
		call(*state, "POST", MAPS, kar_buf_cstr(&body), &a);
		assert_int_equal(a.status, 201);
		kar_buf_release(&a.body);
	}
	call(*state, "GET", MAPS, NULL, &a);
	assert_int_equal(a.status, 200);
	assert_true(a.body.n > 8 * 500000);
	assert_string_equal(kar_buf_cstr(&a.body) + a.body.n - 3, "]}\n");
	kar_buf_release(&a.body);
}

static void too_large_a_body_is_refused(void **state)
{
	size_t n = SIM_HTTP_BODY_MAX + 1;
	char *body = kar_xmalloc(n + 1);
	struct answer a;

	memset(body, ' ', n);
	body[n] = '\0';
	call(*state, "POST", MAPS, body, &a);
	assert_int_equal(a.status, 413);
	kar_buf_release(&a.body);
	free(body);
}

/* ---- watches ---- */

static bool has_begun(void *arg)
{
	return ((struct answer *)arg)->status == 200;
}

static bool has_event(void *arg)
{
	return strstr(kar_buf_cstr(&((struct answer *)arg)->body), "\"name\":\"seen\"") != NULL;
}

static bool watch_is_over(void *arg)
{
	return ((struct world *)arg)->watches_ended > 0;
}

static void watch_brings_events_at_once_and_costs_nothing(void **state)
{
	struct world *w = *state;
	struct answer watch, a;
	struct kar_http_request *r = start(w, "GET", MAPS "?watch=1&resourceVersion=0", NULL, 0, &watch);

	wait_until(w->loop, has_begun, &watch); /* before there is any event */
	wait_for_ms(w->loop, 20);
	assert_true(wait_for_ms(w->loop, 200) < 10);
	call(w, "POST", MAPS, "{\"metadata\":{\"name\":\"seen\"}}", &a);
	kar_buf_release(&a.body);
	wait_until(w->loop, has_event, &watch);
	assert_int_equal(watch.dones, 0);
	kar_http_cancel(r);
	wait_until(w->loop, watch_is_over, w); /* the server has seen that the client is gone */
	kar_buf_release(&watch.body);
}

static void write_later(void *arg)
{
	struct world *w = arg;
	const struct sim_request rq = { .verb = KAR_CREATE,
		.group = "",
		.version = "v1",
		.resource = "configmaps",
		.ns = "default",
		.body = { "{\"metadata\":{\"name\":\"seen\"}}", 28 } };
	struct sim_response r;

	sim_apiserver_call(w->server, &rq, &r);
	assert_int_equal(r.code, 201);
	sim_response_release(&r);
}

/* Nobody asks the server for anything meanwhile: the event itself must wake it. */
static void events_of_the_cluster_itself_wake_the_server(void **state)
{
	struct world *w = *state;
	struct sim_alarm *alarm = sim_alarm_new(w->timeline, write_later, w);
	struct answer watch;
	struct kar_http_request *r = start(w, "GET", MAPS "?watch=1&resourceVersion=0", NULL, 0, &watch);

	wait_until(w->loop, has_begun, &watch);
	sim_alarm_start(alarm, 50);
	sim_pacemaker_rest(w->pacemaker);
	wait_until(w->loop, has_event, &watch);
	kar_http_cancel(r);
	kar_buf_release(&watch.body);
	sim_alarm_free(alarm);
}

static void watch_ends_in_good_order(void **state)
{
	struct world *w = *state;
	struct answer watch;
	struct kar_http_request *r = start(w, "GET", MAPS "?watch=1&timeoutSeconds=1", NULL, 0, &watch);

	(void)r;
	wait_until(w->loop, is_done, &watch);
	assert_int_equal(watch.status, 200);
	assert_string_equal(watch.err.msg, "");
	kar_buf_release(&watch.body);
}

static void server_can_go_while_it_is_watched(void **state)
{
	struct world *w = *state;
	struct answer watch;
	struct kar_http_request *r = start(w, "GET", MAPS "?watch=1&resourceVersion=0", NULL, 0, &watch);

	(void)r;
	wait_until(w->loop, has_begun, &watch);
	sim_http_server_free(w->http);
	w->http = NULL;
	assert_int_equal(w->watches_ended, 1);
	kar_buf_release(&watch.body);
	kar_http_free(w->client);
	w->client = NULL;
}

/* ---- those who do not ask properly ---- */

static int silent_connection(const struct world *w)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_port = htons(sim_http_server_port(w->http)),
		.sin_addr = { htonl(INADDR_LOOPBACK) } };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

static bool is_closed(void *arg)
{
	char byte;

	return recv(*(int *)arg, &byte, 1, MSG_DONTWAIT) == 0;
}

static void silence_is_not_waited_for_forever(void **state)
{
	struct world *w = *state;
	int fd = silent_connection(w);
	kar_time begin = kar_loop_mono(w->loop);

	wait_until(w->loop, is_closed, &fd);
	assert_true(kar_loop_mono(w->loop) - begin >= PATIENCE - 50);
	close(fd);
}

static void more_connections_than_the_limit_wait_their_turn(void **state)
{
	struct world *w = *state;
	int fds[CONNECTIONS + 2];
	struct answer a;

	for (size_t i = 0; i < KAR_LEN(fds); i++)
		fds[i] = silent_connection(w);
	call(w, "GET", "/readyz", NULL, &a); /* when the silent ones are gone */
	assert_int_equal(a.status, 200);
	kar_buf_release(&a.body);
	for (size_t i = 0; i < KAR_LEN(fds); i++)
		close(fds[i]);
}

static void what_cannot_be_served_is_said(void **state)
{
	struct world *w = *state;
	struct sim_http_server_options taken = options_of(w), nowhere = taken, broken = taken;
	char in_use[64];
	struct kar_err err = { 0 };

	taken.port = sim_http_server_port(w->http);
	snprintf(in_use, sizeof(in_use), "cannot listen on 127.0.0.1:%d: Address already in use", taken.port);
	nowhere.address = "localhost";
	broken.certificate = "nonsense";
	assert_null(sim_http_server_new(w->loop, &taken, &err));
	assert_string_equal(err.msg, in_use);
	assert_null(sim_http_server_new(w->loop, &nowhere, &err));
	assert_string_equal(err.msg, "localhost is not an IPv4 address");
	assert_null(sim_http_server_new(w->loop, &broken, &err));
	assert_non_null(strstr(err.msg, "cannot listen on 127.0.0.1:0: "));
}

static void certificate_is_for_this_address_only(void **state)
{
	struct world *w = *state;
	struct answer a;
	struct kar_http_request *r;

	w->tls.server_name = "somebody.else";
	r = start(w, "GET", "/readyz", NULL, 0, &a);
	(void)r;
	wait_until(w->loop, is_done, &a);
	assert_int_equal(a.status, 0);
	assert_non_null(strstr(a.err.msg, "somebody.else"));
}

#define WITH_A_WORLD(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_A_WORLD(requests_are_answered),
		WITH_A_WORLD(large_lists_come_whole),
		WITH_A_WORLD(too_large_a_body_is_refused),
		WITH_A_WORLD(watch_brings_events_at_once_and_costs_nothing),
		WITH_A_WORLD(events_of_the_cluster_itself_wake_the_server),
		WITH_A_WORLD(watch_ends_in_good_order),
		WITH_A_WORLD(server_can_go_while_it_is_watched),
		WITH_A_WORLD(silence_is_not_waited_for_forever),
		WITH_A_WORLD(more_connections_than_the_limit_wait_their_turn),
		WITH_A_WORLD(what_cannot_be_served_is_said),
		WITH_A_WORLD(certificate_is_for_this_address_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
