/*
 * Validation of v1.PodSpec (pkg/apis/core/validation): the rules that people and controllers run into, with their
 * texts.
 */
#include <stdio.h>
#include <ctype.h>
#include <string.h>

#include "sim/apiserver/quantity.h"
#include "sim/apiserver/strategy_pod.h"
#include "sim/apiserver/syntax.h"

enum { MOST_DEADLINE = INT32_MAX, MOST_PORT = 65535 };

/* Checks member @key of @object, which may be missing. */
static void check_optional(struct sim_causes *c, const struct sim_at *up, const struct sim_value *object,
	const char *key, struct sim_complaints (*grammar)(const char *))
{
	const struct sim_value *value = sim_member(object, key);

	if (*sim_text_or(value, ""))
		sim_cause_grammar(c, SIM_AT(up, key), value, grammar);
}

/* ---- resources ---- */

/* No domain, or one of Kubernetes itself. */
bool sim_resource_is_native(const char *name)
{
	return !strchr(name, '/') || strstr(name, "kubernetes.io/");
}

static bool is_hugepages(const char *name)
{
	return !strncmp(name, "hugepages-", strlen("hugepages-"));
}

static bool is_extended(const char *name)
{
	struct sim_complaints complaints;
	char quota_name[512];

	if (sim_resource_is_native(name) || !strncmp(name, "requests.", strlen("requests.")) ||
		strlen(name) > sizeof(quota_name) - 16)
		return false;
	snprintf(quota_name, sizeof(quota_name), "requests.%s", name);
	complaints = sim_check_label_key(quota_name);
	return complaints.n == 0;
}

static bool in_list(const char *name, const char *const *list)
{
	for (; *list; list++) {
		if (!strcmp(name, *list))
			return true;
	}
	return false;
}

static void check_resource_name(struct sim_causes *c, const struct sim_at *at, const char *name)
{
	static const char *const standard[] = { "cpu", "memory", "ephemeral-storage", "requests.cpu",
		"requests.memory", "requests.ephemeral-storage", "limits.cpu", "limits.memory",
		"limits.ephemeral-storage", "pods", "resourcequotas", "services", "replicationcontrollers",
		"secrets", "configmaps", "persistentvolumeclaims", "storage", "requests.storage",
		"services.nodeports", "services.loadbalancers", NULL };
	static const char *const of_containers[] = { "cpu", "memory", "ephemeral-storage", NULL };
	struct sim_value *value = sim_string(name);
	bool plain = !strchr(name, '/'), regular = sim_check_label_key(name).n == 0;

	if (!regular)
		sim_cause_grammar(c, at, value, sim_check_label_key);
	if (regular && plain && !in_list(name, standard) && !is_hugepages(name))
		sim_cause_invalid(c, at, value, "must be a standard resource type or fully qualified");
	if (plain && !in_list(name, of_containers) && !is_hugepages(name))
		sim_cause_invalid(c, at, value, "must be a standard resource for containers");
	else if (!plain && !sim_resource_is_native(name) && !is_extended(name))
		sim_cause_invalid(c, at, value, "doesn't follow extended resource name standard");
	sim_unref(value);
}

static void check_amount(struct sim_causes *c, const struct sim_at *at, const char *name,
	const struct sim_value *value)
{
	struct kar_quantity q = sim_quantity_of(value);
	bool whole = is_extended(name);

	if (q.nano < 0)
		sim_cause_invalid(c, at, value, "must be greater than or equal to 0");
	if (whole && kar_quantity_milli(&q) % 1000 != 0)
		sim_cause_invalid(c, at, value, "must be an integer");
}

