/* pods/eviction (policy/v1): a deletion that a PodDisruptionBudget may refuse. */
#include <string.h>

#include "common/base/mem.h"
#include "sim/apiserver/selector.h"
#include "sim/apiserver/store.h"
#include "sim/apiserver/strategy_pod.h"

enum { STALE_BUDGET_SECONDS = 10 };

/* ---- the budget ---- */

struct search {
	const struct sim_value *pod;
	const struct sim_value *found;
	size_t n;
};

static void consider(void *arg, const struct sim_value *pdb)
{
	struct search *q = arg;

	if (!sim_equal(sim_get(pdb, "metadata", "namespace"), sim_get(q->pod, "metadata", "namespace")) ||
		!sim_label_selector_object_matches(sim_get(pdb, "spec", "selector"),
			sim_get(q->pod, "metadata", "labels")))
		return;
	q->n++;
	q->found = pdb;
}

static bool refuse_for_now(struct sim_response *out, const char *pdb, int64_t retry_after, const char *why)
{
	struct sim_value *cause = sim_object(), *causes = sim_array();

	sim_refuse(out, 429, "TooManyRequests",
		"Cannot evict pod as it would violate the pod's disruption budget.");
	sim_set_text(&cause, "DisruptionBudget", "reason");
	sim_set(&cause, sim_printf("The disruption budget %s %s", pdb, why), "message");
	sim_append(&causes, cause);
	sim_set(&out->object, causes, "details", "causes");
	if (retry_after > 0)
		sim_set(&out->object, sim_int(retry_after), "details", "retryAfterSeconds");
	return false;
}

static bool refuse_exhausted(struct sim_response *out, const char *name, const struct sim_value *status)
{
	int64_t desired = sim_get_int(status, 0, "desiredHealthy"),
		healthy = sim_get_int(status, 0, "currentHealthy");
	const struct sim_value *condition = sim_item(sim_member(status, "conditions"), 0);
	const char *message = sim_text_or(sim_member(condition, "message"), "");
	bool failed = !strcmp(sim_text_or(sim_member(condition, "reason"), ""), "SyncFailed");
	char *why KAR_CLEANUP(kar_cleanup_free) = NULL;

	if (failed && *message)
		why = kar_xasprintf("does not allow evicting pods currently because it failed sync: %s",
			message);
	else if (healthy <= desired)
		why = kar_xasprintf("needs %lld healthy pods and has %lld currently", (long long)desired,
			(long long)healthy);
	else
		why = kar_xstrdup("does not allow evicting pods currently");
	return refuse_for_now(out, name, 0, why);
}

/* Takes one disruption from the budget; false with @out filled if there is none. */
static bool spend(struct sim_apiserver *s, const struct sim_request *rq, const struct sim_value *pdb,
	const char *pod, struct sim_response *out)
{
	const struct sim_value *status = sim_member(pdb, "status");
	const char *name = sim_text_or(sim_get(pdb, "metadata", "name"), "");
	int64_t allowed = sim_get_int(status, 0, "disruptionsAllowed");

	if (sim_get_int(status, 0, "observedGeneration") < sim_get_int(pdb, 0, "metadata", "generation"))
		return refuse_for_now(out, name, STALE_BUDGET_SECONDS,
			"is still being processed by the server.");
	if (allowed <= 0)
		return refuse_exhausted(out, name, status);
	if (rq->dry_run)
		return true;
	struct sim_value *new = sim_ref(pdb);
	struct sim_resource *pdbs = sim_resource_find(s, "policy", "v1", "poddisruptionbudgets");

	sim_set(&new, sim_int(allowed - 1), "status", "disruptionsAllowed");
	sim_set(&new, sim_time(sim_timeline_wall(sim_apiserver_timeline(s))), "status", "disruptedPods", pod);
	sim_store_commit(s, pdbs, rq, rq->ns, name, new);
	return true;
}

static bool is_ready(const struct sim_value *pod)
{
	const struct sim_value *conditions = sim_get(pod, "status", "conditions");

	for (size_t i = 0; i < sim_count(conditions); i++) {
		if (!strcmp(sim_text_or(sim_member(sim_item(conditions, i), "type"), ""), "Ready"))
			return !strcmp(sim_text_or(sim_member(sim_item(conditions, i), "status"), ""),
				"True");
	}
	return false;
}

