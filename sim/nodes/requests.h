/*
 * requests - resources as numbers: what pods ask for and nodes have. Pure.
 *
 * The names of resources are numbered as they appear, cpu and memory first, so that a node's usage is an array. cpu is
 * counted in thousandths, everything else in units, rounded up.
 */
#ifndef SIM_REQUESTS_H
#define SIM_REQUESTS_H

#include "sim/tree.h"

enum { SIM_CPU, SIM_MEMORY };

struct sim_resource_names {
	char **names;   /* owned */
	char **lacking; /* "Insufficient NAME", owned: what the scheduler says */
	size_t n;
};
void sim_resource_names_init(struct sim_resource_names *t) KAR_NONNULL;
void sim_resource_names_release(struct sim_resource_names *t) KAR_NONNULL;

/* One amount per resource number; missing ones are 0. Zero-initialise it. */
struct sim_resources {
	int64_t *v; /* owned */
	size_t n;
};
void sim_resources_release(struct sim_resources *a) KAR_NONNULL;
int64_t sim_resources_get(const struct sim_resources *a, size_t resource) KAR_NONNULL;
void sim_resources_add(struct sim_resources *a, size_t resource, int64_t more) KAR_NONNULL;
/* Replaces *@a by a resource list ({"cpu": "4"}); "pods" is left out. */
void sim_resources_read(struct sim_resources *a, struct sim_resource_names *t, const struct sim_value *list)
	__attribute__((nonnull(1, 2)));

struct sim_amount {
	size_t resource;
	int64_t amount; /* never 0 */
};
struct sim_requests {
	struct sim_amount *items; /* owned */
	size_t n;
	/* For the score: containers that ask for no cpu or memory count as 100m and 200Mi, so that they spread too. */
	int64_t scored[2];
};
/*
 * What the pod with @spec asks for: containers and sidecars together, or the largest init container with the sidecars before
 * it; pod-level requests win; overhead on top (KEP-753, KEP-2837).
 */
void sim_requests_read(struct sim_requests *r, struct sim_resource_names *t, const struct sim_value *spec)
	__attribute__((nonnull(1, 2)));
void sim_requests_release(struct sim_requests *r) KAR_NONNULL;

#endif
