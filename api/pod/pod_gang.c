/* What a pod says of its gang when there is no PodGroup: the minimum, and the options of GangScheduling. */
#include "api/pod/pod_wire.h"

#include <bsd/stdlib.h>

#include "api/names.h"
#include "common/base/str.h"
#include "common/codec/json.h"

/* The text of its minimum; NULL: none, or its group is one that somebody makes. */
static const char *minimum_of(const struct kar_wire_meta *m)
{
	if (kar_has_text(kar_pairs_get(&m->labels, KAR_LABEL_POD_GROUP)) ||
		kar_has_text(kar_pairs_get(&m->labels, KAR_LABEL_POD_GROUP_OLD)))
		return NULL;
	if (kar_has_text(kar_pairs_get(&m->labels, KAR_LABEL_POD_GROUP_NAME)))
		return kar_pairs_get(&m->labels, KAR_LABEL_MIN_AVAILABLE);
	return kar_has_text(kar_pairs_get(&m->annotations, KAR_ANNOTATION_GANG_NAME))
		? kar_pairs_get(&m->annotations, KAR_ANNOTATION_GANG "min-available")
		: NULL;
}

static void write_options(struct kar_json_writer *w, const struct kar_array *annotations)
{
	static const char *const keys[] = { KAR_ANNOTATION_GANG "groups", KAR_ANNOTATION_GANG "match-policy",
		KAR_ANNOTATION_GANG "mode", KAR_ANNOTATION_GANG "total-number",
		KAR_ANNOTATION_GANG "waiting-time" };

	kar_jw_key(w, "annotations");
	kar_jw_begin_object(w);
	for (size_t i = 0; i < KAR_LEN(keys); i++) {
		const char *value = kar_pairs_get(annotations, keys[i]);

		if (kar_has_text(value))
			kar_jw_kv_string(w, keys[i], value);
	}
	kar_jw_end_object(w);
}

const char *pod_gang_read(const struct kar_wire_meta *m, struct kar_intern *strings)
{
	const char *text = minimum_of(m), *problem = NULL;
	struct kar_buf out KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	struct kar_json_writer w;
	long long minimum;

	if (!kar_has_text(text))
		return NULL;
	minimum = strtonum(text, 1, INT32_MAX, &problem);
	if (problem)
		return NULL;
	kar_json_writer_init(&w, &out);
	kar_jw_begin_object(&w);
	kar_jw_kv_int(&w, "minMember", minimum);
	write_options(&w, &m->annotations);
	kar_jw_end_object(&w);
	kar_json_writer_release(&w);
	return out.overflow || out.n >= KAR_POD_GANG_BYTES ? NULL
							   : kar_intern_get(strings, kar_buf_cstr(&out));
}
