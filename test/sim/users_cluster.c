/* What people do to the cluster as a whole: namespaces, quotas, queues, nodes. */
#include "test/sim/users_impl.h"

#include <string.h>

#include "api/names.h"

const struct users_kind users_jobs = { KAR_GROUP, "v1alpha1", "queuejobs" };
const struct users_kind users_queues = { KAR_GROUP, "v1alpha1", "queues" };
const struct users_kind users_groups = { KAR_PODGROUP_GROUP, "v1alpha1", "podgroups" };
const struct users_kind users_specs = { KAR_GROUP, "v1alpha1", "schedulingspecs" };
const struct users_kind users_pods = { "", "v1", "pods" };
static const struct users_kind quotas = { "", "v1", "resourcequotas" };
static const struct users_kind namespaces = { "", "v1", "namespaces" };
static const struct users_kind topologies = { KAR_GROUP, "v1alpha1", "topologies" };
static const struct users_kind classes = { "scheduling.k8s.io", "v1", "priorityclasses" };

/* --- requests ------------------------------------------------------------------------------------------ */

struct sim_request users_request(enum kar_verb verb, const struct users_kind *k, const char *ns,
	const char *name)
{
	return (struct sim_request){ .verb = verb,
		.group = k->group,
		.version = k->version,
		.resource = k->resource,
		.ns = ns,
		.name = name,
		.user = USERS_ALICE };
}

/* Consumes @object. People do not mind being refused. */
void users_ask(struct world *w, struct sim_request rq, struct sim_value *object)
{
	struct sim_response r;

	rq.object = object;
	sim_apiserver_call(w->server, &rq, &r);
	if (r.code >= 300)
		trace_tell(w, rq.user, "is refused: %d %s", r.code,
			sim_text_or(sim_member(r.object, "message"), ""));
	sim_response_release(&r);
	sim_unref(object);
}

const struct sim_value *users_peek(const struct world *w, const struct users_kind *k, const char *ns,
	const char *name)
{
	return sim_apiserver_peek(w->server, k->group, k->resource, ns, name);
}

struct sim_value *users_named(const char *api_version, const char *kind, const char *name)
{
	struct sim_value *v = sim_object();

	sim_set_text(&v, api_version, "apiVersion");
	sim_set_text(&v, kind, "kind");
	sim_set_text(&v, name, "metadata", "name");
	return v;
}

void users_delete(struct world *w, const struct users_kind *k, const char *ns, const char *name,
	int propagation)
{
	static const char *const policies[] = { "Background", "Foreground", "Orphan" };
	struct sim_value *options = sim_object();

	sim_set_text(&options, "DeleteOptions", "kind");
	sim_set_text(&options, "v1", "apiVersion");
	sim_set_text(&options, policies[propagation], "propagationPolicy");
	users_ask(w, users_request(KAR_DELETE, k, ns, name), options);
}

bool users_is_foreign(const struct sim_value *pod)
{
	return pod && !model_owner(pod) && !sim_get(pod, "metadata", "labels", KAR_LABEL_QUEUEJOB);
}

/* --- the cluster --------------------------------------------------------------------------------------- */

/* PriorityClass knows the better half of the classes. */
static struct sim_value *scope_object(enum plan_scope scope)
{
	struct sim_value *v = sim_object(), *list = sim_array(), *values = sim_array();

	sim_set_text(&v, plan_scope_name(scope), "scopeName");
	sim_set_text(&v, scope == PLAN_SCOPE_CLASS ? "In" : "Exists", "operator");
	for (int i = 1; i < PLAN_CLASSES; i++)
		sim_append(&values, sim_string(plan_class_name(i)));
	if (scope == PLAN_SCOPE_CLASS)
		sim_set(&v, sim_ref(values), "values");
	sim_unref(values);
	sim_append(&list, v);
	return list;
}

static void set_quota(struct world *w, const char *space, const char *name, struct sim_value *scopes,
	int pods)
{
	const struct sim_value *old = users_peek(w, &quotas, space, name);
	struct sim_value *v = old ? sim_ref(old) : users_named("v1", "ResourceQuota", name);

	sim_set(&v, sim_printf("%d", pods), "spec", "hard", "pods");
	if (scopes)
		sim_set(&v, scopes, "spec", "scopeSelector", "matchExpressions");
	if (pods == PLAN_UNSET && old)
		users_delete(w, &quotas, space, name, 0);
	else if (pods != PLAN_UNSET)
		users_ask(w, users_request(old ? KAR_UPDATE : KAR_CREATE, &quotas, space, old ? name : NULL),
			sim_ref(v));
	sim_unref(v);
}

void users_set_quota(struct world *w, int ns, int pods)
{
	set_quota(w, plan_ns_name(ns), "quota", NULL, pods);
}

