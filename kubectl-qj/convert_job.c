/* Jobs of Kubernetes, JobSets and MPIJobs. */
#include "kubectl-qj/convert.h"

#include <string.h>

#include "common/base/str.h"

static const struct qj_doc *text(const struct qj_conv *c, const char *words)
{
	return qj_doc_new(c->a, QJ_DOC_TEXT, words);
}

static const struct qj_doc *yes(const struct qj_conv *c)
{
	return qj_doc_new(c->a, QJ_DOC_PLAIN, "true");
}

/* Puts a value that nothing in the other object says. */
static void set(const struct qj_conv *c, const char *to, const struct qj_doc *value)
{
	qj_doc_put(c->a, c->to, to, value);
}

static const struct qj_doc *list_of(const struct qj_conv *c, const struct qj_doc *one)
{
	struct qj_doc *list = qj_doc_new(c->a, QJ_DOC_LIST, NULL);

	qj_doc_append(c->a, list, one);
	return list;
}

static void append_task(const struct qj_conv *c, struct qj_doc *tasks, const struct qj_conv *task)
{
	qj_doc_append(c->a, tasks, task->to);
}

/* --- batch/v1 --------------------------------------------------------------------------------------- */

/* Rules have the same form, but for what is done. */
static void move_pod_failure_policy(const struct qj_conv *c)
{
	static const char *const actions[][2] = { { "FailJob", "FailJob" }, { "FailIndex", "FailIndex" },
		{ "Ignore", "Ignore" }, { "Count", "RecreatePod" } };
	struct qj_doc *rules = qj_doc_get(c->from, "spec.podFailurePolicy.rules");
	struct qj_doc *ours = qj_doc_new(c->a, QJ_DOC_LIST, NULL);
	size_t i = 0;

	for (struct qj_doc *r = rules ? rules->first : NULL; r; r = r->next, i++) {
		struct qj_conv one =
			qj_conv_item(c, r, "spec.podFailurePolicy.rules", i, "spec.failurePolicy.rules", i);
		const char *action = qj_take_text(&one, "action");

		for (size_t k = 0; k < KAR_LEN(actions); k++) {
			if (kar_streq(action, actions[k][0]))
				qj_put(&one, "action", "action", text(c, actions[k][1]));
		}
		(void)qj_move(&one, "onExitCodes", "onExitCodes");
		(void)qj_move(&one, "onPodConditions", "onPodConditions");
		if (one.to->first)
			qj_doc_append(c->a, ours, one.to);
	}
	if (ours->first)
		set(c, "spec.failurePolicy.rules", ours);
}

static void move_size(const struct qj_conv *c, const struct qj_conv *task)
{
	int64_t at_once = qj_take_number(c, "spec.parallelism", 1);
	int64_t all = qj_take_number(c, "spec.completions", at_once);

	set(task, "replicas", qj_doc_number(c->a, all));
	qj_note(c, qj_doc_get(c->from, "spec.completions") ? "spec.completions" : "spec.parallelism",
		"%lld pods: spec.taskSpecs[0].replicas", (long long)all);
	if (all <= at_once)
		return;
	set(c, "spec.schedSpec.minAvailable", qj_doc_number(c->a, at_once));
	qj_note(c, "spec.parallelism",
		"%lld pods start together: spec.schedSpec.minAvailable; with more room more of the %lld run at once",
		(long long)at_once, (long long)all);
}

void qj_convert_batch(const struct qj_conv *c)
{
	static const char *const same[] = { "spec.suspend", "spec.backoffLimit", "spec.backoffLimitPerIndex",
		"spec.maxFailedIndexes", "spec.activeDeadlineSeconds", "spec.ttlSecondsAfterFinished" };
	struct qj_doc *tasks = qj_doc_new(c->a, QJ_DOC_LIST, NULL), *rules;
	struct qj_conv task = *c;

	task.to = qj_doc_new(c->a, QJ_DOC_MAP, NULL);
	task.to_at = "spec.taskSpecs[0].";
	qj_move_queue_label(c);
	for (size_t i = qj_doc_get(c->to, "spec.queue") ? 1 : 0; i < KAR_LEN(same); i++)
		(void)qj_move(c, same[i], same[i]);
	set(&task, "name", text(c, "worker"));
	move_size(c, &task);
	qj_move_template(&task, "spec.template");
	if (kar_streq(qj_take_text(c, "spec.completionMode"), "Indexed"))
		qj_note(c, "spec.completionMode",
			"pods have their index in KAR_INDEX, not in JOB_COMPLETION_INDEX");
	move_pod_failure_policy(c);
	rules = qj_doc_get(c->from, "spec.successPolicy.rules");
	if (rules && rules->first && !rules->first->next && !qj_doc_get(rules->first, "succeededIndexes")) {
		struct qj_conv one =
			qj_conv_item(c, rules->first, "spec.successPolicy.rules", 0, "spec.successPolicy", 0);

		one.to = c->to;
		one.to_at = "";
		(void)qj_move(&one, "succeededCount", "spec.successPolicy.minSucceeded");
	}
	append_task(c, tasks, &task);
	set(c, "spec.taskSpecs", tasks);
}

