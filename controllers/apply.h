/*
 * apply - the one executor of plans, for all controllers.
 *
 * Carries out a sync's plan (see plan.h for the order) and reports how it went. Waiting writes of all keys share one
 * priority queue (kar_rank) and one in-flight limit. Creates of one plan start slowly (1 in flight, one more per
 * success) and stop at the first refusal, so a quota or a webhook that says no costs one
 * request, at most 32 where it went through before (slow_start.h). All that are refused in one plan are one refusal.
 * AlreadyExists is success if the object that exists is controlled by the key's own object (same UID), else a
 * refusal. NotFound on delete or patch is success (somebody was faster). A patch or delete that is refused or meets a
 * Conflict does not hold up the others of its plan; the key is decided anew afterwards. An unknown outcome is never repeated blindly: the key is decided anew behind a fresh read.
 * Every successful write is recorded in the controller's barrier.
 */
#ifndef KAR_APPLY_H
#define KAR_APPLY_H

#include "common/kube/client.h"
#include "common/kube/event.h"
#include "common/loop.h"
#include "controllers/controller.h"

struct kar_executor;

struct kar_executor_options {
	int max_in_flight;        /* writes at once; 0: 200 */
	kar_time status_interval; /* ms between two status writes of a key that are not urgent; 0: 2000 */
};

/* How a plan ended. */
struct kar_outcome {
	enum kar_class what; /* KAR_OK, or the class of the first error */
	struct kar_err err;
	/* Whose error that is, in the plan; NULL: the status write, or none. */
	const struct kar_action *failed;
	kar_time requeue_after; /* ms; KAR_NEVER: not needed */
};

/* Called exactly once per started sync, from the loop. @s and its arena may then be freed. */
typedef void kar_applied_fn(void *arg, struct kar_sync *s, const struct kar_outcome *outcome);

struct kar_executor *kar_executor_new(struct kar_loop *l, struct kar_client *client,
	struct kar_recorder *recorder, const struct kar_executor_options *o, kar_applied_fn *applied,
	void *arg) KAR_MUSTUSE KAR_RETNN;
void kar_executor_free(struct kar_executor *x); /* accepts NULL; nothing may be in flight or wait */
/* Takes over @s until it is applied. */
void kar_executor_start(struct kar_executor *x, struct kar_sync *s) KAR_NONNULL;
/* Graceful stop: what was sent is waited for, what was not is dropped. */
void kar_executor_drain(struct kar_executor *x) KAR_NONNULL;
/* Requests in flight. */
size_t kar_executor_in_flight(const struct kar_executor *x) KAR_NONNULL;

#endif
