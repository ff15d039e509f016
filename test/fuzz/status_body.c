/* The body of a refused request: whatever a server or a proxy sends becomes one bounded error that can be acted on. */
#include <string.h>

#include "common/base/utf8.h"
#include "common/kube/client.h"
#include "test/fuzz/fuzz.h"

static const int codes[] = { 200, 400, 401, 403, 404, 408, 409, 410, 413, 422, 429, 500, 503, 504 };
static const char *const types[] = { "application/json", "application/vnd.kubernetes.protobuf",
	"text/plain" };

static void check(int code, const char *type, struct kar_str body, bool write)
{
	struct kar_err err = { 0 };

	kar_status_error(&err, code, type, body, 0, write, "create pods default/a");
	FUZZ_CHECK(err.what != KAR_OK, "HTTP %d is no error", code);
	FUZZ_CHECK(!strncmp(err.msg, "create pods default/a: ", 23) || strlen(err.msg) == 21, "%s", err.msg);
	FUZZ_CHECK(kar_utf8_clean(err.msg, strlen(err.msg)) == strlen(err.msg), "cut in a character: %s",
		err.msg);
	FUZZ_CHECK(write || err.what != KAR_UNKNOWN, "HTTP %d leaves a read in doubt", code);
	FUZZ_CHECK(err.retry_after >= 0 && err.retry_after < 100 * 24 * 60 * KAR_MINUTE, "wait for %lld ms",
		(long long)err.retry_after);
	FUZZ_CHECK(code < 400 || err.http == code, "HTTP %d became %d", code, err.http);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const struct kar_str body = { (const char *)data, n };

	for (size_t i = 0; i < KAR_LEN(codes); i++) {
		for (size_t t = 0; t < KAR_LEN(types); t++)
			check(codes[i], types[t], body, i % 2);
	}
	return 0;
}
