#include "sim/apiserver/selector.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/utf8.h"
#include "sim/apiserver/selector_impl.h"
#include "sim/apiserver/syntax.h"

/* ---- label selectors: "a=b,c in (d,e),!f" ---- */

enum token { TOKEN_END, TOKEN_WORD, TOKEN_SYMBOL };

/* Reads one token ahead. Symbols are "=", "==", "!=", "!", "(", ")", ",", "<" and ">". */
struct lexer {
	const char *at; /* after the token */
	enum token token;
	struct kar_str text;
};

static void advance(struct lexer *l)
{
	static const char blanks[] = " \t\r\n", symbols[] = "=!(),><";
	const char *s = l->at + strspn(l->at, blanks);

	l->text.p = s;
	l->text.n = strcspn(s, " \t\r\n=!(),><");
	l->token = TOKEN_WORD;
	if (!*s) {
		l->token = TOKEN_END;
	} else if (strchr(symbols, *s)) {
		l->token = TOKEN_SYMBOL;
		l->text.n = (*s == '=' || *s == '!') && s[1] == '=' ? 2 : 1;
	}
	l->at = s + l->text.n;
}

static bool reads(const struct lexer *l, const char *text)
{
	return l->token != TOKEN_END && strlen(text) == l->text.n && !memcmp(l->text.p, text, l->text.n);
}

