/* JSON text to values (RFC 8259). */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/utf8.h"
#include "sim/tree_impl.h"

enum { MAX_DEPTH = 120, MAX_DOCUMENT = 8 << 20, ERROR_MAX = 128 };

static const char end_of_input[] = "unexpected end of JSON input";

struct reader {
	const char *p, *end;   /* the text, which ends with a NUL */
	char error[ERROR_MAX]; /* the first one, worded as by Go's parser: clients of the API see it */
	int depth;
	struct kar_buf text; /* of a string with escapes */
};

static struct sim_value *read_value(struct reader *r);

static void fail(struct reader *r, const char *error)
{
	if (!r->error[0])
		snprintf(r->error, sizeof(r->error), "%s", error);
}

/* The character between the quotes of an error text. Bytes that are not ASCII are shown as Latin-1. */
static void show(unsigned char c, char out[8])
{
	static const char from[] = "\a\b\f\n\r\t\v'\\", to[] = "abfnrtv'\\";
	const char *at = c ? strchr(from, c) : NULL;

	if (at)
		snprintf(out, 8, "\\%c", to[at - from]);
	else if (c < 0x20 || c == 0x7f)
		snprintf(out, 8, "\\x%02x", c);
	else if (c < 0x80)
		snprintf(out, 8, "%c", c);
	else
		snprintf(out, 8, "%c%c", 0xc0 | c >> 6, 0x80 | (c & 0x3f));
}

/* The character here does not belong here; @where: "after array element". */
static void reject(struct reader *r, const char *where)
{
	char shown[8];

	if (r->error[0])
		return;
	show((unsigned char)*r->p, shown);
	if (r->p == r->end)
		fail(r, end_of_input);
	else
		snprintf(r->error, sizeof(r->error), "invalid character '%s' %s", shown, where);
}

static void skip_space(struct reader *r)
{
	while (*r->p == ' ' || *r->p == '\n' || *r->p == '\t' || *r->p == '\r')
		r->p++;
}

/* Four hexadecimal digits after "\u"; -1: something else, where r->p is then. */
static int read_hex(struct reader *r)
{
	int n = 0;

	for (int i = 0; i < 4; i++, r->p++) {
		char c = *r->p;

		if (c >= '0' && c <= '9')
			n = 16 * n + c - '0';
		else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))
			n = 16 * n + (c | 0x20) - 'a' + 10;
		else
			return -1;
	}
	return n;
}

static void append_utf8(struct kar_buf *out, unsigned c)
{
	char b[4];
	size_t n = 0;

	if (c < 0x80) {
		b[n++] = (char)c;
	} else if (c < 0x800) {
		b[n++] = (char)(0xc0 | c >> 6);
		b[n++] = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		b[n++] = (char)(0xe0 | c >> 12);
		b[n++] = (char)(0x80 | (c >> 6 & 0x3f));
		b[n++] = (char)(0x80 | (c & 0x3f));
	} else {
		b[n++] = (char)(0xf0 | c >> 18);
		b[n++] = (char)(0x80 | (c >> 12 & 0x3f));
		b[n++] = (char)(0x80 | (c >> 6 & 0x3f));
		b[n++] = (char)(0x80 | (c & 0x3f));
	}
	kar_buf_append(out, b, n);
}

/* What follows "\u". Half a surrogate pair, and NUL, become U+FFFD. */
static void read_unicode(struct reader *r)
{
	const unsigned replacement = 0xfffd;
	int c = read_hex(r), low = 0;
	const char *second = r->p;

	if (c >= 0xd800 && c < 0xdc00 && r->p[0] == '\\' && r->p[1] == 'u') {
		r->p += 2;
		low = read_hex(r);
	}
	if (c < 0 || low < 0) {
		reject(r, "in \\u hexadecimal character escape");
	} else if (low >= 0xdc00 && low <= 0xdfff) {
		append_utf8(&r->text, 0x10000 + ((unsigned)c - 0xd800) * 0x400 + ((unsigned)low - 0xdc00));
	} else {
		r->p = second; /* the second escape, if there is one, stands for itself */
		append_utf8(&r->text, c && (c < 0xd800 || c > 0xdfff) ? (unsigned)c : replacement);
	}
}

