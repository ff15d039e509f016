#include "sim/apiserver/crd.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "sim/apiserver/schema.h"

struct sim_served {
	struct sim_apiserver *s;
	struct sim_resource *resource; /* owned by the server; NULL: not served yet */
	struct sim_schema *schema;
	struct sim_value *columns, *selectable;
	const char **short_names, **categories; /* NULL-terminated; what they hold is kept by the server */
};

struct sim_served *sim_served_new(struct sim_apiserver *s)
{
	struct sim_served *served = kar_xcalloc(1, sizeof(*served));

	served->s = s;
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

/* What never changes. NULL: it is a built-in resource; definitions do not replace these. */
static struct sim_resource *add(struct sim_served *served, const struct sim_value *crd,
	const struct sim_value *version)
{
	const struct sim_value *names = sim_get(crd, "spec", "names");
	const struct sim_resource r = { .group = kept(served, sim_get(crd, "spec", "group")),
		.version = kept(served, sim_member(version, "name")),
		.plural = kept(served, sim_member(names, "plural")),
		.kind = kept(served, sim_member(names, "kind")),
		.namespaced = !strcmp(sim_text_or(sim_get(crd, "spec", "scope"), ""), "Namespaced"),
		.custom = true,
		.needs_version = true };

	return sim_resource_find(served->s, r.group, r.version, r.plural) ? NULL
									  : sim_resource_add(served->s, &r);
}

/* Replaces *@text if it is another now. */
static void rename_to(struct sim_served *served, const char **text, const struct sim_value *name)
{
	if (!*text || strcmp(*text, sim_text_or(name, "")) != 0)
		*text = kept(served, name);
}

/* What may change while it is served. */
static void refresh(struct sim_served *served, const struct sim_value *crd, const struct sim_value *version)
{
	const struct sim_value *names = sim_get(crd, "status", "acceptedNames");
	const struct sim_value *schema = sim_get(version, "schema", "openAPIV3Schema");
	struct sim_schema *before = served->schema;
	struct sim_value *columns = served->columns, *selectable = served->selectable;
	struct sim_resource *r = served->resource;

	served->schema = schema ? sim_schema_new(schema, &(struct kar_err){ 0 }) : NULL;
	served->columns = sim_ref(sim_member(version, "additionalPrinterColumns"));
	r->schema = served->schema;
	served->selectable = sim_ref(sim_member(version, "selectableFields"));
	r->columns = served->columns;
	r->selectable = served->selectable;
	r->has_status = sim_get(version, "subresources", "status") != NULL;
	r->unserved = !sim_bool_of(sim_member(version, "served"), false);
	rename_to(served, &r->singular, sim_member(names, "singular"));
	rename_to(served, &r->list_kind, sim_member(names, "listKind"));
	r->short_names = served->short_names;
	r->categories = served->categories;
	sim_schema_free(before);
	sim_unref(columns);
	sim_unref(selectable);
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

void sim_served_set(struct sim_served *served, const struct sim_value *crd)
{
	const struct sim_value *version = sim_item(sim_get(crd, "spec", "versions"), 0);

	set_list(served, &served->short_names, sim_get(crd, "status", "acceptedNames", "shortNames"));
	set_list(served, &served->categories, sim_get(crd, "status", "acceptedNames", "categories"));
	if (!served->resource)
		served->resource = add(served, crd, version);
	if (served->resource)
		refresh(served, crd, version);
}

void sim_served_close(struct sim_served *served)
{
	if (served->resource)
		served->resource->terminating = true;
}

struct sim_resource *sim_served_resource(const struct sim_served *served)
{
	return served->resource;
}

void sim_served_free(struct sim_served *served)
{
	if (!served)
		return;
	if (served->resource) {
		served->resource->schema = NULL;
		served->resource->columns = served->resource->selectable = NULL;
		sim_resource_remove(served->s, served->resource);
	}
	sim_schema_free(served->schema);
	sim_unref(served->columns);
	sim_unref(served->selectable);
	free(served->short_names);
	free(served->categories);
	free(served);
}
