#include <string.h>

#include "sim/nodes/internal.h"

/* As the taint eviction controller: deletes pods that do not tolerate a NoExecute taint of their node, or not for longer. */

static void evict(void *arg)
{
	struct sim_pod *p = arg;

	p->eviction.done = true;
	sim_nodes_event(p->nodes, "Pod", p->value, "taint-eviction-controller", "Normal",
		"TaintManagerEviction", "Marking for deletion Pod %s/%s", p->ns, p->name);
	sim_call_disrupt(p, SIM_USER_CONTROLLER, "DeletionByTaintManager",
		"Taint manager: deleting due to NoExecute taint", false);
	sim_call_delete(p, SIM_USER_CONTROLLER, -1);
}

static void cancel(struct sim_pod *p)
{
	if (p->eviction.alarm)
		sim_alarm_stop(p->eviction.alarm);
}

/* How long the pod may stay on its node; KAR_NEVER: for ever. */
static kar_time toleration_of(const struct sim_pod *p)
{
	const struct sim_value *taints = sim_get(p->node->value, "spec", "taints");
	kar_time least = KAR_NEVER;

	for (size_t i = 0; i < sim_count(taints); i++) {
		const struct sim_value *taint = sim_item(taints, i), *toleration;
		const struct sim_value *seconds;
		kar_time wait;

		if (strcmp(sim_text_or(sim_member(taint, "effect"), ""), "NoExecute") != 0)
			continue;
		toleration = sim_toleration_of(p->value, taint);
		if (!toleration)
			return 0;
		seconds = sim_member(toleration, "tolerationSeconds");
		wait = seconds ? sim_seconds(sim_int_of(seconds, 0)) : KAR_NEVER;
		if (wait < least)
			least = wait;
	}
	return least;
}

void sim_eviction_see_pod(struct sim_pod *p)
{
	kar_time now = sim_timeline_mono(p->nodes->timeline), wait;

	if (!p->node || !p->node->evicts) {
		p->eviction.done = false;
		cancel(p);
		return;
	}
	if (p->eviction.done)
		return;
	wait = toleration_of(p);
	if (wait == KAR_NEVER) {
		cancel(p);
		return;
	}
	if (!p->eviction.alarm)
		p->eviction.alarm = sim_alarm_new(p->nodes->timeline, evict, p);
	/* A timer that runs is not put off; one that was set for longer than the taints now allow is. */
	if (sim_alarm_running(p->eviction.alarm) && p->eviction.since + wait >= p->eviction.due)
		return;
	if (!sim_alarm_running(p->eviction.alarm))
		p->eviction.since = now;
	p->eviction.due = p->eviction.since + wait;
	sim_alarm_start(p->eviction.alarm, p->eviction.due > now ? p->eviction.due - now : 0);
}

void sim_eviction_see_node(struct sim_node *node)
{
	struct sim_pod *p;

	TAILQ_FOREACH(p, &node->pods, on_node)
		sim_eviction_see_pod(p);
}

void sim_eviction_release(struct sim_pod *p)
{
	sim_alarm_free(p->eviction.alarm);
}
