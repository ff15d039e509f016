/* The columns of CustomResourceDefinitions. */
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "sim/apiserver/table.h"

static const struct sim_column columns[] = {
	SIM_COLUMN_NAME,
	{ "Scope", "string", "Whether its objects are in namespaces.", 0, NULL },
	{ "Versions", "string", "Versions that are served.", 0, NULL },
	{ "Created At", "date", "When it was created.", 0, NULL },
	{ "Group", "string", "Group of its API.", 1, NULL },
	{ "Kind", "string", "Kind of its objects.", 1, NULL },
	{ "ShortNames", "string", "Other names for it.", 1, NULL },
	{ "Established", "boolean", "Whether it is served.", 1, NULL },
	{ 0 },
};

static int by_text(const void *a, const void *b)
{
	return strcmp(sim_text_or(*(const struct sim_value *const *)a, ""),
		sim_text_or(*(const struct sim_value *const *)b, ""));
}

/* "v1(storage)" */
static struct sim_value *version_text(const struct sim_value *version)
{
	bool stores = sim_bool_of(sim_member(version, "storage"), false);

	return sim_printf("%s%s", sim_text_or(sim_member(version, "name"), ""), stores ? "(storage)" : "");
}

/* Those that are served, by name. */
static struct sim_value *versions_text(const struct sim_value *versions)
{
	struct kar_buf out KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	struct sim_value **texts = kar_xcalloc(sim_count(versions) + 1, sizeof(struct sim_value *));
	size_t n = 0;

	for (size_t i = 0; i < sim_count(versions); i++) {
		if (sim_bool_of(sim_member(sim_item(versions, i), "served"), false))
			texts[n++] = version_text(sim_item(versions, i));
	}
	qsort(texts, n, sizeof(struct sim_value *), by_text);
	for (size_t i = 0; i < n; i++) {
		kar_buf_printf(&out, "%s%s", i ? "," : "", sim_text_or(texts[i], ""));
		sim_unref(texts[i]);
	}
	free(texts);
	return sim_string(kar_buf_cstr(&out));
}

static struct sim_value *short_names_text(const struct sim_value *names)
{
	struct kar_buf out KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	for (size_t i = 0; i < sim_count(names); i++)
		kar_buf_printf(&out, "%s%s", i ? "," : "", sim_text_or(sim_item(names, i), ""));
	return sim_string(kar_buf_cstr(&out));
}

static void print(struct sim_row *row)
{
	const struct sim_value *spec = sim_get(row->object, "spec");
	const struct sim_value *established = sim_condition(row->object, "Established");

	sim_cell_name(row);
	sim_cell_text(row, sim_get_text(spec, "scope"));
	sim_cell(row, versions_text(sim_get(spec, "versions")));
	sim_cell_text(row, sim_get_text(row->object, "metadata", "creationTimestamp"));
	sim_cell_text(row, sim_get_text(spec, "group"));
	sim_cell_text(row, sim_get_text(spec, "names", "kind"));
	sim_cell(row, short_names_text(sim_get(spec, "names", "shortNames")));
	sim_cell(row,
		sim_bool(established && !strcmp(sim_text_or(sim_get(established, "status"), ""), "True")));
}

const struct sim_printer sim_printers_crd[] = {
	{ "apiextensions.k8s.io", "customresourcedefinitions", columns, print },
	{ 0 },
};
