#include "api/core/flavor.h"

#include <stdlib.h>
#include <string.h>

#include "api/copy.h"
#include "api/names.h"
#include "common/base/str.h"
#include "common/codec/json.h"

struct wire_toleration {
	const char *key, *op, *value, *effect;
};

struct wire_selector {
	struct kar_array labels; /* struct kar_pair */
};

struct wire_spec {
	struct wire_selector selector;
	struct kar_array tolerations; /* struct wire_toleration */
};

struct wire_flavor {
	struct kar_wire_object head;
	struct wire_spec spec;
	struct kar_flavor_status status;
};

static const struct kar_field toleration_fields[] = {
	KAR_FIELD(struct wire_toleration, key, "key", KAR_F_STRING),
	KAR_FIELD(struct wire_toleration, op, "operator", KAR_F_STRING),
	KAR_FIELD(struct wire_toleration, value, "value", KAR_F_STRING),
	KAR_FIELD(struct wire_toleration, effect, "effect", KAR_F_STRING),
};
static const struct kar_desc toleration_desc =
	KAR_DESC("FlavorToleration", struct wire_toleration, toleration_fields);

static const struct kar_field selector_fields[] = {
	KAR_FIELD(struct wire_selector, labels, "matchLabels", KAR_F_MAP),
};
static const struct kar_desc selector_desc =
	KAR_DESC("FlavorNodeSelector", struct wire_selector, selector_fields);

static const struct kar_field spec_fields[] = {
	KAR_FIELD_SUB(struct wire_spec, selector, "nodeSelector", KAR_F_OBJECT, &selector_desc),
	KAR_FIELD_SUB(struct wire_spec, tolerations, "tolerations", KAR_F_ARRAY, &toleration_desc),
};
static const struct kar_desc spec_desc = KAR_DESC("FlavorSpec", struct wire_spec, spec_fields);

static const struct kar_field status_fields[] = {
	KAR_STATUS(INT32, struct kar_flavor_status, nodes, "nodes", KAR_SF_COUNTER, "nodes"),
	KAR_STATUS(INT32, struct kar_flavor_status, ambiguous, "ambiguous", KAR_SF_COUNTER, "ambiguous"),
	KAR_STATUS_PAIRS(struct kar_flavor_status, allocatable, "allocatable", KAR_SF_COUNTER, NULL),
};
const struct kar_desc kar_flavor_status_table =
	KAR_DESC("FlavorStatus", struct kar_flavor_status, status_fields);

static const struct kar_field fields[] = {
	KAR_WIRE_HEAD_FIELDS(struct wire_flavor),
	KAR_FIELD_SUB(struct wire_flavor, spec, "spec", KAR_F_OBJECT, &spec_desc),
	KAR_FIELD_SUB(struct wire_flavor, status, "status", KAR_F_OBJECT, &kar_flavor_status_table),
};
static const struct kar_desc desc = KAR_WIRE_DESC("Flavor", struct wire_flavor, fields);

static enum kar_effect effect_of(const char *name)
{
	static const char *const names[] = { "", "NoSchedule", "PreferNoSchedule", "NoExecute" };

	for (int i = 1; kar_has_text(name) && i < (int)KAR_LEN(names); i++) {
		if (kar_streq(name, names[i]))
			return (enum kar_effect)i;
	}
	return KAR_NO_EFFECT;
}

static void write_text(struct kar_json_writer *w, const char *key, const char *text)
{
	if (text && *text)
		kar_jw_kv_string(w, key, text);
}

static void write_toleration(struct kar_buf *out, const struct wire_toleration *t)
{
	struct kar_json_writer w;

	kar_json_writer_init(&w, out);
	kar_jw_begin_object(&w);
	write_text(&w, "key", t->key);
	write_text(&w, "operator", t->op);
	write_text(&w, "value", t->value);
	write_text(&w, "effect", t->effect);
	kar_jw_end_object(&w);
	kar_json_writer_release(&w);
}

