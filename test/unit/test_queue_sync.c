/* The shell of the Queue reconciler: caches in, plan and bodies out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/podgroup/native_group.h"
#include "controllers/kar_metrics.h"
#include "controllers/queue/pass.h"
#include "controllers/queue/shell.h"
#include "test/unit/queue_sync_fixture.h"

static void check_nth_body(size_t action, const char *want)
{
	assert_true(action < w.sync.plan.n_actions);
	check_body(&w.sync.plan.actions[action], want);
}

/* Nobody who deletes it waits for ever. */
static void default_queue_is_made_for_who_waits_for_it(void **state)
{
	(void)state;
	assert_string_equal(sync_text(false), "");
	w.mono += 1000;
	put_group("o", "\"queue\":\"other\"", "");
	put_group("f", "", "\"phase\":\"Finished\"");
	put_named_job("s", "", ",\"suspend\":true", "Pending");
	put_group_of_job("s", "");
	assert_string_equal(sync_text(false),
		"patch podgroups/status ns/s (Admitted=False/Suspended position=0); "
		"patch podgroups/status ns/o (Admitted=False/QueueNotFound position=0)");
	w.mono += 1000;
	put_group("o", "\"queue\":\"other\"",
		ADMITTED("False", "QueueNotFound",
			"there is no queue other; it is admitted when somebody creates one"));
	put_group("g", "", "");
	put_named_job("s", ",\"deletionTimestamp\":\"2026-11-21T13:46:27Z\"", "", "Pending");
	assert_string_equal(sync_text(false), "create queues default");
	check_nth_body(0,
		"{\"apiVersion\":\"kube-arbitrator.io/v1alpha1\",\"kind\":\"Queue\",\"metadata\":{\"name\":\"default\",\"finalizers\":[\"kube-arbitrator.io/queue\"]},"
		"\"spec\":{}}");
	assert_true(w.controller.still_wanted(&w.sync, &w.sync.plan.actions[0]));
}

static void default_queue_is_created_once(void **state)
{
	(void)state;
	put_queue("default", "");
	assert_string_equal(sync_text(false), "");
}

/* Whoever sees only a part of the groups would overwrite what others have counted. */
static void manager_of_one_namespace_writes_no_queue(void **state)
{
	(void)state;
	settings.one_namespace = true;
	put_group("g", "\"minMember\":1", "");
	assert_string_equal(sync_text(false),
		"patch podgroups/status ns/g (Admitted=False/QueueNotFound position=0)");
	w.mono += 1000;
	put_queue("default", "");
	assert_string_equal(sync_text(false),
		"patch podgroups/status ns/g (Admitted=True/Admitted position=0)");
}

/* The patch leaves alone what it does not name, and desired of a group whose number is not for the queue to say. */
static void group_is_admitted_with_preconditions(void **state)
{
	(void)state;
	put_queue("default", "");
	put_group("g", "\"minMember\":1",
		"\"phase\":\"Pending\",\"desired\":6,\"conditions\":[{\"type\":\"Scheduled\",\"status\":\"False\",\"reason\":\"NotEnoughMembers\","
		"\"message\":\"m\",\"observedGeneration\":1,\"lastTransitionTime\":\"2026-11-21T10:00:00Z\"}]");
	assert_string_equal(sync_text(false),
		"patch podgroups/status ns/g (Admitted=True/Admitted position=0); "
		"patch queues/status default (state=Open pending=0 inqueue=1 running=0 completed=0 unknown=0)");
	check_nth_body(0,
		"{\"metadata\":{\"uid\":\"uid-g\",\"resourceVersion\":\"12\"},\"status\":{\"desired\":6,\"desiredOf\":null,\"lastScaleTime\":null,\"scalingLimit\":null,\"scalingLimitMessage\":null,\"position\":0,\"admittedQueue\":\"default\",\"flavor\":null,\"admittedGeneration\":null,\"runSeconds\":null,\"waitingSince\":null,\"waitedSeconds\":null,\"estimatedStart\":null,\"evictions\":null,\"lastEviction\":null,\"whatIf\":null,\"placement\":null,\"backend\":null,\"conditions\":["
		"{\"type\":\"Scheduled\",\"status\":\"False\",\"observedGeneration\":1,\"lastTransitionTime\":\"2026-11-21T10:00:00Z\","
		"\"reason\":\"NotEnoughMembers\",\"message\":\"m\"},"
		"{\"type\":\"Admitted\",\"status\":\"True\",\"observedGeneration\":1,\"lastTransitionTime\":\"2026-11-21T13:46:27Z\","
		"\"reason\":\"Admitted\",\"message\":\"admitted by queue default\"}]}}");
	assert_int_equal(w.sync.plan.actions[0].patch_type, KAR_PATCH_MERGE);
	assert_string_equal(w.sync.plan.actions[0].uid, "uid-g");
}

/* One write less for each gang: the first status says what is obvious. */
static void first_status_of_a_group_is_pending(void **state)
{
	(void)state;
	put_queue("default", "");
	put_group("g", "\"minMember\":1", "");
	sync_text(false);
	check_nth_body(0,
		"{\"metadata\":{\"uid\":\"uid-g\",\"resourceVersion\":\"12\"},\"status\":{\"phase\":\"Pending\",\"occupiedBy\":null,\"members\":0,"
		"\"scheduled\":0,\"running\":0,\"succeeded\":0,\"failed\":0,\"scheduleStartTime\":null,\"desired\":null,\"desiredOf\":null,\"lastScaleTime\":null,\"scalingLimit\":null,\"scalingLimitMessage\":null,\"position\":0,\"admittedQueue\":\"default\",\"flavor\":null,\"admittedGeneration\":null,\"runSeconds\":null,\"waitingSince\":null,\"waitedSeconds\":null,\"estimatedStart\":null,\"evictions\":null,\"lastEviction\":null,\"whatIf\":null,\"record\":null,\"placement\":null,\"backend\":null,\"conditions\":["
		"{\"type\":\"Admitted\",\"status\":\"True\",\"observedGeneration\":1,\"lastTransitionTime\":\"2026-11-21T13:46:27Z\","
		"\"reason\":\"Admitted\",\"message\":\"admitted by queue default\"}]}}");
}

