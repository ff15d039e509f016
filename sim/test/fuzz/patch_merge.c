/* JSON merge patch (RFC 7386): refused with a Status, or applied as the dry run says, and then without effect the second time. */
#include "test/fuzz/fuzz.h"
#include "sim/test/fuzz/patching.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	fuzz_patch("application/merge-patch+json", "", true, data, n);
	return 0;
}
