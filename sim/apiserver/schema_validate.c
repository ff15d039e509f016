#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/apiserver/schema_impl.h"
#include "sim/apiserver/syntax.h"

/*
 * The checks of the OpenAPI validator of the API server, in its order and with its texts, oddities included: limits of
 * integers are cut to integers, a format makes arrays pass as strings. `matches` counts as it counts, because that decides
 * which alternative's failures are shown.
 */

static const int64_t exact = INT64_C(1) << 53; /* integers up to here are exact as doubles */

static void check(const struct schema_node *n, const struct sim_value *v, const struct sim_value *old,
	const struct schema_place *at, struct schema_result *r);

/* ---- types ---- */

struct found {
	enum schema_types type;
	const char *name, *format; /* as texts name it: "integer", "int64" */
};

static struct found what_is(const struct sim_value *v)
{
	switch (sim_kind(v)) {
	case SIM_BOOL:
		return (struct found){ TYPE_BOOLEAN, "boolean", "" };
	case SIM_INT:
		return (struct found){ TYPE_INTEGER, "integer", "int64" };
	case SIM_REAL:
		return (struct found){ TYPE_NUMBER, "number", "float64" };
	case SIM_STRING:
		return (struct found){ TYPE_STRING, "string", "" };
	case SIM_ARRAY:
		return (struct found){ TYPE_ARRAY, "array", "" };
	default:
		return (struct found){ TYPE_OBJECT, "object", "" };
	}
}

static bool is_whole(double d)
{
	return fabs(d) <= (double)exact && floor(d) >= d;
}

static void check_type(const struct schema_node *n, const struct sim_value *v, const struct schema_place *at,
	struct schema_result *r)
{
	const unsigned numeric = TYPE_INTEGER | TYPE_NUMBER;
	struct found is = what_is(v);
	bool other_number =
		(is.type == TYPE_NUMBER && (n->types & TYPE_INTEGER) && is_whole(sim_number_of(v, 0))) ||
		(is.type == TYPE_INTEGER && (n->types & TYPE_NUMBER));
	bool fits = (n->types & is.type) || other_number,
	     listed = is.type == TYPE_STRING || is.type == TYPE_ARRAY;

	if (!n->types && !n->format)
		return;
	r->matches++;
	if (n->format && !listed && !fits && strcmp(is.format, n->format) != 0) {
		schema_refuse_type(r, at, n->format, is.format);
		return;
	}
	if (n->format && listed && !(n->types & numeric)) {
		r->matches++;
		return;
	}
	if (fits)
		r->matches++;
	else
		schema_refuse_type(r, at, n->type_text, is.name);
}

static void check_choices(const struct schema_node *n, const struct sim_value *v,
	const struct schema_place *at, struct schema_result *r)
{
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf text = { 0 };

	for (size_t i = 0; i < sim_count(n->choices); i++) {
		if (sim_equal(v, sim_item(n->choices, i)))
			return;
	}
	schema_print_value(v, &text);
	for (size_t i = 0; i < sim_count(n->choices); i++) {
		const struct sim_value *choice = sim_item(n->choices, i);
		KAR_CLEANUP(kar_cleanup_buf) struct kar_buf plain = { 0 };

		kar_buf_puts(&text, i ? ", " : ": supported values: ");
		if (sim_kind(choice) != SIM_STRING)
			schema_print_value(choice, &plain);
		sim_quote(sim_text_or(choice, kar_buf_cstr(&plain)), &text);
	}
	schema_refuse(r, "FieldValueNotSupported", at, false, "Unsupported value: %s", kar_buf_cstr(&text));
}

/* ---- strings ---- */

static int64_t characters(const char *s)
{
	int64_t n = 0;

	for (; *s; s++)
		n += (*s & 0xc0) != 0x80; /* bytes that begin a character */
	return n;
}

static void check_string(const struct schema_node *n, const struct sim_value *v,
	const struct schema_place *at, struct schema_result *r)
{
	int64_t length = n->max_length >= 0 || n->min_length >= 0 ? characters(sim_text(v)) : 0;

	r->matches++;
	if (n->max_length >= 0 && length > n->max_length)
		schema_refuse(r, "FieldValueTooLong", at, false, "Too long: may not be more than %jd byte%s",
			(intmax_t)n->max_length, n->max_length == 1 ? "" : "s");
	else if (n->min_length >= 0 && length < n->min_length)
		schema_refuse_value(r, at, v, "should be at least %jd chars long", (intmax_t)n->min_length);
	else if (n->regex && !schema_pattern_allows(n->regex, sim_text(v)))
		schema_refuse_value(r, at, v, "should match '%s'", n->pattern);
	if (!n->format)
		return;
	r->matches++;
	if (n->format_holds && !n->format_holds(sim_text(v)))
		schema_refuse_type(r, at, n->format, sim_text(v));
}

