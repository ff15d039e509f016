#include "api/queuejob/schedulingspec.h"

#include <stdlib.h>
#include <string.h>

#include "api/copy.h"
#include "common/base/str.h"
#include "api/names.h"
#include "api/queuejob/queuejob.h"
#include "common/codec/json.h"

struct wire_schedulingspec {
	struct kar_wire_object head;
	struct kar_schedspec spec;
};

static const struct kar_field spec_fields[] = {
	KAR_FIELD_OPT(struct kar_schedspec, min_available, has_min_available, "minAvailable", KAR_F_INT32),
	KAR_FIELD_OPT(struct kar_schedspec, priority, has_priority, "priority", KAR_F_INT32),
	KAR_FIELD(struct kar_schedspec, priority_class_name, "priorityClassName", KAR_F_STRING),
	KAR_FIELD(struct kar_schedspec, node_selector, "nodeSelector", KAR_F_MAP),
	KAR_FIELD_OPT(struct kar_schedspec, schedule_timeout_seconds, has_schedule_timeout,
		"scheduleTimeoutSeconds", KAR_F_INT32),
	KAR_FIELD_SUB(struct kar_schedspec, topology, "topology", KAR_F_OBJECT, &kar_topology_ask_desc),
	KAR_FIELD(struct kar_schedspec, mode, "mode", KAR_F_STRING),
	KAR_FIELD(struct kar_schedspec, match_policy, "matchPolicy", KAR_F_STRING),
	KAR_FIELD(struct kar_schedspec, gang_groups, "gangGroups", KAR_F_ARRAY),
};
const struct kar_desc kar_schedspec_desc = KAR_DESC("SchedulingSpecSpec", struct kar_schedspec, spec_fields);

static const struct kar_field fields[] = {
	KAR_WIRE_HEAD_FIELDS(struct wire_schedulingspec),
	KAR_FIELD_SUB(struct wire_schedulingspec, spec, "spec", KAR_F_OBJECT, &kar_schedspec_desc),
};
static const struct kar_desc desc = KAR_WIRE_DESC("SchedulingSpec", struct wire_schedulingspec, fields);

struct kar_schedspec kar_schedspec_copy(const struct kar_schedspec *from, struct kar_arena *arena)
{
	struct kar_schedspec s = *from;

	s.priority_class_name = kar_copy_fit(arena, from->priority_class_name, KAR_COPY_NAME);
	s.node_selector = kar_copy_pairs(arena, &from->node_selector);
	s.topology = kar_topology_ask_copy(&from->topology, arena);
	s.mode = kar_copy_fit(arena, from->mode, KAR_COPY_VALUE);
	s.match_policy = kar_copy_fit(arena, from->match_policy, KAR_COPY_VALUE);
	s.gang_groups = kar_copy_strings(arena, &from->gang_groups);
	return s;
}

static bool same_number(int32_t a, bool has_a, int32_t b, bool has_b)
{
	return has_a == has_b && (!has_a || a == b);
}

bool kar_schedspec_equal(const struct kar_schedspec *a, const struct kar_schedspec *b)
{
	return same_number(a->min_available, a->has_min_available, b->min_available, b->has_min_available) &&
		same_number(a->priority, a->has_priority, b->priority, b->has_priority) &&
		same_number(a->schedule_timeout_seconds, a->has_schedule_timeout, b->schedule_timeout_seconds,
			b->has_schedule_timeout) &&
		kar_streq(a->priority_class_name, b->priority_class_name) && kar_streq(a->mode, b->mode) &&
		kar_streq(a->match_policy, b->match_policy) &&
		kar_pairs_equal(&a->node_selector, &b->node_selector) &&
		kar_topology_ask_equal(&a->topology, &b->topology) &&
		kar_strings_equal(&a->gang_groups, &b->gang_groups);
}

static void write_string(struct kar_json_writer *w, const char *key, const char *value)
{
	if (value)
		kar_jw_kv_string(w, key, value);
}

static void write_number(struct kar_json_writer *w, const char *key, int32_t value, bool has)
{
	if (has)
		kar_jw_kv_int(w, key, value);
}

