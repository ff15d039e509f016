/*
 * syntax - the small grammars of the API: label keys and values, DNS names, and how error texts show a value. Pure.
 */
#ifndef SIM_SYNTAX_H
#define SIM_SYNTAX_H

#include "sim/tree.h"

/* What is wrong with a text: the API server's messages, in its order. Static strings. */
enum { SIM_COMPLAINTS = 5 };
struct sim_complaints {
	size_t n;
	const char *text[SIM_COMPLAINTS];
};

/* Each returns what is wrong with @s, n = 0 if nothing is. */
struct sim_complaints sim_check_label_key(
	const char *s) KAR_NONNULL; /* also annotations and finalizers: "a qualified name" */
struct sim_complaints sim_check_label_value(const char *s) KAR_NONNULL;
struct sim_complaints sim_check_dns_label(const char *s) KAR_NONNULL; /* RFC 1123, at most 63 bytes */
struct sim_complaints sim_check_dns_label_1035(
	const char *s) KAR_NONNULL; /* begins with a letter, at most 63 bytes */
struct sim_complaints sim_check_dns_subdomain(const char *s) KAR_NONNULL; /* RFC 1123, at most 253 bytes */

/* Appends the messages, joined by "; ". */
void sim_complaints_print(const struct sim_complaints *c, struct kar_buf *out) KAR_NONNULL;
/* Appends @s in double quotes, escaped as Go's %q does (which also escapes unprintable characters beyond ASCII). */
void sim_quote(const char *s, struct kar_buf *out) KAR_NONNULL;

/* Appends @d as Go prints a float64: shortest, with an exponent only if it is very large or small. */
void sim_print_real(double d, struct kar_buf *out) KAR_NONNULL;
/* Appends @v as Go prints a value with %v: map[a:1 b:[x <nil>]]. */
void sim_print_go(const struct sim_value *v, struct kar_buf *out) __attribute__((nonnull(2)));

#endif
