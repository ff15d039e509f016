/* pods/binding, and bindings as a resource of its own: gives an unbound pod a node. */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "sim/apiserver/store.h"
#include "sim/apiserver/strategy_pod.h"

/* What error texts call the subresource. */
static const struct sim_resource binding_resource = { .group = "",
	.version = "v1",
	.plural = "pods/binding",
	.kind = "Binding" };

static bool refuse_internal(struct sim_response *out, const char *field, const char *why)
{
	return sim_refuse(out, 500, "", "%s: %s", field, why);
}

static bool check_binding(const struct sim_request *rq, const struct sim_value *binding,
	struct sim_response *out)
{
	const char *kind = sim_text_or(sim_get(binding, "target", "kind"), "");
	const char *name = sim_text_or(sim_get(binding, "metadata", "name"), "");

	if (rq->subresource && strcmp(name, rq->name) != 0)
		return sim_refuse_bad_request(out, "name in URL does not match name in Binding object");
	if (*kind && strcmp(kind, "Node") != 0)
		return sim_refuse(out, 500, "",
			"target.kind: Unsupported value: \"%s\": supported values: \"Node\", \"<empty>\"",
			kind);
	if (!*sim_text_or(sim_get(binding, "target", "name"), ""))
		return refuse_internal(out, "target.name", "Required value");
	return true;
}

static bool check_precondition(const struct sim_resource *pods, const struct sim_value *binding,
	const struct sim_value *pod, const char *member, const char *what, struct sim_response *out)
{
	const char *asked = sim_text_or(sim_get(binding, "metadata", member), "");
	const char *is = sim_text_or(sim_get(pod, "metadata", member), "");
	const char *ns = sim_text_or(sim_get(pod, "metadata", "namespace"), "");
	const char *name = sim_text_or(sim_get(pod, "metadata", "name"), "");

	if (!*asked || !strcmp(asked, is))
		return true;
	char *why KAR_CLEANUP(kar_cleanup_free) = kar_xasprintf(
		"StorageError: invalid object, Code: 4, Key: /registry/pods/%s/%s, ResourceVersion: 0, "
		"AdditionalErrorMsg: Precondition failed: %s in precondition: %s, %s in object meta: %s",
		ns, name, what, asked, what, is);

	return sim_refuse_conflict(out, pods, name, why);
}

static bool check_pod(const struct sim_value *pod, const char *name, struct sim_response *out)
{
	const char *node = sim_text_or(sim_get(pod, "spec", "nodeName"), "");
	char *why KAR_CLEANUP(kar_cleanup_free) = NULL;

	if (sim_get(pod, "metadata", "deletionTimestamp"))
		why = kar_xasprintf("pod %s is being deleted, cannot be assigned to a host", name);
	else if (*node)
		why = kar_xasprintf("pod %s is already assigned to node \"%s\"", name, node);
	else if (sim_count(sim_get(pod, "spec", "schedulingGates")) > 0)
		why = kar_xasprintf("pod %s has non-empty .spec.schedulingGates", name);
	return !why || sim_refuse_conflict(out, &binding_resource, name, why);
}

static void copy_map(struct sim_value **pod, const struct sim_value *binding, const char *map)
{
	const struct sim_value *from = sim_get(binding, "metadata", map);

	for (struct sim_member m = sim_first(from); m.value; m = sim_next(m))
		sim_set(pod, sim_ref(m.value), "metadata", map, m.key);
}

void sim_pod_bind(struct sim_apiserver *s, const struct sim_request *rq, const struct sim_value *binding,
	struct sim_response *out)
{
	struct sim_resource *pods = sim_resource_find(s, "", "v1", "pods");
	const char *name = sim_text_or(sim_get(binding, "metadata", "name"), "");
	struct sim_version *version = sim_collection_get(pods->objects, rq->ns, name);
	struct sim_value *pod;

	if (!check_binding(rq, binding, out))
		return;
	if (!version) {
		sim_refuse_not_found(out, pods, name);
		return;
	}
	if (!check_precondition(pods, binding, version->value, "uid", "UID", out) ||
		!check_precondition(pods, binding, version->value, "resourceVersion", "ResourceVersion",
			out) ||
		!check_pod(version->value, name, out))
		return;
	if (!rq->dry_run) {
		pod = sim_ref(version->value);
		sim_set_text(&pod, sim_text_or(sim_get(binding, "target", "name"), ""), "spec", "nodeName");
		sim_remove(&pod, "status", "nominatedNodeName");
		copy_map(&pod, binding, "annotations");
		copy_map(&pod, binding, "labels");
		sim_pod_condition_set(&pod, "PodScheduled", "True", NULL, NULL,
			sim_timeline_wall(sim_apiserver_timeline(s)));
		sim_store_commit(s, pods, rq, rq->ns, name, pod);
	}
	sim_answer_success(out, 201);
}

static bool create_binding(struct sim_apiserver *s, const struct sim_resource *r,
	const struct sim_request *rq, struct sim_response *out)
{
	struct sim_value *body = sim_request_object(rq, out);

	(void)r;
	if (body)
		sim_pod_bind(s, rq, body, out);
	sim_unref(body);
	return true;
}

const struct sim_strategy sim_strategy_binding = { .create = create_binding };
