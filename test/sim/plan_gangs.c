/*
 * Gangs of other controllers, whose pods are gated, on nodes for which the QueueJobs compete too (since version 15 of the drawing); drawn from
 * a stream of their own.
 */
#include <stdio.h>

#include "api/names.h"
#include "test/sim/plan_stream.h"

enum { MILLI = 1000 };

/* --- drawing ------------------------------------------------------------------------------------------- */

static struct plan_gang gang(struct draw *d)
{
	enum { MOST = 5, SHORTEST = 20, LONGEST = 900 /* s */ };
	static const int timeouts[] = { 0, 5, 30, 120 };
	struct plan_gang g = { .min = between(d, 1, MOST), .queue = PLAN_UNSET, .timeout = PLAN_UNSET };

	g.pods = chance(d, 70) ? g.min : g.min + between(d, 1, 2);
	if (chance(d, 40))
		g.queue = between(d, 0, PLAN_QUEUES - 1);
	g.pods_name_it = g.queue != PLAN_UNSET && g.pods % 2;
	if (chance(d, 50))
		g.timeout = timeouts[between(d, 0, (int)KAR_LEN(timeouts) - 1)];
	g.task = (struct plan_task){
		.outcome = chance(d, 60) ? PLAN_SUCCEED : PLAN_RUN,
		.after = between(d, SHORTEST, LONGEST),
		.start = between(d, 0, 3),
		.stop = between(d, 0, 3),
		.cpu = d->p->node_cpu * MILLI * between(d, 1, 8) / 10,
	};
	g.bare = chance(d, 20) ? between(d, 1, g.pods) : 0;
	g.held = chance(d, 15);
	g.room = chance(d, 60) ? PLAN_ROOM_ANY : (enum plan_room)between(d, 1, PLAN_ROOMS - 1);
	g.node = between(d, 0, d->p->nodes - 1);
	return g;
}

static void trouble(struct draw *d, int number, kar_time at)
{
	enum { LATER = 600 /* s */, MANY = 16 };

	if (chance(d, 50))
		act(d, at > 0 ? at - 1 : 0, PLAN_GANG_ROB, 0, between(d, 1, LATER), number);
	if (chance(d, 20)) {
		kar_time then = at + a_moment(d) / MANY;
		int node = between(d, 0, d->p->nodes - 1);

		act(d, then, PLAN_CORDON, 0, 0, node);
		act(d, then + sim_random_between(&d->r, KAR_SECOND, LATER * KAR_SECOND), PLAN_UNCORDON, 0, 0,
			node);
	}
	for (int n = between(d, 0, 2); n > 0; n--)
		act(d, at + a_moment(d), PLAN_GANG_LOSE, 0, between(d, 0, MANY), number);
	if (chance(d, 30))
		act(d, at + sim_random_between(&d->r, 0, 2 * LATER * KAR_SECOND), PLAN_GANG_LOSE, 0,
			between(d, 0, MANY), number);
}

/* The group comes before or after its pods; these in one moment or in two. */
static void live(struct draw *d, int number, kar_time at)
{
	enum { LONGEST = 3600 /* s */ };
	const struct plan_gang *g = &d->p->others[number];
	kar_time group = chance(d, 60) ? at : at + a_moment(d), all = at;

	act(d, group, PLAN_GANG_GROUP, 0, 0, number);
	if (chance(d, 40)) {
		act(d, at, PLAN_GANG_PODS, 0, between(d, 0, g->pods - 1), number);
		all = at + a_moment(d);
	}
	act(d, all, PLAN_GANG_PODS, 0, g->pods, number);
	all = all > group ? all : group;
	if (g->held) {
		all += a_moment(d);
		act(d, all, PLAN_GANG_UNGATE, 0, 0, number);
	}
	trouble(d, number, all);
	if (chance(d, 70))
		act(d, all + sim_random_between(&d->r, 1, LONGEST * KAR_SECOND), PLAN_GANG_END, 0,
			between(d, 0, 1), number);
}

/* What a gang scheduler waits for, which does not see pods that have ended, is not for groups whose minMember nobody lowers. */
void plan_draw_gangs(struct plan *p)
{
	enum { MOST_NODES = 20 };
	struct draw d = { .p = p, .r = sim_random_of(p->seed, "gangs") };
	kar_time at = sim_random_between(&d.r, 0, p->length / 2);

	if (p->gangs || p->nodes > MOST_NODES || !chance(&d, 60))
		return;
	for (int n = between(&d, 1, 5); n > 0; n--) {
		p->others = kar_xrealloc(p->others, p->n_others + 1, sizeof(*p->others));
		p->others[p->n_others] = gang(&d);
		live(&d, (int)p->n_others++, at);
		at = chance(&d, 70) ? at + a_moment(&d) : sim_random_between(&d.r, 0, p->length);
	}
}

