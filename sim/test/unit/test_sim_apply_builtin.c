/*
 * Server-side apply of built-in types: what comes out and who owns what is what a Kubernetes 1.37 API server answered to the same
 * requests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/mem.h"
#include "sim/test/unit/sim_apply_fixture.h"

static void built_in(void **state)
{
	static const struct {
		const char *manager, *config, *owners;
	} steps[] = {
		{ "m1",
			"{'spec':{'replicas':1,'selector':{'matchLabels':{'app':'d'}},'template':{'metadata':{'labels':{'app':'d'}},'spec':"
			"{'nodeSelector':{'a':'1'},'containers':[{'name':'c','image':'i','ports':[{'containerPort':80},{'containerPort':80,"
			"'protocol':'UDP'}],'env':[{'name':'A','value':'1'}]}],'tolerations':[{'key':'k'}]}}}}",
			"m1 Apply .spec.replicas .spec.selector .spec.template.metadata.labels.app .spec.template.spec.nodeSelector "
			".spec.template.spec.tolerations .spec.template.spec.containers[name=\"c\"] "
			".spec.template.spec.containers[name=\"c\"].image .spec.template.spec.containers[name=\"c\"].name "
			".spec.template.spec.containers[name=\"c\"].env[name=\"A\"] "
			".spec.template.spec.containers[name=\"c\"].env[name=\"A\"].name "
			".spec.template.spec.containers[name=\"c\"].env[name=\"A\"].value "
			".spec.template.spec.containers[name=\"c\"].ports[containerPort=80,protocol=\"TCP\"] "
			".spec.template.spec.containers[name=\"c\"].ports[containerPort=80,protocol=\"UDP\"] "
			".spec.template.spec.containers[name=\"c\"].ports[containerPort=80,protocol=\"TCP\"].containerPort "
			".spec.template.spec.containers[name=\"c\"].ports[containerPort=80,protocol=\"UDP\"].containerPort "
			".spec.template.spec.containers[name=\"c\"].ports[containerPort=80,protocol=\"UDP\"].protocol" },
		{ "m2", "{'spec':{'template':{'spec':{'nodeSelector':{'b':'1'},'containers':[{'name':'c','image':'j'}]}}}}",
			"Apply failed with 2 conflicts: conflicts with \"m1\":\n- .spec.template.spec.nodeSelector\n"
			"- .spec.template.spec.containers[name=\"c\"].image" },
	};
	struct sim_types *types = sim_types_new();
	struct sim_value *v = NULL;

	(void)state;
	for (size_t i = 0; i < KAR_LEN(steps); i++) {
		struct sim_apply a = { .manager = steps[i].manager,
			.api_version = "apps/v1",
			.type = sim_types_find(types, "apps", "Deployment") };
		struct sim_value *config = config_of(steps[i].config);
		struct kar_err err = { 0 };
		char *owners = sim_apply(&v, config, &a, &err) ? kar_xstrdup(err.msg) : owners_of(v);

		assert_string_equal(owners, steps[i].owners);
		free(owners);
		sim_unref(config);
	}
	sim_unref(v);
	sim_types_free(types);
}

/* "A1 A2 B1": a list of environment variables with one letter as name. New value. */
static struct sim_value *variables(const char *text)
{
	struct sim_value *list = sim_array();

	for (; *text; text += 2 + (text[2] == ' ')) {
		struct sim_value *one = sim_object();

		sim_set(&one, sim_string_n(text, 1), "name");
		sim_set(&one, sim_string_n(text + 1, 1), "value");
		sim_append(&list, one);
	}
	return list;
}

static char *shown_variables(const struct sim_value *pod)
{
	const struct sim_value *list = sim_member(sim_item(sim_get(pod, "spec", "containers"), 0), "env");
	struct kar_buf b = { 0 };

	for (size_t i = 0; i < sim_count(list); i++)
		kar_buf_printf(&b, "%s%s%s", i ? " " : "", sim_get_text(sim_item(list, i), "name"),
			sim_get_text(sim_item(list, i), "value"));
	return kar_buf_detach(&b);
}

/* @text with each path below the list of variables as "*", and without the lines and paths of the rest. Changes it. */
static char *about_variables(char *text)
{
	static const char list[] = ".spec.containers[name=\"c\"].env";
	struct kar_buf b = { 0 };
	char *word;

	for (char *at = text; (word = strsep(&at, " \n"));) {
		if (!strncmp(word, list, strlen(list)))
			kar_buf_printf(&b, " *%s", word + strlen(list));
		else if (word[0] != '.' && strcmp(word, "Apply") != 0 && strcmp(word, "Update") != 0)
			kar_buf_printf(&b, "%s%s", b.n ? " " : "", word);
	}
	free(text);
	return kar_buf_detach(&b);
}

