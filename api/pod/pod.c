#include "api/pod/pod.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/stdlib.h>

#include "api/core/amounts_wire.h"
#include "api/core/topology_wish.h"
#include "api/copy.h"
#include "common/base/str.h"
#include "api/names.h"
#include "api/pod/pod_wire.h"

static const struct kar_field condition_fields[] = {
	KAR_FIELD_PB(struct pod_wire_condition, type, "type", 1, KAR_F_STRING),
	KAR_FIELD_PB(struct pod_wire_condition, status, "status", 2, KAR_F_STRING),
	KAR_FIELD_TIME(struct pod_wire_condition, since, "lastTransitionTime", 4),
	KAR_FIELD_PB(struct pod_wire_condition, reason, "reason", 5, KAR_F_STRING),
	KAR_FIELD_PB(struct pod_wire_condition, message, "message", 6, KAR_F_STRING),
};
static const struct kar_desc condition_desc =
	KAR_DESC("PodCondition", struct pod_wire_condition, condition_fields);

static const struct kar_field terminated_fields[] = {
	KAR_FIELD_PB(struct pod_wire_terminated, reason, "reason", 3, KAR_F_STRING),
	KAR_FIELD_PB(struct pod_wire_terminated, exit_code, "exitCode", 1, KAR_F_INT32),
	KAR_FIELD_PB(struct pod_wire_terminated, message, "message", 4, KAR_F_STRING),
	KAR_FIELD_TIME(struct pod_wire_terminated, finished, "finishedAt", 6),
};
static const struct kar_desc terminated_desc =
	KAR_DESC("ContainerStateTerminated", struct pod_wire_terminated, terminated_fields);

static const struct kar_field waiting_fields[] = {
	KAR_FIELD_PB(struct pod_wire_waiting, reason, "reason", 1, KAR_F_STRING),
	KAR_FIELD_PB(struct pod_wire_waiting, message, "message", 2, KAR_F_STRING),
};
static const struct kar_desc waiting_desc =
	KAR_DESC("ContainerStateWaiting", struct pod_wire_waiting, waiting_fields);

static const struct kar_field running_fields[] = {
	KAR_FIELD_TIME(struct pod_wire_running, started, "startedAt", 1),
};
static const struct kar_desc running_desc =
	KAR_DESC("ContainerStateRunning", struct pod_wire_running, running_fields);

static const struct kar_field state_fields[] = {
	KAR_FIELD_PB_SUB(struct pod_wire_state, waiting, "waiting", 1, KAR_F_OBJECT_PTR, &waiting_desc),
	KAR_FIELD_PB_SUB(struct pod_wire_state, running, "running", 2, KAR_F_OBJECT_PTR, &running_desc),
	KAR_FIELD_PB_SUB(struct pod_wire_state, terminated, "terminated", 3, KAR_F_OBJECT_PTR,
		&terminated_desc),
};
static const struct kar_desc state_desc = KAR_DESC("ContainerState", struct pod_wire_state, state_fields);

static const struct kar_field container_fields[] = {
	KAR_FIELD_PB(struct pod_wire_container, name, "name", 1, KAR_F_STRING),
	KAR_FIELD_PB_SUB(struct pod_wire_container, state, "state", 2, KAR_F_OBJECT, &state_desc),
	KAR_FIELD_PB_SUB(struct pod_wire_container, last, "lastState", 3, KAR_F_OBJECT, &state_desc),
	KAR_FIELD_PB(struct pod_wire_container, image, "image", 6, KAR_F_STRING),
	KAR_FIELD_PB(struct pod_wire_container, restarts, "restartCount", 5, KAR_F_INT32),
	KAR_FIELD_PB_SUB(struct pod_wire_container, allocated, "allocatedResources", 10, KAR_F_MAP,
		&kar_amount_wire_desc),
	KAR_FIELD_PB_SUB(struct pod_wire_container, resources, "resources", 11, KAR_F_OBJECT,
		&pod_wire_resources_desc),
};
static const struct kar_desc container_desc =
	KAR_DESC("ContainerStatus", struct pod_wire_container, container_fields);