/* --- JobSet ----------------------------------------------------------------------------------------- */

static const struct qj_doc *dependency(const struct qj_conv *c, const char *task, const char *status)
{
	struct qj_doc *d = qj_doc_new(c->a, QJ_DOC_MAP, NULL);

	qj_doc_put(c->a, d, "name", text(c, task));
	qj_doc_put(c->a, d, "status", text(c, status));
	return d;
}

static void move_dependencies(const struct qj_conv *task)
{
	struct qj_doc *theirs = qj_doc_get(task->from, "dependsOn"),
		      *ours = qj_doc_new(task->a, QJ_DOC_LIST, NULL);

	for (const struct qj_doc *d = theirs ? theirs->first : NULL; d; d = d->next) {
		const char *name = qj_doc_text(d, "name");

		if (kar_has_text(name))
			qj_doc_append(task->a, ours,
				dependency(task, name,
					kar_streq(qj_doc_text(d, "status"), "Complete") ? "Succeeded"
											: "Running"));
	}
	if (!ours->first)
		return;
	(void)qj_take(task, "dependsOn");
	qj_put(task, "dependsOn", "dependsOn", ours);
}

static void move_replicated_job(const struct qj_conv *task)
{
	int64_t jobs = qj_take_number(task, "replicas", 1);
	int64_t pods = qj_take_number(task, "template.spec.parallelism", 1);
	int64_t all = qj_take_number(task, "template.spec.completions", pods), sum = jobs * all;

	(void)qj_move(task, "name", "name");
	set(task, "replicas", qj_doc_number(task->a, sum));
	if (jobs > 1)
		qj_note(task, "replicas",
			"%lld jobs of %lld pods are one task of %lld: KAR_INDEX counts on from one job to the next",
			(long long)jobs, (long long)all, (long long)sum);
	(void)qj_take(task, "template.spec.completionMode");
	qj_move_template(task, "template.spec.template");
	move_dependencies(task);
}

/* Each task waits for the one before. */
static void put_in_order(const struct qj_conv *c, struct qj_doc *tasks)
{
	const char *before = NULL;

	for (struct qj_doc *t = tasks->first; t; t = t->next) {
		if (before && !qj_doc_get(t, "dependsOn"))
			qj_doc_put(c->a, t, "dependsOn", list_of(c, dependency(c, before, "Running")));
		before = qj_doc_text(t, "name");
	}
	qj_note(c, "spec.startupPolicy", "dependsOn of each task names the one before");
}

static void move_network(const struct qj_conv *c)
{
	const char *names = qj_take_text(c, "spec.network.enableDNSHostnames");

	set(c, "spec.network.enableDNSHostnames", names ? qj_doc_new(c->a, QJ_DOC_PLAIN, names) : yes(c));
	(void)qj_move(c, "spec.network.publishNotReadyAddresses", "spec.network.publishNotReadyAddresses");
	if (!kar_streq(names, "false"))
		qj_note(c, "spec.network", "host names are <job>-<task>-<index>.<job>; see docs/NETWORK.md");
}