/* Whoever admits measures the wait: from the creation, or from what the group is ordered by instead. */
static void the_wait_of_an_admitted_group_is_measured(void **state)
{
	static const struct kar_answer ok = { .status = 200, .uid = "" };
	struct kar_metrics *m = kar_all_metrics_new();
	struct kar_buf text = { 0 };

	(void)state;
	w.controller.metrics = m;
	put_queue("default", "");
	put_group("g", "\"minMember\":1", "\"waitingSince\":\"2026-11-21T13:46:17Z\"");
	put_group("h", "\"minMember\":1,\"queue\":\"none\"", "");
	sync_text(false);
	for (size_t i = 0; i < w.sync.plan.n_actions; i++)
		w.controller.wrote(&w.sync, &w.sync.plan.actions[i], &ok);
	assert_int_equal(kar_metric_value(m, &kar_m_kar_admission_wait_seconds, NULL), 1);
	kar_metrics_print(m, false, &text);
	assert_non_null(strstr(kar_buf_cstr(&text), "\nkar_admission_wait_seconds_sum 10.123\n"));
	assert_int_equal(kar_metric_value(m, &kar_m_kar_admission_attempts_total, KAR_LABELS("admitted")), 1);
	assert_int_equal(kar_metric_value(m, &kar_m_kar_admission_attempts_total, KAR_LABELS("inadmissible")),
		1);
	w.controller.metrics = NULL;
	kar_buf_release(&text);
	kar_metrics_free(m);
}

static void pass_that_does_not_settle_is_counted(void **state)
{
	struct kar_metrics *m = kar_all_metrics_new();
	struct queue_pass p = { 0 };

	(void)state;
	queue_count_pass(&p, m);
	assert_int_equal(kar_metric_value(m, &kar_m_kar_queue_passes_unsettled_total, NULL), 0);
	p.result.unsettled = true;
	queue_count_pass(&p, m);
	assert_int_equal(kar_metric_value(m, &kar_m_kar_queue_passes_unsettled_total, NULL), 1);
	kar_metrics_free(m);
}

static void admitted_group_is_not_written_again(void **state)
{
	(void)state;
	put_queue("default", "");
	put_group("g", "", ADMITTED("True", "Admitted", "admitted by another queue"));
	assert_string_equal(sync_text(true), "");
}

static void group_keeps_a_flavor_that_no_queue_names_any_more(void **state)
{
	(void)state;
	put_queue("default", "");
	put_group("g", "",
		"\"flavor\":\"h100\",\"conditions\":["
		"{\"type\":\"Preempted\",\"status\":\"True\",\"reason\":\"Preempted\",\"message\":\"m\",\"lastTransitionTime\":\"2026-11-21T10:00:00Z\"},"
		"{\"type\":\"Admitted\",\"status\":\"True\",\"reason\":\"Edited\",\"message\":\"admitted by queue default\",\"lastTransitionTime\":\"2026-11-21T10:00:00Z\"}]");
	sync_text(true);
	check_says(&w.sync.plan.actions[0], "\"flavor\":\"h100\"");
}

static void contradictory_condition_is_mended(void **state)
{
	(void)state;
	put_queue("default", "");
	put_group("g", "", ADMITTED("False", "Admitted", "edited by hand"));
	assert_string_equal(sync_text(true),
		"patch podgroups/status ns/g (Admitted=True/Admitted position=0)");
}

static void most_urgent_group_is_written_first(void **state)
{
	(void)state;
	put_queue("default", "\"maxJobs\":2");
	put_group("a", "\"priority\":1", "");
	put_group("b", "\"priority\":2", "");
	put_group("c", "\"priority\":3", "");
	assert_string_equal(sync_text(true),
		"patch podgroups/status ns/c (Admitted=True/Admitted position=0); "
		"patch podgroups/status ns/b (Admitted=True/Admitted position=0); "
		"patch podgroups/status ns/a (Admitted=False/MaxJobsReached position=1)");
}

static void priority_is_resolved_from_classes(void **state)
{
	(void)state;
	put_queue("default", "\"maxJobs\":1");
	put_named(w.stores.priorityclasses, "low", "", ",\"value\":-10");
	put_named(w.stores.priorityclasses, "usual", "", ",\"value\":5,\"globalDefault\":true");
	put_group("a", "\"priorityClassName\":\"low\"", "");
	put_group("b", "\"priority\":4,\"priorityClassName\":\"usual\"", "");
	put_group("c", "", "");
	assert_string_equal(sync_text(true),
		"patch podgroups/status ns/c (Admitted=True/Admitted position=0); "
		"patch podgroups/status ns/b (Admitted=False/MaxJobsReached position=1); "
		"patch podgroups/status ns/a (Admitted=False/MaxJobsReached position=2)");
}

/* --- policy: which queue an admission is of, what it is worth, and for how long ------------------------- */

#define EMPTY_SINCE(time) \
	"\"conditions\":[{\"type\":\"Admitted\",\"status\":\"True\",\"reason\":\"Admitted\",\"message\":\"admitted by queue default\"," \
	"\"observedGeneration\":1,\"lastTransitionTime\":\"2026-11-21T" time "Z\"}]"
