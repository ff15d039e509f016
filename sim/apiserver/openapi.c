#include "sim/apiserver/openapi.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/intern.h"
#include "common/base/mem.h"
#include "sim/apiserver/discovery.h"

#define OBJECT_META "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

enum { HASH_LEN = 17 };

/* One document as it was last made. */
struct document {
	char *name;     /* "apis/apps/v1" */
	uint64_t stamp; /* of what it was made from */
	char *text;
	char hash[HASH_LEN];
};

struct sim_openapi {
	const struct sim_types *types;
	struct document *documents; /* owned */
	size_t n;
};

struct sim_openapi *sim_openapi_new(const struct sim_types *types)
{
	struct sim_openapi *o = kar_xcalloc(1, sizeof(*o));

	o->types = types;
	return o;
}

void sim_openapi_free(struct sim_openapi *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->n; i++) {
		free(o->documents[i].name);
		free(o->documents[i].text);
	}
	free(o->documents);
	free(o);
}

/* ---- operations ---- */

enum { TAKES_NOTHING, TAKES_OBJECT, TAKES_PATCH };

struct operation {
	const char *method, *action;
	enum kar_verb verb;
	int takes;
};

static const struct operation on_collection[] = {
	{ "get", "list", KAR_LIST, TAKES_NOTHING },
	{ "post", "post", KAR_CREATE, TAKES_OBJECT },
	{ "delete", "deletecollection", KAR_DELETECOLLECTION, TAKES_NOTHING },
};
static const struct operation on_item[] = {
	{ "get", "get", KAR_GET, TAKES_NOTHING },
	{ "put", "put", KAR_UPDATE, TAKES_OBJECT },
	{ "patch", "patch", KAR_PATCH, TAKES_PATCH },
	{ "delete", "delete", KAR_DELETE, TAKES_NOTHING },
};
enum { ON_STATUS = 3 }; /* the first of on_item */

static struct sim_value *kind_of(const struct sim_resource *r)
{
	struct sim_value *v = sim_object();

	sim_set_text(&v, r->group, "group");
	sim_set_text(&v, r->kind, "kind");
	sim_set_text(&v, r->version, "version");
	return v;
}

static void add_parameter(struct sim_value **list, const char *name, const char *in, const char *type)
{
	struct sim_value *v = sim_object();

	sim_set_text(&v, name, "name");
	sim_set_text(&v, in, "in");
	if (!strcmp(in, "path"))
		sim_set(&v, sim_bool(true), "required");
	sim_set_text(&v, type, "schema", "type");
	sim_append(list, v);
}

static struct sim_value *query_of(const struct operation *op)
{
	struct sim_value *list = sim_array();

	if (op->verb == KAR_LIST || op->verb == KAR_DELETECOLLECTION) {
		add_parameter(&list, "labelSelector", "query", "string");
		add_parameter(&list, "fieldSelector", "query", "string");
		add_parameter(&list, "limit", "query", "integer");
	}
	if (op->verb != KAR_GET && op->verb != KAR_LIST)
		add_parameter(&list, "dryRun", "query", "string");
	if (op->takes != TAKES_NOTHING) {
		add_parameter(&list, "fieldManager", "query", "string");
		add_parameter(&list, "fieldValidation", "query", "string");
	}
	if (op->takes == TAKES_PATCH)
		add_parameter(&list, "force", "query", "boolean");
	return list;
}

static void add_content(struct sim_value **content, const char *type, const char *component)
{
	struct sim_value *schema = sim_object();

	if (component)
		sim_set(&schema, sim_printf("#/components/schemas/%s", component), "$ref");
	else
		sim_set_text(&schema, "object", "type");
	sim_set(content, schema, type, "schema");
}

static struct sim_value *request_body(const struct operation *op, const struct sim_resource *r,
	const char *component)
{
	struct sim_value *v = sim_object(), *content = sim_object();

	if (op->takes == TAKES_OBJECT) {
		add_content(&content, "application/json", component);
	} else {
		add_content(&content, "application/apply-patch+yaml", NULL);
		add_content(&content, "application/json-patch+json", NULL);
		add_content(&content, "application/merge-patch+json", NULL);
		if (!r->custom)
			add_content(&content, "application/strategic-merge-patch+json", NULL);
	}
	sim_set(&v, content, "content");
	sim_set(&v, sim_bool(true), "required");
	return v;
}

static struct sim_value *operation_of(const struct operation *op, const struct sim_resource *r,
	const char *component)
{
	struct sim_value *v = sim_object(), *content = sim_object();

	add_content(&content, "application/json", component);
	sim_set(&v, query_of(op), "parameters");
	if (op->takes != TAKES_NOTHING)
		sim_set(&v, request_body(op, r, component), "requestBody");
	sim_set_text(&v, "OK", "responses", "200", "description");
	sim_set(&v, content, "responses", "200", "content");
	sim_set_text(&v, op->action, "x-kubernetes-action");
	sim_set(&v, kind_of(r), "x-kubernetes-group-version-kind");
	return v;
}

