#include "common/kube/pem.h"

#include <string.h>

#include "common/base/timefmt.h"

/* Value of a base64 character, or -1. */
static int sextet(enum kar_base64 variant, char c)
{
	bool url = variant == KAR_BASE64_URL;

	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == (url ? '-' : '+'))
		return 62;
	return c == (url ? '_' : '/') ? 63 : -1;
}

static bool is_ignored(enum kar_base64 variant, char c)
{
	static const char *const ignored[] = {
		[KAR_BASE64_STD] = "\r\n",
		[KAR_BASE64_URL] = "",
		[KAR_BASE64_PEM] = "\r\n \t",
	};

	return c && strchr(ignored[variant], c);
}

/* True if @used characters of data followed by @pads of '=' make a whole text without stray bits. */
static bool ends_well(enum kar_base64 variant, size_t used, size_t pads, uint32_t bits)
{
	size_t rest = used % 4;
	uint32_t unused = rest == 2 ? bits & 0xf : rest == 3 ? bits & 0x3 : 0;

	if (rest == 1 || unused)
		return false;
	if (variant == KAR_BASE64_URL)
		return pads == 0;
	return pads == (rest ? 4 - rest : 0);
}

char *kar_base64_decode(struct kar_arena *a, enum kar_base64 variant, const char *s, size_t n, size_t *out_n,
	size_t *bad_at)
{
	char *out = kar_arena_alloc(a, n / 4 * 3 + 4, 1);
	size_t used = 0, pads = 0, o = 0;
	uint32_t bits = 0;

	for (size_t i = 0; i < n; i++) {
		int v = sextet(variant, s[i]);

		if (is_ignored(variant, s[i]))
			continue;
		*bad_at = i;
		if (s[i] == '=') {
			pads++;
			continue;
		}
		if (v < 0 || pads)
			return NULL;
		bits = bits << 6 | (uint32_t)v;
		used++;
		if (used % 4 != 1)
			out[o++] = (char)(bits >> (6 - 2 * ((used + 3) % 4)) & 0xff);
	}
	*bad_at = n;
	if (!ends_well(variant, used, pads, bits))
		return NULL;
	*out_n = o;
	out[o] = '\0';
	return out;
}

void kar_base64_encode(struct kar_buf *out, const void *data, size_t n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *p = data;

	for (size_t i = 0; i < n; i += 3) {
		size_t have = n - i < 3 ? n - i : 3;
		uint32_t v = (uint32_t)p[i] << 16;
		char quad[4];

		if (have > 1)
			v |= (uint32_t)p[i + 1] << 8;
		if (have > 2)
			v |= p[i + 2];
		quad[0] = digits[v >> 18];
		quad[1] = digits[v >> 12 & 63];
		quad[2] = have > 1 ? digits[v >> 6 & 63] : '=';
		quad[3] = have > 2 ? digits[v & 63] : '=';
		kar_buf_append(out, quad, sizeof(quad));
	}
}

/* One element of DER: its tag and the bytes inside. */
struct der {
	uint8_t tag;
	const uint8_t *p;
	size_t n;
};

/* Takes the next element off the front of @rest. False if there is none or it is cut off. */
static bool der_take(struct der *rest, struct der *element)
{
	size_t head = 2, n, digits;

	if (rest->n < head)
		return false;
	n = rest->p[1];
	if (n & 0x80) {
		digits = n & 0x7f;
		if (digits == 0 || digits > sizeof(uint32_t) || rest->n < head + digits)
			return false;
		n = 0;
		for (size_t i = 0; i < digits; i++)
			n = n << 8 | rest->p[head + i];
		head += digits;
	}
	if (rest->n - head < n)
		return false;
	*element = (struct der){ .tag = rest->p[0], .p = rest->p + head, .n = n };
	rest->p += head + n;
	rest->n -= head + n;
	return true;
}

enum {
	DER_SEQUENCE = 0x30,
	DER_UTC_TIME = 0x17,         /* YYMMDDHHMMSSZ */
	DER_GENERALIZED_TIME = 0x18, /* YYYYMMDDHHMMSSZ */
	DER_CONTEXT_0 = 0xa0,
};

/* RFC 5280 section 4.1.2.5: two digits of a year from 50 on mean the 20th century. */
static kar_time der_time(const struct der *t)
{
	bool two_digits = t->tag == DER_UTC_TIME;
	char d[16], text[KAR_TIME_LEN] = "";
	kar_time wall;
	struct kar_buf b = { 0 };

	if ((t->tag != DER_UTC_TIME && t->tag != DER_GENERALIZED_TIME) || t->n != (two_digits ? 13u : 15u))
		return KAR_NEVER;
	memcpy(d, two_digits && t->p[0] < '5' ? "20" : "19", 2);
	memcpy(d + (two_digits ? 2 : 0), t->p, t->n);
	kar_buf_printf(&b, "%.4s-%.2s-%.2sT%.2s:%.2s:%.2sZ", d, d + 4, d + 6, d + 8, d + 10, d + 12);
	if (b.n < sizeof(text))
		memcpy(text, b.p, b.n);
	kar_buf_release(&b);
	return kar_time_parse(text, &wall) ? KAR_NEVER : wall;
}

