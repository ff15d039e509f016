/*
 * decode - from a stream of JSON events into typed structs, driven by tables.
 *
 * A table (struct kar_desc) says which members of a JSON object are wanted and where each one goes;
 * everything else is skipped without being stored. There is no tree. common/codec/json.h and common/codec/yaml.h
 * produce the events; this file knows neither of them and does no I/O. The same tables drive common/codec/protobuf.h.
 *
 * What is stored lives in the caller's arena (strings, arrays, sub-objects); nothing points into the
 * input. Duplicate keys: the last one wins, as in Go. JSON null means "absent": the member keeps its zero
 * value. Invalid UTF-8 and U+0000 inside a stored string are replaced by U+FFFD, so that a stored
 * string is always valid UTF-8 and a C string. A value of the wrong JSON type is an error that names the
 * path (`spec.taskSpecs[2].replicas`), except in a member that is .lenient, which is then left absent, and inside a
 * struct with a .problem, which says so.
 */
#ifndef KAR_DECODE_H
#define KAR_DECODE_H

#include "common/base/base.h"
#include "common/base/err.h"
#include "common/base/mem.h"

enum kar_field_type {
	KAR_F_STRING, /* const char * */
	KAR_F_INT32,  /* int32_t; a number that is no integer or out of range is an error */
	KAR_F_INT64,  /* int64_t; likewise */
	KAR_F_BOOL,   /* bool */
	KAR_F_SCALAR, /* const char *: a string's text, or a number's text verbatim (quantity, IntOrString) */
	KAR_F_TIME,   /* kar_time, wall ms, from RFC 3339; 0 = absent */
	KAR_F_OBJECT, /* the struct itself, described by .sub */
	KAR_F_OBJECT_PTR, /* pointer to the struct, NULL when absent */
	KAR_F_ARRAY,      /* struct kar_array of .sub structs, or of const char * when .sub is NULL */
	/*
	 * struct kar_array of struct kar_pair (values must be strings or numbers). If the values are messages in protobuf, as
	 * quantities are, .sub describes an entry there; its struct has the layout of struct kar_pair.
	 */
	KAR_F_MAP,
	KAR_F_RAW, /* struct kar_str: the value's bytes exactly as in the input */
	KAR_F_SELECT, /* void *: the struct described by what .select returns for the parent (NULL: by .sub), as OBJECT_PTR */
	KAR_F_STREAM, /* array of .sub structs: each is handed to .each, then forgotten */
};

struct kar_array {
	void *items; /* n elements in the arena; NULL when n is 0 */
	size_t n;
};

struct kar_pair {
	const char *key;
	const char *value;
};

/* Value of @key in a KAR_F_MAP array, or NULL. */
const char *kar_pairs_get(const struct kar_array *pairs, const char *key) KAR_NONNULL;

struct kar_desc;
struct kar_field_extra; /* defined by a layer above that uses the tables for more than decoding: api/status/status_fields.h */

struct kar_field {
	const char *name;
	enum kar_field_type type;
	bool lenient;    /* a value of the wrong type is skipped instead of being an error */
	uint16_t offset; /* of the member in its struct */
	uint16_t has;    /* offset of a bool set to true when the member was present and not null; 0: none */
	uint16_t pb;     /* its number in Kubernetes protobuf (protobuf.h); 0: not read from there */
	const struct kar_desc *sub;
	/* NULL result: .sub; if that is NULL too, the value is skipped */
	const struct kar_desc *(*select)(const void *parent);
	const struct kar_field_extra *extra; /* the decoder does not use it */
};

struct kar_desc {
	const char *what; /* for error texts: "Pod" */
	size_t size;      /* of the struct */
	const struct kar_field *fields;
	size_t n_fields;
	/*
	 * Offset of a const char *; 0: none. A value in this struct, or in what it holds, that cannot be read is left
	 * absent instead of ending the document. The first one is named there: "status.phase: want a string, got a number".
	 */
	uint16_t problem;
};

/* clang-format would take each for a block. */
/* clang-format off */
#define KAR_DESC(what_, struct_, fields_) \
	{ .what = (what_), .size = sizeof(struct_), .fields = (fields_), .n_fields = KAR_LEN(fields_) }
#define KAR_FIELD(struct_, member_, name_, type_) \
	{ .name = (name_), .type = (type_), .offset = offsetof(struct_, member_) }
#define KAR_FIELD_OPT(struct_, member_, has_, name_, type_) \
	{ .name = (name_), .type = (type_), .offset = offsetof(struct_, member_), \
	  .has = offsetof(struct_, has_) }
#define KAR_FIELD_SUB(struct_, member_, name_, type_, sub_) \
	{ .name = (name_), .type = (type_), .offset = offsetof(struct_, member_), .sub = (sub_) }
