/* Groups of other controllers in a pass: their members exist, are gated, and get places together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/podgroup/pg_members.h"
#include "test/unit/queue_sync_fixture.h"

#define STATE(state, rest) \
	"\"phase\":\"Pending\",\"position\":0,\"placement\":{\"state\":\"" state "\"" rest "},"
#define IN ADMITTED("True", "Admitted", "admitted by queue default")
#define OUT(reason) ADMITTED("False", reason, "text")
#define JUST_NOW \
	"\"conditions\":[{\"type\":\"Admitted\",\"status\":\"True\",\"reason\":\"Admitted\",\"message\":\"admitted by queue default\"," \
	"\"observedGeneration\":1,\"lastTransitionTime\":\"2026-11-21T13:46:25Z\"}]"
#define PLACED "patch podgroups/status ns/g (Admitted=True/Admitted position=0 placed)"
#define GROUP "patch podgroups/status ns/g (Admitted=True/Admitted position=0)"
#define SINCE(time) ",\"time\":\"2026-11-21T" time "Z\""
#define PLAN(list) "\"plan\":[" list "]"
#define AT(pod, node) "{\"role\":\"" pod "\",\"nodes\":\"" node "\"}"

/*
 * Of group g, whose queue is open, on nodes n1 and n2 of 4 CPUs each. @pods: separated by ';', name and of: 2 (CPUs) gated held on=n1 (bound) done new (two seconds old)
 * pin=n1 stuck (for four seconds: it does not fit on its node) bare (without an owner)
 * stops (within half a minute) late (should have been gone a minute ago) prio=5 other (of h) nobody (of no group) zone (a required node affinity that no node has) scheduler=x kind=QueueJob.
 */
