/*
 * amounts_wire - maps of quantities ({"cpu": "500m"}) as they are decoded, in JSON and in protobuf.
 */
#ifndef KAR_API_AMOUNTS_WIRE_H
#define KAR_API_AMOUNTS_WIRE_H

#include "common/codec/decode.h"
#include "common/sched/amounts.h"

/* The form of an entry in protobuf: .sub of a KAR_F_MAP of quantities. */
extern const struct kar_desc kar_amount_wire_desc;

/* Sets in @out what @pairs (struct kar_pair) say. A text that is no quantity counts as absent: the API server lets none pass. */
void kar_amounts_read(const struct kar_array *pairs, struct kar_amounts *out) KAR_NONNULL;

bool kar_counts_bytes(const char *resource) KAR_NONNULL;
struct kar_quantity kar_amount_exact(const struct kar_sched_amount *x) KAR_NONNULL;
/* The same as text, in @a. Bytes are written with the largest suffix that is exact. */
const char *kar_amount_quantity(const struct kar_sched_amount *x, struct kar_arena *a) KAR_NONNULL KAR_RETNN;

/* In which order resources are kept where there is a limit on them: those of Kubernetes itself ("cpu") before all others ("a.b/c"). */
int kar_resource_order(const char *a, const char *b) KAR_NONNULL;

#endif
