/*
 * selector - label and field selectors. Pure.
 */
#ifndef SIM_SELECTOR_H
#define SIM_SELECTOR_H

#include "sim/tree.h"

struct sim_selector;

/* "a=b,c!=d,e in (f,g),!h,i": NULL or "" selects everything. NULL with KAR_INVALID (the API server's text). */
struct sim_selector *sim_label_selector_new(const char *text, struct kar_err *err) KAR_MUSTUSE;
/* "metadata.name=x,status.phase!=Running". */
struct sim_selector *sim_field_selector_new(const char *text, struct kar_err *err) KAR_MUSTUSE;
void sim_selector_free(struct sim_selector *s); /* accepts NULL */
bool sim_selector_is_empty(const struct sim_selector *s) KAR_NONNULL;
/* @labels: the map, may be absent. */
bool sim_label_selector_matches(const struct sim_selector *s, const struct sim_value *labels)
	__attribute__((nonnull(1)));
/* @value gives the text of a field; NULL: no such field label, which @unknown (may be NULL) is told. */
bool sim_field_selector_matches(const struct sim_selector *s,
	const char *(*value)(void *arg, const char *field), void *arg) __attribute__((nonnull(1, 2)));
/* The i-th field named, or NULL past the end: to refuse unknown field labels before listing. */
const char *sim_field_selector_at(const struct sim_selector *s, size_t i) KAR_NONNULL;
/* A metav1.LabelSelector object (matchLabels, matchExpressions) against labels; absent selects nothing, {} everything. */
bool sim_label_selector_object_matches(const struct sim_value *selector, const struct sim_value *labels);

#endif
