#include <bsd/string.h>
#include <stdlib.h>
#include <string.h>

#include "sim/apiserver/apply_impl.h"
#include "sim/apiserver/syntax.h"

/* Complaints as the API server words them, each with the path of the value; the server's own order is random. */
struct check {
	struct kar_buf path, text;
	size_t n;
};

enum { COMPLAINTS_MAX = 16 };

static void check_value(struct check *c, const struct sim_value *v, struct apply_type t);

static void complain(struct check *c, const char *text)
{
	if (c->n++ < COMPLAINTS_MAX)
		kar_buf_printf(&c->text, "%s%s%s%s", c->n > 1 ? "\n  " : "", kar_buf_cstr(&c->path),
			c->path.n ? ": " : "", text);
}

/* @before, the value as Go prints it, @after. */
static void complain_about(struct check *c, const char *before, const struct sim_value *v, const char *after)
{
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf text = { 0 };

	kar_buf_puts(&text, before);
	sim_print_go(v, &text);
	kar_buf_puts(&text, after);
	complain(c, kar_buf_cstr(&text));
}

static void cut(struct check *c, size_t length)
{
	c->path.n = length;
	if (c->path.p)
		c->path.p[length] = '\0';
}

/* A scalar where a text belongs is shown as Go source. */
static void complain_text(struct check *c, const struct sim_value *v)
{
	complain_about(c, "expected string, got &value.valueUnstructured{Value:", v, "}");
}

static void check_scalar(struct check *c, const struct sim_value *v, enum apply_kind kind)
{
	static const char *const go_kinds[] = {
		[SIM_ABSENT] = "",
		[SIM_NULL] = "nil",
		[SIM_BOOL] = "bool",
		[SIM_INT] = "int64",
		[SIM_REAL] = "float64",
		[SIM_STRING] = "string",
		[SIM_ARRAY] = "[]interface {}",
		[SIM_OBJECT] = "map[string]interface {}",
	};
	enum sim_kind is = sim_kind(v);
	char text[96];

	if (kind == APPLY_TEXT && is != SIM_STRING)
		complain_text(c, v);
	if (kind == APPLY_BOOL && is != SIM_BOOL)
		complain_about(c, "expected boolean, got &{", v, "}");
	if (kind != APPLY_NUMBER || is == SIM_INT || is == SIM_REAL)
		return;
	strlcpy(text, "expected numeric (int or float), got ", sizeof(text));
	strlcat(text, go_kinds[is], sizeof(text));
	complain(c, text);
}

static void check_members(struct check *c, const struct sim_value *v, struct apply_type t)
{
	size_t length = c->path.n;

	for (struct sim_member m = sim_first(v); m.value; m = sim_next(m)) {
		struct apply_type inner;
		bool declared = apply_member(t, m.key, &inner, NULL);

		kar_buf_printf(&c->path, ".%s", m.key);
		if (declared)
			check_value(c, m.value, inner);
		else
			complain(c, "field not declared in schema");
		cut(c, length);
		if (!declared)
			return;
	}
}

static void check_item(struct check *c, const struct sim_value *v, size_t i, const char *element,
	struct apply_type t)
{
	size_t length = c->path.n;

	if (element)
		apply_element_print(element, &c->path);
	else
		kar_buf_printf(&c->path, "[%zu]", i);
	check_value(c, v, t);
	cut(c, length);
}

/* False: the item has no element, which is said. */
static bool check_element(struct check *c, struct apply_type t, const struct sim_value *item, size_t i,
	struct sim_value **seen, char **element)
{
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf why = { 0 }, text = { 0 };

	kar_buf_printf(&why, "element %zu: ", i);
	*element = apply_element(t, item, &why);
	if (!*element) {
		complain(c, kar_buf_cstr(&why));
		return false;
	}
	if (sim_member(*seen, *element)) {
		kar_buf_puts(&text, "duplicate entries for key ");
		apply_element_print(*element, &text);
		complain(c, kar_buf_cstr(&text));
	}
	sim_set(seen, sim_null(), *element);
	return true;
}

static void check_items(struct check *c, const struct sim_value *v, struct apply_type t)
{
	KAR_CLEANUP(sim_cleanup_value) struct sim_value *seen = sim_object();
	bool atomic = apply_is_atomic(t, v);

	for (size_t i = 0; i < sim_count(v); i++) {
		KAR_CLEANUP(kar_cleanup_free) char *element = NULL;

		if (!atomic && !check_element(c, t, sim_item(v, i), i, &seen, &element))
			return;
		check_item(c, sim_item(v, i), i, element, apply_item(t));
	}
}

static void check_value(struct check *c, const struct sim_value *v, struct apply_type t)
{
	enum apply_kind kind = apply_kind_of(t);
	enum sim_kind is = sim_kind(v);

	if (is == SIM_NULL)
		return;
	if (kind == APPLY_MAP && is != SIM_OBJECT)
		complain_about(c, "expected map, got &{", v, "}");
	else if (kind == APPLY_LIST && is != SIM_ARRAY)
		complain_about(c, "expected list, got &{", v, "}");
	else if (kind == APPLY_TEXT || kind == APPLY_NUMBER || kind == APPLY_BOOL)
		check_scalar(c, v, kind);
	else if (is == SIM_OBJECT)
		check_members(c, v, t);
	else if (is == SIM_ARRAY)
		check_items(c, v, t);
}

bool apply_check(const struct sim_value *config, struct apply_type t, struct kar_buf *why)
{
	struct check c = { 0 };

	check_value(&c, config, t);
	if (c.n > 1)
		kar_buf_puts(why, "errors:\n  ");
	kar_buf_puts(why, kar_buf_cstr(&c.text));
	kar_buf_release(&c.path);
	kar_buf_release(&c.text);
	return c.n == 0;
}
