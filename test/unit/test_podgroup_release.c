/* Pods of other controllers in a PodGroup: when our gate goes, where they go, and when they are taken back. */
#include "podgroup_scene.h"

#include "common/base/buf.h"
#include "controllers/podgroup/release.h"

struct row {
	const char *name, *scene, *actions;
	const char *scheduled; /* condition Scheduled after it: "Reason: message"; NULL: not looked at */
};

#define ADMITTED "Admitted=True/Admitted "
#define GATED " Pending gated owner=t kind=Job"
#define FREE " Pending released owner=t kind=Job"
#define SERVED FREE " scheduler=kar-scheduler"

static const struct row rows[] = {
	{ "waits_for_members", "others min=3 phase=Pending " ADMITTED "; a" GATED "; b" GATED, "",
		"WaitingForMembers: 2 of 3 members exist; none starts before all exist, unless spec.minResources says what the rest needs" },
	{ "set_that_makes_its_pods_one_after_the_other",
		"others min=3 phase=Pending; web-0 Pending gated owner=web kind=StatefulSet", "",
		"WaitingForMembers: 1 of 3 members exist; none starts before all exist, unless spec.minResources says what the rest needs; if "
		"StatefulSet web creates its pods one after the other, set podManagementPolicy: Parallel" },
	{ "set_whose_other_pods_come",
		"others min=3 phase=Pending; web-0 Pending gated owner=web kind=StatefulSet; web-1 Pending gated owner=web kind=StatefulSet",
		"",
		"WaitingForMembers: 2 of 3 members exist; none starts before all exist, unless spec.minResources says what the rest needs" },
	{ "other_pod_of_a_set", "others min=3 phase=Pending; web-1 Pending gated owner=web kind=StatefulSet",
		"",
		"WaitingForMembers: 1 of 3 members exist; none starts before all exist, unless spec.minResources says what the rest needs" },
	{ "waits_for_its_places", "others min=2 phase=Pending " ADMITTED "; a" GATED "; b" GATED, "",
		"Pending: 0/2 members bound" },
	{ "waits_for_its_queue", "others min=2 phase=Pending Admitted=False/NoFit; a" GATED "; b" GATED, "",
		"NoFit: the words of its queue" },
	{ "gate_of_somebody_else",
		"others min=2 phase=Pending " ADMITTED "; a" GATED "; b" GATED " held; c" GATED " held", "",
		"ForeignGate: 1 of 2 members can start; with gates of others: b, c" },
	{ "two_schedulers", "others min=2 phase=Pending " ADMITTED "; a" GATED "; b" GATED " scheduler=x", "",
		"MixedSchedulers: members name 2 schedulers, a gang needs one: default-scheduler, x" },

	{ "pods_of_a_required_domain_go_into_it",
		"others min=2 phase=Pending place=Placed attempt=1 deadline=50 plan=a:n1,b:*1 domain=rack:r3 " ADMITTED
		"; a" GATED "; b" GATED,
		"patch pods ns/a (release to n1); patch pods ns/b (release into r3)", NULL },
	{ "those_that_come_later_too",
		"others min=1 phase=Running place=Satisfied attempt=1 domain=rack:r3 " ADMITTED
		"; a Running owner=t kind=Job; b" GATED,
		"patch pods ns/b (release into r3)", NULL },
	{ "pods_that_we_bind_wait_for_their_places",
		"others served min=2 phase=Pending " ADMITTED "; a" SERVED "; b" SERVED, "",
		"Pending: 0/2 members bound" },
	{ "they_are_bound_to_them",
		"others served min=2 phase=Pending place=Placed attempt=1 deadline=50 plan=a:n1,b:n2 " ADMITTED
		"; a" SERVED "; b" SERVED,
		"create pods/binding ns/a (bind to n1); create pods/binding ns/b (bind to n2)", NULL },
	{ "not_without_a_node",
		"others served min=1 phase=Pending place=Placed attempt=1 deadline=50 plan=a:*1 " ADMITTED
		"; a" SERVED,
		"", NULL },
	{ "our_gate_goes_first",
		"others served min=1 phase=Pending place=Placed attempt=1 deadline=50 plan=a:n1 " ADMITTED
		"; a" SERVED " gated",
		"patch pods ns/a (release)", NULL },
	{ "those_that_come_later_are_bound_when_they_have_a_place",
		"others served min=1 phase=Running place=Satisfied attempt=1 plan=b:n2 " ADMITTED
		"; a Running owner=t scheduler=kar-scheduler; b" SERVED "; c" SERVED,
		"create pods/binding ns/b (bind to n2)", NULL },
	{ "beside_the_default_scheduler_nothing_starts",
		"others served min=2 phase=Pending " ADMITTED "; a" SERVED "; b" GATED, "",
		"MixedSchedulers: members name 2 schedulers, a gang needs one: default-scheduler, kar-scheduler" },

	{ "plan_is_carried_out",
		"others min=2 phase=Pending place=Placed attempt=1 deadline=50 plan=b:n2,a:n1 " ADMITTED
		"; a" GATED "; b" GATED,
		"patch pods ns/b (release to n2); patch pods ns/a (release to n1)",
		"Placing: 0/2 members bound, attempt 1" },
	{ "the_rest_of_it",
		"others min=2 phase=Pending place=Placed attempt=1 deadline=50 plan=b:n2,a:n1 " ADMITTED
		"; a" GATED "; b" FREE " pin=n2",
		"patch pods ns/a (release to n1)", NULL },
	{ "member_that_is_stuck_makes_room_for_another",
		"others min=2 phase=Pending place=Placed for=1 repairs=1 attempt=1 deadline=50 plan=a:n1,b:n3 " ADMITTED
		"; a" FREE " bound pin=n1; b" FREE " pin=n2 lacks-cpu made=9",
		"patch pods/status ns/b (disrupt); event Warning Unschedulable: b was unschedulable on n2; there is room for another on n3; "
		"event Warning Unschedulable: 1/2 members bound; b: Unschedulable; 0/4 nodes are available: 4 Insufficient cpu (it asks for cpu 100)",
		"Placing: 1/2 members bound, attempt 1" },
	{ "which_comes_after_it",
		"others min=2 phase=Pending place=Placed for=1 repairs=1 attempt=1 deadline=50 plan=a:n1,b:n3 " ADMITTED
		"; a" FREE " bound pin=n1; b" FREE " pin=n2 lacks-cpu made=9 disrupted",
		"delete pods ns/b; event Warning Unschedulable: 1/2 members bound; b: Unschedulable; 0/4 nodes are available: 4 Insufficient cpu (it asks for cpu 100)",
		NULL },
	{ "and_starts_where_the_plan_says",
		"others min=2 phase=Pending place=Placed for=1 repairs=1 attempt=1 deadline=50 plan=a:n1,b:n3,c:n4 " ADMITTED
		"; a" FREE " bound pin=n1; c" GATED,
		"patch pods ns/c (release to n4)", NULL },
	{ "not_without_a_new_place",
		"others min=2 phase=Pending place=Placed for=1 repairs=1 attempt=1 deadline=50 plan=a:n1,b:n2 " ADMITTED
		"; a" FREE " bound pin=n1; b" FREE " pin=n2 lacks-cpu made=9",
		"event Warning Unschedulable: 1/2 members bound; b: Unschedulable; 0/4 nodes are available: 4 Insufficient cpu (it asks for cpu 100)",
		NULL },
	{ "nor_one_that_nobody_would_make_again",
		"others min=2 phase=Pending place=Placed for=1 repairs=1 attempt=1 deadline=50 plan=a:n1,b:n3 " ADMITTED
		"; a" FREE " bound pin=n1; b Pending released pin=n2 lacks-cpu made=9",
		"event Warning Unschedulable: 1/2 members bound; b: Unschedulable; 0/4 nodes are available: 4 Insufficient cpu (it asks for cpu 100)",
		NULL },
	{ "what_is_not_in_it_stays",
		"others min=1 phase=Pending place=Placed attempt=1 deadline=50 plan=a:n1 " ADMITTED
		"; a" GATED "; b" GATED,
		"patch pods ns/a (release to n1)", NULL },
	{ "place_without_a_node",
		"others min=1 phase=Pending place=Placed attempt=1 deadline=50 plan=a:*1 " ADMITTED
		"; a" GATED,
		"patch pods ns/a (release)", NULL },
	{ "affinity_that_cannot_be_added_to",
		"others min=2 phase=Pending place=Placed attempt=1 deadline=50 plan=a:n1,b:n1 " ADMITTED
		"; a" GATED " pin=n5; b" GATED " terms=",
		"patch pods ns/a (release); patch pods ns/b (release)", NULL },
	{ "gate_of_somebody_else_stays",
		"others min=2 phase=Pending place=Placed attempt=1 deadline=50 plan=a:n1,b:n1 " ADMITTED
		"; a" GATED "; b" GATED " held",
		"patch pods ns/a (release to n1)", NULL },
	{ "member_is_gone_before_any_is_released",
		"others min=2 phase=Pending place=Placed attempt=1 deadline=50 plan=a:n1,b:n1 " ADMITTED
		"; a" GATED,
		"placement=-",
		"WaitingForMembers: 1 of 2 members exist; none starts before all exist, unless spec.minResources says what the rest needs" },
	{ "bound_gang_is_satisfied",
		"others min=1 phase=Scheduling place=Placed attempt=1 deadline=50 plan=a:n1 " ADMITTED
		"; a" FREE " bound; b" GATED,
		"placement=Satisfied", "Scheduled: minMember 1 reached" },
	{ "given_up_and_bound_all_the_same",
		"others min=2 phase=Pending attempt=1 " ADMITTED "; a" FREE " bound; b" FREE " bound",
		"placement=Satisfied", "Scheduled: minMember 2 reached" },
	{ "pods_without_a_controller_are_bound_late",
		"others min=2 phase=Pending place=Waiting attempt=2 failures=2 cause=x " ADMITTED
		"; a Pending bound; b Pending bound",
		"placement=Satisfied", "Scheduled: minMember 2 reached" },
	{ "never_placed_and_bound",
		"others min=1 phase=Scheduled Scheduled=True/Scheduled " ADMITTED "; a" FREE " bound",
		"placement=Satisfied", "Scheduled: minMember 1 reached" },
	{ "further_members_start_one_by_one",
		"others min=1 phase=Scheduled place=Satisfied attempt=1 " ADMITTED "; a" FREE
		" bound; b" GATED,
		"patch pods ns/b (release)", NULL },
	{ "nobody_before_their_queue_has_said_how_many",
		"others bounded min=1 phase=Running place=Satisfied attempt=1 " ADMITTED
		"; a Running owner=t; b" GATED,
		"", NULL },
	{ "but_who_is_of_the_minimum",
		"others bounded min=2 phase=Running place=Satisfied attempt=1 " ADMITTED
		"; a Running owner=t; b Running owner=t terminating; c" GATED "; d" GATED,
		"patch pods ns/c (release)", NULL },
	{ "who_is_of_a_raised_minimum_waits_for_its_queue",
		"others bounded min=3 phase=Running place=Satisfied satisfied=2 attempt=1 " ADMITTED
		"; a Running owner=t; b Running owner=t terminating; c" GATED "; d" GATED,
		"patch pods ns/c (release)", NULL },
	{ "it_has_let_in_all_of_it",
		"others bounded let-in=a,b,c min=3 phase=Running place=Satisfied satisfied=1 attempt=1 " ADMITTED
		"; a Running owner=t; b" GATED "; c" GATED,
		"patch pods ns/b (release); patch pods ns/c (release)", NULL },
	{ "from_then_on_it_is_what_was_formed",
		"others bounded let-in=a,b min=2 phase=Running place=Satisfied satisfied=1 attempt=1 " ADMITTED
		"; a Running owner=t; b Running owner=t",
		"formed=2", NULL },
	{ "so_is_a_lower_one",
		"others bounded min=1 phase=Running place=Satisfied satisfied=2 attempt=1 " ADMITTED
		"; a Running owner=t",
		"formed=1", NULL },
	{ "as_many_as_it_has_said",
		"others bounded let-in=a,b,c min=1 phase=Running place=Satisfied attempt=1 " ADMITTED
		"; a Running owner=t; b" FREE "; c" GATED "; d" GATED " made=1",
		"patch pods ns/c (release)", NULL },
	{ "those_that_it_has_counted_and_no_other_in_the_place_of_one_that_is_lost",
		"others bounded let-in=a,b,c min=1 phase=Running place=Satisfied attempt=1 " ADMITTED
		"; a Running owner=t; b Running owner=t terminating; c" GATED "; d" GATED,
		"", NULL },
	{ "nor_one_that_came_before_them",
		"others bounded let-in=a,b min=1 phase=Running place=Satisfied attempt=1 " ADMITTED
		"; a Running owner=t; b" GATED "; c" GATED " prio=5",
		"", NULL },
	{ "who_runs_beyond_that_stays",
		"others bounded let-in=a min=1 phase=Running place=Satisfied attempt=1 " ADMITTED
		"; a Running owner=t; b Running owner=t; c" GATED,
		"", NULL },
	{ "minimum_that_nobody_places_starts_alone",
		"others bounded unplaced min=2 phase=Pending " ADMITTED "; a" GATED "; b" GATED "; c" GATED
		" made=-1",
		"patch pods ns/a (release); patch pods ns/b (release)", NULL },
	{ "minimum_alone_waits_for_new_nodes",
		"others bounded min=2 phase=Pending place=Unplaced attempt=1 deadline=50 " ADMITTED
		"; a" GATED "; b" GATED "; c" GATED,
		"patch pods ns/a (release); patch pods ns/b (release)", NULL },
	{ "all_that_ran_is_gone",
		"others min=1 phase=Running place=Satisfied attempt=1 " ADMITTED "; b" GATED, "placement=-",
		NULL },
	{ "all_are_gone_at_once",
		"others min=2 phase=Running place=Satisfied attempt=1 satisfied=2 Scheduled=False/QuorumLost short-for=1 " ADMITTED,
		"placement=-", NULL },
	{ "broken_gang_is_left_alone",
		"others min=2 phase=Running place=Satisfied attempt=1 satisfied=2 Scheduled=False/QuorumLost short-for=600 " ADMITTED
		"; a Running owner=t; b" GATED,
		"patch pods ns/b (release)", NULL },
	{ "new_nodes_are_awaited_by_pods",
		"others min=2 phase=Pending place=Unplaced attempt=1 deadline=50 " ADMITTED "; a" GATED
		"; b" GATED,
		"patch pods ns/a (release); patch pods ns/b (release)", NULL },

	{ "when_the_hold_is_over_what_runs_stays",
		"others resources min=3 phase=Pending place=Placed for=1800 attempt=1 deadline=-1740 plan=a:n1 " ADMITTED
		"; a" FREE " bound made=1800",
		"placement=-; event Warning HoldExpired: room was held for 30 min, and 2 of 3 members have not come; those that come later are a gang of their own",
		NULL },
	{ "members_that_come_after_it_are_a_gang_of_their_own",
		"others resources min=3 phase=Pending place=Placed for=1801 attempt=1 deadline=-1741 plan=a:n1 " ADMITTED
		"; a" FREE " bound made=1800; b" GATED " made=1",
		"placement=-; event Warning HoldExpired: room was held for 30 min, and 1 of 3 members have not come; those that come later are a gang of their own",
		NULL },
	{ "its_room_went_to_another_gang",
		"others resources min=3 phase=Pending place=Placed for=10 attempt=1 deadline=50 hold-for=ns/x plan=a:n1 " ADMITTED
		"; a" FREE " bound made=10",
		"placement=-; event Warning HoldReclaimed: room for 2 of 3 members went to ns/x; those that come later are a gang of their own",
		NULL },
	{ "gang_that_is_made_anew_while_the_old_one_stops",
		"others min=2 phase=Running place=Satisfied attempt=1 " ADMITTED
		"; a Running owner=t terminating; b Running owner=t terminating; c" GATED "; d" GATED,
		"placement=-", NULL },
	{ "replacement_starts_beside_a_member_that_stops",
		"others min=2 phase=Running place=Satisfied attempt=1 " ADMITTED
		"; a Running owner=t; b Running owner=t terminating; c" GATED,
		"patch pods ns/c (release)", NULL },
	{ "but_not_when_all_of_them_stop",
		"others min=3 phase=Running place=Satisfied attempt=1 " ADMITTED
		"; a Running owner=t terminating; b Running owner=t terminating; c" GATED "; d" GATED
		" made=1",
		"placement=-", NULL },
	{ "or_is_long_overdue",
		"others min=2 phase=Running place=Satisfied attempt=1 " ADMITTED
		"; a Running owner=t; b Running owner=t overdue; c" GATED,
		"patch pods ns/c (release)", NULL },
	{ "what_has_started_by_itself_is_not_taken_back",
		"others min=2 phase=Scheduling place=RollingBack attempt=1 cause=x " ADMITTED
		"; a Running owner=t; b" FREE,
		"patch pods/status ns/b (disrupt)", NULL },
	{ "that_of_a_gang_that_nobody_places_waits_for_a_place",
		"others min=2 phase=Scheduling " ADMITTED "; a" FREE
		"; b Running owner=t terminating; c" GATED,
		"", NULL },
	{ "what_runs_of_a_gang_that_asks_for_the_rest_together_stays",
		"others and-running satisfied=3 min=3 phase=Running place=RollingBack attempt=2 cause=x " ADMITTED
		"; a Running owner=t; b" FREE "; c" FREE,
		"patch pods/status ns/b (disrupt); patch pods/status ns/c (disrupt)", NULL },
	{ "unless_it_is_evicted",
		"others and-running satisfied=3 min=3 phase=Running place=RollingBack evicted-by=ns/x attempt=2 cause=x " ADMITTED
		"; a Running released owner=t; b" FREE,
		"patch pods/status ns/a (disrupt); patch pods/status ns/b (disrupt)", NULL },
	{ "pods_that_come_ungated_after_a_failure_are_left_alone",
		"others min=2 phase=Scheduling place=RollingBack for=5 attempt=1 cause=x " ADMITTED "; a" FREE
		" made=9; b" FREE " made=2",
		"patch pods/status ns/a (disrupt)", NULL },
	{ "gated_pods_have_their_time_from_the_plan",
		"others min=2 phase=Scheduling place=Placed for=1 attempt=1 deadline=59 plan=a:n1,b:n2 " ADMITTED
		"; a" FREE " bound; b" FREE " pin=n2 lacks-cpu made=600",
		"event Warning Unschedulable: 1/2 members bound; b: Unschedulable; 0/4 nodes are available: 4 Insufficient cpu (it asks for cpu 100)",
		NULL },

	{ "plans_of_all_gangs_that_start_together_come_first",
		"others unit-waits min=1 phase=Pending place=Placed attempt=1 deadline=50 plan=a:n1 " ADMITTED
		"; a" GATED,
		"", NULL },
	{ "a_place_of_an_old_plan_is_not_free_any_more",
		"others outdated min=2 phase=Pending place=Placed attempt=1 deadline=50 plan=a:n1,b:n1 " ADMITTED
		"; a" GATED "; b" GATED,
		"placement=-", NULL },
	{ "what_is_released_goes_on",
		"others outdated min=2 phase=Pending place=Placed attempt=1 deadline=50 plan=a:n1,b:n2 " ADMITTED
		"; a" FREE " pin=n1; b" GATED,
		"patch pods ns/b (release to n2)", NULL },
	{ "a_policy_does_not_let_a_member_start",
		"others release-refused=5 min=2 phase=Pending place=Placed for=6 attempt=1 deadline=50 plan=a:n1,b:n2 " ADMITTED
		"; a" FREE " bound; b" GATED,
		"placement=RollingBack; event Warning RolledBack: attempt 1 to start the gang failed: release refused: admission webhook denied it",
		NULL },
	{ "it_may_still_do_so",
		"others release-refused=4 min=2 phase=Pending place=Placed for=6 attempt=1 deadline=50 plan=a:n1,b:n2 " ADMITTED
		"; a" FREE " bound; b" GATED,
		"patch pods ns/b (release to n2)", NULL },
	{ "one_of_them_fails",
		"others unit-fails min=2 phase=Pending place=Placed attempt=1 deadline=50 plan=a:n1 " ADMITTED
		"; a" FREE " bound; b" FREE,
		"placement=RollingBack; event Warning RolledBack: attempt 1 to start the gang failed: ns/x, with which it starts, is rolled back",
		NULL },
	{ "what_has_started_goes_on",
		"others unit-fails min=1 phase=Running place=Satisfied attempt=1 " ADMITTED
		"; a Running owner=t",
		"", NULL },
	{ "their_plans_do_not_come",
		"unit-waits min=2 phase=Pending place=Placed for=30 attempt=1 deadline=30 plan=w:n1 " ADMITTED,
		"placement=Waiting", NULL },
	{ "member_without_room_is_waited_for_if_not_strict",
		"others non-strict min=2 phase=Scheduling place=Placed attempt=1 deadline=50 plan=a:n1,b:n2 " ADMITTED
		"; a" FREE " bound; b" FREE " pin=n2 lacks-cpu made=9",
		"event Warning Unschedulable: 1/2 members bound; b: Unschedulable; 0/4 nodes are available: 4 Insufficient cpu (it asks for cpu 100)",
		NULL },
	{ "what_a_gang_lacks_starts_together_if_it_asks_for_that",
		"others and-running min=3 phase=Running place=Satisfied attempt=1 " ADMITTED
		"; a Running owner=t; b" GATED "; c" GATED,
		"placement=-", NULL },
	{ "who_waits_alone_is_no_gang",
		"others only-waiting min=2 phase=Running place=Satisfied attempt=1 " ADMITTED
		"; a Running owner=t; b Running owner=t; c" GATED,
		"",
		"Scheduled: minMember 2 reached; 1 of 2 more exist; none of these starts before all exist (match-policy)" },
	{ "who_waits_is_a_gang_by_itself",
		"others only-waiting min=2 phase=Running place=Satisfied attempt=1 " ADMITTED
		"; a Running owner=t; b Running owner=t; c" GATED "; d" GATED,
		"placement=-", NULL },
	{ "and_waits_for_its_places",
		"others only-waiting min=2 phase=Running attempt=1 " ADMITTED
		"; a Running owner=t; b Running owner=t; c" GATED "; d" GATED,
		"", NULL },
	{ "gang_is_satisfied_again_if_they_are_gone",
		"others only-waiting min=2 phase=Running attempt=1 " ADMITTED
		"; a Running owner=t; b Running owner=t; c" GATED,
		"placement=Satisfied", NULL },
	{ "wave_is_released",
		"others only-waiting satisfied=2 min=2 phase=Running place=Placed attempt=2 deadline=50 plan=c:n1,d:n1 " ADMITTED
		"; a Running owner=t; b Running owner=t; c" GATED "; d" GATED "; e" GATED,
		"patch pods ns/c (release to n1); patch pods ns/d (release to n1)", NULL },
	{ "wave_is_not_bound_because_others_are",
		"others only-waiting satisfied=2 min=2 phase=Running place=Placed attempt=2 deadline=50 plan=c:n1,d:n1 " ADMITTED
		"; a Running owner=t; b Running owner=t; c" FREE " bound; d" FREE,
		"", NULL },
	{ "wave_is_bound",
		"others only-waiting satisfied=2 min=2 phase=Running place=Placed attempt=2 deadline=50 plan=c:n1,d:n1 " ADMITTED
		"; a Running owner=t; b Running owner=t; c" FREE " bound; d" FREE " bound",
		"placement=Satisfied", NULL },
	{ "wave_is_late",
		"others only-waiting satisfied=2 min=2 phase=Running place=Placed attempt=2 deadline=0 plan=c:n1,d:n1 " ADMITTED
		"; a Running owner=t; b Running owner=t; c" FREE " bound made=60; d" FREE " made=60",
		"placement=RollingBack; event Warning RolledBack: attempt 2 to start the gang failed: not bound after 1m: d",
		NULL },
	{ "wave_is_taken_back_alone",
		"others only-waiting satisfied=2 min=2 phase=Running place=RollingBack attempt=2 cause=x plan=c:n1,d:n1 " ADMITTED
		"; a Running owner=t released; b Running owner=t released; c" FREE " bound; d" FREE
		"; e" GATED,
		"patch pods/status ns/c (disrupt); patch pods/status ns/d (disrupt)", NULL },
	{ "all_of_them_if_it_is_evicted",
		"others only-waiting satisfied=1 min=1 phase=Running place=RollingBack evicted-by=ns/x attempt=2 cause=x " ADMITTED
		"; a Running owner=t released",
		"patch pods/status ns/a (disrupt)", NULL },
	{ "without_places_a_wave_starts_by_itself",
		"others only-waiting unplaced min=2 phase=Running " ADMITTED
		"; a Running owner=t; b Running owner=t; c" GATED "; d" GATED,
		"patch pods ns/c (release); patch pods ns/d (release)", NULL },
	{ "but_not_a_part_of_one",
		"others only-waiting unplaced min=2 phase=Running " ADMITTED
		"; a Running owner=t; b Running owner=t; c" GATED,
		"", NULL },
	{ "but_not_what_it_does_not_lack",
		"others and-running min=1 phase=Running place=Satisfied attempt=1 " ADMITTED
		"; a Running owner=t; b" GATED,
		"patch pods ns/b (release)", NULL },

	{ "stages_wait_for_the_last_member_that_comes",
		"others resources min=3 phase=Pending " ADMITTED "; a" GATED, "",
		"WaitingForMembers: 1 of 3 members exist; none starts before all exist or no more come for 5s" },
	{ "stage_is_released",
		"others resources min=3 phase=Pending place=Placed attempt=1 deadline=50 plan=a:n1 " ADMITTED
		"; a" GATED "; b" GATED,
		"patch pods ns/a (release to n1)",
		"Placing: 0 of 3 members started, room for the rest is held until 2026-11-21T14:16:17Z" },
	{ "later_members_have_their_room",
		"others resources min=3 phase=Pending place=Placed attempt=1 deadline=-50 plan=a:n1 " ADMITTED
		"; a" FREE " bound made=600; b" GATED " made=1",
		"patch pods ns/b (release)",
		"Placing: 1 of 3 members started, room for the rest is held until 2026-11-21T14:16:17Z" },
	{ "stage_that_is_bound_has_no_deadline",
		"others resources min=3 phase=Pending place=Placed for=1700 attempt=1 deadline=-1640 plan=a:n1 " ADMITTED
		"; a" FREE " bound made=1700",
		"", NULL },
	{ "stage_that_is_not_has_one",
		"others resources min=3 phase=Pending place=Placed for=60 attempt=1 deadline=0 plan=a:n1 " ADMITTED
		"; a" FREE " made=60",
		"placement=RollingBack; event Warning RolledBack: attempt 1 to start the gang failed: not bound after 1m: a",
		NULL },
	{ "between_two_stages",
		"others resources min=3 phase=Pending place=Placed for=600 attempt=1 deadline=-540 plan=a:n1 " ADMITTED
		"; a Succeeded owner=t",
		"", "Placing: 1 of 3 members started, room for the rest is held until 2026-11-21T14:06:27Z" },
	{ "stage_that_has_failed",
		"others resources min=3 phase=Pending place=Placed for=600 attempt=1 deadline=-540 plan=a:n1 " ADMITTED
		"; a Failed owner=t",
		"placement=-", NULL },
	{ "last_stage_has_its_time_however_late_it_comes",
		"others resources min=3 phase=Pending place=Placed for=600 attempt=1 deadline=-540 plan=a:n1,b:n1 " ADMITTED
		"; a Running owner=t made=600; b Running owner=t made=600; c" GATED " made=1",
		"patch pods ns/c (release)", "Placing: 2/3 members bound, attempt 1" },
	{ "and_no_more_than_that",
		"others resources min=3 phase=Pending place=Placed for=600 attempt=1 deadline=-540 plan=a:n1,b:n1 " ADMITTED
		"; a Running owner=t made=600; b Succeeded owner=t; c" FREE " made=60",
		"placement=RollingBack; event Warning RolledBack: attempt 1 to start the gang failed: not bound after 1m: c",
		NULL },
	{ "stages_wait_for_room_for_all",
		"others resources min=3 phase=Pending Admitted=False/NoFit; a" GATED, "",
		"NoFit: the words of its queue" },
	{ "stages_wait_for_members_that_come_now",
		"others resources min=3 phase=Pending Admitted=False/WaitingForMembers; a" GATED, "",
		"WaitingForMembers: 1 of 3 members exist; none starts before all exist or no more come for 5s" },
	{ "last_stage_satisfies",
		"others resources min=2 phase=Pending place=Placed attempt=1 deadline=-50 plan=a:n1 " ADMITTED
		"; a Succeeded owner=t; b" FREE " bound made=1",
		"placement=Satisfied", NULL },

	{ "taken_back_in_two_steps",
		"others min=3 phase=Scheduling place=RollingBack attempt=1 cause=x " ADMITTED "; a" FREE
		" bound; b" FREE " disrupted; c" GATED,
		"patch pods/status ns/a (disrupt); delete pods ns/b",
		"RollingBack: x; its pods are being removed" },
	{ "pods_without_a_controller_stay",
		"others min=2 phase=Scheduling place=Placed attempt=1 deadline=0 " ADMITTED
		"; a Pending bound released; b Pending made=60 released; c" GATED,
		"placement=RollingBack; event Warning RolledBack: attempt 1 to start the gang failed: not bound after 1m: b, c; "
		"event Warning CannotRollBack: 2 members have no controller that would make them again, so they stay: b, c",
		NULL },
	{ "an_eviction_is_no_failure",
		"min=2 phase=Scheduling place=RollingBack attempt=20 failures=19 evicted-by=ns/x cause=evicted " ADMITTED,
		"placement=Waiting", "NotEnoughMembers: 0/2 members bound; 0/2 created" },
	{ "gated_members_do_not_prolong_it",
		"others min=2 phase=Scheduling place=RollingBack attempt=1 cause=x " ADMITTED "; a" GATED
		"; b" GATED,
		"placement=Waiting", NULL },
	{ "an_edit_of_the_group_reactivates",
		"others min=2 phase=Pending place=Deactivated attempt=20 failures=20 cause=x generation=7 " ADMITTED
		"; a" GATED "; b" GATED,
		"placement=Waiting", NULL },
	{ "it_stays_deactivated",
		"others min=2 phase=Pending place=Deactivated attempt=20 failures=20 cause=x generation=1 " ADMITTED
		"; a" GATED "; b" GATED,
		"",
		"Deactivated: 20 attempts to start the gang failed, the last: x; to try again, change the spec of the PodGroup" },

	{ "admission_is_of_another_queue_than_its_pods_name",
		"others unplaced moves min=2 phase=Pending " ADMITTED "; a" GATED "; b" GATED, "", NULL },
	{ "nobody_places_it", "others unplaced min=2 phase=Pending " ADMITTED "; a" GATED "; b" GATED,
		"patch pods ns/a (release); patch pods ns/b (release)", NULL },
	{ "nobody_places_it_but_it_is_not_complete",
		"others unplaced min=3 phase=Pending " ADMITTED "; a" GATED "; b" GATED, "", NULL },
	{ "nobody_places_it_but_it_is_not_admitted",
		"others unplaced min=2 phase=Pending Admitted=False/MaxJobsReached; a" GATED "; b" GATED, "",
		NULL },
	{ "another_scheduler_places_it",
		"others min=2 phase=Pending " ADMITTED "; a" GATED " scheduler=x; b" GATED " scheduler=x",
		"patch pods ns/a (release); patch pods ns/b (release)", NULL },
	{ "the_minimum_was_never_gated",
		"others min=1 phase=Scheduled " ADMITTED "; a" FREE " bound; b" GATED, "placement=Satisfied",
		NULL },
	{ "group_of_a_queuejob_with_a_gated_guest",
		"min=1 phase=Running place=Satisfied attempt=1 " ADMITTED
		"; j-0 Running owner=j kind=QueueJob; x" GATED "; j-1 Pending gated owner=j kind=QueueJob",
		"patch pods ns/x (release)", NULL },
	{ "deleted_group_touches_no_pod",
		"others min=1 deleting phase=Running place=Satisfied attempt=1 Scheduled=False/DeletedWithGatedMembers " ADMITTED
		"; a Running owner=t; b" GATED,
		"", NULL },
};

