/*
 * usage - how many live pods of each charge (kar_pod.charge) each namespace has, kept equal to the cache of pods by its changes.
 *
 * So that what a quota is used by costs a pass as much as there are different pods, not as there are pods. It holds no strings: those
 * of a count above 0 are held by the pods that it counts.
 */
#ifndef KAR_QUEUE_USAGE_H
#define KAR_QUEUE_USAGE_H

#include "api/pod.h"

struct queue_usage;

struct queue_usage *queue_usage_new(void) KAR_MUSTUSE KAR_RETNN;
void queue_usage_free(struct queue_usage *u); /* accepts NULL */
/* A change, as the cache tells it: @old NULL: it is new; @new NULL: it is gone. */
void queue_usage_pod(struct queue_usage *u, const struct kar_pod *old, const struct kar_pod *new)
	__attribute__((nonnull(1)));

/* For each charge of live pods of @ns: how many there are. */
typedef void queue_usage_fn(void *arg, const char *charge, int64_t n);
void queue_usage_each(const struct queue_usage *u, const char *ns, queue_usage_fn *fn, void *arg)
	__attribute__((nonnull(1, 2, 3)));

#endif