static void check_against_limit(struct sim_causes *c, const struct sim_at *at, const char *name,
	const struct sim_value *request, const struct sim_value *limits)
{
	bool overcommit = sim_resource_is_native(name) && !is_hugepages(name);
	const struct sim_value *limit = sim_member(limits, name);
	struct kar_quantity asked = sim_quantity_of(request), most = sim_quantity_of(limit);
	int order = kar_quantity_cmp(&asked, &most);

	if (!limit && !overcommit)
		sim_cause_required_because(c, SIM_AT(at, "limits"),
			"Limit must be set for non overcommitable resources");
	else if (limit && order != 0 && !overcommit)
		sim_cause_invalid(c, SIM_AT(at, "requests"), request, "must be equal to %s limit of %s", name,
			sim_text_or(limit, ""));
	else if (limit && order > 0)
		sim_cause_invalid(c, SIM_AT(at, "requests"), request,
			"must be less than or equal to %s limit of %s", name, sim_text_or(limit, ""));
}

static void check_resources(struct sim_causes *c, const struct sim_at *at, const struct sim_value *resources)
{
	const struct sim_value *limits = sim_member(resources, "limits"),
			       *requests = sim_member(resources, "requests");

	for (struct sim_member m = sim_first(limits); m.value; m = sim_next(m)) {
		const struct sim_at *here = SIM_AT_KEY(SIM_AT(at, "limits"), m.key);

		check_resource_name(c, here, m.key);
		check_amount(c, here, m.key, m.value);
	}
	for (struct sim_member m = sim_first(requests); m.value; m = sim_next(m)) {
		const struct sim_at *here = SIM_AT_KEY(SIM_AT(at, "requests"), m.key);

		check_resource_name(c, here, m.key);
		check_amount(c, here, m.key, m.value);
		check_against_limit(c, at, m.key, m.value, limits);
	}
}

/* ---- containers ---- */

static void check_port_number(struct sim_causes *c, const struct sim_at *at, const struct sim_value *port)
{
	int64_t n = sim_int_of(port, 0);

	if (n < 1 || n > MOST_PORT)
		sim_cause_invalid(c, at, port, "must be between 1 and 65535, inclusive");
}

static void check_ports(struct sim_causes *c, const struct sim_at *at, const struct sim_value *ports)
{
	static const char *const protocols[] = { "SCTP", "TCP", "UDP", NULL };

	for (size_t i = 0; i < sim_count(ports); i++) {
		const struct sim_at *here = SIM_AT_ITEM(at, i);
		const struct sim_value *port = sim_item(ports, i),
				       *number = sim_member(port, "containerPort");

		if (sim_int_of(number, 0) == 0)
			sim_cause_required(c, SIM_AT(here, "containerPort"));
		else
			check_port_number(c, SIM_AT(here, "containerPort"), number);
		if (sim_int_of(sim_member(port, "hostPort"), 0) != 0)
			check_port_number(c, SIM_AT(here, "hostPort"), sim_member(port, "hostPort"));
		sim_check_choice(c, SIM_AT(here, "protocol"), sim_member(port, "protocol"), protocols);
	}
}

static bool is_env_name(const char *name)
{
	for (; *name; name++) {
		if (!isascii(*name) || !isprint(*name) || *name == '=')
			return false;
	}
	return true;
}

static void check_env_source(struct sim_causes *c, const struct sim_at *at, const struct sim_value *variable)
{
	struct sim_value *empty;

	if (!sim_member(variable, "valueFrom") || !*sim_text_or(sim_member(variable, "value"), ""))
		return;
	empty = sim_string("");
	sim_cause_invalid(c, at, empty, "may not be specified when `value` is not empty");
	sim_unref(empty);
}

static void check_env(struct sim_causes *c, const struct sim_at *at, const struct sim_value *env)
{
	for (size_t i = 0; i < sim_count(env); i++) {
		const struct sim_value *name = sim_member(sim_item(env, i), "name");
		const struct sim_at *here = SIM_AT_ITEM(at, i);

		if (!*sim_text_or(name, ""))
			sim_cause_required(c, SIM_AT(here, "name"));
		else if (!is_env_name(sim_text(name)))
			sim_cause_invalid(c, SIM_AT(here, "name"), name,
				"a valid environment variable name must consist only of "
				"printable ASCII characters other than '='");
		check_env_source(c, SIM_AT(here, "valueFrom"), sim_item(env, i));
	}
}

