/* What one tenant does in its namespace makes no manager do anything in another, and what nobody can read is left alone. */
#include <stdlib.h>
#include <string.h>

#include "api/names.h"
#include "sim/wire.h"
#include "test/sim/rules.h"

/* --- namespaces ------------------------------------------------------------------------------------------ */

/* Pods, PodGroups, SchedulingSpecs and Services, which belong to jobs. */
static bool is_child(const struct sim_change *c)
{
	return c->ns && strcmp(c->resource, "queuejobs") != 0 && strcmp(c->resource, "resourcequotas") != 0;
}

/* Which any group may have. */
static bool is_status_of_group(const struct sim_change *c)
{
	return strcmp(c->resource, "podgroups") == 0 && c->subresource;
}

/* An owner is one only in its own namespace. What has our finalizer is released whoever put that on it. */
static void check_apart(const struct rule *r, const struct write *w)
{
	if (!is_child(w->c) || !w->job || strcmp(w->job->ns, w->c->ns) == 0 || rules_lets_go(w) ||
		is_status_of_group(w->c))
		return;
	model_break(w->l, r->name, "%s writes %s %s/%s as if it were of job %s/%s", w->c->user,
		w->c->resource, w->c->ns, w->c->name, w->job->ns, w->job->name);
}

/* A person, or the garbage collector, has taken it from its job, perhaps while the write was under way. */
static bool was_owned(const struct write *w)
{
	const struct model_pod *pod = model_find_pod(w->l, w->c->ns, w->c->name);

	return sim_get(w->c->old, "metadata", "labels", KAR_LABEL_QUEUEJOB) ||
		(pod && pod->tampered && strcmp(w->c->resource, "pods") == 0);
}

/* A pod that another controller has made gated; rules_gangs.c says what may be done with it. */
static bool is_gang_pod(const struct sim_change *c)
{
	return model_is_of_others(c->ns) && strcmp(c->resource, "pods") == 0 && c->old;
}

/* A group that another controller has made gets the queue that its pods name as its label, once, and nothing else. */
static bool is_queue_of_group(const struct sim_change *c)
{
	const struct sim_value *old = c->old;

	return model_is_of_others(c->ns) && strcmp(c->resource, "podgroups") == 0 && old && c->new &&
		!sim_get(old, "metadata", "labels", KAR_LABEL_QUEUE) &&
		sim_get(c->new, "metadata", "labels", KAR_LABEL_QUEUE) &&
		sim_equal(sim_get(old, "spec"), sim_get(c->new, "spec"));
}

/* Where all are honest, nothing is written that no job owns or has owned, but the status of a PodGroup. */
static void check_owned(const struct rule *r, const struct write *w)
{
	if (!is_child(w->c) || model_is_hostile(w->c->ns) || is_status_of_group(w->c) || rules_lets_go(w) ||
		model_owner(w->c->new) || model_owner(w->c->old) || was_owned(w) || is_gang_pod(w->c) ||
		is_queue_of_group(w->c))
		return;
	model_break(w->l, r->name, "%s writes %s %s/%s, which no job owns", w->c->user, w->c->resource,
		w->c->ns, w->c->name);
}

/* --- what cannot be read --------------------------------------------------------------------------------- */

/* For so long that every manager knows it. */
static bool is_unreadable(const struct model *l, const struct sim_value *object)
{
	const char *since = sim_get_text(object, "metadata", "annotations", RULES_UNREADABLE_SINCE);

	return sim_get(object, "metadata", "annotations", SIM_GARBLE) && since &&
		atoll(since) < model_horizon(l);
}

static const struct sim_value *peek(const struct write *w, const char *group, const char *resource,
	const char *name)
{
	return sim_apiserver_peek(w->l->server, group, resource, w->c->ns, name);
}

/* The object itself, or what decides about it: the job that owns it, the group of that. */
static const char *find_unreadable(const struct write *w, const char *job)
{
	if (is_unreadable(w->l, w->c->old))
		return "itself";
	if (is_status_of_group(w->c))
		return NULL;
	if (job && is_unreadable(w->l, peek(w, KAR_GROUP, "queuejobs", job)))
		return "its job";
	if (job && is_unreadable(w->l, peek(w, KAR_PODGROUP_GROUP, "podgroups", job)))
		return "its PodGroup";
	return NULL;
}

static void check_unreadable(const struct rule *r, const struct write *w)
{
	const struct sim_value *object = w->c->new ? w->c->new : w->c->old;
	const char *job = strcmp(w->c->resource, "queuejobs") == 0
		? w->c->name
		: sim_get_text(object, "metadata", "labels", KAR_LABEL_QUEUEJOB);
	const char *what = model_is_hostile(w->c->ns) ? find_unreadable(w, job) : NULL;

	if (what && (!job || peek(w, KAR_GROUP, "queuejobs", job)))
		model_break(w->l, r->name, "%s writes %s %s/%s although it cannot read %s", w->c->user,
			w->c->resource, w->c->ns, w->c->name, what);
}

const struct rule rules_of_tenants[] = {
	{ RULE_WRITTEN, "tenants-apart", "no object is touched for a job of another namespace", check_apart },
	{ RULE_WRITTEN, "owned",
		"nothing is written that no job owns, but statuses and queues of PodGroups and gated pods of others",
		check_owned },
	{ RULE_WRITTEN, "unreadable", "what cannot be read is left alone, and what it decides about",
		check_unreadable },
};
const size_t n_rules_of_tenants = KAR_LEN(rules_of_tenants);
