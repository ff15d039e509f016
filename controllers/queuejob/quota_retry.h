/*
 * quota_retry - which of the jobs that a ResourceQuota has refused tries again first (docs/decisions/014, 060).
 *
 * A job is admitted only if its pods fit in the quotas, so a create is refused for what the ledger of the queue does not see (a webhook,
 * a RuntimeClass, a quota with other scopes), or because pods of others, or a lower quota, were faster. This is the gate of the
 * create back-off (controllers/runtime/create_backoff.h) for such refusals: it knows no resource and no amount.
 *
 * Per namespace the keys whose last create was refused by a quota are ordered as their pods would be created (kar_rank). The first tries
 * when a wake-up says that there may be room; the others try after it has its pods, or half a minute after their own last answer. A
 * wake-up is a pod of the namespace that ended or is gone, or a quota that has changed. So what is freed goes to the highest
 * priority, a wake-up costs one refused create, and nobody waits for somebody who never fits.
 */
#ifndef KAR_QUEUEJOB_QUOTA_RETRY_H
#define KAR_QUEUEJOB_QUOTA_RETRY_H

#include "common/kube/workqueue.h"
#include "controllers/runtime/create_backoff.h"

struct quota_retry;       /* the refused keys of all namespaces */
struct quota_retry_entry; /* of one key; owned by its back-off */

/* Keys that may try are added to @q, which is borrowed. */
struct quota_retry *quota_retry_new(struct kar_workqueue *q) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
void quota_retry_free(struct quota_retry *r); /* accepts NULL; it has no entries any more */

/* A pod of @ns has ended, or is gone; or a quota has changed. */
void quota_retry_wake(struct quota_retry *r, const char *ns) KAR_NONNULL;
/* A pod of @ns that @key has rolled back is gone: to @key that is no news. */
void quota_retry_wake_others(struct quota_retry *r, const char *ns, const char *key) KAR_NONNULL;

/* Does no other key of the namespace try before it? */
bool quota_retry_is_first(const struct quota_retry_entry *e) KAR_NONNULL;
/* Was there a wake-up since it last tried? */
bool quota_retry_is_woken(const struct quota_retry_entry *e) KAR_NONNULL;

/* Its entries are in queuejob_shared.quotas (memory.h). */
extern const struct kar_create_gate quota_retry_gate;

#endif
