/*
 * status_fields - one table per status: read, write, compare, hash and print it.
 *
 * The table is the decoder's (struct kar_desc); the macros below add to each of its fields what the other uses need. A plain
 * new member of a status is a member of its struct, a row here, and a property in the CRD.
 *
 * The decoder fills a "wire struct". It begins with the status struct itself, as its first member (by convention `s`), so a
 * member whose JSON form is its C form is decoded in place. Members of another form (enums, versions, arrays of structs,
 * conditions) are decoded into members behind it, and kar_status_read() converts them. A nested struct has a table of its own
 * with a wire struct of its own, which may be the nested struct itself.
 *
 * Absent are: texts that are NULL or "", times, enums and versions that are 0, empty arrays of strings and of pairs, members whose `has` is
 * false, zeros marked KAR_SF_OMIT_ZERO, and nested structs without a value that is not zero. Numbers and booleans that are not
 * so marked, arrays of structs and conditions are always written. An absent member of the status or of a nested struct is
 * written as null, because a merge patch removes only what it names; inside an array, which a patch replaces as a whole, it is
 * left out.
 *
 * status_fields.c reads, writes, compares and hashes, status_print.c prints.
 *
 * Pure. The functions assert that each field of the table has an extra, and that all pointers are given.
 */
#ifndef KAR_API_STATUS_FIELDS_H
#define KAR_API_STATUS_FIELDS_H

#include "api/status/condition.h"
#include "common/codec/decode.h"

struct kar_json_writer;

/* Form of the member in the status struct. */
enum kar_status_form {
	KAR_SF_INT32,   /* int32_t */
	KAR_SF_INT64,   /* int64_t */
	KAR_SF_BOOL,    /* bool */
	KAR_SF_TIME,    /* kar_time */
	KAR_SF_ENUM,    /* an enum of the size of an int, 0: absent; its name in JSON */
	KAR_SF_VERSION, /* kar_rv; decimal text in JSON */
	KAR_SF_TEXT,    /* const char *; "" after reading, never NULL, when absent */
	KAR_SF_STRINGS, /* struct kar_array of const char * */
	KAR_SF_PAIRS, /* struct kar_array of struct kar_pair, sorted by key; a value "" is written as null, which removes the key */
	KAR_SF_STRUCT,     /* the nested struct */
	KAR_SF_STRUCTS,    /* pointer to the first of a number of structs; the number is a size_t beside it */
	KAR_SF_CONDITIONS, /* struct kar_conditions */
};

/* A set of flags; also the mask that chooses rows: those that have one of its flags. Bits 8 to 27 are the kind's. */
enum {
	KAR_SF_COUNTER = 1 << 0,      /* moves with each pod, so a change of it may wait and share a write */
	KAR_SF_STORY = 1 << 1,        /* a change is news to people, and is written at once */
	KAR_SF_INTERNAL = 1 << 2,     /* what only the controller needs */
	KAR_SF_OMIT_ZERO = 1 << 3,    /* of a number, a boolean or an array of structs: absent when it is 0 */
	KAR_SF_PRINT_ALWAYS = 1 << 4, /* printed although it has not changed */
	KAR_SF_PRINT_REASON = 1 << 5, /* of conditions: with reasons, also if only these change */
	KAR_SF_WHOLE = 1 << 7,        /* of a text: one that is too long is read as "...", not cut */
	/* For a boolean in an array of structs: the printed form of a new element compares it with true, not with false. */
	KAR_SF_NORMALLY_TRUE = 1 << 6,
	KAR_SF_OWN = 1 << 8,
};
/*
 * Rows are printed in the order of these numbers, 0 .. KAR_SF_PRINT_LAST, then of the table; without one: 0. In a nested struct
 * each row has its own; in an array of structs that of the array counts.
 */
#define KAR_SF_PRINT_AT(n) ((unsigned)(n) << 28)
#define KAR_SF_PRINT_LAST 15
#define KAR_SF_ALL (~0U) /* as a mask: every row, also those without a flag */