static void read_escape(struct reader *r)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *at = *r->p ? strchr(from, *r->p) : NULL;

	if (at) {
		kar_buf_append(&r->text, &to[at - from], 1);
		r->p++;
	} else if (*r->p == 'u') {
		r->p++;
		read_unicode(r);
	} else {
		reject(r, "in string escape code");
	}
}

/* The plain characters from here. */
static size_t plain(const struct reader *r)
{
	const char *p = r->p;

	while ((unsigned char)*p >= 0x20 && *p != '"' && *p != '\\')
		p++;
	return (size_t)(p - r->p);
}

/* Contents of the string whose quote was read: in the document, or in r->text if it has escapes. */
static struct kar_str read_string(struct reader *r)
{
	struct kar_str s = { r->p, plain(r) };

	r->p += s.n;
	if (*r->p == '"') {
		r->p++;
		return s;
	}
	kar_buf_clear(&r->text);
	kar_buf_append(&r->text, s.p, s.n);
	while (!r->error[0] && *r->p == '\\') {
		r->p++;
		read_escape(r);
		s.n = plain(r);
		kar_buf_append(&r->text, r->p, s.n);
		r->p += s.n;
	}
	if (*r->p != '"')
		reject(r, "in string literal");
	else
		r->p++;
	return (struct kar_str){ kar_buf_cstr(&r->text), r->text.n };
}

static bool read_digits(struct reader *r, const char *where)
{
	size_t n = strspn(r->p, "0123456789");

	r->p += n;
	if (n == 0)
		reject(r, where);
	return n > 0;
}

/* Whether the number from here on is well-formed; @real: it has a fraction or an exponent. */
static bool scan_number(struct reader *r, bool *real)
{
	*real = false;
	r->p += *r->p == '-';
	if (*r->p == '0')
		r->p++;
	else if (!read_digits(r, "in numeric literal"))
		return false;
	if (*r->p == '.') {
		*real = true;
		r->p++;
		if (!read_digits(r, "after decimal point in numeric literal"))
			return false;
	}
	if (*r->p != 'e' && *r->p != 'E')
		return true;
	*real = true;
	r->p++;
	r->p += *r->p == '+' || *r->p == '-';
	return read_digits(r, "in exponent of numeric literal");
}

/* Integers that do not fit become real, as in Go. */
static struct sim_value *read_number(struct reader *r)
{
	const char *from = r->p;
	long long i;
	bool real;
	double d;

	if (!scan_number(r, &real))
		return NULL;
	errno = 0;
	i = real ? 0 : strtoll(from, NULL, 10);
	if (!real && !errno)
		return sim_int(i);
	d = strtod(from, NULL);
	if (isfinite(d))
		return sim_real(d);
	if (!r->error[0])
		snprintf(r->error, sizeof(r->error),
			"json: cannot unmarshal number %.*s into Go value of type float64",
			(int)(r->p - from), from);
	return NULL;
}

static struct sim_value *read_word(struct reader *r, const char *word, struct sim_value *v)
{
	char where[48];
	size_t n = 0;

	while (word[n] && r->p[n] == word[n])
		n++;
	r->p += n;
	if (!word[n])
		return v;
	snprintf(where, sizeof(where), "in literal %s (expecting '%c')", word, word[n]);
	reject(r, where);
	return NULL;
}

/* After an element: true if another one follows. */
static bool goes_on(struct reader *r, char close, const char *where)
{
	skip_space(r);
	if (r->error[0])
		return false;
	if (*r->p == ',') {
		r->p++;
		return true;
	}
	if (*r->p == close)
		r->p++;
	else
		reject(r, where);
	return false;
}

