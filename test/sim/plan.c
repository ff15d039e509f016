#include "test/sim/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/names.h"
#include "api/status/intervals.h"
#include "common/base/buf.h"
#include "common/base/mem.h"

#define ANNOTATION(name) "test.kube-arbitrator.io/" name

void plan_copy(struct plan *to, const struct plan *from)
{
	*to = *from;
	to->jobs = kar_xcalloc(from->n_jobs + 1, sizeof(*to->jobs));
	to->actions = kar_xcalloc(from->n_actions + 1, sizeof(*to->actions));
	to->others = kar_xcalloc(from->n_others + 1, sizeof(*to->others));
	if (from->n_jobs)
		memcpy(to->jobs, from->jobs, from->n_jobs * sizeof(*to->jobs));
	if (from->n_actions)
		memcpy(to->actions, from->actions, from->n_actions * sizeof(*to->actions));
	if (from->n_others)
		memcpy(to->others, from->others, from->n_others * sizeof(*to->others));
}

void plan_release(struct plan *p)
{
	free(p->jobs);
	free(p->actions);
	free(p->others);
	*p = (struct plan){ 0 };
}

int plan_keep(struct plan *p, const char *list)
{
	struct kar_arena arena = { 0 };
	struct kar_intervals keep;
	int rc = kar_intervals_parse(list, &arena, &keep);
	size_t n = 0;

	for (size_t i = 0; rc == 0 && i < p->n_actions; i++) {
		if (kar_intervals_has(&keep, p->actions[i].number))
			p->actions[n++] = p->actions[i];
	}
	if (rc == 0)
		p->n_actions = n;
	kar_arena_release(&arena);
	return rc;
}

void plan_kept(const struct plan *p, struct kar_buf *out)
{
	struct kar_arena arena = { 0 };
	struct kar_intervals kept = { 0 };

	for (size_t i = 0; i < p->n_actions; i++)
		kar_intervals_add(&kept, p->actions[i].number, &arena);
	kar_buf_puts(out, kar_intervals_format(&kept, &arena));
	kar_arena_release(&arena);
}

int plan_total(const struct plan_job *j)
{
	int n = 0;

	for (int i = 0; i < j->n_tasks; i++)
		n += j->tasks[i].replicas;
	return n;
}

/* --- names --------------------------------------------------------------------------------------------- */

const char *plan_ns_name(int ns)
{
	static const char *const names[PLAN_NAMESPACES] = { "team-a", "team-b" };

	return names[ns];
}

const char *plan_queue_name(int queue)
{
	static const char *const names[PLAN_QUEUES] = { "default", "q1", "q2" };

	return names[queue];
}

const char *plan_class_name(int class)
{
	static const char *const names[PLAN_CLASSES] = { "low", "normal", "high" };

	return names[class];
}

const char *plan_task_name(int task)
{
	static const char *const names[PLAN_TASKS] = { "a", "b", "c", "d" };

	return names[task];
}

const char *plan_job_name(const struct plan_job *j, char out[PLAN_NAME])
{
	snprintf(out, PLAN_NAME, "j%d", j->number);
	return out;
}

const char *plan_pod_name(const struct plan_job *j, int task, int index, char out[PLAN_NAME])
{
	snprintf(out, PLAN_NAME, "j%d-%s-%d", j->number, plan_task_name(task), index);
	return out;
}

const char *plan_node_name(int node, char out[PLAN_NAME])
{
	snprintf(out, PLAN_NAME, "n%d", node);
	return out;
}

/* --- objects ------------------------------------------------------------------------------------------- */

static const char *outcome_name(enum plan_outcome o)
{
	static const char *const names[PLAN_OUTCOMES] = {
		[PLAN_SUCCEED] = "succeed",
		[PLAN_FAIL] = "fail",
		[PLAN_RUN] = "run",
		[PLAN_CRASH_ONCE] = "succeed",
		[PLAN_OOM] = "oom",
	};

	return names[o];
}

static void set_seconds(struct sim_value **v, const char *key, int seconds)
{
	if (seconds)
		sim_set(v, sim_printf("%ds", seconds), "metadata", "annotations", key);
}

static struct sim_value *container(const struct plan_task *t, int edit)
{
	struct sim_value *c = sim_object();

	sim_set_text(&c, "main", "name");
	sim_set_text(&c, "busybox:1.36", "image");
	if (!t->best_effort)
		sim_set(&c, sim_printf("%dm", t->cpu), "resources", "requests", "cpu");
	if (edit) {
		struct sim_value *args = sim_array();

		sim_append(&args, sim_printf("edit-%d", edit));
		sim_set(&c, args, "args");
	}
	return c;
}

struct sim_value *plan_template(const struct plan_task *t, int edit)
{
	enum { A_DAY = 24 * 3600 };
	struct sim_value *v = sim_object(), *containers = sim_array();

