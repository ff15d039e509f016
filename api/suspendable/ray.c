/* ray.io RayCluster and RayJob: a head and groups of workers, which a RayJob describes for the RayCluster that is made for it. */
#include "api/suspendable/suspendable.h"

#include <stdio.h>

#include "api/names.h"
#include "common/base/str.h"

#define ITSELF "ray.io/kuberay-operator" /* spec.managedBy of one that no other controller runs */

struct wire_head {
	struct kar_str template;
};

struct wire_group {
	const char *name;
	int32_t replicas, least, most, hosts;
	bool has_most, has_hosts, suspend;
	struct kar_str template;
};

struct wire_cluster {
	bool suspend;
	const char *managed_by;
	struct wire_head *head;
	struct kar_array groups; /* struct wire_group */
};

struct wire_raycluster {
	struct kar_wire_object head;
	struct wire_cluster spec;
};

struct wire_job {
	bool suspend, shuts_down;
	const char *managed_by;
	struct kar_array selector; /* struct kar_pair */
	struct wire_cluster cluster;
};

struct wire_job_status {
	const char *deployment;
};

struct wire_rayjob {
	struct kar_wire_object head;
	struct wire_job spec;
	struct wire_job_status status;
};

static const struct kar_field head_fields[] = {
	KAR_FIELD(struct wire_head, template, "template", KAR_F_RAW),
};
static const struct kar_desc head_desc = KAR_DESC("HeadGroupSpec", struct wire_head, head_fields);

static const struct kar_field group_fields[] = {
	KAR_FIELD(struct wire_group, name, "groupName", KAR_F_STRING),
	KAR_FIELD(struct wire_group, replicas, "replicas", KAR_F_INT32),
	KAR_FIELD(struct wire_group, least, "minReplicas", KAR_F_INT32),
	KAR_FIELD_OPT(struct wire_group, most, has_most, "maxReplicas", KAR_F_INT32),
	KAR_FIELD_OPT(struct wire_group, hosts, has_hosts, "numOfHosts", KAR_F_INT32),
	KAR_FIELD(struct wire_group, suspend, "suspend", KAR_F_BOOL),
	KAR_FIELD(struct wire_group, template, "template", KAR_F_RAW),
};
static const struct kar_desc group_desc = KAR_DESC("WorkerGroupSpec", struct wire_group, group_fields);

static const struct kar_field cluster_fields[] = {
	KAR_FIELD(struct wire_cluster, suspend, "suspend", KAR_F_BOOL),
	KAR_FIELD(struct wire_cluster, managed_by, "managedBy", KAR_F_STRING),
	KAR_FIELD_SUB(struct wire_cluster, head, "headGroupSpec", KAR_F_OBJECT_PTR, &head_desc),
	KAR_FIELD_SUB(struct wire_cluster, groups, "workerGroupSpecs", KAR_F_ARRAY, &group_desc),
};
static const struct kar_desc cluster_desc = KAR_DESC("RayClusterSpec", struct wire_cluster, cluster_fields);

static const struct kar_field raycluster_fields[] = {
	KAR_WIRE_HEAD_FIELDS(struct wire_raycluster),
	KAR_FIELD_SUB(struct wire_raycluster, spec, "spec", KAR_F_OBJECT, &cluster_desc),
};
static const struct kar_desc raycluster_desc =
	KAR_WIRE_DESC("RayCluster", struct wire_raycluster, raycluster_fields);

static const struct kar_field job_fields[] = {
	KAR_FIELD(struct wire_job, suspend, "suspend", KAR_F_BOOL),
	KAR_FIELD(struct wire_job, shuts_down, "shutdownAfterJobFinishes", KAR_F_BOOL),
	KAR_FIELD(struct wire_job, managed_by, "managedBy", KAR_F_STRING),
	KAR_FIELD(struct wire_job, selector, "clusterSelector", KAR_F_MAP),
	KAR_FIELD_SUB(struct wire_job, cluster, "rayClusterSpec", KAR_F_OBJECT, &cluster_desc),
};
static const struct kar_desc job_desc = KAR_DESC("RayJobSpec", struct wire_job, job_fields);

