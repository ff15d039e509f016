/*
 * Whose turn it is, and what that costs whom: rows that single wrong lines of common/queue would pass elsewhere (found by changing them).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/unit/queue_world.h"

/* Each group: d, "claim", or the reason; "gone" if it is evicted. */
static void describe(const struct world *w, struct kar_buf *out)
{
	for (uint32_t i = 0; i < w->s.n_groups; i++) {
		const struct kar_queue_decision *d = &w->r.groups[i];

		kar_buf_printf(out, "%s%s ", i ? ", " : "", w->groups[i].name);
		if (d->cause)
			kar_buf_printf(out, "gone");
		else if (d->standing == KAR_QUEUE_ADMITTED)
			kar_buf_printf(out, "%d", (int)d->desired);
		else
			kar_buf_printf(out, "%s",
				d->standing == KAR_QUEUE_RESERVING ? "claim"
								   : kar_queue_reason_name(d->reason));
	}
}

static void turns(void **state)
{
	static const struct {
		const char *name, *world, *expected;
	} rows[] = {
		{ "who is closed out of a quota does not stop a Strict queue",
			"node n cpu=20; queue a strict; queue b; quota default c pods=5; group h b 1 cpu=1 run=1; group i b 5 cpu=1;"
			" group j a 1 cpu=1; group other/k a 1 cpu=1",
			"h 1, i QuotaExceeded, j QuotaExceeded, k 1" },
		{ "the last in line gives its quota back",
			"node n cpu=9; queue a; quota default c pods=2; group i a 2 cpu=1 bare=2; group j a 2 cpu=1 bare=2",
			"i 2, j QuotaExceeded" },
		{ "whichever comes first in the list",
			"node n cpu=9; queue a; quota default c pods=2; group i a 2 cpu=1 bare=2 t=2000; group j a 2 cpu=1 bare=2 t=1000",
			"i QuotaExceeded, j 2" },
		{ "drained before a pod was released",
			"node n cpu=9; queue a drain; group j a 1 cpu=1 bare=1", "j gone" },
		{ "beside a head that cannot start, in a queue before its own",
			"flags starve=300; node n cpu=12 memory=9; queue b; queue a; group i b 1 cpu=1; group j b 1..3 cpu=1 memory=2 run=2; group k a 3 cpu=1 memory=2 claim t=9212",
			"i 1, j 3, k InsufficientCapacity" },
		{ "in the moment in which it starves",
			"flags starve=300; node n cpu=4; queue a; group h a 3 cpu=1 run=3; group i a 4 cpu=1 t=9700; group j a 1 cpu=1",
			"h 3, i InsufficientCapacity, j HeadReserved" },
		{ "and before",
			"flags starve=301; node n cpu=4; queue a; group h a 3 cpu=1 run=3; group i a 4 cpu=1 t=9700; group j a 1 cpu=1",
			"h 3, i InsufficientCapacity, j 1" },
		{ "one of its own queue stays away so that it is its right",
			"node n cpu=5; queue a n=cpu:2 preempt; queue b; group h x 2 cpu=1 run=2; group i b 2 cpu=1 run=2; group j a 1 cpu=1 run=1; group k a 2 cpu=1 p=10000",
			"h 2, i gone, j gone, k claim" },
		{ "extras stay if the taker would be as far above",
			"node n cpu=7; queue a; queue b; group i b 1..4 cpu=1 run=4; group j a 4 cpu=1",
			"i 4, j InsufficientCapacity" },
		{ "and go if not",
			"node n cpu=8; queue a; queue b; group i b 1..5 cpu=1 run=5; group j a 4 cpu=1",
			"i 4, j claim" },
		{ "nobody grows in a closed queue",
			"node n cpu=9; queue a closed; group j a 1..5 cpu=1 run=2", "j 2" },
		{ "nor in one that has child queues",
			"node n cpu=9; queue a; queue b under=a; group i a 1..5 cpu=1 run=2; group j b 1..5 cpu=1 run=1",
			"i 2, j 5" },
		{ "a right goes before shares",
			"node n cpu=20 memory=10; queue a n=cpu:4; queue b; group g x 1 cpu=18 run=1; group h a 1 memory=8 run=1; group i b 1 cpu=2; group j a 1 cpu=2",
			"g 1, h 1, i InsufficientCapacity, j 1" },
		{ "who has had less goes first, however little it has now",
			"flags history=1; node n cpu=3; queue a had=9; queue b had=5; group h b 2 cpu=1 run=2; group i a 1 cpu=1; group j b 1 cpu=1",
			"h 2, i InsufficientCapacity, j 1" },
		{ "shares decide where nobody asked for that",
			"node n cpu=3; queue a had=9; queue b had=5; group h b 2 cpu=1 run=2; group i a 1 cpu=1; group j b 1 cpu=1",
			"h 2, i 1, j InsufficientCapacity" },
		{ "and where both have had as much by their weights",
			"flags history=1; node n cpu=3; queue a had=10 w=2; queue b had=5; group h b 2 cpu=1 run=2; group i a 1 cpu=1; group j b 1 cpu=1",
			"h 2, i 1, j InsufficientCapacity" },
		{ "a right goes before what was had",
			"flags history=1; node n cpu=3; queue a had=9 n=cpu:1; queue b had=5; group i a 1 cpu=1; group j b 3 cpu=1",
			"i 1, j InsufficientCapacity" },
		{ "the odd extra goes to who has had less",
			"flags history=1; node n cpu=5; queue a had=9; queue b had=5; group i a 1..3 cpu=1 run=1; group j b 1..3 cpu=1 run=1",
			"i 2, j 3" },
		{ "extras are given up all the same until both have as many",
			"flags history=1; node n cpu=6; queue a had=9; queue b had=5; group i a 1..8 cpu=1 run=1; group j b 1..8 cpu=1 run=5",
			"i 1, j 3" },
		{ "children go by it if their parent says so, whatever top queues do",
			"node n cpu=3; queue p by-history; queue a under=p had=9; queue b under=p had=5; group h b 2 cpu=1 run=2; group i a 1 cpu=1; group j b 1 cpu=1",
			"h 2, i InsufficientCapacity, j 1" },
		{ "of equal shares the higher level",
			"node n cpu=1; queue a; queue b; group i a 1 cpu=1 p=10; group j b 1 cpu=1 p=1000",
			"i InsufficientCapacity, j 1" },
		{ "nobody gives up for a rise what another one who waits would take",
			"node n cpu=18; queue a; queue b; queue c; queue d; queue f; group h b 1 cpu=1 run=1; group i a 2..3 cpu=1 run=2; group j f 8 cpu=1 run=8;"
			" group k d 2 cpu=1 run=2; group l c 1..5 cpu=1 run=5; group m f 1 cpu=1",
			"h 1, i 2, j 8, k 2, l 5, m InsufficientCapacity" },
	};
	bool wrong = false;

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
