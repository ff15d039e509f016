#include "api/podgroup.h"

#include <stdlib.h>
#include <string.h>

#include "api/keep.h"
#include "api/names.h"
#include "api/queuejob.h"
#include "common/json.h"

struct wire_status {
	struct kar_podgroup_status s; /* without conditions */
	struct kar_array conditions;  /* struct kar_wire_condition */
};

struct wire_podgroup {
	struct kar_wire_object head;
	struct kar_podgroup_spec spec;
	struct wire_status status;
};

static const struct kar_field spec_fields[] = {
	KAR_FIELD(struct kar_podgroup_spec, min_member, "minMember", KAR_F_INT32),
	KAR_FIELD_OPT(struct kar_podgroup_spec, succeeded_members, has_succeeded_members, "succeededMembers",
		KAR_F_INT32),
	KAR_FIELD(struct kar_podgroup_spec, queue, "queue", KAR_F_STRING),
	KAR_FIELD(struct kar_podgroup_spec, priority_class_name, "priorityClassName", KAR_F_STRING),
	KAR_FIELD_OPT(struct kar_podgroup_spec, priority, has_priority, "priority", KAR_F_INT32),
	KAR_FIELD_OPT(struct kar_podgroup_spec, schedule_timeout_seconds, has_schedule_timeout,
		"scheduleTimeoutSeconds", KAR_F_INT32),
	KAR_FIELD(struct kar_podgroup_spec, min_resources, "minResources", KAR_F_MAP),
	KAR_FIELD(struct kar_podgroup_spec, total_resources, "totalResources", KAR_F_MAP),
};
static const struct kar_desc spec_desc = KAR_DESC("PodGroupSpec", struct kar_podgroup_spec, spec_fields);

static const struct kar_field status_fields[] = {
	KAR_FIELD(struct wire_status, s.phase, "phase", KAR_F_STRING),
	KAR_FIELD(struct wire_status, s.occupied_by, "occupiedBy", KAR_F_STRING),
	KAR_FIELD(struct wire_status, s.scheduled, "scheduled", KAR_F_INT32),
	KAR_FIELD(struct wire_status, s.running, "running", KAR_F_INT32),
	KAR_FIELD(struct wire_status, s.succeeded, "succeeded", KAR_F_INT32),
	KAR_FIELD(struct wire_status, s.failed, "failed", KAR_F_INT32),
	KAR_FIELD(struct wire_status, s.members, "members", KAR_F_INT32),
	KAR_FIELD_OPT(struct wire_status, s.desired, s.has_desired, "desired", KAR_F_INT32),
	KAR_FIELD(struct wire_status, s.schedule_start_time, "scheduleStartTime", KAR_F_TIME),
	KAR_FIELD(struct wire_status, s.position, "position", KAR_F_INT32),
	KAR_FIELD_SUB(struct wire_status, conditions, "conditions", KAR_F_ARRAY, &kar_wire_condition_desc),
};
static const struct kar_desc status_desc = KAR_DESC("PodGroupStatus", struct wire_status, status_fields);

static const struct kar_field podgroup_fields[] = {
	KAR_WIRE_HEAD_FIELDS(struct wire_podgroup),
	KAR_FIELD_SUB(struct wire_podgroup, spec, "spec", KAR_F_OBJECT, &spec_desc),
	KAR_FIELD_SUB(struct wire_podgroup, status, "status", KAR_F_OBJECT, &status_desc),
};
static const struct kar_desc podgroup_desc = KAR_DESC("PodGroup", struct wire_podgroup, podgroup_fields);

static struct kar_podgroup_spec keep_spec(struct kar_arena *a, const struct kar_podgroup_spec *from)
{
	struct kar_podgroup_spec spec = *from;

	spec.queue = kar_keep(a, from->queue);
	spec.priority_class_name = kar_keep(a, from->priority_class_name);
	spec.min_resources = kar_keep_pairs(a, &from->min_resources);
	spec.total_resources = kar_keep_pairs(a, &from->total_resources);
	return spec;
}

static struct kar_podgroup_status keep_status(struct kar_arena *a, const struct wire_status *from)
{
	struct kar_podgroup_status status = from->s;

	status.phase = kar_keep(a, from->s.phase);
	status.occupied_by = kar_keep_text(a, from->s.occupied_by);
	status.conditions = kar_conditions_from_wire(&from->conditions, a);
	return status;
}

