/* Field selectors: refused with a text or usable; every field named can be asked for. */
#include <stdlib.h>
#include <string.h>

#include "sim/apiserver/selector.h"
#include "test/fuzz/fuzz.h"

struct asked {
	size_t n;
};

/* An object whose fields all hold their own names; "metadata.name" is not known. */
static const char *value(void *arg, const char *field)
{
	struct asked *asked = arg;

	asked->n++;
	return strcmp(field, "metadata.name") ? field : NULL;
}

static void check(const char *text, const struct sim_selector *s)
{
	struct asked first = { 0 }, second = { 0 };
	bool matches = sim_field_selector_matches(s, value, &first);
	size_t fields = 0;

	FUZZ_CHECK(matches == sim_field_selector_matches(s, value, &second) && first.n == second.n,
		"%s is not sure", text);
	while (sim_field_selector_at(s, fields))
		fields++;
	FUZZ_CHECK(first.n <= fields, "%s asks for %zu of %zu fields", text, first.n, fields);
	FUZZ_CHECK(sim_selector_is_empty(s) == (fields == 0), "%s has %zu fields", text, fields);
	FUZZ_CHECK(matches || fields > 0, "%s is empty, but selects not everything", text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct kar_err err = { 0 };
	char *text = fuzz_text(data, n);
	struct sim_selector *s = sim_field_selector_new(text, &err);

	if (s)
		check(text, s);
	else
		fuzz_check_error(&err);
	sim_selector_free(s);
	free(text);
	return 0;
}
