/* The PodGroup that is made from a SchedulingSpec, and the label by which a pod is a member of it. */
#include "controllers/schedulingspec/schedulingspec.h"

#include <inttypes.h>
#include <stdio.h>

#include "api/names.h"
#include "common/codec/json.h"

/* The garbage collector deletes the group with who owns the SchedulingSpec. */
static void write_owner(struct kar_json_writer *w, const struct kar_schedulingspec *s)
{
	kar_jw_key(w, "ownerReferences");
	kar_jw_begin_array(w);
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "apiVersion", s->owner_api_version);
	kar_jw_kv_string(w, "kind", s->owner_kind);
	kar_jw_kv_string(w, "name", s->owner_name);
	kar_jw_kv_string(w, "uid", s->owner_uid);
	kar_jw_kv_bool(w, "controller", true);
	kar_jw_end_object(w);
	kar_jw_end_array(w);
}

static void write_group(struct kar_json_writer *w, const struct kar_action *a,
	const struct kar_schedulingspec *s)
{
	const struct kar_podgroup_spec spec = {
		.min_member =
			s->spec.has_min_available && s->spec.min_available > 0 ? s->spec.min_available : 1,
		.priority_class_name = s->spec.priority_class_name,
		.priority = s->spec.priority,
		.has_priority = s->spec.has_priority,
		.schedule_timeout_seconds = s->spec.schedule_timeout_seconds,
		.has_schedule_timeout = s->spec.has_schedule_timeout,
		.topology = s->spec.topology,
	};

	kar_jw_kv_string(w, "apiVersion", KAR_PODGROUP_API_VERSION);
	kar_jw_kv_string(w, "kind", kar_podgroup_type.res.kind);
	kar_jw_key(w, "metadata");
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "name", a->name);
	kar_jw_kv_string(w, "namespace", a->ns ? a->ns : "");
	kar_jw_key(w, "labels");
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, KAR_LABEL_MADE, "true");
	kar_jw_end_object(w);
	write_owner(w, s);
	kar_jw_end_object(w);
	kar_jw_key(w, "spec");
	kar_podgroup_spec_write(w, &spec);
}

static void write_label(struct kar_json_writer *w, const struct kar_action *a,
	const struct kar_schedulingspec *s)
{
	char version[24];

	snprintf(version, sizeof(version), "%" PRIu64, a->rv);
	kar_jw_key(w, "metadata");
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "uid", a->uid);
	kar_jw_kv_string(w, "resourceVersion", version);
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
	else
		write_label(&w, a, a->payload);
	kar_jw_end_object(&w);
	kar_json_writer_release(&w);
	return 0;
}
