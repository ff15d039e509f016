/* top of the kubectl plug-in: queues, and what of the nodes is free. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kubectl-qj/top.h"
#include "test/fixture/qj_script.h"

#define QUEUES "list /apis/kube-arbitrator.io/v1alpha1/queues?limit=500"
#define GROUPS(where) "list /apis/scheduling.x-k8s.io/v1alpha1/" where "podgroups?limit=500"
#define NODES "list /api/v1/nodes?limit=500"
#define PODS \
	"list /api/v1/pods?fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed&limit=500"

#define TWO_QUEUES \
	"{'items':[{'metadata':{'name':'research'},'status':{'state':'Open','pending':3,'allocated':{'cpu':'6','nvidia.com/gpu':'8'},'entitled':{'cpu':'24','nvidia.com/gpu':'8'}}}," \
	"{'metadata':{'name':'default'},'status':{'state':'Open'}}]}"
#define LINE \
	"{'items':[{'metadata':{'namespace':'a','name':'first'},'spec':{'queue':'research'},'status':{'position':1}}," \
	"{'metadata':{'namespace':'a','name':'second'},'spec':{'queue':'research'},'status':{'position':2}}," \
	"{'metadata':{'namespace':'b','name':'x\\u001b[2J'},'spec':{'queue':'default'},'status':{'position':1,'admittedQueue':''}}]}"
#define NODE(name, more, amounts) \
	"{'metadata':{'name':'" name "','uid':'u-" name "','resourceVersion':'1'},'spec':{" more \
	"},'status':{'conditions':[{'type':'Ready','status':'True'}],'allocatable':{'pods':'110','ephemeral-storage':'9Gi'," amounts \
	"}}}"
#define THREE_NODES \
	"{'items':[" NODE("n-2", "", "'cpu':'8','memory':'32Gi'") "," NODE("n-10", "'unschedulable':true", \
		"'cpu':'8','memory':'32Gi'") "," NODE("gpu", "'taints':[{'key':'x','effect':'NoSchedule'}]", \
		"'cpu':'4','memory':'16Gi','nvidia.com/gpu':'8'") "]}"
#define POD(name, node, amounts) \
	"{'metadata':{'namespace':'a','name':'" name "','uid':'u-" name \
	"','resourceVersion':'1'},'spec':{'nodeName':'" node \
	"','containers':[{'name':'c','resources':{'requests':{" amounts \
	"}}}]},'status':{'phase':'Running'}}"
#define FOUR_PODS \
	"{'items':[" POD("p", "n-2", "'cpu':'500m','memory':'1Gi'") "," POD("q", "n-2", \
		"'cpu':'2'") "," POD("r", "gpu", "'nvidia.com/gpu':'6'") "," POD("s", "elsewhere", \
		"'cpu':'1'") "," POD("t", "", "'cpu':'1'") "]}"

/* As qj_cmd_top() draws it once; on a terminal that would not end. */
static int draw(struct qj *q)
{
	int status;

	q->terminal = false;
	status = qj_cmd_top(q);
	q->terminal = true;
	return status;
}

static int draw_nodes(struct qj *q)
{
	qj_print_nodes(q);
	return 0;
}

static const struct qj_row rows[] = {
	{ "piped", "top", qj_cmd_top,
		.steps = { { QUEUES, TWO_QUEUES }, { GROUPS(""), LINE }, { NODES, THREE_NODES },
			{ PODS, FOUR_PODS } },
		.out = "QUEUE\tRESOURCE\tSHARE\tUSED\tOF-SHARE\tWAITING\tNEXT\n"
		       "default\t-\t-\t-\t-\t0\tb/x [2J\n"
		       "research\tcpu\t24\t6\t25%\t3\ta/first\n"
		       "research\tnvidia.com/gpu\t8\t8\t100%\t3\ta/first\n"
		       "\n"
		       "NODE\tSTATE\tFREE-PODS\tFREE-CPU\tFREE-MEMORY\tnvidia.com/gpu\n"
		       "gpu\tReady\t109 of 110\t4 of 4\t16Gi of 16Gi\t2 of 8\n"
		       "n-10\tCordoned\t110 of 110\t8 of 8\t32Gi of 32Gi\t-\n"
		       "n-2\tReady\t108 of 110\t5.5 of 8\t31Gi of 32Gi\t-\n" },
	{ "a user of one namespace", "top", qj_cmd_top,
		.steps = { { QUEUES, TWO_QUEUES }, { GROUPS(""), "no", KAR_DENIED },
			{ GROUPS("namespaces/default/"), "{'items':[]}" }, { NODES, "no", KAR_DENIED } },
		.out = "QUEUE\tRESOURCE\tSHARE\tUSED\tOF-SHARE\tWAITING\tNEXT\n"
		       "default\t-\t-\t-\t-\t0\t-\n"
		       "research\tcpu\t24\t6\t25%\t3\t-\n"
		       "research\tnvidia.com/gpu\t8\t8\t100%\t3\t-\n"
		       "\n"
		       "NODE\tSTATE\tFREE-PODS\tFREE-CPU\tFREE-MEMORY\n"
		       "-\t-\t-\t-\t-\n" },
	{ "one who may list nodes, but not all pods; on a terminal", "top", draw_nodes, .terminal = true,
		.width = 100, .steps = { { NODES, THREE_NODES }, { PODS, "no", KAR_DENIED } },
		.out = "NODE   STATE      FREE-PODS   FREE-CPU   FREE-MEMORY   nvidia.com/gpu\n"
		       "gpu    Ready      - of 110    - of 4     - of 16Gi     - of 8\n"
		       "n-2    Ready      - of 110    - of 8     - of 32Gi     -\n"
		       "n-10   Cordoned   - of 110    - of 8     - of 32Gi     -\n" },
	{ "who may not read queues", "top", draw, .terminal = true,
		.steps = { { QUEUES, "cannot list queues", KAR_DENIED } },
		.err = "Error from server (Forbidden): cannot list queues\n", .status = 1 },
	{ "groups that cannot be read", "top", qj_cmd_top,
		.steps = { { QUEUES, TWO_QUEUES }, { GROUPS(""), "too many bytes", KAR_FATAL } },
		.err = "error: too many bytes\n", .status = 1 },
	{ "a word too many", "top x", qj_cmd_top, .err = "error: usage: kubectl qj top\n", .status = 1 },
};

static void queues_and_nodes_are_shown(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		char *wrong = qj_script_run(&rows[i]);

		if (wrong)
			fail_msg("%s: %s", rows[i].name, wrong);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(queues_and_nodes_are_shown) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
