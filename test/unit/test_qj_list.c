/* list of the kubectl plug-in with -w: first all jobs, then a row for each change that can be seen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/fixture/qj_script.h"

#define JOBS "/apis/kube-arbitrator.io/v1alpha1/namespaces/default/queuejobs"
#define LIST "list " JOBS "?limit=500"
#define FOLLOW(rv) "watch " JOBS "?watch=true&resourceVersion=" rv
#define SOME "&labelSelector=a%3Db&fieldSelector=status.phase%3DPending"
/* Made in the future: its age is 0s whenever it is shown. */
#define JOB(name, rv, status) \
	"{'metadata':{'name':'" name "','namespace':'default','uid':'" name "','resourceVersion':'" rv \
	"','creationTimestamp':'2099-01-01T00:00:00Z'},'spec':{'taskSpecs':[{'name':'worker','replicas':2}]},'status':{" status \
	"}}"
#define PAGE(rv, jobs) "{'metadata':{'resourceVersion':'" rv "'},'items':[" jobs "]}"
#define EVENT(type, job) "{'type':'" type "','object':" job "}\n"
#define WAITS "'phase':'Pending','reason':'NoFit','position':1,'desired':2"
#define RUNS "'phase':'Running','running':2,'desired':2"
#define HEAD "NAME\tPHASE\tQUEUE\tPOS\tPODS\tREASON\tAGE\tMESSAGE\n"
#define ROW_WAITS "a\tPending\tdefault\t1\t0/2\tNoFit\t0s\t-\n"
#define ROW_RUNS "a\tRunning\tdefault\t-\t2/2\t-\t0s\t-\n"
#define OVER \
	{ \
		FOLLOW("9"), "no more", KAR_DENIED \
	} /* how a watch without an end is ended here */
#define ERR_OVER .err = "Error from server (Forbidden): no more\n", .status = 1

static const struct qj_row watches[] = {
	{ "a change that can be seen", "list -w", qj_cmd_list,
		.steps = { { LIST, PAGE("5", JOB("a", "4", WAITS)) },
			{ FOLLOW("5"), EVENT("MODIFIED", JOB("a", "9", RUNS)) }, OVER },
		.out = HEAD ROW_WAITS ROW_RUNS, ERR_OVER },
	{ "one that cannot, and a bookmark", "list --watch", qj_cmd_list,
		.steps = { { LIST, PAGE("5", JOB("a", "4", WAITS)) },
			{ FOLLOW("5"),
				EVENT("MODIFIED", JOB("a", "6", WAITS)) EVENT("BOOKMARK", JOB("", "9", "")) },
			OVER },
		.out = HEAD ROW_WAITS, ERR_OVER },
	{ "no job at first", "list -w", qj_cmd_list,
		.steps = { { LIST, PAGE("5", "") }, { FOLLOW("5"), EVENT("ADDED", JOB("a", "9", WAITS)) },
			OVER },
		.out = HEAD ROW_WAITS, ERR_OVER },
	{ "deleted, and made again", "list -w", qj_cmd_list,
		.steps = { { LIST, PAGE("5", JOB("a", "4", RUNS)) },
			{ FOLLOW("5"),
				EVENT("DELETED", JOB("a", "8", RUNS)) EVENT("ADDED", JOB("a", "9", RUNS)) },
			OVER },
		.out = HEAD ROW_RUNS "a\tGone\tdefault\t-\t2/2\t-\t0s\t-\n" ROW_RUNS, ERR_OVER },
	{ "the jobs that are selected", "list -w -l a=b --field-selector=status.phase=Pending", qj_cmd_list,
		.steps = { { "list " JOBS
			     "?labelSelector=a%3Db&fieldSelector=status.phase%3DPending&limit=500",
				   PAGE("9", "") },
			{ FOLLOW("9") SOME, "no more", KAR_DENIED } },
		.out = "", ERR_OVER },
	{ "a version that is too old: listed again, and only news are shown", "list -w", qj_cmd_list,
		.steps = { { LIST, PAGE("5", JOB("a", "4", WAITS) "," JOB("b", "4", RUNS)) },
			{ FOLLOW("5"), "{'type':'ERROR','object':{'code':410}}\n" },
			{ LIST, PAGE("9", JOB("a", "8", RUNS) "," JOB("b", "8", RUNS)) }, OVER },
		.out = HEAD ROW_WAITS "b\tRunning\tdefault\t-\t2/2\t-\t0s\t-\n" ROW_RUNS, ERR_OVER },
	{ "a watch that ends is begun where it was", "list -w", qj_cmd_list,
		.steps = { { LIST, PAGE("5", JOB("a", "4", WAITS)) },
			{ FOLLOW("5"), EVENT("MODIFIED", JOB("a", "7", RUNS)) }, { FOLLOW("7"), "" },
			{ FOLLOW("7"), "no more", KAR_DENIED } },
		.out = HEAD ROW_WAITS ROW_RUNS, ERR_OVER },
	{ "columns only", "list -w -o json", qj_cmd_list,
		.err = "error: --watch prints columns: want --output wide, or none\n", .status = 1 },
	{ "he may not list", "list -w", qj_cmd_list, .steps = { { LIST, "no", KAR_DENIED } },
		.err = "Error from server (Forbidden): no\n", .status = 1 },
};

static void changes_are_shown_once(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(watches); i++) {
		char *wrong = qj_script_run(&watches[i]);

		if (wrong)
			fail_msg("%s: %s", watches[i].name, wrong);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes_are_shown_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
