/*
 * json - reading and writing JSON; the only user of yajl.
 *
 * Reading: bytes in any chunking -> yajl's streaming callbacks -> common/codec/decode.h. Only the streaming
 * API is used, never yajl_tree (CVE-2023-33460); numbers are kept as text (yajl's own integer
 * conversion overflows near 2^63); depth, strings and documents are bounded before anything is stored;
 * yajl gets an allocator that cannot return NULL, because it does not check.
 * Errors carry the path and the byte offset: `spec.replicas: want an integer, got a string (at byte 217)`.
 */
#ifndef KAR_JSON_H
#define KAR_JSON_H

#include "common/base/buf.h"
#include "common/codec/decode.h"

/*
 * Decodes the one document in @text. The struct of @desc->size bytes is written to @out; what it points
 * to lives in @arena. Trailing white space is allowed, anything else is an error (KAR_INVALID), and so is a
 * truncated document. On failure *@out is untouched. @limits may be NULL.
 */
int kar_json_decode(struct kar_arena *arena, const struct kar_desc *desc, const struct kar_limits *limits,
	const char *text, size_t n, void *out, struct kar_err *err);

/*
 * Reader of a stream: either one large document whose table has a KAR_F_STREAM array (LIST), or any
 * number of documents one after the other (WATCH).
 */
struct kar_json_stream;

/*
 * @each is called per KAR_F_STREAM element; @document (may be NULL) per complete top-level value, with its
 * struct, which vanishes when the call returns. Either may return -1 with an error to stop the stream.
 */
struct kar_json_stream *kar_json_stream_new(const struct kar_desc *desc, const struct kar_limits *limits,
	kar_each_fn *each, kar_each_fn *document, void *arg) KAR_MUSTUSE KAR_RETNN;
/* Feeds the next bytes. After a failure the stream is dead: free it. */
int kar_json_stream_feed(struct kar_json_stream *s, const char *bytes, size_t n, struct kar_err *err);
/* No more bytes will come. KAR_INVALID ("truncated") if the stream ends inside a document. */
int kar_json_stream_finish(struct kar_json_stream *s, struct kar_err *err);
/* True between documents, i.e. a clean place to end a watch. */
bool kar_json_stream_idle(const struct kar_json_stream *s) KAR_NONNULL;
void kar_json_stream_free(struct kar_json_stream *s); /* accepts NULL */

/*
 * Writer: appends one JSON document to @out (borrowed until kar_json_writer_release()). Commas,
 * colons and escapes are its business; strings are written as valid UTF-8 (bad bytes become U+FFFD).
 * Misuse (a value where a key belongs, unbalanced ends) is a programming error and asserts.
 */
struct kar_json_writer {
	struct kar_buf *out;
	void *gen; /* yajl_gen */
};

void kar_json_writer_init(struct kar_json_writer *w, struct kar_buf *out) KAR_NONNULL;
void kar_json_writer_release(struct kar_json_writer *w) KAR_NONNULL;

void kar_jw_begin_object(struct kar_json_writer *w) KAR_NONNULL;
void kar_jw_end_object(struct kar_json_writer *w) KAR_NONNULL;
void kar_jw_begin_array(struct kar_json_writer *w) KAR_NONNULL;
void kar_jw_end_array(struct kar_json_writer *w) KAR_NONNULL;
void kar_jw_key(struct kar_json_writer *w, const char *key) KAR_NONNULL;
void kar_jw_string(struct kar_json_writer *w, const char *s) KAR_NONNULL;
void kar_jw_string_n(struct kar_json_writer *w, const char *s, size_t n) KAR_NONNULL;
void kar_jw_int(struct kar_json_writer *w, int64_t v) KAR_NONNULL;
void kar_jw_bool(struct kar_json_writer *w, bool v) KAR_NONNULL;
void kar_jw_null(struct kar_json_writer *w) KAR_NONNULL;
void kar_jw_time(struct kar_json_writer *w, kar_time wall) KAR_NONNULL; /* RFC 3339, seconds, UTC */
/* One complete JSON value, byte for byte; the caller vouches for it (it came from the reader). */
void kar_jw_raw(struct kar_json_writer *w, struct kar_str value) KAR_NONNULL;

/* key + value in one call. */
void kar_jw_kv_string(struct kar_json_writer *w, const char *key, const char *value) KAR_NONNULL;
void kar_jw_kv_int(struct kar_json_writer *w, const char *key, int64_t value) KAR_NONNULL;
void kar_jw_kv_bool(struct kar_json_writer *w, const char *key, bool value) KAR_NONNULL;
void kar_jw_kv_time(struct kar_json_writer *w, const char *key, kar_time wall) KAR_NONNULL;

/*
 * Re-writes one JSON document canonically (object keys sorted by bytes, no white space, numbers verbatim)
 * for hashing. Bounded: 8 MiB, 120 levels, 262144 values; of duplicate keys the last one stays. KAR_INVALID if
 * it cannot be parsed; @out is then untouched. The same bounds hold for kar_json_merge().
 */
int kar_json_canonical(const char *text, size_t n, struct kar_buf *out, struct kar_err *err);

/*
 * Overlay @patch on the JSON object @base as RFC 7386 (JSON merge patch) does, and append the result to @out.
 * For building pods from raw templates without a tree of our own types.
 */
int kar_json_merge(struct kar_str base, struct kar_str patch, struct kar_buf *out, struct kar_err *err);

#endif
