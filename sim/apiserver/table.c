#include "sim/apiserver/table.h"

#include <string.h>

/* ---- cells ---- */

void sim_cell(struct sim_row *row, struct sim_value *consumed)
{
	sim_append(&row->cells, consumed);
}

void sim_cell_text(struct sim_row *row, const char *text)
{
	sim_cell(row, sim_string(text ? text : ""));
}

void sim_cell_int(struct sim_row *row, int64_t n)
{
	sim_cell(row, sim_int(n));
}

void sim_cell_name(struct sim_row *row)
{
	sim_cell_text(row, sim_get_text(row->object, "metadata", "name"));
}

void sim_cell_age(struct sim_row *row)
{
	char text[32];

	sim_cell_text(row,
		sim_since(row->now, sim_get_text(row->object, "metadata", "creationTimestamp"), text));
}

/* ---- types without a printer ---- */

static const struct sim_column default_columns[] = {
	SIM_COLUMN_NAME,
	{ "Created At", "date", "When the object was created.", 0, NULL },
	{ 0 },
};

static void print_default(struct sim_row *row)
{
	sim_cell_name(row);
	sim_cell_text(row, sim_get_text(row->object, "metadata", "creationTimestamp"));
}

static const struct sim_printer default_printer = { "", "", default_columns, print_default };

static const struct sim_printer *find_in(const struct sim_printer *list, const struct sim_resource *r)
{
	for (; list->plural; list++) {
		if (!strcmp(list->group, r->group) && !strcmp(list->plural, r->plural))
			return list;
	}
	return NULL;
}

static const struct sim_printer *find_printer(const struct sim_resource *r)
{
	const struct sim_printer *const lists[] = { sim_printers_core, sim_printers_service,
		sim_printers_crd };

	if (!*r->group && !strcmp(r->plural, "pods"))
		return &sim_printer_pod;
	for (size_t i = 0; i < KAR_LEN(lists); i++) {
		const struct sim_printer *p = find_in(lists[i], r);

		if (p)
			return p;
	}
	return &default_printer;
}

static struct sim_value *column(const struct sim_column *c)
{
	struct sim_value *v = sim_object();

	sim_set_text(&v, c->name, "name");
	sim_set_text(&v, c->type, "type");
	sim_set_text(&v, c->format ? c->format : "", "format");
	sim_set_text(&v, c->description, "description");
	sim_set(&v, sim_int(c->priority), "priority");
	return v;
}

static struct sim_value *columns_of(const struct sim_printer *p)
{
	struct sim_value *columns = sim_array();

	for (const struct sim_column *c = p->columns; c->name; c++)
		sim_append(&columns, column(c));
	return columns;
}

/* ---- custom resources ---- */

static struct sim_value *custom_column(const struct sim_value *defined)
{
	const char *description = sim_get_text(defined, "description");
	const struct sim_column c = {
		.name = sim_text_or(sim_get(defined, "name"), ""),
		.type = sim_text_or(sim_get(defined, "type"), ""),
		.format = sim_get_text(defined, "format"),
		.priority = (int)sim_get_int(defined, 0, "priority"),
		.description = "",
	};
	struct sim_value *v = column(&c);

	if (description && *description)
		sim_set_text(&v, description, "description");
	else
		sim_set(&v,
			sim_printf("Custom resource definition column (in JSONPath format): %s",
				sim_text_or(sim_get(defined, "jsonPath"), "")),
			"description");
	return v;
}

static const struct sim_column name_and_age[] = { SIM_COLUMN_NAME, SIM_COLUMN_AGE };

static struct sim_value *custom_columns(const struct sim_value *defined)
{
	struct sim_value *columns = sim_array();

	sim_append(&columns, column(&name_and_age[0]));
	for (size_t i = 0; i < sim_count(defined); i++)
		sim_append(&columns, custom_column(sim_item(defined, i)));
	if (!defined) {
		struct sim_value *age = column(&name_and_age[1]);

		sim_set_text(&age, "date", "type");
		sim_append(&columns, age);
	}
	return columns;
}

static void print_custom(struct sim_row *row, const struct sim_value *defined)
{
	sim_cell_name(row);
	for (size_t i = 0; i < sim_count(defined); i++) {
		const struct sim_value *c = sim_item(defined, i);

		sim_cell(row,
			sim_custom_cell(row->object, sim_text_or(sim_get(c, "jsonPath"), ""),
				sim_text_or(sim_get(c, "type"), ""), row->now));
	}
	if (!defined)
		sim_cell_age(row);
}

/* ---- the table ---- */

static struct sim_value *row_object(const struct sim_value *object, const char *include)
{
	struct sim_value *v;

	if (include && !strcmp(include, "None"))
		return sim_null();
	if (include && !strcmp(include, "Object"))
		return sim_ref(object);
	v = sim_object();
	sim_set_text(&v, "PartialObjectMetadata", "kind");
	sim_set_text(&v, "meta.k8s.io/v1", "apiVersion");
	if (sim_get(object, "metadata"))
		sim_set(&v, sim_ref(sim_get(object, "metadata")), "metadata");
	return v;
}

static struct sim_value *row_of(const struct sim_resource *r, const struct sim_value *object,
	const char *include, kar_time now)
{
	struct sim_row row = { .object = object, .now = now, .cells = sim_array() };
	struct sim_value *v = sim_object();

	if (r->custom)
		print_custom(&row, r->columns);
	else
		find_printer(r)->print(&row);
	sim_set(&v, row.cells, "cells");
	if (row.conditions)
		sim_set(&v, row.conditions, "conditions");
	sim_set(&v, row_object(object, include), "object");
	return v;
}

struct sim_value *sim_table(const struct sim_resource *r, const struct sim_value *const *items, size_t n,
	const char *include, kar_time now)
{
	struct sim_value *table = sim_object(), *rows = sim_array();

	sim_set_text(&table, "Table", "kind");
	sim_set_text(&table, "meta.k8s.io/v1", "apiVersion");
	sim_set(&table, sim_object(), "metadata"); /* holds the place */
	sim_set(&table, r->custom ? custom_columns(r->columns) : columns_of(find_printer(r)),
		"columnDefinitions");
	for (size_t i = 0; i < n; i++)
		sim_append(&rows, row_of(r, items[i], include, now));
	sim_set(&table, rows, "rows");
	return table;
}