struct kar_field_extra {
	enum kar_status_form form;
	uint16_t offset; /* in the status struct; kar_field.offset is that in the wire struct */
	uint16_t n;      /* STRUCTS: offset of their number */
	uint16_t size;   /* STRUCTS: bytes of one */
	uint32_t max;    /* TEXT: bytes that are kept of it, NUL included */
	unsigned flags;
	const char *const *names; /* ENUM: NULL-terminated; names[0] stands for 0 and is "" */
	const char *print;        /* name in the printed form; NULL: it is not printed */
};

/*
 * Rows of a table. @wire_: the wire struct; @member_: a member of its status struct, as s.phase (of a nested struct that is
 * its own wire struct: as time); @name_: in JSON; @decoded_: the member of the wire struct that is decoded first.
 */
/* clang-format off */
#define KAR_STATUS_EXTRA(...) .extra = &(const struct kar_field_extra){ __VA_ARGS__ }
/* @form_: INT32, INT64, BOOL or TIME. */
#define KAR_STATUS(form_, wire_, member_, name_, flags_, print_) \
	{ .name = (name_), .type = KAR_F_##form_, .offset = offsetof(wire_, member_), .lenient = KAR_F_##form_ == KAR_F_TIME, \
	  KAR_STATUS_EXTRA(.form = KAR_SF_##form_, .offset = offsetof(wire_, member_), .flags = (flags_), .print = (print_)) }
/* @has_: a bool beside it that says whether there is a value. */
#define KAR_STATUS_OPT(form_, wire_, member_, has_, name_, flags_, print_) \
	{ .name = (name_), .type = KAR_F_##form_, .offset = offsetof(wire_, member_), .has = offsetof(wire_, has_), \
	  KAR_STATUS_EXTRA(.form = KAR_SF_##form_, .offset = offsetof(wire_, member_), .flags = (flags_), .print = (print_)) }
#define KAR_STATUS_TEXT(wire_, member_, name_, max_, flags_, print_) \
	{ .name = (name_), .type = KAR_F_STRING, .offset = offsetof(wire_, member_), \
	  KAR_STATUS_EXTRA(.form = KAR_SF_TEXT, .offset = offsetof(wire_, member_), .max = (max_), .flags = (flags_), .print = (print_)) }
#define KAR_STATUS_ENUM(wire_, decoded_, member_, name_, names_, flags_, print_) \
	{ .name = (name_), .type = KAR_F_STRING, .offset = offsetof(wire_, decoded_), \
	  KAR_STATUS_EXTRA(.form = KAR_SF_ENUM, .offset = offsetof(wire_, member_), .names = (names_), .flags = (flags_), .print = (print_)) }
#define KAR_STATUS_VERSION(wire_, decoded_, member_, name_, flags_, print_) \
	{ .name = (name_), .type = KAR_F_STRING, .offset = offsetof(wire_, decoded_), \
	  KAR_STATUS_EXTRA(.form = KAR_SF_VERSION, .offset = offsetof(wire_, member_), .flags = (flags_), .print = (print_)) }
#define KAR_STATUS_STRINGS(wire_, member_, name_, flags_, print_) \
	{ .name = (name_), .type = KAR_F_ARRAY, .offset = offsetof(wire_, member_), \
	  KAR_STATUS_EXTRA(.form = KAR_SF_STRINGS, .offset = offsetof(wire_, member_), .flags = (flags_), .print = (print_)) }
#define KAR_STATUS_PAIRS(wire_, member_, name_, flags_, print_) \
	{ .name = (name_), .type = KAR_F_MAP, .offset = offsetof(wire_, member_), \
	  KAR_STATUS_EXTRA(.form = KAR_SF_PAIRS, .offset = offsetof(wire_, member_), .flags = (flags_), .print = (print_)) }
/* @sub_: the table of the nested struct. Where that is its own wire struct, @decoded_ is @member_. */
#define KAR_STATUS_STRUCT(wire_, decoded_, member_, name_, sub_, flags_, print_) \
	{ .name = (name_), .type = KAR_F_OBJECT, .offset = offsetof(wire_, decoded_), .sub = (sub_), \
	  KAR_STATUS_EXTRA(.form = KAR_SF_STRUCT, .offset = offsetof(wire_, member_), .flags = (flags_), .print = (print_)) }
/* @decoded_: a struct kar_array; @member_: pointer to @struct_; @n_: their number. The first row of @sub_ is their name, a text. */
#define KAR_STATUS_STRUCTS(wire_, decoded_, member_, n_, struct_, name_, sub_, flags_, print_) \
	{ .name = (name_), .type = KAR_F_ARRAY, .offset = offsetof(wire_, decoded_), .sub = (sub_), \
	  KAR_STATUS_EXTRA(.form = KAR_SF_STRUCTS, .offset = offsetof(wire_, member_), .n = offsetof(wire_, n_), \
		.size = sizeof(struct_), .flags = (flags_), .print = (print_)) }
/* @decoded_: a struct kar_array. */
#define KAR_STATUS_CONDITIONS(wire_, decoded_, member_, name_, flags_, print_) \
	{ .name = (name_), .type = KAR_F_ARRAY, .offset = offsetof(wire_, decoded_), .sub = &kar_wire_condition_desc, \
	  KAR_STATUS_EXTRA(.form = KAR_SF_CONDITIONS, .offset = offsetof(wire_, member_), .flags = (flags_), .print = (print_)) }
/* clang-format on */

/* From the decoded @wire to @status. All that it points to is copied into @arena, bounded as in api/copy.h. */
void kar_status_read(const struct kar_desc *table, const void *wire, void *status,
	struct kar_arena *arena) KAR_NONNULL;
/* Writes the members that @mask chooses, each with its key, into the object that is open in @w: the caller may add others. */
void kar_status_write(struct kar_json_writer *w, const struct kar_desc *table, const void *status,
	unsigned mask) KAR_NONNULL;
/* The same without those that are absent: not for a patch. */
void kar_status_write_present(struct kar_json_writer *w, const struct kar_desc *table, const void *status,
	unsigned mask) KAR_NONNULL;
/*
 * Are the members that @mask chooses equal? In nested structs it chooses among their own rows; a different number of structs in
 * an array counts only if the row of the array is chosen.
 */
bool kar_status_equal(const struct kar_desc *table, const void *a, const void *b, unsigned mask) KAR_NONNULL;
/*
 * Hash of the members that @mask chooses, in nested structs and arrays as kar_status_equal() does; @seed chains several parts.
 * Times count in whole seconds, as they are written. Each member is hashed with its name, and only if it is not absent and not
 * zero, so a row that is added to the table does not change the hash of a status that lacks it.
 */
uint64_t kar_status_hash(const struct kar_desc *table, const void *status, unsigned mask,
	uint64_t seed) KAR_NONNULL;
/*
 * The rows that have a print name, as far as @new differs from @old: "phase=Running running=3 startTime formed=-"; in @arena. A
 * text, an enum or a time that has become absent is "-"; a time is only named. Of an array of strings or pairs their number is printed.
 * Members of structs in an array follow as "started[worker]". Conditions are "Formed=True".
 */
const char *kar_status_print(const struct kar_desc *table, const void *old, const void *new,
	struct kar_arena *arena) KAR_NONNULL KAR_RETNN;

/*
 * The pairs @new (sorted by key, as @old), and those keys of @old that it lacks with the value "": what a patch of @old says, so that it
 * has @new afterwards. The array is in @arena, its texts are borrowed.
 */
struct kar_array kar_status_pairs_over(const struct kar_array *old, const struct kar_array *new,
	struct kar_arena *arena) KAR_NONNULL;

bool kar_status_same_pairs(const struct kar_array *a, const struct kar_array *b) KAR_NONNULL;

/* The value of the name @s (NULL: absent) in a NULL-terminated list of names; 0: none of them. */
unsigned kar_status_name_parse(const char *const *names, const char *s) __attribute__((nonnull(1)));

#endif
