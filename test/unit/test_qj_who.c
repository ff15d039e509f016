/* who of the kubectl plug-in: what statuses and events say of evictions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "test/fixture/qj_script.h"

#define GROUPS(where) "list /apis/scheduling.x-k8s.io/v1alpha1/" where "podgroups?limit=500"
#define EVENTS(where) "list /api/v1/" where "events?fieldSelector=reason%3DPreempted&limit=500"
#define GROUP "get /apis/scheduling.x-k8s.io/v1alpha1/namespaces/default/podgroups/j"
#define MINE "namespaces/default/"
#define EVICTED(ns, name, by, reason, why) \
	"{'metadata':{'namespace':'" ns "','name':'" name \
	"'},'status':{'evictions':1,'lastEviction':{'time':'2026-11-30T11:58:00Z','reason':'" reason \
	"','by':'" by "','queue':'a'},'conditions':[{'type':'Preempted','status':'True','message':'" why \
	"'}]}}"
#define EVENT(kind, ns, name, time, message) \
	"{'metadata':{'name':'e'},'involvedObject':{'kind':'" kind "','namespace':'" ns "','name':'" name \
	"'},'eventTime':'" time "','message':'" message "'}"
#define HIGH "evicted for default/j: priority 9 over 1"

static const char groups[] =
	"{'items':[" EVICTED("default", "low", "default/j", "InQueue", HIGH) "," EVICTED("b", "other", "b/x",
		"InQueue", "evicted for b/x: priority 9 over 1") "," EVICTED("default", "j", "team/k",
		"Reclaim", "evicted: queue team reclaims its deserved share for team/k") "]}";
static const char events[] = "{'items':[" EVENT("PodGroup", "default", "low", "2026-11-30T11:58:01Z",
	HIGH) "," EVENT("QueueJob", "default", "low", "2026-11-30T11:58:01Z", HIGH) "," EVENT("PodGroup",
	"default", "low", "2026-11-30T11:30:00Z", HIGH) "," EVENT("Pod", "infra", "hold-1",
	"2026-11-30T11:59:30Z", "evicted for default/j: priority 9 over -10") "," EVENT("PodGroup", "default",
	"j", "2026-11-30T11:00:00Z", "queue a is drained") "," EVENT("PodGroup", "default", "jj",
	"2026-11-30T11:00:00Z", "evicted for default/jk: priority 9 over 1") "]}";

#define HOSTILE "{'items':[" EVICTED("default", "low\\u001b[2J", "default/j", "\\u009b31m", "a\\nb\\tc") "]}"

static const struct qj_row rows[] = {
	{ "piped", "who j", qj_cmd_who,
		.steps = { { GROUP, "{'metadata':{'name':'j'}}" }, { GROUPS(""), groups },
			{ EVENTS(""), events } },
		.out = "AGE\tEVICTED\tFOR\tRULE\tWHY\n"
		       "30s\tpod/infra/hold-1\tdefault/j\tpriority\tevicted for default/j: priority 9 over -10\n"
		       "2m\tdefault/j\tteam/k\tright of its queue\tevicted: queue team reclaims its deserved share for team/k\n"
		       "2m\tdefault/low\tdefault/j\tpriority\t" HIGH "\n"
		       "30m\tdefault/low\tdefault/j\tpriority\t" HIGH "\n"
		       "60m\tdefault/j\t-\tqueue is drained\tqueue a is drained\n" },
	{ "wide terminal, and a QueueJob that has no group yet", "who j", qj_cmd_who, .terminal = true,
		.width = 120,
		.steps = { { GROUP, "none", KAR_NOTFOUND },
			{ "get /apis/kube-arbitrator.io/v1alpha1/namespaces/default/queuejobs/j",
				"{'metadata':{'name':'j'}}" },
			{ GROUPS(""),
				"{'items':[" EVICTED("default", "low", "default/j", "InQueue", HIGH) "]}" },
			{ EVENTS(""), "{'items':[]}" } },
		.out = "AGE   EVICTED       FOR         RULE       WHY\n"
		       "2m    default/low   default/j   priority   " HIGH "\n" },
	{ "narrow terminal, and a user of one namespace", "who j", qj_cmd_who, .terminal = true, .width = 60,
		.steps = { { GROUP, "{'metadata':{'name':'j'}}" }, { GROUPS(""), "no", KAR_DENIED },
			{ GROUPS(MINE),
				"{'items':[" EVICTED("default", "low", "default/j", "InQueue", HIGH) "]}" },
			{ EVENTS(""), "no", KAR_DENIED }, { EVENTS(MINE), "no", KAR_DENIED } },
		.out = "AGE   EVICTED       FOR         RULE       WHY\n"
		       "2m    default/low   default/j   priority   evicted for de...\n",
		.err = "Evictions in namespace default may be missing: you may not list its events\n"
		       "Evictions in other namespaces are not shown: you may not list their groups and events\n" },
	{ "nobody, in what he may see", "who j", qj_cmd_who,
		.steps = { { GROUP, "{'metadata':{'name':'j'}}" }, { GROUPS(""), "{'items':[]}" },
			{ EVENTS(""), "no", KAR_DENIED }, { EVENTS(MINE), "no", KAR_DENIED } },
		.err = "What you may list has no eviction for default/j, and none of it\n"
		       "Evictions in namespace default may be missing: you may not list its events\n"
		       "Evictions in other namespaces are not shown: you may not list their events\n" },
	{ "who may list nothing", "who j", qj_cmd_who,
		.steps = { { GROUP, "{'metadata':{'name':'j'}}" }, { GROUPS(""), "no", KAR_DENIED },
			{ GROUPS(MINE), "no", KAR_DENIED }, { EVENTS(""), "no", KAR_DENIED },
			{ EVENTS(MINE), "cannot list events", KAR_DENIED } },
		.err = "Error from server (Forbidden): cannot list events\n", .status = 1 },
	{ "an error is no answer", "who j", qj_cmd_who,
		.steps = { { GROUP, "{'metadata':{'name':'j'}}" }, { GROUPS(""), "broken", KAR_INVALID } },
		.err = "error: broken\n", .status = 1 },
	{ "hostile", "who j", qj_cmd_who,
		.steps = { { GROUP, "{'metadata':{'name':'j'}}" }, { GROUPS(""), HOSTILE },
			{ EVENTS(""), "{'items':[]}" } },
		.out = "AGE\tEVICTED\tFOR\tRULE\tWHY\n2m\tdefault/low [2J\tdefault/j\t 31m\ta b c\n" },
	{ "nobody", "who j", qj_cmd_who,
		.steps = { { GROUP, "{'metadata':{'name':'j'}}" }, { GROUPS(""), "{'items':[]}" },
			{ EVENTS(""), "{'items':[]}" } },
		.err = "Nobody was evicted for default/j, and it was not evicted\n" },
	{ "no such job", "who j", qj_cmd_who,
		.steps = { { GROUP, "none", KAR_NOTFOUND },
			{ "get /apis/kube-arbitrator.io/v1alpha1/namespaces/default/queuejobs/j",
				"queuejobs j not found", KAR_NOTFOUND } },
		.err = "Error from server (NotFound): queuejobs j not found\n", .status = 1 },
	{ "no name", "who", qj_cmd_who, .err = "error: usage: kubectl qj who JOB\n", .status = 1 },
};

static void evictions_are_told_from_both_sides(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		char *wrong = qj_script_run(&rows[i]);

		if (wrong)
			fail_msg("%s: %s", rows[i].name, wrong);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(evictions_are_told_from_both_sides) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