/* ---- numbers ---- */

/* A limit as the server compares it with @v: cut to an integer for integers. */
static double limit_for(const struct sim_value *v, double limit)
{
	return sim_kind(v) == SIM_INT ? trunc(limit) : limit;
}

static void check_range(const struct schema_node *n, const struct sim_value *v, const struct schema_place *at,
	struct schema_result *r)
{
	bool format32 = n->format && !strcmp(n->format, "int32");
	double d = sim_number_of(v, 0);
	char text[96];

	if (n->types == TYPE_NUMBER && n->format && !strcmp(n->format, "float") &&
		fabs(d) > (double)__FLT_MAX__)
		schema_refuse_whole(r, at, "Checked value must be of type number with format float in ", "");
	if (n->types != TYPE_INTEGER)
		return;
	if (format32 ? floor(d) >= d && d >= INT32_MIN && d <= INT32_MAX
		     : sim_kind(v) == SIM_INT || (floor(d) >= d && fabs(d) < 0x1p63))
		return;
	snprintf(text, sizeof(text), "Checked value must be of type integer %s%s in ",
		n->format ? "with format " : "", n->format ? n->format : "(default format)");
	schema_refuse_whole(r, at, text, "");
}

static void refuse_number(struct schema_result *r, const struct schema_place *at, const struct sim_value *v,
	const char *rule, double limit)
{
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf text = { 0 };

	sim_print_real(limit, &text);
	schema_refuse_value(r, at, v, "should be %s %s", rule, kar_buf_cstr(&text));
}

/* The server divides integers by an integer: a factor below 1 becomes 0, which it then blames on the schema. */
static void check_multiple(const struct schema_node *n, const struct sim_value *v,
	const struct schema_place *at, struct schema_result *r)
{
	double factor = limit_for(v, n->multiple.value), d = sim_number_of(v, 0);
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf path = { 0 }, text = { 0 };

	if (factor > 0 && is_whole(factor < 1 ? 1 / factor * d : d / factor))
		return;
	if (factor > 0) {
		refuse_number(r, at, v, "a multiple of", factor);
		return;
	}
	schema_path(at, false, &path);
	sim_print_real(factor, &text);
	schema_refuse(r, "FieldValueInvalid", at, false,
		"Invalid value: %s: factor MultipleOf declared for %s must be positive: %s",
		kar_buf_cstr(&text), kar_buf_cstr(&path), kar_buf_cstr(&text));
}

static void check_number(const struct schema_node *n, const struct sim_value *v,
	const struct schema_place *at, struct schema_result *r)
{
	double d = sim_number_of(v, 0), low = limit_for(v, n->minimum.value),
	       high = limit_for(v, n->maximum.value);

	r->matches += 2;
	check_range(n, v, at, r);
	if (n->multiple.set)
		check_multiple(n, v, at, r);
	if (n->minimum.set && (d < low || (n->minimum.exclusive && d <= low)))
		refuse_number(r, at, v, n->minimum.exclusive ? "greater than" : "greater than or equal to",
			low);
	if (n->maximum.set && (d > high || (n->maximum.exclusive && d >= high)))
		refuse_number(r, at, v, n->maximum.exclusive ? "less than" : "less than or equal to", high);
}

/* ---- arrays ---- */

static bool same_keys(const struct sim_value *keys, const struct sim_value *a, const struct sim_value *b)
{
	for (size_t i = 0; i < sim_count(keys); i++) {
		const char *key = sim_text_or(sim_item(keys, i), "");

		if (!sim_equal(sim_member(a, key), sim_member(b, key)))
			return false;
	}
	return true;
}

/* The item of @old that is the same as item @i of @v, by its keys. Only maps have such; NULL: none. */
static const struct sim_value *item_before(const struct schema_node *n, const struct sim_value *v, size_t i,
	const struct sim_value *old)
{
	enum { SEARCHED_MAX = 1024 }; /* long lists whose order changes are checked as if they were new */
	const struct sim_value *item = sim_item(v, i);

	if (n->list != LIST_MAP || sim_kind(old) != SIM_ARRAY)
		return NULL;
	if (same_keys(n->list_keys, item, sim_item(old, i)))
		return sim_item(old, i);
	for (size_t j = 0; j < sim_count(old) && sim_count(old) <= SEARCHED_MAX; j++) {
		if (same_keys(n->list_keys, item, sim_item(old, j)))
			return sim_item(old, j);
	}
	return NULL;
}

