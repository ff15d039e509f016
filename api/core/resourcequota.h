/*
 * resourcequota - core/v1 ResourceQuota: what a namespace may have of what pods use, what it uses, and which pods count.
 *
 * The API server decides whether a pod fits. The manager counts along, so that a gang is admitted only if all of its pods will fit
 * (docs/QUOTA.md).
 */
#ifndef KAR_API_RESOURCEQUOTA_H
#define KAR_API_RESOURCEQUOTA_H

#include <assert.h>

#include "common/base/base.h"
#include "common/codec/decode.h"
#include "common/codec/quantity.h"
#include "common/kube/object.h"

enum { KAR_MAX_AMOUNTS = 32 }; /* of one quota; further ones are left out */

/* One amount under the name that containers use: "cpu". */
struct kar_quota_amount {
	const char *resource;
	struct kar_quantity q;
};

enum kar_quota_scope_kind {
	KAR_SCOPE_TERMINATING, /* pods with activeDeadlineSeconds */
	KAR_SCOPE_NOT_TERMINATING,
	KAR_SCOPE_BEST_EFFORT, /* pods that ask for neither cpu nor memory */
	KAR_SCOPE_NOT_BEST_EFFORT,
	KAR_SCOPE_PRIORITY_CLASS, /* the only one whose operator counts */
};

/* Whose pods count: all scopes of a quota must match. */
struct kar_quota_scope {
	enum kar_quota_scope_kind kind;
	enum kar_quota_scope_op {
		KAR_SCOPE_EXISTS,
		KAR_SCOPE_DOES_NOT_EXIST,
		KAR_SCOPE_IN,
		KAR_SCOPE_NOT_IN
	} op;
	struct kar_array values; /* const char *: names of PriorityClasses */
};

/* One resource that pods use. Amounts: thousandths of cpu, else whole units; -1: it is not named there. */
struct kar_quota_limit {
	const char *resource; /* as quotas name it: "pods", "requests.cpu", "limits.memory" */
	int64_t spec, hard; /* of spec.hard and of status.hard, which the API server enforces; rounded down */
	int64_t used;       /* of status.used; rounded up */
};

struct kar_resourcequota {
	struct kar_object o; /* first */
	struct kar_arena mem;
	bool limits_pods;    /* spec.hard names a resource that pods use */
	bool counts_objects; /* spec.hard names count/pods, which counts pods that have ended too */
	/* struct kar_quota_limit, sorted by resource, at most KAR_MAX_AMOUNTS: what is beyond is left to the API server */
	struct kar_array limits;
	struct kar_array scopes; /* struct kar_quota_scope, at most KAR_MAX_SCOPES */
	bool other_scopes;       /* it has more or other ones: whom it holds for is left to the API server */
	uint64_t specified;      /* hash of spec.hard */
	uint64_t enforced;       /* hash of status.hard, which the API server enforces */
};

enum { KAR_MAX_SCOPES = 8, KAR_MAX_SCOPE_VALUES = 64 };

enum { KAR_RESOURCEQUOTA_BY_NAMESPACE };
extern const struct kar_type kar_resourcequota_type;

static inline const struct kar_resourcequota *kar_as_resourcequota(const struct kar_object *o)
{
	assert(o && o->type == &kar_resourcequota_type);
	return (const struct kar_resourcequota *)(const void *)o;
}

/* Do pods use @resource of a quota? Else it counts other objects, or nothing. */
bool kar_quota_is_of_pods(const char *resource) KAR_NONNULL;
/*
 * @q in the units of the rows of a quota for @resource, with or without "requests." or "limits.": thousandths of cpu, else whole units;
 * from 0 to INT64_MAX.
 */
int64_t kar_quota_amount(const char *resource, const struct kar_quantity *q, bool round_up) KAR_NONNULL;
/* Do both limit the same, and is as much of it used? */
bool kar_resourcequota_same(const struct kar_resourcequota *a, const struct kar_resourcequota *b) KAR_NONNULL;

#endif
