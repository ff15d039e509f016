#include "common/codec/protobuf_wire.h"

enum {
	VARINT_BYTES = 10, /* 64 bits, 7 in each */
	WIRE_BITS = 3,     /* of a tag */
};

static const uint64_t number_max = (1u << 29) - 1;

/* As kar_pb_header(), for one varint. More bytes than the value needs are allowed, as everywhere. */
static int read_varint(const char *p, size_t n, uint64_t *value, const char **problem)
{
	*value = 0;
	for (size_t i = 0; i < n && i < VARINT_BYTES; i++) {
		uint64_t bits = (unsigned char)p[i] & 0x7f;

		if (i == VARINT_BYTES - 1 && (unsigned char)p[i] > 1)
			break; /* a 65th bit, or an eleventh byte */
		*value |= bits << (7 * i);
		if (!((unsigned char)p[i] & 0x80))
			return (int)i + 1;
	}
	if (n < VARINT_BYTES)
		return 0;
	*problem = "a number of more than 64 bits";
	return -1;
}

static int read_tag(const char *p, size_t n, struct kar_pb_field *f, const char **problem)
{
	uint64_t tag = 0;
	int used = read_varint(p, n, &tag, problem);
	uint64_t number = tag >> WIRE_BITS;

	if (used <= 0)
		return used;
	if (number == 0 || number > number_max) {
		*problem = "a field number out of range";
		return -1;
	}
	f->number = (uint32_t)number;
	f->wire = (enum kar_pb_wire)(tag & ((1u << WIRE_BITS) - 1));
	return used;
}

int kar_pb_header(const char *p, size_t n, struct kar_pb_field *f, const char **problem)
{
	*f = (struct kar_pb_field){ 0 };
	int tag = read_tag(p, n, f, problem), value = 0;

	if (tag <= 0)
		return tag;
	switch (f->wire) {
	case KAR_PB_VARINT:
		value = read_varint(p + tag, n - (size_t)tag, &f->varint, problem);
		break;
	case KAR_PB_BYTES:
		value = read_varint(p + tag, n - (size_t)tag, &f->payload, problem);
		break;
	case KAR_PB_FIXED64:
		f->payload = sizeof(uint64_t);
		return tag;
	case KAR_PB_FIXED32:
		f->payload = sizeof(uint32_t);
		return tag;
	default:
		*problem = "a group, or a wire type that does not exist";
		return -1;
	}
	return value <= 0 ? value : tag + value;
}

const char *kar_pb_wire_name(enum kar_pb_wire wire)
{
	switch (wire) {
	case KAR_PB_VARINT:
		return "a number";
	case KAR_PB_BYTES:
		return "bytes";
	case KAR_PB_FIXED64:
		return "a 64-bit value";
	default:
		return "a 32-bit value";
	}
}
