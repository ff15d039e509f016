/* The shell of the QueueJob reconciler where ResourceQuotas are in force: what is observed, who is woken, who goes first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "controllers/queuejob/observe.h"
#include "test/unit/queuejob_quota_fixture.h"

#define COUNT(pods) \
	",\"spec\":{\"hard\":{\"count/pods\":\"" pods "\"}},\"status\":{\"hard\":{\"pods\":\"" pods "\"}}"
#define GPUS ",\"spec\":{\"hard\":{\"requests.example.com/gpu\":\"1\"}}"
#define LONG_40 "requests.example.com/a-name-of-40-bytes-"
#define LONG LONG_40 LONG_40 LONG_40 LONG_40

/* --- observed ------------------------------------------------------------------------------------ */

static bool creates_gated(void)
{
	const struct queuejob_new_pod *pod = action_of(QUEUEJOB_CREATE_POD, KAR_CREATE)->payload;

	return pod->gated;
}

static void quotas_of_the_namespace_count(void **state)
{
	(void)state;
	put_starting_job();
	check_owner();
	assert_true(sync_key());
	assert_false(creates_gated());
	put(w.stores.resourcequotas, "objects", "q0", "", ",\"spec\":{\"hard\":{\"services\":\"4\"}}");
	assert_true(sync_key());
	assert_false(creates_gated());
	assert_false(w.sync.plan.metered);
	put(w.stores.resourcequotas, "some", "q1", "", HARD("4"));
	put(w.stores.resourcequotas, "more", "q2", "", HARD("7"));
	assert_true(sync_key());
	assert_true(creates_gated());
	assert_true(w.sync.plan.metered);
	put(w.stores.resourcequotas, "few", "q3", "", HARD("1"));
	assert_true(sync_key());
	assert_null(find_action(QUEUEJOB_CREATE_POD, KAR_CREATE));
	assert_string_equal(((const struct kar_queuejob_status *)w.sync.plan.status)->message,
		"the minimum of 2 pods exceeds ResourceQuota few, which allows 1; raise the quota or lower minAvailable");
}

/* The requests of the template times the minimum; a raised quota is seen by the job that it concerns. */
static void requests_that_never_fit_are_not_tried(void **state)
{
	static const char spec[] =
		",\"spec\":{\"taskSpecs\":[{\"name\":\"w\",\"replicas\":3,\"template\":{\"spec\":{\"containers\":[{"
		"\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}}]}";
	static const char cpu[] = ",\"spec\":{\"hard\":{\"requests.cpu\":\"%d\"}}";
	char hard[128];

	(void)state;
	synced(w.stores.resourcequotas);
	put_starting(spec);
	check_owner();
	snprintf(hard, sizeof(hard), cpu, 2);
	put(w.stores.resourcequotas, "few", "q1", "", hard);
	assert_true(sync_key());
	assert_null(find_action(QUEUEJOB_CREATE_POD, KAR_CREATE));
	assert_string_equal(((const struct kar_queuejob_status *)w.sync.plan.status)->message,
		"the minimum of 3 pods asks for requests.cpu 3; ResourceQuota few allows 2: never fits; raise the quota or lower "
		"minAvailable");
	take_all();
	snprintf(hard, sizeof(hard), cpu, 3);
	put(w.stores.resourcequotas, "few", "q1", "", hard);
	assert_string_equal(take(), "ns/j");
	assert_true(sync_key());
	assert_true(creates_gated());
}

static void gate_is_removed_by_its_name(void **state)
{
	char want[256];

	(void)state;
	put_starting_job();
	put(w.stores.pods, "j-w-0", "p0", MEMBER, GATED);
	snprintf(want, sizeof(want),
		"{\"metadata\":{\"uid\":\"p0\",\"resourceVersion\":\"%d\"},\"spec\":{\"schedulingGates\":[{"
		"\"$patch\":\"delete\",\"name\":\"kube-arbitrator.io/gang\"}]}}",
		(int)w.rv);
	put(w.stores.pods, "j-w-1", "p1", MEMBER, GATED);
	assert_true(sync_key());
	check_body(action_of(PODSET_UNGATE, KAR_PATCH), want);
	assert_int_equal(action_of(PODSET_UNGATE, KAR_PATCH)->patch_type, KAR_PATCH_STRATEGIC);
	assert_int_equal(count_actions(KAR_PATCH), 4); /* two more put the labels back */
}

