/*
 * Limits that hold: what the live pods of a queue ask for is never more than its capability by what a manager starts. For plans that never
 * lower one (plan_bounds.c).
 */
#include <string.h>

#include "api/names.h"
#include "common/base/str.h"
#include "test/sim/rules.h"

/* Of a queue, and of those of which it is the parent. */
struct use {
	const struct model *l;
	const char *queue, *ns; /* NULL: of all namespaces */
	int64_t cpu;            /* thousandths */
};

static const struct sim_value *queue_named(const struct model *l, const char *name)
{
	return sim_apiserver_peek(l->server, KAR_GROUP, "queues", NULL, name);
}

/* That of the queue which has admitted the group of @pod; NULL: none has. */
static const char *account_of(const struct model *l, const struct sim_value *pod)
{
	const char *name = sim_get_text(pod, "metadata", "labels", KAR_LABEL_POD_GROUP);
	const struct sim_value *group = name ? sim_apiserver_peek(l->server, KAR_PODGROUP_GROUP, "podgroups",
						       sim_get_text(pod, "metadata", "namespace"), name)
					     : NULL;
	const char *queue = sim_get_text(group, "status", "admittedQueue");

	return kar_has_text(queue) ? queue : NULL;
}

static bool is_below(const struct model *l, const char *queue, const char *above)
{
	return kar_streq(queue, above) ||
		kar_streq(sim_get_text(queue_named(l, queue), "spec", "parent"), above);
}

/* Pods of a job that is gone, or goes, are about to go: they are in no account. */
static bool is_orphaned(const struct model *l, const struct sim_value *pod)
{
	const char *uid = model_owner(pod);
	const struct model_job *j = uid ? model_find_job(l, uid) : NULL;

	return uid && (!j || j->gone || j->deleting || j->finished);
}

/* It uses a node, or may do so at any time. */
static bool is_started(const struct sim_value *pod)
{
	const char *phase = sim_text_or(sim_get(pod, "status", "phase"), "");

	return !sim_get(pod, "metadata", "deletionTimestamp") && strcmp(phase, "Succeeded") != 0 &&
		strcmp(phase, "Failed") != 0 && (sim_get(pod, "spec", "nodeName") || !model_is_gated(pod));
}

static void add_pod(void *arg, const struct sim_value *pod)
{
	struct use *u = arg;
	const char *queue = is_started(pod) && !is_orphaned(u->l, pod) ? account_of(u->l, pod) : NULL;

	if (queue && is_below(u->l, queue, u->queue) &&
		(!u->ns || kar_streq(u->ns, sim_get_text(pod, "metadata", "namespace"))))
		u->cpu += rules_requested_cpu(pod);
}

struct quorum {
	const struct sim_value *pod;
	int64_t started; /* members of its group, without it */
};

static void add_member(void *arg, const struct sim_value *pod)
{
	struct quorum *q = arg;
	const char *group = sim_get_text(pod, "metadata", "labels", KAR_LABEL_POD_GROUP);

	q->started += is_started(pod) &&
		kar_streq(group, sim_get_text(q->pod, "metadata", "labels", KAR_LABEL_POD_GROUP)) &&
		kar_streq(sim_get_text(pod, "metadata", "namespace"),
			sim_get_text(q->pod, "metadata", "namespace")) &&
		!kar_streq(sim_get_text(pod, "metadata", "name"), sim_get_text(q->pod, "metadata", "name"));
}

/*
 * Its group runs, and lacks members of its minimum. They are replaced at once, also where people have resized pods so that the queue has
 * more than its capability: otherwise the gang would be below its quorum because of others.
 */
static bool restores_minimum(const struct model *l, const struct sim_value *pod)
{
	struct quorum q = { .pod = pod };
	const struct sim_value *group = sim_apiserver_peek(l->server, KAR_PODGROUP_GROUP, "podgroups",
		sim_get_text(pod, "metadata", "namespace"),
		sim_get_text(pod, "metadata", "labels", KAR_LABEL_POD_GROUP));

	if (!kar_streq(sim_get_text(group, "status", "placement", "state"), "Satisfied"))
		return false;
	sim_apiserver_each(l->server, "", "pods", add_member, &q);
	/* Not of a minimum that was raised since. */
	return q.started < sim_get_int(group, 1, "status", "placement", "satisfiedMember");
}

static void check_queue(const struct rule *r, const struct write *w, const char *queue)
{
	const char *capability = sim_get_text(queue_named(w->l, queue), "spec", "capability", "cpu");
	struct use u = { .l = w->l, .queue = queue };
	int64_t most = capability ? rules_thousandths(capability) : INT64_MAX;

	if (capability)
		sim_apiserver_each(w->l->server, "", "pods", add_pod, &u);
	if (u.cpu > most)
		model_break(w->l, r->name,
			"%s starts pod %s/%s, and the pods of queue %s ask for %lld m of cpu: its capability is %lld m",
			w->c->user, w->c->ns, w->c->name, queue, (long long)u.cpu, (long long)most);
}

/* Of an inner queue nothing of that is drawn. */
static void check_namespace(const struct rule *r, const struct write *w, const char *queue)
{
	const char *most_text =
		sim_get_text(queue_named(w->l, queue), "spec", "perNamespace", "capability", "cpu");
	struct use u = { .l = w->l, .queue = queue, .ns = w->c->ns };
	int64_t most = most_text ? rules_thousandths(most_text) : INT64_MAX;

	if (most_text)
		sim_apiserver_each(w->l->server, "", "pods", add_pod, &u);
	if (u.cpu > most)
		model_break(w->l, r->name,
			"%s starts pod %s/%s, and the pods of its namespace ask for %lld m of cpu of queue %s: it allows each %lld m",
			w->c->user, w->c->ns, w->c->name, (long long)u.cpu, queue, (long long)most);
}

/* Pods that people resize may exceed it; what a manager starts comes on top of these. */
static void check_within(const struct rule *r, const struct write *w)
{
	const char *queue, *parent;

	if (!w->l->bounds || w->l->overlaps || !w->by_manager || !w->c->new || !is_started(w->c->new) ||
		(w->c->old && is_started(w->c->old)))
		return;
	queue = account_of(w->l, w->c->new);
	if (!queue || restores_minimum(w->l, w->c->new))
		return;
	check_queue(r, w, queue);
	check_namespace(r, w, queue);
	parent = sim_get_text(queue_named(w->l, queue), "spec", "parent");
	if (parent)
		check_queue(r, w, parent);
}

const struct rule rules_of_limits[] = {
	{ RULE_POD_CREATED, "within-capability", "no pod is started beyond the capability of its queue",
		check_within },
	{ RULE_POD_CHANGED, "within-capability", "no pod is started beyond the capability of its queue",
		check_within },
};
const size_t n_rules_of_limits = KAR_LEN(rules_of_limits);
