/* The pass over groups whose pods it places (queue_scene.h): who is admitted, where its pods go, and why others wait. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/unit/queue_scene.h"

#define TWO_RACKS \
	"node m1 cpu=2 @rack=m; node m2 cpu=2 @rack=m; node n1 cpu=2 @rack=n; node n2 cpu=2 @rack=n; "

static const struct scene_row rows[] = {
	{ "fits", "queue a; node n1 cpu=4; g1 a needs=3xcpu=1", "g1 Admitted n1*3" },
	{ "with_extras", "queue a; node n1 cpu=4; g1 a needs=2xcpu=1 wants=5", "g1 Admitted n1*2" },
	{ "whole_or_not_at_all", "queue a; node n1 cpu=2; node n2 cpu=1; g1 a needs=4xcpu=1",
		"g1 Infeasible insufficient cpu: 4 requested, 3 of 3 free (1 short)" },
	{ "two_gangs_of_which_only_one_fits",
		"queue a; node n1 cpu=6; g1 a age=2 needs=4xcpu=1; g2 a age=1 needs=4xcpu=1",
		"g1 Admitted n1*4; g2 InsufficientCapacity insufficient cpu: 4 requested, 2 of 6 free (2 short); 1st of 1 in queue a" },
	{ "smaller_gang_passes", "queue a; node n1 cpu=6; g1 a age=2 needs=8xcpu=1; g2 a age=1 needs=4xcpu=1",
		"g1 Infeasible insufficient cpu: 8 requested, 6 of 6 free (2 short); g2 Admitted n1*4" },
	{ "but_not_in_a_strict_queue",
		"queue a strict; node n1 cpu=6; g0 a admitted needs=1xcpu=1 held=n1:1; g1 a age=2 needs=6xcpu=1; g2 a age=1 needs=4xcpu=1",
		"g0 Admitted; g1 InsufficientCapacity insufficient cpu: 6 requested, 5 of 6 free (1 short); 1st of 2 in queue a; g2 BehindHead queue a is StrictFIFO: ns/g1 goes first; 2nd of 2 in queue a" },
	{ "priority_decides_over_all_queues",
		"queue a; queue b; node n1 cpu=6; g1 a needs=4xcpu=1; g2 b prio=9 needs=4xcpu=1",
		"g1 InsufficientCapacity insufficient cpu: 4 requested, 2 of 6 free (2 short); 1st of 1 in queue a; g2 Admitted n1*4" },
	{ "plans_are_held",
		"queue a; node n1 cpu=6; g1 a admitted needs=4xcpu=1 held=n1:4; g2 a prio=9 needs=4xcpu=1",
		"g1 Admitted; g2 InsufficientCapacity insufficient cpu: 4 requested, 2 of 6 free (2 short); 1st of 1 in queue a" },
	{ "what_an_admitted_gang_lacks_comes_first",
		"queue a; node n1 cpu=6; g1 a admitted needs=3xcpu=1; g2 a prio=9 needs=4xcpu=1",
		"g1 Admitted; g2 InsufficientCapacity insufficient cpu: 4 requested, 3 of 6 free (1 short); 1st of 1 in queue a" },
	{ "as_far_as_there_is_room",
		"queue a; node n1 cpu=2; g1 a admitted needs=3xcpu=1; g2 a needs=1xcpu=1",
		"g1 Admitted; g2 InsufficientCapacity insufficient cpu: 1 requested, 0 of 2 free (1 short); 1st of 1 in queue a" },
	{ "full_queue_holds_no_room",
		"queue a max=0; node n1 cpu=2; queue b; g1 a needs=2xcpu=1; g2 b needs=2xcpu=1",
		"g1 MaxJobsReached queue a has 1 of 1 jobs; 1st of 1 in queue a; g2 Admitted n1*2" },
	{ "group_without_room_takes_no_job_of_the_queue",
		"queue a max=1; node n1 cpu=2; g0 b admitted needs=1xcpu=1 held=n1:1; g1 a age=2 needs=2xcpu=1; g2 a age=1 needs=1xcpu=1",
		"g0 Admitted; g1 MaxJobsReached queue a has 1 of 1 jobs; 1st of 1 in queue a; g2 Admitted n1" },
	{ "failed_a_moment_ago",
		"queue a strict; node n1 cpu=2; g1 a age=2 needs=2xcpu=1 retry; g2 a age=1 needs=2xcpu=1",
		"g1 BackOff next try soon; g2 Admitted n1*2" },
	{ "pods_of_the_last_attempt_are_still_there",
		"queue a strict; node n1 cpu=2; g1 a age=2 needs=2xcpu=1 rolled-back; g2 a age=1 needs=2xcpu=1",
		"g1 BackOff its pods are being removed; g2 Admitted n1*2" },
	{ "failed_too_often", "queue a; node n1 cpu=2; g1 a needs=2xcpu=1 deactivated",
		"g1 Deactivated too many attempts" },
	{ "nodes_come_on_demand", "queue a provisions; node n1 cpu=2; g1 a needs=3xcpu=1",
		"g1 Admitted provisions: 1 node lacks cpu (short 1)" },
	{ "for_one_gang_at_a_time",
		"queue a provisions; node n1 cpu=2; g1 a age=2 needs=3xcpu=1; g2 a age=1 needs=3xcpu=1; g3 a needs=1xcpu=1",
		"g1 Admitted provisions: 1 node lacks cpu (short 2); g2 Provisioning waiting for ns/g1, for which nodes are being added; 1st of 1 in queue a; g3 Admitted n1" },
	{ "a_strict_queue_keeps_its_order_then",
		"queue a strict provisions; node n1 cpu=2; g1 a age=2 needs=3xcpu=1; g2 a age=1 needs=3xcpu=1; g3 a needs=1xcpu=1",
		"g1 Admitted provisions: 1 node lacks cpu (short 2); g2 Provisioning waiting for ns/g1, for which nodes are being added; 1st of 1 in queue a; g3 Admitted n1" },
	{ "which_waits_already",
		"queue a provisions; node n1 cpu=2; g1 a admitted grows needs=3xcpu=1; g2 a needs=3xcpu=1",
		"g1 Admitted; g2 Provisioning waiting for ns/g1, for which nodes are being added; 1st of 1 in queue a" },
	{ "gangs_that_start_together",
		"queue a; node n1 cpu=6; g1 a age=2 needs=3xcpu=1 with=g2; g2 a age=1 needs=3xcpu=1 with=g1",
		"g1 Admitted n1*3; g2 Admitted n1*3" },
	{ "or_not_at_all",
		"queue a; node n1 cpu=6; g1 a age=3 needs=4xcpu=1 with=g2; g2 a age=2 needs=3xcpu=1 with=g1; g3 a age=1 needs=6xcpu=1",
		"g1 InsufficientCapacity insufficient cpu: 4 requested, 0 of 6 free (4 short); 1st of 2 in queue a; g2 WaitingForGangGroup it starts with ns/g1, which waits (InsufficientCapacity); 2nd of 2 in queue a; g3 Admitted n1*6" },
	{ "the_one_that_is_too_large_says_why",
		"queue a; node n1 cpu=6; g1 a age=2 needs=3xcpu=1 with=g2; g2 a age=1 needs=7xcpu=1 with=g1",
		"g1 WaitingForGangGroup it starts with ns/g2, which waits (Infeasible); 1st of 1 in queue a; g2 Infeasible insufficient cpu: 7 requested, 6 of 6 free (1 short)" },
	{ "one_that_is_not_named_back_starts_alone",
		"queue a; node n1 cpu=6; g1 a age=2 needs=4xcpu=1 with=g2; g2 a age=1 needs=3xcpu=1",
		"g1 InsufficientCapacity insufficient cpu: 4 requested, 3 of 6 free (1 short); 1st of 1 in queue a; g2 Admitted n1*3" },
	{ "in_other_queues_too",
		"queue a; queue b max=0; node n1 cpu=6; g1 a age=2 needs=3xcpu=1 with=g2; g2 b age=1 needs=3xcpu=1 with=g1",
		"g1 WaitingForGangGroup it starts with ns/g2, which waits (MaxJobsReached); 1st of 1 in queue a; g2 MaxJobsReached queue b has 1 of 1 jobs; 1st of 1 in queue b" },
	{ "both_count_for_their_queue",
		"queue a max=1; node n1 cpu=6; g1 a age=3 needs=1xcpu=1 with=g2; g2 a age=2 needs=1xcpu=1 with=g1; g3 a age=1 needs=1xcpu=1",
		"g1 MaxJobsReached queue a has 1 of 1 jobs; 1st of 2 in queue a; g2 WaitingForGangGroup it starts with ns/g1, which waits (MaxJobsReached); 2nd of 2 in queue a; g3 Admitted n1" },
	{ "one_that_does_not_exist",
		"queue a; node n1 cpu=6; g1 a needs=1xcpu=1 missing=ns/x; g2 a needs=6xcpu=1",
		"g1 WaitingForGangGroup it starts with ns/x, which does not exist; 1st of 1 in queue a; g2 Admitted n1*6" },
	{ "one_that_has_its_places_is",
		"queue a; node n1 cpu=6; g1 a needs=1xcpu=1 with=g2; g2 a admitted needs=2xcpu=1 held=n1:2",
		"g1 Admitted n1; g2 Admitted" },
	{ "in_another_order_if_one_takes_what_only_another_can_use",
		"queue a; node n1 cpu=2 @rack=r; node n2 cpu=2; g1 a age=1 needs=1xcpu=2,on=rack=r with=g2; g2 a age=2 needs=1xcpu=2 with=g1",
		"g1 Admitted n1; g2 Admitted n2" },
	{ "three_of_which_the_last_has_no_room",
		"queue a; node n1 cpu=6; g1 a age=3 needs=2xcpu=1 with=g2,g3; g2 a age=2 needs=2xcpu=1 with=g1,g3; g3 a age=1 prio=1 needs=3xcpu=1 with=g1,g2",
		"g1 WaitingForGangGroup it starts with ns/g2, which waits (NoFit); 2nd of 3 in queue a; g2 WaitingForGangGroup it starts with ns/g1, which waits (NoFit); 3rd of 3 in queue a; g3 WaitingForGangGroup it starts with ns/g2, which waits (NoFit); 1st of 3 in queue a" },

	{ "gang_of_lower_priority_is_evicted",
		"queue a preempts; node n1 cpu=4; g1 a admitted prio=1 uses=n1:3xcpu=1; g2 a prio=5 needs=4xcpu=1",
		"g1 Preempted evicted for ns/g2: priority 5 over 1; g2 Reserving capacity is held; 3 pods of ns/g1 are still stopping; 1st of 1 in queue a" },
	{ "not_in_a_queue_that_does_not_say_so",
		"queue a; node n1 cpu=4; g1 a admitted prio=1 uses=n1:3xcpu=1; g2 a prio=5 needs=4xcpu=1",
		"g1 Admitted; g2 InsufficientCapacity insufficient cpu: 4 requested, 1 of 4 free (3 short); 1st of 1 in queue a" },
	{ "not_in_another_queue",
		"queue a preempts; queue b preempts; node n1 cpu=4; g1 b admitted prio=1 uses=n1:3xcpu=1; g2 a prio=5 needs=4xcpu=1",
		"g1 Admitted; g2 InsufficientCapacity insufficient cpu: 4 requested, 1 of 4 free (3 short); 1st of 1 in queue a" },
	{ "not_of_equal_priority",
		"queue a preempts; node n1 cpu=4; g1 a admitted prio=5 uses=n1:3xcpu=1; g2 a prio=5 needs=4xcpu=1",
		"g1 Admitted; g2 InsufficientCapacity insufficient cpu: 4 requested, 1 of 4 free (3 short); 1st of 1 in queue a" },
	{ "not_if_its_class_never_preempts",
		"queue a preempts; node n1 cpu=4; g1 a admitted prio=1 uses=n1:3xcpu=1; g2 a prio=5 never needs=4xcpu=1",
		"g1 Admitted; g2 InsufficientCapacity insufficient cpu: 4 requested, 1 of 4 free (3 short); 1st of 1 in queue a" },
	{ "what_would_come_free_is_for_pods_without_a_node",
		"queue a preempts; node n1 cpu=6; node n2 cpu=3; node n3 cpu=2; node n4 cpu=2; g0 a admitted prio=9 needs=1xcpu=5; g1 a admitted prio=1 uses=n1:1xcpu=3; g2 a prio=5 needs=2xcpu=3",
		"g0 Admitted; g1 Admitted; g2 InsufficientCapacity insufficient cpu: 6 requested, 5 of 13 free (1 short); 1st of 1 in queue a" },
	{ "nobody_is_evicted_in_vain",
		"queue a preempts; node n1 cpu=4; g0 a admitted prio=9 uses=n1:2xcpu=1; g1 a admitted prio=1 uses=n1:2xcpu=1; g2 a prio=5 needs=3xcpu=1",
		"g0 Admitted; g1 Admitted; g2 InsufficientCapacity insufficient cpu: 3 requested, 0 of 4 free (3 short); 1st of 1 in queue a" },
	{ "lowest_priority_first_and_none_that_is_not_needed",
		"queue a preempts; node n1 cpu=6; g0 a admitted prio=3 uses=n1:2xcpu=1; g1 a admitted prio=1 uses=n1:2xcpu=1; "
		"g2 a admitted prio=2 uses=n1:2xcpu=1; g3 a prio=5 needs=2xcpu=1",
		"g0 Admitted; g1 Preempted evicted for ns/g3: priority 5 over 1; g2 Admitted; g3 Reserving capacity is held; 2 pods of ns/g1 are still stopping; 1st of 1 in queue a" },
	{ "of_equals_the_one_that_was_admitted_last",
		"queue a preempts; node n1 cpu=4; g1 a admitted prio=1 started=9 uses=n1:2xcpu=1; g2 a admitted prio=1 started=3 uses=n1:2xcpu=1; g3 a prio=5 needs=2xcpu=1",
		"g1 Admitted; g2 Preempted evicted for ns/g3: priority 5 over 1; g3 Reserving capacity is held; 2 pods of ns/g2 are still stopping; 1st of 1 in queue a" },
	{ "small_one_is_spared_if_a_larger_one_does",
		"queue a preempts; node n1 cpu=6; g1 a admitted prio=1 uses=n1:1xcpu=1; g2 a admitted prio=2 uses=n1:5xcpu=1; g3 a prio=5 needs=5xcpu=1",
		"g1 Admitted; g2 Preempted evicted for ns/g3: priority 5 over 2; g3 Reserving capacity is held; 5 pods of ns/g2 are still stopping; 1st of 1 in queue a" },
	{ "one_that_has_run_for_a_moment_is_protected",
		"queue a preempts; node n1 cpu=4; g1 a admitted prio=1 uses=n1:3xcpu=1 protected; g2 a prio=5 needs=4xcpu=1",
		"g1 Admitted; g2 InsufficientCapacity insufficient cpu: 4 requested, 1 of 4 free (3 short); 1st of 1 in queue a" },
	{ "room_that_comes_free_is_held",
		"queue a preempts; node n1 cpu=4; g1 a prio=1 uses=n1:2xcpu=1 evicted-by=ns/g2; g2 a prio=5 needs=4xcpu=1; g3 a prio=2 needs=1xcpu=1",
		"g1 Preempted evicted; g2 Reserving capacity is held; 2 pods of ns/g1 are still stopping; 1st of 2 in queue a; g3 InsufficientCapacity insufficient cpu: 1 requested, 0 of 4 free (1 short); 2nd of 2 in queue a" },
	{ "what_is_left_over_is_not",
		"queue a preempts; node n1 cpu=6; g1 a prio=1 uses=n1:2xcpu=1 evicted-by=ns/g2; g2 a prio=5 needs=3xcpu=1; g3 a prio=2 needs=1xcpu=1",
		"g1 Preempted evicted; g2 Admitted n1*3; g3 Admitted n1" },
	{ "place_among_max_jobs_is_taken_too",
		"queue a preempts max=1; node n1 cpu=6; g1 a admitted prio=1 uses=n1:2xcpu=1; g2 a prio=5 needs=3xcpu=1; g3 a prio=2 needs=1xcpu=1",
		"g1 Preempted evicted for ns/g2: priority 5 over 1; g2 Admitted n1*3; g3 MaxJobsReached queue a has 1 of 1 jobs; 1st of 1 in queue a" },
	{ "nobody_is_evicted_for_a_start_that_has_failed",
		"queue a preempts; node n1 cpu=4; g1 a admitted prio=1 uses=n1:4xcpu=1; g2 a prio=5 needs=4xcpu=1 failed",
		"g1 Admitted; g2 InsufficientCapacity insufficient cpu: 4 requested, 0 of 4 free (4 short); 1st of 1 in queue a" },
	{ "fewest_of_many",
		"queue a preempts; node n1 cpu=6; g0 a admitted prio=1 started=1 uses=n1:1xcpu=1; g1 a admitted prio=1 started=2 uses=n1:1xcpu=1; "
		"g2 a admitted prio=1 started=3 uses=n1:1xcpu=1; g3 a admitted prio=1 started=4 uses=n1:1xcpu=1; "
		"g4 a admitted prio=1 started=5 uses=n1:1xcpu=1; g5 a admitted prio=1 started=6 uses=n1:1xcpu=1; g6 a prio=5 needs=2xcpu=1",
		"g0 Preempted evicted for ns/g6: priority 5 over 1; g1 Preempted evicted for ns/g6: priority 5 over 1; g2 Admitted; g3 Admitted; g4 Admitted; g5 Admitted; g6 Reserving capacity is held; 1 pod of ns/g0, 1 of ns/g1 are still stopping; 1st of 1 in queue a" },
	{ "who_was_evicted_evicts_nobody_back",
		"queue a preempts; node n1 cpu=4; g1 a admitted prio=1 uses=n1:4xcpu=1; g2 a prio=5 needs=4xcpu=1 lost-to=ns/g1",
		"g1 Admitted; g2 InsufficientCapacity insufficient cpu: 4 requested, 0 of 4 free (4 short); 1st of 1 in queue a" },

	{ "who_is_to_be_asked_about_evicts_nobody",
		"queue a preempts; node n1 cpu=4; g1 a admitted prio=1 uses=n1:3xcpu=1; g2 a prio=5 asks needs=4xcpu=1",
		"g1 Admitted; g2 CheckingTemplate (asks) the API server is asked whether it accepts the pods" },
	{ "nor_is_asked_about_if_nobody_can_go",
		"queue a; node n1 cpu=4; g1 a admitted prio=1 uses=n1:3xcpu=1; g2 a prio=5 asks needs=4xcpu=1",
		"g1 Admitted; g2 InsufficientCapacity insufficient cpu: 4 requested, 1 of 4 free (3 short); 1st of 1 in queue a" },
	{ "nor_if_nobody_need_go", "queue a preempts; node n1 cpu=4; g2 a prio=5 asks needs=4xcpu=1",
		"g2 Admitted n1*4" },
	{ "nor_for_room_that_comes_free",
		"queue a preempts; node n1 cpu=4; g1 a prio=1 uses=n1:2xcpu=1 evicted-by=ns/g2; g2 a prio=5 asks needs=4xcpu=1",
		"g1 Preempted evicted; g2 Reserving capacity is held; 2 pods of ns/g1 are still stopping; 1st of 1 in queue a" },
	{ "it_gets_no_new_nodes_instead",
		"queue a preempts provisions; node n1 cpu=4; g1 a admitted prio=1 uses=n1:3xcpu=1; g2 a prio=5 asks needs=4xcpu=1; g3 a prio=2 needs=1xcpu=1",
		"g1 Admitted; g2 CheckingTemplate (asks) the API server is asked whether it accepts the pods; "
		"g3 CheckingTemplate room is held for ns/g2, while the API server is asked whether it accepts its pods" },
	{ "less_important_one_takes_neither_its_victim_nor_its_room",
		"queue a preempts; node n1 cpu=4; g1 a admitted prio=1 uses=n1:3xcpu=1; g2 a prio=5 asks needs=4xcpu=1; "
		"g3 a prio=4 needs=3xcpu=1; g4 a prio=2 needs=1xcpu=1",
		"g1 Admitted; g2 CheckingTemplate (asks) the API server is asked whether it accepts the pods; "
		"g3 InsufficientCapacity insufficient cpu: 3 requested, 1 of 4 free (2 short); 1st of 1 in queue a; "
		"g4 CheckingTemplate room is held for ns/g2, while the API server is asked whether it accepts its pods" },
	{ "nor_what_its_victims_leave",
		"queue a preempts; node n1 cpu=6; g1 a admitted prio=1 uses=n1:4xcpu=1; g2 a admitted prio=2 uses=n1:2xcpu=1; "
		"g3 a prio=5 asks needs=2xcpu=1; g4 a prio=4 needs=4xcpu=1",
		"g1 Admitted; g2 Admitted; g3 CheckingTemplate (asks) the API server is asked whether it accepts the pods; "
		"g4 InsufficientCapacity insufficient cpu: 4 requested, 0 of 6 free (4 short); 1st of 1 in queue a" },
	{ "nor_waits_for_it_before_they_go",
		"queue a preempts; node n1 cpu=6; g1 a admitted prio=1 uses=n1:5xcpu=1; g3 a prio=5 asks needs=3xcpu=1; g4 a prio=2 needs=2xcpu=1",
		"g1 Admitted; g3 CheckingTemplate (asks) the API server is asked whether it accepts the pods; "
		"g4 InsufficientCapacity insufficient cpu: 2 requested, 1 of 6 free (1 short); 1st of 1 in queue a" },
	{ "more_important_one_goes_before_it",
		"queue a preempts; node n1 cpu=6; g1 a admitted prio=1 uses=n1:3xcpu=1; g2 a admitted prio=2 uses=n1:3xcpu=1; "
		"g3 a prio=5 asks needs=3xcpu=1; g4 a prio=6 needs=3xcpu=1",
		"g1 Preempted evicted for ns/g4: priority 6 over 1; g2 Admitted; g3 CheckingTemplate (asks) the API server is asked whether it accepts the pods; "
		"g4 Reserving capacity is held; 3 pods of ns/g1 are still stopping; 1st of 1 in queue a" },
	{ "node_on_which_its_pods_failed_is_taken_last",
		"queue a; node n1 cpu=2; node n2 cpu=4; g1 a last=n1 needs=2xcpu=1; g2 a age=1 needs=2xcpu=1",
		"g1 Admitted n2*2; g2 Admitted n1*2" },
	{ "but_taken_if_there_is_no_other",
		"queue a; node n1 cpu=2; node n2 cpu=1; g1 a last=n1 needs=2xcpu=1", "g1 Admitted n2 n1" },
	{ "one_alone_is_not_waited_beside", "queue a; node n1 cpu=2; g1 a last=n1 needs=2xcpu=1",
		"g1 Admitted n1*2" },
	{ "jobs_of_one_rack_alone_are_evicted",
		"queue a preempts; " TWO_RACKS
		"g1 a admitted prio=1 started=9 uses=m1:2xcpu=1; g2 a admitted prio=1 started=2 uses=n1:2xcpu=1; "
		"g3 a admitted prio=1 started=8 uses=m2:2xcpu=1; g4 a admitted prio=1 started=3 uses=n2:2xcpu=1; "
		"t a prio=5 required=rack needs=4xcpu=1",
		"g1 Admitted; g2 Preempted evicted for ns/t: priority 5 over 1; g3 Admitted; g4 Preempted evicted for ns/t: priority 5 over 1; "
		"t Reserving capacity is held; 2 pods of ns/g2, 2 of ns/g4 are still stopping; 1st of 1 in queue a" },
	{ "those_of_the_rack_where_fewest_pods_go",
		"queue a preempts; " TWO_RACKS
		"g1 a admitted prio=1 started=9 uses=m1:1xcpu=1; g2 a admitted prio=1 started=2 uses=n1:2xcpu=1; "
		"g4 a admitted prio=1 started=3 uses=n2:2xcpu=1; t a prio=5 required=rack needs=4xcpu=1",
		"g1 Preempted evicted for ns/t: priority 5 over 1; g2 Admitted; g4 Admitted; "
		"t Reserving capacity is held; 1 pod of ns/g1 is still stopping; 1st of 1 in queue a" },
	{ "nobody_is_evicted_if_no_rack_comes_free",
		"queue a preempts; " TWO_RACKS
		"g1 a admitted prio=1 uses=m1:2xcpu=1; g2 a admitted prio=9 uses=m2:1xcpu=1; "
		"g3 a admitted prio=1 uses=n1:2xcpu=1; g4 a admitted prio=9 uses=n2:1xcpu=1; t a prio=5 required=rack needs=4xcpu=1",
		"g1 Admitted; g2 Admitted; g3 Admitted; g4 Admitted; t InsufficientCapacity insufficient cpu: 4 requested, 2 of 8 free (2 short); 1st of 1 in queue a" },
	{ "group_that_is_not_placed", "queue a; node n1 cpu=1; g1 a; g2 a needs=1xcpu=1",
		"g1 Admitted; g2 Admitted n1" },
};

static void print(const struct scene *s, struct kar_buf *out)
{
	for (uint32_t i = 0; i < s->n; i++) {
		const struct kar_queue_decision *d = &s->decisions[i];

		kar_buf_printf(out, "%s%s %s", i ? "; " : "", s->groups[i].name,
			kar_queue_reason_name(d->reason));
		if (d->asks)
			kar_buf_puts(out, " (asks)");
		for (uint32_t k = 0; d->places && k < d->places->n_places; k++) {
			kar_buf_printf(out, " %s", d->places->places[k].node);
			if (d->places->places[k].n > 1)
				kar_buf_printf(out, "*%d", (int)d->places->places[k].n);
		}
		if (d->standing != KAR_QUEUE_ADMITTED)
			kar_buf_printf(out, " %s", d->message);
		else if (d->provisions)
			kar_buf_printf(out, " provisions: %s", d->text);
	}
}

static void gangs_are_admitted_with_their_places(void **state)
{
	(void)state;
	check_scenes(rows, KAR_LEN(rows), print);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gangs_are_admitted_with_their_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
