#include "sim/apiserver/strategy_pod.h"

#include <string.h>

#include "sim/apiserver/store.h"

/* ---- conditions ---- */

static size_t condition_index(const struct sim_value *list, const char *type)
{
	size_t n = sim_count(list);

	for (size_t i = 0; i < n; i++) {
		if (!strcmp(sim_text_or(sim_member(sim_item(list, i), "type"), ""), type))
			return i;
	}
	return n;
}

static bool says(const struct sim_value *condition, const char *key, const char *text)
{
	return !strcmp(sim_text_or(sim_member(condition, key), ""), text ? text : "");
}

bool sim_pod_condition_set(struct sim_value **pod, const char *type, const char *status, const char *reason,
	const char *message, kar_time now)
{
	struct sim_value *known = sim_get(*pod, "status", "conditions"),
			 *list = known ? sim_ref(known) : sim_array();
	size_t at = condition_index(list, type);
	const struct sim_value *old = sim_item(list, at), *since = sim_member(old, "lastTransitionTime");
	bool same_status = old && says(old, "status", status);
	struct sim_value *condition;

	if (same_status && says(old, "reason", reason) && says(old, "message", message)) {
		sim_unref(list);
		return false;
	}
	condition = sim_object();
	sim_set_text(&condition, type, "type");
	sim_set_text(&condition, status, "status");
	sim_set(&condition, sim_null(), "lastProbeTime");
	sim_set(&condition, same_status && since ? sim_ref(since) : sim_time(now), "lastTransitionTime");
	if (reason)
		sim_set_text(&condition, reason, "reason");
	if (message)
		sim_set_text(&condition, message, "message");
	if (old)
		sim_replace(&list, at, condition);
	else
		sim_append(&list, condition);
	sim_set(pod, list, "status", "conditions");
	return true;
}

/* ---- strategy ---- */

static void prepare(struct sim_write *w)
{
	/* For gangs of the default scheduler; the feature is off unless asked for, and then the member is dropped. */
	if (sim_get(*w->new, "spec", "schedulingGroup"))
		sim_remove(w->new, "spec", "schedulingGroup");
	if (w->old) {
		sim_keep_old(w, "status");
		return;
	}
	sim_clear_status(w);
	sim_set_text(w->new, "Pending", "status", "phase");
	if (sim_count(sim_get(*w->new, "spec", "schedulingGates")) > 0)
		sim_pod_condition_set(w->new, "PodScheduled", "False", "SchedulingGated",
			"Scheduling is blocked due to non-empty scheduling gates",
			sim_timeline_wall(sim_apiserver_timeline(w->s)));
}

/* Old kubelets drop the class, and no status update may touch owners. */
static void prepare_status(struct sim_write *w)
{
	const struct sim_value *owners = sim_get(w->old, "metadata", "ownerReferences"),
			       *qos = sim_get(w->old, "status", "qosClass");

	sim_keep_old(w, "spec");
	if (owners != sim_get(*w->new, "metadata", "ownerReferences")) {
		if (owners)
			sim_set(w->new, sim_ref(owners), "metadata", "ownerReferences");
		else
			sim_remove(w->new, "metadata", "ownerReferences");
	}
	if (qos && !sim_get(*w->new, "status", "qosClass"))
		sim_set(w->new, sim_ref(qos), "status", "qosClass");
}

static void validate(struct sim_write *w)
{
	if (sim_writes_status(w)) {
		sim_pod_validate_status(w);
		return;
	}
	if (w->old && sim_equal(sim_member(w->old, "spec"), sim_member(*w->new, "spec")))
		return;
	sim_pod_validate(w);
	if (w->old)
		sim_pod_validate_update(w);
}

static bool is_terminal(const struct sim_value *pod)
{
	const char *phase = sim_text_or(sim_get(pod, "status", "phase"), "");

	return !strcmp(phase, "Succeeded") || !strcmp(phase, "Failed");
}

/* What nobody runs needs no time to end. */
static int64_t grace(struct sim_write *w, int64_t asked)
{
	const struct sim_value *pod = *w->new;
	int64_t seconds = asked;

	if (asked == -1)
		seconds = sim_get_int(pod, 0, "spec", "terminationGracePeriodSeconds");
	if (!*sim_text_or(sim_get(pod, "spec", "nodeName"), "") || is_terminal(pod))
		return 0;
	return seconds < 0 ? 1 : seconds;
}