static const struct row {
	const char *name, *spec, *status, *pods, *plan;
	const char *says; /* in the body of the patch of g; NULL: not looked at */
} rows[] = {
	{ "group_without_members_is_admitted", "\"minMember\":2", "", "",
		"patch podgroups/status ns/g (Admitted=True/Admitted position=0)", "\"placement\":null" },
	{ "one_that_is_not_complete_is_not", "\"minMember\":3", "", "a 1 gated; b 1 gated",
		"patch podgroups/status ns/g (Admitted=False/WaitingForMembers position=0)",
		"2 of 3 members can start" },
	{ "nor_does_it_keep_an_admission_for_long", "\"minMember\":3", "\"position\":0," IN, "a 1 gated",
		"patch podgroups/status ns/g (Admitted=False/WaitingForMembers position=0)", NULL },
	{ "but_for_the_moment_in_which_the_others_come", "\"minMember\":3", "\"position\":0," JUST_NOW,
		"a 1 gated", "", NULL },
	{ "not_complete_and_not_gated_is_admitted", "\"minMember\":3", "", "a 1; b 1",
		"patch podgroups/status ns/g (Admitted=True/Admitted position=0)", NULL },
	{ "complete_gang_is_placed", "\"minMember\":2", "", "a 3 gated; b 3 gated", PLACED,
		PLAN(AT("a", "n1") "," AT("b", "n2")) },
	{ "what_it_asks_for_is_recorded", "\"minMember\":2", "", "a 3 on=n1; b 2 gated; c 2 gated", PLACED,
		"\"requests\":\"pods=2,cpu=5000m\"" },
	{ "also_if_it_was_admitted_before_it_had_members", "\"minMember\":2", "\"position\":0," IN,
		"a 3 gated; b 3 gated", PLACED, "\"state\":\"Placed\"" },
	{ "an_admission_is_taken_back_if_it_does_not_fit", "\"minMember\":3", "\"position\":0," IN,
		"a 3 gated; b 3 gated; c 3 gated",
		"patch podgroups/status ns/g (Admitted=False/Infeasible position=0)",
		"insufficient cpu: 9 requested, 8 of 8 free (1 short)" },
	{ "room_is_short", "\"minMember\":2", "", "x 3 on=n1 other; a 3 gated; b 3 gated",
		"patch podgroups/status ns/g (Admitted=False/InsufficientCapacity position=1)",
		"insufficient cpu: 6 requested, 5 of 8 free (1 short), taken by pods of no queue: 3 cpu" },
	{ "what_is_bound_needs_no_place", "\"minMember\":2", "", "a 4 on=n1; b 4 gated", PLACED,
		PLAN(AT("b", "n2")) },
	{ "nor_what_the_scheduler_may_bind_at_any_time", "\"minMember\":2", "", "a 4; b 4 gated", PLACED,
		NULL },
	{ "nor_what_is_done", "\"minMember\":2,\"succeededMembers\":0", "", "a 4 done; b 4 gated", PLACED,
		PLAN(AT("b", "n1")) },
	{ "what_was_left_out_of_the_minimum_counts_again", "\"minMember\":1,\"succeededMembers\":1", "",
		"a 4 done; b 4 gated", PLACED, PLAN(AT("b", "n1")) },
	{ "priority_first_then_age", "\"minMember\":1", "", "a 4 gated; b 4 gated prio=5; c 4 gated", PLACED,
		PLAN(AT("b", "n1")) },
	{ "held_by_another_gate_it_is_not_complete", "\"minMember\":2", "", "a 1 gated; b 1 gated held",
		"patch podgroups/status ns/g (Admitted=False/WaitingForMembers position=0)", NULL },
	{ "another_scheduler_places_its_own", "\"minMember\":2", "",
		"a 3 gated scheduler=x; b 3 gated scheduler=x",
		"patch podgroups/status ns/g (Admitted=True/Admitted position=0)", NULL },
	{ "pods_that_we_bind_are_placed", "\"minMember\":2", "",
		"a 3 scheduler=kar-scheduler; b 3 scheduler=kar-scheduler", PLACED,
		PLAN(AT("a", "n1") "," AT("b", "n2")) },
	{ "whole_or_not_at_all", "\"minMember\":3", "",
		"a 3 scheduler=kar-scheduler; b 3 scheduler=kar-scheduler; c 3 scheduler=kar-scheduler",
		"patch podgroups/status ns/g (Admitted=False/Infeasible position=0)",
		"insufficient cpu: 9 requested, 8 of 8 free (1 short)" },
	{ "not_beside_others", "\"minMember\":2", "", "a 3 scheduler=kar-scheduler; b 3 gated",
		"patch podgroups/status ns/g (Admitted=False/Unsupported position=0)",
		"its members name more than one scheduler, a gang needs one" },
	{ "mixture_keeps_no_place_of_its_queue", "\"minMember\":2", "\"position\":0," IN,
		"a 3 gated; b 3 gated scheduler=x",
		"patch podgroups/status ns/g (Admitted=False/Unsupported position=0)", NULL },
	{ "nor_one_of_two_other_schedulers", "\"minMember\":2", "\"position\":0," IN,
		"a 3 gated scheduler=x; b 3 gated scheduler=y",
		"patch podgroups/status ns/g (Admitted=False/Unsupported position=0)", NULL },
	{ "but_what_has_a_node_needs_it", "\"minMember\":2", "\"position\":0," IN,
		"a 3 gated; b 3 on=n1 scheduler=x", "", NULL },
	{ "and_what_starts_by_itself_is_not_held_up", "\"minMember\":2", "\"position\":0," IN,
		"a 3 scheduler=y; b 3 scheduler=x", "", NULL },
	{ "nor_when_a_gate_of_others_holds_one_back", "\"minMember\":2", "",
		"a 3 scheduler=kar-scheduler; b 3 scheduler=kar-scheduler held",
		"patch podgroups/status ns/g (Admitted=False/WaitingForMembers position=0)",
		"1 of 2 members can start" },
	{ "one_without_our_gate_is_held_as_well", "\"minMember\":2", "", "a 3 gated; b 3 held",
		"patch podgroups/status ns/g (Admitted=False/WaitingForMembers position=0)",
		"1 of 2 members can start" },
	{ "what_we_cannot_place_is_said_after_an_admission_too", "\"minMember\":2", "\"position\":0," IN,
		"a 1 scheduler=kar-scheduler zone; b 1 scheduler=kar-scheduler pin=n1",
		"patch podgroups/status ns/g (Admitted=False/Unsupported position=0)",
		"kar-scheduler does not place an affinity to one node (pod b): use default-scheduler" },
	{ "who_has_no_node_is_passed_over", "\"minMember\":2", "", "a 1 gated zone; b 3 gated; c 3 gated",
		PLACED, PLAN(AT("b", "n1") "," AT("c", "n2")) },
	{ "unless_the_minimum_needs_it", "\"minMember\":3", "", "a 1 gated zone; b 3 gated; c 3 gated",
		"patch podgroups/status ns/g (Admitted=False/Infeasible position=0)", NULL },
	{ "later_ones_get_places_too", "\"minMember\":1", STATE("Satisfied", ",\"attempt\":1") IN,
		"a 3 on=n1 scheduler=kar-scheduler; b 3 scheduler=kar-scheduler", PLACED,
		PLAN(AT("b", "n2")) },
	{ "beside_those_that_have_one", "\"minMember\":1",
		STATE("Satisfied",
			",\"attempt\":1," PLAN(AT("b", "n1") "," AT("c", "n1") "," AT("d", "n1") "," AT("e",
				"n1") "," AT("f", "n1"))) IN,
		"a 1 on=n1 scheduler=kar-scheduler; b 500m scheduler=kar-scheduler; c 500m scheduler=kar-scheduler; d 500m scheduler=kar-scheduler; "
		"e 500m scheduler=kar-scheduler; f 500m scheduler=kar-scheduler; g 1 scheduler=kar-scheduler; h 1 scheduler=kar-scheduler; i 1 scheduler=kar-scheduler",
		PLACED, AT("f", "n1") "," AT("g", "n2") "," AT("h", "n2") "," AT("i", "n2") "]" },
	{ "which_they_keep", "\"minMember\":1", STATE("Satisfied", ",\"attempt\":1," PLAN(AT("b", "n2"))) IN,
		"a 3 on=n1 scheduler=kar-scheduler; b 3 scheduler=kar-scheduler", "", NULL },
	{ "pods_of_a_queuejob_are_not_placed_here", "\"minMember\":2", "",
		"a 3 gated kind=QueueJob; b 3 gated kind=QueueJob",
		"patch podgroups/status ns/g (Admitted=True/Admitted position=0)", NULL },
	{ "excluded_by_its_affinity", "\"minMember\":1", "", "a 1 gated zone",
		"patch podgroups/status ns/g (Admitted=False/Infeasible position=0)",
		"2 excluded by nodeSelector or affinity" },
	{ "foreign_crd_drops_the_placement", "\"minMember\":2", IN, "a 9 gated; b 9 gated", "", NULL },

	{ "room_for_members_to_come_is_held", "\"minMember\":1,\"minResources\":{\"cpu\":\"7\"}", "",
		"a 1 gated", PLACED, PLAN(AT("a", "n1")) },
	{ "all_of_it_or_none_starts", "\"minMember\":1,\"minResources\":{\"cpu\":9}", "", "a 1 gated",
		"patch podgroups/status ns/g (Admitted=False/Infeasible position=0)",
		"insufficient cpu: 9 requested, 8 of 8 free (1 short)" },
	{ "those_that_exist_start_in_stages", "\"minMember\":3,\"minResources\":{\"cpu\":\"8\"}", "",
		"a 1 gated; b 1 gated", PLACED, PLAN(AT("a", "n1") "," AT("b", "n1")) },
	{ "more_may_come_in_a_moment", "\"minMember\":3,\"minResources\":{\"cpu\":\"8\"}", "",
		"a 1 gated; b 1 gated new",
		"patch podgroups/status ns/g (Admitted=False/WaitingForMembers position=0)", NULL },
	{ "the_others_need_nothing", "\"minMember\":3,\"minResources\":{}", "", "a 1 gated", PLACED,
		PLAN(AT("a", "n1")) },
	{ "time_out_0_is_the_default", "\"minMember\":1,\"scheduleTimeoutSeconds\":0", "", "a 1 gated",
		PLACED, "\"deadline\":\"2026-11-21T13:47:27Z\"" },
	{ "a_stage_without_pods_does_not_start", "\"minMember\":3,\"minResources\":{\"cpu\":\"8\"}", "", "",
		"patch podgroups/status ns/g (Admitted=True/Admitted position=0)", NULL },

	{ "placed_gang_holds_its_places", "\"minMember\":2",
		STATE("Placed", ",\"attempt\":1," PLAN(AT("a", "n1") "," AT("b", "n2"))) IN,
		"a 4 gated; b 4 on=n2", "", NULL },
	{ "stuck_member_gets_another_node", "\"minMember\":2",
		STATE("Placed", ",\"attempt\":1," PLAN(AT("a", "n1") "," AT("b", "n1"))) IN,
		"a 1 on=n1; b 3 released pin=n1 stuck; x 1 on=n1 nobody", PLACED,
		PLAN(AT("a", "n1") "," AT("b", "n2")) },
	{ "and_the_attempt_begins_anew_for_it", "\"minMember\":2",
		STATE("Placed", ",\"attempt\":1,\"repairs\":2," PLAN(AT("a", "n1") "," AT("b", "n1"))) IN,
		"a 1 on=n1; b 3 released pin=n1 stuck; x 1 on=n1 nobody", PLACED,
		"\"repairs\":3,\"satisfiedMember\":null,\"time\":\"2026-11-21T13:46:27Z\"" },
	{ "three_times_at_most", "\"minMember\":2",
		STATE("Placed", ",\"attempt\":1,\"repairs\":3," PLAN(AT("a", "n1") "," AT("b", "n1"))) IN,
		"a 1 on=n1; b 3 released pin=n1 stuck; x 1 on=n1 nobody", "", NULL },
	{ "if_there_is_one", "\"minMember\":2",
		STATE("Placed", ",\"attempt\":1," PLAN(AT("a", "n1") "," AT("b", "n1"))) IN,
		"a 1 on=n1; b 3 released pin=n1 stuck; x 1 on=n1 nobody; y 2 on=n2 nobody", "", NULL },
	{ "and_not_only_the_same", "\"minMember\":2",
		STATE("Placed", ",\"attempt\":1," PLAN(AT("a", "n1") "," AT("b", "n1"))) IN,
		"a 1 on=n1; b 3 released pin=n1 stuck", "", NULL },
	{ "room_of_one_that_stops_is_none", "\"minMember\":2",
		STATE("Placed", ",\"attempt\":1," PLAN(AT("a", "n1") "," AT("b", "n1"))) IN,
		"a 1 on=n1; b 3 released pin=n1 stuck; x 1 on=n1 nobody; c 2 on=n2 stops", "", NULL },
	{ "one_that_nobody_would_make_again_gets_none", "\"minMember\":2",
		STATE("Placed", ",\"attempt\":1," PLAN(AT("a", "n1") "," AT("b", "n1"))) IN,
		"a 1 on=n1; b 3 released pin=n1 stuck bare; x 1 on=n1 nobody", "", NULL },
	{ "who_comes_in_its_stead_is_placed", "\"minMember\":2",
		STATE("Placed", ",\"attempt\":1,\"repairs\":1," PLAN(AT("a", "n1") "," AT("b", "n2"))) IN,
		"a 1 on=n1; c 3 gated; x 1 on=n1 nobody", PLACED, PLAN(AT("a", "n1") "," AT("c", "n2")) },
	{ "but_nobody_beyond_the_minimum", "\"minMember\":2",
		STATE("Placed", ",\"attempt\":1,\"repairs\":1," PLAN(AT("a", "n1") "," AT("c", "n2"))) IN,
		"a 1 on=n1; c 3 gated; d 1 gated", "", NULL },
	{ "bound_gang_is_left_alone", "\"minMember\":2", STATE("Satisfied", ",\"attempt\":1") IN,
		"a 4 on=n1; b 4 on=n2; c 4 gated", "", NULL },
	{ "failed_attempt_is_repeated", "\"minMember\":2",
		STATE("Waiting", ",\"attempt\":1,\"failures\":1") IN, "a 4 gated; b 4 gated", PLACED,
		"\"attempt\":2" },
	{ "not_before_its_time", "\"minMember\":2",
		STATE("Waiting", ",\"attempt\":1,\"failures\":1,\"retryAfter\":\"2026-11-21T13:47:00Z\"") IN,
		"a 4 gated; b 4 gated", "patch podgroups/status ns/g (Admitted=False/BackOff position=0)",
		NULL },
	{ "nodes_are_not_named_after_two_failures", "\"minMember\":2",
		STATE("Waiting", ",\"attempt\":2,\"failures\":2") IN, "a 4 gated; b 4 gated", PLACED,
		PLAN(AT("a", "*1") "," AT("b", "*1")) },
	{ "deactivated", "\"minMember\":2", STATE("Deactivated", ",\"attempt\":20,\"failures\":20") IN,
		"a 1 gated; b 1 gated", "patch podgroups/status ns/g (Admitted=False/Deactivated position=0)",
		"change the spec of the PodGroup" },
	{ "lost_its_members_while_it_waited", "\"minMember\":2",
		STATE("Waiting", ",\"attempt\":1,\"failures\":1") OUT("BackOff"), "a 1 gated",
		"patch podgroups/status ns/g (Admitted=False/WaitingForMembers position=0)",
		"\"failures\":1" },
};

