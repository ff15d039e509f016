#include <inttypes.h>
#include <stdio.h>

#include "api/status/status_row.h"
#include "common/base/buf.h"
#include "common/base/str.h"

static const char *gap(const struct kar_buf *out)
{
	return out->n ? " " : "";
}

/* One item: "name[key]=value"; @key "": "name=value"; @value NULL: "name[key]". */
static void put(struct kar_buf *out, const char *name, const char *key, const char *value)
{
	kar_buf_printf(out, "%s%s", gap(out), name);
	if (key[0])
		kar_buf_printf(out, "[%s]", key);
	if (value)
		kar_buf_printf(out, "=%s", value);
}

static void print_number(struct kar_buf *out, const struct kar_field *f, int64_t value, bool absent,
	const char *key)
{
	enum kar_status_form form = f->extra->form;
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRId64, value);
	if (absent)
		put(out, f->extra->print, key, "-");
	else if (form == KAR_SF_ENUM)
		put(out, f->extra->print, key, kar_row_name(f, value));
	else if (form == KAR_SF_TIME || form == KAR_SF_BOOL)
		put(out, f->extra->print, key, NULL);
	else
		put(out, f->extra->print, key, digits);
}

static void print_conditions(struct kar_buf *out, const struct kar_field *f, const struct kar_conditions *old,
	const struct kar_conditions *new)
{
	unsigned flags = f->extra->flags;

	for (size_t i = 0; i < new->n; i++) {
		const struct kar_condition *c = &new->items[i], *was = kar_condition_find(old, c->type);
		bool moved = !was || was->status != c->status ||
			((flags & KAR_SF_PRINT_REASON) && !kar_streq(was->reason, c->reason));

		if (!moved && !(flags & KAR_SF_PRINT_ALWAYS))
			continue;
		kar_buf_printf(out, "%s%s=%s", gap(out), c->type, kar_condition_status_name(c->status));
		if (flags & KAR_SF_PRINT_REASON)
			kar_buf_printf(out, "/%s", c->reason);
	}
}

/* @old NULL: an element that is new. */
static bool is_unchanged(const struct kar_field *f, const void *old, const void *new)
{
	if (old)
		return kar_row_same(f, old, new);
	if (f->extra->flags & KAR_SF_NORMALLY_TRUE)
		return kar_row_number(f, new) != 0;
	return kar_row_is_zero(f, new);
}

static void print_value(struct kar_buf *out, const struct kar_field *f, const void *old, const void *new,
	const char *key)
{
	const char *name = f->extra->print;
	char digits[24];

	if (is_unchanged(f, old, new) && !(f->extra->flags & KAR_SF_PRINT_ALWAYS))
		return;
	if (f->extra->form == KAR_SF_TEXT) {
		put(out, name, key, kar_row_is_zero(f, new) ? "-" : kar_row_text(f, new));
	} else if (f->extra->form == KAR_SF_STRINGS || f->extra->form == KAR_SF_PAIRS) {
		snprintf(digits, sizeof(digits), "%zu", kar_row_strings(f, new)->n);
		put(out, name, key, digits);
	} else {
		bool off = f->extra->form == KAR_SF_BOOL && !kar_row_number(f, new);

		print_number(out, f, kar_row_number(f, new), off || kar_row_is_absent(f, new), key);
	}
}

/* Row by row, so that the same member of all structs stands together. */
static void print_structs(struct kar_buf *out, const struct kar_field *f, const void *old, const void *new)
{
	const struct kar_field *rows = f->sub->fields;

	for (size_t row = 1; row < f->sub->n_fields; row++) {
		if (!kar_row_extra(&rows[row])->print)
			continue;
		for (size_t i = 0; i < kar_row_count(f, new); i++)
			print_value(out, &rows[row], kar_row_element(f, old, i), kar_row_element(f, new, i),
				kar_row_text(&rows[0], kar_row_element(f, new, i)));
	}
}

static void print_row(struct kar_buf *out, const struct kar_field *f, const void *old, const void *new)
{
	if (f->extra->form == KAR_SF_STRUCTS)
		print_structs(out, f, old, new);
	else if (f->extra->form == KAR_SF_CONDITIONS)
		print_conditions(out, f, kar_row_conditions(f, old), kar_row_conditions(f, new));
	else
		print_value(out, f, old, new, "");
}

/* The rows whose number is @rank. */
static void print_rows(struct kar_buf *out, const struct kar_desc *table, const void *old, const void *new,
	unsigned rank)
{
	for (size_t i = 0; i < table->n_fields; i++) {
		const struct kar_field *f = &table->fields[i];

		if (!kar_row_extra(f)->print)
			continue;
		if (f->extra->form == KAR_SF_STRUCT)
			print_rows(out, f->sub, kar_row_at(f, old), kar_row_at(f, new), rank);
		else if ((f->extra->flags & KAR_SF_PRINT_AT(KAR_SF_PRINT_LAST)) == KAR_SF_PRINT_AT(rank))
			print_row(out, f, old, new);
	}
}

const char *kar_status_print(const struct kar_desc *table, const void *old, const void *new,
	struct kar_arena *arena)
{
	struct kar_buf out = { 0 };
	const char *text;

	for (unsigned rank = 0; rank <= KAR_SF_PRINT_LAST; rank++)
		print_rows(&out, table, old, new, rank);
	text = kar_arena_strndup(arena, kar_buf_cstr(&out), out.n);
	kar_buf_release(&out);
	return text;
}
