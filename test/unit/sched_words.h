/*
 * sched_words - nodes, gangs and placements as short texts, for the tests of common/sched.
 *
 *   nodes    "a cpu=6 gpu=2 @rack=r1 !infra cordoned; b cpu=4 notready"     (pods=110 unless said, quantities are whole numbers)
 *   taken    "a 2xcpu=1; b 1xport=80"
 *   gang     "w 3xcpu=4 +2; v 1xcpu=1 on=rack=r1 ~infra port=80 | hold cpu=9 | topology block/rack required:1 preferred"
 *            | ask w,v block/rack required: of these roles alone
 *            (role, need x needs, wanted more; "on": nodeSelector, "~": toleration, of a value "~infra=a";
 *            "in=x": it is in set x; "anti=x/rack", "near=x/rack", "spread=x/rack/1": its rules about x per rack)
 *   placed   "w:c w:b*2 | b holds cpu=4"
 */
#ifndef KAR_TEST_SCHED_WORDS_H
#define KAR_TEST_SCHED_WORDS_H

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/sched/sched.h"

static inline char *words_part(struct kar_arena *a, const char **text, const char *until)
{
	size_t n = strcspn(*text, until);
	char *part;

	while (**text == ' ') {
		(*text)++;
		n--;
	}
	part = kar_arena_strndup(a, *text, n);
	*text += n;
	*text += **text != '\0';
	return part;
}

/* cpu is counted in thousandths. */
static inline int64_t words_amount(const char *resource, const char *text)
{
	return strtoll(text, NULL, 10) * (strcmp(resource, "cpu") == 0 ? 1000 : 1);
}

static inline const char *words_resource(const char *word)
{
	return strcmp(word, "gpu") == 0 ? "nvidia.com/gpu" : word;
}

struct words_list {
	struct kar_sched_amount amounts[16];
	struct kar_sched_label labels[16];
	struct kar_taint taints[4];
	struct kar_toleration tolerations[4];
	struct kar_host_port ports[4];
	struct kar_pod_rule rules[4];
	struct kar_pod_set sets[4];
};

/* Cuts "key=value" at the first "=". Returns the value; "" if there is none. */
static inline char *words_value(char *word)
{
	char *value = word + strcspn(word, "=");

	if (*value)
		*value++ = '\0';
	return value;
}

/* One word "key=value" of needs or of a node. */
static inline void words_add_amount(struct kar_sched_amount *to, uint32_t *n, const char *key,
	const char *value)
{
	to[*n].resource = words_resource(key);
	to[(*n)++].amount = words_amount(key, value);
}

static inline void words_node(struct kar_sched *s, struct kar_arena *a, const char *text)
{
	struct words_list *l = kar_arena_alloc(a, 1, sizeof(*l));
	struct kar_node_offer node = { .allocatable = l->amounts,
		.labels = l->labels,
		.taints = l->taints,
		.ready = true };
	bool pods = false;

	node.name = words_part(a, &text, " ");
	while (*text) {
		char *word = words_part(a, &text, " "), *value = words_value(word);

		if (strcmp(word, "@host") == 0)
			l->labels[node.n_labels++] =
				(struct kar_sched_label){ KAR_HOSTNAME_LABEL, node.name };
		else if (word[0] == '@')
			l->labels[node.n_labels++] = (struct kar_sched_label){ word + 1, value };
		else if (word[0] == '!')
			l->taints[node.n_taints++] = (struct kar_taint){ word + 1, value, KAR_NO_SCHEDULE };
		else if (strcmp(word, "notready") == 0)
			node.ready = false;
		else if (strcmp(word, "cordoned") == 0)
			node.cordoned = true;
		else if (*value)
			words_add_amount(l->amounts, &node.n_allocatable, word, value);
		pods |= strcmp(word, "pods") == 0;
	}
	if (!pods)
		words_add_amount(l->amounts, &node.n_allocatable, "pods", "110");
	kar_sched_node(s, &node);
}

