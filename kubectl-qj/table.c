/* What is printed in columns, and how text of the cluster, ages and shares are written. */
#include "kubectl-qj/qj.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/str.h"
#include "common/base/text.h"
#include "common/base/utf8.h"
#include "kubectl-qj/doc.h"

/* Characters, not bytes: what continues one in UTF-8 is not counted. */
static int length(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

/* A space for each character that may not be shown, and for bytes that are none. */
static void clean(char *to, const char *text)
{
	size_t left = strlen(text);

	for (size_t step; left; text += step, left -= step) {
		step = kar_utf8_step(text, left);
		if (step && kar_text_is_printable(text, step)) {
			memcpy(to, text, step);
			to += step;
		} else {
			*to++ = ' ';
		}
		step = step ? step : 1;
	}
	*to = '\0';
}

const char *qj_clean(struct qj *q, const char *text)
{
	char *copy = kar_arena_alloc(&q->arena, strlen(text) + 1, 1);

	clean(copy, text);
	return copy;
}

void qj_print(struct qj *q, const char *fmt, ...)
{
	size_t begin = strspn(fmt, "\n"), end = 0, n = strlen(fmt);
	va_list args;
	char *raw;
	int all;

	while (end < n - begin && fmt[n - 1 - end] == '\n')
		end++;
	va_start(args, fmt);
	all = vasprintf(&raw, fmt, args);
	va_end(args);
	if (all < 0)
		abort();
	raw[(size_t)all - end] = '\0';
	clean(raw + begin, raw + begin); /* it gets no longer */
	fprintf(q->out, "%s%s", raw, fmt + n - end);
	free(raw);
}

const char *qj_age(struct qj *q, kar_time ms)
{
	int64_t s = ms > 0 ? ms / KAR_SECOND : 0, m = s / 60, h = m / 60, d = h / 24;
	struct kar_arena *a = &q->arena;

	if (m < 2)
		return kar_arena_printf(a, "%ds", (int)s);
	if (m < 10)
		return s % 60 ? kar_arena_printf(a, "%dm%ds", (int)m, (int)(s % 60))
			      : kar_arena_printf(a, "%dm", (int)m);
	if (h < 3)
		return kar_arena_printf(a, "%dm", (int)m);
	if (h < 8)
		return m % 60 ? kar_arena_printf(a, "%dh%dm", (int)h, (int)(m % 60))
			      : kar_arena_printf(a, "%dh", (int)h);
	if (d < 2)
		return kar_arena_printf(a, "%dh", (int)h);
	if (d < 8)
		return h % 24 ? kar_arena_printf(a, "%dd%dh", (int)d, (int)(h % 24))
			      : kar_arena_printf(a, "%dd", (int)d);
	return kar_arena_printf(a, "%lldd", (long long)d);
}

const char *qj_bar(struct qj *q, double part, int width)
{
	int full = part <= 0 ? 0 : part >= 1 ? width : (int)(part * width + 0.5);
	char *bar = kar_arena_alloc(&q->arena, (size_t)width + 3, 1);

	bar[0] = '[';
	memset(bar + 1, '#', (size_t)full);
	memset(bar + 1 + full, '-', (size_t)(width - full));
	bar[width + 1] = ']';
	bar[width + 2] = '\0';
	return bar;
}

/* --- columns ---------------------------------------------------------------------------------------- */

struct qj_table qj_table_begin(struct qj *q, const char *const *heads)
{
	struct qj_table t = { .q = q, .heads = heads };

	while (heads[t.n]) {
		assert(t.n < QJ_COLUMNS);
		t.width[t.n] = length(heads[t.n]);
		t.n++;
	}
	return t;
}

void qj_cell(struct qj_table *t, const char *fmt, ...)
{
	const char *text;
	char *raw;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&raw, fmt, args) < 0)
		abort();
	va_end(args);
	text = raw[0] ? qj_clean(t->q, raw) : "-";
	free(raw);
	t->cells = kar_arena_grow(&t->q->arena, t->cells, t->n_cells, sizeof(*t->cells));
	t->cells[t->n_cells++] = text;
}