static int small_cluster(void **state)
{
	setup(state);
	settings.direct_schedulers = "kar-scheduler";
	w.rv = 20; /* the node that is there already is newer than 10 */
	put_node("n1", "4", "");
	put_node("n2", "4", "");
	return 0;
}

static void put_member(char *text)
{
	const char *name = NULL, *cpu = "1", *node = "", *phase = "Pending", *kind = "Job", *scheduler = "",
		   *group = "g", *affinity = "", *prio = "0", *created = "2026-11-21T13:00:00Z";
	bool gated = false, held = false, released = false, late = false, stops = false, stuck = false,
	     bare = false;
	char meta[512], rest[1024], pin[256];

	for (char *word; (word = strsep(&text, " ")) != NULL;) {
		if (!word[0])
			continue;
		if (!name)
			name = word;
		else if (word[0] >= '0' && word[0] <= '9')
			cpu = word;
		else if (!strcmp(word, "gated"))
			gated = true;
		else if (!strcmp(word, "held"))
			held = true;
		else if (!strcmp(word, "released"))
			released = true;
		else if (!strcmp(word, "late"))
			late = true;
		else if (!strcmp(word, "other"))
			group = "h";
		else if (!strcmp(word, "nobody"))
			group = "";
		else if (!strcmp(word, "new"))
			created = "2026-11-21T13:46:25Z";
		else if (!strcmp(word, "done"))
			phase = "Succeeded";
		else if (!strcmp(word, "zone"))
			affinity =
				",\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":["
				"{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"Exists\"}]}]}}}";
		else if (!strcmp(word, "stops"))
			stops = true;
		else if (!strcmp(word, "stuck"))
			stuck = true;
		else if (!strcmp(word, "bare"))
			bare = true;
		else if (!strncmp(word, "pin=", 4)) {
			snprintf(pin, sizeof(pin),
				",\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":["
				"{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"%s\"]}]}]}}}",
				word + 4);
			affinity = pin;
		} else if (!strncmp(word, "on=", 3))
			node = word + 3;
		else if (!strncmp(word, "prio=", 5))
			prio = word + 5;
		else if (!strncmp(word, "kind=", 5))
			kind = word + 5;
		else if (!strncmp(word, "scheduler=", 10))
			scheduler = word + 10;
		else
			fail_msg("unknown word '%s' about a pod", word);
	}
	snprintf(meta, sizeof(meta),
		",\"creationTimestamp\":\"%s\"%s,\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"%s\"}%s,\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"%s\","
		"\"name\":\"o\",\"uid\":\"u\",\"controller\":%s}]",
		created,
		late            ? ",\"deletionTimestamp\":\"2026-11-21T13:45:27Z\""
			: stops ? ",\"deletionTimestamp\":\"2026-11-21T13:46:57Z\""
				: "",
		group, released ? ",\"annotations\":{\"kube-arbitrator.io/released\":\"true\"}" : "", kind,
		bare ? "false" : "true");
	snprintf(rest, sizeof(rest),
		",\"spec\":{\"nodeName\":\"%s\",\"priority\":%s,\"schedulerName\":\"%s\",\"schedulingGates\":[%s%s%s]%s,"
		"\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"%s\"}}}]},\"status\":{\"phase\":\"%s\"%s}",
		node, prio, scheduler, gated ? "{\"name\":\"kube-arbitrator.io/gang\"}" : "",
		gated && held ? "," : "", held ? "{\"name\":\"example.com/x\"}" : "", affinity, cpu, phase,
		stuck ? ",\"conditions\":[{\"type\":\"PodScheduled\",\"status\":\"False\",\"reason\":\"Unschedulable\",\"lastTransitionTime\":\"2026-11-21T13:46:23Z\"}]"
		      : "");
	put_named(w.stores.pods, name, meta, rest);
}

static void put_members(const char *text)
{
	char copy[1024], *rest = copy;

	snprintf(copy, sizeof(copy), "%s", text);
	for (char *part; (part = strsep(&rest, ";")) != NULL;) {
		if (part[0])
			put_member(part);
	}
}

/* With the match policy OnlyWaiting. */
static const struct row waves[] = {
	{ "first_one", "\"minMember\":2", "", "a 3 gated; b 3 gated", PLACED,
		PLAN(AT("a", "n1") "," AT("b", "n2")) },
	{ "who_fits_goes_with_it", "\"minMember\":1", "", "a 3 gated; b 2 gated; c 3 gated", PLACED,
		PLAN(AT("a", "n1") "," AT("b", "n2")) },
	{ "too_few_wait", "\"minMember\":2", "", "a 3 gated",
		"patch podgroups/status ns/g (Admitted=False/WaitingForMembers position=0)", NULL },
	{ "those_that_run_do_not_count", "\"minMember\":2", "\"position\":0," IN,
		"a 1 on=n1; b 1 on=n1; c 2 gated; d 3 gated", PLACED, PLAN(AT("c", "n1") "," AT("d", "n2")) },
	{ "all_that_must_or_none", "\"minMember\":2", "\"position\":0," IN,
		"a 1 on=n1; b 4 on=n2; c 3 gated; d 3 gated",
		"patch podgroups/status ns/g (Admitted=False/InsufficientCapacity position=1)", NULL },
	{ "too_few_wait_while_others_run", "\"minMember\":2", "\"position\":0," IN,
		"a 1 on=n1; b 1 on=n1; c 1 gated", "", NULL },
	{ "pods_that_we_bind_wait_likewise", "\"minMember\":1", STATE("Satisfied", ",\"attempt\":1") IN,
		"a 3 on=n1 scheduler=kar-scheduler; b 3 scheduler=kar-scheduler", "", NULL },
	{ "and_start_likewise", "\"minMember\":1", "\"position\":0," IN,
		"a 3 on=n1 scheduler=kar-scheduler; b 3 scheduler=kar-scheduler", PLACED,
		PLAN(AT("b", "n2")) },
	{ "not_before_the_last_one_has_started", "\"minMember\":2", STATE("Satisfied", ",\"attempt\":1") IN,
		"a 1 on=n1; b 1 on=n1; c 1 gated; d 1 gated", "", NULL },
};

static void those_that_wait_are_a_gang_by_themselves(void **state)
{
	for (size_t i = 0; i < KAR_LEN(waves); i++) {
		const struct row *r = &waves[i];
		const char *got;
		char rest[1024];

		assert_int_equal(teardown(state), 0);
		small_cluster(state);
		put_queue("default", "");
		put_members(r->pods);
		snprintf(rest, sizeof(rest), ",\"spec\":{%s},\"status\":{%s}", r->spec, r->status);
		put_named(w.stores.podgroups, "g",
			",\"annotations\":{\"gang.scheduling.koordinator.sh/match-policy\":\"only-waiting\"}",
			rest);
		got = sync_text(true);
		if (strcmp(got, r->plan) != 0)
			fail_msg("%s: want '%s', got '%s'", r->name, r->plan, got);
		if (r->says)
			check_says(&w.sync.plan.actions[0], r->says);
	}
}

/* Members beyond the minimum of 1 of group g, which has started. @let_in: whom a pass has let in; NULL: none has said anything. */
static const struct {
	const char *name, *queue, *spec, *let_in, *pods, *plan, *says;
} late[] = {
	{ "as_many_as_the_queue_has_room_for", "\"capability\":{\"cpu\":4}", "", NULL,
		"a 1 on=n1; b 2 gated; c 2 gated", GROUP,
		"\"message\":\"admitted by queue default; member c waits: insufficient cpu: 2 requested, 1 of 4 free (1 short), queue default has "
		"capability 4\"" },
	{ "how_many_is_recorded", "\"capability\":{\"cpu\":4}", "", NULL, "a 1 on=n1; b 2 gated; c 2 gated",
		GROUP, "\"desired\":2,\"desiredOf\":" },
	{ "and_the_limit", "\"capability\":{\"cpu\":4}", "", NULL, "a 1 on=n1; b 2 gated; c 2 gated", GROUP,
		"\"scalingLimit\":\"QueueCapability\",\"scalingLimitMessage\":\"member c waits: insufficient cpu: " },
	{ "as_many_as_its_namespace_has_room_for", "\"perNamespace\":{\"capability\":{\"cpu\":4}}", "", NULL,
		"a 1 on=n1; b 2 gated; c 2 gated", GROUP,
		"\"scalingLimit\":\"NamespaceLimit\",\"scalingLimitMessage\":\"member c waits: insufficient cpu: 2 requested, 1 of 4 free (1 short), queue "
		"default allows namespace ns 4, used 3\"" },
	{ "once", "\"capability\":{\"cpu\":4}", "", "a,b", "a 1 on=n1; b 2 gated; c 2 gated", "", NULL },
	{ "who_is_released_counts", "\"capability\":{\"cpu\":4}", "", NULL,
		"a 1 on=n1; b 2 released; c 2 gated", GROUP, "\"desired\":2" },
	{ "who_runs_beyond_a_limit_stays", "\"capability\":{\"cpu\":2}", "", NULL,
		"a 1 on=n1; b 2 on=n1; c 1 gated", GROUP, "\"desired\":2,\"desiredOf\":" },
	{ "what_was_said_before_is_asked_again", "\"capability\":{\"cpu\":2}", "", "a,b",
		"a 1 on=n1; b 2 gated", GROUP, "\"desired\":1" },
	{ "a_larger_one_does_not_take_the_place_of_one_that_is_gone", "\"capability\":{\"cpu\":3}", "", "a,b",
		"a 1 on=n1; c 3 gated", GROUP, "\"desired\":1" },
	{ "priority_first", "\"capability\":{\"cpu\":3}", "", NULL, "a 1 on=n1; b 2 gated; c 2 gated prio=5",
		GROUP, "member b waits: " },
	{ "who_was_let_in_goes_before_a_new_gang", "\"capability\":{\"cpu\":4}", "", "a,b",
		"a 1 on=n1; b 2 gated; x 2 gated other",
		"patch podgroups/status ns/h (Admitted=False/QueueCapability position=1)", NULL },
	{ "who_was_not_goes_after_it", "\"capability\":{\"cpu\":4}", "", NULL,
		"a 1 on=n1; b 2 gated; x 3 gated other",
		GROUP "; patch podgroups/status ns/h (Admitted=True/Admitted position=0 placed)",
		"\"desired\":1" },
	{ "head_of_a_strict_queue_goes_first", "\"queueingStrategy\":\"StrictFIFO\"", "", NULL,
		"a 1 on=n1; o 2 on=n2 nobody; b 1 gated; x 4 gated other",
		GROUP "; patch podgroups/status ns/h (Admitted=False/NoFit position=1)",
		"member b waits: queue default is StrictFIFO: ns/h goes first" },
	{ "all_come_when_nobody_waits_there", "\"queueingStrategy\":\"StrictFIFO\"", "", NULL,
		"a 1 on=n1; b 1 gated; c 1 gated", GROUP, "\"desired\":3" },
	{ "what_stops_has_its_room", "\"capability\":{\"cpu\":3}", "", NULL,
		"a 1 on=n1; o 2 on=n1 stops; b 2 gated", GROUP,
		"member b waits: its queue has room when pods that stop have gone" },
	{ "members_to_come_have_their_room_already", "\"capability\":{\"cpu\":4}",
		",\"minResources\":{\"cpu\":\"4\"}", NULL, "a 1 on=n1; b 3 gated; c 1 gated", GROUP,
		"member c waits: insufficient cpu: 1 requested, 0 of 4 free (1 short), queue default has capability 4" },
	{ "but_no_more_than_that", "\"capability\":{\"cpu\":4}", ",\"minResources\":{\"cpu\":\"4\"}", NULL,
		"a 1 on=n1; b 2 released; c 2 gated", GROUP, "\"desired\":2" },
	{ "raised_minimum_waits_for_its_queue", "\"capability\":{\"cpu\":4}", "\"minMember\":3", NULL,
		"a 1 on=n1; b 2 gated; c 2 gated", GROUP,
		"\"message\":\"admitted by queue default; member c waits: insufficient cpu: 2 requested, 1 of 4 free (1 short), queue default has "
		"capability 4\"" },
	{ "and_for_the_head_of_a_strict_one", "\"queueingStrategy\":\"StrictFIFO\"", "\"minMember\":2", NULL,
		"a 1 on=n1; o 2 on=n2 nobody; b 1 gated; x 4 gated other",
		GROUP "; patch podgroups/status ns/h (Admitted=False/NoFit position=1)",
		"member b waits: queue default is StrictFIFO: ns/h goes first" },
	{ "without_limits_nothing_is_said", "", "", NULL, "a 1 on=n1; b 9 gated", "", NULL },
	{ "nor_any_more_when_there_are_none", "", "", "a", "a 1 on=n1; b 9 gated", GROUP,
		"\"desired\":null,\"desiredOf\":null" },
	{ "nor_when_none_waits", "\"capability\":{\"cpu\":1}", "", "a", "a 1 on=n1; b 2 on=n1", "", NULL },
};

static void put_late_group(size_t i)
{
	const struct kar_pod *pods[8];
	char status[512], said[64] = "", spec[128], copy[64], *rest = copy;
	size_t n = 0;

	snprintf(copy, sizeof(copy), "%s", late[i].let_in ? late[i].let_in : "");
	for (char *name; late[i].let_in && (name = strsep(&rest, ",")) != NULL; n++) {
		struct kar_pod *pod = kar_arena_alloc(&w.sync.arena, 1, sizeof(*pod));

		pod->o.uid = kar_arena_printf(&w.sync.arena, "uid-%s", name);
		pods[n] = pod;
	}
	if (n)
		snprintf(said, sizeof(said), ",\"desired\":%zu,\"desiredOf\":%d", n,
			(int)kar_pg_digest(pods, n));
	snprintf(status, sizeof(status),
		"\"phase\":\"Running\",\"position\":0,\"placement\":{\"state\":\"Satisfied\",\"attempt\":1,\"satisfiedMember\":1" SINCE(
			"13:46:00") "}%s," IN,
		said);
	snprintf(spec, sizeof(spec), "%s%s", late[i].spec[0] == '"' ? "" : "\"minMember\":1", late[i].spec);
	put_group("g", spec, status);
}

static void queue_says_how_many_members_start(void **state)
{
	for (size_t i = 0; i < KAR_LEN(late); i++) {
		const char *got;

		assert_int_equal(teardown(state), 0);
		small_cluster(state);
		put_queue("default", late[i].queue);
		put_members(late[i].pods);
		put_late_group(i);
		if (strstr(late[i].pods, "other"))
			put_group("h", "\"minMember\":1", "");
		got = sync_text(true);
		if (strcmp(got, late[i].plan) != 0)
			fail_msg("%s: want '%s', got '%s'", late[i].name, late[i].plan, got);
		if (late[i].says)
			check_says(&w.sync.plan.actions[0], late[i].says);
	}
}

/* The capability is that of its parent, and the members are placed by another scheduler. */
static void limits_of_parents_bind_what_others_place(void **state)
{
	(void)state;
	put_queue("t", "\"capability\":{\"cpu\":3}");
	put_queue("default", "\"parent\":\"t\"");
	put_members("a 1 on=n1 scheduler=x; b 2 gated scheduler=x; c 2 gated scheduler=x");
	put_group("g", "\"minMember\":1", "\"phase\":\"Running\",\"position\":0," IN);
	assert_string_equal(sync_text(true), GROUP);
	check_says(&w.sync.plan.actions[0],
		"member c waits: insufficient cpu: 2 requested, 0 of 3 free (2 short), queue t has capability 3");
}

static void gangs_of_others(void **state)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const struct row *r = &rows[i];
		const char *got;

		assert_int_equal(teardown(state), 0); /* a world of its own for each row */
		small_cluster(state);
		put_queue("default", "");
		put_members(r->pods);
		put_group("g", r->spec, r->status);
		got = sync_text(true);
		if (strcmp(got, r->plan) != 0)
			fail_msg("%s: want '%s', got '%s'", r->name, r->plan, got);
		if (r->says)
			check_says(&w.sync.plan.actions[0], r->says);
	}
}

