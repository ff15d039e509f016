/*
 * protobuf_writer - the other direction of common/codec/protobuf.h: from wire structs to Kubernetes protobuf, by the same
 * tables. For tests that have their documents in words.
 *
 * Header only: each test program is one file.
 */
#ifndef TEST_UNIT_PROTOBUF_WRITER_H
#define TEST_UNIT_PROTOBUF_WRITER_H

#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/codec/decode.h"

enum { PB_BYTES = 2, PB_CAP = 16 << 20 };

static inline void pb_put_varint(struct kar_buf *out, uint64_t v)
{
	do {
		char byte = (char)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));

		kar_buf_append(out, &byte, 1);
		v >>= 7;
	} while (v);
}

static inline void pb_put_number(struct kar_buf *out, unsigned number, uint64_t v)
{
	pb_put_varint(out, number << 3);
	pb_put_varint(out, v);
}

static inline void pb_put_bytes(struct kar_buf *out, unsigned number, const char *p, size_t n)
{
	pb_put_varint(out, number << 3 | PB_BYTES);
	pb_put_varint(out, n);
	kar_buf_append(out, p, n);
}

static inline void pb_put_text(struct kar_buf *out, unsigned number, const char *s)
{
	if (s)
		pb_put_bytes(out, number, s, strlen(s));
}

/* As a field, and gives it back. */
static inline void pb_put_message(struct kar_buf *out, unsigned number, struct kar_buf *message)
{
	pb_put_bytes(out, number, kar_buf_cstr(message), message->n);
	kar_buf_release(message);
}

static inline void pb_put_struct(struct kar_buf *out, const struct kar_desc *desc, const void *base);

static inline void pb_put_time(struct kar_buf *out, unsigned number, kar_time t)
{
	struct kar_buf message = { 0 };

	if (t) {
		pb_put_number(&message, 1, (uint64_t)(t / 1000));
		pb_put_number(&message, 2, 0);
	}
	pb_put_message(out, number, &message);
}

static inline void pb_put_array(struct kar_buf *out, const struct kar_field *f, const struct kar_array *a)
{
	for (size_t i = 0; i < a->n; i++) {
		struct kar_buf message = { .cap = PB_CAP };

		if (f->sub) {
			pb_put_struct(&message, f->sub, (const char *)a->items + i * f->sub->size);
			pb_put_message(out, f->pb, &message);
		} else {
			pb_put_text(out, f->pb, ((const char *const *)a->items)[i]);
		}
	}
}

static inline void pb_put_map(struct kar_buf *out, unsigned number, const struct kar_array *pairs)
{
	const struct kar_pair *p = pairs->items;

	for (size_t i = 0; i < pairs->n; i++) {
		struct kar_buf message = { .cap = PB_CAP };

		pb_put_text(&message, 1, p[i].key);
		pb_put_text(&message, 2, p[i].value);
		pb_put_message(out, number, &message);
	}
}

/* The text in the member @name of the struct, or "". */
static inline const char *pb_member_text(const struct kar_desc *desc, const void *base, const char *name)
{
	for (size_t i = 0; i < desc->n_fields; i++) {
		const struct kar_field *f = &desc->fields[i];

		if (strcmp(f->name, name) == 0 && f->type == KAR_F_STRING)
			return *(const char *const *)(const void *)((const char *)base + f->offset);
	}
	return "";
}

/* What comes before the object in a document; @object_n are its bytes. */
static inline void pb_put_envelope(struct kar_buf *out, const char *api_version, const char *kind,
	size_t object_n)
{
	struct kar_buf type = { 0 };

	pb_put_text(&type, 1, api_version);
	pb_put_text(&type, 2, kind);
	kar_buf_append(out, "k8s", 4);
	pb_put_message(out, 1, &type);
	pb_put_varint(out, 2 << 3 | PB_BYTES);
	pb_put_varint(out, object_n);
}

/* contentEncoding and contentType: the API server writes them, empty, behind the object. */
static inline void pb_put_envelope_end(struct kar_buf *out)
{
	pb_put_text(out, 3, "");
	pb_put_text(out, 4, "");
}

