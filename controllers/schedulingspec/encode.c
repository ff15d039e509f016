/* The PodGroup that is made from a SchedulingSpec, and the label by which a pod is a member of it. */
#include "controllers/schedulingspec/schedulingspec.h"

#include <inttypes.h>
#include <stdio.h>

#include "api/names.h"
#include "api/new_object.h"
#include "common/base/str.h"
#include "common/codec/json.h"

static void write_group(struct kar_json_writer *w, const struct kar_action *a,
	const struct kar_schedulingspec *s)
{
	const struct kar_podgroup_spec spec = {
		.min_member = schedulingspec_minimum(s),
		.priority_class_name = s->spec.priority_class_name,
		.priority = s->spec.priority,
		.has_priority = s->spec.has_priority,
		.schedule_timeout_seconds = s->spec.schedule_timeout_seconds,
		.has_schedule_timeout = s->spec.has_schedule_timeout,
		.topology = s->spec.topology,
	};
	/* The garbage collector deletes the group with who owns the SchedulingSpec. */
	const struct kar_wire_owner owner = { .api_version = s->owner_api_version,
		.kind = s->owner_kind,
		.name = s->owner_name,
		.uid = s->owner_uid };

	kar_new_object_begin(w, &kar_podgroup_type.res, a->ns, a->name);
	kar_jw_key(w, "labels");
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, KAR_LABEL_MADE, "true");
	kar_jw_end_object(w);
	kar_new_object_owner(w, &owner, false);
	kar_jw_end_object(w);
	kar_jw_key(w, "spec");
	kar_podgroup_spec_write(w, &spec);
}

/* The metadata stay open. */
static void write_precondition(struct kar_json_writer *w, const struct kar_action *a)
{
	char version[24];

	snprintf(version, sizeof(version), "%" PRIu64, a->rv);
	kar_jw_key(w, "metadata");
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "uid", a->uid);
	kar_jw_kv_string(w, "resourceVersion", version);
}

static void write_edit(struct kar_json_writer *w, const struct kar_action *a,
	const struct kar_schedulingspec *s)
{
	write_precondition(w, a);
	kar_jw_end_object(w);
	kar_jw_key(w, "spec");
	kar_jw_begin_object(w);
	kar_jw_kv_int(w, "minMember", schedulingspec_minimum(s));
	kar_jw_key(w, "priority");
	if (s->spec.has_priority)
		kar_jw_int(w, s->spec.priority);
	else
		kar_jw_null(w);
	kar_jw_key(w, "priorityClassName");
	if (kar_has_text(s->spec.priority_class_name))
		kar_jw_string(w, s->spec.priority_class_name);
	else
		kar_jw_null(w);
	kar_jw_end_object(w);
}

static void write_label(struct kar_json_writer *w, const struct kar_action *a,
	const struct kar_schedulingspec *s)
{
	write_precondition(w, a);
	kar_jw_key(w, "labels");
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, KAR_LABEL_POD_GROUP, s->o.name);
	kar_jw_end_object(w);
	kar_jw_end_object(w);
}

int schedulingspec_encode(const struct kar_action *a, struct kar_buf *out)
{
	struct kar_json_writer w;

	kar_json_writer_init(&w, out);
	kar_jw_begin_object(&w);
	if (a->what == SCHEDULINGSPEC_MAKE)
		write_group(&w, a, a->payload);
	else if (a->what == SCHEDULINGSPEC_FOLLOW)
		write_edit(&w, a, a->payload);
	else
		write_label(&w, a, a->payload);
	kar_jw_end_object(&w);
	kar_json_writer_release(&w);
	return 0;
}
