/* Who asks the API server by HTTP, what is written down of it, and watches. */
#include "sim/test/unit/http_door_world.h"

#define MAP "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\""

static void users_are_known_by_token(void **state)
{
	static const struct {
		const char *name, *authorization, *target;
		int code;
		const char *want;
	} rows[] = {
		{ "admin", BEARER, PODS, 200, "{\"kind\":\"PodList\"" },
		{ "scheme_in_small_letters", "bearer " TOKEN, PODS, 200, "{\"kind\":\"PodList\"" },
		{ "wrong_token", "Bearer x", PODS, 401,
			STATUS "\"Unauthorized\",\"reason\":\"Unauthorized\"" },
		{ "part_of_the_token", "Bearer 0123", PODS, 401, STATUS "\"Unauthorized\"" },
		{ "empty_token", "Bearer ", PODS, 401, STATUS "\"Unauthorized\"" },
		{ "other_scheme", "Basic " TOKEN, PODS, 401, STATUS "\"Unauthorized\"" },
		{ "wrong_token_for_health", "Bearer x", "/healthz", 401, STATUS "\"Unauthorized\"" },
		{ "nobody", NULL, PODS, 403,
			STATUS
			"\"pods is forbidden: User \\\"system:anonymous\\\" cannot list resource \\\"pods\\\" in API group \\\"\\\" in the namespace "
			"\\\"default\\\"\",\"reason\":\"Forbidden\"" },
		{ "nobody_of_the_cluster", NULL, "/api/v1/pods", 403,
			STATUS
			"\"pods is forbidden: User \\\"system:anonymous\\\" cannot list resource \\\"pods\\\" in API group \\\"\\\" at the cluster scope\"" },
		{ "nobody_for_a_path", NULL, "/api", 403,
			STATUS "\"forbidden: User \\\"system:anonymous\\\" cannot get path \\\"/api\\\"\"" },
		{ "nobody_for_an_unknown_path", NULL, "/nope", 403, STATUS "\"forbidden: User " },
		{ "nobody_for_health", NULL, "/healthz", 200, "ok" },
		{ "nobody_for_version", NULL, "/version", 200, "{\"major\"" },
	};

	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const struct sim_http_request rq = { .method = "GET",
			.target = rows[i].target,
			.authorization = rows[i].authorization };
		struct sim_http_answer a;

		call(*state, &rq, &a);
		if (a.code != rows[i].code ||
			strncmp(kar_buf_cstr(&a.body), rows[i].want, strlen(rows[i].want)) != 0)
			fail_msg("%s: got %d %s", rows[i].name, a.code, kar_buf_cstr(&a.body));
		sim_http_answer_release(&a);
	}
}

static void service_accounts_get_tokens(void **state)
{
	struct world *w = *state;
	struct sim_http_request rq = { .method = "POST",
		.authorization = BEARER,
		.content_type = JSON,
		.target = "/api/v1/namespaces/default/serviceaccounts/default/token",
		.body = str("{}") };
	char authorization[4096] = "Bearer ";
	struct sim_http_answer a;

	call(w, &rq, &a);
	assert_int_equal(a.code, 201);
	struct sim_value *v KAR_CLEANUP(sim_cleanup_value) = sim_parse(a.body.p, a.body.n, NULL);

	strncat(authorization, sim_text_or(sim_get(v, "status", "token"), "?"), sizeof(authorization) - 8);
	sim_http_answer_release(&a);
	kar_buf_clear(&w->audit);
	rq = (struct sim_http_request){ .method = "GET", .target = MAPS, .authorization = authorization };
	call(w, &rq, &a);
	assert_int_equal(a.code, 200);
	assert_non_null(
		strstr(kar_buf_cstr(&w->audit), "\"username\":\"system:serviceaccount:default:default\""));
	sim_http_answer_release(&a);
}

static void unknown_members_are_warned_of(void **state)
{
	static const char body[] =
		"{\"apiVersion\":\"kube-arbitrator.io/v1alpha1\",\"kind\":\"Queue\",\"metadata\":{\"name\":\"w\"},\"spec\":{\"foo\":1,\"bar\":2}}";
	const struct sim_http_request rq = { .method = "POST",
		.target = "/apis/kube-arbitrator.io/v1alpha1/queues?fieldValidation=Warn",
		.authorization = BEARER,
		.content_type = JSON,
		.body = { body, sizeof(body) - 1 } };
	struct sim_http_answer a;

	call(*state, &rq, &a);
	assert_int_equal(a.code, 201);
	assert_string_equal(kar_buf_cstr(&a.warnings),
		"unknown field \"spec.bar\"\nunknown field \"spec.foo\"");
	sim_http_answer_release(&a);
}

static void requests_are_audited(void **state)
{
	struct world *w = *state;
	const struct sim_http_request rq = { .method = "POST",
		.target = MAPS,
		.authorization = BEARER,
		.content_type = JSON,
		.user_agent = "kubectl/v1.37.1 (linux/amd64)",
		.body = str("{\"metadata\":{\"name\":\"audited\"}}") };
	struct sim_http_answer a;

	kar_buf_clear(&w->audit);
	call(w, &rq, &a);
	sim_http_answer_release(&a);
	struct sim_value *v KAR_CLEANUP(sim_cleanup_value) = sim_parse(w->audit.p, w->audit.n, NULL);
	struct kar_buf about KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	assert_string_equal(sim_get_text(v, "verb"), "create");
	assert_string_equal(sim_get_text(v, "stage"), "ResponseComplete");
	assert_string_equal(sim_get_text(v, "user", "username"), "kubernetes-admin");
	assert_string_equal(sim_get_text(v, "userAgent"), "kubectl/v1.37.1 (linux/amd64)");
	assert_string_equal(sim_get_text(v, "requestReceivedTimestamp"), "2026-11-21T13:46:32.000000Z");
	assert_int_equal(sim_get_int(v, 0, "responseStatus", "code"), 201);
	sim_print(sim_get(v, "objectRef"), &about);
	assert_string_equal(kar_buf_cstr(&about),
		"{\"resource\":\"configmaps\",\"namespace\":\"default\",\"apiVersion\":\"v1\",\"name\":\"audited\"}");
}