int64_t plan_gangs_keep(const struct plan *p)
{
	int64_t sum = 0;

	for (size_t i = 0; i < p->n_others; i++) {
		const struct plan_gang *g = &p->others[i];
		bool ends = g->task.outcome != PLAN_RUN;

		for (size_t k = 0; k < p->n_actions && !ends; k++)
			ends = p->actions[k].verb == PLAN_GANG_END && p->actions[k].value == (int)i;
		sum += ends ? 0 : (int64_t)g->task.cpu * g->pods;
	}
	return sum;
}

/* --- objects ------------------------------------------------------------------------------------------- */

const char *plan_gang_name(int gang, char out[PLAN_NAME])
{
	snprintf(out, PLAN_NAME, "g%d", gang);
	return out;
}

struct sim_value *plan_gang_group(const struct plan *p, int gang)
{
	const struct plan_gang *g = &p->others[gang];
	struct sim_value *v = sim_object();
	char name[PLAN_NAME];

	sim_set_text(&v, KAR_PODGROUP_API_VERSION, "apiVersion");
	sim_set_text(&v, "PodGroup", "kind");
	sim_set_text(&v, plan_gang_name(gang, name), "metadata", "name");
	sim_set(&v, sim_int(g->min), "spec", "minMember");
	if (g->queue != PLAN_UNSET && !g->pods_name_it)
		sim_set_text(&v, plan_queue_name(g->queue), "spec", "queue");
	if (g->timeout != PLAN_UNSET)
		sim_set(&v, sim_int(g->timeout), "spec", "scheduleTimeoutSeconds");
	return v;
}

static void add_gate(struct sim_value **gates, const char *name)
{
	struct sim_value *gate = sim_object();

	sim_set_text(&gate, name, "name");
	sim_append(gates, gate);
}

static void add_term(struct sim_value **terms, const char *operator, const char * node)
{
	struct sim_value *values = sim_array(), *label = sim_object(), *labels = sim_array(),
			 *term = sim_object();

	sim_append(&values, sim_string(node));
	sim_set_text(&label, "kubernetes.io/hostname", "key");
	sim_set_text(&label, operator, "operator");
	sim_set(&label, values, "values");
	sim_append(&labels, label);
	sim_set(&term, labels, "matchExpressions");
	sim_append(terms, term);
}

static void set_room(struct sim_value **pod, const struct plan_gang *g)
{
	struct sim_value *terms = sim_array();
	char node[PLAN_NAME];

	plan_node_name(g->node, node);
	if (g->room == PLAN_ROOM_NODE)
		sim_set_text(pod, node, "spec", "nodeSelector", "kubernetes.io/hostname");
	if (g->room == PLAN_ROOM_EITHER)
		add_term(&terms, "In", node);
	if (g->room == PLAN_ROOM_EITHER || g->room == PLAN_ROOM_OTHERS)
		add_term(&terms, "NotIn", node);
	if (sim_count(terms))
		sim_set(pod, sim_ref(terms), "spec", "affinity", "nodeAffinity",
			"requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms");
	sim_unref(terms);
}

static void set_owner(struct sim_value **pod, const char *name, const char *uid)
{
	struct sim_value *owner = sim_object(), *owners = sim_array();

	sim_set_text(&owner, "v1", "apiVersion");
	sim_set_text(&owner, "ConfigMap", "kind");
	sim_set_text(&owner, name, "name");
	sim_set_text(&owner, uid, "uid");
	sim_set(&owner, sim_bool(true), "controller");
	sim_append(&owners, owner);
	sim_set(pod, owners, "metadata", "ownerReferences");
}

struct sim_value *plan_gang_pod(const struct plan *p, int gang, int number, const char *owner)
{
	const struct plan_gang *g = &p->others[gang];
	struct plan_task task = g->task;
	struct sim_value *v, *gates = sim_array();
	char name[PLAN_NAME];

	task.cpu *= g->grows && number % 2 ? 2 : 1;
	v = plan_template(&task, 0);

	plan_gang_name(gang, name);
	sim_set_text(&v, "v1", "apiVersion");
	sim_set_text(&v, "Pod", "kind");
	sim_set(&v, sim_printf("%s-%d", name, number), "metadata", "name");
	sim_set_text(&v, name, "metadata", "labels", KAR_LABEL_POD_GROUP);
	if (g->pods_name_it)
		sim_set_text(&v, plan_queue_name(g->queue), "metadata", "labels", KAR_LABEL_QUEUE);
	sim_set_text(&v, "Never", "spec", "restartPolicy");
	add_gate(&gates, KAR_GATE);
	if (g->held && number == 0)
		add_gate(&gates, PLAN_GANG_GATE);
	sim_set(&v, gates, "spec", "schedulingGates");
	set_room(&v, g);
	if (number >= g->bare)
		set_owner(&v, name, owner);
	return v;
}
