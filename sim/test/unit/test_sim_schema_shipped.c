/* The schemas of this project's CustomResourceDefinitions: defaults, and what a Kubernetes 1.37 API server refuses with them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/base/mem.h"
#include "common/codec/yaml.h"
#include "sim/test/unit/sim_schema_fixture.h"

static struct sim_schema *shipped(const char *plural)
{
	char *path = kar_xasprintf("%s/%s.yaml", KAR_CRDS, plural), text[256 << 10];
	FILE *f = fopen(path, "r");
	struct kar_buf json = { 0 };
	struct kar_err err = { 0 };
	struct sim_schema *s = NULL;

	if (!f)
		fail_msg("%s: cannot be read", path);
	else if (kar_yaml_to_json(text, fread(text, 1, sizeof(text), f), 0, &json, &err) == 1) {
		struct sim_value *crd = sim_parse(kar_buf_cstr(&json), json.n, &err);

		s = sim_schema_new(sim_get(sim_item(sim_get(crd, "spec", "versions"), 0), "schema",
					   "openAPIV3Schema"),
			&err);
		sim_unref(crd);
	}
	if (!s)
		fail_msg("%s: %s", path, err.msg);
	fclose(f);
	kar_buf_release(&json);
	free(path);
	return s;
}

#define RULES \
	"\n<nil> Invalid Invalid value: null: some validation rules were not checked because the object was invalid; correct the " \
	"existing errors to complete validation"
#define TASK "{'replicas':1,'template':{'spec':{'containers':[{'name':'a','image':'b'}]}}}"

static void shipped_crds(void **state)
{
	static const struct {
		const char *name, *plural, *spec, *want, *causes;
	} rows[] = {
		{ "smallest_job", "queuejobs", "{'taskSpecs':[" TASK "]}",
			"{'backoffLimit':6,'suspend':false,'taskSpecs':[{'replicas':1,'template':{'spec':{'containers':"
			"[{'image':'b','name':'a'}],'restartPolicy':'Never'}}}]}",
			"" },
		{ "no_tasks_named", "queuejobs", "{}", NULL, "spec.taskSpecs Required Required value" RULES },
		{ "no_tasks", "queuejobs", "{'taskSpecs':[]}", NULL,
			"spec.taskSpecs Invalid Invalid value: 0: spec.taskSpecs in body should have at least 1 items" },
		{ "several", "queuejobs",
			"{'taskSpecs':[{'replicas':-1,'template':{'spec':{'containers':[{'name':'a','image':'b'}]}}}],'suspend':'yes'}",
			NULL,
			"spec.suspend TypeInvalid Invalid value: \"string\": spec.suspend in body must be of type boolean: \"string\"\n"
			"spec.taskSpecs[0].replicas Invalid Invalid value: -1: spec.taskSpecs[0].replicas in body should be greater than or "
			"equal to 0" RULES },
		{ "not_an_int32", "queuejobs",
			"{'taskSpecs':[{'replicas':3000000000,'template':{'spec':{'containers':[{'name':'a','image':'b'}]}}}]}",
			NULL,
			"<nil> Invalid Invalid value: \"\": Checked value must be of type integer with format int32 in "
			"spec.taskSpecs[0].replicas\n"
			"spec.taskSpecs[0].replicas Invalid Invalid value: 3000000000: spec.taskSpecs[0].replicas in body should be less than "
			"or equal to 100000" },
		{ "queue_defaults", "queues", "{'capacity':{'cpu':1}}",
			"{'weight':1,'queueingStrategy':'BestEffortFIFO','provisioning':'None','state':'Open'}",
			"" },
		{ "weight", "queues", "{'weight':0}", NULL,
			"spec.weight Invalid Invalid value: 0: spec.weight in body should be greater than or equal to 1" },
		{ "quantity", "queues", "{'deserved':{'cpu':'abc'}}", NULL,
			"spec.deserved.cpu Invalid Invalid value: \"abc\": spec.deserved.cpu in body should match "
			"'^\\+?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][-+]?[0-9]+)?$'" },
		{ "group", "podgroups", "{}", "{'minMember':1}", "" },
		{ "scheduling_spec", "schedulingspecs", "{}", "{}", "" },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct sim_schema *s = shipped(rows[i].plural);
		struct sim_value *o = object(rows[i].spec);
		struct sim_causes causes = { 0 };

		admit(s, &o, &causes);
		expect_causes(rows[i].name, &causes, rows[i].causes);
		if (rows[i].want)
			expect(rows[i].name, sim_member(o, "spec"), rows[i].want);
		sim_unref(o);
		sim_schema_free(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shipped_crds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