/* One of the first @n. */
static bool has_volume(const struct sim_value *volumes, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(sim_text_or(sim_member(sim_item(volumes, i), "name"), ""), name))
			return true;
	}
	return false;
}

static void check_volumes(struct sim_causes *c, const struct sim_at *at, const struct sim_value *volumes)
{
	for (size_t i = 0; i < sim_count(volumes); i++) {
		const struct sim_value *name = sim_member(sim_item(volumes, i), "name");
		const struct sim_at *here = SIM_AT(SIM_AT_ITEM(at, i), "name");

		if (!*sim_text_or(name, ""))
			sim_cause_required(c, here);
		else
			sim_cause_grammar(c, here, name, sim_check_dns_label);
		if (has_volume(volumes, i, sim_text_or(name, "")))
			sim_cause_duplicate(c, here, sim_text_or(name, ""));
	}
}

static void check_mounts(struct sim_causes *c, const struct sim_at *at, const struct sim_value *mounts,
	const struct sim_value *volumes)
{
	for (size_t i = 0; i < sim_count(mounts); i++) {
		const struct sim_at *here = SIM_AT_ITEM(at, i);
		const char *name = sim_get_text(sim_item(mounts, i), "name"),
			   *path = sim_get_text(sim_item(mounts, i), "mountPath");

		if (!name || !*name)
			sim_cause_required(c, SIM_AT(here, "name"));
		else if (!has_volume(volumes, sim_count(volumes), name))
			sim_cause_not_found(c, SIM_AT(here, "name"), name);
		if (!path || !*path)
			sim_cause_required(c, SIM_AT(here, "mountPath"));
	}
}

static void check_image(struct sim_causes *c, const struct sim_at *at, const struct sim_value *image)
{
	const char *text = sim_text_or(image, "");
	size_t n = strlen(text);

	if (n == 0)
		sim_cause_required(c, at);
	else if (isspace((unsigned char)text[0]) || isspace((unsigned char)text[n - 1]))
		sim_cause_invalid(c, at, image, "must not have leading or trailing whitespace");
}

static void check_container(struct sim_causes *c, const struct sim_at *at, const struct sim_value *container,
	const struct sim_value *volumes)
{
	static const char *const message_policies[] = { "File", "FallbackToLogsOnError", NULL };
	static const char *const pull_policies[] = { "Always", "IfNotPresent", "Never", NULL };
	const struct sim_value *name = sim_member(container, "name");

	if (!*sim_text_or(name, ""))
		sim_cause_required(c, SIM_AT(at, "name"));
	else
		sim_cause_grammar(c, SIM_AT(at, "name"), name, sim_check_dns_label);
	check_image(c, SIM_AT(at, "image"), sim_member(container, "image"));
	sim_check_choice(c, SIM_AT(at, "terminationMessagePolicy"),
		sim_member(container, "terminationMessagePolicy"), message_policies);
	check_ports(c, SIM_AT(at, "ports"), sim_member(container, "ports"));
	check_env(c, SIM_AT(at, "env"), sim_member(container, "env"));
	check_mounts(c, SIM_AT(at, "volumeMounts"), sim_member(container, "volumeMounts"), volumes);
	sim_check_choice(c, SIM_AT(at, "imagePullPolicy"), sim_member(container, "imagePullPolicy"),
		pull_policies);
	check_resources(c, SIM_AT(at, "resources"), sim_member(container, "resources"));
}

static bool has_name(const struct sim_value *containers, size_t n, const char *name)
{
	for (size_t i = 0; i < n && i < sim_count(containers); i++) {
		if (!strcmp(sim_text_or(sim_member(sim_item(containers, i), "name"), ""), name))
			return true;
	}
	return false;
}

