/* Pods of no queue that may be evicted (decision 092): which ones these are, what is asked of the API server, and what it refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/base/str.h"
#include "controllers/queue/backoffs.h"
#include "test/unit/queue_sync_fixture.h"

#define OWNED(kind) \
	",\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"" kind \
	"\",\"name\":\"o\",\"uid\":\"uid-o\",\"controller\":true}]"
#define REFERS \
	",\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"ReplicaSet\",\"name\":\"o\",\"uid\":\"uid-o\"}]"
#define STOPS(time) ",\"deletionTimestamp\":\"" time "\",\"deletionGracePeriodSeconds\":30"
#define WAITS "patch podgroups/status ns/g (Admitted=False/InsufficientCapacity position=1)"
#define RESERVES "patch podgroups/status ns/g (Admitted=False/Reserving position=1)"
#define STARTS "patch podgroups/status ns/g (Admitted=True/Admitted position=0 placed)"
#define EVICTS(pod) "create pods/eviction ns/" pod " (evicted for ns/g: priority 0 over -10)"

static void put_other(const char *name, const char *meta, const char *labels, int priority, const char *spec)
{
	char more[512], rest[512];

	snprintf(more, sizeof(more), "%s,\"labels\":{%s}", meta, labels);
	snprintf(rest, sizeof(rest),
		",\"spec\":{\"nodeName\":\"n1\",\"priority\":%d,%s\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"2\"}}}]},\"status\":{\"phase\":\"Running\"}",
		priority, spec);
	put_named(w.stores.pods, name, more, rest);
}

/* A group of one gated pod of 2 cpu; n1 has 2. */
static void put_taker(void)
{
	put_queue("default", "");
	put_node("n1", "2", "");
	put_group("g", "\"minMember\":1", "");
	put_named(w.stores.pods, "p", ",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"g\"}" OWNED("Job"),
		",\"spec\":{\"schedulingGates\":[{\"name\":\"kube-arbitrator.io/gang\"}],\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"2\"}}}]}");
}

static const struct {
	const char *name, *meta, *labels;
	int priority;
	const char *spec, *plan;
} rows[] = {
	{ "of_a_replica_set", OWNED("ReplicaSet"), "", -10, "", RESERVES "; " EVICTS("o") },
	{ "of_the_priority_of_the_limit", OWNED("ReplicaSet"), "", -5, "", WAITS },
	{ "that_nobody_controls", REFERS, "", -10, "", WAITS },
	{ "that_nobody_owns", "", "", -10, "", WAITS },
	{ "of_a_daemon_set", OWNED("DaemonSet"), "", -10, "", WAITS },
	{ "static", OWNED("Node"), "", -10, "", WAITS },
	{ "of_a_gang", OWNED("ReplicaSet"), "\"scheduling.x-k8s.io/pod-group\":\"other\"", -10, "", WAITS },
	{ "with_a_claim_of_devices", OWNED("ReplicaSet"), "", -10,
		"\"resourceClaims\":[{\"name\":\"c\",\"resourceClaimName\":\"c\"}],", WAITS },
	{ "that_is_gone_in_a_moment", STOPS("2026-11-21T13:46:40Z") OWNED("ReplicaSet"), "", -10, "",
		STARTS },
	{ "that_stops_for_an_hour", STOPS("2026-11-21T14:46:40Z") OWNED("ReplicaSet"), "", -10, "",
		RESERVES },
	{ "that_should_be_gone", STOPS("2026-11-21T13:40:00Z") OWNED("ReplicaSet"), "", -10, "", WAITS },
};

static void begin(void)
{
	kar_preemptible_set(w.stores.preemptible, (struct kar_preemptible_limit){ .on = true, .below = -5 });
	put_taker();
}

static void only_pods_that_come_again_are_evicted(void **state)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const char *got;

		assert_int_equal(teardown(state), 0); /* a world of its own for each */
		setup(state);
		begin();
		put_other("o", rows[i].meta, rows[i].labels, rows[i].priority, rows[i].spec);
		got = sync_text(true);
		if (strcmp(got, rows[i].plan))
			fail_msg("pod %s: got \"%s\", want \"%s\"", rows[i].name, got, rows[i].plan);
	}
}

static void without_the_flag_all_stay(void **state KAR_UNUSED)
{
	put_taker();
	put_other("o", OWNED("ReplicaSet"), "", -10, "");
	assert_string_equal(sync_text(true), WAITS);
}

static void the_eviction_is_of_this_pod_alone(void **state KAR_UNUSED)
{
	const struct kar_action *a;

	begin();
	put_other("o", OWNED("ReplicaSet"), "", -10, "");
	assert_string_equal(sync_text(true), RESERVES "; " EVICTS("o"));
	a = &w.sync.plan.actions[0];
	check_says(a, "capacity is held; pod ns/o of no queue is still stopping");
	assert_string_equal(a->event->note, "evicts pod ns/o of no queue for it");
	a = &w.sync.plan.actions[1];
	check_says(a, "\"kind\":\"Eviction\",\"metadata\":{\"name\":\"o\",\"namespace\":\"ns\"}");
	check_says(a, "\"preconditions\":{\"uid\":\"uid-o\"}");
	assert_true(w.controller.still_wanted(&w.sync, a));
	put_other("o", STOPS("2026-11-21T13:46:40Z") OWNED("ReplicaSet"), "", -10, "");
	assert_false(w.controller.still_wanted(&w.sync, a));
}

