#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/intern.h"
#include "sim/apiserver/schema_impl.h"
#include "sim/apiserver/syntax.h"

/* What a schema is to the one around it: that decides what it must and must not have. */
enum level { ROOT, FIELD, ITEM, NESTED /* in allOf, anyOf, oneOf, not */ };

struct compiler {
	struct sim_schema *s;
	struct kar_buf path; /* of the schema in work, as error texts of CustomResourceDefinitions name it */
	struct kar_err *err;
	bool int_or_string; /* inside one, whose alternatives may name types */
};

static struct schema_node *compile(struct compiler *c, const struct sim_value *v, enum level level);

/* "PATH.@keyword: @text". Returns NULL, for a compile() that fails. */
static struct schema_node *refuse(struct compiler *c, const char *keyword, const char *text)
{
	kar_fail(c->err, KAR_INVALID, "%s%s%s: %s", kar_buf_cstr(&c->path), *keyword ? "." : "", keyword,
		text);
	return NULL;
}

/* Compiles the schema at a place below; @key NULL: not in a map or list of schemas. */
static struct schema_node *compile_below(struct compiler *c, const char *keyword, const char *key,
	const struct sim_value *v, enum level level)
{
	size_t length = c->path.n;
	struct schema_node *n;

	kar_buf_printf(&c->path, ".%s", keyword);
	if (key)
		kar_buf_printf(&c->path, "[%s]", key);
	n = compile(c, v, level);
	c->path.n = length;
	c->path.p[length] = '\0';
	return n;
}

/* ---- members that are numbers and the like ---- */

static int64_t limit_of(const struct sim_value *v, const char *keyword)
{
	int64_t limit = sim_int_of(sim_member(v, keyword), -1);

	return limit < 0 ? -1 : limit;
}

static struct schema_bound bound_of(const struct sim_value *v, const char *keyword, const char *exclusive)
{
	const struct sim_value *limit = sim_member(v, keyword);

	return (struct schema_bound){
		.set = sim_kind(limit) == SIM_INT || sim_kind(limit) == SIM_REAL,
		.exclusive = exclusive && sim_bool_of(sim_member(v, exclusive), false),
		.value = sim_number_of(limit, 0),
	};
}

static bool flag(const struct sim_value *v, const char *keyword)
{
	return sim_bool_of(sim_member(v, keyword), false);
}

static void compile_limits(struct schema_node *n, const struct sim_value *v)
{
	n->nullable = flag(v, "nullable");
	n->preserves = flag(v, "x-kubernetes-preserve-unknown-fields");
	n->embedded = flag(v, "x-kubernetes-embedded-resource");
	n->atomic_map = !strcmp(sim_text_or(sim_member(v, "x-kubernetes-map-type"), ""), "atomic");
	n->minimum = bound_of(v, "minimum", "exclusiveMinimum");
	n->maximum = bound_of(v, "maximum", "exclusiveMaximum");
	n->multiple = bound_of(v, "multipleOf", NULL);
	n->min_length = limit_of(v, "minLength");
	n->max_length = limit_of(v, "maxLength");
	n->min_items = limit_of(v, "minItems");
	n->max_items = limit_of(v, "maxItems");
	n->min_properties = limit_of(v, "minProperties");
	n->max_properties = limit_of(v, "maxProperties");
	n->choices = sim_count(sim_member(v, "enum")) ? sim_member(v, "enum") : NULL;
	n->required = sim_count(sim_member(v, "required")) ? sim_member(v, "required") : NULL;
	if (sim_kind(sim_member(v, "default")) > SIM_NULL)
		n->default_ = sim_member(v, "default");
}

