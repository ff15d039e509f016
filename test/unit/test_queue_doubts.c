/* Condition FitUnverified of gangs for whose pods only kube-scheduler knows all that counts: of a job, and of another controller. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/unit/queue_sync_fixture.h"

#define BY(template) "\"resourceClaims\":[{\"name\":\"c\",\"resourceClaimTemplateName\":\"" template "\"}],"
#define NAMED(claim) "\"resourceClaims\":[{\"name\":\"c\",\"resourceClaimName\":\"" claim "\"}],"
#define VOLUME "\"volumes\":[{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":\"c\"}}],"
#define TOLERATION "\"tolerations\":[{\"key\":\"a\",\"operator\":\"Lt\",\"value\":\"5\"}],"
#define ON_N1 \
	"\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":[{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"n1\"]}]}]}}},"
#define MESSAGE \
	"only kube-scheduler checks this, so no node is named for these pods, and nobody is evicted for them: "
#define CONDITION(status, reason, message) \
	"{\"type\":\"FitUnverified\",\"status\":\"" status "\",\"reason\":\"" reason \
	"\",\"message\":\"" message "\",\"lastTransitionTime\":\"2026-11-21T10:00:00Z\"}"

static void put_template(const char *name, const char *class, const char *more)
{
	char rest[256];

	snprintf(rest, sizeof(rest),
		",\"spec\":{\"spec\":{\"devices\":{\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"%s\"}}]%s}}}",
		class, more);
	put_named(w.stores.claimtemplates, name, "", rest);
}

/* One node with two devices of class gpu, of which one is also of a class that nobody can read. Volumes are not read. */
static void put_world(void)
{
	struct kar_store *const read[] = { w.stores.deviceclasses, w.stores.resourceslices,
		w.stores.resourceclaims, w.stores.claimtemplates };

	for (size_t i = 0; i < KAR_LEN(read); i++) {
		kar_store_replace_begin(read[i]);
		kar_store_replace_commit(read[i], 1);
	}
	put_queue("default", "");
	put_node("n1", "1000", "");
	put_named(w.stores.deviceclasses, "gpu", "",
		",\"spec\":{\"selectors\":[{\"cel\":{\"expression\":\"device.driver == 'd.io'\"}}]}");
	put_named(w.stores.deviceclasses, "odd", "",
		",\"spec\":{\"selectors\":[{\"cel\":{\"expression\":\"cel.bind(x, device.driver, x == 'e.io')\"}}]}");
	put_named(w.stores.resourceslices, "s", "",
		",\"spec\":{\"driver\":\"d.io\",\"nodeName\":\"n1\",\"pool\":{\"name\":\"n1\",\"generation\":1,\"resourceSliceCount\":1},\"devices\":[{\"name\":\"g0\"},{\"name\":\"g1\"}]}");
	put_named(w.stores.resourceclaims, "free", "", ",\"spec\":{}");
	put_template("one", "gpu", "");
	put_template("alike", "gpu", ",\"constraints\":[{\"matchAttribute\":\"d.io/numa\"}]");
	put_template("odd", "odd", "");
}

static void put_job(const char *spec, const char *status)
{
	char rest[1024];

	snprintf(rest, sizeof(rest),
		",\"spec\":{\"taskSpecs\":[{\"name\":\"t\",\"replicas\":1,\"template\":{\"spec\":{%s\"containers\":[{\"name\":\"c\"}]}}}]}",
		spec);
	put_named(w.stores.queuejobs, "g", "", rest);
	put_group_of_job("g", status);
}

static void put_members(const char *spec, const char *status)
{
	char rest[1024];

	put_group("g", "\"minMember\":1", status);
	snprintf(rest, sizeof(rest),
		",\"spec\":{%s\"schedulingGates\":[{\"name\":\"kube-arbitrator.io/gang\"}],\"containers\":[{\"name\":\"c\"}]}",
		spec);
	put_named(w.stores.pods, "p",
		",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"g\"},\"ownerReferences\":[{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"name\":\"p\",\"uid\":\"uid-p\",\"controller\":true}]",
		rest);
}