static void put_budget_named(const char *name, int allowed)
{
	char rest[256];

	snprintf(rest, sizeof(rest),
		",\"spec\":{\"selector\":{\"matchLabels\":{\"a\":\"b\"}}},\"status\":{\"observedGeneration\":1,\"disruptionsAllowed\":%d}",
		allowed);
	put_named(w.stores.disruptionbudgets, name, ",\"generation\":1", rest);
}

static void put_budget(int allowed)
{
	put_budget_named("b", allowed);
}

/* Whatever they allow: the API server answers 500 to such an eviction, and always will. */
static void nobody_with_two_budgets_is_evicted(void **state KAR_UNUSED)
{
	begin();
	put_other("o", OWNED("ReplicaSet"), "\"a\":\"b\"", -10, "");
	put_budget_named("b", 1);
	put_budget_named("c", 1);
	assert_string_equal(sync_text(true), WAITS);
	check_says(&w.sync.plan.actions[0],
		"pod ns/o of no queue stays: it has more than one PodDisruptionBudget, and the API server evicts no such pod");
}

/* The gang needs the room of both; one has a budget. */
static void who_has_a_budget_goes_first(void **state KAR_UNUSED)
{
	begin();
	put_node("n1", "4", "");
	put_named(w.stores.pods, "p", ",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"g\"}" OWNED("Job"),
		",\"spec\":{\"schedulingGates\":[{\"name\":\"kube-arbitrator.io/gang\"}],\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"4\"}}}]}");
	put_other("o1", OWNED("ReplicaSet"), "", -10, "");
	put_other("o2", OWNED("ReplicaSet"), "\"a\":\"b\"", -10, "");
	put_budget(0);
	assert_string_equal(sync_text(true), WAITS);
	check_says(&w.sync.plan.actions[0], "pod ns/o2 of no queue stays: PodDisruptionBudget ns/b");
	end_sync();
	w.mono += 1000;
	put_budget(1);
	assert_string_equal(sync_text(true), RESERVES "; " EVICTS("o2"));
	end_sync();
	w.mono += 1000;
	put_other("o2", STOPS("2026-11-21T13:46:40Z") OWNED("ReplicaSet"), "\"a\":\"b\"", -10, "");
	put_budget(0);
	assert_string_equal(sync_text(true), RESERVES "; " EVICTS("o1"));
}

static void who_was_refused_is_asked_for_later(void **state KAR_UNUSED)
{
	struct kar_err err = { .what = KAR_RETRY, .http = 429, .msg = "evict: the budget says no" };
	const struct kar_action *a;
	const char *key;

	begin();
	put_other("o", OWNED("ReplicaSet"), "", -10, "");
	assert_string_equal(sync_text(true), RESERVES "; " EVICTS("o"));
	a = &w.sync.plan.actions[1];
	assert_true(a->may_refuse);
	while ((key = kar_workqueue_take(w.controller.queue, w.mono)))
		kar_workqueue_done(w.controller.queue, key);
	w.controller.refused(&w.sync, a, &err);
	assert_null(kar_workqueue_take(w.controller.queue, w.mono));
	key = kar_workqueue_take(w.controller.queue,
		w.mono + KAR_SECOND); /* it is decided again, in a moment */
	assert_non_null(key);
	kar_workqueue_done(w.controller.queue, key);
	end_sync();
	w.mono += 1000;
	assert_string_equal(sync_text(true), WAITS);
	check_says(&w.sync.plan.actions[0], "pod ns/o of no queue stays: evict: the budget says no");
	end_sync();
	w.mono += 10000;
	assert_string_equal(sync_text(true), RESERVES "; " EVICTS("o"));
}

static void backoffs_last_ever_longer(void **state KAR_UNUSED)
{
	static const kar_time lasts[] = { 10, 20, 40, 80, 160, 320, 600, 600 };
	struct queue_backoffs *r = queue_backoffs_new();
	kar_time now = 1, in = 0;

	assert_null(queue_backoffs_of(r, "u", now, &in));
	for (size_t i = 0; i < KAR_LEN(lasts); i++) {
		queue_backoffs_note(r, "u", "no", 10 * KAR_MINUTE, now);
		assert_string_equal(queue_backoffs_of(r, "u", now + 1000, &in), "no");
		assert_int_equal(in, (lasts[i] - 1) * 1000);
		assert_null(queue_backoffs_of(r, "v", now, &in));
		now += lasts[i] * 1000;
		assert_null(queue_backoffs_of(r, "u", now, &in));
	}
	queue_backoffs_sweep(r, now);
	queue_backoffs_note(r, "u", "no", 10 * KAR_MINUTE, now);
	queue_backoffs_of(r, "u", now, &in);
	assert_int_equal(in, 600000);
	queue_backoffs_sweep(r, now + 60 * KAR_MINUTE);
	queue_backoffs_note(r, "u", "no", 10 * KAR_MINUTE, now);
	queue_backoffs_of(r, "u", now, &in);
	assert_int_equal(in, 10000);
	queue_backoffs_free(r);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(only_pods_that_come_again_are_evicted),
		TEST(without_the_flag_all_stay),
		TEST(the_eviction_is_of_this_pod_alone),
		TEST(nobody_with_two_budgets_is_evicted),
		TEST(who_has_a_budget_goes_first),
		TEST(who_was_refused_is_asked_for_later),
		TEST(backoffs_last_ever_longer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
