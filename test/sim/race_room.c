/* Bob, whose pod gets to a node of a plan in the very moment in which the gang is placed there. */
#include <string.h>

#include <bsd/string.h>

#include "api/names.h"
#include "test/sim/rules.h"
#include "test/sim/users_impl.h"

enum { SOON_MAX = 8 }; /* ms: from before the pods of the gang come to when some of them have been bound */

/* The first node that the plan names. */
static bool first_node(const struct sim_value *group, char *out, size_t size)
{
	const struct sim_value *role = sim_item(sim_get(group, "status", "placement", "plan"), 0);
	const char *nodes = sim_text_or(sim_member(role, "nodes"), "");
	size_t n = strcspn(nodes, "* ");

	if (!n || n >= size)
		return false;
	memcpy(out, nodes, n);
	out[n] = '\0';
	return true;
}

/* Nothing but the name of the node decides where it goes. */
static void pin(struct sim_value **pod, const char *node)
{
	struct sim_value *values = sim_array(), *field = sim_object(), *fields = sim_array(),
			 *term = sim_object(), *terms = sim_array();

	sim_append(&values, sim_string(node));
	sim_set_text(&field, "metadata.name", "key");
	sim_set_text(&field, "In", "operator");
	sim_set(&field, values, "values");
	sim_append(&fields, field);
	sim_set(&term, fields, "matchFields");
	sim_append(&terms, term);
	sim_set(pod, terms, "spec", "affinity", "nodeAffinity",
		"requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms");
}

static void on_moment(void *arg)
{
	struct world *w = arg;
	struct plan_task task = { .outcome = PLAN_SUCCEED,
		.after = w->race_room.seconds,
		.cpu = w->plan->node_cpu * 1000 / 2 };
	struct sim_request rq = users_request(KAR_CREATE, &users_pods, w->race_room.ns, NULL);
	struct sim_value *v = plan_template(&task, 0);

	sim_set_text(&v, "v1", "apiVersion");
	sim_set_text(&v, "Pod", "kind");
	sim_set(&v, sim_printf("thief-%d", ++w->race_room.thieves), "metadata", "name");
	if (w->race_room.bound) {
		sim_set_text(&v, w->race_room.node, "spec", "nodeName");
		sim_set_text(&v, "Never", "spec", "restartPolicy");
	} else
		pin(&v, w->race_room.node);
	rq.user = USERS_BOB;
	users_ask(w, rq, v);
	w->race_room.job[0] = '\0';
}

void race_room_init(struct world *w)
{
	w->race_room.alarm = sim_alarm_new(w->timeline, on_moment, w);
}

void race_room_release(struct world *w)
{
	sim_alarm_free(w->race_room.alarm);
}

void race_room_wait(struct world *w, const char *ns, const char *job, int seconds)
{
	if (sim_alarm_running(w->race_room.alarm))
		return;
	strlcpy(w->race_room.ns, ns, sizeof(w->race_room.ns));
	strlcpy(w->race_room.job, job, sizeof(w->race_room.job));
	w->race_room.seconds = seconds;
}

/* Against pods that are created bound he needs no scheduler either. */
static void start(struct world *w)
{
	const struct sim_value *job = users_peek(w, &users_jobs, w->race_room.ns, w->race_room.job);

	w->race_room.bound = job && rules_is_direct(job);
	sim_alarm_start(w->race_room.alarm, sim_random_between(&w->random, 0, SOON_MAX));
}

void race_room_see(struct world *w, const struct sim_change *c)
{
	if (w->race_room.job[0] && !w->calm && strcmp(c->resource, "podgroups") == 0 &&
		strcmp(c->ns, w->race_room.ns) == 0 && strcmp(c->name, w->race_room.job) == 0 &&
		rules_begins_attempt(c) && first_node(c->new, w->race_room.node, sizeof(w->race_room.node)))
		start(w);
}