static const struct kar_field job_status_fields[] = {
	KAR_FIELD(struct wire_job_status, deployment, "jobDeploymentStatus", KAR_F_STRING),
};
static const struct kar_desc job_status_desc =
	KAR_DESC("RayJobStatus", struct wire_job_status, job_status_fields);

static const struct kar_field rayjob_fields[] = {
	KAR_WIRE_HEAD_FIELDS(struct wire_rayjob),
	KAR_FIELD_SUB(struct wire_rayjob, spec, "spec", KAR_F_OBJECT, &job_desc),
	KAR_FIELD_SUB(struct wire_rayjob, status, "status", KAR_F_OBJECT, &job_status_desc),
};
static const struct kar_desc rayjob_desc = KAR_WIRE_DESC("RayJob", struct wire_rayjob, rayjob_fields);

/* As the operator takes it: between the least and the most of the group. */
static int64_t count_workers(const struct wire_group *g)
{
	int64_t replicas = g->replicas;

	if (g->suspend)
		return 0;
	if (g->has_most && replicas > g->most)
		replicas = g->most;
	if (replicas < g->least)
		replicas = g->least;
	return replicas > 0 ? replicas * (g->has_hosts && g->hosts > 0 ? g->hosts : 1) : 0;
}

/* @in: where @c is in the object, as a JSON pointer. */
static void read_cluster(struct kar_suspendable *s, const char *in, const struct wire_cluster *c)
{
	const struct wire_group *groups = c->groups.items;
	char at[96];

	if (c->head) {
		snprintf(at, sizeof(at), "%s/headGroupSpec/template", in);
		kar_suspendable_add(s, "head", at, 1, c->head->template);
	}
	for (size_t i = 0; i < c->groups.n; i++) {
		snprintf(at, sizeof(at), "%s/workerGroupSpecs/%zu/template", in, i);
		kar_suspendable_add(s, groups[i].name, at, count_workers(&groups[i]), groups[i].template);
	}
}

static struct kar_object *project_cluster(const void *wire, struct kar_intern *strings)
{
	const struct wire_raycluster *w = wire;
	struct kar_suspendable *s = kar_suspendable_new(&kar_raycluster_type, &w->head, strings);

	s->suspended = w->spec.suspend;
	s->managed_by = kar_suspendable_manager(s, w->spec.managed_by, ITSELF);
	read_cluster(s, "/spec", &w->spec);
	return &s->o;
}

/* KubeRay takes it for invalid, and does nothing with it any more. One that it cannot suspend is that as well, and its user is told why. */
static bool is_refused(const struct wire_rayjob *w)
{
	return w->spec.shuts_down && kar_streq(w->status.deployment, "ValidationFailed");
}

static struct kar_object *project_job(const void *wire, struct kar_intern *strings)
{
	const struct wire_rayjob *w = wire;
	struct kar_suspendable *s = kar_suspendable_new(&kar_rayjob_type, &w->head, strings);

	s->suspended = w->spec.suspend;
	s->ended = kar_streq(w->status.deployment, "Complete") || kar_streq(w->status.deployment, "Failed") ||
		is_refused(w);
	s->managed_by = w->spec.selector.n
		? "the RayCluster of its clusterSelector" /* whose pods exist already */
		: kar_suspendable_manager(s, w->spec.managed_by, ITSELF);
	if (!w->spec.shuts_down)
		s->unsupported =
			"KubeRay suspends only a RayJob with spec.shutdownAfterJobFinishes: true: delete it, and create it again with that, or without the label " KAR_LABEL_QUEUE;
	read_cluster(s, "/spec/rayClusterSpec", &w->spec.cluster);
	return &s->o;
}

const struct kar_type kar_raycluster_type = {
	.res = {
		.group = "ray.io",
		.version = "v1",
		.plural = "rayclusters",
		.kind = "RayCluster",
		.namespaced = true,
	},
	.wire = &raycluster_desc,
	.project = project_cluster,
	.destroy = kar_suspendable_destroy,
};

const struct kar_type kar_rayjob_type = {
	.res = {
		.group = "ray.io",
		.version = "v1",
		.plural = "rayjobs",
		.kind = "RayJob",
		.namespaced = true,
	},
	.wire = &rayjob_desc,
	.project = project_job,
	.destroy = kar_suspendable_destroy,
};
