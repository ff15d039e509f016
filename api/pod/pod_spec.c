/* The spec of a pod as it is decoded, from a pod or from a template, and what the pod as a whole requests. */
#include "api/pod/pod_wire.h"

#include <stdlib.h>
#include <string.h>

#include "api/core/amounts_wire.h"
#include "common/base/str.h"
#include "common/codec/json.h"
#include "common/sched/requests.h"

/* --- the tables ------------------------------------------------------------------------------------ */

static const struct kar_desc present_desc = { .what = "object", .size = sizeof(struct pod_wire_present) };

static const struct kar_field gate_fields[] = {
	KAR_FIELD_PB(struct pod_wire_gate, name, "name", 1, KAR_F_STRING),
};
static const struct kar_desc gate_desc = KAR_DESC("PodSchedulingGate", struct pod_wire_gate, gate_fields);

static const struct kar_field resources_fields[] = {
	KAR_FIELD_PB_SUB(struct pod_wire_resources, limits, "limits", 1, KAR_F_MAP, &kar_amount_wire_desc),
	KAR_FIELD_PB_SUB(struct pod_wire_resources, requests, "requests", 2, KAR_F_MAP,
		&kar_amount_wire_desc),
};
const struct kar_desc pod_wire_resources_desc =
	KAR_DESC("ResourceRequirements", struct pod_wire_resources, resources_fields);

static const struct kar_field port_fields[] = {
	KAR_FIELD_PB(struct pod_wire_port, host, "hostPort", 2, KAR_F_INT32),
	KAR_FIELD_PB(struct pod_wire_port, container, "containerPort", 3, KAR_F_INT32),
	KAR_FIELD_PB(struct pod_wire_port, protocol, "protocol", 4, KAR_F_STRING),
	KAR_FIELD_PB(struct pod_wire_port, ip, "hostIP", 5, KAR_F_STRING),
};
static const struct kar_desc port_desc = KAR_DESC("ContainerPort", struct pod_wire_port, port_fields);

static const struct kar_field restart_rule_fields[] = { KAR_FIELD_PB(struct pod_wire_restart_rule, action,
	"action", 1, KAR_F_STRING) };
static const struct kar_desc restart_rule_desc =
	KAR_DESC("ContainerRestartRule", struct pod_wire_restart_rule, restart_rule_fields);

static const struct kar_field asking_fields[] = {
	KAR_FIELD_PB(struct pod_wire_asking, name, "name", 1, KAR_F_STRING),
	KAR_FIELD_PB_SUB(struct pod_wire_asking, ports, "ports", 6, KAR_F_ARRAY, &port_desc),
	KAR_FIELD_PB_SUB(struct pod_wire_asking, resources, "resources", 8, KAR_F_OBJECT,
		&pod_wire_resources_desc),
	KAR_FIELD_PB(struct pod_wire_asking, restart_policy, "restartPolicy", 24, KAR_F_STRING),
	KAR_FIELD_PB_SUB(struct pod_wire_asking, rules, "restartPolicyRules", 25, KAR_F_ARRAY,
		&restart_rule_desc),
};
static const struct kar_desc asking_desc = KAR_DESC("Container", struct pod_wire_asking, asking_fields);

static const struct kar_field requirement_fields[] = {
	KAR_FIELD_PB(struct pod_wire_requirement, key, "key", 1, KAR_F_STRING),
	KAR_FIELD_PB(struct pod_wire_requirement, op, "operator", 2, KAR_F_STRING),
	KAR_FIELD_PB(struct pod_wire_requirement, values, "values", 3, KAR_F_ARRAY),
};
static const struct kar_desc requirement_desc =
	KAR_DESC("NodeSelectorRequirement", struct pod_wire_requirement, requirement_fields);

static const struct kar_field term_fields[] = {
	KAR_FIELD_PB_SUB(struct pod_wire_term, labels, "matchExpressions", 1, KAR_F_ARRAY, &requirement_desc),
	KAR_FIELD_PB_SUB(struct pod_wire_term, fields, "matchFields", 2, KAR_F_ARRAY, &requirement_desc),
};
static const struct kar_desc term_desc = KAR_DESC("NodeSelectorTerm", struct pod_wire_term, term_fields);

static const struct kar_field node_terms_fields[] = {
	KAR_FIELD_PB_SUB(struct pod_wire_node_terms, terms, "nodeSelectorTerms", 1, KAR_F_ARRAY, &term_desc),
};
const struct kar_desc pod_wire_node_terms_desc =
	KAR_DESC("NodeSelector", struct pod_wire_node_terms, node_terms_fields);