static bool compile_type(struct compiler *c, struct schema_node *n, const struct sim_value *v,
	enum level level)
{
	static const struct {
		const char *name;
		enum schema_types type;
	} types[] = {
		{ "object", TYPE_OBJECT },
		{ "array", TYPE_ARRAY },
		{ "string", TYPE_STRING },
		{ "integer", TYPE_INTEGER },
		{ "number", TYPE_NUMBER },
		{ "boolean", TYPE_BOOLEAN },
	};
	static const char *const missing[] = {
		[ROOT] = "Required value: must not be empty at the root",
		[FIELD] = "Required value: must not be empty for specified object fields",
		[ITEM] = "Required value: must not be empty for specified array items",
	};

	n->type_text = sim_text_or(sim_member(v, "type"), "");
	for (size_t i = 0; i < KAR_LEN(types); i++) {
		if (!strcmp(n->type_text, types[i].name))
			n->types = types[i].type;
	}
	if (*n->type_text && !n->types)
		return refuse(c, "type",
			"Unsupported value: must be array, boolean, integer, number, object or string");
	if (level == ROOT && n->types && n->types != TYPE_OBJECT)
		return refuse(c, "type", "Invalid value: must be object at the root");
	if (level == NESTED && n->types && !c->int_or_string)
		return refuse(c, "type", "Forbidden: must be empty to be structural");
	if (flag(v, "x-kubernetes-int-or-string")) {
		n->types = TYPE_INTEGER | TYPE_STRING;
		n->type_text = "integer,string";
	}
	if (level == NESTED || n->types || n->preserves)
		return true;
	return refuse(c, "type", missing[level]);
}

/* ---- schemas inside ---- */

static void index_properties(struct sim_schema *s, struct schema_node *n)
{
	size_t room = 2;

	while (room < 2 * n->n_properties)
		room *= 2;
	n->mask = room - 1;
	n->slots = kar_arena_alloc(&s->arena, room, sizeof(*n->slots));
	for (size_t i = 0; i < n->n_properties; i++) {
		size_t at = kar_hash_str(0, n->properties[i].name) & n->mask;

		while (n->slots[at])
			at = (at + 1) & n->mask;
		n->slots[at] = (uint32_t)i + 1;
	}
}

static bool compile_properties(struct compiler *c, struct schema_node *n, const struct sim_value *v,
	enum level level)
{
	const struct sim_value *properties = sim_member(v, "properties");

	n->properties = kar_arena_alloc(&c->s->arena, sim_count(properties) + 1, sizeof(*n->properties));
	for (struct sim_member m = sim_first(properties); m.value; m = sim_next(m)) {
		struct schema_node *inner =
			compile_below(c, "properties", m.key, m.value, level == NESTED ? NESTED : FIELD);

		if (!inner)
			return false;
		n->properties[n->n_properties++] = (struct schema_property){ m.key, inner };
	}
	index_properties(c->s, n);
	return true;
}

static bool compile_additional(struct compiler *c, struct schema_node *n, const struct sim_value *v,
	enum level level)
{
	const struct sim_value *additional = sim_member(v, "additionalProperties");

	if (!additional)
		return true;
	if (n->n_properties > 0)
		return refuse(c, "additionalProperties",
			"Forbidden: additionalProperties and properties are mutual exclusive");
	if (level == ROOT)
		return refuse(c, "additionalProperties", "Forbidden: must not be used at the root");
	if (level == NESTED)
		return refuse(c, "additionalProperties", "Forbidden: must be undefined to be structural");
	n->additional_given = true;
	if (sim_kind(additional) == SIM_BOOL) {
		n->additional_refused = !sim_bool_of(additional, true);
		return true;
	}
	n->additional = compile_below(c, "additionalProperties", NULL, additional, FIELD);
	return n->additional;
}

static bool compile_items(struct compiler *c, struct schema_node *n, const struct sim_value *v,
	enum level level)
{
	const struct sim_value *items = sim_member(v, "items");

	if (!items)
		return n->types != TYPE_ARRAY || refuse(c, "items", "Required value: must be specified");
	n->items = compile_below(c, "items", NULL, items, level == NESTED ? NESTED : ITEM);
	return n->items;
}

static bool compile_alternatives(struct compiler *c, const char *keyword, const struct sim_value *v,
	struct schema_nodes *out)
{
	const struct sim_value *list = sim_member(v, keyword);

