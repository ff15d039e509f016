#include "sim/nodes/internal.h"

enum { RETRY = 5 * 1000 }; /* ms until kubectl tries an eviction again */

#define USER "kubernetes-admin"

/* An eviction may free its pod, never another one. */
static void evict_all(void *arg)
{
	struct sim_node *node = arg;
	struct sim_pod *p, *next;

	if (!node->unschedulable) { /* uncordoned: somebody changed their mind */
		sim_alarm_stop(node->drain);
		return;
	}
	TAILQ_FOREACH_SAFE(p, &node->pods, on_node, next) {
		if (!p->deleting)
			sim_call_evict(p, USER);
	}
	if (!TAILQ_EMPTY(&node->pods))
		sim_alarm_start(node->drain, RETRY);
}

void sim_drain_start(struct sim_node *node)
{
	if (!node->drain)
		node->drain = sim_alarm_new(node->nodes->timeline, evict_all, node);
	sim_alarm_start(node->drain, 0);
}
