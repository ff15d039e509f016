#include "api/pod.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/stdlib.h>

#include "api/keep.h"
#include "api/names.h"

struct wire_gate {
	const char *name;
};

struct wire_spec {
	const char *node;
	int32_t priority;
	struct kar_array gates; /* struct wire_gate */
};

struct wire_condition {
	const char *type, *status, *reason;
};

struct wire_terminated {
	const char *reason;
	int32_t exit_code;
	kar_time finished;
};

struct wire_state {
	const struct wire_terminated *terminated;
};

struct wire_container {
	const char *name;
	struct wire_state state;
};

struct wire_status {
	const char *phase, *reason;
	struct kar_array conditions;                  /* struct wire_condition */
	struct kar_array init_containers, containers; /* struct wire_container */
};

struct wire_pod {
	struct kar_wire_object head;
	struct wire_spec spec;
	struct wire_status status;
};

static const struct kar_field gate_fields[] = {
	KAR_FIELD_PB(struct wire_gate, name, "name", 1, KAR_F_STRING),
};
static const struct kar_desc gate_desc = KAR_DESC("PodSchedulingGate", struct wire_gate, gate_fields);

static const struct kar_field spec_fields[] = {
	KAR_FIELD_PB(struct wire_spec, node, "nodeName", 10, KAR_F_STRING),
	KAR_FIELD_PB(struct wire_spec, priority, "priority", 25, KAR_F_INT32),
	KAR_FIELD_PB_SUB(struct wire_spec, gates, "schedulingGates", 38, KAR_F_ARRAY, &gate_desc),
};
static const struct kar_desc spec_desc = KAR_DESC("PodSpec", struct wire_spec, spec_fields);

static const struct kar_field condition_fields[] = {
	KAR_FIELD_PB(struct wire_condition, type, "type", 1, KAR_F_STRING),
	KAR_FIELD_PB(struct wire_condition, status, "status", 2, KAR_F_STRING),
	KAR_FIELD_PB(struct wire_condition, reason, "reason", 5, KAR_F_STRING),
};
static const struct kar_desc condition_desc =
	KAR_DESC("PodCondition", struct wire_condition, condition_fields);

static const struct kar_field terminated_fields[] = {
	KAR_FIELD_PB(struct wire_terminated, reason, "reason", 3, KAR_F_STRING),
	KAR_FIELD_PB(struct wire_terminated, exit_code, "exitCode", 1, KAR_F_INT32),
	KAR_FIELD_PB(struct wire_terminated, finished, "finishedAt", 6, KAR_F_TIME),
};
static const struct kar_desc terminated_desc =
	KAR_DESC("ContainerStateTerminated", struct wire_terminated, terminated_fields);

static const struct kar_field state_fields[] = {
	KAR_FIELD_PB_SUB(struct wire_state, terminated, "terminated", 3, KAR_F_OBJECT_PTR, &terminated_desc),
};
static const struct kar_desc state_desc = KAR_DESC("ContainerState", struct wire_state, state_fields);

static const struct kar_field container_fields[] = {
	KAR_FIELD_PB(struct wire_container, name, "name", 1, KAR_F_STRING),
	KAR_FIELD_PB_SUB(struct wire_container, state, "state", 2, KAR_F_OBJECT, &state_desc),
};
static const struct kar_desc container_desc =
	KAR_DESC("ContainerStatus", struct wire_container, container_fields);

static const struct kar_field status_fields[] = {
	KAR_FIELD_PB(struct wire_status, phase, "phase", 1, KAR_F_STRING),
	KAR_FIELD_PB(struct wire_status, reason, "reason", 4, KAR_F_STRING),
	KAR_FIELD_PB_SUB(struct wire_status, conditions, "conditions", 2, KAR_F_ARRAY, &condition_desc),
	KAR_FIELD_PB_SUB(struct wire_status, init_containers, "initContainerStatuses", 10, KAR_F_ARRAY,
		&container_desc),
	KAR_FIELD_PB_SUB(struct wire_status, containers, "containerStatuses", 8, KAR_F_ARRAY,
		&container_desc),
};
static const struct kar_desc status_desc = KAR_DESC("PodStatus", struct wire_status, status_fields);

static const struct kar_field pod_fields[] = {
	KAR_WIRE_HEAD_FIELDS(struct wire_pod),
	KAR_FIELD_PB_SUB(struct wire_pod, spec, "spec", 2, KAR_F_OBJECT, &spec_desc),
	KAR_FIELD_PB_SUB(struct wire_pod, status, "status", 3, KAR_F_OBJECT, &status_desc),
};
static const struct kar_desc pod_desc = KAR_DESC("Pod", struct wire_pod, pod_fields);

