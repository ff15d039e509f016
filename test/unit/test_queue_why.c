/*
 * Why a group waits: a row for each reason of section 8 of docs/design/queue.md. The group that is asked about is called j.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/status/reasons.h"
#include "common/kube/kubeconfig.h"
#include "test/unit/queue_world.h"

struct row {
	const char *name, *world, *expected;
};

/* As world_answer(), with the text of a claim. */
static const char *answer(struct world *w, uint32_t group)
{
	const struct kar_queue_decision *d = &w->r.groups[group];

	return d->standing == KAR_QUEUE_RESERVING ? kar_arena_printf(&w->a, "Reserving: %s", d->text)
						  : world_answer(w, group);
}

typedef const char *answer_fn(struct world *w, uint32_t group);

static void check_rows(const struct row *rows, size_t n, answer_fn *answer_of)
{
	bool wrong = false;

	for (size_t i = 0; i < n; i++) {
		struct world w;
		const char *found;

		world_begin(&w, rows[i].world);
		world_plan(&w);
		found = answer_of(&w, world_find(&w, "j"));
		if (strcmp(found, rows[i].expected) != 0) {
			print_error("%s:\n  expected %s\n  found    %s\n", rows[i].name, rows[i].expected,
				found);
			wrong = true;
		}
		world_end(&w);
	}
	assert_false(wrong);
}

static void queues(void **state)
{
	static const struct row rows[] = {
		{ "no queue", "node n cpu=9; group j a 1 cpu=1",
			"QueueNotFound: there is no queue a; it is admitted when somebody creates one" },
		{ "parent is missing", "node n cpu=9; queue a under=b; group j a 1 cpu=1",
			"QueueInvalid: queue a is invalid: parent b does not exist" },
		{ "cycle", "node n cpu=9; queue a under=b; queue b under=a; group j a 1 cpu=1",
			"QueueInvalid: queue a is invalid: parent b is in a cycle" },
		{ "too deep",
			"node n cpu=9; queue a; queue b under=a; queue c under=b; queue d under=c; queue e under=d; group j e 1 cpu=1",
			"QueueInvalid: queue e is invalid: parent d is too deep" },
		{ "not a leaf", "node n cpu=9; queue a; queue b under=a; group j a 1 cpu=1",
			"QueueNotLeaf: queue a has child queues: name one of them" },
		{ "closed", "node n cpu=9; queue a closed; group j a 1 cpu=1",
			"QueueClosed: queue a is closed" },
		{ "deleted", "node n cpu=9; queue a deleting; group j a 1 cpu=1",
			"QueueClosed: queue a is being deleted" },
		{ "parent closed", "node n cpu=9; queue t closed; queue a under=t; group j a 1 cpu=1",
			"QueueClosed: queue a is closed: its parent t is" },
		{ "the caller's word", "node n cpu=9; queue a; group j a 1 cpu=1 ineligible=BackOff",
			"BackOff: the caller says so" },
		{ "not a leaf goes before what the caller says",
			"node n cpu=9; queue a; queue b under=a; group j a 1 cpu=1 ineligible=BackOff",
			"QueueNotLeaf: queue a has child queues: name one of them" },
		{ "suspension goes before all", "node n cpu=9; group j a 1 cpu=1 ineligible=Suspended",
			"Suspended: the caller says so" },
		{ "a Strict head",
			"node n cpu=9; queue a strict; group h a 9 cpu=1; group i a 1 cpu=1 run=1; group j a 1 cpu=1",
			"BehindHead: queue a is StrictFIFO: default/h goes first" },
		{ "jobs", "node n cpu=9; queue a jobs=2; 2*group h a 1 cpu=1 run=1; group j a 1 cpu=1",
			"MaxJobsReached: queue a has 2 of 2 jobs" },
		{ "jobs of the parent",
			"node n cpu=9; queue t jobs=1; queue a under=t; group h a 1 cpu=1 run=1; group j a 1 cpu=1",
			"MaxJobsReached: queue t has 1 of 1 jobs" },
		{ "capability",
			"node n cpu=20; queue a cap=cpu:10; group h a 9 cpu=1 run=9; group j a 4 cpu=1",
			"QueueCapability: insufficient cpu: 4 requested, 1 of 10 free (3 short), queue a has capability 10" },
	};

	(void)state;
	check_rows(rows, KAR_LEN(rows), answer);
}

