#include "sim/apiserver/patch_strategic.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/base/mem.h"
#include "sim/apiserver/syntax.h"

/*
 * Strategic merge as the API server does it: docs of the directives are in the Kubernetes design proposals "preserve order in
 * strategic merge patch" and "add new patchStrategy to clear fields not present in the patch".
 */
static const char directive[] = "$patch", retain[] = "$retainKeys";
static const char order_prefix[] = "$setElementOrder", delete_prefix[] = "$deleteFromPrimitiveList";

enum { BAD_REQUEST = 400, INTERNAL = 500 };

int smp_fail(struct kar_err *err, int http, const char *fmt, ...)
{
	KAR_CLEANUP(kar_cleanup_free) char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = kar_xstrdup(fmt);
	va_end(ap);
	kar_fail(err, KAR_INVALID, "%s", text);
	err->http = http;
	return -1;
}

int smp_fail_key(struct kar_err *err, const struct sim_value *object, const char *key)
{
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf text = { 0 };

	sim_print_go(object, &text);
	return smp_fail(err, INTERNAL, "map: %s does not contain declared merge key: %s", kar_buf_cstr(&text),
		key);
}

const char *smp_go_type(const struct sim_value *v)
{
	static const char *const names[] = {
		[SIM_ABSENT] = "%!s(<nil>)",
		[SIM_NULL] = "%!s(<nil>)",
		[SIM_BOOL] = "bool",
		[SIM_INT] = "int64",
		[SIM_REAL] = "float64",
		[SIM_STRING] = "string",
		[SIM_ARRAY] = "[]interface {}",
		[SIM_OBJECT] = "map[string]interface {}",
	};

	return names[sim_kind(v)];
}

static bool begins(const char *key, const char *prefix)
{
	return !strncmp(key, prefix, strlen(prefix));
}

static bool is_directive(const char *key)
{
	return !strcmp(key, retain) || begins(key, order_prefix) || begins(key, delete_prefix);
}

/* The member that "$setElementOrder/finalizers" is about; NULL: none is named. */
static const char *subject(const char *key, const char *prefix)
{
	const char *rest = key + strlen(prefix);

	return *rest == '/' ? rest + 1 : NULL;
}

/* What is new is taken without its nulls and without what only directs; NULL: all of it directs. New reference. */
static struct sim_value *plain(const struct sim_value *v)
{
	struct sim_value *out;

	if (sim_kind(v) == SIM_ARRAY) {
		out = sim_array();
		for (size_t i = 0; i < sim_count(v); i++) {
			struct sim_value *item = plain(sim_item(v, i));

			if (item)
				sim_append(&out, item);
		}
		return out;
	}
	if (sim_kind(v) != SIM_OBJECT)
		return sim_ref(v);
	if (sim_member(v, directive))
		return NULL;
	out = sim_object();
	for (struct sim_member m = sim_first(v); m.value; m = sim_next(m)) {
		struct sim_value *member = sim_kind(m.value) == SIM_NULL ? NULL : plain(m.value);

		if (member)
			sim_set(&out, member, m.key);
	}
	return out;
}

static void take_over(struct sim_value **target, const char *key, const struct sim_value *patch)
{
	struct sim_value *new = plain(patch);

	if (new)
		sim_set(target, new, key);
	else
		sim_remove(target, key);
}

/* "$patch": replaces or empties the object around it. */
static int obey(struct sim_value **target, const struct sim_value *patch, struct kar_err *err)
{
	const char *what = sim_text_or(sim_member(patch, directive), "");
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf text = { 0 };
	bool delete = !strcmp(what, "delete");
	struct sim_value *new;

	if (!delete &&strcmp(what, "replace") != 0) {
		sim_print_go(patch, &text);
		return smp_fail(err, INTERNAL, "unknown patch type: %s in map: %s", what,
			kar_buf_cstr(&text));
	}
	new = delete ? sim_object() : sim_ref(patch);
	sim_remove(&new, directive);
	sim_unref(*target);
	*target = new;
	return 0;
}

