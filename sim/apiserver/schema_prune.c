#include <stdlib.h>
#include <string.h>

#include "sim/apiserver/schema_impl.h"

/* Paths of removed members go to *removed; the path so far is in `path`. */
struct pruning {
	struct kar_buf path;
	struct sim_value **removed; /* NULL: nobody asks */
};

static void cut(struct kar_buf *path, size_t length)
{
	path->n = length;
	if (path->p)
		path->p[length] = '\0';
}

static bool is_meta(const char *key)
{
	return !strcmp(key, "apiVersion") || !strcmp(key, "kind") || !strcmp(key, "metadata");
}

static bool in_object_meta(const char *key)
{
	static const char *const known[] = { "name", "generateName", "namespace", "selfLink", "uid",
		"resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
		"deletionGracePeriodSeconds", "labels", "annotations", "ownerReferences", "finalizers",
		"managedFields" };

	for (size_t i = 0; i < KAR_LEN(known); i++) {
		if (!strcmp(key, known[i]))
			return true;
	}
	return false;
}

/*
 * How to go on below a value. @n NULL: nothing is known there. @keep: below x-kubernetes-preserve-unknown-fields; named
 * members have their own rule again.
 */
struct rule {
	const struct schema_node *n;
	bool keep, metadata; /* metadata: of an embedded resource */
};

static struct rule rule_of(const struct schema_node *n)
{
	return (struct rule){ .n = n, .keep = n && n->preserves };
}

static bool rule_of_member(struct rule r, const char *key, struct rule *inner)
{
	const struct schema_node *n = r.n ? schema_property(r.n, key) : NULL;

	*inner = (struct rule){ .keep = true };
	if (r.metadata)
		return in_object_meta(key);
	if (r.n && r.n->embedded && is_meta(key)) {
		inner->metadata = !strcmp(key, "metadata");
		return true;
	}
	if (!n && !(r.n && r.n->additional_given))
		return r.keep;
	*inner = rule_of(n ? n : r.n->additional);
	return true;
}

static struct rule rule_of_item(struct rule r)
{
	const struct schema_node *items = r.n ? r.n->items : NULL;

	return (struct rule){ .n = items, .keep = r.keep || (items && items->preserves) };
}

/* True if something is to be removed at or below @v, so that what stays as it is is not copied. */
static bool is_superfluous(struct rule r, const struct sim_value *v)
{
	struct rule inner;

	if (r.keep && !r.n && !r.metadata)
		return false;
	for (size_t i = 0; sim_kind(v) == SIM_ARRAY && i < sim_count(v); i++) {
		if (is_superfluous(rule_of_item(r), sim_item(v, i)))
			return true;
	}
	for (struct sim_member m = sim_first(v); m.value; m = sim_next(m)) {
		if (!rule_of_member(r, m.key, &inner) || is_superfluous(inner, m.value))
			return true;
	}
	return false;
}

bool schema_has_unknown(const struct schema_node *n, const struct sim_value *v)
{
	return is_superfluous(rule_of(n), v);
}

static void prune(struct pruning *p, struct rule r, struct sim_value **v);

static void prune_member(struct pruning *p, struct rule r, struct sim_value **v, const char *key)
{
	size_t length = p->path.n;
	struct rule inner;

	kar_buf_printf(&p->path, "%s%s", length ? "." : "", key);
	if (rule_of_member(r, key, &inner)) {
		struct sim_value *value = sim_take(v, key);

		prune(p, inner, &value);
		sim_set(v, value, key);
	} else {
		sim_remove(v, key);
		if (p->removed)
			sim_append(p->removed, sim_string(kar_buf_cstr(&p->path)));
	}
	cut(&p->path, length);
}

static void prune(struct pruning *p, struct rule r, struct sim_value **v)
{
	KAR_CLEANUP(sim_cleanup_value) struct sim_value *before = sim_ref(*v);
	size_t length = p->path.n;

	if (!is_superfluous(r, *v))
		return;
	for (size_t i = 0; sim_kind(before) == SIM_ARRAY && i < sim_count(before); i++) {
		struct sim_value *item = sim_take_item(v, i);

		kar_buf_printf(&p->path, "[%zu]", i);
		prune(p, rule_of_item(r), &item);
		sim_replace(v, i, item);
		cut(&p->path, length);
	}
	for (struct sim_member m = sim_first(before); m.value; m = sim_next(m))
		prune_member(p, r, v, m.key);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(sim_text(*(struct sim_value *const *)a), sim_text(*(struct sim_value *const *)b));
}

static void sort_from(struct sim_value **array, size_t from)
{
	size_t n = sim_count(*array) - from;
	struct sim_value **items = kar_xcalloc(n + 1, sizeof(struct sim_value *));

	for (size_t i = 0; i < n; i++)
		items[i] = sim_ref(sim_item(*array, from + i));
	qsort(items, n, sizeof(struct sim_value *), by_text);
	for (size_t i = 0; i < n; i++)
		sim_replace(array, from + i, items[i]);
	free(items);
}

void sim_schema_prune(const struct sim_schema *s, struct sim_value **v, struct sim_value **removed)
{
	struct schema_node root = *s->root;
	struct rule rule = rule_of(&root);
	struct pruning p = { .removed = removed };
	size_t before = removed ? sim_count(*removed) : 0;

	root.embedded =
		true; /* apiVersion, kind and metadata are those of every object; the server looks at them itself */
	if (!is_superfluous(rule, *v))
		return;
	prune(&p, rule, v);
	kar_buf_release(&p.path);
	if (removed)
		sort_from(removed, before);
}