static enum kar_pod_phase phase_of(const char *name)
{
	if (kar_same(name, "Running"))
		return KAR_POD_RUNNING;
	if (kar_same(name, "Succeeded"))
		return KAR_POD_SUCCEEDED;
	if (kar_same(name, "Failed"))
		return KAR_POD_FAILED;
	if (kar_same(name, "Unknown"))
		return KAR_POD_UNKNOWN;
	return KAR_POD_PENDING;
}

/*
 * Pods that the node or the cluster ended. Reasons of a kubelet that refuses a pod (OutOfcpu, NodeAffinity,
 * UnexpectedAdmissionError) are not among them: a disruption is answered without back-off, and a refusal that
 * lasts would then become a hot loop.
 */
static bool disruptive(const char *reason)
{
	static const char *const reasons[] = {
		"Evicted", "Preempting", "Preempted", "NodeLost", "NodeShutdown", "Shutdown",
		"Terminated", /* of a pod, not of a container: graceful node shutdown */
	};

	for (size_t i = 0; i < KAR_LEN(reasons); i++) {
		if (kar_same(reason, reasons[i]))
			return true;
	}
	return false;
}

static void read_conditions(const struct kar_array *conditions, struct kar_pod *p)
{
	const struct wire_condition *c = conditions->items;

	for (size_t i = 0; i < conditions->n; i++) {
		if (kar_same(c[i].type, "Ready"))
			p->ready = kar_same(c[i].status, "True");
		else if (kar_same(c[i].type, "PodScheduled"))
			p->unschedulable =
				kar_same(c[i].status, "False") && kar_same(c[i].reason, "Unschedulable");
		else if (kar_same(c[i].type, "DisruptionTarget") && kar_same(c[i].status, "True"))
			p->disrupted = true;
	}
}

static void read_gates(const struct kar_array *gates, struct kar_pod *p)
{
	const struct wire_gate *g = gates->items;

	for (size_t i = 0; i < gates->n; i++) {
		if (kar_same(g[i].name, KAR_GATE))
			p->gate_ours = true;
		else
			p->gate_foreign = true;
	}
}

/* Design api.md, Membership: strongest first; an empty value names no group. */
static const char *group_name(const struct kar_wire_meta *m)
{
	static const char *const labels[] = { KAR_LABEL_POD_GROUP, KAR_LABEL_POD_GROUP_OLD,
		KAR_LABEL_POD_GROUP_NAME };
	static const char *const annotations[] = { KAR_ANNOTATION_GANG_NAME, KAR_ANNOTATION_GROUP_NAME };

	for (size_t i = 0; i < KAR_LEN(labels); i++) {
		const char *name = kar_pairs_get(&m->labels, labels[i]);

		if (name && name[0])
			return name;
	}
	for (size_t i = 0; i < KAR_LEN(annotations); i++) {
		const char *name = kar_pairs_get(&m->annotations, annotations[i]);

		if (name && name[0])
			return name;
	}
	return NULL;
}

static const char *group_of(const struct kar_wire_meta *m, struct kar_intern *strings)
{
	const char *name = group_name(m);
	char key[KAR_KEY_LEN];

	/* An annotation may hold anything; what is too long for a name, or is a path, names no object. */
	if (!name || strlen(name) > 253 || strchr(name, '/'))
		return NULL;
	return kar_intern_get(strings, kar_key(m->ns, name, key));
}

static const struct wire_terminated *earlier_failure(const struct kar_array *containers,
	const struct wire_terminated *first)
{
	const struct wire_container *c = containers->items;

	for (size_t i = 0; i < containers->n; i++) {
		const struct wire_terminated *t = c[i].state.terminated;

		if (t && t->exit_code != 0 && (!first || t->finished < first->finished))
			first = t;
	}
	return first;
}

/* The one that failed first is the cause; the others were killed because of it. */
static const struct wire_terminated *first_failure(const struct wire_status *s)
{
	return earlier_failure(&s->containers, earlier_failure(&s->init_containers, NULL));
}

static int32_t number_of(const char *label, int32_t otherwise)
{
	const char *problem = "absent";
	int32_t n = label ? (int32_t)strtonum(label, 0, INT32_MAX, &problem) : 0;

	return problem ? otherwise : n;
}

/* --- losses -------------------------------------------------------------------------------------- */

static bool is_lost(const struct wire_pod *w)
{
	enum kar_pod_phase phase = phase_of(w->status.phase);

	return phase == KAR_POD_FAILED || (w->head.meta.deletion && phase != KAR_POD_SUCCEEDED);
}

/* When the deletion was asked for. Containers that end from then on are stopped by it, which tells nothing of them. */
static kar_time asked_to_go(const struct kar_wire_meta *m)
{
	int64_t grace = m->deletion_grace;

	if (!m->deletion)
		return KAR_NEVER;
	return m->deletion - (grace < 0 ? 0 : grace > INT32_MAX ? INT32_MAX : grace) * KAR_SECOND;
}

