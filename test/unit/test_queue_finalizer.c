/* A queue that is deleted stays until nothing of it is at work. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/str.h"
#include "test/unit/queue_sync_fixture.h"

#define DELETING ",\"deletionTimestamp\":\"2026-11-21T10:00:00Z\""
#define OURS "\"kube-arbitrator.io/queue\""
#define FINALIZERS(list) ",\"finalizers\":[" list "]"
#define GONE DELETING FINALIZERS(OURS)
#define LIVE \
	"\"members\":1,\"phase\":\"Running\",\"admittedQueue\":\"a\"," ADMITTED("True", "Admitted", \
		"admitted")
#define CLAIMS "\"members\":1,\"phase\":\"Pending\"," ADMITTED("False", "Reserving", "capacity is held")
#define ENDED "\"members\":1,\"phase\":\"Finished\"," ADMITTED("True", "Admitted", "admitted")
#define KEPT "is to be kept"
#define SAYS "\"reason\":\"Deleting\",\"message\":\"it is being deleted"

enum { QUEUES = 4, GROUPS = 3 };

/* Queue a, others, and groups that ask for a, or for the queue in .asks. */
static const struct {
	const char *name;
	const char *meta;
	struct {
		const char *name, *meta, *spec, *status;
	} others[QUEUES];
	struct {
		const char *asks, *meta, *status;
	} groups[GROUPS];
	const char *body; /* of the patch of its metadata: its finalizers; KEPT: there is none */
	const char *says; /* in the patch of its status */
} rows[] = {
	{ "new_queue_gets_it", "", { { 0 } }, { { 0 } }, "[" OURS "]", NULL },
	{ "behind_those_of_others", FINALIZERS("\"x/y\",\"z\""), { { 0 } }, { { 0 } },
		"[\"x/y\",\"z\"," OURS "]", NULL },
	{ "once", FINALIZERS(OURS), { { 0 } }, { { 0 } }, KEPT, NULL },
	{ "not_to_one_that_is_deleted", DELETING FINALIZERS("\"x/y\""), { { 0 } }, { { 0 } }, KEPT,
		SAYS "\"" },
	{ "deleted_and_idle", GONE, { { 0 } }, { { 0 } }, "[]", NULL },
	{ "those_of_others_stay", DELETING FINALIZERS("\"x/y\"," OURS ",\"z\""), { { 0 } }, { { 0 } },
		"[\"x/y\",\"z\"]", NULL },
	{ "waiting_job_holds_nothing", GONE, { { 0 } }, { { "a", "", "" } }, "[]", NULL },
	{ "ended_job_holds_nothing", GONE, { { 0 } }, { { "a", "", ENDED } }, "[]", NULL },
	{ "deleted_job_holds_nothing", GONE, { { 0 } }, { { "a", DELETING, LIVE } }, "[]", NULL },
	{ "running_job_holds_it", GONE, { { 0 } }, { { "a", "", LIVE } }, KEPT,
		SAYS ", and gone when ns/g0 has ended\"" },
	{ "two_jobs_hold_it", GONE, { { 0 } }, { { "a", "", LIVE }, { "a", "", LIVE } }, KEPT,
		SAYS ", and gone when ns/g0 and others have ended\"" },
	/* A closed queue admits nobody, and takes claims back. */
	{ "claim_is_dropped", GONE, { { 0 } }, { { "a", "", CLAIMS } }, "[]", NULL },
	{ "job_that_moves_holds_both", GONE, { { "b", FINALIZERS(OURS), "", "" } }, { { "b", "", LIVE } },
		KEPT, SAYS ", and gone when ns/g0 has ended\"" },
	{ "job_of_another_queue_holds_nothing", GONE, { { "b", FINALIZERS(OURS), "", "" } },
		{ { "b", "",
			"\"members\":1,\"phase\":\"Running\",\"admittedQueue\":\"b\"," ADMITTED("True",
				"Admitted", "admitted") } },
		"[]", NULL },
	{ "queue_below_holds_it", GONE, { { "b", FINALIZERS(OURS), "\"parent\":\"a\"", "" } }, { { 0 } },
		KEPT, "\"message\":\"deletion waits: queue b still names this queue as parent\"" },
	{ "queue_two_below_does_not", GONE,
		{ { "b", FINALIZERS(OURS), "\"parent\":\"c\"", "" }, { "c", FINALIZERS(OURS), "", "" } },
		{ { 0 } }, "[]", NULL },
	{ "queue_below_that_goes_too_does_not", GONE, { { "b", GONE, "\"parent\":\"a\"", "" } }, { { 0 } },
		"[]", NULL },
	{ "but_its_jobs_do", GONE, { { "b", GONE, "\"parent\":\"a\"", "\"parent\":\"a\"" } },
		{ { "b", "",
			"\"members\":1,\"phase\":\"Running\",\"admittedQueue\":\"b\"," ADMITTED("True",
				"Admitted", "admitted") } },
		KEPT, SAYS ", and gone when ns/g0 has ended\"" },
};

