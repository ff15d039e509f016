/*
 * object - what every cached Kubernetes object has, and what a resource type is.
 *
 * A cached object is immutable and refcounted. It keeps only the fields the project uses: the type's
 * table (kar_type.wire) decides what is read from JSON or protobuf into a short-lived "wire" struct, and project() makes
 * the compact object from it. managedFields are never stored. An update is a new object.
 */
#ifndef KAR_OBJECT_H
#define KAR_OBJECT_H

#include "common/base/base.h"
#include "common/base/intern.h"
#include "common/codec/decode.h"

/* Where a resource lives in the API. Static data. */
struct kar_resource {
	const char *group;   /* "" for the core group */
	const char *version; /* "v1" */
	const char *plural;  /* "pods" */
	const char *kind;    /* "Pod" */
	bool namespaced;
};

/*
 * A resourceVersion that can be compared (KEP-5504: decimal, without leading zeros): its value. 0 when
 * it is absent, "0", or not a decimal that fits 64 bits; two of those compare as "cannot say".
 */
typedef uint64_t kar_rv;
kar_rv kar_rv_parse(const char *s);

enum { KAR_MAX_INDEX = 4 }; /* secondary indexes per type */

struct kar_object;

/* Wire form of metadata, embedded first in every wire struct. Strings live in the decoder's arena. */
struct kar_wire_owner {
	const char *api_version, *kind, *name, *uid;
	bool controller;
};

struct kar_wire_meta {
	const char *name, *ns, *uid, *resource_version;
	int64_t generation;
	kar_time creation, deletion;          /* wall ms; deletion 0: not being deleted */
	int64_t deletion_grace;               /* s; .deletion is so much later than the request for it */
	struct kar_array labels, annotations; /* struct kar_pair */
	struct kar_array finalizers;          /* const char * */
	struct kar_array owners;              /* struct kar_wire_owner */
};
extern const struct kar_desc kar_wire_meta_desc;

/* The controller ownerReference (controller == true), or NULL. */
const struct kar_wire_owner *kar_wire_controller(const struct kar_wire_meta *m) KAR_NONNULL;

/* First member of every wire struct: `struct pod_wire { struct kar_wire_object head; ... }`. */
struct kar_wire_object {
	const char *api_version, *kind;
	struct kar_wire_meta meta;
	const char *problem; /* what of the object cannot be read, and why; NULL: nothing */
};
/* The table of a resource type: what cannot be read of an object is left absent and named in head.problem. */
#define KAR_WIRE_DESC(what_, struct_, fields_) \
	{ \
		.what = (what_), .size = sizeof(struct_), .fields = (fields_), .n_fields = KAR_LEN(fields_), \
		.problem = offsetof(struct_, head.problem) \
	}
#define KAR_WIRE_HEAD_FIELDS(struct_) \
	KAR_FIELD(struct_, head.api_version, "apiVersion", KAR_F_STRING), \
		KAR_FIELD(struct_, head.kind, "kind", KAR_F_STRING), \
		KAR_FIELD_PB_SUB(struct_, head.meta, "metadata", 1, KAR_F_OBJECT, &kar_wire_meta_desc)

struct kar_type {
	struct kar_resource res;
	const struct kar_desc *wire; /* its struct starts with struct kar_wire_object */
	bool protobuf; /* the API server has a protobuf form of it (never of CRDs), and .wire its numbers */
	/*
	 * A new object (one reference, for the caller) from the wire struct, whose head is known to have a name, a
	 * uid and a resourceVersion. Interned strings come from @strings.
	 */
	struct kar_object *(*project)(const void *wire, struct kar_intern *strings);
	/*
	 * Gives back what project() interned, but not head.ns, which kar_object_unref() does; frees. Called with
	 * the last reference.
	 */
	void (*destroy)(struct kar_object *o, struct kar_intern *strings);
	/* Secondary index number @i: the interned string under which @o is found, or NULL for none. Not called if .n_index is 0. */
	const char *(*index_key)(const struct kar_object *o, int i);
	int n_index;
};

/* First member of every cached object. */
struct kar_object {
	const struct kar_type *type;
	struct kar_intern *strings; /* where its strings came from */
	uint32_t refs;
	/*
	 * A part of it could not be read and is absent here: nothing may be created, deleted or written because of what it
	 * seems to be. Name, UID, owner and labels may only be used to find whom it concerns.
	 */
	bool unreadable;
	const char *ns;   /* interned; NULL for cluster-scoped objects */
	const char *name; /* part of the object's own memory */
	const char *uid;  /* likewise */
	kar_rv rv;
};

/* Fills the head from the wire form; @name and @uid must already be copies in the object's own memory. */
void kar_object_init(struct kar_object *o, const struct kar_type *t, const struct kar_wire_object *w,
	const char *name, const char *uid, struct kar_intern *strings) KAR_NONNULL;
/* References. Both accept NULL. kar_object_ref() returns its argument. */
const struct kar_object *kar_object_ref(const struct kar_object *o);
void kar_object_unref(const struct kar_object *o);

/* The same object, by its UID, and as readable as before? Their versions may differ. */
bool kar_object_same(const struct kar_object *a, const struct kar_object *b) KAR_NONNULL;

/* "ns/name", or "name" for cluster-scoped objects, written to @out. */
#define KAR_KEY_LEN 320 /* 63 + 1 + 253 + NUL, rounded up */
const char *kar_object_key(const struct kar_object *o, char out[KAR_KEY_LEN]) KAR_NONNULL;
/* For .index_key of a kind whose only index is by namespace. */
const char *kar_object_by_namespace(const struct kar_object *o, int i) KAR_NONNULL;
const char *kar_key(const char *ns, const char *name, char out[KAR_KEY_LEN]);
/* Splits "ns/name" (or "name": *ns = ""). Both outputs point into @buf, a copy of the key. */
void kar_key_split(const char *key, char buf[KAR_KEY_LEN], const char **ns, const char **name) KAR_NONNULL;

/* The object that an event or an error is about. Borrowed strings. */
struct kar_object_ref {
	const char *api_version, *kind, *ns, *name, *uid, *resource_version;
};

#endif
