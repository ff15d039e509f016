/*
 * json_events - JSON as bare events, for code that wants neither tables nor a stream.
 *
 * Implemented in json.c. Offsets (@at) count from the start of the text to just after the token. Strings are
 * borrowed for the call; they are decoded but not checked (see common/base/utf8.h), numbers are verbatim. Each
 * function returns 0, or -1 to stop. Depth is the receiver's business.
 */
#ifndef KAR_JSON_EVENTS_H
#define KAR_JSON_EVENTS_H

#include "common/base/base.h"
#include "common/base/err.h"

struct kar_json_events {
	int (*begin)(void *arg, bool is_array, size_t at);
	int (*end)(void *arg, size_t at);
	int (*key)(void *arg, const char *s, size_t n, size_t at);
	int (*string)(void *arg, const char *s, size_t n, size_t at);
	int (*number)(void *arg, const char *s, size_t n, size_t at);
	int (*boolean)(void *arg, bool value, size_t at);
	int (*null)(void *arg, size_t at);
};

/*
 * Reads all of @text. 0: every byte was read, which leaves open whether a value is complete; the receiver
 * knows. -1 with @err: not JSON. -1 with @err untouched: the receiver stopped.
 */
int kar_json_read(const char *text, size_t n, const struct kar_json_events *events, void *arg,
	struct kar_err *err);

#endif