static void placed_gang_leaves_no_room_for_others(void **state)
{
	(void)state;
	put_queue("default", "");
	put_members("a 4 gated; b 4 gated; x 1 gated other");
	put_group("g", "\"minMember\":2",
		STATE("Placed", ",\"attempt\":1," PLAN(AT("a", "n1") "," AT("b", "*1"))) IN);
	put_group("h", "\"minMember\":1", "");
	assert_string_equal(sync_text(true),
		"patch podgroups/status ns/h (Admitted=False/InsufficientCapacity position=1)");
}

static void members_that_come_first_hold_nothing(void **state)
{
	(void)state;
	put_queue("default", "");
	put_members("a 3 gated; b 3 gated; x 3 gated other");
	put_group("g", "\"minMember\":3", "\"position\":0," JUST_NOW);
	put_group("h", "\"minMember\":1", "");
	assert_string_equal(sync_text(true),
		"patch podgroups/status ns/h (Admitted=True/Admitted position=0 placed)");
}

/* n2 has 8 CPUs: of a pod that stops there 4 are not free yet, and 3 are for the one that is stuck. */
static void its_new_room_is_given_to_nobody_else(void **state)
{
	(void)state;
	put_queue("default", "");
	put_node("n2", "8", "");
	put_members(
		"a 1 on=n1; b 3 released pin=n1 stuck; x 1 on=n1 nobody; c 4 on=n2 stops; y 4 gated other");
	put_group("g", "\"minMember\":2",
		STATE("Placed", ",\"attempt\":1," PLAN(AT("a", "n1") "," AT("b", "n1"))) IN);
	put_group("h", "\"minMember\":1", "");
	assert_string_equal(sync_text(true),
		"patch podgroups/status ns/h (Admitted=False/Reserving position=1); " PLACED);
}

