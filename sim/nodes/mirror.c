#include "sim/nodes/internal.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "sim/apiserver/quantity.h"

static int compare_pods(const struct sim_pod *a, const struct sim_pod *b)
{
	int order = strcmp(a->name, b->name); /* names differ more often than namespaces */

	return order ? order : strcmp(a->ns, b->ns);
}

static int compare_nodes(const struct sim_node *a, const struct sim_node *b)
{
	return strcmp(a->name, b->name);
}

RB_GENERATE(sim_pods, sim_pod, link, compare_pods)
RB_GENERATE(sim_node_tree, sim_node, link, compare_nodes)

/* The names are only read. */
static char *borrowed(const char *s)
{
	union {
		const char *in;
		char *out;
	} u = { .in = s };

	return u.out;
}

struct sim_pod *sim_mirror_pod(struct sim_nodes *n, const char *ns, const char *name)
{
	struct sim_pod key = { .ns = borrowed(ns), .name = borrowed(name) };

	return RB_FIND(sim_pods, &n->pods, &key);
}

struct sim_node *sim_mirror_node(struct sim_nodes *n, const char *name)
{
	struct sim_node key = { .name = borrowed(name) };

	return RB_FIND(sim_node_tree, &n->nodes, &key);
}

/* ---- nodes ---- */

static struct sim_node *node_of(struct sim_nodes *n, const char *name)
{
	struct sim_node *node = sim_mirror_node(n, name);

	if (node)
		return node;
	node = kar_xcalloc(1, sizeof(*node));
	node->nodes = n;
	node->name = kar_xstrdup(name);
	node->number = ++n->n_seen_nodes;
	node->gone = sim_timeline_mono(n->timeline);
	TAILQ_INIT(&node->pods);
	TAILQ_INIT(&node->nominees);
	node->kubelet = sim_alarm_new(n->timeline, sim_kubelet_report_node, node);
	node->health = sim_alarm_new(n->timeline, sim_lifecycle_notice, node);
	node->taints = sim_alarm_new(n->timeline, sim_lifecycle_taint, node);
	RB_INSERT(sim_node_tree, &n->nodes, node);
	return node;
}

static void free_node(struct sim_node *node)
{
	struct sim_pod *p;

	while ((p = TAILQ_FIRST(&node->nominees)) != NULL)
		sim_scheduler_nominate(p, NULL);
	RB_REMOVE(sim_node_tree, &node->nodes->nodes, node);
	sim_alarm_free(node->kubelet);
	sim_alarm_free(node->health);
	sim_alarm_free(node->taints);
	sim_alarm_free(node->drain);
	sim_resources_release(&node->allocatable);
	sim_resources_release(&node->used);
	sim_resources_release(&node->scored);
	sim_unref(node->value);
	free(node->name);
	free(node);
}

/* A node without an object stays as long as pods name it. */
static void drop_node_if_unused(struct sim_node *node)
{
	if (!node->value && TAILQ_EMPTY(&node->pods))
		free_node(node);
}

void sim_mirror_count(struct sim_node *node, const struct sim_pod *p, int sign)
{
	for (size_t i = 0; i < p->requests.n; i++)
		sim_resources_add(&node->used, p->requests.items[i].resource,
			sign * p->requests.items[i].amount);
	for (size_t i = SIM_CPU; i <= SIM_MEMORY; i++)
		sim_resources_add(&node->scored, i, sign * p->requests.scored[i]);
	node->n_pods += (size_t)sign;
	node->nodes->version++;
}

static void read_taints(struct sim_node *node)
{
	const struct sim_value *taints = sim_get(node->value, "spec", "taints");

	node->tainted = node->evicts = false;
	for (size_t i = 0; i < sim_count(taints); i++) {
		const char *effect = sim_text_or(sim_member(sim_item(taints, i), "effect"), "");

		node->evicts |= strcmp(effect, "NoExecute") == 0;
		node->tainted |= strcmp(effect, "NoSchedule") == 0 || strcmp(effect, "NoExecute") == 0;
	}
}

static void read_node(struct sim_node *node)
{
	const struct sim_value *offer = sim_get(node->value, "status", "allocatable");
	struct kar_quantity pods;

	if (!offer)
		offer = sim_get(node->value, "status", "capacity");
	sim_resources_read(&node->allocatable, &node->nodes->names, offer);
	pods = sim_quantity_of(sim_member(offer, "pods"));
	node->most_pods = kar_quantity_value(&pods);
	node->unschedulable = sim_bool_of(sim_get(node->value, "spec", "unschedulable"), false);
	read_taints(node);
	node->ready = sim_has_condition(node->value, "Ready", "True");
}