#define BY(queue) ",\"admittedQueue\":\"" queue "\""
#define LONG_EMPTY EMPTY_SINCE("13:45:57") BY("default") /* half a minute ago */

static const struct {
	const char *name;
	struct {
		const char *name, *spec;
	} queues[2];
	struct {
		const char *name, *spec, *status;
	} groups[4];
	const char *plan;
} policies[] = {
	{ "group_that_moves_to_a_closed_queue_is_not_admitted_there",
		{ { "default", "" }, { "b", "\"state\":\"Closed\"" } },
		{ { "g", "\"queue\":\"b\"",
			ADMITTED("True", "Admitted", "admitted by queue default") BY("default") } },
		"patch podgroups/status ns/g (Admitted=False/QueueClosed position=0)" },
	{ "group_that_moves_to_a_full_queue_waits_there", { { "default", "" }, { "b", "\"maxJobs\":1" } },
		{ { "f", "\"queue\":\"b\"",
			  ADMITTED("True", "Admitted", "admitted by queue b") BY("b") ",\"members\":1" },
			{ "g", "\"queue\":\"b\"",
				ADMITTED("True", "Admitted", "admitted by queue default") BY("default") } },
		"patch podgroups/status ns/g (Admitted=False/MaxJobsReached position=1)" },
	{ "group_that_moves_is_admitted_anew", { { "default", "" }, { "b", "" } },
		{ { "g", "\"queue\":\"b\"",
			ADMITTED("True", "Admitted", "admitted by queue default") BY("default") } },
		"patch podgroups/status ns/g (Admitted=True/Admitted position=0)" },
	{ "group_that_names_no_queue_any_more_is_of_default", { { "default", "\"state\":\"Closed\"" } },
		{ { "g", "", ADMITTED("True", "Admitted", "admitted by queue b") BY("b") } },
		"patch podgroups/status ns/g (Admitted=False/QueueClosed position=0)" },
	{ "admission_of_an_older_version_is_of_its_queue",
		{ { "default", "" }, { "b", "\"state\":\"Closed\"" } },
		{ { "g", "\"queue\":\"b\"", ADMITTED("True", "Admitted", "admitted by queue b") } }, "" },

	{ "empty_group_makes_room_for_another_after_a_while", { { "default", "\"maxJobs\":1" } },
		{ { "e", "", LONG_EMPTY }, { "g", "", "" } },
		"patch podgroups/status ns/e (Admitted=False/MaxJobsReached position=1)" }, /* then g gets it */
	{ "not_before_its_time", { { "default", "\"maxJobs\":1" } },
		{ { "e", "", EMPTY_SINCE("13:45:58") BY("default") }, { "g", "", "" } },
		"patch podgroups/status ns/g (Admitted=False/MaxJobsReached position=1)" },
	{ "at_once_for_one_with_members", { { "default", "\"maxJobs\":1" } },
		{ { "e", "\"priority\":9", EMPTY_SINCE("13:46:26") BY("default") },
			{ "g", "", "\"members\":1" } },
		"patch podgroups/status ns/e (Admitted=False/MaxJobsReached position=1)" },
	{ "not_while_it_has_members", { { "default", "\"maxJobs\":1" } },
		{ { "e", "", LONG_EMPTY ",\"members\":1" }, { "g", "", "" } },
		"patch podgroups/status ns/g (Admitted=False/MaxJobsReached position=1)" },
	{ "not_soon_after_its_last_member_went", { { "default", "\"maxJobs\":1" } },
		{ { "e", "", LONG_EMPTY ",\"scheduleStartTime\":\"2026-11-21T13:46:18Z\"" },
			{ "g", "", "\"members\":1" } },
		"patch podgroups/status ns/g (Admitted=False/MaxJobsReached position=1)" },
	{ "ten_seconds_after_it", { { "default", "\"maxJobs\":1" } },
		{ { "e", "", LONG_EMPTY ",\"scheduleStartTime\":\"2026-11-21T13:46:17Z\"" },
			{ "g", "", "\"members\":1" } },
		"patch podgroups/status ns/e (Admitted=False/MaxJobsReached position=1)" },
	{ "not_while_nobody_needs_the_room", { { "default", "\"maxJobs\":2" } },
		{ { "e", "", LONG_EMPTY }, { "g", "", "" } },
		"patch podgroups/status ns/g (Admitted=True/Admitted position=0)" },
	{ "nor_when_nobody_would_get_it", { { "default", "\"maxJobs\":1,\"state\":\"Closed\"" } },
		{ { "e", "", LONG_EMPTY }, { "g", "", "" } },
		"patch podgroups/status ns/g (Admitted=False/QueueClosed position=0)" },

	{ "queue_that_selects_other_namespaces_admits_nothing",
		{ { "default", "\"namespaceSelector\":{\"matchLabels\":{\"team\":\"vip\"}}" } },
		{ { "g", "", "" } },
		"patch podgroups/status ns/g (Admitted=False/NamespaceNotAllowed position=0)" },
	{ "empty_selector_selects_all", { { "default", "\"namespaceSelector\":{}" } }, { { "g", "", "" } },
		"patch podgroups/status ns/g (Admitted=True/Admitted position=0)" },
	{ "selector_that_means_nothing_admits_nothing",
		{ { "default",
			"\"namespaceSelector\":{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"In\"}]}" } },
		{ { "g", "", "" } }, "patch podgroups/status ns/g (Admitted=False/QueueInvalid position=0)" },
	{ "what_else_is_not_acted_upon_stops_nobody",
		{ { "default", "\"capability\":{\"cpu\":1},\"drain\":true" } }, { { "g", "", "" } },
		"patch podgroups/status ns/g (Admitted=True/Admitted position=0)" },

	{ "priority_counts_at_most_as_the_maximum_of_the_queue",
		{ { "default", "\"maxJobs\":1,\"maxPriority\":10" } },
		{ { "z", "",
			  ADMITTED("True", "Admitted", "admitted by queue default")
				  BY("default") ",\"members\":1,\"position\":0" },
			{ "a", "\"priority\":10", "" }, { "b", "\"priority\":2147483647", "" },
			{ "c", "\"priority\":9", "" } },
		"patch podgroups/status ns/a (Admitted=False/MaxJobsReached position=1); "
		"patch podgroups/status ns/b (Admitted=False/MaxJobsReached position=2); "
		"patch podgroups/status ns/c (Admitted=False/MaxJobsReached position=3)" },
	{ "and_of_those_above_it",
		{ { "t", "\"maxPriority\":10" }, { "default", "\"maxJobs\":1,\"parent\":\"t\"" } },
		{ { "z", "",
			  ADMITTED("True", "Admitted", "admitted by queue default")
				  BY("default") ",\"members\":1,\"position\":0" },
			{ "a", "\"priority\":10", "" }, { "b", "\"priority\":2147483647", "" } },
		"patch podgroups/status ns/a (Admitted=False/MaxJobsReached position=1); "
		"patch podgroups/status ns/b (Admitted=False/MaxJobsReached position=2)" },
	{ "maximum_of_another_queue_is_nothing_to_it",
		{ { "default", "\"maxJobs\":1" }, { "b", "\"maxPriority\":10" } },
		{ { "z", "",
			  ADMITTED("True", "Admitted", "admitted by queue default")
				  BY("default") ",\"members\":1,\"position\":0" },
			{ "a", "\"priority\":10", "" }, { "b", "\"priority\":2147483647", "" } },
		"patch podgroups/status ns/b (Admitted=False/MaxJobsReached position=1); "
		"patch podgroups/status ns/a (Admitted=False/MaxJobsReached position=2)" },
};