static void never(void **state)
{
	static const struct row rows[] = {
		{ "more than there is", "node n cpu=10; queue a; queue b g=cpu:3 n=cpu:3; group j a 8 cpu=1",
			"GuaranteeReserved: insufficient cpu: 8 requested, 7 of 10 free (1 short), held for guarantees of other queues: 3 cpu are free but guaranteed to queue b" },
		{ "without what is foreign", "node n cpu=10; queue a; foreign cpu=4 on=n; group j a 8 cpu=1",
			"InsufficientCapacity: insufficient cpu: 8 requested, 6 of 10 free (2 short), taken by pods of no queue: 4 cpu" },
		{ "capability", "node n cpu=10; queue a cap=cpu:2; group j a 3 cpu=1",
			"Infeasible: insufficient cpu: 3 requested, 2 of 2 free (1 short), queue a has capability 2" },
		{ "capability of the parent",
			"node n cpu=10; queue t cap=cpu:2; queue a under=t; group j a 3 cpu=1",
			"Infeasible: insufficient cpu: 3 requested, 2 of 2 free (1 short), queue t has capability 2" },
		{ "the most short of all", "node n cpu=10 gpu=2; queue a; group j a 4 cpu=3 gpu=1",
			"Infeasible: insufficient nvidia.com/gpu: 4 requested, 2 of 2 free (2 short)" },
		{ "memory in the unit that fits",
			"node n cpu=10 memory=1073741824; queue a; group j a 1 memory=3221225472",
			"Infeasible: a pod asks for 3Gi memory, the largest node has 1Gi" },
		{ "the missing part rounded up to Mi",
			"node n cpu=10 memory=1073741824; queue a; group j a 1 memory=1073741825",
			"Infeasible: a pod asks for 1.1Gi memory, the largest node has 1Gi" },
		{ "a pod that is larger than a node, however many there are",
			"4*node n cpu=64; queue a; group j a 3 cpu=100",
			"Infeasible: a pod asks for 100 cpu, the largest node has 64" },
		{ "or than those that it may use",
			"node n cpu=64; node m cpu=200 !gpu; queue a; group j a 2 cpu=100",
			"Infeasible: a pod asks for 100 cpu, the largest node that it may use has 64" },
		{ "what no node has", "node n cpu=64; queue a; group j a 2 gpu=4",
			"Infeasible: a pod asks for 4 nvidia.com/gpu, no node has any" },
		{ "cordoned nodes", "4*node n cpu=64; 6*node m cpu=64 cordoned; queue a; group j a 6 cpu=60",
			"InsufficientCapacity: insufficient cpu: 360 requested, 256 of 256 free (104 short), nodes: 6 cordoned, 4 lack cpu (short 112)" },
		{ "tainted, cordoned and not ready nodes",
			"3*node n cpu=8; 4*node c cpu=8 cordoned; 2*node t cpu=8 !gpu; node r cpu=8 notready; queue a; group j a 6 cpu=8",
			"InsufficientCapacity: insufficient cpu: 48 requested, 40 of 40 free (8 short), nodes: 4 cordoned, 3 lack cpu (short 24), 2 tainted (gpu), 1 not ready" },
		{ "one that does not choose", "node n cpu=8; 2*node t cpu=8 !gpu; queue a; group j a 2 cpu=8",
			"Infeasible: 1 of 2 pods fit on empty nodes: 2 tainted (gpu), 1 lacks cpu (short 8)" },
		{ "pods of no queue", "4*node n cpu=64; queue a; foreign cpu=156 on=n1; group j a 3 cpu=40",
			"InsufficientCapacity: insufficient cpu: 120 requested, 100 of 256 free (20 short), taken by pods of no queue: 156 cpu" },
		{ "pods of no queue and guarantees, neither of which is the only reason",
			"4*node n cpu=64; queue a; queue b g=cpu:40 n=cpu:40; foreign cpu=156 on=n1; group j a 3 cpu=40",
			"InsufficientCapacity: insufficient cpu: 120 requested, 60 of 256 free (60 short), taken by pods of no queue: 156 cpu, 40 cpu are free but guaranteed to queue b" },
		{ "guarantees of all that there is",
			"node n cpu=64; queue a; queue b g=cpu:60 n=cpu:60; group i b 60 cpu=1 run=60; group j a 8 cpu=1",
			"GuaranteeReserved: insufficient cpu: 8 requested, 4 of 64 free (4 short), held for guarantees of other queues: 60 cpu are guaranteed to queue b" },
		{ "guarantees of more than there is",
			"node n cpu=10; queue a; queue b g=cpu:50 n=cpu:50; group j a 3 cpu=1",
			"GuaranteeReserved: insufficient cpu: 3 requested, 0 of 10 free (3 short), held for guarantees of other queues: 10 cpu are free but guaranteed to queue b" },
		{ "guarantees of several",
			"node n cpu=64; queue a; queue b g=cpu:20 n=cpu:20; queue c g=cpu:40 n=cpu:40; group j a 8 cpu=1",
			"GuaranteeReserved: insufficient cpu: 8 requested, 4 of 64 free (4 short), held for guarantees of other queues: 60 cpu are free but guaranteed to queues b, c" },
		{ "two resources of a quota at once",
			"node n cpu=9; queue a; quota default c pods=3 requests.cpu=4; group j a 5 cpu=1",
			"QuotaInfeasible: insufficient pods: 5 requested, 3 of 3 free (2 short), quota c allows 3; insufficient requests.cpu: 5 requested, 4 of 4 free (1 short), quota c allows 4" },
		{ "empty nodes", "node n cpu=3; node m cpu=3; queue a; group j a 3 cpu=2",
			"Infeasible: 2 of 3 pods fit on empty nodes: 2 nodes lack cpu (short 1)" },
		{ "empty nodes, whatever pods of no queue have",
			"node n cpu=3; node m cpu=3; queue a; foreign cpu=2 on=n; foreign cpu=2 on=m; group j a 3 cpu=2",
			"Infeasible: 2 of 3 pods fit on empty nodes: 2 nodes lack cpu (short 1)" },
		{ "empty nodes, cordoned and not ready ones included",
			"node n cpu=3; node m cpu=3 cordoned; node r cpu=3 notready; queue a; group j a 4 cpu=2",
			"Infeasible: 3 of 4 pods fit on empty nodes: 3 nodes lack cpu (short 1)" },
		{ "nodes that no uncordoning would help",
			"node n cpu=3 !gpu; node m cpu=3 !gpu cordoned; node r cpu=3 !gpu notready; queue a; group j a 1 cpu=2",
			"Infeasible: 0 of 1 pods fit on empty nodes: 3 tainted (gpu)" },
		{ "empty nodes, with pods of the queue on them",
			"node n cpu=3; node m cpu=3; queue a; group h a 2 cpu=3 run=2 on=n:1,m:1; group j a 3 cpu=2",
			"Infeasible: 2 of 3 pods fit on empty nodes: 2 nodes lack cpu (short 1)" },
		{ "a quota", "node n cpu=9; queue a; quota default c pods=3; group j a 5 cpu=1",
			"QuotaInfeasible: insufficient pods: 5 requested, 3 of 3 free (2 short), quota c allows 3" },
	};

	(void)state;
	check_rows(rows, KAR_LEN(rows), answer);
}