/* News for the scheduler are what it looks at, not the times of conditions. */
static bool offers_differ(const struct sim_value *a, const struct sim_value *b)
{
	return !a || !b || sim_member(a, "spec") != sim_member(b, "spec") ||
		!sim_equal(sim_get(a, "metadata", "labels"), sim_get(b, "metadata", "labels")) ||
		!sim_equal(sim_get(a, "status", "allocatable"), sim_get(b, "status", "allocatable"));
}

static void see_node(struct sim_nodes *n, const char *name, const struct sim_value *value)
{
	struct sim_node *node = node_of(n, name);
	struct sim_value *old = node->value;
	bool was_ready = node->ready, changed = offers_differ(old, value);

	n->n_nodes += (value != NULL) - (size_t)(old != NULL);
	node->value = sim_ref(value);
	if (!value)
		node->gone = sim_timeline_mono(n->timeline);
	read_node(node);
	n->n_ready += node->ready - (size_t)was_ready;
	sim_unref(old);
	sim_kubelet_see_node(node);
	sim_lifecycle_see_node(node, node->ready != was_ready);
	sim_eviction_see_node(node);
	sim_podgc_see_node(node);
	if (changed) {
		n->version++;
		sim_scheduler_news(n, SIM_NEEDS_ROOM | SIM_NEEDS_NODE | SIM_NEEDS_PODS);
	}
	drop_node_if_unused(node);
}

/* ---- pods ---- */

static void count_pod(struct sim_pod *p, bool count)
{
	if (p->counted == count)
		return;
	p->counted = count;
	sim_mirror_count(p->node, p, count ? 1 : -1);
	if (p->has_anti_affinity && count)
		TAILQ_INSERT_TAIL(&p->nodes->anti, p, anti);
	else if (p->has_anti_affinity)
		TAILQ_REMOVE(&p->nodes->anti, p, anti);
	sim_scheduler_news(p->nodes, count ? SIM_NEEDS_PODS : SIM_NEEDS_ROOM | SIM_NEEDS_PODS);
}

static bool uses_host_ports(const struct sim_value *containers)
{
	for (size_t i = 0; i < sim_count(containers); i++) {
		const struct sim_value *ports = sim_member(sim_item(containers, i), "ports");

		for (size_t k = 0; k < sim_count(ports); k++) {
			if (sim_get_int(sim_item(ports, k), 0, "hostPort") > 0)
				return true;
		}
	}
	return false;
}

static const struct sim_value *required(const struct sim_value *affinity, const char *kind)
{
	return sim_get(affinity, kind, "requiredDuringSchedulingIgnoredDuringExecution");
}

static void read_spec(struct sim_pod *p)
{
	const struct sim_value *spec = sim_member(p->value, "spec"), *affinity = sim_member(spec, "affinity");

	p->priority = (int32_t)sim_get_int(spec, 0, "priority");
	p->has_ports = uses_host_ports(sim_member(spec, "containers"));
	p->has_node_affinity =
		required(affinity, "nodeAffinity") || sim_count(sim_member(spec, "nodeSelector")) > 0;
	p->has_affinity = sim_count(required(affinity, "podAffinity")) > 0;
	if (!p->counted) /* a bound pod's affinity cannot change */
		p->has_anti_affinity = sim_count(required(affinity, "podAntiAffinity")) > 0;
}

static bool is_terminal(const struct sim_value *pod)
{
	const char *phase = sim_text_or(sim_get(pod, "status", "phase"), "");

	return strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0;
}

static void set_terminal(struct sim_pod *p, bool terminal)
{
	p->nodes->podgc.terminal += terminal - (size_t)p->terminal;
	p->terminal = terminal;
}

/* Binds the mirror's pod; a bound pod never moves. */
static void put_on_node(struct sim_pod *p)
{
	const char *name = sim_text_or(sim_get(p->value, "spec", "nodeName"), "");

	if (p->node || !name[0])
		return;
	p->node = node_of(p->nodes, name);
	TAILQ_INSERT_TAIL(&p->node->pods, p, on_node);
	sim_scheduler_nominate(p, NULL);
}