static void gated_pod_has_the_gate(void **state)
{
	struct kar_buf out = { 0 };
	struct kar_err err = { 0 };

	(void)state;
	put(w.stores.resourcequotas, "some", "q1", "", HARD("4"));
	put_starting_job();
	check_owner();
	assert_true(sync_key());
	assert_int_equal(w.controller.encode(&w.sync, action_of(QUEUEJOB_CREATE_POD, KAR_CREATE), &out, &err),
		0);
	assert_non_null(
		strstr(kar_buf_cstr(&out), "\"schedulingGates\":[{\"name\":\"kube-arbitrator.io/gang\"}]"));
	kar_buf_release(&out);
}

/* --- woken --------------------------------------------------------------------------------------- */

static void changed_quota_wakes_who_waits(void **state)
{
	(void)state;
	start_refused();
	put(w.stores.resourcequotas, "few", "q1", "", HARD("4")); /* only what is used has changed */
	assert_string_equal(take(), "");
	put(w.stores.resourcequotas, "few", "q1", "",
		",\"spec\":{\"hard\":{\"pods\":\"4\"}},\"status\":{\"hard\":{\"pods\":\"5\"}}");
	assert_string_equal(take(), "ns/j");
	kar_quota_place_try(w.state.backoff->entry);
	kar_store_delete(w.stores.resourcequotas, "ns", "few", "q1", 5000);
	assert_string_equal(take(), "ns/j");
	assert_true(kar_quota_place_is_woken(w.state.backoff->entry));
}

/* Whether or not they wait. */
static void new_limit_is_looked_at_by_all_jobs(void **state)
{
	(void)state;
	synced(w.stores.resourcequotas);
	put_job(SPEC);
	take_all();
	put(w.stores.resourcequotas, "few", "q1", "", HARD("4"));
	assert_string_equal(take(), "ns/j");
	put(w.stores.resourcequotas, "few", "q1", "", HARD("3"));
	assert_string_equal(take(), "ns/j");
	put(w.stores.resourcequotas, "few", "q1", "", HARD("3"));
	assert_string_equal(take(), "");
}

static void limit_concerns_neither_other_namespaces_nor_what_is_over(void **state)
{
	static const char elsewhere[] =
		"{\"metadata\":{\"namespace\":\"other\",\"name\":\"j\",\"uid\":\"o-uid\","
		"\"resourceVersion\":\"9\"}" SPEC "}";

	(void)state;
	synced(w.stores.resourcequotas);
	put_job(SPEC COMPLETED);
	kar_store_apply(w.stores.queuejobs, object_from_json(&kar_queuejob_type, elsewhere, w.strings));
	take_all();
	put(w.stores.resourcequotas, "few", "q1", "", HARD("4"));
	assert_string_equal(take(), "");
}

/* "count/pods" is charged for what has ended until its object is gone; "pods" is not, and others are woken by the end. */
static void ended_pod_that_is_gone_is_room_where_objects_are_counted(void **state)
{
	static const char *const quotas[] = { HARD("4"), COUNT("4") };

	(void)state;
	for (size_t i = 0; i < KAR_LEN(quotas); i++) {
		start_refused();
		put(w.stores.resourcequotas, "few", "q1", "", quotas[i]);
		put(w.stores.pods, "other", "p0", "", ",\"status\":{\"phase\":\"Succeeded\"}");
		kar_quota_place_try(w.state.backoff->entry);
		kar_store_delete(w.stores.pods, "ns", "other", "p0", ++w.rv);
		assert_int_equal(kar_quota_place_is_woken(w.state.backoff->entry), i == 1);
		kar_create_backoff_forget(&w.controller, &w.state);
	}
}

