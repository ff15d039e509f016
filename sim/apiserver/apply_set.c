#include <stdlib.h>
#include <string.h>

#include "sim/apiserver/apply_impl.h"
#include "sim/apiserver/syntax.h"

static const char self_key[] = ".";

bool apply_set_has_self(const struct sim_value *node)
{
	return node && (sim_count(node) == 0 || sim_member(node, self_key));
}

struct sim_value *apply_set_node(struct sim_value *below_consumed, bool self)
{
	struct sim_value *below = below_consumed;

	if (sim_count(below) == 0) {
		if (self && !below)
			return sim_object();
		if (self)
			return below;
		sim_unref(below);
		return NULL;
	}
	if (self)
		sim_set(&below, sim_object(), self_key);
	else
		sim_remove(&below, self_key);
	return below;
}

/* Makes the node for one element from those of both sets, each of which may be NULL. New reference. */
typedef struct sim_value *combine_fn(const struct sim_value *a, const struct sim_value *b);

static void combine_member(struct sim_value **out, const char *key, combine_fn *combine,
	const struct sim_value *a, const struct sim_value *b)
{
	struct sim_value *node = combine(a, b);

	if (node)
		sim_set(out, node, key);
}

/* What both have below them, combined. */
static struct sim_value *combine_below(const struct sim_value *a, const struct sim_value *b,
	combine_fn *combine)
{
	struct sim_value *out = sim_object();

	for (struct sim_member m = sim_first(a); m.value; m = sim_next(m)) {
		if (strcmp(m.key, self_key) != 0)
			combine_member(&out, m.key, combine, m.value, sim_member(b, m.key));
	}
	for (struct sim_member m = sim_first(b); m.value; m = sim_next(m)) {
		if (strcmp(m.key, self_key) != 0 && !sim_member(a, m.key))
			combine_member(&out, m.key, combine, NULL, m.value);
	}
	return out;
}

struct sim_value *apply_set_union(const struct sim_value *a, const struct sim_value *b)
{
	if (!a || !b || a == b)
		return sim_ref(a ? a : b);
	return apply_set_node(combine_below(a, b, apply_set_union),
		apply_set_has_self(a) || apply_set_has_self(b));
}

struct sim_value *apply_set_intersection(const struct sim_value *a, const struct sim_value *b)
{
	if (!a || !b)
		return NULL;
	return apply_set_node(combine_below(a, b, apply_set_intersection),
		apply_set_has_self(a) && apply_set_has_self(b));
}

struct sim_value *apply_set_difference(const struct sim_value *a, const struct sim_value *b)
{
	if (!a || !b)
		return sim_ref(a);
	return apply_set_node(combine_below(a, b, apply_set_difference),
		apply_set_has_self(a) && !apply_set_has_self(b));
}

struct sim_value *apply_set_without(const struct sim_value *a, const struct sim_value *b)
{
	if (!a || !b)
		return sim_ref(a);
	if (apply_set_has_self(b))
		return NULL;
	return apply_set_node(combine_below(a, b, apply_set_without), apply_set_has_self(a));
}

/* ---- paths ---- */

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct sim_member *)a)->key, ((const struct sim_member *)b)->key);
}

/* The members of @v without ".", sorted. The caller frees them. */
static struct sim_member *sorted_members(const struct sim_value *v, size_t *n)
{
	struct sim_member *members = kar_xcalloc(sim_count(v) + 1, sizeof(*members));

	*n = 0;
	for (struct sim_member m = sim_first(v); m.value; m = sim_next(m)) {
		if (strcmp(m.key, self_key) != 0)
			members[(*n)++] = m;
	}
	qsort(members, *n, sizeof(*members), by_key);
	return members;
}

static void print_scalar(const struct sim_value *v, struct kar_buf *out)
{
	if (sim_text(v))
		sim_quote(sim_text(v), out);
	else
		sim_print_go(v, out);
}

char *apply_element_of_member(const char *key)
{
	return kar_xasprintf("f:%s", key);
}

void apply_element_print(const char *element, struct kar_buf *out)
{
	KAR_CLEANUP(sim_cleanup_value) struct sim_value *v = NULL;
	size_t n = 0;

	if (element[0] == 'f') {
		kar_buf_printf(out, ".%s", element + 2);
		return;
	}
	if (element[0] == 'i') {
		kar_buf_printf(out, "[%s]", element + 2);
		return;
	}
	v = sim_parse(element + 2, strlen(element + 2), NULL);
	if (element[0] == 'v') {
		kar_buf_puts(out, "[=");
		print_scalar(v, out);
		kar_buf_puts(out, "]");
		return;
	}

	struct sim_member *keys = sorted_members(v, &n);

	for (size_t i = 0; i < n; i++) {
		kar_buf_printf(out, "%s%s=", i ? "," : "[", keys[i].key);
		print_scalar(keys[i].value, out);
	}
	kar_buf_puts(out, "]");
	free(keys);
}

/* Of a node: first the fields in it, then what is below each, as the API server lists them. */
static void each_below(const struct sim_value *node, struct kar_buf *path, apply_path_fn *fn, void *arg)
{
	size_t n, length = path->n;
	struct sim_member *members = sorted_members(node, &n);

	for (int below = 0; below < 2; below++) {
		for (size_t i = 0; i < n; i++) {
			apply_element_print(members[i].key, path);
			if (below)
				each_below(members[i].value, path, fn, arg);
			else if (apply_set_has_self(members[i].value))
				fn(arg, kar_buf_cstr(path));
			path->n = length;
			if (path->p)
				path->p[length] = '\0';
		}
	}
	free(members);
}

void apply_set_each(const struct sim_value *set, apply_path_fn *fn, void *arg)
{
	struct kar_buf path = { 0 };

	each_below(set, &path, fn, arg);
	kar_buf_release(&path);
}