/* Lists of built-in types may have an item twice: both belong together, until there is one again. */
static void repeated_items(void **state)
{
	static const struct {
		const char *manager, *variables, *want, *owners;
		bool update, force;
	} steps[] = {
		{ "m0", "", "", "m0" },
		{ "u", "A1 A2 B1", "A1 A2 B1",
			"m0 u * *[name=\"A\"] *[name=\"B\"] *[name=\"B\"].name *[name=\"B\"].value",
			.update = true },
		{ "m1", "B1 C1", "A1 A2 B1 C1",
			"m0 m1 *[name=\"B\"] *[name=\"C\"] *[name=\"B\"].name *[name=\"B\"].value *[name=\"C\"].name "
			"*[name=\"C\"].value u * *[name=\"A\"] *[name=\"B\"] *[name=\"B\"].name *[name=\"B\"].value" },
		{ "m1", "A1 C1", NULL,
			"Apply failed with 1 conflict: conflict with \"u\" using v1: .spec.containers[name=\"c\"].env[name=\"A\"]" },
		{ "m1", "C1 A1", "B1 C1 A1",
			"m0 m1 *[name=\"A\"] *[name=\"C\"] *[name=\"A\"].name *[name=\"A\"].value *[name=\"C\"].name "
			"*[name=\"C\"].value u * *[name=\"B\"] *[name=\"B\"].name *[name=\"B\"].value",
			.force = true },
		{ "m1", "C1", "B1 C1",
			"m0 m1 *[name=\"C\"] *[name=\"C\"].name *[name=\"C\"].value u * *[name=\"B\"] *[name=\"B\"].name "
			"*[name=\"B\"].value" },
		{ "u2", "A1 A2 C1", "A1 A2 C1",
			"m0 m1 *[name=\"C\"] *[name=\"C\"].name *[name=\"C\"].value u * u2 *[name=\"A\"]",
			.update = true },
		{ "u3", "A1 A3 C1", "A1 A3 C1",
			"m0 m1 *[name=\"C\"] *[name=\"C\"].name *[name=\"C\"].value u * u3 *[name=\"A\"]",
			.update = true },
		{ "u3", "A1 A3 C1", "A1 A3 C1",
			"m0 m1 *[name=\"C\"] *[name=\"C\"].name *[name=\"C\"].value u * u3 *[name=\"A\"]",
			.update = true },
		{ "u2", "A1 C1", "A1 C1",
			"m0 m1 *[name=\"C\"] *[name=\"C\"].name *[name=\"C\"].value u * u2 *[name=\"A\"] *[name=\"A\"].name "
			"*[name=\"A\"].value",
			.update = true },
		{ "u2", "A1 C1 C2", "A1 C1 C2",
			"m0 m1 u * u2 *[name=\"A\"] *[name=\"C\"] *[name=\"A\"].name *[name=\"A\"].value",
			.update = true },
	};
	struct sim_types *types = sim_types_new();
	struct sim_value *v = NULL;

	(void)state;
	for (size_t i = 0; i < KAR_LEN(steps); i++) {
		struct sim_apply a = { .manager = steps[i].manager,
			.api_version = "v1",
			.force = steps[i].force,
			.type = sim_types_find(types, "", "Pod") };
		struct sim_value *config = config_of("{'spec':{'containers':[{'name':'c'}]}}"),
				 *old = sim_ref(v);
		struct sim_value *container = tree("{'name':'c'}"), *containers = sim_array();
		struct kar_err err = { 0 };
		char *owners = NULL, *shown;

		if (*steps[i].variables)
			sim_set(&container, variables(steps[i].variables), "env");
		sim_append(&containers, container);
		sim_set(&config, containers, "spec", "containers");
		if (steps[i].update) {
			sim_set(&v, sim_ref(containers), "spec", "containers");
			sim_apply_track(old, &v, &a);
		} else if (sim_apply(&v, config, &a, &err)) {
			owners = kar_xstrdup(err.msg);
		}
		owners = owners ? owners : about_variables(owners_of(v));
		shown = shown_variables(v);
		if (strcmp(owners, steps[i].owners) != 0 ||
			(steps[i].want && strcmp(shown, steps[i].want) != 0))
			fail_msg("step %zu: %s; %s", i, shown, owners);
		free(owners);
		free(shown);
		sim_unref(old);
		sim_unref(config);
	}
	sim_unref(v);
	sim_types_free(types);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(built_in),
		cmocka_unit_test(repeated_items),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
