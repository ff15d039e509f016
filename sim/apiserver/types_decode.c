/*
 * What becomes of an object of a built-in type on its way through the Go structs of a real server: unknown members
 * and null vanish, so do empty ones that Go leaves out; members that Go always prints appear; quantities become
 * canonical; a value of a wrong type is refused. Subtrees that are shared with the old object went through this
 * before and are not looked into.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "sim/apiserver/quantity.h"
#include "sim/apiserver/types.h"

enum { MAX_DROPPED = 32 }; /* members taken away in one go */

/* Where the walk is; printed only for an error, as Go does: without indexes. */
struct place {
	const struct place *up;
	const struct sim_type *in;
	const char *name;
};

static int decode(const struct sim_type *t, struct sim_value **v, const struct sim_value *old,
	const struct place *up, struct kar_err *err);

static void print_place(const struct place *p, struct kar_buf *out)
{
	if (!p)
		return;
	print_place(p->up, out);
	kar_buf_printf(out, "%s%s", out->n ? "." : "", p->name);
}

static const char *json_name(const struct sim_value *v)
{
	static const char *const names[] = {
		[SIM_ABSENT] = "null",
		[SIM_NULL] = "null",
		[SIM_BOOL] = "bool",
		[SIM_INT] = "number",
		[SIM_REAL] = "number",
		[SIM_STRING] = "string",
		[SIM_ARRAY] = "array",
		[SIM_OBJECT] = "object",
	};

	return names[sim_kind(v)];
}

/* The Go type of a field; of one element of it if @element. */
static void print_go_type(const struct sim_field *f, bool element, struct kar_buf *out)
{
	if (f->map && !element && f->kind == SIM_FIELD_QUANTITY) {
		kar_buf_puts(out, "v1.ResourceList");
		return;
	}
	if (f->map && !element)
		kar_buf_puts(out, "map[string]");
	else if (f->list && !element)
		kar_buf_puts(out, "[]");
	if (f->kind == SIM_FIELD_MESSAGE)
		kar_buf_printf(out, "v1.%s", f->type->name);
	else if (f->kind == SIM_FIELD_BOOL)
		kar_buf_puts(out, "bool");
	else if (f->kind == SIM_FIELD_INT)
		kar_buf_puts(out, "int32");
	else
		kar_buf_puts(out, "string");
}

static int wrong(const struct sim_field *f, bool element, const struct sim_value *v, const struct place *at,
	struct kar_err *err)
{
	struct kar_buf path KAR_CLEANUP(kar_cleanup_buf) = { 0 }, go KAR_CLEANUP(kar_cleanup_buf) = { 0 };
	struct kar_buf what KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	print_place(at, &path);
	print_go_type(f, element, &go);
	kar_buf_puts(&what, json_name(v));
	if (f->kind == SIM_FIELD_INT && (sim_kind(v) == SIM_REAL || sim_kind(v) == SIM_INT)) {
		kar_buf_puts(&what, " ");
		sim_print(v, &what);
	}
	return kar_fail(err, KAR_INVALID, "json: cannot unmarshal %s into Go struct field %s.%s of type %s",
		kar_buf_cstr(&what), at->in->name, kar_buf_cstr(&path), kar_buf_cstr(&go));
}

/* ---- members that go ---- */

/* The zero value of the field's Go type, which is left out where `omitempty` says so. */
static bool is_zero(const struct sim_field *f, const struct sim_value *v)
{
	enum sim_kind kind = sim_kind(v);

	if (f->map || f->list)
		return kind == (f->map ? SIM_OBJECT : SIM_ARRAY) && sim_count(v) == 0;
	switch (f->kind) {
	case SIM_FIELD_INT:
	case SIM_FIELD_NUMBER:
		return (kind == SIM_INT || kind == SIM_REAL) && sim_number_of(v, 1) == 0;
	case SIM_FIELD_BOOL:
		return kind == SIM_BOOL && !sim_bool_of(v, true);
	case SIM_FIELD_STRING:
	case SIM_FIELD_BYTES:
		return kind == SIM_STRING && !*sim_text(v);
	default:
		return false;
	}
}

