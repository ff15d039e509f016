/* Server-side apply: refused with a Status, or applied as the dry run says, and then without effect the second time. */
#include "test/fuzz/fuzz.h"
#include "sim/test/fuzz/patching.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const char *options = fuzz_choose(data, n, 3) ? "&force=true" : "";

	fuzz_patch("application/apply-patch+yaml", options, true, data, n);
	return 0;
}