static void keep_tolerations(struct kar_flavor *f, const struct kar_array *from)
{
	const struct wire_toleration *t = from->items;
	struct kar_buf text = { 0 };

	for (size_t i = 0; i < from->n && f->n_tolerations < KAR_FLAVOR_TOLERATIONS; i++) {
		const struct wire_toleration one = { .key = kar_copy_fit(&f->mem, t[i].key, KAR_COPY_KEY),
			.op = kar_copy_fit(&f->mem, t[i].op, KAR_COPY_VALUE),
			.value = kar_copy_fit(&f->mem, t[i].value, KAR_COPY_VALUE),
			.effect = kar_copy_fit(&f->mem, t[i].effect, KAR_COPY_VALUE) };

		f->tolerations[f->n_tolerations++] =
			(struct kar_toleration){ .key = kar_has_text(one.key) ? one.key : NULL,
				.value = one.value ? one.value : "",
				.effect = effect_of(one.effect),
				.exists = kar_streq(one.op, "Exists") };
		if (text.n)
			kar_buf_puts(&text, ",");
		write_toleration(&text, &one);
	}
	f->terms.tolerations = kar_copy_text(&f->mem, kar_buf_cstr(&text));
	kar_buf_release(&text);
}

static struct kar_object *project(const void *wire, struct kar_intern *strings)
{
	const struct wire_flavor *w = wire;
	struct kar_flavor *f = kar_xcalloc(1, sizeof(*f));

	kar_object_init(&f->o, &kar_flavor_type, &w->head, kar_copy_text(&f->mem, w->head.meta.name),
		kar_copy_text(&f->mem, w->head.meta.uid), strings);
	f->terms.labels = kar_copy_pairs(&f->mem, &w->spec.selector.labels);
	if (f->terms.labels.n > KAR_FLAVOR_LABELS)
		f->terms.labels.n =
			0; /* no schema of ours lets that pass: it would match what it is not meant for */
	keep_tolerations(f, &w->spec.tolerations);
	kar_status_read(&kar_flavor_status_table, &w->status, &f->status, &f->mem);
	return &f->o;
}

static void destroy(struct kar_object *o, struct kar_intern *strings KAR_UNUSED)
{
	struct kar_flavor *f = kar_container_of(o, struct kar_flavor, o);

	kar_arena_release(&f->mem);
	free(f);
}

const struct kar_type kar_flavor_type = {
	.res = {
		.group = KAR_GROUP,
		.version = KAR_VERSION_V1ALPHA1,
		.plural = "flavors",
		.kind = "Flavor",
		.namespaced = false,
	},
	.wire = &desc,
	.project = project,
	.destroy = destroy,
};

struct kar_flavor_terms kar_flavor_terms_copy(const struct kar_flavor_terms *from, struct kar_arena *a)
{
	return (struct kar_flavor_terms){ .labels = kar_copy_pairs(a, &from->labels),
		.tolerations = kar_copy_text(a, from->tolerations ? from->tolerations : "") };
}

bool kar_flavor_same(const struct kar_flavor *a, const struct kar_flavor *b)
{
	const struct kar_pair *x = a->terms.labels.items, *y = b->terms.labels.items;
	bool same = a->terms.labels.n == b->terms.labels.n &&
		kar_streq(a->terms.tolerations, b->terms.tolerations);

	for (size_t i = 0; same && i < a->terms.labels.n; i++)
		same = kar_streq(x[i].key, y[i].key) && kar_streq(x[i].value, y[i].value);
	return same;
}

/* --- which nodes are of it ------------------------------------------------------------------------- */

static int by_key(const void *key, const void *label)
{
	const struct kar_sched_label *l = label;

	return strcmp(key, l->key);
}

uint32_t kar_flavor_matches(const struct kar_flavor *f, const struct kar_node_offer *node)
{
	const struct kar_pair *pairs = f->terms.labels.items;

	for (size_t i = 0; i < f->terms.labels.n; i++) {
		const struct kar_sched_label *found = node->n_labels
			? bsearch(pairs[i].key, node->labels, node->n_labels, sizeof(*found), by_key)
			: NULL;

		if (!found || !kar_streq(found->value, pairs[i].value))
			return 0;
	}
	return (uint32_t)f->terms.labels.n;
}

const struct kar_flavor *kar_flavor_of(const struct kar_flavor *const *all, uint32_t n,
	const struct kar_node_offer *node, bool *ambiguous)
{
	const struct kar_flavor *best = NULL;
	uint32_t most = 0;
	bool several = false;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t labels = kar_flavor_matches(all[i], node);

		several = labels && labels == most ? true : labels > most ? false : several;
		if (labels > most || (labels && labels == most && strcmp(all[i]->o.name, best->o.name) < 0))
			best = all[i];
		most = labels > most ? labels : most;
	}
	if (ambiguous)
		*ambiguous = several;
	return best;
}
