/* what-if of the kubectl plug-in: what it asks, prints, and leaves behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/fixture/qj_script.h"

#define FILES KAR_TEST_DATA "/what-if"
#define JOBS "/apis/kube-arbitrator.io/v1alpha1/namespaces/default/queuejobs"
#define CREATE "create " JOBS "?fieldManager=kubectl-qj&fieldValidation=Strict"
#define GET "get " JOBS "/j-what-if-x"
#define DELETE "delete " JOBS "/j-what-if-x"
#define FOLLOW "watch " JOBS "?watch=true&resourceVersion=5&fieldSelector=metadata.name%3Dj-what-if-x"
#define OBJECT(rv, status) \
	"{'metadata':{'name':'j-what-if-x','resourceVersion':'" rv \
	"'},'spec':{'queue':'a'},'status':{'phase':'Suspended'" status "}}"
#define EVENT(type, status) "{'type':'" type "','object':" OBJECT("6", status) "}\n"
#define ANSWER(what) ",'whatIf':{" what "}"
#define MADE \
	{ \
		CREATE, OBJECT("5", "") \
	}
#define GONE \
	{ \
		DELETE, "{}" \
	}
#define LINE "what-if -f " FILES "/job.yaml"

static const struct qj_row rows[] = {
	{ "it would start at once", LINE, qj_cmd_what_if,
		.steps = { MADE, { GET, OBJECT("5", ANSWER("'answer':'FitsNow'")) }, GONE },
		.out = "FitsNow: it would start at once in queue a\n" },
	{ "it would wait", LINE, qj_cmd_what_if,
		.steps = { MADE, { GET, OBJECT("5", "") },
			{ FOLLOW,
				EVENT("MODIFIED",
					ANSWER("'answer':'Waits','reason':'NoFit','message':'1 of 4 pods fit now','position':3")) },
			GONE },
		.out = "Waits: NoFit: 1 of 4 pods fit now\n  position 3 in queue a\n" },
	{ "others would be stopped", LINE, qj_cmd_what_if,
		.steps = { MADE,
			{ GET,
				OBJECT("5",
					ANSWER("'answer':'Waits','reason':'Reserving','message':'capacity is held','evicts':[{'queue':'b','pods':4},{'queue':'c','pods':1}]")) },
			GONE },
		.out = "Waits: Reserving: capacity is held\n  stopped for it: 4 pods of queue b\n  stopped for it: 1 pod of queue c\n" },
	{ "too many ask", LINE, qj_cmd_what_if,
		.steps = { MADE,
			{ GET,
				OBJECT("5",
					ANSWER("'answer':'Refused','message':'10 jobs of namespace default ask already'")) },
			GONE },
		.out = "Refused: 10 jobs of namespace default ask already\n" },
	{ "nobody answers", LINE " --timeout=0s", qj_cmd_what_if,
		.steps = { MADE, { GET, OBJECT("5", "") }, { FOLLOW, "", .open = true }, GONE },
		.err = "error: nobody has answered: does a manager of this version run? \"kubectl get deployments -A -l app.kubernetes.io/name=kar-controllers\" shows it\n",
		.status = 1 },
	{ "no group is made for it", LINE " --timeout=0s", qj_cmd_what_if,
		.steps = { MADE,
			{ GET,
				OBJECT("5",
					",'reason':'PriorityClassNotFound','message':'there is no urgent'") },
			{ FOLLOW, "", .open = true }, GONE },
		.err = "error: it cannot be answered: PriorityClassNotFound: there is no urgent\n",
		.status = 1 },
	{ "somebody deletes the question", LINE, qj_cmd_what_if,
		.steps = { MADE, { GET, OBJECT("5", "") }, { FOLLOW, EVENT("DELETED", "") },
			{ DELETE, "not found", KAR_NOTFOUND } },
		.err = "error: the question has been deleted before it was answered\n", .status = 1 },
	{ "he may not create jobs", LINE, qj_cmd_what_if,
		.steps = { { CREATE, "cannot create queuejobs", KAR_DENIED } },
		.err = "Error from server (Forbidden): cannot create queuejobs\n", .status = 1 },
	{ "several objects", "what-if -f " FILES "/two.yaml", qj_cmd_what_if,
		.err = "error: " FILES
		       "/two.yaml: want one QueueJob of kube-arbitrator.io/v1alpha1, and no other object; \"kubectl qj convert -f FILE\" makes one of others\n",
		.status = 1 },
	{ "no file", "what-if", qj_cmd_what_if, .err = "error: usage: kubectl qj what-if -f FILE\n",
		.status = 1 },
};

static void question_is_asked_and_taken_away(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		char *wrong = qj_script_run(&rows[i]);

		if (wrong)
			fail_msg("%s: %s", rows[i].name, wrong);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(question_is_asked_and_taken_away) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
