/*
 * protobuf_wire - the protobuf encoding of one field: a tag, and what stands behind it. Pure.
 *
 * Knows neither tables nor Kubernetes.
 */
#ifndef KAR_PROTOBUF_WIRE_H
#define KAR_PROTOBUF_WIRE_H

#include "common/base/base.h"

/* 3 and 4 began and ended groups, which Kubernetes has never used: they are refused. */
enum kar_pb_wire { KAR_PB_VARINT = 0, KAR_PB_FIXED64 = 1, KAR_PB_BYTES = 2, KAR_PB_FIXED32 = 5 };

struct kar_pb_field {
	uint32_t number;
	enum kar_pb_wire wire;
	uint64_t varint;      /* KAR_PB_VARINT: the value */
	uint64_t payload;     /* how many bytes come after the header; KAR_PB_VARINT: none */
	struct kar_str bytes; /* the payload; the header parser leaves it to its caller */
};

/*
 * Reads the header of the field that begins at @p: the tag, and the varint or the length behind it. Returns how
 * many bytes it takes, 0 if it does not end within @n bytes, -1 with a static text in *@problem if it is malformed.
 */
int kar_pb_header(const char *p, size_t n, struct kar_pb_field *f, const char **problem) KAR_NONNULL;

/* "a number", "bytes", "a 64-bit value", "a 32-bit value". */
const char *kar_pb_wire_name(enum kar_pb_wire wire) KAR_RETNN;

#endif