	sim_set_text(&v, outcome_name(t->outcome), "metadata", "annotations", ANNOTATION("outcome"));
	set_seconds(&v, ANNOTATION("after"), t->after);
	set_seconds(&v, ANNOTATION("start-after"), t->start);
	set_seconds(&v, ANNOTATION("stop-after"), t->stop);
	if (t->outcome == PLAN_FAIL)
		sim_set(&v, sim_printf("%d", t->exit_code), "metadata", "annotations",
			ANNOTATION("exit-code"));
	if (t->stops_well)
		sim_set_text(&v, "0", "metadata", "annotations", ANNOTATION("stop-exit-code"));
	if (t->outcome == PLAN_CRASH_ONCE) {
		sim_set_text(&v, "2s", "metadata", "annotations", ANNOTATION("crash-after"));
		sim_set_text(&v, "OnFailure", "spec", "restartPolicy");
	}
	if (t->labelled) {
		sim_set_text(&v, "mine", "metadata", "labels", "app");
		sim_set_text(&v, "x", "metadata", "labels", "tier");
	}
	if (t->terminating)
		sim_set(&v, sim_int(A_DAY), "spec", "activeDeadlineSeconds");
	sim_append(&containers, container(t, edit));
	sim_set(&v, containers, "spec", "containers");
	return v;
}

static void set_number(struct sim_value **v, int n, const char *const *path)
{
	if (n != PLAN_UNSET)
		sim_set_path(v, sim_int(n), path);
}
#define SET_NUMBER(v, n, ...) set_number((v), (n), (const char *const[]){ __VA_ARGS__, NULL })

static struct sim_value *task_object(const struct plan_task *t, int number, bool impossible)
{
	struct sim_value *v = sim_object(), *template = plan_template(t, 0);

	sim_set_text(&v, plan_task_name(number), "name");
	sim_set(&v, sim_int(t->replicas), "replicas");
	SET_NUMBER(&v, t->min, "minAvailable");
	SET_NUMBER(&v, t->priority, "priority");
	if (t->after_running || t->after_succeeded)
		sim_set(&v, plan_dependencies(t), "dependsOn");
	if (impossible)
		plan_make_impossible(&template);
	sim_set(&v, template, "template");
	return v;
}

static void set_success_policy(struct sim_value **v, const struct plan_job *j)
{
	SET_NUMBER(v, j->min_succeeded, "spec", "successPolicy", "minSucceeded");
	if (j->success_first_task) {
		struct sim_value *tasks = sim_array();

		sim_append(&tasks, sim_string(plan_task_name(0)));
		sim_set(v, tasks, "spec", "successPolicy", "tasks");
	}
}

struct sim_value *plan_job_object(const struct plan *p KAR_UNUSED, const struct plan_job *j)
{
	struct sim_value *v = sim_object(), *tasks = sim_array();
	char name[PLAN_NAME];

	sim_set_text(&v, KAR_API_VERSION, "apiVersion");
	sim_set_text(&v, "QueueJob", "kind");
	sim_set_text(&v, plan_job_name(j, name), "metadata", "name");
	sim_set_text(&v, plan_ns_name(j->ns), "metadata", "namespace");
	if (j->queue)
		sim_set_text(&v, plan_queue_name(j->queue), "spec", "queue");
	if (j->network)
		sim_set(&v, sim_bool(true), "spec", "network", "enableDNSHostnames");
	if (j->suspend)
		sim_set(&v, sim_bool(true), "spec", "suspend");
	if (j->selector)
		sim_set(&v, plan_selector_object(j->selector), "spec", "selector");
	if (j->place)
		plan_set_place(&v, j->place);
	if (j->together)
		sim_set_text(&v, PLAN_ZONE_LABEL, "spec", "schedSpec", "topology", "required");
	if (j->scheduler)
		plan_set_scheduler(&v, j->scheduler);
	SET_NUMBER(&v, j->backoff, "spec", "backoffLimit");
	SET_NUMBER(&v, j->deadline, "spec", "activeDeadlineSeconds");
	SET_NUMBER(&v, j->ttl, "spec", "ttlSecondsAfterFinished");
	SET_NUMBER(&v, j->min, "spec", "schedSpec", "minAvailable");
	if (j->class != PLAN_UNSET)
		sim_set_text(&v, plan_class_name(j->class), "spec", "schedSpec", "priorityClassName");
	set_success_policy(&v, j);
	if (j->n_rules)
		sim_set(&v, plan_rules_object(j), "spec", "failurePolicy", "rules");
	for (int i = 0; i < j->n_tasks; i++)
		sim_append(&tasks, task_object(&j->tasks[i], i, i == j->impossible));
	sim_set(&v, tasks, "spec", "taskSpecs");
	return v;
}
