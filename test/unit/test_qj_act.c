/* Commands of the kubectl plug-in that change a job, and what of the command line is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/fixture/qj_script.h"

#define JOB "/apis/kube-arbitrator.io/v1alpha1/namespaces/default/queuejobs/j"
#define GET "get " JOB
#define PATCH "patch " JOB "?fieldManager=kubectl-qj&fieldValidation=Strict"
#define READ(generation) \
	"{'metadata':{'name':'j','generation':" generation \
	"},'spec':{'taskSpecs':[{'replicas':1},{'name':'w','replicas':1}]}}"
#define CHANGED "the server rejected our request"
#define PERHAPS "; it may have been done all the same: look before you repeat it\n"

#define BATCH(where) "list /apis/batch/v1/" where "jobs?labelSelector=kube-arbitrator.io%2Fqueue&limit=500"
#define BATCH_JOB(name, annotations, suspend) \
	"{'metadata':{'namespace':'team','name':'" name "','annotations':{" annotations \
	"}},'spec':{'suspend':" suspend "}}"
#define BY_QUEUE "'kube-arbitrator.io/suspended-by':'queue'"

static int report(struct qj *q)
{
	qj_report_suspended_jobs(q);
	return 0;
}

static const struct qj_row removals[] = {
	{ "batch Jobs that the queue has suspended, and others", "release-gates", report,
		.steps = { { BATCH(""),
			"{'items':[" BATCH_JOB("user", "", "true") "," BATCH_JOB("train", BY_QUEUE,
				"true") "," BATCH_JOB("runs", BY_QUEUE, "false") "," BATCH_JOB("more",
				BY_QUEUE, "true") "]}" } },
		.out = "Batch Jobs that stay suspended without the manager: 2; this resumes one: kubectl patch job train -n team --type=merge -p '{\"spec\":{\"suspend\":false}}'\n" },
	{ "none of one namespace", "release-gates -n team", report,
		.steps = { { BATCH("namespaces/team/"), "{'items':[" BATCH_JOB("user", "", "true") "]}" } } },
	{ "batch Jobs that may not be listed", "release-gates", report,
		.steps = { { BATCH(""), "cannot list jobs", KAR_DENIED } },
		.out = "Batch Jobs that wait in a queue stay suspended; these cannot be listed: cannot list jobs\n" },
};

static const struct qj_row rows[] = {
	{ "scale of a task without a name", "scale j 3 --task task0", qj_cmd_scale,
		.steps = { { GET, READ("7") }, { PATCH, "{}" } },
		.out = "queuejob.kube-arbitrator.io/j scaled\n" },
	{ "scale of a task that there is not", "scale j 3 --task task1", qj_cmd_scale,
		.steps = { { GET, READ("7") } },
		.err = "error: no task task1: name one of its tasks with --task: task0 w\n", .status = 1 },
	{ "scale while somebody else edits", "scale j 3 --task w", qj_cmd_scale,
		.steps = { { GET, READ("7") }, { PATCH, CHANGED, KAR_INVALID }, { GET, READ("8") },
			{ PATCH, "conflict", KAR_CONFLICT }, { GET, READ("8") }, { PATCH, "{}" } },
		.out = "queuejob.kube-arbitrator.io/j scaled\n" },
	{ "scale that is refused", "scale j 3 --task w", qj_cmd_scale,
		.steps = { { GET, READ("7") }, { PATCH, "too many", KAR_INVALID }, { GET, READ("7") } },
		.err = "error: too many\n", .status = 1 },
	{ "restart while somebody else edits all the time", "restart j", qj_cmd_restart,
		.steps = { { GET, READ("1") }, { PATCH, CHANGED, KAR_INVALID }, { GET, READ("2") },
			{ PATCH, CHANGED, KAR_INVALID }, { GET, READ("3") }, { PATCH, CHANGED, KAR_INVALID },
			{ GET, READ("4") }, { PATCH, CHANGED, KAR_INVALID } },
		.err = "error: " CHANGED "\n", .status = 1 },
	{ "restart whose answer is lost", "restart j", qj_cmd_restart,
		.steps = { { GET, READ("1") }, { PATCH, "empty reply", KAR_UNKNOWN } },
		.err = "error: empty reply" PERHAPS, .status = 1 },
	{ "names as list prints them", "suspend queuejob.kube-arbitrator.io/j", qj_cmd_suspend,
		.steps = { { PATCH, "{}" } }, .out = "queuejob.kube-arbitrator.io/j suspended\n" },
	{ "namespace behind an equals sign", "cancel -n=team qj/j", qj_cmd_cancel,
		.steps = { { "delete /apis/kube-arbitrator.io/v1alpha1/namespaces/team/queuejobs/j", "{}" } },
		.out = "queuejob.kube-arbitrator.io/j deleted\n" },
	{ "empty namespace", "suspend -n  j", qj_cmd_suspend, .steps = { { PATCH, "{}" } },
		.out = "queuejob.kube-arbitrator.io/j suspended\n" },
	{ "empty name", "cancel ", qj_cmd_cancel, .err = "a name is empty; usage: kubectl qj cancel JOB\n",
		.status = -1 },
	{ "empty name of a kind", "cancel qj/", qj_cmd_cancel,
		.err = "a name is empty; usage: kubectl qj cancel JOB\n", .status = -1 },
	{ "another kind", "cancel pod/j", qj_cmd_cancel,
		.err = "pod/j is no name; usage: kubectl qj cancel JOB\n", .status = -1 },
	{ "empty queue", "move j ", qj_cmd_move, .err = "a name is empty; usage: kubectl qj move JOB QUEUE\n",
		.status = -1 },
	{ "flag of another command", "restart j --task w", qj_cmd_restart,
		.err = "restart has no flag --task; see kubectl qj restart --help\n", .status = -1 },
	{ "all namespaces", "suspend j -A", qj_cmd_suspend,
		.err = "suspend has no flag --all-namespaces; see kubectl qj suspend --help\n",
		.status = -1 },
	{ "output of a command that has one", "why j -o json", qj_cmd_why,
		.err = "why has no flag --output; see kubectl qj why --help\n", .status = -1 },
	{ "groups of nobody", "list --as-group g", qj_cmd_list, .err = "--as-group needs --as\n",
		.status = -1 },
	{ "server that asks for minutes", "suspend j", qj_cmd_suspend,
		.steps = { { PATCH, "busy", KAR_RETRY, .retry_after = 600000 } }, .err = "error: busy\n",
		.status = 1 },
	{ "letter that is none, in a group", "list -Ay", qj_cmd_list,
		.err = "unknown flag: -y; see kubectl qj --help\n", .status = -1 },
	{ "word that is none", "list --nope", qj_cmd_list,
		.err = "unknown flag: --nope; see kubectl qj --help\n", .status = -1 },
	{ "list of one", "list j", qj_cmd_list, .err = "error: usage: kubectl qj list\n", .status = 1 },
};

static void run_rows(const struct qj_row *all, size_t n)
{
	int failed = 0;

	for (size_t i = 0; i < n; i++) {
		char *wrong = qj_script_run(&all[i]);

		if (wrong)
			print_error("%s: %s\n", all[i].name, wrong);
		failed += wrong != NULL;
		free(wrong);
	}
	assert_int_equal(failed, 0);
}

static void rows_of_commands(void **state KAR_UNUSED)
{
	run_rows(rows, KAR_LEN(rows));
}

static void jobs_that_stay_suspended_are_named(void **state KAR_UNUSED)
{
	run_rows(removals, KAR_LEN(removals));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_commands),
		cmocka_unit_test(jobs_that_stay_suspended_are_named),
	};

	return cmocka_run_group_tests_name("qj_act", tests, NULL, NULL);
}
