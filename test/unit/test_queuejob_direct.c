/* Jobs whose pods are created bound (api/queuejob/queuejob_direct.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/pod/pod_direct.h"
#include "api/queuejob/queuejob_direct.h"
#include "common/base/str.h"
#include "test/fixture/projection.h"

#define TASK(name, spec) \
	"{\"name\":\"" name "\",\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\"}]" spec "}}}"
#define NAMES(scheduler) ",\"schedulerName\":\"" scheduler "\""
#define OURS NAMES("kar-scheduler")
#define SPREAD \
	",\"topologySpreadConstraints\":[{\"maxSkew\":1,\"minDomains\":2,\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"DoNotSchedule\"}]"
#define DISK ",\"volumes\":[{\"name\":\"v\",\"rbd\":{}}]"

static const struct {
	const char *name, *spec, *served;
	bool direct;
	const char *obstacle;
} jobs[] = {
	{ "nobody_is_named", "\"taskSpecs\":[" TASK("w", "") "]", "kar-scheduler", false, NULL },
	{ "by_the_template", "\"taskSpecs\":[" TASK("w", OURS) "]", "kar-scheduler", true, NULL },
	{ "by_the_job", "\"schedulerName\":\"kar-scheduler\",\"taskSpecs\":[" TASK("w", "") "]",
		"kar-scheduler", true, NULL },
	{ "template_wins",
		"\"schedulerName\":\"kar-scheduler\",\"taskSpecs\":[" TASK("w",
			NAMES("default-scheduler")) "]",
		"kar-scheduler", false, NULL },
	{ "second_of_the_list", "\"taskSpecs\":[" TASK("w", OURS) "]", "a, kar-scheduler", true, NULL },
	{ "longer_name", "\"taskSpecs\":[" TASK("w", OURS) "]", "kar-scheduler-2,x-kar-scheduler", false,
		NULL },
	{ "shorter_name", "\"taskSpecs\":[" TASK("w", OURS) "]", "kar-,kar", false, NULL },
	{ "nobody_is_served", "\"taskSpecs\":[" TASK("w", OURS) "]", "", false, NULL },
	{ "nobody_at_all", "\"taskSpecs\":[" TASK("w", OURS) "]", NULL, false, NULL },
	{ "mixed", "\"taskSpecs\":[" TASK("a", "") "," TASK("w", OURS) "]", "kar-scheduler", true,
		"kar-scheduler places all tasks of a job or none, and task a names default-scheduler: use one scheduler" },
	{ "two_that_are_served", "\"taskSpecs\":[" TASK("a", NAMES("x")) "," TASK("w", OURS) "]",
		"kar-scheduler,x", true,
		"x places all tasks of a job or none, and task w names kar-scheduler: use one scheduler" },
	{ "spread", "\"taskSpecs\":[" TASK("w", OURS SPREAD) "]", "kar-scheduler", true,
		"kar-scheduler does not place topology spread (task w): use default-scheduler" },
	{ "volume", "\"taskSpecs\":[" TASK("a", OURS) "," TASK("w", OURS DISK) "]", "kar-scheduler", true,
		"kar-scheduler does not place volumes (task w): use default-scheduler" },
	{ "spread_of_another_scheduler", "\"taskSpecs\":[" TASK("w", SPREAD) "]", "kar-scheduler", false,
		NULL },
	{ "no_minimum", "\"schedSpec\":{\"minAvailable\":0},\"taskSpecs\":[" TASK("w", OURS) "]",
		"kar-scheduler", true,
		"kar-scheduler does not place a job with minAvailable 0: use default-scheduler" },
};

static void job_is_direct_if_it_names_a_served_scheduler(void **state)
{
	struct kar_arena arena = { 0 };

	(void)state;
	for (size_t i = 0; i < KAR_LEN(jobs); i++) {
		const struct kar_queuejob *job = job_of(kar_arena_printf(&arena, JOB("%s"), jobs[i].spec));
		const char *obstacle = kar_queuejob_direct_obstacle(job, jobs[i].served, &arena);

		if (kar_queuejob_is_direct(job, jobs[i].served) != jobs[i].direct)
			fail_msg("%s: direct %d", jobs[i].name, !jobs[i].direct);
		if (!obstacle != !jobs[i].obstacle || (obstacle && strcmp(obstacle, jobs[i].obstacle) != 0))
			fail_msg("%s: %s", jobs[i].name, obstacle ? obstacle : "no obstacle");
		kar_object_unref(&job->o);
	}
	kar_arena_release(&arena);
}

static const struct {
	const char *name, *reason;
	uint8_t phase;
	uint32_t exits;
	bool disrupted, refused;
} pods[] = {
	{ "no_cpu", "OutOfcpu", KAR_POD_FAILED, 0, false, true },
	{ "no_device", "OutOfnvidia.com/gpu", KAR_POD_FAILED, 0, false, true },
	{ "affinity", "NodeAffinity", KAR_POD_FAILED, 0, false, true },
	{ "ports", "NodePorts", KAR_POD_FAILED, 0, false, true },
	{ "taint", "TaintToleration", KAR_POD_FAILED, 0, false, true },
	{ "admission", "UnexpectedAdmissionError", KAR_POD_FAILED, 0, false, true },
	{ "numa", "TopologyAffinityError", KAR_POD_FAILED, 0, false, true },
	{ "hyperthreads", "SMTAlignmentError", KAR_POD_FAILED, 0, false, true },
	{ "system", "PodOSNotSupported", KAR_POD_FAILED, 0, false, true },
	{ "it_ran", "OutOfcpu", KAR_POD_FAILED, 1, false, false },
	{ "evicted_afterwards", "OutOfcpu", KAR_POD_FAILED, 0, true, true },
	{ "evicted", "Evicted", KAR_POD_FAILED, 0, false, false },
	{ "deadline", "DeadlineExceeded", KAR_POD_FAILED, 0, false, false },
	{ "no_reason", NULL, KAR_POD_FAILED, 0, false, false },
	{ "it_runs", "OutOfcpu", KAR_POD_RUNNING, 0, false, false },
};

static void refusal_is_known_by_its_reason(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(pods); i++) {
		const struct kar_pod_loss loss = { .pod_reason = pods[i].reason, .n_exits = pods[i].exits };
		const struct kar_pod_job job = { .loss = &loss };
		const struct kar_pod pod = { .phase = pods[i].phase,
			.disrupted = pods[i].disrupted,
			.job = &job };

		if (kar_pod_is_refused(&pod) != pods[i].refused)
			fail_msg("%s", pods[i].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(job_is_direct_if_it_names_a_served_scheduler, setup,
			teardown),
		cmocka_unit_test(refusal_is_known_by_its_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
