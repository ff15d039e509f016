/*
 * No field of our CustomResourceDefinitions is accepted and ignored in silence. Every property of manifests/crds/ is decoded by the
 * field table of its kind and has a row below that quotes the code which acts on it. What is accepted without effect is listed
 * by name in .ignored, and its description says that kar-controllers does not act on it (does not write it) yet.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/codec/yaml.h"
#include "api/types.h"
#include "sim/tree.h"
#include "common/base/str.h"

#define TJQ "api/trainingjob/trainingjob_queuejob.c"
#define QJ "controllers/queuejob/"

/* Which code acts on a field of a spec: a text in a file. */
static const struct {
	const char *field, *file, *text;
} readers[] = {
	{ "queues.spec.parent", "controllers/queue/tree.c", ".parent = s->parent," },
	{ "queues.spec.weight", "controllers/queue/tree.c", ".weight = s->weight," },
	{ "queues.spec.deserved", "controllers/queue/tree.c", ".deserved = s->deserved," },
	{ "queues.spec.guarantee", "controllers/queue/tree.c", ".guarantee = s->guarantee," },
	{ "queues.spec.capability", "controllers/queue/tree.c", ".capability = s->capability," },
	{ "queues.spec.flavors[].name", "controllers/queue/flavors.c",
		"queue_flavor_number(p, s->flavors[k].name)" },
	{ "queues.spec.flavors[].deserved", "common/queue/flavors.c", "f->deserved.items[k].amount" },
	{ "queues.spec.flavors[].capability", "common/queue/flavors.c", "f->capability.items[k].amount" },
	{ "queues.spec.flavorPolicy", "common/queue/choice.c", "g->queue->in->flavors_in_order" },
	{ "flavors.spec.nodeSelector.matchLabels", "api/core/flavor.c", "f->terms.labels.items" },
	{ "flavors.spec.tolerations[].key", "api/core/flavor.c", "kar_has_text(one.key) ? one.key" },
	{ "flavors.spec.tolerations[].operator", "api/core/flavor.c", "kar_streq(one.op, \"Exists\")" },
	{ "flavors.spec.tolerations[].value", "api/core/flavor.c", "one.value ? one.value" },
	{ "flavors.spec.tolerations[].effect", "api/core/flavor.c", "effect_of(one.effect)" },
	{ "queues.spec.maxJobs", "controllers/queue/tree.c", "s->max_jobs : 0" },
	{ "queues.spec.perNamespace.capability", "controllers/queue/namespaces.c", "per_namespace.items" },
	{ "queues.spec.perNamespace.maxJobs", "controllers/queue/namespaces.c", "s->per_namespace_jobs" },
	{ "queues.spec.fairness.halfLifeSeconds", "controllers/queue/history.c",
		"spec.half_life * KAR_SECOND" },
	{ "queues.spec.fairness.chargeIdle", "controllers/queue/history.c", "spec.charge_idle" },
	{ "queues.spec.maxRunSeconds", "controllers/cluster/asked.c", "out.most = s->max_run_seconds" },
	{ "queues.spec.defaultRunSeconds", "controllers/cluster/asked.c",
		"out.by_default = s->default_run_seconds" },
	{ "queues.spec.maxPriority", "api/queue.h", "asked > q->spec.max_priority" },
	{ "queues.spec.reclaimable", "controllers/queue/tree.c", ".not_reclaimable = s->never_reclaimed," },
	{ "queues.spec.drain", "controllers/queue/tree.c", ".drain = s->drain," },
	{ "queues.spec.namespaceSelector.matchLabels", "api/core/selector.c", "*want = s->labels.items" },
	{ "queues.spec.namespaceSelector.matchExpressions[].key", "api/core/selector.c",
		"kar_pairs_get(labels, r->key)" },
	{ "queues.spec.namespaceSelector.matchExpressions[].operator", "api/core/selector.c",
		"kar_streq(r->op" },
	{ "queues.spec.namespaceSelector.matchExpressions[].values", "api/core/selector.c", "&r->values" },
	{ "queues.spec.preemptionPolicy", "controllers/queue/tree.c", ".preempts = s->preempts," },
	{ "queues.spec.queueingStrategy", "controllers/queue/tree.c",
		"kar_streq(s->queueing_strategy, \"StrictFIFO\")" },
	{ "queues.spec.provisioning", "controllers/queue/tree.c", ".provisions = s->provisions," },
	{ "queues.spec.state", "controllers/queue/tree.c", "s->state != KAR_QUEUE_STATE_OPEN" },

	{ "podgroups.spec.minMember", "controllers/podgroup/count.c", "spec->min_member" },
	{ "podgroups.spec.succeededMembers", "controllers/podgroup/count.c", "spec->succeeded_members" },
	{ "podgroups.spec.scheduleTimeoutSeconds", "api/podgroup/podgroup.c", "s->schedule_timeout_seconds" },
	{ "podgroups.spec.queue", "api/podgroup/podgroup.c", "kar_has_text(g->spec.queue) ? g->spec.queue" },
	{ "podgroups.spec.minResources", "controllers/queue/hold.c", "g->spec.min_resources.items" },
	{ "podgroups.spec.totalResources", "controllers/queue/quota.c", "&g->spec.total_resources" },
	{ "podgroups.spec.priorityClassName", "controllers/queue/observe.c", "g->spec.priority_class_name" },
	{ "podgroups.spec.priority", "controllers/queue/observe.c", ": g->spec.priority;" },
	{ "podgroups.spec.topology.required", "controllers/cluster/topologies.c",
		".required = depth_of(t, ask->required)," },
	{ "podgroups.spec.topology.preferred", "controllers/cluster/topologies.c",
		".preferred = depth_of(t, ask->preferred)" },
	{ "podgroups.spec.topology.slices[].size", "controllers/cluster/topologies.c",
		"kar_topology_slices(ask)->size" },
	{ "podgroups.spec.topology.slices[].required", "controllers/cluster/topologies.c",
		"slices ? slices->required" },
	{ "podgroups.spec.topology.balance", "controllers/cluster/topologies.c", ".balance = ask->balance" },
	{ "topologies.spec.levels[].nodeLabel", "controllers/cluster/topologies.c", "t->levels[i], label" },

	/* What a job asks for, for other programs: it is compared, and put right. */
	{ "schedulingspecs.spec.minAvailable", "api/queuejob/schedulingspec.c",
		"same_number(a->min_available" },
	{ "schedulingspecs.spec.priorityClassName", "api/queuejob/schedulingspec.c",
		"kar_streq(a->priority_class_name" },
	{ "schedulingspecs.spec.priority", "api/queuejob/schedulingspec.c", "same_number(a->priority" },
	{ "schedulingspecs.spec.nodeSelector", "api/queuejob/schedulingspec.c",
		"kar_pairs_equal(&a->node_selector" },
	{ "schedulingspecs.spec.topology.required", "api/core/topology.c",
		"kar_streq(a->required, b->required)" },
	{ "schedulingspecs.spec.topology.preferred", "api/core/topology.c",
		"kar_streq(a->preferred, b->preferred)" },
	{ "schedulingspecs.spec.topology.slices[].size", "api/core/topology.c", "a->size == b->size" },
	{ "schedulingspecs.spec.topology.slices[].required", "api/core/topology.c",
		"kar_streq(a->required, b->required)));" },
	{ "schedulingspecs.spec.topology.balance", "api/core/topology.c", "a->balance == b->balance" },
	{ "schedulingspecs.spec.scheduleTimeoutSeconds", "api/queuejob/schedulingspec.c",
		"same_number(a->schedule_timeout_seconds" },

	{ "queuejobs.spec.managedBy", QJ "decide.c", "r->f->job->spec.of_others" },
	{ "queuejobs.spec.queue", "controllers/cluster/asked.c", "return job->spec.queue;" },
	{ "queuejobs.spec.suspend", QJ "moves.c", "r->f->job->spec.suspend" },
	{ "queuejobs.spec.schedulerName", "api/queuejob/queuejob_pod.c", "s->scheduler_name" },
	{ "queuejobs.spec.selector.matchLabels", "api/core/selector.c", "s->labels" },
	{ "queuejobs.spec.selector.matchExpressions[].key", "api/queuejob/queuejob_check.c", "r->key" },
	{ "queuejobs.spec.selector.matchExpressions[].operator", "api/queuejob/queuejob_check.c",
		"kar_streq(r->op" },
	{ "queuejobs.spec.selector.matchExpressions[].values", "api/core/selector.c", "&r->values" },
	{ "queuejobs.spec.schedSpec.minAvailable", "api/queuejob/queuejob_check.c", "min_available" },
	{ "queuejobs.spec.schedSpec.priorityClassName", QJ "observe.c", "s->priority_class_name" },
	{ "queuejobs.spec.schedSpec.priority", QJ "observe.c", "v->priority = s->priority;" },
	{ "queuejobs.spec.schedSpec.mode", QJ "roles.c", "job->spec.sched.mode" },
	{ "queuejobs.spec.schedSpec.gangGroups", QJ "roles.c", "job->spec.sched.gang_groups" },
	{ "queuejobs.spec.schedSpec.topology.required", QJ "children.c", ".topology = s->sched.topology," },
	{ "queuejobs.spec.schedSpec.topology.preferred", QJ "children.c", ".topology = s->sched.topology," },
	{ "queuejobs.spec.schedSpec.topology.slices[].size", QJ "children.c",
		".topology = s->sched.topology," },
	{ "queuejobs.spec.schedSpec.topology.slices[].required", QJ "children.c",
		".topology = s->sched.topology," },
	{ "queuejobs.spec.schedSpec.topology.balance", QJ "children.c", ".topology = s->sched.topology," },
	{ "queuejobs.spec.schedSpec.nodeSelector", "api/queuejob/queuejob_pod.c", "s->sched.node_selector" },
	{ "queuejobs.spec.schedSpec.scheduleTimeoutSeconds", QJ "children.c",
		"s->sched.schedule_timeout_seconds" },
	{ "queuejobs.spec.taskSpecs[].name", QJ "observe.c", "kar_queuejob_pod_name(job, spec->name" },
	{ "queuejobs.spec.taskSpecs[].replicas", QJ "begin.c", "spec.tasks[i].replicas" },
	{ "queuejobs.spec.taskSpecs[].minAvailable", QJ "facts.c", "spec->min_available" },
	{ "queuejobs.spec.taskSpecs[].priority", QJ "observe.c", "s->tasks[i].priority" },
	{ "queuejobs.spec.after[].name", QJ "observe_after.c", "find(stores, job->o.ns, a->name)" },
	{ "queuejobs.spec.after[].status", QJ "after.c", "a->on == KAR_AFTER_ENDED" },
	{ "queuejobs.spec.taskSpecs[].dependsOn[].name", "api/queuejob/queuejob_order.c", "w[i].name" },
	{ "queuejobs.spec.taskSpecs[].dependsOn[].status", "api/queuejob/queuejob_order.c", "w[i].status" },
	{ "queuejobs.spec.taskSpecs[].topology.required", QJ "roles.c", "asks_for = own" },
	{ "queuejobs.spec.taskSpecs[].topology.preferred", QJ "roles.c", "asks_for = own" },
	{ "queuejobs.spec.taskSpecs[].topology.slices[].size", QJ "roles.c", "asks_for = own" },
	{ "queuejobs.spec.taskSpecs[].topology.slices[].required", QJ "roles.c", "asks_for = own" },
	{ "queuejobs.spec.taskSpecs[].topology.balance", QJ "roles.c", "asks_for = own" },
	{ "queuejobs.spec.taskSpecs[].topologyGroup", QJ "roles.c", "tasks[i].topology_group" },
	{ "queuejobs.spec.taskSpecs[].template", "api/queuejob/queuejob_pod.c", "template_raw" },
	{ "queuejobs.spec.backoffLimit", QJ "facts.c", "spec.backoff_limit" },
	{ "queuejobs.spec.backoffLimitPerIndex", QJ "indexes.c", "spec.backoff_limit_per_index" },
	{ "queuejobs.spec.maxFailedIndexes", QJ "indexes.c", "spec.max_failed_indexes" },
	{ "queuejobs.spec.activeDeadlineSeconds", QJ "finish.c", "s->active_deadline_seconds" },
	{ "queuejobs.spec.ttlSecondsAfterFinished", QJ "finish.c", "s->ttl_seconds_after_finished" },
	{ "queuejobs.spec.successPolicy.minSucceeded", QJ "facts.c", "s->min_succeeded" },
	{ "queuejobs.spec.successPolicy.tasks", QJ "facts.c", "s->success_tasks" },
	{ "queuejobs.spec.failurePolicy.rules[].action", QJ "failure_policy.c", "rule->action" },
	{ "queuejobs.spec.failurePolicy.rules[].tasks", QJ "failure_policy.c", "rule->tasks" },
	{ "queuejobs.spec.failurePolicy.rules[].onExitCodes.containerName", QJ "failure_policy.c",
		"rule->container" },
	{ "queuejobs.spec.failurePolicy.rules[].onExitCodes.operator", QJ "failure_policy.c",
		"rule->exit_operator" },
	{ "queuejobs.spec.failurePolicy.rules[].onExitCodes.values", QJ "failure_policy.c", "rule->codes" },
	{ "queuejobs.spec.failurePolicy.rules[].onPodConditions[].type", QJ "failure_policy.c",
		"want->type" },
	{ "queuejobs.spec.failurePolicy.rules[].onPodConditions[].status", QJ "failure_policy.c",
		"want->status" },
	{ "queuejobs.spec.failurePolicy.rules[].onReasons", QJ "failure_policy.c", "rule->reasons" },
	{ "queuejobs.spec.freezingWindowSeconds", QJ "roles.c", "job->spec.freezing_window" },
	{ "queuejobs.spec.network.enableDNSHostnames", QJ "service.c", "spec.dns_hostnames" },
	{ "queuejobs.spec.network.frameworks", "api/queuejob/queuejob_env.c",
		"s->frameworks & KAR_FRAMEWORK_TORCH" },
	{ "queuejobs.spec.network.publishNotReadyAddresses", QJ "service.c", "spec.publish_not_ready" },
	{ "trainingjobs.spec.image", TJQ, "s->image ? s->image" },
	{ "trainingjobs.spec.fault_tolerant", TJQ, "s->fault_tolerant" },
	{ "trainingjobs.spec.fault-tolerant", TJQ, "s->fault_tolerant" },
	{ "trainingjobs.spec.faultTolerant", TJQ, "s->fault_tolerant" },
	{ "trainingjobs.spec.suspend", TJQ, "t->spec.suspend" },
	{ "trainingjobs.spec.priorityClassName", TJQ, "s->priority_class" },
	{ "trainingjobs.spec.passes", TJQ, "s->passes" },
	{ "trainingjobs.spec.port", TJQ, "s->port" },
	{ "trainingjobs.spec.ports_num", TJQ, "s->ports_num" },
	{ "trainingjobs.spec.ports-num", TJQ, "s->ports_num" },
	{ "trainingjobs.spec.portsNum", TJQ, "s->ports_num" },
	{ "trainingjobs.spec.ports_num_for_sparse", TJQ, "s->ports_num_for_sparse" },
	{ "trainingjobs.spec.ports-num-for-sparse", TJQ, "s->ports_num_for_sparse" },
	{ "trainingjobs.spec.portsNumForSparse", TJQ, "s->ports_num_for_sparse" },
	{ "trainingjobs.spec.host_network", TJQ, "s->host_network" },
	{ "trainingjobs.spec.host-network", TJQ, "s->host_network" },
	{ "trainingjobs.spec.hostNetwork", TJQ, "s->host_network" },
	{ "trainingjobs.spec.volumes", TJQ, "s->volumes" },
	{ "trainingjobs.spec.VolumeMounts", TJQ, "s->volume_mounts" },
	{ "trainingjobs.spec.volumeMounts", TJQ, "s->volume_mounts" },
	{ "trainingjobs.spec.volume_mounts", TJQ, "s->volume_mounts" },
	{ "trainingjobs.spec.imagePullSecrets", TJQ, "s->pull_secrets" },
	{ "trainingjobs.spec.master.etcd-endpoint", TJQ, "s->etcd_endpoint" },
	{ "trainingjobs.spec.master.etcd_endpoint", TJQ, "s->etcd_endpoint" },
	{ "trainingjobs.spec.master.etcdEndpoint", TJQ, "s->etcd_endpoint" },
	{ "trainingjobs.spec.master.resources.limits", TJQ, "&p->limits" },
	{ "trainingjobs.spec.master.resources.requests", TJQ, "&p->requests" },
	{ "trainingjobs.spec.pserver.min-instance", TJQ, "s->pserver.min" },
	{ "trainingjobs.spec.pserver.min_instance", TJQ, "s->pserver.min" },
	{ "trainingjobs.spec.pserver.minInstance", TJQ, "s->pserver.min" },
	{ "trainingjobs.spec.pserver.max-instance", "controllers/trainingjob/status.c", "p->max > p->min" },
	{ "trainingjobs.spec.pserver.max_instance", "controllers/trainingjob/status.c", "p->max > p->min" },
	{ "trainingjobs.spec.pserver.maxInstance", "controllers/trainingjob/status.c", "p->max > p->min" },
	{ "trainingjobs.spec.pserver.resources.limits", TJQ, "&p->limits" },
	{ "trainingjobs.spec.pserver.resources.requests", TJQ, "&p->requests" },
	{ "trainingjobs.spec.trainer.min-instance", TJQ, "s->trainer.min" },
	{ "trainingjobs.spec.trainer.min_instance", TJQ, "s->trainer.min" },
	{ "trainingjobs.spec.trainer.minInstance", TJQ, "s->trainer.min" },
	{ "trainingjobs.spec.trainer.max-instance", "controllers/trainingjob/decide.c", "p->max" },
	{ "trainingjobs.spec.trainer.max_instance", "controllers/trainingjob/decide.c", "p->max" },
	{ "trainingjobs.spec.trainer.maxInstance", "controllers/trainingjob/decide.c", "p->max" },
	{ "trainingjobs.spec.trainer.etcd-endpoint", TJQ, "s->etcd_endpoint" },
	{ "trainingjobs.spec.trainer.etcd_endpoint", TJQ, "s->etcd_endpoint" },
	{ "trainingjobs.spec.trainer.etcdEndpoint", TJQ, "s->etcd_endpoint" },
	{ "trainingjobs.spec.trainer.resources.limits", TJQ, "&p->limits" },
	{ "trainingjobs.spec.trainer.resources.requests", TJQ, "&p->requests" },
	{ "trainingjobs.spec.trainer.entrypoint", TJQ, "s->entrypoint" },
	{ "trainingjobs.spec.trainer.workspace", TJQ, "s->workspace" },
	{ "trainingjobs.spec.trainer.passes", TJQ, "s->passes" },
};

