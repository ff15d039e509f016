/*
 * Other controllers, each of which keeps the pods of one gang: what is deleted or has failed comes again under another name, as a Job or a
 * ReplicaSet does it. Their pods belong to a ConfigMap, so that they go with it.
 */
#include <stdlib.h>
#include <string.h>

#include "api/names.h"
#include "common/base/mem.h"
#include "test/sim/users_impl.h"

#define USER "operator"

static const struct users_kind owners = { "", "v1", "configmaps" };
static const struct users_kind namespaces = { "", "v1", "namespaces" };

struct keeper {
	bool began, ended;
	int pods;   /* that it keeps */
	int number; /* of the next pod */
};

struct users_gangs {
	struct world *w;
	struct keeper *keepers; /* of each gang of the plan */
	struct sim_random random;
	struct sim_alarm *alarm; /* one of them looks at its pods */
};

static struct sim_request request(enum kar_verb verb, const struct users_kind *k, const char *name)
{
	struct sim_request rq = users_request(verb, k, PLAN_GANG_NS, name);

	rq.user = USER;
	return rq;
}

static void drop(struct world *w, const struct users_kind *k, const char *name)
{
	struct sim_value *options = sim_object();

	sim_set_text(&options, "DeleteOptions", "kind");
	sim_set_text(&options, "v1", "apiVersion");
	sim_set_text(&options, "Background", "propagationPolicy");
	users_ask(w, request(KAR_DELETE, k, name), options);
}

/* --- what there is ------------------------------------------------------------------------------------- */

struct members {
	const char *group;
	char (*names)[PLAN_NAME];
	size_t n;
	int kept; /* of them: those that need nobody in their place */
};

static bool is_kept(const struct sim_value *pod)
{
	return !sim_get(pod, "metadata", "deletionTimestamp") &&
		strcmp(sim_text_or(sim_get(pod, "status", "phase"), ""), "Failed") != 0;
}

static void add_member(void *arg, const struct sim_value *pod)
{
	struct members *m = arg;
	const char *group = sim_get_text(pod, "metadata", "labels", KAR_LABEL_POD_GROUP);

	if (!users_is_gang_pod(pod) || strcmp(group, m->group) != 0)
		return;
	m->names = kar_xrealloc(m->names, m->n + 1, sizeof(*m->names));
	snprintf(m->names[m->n++], PLAN_NAME, "%s", sim_text_or(sim_get(pod, "metadata", "name"), ""));
	m->kept += is_kept(pod);
}

/* To be freed: .names. */
static struct members members_of(const struct world *w, const char *group)
{
	struct members m = { .group = group };

	sim_apiserver_each(w->server, "", "pods", add_member, &m);
	return m;
}

bool users_is_gang_pod(const struct sim_value *pod)
{
	return strcmp(sim_text_or(sim_get(pod, "metadata", "namespace"), ""), PLAN_GANG_NS) == 0 &&
		sim_get(pod, "metadata", "labels", KAR_LABEL_POD_GROUP);
}

/* --- a controller -------------------------------------------------------------------------------------- */

static void create_pod(struct users_gangs *u, int gang, const char *name)
{
	const struct sim_value *owner = users_peek(u->w, &owners, PLAN_GANG_NS, name);

	users_ask(u->w, request(KAR_CREATE, &users_pods, NULL),
		plan_gang_pod(u->w->plan, gang, u->keepers[gang].number++,
			sim_text_or(sim_get(owner, "metadata", "uid"), "")));
}

static void keep(struct users_gangs *u, int gang)
{
	char name[PLAN_NAME];
	struct members m = members_of(u->w, plan_gang_name(gang, name));

	for (int kept = m.kept; !u->keepers[gang].ended && kept < u->keepers[gang].pods; kept++)
		create_pod(u, gang, name);
	free(m.names);
}

static void on_alarm(void *arg)
{
	struct users_gangs *u = arg;

	for (size_t i = 0; i < u->w->plan->n_others; i++) {
		if (u->keepers[i].began)
			keep(u, (int)i);
	}
}

void users_gangs_see(struct world *w, const struct sim_change *c)
{
	enum { SOONEST = 5, LATEST = 3000 /* ms */ };
	struct users_gangs *u = w->gangs;

	if (strcmp(c->resource, "pods") != 0 || !c->ns || strcmp(c->ns, PLAN_GANG_NS) != 0 ||
		(c->new &&is_kept(c->new)) || sim_alarm_running(u->alarm))
		return;
	sim_alarm_start(u->alarm, sim_random_between(&u->random, SOONEST, LATEST));
}