static void queue_policy_is_enforced(void **state)
{
	for (size_t i = 0; i < KAR_LEN(policies); i++) {
		const char *got;

		assert_int_equal(teardown(state), 0); /* a world of its own for each row */
		setup(state);
		for (size_t k = 0; k < KAR_LEN(policies[i].queues) && policies[i].queues[k].name; k++)
			put_queue(policies[i].queues[k].name, policies[i].queues[k].spec);
		for (size_t k = 0; k < KAR_LEN(policies[i].groups) && policies[i].groups[k].name; k++)
			put_group(policies[i].groups[k].name, policies[i].groups[k].spec,
				policies[i].groups[k].status);
		got = sync_text(true);
		if (strcmp(got, policies[i].plan) != 0)
			fail_msg("%s:\nwant '%s'\ngot  '%s'", policies[i].name, policies[i].plan, got);
	}
}

/* Another scheduler places its pods now. */
static void group_that_nobody_places_waits_no_more(void **state)
{
	(void)state;
	put_queue("default", "");
	put_group("g", "",
		"\"phase\":\"Pending\",\"placement\":{\"state\":\"Waiting\",\"attempt\":1,\"failures\":1}," ADMITTED(
			"True", "Admitted", "admitted by queue default") BY("default"));
	sync_text(true);
	check_nth_body(0,
		"{\"metadata\":{\"uid\":\"uid-g\",\"resourceVersion\":\"12\"},\"status\":{\"desired\":null,\"desiredOf\":null,\"lastScaleTime\":null,\"scalingLimit\":null,\"scalingLimitMessage\":null,\"position\":0,\"admittedQueue\":\"default\",\"flavor\":null,\"admittedGeneration\":null,\"runSeconds\":null,\"waitingSince\":null,\"waitedSeconds\":null,\"estimatedStart\":null,\"evictions\":null,\"lastEviction\":null,\"whatIf\":null,\"placement\":null,\"backend\":null,"
		"\"conditions\":[{\"type\":\"Admitted\",\"status\":\"True\",\"observedGeneration\":1,"
		"\"lastTransitionTime\":\"2026-11-21T10:00:00Z\",\"reason\":\"Admitted\",\"message\":\"admitted by queue default\"}]}}");
}

/* It is another admission, which begins now. */
static void group_that_moves_is_admitted_from_now_on(void **state)
{
	(void)state;
	put_queue("default", "");
	put_queue("b", "");
	put_group("g", "\"queue\":\"b\"",
		"\"phase\":\"Pending\"," ADMITTED("True", "Admitted", "admitted by queue default")
			BY("default"));
	sync_text(true);
	check_nth_body(0,
		"{\"metadata\":{\"uid\":\"uid-g\",\"resourceVersion\":\"13\"},\"status\":{\"desired\":null,\"desiredOf\":null,\"lastScaleTime\":null,\"scalingLimit\":null,\"scalingLimitMessage\":null,\"position\":0,\"admittedQueue\":\"b\",\"flavor\":null,\"admittedGeneration\":null,\"runSeconds\":null,\"waitingSince\":null,\"waitedSeconds\":null,\"estimatedStart\":null,\"evictions\":null,\"lastEviction\":null,\"whatIf\":null,\"placement\":null,\"backend\":null,"
		"\"conditions\":[{\"type\":\"Admitted\",\"status\":\"True\",\"observedGeneration\":1,"
		"\"lastTransitionTime\":\"2026-11-21T13:46:27Z\",\"reason\":\"Admitted\",\"message\":\"admitted by queue b\"}]}}");
}