/* Fields that no code acts on. Do not add any: act on the field, or leave it out of the CRD. */
static const char *const ignored[] = {
	"queuejobs.spec.schedSpec.matchPolicy",
	"schedulingspecs.spec.mode",
	"schedulingspecs.spec.matchPolicy",
	"schedulingspecs.spec.gangGroups",
};

static bool is_ignored(const char *path)
{
	for (size_t i = 0; i < KAR_LEN(ignored); i++) {
		if (strcmp(ignored[i], path) == 0)
			return true;
	}
	return false;
}

static char *read_text(const char *file)
{
	static char text[256 << 10];
	char *path = kar_xasprintf("%s/../../%s", KAR_SCENES, file);
	FILE *f = fopen(path, "r");

	if (!f)
		fail_msg("%s: cannot be read", path);
	else {
		text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
		fclose(f);
	}
	free(path);
	return text;
}

/* The schema of a CRD. New. */
static struct sim_value *schema_of(const char *plural)
{
	char *file = kar_xasprintf("manifests/crds/%s.yaml", plural), *text = read_text(file);
	struct kar_buf json = { 0 };
	struct kar_err err = { 0 };
	struct sim_value *crd, *schema;

	if (kar_yaml_to_json(text, strlen(text), 0, &json, &err) != 1)
		fail_msg("%s: %s", file, err.msg);
	crd = sim_parse(kar_buf_cstr(&json), json.n, &err);
	schema = sim_ref(sim_get(sim_item(sim_get(crd, "spec", "versions"), 0), "schema", "openAPIV3Schema"));
	assert_non_null(schema);
	sim_unref(crd);
	kar_buf_release(&json);
	free(file);
	return schema;
}