/* A kubelet that does not find a container any more when it stops the pod gives an exit code, but no time. */
static bool failed_by_itself(const struct wire_terminated *t, kar_time before)
{
	return t && t->exit_code != 0 && (before == KAR_NEVER || (t->finished && t->finished < before));
}

/* Appends to @out, or only counts if that is NULL; returns how many there are then. */
static size_t list_exits(const struct kar_array *containers, kar_time before, struct kar_pod_exit *out,
	size_t n, struct kar_intern *strings)
{
	const struct wire_container *c = containers->items;

	for (size_t i = 0; i < containers->n && n < KAR_POD_EXITS_MAX; i++) {
		const struct wire_terminated *t = c[i].state.terminated;

		if (!failed_by_itself(t, before))
			continue;
		if (out)
			out[n] = (struct kar_pod_exit){ .container = kar_intern_get(strings, c[i].name),
				.reason = kar_intern_get(strings, t->reason),
				.code = t->exit_code };
		n++;
	}
	return n;
}

static size_t list_all_exits(const struct wire_pod *w, struct kar_pod_exit *out, struct kar_intern *strings)
{
	kar_time before = asked_to_go(&w->head.meta);
	size_t n = list_exits(&w->status.init_containers, before, out, 0, strings);

	return list_exits(&w->status.containers, before, out, n, strings);
}

static void list_conditions(const struct kar_array *conditions, struct kar_pod_condition *out, size_t n,
	struct kar_intern *strings)
{
	const struct wire_condition *c = conditions->items;

	for (size_t i = 0; i < n; i++)
		out[i] = (struct kar_pod_condition){ .type = kar_intern_get(strings, c[i].type),
			.status = kar_intern_get(strings, c[i].status) };
}

static const char *disruption_reason(const struct kar_array *conditions)
{
	const struct wire_condition *c = conditions->items;

	for (size_t i = 0; i < conditions->n; i++) {
		if (kar_same(c[i].type, "DisruptionTarget") && kar_same(c[i].status, "True"))
			return c[i].reason;
	}
	return NULL;
}

/* The loss and its lists in a row. */
struct loss_block {
	size_t n_exits, n_conditions, size; /* bytes; 0: the pod is not lost */
};

static struct loss_block measure_loss(const struct wire_pod *w, struct kar_intern *strings)
{
	size_t n = w->status.conditions.n;
	struct loss_block b = { 0 };

	if (!is_lost(w))
		return b;
	b.n_exits = list_all_exits(w, NULL, strings);
	b.n_conditions = n < KAR_POD_CONDITIONS_MAX ? n : KAR_POD_CONDITIONS_MAX;
	b.size = sizeof(struct kar_pod_loss) + b.n_exits * sizeof(struct kar_pod_exit) +
		b.n_conditions * sizeof(struct kar_pod_condition);
	return b;
}

static void read_failure(const struct wire_status *s, struct kar_pod_loss *loss, struct kar_intern *strings)
{
	const struct wire_terminated *failure = first_failure(s);
	const char *reason = s->reason;

	if (phase_of(s->phase) != KAR_POD_FAILED)
		return;
	if (failure)
		loss->exit_code = failure->exit_code;
	if ((!reason || !reason[0]) && failure)
		reason = failure->reason;
	loss->reason = kar_intern_get(strings, reason);
}

static const struct kar_pod_loss *read_loss(const struct wire_pod *w, const struct loss_block *b, char *at,
	struct kar_intern *strings)
{
	struct kar_pod_loss *loss = (void *)at;
	struct kar_pod_exit *exits = (void *)(at + sizeof(*loss));
	struct kar_pod_condition *conditions = (void *)(exits + b->n_exits);

	*loss = (struct kar_pod_loss){ .n_exits = b->n_exits,
		.n_conditions = b->n_conditions,
		.exits = exits,
		.conditions = conditions };
	list_all_exits(w, exits, strings);
	list_conditions(&w->status.conditions, conditions, b->n_conditions, strings);
	loss->pod_reason = kar_intern_get(strings, w->status.reason);
	loss->disruption = kar_intern_get(strings, disruption_reason(&w->status.conditions));
	read_failure(&w->status, loss, strings);
	return loss;
}

static void forget_loss(const struct kar_pod_loss *loss, struct kar_intern *strings)
{
	kar_intern_put(strings, loss->reason);
	kar_intern_put(strings, loss->pod_reason);
	kar_intern_put(strings, loss->disruption);
	for (size_t i = 0; i < loss->n_exits; i++) {
		kar_intern_put(strings, loss->exits[i].container);
		kar_intern_put(strings, loss->exits[i].reason);
	}
	for (size_t i = 0; i < loss->n_conditions; i++) {
		kar_intern_put(strings, loss->conditions[i].type);
		kar_intern_put(strings, loss->conditions[i].status);
	}
}

