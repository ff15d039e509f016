/*
 * The simulated default scheduler: where pods go, told as stories (sim/test/fixture/story.h); what pods ask for, as rows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/nodes/requests.h"
#include "sim/test/fixture/story.h"

/* ---- stories ---- */

#define NO_VICTIMS(n) \
	" preemption: 0/" n " nodes are available: " n " No preemption victims found for incoming pod."
#define NO_HELP(n) " preemption: 0/" n " nodes are available: " n " Preemption is not helpful for scheduling."
#define PLACED(pod, node) "0s " pod " Pending @" node "\n0s " pod " Running @" node " ready\n"
#define FAILED(pod, text) "0s " pod " Pending Unschedulable \"" text "\"\n"

static const struct {
	const char *name, *world, *story;
} stories[] = {
	{ "goes_where_most_is_left",
		"node n1 cpu=4; node n2 cpu=8; pod a cpu=2; pod b cpu=2; pod c cpu=2; wait 1s",
		"0s a Pending\n0s b Pending\n0s c Pending\n" PLACED("a", "n2") PLACED("b", "n1")
			PLACED("c", "n2") },
	{ "of_equal_nodes_the_emptiest_then_the_first", "node n2; node n1; pod a; pod b; wait 1s",
		"0s a Pending\n0s b Pending\n" PLACED("a", "n1") PLACED("b", "n2") },
	{ "what_fits_nowhere_says_why",
		"node n1 cpu=2; node n2 cpu=2 taint=key:NoSchedule; node n3 cpu=1 memory=1Gi; node n4 pods=0; cordon n4;"
		"pod a cpu=2; pod b cpu=2 memory=2Gi; wait 1s",
		"0s a Pending\n0s b Pending\n" PLACED("a", "n1") FAILED("b",
			"0/4 nodes are available: 1 Insufficient memory, 1 node(s) had untolerated taint(s), "
			"1 node(s) were unschedulable, 2 Insufficient cpu. preemption: 0/4 nodes are available: "
			"1 No preemption victims found for incoming pod, 3 Preemption is not helpful for scheduling.") },
	{ "too_many_pods", "node n1 pods=1; pod a; pod b; wait 1s",
		"0s a Pending\n0s b Pending\n" PLACED("a", "n1")
			FAILED("b", "0/1 nodes are available: 1 Too many pods." NO_VICTIMS("1")) },
	{ "extended_resources_count", "node n1 gpu=2; node n2; pod a gpu=1; pod b gpu=2; wait 1s",
		"0s a Pending\n0s b Pending\n" PLACED("a", "n1") FAILED("b",
			"0/2 nodes are available: 2 Insufficient example.com/gpu. preemption: 0/2 nodes are available: "
			"1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.") },
	{ "no_node_at_all", "pod a; wait 1s; node n1; wait 9s",
		"0s a Pending\n" FAILED("a",
			"no nodes available to schedule pods") "1s a Pending @n1\n1s a Running @n1 ready" },
	{ "taints_are_tolerated",
		"node n1 taint=key:NoSchedule; pod a; pod b tolerate=key:NoSchedule; pod c tolerate=key; wait 1s",
		"0s a Pending\n0s b Pending\n0s c Pending\n" FAILED("a",
			"0/1 nodes are available: 1 node(s) had untolerated taint(s)." NO_HELP("1"))
			PLACED("b", "n1") PLACED("c", "n1") },
	{ "a_preference_not_to_schedule_is_no_reason", "node n1 taint=key:PreferNoSchedule; pod a; wait 1s",
		"0s a Pending\n" PLACED("a", "n1") },
	{ "a_preference_counts_for_nothing_beside_a_taint",
		"node n1 taint=soft:PreferNoSchedule taint=hard:NoSchedule; pod a tolerate=hard:NoSchedule; wait 1s",
		"0s a Pending\n" PLACED("a", "n1") },
	{ "node_selectors",
		"node n1; node n2 label=disk:ssd; pod a select=disk:ssd; pod b select=disk:hdd; wait 1s",
		"0s a Pending\n0s b Pending\n" PLACED("a", "n2") FAILED("b",
			"0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector." NO_HELP(
				"2")) },
	{ "host_ports",
		"node n1; node n2; pod a port=80; pod b port=80; pod c port=81; pod d port=80; wait 1s",
		"0s a Pending\n0s b Pending\n0s c Pending\n0s d Pending\n" PLACED("a", "n1") PLACED("b",
			"n2") PLACED("c", "n1") FAILED("d",
			"0/2 nodes are available: 2 node(s) didn't have free ports for the requested pod ports." NO_VICTIMS(
				"2")) },
	{ "gated_and_foreign_pods_are_not_ours",
		"node n1; pod a gated; pod b foreign; wait 1m; open a; wait 1s",
		"0s a Pending SchedulingGated \"Scheduling is blocked due to non-empty scheduling gates\"\n"
		"0s b Pending\n60s a Pending @n1\n60s a Running @n1 ready" },
	{ "by_priority_then_by_age",
		"class high 10; node n1 cpu=2; pod a cpu=1; pod b cpu=1; pod c cpu=1 class=high; wait 1s",
		"0s a Pending\n0s b Pending\n0s c Pending\n" PLACED("c", "n1") PLACED("a", "n1")
			FAILED("b", "0/1 nodes are available: 1 Insufficient cpu." NO_VICTIMS("1")) },

	{ "apart_by_hostname",
		"node n1; node n2; pod a label=app:x apart=app:x; pod b label=app:x; pod c label=app:x; wait 1s",
		"0s a Pending\n0s b Pending\n0s c Pending\n" PLACED("a", "n1") PLACED("b", "n2")
			PLACED("c", "n2") },
	{ "apart_says_why", "node n1; pod a label=app:x; wait 1s; pod b apart=app:x; wait 1s",
		"0s a Pending\n" PLACED("a",
			"n1") "1s b Pending\n1s b Pending Unschedulable "
			      "\"0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules." NO_VICTIMS(
				      "1") "\"" },
	{ "pods_that_want_to_be_apart_keep_others_away",
		"node n1; pod a apart=app:x; wait 1s; pod b label=app:x; wait 1s",
		"0s a Pending\n" PLACED("a",
			"n1") "1s b Pending\n1s b Pending Unschedulable "
			      "\"0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules." NO_VICTIMS(
				      "1") "\"" },
	{ "near_in_the_same_zone",
		"node n1 zone=a; node n2 zone=b; node n3 zone=b; pod x label=app:x select=kubernetes.io/hostname:n2;"
		"wait 1s; pod a near=app:x@zone; pod b near=app:x; wait 1s",
		"0s x Pending\n" PLACED("x",
			"n2") "1s a Pending\n1s b Pending\n1s a Pending @n3\n1s a Running @n3 ready\n"
			      "1s b Pending @n2\n1s b Running @n2 ready" },
	{ "near_nobody_waits", "node n1; pod a near=app:x; wait 3s; pod x label=app:x; wait 9s",
		"0s a Pending\n" FAILED("a",
			"0/1 nodes are available: 1 node(s) didn't match pod affinity rules." NO_HELP(
				"1")) "3s x Pending\n3s x Pending @n1\n3s x Running @n1 ready\n3s a Pending @n1\n3s a Running @n1 ready" },
	{ "the_first_of_a_kind_may_begin", "node n1; pod a label=app:x near=app:x; wait 1s",
		"0s a Pending\n" PLACED("a", "n1") },

	{ "back_off_grows_and_news_wake",
		"node n1 cpu=1; pod a cpu=1; pod b cpu=1; wait 100ms; delete a; wait 5s; pod c cpu=1; wait 100ms; delete b; wait 5s",
		"0s a Pending\n0s b Pending\n" PLACED("a", "n1") FAILED("b",
			"0/1 nodes are available: 1 Insufficient cpu." NO_VICTIMS(
				"1")) "0.1s a Running @n1 ready terminating\n0.1s a Failed @n1 Error(143) terminating\n0.1s a gone\n"
				      "1s b Pending @n1\n1s b Running @n1 ready\n"
				      "5.1s c Pending\n5.1s c Pending Unschedulable \"0/1 nodes are available: 1 Insufficient cpu." NO_VICTIMS(
					      "1") "\"\n"
						   "5.2s b Running @n1 ready terminating\n5.2s b Failed @n1 Error(143) terminating\n5.2s b gone\n"
						   "6.1s c Pending @n1\n6.1s c Running @n1 ready" },
	{ "an_ended_pod_makes_room_though_it_is_still_there",
		"node n1 cpu=1; pod a cpu=1 outcome=succeed after=3s; pod b cpu=1; wait 9s",
		"0s a Pending\n0s b Pending\n" PLACED("a", "n1") FAILED("b",
			"0/1 nodes are available: 1 Insufficient cpu." NO_VICTIMS(
				"1")) "3s a Succeeded @n1 Completed(0)\n3s b Pending @n1\n3s b Running @n1 ready" },
	{ "a_node_that_is_uncordoned_is_news", "node n1; cordon n1; pod a; wait 5s; uncordon n1; wait 5s",
		"0s a Pending\n" FAILED("a",
			"0/1 nodes are available: 1 node(s) were unschedulable." NO_HELP(
				"1")) "5s a Pending @n1\n5s a Running @n1 ready" },

	{ "the_important_drive_away_as_few_and_unimportant_as_possible",
		"class low 1; class middle 5; class high 9; node n1 cpu=2; node n2 cpu=2; node n3 cpu=2; pod a cpu=1 class=low; wait 1s;"
		"pod b cpu=2 class=low; pod c cpu=2 class=middle; pod d cpu=1 class=low; wait 1s; pod e cpu=2 class=high; wait 9s",
		"0s a Pending\n" PLACED("a",
			"n1") "1s b Pending\n1s c Pending\n1s d Pending\n1s c Pending @n2\n1s c Running @n2 ready\n"
			      "1s b Pending @n3\n1s b Running @n3 ready\n1s d Pending @n1\n1s d Running @n1 ready\n"
			      "2s e Pending\n2s b Running @n3 ready PreemptionByScheduler\n"
			      "2s b Running @n3 ready PreemptionByScheduler terminating\n"
			      "2s e Pending Unschedulable \"0/3 nodes are available: 3 Insufficient cpu. preemption: found a potential placement "
			      "for pod on node n3, preempting 1 victims\" nominated=n3\n"
			      "2s b Failed @n3 Error(143) PreemptionByScheduler terminating\n2s b gone\n"
			      "3s e Pending @n3\n3s e Running @n3 ready" },
	{ "only_those_go_who_have_to",
		"class high 9; node n1 cpu=4; pod a cpu=1; pod b cpu=2; pod c cpu=1; wait 1s;"
		"pod d cpu=2 class=high; wait 9s",
		"0s a Pending\n0s b Pending\n0s c Pending\n" PLACED("a", "n1") PLACED("b", "n1") PLACED("c",
			"n1") "1s d Pending\n1s b Running @n1 ready PreemptionByScheduler\n"
			      "1s b Running @n1 ready PreemptionByScheduler terminating\n"
			      "1s d Pending Unschedulable \"0/1 nodes are available: 1 Insufficient cpu. preemption: found a potential placement "
			      "for pod on node n1, preempting 1 victims\" nominated=n1\n"
			      "1s b Failed @n1 Error(143) PreemptionByScheduler terminating\n1s b gone\n"
			      "2s d Pending @n1\n2s d Running @n1 ready" },
	{ "the_room_made_is_kept_for_who_made_it",
		"class high 9; node n1 cpu=2; pod a cpu=2 stop-after=20s; wait 1s; pod b cpu=2 class=high; wait 1s; pod c cpu=1;"
		"pod d cpu=2 class=high; wait 40s",
		"0s a Pending\n" PLACED("a",
			"n1") "1s b Pending\n1s a Running @n1 ready PreemptionByScheduler\n"
			      "1s a Running @n1 ready PreemptionByScheduler terminating\n"
			      "1s b Pending Unschedulable \"0/1 nodes are available: 1 Insufficient cpu. preemption: found a potential placement "
			      "for pod on node n1, preempting 1 victims\" nominated=n1\n"
			      "2s c Pending\n2s d Pending\n"
			      "2s d Pending Unschedulable \"0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: "
			      "1 Insufficient cpu.\"\n"
			      "2s c Pending Unschedulable \"0/1 nodes are available: 1 Insufficient cpu." NO_VICTIMS(
				      "1") "\"\n"
					   "21s a Failed @n1 Error(143) PreemptionByScheduler terminating\n"
					   "21s b Pending @n1\n21s a gone\n21s b Running @n1 ready\n"
					   "21s d Pending Unschedulable \"0/1 nodes are available: 1 Insufficient cpu." NO_VICTIMS(
						   "1") "\"" },
	{ "among_those_who_could_go_the_least_important_go",
		"class low 1; class middle 5; class high 9; node n1 cpu=2; pod a cpu=1 class=middle; pod b cpu=1 class=low; wait 1s;"
		"pod c cpu=1 class=high; wait 9s",
		"0s a Pending\n0s b Pending\n" PLACED("a", "n1") PLACED("b",
			"n1") "1s c Pending\n1s b Running @n1 ready PreemptionByScheduler\n"
			      "1s b Running @n1 ready PreemptionByScheduler terminating\n"
			      "1s c Pending Unschedulable \"0/1 nodes are available: 1 Insufficient cpu. preemption: found a potential placement for pod on node n1, preempting 1 victims\" nominated=n1\n"
			      "1s b Failed @n1 Error(143) PreemptionByScheduler terminating\n1s b gone\n"
			      "2s c Pending @n1\n2s c Running @n1 ready" },
	{ "victims_that_are_gone_at_once_are_noticed",
		"class high 9; node n1 cpu=2; pod a cpu=2 grace=0; wait 1s; pod b cpu=2 class=high; wait 9s",
		"0s a Pending\n" PLACED("a",
			"n1") "1s b Pending\n1s a Running @n1 ready PreemptionByScheduler\n1s a Running @n1 ready PreemptionByScheduler terminating\n1s a gone\n"
			      "1s b Pending Unschedulable \"0/1 nodes are available: 1 Insufficient cpu. preemption: found a potential placement "
			      "for pod on node n1, preempting 1 victims\" nominated=n1\n"
			      "2s b Pending @n1\n2s b Running @n1 ready" },
	{ "who_made_room_takes_it_though_better_comes",
		"class high 9; node n1 cpu=2; pod a cpu=2; wait 1s; pod b cpu=2 class=high; wait 500ms; node n2 cpu=8; wait 9s",
		"0s a Pending\n" PLACED("a",
			"n1") "1s b Pending\n1s a Running @n1 ready PreemptionByScheduler\n"
			      "1s a Running @n1 ready PreemptionByScheduler terminating\n"
			      "1s b Pending Unschedulable \"0/1 nodes are available: 1 Insufficient cpu. preemption: found a potential placement for pod on node n1, preempting 1 victims\" nominated=n1\n"
			      "1s a Failed @n1 Error(143) PreemptionByScheduler terminating\n1s a gone\n"
			      "2s b Pending @n1\n2s b Running @n1 ready" },
	{ "who_waits_for_a_terminating_pod_does_not_preempt_again",
		"class high 9; node n1 cpu=3; pod a cpu=2 stop-after=20s; pod c cpu=1; wait 1s; pod b cpu=2 class=high; wait 3s;"
		"delete c; wait 1s",
		"0s a Pending\n0s c Pending\n" PLACED("a", "n1") PLACED("c",
			"n1") "1s b Pending\n1s a Running @n1 ready PreemptionByScheduler\n"
			      "1s a Running @n1 ready PreemptionByScheduler terminating\n"
			      "1s b Pending Unschedulable \"0/1 nodes are available: 1 Insufficient cpu. preemption: found a potential placement for pod on node n1, preempting 1 victims\" nominated=n1\n"
			      "4s c Running @n1 ready terminating\n4s c Failed @n1 Error(143) terminating\n"
			      "4s b Pending Unschedulable \"0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to a terminating pod on the nominated node.\" nominated=n1\n"
			      "4s c gone" },
	{ "the_more_important_takes_the_room_that_the_less_important_made",
		"class middle 5; class high 9; node n1 cpu=2; pod a cpu=2 stop-after=20s; wait 1s; pod b cpu=2 class=middle; wait 1s;"
		"pod c cpu=2 class=high; wait 30s",
		"0s a Pending\n" PLACED("a",
			"n1") "1s b Pending\n1s a Running @n1 ready PreemptionByScheduler\n"
			      "1s a Running @n1 ready PreemptionByScheduler terminating\n"
			      "1s b Pending Unschedulable \"0/1 nodes are available: 1 Insufficient cpu. preemption: found a potential placement for pod on node n1, preempting 1 victims\" nominated=n1\n"
			      "2s c Pending\n"
			      "2s b Pending Unschedulable \"0/1 nodes are available: 1 Insufficient cpu. preemption: found a potential placement for pod on node n1, preempting 1 victims\"\n"
			      "2s c Pending Unschedulable \"0/1 nodes are available: 1 Insufficient cpu. preemption: found a potential placement for pod on node n1, preempting 1 victims\" nominated=n1\n"
			      "21s a Failed @n1 Error(143) PreemptionByScheduler terminating\n"
			      "21s c Pending @n1\n21s a gone\n21s c Running @n1 ready\n"
			      "21s b Pending Unschedulable \"0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.\"" },
	{ "preemption_frees_ports",
		"class high 9; node n1; pod a port=80; wait 1s; pod b port=80 class=high; wait 9s",
		"0s a Pending\n" PLACED("a",
			"n1") "1s b Pending\n1s a Running @n1 ready PreemptionByScheduler\n"
			      "1s a Running @n1 ready PreemptionByScheduler terminating\n"
			      "1s b Pending Unschedulable \"0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports. "
			      "preemption: found a potential placement for pod on node n1, preempting 1 victims\" nominated=n1\n"
			      "1s a Failed @n1 Error(143) PreemptionByScheduler terminating\n1s a gone\n"
			      "2s b Pending @n1\n2s b Running @n1 ready" },
	{ "preemption_removes_who_wanted_to_be_apart",
		"class high 9; node n1; pod a apart=app:x; wait 1s; pod b class=high label=app:x; wait 9s",
		"0s a Pending\n" PLACED("a",
			"n1") "1s b Pending\n1s a Running @n1 ready PreemptionByScheduler\n"
			      "1s a Running @n1 ready PreemptionByScheduler terminating\n"
			      "1s b Pending Unschedulable \"0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules. "
			      "preemption: found a potential placement for pod on node n1, preempting 1 victims\" nominated=n1\n"
			      "1s a Failed @n1 Error(143) PreemptionByScheduler terminating\n1s a gone\n"
			      "2s b Pending @n1\n2s b Running @n1 ready" },
	{ "who_must_not_preempt_waits",
		"class high 9 Never; node n1 cpu=2; pod a cpu=2; wait 1s; pod b cpu=2 class=high; wait 9s",
		"0s a Pending\n" PLACED("a",
			"n1") "1s b Pending\n1s b Pending Unschedulable "
			      "\"0/1 nodes are available: 1 Insufficient cpu. preemption: not eligible due to preemptionPolicy=Never.\"" },
	{ "preemption_makes_room_among_pods_that_keep_apart",
		"class high 9; node n1; pod a label=app:x; wait 1s; pod b class=high apart=app:x; wait 9s",
		"0s a Pending\n" PLACED("a",
			"n1") "1s b Pending\n1s a Running @n1 ready PreemptionByScheduler\n"
			      "1s a Running @n1 ready PreemptionByScheduler terminating\n"
			      "1s b Pending Unschedulable \"0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules. "
			      "preemption: found a potential placement for pod on node n1, preempting 1 victims\" nominated=n1\n"
			      "1s a Failed @n1 Error(143) PreemptionByScheduler terminating\n1s a gone\n"
			      "2s b Pending @n1\n2s b Running @n1 ready" },
};