static const struct kar_field status_fields[] = {
	KAR_FIELD_PB(struct pod_wire_status, phase, "phase", 1, KAR_F_STRING),
	KAR_FIELD_PB(struct pod_wire_status, reason, "reason", 4, KAR_F_STRING),
	KAR_FIELD_PB(struct pod_wire_status, nominated, "nominatedNodeName", 11, KAR_F_STRING),
	KAR_FIELD_PB_SUB(struct pod_wire_status, conditions, "conditions", 2, KAR_F_ARRAY, &condition_desc),
	KAR_FIELD_PB_SUB(struct pod_wire_status, init_containers, "initContainerStatuses", 10, KAR_F_ARRAY,
		&container_desc),
	KAR_FIELD_PB_SUB(struct pod_wire_status, containers, "containerStatuses", 8, KAR_F_ARRAY,
		&container_desc),
	KAR_FIELD_PB_SUB(struct pod_wire_status, allocated, "allocatedResources", 19, KAR_F_MAP,
		&kar_amount_wire_desc),
	KAR_FIELD_PB_SUB(struct pod_wire_status, resources, "resources", 20, KAR_F_OBJECT,
		&pod_wire_resources_desc),
};
static const struct kar_desc status_desc = KAR_DESC("PodStatus", struct pod_wire_status, status_fields);

static const struct kar_field pod_fields[] = {
	KAR_WIRE_HEAD_FIELDS(struct pod_wire),
	KAR_FIELD_PB_SUB(struct pod_wire, spec, "spec", 2, KAR_F_OBJECT, &pod_wire_spec_desc),
	KAR_FIELD_PB_SUB(struct pod_wire, status, "status", 3, KAR_F_OBJECT, &status_desc),
};
static const struct kar_desc pod_desc = KAR_WIRE_DESC("Pod", struct pod_wire, pod_fields);

/*
 * Reasons of pods that the node or the cluster ended. The reasons of a kubelet that refuses a pod (OutOfcpu, NodeAffinity,
 * UnexpectedAdmissionError) are not disruptions: such a pod counts as nothing (kar_pod_is_refused()).
 */
static bool disruptive(const char *reason)
{
	static const char *const reasons[] = {
		"Evicted", "Preempting", "Preempted", "NodeLost", "NodeShutdown", "Shutdown",
		"Terminated", /* of a pod, not of a container: graceful node shutdown */
	};

	return kar_streq_any(reason, reasons, KAR_LEN(reasons));
}

static void read_scheduled(const struct pod_wire_condition *c, struct kar_pod *p)
{
	p->unschedulable = kar_streq(c->status, "False") && kar_streq(c->reason, "Unschedulable");
	p->bound = kar_streq(c->status, "True") ? c->since : 0;
	p->seen = !kar_streq(c->reason, "SchedulingGated");
}

static void read_conditions(const struct kar_array *conditions, struct kar_pod *p)
{
	const struct pod_wire_condition *c = conditions->items;

	for (size_t i = 0; i < conditions->n; i++) {
		if (kar_streq(c[i].type, "Ready"))
			p->ready = kar_streq(c[i].status, "True");
		else if (kar_streq(c[i].type, "PodScheduled"))
			read_scheduled(&c[i], p);
		else if (kar_streq(c[i].type, "DisruptionTarget") && kar_streq(c[i].status, "True"))
			p->disrupted = true;
	}
}

static void read_gates(const struct kar_array *gates, struct kar_pod *p)
{
	const struct pod_wire_gate *g = gates->items;

	for (size_t i = 0; i < gates->n; i++) {
		if (kar_streq(g[i].name, KAR_GATE))
			p->gate_ours = true;
		else
			p->gate_foreign = true;
	}
}