static void room(void **state)
{
	static const struct row rows[] = {
		{ "sums", "node n cpu=9; queue a; group h a 7 cpu=1 run=7; group j a 4 cpu=1",
			"InsufficientCapacity: insufficient cpu: 4 requested, 2 of 9 free (2 short)" },
		{ "thousandths",
			"node n cpu=2; queue a; group h a 1 cpu=1 run=1; foreign cpu=0 on=n; group j a 2 cpu=1",
			"InsufficientCapacity: insufficient cpu: 2 requested, 1 of 2 free (1 short)" },
		{ "nodes",
			"node n cpu=3; node m cpu=3; queue a; group h a 2 cpu=2 run=2 on=n:1,m:1; group j a 1 cpu=2",
			"NoFit: 0 of 1 pods fit now: 2 nodes lack cpu (short 1)" },
		{ "room that is held for a lost member",
			"node n cpu=8; node m cpu=4; node k cpu=4; queue a; group h a 1 cpu=2 p=5 run=1 on=n:1 lost=cpu:6; group j a 1 cpu=5",
			"NoFit: 0 of 1 pods fit now: 3 nodes lack cpu (short 1), held for members to come of default/h: 6 cpu" },
		{ "room that is held for a lost member, by the sum",
			"node n cpu=8; queue a; group h a 1 cpu=2 p=5 run=1 on=n:1 lost=cpu:6; group j a 1 cpu=5",
			"InsufficientCapacity: insufficient cpu: 5 requested, 0 of 8 free (5 short), held for members to come of default/h: 6 cpu" },
		{ "pods in pieces",
			"8*node n cpu=64; queue a; group h a 5 cpu=40 run=5 on=n1:1,n2:1,n3:1,n4:1,n5:1; group j a 5 cpu=40",
			"NoFit: 3 of 5 pods fit now: 8 nodes lack cpu (short 32), each of 2 more asks for 40 cpu and a node has at most 24 free" },
		{ "some pods",
			"node n cpu=4; node m cpu=4; queue a; group h a 2 cpu=1 run=2 on=n:1,m:1; group j a 3 cpu=2",
			"NoFit: 2 of 3 pods fit now: 2 nodes lack cpu (short 1)" },
		{ "guarantees",
			"node n cpu=9; queue a; queue b g=cpu:3 n=cpu:3; group h a 4 cpu=1 run=4; group j a 4 cpu=1",
			"GuaranteeReserved: insufficient cpu: 4 requested, 2 of 9 free (2 short), held for guarantees of other queues: 3 cpu are free but guaranteed to queue b" },
		{ "a claim",
			"node n cpu=6; queue a; queue b n=cpu:6; group v a 6 cpu=1 run=6; group j b 6 cpu=1",
			"Reserving: capacity is held; 6 pods of default/v are still stopping" },
		{ "a claim on one pod",
			"node n cpu=6; queue a; queue b n=cpu:6; group v a 1 cpu=6 run=1; group j b 6 cpu=1",
			"Reserving: capacity is held; 1 pod of default/v is still stopping" },
		{ "a claim on two gangs",
			"node n cpu=6; queue a; queue b n=cpu:6; group v a 1 cpu=2 run=1; group w a 1 cpu=4 run=1; group j b 6 cpu=1",
			"Reserving: capacity is held; 1 pod of default/v, 1 of default/w are still stopping" },
		{ "minRuntime",
			"flags runtime=60; node n cpu=6; queue a; queue b n=cpu:6; group v a 6 cpu=1 run=6 formed=9970; group j b 6 cpu=1",
			"WaitingForReclaim: insufficient cpu: 6 requested, 0 of 6 free (6 short), can be taken from others at 1970-01-01T02:47:10Z" },
		{ "minRuntime, of the second",
			"flags runtime=60; node n cpu=6; queue a; queue b n=cpu:6; group v a 6 cpu=1 run=6 formed=9970; group i b 6 cpu=1 p=1; group j b 6 cpu=1",
			"WaitingForReclaim: insufficient cpu: 6 requested, 0 of 6 free (6 short), what can be taken from others goes to default/i first" },
		{ "minRuntime, of the second that is alike",
			"flags runtime=60; node n cpu=6; queue a; queue b n=cpu:6; group v a 6 cpu=1 run=6 formed=9970; group i b 6 cpu=1; group j b 6 cpu=1",
			"WaitingForReclaim: insufficient cpu: 6 requested, 0 of 6 free (6 short), what can be taken from others goes to default/i first" },
		{ "the window",
			"flags window=60; node n cpu=10; queue a n=cpu:4; queue b n=cpu:6; group v a 4..9 cpu=1 run=9 scaled=10000; group j b 3 cpu=1",
			"WaitingForReclaim: insufficient cpu: 3 requested, 1 of 10 free (2 short), can be taken from others at 1970-01-01T02:47:40Z" },
		{ "a reservation",
			"flags starve=300; node n cpu=8 gpu=4; queue a; group h a 1 gpu=2 cpu=0 run=1; group x a 1 cpu=4 gpu=4 t=1000; group j a 1 cpu=5",
			"HeadReserved: insufficient cpu: 5 requested, 4 of 8 free (1 short), 4 held for default/x, which waits since 1970-01-01T00:16:40Z" },
		{ "a reservation on the only node that would do",
			"flags starve=300; node m cpu=3; node n cpu=8; queue a; group h a 1 cpu=4 run=1 on=n:1; group x a 1 cpu=8 t=1000; group j a 1 cpu=4",
			"HeadReserved: insufficient cpu: 4 requested, 3 of 11 free (1 short), 4 held for default/x, which waits since 1970-01-01T00:16:40Z" },
		{ "no node has enough in one piece beside it",
			"flags starve=300; node l cpu=2; node m cpu=2; node n cpu=8; queue a; group h a 1 cpu=4 run=1 on=n:1; group x a 1 cpu=8 t=1000; group j a 1 cpu=4",
			"HeadReserved: 0 of 1 pods fit now, held for default/x, which waits since 1970-01-01T00:16:40Z" },
		{ "what a reservation leaves",
			"flags starve=300; node n cpu=8 gpu=4; queue a; group h a 1 gpu=2 cpu=0 run=1; group x a 1 cpu=4 gpu=4 t=1000; group j a 1 cpu=4",
			"1" },
		{ "and what not",
			"flags starve=300; node n cpu=8 gpu=4; queue a; group h a 1 gpu=2 cpu=0 run=1; group x a 1 cpu=4 gpu=4 t=1000; group j a 1 cpu=0 gpu=1",
			"HeadReserved: insufficient nvidia.com/gpu: 1 requested, 0 of 4 free (1 short), 2 held for default/x, which waits since 1970-01-01T00:16:40Z" },
		{ "a reservation within the right of its queue",
			"flags starve=300; node n cpu=10; foreign cpu=2 on=n; queue a n=cpu:6; queue b n=cpu:4; group h a 1 cpu=3 run=1; group x a 1 cpu=6 t=1000; group j b 1 cpu=4",
			"1" },
		{ "no reservation for more than the queue is entitled to",
			"flags starve=300; node n cpu=8; queue a; queue b; group h a 1 cpu=4 run=1; group x a 1 cpu=8 t=1000; group j b 1 cpu=4",
			"1" },
		{ "no reservation by age against a higher priority",
			"flags starve=300 age=600; node n cpu=8; queue a; group h a 1 cpu=4 run=1; group x a 1 cpu=8 t=1000; group j a 1 cpu=4 p=1000",
			"1" },
		{ "quota",
			"node n cpu=20; queue a; quota default c pods=8; group h a 5 cpu=1 run=5; group j a 5 cpu=1",
			"QuotaExceeded: insufficient pods: 5 requested, 3 of 8 free (2 short), quota c has 8, used 5" },
		{ "quota in cores",
			"node n cpu=20; queue a; quota default c requests.cpu=8; group h a 5 cpu=1 run=5; group j a 5 cpu=1",
			"QuotaExceeded: insufficient requests.cpu: 5 requested, 3 of 8 free (2 short), quota c has 8, used 5" },
		{ "quota that is closed",
			"node n cpu=20; queue a; quota default c pods=8; group h a 5 cpu=1 run=5; group i a 5 cpu=1; group j a 2 cpu=1",
			"QuotaExceeded: default/i goes first for pods of quota c" },
		{ "an autoscaler",
			"node n cpu=2; queue a provisions; group h a 2 cpu=1 run=2; group j a 2 cpu=1", "2" },
		{ "a job too many for an autoscaler",
			"node n cpu=2; queue a provisions jobs=1; group h a 1 cpu=1 run=1; group j a 3 cpu=1",
			"MaxJobsReached: queue a has 1 of 1 jobs" },
	};

	(void)state;
	check_rows(rows, KAR_LEN(rows), answer);
}