static const char *field(const struct sim_value *pod, const char *name)
{
	static const struct {
		const char *name, *path[3];
	} fields[] = {
		{ "spec.nodeName", { "spec", "nodeName" } },
		{ "spec.host", { "spec", "nodeName" } },
		{ "spec.restartPolicy", { "spec", "restartPolicy" } },
		{ "spec.schedulerName", { "spec", "schedulerName" } },
		{ "spec.serviceAccountName", { "spec", "serviceAccountName" } },
		{ "status.phase", { "status", "phase" } },
		{ "status.podIP", { "status", "podIP" } },
		{ "status.podIPs", { "status", "podIP" } },
		{ "status.nominatedNodeName", { "status", "nominatedNodeName" } },
	};

	if (!strcmp(name, "spec.hostNetwork"))
		return sim_bool_of(sim_get(pod, "spec", "hostNetwork"), false) ? "true" : "false";
	for (size_t i = 0; i < KAR_LEN(fields); i++) {
		if (!strcmp(fields[i].name, name))
			return sim_text_or(sim_get_path(pod, fields[i].path), "");
	}
	return NULL;
}

static bool refuse_log(struct sim_response *out, const struct sim_resource *r, const struct sim_request *rq)
{
	const char *ns = rq->ns ? rq->ns : "", *name = rq->name ? rq->name : "";

	(void)r;
	return sim_refuse(out, 404, "NotFound",
		"the pod \"%s\" in namespace \"%s\" has no log: its containers are simulated", name, ns);
}

/* Only the resources of containers: the kubelet does it at once. */
static void resize(struct sim_apiserver *s, const struct sim_request *rq, const struct sim_value *body,
	struct sim_response *out)
{
	struct sim_resource *pods = sim_resource_find(s, "", "v1", "pods");
	struct sim_version *version = sim_collection_get(pods->objects, rq->ns, rq->name);
	const struct sim_value *wanted = sim_get(body, "spec", "containers");
	struct sim_value *pod, *containers;

	if (!version) {
		sim_refuse_not_found(out, pods, rq->name);
		return;
	}
	pod = sim_ref(version->value);
	containers = sim_ref(sim_get(pod, "spec", "containers"));
	for (size_t i = 0; i < sim_count(containers) && i < sim_count(wanted); i++) {
		struct sim_value *one = sim_ref(sim_item(containers, i));
		const struct sim_value *resources = sim_member(sim_item(wanted, i), "resources");

		if (resources)
			sim_set(&one, sim_ref(resources), "resources");
		sim_replace(&containers, i, one);
	}
	sim_set(&pod, containers, "spec", "containers");
	sim_store_commit(s, pods, rq, rq->ns, rq->name, pod);
	sim_answer_success(out, 200);
}

static bool subresource(struct sim_apiserver *s, const struct sim_resource *r, const struct sim_request *rq,
	struct sim_response *out)
{
	bool binding = !strcmp(rq->subresource, "binding"), eviction = !strcmp(rq->subresource, "eviction"),
	     resized = !strcmp(rq->subresource, "resize");
	struct sim_value *body;

	if (!strcmp(rq->subresource, "log") && rq->verb == KAR_GET) {
		if (!sim_apiserver_peek(s, "", "pods", rq->ns, rq->name))
			sim_refuse_not_found(out, r, rq->name);
		else
			refuse_log(out, r, rq);
		return true;
	}
	if (!(resized && rq->verb == KAR_UPDATE) && !((binding || eviction) && rq->verb == KAR_CREATE))
		return false;
	body = sim_request_object(rq, out);
	if (body && resized)
		resize(s, rq, body, out);
	else if (body && binding)
		sim_pod_bind(s, rq, body, out);
	else if (body)
		sim_pod_evict(s, rq, body, out);
	sim_unref(body);
	return true;
}

const struct sim_strategy sim_strategy_pod = {
	.prepare = prepare,
	.prepare_status = prepare_status,
	.default_ = sim_pod_default,
	.admit = sim_pod_admit,
	.validate = validate,
	.grace = grace,
	.field = field,
	.subresource = subresource,
};