/* Strongest key first (docs/design/api.md, Membership). An empty value names no group. */
static const char *first_key(const struct kar_wire_meta *m)
{
	static const char *const labels[] = { KAR_LABEL_POD_GROUP, KAR_LABEL_POD_GROUP_OLD,
		KAR_LABEL_POD_GROUP_NAME };
	static const char *const annotations[] = { KAR_ANNOTATION_GANG_NAME, KAR_ANNOTATION_GROUP_NAME };

	for (size_t i = 0; i < KAR_LEN(labels); i++) {
		const char *name = kar_pairs_get(&m->labels, labels[i]);

		if (kar_has_text(name))
			return name;
	}
	for (size_t i = 0; i < KAR_LEN(annotations); i++) {
		const char *name = kar_pairs_get(&m->annotations, annotations[i]);

		if (kar_has_text(name))
			return name;
	}
	return NULL;
}

/* An annotation may hold any text; one that is too long for a name, or has a slash, names no object. */
static const char *group_name(const struct kar_wire_meta *m)
{
	const char *name = first_key(m);

	return name && strlen(name) <= 253 && !strchr(name, '/') ? name : NULL;
}

static const char *group_of(const struct kar_wire_meta *m, struct kar_intern *strings)
{
	const char *name = group_name(m);
	char key[KAR_KEY_LEN];

	return name ? kar_intern_get(strings, kar_key(m->ns, name, key)) : NULL;
}

static int32_t number_of(const char *label, int32_t otherwise)
{
	const char *problem = "absent";
	int32_t n = label ? (int32_t)strtonum(label, 0, INT32_MAX, &problem) : 0;

	return problem ? otherwise : n;
}

static int32_t index_by(const struct kar_wire_meta *m, const char *key)
{
	int32_t n = number_of(kar_pairs_get(&m->labels, key), -1);

	return n >= 0 ? n : number_of(kar_pairs_get(&m->annotations, key), -1);
}

/*
 * Of a pod that is numbered by its controller: the index in its Job, and before that the one of its Job in a JobSet. A worker of a LeaderWorkerSet
 * is one of a StatefulSet as well, whose numbers mean something else for the leader.
 */
static int64_t rank_of(const struct kar_wire_meta *m)
{
	static const char *const keys[] = { "batch.kubernetes.io/job-completion-index",
		"leaderworkerset.sigs.k8s.io/worker-index", "training.kubeflow.org/replica-index",
		"apps.kubernetes.io/pod-index" };
	int64_t job = index_by(m, "jobset.sigs.k8s.io/job-index");
	int32_t index = -1;

	for (size_t i = 0; i < KAR_LEN(keys) && index < 0; i++)
		index = index_by(m, keys[i]);
	if (index < 0)
		return job < 0 ? -1 : job << 32;
	return (job < 0 ? 0 : job << 32) | index;
}

/* --- the pod ------------------------------------------------------------------------------------- */

static void read_job(const struct pod_wire *w, struct kar_pod_job *job, struct kar_intern *strings)
{
	const struct kar_array *labels = &w->head.meta.labels;

	job->task = kar_intern_fit(strings, kar_pairs_get(labels, KAR_LABEL_TASK), KAR_COPY_VALUE);
	job->index = number_of(kar_pairs_get(labels, KAR_LABEL_INDEX), -1);
	job->incarnation = number_of(kar_pairs_get(labels, KAR_LABEL_INCARNATION), 0);
	job->template_hash = kar_intern_fit(strings,
		kar_pairs_get(&w->head.meta.annotations, KAR_ANNOTATION_TEMPLATE_HASH), KAR_COPY_UID);
}

/* The group of a job has the name of the job. */
static bool is_outside_group(const struct kar_pod *p)
{
	const char *name = p->group ? strchr(p->group, '/') : NULL;

	return p->tracked && p->owner_name && kar_streq(p->owner_kind, "QueueJob") &&
		!(name && kar_streq(name + 1, p->owner_name));
}