static bool is_queuejob(const struct kar_wire_owner *owner)
{
	static const char group[] = KAR_GROUP "/";

	return kar_same(owner->kind, "QueueJob") && owner->api_version &&
		strncmp(owner->api_version, group, strlen(group)) == 0;
}

static struct kar_object *project(const void *wire, struct kar_intern *strings,
	struct kar_err *err KAR_UNUSED)
{
	const struct wire_podgroup *w = wire;
	const struct kar_wire_meta *m = &w->head.meta;
	const struct kar_wire_owner *owner = kar_wire_controller(m);
	struct kar_podgroup *g = kar_xcalloc(1, sizeof(*g));
	struct kar_arena *mem = &g->mem;

	kar_object_init(&g->o, &kar_podgroup_type, &w->head, kar_keep(mem, m->name), kar_keep(mem, m->uid),
		strings);
	g->generation = m->generation;
	g->creation = m->creation;
	g->deletion = m->deletion;
	if (owner) {
		g->owner_uid = kar_intern_get(strings, owner->uid);
		g->owner_is_queuejob = is_queuejob(owner);
		g->owner_name = kar_keep(mem, owner->name);
	}
	g->orphan = kar_queuejob_orphan(m);
	g->spec = keep_spec(mem, &w->spec);
	g->status = keep_status(mem, &w->status);
	return &g->o;
}

static void destroy(struct kar_object *o, struct kar_intern *strings)
{
	struct kar_podgroup *g = kar_container_of(o, struct kar_podgroup, o);

	kar_intern_put(strings, g->owner_uid);
	kar_arena_release(&g->mem);
	free(g);
}

static const char *index_key(const struct kar_object *o, int i KAR_UNUSED)
{
	return kar_as_podgroup(o)->owner_uid;
}

const struct kar_type kar_podgroup_type = {
	.res = {
		.group = KAR_PODGROUP_GROUP,
		.version = KAR_VERSION_V1ALPHA1,
		.plural = "podgroups",
		.kind = "PodGroup",
		.namespaced = true,
	},
	.wire = &podgroup_desc,
	.project = project,
	.destroy = destroy,
	.index_key = index_key,
	.n_index = 1,
};

static void write_pairs(struct kar_json_writer *w, const char *key, const struct kar_array *pairs)
{
	const struct kar_pair *items = pairs->items;

	if (!pairs->n)
		return;
	kar_jw_key(w, key);
	kar_jw_begin_object(w);
	for (size_t i = 0; i < pairs->n; i++)
		kar_jw_kv_string(w, items[i].key, items[i].value);
	kar_jw_end_object(w);
}

void kar_podgroup_spec_write(struct kar_json_writer *w, const struct kar_podgroup_spec *s)
{
	kar_jw_begin_object(w);
	kar_jw_kv_int(w, "minMember", s->min_member);
	if (s->has_succeeded_members)
		kar_jw_kv_int(w, "succeededMembers", s->succeeded_members);
	if (s->queue)
		kar_jw_kv_string(w, "queue", s->queue);
	if (s->priority_class_name)
		kar_jw_kv_string(w, "priorityClassName", s->priority_class_name);
	if (s->has_priority)
		kar_jw_kv_int(w, "priority", s->priority);
	if (s->has_schedule_timeout)
		kar_jw_kv_int(w, "scheduleTimeoutSeconds", s->schedule_timeout_seconds);
	write_pairs(w, "minResources", &s->min_resources);
	write_pairs(w, "totalResources", &s->total_resources);
	kar_jw_end_object(w);
}

/* An optional number that is absent has no value to compare. */
static bool same_number(bool has_a, int32_t a, bool has_b, int32_t b)
{
	return has_a == has_b && (!has_a || a == b);
}

bool kar_podgroup_spec_equal(const struct kar_podgroup_spec *a, const struct kar_podgroup_spec *b)
{
	return a->min_member == b->min_member && a->succeeded_members == b->succeeded_members &&
		kar_same(a->queue, b->queue) && kar_same(a->priority_class_name, b->priority_class_name) &&
		same_number(a->has_priority, a->priority, b->has_priority, b->priority) &&
		same_number(a->has_schedule_timeout, a->schedule_timeout_seconds, b->has_schedule_timeout,
			b->schedule_timeout_seconds) &&
		kar_same_pairs(&a->min_resources, &b->min_resources) &&
		kar_same_pairs(&a->total_resources, &b->total_resources);
}