/* The room that a job gives back is news to the others, who were refused because of it, and not to itself. */
static void pods_taken_back_wake_the_others_only(void **state)
{
	static const char *const phases[] = { "", GATED };

	(void)state;
	for (size_t i = 0; i < KAR_LEN(phases); i++) {
		start_refused();
		put(w.stores.pods, "j-w-0", "p0", MEMBER, phases[i]);
		kar_store_delete(w.stores.pods, "ns", "j-w-0", "p0", ++w.rv);
		assert_int_equal(kar_quota_place_is_woken(w.state.backoff->entry), i == 0);
		kar_create_backoff_forget(&w.controller, &w.state);
	}
}

/* --- who goes first ------------------------------------------------------------------------------ */

static const struct {
	const char *name, *quota, *lacks; /* spec of the quota; what another job with a higher rank lacks */
	const char *template;             /* of the job: a container */
	bool waits;
} needs[] = {
	{ "every_pod_is_a_pod", HARD("4"), "pods=1", "{\"name\":\"c\"}", true },
	{ "every_pod_asks_for_cpu", HARD("4"), "requests.cpu=1", "{\"name\":\"c\"}", true },
	{ "and_memory", HARD("4"), "limits.memory=1Gi", "{\"name\":\"c\"}", true },
	{ "nothing_is_known", HARD("4"), "", "{\"name\":\"c\"}", true },
	{ "it_needs_no_gpu", GPUS, "requests.example.com/gpu=1", "{\"name\":\"c\"}", false },
	{ "it_needs_a_gpu", GPUS, "requests.example.com/gpu=1",
		"{\"name\":\"c\",\"resources\":{\"limits\":{\"example.com/gpu\":\"1\"}}}", true },
	{ "one_of_several", GPUS, "requests.example.com/gpu=1,pods=1", "{\"name\":\"c\"}", true },
	{ "quota_with_scopes", ",\"spec\":{\"hard\":{\"pods\":\"4\"},\"scopes\":[\"Terminating\"]}", "pods=1",
		"{\"name\":\"c\"}", false },
};

static void put_job_of(const char *container)
{
	char spec[512];

	snprintf(spec, sizeof(spec),
		",\"spec\":{\"taskSpecs\":[{\"name\":\"w\",\"replicas\":2,\"template\":{\"spec\":{\"containers\":[%s]}}}]}",
		container);
	put_starting(spec);
	check_owner();
}

static void who_may_need_the_same_waits_behind(void **state)
{
	const struct kar_rank high = { .tier = KAR_TIER_MINIMUM, .priority = 9 };

	(void)state;
	for (size_t i = 0; i < KAR_LEN(needs); i++) {
		struct kar_quota_place *place;
		char text[256];

		put(w.stores.resourcequotas, "few", "q1", "", needs[i].quota);
		put_job_of(needs[i].template);
		snprintf(text, sizeof(text), "exceeded quota: few, requested: %s, used: x", needs[i].lacks);
		place = kar_quota_line_join(queuejob_shared(&w.controller)->quotas, NULL, "ns", "ns/high",
			&high, text, false);
		assert_true(sync_key());
		kar_create_backoff_hold_creates(&w.sync);
		if ((count_actions(KAR_CREATE) == 0) != needs[i].waits)
			fail_msg("%s", needs[i].name);
		kar_create_backoff_forget(&w.controller, &w.state);
		kar_quota_line_leave(place);
	}
}

static void waiting_behind_is_told_and_ends(void **state)
{
	const struct kar_rank high = { .tier = KAR_TIER_MINIMUM, .priority = 9 };
	const struct kar_queuejob_status *st;
	struct kar_quota_place *place;

	(void)state;
	put(w.stores.resourcequotas, "few", "q1", "", HARD("4"));
	put_starting_job();
	check_owner();
	place = kar_quota_line_join(queuejob_shared(&w.controller)->quotas, NULL, "ns", "ns/high", &high,
		"exceeded quota: few, requested: pods=1, used: x", false);
	assert_true(sync_key());
	kar_create_backoff_hold_creates(&w.sync);
	assert_int_equal(w.sync.plan.requeue_after, 1);
	assert_true(sync_key());
	st = w.sync.plan.status;
	assert_string_equal(st->reason, "QuotaExceeded");
	assert_string_equal(st->message,
		"cannot create pods ns/j-w-0: ns/high goes first and lacks pods: exceeded quota few");
	assert_int_equal(w.sync.plan.n_events, 0); /* nobody has refused anything */
	kar_create_backoff_hold_creates(&w.sync);
	assert_int_equal(count_actions(KAR_CREATE), 0);
	take_all();
	kar_quota_line_leave(place);
	assert_string_equal(take(), "ns/j");
	assert_true(sync_at(6000));
	kar_create_backoff_hold_creates(&w.sync);
	assert_int_equal(count_actions(KAR_CREATE), 2);
}