static void read_owner(const struct kar_wire_meta *m, struct kar_pod *p, struct kar_intern *strings)
{
	const struct kar_wire_owner *owner = kar_wire_controller(m);

	if (!owner)
		return;
	p->owner_uid = kar_intern_fit(strings, owner->uid, KAR_COPY_UID);
	p->owner_name = pod_wire_name(strings, owner->name);
	p->owner_kind = kar_intern_fit(strings, owner->kind, KAR_POD_KIND_BYTES);
	p->labelled = kar_streq(kar_pairs_get(&m->labels, KAR_LABEL_QUEUEJOB), owner->name);
}

/* A QueueJob names the queue of its pods itself. */
static const char *queue_of(const struct kar_wire_meta *m, struct kar_intern *strings)
{
	bool of_job = kar_pairs_get(&m->labels, KAR_LABEL_QUEUEJOB) != NULL;

	return group_name(m) && !of_job
		? kar_intern_fit(strings, kar_pairs_get(&m->labels, KAR_LABEL_QUEUE), KAR_COPY_VALUE)
		: NULL;
}

static const char *topology_of(const struct kar_wire_meta *m, struct kar_intern *strings)
{
	char text[KAR_TOPOLOGY_WISH_BYTES];
	const char *wish = kar_topology_wish_read(&m->annotations, text);

	return wish ? kar_intern_get(strings, wish) : NULL;
}

/* One allocation: the pod, its gang, its queue, its labels, its topology, its rank, why it has no node, the part for pods of a QueueJob, the loss, name and UID. */
static struct kar_pod *allocate(const struct pod_wire *w, struct kar_intern *strings)
{
	const struct kar_wire_meta *m = &w->head.meta;
	size_t job_size = kar_pairs_get(&m->labels, KAR_LABEL_QUEUEJOB) ? sizeof(struct kar_pod_job) : 0;
	struct pod_loss_block loss = job_size ? pod_loss_measure(w, strings) : (struct pod_loss_block){ 0 };
	const char *gang = group_name(m) ? pod_gang_read(m, strings) : NULL;
	const char *queue = queue_of(m, strings);
	const char *labels = pod_labels_read(&m->labels, strings);
	const char *topology = group_name(m) ? topology_of(m, strings) : NULL;
	int64_t rank = group_name(m) && !job_size ? rank_of(m) : -1;
	const char *asks[4] = { NULL };
	size_t n_asks = 0, asks_size;
	size_t unplaced_size = group_name(m) && pod_unplaced_is(w) ? sizeof(struct kar_pod_unplaced) : 0;
	size_t name_size = strlen(m->name) + 1, uid_size = strlen(m->uid) + 1;

	asks[n_asks] = gang;
	n_asks += gang != NULL;
	asks[n_asks] = queue;
	n_asks += queue != NULL;
	asks[n_asks] = labels;
	n_asks += labels != NULL;
	asks[n_asks] = topology;
	n_asks += topology != NULL;
	asks_size = n_asks * sizeof(*asks) + (rank >= 0 ? sizeof(rank) : 0);

	char *block = kar_xmalloc(sizeof(struct kar_pod) + asks_size + unplaced_size + job_size + loss.size +
		name_size + uid_size);
	struct kar_pod *p = (void *)block;
	struct kar_pod_unplaced *unplaced = unplaced_size ? (void *)(block + sizeof(*p) + asks_size) : NULL;
	char *after = block + sizeof(*p) + asks_size + unplaced_size;
	struct kar_pod_job *job = job_size ? (void *)after : NULL;
	char *name = after + job_size + loss.size;

	memcpy(name, m->name, name_size);
	memcpy(name + name_size, m->uid, uid_size);
	*p = (struct kar_pod){ .unplaced = unplaced,
		.job = job,
		.asks_for_gang = gang != NULL,
		.asks_for_queue = queue != NULL,
		.more_labels = labels != NULL,
		.asks_for_topology = topology != NULL,
		.ranked = rank >= 0 };
	memcpy(block + sizeof(*p), asks, n_asks * sizeof(*asks));
	if (p->ranked)
		memcpy(block + sizeof(*p) + n_asks * sizeof(*asks), &rank, sizeof(rank));
	kar_object_init(&p->o, &kar_pod_type, &w->head, name, name + name_size, strings);
	if (unplaced)
		pod_unplaced_read(w, unplaced, strings);
	if (job) {
		*job = (struct kar_pod_job){ 0 };
		read_job(w, job, strings);
		if (loss.size)
			job->loss = pod_loss_read(w, &loss, after + job_size, strings);
	}
	return p;
}

