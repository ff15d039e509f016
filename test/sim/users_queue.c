/* What people do to PodGroups and their queues. */
#include "api/names.h"
#include "test/sim/users_impl.h"

static void make_group(struct world *w, const char *ns, const char *name, const struct plan_action *a)
{
	struct sim_value *v = users_named(KAR_PODGROUP_GROUP "/v1alpha1", "PodGroup", name);

	if (a->task == PLAN_GROUP_OF_JOB)
		sim_set_text(&v, name, "metadata", "labels", KAR_LABEL_QUEUEJOB);
	sim_set(&v, sim_int(1), "spec", "minMember");
	if (a->value != PLAN_UNSET)
		sim_set_text(&v, plan_queue_name(a->value), "spec", "queue");
	users_ask(w, users_request(KAR_CREATE, &users_groups, ns, NULL), v);
}

/* The CRD refuses another queue in the place of one that is set; the simulated API server does not evaluate that. */
static void move_group(struct world *w, const char *ns, const char *name, int queue)
{
	struct sim_value *v = sim_ref(users_peek(w, &users_groups, ns, name));
	bool is_set = sim_get(v, "spec", "queue") != NULL;

	if (!v || is_set == (queue != PLAN_UNSET)) {
		sim_unref(v);
		return;
	}
	if (queue == PLAN_UNSET)
		sim_remove(&v, "spec", "queue");
	else
		sim_set_text(&v, plan_queue_name(queue), "spec", "queue");
	users_ask(w, users_request(KAR_UPDATE, &users_groups, ns, name), v);
}

void users_act_on_queue(struct world *w, const struct plan_action *a)
{
	const struct plan_job *j = &w->plan->jobs[a->job];
	char name[PLAN_NAME];

	plan_group_name(j, (enum plan_group)a->task, name);
	if (a->verb == PLAN_MAKE_GROUP)
		make_group(w, plan_ns_name(j->ns), name, a);
	else
		move_group(w, plan_ns_name(j->ns), name, a->value);
}
