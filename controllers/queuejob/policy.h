/*
 * policy - which rule of spec.failurePolicy a loss falls under. Pure.
 */
#ifndef KAR_QUEUEJOB_POLICY_H
#define KAR_QUEUEJOB_POLICY_H

#include "api/queuejob.h"

/*
 * The first rule that the loss of @pod falls under; NULL: none, so that the default is done. A pod that is being deleted has
 * not failed: its containers count only as far as they ended before that was asked for (struct kar_pod_loss).
 */
const struct kar_failure_rule *queuejob_policy_match(const struct kar_queuejob *job,
	const struct kar_pod *pod) KAR_NONNULL;

/* The exit of @pod that @rule asks for; NULL: there is none, or it asks for none. */
const struct kar_pod_exit *queuejob_policy_exit(const struct kar_failure_rule *rule,
	const struct kar_pod *pod) KAR_NONNULL;

#endif