/* Pods whose label "set" has this value. */
static inline struct kar_pod_set words_set(struct kar_arena *a, const char *value)
{
	const char **values = kar_arena_alloc(a, 1, sizeof(*values));
	struct kar_requirement *r = kar_arena_alloc(a, 1, sizeof(*r));

	values[0] = value;
	*r = (struct kar_requirement){ .key = "set", .op = KAR_OP_IN, .values = values, .n_values = 1 };
	return (struct kar_pod_set){ .labels = r, .n_labels = 1 };
}

/* "x/rack/1" */
static inline struct kar_pod_rule words_rule(struct kar_arena *a, enum kar_rule_kind kind, const char *text)
{
	struct kar_pod_rule rule = { .kind = kind, .of = words_set(a, words_part(a, &text, "/")) };

	rule.key = words_part(a, &text, "/");
	if (strcmp(rule.key, "host") == 0)
		rule.key = KAR_HOSTNAME_LABEL;
	rule.max_skew = *text ? atoi(text) : 0;
	return rule;
}

/* "cpu=4 on=rack=r1 ~infra port=80" */
static inline kar_class words_class(struct kar_sched *s, struct kar_arena *a, const char *text, int32_t *want)
{
	struct words_list *l = kar_arena_alloc(a, 1, sizeof(*l));
	struct kar_pod_needs needs = { .amounts = l->amounts,
		.selector = l->labels,
		.tolerations = l->tolerations,
		.ports = l->ports,
		.rules = l->rules,
		.sets = l->sets };

	while (*text) {
		char *word = words_part(a, &text, " "), *value = words_value(word);

		if (word[0] == '~') {
			l->tolerations[needs.n_tolerations++] =
				(struct kar_toleration){ .key = word + 1, .value = value, .exists = !*value };
		} else if (word[0] == '+') {
			*want = atoi(word + 1);
		} else if (strcmp(word, "port") == 0) {
			l->ports[needs.n_ports++] = (struct kar_host_port){ "0.0.0.0", "TCP", atoi(value) };
		} else if (strcmp(word, "in") == 0) {
			l->sets[needs.n_sets++] = words_set(a, value);
		} else if (strcmp(word, "anti") == 0) {
			l->rules[needs.n_rules++] = words_rule(a, KAR_ANTI_AFFINITY, value);
		} else if (strcmp(word, "near") == 0) {
			l->rules[needs.n_rules++] = words_rule(a, KAR_AFFINITY, value);
		} else if (strcmp(word, "spread") == 0) {
			l->rules[needs.n_rules++] = words_rule(a, KAR_SPREAD, value);
		} else if (strcmp(word, "on") == 0) {
			const char *label = words_value(value);

			l->labels[needs.n_selector++] = (struct kar_sched_label){ value, label };
		} else if (*value) {
			words_add_amount(l->amounts, &needs.n_amounts, word, value);
		}
	}
	return kar_sched_class(s, &needs);
}

static inline void words_nodes(struct kar_sched *s, struct kar_arena *a, const char *text)
{
	while (*text)
		words_node(s, a, words_part(a, &text, ";"));
}

static inline void words_taken(struct kar_sched *s, struct kar_arena *a, const char *text)
{
	while (*text) {
		const char *one = words_part(a, &text, ";");
		const char *node = words_part(a, &one, " ");
		int32_t n = atoi(words_part(a, &one, "x")), want = 0;
		kar_class c = words_class(s, a, one, &want);

		kar_sched_take(s, node, c, n);
		kar_sched_class_put(s, c);
	}
}

struct words_gang {
	struct kar_gang gang;
	struct kar_role roles[8];
	const char *names[8];
	struct kar_sched_amount hold[4];
	const char *levels[4][4];
	struct kar_topology_wish asks[3];
};

/* "block/rack", "required preferred"; "required:1": of the first of them; "slice=4", "slice:1=4"; "balance" */
static inline void words_wish(struct kar_arena *a, const char *part, const char **levels,
	struct kar_topology_wish *w)
{
	const char *labels = words_part(a, &part, " ");

