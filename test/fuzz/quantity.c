/*
 * Quantities: the canonical text reads as the same amount and is its own canonical text; sums and order agree. But as in
 * Kubernetes 62.5Ki becomes 64000, which has lost the suffix of base 1024, and 64000 becomes 64k.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/apiserver/quantity.h"
#include "test/fuzz/fuzz.h"

static bool loses_base(const char *text, const char *canonical)
{
	return strchr(text, 'i') && !strchr(canonical, 'i');
}

static void check_text(const char *text, const struct sim_quantity *q)
{
	char canonical[SIM_QUANTITY_LEN], again[SIM_QUANTITY_LEN];
	struct sim_quantity same;
	struct kar_err err = { 0 };

	sim_quantity_text(q, canonical);
	FUZZ_CHECK(sim_quantity_parse(canonical, &same, &err) == 0, "%s printed as %s: %s", text, canonical,
		err.msg);
	FUZZ_CHECK(sim_quantity_cmp(q, &same) == 0, "%s printed as %s, which is another amount", text,
		canonical);
	FUZZ_CHECK(!strcmp(sim_quantity_text(&same, again), canonical) || loses_base(text, canonical),
		"%s printed as %s, and that as %s", text, canonical, again);
}

/* What the API server stores is the same amount, and stays as it is when it is written again. */
static void check_stored(const char *text, const struct sim_quantity *q)
{
	struct sim_value *v = sim_string(text), *stored = sim_quantity_canonical(v);
	struct sim_value *again = sim_quantity_canonical(stored);
	struct sim_quantity same = sim_quantity_of(stored);

	FUZZ_CHECK(sim_quantity_cmp(q, &same) == 0, "%s stored as %s", text, sim_text_or(stored, "no text"));
	FUZZ_CHECK(sim_equal(stored, again) || loses_base(text, sim_text_or(stored, "")),
		"%s stored as %s, and that as %s", text, sim_text_or(stored, "no text"),
		sim_text_or(again, "no text"));
	sim_unref(v);
	sim_unref(stored);
	sim_unref(again);
}

/* Beyond 10^21 the API has no suffix, and prints the digits without it. */
static bool has_suffix(const struct sim_quantity *q)
{
	struct sim_quantity limit = sim_quantity_units(INT64_C(1000000000000000000));

	limit.nano *= 1000;
	const struct sim_quantity low = { .nano = -limit.nano };

	return sim_quantity_cmp(q, &limit) < 0 && sim_quantity_cmp(q, &low) > 0;
}

static void check_sums(const char *text, const struct sim_quantity *q)
{
	const struct sim_quantity unit = sim_quantity_units(1);
	struct sim_quantity sum = *q, zero = *q;

	sim_quantity_add(&sum, &unit);
	sim_quantity_sub(&zero, q);
	FUZZ_CHECK(sim_quantity_cmp(&sum, q) >= 0 && sim_quantity_cmp(q, &sum) <= 0, "%s + 1 is less", text);
	FUZZ_CHECK(sim_quantity_cmp(&zero, &(struct sim_quantity){ 0 }) == 0, "%s - itself", text);
	FUZZ_CHECK(sim_quantity_value(&sum) >= sim_quantity_value(q), "%s + 1 has less units", text);
	FUZZ_CHECK(sim_quantity_milli(&sum) >= sim_quantity_milli(q), "%s + 1 has less thousandths", text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *text = fuzz_text(data, n);
	struct kar_err err = { 0 };
	struct sim_quantity q;

	if (sim_quantity_parse(text, &q, &err) == 0) {
		if (has_suffix(&q)) {
			check_text(text, &q);
			check_stored(text, &q);
		}
		check_sums(text, &q);
	} else {
		fuzz_check_error(&err);
	}
	free(text);
	return 0;
}
