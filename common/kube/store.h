/*
 * store - the cache of one resource type: objects by namespace/name, and secondary indexes.
 *
 * Pure: it is told what happened, and tells its listener what changed. Invariants: holds one reference per
 * object; at most one object per key; an object is in exactly the index lists its index_key() names;
 * `rv` never goes back while it can be compared, except to that of a complete list, whose content is then what
 * the store holds. Lookups are O(1), index walks are O(matches).
 * Not changed while one of its walks is under way.
 */
#ifndef KAR_STORE_H
#define KAR_STORE_H

#include "common/kube/object.h"

struct kar_store;

/*
 * What changed. old NULL: added; new NULL: deleted; both: updated (same UID, rv differs). An object that was
 * deleted and created again under the same name arrives as two calls, delete then add. Both are
 * borrowed for the call. Must not change the store.
 */
typedef void kar_store_fn(void *arg, const struct kar_object *old, const struct kar_object *new);

struct kar_store *kar_store_new(const struct kar_type *t, struct kar_intern *strings) KAR_MUSTUSE KAR_RETNN;
void kar_store_free(struct kar_store *s); /* accepts NULL; no listener is called */
/* Adds a listener (at most 8). Called in order of registration. */
void kar_store_listen(struct kar_store *s, kar_store_fn *fn, void *arg) KAR_NONNULL;

const struct kar_type *kar_store_type(const struct kar_store *s) KAR_NONNULL;
struct kar_intern *kar_store_strings(const struct kar_store *s) KAR_NONNULL;
size_t kar_store_count(const struct kar_store *s) KAR_NONNULL;
/* The object, borrowed until the next change of the store, or NULL. @ns NULL or "" for cluster scope. */
const struct kar_object *kar_store_get(const struct kar_store *s, const char *ns, const char *name);

/* Slots that the slowest kar_store_get() of a stored object visits; walks the whole table, for tests. */
size_t kar_store_longest_search(const struct kar_store *s) KAR_NONNULL;

/*
 * Walks. `for (it = kar_store_by_index(s, POD_BY_OWNER, uid); kar_iter_next(&it, &o);)`. Order is
 * not defined; sort what must be deterministic. @value need not be interned.
 */
struct kar_iter {
	const struct kar_store *store;
	int index;   /* -1: all objects */
	uint32_t at; /* internal */
};
struct kar_iter kar_store_all(const struct kar_store *s) KAR_NONNULL;
struct kar_iter kar_store_by_index(const struct kar_store *s, int index, const char *value) KAR_NONNULL;
bool kar_iter_next(struct kar_iter *it, const struct kar_object **o) KAR_NONNULL;
/* How many objects kar_store_by_index() would visit, in O(1). */
size_t kar_store_index_count(const struct kar_store *s, int index, const char *value) KAR_NONNULL;

/*
 * Changes. apply: an ADDED or MODIFIED event; takes over the caller's reference. An event that is older than
 * what is stored (same UID, lower rv) or equal is dropped. Deleting what is not there is a no-op;
 * a DELETED event for another UID than the stored one is ignored.
 */
void kar_store_apply(struct kar_store *s, struct kar_object *o) KAR_NONNULL;
void kar_store_delete(struct kar_store *s, const char *ns, const char *name, const char *uid, kar_rv rv);
/* Position of the watch: from bookmarks and events. Lower values are ignored. */
void kar_store_bookmark(struct kar_store *s, kar_rv rv) KAR_NONNULL;
/* The highest rv known to be contained; 0 before the first list. */
kar_rv kar_store_rv(const struct kar_store *s) KAR_NONNULL;

/*
 * Replacing everything after a LIST: begin, add each object (takes the reference), then commit with the
 * list's rv: objects not added are deleted (deletes are told first), then updates and adds. abort
 * leaves the store as it was. Reads see the old content until commit, listeners see the new one. apply and delete
 * are not allowed in between.
 */
void kar_store_replace_begin(struct kar_store *s) KAR_NONNULL;
void kar_store_replace_add(struct kar_store *s, struct kar_object *o) KAR_NONNULL;
void kar_store_replace_commit(struct kar_store *s, kar_rv rv) KAR_NONNULL;
void kar_store_replace_abort(struct kar_store *s) KAR_NONNULL;
/* True after the first commit, once its listeners have been called. */
bool kar_store_synced(const struct kar_store *s) KAR_NONNULL;

#endif
