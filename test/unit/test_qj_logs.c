/* logs of the kubectl plug-in: whose lines, in which order, and what is said of pods that have none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kubectl-qj/logs.h"
#include "test/fixture/qj_script.h"

#define GET "get /apis/kube-arbitrator.io/v1alpha1/namespaces/default/queuejobs/j"
#define PODS "list /api/v1/namespaces/default/pods?labelSelector=kube-arbitrator.io%2Fqueuejob%3Dj"
#define LOG(pod, more) "list /api/v1/namespaces/default/pods/" pod "/log?container=" more
#define JOB(status) "{'metadata':{'name':'j'},'status':{" status "}}"
#define POD(name, containers, phase, states) \
	"{'metadata':{'name':'" name "','uid':'u-" name "'},'spec':{'containers':[" containers \
	"]},'status':{'phase':'" phase "','containerStatuses':[" states "]}}"
#define MAIN "{'name':'main'}"
#define RUNS(restarts) \
	"{'name':'main','restartCount':" restarts ",'state':{'running':{'startedAt':'2026-11-30T11:00:00Z'}}}"
#define ENDED "{'name':'main','restartCount':0,'state':{'terminated':{'exitCode':0}}}"
#define WAITING "{'name':'main','state':{'waiting':{'reason':'ContainerCreating'}}}"
#define THREE \
	"{'items':[" POD("j-worker-10", MAIN, "Running", RUNS("0")) "," POD("j-worker-2", MAIN, "Running", \
		RUNS("0")) "," POD("j-worker-1", MAIN, "Pending", WAITING) "]}"

static const struct qj_row once[] = {
	{ "each line has its pod, and pods their order", "logs j", qj_cmd_logs,
		.steps = { { GET, JOB("") }, { PODS "&limit=500", THREE },
			{ LOG("j-worker-2", "main"), "a\nb" }, { LOG("j-worker-10", "main"), "c\n\nd\n" } },
		.out = "[j-worker-2] a\n[j-worker-2] b\n[j-worker-10] c\n[j-worker-10] \n[j-worker-10] d\n",
		.err = "[j-worker-1] has not started\n" },
	{ "containers, when there are several; of the run before; one refuses",
		"logs j -p --task w --index 3", qj_cmd_logs,
		.steps = { { GET, JOB("") },
			{ PODS "%2Ckube-arbitrator.io%2Ftask%3Dw%2Ckube-arbitrator.io%2Findex%3D3&limit=500",
				"{'items':[" POD("p", MAIN ",{'name':'side'},{'name':'x?y'}", "Running",
					"") "]}" },
			{ LOG("p", "main&previous=true"), "x\n" },
			{ LOG("p", "side&previous=true"), "not found", KAR_NOTFOUND },
			{ LOG("p", "&previous=true"), "" } },
		.out = "[p/main] x\n", .err = "[p/side] error: not found\n", .status = 1 },
	{ "a file gets the bytes", "logs j", qj_cmd_logs,
		.steps = { { GET, JOB("") },
			{ PODS "&limit=500", "{'items':[" POD("p", MAIN, "Running", "") "]}" },
			{ LOG("p", "main"), "\033[31mred\r\n" } },
		.out = "[p] \033[31mred\r\n" },
	{ "a terminal does not", "logs j", qj_cmd_logs, .terminal = true,
		.steps = { { GET, JOB("") },
			{ PODS "&limit=500", "{'items':[" POD("p\\u001b", MAIN, "Running", "") "]}" },
			{ LOG("p%1B", "main"), "\033[31mred \xc2\x9b\x07\n" } },
		.out = "[p ]  [31mred   \n" },
	{ "no pods", "logs j", qj_cmd_logs,
		.steps = { { GET, "{'metadata':{'name':'j'},'status':{'phase':'Pending','message':'1st in\\u001b queue a'}}" },
			{ PODS "&limit=500", "{'items':[]}" } },
		.err = "error: j has no such pods: it is Pending, 1st in  queue a\n", .status = 1 },
	{ "no such job", "logs j", qj_cmd_logs, .steps = { { GET, "queuejobs j not found", KAR_NOTFOUND } },
		.err = "Error from server (NotFound): queuejobs j not found\n", .status = 1 },
	{ "both", "logs j -f -p", qj_cmd_logs,
		.err = "error: --follow and --previous contradict each other\n", .status = 1 },
	{ "no name", "logs", qj_cmd_logs, .err = "error: usage: kubectl qj logs JOB\n", .status = 1 },
};

static void run_rows(const struct qj_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char *wrong = qj_script_run(&rows[i]);

		if (wrong)
			fail_msg("%s: %s", rows[i].name, wrong);
	}
}

static void lines_are_behind_their_pods(void **state KAR_UNUSED)
{
	run_rows(once, KAR_LEN(once));
}

#define WATCH_PODS \
	"watch /api/v1/namespaces/default/pods?watch=true&labelSelector=kube-arbitrator.io%2Fqueuejob%3Dj"
#define WATCH_JOB \
	"watch /apis/kube-arbitrator.io/v1alpha1/namespaces/default/queuejobs?watch=true&fieldSelector=metadata.name%3Dj"
#define EVENT(type, object) "{'type':'" type "','object':" object "}\n"
#define DONE "'phase':'Completed'"

static const struct qj_row follows[] = {
	{ "each run of a container once, over a restart, and a pod that is made again", "logs j -f",
		qj_cmd_logs,
		.steps = { { GET, JOB("") },
			{ WATCH_PODS,
				EVENT("ADDED", POD("p", MAIN, "Pending", WAITING)) EVENT("MODIFIED",
					POD("p", MAIN, "Running", RUNS("0"))) EVENT("MODIFIED",
					POD("p", MAIN, "Running", RUNS("0")))
					EVENT("MODIFIED", POD("p", MAIN, "Running", RUNS("1")))
						EVENT("DELETED", POD("p", MAIN, "Running", RUNS("2")))
							EVENT("ADDED", POD("q", MAIN, "Succeeded", ENDED)),
				.open = true },
			{ WATCH_JOB, EVENT("ADDED", JOB("'phase':'Running'")) EVENT("MODIFIED", JOB(DONE)),
				.open = true },
			{ LOG("p", "main&follow=true"), "first\n" },
			{ LOG("p", "main&follow=true"), "second\n" },
			{ LOG("q", "main&follow=true"), "other" } },
		.out = "[p] first\n[p] second\n[q] other\n" },
	{ "a log that ends before its container is asked for again", "logs j -f", qj_cmd_logs,
		.steps = { { GET, JOB("") },
			{ WATCH_PODS, EVENT("ADDED", POD("p", MAIN, "Running", RUNS("0"))), .open = true },
			{ WATCH_JOB, EVENT("ADDED", JOB("'phase':'Running'")) },
			{ LOG("p", "main&follow=true"), "first\n" },
			{ LOG("p", "main&follow=true&sinceSeconds="), "gone", KAR_NOTFOUND },
			{ WATCH_JOB, EVENT("MODIFIED", JOB(DONE)), .open = true } },
		.out = "[p] first\n" },
	{ "the job is gone, and a pod too", "logs j -f", qj_cmd_logs,
		.steps = { { GET, JOB("") },
			{ WATCH_PODS, EVENT("ADDED", POD("p", MAIN, "Running", RUNS("0"))), .open = true },
			{ WATCH_JOB, EVENT("ADDED", JOB("")) EVENT("DELETED", JOB("")), .open = true },
			{ LOG("p", "main&follow=true"), "gone", KAR_NOTFOUND } } },
	{ "he may not watch", "logs j -f", qj_cmd_logs,
		.steps = { { GET, JOB("") }, { WATCH_PODS, "cannot watch pods", KAR_DENIED },
			{ WATCH_JOB, "", .open = true } },
		.err = "Error from server (Forbidden): cannot watch pods\n", .status = 1 },
};

static void what_comes_is_followed(void **state KAR_UNUSED)
{
	qj_log_patience = 200;
	run_rows(follows, KAR_LEN(follows));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_behind_their_pods),
		cmocka_unit_test(what_comes_is_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
