/*
 * failures - on which nodes pods of a gang failed, by exit code or because their kubelet refused them (decision 105). Pure, and kept between passes only.
 */
#ifndef KAR_QUEUE_FAILURES_H
#define KAR_QUEUE_FAILURES_H

#include "api/pod/pod.h"
#include "common/base/mem.h"

enum {
	QUEUE_FAILURES_TWICE = 2,   /* pods that failed on a node which is taken last from then on */
	QUEUE_FAILURES_NODES = 16,  /* of a gang that are given out */
	QUEUE_FAILURES_MAX = 10000, /* pairs of gang and node that are remembered: more are not */
};

struct queue_failures;

struct queue_failures *queue_failures_new(void) KAR_MUSTUSE KAR_RETNN;
void queue_failures_free(struct queue_failures *f); /* accepts NULL */
/* A pod of @group ("ns/name") has failed on @node. */
void queue_failures_note(struct queue_failures *f, const char *group, const char *node) KAR_NONNULL;
/* A change, as a cache tells it (NULL: no pod): a pod of a gang fails. What others did to it, and its deletion, say nothing about its node. */
void queue_failures_pod(struct queue_failures *f, const struct kar_pod *old, const struct kar_pod *new)
	__attribute__((nonnull(1)));
/* The nodes on which that happened twice or more, by name, in *@nodes (in @a); returns how many. */
uint32_t queue_failures_of(struct queue_failures *f, const char *group, struct kar_arena *a,
	const char *const **nodes) KAR_NONNULL;
/* The group is gone. */
void queue_failures_forget(struct queue_failures *f, const char *group) KAR_NONNULL;

#endif