/* Every property: its path, schema, and field (NULL: it is not decoded). */
typedef void visit_fn(const char *path, const struct sim_value *property, const struct kar_field *field);

static const struct kar_field *find_field(const struct kar_desc *desc, const char *name)
{
	for (size_t i = 0; desc && i < desc->n_fields; i++) {
		if (strcmp(desc->fields[i].name, name) == 0)
			return &desc->fields[i];
	}
	return NULL;
}

static bool is_said(const struct sim_value *property)
{
	const char *d = sim_text_or(sim_member(property, "description"), "");

	return strstr(d, "kar-controllers does not act on it yet") ||
		strstr(d, "kar-controllers does not act on yet") ||
		strstr(d, "kar-controllers does not write it yet");
}

/* What a description says holds for all below it, and so does a field that takes the value as it is. */
static void walk(const struct sim_value *schema, const struct kar_desc *desc, const char *path,
	visit_fn *visit)
{
	const struct sim_value *items = sim_member(schema, "items");

	if (items)
		schema = items;
	for (struct sim_member m = sim_first(sim_member(schema, "properties")); m.value; m = sim_next(m)) {
		const struct kar_field *field = find_field(desc, m.key);
		char *below = kar_xasprintf("%s.%s%s", path, m.key,
			field && field->sub && sim_member(m.value, "items") ? "[]" : "");

		if (field && field->sub)
			walk(m.value, field->sub, below, visit);
		else
			visit(below, m.value, field);
		free(below);
	}
}

