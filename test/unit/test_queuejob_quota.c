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
#include "controllers/quota_line.h"
#include "test/unit/queuejob_sync_fixture.h"

#define HARD(pods) \
	",\"spec\":{\"hard\":{\"pods\":\"" pods "\"}},\"status\":{\"hard\":{\"pods\":\"" pods "\"}}"
#define COUNT(pods) \
	",\"spec\":{\"hard\":{\"count/pods\":\"" pods "\"}},\"status\":{\"hard\":{\"pods\":\"" pods "\"}}"
#define GPUS ",\"spec\":{\"hard\":{\"requests.example.com/gpu\":\"1\"}}"
#define GATED ",\"spec\":{\"schedulingGates\":[{\"name\":\"kube-arbitrator.io/gang\"},{\"name\":\"a/b\"}]}"
#define LONG_40 "requests.example.com/a-name-of-40-bytes-"
#define LONG LONG_40 LONG_40 LONG_40 LONG_40
#define MEMBER BY_JOB TRACKED IN_GROUP

static int setup_line(void **state)
{
	int rc = setup(state);

	w.controller.line = kar_quota_line_new(w.controller.queue);
	return rc;
}

static int teardown_line(void **state)
{
	kar_refusal_forget(&w.state);
	kar_quota_line_free(w.controller.line);
	return teardown(state);
}

/* A job that is about to create its pods. */
static void put_gang(int replicas, int min)
{
	char spec[512], rest[1024];

	snprintf(spec, sizeof(spec),
		",\"spec\":{\"schedSpec\":{\"minAvailable\":%d},\"taskSpecs\":[{\"name\":\"w\",\"replicas\":%d," TEMPLATE
		"}]}",
		min, replicas);
	put_job(spec);
	snprintf(rest, sizeof(rest),
		"%s,\"status\":{\"phase\":\"Starting\",\"incarnation\":1,\"templateHash\":\"%s\",\"observedGeneration\":1,"
		"\"conditions\":[{\"type\":\"Formed\",\"status\":\"False\",\"reason\":\"Starting\",\"message\":\"\"}]}",
		spec, kar_as_queuejob(kar_store_get(w.stores.queuejobs, "ns", "j"))->spec_template_hash);
	put_job(rest);
	put_children(true);
	check_owner();
}

static void synced(struct kar_store *s)
{
	kar_store_replace_begin(s);
	kar_store_replace_commit(s, ++w.rv);
}

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
	put(w.stores.resourcequotas, "some", "q1", "", HARD("4"));
	put(w.stores.resourcequotas, "more", "q2", "", HARD("7"));
	assert_true(sync_key());
	assert_true(creates_gated());
	put(w.stores.resourcequotas, "few", "q3", "", HARD("1"));
	assert_true(sync_key());
	assert_null(find_action(QUEUEJOB_CREATE_POD, KAR_CREATE));
	assert_string_equal(((const struct kar_queuejob_status *)w.sync.plan.status)->message,
		"the minimum of 2 pods does not fit into ResourceQuota few, which allows 1");
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
	check_body(action_of(QUEUEJOB_UNGATE_POD, KAR_PATCH), want);
	assert_int_equal(action_of(QUEUEJOB_UNGATE_POD, KAR_PATCH)->patch_type, KAR_PATCH_STRATEGIC);
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

/* The job is refused its first pod: "requested: @what". */
static void refuse_by(const char *quota, const char *what, kar_time mono)
{
	struct kar_err err = { 0 };

	kar_fail(&err, KAR_DENIED, "exceeded quota: %s, requested: %s, used: x", quota, what);
	kar_refusal_note(&w.sync, action_of(QUEUEJOB_CREATE_POD, KAR_CREATE), &err, mono);
}

static void refuse(const char *what, kar_time mono)
{
	refuse_by("few", what, mono);
}

static void start_refused(void)
{
	synced(w.stores.resourcequotas);
	put(w.stores.resourcequotas, "few", "q1", "", HARD("4"));
	put_starting_job();
	check_owner();
	assert_true(sync_key());
	refuse("pods=1", 5000);
	take_all();
}

