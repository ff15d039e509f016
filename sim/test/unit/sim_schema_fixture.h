/*
 * sim_schema_fixture - objects that a schema takes in, and what it says of them. For one test executable: all functions are
 * static. Include after cmocka.h.
 */
#ifndef KAR_TEST_SIM_SCHEMA_FIXTURE_H
#define KAR_TEST_SIM_SCHEMA_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include "sim/apiserver/schema.h"
#include "sim/test/fixture/sim_thing.h"

/* An object with this spec; "null": without. */
static KAR_UNUSED struct sim_value *object(const char *spec)
{
	struct sim_value *o = tree(
		"{'apiVersion':'s2.io/v1','kind':'Thing','metadata':{'name':'x','namespace':'default'}}");
	struct sim_value *v = tree(spec);

	if (sim_kind(v) == SIM_NULL)
		sim_unref(v);
	else
		sim_set(&o, v, "spec");
	return o;
}

/* One line per cause: field, reason without "FieldValue", message. The caller frees it. */
static KAR_UNUSED char *described(struct sim_causes *c)
{
	struct kar_buf b = { 0 };

	for (size_t i = 0; i < c->n; i++)
		kar_buf_printf(&b, "%s%s %s %s", i ? "\n" : "", c->items[i].field,
			c->items[i].reason + strlen("FieldValue"), c->items[i].message);
	sim_causes_release(c);
	return kar_buf_detach(&b);
}

static KAR_UNUSED void expect_causes(const char *row, struct sim_causes *c, const char *want)
{
	char *text = described(c);

	if (strcmp(text, want) != 0)
		fail_msg("%s:\n%s\ninstead of\n%s", row, text, want);
	free(text);
}

/* As the server takes a new object in. */
static KAR_UNUSED void admit(const struct sim_schema *s, struct sim_value **o, struct sim_causes *causes)
{
	sim_schema_default(s, o);
	sim_schema_prune(s, o, NULL);
	sim_schema_validate(s, *o, causes);
}

#endif
