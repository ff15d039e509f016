/* Gangs whose pods have PersistentVolumeClaims, in a pass: of a job, and of another controller. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/unit/queue_sync_fixture.h"

#define USES(claim) "\"volumes\":[{\"persistentVolumeClaim\":{\"claimName\":\"" claim "\"}}],"
#define PLACED "(Admitted=True/Admitted position=0 placed)"
#define REFUSED(reason) "(Admitted=False/" reason " position=0)"

/* Claims: shared (bound, for all nodes), disk (bound, of node n2), now (made at once), later (made for a node), alone (bound, for one pod at a time). */
static void put_claims(void)
{
	struct kar_store *const read[] = { w.stores.volumeclaims, w.stores.volumes, w.stores.storageclasses,
		w.stores.csidrivers };

	for (size_t i = 0; i < KAR_LEN(read); i++) {
		kar_store_replace_begin(read[i]);
		kar_store_replace_commit(read[i], 1);
	}
	put_named(w.stores.volumeclaims, "shared", "",
		",\"spec\":{\"volumeName\":\"s\"},\"status\":{\"phase\":\"Bound\"}");
	put_named(w.stores.volumeclaims, "disk", "",
		",\"spec\":{\"volumeName\":\"d\"},\"status\":{\"phase\":\"Bound\"}");
	put_named(w.stores.volumeclaims, "now", "",
		",\"spec\":{\"storageClassName\":\"now\"},\"status\":{\"phase\":\"Pending\"}");
	put_named(w.stores.volumeclaims, "later", "",
		",\"spec\":{\"storageClassName\":\"later\"},\"status\":{\"phase\":\"Pending\"}");
	put_named(w.stores.volumeclaims, "alone", "",
		",\"spec\":{\"volumeName\":\"s\",\"accessModes\":[\"ReadWriteOncePod\"]},\"status\":{\"phase\":\"Bound\"}");
	put_named(w.stores.volumes, "s", "", ",\"spec\":{}");
	put_named(w.stores.volumes, "d", "",
		",\"spec\":{\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"disk\",\"operator\":\"Exists\"}]}]}}}");
	put_named(w.stores.storageclasses, "now", "",
		",\"volumeBindingMode\":\"Immediate\",\"provisioner\":\"d.io\"");
	put_named(w.stores.storageclasses, "later", "",
		",\"volumeBindingMode\":\"WaitForFirstConsumer\",\"provisioner\":\"d.io\"");
}

static void put_job(const char *volumes, const char *scheduler)
{
	char rest[1024];

	snprintf(rest, sizeof(rest),
		",\"spec\":{\"schedulerName\":\"%s\",\"taskSpecs\":[{\"name\":\"t\",\"replicas\":1,\"template\":{\"spec\":{%s\"containers\":[{\"name\":\"c\"}]}}}]}",
		scheduler, volumes);
	put_named(w.stores.queuejobs, "g", "", rest);
	put_group_of_job("g", "");
}

static void put_members(const char *volumes, const char *scheduler)
{
	bool direct = strcmp(scheduler, "kar-scheduler") == 0;
	char rest[1024];

	put_group("g", "\"minMember\":1", "");
	snprintf(rest, sizeof(rest),
		",\"spec\":{\"schedulerName\":\"%s\",%s%s\"containers\":[{\"name\":\"c\"}]}", scheduler,
		volumes, direct ? "" : "\"schedulingGates\":[{\"name\":\"kube-arbitrator.io/gang\"}],");
	put_named(w.stores.pods, "p",
		",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"g\"},\"ownerReferences\":[{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"name\":\"p\",\"uid\":\"uid-p\",\"controller\":true}]",
		rest);
}

static const struct {
	const char *name, *volumes;
	bool direct;
	const char *plan, *says; /* .says: in the body of the patch; NULL: not looked at */
} rows[] = {
	{ "shared_file_system", USES("shared"), false, PLACED, NULL },
	{ "shared_file_system_bound_by_us", USES("shared"), true, PLACED, NULL },
	{ "disk_of_a_node", USES("disk"), false, PLACED, "\"nodes\":\"n2\"" },
	{ "disk_of_a_node_bound_by_us", USES("disk"), true, PLACED, "\"nodes\":\"n2\"" },
	{ "no_claim", USES("lost"), false, REFUSED("VolumePending"),
		"PersistentVolumeClaim lost does not exist" },
	{ "claim_is_not_bound", USES("now"), false, REFUSED("VolumePending"),
		"PersistentVolumeClaim now is not bound" },
	{ "volume_is_made_for_the_node", USES("later"), false, PLACED, NULL },
	{ "for_one_pod_at_a_time", USES("alone"), true, REFUSED("Unsupported"),
		"kar-scheduler does not place volumes" },
	{ "of_which_kube_scheduler_may_know", USES("alone"), false, PLACED, NULL },
	{ "but_only_kube_scheduler_can_ask_for_that", USES("later"), true, REFUSED("Unsupported"),
		"kar-scheduler does not place volumes" },
};

static void check(const char *kind, size_t i, void (*make)(const char *volumes, const char *scheduler))
{
	char want[128];
	const char *got;

	settings.direct_schedulers = "kar-scheduler";
	put_queue("default", "");
	put_node("n2", "1000", "");
	put_named(w.stores.nodes, "n2", ",\"labels\":{\"disk\":\"yes\"}",
		",\"status\":{\"allocatable\":{\"cpu\":\"1000\",\"pods\":\"110\"},\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}");
	put_claims();
	make(rows[i].volumes, rows[i].direct ? "kar-scheduler" : "default-scheduler");
	got = sync_text(true);
	snprintf(want, sizeof(want), "patch podgroups/status ns/g %s", rows[i].plan);
	if (strcmp(got, want))
		fail_msg("%s of a %s: got \"%s\", want \"%s\"", rows[i].name, kind, got, want);
	if (rows[i].says)
		check_says(&w.sync.plan.actions[0], rows[i].says);
}

static void volumes_say_where_gangs_can_be(void **state)
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
		TEST(volumes_say_where_gangs_can_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
