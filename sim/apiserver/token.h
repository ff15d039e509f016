/*
 * token - continue tokens of paginated lists. Pure.
 *
 * As the API server's: unpadded URL-safe base64 of {"v":"meta.k8s.io/v1","rv":323,"start":"default/a\u0000"}; the last NUL
 * says "just after". Clients must not look inside, but they can send anything.
 */
#ifndef SIM_TOKEN_H
#define SIM_TOKEN_H

#include "common/base/buf.h"
#include "common/base/err.h"

enum { SIM_TOKEN_KEY_MAX = 512 };

struct sim_token {
	int64_t rv;                    /* of the snapshot; -1: whatever is newest */
	char after[SIM_TOKEN_KEY_MAX]; /* key of the last item given */
};

void sim_token_print(int64_t rv, const char *after, struct kar_buf *out) KAR_NONNULL;
/* -1 with the API server's text. */
int sim_token_parse(const char *text, struct sim_token *out, struct kar_err *err) KAR_NONNULL;

#endif
