/*
 * decode_state - the state of a decoder: where in the document it is, and what the limits leave.
 *
 * Private to common/codec/decode*.c. decode.c moves through the document, decode_state.c counts limits and reports errors,
 * decode_store.c converts values.
 */
#ifndef KAR_DECODE_STATE_H
#define KAR_DECODE_STATE_H

#include "common/base/buf.h"
#include "common/codec/decode.h"

enum kar_frame_kind {
	KAR_FRAME_OBJECT, /* a struct: .base, .desc; .field is the member being read, NULL: an unknown one */
	KAR_FRAME_ARRAY,  /* .array grows */
	KAR_FRAME_MAP,    /* .array of struct kar_pair; .key is the member being read */
	KAR_FRAME_STREAM, /* elements are handed out */
};

struct kar_frame {
	enum kar_frame_kind kind;
	const struct kar_desc *desc; /* of the struct, or of the elements; NULL: elements are strings */
	const struct kar_field *field;
	char *base;
	struct kar_array *array;
	const char *key;
	size_t index; /* elements completed */
	size_t hint;  /* where the next key is looked for first: members mostly come in table order */
};

/* A part of the input with limits of its own: one stream element, or the document without its stream elements. */
struct kar_decode_unit {
	struct kar_arena *arena;
	size_t start;    /* offset where it began, or went on after an element */
	size_t before;   /* its bytes before start */
	size_t elements; /* stored so far */
	size_t depth;    /* of its brackets' surroundings */
};

struct kar_decoder {
	const struct kar_desc *desc;
	struct kar_limits limits;
	kar_each_fn *each;
	void *arg;

	struct kar_arena own, elem;
	struct kar_decode_unit document, element;
	struct kar_decode_unit *unit; /* one of the two */
	char *root;
	bool done;

	struct kar_frame *frames;
	size_t n_frames, room;
	size_t depth;
	size_t skip; /* open brackets inside a value that is not stored */

	struct kar_str *raw_out; /* of a running capture; NULL: none */
	size_t raw_since;
	bool raw_complete; /* the value has ended; its last bytes are still to come */
	struct kar_buf raw;

	struct kar_err err;
};

/* The innermost open bracket that is stored; NULL outside of the document. */
struct kar_frame *kar_decode_top(struct kar_decoder *d) KAR_NONNULL;
/* Opens one. Pointers to other frames go stale. */
struct kar_frame *kar_decode_push(struct kar_decoder *d, enum kar_frame_kind kind,
	const struct kar_desc *desc) KAR_RETNN;
/* Raises KAR_INVALID "path: text (at byte N)". Always -1. */
int kar_decode_fail(struct kar_decoder *d, size_t at, const char *fmt, ...) KAR_PRINTF(3, 4);
/*
 * A value cannot be read. 0 if a struct around it has a .problem, which then says so: the value is left absent. Else as
 * kar_decode_fail().
 */
int kar_decode_unreadable(struct kar_decoder *d, size_t at, const char *fmt, ...) KAR_PRINTF(3, 4);
/* -1 if the document or stream element is too large at offset @at. */
int kar_decode_check_size(struct kar_decoder *d, size_t at);
/* Counts one more stored element. False: it is one too many. */
bool kar_decode_count(struct kar_decoder *d);
/* That it was. As kar_decode_unreadable(). */
int kar_decode_too_many(struct kar_decoder *d, size_t at);
/* A clean copy of @s in the document's memory; NULL (with the error raised) if it is too long. */
const char *kar_decode_text(struct kar_decoder *d, const char *s, size_t n, size_t at);

#endif
