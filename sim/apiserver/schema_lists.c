#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "sim/apiserver/schema_impl.h"
#include "sim/apiserver/syntax.h"

/* ---- x-kubernetes-list-type: the items of a set differ, those of a map differ in their keys ---- */

/* What must differ: the item itself, or an object of its keys. New reference. */
static struct sim_value *identity(const struct schema_node *n, const struct sim_value *item)
{
	struct sim_value *keys;

	if (n->list == LIST_SET)
		return sim_ref(item);
	keys = sim_object();
	for (size_t i = 0; i < sim_count(n->list_keys); i++) {
		const char *key = sim_text_or(sim_item(n->list_keys, i), "");

		if (sim_member(item, key))
			sim_set(&keys, sim_ref(sim_member(item, key)), key);
	}
	return keys;
}

struct entry {
	char *text; /* equal identities have equal texts */
	size_t i;
};

static int by_text(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = strcmp(x->text, y->text);

	return order ? order : (x->i > y->i) - (x->i < y->i);
}

static int by_index(const void *a, const void *b)
{
	const size_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The indexes of the first repetition of each repeated item, in order; the caller frees them. */
static size_t *find_repetitions(const struct schema_node *n, const struct sim_value *v, size_t *found)
{
	size_t count = sim_count(v), *repeated = kar_xcalloc(count, sizeof(*repeated));
	struct entry *entries = kar_xcalloc(count, sizeof(*entries));

	for (size_t i = 0; i < count; i++) {
		KAR_CLEANUP(sim_cleanup_value) struct sim_value *id = identity(n, sim_item(v, i));
		struct kar_buf text = { .cap = SIZE_MAX };

		schema_print_value(id, &text);
		entries[i] = (struct entry){ kar_buf_detach(&text), i };
	}
	qsort(entries, count, sizeof(*entries), by_text);
	for (size_t i = 1; i < count; i++) {
		bool again = !strcmp(entries[i].text, entries[i - 1].text);

		if (again && (i == 1 || strcmp(entries[i - 1].text, entries[i - 2].text) != 0))
			repeated[(*found)++] = entries[i].i;
	}
	qsort(repeated, *found, sizeof(*repeated), by_index);
	for (size_t i = 0; i < count; i++)
		free(entries[i].text);
	free(entries);
	return repeated;
}

static void refuse_repetitions(const struct schema_node *n, const struct sim_value *v,
	const struct schema_place *at, struct schema_result *r)
{
	size_t found = 0, *repeated = find_repetitions(n, v, &found);

	for (size_t i = 0; i < found; i++) {
		struct schema_place place = { .up = at, .index = repeated[i] };
		KAR_CLEANUP(sim_cleanup_value) struct sim_value *id = identity(n, sim_item(v, repeated[i]));
		KAR_CLEANUP(kar_cleanup_buf) struct kar_buf text = { 0 };

		schema_print_value(id, &text);
		schema_refuse(r, "FieldValueDuplicate", &place, true, "Duplicate value: %s",
			kar_buf_cstr(&text));
	}
	free(repeated);
}

static bool same(const struct schema_node *n, const struct sim_value *a, const struct sim_value *b)
{
	if (n->list == LIST_SET)
		return sim_equal(a, b);
	for (size_t i = 0; i < sim_count(n->list_keys); i++) {
		const char *key = sim_text_or(sim_item(n->list_keys, i), "");

		if (!sim_equal(sim_member(a, key), sim_member(b, key)))
			return false;
	}
	return true;
}

/* Short lists, which is nearly all, are compared without making texts. */
static bool may_repeat(const struct schema_node *n, const struct sim_value *v)
{
	enum { SHORT = 24 };
	size_t count = sim_count(v);

	for (size_t i = 1; count <= SHORT && i < count; i++) {
		for (size_t j = 0; j < i; j++) {
			if (same(n, sim_item(v, i), sim_item(v, j)))
				return true;
		}
	}
	return count > SHORT;
}

/* False if an item of a map is no object, which is said. */
static bool check_items(const struct schema_node *n, const struct sim_value *v, const struct schema_place *at,
	struct schema_result *r)
{
	for (size_t i = 0; n->list == LIST_MAP && i < sim_count(v); i++) {
		struct schema_place place = { .up = at, .index = i };
		KAR_CLEANUP(kar_cleanup_buf) struct kar_buf text = { 0 };

		if (sim_kind(sim_item(v, i)) == SIM_OBJECT || sim_kind(sim_item(v, i)) == SIM_NULL)
			continue;
		schema_print_value(sim_item(v, i), &text);
		schema_refuse(r, "FieldValueInvalid", &place, true,
			"Invalid value: %s: must be an object for an array of list-type map",
			kar_buf_cstr(&text));
		return false;
	}
	return true;
}

void schema_validate_lists(const struct schema_node *n, const struct sim_value *v,
	const struct sim_value *old, const struct schema_place *at, struct schema_result *r)
{
	if (v == old || !n->lists_inside)
		return;
	if (sim_kind(v) == SIM_ARRAY && n->list != LIST_ATOMIC && check_items(n, v, at, r) &&
		may_repeat(n, v))
		refuse_repetitions(n, v, at, r);
	for (size_t i = 0; sim_kind(v) == SIM_ARRAY && n->items && i < sim_count(v); i++) {
		struct schema_place place = { .up = at, .index = i };

		schema_validate_lists(n->items, sim_item(v, i), old ? sim_item(old, i) : NULL, &place, r);
	}
	for (struct sim_member m = sim_first(v); m.value; m = sim_next(m)) {
		struct schema_place place = { .up = at, .key = m.key, .in_map = n->additional_given };
		const struct schema_node *inner = schema_member(n, m.key);

		if (inner)
			schema_validate_lists(inner, m.value, old ? sim_member(old, m.key) : NULL, &place, r);
	}
}

/* ---- x-kubernetes-embedded-resource ---- */

/* A text, or NULL, which is said: absent, no text, or empty. */
static const char *embedded_text(const struct sim_value *v, const char *key, const struct schema_place *place,
	struct schema_result *r)
{
	const struct sim_value *value = sim_member(v, key);
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf text = { 0 };

	if (!value) {
		schema_refuse(r, "FieldValueRequired", place, true, "Required value");
		return NULL;
	}
	schema_print_value(value, &text);
	if (!sim_text(value))
		schema_refuse(r, "FieldValueInvalid", place, true, "Invalid value: %s: must be a string",
			kar_buf_cstr(&text));
	else if (!*sim_text(value))
		schema_refuse(r, "FieldValueInvalid", place, true, "Invalid value: \"\": must not be empty");
	else
		return sim_text(value);
	return NULL;
}

static void check_api_version(const struct sim_value *v, const struct schema_place *at,
	struct schema_result *r)
{
	struct schema_place place = { .up = at, .key = "apiVersion" };
	const char *text = embedded_text(v, "apiVersion", &place, r),
		   *slash = text ? strchr(text, '/') : NULL;
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf quoted = { 0 };

	if (!slash || !strchr(slash + 1, '/'))
		return;
	sim_quote(text, &quoted);
	schema_refuse(r, "FieldValueInvalid", &place, true,
		"Invalid value: %s: unexpected GroupVersion string: %s", kar_buf_cstr(&quoted), text);
}

static bool is_kind(const char *s)
{
	enum { MAX = 63 };

	for (const char *p = s; *p; p++) {
		if (!isalnum((unsigned char)*p) && *p != '-')
			return false;
	}
	return isalpha((unsigned char)*s) && s[strlen(s) - 1] != '-' && strlen(s) <= MAX;
}

static void check_kind_name(const struct sim_value *v, const struct schema_place *at, struct schema_result *r)
{
	struct schema_place place = { .up = at, .key = "kind" };
	const char *text = embedded_text(v, "kind", &place, r);
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf quoted = { 0 };

	if (!text || is_kind(text))
		return;
	sim_quote(text, &quoted);
	schema_refuse(r, "FieldValueInvalid", &place, true,
		"Invalid value: %s: may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case "
		"alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. "
		"'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
		kar_buf_cstr(&quoted));
}

static void refuse_quoted(struct schema_result *r, const struct schema_place *at, const char *value,
	const struct sim_complaints *c)
{
	for (size_t i = 0; i < c->n; i++) {
		KAR_CLEANUP(kar_cleanup_buf) struct kar_buf quoted = { 0 };

		sim_quote(value, &quoted);
		schema_refuse(r, "FieldValueInvalid", at, true, "Invalid value: %s: %s",
			kar_buf_cstr(&quoted), c->text[i]);
	}
}

static void check_metadata(const struct sim_value *v, const struct schema_place *at, struct schema_result *r)
{
	const struct sim_value *metadata = sim_member(v, "metadata");
	struct schema_place place = { .up = at, .key = "metadata" }, name = { .up = &place, .key = "name" },
			    labels = { .up = &place, .key = "labels" };

	if (strchr(sim_text_or(sim_member(metadata, "name"), ""), '/'))
		refuse_quoted(r, &name, sim_get_text(metadata, "name"),
			&(struct sim_complaints){ .n = 1, .text = { "may not contain '/'" } });
	for (struct sim_member m = sim_first(sim_member(metadata, "labels")); m.value; m = sim_next(m)) {
		struct sim_complaints key = sim_check_label_key(m.key),
				      value = sim_check_label_value(sim_text_or(m.value, ""));

		refuse_quoted(r, &labels, m.key, &key);
		refuse_quoted(r, &labels, sim_text_or(m.value, ""), &value);
	}
}

void schema_validate_embedded(const struct schema_node *n, const struct sim_value *v,
	const struct schema_place *at, struct schema_result *r)
{
	if (!n->embedded_inside)
		return;
	if (n->embedded && sim_kind(v) == SIM_OBJECT) {
		check_api_version(v, at, r);
		check_kind_name(v, at, r);
		check_metadata(v, at, r);
	}
	for (size_t i = 0; sim_kind(v) == SIM_ARRAY && n->items && i < sim_count(v); i++) {
		struct schema_place place = { .up = at, .index = i };

		schema_validate_embedded(n->items, sim_item(v, i), &place, r);
	}
	for (struct sim_member m = sim_first(v); m.value; m = sim_next(m)) {
		struct schema_place place = { .up = at, .key = m.key, .in_map = n->additional_given };
		const struct schema_node *inner = schema_member(n, m.key);

		if (inner)
			schema_validate_embedded(inner, m.value, &place, r);
	}
}
