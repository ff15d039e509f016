/* YAML: every document of a text becomes valid JSON or is refused, and the documents come to an end. */
#include "common/codec/json.h"
#include "common/codec/yaml.h"
#include "test/fuzz/fuzz.h"

enum { OUT_MAX = 1 << 20 };

static bool convert(const uint8_t *data, size_t n, size_t index)
{
	struct kar_buf json = { .cap = OUT_MAX }, canonical = { .cap = 2 * (size_t)OUT_MAX };
	struct kar_err err = { 0 };
	int rc = kar_yaml_to_json(n ? (const char *)data : NULL, n, index, &json, &err);

	if (rc < 0)
		fuzz_check_error(&err);
	else if (rc == 0)
		FUZZ_CHECK(json.n == 0, "no document, but: %s", json.p);
	else
		FUZZ_CHECK(kar_json_canonical(json.p, json.n, &canonical, &err) == 0, "%s: %s", err.msg,
			json.p);
	kar_buf_release(&json);
	kar_buf_release(&canonical);
	return rc > 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	size_t documents = 0;

	while (convert(data, n, documents))
		FUZZ_CHECK(documents++ <= n, "more documents than bytes");
	return 0;
}