/* --- the pod ------------------------------------------------------------------------------------- */

static void read_job(const struct wire_pod *w, struct kar_pod_job *job, struct kar_intern *strings)
{
	const struct kar_array *labels = &w->head.meta.labels;

	job->task = kar_intern_get(strings, kar_pairs_get(labels, KAR_LABEL_TASK));
	job->index = number_of(kar_pairs_get(labels, KAR_LABEL_INDEX), -1);
	job->incarnation = number_of(kar_pairs_get(labels, KAR_LABEL_INCARNATION), 0);
	job->template_hash = kar_intern_get(strings,
		kar_pairs_get(&w->head.meta.annotations, KAR_ANNOTATION_TEMPLATE_HASH));
}

static void read_owner(const struct kar_wire_meta *m, struct kar_pod *p, struct kar_intern *strings)
{
	const struct kar_wire_owner *owner = kar_wire_controller(m);

	if (!owner)
		return;
	p->owner_uid = kar_intern_get(strings, owner->uid);
	p->owner_name = kar_intern_get(strings, owner->name);
	p->owner_kind = kar_intern_get(strings, owner->kind);
}

/* One allocation: the pod, the part of a QueueJob's pod, its loss, name, UID. */
static struct kar_pod *allocate(const struct wire_pod *w, struct kar_intern *strings)
{
	const struct kar_wire_meta *m = &w->head.meta;
	size_t job_size = kar_pairs_get(&m->labels, KAR_LABEL_QUEUEJOB) ? sizeof(struct kar_pod_job) : 0;
	struct loss_block loss = job_size ? measure_loss(w, strings) : (struct loss_block){ 0 };
	size_t name_size = strlen(m->name) + 1, uid_size = strlen(m->uid) + 1;
	char *block = kar_xmalloc(sizeof(struct kar_pod) + job_size + loss.size + name_size + uid_size);
	struct kar_pod *p = (void *)block;
	struct kar_pod_job *job = job_size ? (void *)(block + sizeof(*p)) : NULL;
	char *name = block + sizeof(*p) + job_size + loss.size;

	memcpy(name, m->name, name_size);
	memcpy(name + name_size, m->uid, uid_size);
	*p = (struct kar_pod){ .job = job };
	kar_object_init(&p->o, &kar_pod_type, &w->head, name, name + name_size, strings);
	if (job) {
		*job = (struct kar_pod_job){ 0 };
		read_job(w, job, strings);
		if (loss.size)
			job->loss = read_loss(w, &loss, block + sizeof(*p) + job_size, strings);
	}
	return p;
}

static struct kar_object *project(const void *wire, struct kar_intern *strings,
	struct kar_err *err KAR_UNUSED)
{
	const struct wire_pod *w = wire;
	struct kar_pod *p = allocate(w, strings);

	p->node = kar_intern_get(strings, w->spec.node);
	p->group = group_of(&w->head.meta, strings);
	read_owner(&w->head.meta, p, strings);
	p->creation = w->head.meta.creation;
	p->deletion = w->head.meta.deletion;
	p->priority = w->spec.priority;
	p->phase = (uint8_t)phase_of(w->status.phase);
	p->disrupted = disruptive(w->status.reason);
	p->tracked = kar_strings_have(&w->head.meta.finalizers, KAR_FINALIZER_POD_TRACKING);
	read_conditions(&w->status.conditions, p);
	read_gates(&w->spec.gates, p);
	return &p->o;
}

static void destroy(struct kar_object *o, struct kar_intern *strings)
{
	const struct kar_pod *p = kar_as_pod(o);

	kar_intern_put(strings, p->node);
	kar_intern_put(strings, p->group);
	kar_intern_put(strings, p->owner_uid);
	kar_intern_put(strings, p->owner_name);
	kar_intern_put(strings, p->owner_kind);
	if (p->job) {
		kar_intern_put(strings, p->job->task);
		kar_intern_put(strings, p->job->template_hash);
		if (p->job->loss)
			forget_loss(p->job->loss, strings);
	}
	free(o);
}

static const char *stray_of(const struct kar_pod *p)
{
	return p->tracked && !p->group && kar_same(p->owner_kind, "QueueJob") ? p->owner_name : NULL;
}

static const char *index_key(const struct kar_object *o, int i)
{
	const struct kar_pod *p = kar_as_pod(o);

	switch (i) {
	case KAR_POD_STRAY:
		return stray_of(p);
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
