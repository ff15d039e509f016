#include "sim/tree.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/intern.h"
#include "common/base/mem.h"
#include "common/base/timefmt.h"
#include "common/base/utf8.h"
#include "sim/tree_impl.h"

enum { FIRST_ITEMS = 4 };

/* ---- life ---- */

const char *sim_kind_name(enum sim_kind k)
{
	static const char *const names[] = {
		[SIM_ABSENT] = "nothing",
		[SIM_NULL] = "null",
		[SIM_BOOL] = "a boolean",
		[SIM_INT] = "an integer",
		[SIM_REAL] = "a number",
		[SIM_STRING] = "a string",
		[SIM_ARRAY] = "an array",
		[SIM_OBJECT] = "an object",
	};

	return names[k];
}

static void destroy(struct sim_value *v)
{
	struct sim_list *list = sim_list_of(v);

	if (v->kind == SIM_OBJECT) {
		sim_map_free(sim_map_of(v));
		return;
	}
	for (size_t i = 0; v->kind == SIM_ARRAY && i < list->n; i++)
		sim_unref(list->items[i]);
	free(v);
}

void sim_unref(struct sim_value *v)
{
	if (!v || v->refs == SIM_FOREVER)
		return;
	v->refs--;
	if (!v->refs)
		destroy(v);
}

void sim_cleanup_value(struct sim_value **v)
{
	sim_unref(*v);
}

/* ---- making ---- */

struct sim_value *sim_object(void)
{
	return sim_map_new(FIRST_ITEMS);
}

struct sim_list *sim_list_new(size_t room)
{
	struct sim_list *list = kar_xmalloc(sizeof(*list) + room * sizeof(list->items[0]));

	*list = (struct sim_list){ .head = { 1, SIM_ARRAY }, .room = room };
	return list;
}

struct sim_value *sim_array(void)
{
	return &sim_list_new(FIRST_ITEMS)->head;
}

struct sim_value *sim_null(void)
{
	static struct sim_value null = { SIM_FOREVER, SIM_NULL };

	return &null;
}

struct sim_value *sim_bool(bool b)
{
	static struct sim_scalar bools[] = { { .head = { SIM_FOREVER, SIM_BOOL }, .i = 0 },
		{ .head = { SIM_FOREVER, SIM_BOOL }, .i = 1 } };

	return &bools[b].head;
}

struct sim_value *sim_int(int64_t i)
{
	struct sim_scalar *v = kar_xmalloc(sizeof(*v));

	*v = (struct sim_scalar){ .head = { 1, SIM_INT }, .i = i };
	return &v->head;
}

struct sim_value *sim_real(double d)
{
	struct sim_scalar *v = kar_xmalloc(sizeof(*v));

	*v = (struct sim_scalar){ .head = { 1, SIM_REAL }, .d = isfinite(d) ? d : 0 };
	return &v->head;
}

static struct sim_string *new_string(size_t n)
{
	struct sim_string *v = kar_xmalloc(sizeof(*v) + n + 1);

	*v = (struct sim_string){ .head = { 1, SIM_STRING }, .n = n };
	v->p[n] = '\0';
	return v;
}

struct sim_value *sim_string_clean(const char *s, size_t n)
{
	struct sim_string *v = new_string(n);

	memcpy(v->p, s, n);
	return &v->head;
}

struct sim_value *sim_string_n(const char *s, size_t n)
{
	struct sim_string *v;

	if (kar_utf8_clean(s, n) == n)
		return sim_string_clean(s, n);
	v = new_string(kar_utf8_mended_len(s, n));
	kar_utf8_mend(v->p, s, n);
	return &v->head;
}

struct sim_value *sim_string(const char *s)
{
	return sim_string_n(s, strlen(s));
}

struct sim_value *sim_printf(const char *fmt, ...)
{
	struct sim_value *v;
	char fixed[512];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(fixed, sizeof(fixed), fmt, ap);
	va_end(ap);
	assert(n >= 0);
	if ((size_t)n < sizeof(fixed))
		return sim_string_n(fixed, (size_t)n);

	char *long_text = kar_xmalloc((size_t)n + 1);

	va_start(ap, fmt);
	vsnprintf(long_text, (size_t)n + 1, fmt, ap);
	va_end(ap);
	v = sim_string_n(long_text, (size_t)n);
	free(long_text);
	return v;
}

struct sim_value *sim_time(kar_time wall)
{
	char text[KAR_TIME_LEN];

	return sim_string(kar_time_format(wall, text));
}

/* ---- reading ---- */

const char *sim_text(const struct sim_value *v)
{
	return sim_kind(v) == SIM_STRING ? sim_string_of(v)->p : NULL;
}

const char *sim_text_or(const struct sim_value *v, const char *otherwise)
{
	const char *s = sim_text(v);

	return s ? s : otherwise;
}

int64_t sim_int_of(const struct sim_value *v, int64_t otherwise)
{
	const double limit = 9007199254740992.; /* 2^53: above it a double no longer tells integers apart */
	double d;

	if (sim_kind(v) == SIM_INT)
		return sim_scalar_of(v)->i;
	if (sim_kind(v) != SIM_REAL)
		return otherwise;
	d = sim_scalar_of(v)->d;
	return fabs(d) <= limit && d == (double)(int64_t)d ? (int64_t)d : otherwise;
}

