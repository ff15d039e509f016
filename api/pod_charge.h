/*
 * pod_charge - what a ResourceQuota counts of a pod. Pure.
 *
 * First as one text, of which a cached pod and a task of a job keep one interned copy: a PodSpec (JSON) with nothing but what is
 * counted, so that all pods of a template share it (decision 044):
 *
 *   {"containers":[{"name":"main","resources":{"limits":{"cpu":"2"},"requests":{"cpu":"1"}}}],"initContainers":[{"name":"side",
 *    "restartPolicy":"Always"}],"overhead":{"cpu":"250m"},"priorityClassName":"high","activeDeadlineSeconds":60,
 *    "resources":{"limits":{"memory":"1Gi"}}}
 *
 * A pod that exists has one container without a name, which stands for all: its amounts are what the pod as a whole has.
 *
 * From the text follows the charge, by the rules of Kubernetes 1.37 (pkg/quota/v1/evaluator/core, component-helpers/resource,
 * plugin/pkg/admission/limitranger): a limit stands in for a request that is absent, then LimitRanges give what is still absent;
 * containers and sidecars are added up, other init containers count by the most at one time; what the pod as a whole asks for replaces
 * that; overhead is added to requests, and to limits that are there. Not seen is what a RuntimeClass or a webhook adds to a template.
 */
#ifndef KAR_API_POD_CHARGE_H
#define KAR_API_POD_CHARGE_H

#include "api/limitrange.h"
#include "api/resourcequota.h"

enum {
	/* Of a text, NUL included. A longer one is that of the pod as a whole; if that is too long too, it counts as a pod alone. */
	KAR_POD_CHARGE_BYTES = 4096,
};

/* The text for a pod of the PodTemplateSpec @raw (its JSON), in @a; NULL: it cannot be read. */
const char *kar_template_charge(struct kar_str raw, struct kar_arena *a) __attribute__((nonnull(2)));

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

/* Fills in @out, in @a, from @text and the defaults of @ranges, of which the first that has one counts. */
void kar_pod_charge(const char *text, const struct kar_limitrange *const *ranges, size_t n_ranges,
	struct kar_arena *a, struct kar_pod_charge *out) __attribute__((nonnull(1, 4, 5)));

/* What a quota with a limit for @resource is charged with by the pod: kar_quota_amount(), rounded up. */
int64_t kar_pod_charge_of(const struct kar_pod_charge *c, const char *resource) KAR_NONNULL;
/* Does the quota hold for the pod? A quota with .other_scopes holds for none. */
bool kar_quota_matches(const struct kar_resourcequota *q, const struct kar_pod_charge *c) KAR_NONNULL;

#endif
