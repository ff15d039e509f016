/* Gangs whose pods ask for devices by ResourceClaims, in a pass: of a job, and of another controller. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/unit/queue_sync_fixture.h"

#define BY(template) "\"resourceClaims\":[{\"name\":\"c\",\"resourceClaimTemplateName\":\"" template "\"}],"
#define NAMED(claim) "\"resourceClaims\":[{\"name\":\"c\",\"resourceClaimName\":\"" claim "\"}],"
#define PLACED "(Admitted=True/Admitted position=0 placed)"
#define REFUSED(reason) "(Admitted=False/" reason " position=0)"
#define WAITS(reason) "(Admitted=False/" reason " position=1)"

static void put_template(const char *name, const char *class, int count)
{
	char rest[256];

	snprintf(rest, sizeof(rest),
		",\"spec\":{\"spec\":{\"devices\":{\"requests\":[{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"%s\",\"count\":%d}}]}}}",
		class, count);
	put_named(w.stores.claimtemplates, name, "", rest);
}

/* Node n1 has four devices of class gpu, n2 none. Claims: mine (allocated to n1), free (not allocated); somebody's pod has device 3. */
static void put_devices(void)
{
	struct kar_store *const read[] = { w.stores.deviceclasses, w.stores.resourceslices,
		w.stores.resourceclaims, w.stores.claimtemplates };

	for (size_t i = 0; i < KAR_LEN(read); i++) {
		kar_store_replace_begin(read[i]);
		kar_store_replace_commit(read[i], 1);
	}
	put_node("n1", "1000", "");
	put_node("n2", "1000", "");
	put_named(w.stores.deviceclasses, "gpu", "", ",\"spec\":{\"extendedResourceName\":\"a.b/gpu\"}");
	put_named(w.stores.deviceclasses, "none", "",
		",\"spec\":{\"selectors\":[{\"cel\":{\"expression\":\"device.driver == 'other'\"}}]}");
	put_named(w.stores.resourceslices, "s", "",
		",\"spec\":{\"driver\":\"d.io\",\"nodeName\":\"n1\",\"pool\":{\"name\":\"n1\",\"generation\":1,\"resourceSliceCount\":1},\"devices\":[{\"name\":\"g0\"},{\"name\":\"g1\"},{\"name\":\"g2\"},{\"name\":\"g3\"}]}");
	put_named(w.stores.resourceclaims, "theirs",
		",\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"o\",\"uid\":\"uid-o\",\"controller\":true}]",
		",\"status\":{\"allocation\":{\"devices\":{\"results\":[{\"driver\":\"d.io\",\"pool\":\"n1\",\"device\":\"g3\"}]}}}");
	put_named(w.stores.resourceclaims, "mine", "",
		",\"status\":{\"allocation\":{\"nodeSelector\":{\"nodeSelectorTerms\":[{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"n1\"]}]}]}},\"reservedFor\":[{\"uid\":\"p\"}]}");
	put_named(w.stores.resourceclaims, "free", "", ",\"spec\":{}");
	put_template("one", "gpu", 1);
	put_template("three", "gpu", 3);
	put_template("four", "gpu", 4);
	put_template("five", "gpu", 5);
	put_template("unknown", "tpu", 1);
	put_template("nothing", "none", 1);
}

static void put_job(const char *claims, const char *scheduler)
{
	char rest[1024];

	snprintf(rest, sizeof(rest),
		",\"spec\":{\"schedulerName\":\"%s\",\"taskSpecs\":[{\"name\":\"t\",\"replicas\":1,\"template\":{\"spec\":{%s\"containers\":[{\"name\":\"c\"}]}}}]}",
		scheduler, claims);
	put_named(w.stores.queuejobs, "g", "", rest);
	put_group_of_job("g", "");
}

static void put_members(const char *claims, const char *scheduler)
{
	bool direct = strcmp(scheduler, "kar-scheduler") == 0;
	char rest[1024];

	put_group("g", "\"minMember\":1", "");
	snprintf(rest, sizeof(rest),
		",\"spec\":{\"schedulerName\":\"%s\",%s%s\"containers\":[{\"name\":\"c\"}]}", scheduler,
		claims, direct ? "" : "\"schedulingGates\":[{\"name\":\"kube-arbitrator.io/gang\"}],");
	put_named(w.stores.pods, "p",
		",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"g\"},\"ownerReferences\":[{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"name\":\"p\",\"uid\":\"uid-p\",\"controller\":true}]",
		rest);
}

static const struct {
	const char *name, *claims;
	bool direct;
	const char *plan, *says; /* .says: in the body of the patch; NULL: not looked at */
} rows[] = {
	{ "one_device", BY("one"), false, PLACED, "\"nodes\":\"n1\"" },
	{ "all_that_are_left", BY("three"), false, PLACED, "\"nodes\":\"n1\"" },
	{ "one_more_than_is_left", BY("four"), false, WAITS("InsufficientCapacity"),
		"insufficient a.b/gpu: 4 requested, 3 of 4 free (1 short)" },
	{ "one_more_than_there_are", BY("five"), false, REFUSED("Infeasible"),
		"a pod asks for 5 a.b/gpu, the largest node has 4" },
	{ "no_template", BY("lost"), false, REFUSED("DevicesUnknown"),
		"ResourceClaimTemplate lost does not exist" },
	{ "no_class", BY("unknown"), false, REFUSED("DevicesUnknown"), "DeviceClass tpu does not exist" },
	{ "class_without_devices", BY("nothing"), false, REFUSED("DevicesUnknown"),
		"no node offers deviceclass.resource.kubernetes.io/none" },
	{ "bound_by_us", BY("one"), true, REFUSED("Unsupported"), "use default-scheduler" },
	{ "shared", NAMED("mine"), false, PLACED, "\"nodes\":\"n1\"" },
	{ "shared_and_bound_by_us", NAMED("mine"), true, REFUSED("Unsupported"), "use default-scheduler" },
	{ "shared_and_nobody_has_it_yet", NAMED("free"), false, PLACED, NULL },
	{ "shared_and_not_there", NAMED("lost"), false, REFUSED("DevicesUnknown"),
		"ResourceClaim lost does not exist" },
};

static void check(const char *kind, size_t i, void (*make)(const char *claims, const char *scheduler))
{
	char want[128];
	const char *got;

	settings.direct_schedulers = "kar-scheduler";
	put_queue("default", "");
	put_devices();
	make(rows[i].claims, rows[i].direct ? "kar-scheduler" : "default-scheduler");
	got = sync_text(true);
	snprintf(want, sizeof(want), "patch podgroups/status ns/g %s", rows[i].plan);
	if (strcmp(got, want))
		fail_msg("%s of a %s: got \"%s\", want \"%s\"", rows[i].name, kind, got, want);
	if (rows[i].says)
		check_says(&w.sync.plan.actions[0], rows[i].says);
}

static void claims_say_where_gangs_can_be(void **state)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		assert_int_equal(teardown(state), 0); /* a world of its own for each */
		setup(state);
		check("job", i, put_job);
		assert_int_equal(teardown(state), 0);
		setup(state);
		check("group of others", i, put_members);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(claims_say_where_gangs_can_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
