/* Continue tokens: refused with a text, or the token printed from it says the same; every key of a list makes one. */
#include <stdlib.h>
#include <string.h>

#include "sim/apiserver/token.h"
#include "test/fuzz/fuzz.h"

static void check_printed(int64_t rv, const char *after)
{
	struct kar_buf text = { 0 };
	struct sim_token again;
	struct kar_err err = { 0 };

	sim_token_print(rv, after, &text);
	FUZZ_CHECK(sim_token_parse(kar_buf_cstr(&text), &again, &err) == 0, "%s: %s", after, err.msg);
	FUZZ_CHECK(again.rv == rv && !strcmp(again.after, after), "%lld %s became %lld %s", (long long)rv,
		after, (long long)again.rv, again.after);
	kar_buf_release(&text);
}

/* What stands in the paths of objects. */
static bool is_key(const char *text)
{
	size_t n = strlen(text);

	return n && n < SIM_TOKEN_KEY_MAX && strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") == n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *text = fuzz_text(data, n);
	struct sim_token token;
	struct kar_err err = { 0 };

	if (sim_token_parse(text, &token, &err))
		fuzz_check_error(&err);
	else if (token.after[0] && token.after[0] != '/')
		check_printed(token.rv, token.after);
	if (is_key(text))
		check_printed(1, text);
	free(text);
	return 0;
}
