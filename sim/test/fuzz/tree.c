/* JSON text to a tree and back: what is printed reads as an equal tree with the same text; equal trees have equal hashes. */
#include <stdlib.h>

#include "common/base/mem.h"
#include "sim/tree.h"
#include "test/fuzz/fuzz.h"

static void check_printed(const struct sim_value *v)
{
	struct kar_buf text = { .cap = SIZE_MAX }, again = { .cap = SIZE_MAX };
	struct kar_err err = { 0 };
	struct sim_value *copy;

	sim_print(v, &text);
	copy = sim_parse(kar_buf_cstr(&text), text.n, &err);
	FUZZ_CHECK(copy, "%s: %s", err.msg, kar_buf_cstr(&text));
	sim_print(copy, &again);
	fuzz_check_same("the text of what was printed", &text, &again);
	FUZZ_CHECK(sim_equal(v, copy), "not equal to what it printed: %s", kar_buf_cstr(&text));
	sim_unref(copy);
	kar_buf_release(&text);
	kar_buf_release(&again);
}

/* The same members in the opposite order. New value. */
static struct sim_value *reversed(const struct sim_value *object)
{
	size_t n = sim_count(object);
	const char **keys = kar_xcalloc(n, sizeof(*keys));
	struct sim_value *out = sim_object();
	size_t used = 0;

	for (struct sim_member m = sim_first(object); m.value; m = sim_next(m))
		keys[used++] = m.key;
	FUZZ_CHECK(used == n, "%zu members, %zu counted", used, n);
	while (used--)
		sim_set(&out, sim_ref(sim_member(object, keys[used])), keys[used]);
	free(keys);
	return out;
}

static void check_order(const struct sim_value *v)
{
	struct sim_value *other = sim_kind(v) == SIM_OBJECT ? reversed(v) : sim_ref(v);

	FUZZ_CHECK(sim_equal(v, other) && sim_equal(other, v), "the order of members matters");
	FUZZ_CHECK(sim_hash(v) == sim_hash(other), "the order of members matters for the hash");
	sim_unref(other);
}

/* An edit of a shared value is not seen by who shares it. */
static void check_edit(const struct sim_value *v)
{
	struct sim_value *edited = sim_ref(v);
	struct kar_buf before = { .cap = SIZE_MAX }, after = { .cap = SIZE_MAX };

	sim_print(v, &before);
	sim_set_text(&edited, "x", "metadata", "labels", "a");
	sim_remove(&edited, "spec", "a");
	sim_print(v, &after);
	fuzz_check_same("a value after an edit of its copy", &before, &after);
	FUZZ_CHECK(sim_get_text(edited, "metadata", "labels", "a"), "the edit is lost");
	sim_unref(edited);
	kar_buf_release(&before);
	kar_buf_release(&after);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct kar_err err = { 0 };
	struct sim_value *v = sim_parse((const char *)data, n, &err);

	if (v) {
		check_printed(v);
		check_order(v);
		check_edit(v);
	} else {
		fuzz_check_error(&err);
	}
	sim_unref(v);
	return 0;
}