/* As it is written: with the position, and when it may start. */
static const char *message(struct world *w, uint32_t group)
{
	return w->r.groups[group].message ? w->r.groups[group].message : "-";
}

static void messages(void **state)
{
	static const struct row rows[] = {
		{ "position",
			"node n cpu=2; queue a; group h a 2 cpu=1 run=2; group i a 1 cpu=1; group j a 1 cpu=1; group k a 1 cpu=1",
			"insufficient cpu: 1 requested, 0 of 2 free (1 short); 2nd of 3 in queue a" },
		{ "those that ask for nothing have none",
			"node n cpu=2; queue a; group h a 2 cpu=1 run=2; group i a 1 cpu=1 ineligible=BackOff; group j a 1 cpu=1",
			"insufficient cpu: 1 requested, 0 of 2 free (1 short); 1st of 1 in queue a" },
		{ "nor those that cannot", "node n cpu=2; queue a; group j a 3 cpu=1",
			"insufficient cpu: 3 requested, 2 of 2 free (1 short)" },
		{ "when it may start",
			"node n cpu=2; queue a; group h a 2 cpu=1 run=2 ends=10600; group j a 1 cpu=1",
			"insufficient cpu: 1 requested, 0 of 2 free (1 short); 1st of 1 in queue a; may start about 1970-01-01T02:56:40Z (deadlines)" },
		{ "room that can be taken from others at a time that is said, whatever ends later",
			"flags runtime=60; node n cpu=6; queue a; queue b n=cpu:6; group v a 6 cpu=1 run=6 formed=9970 ends=10600; group j b 6 cpu=1",
			"insufficient cpu: 6 requested, 0 of 6 free (6 short), can be taken from others at 1970-01-01T02:47:10Z; 1st of 1 in queue b" },
		{ "after the one ahead of it, whose end is unknown",
			"node n cpu=2; queue a; group h a 2 cpu=1 run=2 ends=10600; group i a 2 cpu=1; group j a 1 cpu=1",
			"insufficient cpu: 1 requested, 0 of 2 free (1 short); 2nd of 2 in queue a" },
		{ "a needed end is past",
			"node n cpu=2; queue a; group h a 2 cpu=1 run=2 ends=9000; group j a 1 cpu=1",
			"insufficient cpu: 1 requested, 0 of 2 free (1 short); 1st of 1 in queue a" },
	};

	(void)state;
	check_rows(rows, KAR_LEN(rows), message);
}

