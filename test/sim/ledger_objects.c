/* What is read of the objects that the ledger is about. */
#include "test/sim/ledger.h"

#include <stdio.h>
#include <string.h>

#include "api/keep.h"
#include "api/names.h"
#include "api/reasons.h"

bool ledger_is_manager(const char *user)
{
	return strncmp(user, LEDGER_MANAGER, strlen(LEDGER_MANAGER)) == 0;
}

const char *ledger_owner(const struct sim_value *object)
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

bool ledger_has_finalizer(const struct sim_value *object, const char *name)
{
	const struct sim_value *list = sim_get(object, "metadata", "finalizers");

	for (size_t i = 0; i < sim_count(list); i++) {
		if (strcmp(sim_text_or(sim_item(list, i), ""), name) == 0)
			return true;
	}
	return false;
}

enum kar_qj_phase ledger_phase(const struct sim_value *job)
{
	const char *text = sim_text_or(sim_get(job, "status", "phase"), "");

	for (int p = KAR_QJ_PHASE_PENDING; p <= KAR_QJ_PHASE_FAILED; p++) {
		if (strcmp(text, kar_qj_phase_name((enum kar_qj_phase)p)) == 0)
			return (enum kar_qj_phase)p;
	}
	return KAR_QJ_PHASE_NONE;
}

const struct sim_value *ledger_stored(const struct ledger *l, const struct ledger_job *j)
{
	return sim_apiserver_peek(l->server, KAR_GROUP, "queuejobs", j->ns, j->name);
}

const struct sim_value *ledger_condition(const struct sim_value *object, const char *type)
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
	return kar_same(sim_text(sim_member(ledger_condition(object, type), "status")), "True");
}

bool ledger_is_disrupted(const struct sim_value *pod)
{
	return has_condition(pod, "DisruptionTarget");
}

bool ledger_gave_back(const struct sim_value *job)
{
	return kar_same(sim_get_text(job, "status", "lastRestart", "reason"), kar_reason_ScheduleTimeout);
}

bool ledger_is_admitted(const struct sim_value *group)
{
	return has_condition(group, "Admitted");
}

bool ledger_is_invalid(const struct sim_value *job)
{
	return has_condition(job, "Invalid");
}

bool ledger_is_counted(const struct sim_value *job, const char *uid)
{
	const struct sim_value *list = sim_get(job, "status", "countedPods");

	for (size_t i = 0; i < sim_count(list); i++) {
		if (strcmp(sim_text_or(sim_item(list, i), ""), uid) == 0)
			return true;
	}
	return false;
}

bool ledger_restarts(const struct sim_value *job, const char *task)
{
	const struct sim_value *tasks = sim_get(job, "status", "tasks");

	for (size_t i = 0; i < sim_count(tasks); i++) {
		const struct sim_value *t = sim_item(tasks, i);

		if (strcmp(sim_text_or(sim_member(t, "name"), ""), task) == 0)
			return sim_member(t, "restartTime") != NULL;
	}
	return false;
}

int ledger_queue(const char *name)
{
	return strcmp(name, "q1") == 0 ? 1 : strcmp(name, "q2") == 0 ? 2 : 0;
}

/* Calls @fn with the name of each pod of @j until it is true; then true. */
static bool any_name(const struct ledger_job *j, bool (*fn)(const void *arg, const char *name),
	const void *arg)
{
	for (int i = 0; i < j->n_tasks; i++) {
		for (int k = 0; k < j->tasks[i].replicas.now; k++) {
			char name[2 * LEDGER_NAME + 16];

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

int ledger_members(const struct ledger_job *j)
{
	const struct ledger_pod *p;
	int n = 0;

	TAILQ_FOREACH(p, &j->pods, of_job)
		n += p->succeeded || (!p->failed && !p->deleting);
	return n;
}

bool ledger_has_name(const struct ledger_job *j, const char *name)
{
	return any_name(j, is_name, name);
}

struct place {
	const struct ledger *l;
	const struct ledger_job *j;
};

static bool is_taken(const void *arg, const char *name)
{
	const struct place *place = arg;
	const struct ledger_pod *p = ledger_find_pod(place->l, place->j->ns, name);

	return p && p->job != place->j;
}

bool ledger_names_are_free(const struct ledger *l, const struct ledger_job *j)
{
	return !any_name(j, is_taken, &(struct place){ l, j });
}

bool ledger_has_just_followed(struct ledger *l, const struct ledger_job *job)
{
	struct ledger_job *j;

	RB_FOREACH(j, ledger_jobs, &l->jobs) {
		if (j->gone && j->gone >= ledger_horizon(l) && !strcmp(j->ns, job->ns) &&
			!strcmp(j->name, job->name))
			return true;
	}
	return false;
}
