/*
 * Queues as a tree: which parents are in force, states, counts, what they have and are entitled to, rights between levels. Then what must
 * neither crash nor overflow nor run for ever: weights, quantities, cycles, very many queues.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/unit/queue_world.h"

struct row {
	const char *name, *world, *expected;
};

typedef void describe_fn(struct world *w, struct kar_buf *out);

static void check_rows(const struct row *rows, size_t n, describe_fn *describe)
{
	bool wrong = false;

	for (size_t i = 0; i < n; i++) {
		struct kar_buf out = { 0 };
		struct world w;

		world_begin(&w, rows[i].world);
		world_plan(&w);
		describe(&w, &out);
		if (strcmp(kar_buf_cstr(&out), rows[i].expected) != 0) {
			print_error("%s:\n  expected %s\n  found    %s\n", rows[i].name, rows[i].expected,
				kar_buf_cstr(&out));
			wrong = true;
		}
		kar_buf_release(&out);
		world_end(&w);
	}
	assert_false(wrong);
}

/* "a:root b:a* c:-!ParentNotFound": parent in force, leaf, what is wrong; then the state if it is not open. */
static void describe_tree(struct world *w, struct kar_buf *out)
{
	for (uint32_t i = 0; i < w->s.n_queues; i++) {
		const struct kar_queue_status_out *o = &w->r.queues[i];
		const char *parent = o->parent == KAR_QUEUE_NONE ? "root" : w->queues[o->parent].name;

		kar_buf_printf(out, "%s%s:%s%s", i ? " " : "", w->queues[i].name, o->in_force ? parent : "-",
			o->leaf ? "*" : "");
		if (o->validity)
			kar_buf_printf(out, "!%s", kar_queue_validity_name(o->validity));
		if (o->closed)
			kar_buf_printf(out, " %s", o->closing ? "closing" : "closed");
	}
}

static void parents(void **state)
{
	static const struct row rows[] = {
		{ "no parent", "node n cpu=1; queue a; queue b under=root", "a:root* b:root*" },
		{ "four levels", "node n cpu=1; queue a; queue b under=a; queue c under=b; queue d under=c",
			"a:root b:a c:b d:c*" },
		{ "five levels",
			"node n cpu=1; queue a; queue b under=a; queue c under=b; queue d under=c; queue e under=d",
			"a:root b:a c:b d:c* e:-!TooDeep" },
		{ "five levels, valid before",
			"node n cpu=1; queue a; queue b under=a; queue c under=b; queue d under=c; queue e under=d was=b",
			"a:root b:a c:b d:c* e:b*!TooDeep" },
		{ "no such parent", "node n cpu=1; queue a under=x", "a:-!ParentNotFound" },
		{ "no such parent, top before", "node n cpu=1; queue a under=x was=root",
			"a:root*!ParentNotFound" },
		{ "nor one before", "node n cpu=1; queue a under=x was=y", "a:-!ParentNotFound" },
		{ "parent of the parent is missing",
			"node n cpu=1; queue a under=x was=root; queue b under=a was=a",
			"a:root!ParentNotFound b:a*!ParentNotFound" },
		{ "parent is being deleted", "node n cpu=1; queue a deleting; queue b under=a was=a",
			"a:root closed b:a*!ParentNotFound closed" },
		{ "a cycle", "node n cpu=1; queue a under=b; queue b under=a",
			"a:-!ParentCycle b:-!ParentCycle" },
		{ "a cycle, valid before", "node n cpu=1; queue a under=b was=root; queue b under=a was=a",
			"a:root!ParentCycle b:a*!ParentCycle" },
		{ "a cycle that is in force", "node n cpu=1; queue a under=b was=b; queue b under=a was=a",
			"a:-!ParentCycle b:-!ParentCycle" },
		{ "below a cycle", "node n cpu=1; queue a under=b; queue b under=a; queue c under=a was=root",
			"a:-!ParentCycle b:-!ParentCycle c:root*!ParentCycle" },
		{ "its own parent", "node n cpu=1; queue a under=a", "a:-!ParentCycle" },
		{ "what is in force is too deep",
			"node n cpu=1; queue a; queue b under=a; queue c under=b; queue d under=c; queue e under=x was=d",
			"a:root b:a c:b d:c* e:-!ParentNotFound" },
		{ "closed above", "node n cpu=1; queue a closed; queue b under=a; queue c under=b; queue d",
			"a:root closed b:a closed c:b* closed d:root*" },
		{ "closed with a group",
			"node n cpu=2; queue a closed; queue b under=a; queue c under=a; group j b 1 cpu=1 run=1",
			"a:root closing b:a* closing c:a* closed" },
		{ "being deleted with a group that waits",
			"node n cpu=1; queue a deleting; group j a 1 cpu=1", "a:root* closed" },
		{ "parent that is named but not valid",
			"node n cpu=1; queue a; queue b under=a; queue c under=x was=b",
			"a:root b:a c:b*!ParentNotFound" },
	};

	(void)state;
	check_rows(rows, KAR_LEN(rows), describe_tree);
}

