/*
 * queue_sync_fixture - the Queue reconciler: queues and groups are put, one pass is made, its plan is read as text. For one test
 * executable: all functions are static.
 */
#ifndef KAR_TEST_QUEUE_SYNC_FIXTURE_H
#define KAR_TEST_QUEUE_SYNC_FIXTURE_H

#include "controllers/queue/queue.h"
#include "test/fixture/reconciler.h"

static struct kar_settings settings;

static KAR_UNUSED void put_node(const char *name, const char *cpu, const char *spec)
{
	char rest[512];

	snprintf(rest, sizeof(rest),
		",\"spec\":{%s},\"status\":{\"allocatable\":{\"cpu\":\"%s\",\"pods\":\"110\"},\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}",
		spec, cpu);
	put_named(w.stores.nodes, name, "", rest);
}

/* Forgets which keys wait. */
static void drain(void)
{
	for (const char *key; (key = kar_workqueue_take(w.controller.queue, w.mono));)
		kar_workqueue_done(w.controller.queue, key);
}

static KAR_UNUSED int setup(void **state KAR_UNUSED)
{
	settings = (struct kar_settings){ 0 };
	open_world(kar_queue_controller, &settings);
	w.controller.start(&w.controller);
	drain();
	put_node("n1", "1000", "");
	drain();
	w.rv = 10;
	w.mono = 1000000;
	return 0;
}

#define ADMITTED(status, reason, message) \
	"\"conditions\":[{\"type\":\"Admitted\",\"status\":\"" status "\",\"reason\":\"" reason \
	"\",\"message\":\"" message "\"," \
	"\"observedGeneration\":1,\"lastTransitionTime\":\"2026-11-21T10:00:00Z\"}]"

#define HELD ",\"finalizers\":[\"kube-arbitrator.io/queue\"]"

static KAR_UNUSED void put_queue(const char *name, const char *spec)
{
	char rest[512];

	snprintf(rest, sizeof(rest),
		",\"spec\":{%s},\"status\":{\"state\":\"Open\",\"parent\":\"%s\",\"entitled\":{\"cpu\":\"1k\",\"pods\":\"110\"},\"conditions\":["
		"{\"type\":\"Valid\",\"status\":\"True\",\"reason\":\"Valid\",\"message\":\"the spec is valid\",\"observedGeneration\":1},"
		"{\"type\":\"Active\",\"status\":\"True\",\"reason\":\"Open\",\"message\":\"admits jobs\",\"observedGeneration\":1}]}",
		spec, strstr(spec, "\"parent\":\"t\"") ? "t" : "root");
	put_named(w.stores.queues, name, HELD, rest);
}

/* The conditions that a status has whose phase is written, unless @status has some. */
static KAR_UNUSED const char *usual_conditions(const char *status)
{
	return strstr(status, "\"phase\"") && !strstr(status, "\"conditions\"")
		? ",\"conditions\":[{\"type\":\"Scheduled\",\"status\":\"False\",\"reason\":\"NotEnoughMembers\",\"message\":\"m\","
		  "\"lastTransitionTime\":\"2026-11-21T10:00:00Z\"}]"
		: "";
}

static KAR_UNUSED void put_group(const char *name, const char *spec, const char *status)
{
	char rest[1024];

	snprintf(rest, sizeof(rest), ",\"spec\":{%s},\"status\":{%s%s}", spec, status,
		usual_conditions(status));
	put_named(w.stores.podgroups, name, "", rest);
}

/* The queue "default" with as many jobs as it may have: one of another controller, which runs. */
static KAR_UNUSED void put_full_queue(void)
{
	put_queue("default", "\"maxJobs\":1");
	put_group("zz", "",
		"\"phase\":\"Running\",\"members\":1,\"position\":0,\"admittedQueue\":\"default\"," ADMITTED(
			"True", "Admitted", "admitted by queue default"));
}

static KAR_UNUSED void put_group_of_job(const char *name, const char *status)
{
	char rest[1024], owner[256];

	snprintf(rest, sizeof(rest), ",\"spec\":{},\"status\":{%s%s}", status, usual_conditions(status));
	snprintf(owner, sizeof(owner),
		",\"ownerReferences\":[{\"apiVersion\":\"kube-arbitrator.io/v1alpha1\",\"kind\":\"QueueJob\",\"name\":\"%s\",\"uid\":\"uid-%s\",\"controller\":true}]",
		name, name);
	put_named(w.stores.podgroups, name, owner, rest);
}

#define INVALID(pods) \
	"Pending\",\"replicas\":" pods \
	",\"conditions\":[{\"type\":\"Invalid\",\"status\":\"True\"}],\"reason\":\"r"

/* One sync; the plan without what concerns queue statuses if @groups_only. The text lives until the next call. */
static KAR_UNUSED const char *sync_text(bool groups_only)
{
	static char text[4096];
	struct kar_buf out = { 0 };

	if (!sync_named("all"))
		kar_buf_puts(&out, "not yet: ");
	while (groups_only && w.sync.plan.n_actions &&
		w.sync.plan.actions[w.sync.plan.n_actions - 1].type == &kar_queue_type)
		w.sync.plan.n_actions--;
	if (groups_only)
		w.sync.plan.requeue_after = KAR_NEVER;
	kar_plan_print(&w.sync.plan, &out);
	snprintf(text, sizeof(text), "%s", kar_buf_cstr(&out));
	kar_buf_release(&out);
	return text;
}

/* The body of @a contains @text. */
static KAR_UNUSED void check_says(const struct kar_action *a, const char *text)
{
	struct kar_buf out = { 0 };
	struct kar_err err = { 0 };

	assert_int_equal(w.controller.encode(&w.sync, a, &out, &err), 0);
	if (!strstr(kar_buf_cstr(&out), text))
		fail_msg("no '%s' in '%s'", text, kar_buf_cstr(&out));
	kar_buf_release(&out);
}

#endif