#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"

static const struct kar_field node_affinity_fields[] = {
	{ .name = REQUIRED, .type = KAR_F_OBJECT_PTR, .pb = 1, .sub = &pod_wire_node_terms_desc },
};
static const struct kar_desc node_affinity_desc = { .what = "NodeAffinity",
	.size = sizeof(const struct pod_wire_node_terms *),
	.fields = node_affinity_fields,
	.n_fields = KAR_LEN(node_affinity_fields) };

static const struct kar_field selector_fields[] = {
	KAR_FIELD_PB(struct pod_wire_selector, labels, "matchLabels", 1, KAR_F_MAP),
	KAR_FIELD_PB_SUB(struct pod_wire_selector, expressions, "matchExpressions", 2, KAR_F_ARRAY,
		&requirement_desc),
};
static const struct kar_desc selector_desc =
	KAR_DESC("LabelSelector", struct pod_wire_selector, selector_fields);

static const struct kar_field pod_term_fields[] = {
	KAR_FIELD_PB_SUB(struct pod_wire_pod_term, selector, "labelSelector", 1, KAR_F_OBJECT_PTR,
		&selector_desc),
	KAR_FIELD_PB(struct pod_wire_pod_term, namespaces, "namespaces", 2, KAR_F_ARRAY),
	KAR_FIELD_PB(struct pod_wire_pod_term, key, "topologyKey", 3, KAR_F_STRING),
	KAR_FIELD_PB_SUB(struct pod_wire_pod_term, ns_selector, "namespaceSelector", 4, KAR_F_OBJECT_PTR,
		&selector_desc),
	KAR_FIELD_PB(struct pod_wire_pod_term, label_keys, "matchLabelKeys", 5, KAR_F_ARRAY),
	KAR_FIELD_PB(struct pod_wire_pod_term, other_keys, "mismatchLabelKeys", 6, KAR_F_ARRAY),
};
static const struct kar_desc pod_term_desc =
	KAR_DESC("PodAffinityTerm", struct pod_wire_pod_term, pod_term_fields);

static const struct kar_field pod_terms_fields[] = {
	KAR_FIELD_PB_SUB(struct pod_wire_pod_terms, required, REQUIRED, 1, KAR_F_ARRAY, &pod_term_desc),
};
static const struct kar_desc pod_terms_desc =
	KAR_DESC("PodAffinity", struct pod_wire_pod_terms, pod_terms_fields);

static const struct kar_field affinity_fields[] = {
	KAR_FIELD_PB_SUB(struct pod_wire_affinity, node, "nodeAffinity", 1, KAR_F_OBJECT,
		&node_affinity_desc),
	KAR_FIELD_PB_SUB(struct pod_wire_affinity, pod, "podAffinity", 2, KAR_F_OBJECT, &pod_terms_desc),
	KAR_FIELD_PB_SUB(struct pod_wire_affinity, anti, "podAntiAffinity", 3, KAR_F_OBJECT, &pod_terms_desc),
};
static const struct kar_desc affinity_desc = KAR_DESC("Affinity", struct pod_wire_affinity, affinity_fields);

static const struct kar_field toleration_fields[] = {
	KAR_FIELD_PB(struct pod_wire_toleration, key, "key", 1, KAR_F_STRING),
	KAR_FIELD_PB(struct pod_wire_toleration, op, "operator", 2, KAR_F_STRING),
	KAR_FIELD_PB(struct pod_wire_toleration, value, "value", 3, KAR_F_STRING),
	KAR_FIELD_PB(struct pod_wire_toleration, effect, "effect", 4, KAR_F_STRING),
};
static const struct kar_desc toleration_desc =
	KAR_DESC("Toleration", struct pod_wire_toleration, toleration_fields);

