/*
 * doubts - condition FitUnverified of a PodGroup: what only kube-scheduler knows of its pods, so that its places are no promise
 * (docs/design/podgroup.md, 1). It is of the plan that is made for a group that waits: while the group runs the condition stays as it
 * was. Internal to the shell of the Queue reconciler.
 */
#ifndef KAR_QUEUE_DOUBTS_H
#define KAR_QUEUE_DOUBTS_H

#include "controllers/queue/pass.h"
#include "controllers/queue/runs.h"

/* "volumes (worker), tolerations (main)"; NULL: nothing. @unverified and @names: per run. In the arena of @runs. */
const char *queue_doubts(const struct queue_pass *p, const struct queue_runs *runs, const bool *unverified,
	const char *const *names) KAR_NONNULL;
/* Fills in @out, condition FitUnverified as it is to be. False: it stays as it is. Texts are in the arena of the sync. */
bool queue_unverified(const struct queue_pass *p, const struct queue_group *qg,
	struct kar_condition *out) KAR_NONNULL;

#endif
