/*
 * reflector_wire - the documents of list and watch: their tables, and what makes them acceptable.
 *
 * Private to the reflector. A list is one document whose items are handed over one by one; a watch is a stream of
 * {type, object}. An object without name, uid or resourceVersion is refused: it could be neither stored nor resumed from,
 * and no API server sends one. Anything else in an object that cannot be read is left out (kar_object.unreadable), so that
 * one object never hides the others.
 */
#ifndef KAR_REFLECTOR_WIRE_H
#define KAR_REFLECTOR_WIRE_H

#include "common/kube/object.h"

struct kar_list_meta {
	const char *resource_version, *continue_token;
	int64_t remaining;
};

struct kar_list_root {
	const char *kind;
	struct kar_list_meta meta;
	/* Items are streamed; the table wants a member for them. */
	struct kar_array items;
};

struct kar_watch_root {
	const char *type; /* "ADDED" ... */
	void *object;     /* the type's wire struct, or a Status in an ERROR; NULL if absent */
};

/* The tables for one resource type. Point into each other: do not copy. */
struct kar_reflector_tables {
	struct kar_field list_fields[3], watch_fields[2];
	struct kar_desc list, watch;
	bool protobuf; /* of the type */
};
void kar_reflector_tables_init(struct kar_reflector_tables *t, const struct kar_type *type) KAR_NONNULL;

/*
 * For both. Wider than what an API server can store: an object that a user may create must never stop the cache of
 * all the others.
 */
extern const struct kar_limits kar_reflector_limits;

/* KAR_INVALID if the complete document @root was no list. */
int kar_list_check(const struct kar_list_root *root, struct kar_err *err) KAR_NONNULL;
/* KAR_INVALID if @w cannot be stored. */
int kar_wire_check(const struct kar_wire_object *w, struct kar_err *err) KAR_NONNULL;
/*
 * The new object from @w, a wire struct of @type; .unreadable if a part of it could not be read. NULL with KAR_INVALID if
 * it cannot be stored.
 */
struct kar_object *kar_wire_object_make(const struct kar_type *type, const struct kar_wire_object *w,
	struct kar_intern *strings, struct kar_err *err) KAR_NONNULL KAR_MUSTUSE;

enum kar_event_kind {
	KAR_EVENT_CHANGED,
	KAR_EVENT_DELETED,
	KAR_EVENT_BOOKMARK,
	KAR_EVENT_ERROR,
	KAR_EVENT_OTHER
};
enum kar_event_kind kar_event_kind(const struct kar_watch_root *root) KAR_NONNULL;
/* Fills @err from the Status of an ERROR event, with the class that the same Status would have as an answer. */
void kar_event_error(const struct kar_watch_root *root, struct kar_err *err) KAR_NONNULL;

#endif
