/* What queues have had of the cluster, and what their pods have used: in closed form, from their status alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "controllers/queue/pass.h"
#include "test/unit/queue_sync_fixture.h"

#define HOUR (60 * KAR_MINUTE)
enum { ALL = 1000000 };

static int64_t value(int64_t value, int32_t rate, kar_time half_life, kar_time after)
{
	const struct kar_queue_history h = { .time = wall, .value = value, .rate = rate };

	return queue_history_at(&h, half_life, wall + after);
}

static void check_near(const char *what, int64_t got, int64_t want, int64_t by)
{
	if (got < want - by || got > want + by)
		fail_msg("%s: got %lld, want %lld", what, (long long)got, (long long)want);
}

static void history_halves_and_rises(void **state KAR_UNUSED)
{
	static const struct {
		const char *name;
		int64_t value;
		int32_t rate;
		kar_time half_life, after;
		int64_t want;
	} rows[] = {
		{ "nothing_stays_nothing", 0, 0, HOUR, HOUR, 0 },
		{ "at_once", 8000, ALL, HOUR, 0, 8000 },
		{ "one_half_life", 8000, 0, HOUR, HOUR, 4000 },
		{ "three_half_lives", 8000, 0, HOUR, 3 * HOUR, 1000 },
		{ "a_second_of_all", 0, ALL, HOUR, KAR_SECOND, 999903 },
		{ "all_for_ever_is_bounded", 0, ALL, HOUR, 1000 * HOUR, 5193702147 },
		{ "clock_that_goes_back", 8000, ALL, HOUR, -HOUR, 8000 },
		{ "no_half_life_no_history", 8000, ALL, 0, HOUR, 0 },
	};

	for (size_t i = 0; i < KAR_LEN(rows); i++)
		check_near(rows[i].name, value(rows[i].value, rows[i].rate, rows[i].half_life, rows[i].after),
			rows[i].want, 1);
}

/* Queue a used all for an hour, then b does: they are equal after 35 minutes, as 0.5^t = 2/3. */
static void who_had_nothing_goes_first_until_both_had_as_much(void **state KAR_UNUSED)
{
	int64_t a = value(0, ALL, HOUR, HOUR);
	kar_time t = 0;

	while (value(a, 0, HOUR, t) > value(0, ALL, HOUR, t))
		t += KAR_SECOND;
	assert_int_equal(t / KAR_MINUTE, 35);
}

/* One write, or one in each of a hundred parts of the time, as with jobs in a hundred parts, restarts and another leader. */
static void parts_change_nothing(void **state KAR_UNUSED)
{
	struct kar_queue_history h = { .time = wall, .value = 123456789, .rate = 654321 };
	int64_t whole = queue_history_at(&h, HOUR, wall + HOUR);

	for (int i = 1; i <= 100; i++) {
		h.value = queue_history_at(&h, HOUR, wall + i * HOUR / 100);
		h.time = wall + i * HOUR / 100;
	}
	check_near("in parts", h.value, whole, 100);
}

/* --- what the reconciler writes ---------------------------------------------------------------------- */

static const struct kar_action *patch_of(const char *name)
{
	for (size_t i = 0; i < w.sync.plan.n_actions; i++) {
		const struct kar_action *a = &w.sync.plan.actions[i];

		if (a->type == &kar_queue_type && strcmp(a->name, name) == 0)
			return a;
	}
	return NULL;
}

/* A job of as many pods as it says, each of which asks for one cpu of 1000, and is bound if @bound. */
static void put_pods(const char *group, const char *queue, int n, bool bound)
{
	char spec[128], rest[512], name[32];

	snprintf(spec, sizeof(spec), "\"minMember\":%d,\"queue\":\"%s\"", n, queue);
	put_group(group, spec,
		bound ? "\"members\":1,\"phase\":\"Running\",\"admittedQueue\":\"a\"," ADMITTED("True",
				"Admitted", "admitted by queue a")
		      : "");
	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%s-%d", group, i);
		snprintf(rest, sizeof(rest),
			",\"spec\":{%s\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"1\",\"memory\":\"1Gi\"}}}]},"
			"\"status\":{\"phase\":\"%s\"}",
			bound ? "\"nodeName\":\"n1\"," : "", bound ? "Running" : "Pending");
		snprintf(spec, sizeof(spec), ",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"%s\"}", group);
		put_named(w.stores.pods, name, spec, rest);
	}
}