static const struct kar_field spread_fields[] = {
	KAR_FIELD_PB(struct pod_wire_spread, max_skew, "maxSkew", 1, KAR_F_INT32),
	KAR_FIELD_PB(struct pod_wire_spread, key, "topologyKey", 2, KAR_F_STRING),
	KAR_FIELD_PB(struct pod_wire_spread, otherwise, "whenUnsatisfiable", 3, KAR_F_STRING),
	KAR_FIELD_PB_SUB(struct pod_wire_spread, selector, "labelSelector", 4, KAR_F_OBJECT_PTR,
		&selector_desc),
	KAR_FIELD_PB(struct pod_wire_spread, min_domains, "minDomains", 5, KAR_F_INT32),
	KAR_FIELD_PB(struct pod_wire_spread, affinity_policy, "nodeAffinityPolicy", 6, KAR_F_STRING),
	KAR_FIELD_PB(struct pod_wire_spread, taint_policy, "nodeTaintsPolicy", 7, KAR_F_STRING),
	KAR_FIELD_PB(struct pod_wire_spread, label_keys, "matchLabelKeys", 8, KAR_F_ARRAY),
};
static const struct kar_desc spread_desc =
	KAR_DESC("TopologySpreadConstraint", struct pod_wire_spread, spread_fields);

static const struct kar_field claim_fields[] = {
	KAR_FIELD_PB(struct pod_wire_claim, name, "claimName", 1, KAR_F_STRING),
};
static const struct kar_desc claim_desc =
	KAR_DESC("PersistentVolumeClaimVolumeSource", struct pod_wire_claim, claim_fields);

static const struct kar_field ephemeral_spec_fields[] = {
	{ .name = "storageClassName", .type = KAR_F_STRING, .pb = 5 },
};
static const struct kar_desc ephemeral_spec_desc = { .what = "PersistentVolumeClaimSpec",
	.size = sizeof(const char *),
	.fields = ephemeral_spec_fields,
	.n_fields = KAR_LEN(ephemeral_spec_fields) };
static const struct kar_field ephemeral_template_fields[] = {
	{ .name = "spec", .type = KAR_F_OBJECT, .pb = 2, .sub = &ephemeral_spec_desc },
};
static const struct kar_desc ephemeral_template_desc = { .what = "PersistentVolumeClaimTemplate",
	.size = sizeof(const char *),
	.fields = ephemeral_template_fields,
	.n_fields = KAR_LEN(ephemeral_template_fields) };
static const struct kar_field ephemeral_fields[] = {
	KAR_FIELD_PB_SUB(struct pod_wire_ephemeral, template, "volumeClaimTemplate", 1, KAR_F_OBJECT,
		&ephemeral_template_desc),
};
static const struct kar_desc ephemeral_desc =
	KAR_DESC("EphemeralVolumeSource", struct pod_wire_ephemeral, ephemeral_fields);

/* JSON has the source of a volume in the volume, protobuf in a message of its own, which is read into the same struct. */
#define VOLUME_FIELD(member_, name_, pb_, desc_) \
	KAR_FIELD_PB_SUB(struct pod_wire_volume, member_, name_, pb_, KAR_F_OBJECT_PTR, &(desc_))
#define VOLUME_FIELDS(X) \
	X(gce, "gcePersistentDisk", 3, present_desc) \
	X(aws, "awsElasticBlockStore", 4, present_desc) \
	X(iscsi, "iscsi", 8, present_desc) \
	X(claim, "persistentVolumeClaim", 10, claim_desc) \
	X(rbd, "rbd", 11, present_desc) \
	X(ephemeral, "ephemeral", 29, ephemeral_desc)

#define IN_SOURCE(member_, name_, pb_, desc_) VOLUME_FIELD(member_, name_, pb_, desc_),
static const struct kar_field source_fields[] = { VOLUME_FIELDS(IN_SOURCE) };
static const struct kar_desc source_desc = KAR_DESC("VolumeSource", struct pod_wire_volume, source_fields);

#define IN_VOLUME(member_, name_, pb_, desc_) VOLUME_FIELD(member_, name_, 0, desc_),
static const struct kar_field volume_fields[] = {
	VOLUME_FIELDS(
		IN_VOLUME){ .name = "volumeSource", .type = KAR_F_OBJECT, .pb = 2, .sub = &source_desc },
};
static const struct kar_desc volume_desc = KAR_DESC("Volume", struct pod_wire_volume, volume_fields);

static const struct kar_field device_claim_fields[] = {
	KAR_FIELD_PB(struct pod_wire_device_claim, name, "name", 1, KAR_F_STRING),
	KAR_FIELD_PB(struct pod_wire_device_claim, claim, "resourceClaimName", 3, KAR_F_STRING),
	KAR_FIELD_PB(struct pod_wire_device_claim, template, "resourceClaimTemplateName", 4, KAR_F_STRING),
};
static const struct kar_desc device_claim_desc =
	KAR_DESC("PodResourceClaim", struct pod_wire_device_claim, device_claim_fields);

