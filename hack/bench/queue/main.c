/*
 * queue_cost - what the pass over all groups costs: one JSON line for each number of waiting groups. Usage: queue_cost GROUPS...
 *
 * 1,000 queues, flat and in three levels, and 5,000 nodes that are full: each runs a gang. In the play
 *   full     all queues are within their rights, so that nobody who waits can start or take anything: the state in which a pass is made
 *            most often
 *   ends     the same, and each gang says when it ends: those that wait might all use the room of the first of them until it can start
 *   extras   every second queue has gangs of which half are extras, the others have whole gangs and those that wait; all use twice what
 *            they have a right to, so that nobody may take or move anything
 *   takers   the same, but groups of ten queues that have a right and nothing take extras
 *   reclaim  the same without extras: they evict gangs
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common/queue/queue.h"

enum { NODES = 5000, QUEUES = 1000, PER_QUEUE = NODES / QUEUES, SHAPES = 8, ROUNDS = 5, SLOTS = 8 };

enum play { FULL, ENDS, EXTRAS, TAKERS, RECLAIM, PLAYS };
static const char *const names_of_plays[] = { "full", "ends", "extras", "takers", "reclaim" };

struct bench {
	struct kar_arena a;
	struct kar_sched *sched;
	struct kar_queue_snapshot s;
	struct kar_queue_in *queues;
	struct kar_queue_group *groups;
	const char **nodes;
	kar_class classes[SHAPES];
	enum play play;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void add_nodes(struct bench *b)
{
	static const struct kar_sched_amount has[] = { { "cpu", SLOTS * 1000 },
		{ "memory", (int64_t)64 << 30 }, { "pods", 110 } };
	static struct kar_sched_amount all[3];

	b->nodes = kar_arena_alloc(&b->a, NODES, sizeof(*b->nodes));
	for (uint32_t i = 0; i < NODES; i++) {
		struct kar_node_offer node = { .allocatable = has, .n_allocatable = 3, .ready = true };

		b->nodes[i] = node.name = kar_arena_printf(&b->a, "node-%05u", i);
		kar_sched_node(b->sched, &node);
	}
	for (uint32_t i = 0; i < 3; i++)
		all[i] = (struct kar_sched_amount){ has[i].resource, NODES * has[i].amount };
	b->s.alloc = (struct kar_queue_amounts){ all, 3 };
	for (uint32_t i = 0; i < SHAPES; i++) {
		struct kar_sched_amount asks[] = { { "cpu", 1000 }, { "memory", (int64_t)(1 + i) << 28 } };
		struct kar_pod_needs needs = { .amounts = asks, .n_amounts = 2 };

		b->classes[i] = kar_sched_class(b->sched, &needs);
	}
}

static bool is_full(const struct bench *b)
{
	return b->play == FULL || b->play == ENDS;
}

/* It has a right, and nothing runs in it. */
static bool is_poor(const struct bench *b, uint32_t queue)
{
	return (b->play == TAKERS || b->play == RECLAIM) && queue % 100 == 99;
}

/* What runs in it may grow, and nothing waits in it. */
static bool is_elastic(const struct bench *b, uint32_t queue)
{
	return (b->play == EXTRAS || b->play == TAKERS) && queue % 2 == 0;
}

/* The first 10 are top queues, the next 90 below those, the others below these; or all are top queues. */
static void add_queues(struct bench *b, bool tree)
{
	/* What runs is within it; or half of it, which is that of the minima. */
	static const struct kar_sched_amount large[] = { { "cpu", 2 * PER_QUEUE * SLOTS * 1000 } },
					     half[] = { { "cpu", PER_QUEUE * SLOTS * 1000 / 2 } };

	b->queues = kar_arena_alloc(&b->a, QUEUES, sizeof(*b->queues));
	for (uint32_t i = 0; i < QUEUES; i++) {
		uint32_t parent = i < 100 ? i % 10 : 10 + i % 90;

		b->queues[i] = (struct kar_queue_in){ .name = kar_arena_printf(&b->a, "queue-%04u", i),
			.weight = is_full(b) ? 1 + (int32_t)i % 3 : 1,
			.parent = tree && i >= 10 ? b->queues[parent].name : NULL,
			.deserved = { is_full(b) || is_poor(b, i) ? large : half, !tree || i >= 100 },
			.reserved_for = KAR_QUEUE_NONE };
	}
	b->s.queues = b->queues;
	b->s.n_queues = QUEUES;
}

static struct kar_queue_group *add_group(struct bench *b, uint32_t queue, int32_t min, int32_t left)
{
	uint32_t i = b->s.n_groups++;
	struct kar_queue_run *run = kar_arena_alloc(&b->a, 1, sizeof(*run));

	*run = (struct kar_queue_run){ .class = b->classes[i % SHAPES], .n = left };
	b->groups[i] = (struct kar_queue_group){ .ns = "team",
		.name = kar_arena_printf(&b->a, "job-%06u", i),
		.queue = queue,
		.queue_name = b->queues[queue].name,
		.also_in = KAR_QUEUE_NONE,
		.evicted_by = KAR_QUEUE_NONE,
		.base = (int32_t)(i % 4) * 10,
		.creation = KAR_SECOND * (1000 + (kar_time)i),
		.runs = run,
		.n_runs = 1,
		.min = min,
		.runs_for = b->play == ENDS ? 60 * KAR_MINUTE : 0,
		.elastic = true };
	return &b->groups[i];
}