/* ---- $retainKeys ---- */

static bool lists(const struct sim_value *list, const char *text)
{
	for (size_t i = 0; i < sim_count(list); i++) {
		if (!strcmp(sim_text_or(sim_item(list, i), ""), text))
			return true;
	}
	return false;
}

static int retain_keys(struct sim_value **target, const struct sim_value *patch, struct kar_err *err)
{
	static const char broken[] = "invalid patch format of retainKeys";
	const struct sim_value *keys = sim_member(patch, retain);
	KAR_CLEANUP(sim_cleanup_value) struct sim_value *before = sim_ref(*target);

	if (!keys)
		return 0;
	if (sim_kind(keys) != SIM_ARRAY)
		return smp_fail(err, BAD_REQUEST, "%s", broken);
	for (struct sim_member m = sim_first(patch); m.value; m = sim_next(m)) {
		if (sim_kind(m.value) != SIM_NULL && !is_directive(m.key) && !lists(keys, m.key))
			return smp_fail(err, BAD_REQUEST, "%s", broken);
	}
	for (struct sim_member m = sim_first(before); m.value; m = sim_next(m)) {
		if (!lists(keys, m.key))
			sim_remove(target, m.key);
	}
	return 0;
}

/* ---- members ---- */

static const struct sim_field *field_of(const struct sim_type *type, const char *key)
{
	return type ? sim_type_field(type, key) : NULL;
}

/* Of what is inside the member; NULL: nothing is known about it. */
static const struct sim_type *type_inside(const struct sim_field *f)
{
	return f && f->kind == SIM_FIELD_MESSAGE && !f->map ? f->type : NULL;
}

static int check_list(const struct sim_value *v, struct kar_err *err)
{
	if (!v || sim_kind(v) == SIM_ARRAY)
		return 0;
	return smp_fail(err, INTERNAL, "expected a []interface {}, but received a %s", smp_go_type(v));
}

static int merge_list(struct sim_value **target, const char *key, const struct smp_list *l,
	struct kar_err *err)
{
	struct sim_value *list = sim_take(target, key);
	int rc;

	if (!list)
		list = sim_array();
	rc = smp_merge_list(&list, l, err);
	sim_set(target, list, key);
	return rc;
}

/* "$setElementOrder/@key" with the patch of the list itself, if there is one. */
static int merge_in_order(struct sim_value **target, const struct sim_value *patch, const char *key,
	const struct sim_value *order, const struct sim_type *type, struct kar_err *err)
{
	const struct sim_field *f = field_of(type, key);
	const struct sim_value *items = sim_member(patch, key), *is = sim_member(*target, key);
	KAR_CLEANUP(sim_cleanup_value) struct sim_value *new = items && !is ? plain(items) : sim_ref(items);
	struct smp_list l = { .patch = items,
		.order = order,
		.key = f ? f->merge_key : NULL,
		.type = type_inside(f) };

	if (check_list(order, err) || check_list(is, err) || check_list(items, err))
		return -1;
	if ((is || items) && sim_count(is) == 0 && sim_count(items) == 0)
		return smp_fail(err, INTERNAL, "no elements in any of the given slices");
	if (l.key && smp_check_order(&l, err))
		return -1;
	l.patch = new;
	if (l.key && (items || is))
		return merge_list(target, key, &l, err);
	if (items)
		sim_set(target, sim_ref(new), key);
	return 0;
}

static int merge_member(struct sim_value **target, const char *key, const struct sim_value *patch,
	const struct sim_type *type, struct kar_err *err)
{
	const struct sim_value *is = sim_member(*target, key);
	const struct sim_field *f = field_of(type, key);
	struct sim_value *inner;
	int rc;

	if (sim_kind(patch) == SIM_NULL) {
		sim_remove(target, key);
		return 0;
	}
	if (sim_kind(is) != sim_kind(patch) || sim_kind(is) < SIM_ARRAY) {
		take_over(target, key, patch);
		return 0;
	}
	if (sim_kind(is) == SIM_ARRAY) {
		if (f && f->merge_key)
			return merge_list(target, key,
				&(struct smp_list){ patch, NULL, f->merge_key, type_inside(f) }, err);
		sim_set(target, sim_ref(patch), key);
		return 0;
	}
	inner = sim_take(target, key);
	rc = smp_merge_object(&inner, patch, type_inside(f), err);
	sim_set(target, inner, key);
	return rc;
}

