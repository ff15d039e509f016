/* JSON patch (RFC 6902): refused with a Status, or applied as the dry run says. */
#include "test/fuzz/fuzz.h"
#include "sim/test/fuzz/patching.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	fuzz_patch("application/json-patch+json", "", false, data, n);
	return 0;
}
