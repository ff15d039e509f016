/*
 * Simulated nodes that fall silent, come back, are drained or deleted, and what becomes of their pods, told as stories
 * (sim/test/fixture/story.h); and somebody else's pods.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/mem.h"
#include "sim/test/fixture/story.h"

#define NODE(n) "0s " n " new\n"
#define READY(n) "0s " n " Ready\n"
#define POD(p) "0s " p " Pending @n1\n"
#define RUNS(p) "0s " p " Running @n1 ready\n"
#define N1_P1 NODE("n1") NODE("n2") POD("p1") READY("n1") READY("n2") RUNS("p1")

#define WORLD "node n1; node n2; pod p1 on=n1"

static const struct {
	const char *name, *steps, *story;
} stories[] = {
	{ "a_silent_node_is_unknown_then_tainted_then_empty_and_its_pods_terminate_until_it_is_back",
		WORLD "; wait 1s; kill n1; wait 499s; recover n1; wait 10s",
		N1_P1 "41-51s n1 Unknown\n"
		      "41-51s p1 Running @n1\n"
		      "41-51s n1 Unknown unreachable:NoSchedule unreachable:NoExecute\n"
		      "341-351s p1 Running @n1 DeletionByTaintManager\n"
		      "341-351s p1 Running @n1 DeletionByTaintManager terminating\n"
		      "500s p1 Failed @n1 Error(143) DeletionByTaintManager terminating\n"
		      "500s n1 Ready unreachable:NoSchedule unreachable:NoExecute\n"
		      "500s p1 gone\n"
		      "500s n1 Ready" },
	{ "a_short_silence_is_not_noticed", WORLD "; wait 1s; kill n1; wait 38s; recover n1; wait 1h",
		N1_P1 },
	{ "nothing_is_reported_while_the_node_is_silent",
		WORLD " outcome=succeed after=10s; wait 1s; kill n1; wait 29s; recover n1; wait 1h",
		N1_P1 "30s p1 Succeeded @n1 Completed(0)" },
	{ "what_was_deleted_meanwhile_is_stopped_when_the_node_is_back",
		WORLD " stop-after=5s; wait 1s; kill n1; wait 9s; delete p1; wait 20s; recover n1; wait 1h",
		N1_P1 "10s p1 Running @n1 ready terminating\n"
		      "35s p1 Failed @n1 Error(143) terminating\n"
		      "35s p1 gone" },
	{ "a_pod_that_was_bound_to_a_silent_node_waits_for_it",
		"node n1; wait 1s; kill n1; pod p1; wait 20s; recover n1; wait 1s",
		"0s n1 new\n0s n1 Ready\n"
		"1s p1 Pending\n1s p1 Pending @n1\n21s p1 Running @n1 ready" },
	{ "evictions_are_called_off_when_the_node_is_back_in_time",
		WORLD "; wait 1s; kill n1; wait 99s; recover n1; wait 1h",
		N1_P1 "41-51s n1 Unknown\n"
		      "41-51s p1 Running @n1\n"
		      "41-51s n1 Unknown unreachable:NoSchedule unreachable:NoExecute\n"
		      "100s n1 Ready unreachable:NoSchedule unreachable:NoExecute\n"
		      "100s n1 Ready" },
	{ "who_tolerates_for_ever_stays",
		"node n1; node n2; pod p1 on=n1 tolerate=node.kubernetes.io/unreachable:NoExecute; wait 1s; kill n1; wait 1h",
		N1_P1 "41-51s n1 Unknown\n"
		      "41-51s p1 Running @n1\n"
		      "41-51s n1 Unknown unreachable:NoSchedule unreachable:NoExecute" },
	{ "so_does_who_tolerates_for_ages",
		"node n1; node n2; pod p1 on=n1 tolerate=key:NoExecute:9223372036854775807; wait 1s; taint n1 key:NoExecute; wait 1h",
		N1_P1 "1s n1 Ready key:NoExecute" },
	{ "the_pods_own_patience_counts",
		"node n1; node n2; pod p1 on=n1 tolerate=node.kubernetes.io/unreachable:NoExecute:10; wait 1s; kill n1; wait 1h",
		N1_P1 "41-51s n1 Unknown\n"
		      "41-51s p1 Running @n1\n"
		      "41-51s n1 Unknown unreachable:NoSchedule unreachable:NoExecute\n"
		      "51-61s p1 Running @n1 DeletionByTaintManager\n"
		      "51-61s p1 Running @n1 DeletionByTaintManager terminating" },
	{ "power_loss_kills_containers",
		"node n1; node n2; pod p1 on=n1 restart=OnFailure; pod p2 on=n1; wait 1s; kill n1 power; wait 29s; recover n1; wait 5s",
		NODE("n1") NODE("n2") POD("p1") POD("p2") READY("n1") READY("n2") RUNS("p1")
			RUNS("p2") "30s p1 Running @n1 Unknown(255)\n"
				   "30s p2 Failed @n1 Unknown(255)\n"
				   "31s p1 Running @n1 ready restarts=1 after Unknown(255)" },
	{ "out_of_service_frees_the_pods_of_a_dead_node",
		WORLD
		"; wait 1s; kill n1; wait 99s; taint n1 node.kubernetes.io/out-of-service:NoExecute; wait 1h",
		N1_P1
		"41-51s n1 Unknown\n"
		"41-51s p1 Running @n1\n"
		"41-51s n1 Unknown unreachable:NoSchedule unreachable:NoExecute\n"
		"100s n1 Unknown unreachable:NoSchedule unreachable:NoExecute out-of-service:NoExecute\n"
		"100s p1 Running @n1 DeletionByTaintManager\n"
		"100s p1 Running @n1 DeletionByTaintManager terminating\n"
		"119s p1 Failed @n1 DeletionByTaintManager terminating\n"
		"119s p1 gone" },
	{ "a_taint_that_is_not_tolerated_evicts_at_once", WORLD "; wait 1s; taint n1 key:NoExecute; wait 1h",
		N1_P1 "1s n1 Ready key:NoExecute\n"
		      "1s p1 Running @n1 ready DeletionByTaintManager\n"
		      "1s p1 Running @n1 ready DeletionByTaintManager terminating\n"
		      "1s p1 Failed @n1 Error(143) DeletionByTaintManager terminating\n"
		      "1s p1 gone" },

	{ "the_shortest_patience_counts",
		"node n1; node n2; pod p1 on=n1 tolerate=a:NoExecute:5 tolerate=b:NoExecute:20; wait 1s; taint n1 b:NoExecute;"
		"taint n1 a:NoExecute; taint n1 b2:PreferNoSchedule; wait 6s",
		N1_P1 "1s n1 Ready b:NoExecute\n"
		      "1s n1 Ready b:NoExecute a:NoExecute\n"
		      "1s n1 Ready b:NoExecute a:NoExecute b2:PreferNoSchedule\n"
		      "6s p1 Running @n1 ready DeletionByTaintManager\n"
		      "6s p1 Running @n1 ready DeletionByTaintManager terminating\n"
		      "6s p1 Failed @n1 Error(143) DeletionByTaintManager terminating\n"
		      "6s p1 gone" },
	{ "of_the_taints_that_are_there_too",
		"node n1 taint=a:NoExecute taint=b:NoExecute; pod p1 on=n1 tolerate=a:NoExecute:5 tolerate=b:NoExecute:20; wait 5s",
		"0s n1 new a:NoExecute b:NoExecute\n" POD("p1") "0s n1 Ready a:NoExecute b:NoExecute\n" RUNS(
			"p1") "5s p1 Running @n1 ready DeletionByTaintManager\n"
			      "5s p1 Running @n1 ready DeletionByTaintManager terminating\n"
			      "5s p1 Failed @n1 Error(143) DeletionByTaintManager terminating\n"
			      "5s p1 gone" },
	{ "pods_of_a_deleted_node_are_collected", WORLD "; wait 1s; remove n1; wait 1h",
		N1_P1 "1s n1 gone\n"
		      "41-61s p1 Failed @n1 ready DeletionByPodGC\n"
		      "41-61s p1 Failed @n1 ready DeletionByPodGC terminating\n"
		      "41-61s p1 gone" },
	{ "what_had_succeeded_there_stays_so_until_it_is_gone",
		WORLD " outcome=succeed; wait 1s; remove n1; wait 1h",
		N1_P1 "0s p1 Succeeded @n1 Completed(0)\n"
		      "1s n1 gone\n"
		      "41-61s p1 Succeeded @n1 Completed(0) terminating\n"
		      "41-61s p1 gone" },
	{ "finalizers_keep_also_these", WORLD " unending; wait 1s; remove n1; wait 1h; release p1",
		N1_P1 "1s n1 gone\n"
		      "41-61s p1 Failed @n1 ready DeletionByPodGC\n"
		      "41-61s p1 Failed @n1 ready DeletionByPodGC terminating\n"
		      "3601s p1 gone" },
	{ "a_node_that_comes_back_soon_is_a_new_machine",
		WORLD " restart=OnFailure; wait 1s; remove n1; wait 10s; node n1; wait 1h",
		N1_P1 "1s n1 gone\n"
		      "11s n1 new\n"
		      "11s n1 Ready\n"
		      "11s p1 Running @n1 Unknown(255)\n"
		      "12s p1 Running @n1 ready restarts=1 after Unknown(255)" },
	{ "an_unbound_pod_that_only_finalizers_keep_is_marked_failed",
		"node n1; pod p1 unending gated; delete p1; wait 1h",
		"0s n1 new\n"
		"0s p1 Pending SchedulingGated\n"
		"0s p1 Pending SchedulingGated terminating\n"
		"0s n1 Ready\n"
		"19s p1 Failed SchedulingGated terminating" },

	{ "cordon_keeps_new_pods_away", "node n1; node n2; cordon n2; wait 1s; pod p1; uncordon n2; wait 1s",
		NODE("n1") NODE("n2") "0s n2 new cordoned\n"
				      "0s n1 Ready\n"
				      "0s n2 Ready cordoned\n"
				      "0s n2 Ready cordoned unschedulable:NoSchedule\n"
				      "1s p1 Pending\n"
				      "1s n2 Ready unschedulable:NoSchedule\n"
				      "1s p1 Pending @n1\n"
				      "1s n2 Ready\n"
				      "1s p1 Running @n1 ready" },
	{ "drain_evicts_as_budgets_allow",
		"node n1; node n2; budget app:a 1; pod p1 on=n1 label=app:a stop-after=8s; pod p2 on=n1 label=app:a; wait 1s; drain n1;"
		"wait 10s; pod p3 label=app:a; wait 1h",
		NODE("n1") NODE("n2") POD("p1") POD("p2") READY("n1") READY("n2") RUNS("p1")
			RUNS("p2") "1s n1 Ready cordoned\n"
				   "1s n1 Ready cordoned unschedulable:NoSchedule\n"
				   "1s p1 Running @n1 ready EvictionByEvictionAPI\n"
				   "1s p1 Running @n1 ready EvictionByEvictionAPI terminating\n"
				   "9s p1 Failed @n1 Error(143) EvictionByEvictionAPI terminating\n"
				   "9s p1 gone\n"
				   "11s p3 Pending\n"
				   "11s p3 Pending @n2\n"
				   "11s p3 Running @n2 ready\n"
				   "16s p2 Running @n1 ready EvictionByEvictionAPI\n"
				   "16s p2 Running @n1 ready EvictionByEvictionAPI terminating\n"
				   "16s p2 Failed @n1 Error(143) EvictionByEvictionAPI terminating\n"
				   "16s p2 gone" },
	{ "uncordon_calls_a_drain_off",
		"node n1; budget app:a 1; pod p1 on=n1 label=app:a; wait 1s; drain n1; wait 7s; uncordon n1; wait 1s; pod p2 label=app:a; wait 1h",
		NODE("n1") POD("p1") READY("n1")
			RUNS("p1") "1s n1 Ready cordoned\n"
				   "1s n1 Ready cordoned unschedulable:NoSchedule\n"
				   "8s n1 Ready unschedulable:NoSchedule\n"
				   "8s n1 Ready\n9s p2 Pending\n9s p2 Pending @n1\n9s p2 Running @n1 ready" },
	{ "pressure_evicts_the_least_important_one_after_another",
		"class high 9; node n1; pod p1 on=n1 class=high; pod p2 on=n1; wait 1s; pod p3 on=n1; wait 1s; pressure n1 15s; wait 1h",
		"0s n1 new\n" POD("p1") POD("p2") READY("n1") RUNS("p1")
			RUNS("p2") "1s p3 Pending @n1\n"
				   "1s p3 Running @n1 ready\n"
				   "2s n1 Ready MemoryPressure\n"
				   "2s p3 Failed @n1 Evicted Error(137) TerminationByKubelet\n"
				   "2s n1 Ready MemoryPressure memory-pressure:NoSchedule\n"
				   "12s p2 Failed @n1 Evicted Error(137) TerminationByKubelet\n"
				   "317s n1 Ready memory-pressure:NoSchedule\n"
				   "317s n1 Ready" },
};

static void nodes_come_and_go_as_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(stories); i++) {
		struct story s = { .tell_nodes = true };

		story_begin(&s, NULL, stories[i].steps);
		story_expect(&s, stories[i].name, stories[i].story);
		story_end(&s);
	}
}

/* ---- many nodes at once ---- */