/* Of the group j, which is evicted. */
static const char *eviction(struct world *w, uint32_t group)
{
	const struct kar_queue_decision *d = &w->r.groups[group];

	return d->cause ? kar_arena_printf(&w->a, "%s: %s", kar_queue_cause_name(d->cause), d->evicted_text)
			: "stays";
}

static void evictions(void **state)
{
	static const struct row rows[] = {
		{ "reclaim",
			"node n cpu=6; queue a; queue o n=cpu:6; group j a 6 cpu=1 run=6; group k o 6 cpu=1",
			"Reclaim: evicted: queue o reclaims its deserved share for default/k" },
		{ "priority",
			"node n cpu=6; queue a preempt; group j a 6 cpu=1 p=10 run=6; group k a 6 cpu=1 p=1000",
			"InQueue: evicted for default/k: priority 1000 over 10" },
		{ "drain", "node n cpu=6; queue a drain; group j a 6 cpu=1 run=6",
			"Drain: queue a is drained" },
		{ "drain of the parent",
			"node n cpu=6; queue t drain; queue a under=t; group j a 6 cpu=1 run=6",
			"Drain: queue a is drained" },
		{ "drain, whatever minRuntime says",
			"flags runtime=60; node n cpu=6; queue a drain; group j a 6 cpu=1 run=6 formed=9990",
			"Drain: queue a is drained" },
		{ "minRuntime",
			"flags runtime=60; node n cpu=6; queue a; queue o n=cpu:6; group j a 6 cpu=1 run=6 formed=9950; group k o 6 cpu=1",
			"stays" },
		{ "minRuntime is over",
			"flags runtime=60; node n cpu=6; queue a; queue o n=cpu:6; group j a 6 cpu=1 run=6 formed=9940; group k o 6 cpu=1",
			"Reclaim: evicted: queue o reclaims its deserved share for default/k" },
		{ "it has not formed",
			"flags runtime=60; node n cpu=6; queue a; queue o n=cpu:6; group j a 6 cpu=1 bare=6 admitted=9950; group k o 6 cpu=1",
			"stays" },
		{ "bare members",
			"node n cpu=6; queue a; queue o n=cpu:6; group j a 6 cpu=1 run=6 keep; group k o 6 cpu=1",
			"stays" },
		{ "a queue that keeps its own",
			"node n cpu=6; queue a keep; queue o n=cpu:6; group j a 6 cpu=1 run=6; group k o 6 cpu=1",
			"stays" },
		{ "no right", "node n cpu=6; queue a; queue o; group j a 6 cpu=1 run=6; group k o 6 cpu=1",
			"stays" },
		{ "more than the right",
			"node n cpu=6; queue a; queue o n=cpu:5; group j a 6 cpu=1 run=6; group k o 6 cpu=1",
			"stays" },
		{ "the same priority",
			"node n cpu=6; queue a preempt; group j a 6 cpu=1 p=10 run=6; group k a 6 cpu=1 p=10",
			"stays" },
		{ "no policy",
			"node n cpu=6; queue a; group j a 6 cpu=1 p=10 run=6; group k a 6 cpu=1 p=1000",
			"stays" },
	};

	(void)state;
	check_rows(rows, KAR_LEN(rows), eviction);
}

/* Of an admitted group whose minimum was raised. */
static const char *raised(struct world *w, uint32_t group)
{
	const struct kar_queue_decision *d = &w->r.groups[group];

	return kar_arena_printf(&w->a, "%d: %s", (int)d->desired, d->text ? d->text : "-");
}

static void raised_minimum(void **state)
{
	static const struct row rows[] = {
		{ "quota", "node n cpu=20; queue a; quota default c pods=5; group j a 6..6 cpu=1 raised=4",
			"4: minimum raised to 6: insufficient pods: 2 requested, 1 of 5 free (1 short), quota c has 5, used 4" },
		{ "room", "node n cpu=5; queue a; group j a 6..6 cpu=1 raised=4",
			"4: minimum raised to 6: insufficient cpu: 2 requested, 1 of 5 free (1 short)" },
		{ "another goes first",
			"node n cpu=6; queue a strict; group j a 5..5 cpu=1 raised=4; group i a 3 cpu=1 p=5",
			"4: minimum raised to 5: queue a is StrictFIFO: default/i goes first" },
		{ "who waits goes before who grows, however old that is",
			"node n cpu=8; queue a strict; group j a 6..6 cpu=1 raised=4 t=1; group i a 5 cpu=1 t=9",
			"4: minimum raised to 6: queue a is StrictFIFO: default/i goes first" },
		{ "but not one of a lower level",
			"node n cpu=8; queue a strict; group j a 6..6 cpu=1 raised=4 t=1 p=5; group i a 5 cpu=1 t=9",
			"6: -" },
		{ "nor in a queue that is not strict",
			"node n cpu=8; queue a; group j a 6..6 cpu=1 raised=4 t=1; group i a 5 cpu=1 t=9",
			"6: -" },
		{ "who fits beside it starts first",
			"node n cpu=6; queue a; group j a 6..6 cpu=1 raised=4 t=1; group i a 1 cpu=1 t=9",
			"4: minimum raised to 6: insufficient cpu: 2 requested, 1 of 6 free (1 short)" },
		{ "its queue has children",
			"node n cpu=6; queue a; queue b under=a; group j a 6..6 cpu=1 raised=4",
			"4: minimum raised to 6: queue a has child queues: name one of them" },
		{ "its queue is closed", "node n cpu=6; queue a closed; group j a 6..6 cpu=1 raised=4",
			"4: minimum raised to 6: queue a is closed" },
		{ "it fits", "node n cpu=6; queue a; group j a 6..6 cpu=1 raised=4", "6: -" },
		{ "from nothing", "node n cpu=6; queue a; group j a 6..6 cpu=1 raised=0", "6: -" },
		{ "from nothing beyond a capability",
			"node n cpu=9; queue a cap=cpu:4; group j a 6..6 cpu=1 raised=0",
			"0: minimum raised to 6: insufficient cpu: 6 requested, 4 of 4 free (2 short), queue a has capability 4" },
	};

	(void)state;
	check_rows(rows, KAR_LEN(rows), raised);
}

