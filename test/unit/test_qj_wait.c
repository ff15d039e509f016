/* wait, create and completion of the kubectl plug-in: what they ask, print, and end with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/fixture/qj_script.h"

#define JOB "/apis/kube-arbitrator.io/v1alpha1/namespaces/default/queuejobs"
#define GET "get " JOB "/j"
#define FOLLOW(rv) "watch " JOB "?watch=true&resourceVersion=" rv "&fieldSelector=metadata.name%3Dj"
#define SPEC "'spec':{'taskSpecs':[{'name':'worker','replicas':4}]}"
#define OBJECT(rv, status) \
	"{'metadata':{'name':'j','resourceVersion':'" rv "'}," SPEC ",'status':{" status "}}"
#define EVENT(type, rv, status) "{'type':'" type "','object':" OBJECT(rv, status) "}\n"
#define WAITS "'phase':'Pending','reason':'NoFit','message':'2 of 4 pods fit now'"
#define RUNS "'phase':'Running','running':4"
#define DONE "'phase':'Completed','succeeded':4,'completionTime':'2026-11-30T11:00:00Z'"
#define FAILED \
	"'phase':'Failed','reason':'BackoffLimitExceeded','message':'exit code 3','completionTime':'2026-11-30T11:00:00Z'"

static const struct qj_row waits[] = {
	{ "it has ended before", "wait j", qj_cmd_wait, .steps = { { GET, OBJECT("5", DONE) } },
		.out = "queuejob.kube-arbitrator.io/j Completed\n" },
	{ "it ends", "wait j", qj_cmd_wait,
		.steps = { { GET, OBJECT("5", WAITS) },
			{ FOLLOW("5"), EVENT("MODIFIED", "6", RUNS) EVENT("MODIFIED", "7", DONE) } },
		.out = "queuejob.kube-arbitrator.io/j Completed\n" },
	{ "it runs", "wait j --for=running", qj_cmd_wait,
		.steps = { { GET, OBJECT("5", WAITS) },
			{ FOLLOW("5"), EVENT("MODIFIED", "6", RUNS), .open = true } },
		.out = "queuejob.kube-arbitrator.io/j Running\n" },
	{ "it runs, but should end", "wait j --timeout=0s", qj_cmd_wait,
		.steps = { { GET, OBJECT("5", RUNS) }, { FOLLOW("5"), "", .open = true } },
		.err = "error: timed out waiting for queuejob.kube-arbitrator.io/j to end: it is Running\n",
		.status = 1 },
	{ "it waits for too long", "wait j --for=running --timeout=0s", qj_cmd_wait,
		.steps = { { GET, OBJECT("5", WAITS) }, { FOLLOW("5"), "", .open = true } },
		.err = "error: timed out waiting for queuejob.kube-arbitrator.io/j to run: it is Pending, NoFit: 2 of 4 pods fit now\n",
		.status = 1 },
	{ "it fails", "wait j", qj_cmd_wait,
		.steps = { { GET, OBJECT("5", RUNS) }, { FOLLOW("5"), EVENT("MODIFIED", "6", FAILED) } },
		.err = "error: queuejob.kube-arbitrator.io/j has ended: Failed, BackoffLimitExceeded: exit code 3\n",
		.status = 1 },
	{ "it fails before it runs", "wait j --for=running", qj_cmd_wait,
		.steps = { { GET, OBJECT("5", FAILED) } },
		.err = "error: queuejob.kube-arbitrator.io/j has ended: Failed, BackoffLimitExceeded: exit code 3\n",
		.status = 1 },
	{ "it is deleted", "wait j", qj_cmd_wait,
		.steps = { { GET, OBJECT("5", RUNS) }, { FOLLOW("5"), EVENT("DELETED", "6", RUNS) } },
		.err = "error: queuejob.kube-arbitrator.io/j has been deleted\n", .status = 1 },
	{ "it was never there", "wait j", qj_cmd_wait,
		.steps = { { GET, "queuejobs j not found", KAR_NOTFOUND } },
		.err = "Error from server (NotFound): queuejobs j not found\n", .status = 1 },
	{ "he may not watch", "wait j", qj_cmd_wait,
		.steps = { { GET, OBJECT("5", RUNS) }, { FOLLOW("5"), "cannot watch", KAR_DENIED } },
		.err = "Error from server (Forbidden): cannot watch\n", .status = 1 },
	{ "a watch ends, and its version is too old then", "wait j", qj_cmd_wait,
		.steps = { { GET, OBJECT("5", RUNS) },
			{ FOLLOW("5"), "{'type':'ERROR','object':{'code':410}}\n" },
			{ GET, OBJECT("9", DONE) } },
		.out = "queuejob.kube-arbitrator.io/j Completed\n" },
	{ "an error in a watch is followed by a pause", "wait j --timeout=1s", qj_cmd_wait,
		.steps = { { GET, OBJECT("5", RUNS) },
			{ FOLLOW("5"), "{'type':'ERROR','object':{'code':500}}\n" } },
		.err = "error: timed out waiting for queuejob.kube-arbitrator.io/j to end: it is Running\n",
		.status = 1 },
	{ "progress for programs", "wait j --progress", qj_cmd_wait,
		.steps = { { GET, OBJECT("5", WAITS) },
			{ FOLLOW("5"),
				EVENT("MODIFIED", "6", RUNS) EVENT("MODIFIED", "7", RUNS)
					EVENT("MODIFIED", "8", DONE) } },
		.out = "0 running, 0 of 4 succeeded  Pending, NoFit: 2 of 4 pods fit now\n"
		       "4 running, 0 of 4 succeeded  Running\n"
		       "0 running, 4 of 4 succeeded  Completed\n"
		       "queuejob.kube-arbitrator.io/j Completed\n" },
	{ "progress on a terminal", "wait j --progress --for=running", qj_cmd_wait, .terminal = true,
		.width = 100,
		.steps = { { GET, OBJECT("5", WAITS) }, { FOLLOW("5"), EVENT("MODIFIED", "6", RUNS) } },
		.out = "\r\033[K[------------------------] 0 running, 0 of 4 succeeded  Pending, NoFit: 2 of 4 pods fit now"
		       "\r\033[K[########################] 4 running, 0 of 4 succeeded  Running\n"
		       "queuejob.kube-arbitrator.io/j Running\n" },
	{ "progress on a narrow terminal", "wait j --progress --for=running", qj_cmd_wait, .terminal = true,
		.width = 60,
		.steps = { { GET,
			OBJECT("5", "'phase':'Running','reason':'x\\u001b[31m','message':'a\\r\\nb'") } },
		.out = "\r\033[K[------------------------] 0 running, 0 of 4 succeeded  ...\n"
		       "queuejob.kube-arbitrator.io/j Running\n" },
	{ "hostile words", "wait j", qj_cmd_wait,
		.steps = { { GET,
			OBJECT("5",
				"'phase':'Failed','reason':'x\\u001b[31m','message':'a\\r\\nb \\u009b31m'") } },
		.err = "error: queuejob.kube-arbitrator.io/j has ended: Failed, x [31m: a  b  31m\n",
		.status = 1 },
	{ "no name", "wait", qj_cmd_wait, .err = "error: usage: kubectl qj wait JOB\n", .status = 1 },
};

#define POST "create " JOB "?fieldManager=kubectl-qj&fieldValidation=Strict"

static const struct qj_row creations[] = {
	{ "yaml without a cluster",
		"create j -n a --image=img --replicas=3 --min=2 --gpu=1 --cpu=500m --memory=1Gi --queue=q --after=pre,b:Ended --dry-run=client -o yaml -- sleep 5 yes",
		qj_cmd_create,
		.out = "apiVersion: kube-arbitrator.io/v1alpha1\nkind: QueueJob\nmetadata:\n  name: j\n  namespace: a\nspec:\n  queue: q\n"
		       "  after:\n  - name: pre\n  - name: b\n    status: Ended\n"
		       "  schedSpec:\n    minAvailable: 2\n  taskSpecs:\n  - name: worker\n    replicas: 3\n    template:\n      spec:\n"
		       "        containers:\n        - name: main\n          image: img\n          command:\n          - sleep\n          - \"5\"\n"
		       "          - \"yes\"\n          resources:\n            requests:\n              cpu: \"500m\"\n              memory: \"1Gi\"\n"
		       "            limits:\n              nvidia.com/gpu: \"1\"\n" },
	{ "json of the least", "create j --image=img --gpu=amd.com/gpu=2 --dry-run=client -o json",
		qj_cmd_create,
		.out = "{\n  \"apiVersion\": \"kube-arbitrator.io/v1alpha1\",\n  \"kind\": \"QueueJob\",\n  \"metadata\": {\n    \"name\": \"j\",\n"
		       "    \"namespace\": \"default\"\n  },\n  \"spec\": {\n    \"taskSpecs\": [\n      {\n        \"name\": \"worker\",\n        \"replicas\": 1,\n"
		       "        \"template\": {\n          \"spec\": {\n            \"containers\": [\n              {\n                \"name\": \"main\",\n"
		       "                \"image\": \"img\",\n                \"resources\": {\n                  \"limits\": {\n                    \"amd.com/gpu\": \"2\"\n"
		       "                  }\n                }\n              }\n            ]\n          }\n        }\n      }\n    ]\n  }\n}\n" },
	{ "a dry run here", "create j --image=img --dry-run=client", qj_cmd_create,
		.out = "queuejob.kube-arbitrator.io/j created (dry run)\n" },
	{ "made", "create j --image=img", qj_cmd_create, .steps = { { POST, OBJECT("1", "") } },
		.out = "queuejob.kube-arbitrator.io/j created\n" },
	{ "its name", "create j --image=img -o name", qj_cmd_create, .steps = { { POST, OBJECT("1", "") } },
		.out = "queuejob.kube-arbitrator.io/j\n" },
	{ "what a dry run of the server says", "create j --image=img --dry-run=server -o yaml", qj_cmd_create,
		.steps = { { "create " JOB "?fieldManager=kubectl-qj&dryRun=All&fieldValidation=Strict",
			"{'metadata':{'name':'j'},'spec':{'n':null,'x\\u001b':'\\u001b[31m \\u009b \\ud83d\\ude00','e':{},'l':[],'ll':[[1,-2.5],[true]]}}" } },
		.out = "metadata:\n  name: j\nspec:\n  \"n\": null\n  \"x\\u001b\": \"\\u001b[31m \\u009b \xf0\x9f\x98\x80\"\n  e: {}\n  l: []\n"
		       "  ll:\n  - - 1\n    - -2.5\n  - - true\n" },
	{ "refused", "create j --image=img", qj_cmd_create, .steps = { { POST, "no quota", KAR_DENIED } },
		.err = "Error from server (Forbidden): no quota\n", .status = 1 },
	{ "no image", "create j", qj_cmd_create, .err = "error: required flag(s) \"image\" not set\n",
		.status = 1 },
	{ "a minimum that is too high", "create j --image=img --min=2", qj_cmd_create,
		.err = "error: --min 2 is more than --replicas 1\n", .status = 1 },
	{ "no amount", "create j --image=img --gpu=amd.com/gpu=x", qj_cmd_create,
		.err = "error: --gpu x: want an amount, as in 500m, 4 or 2Gi\n", .status = 1 },
	{ "no number", "create j --image=img --replicas=0", qj_cmd_create,
		.err = "--replicas 0: want a number, at least 1\n", .status = -1 },
	{ "a word too many", "create j k --image=img", qj_cmd_create,
		.err = "error: usage: kubectl qj create NAME --image IMAGE [-- COMMAND...]\n", .status = 1 },
};

static void run_rows(const struct qj_row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char *wrong = qj_script_run(&rows[i]);

		if (wrong)
			fail_msg("%s: %s", rows[i].name, wrong);
	}
}

static void waiting_ends_as_the_job_does(void **state KAR_UNUSED)
{
	run_rows(waits, KAR_LEN(waits));
}

static void jobs_are_made_of_a_line(void **state KAR_UNUSED)
{
	run_rows(creations, KAR_LEN(creations));
}

/* As qj_cmd_: .line has the words, "_" for one that is empty. */
static int complete(struct qj *q)
{
	static char empty[1];
	char *words[8];
	int n = 0;

	for (int i = 0; i < q->o.n_rest; i++)
		words[n++] = strcmp(q->o.rest[i], "_") == 0 ? empty : (char *)(uintptr_t)q->o.rest[i];
	return qj_complete(q, words, n);
}

