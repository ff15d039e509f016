/* The owner is read before the first create, and creates that wait go out only for the job as it was. */
#include "test/unit/queuejob_sync_fixture.h"

#define ANSWER(uid, more) "{\"metadata\":{\"name\":\"j\",\"uid\":\"" uid "\"" more "}}"

static void creates_wait_for_an_answer_that_shows_the_job_alive(void **state)
{
	const struct kar_action *get;

	(void)state;
	put_starting_job();
	assert_true(sync_key());
	get = action_of(QUEUEJOB_CHECK_OWNER, KAR_GET);
	assert_non_null(get);
	assert_int_equal(count_actions(KAR_CREATE), 0);
	answer(get, ANSWER("another-uid", ""));
	answer(get, ANSWER("job-uid", ",\"deletionTimestamp\":\"2026-11-21T10:00:00Z\""));
	answer(get, "not JSON");
	answer_version(get, ANSWER("job-uid", ""), w.sync.object->rv + 1); /* it may be suspended by now */
	assert_int_equal(key_memory()->owner_checked, 0);
	assert_true(sync_key()); /* not at once again: the cache may take its time to learn the truth */
	assert_int_equal(w.sync.plan.n_actions, 0);
	assert_int_equal(w.sync.plan.requeue_after, 1000);
	key_memory()->owner_asked = 0;
	assert_true(sync_key());
	get = action_of(QUEUEJOB_CHECK_OWNER, KAR_GET);
	answer(get, ANSWER("job-uid", ""));
	assert_int_equal(key_memory()->owner_checked, 1);
	key_memory()->owner_uid++; /* what was read was another job of this name */
	assert_true(sync_key());
	assert_int_equal(count_actions(KAR_CREATE), 0);
	key_memory()->owner_uid--;
	assert_true(sync_key());
	assert_int_equal(count_actions(KAR_CREATE), 2);
}

#define RESTARTED_TASK \
	",\"status\":{\"phase\":\"Starting\",\"incarnation\":1,\"record\":{\"formation\":\"First\",\"templateHash\":\"%s\"},\"tasks\":[{\"name\":\"w\"," \
	"\"started\":true,\"restartTime\":\"2026-11-21T10:00:00Z\"}]" NOT_FORMED "}"

/* Another manager may have ended the restart of the task since the job was read, and what has come after that is its work. */
static void answer_tells_nothing_of_pods_that_came_later(void **state)
{
	char rest[1024];

	(void)state;
	put_starting_job();
	snprintf(rest, sizeof(rest), SPEC RESTARTED_TASK, spec_hash());
	put_job(rest);
	put(w.stores.pods, "j-w-0", "p0", BY_JOB, "");
	assert_true(sync_key());
	assert_int_equal(count_actions(KAR_DELETE), 0);
	answer(action_of(QUEUEJOB_CHECK_OWNER, KAR_GET), ANSWER("job-uid", ""));
	assert_true(sync_key());
	assert_int_equal(count_actions(KAR_DELETE), 1);
	put(w.stores.pods, "j-w-1", "p1", BY_JOB, "");
	assert_true(sync_at(7000));
	assert_int_equal(count_actions(KAR_DELETE), 1);
	assert_string_equal(action_of(PODSET_DELETE, KAR_DELETE)->name, "j-w-0");
	answer(action_of(QUEUEJOB_CHECK_OWNER, KAR_GET), ANSWER("job-uid", ""));
	assert_true(sync_at(7000));
	assert_int_equal(count_actions(KAR_DELETE), 2);
}

static void status_write_proves_it_too(void **state)
{
	(void)state;
	put_job(SPEC ",\"status\":{\"phase\":\"Pending\"}");
	put_children(true);
	assert_true(sync_key());
	assert_int_equal(((const struct kar_queuejob_status *)w.sync.plan.status)->phase,
		KAR_QJ_PHASE_STARTING);
	assert_int_equal(count_actions(KAR_CREATE), 0);
	answer(NULL, ANSWER("job-uid", ""));
	assert_int_equal(key_memory()->owner_checked, 1);
}

static void create_is_dropped_when_the_job_has_changed(void **state)
{
	const struct kar_action *create;

	(void)state;
	put_starting_job();
	check_owner();
	assert_true(sync_key());
	create = action_of(QUEUEJOB_CREATE_POD, KAR_CREATE);
	assert_true(w.controller.still_wanted(&w.sync, create));
	put(w.stores.queuejobs, "j", "job-uid", ",\"generation\":2", SPEC);
	assert_false(w.controller.still_wanted(&w.sync, create));
	put(w.stores.queuejobs, "j", "job-uid",
		",\"generation\":1,\"deletionTimestamp\":\"2026-11-21T10:00:00Z\"", SPEC);
	assert_false(w.controller.still_wanted(&w.sync, create));
	kar_store_delete(w.stores.queuejobs, "ns", "j", "job-uid", 5000);
	assert_false(w.controller.still_wanted(&w.sync, create));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(creates_wait_for_an_answer_that_shows_the_job_alive),
		TEST(answer_tells_nothing_of_pods_that_came_later),
		TEST(status_write_proves_it_too),
		TEST(create_is_dropped_when_the_job_has_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