/* It tells since when it waits anew, and by whom it is not admitted any more. */
static void empty_group_waits_anew(void **state)
{
	(void)state;
	put_queue("default", "\"maxJobs\":1");
	put_group("e", "", LONG_EMPTY);
	put_group("g", "", "");
	sync_text(true);
	check_nth_body(0,
		"{\"metadata\":{\"uid\":\"uid-e\",\"resourceVersion\":\"12\"},\"status\":{\"phase\":\"Pending\",\"occupiedBy\":null,\"members\":0,"
		"\"scheduled\":0,\"running\":0,\"succeeded\":0,\"failed\":0,\"scheduleStartTime\":null,\"desired\":null,\"desiredOf\":null,\"lastScaleTime\":null,\"scalingLimit\":null,\"scalingLimitMessage\":null,\"position\":1,\"admittedQueue\":null,\"flavor\":null,\"admittedGeneration\":null,\"runSeconds\":null,"
		"\"waitingSince\":\"2026-11-21T13:46:27Z\",\"waitedSeconds\":null,\"estimatedStart\":null,\"evictions\":null,\"lastEviction\":null,\"whatIf\":null,\"record\":null,\"placement\":null,\"backend\":null,\"conditions\":["
		"{\"type\":\"Admitted\",\"status\":\"False\",\"observedGeneration\":1,\"lastTransitionTime\":\"2026-11-21T13:46:27Z\","
		"\"reason\":\"MaxJobsReached\",\"message\":\"queue default has 1 of 1 jobs; 1st of 1 in queue default\"}]}}");
}

/* Nothing else would wake it, and others may have come meanwhile. */
static void pass_comes_when_an_empty_group_has_had_its_time(void **state)
{
	(void)state;
	put_queue("default", "");
	put_group("e", "", EMPTY_SINCE("13:46:20") BY("default"));
	sync_text(false);
	sync_named("all");
	w.mono += 60000;
	sync_text(false);
	assert_int_equal(w.sync.plan.requeue_after, 30 * KAR_SECOND - 7123);
}

/* Of a job that lives, the job says when its pods come. */
static void empty_group_of_a_job_keeps_its_place(void **state)
{
	(void)state;
	put_queue("default", "\"maxJobs\":1");
	put_named_job("j", "", "", "Starting");
	put_group_of_job("j", LONG_EMPTY);
	put_group("g", "", "");
	assert_string_equal(sync_text(true),
		"patch podgroups/status ns/g (Admitted=False/MaxJobsReached position=1)");
}

/* As many as somebody likes may point to one job. */
static void group_that_only_points_to_a_job_speaks_for_itself(void **state)
{
	(void)state;
	put_queue("default", "\"maxJobs\":1");
	put_named_job("j", "", "", "Starting");
	put_named(w.stores.podgroups, "other",
		",\"ownerReferences\":[{\"apiVersion\":\"kube-arbitrator.io/v1alpha1\",\"kind\":\"QueueJob\",\"name\":\"j\","
		"\"uid\":\"uid-j\",\"controller\":true}]",
		",\"spec\":{},\"status\":{" LONG_EMPTY "}");
	put_group("g", "", "");
	assert_string_equal(sync_text(true),
		"patch podgroups/status ns/other (Admitted=False/MaxJobsReached position=1)");
}

/* One write for its reason; then nothing, however many others come and go. */
static void group_whose_queue_does_not_exist_costs_one_write(void **state)
{
	const char *said = ADMITTED("False", "QueueNotFound",
		"there is no queue b; it is admitted when somebody creates one") ",\"position\":0";

	(void)state;
	put_queue("default", "");
	put_group("g", "\"queue\":\"b\"", "");
	assert_string_equal(sync_text(true),
		"patch podgroups/status ns/g (Admitted=False/QueueNotFound position=0)");
	put_group("g", "\"queue\":\"b\"", said);
	put_group("h", "\"queue\":\"b\",\"priority\":9", said);
	w.mono += 10000;
	assert_string_equal(sync_text(true), "");
	put_queue("b", "");
	w.mono += 10000;
	assert_string_equal(sync_text(true),
		"patch podgroups/status ns/h (Admitted=True/Admitted position=0); "
		"patch podgroups/status ns/g (Admitted=True/Admitted position=0)");
}

static const struct {
	const char *name, *meta, *spec, *phase, *plan;
} owners[] = {
	{ "live_job_is_admitted", "", "", "Pending",
		"patch podgroups/status ns/j (Admitted=True/Admitted position=0)" },
	{ "suspended_job_waits_for_nothing", "", ",\"suspend\":true", "Pending",
		"patch podgroups/status ns/j (Admitted=False/Suspended position=0)" },
	{ "job_being_deleted_is_left_alone", ",\"deletionTimestamp\":\"2026-11-21T10:00:00Z\"", "", "Pending",
		"" },
	{ "completed_job_is_left_alone", "", "", "Completed", "" },
	{ "failed_job_is_left_alone", "", "", "Failed", "" },
	{ "phase_alone_ends_no_job", "", "", "Completed\",\"message\":\"",
		"patch podgroups/status ns/j (Admitted=True/Admitted position=0)" },
	{ "completed_before_suspended", "", ",\"suspend\":true", "Completed", "" },
	{ "invalid_job_without_pods_waits_for_nothing", "", "", INVALID("0"),
		"patch podgroups/status ns/j (Admitted=False/JobInvalid position=0)" },
	{ "invalid_job_with_pods_keeps_its_place", "", "", INVALID("1"),
		"patch podgroups/status ns/j (Admitted=True/Admitted position=0)" },
};

static void owner_decides_whether_a_group_waits(void **state)
{
	for (size_t i = 0; i < KAR_LEN(owners); i++) {
		const char *got;

		assert_int_equal(teardown(state), 0); /* a world of its own for each row */
		setup(state);
		put_queue("default", "");
		put_named_job("j", owners[i].meta, owners[i].spec, owners[i].phase);
		put_group_of_job("j", "");
		got = sync_text(true);
		if (strcmp(got, owners[i].plan) != 0)
			fail_msg("%s: want '%s', got '%s'", owners[i].name, owners[i].plan, got);
	}
}

