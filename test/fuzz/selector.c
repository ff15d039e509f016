/* Selectors of devices: whatever the text, the answer is one of three, and a selector and its negation do not both match. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/device/selector.h"
#include "test/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const struct kar_device_value attributes[] = {
		{ "type", KAR_DEVICE_TEXT, "gpu", 0 },
		{ "other.io/slot", KAR_DEVICE_NUMBER, NULL, 3 },
		{ "ecc", KAR_DEVICE_FLAG, NULL, 1 },
		{ "v", KAR_DEVICE_VERSION, "1.2.3", 0 },
	};
	static const struct kar_device_value capacity[] = { { "memory", KAR_DEVICE_QUANTITY, "80Gi", 0 } };
	static const struct kar_device_view device = { .driver = "d.io",
		.attributes = attributes,
		.n_attributes = KAR_LEN(attributes),
		.capacity = capacity,
		.n_capacity = KAR_LEN(capacity) };
	char *text = fuzz_text(data, n), *negated = malloc(strlen(text) + 4);
	enum kar_match plain = kar_selector_match(text, &device), inverse;

	FUZZ_CHECK(plain == KAR_NO_MATCH || plain == KAR_MATCH || plain == KAR_MATCH_UNKNOWN, "answer %d",
		(int)plain);
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
