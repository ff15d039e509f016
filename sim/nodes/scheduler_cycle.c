#include <stdlib.h>
#include <string.h>

#include "common/base/intern.h"
#include "common/base/mem.h"
#include "sim/nodes/internal.h"

enum { FULL_SCORE = 100 };

/* ---- scores ---- */

static int64_t free_share(int64_t used, int64_t all)
{
	return all <= 0 || used > all ? 0 : (all - used) * FULL_SCORE / all;
}

/* NodeResourcesFit with LeastAllocated: the more of cpu and memory is left, the better. */
static int64_t score_of(const struct sim_pod *p, const struct sim_node *node)
{
	int64_t sum = 0, weights = 0;

	for (size_t i = SIM_CPU; i <= SIM_MEMORY; i++) {
		int64_t all = sim_resources_get(&node->allocatable, i);

		if (all > 0) {
			sum += free_share(sim_resources_get(&node->scored, i) + p->requests.scored[i], all);
			weights++;
		}
	}
	return weights ? sum / weights : 0;
}

/* The best of the nodes that fit; of equal ones the emptiest, then the first by name. */
static struct sim_node *choose(struct sim_cycle *c, struct sim_reasons *why)
{
	struct sim_nodes *n = c->pod->nodes;
	struct sim_node *node, *best = NULL;
	int64_t best_score = 0;

	RB_FOREACH(node, sim_node_tree, &n->nodes) {
		int64_t score;

		if (!node->value)
			continue;
		node->verdict = sim_scheduler_filter(c, node, why);
		if (node->verdict != SIM_FITS)
			continue;
		score = score_of(c->pod, node);
		if (!best || score > best_score || (score == best_score && node->n_pods < best->n_pods)) {
			best = node;
			best_score = score;
		}
	}
	return best;
}

/* ---- failure ---- */

/*
 * Pods of one shape fit the same nodes. Of pods whose place depends on more than is hashed here there are no equal ones.
 */
static uint64_t shape_of(struct sim_pod *p)
{
	const struct sim_value *spec = sim_member(p->value, "spec");
	uint64_t h = 1;

	if (p->queued.shape)
		return p->queued.shape;
	for (size_t i = 0; i < p->requests.n; i++) {
		h = kar_hash(h, &p->requests.items[i].resource, sizeof(p->requests.items[i].resource));
		h = kar_hash(h, &p->requests.items[i].amount, sizeof(p->requests.items[i].amount));
	}
	h = kar_hash(h, &p->priority, sizeof(p->priority));
	h = kar_hash_str(h, sim_text_or(sim_member(spec, "preemptionPolicy"), ""));
	for (size_t i = 0; i < 3; i++) {
		static const char *const members[] = { "nodeSelector", "affinity", "tolerations" };
		uint64_t part = sim_hash(sim_member(spec, members[i]));

		h = kar_hash(h, &part, sizeof(part));
	}
	p->queued.shape = h ? h : 1;
	return p->queued.shape;
}

static bool is_alone(const struct sim_cycle *c)
{
	return c->uses_pods || c->pod->has_ports || c->pod->queued.nominated;
}

static void report(struct sim_pod *p, const char *message)
{
	const struct sim_node *nominated = p->queued.nominated;
	struct sim_value *status = sim_ref(sim_member(p->value, "status"));
	struct sim_value *conditions = sim_ref(sim_member(status, "conditions"));
	const char *was = sim_text_or(sim_member(status, "nominatedNodeName"), ""),
		   *is = nominated ? nominated->name : "";
	struct sim_condition c = { "PodScheduled", "False", "Unschedulable", message };
	bool changed = sim_set_condition(p->nodes, &conditions, &c,
		sim_get_int(p->value, 0, "metadata", "generation"));

	if (!changed && strcmp(was, is) == 0) {
		sim_unref(status);
		sim_unref(conditions);
		return;
	}
	if (!status)
		status = sim_object();
	sim_set(&status, conditions, "conditions");
	if (is[0])
		sim_set_text(&status, is, "nominatedNodeName");
	else
		sim_remove(&status, "nominatedNodeName");
	if (changed)
		sim_nodes_event(p->nodes, "Pod", p->value, "default-scheduler", "Warning", "FailedScheduling",
			"%s", message);
	sim_put_pod_status(p, SIM_USER_SCHEDULER, status);
}

static void remember(struct sim_scheduler *s, struct sim_pod *p, uint64_t version, const char *message)
{
	free(s->failed_message);
	s->failed_message = kar_xstrdup(message);
	s->failed_shape = shape_of(p);
	s->failed_version = version;
	s->failed_needs = p->queued.needs;
}

static void fail(struct sim_cycle *c, const struct sim_reasons *why)
{
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf message = { 0 };
	struct sim_pod *p = c->pod;
	struct sim_nodes *n = p->nodes;
	uint64_t version = n->version;
	struct sim_node *room = NULL;
	bool alone = is_alone(c);

	p->queued.needs = why->needs;
	if (n->n_nodes == 0) {
		kar_buf_puts(&message, "no nodes available to schedule pods");
		p->queued.needs = SIM_NEEDS_NODE;
	} else {
		kar_buf_printf(&message, "0/%zu nodes are available:", n->n_nodes);
		sim_reasons_print(why, &message);
		if (!n->options.no_preemption)
			room = sim_scheduler_preempt(c, &message);
	}
	if (!room && !alone && n->version == version)
		remember(&n->scheduler, p, version, kar_buf_cstr(&message));
	report(p, kar_buf_cstr(&message));
}

/* ---- one pod ---- */

static bool fails_like_the_last(struct sim_cycle *c)
{
	struct sim_scheduler *s = &c->pod->nodes->scheduler;

	if (is_alone(c) || !s->failed_message || s->failed_version != c->pod->nodes->version ||
		s->failed_shape != shape_of(c->pod))
		return false;
	c->pod->queued.needs = s->failed_needs;
	report(c->pod, s->failed_message);
	return true;
}

static bool bind(struct sim_pod *p, const struct sim_node *node)
{
	if (sim_call_bind(p, node) / 100 != 2)
		return false;
	sim_nodes_event(p->nodes, "Pod", p->value, "default-scheduler", "Normal", "Scheduled",
		"Successfully assigned %s/%s to %s", p->ns, p->name, node->name);
	return true;
}

bool sim_scheduler_try(struct sim_pod *p)
{
	struct sim_reasons why = { .n = 0 };
	struct sim_node *node = p->queued.nominated;
	bool bound = false;
	struct sim_cycle c;

	if (p->nodes->options.gangs && sim_scheduler_gang_waits(p)) {
		p->queued.needs =
			0; /* what it waits for is no news of nodes: it is tried again after its back-off */
		report(p, "waiting for minMember pods of its PodGroup");
		return false;
	}
	sim_cycle_init(&c, p);
	if (fails_like_the_last(&c)) {
		sim_cycle_release(&c);
		return false;
	}
	if (!node || !node->value || sim_scheduler_filter(&c, node, NULL) != SIM_FITS)
		node = choose(&c, &why);
	if (node) {
		p->queued.needs = 0;
		bound = bind(p, node);
	} else {
		fail(&c, &why);
	}
	sim_cycle_release(&c);
	return bound;
}
