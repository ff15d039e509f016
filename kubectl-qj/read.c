/* Objects of the cluster, as far as commands show them. */
#include "kubectl-qj/qj.h"

#include <string.h>

#include "api/names.h"
#include "common/base/str.h"
#include "common/codec/json.h"

static const struct kar_field condition_fields[] = {
	KAR_FIELD(struct qj_condition, type, "type", KAR_F_STRING),
	KAR_FIELD(struct qj_condition, status, "status", KAR_F_STRING),
	KAR_FIELD(struct qj_condition, reason, "reason", KAR_F_STRING),
	KAR_FIELD(struct qj_condition, message, "message", KAR_F_STRING),
	KAR_FIELD_TIME(struct qj_condition, since, "lastTransitionTime", 0),
};
static const struct kar_desc condition_desc = KAR_DESC("condition", struct qj_condition, condition_fields);

static const struct kar_field task_fields[] = {
	KAR_FIELD(struct qj_task, name, "name", KAR_F_STRING),
	KAR_FIELD(struct qj_task, replicas, "replicas", KAR_F_INT32),
	KAR_FIELD(struct qj_task, desired, "desired", KAR_F_INT32),
	KAR_FIELD(struct qj_task, running, "running", KAR_F_INT32),
	KAR_FIELD(struct qj_task, succeeded, "succeeded", KAR_F_INT32),
	KAR_FIELD(struct qj_task, failed, "failed", KAR_F_INT32),
	KAR_FIELD(struct qj_task, pending, "pending", KAR_F_INT32),
};
static const struct kar_desc task_desc = KAR_DESC("task", struct qj_task, task_fields);

/* Without annotations: of jobs that were applied each has its whole text in one, and of thousands all would stay in memory. */
static const struct kar_field light_meta_fields[] = {
	KAR_FIELD(struct kar_wire_meta, name, "name", KAR_F_STRING),
	KAR_FIELD(struct kar_wire_meta, ns, "namespace", KAR_F_STRING),
	KAR_FIELD(struct kar_wire_meta, uid, "uid", KAR_F_STRING),
	KAR_FIELD(struct kar_wire_meta, generation, "generation", KAR_F_INT64),
	KAR_FIELD_TIME(struct kar_wire_meta, creation, "creationTimestamp", 0),
	KAR_FIELD_TIME(struct kar_wire_meta, deletion, "deletionTimestamp", 0),
	KAR_FIELD(struct kar_wire_meta, labels, "labels", KAR_F_MAP),
};
static const struct kar_desc light_meta_desc =
	KAR_DESC("ObjectMeta", struct kar_wire_meta, light_meta_fields);

static const struct kar_field usage_fields[] = {
	KAR_FIELD_TIME(struct qj_usage, time, "time", 0),
	KAR_FIELD(struct qj_usage, seconds, "seconds", KAR_F_MAP),
	KAR_FIELD(struct qj_usage, allocated, "allocated", KAR_F_MAP),
};
static const struct kar_desc usage_desc = KAR_DESC("usage", struct qj_usage, usage_fields);

/* --- QueueJob --------------------------------------------------------------------------------------- */

static const struct kar_field job_spec_fields[] = {
	KAR_FIELD(struct qj_job_spec, queue, "queue", KAR_F_STRING),
	KAR_FIELD(struct qj_job_spec, suspend, "suspend", KAR_F_BOOL),
	KAR_FIELD_SUB(struct qj_job_spec, tasks, "taskSpecs", KAR_F_ARRAY, &task_desc),
};
static const struct kar_desc job_spec_desc = KAR_DESC("spec", struct qj_job_spec, job_spec_fields);

static const struct kar_field what_if_eviction_fields[] = {
	KAR_FIELD(struct qj_what_if_eviction, queue, "queue", KAR_F_STRING),
	KAR_FIELD(struct qj_what_if_eviction, pods, "pods", KAR_F_INT32),
};
static const struct kar_desc what_if_eviction_desc =
	KAR_DESC("eviction", struct qj_what_if_eviction, what_if_eviction_fields);

