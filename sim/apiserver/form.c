#include "sim/apiserver/core.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

static struct sim_value *api_version(const struct sim_resource *r)
{
	return *r->group ? sim_printf("%s/%s", r->group, r->version) : sim_string(r->version);
}

struct sim_value *sim_form_typed(const char *kind, const char *version)
{
	struct sim_value *v = sim_object();

	sim_set_text(&v, kind, "kind");
	sim_set_text(&v, version, "apiVersion");
	return v;
}

bool sim_form_is_plain(const struct sim_resource *r, enum sim_form form)
{
	return form == SIM_FORM_OBJECT && !r->stored_as;
}

/* The object as the resource asked for shows it, whatever resource stores it. */
static struct sim_value *translated(const struct sim_resource *r, const struct sim_value *stored)
{
	struct sim_value *v = sim_ref(stored);

	if (!r->stored_as)
		return v;
	if (r->from_stored)
		r->from_stored(&v);
	sim_set_text(&v, r->kind, "kind");
	sim_set(&v, api_version(r), "apiVersion");
	return v;
}

static struct sim_value *metadata_only(const struct sim_value *object)
{
	struct sim_value *v = sim_form_typed("PartialObjectMetadata", "meta.k8s.io/v1");

	sim_set(&v, sim_ref(sim_member(object, "metadata")), "metadata");
	return v;
}

static struct sim_value *table_of_one(const struct sim_apiserver *s, const struct sim_resource *r,
	const char *include, const struct sim_value *object)
{
	struct sim_value *table = sim_table(r, &object, 1, include, sim_timeline_wall(s->timeline));
	struct sim_value *meta = sim_object();

	sim_set(&meta, sim_ref(sim_get(object, "metadata", "resourceVersion")), "resourceVersion");
	sim_set(&table, meta, "metadata");
	return table;
}

struct sim_value *sim_form_of(const struct sim_apiserver *s, const struct sim_resource *r, enum sim_form form,
	const char *include, const struct sim_value *stored)
{
	struct sim_value *v = translated(r, stored), *formed;

	if (form == SIM_FORM_OBJECT)
		return v;
	formed = form == SIM_FORM_METADATA ? metadata_only(v) : table_of_one(s, r, include, v);
	sim_unref(v);
	return formed;
}

/* ---- answers ---- */

static void keep_version(struct sim_response *out, struct sim_version *v)
{
	out->versions = kar_xmalloc(sizeof(*out->versions));
	out->versions[0] = sim_version_ref(v);
	out->n_versions = 1;
	out->text = v->text ? sim_text_ref(v->text) : NULL;
}

void sim_answer(const struct sim_apiserver *s, const struct sim_resource *r, const struct sim_request *rq,
	int code, struct sim_version *v, struct sim_response *out)
{
	out->code = code;
	out->object = sim_form_of(s, r, rq->form, rq->include_object, v->value);
	if (sim_form_is_plain(r, rq->form))
		keep_version(out, v);
}

void sim_answer_value(const struct sim_apiserver *s, const struct sim_resource *r,
	const struct sim_request *rq, int code, const struct sim_value *v, struct sim_response *out)
{
	out->code = code;
	out->object = sim_form_of(s, r, rq->form, rq->include_object, v);
}

static void release_versions(struct sim_version **versions, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sim_version_unref(versions[i]);
	free(versions);
}

static struct sim_value *list_of(const struct sim_apiserver *s, const struct sim_resource *r,
	enum sim_form form, struct sim_version *const *versions, size_t n)
{
	struct sim_value *list, *items = sim_array();

	if (form == SIM_FORM_METADATA) {
		list = sim_form_typed("PartialObjectMetadataList", "meta.k8s.io/v1");
	} else {
		list = sim_object();
		sim_set_text(&list, r->list_kind, "kind");
		sim_set(&list, api_version(r), "apiVersion");
	}
	sim_set(&list, sim_null(), "metadata"); /* holds the place */
	for (size_t i = 0; i < n; i++)
		sim_append(&items, sim_form_of(s, r, form, NULL, versions[i]->value));
	if (n == 0 && form == SIM_FORM_METADATA) { /* a nil slice in Go */
		sim_unref(items);
		items = sim_null();
	}
	sim_set(&list, items, "items");
	return list;
}