static const struct kar_action *patch_of_a(const char *subresource)
{
	for (size_t i = 0; i < w.sync.plan.n_actions; i++) {
		const struct kar_action *a = &w.sync.plan.actions[i];

		if (a->verb == KAR_PATCH && a->type == &kar_queue_type && !strcmp(a->name, "a") &&
			kar_streq(a->subresource, subresource))
			return a;
	}
	return NULL;
}

static void put_row(size_t row)
{
	char rest[1024], name[16];

	put_named(w.stores.queues, "a", rows[row].meta, ",\"spec\":{}");
	for (int i = 0; i < QUEUES && rows[row].others[i].name; i++) {
		snprintf(rest, sizeof(rest), ",\"spec\":{%s},\"status\":{%s}", rows[row].others[i].spec,
			rows[row].others[i].status);
		put_named(w.stores.queues, rows[row].others[i].name, rows[row].others[i].meta, rest);
	}
	for (int i = 0; i < GROUPS && rows[row].groups[i].asks; i++) {
		snprintf(name, sizeof(name), "g%d", i);
		snprintf(rest, sizeof(rest), ",\"spec\":{\"queue\":\"%s\"},\"status\":{%s}",
			rows[row].groups[i].asks, rows[row].groups[i].status);
		put_named(w.stores.podgroups, name, rows[row].groups[i].meta, rest);
	}
}

static void check_row(size_t row)
{
	const struct kar_action *a = patch_of_a(NULL);
	char want[512];

	if (strcmp(rows[row].body, KEPT) != 0) {
		snprintf(want, sizeof(want),
			"{\"metadata\":{\"uid\":\"uid-a\",\"resourceVersion\":\"%ju\",\"finalizers\":%s}}",
			(uintmax_t)kar_store_get(w.stores.queues, NULL, "a")->rv, rows[row].body);
		check_body(a, want);
		assert_int_equal(a->patch_type, KAR_PATCH_MERGE);
		assert_null(patch_of_a("status")); /* it would meet a Conflict */
		return;
	}
	assert_null(a);
	if (rows[row].says)
		check_says(patch_of_a("status"), rows[row].says);
}

static void deleted_queue_stays_while_it_is_needed(void **state)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		assert_int_equal(teardown(state), 0); /* a world of its own for each row */
		setup(state);
		print_message("%s\n", rows[i].name);
		put_row(i);
		sync_text(false);
		check_row(i);
	}
}

/* Who sees only a part of the groups does not know what is at work. */
static void manager_of_one_namespace_leaves_finalizers_alone(void **state)
{
	(void)state;
	settings.one_namespace = true;
	put_named(w.stores.queues, "a", GONE, ",\"spec\":{}");
	put_named(w.stores.queues, "b", "", ",\"spec\":{}");
	assert_string_equal(sync_text(false), "");
}

/* It would stay for good otherwise. */
static void unreadable_queue_goes_when_it_is_deleted(void **state)
{
	(void)state;
	put_unreadable(w.stores.queues, "a", "uid-a", ",\"generation\":1" GONE,
		",\"spec\":{\"maxJobs\":\"many\"}");
	sync_text(false);
	assert_non_null(patch_of_a(NULL));
	put_unreadable(w.stores.queues, "a", "uid-a", ",\"generation\":1",
		",\"spec\":{\"maxJobs\":\"many\"}");
	w.mono += 1000;
	sync_text(false);
	assert_null(patch_of_a(NULL));
	assert_null(patch_of_a("status"));
}

/* What was cut when it was read cannot be written again. */
static void too_many_finalizers_are_left_alone(void **state)
{
	struct kar_buf meta = { 0 };

	(void)state;
	kar_buf_puts(&meta, ",\"generation\":1" FINALIZERS("\"x/0\""));
	meta.n--; /* its last bracket */
	for (int i = 1; i < 600; i++)
		kar_buf_printf(&meta, ",\"x/%d\"", i);
	kar_buf_puts(&meta, "]");
	put(w.stores.queues, "a", "uid-a", kar_buf_cstr(&meta), ",\"spec\":{}");
	kar_buf_release(&meta);
	sync_text(false);
	assert_null(patch_of_a(NULL));
	assert_non_null(patch_of_a("status"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(deleted_queue_stays_while_it_is_needed),
		TEST(manager_of_one_namespace_leaves_finalizers_alone),
		TEST(unreadable_queue_goes_when_it_is_deleted),
		TEST(too_many_finalizers_are_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
