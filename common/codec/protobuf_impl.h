/*
 * protobuf_impl - one message in memory into one struct. Private to common/codec/protobuf*.c: protobuf.c implements it,
 * protobuf_stream.c cuts a stream into such messages.
 */
#ifndef KAR_PROTOBUF_IMPL_H
#define KAR_PROTOBUF_IMPL_H

#include "common/codec/decode.h"
#include "common/codec/protobuf_wire.h"

#define KAR_PB_MAGIC "k8s" /* with its terminator: four bytes */

/* Fields of runtime.Unknown. */
enum { KAR_PB_TYPE_META = 1, KAR_PB_RAW = 2, KAR_PB_CONTENT_ENCODING = 3 };

/* A member being read; they form the path of an error. Lives on the stack of the function that reads it. */
struct kar_pb_place {
	const struct kar_pb_place *up;
	const struct kar_field *field;
	size_t index; /* of the element; only if .field is an array */
};

struct kar_pb_reader {
	struct kar_arena *arena;
	const struct kar_limits *limits; /* without zeros */
	const char *what;                /* names the document in errors that have no path */
	const char *bytes;               /* what is in memory, ... */
	size_t at;                       /* ... and the offset of its first byte in the stream */
	size_t depth, elements;          /* so far */
	const struct kar_pb_place *place;
	struct kar_err *err;
};

/* Raises KAR_INVALID "path: text (at byte N)", N being the offset of @p. Always -1. */
int kar_pb_fail(const struct kar_pb_reader *r, const char *p, const char *fmt, ...) KAR_PRINTF(3, 4);
/* The member with this number, or NULL. */
const struct kar_field *kar_pb_find(const struct kar_desc *desc, uint32_t number) KAR_NONNULL;
/* Reads all of @message into the struct at @base. */
int kar_pb_message(struct kar_pb_reader *r, const struct kar_desc *desc, void *base, struct kar_str message);
/* Stores the complete field @f into the struct at @base. */
int kar_pb_store(struct kar_pb_reader *r, const struct kar_desc *desc, void *base,
	const struct kar_pb_field *f);
/* Stores a field of runtime.Unknown other than KAR_PB_RAW; @desc and @base are the object's. */
int kar_pb_store_envelope(struct kar_pb_reader *r, const struct kar_desc *desc, void *base,
	const struct kar_pb_field *f);

#endif
