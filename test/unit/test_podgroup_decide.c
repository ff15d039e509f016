/* The PodGroup reconciler's decisions: a scene in, a plan out. */
#include "podgroup_scene.h"

#include "controllers/podgroup/tell.h"

struct row {
	const char *name, *scene, *plan;
};

/* Shorthands for what the rows have in common. */
#define COUNTS(members, scheduled, running, succeeded, failed) \
	" members=" #members " scheduled=" #scheduled " running=" #running " succeeded=" #succeeded \
	" failed=" #failed
#define SCHEDULED " Scheduled=True/Scheduled"
#define WAITS(reason) " Scheduled=False/" reason
#define LOST " quorumLost Scheduled=False/QuorumLost"
#define LATER "; requeue 2d"

static const struct row rows[] = {
	/* the phase table, from the bottom */
	{ "group_without_pods_never_written_is_pending_without_haste", "min=3",
		"status phase=Pending" COUNTS(0, 0, 0, 0, 0) WAITS("NotEnoughMembers") LATER },
	{ "fewer_members_than_minimum_is_pending", "min=3 phase=Pending; j-0 Pending; j-1 Pending",
		"status phase=Pending" COUNTS(2, 0, 0, 0, 0) WAITS("NotEnoughMembers") LATER },
	{ "minimum_exists_is_scheduling", "min=2 phase=Pending; j-0 Pending; j-1 Pending bound",
		"status phase=Scheduling" COUNTS(2, 1, 0, 0, 0) WAITS("Pending") LATER },
	{ "minimum_bound_is_scheduled", "min=2 phase=Scheduling; j-0 Pending bound; j-1 Pending bound",
		"status phase=Scheduled" COUNTS(2, 2, 0, 0, 0) SCHEDULED },
	{ "bound_and_succeeded_count_as_scheduled",
		"min=2 phase=Scheduling; j-0 Pending bound; j-1 Succeeded",
		"status phase=Scheduled" COUNTS(2, 2, 0, 1, 0) SCHEDULED },
	{ "failed_pod_does_not_count_as_scheduled",
		"min=2 phase=Scheduling; j-0 Pending bound; j-1 Failed; j-2 Pending",
		"status phase=Scheduling" COUNTS(3, 1, 0, 0, 1) WAITS("Pending") LATER },
	{ "minimum_runs_is_running_at_once",
		"min=2 phase=Scheduled Scheduled=True/Scheduled; j-0 Running; j-1 Running",
		"urgent status phase=Running" COUNTS(2, 2, 2, 0, 0) SCHEDULED },
	{ "running_and_succeeded_make_up_the_minimum", "min=2 phase=Scheduled; j-0 Running; j-1 Succeeded",
		"urgent status phase=Running" COUNTS(2, 2, 1, 1, 0) SCHEDULED },
	{ "from_nothing_to_running_in_one_write", "min=1; j-0 Running",
		"urgent status phase=Running" COUNTS(1, 1, 1, 0, 0) SCHEDULED },
	{ "extras_pending_do_not_matter", "min=1 phase=Scheduled; j-0 Running; j-1 Pending",
		"urgent status phase=Running" COUNTS(2, 1, 1, 0, 0) SCHEDULED },
	{ "more_running_is_only_a_count", "min=1 phase=Running; j-0 Running; j-1 Running",
		"status phase=Running" COUNTS(2, 2, 2, 0, 0) SCHEDULED },
	{ "minimum_succeeded_and_nobody_active_is_finished",
		"min=2 phase=Running; j-0 Succeeded; j-1 Succeeded",
		"urgent status phase=Finished" COUNTS(2, 2, 0, 2, 0) SCHEDULED },
	{ "minimum_succeeded_but_one_active_is_running",
		"min=2 phase=Running; j-0 Succeeded; j-1 Succeeded; j-2 Running",
		"status phase=Running" COUNTS(3, 3, 1, 2, 0) SCHEDULED },
	{ "minimum_succeeded_but_one_pending_is_running",
		"min=2 phase=Running; j-0 Succeeded; j-1 Succeeded; j-2 Pending",
		"status phase=Running" COUNTS(3, 2, 0, 2, 0) SCHEDULED },
	{ "finished_with_a_failed_extra_says_so", "min=1 phase=Running; j-0 Succeeded; j-1 Failed",
		"urgent status phase=Finished" COUNTS(2, 1, 0, 1, 1) SCHEDULED
		" MemberFailed=True/MemberFailed" },
	{ "finished_group_that_gets_a_new_pod_runs_again", "min=1 phase=Finished; j-0 Succeeded; j-1 Running",
		"urgent status phase=Running" COUNTS(2, 2, 1, 1, 0) SCHEDULED },
	{ "finished_is_not_sticky_while_the_owner_works", "min=1 phase=Finished owner-works",
		"status phase=Pending" COUNTS(0, 0, 0, 0, 0) WAITS("NotEnoughMembers") LATER },
	{ "finished_stays_with_an_unknown_owner_when_its_pods_go", "min=1 phase=Finished", "" },
	{ "finished_stays_with_an_unknown_owner_when_some_pods_go", "min=2 phase=Finished; j-0 Succeeded",
		"" },
	{ "finished_with_an_unknown_owner_ends_with_a_new_member",
		"min=2 phase=Finished; j-0 Succeeded; j-1 Pending",
		"status phase=Scheduling" COUNTS(2, 1, 0, 1, 0) WAITS("Pending") LATER },
	{ "finished_stays_when_the_owner_is_terminal", "min=1 phase=Finished owner-terminal", "" },
	{ "finished_group_that_was_evicted_waits_again",
		"min=1 phase=Finished place=RollingBack attempt=1 evicted-by=ns/h",
		"urgent status phase=Pending members=0 scheduled=0 running=0 succeeded=0 failed=0 placement=Waiting Scheduled=False/NotEnoughMembers; requeue 2d" },
	{ "finished_stays_even_if_a_pod_is_left", "min=1 phase=Finished owner-terminal; j-0 Failed", "" },
	{ "terminal_owner_alone_does_not_finish", "min=2 phase=Running owner-terminal; j-0 Succeeded",
		"status phase=Pending" COUNTS(1, 1, 0, 1, 0) LOST },

	/* successes that minMember leaves out */
	{ "what_is_left_out_counts_here",
		"min=1 left-out=2 phase=Running; j-0 Succeeded; j-1 Succeeded; j-2 Pending",
		"status phase=Scheduling" COUNTS(3, 2, 0, 2, 0) LOST LATER },
	{ "quorum_is_the_sum_of_both",
		"min=1 left-out=2 phase=Scheduling; j-0 Succeeded; j-1 Succeeded; j-2 Running",
		"urgent status phase=Running" COUNTS(3, 3, 1, 2, 0) SCHEDULED },
	{ "what_is_left_out_alone_is_not_finished",
		"min=1 left-out=2 phase=Running; j-0 Succeeded; j-1 Succeeded",
		"status phase=Pending" COUNTS(2, 2, 0, 2, 0) LOST LATER },
	{ "minimum_with_what_is_left_out_is_finished",
		"min=1 left-out=1 phase=Running; j-0 Succeeded; j-1 Succeeded",
		"urgent status phase=Finished" COUNTS(2, 2, 0, 2, 0) SCHEDULED },
	{ "what_is_left_out_and_gone_is_not_missed",
		"min=1 left-out=2 phase=Scheduling; j-1 Succeeded; j-2 Running",
		"urgent status phase=Running" COUNTS(2, 2, 1, 1, 0) SCHEDULED },
	{ "absurd_numbers_are_no_quorum", "min=2147483647 left-out=2147483647; j-1 Succeeded",
		"status phase=Pending" COUNTS(1, 1, 0, 1, 0) WAITS("NotEnoughMembers") LATER },

	/* failures */
	{ "failed_without_replacement_is_failed", "min=2 phase=Running; j-0 Running; j-1 Failed",
		"urgent status phase=Failed" COUNTS(2, 1, 1, 0, 1) LOST },
	{ "failed_before_all_members_exist_is_failed", "min=3 phase=Pending; j-0 Failed; j-1 Pending",
		"urgent status phase=Failed" COUNTS(2, 0, 0, 0, 1) WAITS("NotEnoughMembers") },
	{ "pod_that_failed_while_it_was_taken_back_is_no_member",
		"min=2 phase=Pending; j-0 Failed terminating gated; j-1 Pending",
		"status phase=Pending" COUNTS(1, 0, 0, 0, 0) WAITS("NotEnoughMembers") LATER },
	{ "nor_is_one_that_failed_without_a_node_while_it_was_deleted",
		"min=2 phase=Scheduling; j-0 Failed terminating unbound; j-1 Pending; j-2 Pending",
		"status phase=Scheduling" COUNTS(2, 0, 0, 0, 0) WAITS("Pending") LATER },
	{ "all_failed_is_failed", "min=2 phase=Running; j-0 Failed; j-1 Failed",
		"urgent status phase=Failed" COUNTS(2, 0, 0, 0, 2) LOST },
	{ "failed_leaves_when_the_pod_is_replaced",
		"min=2 phase=Failed quorum-lost Scheduled=False/QuorumLost; j-0 Running; j-1 Failed; j-2 Pending",
		"status phase=Scheduling" COUNTS(3, 1, 1, 0, 1) WAITS("QuorumLost") },
	{ "failed_leaves_when_the_pod_is_removed",
		"min=2 phase=Failed quorum-lost Scheduled=False/QuorumLost; j-0 Running",
		"status phase=Pending" COUNTS(1, 1, 1, 0, 0) WAITS("QuorumLost") },
	{ "failed_and_running_again_is_running", "min=2 phase=Failed; j-0 Running; j-1 Failed; j-2 Running",
		"urgent status phase=Running" COUNTS(3, 2, 2, 0, 1) SCHEDULED
		" MemberFailed=True/MemberFailed" },
	{ "failed_extra_is_a_condition_not_a_phase",
		"min=2 phase=Running; j-0 Running; j-1 Running; j-2 Failed",
		"status phase=Running" COUNTS(3, 2, 2, 0, 1) SCHEDULED " MemberFailed=True/MemberFailed" },
	{ "failed_extra_gone_clears_the_condition",
		"min=1 phase=Running MemberFailed=True/MemberFailed; j-0 Running",
		"status phase=Running" COUNTS(1, 1, 1, 0, 0) " MemberFailed=False/NoFailedMember" SCHEDULED },

	{ "gang_that_is_not_whole_any_more_is_told_at_once",
		"min=2 phase=Running Scheduled=True/Scheduled; j-0 Running; j-1 Pending",
		"urgent status phase=Scheduling" COUNTS(2, 1, 1, 0, 0) LOST },

	/* unschedulable members */
	{ "unschedulable_member_is_told_at_once",
		"min=2 phase=Scheduling; j-0 Pending bound; j-1 Pending unschedulable",
		"urgent status phase=Scheduling" COUNTS(2, 1, 0, 0, 0) WAITS(
			"Unschedulable") " Unschedulable=True/Unschedulable; "
					 "event Warning Unschedulable: 1/2 members bound; j-1: Unschedulable" LATER },
	{ "was_running_and_a_member_is_unschedulable_is_unknown",
		"min=2 phase=Running Scheduled=True/Scheduled Unschedulable=True/Unschedulable; j-0 Running; j-1 Pending unschedulable",
		"urgent status phase=Unknown" COUNTS(2, 1, 1, 0, 0) LOST
		" Unschedulable=True/Unschedulable" },
	{ "unknown_stays_while_the_member_is_unschedulable",
		"min=2 phase=Unknown Scheduled=False/QuorumLost Unschedulable=True/Unschedulable; j-0 Running; j-1 Pending unschedulable",
		"status phase=Unknown" COUNTS(2, 1, 1, 0, 0) LOST " Unschedulable=True/Unschedulable" },
	{ "loss_is_remembered_until_the_replacement_is_tried",
		"min=2 phase=Scheduling quorum-lost Scheduled=False/QuorumLost; j-0 Running; j-1 Pending unschedulable",
		"urgent status phase=Unknown" COUNTS(2, 1, 1, 0, 0) WAITS(
			"QuorumLost") " Unschedulable=True/Unschedulable; "
				      "event Warning Unschedulable: 1/2 members bound; j-1: Unschedulable" },
	{ "loss_is_remembered_by_the_record_alone",
		"min=2 phase=Scheduling quorum-lost Scheduled=False/Edited; j-0 Running; j-1 Pending unschedulable",
		"urgent status phase=Unknown" COUNTS(2, 1, 1, 0, 0) WAITS(
			"QuorumLost") " Unschedulable=True/Unschedulable; "
				      "event Warning Unschedulable: 1/2 members bound; j-1: Unschedulable" },
	{ "reason_that_was_edited_is_no_loss",
		"min=2 phase=Scheduling Scheduled=False/QuorumLost; j-0 Running; j-1 Pending unschedulable",
		"urgent status phase=Scheduling" COUNTS(2, 1, 1, 0, 0) WAITS(
			"Unschedulable") " Unschedulable=True/Unschedulable; "
					 "event Warning Unschedulable: 1/2 members bound; j-1: Unschedulable" },
	{ "loss_is_forgotten_when_the_quorum_is_bound",
		"min=2 phase=Scheduling quorum-lost Scheduled=False/QuorumLost; j-0 Running; j-1 Pending bound",
		"status phase=Scheduled" COUNTS(2, 2, 1, 0, 0) " quorumLost=-" SCHEDULED },
	{ "loss_is_forgotten_when_no_member_is_left",
		"min=2 phase=Scheduling quorum-lost Scheduled=False/QuorumLost",
		"status phase=Pending" COUNTS(0, 0, 0, 0, 0) " quorumLost=-" WAITS("NotEnoughMembers")
			LATER },
	{ "unknown_leaves_when_the_member_is_placed",
		"min=2 phase=Unknown Scheduled=False/QuorumLost Unschedulable=True/Unschedulable; j-0 Running; j-1 Pending bound",
		"status phase=Scheduled" COUNTS(2, 2, 1, 0, 0) SCHEDULED " Unschedulable=False/Schedulable" },
	{ "unknown_group_whose_pods_are_all_gone_is_pending",
		"min=2 phase=Unknown Scheduled=False/QuorumLost Unschedulable=True/Unschedulable",
		"status phase=Pending" COUNTS(0, 0, 0, 0, 0)
			WAITS("NotEnoughMembers") " Unschedulable=False/Schedulable" LATER },
	{ "unschedulable_extra_of_a_running_group_is_a_condition",
		"min=1 phase=Running; j-0 Running; j-1 Pending unschedulable",
		"urgent status phase=Running" COUNTS(2, 1, 1, 0, 0) SCHEDULED
		" Unschedulable=True/Unschedulable; "
		"event Warning Unschedulable: 1/1 members bound; j-1: Unschedulable" },
	{ "many_unschedulable_members_are_summed_up",
		"min=6 phase=Scheduling; j-4 Pending unschedulable; j-3 Pending unschedulable; j-0 Pending bound; "
		"j-5 Pending unschedulable; j-2 Pending unschedulable; j-1 Pending unschedulable",
		"urgent status phase=Scheduling" COUNTS(6, 1, 0, 0, 0) WAITS(
			"Unschedulable") " Unschedulable=True/Unschedulable; event Warning Unschedulable: "
					 "1/6 members bound; j-1, j-2, j-3 and 2 more: Unschedulable" LATER },

	{ "scheduler_is_quoted_with_what_members_ask_for",
		"min=3 phase=Scheduling; j-0 Pending bound; j-1 Pending lacks-cpu; j-2 Pending lacks-cpu",
		"urgent status phase=Scheduling" COUNTS(3, 1, 0, 0, 0) WAITS(
			"Unschedulable") " Unschedulable=True/Unschedulable; event Warning Unschedulable: "
					 "1/3 members bound; j-1, j-2: Unschedulable; 0/4 nodes are available: 4 Insufficient cpu "
					 "(each asks for cpu 100)" LATER },
	{ "running_of_a_queuejob_may_wait_the_job_tells_it",
		"owner-works min=2 phase=Scheduled; j-0 Running; j-1 Running",
		"status phase=Running" COUNTS(2, 2, 2, 0, 0) SCHEDULED },
	{ "finished_of_a_queuejob_may_wait_the_job_tells_it",
		"owner-terminal min=2 phase=Running; j-0 Succeeded; j-1 Succeeded",
		"status phase=Finished" COUNTS(2, 2, 0, 2, 0) SCHEDULED },
	{ "failed_of_a_queuejob_is_told_at_once", "owner-works min=2 phase=Running; j-0 Running; j-1 Failed",
		"urgent status phase=Failed" COUNTS(2, 1, 1, 0, 1) LOST },

	/* terminating members */
	{ "terminating_running_pod_runs_until_it_is_gone",
		"min=2 phase=Running; j-0 Running; j-1 Running terminating",
		"status phase=Running" COUNTS(2, 2, 2, 0, 0) SCHEDULED },
	{ "terminating_bound_pod_counts_as_running",
		"min=2 phase=Running; j-0 Running; j-1 Pending bound terminating",
		"status phase=Running" COUNTS(2, 2, 2, 0, 0) SCHEDULED },
	{ "terminating_unbound_pod_does_not_count",
		"min=2 phase=Scheduling; j-0 Pending; j-1 Pending terminating unschedulable",
		"status phase=Pending" COUNTS(1, 0, 0, 0, 0) WAITS("NotEnoughMembers") LATER },
	{ "terminating_finished_pod_counts_by_phase", "min=1 phase=Running; j-0 Succeeded terminating",
		"urgent status phase=Finished" COUNTS(1, 1, 0, 1, 0) SCHEDULED },
	{ "pod_of_unknown_phase_is_active_but_does_not_run",
		"min=2 phase=Running; j-0 Succeeded; j-1 Unknown",
		"status phase=Scheduled" COUNTS(2, 2, 0, 1, 0) SCHEDULED },
	{ "pod_lost_below_the_quorum_falls_back", "min=2 phase=Running; j-0 Running",
		"status phase=Pending" COUNTS(1, 1, 1, 0, 0) LOST },

	/* corners */
	{ "minimum_absent_means_one", "min=0; j-0 Pending",
		"status phase=Scheduling" COUNTS(1, 0, 0, 0, 0) WAITS("Pending") LATER },
	{ "minimum_absent_and_no_pods_is_pending", "min=0",
		"status phase=Pending" COUNTS(0, 0, 0, 0, 0) WAITS("NotEnoughMembers") LATER },
	{ "two_days_without_anything_running_is_a_warning",
		"min=2 phase=Scheduling Scheduled=False/Pending since=48; j-0 Pending bound; j-1 Pending",
		"status phase=Scheduling" COUNTS(2, 1, 0, 0, 0) WAITS(
			"Timeout") "; "
				   "event Warning Timeout: nothing has run for 48 hours: 1/2 members bound" },
	{ "warning_is_given_once",
		"min=2 phase=Scheduling Scheduled=False/Timeout since=49; j-0 Pending; j-1 Pending",
		"status phase=Scheduling" COUNTS(2, 0, 0, 0, 0) WAITS("Timeout") },
	{ "no_warning_while_something_runs",
		"min=2 phase=Pending Scheduled=False/NotEnoughMembers since=49; j-0 Running",
		"status phase=Pending" COUNTS(1, 1, 1, 0, 0) WAITS("NotEnoughMembers") },
	{ "no_warning_when_the_owner_is_terminal",
		"min=2 phase=Pending Scheduled=False/NotEnoughMembers since=49 owner-terminal",
		"status phase=Pending" COUNTS(0, 0, 0, 0, 0) WAITS("NotEnoughMembers") },
	{ "deleted_group_is_left_alone", "min=2 phase=Running deleting; j-0 Running", "" },
	{ "deleted_group_with_gated_members_is_a_warning", "min=2 phase=Pending deleting; j-0 Pending gated",
		"status phase=Pending" COUNTS(0, 0, 0, 0, 0) WAITS(
			"DeletedWithGatedMembers") "; event Warning "
						   "DeletedWithGatedMembers: the PodGroup is being deleted; 1 of its members stay SchedulingGated" },
	{ "deleted_group_warns_once",
		"min=2 phase=Pending deleting Scheduled=False/DeletedWithGatedMembers; j-0 Pending gated",
		"" },
	{ "gated_members_of_a_queuejob_are_released_all_the_same",
		"min=2 phase=Pending deleting; j-0 Pending gated kind=QueueJob; j-1 Pending gated kind=QueueJob",
		"" },
	{ "only_gated_members_that_nobody_releases_are_told",
		"min=2 phase=Pending deleting; j-0 Pending gated kind=QueueJob; x-0 Pending gated kind=Job",
		"status phase=Pending" COUNTS(0, 0, 0, 0, 0) WAITS(
			"DeletedWithGatedMembers") "; event Warning "
						   "DeletedWithGatedMembers: the PodGroup is being deleted; 1 of its members stay SchedulingGated" },

	/* an attempt to start */
	{ "members_without_our_gate_are_no_gang",
		"others min=2 phase=Pending; a Pending owner=t; b Pending gated owner=t",
		"status phase=Scheduling members=2 scheduled=0 running=0 succeeded=0 failed=0 Scheduled=False/Pending; event Warning NotEnforced: 1 of 2 members have no scheduling gate kube-arbitrator.io/gang: they start one by one, as they fit, and not as a gang; requeue 2d" },
	{ "nor_if_all_are_bound_at_once",
		"others min=2 phase=Pending; a Pending bound owner=t; b Pending bound owner=t",
		"urgent status phase=Scheduled members=2 scheduled=2 running=0 succeeded=0 failed=0 placement=Satisfied Scheduled=True/Scheduled; event Warning NotEnforced: 2 of 2 members have no scheduling gate kube-arbitrator.io/gang: they start one by one, as they fit, and not as a gang; event Normal Scheduled: minMember 2 reached" },
	{ "nor_is_one_alone_a_gang", "others min=1 phase=Pending; a Pending owner=t",
		"status phase=Scheduling members=1 scheduled=0 running=0 succeeded=0 failed=0 Scheduled=False/Pending; requeue 2d" },
	{ "attempt_goes_on",
		"min=2 phase=Scheduling place=Placed attempt=1 deadline=50; j-0 Pending bound; j-1 Pending pin=n2 made=9",
		"status phase=Scheduling members=2 scheduled=1 running=0 succeeded=0 failed=0 Scheduled=False/Placing; requeue 51s" },
	{ "attempt_succeeds",
		"min=2 phase=Scheduling place=Placed attempt=2 failures=1 cause=x deadline=50; j-0 Pending bound; j-1 Pending bound",
		"urgent status phase=Scheduled members=2 scheduled=2 running=0 succeeded=0 failed=0 placement=Satisfied Scheduled=True/Scheduled" },
	{ "bound_and_done_make_up_the_minimum",
		"min=2 phase=Scheduling place=Placed attempt=1 deadline=-1; j-0 Succeeded; j-1 Pending bound",
		"urgent status phase=Scheduled members=2 scheduled=2 running=0 succeeded=1 failed=0 placement=Satisfied Scheduled=True/Scheduled" },
	{ "attempt_is_late",
		"min=2 phase=Scheduling place=Placed attempt=1 deadline=0; j-0 Pending bound; j-1 Pending pin=n2 made=60 owner=j",
		"urgent status phase=Scheduling members=2 scheduled=1 running=0 succeeded=0 failed=0 placement=RollingBack Scheduled=False/RollingBack; event Warning RolledBack: attempt 1 to start the gang failed: not bound after 1m: j-1; requeue 2d" },
	{ "attempt_without_members_is_given_up",
		"min=2 phase=Pending place=Placed for=30 attempt=1 deadline=30",
		"urgent status phase=Pending members=0 scheduled=0 running=0 succeeded=0 failed=0 placement=Unplaced Scheduled=False/NotEnoughMembers; requeue 2d" },
	{ "members_come_one_after_the_other",
		"min=3 phase=Scheduling place=Placed for=50 attempt=1 deadline=10; j-0 Pending bound made=40; j-1 Pending bound made=29",
		"status phase=Pending members=2 scheduled=2 running=0 succeeded=0 failed=0 Scheduled=False/Placing; requeue 1s" },
	{ "no_more_come",
		"min=3 phase=Scheduling place=Placed for=50 attempt=1 deadline=10; j-0 Pending bound made=40 owner=j; j-1 Pending bound made=31 owner=j",
		"urgent status phase=Pending members=2 scheduled=2 running=0 succeeded=0 failed=0 placement=RollingBack Scheduled=False/RollingBack; event Warning RolledBack: attempt 1 to start the gang failed: 1 of 3 members were not created; requeue 2d" },
	{ "unplaced_members_that_come_late_have_their_time",
		"min=3 phase=Pending place=Unplaced attempt=1 Scheduled=False/NotEnoughMembers short-for=3600; j-0 Pending bound made=5 owner=j",
		"status phase=Pending members=1 scheduled=1 running=0 succeeded=0 failed=0 Scheduled=False/NotEnoughMembers; requeue 55s" },
	{ "place_was_taken",
		"min=2 phase=Scheduling place=Placed attempt=1 deadline=50; j-0 Pending bound; j-1 Pending lacks-cpu pin=n2 made=4 owner=j",
		"urgent status phase=Scheduling members=2 scheduled=1 running=0 succeeded=0 failed=0 placement=RollingBack Scheduled=False/RollingBack Unschedulable=True/Unschedulable; event Warning RolledBack: attempt 1 to start the gang failed: j-1 was unschedulable on n2: 0/4 nodes are available: 4 Insufficient cpu; event Warning Unschedulable: 1/2 members bound; j-1: Unschedulable; 0/4 nodes are available: 4 Insufficient cpu (it asks for cpu 100); requeue 2d" },
	{ "queue_may_find_another_node_for_it",
		"min=2 phase=Scheduling place=Placed attempt=1 deadline=50; j-0 Pending bound; j-1 Pending lacks-cpu pin=n2 made=3",
		"urgent status phase=Scheduling members=2 scheduled=1 running=0 succeeded=0 failed=0 Scheduled=False/Placing Unschedulable=True/Unschedulable; event Warning Unschedulable: 1/2 members bound; j-1: Unschedulable; 0/4 nodes are available: 4 Insufficient cpu (it asks for cpu 100); requeue 1s" },
	{ "when_it_has_done_so_its_pod_has_a_moment_to_go",
		"min=2 phase=Scheduling place=Placed for=1 repairs=1 attempt=1 deadline=50; j-0 Pending bound; j-1 Pending lacks-cpu pin=n2 made=9",
		"urgent status phase=Scheduling members=2 scheduled=1 running=0 succeeded=0 failed=0 Scheduled=False/Placing Unschedulable=True/Unschedulable; event Warning Unschedulable: 1/2 members bound; j-1: Unschedulable; 0/4 nodes are available: 4 Insufficient cpu (it asks for cpu 100); requeue 3s" },
	{ "after_three_times_it_does_so_no_more",
		"min=2 phase=Scheduling place=Placed repairs=3 attempt=1 deadline=50; j-0 Pending bound; j-1 Pending lacks-cpu pin=n2 made=3 owner=j",
		"urgent status phase=Scheduling members=2 scheduled=1 running=0 succeeded=0 failed=0 placement=RollingBack repairs=- Scheduled=False/RollingBack Unschedulable=True/Unschedulable; event Warning RolledBack: attempt 1 to start the gang failed: j-1 was unschedulable on n2: 0/4 nodes are available: 4 Insufficient cpu; event Warning Unschedulable: 1/2 members bound; j-1: Unschedulable; 0/4 nodes are available: 4 Insufficient cpu (it asks for cpu 100); requeue 2d" },
	{ "scheduler_may_be_behind",
		"min=2 phase=Scheduling place=Placed attempt=1 deadline=50; j-0 Pending bound; j-1 Pending lacks-cpu pin=n2 made=1",
		"urgent status phase=Scheduling members=2 scheduled=1 running=0 succeeded=0 failed=0 Scheduled=False/Placing Unschedulable=True/Unschedulable; event Warning Unschedulable: 1/2 members bound; j-1: Unschedulable; 0/4 nodes are available: 4 Insufficient cpu (it asks for cpu 100); requeue 3s" },
	{ "unpinned_member_may_become_schedulable",
		"min=2 phase=Scheduling place=Placed attempt=1 deadline=50; j-0 Pending bound; j-1 Pending lacks-cpu made=9",
		"urgent status phase=Scheduling members=2 scheduled=1 running=0 succeeded=0 failed=0 Scheduled=False/Placing Unschedulable=True/Unschedulable; event Warning Unschedulable: 1/2 members bound; j-1: Unschedulable; 0/4 nodes are available: 4 Insufficient cpu (it asks for cpu 100); requeue 51s" },
	{ "roll_back_lasts_until_all_are_gone",
		"min=2 phase=Scheduling place=RollingBack attempt=1 cause=x; j-0 Pending bound terminating owner=j",
		"status phase=Pending members=1 scheduled=1 running=1 succeeded=0 failed=0 Scheduled=False/RollingBack; requeue 10s" },
	{ "but_not_for_pods_that_should_have_been_gone",
		"min=2 phase=Scheduling place=RollingBack attempt=1 cause=x; j-0 Running overdue owner=j kind=QueueJob",
		"urgent status phase=Pending members=1 scheduled=1 running=1 succeeded=0 failed=0 placement=Waiting failures=1 retryAfter Scheduled=False/BackOff; requeue 6s" },
	{ "the_rest_is_waited_for",
		"min=2 phase=Scheduling place=RollingBack attempt=1 cause=x; j-0 Running overdue owner=j kind=QueueJob; j-1 Running terminating owner=j kind=QueueJob",
		"urgent status phase=Running members=2 scheduled=2 running=2 succeeded=0 failed=0 Scheduled=True/Scheduled; requeue 10s" },
	{ "members_that_nobody_controls_do_not_prolong_it",
		"min=2 phase=Scheduling place=RollingBack attempt=1 cause=x; j-0 Pending",
		"urgent status phase=Pending members=1 scheduled=0 running=0 succeeded=0 failed=0 placement=Waiting failures=1 retryAfter Scheduled=False/BackOff; requeue 6s" },
	{ "unbound_members_that_terminate_are_gone",
		"min=2 phase=Scheduling place=RollingBack attempt=1 cause=x; j-0 Pending terminating; j-1 Succeeded",
		"urgent status phase=Pending members=1 scheduled=1 running=0 succeeded=1 failed=0 placement=Waiting failures=1 retryAfter Scheduled=False/BackOff; requeue 6s" },
	{ "pause_doubles_with_each_failure",
		"min=2 phase=Pending place=RollingBack attempt=4 failures=3 cause=x",
		"urgent status phase=Pending members=0 scheduled=0 running=0 succeeded=0 failed=0 placement=Waiting failures=4 retryAfter Scheduled=False/BackOff; requeue 39s" },
	{ "back_off_is_said", "min=2 phase=Pending place=Waiting attempt=1 failures=1 cause=x retry=5",
		"status phase=Pending members=0 scheduled=0 running=0 succeeded=0 failed=0 Scheduled=False/BackOff; requeue 5s" },
	{ "too_many_attempts_have_failed",
		"min=2 phase=Pending place=RollingBack attempt=20 failures=19 cause=x",
		"urgent status phase=Pending members=0 scheduled=0 running=0 succeeded=0 failed=0 placement=Deactivated failures=20 Scheduled=False/Deactivated; event Warning Deactivated: 20 attempts to start the gang failed, the last: x; to try again, change the spec of the job, or suspend and resume it; requeue 2d" },
	{ "it_stays_deactivated",
		"min=2 phase=Pending place=Deactivated attempt=20 failures=20 cause=x generation=1 owner-generation=1",
		"status phase=Pending members=0 scheduled=0 running=0 succeeded=0 failed=0 Scheduled=False/Deactivated; requeue 2d" },
	{ "until_the_job_is_edited",
		"min=2 phase=Pending place=Deactivated attempt=20 failures=20 cause=x generation=1 owner-generation=2",
		"urgent status phase=Pending members=0 scheduled=0 running=0 succeeded=0 failed=0 placement=Waiting failures=- Scheduled=False/NotEnoughMembers; requeue 2d" },
	{ "pinned_member_may_wait_for_others_to_be_created",
		"min=3 phase=Pending place=Placed attempt=1 deadline=50; j-0 Pending bound; j-1 Pending lacks-cpu pin=n2 made=9",
		"urgent status phase=Pending members=2 scheduled=1 running=0 succeeded=0 failed=0 Scheduled=False/Placing Unschedulable=True/Unschedulable; event Warning Unschedulable: 1/3 members bound; 2/3 created; j-1: Unschedulable; 0/4 nodes are available: 4 Insufficient cpu (it asks for cpu 100); requeue 21s" },
	{ "members_wait_for_new_nodes",
		"min=2 phase=Scheduling place=Unplaced attempt=1 deadline=50; j-0 Pending bound; j-1 Pending lacks-cpu made=600",
		"urgent status phase=Scheduling members=2 scheduled=1 running=0 succeeded=0 failed=0 Scheduled=False/Unschedulable Unschedulable=True/Unschedulable; event Warning Unschedulable: 1/2 members bound; j-1: Unschedulable; 0/4 nodes are available: 4 Insufficient cpu (it asks for cpu 100); requeue 50s" },
	{ "new_nodes_did_not_come",
		"min=2 phase=Scheduling place=Unplaced attempt=1 deadline=0; j-0 Pending bound; j-1 Pending lacks-cpu made=900 owner=j",
		"urgent status phase=Scheduling members=2 scheduled=1 running=0 succeeded=0 failed=0 placement=RollingBack Scheduled=False/RollingBack Unschedulable=True/Unschedulable; event Warning RolledBack: attempt 1 to start the gang failed: not bound after 15m: j-1; event Warning Unschedulable: 1/2 members bound; j-1: Unschedulable; 0/4 nodes are available: 4 Insufficient cpu (it asks for cpu 100); requeue 2d" },
	{ "members_of_an_unplaced_gang_find_no_room",
		"min=2 phase=Scheduling place=Unplaced attempt=1; j-0 Pending bound; j-1 Pending lacks-cpu made=60",
		"urgent status phase=Scheduling members=2 scheduled=1 running=0 succeeded=0 failed=0 Scheduled=False/Unschedulable Unschedulable=True/Unschedulable; event Warning Unschedulable: 1/2 members bound; j-1: Unschedulable; 0/4 nodes are available: 4 Insufficient cpu (it asks for cpu 100); requeue 1m" },
	{ "last_member_has_its_time",
		"min=2 phase=Scheduling place=Placed attempt=1 deadline=0; j-0 Pending bound made=60; j-1 Pending pin=n2 made=20",
		"status phase=Scheduling members=2 scheduled=1 running=0 succeeded=0 failed=0 Scheduled=False/Placing; requeue 40s" },
	{ "raised_minimum_stops_nothing_that_runs",
		"min=3 raised phase=Running place=Satisfied attempt=1 satisfied=2 Scheduled=False/QuorumLost short-for=600; j-0 Running; j-1 Running; j-2 Pending lacks-cpu",
		"urgent status phase=Unknown members=3 scheduled=2 running=2 succeeded=0 failed=0 quorumLost Scheduled=False/QuorumLost Unschedulable=True/Unschedulable; event Warning Unschedulable: 2/3 members bound; j-2: Unschedulable; 0/4 nodes are available: 4 Insufficient cpu (it asks for cpu 100)" },
	{ "broken_gang_whose_members_find_no_room",
		"min=2 phase=Running place=Satisfied attempt=1 satisfied=2 Scheduled=False/QuorumLost short-for=60; j-0 Running; j-1 Pending lacks-cpu owner=j",
		"urgent status phase=Unknown members=2 scheduled=1 running=1 succeeded=0 failed=0 quorumLost placement=RollingBack Scheduled=False/RollingBack Unschedulable=True/Unschedulable; event Warning RolledBack: attempt 1 to start the gang failed: not bound after 1m: j-1; event Warning Unschedulable: 1/2 members bound; j-1: Unschedulable; 0/4 nodes are available: 4 Insufficient cpu (it asks for cpu 100)" },
	{ "failures_before_it_ran_for_ten_minutes_are_forgotten",
		"min=2 phase=Running place=Satisfied for=600 attempt=4 failures=3 satisfied=2 Scheduled=False/QuorumLost short-for=60; j-0 Running; j-1 Pending lacks-cpu owner=j",
		"urgent status phase=Unknown members=2 scheduled=1 running=1 succeeded=0 failed=0 quorumLost placement=RollingBack failures=- Scheduled=False/RollingBack Unschedulable=True/Unschedulable; event Warning RolledBack: attempt 4 to start the gang failed: not bound after 1m: j-1; event Warning Unschedulable: 1/2 members bound; j-1: Unschedulable; 0/4 nodes are available: 4 Insufficient cpu (it asks for cpu 100)" },
	{ "those_of_a_gang_that_ran_shortly_count_on",
		"min=2 phase=Running place=Satisfied for=599 attempt=4 failures=3 satisfied=2 Scheduled=False/QuorumLost short-for=60; j-0 Running; j-1 Pending lacks-cpu owner=j",
		"urgent status phase=Unknown members=2 scheduled=1 running=1 succeeded=0 failed=0 quorumLost placement=RollingBack Scheduled=False/RollingBack Unschedulable=True/Unschedulable; event Warning RolledBack: attempt 4 to start the gang failed: not bound after 1m: j-1; event Warning Unschedulable: 1/2 members bound; j-1: Unschedulable; 0/4 nodes are available: 4 Insufficient cpu (it asks for cpu 100)" },
	{ "it_has_the_time_out_first",
		"min=2 phase=Running place=Satisfied attempt=1 satisfied=2 Scheduled=False/QuorumLost short-for=59; j-0 Running; j-1 Pending lacks-cpu",
		"urgent status phase=Unknown members=2 scheduled=1 running=1 succeeded=0 failed=0 quorumLost Scheduled=False/QuorumLost Unschedulable=True/Unschedulable; event Warning Unschedulable: 1/2 members bound; j-1: Unschedulable; 0/4 nodes are available: 4 Insufficient cpu (it asks for cpu 100); requeue 1s" },
	/* all in one domain */
	{ "domain_has_no_room_for_what_was_lost",
		"min=2 phase=Running place=Satisfied attempt=1 satisfied=2 domain=rack:r3 Scheduled=False/QuorumLost short-for=30; j-0 Running; j-1 Pending lacks-cpu made=30 owner=j",
		"urgent status phase=Unknown members=2 scheduled=1 running=1 succeeded=0 failed=0 quorumLost placement=RollingBack Scheduled=False/RollingBack Unschedulable=True/Unschedulable; event Warning TopologyLost: rack=r3 has no room for j-1: the gang starts again in a domain that has room for all of it; event Warning Unschedulable: 1/2 members bound; j-1: Unschedulable; 0/4 nodes are available: 4 Insufficient cpu (it asks for cpu 100)" },
	{ "it_has_half_a_minute",
		"min=2 phase=Running place=Satisfied attempt=1 satisfied=2 domain=rack:r3 Scheduled=False/QuorumLost short-for=40; j-0 Running; j-1 Pending lacks-cpu made=29 owner=j",
		"urgent status phase=Unknown members=2 scheduled=1 running=1 succeeded=0 failed=0 quorumLost Scheduled=False/QuorumLost Unschedulable=True/Unschedulable; event Warning Unschedulable: 1/2 members bound; j-1: Unschedulable; 0/4 nodes are available: 4 Insufficient cpu (it asks for cpu 100); requeue 1s" },
	{ "so_has_one_of_others",
		"others min=2 phase=Running place=Satisfied attempt=1 satisfied=2 domain=rack:r3 Scheduled=False/QuorumLost short-for=30; a Running released owner=t; b Pending released lacks-cpu made=30 owner=t",
		"urgent status phase=Unknown members=2 scheduled=1 running=1 succeeded=0 failed=0 quorumLost placement=RollingBack Scheduled=False/RollingBack Unschedulable=True/Unschedulable; event Warning TopologyLost: rack=r3 has no room for b: the gang starts again in a domain that has room for all of it; event Warning Unschedulable: 1/2 members bound; b: Unschedulable; 0/4 nodes are available: 4 Insufficient cpu (it asks for cpu 100)" },
	{ "that_needs_no_domain_goes_on",
		"others min=2 phase=Running place=Satisfied attempt=1 satisfied=2 Scheduled=False/QuorumLost short-for=30; a Running released owner=t; b Pending released lacks-cpu made=30 owner=t",
		"urgent status phase=Unknown members=2 scheduled=1 running=1 succeeded=0 failed=0 quorumLost Scheduled=False/QuorumLost Unschedulable=True/Unschedulable; event Warning Unschedulable: 1/2 members bound; b: Unschedulable; 0/4 nodes are available: 4 Insufficient cpu (it asks for cpu 100)" },
	{ "pods_on_a_lost_node_may_never_go",
		"min=2 phase=Running place=Satisfied attempt=1 satisfied=2 domain=rack:r3 Scheduled=True/Scheduled; j-0 Running; j-1 Running overdue owner=j; j-2 Pending lacks-cpu made=30 owner=j",
		"urgent status phase=Running members=3 scheduled=2 running=2 succeeded=0 failed=0 placement=RollingBack Scheduled=True/Scheduled Unschedulable=True/Unschedulable; event Warning TopologyLost: rack=r3 has no room for j-2: the gang starts again in a domain that has room for all of it; event Warning Unschedulable: 2/2 members bound; j-2: Unschedulable; 0/4 nodes are available: 4 Insufficient cpu (it asks for cpu 100)" },
	{ "extras_wait_for_room_in_the_domain",
		"min=1 phase=Running place=Satisfied attempt=1 satisfied=1 domain=rack:r3 Scheduled=True/Scheduled; j-0 Running; j-1 Pending lacks-cpu made=99 owner=j",
		"urgent status phase=Running members=2 scheduled=1 running=1 succeeded=0 failed=0 Scheduled=True/Scheduled Unschedulable=True/Unschedulable; event Warning Unschedulable: 1/1 members bound; j-1: Unschedulable; 0/4 nodes are available: 4 Insufficient cpu (it asks for cpu 100)" },
	{ "who_would_not_be_made_again_stays",
		"others min=2 phase=Running place=Satisfied attempt=1 satisfied=2 domain=rack:r3 Scheduled=False/QuorumLost short-for=30; a Running released; b Pending released lacks-cpu made=30 owner=t",
		"urgent status phase=Unknown members=2 scheduled=1 running=1 succeeded=0 failed=0 quorumLost Scheduled=False/QuorumLost Unschedulable=True/Unschedulable; event Warning Unschedulable: 1/2 members bound; b: Unschedulable; 0/4 nodes are available: 4 Insufficient cpu (it asks for cpu 100)" },
	{ "places_in_the_domain_are_lacking",
		"min=2 direct phase=Running place=Satisfied attempt=1 satisfied=2 deadline=9 domain=rack:r3 Scheduled=False/QuorumLost short-for=30; j-0 Running owner=j",
		"urgent status phase=Pending members=1 scheduled=1 running=1 succeeded=0 failed=0 quorumLost placement=RollingBack Scheduled=False/RollingBack; event Warning TopologyLost: rack=r3 has no room for 1 of 2 members: the gang starts again in a domain that has room for all of it" },
	{ "places_of_another_task_may_be_lacking",
		"min=2 direct phase=Running place=Satisfied attempt=1 satisfied=2 deadline=9 domain=rack:r3:w Scheduled=False/QuorumLost short-for=30; j-0 Running owner=j",
		"status phase=Pending members=1 scheduled=1 running=1 succeeded=0 failed=0 quorumLost Scheduled=False/QuorumLost; requeue 9s" },
	{ "labels_of_a_node_were_changed",
		"min=1 phase=Running place=Satisfied attempt=1 satisfied=1 domain=rack:r3 outside Scheduled=True/Scheduled; j-0 Running",
		"status phase=Running members=1 scheduled=1 running=1 succeeded=0 failed=0 Scheduled=True/Scheduled TopologyChanged=True/TopologyChanged; event Warning TopologyChanged: labels were changed" },
	/* pods that are created bound */
	{ "kubelet_has_not_answered",
		"min=2 direct phase=Scheduling place=Placed attempt=1 deadline=50; j-0 Running owner=j; j-1 Pending bound made=9 owner=j",
		"status phase=Scheduling members=2 scheduled=1 running=1 succeeded=0 failed=0 Scheduled=False/Placing; requeue 51s" },
	{ "kubelet_has_accepted",
		"min=2 direct phase=Scheduling place=Placed attempt=1 deadline=50; j-0 Running owner=j; j-1 Pending bound accepted made=9 owner=j",
		"urgent status phase=Scheduled members=2 scheduled=2 running=1 succeeded=0 failed=0 placement=Satisfied Scheduled=True/Scheduled" },
	{ "kubelet_never_answers",
		"min=2 direct phase=Scheduling place=Placed attempt=1 deadline=0; j-0 Running owner=j; j-1 Pending bound made=60 owner=j",
		"urgent status phase=Scheduling members=2 scheduled=1 running=1 succeeded=0 failed=0 placement=RollingBack Scheduled=False/RollingBack; event Warning RolledBack: attempt 1 to start the gang failed: not bound after 1m: j-1" },
	{ "refused_member_ends_the_attempt",
		"min=2 direct phase=Scheduling place=Placed attempt=1 deadline=50; j-0 Running owner=j; j-1 Failed refused=OutOfcpu made=2 owner=j",
		"urgent status phase=Pending members=1 scheduled=1 running=1 succeeded=0 failed=0 placement=RollingBack Scheduled=False/RollingBack; event Warning RolledBack: attempt 1 to start the gang failed: j-1 was refused by node n1: OutOfcpu" },
	{ "not_while_others_are_still_created",
		"min=3 direct phase=Scheduling place=Placed attempt=1 deadline=50; j-0 Running owner=j; j-1 Failed refused=OutOfcpu made=2 owner=j",
		"status phase=Pending members=1 scheduled=1 running=1 succeeded=0 failed=0 Scheduled=False/Placing; requeue 20s" },
	{ "nor_one_above_the_minimum",
		"min=1 direct phase=Scheduling place=Placed attempt=1 deadline=50; j-0 Pending bound owner=j; j-1 Failed refused=OutOfcpu made=2 owner=j",
		"status phase=Scheduling members=1 scheduled=0 running=0 succeeded=0 failed=0 Scheduled=False/Placing; requeue 50s" },
	{ "nor_one_of_an_earlier_attempt",
		"min=2 direct phase=Scheduling place=Placed attempt=2 deadline=50; j-0 Running owner=j; j-1 Failed refused=OutOfcpu made=11 owner=j",
		"status phase=Pending members=1 scheduled=1 running=1 succeeded=0 failed=0 Scheduled=False/Placing; requeue 20s" },
	{ "of_another_scheduler_it_has_failed",
		"min=2 phase=Scheduling place=Placed attempt=1 deadline=50; j-0 Running owner=j; j-1 Failed refused=OutOfcpu made=2 owner=j",
		"urgent status phase=Failed members=2 scheduled=1 running=1 succeeded=0 failed=1 Scheduled=False/Placing; requeue 20s" },
	{ "refused_later_it_is_no_member",
		"min=1 direct phase=Running place=Satisfied attempt=1 satisfied=1 Scheduled=True/Scheduled; j-0 Running owner=j; j-1 Failed refused=OutOfpods made=2 owner=j",
		"status phase=Running members=1 scheduled=1 running=1 succeeded=0 failed=0 Scheduled=True/Scheduled" },
	{ "broken_gang_whose_rest_gets_no_places",
		"min=2 direct phase=Running place=Satisfied attempt=1 satisfied=2 deadline=0 Scheduled=False/QuorumLost short-for=60; j-0 Running owner=j",
		"urgent status phase=Pending members=1 scheduled=1 running=1 succeeded=0 failed=0 quorumLost placement=RollingBack Scheduled=False/RollingBack; event Warning RolledBack: attempt 1 to start the gang failed: 1 of 2 members were not created" },
	{ "its_rest_has_places",
		"min=2 direct phase=Running place=Satisfied attempt=1 satisfied=2 Scheduled=False/QuorumLost short-for=60; j-0 Running owner=j",
		"status phase=Pending members=1 scheduled=1 running=1 succeeded=0 failed=0 quorumLost Scheduled=False/QuorumLost" },
	{ "it_lacks_them_since_a_moment",
		"min=2 direct phase=Running place=Satisfied attempt=1 satisfied=2 deadline=9 Scheduled=False/QuorumLost short-for=60; j-0 Running owner=j",
		"status phase=Pending members=1 scheduled=1 running=1 succeeded=0 failed=0 quorumLost Scheduled=False/QuorumLost; requeue 9s" },
	{ "some_of_it_terminates",
		"min=2 direct phase=Running place=Satisfied attempt=1 satisfied=2 deadline=0 Scheduled=False/QuorumLost short-for=60; j-0 Pending bound terminating owner=j",
		"status phase=Pending members=1 scheduled=1 running=1 succeeded=0 failed=0 quorumLost Scheduled=False/QuorumLost" },
	{ "all_of_it_is_gone",
		"min=2 direct owner-works phase=Running place=Satisfied attempt=1 satisfied=2 Scheduled=False/QuorumLost Admitted=True/Admitted short-for=60",
		"urgent status phase=Pending members=0 scheduled=0 running=0 succeeded=0 failed=0 placement=Waiting retryAfter Scheduled=False/NotEnoughMembers Admitted=True/Admitted; requeue 1d23h" },
	{ "admitted_without_places",
		"min=2 direct owner-works phase=Pending Admitted=True/Admitted; j-0 Pending owner=j",
		"urgent status phase=Pending members=1 scheduled=0 running=0 succeeded=0 failed=0 placement=Waiting retryAfter Admitted=True/Admitted Scheduled=False/NotEnoughMembers; requeue 2d" },
	{ "who_waits_in_the_queue_says_what_the_queue_says",
		"min=2 direct owner-works phase=Pending Admitted=False/NoFit",
		"status phase=Pending members=0 scheduled=0 running=0 succeeded=0 failed=0 Admitted=False/NoFit Scheduled=False/NoFit; requeue 2d" },
	{ "also_after_it_ran",
		"min=2 direct owner-works phase=Pending Admitted=False/NoFit Scheduled=False/QuorumLost; j-0 Pending owner=j",
		"status phase=Pending members=1 scheduled=0 running=0 succeeded=0 failed=0 Admitted=False/NoFit Scheduled=False/NoFit; requeue 2d" },
	{ "unplaced_by_another_version",
		"min=2 direct owner-works phase=Pending place=Unplaced attempt=1 Admitted=True/Admitted",
		"urgent status phase=Pending members=0 scheduled=0 running=0 succeeded=0 failed=0 placement=Waiting retryAfter Admitted=True/Admitted Scheduled=False/NotEnoughMembers; requeue 2d" },
	{ "group_that_cannot_start_as_planned_is_placed_anew",
		"min=2 phase=Pending place=Placed attempt=1 deadline=50 backend=Native native-lost Admitted=True/Admitted",
		"urgent status phase=Pending members=0 scheduled=0 running=0 succeeded=0 failed=0 placement=Waiting Admitted=True/Admitted Scheduled=False/NotEnoughMembers; requeue 2d" },
	{ "but_not_while_a_member_is_there",
		"min=2 phase=Pending place=Placed attempt=1 deadline=50 backend=Native native-lost Admitted=True/Admitted; j-0 Pending native",
		"status phase=Pending members=1 scheduled=0 running=0 succeeded=0 failed=0 Admitted=True/Admitted Scheduled=False/Placing; requeue 20s" },
	{ "member_that_lost_its_group_ends_the_attempt",
		"min=2 phase=Scheduling place=Placed attempt=1 deadline=50 backend=Native; j-0 Pending bound owner=j; j-1 Pending native owner=j",
		"urgent status phase=Scheduling members=2 scheduled=1 running=0 succeeded=0 failed=0 placement=RollingBack Scheduled=False/RollingBack; event Warning RolledBack: attempt 1 to start the gang failed: the API server has dropped spec.schedulingGroup of j-0: is the feature gate GenericWorkload off on one of its servers? The gang is placed again without it; requeue 2d" },
	{ "unless_all_are_bound",
		"min=2 phase=Scheduling place=Placed attempt=1 deadline=50 backend=Native; j-0 Pending bound owner=j; j-1 Pending bound native owner=j",
		"urgent status phase=Scheduled members=2 scheduled=2 running=0 succeeded=0 failed=0 placement=Satisfied Scheduled=True/Scheduled" },
	{ "member_of_an_unplaced_gang_that_lost_it",
		"min=2 phase=Scheduling place=Unplaced attempt=1 backend=Native; j-0 Pending native owner=j; j-1 Pending owner=j",
		"urgent status phase=Scheduling members=2 scheduled=0 running=0 succeeded=0 failed=0 placement=RollingBack Scheduled=False/RollingBack; event Warning RolledBack: attempt 1 to start the gang failed: the API server has dropped spec.schedulingGroup of j-1: is the feature gate GenericWorkload off on one of its servers? The gang is placed again without it; requeue 2d" },
	{ "members_without_it_are_as_gates_want_them",
		"min=2 phase=Scheduling place=Placed attempt=1 deadline=50 backend=Gates; j-0 Pending bound owner=j; j-1 Pending owner=j",
		"status phase=Scheduling members=2 scheduled=1 running=0 succeeded=0 failed=0 Scheduled=False/Placing; requeue 50s" },
	{ "nor_when_the_job_has_ended",
		"min=2 phase=Pending place=Unplaced attempt=1 backend=Native native-lost owner-terminal Admitted=True/Admitted",
		"status phase=Pending members=0 scheduled=0 running=0 succeeded=0 failed=0 Admitted=True/Admitted Scheduled=False/NotEnoughMembers" },
	{ "what_is_there_now_may_be_lost",
		"min=2 phase=Pending place=Unplaced attempt=1 backend=Native Admitted=True/Admitted",
		"status phase=Pending members=0 scheduled=0 running=0 succeeded=0 failed=0 Admitted=True/Admitted Scheduled=False/NotEnoughMembers; requeue 30s" },
	{ "gates_cannot_be_lost",
		"min=2 phase=Pending place=Unplaced attempt=1 backend=Gates native-lost Admitted=True/Admitted",
		"status phase=Pending members=0 scheduled=0 running=0 succeeded=0 failed=0 Admitted=True/Admitted Scheduled=False/NotEnoughMembers; requeue 2d" },
	{ "gang_that_has_started_needs_it_no_more",
		"min=1 phase=Running place=Satisfied attempt=1 satisfied=1 backend=Native native-lost Admitted=True/Admitted; j-0 Running",
		"status phase=Running members=1 scheduled=1 running=1 succeeded=0 failed=0 Admitted=True/Admitted Scheduled=True/Scheduled" },
	{ "members_of_another_scheduler_are_counted",
		"min=2 phase=Pending; j-0 Pending scheduler=volcano made=4; j-1 Pending scheduler=volcano made=7",
		"status phase=Scheduling members=2 scheduled=0 running=0 succeeded=0 failed=0 backend=Labels Scheduled=False/Pending; requeue 3s" },
	{ "nobody_serves_the_scheduler_they_name",
		"min=2 phase=Pending; j-0 Pending scheduler=volcano made=4; j-1 Pending scheduler=volcano made=10",
		"status phase=Scheduling members=2 scheduled=0 running=0 succeeded=0 failed=0 backend=Labels Scheduled=False/NoScheduler; requeue 6s" },
	{ "somebody_serves_it",
		"min=2 phase=Pending; j-0 Pending scheduler=volcano made=40 seen; j-1 Pending scheduler=volcano made=40 unschedulable seen",
		"urgent status phase=Scheduling members=2 scheduled=0 running=0 succeeded=0 failed=0 backend=Labels Scheduled=False/Unschedulable Unschedulable=True/Unschedulable; event Warning Unschedulable: 0/2 members bound; j-1: Unschedulable; requeue 2d" },
	{ "the_manager_serves_it",
		"served min=2 phase=Pending; j-0 Pending scheduler=kar-scheduler made=40; j-1 Pending scheduler=kar-scheduler made=40",
		"status phase=Scheduling members=2 scheduled=0 running=0 succeeded=0 failed=0 Scheduled=False/Pending; requeue 2d" },
	{ "who_waits_for_a_gate_waits_for_no_scheduler",
		"others min=2 phase=Pending; a Pending gated owner=t scheduler=volcano made=40",
		"status phase=Pending members=1 scheduled=0 running=0 succeeded=0 failed=0 backend=Labels Scheduled=False/WaitingForMembers; requeue 2d" },
	{ "start_of_a_gang_of_others_is_an_event",
		"others min=2 phase=Scheduling Scheduled=False/Pending; a Pending bound owner=t; b Pending bound owner=t",
		"urgent status phase=Scheduled members=2 scheduled=2 running=0 succeeded=0 failed=0 placement=Satisfied Scheduled=True/Scheduled; event Normal Scheduled: minMember 2 reached" },
	{ "until_the_last_has_ended",
		"min=2 phase=Running backend=Labels; j-0 Succeeded scheduler=volcano; j-1 Failed scheduler=volcano",
		"urgent status phase=Failed members=2 scheduled=1 running=0 succeeded=1 failed=1 quorumLost Scheduled=False/QuorumLost" },
	{ "nobody_starts_a_mixture_whole",
		"min=2 phase=Pending backend=Labels; j-0 Pending scheduler=volcano seen; j-1 Pending",
		"status phase=Scheduling members=2 scheduled=0 running=0 succeeded=0 failed=0 backend=- Scheduled=False/Pending; requeue 2d" },
	{ "backend_ends_with_the_placement", "min=2 phase=Pending backend=Gates; j-0 Pending; j-1 Pending",
		"status phase=Scheduling members=2 scheduled=0 running=0 succeeded=0 failed=0 backend=- Scheduled=False/Pending; requeue 2d" },
	{ "extras_without_room_do_not_matter",
		"min=1 phase=Running place=Satisfied attempt=1 satisfied=2 Scheduled=True/Scheduled short-for=600; j-0 Running; j-1 Pending lacks-cpu",
		"urgent status phase=Running members=2 scheduled=1 running=1 succeeded=0 failed=0 Scheduled=True/Scheduled Unschedulable=True/Unschedulable; event Warning Unschedulable: 1/1 members bound; j-1: Unschedulable; 0/4 nodes are available: 4 Insufficient cpu (it asks for cpu 100)" },
};

