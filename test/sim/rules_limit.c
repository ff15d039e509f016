/* How many pods of a job the queue lets be active at once, and which ones go or come for it. */
#include <stdio.h>
#include <string.h>

#include "api/names.h"
#include "common/base/mem.h"
#include "test/sim/rules.h"

/* Nothing but the limit bears upon the job's pods, as far as a stale manager may know. */
static bool is_plain(const struct model *l, const struct model_job *j)
{
	kar_time then = model_horizon(l);

	return !j->ordered && !j->status_edited && !j->pods_edited && !j->template_changed &&
		j->spec_edited < then && j->lost_at < then;
}

static bool is_live(const struct model_pod *p)
{
	return !p->deleting && !p->succeeded && !p->failed;
}

static int own_minimum_left(const struct model_job *j, const struct model_task *t, int done)
{
	int own = j->minimum > 0 ? t->own_minimum.now - done : 0;

	return own > 0 ? own : 0;
}

/* --- taken away ------------------------------------------------------------------------------------------ */

bool rules_sheds(const struct write *w, const struct sim_value *job)
{
	return setting_min(&w->job->limit, model_horizon(w->l)) < MODEL_NO_LIMIT &&
		(!w->l->faultless || model_is_counted(job, w->pod->uid));
}

/* Pods that run or have succeeded, without the one of this write. */
static int count_up(const struct write *w, int incarnation)
{
	const struct model_pod *p;
	int n = 0;

	for (int i = 0; i < w->job->n_tasks; i++)
		n += model_count_done(w->job, &w->job->tasks[i], incarnation);
	TAILQ_FOREACH(p, &w->job->pods, of_job)
		n += p != w->pod && p->running && is_live(p);
	return n;
}

/* A gang that has formed, by the status, and has lost nothing since. */
static void check_minimum_kept(const struct rule *r, const struct write *w)
{
	const struct sim_value *job;
	int formed, incarnation;

	if (!w->by_manager || w->c->verb != KAR_DELETE || !w->job || !is_live(w->pod) ||
		!is_plain(w->l, w->job))
		return;
	job = model_stored(w->l, w->job);
	formed = (int)sim_get_int(job, 0, "status", "record", "formedMinAvailable");
	incarnation = (int)sim_get_int(job, 0, "status", "incarnation");
	if (!job || !formed || model_phase(job) != KAR_QJ_PHASE_RUNNING ||
		w->pod->incarnation != incarnation || !rules_sheds(w, job))
		return;
	if (count_up(w, incarnation) < w->job->minimum)
		model_break(w->l, r->name,
			"pod %s/%s is taken away for the queue; %d of the minimum of %d are left", w->c->ns,
			w->c->name, count_up(w, incarnation), w->job->minimum);
}

/* --- created --------------------------------------------------------------------------------------------- */

static void check_limit_kept(const struct rule *r, const struct write *w)
{
	int allowed = w->job ? setting_max(&w->job->limit, model_horizon(w->l)) : 0;
	int own = 0;

	if (!w->by_manager || !w->job || !is_plain(w->l, w->job) || w->l->overlaps)
		return;
	for (int i = 0; i < w->job->n_tasks; i++)
		own += own_minimum_left(w->job, &w->job->tasks[i], 0);
	if (own) /* such a pod comes before another one has gone */
		return;
	allowed = allowed < w->job->minimum ? w->job->minimum : allowed;
	if (w->job->live + 1 > allowed)
		model_break(w->l, r->name, "pod %s/%s is number %d of the %d that may be active", w->c->ns,
			w->c->name, w->job->live + 1, allowed);
}

/* Is nothing known of the index, for long, that would keep it from being created? */
static bool is_free(const struct write *w, const struct model_task *t, int index)
{
	kar_time then = model_horizon(w->l);
	char name[3 * MODEL_NAME];

	snprintf(name, sizeof(name), "%s-%s-%d", w->job->name, t->name, index);
	return t->done_in[index] == 0 && t->asked_at[index] < then && t->freed_at[index] < then &&
		!model_find_pod(w->l, w->job->ns, name);
}