static struct sim_value *table_of_many(const struct sim_apiserver *s, const struct sim_resource *r,
	const char *include, struct sim_version *const *versions, size_t n)
{
	const struct sim_value **objects = kar_xcalloc(n + 1, sizeof(*objects));
	struct sim_value **owned = kar_xcalloc(n + 1, sizeof(*owned)), *table;

	for (size_t i = 0; i < n; i++)
		objects[i] = owned[i] = translated(r, versions[i]->value);
	table = sim_table(r, objects, n, include, sim_timeline_wall(s->timeline));
	for (size_t i = 0; i < n; i++)
		sim_unref(owned[i]);
	free(owned);
	free(objects);
	return table;
}

/* {"kind":"Pod","apiVersion":"v1", is how the text of a built-in object begins. */
static size_t prefix_of(const struct sim_resource *r)
{
	if (r->custom)
		return 0;
	return strlen("{\"kind\":\"\",\"apiVersion\":\"\",") + strlen(r->kind) + strlen(r->group) +
		strlen(r->version) + (*r->group ? 1 : 0);
}

void sim_answer_list(const struct sim_apiserver *s, const struct sim_resource *r,
	const struct sim_request *rq, struct sim_value *meta, struct sim_version **versions, size_t n,
	struct sim_response *out)
{
	out->code = 200;
	out->object = rq->form == SIM_FORM_TABLE ? table_of_many(s, r, rq->include_object, versions, n)
						 : list_of(s, r, rq->form, versions, n);
	sim_set(&out->object, meta, "metadata");
	if (!sim_form_is_plain(r, rq->form)) {
		release_versions(versions, n);
		return;
	}
	out->is_list = true;
	out->versions = versions;
	out->n_versions = n;
	out->skip = prefix_of(r);
}

/* Text of an item of a list: of built-in types without kind and apiVersion, which the list names once for all. */
static void print_item(struct sim_version *v, size_t skip, struct kar_buf *out)
{
	const struct sim_text *t = sim_version_text(v);

	assert(!skip || (skip < t->n && t->p[skip - 1] == ',')); /* the one line of kind and apiVersion */
	if (skip)
		kar_buf_append(out, "{", 1);
	kar_buf_append(out, t->p + skip, t->n - skip);
}

static void print_list(const struct sim_response *r, struct kar_buf *out)
{
	for (struct sim_member m = sim_first(r->object); m.value; m = sim_next(m)) {
		if (!strcmp(m.key, "items"))
			continue;
		kar_buf_printf(out, "%s\"%s\":", out->n && out->p[out->n - 1] == '{' ? "" : ",", m.key);
		sim_print(m.value, out);
	}
	kar_buf_puts(out, ",\"items\":[");
	for (size_t i = 0; i < r->n_versions; i++) {
		if (i)
			kar_buf_append(out, ",", 1);
		print_item(r->versions[i], r->skip, out);
	}
	kar_buf_puts(out, "]}");
}

void sim_response_body(const struct sim_response *r, struct kar_buf *out)
{
	if (!out->cap)
		out->cap = SIZE_MAX / 2;
	if (r->is_list) {
		kar_buf_append(out, "{", 1);
		print_list(r, out);
	} else if (r->n_versions) {
		const struct sim_text *t = sim_version_text(r->versions[0]);

		kar_buf_append(out, t->p, t->n);
	} else {
		sim_print(r->object, out);
	}
}

void sim_response_release(struct sim_response *r)
{
	sim_unref(r->object);
	sim_text_unref(r->text);
	release_versions(r->versions, r->n_versions);
	free((void *)(uintptr_t)r->warning);
	*r = (struct sim_response){ 0 };
}