static struct sim_value *path_item(const struct operation *ops, size_t n, const struct sim_resource *r,
	const char *component, bool named)
{
	struct sim_value *v = sim_object(), *parameters = sim_array();

	for (size_t i = 0; i < n; i++) {
		if (!r->verbs || (r->verbs & 1u << ops[i].verb))
			sim_set(&v, operation_of(&ops[i], r, component), ops[i].method);
	}
	if (named)
		add_parameter(&parameters, "name", "path", "string");
	if (r->namespaced)
		add_parameter(&parameters, "namespace", "path", "string");
	sim_set(&v, parameters, "parameters");
	return v;
}

static void add_paths(struct sim_value **paths, const struct sim_resource *r, const char *name,
	const char *component)
{
	struct kar_buf path KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	bool collection = !r->verbs || (r->verbs & ~(1u << KAR_CREATE));

	kar_buf_printf(&path, "/%s%s/%s", name, r->namespaced ? "/namespaces/{namespace}" : "", r->plural);
	sim_set(paths, path_item(on_collection, KAR_LEN(on_collection), r, component, false),
		kar_buf_cstr(&path));
	if (!collection)
		return;
	kar_buf_puts(&path, "/{name}");
	sim_set(paths, path_item(on_item, KAR_LEN(on_item), r, component, true), kar_buf_cstr(&path));
	kar_buf_puts(&path, "/status");
	if (r->has_status)
		sim_set(paths, path_item(on_item, ON_STATUS, r, component, true), kar_buf_cstr(&path));
}

/* ---- components ---- */

/* The schema that the CRD of @r has for its version. Borrowed; NULL: none. */
static const struct sim_value *crd_schema(const struct sim_apiserver *s, const struct sim_resource *r)
{
	char name[SIM_RESOURCE_NAME_MAX];
	const struct sim_value *versions;

	sim_resource_name(r, name, sizeof(name));
	versions = sim_get(sim_apiserver_peek(s, "apiextensions.k8s.io", "customresourcedefinitions", NULL,
				   name),
		"spec", "versions");
	for (size_t i = 0; i < sim_count(versions); i++) {
		const struct sim_value *v = sim_item(versions, i);

		if (!strcmp(sim_text_or(sim_get(v, "name"), ""), r->version))
			return sim_get(v, "schema", "openAPIV3Schema");
	}
	return NULL;
}

/* "io.kube-arbitrator.v1alpha1.QueueJob": the group backwards. */
static char *custom_component(const struct sim_resource *r)
{
	struct kar_buf out = { 0 };
	size_t end = strlen(r->group);

	while (end) {
		size_t begin = end;

		while (begin && r->group[begin - 1] != '.')
			begin--;
		kar_buf_append(&out, r->group + begin, end - begin);
		kar_buf_puts(&out, ".");
		end = begin ? begin - 1 : 0;
	}
	kar_buf_printf(&out, "%s.%s", r->version, r->kind);
	return kar_buf_detach(&out);
}

static void add_kind(struct sim_value **schema, const struct sim_resource *r)
{
	struct sim_value *kinds = sim_array(), *text = sim_object();

	sim_set_text(&text, "string", "type");
	sim_set_text(&text, "Group and version of the API.", "description");
	sim_set(schema, sim_ref(text), "properties", "apiVersion");
	sim_set_text(&text, "Kind of the object.", "description");
	sim_set(schema, text, "properties", "kind");
	sim_append(&kinds, kind_of(r));
	sim_set(schema, kinds, "x-kubernetes-group-version-kind");
}

static struct sim_value *custom_schema(const struct sim_apiserver *s, const struct sim_resource *r)
{
	const struct sim_value *defined = crd_schema(s, r);
	struct sim_value *v = defined ? sim_ref(defined) : sim_object();

	sim_set_text(&v, "object", "type");
	add_kind(&v, r);
	sim_set(&v, sim_openapi_ref(OBJECT_META, "Metadata that all objects have."), "properties",
		"metadata");
	return v;
}

/* Adds the components of @r; returns the name of its own, owned by the caller. NULL: nothing is known of the kind. */
static char *add_components(struct sim_openapi *o, const struct sim_apiserver *s,
	const struct sim_resource *r, struct sim_value **schemas)
{
	const struct sim_type *t = sim_types_find(o->types, r->group, r->kind);
	struct sim_value *schema;
	char *name;

	if (!r->custom && !t)
		return NULL;
	name = r->custom ? custom_component(r) : kar_xstrdup(t->openapi_name);
	if (r->custom) {
		sim_set(schemas, custom_schema(s, r), name);
		return name;
	}
	sim_openapi_add_type(schemas, t);
	schema = sim_take(schemas, name);
	add_kind(&schema, r);
	sim_set(schemas, schema, name);
	return name;
}