/* A value that Go's struct holds itself, so that it is printed even when empty. */
static bool is_inside(const struct sim_field *f)
{
	bool holds =
		f->kind == SIM_FIELD_MESSAGE || f->kind == SIM_FIELD_TIME || f->kind == SIM_FIELD_MICROTIME;

	return holds && !f->pointer && !f->list && !f->map && strcmp(f->name, "creationTimestamp") != 0;
}

static bool goes(const struct sim_type *t, const struct sim_member *m, bool root)
{
	const struct sim_field *f = sim_type_field(t, m->key);

	if (!f)
		return !root || (strcmp(m->key, "apiVersion") != 0 && strcmp(m->key, "kind") != 0);
	if (f->always || is_inside(f))
		return false;
	if (sim_kind(m->value) == SIM_NULL)
		return true;
	return !f->pointer && is_zero(f, m->value);
}

static void drop_members(const struct sim_type *t, struct sim_value **v, bool root)
{
	const char *keys[MAX_DROPPED];
	size_t n;

	do {
		struct sim_value *held KAR_CLEANUP(sim_cleanup_value) =
			sim_ref(*v); /* keeps the keys alive */

		n = 0;
		for (struct sim_member m = sim_first(held); m.value && n < MAX_DROPPED; m = sim_next(m)) {
			if (goes(t, &m, root))
				keys[n++] = m.key;
		}
		for (size_t i = 0; i < n; i++)
			sim_remove(v, keys[i]);
	} while (n == MAX_DROPPED);
}

/* ---- members that are looked at ---- */

static int check_number(const struct sim_field *f, const struct sim_value *v, const struct place *at,
	struct kar_err *err)
{
	bool number = sim_kind(v) == SIM_INT || sim_kind(v) == SIM_REAL;

	if (f->kind == SIM_FIELD_NUMBER)
		return number ? 0 : wrong(f, true, v, at, err);
	if (!number || sim_int_of(v, INT64_MIN) == INT64_MIN)
		return wrong(f, true, v, at, err);
	return 0;
}

/* Canonical, and at least thousandths: what v1.ResourceList does with its members. */
static int decode_quantity(const struct sim_field *f, struct sim_value **v, struct kar_err *err)
{
	const kar_nano milli = 1000 * 1000;
	struct kar_quantity q;

	if (sim_quantity_read(*v, &q, err))
		return -1;
	struct sim_value *canonical;

	if (f->map && q.nano % milli != 0) {
		q.nano += q.nano > 0 ? milli - q.nano % milli : -milli - q.nano % milli;
		canonical = sim_quantity_string(&q);
	} else {
		canonical = sim_quantity_canonical(*v);
	}
	sim_unref(*v);
	*v = canonical;
	return 0;
}

/* At which byte it stops being base64; -1: it is. */
static long bad_byte(const char *text)
{
	size_t n = strlen(text), i = 0;

	while (i < n && (isalnum((unsigned char)text[i]) || text[i] == '+' || text[i] == '/'))
		i++;
	size_t padding = strspn(text + i, "=");

	if (i + padding != n || padding > 2)
		return (long)i;
	return n % 4 == 0 ? -1 : (long)(n - n % 4);
}

/* Bytes at @p that one element of a layout of Go's time.Parse takes; 0: it is something else. */
static size_t element_of(const char *e, const char *p)
{
	size_t n = strlen(e), digits = strspn(p, "0123456789");

	if (*e == 'Z') {
		n = strlen("+01:00");
		return *p == 'Z' ? 1 : (*p == '+' || *p == '-') && strlen(p) == n && p[3] == ':' ? n : 0;
	}
	if (*e == '.')
		return *p == '.' && strspn(p + 1, "0123456789") == n - 1 ? n : 0;
	if (isdigit((unsigned char)*e))
		return digits >= n ? n : 0;
	return *p == *e ? 1 : 0;
}

