#include "sim/apiserver/discovery.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

/* ---- parts of documents ---- */

static struct sim_value *text_list(const char *const *texts)
{
	struct sim_value *v = sim_array();

	for (; texts && *texts; texts++)
		sim_append(&v, sim_string(*texts));
	return v;
}

static void set_texts(struct sim_value **v, const char *key, const char *const *texts)
{
	if (texts && *texts)
		sim_set(v, text_list(texts), key);
}

/* Built-in types list their verbs by name, custom resources in this order. */
static struct sim_value *verbs_of(const struct sim_resource *r)
{
	static const enum kar_verb built_in[] = { KAR_CREATE, KAR_DELETE, KAR_DELETECOLLECTION, KAR_GET,
		KAR_LIST, KAR_PATCH, KAR_UPDATE, KAR_WATCH };
	static const enum kar_verb custom[] = { KAR_DELETE, KAR_DELETECOLLECTION, KAR_GET, KAR_LIST,
		KAR_PATCH, KAR_CREATE, KAR_UPDATE, KAR_WATCH };
	const enum kar_verb *order = r->custom ? custom : built_in;
	struct sim_value *v = sim_array();

	for (size_t i = 0; i < KAR_LEN(built_in); i++) {
		if (!r->verbs || (r->verbs & 1u << order[i]))
			sim_append(&v, sim_string(kar_verb_name(order[i])));
	}
	return v;
}

static struct sim_value *status_verbs(void)
{
	return text_list((const char *const[]){ "get", "patch", "update", NULL });
}

static struct sim_value *group_version_text(const char *group, const char *version)
{
	return *group ? sim_printf("%s/%s", group, version) : sim_string(version);
}

/* Resources of a version by name, as the API server lists them. */
struct listed {
	const struct sim_resource **items; /* owned */
	size_t n;
};

static int by_plural(const void *a, const void *b)
{
	return strcmp((*(const struct sim_resource *const *)a)->plural,
		(*(const struct sim_resource *const *)b)->plural);
}

static struct listed list_resources(const struct sim_apiserver *s, const char *group, const char *version)
{
	struct listed l = { 0 };
	const struct sim_resource *r;

	for (size_t i = 0; (r = sim_resource_at(s, i)) != NULL; i++) {
		if (r->unserved || strcmp(r->group, group) != 0 || strcmp(r->version, version) != 0)
			continue;
		l.items = kar_xrealloc(l.items, l.n + 1, sizeof(*l.items));
		l.items[l.n++] = r;
	}
	if (l.n)
		qsort(l.items, l.n, sizeof(*l.items), by_plural);
	return l;
}

/* ---- one document per version: APIResourceList ---- */

static struct sim_value *resource_entry(const struct sim_resource *r)
{
	struct sim_value *v = sim_object();

	sim_set_text(&v, r->plural, "name");
	sim_set_text(&v, r->singular, "singularName");
	sim_set(&v, sim_bool(r->namespaced), "namespaced");
	sim_set_text(&v, r->kind, "kind");
	sim_set(&v, verbs_of(r), "verbs");
	set_texts(&v, "shortNames", r->short_names);
	set_texts(&v, "categories", r->categories);
	return v;
}

/* @sub NULL: status. */
static struct sim_value *subresource_entry(const struct sim_resource *r, const struct sim_subresource *sub)
{
	struct sim_value *v = sim_object(), *verbs = sub ? sim_array() : status_verbs();

	if (sub)
		sim_append(&verbs, sim_string(kar_verb_name(sub->verb)));
	sim_set(&v, sim_printf("%s/%s", r->plural, sub ? sub->name : "status"), "name");
	sim_set_text(&v, "", "singularName");
	sim_set(&v, sim_bool(r->namespaced), "namespaced");
	if (sub && sub->kind_group && *sub->kind_group) {
		sim_set_text(&v, sub->kind_group, "group");
		sim_set_text(&v, sub->kind_version, "version");
	}
	sim_set_text(&v, sub && sub->kind ? sub->kind : r->kind, "kind");
	sim_set(&v, verbs, "verbs");
	return v;
}

static void add_entries(struct sim_value **out, const struct sim_resource *r)
{
	const struct sim_subresource *sub;

	sim_append(out, resource_entry(r));
	for (size_t i = 0; (sub = sim_subresource_at(r, i)) != NULL; i++)
		sim_append(out, subresource_entry(r, sub));
	if (r->has_status)
		sim_append(out, subresource_entry(r, NULL));
}

static struct sim_value *resource_list(const struct sim_apiserver *s, const char *group, const char *version)
{
	struct listed l = list_resources(s, group, version);
	struct sim_value *v, *resources = sim_array();

	for (size_t i = 0; i < l.n; i++)
		add_entries(&resources, l.items[i]);
	free(l.items);
	v = sim_object();
	sim_set_text(&v, "APIResourceList", "kind");
	if (*group)
		sim_set_text(&v, "v1", "apiVersion");
	sim_set(&v, group_version_text(group, version), "groupVersion");
	sim_set(&v, resources, "resources");
	return v;
}