static struct kar_object *project(const void *wire, struct kar_intern *strings)
{
	const struct pod_wire *w = wire;
	struct kar_pod *p = allocate(w, strings);

	p->node = pod_wire_name(strings, w->spec.node);
	p->group = group_of(&w->head.meta, strings);
	read_owner(&w->head.meta, p, strings);
	p->creation = w->head.meta.creation;
	p->deletion = w->head.meta.deletion;
	p->priority = w->spec.priority;
	p->phase = (uint8_t)pod_wire_phase(w->status.phase);
	p->disrupted = disruptive(w->status.reason);
	p->tracked = kar_strings_have(&w->head.meta.finalizers, KAR_FINALIZER_POD_TRACKING);
	p->outside_group = is_outside_group(p);
	if (!kar_pod_finished(p)) {
		pod_needs_read(w, p, strings);
		pod_charge_read(w, p, strings);
	}
	read_conditions(&w->status.conditions, p);
	read_gates(&w->spec.gates, p);
	p->released = kar_has_text(kar_pairs_get(&w->head.meta.annotations, KAR_ANNOTATION_RELEASED));
	p->native = kar_has_text(w->spec.group.name);
	if (!p->node && !p->pin)
		p->nominated = pod_wire_name(strings, w->status.nominated);
	p->terms = p->gate_ours ? pod_terms_read(&w->spec, strings) : NULL;
	if (!kar_streq(w->spec.scheduler, KAR_DEFAULT_SCHEDULER))
		p->scheduler = pod_wire_name(strings, w->spec.scheduler);
	return &p->o;
}

static void destroy(struct kar_object *o, struct kar_intern *strings)
{
	const struct kar_pod *p = kar_as_pod(o);

	kar_intern_put(strings, p->node);
	kar_intern_put(strings, p->nominated);
	kar_share_put(strings, p->needs);
	kar_share_put(strings, p->charge);
	kar_intern_put(strings, p->pin);
	kar_intern_put(strings, p->terms);
	kar_intern_put(strings, p->scheduler);
	kar_intern_put(strings, p->group);
	kar_intern_put(strings, kar_pod_gang(p));
	kar_intern_put(strings, kar_pod_queue(p));
	kar_intern_put(strings, kar_pod_more_labels(p));
	kar_intern_put(strings, kar_pod_topology(p));
	kar_intern_put(strings, p->owner_uid);
	kar_intern_put(strings, p->owner_name);
	kar_intern_put(strings, p->owner_kind);
	if (p->unplaced) {
		kar_intern_put(strings, p->unplaced->message);
		kar_intern_put(strings, p->unplaced->asks);
	}
	if (p->job) {
		kar_intern_put(strings, p->job->task);
		kar_intern_put(strings, p->job->template_hash);
		if (p->job->loss)
			pod_loss_forget(p->job->loss, strings);
	}
	free(o);
}

static const char *index_key(const struct kar_object *o, int i)
{
	const struct kar_pod *p = kar_as_pod(o);

	switch (i) {
	case KAR_POD_BY_UNLABELLED:
		return p->outside_group ? p->owner_name : NULL;
	case KAR_POD_BY_OWNER:
		return p->owner_uid;
	case KAR_POD_BY_NODE:
		return p->node;
	default:
		return p->group;
	}
}

const struct kar_type kar_pod_type = {
	.res = { .group = "", .version = "v1", .plural = "pods", .kind = "Pod", .namespaced = true },
	.wire = &pod_desc,
	.protobuf = true,
	.project = project,
	.destroy = destroy,
	.index_key = index_key,
	.n_index = 4,
};