/* "a 1/0/2/0/0 live 2": pending, inqueue, running, completed, unknown. */
static void describe_counts(struct world *w, struct kar_buf *out)
{
	for (uint32_t i = 0; i < w->s.n_queues; i++) {
		const struct kar_queue_counts *c = &w->r.queues[i].counts;

		kar_buf_printf(out, "%s%s %d/%d/%d/%d/%d live %d", i ? "; " : "", w->queues[i].name,
			(int)c->pending, (int)c->inqueue, (int)c->running, (int)c->completed, (int)c->unknown,
			(int)c->live);
	}
}

static void counts(void **state)
{
	static const struct row rows[] = {
		{ "one of each",
			"node n cpu=3; queue a; group j a 1 cpu=1 run=1; group k a 1 cpu=1; group l a 4 cpu=1",
			"a 1/1/1/0/0 live 2" },
		{ "of the subtree",
			"node n cpu=3; queue a; queue b under=a; queue c under=a; group j b 1 cpu=1 run=1; group k c 1 cpu=1; group l c 4 cpu=1",
			"a 1/1/1/0/0 live 2; b 0/0/1/0/0 live 1; c 1/1/0/0/0 live 1" },
		{ "a claim is inqueue",
			"node n cpu=4; queue a preempt; group j a 3 cpu=1 p=10 run=3; group k a 3 cpu=1 p=1000",
			"a 1/1/0/0/0 live 1" },
		{ "suspended and invalid ones count nowhere",
			"node n cpu=1; queue a; group j a 1 cpu=1 ineligible=Suspended; group k a 1 cpu=1 ineligible=JobInvalid",
			"a 0/0/0/0/0 live 0" },
		{ "those that cannot be admitted are pending",
			"node n cpu=1; queue a; group j a 1 cpu=1 ineligible=BackOff; group k a 1 cpu=1 ineligible=NamespaceNotAllowed; group l a 9 cpu=1",
			"a 3/0/0/0/0 live 0" },
		{ "in a queue that is not valid any more",
			"node n cpu=1; queue a under=x was=root; group j a 1 cpu=1", "a 0/1/0/0/0 live 1" },
		{ "of a queue that has child queues",
			"node n cpu=2; queue a; queue b under=a; group j a 1 cpu=1 run=1; group k b 1 cpu=1 run=1",
			"a 0/0/2/0/0 live 2; b 0/0/1/0/0 live 1" },
	};

	(void)state;
	check_rows(rows, KAR_LEN(rows), describe_counts);
}

