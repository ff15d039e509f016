/*
 * status_patch - the body of a write of the status of an object, of any kind whose status has a table.
 */
#ifndef KAR_CLUSTER_STATUS_PATCH_H
#define KAR_CLUSTER_STATUS_PATCH_H

#include "api/status/status_fields.h"
#include "common/base/buf.h"
#include "common/kube/object.h"

/* Appends to @out the patch of the status of @o: what @mask chooses of @status, with the preconditions. */
void kar_write_status_patch(struct kar_buf *out, const struct kar_object *o, const struct kar_desc *table,
	const void *status, unsigned mask) KAR_NONNULL;

#endif
