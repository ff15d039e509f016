#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/base/timefmt.h"
#include "sim/nodes/internal.h"

/*
 * As the pod garbage collector: every 20 s it force-deletes pods of nodes that no longer exist, terminating pods on nodes
 * that are not ready and tainted out-of-service, terminating pods that were never bound, and the oldest finished pods when
 * there are too many. The alarm runs only as long as there may be something to collect.
 */
enum {
	PERIOD = 20 * 1000,     /* ms */
	QUARANTINE = 40 * 1000, /* ms a node must have been gone */
	TERMINATED_PODS = 12500,
};

static bool out_of_service(const struct sim_node *node)
{
	const struct sim_value *taints = sim_get(node->value, "spec", "taints");

	for (size_t i = 0; !node->ready && i < sim_count(taints); i++) {
		if (strcmp(sim_text_or(sim_member(sim_item(taints, i), "key"), ""),
			    "node.kubernetes.io/out-of-service") == 0)
			return true;
	}
	return false;
}

static bool is_suspect(const struct sim_pod *p)
{
	if (!p->node)
		return p->deleting;
	return !p->node->value || (p->deleting && out_of_service(p->node));
}

static size_t most_terminated(const struct sim_nodes *n)
{
	return n->options.terminated_pods ? n->options.terminated_pods : TERMINATED_PODS;
}

static void wake(struct sim_nodes *n)
{
	kar_time now = sim_timeline_mono(n->timeline);
	bool work = !TAILQ_EMPTY(&n->podgc.suspects) || n->podgc.terminal > most_terminated(n);

	if (work && !sim_alarm_running(n->podgc.alarm))
		sim_alarm_start(n->podgc.alarm, PERIOD - now % PERIOD);
}

static void collect(struct sim_pod *p, const char *reason, const char *message)
{
	sim_call_disrupt(p, SIM_USER_CONTROLLER, reason, message, true);
	sim_call_delete(p, SIM_USER_CONTROLLER, 0);
}

/* A pod that only finalizers keep is left alone: to ask again would change nothing. */
static bool was_collected(const struct sim_pod *p)
{
	return p->terminal && p->deleting &&
		sim_get_int(p->value, -1, "metadata", "deletionGracePeriodSeconds") == 0;
}

static void collect_suspects(struct sim_nodes *n)
{
	kar_time now = sim_timeline_mono(n->timeline);
	struct sim_pod *p, *next;

	TAILQ_FOREACH_SAFE(p, &n->podgc.suspects, suspects, next) {
		bool orphan = p->node && !p->node->value;

		if (!orphan)
			collect(p, NULL, NULL);
		else if (now - p->node->gone >= QUARANTINE)
			collect(p, p->terminal ? NULL : "DeletionByPodGC", "PodGC: node no longer exists");
	}
}

static bool was_evicted(const struct sim_pod *p)
{
	return strcmp(sim_text_or(sim_get(p->value, "status", "reason"), ""), "Evicted") == 0;
}

static kar_time created(const struct sim_pod *p)
{
	kar_time wall = 0;

	kar_time_parse(sim_text_or(sim_get(p->value, "metadata", "creationTimestamp"), ""), &wall);
	return wall;
}

static int compare(const void *a, const void *b)
{
	const struct sim_pod *p = *(const struct sim_pod *const *)a, *q = *(const struct sim_pod *const *)b;

	if (was_evicted(p) != was_evicted(q))
		return was_evicted(p) ? -1 : 1;
	if (created(p) != created(q))
		return created(p) < created(q) ? -1 : 1;
	return strcmp(p->name, q->name);
}

static void collect_terminated(struct sim_nodes *n)
{
	size_t most = most_terminated(n), found = 0, surplus;
	struct sim_pod *p, **all;

	if (n->podgc.terminal <= most)
		return;
	all = kar_xcalloc(n->podgc.terminal, sizeof(struct sim_pod *));
	RB_FOREACH(p, sim_pods, &n->pods) {
		if (p->terminal)
			all[found++] = p;
	}
	qsort(all, found, sizeof(struct sim_pod *), compare);
	surplus = found - most;
	for (size_t i = 0; i < surplus; i++)
		collect(all[i], NULL, NULL);
	free(all);
}

static void collect_all(void *arg)
{
	struct sim_nodes *n = arg;

	collect_terminated(n);
	collect_suspects(n);
	wake(n);
}

void sim_podgc_init(struct sim_nodes *n)
{
	TAILQ_INIT(&n->podgc.suspects);
	n->podgc.alarm = sim_alarm_new(n->timeline, collect_all, n);
}

void sim_podgc_release(struct sim_nodes *n)
{
	sim_alarm_free(n->podgc.alarm);
}

void sim_podgc_forget(struct sim_pod *p)
{
	if (p->suspect)
		TAILQ_REMOVE(&p->nodes->podgc.suspects, p, suspects);
	p->suspect = false;
}

void sim_podgc_see_pod(struct sim_pod *p)
{
	bool suspect = is_suspect(p) && !was_collected(p);

	if (suspect && !p->suspect)
		TAILQ_INSERT_TAIL(&p->nodes->podgc.suspects, p, suspects);
	else if (!suspect)
		sim_podgc_forget(p);
	p->suspect = suspect;
	wake(p->nodes);
}

void sim_podgc_see_node(struct sim_node *node)
{
	struct sim_pod *p;

	TAILQ_FOREACH(p, &node->pods, on_node)
		sim_podgc_see_pod(p);
}