static void print_amounts(struct kar_buf *out, const struct kar_queue_amounts *l)
{
	for (uint32_t i = 0; i < l->n; i++) {
		int64_t unit = strcmp(l->items[i].resource, "cpu") == 0 ? 1000 : 1;

		if (strcmp(l->items[i].resource, "pods") != 0)
			kar_buf_printf(out, " %s %" PRId64, l->items[i].resource, l->items[i].amount / unit);
	}
}

/* What it has, is entitled to, and its share, when all that was decided has been done. */
static void describe_shares(struct world *w, struct kar_buf *out)
{
	world_apply(w);
	world_settle(w);
	world_plan(w);
	for (uint32_t i = 0; i < w->s.n_queues; i++) {
		kar_buf_printf(out, "%s%s:", i ? "; " : "", w->queues[i].name);
		print_amounts(out, &w->r.queues[i].allocated);
		kar_buf_printf(out, " of");
		print_amounts(out, &w->r.queues[i].entitled);
		kar_buf_printf(out, ", %" PRId64, w->r.queues[i].share);
	}
}

static void shares(void **state)
{
	static const struct row rows[] = {
		{ "what exceeds the rights, by weight",
			"node n cpu=20; queue a n=cpu:4 w=1; queue b n=cpu:6 w=4",
			"a: of cpu 6, 0; b: of cpu 14, 0" },
		{ "filled by that",
			"node n cpu=20; queue a n=cpu:4 w=1; queue b n=cpu:6 w=4; 25*group x a 1 cpu=1; 25*group y b 1 cpu=1",
			"a: cpu 6 of cpu 6, 100; b: cpu 14 of cpu 14, 100" },
		{ "share above the right", "node n cpu=16; queue a n=cpu:2 w=2; group j a 7 cpu=1 run=7",
			"a: cpu 7 of cpu 16, 156" },
		{ "two resources",
			"node n cpu=10 memory=20; queue a; queue b; group x a 1 cpu=4 memory=4 run=1; group y b 1 cpu=3 memory=12 run=1",
			"a: cpu 4 memory 4 of cpu 5 memory 10, 400; b: cpu 3 memory 12 of cpu 5 memory 10, 600" },
		{ "a tree",
			"node n cpu=9; queue e w=2; queue x under=e w=1; queue y under=e w=2; queue s w=1",
			"e: of cpu 6, 0; x: of cpu 2, 0; y: of cpu 4, 0; s: of cpu 3, 0" },
		{ "and filled by jobs of one pod",
			"node n cpu=9; queue e w=2; queue x under=e w=1; queue y under=e w=2; queue s w=1; 9*group i x 1 cpu=1; 9*group j y 1 cpu=1; 9*group k s 1 cpu=1",
			"e: cpu 6 of cpu 6, 333; x: cpu 2 of cpu 2, 222; y: cpu 4 of cpu 4, 222; s: cpu 3 of cpu 3, 333" },
		{ "an inner queue without a right has those of its children",
			"node n cpu=10; queue t; queue x under=t n=cpu:3; queue y under=t n=cpu:2; queue s; group j x 6 cpu=1 run=6",
			"t: cpu 6 of cpu 7, 100; x: cpu 6 of cpu 4, 300; y: of cpu 3, 0; s: of cpu 2, 0" },
		{ "its own right counts",
			"node n cpu=10; queue t n=cpu:1; queue x under=t n=cpu:3; group j x 6 cpu=1 run=6",
			"t: cpu 6 of cpu 10, 500; x: cpu 6 of cpu 10, 300" },
		{ "closed ones are not reckoned with", "node n cpu=10; queue a; queue b closed; queue c",
			"a: of cpu 5, 0; b: of cpu 0, 0; c: of cpu 5, 0" },
		{ "at most the capability", "node n cpu=10; queue a cap=cpu:2; queue b",
			"a: of cpu 2, 0; b: of cpu 5, 0" },
		{ "rights above the cluster", "node n cpu=10; queue a n=cpu:20; queue b",
			"a: of cpu 20, 0; b: of cpu 0, 0" },
		{ "a resource that no node has", "node n cpu=4; queue a; group j a 1 cpu=1 gpu=1 bare=1",
			"a: of cpu 4, 250" },
	};

	(void)state;
	check_rows(rows, KAR_LEN(rows), describe_shares);
}