static struct sim_pod *new_pod(struct sim_nodes *n, const char *ns, const char *name,
	const struct sim_value *value)
{
	struct sim_pod *p = kar_xcalloc(1, sizeof(*p));

	p->nodes = n;
	p->ns = kar_xstrdup(ns);
	p->name = kar_xstrdup(name);
	p->uid = kar_xstrdup(sim_text_or(sim_get(value, "metadata", "uid"), ""));
	p->number = ++n->n_seen_pods;
	sim_requests_read(&p->requests, &n->names, sim_member(value, "spec"));
	sim_kubelet_init(p);
	RB_INSERT(sim_pods, &n->pods, p);
	return p;
}

static void free_pod(struct sim_pod *p)
{
	struct sim_node *node = p->node;

	count_pod(p, false);
	set_terminal(p, false);
	sim_scheduler_forget(p);
	sim_podgc_forget(p);
	sim_eviction_release(p);
	sim_kubelet_release(p);
	RB_REMOVE(sim_pods, &p->nodes->pods, p);
	if (node)
		TAILQ_REMOVE(&node->pods, p, on_node);
	sim_requests_release(&p->requests);
	sim_unref(p->value);
	free(p->ns);
	free(p->name);
	free(p->uid);
	free(p);
	if (node)
		drop_node_if_unused(node);
}

static void see_pod(struct sim_nodes *n, const char *ns, const char *name, const struct sim_value *value)
{
	struct sim_pod *p = sim_mirror_pod(n, ns, name);
	struct sim_value *old;
	bool changed;

	if (!value) {
		if (p)
			free_pod(p);
		sim_disruption_see_pods(n);
		return;
	}
	if (!p)
		p = new_pod(n, ns, name, value);
	old = p->value;
	changed = sim_member(old, "spec") != sim_member(value, "spec") ||
		sim_get(old, "metadata", "labels") != sim_get(value, "metadata", "labels");
	p->value = sim_ref(value);
	sim_unref(old);
	if (changed)
		read_spec(p);
	set_terminal(p, is_terminal(value));
	p->deleting = sim_get(value, "metadata", "deletionTimestamp") != NULL;
	put_on_node(p);
	count_pod(p, p->node && !p->terminal);
	sim_kubelet_see_pod(p);
	sim_scheduler_see_pod(p, changed);
	sim_eviction_see_pod(p);
	sim_podgc_see_pod(p);
	sim_disruption_see_pods(n);
}

/* ---- the listener ---- */

static void see_change(void *arg, const struct sim_change *c)
{
	struct sim_nodes *n = arg;

	if (strcmp(c->group, "policy") == 0 && strcmp(c->resource, "poddisruptionbudgets") == 0)
		sim_disruption_see_budget(n, c->ns, c->name, c->new);
	if (c->group[0])
		return;
	if (strcmp(c->resource, "pods") == 0)
		see_pod(n, c->ns, c->name, c->new);
	else if (strcmp(c->resource, "nodes") == 0)
		see_node(n, c->name, c->new);
}

static void take_node(void *arg, const struct sim_value *object)
{
	see_node(arg, sim_text_or(sim_get(object, "metadata", "name"), ""), object);
}

static void take_budget(void *arg, const struct sim_value *object)
{
	sim_disruption_see_budget(arg, sim_text_or(sim_get(object, "metadata", "namespace"), ""),
		sim_text_or(sim_get(object, "metadata", "name"), ""), object);
}

static void take_pod(void *arg, const struct sim_value *object)
{
	see_pod(arg, sim_text_or(sim_get(object, "metadata", "namespace"), ""),
		sim_text_or(sim_get(object, "metadata", "name"), ""), object);
}

void sim_mirror_start(struct sim_nodes *n)
{
	RB_INIT(&n->pods);
	RB_INIT(&n->nodes);
	TAILQ_INIT(&n->anti);
	sim_apiserver_each(n->server, "", "nodes", take_node, n);
	sim_apiserver_each(n->server, "", "pods", take_pod, n);
	sim_apiserver_each(n->server, "policy", "poddisruptionbudgets", take_budget, n);
	sim_apiserver_listen(n->server, see_change, n);
}

void sim_mirror_stop(struct sim_nodes *n)
{
	struct sim_pod *p;
	struct sim_node *node;

	while ((p = RB_MIN(sim_pods, &n->pods)) != NULL)
		free_pod(p);
	while ((node = RB_MIN(sim_node_tree, &n->nodes)) != NULL)
		free_node(node);
}
