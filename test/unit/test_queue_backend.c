/* What starts the gang of a workload whole: the choice for its next attempt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/podgroup/native_group.h"
#include "controllers/cluster/owner.h"
#include "controllers/queue/backend.h"
#include "test/fixture/projection.h"

#define TASK(name, class) \
	"{\"name\":\"" name "\",\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\"}]" class "}}}"
#define HIGH ",\"priorityClassName\":\"high\""
#define LOW ",\"priorityClassName\":\"low\""
#define ONE JOB("\"taskSpecs\":[" TASK("a", "") "," TASK("b", "") "]")
#define TWO JOB("\"taskSpecs\":[" TASK("a", HIGH) "," TASK("b", LOW) "]")
#define WITH(spec) JOB("\"schedSpec\":{" spec "},\"taskSpecs\":[" TASK("a", "") "," TASK("b", "") "]")
#define OTHERS "its PodGroups need pods of one priority, and tasks a and b have other PriorityClasses"

static const struct {
	const char *name, *job;
	enum kar_gang_backend asked;
	bool has; /* the cluster has PodGroups of its own */
	enum kar_pg_backend recorded;
	bool has_pods;
	const char *want;
	struct kar_topology_ask ask;
} rows[] = {
	{ "gates_by_default", ONE, KAR_GANGS_BY_GATES, false, 0, false, "Gates" },
	{ "gates_although_there_is_another", ONE, KAR_GANGS_BY_GATES, true, 0, false, "Gates" },
	{ "native_where_it_is", ONE, KAR_GANGS_BY_NATIVE, true, 0, false, "Native" },
	{ "nothing_weaker_where_it_is_not", ONE, KAR_GANGS_BY_NATIVE, false, 0, false, "Native: not there" },
	{ "auto_takes_what_is_there", ONE, KAR_GANGS_BY_EITHER, true, 0, false, "Native" },
	{ "and_gates_where_nothing_is", ONE, KAR_GANGS_BY_EITHER, false, 0, false, "Gates" },
	{ "two_priorities", TWO, KAR_GANGS_BY_NATIVE, true, 0, false, "Native: " OTHERS },
	{ "two_priorities_by_gates", TWO, KAR_GANGS_BY_EITHER, true, 0, false, "Gates" },
	{ "class_of_the_job_is_that_of_both",
		JOB("\"schedSpec\":{\"priorityClassName\":\"high\"},\"taskSpecs\":[" TASK("a",
			HIGH) "," TASK("b", "") "]"),
		KAR_GANGS_BY_NATIVE, true, 0, false, "Native" },
	{ "more_than_a_minimum_is_asked_for", WITH("\"mode\":\"NonStrict\""), KAR_GANGS_BY_NATIVE, true, 0,
		false,
		"Native: its PodGroups know neither spec.schedSpec.gangGroups nor the mode NonStrict" },
	{ "gates_know_gang_groups", WITH("\"gangGroups\":[\"ns/x\"]"), KAR_GANGS_BY_EITHER, true, 0, false,
		"Gates" },
	{ "pods_that_live_keep_theirs", ONE, KAR_GANGS_BY_GATES, true, KAR_PG_BACKEND_NATIVE, true,
		"Native" },
	{ "pods_of_an_older_version_have_none", ONE, KAR_GANGS_BY_NATIVE, true, KAR_PG_BACKEND_NONE, true,
		"Gates" },
	{ "without_pods_the_record_does_not_matter", ONE, KAR_GANGS_BY_GATES, true, KAR_PG_BACKEND_NATIVE,
		false, "Gates" },
	{ "native_knows_no_topology", ONE, KAR_GANGS_BY_NATIVE, true, 0, false,
		"Native: it does not place jobs by a topology", { .preferred = "rack" } },
	{ "gates_place_by_topologies", ONE, KAR_GANGS_BY_EITHER, true, 0, false, "Gates",
		{ .required = "rack" } },
};

static int32_t no_class(const void *arg KAR_UNUSED, const char *name KAR_UNUSED)
{
	return 0;
}

static void chooses_for_the_next_attempt(void **state KAR_UNUSED)
{
	static const char *const versions[] = { "v1beta1" };

	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		const struct kar_queuejob *job = job_of(rows[i].job);
		const struct kar_settings s = { .gang_backend = rows[i].asked,
			.native = { .known = true,
				.type = rows[i].has ? kar_native_type(versions, 1) : NULL,
				.why_not = "not there" } };
		const struct kar_podgroup g = { .status = { .backend = rows[i].recorded } };
		struct kar_arena arena = { 0 };
		const struct kar_workload w = kar_owner_describe(&job->o);
		const struct kar_roles_input in = { .class_value = no_class, .arena = &arena };
		struct kar_roles roles;
		struct queue_backend b;
		const char *got;

		kar_queuejob_workload.roles(&job->o, &in, &roles);
		b = queue_choose_backend(&s, &g, &rows[i].ask, &w, &roles, rows[i].has_pods, &arena);
		got = kar_arena_printf(&arena, "%s%s%s", kar_pg_backend_name(b.backend),
			b.unavailable ? ": " : "", b.unavailable ? b.unavailable : "");

		if (strcmp(got, rows[i].want))
			fail_msg("%s: got \"%s\", want \"%s\"", rows[i].name, got, rows[i].want);
		kar_arena_release(&arena);
		kar_object_unref(&job->o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(chooses_for_the_next_attempt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