void users_set_scoped_quota(struct world *w, int ns, enum plan_scope scope, int pods)
{
	static const char *const names[PLAN_SCOPES] = { "quota-class", "quota-terminating",
		"quota-best-effort" };

	set_quota(w, plan_ns_name(ns), names[scope], scope_object(scope), pods);
}

void users_set_queue(struct world *w, int queue, int max_jobs, bool strict)
{
	const char *name = plan_queue_name(queue);
	const struct sim_value *old = users_peek(w, &users_queues, NULL, name);
	struct sim_value *v = old ? sim_ref(old) : users_named(KAR_API_VERSION, "Queue", name);

	sim_set_text(&v, max_jobs == 0 ? "Closed" : "Open", "spec", "state");
	sim_set_text(&v, strict ? "StrictFIFO" : "BestEffortFIFO", "spec", "queueingStrategy");
	if (w->plan->has_rights)
		sim_set(&v, sim_bool(max_jobs == 0 && w->plan->rights[queue].drains), "spec", "drain");
	if (max_jobs > 0)
		sim_set(&v, sim_int(max_jobs), "spec", "maxJobs");
	else
		sim_remove(&v, "spec", "maxJobs");
	users_ask(w, users_request(old ? KAR_UPDATE : KAR_CREATE, &users_queues, NULL, old ? name : NULL), v);
}

/* In CPUs; PLAN_UNSET: not at all. */
static void set_amount(struct sim_value **queue, const char *field, int cpus)
{
	if (cpus == PLAN_UNSET)
		sim_remove(queue, "spec", field);
	else
		sim_set(queue, sim_printf("%d", cpus), "spec", field, "cpu");
}

static void set_text(struct sim_value **queue, const char *field, const char *text)
{
	if (text)
		sim_set_text(queue, text, "spec", field);
	else
		sim_remove(queue, "spec", field);
}

void users_set_rights(struct world *w, int queue, bool on)
{
	const char *name = plan_queue_name(queue);
	const struct sim_value *old = users_peek(w, &users_queues, NULL, name);
	static const struct plan_rights none = { .weight = PLAN_UNSET,
		.guarantee = PLAN_UNSET,
		.deserved = PLAN_UNSET,
		.capability = PLAN_UNSET };
	const struct plan_rights *r = on ? &w->plan->rights[queue] : &none;
	struct sim_value *v;

	if (!old)
		return;
	v = sim_ref(old);
	if (r->weight == PLAN_UNSET)
		sim_remove(&v, "spec", "weight");
	else
		sim_set(&v, sim_int(r->weight), "spec", "weight");
	set_amount(&v, "guarantee", r->guarantee);
	set_amount(&v, "deserved", r->deserved);
	set_amount(&v, "capability", r->capability);
	sim_remove(&v, "spec", "perNamespace");
	if (r->ns_cpus)
		sim_set(&v, sim_printf("%d", r->ns_cpus), "spec", "perNamespace", "capability", "cpu");
	if (r->ns_jobs)
		sim_set(&v, sim_int(r->ns_jobs), "spec", "perNamespace", "maxJobs");
	set_text(&v, "preemptionPolicy", r->preempts ? "LowerPriority" : NULL);
	set_text(&v, "parent", r->in_team ? PLAN_TEAM : NULL);
	sim_set(&v, sim_bool(!r->keeps), "spec", "reclaimable");
	users_ask(w, users_request(KAR_UPDATE, &users_queues, NULL, name), v);
}

static void prepare_rights(struct world *w)
{
	struct sim_value *team = users_named(KAR_API_VERSION, "Queue", PLAN_TEAM);

	set_amount(&team, "deserved", w->plan->team_deserves);
	set_amount(&team, "capability", w->plan->team_capability);
	if (w->plan->team_half_life)
		sim_set(&team, sim_int(w->plan->team_half_life), "spec", "fairness", "halfLifeSeconds");
	users_ask(w, users_request(KAR_CREATE, &users_queues, NULL, NULL), team);
	for (int q = 0; q < PLAN_QUEUES; q++)
		users_set_rights(w, q, true);
}

static void add_node(struct world *w, int node)
{
	struct sim_value *capacity = sim_object(), *labels = sim_object();
	struct sim_node_options o = { 0 };
	char name[PLAN_NAME];
	struct kar_err err;

	sim_set(&capacity, sim_printf("%d", w->plan->node_cpu), "cpu");
	o.name = plan_node_name(node, name);
	o.capacity = capacity;
	if (w->plan->zones) {
		sim_set_text(&labels, plan_zone_name(node), PLAN_ZONE_LABEL);
		o.labels = labels;
	}
	if (!sim_apiserver_peek(w->server, "", "nodes", NULL, name) && sim_nodes_add(w->nodes, &o, &err))
		trace_tell(w, USERS_ALICE, "cannot add node %s: %s", name, err.msg);
	sim_unref(capacity);
	sim_unref(labels);
}

