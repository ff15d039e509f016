/*
 * A schema of a custom resource on the first line, an object on the second: the schema is refused with a text, or pruning and
 * defaulting have no effect the second time, and what is valid stays valid in an update that changes nothing.
 */
#include <string.h>

#include "sim/apiserver/schema.h"
#include "test/fuzz/fuzz.h"

/* The object as a server would store it. */
static void complete(const struct sim_schema *s, struct sim_value **v, struct sim_value **removed)
{
	sim_schema_prune(s, v, removed);
	sim_schema_default(s, v);
}

static void check_settled(const struct sim_schema *s, const struct sim_value *stored)
{
	struct sim_value *again = sim_ref(stored), *removed = sim_array();

	complete(s, &again, &removed);
	FUZZ_CHECK(sim_count(removed) == 0, "pruned twice: %s", sim_text_or(sim_item(removed, 0), "?"));
	FUZZ_CHECK(sim_equal(stored, again), "another object after the second time");
	sim_unref(again);
	sim_unref(removed);
}

static void check_causes(const struct sim_causes *causes)
{
	for (size_t i = 0; i < causes->n; i++)
		FUZZ_CHECK(causes->items[i].reason[0] && causes->items[i].message[0],
			"cause %zu says nothing", i);
}

/* Both ways to look at an update that changes nothing. */
static void check_update(const struct sim_schema *s, const struct sim_value *stored)
{
	for (int status = 0; status < 2; status++) {
		struct sim_causes causes = { 0 };

		sim_schema_validate_update(s, stored, stored, status, &causes);
		FUZZ_CHECK(causes.n == 0, "an update that changes nothing: %s %s", causes.items[0].field,
			causes.items[0].message);
	}
}

static void check_object(const struct sim_schema *s, const struct sim_value *given)
{
	struct sim_value *stored = sim_ref(given), *removed = sim_array();
	struct sim_causes causes = { 0 }, again = { 0 };

	complete(s, &stored, &removed);
	check_settled(s, stored);
	sim_schema_validate(s, stored, &causes);
	sim_schema_validate(s, stored, &again);
	check_causes(&causes);
	FUZZ_CHECK(causes.n == again.n, "%zu causes, then %zu", causes.n, again.n);
	if (!causes.n)
		check_update(s, stored);
	sim_causes_release(&causes);
	sim_causes_release(&again);
	sim_unref(stored);
	sim_unref(removed);
}

static void check(const struct sim_value *text, const struct sim_value *object)
{
	struct kar_err err = { 0 };
	struct sim_schema *s = sim_schema_new(text, &err);

	if (!s)
		fuzz_check_error(&err);
	else if (sim_kind(object) == SIM_OBJECT)
		check_object(s, object);
	sim_schema_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const char *text = (const char *)data, *end = memchr(text, '\n', n);
	size_t schema_n = end ? (size_t)(end - text) : n;
	struct sim_value *schema = sim_parse(text, schema_n, NULL);
	struct sim_value *object = end ? sim_parse(end + 1, n - schema_n - 1, NULL) : sim_object();

	if (schema)
		check(schema, object);
	sim_unref(schema);
	sim_unref(object);
	return 0;
}