static void check_text(const struct row *r, const char *got, const char *want, const char *what)
{
	if (strcmp(got, want) != 0)
		fail_msg("%s (%s)\n  scene: %s\n  want:  %s\n  got:   %s", r->name, what, r->scene, want,
			got);
}

static void decides_as_the_table_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct scene *s = new_scene(rows[i].scene);

		check_text(&rows[i], decide_at(s, now), rows[i].plan, "plan");
		free_scene(s);
	}
}

/* The text of the status says nothing about messages and order, so the whole structs are compared through it. */
static const char *full_text(struct scene *s)
{
	const char *text = decide_at(s, now);
	const struct kar_podgroup_status *st = s->plan.status;

	for (size_t i = 0; st && i < st->conditions.n; i++)
		text = kar_arena_printf(&s->arena, "%s|%s: %s", text, st->conditions.items[i].type,
			st->conditions.items[i].message);
	return st ? kar_arena_printf(&s->arena, "%s|%s", text, st->occupied_by) : text;
}

/* A job tells its own start and end. Of its group, more than numbers is written without regard to how many others there are. */
static void only_numbers_share_a_budget(void **state)
{
	static const struct {
		const char *scene;
		bool shares;
	} writes[] = {
		{ "owner-works min=2 phase=Scheduled; j-0 Running; j-1 Running", false },
		{ "owner-terminal min=2 phase=Running; j-0 Succeeded; j-1 Succeeded", false },
		{ "owner-works min=1 phase=Running; j-0 Running; j-1 Running", true },
		{ "owner-works min=2 phase=Pending; j-0 Pending; j-1 Pending", true },
		{ "others min=2 phase=Pending; j-0 Pending; j-1 Pending", false },
		{ "others min=2 phase=Pending Scheduled=False/WaitingForMembers; j-0 Pending gated owner=t kind=Job",
			true },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(writes); i++) {
		struct scene *s = new_scene(writes[i].scene);

		decide_at(s, now);
		if (!s->plan.status || s->plan.urgent || s->plan.counters != writes[i].shares)
			fail_msg("%s: %s", writes[i].scene,
				!s->plan.status          ? "nothing is written"
					: s->plan.urgent ? "it is urgent"
							 : "the other one");
		free_scene(s);
	}
}

