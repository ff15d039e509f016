/*
 * Strategic merge patch: refused with a Status, or applied as the dry run says. Without directives, and where no list is merged,
 * it does what a JSON merge patch does.
 */
#include <string.h>

#include "sim/apiserver/patch.h"
#include "test/fuzz/fuzz.h"
#include "sim/test/fuzz/patching.h"

static const char target[] =
	"{\"metadata\":{\"labels\":{\"app\":\"web\"},\"name\":\"a\"},\"spec\":{\"containers\":[{\"name\":\"c\"}],"
	"\"n\":1},\"data\":{\"k\":\"v\"}}";

/* Nulls inside of lists are another matter. */
static bool is_plain(const uint8_t *data, size_t n)
{
	return !fuzz_mentions(data, n, "$") &&
		!(fuzz_mentions(data, n, "null") && fuzz_mentions(data, n, "["));
}

static void compare(const struct sim_value *patch)
{
	struct sim_value *strategic = sim_parse(target, strlen(target), NULL), *merge = sim_ref(strategic);
	struct kar_buf one = { 0 }, other = { 0 };
	struct kar_err err = { 0 };

	sim_patch_merge(&merge, patch);
	if (sim_patch_strategic(&strategic, patch, NULL, &err)) {
		fuzz_check_error(&err);
	} else {
		sim_print(strategic, &one);
		sim_print(merge, &other);
		FUZZ_CHECK(sim_equal(strategic, merge), "strategic merge:\n  %s\n  %s", one.p, other.p);
	}
	kar_buf_release(&one);
	kar_buf_release(&other);
	sim_unref(strategic);
	sim_unref(merge);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct sim_value *patch = is_plain(data, n) ? sim_parse((const char *)data, n, NULL) : NULL;

	if (sim_kind(patch) == SIM_OBJECT)
		compare(patch);
	sim_unref(patch);
	fuzz_patch("application/strategic-merge-patch+json", "", false, data, n);
	return 0;
}
