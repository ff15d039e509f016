/* What equal needs are. */
#include "common/sched/needs.h"

const struct kar_pod_needs kar_no_needs;

static const struct kar_part amount_parts[] = {
	KAR_TEXT(struct kar_sched_amount, resource),
	KAR_VALUE(struct kar_sched_amount, amount),
};
static const struct kar_shape amount_shape = KAR_SHAPE(struct kar_sched_amount, amount_parts);

static const struct kar_part label_parts[] = {
	KAR_TEXT(struct kar_sched_label, key),
	KAR_TEXT(struct kar_sched_label, value),
};
const struct kar_shape kar_label_shape = KAR_SHAPE(struct kar_sched_label, label_parts);

static const struct kar_part toleration_parts[] = {
	KAR_TEXT(struct kar_toleration, key),
	KAR_TEXT(struct kar_toleration, value),
	KAR_VALUE(struct kar_toleration, effect),
	KAR_VALUE(struct kar_toleration, exists),
	KAR_VALUE(struct kar_toleration, unknown),
};
const struct kar_shape kar_toleration_shape = KAR_SHAPE(struct kar_toleration, toleration_parts);

static const struct kar_part requirement_parts[] = {
	KAR_TEXT(struct kar_requirement, key),
	KAR_VALUE(struct kar_requirement, op),
	KAR_VALUE(struct kar_requirement, field),
	KAR_LIST(struct kar_requirement, values, n_values, &kar_text_shape),
};
const struct kar_shape kar_requirement_shape = KAR_SHAPE(struct kar_requirement, requirement_parts);

static const struct kar_part term_parts[] = {
	KAR_LIST(struct kar_node_term, requirements, n, &kar_requirement_shape),
};
const struct kar_shape kar_term_shape = KAR_SHAPE(struct kar_node_term, term_parts);

static const struct kar_part port_parts[] = {
	KAR_VALUE(struct kar_host_port, port),
	KAR_TEXT(struct kar_host_port, ip),
	KAR_TEXT(struct kar_host_port, protocol),
};
const struct kar_shape kar_port_shape = KAR_SHAPE(struct kar_host_port, port_parts);

#define SET_PARTS(struct_, at_) \
	KAR_LIST(struct_, at_ namespaces, at_ n_namespaces, &kar_text_shape), \
		KAR_LIST(struct_, at_ labels, at_ n_labels, &kar_requirement_shape), \
		KAR_VALUE(struct_, at_ own), KAR_VALUE(struct_, at_ nothing), \
		KAR_VALUE(struct_, at_ living), KAR_VALUE(struct_, at_ unsure)

static const struct kar_part set_parts[] = { SET_PARTS(struct kar_pod_set, ) };
const struct kar_shape kar_set_shape = KAR_SHAPE(struct kar_pod_set, set_parts);

static const struct kar_part rule_parts[] = {
	KAR_VALUE(struct kar_pod_rule, kind),
	KAR_TEXT(struct kar_pod_rule, key),
	SET_PARTS(struct kar_pod_rule, of.),
	KAR_VALUE(struct kar_pod_rule, max_skew),
	KAR_VALUE(struct kar_pod_rule, min_domains),
	KAR_VALUE(struct kar_pod_rule, any_affinity),
	KAR_VALUE(struct kar_pod_rule, only_tolerated),
};
const struct kar_shape kar_rule_shape = KAR_SHAPE(struct kar_pod_rule, rule_parts);

static const struct kar_part volume_parts[] = {
	KAR_TEXT(struct kar_volume_need, claim),
	KAR_TEXT(struct kar_volume_need, class),
};
const struct kar_shape kar_volume_shape = KAR_SHAPE(struct kar_volume_need, volume_parts);

static const struct kar_part claim_parts[] = {
	KAR_TEXT(struct kar_claim_need, name),
	KAR_TEXT(struct kar_claim_need, claim),
	KAR_TEXT(struct kar_claim_need, template),
};
const struct kar_shape kar_claim_shape = KAR_SHAPE(struct kar_claim_need, claim_parts);

static const struct kar_part needs_parts[] = {
	KAR_LIST(struct kar_pod_needs, amounts, n_amounts, &amount_shape),
	KAR_VALUE(struct kar_pod_needs, room_only),
	KAR_LIST(struct kar_pod_needs, ports, n_ports, &kar_port_shape),
	KAR_LIST(struct kar_pod_needs, selector, n_selector, &kar_label_shape),
	KAR_VALUE(struct kar_pod_needs, has_terms),
	KAR_LIST(struct kar_pod_needs, terms, n_terms, &kar_term_shape),
	KAR_LIST(struct kar_pod_needs, tolerations, n_tolerations, &kar_toleration_shape),
	KAR_LIST(struct kar_pod_needs, rules, n_rules, &kar_rule_shape),
	KAR_LIST(struct kar_pod_needs, sets, n_sets, &kar_set_shape),
	KAR_LIST(struct kar_pod_needs, volumes, n_volumes, &kar_volume_shape),
	KAR_LIST(struct kar_pod_needs, claims, n_claims, &kar_claim_shape),
	KAR_TEXT(struct kar_pod_needs, node),
	KAR_TEXT(struct kar_pod_needs, unverified),
};
const struct kar_shape kar_needs_shape = KAR_SHAPE(struct kar_pod_needs, needs_parts);
