/* The required node affinity of a pod as JSON, in the order and with the words of the API: a patch may only add to it. */
#include "api/pod/pod_wire.h"

#include "common/base/str.h"
#include "common/codec/json.h"

static void write_requirement(struct kar_json_writer *w, const struct pod_wire_requirement *r)
{
	const char *const *values = r->values.items;

	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "key", r->key ? r->key : "");
	kar_jw_kv_string(w, "operator", r->op ? r->op : "");
	if (r->values.n) {
		kar_jw_key(w, "values");
		kar_jw_begin_array(w);
		for (size_t i = 0; i < r->values.n; i++)
			kar_jw_string(w, values[i] ? values[i] : "");
		kar_jw_end_array(w);
	}
	kar_jw_end_object(w);
}

static void write_list(struct kar_json_writer *w, const char *key, const struct kar_array *list)
{
	const struct pod_wire_requirement *r = list->items;

	if (!list->n)
		return;
	kar_jw_key(w, key);
	kar_jw_begin_array(w);
	for (size_t i = 0; i < list->n; i++)
		write_requirement(w, &r[i]);
	kar_jw_end_array(w);
}

static void write_terms(struct kar_json_writer *w, const struct pod_wire_node_terms *required)
{
	const struct pod_wire_term *t = required->terms.items;

	kar_jw_begin_array(w);
	for (size_t i = 0; i < required->terms.n; i++) {
		kar_jw_begin_object(w);
		write_list(w, "matchExpressions", &t[i].labels);
		write_list(w, "matchFields", &t[i].fields);
		kar_jw_end_object(w);
	}
	kar_jw_end_array(w);
}

const char *pod_terms_read(const struct pod_wire_spec *spec, struct kar_intern *strings)
{
	const struct pod_wire_node_terms *required = spec->affinity.node.required;
	struct kar_buf out KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	struct kar_json_writer w;

	if (!required || !required->terms.n)
		return NULL;
	kar_json_writer_init(&w, &out);
	write_terms(&w, required);
	kar_json_writer_release(&w);
	return kar_intern_get(strings,
		out.overflow || out.n >= KAR_POD_TERMS_BYTES ? "" : kar_buf_cstr(&out));
}
