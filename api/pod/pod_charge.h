/*
 * pod_charge - what a ResourceQuota counts of a pod. Pure.
 *
 * First what its spec says of that, and nothing else (struct kar_pod_counted), so that all pods of a template share one (decision 044). A pod
 * that exists has one container without a name, which stands for all: its amounts are what the pod as a whole has.
 *
 * From that follows the charge, by the rules of Kubernetes 1.37 (pkg/quota/v1/evaluator/core, component-helpers/resource,
 * plugin/pkg/admission/limitranger): a limit stands in for a request that is absent, then LimitRanges give what is still absent;
 * containers and sidecars are added up, other init containers count by the most at one time; what the pod as a whole asks for replaces
 * that; overhead is added to requests, and to limits that are there. Not seen is what a RuntimeClass or a webhook adds to a template.
 */
#ifndef KAR_API_POD_CHARGE_H
#define KAR_API_POD_CHARGE_H

#include "api/core/limitrange.h"
#include "api/core/resourcequota.h"
#include "common/base/shape.h"

enum {
	/* Of the struct, with all that it points to. A larger one is that of the pod as a whole; if that is too large, too, it counts as a pod alone. */
	KAR_POD_CHARGE_BYTES = 6144,
};

struct kar_counted_container {
	const char *name; /* "": it has none */
	bool sidecar;
	struct kar_array limits, requests; /* struct kar_pair: sorted, and canonical quantities */
};

struct kar_pod_counted {
	struct kar_array containers, init_containers; /* struct kar_counted_container */
	struct kar_array limits, requests, overhead;  /* struct kar_pair, as above; of the pod itself */
	const char *priority_class;                   /* NULL: none */
	bool terminating;                             /* it has a deadline */
};
extern const struct kar_shape kar_counted_shape;

/* Of a pod of the PodTemplateSpec @raw (its JSON), in @a; NULL: it cannot be read. */
const struct kar_pod_counted *kar_template_charge(struct kar_str raw, struct kar_arena *a)
	__attribute__((nonnull(2)));

/* What Kubernetes demands of each container where a quota limits it. */
enum kar_charge_demand {
	KAR_DEMAND_REQUESTS_CPU = 1,
	KAR_DEMAND_REQUESTS_MEMORY = 2,
	KAR_DEMAND_LIMITS_CPU = 4,
	KAR_DEMAND_LIMITS_MEMORY = 8,
};
/* The bit that a quota with a limit for @resource demands; 0: none. */
unsigned kar_charge_demand(const char *resource) KAR_NONNULL;

struct kar_charged_container {
	const char *name; /* "": it has none */
	unsigned sets;    /* bits of enum kar_charge_demand */
};

struct kar_pod_charge {
	struct kar_array requests, limits; /* struct kar_quota_amount, by names of containers: "cpu" */
	/* struct kar_charged_container, init containers last; none if the pod as a whole asks for something: then nothing is demanded */
	struct kar_array containers;
	const char *priority_class; /* NULL: none */
	bool best_effort, terminating;
};

/* Fills in @out, in @a, from @of and the defaults of @ranges, of which the first that has one counts. */
void kar_pod_charge(const struct kar_pod_counted *of, const struct kar_limitrange *const *ranges,
	size_t n_ranges, struct kar_arena *a, struct kar_pod_charge *out) __attribute__((nonnull(1, 4, 5)));

/* What a quota with a limit for @resource is charged with by the pod: kar_quota_amount(), rounded up. */
int64_t kar_pod_charge_of(const struct kar_pod_charge *c, const char *resource) KAR_NONNULL;
/* Does the quota hold for the pod? A quota with .other_scopes holds for none. */
bool kar_quota_matches(const struct kar_resourcequota *q, const struct kar_pod_charge *c) KAR_NONNULL;

#endif
