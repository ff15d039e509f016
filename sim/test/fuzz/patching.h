/*
 * patching - one patch, sent to objects of the cluster of cluster.h.
 */
#ifndef TEST_FUZZ_PATCHING_H
#define TEST_FUZZ_PATCHING_H

#include "common/base/base.h"

/*
 * Sends the input as a patch of this media type, as a dry run, to a pod, the status of another, a ConfigMap and a QueueJob; for
 * some inputs then in earnest to one of them, which must give the same code. @again: a patch that has succeeded, sent once
 * more, must change nothing. @options: of the query, "&force=true" or "".
 */
void fuzz_patch(const char *content_type, const char *options, bool again, const uint8_t *data, size_t n);

#endif