static const struct kar_field what_if_fields[] = {
	KAR_FIELD(struct qj_what_if, answer, "answer", KAR_F_STRING),
	KAR_FIELD(struct qj_what_if, reason, "reason", KAR_F_STRING),
	KAR_FIELD(struct qj_what_if, message, "message", KAR_F_STRING),
	KAR_FIELD(struct qj_what_if, basis, "basis", KAR_F_STRING),
	KAR_FIELD(struct qj_what_if, position, "position", KAR_F_INT32),
	KAR_FIELD_TIME(struct qj_what_if, expected, "expected", 0),
	KAR_FIELD_SUB(struct qj_what_if, evicts, "evicts", KAR_F_ARRAY, &what_if_eviction_desc),
};
static const struct kar_desc what_if_desc = KAR_DESC("whatIf", struct qj_what_if, what_if_fields);

static const struct kar_field job_status_fields[] = {
	KAR_FIELD_SUB(struct qj_job_status, what_if, "whatIf", KAR_F_OBJECT, &what_if_desc),
	KAR_FIELD_SUB(struct qj_job_status, usage, "usage", KAR_F_OBJECT, &usage_desc),
	KAR_FIELD(struct qj_job_status, phase, "phase", KAR_F_STRING),
	KAR_FIELD(struct qj_job_status, reason, "reason", KAR_F_STRING),
	KAR_FIELD(struct qj_job_status, message, "message", KAR_F_STRING),
	KAR_FIELD(struct qj_job_status, queue, "queue", KAR_F_STRING),
	KAR_FIELD(struct qj_job_status, position, "position", KAR_F_INT32),
	KAR_FIELD(struct qj_job_status, desired, "desired", KAR_F_INT32),
	KAR_FIELD(struct qj_job_status, running, "running", KAR_F_INT32),
	KAR_FIELD(struct qj_job_status, succeeded, "succeeded", KAR_F_INT32),
	KAR_FIELD(struct qj_job_status, failed, "failed", KAR_F_INT32),
	KAR_FIELD(struct qj_job_status, restarts, "restarts", KAR_F_INT32),
	KAR_FIELD(struct qj_job_status, min_available, "minAvailable", KAR_F_INT32),
	KAR_FIELD(struct qj_job_status, incarnation, "incarnation", KAR_F_INT32),
	KAR_FIELD_TIME(struct qj_job_status, start, "startTime", 0),
	KAR_FIELD_TIME(struct qj_job_status, completion, "completionTime", 0),
	KAR_FIELD_SUB(struct qj_job_status, tasks, "tasks", KAR_F_ARRAY, &task_desc),
	KAR_FIELD_SUB(struct qj_job_status, conditions, "conditions", KAR_F_ARRAY, &condition_desc),
};
static const struct kar_desc job_status_desc = KAR_DESC("status", struct qj_job_status, job_status_fields);

static const struct kar_field qj_job_fields[] = {
	KAR_FIELD_SUB(struct qj_job, meta, "metadata", KAR_F_OBJECT, &light_meta_desc),
	KAR_FIELD_SUB(struct qj_job, spec, "spec", KAR_F_OBJECT, &job_spec_desc),
	KAR_FIELD_SUB(struct qj_job, status, "status", KAR_F_OBJECT, &job_status_desc),
};
const struct kar_desc qj_job_desc = KAR_DESC("QueueJob", struct qj_job, qj_job_fields);

/* --- PodGroup --------------------------------------------------------------------------------------- */

static const struct kar_field group_spec_fields[] = {
	KAR_FIELD(struct qj_group_spec, min_member, "minMember", KAR_F_INT32),
	KAR_FIELD(struct qj_group_spec, queue, "queue", KAR_F_STRING),
};
static const struct kar_desc group_spec_desc = KAR_DESC("spec", struct qj_group_spec, group_spec_fields);

static const struct kar_field eviction_fields[] = {
	KAR_FIELD(struct qj_eviction, reason, "reason", KAR_F_STRING),
	KAR_FIELD(struct qj_eviction, by, "by", KAR_F_STRING),
	KAR_FIELD(struct qj_eviction, queue, "queue", KAR_F_STRING),
	KAR_FIELD_TIME(struct qj_eviction, time, "time", 0),
};
static const struct kar_desc eviction_desc = KAR_DESC("eviction", struct qj_eviction, eviction_fields);