/* notAfter of an X.509 certificate: certificate > tbsCertificate > validity, its second element. */
static kar_time not_after(const char *der, size_t n)
{
	struct der rest = { .p = (const uint8_t *)der, .n = n };
	struct der e, skipped;

	if (!der_take(&rest, &e))
		return KAR_NEVER;
	rest = e;
	if (!der_take(&rest, &e))
		return KAR_NEVER;
	rest = e;
	if (rest.n && rest.p[0] == DER_CONTEXT_0 && !der_take(&rest, &skipped)) /* version */
		return KAR_NEVER;
	for (int i = 0; i < 3; i++) { /* serialNumber, signature, issuer */
		if (!der_take(&rest, &skipped))
			return KAR_NEVER;
	}
	if (!der_take(&rest, &e) || e.tag != DER_SEQUENCE)
		return KAR_NEVER;
	rest = e;
	if (!der_take(&rest, &skipped) || !der_take(&rest, &e))
		return KAR_NEVER;
	return der_time(&e);
}

/* One -----BEGIN label----- ... -----END label----- block. */
struct block {
	struct kar_str label, body;
};

#define BEGIN "-----BEGIN "
#define END "-----END "
#define DASHES "-----"

/* The next block at or after *@at, which moves behind it. 1 found, 0 none left, -1 it has no end line. */
static int next_block(const char **at, struct block *b)
{
	const char *begin = strstr(*at, BEGIN);
	const char *label, *body, *end;

	if (!begin)
		return 0;
	label = begin + strlen(BEGIN);
	body = strstr(label, DASHES);
	if (!body)
		return -1;
	b->label = (struct kar_str){ label, (size_t)(body - label) };
	body += strlen(DASHES);
	end = strstr(body, END);
	if (!end || strncmp(end + strlen(END), label, b->label.n + strlen(DASHES)) != 0)
		return -1;
	b->body = (struct kar_str){ body, (size_t)(end - body) };
	*at = end + strlen(END) + b->label.n + strlen(DASHES);
	return 1;
}

static bool label_is(const struct block *b, const char *label)
{
	return b->label.n == strlen(label) && memcmp(b->label.p, label, b->label.n) == 0;
}

/* "PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "ENCRYPTED PRIVATE KEY" */
static bool is_private_key(const struct block *b)
{
	const char *tail = "PRIVATE KEY";
	size_t n = strlen(tail);

	return b->label.n >= n && memcmp(b->label.p + b->label.n - n, tail, n) == 0;
}

static bool is_certificate(const struct block *b)
{
	return label_is(b, "CERTIFICATE") || label_is(b, "X509 CERTIFICATE") ||
		label_is(b, "TRUSTED CERTIFICATE");
}

static bool block_is(const struct block *b, enum kar_pem_kind kind)
{
	return kind == KAR_PEM_CERTIFICATE ? is_certificate(b) : is_private_key(b);
}

static int check_block(const struct block *b, const char *what, struct kar_err *err)
{
	struct kar_arena arena = { 0 };
	struct der rest = { 0 }, e;
	size_t n = 0, bad_at;
	char *der;
	bool whole;

	/* Either label or a "Proc-Type: 4,ENCRYPTED" header line. */
	if (label_is(b, "ENCRYPTED PRIVATE KEY") || memchr(b->body.p, ':', b->body.n))
		return kar_fail(err, KAR_FATAL, "holds an encrypted %s; give it without a password", what);
	der = kar_base64_decode(&arena, KAR_BASE64_PEM, b->body.p, b->body.n, &n, &bad_at);
	rest.p = (const uint8_t *)der;
	rest.n = n;
	/* A TRUSTED CERTIFICATE carries more elements behind the certificate. */
	whole = der && der_take(&rest, &e) && e.tag == DER_SEQUENCE &&
		(!rest.n || label_is(b, "TRUSTED CERTIFICATE"));
	kar_arena_wipe(&arena);
	return whole ? 0 : kar_fail(err, KAR_FATAL, "holds a damaged or cut-off %s", what);
}

int kar_pem_check(const char *pem, enum kar_pem_kind kind, struct kar_err *err)
{
	const char *what = kind == KAR_PEM_CERTIFICATE ? "certificate" : "private key";
	const char *other = kind == KAR_PEM_CERTIFICATE ? "private key" : "certificate";
	size_t wanted = 0, others = 0;
	struct block b;
	int found;

	for (found = next_block(&pem, &b); found > 0; found = next_block(&pem, &b)) {
		if (!block_is(&b, kind)) {
			others += is_certificate(&b) || is_private_key(&b);
			continue;
		}
		wanted++;
		if (check_block(&b, what, err))
			return -1;
	}
	if (found < 0)
		return kar_fail(err, KAR_FATAL, "is cut off: a PEM block has no matching end line");
	if (!wanted && others)
		return kar_fail(err, KAR_FATAL, "holds a %s where a %s belongs", other, what);
	if (!wanted)
		return kar_fail(err, KAR_FATAL, "holds no %s in PEM form (-----BEGIN ...)", what);
	return 0;
}

kar_time kar_pem_not_after(const char *pem)
{
	struct kar_arena arena = { 0 };
	kar_time when = KAR_NEVER;
	size_t n, bad_at;
	struct block b;
	char *der;

	while (next_block(&pem, &b) > 0) {
		if (!is_certificate(&b))
			continue;
		der = kar_base64_decode(&arena, KAR_BASE64_PEM, b.body.p, b.body.n, &n, &bad_at);
		if (der)
			when = not_after(der, n);
		break;
	}
	kar_arena_release(&arena);
	return when;
}

int kar_token_check(const char *token, struct kar_err *err)
{
	if (!*token)
		return kar_fail(err, KAR_FATAL, "is empty");
	for (const char *p = token; *p; p++) {
		if (*p <= ' ' || *p >= 0x7f)
			return kar_fail(err, KAR_FATAL,
				"contains white space, control or non-ASCII characters; a token is one word");
	}
	return 0;
}