static void group_whose_job_is_gone_is_left_alone(void **state)
{
	(void)state;
	put_queue("default", "");
	put_group_of_job("j", "");
	assert_string_equal(sync_text(true), "");
}

static void resumed_job_is_admitted_again(void **state)
{
	(void)state;
	put_queue("default", "");
	put_named_job("j", "", "", "Suspended");
	put_group_of_job("j", ADMITTED("False", "Suspended", "the job is suspended"));
	assert_string_equal(sync_text(true),
		"patch podgroups/status ns/j (Admitted=True/Admitted position=0)");
}

/* What the next pass has to know of a wait is the state of the placement, and never its reason. */
static const struct {
	const char *name, *spec, *status, *placement, *waited;
} suspensions[] = {
	{ "suspended_before_it_was_placed", ",\"suspend\":true", "",
		"\"placement\":{\"state\":\"Suspended\",\"attempt\":null,", "\"waitedSeconds\":" },
	{ "suspended_while_it_ran", ",\"suspend\":true",
		"\"position\":0,\"placement\":{\"state\":\"Satisfied\",\"attempt\":2,\"failures\":1,\"time\":\"2026-11-21T13:46:20Z\"}," ADMITTED(
			"True", "Admitted", "admitted by queue default"),
		"\"placement\":{\"state\":\"Suspended\",\"attempt\":2,\"failures\":1,",
		"\"waitedSeconds\":null" },
	{ "resumed_and_the_time_does_not_count", "",
		"\"position\":0,\"placement\":{\"state\":\"Suspended\",\"attempt\":2,\"failures\":1}," ADMITTED(
			"False", "Suspended", "the job is suspended"),
		"\"placement\":{\"state\":null,\"attempt\":2,\"failures\":1,",
		"\"waitingSince\":\"2026-11-21T13:46:27Z\",\"waitedSeconds\":null" },
	{ "resumed_and_the_reason_is_another", "",
		"\"position\":0,\"placement\":{\"state\":\"Suspended\",\"attempt\":2,\"failures\":1}," ADMITTED(
			"False", "Whatever", "somebody has edited it"),
		"\"placement\":{\"state\":null,\"attempt\":2,\"failures\":1,",
		"\"waitingSince\":\"2026-11-21T13:46:27Z\",\"waitedSeconds\":null" },
};

static void suspension_is_a_state_of_the_placement(void **state)
{
	for (size_t i = 0; i < KAR_LEN(suspensions); i++) {
		struct kar_buf body = { 0 };
		struct kar_err err = { 0 };

		assert_int_equal(teardown(state), 0);
		setup(state);
		put_full_queue();
		put_named_job("j", "", suspensions[i].spec, "Pending");
		put_group_of_job("j", suspensions[i].status);
		sync_text(true);
		assert_true(w.sync.plan.n_actions > 0);
		assert_int_equal(w.controller.encode(&w.sync, &w.sync.plan.actions[0], &body, &err), 0);
		if (!strstr(kar_buf_cstr(&body), suspensions[i].placement) ||
			!strstr(kar_buf_cstr(&body), suspensions[i].waited))
			fail_msg("%s: want '%s' and '%s' in %s", suspensions[i].name,
				suspensions[i].placement, suspensions[i].waited, kar_buf_cstr(&body));
		kar_buf_release(&body);
	}
}

#define BAD_POSITION "\"position\":\"first\""

/* It keeps the place that it has, is given none, and is not written to. */
static void unreadable_groups_keep_what_they_have(void **state)
{
	(void)state;
	put_queue("default", "\"maxJobs\":2");
	put_unreadable(w.stores.podgroups, "a", "uid-a", "",
		",\"spec\":{},\"status\":{" BAD_POSITION
		"," ADMITTED("True", "Admitted", "admitted by queue default") "}");
	put_named(w.stores.pods, "p", ",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"a\"}", "");
	put_unreadable(w.stores.podgroups, "b", "uid-b", "", ",\"spec\":{},\"status\":{" BAD_POSITION "}");
	put_group("c", "", "");
	put_group("d", "", "");
	assert_string_equal(sync_text(true),
		"patch podgroups/status ns/c (Admitted=True/Admitted position=0); "
		"patch podgroups/status ns/d (Admitted=False/MaxJobsReached position=1)");
}

/* It might be closed. */
static void unreadable_queue_admits_nothing(void **state)
{
	(void)state;
	put_unreadable(w.stores.queues, "default", "uid-default", "", ",\"spec\":{\"state\":5}");
	put_group("a", "\"priority\":7", "");
	put_group("b", "", ADMITTED("True", "Admitted", "admitted by queue default"));
	put_named(w.stores.pods, "p", ",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"b\"}", "");
	assert_string_equal(sync_text(false),
		"patch podgroups/status ns/a (Admitted=False/QueueInvalid position=0)");
	check_says(&w.sync.plan.actions[0],
		"queue default is invalid: it has a field that kar-controllers cannot read");
	check_says(&w.sync.plan.actions[0], "priority 7 counts as 0");
}

static void own_writes_are_awaited(void **state)
{
	(void)state;
	put_queue("default", "");
	put_group("g", "", "");
	kar_barrier_wrote(w.controller.barrier, "all", &kar_podgroup_type, w.rv + 1);
	assert_string_equal(sync_text(false), "not yet: requeue 0s");
	put_group("g", "", ADMITTED("True", "Admitted", ""));
	assert_string_equal(sync_text(true), "");
}