static void pods_go_as_told(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(stories); i++) {
		struct story s = { .tell_messages = true };

		story_begin(&s, NULL, stories[i].world);
		story_expect(&s, stories[i].name, stories[i].story);
		story_end(&s);
	}
}

static void without_preemption_the_important_wait(void **state)
{
	const struct sim_nodes_options o = { .no_preemption = true };
	struct story s = { .tell_messages = true };

	(void)state;
	story_begin(&s, &o,
		"class high 9; node n1 cpu=2; pod a cpu=2; wait 1s; pod b cpu=2 class=high; wait 9s");
	story_expect(&s, "no preemption",
		"0s a Pending\n" PLACED("a",
			"n1") "1s b Pending\n"
			      "1s b Pending Unschedulable \"0/1 nodes are available: 1 Insufficient cpu.\"");
	story_end(&s);
}

static void each_decision_takes_its_time(void **state)
{
	const struct sim_nodes_options o = { .decision = 500 };
	struct story s = { 0 };

	(void)state;
	story_begin(&s, &o, "node n1; pod a; pod b; wait 9s");
	story_expect(&s, "decisions",
		"0s a Pending\n0s b Pending\n0.5s a Pending @n1\n0.5s a Running @n1 ready\n"
		"1s b Pending @n1\n1s b Running @n1 ready");
	story_end(&s);
}

