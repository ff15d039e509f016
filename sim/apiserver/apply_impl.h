/*
 * apply_impl - the parts of server-side apply.
 *
 *   apply.c           the two operations              apply_managers.c  metadata.managedFields
 *   apply_type.c      which lists are maps or sets    apply_set.c       sets of fields
 *   apply_walk.c      objects against sets: what an object has, how two differ
 *   apply_merge.c     merging and removing            apply_check.c     whether a configuration can be applied
 *
 * A set of fields has the form of fieldsV1: {"f:spec":{"f:replicas":{},"f:list":{"k:{\"name\":\"a\"}":{".":{}}}}}. A node is
 * an object of what it has below it, by element; it is itself in the set if it is empty or has ".". NULL is the empty set.
 */
#ifndef SIM_APPLY_IMPL_H
#define SIM_APPLY_IMPL_H

#include "sim/apiserver/apply.h"
#include "sim/apiserver/schema_impl.h"
#include "sim/apiserver/types.h"

/* --- sets: every result is a new reference --------------------------------------------------------------------------------- */

bool apply_set_has_self(const struct sim_value *node);
/* A node of what is below, taken over, and whether it is in the set itself. */
struct sim_value *apply_set_node(struct sim_value *below_consumed, bool self);
struct sim_value *apply_set_union(const struct sim_value *a, const struct sim_value *b);
/* What is in both. */
struct sim_value *apply_set_intersection(const struct sim_value *a, const struct sim_value *b);
/* What is in @a only: single fields, whatever is below them. */
struct sim_value *apply_set_difference(const struct sim_value *a, const struct sim_value *b);
/* @a without the fields of @b and all that is below them. */
struct sim_value *apply_set_without(const struct sim_value *a, const struct sim_value *b);
/* Calls @fn for each field with its path as error texts show it: .spec.list[name="a"].image. */
typedef void apply_path_fn(void *arg, const char *path);
void apply_set_each(const struct sim_value *set, apply_path_fn *fn, void *arg) __attribute__((nonnull(2)));
/* The element of a member: "f:name". The caller frees it. */
char *apply_element_of_member(const char *key) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
/* One element: `.name`, `[name="a",port=80]`, `[="x"]`. */
void apply_element_print(const char *element, struct kar_buf *out) KAR_NONNULL;

/* --- types ------------------------------------------------------------------------------------------------------------------- */

/* What is known about a value. All zero: nothing; its objects are merged by member, its lists are atomic. */
struct apply_type {
	const struct sim_type *message; /* an object of a built-in kind; with `field`: its owner */
	const struct sim_field *field;  /* a list, a map or a scalar */
	const struct schema_node *node;
	bool root, preserves; /* preserves: unknown members are let be, here and below */
};

enum apply_kind { APPLY_ANY, APPLY_TEXT, APPLY_NUMBER, APPLY_BOOL, APPLY_LIST, APPLY_MAP };

struct apply_type apply_root(const struct sim_apply *a) KAR_NONNULL;
/* What a value may be. */
enum apply_kind apply_kind_of(struct apply_type t);
/* An object or list that belongs to one manager as a whole. */
bool apply_is_atomic(struct apply_type t, const struct sim_value *v);
/* The type of a member. @named (may be NULL): it is a member with a name of its own, not a key of a map. False: not declared. */
bool apply_member(struct apply_type t, const char *key, struct apply_type *out, bool *named)
	__attribute__((nonnull(2, 3)));
struct apply_type apply_item(struct apply_type t);
/*
 * The element of item @i of a list that is a map or a set: "k:{...}" or "v:...". The caller frees it. NULL with @why (may be
 * NULL; appended): it has none.
 */
char *apply_element(struct apply_type t, const struct sim_value *item, struct kar_buf *why);

/* --- walks ------------------------------------------------------------------------------------------------------------------- */

/* Every field that @v has. New reference. */
struct sim_value *apply_fields(const struct sim_value *v, struct apply_type t);
/* @set with the named members above its fields. New reference. */
struct sim_value *apply_with_parents(const struct sim_value *set, struct apply_type t);
struct apply_difference {
	struct sim_value *added, *removed, *modified;
};
/* Either may be NULL. The caller releases @out. */
void apply_compare(const struct sim_value *old, const struct sim_value *new, struct apply_type t,
	struct apply_difference *out) __attribute__((nonnull(4)));
void apply_difference_release(struct apply_difference *d) KAR_NONNULL;

/* Items of a list by their elements. */
struct apply_index {
	char **elements; /* of each item; NULL: it has none */
	size_t n;
	struct sim_value *at; /* element -> array of the indexes of its items */
};
/* @list may be NULL. */
struct apply_index apply_index_new(struct apply_type t, const struct sim_value *list);
void apply_index_release(struct apply_index *x) KAR_NONNULL;
size_t apply_index_count(const struct apply_index *x, const char *element) KAR_NONNULL;
/* The item; NULL: there is none, or there are several. */
const struct sim_value *apply_index_find(const struct apply_index *x, const struct sim_value *list,
	const char *element) __attribute__((nonnull(1, 3)));

/* @live with what @config says. Either may be NULL, not both. New reference. */
struct sim_value *apply_merge(const struct sim_value *live, const struct sim_value *config,
	struct apply_type t);
/* @v without the fields of @set. What loses all it has becomes null, which the write drops where the type knows no null. */
struct sim_value *apply_remove(const struct sim_value *v, const struct sim_value *set, struct apply_type t);
/* True if @config can be applied; else appends the API server's text to @why. */
bool apply_check(const struct sim_value *config, struct apply_type t, struct kar_buf *why);

/* --- managers ---------------------------------------------------------------------------------------------------------------- */

struct apply_manager {
	char *name, *version, *subresource; /* subresource "" for none */
	char *id;               /* what makes it another manager; also their order in error texts */
	bool applies;           /* operation Apply, else Update */
	struct sim_value *time; /* text; NULL: none */
	struct sim_value *set;
};
struct apply_managers {
	struct apply_manager *items;
	size_t n;
};

/* Takes metadata.managedFields out of *@object. Entries that cannot be read are dropped. */
struct apply_managers apply_managers_take(struct sim_value **object) KAR_NONNULL;
/* Puts them back in the API server's order, without those that own nothing, and releases @m. */
void apply_managers_put(struct apply_managers *m, struct sim_value **object) KAR_NONNULL;
/* That of @a, added if it is not there. Valid until the next one is added. */
struct apply_manager *apply_managers_own(struct apply_managers *m, const struct sim_apply *a,
	const char *name, bool applies) KAR_NONNULL KAR_RETNN;
/* Joins the oldest updaters when there are too many. */
void apply_managers_cap(struct apply_managers *m) KAR_NONNULL;
void apply_managers_release(struct apply_managers *m) KAR_NONNULL;
/* `"kubectl" with subresource "status" using v1`. */
void apply_manager_print(const struct apply_manager *m, struct kar_buf *out) KAR_NONNULL;

#endif
