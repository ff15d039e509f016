/*
 * quota_line - who tries first when a ResourceQuota may have room again.
 *
 * Per namespace, the keys whose last create was refused by a quota stand in line, in the order in which their pods would be created
 * (kar_rank). A key is a head of the line if nobody before it lacks a resource that it lacks too (of a quota with scopes: of the
 * same quota, since whom else it concerns is not known): heads try, the others wait for them, so what is freed goes to the
 * highest priority, a wake-up costs one refused create per resource, and a job that waits for GPUs is not in the way of one that
 * waits for CPUs. A wake-up is a pod of the namespace that ended or is gone, a quota that has changed, or a key that leaves the
 * line, or gives way in it. create_backoff.h says when a head may try. A key that has not been refused yet stands behind
 * those who go first and lack what it may need.
 */
#ifndef KAR_QUOTA_LINE_H
#define KAR_QUOTA_LINE_H

#include "common/kube/workqueue.h"
#include "controllers/runtime/plan.h"

struct kar_quota_line;
struct kar_quota_place; /* of one key */

/* Keys that may try are added to @q, which is borrowed. */
struct kar_quota_line *kar_quota_line_new(struct kar_workqueue *q) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
void kar_quota_line_free(struct kar_quota_line *l); /* accepts NULL; nobody stands in it any more */

enum {
	KAR_QUOTA_NAME_LEN = 254,
	KAR_QUOTA_LACKS_LEN = 160, /* of the names of resources; of a longer list nothing is known */
};
/* The ResourceQuota that refused something with @text; "": it is not named. */
void kar_quota_read_name(const char *text, char out[KAR_QUOTA_NAME_LEN]) KAR_NONNULL;
/* The resources that it lacked, "pods,requests.cpu"; "": not known. */
void kar_quota_read_requested(const char *text, char out[KAR_QUOTA_LACKS_LEN]) KAR_NONNULL;
/*
 * @key is refused the create with @rank in @ns; @text: the refusal, which names the resources; @scoped: the quota that it names
 * has scopes. @old: its place so far, which is given up, or NULL. Wakes up those who waited for what it lacks no more.
 */
struct kar_quota_place *kar_quota_line_join(struct kar_quota_line *l, struct kar_quota_place *old,
	const char *ns, const char *key, const struct kar_rank *rank, const char *text,
	bool scoped) KAR_MUSTUSE KAR_RETNN __attribute__((nonnull(1, 3, 4, 5, 6)));
/* The next create of its key has @rank. Wakes up those who need not wait for it any more. */
void kar_quota_place_move(struct kar_quota_place *p, const struct kar_rank *rank) KAR_NONNULL;
/* Wakes up those who waited for it. */
void kar_quota_line_leave(struct kar_quota_place *p); /* accepts NULL */
/* A pod of @ns has ended, or is gone; or a quota has changed. */
void kar_quota_line_wake(struct kar_quota_line *l, const char *ns) KAR_NONNULL;
/* A pod of @ns that @key has taken back is gone: for the others that is room, to @key it says nothing. */
void kar_quota_line_wake_others(struct kar_quota_line *l, const char *ns, const char *key) KAR_NONNULL;

/* May the pods of @arg need @resource ("pods", "requests.cpu"; "": not known) of the ResourceQuota @quota ("": not known)? */
typedef bool kar_may_need_fn(const void *arg, const char *quota, const char *resource);
/* The first of those who go before a create with @rank of @key in @ns and lack what it may need; NULL: there is none. */
const struct kar_quota_place *kar_quota_line_ahead(struct kar_quota_line *l, const char *ns, const char *key,
	const struct kar_rank *rank, kar_may_need_fn *may_need, const void *arg)
	__attribute__((nonnull(1, 2, 3, 4, 5)));
/* @key, which has @rank, waits behind @ahead without having been refused. @old: as above. */
struct kar_quota_place *kar_quota_line_stand_behind(const struct kar_quota_place *ahead,
	struct kar_quota_place *old, const char *key, const struct kar_rank *rank) KAR_MUSTUSE KAR_RETNN
	__attribute__((nonnull(1, 3, 4)));

/* Whose it is; what it lacks ("pods,requests.cpu"; "": not known), and of which ResourceQuota. */
const char *kar_quota_place_key(const struct kar_quota_place *p) KAR_NONNULL KAR_RETNN;
const char *kar_quota_place_requested(const struct kar_quota_place *p) KAR_NONNULL KAR_RETNN;
const char *kar_quota_place_quota(const struct kar_quota_place *p) KAR_NONNULL KAR_RETNN;
bool kar_quota_place_is_head(const struct kar_quota_place *p) KAR_NONNULL;
/* Was there a wake-up since it last tried? */
bool kar_quota_place_is_woken(const struct kar_quota_place *p) KAR_NONNULL;
/* It tries now. */
void kar_quota_place_try(struct kar_quota_place *p) KAR_NONNULL;

#endif
