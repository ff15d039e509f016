/*
 * rules - what must hold after every committed write. Each rule is one small function with a name and a sentence.
 */
#ifndef TEST_SIM_RULES_H
#define TEST_SIM_RULES_H

#include "test/sim/ledger.h"

/* One write, and what the ledger knew before it. */
struct write {
	struct ledger *l;
	const struct sim_change *c;
	struct ledger_job *job; /* of the object; NULL: unknown */
	struct ledger_pod *pod; /* of a pod that is known; NULL: being created */
	bool by_manager;
};

enum rule_when {
	RULE_POD_CREATED,
	RULE_POD_CHANGED, /* or removed */
	RULE_JOB_CHANGED,
	RULE_GROUP_CHANGED,
};

struct rule {
	enum rule_when when;
	const char *name, *text;
	/* Calls ledger_break() if the rule is broken. */
	void (*check)(const struct rule *r, const struct write *w);
};

/* Checks all rules that are about this kind of write. */
void rules_check(const struct write *w, enum rule_when when) KAR_NONNULL;
/* The i-th rule; NULL past the end. For lists of them. */
const struct rule *rules_at(size_t i);

extern const struct rule rules_of_pods[], rules_of_status[];
extern const size_t n_rules_of_pods, n_rules_of_status;

#endif