static size_t tainted_at(struct story *s, const char *steps)
{
	const char *p;
	size_t n = 0;

	story_do(s, steps);
	for (size_t i = 0; i < 10; i++) {
		char name[16];
		const struct sim_value *taints;

		snprintf(name, sizeof(name), "n%zu", i);
		taints = sim_get(sim_apiserver_peek(s->server, "", "nodes", NULL, name), "spec", "taints");
		for (size_t k = 0; k < sim_count(taints); k++) {
			p = sim_text_or(sim_get(sim_item(taints, k), "effect"), "");
			n += strcmp(p, "NoExecute") == 0;
		}
	}
	return n;
}

#define TEN_NODES \
	"node n0; node n1; node n2; node n3; node n4; node n5; node n6; node n7; node n8; node n9; wait 1s;"
#define KILL_FIVE "kill n0; kill n1; kill n2; kill n3; kill n4;"

static const struct {
	const char *name, *steps;
	struct {
		const char *steps;
		size_t least, most;
	} then[4];
} crowds[] = {
	{ "one_node_per_ten_seconds_in_a_zone", TEN_NODES KILL_FIVE,
		{ { "wait 39s", 0, 0 }, { "wait 11s", 1, 2 }, { "wait 10s", 2, 3 }, { "wait 40s", 5, 5 } } },
	{ "zones_do_not_wait_for_each_other",
		"node n0 zone=a; node n1 zone=b; node n2 zone=a; node n3 zone=b; wait 1s; kill n0; kill n1;",
		{ { "wait 50s", 2, 2 } } },
	{ "none_while_most_of_a_small_zone_is_down", TEN_NODES KILL_FIVE "kill n5;",
		{ { "wait 300s", 0, 5 }, { "recover n0; wait 60s", 5, 5 } } },
	{ "none_while_all_nodes_are_down", "node n0; node n1; wait 1s; kill n0; wait 99s; kill n1;",
		{ { "wait 1s", 1, 1 }, { "wait 60s", 0, 0 }, { "wait 1h", 0, 0 },
			{ "recover n1; wait 60s", 1, 1 } } },
};

