/* usage of the kubectl plug-in: what statuses say, and what was used since they were written. It is 2026-11-30T12:00:00Z. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/fixture/qj_script.h"

#define QUEUES "list /apis/kube-arbitrator.io/v1alpha1/queues?limit=500"
#define JOBS(where) "list /apis/kube-arbitrator.io/v1alpha1/" where "queuejobs?limit=500"
#define JOB(ns, name, status) \
	"{'metadata':{'namespace':'" ns "','name':'" name "','uid':'" name \
	"'},'spec':{'queue':'q'},'status':{" status "}}"
/* Two hours ago 36,000 core seconds and 1Gi for two hours were used; since then 1.5 cores are. */
#define USED \
	"'usage':{'time':'2026-11-30T10:00:00Z','seconds':{'cpu':'36000','memory':'7200Gi'},'allocated':{'cpu':'1500m'}}"

static const char queues[] =
	"{'items':[{'metadata':{'name':'b'},'status':{}},{'metadata':{'name':'a'},'status':{'allocated':{'nvidia.com/gpu':'4'},"
	"'usage':{'time':'2026-11-30T11:30:00Z','seconds':{'cpu':'3600','nvidia.com/gpu':'7200'}}}}]}";
static const char jobs[] = "{'items':[" JOB("x", "two", "'phase':'Running'," USED) "," JOB("x", "one",
	"'phase':'Completed','usage':{'time':'2026-11-30T10:00:00Z','seconds':{'cpu':'1800'}}") "," JOB("w",
	"new", "") "]}";

static const struct qj_row rows[] = {
	{ "queues", "usage", qj_cmd_usage, .steps = { { QUEUES, queues } },
		.out = "QUEUE\tRESOURCE\tHOURS\tNOW\n"
		       "a\tcpu\t1.0\t0\n"
		       "a\tnvidia.com/gpu\t4.0\t4\n"
		       "b\t-\t-\t-\n" },
	{ "jobs of a namespace", "usage jobs", qj_cmd_usage,
		.steps = { { JOBS("namespaces/default/"), jobs } },
		.out = "JOB\tQUEUE\tPHASE\tRESOURCE\tHOURS\tNOW\n"
		       "new\tq\tPending\t-\t-\t-\n"
		       "one\tq\tCompleted\tcpu\t0.5\t0\n"
		       "two\tq\tRunning\tcpu\t13.0\t1.5\n"
		       "two\tq\tRunning\tmemory\t2Gi\t0\n" },
	{ "jobs of all", "usage jobs -A", qj_cmd_usage,
		.steps = { { JOBS(""), "{'items':[" JOB("x", "two", "'phase':'Running'," USED) "]}" } },
		.out = "NAMESPACE\tJOB\tQUEUE\tPHASE\tRESOURCE\tHOURS\tNOW\n"
		       "x\ttwo\tq\tRunning\tcpu\t13.0\t1.5\n"
		       "x\ttwo\tq\tRunning\tmemory\t2Gi\t0\n" },
	{ "namespaces", "usage namespaces", qj_cmd_usage, .steps = { { JOBS(""), jobs } },
		.out = "NAMESPACE\tRESOURCE\tHOURS\tNOW\n"
		       "w\t-\t-\t-\n"
		       "x\tcpu\t13.5\t1.5\n"
		       "x\tmemory\t2Gi\t0\n" },
	{ "one namespace", "usage namespaces -n x", qj_cmd_usage,
		.steps = { { JOBS("namespaces/x/"), "{'items':[" JOB("x", "two", USED) "]}" } },
		.out = "NAMESPACE\tRESOURCE\tHOURS\tNOW\n"
		       "x\tcpu\t13.0\t1.5\n"
		       "x\tmemory\t2Gi\t0\n" },
	{ "none", "usage jobs", qj_cmd_usage, .steps = { { JOBS("namespaces/default/"), "{'items':[]}" } },
		.err = "No jobs found\n" },
	{ "who may not", "usage", qj_cmd_usage, .steps = { { QUEUES, "no", KAR_DENIED } },
		.err = "Error from server (Forbidden): no\n", .status = 1 },
	{ "of nothing that is known", "usage pods", qj_cmd_usage,
		.err = "error: usage: kubectl qj usage [WHAT]\n", .status = 1 },
};

static void usage_is_that_of_the_status_and_of_the_time_since(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		char *wrong = qj_script_run(&rows[i]);

		if (wrong)
			fail_msg("%s: %s", rows[i].name, wrong);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(
		usage_is_that_of_the_status_and_of_the_time_since) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