/* What its patch says of FitUnverified; "": nothing. */
static const char *said(void)
{
	static char text[512];
	struct kar_buf out = { 0 };
	struct kar_err err = { 0 };
	const char *at, *end;

	(void)sync_text(true);
	text[0] = '\0';
	if (!w.sync.plan.n_actions)
		return "no patch";
	assert_int_equal(w.controller.encode(&w.sync, &w.sync.plan.actions[0], &out, &err), 0);
	at = strstr(kar_buf_cstr(&out), "{\"type\":\"FitUnverified\"");
	end = at ? strchr(at, '}') : NULL;
	if (end)
		snprintf(text, sizeof(text), "%.*s", (int)(end - at), at);
	kar_buf_release(&out);
	return text;
}

static const struct {
	const char *name, *spec;
	const char *doubt;     /* of a job; NULL: none */
	const char *of_others; /* of a group of others, if it is another one */
} rows[] = {
	{ "nothing", "", NULL, NULL },
	{ "devices_by_a_template", BY("one"), NULL, NULL },
	{ "volumes_that_are_not_read", VOLUME, "volumes", NULL },
	{ "toleration_with_another_operator", TOLERATION, "tolerations", NULL },
	{ "constraints_among_devices", BY("alike"), "constraints among devices", NULL },
	{ "selector_of_a_class", BY("odd"), "a selector of its DeviceClass", NULL },
	{ "claim_that_nobody_has_yet", NAMED("free"), "resource claims that pods share", NULL },
	{ "two_causes", VOLUME TOLERATION, "tolerations, volumes", NULL },
	{ "affinity_that_names_a_node", ON_N1, NULL, "a node affinity that names nodes" },
};

static void check(size_t i, const char *kind, const char *doubt, const char *whose)
{
	char want[512] = "";
	const char *got = said();

	if (doubt)
		snprintf(want, sizeof(want), "\"message\":\"" MESSAGE "%s (%s)\"", doubt, whose);
	if (doubt ? !strstr(got, want) || !strstr(got, "\"status\":\"True\"") : got[0] != '\0')
		fail_msg("%s of a %s: '%s', want '%s'", rows[i].name, kind, got, want);
}

static void what_only_the_scheduler_knows_is_a_condition(void **state)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		assert_int_equal(teardown(state), 0); /* a world of its own for each */
		setup(state);
		put_world();
		put_job(rows[i].spec, "");
		check(i, "job", rows[i].doubt, "t");
		assert_int_equal(teardown(state), 0);
		setup(state);
		put_world();
		put_members(rows[i].spec, "");
		check(i, "group of others", rows[i].of_others ? rows[i].of_others : rows[i].doubt, "p");
	}
}

#define WAITS \
	"{\"type\":\"Admitted\",\"status\":\"False\",\"reason\":\"InsufficientCapacity\",\"message\":\"m\",\"lastTransitionTime\":\"2026-11-21T10:00:00Z\"}"
#define RUNS \
	"{\"type\":\"Admitted\",\"status\":\"True\",\"reason\":\"Admitted\",\"message\":\"admitted by queue default\",\"lastTransitionTime\":\"2026-11-21T10:00:00Z\"}"

static void put_job_with(const char *spec, const char *conditions, const char *more)
{
	char status[1024];

	snprintf(status, sizeof(status), "\"phase\":\"Pending\",\"position\":1%s,\"conditions\":[%s]", more,
		conditions);
	put_job(spec, status);
}

static void the_condition_ends_when_all_is_known_again(void **state KAR_UNUSED)
{
	const char *got;

	put_world();
	put_job_with("", WAITS "," CONDITION("True", "NotModelled", MESSAGE "volumes (t)"), "");
	got = said();
	if (!strstr(got, "\"status\":\"False\"") || !strstr(got, "\"reason\":\"Verified\""))
		fail_msg("'%s'", got);
}

static void of_a_group_that_runs_it_stays(void **state KAR_UNUSED)
{
	put_world();
	put_job_with("", RUNS "," CONDITION("True", "NotModelled", MESSAGE "volumes (t)"),
		",\"admittedQueue\":\"default\",\"placement\":{\"state\":\"Satisfied\",\"satisfiedMember\":1,\"attempt\":1}");
	assert_null(strstr(said(), "\"status\":\"False\""));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_only_the_scheduler_knows_is_a_condition),
		TEST(the_condition_ends_when_all_is_known_again),
		TEST(of_a_group_that_runs_it_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