static void check_lowest_first(const struct rule *r, const struct write *w)
{
	/* Longer than a manager waits until it looks again whether a name is free. */
	const kar_time patience = KAR_MINUTE;
	const struct ask *a = w->ask;
	bool just_freed = w->l->freed && w->l->freed >= model_horizon(w->l) - patience;

	if (!a->task || just_freed || w->job->status_edited || w->job->spec_edited >= model_horizon(w->l))
		return;
	for (int i = 0; i < a->index && i < MODEL_INDEXES; i++) {
		if (is_free(w, a->task, i))
			model_break(w->l, r->name, "%s asks for %s-%d of job %s/%s, and %s-%d is missing",
				a->user, a->task->name, a->index, w->job->ns, w->job->name, a->task->name, i);
	}
}

/* --- at rest --------------------------------------------------------------------------------------------- */

int rules_minimum_left(const struct model_job *j, const struct sim_value *job)
{
	int left = rules_quorum(j, job) - rules_done(j, job), own = 0;

	for (int i = 0; i < j->n_tasks; i++) {
		const struct sim_value *t = rules_task_status(job, j->tasks[i].name);

		if (!rules_task_waits(job, j->tasks[i].name))
			own += own_minimum_left(j, &j->tasks[i], (int)sim_get_int(t, 0, "succeeded"));
	}
	return left > own ? left : own;
}

struct room {
	int64_t cpu; /* thousandths, of all nodes */
	int nodes;
};

static void add_node(void *arg, const struct sim_value *node)
{
	struct room *room = arg;

	room->nodes++;
	room->cpu += rules_thousandths(sim_text_or(sim_get(node, "status", "allocatable", "cpu"), "0"));
}

static void take_pod(void *arg, const struct sim_value *pod)
{
	const char *phase = sim_text_or(sim_get(pod, "status", "phase"), "");
	struct room *room = arg;

	if (sim_get(pod, "spec", "nodeName") && strcmp(phase, "Succeeded") != 0 &&
		strcmp(phase, "Failed") != 0)
		room->cpu -= rules_requested_cpu(pod);
}

/* May nodes lack room for @n pods more of the job? Each node may have a rest that is too small for one. */
static bool may_lack_room(const struct model *l, const struct sim_value *job, int n)
{
	const struct sim_value *tasks = sim_get(job, "spec", "taskSpecs");
	struct room free = { 0 };
	int64_t pod = 0;

	for (size_t i = 0; i < sim_count(tasks); i++) {
		int64_t cpu = rules_requested_cpu(sim_get(sim_item(tasks, i), "template"));

		pod = pod > cpu ? pod : cpu;
	}
	sim_apiserver_each(l->server, "", "nodes", add_node, &free);
	sim_apiserver_each(l->server, "", "pods", take_pod, &free);
	return free.cpu < pod * (n + free.nodes);
}

void rules_check_limit_at_rest(struct model *l, const struct model_job *j, const struct sim_value *job,
	int live)
{
	int done = (int)sim_get_int(job, 0, "status", "succeeded"), least = rules_minimum_left(j, job);
	int desired = (int)sim_get_int(job, 0, "status", "desired");
	int wanted = j->limit.now > least ? j->limit.now : least;

	wanted = wanted < j->total - done ? wanted : j->total - done;
	if (j->limit.now < least && desired == done + j->limit.now &&
		(l->bounds || may_lack_room(l, job, least - j->limit.now)))
		return; /* its minimum was raised, and there is no room for the rest */
	if (live > wanted)
		model_break(l, "limit",
			"job %s/%s has %d active pods at rest; %d may be (limit %d, minimum %d)", j->ns,
			j->name, live, wanted, j->limit.now, least);
	else if (desired != done + wanted)
		model_break(l, "limit",
			"job %s/%s: status.desired is %d; %d have succeeded and %d are wanted", j->ns,
			j->name, desired, done, wanted);
}

const struct rule rules_of_limit[] = {
	{ RULE_POD_CHANGED, "minimum-kept", "the queue takes no pod of a minimum away that has formed",
		check_minimum_kept },
	{ RULE_POD_CREATED, "limit-kept",
		"no pod is created beyond what the queue lets be active, but those of the minimum",
		check_limit_kept },
	{ RULE_POD_ASKED, "lowest-first", "of a task the lowest missing index is asked for first",
		check_lowest_first },
};
const size_t n_rules_of_limit = KAR_LEN(rules_of_limit);