static const struct kar_field group_status_fields[] = {
	KAR_FIELD(struct qj_group_status, phase, "phase", KAR_F_STRING),
	KAR_FIELD(struct qj_group_status, admitted_queue, "admittedQueue", KAR_F_STRING),
	KAR_FIELD(struct qj_group_status, position, "position", KAR_F_INT32),
	KAR_FIELD(struct qj_group_status, members, "members", KAR_F_INT32),
	KAR_FIELD(struct qj_group_status, running, "running", KAR_F_INT32),
	KAR_FIELD(struct qj_group_status, scheduled, "scheduled", KAR_F_INT32),
	KAR_FIELD(struct qj_group_status, evictions, "evictions", KAR_F_INT32),
	KAR_FIELD_TIME(struct qj_group_status, estimated_start, "estimatedStart", 0),
	KAR_FIELD_TIME(struct qj_group_status, waiting_since, "waitingSince", 0),
	KAR_FIELD(struct qj_group_status, waited_seconds, "waitedSeconds", KAR_F_INT64),
	KAR_FIELD_SUB(struct qj_group_status, last_eviction, "lastEviction", KAR_F_OBJECT, &eviction_desc),
	KAR_FIELD_SUB(struct qj_group_status, conditions, "conditions", KAR_F_ARRAY, &condition_desc),
};
static const struct kar_desc group_status_desc =
	KAR_DESC("status", struct qj_group_status, group_status_fields);

static const struct kar_field qj_group_fields[] = {
	KAR_FIELD_SUB(struct qj_group, meta, "metadata", KAR_F_OBJECT, &kar_wire_meta_desc),
	KAR_FIELD_SUB(struct qj_group, spec, "spec", KAR_F_OBJECT, &group_spec_desc),
	KAR_FIELD_SUB(struct qj_group, status, "status", KAR_F_OBJECT, &group_status_desc),
};
const struct kar_desc qj_group_desc = KAR_DESC("PodGroup", struct qj_group, qj_group_fields);

/* --- Queue ------------------------------------------------------------------------------------------ */

static const struct kar_field queue_spec_fields[] = {
	KAR_FIELD(struct qj_queue_spec, parent, "parent", KAR_F_STRING),
	KAR_FIELD(struct qj_queue_spec, weight, "weight", KAR_F_INT32),
	KAR_FIELD(struct qj_queue_spec, max_jobs, "maxJobs", KAR_F_INT32),
	KAR_FIELD(struct qj_queue_spec, deserved, "deserved", KAR_F_MAP),
	KAR_FIELD(struct qj_queue_spec, guarantee, "guarantee", KAR_F_MAP),
	KAR_FIELD(struct qj_queue_spec, capability, "capability", KAR_F_MAP),
};
static const struct kar_desc queue_spec_desc = KAR_DESC("spec", struct qj_queue_spec, queue_spec_fields);

static const struct kar_field queue_status_fields[] = {
	KAR_FIELD(struct qj_queue_status, state, "state", KAR_F_STRING),
	KAR_FIELD(struct qj_queue_status, parent, "parent", KAR_F_STRING),
	KAR_FIELD(struct qj_queue_status, pending, "pending", KAR_F_INT32),
	KAR_FIELD(struct qj_queue_status, inqueue, "inqueue", KAR_F_INT32),
	KAR_FIELD(struct qj_queue_status, running, "running", KAR_F_INT32),
	KAR_FIELD(struct qj_queue_status, allocated, "allocated", KAR_F_MAP),
	KAR_FIELD(struct qj_queue_status, entitled, "entitled", KAR_F_MAP),
	KAR_FIELD_SUB(struct qj_queue_status, usage, "usage", KAR_F_OBJECT, &usage_desc),
	KAR_FIELD_SUB(struct qj_queue_status, conditions, "conditions", KAR_F_ARRAY, &condition_desc),
};
static const struct kar_desc queue_status_desc =
	KAR_DESC("status", struct qj_queue_status, queue_status_fields);

static const struct kar_field qj_queue_fields[] = {
	KAR_FIELD_SUB(struct qj_queue, meta, "metadata", KAR_F_OBJECT, &kar_wire_meta_desc),
	KAR_FIELD_SUB(struct qj_queue, spec, "spec", KAR_F_OBJECT, &queue_spec_desc),
	KAR_FIELD_SUB(struct qj_queue, status, "status", KAR_F_OBJECT, &queue_status_desc),
};
const struct kar_desc qj_queue_desc = KAR_DESC("Queue", struct qj_queue, qj_queue_fields);

