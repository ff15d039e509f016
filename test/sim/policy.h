/*
 * policy - what a failure policy says about a pod, as an observer reads it from the API objects: on purpose another
 * implementation than that under test.
 */
#ifndef TEST_SIM_POLICY_H
#define TEST_SIM_POLICY_H

#include "api/queuejob/queuejob_policy.h"
#include "sim/tree.h"

/* The action of the first rule of @job that matches the loss of @pod, which is of @task; NONE: there is no such rule. */
enum kar_failure_action policy_action(const struct sim_value *job, const struct sim_value *pod,
	const char *task) KAR_NONNULL;
/* Has the policy of @job, if it has one, a rule with this action? */
bool policy_has(const struct sim_value *job, enum kar_failure_action action) KAR_NONNULL;

#endif