static const struct {
	const char *plural;
	const struct kar_type *type;
} kinds[] = {
	{ "queuejobs", &kar_queuejob_type },
	{ "podgroups", &kar_podgroup_type },
	{ "queues", &kar_queue_type },
	{ "schedulingspecs", &kar_schedulingspec_type },
	{ "topologies", &kar_topology_type },
	{ "flavors", &kar_flavor_type },
	{ "trainingjobs", &kar_trainingjob_type },
};

static void walk_part(const char *part, visit_fn *visit)
{
	for (size_t i = 0; i < KAR_LEN(kinds); i++) {
		struct sim_value *schema = schema_of(kinds[i].plural);
		const struct kar_field *field = find_field(kinds[i].type->wire, part);
		const struct sim_value *of = sim_get(schema, "properties", part);
		char *path = kar_xasprintf("%s.%s", kinds[i].plural, part);

		if (of) {
			assert_non_null(field);
			walk(of, field->sub, path, visit);
		}
		free(path);
		sim_unref(schema);
	}
}

static size_t n_seen, n_ignored;

static size_t row_of(const char *path)
{
	size_t i = 0;

	while (i < KAR_LEN(readers) && strcmp(readers[i].field, path) != 0)
		i++;
	return i;
}

static void check_spec(const char *path, const struct sim_value *property, const struct kar_field *field)
{
	size_t row = row_of(path);

	n_seen += row < KAR_LEN(readers);
	n_ignored += is_said(property);
	if (is_said(property)) {
		if (!is_ignored(path))
			fail_msg(
				"%s is accepted, and nothing acts on it: act on it, or leave it out of the CRD",
				path);
		if (row < KAR_LEN(readers))
			fail_msg("%s: its description says that it is not acted upon, but %s does", path,
				readers[row].file);
		return;
	}
	if (!field)
		fail_msg("%s is accepted, but not decoded: act on it, or leave it out of the CRD", path);
	if (row == KAR_LEN(readers))
		fail_msg("%s: add a row that names the code which acts on it", path);
	else if (!strstr(read_text(readers[row].file), readers[row].text))
		fail_msg("%s: %s does not contain '%s'", path, readers[row].file, readers[row].text);
}

