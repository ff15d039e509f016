/*
 * options_impl - the table of flags, as the files of controllers/process/options_*.c see it. Private to them.
 */
#ifndef KAR_OPTIONS_IMPL_H
#define KAR_OPTIONS_IMPL_H

#include "controllers/process/options.h"

enum kar_flag_kind {
	KAR_FLAG_STRING,
	KAR_FLAG_NAME,      /* of an object */
	KAR_FLAG_NAMESPACE, /* its name */
	KAR_FLAG_COUNT,
	KAR_FLAG_DECIMAL,
	KAR_FLAG_PART, /* a number from 0 to 1, kept in thousandths, rounded down */
	KAR_FLAG_DURATION,
	KAR_FLAG_PRIORITY, /* or "off" */
	KAR_FLAG_FORMAT,
	KAR_FLAG_BACKEND,
	KAR_FLAG_BOOL,
};

struct kar_flag {
	const char *name;
	enum kar_flag_kind kind; /* of the value */
	size_t offset;           /* of the value in struct kar_options */
	const char *group;
	const char *value; /* the default, as a user would write it; NULL: none, or .help says it */
	const char *help;
	int64_t min, max; /* of a number; of a duration in ms */
};

/* Number @i of the table, in the order of --help; NULL past its end. */
const struct kar_flag *kar_flag_at(size_t i);
/* What stands for its value in a text: "duration"; "" if it needs none. */
const char *kar_flag_metavar(const struct kar_flag *f) KAR_NONNULL;
/* Sets the value, or returns -1: it is not one of the kind, or out of its range. @text is kept, not copied. */
int kar_flag_convert(const struct kar_flag *f, struct kar_options *o, const char *text) KAR_NONNULL;
/* The same. The error names the flag, behind @dashes, and what is wanted. @text is kept, not copied. */
int kar_flag_set(struct kar_options *o, const struct kar_flag *f, const char *text, const char *dashes,
	struct kar_err *err) KAR_NONNULL;
/* Sets what the configuration file at @path says. Each error is KAR_FATAL and begins with @path and, if it is about its text, a place. */
int kar_options_read_file(struct kar_options *o, struct kar_arena *arena, const char *path,
	struct kar_err *err) KAR_NONNULL;

#endif