/* As Go tells it: the first element of the layout that the text does not have. */
static int check_time(const char *text, bool micro, struct kar_err *err)
{
	static const char *const elements[] = { "2006", "-", "01", "-", "02", "T", "15", ":", "04", ":", "05",
		".000000", "Z07:00" };
	const char *p = text;

	for (size_t i = 0; i < KAR_LEN(elements); i++) {
		size_t n = element_of(elements[i], p);

		if (*elements[i] == '.' && !micro) {
			p += *p == '.' ? 1 + strspn(p + 1, "0123456789")
				       : 0; /* a fraction is read though the layout has none */
			continue;
		}
		if (n == 0)
			return kar_fail(err, KAR_INVALID,
				"parsing time \"%s\" as \"2006-01-02T15:04:05%sZ07:00\": cannot parse \"%s\" as \"%s\"",
				text, micro ? ".000000" : "", p, elements[i]);
		p += n;
	}
	return *p ? kar_fail(err, KAR_INVALID, "parsing time \"%s\": extra text: \"%s\"", text, p) : 0;
}

static int check_text(const struct sim_field *f, const char *text, struct kar_err *err)
{
	long bad = f->kind == SIM_FIELD_BYTES ? bad_byte(text) : -1;

	if (bad >= 0)
		return kar_fail(err, KAR_INVALID, "illegal base64 data at input byte %ld", bad);
	if (f->kind == SIM_FIELD_TIME || f->kind == SIM_FIELD_MICROTIME)
		return check_time(text, f->kind == SIM_FIELD_MICROTIME, err);
	return 0;
}

/* What null is as an element of a list or map; consumes *@v. */
static struct sim_value *zero(const struct sim_field *f, struct sim_value **v)
{
	struct sim_value *null = *v;

	switch (f->kind) {
	case SIM_FIELD_STRING:
	case SIM_FIELD_BYTES:
		*v = sim_string("");
		break;
	case SIM_FIELD_INT:
	case SIM_FIELD_NUMBER:
		*v = sim_int(0);
		break;
	case SIM_FIELD_BOOL:
		*v = sim_bool(false);
		break;
	case SIM_FIELD_QUANTITY:
		*v = sim_string("0");
		break;
	case SIM_FIELD_MESSAGE:
		*v = sim_object();
		break;
	default:
		return null;
	}
	sim_unref(null);
	return *v;
}

/* One value, or one element of a list or map. */
static int decode_one(const struct sim_field *f, struct sim_value **v, const struct sim_value *old,
	const struct place *at, struct kar_err *err)
{
	enum sim_kind kind = sim_kind(*v);

	if (*v == old)
		return 0;
	if (kind == SIM_NULL && !f->pointer) {
		*v = zero(f, v);
		kind = sim_kind(*v);
	}
	if (kind == SIM_NULL)
		return 0;
	switch (f->kind) {
	case SIM_FIELD_MESSAGE:
		return kind == SIM_OBJECT ? decode(f->type, v, old, at, err) : wrong(f, true, *v, at, err);
	case SIM_FIELD_QUANTITY:
		return decode_quantity(f, v, err);
	case SIM_FIELD_INT:
	case SIM_FIELD_NUMBER:
		return check_number(f, *v, at, err);
	case SIM_FIELD_BOOL:
		return kind == SIM_BOOL ? 0 : wrong(f, true, *v, at, err);
	case SIM_FIELD_INT_OR_STRING:
		return kind == SIM_STRING || kind == SIM_INT ? 0 : wrong(f, true, *v, at, err);
	case SIM_FIELD_RAW:
		return 0;
	case SIM_FIELD_STRING:
	case SIM_FIELD_BYTES:
	case SIM_FIELD_TIME:
	case SIM_FIELD_MICROTIME:
	case SIM_FIELD_DURATION:
		break;
	}
	return kind == SIM_STRING ? check_text(f, sim_text(*v), err) : wrong(f, true, *v, at, err);
}

