/* Selectors of devices: whatever the text, the answer is one of three, and a selector and its negation do not both match. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/device/selector.h"
#include "test/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const char *const attributes[] = {
		"type=sgpu",
		"other.io/slot=i3",
		"ecc=btrue",
		"v=v1.2.3",
	};
	static const char *const capacity[] = { "memory=q80Gi" };
	static const struct kar_device_view device = { .driver = "d.io",
		.attributes = attributes,
		.n_attributes = KAR_LEN(attributes),
		.capacity = capacity,
		.n_capacity = KAR_LEN(capacity) };
	char *text = fuzz_text(data, n), *negated = malloc(strlen(text) + 4);
	enum kar_match plain = kar_selector_match(text, &device), inverse;

	FUZZ_CHECK(plain >= KAR_NO_MATCH && plain <= KAR_MATCH_UNKNOWN, "answer %d", (int)plain);
	if (!negated)
		abort();
	sprintf(negated, "!(%s)", text);
	inverse = kar_selector_match(negated, &device);
	FUZZ_CHECK(!(plain == KAR_MATCH && inverse == KAR_MATCH), "%s matches, and so does its negation",
		text);
	free(negated);
	free(text);
	return 0;
}
