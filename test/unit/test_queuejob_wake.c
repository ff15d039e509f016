/* The shell of the QueueJob reconciler: which edits are worth a sync, and how much one costs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/queuejob_sync_fixture.h"

#define EDITED(meta) ",\"generation\":1" meta
#define NOTED ",\"annotations\":{\"note\":\"x\"},\"labels\":{\"team\":\"a\"}"
#define HEADLESS ",\"spec\":{\"clusterIP\":\"None\",\"selector\":{\"kube-arbitrator.io/queuejob\":\"j\"}}"
#define ONE_WAITS ",\"spec\":{\"minMember\":1},\"status\":{\"position\":1}"

/* An edit of an object that was there, and whether it is worth a sync. */
static const struct {
	const char *name;
	struct kar_store **store;
	const char *before, *rest_before, *after, *rest_after;
	bool wakes;
} edits[] = {
	{ "note_on_the_job", &w.stores.queuejobs, EDITED(""), SPEC, EDITED(NOTED), SPEC, false },
	{ "spec_of_the_job", &w.stores.queuejobs, EDITED(""), SPEC, ",\"generation\":2", SPEC, true },
	{ "status_of_the_job", &w.stores.queuejobs, EDITED(""), SPEC, EDITED(""),
		SPEC ",\"status\":{\"phase\":\"Pending\"}", true },
	{ "version_of_the_pods_of_the_status", &w.stores.queuejobs, EDITED(""), SPEC, EDITED(""),
		SPEC ",\"status\":{\"record\":{\"podsResourceVersion\":\"7\"}}", true },
	{ "deletion_of_the_job", &w.stores.queuejobs, EDITED(""), SPEC,
		EDITED(",\"deletionTimestamp\":\"2026-11-21T10:00:00Z\""), SPEC, true },
	{ "orphan_finalizer", &w.stores.queuejobs, EDITED(""), SPEC, EDITED(",\"finalizers\":[\"orphan\"]"),
		SPEC, true },
	{ "note_on_the_group", &w.stores.podgroups, EDITED(BY_JOB), ONE_WAITS, EDITED(BY_JOB NOTED),
		ONE_WAITS, false },
	{ "position_of_the_group", &w.stores.podgroups, EDITED(BY_JOB), ONE_WAITS, EDITED(BY_JOB),
		",\"spec\":{\"minMember\":1},\"status\":{\"position\":2}", true },
	{ "queue_of_the_admission", &w.stores.podgroups, EDITED(BY_JOB), ONE_WAITS, EDITED(BY_JOB),
		",\"spec\":{\"minMember\":1},\"status\":{\"position\":1,\"admittedQueue\":\"b\"}", true },
	{ "first_position_of_the_group", &w.stores.podgroups, EDITED(BY_JOB), ",\"spec\":{\"minMember\":1}",
		EDITED(BY_JOB), ",\"spec\":{\"minMember\":1},\"status\":{\"position\":0}", true },
	{ "limit_of_the_group", &w.stores.podgroups, EDITED(BY_JOB), ONE_WAITS, EDITED(BY_JOB),
		",\"spec\":{\"minMember\":1},\"status\":{\"position\":1,\"desired\":3}", true },
	{ "templates_that_the_queue_lets_in", &w.stores.podgroups, EDITED(BY_JOB), ONE_WAITS, EDITED(BY_JOB),
		",\"spec\":{\"minMember\":1},\"status\":{\"position\":1,\"conditions\":[{\"type\":\"TemplatesAdmitted\",\"status\":\"True\",\"observedGeneration\":2,\"reason\":\"Admitted\",\"message\":\"\"}]}",
		true },
	{ "spec_of_the_group", &w.stores.podgroups, EDITED(BY_JOB), ONE_WAITS, EDITED(BY_JOB),
		",\"spec\":{\"minMember\":2},\"status\":{\"position\":1}", true },
	{ "group_loses_its_owner", &w.stores.podgroups, EDITED(BY_JOB), ONE_WAITS, EDITED(""), ONE_WAITS,
		true },
	{ "note_on_the_schedulingspec", &w.stores.schedulingspecs, BY_JOB, "", BY_JOB NOTED, "", false },
	{ "spec_of_the_schedulingspec", &w.stores.schedulingspecs, BY_JOB, "", BY_JOB,
		",\"spec\":{\"minAvailable\":2}", true },
	{ "schedulingspec_loses_its_owner", &w.stores.schedulingspecs, BY_JOB, "", "", "", true },
	{ "note_on_the_service", &w.stores.services, BY_JOB, HEADLESS, BY_JOB NOTED, HEADLESS, false },
	{ "selector_of_the_service", &w.stores.services, BY_JOB, HEADLESS, BY_JOB,
		",\"spec\":{\"clusterIP\":\"None\"}", true },
	{ "note_on_a_class", &w.stores.priorityclasses, "", ",\"value\":5", NOTED, ",\"value\":5", false },
	{ "class_becomes_the_default", &w.stores.priorityclasses, "", ",\"value\":5", "",
		",\"value\":5,\"globalDefault\":true", true },
};

static void object_that_becomes_readable_wakes_the_job(void **state)
{
	(void)state;
	put_unreadable(w.stores.queuejobs, "j", "job-uid", EDITED(",\"finalizers\":[5]"), SPEC);
	take_all();
	put(w.stores.queuejobs, "j", "job-uid", EDITED(""), SPEC);
	assert_string_equal(take(), "ns/j");
}

static void only_what_is_read_wakes_the_job(void **state)
{
	for (size_t i = 0; i < KAR_LEN(edits); i++) {
		bool woken;

		put_job(SPEC);
		put(*edits[i].store, "j", "job-uid", edits[i].before, edits[i].rest_before);
		take_all();
		put(*edits[i].store, "j", "job-uid", edits[i].after, edits[i].rest_after);
		woken = strcmp(take(), "ns/j") == 0;
		if (woken != edits[i].wakes)
			fail_msg("%s: the job is %s", edits[i].name, woken ? "woken" : "not woken");
		teardown(state);
		setup(state);
	}
}

static void large_job_is_looked_at_as_rarely_as_its_replicas_cost(void **state)
{
	(void)state;
	put_job(",\"spec\":{\"taskSpecs\":[{\"name\":\"w\",\"replicas\":60000," TEMPLATE "},{\"name\":\"x\","
		"\"replicas\":60000," TEMPLATE "}]}");
	assert_true(sync_key());
	assert_int_equal(w.sync.objects, KAR_QJ_MAX_PODS);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(object_that_becomes_readable_wakes_the_job),
		TEST(only_what_is_read_wakes_the_job),
		TEST(large_job_is_looked_at_as_rarely_as_its_replicas_cost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
