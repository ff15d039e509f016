/* The manager and one large job, in a simulated cluster: how often its keys are looked at while its pods start and end one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/log.h"
#include "sim/crds.h"
#include "sim/scenario/run.h"

#define SCENARIO \
	"apiVersion: kube-arbitrator.io/v1alpha1\nkind: Scenario\n" \
	"nodes: [{name: n, count: 10, capacity: {cpu: 200, pods: 200}}]\n"

enum { LOOKS_MAX = 1000 };

struct looks {
	int queuejob, podgroup; /* syncs of these controllers */
};

static void count_plan(void *arg, const char *line, size_t n)
{
	struct looks *l = arg;

	if (!memmem(line, n, "\"Plan\"", strlen("\"Plan\"")))
		return;
	l->queuejob += memmem(line, n, "=\"queuejob\"", strlen("=\"queuejob\"")) != NULL;
	l->podgroup += memmem(line, n, "=\"podgroup\"", strlen("=\"podgroup\"")) != NULL;
}

static struct looks play(const char *yaml)
{
	const struct sim_run_options o = { .crds = sim_crds_folder() };
	struct sim_causes causes = { 0 };
	struct sim_scenario s;
	struct sim_record r;
	struct kar_err err = { 0 };
	struct looks looks = { 0 };

	if (sim_scenario_parse(yaml, strlen(yaml), NULL, &s, &causes, &err))
		fail_msg("%s", err.msg);
	kar_log_init(KAR_LOG_TEXT, 4);
	kar_log_redirect(count_plan, &looks);
	if (sim_run(&s, &o, &r, &err))
		fail_msg("%s", err.msg);
	kar_log_redirect(NULL, NULL);
	kar_log_init(KAR_LOG_TEXT, 0);
	sim_record_release(&r);
	sim_scenario_release(&s);
	return looks;
}

/* Each of 1500 pods is created, bound, starts and succeeds: 6000 events, at times of their own. */
static void progress_of_a_large_job_is_seen_in_few_looks(void **state)
{
	struct looks l = play(SCENARIO "jobs: [{name: big, duration: 10m, replicas: 1500}]\n");

	(void)state;
	if (l.queuejob > LOOKS_MAX || l.podgroup > LOOKS_MAX)
		fail_msg("%d looks at the job, %d at its group", l.queuejob, l.podgroup);
	assert_true(l.queuejob > 0 && l.podgroup > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(progress_of_a_large_job_is_seen_in_few_looks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