/* Of a group that runs, whose templates were edited. */
static const char *edit(struct world *w, uint32_t group)
{
	const struct kar_queue_decision *d = &w->r.groups[group];

	return kar_arena_printf(&w->a, "%s, %d: %s", d->takes_edit ? "let in" : "waits", (int)d->desired,
		d->text ? d->text : "-");
}

static void edited_templates(void **state)
{
	static const struct row rows[] = {
		{ "the same needs", "node n cpu=4; queue a cap=cpu:4; group j a 4 cpu=1 run=4 edit=4:cpu:1",
			"let in, 4: -" },
		{ "more, for which there is room beside what goes",
			"node n cpu=8; queue a; group j a 4 cpu=1 run=4 edit=4:cpu:2", "let in, 4: -" },
		{ "capability", "node n cpu=20; queue a cap=cpu:4; group j a 4 cpu=1 run=4 edit=4:cpu:2",
			"waits, 4: templates edited: insufficient cpu: 8 requested, 4 of 4 free (4 short), queue a has capability 4" },
		{ "capability that others of the queue use, too",
			"node n cpu=20; queue a cap=cpu:9; group j a 4 cpu=1 run=4 edit=4:cpu:2; group i a 2 cpu=1 run=2",
			"waits, 4: templates edited: insufficient cpu: 8 requested, 7 of 9 free (1 short), queue a has capability 9" },
		{ "capability of a parent",
			"node n cpu=20; queue t cap=cpu:6; queue a under=t; group j a 4 cpu=1 run=4 edit=4:cpu:2",
			"waits, 4: templates edited: insufficient cpu: 8 requested, 6 of 6 free (2 short), queue t has capability 6" },
		{ "quota",
			"node n cpu=20; queue a; quota default c requests.cpu=4; group j a 4 cpu=1 run=4 edit=4:cpu:2",
			"waits, 4: templates edited: insufficient requests.cpu: 8 requested, 4 of 4 free (4 short), quota c allows 4" },
		{ "no node is as large", "2*node n cpu=4; queue a; group j a 2 cpu=1 run=2 edit=1:cpu:5",
			"waits, 2: templates edited: a pod asks for 5 cpu, the largest node has 4" },
		{ "others have the nodes",
			"node n cpu=4; node m cpu=4; queue a; group j a 2 cpu=1 run=2 on=n:2 edit=2:cpu:4; group i a 1 cpu=1 run=1 on=m:1",
			"waits, 2: templates edited: insufficient cpu: 8 requested, 7 of 8 free (1 short)" },
		{ "who waits for room has not got it yet",
			"node n cpu=8; queue a strict; group j a 2 cpu=1 run=2 edit=2:cpu:2; group i a 7 cpu=1",
			"waits, 2: templates edited: queue a is StrictFIFO: default/i goes first" },
		{ "but nobody goes before who does not grow",
			"node n cpu=8; queue a strict; group j a 2 cpu=1 run=2 edit=2:cpu:1; group i a 7 cpu=1",
			"let in, 2: -" },
		{ "two at once: the second one's room is that of the first",
			"node n cpu=8; queue a; group i a 2 cpu=1 run=2 edit=2:cpu:3; group j a 2 cpu=1 run=2 edit=2:cpu:3",
			"waits, 2: templates edited: the templates of i were edited, too, and go first" },
		{ "nor while the first one's pods stop",
			"node n cpu=20; queue a; group i a 2 cpu=1 run=2 edited=2:cpu:3; group j a 2 cpu=1 run=2 edit=2:cpu:3",
			"waits, 2: templates edited: the templates of i were edited, too, and go first" },
		{ "no more than now, though the limit is lower by now",
			"node n cpu=20; queue a cap=cpu:4; group j a 8 cpu=1 run=8 edit=8:cpu:1",
			"let in, 8: -" },
		{ "less, though the limit is lower still",
			"node n cpu=20; queue a cap=cpu:4; group j a 8 cpu=2 run=8 edit=8:cpu:1",
			"let in, 8: -" },
		{ "no more than now, though the quota is lower by now",
			"node n cpu=20; queue a; quota default c requests.cpu=4; group j a 8 cpu=1 run=8 edit=8:cpu:1",
			"let in, 8: -" },
		{ "the same pods, though their nodes have become smaller",
			"node n cpu=4; queue a; group j a 8 cpu=1 run=8 edit=8:cpu:1", "let in, 8: -" },
		{ "more in a closed queue",
			"node n cpu=20; queue a closed; group j a 4 cpu=1 run=4 edit=4:cpu:2",
			"waits, 4: templates edited: queue a is closed" },
		{ "no more in a closed queue",
			"node n cpu=20; queue a closed; group j a 4 cpu=1 run=4 edit=4:cpu:1",
			"let in, 4: -" },
		{ "its minimum is raised, too",
			"node n cpu=20; queue a cap=cpu:4; group j a 6 cpu=1 run=4 raised=4 edit=6:cpu:1",
			"waits, 4: templates edited: insufficient cpu: 6 requested, 4 of 4 free (2 short), queue a has capability 4" },
		{ "a gang becomes one of no minimum",
			"node n cpu=4; queue a; group j a 2 cpu=1 run=2 edit=0:cpu:1", "let in, 2: -" },
	};

	(void)state;
	check_rows(rows, KAR_LEN(rows), edit);
}

