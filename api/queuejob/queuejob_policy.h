/*
 * queuejob_policy - spec.failurePolicy of a QueueJob: the action for each kind of loss (docs/FAILURE-POLICY.md).
 *
 * The first rule that matches a lost pod wins. All matchers of a rule must match; a rule without matchers matches every loss.
 * Within a matcher one matching value is enough. controllers/queuejob/failure_policy.c does the matching.
 */
#ifndef KAR_API_QUEUEJOB_POLICY_H
#define KAR_API_QUEUEJOB_POLICY_H

#include "api/pod/pod.h"

struct kar_queuejob;

/* In the order of precedence when several pods are lost at once: a later one overrides the earlier ones. */
enum kar_failure_action {
	KAR_FAILURE_NONE, /* no rule, or one with an unknown action */
	KAR_FAILURE_IGNORE,
	KAR_FAILURE_RECREATE_POD,
	KAR_FAILURE_FAIL_INDEX,
	KAR_FAILURE_RESTART_TASK,
	KAR_FAILURE_RESTART_JOB,
	KAR_FAILURE_COMPLETE_JOB,
	KAR_FAILURE_FAIL_JOB,
};
const char *kar_failure_action_name(enum kar_failure_action a) KAR_RETNN; /* "Ignore" ...; "" for NONE */

enum kar_exit_operator { KAR_EXIT_ANY, KAR_EXIT_IN, KAR_EXIT_NOT_IN, KAR_EXIT_UNKNOWN };

enum { KAR_FAILURE_RULES_MAX = 20, KAR_EXIT_CODES_MAX = 255 }; /* the CRD's bounds */

struct kar_failure_rule {
	enum kar_failure_action action;
	struct kar_array tasks;               /* const char *: names; n == 0: all */
	enum kar_exit_operator exit_operator; /* KAR_EXIT_ANY: the rule does not match exit codes */
	const char *container;                /* NULL: any container */
	const int32_t *codes;
	size_t n_codes;
	struct kar_array conditions; /* struct kar_pod_condition; n == 0: not matched */
	struct kar_array reasons;    /* const char *; n == 0: not matched */
};

struct kar_failure_policy {
	const struct kar_failure_rule *rules;
	size_t n;
};

/* Why the failure policy of @job is invalid, as a text in its arena; NULL: it is valid. The CRD rejects most errors earlier. */
const char *kar_failure_policy_check(struct kar_queuejob *job) KAR_NONNULL;

#endif
