/* tree: a job, its group, its tasks and their pods. */
#include "kubectl-qj/qj.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/names.h"
#include "common/base/str.h"

struct tree {
	struct qj *q;
	struct qj_pod *pods;
	size_t n_pods;
};

static int add_pods(void *arg, const struct kar_array *items)
{
	struct tree *t = arg;
	const struct qj_pod *from = items->items;

	for (size_t i = 0; i < items->n; i++) {
		t->pods = kar_arena_grow(&t->q->arena, t->pods, t->n_pods, sizeof(*t->pods));
		t->pods[t->n_pods++] = from[i];
	}
	return 0;
}

/* worker-2 before worker-10. */
static int by_name(const void *a, const void *b)
{
	const struct qj_pod *x = a, *y = b;

	return strverscmp(x->meta.name, y->meta.name);
}

static const char *label(const struct qj_pod *pod, const char *key)
{
	const char *value = kar_pairs_get(&pod->meta.labels, key);

	return value ? value : "";
}

/* What the first of @containers that is not well does; NULL: all are. */
static const char *trouble_of(struct qj *q, const struct kar_array *containers)
{
	const struct qj_container *c = containers->items;

	for (size_t i = 0; i < containers->n; i++) {
		if (kar_has_text(c[i].state.waiting.reason) &&
			!kar_streq(c[i].state.waiting.reason, "PodInitializing"))
			return c[i].state.waiting.reason;
		if (c[i].state.terminated.exit_code)
			return kar_arena_printf(&q->arena, "%s, exit code %d",
				c[i].state.terminated.reason ? c[i].state.terminated.reason : "Error",
				(int)c[i].state.terminated.exit_code);
	}
	return NULL;
}

/* What its containers do, in the words of kubectl: the first that is not well. */
static const char *state_of(struct qj *q, const struct qj_pod *pod)
{
	const struct qj_condition *c = qj_condition_of(&pod->status.conditions, "PodScheduled");
	const char *init = trouble_of(q, &pod->status.init_containers),
		   *trouble = trouble_of(q, &pod->status.containers);

	if (pod->meta.deletion)
		return "Terminating";
	if (init)
		return kar_arena_printf(&q->arena, "Init:%s", init);
	if (trouble)
		return trouble;
	if (c && kar_streq(c->reason, "SchedulingGated"))
		return c->reason;
	if (kar_has_text(pod->status.reason))
		return pod->status.reason;
	return pod->status.phase ? pod->status.phase : "Pending";
}

static void print_pod(const struct tree *t, const struct qj_pod *pod)
{
	const char *incarnation = label(pod, KAR_LABEL_INCARNATION);
	bool shown = *incarnation && !kar_streq(incarnation, "1");

	qj_print(t->q, "    pod %s  %s  %s%s%s  %s\n", pod->meta.name, state_of(t->q, pod),
		kar_has_text(pod->spec.node) ? pod->spec.node : "no node", shown ? "  incarnation " : "",
		shown ? incarnation : "", qj_age(t->q, t->q->now - pod->meta.creation));
}

static void print_pods(const struct tree *t, const char *task)
{
	for (size_t i = 0; i < t->n_pods; i++) {
		if (kar_streq(label(&t->pods[i], KAR_LABEL_TASK), task))
			print_pod(t, &t->pods[i]);
	}
}

/* Pods of tasks that an edit has removed or renamed: while they stop they have their room. */
static void print_others(const struct tree *t, const struct qj_job *j)
{
	bool begun = false;

	for (size_t i = 0; i < t->n_pods; i++) {
		bool known = false;

		for (size_t k = 0; k < j->spec.tasks.n; k++)
			known |= kar_streq(label(&t->pods[i], KAR_LABEL_TASK), qj_task_name(t->q, j, k));
		if (known)
			continue;
		if (!begun)
			qj_print(t->q, "  of tasks that are no more in the spec\n");
		begun = true;
		print_pod(t, &t->pods[i]);
	}
}

static void print_group(struct qj *q, const char *name)
{
	struct qj_group g = { 0 };

	if (qj_get(q, &qj_groups, q->ns, name, &qj_group_desc, &g)) {
		qj_print(q, "  podgroup: %s\n",
			q->err.what == KAR_NOTFOUND         ? "there is none"
				: q->err.what == KAR_DENIED ? "you may not read it"
							    : q->err.msg);
		return;
	}
	qj_print(q, "  podgroup %s  %s, %d of %d needed are bound", g.meta.name,
		g.status.phase ? g.status.phase : "Pending", (int)g.status.scheduled, (int)g.spec.min_member);
	if (g.status.evictions)
		qj_print(q, ", evicted %d times", (int)g.status.evictions);
	qj_print(q, "\n");
}

static const struct qj_task *status_of(const struct qj_job *j, const char *task)
{
	const struct qj_task *t = j->status.tasks.items;

	for (size_t i = 0; i < j->status.tasks.n; i++) {
		if (kar_streq(t[i].name, task))
			return &t[i];
	}
	return NULL;
}

static void print_tasks(const struct tree *t, const struct qj_job *j)
{
	const struct qj_task *tasks = j->spec.tasks.items;

	for (size_t i = 0; i < j->spec.tasks.n; i++) {
		const char *name = qj_task_name(t->q, j, i);
		const struct qj_task *st = status_of(j, name);

		qj_print(t->q, "  task %s  %d of %d run", name, st ? (int)st->running : 0,
			(int)tasks[i].replicas);
		if (st && st->succeeded)
			qj_print(t->q, ", %d succeeded", (int)st->succeeded);
		if (st && st->failed)
			qj_print(t->q, ", %d failed", (int)st->failed);
		qj_print(t->q, "\n");
		print_pods(t, name);
	}
}

int qj_cmd_tree(struct qj *q)
{
	struct qj_query of_job = { .res = &qj_pods, .item = &qj_pod_desc, .ns = q->ns };
	struct tree t = { .q = q };
	struct qj_job j = { 0 };

	if (q->o.n_args != 1)
		return qj_misused(q);
	of_job.labels = kar_arena_printf(&q->arena, KAR_LABEL_QUEUEJOB "=%s", q->o.args[0]);
	if (qj_get(q, &qj_jobs, q->ns, q->o.args[0], &qj_job_desc, &j) || qj_list(q, &of_job, add_pods, &t))
		return qj_fail(q);
	if (t.n_pods)
		qsort(t.pods, t.n_pods, sizeof(*t.pods), by_name);
	qj_print(q, "queuejob %s  %s", j.meta.name, j.status.phase ? j.status.phase : "Pending");
	if (kar_has_text(j.status.reason))
		qj_print(q, ", %s", j.status.reason);
	if (j.status.restarts)
		qj_print(q, ", restarted %d times", (int)j.status.restarts);
	qj_print(q, "  %s\n", qj_age(q, q->now - j.meta.creation));
	print_group(q, j.meta.name);
	print_tasks(&t, &j);
	print_others(&t, &j);
	return 0;
}