/* Why the elastic group j has no more pods. */
static const char *limit(struct world *w, uint32_t group)
{
	static const char *const names[KAR_QUEUE_LIMITS] = { "all", "starting", "closed", "freezing", "load",
		"quota", "namespace", "capability", "share", "head", "guarantee", "capacity", "nodes",
		"stopping" };
	const struct kar_queue_decision *d = &w->r.groups[group];

	return kar_arena_printf(&w->a, "%d, %s: %s", (int)d->desired, names[d->limit],
		d->limit_text ? d->limit_text : "-");
}

static void no_more_pods(void **state)
{
	static const struct row rows[] = {
		{ "it has all", "node n cpu=20; queue a; group j a 1..4 cpu=1 run=4", "4, all: -" },
		{ "its minimum does not run yet", "node n cpu=20; queue a; group j a 1..4 cpu=1 bare=1",
			"1, starting: -" },
		{ "it is not elastic", "node n cpu=20; queue a; group j a 1..4 cpu=1 run=1 fixed",
			"1, all: -" },
		{ "its queue is closed", "node n cpu=20; queue a closed; group j a 1..4 cpu=1 run=2",
			"2, closed: -" },
		{ "its queue has children by now",
			"node n cpu=20; queue a; queue b under=a; group j a 1..4 cpu=1 run=2",
			"2, closed: queue a has child queues: name one of them" },
		{ "the freezing window",
			"node n cpu=20; queue a; group j a 1..4 cpu=1 run=2 scaled=9970; flags window=60",
			"2, freezing: the freezing window ends at 1970-01-01T02:47:10Z" },
		{ "a window that ends does not help without room",
			"node n cpu=2; queue a; group j a 1..4 cpu=1 run=2 scaled=9970; flags window=60",
			"2, capacity: insufficient cpu: 1 requested, 0 of 2 free (1 short)" },
		{ "its owner has asked for more: no window holds it back",
			"node n cpu=20; queue a; group j a 1..4 cpu=1 run=2 scaled=9970 resized; flags window=60",
			"4, all: -" },
		{ "the load limit", "node n cpu=10; queue a; group j a 1..20 cpu=1 run=9; flags load=900",
			"9, load: insufficient cpu: 1 requested, 0 of 9 free (1 short), --max-load-desired keeps the rest of 10 free" },
		{ "the load limit, with pods of others",
			"node n cpu=10; queue a; foreign cpu=4 on=n; group j a 1..20 cpu=1 run=5; flags load=900",
			"5, load: insufficient cpu: 1 requested, 0 of 9 free (1 short), --max-load-desired keeps the rest of 10 free" },
		{ "a full cluster is no load limit",
			"node n cpu=10; queue a; group j a 1..20 cpu=1 run=10; flags load=900",
			"9, load: insufficient cpu: 1 requested, 0 of 9 free (1 short), --max-load-desired keeps the rest of 10 free" },
		{ "a quota", "node n cpu=20; queue a; quota default c pods=3; group j a 1..6 cpu=1 run=3",
			"3, quota: insufficient pods: 1 requested, 0 of 3 free (1 short), quota c has 3, used 3" },
		{ "a quota that is kept for whoever starts",
			"node n cpu=20; queue a; quota default c pods=9; group h a 2 cpu=1 bare=2 admitted=9999; group j a 1..6 cpu=1 run=3",
			"3, quota: jobs of the namespace that start go first for its quota" },
		{ "a limit of the namespace",
			"node n cpu=20; queue a; allows default a cpu=3; group j a 1..6 cpu=1 run=3",
			"3, namespace: insufficient cpu: 1 requested, 0 of 3 free (1 short), queue a allows namespace default 3, used 3" },
		{ "a job that starts keeps nobody from what the queue allows the namespace",
			"node n cpu=20; queue a; allows default a cpu=9; group h a 2 cpu=1 bare=2 admitted=9999; group j a 1..6 cpu=1 run=3",
			"6, all: -" },
		{ "it lost a pod to others",
			"node n cpu=20; queue a; group j a 1..4 cpu=1 run=2 scaled=9998 grows=10008",
			"2, freezing: it lost a pod to others, and gets the next one at 1970-01-01T02:46:48Z" },
		{ "capability", "node n cpu=20; queue a cap=cpu:4; group j a 1..6 cpu=1 run=4",
			"4, capability: insufficient cpu: 1 requested, 0 of 4 free (1 short), queue a has capability 4" },
		{ "capability of a parent, that others use",
			"node n cpu=20; queue t cap=cpu:4; queue a under=t; queue b under=t; group i b 1..6 cpu=1 run=2; group j a 1..6 cpu=1 run=2",
			"2, share: insufficient cpu: 1 requested, 0 of 4 free (1 short), queue t has capability 4; other queues use 1 cpu beyond the minima of their jobs" },
		{ "its next pod runs, and others have the room of that node", /* it goes, though another node has room */
			"node m cpu=3; node n cpu=2; node o cpu=4; node q cpu=2; queue a n=cpu:7; queue b; queue c; group j c 1..2 cpu=1 run=2 on=q:2; "
			"group x a 3 cpu=1; group g b 1..4 cpu=3 run=4 on=m:1,o:1 fixed; group y b 1 cpu=1",
			"1, nodes: others go first on the node of its next pod" },
		{ "a reservation that binds another queue",
			"node n cpu=3; node o cpu=6; flags starve=300; queue a; queue c; group head a 3 cpu=3 t=10; group i a 1..2 cpu=1 run=1 on=o:1; group j c 1..2 cpu=1 run=1 on=o:1",
			"2, all: -" },
		{ "what its queue does not lend",
			"node n cpu=20; queue a n=cpu:4; queue b n=cpu:16; group j a 1..6 cpu=1 run=4 bound-for-good",
			"4, capability: insufficient cpu: 1 requested, 0 of 4 free (1 short), queue a is entitled to 4 and lends it nothing: nobody would make p again" },
		{ "the share of another queue",
			"node n cpu=6; queue a; queue b; group i b 1..9 cpu=1 run=3; group j a 1..9 cpu=1 run=3",
			"3, share: insufficient cpu: 1 requested, 0 of 6 free (1 short); other queues use 2 cpu beyond the minima of their jobs" },
		{ "the share of other jobs",
			"node n cpu=9; queue a; queue b; group i b 1..9 cpu=1 run=5; group h a 1..9 cpu=1 run=2; group j a 1..9 cpu=1 run=2",
			"2, share: insufficient cpu: 1 requested, 0 of 9 free (1 short); other jobs of queue a use 1 cpu beyond their minima, other queues 4" },
		{ "minima of others are no shares",
			"node n cpu=6; queue a; queue b; group i b 3 cpu=1 run=3; group j a 1..9 cpu=1 run=3",
			"3, capacity: insufficient cpu: 1 requested, 0 of 6 free (1 short)" },
		{ "pods of no queue", "node n cpu=6; queue a; foreign cpu=3 on=n; group j a 1..9 cpu=1 run=3",
			"3, capacity: insufficient cpu: 1 requested, 0 of 6 free (1 short), taken by pods of no queue: 3 cpu" },
		{ "nodes",
			"2*node n cpu=3; node t cpu=3 !gpu; queue a; group j a 1..4 cpu=2 run=2 on=n1:1,n2:1",
			"2, nodes: no node has room for one more pod: 2 nodes lack cpu (short 1), 1 tainted (gpu)" },
		{ "guarantees", "node n cpu=9; queue a; queue b n=cpu:3 g=cpu:3; group j a 1..9 cpu=1 run=6",
			"6, guarantee: insufficient cpu: 1 requested, 0 of 9 free (1 short), held for guarantees of other queues: 3 cpu are free but guaranteed to queue b" },
		{ "a group that waits long",
			"flags starve=300; node m cpu=3; node n cpu=8; queue a; group h a 1 cpu=4 run=1 on=n:1; group x a 1 cpu=8 t=1000; group j a 1..9 cpu=1 run=3 on=m:3",
			"3, head: insufficient cpu: 1 requested, 0 of 11 free (1 short), 4 held for default/x, which waits since 1970-01-01T00:16:40Z" },
		{ "pods that stop",
			"node n cpu=9; queue a; group i a 1 cpu=1 run=1 stops=4; group j a 1..6 cpu=1 run=4",
			"4, stopping: -" },
		{ "pods that stop, for a part of what it may have: all of it comes at once",
			"node n cpu=9; queue a; group i a 1 cpu=1 run=1 stops=4; group j a 1..6 cpu=1 run=3",
			"3, stopping: -" },
		{ "a gang that starts",
			"node n cpu=3; node m cpu=2; queue a; group t a 1 cpu=3 bare=1; group j a 1..3 cpu=1 run=1 on=m:1",
			"1, stopping: a gang is about to start, and more pods might take its room" },
		{ "a gang that starts, beside which one more pod would fit",
			"node n cpu=4; node m cpu=2; queue a; group t a 1 cpu=3 bare=1; group j a 1..3 cpu=1 run=1 on=m:1",
			"1, stopping: a gang is about to start, and more pods might take its room" },
	};

	(void)state;
	check_rows(rows, KAR_LEN(rows), limit);
}

