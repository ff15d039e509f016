/*
 * patch - the four ways to change an object without sending all of it. Pure functions on trees.
 */
#ifndef SIM_PATCH_H
#define SIM_PATCH_H

#include "sim/tree.h"

/* RFC 7386; the caller refuses a @patch that is no object, as the API server does. */
void sim_patch_merge(struct sim_value **target, const struct sim_value *patch) KAR_NONNULL;
/*
 * RFC 6902, all operations. -1 with KAR_INVALID, text and err->http (400: no patch, 413: too many operations, 422: failed test,
 * missing path ...) as the API server's; *target is then untouched.
 */
int sim_patch_json(struct sim_value **target, const struct sim_value *operations,
	struct kar_err *err) KAR_NONNULL;
struct sim_type; /* types.h */
/*
 * Strategic merge for built-in kinds: lists with a merge key (containers by name, conditions by type, ownerReferences by uid,
 * finalizers and other sets ...), $patch: delete|replace|merge, $deleteFromPrimitiveList, $retainKeys, $setElementOrder.
 * @type says which lists are merged by which key; NULL: none is. -1 with KAR_INVALID, text and err->http as the API
 * server's; *target is then untouched.
 */
int sim_patch_strategic(struct sim_value **target, const struct sim_value *patch, const struct sim_type *type,
	struct kar_err *err) __attribute__((nonnull(1, 2, 4)));

#endif