/* ---- /api, /apis, /apis/GROUP ---- */

static struct sim_value *api_versions(const char *address)
{
	struct sim_value *v = sim_object(), *cidr = sim_object(), *cidrs = sim_array();

	sim_set_text(&v, "APIVersions", "kind");
	sim_set(&v, text_list((const char *const[]){ "v1", NULL }), "versions");
	sim_set_text(&cidr, "0.0.0.0/0", "clientCIDR");
	sim_set_text(&cidr, address, "serverAddress");
	sim_append(&cidrs, cidr);
	sim_set(&v, cidrs, "serverAddressByClientCIDRs");
	return v;
}

static struct sim_value *version_entry(const struct sim_group_version *gv)
{
	struct sim_value *v = sim_object();

	sim_set(&v, group_version_text(gv->group, gv->version), "groupVersion");
	sim_set_text(&v, gv->version, "version");
	return v;
}

/* Of versions the first one is preferred. */
static void fill_group(struct sim_value **v, const struct sim_group_versions *l, const char *group)
{
	struct sim_value *versions = sim_array();

	for (size_t i = 0; i < l->n; i++) {
		if (!strcmp(l->items[i].group, group))
			sim_append(&versions, version_entry(&l->items[i]));
	}
	sim_set_text(v, group, "name");
	sim_set(v, sim_ref(sim_item(versions, 0)), "preferredVersion");
	sim_set(v, versions, "versions");
}

static struct sim_value *group_list(const struct sim_group_versions *l)
{
	struct sim_value *v = sim_object(), *groups = sim_array();

	sim_set_text(&v, "APIGroupList", "kind");
	sim_set_text(&v, "v1", "apiVersion");
	for (size_t i = 0; i < l->n; i++) {
		struct sim_value *group;

		if (!*l->items[i].group || (i && !strcmp(l->items[i].group, l->items[i - 1].group)))
			continue;
		group = sim_object();
		fill_group(&group, l, l->items[i].group);
		sim_append(&groups, group);
	}
	sim_set(&v, groups, "groups");
	return v;
}

static struct sim_value *one_group(const struct sim_group_versions *l, const char *group)
{
	struct sim_value *v = sim_object();

	sim_set_text(&v, "APIGroup", "kind");
	sim_set_text(&v, "v1", "apiVersion");
	fill_group(&v, l, group);
	return v;
}

/* ---- aggregated: everything in one document ---- */

/* Built-in types leave group and version out: they are those of the list. */
static struct sim_value *response_kind(const struct sim_resource *r, const struct sim_subresource *sub)
{
	struct sim_value *v = sim_object();
	bool other = sub && sub->kind;

	sim_set_text(&v, other ? sub->kind_group : r->custom ? r->group : "", "group");
	sim_set_text(&v,
		other && *sub->kind_group ? sub->kind_version
			: r->custom       ? r->version
					  : "",
		"version");
	sim_set_text(&v, other ? sub->kind : r->kind, "kind");
	return v;
}

static void add_aggregated_subresource(struct sim_value **list, const struct sim_resource *r,
	const struct sim_subresource *sub)
{
	struct sim_value *v = sim_object(), *verbs = sub ? sim_array() : status_verbs();

	if (sub)
		sim_append(&verbs, sim_string(kar_verb_name(sub->verb)));
	sim_set_text(&v, sub ? sub->name : "status", "subresource");
	sim_set(&v, response_kind(r, sub), "responseKind");
	sim_set(&v, verbs, "verbs");
	sim_append(list, v);
}

static struct sim_value *aggregated_resource(const struct sim_resource *r)
{
	struct sim_value *v = sim_object(), *subs = sim_array();
	const struct sim_subresource *sub;

	sim_set_text(&v, r->plural, "resource");
	sim_set(&v, response_kind(r, NULL), "responseKind");
	sim_set_text(&v, r->namespaced ? "Namespaced" : "Cluster", "scope");
	sim_set_text(&v, r->singular, "singularResource");
	sim_set(&v, verbs_of(r), "verbs");
	set_texts(&v, "shortNames", r->short_names);
	set_texts(&v, "categories", r->categories);
	for (size_t i = 0; (sub = sim_subresource_at(r, i)) != NULL; i++)
		add_aggregated_subresource(&subs, r, sub);
	if (r->has_status)
		add_aggregated_subresource(&subs, r, NULL);
	if (sim_count(subs))
		sim_set(&v, sim_ref(subs), "subresources");
	sim_unref(subs);
	return v;
}

static struct sim_value *aggregated_version(const struct sim_apiserver *s, const struct sim_group_version *gv)
{
	struct listed l = list_resources(s, gv->group, gv->version);
	struct sim_value *v = sim_object(), *resources = sim_array();

