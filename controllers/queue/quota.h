/*
 * quota - the ledger of one pass, from the caches: which pods are charged by which rows (ledger.h). Internal to the shell of the Queue
 * reconciler.
 *
 * Charges of a workload, for pods that exist and for those to come, are those of a pod of the template now, with the defaults of the
 * LimitRanges. Charges of a group of others are those of its members, as the API server has admitted them.
 */
#ifndef KAR_QUEUE_QUOTA_H
#define KAR_QUEUE_QUOTA_H

#include "controllers/cluster/stores.h"
#include "controllers/queue/ledger.h"
#include "controllers/workload.h"

struct queue_quota;

/* All arguments are borrowed for as long as the pass. */
struct queue_quota *queue_quota_begin(const struct kar_stores *stores,
	struct kar_arena *arena) KAR_NONNULL KAR_RETNN;

/* A pod of @role in the namespace @ns. NULL: no quota of that limits pods, or nothing is known of the template. */
const struct queue_charges *queue_quota_of_role(struct queue_quota *q, const char *ns,
	const struct kar_workload_role *role) __attribute__((nonnull(1, 3)));
/* NULL: no quota of its namespace limits pods, or the pod has ended. */
const struct queue_charges *queue_quota_of_pod(struct queue_quota *q, const struct kar_pod *pod) KAR_NONNULL;

/* Fills in what room for members of @g to come is charged with; nothing if that is reserved in another way (spec.totalResources of @group). */
void queue_quota_hold(struct queue_quota *q, const struct kar_podgroup *group,
	struct kar_queue_group *g) KAR_NONNULL;
/* @pod belongs to a group of the pass, whose runs or what leaves are charged for it. */
void queue_quota_owns(struct queue_quota *q, const struct kar_pod *pod) KAR_NONNULL;
/*
 * The group is complete: it keeps what the pods are charged with that it may have, and those that leave beyond these, as
 * the pass charges them.
 */
void queue_quota_group(struct queue_quota *q, const struct kar_queue_group *g) KAR_NONNULL;

/*
 * The group of another controller asks for room for members to come, if it has spec.totalResources: NULL otherwise. Those of higher rank
 * first. What becomes of it is known after queue_quota_end(). @now: wall ms.
 */
const struct queue_reservation *queue_quota_reserve(struct queue_quota *q, const struct kar_podgroup *g,
	kar_time now) KAR_NONNULL;
/* "insufficient requests.cpu: 3 requested, 2 of 4 free (1 short), quota c has 4, used 2", in the arena of the pass: why it is not granted. */
const char *queue_quota_describe(const struct queue_quota *q,
	const struct queue_reservation *r) KAR_NONNULL KAR_RETNN;

/*
 * Fills in .rows of the snapshot, when all groups are complete. @said: what quotas said in the passes before (NULL: nothing is remembered);
 * @mono, *@again_in: as for queue_said_of().
 */
void queue_quota_end(struct queue_quota *q, struct kar_queue_snapshot *snapshot, struct queue_said *said,
	kar_time mono, kar_time *again_in) __attribute__((nonnull(1, 2, 5)));

#endif
