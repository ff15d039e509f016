/* Values to JSON text. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/tree_impl.h"

enum { NUMBER_MAX = 32, TOGETHER = 200 /* bytes of a string that are appended in one go */ };

static void print_escaped(unsigned char c, struct kar_buf *out)
{
	static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
	const char *at = c ? strchr(from, c) : NULL;
	char text[8] = { '\\', at ? to[at - from] : 'u', '\0' };

	if (!at)
		snprintf(text + 2, sizeof(text) - 2, "%04x", c);
	kar_buf_append(out, text, strlen(text));
}

/* Bytes from @s that stand for themselves. */
static size_t plain(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n && (unsigned char)s[i] >= 0x20 && s[i] != '"' && s[i] != '\\')
		i++;
	return i;
}

/* @after: what follows the string at once. */
static void print_string(const char *s, size_t n, const char *after, struct kar_buf *out)
{
	char together[TOGETHER + 4];
	size_t more = strlen(after), run = plain(s, n);

	if (run == n && n <= TOGETHER) { /* nearly all: one append instead of four */
		together[0] = '"';
		memcpy(together + 1, s, n);
		together[n + 1] = '"';
		memcpy(together + n + 2, after, more);
		kar_buf_append(out, together, n + 2 + more);
		return;
	}
	kar_buf_append(out, "\"", 1);
	for (size_t at = 0; at < n; at += run + 1) {
		run = plain(s + at, n - at);
		kar_buf_append(out, s + at, run);
		if (at + run < n)
			print_escaped((unsigned char)s[at + run], out);
	}
	kar_buf_append(out, "\"", 1);
	kar_buf_append(out, after, more);
}

void sim_print_text(const char *s, struct kar_buf *out)
{
	print_string(s, strlen(s), "", out);
}

static void print_int(int64_t i, struct kar_buf *out)
{
	char text[NUMBER_MAX], *p = text + sizeof(text);
	uint64_t n = i < 0 ? -(uint64_t)i : (uint64_t)i;

	do {
		*--p = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	if (i < 0)
		*--p = '-';
	kar_buf_append(out, p, (size_t)(text + sizeof(text) - p));
}

/* The shortest text that gives the same number again; whole numbers without a fraction, as Go prints them. */
static void print_real(double d, struct kar_buf *out)
{
	const double whole = 1e15;
	char text[NUMBER_MAX];

	if (fabs(d) < whole && d == (double)(int64_t)d) {
		print_int((int64_t)d, out);
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, d);
		if (!(strtod(text, NULL) < d) && !(strtod(text, NULL) > d))
			break;
	}
	kar_buf_puts(out, text);
}

static void print_list(const struct sim_list *list, struct kar_buf *out)
{
	kar_buf_append(out, "[", 1);
	for (size_t i = 0; i < list->n; i++) {
		if (i)
			kar_buf_append(out, ",", 1);
		sim_print(list->items[i], out);
	}
	kar_buf_append(out, "]", 1);
}

static void print_map(const struct sim_map *m, struct kar_buf *out)
{
	bool first = true;

	kar_buf_append(out, "{", 1);
	for (size_t i = 0; i < m->used; i++) {
		const struct sim_pair *p = &m->pairs[i];

		if (!p->key)
			continue;
		if (!first)
			kar_buf_append(out, ",", 1);
		first = false;
		print_string(p->key->p, p->key->n, ":", out);
		sim_print(p->value, out);
	}
	kar_buf_append(out, "}", 1);
}

void sim_print(const struct sim_value *v, struct kar_buf *out)
{
	switch (sim_kind(v)) {
	case SIM_ABSENT:
		break;
	case SIM_NULL:
		kar_buf_append(out, "null", 4);
		break;
	case SIM_BOOL:
		kar_buf_puts(out, sim_bool_of(v, false) ? "true" : "false");
		break;
	case SIM_INT:
		print_int(sim_scalar_of(v)->i, out);
		break;
	case SIM_REAL:
		print_real(sim_scalar_of(v)->d, out);
		break;
	case SIM_STRING:
		print_string(sim_string_of(v)->p, sim_string_of(v)->n, "", out);
		break;
	case SIM_ARRAY:
		print_list(sim_list_of(v), out);
		break;
	case SIM_OBJECT:
		print_map(sim_map_of(v), out);
		break;
	}
}
