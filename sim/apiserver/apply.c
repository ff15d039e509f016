#include "sim/apiserver/apply.h"

#include <stdlib.h>
#include <string.h>

#include "sim/apiserver/apply_impl.h"
#include "sim/apiserver/syntax.h"

static const char last_applied[] = "kubectl.kubernetes.io/last-applied-configuration";
static const char kubectl[] = "kubectl";

enum { BAD_REQUEST = 400, CONFLICT = 409, INTERNAL = 500 };

static struct sim_value *set_of(const char *json)
{
	return sim_parse(json, strlen(json), NULL);
}

/* What no manager owns: the server sets it. */
static struct sim_value *unowned(void)
{
	return set_of(
		"{\"f:apiVersion\":{},\"f:kind\":{},\"f:metadata\":{\".\":{},\"f:name\":{},\"f:namespace\":{},"
		"\"f:creationTimestamp\":{},\"f:selfLink\":{},\"f:uid\":{},\"f:clusterName\":{},\"f:generation\":{},"
		"\"f:managedFields\":{},\"f:resourceVersion\":{}}}");
}

/* What a write through this resource does not reach. NULL: it reaches all. */
static struct sim_value *out_of_reach(const struct sim_apply *a)
{
	if (!a->subresource)
		return a->status_is_plain ? NULL : set_of("{\"f:status\":{}}");
	if (strcmp(a->subresource, "status") != 0)
		return NULL;
	return set_of(a->schema ? "{\"f:spec\":{},\"f:metadata\":{}}" : "{\"f:spec\":{}}");
}

/* @set is taken over. New reference. */
static struct sim_value *without(struct sim_value *set_consumed, const struct sim_value *unwanted)
{
	struct sim_value *rest = apply_set_without(set_consumed, unwanted);

	sim_unref(set_consumed);
	return rest;
}

static struct sim_value *owned(struct sim_value *set_consumed)
{
	KAR_CLEANUP(sim_cleanup_value) struct sim_value *not = unowned();
	struct sim_value *rest = apply_set_difference(set_consumed, not );

	sim_unref(set_consumed);
	return rest;
}

static void replace(struct sim_value **set, struct sim_value *consumed)
{
	sim_unref(*set);
	*set = consumed;
}

/* Everything about one write. */
struct work {
	const struct sim_apply *a;
	struct apply_type type;
	struct sim_value *unreachable;
	struct apply_managers managers;
};

static struct work work_begin(const struct sim_apply *a, struct sim_value **object)
{
	return (struct work){ .a = a,
		.type = apply_root(a),
		.unreachable = out_of_reach(a),
		.managers = apply_managers_take(object) };
}

static void work_end(struct work *w)
{
	apply_managers_release(&w->managers);
	sim_unref(w->unreachable);
}

/* What the write changed, as far as it reaches: added or modified in @changed, @removed. New references. */
static void find_changes(const struct work *w, const struct sim_value *old, const struct sim_value *new,
	struct sim_value **changed, struct sim_value **removed)
{
	struct apply_difference d;

	apply_compare(old, new, w->type, &d);
	*changed = without(apply_set_union(d.added, d.modified), w->unreachable);
	*removed = without(sim_ref(d.removed), w->unreachable);
	apply_difference_release(&d);
}

/* ---- updates ---- */

/* Adds what @name did by an update from @old to @new. */
static void track(struct work *w, const struct sim_value *old, const struct sim_value *new, const char *name)
{
	KAR_CLEANUP(sim_cleanup_value) struct sim_value *changed = NULL, *removed = NULL;
	struct apply_manager *me;

	find_changes(w, old, new, &changed, &removed);
	for (size_t i = 0; i < w->managers.n; i++) {
		struct sim_value **set = &w->managers.items[i].set;

		replace(set, apply_set_difference(*set, changed));
		replace(set, apply_set_difference(*set, removed));
	}
	changed = owned(changed);
	if (!changed)
		return;
	me = apply_managers_own(&w->managers, w->a, name, false);
	replace(&me->set, apply_set_union(me->set, changed));
	replace(&me->time, sim_time(w->a->now));
}

void sim_apply_track(const struct sim_value *old, struct sim_value **new, const struct sim_apply *a)
{
	struct work w = work_begin(a, new);
	struct sim_value *before = sim_ref(old);

	if (before)
		sim_remove(&before, "metadata", "managedFields");
	if (w.managers.n > 0 || !old)
		track(&w, before, *new, a->manager);
	apply_managers_cap(&w.managers);
	apply_managers_put(&w.managers, new);
	sim_unref(before);
	work_end(&w);
}

/* ---- removing what is no longer applied ---- */

static struct sim_value *fields_with_parents(const struct sim_value *v, struct apply_type t)
{
	KAR_CLEANUP(sim_cleanup_value) struct sim_value *fields = apply_fields(v, t);

	return apply_with_parents(fields, t);
}

/* What anybody owns, the one who applies with what it applies now included. */
static struct sim_value *owned_by_anybody(const struct work *w)
{
	KAR_CLEANUP(sim_cleanup_value) struct sim_value *all = NULL;

