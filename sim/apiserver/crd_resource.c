#include "sim/apiserver/crd.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/sys/queue.h>

#include "common/mem.h"
#include "sim/apiserver/schema.h"

struct version {
	SLIST_ENTRY(version) link;
	struct sim_resource *resource; /* owned by the server */
	struct sim_schema *schema;
	struct sim_value *columns;
	bool seen;
};

struct sim_served {
	struct sim_apiserver *s;
	struct sim_resource *storage;
	SLIST_HEAD(, version) versions;
	const char **short_names, **categories; /* NULL-terminated; what they hold is kept by the server */
};

struct sim_served *sim_served_new(struct sim_apiserver *s)
{
	struct sim_served *served = kar_xcalloc(1, sizeof(*served));

	served->s = s;
	SLIST_INIT(&served->versions);
	return served;
}

static const char *kept(struct sim_served *served, const struct sim_value *text)
{
	return sim_keep(served->s, sim_text_or(text, ""));
}

static const char **kept_list(struct sim_served *served, const struct sim_value *list)
{
	size_t n = sim_count(list);
	const char **texts = kar_xcalloc(n + 1, sizeof(*texts));

	for (size_t i = 0; i < n; i++)
		texts[i] = kept(served, sim_item(list, i));
	return texts;
}

static struct version *find(const struct sim_served *served, const char *name)
{
	struct version *v;

	SLIST_FOREACH(v, &served->versions, link) {
		if (!strcmp(v->resource->version, name))
			return v;
	}
	return NULL;
}

static void fill_names(struct sim_served *served, const struct sim_value *crd, struct sim_resource *r)
{
	const struct sim_value *names = sim_get(crd, "spec", "names");

	r->group = kept(served, sim_get(crd, "spec", "group"));
	r->plural = kept(served, sim_member(names, "plural"));
	r->kind = kept(served, sim_member(names, "kind"));
	r->namespaced = !strcmp(sim_text_or(sim_get(crd, "spec", "scope"), ""), "Namespaced");
	r->custom = r->needs_version = true;
}

/* Replaces *@text if it is another now. */
static void rename_to(struct sim_served *served, const char **text, const struct sim_value *name)
{
	if (!*text || strcmp(*text, sim_text_or(name, "")) != 0)
		*text = kept(served, name);
}

/* What may change while it is served. */
static void refresh(struct sim_served *served, struct version *v, const struct sim_value *crd,
	const struct sim_value *row)
{
	const struct sim_value *names = sim_get(crd, "status", "acceptedNames");
	struct sim_schema *before = v->schema;
	struct sim_value *columns = v->columns;
	const struct sim_value *schema = sim_get(row, "schema", "openAPIV3Schema");

	v->schema = schema ? sim_schema_new(schema, &(struct kar_err){ 0 }) : NULL;
	v->columns = sim_ref(sim_member(row, "additionalPrinterColumns"));
	v->resource->schema = v->schema;
	v->resource->columns = v->columns;
	v->resource->has_status = sim_get(row, "subresources", "status") != NULL;
	v->resource->unserved = !sim_bool_of(sim_member(row, "served"), false);
	rename_to(served, &v->resource->singular, sim_member(names, "singular"));
	rename_to(served, &v->resource->list_kind, sim_member(names, "listKind"));
	v->resource->short_names = served->short_names;
	v->resource->categories = served->categories;
	sim_schema_free(before);
	sim_unref(columns);
	v->seen = true;
}

static void serve(struct sim_served *served, const struct sim_value *crd, const struct sim_value *row)
{
	const char *name = sim_text_or(sim_member(row, "name"), "");
	struct version *v = find(served, name);
	struct sim_resource r = { .stored_as = served->storage };

	if (!v &&
		sim_resource_find(served->s, sim_text_or(sim_get(crd, "spec", "group"), ""), name,
			sim_text_or(sim_get(crd, "spec", "names", "plural"), "")))
		return; /* a built-in one: definitions do not replace these */
	if (!v) {
		fill_names(served, crd, &r);
		r.version = sim_keep(served->s, name);
		v = kar_xcalloc(1, sizeof(*v));
		v->resource = sim_resource_add(served->s, &r);
		SLIST_INSERT_HEAD(&served->versions, v, link);
		if (!served->storage)
			served->storage = v->resource;
	}
	refresh(served, v, crd, row);
}

static void drop(struct sim_served *served, struct version *v)
{
	SLIST_REMOVE(&served->versions, v, version, link);
	v->resource->schema = NULL;
	v->resource->columns = NULL;
	sim_resource_remove(served->s, v->resource);
	sim_schema_free(v->schema);
	sim_unref(v->columns);
	free(v);
}

static bool same_list(const char *const *known, const struct sim_value *list)
{
	size_t n = sim_count(list), i = 0;

	while (known && known[i] && i < n && !strcmp(known[i], sim_text_or(sim_item(list, i), "")))
		i++;
	return known && !known[i] && i == n;
}

static void set_list(struct sim_served *served, const char ***texts, const struct sim_value *list)
{
	const char **before = *texts;

	if (same_list(before, list))
		return;
	*texts = kept_list(served, list);
	free(before);
}

/* It still stores, but is served no more. */
static void hide(const struct sim_served *served, struct version *v)
{
	v->resource->unserved = true;
	v->resource->short_names = served->short_names;
	v->resource->categories = served->categories;
}

void sim_served_set(struct sim_served *served, const struct sim_value *crd)
{
	const struct sim_value *versions = sim_get(crd, "spec", "versions");
	struct version *v, *next;

	set_list(served, &served->short_names, sim_get(crd, "status", "acceptedNames", "shortNames"));
	set_list(served, &served->categories, sim_get(crd, "status", "acceptedNames", "categories"));
	SLIST_FOREACH(v, &served->versions, link)
		v->seen = false;
	/* The one that stores comes first: the others refer to it. It stays when another becomes the storage version. */
	for (size_t i = 0; !served->storage && i < sim_count(versions); i++) {
		if (sim_bool_of(sim_member(sim_item(versions, i), "storage"), false))
			serve(served, crd, sim_item(versions, i));
	}
	for (size_t i = 0; i < sim_count(versions); i++) {
		if (sim_bool_of(sim_member(sim_item(versions, i), "served"), false))
			serve(served, crd, sim_item(versions, i));
	}
	SLIST_FOREACH_SAFE(v, &served->versions, link, next) {
		if (v->seen)
			continue;
		if (served->storage && v->resource == served->storage)
			hide(served, v);
		else
			drop(served, v);
	}
}

void sim_served_close(struct sim_served *served)
{
	struct version *v;

	SLIST_FOREACH(v, &served->versions, link)
		v->resource->terminating = true;
}

struct sim_resource *sim_served_storage(const struct sim_served *served)
{
	return served->storage;
}

void sim_served_free(struct sim_served *served)
{
	struct version *v, *next;

	if (!served)
		return;
	SLIST_FOREACH_SAFE(v, &served->versions, link, next) {
		if (v->resource != served->storage)
			drop(served, v);
	}
	v = SLIST_FIRST(&served->versions);
	if (v)
		drop(served, v);
	free(served->short_names);
	free(served->categories);
	free(served);
}