/* ---- documents ---- */

static void add_resource(struct sim_openapi *o, const struct sim_apiserver *s, const struct sim_resource *r,
	const char *name, struct sim_value **paths, struct sim_value **schemas)
{
	char *component = add_components(o, s, r, schemas);

	add_paths(paths, r, name, component);
	free(component);
}

static bool is_of(const struct sim_resource *r, const struct sim_group_version *gv)
{
	return !strcmp(r->group, gv->group) && !strcmp(r->version, gv->version);
}

static char *make_document(struct sim_openapi *o, const struct sim_apiserver *s,
	const struct sim_group_version *gv, const char *name)
{
	struct sim_value *v = sim_object(), *paths = sim_object(), *schemas = sim_object();
	struct kar_buf text = { .cap = (size_t)16 << 20 };
	const struct sim_resource *r;

	sim_openapi_add_scalars(&schemas);
	sim_openapi_add_type(&schemas, sim_types_find(o->types, "meta", "ObjectMeta"));
	for (size_t i = 0; (r = sim_resource_at(s, i)) != NULL; i++) {
		if (is_of(r, gv))
			add_resource(o, s, r, name, &paths, &schemas);
	}
	sim_set_text(&v, "3.0.0", "openapi");
	sim_set_text(&v, "Kubernetes", "info", "title");
	sim_set_text(&v, "1.37", "info", "version");
	sim_set(&v, paths, "paths");
	sim_set(&v, schemas, "components", "schemas");
	sim_print(v, &text);
	sim_unref(v);
	return kar_buf_detach(&text);
}

/* Changes when the document would: of built-in groups never, of custom ones with their CRDs. */
static uint64_t stamp_of(const struct sim_apiserver *s, const struct sim_group_version *gv)
{
	const struct sim_resource *r;
	uint64_t stamp = 1;

	for (size_t i = 0; (r = sim_resource_at(s, i)) != NULL; i++) {
		if (is_of(r, gv))
			stamp = kar_hash_str(stamp ^ (r->custom ? sim_hash(crd_schema(s, r)) : 0), r->plural);
	}
	return stamp;
}

static struct document *slot_of(struct sim_openapi *o, const char *name)
{
	for (size_t i = 0; i < o->n; i++) {
		if (!strcmp(o->documents[i].name, name))
			return &o->documents[i];
	}
	o->documents = kar_xrealloc(o->documents, o->n + 1, sizeof(*o->documents));
	o->documents[o->n] = (struct document){ .name = kar_xstrdup(name) };
	return &o->documents[o->n++];
}

static const struct document *document_of(struct sim_openapi *o, const struct sim_apiserver *s,
	const struct sim_group_version *gv, const char *name)
{
	struct document *d = slot_of(o, name);
	uint64_t stamp = stamp_of(s, gv);

	if (d->text && d->stamp == stamp)
		return d;
	free(d->text);
	d->text = make_document(o, s, gv, name);
	d->stamp = stamp;
	snprintf(d->hash, sizeof(d->hash), "%016" PRIX64, kar_hash_str(0, d->text));
	return d;
}

static char *name_of(const struct sim_group_version *gv)
{
	return *gv->group ? kar_xasprintf("apis/%s/%s", gv->group, gv->version)
			  : kar_xasprintf("api/%s", gv->version);
}

struct sim_value *sim_openapi_index(struct sim_openapi *o, const struct sim_apiserver *s)
{
	struct sim_group_versions l = sim_group_versions_of(s);
	struct sim_value *v = sim_object();

	sim_set(&v, sim_object(), "paths");
	for (size_t i = 0; i < l.n; i++) {
		char *name = name_of(&l.items[i]);
		const struct document *d = document_of(o, s, &l.items[i], name);

		sim_set(&v, sim_printf("/openapi/v3/%s?hash=%s", name, d->hash), "paths", name,
			"serverRelativeURL");
		free(name);
	}
	sim_group_versions_release(&l);
	return v;
}

const char *sim_openapi_document(struct sim_openapi *o, const struct sim_apiserver *s, const char *name,
	const char **hash)
{
	struct sim_group_versions l = sim_group_versions_of(s);
	const struct document *d = NULL;

	for (size_t i = 0; i < l.n && !d; i++) {
		char *candidate = name_of(&l.items[i]);

		if (!strcmp(candidate, name))
			d = document_of(o, s, &l.items[i], name);
		free(candidate);
	}
	sim_group_versions_release(&l);
	*hash = d ? d->hash : NULL;
	return d ? d->text : NULL;
}
