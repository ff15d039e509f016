/*
 * sim_apply_fixture - what somebody applies, and who owns what then. For one test executable: all functions are static. Include
 * after cmocka.h.
 */
#ifndef KAR_TEST_SIM_APPLY_FIXTURE_H
#define KAR_TEST_SIM_APPLY_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include "sim/apiserver/apply.h"
#include "sim/apiserver/apply_impl.h"
#include "sim/test/fixture/sim_thing.h"

static KAR_UNUSED int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static KAR_UNUSED void add_path(void *arg, const char *path)
{
	kar_buf_printf(arg, " %s", path);
}

/* Lines "manager operation[/subresource] paths", sorted. The caller frees it. */
static KAR_UNUSED char *owners_of(const struct sim_value *object)
{
	const struct sim_value *entries = sim_get(object, "metadata", "managedFields");
	char *lines[32];
	struct kar_buf out = { 0 };
	size_t n = sim_count(entries);

	assert_true(n <= KAR_LEN(lines));
	for (size_t i = 0; i < n; i++) {
		const struct sim_value *e = sim_item(entries, i);
		const char *sub = sim_get_text(e, "subresource");
		struct kar_buf line = { 0 };

		kar_buf_printf(&line, "%s %s%s%s", sim_get_text(e, "manager"), sim_get_text(e, "operation"),
			sub ? "/" : "", sub ? sub : "");
		apply_set_each(sim_member(e, "fieldsV1"), add_path, &line);
		lines[i] = kar_buf_detach(&line);
	}
	qsort(lines, n, sizeof(lines[0]), by_text);
	for (size_t i = 0; i < n; i++) {
		kar_buf_printf(&out, "%s%s", i ? "\n" : "", lines[i]);
		free(lines[i]);
	}
	return kar_buf_detach(&out);
}

static KAR_UNUSED struct sim_value *config_of(const char *request)
{
	struct sim_value *v = tree(request);

	sim_set_text(&v, "s2.io/v1", "apiVersion");
	sim_set_text(&v, "Thing", "kind");
	sim_set_text(&v, "ap", "metadata", "name");
	return v;
}

/* As the server goes on with the object that comes out. */

#endif
