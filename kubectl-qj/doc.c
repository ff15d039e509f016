#include "kubectl-qj/doc.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/str.h"

enum { DEEPEST = 130 }; /* the readers allow 120 */

/* --- reading ---------------------------------------------------------------------------------------- */

struct parse {
	struct kar_arena *arena;
	const char *at;
};

static void skip_space(struct parse *p)
{
	p->at += strspn(p->at, " \t\r\n");
}

/* Four hexadecimal digits; what is none of these is left where it is, and is 0. */
static unsigned read_hex(struct parse *p)
{
	char digits[5] = { 0 };
	size_t n = strspn(p->at, "0123456789abcdefABCDEF");

	memcpy(digits, p->at, n < 4 ? n : 4);
	p->at += n < 4 ? n : 4;
	return n < 4 ? 0 : (unsigned)strtoul(digits, NULL, 16);
}

/* UTF-8 of @c at @to. */
static char *put_character(char *to, unsigned c)
{
	if (c < 0x80) {
		*to++ = (char)c;
	} else if (c < 0x800) {
		*to++ = (char)(0xc0 | c >> 6);
		*to++ = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		*to++ = (char)(0xe0 | c >> 12);
		*to++ = (char)(0x80 | (c >> 6 & 0x3f));
		*to++ = (char)(0x80 | (c & 0x3f));
	} else {
		*to++ = (char)(0xf0 | c >> 18);
		*to++ = (char)(0x80 | (c >> 12 & 0x3f));
		*to++ = (char)(0x80 | (c >> 6 & 0x3f));
		*to++ = (char)(0x80 | (c & 0x3f));
	}
	return to;
}

/* Behind "\u": one character, or two halves of one. */
static char *read_character(struct parse *p, char *to)
{
	unsigned c = read_hex(p), low;

	if (c >= 0xd800 && c < 0xdc00 && p->at[0] == '\\' && p->at[1] == 'u') {
		p->at += 2;
		low = read_hex(p);
		c = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00) : 0;
	}
	/* Half a character, and one that ends a text in C. The shortest that is wrong is two bytes, "\u". */
	return c && !(c >= 0xd800 && c < 0xe000) ? put_character(to, c) : put_character(to, '?');
}

static const char *read_string(struct parse *p)
{
	static const char escapes[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
	const char *begin = ++p->at;
	char *text, *to;

	while (*p->at && *p->at != '"')
		p->at += p->at[0] == '\\' && p->at[1] ? 2 : 1;
	text = to = kar_arena_alloc(p->arena, (size_t)(p->at - begin) + 1, 1);
	p->at = begin;
	while (*p->at && *p->at != '"') {
		const char *escape;

		if (*p->at != '\\') {
			*to++ = *p->at++;
			continue;
		}
		p->at++;
		if (*p->at == 'u') {
			p->at++;
			to = read_character(p, to);
			continue;
		}
		escape = *p->at ? strchr(escapes, *p->at) : NULL;
		*to++ = escape ? means[escape - escapes] : '?';
		p->at += *p->at != '\0';
	}
	p->at += *p->at == '"';
	return text;
}

static struct qj_doc *read_value(struct parse *p, int depth);

static bool read_members(struct parse *p, struct qj_doc *d, char end, int depth)
{
	struct qj_doc **last = &d->first;

	p->at++;
	for (skip_space(p); *p->at && *p->at != end; skip_space(p)) {
		const char *key = NULL;

		if (*p->at == ',') {
			p->at++;
			continue;
		}
		if (end == '}') {
			key = read_string(p);
			skip_space(p);
			p->at += *p->at == ':';
		}
		*last = read_value(p, depth + 1);
		if (!*last)
			return false;
		(*last)->key = key;
		last = &(*last)->next;
	}
	p->at += *p->at == end;
	return true;
}

static struct qj_doc *read_value(struct parse *p, int depth)
{
	struct qj_doc *d = kar_arena_alloc(p->arena, 1, sizeof(*d));
	size_t n;

	skip_space(p);
	if (depth > DEEPEST || !*p->at)
		return NULL;
	if (*p->at == '{' || *p->at == '[') {
		d->kind = *p->at == '{' ? QJ_DOC_MAP : QJ_DOC_LIST;
		return read_members(p, d, *p->at == '{' ? '}' : ']', depth) ? d : NULL;
	}
	if (*p->at == '"') {
		d->kind = QJ_DOC_TEXT;
		d->text = read_string(p);
		return d;
	}
	n = strcspn(p->at, ",]} \t\r\n");
	d->text = kar_arena_strndup(p->arena, p->at, n);
	d->kind = kar_streq(d->text, "null") ? QJ_DOC_NULL : QJ_DOC_PLAIN;
	p->at += n;
	return n ? d : NULL;
}

struct qj_doc *qj_doc_parse(struct kar_arena *a, const char *json)
{
	return read_value(&(struct parse){ a, json }, 0);
}

struct qj_doc *qj_doc_get(const struct qj_doc *d, const char *path)
{
	struct qj_doc *at = d && d->kind == QJ_DOC_MAP ? d->first : NULL;

	while (at) {
		size_t n = strcspn(path, ".");

		while (at && (strlen(at->key) != n || strncmp(at->key, path, n) != 0))
			at = at->next;
		if (!at || at->kind == QJ_DOC_NULL)
			return NULL;
		if (!path[n])
			return at;
		path += n + 1;
		at = at->kind == QJ_DOC_MAP ? at->first : NULL;
	}
	return NULL;
}

const char *qj_doc_text(const struct qj_doc *d, const char *path)
{
	const struct qj_doc *at = qj_doc_get(d, path);

	return at ? at->text : NULL;
}

/* --- printing --------------------------------------------------------------------------------------- */

/* A text that YAML reads as the same text without quotes. */
static bool is_simple(const char *text)
{
	static const char *const words[] = { "true", "false", "null", "yes", "no", "on", "off", "y", "n" };
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/:-");

	if (!n || text[n] || text[n - 1] == ':' || !isalpha((unsigned char)text[0]))
		return false;
	for (size_t i = 0; i < KAR_LEN(words); i++) {
		if (strcasecmp(text, words[i]) == 0)
			return false;
	}
	return true;
}

static void print_quoted(const char *text, FILE *out)
{
	fputc('"', out);
	for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
		if (*at == '"' || *at == '\\')
			fprintf(out, "\\%c", *at);
		else if (*at == '\n')
			fputs("\\n", out);
		else if (*at == '\t')
			fputs("\\t", out);
		else if (*at < ' ' || *at == 0x7f)
			fprintf(out, "\\u%04x", *at);
		else if (*at == 0xc2 && at[1] < 0xa0) /* U+0080 to U+009F are controls, too */
			fprintf(out, "\\u%04x", *++at);
		else
			fputc(*at, out);
	}
	fputc('"', out);
}

