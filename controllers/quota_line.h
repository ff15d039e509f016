/*
 * quota_line - who tries first when a ResourceQuota may have room again.
 *
 * Per namespace, the keys whose last create was refused by a quota stand in line, in the order in which their pods would be created
 * (kar_rank). A key is a head of the line if nobody before it lacks a resource that it lacks too: heads try, the
 * others wait for them, so what is freed goes to the highest priority, a wake-up costs one refused create per
 * resource, and a job that waits for GPUs is not in the way of one that waits for CPUs. A wake-up is a pod of
 * the namespace that ended or is gone, or a key that leaves the line. See refusal.h, which says when a head may try.
 */
#ifndef KAR_QUOTA_LINE_H
#define KAR_QUOTA_LINE_H

#include "common/kube/workqueue.h"
#include "controllers/plan.h"

struct kar_quota_line;
struct kar_quota_place; /* of one key */

/* Keys that may try are added to @q, which is borrowed. */
struct kar_quota_line *kar_quota_line_new(struct kar_workqueue *q) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
void kar_quota_line_free(struct kar_quota_line *l); /* accepts NULL; nobody stands in it any more */

/* Is @text the API server's word that a ResourceQuota is exceeded? */
bool kar_quota_exceeded(const char *text) KAR_NONNULL;
/*
 * @key is refused the create with @rank in @ns; @text: the refusal, which names the resources. @old: its place so far,
 * which is given up, or NULL.
 */
struct kar_quota_place *kar_quota_line_join(struct kar_quota_line *l, struct kar_quota_place *old,
	const char *ns, const char *key, const struct kar_rank *rank, const char *text) KAR_MUSTUSE KAR_RETNN
	__attribute__((nonnull(1, 3, 4, 5, 6)));
/* Wakes up those who waited for it. */
void kar_quota_line_leave(struct kar_quota_place *p); /* accepts NULL */
/* A pod of @ns has ended, or is gone. */
void kar_quota_line_wake(struct kar_quota_line *l, const char *ns) KAR_NONNULL;

bool kar_quota_place_is_head(const struct kar_quota_place *p) KAR_NONNULL;
/* Was there a wake-up since it last tried? */
bool kar_quota_place_is_woken(const struct kar_quota_place *p) KAR_NONNULL;
/* It tries now. */
void kar_quota_place_try(struct kar_quota_place *p) KAR_NONNULL;

#endif