static void order_of_pods_does_not_matter(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct scene *s = new_scene(rows[i].scene);
		const char *first = full_text(s);

		for (size_t k = 0; k < s->view.n_pods / 2; k++) {
			const struct kar_pod *p = s->members[k];

			s->members[k] = s->members[s->view.n_pods - 1 - k];
			s->members[s->view.n_pods - 1 - k] = p;
		}
		check_text(&rows[i], full_text(s), first, "reversed order");
		free_scene(s);
	}
}

static void written_status_is_not_written_again(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct scene *s = new_scene(rows[i].scene);
		const char *second;

		decide_at(s, now);
		if (s->plan.status)
			s->group.status = *(const struct kar_podgroup_status *)s->plan.status;
		second = decide_at(s, now + 10);
		if (s->plan.status || s->plan.n_events)
			check_text(&rows[i], second, "", "decided again after the write");
		free_scene(s);
	}
}

/* With a CRD that is not ours: then nothing is written again and again, and no event is repeated. */
static void record_that_is_dropped_is_not_missed(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct scene *s = new_scene(rows[i].scene);

		decide_at(s, now);
		for (int write = 0; write < 2; write++) {
			if (s->plan.status)
				s->group.status = *(const struct kar_podgroup_status *)s->plan.status;
			s->group.status.record = (struct kar_pg_record){ 0 };
			decide_at(s, now + 10);
			if (s->plan.n_events)
				fail_msg("%s: event repeated after write %d", rows[i].name, write);
		}
		if (s->plan.status)
			fail_msg("%s: written a third time", rows[i].name);
		free_scene(s);
	}
}