static void taints_are_set_with_caution(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(crowds); i++) {
		struct story s = { 0 };

		story_begin(&s, NULL, crowds[i].steps);
		for (size_t k = 0; k < KAR_LEN(crowds[i].then) && crowds[i].then[k].steps; k++) {
			size_t n = tainted_at(&s, crowds[i].then[k].steps);

			if (n < crowds[i].then[k].least || n > crowds[i].then[k].most)
				fail_msg("%s: after '%s' %zu nodes are tainted, expected %zu to %zu",
					crowds[i].name, crowds[i].then[k].steps, n, crowds[i].then[k].least,
					crowds[i].then[k].most);
		}
		story_end(&s);
	}
}

static const struct {
	const char *name;
	size_t kept;
	const char *left[4];
} heaps[] = {
	{ "evicted_ones_first", 3, { "a", "c", "d", "e" } },
	{ "then_the_oldest", 2, { "c", "d", "e" } },
	{ "then_the_next", 1, { "d", "e" } },
};

static void too_many_ended_pods_are_collected(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(heaps); i++) {
		const struct sim_nodes_options o = { .terminated_pods = heaps[i].kept };
		struct story s = { 0 };
		size_t n = 0;

		story_begin(&s, &o,
			"node n1; wait 5s; pod a outcome=fail; wait 1s; pod b outcome=evict; wait 1s; pod c outcome=succeed;"
			"wait 1s; pod d; pod e outcome=succeed; wait 1m");
		for (; n < KAR_LEN(heaps[i].left) && heaps[i].left[n]; n++) {
			if (!sim_apiserver_peek(s.server, "", "pods", "default", heaps[i].left[n]))
				fail_msg("%s: %s is gone", heaps[i].name, heaps[i].left[n]);
		}
		if (sim_apiserver_count(s.server, "", "pods") != n)
			fail_msg("%s: %zu pods are left", heaps[i].name,
				sim_apiserver_count(s.server, "", "pods"));
		story_end(&s);
	}
}

