/*
 * apply_wire - what the writes of a plan look like to the API server. Private to apply.c, which decides when each goes
 * out. No I/O.
 */
#ifndef KAR_APPLY_WIRE_H
#define KAR_APPLY_WIRE_H

#include "common/kube/client.h"
#include "controllers/controller.h"

/*
 * The request for @a, an action of @s, into @out. Its body is built into @body, which it borrows: release that when
 * the request has been started, or after a failure. -1 with KAR_INVALID if the body cannot be built or is too large.
 */
int kar_apply_action_request(const struct kar_sync *s, const struct kar_action *a, struct kar_buf *body,
	struct kar_request *out, struct kar_err *err) KAR_NONNULL;
/* The request that stores the status of @s, whose object is there. @body as above. */
struct kar_request kar_apply_status_request(const struct kar_sync *s, struct kar_buf *body) KAR_NONNULL;
/* What events about @o speak of; it borrows the text of @api_version. */
enum { KAR_APPLY_API_VERSION = 128 };
struct kar_object_ref kar_apply_about(const struct kar_object *o,
	char api_version[KAR_APPLY_API_VERSION]) KAR_NONNULL;
/*
 * Is the object @body, which is in the way of the create @a, controlled by the object of @s? -1 if not, or not
 * readable; KAR_EXISTS names the one that does. Without an object in @s anything is taken for its own.
 */
int kar_apply_check_own(const struct kar_sync *s, const struct kar_action *a, struct kar_str body,
	struct kar_err *err) KAR_NONNULL;

#endif