/* What the plan does: its actions, events, and the new state of the placement. */
static const char *does(struct scene *s)
{
	const struct kar_podgroup_status *st;
	struct kar_buf out = { 0 };
	const char *text;

	decide_at(s, now);
	st = s->plan.status;
	if (st && st->placement.state != s->group.status.placement.state)
		kar_buf_printf(&out, "; placement=%s",
			st->placement.state ? kar_pg_state_name(st->placement.state) : "-");
	else if (st && st->placement.satisfied_member != s->group.status.placement.satisfied_member)
		kar_buf_printf(&out, "; formed=%d", (int)st->placement.satisfied_member);
	for (size_t i = 0; i < s->plan.n_actions; i++) {
		const struct kar_action *a = &s->plan.actions[i];

		kar_buf_printf(&out, "; %s pods%s%s ns/%s", kar_verb_name(a->verb), a->subresource ? "/" : "",
			a->subresource ? a->subresource : "", a->name);
		if (a->note)
			kar_buf_printf(&out, " (%s)", a->note);
	}
	for (size_t i = 0; i < s->plan.n_events; i++) {
		if (s->plan.events[i].warning) /* Normal: that the gang is bound */
			kar_buf_printf(&out, "; event Warning %s: %s", s->plan.events[i].reason,
				s->plan.events[i].note);
	}
	text = kar_arena_printf(&s->arena, "%s", out.n ? kar_buf_cstr(&out) + 2 : "");
	kar_buf_release(&out);
	return text;
}

