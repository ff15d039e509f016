/*
 * json_split - a JSON array of objects as the texts of its objects, so that some can be changed and the others stay byte for byte. Pure.
 */
#ifndef KAR_API_JSON_SPLIT_H
#define KAR_API_JSON_SPLIT_H

#include "common/codec/decode.h"

/*
 * Slices (struct kar_str) of @text, an array of objects; n == 0: absent, no slices. Their array is in @arena. -1 with KAR_INVALID if it is
 * not such an array; @what names it in the error.
 */
int kar_json_split(struct kar_str text, const char *what, struct kar_arena *arena, struct kar_array *out,
	struct kar_err *err) __attribute__((nonnull(2, 3, 4)));

#endif
