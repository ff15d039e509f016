/* Bodies in Kubernetes protobuf: refused with a text, or an object with kind and apiVersion whose JSON reads as itself. */
#include <string.h>

#include "sim/apiserver/types.h"
#include "test/fuzz/fuzz.h"

static const struct sim_types *types;

int LLVMFuzzerInitialize(int *argc KAR_UNUSED, char ***argv KAR_UNUSED)
{
	types = sim_types_new();
	return 0;
}

static void check_json(const struct sim_value *v)
{
	struct kar_buf text = { .cap = SIZE_MAX };
	struct kar_err err = { 0 };
	struct sim_value *again;

	sim_print(v, &text);
	again = sim_parse(kar_buf_cstr(&text), text.n, &err);
	FUZZ_CHECK(again, "%s: %s", err.msg, kar_buf_cstr(&text));
	FUZZ_CHECK(sim_equal(v, again), "reads as another object: %s", kar_buf_cstr(&text));
	sim_unref(again);
	kar_buf_release(&text);
}

/* The built-in type that the object says it is of, or NULL. */
static const struct sim_type *type_of(const struct sim_value *v)
{
	const char *version = sim_text_or(sim_member(v, "apiVersion"), ""), *slash = strchr(version, '/');
	struct kar_buf group = { 0 };
	const struct sim_type *t;

	kar_buf_append(&group, version, slash ? (size_t)(slash - version) : 0);
	t = sim_types_find(types, kar_buf_cstr(&group), sim_text_or(sim_member(v, "kind"), ""));
	kar_buf_release(&group);
	return t;
}

/* On its way through the structs of a server it is refused, or stays what it is when it goes there again. */
static void check_decoded(const struct sim_value *v)
{
	const struct sim_type *t = type_of(v);
	struct sim_value *once = sim_ref(v), *twice;
	struct kar_err err = { 0 };

	if (t && sim_types_decode(t, &once, NULL, &err) == 0) {
		check_json(once);
		twice = sim_ref(once);
		FUZZ_CHECK(sim_types_decode(t, &twice, NULL, &err) == 0, "refused the second time: %s",
			err.msg);
		FUZZ_CHECK(sim_equal(once, twice), "another object the second time");
		sim_unref(twice);
	} else if (t) {
		fuzz_check_error(&err);
	}
	sim_unref(once);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct kar_err err = { 0 };
	struct sim_value *v = sim_types_from_protobuf(types, (const char *)data, n, &err);

	if (v) {
		FUZZ_CHECK(err.what == KAR_OK, "accepted, but %s", err.msg);
		FUZZ_CHECK(sim_get_text(v, "kind") && sim_get_text(v, "apiVersion"), "no kind or apiVersion");
		check_json(v);
		check_decoded(v);
	} else {
		fuzz_check_error(&err);
	}
	sim_unref(v);
	return 0;
}
