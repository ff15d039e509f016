/*
 * One JSON text as a small tree whose leaves are slices of the text: for canonical form and merge patch,
 * where the shape of the document is not known.
 */
#include "common/codec/json.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/utf8.h"
#include "common/codec/json_events.h"

enum {
	MAX_DEPTH = 120,     /* within what yajl's generator can write */
	MAX_NODES = 1 << 18, /* about 25 MB of them */
	MAX_DOCUMENT = 8 << 20,
};

enum node_kind { NODE_OBJECT, NODE_ARRAY, NODE_STRING, NODE_ATOM };

struct node {
	enum node_kind kind;
	struct kar_str key;  /* of a member: decoded and mended */
	struct kar_str text; /* NODE_STRING: decoded and mended */
	struct kar_str raw;  /* its bytes in the document */
	struct node *parent;
	struct node *first, *last; /* children in document order, chained by .next */
	struct node *next;
	struct node **sorted; /* NODE_OBJECT: valid children by key, bytewise */
	size_t n;             /* children; once closed, entries of .sorted */
	bool duplicate;       /* a later member of the same object has its key */
};

struct tree {
	struct kar_arena *arena;
	const char *text;
	size_t prev; /* offset where the previous token ended */
	size_t depth, nodes;
	struct node *root;
	struct node *open;  /* innermost open bracket */
	struct kar_str key; /* of the member whose value comes next */
	struct kar_err *err;
};

/* --- building ---------------------------------------------------------------------------------------- */

static int fail(struct tree *t, const char *what, size_t at)
{
	return kar_fail(t->err, KAR_INVALID, "%s (at byte %zu)", what, at);
}

static struct kar_str mended(struct tree *t, const char *s, size_t n)
{
	size_t len = kar_utf8_mended_len(s, n);
	char *copy = kar_arena_alloc(t->arena, len + 1, 1);

	kar_utf8_mend(copy, s, n);
	return (struct kar_str){ .p = copy, .n = len };
}

/* A node for the value whose first token ends at @at; NULL if there may not be one. */
static struct node *add(struct tree *t, enum node_kind kind, size_t at)
{
	struct node *parent = t->open;

	if (!parent && t->root) {
		fail(t, "more than one JSON document", at);
		return NULL;
	}
	if (++t->nodes > MAX_NODES) {
		fail(t, "too many values", at);
		return NULL;
	}
	struct node *v = kar_arena_alloc(t->arena, 1, sizeof(*v));

	/* Between tokens there is nothing but white space, a colon or a comma. */
	while (strchr(" \t\r\n:,", t->text[t->prev]))
		t->prev++;
	*v = (struct node){ .kind = kind, .key = t->key, .parent = parent };
	v->raw = (struct kar_str){ .p = t->text + t->prev, .n = at - t->prev };
	t->prev = at;
	if (!parent)
		t->root = v;
	else if (parent->last)
		parent->last->next = v;
	else
		parent->first = v;
	if (parent) {
		parent->last = v;
		parent->n++;
	}
	return v;
}

static int compare_keys(const struct node *a, const struct node *b)
{
	int order = memcmp(a->key.p, b->key.p, a->key.n < b->key.n ? a->key.n : b->key.n);

	return order ? order : (a->key.n > b->key.n) - (a->key.n < b->key.n);
}

static int by_key_then_place(const void *x, const void *y)
{
	const struct node *a = *(struct node *const *)x, *b = *(struct node *const *)y;
	int order = compare_keys(a, b);

	return order ? order : (a->raw.p > b->raw.p) - (a->raw.p < b->raw.p);
}

static void sort_members(struct tree *t, struct node *object)
{
	struct node **all = kar_arena_alloc(t->arena, object->n, sizeof(*all));
	size_t n = 0, kept = 0;

	for (struct node *v = object->first; v; v = v->next)
		all[n++] = v;
	qsort(all, n, sizeof(*all), by_key_then_place);
	for (size_t i = 0; i < n; i++) {
		all[i]->duplicate = i + 1 < n && compare_keys(all[i], all[i + 1]) == 0;
		if (!all[i]->duplicate)
			all[kept++] = all[i];
	}
	object->sorted = all;
	object->n = kept;
}

static int on_begin(void *arg, bool is_array, size_t at)
{
	struct tree *t = arg;

	if (++t->depth > MAX_DEPTH)
		return fail(t, "nested too deeply", at);
	struct node *v = add(t, is_array ? NODE_ARRAY : NODE_OBJECT, at);

	if (!v)
		return -1;
	t->open = v;
	return 0;
}

static int on_end(void *arg, size_t at)
{
	struct tree *t = arg;
	struct node *v = t->open;

	t->depth--;
	t->prev = at;
	v->raw.n = (size_t)(t->text + at - v->raw.p);
	if (v->kind == NODE_OBJECT)
		sort_members(t, v);
	t->open = v->parent;
	return 0;
}

static int on_key(void *arg, const char *s, size_t n, size_t at)
{
	struct tree *t = arg;

	t->key = mended(t, s, n);
	t->prev = at;
	return 0;
}

static int on_string(void *arg, const char *s, size_t n, size_t at)
{
	struct tree *t = arg;
	struct node *v = add(t, NODE_STRING, at);

	if (!v)
		return -1;
	v->text = mended(t, s, n);
	return 0;
}

static int on_atom(struct tree *t, size_t at)
{
	return add(t, NODE_ATOM, at) ? 0 : -1;
}

static int on_number(void *arg, const char *s, size_t n, size_t at)
{
	(void)s;
	(void)n;
	return on_atom(arg, at);
}

static int on_boolean(void *arg, bool value, size_t at)
{
	(void)value;
	return on_atom(arg, at);
}

static int on_null(void *arg, size_t at)
{
	return on_atom(arg, at);
}

