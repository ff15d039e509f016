/* What is told of a plan that failed: where, and how often. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/log.h"
#include "controllers/runtime/failure.h"
#include "test/fixture/fake_client.h"

static const struct kar_type jobs = { .res = { "example.com", "v1", "jobs", "Job", true } };
static const struct kar_type pods = { .res = { "", "v1", "pods", "Pod", true } };

static struct kar_object job = { .type = &jobs, .refs = 1, .ns = "ns", .name = "j", .uid = "uid-j" };

static const struct kar_action delete_a = { .verb = KAR_DELETE,
	.type = &pods,
	.name = "j-w-0",
	.uid = "uid-a" };
static const struct kar_action delete_b = { .verb = KAR_DELETE,
	.type = &pods,
	.name = "j-w-1",
	.uid = "uid-b" };
static const struct kar_action patch_a = { .verb = KAR_PATCH,
	.type = &pods,
	.name = "j-w-0",
	.uid = "uid-a" };
static const struct kar_action patch_b = { .verb = KAR_PATCH,
	.type = &pods,
	.name = "j-w-1",
	.uid = "uid-b" };
static const struct kar_action create_a = { .verb = KAR_CREATE, .type = &pods, .name = "j-w-0" };
static const struct kar_action patch_unnamed = { .verb = KAR_PATCH, .type = &pods, .name = "j-w-0" };

static const struct {
	const char *name;
	struct kar_object *object;
	const struct kar_action *failed[3]; /* one after the other; NULL: the status */
	enum kar_class what[3];
	int errors, events;
	const char *about; /* of the first event */
	int lost; /* there is no connection, and each of these has happened so many times; 0: there is one */
	bool outage; /* and that is known */
	enum kar_cause cause;
	bool unasked; /* the reconciler does not want to know of refused creates */
} rows[] = {
	{ "a delete that is refused", &job, { &delete_a }, { KAR_DENIED }, 1, 1, "uid-j" },
	{ "a patch that is invalid", &job, { &patch_a }, { KAR_INVALID }, 1, 1, "uid-j" },
	{ "a status that is refused", &job, { NULL }, { KAR_DENIED }, 1, 1, "uid-j" },
	{ "a key without an object: at what stays as it is", NULL, { &delete_a }, { KAR_DENIED }, 1, 1,
		"uid-a" },
	{ "nobody to tell it at", NULL, { &patch_unnamed }, { KAR_DENIED }, 1, 0, NULL },
	{ "a create: the user's affair, whose event comes from the status", &job, { &create_a },
		{ KAR_DENIED }, 0, 0, NULL },
	{ "a create that is invalid", &job, { &create_a }, { KAR_INVALID }, 0, 0, NULL },
	{ "a create of a name that is taken", &job, { &create_a }, { KAR_EXISTS }, 0, 0, NULL },
	{ "a create for which a role is missing", &job, { &create_a }, { KAR_DENIED }, 1, 0, NULL,
		.cause = KAR_CAUSE_RBAC },
	{ "a create of which the reconciler does not want to know", &job, { &create_a }, { KAR_DENIED }, 0, 1,
		"uid-j", .unasked = true },
	{ "a create that an overloaded server does not do", &job, { &create_a }, { KAR_UNKNOWN }, 1, 0,
		NULL },
	{ "a create of a key without an object, which no user watches", NULL, { &create_a }, { KAR_DENIED },
		1, 0, NULL },
	{ "a lost connection is the log's affair", &job, { &delete_a }, { KAR_RETRY }, 1, 0, NULL },
	{ "somebody wrote first: nothing to tell", &job, { &patch_a }, { KAR_CONFLICT }, 0, 0, NULL },
	{ "the same again", &job, { &delete_a, &delete_a }, { KAR_DENIED, KAR_DENIED }, 1, 1, "uid-j" },
	{ "the same of another pod", &job, { &delete_a, &delete_b }, { KAR_DENIED, KAR_DENIED }, 1, 1,
		"uid-j" },
	{ "another verb", &job, { &delete_a, &patch_a }, { KAR_DENIED, KAR_DENIED }, 2, 2, "uid-j" },
	{ "one or the other, by chance", &job, { &delete_a, &patch_b, &delete_b },
		{ KAR_DENIED, KAR_DENIED, KAR_DENIED }, 2, 2, "uid-j" },
	{ "another answer", &job, { &patch_a, &patch_a }, { KAR_DENIED, KAR_INVALID }, 2, 2, "uid-j" },
	{ "a lost connection", &job, { &patch_a, &patch_a }, { KAR_UNKNOWN, KAR_UNKNOWN }, 0, 0, NULL, 1 },
	{ "lost again and again, while others get through", &job, { &patch_a, &patch_a },
		{ KAR_UNKNOWN, KAR_UNKNOWN }, 1, 0, NULL, 6 },
	{ "lost again and again in an outage", &job, { &patch_a, &patch_a }, { KAR_UNKNOWN, KAR_UNKNOWN }, 0,
		0, NULL, 6, true },
	{ "the status after a pod", &job, { &patch_a, NULL }, { KAR_DENIED, KAR_DENIED }, 2, 2, "uid-j" },
};