/* What the API server has said to the first in line, and what those behind it are told. */
static const struct {
	const char *said, *told;
} lacks[] = {
	{ "exceeded quota: few, requested: pods=1, used: x",
		"cannot create pods ns/j-w-0: ns/high goes first and lacks pods: exceeded quota few" },
	{ "exceeded quota: few, requested: " LONG "=1, used: x",
		"cannot create pods ns/j-w-0: ns/high goes first and lacks what the quota refused: exceeded quota few" },
	{ "exceeded quota",
		"cannot create pods ns/j-w-0: ns/high goes first and lacks what the quota refused: exceeded quota" },
};

static void what_could_not_be_read_is_not_told(void **state)
{
	const struct kar_rank high = { .tier = KAR_TIER_MINIMUM, .priority = 9 };

	(void)state;
	put(w.stores.resourcequotas, "few", "q1", "", HARD("4"));
	put_starting_job();
	check_owner();
	for (size_t i = 0; i < KAR_LEN(lacks); i++) {
		struct kar_quota_place *place = kar_quota_line_join(queuejob_shared(&w.controller)->quotas,
			NULL, "ns", "ns/high", &high, lacks[i].said, false);
		const struct kar_queuejob_status *st;

		assert_true(sync_key());
		kar_create_backoff_hold_creates(&w.sync);
		assert_true(sync_key());
		st = w.sync.plan.status;
		assert_string_equal(st->reason, "QuotaExceeded");
		assert_string_equal(st->message, lacks[i].told);
		kar_create_backoff_forget(&w.controller, &w.state);
		kar_quota_line_leave(place);
	}
}

static bool stands_behind(void)
{
	struct queuejob_view v;

	assert_true(sync_key());
	assert_true(queuejob_observe(&w.stores, &w.sync, &w.sync.arena, &v));
	return v.stands_behind;
}

/* Others, who lack the same, are tried first. */
static void place_in_the_line_is_observed(void **state)
{
	const struct kar_rank high = { .tier = KAR_TIER_MINIMUM, .priority = 9 };
	struct kar_quota_place *place;

	(void)state;
	start_refused();
	assert_false(stands_behind());
	place = kar_quota_line_join(queuejob_shared(&w.controller)->quotas, NULL, "ns", "ns/high", &high,
		"exceeded quota: few, requested: pods=1, used: x", false);
	assert_true(stands_behind());
	kar_quota_line_leave(place);
	assert_false(stands_behind());
}

/* What is said of the job at @mono; "" if that is nothing new. */
static const char *reason_at(kar_time mono)
{
	const struct kar_queuejob_status *st;

	assert_true(sync_at(mono));
	kar_create_backoff_hold_creates(&w.sync);
	st = w.sync.plan.status;
	return st ? st->reason : "";
}

/* It takes a moment for a surplus pod to go; if it does not, because something holds up its deletion, others could use the place. */
static void place_is_kept_while_a_surplus_pod_goes(void **state)
{
	(void)state;
	start_refused();
	put(w.stores.pods, "j-w-7", "p7", MEMBER, ",\"status\":{\"phase\":\"Running\"}");
	assert_string_equal(reason_at(6000), "QuotaExceeded");
	assert_int_equal(count_actions(KAR_CREATE), 0);
	assert_int_equal(w.sync.plan.requeue_after, 5000);
	assert_string_equal(reason_at(10999), "QuotaExceeded");
	assert_non_null(w.state.backoff->entry);
	assert_string_equal(reason_at(11000), "QuotaExceeded");
	assert_null(w.state.backoff);
	assert_int_equal(w.sync.plan.requeue_after, 1);
	assert_string_equal(reason_at(11001), "Starting");
}