static inline void pb_put_document(struct kar_buf *out, const struct kar_desc *desc, const void *base)
{
	struct kar_buf object = { .cap = PB_CAP };

	pb_put_struct(&object, desc, base);
	pb_put_envelope(out, pb_member_text(desc, base, "apiVersion"), pb_member_text(desc, base, "kind"),
		object.n);
	kar_buf_append(out, kar_buf_cstr(&object), object.n);
	pb_put_envelope_end(out);
	kar_buf_release(&object);
}

static inline void pb_put_extension(struct kar_buf *out, const struct kar_field *f, const void *base,
	const void *object)
{
	const struct kar_desc *chosen = f->select ? f->select(base) : NULL;
	struct kar_buf document = { .cap = PB_CAP }, message = { .cap = PB_CAP };

	if (!object)
		return;
	pb_put_document(&document, chosen ? chosen : f->sub, object);
	pb_put_message(&message, 1, &document);
	pb_put_message(out, f->pb, &message);
}

static inline void pb_put_object(struct kar_buf *out, const struct kar_field *f, const void *object)
{
	struct kar_buf message = { .cap = PB_CAP };

	if (!object)
		return;
	pb_put_struct(&message, f->sub, object);
	pb_put_message(out, f->pb, &message);
}

static inline void pb_put_field(struct kar_buf *out, const struct kar_field *f, const void *base)
{
	const void *member = (const char *)base + f->offset;

	switch (f->type) {
	case KAR_F_STRING:
		pb_put_text(out, f->pb, *(const char *const *)member);
		break;
	case KAR_F_INT32:
		pb_put_number(out, f->pb, (uint64_t)(int64_t) * (const int32_t *)member);
		break;
	case KAR_F_INT64:
		pb_put_number(out, f->pb, (uint64_t) * (const int64_t *)member);
		break;
	case KAR_F_BOOL:
		pb_put_number(out, f->pb, *(const bool *)member);
		break;
	case KAR_F_TIME:
		pb_put_time(out, f->pb, *(const kar_time *)member);
		break;
	case KAR_F_OBJECT:
		pb_put_object(out, f, member);
		break;
	case KAR_F_OBJECT_PTR:
		pb_put_object(out, f, *(const void *const *)member);
		break;
	case KAR_F_ARRAY:
		pb_put_array(out, f, member);
		break;
	case KAR_F_MAP:
		pb_put_map(out, f->pb, member);
		break;
	case KAR_F_SELECT:
		pb_put_extension(out, f, base, *(const void *const *)member);
		break;
	default:
		abort(); /* has no protobuf form */
	}
}

/* What JSON had and could not be read is a number in protobuf, where a message is wanted. */
static inline void pb_put_problem(struct kar_buf *out, const struct kar_desc *desc, const void *base)
{
	if (desc->problem && *(const char *const *)(const void *)((const char *)base + desc->problem))
		pb_put_number(out, desc->fields[desc->n_fields - 1].pb, 5);
}

static inline void pb_put_struct(struct kar_buf *out, const struct kar_desc *desc, const void *base)
{
	for (size_t i = 0; i < desc->n_fields; i++) {
		if (desc->fields[i].pb && desc->fields[i].type != KAR_F_STREAM)
			pb_put_field(out, &desc->fields[i], base);
	}
	pb_put_problem(out, desc, base);
}

/* A message of a watch, after its length. */
static inline void pb_put_frame(struct kar_buf *out, const struct kar_desc *desc, const void *base)
{
	struct kar_buf message = { .cap = PB_CAP };

	pb_put_struct(&message, desc, base);
	for (int shift = 24; shift >= 0; shift -= 8) {
		char byte = (char)(message.n >> shift & 0xff);

		kar_buf_append(out, &byte, 1);
	}
	kar_buf_append(out, kar_buf_cstr(&message), message.n);
	kar_buf_release(&message);
}

#endif
