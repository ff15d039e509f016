/*
 * zoo - a struct with a member of every field type, its table, and its contents as one line of text.
 *
 * Shared by the tests of decode, json, protobuf and yaml, so that a row is: document in, text out.
 */
#ifndef KAR_TEST_ZOO_H
#define KAR_TEST_ZOO_H

#include <string.h>

#include "common/base/buf.h"
#include "common/codec/decode.h"

struct zoo_sub {
	const char *x;
	int32_t y;
	struct kar_array tags; /* const char * */
};

struct zoo {
	const char *s, *scalar, *type;
	int32_t i32, soft;
	int64_t i64;
	bool b, has_i32, has_raw, has_ptr;
	kar_time t, soft_time;
	struct zoo_sub sub;
	struct zoo_sub *ptr;
	struct kar_array items;   /* struct zoo_sub */
	struct kar_array strings; /* const char * */
	struct kar_array map;     /* struct kar_pair */
	struct kar_array soft_items;
	struct kar_str raw;
	void *object; /* struct zoo_sub or struct zoo_text by .type */
};

struct zoo_text {
	const char *text;
};

static const struct kar_field zoo_sub_fields[] = {
	KAR_FIELD_PB(struct zoo_sub, x, "x", 1, KAR_F_STRING),
	KAR_FIELD_PB(struct zoo_sub, y, "y", 2, KAR_F_INT32),
	KAR_FIELD_PB_SUB(struct zoo_sub, tags, "tags", 3, KAR_F_ARRAY, NULL),
};
static const struct kar_desc zoo_sub_desc = KAR_DESC("Sub", struct zoo_sub, zoo_sub_fields);

static const struct kar_field zoo_text_fields[] = {
	KAR_FIELD_PB(struct zoo_text, text, "text", 1, KAR_F_STRING),
};
static const struct kar_desc zoo_text_desc = KAR_DESC("Text", struct zoo_text, zoo_text_fields);

static const struct kar_desc *zoo_select(const void *parent)
{
	const struct zoo *z = parent;

	if (z->type && strcmp(z->type, "sub") == 0)
		return &zoo_sub_desc;
	return z->type && strcmp(z->type, "text") == 0 ? &zoo_text_desc : NULL;
}

static const struct kar_field zoo_fields[] = {
	KAR_FIELD_PB(struct zoo, s, "s", 1, KAR_F_STRING),
	KAR_FIELD(struct zoo, scalar, "scalar", KAR_F_SCALAR),
	KAR_FIELD_PB(struct zoo, type, "type", 3, KAR_F_STRING),
	{ .name = "i32",
		.type = KAR_F_INT32,
		.pb = 4,
		.offset = offsetof(struct zoo, i32),
		.has = offsetof(struct zoo, has_i32) },
	KAR_FIELD_PB(struct zoo, i64, "i64", 5, KAR_F_INT64),
	KAR_FIELD_PB(struct zoo, b, "b", 6, KAR_F_BOOL),
	KAR_FIELD_PB(struct zoo, t, "t", 7, KAR_F_TIME),
	KAR_FIELD_PB_SUB(struct zoo, sub, "sub", 8, KAR_F_OBJECT, &zoo_sub_desc),
	{ .name = "ptr",
		.type = KAR_F_OBJECT_PTR,
		.pb = 9,
		.offset = offsetof(struct zoo, ptr),
		.has = offsetof(struct zoo, has_ptr),
		.sub = &zoo_sub_desc },
	KAR_FIELD_PB_SUB(struct zoo, items, "items", 10, KAR_F_ARRAY, &zoo_sub_desc),
	KAR_FIELD_PB_SUB(struct zoo, strings, "strings", 11, KAR_F_ARRAY, NULL),
	KAR_FIELD_PB(struct zoo, map, "map", 12, KAR_F_MAP),
	KAR_FIELD_OPT(struct zoo, raw, has_raw, "raw", KAR_F_RAW),
	{ .name = "object",
		.type = KAR_F_SELECT,
		.pb = 13,
		.offset = offsetof(struct zoo, object),
		.select = zoo_select },
	{ .name = "soft",
		.type = KAR_F_INT32,
		.pb = 14,
		.offset = offsetof(struct zoo, soft),
		.lenient = true },
	{ .name = "softTime",
		.type = KAR_F_TIME,
		.pb = 15,
		.offset = offsetof(struct zoo, soft_time),
		.lenient = true },
	{ .name = "softItems",
		.type = KAR_F_ARRAY,
		.pb = 16,
		.offset = offsetof(struct zoo, soft_items),
		.lenient = true,
		.sub = &zoo_sub_desc },
};
static const struct kar_desc zoo_desc KAR_UNUSED = KAR_DESC("Zoo", struct zoo, zoo_fields);