static void check_init_container(struct sim_causes *c, const struct sim_at *at,
	const struct sim_value *container)
{
	static const char *const not_for_init[] = { "lifecycle", "livenessProbe", "readinessProbe",
		"startupProbe" };

	if (!strcmp(sim_text_or(sim_member(container, "restartPolicy"), ""), "Always"))
		return;
	for (size_t i = 0; i < KAR_LEN(not_for_init); i++) {
		if (sim_member(container, not_for_init[i]))
			sim_cause_forbidden(c, SIM_AT(at, not_for_init[i]),
				"may not be set for init containers without restartPolicy=Always");
	}
}

/* @others: containers whose names are taken already. */
static void check_containers(struct sim_causes *c, const struct sim_at *at, const struct sim_value *list,
	const struct sim_value *others, const struct sim_value *volumes)
{
	for (size_t i = 0; i < sim_count(list); i++) {
		const struct sim_at *here = SIM_AT_ITEM(at, i);
		const char *name = sim_text_or(sim_member(sim_item(list, i), "name"), "");

		check_container(c, here, sim_item(list, i), volumes);
		if (others)
			check_init_container(c, here, sim_item(list, i));
		if (*name && (has_name(list, i, name) || has_name(others, sim_count(others), name)))
			sim_cause_duplicate(c, SIM_AT(here, "name"), name);
	}
}

/* ---- where it may run ---- */

static void check_gates(struct sim_causes *c, const struct sim_at *at, const struct sim_value *gates)
{
	for (size_t i = 0; i < sim_count(gates); i++) {
		const struct sim_value *name = sim_member(sim_item(gates, i), "name");

		sim_cause_grammar(c, SIM_AT_ITEM(at, i), name, sim_check_label_key);
		if (has_name(gates, i, sim_text_or(name, "")))
			sim_cause_duplicate(c, SIM_AT_ITEM(at, i), sim_text_or(name, ""));
	}
}

static void check_labels(struct sim_causes *c, const struct sim_at *at, const struct sim_value *labels)
{
	for (struct sim_member m = sim_first(labels); m.value; m = sim_next(m)) {
		struct sim_value *key = sim_string(m.key);

		sim_cause_grammar(c, at, key, sim_check_label_key);
		sim_cause_grammar(c, at, m.value, sim_check_label_value);
		sim_unref(key);
	}
}

static void check_toleration_operator(struct sim_causes *c, const struct sim_at *at,
	const struct sim_value *toleration)
{
	static const char *const operators[] = { "Equal", "Exists", NULL };
	const char *operator= sim_text_or(sim_member(toleration, "operator"), "");
	const struct sim_value *value = sim_member(toleration, "value");

	if (!*operator|| !strcmp(operator, "Equal"))
		sim_cause_grammar(c, SIM_AT(at, "operator"), value, sim_check_label_value);
	else if (strcmp(operator, "Exists") != 0)
		sim_cause_unsupported(c, SIM_AT(at, "operator"), operator, operators);
	else if (*sim_text_or(value, ""))
		sim_cause_invalid(c, SIM_AT(at, "operator"), value,
			"value must be empty when `operator` is 'Exists'");
}

static void check_toleration(struct sim_causes *c, const struct sim_at *at,
	const struct sim_value *toleration)
{
	static const char *const effects[] = { "NoSchedule", "PreferNoSchedule", "NoExecute", NULL };
	static const char empty_key[] =
		"operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
	const char *operator= sim_text_or(sim_member(toleration, "operator"), "");
	const char *effect = sim_text_or(sim_member(toleration, "effect"), "");
	struct sim_value *shown;

	check_optional(c, at, toleration, "key", sim_check_label_key);
	if (!*sim_text_or(sim_member(toleration, "key"), "") && strcmp(operator, "Exists") != 0) {
		shown = sim_string(operator);
		sim_cause_invalid(c, SIM_AT(at, "operator"), shown, "%s", empty_key);
		sim_unref(shown);
	}
	if (sim_member(toleration, "tolerationSeconds") && strcmp(effect, "NoExecute") != 0) {
		shown = sim_string(effect);
		sim_cause_invalid(c, SIM_AT(at, "effect"), shown,
			"effect must be 'NoExecute' when `tolerationSeconds` is set");
		sim_unref(shown);
	}
	check_toleration_operator(c, at, toleration);
	if (*effect)
		sim_check_choice(c, SIM_AT(at, "effect"), sim_member(toleration, "effect"), effects);
}

