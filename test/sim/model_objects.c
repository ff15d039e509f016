/* What is read of the objects that the model is about. */
#include "test/sim/model.h"

#include <stdio.h>
#include <string.h>

#include "common/base/str.h"
#include "api/names.h"
#include "api/status/reasons.h"
#include "test/sim/plan.h"

bool model_is_manager(const char *user)
{
	return strncmp(user, MODEL_MANAGER, strlen(MODEL_MANAGER)) == 0;
}

const char *model_resource_name(enum model_resource r)
{
	static const char *const names[MODEL_RESOURCES] = {
		[MODEL_JOBS] = "queuejobs",
		[MODEL_PODS] = "pods",
		[MODEL_GROUPS] = "podgroups",
		[MODEL_SPECS] = "schedulingspecs",
	};

	return names[r];
}

enum model_resource model_resource_of(const char *resource)
{
	int r = 0;

	while (r < MODEL_RESOURCES && strcmp(model_resource_name((enum model_resource)r), resource) != 0)
		r++;
	return (enum model_resource)r;
}

bool model_is_hostile(const char *ns)
{
	return kar_streq(ns, PLAN_HOSTILE_NS);
}

const char *model_owner(const struct sim_value *object)
{
	const struct sim_value *owners = sim_get(object, "metadata", "ownerReferences");

	for (size_t i = 0; i < sim_count(owners); i++) {
		const struct sim_value *o = sim_item(owners, i);

		if (sim_bool_of(sim_member(o, "controller"), false) &&
			strcmp(sim_text_or(sim_member(o, "kind"), ""), "QueueJob") == 0)
			return sim_text(sim_member(o, "uid"));
	}
	return NULL;
}

bool model_has_finalizer(const struct sim_value *object, const char *name)
{
	const struct sim_value *list = sim_get(object, "metadata", "finalizers");

	for (size_t i = 0; i < sim_count(list); i++) {
		if (strcmp(sim_text_or(sim_item(list, i), ""), name) == 0)
			return true;
	}
	return false;
}

enum kar_qj_phase model_phase(const struct sim_value *job)
{
	const char *text = sim_text_or(sim_get(job, "status", "phase"), "");

	for (int p = KAR_QJ_PHASE_PENDING; p <= KAR_QJ_PHASE_FAILED; p++) {
		if (strcmp(text, kar_qj_phase_name((enum kar_qj_phase)p)) == 0)
			return (enum kar_qj_phase)p;
	}
	return KAR_QJ_PHASE_NONE;
}

const struct sim_value *model_stored(const struct model *l, const struct model_job *j)
{
	return sim_apiserver_peek(l->server, KAR_GROUP, "queuejobs", j->ns, j->name);
}

const struct sim_value *model_condition(const struct sim_value *object, const char *type)
{
	const struct sim_value *list = sim_get(object, "status", "conditions");

	for (size_t i = 0; i < sim_count(list); i++) {
		if (strcmp(sim_text_or(sim_member(sim_item(list, i), "type"), ""), type) == 0)
			return sim_item(list, i);
	}
	return NULL;
}

static bool has_condition(const struct sim_value *object, const char *type)
{
	return kar_streq(sim_text(sim_member(model_condition(object, type), "status")), "True");
}

bool model_is_disrupted(const struct sim_value *pod)
{
	return has_condition(pod, "DisruptionTarget");
}

bool model_gave_back(const struct sim_value *job)
{
	const char *reason = sim_get_text(job, "status", "lastRestart", "reason");

	return kar_streq(reason, kar_reason_RolledBack) || kar_streq(reason, kar_reason_Preempted);
}

const char *model_group_queue(const struct sim_value *group)
{
	const char *label =
		model_owner(group) ? NULL : sim_get_text(group, "metadata", "labels", KAR_LABEL_QUEUE);

	return sim_text_or(sim_get(group, "spec", "queue"), label ? label : "default");
}

/* Its job is about to write its queue. */
static bool stays(const struct sim_value *group)
{
	return model_owner(group) && !sim_get(group, "spec", "queue");
}

bool model_is_admitted(const struct sim_value *group)
{
	return has_condition(group, "Admitted") &&
		(stays(group) ||
			kar_streq(sim_get_text(group, "status", "admittedQueue"), model_group_queue(group)));
}

bool model_is_admitted_by(const struct sim_value *group, int queue)
{
	return has_condition(group, "Admitted") &&
		model_queue(sim_text_or(sim_get(group, "status", "admittedQueue"), "default")) == queue;
}

bool model_is_invalid(const struct sim_value *job)
{
	return has_condition(job, "Invalid");
}

bool model_is_counted(const struct sim_value *job, const char *uid)
{
	const struct sim_value *list = sim_get(job, "status", "record", "countedPods");

	for (size_t i = 0; i < sim_count(list); i++) {
		if (strcmp(sim_text_or(sim_item(list, i), ""), uid) == 0)
			return true;
	}
	return false;
}

bool model_restarts(const struct sim_value *job, const char *task)
{
	const struct sim_value *tasks = sim_get(job, "status", "tasks");

	for (size_t i = 0; i < sim_count(tasks); i++) {
		const struct sim_value *t = sim_item(tasks, i);

		if (strcmp(sim_text_or(sim_member(t, "name"), ""), task) == 0)
			return sim_member(t, "restartTime") != NULL;
	}
	return false;
}

int model_queue(const char *name)
{
	return strcmp(name, "q1") == 0 ? 1 : strcmp(name, "q2") == 0 ? 2 : 0;
}

/* Calls @fn with the name of each pod of @j until it is true; then true. */
static bool any_name(const struct model_job *j, bool (*fn)(const void *arg, const char *name),
	const void *arg)
{
	for (int i = 0; i < j->n_tasks; i++) {
		for (int k = 0; k < j->tasks[i].replicas.now; k++) {
			char name[2 * MODEL_NAME + 16];

			snprintf(name, sizeof(name), "%s-%s-%d", j->name, j->tasks[i].name, k);
			if (fn(arg, name))
				return true;
		}
	}
	return false;
}

static bool is_name(const void *arg, const char *name)
{
	return strcmp(arg, name) == 0;
}

int model_members(const struct model_job *j)
{
	const struct model_pod *p;
	int n = 0;

	TAILQ_FOREACH(p, &j->pods, of_job)
		n += p->succeeded || (!p->failed && !p->deleting);
	return n;
}

bool model_has_name(const struct model_job *j, const char *name)
{
	return any_name(j, is_name, name);
}

struct place {
	const struct model *l;
	const struct model_job *j;
};

static bool is_taken(const void *arg, const char *name)
{
	const struct place *place = arg;
	const struct model_pod *p = model_find_pod(place->l, place->j->ns, name);

	return p && p->job != place->j;
}

bool model_names_are_free(const struct model *l, const struct model_job *j)
{
	return !any_name(j, is_taken, &(struct place){ l, j });
}

bool model_has_just_followed(struct model *l, const struct model_job *job)
{
	struct model_job *j;

	RB_FOREACH(j, model_jobs, &l->jobs) {
		if (j->gone && j->gone >= model_horizon(l) && !strcmp(j->ns, job->ns) &&
			!strcmp(j->name, job->name))
			return true;
	}
	return false;
}