static const char *scheduled(struct scene *s)
{
	const struct kar_podgroup_status *st = s->plan.status ? s->plan.status : &s->group.status;
	const struct kar_condition *c = kar_condition_find(&st->conditions, KAR_PG_SCHEDULED);

	return c ? kar_arena_printf(&s->arena, "%s: %s", c->reason, c->message) : "";
}

static void expect(const struct row *r, const char *got, const char *want)
{
	if (strcmp(got, want) != 0)
		fail_msg("%s\n  scene: %s\n  want:  %s\n  got:   %s", r->name, r->scene, want, got);
}

static void pods_of_others(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct scene *s = new_scene(rows[i].scene);

		expect(&rows[i], does(s), rows[i].actions);
		if (rows[i].scheduled)
			expect(&rows[i], scheduled(s), rows[i].scheduled);
		free_scene(s);
	}
}

/* --- the bodies ------------------------------------------------------------------------------------ */

#define META "{\"metadata\":{\"uid\":\"uid\",\"resourceVersion\":\"0\"}"
#define META_RELEASED \
	"{\"metadata\":{\"uid\":\"uid\",\"resourceVersion\":\"0\",\"annotations\":{\"kube-arbitrator.io/released\":\"true\"}}"
#define UNGATED \
	",\"spec\":{\"schedulingGates\":[{\"$patch\":\"delete\",\"name\":\"kube-arbitrator.io/gang\"}]"