/* A list of zoos, streamed, with members around the items. */
struct zoo_list {
	const char *before, *after;
	struct kar_array items;
};
static const struct kar_field zoo_list_fields[] = {
	KAR_FIELD_PB(struct zoo_list, before, "before", 1, KAR_F_STRING),
	KAR_FIELD_PB_SUB(struct zoo_list, items, "items", 2, KAR_F_STREAM, &zoo_desc),
	KAR_FIELD_PB(struct zoo_list, after, "after", 3, KAR_F_STRING),
};
static const struct kar_desc zoo_list_desc KAR_UNUSED = KAR_DESC("ZooList", struct zoo_list, zoo_list_fields);

static void zoo_print_strings(struct kar_buf *out, const struct kar_array *a)
{
	const char *const *s = a->items;

	for (size_t i = 0; i < a->n; i++)
		kar_buf_printf(out, "%s%s", i ? "," : "", s[i]);
}

static void zoo_print_sub(struct kar_buf *out, const char *name, const struct zoo_sub *s)
{
	kar_buf_printf(out, "%s(%s %d ", name, s->x ? s->x : "-", s->y);
	zoo_print_strings(out, &s->tags);
	kar_buf_puts(out, ") ");
}

static void zoo_print_subs(struct kar_buf *out, const char *name, const struct kar_array *a)
{
	const struct zoo_sub *s = a->items;

	for (size_t i = 0; i < a->n; i++)
		zoo_print_sub(out, name, &s[i]);
}

static void zoo_print_scalars(struct kar_buf *out, const struct zoo *z)
{
	if (z->s)
		kar_buf_printf(out, "s=%s ", z->s);
	if (z->scalar)
		kar_buf_printf(out, "scalar=%s ", z->scalar);
	if (z->type)
		kar_buf_printf(out, "type=%s ", z->type);
	if (z->i32 || z->has_i32)
		kar_buf_printf(out, "i32=%d%s ", z->i32, z->has_i32 ? "" : "(absent)");
	if (z->i64)
		kar_buf_printf(out, "i64=%lld ", (long long)z->i64);
	if (z->soft)
		kar_buf_printf(out, "soft=%d ", z->soft);
	if (z->b)
		kar_buf_puts(out, "b ");
	if (z->t)
		kar_buf_printf(out, "t=%lld ", (long long)z->t);
	if (z->soft_time)
		kar_buf_printf(out, "softTime=%lld ", (long long)z->soft_time);
}

static void zoo_print_object(struct kar_buf *out, const struct zoo *z)
{
	if (!z->object)
		return;
	if (zoo_select(z) == &zoo_text_desc)
		kar_buf_printf(out, "object(%s) ", ((const struct zoo_text *)z->object)->text);
	else
		zoo_print_sub(out, "object", z->object);
}

/* Only what is not zero, in the order of the struct. */
static KAR_UNUSED void zoo_print(struct kar_buf *out, const struct zoo *z)
{
	const struct kar_pair *pairs = z->map.items;

	zoo_print_scalars(out, z);
	if (z->sub.x || z->sub.y || z->sub.tags.n)
		zoo_print_sub(out, "sub", &z->sub);
	if (z->ptr || z->has_ptr)
		zoo_print_sub(out, z->has_ptr ? "ptr" : "ptr(absent)", z->ptr);
	zoo_print_subs(out, "item", &z->items);
	if (z->strings.n) {
		kar_buf_puts(out, "strings=");
		zoo_print_strings(out, &z->strings);
		kar_buf_puts(out, " ");
	}
	for (size_t i = 0; i < z->map.n; i++)
		kar_buf_printf(out, "map[%s]=%s ", pairs[i].key, pairs[i].value);
	zoo_print_subs(out, "soft", &z->soft_items);
	if (z->raw.p || z->has_raw)
		kar_buf_printf(out, "raw=%.*s%s ", (int)z->raw.n, z->raw.p, z->has_raw ? "" : "(absent)");
	zoo_print_object(out, z);
}

#endif