	for (size_t i = 0; i < w->managers.n; i++)
		replace(&all, apply_set_union(all, w->managers.items[i].set));
	return apply_with_parents(all, w->type);
}

/* @merged without what the set @last has and nobody owns now, but no more than what @last has. New reference. */
static struct sim_value *prune(const struct work *w, const struct sim_value *merged,
	const struct sim_value *last)
{
	KAR_CLEANUP(sim_cleanup_value)
	struct sim_value *had = apply_with_parents(last, w->type), *pruned = NULL, *present = NULL,
			 *kept = NULL, *rest = NULL, *gone = NULL;

	if (!last)
		return sim_ref(merged);
	pruned = apply_remove(merged, had, w->type);
	present = fields_with_parents(merged, w->type);
	/* First what is owned comes back ... */
	kept = fields_with_parents(pruned, w->type);
	rest = owned_by_anybody(w);
	replace(&kept, apply_set_union(kept, rest));
	gone = apply_set_difference(present, kept);
	replace(&pruned, apply_remove(merged, gone, w->type));
	/* ... then what was below it and was never ours. */
	replace(&kept, fields_with_parents(pruned, w->type));
	replace(&gone, apply_set_difference(present, kept));
	replace(&gone, apply_set_intersection(gone, had));
	return apply_remove(merged, gone, w->type);
}

/* ---- conflicts ---- */

struct conflicts {
	struct sim_causes *causes;
	const char *message;
	const struct sim_value *allowed; /* what is no conflict; NULL: nothing */
};

static void add_conflict(void *arg, const char *path)
{
	struct conflicts *c = arg;

	sim_cause_add(c->causes, "FieldManagerConflict", path, "%s", c->message);
}

static int by_id(const void *a, const void *b)
{
	const struct apply_manager *const *x = a, *const *y = b;

	return strcmp((*x)->id, (*y)->id);
}

/* What others own of @changed, as causes. */
static void find_conflicts(const struct work *w, const struct apply_manager *me,
	const struct sim_value *changed, const struct sim_value *allowed, struct sim_causes *out)
{
	const struct apply_manager **order = kar_xcalloc(w->managers.n + 1, sizeof(*order));

	for (size_t i = 0; i < w->managers.n; i++)
		order[i] = &w->managers.items[i];
	qsort(order, w->managers.n, sizeof(*order), by_id);
	for (size_t i = 0; i < w->managers.n; i++) {
		KAR_CLEANUP(sim_cleanup_value)
		struct sim_value *both = apply_set_intersection(order[i]->set, changed);
		KAR_CLEANUP(sim_cleanup_value)
		struct sim_value *contested = apply_set_difference(both, allowed);
		KAR_CLEANUP(kar_cleanup_buf) struct kar_buf message = { 0 };
		struct conflicts c = { .causes = out };

		if (order[i] == me || !contested)
			continue;
		kar_buf_puts(&message, "conflict with ");
		apply_manager_print(order[i], &message);
		c.message = kar_buf_cstr(&message);
		apply_set_each(contested, add_conflict, &c);
	}
	free(order);
}

void sim_apply_conflict_text(const struct sim_causes *conflicts, struct kar_buf *out)
{
	const struct sim_cause *c = conflicts->items;

	kar_buf_printf(out, "Apply failed with %zu conflict%s: ", conflicts->n, conflicts->n == 1 ? "" : "s");
	if (conflicts->n == 1) {
		kar_buf_printf(out, "%s: %s", c->message, c->field);
		return;
	}
	for (size_t i = 0; i < conflicts->n; i++) {
		if (i == 0 || strcmp(c[i].message, c[i - 1].message) != 0)
			kar_buf_printf(out, "%sconflicts%s:", i ? "\n" : "",
				c[i].message + strlen("conflict"));
		kar_buf_printf(out, "\n- %s", c[i].field);
	}
}

static int refuse_conflicts(struct sim_causes *conflicts, const struct sim_apply *a, struct kar_err *err)
{
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf text = { 0 };

	sim_apply_conflict_text(conflicts, &text);
	kar_fail(err, KAR_CONFLICT, "%s", kar_buf_cstr(&text));
	err->http = CONFLICT;
	for (size_t i = 0; a->conflicts && i < conflicts->n; i++)
		sim_cause_add(a->conflicts, conflicts->items[i].reason, conflicts->items[i].field, "%s",
			conflicts->items[i].message);
	return -1;
}

/* ---- kubectl apply without --server-side leaves what it applied in an annotation ---- */

/*
 * What the annotation has and @live still has: kubectl may take it over without a conflict. NULL: nothing. New reference.
 */
static struct sim_value *applied_by_client(const struct work *w, const struct sim_value *live)
{
	const char *text = sim_get_text(live, "metadata", "annotations", last_applied);
	KAR_CLEANUP(sim_cleanup_value)
	struct sim_value *config = text ? sim_parse(text, strlen(text), NULL) : NULL;
	KAR_CLEANUP(sim_cleanup_value) struct sim_value *fields = NULL, *changed = NULL;
	struct apply_difference d;