/* Of two nodes of 4 CPUs, group g has 1 bound and asks for 6. */
static const struct {
	const char *name, *status, *pods, *other, *plan;
} held[] = {
	{ "room_of_members_that_do_not_exist_is_not_given_away",
		STATE("Satisfied", ",\"attempt\":1" SINCE("13:40:00")) IN, "a 1 on=n1", "x 3 gated other",
		"patch podgroups/status ns/h (Admitted=False/InsufficientCapacity position=1)" },
	{ "the_rest_is_free", STATE("Satisfied", ",\"attempt\":1" SINCE("13:40:00")) IN, "a 1 on=n1",
		"x 2 gated other", "patch podgroups/status ns/h (Admitted=True/Admitted position=0 placed)" },
	{ "who_is_released_has_it_until_he_is_bound",
		STATE("Satisfied", ",\"attempt\":1" SINCE("13:40:00")) IN, "a 1 on=n1; b 5",
		"x 3 gated other",
		"patch podgroups/status ns/h (Admitted=False/InsufficientCapacity position=1)" },
	{ "members_that_came_have_it", STATE("Satisfied", ",\"attempt\":1" SINCE("13:40:00")) IN,
		"a 1 on=n1; b 3 on=n1; c 2 on=n2", "x 2 gated other",
		"patch podgroups/status ns/h (Admitted=True/Admitted position=0 placed)" },
	{ "also_while_the_first_stage_starts",
		STATE("Placed", ",\"attempt\":1" SINCE("13:46:00") "," PLAN(AT("a", "n1"))) IN, "a 1",
		"x 3 gated other",
		"patch podgroups/status ns/h (Admitted=False/InsufficientCapacity position=1)" },
	{ "not_when_another_gang_has_got_it",
		STATE("Satisfied", ",\"attempt\":1,\"holdEndedFor\":\"ns/x\"" SINCE("13:40:00")) IN,
		"a 1 on=n1", "x 3 gated other",
		"patch podgroups/status ns/h (Admitted=True/Admitted position=0 placed)" },
	{ "not_for_longer_than_half_an_hour", STATE("Satisfied", ",\"attempt\":1" SINCE("13:16:27")) IN,
		"a 1 on=n1", "x 3 gated other",
		"patch podgroups/status ns/h (Admitted=True/Admitted position=0 placed)" },
};

