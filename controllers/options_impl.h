/*
 * options_impl - the table of flags, as the files of controllers/options_*.c see it. Private to them.
 */
#ifndef KAR_OPTIONS_IMPL_H
#define KAR_OPTIONS_IMPL_H

#include "controllers/options.h"

struct kar_flag {
	const char *name;
	int kind;      /* of the value; private to options.c */
	size_t offset; /* of the value in struct kar_options */
	const char *group;
	const char *value; /* the default, as a user would write it; NULL: none, or .help says it */
	const char *help;
};

/* Number @i of the table, in the order of --help; NULL past its end. */
const struct kar_flag *kar_flag_at(size_t i);
/* What stands for its value in a text: "duration"; "" if it needs none. */
const char *kar_flag_metavar(const struct kar_flag *f) KAR_NONNULL;
/* Sets the value. The error names the flag, behind @dashes, and what is wanted. @text is kept, not copied. */
int kar_flag_set(struct kar_options *o, const struct kar_flag *f, const char *text, const char *dashes,
	struct kar_err *err) KAR_NONNULL;
/* Sets what the configuration file at @path says. Each error is KAR_FATAL and begins with @path and, if it is about its text, a place. */
int kar_options_read_file(struct kar_options *o, struct kar_arena *arena, const char *path,
	struct kar_err *err) KAR_NONNULL;

#endif