static void describe_over(struct world *w, struct kar_buf *out)
{
	for (uint32_t i = 0; i < w->s.n_queues; i++) {
		const struct kar_queue_status_out *o = &w->r.queues[i];

		kar_buf_printf(out, "%s%s:", i ? "; " : "", w->queues[i].name);
		print_amounts(out, &o->allocated);
		kar_buf_printf(out, ", %s", o->over ? o->over : "-");
	}
}

/* What live pods use is compared with the limit, whatever was decided about their groups. */
static void over_capability(void **state)
{
	static const struct row rows[] = {
		{ "within", "node n cpu=20; queue a cap=cpu:4; group j a 4 cpu=1 run=4", "a: cpu 4, -" },
		{ "lowered below what runs", "node n cpu=20; queue a cap=cpu:2 ; group j a 4 cpu=1 run=4",
			"a: cpu 4, cpu 4 of 2 (2 over)" },
		{ "pods larger than what is left",
			"node n cpu=20; queue a cap=cpu:2; group j a 1 cpu=3 run=1",
			"a: cpu 3, cpu 3 of 2 (1 over)" },
		{ "of a parent",
			"node n cpu=20; queue t cap=cpu:3; queue a under=t; queue b under=t; group j a 2 cpu=1 run=2; group k b 2 cpu=1 run=2",
			"t: cpu 4, cpu 4 of 3 (1 over); a: cpu 2, -; b: cpu 2, -" },
		{ "pods that stop use what they have",
			"node n cpu=20; queue a cap=cpu:2; group j a 1 cpu=1 run=1 stops=2",
			"a: cpu 3, cpu 3 of 2 (1 over)" },
		{ "who waits uses nothing",
			"node n cpu=20; queue a cap=cpu:2; group j a 1 cpu=1 run=1; group k a 2 cpu=1",
			"a: cpu 1, -" },
		{ "two resources",
			"node n cpu=20 memory=20; queue a cap=cpu:1,memory:1; group j a 2 cpu=1 memory=2 run=2",
			"a: cpu 2 memory 4, cpu 2 of 1 (1 over), memory 4 of 1 (3 over)" },
	};

	(void)state;
	check_rows(rows, KAR_LEN(rows), describe_over);
}

/* Each group: d, "claim", or the reason; evictions in brackets. */
static void describe_groups(struct world *w, struct kar_buf *out)
{
	for (uint32_t i = 0; i < w->s.n_groups; i++) {
		const struct kar_queue_decision *d = &w->r.groups[i];

		kar_buf_printf(out, "%s%s ", i ? ", " : "", w->groups[i].name);
		if (d->standing == KAR_QUEUE_ADMITTED)
			kar_buf_printf(out, "%d", (int)d->desired);
		else
			kar_buf_printf(out, "%s",
				d->standing == KAR_QUEUE_RESERVING ? "claim"
								   : kar_queue_reason_name(d->reason));
		if (d->cause)
			kar_buf_printf(out, " (%s)", d->evicted_text);
	}
}

