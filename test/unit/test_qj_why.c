/* why, tree and queues of the kubectl plug-in: where they look, and what they say if they may not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/fixture/qj_script.h"

#define JOB "get /apis/kube-arbitrator.io/v1alpha1/namespaces/default/queuejobs/j"
#define GROUP(name) "get /apis/scheduling.x-k8s.io/v1alpha1/namespaces/default/podgroups/" name
#define QUEUE(name) "get /apis/kube-arbitrator.io/v1alpha1/queues/" name
#define GROUPS(where) "list /apis/scheduling.x-k8s.io/v1alpha1/" where "podgroups?limit=500"
#define POD "get /api/v1/namespaces/default/pods/p"
#define PODS "list /api/v1/namespaces/default/pods?labelSelector=kube-arbitrator.io%2Fqueuejob%3Dj&limit=500"
#define MINE "namespaces/default/"
#define OPEN "{'metadata':{'name':'q'},'status':{'state':'Open','pending':3,'running':1}}"
#define IS_OPEN "\nQueue research is Open: 3 wait, 1 run\n"
/* In queue research by its label, as all groups that are made for pods. */
#define LABELLED(name, status) \
	"{'metadata':{'namespace':'default','name':'" name \
	"','labels':{'kube-arbitrator.io/queue':'research'},'creationTimestamp':'2026-11-30T11:50:00Z'},'status':{" status \
	"}}"
#define WAITS(position) \
	"'phase':'Pending','position':" position \
	",'conditions':[{'type':'Admitted','status':'False','reason':'MaxJobsReached','message':'full'}]"
#define KEPT(uid) \
	"{'metadata':{'namespace':'default','name':'g','uid':'u','creationTimestamp':'2026-11-30T11:50:00Z','annotations':{" \
	"'kube-arbitrator.io/queue-status':'{\\u0022uid\\u0022:\\u0022" uid \
	"\\u0022,\\u0022admittedQueue\\u0022:\\u0022research\\u0022,\\u0022position\\u0022:2,\\u0022conditions\\u0022:[" \
	"{\\u0022type\\u0022:\\u0022Admitted\\u0022,\\u0022status\\u0022:\\u0022False\\u0022,\\u0022reason\\u0022:\\u0022NoFit\\u0022," \
	"\\u0022message\\u0022:\\u0022no node\\u0022}]}','kube-arbitrator.io/message':'words for people'}},'status':{'phase':'Pending'}}"
#define QUEUED_JOB \
	"{'metadata':{'namespace':'default','name':'j','creationTimestamp':'2026-11-30T11:50:00Z'},'spec':{'queue':'research'," \
	"'taskSpecs':[{'replicas':2}]},'status':{'phase':'Pending','position':2,'reason':'NoFit','message':'no node'}}"
#define HEAD_G "PodGroup default/g is Pending in queue research, 2nd of 3 that wait, for 10m\n"

static const char two_groups[] =
	"{'items':[" LABELLED("first", WAITS("1")) "," LABELLED("g", WAITS("2")) "]}";