	for (size_t i = 0; i < l.n; i++)
		sim_append(&resources, aggregated_resource(l.items[i]));
	free(l.items);
	sim_set_text(&v, gv->version, "version");
	sim_set(&v, resources, "resources");
	sim_set_text(&v, "Current", "freshness");
	return v;
}

/* The group that begins at *@at, which is moved behind it. */
static struct sim_value *aggregated_group(const struct sim_apiserver *s, const struct sim_group_versions *l,
	size_t *at)
{
	const char *group = l->items[*at].group;
	struct sim_value *v = sim_object(), *meta = sim_object(), *versions = sim_array();

	if (*group)
		sim_set_text(&meta, group, "name");
	for (; *at < l->n && !strcmp(l->items[*at].group, group); ++*at)
		sim_append(&versions, aggregated_version(s, &l->items[*at]));
	sim_set(&v, meta, "metadata");
	sim_set(&v, versions, "versions");
	return v;
}

static struct sim_value *aggregated_list(const struct sim_apiserver *s, const struct sim_group_versions *l,
	bool core)
{
	struct sim_value *v = sim_object(), *items = sim_array();

	sim_set_text(&v, "APIGroupDiscoveryList", "kind");
	sim_set_text(&v, "apidiscovery.k8s.io/v2", "apiVersion");
	sim_set(&v, sim_object(), "metadata");
	for (size_t i = 0; i < l->n;) {
		bool wanted = (*l->items[i].group == '\0') == core;
		struct sim_value *group = aggregated_group(s, l, &i);

		if (wanted)
			sim_append(&items, sim_ref(group));
		sim_unref(group);
	}
	sim_set(&v, items, "items");
	return v;
}

/* ---- paths ---- */

static struct sim_value *all_paths(const struct sim_group_versions *l)
{
	static const char *const others[] = { "/healthz", "/livez", "/openapi/v2", "/openapi/v3", "/readyz",
		"/version" };
	struct sim_value *v = sim_object(),
			 *paths = text_list((const char *const[]){ "/api", "/api/v1", "/apis", NULL });

	for (size_t i = 0; i < l->n; i++) {
		const struct sim_group_version *gv = &l->items[i];

		if (!*gv->group)
			continue;
		if (!i || strcmp(gv->group, l->items[i - 1].group) != 0)
			sim_append(&paths, sim_printf("/apis/%s", gv->group));
		sim_append(&paths, sim_printf("/apis/%s/%s", gv->group, gv->version));
	}
	for (size_t i = 0; i < KAR_LEN(others); i++)
		sim_append(&paths, sim_string(others[i]));
	sim_set(&v, paths, "paths");
	return v;
}

/* GROUP or GROUP/VERSION */
static struct sim_value *below_apis(const struct sim_apiserver *s, const struct sim_group_versions *l,
	const char *rest)
{
	const char *slash = strchr(rest, '/');
	char *group = kar_xstrndup(rest, slash ? (size_t)(slash - rest) : strlen(rest));
	struct sim_value *v = NULL;

	if (*group && sim_group_is_served(s, group, slash ? slash + 1 : NULL))
		v = slash ? resource_list(s, group, slash + 1) : one_group(l, group);
	free(group);
	return v;
}

static struct sim_value *document(const struct sim_apiserver *s, const struct sim_group_versions *l,
	const char *path, bool aggregated, const char *address)
{
	if (!strcmp(path, ""))
		return all_paths(l);
	if (!strcmp(path, "/api"))
		return aggregated ? aggregated_list(s, l, true) : api_versions(address);
	if (!strcmp(path, "/apis"))
		return aggregated ? aggregated_list(s, l, false) : group_list(l);
	if (!strcmp(path, "/api/v1"))
		return resource_list(s, "", "v1");
	return strncmp(path, "/apis/", 6) ? NULL : below_apis(s, l, path + 6);
}

struct sim_value *sim_discovery(const struct sim_apiserver *s, const char *path, bool aggregated,
	const char *address)
{
	struct sim_group_versions l = sim_group_versions_of(s);
	size_t n = strlen(path);
	struct sim_value *v;
	char *trimmed;

	while (n && path[n - 1] == '/')
		n--;
	trimmed = kar_xstrndup(path, n);
	v = document(s, &l, trimmed, aggregated, address);
	free(trimmed);
	sim_group_versions_release(&l);
	return v;
}

struct sim_value *sim_version_info(void)
{
	static const char *const texts[][2] = {
		{ "major", "1" },
		{ "minor", "37" },
		{ "gitVersion", "v1.37.1+kar-sim" },
		{ "gitCommit", "" },
		{ "gitTreeState", "" },
		{ "buildDate", "1970-01-01T00:00:00Z" },
		{ "goVersion", "" },
		{ "compiler", "" },
		{ "platform", "linux" },
	};
	struct sim_value *v = sim_object();

	for (size_t i = 0; i < KAR_LEN(texts); i++)
		sim_set_text(&v, texts[i][1], texts[i][0]);
	return v;
}