static void members_to_come_have_room(void **state)
{
	for (size_t i = 0; i < KAR_LEN(held); i++) {
		const char *got;

		assert_int_equal(teardown(state), 0);
		small_cluster(state);
		put_queue("default", "");
		put_members(held[i].pods);
		put_members(held[i].other);
		put_group("g", "\"minMember\":1,\"minResources\":{\"cpu\":\"6\"}", held[i].status);
		put_group("h", "\"minMember\":1", "");
		got = sync_text(true);
		if (strcmp(got, held[i].plan) != 0)
			fail_msg("%s: want '%s', got '%s'", held[i].name, held[i].plan, got);
	}
}

/* Of two nodes of 4 CPUs g, which has a lower priority, has 1 and holds 5. */
static void held_room_goes_before_pods(void **state)
{
	(void)state;
	put_queue("default", "\"preemptionPolicy\":\"LowerPriority\"");
	put_members("a 1 on=n1");
	put_members("x 3 gated other");
	put_group("g", "\"minMember\":1,\"minResources\":{\"cpu\":\"6\"}",
		STATE("Satisfied", ",\"attempt\":1" SINCE("13:40:00")) IN);
	put_group("h", "\"minMember\":1,\"priority\":100", "");
	assert_string_equal(sync_text(true),
		"patch podgroups/status ns/g (Admitted=True/Admitted position=0 hold-ends); patch podgroups/status ns/h (Admitted=True/Admitted position=0 placed)");
}

/* What group g, whose two members asked for 3 CPUs each, keeps of two nodes of 4 CPUs when it has lost some; h is a new gang. It is 13:46:27. */
#define LOST(state, since, scheduled, at) \
	"\"phase\":\"Pending\",\"scheduleStartTime\":\"2026-11-21T13:00:00Z\",\"position\":0,\"admittedQueue\":\"default\",\"placement\":{" state \
	"\"attempt\":1,\"requests\":\"pods=2,cpu=6000m,nonsense,x=y\"" SINCE( \
		since) "},\"conditions\":[" \
		       "{\"type\":\"Admitted\",\"status\":\"True\",\"reason\":\"Admitted\",\"message\":\"admitted by queue default\",\"observedGeneration\":1,\"lastTransitionTime\":\"2026-11-21T13:00:00Z\"}," \
		       "{\"type\":\"Scheduled\",\"status\":\"" scheduled \
		       "\",\"reason\":\"r\",\"message\":\"\",\"lastTransitionTime\":\"2026-11-21T" at \
		       "Z\"}]"
#define RAN "\"state\":\"Satisfied\","
#define WAITS "patch podgroups/status ns/h (Admitted=False/InsufficientCapacity position=1)"
#define RUNS "patch podgroups/status ns/h (Admitted=True/Admitted position=0 placed)"
static const struct {
	const char *name, *status, *pods, *other, *plan;
} lost[] = {
	{ "its_room_is_kept", LOST(RAN, "13:00:00", "False", "13:46:00"), "a 3 on=n1", "x 3 gated other",
		WAITS },
	{ "before_anybody_has_recorded_the_loss", LOST(RAN, "13:00:00", "True", "13:00:01"), "a 3 on=n1",
		"x 3 gated other", WAITS },
	{ "what_is_beyond_it_is_not", LOST(RAN, "13:00:00", "False", "13:46:00"), "a 3 on=n1",
		"x 1 gated other", RUNS },
	{ "for_a_minute", LOST(RAN, "13:00:00", "False", "13:45:27"), "a 3 on=n1", "x 3 gated other", RUNS },
	{ "it_is_one_who_comes_again", LOST(RAN, "13:00:00", "False", "13:46:00"), "a 3 on=n1; b 3 gated",
		"x 3 gated other", WAITS },
	{ "none_is_missing", LOST(RAN, "13:00:00", "True", "13:00:01"), "a 3 on=n1; b 1 on=n2",
		"x 3 gated other", RUNS },
	{ "who_has_succeeded_is_not_made_again", LOST(RAN, "13:00:00", "False", "13:46:00"), "a 3 on=n1 done",
		"x 4 gated other", RUNS },
	{ "all_are_gone", LOST("", "13:46:20", "False", "13:46:20"), "", "x 3 gated other", WAITS },
	{ "and_come_one_by_one", LOST("", "13:46:20", "False", "13:46:20"), "a 3 gated", "x 3 gated other",
		WAITS },
	{ "not_within_ten_seconds", LOST("", "13:46:17", "False", "13:46:17"), "", "x 4 gated other", RUNS },
	{ "until_all_are_there", LOST("", "13:46:20", "False", "13:46:20"), "a 3 gated; b 3 gated",
		"x 3 gated other prio=9",
		PLACED "; patch podgroups/status ns/h (Admitted=False/InsufficientCapacity position=1)" },
};

