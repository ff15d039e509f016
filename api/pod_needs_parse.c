/* From the text of needs back to struct kar_pod_needs. */
#include "api/pod_needs.h"

#include <string.h>

#include <bsd/stdlib.h>

#include "api/placement_words.h"
#include "common/json.h"
#include "common/str.h"

struct text_requirement {
	const char *key, *op;
	bool field;
	struct kar_array values; /* const char * */
};

struct text_term {
	struct kar_array all; /* struct text_requirement */
};

struct text_port {
	const char *ip, *protocol;
	int32_t port;
};

struct text_toleration {
	const char *effect, *key, *value;
	bool has_value;
};

struct text_needs {
	struct kar_array affinity; /* struct text_term */
	bool has_affinity;
	const char *node;
	struct kar_array ports;              /* struct text_port */
	struct kar_array requests, selector; /* struct kar_pair */
	struct kar_array tolerations;        /* struct text_toleration */
	const char *unverified;
};

static const struct kar_field requirement_fields[] = {
	KAR_FIELD(struct text_requirement, key, "key", KAR_F_STRING),
	KAR_FIELD(struct text_requirement, op, "op", KAR_F_STRING),
	KAR_FIELD(struct text_requirement, field, "field", KAR_F_BOOL),
	KAR_FIELD(struct text_requirement, values, "values", KAR_F_ARRAY),
};
static const struct kar_desc requirement_desc =
	KAR_DESC("requirement", struct text_requirement, requirement_fields);

static const struct kar_field term_fields[] = {
	KAR_FIELD_SUB(struct text_term, all, "all", KAR_F_ARRAY, &requirement_desc),
};
static const struct kar_desc term_desc = KAR_DESC("term", struct text_term, term_fields);

static const struct kar_field port_fields[] = {
	KAR_FIELD(struct text_port, ip, "ip", KAR_F_STRING),
	KAR_FIELD(struct text_port, port, "port", KAR_F_INT32),
	KAR_FIELD(struct text_port, protocol, "protocol", KAR_F_STRING),
};
static const struct kar_desc port_desc = KAR_DESC("port", struct text_port, port_fields);

static const struct kar_field toleration_fields[] = {
	KAR_FIELD(struct text_toleration, effect, "effect", KAR_F_STRING),
	KAR_FIELD(struct text_toleration, key, "key", KAR_F_STRING),
	KAR_FIELD_OPT(struct text_toleration, value, has_value, "value", KAR_F_STRING),
};
static const struct kar_desc toleration_desc =
	KAR_DESC("toleration", struct text_toleration, toleration_fields);

static const struct kar_field needs_fields[] = {
	{ .name = "affinity",
		.type = KAR_F_ARRAY,
		.offset = offsetof(struct text_needs, affinity),
		.has = offsetof(struct text_needs, has_affinity),
		.sub = &term_desc },
	KAR_FIELD(struct text_needs, node, "node", KAR_F_STRING),
	KAR_FIELD_SUB(struct text_needs, ports, "ports", KAR_F_ARRAY, &port_desc),
	KAR_FIELD(struct text_needs, requests, "requests", KAR_F_MAP),
	KAR_FIELD(struct text_needs, selector, "selector", KAR_F_MAP),
	KAR_FIELD_SUB(struct text_needs, tolerations, "tolerations", KAR_F_ARRAY, &toleration_desc),
	KAR_FIELD(struct text_needs, unverified, "unverified", KAR_F_STRING),
};
static const struct kar_desc needs_desc = KAR_DESC("needs", struct text_needs, needs_fields);

static const char *text_or(const char *s, const char *otherwise)
{
	return s ? s : otherwise;
}

static int read_requirements(const struct kar_array *from, struct kar_arena *a, struct kar_node_term *out,
	struct kar_err *err)
{
	struct kar_requirement *all = kar_arena_alloc(a, from->n + 1, sizeof(*all));
	const struct text_requirement *t = from->items;