static void changed_quota_wakes_who_waits(void **state)
{
	(void)state;
	start_refused();
	put(w.stores.resourcequotas, "few", "q1", "", HARD("4")); /* only what is used has changed */
	assert_string_equal(take(), "");
	put(w.stores.resourcequotas, "few", "q1", "",
		",\"spec\":{\"hard\":{\"pods\":\"4\"}},\"status\":{\"hard\":{\"pods\":\"5\"}}");
	assert_string_equal(take(), "ns/j");
	kar_quota_place_try(w.state.refusal->place);
	kar_store_delete(w.stores.resourcequotas, "ns", "few", "q1", 5000);
	assert_string_equal(take(), "ns/j");
	assert_true(kar_quota_place_is_woken(w.state.refusal->place));
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
	put_job(SPEC ",\"status\":{\"phase\":\"Completed\"}");
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
		kar_quota_place_try(w.state.refusal->place);
		kar_store_delete(w.stores.pods, "ns", "other", "p0", ++w.rv);
		assert_int_equal(kar_quota_place_is_woken(w.state.refusal->place), i == 1);
		kar_refusal_forget(&w.state);
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
		assert_int_equal(kar_quota_place_is_woken(w.state.refusal->place), i == 0);
		kar_refusal_forget(&w.state);
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
	char rest[1024];

	snprintf(rest, sizeof(rest),
		",\"spec\":{\"taskSpecs\":[{\"name\":\"w\",\"replicas\":2,\"template\":{\"spec\":{\"containers\":[%s]}}}]}",
		container);
	put_job(rest);
	snprintf(rest, sizeof(rest),
		",\"spec\":{\"taskSpecs\":[{\"name\":\"w\",\"replicas\":2,\"template\":{\"spec\":{\"containers\":[%s]}}}]}" STARTING,
		container, kar_as_queuejob(kar_store_get(w.stores.queuejobs, "ns", "j"))->spec_template_hash);
	put_job(rest);
	put_children(true);
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
		place = kar_quota_line_join(w.controller.line, NULL, "ns", "ns/high", &high, text, false);
		assert_true(sync_key());
		kar_refusal_hold_creates(&w.sync);
		if ((count_actions(KAR_CREATE) == 0) != needs[i].waits)
			fail_msg("%s", needs[i].name);
		kar_refusal_forget(&w.state);
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
	place = kar_quota_line_join(w.controller.line, NULL, "ns", "ns/high", &high,
		"exceeded quota: few, requested: pods=1, used: x", false);
	assert_true(sync_key());
	kar_refusal_hold_creates(&w.sync);
	assert_int_equal(w.sync.plan.requeue_after, 1);
	assert_true(sync_key());
	st = w.sync.plan.status;
	assert_string_equal(st->reason, "QuotaExceeded");
	assert_string_equal(st->message,
		"cannot create pods ns/j-w-0: ns/high goes first and lacks pods: exceeded quota few");
	assert_int_equal(w.sync.plan.n_events, 0); /* nobody has refused anything */
	kar_refusal_hold_creates(&w.sync);
	assert_int_equal(count_actions(KAR_CREATE), 0);
	take_all();
	kar_quota_line_leave(place);
	assert_string_equal(take(), "ns/j");
	assert_true(sync_at(6000));
	kar_refusal_hold_creates(&w.sync);
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
		struct kar_quota_place *place = kar_quota_line_join(w.controller.line, NULL, "ns", "ns/high",
			&high, lacks[i].said, false);
		const struct kar_queuejob_status *st;

		assert_true(sync_key());
		kar_refusal_hold_creates(&w.sync);
		assert_true(sync_key());
		st = w.sync.plan.status;
		assert_string_equal(st->reason, "QuotaExceeded");
		assert_string_equal(st->message, lacks[i].told);
		kar_refusal_forget(&w.state);
		kar_quota_line_leave(place);
	}
}

/* --- a refused minimum --------------------------------------------------------------------------- */

