/*
 * yaml - YAML into typed structs through the same tables as JSON; the only user of libyaml.
 *
 * A YAML document is re-written as JSON (so that raw members, limits and error paths work alike) and
 * decoded with common/codec/json.h. Plain scalars become JSON values by the YAML 1.2 core schema (null, true,
 * false, integers, floats; `yes`/`no`/`on`/`off` stay strings, as kubectl treats them for strings);
 * quoted ones are strings. Anchors and aliases are followed up to a bounded amount of output (a
 * "billion laughs" file is refused), tags are ignored, merge keys (<<) are refused with a clear text.
 */
#ifndef KAR_YAML_H
#define KAR_YAML_H

#include "common/base/buf.h"
#include "common/codec/decode.h"

/*
 * Converts document number @index (0 = first) of @text to JSON, appended to @out. Returns 1 when there
 * is one, 0 when there are fewer documents, -1 with line and column in @err. @out's cap bounds the output. @text may be NULL if @n
 * is 0.
 */
int kar_yaml_to_json(const char *text, size_t n, size_t index, struct kar_buf *out, struct kar_err *err);

/* As kar_json_decode(), for the first document of @text. An empty document is an error. */
int kar_yaml_decode(struct kar_arena *arena, const struct kar_desc *desc, const struct kar_limits *limits,
	const char *text, size_t n, void *out, struct kar_err *err);

/* A member of a flat document, with the place of its key and of its value, counted from 1. The texts live in the arena. */
struct kar_yaml_pair {
	const char *key, *value;
	size_t line, column;
	size_t value_line, value_column;
};

/*
 * Reads a configuration that a person has written: one document that is a mapping of scalars. Values are the texts as they are, quoted
 * or not. Everything else is an error with its line and column: nesting, null, a key twice, anchors, aliases, a second document.
 * Returns the pairs (struct kar_yaml_pair) in their order.
 */
int kar_yaml_flat(struct kar_arena *arena, const char *text, size_t n, struct kar_array *pairs,
	struct kar_err *err);

#endif