static void levels(void **state)
{
	static const struct row rows[] = {
		{ "rights are compared where the paths part",
			"node n cpu=10; queue x; queue x1 under=x n=cpu:4; queue x2 under=x; queue y; queue y1 under=y n=cpu:6;"
			" group i x1 4 cpu=1 run=4 admitted=100 formed=100; group j x2 6 cpu=1 run=6 admitted=200 formed=200; group k y1 6 cpu=1",
			"i 4, j Preempted (evicted: queue y reclaims its deserved share for default/k of queue y1), k claim" },
		{ "also for a leaf within its own right, if its parent is above",
			"node n cpu=10; queue x n=cpu:4; queue x1 under=x n=cpu:6; queue x2 under=x; queue y; queue y1 under=y n=cpu:6;"
			" group i x1 6 cpu=1 run=6 admitted=200 formed=200; group j x2 4 cpu=1 run=4 admitted=100 formed=100; group k y1 6 cpu=1",
			"i Preempted (evicted: queue y reclaims its deserved share for default/k of queue y1), j 4, k claim" },
		{ "between leaves of one parent",
			"node n cpu=10; queue x; queue x1 under=x n=cpu:4; queue x2 under=x; group j x2 10 cpu=1 run=10; group k x1 4 cpu=1",
			"j Preempted (evicted: queue x1 reclaims its deserved share for default/k), k claim" },
		{ "minima within the right stay",
			"node n cpu=10; queue x n=cpu:6; queue x1 under=x; queue y n=cpu:6; group j x1 6 cpu=1 run=6; group k y 6 cpu=1",
			"j 6, k InsufficientCapacity" },
		{ "a parent that keeps its groups",
			"node n cpu=10; queue x keep; queue x1 under=x; queue y n=cpu:6; group j x1 10 cpu=1 run=10; group k y 6 cpu=1",
			"j 10, k InsufficientCapacity" },
		{ "but not from each other",
			"node n cpu=10; queue x keep; queue x1 under=x; queue x2 under=x n=cpu:6; group j x1 10 cpu=1 run=10; group k x2 6 cpu=1",
			"j Preempted (evicted: queue x2 reclaims its deserved share for default/k), k claim" },
		{ "guarantee of an inner queue",
			"node n cpu=10; queue t g=cpu:3 n=cpu:3; queue a under=t; queue b; group j b 8 cpu=1; group k b 7 cpu=1",
			"j GuaranteeReserved, k 7" },
		{ "is for all below it",
			"node n cpu=10; queue t g=cpu:3 n=cpu:3; queue a under=t; queue b; group j b 7 cpu=1 run=7; group k a 3 cpu=1",
			"j 7, k 3" },
		{ "guarantees of children count for their parent",
			"node n cpu=10; queue t; queue a under=t g=cpu:2 n=cpu:2; queue c under=t g=cpu:2 n=cpu:2; queue b; group j b 7 cpu=1; group k b 6 cpu=1",
			"j GuaranteeReserved, k 6" },
		{ "and for each other",
			"node n cpu=10; queue t; queue a under=t g=cpu:2 n=cpu:2; queue c under=t g=cpu:2 n=cpu:2; group j a 9 cpu=1; group k a 8 cpu=1",
			"j GuaranteeReserved, k 8" },
		{ "a sibling that has borrowed does not use up the guarantee of a child",
			"node n cpu=10; queue t; queue a under=t g=cpu:4 n=cpu:4; queue c under=t; queue b; group i c 4 cpu=1 run=4; group j b 4 cpu=1",
			"i 4, j GuaranteeReserved" },
		{ "capability of the parent",
			"node n cpu=10; queue t cap=cpu:4; queue a under=t; queue b under=t; group j a 3 cpu=1 run=3; group k b 2 cpu=1",
			"j 3, k QueueCapability" },
		{ "jobs of the parent",
			"node n cpu=10; queue t jobs=1; queue a under=t; queue b under=t; group j a 1 cpu=1 run=1; group k b 1 cpu=1",
			"j 1, k MaxJobsReached" },
		{ "drained by the parent",
			"node n cpu=10; queue t drain; queue a under=t; group j a 1 cpu=1 run=1; group k a 1 cpu=1",
			"j Preempted (queue a is drained), k QueueClosed" },
		{ "closed is not drained",
			"node n cpu=10; queue t closed; queue a under=t; group j a 1 cpu=1 run=1; group k a 1 cpu=1",
			"j 1, k QueueClosed" },
		{ "what runs in a queue without a place counts",
			"node n cpu=4; queue a under=x; queue b; group j a 3 cpu=1 run=3; group k b 2 cpu=1",
			"j 3, k InsufficientCapacity" },
		{ "what was valid last stays in force",
			"node n cpu=4; queue a under=x was=root; group j a 1 cpu=1", "j 1" },
	};

	(void)state;
	check_rows(rows, KAR_LEN(rows), describe_groups);
}