/* Alarms in ten hours of a cluster where nothing happens. */
static const struct {
	const char *name, *world;
	uint64_t most;
} quiet[] = {
	{ "all_is_well", "node n1; pod a; pod b outcome=succeed after=1s; wait 1m", 0 },
	{ "an_unschedulable_pod_is_tried_every_5_minutes", "node n1 cpu=1; pod a cpu=2; wait 1m",
		2 * 12 * 10 + 2 },
	{ "a_dead_node_with_a_terminating_pod", "node n1; node n2; pod p1 on=n1; wait 1s; kill n1; wait 10m",
		0 },
	{ "an_orphan_that_a_finalizer_keeps", "node n1; pod p1 on=n1 unending; wait 1s; remove n1; wait 5m",
		0 },
};

static void a_quiet_cluster_is_quiet(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(quiet); i++) {
		struct story s = { 0 };
		uint64_t steps;

		story_begin(&s, NULL, quiet[i].world);
		steps = sim_timeline_steps(s.timeline);
		story_do(&s, "wait 10h");
		steps = sim_timeline_steps(s.timeline) - steps;
		if (steps > quiet[i].most)
			fail_msg("%s: %llu alarms", quiet[i].name, (unsigned long long)steps);
		story_end(&s);
	}
}

/* ---- objects that are there already ---- */