/*
 * Queues a, with @pods of 1000 cpus in use, and b, both below p. The last status of a was written 27 s ago, in half a minute in which it had 10 cpus.
 * @waits: a job of b has no room. What the patch of a contains; NULL: there is none.
 */
static const struct {
	const char *name, *parent, *status;
	int pods;
	bool waits;
	const char *says;
} rows[] = {
	{ "first_use", "", "", 5, false,
		"\"usage\":{\"time\":\"2026-11-21T13:46:27Z\",\"seconds\":null,\"flavors\":null}" },
	{ "used_since", "",
		"\"allocated\":{\"cpu\":\"10\"},\"usage\":{\"time\":\"2026-11-21T13:46:00Z\",\"seconds\":{\"cpu\":\"30\",\"gpu\":\"7\"}}",
		5, false,
		"\"usage\":{\"time\":\"2026-11-21T13:46:27Z\",\"seconds\":{\"cpu\":\"300\",\"gpu\":\"7\"},\"flavors\":null}" },
	{ "used_until_all_ended", "",
		"\"allocated\":{\"cpu\":\"10\"},\"usage\":{\"time\":\"2026-11-21T13:46:00Z\",\"seconds\":{\"cpu\":\"30\"}}",
		0, false,
		"\"usage\":{\"time\":\"2026-11-21T13:46:27Z\",\"seconds\":{\"cpu\":\"300\"},\"flavors\":null}" },
	{ "no_history_without_fairness", "", "", 5, true, "\"history\":null" },
	{ "nothing_is_charged_while_nobody_waits", "\"fairness\":{\"halfLifeSeconds\":60}", "", 5, false,
		"\"history\":null" },
	{ "charged_while_another_waits", "\"fairness\":{\"halfLifeSeconds\":60}", "", 5, true,
		"\"history\":{\"time\":\"2026-11-21T13:46:27Z\",\"value\":0,\"rate\":5000}" },
	{ "charged_always_if_asked_for", "\"fairness\":{\"halfLifeSeconds\":60,\"chargeIdle\":true}", "", 5,
		false, "\"history\":{\"time\":\"2026-11-21T13:46:27Z\",\"value\":0,\"rate\":5000}" },
	{ "goes_on_from_the_last_status", "\"fairness\":{\"halfLifeSeconds\":27}",
		"\"history\":{\"time\":\"2026-11-21T13:46:00Z\",\"value\":80000,\"rate\":0}", 5, false,
		"\"history\":{\"time\":\"2026-11-21T13:46:27Z\",\"value\":40000,\"rate\":0}" },
};

static void status_goes_on_where_the_last_one_ended(void **state)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		char rest[512];

		assert_int_equal(teardown(state), 0); /* a world of its own for each row */
		setup(state);
		print_message("%s\n", rows[i].name);
		snprintf(rest, sizeof(rest), ",\"spec\":{%s},\"status\":{}", rows[i].parent);
		put_named(w.stores.queues, "p", HELD, rest);
		snprintf(rest, sizeof(rest), ",\"spec\":{\"parent\":\"p\"},\"status\":{%s}", rows[i].status);
		put_named(w.stores.queues, "a", HELD, rest);
		put_named(w.stores.queues, "b", HELD,
			",\"spec\":{\"parent\":\"p\",\"maxJobs\":1},\"status\":{}");
		put_pods("g", "a", rows[i].pods, true);
		if (rows[i].waits) {
			put_pods("h", "b", 1, false);
			put_pods("i", "b", 1, false);
		}
		sync_text(false);
		assert_non_null(patch_of("a"));
		check_says(patch_of("a"), rows[i].says);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(history_halves_and_rises),
		cmocka_unit_test(who_had_nothing_goes_first_until_both_had_as_much),
		cmocka_unit_test(parts_change_nothing),
		cmocka_unit_test_setup_teardown(status_goes_on_where_the_last_one_ended, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