/* --- what is out of the ordinary ------------------------------------------------------------------------------------------------------ */

static const int64_t strange[] = { 0, 1, 999, INT32_MAX, (int64_t)1 << 53, ((int64_t)1 << 62) + 1,
	INT64_MAX - 1, INT64_MAX };

static struct kar_queue_amounts strange_amounts(struct world *w, uint32_t i)
{
	struct kar_sched_amount *items = kar_arena_alloc(&w->a, 3, sizeof(*items));

	items[0] = (struct kar_sched_amount){ "cpu", strange[i % KAR_LEN(strange)] };
	items[1] = (struct kar_sched_amount){ "memory", strange[(i / 2 + 3) % KAR_LEN(strange)] };
	items[2] = (struct kar_sched_amount){ "example.com/none", strange[(i / 3 + 5) % KAR_LEN(strange)] };
	return (struct kar_queue_amounts){ items, 1 + i % 3 };
}

static void strange_queues(struct world *w, uint32_t seed)
{
	for (uint32_t i = 0; i < w->s.n_queues; i++) {
		struct kar_queue_in *q = &w->queues[i];

		if (seed & 1)
			q->deserved = strange_amounts(w, seed + i);
		if (seed & 2)
			q->guarantee = strange_amounts(w, seed / 2 + 3 * i);
		if (seed & 4)
			q->capability = strange_amounts(w, seed / 3 + 5 * i);
		q->weight = seed & 8 ? 65535 : i % 2 ? 1 : 0;
	}
}

static void strange_sums(struct world *w, uint32_t seed)
{
	world_plan(w);
	if (seed & 16)
		w->s.foreign = strange_amounts(w, seed);
	if (seed & 32)
		w->s.alloc = strange_amounts(w, seed / 5);
	for (uint32_t i = 0; i < w->s.n_rows; i++)
		w->rows[i].foreign = seed & 64 ? strange[(seed + i) % KAR_LEN(strange)] : w->rows[i].foreign;
	w->s.flags.max_load_permille = (int32_t)(seed % 1001);
	w->s.recounts = true;
	kar_queue_plan(&w->s, w->now, &w->a, &w->r);
}

/* Under the sanitizers this finds what overflows. */
static void strange_quantities(void **state)
{
	(void)state;
	for (uint32_t seed = 0; seed < 512; seed++) {
		struct world w;

		world_begin(&w,
			"node n cpu=9007199254740 memory=9007199254740992; node o cpu=8 memory=8; queue t; queue a under=t preempt; queue b under=t; queue c;"
			" quota default q pods=9 requests.cpu=9223372036854775; flags load=970 age=1 starve=1 runtime=60;"
			" group h a 2..5 cpu=9007199254740 memory=9007199254740992 run=2; group i a 1..4 cpu=1 memory=1 run=3 p=10; group j b 1..3 memory=9007199254740992 p=-1;"
			" group k b 3 cpu=3 p=2147483647; group l c 1..100000 p=-2147483648; group m c 1; group o a 5 cpu=3 p=1000");
		strange_queues(&w, seed);
		strange_sums(&w, seed);
		assert_false(w.r.unsettled);
		for (uint32_t i = 0; i < w.s.n_queues; i++)
			assert_true(w.r.queues[i].share >= 0);
		world_end(&w);
	}
}

