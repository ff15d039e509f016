#include "test/sim/rules.h"

const struct rule *rules_at(size_t i)
{
	if (i < n_rules_of_asks)
		return &rules_of_asks[i];
	i -= n_rules_of_asks;
	if (i < n_rules_of_pods)
		return &rules_of_pods[i];
	i -= n_rules_of_pods;
	if (i < n_rules_of_status)
		return &rules_of_status[i];
	i -= n_rules_of_status;
	if (i < n_rules_of_order)
		return &rules_of_order[i];
	i -= n_rules_of_order;
	if (i < n_rules_of_policy)
		return &rules_of_policy[i];
	i -= n_rules_of_policy;
	if (i < n_rules_of_network)
		return &rules_of_network[i];
	i -= n_rules_of_network;
	if (i < n_rules_of_quota)
		return &rules_of_quota[i];
	i -= n_rules_of_quota;
	if (i < n_rules_of_nodes)
		return &rules_of_nodes[i];
	i -= n_rules_of_nodes;
	if (i < n_rules_of_limit)
		return &rules_of_limit[i];
	i -= n_rules_of_limit;
	if (i < n_rules_of_life)
		return &rules_of_life[i];
	i -= n_rules_of_life;
	if (i < n_rules_of_spec)
		return &rules_of_spec[i];
	i -= n_rules_of_spec;
	return i < n_rules_of_time ? &rules_of_time[i] : NULL;
}

void rules_check(const struct write *w, enum rule_when when)
{
	const struct rule *r;

	for (size_t i = 0; (r = rules_at(i)) != NULL; i++) {
		if (r->when == when && !w->l->broken)
			r->check(r, w);
	}
}