/* What the group waits for lasts: after so many seconds (two looks a second) these events have come. */
static const struct {
	const char *name, *scene;
	int seconds;
	const char *events;
} waits[] = {
	{ "members_come_within_seconds", "others min=2 Scheduled=False/WaitingForMembers", 9, "" },
	{ "members_do_not_come", "others min=2 Scheduled=False/WaitingForMembers", 600,
		"WaitingForMembers " },
	{ "queue_is_not_there", "others min=2 Scheduled=False/QueueNotFound", 1, "QueueNotFound " },
	{ "nobody_schedules", "others min=2 Scheduled=False/NoScheduler", 600, "NoScheduler " },
	{ "two_schedulers", "others min=2 Scheduled=False/MixedSchedulers", 600, "MixedSchedulers " },
	{ "feature_that_kar_scheduler_lacks", "others min=2 Scheduled=False/Unsupported", 600,
		"Unsupported " },
	{ "replacement_comes", "others min=2 Scheduled=False/QuorumLost", 9, "" },
	{ "no_replacement_comes", "others min=2 Scheduled=False/QuorumLost", 11, "QuorumLost " },
	{ "no_replacement_for_a_job", "min=2 owner-works Scheduled=False/QuorumLost", 11, "QuorumLost " },
	{ "job_says_it_itself", "min=2 owner-works Scheduled=False/NoScheduler", 600, "" },
	{ "it_waits_in_its_queue", "others min=2 Admitted=False/NoFit Scheduled=False/NoFit", 600,
		"Waiting " },
	{ "member_that_came_late_waits_in_its_queue",
		"others bounded min=1 waits=x Scheduled=True/Scheduled; a Running; b Pending gated", 600,
		"Waiting Waiting/b " },
	{ "what_its_queue_does_not_say", "others min=2 Scheduled=False/Placing", 600, "" },
	{ "first_gated_pods_say_it_too",
		"others min=2 Scheduled=False/QueueNotFound; e Pending gated; b Pending gated; a Pending; d Pending gated; c Pending gated; f Pending gated terminating",
		9, "QueueNotFound QueueNotFound/b QueueNotFound/c QueueNotFound/d " },
	{ "another_manager_has_told_it", "others min=2 Scheduled=False/QueueNotFound short-for=20", 600, "" },
	{ "another_manager_has_begun_to_wait", "others min=2 Scheduled=False/WaitingForMembers short-for=12",
		1, "WaitingForMembers " },
};

