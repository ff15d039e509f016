/*
 * rules - the sets of pods about which somebody has a rule (struct kar_pod_rule), and which of them a pod is in. Pure.
 *
 * A pod counts in a set only while the set is *active*. Sets become active, and cease to be, all at one time (kar_rules_flip()), so that what
 * was counted before is counted again by whoever counts. Where nobody has a rule no label is looked at.
 */
#ifndef KAR_RULES_H
#define KAR_RULES_H

#include "api/pod/pod.h"
#include "common/base/intern.h"
#include "common/sched/needs.h"

enum {
	KAR_RULES_ACTIVE =
		256,          /* sets that count at one time; what more there are kube-scheduler alone sees */
	KAR_RULES_OF_POD = 64 /* sets that a pod may be in; one that is in more is unverified */
};

struct kar_rules;

/* A pod that exists, or pods to come. */
struct kar_rules_pod {
	const char *ns;
	const struct kar_sched_label *labels;
	uint32_t n_labels;
	bool dying; /* it terminates */
};

struct kar_rules *kar_rules_new(struct kar_intern *strings) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
void kar_rules_free(struct kar_rules *r); /* accepts NULL */

/*
 * @by 1: needs with these rules are in use; -1: no longer. The rules are those of kar_rules_apply(). @unsure: about sets that are unsure, or about
 * the others: the former count only while there are pods that keep them away.
 */
void kar_rules_use(struct kar_rules *r, const struct kar_pod_needs *needs, bool unsure, int by) KAR_NONNULL;
/* Are there sets that should be active and are not, or the reverse? */
bool kar_rules_are_pending(const struct kar_rules *r) KAR_NONNULL;
/* Is the pod in one of them? */
bool kar_rules_pend_for(const struct kar_rules *r, const struct kar_rules_pod *pod) KAR_NONNULL;
/*
 * Now they are. Pods in these sets are to be counted without them before kar_rules_flip(), and with them after it. Their own rules are in use while
 * they are not counted, too: what becomes active is decided by kar_rules_hold(), and nothing is forgotten before kar_rules_let_go().
 */
void kar_rules_hold(struct kar_rules *r) KAR_NONNULL;
void kar_rules_flip(struct kar_rules *r) KAR_NONNULL;
void kar_rules_let_go(struct kar_rules *r) KAR_NONNULL;
/* Is any set active? If none is, the labels of pods decide nothing. */
bool kar_rules_any(const struct kar_rules *r) KAR_NONNULL;

/*
 * The needs of the pod with its namespace in its rules, and the active sets in which it is, in @a; @needs itself if it has no rules and is in
 * none. A pod that pods may keep away whose rules cannot be read is unverified.
 */
const struct kar_pod_needs *kar_rules_apply(const struct kar_rules *r, const struct kar_pod_needs *needs,
	const struct kar_rules_pod *pod, struct kar_arena *a) KAR_NONNULL KAR_RETNN;

#endif