static int delete_items(struct sim_value **target, const char *directive_key,
	const struct sim_value *unwanted, struct kar_err *err)
{
	const char *key = subject(directive_key, delete_prefix);
	struct sim_value *list;

	if (!key)
		return smp_fail(err, BAD_REQUEST, "invalid patch format of primitive list");
	if (sim_kind(sim_member(*target, key)) != SIM_ARRAY || sim_kind(unwanted) != SIM_ARRAY)
		return 0;
	list = sim_take(target, key);
	smp_remove_items(&list, unwanted);
	sim_set(target, list, key);
	return 0;
}

/* True if "$setElementOrder/@key" has merged this member already. */
static bool is_ordered(const struct sim_value *patch, const char *key)
{
	KAR_CLEANUP(kar_cleanup_free) char *order = kar_xasprintf("%s/%s", order_prefix, key);

	return sim_member(patch, order);
}

/* How many there are; -1: failed. */
static int merge_orders(struct sim_value **target, const struct sim_value *patch, const struct sim_type *type,
	struct kar_err *err)
{
	int n = 0;

	for (struct sim_member m = sim_first(patch); m.value; m = sim_next(m)) {
		const char *key;

		if (!begins(m.key, order_prefix))
			continue;
		n++;
		key = subject(m.key, order_prefix);
		if (!key)
			return smp_fail(err, BAD_REQUEST, "invalid patch format of setElementOrder list");
		if (merge_in_order(target, patch, key, m.value, type, err))
			return -1;
	}
	return n;
}

static int merge_others(struct sim_value **target, const struct sim_value *patch, bool ordered,
	const struct sim_type *type, struct kar_err *err)
{
	for (struct sim_member m = sim_first(patch); m.value; m = sim_next(m)) {
		int rc = 0;

		if (begins(m.key, delete_prefix))
			rc = delete_items(target, m.key, m.value, err);
		else if (!is_directive(m.key) && !(ordered && is_ordered(patch, m.key)))
			rc = merge_member(target, m.key, m.value, type, err);
		if (rc)
			return -1;
	}
	return 0;
}

int smp_merge_object(struct sim_value **target, const struct sim_value *patch, const struct sim_type *type,
	struct kar_err *err)
{
	int orders;

	if (sim_member(patch, directive))
		return obey(target, patch, err);
	if (retain_keys(target, patch, err))
		return -1;
	orders = merge_orders(target, patch, type, err);
	return orders < 0 ? -1 : merge_others(target, patch, orders > 0, type, err);
}

int sim_patch_strategic(struct sim_value **target, const struct sim_value *patch, const struct sim_type *type,
	struct kar_err *err)
{
	static const char *const json_kinds[] = {
		[SIM_BOOL] = "bool",
		[SIM_INT] = "number",
		[SIM_REAL] = "number",
		[SIM_STRING] = "string",
		[SIM_ARRAY] = "array",
	};
	struct sim_value *new;

	if (sim_kind(patch) == SIM_NULL)
		return smp_fail(err, BAD_REQUEST, "invalid JSON patch");
	if (sim_kind(patch) != SIM_OBJECT)
		return smp_fail(err, BAD_REQUEST,
			"json: cannot unmarshal %s into Go value of type map[string]interface {}",
			json_kinds[sim_kind(patch)]);
	new = sim_ref(*target);
	if (smp_merge_object(&new, patch, type, err)) {
		sim_unref(new);
		return -1;
	}
	sim_unref(*target);
	*target = new;
	return 0;
}