void sim_pod_check_tolerations(struct sim_causes *c, const struct sim_at *at,
	const struct sim_value *tolerations)
{
	for (size_t i = 0; i < sim_count(tolerations); i++)
		check_toleration(c, SIM_AT_ITEM(at, i), sim_item(tolerations, i));
}

static void check_deadline(struct sim_causes *c, const struct sim_at *at, const struct sim_value *deadline)
{
	int64_t n = sim_int_of(deadline, 1);

	if (n < 1 || n > MOST_DEADLINE)
		sim_cause_invalid(c, at, deadline, "must be between 1 and %d, inclusive", MOST_DEADLINE);
}

static void check_placement(struct sim_causes *c, const struct sim_at *at, const struct sim_value *spec)
{
	check_labels(c, SIM_AT(at, "nodeSelector"), sim_member(spec, "nodeSelector"));
	sim_pod_check_affinity(c, SIM_AT(at, "affinity"), sim_member(spec, "affinity"));
	check_gates(c, SIM_AT(at, "schedulingGates"), sim_member(spec, "schedulingGates"));
	check_optional(c, at, spec, "serviceAccountName", sim_check_dns_subdomain);
	check_optional(c, at, spec, "nodeName", sim_check_dns_subdomain);
	check_deadline(c, SIM_AT(at, "activeDeadlineSeconds"), sim_member(spec, "activeDeadlineSeconds"));
	check_optional(c, at, spec, "hostname", sim_check_dns_label);
	check_optional(c, at, spec, "subdomain", sim_check_dns_label);
	sim_pod_check_tolerations(c, SIM_AT(at, "tolerations"), sim_member(spec, "tolerations"));
	check_optional(c, at, spec, "priorityClassName", sim_check_dns_subdomain);
}

void sim_pod_validate(struct sim_write *w)
{
	static const char *const restart_policies[] = { "Always", "OnFailure", "Never", NULL };
	static const char *const dns_policies[] = { "ClusterFirstWithHostNet", "ClusterFirst", "Default",
		"None", NULL };
	const struct sim_value *spec = sim_member(*w->new, "spec"),
			       *containers = sim_member(spec, "containers");
	const struct sim_at *at = SIM_AT(NULL, "spec");
	struct sim_causes *c = &w->causes;

	check_volumes(c, SIM_AT(at, "volumes"), sim_member(spec, "volumes"));
	if (sim_count(containers) == 0)
		sim_cause_required(c, SIM_AT(at, "containers"));
	check_containers(c, SIM_AT(at, "containers"), containers, NULL, sim_member(spec, "volumes"));
	check_containers(c, SIM_AT(at, "initContainers"), sim_member(spec, "initContainers"), containers,
		sim_member(spec, "volumes"));
	sim_check_choice(c, SIM_AT(at, "restartPolicy"), sim_member(spec, "restartPolicy"), restart_policies);
	sim_check_choice(c, SIM_AT(at, "dnsPolicy"), sim_member(spec, "dnsPolicy"), dns_policies);
	check_placement(c, at, spec);
	if (w->old)
		return;
	if (sim_count(sim_member(spec, "ephemeralContainers")) > 0)
		sim_cause_forbidden(c, SIM_AT(at, "ephemeralContainers"), "cannot be set on create");
	if (*sim_text_or(sim_member(spec, "nodeName"), "") &&
		sim_count(sim_member(spec, "schedulingGates")) > 0)
		sim_cause_forbidden(c, SIM_AT(at, "nodeName"),
			"cannot be set until all schedulingGates have been cleared");
}
