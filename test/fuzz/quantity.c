/*
 * Quantities: the canonical text reads as the same amount and is its own canonical text; sums and order agree. But as in
 * Kubernetes 62.5Ki becomes 64000, which has lost the suffix of base 1024, and 64000 becomes 64k.
 */
#include <stdlib.h>
#include <string.h>

#include "common/codec/quantity.h"
#include "test/fuzz/fuzz.h"

static bool loses_base(const char *text, const char *canonical)
{
	return strchr(text, 'i') && !strchr(canonical, 'i');
}

static void check_text(const char *text, const struct kar_quantity *q)
{
	char canonical[KAR_QUANTITY_LEN], again[KAR_QUANTITY_LEN];
	struct kar_quantity same;
	struct kar_err err = { 0 };

	kar_quantity_text(q, canonical);
	FUZZ_CHECK(kar_quantity_parse(canonical, &same, &err) == 0, "%s printed as %s: %s", text, canonical,
		err.msg);
	FUZZ_CHECK(kar_quantity_cmp(q, &same) == 0, "%s printed as %s, which is another amount", text,
		canonical);
	FUZZ_CHECK(!strcmp(kar_quantity_text(&same, again), canonical) || loses_base(text, canonical),
		"%s printed as %s, and that as %s", text, canonical, again);
}

/* Beyond 10^21 the API has no suffix, and prints the digits without it. */
static bool has_suffix(const struct kar_quantity *q)
{
	struct kar_quantity limit = kar_quantity_units(INT64_C(1000000000000000000));

	limit.nano *= 1000;
	const struct kar_quantity low = { .nano = -limit.nano };

	return kar_quantity_cmp(q, &limit) < 0 && kar_quantity_cmp(q, &low) > 0;
}

static void check_sums(const char *text, const struct kar_quantity *q)
{
	const struct kar_quantity unit = kar_quantity_units(1);
	struct kar_quantity sum = *q, zero = *q;

	kar_quantity_add(&sum, &unit);
	kar_quantity_sub(&zero, q);
	FUZZ_CHECK(kar_quantity_cmp(&sum, q) >= 0 && kar_quantity_cmp(q, &sum) <= 0, "%s + 1 is less", text);
	FUZZ_CHECK(kar_quantity_cmp(&zero, &(struct kar_quantity){ 0 }) == 0, "%s - itself", text);
	FUZZ_CHECK(kar_quantity_value(&sum) >= kar_quantity_value(q), "%s + 1 has less units", text);
	FUZZ_CHECK(kar_quantity_milli(&sum) >= kar_quantity_milli(q), "%s + 1 has less thousandths", text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *text = fuzz_text(data, n);
	struct kar_err err = { 0 };
	struct kar_quantity q;

	if (kar_quantity_parse(text, &q, &err) == 0) {
		if (has_suffix(&q))
			check_text(text, &q);
		check_sums(text, &q);
	} else {
		fuzz_check_error(&err);
	}
	free(text);
	return 0;
}
