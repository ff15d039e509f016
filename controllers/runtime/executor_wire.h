/*
 * executor_wire - the API requests for the writes of a plan. Private to executor.c, which decides when each is sent. No I/O.
 */
#ifndef KAR_EXECUTOR_WIRE_H
#define KAR_EXECUTOR_WIRE_H

#include "common/kube/client.h"
#include "controllers/runtime/controller.h"

/*
 * The request for @a, an action of @s, into @out. Its body is built into @body, which it borrows: release that when
 * the request has been started, or after a failure. -1 with KAR_INVALID if the body cannot be built or is too large.
 */
int kar_executor_action_request(const struct kar_sync *s, const struct kar_action *a, struct kar_buf *body,
	struct kar_request *out, struct kar_err *err) KAR_NONNULL;
/* The request that stores the status of @s, whose object is there. @body as above. */
struct kar_request kar_executor_status_request(const struct kar_sync *s, struct kar_buf *body) KAR_NONNULL;
/* The reference to @o that its events carry; it borrows @api_version, which is filled in. */
enum { KAR_EXECUTOR_API_VERSION = 128 };
struct kar_object_ref kar_executor_about(const struct kar_object *o,
	char api_version[KAR_EXECUTOR_API_VERSION]) KAR_NONNULL;
/*
 * Is the object @body, which is in the way of the create @a, controlled by the object of @s, and found by the caches? -1 if not, or
 * not readable; KAR_EXISTS names the object that controls it, or the label that it lacks. If @s has no object, any @body counts
 * as its own.
 */
int kar_executor_check_own(const struct kar_sync *s, const struct kar_action *a, struct kar_str body,
	struct kar_err *err) KAR_NONNULL;

#endif