#define PIN(node) "{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"" node "\"]}"
#define TERMS(list) \
	",\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":[" list \
	"]}}}"
#define ZONE "{\"key\":\"zone\",\"operator\":\"In\",\"values\":[\"b\",\"a\"]}"

static const struct {
	const char *scene, *body;
} bodies[] = {
	{ "plan=a:n1; a" GATED, META_RELEASED UNGATED TERMS("{\"matchFields\":[" PIN("n1") "]}") "}}" },
	{ "plan=a:*1; a" GATED, META_RELEASED UNGATED "}}" },
	{ "plan=a:n1; a" GATED " terms=[{\"matchExpressions\":[" ZONE "]},{}]",
		META_RELEASED UNGATED TERMS(
			"{\"matchExpressions\":[" ZONE "],\"matchFields\":[" PIN("n1") "]},{}") "}}" },
	{ "plan=a:n1; a" SERVED,
		"{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{\"name\":\"a\",\"namespace\":\"ns\",\"uid\":\"uid\"},"
		"\"target\":{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"name\":\"n1\"}}" },
	{ "cause=why; a" FREE " bound",
		META
		",\"status\":{\"conditions\":[{\"type\":\"DisruptionTarget\",\"status\":\"True\",\"reason\":\"GangRolledBack\","
		"\"message\":\"why\",\"lastTransitionTime\":\"2026-11-21T13:46:27Z\"}]}}" },
	{ "cause=why evicted-by=ns/x; a" FREE " bound",
		META
		",\"status\":{\"conditions\":[{\"type\":\"DisruptionTarget\",\"status\":\"True\",\"reason\":\"EvictedByQueue\","
		"\"message\":\"why\",\"lastTransitionTime\":\"2026-11-21T13:46:27Z\"}]}}" },
};

static void bodies_only_add(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(bodies); i++) {
		char scene[512];
		struct scene *s;
		struct kar_buf out = { 0 };
		struct kar_err err;

		snprintf(scene, sizeof(scene),
			"others served min=1 phase=Pending attempt=1 deadline=50 place=%s " ADMITTED "%s",
			strstr(bodies[i].scene, "plan=") ? "Placed" : "RollingBack", bodies[i].scene);
		s = new_scene(scene);
		decide_at(s, now);
		assert_int_equal(s->plan.n_actions, 1);
		assert_int_equal(podgroup_encode(&s->plan.actions[0], &s->arena, &out, &err), 0);
		assert_string_equal(kar_buf_cstr(&out), bodies[i].body);
		kar_buf_release(&out);
		free_scene(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pods_of_others),
		cmocka_unit_test(bodies_only_add),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
