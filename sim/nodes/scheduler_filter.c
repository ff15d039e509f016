#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "sim/nodes/internal.h"

/* The filters in the order of the default profile; the first that refuses a node gives the reason. */

/* ---- reasons ---- */

void sim_reasons_add(struct sim_reasons *r, const char *text, unsigned nodes)
{
	for (size_t i = 0; i < r->n; i++) {
		if (r->items[i].text == text || strcmp(r->items[i].text, text) == 0) {
			r->items[i].nodes += nodes;
			return;
		}
	}
	if (r->n == KAR_LEN(r->items))
		return;
	r->items[r->n].text = text;
	r->items[r->n++].nodes = nodes;
}

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void sim_reasons_print(const struct sim_reasons *r, struct kar_buf *out)
{
	char *texts[KAR_LEN(r->items)];

	for (size_t i = 0; i < r->n; i++)
		texts[i] = kar_xasprintf("%u %s", r->items[i].nodes, r->items[i].text);
	qsort(texts, r->n, sizeof(texts[0]), compare_texts);
	for (size_t i = 0; i < r->n; i++) {
		kar_buf_printf(out, "%s%s", i ? ", " : " ", texts[i]);
		free(texts[i]);
	}
	if (r->n)
		kar_buf_puts(out, ".");
}

static enum sim_verdict refuse(struct sim_reasons *why, enum sim_verdict verdict, unsigned needs,
	const char *text)
{
	if (why) {
		sim_reasons_add(why, text, 1);
		why->needs |= needs;
	}
	return verdict;
}

/* ---- the filters ---- */

static bool tolerates_unschedulable(const struct sim_pod *p)
{
	struct sim_value *taint = sim_object();
	bool yes;

	sim_set_text(&taint, "node.kubernetes.io/unschedulable", "key");
	sim_set_text(&taint, "NoSchedule", "effect");
	yes = sim_toleration_of(p->value, taint) != NULL;
	sim_unref(taint);
	return yes;
}

static bool tolerates_taints(const struct sim_pod *p, const struct sim_node *node)
{
	const struct sim_value *taints = sim_get(node->value, "spec", "taints");

	for (size_t i = 0; i < sim_count(taints); i++) {
		const struct sim_value *taint = sim_item(taints, i);

		if (strcmp(sim_text_or(sim_member(taint, "effect"), ""), "PreferNoSchedule") != 0 &&
			!sim_toleration_of(p->value, taint))
			return false;
	}
	return true;
}

static bool same_or_any(const struct sim_value *a, const struct sim_value *b)
{
	const char *x = sim_text_or(sim_member(a, "hostIP"), ""),
		   *y = sim_text_or(sim_member(b, "hostIP"), "");
	bool any = !x[0] || !y[0] || strcmp(x, "0.0.0.0") == 0 || strcmp(y, "0.0.0.0") == 0;

	return any || strcmp(x, y) == 0;
}

static bool port_clashes(const struct sim_value *port, const struct sim_value *others)
{
	const char *protocol = sim_text_or(sim_member(port, "protocol"), "TCP");

	for (size_t i = 0; i < sim_count(others); i++) {
		const struct sim_value *other = sim_item(others, i);

		if (sim_get_int(other, 0, "hostPort") == sim_get_int(port, 0, "hostPort") &&
			strcmp(sim_text_or(sim_member(other, "protocol"), "TCP"), protocol) == 0 &&
			same_or_any(port, other))
			return true;
	}
	return false;
}

static bool port_is_taken(const struct sim_value *port, const struct sim_pod *by)
{
	const struct sim_value *containers = sim_get(by->value, "spec", "containers");

	for (size_t i = 0; i < sim_count(containers); i++) {
		if (port_clashes(port, sim_get(sim_item(containers, i), "ports")))
			return true;
	}
	return false;
}

static bool ports_clash(const struct sim_pod *p, const struct sim_pod *other)
{
	const struct sim_value *containers = sim_get(p->value, "spec", "containers");

	for (size_t i = 0; i < sim_count(containers); i++) {
		const struct sim_value *ports = sim_get(sim_item(containers, i), "ports");

		for (size_t k = 0; k < sim_count(ports); k++) {
			if (sim_get_int(sim_item(ports, k), 0, "hostPort") > 0 &&
				port_is_taken(sim_item(ports, k), other))
				return true;
		}
	}
	return false;
}

