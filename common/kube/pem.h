/*
 * pem - what a look at credentials can tell: base64, PEM, certificate dates, characters of a token.
 *
 * Pure. Not a verifier: the TLS library judges certificates. These checks exist so that a wrong or cut-off
 * setting is refused at start with a text that names it, instead of later with a TLS alert. No error text
 * contains any of the examined bytes.
 */
#ifndef KAR_PEM_H
#define KAR_PEM_H

#include "common/base/base.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/mem.h"

enum kar_base64 {
	KAR_BASE64_STD, /* RFC 4648 section 4, padded; line breaks between characters are allowed */
	KAR_BASE64_URL, /* section 5, without padding, as in JSON web tokens */
	KAR_BASE64_PEM, /* as STD, and blanks and tabs are allowed too */
};

/*
 * Decodes the @n characters at @s into @a. Returns the bytes, NUL-terminated, and their number in *@out_n; NULL
 * if a character, the padding or the unused bits of the last character are wrong, *@bad_at then is its offset.
 */
char *kar_base64_decode(struct kar_arena *a, enum kar_base64 variant, const char *s, size_t n, size_t *out_n,
	size_t *bad_at) KAR_MUSTUSE KAR_NONNULL;
/* Appends the standard, padded form of the @n bytes at @data. */
void kar_base64_encode(struct kar_buf *out, const void *data, size_t n) KAR_NONNULL;

enum kar_pem_kind { KAR_PEM_CERTIFICATE, KAR_PEM_PRIVATE_KEY };

/*
 * 0 if @pem holds at least one block of @kind and every such block is whole: begin and end lines, base64, one
 * DER element of exactly that length. Else KAR_FATAL with what is wrong ("holds a private key where a
 * certificate belongs"); the caller says where. Encrypted keys are refused: nobody could enter the password.
 */
int kar_pem_check(const char *pem, enum kar_pem_kind kind, struct kar_err *err) __attribute__((nonnull(1)));
/* When the first certificate in @pem ceases to be valid (wall ms); KAR_NEVER if that cannot be read. */
kar_time kar_pem_not_after(const char *pem) KAR_NONNULL;

/* 0 if @token can stand in a header: not empty, visible ASCII only. Else KAR_FATAL; the caller says where. */
int kar_token_check(const char *token, struct kar_err *err) __attribute__((nonnull(1)));

#endif