/* --- quotas with scopes -------------------------------------------------------------------------- */

/* What the job and one that goes first were refused by; is the job in its way? */
static const struct {
	const char *name, *mine, *other;
	bool waits;
} scopes[] = {
	{ "both_by_one_for_all", "few", "few", true },
	{ "by_others_for_all", "few", "many", true },
	{ "the_other_by_one_that_may_not_hold_for_the_job", "few", "high", false },
	{ "by_different_ones_with_scopes", "low", "high", false },
	{ "the_other_by_one_that_holds_for_all", "low", "few", true },
	{ "both_by_one_with_scopes", "low", "low", true },
};

static void put_scoped(const char *name, const char *class)
{
	char rest[512];

	snprintf(rest, sizeof(rest),
		",\"spec\":{\"hard\":{\"pods\":\"4\"},\"scopeSelector\":{\"matchExpressions\":[{"
		"\"scopeName\":\"PriorityClass\",\"operator\":\"In\",\"values\":[\"%s\"]}]}}",
		class);
	put(w.stores.resourcequotas, name, name, "", rest);
}

/* A second job, as far as it is refused. */
static void refuse_other(struct kar_key_state *state, const char *quota)
{
	struct kar_sync s = { .controller = &w.controller, .key = "ns/high", .state = state };
	const struct kar_action a = { .verb = KAR_CREATE,
		.type = &kar_pod_type,
		.ns = "ns",
		.name = "p",
		.rank = { .tier = KAR_TIER_MINIMUM, .priority = 9 } };
	struct kar_err err = { 0 };

	kar_fail(&err, KAR_DENIED, "exceeded quota: %s, requested: pods=1, used: x", quota);
	err.cause = KAR_CAUSE_QUOTA;
	s.object = kar_store_get(w.stores.queuejobs, "ns", "j"); /* any: its namespace is looked at */
	kar_create_backoff_note(&s, &a, &err, 5000);
}

static void quota_with_scopes_holds_up_nobody_else(void **state)
{
	(void)state;
	put(w.stores.resourcequotas, "few", "q1", "", HARD("4"));
	put(w.stores.resourcequotas, "many", "q2", "", HARD("9"));
	put_scoped("high", "high");
	put_scoped("low", "low");
	put_gang(2, 2);
	for (size_t i = 0; i < KAR_LEN(scopes); i++) {
		struct kar_key_state other = { 0 };

		assert_true(sync_key());
		refuse_by(scopes[i].mine, "pods=1", 5000);
		refuse_other(&other, scopes[i].other);
		assert_true(sync_at(60000));
		kar_create_backoff_hold_creates(&w.sync);
		kar_create_backoff_forget(&w.controller, &w.state);
		kar_create_backoff_forget(&w.controller, &other);
		if ((count_actions(KAR_CREATE) == 0) != scopes[i].waits)
			fail_msg("%s", scopes[i].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(quotas_of_the_namespace_count),
		TEST(requests_that_never_fit_are_not_tried),
		TEST(gate_is_removed_by_its_name),
		TEST(gated_pod_has_the_gate),
		TEST(changed_quota_wakes_who_waits),
		TEST(new_limit_is_looked_at_by_all_jobs),
		TEST(limit_concerns_neither_other_namespaces_nor_what_is_over),
		TEST(pods_taken_back_wake_the_others_only),
		TEST(who_may_need_the_same_waits_behind),
		TEST(waiting_behind_is_told_and_ends),
		TEST(what_could_not_be_read_is_not_told),
		TEST(place_in_the_line_is_observed),
		TEST(place_is_kept_while_a_surplus_pod_goes),
		TEST(ended_pod_that_is_gone_is_room_where_objects_are_counted),
		TEST(quota_with_scopes_holds_up_nobody_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