static bool ports_are_free(const struct sim_pod *p, const struct sim_node *node)
{
	const struct sim_pod *other;

	TAILQ_FOREACH(other, &node->pods, on_node) {
		if (other->counted && other->has_ports && !other->queued.away && ports_clash(p, other))
			return false;
	}
	return true;
}

/* Of the pods that are to come to the node, those that may not be put off for @p. */
static int64_t nominated_use(const struct sim_pod *p, const struct sim_node *node, size_t resource)
{
	const struct sim_pod *other;
	int64_t sum = 0;

	TAILQ_FOREACH(other, &node->nominees, queued.nominees) {
		if (other == p || other->priority < p->priority)
			continue;
		for (size_t i = 0; i < other->requests.n; i++) {
			if (other->requests.items[i].resource == resource)
				sum += other->requests.items[i].amount;
		}
	}
	return sum;
}

static int64_t nominated_pods(const struct sim_pod *p, const struct sim_node *node)
{
	const struct sim_pod *other;
	int64_t sum = 0;

	TAILQ_FOREACH(other, &node->nominees, queued.nominees)
		sum += other != p && other->priority >= p->priority;
	return sum;
}

static enum sim_verdict check_room(const struct sim_pod *p, const struct sim_node *node,
	struct sim_reasons *why)
{
	bool nominees = !TAILQ_EMPTY(&node->nominees);
	enum sim_verdict verdict = SIM_FITS;

	if ((int64_t)node->n_pods + 1 + (nominees ? nominated_pods(p, node) : 0) > node->most_pods)
		verdict = refuse(why, SIM_UNSUITABLE, SIM_NEEDS_ROOM, "Too many pods");
	for (size_t i = 0; i < p->requests.n; i++) {
		const struct sim_amount *want = &p->requests.items[i];
		int64_t all = sim_resources_get(&node->allocatable, want->resource);
		int64_t used = sim_resources_get(&node->used, want->resource);

		if (nominees)
			used += nominated_use(p, node, want->resource);
		if (want->amount <= all - used)
			continue;
		refuse(why, SIM_UNSUITABLE, SIM_NEEDS_ROOM, p->nodes->names.lacking[want->resource]);
		if (want->amount > all)
			verdict = SIM_UNRESOLVABLE;
		else if (verdict == SIM_FITS)
			verdict = SIM_UNSUITABLE;
	}
	return verdict;
}

enum sim_verdict sim_scheduler_filter(const struct sim_cycle *c, struct sim_node *node,
	struct sim_reasons *why)
{
	const struct sim_pod *p = c->pod;
	enum sim_verdict verdict;
	const char *disagreement;
	bool resolvable;

	if (node->unschedulable && !tolerates_unschedulable(p))
		return refuse(why, SIM_UNRESOLVABLE, SIM_NEEDS_NODE, "node(s) were unschedulable");
	if (node->tainted && !tolerates_taints(p, node))
		return refuse(why, SIM_UNRESOLVABLE, SIM_NEEDS_NODE, "node(s) had untolerated taint(s)");
	if (p->has_node_affinity && !sim_node_selected(p, node))
		return refuse(why, SIM_UNRESOLVABLE, SIM_NEEDS_NODE,
			"node(s) didn't match Pod's node affinity/selector");
	if (p->has_ports && !ports_are_free(p, node))
		return refuse(why, SIM_UNSUITABLE, SIM_NEEDS_ROOM,
			"node(s) didn't have free ports for the requested pod ports");
	verdict = check_room(p, node, why);
	if (verdict != SIM_FITS || !c->uses_pods || sim_pods_agree(c, node, &disagreement, &resolvable))
		return verdict;
	return refuse(why, resolvable ? SIM_UNSUITABLE : SIM_UNRESOLVABLE, SIM_NEEDS_PODS | SIM_NEEDS_NODE,
		disagreement);
}