static void nothing_at_all(void **state)
{
	static const struct row rows[] = {
		{ "no nodes", "queue a; group j a 1 cpu=1; group k a 1", "j Infeasible, k Infeasible" },
		{ "a node without anything", "node n pods=0; queue a; group j a 1", "j Infeasible" },
		{ "no requests", "node n cpu=1; queue a; group j a 1..5 run=1", "j 5" },
		{ "a quota of 0",
			"node n cpu=9; queue a; quota default q pods=0; group j a 1 cpu=1; group k a 1..3 cpu=1 run=2",
			"j QuotaInfeasible, k 2" },
		{ "a capability of 0",
			"node n cpu=9; queue a cap=cpu:0; group j a 1 cpu=1; group k a 1 memory=0",
			"j Infeasible, k 1" },
		{ "no queue", "node n cpu=9; group j a 1 cpu=1; group k a 1 cpu=1 run=1",
			"j QueueNotFound, k 1" },
	};

	(void)state;
	check_rows(rows, KAR_LEN(rows), describe_groups);
}

static void no_group(void **state)
{
	struct world w;

	(void)state;
	world_begin(&w, "");
	world_plan(&w);
	assert_true(w.r.again_at == KAR_NEVER);
	assert_false(w.r.unsettled);
	world_end(&w);
}

/* The parent of each of many queues. */
enum shape { FLAT, CHAIN, CYCLE, THREE_LEVELS, ALL_BELOW_ONE };

static uint32_t parent_of(enum shape shape, uint32_t i, uint32_t n)
{
	switch (shape) {
	case CHAIN:
		return i ? i - 1 : KAR_QUEUE_NONE;
	case CYCLE:
		return (i + 1) % n;
	case THREE_LEVELS:
		return i < 10 ? KAR_QUEUE_NONE : i < 100 ? i % 10 : 10 + i % 90;
	case ALL_BELOW_ONE:
		return i ? 0 : KAR_QUEUE_NONE;
	case FLAT:
	default:
		return KAR_QUEUE_NONE;
	}
}

static void plan_many(enum shape shape, uint32_t n)
{
	struct world w;
	struct kar_queue_in *queues;
	struct kar_queue_snapshot s;

	world_begin(&w, "node n cpu=100; queue a; 30*group j a 1 cpu=1");
	world_plan(&w);
	s = w.s;
	queues = kar_arena_alloc(&w.a, n, sizeof(*queues));
	for (uint32_t i = 0; i < n; i++) {
		queues[i] = w.queues[0];
		queues[i].name = kar_arena_printf(&w.a, "q%05u", (unsigned)i);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t parent = parent_of(shape, i, n);

		queues[i].parent = parent == KAR_QUEUE_NONE ? NULL : queues[parent].name;
		queues[i].parent_in_force = queues[i].parent;
		queues[i].deserved = i % 3 ? w.queues[0].deserved : world_amounts(&w, "cpu:1");
	}
	s.queues = queues;
	s.n_queues = n;
	for (uint32_t i = 0; i < s.n_groups; i++)
		w.groups[i].queue = n - 1 - i * (n / 100);
	kar_queue_plan(&s, w.now, &w.a, &w.r);
	assert_false(w.r.unsettled);
	for (uint32_t i = 0; i < s.n_groups; i++) {
		bool valid = shape != CHAIN && shape != CYCLE;

		assert_int_equal(w.r.groups[i].reason, valid ? KAR_QR_ADMITTED : KAR_QR_QUEUE_INVALID);
	}
	world_end(&w);
}

static void very_many_queues(void **state)
{
	(void)state;
	for (enum shape shape = FLAT; shape <= ALL_BELOW_ONE; shape++)
		plan_many(shape, 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parents),
		cmocka_unit_test(counts),
		cmocka_unit_test(shares),
		cmocka_unit_test(over_capability),
		cmocka_unit_test(levels),
		cmocka_unit_test(nothing_at_all),
		cmocka_unit_test(no_group),
		cmocka_unit_test(strange_quantities),
		cmocka_unit_test(very_many_queues),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