	for (size_t i = 0; i < from->n; i++) {
		all[i] =
			(struct kar_requirement){ .key = t[i].field ? "metadata.name" : text_or(t[i].key, ""),
				.field = t[i].field,
				.values = t[i].values.items,
				.n_values = (uint32_t)t[i].values.n };
		if (!kar_operator_read(t[i].op, &all[i].op))
			return kar_fail(err, KAR_INVALID, "needs: unknown operator %s", text_or(t[i].op, ""));
	}
	*out = (struct kar_node_term){ .requirements = all, .n = (uint32_t)from->n };
	return 0;
}

static int read_terms(const struct text_needs *t, struct kar_arena *a, struct kar_pod_needs *out,
	struct kar_err *err)
{
	struct kar_node_term *terms = kar_arena_alloc(a, t->affinity.n + 1, sizeof(*terms));
	const struct text_term *from = t->affinity.items;

	for (size_t i = 0; i < t->affinity.n; i++) {
		if (read_requirements(&from[i].all, a, &terms[i], err))
			return -1;
	}
	out->has_terms = t->has_affinity;
	out->terms = terms;
	out->n_terms = (uint32_t)t->affinity.n;
	return 0;
}

static int read_amounts(const struct kar_array *pairs, struct kar_arena *a, struct kar_pod_needs *out,
	struct kar_err *err)
{
	struct kar_sched_amount *amounts = kar_arena_alloc(a, pairs->n + 1, sizeof(*amounts));
	const struct kar_pair *p = pairs->items;

	for (size_t i = 0; i < pairs->n; i++) {
		const char *problem = NULL;

		amounts[i] = (struct kar_sched_amount){ p[i].key,
			strtonum(p[i].value, 1, KAR_SCHED_MOST, &problem) };
		if (problem)
			return kar_fail(err, KAR_INVALID, "needs: amount of %s is %s", p[i].key, problem);
	}
	out->amounts = amounts;
	out->n_amounts = (uint32_t)pairs->n;
	return 0;
}

static int read_tolerations(const struct kar_array *from, struct kar_arena *a, struct kar_pod_needs *out,
	struct kar_err *err)
{
	struct kar_toleration *all = kar_arena_alloc(a, from->n + 1, sizeof(*all));
	const struct text_toleration *t = from->items;

	for (size_t i = 0; i < from->n; i++) {
		all[i] = (struct kar_toleration){ .key = t[i].key,
			.value = text_or(t[i].value, ""),
			.exists = !t[i].has_value };
		if (t[i].effect && !kar_effect_read(t[i].effect, &all[i].effect))
			return kar_fail(err, KAR_INVALID, "needs: unknown effect %s", t[i].effect);
	}
	out->tolerations = all;
	out->n_tolerations = (uint32_t)from->n;
	return 0;
}

static void read_ports(const struct kar_array *from, struct kar_arena *a, struct kar_pod_needs *out)
{
	struct kar_host_port *all = kar_arena_alloc(a, from->n + 1, sizeof(*all));
	const struct text_port *p = from->items;

	for (size_t i = 0; i < from->n; i++)
		all[i] = (struct kar_host_port){ .ip = text_or(p[i].ip, "0.0.0.0"),
			.protocol = text_or(p[i].protocol, "TCP"),
			.port = p[i].port };
	out->ports = all;
	out->n_ports = (uint32_t)from->n;
}

static void read_selector(const struct kar_array *pairs, struct kar_arena *a, struct kar_pod_needs *out)
{
	struct kar_sched_label *all = kar_arena_alloc(a, pairs->n + 1, sizeof(*all));
	const struct kar_pair *p = pairs->items;

	for (size_t i = 0; i < pairs->n; i++)
		all[i] = (struct kar_sched_label){ p[i].key, p[i].value };
	out->selector = all;
	out->n_selector = (uint32_t)pairs->n;
}

int kar_pod_needs_parse(const char *text, struct kar_arena *a, struct kar_pod_needs *out, struct kar_err *err)
{
	struct text_needs t;

	if (kar_json_decode(a, &needs_desc, NULL, text, strlen(text), &t, err))
		return -1;
	*out = (struct kar_pod_needs){ .node = t.node, .unverified = t.unverified };
	if (read_amounts(&t.requests, a, out, err) || read_terms(&t, a, out, err) ||
		read_tolerations(&t.tolerations, a, out, err))
		return -1;
	read_ports(&t.ports, a, out);
	read_selector(&t.selector, a, out);
	return 0;
}
