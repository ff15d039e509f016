/*
 * selector_impl - what selector.c (matching) and selector_parse.c (parsing) share.
 */
#ifndef SIM_SELECTOR_IMPL_H
#define SIM_SELECTOR_IMPL_H

#include "sim/apiserver/selector.h"

enum select_op { SELECT_IN, SELECT_NOT_IN, SELECT_EXISTS, SELECT_ABSENT, SELECT_GREATER, SELECT_LESS };

/* "=" and "==" are SELECT_IN with one value, "!=" is SELECT_NOT_IN. */
struct requirement {
	char *key;
	enum select_op op;
	char **values;
	size_t n;
};

/* All requirements must be met. Of fields the operators are IN and NOT_IN, with one value each. */
struct sim_selector {
	struct requirement *items;
	size_t n;
};

/* A new requirement, zeroed, valid until the next call. */
struct requirement *selector_add(struct sim_selector *s) KAR_NONNULL KAR_RETNN;
void selector_add_value(struct requirement *r, const char *text, size_t n) KAR_NONNULL;
/* False if @text is no int64 in decimal. */
bool selector_integer(const char *text, int64_t *out) KAR_NONNULL;

#endif