static void told_once_for_each_kind(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(waits); i++) {
		struct scene *s = new_scene(waits[i].scene);
		const char *events = "";

		for (int look = 0; look <= 2 * waits[i].seconds; look++) {
			kar_plan_init(&s->plan, &s->arena);
			s->view.told = podgroup_tell(&s->view, now + look * KAR_SECOND / 2, &s->plan);
			assert_int_equal(s->plan.events_alone, s->plan.n_events > 0);
			for (size_t k = 0; k < s->plan.n_events; k++) {
				const struct kar_plan_event *e = &s->plan.events[k];

				events = kar_arena_printf(&s->arena, "%s%s%s%s ", events, e->reason,
					e->about ? "/" : "", e->about ? e->about->name : "");
			}
		}
		if (strcmp(events, waits[i].events) != 0)
			fail_msg("%s: want \"%s\", got \"%s\"", waits[i].name, waits[i].events, events);
		free_scene(s);
	}
}

/* Another kind is told, and the first one again when it comes back; not before its status is written. */
static void told_again_after_another_kind(void **state)
{
	static const char *const kinds[] = { "QueueNotFound", "NoFit", "NoScheduler", "QueueNotFound" };
	static const char *const events[] = { "QueueNotFound", "", "NoScheduler", "QueueNotFound" };
	struct scene *s = new_scene("others min=2 Scheduled=False/NoFit");

	(void)state;
	s->view.told.known = true;
	for (size_t i = 0; i < KAR_LEN(kinds); i++) {
		s->group.status.conditions.items[0].reason = kinds[i];
		kar_plan_init(&s->plan, &s->arena);
		s->plan.status = &s->group.status;
		s->view.told = podgroup_tell(&s->view, now, &s->plan);
		assert_int_equal(s->plan.n_events, 0);
		s->plan.status = NULL;
		s->view.told = podgroup_tell(&s->view, now, &s->plan);
		assert_string_equal(s->plan.n_events ? s->plan.events[0].reason : "", events[i]);
	}
	free_scene(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decides_as_the_table_says),
		cmocka_unit_test(only_numbers_share_a_budget),
		cmocka_unit_test(order_of_pods_does_not_matter),
		cmocka_unit_test(written_status_is_not_written_again),
		cmocka_unit_test(record_that_is_dropped_is_not_missed),
		cmocka_unit_test(told_once_for_each_kind),
		cmocka_unit_test(told_again_after_another_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
