/* What the nodes offer a gang, whatever runs on them. */
#include "common/sched/impl.h"

#include <string.h>

/* A node that others have, like those of the control plane, is no news. */
static bool is_plain(const struct kar_node_offer *offer)
{
	static const char of_role[] = "node-role.kubernetes.io/";

	for (uint32_t i = 0; i < offer->n_taints; i++) {
		if (offer->taints[i].effect != KAR_PREFER_NO_SCHEDULE &&
			strncmp(offer->taints[i].key, of_role, sizeof(of_role) - 1) != 0)
			return false;
	}
	return offer->ready && !offer->cordoned;
}

bool kar_sched_all_alike(const struct kar_sched *s, const struct kar_gang *gang)
{
	for (uint32_t i = 0; i < gang->n_roles; i++) {
		const struct kar_pod_needs *needs = s->classes[gang->roles[i].class].needs;

		if (needs->node || needs->n_selector || needs->has_terms || needs->n_ports ||
			sched_is_ruled(&s->classes[gang->roles[i].class]))
			return false;
	}
	for (uint32_t i = 0; i < s->n_nodes; i++) {
		if (s->nodes[i].known && !is_plain(&s->nodes[i].offer))
			return false;
	}
	return true;
}

int64_t kar_sched_offered(const struct kar_sched *s, const char *resource)
{
	uint32_t r = sched_resource(s, resource);

	if (r == SCHED_NONE)
		return 0;
	return s->resources[r].offered > INT64_MAX ? INT64_MAX : (int64_t)s->resources[r].offered;
}

/* The most that a node has, of those that the pod may be on (@all: of all). */
static int64_t most_of(const struct kar_sched *s, const struct sched_class *c, uint32_t resource, bool all)
{
	int64_t most = 0;

	for (uint32_t i = 0; i < s->n_nodes; i++) {
		const struct sched_node *n = &s->nodes[i];

		if (n->known && (all || sched_may_suit(&n->offer, c->needs)))
			most = sched_allocatable(s, i, resource) > most ? sched_allocatable(s, i, resource)
									: most;
	}
	return most;
}

static bool suits_somewhere(const struct kar_sched *s, const struct sched_class *c)
{
	for (uint32_t i = 0; i < s->n_nodes; i++) {
		if (s->nodes[i].known && sched_may_suit(&s->nodes[i].offer, c->needs))
			return true;
	}
	return false;
}

static bool class_exceeds(const struct kar_sched *s, const struct sched_class *c,
	struct kar_sched_excess *out)
{
	if (!suits_somewhere(s, c))
		return false;
	if (c->unknown) {
		*out = (struct kar_sched_excess){ c->unknown->resource, c->unknown->amount, 0, false };
		return true;
	}
	for (uint32_t i = 0; i < c->n_shares; i++) {
		const struct sched_share *x = &c->shares[i];
		int64_t most = most_of(s, c, x->resource, false);

		if (x->amount <= most)
			continue;
		*out = (struct kar_sched_excess){ s->resources[x->resource].name, x->amount, most,
			most_of(s, c, x->resource, true) > most };
		return true;
	}
	return false;
}

bool kar_sched_exceeds_nodes(const struct kar_sched *s, const struct kar_gang *gang,
	struct kar_sched_excess *out)
{
	for (uint32_t i = 0; i < gang->n_roles; i++) {
		if (gang->roles[i].need > 0 && class_exceeds(s, &s->classes[gang->roles[i].class], out))
			return true;
	}
	return false;
}