static void what_is_there_is_taken_over(void **state)
{
	struct story s = { .tell_nodes = true };

	(void)state;
	story_begin_still(&s, NULL, "node n1; pod p1; pod p2 on=n3; budget app:a 1; wait 1s");
	story_run(&s);
	story_do(&s, "wait 1h");
	story_expect(&s, "taken over",
		"0s n1 new\n0s p1 Pending\n0s p2 Pending @n3\n"
		"1s n1 Ready\n1s p1 Pending @n1\n1s p1 Running @n1 ready\n"
		"41-61s p2 Failed @n3 DeletionByPodGC\n41-61s p2 Failed @n3 DeletionByPodGC terminating\n41-61s p2 gone");
	story_end(&s);
}

/* ---- somebody else's pods ---- */

enum { MOST = 6 };

struct crowd {
	size_t now, most_at_once, seen, deleted_early;
};

static void count_pods(void *arg, const struct sim_change *c)
{
	struct crowd *crowd = arg;

	if (strcmp(c->resource, "pods") != 0)
		return;
	crowd->now += !c->old;
	crowd->seen += !c->old;
	crowd->now -= !c->new;
	if (crowd->now > crowd->most_at_once)
		crowd->most_at_once = crowd->now;
	crowd->deleted_early += c->verb == KAR_DELETE && c->new &&strcmp(c->user, "other-user") == 0 &&
		strcmp(sim_text_or(sim_get(c->new, "status", "phase"), ""), "Running") == 0;
}

static struct crowd watch_other_user(uint64_t seed)
{
	const struct sim_other_user_options o = {
		.seed = seed,
		.pause = { 1000, 20000 },
		.run = { 5000, 90000 },
		.cpu_low = 100,
		.cpu_high = 2000,
		.most = MOST,
		.delete_per_mille = 300,
	};
	struct crowd crowd = { 0 };
	struct sim_other_user *u;
	struct story s = { 0 };

	story_begin(&s, NULL, "node n1 cpu=4; node n2 cpu=4");
	sim_apiserver_listen(s.server, count_pods, &crowd);
	u = sim_other_user_new(s.server, &o);
	story_do(&s, "wait 30m");
	sim_other_user_free(u);
	story_end(&s);
	return crowd;
}

static void the_other_user_comes_and_goes(void **state)
{
	struct crowd once = watch_other_user(1), again = watch_other_user(1), other = watch_other_user(2);

	(void)state;
	assert_in_range(once.most_at_once, 3, MOST);
	assert_in_range(once.seen, 40, 400);
	assert_true(once.deleted_early > 0);
	assert_memory_equal(&once, &again, sizeof(once));
	assert_memory_not_equal(&once, &other, sizeof(once));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_come_and_go_as_told),
		cmocka_unit_test(taints_are_set_with_caution),
		cmocka_unit_test(too_many_ended_pods_are_collected),
		cmocka_unit_test(a_quiet_cluster_is_quiet),
		cmocka_unit_test(what_is_there_is_taken_over),
		cmocka_unit_test(the_other_user_comes_and_goes),
	};

	return cmocka_run_group_tests_name("sim_node_lifecycle", tests, NULL, NULL);
}