static void check_array(const struct schema_node *n, const struct sim_value *v, const struct sim_value *old,
	const struct schema_place *at, struct schema_result *r)
{
	size_t count = sim_count(v);
	KAR_CLEANUP(sim_cleanup_value) struct sim_value *size = NULL;

	r->matches += 2;
	for (size_t i = 0; n->items && i < count; i++) {
		struct schema_place place = { .up = at, .index = i };

		schema_validate_value(n->items, sim_item(v, i), item_before(n, v, i, old), &place, r);
	}
	if (n->min_items >= 0 && count < (size_t)n->min_items) {
		size = sim_int((int64_t)count);
		schema_refuse_value(r, at, size, "should have at least %jd items", (intmax_t)n->min_items);
	}
	if (n->max_items >= 0 && count > (size_t)n->max_items)
		schema_refuse(r, "FieldValueTooMany", at, false,
			"Too many: %zu: must have at most %jd item%s", count, (intmax_t)n->max_items,
			n->max_items == 1 ? "" : "s");
}

/* ---- objects ---- */

static void check_size(const struct schema_node *n, size_t count, const struct schema_place *at,
	struct schema_result *r)
{
	if (n->min_properties >= 0 && count < (size_t)n->min_properties) {
		KAR_CLEANUP(sim_cleanup_value) struct sim_value *size = sim_int((int64_t)count);

		schema_refuse_value(r, at, size, "should have at least %jd properties",
			(intmax_t)n->min_properties);
	}
	if (n->max_properties >= 0 && count > (size_t)n->max_properties)
		schema_refuse(r, "FieldValueTooMany", at, false,
			"Too many: %zu: must have at most %jd item%s", count, (intmax_t)n->max_properties,
			n->max_properties == 1 ? "" : "s");
}

static void refuse_member(const char *key, const struct schema_place *at, struct schema_result *r)
{
	struct schema_place place = { .up = at, .key = key };
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf path = { 0 }, name = { 0 };

	schema_path(&place, false, &path);
	sim_quote(key, &name);
	schema_refuse(r, "FieldValueInvalid", at, false,
		"Invalid value: %s: %s in body is a forbidden property", kar_buf_cstr(&name),
		kar_buf_cstr(&path));
}

static void check_object(const struct schema_node *n, const struct sim_value *v, const struct sim_value *old,
	const struct schema_place *at, struct schema_result *r)
{
	r->matches++;
	check_size(n, sim_count(v), at, r);
	for (struct sim_member m = sim_first(v); m.value; m = sim_next(m)) {
		const struct schema_node *inner = schema_member(n, m.key);
		struct schema_place place = { .up = at, .key = m.key, .in_map = n->additional_given };

		if (inner)
			schema_validate_value(inner, m.value, old ? sim_member(old, m.key) : NULL, &place, r);
		else if (n->additional_refused)
			refuse_member(m.key, at, r);
	}
	for (size_t i = 0; i < sim_count(n->required); i++) {
		struct schema_place place = { .up = at, .key = sim_text_or(sim_item(n->required, i), "") };

		if (!sim_member(v, place.key))
			schema_refuse(r, "FieldValueRequired", &place, false, "Required value");
	}
}

/* ---- allOf, anyOf, oneOf, not ---- */

static struct schema_result try(const struct schema_node *n, const struct sim_value *v,
	const struct sim_value *old, const struct schema_place *at, const struct schema_result *r)
{
	struct schema_result result = { .prefix = r->prefix };

	check(n, v, old, at, &result);
	return result;
}

/*
 * Tries the alternatives and returns how many hold: one, if @first. *@best becomes the failure with most matches, or the first
 * success.
 */
static size_t try_all(const struct schema_nodes *nodes, bool first, const struct sim_value *v,
	const struct sim_value *old, const struct schema_place *at, struct schema_result *best)
{
	size_t holding = 0;

	for (size_t i = 0; i < nodes->n && !(first && holding > 0); i++) {
		struct schema_result result = try(nodes->items[i], v, old, at, best);
		bool holds = result.causes.n == 0;

		holding += holds;
		if (i == 0 || (holds && holding == 1) || (!holding && result.matches > best->matches)) {
			sim_causes_release(&best->causes);
			*best = result;
		} else {
			sim_causes_release(&result.causes);
		}
	}
	return holding;
}

