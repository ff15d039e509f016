/*
 * quantity - amounts of resources as Kubernetes writes them: "500m", "1.5Gi", "12e6". Pure.
 *
 * Exact: a quantity is a whole number of billionths (the finest step the API has) in 128 bits. Canonical texts
 * agree with k8s.io/apimachinery/pkg/api/resource. Amounts beyond 10^28 are cut to that.
 */
#ifndef KAR_QUANTITY_H
#define KAR_QUANTITY_H

#include "common/base/err.h"

__extension__ typedef __int128 kar_nano; /* billionths of the unit */

enum kar_quantity_format { KAR_DECIMAL_SI, KAR_BINARY_SI, KAR_DECIMAL_EXPONENT };

/*
 * Zero-initialised: 0. The format says which suffixes its text uses; a sum takes that of the first summand that is
 * not 0.
 */
struct kar_quantity {
	kar_nano nano;
	enum kar_quantity_format format;
};

enum { KAR_QUANTITY_LEN = 64 }; /* bytes of the longest text with its NUL */

/* -1 with KAR_INVALID and the API server's text if @text is no quantity; *@out is then untouched. */
int kar_quantity_parse(const char *text, struct kar_quantity *out, struct kar_err *err)
	__attribute__((nonnull(1, 2)));
struct kar_quantity kar_quantity_units(int64_t n);

/* Whole units or thousandths, rounded up (away from 0 if negative, as the API does), cut to int64. */
int64_t kar_quantity_value(const struct kar_quantity *q) KAR_NONNULL;
int64_t kar_quantity_milli(const struct kar_quantity *q) KAR_NONNULL;

void kar_quantity_add(struct kar_quantity *q, const struct kar_quantity *more) KAR_NONNULL;
void kar_quantity_sub(struct kar_quantity *q, const struct kar_quantity *less) KAR_NONNULL;
/* @n times as much; @n is not negative. */
void kar_quantity_times(struct kar_quantity *q, int32_t n) KAR_NONNULL;
/* Below 0, 0 or above 0, by amount alone. */
int kar_quantity_cmp(const struct kar_quantity *a, const struct kar_quantity *b) KAR_NONNULL;

/* Canonical text in @out, which is returned. */
const char *kar_quantity_text(const struct kar_quantity *q, char out[KAR_QUANTITY_LEN]) KAR_NONNULL KAR_RETNN;
#endif