/* --- Pod -------------------------------------------------------------------------------------------- */

static const struct kar_field end_fields[] = {
	KAR_FIELD(struct qj_container_end, reason, "reason", KAR_F_STRING),
	KAR_FIELD(struct qj_container_end, exit_code, "exitCode", KAR_F_INT32),
};
static const struct kar_desc end_desc = KAR_DESC("state", struct qj_container_end, end_fields);

static const struct kar_field state_fields[] = {
	{ .name = "terminated",
		.type = KAR_F_OBJECT,
		.offset = offsetof(struct qj_container_state, terminated),
		.has = offsetof(struct qj_container_state, has_terminated),
		.sub = &end_desc },
	{ .name = "running",
		.type = KAR_F_OBJECT,
		.offset = offsetof(struct qj_container_state, running),
		.has = offsetof(struct qj_container_state, has_running),
		.sub = &end_desc },
	KAR_FIELD_SUB(struct qj_container_state, waiting, "waiting", KAR_F_OBJECT, &end_desc),
};
static const struct kar_desc state_desc = KAR_DESC("state", struct qj_container_state, state_fields);

static const struct kar_field container_fields[] = {
	KAR_FIELD(struct qj_container, name, "name", KAR_F_STRING),
	KAR_FIELD(struct qj_container, ready, "ready", KAR_F_BOOL),
	KAR_FIELD(struct qj_container, restarts, "restartCount", KAR_F_INT32),
	KAR_FIELD_SUB(struct qj_container, state, "state", KAR_F_OBJECT, &state_desc),
};
static const struct kar_desc container_desc = KAR_DESC("container", struct qj_container, container_fields);

static const struct kar_field pod_spec_fields[] = {
	KAR_FIELD(struct qj_pod_spec, node, "nodeName", KAR_F_STRING),
	KAR_FIELD_SUB(struct qj_pod_spec, containers, "containers", KAR_F_ARRAY, &container_desc),
};
static const struct kar_desc pod_spec_desc = KAR_DESC("spec", struct qj_pod_spec, pod_spec_fields);

static const struct kar_field pod_status_fields[] = {
	KAR_FIELD(struct qj_pod_status, phase, "phase", KAR_F_STRING),
	KAR_FIELD(struct qj_pod_status, reason, "reason", KAR_F_STRING),
	KAR_FIELD(struct qj_pod_status, message, "message", KAR_F_STRING),
	KAR_FIELD_SUB(struct qj_pod_status, init_containers, "initContainerStatuses", KAR_F_ARRAY,
		&container_desc),
	KAR_FIELD_SUB(struct qj_pod_status, containers, "containerStatuses", KAR_F_ARRAY, &container_desc),
	KAR_FIELD_SUB(struct qj_pod_status, conditions, "conditions", KAR_F_ARRAY, &condition_desc),
};
static const struct kar_desc pod_status_desc = KAR_DESC("status", struct qj_pod_status, pod_status_fields);

static const struct kar_field qj_pod_fields[] = {
	KAR_FIELD_SUB(struct qj_pod, meta, "metadata", KAR_F_OBJECT, &kar_wire_meta_desc),
	KAR_FIELD_SUB(struct qj_pod, spec, "spec", KAR_F_OBJECT, &pod_spec_desc),
	KAR_FIELD_SUB(struct qj_pod, status, "status", KAR_F_OBJECT, &pod_status_desc),
};
const struct kar_desc qj_pod_desc = KAR_DESC("Pod", struct qj_pod, qj_pod_fields);

const struct kar_resource qj_jobs = { "kube-arbitrator.io", "v1alpha1", "queuejobs", "QueueJob", true },
			  qj_groups = { "scheduling.x-k8s.io", "v1alpha1", "podgroups", "PodGroup", true },
			  qj_queues = { "kube-arbitrator.io", "v1alpha1", "queues", "Queue", false },
			  qj_pods = { "", "v1", "pods", "Pod", true };

const struct qj_condition *qj_condition_of(const struct kar_array *conditions, const char *type)
{
	const struct qj_condition *c = conditions->items;

	for (size_t i = 0; i < conditions->n; i++) {
		if (kar_streq(c[i].type, type))
			return &c[i];
	}
	return NULL;
}