static const struct qj_row rows[] = {
	{ "why of a group whose label names its queue", "why pg/g", qj_cmd_why,
		.steps = { { GROUP("g"), LABELLED("g", WAITS("2")) }, { QUEUE("research"), OPEN },
			{ GROUPS(""), two_groups } },
		.out = HEAD_G "\n  MaxJobsReached: full\n" IS_OPEN
			      "\nAhead of it:\n  default/first  1st, waits 10m\n" },
	{ "why of a group whose CRD drops its status", "why podgroup/g", qj_cmd_why,
		.steps = { { GROUP("g"), KEPT("u") }, { QUEUE("research"), OPEN },
			{ GROUPS(""), "{'items':[" KEPT("u") "]}" } },
		.out = HEAD_G "\n  NoFit: no node\n" IS_OPEN },
	{ "why of a copy of such a group", "why podgroup/g", qj_cmd_why,
		.steps = { { GROUP("g"), KEPT("v") }, { QUEUE("default"), "down", KAR_RETRY },
			{ QUEUE("default"), "down", KAR_RETRY }, { QUEUE("default"), "down", KAR_RETRY },
			{ QUEUE("default"), "down", KAR_RETRY } },
		.out = "PodGroup default/g is Pending in queue default\n\n  words for people\n\nQueue default: down\n" },
	{ "why of a group of which nothing is said", "why podgroup/g", qj_cmd_why,
		.steps = { { GROUP("g"), "{'metadata':{'namespace':'default','name':'g'}}" },
			{ QUEUE("default"), "no", KAR_NOTFOUND } },
		.out = "PodGroup default/g is Pending in queue default\n\n  nobody has said yet why it waits\n\n"
		       "Queue default: there is none\n" },
	{ "why of a pod with an annotation", "why pods/p", qj_cmd_why,
		.steps = { { POD, "{'metadata':{'name':'p','annotations':{'scheduling.k8s.io/group-name':'g'}}}" },
			{ "get /apis/kube-arbitrator.io/v1alpha1/namespaces/default/queuejobs/g", "none",
				KAR_NOTFOUND },
			{ GROUP("g"), LABELLED("g", "'phase':'Running'") }, { QUEUE("research"), OPEN } },
		.out = "PodGroup default/g is Running in queue research\n\n  nothing keeps it waiting\n" IS_OPEN },
	{ "why of a pod without its group", "why pod/p", qj_cmd_why,
		.steps = { { POD, "{'metadata':{'name':'p','labels':{'pod-group.scheduling.sigs.k8s.io':'g'}}}" },
			{ "get /apis/kube-arbitrator.io/v1alpha1/namespaces/default/queuejobs/g", "none",
				KAR_NOTFOUND },
			{ GROUP("g"), "none", KAR_NOTFOUND } },
		.err = "error: pod p names PodGroup g, which there is not in namespace default\n",
		.status = 1 },
	{ "why of another kind", "why deployment/j", qj_cmd_why,
		.err = "error: why knows JOB, podgroup/NAME and pod/NAME, not deployment/j\n", .status = 1 },
	{ "why of who may read jobs only", "why j", qj_cmd_why,
		.steps = { { JOB, QUEUED_JOB }, { GROUP("j"), "no", KAR_DENIED },
			{ QUEUE("research"), "no", KAR_DENIED }, { GROUPS(""), "no", KAR_DENIED },
			{ GROUPS(MINE), "no", KAR_DENIED } },
		.out = "QueueJob default/j is Pending in queue research, 2nd that waits, for 10m\n\n  NoFit: no node\n\n"
		       "Queue research: you may not read it\n\nIts PodGroup is not shown: you may not read it\n\n"
		       "Other groups are not shown: you may not list them.\n" },
	{ "why while groups time out", "why j", qj_cmd_why,
		.steps = { { JOB, QUEUED_JOB }, { GROUP("j"), "none", KAR_NOTFOUND },
			{ QUEUE("research"), OPEN }, { GROUPS(""), "timed out\033[2J", KAR_UNKNOWN },
			{ GROUPS(MINE), two_groups } },
		.out = "QueueJob default/j is Pending in queue research, 2nd of 3 that wait, for 10m\n\n  NoFit: no node\n" IS_OPEN
		       "\nAhead of it:\n  default/first  1st, waits 10m\n\n"
		       "Groups of other namespaces are not shown: timed out [2J\n" },
	{ "why with amounts", "why j", qj_cmd_why,
		.steps = { { JOB, "{'metadata':{'namespace':'default','name':'j'},'status':{'phase':'Running','running':1}}" },
			{ GROUP("j"), "none", KAR_NOTFOUND },
			{ QUEUE("default"),
				"{'spec':{'deserved':{'cpu':'5'},'capability':{'cpu':'8','memory':'64Gi'}},"
				"'status':{'state':'Open','running':1,'allocated':{'cpu':'1','pods':'1'},'entitled':{'cpu':'8'}}}" } },
		.out = "QueueJob default/j is Running in queue default: 1 of 0 pods run\n\n  nothing keeps it waiting\n\n"
		       "Queue default is Open: 0 wait, 1 run\n"
		       "  cpu: uses 1, has a right to 5, a share of 8, may have 8\n  pods: uses 1\n"
		       "  memory: uses 0, may have 64Gi\n" },
	{ "queues", "queues", qj_cmd_queues,
		.steps = { { "list /apis/kube-arbitrator.io/v1alpha1/queues?limit=500",
			"{'items':[{'metadata':{'name':'idle'},'spec':{'deserved':{'cpu':'4'},'capability':{'cpu':'8'}},'status':{'state':'Open'}},"
			"{'metadata':{'name':'works'},'spec':{'deserved':{'cpu':'5'}},'status':{'state':'Open','running':1,"
			"'allocated':{'cpu':'3'},'entitled':{'cpu':'6'}}},{'metadata':{'name':'zero'}}]}" } },
		.out = "QUEUE\tSTATE\tWAITING\tRUNNING\tRESOURCE\tUSED\tRIGHT\tSHARE\tLIMIT\tOF-SHARE\n"
		       "idle\tOpen\t0\t0\tcpu\t0\t4\t-\t8\t-\nworks\tOpen\t0\t1\tcpu\t3\t5\t6\t-\t50%\n"
		       "zero\t-\t0\t0\t-\t-\t-\t-\t-\t-\n" },
	{ "tree", "tree j", qj_cmd_tree,
		.steps = { { JOB,
				   "{'metadata':{'name':'j','creationTimestamp':'2026-11-30T11:50:00Z'},'spec':{'taskSpecs':[{'replicas':3}]},"
				   "'status':{'phase':'Starting\\u001b[2J'}}" },
			{ PODS,
				"{'items':[{'metadata':{'name':'j-task0-0','labels':{'kube-arbitrator.io/task':'task0'},'creationTimestamp':'2026-11-30T11:59:00Z'},"
				"'status':{'phase':'Pending','initContainerStatuses':[{'state':{'waiting':{'reason':'CrashLoopBackOff'}}}],"
				"'containerStatuses':[{'state':{'waiting':{'reason':'PodInitializing'}}}]}},"
				"{'metadata':{'name':'j-task0-1','labels':{'kube-arbitrator.io/task':'task0'},'creationTimestamp':'2026-11-30T11:59:00Z'},"
				"'status':{'phase':'Pending','conditions':[{'type':'PodScheduled','status':'False','reason':'SchedulingGated'}]}},"
				"{'metadata':{'name':'j-old-0','labels':{'kube-arbitrator.io/task':'old'},'creationTimestamp':'2026-11-30T11:50:00Z',"
				"'deletionTimestamp':'2026-11-30T11:59:00Z'},'spec':{'nodeName':'n1'},'status':{'phase':'Running'}}]}" },
			{ GROUP("j"), "no", KAR_DENIED } },
		.out = "queuejob j  Starting [2J  10m\n  podgroup: you may not read it\n  task task0  0 of 3 run\n"
		       "    pod j-task0-0  Init:CrashLoopBackOff  no node  60s\n"
		       "    pod j-task0-1  SchedulingGated  no node  60s\n"
		       "  of tasks that are no more in the spec\n"
		       "    pod j-old-0  Terminating  n1  10m\n" },
};

static void rows_of_commands(void **state KAR_UNUSED)
{
	int failed = 0;

	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		char *wrong = qj_script_run(&rows[i]);

		if (wrong)
			print_error("%s: %s\n", rows[i].name, wrong);
		failed += wrong != NULL;
		free(wrong);
	}
	assert_int_equal(failed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(rows_of_commands) };

	return cmocka_run_group_tests_name("qj_why", tests, NULL, NULL);
}
