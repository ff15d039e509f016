#include "test/sim/rules.h"

static const struct {
	const struct rule *rules;
	const size_t *n;
} sets[] = {
	{ rules_of_asks, &n_rules_of_asks },
	{ rules_of_pods, &n_rules_of_pods },
	{ rules_of_status, &n_rules_of_status },
	{ rules_of_order, &n_rules_of_order },
	{ rules_of_policy, &n_rules_of_policy },
	{ rules_of_network, &n_rules_of_network },
	{ rules_of_queue, &n_rules_of_queue },
	{ rules_of_quota, &n_rules_of_quota },
	{ rules_of_nodes, &n_rules_of_nodes },
	{ rules_of_room, &n_rules_of_room },
	{ rules_of_pins, &n_rules_of_pins },
	{ rules_of_evictions, &n_rules_of_evictions },
	{ rules_of_shares, &n_rules_of_shares },
	{ rules_of_gangs, &n_rules_of_gangs },
	{ rules_of_limit, &n_rules_of_limit },
	{ rules_of_limits, &n_rules_of_limits },
	{ rules_of_life, &n_rules_of_life },
	{ rules_of_spec, &n_rules_of_spec },
	{ rules_of_tenants, &n_rules_of_tenants },
	{ rules_of_time, &n_rules_of_time },
	{ rules_of_topology, &n_rules_of_topology },
};

const struct rule *rules_at(size_t i)
{
	for (size_t s = 0; s < KAR_LEN(sets); i -= *sets[s++].n) {
		if (i < *sets[s].n)
			return &sets[s].rules[i];
	}
	return NULL;
}

void rules_check(const struct write *w, enum rule_when when)
{
	const struct rule *r;

	for (size_t i = 0; (r = rules_at(i)) != NULL; i++) {
		if (r->when == when && !w->l->broken)
			r->check(r, w);
	}
}
