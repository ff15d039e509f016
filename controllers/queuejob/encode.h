/*
 * encode - the bodies of the QueueJob reconciler's writes.
 */
#ifndef KAR_QUEUEJOB_ENCODE_H
#define KAR_QUEUEJOB_ENCODE_H

#include "controllers/cluster/stores.h"
#include "controllers/runtime/controller.h"

/* See struct kar_controller: encode and encode_status. */
int queuejob_encode(const struct kar_sync *s, const struct kar_action *a, struct kar_buf *out,
	struct kar_err *err) __attribute__((nonnull(1, 2, 3)));
const char *queuejob_encode_status(const struct kar_sync *s, struct kar_buf *out) KAR_NONNULL;

#endif
