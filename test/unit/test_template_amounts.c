/* What a ResourceQuota charges for a pod, as far as its template says (api/template_amounts.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/template_amounts.h"
#include "common/buf.h"
#include "common/mem.h"

#define SPEC(rest) "{\"spec\":{" rest "}}"
#define CONTAINERS(list) SPEC("\"containers\":[" list "]")
#define ASKS(requests, limits) "{\"resources\":{\"requests\":{" requests "},\"limits\":{" limits "}}}"

static const struct {
	const char *name, *template, *amounts;
} rows[] = {
	{ "nothing", CONTAINERS("{\"name\":\"c\"}"), "" },
	{ "containers_are_added_up", CONTAINERS(ASKS("\"cpu\":\"500m\"", "") "," ASKS("\"cpu\":1", "")),
		"requests.cpu=1500m" },
	{ "limit_is_the_request_too", CONTAINERS(ASKS("\"cpu\":1", "\"cpu\":\"2\",\"nvidia.com/gpu\":1")),
		"requests.cpu=1 requests.nvidia.com/gpu=1 limits.cpu=2 limits.nvidia.com/gpu=1" },
	{ "most_of_the_init_containers",
		SPEC("\"initContainers\":[" ASKS("\"cpu\":3", "") "," ASKS("\"cpu\":2",
			"") "],\"containers\":[" ASKS("\"cpu\":1", "") "]"),
		"requests.cpu=3" },
	{ "sidecar_runs_beside_the_containers",
		SPEC("\"initContainers\":[{\"restartPolicy\":\"Always\",\"resources\":{\"requests\":{\"cpu\":1}}}],"
		     "\"containers\":[" ASKS("\"cpu\":2", "") "]"),
		"requests.cpu=3" },
	{ "no_quantity_is_left_out", CONTAINERS(ASKS("\"cpu\":\"a lot\",\"memory\":\"1Gi\"", "")),
		"requests.memory=1Gi" },
	{ "resources_of_the_whole_pod_are_not_known",
		SPEC("\"resources\":{\"requests\":{\"cpu\":1}},\"containers\":[" ASKS("\"cpu\":9", "") "]"),
		"" },
	{ "unreadable", CONTAINERS("{\"resources\":7}"), "" },
	{ "no_template", "", "" },
};

static void print(const struct kar_array *amounts, struct kar_buf *out)
{
	const struct kar_quota_amount *a = amounts->items;
	char text[KAR_QUANTITY_LEN];

	for (size_t i = 0; i < amounts->n; i++)
		kar_buf_printf(out, "%s%s=%s", i ? " " : "", a[i].resource, kar_quantity_text(&a[i].q, text));
}

static void amounts_are_those_that_a_quota_charges(void **state)
{
	int failed = 0;

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_arena mem = { 0 };
		struct kar_buf got = { 0 };
		const struct kar_str raw = { rows[i].template, strlen(rows[i].template) };
		struct kar_array amounts = kar_template_amounts(raw, &mem);

		print(&amounts, &got);
		if (strcmp(kar_buf_cstr(&got), rows[i].amounts) != 0) {
			print_error("%s: %s\n", rows[i].name, kar_buf_cstr(&got));
			failed++;
		}
		kar_buf_release(&got);
		kar_arena_release(&mem);
	}
	assert_int_equal(failed, 0);
}

static void long_lists_are_cut(void **state)
{
	struct kar_arena mem = { 0 };
	struct kar_buf text = { 0 };
	struct kar_array amounts;

	(void)state;
	kar_buf_puts(&text, "{\"spec\":{\"containers\":[{\"resources\":{\"requests\":{\"a\":1");
	for (int i = 0; i < 1000; i++)
		kar_buf_printf(&text, ",\"r%d\":1", i);
	kar_buf_puts(&text, "}}}]}}");
	amounts = kar_template_amounts((struct kar_str){ text.p, text.n }, &mem);
	assert_int_equal(amounts.n, KAR_MAX_AMOUNTS);
	kar_buf_release(&text);
	kar_arena_release(&mem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(amounts_are_those_that_a_quota_charges),
		cmocka_unit_test(long_lists_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