static void refusal_outlives_what_is_taken_back(void **state)
{
	(void)state;
	start_refused();
	put(w.stores.pods, "j-w-0", "p0", MEMBER, GATED);
	assert_true(sync_key());
	assert_int_equal(action_of(QUEUEJOB_DELETE_POD, KAR_DELETE)->rv, w.rv); /* not once it was let go */
	assert_true(w.sync.plan.unfinished);
	kar_refusal_hold_creates(&w.sync);
	assert_non_null(w.state.refusal);
	assert_int_equal(w.state.refusal->taken_back, 1);
	kar_store_delete(w.stores.pods, "ns", "j-w-0", "p0", ++w.rv);
	assert_true(sync_key());
	assert_non_null(strstr(((const struct kar_queuejob_status *)w.sync.plan.status)->message,
		"; rolled back 1 of 2 pods, waits for room"));
	kar_refusal_hold_creates(&w.sync);
	assert_int_equal(count_actions(KAR_CREATE), 0);
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
	place = kar_quota_line_join(w.controller.line, NULL, "ns", "ns/high", &high,
		"exceeded quota: few, requested: pods=1, used: x", false);
	assert_true(stands_behind());
	kar_quota_line_leave(place);
	assert_false(stands_behind());
}

/* What has been let out and is not refused yet goes on, though its time has not come again. */
static void try_under_way_is_not_taken_back(void **state)
{
	(void)state;
	start_refused();
	for (int i = 0; i < 10; i++)
		refuse("pods=1", 5000);
	kar_quota_line_wake(w.controller.line, "ns");
	assert_true(sync_at(6000));
	kar_refusal_hold_creates(&w.sync);
	assert_int_equal(count_actions(KAR_CREATE), 2);
	put(w.stores.pods, "j-w-0", "p0", MEMBER, GATED);
	assert_true(sync_at(6001));
	assert_null(find_action(QUEUEJOB_DELETE_POD, KAR_DELETE));
	kar_refusal_hold_creates(&w.sync);
	assert_int_equal(count_actions(KAR_CREATE), 1);
	refuse("pods=1", 6002);
	assert_true(sync_at(6003));
	assert_non_null(find_action(QUEUEJOB_DELETE_POD, KAR_DELETE));
}

/* Who may not try any more does not keep what its last try has made: those who go first may wait for that. */
static void try_that_is_overtaken_is_taken_back(void **state)
{
	const struct kar_rank high = { .tier = KAR_TIER_MINIMUM, .priority = 9 };
	struct kar_quota_place *place;

	(void)state;
	put(w.stores.resourcequotas, "few", "q1", "", HARD("4"));
	put_gang(3, 3);
	put(w.stores.pods, "j-w-0", "p0", MEMBER, ",\"status\":{\"phase\":\"Running\"}");
	assert_true(sync_key());
	refuse("pods=1", 5000);
	assert_true(sync_at(6000));
	kar_refusal_hold_creates(&w.sync);
	assert_int_equal(count_actions(KAR_CREATE), 2);
	/* No answer about the other; then the first is lost. */
	put(w.stores.pods, "j-w-1", "p1", MEMBER, GATED);
	kar_store_delete(w.stores.pods, "ns", "j-w-0", "p0", ++w.rv);
	place = kar_quota_line_join(w.controller.line, NULL, "ns", "ns/high", &high,
		"exceeded quota: few, requested: pods=1, used: x", false);
	assert_true(sync_at(6001));
	kar_refusal_hold_creates(&w.sync);
	kar_quota_line_leave(place);
	assert_int_equal(count_actions(KAR_CREATE), 0);
	assert_int_equal(w.sync.plan.requeue_after, 1);
	assert_true(sync_at(6002));
	assert_non_null(find_action(QUEUEJOB_DELETE_POD, KAR_DELETE));
}

/* --- what else it does while it waits ------------------------------------------------------------ */