static void each_field_of_a_spec_is_acted_upon_or_says_that_it_is_not(void **state)
{
	(void)state;
	n_seen = n_ignored = 0;
	walk_part("spec", check_spec);
	assert_int_equal(n_seen, KAR_LEN(readers)); /* no row is about a field that is gone */
	assert_int_equal(n_ignored, KAR_LEN(ignored));
}

static bool is_checked(const char *file)
{
	for (size_t i = 0; i < KAR_LEN(kinds); i++) {
		size_t n = strlen(kinds[i].plural);

		if (strncmp(file, kinds[i].plural, n) == 0 && strcmp(file + n, ".yaml") == 0)
			return true;
	}
	return false;
}

static void each_crd_is_checked(void **state)
{
	char *folder = kar_xasprintf("%s/../../manifests/crds", KAR_SCENES);
	DIR *d = opendir(folder);
	struct dirent *e;

	(void)state;
	assert_non_null(d);
	while ((e = readdir(d))) {
		if (e->d_name[0] != '.' && !is_checked(e->d_name))
			fail_msg("manifests/crds/%s: add its kind to the kinds of this test", e->d_name);
	}
	closedir(d);
	free(folder);
}

static void check_status(const char *path, const struct sim_value *property, const struct kar_field *field)
{
	if (!field && !is_said(property))
		fail_msg("%s is never written: say \"kar-controllers does not write it yet\"", path);
	if (field && is_said(property))
		fail_msg("%s: its description says that it is not written, but it is", path);
}