/* Pods that are not ready do not count against a budget that is met, or that says so. */
static bool is_free(const struct sim_value *pod, const struct sim_value *pdb)
{
	int64_t desired = sim_get_int(pdb, 0, "status", "desiredHealthy");

	if (is_ready(pod))
		return false;
	if (!strcmp(sim_text_or(sim_get(pdb, "spec", "unhealthyPodEvictionPolicy"), ""), "AlwaysAllow"))
		return true;
	return desired > 0 && sim_get_int(pdb, 0, "status", "currentHealthy") >= desired;
}

static bool check_budget(struct sim_apiserver *s, const struct sim_request *rq, const struct sim_value *pod,
	struct sim_response *out)
{
	const char *phase = sim_text_or(sim_get(pod, "status", "phase"), "");
	struct search q = { .pod = pod };

	if (strcmp(phase, "Running") != 0 || sim_get(pod, "metadata", "deletionTimestamp"))
		return true;
	sim_apiserver_each(s, "policy", "poddisruptionbudgets", consider, &q);
	if (q.n > 1)
		return sim_refuse(out, 500, "",
			"This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.");
	return q.n == 0 || is_free(pod, q.found) || spend(s, rq, q.found, rq->name, out);
}

/* ---- the pod ---- */

/* The deletion's options are those of the eviction; its preconditions hold before the condition is written. */
static bool check_precondition(const struct sim_resource *pods, const struct sim_value *asked,
	const struct sim_value *is, const char *what, const char *name, const char *hint,
	struct sim_response *out)
{
	if (!asked || sim_equal(asked, is))
		return true;
	char *why KAR_CLEANUP(kar_cleanup_free) =
		kar_xasprintf("the %s in the precondition (%s) does not match the %s in record (%s). %s",
			what, sim_text_or(asked, ""), what, sim_text_or(is, ""), hint);
	struct sim_resource pod = { .group = "", .version = pods->version, .plural = "Pod", .kind = "Pod" };

	return sim_refuse_conflict(out, &pod, name, why);
}

static void mark(struct sim_apiserver *s, struct sim_resource *pods, const struct sim_request *rq,
	const struct sim_value *old)
{
	struct sim_value *pod = sim_ref(old);

	if (sim_pod_condition_set(&pod, "DisruptionTarget", "True", "EvictionByEvictionAPI",
		    "Eviction API: evicting", sim_timeline_wall(sim_apiserver_timeline(s))))
		sim_store_commit(s, pods, rq, rq->ns, rq->name, pod);
	else
		sim_unref(pod);
}

static void delete_pod(struct sim_apiserver *s, const struct sim_request *rq, const struct sim_value *options,
	struct sim_response *out)
{
	struct sim_value *body = options ? sim_ref(options) : sim_object();
	struct sim_request deletion = { .verb = KAR_DELETE,
		.group = "",
		.version = "v1",
		.resource = "pods",
		.ns = rq->ns,
		.name = rq->name,
		.dry_run = rq->dry_run,
		.user = rq->user };

	/* The resourceVersion moved by our own write. */
	sim_remove(&body, "preconditions", "resourceVersion");
	deletion.object = body;
	sim_apiserver_call(s, &deletion, out);
	sim_unref(body);
	if (out->code < 300) {
		sim_response_release(out);
		sim_answer_success(out, 201);
	}
}

void sim_pod_evict(struct sim_apiserver *s, const struct sim_request *rq, const struct sim_value *eviction,
	struct sim_response *out)
{
	struct sim_resource *pods = sim_resource_find(s, "", "v1", "pods");
	const struct sim_value *options = sim_member(eviction, "deleteOptions");
	const char *name = sim_text_or(sim_get(eviction, "metadata", "name"), "");
	struct sim_version *version;

	if (strcmp(name, rq->name) != 0) {
		sim_refuse_bad_request(out, "name in URL does not match name in Eviction object");
		return;
	}
	version = sim_collection_get(pods->objects, rq->ns, rq->name);
	if (!version) {
		sim_refuse_not_found(out, pods, rq->name);
		return;
	}
	struct sim_value *pod KAR_CLEANUP(sim_cleanup_value) = sim_ref(version->value);

	if (!check_precondition(pods, sim_get(options, "preconditions", "uid"),
		    sim_get(pod, "metadata", "uid"), "UID", name,
		    "The object might have been deleted and then recreated", out) ||
		!check_precondition(pods, sim_get(options, "preconditions", "resourceVersion"),
			sim_get(pod, "metadata", "resourceVersion"), "ResourceVersion", name,
			"The object might have been modified", out) ||
		!check_budget(s, rq, pod, out))
		return;
	if (!rq->dry_run)
		mark(s, pods, rq, pod);
	delete_pod(s, rq, options, out);
}