static void write_node_selector(struct kar_json_writer *w, const struct kar_array *pairs)
{
	const struct kar_pair *p = pairs->items;

	if (!pairs->n)
		return;
	kar_jw_key(w, "nodeSelector");
	kar_jw_begin_object(w);
	for (size_t i = 0; i < pairs->n; i++)
		kar_jw_kv_string(w, p[i].key, p[i].value);
	kar_jw_end_object(w);
}

static void write_gang_groups(struct kar_json_writer *w, const struct kar_array *groups)
{
	const char *const *names = groups->items;

	if (!groups->n)
		return;
	kar_jw_key(w, "gangGroups");
	kar_jw_begin_array(w);
	for (size_t i = 0; i < groups->n; i++)
		kar_jw_string(w, names[i]);
	kar_jw_end_array(w);
}

void kar_schedspec_write(struct kar_json_writer *w, const struct kar_schedspec *s)
{
	kar_jw_begin_object(w);
	write_number(w, "minAvailable", s->min_available, s->has_min_available);
	write_string(w, "priorityClassName", s->priority_class_name);
	write_number(w, "priority", s->priority, s->has_priority);
	write_node_selector(w, &s->node_selector);
	write_number(w, "scheduleTimeoutSeconds", s->schedule_timeout_seconds, s->has_schedule_timeout);
	kar_topology_ask_write(w, &s->topology);
	write_string(w, "mode", s->mode);
	write_string(w, "matchPolicy", s->match_policy);
	write_gang_groups(w, &s->gang_groups);
	kar_jw_end_object(w);
}

static struct kar_object *project(const void *wire, struct kar_intern *strings)
{
	const struct wire_schedulingspec *w = wire;
	const struct kar_wire_meta *m = &w->head.meta;
	const struct kar_wire_owner *owner = kar_wire_controller(m);
	struct kar_schedulingspec *s = kar_xcalloc(1, sizeof(*s));

	kar_object_init(&s->o, &kar_schedulingspec_type, &w->head, kar_copy_text(&s->mem, m->name),
		kar_copy_text(&s->mem, m->uid), strings);
	s->owner_uid = owner ? kar_intern_fit(strings, owner->uid, KAR_COPY_UID) : NULL;
	if (owner && !kar_queuejob_is_owner(owner)) {
		s->owner_api_version = kar_copy_fit(&s->mem, owner->api_version, KAR_COPY_NAME);
		s->owner_kind = kar_copy_fit(&s->mem, owner->kind, KAR_COPY_VALUE);
		s->owner_name = kar_copy_fit(&s->mem, owner->name, KAR_COPY_NAME);
	}
	s->creation = m->creation;
	s->owner = kar_owner_text(m, &s->mem);
	s->orphan = kar_queuejob_orphan(m);
	s->deletion = m->deletion;
	s->spec = kar_schedspec_copy(&w->spec, &s->mem);
	return &s->o;
}

static void destroy(struct kar_object *o, struct kar_intern *strings)
{
	struct kar_schedulingspec *s = kar_container_of(o, struct kar_schedulingspec, o);

	kar_intern_put(strings, s->owner_uid);
	kar_arena_release(&s->mem);
	free(s);
}

static const char *index_key(const struct kar_object *o, int i KAR_UNUSED)
{
	const struct kar_schedulingspec *s = kar_as_schedulingspec(o);

	return s->owner_kind ? s->owner_uid : NULL;
}

const struct kar_type kar_schedulingspec_type = {
	.res = {
		.group = KAR_GROUP,
		.version = KAR_VERSION_V1ALPHA1,
		.plural = "schedulingspecs",
		.kind = "SchedulingSpec",
		.namespaced = true,
	},
	.wire = &desc,
	.project = project,
	.destroy = destroy,
	.index_key = index_key,
	.n_index = 1,
};

bool kar_schedulingspec_same_content(const struct kar_schedulingspec *a, const struct kar_schedulingspec *b)
{
	return kar_object_same(&a->o, &b->o) && kar_streq(a->owner_uid, b->owner_uid) &&
		a->orphan == b->orphan && a->deletion == b->deletion &&
		kar_schedspec_equal(&a->spec, &b->spec);
}
