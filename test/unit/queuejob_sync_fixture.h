/*
 * queuejob_sync_fixture - the QueueJob reconciler and its job ns/j, and the API server's answers, which are given by hand. For
 * one test executable: all functions are static.
 */
#ifndef KAR_TEST_QUEUEJOB_SYNC_FIXTURE_H
#define KAR_TEST_QUEUEJOB_SYNC_FIXTURE_H

#include "controllers/podset/podset.h"
#include "controllers/queuejob/memory.h"
#include "controllers/queuejob/queuejob.h"
#include "test/fixture/reconciler.h"

static struct kar_settings settings;

static KAR_UNUSED struct queuejob_key *key_memory(void)
{
	return w.state.memory;
}

static KAR_UNUSED int setup(void **state KAR_UNUSED)
{
	settings = (struct kar_settings){ .schedule_timeout = 45 * KAR_SECOND };
	open_world(kar_queuejob_controller, &settings);
	w.controller.start(&w.controller);
	return 0;
}

static KAR_UNUSED void put_job(const char *rest)
{
	put(w.stores.queuejobs, "j", "job-uid", ",\"generation\":1", rest);
}

#define SPEC ",\"spec\":{\"taskSpecs\":[{\"name\":\"w\",\"replicas\":2," TEMPLATE "}]}"
/* What goes with the phase of a job: else its status would be put right first. */
#define STARTED(formed, reason) \
	",\"startTime\":\"2026-11-21T10:00:00Z\",\"conditions\":[{\"type\":\"Formed\",\"status\":\"" formed \
	"\",\"reason\":\"" reason "\",\"message\":\"\",\"lastTransitionTime\":\"2026-11-21T10:00:00Z\"}," \
	"{\"type\":\"Admitted\",\"status\":\"True\",\"reason\":\"Admitted\",\"message\":\"admitted by queue default\"}]"
#define NOT_FORMED STARTED("False", "Starting")
#define FORMED STARTED("True", "QuorumReached")
#define COMPLETED \
	",\"status\":{\"phase\":\"Completed\",\"reason\":\"Completed\"," \
	"\"completionTime\":\"2026-11-21T10:00:00Z\",\"conditions\":[{\"type\":\"Complete\",\"status\":\"True\"," \
	"\"reason\":\"Completed\",\"message\":\"\",\"lastTransitionTime\":\"2026-11-21T10:00:00Z\"}]}"
#define STARTING \
	",\"status\":{\"phase\":\"Starting\",\"incarnation\":1,\"record\":{\"formation\":\"First\",\"templateHash\":\"%s\"},\"observedGeneration\":1" NOT_FORMED \
	"}"
#define CONTROLLED_BY(kind, name, uid) \
	",\"ownerReferences\":[{\"kind\":\"" kind "\",\"name\":\"" name "\",\"uid\":\"" uid \
	"\",\"controller\":true}]"
#define BY_JOB CONTROLLED_BY("QueueJob", "j", "job-uid")
#define TRACKED ",\"finalizers\":[\"kube-arbitrator.io/pod-tracking\"]"
#define IN_GROUP ",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"j\"}"

/* Of the job, as it was put last. */
static KAR_UNUSED const char *spec_hash(void)
{
	return kar_as_queuejob(kar_store_get(w.stores.queuejobs, "ns", "j"))->spec_template_hash;
}

static KAR_UNUSED void put_children(bool admitted)
{
	put(w.stores.schedulingspecs, "j", "s-uid", BY_JOB, ",\"spec\":{\"minAvailable\":2}");
	put(w.stores.podgroups, "j", "g-uid", BY_JOB,
		admitted
			? ",\"spec\":{\"minMember\":2,\"queue\":\"default\",\"priority\":0},\"status\":{\"conditions\":[{"
			  "\"type\":\"Admitted\",\"status\":\"True\",\"reason\":\"Admitted\",\"message\":\"\"}]}"
			: ",\"spec\":{\"minMember\":2,\"queue\":\"default\",\"priority\":0}");
}

/* A job that is about to create its pods. */
static KAR_UNUSED void put_starting(const char *spec)
{
	struct kar_buf rest = { 0 };

	put_job(spec);
	kar_buf_printf(&rest, "%s" STARTING, spec, spec_hash());
	put_job(kar_buf_cstr(&rest));
	kar_buf_release(&rest);
	put_children(true);
}

static KAR_UNUSED void put_starting_job(void)
{
	put_starting(SPEC);
}

static KAR_UNUSED bool sync_at(kar_time mono)
{
	w.mono = mono;
	return sync_named("ns/j");
}

static KAR_UNUSED bool sync_key(void)
{
	return sync_at(5000);
}

/* The planned action, or NULL. */
static KAR_UNUSED const struct kar_action *find_action(int what, enum kar_verb verb)
{
	for (size_t i = 0; i < w.sync.plan.n_actions; i++) {
		if (w.sync.plan.actions[i].what == what && w.sync.plan.actions[i].verb == verb)
			return &w.sync.plan.actions[i];
	}
	return NULL;
}

/* The same where the test ends if there is none. */
static KAR_UNUSED const struct kar_action *action_of(int what, enum kar_verb verb)
{
	const struct kar_action *a = find_action(what, verb);

	if (!a) {
		fail_msg("no action %d to %s in the plan", what, kar_verb_name(verb));
		abort();
	}
	return a;
}

static KAR_UNUSED size_t count_actions(enum kar_verb verb)
{
	size_t n = 0;

	for (size_t i = 0; i < w.sync.plan.n_actions; i++)
		n += w.sync.plan.actions[i].verb == verb;
	return n;
}

/* The API server has answered a write of the sync. */
static KAR_UNUSED void answer_version(const struct kar_action *a, const char *body, kar_rv rv)
{
	const struct kar_answer an = { .status = 200, .body = { body, strlen(body) }, .rv = rv };

	w.controller.wrote(&w.sync, a, &an);
}

static KAR_UNUSED void answer(const struct kar_action *a, const char *body)
{
	answer_version(a, body, w.sync.object ? w.sync.object->rv : 0);
}

static KAR_UNUSED void check_owner(void)
{
	key_memory()->owner_checked = 1;
	key_memory()->owner_uid = kar_hash_str(1, "job-uid");
}

#define CHILD(api, kind) \
	"{\"apiVersion\":\"" api "\",\"kind\":\"" kind \
	"\",\"metadata\":{\"name\":\"j\",\"namespace\":\"ns\",\"labels\":{" \
	"\"kube-arbitrator.io/queuejob\":\"j\"},\"ownerReferences\":[{\"apiVersion\":\"kube-arbitrator.io/v1alpha1\"," \
	"\"kind\":\"QueueJob\",\"name\":\"j\",\"uid\":\"job-uid\",\"controller\":true,\"blockOwnerDeletion\":true}]}"

#endif
