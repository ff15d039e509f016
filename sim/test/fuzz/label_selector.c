/* Label selectors: refused with a text or usable; a selector that is not empty does not select everything by accident. */
#include <stdlib.h>
#include <string.h>

#include "sim/apiserver/selector.h"
#include "test/fuzz/fuzz.h"

static struct sim_value *labels_of(const char *json)
{
	return sim_parse(json, strlen(json), NULL);
}

/* "S,S" selects what S selects, "!S" the rest if it is a selector at all, and "app,!app" nothing. */
static void check_matches(const char *text, const struct sim_selector *s, const struct sim_value *labels)
{
	struct kar_buf twice = { 0 }, never = { 0 }, opposite = { 0 };
	bool matches = sim_label_selector_matches(s, labels);

	kar_buf_printf(&twice, "%s,%s", text, text);
	kar_buf_printf(&never, "%s,app,!app", text);
	kar_buf_printf(&opposite, "!%s", text);
	struct sim_selector *rest =
		strchr(text, ',') ? NULL : sim_label_selector_new(kar_buf_cstr(&opposite), NULL);
	struct sim_selector *both = sim_label_selector_new(kar_buf_cstr(&twice), NULL);
	struct sim_selector *none = sim_label_selector_new(kar_buf_cstr(&never), NULL);

	FUZZ_CHECK(!both || sim_label_selector_matches(both, labels) == matches, "%s twice", text);
	FUZZ_CHECK(!none || !sim_label_selector_matches(none, labels), "%s and a contradiction", text);
	FUZZ_CHECK(!rest || sim_label_selector_matches(rest, labels) != matches, "%s and its opposite", text);
	FUZZ_CHECK(matches || !sim_selector_is_empty(s), "%s is empty, but selects not everything", text);
	sim_selector_free(rest);
	sim_selector_free(both);
	sim_selector_free(none);
	kar_buf_release(&twice);
	kar_buf_release(&never);
	kar_buf_release(&opposite);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct sim_value *labels = labels_of("{\"app\":\"web\",\"a\":\"b\",\"n\":\"7\",\"k8s.io/x\":\"\"}");
	struct kar_err err = { 0 };
	char *text = fuzz_text(data, n);
	struct sim_selector *s = sim_label_selector_new(text, &err);

	if (s) {
		check_matches(text, s, labels);
		check_matches(text, s, NULL);
	} else {
		fuzz_check_error(&err);
	}
	sim_selector_free(s);
	sim_unref(labels);
	free(text);
	return 0;
}