/* Each node is filled by one group. */
static void add_running(struct bench *b, uint32_t i, uint32_t first)
{
	uint32_t queue = first + i % (QUEUES - first);
	bool elastic = is_elastic(b, queue - is_poor(b, queue));
	struct kar_queue_group *g = add_group(b, queue - is_poor(b, queue), elastic ? SLOTS / 2 : SLOTS,
		elastic ? 2 * SLOTS : SLOTS);
	struct kar_queue_seat *seat = kar_arena_alloc(&b->a, 1, sizeof(*seat));

	*seat = (struct kar_queue_seat){ b->nodes[i], SLOTS, true, KAR_SECOND };
	((struct kar_queue_run *)(uintptr_t)g->runs)->seats = seat;
	((struct kar_queue_run *)(uintptr_t)g->runs)->n_seats = 1;
	g->standing = KAR_QUEUE_ADMITTED;
	g->phase = KAR_QUEUE_RUNS;
	g->desired = SLOTS;
	g->released = true;
	g->admitted_at = g->formed_at = KAR_SECOND;
	g->ends_at = b->play == ENDS ? 200000 * KAR_SECOND : 0;
	kar_sched_take(b->sched, b->nodes[i], g->runs->class, SLOTS);
}

/* The other nodes are full of pods that belong to no group. */
static void add_foreign(struct bench *b, uint32_t first)
{
	static struct kar_sched_amount used[3];

	used[0] = (struct kar_sched_amount){ "cpu", (NODES - first) * SLOTS * 1000 };
	used[1] = (struct kar_sched_amount){ "memory", (int64_t)(NODES - first) * SLOTS << 28 };
	used[2] = (struct kar_sched_amount){ "pods", (NODES - first) * SLOTS };
	for (uint32_t i = first; i < NODES; i++)
		kar_sched_take(b->sched, b->nodes[i], b->classes[0], SLOTS);
	b->s.foreign = (struct kar_queue_amounts){ used, 3 };
}

static uint32_t queue_of_waiting(const struct bench *b, uint32_t queue)
{
	return is_elastic(b, queue) ? queue + 1 : queue;
}

static void measure(uint32_t waiting, bool tree, enum play play)
{
	struct bench b = { .sched = kar_sched_new(NULL), .play = play };
	const uint32_t first = tree ? 100 : 0, running = PER_QUEUE * (QUEUES - first);
	double best = 0;
	size_t bytes = 0;
	int steps = 0, started = 0, gave = 0;

	add_nodes(&b);
	add_queues(&b, tree);
	b.groups = kar_arena_alloc(&b.a, NODES + waiting, sizeof(*b.groups));
	for (uint32_t i = 0; i < running; i++)
		add_running(&b, i, first);
	add_foreign(&b, running);
	for (uint32_t i = 0; i < waiting; i++)
		add_group(&b, queue_of_waiting(&b, first + i % (QUEUES - first)), 1 + (int32_t)(i % 16), 16);
	b.s.groups = b.groups;
	b.s.sched = b.sched;
	b.s.flags = (struct kar_queue_flags){ 1000, 600 * KAR_SECOND, 300 * KAR_SECOND, 60 * KAR_SECOND,
		60 * KAR_SECOND };
	for (int round = 0; round < (best < 1 ? ROUNDS : 1); round++) {
		struct kar_arena a = { 0 };
		struct kar_queue_result r;
		double begin = now(), took;

		kar_queue_plan(&b.s, 100000 * KAR_SECOND, &a, &r);
		took = now() - begin;
		best = !round || took < best ? took : best;
		bytes = kar_arena_bytes(&a);
		steps = (int)r.steps;
		for (uint32_t i = 0; !round && i < b.s.n_groups; i++) {
			started += r.groups[i].reason == KAR_QR_RESERVING ||
				(i >= running && r.groups[i].standing == KAR_QUEUE_ADMITTED);
			gave += i < running && r.groups[i].desired < b.groups[i].desired;
		}
		kar_arena_release(&a);
	}
	printf("{\"bench\": \"queue\", \"shape\": \"%s\", \"waiting\": %" PRIu32
	       ", \"play\": \"%s\", \"queues\": %d, \"nodes\": %d, \"pass_ms\": %.2f, \"bytes\": %zu, \"steps\": %d, \"started\": %d, \"gave\": %d}\n",
		tree ? "3 levels" : "flat", waiting, names_of_plays[play], QUEUES, NODES, 1e3 * best, bytes,
		steps, started, gave);
	for (uint32_t i = 0; i < SHAPES; i++)
		kar_sched_class_put(b.sched, b.classes[i]);
	kar_sched_free(b.sched);
	kar_arena_release(&b.a);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		for (int k = 0; k < 2 * PLAYS; k++)
			measure((uint32_t)strtoul(argv[i], NULL, 10), k % 2, (enum play)(k / 2));
	}
	return argc < 2;
}