static void ask(const struct kar_sync *s KAR_UNUSED, const struct kar_action *a KAR_UNUSED,
	const struct kar_err *err KAR_UNUSED)
{
}

static void count_error(void *arg, const char *line, size_t n)
{
	int *errors = arg;

	*errors += n && line[0] == 'E';
}

static void tell(struct kar_recorder *recorder, const struct kar_sync *s, size_t i, size_t k)
{
	const struct kar_action *failed = rows[i].failed[k];
	enum kar_class what = rows[i].what[k];
	struct kar_outcome o = { .what = what, .failed = failed };

	o.err.what = what;
	o.err.cause = rows[i].lost ? KAR_CAUSE_CONNECTION : rows[i].cause;
	/* The words differ each time that something else is asked for. */
	snprintf(o.err.msg, sizeof(o.err.msg), "verb %d of %s: class %d", failed ? (int)failed->verb : -1,
		failed ? failed->name : "j/status", (int)what);
	for (int n = 0; n == 0 || n < rows[i].lost; n++) {
		kar_failure_report(recorder, s, &o, rows[i].outage);
		kar_workqueue_add_rate_limited(s->controller->queue, s->key, 0);
	}
}

static void assert_row(size_t i, struct kar_loop *loop, struct fake_client *fake, struct kar_controller *c)
{
	struct kar_recorder *recorder = kar_recorder_new(loop, &fake->client, "test", "here", 1);
	struct kar_key_state state = { 0 };
	const struct kar_sync s = { .controller = c,
		.key = "ns/j",
		.state = &state,
		.object = rows[i].object };
	int errors = 0;

	kar_log_redirect(count_error, &errors);
	for (size_t k = 0; k < KAR_LEN(rows[i].what) && rows[i].what[k] != KAR_OK; k++)
		tell(recorder, &s, i, k);
	kar_log_redirect(NULL, NULL);
	if (errors != rows[i].errors || (int)kar_recorder_pending(recorder) != rows[i].events)
		fail_msg("%s: %d errors in the log, %d events", rows[i].name, errors,
			(int)kar_recorder_pending(recorder));
	if (rows[i].about && !strstr(fake->requests[0].body, rows[i].about))
		fail_msg("%s: the event is not about %s: %s", rows[i].name, rows[i].about,
			fake->requests[0].body);
	kar_recorder_free(recorder);
}

static void what_fails_is_told_where_it_is_seen_and_once(void **state)
{
	const struct kar_workqueue_options q = { 0 };

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_loop *loop = kar_loop_new();
		struct fake_client *fake = fake_client_new();
		struct kar_controller c = { .name = "test",
			.queue = kar_workqueue_new(&q),
			.refused = rows[i].unasked ? NULL : ask };

		assert_row(i, loop, fake, &c);
		kar_workqueue_free(c.queue);
		kar_client_free(&fake->client);
		kar_loop_free(loop);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fails_is_told_where_it_is_seen_and_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