/* ---- watches ---- */

static void watch_is_a_stream(void **state)
{
	struct world *w = *state;
	const struct sim_http_request watch = { .method = "GET",
		.target = MAPS "?watch=1&fieldSelector=metadata.name%3Dseen",
		.authorization = BEARER };
	const struct sim_http_request create = { .method = "POST",
		.target = MAPS,
		.authorization = BEARER,
		.content_type = JSON,
		.body = str("{\"metadata\":{\"name\":\"seen\"}}") };
	struct sim_http_answer stream, a;
	struct kar_buf events KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	call(w, &watch, &stream);
	assert_int_equal(stream.code, 200);
	assert_non_null(stream.stream);
	assert_int_equal(sim_http_stream_read(stream.stream, &events), SIM_WATCH_DRY);
	w->notified = 0;
	call(w, &create, &a);
	sim_http_answer_release(&a);
	assert_int_equal(w->notified, 1);
	assert_int_equal(sim_http_stream_read(stream.stream, &events), SIM_WATCH_EVENT);
	assert_int_equal(strncmp(kar_buf_cstr(&events), "{\"type\":\"ADDED\",\"object\":" MAP "seen", 60), 0);
	assert_int_equal(sim_http_stream_read(stream.stream, &events), SIM_WATCH_DRY);
	kar_buf_clear(&w->audit);
	sim_http_answer_release(&stream);
	assert_non_null(
		strstr(kar_buf_cstr(&w->audit), "\"verb\":\"watch\"")); /* it is logged when it is over */
}

/* Opens a watch, reads it until it is dry and closes it; what came is compared with the beginning of what is wanted. */
static void check_watch(struct world *w, const char *target, enum sim_watch_state last, const char *want)
{
	const struct sim_http_request rq = { .method = "GET", .target = target, .authorization = BEARER };
	struct kar_buf events KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	enum sim_watch_state state = SIM_WATCH_EVENT;
	struct sim_http_answer a;

	call(w, &rq, &a);
	assert_int_equal(a.code, 200);
	while (state == SIM_WATCH_EVENT)
		state = sim_http_stream_read(a.stream, &events);
	if (state != last || strncmp(kar_buf_cstr(&events), want, strlen(want)) != 0)
		fail_msg("%s: state %d, events %s", target, state, kar_buf_cstr(&events));
	sim_http_answer_release(&a);
}

static void watches_begin_where_they_are_told(void **state)
{
	struct world *w = *state;

	sim_apiserver_compact(w->server);
	check_watch(w, MAPS "?watch=1&resourceVersion=1", SIM_WATCH_ENDED,
		"{\"type\":\"ERROR\",\"object\":" STATUS);
	check_watch(w, MAPS "?watch=1", SIM_WATCH_DRY, "{\"type\":\"ADDED\",\"object\":" MAP);
	check_watch(w, "/api/v1/namespaces/none/configmaps?watch=1", SIM_WATCH_DRY, "");
}

static void bad_watches_are_refused(void **state)
{
	const struct sim_http_request rq = { .method = "GET",
		.target = MAPS "?watch=1&labelSelector=a%3D%3D%3D",
		.authorization = BEARER };
	struct sim_http_answer a;

	call(*state, &rq, &a);
	assert_int_equal(a.code, 400);
	assert_null(a.stream);
	sim_http_answer_release(&a);
}

/* kubectl get -w: the columns come once. */
static void watch_of_a_table_has_one_header(void **state)
{
	const struct sim_http_request rq = { .method = "GET",
		.target = "/api/v1/namespaces?watch=1",
		.authorization = BEARER,
		.accept = "application/json;as=Table;g=meta.k8s.io;v=v1" };
	struct kar_buf line KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	struct sim_http_answer a;
	int with_columns = 0, events = 0;

	call(*state, &rq, &a);
	while (sim_http_stream_read(a.stream, &line) == SIM_WATCH_EVENT) {
		struct sim_value *v KAR_CLEANUP(sim_cleanup_value) = sim_parse(line.p, line.n, NULL);

		assert_string_equal(sim_get_text(v, "object", "kind"), "Table");
		assert_int_equal(sim_count(sim_get(v, "object", "rows")), 1);
		with_columns += sim_kind(sim_get(v, "object", "columnDefinitions")) == SIM_ARRAY;
		events++;
		kar_buf_clear(&line);
	}
	sim_http_answer_release(&a);
	assert_true(events >= 4);
	assert_int_equal(with_columns, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(users_are_known_by_token),
		cmocka_unit_test(service_accounts_get_tokens),
		cmocka_unit_test(unknown_members_are_warned_of),
		cmocka_unit_test(requests_are_audited),
		cmocka_unit_test(watch_is_a_stream),
		cmocka_unit_test(watches_begin_where_they_are_told),
		cmocka_unit_test(bad_watches_are_refused),
		cmocka_unit_test(watch_of_a_table_has_one_header),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
