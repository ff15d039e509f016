#include "api/queue.h"

#include <stdlib.h>

#include "api/keep.h"
#include "api/names.h"

struct wire_status {
	struct kar_queue_status s;   /* without conditions */
	struct kar_array conditions; /* struct kar_wire_condition */
};

struct wire_queue {
	struct kar_wire_object head;
	struct kar_queue_spec spec;
	struct wire_status status;
};

static const struct kar_field spec_fields[] = {
	KAR_FIELD(struct kar_queue_spec, weight, "weight", KAR_F_INT32),
	KAR_FIELD_OPT(struct kar_queue_spec, max_jobs, has_max_jobs, "maxJobs", KAR_F_INT32),
	KAR_FIELD(struct kar_queue_spec, state, "state", KAR_F_STRING),
	KAR_FIELD(struct kar_queue_spec, queueing_strategy, "queueingStrategy", KAR_F_STRING),
};
static const struct kar_desc spec_desc = KAR_DESC("QueueSpec", struct kar_queue_spec, spec_fields);

static const struct kar_field status_fields[] = {
	KAR_FIELD(struct wire_status, s.state, "state", KAR_F_STRING),
	KAR_FIELD(struct wire_status, s.pending, "pending", KAR_F_INT32),
	KAR_FIELD(struct wire_status, s.inqueue, "inqueue", KAR_F_INT32),
	KAR_FIELD(struct wire_status, s.running, "running", KAR_F_INT32),
	KAR_FIELD(struct wire_status, s.completed, "completed", KAR_F_INT32),
	KAR_FIELD(struct wire_status, s.unknown, "unknown", KAR_F_INT32),
	KAR_FIELD_SUB(struct wire_status, conditions, "conditions", KAR_F_ARRAY, &kar_wire_condition_desc),
};
static const struct kar_desc status_desc = KAR_DESC("QueueStatus", struct wire_status, status_fields);

static const struct kar_field queue_fields[] = {
	KAR_WIRE_HEAD_FIELDS(struct wire_queue),
	KAR_FIELD_SUB(struct wire_queue, spec, "spec", KAR_F_OBJECT, &spec_desc),
	KAR_FIELD_SUB(struct wire_queue, status, "status", KAR_F_OBJECT, &status_desc),
};
static const struct kar_desc queue_desc = KAR_DESC("Queue", struct wire_queue, queue_fields);

static struct kar_object *project(const void *wire, struct kar_intern *strings,
	struct kar_err *err KAR_UNUSED)
{
	const struct wire_queue *w = wire;
	const struct kar_wire_meta *m = &w->head.meta;
	struct kar_queue *q = kar_xcalloc(1, sizeof(*q));
	struct kar_arena *mem = &q->mem;

	kar_object_init(&q->o, &kar_queue_type, &w->head, kar_keep(mem, m->name), kar_keep(mem, m->uid),
		strings);
	q->generation = m->generation;
	q->creation = m->creation;
	q->deletion = m->deletion;
	q->spec = w->spec;
	if (!w->spec.weight)
		q->spec.weight = 1; /* the schema's default */
	q->spec.state = kar_keep(mem, w->spec.state);
	q->spec.queueing_strategy =
		w->spec.queueing_strategy ? kar_keep(mem, w->spec.queueing_strategy) : "BestEffortFIFO";
	q->status = w->status.s;
	q->status.state = kar_keep(mem, w->status.s.state);
	q->status.conditions = kar_conditions_from_wire(&w->status.conditions, mem);
	return &q->o;
}

static void destroy(struct kar_object *o, struct kar_intern *strings KAR_UNUSED)
{
	struct kar_queue *q = kar_container_of(o, struct kar_queue, o);

	kar_arena_release(&q->mem);
	free(q);
}

static const char *index_key(const struct kar_object *o KAR_UNUSED, int i KAR_UNUSED)
{
	return NULL;
}

const struct kar_type kar_queue_type = {
	.res = {
		.group = KAR_GROUP,
		.version = KAR_VERSION_V1ALPHA1,
		.plural = "queues",
		.kind = "Queue",
		.namespaced = false,
	},
	.wire = &queue_desc,
	.project = project,
	.destroy = destroy,
	.index_key = index_key,
};