bool sim_bool_of(const struct sim_value *v, bool otherwise)
{
	return sim_kind(v) == SIM_BOOL ? sim_scalar_of(v)->i != 0 : otherwise;
}

double sim_number_of(const struct sim_value *v, double otherwise)
{
	if (sim_kind(v) == SIM_INT)
		return (double)sim_scalar_of(v)->i;
	return sim_kind(v) == SIM_REAL ? sim_scalar_of(v)->d : otherwise;
}

size_t sim_count(const struct sim_value *v)
{
	if (sim_kind(v) == SIM_ARRAY)
		return sim_list_of(v)->n;
	return sim_kind(v) == SIM_OBJECT ? sim_map_of(v)->n : 0;
}

struct sim_value *sim_member(const struct sim_value *object, const char *key)
{
	const struct sim_pair *p =
		sim_kind(object) == SIM_OBJECT ? sim_map_find(sim_map_of(object), key) : NULL;

	return p ? p->value : NULL;
}

struct sim_value *sim_item(const struct sim_value *array, size_t i)
{
	return sim_kind(array) == SIM_ARRAY && i < sim_list_of(array)->n ? sim_list_of(array)->items[i]
									 : NULL;
}

struct sim_value *sim_get_path(const struct sim_value *v, const char *const *path)
{
	struct sim_value *at = (struct sim_value *)(uintptr_t)v;

	for (; at && *path; path++)
		at = sim_member(at, *path);
	return at;
}

/* The member at pair @i or the next one that was not removed. */
static struct sim_member member_at(const struct sim_value *object, size_t i)
{
	struct sim_map *m = sim_map_of(object);

	while (i < m->used && !m->pairs[i].key)
		i++;
	if (i >= m->used)
		return (struct sim_member){ .object = object };
	return (struct sim_member){ m->pairs[i].key->p, m->pairs[i].value, object, &m->pairs[i] };
}

struct sim_member sim_first(const struct sim_value *object)
{
	return sim_kind(object) == SIM_OBJECT ? member_at(object, 0)
					      : (struct sim_member){ .object = object };
}

struct sim_member sim_next(struct sim_member m)
{
	return member_at(m.object, (size_t)((struct sim_pair *)m.at - sim_map_of(m.object)->pairs) + 1);
}

/* ---- comparing ---- */

static bool equal_numbers(const struct sim_value *a, const struct sim_value *b)
{
	double x = sim_number_of(a, 0), y = sim_number_of(b, 0);

	if (a->kind == SIM_INT && b->kind == SIM_INT)
		return sim_scalar_of(a)->i == sim_scalar_of(b)->i;
	return !(x < y) && !(x > y);
}

static bool equal_arrays(const struct sim_list *a, const struct sim_list *b)
{
	for (size_t i = 0; i < a->n; i++) {
		if (!sim_equal(a->items[i], b->items[i]))
			return false;
	}
	return true;
}

static bool equal_objects(const struct sim_map *a, const struct sim_map *b)
{
	for (size_t i = 0; i < a->used; i++) {
		const struct sim_pair *p = a->pairs[i].key ? sim_map_find_key(b, a->pairs[i].key, i) : NULL;

		if (a->pairs[i].key && (!p || !sim_equal(a->pairs[i].value, p->value)))
			return false;
	}
	return true;
}

static bool is_number(const struct sim_value *v)
{
	return sim_kind(v) == SIM_INT || sim_kind(v) == SIM_REAL;
}

bool sim_equal(const struct sim_value *a, const struct sim_value *b)
{
	enum sim_kind kind = sim_kind(a);

	if (a == b)
		return true;
	if (is_number(a) && is_number(b))
		return equal_numbers(a, b);
	if (kind != sim_kind(b) || (kind >= SIM_ARRAY && sim_count(a) != sim_count(b)))
		return false;
	switch (kind) {
	case SIM_STRING:
		return sim_string_of(a)->n == sim_string_of(b)->n &&
			!memcmp(sim_string_of(a)->p, sim_string_of(b)->p, sim_string_of(a)->n);
	case SIM_BOOL:
		return sim_scalar_of(a)->i == sim_scalar_of(b)->i;
	case SIM_ARRAY:
		return equal_arrays(sim_list_of(a), sim_list_of(b));
	case SIM_OBJECT:
		return equal_objects(sim_map_of(a), sim_map_of(b));
	default:
		return true;
	}
}

static uint64_t mix(uint64_t h, uint64_t x)
{
	h ^= x + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2);
	return h * 0xff51afd7ed558ccdu;
}

uint64_t sim_hash(const struct sim_value *v)
{
	uint64_t h = (uint64_t)sim_kind(v);

	switch (sim_kind(v)) {
	case SIM_STRING:
		return kar_hash_str(h, sim_text(v));
	case SIM_BOOL:
		return mix(h, sim_bool_of(v, false));
	case SIM_INT:
	case SIM_REAL:
		return mix(SIM_INT, (uint64_t)sim_int_of(v, INT64_MIN));
	case SIM_ARRAY:
		for (size_t i = 0; i < sim_count(v); i++)
			h = mix(h, sim_hash(sim_item(v, i)));
		return h;
	case SIM_OBJECT: /* a sum, because members come in any order */
		for (struct sim_member m = sim_first(v); m.value; m = sim_next(m))
			h += mix(kar_hash_str(1, m.key), sim_hash(m.value));
		return h;
	default:
		return h;
	}
}
