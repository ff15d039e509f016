/*
 * Two JSON documents, each on a line: canonical text means the same and is its own canonical text, and merge patch in text
 * (common/codec/json.h) agrees with merge patch on trees (sim/apiserver/patch.h).
 */
#include <string.h>

#include "common/codec/json.h"
#include "sim/apiserver/patch.h"
#include "test/fuzz/fuzz.h"

/* Is half of a pair of surrogates at @p? @first: '8' to 'b' for the first half of a pair, 'c' to 'f' for the second. */
static bool is_half(const char *p, size_t n, const char *first)
{
	return n >= 6 && p[0] == '\\' && p[1] == 'u' && (p[2] | 0x20) == 'd' && strchr(first, p[3] | 0x20);
}

/* For one half of a pair yajl puts "?", the tree U+FFFD as Go does. */
static bool has_half_pair(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (is_half(text + i, n - i, "89ab") && is_half(text + i + 6, n - i - 6, "cdef"))
			i += 11;
		else if (is_half(text + i, n - i, "89abcdef"))
			return true;
	}
	return false;
}

/* NULL: the two parsers need not agree about it, or the tree does not take it (a number out of range). */
static struct sim_value *tree_of(const char *text, size_t n)
{
	struct kar_err err = { 0 };
	struct sim_value *v;

	if (has_half_pair(text, n))
		return NULL;
	v = sim_parse(text, n, &err);
	if (!v)
		fuzz_check_error(&err);
	return v;
}

static void check_equal(const char *what, const struct sim_value *a, const struct sim_value *b)
{
	struct kar_buf one = { 0 }, other = { 0 };

	if (sim_equal(a, b))
		return;
	sim_print(a, &one);
	sim_print(b, &other);
	fuzz_fail("%s:\n  %s\n  %s", what, kar_buf_cstr(&one), kar_buf_cstr(&other));
}

/* False: it is no document. */
static bool check_canonical(struct kar_str text)
{
	struct kar_buf once = { 0 }, twice = { 0 };
	struct kar_err err = { 0 };
	bool valid = kar_json_canonical(text.p, text.n, &once, &err) == 0;

	if (valid) {
		struct sim_value *a = tree_of(text.p, text.n), *b = tree_of(kar_buf_cstr(&once), once.n);

		FUZZ_CHECK(kar_json_canonical(once.p, once.n, &twice, &err) == 0, "canonical text: %s",
			err.msg);
		fuzz_check_same("canonical text of canonical text", &once, &twice);
		if (a && b)
			check_equal("canonical text means something else", a, b);
		sim_unref(a);
		sim_unref(b);
	} else {
		fuzz_check_error(&err);
		FUZZ_CHECK(once.n == 0, "refused, but wrote %s", once.p);
	}
	kar_buf_release(&once);
	kar_buf_release(&twice);
	return valid;
}

/* The API server also removes null members from objects in lists, which RFC 7386 does not. */
static bool differs_by_design(struct kar_str patch)
{
	return memchr(patch.p, '[', patch.n) && memmem(patch.p, patch.n, "null", 4);
}

static void check_merge(struct kar_str base, struct kar_str patch)
{
	struct kar_buf merged = { 0 };
	struct kar_err err = { 0 };

	if (kar_json_merge(base, patch, &merged, &err) == 0) {
		struct sim_value *target = tree_of(base.p, base.n), *with = tree_of(patch.p, patch.n),
				 *text = tree_of(kar_buf_cstr(&merged), merged.n);

		if (target && with && text && !differs_by_design(patch)) {
			sim_patch_merge(&target, with);
			check_equal("merge patch", target, text);
		}
		sim_unref(target);
		sim_unref(with);
		sim_unref(text);
	} else {
		fuzz_check_error(&err);
	}
	kar_buf_release(&merged);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const char *text = (const char *)data, *end = memchr(text, '\n', n);
	struct kar_str base = { text, end ? (size_t)(end - text) : n };
	struct kar_str patch =
		end ? (struct kar_str){ end + 1, n - base.n - 1 } : (struct kar_str){ "{}", 2 };
	bool valid = check_canonical(base);

	valid &= check_canonical(patch);
	if (valid)
		check_merge(base, patch);
	return 0;
}
