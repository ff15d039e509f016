#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "sim/nodes/internal.h"

/*
 * As the node life cycle controller: taints follow conditions. NoSchedule at once; NoExecute a node at a time per zone, more
 * slowly or not at all if much of a zone is down, and not at all if no node is ready, when rather the network is to blame.
 */
enum {
	LEAST_SILENCE = 40 *
		1000, /* ms until a silence is noticed; the real one needs 40 to 55 s after the last heartbeat */
	MOST_SILENCE = 50 * 1000,
	TAINT_PERIOD = 10 * 1000,       /* ms between two NoExecute taints in a zone */
	SLOW_TAINT_PERIOD = 100 * 1000, /* the same if most of a large zone is not ready */
	CHECK_PERIOD = 5 * 1000,        /* ms until a taint is considered again */
	LARGE_ZONE = 50,                /* nodes */
	PARTIAL_PER_CENT = 55,
	PARTIAL_LEAST = 3, /* nodes that are not ready */
};

#define UNREACHABLE "node.kubernetes.io/unreachable"
#define NOT_READY "node.kubernetes.io/not-ready"
#define UNSCHEDULABLE "node.kubernetes.io/unschedulable"

struct sim_zone {
	TAILQ_ENTRY(sim_zone) link;
	char *name;
	kar_time next; /* mono: of the next NoExecute taint */
};

/* ---- silence ---- */

void sim_lifecycle_silent(struct sim_node *node)
{
	sim_alarm_start(node->health, sim_random_between(&node->nodes->random, LEAST_SILENCE, MOST_SILENCE));
}

void sim_lifecycle_heard(struct sim_node *node)
{
	sim_alarm_stop(node->health);
}

static void mark_pod_not_ready(struct sim_pod *p)
{
	const struct sim_value *ready = sim_find_condition(p->value, "Ready");
	struct sim_value *status, *conditions;
	struct sim_condition c = { .type = "Ready", .status = "False" };

	if (!ready || !sim_has_condition(p->value, "Ready", "True"))
		return;
	status = sim_ref(sim_member(p->value, "status"));
	conditions = sim_ref(sim_member(status, "conditions"));
	sim_set_condition(p->nodes, &conditions, &c, sim_get_int(ready, 0, "observedGeneration"));
	sim_set(&status, conditions, "conditions");
	sim_put_pod_status(p, SIM_USER_CONTROLLER, status);
	sim_nodes_event(p->nodes, "Pod", p->value, "node-controller", "Warning", "NodeNotReady",
		"Node is not ready");
}

void sim_lifecycle_notice(void *arg)
{
	static const char *const types[] = { "Ready", "MemoryPressure", "DiskPressure", "PIDPressure" };
	struct sim_node *node = arg;
	struct sim_value *status = sim_ref(sim_member(node->value, "status"));
	struct sim_value *conditions = sim_ref(sim_member(status, "conditions"));
	struct sim_pod *p;

	if (!status)
		status = sim_object();
	for (size_t i = 0; i < KAR_LEN(types); i++) {
		struct sim_condition c = { types[i], "Unknown", "NodeStatusUnknown",
			"Kubelet stopped posting node status." };

		sim_set_node_condition(node->nodes, &conditions, &c);
	}
	sim_set(&status, conditions, "conditions");
	sim_put_node_status(node, SIM_USER_CONTROLLER, status);
	sim_nodes_event(node->nodes, "Node", node->value, "node-controller", "Normal", "NodeNotReady",
		"Node %s status is now: NodeNotReady", node->name);
	TAILQ_FOREACH(p, &node->pods, on_node)
		mark_pod_not_ready(p);
}

/* ---- zones ---- */

static struct sim_zone *zone_of(struct sim_node *node)
{
	const struct sim_value *labels = sim_get(node->value, "metadata", "labels");
	const char *region = sim_text_or(sim_member(labels, "topology.kubernetes.io/region"), "");
	const char *name = sim_text_or(sim_member(labels, "topology.kubernetes.io/zone"), "");
	char *key = kar_xasprintf("%s:%s", region, name);
	struct sim_zone *z;

	TAILQ_FOREACH(z, &node->nodes->zones, link) {
		if (strcmp(z->name, key) == 0) {
			free(key);
			return z;
		}
	}
	z = kar_xcalloc(1, sizeof(*z));
	z->name = key;
	TAILQ_INSERT_TAIL(&node->nodes->zones, z, link);
	return z;
}

void sim_lifecycle_release(struct sim_nodes *n)
{
	struct sim_zone *z;

	while ((z = TAILQ_FIRST(&n->zones)) != NULL) {
		TAILQ_REMOVE(&n->zones, z, link);
		free(z->name);
		free(z);
	}
}

/* Ms between two NoExecute taints; KAR_NEVER: none are set. */
static kar_time taint_period(struct sim_nodes *n, const struct sim_zone *zone)
{
	size_t all = 0, down = 0;
	struct sim_node *node;

	RB_FOREACH(node, sim_node_tree, &n->nodes) {
		if (node->value && zone_of(node) == zone) {
			all++;
			down += !node->ready;
		}
	}
	if (down < PARTIAL_LEAST || down == all || down * 100 < all * PARTIAL_PER_CENT)
		return TAINT_PERIOD;
	return all > LARGE_ZONE ? SLOW_TAINT_PERIOD : KAR_NEVER;
}

/* ---- taints ---- */

