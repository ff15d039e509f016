/*
 * executor - the one executor of plans, for all controllers.
 *
 * Carries out a sync's plan (see plan.h for the order) and reports the outcome. The waiting writes of all keys share one in-flight
 * limit; ranks and the turns of namespaces decide which is sent next (turns.h). The actions of a plan whose key has no namespace
 * must be independent: they are sorted so that namespaces take turns, and if the key is enqueued meanwhile, the plan ends after its
 * first writes and the key is decided again.
 *
 * Creates of one plan start slowly (1 in flight, one more per success) and stop at the first refusal, so a webhook that refuses
 * costs one request, or at most 32 after a plan that succeeded (slow_start.h). All refusals of one plan count as one.
 * AlreadyExists is a success if the existing object is controlled by the key's own object (same UID), else a refusal. NotFound on
 * delete or patch is a success. A patch or delete that is refused or meets a Conflict does not stop the others of its plan; the key
 * is decided again afterwards. A write with an unknown outcome is never repeated blindly: the key is decided again after a fresh read.
 * Every successful write is recorded in the controller's barrier.
 */
#ifndef KAR_EXECUTOR_H
#define KAR_EXECUTOR_H

#include "common/kube/client.h"
#include "common/kube/event.h"
#include "common/loop/loop.h"
#include "controllers/runtime/controller.h"

struct kar_executor;

struct kar_executor_options {
	int max_in_flight;        /* writes at once; 0: 64 */
	kar_time status_interval; /* ms between two status writes of a key that are not urgent; 0: 1000 */
};

/* How a plan ended. */
struct kar_outcome {
	enum kar_class what; /* KAR_OK, or the class of the first error */
	struct kar_err err;
	/* The action of the plan that failed with .err; NULL: the status write, or none. */
	const struct kar_action *failed;
	kar_time requeue_after; /* ms; KAR_NEVER: not needed */
	bool status_waits; /* the status write is held back until .requeue_after, so its outcome is not known yet */
};

/* Called exactly once per started sync, from the loop. @s and its arena may then be freed. */
typedef void kar_applied_fn(void *arg, struct kar_sync *s, const struct kar_outcome *outcome);

struct kar_executor *kar_executor_new(struct kar_loop *l, struct kar_client *client,
	struct kar_recorder *recorder, const struct kar_executor_options *o, kar_applied_fn *applied,
	void *arg) KAR_MUSTUSE KAR_RETNN;
void kar_executor_free(struct kar_executor *x); /* accepts NULL; nothing may be in flight or waiting */
/* Takes over @s until it is applied. */
void kar_executor_start(struct kar_executor *x, struct kar_sync *s) KAR_NONNULL;
/* Graceful stop: waits for the writes that were sent, and drops the others. */
void kar_executor_drain(struct kar_executor *x) KAR_NONNULL;
/* Requests in flight. */
size_t kar_executor_in_flight(const struct kar_executor *x) KAR_NONNULL;

#endif
