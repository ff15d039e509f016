/*
 * trainingjob - a TrainingJob becomes a QueueJob of its name, and shows how that is (docs/TRAININGJOB.md). The key is the TrainingJob.
 *
 * Queue, gang and pods are the QueueJob's; this only writes its spec, and the status of the TrainingJob.
 * Invariant: once a trainer has succeeded no new one comes, so the QueueJob asks for no more than there are then.
 */
#ifndef KAR_TRAININGJOB_RECONCILER_H
#define KAR_TRAININGJOB_RECONCILER_H

#include "api/types.h"
#include "controllers/runtime/plan.h"

/* Numbers of struct kar_action.what; the payload is a struct trainingjob_make. */
enum { TRAININGJOB_MAKE, TRAININGJOB_PATCH };

struct trainingjob_make {
	const struct kar_trainingjob *t;
	int32_t trainers;    /* replicas of the task trainer */
	const char *made_of; /* for KAR_ANNOTATION_MADE_OF */
	bool annotated;      /* a QueueJob that is patched has annotations */
};

struct trainingjob_view {
	const struct kar_trainingjob *t;
	const struct kar_queuejob *job; /* of its name; NULL: there is none */
	int32_t used; /* the highest index of a trainer that exists or has succeeded, plus one */
	/* What the API server said when the QueueJob of this generation was last written (NULL: nothing), and the reason for it. */
	const char *refused, *refused_for;
	bool again; /* it is time to try that again */
};

void trainingjob_decide(const struct trainingjob_view *v, kar_time now, struct kar_plan *p) KAR_NONNULL;
/* The status that @v asks for, beside .conditions and .scales of what is recorded. */
struct kar_trainingjob_status trainingjob_status(const struct trainingjob_view *v, kar_time now,
	struct kar_arena *arena) KAR_NONNULL;
int trainingjob_encode(const struct kar_action *a, struct kar_buf *out) KAR_NONNULL;

#endif
