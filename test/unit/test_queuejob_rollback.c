/* A gang whose pods a ResourceQuota has refused: when its minimum is rolled back, and what it does while it waits for room. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/queuejob_quota_fixture.h"

/* --- a refused minimum --------------------------------------------------------------------------- */

static enum kar_qj_phase next_phase(void)
{
	const struct kar_queuejob_status *st = w.sync.plan.status;

	return st ? st->phase : KAR_QJ_PHASE_NONE;
}

/* The refusal is remembered, so that the next try is not made as soon as the pods are gone. */
static void refusal_outlives_what_is_rolled_back(void **state)
{
	(void)state;
	start_refused();
	put(w.stores.pods, "j-w-0", "p0", MEMBER, "");
	assert_true(sync_key());
	assert_int_equal(next_phase(), KAR_QJ_PHASE_RESTARTING);
	assert_non_null(strstr(((const struct kar_queuejob_status *)w.sync.plan.status)->message,
		"1 of 2 pods fitted and was deleted again; waits until quota few has room for all (it lacks pods)"));
	assert_non_null(find_action(PODSET_DELETE, KAR_DELETE));
	assert_true(w.sync.plan.unfinished);
	kar_create_backoff_hold_creates(&w.sync);
	assert_non_null(w.state.backoff);
	assert_int_equal(w.state.backoff->rolled_back, 1);
}

/* What has been let out and is not refused yet goes on, though its time has not come again. */
static void try_under_way_is_not_rolled_back(void **state)
{
	(void)state;
	start_refused();
	assert_true(sync_at(6000));
	kar_create_backoff_hold_creates(&w.sync);
	assert_int_equal(count_actions(KAR_CREATE), 2);
	put(w.stores.pods, "j-w-0", "p0", MEMBER, "");
	assert_true(sync_at(6001));
	assert_null(find_action(PODSET_DELETE, KAR_DELETE));
	kar_create_backoff_hold_creates(&w.sync);
	assert_int_equal(count_actions(KAR_CREATE), 1);
	refuse("pods=1", 6002);
	assert_true(sync_at(6003));
	assert_non_null(find_action(PODSET_DELETE, KAR_DELETE));
}

/* --- what else it does while it waits ------------------------------------------------------------ */

static void children_are_repaired_while_pods_wait(void **state)
{
	(void)state;
	start_refused();
	kar_store_delete(w.stores.podgroups, "ns", "j", "g-uid", ++w.rv);
	assert_true(sync_at(60000));
	kar_create_backoff_hold_creates(&w.sync);
	assert_non_null(find_action(QUEUEJOB_CREATE_PODGROUP, KAR_CREATE));
}

/* Until it is seen to be there, nothing is forgotten of what was refused. */
static void repair_of_a_child_forgets_no_refusal(void **state)
{
	(void)state;
	start_refused();
	kar_store_delete(w.stores.schedulingspecs, "ns", "j", "s-uid", ++w.rv);
	put(w.stores.schedulingspecs, "j", "s2-uid", "", ",\"spec\":{}");
	assert_true(sync_at(5100));
	assert_int_equal(count_actions(KAR_CREATE), 0);
	kar_create_backoff_hold_creates(&w.sync);
	assert_null(w.state.backoff); /* somebody else's is in the way, which may last */
	start_refused();
	kar_store_delete(w.stores.schedulingspecs, "ns", "j", "s-uid", ++w.rv);
	put(w.stores.schedulingspecs, "j", "s3-uid", ",\"labels\":{\"kube-arbitrator.io/queuejob\":\"j\"}",
		",\"spec\":{}");
	put(w.stores.queuejobs, "k", "k-uid", "", ""); /* what is known of jobs is newer */
	assert_true(sync_at(5100));
	assert_non_null(find_action(QUEUEJOB_ADOPT, KAR_PATCH));
	kar_create_backoff_hold_creates(&w.sync);
	assert_non_null(w.state.backoff);
}

/* The same before its start is recorded. */
static void repair_at_a_first_start_forgets_no_refusal(void **state)
{
	(void)state;
	put_job(SPEC);
	put_children(true);
	check_owner();
	assert_true(sync_key());
	refuse("pods=1", 5000);
	put(w.stores.schedulingspecs, "j", "s-uid", BY_JOB, ",\"spec\":{\"minAvailable\":1}");
	assert_true(sync_at(5100));
	assert_non_null(find_action(QUEUEJOB_PATCH_SCHEDULINGSPEC, KAR_PATCH));
	kar_create_backoff_hold_creates(&w.sync);
	assert_non_null(w.state.backoff);
}

/* --- extras -------------------------------------------------------------------------------------- */

/* That an extra has no room tells nothing about a pod of the minimum that is lost, and leaves its own. */
static void refused_extra_takes_no_minimum_back(void **state)
{
	const kar_time later = 5000 + 2 * KAR_MINUTE;

	(void)state;
	put(w.stores.resourcequotas, "few", "q1", "", HARD("2"));
	put_gang(3, 2);
	put(w.stores.pods, "j-w-0", "p0", MEMBER, "");
	put(w.stores.pods, "j-w-1", "p1", MEMBER, "");
	assert_true(sync_key());
	kar_create_backoff_hold_creates(&w.sync);
	assert_int_equal(count_actions(KAR_CREATE), 1);
	refuse("pods=1", 5000);
	kar_store_delete(w.stores.pods, "ns", "j-w-1", "p1", ++w.rv);
	assert_true(sync_at(later));
	assert_int_not_equal(next_phase(), KAR_QJ_PHASE_RESTARTING);
	kar_create_backoff_hold_creates(&w.sync);
	assert_int_equal(count_actions(KAR_CREATE), 2);
	refuse("pods=1", later); /* now it does */
	assert_true(sync_at(later));
	assert_int_equal(next_phase(), KAR_QJ_PHASE_RESTARTING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(refusal_outlives_what_is_rolled_back),
		TEST(try_under_way_is_not_rolled_back),
		TEST(children_are_repaired_while_pods_wait),
		TEST(repair_of_a_child_forgets_no_refusal),
		TEST(repair_at_a_first_start_forgets_no_refusal),
		TEST(refused_extra_takes_no_minimum_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