/* ---- what pods ask for ---- */

static const struct {
	const char *name, *spec, *expected;
} requests[] = {
	{ "nothing", "{\"containers\":[{}]}", "; scored 100 209715200" },
	{ "containers_add_up",
		"{\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"1500m\",\"memory\":\"1Gi\"}}},"
		"{\"resources\":{\"requests\":{\"cpu\":2}}}]}",
		"cpu=3500 memory=1073741824; scored 3500 1283457024" },
	{ "the_largest_init_container_counts",
		"{\"containers\":[{\"resources\":{\"requests\":{\"cpu\":1}}}],"
		"\"initContainers\":[{\"resources\":{\"requests\":{\"cpu\":3}}},{\"resources\":{\"requests\":{\"cpu\":2}}}]}",
		"cpu=3000; scored 3000 209715200" },
	{ "sidecars_run_beside_what_follows",
		"{\"containers\":[{\"resources\":{\"requests\":{\"cpu\":1}}}],\"initContainers\":["
		"{\"restartPolicy\":\"Always\",\"resources\":{\"requests\":{\"cpu\":2}}},{\"resources\":{\"requests\":{\"cpu\":4}}}]}",
		"cpu=6000; scored 6000 419430400" },
	{ "overhead_comes_on_top",
		"{\"overhead\":{\"cpu\":\"250m\"},\"containers\":[{\"resources\":{\"requests\":{\"cpu\":1}}}]}",
		"cpu=1250; scored 1250 209715200" },
	{ "pod_level_requests_win",
		"{\"resources\":{\"requests\":{\"cpu\":5}},\"containers\":[{\"resources\":{\"requests\":{\"cpu\":1}}}]}",
		"cpu=5000; scored 5000 209715200" },
	{ "extended_resources_are_whole",
		"{\"containers\":[{\"resources\":{\"requests\":{\"example.com/gpu\":\"3\"}}}]}",
		"example.com/gpu=3; scored 100 209715200" },
	{ "parts_of_a_byte_round_up",
		"{\"containers\":[{\"resources\":{\"requests\":{\"memory\":\"1500m\",\"cpu\":\"0.1m\"}}}]}",
		"cpu=1 memory=2; scored 1 2" },
};

