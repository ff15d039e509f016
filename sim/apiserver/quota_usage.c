#include "sim/apiserver/quota_usage.h"

#include <stdio.h>
#include <string.h>

#include "common/base/timefmt.h"
#include "sim/apiserver/strategy_pod.h"

enum { MAX_NAME = 512 };
static const char requests_prefix[] = "requests.", limits_prefix[] = "limits.",
		  hugepages_prefix[] = "hugepages-";
static const char storage_class_suffix[] = ".storageclass.storage.k8s.io/";

static bool is(const char *group, const char *plural, const char *expected)
{
	return !*group && !strcmp(plural, expected);
}

static bool begins(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

static bool in_list(const char *name, const char *const *list)
{
	for (; *list; list++) {
		if (!strcmp(name, *list))
			return true;
	}
	return false;
}

static const char *count_name(const char *group, const char *plural, char out[MAX_NAME])
{
	snprintf(out, MAX_NAME, "count/%.200s%s%.250s", plural, *group ? "." : "", group);
	return out;
}

/* ---- names ---- */

static bool pod_covers(const char *name)
{
	static const char *const names[] = { "count/pods", "cpu", "memory", "ephemeral-storage",
		"requests.cpu", "requests.memory", "requests.ephemeral-storage", "limits.cpu",
		"limits.memory", "limits.ephemeral-storage", "pods", NULL };

	if (in_list(name, names) || begins(name, hugepages_prefix) || begins(name, "requests.hugepages-"))
		return true;
	return begins(name, requests_prefix) && !sim_resource_is_native(name);
}

static bool claim_covers(const char *name)
{
	static const char *const names[] = { "count/persistentvolumeclaims", "persistentvolumeclaims",
		"requests.storage", NULL };
	const char *of_class = strstr(name, storage_class_suffix);

	return in_list(name, names) ||
		(of_class && in_list(of_class + strlen(storage_class_suffix), names + 1));
}

static bool service_covers(const char *name)
{
	static const char *const names[] = { "count/services", "services", "services.nodeports",
		"services.loadbalancers", NULL };

	return in_list(name, names);
}

bool sim_quota_covers(const char *group, const char *plural, const char *name)
{
	static const char *const aliases[] = { "configmaps", "resourcequotas", "replicationcontrollers",
		"secrets", NULL };
	char count[MAX_NAME];

	if (is(group, plural, "pods"))
		return pod_covers(name);
	if (is(group, plural, "services"))
		return service_covers(name);
	if (is(group, plural, "persistentvolumeclaims"))
		return claim_covers(name);
	if (!*group && !strcmp(plural, name) && in_list(plural, aliases))
		return true;
	return !strcmp(name, count_name(group, plural, count));
}

/* ---- amounts ---- */

static void add_one(struct kar_amounts *out, const char *name, int64_t n)
{
	struct kar_quantity q = kar_quantity_units(n);

	kar_amounts_add(out, name, &q);
}

static void add_prefixed(struct kar_amounts *out, const char *prefix, const struct kar_amount *a)
{
	char name[MAX_NAME];

	snprintf(name, sizeof(name), "%s%.480s", prefix, a->name);
	kar_amounts_add(out, name, &a->q);
}

/* What quotas call the requests and limits of a container or pod. */
static void add_computed(const struct kar_amounts *requests, const struct kar_amounts *limits,
	struct kar_amounts *out)
{
	static const char *const computed[] = { "cpu", "memory", "ephemeral-storage", NULL };

	for (size_t i = 0; i < requests->n; i++) {
		const struct kar_amount *a = &requests->items[i];
		bool known = in_list(a->name, computed), hugepages = begins(a->name, hugepages_prefix);

		if (known || hugepages)
			kar_amounts_add(out, a->name, &a->q);
		if (known || hugepages || !sim_resource_is_native(a->name))
			add_prefixed(out, requests_prefix, a);
	}
	for (size_t i = 0; i < limits->n; i++) {
		if (in_list(limits->items[i].name, computed))
			add_prefixed(out, limits_prefix, &limits->items[i]);
	}
}

static bool counts(const struct sim_value *pod, kar_time now)
{
	const char *phase = sim_text_or(sim_get(pod, "status", "phase"), "");
	const char *deletion = sim_get_text(pod, "metadata", "deletionTimestamp");
	const struct sim_value *grace = sim_get(pod, "metadata", "deletionGracePeriodSeconds");
	kar_time at;

	if (!strcmp(phase, "Succeeded") || !strcmp(phase, "Failed"))
		return false;
	if (!deletion || !grace || kar_time_parse(deletion, &at))
		return true;
	/* Stuck on a lost node, say: its owner shall not be hindered from replacing it. */
	return now <= at + sim_int_of(grace, 0) * KAR_SECOND;
}

static void add_pod(const struct sim_value *pod, kar_time now, struct kar_amounts *out)
{
	struct kar_amounts requests KAR_CLEANUP(kar_amounts_cleanup) = { 0 },
				    limits KAR_CLEANUP(kar_amounts_cleanup) = { 0 };

	add_one(out, "count/pods", 1);
	if (!counts(pod, now))
		return;
	add_one(out, "pods", 1);
	sim_pod_resources(pod, "requests", &requests);
	sim_pod_resources(pod, "limits", &limits);
	add_computed(&requests, &limits, out);
}

static void add_service(const struct sim_value *service, struct kar_amounts *out)
{
	const char *type = sim_text_or(sim_get(service, "spec", "type"), "");
	int64_t ports = (int64_t)sim_count(sim_get(service, "spec", "ports"));
	bool balanced = !strcmp(type, "LoadBalancer");

	add_one(out, "count/services", 1);
	add_one(out, "services", 1);
	add_one(out, "services.nodeports", balanced || !strcmp(type, "NodePort") ? ports : 0);
	add_one(out, "services.loadbalancers", balanced);
}

static void add_claim(const struct sim_value *claim, struct kar_amounts *out)
{
	struct kar_quantity storage =
		sim_quantity_of(sim_get(claim, "spec", "resources", "requests", "storage"));
	const char *class = sim_text_or(sim_get(claim, "spec", "storageClassName"), "");
	char name[MAX_NAME];

	add_one(out, "count/persistentvolumeclaims", 1);
	add_one(out, "persistentvolumeclaims", 1);
	kar_amounts_add(out, "requests.storage", &storage);
	if (!*class)
		return;
	snprintf(name, sizeof(name), "%.253s%spersistentvolumeclaims", class, storage_class_suffix);
	add_one(out, name, 1);
	snprintf(name, sizeof(name), "%.253s%srequests.storage", class, storage_class_suffix);
	kar_amounts_add(out, name, &storage);
}

void sim_quota_usage(const char *group, const char *plural, const struct sim_value *object, kar_time now,
	struct kar_amounts *out)
{
	char count[MAX_NAME];

	if (is(group, plural, "pods")) {
		add_pod(object, now, out);
	} else if (is(group, plural, "services")) {
		add_service(object, out);
	} else if (is(group, plural, "persistentvolumeclaims")) {
		add_claim(object, out);
	} else {
		add_one(out, count_name(group, plural, count), 1);
		if (sim_quota_covers(group, plural, plural))
			add_one(out, plural, 1);
	}
}

/* ---- scopes ---- */

static bool has_class(const struct sim_value *values, const char *class)
{
	for (size_t i = 0; i < sim_count(values); i++) {
		if (!strcmp(sim_text_or(sim_item(values, i), ""), class))
			return true;
	}
	return false;
}

static bool class_matches(const char *class, const char *operator, const struct sim_value * values)
{
	if (!strcmp(operator, "Exists"))
		return *class;
	if (!strcmp(operator, "DoesNotExist"))
		return !*class;
	if (!strcmp(operator, "In"))
		return *class && has_class(values, class);
	return !*class || !has_class(values, class);
}

static bool reaches_out(const struct sim_value *terms, bool weighted)
{
	for (size_t i = 0; i < sim_count(terms); i++) {
		const struct sim_value *term = sim_item(terms, i);

		if (weighted)
			term = sim_member(term, "podAffinityTerm");
		if (sim_count(sim_member(term, "namespaces")) > 0 || sim_member(term, "namespaceSelector"))
			return true;
	}
	return false;
}

static bool uses_other_namespaces(const struct sim_value *pod)
{
	static const char *const kinds[] = { "podAffinity", "podAntiAffinity" };

	for (size_t i = 0; i < KAR_LEN(kinds); i++) {
		const struct sim_value *affinity = sim_get(pod, "spec", "affinity", kinds[i]);

		if (reaches_out(sim_member(affinity, "requiredDuringSchedulingIgnoredDuringExecution"),
			    false) ||
			reaches_out(sim_member(affinity, "preferredDuringSchedulingIgnoredDuringExecution"),
				true))
			return true;
	}
	return false;
}

static bool pod_in_scope(const struct sim_value *pod, const char *scope, const char *operator,
	const struct sim_value * values)
{
	bool terminating = sim_get_int(pod, -1, "spec", "activeDeadlineSeconds") >= 0;

	if (!strcmp(scope, "Terminating"))
		return terminating;
	if (!strcmp(scope, "NotTerminating"))
		return !terminating;
	if (!strcmp(scope, "BestEffort"))
		return !strcmp(sim_pod_qos(pod), "BestEffort");
	if (!strcmp(scope, "NotBestEffort"))
		return strcmp(sim_pod_qos(pod), "BestEffort") != 0;
	if (!strcmp(scope, "PriorityClass"))
		return class_matches(sim_text_or(sim_get(pod, "spec", "priorityClassName"), ""), operator,
			values);
	return !strcmp(scope, "CrossNamespacePodAffinity") && uses_other_namespaces(pod);
}

bool sim_quota_in_scope(const struct sim_value *quota, const char *group, const char *plural,
	const struct sim_value *object)
{
	const struct sim_value *scopes = sim_get(quota, "spec", "scopes");
	const struct sim_value *rules = sim_get(quota, "spec", "scopeSelector", "matchExpressions");

	if (sim_count(scopes) + sim_count(rules) == 0)
		return true;
	if (!is(group, plural, "pods"))
		return false;
	for (size_t i = 0; i < sim_count(scopes); i++) {
		if (!pod_in_scope(object, sim_text_or(sim_item(scopes, i), ""), "Exists", NULL))
			return false;
	}
	for (size_t i = 0; i < sim_count(rules); i++) {
		const struct sim_value *rule = sim_item(rules, i);

		if (!pod_in_scope(object, sim_text_or(sim_member(rule, "scopeName"), ""),
			    sim_text_or(sim_member(rule, "operator"), ""), sim_member(rule, "values")))
			return false;
	}
	return true;
}

/* ---- what every container must say ---- */

static bool container_says(const struct sim_value *container, const char *name)
{
	if (begins(name, limits_prefix))
		return sim_get(container, "resources", "limits", name + strlen(limits_prefix)) != NULL;
	if (begins(name, requests_prefix))
		name += strlen(requests_prefix);
	return sim_get(container, "resources", "requests", name) != NULL;
}

/* Names of the containers that do not say it, in order; at most so many as anybody reads. */
static size_t collect_silent(const struct sim_value *containers, const char *resource, const char **names,
	size_t n, size_t most)
{
	for (size_t i = 0; i < sim_count(containers) && n < most; i++) {
		const char *name = sim_text_or(sim_member(sim_item(containers, i), "name"), "");
		size_t at = n;

		if (container_says(sim_item(containers, i), resource))
			continue;
		for (; at > 0 && strcmp(names[at - 1], name) > 0; at--)
			names[at] = names[at - 1];
		names[at] = name;
		n++;
	}
	return n;
}

bool sim_quota_is_specified(const struct sim_value *hard, const struct sim_value *pod,
	struct kar_buf *missing)
{
	static const char *const required[] = { "cpu", "limits.cpu", "limits.memory", "memory",
		"requests.cpu", "requests.memory" };
	const struct sim_value *spec = sim_member(pod, "spec");
	const char *names[64];

	if (sim_count(sim_member(spec, "resources")) > 0)
		return true;
	for (size_t i = 0; i < KAR_LEN(required); i++) {
		size_t n = 0;

		if (!sim_member(hard, required[i]))
			continue;
		n = collect_silent(sim_member(spec, "containers"), required[i], names, n, KAR_LEN(names));
		n = collect_silent(sim_member(spec, "initContainers"), required[i], names, n, KAR_LEN(names));
		for (size_t k = 0; k < n; k++) {
			if (k == 0)
				kar_buf_printf(missing, "%s%s for: ", missing->n ? "; " : "", required[i]);
			kar_buf_printf(missing, "%s%s", k ? "," : "", names[k]);
		}
	}
	return missing->n == 0;
}
