/*
 * queuejob_quota_fixture - the job ns/j in a namespace with ResourceQuotas: what the API server refuses.
 * For one test executable: all functions are static.
 */
#ifndef KAR_TEST_QUEUEJOB_QUOTA_FIXTURE_H
#define KAR_TEST_QUEUEJOB_QUOTA_FIXTURE_H

#include "controllers/runtime/create_backoff.h"
#include "test/unit/queuejob_sync_fixture.h"

#define HARD(pods) \
	",\"spec\":{\"hard\":{\"pods\":\"" pods "\"}},\"status\":{\"hard\":{\"pods\":\"" pods "\"}}"
#define GATED ",\"spec\":{\"schedulingGates\":[{\"name\":\"kube-arbitrator.io/gang\"},{\"name\":\"a/b\"}]}"
#define MEMBER BY_JOB TRACKED IN_GROUP

static KAR_UNUSED int setup_quota(void **state)
{
	return setup(state);
}

static KAR_UNUSED int teardown_quota(void **state)
{
	return teardown(state);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup_quota, teardown_quota)

/* A job that is about to create its pods. */
static KAR_UNUSED void put_gang(int replicas, int min)
{
	char spec[512];

	snprintf(spec, sizeof(spec),
		",\"spec\":{\"schedSpec\":{\"minAvailable\":%d},\"taskSpecs\":[{\"name\":\"w\",\"replicas\":%d," TEMPLATE
		"}]}",
		min, replicas);
	put_starting(spec);
	check_owner();
}

static KAR_UNUSED void synced(struct kar_store *s)
{
	kar_store_replace_begin(s);
	kar_store_replace_commit(s, ++w.rv);
}

/* The job is refused its first pod: "requested: @what". */
static KAR_UNUSED void refuse_by(const char *quota, const char *what, kar_time mono)
{
	struct kar_err err = { 0 };

	kar_fail(&err, KAR_DENIED, "exceeded quota: %s, requested: %s, used: x", quota, what);
	err.cause = KAR_CAUSE_QUOTA;
	kar_quota_words_read(err.msg, &err.quota);
	kar_create_backoff_note(&w.sync, action_of(QUEUEJOB_CREATE_POD, KAR_CREATE), &err, mono);
}

static KAR_UNUSED void refuse(const char *what, kar_time mono)
{
	refuse_by("few", what, mono);
}

static KAR_UNUSED void start_refused(void)
{
	synced(w.stores.resourcequotas);
	put(w.stores.resourcequotas, "few", "q1", "", HARD("4"));
	put_starting_job();
	check_owner();
	assert_true(sync_key());
	refuse("pods=1", 5000);
	take_all();
}

#endif