	out->items = kar_arena_alloc(&c->s->arena, sim_count(list) + 1, sizeof(struct schema_node *));
	for (size_t i = 0; i < sim_count(list); i++) {
		char key[24];

		snprintf(key, sizeof(key), "%zu", i);
		out->items[out->n] = compile_below(c, keyword, key, sim_item(list, i), NESTED);
		if (!out->items[out->n])
			return false;
		out->n++;
	}
	return true;
}

static bool compile_nested(struct compiler *c, struct schema_node *n, const struct sim_value *v)
{
	const struct sim_value *not = sim_member(v, "not");
	bool around = c->int_or_string, done;

	c->int_or_string = around || n->types == (TYPE_INTEGER | TYPE_STRING);
	done = compile_alternatives(c, "allOf", v, &n->all_of) &&
		compile_alternatives(c, "anyOf", v, &n->any_of) &&
		compile_alternatives(c, "oneOf", v, &n->one_of);
	if (done && not )
		n->not = compile_below(c, "not", NULL, not, NESTED);
	c->int_or_string = around;
	return done && (!not || n->not );
}

/* ---- what is structural ---- */

static bool check_keywords(struct compiler *c, const struct sim_value *v, enum level level)
{
	static const struct {
		const char *keyword, *text;
		bool nested_only;
	} forbidden[] = {
		{ "$ref", "Forbidden: $ref is not supported", false },
		{ "patternProperties", "Forbidden: patternProperties is not supported", false },
		{ "default", "Forbidden: must be undefined to be structural", true },
		{ "nullable", "Forbidden: must be false to be structural", true },
		{ "x-kubernetes-preserve-unknown-fields", "Forbidden: must be false to be structural", true },
		{ "x-kubernetes-embedded-resource", "Forbidden: must be false to be structural", true },
		{ "x-kubernetes-int-or-string", "Forbidden: must be false to be structural", true },
		{ "x-kubernetes-list-type", "Forbidden: must be undefined to be structural", true },
		{ "x-kubernetes-validations", "Forbidden: must be empty to be structural", true },
	};

	for (size_t i = 0; i < KAR_LEN(forbidden); i++) {
		if ((level == NESTED || !forbidden[i].nested_only) && sim_member(v, forbidden[i].keyword))
			return refuse(c, forbidden[i].keyword, forbidden[i].text);
	}
	if (flag(v, "uniqueItems"))
		return refuse(c, "uniqueItems",
			"Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic");
	return true;
}

static bool compile_list(struct compiler *c, struct schema_node *n, const struct sim_value *v)
{
	const char *list = sim_text(sim_member(v, "x-kubernetes-list-type"));

	n->list_keys = sim_member(v, "x-kubernetes-list-map-keys");
	if (!list)
		return true;
	if (n->types != TYPE_ARRAY)
		return refuse(c, "type",
			"Invalid value: must be array if x-kubernetes-list-type is specified");
	n->list = !strcmp(list, "map") ? LIST_MAP : !strcmp(list, "set") ? LIST_SET : LIST_ATOMIC;
	if (n->list == LIST_ATOMIC && strcmp(list, "atomic") != 0)
		return refuse(c, "x-kubernetes-list-type",
			"Unsupported value: supported values: \"atomic\", \"set\", \"map\"");
	if (n->list == LIST_MAP && sim_count(n->list_keys) == 0)
		return refuse(c, "x-kubernetes-list-map-keys",
			"Required value: must not be empty if x-kubernetes-list-type is map");
	return true;
}

static bool compile_text(struct compiler *c, struct schema_node *n, const struct sim_value *v)
{
	const char *format = sim_text(sim_member(v, "format")), *pattern = sim_text(sim_member(v, "pattern"));
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf text = { 0 };
	struct kar_err why = { 0 };

	if (format && *format)
		schema_format_compile(n, format);
	if (!pattern || !*pattern || !schema_pattern_compile(c->s, n, pattern, &why))
		return true;
	kar_buf_puts(&text, "Invalid value: ");
	sim_quote(pattern, &text);
	kar_buf_printf(&text, ": %s", why.msg);
	return refuse(c, "pattern", kar_buf_cstr(&text));
}