static void requests_are_counted_as_the_api_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(requests); i++) {
		struct sim_value *spec = sim_parse(requests[i].spec, strlen(requests[i].spec), NULL);
		struct sim_resource_names names;
		struct sim_requests r;
		struct kar_buf text = { 0 };

		sim_resource_names_init(&names);
		sim_requests_read(&r, &names, spec);
		for (size_t k = 0; k < r.n; k++)
			kar_buf_printf(&text, "%s%s=%lld", k ? " " : "", names.names[r.items[k].resource],
				(long long)r.items[k].amount);
		kar_buf_printf(&text, "; scored %lld %lld", (long long)r.scored[SIM_CPU],
			(long long)r.scored[SIM_MEMORY]);
		if (strcmp(kar_buf_cstr(&text), requests[i].expected) != 0)
			fail_msg("%s: expected '%s', got '%s'", requests[i].name, requests[i].expected,
				kar_buf_cstr(&text));
		kar_buf_release(&text);
		sim_requests_release(&r);
		sim_resource_names_release(&names);
		sim_unref(spec);
	}
}

static void make_group(struct story *s, const char *json)
{
	struct sim_response out;
	struct kar_err err;

	if (sim_apiserver_install_crds(s->server, KAR_CRDS, &err))
		fail_msg("%s", err.msg);
	sim_apiserver_call(s->server,
		&(struct sim_request){ .verb = KAR_CREATE,
			.group = "scheduling.x-k8s.io",
			.version = "v1alpha1",
			.resource = "podgroups",
			.ns = "default",
			.user = "test",
			.body = { json, strlen(json) } },
		&out);
	assert_int_equal(out.code, 201);
	sim_response_release(&out);
}