	while (*labels)
		levels[w->n_labels++] = words_part(a, &labels, "/");
	w->labels = levels;
	while (*part) {
		const char *word = words_part(a, &part, " ");
		uint32_t depth = strchr(word, ':') ? (uint32_t)atoi(strchr(word, ':') + 1) : w->n_labels;

		if (word[0] == 'b') {
			w->balance = true;
		} else if (word[0] == 's') {
			w->slice_size = atoi(strchr(word, '=') + 1);
			w->slice_depth = depth;
		} else {
			*(word[0] == 'r' ? &w->required : &w->preferred) = depth;
		}
	}
}

/* "w,v block/rack required" */
static inline void words_ask(struct kar_arena *a, const char *part, struct words_gang *g)
{
	const char *roles = words_part(a, &part, " ");
	struct kar_topology_wish *w = &g->asks[g->gang.n_asks++];

	g->gang.asks = g->asks;
	while (*roles) {
		const char *role = words_part(a, &roles, ",");

		for (uint32_t i = 0; i < g->gang.n_roles; i++) {
			if (strcmp(g->names[i], role) == 0)
				g->roles[i].ask = g->gang.n_asks;
		}
	}
	words_wish(a, part, g->levels[g->gang.n_asks], w);
}

static inline void words_gang(struct kar_sched *s, struct kar_arena *a, const char *text,
	struct words_gang *g)
{
	const char *roles = words_part(a, &text, "|");

	*g = (struct words_gang){ .gang = { .roles = g->roles, .hold = g->hold } };
	while (*roles) {
		const char *one = words_part(a, &roles, ";");
		struct kar_role *r = &g->roles[g->gang.n_roles];

		g->names[g->gang.n_roles++] = words_part(a, &one, " ");
		*r = (struct kar_role){ .need = atoi(words_part(a, &one, "x")) };
		r->class = words_class(s, a, one, &r->want);
	}
	while (*text) {
		const char *part = words_part(a, &text, "|");
		const char *what = words_part(a, &part, " ");

		if (strcmp(what, "topology") == 0) {
			words_wish(a, part, g->levels[0], &g->gang.topology);
			continue;
		}
		if (strcmp(what, "ask") == 0) {
			words_ask(a, part, g);
			continue;
		}
		while (*part) {
			const char *key = words_part(a, &part, "=");
			const char *value = words_part(a, &part, " ");

			words_add_amount(g->hold, &g->gang.n_hold, key, value);
		}
	}
}

static inline void words_gang_put(struct kar_sched *s, const struct words_gang *g)
{
	for (uint32_t i = 0; i < g->gang.n_roles; i++)
		kar_sched_class_put(s, g->roles[i].class);
}

static inline void words_placement(struct kar_sched *s, const struct words_gang *g,
	const struct kar_placement *p, struct kar_buf *out)
{
	for (uint32_t i = 0; i < p->n_places; i++) {
		kar_buf_printf(out, "%s%s:%s", i ? " " : "", g->names[p->places[i].role], p->places[i].node);
		if (p->places[i].n != 1)
			kar_buf_printf(out, "*%" PRId32, p->places[i].n);
	}
	for (uint32_t i = 0; i < p->n_held; i++) {
		const struct kar_pod_needs *needs = kar_sched_needs(s, p->held[i].class);

		kar_buf_printf(out, " | %s holds", p->held[i].node);
		for (uint32_t k = 0; k < needs->n_amounts; k++)
			kar_buf_printf(out, " %s=%" PRId64, needs->amounts[k].resource,
				needs->amounts[k].amount / words_amount(needs->amounts[k].resource, "1"));
	}
	if (p->domain)
		kar_buf_printf(out, " in %s", p->domain);
}

static inline void words_placement_put(struct kar_sched *s, const struct kar_placement *p)
{
	for (uint32_t i = 0; i < p->n_held; i++)
		kar_sched_class_put(s, p->held[i].class);
}

#endif