static bool check_embedded(struct compiler *c, const struct schema_node *n)
{
	if (!n->embedded)
		return true;
	if (n->types != TYPE_OBJECT)
		return refuse(c, "type",
			"Invalid value: must be object if x-kubernetes-embedded-resource is true");
	return n->preserves || n->n_properties > 0 ||
		refuse(c, "properties",
			"Required value: must not be empty if x-kubernetes-embedded-resource is true without "
			"x-kubernetes-preserve-unknown-fields");
}

/* So that the walks of schema_lists.c go only where there is something. @inner may be NULL. */
static void note_inside(struct schema_node *n, const struct schema_node *inner)
{
	n->lists_inside |= inner && inner->lists_inside;
	n->embedded_inside |= inner && inner->embedded_inside;
}

static void note_what_is_inside(struct schema_node *n)
{
	n->lists_inside = n->list != LIST_ATOMIC;
	n->embedded_inside = n->embedded;
	for (size_t i = 0; i < n->n_properties; i++)
		note_inside(n, n->properties[i].node);
	note_inside(n, n->additional);
	note_inside(n, n->items);
}

static bool refuse_unknown(struct compiler *c, const struct schema_node *n)
{
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf text = { 0 };

	kar_buf_puts(&text, "Invalid value: ");
	sim_print(n->default_, &text);
	kar_buf_puts(&text, ": must not have unknown fields");
	return refuse(c, "default", kar_buf_cstr(&text));
}

static bool check_default(struct compiler *c, const struct schema_node *n)
{
	struct schema_result r = { 0 };

	if (!n->default_)
		return true;
	if (schema_has_unknown(n, n->default_))
		return refuse_unknown(c, n);
	schema_validate_value(n, n->default_, NULL, NULL, &r);
	if (r.causes.n > 0)
		refuse(c, "default", r.causes.items[0].message);
	bool ok = r.causes.n == 0;

	sim_causes_release(&r.causes);
	return ok;
}

/* As deep as the source, which has at most 120 levels. */
static struct schema_node *compile(struct compiler *c, const struct sim_value *v, enum level level)
{
	struct schema_node *n = kar_arena_alloc(&c->s->arena, 1, sizeof(*n));

	if (sim_kind(v) != SIM_OBJECT)
		return refuse(c, "", "Invalid value: must be a schema");
	if (!check_keywords(c, v, level))
		return NULL;
	compile_limits(n, v);
	if (!compile_type(c, n, v, level) || !compile_text(c, n, v) || !compile_properties(c, n, v, level) ||
		!compile_additional(c, n, v, level) || !compile_items(c, n, v, level) ||
		!compile_nested(c, n, v) || !compile_list(c, n, v) || !check_embedded(c, n))
		return NULL;
	c->s->rules |= sim_count(sim_member(v, "x-kubernetes-validations")) > 0;
	note_what_is_inside(n);
	return check_default(c, n) ? n : NULL;
}

struct sim_schema *sim_schema_new(const struct sim_value *v, struct kar_err *err)
{
	struct sim_schema *s = kar_xcalloc(1, sizeof(*s));
	struct compiler c = { .s = s, .err = err };

	s->source = sim_ref(v);
	SLIST_INIT(&s->regexes);
	kar_buf_puts(&c.path, "spec.validation.openAPIV3Schema");
	s->root = compile(&c, v, ROOT);
	kar_buf_release(&c.path);
	if (s->root)
		return s;
	sim_schema_free(s);
	return NULL;
}

void sim_schema_free(struct sim_schema *s)
{
	if (!s)
		return;
	schema_patterns_free(s);
	sim_unref(s->source);
	kar_arena_release(&s->arena);
	free(s);
}