	if (!config || strcmp(sim_text_or(sim_member(config, "apiVersion"), ""), w->a->api_version) != 0)
		return NULL;
	fields = apply_fields(config, w->type);
	apply_compare(config, live, w->type, &d);
	changed = apply_set_union(d.added, d.modified);
	replace(&changed, apply_set_union(changed, d.removed));
	apply_difference_release(&d);
	return apply_set_difference(fields, changed);
}

/* Keeps the annotation up to date. */
static void refresh_annotation(const struct sim_apply *a, struct sim_value **object,
	const struct sim_value *config)
{
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf text = { .cap = SIZE_MAX };
	struct sim_value *plain;

	if (strcmp(a->manager, kubectl) != 0 ||
		!*sim_text_or(sim_get(*object, "metadata", "annotations", last_applied), ""))
		return;
	plain = sim_ref(config);
	sim_remove(&plain, "metadata", "annotations", last_applied);
	schema_print_value(plain, &text);
	kar_buf_puts(&text, "\n");
	sim_unref(plain);
	sim_set_text(object, kar_buf_cstr(&text), "metadata", "annotations", last_applied);
}

/* ---- applying ---- */

static int refuse_config(const struct sim_value *config, const char *why, struct kar_err *err)
{
	const char *version = sim_text_or(sim_member(config, "apiVersion"), "");

	kar_fail(err, KAR_INVALID, "failed to create typed patch object (%s/%s; %s%s, Kind=%s): %s",
		sim_text_or(sim_get(config, "metadata", "namespace"), ""),
		sim_text_or(sim_get(config, "metadata", "name"), ""), strchr(version, '/') ? "" : "/",
		version, sim_text_or(sim_member(config, "kind"), ""), why);
	err->http = INTERNAL;
	return -1;
}

static int check_config(const struct sim_value *config, struct apply_type t, struct kar_err *err)
{
	const struct sim_value *managed = sim_get(config, "metadata", "managedFields");
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf why = { 0 };

	if (managed && sim_kind(managed) != SIM_NULL) {
		kar_fail(err, KAR_INVALID, "metadata.managedFields must be nil");
		err->http = BAD_REQUEST;
		return -1;
	}
	return apply_check(config, t, &why) ? 0 : refuse_config(config, kar_buf_cstr(&why), err);
}

/* The others lose what was changed or removed. */
static void take_from_others(struct work *w, const struct apply_manager *me, const struct sim_value *changed,
	const struct sim_value *removed)
{
	for (size_t i = 0; i < w->managers.n; i++) {
		struct apply_manager *other = &w->managers.items[i];

		if (other == me)
			continue;
		replace(&other->set, apply_set_difference(other->set, changed));
		replace(&other->set, apply_set_difference(other->set, removed));
	}
}

/* Merges @config into @live and settles who owns what. The new object, or NULL with the conflicts. New reference. */
static struct sim_value *merge(struct work *w, const struct sim_value *live, const struct sim_value *config,
	struct sim_causes *conflicts)
{
	struct apply_manager *me = apply_managers_own(&w->managers, w->a, w->a->manager, true);
	KAR_CLEANUP(sim_cleanup_value)
	struct sim_value *last = me->set, *merged = NULL, *new = NULL, *changed = NULL, *removed = NULL;
	KAR_CLEANUP(sim_cleanup_value)
	struct sim_value *allowed = strcmp(w->a->manager, kubectl) != 0 ? NULL : applied_by_client(w, live);

	me->set = without(apply_fields(config, w->type), w->unreachable);
	free(me->version);
	me->version = kar_xstrdup(w->a->api_version);
	merged = apply_merge(live, config, w->type);
	new = prune(w, merged, last);
	find_changes(w, live, new, &changed, &removed);
	if (!w->a->force)
		find_conflicts(w, me, changed, allowed, conflicts);
	if (conflicts->n > 0)
		return NULL;
	take_from_others(w, me, changed, removed);
	me->set = owned(me->set);
	if (!sim_equal(live, new))
		replace(&me->time, sim_time(w->a->now));
	return sim_ref(new);
}

int sim_apply(struct sim_value **live, const struct sim_value *config, const struct sim_apply *a,
	struct kar_err *err)
{
	struct sim_value *before = *live ? sim_ref(*live) : sim_object(), *new;
	struct sim_causes conflicts = { 0 };
	struct work w = work_begin(a, &before);
	int rc = check_config(config, w.type, err);

	if (rc == 0) {
		if (w.managers.n == 0)
			track(&w, NULL, before, "before-first-apply");
		new = merge(&w, before, config, &conflicts);
		rc = new ? 0 : refuse_conflicts(&conflicts, a, err);
	}
	if (rc == 0) {
		refresh_annotation(a, &new, config);
		apply_managers_put(&w.managers, &new);
		sim_unref(*live);
		*live = new;
	}
	sim_causes_release(&conflicts);
	sim_unref(before);
	work_end(&w);
	return rc;
}
