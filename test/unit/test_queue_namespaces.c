/* Queues that limit what each namespace has: who waits, and what it is said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "test/unit/queue_sync_fixture.h"

#define LETS_IN(name) "patch podgroups/status ns/" name " (Admitted=True/Admitted position=0 placed)"
#define REFUSES(name, reason, position) \
	"patch podgroups/status ns/" name " (Admitted=False/" reason " position=" position ")"

static void put_job(const char *name, const char *pods, const char *cpu)
{
	char rest[1024];

	snprintf(rest, sizeof(rest),
		",\"spec\":{\"schedSpec\":{\"minAvailable\":%s},\"taskSpecs\":[{\"name\":\"t\",\"replicas\":%s,"
		"\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"%s\"}}}]}}}]}",
		pods, pods, cpu);
	put_named(w.stores.queuejobs, name, "", rest);
	put_group_of_job(name, "");
}

/* Jobs g and h of one namespace, each with so many pods of one cpu, on a node of ten. */
static const struct {
	const char *name, *above, *queue; /* specs of the queues t and, below it, default */
	const char *g, *h;
	const char *plan, *says; /* the latter of the last action */
} rows[] = {
	{ "no_limit", "", "", "2", "2", LETS_IN("g") "; " LETS_IN("h"), "" },
	{ "limit_of_another_resource", "", "\"perNamespace\":{\"capability\":{\"gpu\":1}}", "2", "2",
		LETS_IN("g") "; " LETS_IN("h"), "" },
	{ "both_fit", "", "\"perNamespace\":{\"capability\":{\"cpu\":4},\"maxJobs\":2}", "2", "2",
		LETS_IN("g") "; " LETS_IN("h"), "" },
	{ "second_is_above_it", "", "\"perNamespace\":{\"capability\":{\"cpu\":3}}", "2", "2",
		LETS_IN("g") "; " REFUSES("h", "NamespaceLimit", "1"),
		"insufficient cpu: 2 requested, 1 of 3 free (1 short), queue default allows namespace ns 3, used 2" },
	{ "pods_are_counted", "", "\"perNamespace\":{\"capability\":{\"pods\":3}}", "2", "2",
		LETS_IN("g") "; " REFUSES("h", "NamespaceLimit", "1"),
		"insufficient pods: 2 requested, 1 of 3 free (1 short), queue default allows namespace ns 3, used 2" },
	{ "jobs_are_counted", "", "\"perNamespace\":{\"maxJobs\":1}", "2", "2",
		LETS_IN("g") "; " REFUSES("h", "NamespaceLimit", "1"),
		"insufficient jobs: 1 requested, 0 of 1 free (1 short), queue default allows namespace ns 1, used 1" },
	{ "queue_above_allows_less", "\"perNamespace\":{\"maxJobs\":1}", "\"perNamespace\":{\"maxJobs\":2}",
		"2", "2", LETS_IN("g") "; " REFUSES("h", "NamespaceLimit", "1"),
		"insufficient jobs: 1 requested, 0 of 1 free (1 short), queue t allows namespace ns 1, used 1" },
	{ "never_fits", "", "\"perNamespace\":{\"capability\":{\"cpu\":3}}", "2", "4",
		LETS_IN("g") "; " REFUSES("h", "Infeasible", "0"),
		"insufficient cpu: 4 requested, 3 of 3 free (1 short), queue default allows namespace ns 3" },
};

static void queue_limits_what_each_namespace_has(void **state)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		char below[256];
		const char *got;

		assert_int_equal(teardown(state), 0);
		setup(state);
		snprintf(below, sizeof(below), "\"parent\":\"t\"%s%s", rows[i].queue[0] ? "," : "",
			rows[i].queue);
		put_queue("t", rows[i].above);
		put_queue("default", below);
		put_node("n1", "10", "");
		put_job("g", rows[i].g, "1");
		put_job("h", rows[i].h, "1");
		got = sync_text(true);
		if (strcmp(got, rows[i].plan))
			fail_msg("%s: got \"%s\", want \"%s\"", rows[i].name, got, rows[i].plan);
		check_says(&w.sync.plan.actions[w.sync.plan.n_actions - 1], rows[i].says);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(queue_limits_what_each_namespace_has, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