static void check_any_of(const struct schema_node *n, const struct sim_value *v, const struct sim_value *old,
	const struct schema_place *at, struct schema_result *r)
{
	struct schema_result best = { .prefix = r->prefix };
	size_t since = r->causes.n;

	if (n->any_of.n == 0)
		return;
	if (try_all(&n->any_of, true, v, old, at, &best) == 0)
		schema_refuse_whole(r, at, "\"", "\" must validate at least one schema (anyOf)");
	schema_merge(r, since, &best);
}

static void check_one_of(const struct schema_node *n, const struct sim_value *v, const struct sim_value *old,
	const struct schema_place *at, struct schema_result *r)
{
	struct schema_result best = { .prefix = r->prefix };
	size_t since = r->causes.n, holding;
	char text[96];

	if (n->one_of.n == 0)
		return;
	holding = try_all(&n->one_of, false, v, old, at, &best);
	if (holding == 0) {
		schema_refuse_whole(r, at, "\"",
			"\" must validate one and only one schema (oneOf). Found none valid");
	} else if (holding > 1) {
		snprintf(text, sizeof(text),
			"\" must validate one and only one schema (oneOf). Found %zu valid alternatives",
			holding);
		schema_refuse_whole(r, at, "\"", text);
		best.matches = 0;
	}
	schema_merge(r, since, &best);
}

static void check_all_of(const struct schema_node *n, const struct sim_value *v, const struct sim_value *old,
	const struct schema_place *at, struct schema_result *r)
{
	size_t since = r->causes.n, holding = 0;

	for (size_t i = 0; i < n->all_of.n; i++) {
		struct schema_result result = try(n->all_of.items[i], v, old, at, r);

		holding += result.causes.n == 0;
		schema_merge(r, since, &result);
	}
	if (holding < n->all_of.n)
		schema_refuse_whole(r, at, "\"",
			holding ? "\" must validate all the schemas (allOf)"
				: "\" must validate all the schemas (allOf). None validated");
}

static void check_not(const struct schema_node *n, const struct sim_value *v, const struct sim_value *old,
	const struct schema_place *at, struct schema_result *r)
{
	struct schema_result result;

	if (!n->not )
		return;
	result = try(n->not, v, old, at, r);
	if (result.causes.n == 0)
		schema_refuse_whole(r, at, "\"", "\" must not validate the schema (not)");
	sim_causes_release(&result.causes);
}

/* ---- all of it ---- */

static void check_null(const struct schema_node *n, const struct sim_value *v, const struct schema_place *at,
	struct schema_result *r)
{
	if (n->types && !n->nullable)
		schema_refuse_type(r, at, n->type_text, "null");
	else
		r->matches++;
	if (n->choices)
		check_choices(n, v, at, r);
}

static void check_kind(const struct schema_node *n, const struct sim_value *v, const struct sim_value *old,
	const struct schema_place *at, struct schema_result *r)
{
	switch (sim_kind(v)) {
	case SIM_STRING:
		check_string(n, v, at, r);
		break;
	case SIM_INT:
	case SIM_REAL:
		check_number(n, v, at, r);
		break;
	case SIM_ARRAY:
		check_array(n, v, old, at, r);
		break;
	case SIM_OBJECT:
		check_object(n, v, old, at, r);
		break;
	default:
		break;
	}
}

static void check(const struct schema_node *n, const struct sim_value *v, const struct sim_value *old,
	const struct schema_place *at, struct schema_result *r)
{
	if (sim_kind(v) == SIM_NULL) {
		check_null(n, v, at, r);
		return;
	}
	check_type(n, v, at, r);
	check_any_of(n, v, old, at, r);
	check_one_of(n, v, old, at, r);
	check_all_of(n, v, old, at, r);
	check_not(n, v, old, at, r);
	check_kind(n, v, old, at, r);
	if (n->choices)
		check_choices(n, v, at, r);
	r->matches += 4; /* alternatives twice, choices, and the whole */
}

void schema_validate_value(const struct schema_node *n, const struct sim_value *v,
	const struct sim_value *old, const struct schema_place *at, struct schema_result *r)
{
	size_t before = r->causes.n;

	if (v == old)
		return;
	check(n, v, old, at, r);
	if (old && r->causes.n > before && sim_equal(v, old))
		schema_forget(&r->causes, before);
}