/* Each reason is in the document for users, in the order of precedence. */
static void document_has_each_reason(void **state)
{
	struct kar_arena arena = { 0 };
	struct kar_err err = { 0 };
	size_t n;
	const char *text = kar_read_file(&arena, KAR_DOCS "/QUEUES.md", 1 << 20, true, &n, &err);
	const char *at = text ? strstr(text, "\n| reason | message | what to do |\n") : NULL;

	(void)state;
	assert_non_null(at);
	for (int r = KAR_QR_FINISHED + 1; at && r < KAR_N_QUEUE_REASONS; r++) {
		char row[64];

		snprintf(row, sizeof(row), "\n| `%s` | ", kar_queue_reason_name((enum kar_queue_reason)r));
		at = strstr(at, row);
		if (!at)
			fail_msg("no row%s behind the one before", row);
	}
	kar_arena_release(&arena);
}

static void check_listed(const char *name, unsigned where)
{
	const struct kar_reason *r = kar_reason_find(name);

	if (!r || !(r->where & where))
		fail_msg("%s is not in api/status/reasons.h, or not as shown there", name);
}

/* The words of the pass are in the one list of reasons, from which docs/REASONS.md is made. */
static void list_has_each_reason(void **state)
{
	(void)state;
	for (int r = KAR_QR_ADMITTED; r < KAR_N_QUEUE_REASONS; r++)
		check_listed(kar_queue_reason_name((enum kar_queue_reason)r), KAR_SHOWN_ON_PODGROUP);
	for (int c = KAR_QUEUE_RECLAIM; c <= KAR_QUEUE_DRAIN; c++)
		check_listed(kar_queue_cause_name((enum kar_queue_cause)c), KAR_SHOWN_ON_PODGROUP);
	for (int v = KAR_QUEUE_VALID; v <= KAR_QUEUE_TOO_DEEP; v++)
		check_listed(kar_queue_validity_name((enum kar_queue_validity)v), KAR_SHOWN_ON_QUEUE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queues),
		cmocka_unit_test(never),
		cmocka_unit_test(room),
		cmocka_unit_test(messages),
		cmocka_unit_test(evictions),
		cmocka_unit_test(raised_minimum),
		cmocka_unit_test(edited_templates),
		cmocka_unit_test(no_more_pods),
		cmocka_unit_test(document_has_each_reason),
		cmocka_unit_test(list_has_each_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
