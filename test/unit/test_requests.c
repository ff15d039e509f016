/* What a pod asks for (common/sched/requests.h). Quantities that a text names are separated by spaces: "cpu=1 memory=1Gi". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/sched/requests.h"

enum { MOST_CONTAINERS = 4 };

/* Texts of containers stand in the order of the spec; an init container that begins with "sidecar" is one. */
static const struct {
	const char *name, *containers[MOST_CONTAINERS], *init[MOST_CONTAINERS], *pod, *overhead, *total;
} rows[] = {
	{ "nothing_is_asked_for", { "" }, { 0 }, NULL, NULL, "" },
	{ "containers_are_added_up", { "cpu=1 memory=1Gi", "cpu=500m", "" }, { 0 }, NULL, NULL,
		"cpu=1500m memory=1Gi" },
	{ "sums_are_exact_and_rounded_once", { "cpu=0.5m memory=1500m", "cpu=0.5m memory=1500m" }, { 0 },
		NULL, NULL, "cpu=1m memory=3" },
	{ "largest_init_container_counts_for_each_resource", { "cpu=1 memory=1Gi" },
		{ "cpu=3", "cpu=2 memory=2Gi" }, NULL, NULL, "cpu=3 memory=2Gi" },
	{ "sidecar_runs_beside_the_containers", { "cpu=4" }, { "sidecar cpu=1", "cpu=2" }, NULL, NULL,
		"cpu=5" },
	{ "sidecar_runs_beside_init_containers_after_it", { "cpu=1" }, { "cpu=2", "sidecar cpu=1", "cpu=4" },
		NULL, NULL, "cpu=5" },
	{ "sidecar_is_not_there_before_its_turn", { "cpu=1" }, { "cpu=4", "sidecar cpu=1" }, NULL, NULL,
		"cpu=4" },
	{ "all_sidecars_start_before_the_last_init_container", { "" },
		{ "sidecar cpu=1", "sidecar gpu=2", "cpu=1" }, NULL, NULL, "cpu=2 gpu=2" },
	{ "requests_of_the_pod_replace_what_they_name", { "cpu=1 memory=1Mi" }, { "cpu=9" }, "cpu=8", NULL,
		"cpu=8 memory=1Mi" },
	{ "overhead_is_on_top_of_all", { "cpu=1" }, { 0 }, "cpu=8", "cpu=250m memory=1Mi",
		"cpu=8250m memory=1Mi" },
	{ "sums_do_not_overflow", { "gpu=1e28", "gpu=1e28" }, { "sidecar gpu=1e28" }, NULL, "gpu=1e28",
		"gpu=10e27" },
};

static void add(struct kar_amounts *out, const char *text)
{
	char *copy = kar_xstrdup(text), *rest = copy, *item;

	while ((item = strsep(&rest, " "))) {
		char *amount = strchr(item, '=');
		struct kar_quantity q;

		if (!amount)
			continue;
		*amount = '\0';
		assert_int_equal(kar_quantity_parse(amount + 1, &q, NULL), 0);
		kar_amounts_add(out, item, &q);
	}
	free(copy);
}

static size_t read_containers(const char *const texts[MOST_CONTAINERS],
	struct kar_container_requests out[MOST_CONTAINERS])
{
	size_t n = 0;

	for (; n < MOST_CONTAINERS && texts[n]; n++) {
		out[n].sidecar = strncmp(texts[n], "sidecar", strlen("sidecar")) == 0;
		add(&out[n].amounts, texts[n]);
	}
	return n;
}

static void print(const struct kar_amounts *a, struct kar_buf *out)
{
	char text[KAR_QUANTITY_LEN];

	for (size_t i = 0; i < a->n; i++)
		kar_buf_printf(out, "%s%s=%s", i ? " " : "", a->items[i].name,
			kar_quantity_text(&a->items[i].q, text));
}

static void pod_asks_for_what_kube_scheduler_counts(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_container_requests containers[MOST_CONTAINERS] = { 0 },
					      init[MOST_CONTAINERS] = { 0 };
		struct kar_amounts pod = { 0 }, overhead = { 0 }, total = { 0 };
		struct kar_buf is = { 0 };
		size_t n = read_containers(rows[i].containers, containers),
		       n_init = read_containers(rows[i].init, init);

		add(&pod, rows[i].pod ? rows[i].pod : "");
		add(&overhead, rows[i].overhead ? rows[i].overhead : "");
		kar_pod_requests_total(&(struct kar_pod_requests){ .containers = containers,
					       .n_containers = n,
					       .init_containers = init,
					       .n_init_containers = n_init,
					       .pod = rows[i].pod ? &pod : NULL,
					       .overhead = rows[i].overhead ? &overhead : NULL },
			&total);
		print(&total, &is);
		if (strcmp(kar_buf_cstr(&is), rows[i].total) != 0)
			fail_msg("%s: asks for \"%s\", expected \"%s\"", rows[i].name, kar_buf_cstr(&is),
				rows[i].total);
		kar_buf_release(&is);
		for (size_t c = 0; c < MOST_CONTAINERS; c++) {
			kar_amounts_release(&containers[c].amounts);
			kar_amounts_release(&init[c].amounts);
		}
		kar_amounts_release(&pod);
		kar_amounts_release(&overhead);
		kar_amounts_release(&total);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(pod_asks_for_what_kube_scheduler_counts) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
