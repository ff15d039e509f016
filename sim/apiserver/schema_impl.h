/*
 * schema_impl - a compiled schema and what the files that read it share.
 *
 *   schema_compile.c  JSON -> nodes, structural rules      schema_validate.c  values against nodes
 *   schema_format.c   formats of strings                   schema_lists.c     list types, embedded resources
 *   schema_pattern.c  patterns of strings
 *   schema_text.c     paths, values and causes             schema_prune.c, schema_default.c
 *   schema.c          what is public
 */
#ifndef SIM_SCHEMA_IMPL_H
#define SIM_SCHEMA_IMPL_H

#include <bsd/sys/queue.h>

#include "common/base/mem.h"
#include "sim/apiserver/schema.h"

enum schema_types {
	TYPE_OBJECT = 1,
	TYPE_ARRAY = 2,
	TYPE_STRING = 4,
	TYPE_INTEGER = 8,
	TYPE_NUMBER = 16,
	TYPE_BOOLEAN = 32,
};

enum schema_list { LIST_ATOMIC, LIST_SET, LIST_MAP };

struct schema_bound {
	bool set, exclusive;
	double value;
};

struct schema_node;
struct schema_property {
	const char *name;
	struct schema_node *node;
};
struct schema_nodes {
	struct schema_node **items;
	size_t n;
};
typedef bool schema_format_fn(const char *text);

/* One schema. Values are borrowed from the source, which the schema holds. Members that are NULL, 0 or -1 restrict nothing. */
struct schema_node {
	unsigned types;        /* enum schema_types; integer and string: int-or-string */
	const char *type_text; /* "integer,string": as error texts name it */
	bool nullable, preserves, embedded, atomic_map;
	const char *format;
	schema_format_fn *format_holds;
	struct schema_bound minimum, maximum, multiple;
	int64_t min_length, max_length, min_items, max_items, min_properties, max_properties;
	const char *pattern;
	const struct schema_regex *regex;
	const struct sim_value *choices, *default_, *required, *list_keys; /* NULL: not given */
	enum schema_list list;
	struct schema_property *properties; /* in the order of the source */
	size_t n_properties;
	uint32_t *slots; /* open addressing: 1 + index of a property; 0: free */
	size_t mask;
	bool additional_given; /* additionalProperties was there; `additional` is NULL if it was true or false */
	bool additional_refused;
	struct schema_node *additional, *items, *not ;
	struct schema_nodes all_of, any_of, one_of;
	bool lists_inside, embedded_inside; /* here or below: something for schema_lists.c to do */
};

struct schema_regex {
	SLIST_ENTRY(schema_regex) link;
	struct pcre2_real_code_8 *code; /* owned */
};

struct sim_schema {
	struct kar_arena arena;
	struct sim_value *source;
	struct schema_node *root;
	bool rules; /* x-kubernetes-validations somewhere */
	SLIST_HEAD(, schema_regex) regexes;
};

/* What a member or an item of @n is: borrowed, NULL if the schema does not say. */
struct schema_node *schema_property(const struct schema_node *n, const char *key) KAR_NONNULL;
struct schema_node *schema_member(const struct schema_node *n,
	const char *key) KAR_NONNULL; /* or additionalProperties */

/* --- schema_format.c: compiling sets the members of @n, checking asks for one text ---------------------------------------- */

/* What the API server does not support for this type is ignored, as there. */
void schema_format_compile(struct schema_node *n, const char *format) KAR_NONNULL;

/* --- schema_pattern.c ------------------------------------------------------------------------------------------------------ */

/* -1 with KAR_INVALID if it is none. */
int schema_pattern_compile(struct sim_schema *s, struct schema_node *n, const char *pattern,
	struct kar_err *err) KAR_NONNULL;

/* Whether a part of @text matches; also true if finding out takes too many steps. */
bool schema_pattern_allows(const struct schema_regex *r, const char *text) KAR_NONNULL;
void schema_patterns_free(struct sim_schema *s) KAR_NONNULL;

/* --- schema_text.c: causes ---------------------------------------------------------------------------------------------- */

/* Where a value is. The root is a NULL pointer. */
struct schema_place {
	const struct schema_place *up;
	const char *key; /* NULL: an item */
	size_t index;
	bool in_map; /* a key of additionalProperties: "[key]" where the API server writes paths in its other style */
};

struct schema_result {
	struct sim_causes causes;
	size_t matches; /* checks that were made: the API server shows the failures of the best alternative */
	const char *prefix; /* "status": the root of the values; NULL: the whole object */
};

/* "spec.a[0]", appended; nothing for the root. @bracketed: the style for list types, "spec.labels[key]". */
void schema_path(const struct schema_place *at, bool bracketed, struct kar_buf *out)
	__attribute__((nonnull(3)));
/* As error texts show a value: numbers and booleans plain, texts quoted, the rest as JSON with sorted members. */
void schema_print_value(const struct sim_value *v, struct kar_buf *out) KAR_NONNULL;

enum { SCHEMA_CAUSES_MAX = 1000 }; /* more are not collected */
/* @fmt makes the whole message. @bracketed: see schema_path(). */
void schema_refuse(struct schema_result *r, const char *reason, const struct schema_place *at, bool bracketed,
	const char *fmt, ...) KAR_PRINTF(5, 6);
/* "Invalid value: @value: PATH in body @fmt". */
void schema_refuse_value(struct schema_result *r, const struct schema_place *at,
	const struct sim_value *value, const char *fmt, ...) KAR_PRINTF(4, 5);
/* Of wrong types: @is is what the value is. */
void schema_refuse_type(struct schema_result *r, const struct schema_place *at, const char *wanted,
	const char *is);
/* Without a field: `Invalid value: "": `, @before, the path, @after. */
void schema_refuse_whole(struct schema_result *r, const struct schema_place *at, const char *before,
	const char *after);
/* Forgets the causes from number @from on. */
void schema_forget(struct sim_causes *c, size_t from) KAR_NONNULL;
/* Moves the causes of @from behind those of @to, but not what is there already since number @since. */
void schema_merge(struct schema_result *to, size_t since, struct schema_result *from) KAR_NONNULL;

/* --- the walks ----------------------------------------------------------------------------------------------------------- */

/* Would anything at or below @v be pruned? */
bool schema_has_unknown(const struct schema_node *n, const struct sim_value *v) KAR_NONNULL;
/* @old NULL: nothing to compare with. */
void schema_validate_value(const struct schema_node *n, const struct sim_value *v,
	const struct sim_value *old, const struct schema_place *at, struct schema_result *r)
	__attribute__((nonnull(1, 2, 5)));
/* Uniqueness in sets and maps; skips what is shared with @old. */
void schema_validate_lists(const struct schema_node *n, const struct sim_value *v,
	const struct sim_value *old, const struct schema_place *at, struct schema_result *r)
	__attribute__((nonnull(1, 2, 5)));
void schema_validate_embedded(const struct schema_node *n, const struct sim_value *v,
	const struct schema_place *at, struct schema_result *r) __attribute__((nonnull(1, 2, 4)));

#endif
