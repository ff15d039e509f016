/*
 * template_amounts - what a ResourceQuota charges for a pod of a template, as far as that stands in the template.
 *
 * Counted as the API server does: containers together, init containers by the most at one time, a limit without a request is the
 * request too. A LimitRange or a RuntimeClass may add to it, so a pod asks for at least this. A template with resources of the pod
 * as a whole, or one that cannot be read, asks for nothing that is known.
 */
#ifndef KAR_API_TEMPLATE_AMOUNTS_H
#define KAR_API_TEMPLATE_AMOUNTS_H

#include "common/base.h"
#include "common/decode.h"
#include "common/quantity.h"

enum { KAR_MAX_AMOUNTS = 32 }; /* of one list; further ones are left out */

/* One amount of a template or of a quota, under the name that quotas use: "requests.cpu", "limits.memory". */
struct kar_quota_amount {
	const char *resource;
	struct kar_quantity q;
};

/* Returns the struct kar_quota_amount of one pod of the template @raw (its JSON), in @mem. */
struct kar_array kar_template_amounts(struct kar_str raw, struct kar_arena *mem) KAR_NONNULL;
/* Returns what @amounts has of @resource as a quota names it ("cpu" is "requests.cpu"); NULL: nothing. */
const struct kar_quantity *kar_template_amount(const struct kar_array *amounts,
	const char *resource) KAR_NONNULL;

#endif