int64_t qj_job_replicas(const struct qj_job *j)
{
	const struct qj_task *t = j->spec.tasks.items;
	int64_t n = 0;

	for (size_t i = 0; i < j->spec.tasks.n; i++)
		n += t[i].replicas;
	return n;
}

const char *qj_task_name(struct qj *q, const struct qj_job *j, size_t i)
{
	const struct qj_task *t = j->spec.tasks.items;

	return kar_has_text(t[i].name) ? t[i].name : kar_arena_printf(&q->arena, "task%zu", i);
}

/* The first that says something; else that of the label, else the default. */
static const char *queue_of(const char *in_force, const char *asked, const struct kar_wire_meta *meta)
{
	const char *label = kar_pairs_get(&meta->labels, KAR_LABEL_QUEUE);

	return kar_has_text(in_force) ? in_force
		: kar_has_text(asked) ? asked
		: kar_has_text(label) ? label
				      : KAR_DEFAULT_QUEUE;
}

const char *qj_job_queue(const struct qj_job *j)
{
	return queue_of(j->status.queue, j->spec.queue, &j->meta);
}

const char *qj_group_queue(const struct qj_group *g)
{
	return queue_of(g->status.admitted_queue, g->spec.queue, &g->meta);
}

/* As the manager reads it (api/pod/pod.c): the strongest key that names one. */
const char *qj_pod_of(const struct qj_pod *pod)
{
	static const char *const labels[] = { KAR_LABEL_QUEUEJOB, KAR_LABEL_POD_GROUP,
		KAR_LABEL_POD_GROUP_OLD, KAR_LABEL_POD_GROUP_NAME };
	static const char *const annotations[] = { KAR_ANNOTATION_GANG_NAME, KAR_ANNOTATION_GROUP_NAME };

	for (size_t i = 0; i < KAR_LEN(labels) + KAR_LEN(annotations); i++) {
		const char *name = i < KAR_LEN(labels)
			? kar_pairs_get(&pod->meta.labels, labels[i])
			: kar_pairs_get(&pod->meta.annotations, annotations[i - KAR_LEN(labels)]);

		if (kar_has_text(name))
			return name;
	}
	return NULL;
}

struct kept_for {
	const char *uid;
};
static const struct kar_field kept_fields[] = { KAR_FIELD(struct kept_for, uid, "uid", KAR_F_STRING) };
static const struct kar_desc kept_desc = KAR_DESC("status", struct kept_for, kept_fields);

void qj_group_complete(struct qj *q, struct qj_group *g)
{
	const char *text = kar_pairs_get(&g->meta.annotations, KAR_ANNOTATION_QUEUE_STATUS);
	struct qj_group_status all = { 0 };
	struct kept_for kept = { 0 };
	struct kar_err ignored;

	/* In a copy of a group, as from a backup, it does not count. */
	if (!text || g->status.conditions.n || g->status.position ||
		kar_json_decode(&q->arena, &kept_desc, NULL, text, strlen(text), &kept, &ignored) ||
		!kar_streq(kept.uid, g->meta.uid) ||
		kar_json_decode(&q->arena, &group_status_desc, NULL, text, strlen(text), &all, &ignored))
		return;
	all.phase = g->status.phase;
	all.running = g->status.running;
	g->status = all;
}

struct kar_array qj_queue_resources(struct qj *q, const struct qj_queue *queue)
{
	const struct kar_array *const maps[] = { &queue->status.allocated, &queue->spec.deserved,
		&queue->spec.capability };
	const char **names = NULL;
	size_t n = 0;

	for (size_t m = 0; m < KAR_LEN(maps); m++) {
		const struct kar_pair *pairs = maps[m]->items;

		for (size_t i = 0; i < maps[m]->n; i++) {
			bool known = false;

			for (size_t k = 0; k < m; k++)
				known |= kar_pairs_get(maps[k], pairs[i].key) != NULL;
			if (known)
				continue;
			names = kar_arena_grow(&q->arena, names, n, sizeof(*names));
			names[n++] = pairs[i].key;
		}
	}
	return (struct kar_array){ .items = names, .n = n };
}
