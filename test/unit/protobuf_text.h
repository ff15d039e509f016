/*
 * protobuf_text - protobuf bytes from a text that can be read:
 *
 *   3={'abc'}   field 3: bytes, with the length of what stands between the braces
 *   3#05        field 3: a varint, whose bytes follow
 *   0a ff       bytes as they are
 *   'abc'       text as it is
 *
 * Header only: each test program is one file.
 */
#ifndef TEST_UNIT_PROTOBUF_TEXT_H
#define TEST_UNIT_PROTOBUF_TEXT_H

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "test/unit/protobuf_writer.h"

static inline void pb_text_braces(const char **p, struct kar_buf *out);

/* One token at *@p. */
static inline void pb_text_token(const char **p, struct kar_buf *out)
{
	char *end;
	unsigned long number = strtoul(*p, &end, 10);

	if (**p == '\'') {
		const char *close = strchr(*p + 1, '\'');

		kar_buf_append(out, *p + 1, (size_t)(close - *p) - 1);
		*p = close + 1;
	} else if (**p == '{') {
		pb_text_braces(p, out);
	} else if (isdigit((unsigned char)**p) && (*end == '=' || *end == '#')) {
		pb_put_varint(out, number << 3 | (*end == '=' ? PB_BYTES : 0));
		*p = end + 1;
	} else {
		const char hex[3] = { (*p)[0], (*p)[1], '\0' };
		char byte = (char)strtoul(hex, &end, 16);

		if (end != hex + 2)
			abort(); /* the row is wrong */
		kar_buf_append(out, &byte, 1);
		*p += 2;
	}
}

static inline void pb_text_braces(const char **p, struct kar_buf *out)
{
	struct kar_buf inner = { 0 };

	for (++*p; **p != '}';) {
		if (**p == ' ')
			++*p;
		else
			pb_text_token(p, &inner);
	}
	++*p;
	pb_put_varint(out, inner.n);
	kar_buf_append(out, kar_buf_cstr(&inner), inner.n);
	kar_buf_release(&inner);
}

/* Appends the bytes that @text means. */
static inline void pb_text(const char *text, struct kar_buf *out)
{
	while (*text) {
		if (*text == ' ')
			text++;
		else
			pb_text_token(&text, out);
	}
}

#endif
