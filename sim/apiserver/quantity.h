/*
 * quantity - amounts of resources as Kubernetes writes them: "500m", "1.5Gi", "12e6". Pure.
 *
 * Exact: a quantity is a whole number of billionths (the finest step the API has) in 128 bits. Canonical texts
 * agree with k8s.io/apimachinery/pkg/api/resource. Amounts beyond 10^28 are cut to that.
 */
#ifndef SIM_QUANTITY_H
#define SIM_QUANTITY_H

#include "sim/tree.h"

__extension__ typedef __int128 sim_nano; /* billionths of the unit */

enum sim_quantity_format { SIM_DECIMAL_SI, SIM_BINARY_SI, SIM_DECIMAL_EXPONENT };

/*
 * Zero-initialised: 0. The format says which suffixes its text uses; a sum takes that of the first summand that is
 * not 0.
 */
struct sim_quantity {
	sim_nano nano;
	enum sim_quantity_format format;
};

enum { SIM_QUANTITY_LEN = 64 }; /* bytes of the longest text with its NUL */

/* -1 with KAR_INVALID and the API server's text if @text is no quantity; *@out is then untouched. */
int sim_quantity_parse(const char *text, struct sim_quantity *out, struct kar_err *err)
	__attribute__((nonnull(1, 2)));
/* The same of a JSON string or number, which the API takes alike. NULL is not a quantity. */
int sim_quantity_read(const struct sim_value *v, struct sim_quantity *out, struct kar_err *err)
	__attribute__((nonnull(2)));
/* 0 for what is absent or no quantity: for stored objects, which were validated. */
struct sim_quantity sim_quantity_of(const struct sim_value *v);
struct sim_quantity sim_quantity_units(int64_t n);

/* Whole units or thousandths, rounded up (away from 0 if negative, as the API does), cut to int64. */
int64_t sim_quantity_value(const struct sim_quantity *q) KAR_NONNULL;
int64_t sim_quantity_milli(const struct sim_quantity *q) KAR_NONNULL;

void sim_quantity_add(struct sim_quantity *q, const struct sim_quantity *more) KAR_NONNULL;
void sim_quantity_sub(struct sim_quantity *q, const struct sim_quantity *less) KAR_NONNULL;
/* Below 0, 0 or above 0, by amount alone. */
int sim_quantity_cmp(const struct sim_quantity *a, const struct sim_quantity *b) KAR_NONNULL;

/* Canonical text in @out, which is returned. */
const char *sim_quantity_text(const struct sim_quantity *q, char out[SIM_QUANTITY_LEN]) KAR_NONNULL KAR_RETNN;
/* New string value with the canonical text. */
struct sim_value *sim_quantity_string(const struct sim_quantity *q) KAR_MUSTUSE KAR_NONNULL KAR_RETNN;
/*
 * What the API server stores for the quantity @v of a request: its canonical text, but as written where that is as
 * good ("1.500", "+1"). New reference; @v itself if it is no quantity.
 */
struct sim_value *sim_quantity_canonical(const struct sim_value *v) KAR_MUSTUSE;

#endif
