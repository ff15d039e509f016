#include "common/codec/yaml.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "common/base/mem.h"
#include "common/codec/json.h"
#include "common/codec/yaml_scalar.h"

enum {
	MAX_DEPTH = 120, /* within what the JSON writer can nest */
	MAX_ANCHORS = 1000,
};

struct key {
	struct kar_str text;
	yaml_mark_t mark;
};

/* An open mapping or sequence. */
struct level {
	bool mapping;
	bool has_key;     /* the key has been written, its value comes next */
	struct key *keys; /* of a mapping so far */
	size_t n_keys;
	size_t start;       /* where in the output its text begins, or the separator before it */
	const char *anchor; /* NULL: none */
};

struct anchor {
	const char *name;
	size_t start, end; /* of its value's text in the output */
};

struct converter {
	const char *text; /* of @n bytes */
	size_t n;
	yaml_parser_t parser;
	yaml_event_t event; /* the current one */
	struct kar_arena arena;
	struct kar_buf out;
	struct kar_json_writer w;
	struct level levels[MAX_DEPTH];
	size_t depth;
	struct anchor anchors[MAX_ANCHORS];
	size_t n_anchors;
	struct kar_err *err;
};

static KAR_PRINTF(3, 4) int fail(struct converter *c, yaml_mark_t mark, const char *fmt, ...)
{
	char what[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return kar_fail(c->err, KAR_INVALID, "line %zu, column %zu: %s", mark.line + 1, mark.column + 1,
		what);
}

/* libyaml gives a line to all but the errors of its reader, which come with a byte offset. Columns count from the first byte. */
static yaml_mark_t mark_of_byte(const struct converter *c, size_t offset)
{
	yaml_mark_t mark = { 0 };

	for (size_t i = 0; i < offset && i < c->n; i++) {
		mark.column++;
		if (c->text[i] == '\n')
			mark = (yaml_mark_t){ .line = mark.line + 1 };
	}
	return mark;
}

static int fail_parser(struct converter *c)
{
	const yaml_parser_t *p = &c->parser;
	const char *problem = p->problem ? p->problem : "out of memory";

	if (p->error == YAML_READER_ERROR)
		return fail(c, mark_of_byte(c, p->problem_offset), "not YAML: %s", problem);
	return fail(c, p->problem_mark, "not YAML: %s%s%s", p->context ? p->context : "",
		p->context ? ": " : "", problem);
}

static int next_event(struct converter *c)
{
	yaml_event_delete(&c->event);
	return yaml_parser_parse(&c->parser, &c->event) ? 0 : fail_parser(c);
}

static struct level *inner(struct converter *c)
{
	return c->depth ? &c->levels[c->depth - 1] : NULL;
}

static bool key_comes_next(struct converter *c)
{
	const struct level *l = inner(c);

	return l && l->mapping && !l->has_key;
}

/* The value that began at @start is complete. Aliases to @anchor copy its text. */
static int value_done(struct converter *c, size_t start, const char *anchor)
{
	struct level *l = inner(c);

	if (l)
		l->has_key = false;
	if (c->out.overflow)
		return fail(c, c->event.start_mark, "too large (do aliases multiply it?)");
	if (!anchor)
		return 0;
	if (c->n_anchors == MAX_ANCHORS)
		return fail(c, c->event.start_mark, "more than %d anchors", MAX_ANCHORS);
	if (strchr(",:", c->out.p[start])) /* the separator is written with the value */
		start++;
	c->anchors[c->n_anchors++] = (struct anchor){ .name = anchor, .start = start, .end = c->out.n };
	return 0;
}

static const char *keep(struct converter *c, const yaml_char_t *s)
{
	return s ? kar_arena_strndup(&c->arena, (const char *)s, strlen((const char *)s)) : NULL;
}

/* --- events ------------------------------------------------------------------------------------------ */

static int add_key(struct converter *c)
{
	const char *s = (const char *)c->event.data.scalar.value;
	size_t n = c->event.data.scalar.length;
	bool plain = c->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	struct level *l = inner(c);

	if (plain && n == 2 && memcmp(s, "<<", 2) == 0)
		return fail(c, c->event.start_mark,
			"merge keys (<<) are not supported; write the members out");
	l->keys = kar_arena_grow(&c->arena, l->keys, l->n_keys, sizeof(*l->keys));
	l->keys[l->n_keys++] = (struct key){
		.text = { .p = kar_arena_strndup(&c->arena, s, n), .n = n },
		.mark = c->event.start_mark,
	};
	l->has_key = true;
	kar_jw_string_n(&c->w, s, n);
	return 0;
}

static int write_plain(struct converter *c, const char *s, size_t n)
{
	struct kar_buf json = { 0 };
	int rc = 0;

	switch (kar_yaml_plain(s, n, &json)) {
	case KAR_YAML_STRING:
		kar_jw_string_n(&c->w, s, n);
		break;
	case KAR_YAML_JSON:
		kar_jw_raw(&c->w, (struct kar_str){ .p = json.p, .n = json.n });
		break;
	case KAR_YAML_NOT_JSON:
		rc = fail(c, c->event.start_mark, "%.40s: not a number that JSON has", s);
		break;
	}
	kar_buf_release(&json);
	return rc;
}

static int scalar(struct converter *c)
{
	const char *s = (const char *)c->event.data.scalar.value;
	size_t n = c->event.data.scalar.length, start = c->out.n;
	const char *anchor = keep(c, c->event.data.scalar.anchor);
	int rc = 0;

	if (key_comes_next(c))
		return anchor ? fail(c, c->event.start_mark, "an anchor on a key is not supported")
			      : add_key(c);
	if (c->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
		rc = write_plain(c, s, n);
	else
		kar_jw_string_n(&c->w, s, n);
	return rc ? rc : value_done(c, start, anchor);
}

static int alias(struct converter *c)
{
	const char *name = (const char *)c->event.data.alias.anchor;
	size_t i = c->n_anchors, start = c->out.n;

	if (key_comes_next(c))
		return fail(c, c->event.start_mark, "an alias as a key is not supported");
	while (i > 0 && strcmp(c->anchors[i - 1].name, name) != 0)
		i--;
	if (i == 0)
		return fail(c, c->event.start_mark, "alias *%.60s has no complete anchor before it", name);
	size_t n = c->anchors[i - 1].end - c->anchors[i - 1].start;
	char *copy = kar_xmalloc(n); /* the output moves while it grows */

	memcpy(copy, c->out.p + c->anchors[i - 1].start, n);
	kar_jw_raw(&c->w, (struct kar_str){ .p = copy, .n = n });
	free(copy);
	return value_done(c, start, NULL);
}

static int open_level(struct converter *c, bool mapping, const yaml_char_t *anchor)
{
	if (key_comes_next(c))
		return fail(c, c->event.start_mark, "a key must be a scalar");
	if (c->depth == MAX_DEPTH)
		return fail(c, c->event.start_mark, "nested deeper than %d levels", MAX_DEPTH);
	c->levels[c->depth++] =
		(struct level){ .mapping = mapping, .start = c->out.n, .anchor = keep(c, anchor) };
	if (mapping)
		kar_jw_begin_object(&c->w);
	else
		kar_jw_begin_array(&c->w);
	return 0;
}

static int compare_text(const struct key *a, const struct key *b)
{
	int order = memcmp(a->text.p, b->text.p, a->text.n < b->text.n ? a->text.n : b->text.n);

	return order ? order : (a->text.n > b->text.n) - (a->text.n < b->text.n);
}

static int by_text_then_place(const void *x, const void *y)
{
	const struct key *a = x, *b = y;
	int order = compare_text(a, b);

	return order ? order : (a->mark.index > b->mark.index) - (a->mark.index < b->mark.index);
}

static int refuse_duplicates(struct converter *c, const struct level *l)
{
	if (l->n_keys > 1)
		qsort(l->keys, l->n_keys, sizeof(*l->keys), by_text_then_place);
	for (size_t i = 1; i < l->n_keys; i++) {
		const struct key *k = &l->keys[i];

		if (compare_text(k - 1, k) == 0)
			return fail(c, k->mark, "duplicate key \"%.100s\"", k->text.p);
	}
	return 0;
}

static int close_level(struct converter *c)
{
	struct level closed = c->levels[--c->depth];

	if (closed.mapping) {
		if (refuse_duplicates(c, &closed))
			return -1;
		kar_jw_end_object(&c->w);
	} else {
		kar_jw_end_array(&c->w);
	}
	return value_done(c, closed.start, closed.anchor);
}

static int convert_event(struct converter *c)
{
	switch (c->event.type) {
	case YAML_SCALAR_EVENT:
		return scalar(c);
	case YAML_ALIAS_EVENT:
		return alias(c);
	case YAML_MAPPING_START_EVENT:
		return open_level(c, true, c->event.data.mapping_start.anchor);
	case YAML_SEQUENCE_START_EVENT:
		return open_level(c, false, c->event.data.sequence_start.anchor);
	case YAML_MAPPING_END_EVENT:
	case YAML_SEQUENCE_END_EVENT:
		return close_level(c);
	default:
		return 0;
	}
}

/* --- documents --------------------------------------------------------------------------------------- */

/* Moves to the start of document number @index: 1 found, 0 there is none, -1 error. */
static int find_document(struct converter *c, size_t index)
{
	for (size_t seen = 0;;) {
		if (next_event(c))
			return -1;
		if (c->event.type == YAML_STREAM_END_EVENT)
			return 0;
		if (c->event.type == YAML_DOCUMENT_START_EVENT && seen++ == index)
			return 1;
	}
}

static int convert_document(struct converter *c)
{
	do {
		if (next_event(c) || convert_event(c))
			return -1;
	} while (c->event.type != YAML_DOCUMENT_END_EVENT);
	return 0;
}

/* NULL: no memory. */
static struct converter *new_converter(const char *text, size_t n, struct kar_err *err)
{
	struct converter *c = kar_xcalloc(1, sizeof(*c));

	c->err = err;
	c->text = text;
	c->n = n;
	if (!yaml_parser_initialize(&c->parser)) {
		free(c);
		kar_fail(err, KAR_FATAL, "cannot start the YAML parser: out of memory");
		return NULL;
	}
	/* The library asserts that there is a text, even where it has no bytes. */
	yaml_parser_set_input_string(&c->parser, (const unsigned char *)(n ? text : ""), n);
	yaml_parser_set_encoding(&c->parser, YAML_UTF8_ENCODING);
	return c;
}

static void free_converter(struct converter *c) /* accepts NULL */
{
	if (!c)
		return;
	yaml_event_delete(&c->event);
	yaml_parser_delete(&c->parser);
	kar_buf_release(&c->out);
	kar_arena_release(&c->arena);
	free(c);
}

static int convert(struct converter *c, size_t index)
{
	int found = find_document(c, index);

	if (found != 1)
		return found;
	kar_json_writer_init(&c->w, &c->out);
	int rc = convert_document(c);

	kar_json_writer_release(&c->w);
	return rc ? rc : 1;
}

int kar_yaml_to_json(const char *text, size_t n, size_t index, struct kar_buf *out, struct kar_err *err)
{
	struct converter *c = new_converter(text, n, err);
	int rc;

	if (!c)
		return -1;
	c->out.cap = out->cap;
	rc = convert(c, index);
	if (rc == 1) {
		kar_buf_append(out, c->out.p, c->out.n);
		if (out->overflow)
			rc = kar_fail(err, KAR_INVALID, "YAML document too large");
	}
	free_converter(c);
	return rc;
}

/* --- flat documents ---------------------------------------------------------------------------------- */

static bool is_null(const yaml_event_t *e)
{
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf json = { 0 };
	const char *s = (const char *)e->data.scalar.value;

	return e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
		kar_yaml_plain(s, e->data.scalar.length, &json) == KAR_YAML_JSON && json.n == 4 &&
		!memcmp(json.p, "null", 4);
}

/* Why the current event is no value that can be accepted; NULL: it is one. */
static const char *not_flat(const yaml_event_t *e)
{
	if (e->type == YAML_ALIAS_EVENT)
		return "aliases are not accepted";
	if (e->type != YAML_SCALAR_EVENT)
		return "want one value, got a list or a map";
	if (e->data.scalar.anchor)
		return "anchors are not accepted";
	if (is_null(e))
		return "has no value (null)";
	return strlen((const char *)e->data.scalar.value) == e->data.scalar.length ? NULL : "has a zero byte";
}

/* The text of the scalar that is the current event, NULL on failure. */
static const char *flat_scalar(struct converter *c, struct kar_arena *arena, const char *what)
{
	const char *problem = not_flat(&c->event);

	if (problem) {
		fail(c, c->event.start_mark, "%s: %s", what, problem);
		return NULL;
	}
	return kar_arena_strndup(arena, (const char *)c->event.data.scalar.value,
		c->event.data.scalar.length);
}

static int flat_pair(struct converter *c, struct kar_arena *arena, const struct kar_array *before,
	struct kar_yaml_pair *pair)
{
	const struct kar_yaml_pair *others = before->items;
	yaml_mark_t key = c->event.start_mark;

	pair->key = flat_scalar(c, arena, "a key");
	if (!pair->key)
		return -1;
	for (size_t i = 0; i < before->n; i++) {
		if (!strcmp(others[i].key, pair->key))
			return fail(c, key, "duplicate key \"%.100s\"", pair->key);
	}
	pair->value = next_event(c) ? NULL : flat_scalar(c, arena, pair->key);
	if (!pair->value)
		return -1;
	pair->line = key.line + 1;
	pair->column = key.column + 1;
	pair->value_line = c->event.start_mark.line + 1;
	pair->value_column = c->event.start_mark.column + 1;
	return 0;
}

static int flat_document(struct converter *c, struct kar_arena *arena, struct kar_array *pairs)
{
	if (next_event(c))
		return -1;
	if (c->event.type != YAML_MAPPING_START_EVENT)
		return fail(c, c->event.start_mark, "want a map of keys and values");
	while (!next_event(c)) {
		struct kar_yaml_pair pair;

		if (c->event.type == YAML_MAPPING_END_EVENT)
			return 0;
		if (flat_pair(c, arena, pairs, &pair))
			return -1;
		pairs->items = kar_arena_grow(arena, pairs->items, pairs->n, sizeof(pair));
		((struct kar_yaml_pair *)pairs->items)[pairs->n++] = pair;
	}
	return -1;
}

static int flat_stream(struct converter *c, struct kar_arena *arena, struct kar_array *pairs)
{
	int found = find_document(c, 0);

	if (found < 0)
		return -1;
	if (!found)
		return fail(c, (yaml_mark_t){ 0 }, "the document is empty");
	if (flat_document(c, arena, pairs) || next_event(c) || next_event(c)) /* its end, what follows */
		return -1;
	if (c->event.type != YAML_STREAM_END_EVENT)
		return fail(c, c->event.start_mark, "only one document is accepted");
	return 0;
}

int kar_yaml_flat(struct kar_arena *arena, const char *text, size_t n, struct kar_array *pairs,
	struct kar_err *err)
{
	struct kar_array found = { 0 };
	struct converter *c = new_converter(text, n, err);
	int rc = c ? flat_stream(c, arena, &found) : -1;

	free_converter(c);
	if (!rc)
		*pairs = found;
	return rc;
}

int kar_yaml_decode(struct kar_arena *arena, const struct kar_desc *desc, const struct kar_limits *limits,
	const char *text, size_t n, void *out, struct kar_err *err)
{
	struct kar_buf json = { 0 };
	struct kar_err local = { 0 };
	int rc = kar_yaml_to_json(text, n, 0, &json, &local);

	if (rc == 0)
		rc = kar_fail(&local, KAR_INVALID, "%s: empty YAML document", desc->what);
	else if (rc == 1)
		rc = kar_json_decode(arena, desc, limits, json.p, json.n, out, &local);
	char *offset = rc ? strstr(local.msg, " (at byte ") : NULL;

	if (offset && json.n > 0)
		*offset = '\0'; /* it counts in the JSON, which nobody has seen; the path is what helps */
	if (rc && err)
		*err = local;
	kar_buf_release(&json);
	return rc;
}