/* How many bytes of @text are its first @n characters. */
static int bytes_of(const char *text, int n)
{
	const char *at = text;

	for (; *at && n >= 0; at++) {
		if (((unsigned char)*at & 0xc0) != 0x80 && n-- == 0)
			break;
	}
	return (int)(at - text);
}

const char *qj_cut(struct qj *q, const char *text, int width)
{
	if (width <= 8 || length(text) <= width)
		return text;
	return kar_arena_printf(&q->arena, "%.*s...", bytes_of(text, width - 3), text);
}

/* The escape sequence for a cell; "": none. Only words that say how it goes have one. */
static const char *colour_of(const struct qj_table *t, int column, const char *text)
{
	static const char *const colours[][2] = { { "Running", "32" }, { "Open", "32" },
		{ "Completed", "32" }, { "Pending", "33" }, { "Starting", "33" }, { "Restarting", "33" },
		{ "Closing", "33" }, { "Failed", "31" }, { "Closed", "31" }, { "Suspended", "36" } };
	bool is_state = kar_streq(t->heads[column], "PHASE") || kar_streq(t->heads[column], "STATE");

	for (size_t i = 0; t->q->colour && is_state && i < KAR_LEN(colours); i++) {
		if (kar_streq(colours[i][0], text))
			return colours[i][1];
	}
	return "";
}

static void print_cell(const struct qj_table *t, int column, const char *text)
{
	const char *colour = colour_of(t, column, text);

	if (*colour)
		fprintf(t->q->out, "\033[%sm%s\033[0m", colour, text);
	else
		fprintf(t->q->out, "%s", text);
}

static void print_row(const struct qj_table *t, const char *const *cells)
{
	enum {
		LEAST = 20
	}; /* of the last cell: a message of three words is none, and one of three lines is in the way */
	int left = t->q->width;

	for (int i = 0; i < t->n; i++) {
		bool last = i + 1 == t->n;

		if (!t->q->terminal) {
			fprintf(t->q->out, "%s%s", cells[i], last ? "\n" : "\t");
		} else if (last) {
			fprintf(t->q->out, "%s\n", qj_cut(t->q, cells[i], left > LEAST / 2 ? left : LEAST));
		} else {
			print_cell(t, i, cells[i]);
			fprintf(t->q->out, "%*s", t->width[i] - length(cells[i]) + 3, "");
			left -= t->width[i] + 3;
		}
	}
}

void qj_table_flush(struct qj_table *t)
{
	assert(t->n_cells % (size_t)t->n == 0);
	if (!t->n_cells)
		return;
	for (size_t i = 0; i < t->n_cells; i++) {
		int *width = &t->width[i % (size_t)t->n];

		if (length(t->cells[i]) > *width)
			*width = length(t->cells[i]);
	}
	if (!t->begun)
		print_row(t, t->heads);
	t->begun = true;
	for (size_t i = 0; i < t->n_cells; i += (size_t)t->n)
		print_row(t, t->cells + i);
	fflush(t->q->out);
	t->cells = NULL;
	t->n_cells = 0;
}

/* On a terminal, as all text of the cluster; a program gets the bytes as they are. */
static void print_lines(struct qj *q, char *text)
{
	for (char *line; (line = strsep(&text, "\n")) && (text || *line);) {
		clean(line, line);
		fprintf(q->out, "%s\n", line);
	}
}

int qj_print_object(struct qj *q, const char *json)
{
	const struct qj_doc *d = qj_doc_parse(&q->arena, json);
	FILE *out = q->out;
	char *text = NULL;
	size_t n = 0;

	if (!d) {
		fprintf(stderr, "error: the answer is no JSON, or too deep\n");
		return 1;
	}
	if (q->terminal && !(out = open_memstream(&text, &n)))
		abort();
	if (q->o.output == QJ_YAML)
		qj_doc_print_yaml(d, out);
	else
		qj_doc_print_json(d, out);
	if (q->terminal) {
		fclose(out);
		print_lines(q, text);
		free(text);
	}
	return 0;
}
