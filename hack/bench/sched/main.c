/*
 * sched_cost - what the placement engine costs: one JSON line for each size of the cluster. Usage: sched_cost [--racks] NODES...
 *
 * sched_cost --racks NODES: the same cluster in four levels (zone, block of 144 nodes, rack of 18, node), gangs that need a rack each
 * beside gangs of the same size without a wish.
 *
 * 16 classes are hot. Gangs are placed until the cluster is half full, then everything is taken back. The other side, in the same run, is
 * a scan: for each pod all nodes are looked at, as a scheduler without classes does.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/sched/sched.h"

enum { CLASSES = 16, ROUNDS = 4000, RACK = 18, BLOCK = 8 * RACK };

static const char *const levels[] = { "topology.kubernetes.io/zone", "example.com/block", "example.com/rack",
	"kubernetes.io/hostname" };
static const struct kar_topology_wish one_rack = { .labels = levels,
	.n_labels = KAR_LEN(levels),
	.required = 3,
	.preferred = 3 };
static const struct kar_topology_wish near = { .labels = levels,
	.n_labels = KAR_LEN(levels),
	.preferred = 3 };

struct bench {
	struct kar_sched *s;
	uint32_t n_nodes;
	kar_class classes[CLASSES];
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void add_node(struct bench *b, uint32_t i, int64_t cpu)
{
	char name[32], zone[16], block[16], rack[16];
	const struct kar_sched_amount has[] = { { "cpu", cpu }, { "memory", (int64_t)256 << 30 },
		{ "ephemeral-storage", (int64_t)1 << 40 }, { "nvidia.com/gpu", i % 2 ? 8 : 0 },
		{ "pods", 110 } };
	const struct kar_sched_label labels[] = { { "kubernetes.io/hostname", name },
		{ "topology.kubernetes.io/zone", zone }, { "example.com/block", block },
		{ "example.com/rack", rack }, { "kubernetes.io/arch", "amd64" },
		{ "kubernetes.io/os", "linux" }, { "node.kubernetes.io/instance-type", "m5.16xlarge" } };
	const struct kar_node_offer node = { .name = name,
		.allocatable = has,
		.n_allocatable = KAR_LEN(has),
		.labels = labels,
		.n_labels = KAR_LEN(labels),
		.ready = true };

	snprintf(name, sizeof(name), "node-%05u", i);
	snprintf(zone, sizeof(zone), "zone-%u", i / BLOCK % 8);
	snprintf(block, sizeof(block), "block-%u", i / BLOCK);
	snprintf(rack, sizeof(rack), "rack-%u", i / RACK);
	kar_sched_node(b->s, &node);
}

static void set_up(struct bench *b, uint32_t n_nodes)
{
	*b = (struct bench){ .s = kar_sched_new(NULL), .n_nodes = n_nodes };
	for (uint32_t i = 0; i < n_nodes; i++)
		add_node(b, i, 64000);
	for (uint32_t i = 0; i < CLASSES; i++) {
		struct kar_sched_amount asks[] = { { "cpu", 1000 * (1 + i % 8) },
			{ "memory", (int64_t)(1 + i) << 30 }, { "nvidia.com/gpu", 1 } };
		struct kar_pod_needs needs = { .amounts = asks, .n_amounts = i % 4 == 3 ? 3 : 2 };

		b->classes[i] = kar_sched_class(b->s, &needs);
		kar_sched_copies(b->s, b->classes[i]);
	}
}

/* Pods per second for gangs of @size until @gangs of them are placed, or one does not fit. */
static double place_with(struct bench *b, const struct kar_topology_wish *wish, int32_t gangs, int32_t size,
	double *worst)
{
	struct kar_arena a = { 0 };
	size_t mark = kar_sched_mark(b->s);
	double begin = now(), last = begin;
	int64_t pods = 0;

	*worst = 0;
	for (int32_t i = 0; i < gangs; i++) {
		const struct kar_role role = { .class = b->classes[i % CLASSES], .need = size };
		const struct kar_gang gang = { .roles = &role, .n_roles = 1, .topology = *wish };
		struct kar_placement p;
		double at;

		if (!kar_sched_place(b->s, &gang, &a, &p))
			break;
		pods += size;
		kar_arena_reset(&a);
		at = now();
		*worst = at - last > *worst ? at - last : *worst;
		last = at;
	}
	begin = (double)pods / (now() - begin);
	kar_sched_undo(b->s, mark);
	kar_arena_release(&a);
	return begin;
}

static double place(struct bench *b, int32_t gangs, int32_t size, double *worst)
{
	static const struct kar_topology_wish none = { 0 };

	return place_with(b, &none, gangs, size, worst);
}

/* Seconds of one question whether a gang fits that cannot. */
static double reject(struct bench *b)
{
	struct kar_arena a = { 0 };
	double begin = now();

	for (uint32_t i = 0; i < 100 * ROUNDS; i++) {
		const struct kar_role role = { .class = b->classes[i % CLASSES], .need = INT32_MAX };
		const struct kar_gang gang = { .roles = &role, .n_roles = 1 };
		struct kar_placement p;

		if (kar_sched_place(b->s, &gang, &a, &p))
			abort();
	}
	begin = (now() - begin) / (100 * ROUNDS);
	kar_arena_release(&a);
	return begin;
}