/* A time that others write: absent where it makes no sense. */
#define KAR_FIELD_TIME(struct_, member_, name_, pb_) \
	{ .name = (name_), .type = KAR_F_TIME, .offset = offsetof(struct_, member_), .pb = (pb_), .lenient = true }
/* With @pb_, the number of the field in the generated.proto of its package. */
#define KAR_FIELD_PB(struct_, member_, name_, pb_, type_) \
	{ .name = (name_), .type = (type_), .offset = offsetof(struct_, member_), .pb = (pb_) }
#define KAR_FIELD_PB_SUB(struct_, member_, name_, pb_, type_, sub_) \
	{ .name = (name_), .type = (type_), .offset = offsetof(struct_, member_), .pb = (pb_), .sub = (sub_) }
/* clang-format on */

/*
 * Bounds on one document (or one watch event). In a document with a KAR_F_STREAM array they hold for each
 * element, and for all that is outside of the elements; the document as a whole may be of any size.
 */
struct kar_limits {
	size_t depth;    /* nesting of objects and arrays; 0: 120 */
	size_t string;   /* bytes of one stored string; 0: 1 MiB */
	size_t document; /* bytes from its first to its last byte; 0: 8 MiB */
	size_t elements; /* elements of all its stored arrays and maps together; 0: 100000 */
};
/* @limits (may be NULL) with the defaults in place of zeros. */
struct kar_limits kar_limits_filled(const struct kar_limits *limits);

/* One document in the making. Opaque: the state is a stack of (table, struct) pairs. */
struct kar_decoder;

/*
 * Called for each element of a KAR_F_STREAM array, when it is complete. @elem and all it points to
 * live in the decoder's element arena and vanish when the call returns. Returning -1 with @err filled
 * aborts the document with that error.
 */
typedef int kar_each_fn(void *arg, const void *elem, struct kar_err *err);

/*
 * Decoder for documents described by @desc. @desc, @limits (may be NULL: defaults) are borrowed for its
 * life. @each may be NULL if the table has no KAR_F_STREAM member. Free with kar_decoder_free().
 */
struct kar_decoder *kar_decoder_new(const struct kar_desc *desc, const struct kar_limits *limits,
	kar_each_fn *each, void *arg);
void kar_decoder_free(struct kar_decoder *d); /* accepts NULL */
/*
 * What documents point to is put into @arena (borrowed) instead of the decoder's own memory, and stays there
 * after kar_decoder_reset(). Only between documents.
 */
void kar_decoder_set_arena(struct kar_decoder *d, struct kar_arena *arena) KAR_NONNULL;

/* The finished (or, inside @each, the unfinished) top-level struct; NULL before its first event. */
const void *kar_decoder_root(const struct kar_decoder *d) KAR_NONNULL;
/* True once the top-level value is complete. */
bool kar_decoder_done(const struct kar_decoder *d) KAR_NONNULL;
/* True between documents: nothing of the next one has been seen. */
bool kar_decoder_idle(const struct kar_decoder *d) KAR_NONNULL;
/* Forgets the document and its memory; ready for the next one. */
void kar_decoder_reset(struct kar_decoder *d) KAR_NONNULL;

/*
 * The events, called by the parsers only. @at is the byte offset in the document just after the token,
 * used for limits, raw capture and error texts. Each returns 0, or -1 with the error kept inside.
 * Strings are borrowed for the call.
 */
int kar_decoder_begin(struct kar_decoder *d, bool is_array, size_t at);
int kar_decoder_end(struct kar_decoder *d, size_t at);
int kar_decoder_key(struct kar_decoder *d, const char *s, size_t n, size_t at);
int kar_decoder_string(struct kar_decoder *d, const char *s, size_t n, size_t at);
int kar_decoder_number(struct kar_decoder *d, const char *s, size_t n, size_t at);
int kar_decoder_bool(struct kar_decoder *d, bool value, size_t at);
int kar_decoder_null(struct kar_decoder *d, size_t at);
/* The parser has read up to @at without completing a token: fails when that is past the size limit. */
int kar_decoder_progress(struct kar_decoder *d, size_t at);
/*
 * Raw capture. The parser asks after each token, and at the end of each chunk, whether a capture is
 * running; if so it gives the bytes from @since up to where it is.
 */
bool kar_decoder_capturing(const struct kar_decoder *d, size_t *since);
void kar_decoder_capture(struct kar_decoder *d, const char *bytes, size_t n);
/* The error of the last failed event. */
const struct kar_err *kar_decoder_error(const struct kar_decoder *d) KAR_RETNN KAR_NONNULL;
/* Path of the value being read, as `spec.taskSpecs[2].replicas`, into @out (always terminated). */
void kar_decoder_path(const struct kar_decoder *d, char *out, size_t size) KAR_NONNULL;

#endif