void users_act_on_node(struct world *w, const struct plan_action *a)
{
	char name[PLAN_NAME];
	struct sim_nodes *n = w->nodes;

	plan_node_name(a->value, name);
	switch (a->verb) {
	case PLAN_CORDON:
	case PLAN_UNCORDON:
		(void)sim_nodes_cordon(n, name, a->verb == PLAN_CORDON, NULL);
		break;
	case PLAN_DRAIN:
		(void)sim_nodes_drain(n, name, NULL);
		break;
	case PLAN_NODE_LOST:
		(void)sim_nodes_kill(n, name, a->task ? SIM_LOSS_POWER : SIM_LOSS_NETWORK, NULL);
		break;
	case PLAN_NODE_BACK:
		(void)sim_nodes_recover(n, name, NULL);
		break;
	case PLAN_NODE_GONE:
		(void)sim_nodes_remove(n, name, NULL);
		break;
	case PLAN_PRESSURE:
		(void)sim_nodes_pressure(n, name, KAR_MINUTE, NULL);
		break;
	default:
		add_node(w, a->value);
		break;
	}
}

/* --- before and after ---------------------------------------------------------------------------------- */

static void prepare_topology(struct world *w)
{
	struct sim_value *v = users_named(KAR_API_VERSION, "Topology", "zones"), *level = sim_object();
	struct sim_value *levels = sim_array();

	sim_set_text(&level, PLAN_ZONE_LABEL, "nodeLabel");
	sim_append(&levels, level);
	sim_set(&v, levels, "spec", "levels");
	users_ask(w, users_request(KAR_CREATE, &topologies, NULL, NULL), v);
}

void users_prepare(struct world *w)
{
	static const int values[PLAN_CLASSES] = { 100, 1000, 10000 };

	for (int i = 0; i < PLAN_NAMESPACES; i++)
		users_ask(w, users_request(KAR_CREATE, &namespaces, NULL, NULL),
			users_named("v1", "Namespace", plan_ns_name(i)));
	for (int i = 0; i < PLAN_CLASSES; i++) {
		struct sim_value *v =
			users_named("scheduling.k8s.io/v1", "PriorityClass", plan_class_name(i));

		sim_set(&v, sim_int(values[i]), "value");
		users_ask(w, users_request(KAR_CREATE, &classes, NULL, NULL), v);
	}
	for (int q = 0; q < PLAN_QUEUES; q++)
		users_set_queue(w, q, w->plan->max_jobs[q], w->plan->strict[q]);
	if (w->plan->has_rights)
		prepare_rights(w);
	if (w->plan->topology)
		prepare_topology(w);
	for (int n = 0; n < w->plan->nodes; n++)
		add_node(w, n);
	users_prepare_hostile(w);
	users_prepare_gangs(w);
}

struct foreign {
	struct world *w;
	char names[64][2][PLAN_NAME];
	size_t n;
};

static void collect_foreign(void *arg, const struct sim_value *pod)
{
	struct foreign *f = arg;

	if (!users_is_foreign(pod) || users_is_gang_pod(pod) || f->n == KAR_LEN(f->names))
		return;
	snprintf(f->names[f->n][0], PLAN_NAME, "%s", sim_text_or(sim_get(pod, "metadata", "namespace"), ""));
	snprintf(f->names[f->n++][1], PLAN_NAME, "%s", sim_text_or(sim_get(pod, "metadata", "name"), ""));
}

static void delete_foreign(struct world *w)
{
	struct foreign f = { .w = w };

	sim_apiserver_each(w->server, "", "pods", collect_foreign, &f);
	for (size_t i = 0; i < f.n; i++)
		users_delete(w, &users_pods, f.names[i][0], f.names[i][1], 0);
}

void users_restore(struct world *w)
{
	char name[PLAN_NAME];

	for (int n = 0; n < w->plan->nodes + 4; n++) {
		plan_node_name(n, name);
		if (n < w->plan->nodes)
			add_node(w, n);
		(void)sim_nodes_recover(w->nodes, name, NULL);
		(void)sim_nodes_cordon(w->nodes, name, false, NULL);
	}
	for (int i = 0; i < PLAN_NAMESPACES; i++) {
		users_set_quota(w, i, PLAN_UNSET);
		for (int s = 0; s < PLAN_SCOPES; s++)
			users_set_scoped_quota(w, i, (enum plan_scope)s, PLAN_UNSET);
	}
	for (int q = 0; q < PLAN_QUEUES; q++)
		users_set_queue(w, q, PLAN_UNSET, false);
	for (int q = 0; q < PLAN_QUEUES && w->plan->has_rights; q++)
		users_set_rights(w, q, w->plan->shares);
	delete_foreign(w);
	users_mend_jobs(w);
	users_mend_specs(w);
	users_calm_hostile(w);
	users_calm_gangs(w);
}