static struct sim_value *read_array(struct reader *r)
{
	struct sim_value *array = sim_array(), *item;

	skip_space(r);
	if (*r->p == ']') {
		r->p++;
		return array;
	}
	do {
		item = read_value(r);
		if (item)
			sim_append(&array, item);
	} while (goes_on(r, ']', "after array element"));
	return array;
}

static void read_member(struct reader *r, struct sim_value **object)
{
	char fixed[64], *key = fixed;
	struct sim_value *value;
	struct kar_str s;

	skip_space(r);
	if (*r->p != '"') {
		reject(r, "looking for beginning of object key string");
		return;
	}
	r->p++;
	s = read_string(r);
	if (s.n >= sizeof(fixed))
		key = kar_xmalloc(s.n + 1);
	memcpy(key, s.p, s.n);
	key[s.n] = '\0';
	skip_space(r);
	if (*r->p == ':')
		r->p++;
	else
		reject(r, "after object key");
	value = r->error[0] ? NULL : read_value(r);
	if (value)
		sim_map_put(object, key, value);
	if (key != fixed)
		free(key);
}

static struct sim_value *read_object(struct reader *r)
{
	struct sim_value *object = sim_object();

	skip_space(r);
	if (*r->p == '}') {
		r->p++;
		return object;
	}
	do
		read_member(r, &object);
	while (goes_on(r, '}', "after object key:value pair"));
	return object;
}

static struct sim_value *read_container(struct reader *r)
{
	struct sim_value *v;

	if (++r->depth > MAX_DEPTH) {
		fail(r, "the document is nested more than 120 levels deep");
		return NULL;
	}
	v = *r->p++ == '{' ? read_object(r) : read_array(r);
	r->depth--;
	return v;
}

/* NULL with r->error set. */
static struct sim_value *read_value(struct reader *r)
{
	struct kar_str s;

	skip_space(r);
	switch (*r->p) {
	case '{':
	case '[':
		return read_container(r);
	case '"':
		r->p++;
		s = read_string(r);
		return r->error[0] ? NULL : sim_string_clean(s.p, s.n);
	case 't':
		return read_word(r, "true", sim_bool(true));
	case 'f':
		return read_word(r, "false", sim_bool(false));
	case 'n':
		return read_word(r, "null", sim_null());
	default:
		if (*r->p == '-' || (*r->p >= '0' && *r->p <= '9'))
			return read_number(r);
		reject(r, "looking for beginning of value");
		return NULL;
	}
}

/* @text ends with a NUL at @n. */
static struct sim_value *read_document(const char *text, size_t n, struct kar_err *err)
{
	struct reader r = { .p = text, .end = text + n, .text = { .cap = MAX_DOCUMENT } };
	struct sim_value *v = read_value(&r);

	skip_space(&r);
	if (!r.error[0] && r.p != r.end)
		reject(&r, "after top-level value");
	kar_buf_release(&r.text);
	if (!r.error[0])
		return v;
	kar_fail(err, KAR_INVALID, "%s", r.error);
	sim_unref(v);
	return NULL;
}

struct sim_value *sim_parse(const char *text, size_t n, struct kar_err *err)
{
	struct sim_value *v;
	char *copy;
	bool clean;
	size_t size;

	if (n > MAX_DOCUMENT) {
		kar_fail(err, KAR_INVALID, "the document has more than %d bytes", MAX_DOCUMENT);
		return NULL;
	}
	/* A copy with a NUL at its end, so that no step has to look where the end is. */
	clean = kar_utf8_clean(text, n) == n;
	size = clean ? n : kar_utf8_mended_len(text, n);
	copy = kar_xmalloc(size + 1);
	if (clean)
		memcpy(copy, text, n);
	else
		kar_utf8_mend(copy, text, n);
	copy[size] = '\0';
	v = read_document(copy, size, err);
	free(copy);
	return v;
}
