#include "api/podgroup/native_group.h"

#include "common/base/str.h"
#include "common/codec/json.h"

#define TYPE(version_) \
	{ \
		.res = {.group = KAR_NATIVE_GROUP, \
			.version = (version_), \
			.plural = "podgroups", \
			.kind = "PodGroup", \
			.namespaced = true } \
	}

/* Newest first. */
static const struct kar_type types[] = { TYPE("v1beta1"), TYPE("v1alpha3") };

const struct kar_type *kar_native_type(const char *const *versions, size_t n)
{
	for (size_t i = 0; i < KAR_LEN(types); i++) {
		if (kar_streq_any(types[i].res.version, versions, n))
			return &types[i];
	}
	return NULL;
}

static void write_policy(struct kar_json_writer *w, int32_t min_count)
{
	kar_jw_key(w, "schedulingPolicy");
	kar_jw_begin_object(w);
	kar_jw_key(w, "gang");
	kar_jw_begin_object(w);
	kar_jw_kv_int(w, "minCount", min_count);
	kar_jw_end_object(w);
	kar_jw_end_object(w);
}

void kar_native_spec_write(struct kar_json_writer *w, const struct kar_native_spec *s)
{
	kar_jw_begin_object(w);
	write_policy(w, s->min_count);
	if (kar_has_text(s->priority_class))
		kar_jw_kv_string(w, "priorityClassName", s->priority_class);
	kar_jw_end_object(w);
}

void kar_native_patch_write(struct kar_json_writer *w, const struct kar_native_spec *s)
{
	kar_jw_begin_object(w);
	kar_jw_key(w, "spec");
	kar_jw_begin_object(w);
	write_policy(w, s->min_count);
	kar_jw_end_object(w);
	kar_jw_end_object(w);
}
