/*
 * yaml_scalar - what a plain YAML scalar means in JSON, by the YAML 1.2 core schema. Pure; behind yaml.c.
 */
#ifndef KAR_YAML_SCALAR_H
#define KAR_YAML_SCALAR_H

#include "common/base/buf.h"

enum kar_yaml_plain {
	KAR_YAML_STRING,   /* just text */
	KAR_YAML_JSON,     /* null, true, false or a number: its JSON text was appended to @out */
	KAR_YAML_NOT_JSON, /* a number that JSON cannot say: infinity, NaN, hexadecimal above 64 bits */
};

enum kar_yaml_plain kar_yaml_plain(const char *s, size_t n, struct kar_buf *out) KAR_NONNULL;

#endif