/* What condition or flag of the node stands behind the taint; false: not one of ours. */
static bool wanted_of(const struct sim_node *node, const char *key, bool *wanted)
{
	static const char *const pressures[][2] = {
		{ "node.kubernetes.io/memory-pressure", "MemoryPressure" },
		{ "node.kubernetes.io/disk-pressure", "DiskPressure" },
		{ "node.kubernetes.io/pid-pressure", "PIDPressure" },
		{ "node.kubernetes.io/network-unavailable", "NetworkUnavailable" },
	};

	*wanted = false;
	for (size_t i = 0; i < KAR_LEN(pressures); i++) {
		if (strcmp(key, pressures[i][0]) == 0) {
			*wanted = sim_has_condition(node->value, pressures[i][1], "True");
			return true;
		}
	}
	if (strcmp(key, NOT_READY) == 0)
		*wanted = sim_has_condition(node->value, "Ready", "False");
	else if (strcmp(key, UNREACHABLE) == 0)
		*wanted = sim_has_condition(node->value, "Ready", "Unknown");
	else if (strcmp(key, UNSCHEDULABLE) == 0)
		*wanted = node->unschedulable;
	else
		return false;
	return true;
}

static bool runs_out(const struct sim_node *node, const struct sim_value *taint, bool evictions)
{
	const char *key = sim_text_or(sim_member(taint, "key"), "");
	const char *effect = sim_text_or(sim_member(taint, "effect"), "");
	bool wanted;

	if (!wanted_of(node, key, &wanted))
		return false;
	if (strcmp(effect, "NoSchedule") == 0)
		return !wanted;
	return strcmp(effect, "NoExecute") == 0 &&
		(strcmp(key, NOT_READY) == 0 || strcmp(key, UNREACHABLE) == 0) && (!wanted || !evictions);
}

static void add_taint(struct sim_nodes *n, struct sim_value **taints, const char *key, const char *effect)
{
	struct sim_value *t = sim_object();

	sim_set_text(&t, key, "key");
	sim_set_text(&t, effect, "effect");
	sim_set(&t, sim_now(n), "timeAdded");
	sim_append(taints, t);
}

/* Is it the node's turn in its zone to get a NoExecute taint? If not, its alarm rings again. */
static bool is_due(struct sim_node *node)
{
	struct sim_zone *zone = zone_of(node);
	kar_time period = taint_period(node->nodes, zone), now = sim_timeline_mono(node->nodes->timeline);

	if (period != KAR_NEVER && zone->next <= now) {
		zone->next = now + period;
		return true;
	}
	sim_alarm_start(node->taints, period == KAR_NEVER ? CHECK_PERIOD : zone->next - now);
	return false;
}

static bool add_missing(struct sim_node *node, struct sim_value **taints, bool evictions)
{
	static const char *const keys[] = { NOT_READY, UNREACHABLE, UNSCHEDULABLE,
		"node.kubernetes.io/memory-pressure", "node.kubernetes.io/disk-pressure",
		"node.kubernetes.io/pid-pressure", "node.kubernetes.io/network-unavailable" };
	bool added = false, wanted;

	for (size_t i = 0; i < KAR_LEN(keys); i++) {
		wanted_of(node, keys[i], &wanted);
		if (!wanted)
			continue;
		if (!sim_taint_find(node->value, keys[i], "NoSchedule")) {
			add_taint(node->nodes, taints, keys[i], "NoSchedule");
			added = true;
		}
		if (i < 2 && evictions && !sim_taint_find(node->value, keys[i], "NoExecute") &&
			is_due(node)) {
			add_taint(node->nodes, taints, keys[i], "NoExecute");
			added = true;
		}
	}
	return added;
}

void sim_lifecycle_taint(void *arg)
{
	struct sim_node *node = arg;
	struct sim_value *old = sim_get(node->value, "spec", "taints"), *taints = sim_array(), *spec;
	bool evictions = node->nodes->n_ready > 0, changed = false;

	for (size_t i = 0; i < sim_count(old); i++) {
		bool out = runs_out(node, sim_item(old, i), evictions);

		changed |= out;
		if (!out)
			sim_append(&taints, sim_ref(sim_item(old, i)));
	}
	changed |= add_missing(node, &taints, evictions);
	if (!changed) {
		sim_unref(taints);
		return;
	}
	spec = sim_ref(sim_member(node->value, "spec"));
	if (!spec)
		spec = sim_object();
	if (sim_count(taints) > 0) {
		sim_set(&spec, taints, "taints");
	} else {
		sim_unref(taints);
		sim_remove(&spec, "taints");
	}
	sim_put_node_spec(node, SIM_USER_CONTROLLER, spec);
}

/* Only a node that is, or was a moment ago, in some trouble needs a look. */
static bool is_sound(const struct sim_node *node)
{
	return node->ready && !node->unschedulable &&
		!sim_has_condition(node->value, "MemoryPressure", "True") &&
		sim_count(sim_get(node->value, "spec", "taints")) == 0;
}

void sim_lifecycle_see_node(struct sim_node *node, bool readiness_changed)
{
	struct sim_nodes *n = node->nodes;
	struct sim_node *other;

	if (!node->value) {
		sim_alarm_stop(node->health);
		sim_alarm_stop(node->taints);
	} else if (!is_sound(node)) {
		sim_alarm_start(node->taints, 0);
	}
	if (!readiness_changed || n->n_ready > 1)
		return;
	RB_FOREACH(other, sim_node_tree, &n->nodes) { /* evictions stop altogether, or begin again */
		if (other->value && !other->ready)
			sim_alarm_start(other->taints, 0);
	}
}