static void what_a_gang_has_lost_has_room(void **state)
{
	for (size_t i = 0; i < KAR_LEN(lost); i++) {
		const char *got;

		assert_int_equal(teardown(state), 0);
		small_cluster(state);
		put_queue("default", "");
		put_members(lost[i].pods);
		put_members(lost[i].other);
		put_group("g", "\"minMember\":2", lost[i].status);
		put_group("h", "\"minMember\":1", "");
		got = sync_text(true);
		if (strcmp(got, lost[i].plan) != 0)
			fail_msg("%s: want '%s', got '%s'", lost[i].name, lost[i].plan, got);
	}
}

/* Its first member was placed alone; the second came when it ran, and is lost: spec.minResources says what both ask for. */
static void what_a_gang_in_stages_has_lost_has_room(void **state)
{
	(void)state;
	put_queue("default", "");
	put_members("a 3 on=n1");
	put_members("x 3 gated other");
	put_group("g", "\"minMember\":2,\"minResources\":{\"cpu\":\"6\"}",
		"\"phase\":\"Pending\",\"scheduleStartTime\":\"2026-11-21T13:00:00Z\",\"position\":0,\"admittedQueue\":\"default\","
		"\"placement\":{\"state\":\"Satisfied\",\"attempt\":1,\"requests\":\"pods=1,cpu=3000m\"" SINCE(
			"13:00:00") "}"
				    ",\"conditions\":[{\"type\":\"Admitted\",\"status\":\"True\",\"reason\":\"Admitted\",\"message\":\"admitted by queue default\",\"observedGeneration\":1,\"lastTransitionTime\":\"2026-11-21T13:00:00Z\"},"
				    "{\"type\":\"Scheduled\",\"status\":\"False\",\"reason\":\"r\",\"message\":\"\",\"lastTransitionTime\":\"2026-11-21T13:46:00Z\"}]");
	put_group("h", "\"minMember\":1", "");
	assert_string_equal(sync_text(true), WAITS);
}

/* Groups g and h wait for a place that one of them can have; h is younger. */
static const struct {
	const char *name, *pods, *g, *h;
	bool h_first;
} ranks[] = {
	{ "in_their_order_without_one", "a 3 gated; x 3 gated other", "", "", false },
	{ "pods_give_the_group_their_priority", "a 3 gated; x 3 gated prio=5 other", "", "", true },
	{ "the_highest_of_them", "a 3 gated prio=4; x 3 gated prio=-1 other; y 3 gated prio=5 other", "", "",
		true },
	{ "also_below_the_default", "a 3 gated prio=-1; x 3 gated other", "", "", true },
	{ "not_those_that_have_ended", "a 3 gated; x 3 gated other; y 1 done prio=5 other", "",
		",\"minMember\":2", false },
	{ "a_priority_of_its_own_wins", "a 3 gated; x 3 gated prio=5 other", "", ",\"priority\":0", false },
	{ "so_does_a_class", "a 3 gated; x 3 gated prio=5 other", "", ",\"priorityClassName\":\"low\"",
		false },
	{ "but_not_one_that_does_not_exist", "a 3 gated; x 3 gated prio=5 other", "",
		",\"priorityClassName\":\"none\"", true },
};

static void pods_give_groups_of_others_their_priority(void **state)
{
	for (size_t i = 0; i < KAR_LEN(ranks); i++) {
		const char *first, *got;
		char spec[128], want[128];

		assert_int_equal(teardown(state), 0);
		small_cluster(state);
		put_queue("default", "");
		put_named(w.stores.priorityclasses, "low", "", ",\"value\":-5");
		put_members("z 4 on=n1 nobody");
		put_members(ranks[i].pods);
		snprintf(spec, sizeof(spec), "\"minMember\":1%s", ranks[i].g);
		put_group("g", spec, "");
		snprintf(spec, sizeof(spec), "\"minMember\":1%s", ranks[i].h);
		put_group("h", spec, "");
		got = sync_text(true);
		first = ranks[i].h_first ? "h" : "g";
		snprintf(want, sizeof(want),
			"patch podgroups/status ns/%s (Admitted=True/Admitted position=0 placed)", first);
		if (!strstr(got, want) || !strstr(got, "position=1"))
			fail_msg("%s: want '%s', got '%s'", ranks[i].name, want, got);
	}
}

/* Its own admission does not fill its queue. */
static void place_of_a_full_queue_is_kept(void **state)
{
	(void)state;
	put_queue("default", "\"maxJobs\":1");
	put_members("a 2 gated; b 2 gated");
	put_group("g", "\"minMember\":2", "\"position\":0,\"admittedQueue\":\"default\"," IN);
	assert_string_equal(sync_text(true), PLACED);
}

/* A member of 1 CPU and room for 6 to come, of 8 CPUs in all. */
static void held_room_is_charged_to_quotas(void **state)
{
	static const struct {
		const char *hard, *used, *says;
	} quotas[] = { { "\"requests.cpu\":7", "\"requests.cpu\":1", "\"state\":\"Placed\"" },
		{ "\"requests.cpu\":6", "\"requests.cpu\":1",
			"\"reason\":\"QuotaExceeded\",\"message\":\"insufficient requests.cpu: 6 requested, 5 of 6 free (1 short), quota c has 6, used 1" },
		{ "\"cpu\":9", "\"cpu\":4",
			"\"reason\":\"QuotaExceeded\",\"message\":\"insufficient cpu: 6 requested, 5 of 9 free (1 short), quota c has 9, used 4" },
		{ "\"limits.cpu\":1", "\"limits.cpu\":0", "\"state\":\"Placed\"" } };

	for (size_t i = 0; i < KAR_LEN(quotas); i++) {
		char rest[256];

		assert_int_equal(teardown(state), 0);
		small_cluster(state);
		put_queue("default", "");
		snprintf(rest, sizeof(rest),
			",\"spec\":{\"hard\":{%s}},\"status\":{\"hard\":{%s},\"used\":{%s}}", quotas[i].hard,
			quotas[i].hard, quotas[i].used);
		put_named(w.stores.resourcequotas, "c", "", rest);
		put_members("a 1 gated");
		put_group("g", "\"minMember\":1,\"minResources\":{\"cpu\":\"7\"}", "");
		sync_text(true);
		check_says(&w.sync.plan.actions[0], quotas[i].says);
	}
}