static int unexpected(const struct lexer *l, const char *expected, struct kar_err *err)
{
	return kar_fail(err, KAR_INVALID, "found '%.*s'%s", (int)l->text.n, l->text.p, expected);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The values of a requirement are a set: sorted, each once. */
static void normalise(struct requirement *r)
{
	size_t kept = 0;

	if (r->n > 1)
		qsort(r->values, r->n, sizeof(*r->values), by_text);
	for (size_t i = 0; i < r->n; i++) {
		if (kept > 0 && !strcmp(r->values[kept - 1], r->values[i]))
			free(r->values[i]);
		else
			r->values[kept++] = r->values[i];
	}
	r->n = kept;
}

/* "b,c)" after "(": empty values are allowed, also all of them. */
static int parse_list(struct lexer *l, struct requirement *r, struct kar_err *err)
{
	bool word_seen = false; /* since the last comma */

	for (; !reads(l, ")"); advance(l)) {
		if (l->token == TOKEN_WORD && !word_seen) {
			selector_add_value(r, l->text.p, l->text.n);
			word_seen = true;
			continue;
		}
		if (!reads(l, ","))
			return unexpected(l,
				word_seen ? ", expected: ',' or ')'" : ", expected: ',', or identifier", err);
		if (!word_seen)
			selector_add_value(r, "", 0);
		word_seen = false;
	}
	if (!word_seen)
		selector_add_value(r, "", 0);
	advance(l);
	return 0;
}

static int parse_set(struct lexer *l, struct requirement *r, struct kar_err *err)
{
	if (!reads(l, "("))
		return unexpected(l, " expected: '('", err);
	advance(l);
	if (l->token != TOKEN_WORD && !reads(l, ",") && !reads(l, ")"))
		return unexpected(l, ", expected: ',', ')' or identifier", err);
	return parse_list(l, r, err);
}

static int parse_value(struct lexer *l, struct requirement *r, struct kar_err *err)
{
	if (l->token == TOKEN_END || reads(l, ",")) {
		selector_add_value(r, "", 0);
		return 0;
	}
	if (l->token != TOKEN_WORD)
		return unexpected(l, ", expected: identifier", err);
	selector_add_value(r, l->text.p, l->text.n);
	advance(l);
	return 0;
}

static int parse_operation(struct lexer *l, struct requirement *r, struct kar_err *err)
{
	static const struct {
		const char *text;
		enum select_op op;
		int (*values)(struct lexer *l, struct requirement *r, struct kar_err *err);
	} operations[] = {
		{ "in", SELECT_IN, parse_set },
		{ "notin", SELECT_NOT_IN, parse_set },
		{ "=", SELECT_IN, parse_value },
		{ "==", SELECT_IN, parse_value },
		{ "!=", SELECT_NOT_IN, parse_value },
		{ ">", SELECT_GREATER, parse_value },
		{ "<", SELECT_LESS, parse_value },
	};

	for (size_t i = 0; i < KAR_LEN(operations); i++) {
		if (!reads(l, operations[i].text))
			continue;
		r->op = operations[i].op;
		advance(l);
		return operations[i].values(l, r, err);
	}
	return unexpected(l, ", expected: in, notin, =, ==, !=, gt, lt", err);
}

static int check_key(const char *key, struct kar_err *err)
{
	struct sim_complaints c = sim_check_label_key(key);
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf b = { 0 };

	if (c.n == 0)
		return 0;
	sim_quote(key, &b);
	kar_buf_puts(&b, ": ");
	sim_complaints_print(&c, &b);
	return kar_fail(err, KAR_INVALID, "<nil>: Invalid value: %s", kar_buf_cstr(&b));
}

/* The path of a refused value, as the server writes it, and the value. */
static void refuse(struct kar_buf *b, size_t *n, size_t i, const char *key, const char *value)
{
	kar_buf_printf(b, "%svalues[%zu]", (*n)++ ? ", " : "", i);
	if (key)
		kar_buf_printf(b, "[%s]", key);
	kar_buf_puts(b, ": Invalid value: ");
	sim_quote(value, b);
	kar_buf_puts(b, ": ");
}

static int check_values(const struct requirement *r, struct kar_err *err)
{
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf b = { 0 };
	bool numeric = r->op == SELECT_GREATER || r->op == SELECT_LESS;
	size_t n = 0;
	int64_t number;

	for (size_t i = 0; numeric && i < r->n; i++) {
		if (selector_integer(r->values[i], &number))
			continue;
		refuse(&b, &n, i, NULL, r->values[i]);
		kar_buf_puts(&b, "for 'Gt', 'Lt' operators, the value must be an integer");
	}
	for (size_t i = 0; i < r->n; i++) {
		struct sim_complaints c = sim_check_label_value(r->values[i]);

		if (c.n == 0)
			continue;
		refuse(&b, &n, i, r->key, r->values[i]);
		sim_complaints_print(&c, &b);
	}
	if (n == 0)
		return 0;
	return kar_fail(err, KAR_INVALID, n > 1 ? "[%s]" : "%s", kar_buf_cstr(&b));
}

static int parse_requirement(struct lexer *l, struct requirement *r, struct kar_err *err)
{
	bool negated = reads(l, "!");

	if (negated)
		advance(l);
	if (l->token != TOKEN_WORD)
		return unexpected(l, ", expected: identifier", err);
	r->key = kar_xstrndup(l->text.p, l->text.n);
	r->op = negated ? SELECT_ABSENT : SELECT_EXISTS;
	if (check_key(r->key, err))
		return -1;
	advance(l);
	if (negated || l->token == TOKEN_END || reads(l, ","))
		return 0;
	if (parse_operation(l, r, err))
		return -1;
	normalise(r);
	return check_values(r, err);
}

static int parse_labels(struct sim_selector *s, const char *text, struct kar_err *err)
{
	struct lexer l = { .at = text };

	advance(&l);
	if (l.token == TOKEN_SYMBOL && !reads(&l, "!"))
		return unexpected(&l, ", expected: !, identifier, or 'end of string'", err);
	while (l.token != TOKEN_END) {
		if (parse_requirement(&l, selector_add(s), err))
			return kar_wrap(err, "unable to parse requirement");
		if (l.token == TOKEN_END)
			return 0;
		if (!reads(&l, ","))
			return unexpected(&l, ", expected: ',' or 'end of string'", err);
		advance(&l);
		if (l.token != TOKEN_WORD && !reads(&l, "!"))
			return unexpected(&l, ", expected: identifier after ','", err);
	}
	return 0;
}

struct sim_selector *sim_label_selector_new(const char *text, struct kar_err *err)
{
	struct sim_selector *s = kar_xcalloc(1, sizeof(*s));

	if (!text || !parse_labels(s, text, err))
		return s;
	sim_selector_free(s);
	return NULL;
}

/* ---- field selectors: "metadata.name=x,status.phase!=Running" ---- */

/* Length of the term at @s: up to a comma that no backslash precedes. */
static size_t term_length(const char *s)
{
	size_t n = 0;

	for (; s[n] && s[n] != ','; n++) {
		if (s[n] == '\\' && s[n + 1])
			n++;
	}
	return n;
}

static int bad_escape(const char *s, struct kar_err *err)
{
	int n = (int)kar_utf8_step(s, strlen(s));

	return kar_fail(err, KAR_INVALID, "invalid field selector: invalid escape sequence: \\%.*s", n, s);
}

/* The value without its escapes, appended to @out. */
static int unescape(const char *s, struct kar_buf *out, struct kar_err *err)
{
	for (; *s; s++) {
		if (*s == ',' || *s == '=')
			return kar_fail(err, KAR_INVALID,
				"invalid field selector: unescaped character in value: %d", *s);
		if (*s == '\\') {
			s++;
			if (!*s || !strchr("\\,=", *s))
				return bad_escape(s, err);
		}
		kar_buf_append(out, s, 1);
	}
	return 0;
}

/* Where the first operator of @term begins; NULL: it has none. */
static const char *find_operator(const char *term)
{
	const char *equals = strchr(term, '=');

	return equals && equals > term && equals[-1] == '!' ? equals - 1 : equals;
}

static int parse_term(struct sim_selector *s, const char *text, const char *term, struct kar_err *err)
{
	const char *op = find_operator(term);
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf value = { 0 };

	if (!op)
		return kar_fail(err, KAR_INVALID, "invalid selector: '%s'; can't understand '%s'", text,
			term);
	if (unescape(op + (*op == '!' || op[1] == '=' ? 2 : 1), &value, err))
		return -1;
	if (op == term && value.n == 0) /* names nothing: the server ignores it */
		return 0;

	struct requirement *r = selector_add(s);

	r->key = kar_xstrndup(term, (size_t)(op - term));
	r->op = *op == '!' ? SELECT_NOT_IN : SELECT_IN;
	selector_add_value(r, kar_buf_cstr(&value), value.n);
	return 0;
}

/* The server looks at the terms in sorted order, which shows in what it complains about first. */
static int parse_fields(struct sim_selector *s, const char *text, struct kar_err *err)
{
	struct requirement terms = { 0 };
	int rc = 0;

	for (const char *at = text; *at; at += *at == ',') {
		size_t n = term_length(at);

		if (n > 0)
			selector_add_value(&terms, at, n);
		at += n;
	}
	if (terms.n > 1)
		qsort(terms.values, terms.n, sizeof(*terms.values), by_text);
	for (size_t i = 0; i < terms.n; i++) {
		if (rc == 0)
			rc = parse_term(s, text, terms.values[i], err);
		free(terms.values[i]);
	}
	free(terms.values);
	return rc;
}

struct sim_selector *sim_field_selector_new(const char *text, struct kar_err *err)
{
	struct sim_selector *s = kar_xcalloc(1, sizeof(*s));

	if (!text || !parse_fields(s, text, err))
		return s;
	sim_selector_free(s);
	return NULL;
}