static const struct kar_json_events events = {
	.begin = on_begin,
	.end = on_end,
	.key = on_key,
	.string = on_string,
	.number = on_number,
	.boolean = on_boolean,
	.null = on_null,
};

/* The tree of @text, in @a; NULL with @err. It points into @text. */
static struct node *build(struct kar_arena *a, const char *text, size_t n, struct kar_err *err)
{
	struct tree t = { .arena = a, .text = text, .err = err };

	if (n > MAX_DOCUMENT) {
		fail(&t, "JSON document larger than 8 MiB", n);
		return NULL;
	}
	if (kar_json_read(text, n, &events, &t, err))
		return NULL;
	if (!t.root || t.open) {
		fail(&t, "truncated JSON", n);
		return NULL;
	}
	for (size_t i = t.prev; i < n; i++) {
		if (!memchr(" \t\r\n", text[i], 4)) {
			fail(&t, "more than one JSON document", i);
			return NULL;
		}
	}
	return t.root;
}

/* --- canonical form ------------------------------------------------------------------------------------ */

static void write_canonical(struct kar_json_writer *w, const struct node *v)
{
	switch (v->kind) {
	case NODE_OBJECT:
		kar_jw_begin_object(w);
		for (size_t i = 0; i < v->n; i++) {
			kar_jw_string_n(w, v->sorted[i]->key.p, v->sorted[i]->key.n);
			write_canonical(w, v->sorted[i]);
		}
		kar_jw_end_object(w);
		break;
	case NODE_ARRAY:
		kar_jw_begin_array(w);
		for (const struct node *e = v->first; e; e = e->next)
			write_canonical(w, e);
		kar_jw_end_array(w);
		break;
	case NODE_STRING:
		kar_jw_string_n(w, v->text.p, v->text.n);
		break;
	case NODE_ATOM:
		kar_jw_raw(w, v->raw);
		break;
	}
}

/* Moves what was written to @from, if it is complete, to the end of @out. */
static int deliver(struct kar_buf *from, struct kar_buf *out, struct kar_err *err)
{
	if (!from->overflow && !out->overflow)
		kar_buf_append(out, from->p, from->n);
	return from->overflow || out->overflow ? kar_fail(err, KAR_INVALID, "JSON result too large") : 0;
}

int kar_json_canonical(const char *text, size_t n, struct kar_buf *out, struct kar_err *err)
{
	struct kar_arena a = { 0 };
	struct kar_buf result = { .cap = out->cap };
	const struct node *root = build(&a, text, n, err);
	int rc = -1;

	if (root) {
		struct kar_json_writer w;

		kar_json_writer_init(&w, &result);
		write_canonical(&w, root);
		kar_json_writer_release(&w);
		rc = deliver(&result, out, err);
	}
	kar_buf_release(&result);
	kar_arena_release(&a);
	return rc;
}

/* --- merge patch (RFC 7386) ------------------------------------------------------------------------------ */

static int find_by_key(const void *key, const void *member)
{
	return compare_keys(key, *(struct node *const *)member);
}

/* The member of @object with the key of @v; NULL if there is none or @object is no object. */
static const struct node *member(const struct node *object, const struct node *v)
{
	if (!object || object->kind != NODE_OBJECT || object->n == 0)
		return NULL;
	struct node *const *found =
		bsearch(v, object->sorted, object->n, sizeof(*object->sorted), find_by_key);

	return found ? *found : NULL;
}

static bool is_null(const struct node *v)
{
	return v->kind == NODE_ATOM && v->raw.p[0] == 'n';
}

static void write_merged(struct kar_json_writer *w, const struct node *base, const struct node *patch);

/* The members that @base has: dropped, merged or untouched. */
static void write_old_members(struct kar_json_writer *w, const struct node *base, const struct node *patch)
{
	for (const struct node *v = base->first; v; v = v->next) {
		const struct node *change = member(patch, v);

		if (v->duplicate || (change && is_null(change)))
			continue;
		kar_jw_string_n(w, v->key.p, v->key.n);
		if (change)
			write_merged(w, v, change);
		else
			kar_jw_raw(w, v->raw);
	}
}

/* @base patched with @patch; @base may be NULL (absent). */
static void write_merged(struct kar_json_writer *w, const struct node *base, const struct node *patch)
{
	bool both = base && base->kind == NODE_OBJECT && patch->kind == NODE_OBJECT;

	if (patch->kind != NODE_OBJECT) {
		kar_jw_raw(w, patch->raw);
		return;
	}
	if (both && patch->n == 0) {
		kar_jw_raw(w, base->raw);
		return;
	}
	kar_jw_begin_object(w);
	if (both)
		write_old_members(w, base, patch);
	for (const struct node *v = patch->first; v; v = v->next) {
		if (v->duplicate || is_null(v) || member(base, v))
			continue;
		kar_jw_string_n(w, v->key.p, v->key.n);
		write_merged(w, NULL, v);
	}
	kar_jw_end_object(w);
}

int kar_json_merge(struct kar_str base, struct kar_str patch, struct kar_buf *out, struct kar_err *err)
{
	struct kar_arena a = { 0 };
	struct kar_buf result = { .cap = out->cap };
	const struct node *b = build(&a, base.p, base.n, err);
	const struct node *p = b ? build(&a, patch.p, patch.n, err) : NULL;
	int rc = -1;

	if (p) {
		struct kar_json_writer w;

		kar_json_writer_init(&w, &result);
		write_merged(&w, b, p);
		kar_json_writer_release(&w);
		rc = deliver(&result, out, err);
	} else {
		kar_wrap(err, b ? "merge patch" : "object to patch");
	}
	kar_buf_release(&result);
	kar_arena_release(&a);
	return rc;
}