/* Its queue is entitled to 4 of 8 CPUs, and another one to the rest. */
static void bare_pods_borrow_nothing(void **state)
{
	(void)state;
	put_queue("default", "\"deserved\":{\"cpu\":4}");
	put_queue("o", "\"deserved\":{\"cpu\":4}");
	put_members("a 3 gated bare; b 3 gated");
	put_group("g", "\"minMember\":2", "");
	sync_text(true);
	check_says(&w.sync.plan.actions[0],
		"queue default is entitled to 4 and lends it nothing: pod a has no controller that would make it again");
	put_members("a 3 gated");
	w.mono += 10000;
	sync_text(true);
	check_says(&w.sync.plan.actions[0], "\"state\":\"Placed\"");
}

/* Group g has the nodes, and a pod of priority 5; its other one has none. */
static void pods_protect_their_group_from_eviction(void **state)
{
	static const struct {
		const char *taker, *other;
		bool evicted;
	} evictions[] = { { "x 4 gated prio=6 other", "b 4 on=n2 released", true },
		{ "x 4 gated prio=5 other", "b 4 on=n2 released", false },
		{ "x 4 gated prio=1 other", "b 4 on=n2 released", false },
		{ "x 4 gated prio=6 other", "b 4 on=n2", false /* it has started by itself */ } };

	for (size_t i = 0; i < KAR_LEN(evictions); i++) {
		const char *got;

		assert_int_equal(teardown(state), 0);
		small_cluster(state);
		put_queue("default", "\"preemptionPolicy\":\"LowerPriority\"");
		put_members("a 4 on=n1 prio=5 released");
		put_members(evictions[i].other);
		put_members(evictions[i].taker);
		put_group("g", "\"minMember\":2", STATE("Satisfied", ",\"attempt\":1") IN);
		put_group("h", "\"minMember\":1", "");
		got = sync_text(true);
		if (!strstr(got, "ns/g") == evictions[i].evicted)
			fail_msg("%s: %s", evictions[i].taker, got);
	}
}

/* Group g is evicted for h, which would have room if all of g were gone. */
static void taker_does_not_wait_for_pods_on_lost_nodes(void **state)
{
	static const struct {
		const char *pods;
		bool reserves;
	} left[] = { { "a 4 on=n1 prio=1 released; b 4 on=n2 prio=1 released late", false },
		{ "a 4 on=n1 prio=1 released; b 4 on=n2 prio=1 released", true } };

	for (size_t i = 0; i < KAR_LEN(left); i++) {
		const char *got;

		assert_int_equal(teardown(state), 0);
		small_cluster(state);
		put_queue("default", "\"preemptionPolicy\":\"LowerPriority\"");
		put_members(left[i].pods);
		put_members("x 4 gated prio=6 other; y 4 gated prio=6 other");
		put_group("g", "\"minMember\":2",
			STATE("RollingBack", ",\"attempt\":1,\"evictedBy\":\"ns/h\"") OUT("Preempted"));
		put_group("h", "\"minMember\":2", "");
		got = sync_text(true);
		if (!strstr(got, "ns/h (Admitted=False/Reserving") == left[i].reserves ||
			!strstr(got, "ns/h (Admitted=False/NoFit") != left[i].reserves)
			fail_msg("%s: %s", left[i].pods, got);
	}
}

static void put_labelled(const char *queue)
{
	char meta[128];

	snprintf(meta, sizeof(meta), ",\"labels\":{\"kube-arbitrator.io/queue\":\"%s\"}", queue);
	put_named(w.stores.podgroups, "g", meta, ",\"spec\":{\"minMember\":1}");
}

static void label_names_the_queue(void **state)
{
	(void)state;
	put_queue("default", "");
	put_queue("closed", "\"state\":\"Closed\"");
	put_labelled("closed");
	assert_string_equal(sync_text(true),
		"patch podgroups/status ns/g (Admitted=False/QueueClosed position=0)");
	drain();
	put_labelled("default");
	assert_string_equal(kar_workqueue_take(w.controller.queue, w.mono), "all");
}

static void new_member_wakes_the_pass(void **state)
{
	(void)state;
	put_queue("default", "");
	put_group("g", "\"minMember\":1", "\"position\":0," IN);
	drain();
	put_members("a 1");
	assert_null(kar_workqueue_take(w.controller.queue, w.mono));
	put_members("b 1 gated");
	assert_string_equal(kar_workqueue_take(w.controller.queue, w.mono), "all");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(gangs_of_others, small_cluster, teardown),
		cmocka_unit_test_setup_teardown(those_that_wait_are_a_gang_by_themselves, small_cluster,
			teardown),
		cmocka_unit_test_setup_teardown(queue_says_how_many_members_start, small_cluster, teardown),
		cmocka_unit_test_setup_teardown(limits_of_parents_bind_what_others_place, small_cluster,
			teardown),
		cmocka_unit_test_setup_teardown(placed_gang_leaves_no_room_for_others, small_cluster,
			teardown),
		cmocka_unit_test_setup_teardown(its_new_room_is_given_to_nobody_else, small_cluster,
			teardown),
		cmocka_unit_test_setup_teardown(held_room_goes_before_pods, small_cluster, teardown),
		cmocka_unit_test_setup_teardown(members_that_come_first_hold_nothing, small_cluster,
			teardown),
		cmocka_unit_test_setup_teardown(what_a_gang_has_lost_has_room, small_cluster, teardown),
		cmocka_unit_test_setup_teardown(what_a_gang_in_stages_has_lost_has_room, small_cluster,
			teardown),
		cmocka_unit_test_setup_teardown(members_to_come_have_room, small_cluster, teardown),
		cmocka_unit_test_setup_teardown(pods_give_groups_of_others_their_priority, small_cluster,
			teardown),
		cmocka_unit_test_setup_teardown(held_room_is_charged_to_quotas, small_cluster, teardown),
		cmocka_unit_test_setup_teardown(bare_pods_borrow_nothing, small_cluster, teardown),
		cmocka_unit_test_setup_teardown(place_of_a_full_queue_is_kept, small_cluster, teardown),
		cmocka_unit_test_setup_teardown(pods_protect_their_group_from_eviction, small_cluster,
			teardown),
		cmocka_unit_test_setup_teardown(taker_does_not_wait_for_pods_on_lost_nodes, small_cluster,
			teardown),
		cmocka_unit_test_setup_teardown(label_names_the_queue, small_cluster, teardown),
		cmocka_unit_test_setup_teardown(new_member_wakes_the_pass, small_cluster, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