static int decode_list(const struct sim_field *f, struct sim_value **v, const struct sim_value *old,
	const struct place *at, struct kar_err *err)
{
	if (sim_kind(*v) != SIM_ARRAY)
		return wrong(f, false, *v, at, err);
	for (size_t i = 0; i < sim_count(*v); i++) {
		struct sim_value *before = sim_item(*v, i), *item = sim_ref(before);
		int r = decode_one(f, &item, sim_item(old, i), at, err);

		if (item != before)
			sim_replace(v, i, item);
		else
			sim_unref(item);
		if (r)
			return -1;
	}
	return 0;
}

/* Changes members of *@v where decoding changes them; @list: the members are lists. */
static int decode_map(const struct sim_field *f, struct sim_value **v, const struct sim_value *old,
	const struct place *at, struct kar_err *err)
{
	struct sim_value *held KAR_CLEANUP(sim_cleanup_value) = sim_ref(*v);

	if (sim_kind(*v) != SIM_OBJECT)
		return wrong(f, false, *v, at, err);
	for (struct sim_member m = sim_first(held); m.value; m = sim_next(m)) {
		struct sim_value *value = sim_ref(m.value);
		int r = f->list ? decode_list(f, &value, sim_member(old, m.key), at, err)
				: decode_one(f, &value, sim_member(old, m.key), at, err);

		if (value != m.value)
			sim_set(v, value, m.key);
		else
			sim_unref(value);
		if (r)
			return -1;
	}
	return 0;
}

static int decode_field(const struct sim_field *f, struct sim_value **v, const struct sim_value *old,
	const struct place *at, struct kar_err *err)
{
	if (sim_kind(*v) == SIM_NULL || *v == old)
		return 0;
	if (f->map)
		return decode_map(f, v, old, at, err);
	if (f->list)
		return decode_list(f, v, old, at, err);
	return decode_one(f, v, old, at, err);
}

/* What Go prints for a field that is not set; NULL: nothing. */
static struct sim_value *unset(const struct sim_field *f)
{
	if (is_inside(f))
		return f->kind == SIM_FIELD_MESSAGE ? sim_object() : sim_null();
	if (!f->always)
		return NULL;
	if (f->list || f->map || f->pointer || f->kind == SIM_FIELD_RAW)
		return sim_null();
	if (f->kind == SIM_FIELD_INT || f->kind == SIM_FIELD_NUMBER || f->kind == SIM_FIELD_INT_OR_STRING)
		return sim_int(0);
	if (f->kind == SIM_FIELD_BOOL)
		return sim_bool(false);
	return f->kind == SIM_FIELD_MESSAGE ? sim_object() : sim_string("");
}

static int decode_member(const struct sim_type *t, const struct sim_field *f, struct sim_value **v,
	const struct sim_value *old, const struct place *up, struct kar_err *err)
{
	struct place at = { .up = up, .in = t, .name = f->name };
	struct sim_value *before = sim_member(*v, f->name);
	struct sim_value *value = sim_kind(before) > SIM_NULL ? sim_ref(before) : unset(f);
	int r = value ? decode_field(f, &value, sim_member(old, f->name), &at, err) : 0;

	if (value == before)
		sim_unref(value);
	else if (value)
		sim_set(v, value, f->name);
	return r;
}

static int decode_members(const struct sim_type *t, struct sim_value **v, const struct sim_value *old,
	const struct place *up, struct kar_err *err)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct sim_field *f = &t->fields[i];
		int r = f->inlined ? decode_members(f->type, v, old, up, err)
				   : decode_member(t, f, v, old, up, err);

		if (r)
			return -1;
	}
	return 0;
}

static int decode(const struct sim_type *t, struct sim_value **v, const struct sim_value *old,
	const struct place *up, struct kar_err *err)
{
	if (*v == old)
		return 0;
	drop_members(t, v, !up);
	return decode_members(t, v, old, up, err);
}

int sim_types_decode(const struct sim_type *t, struct sim_value **v, const struct sim_value *old,
	struct kar_err *err)
{
	return decode(t, v, old, NULL, err);
}
