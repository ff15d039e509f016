/*
 * The simulated default scheduler on random walks of nodes and pods that come and go: counted anew from what the API server
 * has, no node may be overfull, and when all is calm no pod may be left that fits somewhere. The seeds are fixed; a failure
 * names its own.
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

enum { SEEDS = 12, STEPS = 150, NODES = 5, PODS = 40 };

struct room {
	int64_t cpu[NODES], cpu_all[NODES], pods[NODES], pods_all[NODES];
	bool exists[NODES], cordoned[NODES];
};

static int64_t cpu_of(const struct sim_value *pod)
{
	const struct sim_value *c = sim_item(sim_get(pod, "spec", "containers"), 0);

	return atoi(sim_text_or(sim_get(c, "resources", "requests", "cpu"), "0"));
}

static bool ended(const struct sim_value *pod)
{
	const char *phase = sim_text_or(sim_get(pod, "status", "phase"), "");

	return strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0;
}

static void add_node_room(void *arg, const struct sim_value *node)
{
	struct room *room = arg;
	size_t i = (size_t)(sim_get_text(node, "metadata", "name")[1] - '0');

	room->exists[i] = true;
	room->cordoned[i] = sim_bool_of(sim_get(node, "spec", "unschedulable"), false);
	room->cpu_all[i] = atoi(sim_get_text(node, "status", "allocatable", "cpu"));
	room->pods_all[i] = atoi(sim_get_text(node, "status", "allocatable", "pods"));
}

static void add_pod_use(void *arg, const struct sim_value *pod)
{
	const char *node = sim_text_or(sim_get(pod, "spec", "nodeName"), "");
	struct room *room = arg;

	if (!node[0] || ended(pod))
		return;
	room->cpu[node[1] - '0'] += cpu_of(pod);
	room->pods[node[1] - '0']++;
}

static void check_left_pod(void *arg, const struct sim_value *pod)
{
	const struct room *room = arg;

	if (sim_get(pod, "spec", "nodeName") || sim_get(pod, "metadata", "deletionTimestamp"))
		return;
	for (size_t i = 0; i < NODES; i++) {
		if (room->exists[i] && !room->cordoned[i] && room->pods[i] < room->pods_all[i] &&
			room->cpu[i] + cpu_of(pod) <= room->cpu_all[i])
			fail_msg("%s is left, though it fits on n%zu", sim_get_text(pod, "metadata", "name"),
				i);
	}
}

/* Counted anew from what the API server has. */
static void check_room(const struct story *s, uint64_t seed, bool quiet)
{
	struct room room = { 0 };

	sim_apiserver_each(s->server, "", "nodes", add_node_room, &room);
	sim_apiserver_each(s->server, "", "pods", add_pod_use, &room);
	for (size_t i = 0; i < NODES; i++) {
		if (room.exists[i] && (room.cpu[i] > room.cpu_all[i] || room.pods[i] > room.pods_all[i]))
			fail_msg("seed %llu: n%zu has %lld of %lld CPUs, %lld of %lld pods in use",
				(unsigned long long)seed, i, (long long)room.cpu[i],
				(long long)room.cpu_all[i], (long long)room.pods[i],
				(long long)room.pods_all[i]);
	}
	if (quiet)
		sim_apiserver_each(s->server, "", "pods", check_left_pod, &room);
}

static bool is_there(const struct story *s, const char *resource, const char *ns, const char *name)
{
	return sim_apiserver_peek(s->server, "", resource, ns, name) != NULL;
}

static void take_step(struct story *s, struct sim_random *r, bool exists[NODES])
{
	size_t node = sim_random_below(r, NODES), pod = sim_random_below(r, PODS);
	char step[160], name[16];

	snprintf(name, sizeof(name), "p%zu", pod);
	if (sim_random_chance(r, 60) && exists[node]) {
		snprintf(step, sizeof(step), "%s n%zu", sim_random_chance(r, 500) ? "cordon" : "uncordon",
			node);
	} else if (sim_random_chance(r, 80)) {
		snprintf(step, sizeof(step), exists[node] ? "remove n%zu" : "node n%zu cpu=%d pods=%d", node,
			(int)sim_random_between(r, 2, 8), (int)sim_random_between(r, 2, 8));
		exists[node] = !exists[node];
	} else if (is_there(s, "pods", "default", name)) {
		snprintf(step, sizeof(step), "delete %s", name);
	} else {
		snprintf(step, sizeof(step),
			"pod %s cpu=%d class=%s stop-after=%ds outcome=succeed after=%ds", name,
			(int)sim_random_between(r, 1, 4), sim_random_chance(r, 200) ? "high" : "low",
			(int)sim_random_between(r, 0, 3), (int)sim_random_between(r, 1, 120));
	}
	story_do(s, step);
}

/* Until nothing was said for longer than any back-off. */
static void calm_down(struct story *s)
{
	size_t said;

	do {
		said = s->text.n;
		story_do(s, "wait 11s");
	} while (s->text.n != said);
}

/* The story is returned, to be freed by the caller. */
static char *walk(uint64_t seed)
{
	const struct sim_nodes_options o = { .seed = seed, .no_preemption = seed % 2 };
	struct sim_random r = sim_random_of(seed, "walk");
	bool exists[NODES] = { 0 };
	struct story s = { .tell_messages = true };
	char wait[32], *told;

	story_begin(&s, &o, "class low 1; class high 9");
	for (unsigned i = 0; i < STEPS; i++) {
		take_step(&s, &r, exists);
		snprintf(wait, sizeof(wait), "wait %dms", (int)sim_random_below(&r, 4000));
		story_do(&s, wait);
		check_room(&s, seed, false);
		if (i % 25 == 0) {
			calm_down(&s);
			check_room(&s, seed, true);
		}
	}
	told = kar_xstrdup(kar_buf_cstr(&s.text));
	story_end(&s);
	return told;
}

static void nothing_is_overfull_or_left_out(void **state)
{
	size_t bound = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		char *told = walk(seed);

		for (const char *p = told; (p = strstr(p, "Running @")) != NULL; p++)
			bound++;
		free(told);
	}
	assert_true(bound > 500); /* otherwise the walks show nothing */
}

static void the_same_seed_tells_the_same_story(void **state)
{
	char *once = walk(3), *again = walk(3), *other = walk(4);

	(void)state;
	assert_string_equal(once, again);
	assert_string_not_equal(once, other);
	free(once);
	free(again);
	free(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_overfull_or_left_out),
		cmocka_unit_test(the_same_seed_tells_the_same_story),
	};

	return cmocka_run_group_tests_name("sim_scheduler_walk", tests, NULL, NULL);
}