static const struct kar_field group_fields[] = { KAR_FIELD_PB(struct pod_wire_group, name, "podGroupName", 1,
	KAR_F_STRING) };
static const struct kar_desc group_desc = KAR_DESC("SchedulingGroup", struct pod_wire_group, group_fields);

static const struct kar_field spec_fields[] = {
	KAR_FIELD_PB(struct pod_wire_spec, restart_policy, "restartPolicy", 3, KAR_F_STRING),
	KAR_FIELD_PB(struct pod_wire_spec, node, "nodeName", 10, KAR_F_STRING),
	KAR_FIELD_PB(struct pod_wire_spec, scheduler, "schedulerName", 19, KAR_F_STRING),
	KAR_FIELD_PB(struct pod_wire_spec, priority, "priority", 25, KAR_F_INT32),
	KAR_FIELD_PB(struct pod_wire_spec, priority_class, "priorityClassName", 24, KAR_F_STRING),
	{ .name = "activeDeadlineSeconds",
		.type = KAR_F_INT64,
		.pb = 5,
		.offset = offsetof(struct pod_wire_spec, deadline),
		.has = offsetof(struct pod_wire_spec, has_deadline) },
	KAR_FIELD_PB_SUB(struct pod_wire_spec, gates, "schedulingGates", 38, KAR_F_ARRAY, &gate_desc),
	KAR_FIELD_PB_SUB(struct pod_wire_spec, group, "schedulingGroup", 43, KAR_F_OBJECT, &group_desc),
	KAR_FIELD_PB_SUB(struct pod_wire_spec, containers, "containers", 2, KAR_F_ARRAY, &asking_desc),
	KAR_FIELD_PB_SUB(struct pod_wire_spec, init_containers, "initContainers", 20, KAR_F_ARRAY,
		&asking_desc),
	KAR_FIELD_PB_SUB(struct pod_wire_spec, resources, "resources", 40, KAR_F_OBJECT,
		&pod_wire_resources_desc),
	KAR_FIELD_PB_SUB(struct pod_wire_spec, overhead, "overhead", 32, KAR_F_MAP, &kar_amount_wire_desc),
	KAR_FIELD_PB(struct pod_wire_spec, host_network, "hostNetwork", 11, KAR_F_BOOL),
	{ .name = "hostUsers",
		.type = KAR_F_BOOL,
		.pb = 37,
		.offset = offsetof(struct pod_wire_spec, host_users),
		.has = offsetof(struct pod_wire_spec, has_host_users) },
	KAR_FIELD_PB(struct pod_wire_spec, selector, "nodeSelector", 7, KAR_F_MAP),
	KAR_FIELD_PB_SUB(struct pod_wire_spec, affinity, "affinity", 18, KAR_F_OBJECT, &affinity_desc),
	KAR_FIELD_PB_SUB(struct pod_wire_spec, tolerations, "tolerations", 22, KAR_F_ARRAY, &toleration_desc),
	KAR_FIELD_PB_SUB(struct pod_wire_spec, spread, "topologySpreadConstraints", 33, KAR_F_ARRAY,
		&spread_desc),
	KAR_FIELD_PB_SUB(struct pod_wire_spec, claims, "resourceClaims", 39, KAR_F_ARRAY, &device_claim_desc),
	KAR_FIELD_PB_SUB(struct pod_wire_spec, volumes, "volumes", 1, KAR_F_ARRAY, &volume_desc),
};
const struct kar_desc pod_wire_spec_desc = KAR_DESC("PodSpec", struct pod_wire_spec, spec_fields);

struct wire_template {
	struct pod_wire_spec spec;
};

static const struct kar_field template_fields[] = {
	KAR_FIELD_SUB(struct wire_template, spec, "spec", KAR_F_OBJECT, &pod_wire_spec_desc),
};
static const struct kar_desc template_desc =
	KAR_DESC("PodTemplateSpec", struct wire_template, template_fields);

const struct pod_wire_spec *pod_wire_template(struct kar_str raw, struct kar_arena *a, struct kar_err *err)
{
	struct wire_template *t = kar_arena_alloc(a, 1, sizeof(*t));

	return kar_json_decode(a, &template_desc, NULL, raw.p ? raw.p : "", raw.n, t, err) ? NULL : &t->spec;
}

