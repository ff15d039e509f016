/*
 * table_rows - objects as JSON and the cells that a table must have for them; every object was created 30 s before NOW.
 *
 * Header only: each test program is one file.
 */
#ifndef TEST_UNIT_TABLE_ROWS_H
#define TEST_UNIT_TABLE_ROWS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/timefmt.h"
#include "sim/apiserver/table.h"
#include "sim/test/fixture/sim_value.h"

#define NOW "2026-11-21T10:00:30Z"
#define CREATED "\"creationTimestamp\":\"2026-11-21T10:00:00Z\""
#define META(name) "\"metadata\":{\"name\":\"" name "\"," CREATED "}"

static inline kar_time now(void)
{
	kar_time wall = 0;

	kar_time_parse(NOW, &wall);
	return wall;
}

static inline struct sim_value *table_of(const struct sim_resource *r, const char *json, const char *include)
{
	struct sim_value *object = parse(json);
	const struct sim_value *items[] = { object };
	struct sim_value *table = sim_table(r, items, 1, include, now());

	sim_unref(object);
	return table;
}

static inline void check_cells(const char *name, const struct sim_resource *r, const char *json,
	const char *want)
{
	struct sim_value *table KAR_CLEANUP(sim_cleanup_value) = table_of(r, json, NULL);
	const struct sim_value *cells = sim_get(sim_item(sim_get(table, "rows"), 0), "cells");
	struct kar_buf got KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	sim_print(cells, &got);
	if (strcmp(kar_buf_cstr(&got), want) != 0)
		fail_msg("%s:\n  got  %s\n  want %s", name, kar_buf_cstr(&got), want);
	if (sim_count(cells) != sim_count(sim_get(table, "columnDefinitions")))
		fail_msg("%s: %zu cells, %zu columns", name, sim_count(cells),
			sim_count(sim_get(table, "columnDefinitions")));
}

#endif
