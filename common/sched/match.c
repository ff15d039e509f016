/* What kube-scheduler asks of a node whatever else runs there. */
#include "common/sched/needs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *label_of(const struct kar_node_offer *node, const char *key)
{
	for (uint32_t i = 0; i < node->n_labels; i++) {
		if (strcmp(node->labels[i].key, key) == 0)
			return node->labels[i].value;
	}
	return NULL;
}

/* Labels and values of Gt and Lt are whole numbers; a text that is none compares with nothing. */
static bool read_number(const char *text, int64_t *out)
{
	char *end;
	long long n;

	errno = 0;
	n = strtoll(text, &end, 10);
	if (errno || end == text || *end || text[0] == ' ' || text[0] == '\t')
		return false;
	*out = n;
	return true;
}

static bool compares(const char *value, const struct kar_requirement *r)
{
	int64_t have, limit;

	if (!value || r->n_values != 1 || !read_number(value, &have) || !read_number(r->values[0], &limit))
		return false;
	return r->op == KAR_OP_GT ? have > limit : have < limit;
}

static bool is_among(const char *value, const struct kar_requirement *r)
{
	for (uint32_t i = 0; value && i < r->n_values; i++) {
		if (strcmp(value, r->values[i]) == 0)
			return true;
	}
	return false;
}

static bool value_suits(const char *value, const struct kar_requirement *r)
{
	switch (r->op) {
	case KAR_OP_IN:
		return is_among(value, r);
	case KAR_OP_NOT_IN:
		return !is_among(value, r);
	case KAR_OP_EXISTS:
		return value;
	case KAR_OP_DOES_NOT_EXIST:
		return !value;
	default:
		return compares(value, r);
	}
}

static bool requirement_holds(const struct kar_node_offer *node, const struct kar_requirement *r)
{
	return value_suits(r->field ? node->name : label_of(node, r->key), r);
}

static bool term_holds(const struct kar_node_offer *node, const struct kar_node_term *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		if (!requirement_holds(node, &t->requirements[i]))
			return false;
	}
	return t->n;
}

static bool is_selected(const struct kar_node_offer *node, const struct kar_pod_needs *pod)
{
	for (uint32_t i = 0; i < pod->n_selector; i++) {
		const char *value = label_of(node, pod->selector[i].key);

		if (!value || strcmp(value, pod->selector[i].value) != 0)
			return false;
	}
	for (uint32_t i = 0; i < pod->n_terms; i++) {
		if (term_holds(node, &pod->terms[i]))
			return true;
	}
	return !pod->has_terms;
}

static bool tolerates(const struct kar_toleration *t, const struct kar_taint *taint)
{
	if (t->unknown || (t->effect != KAR_NO_EFFECT && t->effect != taint->effect))
		return false;
	if (t->key && strcmp(t->key, taint->key) != 0)
		return false;
	return t->exists || strcmp(t->value, taint->value) == 0;
}

static bool is_tolerated(const struct kar_pod_needs *pod, const struct kar_taint *taint)
{
	for (uint32_t i = 0; i < pod->n_tolerations; i++) {
		if (tolerates(&pod->tolerations[i], taint))
			return true;
	}
	return taint->effect == KAR_NO_EFFECT || taint->effect == KAR_PREFER_NO_SCHEDULE;
}

/* A cordoned node has this taint as well, but for a moment after it was cordoned. */
static bool tolerates_cordon(const struct kar_pod_needs *pod)
{
	static const struct kar_taint cordon = { .key = "node.kubernetes.io/unschedulable",
		.value = "",
		.effect = KAR_NO_SCHEDULE };

	return is_tolerated(pod, &cordon);
}

/* The node controller sets and removes it with the state of the node. */
static bool is_of_state(const struct kar_taint *t)
{
	static const char prefix[] = "node.kubernetes.io/";

	return strncmp(t->key, prefix, sizeof(prefix) - 1) == 0;
}

/* Taints and labels; @state: taints of its state count. */
static enum kar_obstacle match_rest(const struct kar_node_offer *node, const struct kar_pod_needs *pod,
	bool state, const char **taint)
{
	for (uint32_t i = 0; i < node->n_taints; i++) {
		const struct kar_taint *t = &node->taints[i];

		if ((!state && is_of_state(t)) || is_tolerated(pod, t))
			continue;
		if (taint)
			*taint = t->key;
		return KAR_TAINTED;
	}
	return is_selected(node, pod) ? KAR_FITS : KAR_EXCLUDED;
}

enum kar_obstacle kar_sched_match(const struct kar_node_offer *node, const struct kar_pod_needs *pod,
	const char **taint)
{
	if (pod->node)
		return strcmp(pod->node, node->name) == 0 ? KAR_FITS : KAR_OTHER_NODE;
	if (!node->ready)
		return KAR_NOT_READY;
	if (node->cordoned && !tolerates_cordon(pod))
		return KAR_CORDONED;
	return match_rest(node, pod, true, taint);
}

enum kar_obstacle kar_sched_match_at_best(const struct kar_node_offer *node, const struct kar_pod_needs *pod,
	const char **taint)
{
	if (pod->node)
		return strcmp(pod->node, node->name) == 0 ? KAR_FITS : KAR_OTHER_NODE;
	return match_rest(node, pod, false, taint);
}

bool kar_sched_counts_for_spread(const struct kar_node_offer *node, const struct kar_pod_needs *pod,
	bool affinity, bool taints)
{
	for (uint32_t i = 0; taints && i < node->n_taints; i++) {
		if (!is_tolerated(pod, &node->taints[i]))
			return false;
	}
	return !affinity || is_selected(node, pod);
}

static const char *value_of(const struct kar_sched_label *labels, uint32_t n, const char *key)
{
	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(labels[i].key, key) == 0)
			return labels[i].value;
	}
	return NULL;
}

static bool is_of_namespace(const struct kar_pod_set *set, const char *ns)
{
	for (uint32_t i = 0; i < set->n_namespaces; i++) {
		if (strcmp(set->namespaces[i], ns) == 0)
			return true;
	}
	return set->own || !set->n_namespaces;
}

bool kar_pod_set_has(const struct kar_pod_set *set, const char *ns, const struct kar_sched_label *labels,
	uint32_t n, bool dying)
{
	if (set->nothing || (dying && set->living) || !is_of_namespace(set, ns))
		return false;
	for (uint32_t i = 0; i < set->n_labels; i++) {
		if (!value_suits(value_of(labels, n, set->labels[i].key), &set->labels[i]))
			return false;
	}
	return true;
}

static bool is_any_address(const char *ip)
{
	return !ip[0] || strcmp(ip, "0.0.0.0") == 0;
}

bool kar_sched_ports_meet(const struct kar_host_port *a, const struct kar_host_port *b)
{
	return a->port == b->port && strcmp(a->protocol, b->protocol) == 0 &&
		(is_any_address(a->ip) || is_any_address(b->ip) || strcmp(a->ip, b->ip) == 0);
}

bool kar_sched_usable(const struct kar_node_offer *node)
{
	static const char *const reserved[] = { "node.kubernetes.io/", "node-role.kubernetes.io/" };

	for (uint32_t i = 0; i < node->n_taints; i++) {
		const struct kar_taint *t = &node->taints[i];

		if (t->effect == KAR_PREFER_NO_SCHEDULE)
			continue;
		for (size_t k = 0; k < KAR_LEN(reserved); k++) {
			if (strncmp(t->key, reserved[k], strlen(reserved[k])) == 0)
				return false;
		}
	}
	return node->ready && !node->cordoned;
}
