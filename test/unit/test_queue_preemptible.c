/* The pass over groups that have no room but that of pods of no queue (decision 092, queue_scene.h): who of these goes, and what is said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/unit/queue_scene.h"

#define HELD(pods) \
	"g Reserving capacity is held; " pods " of no queue are still stopping; 1st of 1 in queue a"

static const struct scene_row rows[] = {
	{ "who_fits_evicts_nobody", "queue a; node n1 cpu=4; other x n1:2xcpu=1 prio=-10; g a needs=2xcpu=1",
		"g Admitted n1*2" },
	{ "the_youngest_go_and_no_more_than_are_needed",
		"queue a; node n1 cpu=4; other x n1:4xcpu=1 prio=-10; g a needs=2xcpu=1",
		HELD("pods o/x0, o/x1") " evicts x0 x1" },
	{ "one_pod", "queue a; node n1 cpu=4; other x n1:4xcpu=1 prio=-10; g a needs=1xcpu=1",
		"g Reserving capacity is held; pod o/x0 of no queue is still stopping; 1st of 1 in queue a evicts x0" },
	{ "many_are_counted", "queue a; node n1 cpu=5; other x n1:5xcpu=1 prio=-10; g a needs=5xcpu=1",
		HELD("pods o/x0, o/x1, o/x2 and 2 more") " evicts x0 x1 x2 x3 x4" },
	{ "the_lowest_priority_first",
		"queue a; node n1 cpu=4; other y n1:1xcpu=2 prio=-20; other x n1:1xcpu=2 prio=-10; g a needs=1xcpu=2",
		"g Reserving capacity is held; pod o/y0 of no queue is still stopping; 1st of 1 in queue a evicts y0" },
	{ "the_node_on_which_fewest_go",
		"queue a; node n1 cpu=4; node n2 cpu=4; other x n1:4xcpu=1 prio=-10; other y n2:1xcpu=1 prio=-10; g a needs=1xcpu=4",
		"g Reserving capacity is held; pod o/y0 of no queue is still stopping; 1st of 1 in queue a evicts y0" },
	{ "not_one_of_its_own_priority",
		"queue a; node n1 cpu=4; other x n1:4xcpu=1 prio=-10; g a prio=-10 needs=2xcpu=1",
		"g InsufficientCapacity insufficient cpu: 2 requested, 0 of 4 free (2 short), taken by pods of no queue: 4 cpu; 1st of 1 in queue a" },
	{ "nobody_if_not_all_of_it_fits_then",
		"queue a; node n1 cpu=4; node n2 cpu=4; h a admitted prio=9 uses=n2:4xcpu=1 protected; other x n1:4xcpu=1 prio=-10; g a needs=5xcpu=1",
		"h Admitted; g InsufficientCapacity insufficient cpu: 5 requested, 0 of 8 free (5 short), taken by pods of no queue: 4 cpu; 1st of 1 in queue a" },
	{ "first_a_gang_that_goes_by_right",
		"queue a preempts; node n1 cpu=4; h a admitted prio=-5 uses=n1:2xcpu=1; other x n1:2xcpu=1 prio=-10; g a needs=2xcpu=1",
		"h Preempted evicted for ns/g: priority 0 over -5; g Reserving capacity is held; 2 pods of ns/h are still stopping; 1st of 1 in queue a" },
	{ "a_limit_of_its_queue_evicts_nobody",
		"queue a max=0; node n1 cpu=4; other x n1:4xcpu=1 prio=-10; g a needs=2xcpu=1",
		"g MaxJobsReached queue a has 1 of 1 jobs; 1st of 1 in queue a" },
	{ "not_for_pods_that_are_created_bound",
		"queue a; node n1 cpu=4; other x n1:4xcpu=1 prio=-10; g a direct needs=2xcpu=1",
		"g InsufficientCapacity insufficient cpu: 2 requested, 0 of 4 free (2 short), taken by pods of no queue: 4 cpu; 1st of 1 in queue a" },
	{ "nor_where_a_fit_is_no_promise",
		"queue a; node n1 cpu=4; other x n1:4xcpu=1 prio=-10; g a unverified needs=2xcpu=1",
		"g InsufficientCapacity insufficient cpu: 2 requested, 0 of 4 free (2 short), taken by pods of no queue: 4 cpu; 1st of 1 in queue a" },
	{ "nor_by_a_class_that_never_preempts",
		"queue a; node n1 cpu=4; other x n1:4xcpu=1 prio=-10; g a never needs=2xcpu=1",
		"g InsufficientCapacity insufficient cpu: 2 requested, 0 of 4 free (2 short), taken by pods of no queue: 4 cpu; 1st of 1 in queue a" },
	{ "nor_before_the_question_about_its_pods_is_answered",
		"queue a; node n1 cpu=4; other x n1:4xcpu=1 prio=-10; g a asks needs=2xcpu=1",
		"g CheckingTemplate (asks) the API server is asked whether it accepts the pods" },

	{ "what_stops_is_held",
		"queue a; node n1 cpu=4; other x n1:2xcpu=1 prio=-10 stops; other y n1:2xcpu=1 prio=-10; g a needs=2xcpu=1",
		HELD("pods o/x0, o/x1") },
	{ "what_is_gone_soon_is_waited_for_by_its_pods",
		"queue a; node n1 cpu=4; other x n1:2xcpu=1 prio=-10 soon; other y n1:2xcpu=1 prio=-10; g a needs=2xcpu=1",
		"g Admitted n1*2" },
	{ "but_not_by_those_that_are_created_bound",
		"queue a; node n1 cpu=4; other x n1:2xcpu=1 prio=-10 soon; other y n1:2xcpu=1 prio=-10; g a direct needs=2xcpu=1",
		HELD("pods o/x0, o/x1") },
	{ "no_room_is_given_twice",
		"queue a; node n1 cpu=4; other x n1:2xcpu=1 prio=-10 soon; h a admitted prio=9 uses=n1:2xcpu=1 protected; g a age=2 needs=2xcpu=1; i a age=1 needs=2xcpu=1",
		"h Admitted; g Admitted n1*2; i InsufficientCapacity insufficient cpu: 2 requested, 0 of 4 free (2 short), taken by pods of no queue: 2 cpu; 1st of 1 in queue a" },

	{ "who_takes_the_room_of_a_claim_is_preempted_by_its_pods",
		"queue a; node n1 cpu=4; other x n1:2xcpu=1 prio=-10 young; other y n1:2xcpu=1 prio=-10; g a reserving needs=2xcpu=1",
		"g Admitted n1*2" },
	{ "unless_it_was_there_before",
		"queue a; node n1 cpu=4; other x n1:4xcpu=1 prio=-10; g a reserving needs=2xcpu=1",
		HELD("pods o/x0, o/x1") " evicts x0 x1" },
	{ "and_only_for_a_claim",
		"queue a; node n1 cpu=4; other x n1:4xcpu=1 prio=-10 young; g a needs=2xcpu=1",
		HELD("pods o/x0, o/x1") " evicts x0 x1" },
	{ "a_budget_keeps_its_pods",
		"queue a; node n1 cpu=4; allows b=0; other x n1:4xcpu=1 prio=-10 budget=b; g a needs=2xcpu=1",
		"g InsufficientCapacity insufficient cpu: 2 requested, 0 of 4 free (2 short), taken by pods of no queue: 4 cpu, pod o/x0 of no queue stays: PodDisruptionBudget o/b; 1st of 1 in queue a" },
	{ "others_go_instead",
		"queue a; node n1 cpu=4; allows b=0; other x n1:2xcpu=1 prio=-10 budget=b; other y n1:2xcpu=1 prio=-10; g a needs=2xcpu=1",
		HELD("pods o/y0, o/y1") " evicts y0 y1" },
	{ "nobody_else_goes_if_these_are_too_few",
		"queue a; node n1 cpu=4; allows b=1; other x n1:2xcpu=1 prio=-10 budget=b; other y n1:2xcpu=1 prio=-10; g a needs=4xcpu=1",
		"g InsufficientCapacity insufficient cpu: 4 requested, 0 of 4 free (4 short), taken by pods of no queue: 4 cpu, pod o/x1 of no queue stays: PodDisruptionBudget o/b; 1st of 1 in queue a" },
	{ "as_many_as_it_allows_go",
		"queue a; node n1 cpu=4; allows b=1; other x n1:4xcpu=1 prio=-10 budget=b; g a needs=1xcpu=1",
		"g Reserving capacity is held; pod o/x0 of no queue is still stopping; 1st of 1 in queue a evicts x0" },
	{ "who_was_refused_a_moment_ago_stays",
		"queue a; node n1 cpu=2; other x n1:2xcpu=1 prio=-10 kept=refused; g a needs=2xcpu=1",
		"g InsufficientCapacity insufficient cpu: 2 requested, 0 of 2 free (2 short), taken by pods of no queue: 2 cpu, pod o/x0 of no queue stays: refused; 1st of 1 in queue a" },
	{ "gang_in_two_places",
		"queue a; node n1 cpu=2; node n2 cpu=2; node n3 cpu=2; other x n1:2xcpu=1 prio=-10; other y n2:2xcpu=1 prio=-10; other z n3:1xcpu=1 prio=-10; g a needs=2xcpu=2",
		"g Reserving capacity is held; pods o/y0, o/y1, o/z0 of no queue are still stopping; 1st of 1 in queue a evicts y0 y1 z0" },
	{ "two_gangs_each_have_their_own",
		"queue a; node n1 cpu=4; other x n1:4xcpu=1 prio=-10; g a age=2 needs=2xcpu=1; h a age=1 needs=2xcpu=1",
		"g Reserving capacity is held; pods o/x0, o/x1 of no queue are still stopping; 1st of 2 in queue a; h Reserving capacity is held; pods o/x2, o/x3 of no queue are still stopping; 2nd of 2 in queue a evicts x0 x1 x2 x3" },
};

static void print(const struct scene *s, struct kar_buf *out)
{
	bool any = false;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct kar_queue_decision *d = &s->decisions[i];

		kar_buf_printf(out, "%s%s %s", i ? "; " : "", s->groups[i].name,
			kar_queue_reason_name(d->reason));
		if (d->asks)
			kar_buf_puts(out, " (asks)");
		for (uint32_t k = 0; d->places && k < d->places->n_places; k++)
			kar_buf_printf(out, " %s*%d", d->places->places[k].node, (int)d->places->places[k].n);
		if (d->standing != KAR_QUEUE_ADMITTED)
			kar_buf_printf(out, " %s", d->message);
	}
	for (uint32_t i = 0; i < s->snapshot.n_preemptible; i++) {
		if (s->result.takers[i] == KAR_QUEUE_NONE)
			continue;
		kar_buf_printf(out, "%s %s", any ? "" : " evicts", s->others_here[i].name);
		any = true;
	}
}

static void pods_of_no_queue_make_room(void **state)
{
	(void)state;
	check_scenes(rows, KAR_LEN(rows), print);
}

enum { NODES = 120, KIB = 1024 };

/* @groups gangs of 1, 2, 3 ... pods, or one of @pods; each node has a pod of no queue. Returns bytes of the arena of the pass, with the scene. */
static size_t measure(int groups, int pods, const char *budget)
{
	struct kar_buf text = { 0 };
	struct scene *s;
	size_t bytes;

	kar_buf_printf(&text, "queue a; allows b=0");
	for (int i = 0; i < NODES; i++)
		kar_buf_printf(&text, "; node n%d cpu=1; other x%d n%d:1xcpu=1 prio=-10%s", i, i, i, budget);
	for (int i = 0; i < groups; i++)
		kar_buf_printf(&text, "; g%d a needs=%dxcpu=1", i, pods + i);
	s = new_scene(kar_buf_cstr(&text));
	plan(s);
	bytes = kar_arena_bytes(&s->arena);
	free_scene(s);
	kar_buf_release(&text);
	return bytes;
}

/* The places that are tried are forgotten one by one, and it is not asked for each group whom a budget keeps. */
static void many_that_may_go_cost_little_memory(void **state)
{
	(void)state;
	assert_in_range(measure(1, NODES, ""), 1, 600 * KIB);
	assert_in_range(measure(100, 1, " budget=b"), 1, 2048 * KIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pods_of_no_queue_make_room),
		cmocka_unit_test(many_that_may_go_cost_little_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