#define LIST(ns) "list /apis/kube-arbitrator.io/v1alpha1/" ns "?limit=500"

static const struct qj_row completions[] = {
	{ "commands", "-- re", complete,
		.out = "resume\tstarts them again\nrestart\tmakes all its pods again\nrelease-gates\ttakes our scheduling gate off all pods, when the manager is gone\n:4\n" },
	{ "jobs", "-- wait tr", complete,
		.steps = { { LIST("namespaces/default/queuejobs"),
			"{'items':[{'metadata':{'name':'train'}},{'metadata':{'name':'test'}},{'metadata':{'name':'tr\\u001b'}}]}" } },
		.out = "train\ntr \n:4\n" },
	{ "queues behind a job", "-- move j _", complete,
		.steps = { { LIST("queues"), "{'items':[{'metadata':{'name':'a'}}]}" } }, .out = "a\n:4\n" },
	{ "queues behind their flag", "-- create j --queue _", complete,
		.steps = { { LIST("queues"), "{'items':[{'metadata':{'name':'a'}}]}" } }, .out = "a\n:4\n" },
	{ "who may not list gets nothing", "-- why _", complete,
		.steps = { { LIST("namespaces/default/queuejobs"), "no", KAR_DENIED } }, .out = ":4\n" },
	{ "flags", "-- wait j --ti", complete, .out = "--timeout\n:4\n" },
	{ "formats", "-- list -o ya", complete, .out = "yaml\n:4\n" },
	{ "shells", "-- completion z", complete, .out = "zsh\n:4\n" },
};

static void shells_are_told_what_there_is(void **state KAR_UNUSED)
{
	run_rows(completions, KAR_LEN(completions));
}

static void every_command_has_a_help(void **state KAR_UNUSED)
{
	const struct qj_help *h;

	for (size_t i = 0; (h = qj_help_at(i)); i++) {
		struct qj q = { 0 };
		char *text, *usage = kar_xasprintf("\nUsage: kubectl qj %s", h->name);
		size_t n;

		q.out = open_memstream(&text, &n);
		qj_print_help(&q, h->name);
		fclose(q.out);
		if (!strstr(text, usage) || !strstr(text, h->what) ||
			(h->more && h->more[strlen(h->more) - 1] != '\n'))
			fail_msg("%s: %s", h->name, text);
		free(text);
		free(usage);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waiting_ends_as_the_job_does),
		cmocka_unit_test(jobs_are_made_of_a_line),
		cmocka_unit_test(shells_are_told_what_there_is),
		cmocka_unit_test(every_command_has_a_help),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
