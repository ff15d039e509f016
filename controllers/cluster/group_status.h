/*
 * group_status - the patch of the status of a PodGroup, of which both reconcilers write a part; for both kinds of CRD (api/podgroup/pg_kept.h).
 */
#ifndef KAR_CLUSTER_GROUP_STATUS_H
#define KAR_CLUSTER_GROUP_STATUS_H

#include "api/podgroup/podgroup.h"
#include "common/base/buf.h"

/*
 * Appends to @out the body of a patch by which the status of @g, as it was read, becomes @next; of a group that is not .pruned only what @mask
 * chooses. Returns the subresource to be patched. NULL: the object itself. Its annotations come first, and what its status shows is left to the
 * next patch.
 */
const char *kar_group_status_patch(const struct kar_podgroup *g, const struct kar_podgroup_status *next,
	unsigned mask, struct kar_buf *out) KAR_NONNULL;

#endif
