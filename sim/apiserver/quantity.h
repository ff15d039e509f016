/*
 * quantity - quantities (common/codec/quantity.h) in JSON, as the API server takes and stores them. Pure.
 */
#ifndef SIM_QUANTITY_H
#define SIM_QUANTITY_H

#include "common/codec/quantity.h"
#include "sim/tree.h"

/* kar_quantity_parse() of a JSON string or number, which the API takes alike. NULL is not a quantity. */
int sim_quantity_read(const struct sim_value *v, struct kar_quantity *out, struct kar_err *err)
	__attribute__((nonnull(2)));
/* 0 for what is absent or no quantity: for stored objects, which were validated. */
struct kar_quantity sim_quantity_of(const struct sim_value *v);
/* New string value with the canonical text. */
struct sim_value *sim_quantity_string(const struct kar_quantity *q) KAR_MUSTUSE KAR_NONNULL KAR_RETNN;
/*
 * What the API server stores for the quantity @v of a request: its canonical text, but as written where that is as
 * good ("1.500", "+1"). New reference; @v itself if it is no quantity.
 */
struct sim_value *sim_quantity_canonical(const struct sim_value *v) KAR_MUSTUSE;

#endif
