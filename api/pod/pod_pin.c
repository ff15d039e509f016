#include "api/pod/pod_pin.h"

#include "api/copy.h"
#include "api/json_split.h"

static const struct kar_field required_fields[] = {
	KAR_FIELD(struct kar_template_required, terms, "nodeSelectorTerms", KAR_F_RAW),
};
static const struct kar_desc required_desc =
	KAR_DESC("NodeSelector", struct kar_template_required, required_fields);

static const struct kar_field node_fields[] = {
	KAR_FIELD_SUB(struct kar_template_node_affinity, required,
		"requiredDuringSchedulingIgnoredDuringExecution", KAR_F_OBJECT, &required_desc),
};
static const struct kar_desc node_desc =
	KAR_DESC("NodeAffinity", struct kar_template_node_affinity, node_fields);

static const struct kar_field affinity_fields[] = {
	KAR_FIELD_SUB(struct kar_template_affinity, node, "nodeAffinity", KAR_F_OBJECT, &node_desc),
};
const struct kar_desc kar_template_affinity_desc =
	KAR_DESC("Affinity", struct kar_template_affinity, affinity_fields);

struct term {
	struct kar_str expressions, fields; /* arrays, as served */
};
static const struct kar_field term_fields[] = {
	KAR_FIELD(struct term, expressions, "matchExpressions", KAR_F_RAW),
	KAR_FIELD(struct term, fields, "matchFields", KAR_F_RAW),
};
static const struct kar_desc term_desc = KAR_DESC("NodeSelectorTerm", struct term, term_fields);

/* {"key":"metadata.name","operator":"In","values":[NODE]} */
static void write_requirement(struct kar_json_writer *w, const char *node)
{
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "key", "metadata.name");
	kar_jw_kv_string(w, "operator", "In");
	kar_jw_key(w, "values");
	kar_jw_begin_array(w);
	kar_jw_string(w, node);
	kar_jw_end_array(w);
	kar_jw_end_object(w);
}

static void write_fields(struct kar_json_writer *w, const struct kar_array *own, const char *node)
{
	const struct kar_str *items = own->items;

	kar_jw_begin_object(w);
	kar_jw_key(w, "matchFields");
	kar_jw_begin_array(w);
	for (size_t i = 0; i < own->n; i++)
		kar_jw_raw(w, items[i]);
	write_requirement(w, node);
	kar_jw_end_array(w);
	kar_jw_end_object(w);
}

/* The term with the node added to its fields. */
static int write_term(struct kar_json_writer *w, struct kar_str raw, const char *node,
	struct kar_arena *arena, struct kar_err *err)
{
	struct kar_buf patch = { 0 }, merged = { 0 };
	struct kar_array expressions = { 0 }, fields = { 0 };
	struct kar_json_writer own;
	struct term t = { 0 };
	int rc;

	if (kar_json_decode(arena, &term_desc, NULL, raw.p, raw.n, &t, err) ||
		kar_json_split(t.expressions, "matchExpressions", arena, &expressions, err) ||
		kar_json_split(t.fields, "matchFields", arena, &fields, err))
		return -1;
	if (!expressions.n && !fields.n) {
		kar_jw_raw(w, raw);
		return 0;
	}
	kar_json_writer_init(&own, &patch);
	write_fields(&own, &fields, node);
	kar_json_writer_release(&own);
	rc = kar_json_merge(raw, (struct kar_str){ patch.p, patch.n }, &merged, err);
	if (!rc)
		kar_jw_raw(w, kar_copy_raw(arena, (struct kar_str){ merged.p, merged.n }));
	kar_buf_release(&patch);
	kar_buf_release(&merged);
	return rc;
}

static int write_terms(struct kar_json_writer *w, const struct kar_array *own, const char *node,
	struct kar_arena *arena, struct kar_err *err)
{
	const struct kar_str *items = own->items;
	int rc = 0;

	kar_jw_begin_array(w);
	for (size_t i = 0; i < own->n && !rc; i++)
		rc = write_term(w, items[i], node, arena, err);
	if (!own->n)
		write_fields(w, own, node);
	kar_jw_end_array(w);
	return rc;
}

int kar_pin_write(struct kar_json_writer *w, const struct kar_template_affinity *own, const char *node,
	struct kar_arena *arena, struct kar_err *err)
{
	struct kar_array terms = { 0 };
	int rc;

	if (kar_json_split(own->node.required.terms, "nodeSelectorTerms", arena, &terms, err))
		return -1;
	kar_jw_key(w, "affinity");
	kar_jw_begin_object(w);
	kar_jw_key(w, "nodeAffinity");
	kar_jw_begin_object(w);
	kar_jw_key(w, "requiredDuringSchedulingIgnoredDuringExecution");
	kar_jw_begin_object(w);
	kar_jw_key(w, "nodeSelectorTerms");
	rc = write_terms(w, &terms, node, arena, err);
	kar_jw_end_object(w);
	kar_jw_end_object(w);
	kar_jw_end_object(w);
	return rc;
}