static void begin(struct users_gangs *u, int gang)
{
	char name[PLAN_NAME];

	if (u->keepers[gang].began)
		return;
	u->keepers[gang].began = true;
	users_ask(u->w, request(KAR_CREATE, &owners, NULL),
		users_named("v1", "ConfigMap", plan_gang_name(gang, name)));
}

/* --- what a plan asks for ------------------------------------------------------------------------------ */

static void set_pods(struct users_gangs *u, int gang, int pods)
{
	u->keepers[gang].pods = pods;
	keep(u, gang);
}

static void ungate(struct world *w, const char *pod)
{
	struct sim_value *v = sim_ref(users_peek(w, &users_pods, PLAN_GANG_NS, pod));
	struct sim_value *gates = sim_ref(sim_get(v, "spec", "schedulingGates"));

	for (size_t i = 0; i < sim_count(gates); i++) {
		if (strcmp(sim_text_or(sim_member(sim_item(gates, i), "name"), ""), PLAN_GANG_GATE) != 0)
			continue;
		sim_drop(&gates, i);
		sim_set(&v, sim_ref(gates), "spec", "schedulingGates");
		users_ask(w, request(KAR_UPDATE, &users_pods, pod), sim_ref(v));
		break;
	}
	sim_unref(gates);
	sim_unref(v);
}

static void ungate_all(struct world *w, const char *name)
{
	struct members m = members_of(w, name);

	for (size_t i = 0; i < m.n; i++)
		ungate(w, m.names[i]);
	free(m.names);
}

static void lose(struct world *w, const char *name, int number)
{
	struct members m = members_of(w, name);

	if (m.n)
		drop(w, &users_pods, m.names[(size_t)number % m.n]);
	free(m.names);
}

/* Pods without an owner are deleted by hand. */
static void end(struct users_gangs *u, int gang, const char *name, bool pods_first)
{
	struct members m = members_of(u->w, name);

	u->keepers[gang].ended = true;
	if (!pods_first)
		drop(u->w, &users_groups, name);
	drop(u->w, &owners, name);
	for (size_t i = 0; i < m.n && u->w->plan->others[gang].bare; i++)
		drop(u->w, &users_pods, m.names[i]);
	if (pods_first)
		drop(u->w, &users_groups, name);
	free(m.names);
}

static void create_group(struct world *w, int gang)
{
	users_ask(w, request(KAR_CREATE, &users_groups, NULL), plan_gang_group(w->plan, gang));
}

void users_act_on_gang(struct world *w, const struct plan_action *a)
{
	char name[PLAN_NAME];

	plan_gang_name(a->value, name);
	if (w->gangs->keepers[a->value].ended)
		return;
	begin(w->gangs, a->value);
	switch (a->verb) {
	case PLAN_GANG_GROUP:
		create_group(w, a->value);
		break;
	case PLAN_GANG_PODS:
		set_pods(w->gangs, a->value, a->task);
		break;
	case PLAN_GANG_UNGATE:
		ungate_all(w, name);
		break;
	case PLAN_GANG_LOSE:
		lose(w, name, a->task);
		break;
	case PLAN_GANG_ROB:
		race_room_wait(w, PLAN_GANG_NS, name, a->task);
		break;
	default:
		end(w->gangs, a->value, name, a->task != 0);
		break;
	}
}

/* --- before and after ---------------------------------------------------------------------------------- */

void users_gangs_init(struct world *w)
{
	struct users_gangs *u = kar_xcalloc(1, sizeof(*u));

	u->w = w;
	u->keepers = kar_xcalloc(w->plan->n_others + 1, sizeof(*u->keepers));
	u->random = sim_random_of(w->plan->seed, "operators");
	u->alarm = sim_alarm_new(w->timeline, on_alarm, u);
	w->gangs = u;
}

void users_gangs_release(struct world *w)
{
	sim_alarm_free(w->gangs->alarm);
	free(w->gangs->keepers);
	free(w->gangs);
}

void users_prepare_gangs(struct world *w)
{
	struct sim_request rq = users_request(KAR_CREATE, &namespaces, NULL, NULL);

	if (w->plan->n_others)
		users_ask(w, rq, users_named("v1", "Namespace", PLAN_GANG_NS));
}

/* Each gang that has begun and has not ended is whole, as far as it is for its controller. */
void users_calm_gangs(struct world *w)
{
	for (size_t i = 0; i < w->plan->n_others; i++) {
		struct keeper *k = &w->gangs->keepers[i];
		char name[PLAN_NAME];

		if (!k->began || k->ended)
			continue;
		plan_gang_name((int)i, name);
		if (!users_peek(w, &users_groups, PLAN_GANG_NS, name))
			create_group(w, (int)i);
		set_pods(w->gangs, (int)i, w->plan->others[i].pods);
		ungate_all(w, name);
	}
}
