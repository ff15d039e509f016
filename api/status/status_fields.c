#include <inttypes.h>
#include <stdio.h>

#include "api/status/status_row.h"
#include "common/codec/json.h"
#include "common/kube/object.h"
#include "api/copy.h"

unsigned kar_status_name_parse(const char *const *names, const char *s)
{
	for (unsigned i = 1; s && names[i]; i++) {
		if (strcmp(names[i], s) == 0)
			return i;
	}
	return 0;
}

/* ---- read ---- */

static void read_structs(const struct kar_field *f, const struct kar_array *wire, char *status,
	struct kar_arena *arena)
{
	size_t size = f->extra->size;
	char *items = kar_arena_alloc(arena, wire->n, size);

	for (size_t i = 0; i < wire->n; i++)
		kar_status_read(f->sub, (const char *)wire->items + i * f->sub->size, items + i * size,
			arena);
	memcpy(status + f->extra->offset, &items, sizeof(items));
	memcpy(status + f->extra->n, &wire->n, sizeof(wire->n));
}

static const char *read_text(const struct kar_field *f, const char *s, struct kar_arena *arena)
{
	if (s && (f->extra->flags & KAR_SF_WHOLE) && strlen(s) >= f->extra->max)
		return "...";
	return s ? kar_copy_fit(arena, s, f->extra->max) : "";
}

/* @from: the decoded member. */
static void read_string(const struct kar_field *f, const void *from, void *to, struct kar_arena *arena)
{
	const char *s;

	memcpy(&s, from, sizeof(s));
	if (f->extra->form == KAR_SF_ENUM) {
		unsigned value = kar_status_name_parse(f->extra->names, s);

		memcpy(to, &value, sizeof(value));
	} else if (f->extra->form == KAR_SF_VERSION) {
		kar_rv rv = s ? kar_rv_parse(s) : 0;

		memcpy(to, &rv, sizeof(rv));
	} else {
		s = read_text(f, s, arena);
		memcpy(to, &s, sizeof(s));
	}
}

static void read_field(const struct kar_field *f, const char *wire, char *status, struct kar_arena *arena)
{
	const void *from = wire + f->offset;
	void *to = status + kar_row_extra(f)->offset;

	switch (f->extra->form) {
	case KAR_SF_INT32:
		memcpy(to, from, sizeof(int32_t));
		break;
	case KAR_SF_INT64:
	case KAR_SF_TIME:
		memcpy(to, from, sizeof(int64_t));
		break;
	case KAR_SF_BOOL:
		memcpy(to, from, sizeof(bool));
		break;
	case KAR_SF_STRINGS:
		*(struct kar_array *)to = kar_copy_strings(arena, from);
		break;
	case KAR_SF_PAIRS:
		*(struct kar_array *)to = kar_copy_pairs(arena, from);
		break;
	case KAR_SF_STRUCT:
		kar_status_read(f->sub, from, to, arena);
		break;
	case KAR_SF_STRUCTS:
		read_structs(f, from, status, arena);
		break;
	case KAR_SF_CONDITIONS:
		*(struct kar_conditions *)to = kar_conditions_from_wire(from, arena);
		break;
	default:
		read_string(f, from, to, arena);
	}
	if (f->has)
		memcpy(status + f->has, wire + f->has, sizeof(bool));
}

void kar_status_read(const struct kar_desc *table, const void *wire, void *status, struct kar_arena *arena)
{
	for (size_t i = 0; i < table->n_fields; i++)
		read_field(&table->fields[i], wire, status, arena);
}

/* ---- write ---- */

static void write_number(struct kar_json_writer *w, const struct kar_field *f, int64_t value)
{
	char digits[24];

	switch (f->extra->form) {
	case KAR_SF_BOOL:
		kar_jw_bool(w, value);
		break;
	case KAR_SF_TIME:
		kar_jw_time(w, value);
		break;
	case KAR_SF_ENUM:
		kar_jw_string(w, kar_row_name(f, value));
		break;
	case KAR_SF_VERSION:
		snprintf(digits, sizeof(digits), "%" PRIu64, (kar_rv)value);
		kar_jw_string(w, digits);
		break;
	default:
		kar_jw_int(w, value);
	}
}

static void write_strings(struct kar_json_writer *w, const struct kar_array *a)
{
	const char *const *items = a->items;

	kar_jw_begin_array(w);
	for (size_t i = 0; i < a->n; i++)
		kar_jw_string(w, items[i]);
	kar_jw_end_array(w);
}