/* --- what it requests ------------------------------------------------------------------------------ */

enum { AMOUNTS_MAX = 1024 }; /* of a pod in all its lists: the cost is their square */

struct reading {
	const struct pod_wire_status *status; /* NULL: none */
	bool limits;                          /* and not the requests */
	bool basic;                           /* there are too many amounts */
	bool infeasible; /* the node refuses the resize: what it has counts, not what it should have */
	enum { ASKED, ALLOCATED, ACTUAL } of; /* the account: of what it should have, or of the node's two */
};

static void read_basic(const struct kar_array *pairs, struct kar_amounts *out)
{
	static const char *const names[] = { "cpu", "ephemeral-storage", "memory" };

	for (size_t i = 0; i < KAR_LEN(names); i++) {
		struct kar_pair p = { names[i], kar_pairs_get(pairs, names[i]) };

		if (p.value)
			kar_amounts_read(&(struct kar_array){ .items = &p, .n = 1 }, out);
	}
}

static void read_list(const struct reading *r, const struct kar_array *pairs, struct kar_amounts *out)
{
	if (r->basic)
		read_basic(pairs, out);
	else
		kar_amounts_read(pairs, out);
}

static const struct pod_wire_container *find_status(const struct kar_array *statuses, size_t likely,
	const char *name)
{
	const struct pod_wire_container *c = statuses->items;

	if (likely < statuses->n && kar_streq(c[likely].name, name))
		return &c[likely];
	for (size_t i = 0; i < statuses->n; i++) {
		if (kar_streq(c[i].name, name))
			return &c[i];
	}
	return NULL;
}

/* What the node says counts in the place of what was asked for, where it says anything; @status may be NULL. */
static void read_container(const struct reading *r, const struct pod_wire_resources *asked,
	const struct pod_wire_container *status, struct kar_amounts *out)
{
	if (r->of == ACTUAL && status && status->resources.requests.n) {
		read_list(r, &status->resources.requests, out);
	} else if (r->of != ASKED && status && status->allocated.n) {
		read_list(r, &status->allocated, out);
	} else if (r->of == ASKED || !r->infeasible) {
		read_list(r, &asked->limits, out);
		if (!r->limits)
			read_list(r, &asked->requests, out);
	}
}

/* One element per container; free with free_containers(). */
static struct kar_container_requests *read_containers(const struct reading *r,
	const struct kar_array *containers, const struct kar_array *statuses)
{
	const struct pod_wire_asking *c = containers->items;
	struct kar_container_requests *all = kar_xcalloc(containers->n + 1, sizeof(*all));

	for (size_t i = 0; i < containers->n; i++) {
		const struct pod_wire_container *status =
			statuses ? find_status(statuses, i, c[i].name) : NULL;

		read_container(r, &c[i].resources, status, &all[i].amounts);
		all[i].sidecar = kar_streq(c[i].restart_policy, "Always");
	}
	return all;
}

static void free_containers(struct kar_container_requests *all, size_t n)
{
	for (size_t i = 0; i < n; i++)
		kar_amounts_release(&all[i].amounts);
	free(all);
}

static void read_sum(const struct reading *r, const struct pod_wire_spec *spec, struct kar_amounts *out)
{
	struct kar_container_requests *containers = read_containers(r, &spec->containers,
					      r->status ? &r->status->containers : NULL),
				      *init = read_containers(r, &spec->init_containers,
					      r->status ? &r->status->init_containers : NULL);
	const struct kar_pod_requests all = { .containers = containers,
		.init_containers = init,
		.n_containers = spec->containers.n,
		.n_init_containers = spec->init_containers.n };

	kar_pod_requests_total(&all, out);
	free_containers(containers, spec->containers.n);
	free_containers(init, spec->init_containers.n);
}

/* By one of the node's two accounts. */
static void read_sum_of_node(const struct reading *r, const struct pod_wire_spec *spec,
	struct kar_amounts *out)
{
	const struct pod_wire_status *s = r->status;

	if (s->allocated.n && s->resources.requests.n) /* the node has added it up */
		read_list(r, r->of == ALLOCATED ? &s->allocated : &s->resources.requests, out);
	else
		read_sum(r, spec, out);
}