static void edits_of_metadata_cause_no_pass(void **state)
{
	(void)state;
	put_group("g", "\"minMember\":1", "");
	assert_string_equal(take(), "all");
	take_all();
	put_named(w.stores.podgroups, "g", ",\"annotations\":{\"a\":\"b\"}",
		",\"spec\":{\"minMember\":1},\"status\":{}");
	assert_string_equal(take(), "");
	put_group("g", "\"minMember\":1", "\"members\":1");
	assert_string_equal(take(), "counts");
}

static void stale_patch_is_not_sent(void **state)
{
	(void)state;
	put_queue("default", "");
	put_group("g", "", "");
	sync_text(false);
	assert_true(w.controller.still_wanted(&w.sync, &w.sync.plan.actions[0]));
	assert_true(w.controller.still_wanted(&w.sync, &w.sync.plan.actions[1]));
	put_group("g", "", "\"phase\":\"Pending\"");
	assert_false(w.controller.still_wanted(&w.sync, &w.sync.plan.actions[0]));
	assert_true(w.controller.still_wanted(&w.sync, &w.sync.plan.actions[1]));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* --- places ---------------------------------------------------------------------------------------- */

/* A job of one pod that asks for 600 of the 1000 cpus of node n1, and its group. */
static void put_gang(const char *name, const char *status)
{
	put_named(w.stores.queuejobs, name, "",
		",\"spec\":{\"taskSpecs\":[{\"name\":\"t\",\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"600\"}}}]}}}]},"
		"\"status\":{\"phase\":\"Pending\"}");
	put_group_of_job(name, status);
}

#define FAILED(times) \
	"\"phase\":\"Pending\",\"placement\":{\"state\":\"Waiting\",\"attempt\":" times \
	",\"failures\":" times ",\"cause\":\"x\"}"

static void nodes_are_named_until_two_attempts_have_failed(void **state)
{
	static const struct {
		const char *status, *nodes;
	} gangs[] = {
		{ "\"phase\":\"Pending\"", "\"nodes\":\"n1\"" },
		{ FAILED("1"), "\"nodes\":\"n1\"" },
		{ FAILED("2"), "\"nodes\":\"*1\"" },
	};

	for (size_t i = 0; i < KAR_LEN(gangs); i++) {
		assert_int_equal(teardown(state), 0); /* a world of its own for each row */
		setup(state);
		put_queue("default", "");
		put_gang("g", gangs[i].status);
		assert_string_equal(sync_text(true),
			"patch podgroups/status ns/g (Admitted=True/Admitted position=0 placed)");
		check_says(&w.sync.plan.actions[0], gangs[i].nodes);
	}
}

/* The API server has said @why_not; NULL: it has PodGroups of its own. */
static void ask_for_native(const char *why_not)
{
	static const char *const versions[] = { "v1beta1" };

	settings.gang_backend = KAR_GANGS_BY_NATIVE;
	settings.native = (struct kar_native){ .known = true };
	if (why_not)
		snprintf(settings.native.why_not, sizeof(settings.native.why_not), "%s", why_not);
	else
		settings.native.type = kar_native_type(versions, 1);
}

static void kube_scheduler_chooses_the_nodes(void **state)
{
	(void)state;
	put_queue("default", "");
	put_gang("g", "\"phase\":\"Pending\"");
	ask_for_native(NULL);
	assert_string_equal(sync_text(true),
		"patch podgroups/status ns/g (Admitted=True/Admitted position=0 placed)");
	check_says(&w.sync.plan.actions[0], "\"nodes\":\"*1\"");
	check_says(&w.sync.plan.actions[0], "\"backend\":\"Native\"");
}

static void missing_backend_is_looked_for_again(void **state)
{
	(void)state;
	put_queue("default", "");
	put_gang("g", "\"phase\":\"Pending\"");
	ask_for_native("it is off");
	assert_true(sync_named("all"));
	check_says(&w.sync.plan.actions[0], "\"reason\":\"BackendUnavailable\"");
	check_says(&w.sync.plan.actions[0], "backend Native was asked for: it is off");
	assert_int_equal(w.sync.plan.requeue_after, 30 * KAR_SECOND);
}

static void nothing_is_placed_before_the_backends_are_known(void **state)
{
	(void)state;
	put_queue("default", "");
	put_gang("g", "\"phase\":\"Pending\"");
	settings.gang_backend = KAR_GANGS_BY_EITHER;
	assert_false(sync_named("all"));
	assert_int_equal(w.sync.plan.requeue_after, 50);
}

/* Whoever may write statuses could block the nodes for all with an admission that the queue has not given. */
static void admission_without_places_is_not_believed(void **state)
{
	(void)state;
	put_queue("default", "");
	put_gang("g", "\"phase\":\"Pending\",\"position\":0," ADMITTED("True", "Mine", "") BY("default"));
	assert_string_equal(sync_text(true),
		"patch podgroups/status ns/g (Admitted=True/Admitted position=0 placed)");
}

static void plan_without_nodes_holds_its_room(void **state)
{
	(void)state;
	put_queue("default", "");
	put_gang("a",
		"\"phase\":\"Pending\",\"position\":0,\"placement\":{\"state\":\"Placed\",\"attempt\":3,\"plan\":[{\"role\":\"t\",\"nodes\":\"*1\"}]}," ADMITTED(
			"True", "Admitted", "admitted by queue default") BY("default"));
	put_gang("b", "\"phase\":\"Pending\"");
	assert_string_equal(sync_text(true),
		"patch podgroups/status ns/b (Admitted=False/InsufficientCapacity position=1)");
}

/* What others use may be less then. */
static void pass_is_repeated_while_somebody_waits_for_room(void **state)
{
	(void)state;
	put_queue("default", "");
	put_gang("a", "\"phase\":\"Pending\"");
	put_gang("b", "\"phase\":\"Pending\"");
	assert_true(sync_named("all"));
	assert_int_equal(w.sync.plan.requeue_after, 5 * KAR_SECOND);
}

/* On a node that is lost, for example: the job cannot make a pod of the same name, so no room is kept for it. */
static void job_whose_pods_should_be_gone_gets_no_room(void **state)
{
	static const char member[] =
		",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"g\"},\"ownerReferences\":[{\"apiVersion\":\"kube-arbitrator.io/v1alpha1\","
		"\"kind\":\"QueueJob\",\"name\":\"g\",\"uid\":\"uid-g\",\"controller\":true}],\"deletionTimestamp\":\"2026-11-21T13:46:%s\"";
	static const struct {
		const char *since;
		bool admitted;
	} times[] = { { "17Z", false }, { "18Z", true } };

	for (size_t i = 0; i < KAR_LEN(times); i++) {
		char meta[512];

		assert_int_equal(teardown(state), 0);
		setup(state);
		put_queue("default", "");
		put_gang("g", "\"phase\":\"Pending\"");
		snprintf(meta, sizeof(meta), member, times[i].since);
		put_named(w.stores.pods, "g-t-0", meta,
			",\"spec\":{\"nodeName\":\"n1\"},\"status\":{\"phase\":\"Running\"}");
		assert_true(sync_named("all"));
		if (times[i].admitted) {
			check_says(&w.sync.plan.actions[0], "\"reason\":\"Admitted\"");
			continue;
		}
		check_says(&w.sync.plan.actions[0], "\"reason\":\"WaitingForTermination\"");
		check_says(&w.sync.plan.actions[0],
			"pod g-t-0 on node n1 should be gone, and is not (node lost?): restore the node, or delete the pod by force");
		drain();
		kar_store_delete(w.stores.pods, "ns", "g-t-0", "uid-g-t-0", ++w.rv);
		assert_string_equal(kar_workqueue_take(w.controller.queue, w.mono), "all");
		kar_workqueue_done(w.controller.queue, "all");
	}
}

/* A pod that names the group of a suspended job and is not the job's: nobody stops it. */
static void pods_that_run_on_do_not_leave(void **state)
{
	(void)state;
	put_queue("default", "");
	put_named(w.stores.queuejobs, "s", "",
		",\"spec\":{\"suspend\":true,\"taskSpecs\":[]},\"status\":{\"phase\":\"Suspended\"}");
	put_group_of_job("s", "\"phase\":\"Pending\"");
	put_named(w.stores.pods, "s-t-0", ",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"s\"}",
		",\"spec\":{\"nodeName\":\"n1\",\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"600\"}}}]},\"status\":{\"phase\":\"Running\"}");
	put_gang("g", "\"phase\":\"Pending\"");
	assert_true(sync_named("all"));
	check_says(&w.sync.plan.actions[0], "taken by pods of no queue: 600 cpu");
}

static void edit_of_a_job_begins_a_pass(void **state)
{
	(void)state;
	put_gang("g", "\"phase\":\"Pending\"");
	drain();
	put_named(w.stores.queuejobs, "g", ",\"generation\":2",
		",\"spec\":{\"taskSpecs\":[]},\"status\":{\"phase\":\"Pending\"}");
	assert_string_equal(kar_workqueue_take(w.controller.queue, w.mono), "all");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(default_queue_is_made_for_who_waits_for_it),
		TEST(default_queue_is_created_once),
		TEST(manager_of_one_namespace_writes_no_queue),
		TEST(group_is_admitted_with_preconditions),
		TEST(pass_that_does_not_settle_is_counted),
		TEST(the_wait_of_an_admitted_group_is_measured),
		TEST(admitted_group_is_not_written_again),
		TEST(group_keeps_a_flavor_that_no_queue_names_any_more),
		TEST(contradictory_condition_is_mended),
		TEST(most_urgent_group_is_written_first),
		TEST(first_status_of_a_group_is_pending),
		TEST(priority_is_resolved_from_classes),
		TEST(queue_policy_is_enforced),
		TEST(group_that_nobody_places_waits_no_more),
		TEST(group_that_moves_is_admitted_from_now_on),
		TEST(empty_group_waits_anew),
		TEST(pass_comes_when_an_empty_group_has_had_its_time),
		TEST(empty_group_of_a_job_keeps_its_place),
		TEST(group_that_only_points_to_a_job_speaks_for_itself),
		TEST(group_whose_queue_does_not_exist_costs_one_write),
		TEST(owner_decides_whether_a_group_waits),
		TEST(group_whose_job_is_gone_is_left_alone),
		TEST(resumed_job_is_admitted_again),
		TEST(suspension_is_a_state_of_the_placement),
		TEST(unreadable_groups_keep_what_they_have),
		TEST(unreadable_queue_admits_nothing),
		TEST(own_writes_are_awaited),
		TEST(edits_of_metadata_cause_no_pass),
		TEST(stale_patch_is_not_sent),
		TEST(nodes_are_named_until_two_attempts_have_failed),
		TEST(kube_scheduler_chooses_the_nodes),
		TEST(missing_backend_is_looked_for_again),
		TEST(nothing_is_placed_before_the_backends_are_known),
		TEST(admission_without_places_is_not_believed),
		TEST(plan_without_nodes_holds_its_room),
		TEST(pass_is_repeated_while_somebody_waits_for_room),
		TEST(pods_that_run_on_do_not_leave),
		TEST(edit_of_a_job_begins_a_pass),
		TEST(job_whose_pods_should_be_gone_gets_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