static void write_pairs(struct kar_json_writer *w, const struct kar_array *a)
{
	const struct kar_pair *items = a->items;

	kar_jw_begin_object(w);
	for (size_t i = 0; i < a->n; i++) {
		kar_jw_key(w, items[i].key);
		if (items[i].value[0])
			kar_jw_string(w, items[i].value);
		else
			kar_jw_null(w);
	}
	kar_jw_end_object(w);
}

static void write_fields(struct kar_json_writer *w, const struct kar_desc *table, const void *status,
	unsigned mask, bool in_array);

static void write_struct(struct kar_json_writer *w, const struct kar_desc *table, const void *status,
	bool in_array)
{
	kar_jw_begin_object(w);
	write_fields(w, table, status, KAR_SF_ALL, in_array);
	kar_jw_end_object(w);
}

static void write_structs(struct kar_json_writer *w, const struct kar_field *f, const void *status)
{
	kar_jw_begin_array(w);
	for (size_t i = 0; i < kar_row_count(f, status); i++)
		write_struct(w, f->sub, kar_row_element(f, status, i), true);
	kar_jw_end_array(w);
}

static void write_value(struct kar_json_writer *w, const struct kar_field *f, const void *status,
	bool in_array)
{
	switch (f->extra->form) {
	case KAR_SF_TEXT:
		kar_jw_string(w, kar_row_text(f, status));
		break;
	case KAR_SF_STRINGS:
		write_strings(w, kar_row_strings(f, status));
		break;
	case KAR_SF_PAIRS:
		write_pairs(w, kar_row_strings(f, status));
		break;
	case KAR_SF_STRUCT:
		write_struct(w, f->sub, kar_row_at(f, status), in_array);
		break;
	case KAR_SF_STRUCTS:
		write_structs(w, f, status);
		break;
	case KAR_SF_CONDITIONS:
		kar_conditions_write(w, kar_row_conditions(f, status));
		break;
	default:
		write_number(w, f, kar_row_number(f, status));
	}
}

static void write_fields(struct kar_json_writer *w, const struct kar_desc *table, const void *status,
	unsigned mask, bool in_array)
{
	for (size_t i = 0; i < table->n_fields; i++) {
		const struct kar_field *f = &table->fields[i];
		bool absent = kar_row_is_absent(f, status);

		if (!kar_row_chosen(f, mask) || (absent && in_array))
			continue;
		kar_jw_key(w, f->name);
		if (absent)
			kar_jw_null(w);
		else
			write_value(w, f, status, in_array);
	}
}

struct kar_array kar_status_pairs_over(const struct kar_array *old, const struct kar_array *new,
	struct kar_arena *arena)
{
	const struct kar_pair *before = old->items, *after = new->items;
	struct kar_pair *out = kar_arena_alloc(arena, old->n + new->n + 1, sizeof(*out));
	size_t n = 0;

	for (size_t i = 0, k = 0; i < old->n || k < new->n;) {
		int order = i == old->n ? 1 : k == new->n ? -1 : strcmp(before[i].key, after[k].key);

		out[n++] = order < 0 ? (struct kar_pair){ before[i].key, "" } : after[k];
		i += order <= 0;
		k += order >= 0;
	}
	return (struct kar_array){ .items = out, .n = n };
}

bool kar_status_same_pairs(const struct kar_array *a, const struct kar_array *b)
{
	return kar_row_same_pairs(a, b);
}

void kar_status_write(struct kar_json_writer *w, const struct kar_desc *table, const void *status,
	unsigned mask)
{
	write_fields(w, table, status, mask, false);
}

void kar_status_write_present(struct kar_json_writer *w, const struct kar_desc *table, const void *status,
	unsigned mask)
{
	write_fields(w, table, status, mask, true);
}

/* ---- compare ---- */

static bool same_structs(const struct kar_field *f, const void *a, const void *b, unsigned mask)
{
	size_t n = kar_row_count(f, a), m = kar_row_count(f, b);
	bool same = n == m || !kar_row_chosen(f, mask);

	for (size_t i = 0; same && i < n && i < m; i++)
		same = kar_status_equal(f->sub, kar_row_element(f, a, i), kar_row_element(f, b, i), mask);
	return same;
}