static void children_are_repaired_while_pods_wait(void **state)
{
	const struct kar_rank high = { .tier = KAR_TIER_MINIMUM, .priority = 9 };
	struct kar_quota_place *place;

	(void)state;
	start_refused();
	place = kar_quota_line_join(w.controller.line, NULL, "ns", "ns/high", &high,
		"exceeded quota: few, requested: pods=1, used: x", false);
	kar_store_delete(w.stores.podgroups, "ns", "j", "g-uid", ++w.rv);
	assert_true(sync_at(60000));
	kar_refusal_hold_creates(&w.sync);
	kar_quota_line_leave(place);
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
	kar_refusal_hold_creates(&w.sync);
	assert_null(w.state.refusal); /* somebody else's is in the way, which may last */
	start_refused();
	kar_store_delete(w.stores.schedulingspecs, "ns", "j", "s-uid", ++w.rv);
	put(w.stores.schedulingspecs, "j", "s3-uid", ",\"labels\":{\"kube-arbitrator.io/queuejob\":\"j\"}",
		",\"spec\":{}");
	put(w.stores.queuejobs, "k", "k-uid", "", ""); /* what is known of jobs is newer */
	assert_true(sync_at(5100));
	assert_non_null(find_action(QUEUEJOB_ADOPT, KAR_PATCH));
	kar_refusal_hold_creates(&w.sync);
	assert_non_null(w.state.refusal);
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
	kar_refusal_hold_creates(&w.sync);
	assert_non_null(w.state.refusal);
}

/* --- extras -------------------------------------------------------------------------------------- */

static enum kar_qj_phase next_phase(void)
{
	const struct kar_queuejob_status *st = w.sync.plan.status;

	return st ? st->phase : KAR_QJ_PHASE_NONE;
}

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
	kar_refusal_hold_creates(&w.sync);
	assert_int_equal(count_actions(KAR_CREATE), 1);
	refuse("pods=1", 5000);
	kar_store_delete(w.stores.pods, "ns", "j-w-1", "p1", ++w.rv);
	assert_true(sync_at(later));
	assert_int_not_equal(next_phase(), KAR_QJ_PHASE_RESTARTING);
	kar_refusal_hold_creates(&w.sync);
	assert_int_equal(count_actions(KAR_CREATE), 1);
	refuse("pods=1", later); /* now it does */
	assert_true(sync_at(later + KAR_MINUTE - 1));
	assert_int_not_equal(next_phase(), KAR_QJ_PHASE_RESTARTING);
	assert_true(sync_at(later + KAR_MINUTE));
	assert_int_equal(next_phase(), KAR_QJ_PHASE_RESTARTING);
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
	s.object = kar_store_get(w.stores.queuejobs, "ns", "j"); /* any: its namespace is looked at */
	kar_refusal_note(&s, &a, &err, 5000);
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
		kar_refusal_hold_creates(&w.sync);
		kar_refusal_forget(&w.state);
		kar_refusal_forget(&other);
		if ((count_actions(KAR_CREATE) == 0) != scopes[i].waits)
			fail_msg("%s", scopes[i].name);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup_line, teardown_line)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(quotas_of_the_namespace_count),
		TEST(gate_is_removed_by_its_name),
		TEST(gated_pod_has_the_gate),
		TEST(changed_quota_wakes_who_waits),
		TEST(new_limit_is_looked_at_by_all_jobs),
		TEST(limit_concerns_neither_other_namespaces_nor_what_is_over),
		TEST(pods_taken_back_wake_the_others_only),
		TEST(who_may_need_the_same_waits_behind),
		TEST(waiting_behind_is_told_and_ends),
		TEST(what_could_not_be_read_is_not_told),
		TEST(refusal_outlives_what_is_taken_back),
		TEST(place_in_the_line_is_observed),
		TEST(try_under_way_is_not_taken_back),
		TEST(try_that_is_overtaken_is_taken_back),
		TEST(ended_pod_that_is_gone_is_room_where_objects_are_counted),
		TEST(children_are_repaired_while_pods_wait),
		TEST(repair_of_a_child_forgets_no_refusal),
		TEST(repair_at_a_first_start_forgets_no_refusal),
		TEST(refused_extra_takes_no_minimum_back),
		TEST(quota_with_scopes_holds_up_nobody_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