void qj_convert_jobset(const struct qj_conv *c)
{
	struct qj_doc *jobs = qj_doc_get(c->from, "spec.replicatedJobs"),
		      *tasks = qj_doc_new(c->a, QJ_DOC_LIST, NULL);
	size_t i = 0;

	qj_move_queue_label(c);
	if (!qj_doc_get(c->to, "spec.queue"))
		(void)qj_move(c, "spec.suspend", "spec.suspend");
	(void)qj_move(c, "spec.ttlSecondsAfterFinished", "spec.ttlSecondsAfterFinished");
	(void)qj_move(c, "spec.failurePolicy.maxRestarts", "spec.backoffLimit");
	move_network(c);
	if (kar_streq(qj_doc_text(c->from, "spec.successPolicy.operator"), "All")) {
		(void)qj_take(c, "spec.successPolicy.operator");
		(void)qj_move(c, "spec.successPolicy.targetReplicatedJobs", "spec.successPolicy.tasks");
	}
	for (struct qj_doc *j = jobs ? jobs->first : NULL; j; j = j->next, i++) {
		struct qj_conv task = qj_conv_item(c, j, "spec.replicatedJobs", i, "spec.taskSpecs", i);

		move_replicated_job(&task);
		append_task(c, tasks, &task);
	}
	if (kar_streq(qj_take_text(c, "spec.startupPolicy.startupPolicyOrder"), "InOrder"))
		put_in_order(c, tasks);
	set(c, "spec.taskSpecs", tasks);
}

/* --- MPIJob ----------------------------------------------------------------------------------------- */

static void move_replica_spec(const struct qj_conv *c, struct qj_doc *tasks, const char *theirs,
	const char *ours, size_t at)
{
	const char *path = kar_arena_printf(c->a, "spec.mpiReplicaSpecs.%s", theirs), *restart;
	struct qj_doc *from = qj_doc_get(c->from, path);
	struct qj_conv task = *c;

	if (!from)
		return;
	task.from = from;
	task.from_at = kar_arena_printf(c->a, "%s.", path);
	task.to_at = kar_arena_printf(c->a, "spec.taskSpecs[%zu].", at);
	task.to = qj_doc_new(c->a, QJ_DOC_MAP, NULL);
	set(&task, "name", text(c, ours));
	set(&task, "replicas", qj_doc_number(c->a, qj_take_number(&task, "replicas", 1)));
	if (kar_streq(ours, "launcher"))
		set(&task, "dependsOn", list_of(c, dependency(c, "worker", "Running")));
	restart = qj_take_text(&task, "restartPolicy");
	qj_move_template(&task, "template");
	if ((kar_streq(restart, "Never") || kar_streq(restart, "OnFailure")) &&
		qj_doc_get(task.to, "template.spec"))
		qj_put(&task, "restartPolicy", "template.spec.restartPolicy", text(c, restart));
	append_task(c, tasks, &task);
}

void qj_convert_mpi(const struct qj_conv *c)
{
	static const char *const moves[][2] = {
		{ "spec.runPolicy.backoffLimit", "spec.backoffLimit" },
		{ "spec.runPolicy.activeDeadlineSeconds", "spec.activeDeadlineSeconds" },
		{ "spec.runPolicy.ttlSecondsAfterFinished", "spec.ttlSecondsAfterFinished" },
		{ "spec.runPolicy.suspend", "spec.suspend" },
		{ "spec.runPolicy.schedulingPolicy.queue", "spec.queue" },
		{ "spec.runPolicy.schedulingPolicy.minAvailable", "spec.schedSpec.minAvailable" },
		{ "spec.runPolicy.schedulingPolicy.priorityClass", "spec.schedSpec.priorityClassName" },
		{ "spec.runPolicy.schedulingPolicy.scheduleTimeoutSeconds",
			"spec.schedSpec.scheduleTimeoutSeconds" },
	};
	struct qj_doc *tasks = qj_doc_new(c->a, QJ_DOC_LIST, NULL);

	for (size_t i = 0; i < KAR_LEN(moves); i++)
		(void)qj_move(c, moves[i][0], moves[i][1]);
	qj_move_queue_label(c);
	set(c, "spec.network.enableDNSHostnames", yes(c));
	set(c, "spec.network.frameworks", list_of(c, text(c, "mpi")));
	set(c, "spec.successPolicy.tasks", list_of(c, text(c, "launcher")));
	move_replica_spec(c, tasks, "Launcher", "launcher", 0);
	move_replica_spec(c, tasks, "Worker", "worker", 1);
	set(c, "spec.taskSpecs", tasks);
	qj_note(c, "spec.mpiReplicaSpecs",
		"the image must bring its ssh keys, and workers must run sshd; KAR_HOSTS_WORKER has the hosts for mpirun; see docs/NETWORK.md");
	if (qj_take(c, "spec.runPolicy.cleanPodPolicy"))
		qj_note(c, "spec.runPolicy.cleanPodPolicy",
			"pods that still run are stopped when the job has ended");
}