bool kar_status_equal(const struct kar_desc *table, const void *a, const void *b, unsigned mask)
{
	bool same = true;

	for (size_t i = 0; same && i < table->n_fields; i++) {
		const struct kar_field *f = &table->fields[i];

		if (kar_row_extra(f)->form == KAR_SF_STRUCT)
			same = kar_status_equal(f->sub, kar_row_at(f, a), kar_row_at(f, b), mask);
		else if (f->extra->form == KAR_SF_STRUCTS)
			same = same_structs(f, a, b, mask);
		else if (kar_row_chosen(f, mask))
			same = kar_row_same(f, a, b);
	}
	return same;
}

/* ---- hash ---- */

static uint64_t add_number(uint64_t h, int64_t n)
{
	return kar_hash(h, &n, sizeof(n));
}

/* The NUL is hashed too, so that "ab" and "c" differ from "a" and "bc". */
static uint64_t add_text(uint64_t h, const char *s)
{
	return kar_hash(h, s, strlen(s) + 1);
}

static uint64_t add_strings(uint64_t h, const struct kar_array *a)
{
	const char *const *items = a->items;

	h = add_number(h, (int64_t)a->n);
	for (size_t i = 0; i < a->n; i++)
		h = add_text(h, items[i]);
	return h;
}

static uint64_t add_pairs(uint64_t h, const struct kar_array *a)
{
	const struct kar_pair *items = a->items;

	h = add_number(h, (int64_t)a->n);
	for (size_t i = 0; i < a->n; i++)
		h = add_text(add_text(h, items[i].key), items[i].value);
	return h;
}

static uint64_t add_conditions(uint64_t h, const struct kar_conditions *list)
{
	h = add_number(h, (int64_t)list->n);
	for (size_t i = 0; i < list->n; i++) {
		const struct kar_condition *c = &list->items[i];

		h = add_number(add_text(h, c->type), c->status);
		h = add_number(h, c->observed_generation);
		h = add_number(h, c->last_transition / KAR_SECOND);
		h = add_text(add_text(h, c->reason), c->message);
	}
	return h;
}

static uint64_t add_value(uint64_t h, const struct kar_field *f, const void *status)
{
	switch (f->extra->form) {
	case KAR_SF_TEXT:
		return add_text(h, kar_row_text(f, status));
	case KAR_SF_STRINGS:
		return add_strings(h, kar_row_strings(f, status));
	case KAR_SF_PAIRS:
		return add_pairs(h, kar_row_strings(f, status));
	case KAR_SF_CONDITIONS:
		return add_conditions(h, kar_row_conditions(f, status));
	case KAR_SF_TIME:
		return add_number(h, kar_row_number(f, status) / KAR_SECOND);
	default:
		return add_number(h, kar_row_number(f, status));
	}
}

/* A struct is one number, the hash of its own, so that its members cannot be taken for those of another one. */
static uint64_t add_struct(uint64_t h, const struct kar_field *f, const void *of, size_t i, unsigned mask)
{
	uint64_t own = kar_status_hash(f->sub, of, mask, 0);

	return own ? add_number(add_number(add_text(h, f->name), (int64_t)i), (int64_t)own) : h;
}

static uint64_t add_structs(uint64_t h, const struct kar_field *f, const void *status, unsigned mask)
{
	size_t n = kar_row_count(f, status);

	if (n && kar_row_chosen(f, mask))
		h = add_number(add_text(h, f->name), (int64_t)n);
	for (size_t i = 0; i < n; i++)
		h = add_struct(h, f, kar_row_element(f, status, i), i, mask);
	return h;
}

uint64_t kar_status_hash(const struct kar_desc *table, const void *status, unsigned mask, uint64_t seed)
{
	uint64_t h = seed;

	for (size_t i = 0; i < table->n_fields; i++) {
		const struct kar_field *f = &table->fields[i];
		bool given = f->has ? kar_row_has(f, status) : !kar_row_is_zero(f, status);

		if (kar_row_extra(f)->form == KAR_SF_STRUCT)
			h = add_struct(h, f, kar_row_at(f, status), 0, mask);
		else if (f->extra->form == KAR_SF_STRUCTS)
			h = add_structs(h, f, status, mask);
		else if (given && kar_row_chosen(f, mask))
			h = add_value(add_text(h, f->name), f, status);
	}
	return h;
}
