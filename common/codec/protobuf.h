/*
 * protobuf - reading Kubernetes protobuf into typed structs, by the same tables as JSON (common/codec/decode.h). Pure.
 *
 * A document is enveloped: four bytes "k8s\0", then runtime.Unknown, which names apiVersion and kind and holds the
 * object. They are stored in string members of these names, if the table has them; every other member is
 * found by its number (kar_field.pb). What no member wants is skipped without being looked at.
 *
 * The rules of decode.h hold, and: proto2 as Kubernetes writes it has no null and writes fields that are no
 * pointers in Go even when they are empty, so an empty string is absent (but stays an element of an array, or a value of
 * a map). A repeated occurrence of a sub-object is merged into the first, of anything else that is no array the last
 * wins. KAR_F_TIME is metav1.Time, KAR_F_MAP map<string, string>, KAR_F_SELECT runtime.RawExtension with a document
 * inside; KAR_F_SCALAR and KAR_F_RAW have no protobuf form.
 */
#ifndef KAR_PROTOBUF_H
#define KAR_PROTOBUF_H

#include "common/codec/decode.h"

/*
 * Decodes the one document in the @n bytes at @bytes. The struct of @desc->size bytes is written to @out; what it
 * points to lives in @arena. On failure (KAR_INVALID, with path and offset) *@out is untouched. @limits may be NULL.
 */
int kar_protobuf_decode(struct kar_arena *arena, const struct kar_desc *desc, const struct kar_limits *limits,
	const char *bytes, size_t n, void *out, struct kar_err *err);

enum kar_protobuf_framing {
	KAR_PROTOBUF_DOCUMENT, /* one document; the elements of its KAR_F_STREAM array are not kept (LIST) */
	KAR_PROTOBUF_FRAMES, /* any number of messages without envelope, each after its length in 4 bytes (WATCH) */
};

/* Reader of a stream; the counterpart of struct kar_json_stream, with the same contract. */
struct kar_protobuf_stream;

/*
 * @each is called per KAR_F_STREAM element, @document (may be NULL) per complete document or frame, with its struct,
 * which vanishes when the call returns. Either may return -1 with an error to stop the stream. At most one element or
 * frame is in memory.
 */
struct kar_protobuf_stream *kar_protobuf_stream_new(const struct kar_desc *desc,
	const struct kar_limits *limits, enum kar_protobuf_framing framing, kar_each_fn *each,
	kar_each_fn *document, void *arg) KAR_MUSTUSE KAR_RETNN;
/* Feeds the next bytes. After a failure the stream is dead: free it. */
int kar_protobuf_stream_feed(struct kar_protobuf_stream *s, const char *bytes, size_t n, struct kar_err *err);
/* No more bytes will come. KAR_INVALID ("truncated") if the stream ends inside a document or frame. */
int kar_protobuf_stream_finish(const struct kar_protobuf_stream *s, struct kar_err *err);
void kar_protobuf_stream_free(struct kar_protobuf_stream *s); /* accepts NULL */

#endif