static double update(struct bench *b)
{
	double begin = now();

	for (uint32_t i = 0; i < ROUNDS; i++)
		add_node(b, i * 7919 % b->n_nodes, 64000 - (int64_t)(i % 2) * 1000);
	return (now() - begin) / ROUNDS;
}

static double bind(struct bench *b)
{
	double begin = now();
	char name[32];

	for (uint32_t i = 0; i < ROUNDS; i++) {
		snprintf(name, sizeof(name), "node-%05u", i * 7919 % b->n_nodes);
		kar_sched_take(b->s, name, b->classes[i % CLASSES], i % 2 ? -1 : 1);
		if (i % 2)
			continue;
		kar_sched_take(b->s, name, b->classes[i % CLASSES], -1);
	}
	return (now() - begin) / (1.5 * ROUNDS);
}

static double first_question(struct bench *b)
{
	const struct kar_sched_amount asks[] = { { "cpu", 1234 }, { "memory", 5 << 20 } };
	const struct kar_pod_needs needs = { .amounts = asks, .n_amounts = 2 };
	kar_class c = kar_sched_class(b->s, &needs);
	double begin = now();

	kar_sched_copies(b->s, c);
	begin = now() - begin;
	kar_sched_class_put(b->s, c);
	return begin / b->n_nodes;
}

/* The other side: pods per second if all nodes are looked at for each pod, and the fullest that fits is taken. */
static double scan(uint32_t n_nodes)
{
	int64_t *cpu = calloc(n_nodes, sizeof(*cpu)), *memory = calloc(n_nodes, sizeof(*memory));
	const uint32_t pods = 200;
	double begin;

	if (!cpu || !memory)
		abort();
	for (uint32_t i = 0; i < n_nodes; i++) {
		cpu[i] = 64000;
		memory[i] = (int64_t)256 << 30;
	}
	begin = now();
	for (uint32_t p = 0; p < pods; p++) {
		uint32_t best = 0;

		for (uint32_t i = 0; i < n_nodes; i++) {
			if (cpu[i] >= 1000 && memory[i] >= (int64_t)1 << 30 && cpu[i] < cpu[best])
				best = i;
		}
		cpu[best] -= 1000;
		memory[best] -= (int64_t)1 << 30;
	}
	begin = pods / (now() - begin);
	free(cpu);
	free(memory);
	return begin;
}

static void measure(uint32_t n_nodes)
{
	static const struct {
		const char *name;
		int32_t gangs, size;
	} shapes[] = { { "1000x10", 1000, 10 }, { "10x1000", 10, 1000 }, { "1x10000", 1, 10000 } };
	struct bench b;
	double worst;

	set_up(&b, n_nodes);
	printf("{\"bench\": \"sched\", \"nodes\": %" PRIu32 ", \"bytes_per_node\": %zu", n_nodes,
		kar_sched_bytes(b.s) / n_nodes);
	for (size_t i = 0; i < KAR_LEN(shapes); i++) {
		double rate = place(&b, shapes[i].gangs, shapes[i].size, &worst);

		printf(", \"%s_pods_per_s\": %.0f, \"%s_worst_us\": %.1f", shapes[i].name, rate,
			shapes[i].name, 1e6 * worst);
	}
	printf(", \"reject_us\": %.3f, \"node_update_us\": %.2f, \"pod_event_us\": %.2f, \"cold_class_ns_per_node\": %.1f, \"scan_pods_per_s\": %.0f}\n",
		1e6 * reject(&b), 1e6 * update(&b), 1e6 * bind(&b), 1e9 * first_question(&b), scan(n_nodes));
	for (uint32_t i = 0; i < CLASSES; i++)
		kar_sched_class_put(b.s, b.classes[i]);
	kar_sched_free(b.s);
}

static void measure_racks(uint32_t n_nodes)
{
	struct bench b;
	double worst, cold, plain, racks, event;
	struct kar_arena a = { 0 };
	struct kar_placement p;
	struct kar_role role;
	struct kar_gang gang;
	size_t mark;

	set_up(&b, n_nodes);
	role = (struct kar_role){ .class = b.classes[0], .need = 10000 };
	gang = (struct kar_gang){ .roles = &role, .n_roles = 1, .topology = near };
	mark = kar_sched_mark(b.s);
	cold = now();
	if (!kar_sched_place(b.s, &gang, &a, &p)) /* it also makes the tree of domains */
		abort();
	cold = now() - cold;
	kar_sched_undo(b.s, mark);
	racks = place_with(&b, &one_rack, 1000, 16, &worst);
	plain = place(&b, 1000, 16, &worst);
	event = update(&b);
	printf("{\"bench\": \"racks\", \"nodes\": %" PRIu32
	       ", \"cold_10000_ms\": %.2f, \"racks_pods_per_s\": %.0f, \"plain_pods_per_s\": %.0f, \"node_update_us\": %.2f, \"pod_event_us\": %.2f}\n",
		n_nodes, 1e3 * cold, racks, plain, 1e6 * event, 1e6 * bind(&b));
	for (uint32_t i = 0; i < CLASSES; i++)
		kar_sched_class_put(b.s, b.classes[i]);
	kar_arena_release(&a);
	kar_sched_free(b.s);
}

int main(int argc, char **argv)
{
	bool racks = argc > 1 && strcmp(argv[1], "--racks") == 0;

	for (int i = 1 + racks; i < argc; i++)
		(racks ? measure_racks : measure)((uint32_t)strtoul(argv[i], NULL, 10));
	return argc < 2;
}
