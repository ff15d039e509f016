/* What an exec plug-in prints: a credential is taken only whole and fresh, and no refusal repeats a secret. */
#include <string.h>

#include "common/base/mem.h"
#include "common/kube/exec_result.h"
#include "test/fuzz/fuzz.h"

static const kar_time now = 1795268787000; /* 2026-11-21T13:46:27Z */

/* Only these repeat what was printed. Every token of the corpus is s3cret. */
static bool is_about_version(const struct kar_err *err)
{
	return err->what == KAR_FATAL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const struct kar_str out = { (const char *)data, n };
	struct kar_exec_result result = { 0 };
	struct kar_arena arena = { 0 };
	struct kar_err err = { 0 };

	if (kar_exec_result_read(&arena, out, "client.authentication.k8s.io/v1", now, &result, &err)) {
		fuzz_check_error(&err);
		FUZZ_CHECK(err.what == KAR_FATAL || err.what == KAR_RETRY, "%s",
			kar_err_class_name(err.what));
		FUZZ_CHECK(is_about_version(&err) || !strstr(err.msg, "s3cret"), "%s", err.msg);
	} else {
		FUZZ_CHECK(result.token || result.cert_pem, "nothing to identify with");
		FUZZ_CHECK(!result.cert_pem == !result.key_pem, "half a pair");
		FUZZ_CHECK(result.expires > now, "expired");
	}
	kar_arena_release(&arena);
	return 0;
}