static void each_field_of_a_status_is_written_or_says_that_it_is_not(void **state)
{
	(void)state;
	walk_part("status", check_status);
}

/* The API server drops a field that the CRD does not have. */
static void check_properties(const struct kar_desc *desc, const struct sim_value *schema, const char *path)
{
	const struct sim_value *items = sim_member(schema, "items");

	for (size_t i = 0; i < desc->n_fields; i++) {
		const struct kar_field *field = &desc->fields[i];
		const struct sim_value *property = sim_get(items ? items : schema, "properties", field->name);
		char *below = kar_xasprintf("%s.%s", path, field->name);

		if (!property)
			fail_msg("%s is written, but it is no property of the CRD", below);
		if (field->sub)
			check_properties(field->sub, property, below);
		free(below);
	}
}

static void each_member_of_a_status_is_a_property_of_the_crd(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(kinds); i++) {
		const struct kar_field *status = find_field(kinds[i].type->wire, "status");
		struct sim_value *schema = schema_of(kinds[i].plural);
		char *path = kar_xasprintf("%s.status", kinds[i].plural);

		if (status)
			check_properties(status->sub, sim_get(schema, "properties", "status"), path);
		free(path);
		sim_unref(schema);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_field_of_a_spec_is_acted_upon_or_says_that_it_is_not),
		cmocka_unit_test(each_crd_is_checked),
		cmocka_unit_test(each_field_of_a_status_is_written_or_says_that_it_is_not),
		cmocka_unit_test(each_member_of_a_status_is_a_property_of_the_crd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