/* As a gang scheduler does, which sees no pods that have ended. */
static void gang_waits_for_live_members(void **state)
{
#define MEMBER "label=scheduling.x-k8s.io/pod-group:g"
	const struct sim_nodes_options o = { .seed = 1, .gangs = true };
	struct story s = { .tell_messages = true };

	(void)state;
	story_begin(&s, &o, "node n1");
	make_group(&s,
		"{\"apiVersion\":\"scheduling.x-k8s.io/v1alpha1\",\"kind\":\"PodGroup\",\"metadata\":{\"name\":\"g\"},"
		"\"spec\":{\"minMember\":2}}");
	story_do(&s,
		"pod other; pod a " MEMBER " outcome=succeed after=10s; wait 3s; pod b " MEMBER
		" outcome=succeed after=20s; wait 60s; pod c " MEMBER "; wait 5s");
	story_expect(&s, "gang",
		"0s other Pending\n0s a Pending\n" PLACED("other", "n1") FAILED("a",
			"waiting for minMember pods of its PodGroup") "3s b Pending\n3s b Pending @n1\n3s b Running @n1 ready\n"
								      "7s a Pending @n1\n7s a Running @n1 ready\n"
								      "17s a Succeeded @n1 Completed(0)\n23s b Succeeded @n1 Completed(0)\n63s c Pending\n"
								      "63s c Pending Unschedulable \"waiting for minMember pods of its PodGroup\"\n");
	story_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pods_go_as_told),
		cmocka_unit_test(without_preemption_the_important_wait),
		cmocka_unit_test(each_decision_takes_its_time),
		cmocka_unit_test(requests_are_counted_as_the_api_says),
		cmocka_unit_test(gang_waits_for_live_members),
	};

	return cmocka_run_group_tests_name("sim_scheduler", tests, NULL, NULL);
}
