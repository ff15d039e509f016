#include "test/sim/rules.h"

const struct rule *rules_at(size_t i)
{
	if (i < n_rules_of_pods)
		return &rules_of_pods[i];
	i -= n_rules_of_pods;
	return i < n_rules_of_status ? &rules_of_status[i] : NULL;
}

void rules_check(const struct write *w, enum rule_when when)
{
	const struct rule *r;

	for (size_t i = 0; (r = rules_at(i)) != NULL; i++) {
		if (r->when == when && !w->l->broken)
			r->check(r, w);
	}
}
