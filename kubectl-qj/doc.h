/*
 * doc - a document as a tree: for objects of others, of which every field must be named, and for printing objects. Internal to this folder.
 *
 * Trees live in an arena. A number is kept as its text.
 */
#ifndef KAR_KUBECTL_QJ_DOC_H
#define KAR_KUBECTL_QJ_DOC_H

#include <stdio.h>

#include "common/base/base.h"
#include "common/base/mem.h"

enum qj_doc_kind {
	QJ_DOC_NULL,
	QJ_DOC_PLAIN /* number, true, false */,
	QJ_DOC_TEXT,
	QJ_DOC_LIST,
	QJ_DOC_MAP
};

struct qj_doc {
	const char *key;             /* of a member of a map */
	const char *text;            /* of PLAIN and TEXT, unescaped */
	struct qj_doc *first, *next; /* members or items, in their order */
	enum qj_doc_kind kind;
	bool used; /* for who reads it: it is understood, with all below */
};

/* NULL: @json is no document, or is deeper than any object. What else is wrong with it is not always seen. */
struct qj_doc *qj_doc_parse(struct kar_arena *a, const char *json) KAR_NONNULL;
/* The value at @path ("spec.template.metadata"; names of its members have no dots); NULL: there is none, or it is null. */
struct qj_doc *qj_doc_get(const struct qj_doc *d, const char *path);
/* Its text; NULL: there is none, or it is no text and no number. */
const char *qj_doc_text(const struct qj_doc *d, const char *path);

/* Trees in the making (doc_make.c). Texts are borrowed. */
struct qj_doc *qj_doc_new(struct kar_arena *a, enum qj_doc_kind kind, const char *text) KAR_RETNN;
struct qj_doc *qj_doc_number(struct kar_arena *a, int64_t n) KAR_NONNULL KAR_RETNN;
/* Adds @value, whose members are shared. Return what is in the tree now. */
struct qj_doc *qj_doc_append(struct kar_arena *a, struct qj_doc *list,
	const struct qj_doc *value) KAR_NONNULL KAR_RETNN;
/* At @path, with the maps on the way to it; in the place of what is there. */
struct qj_doc *qj_doc_put(struct kar_arena *a, struct qj_doc *map, const char *path,
	const struct qj_doc *value) KAR_NONNULL KAR_RETNN;

/* Prints @d as YAML, or as JSON with two spaces for each level, with control characters escaped. Ends with a new line. */
void qj_doc_print_yaml(const struct qj_doc *d, FILE *out) KAR_NONNULL;
void qj_doc_print_json(const struct qj_doc *d, FILE *out) KAR_NONNULL;

#endif