static void print_scalar(const struct qj_doc *d, bool yaml, FILE *out)
{
	if (d->kind == QJ_DOC_MAP)
		fputs("{}", out);
	else if (d->kind == QJ_DOC_LIST)
		fputs("[]", out);
	else if (d->kind == QJ_DOC_TEXT && !(yaml && is_simple(d->text)))
		print_quoted(d->text, out);
	else
		fputs(d->text, out);
}

static void print_key(const char *key, FILE *out)
{
	if (is_simple(key))
		fputs(key, out);
	else
		print_quoted(key, out);
	fputc(':', out);
}

/* The first line goes on where the cursor is; the others begin with @indent spaces. */
static void print_yaml(const struct qj_doc *d, int indent, FILE *out)
{
	for (const struct qj_doc *m = d->first; m; m = m->next) {
		if (m != d->first)
			fprintf(out, "%*s", indent, "");
		if (d->kind == QJ_DOC_LIST)
			fputs("-", out);
		else
			print_key(m->key, out);
		if (!m->first) {
			fputc(' ', out);
			print_scalar(m, true, out);
			fputc('\n', out);
		} else if (d->kind == QJ_DOC_LIST) {
			fputc(' ', out);
			print_yaml(m, indent + 2, out);
		} else {
			/* Items of a list stand below its name, as kubectl prints them. */
			int below = indent + (m->kind == QJ_DOC_LIST ? 0 : 2);

			fprintf(out, "\n%*s", below, "");
			print_yaml(m, below, out);
		}
	}
}

void qj_doc_print_yaml(const struct qj_doc *d, FILE *out)
{
	if (d->first) {
		print_yaml(d, 0, out);
	} else {
		print_scalar(d, true, out);
		fputc('\n', out);
	}
}

static void print_json(const struct qj_doc *d, int indent, FILE *out)
{
	if (!d->first) {
		print_scalar(d, false, out);
		return;
	}
	fputs(d->kind == QJ_DOC_MAP ? "{\n" : "[\n", out);
	for (const struct qj_doc *m = d->first; m; m = m->next) {
		fprintf(out, "%*s", indent + 2, "");
		if (m->key) {
			print_quoted(m->key, out);
			fputs(": ", out);
		}
		print_json(m, indent + 2, out);
		fputs(m->next ? ",\n" : "\n", out);
	}
	fprintf(out, "%*s%c", indent, "", d->kind == QJ_DOC_MAP ? '}' : ']');
}

void qj_doc_print_json(const struct qj_doc *d, FILE *out)
{
	print_json(d, 0, out);
	fputc('\n', out);
}
