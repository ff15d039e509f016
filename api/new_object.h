/*
 * new_object - the JSON with which objects begin that the manager creates. Pure; the writer has an open object.
 */
#ifndef KAR_API_NEW_OBJECT_H
#define KAR_API_NEW_OBJECT_H

#include "common/codec/json.h"
#include "common/kube/object.h"

/* Writes apiVersion and kind, and begins the member metadata with name and namespace (NULL: ""). The caller ends it. */
void kar_new_object_begin(struct kar_json_writer *w, const struct kar_resource *res, const char *ns,
	const char *name) __attribute__((nonnull(1, 2, 4)));

/*
 * Writes the member ownerReferences: one, which is the controller. @blocks: a deletion of the owner in the foreground waits for the new
 * object. Where the API server enforces it, that needs the right to update the finalizers of the owner.
 */
void kar_new_object_owner(struct kar_json_writer *w, const struct kar_wire_owner *owner,
	bool blocks) KAR_NONNULL;
/* "group/version" of @res, as apiVersion has it, into @out. */
enum { KAR_API_VERSION_LEN = 128 };
const char *kar_api_version(const struct kar_resource *res, char out[KAR_API_VERSION_LEN]) KAR_NONNULL;

#endif
