/*
 * usage - how many live pods of each charge (kar_pod.charge) each namespace has, kept equal to the cache of pods by its changes.
 *
 * So that what a quota is used by costs a pass as much as there are different pods, not as there are pods. It holds no strings: those
 * of a count above 0 are held by the pods that it counts.
 */
#ifndef KAR_USAGE_H
#define KAR_USAGE_H

#include "api/pod/pod.h"

struct kar_usage;

struct kar_usage *kar_usage_new(void) KAR_MUSTUSE KAR_RETNN;
void kar_usage_free(struct kar_usage *u); /* accepts NULL */
/* A change, as the cache tells it: @old NULL: it is new; @new NULL: it is gone. */
void kar_usage_pod(struct kar_usage *u, const struct kar_pod *old, const struct kar_pod *new)
	__attribute__((nonnull(1)));

/* For each charge of live pods of @ns: how many there are. */
typedef void kar_usage_fn(void *arg, const struct kar_pod_counted *charge, int64_t n);
void kar_usage_each(const struct kar_usage *u, const char *ns, kar_usage_fn *fn, void *arg)
	__attribute__((nonnull(1, 2, 3)));

#endif