/* As kube-scheduler does: of three accounts the largest sum, not the sum of what is largest of each container. */
static void read_sums(const struct reading *r, const struct pod_wire_spec *spec, struct kar_amounts *out)
{
	struct kar_amounts allocated KAR_CLEANUP(kar_amounts_cleanup) = { 0 },
				     actual KAR_CLEANUP(kar_amounts_cleanup) = { 0 };
	struct reading node = *r;

	if (!r->infeasible)
		read_sum(r, spec, out);
	if (!r->status)
		return;
	node.of = ALLOCATED;
	read_sum_of_node(&node, spec, &allocated);
	kar_amounts_max_all(out, &allocated);
	node.of = ACTUAL;
	read_sum_of_node(&node, spec, &actual);
	kar_amounts_max_all(out, &actual);
}

/* Only these may be asked for by the pod as a whole; the node's sums have others as well. */
static bool is_of_pod(const char *resource)
{
	return kar_streq(resource, "cpu") || kar_streq(resource, "memory") ||
		strncmp(resource, "hugepages-", 10) == 0;
}

static void read_pod_level(const struct reading *r, const struct pod_wire_spec *spec, struct kar_amounts *out)
{
	const struct pod_wire_resources *asked = &spec->resources;
	const struct pod_wire_status *s = r->status;
	struct kar_amounts all KAR_CLEANUP(kar_amounts_cleanup) = { 0 },
			       allocated KAR_CLEANUP(kar_amounts_cleanup) = { 0 },
			       actual KAR_CLEANUP(kar_amounts_cleanup) = { 0 };
	bool told = s && asked->requests.n && (s->resources.requests.n || s->resources.limits.n);

	if (!told || !r->infeasible)
		read_list(r, r->limits ? &asked->limits : &asked->requests, &all);
	if (told) {
		read_list(r, &s->allocated, &allocated);
		read_list(r, &s->resources.requests, &actual);
		kar_amounts_max_all(&all, &allocated);
		kar_amounts_max_all(&all, &actual);
	}
	for (size_t i = 0; i < all.n; i++) {
		if (is_of_pod(all.items[i].name))
			*kar_amounts_at(out, all.items[i].name) = all.items[i].q;
	}
}

static void total(const struct reading *r, const struct pod_wire_spec *spec, struct kar_amounts *out)
{
	struct kar_amounts overhead KAR_CLEANUP(kar_amounts_cleanup) = { 0 };

	read_sums(r, spec, out);
	read_pod_level(r, spec, out);
	if (r->limits)
		return;
	read_list(r, &spec->overhead, &overhead);
	kar_amounts_add_all(out, &overhead);
}

static size_t count_asked(const struct kar_array *containers)
{
	const struct pod_wire_asking *c = containers->items;
	size_t n = containers->n;

	for (size_t i = 0; i < containers->n; i++)
		n += c[i].resources.requests.n + c[i].resources.limits.n;
	return n;
}

static size_t count_has(const struct kar_array *statuses)
{
	const struct pod_wire_container *c = statuses->items;
	size_t n = statuses->n;

	for (size_t i = 0; i < statuses->n; i++)
		n += c[i].allocated.n + c[i].resources.requests.n;
	return n;
}

static bool has_many(const struct pod_wire_spec *spec, const struct pod_wire_status *status)
{
	size_t n = count_asked(&spec->containers) + count_asked(&spec->init_containers) +
		spec->resources.requests.n + spec->resources.limits.n + spec->overhead.n;

	if (status)
		n += count_has(&status->containers) + count_has(&status->init_containers) +
			status->allocated.n + status->resources.requests.n;
	return n > AMOUNTS_MAX;
}

static bool resize_is_infeasible(const struct pod_wire_status *s)
{
	const struct pod_wire_condition *c = s->conditions.items;

	for (size_t i = 0; i < s->conditions.n; i++) {
		if (kar_streq(c[i].type, "PodResizePending"))
			return kar_streq(c[i].reason, "Infeasible");
	}
	return false;
}

bool pod_wire_requests(const struct pod_wire_spec *spec, const struct pod_wire_status *status,
	struct kar_amounts *out)
{
	bool many = has_many(spec, status);
	const struct reading r = { .status = many ? NULL : status,
		.basic = many,
		.infeasible = status && resize_is_infeasible(status) };

	total(&r, spec, out);
	return !many;
}

bool pod_wire_limits(const struct pod_wire_spec *spec, struct kar_amounts *out)
{
	const struct reading r = { .limits = true, .basic = has_many(spec, NULL) };

	total(&r, spec, out);
	return !r.basic;
}
