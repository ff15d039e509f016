/* Jobs of Volcano. */
#include "kubectl-qj/convert.h"

#include <string.h>

#include "common/base/str.h"

/* A policy of the job, or of one task, becomes a rule; NULL: it has no place among them. */
static const struct qj_doc *rule_of(const struct qj_conv *c, const char *task)
{
	static const char *const actions[][2] = { { "AbortJob", "FailJob" }, { "TerminateJob", "FailJob" },
		{ "RestartJob", "RestartJob" }, { "RestartTask", "RestartTask" },
		{ "RestartPod", "RecreatePod" }, { "CompleteJob", "CompleteJob" } };
	const char *event = qj_doc_text(c->from, "event"), *code = qj_doc_text(c->from, "exitCode"),
		   *action = qj_doc_text(c->from, "action");
	struct qj_doc *rule = qj_doc_new(c->a, QJ_DOC_MAP, NULL),
		      *tasks = qj_doc_new(c->a, QJ_DOC_LIST, NULL), *values;
	bool evicted = kar_streq(event, "PodEvicted");

	for (size_t i = 0; i < KAR_LEN(actions); i++) {
		if (kar_streq(action, actions[i][0]))
			qj_doc_put(c->a, rule, "action", qj_doc_new(c->a, QJ_DOC_TEXT, actions[i][1]));
	}
	if (!rule->first || !(code || evicted || kar_streq(event, "PodFailed")) ||
		qj_doc_get(c->from, "events"))
		return NULL;
	if (task) {
		qj_doc_append(c->a, tasks, qj_doc_new(c->a, QJ_DOC_TEXT, task));
		qj_doc_put(c->a, rule, "tasks", tasks);
	}
	if (code) {
		values = qj_doc_new(c->a, QJ_DOC_LIST, NULL);
		qj_doc_append(c->a, values, qj_doc_new(c->a, QJ_DOC_PLAIN, code));
		qj_doc_put(c->a, rule, "onExitCodes.operator", qj_doc_new(c->a, QJ_DOC_TEXT, "In"));
		qj_doc_put(c->a, rule, "onExitCodes.values", values);
	} else if (evicted) {
		struct qj_doc *list = qj_doc_new(c->a, QJ_DOC_LIST, NULL),
			      *one = qj_doc_new(c->a, QJ_DOC_MAP, NULL);

		qj_doc_put(c->a, one, "type", qj_doc_new(c->a, QJ_DOC_TEXT, "DisruptionTarget"));
		qj_doc_append(c->a, list, one);
		qj_doc_put(c->a, rule, "onPodConditions", list);
	} else { /* whatever its exit code is */
		values = qj_doc_new(c->a, QJ_DOC_LIST, NULL);
		qj_doc_append(c->a, values, qj_doc_number(c->a, 0));
		qj_doc_put(c->a, rule, "onExitCodes.operator", qj_doc_new(c->a, QJ_DOC_TEXT, "NotIn"));
		qj_doc_put(c->a, rule, "onExitCodes.values", values);
	}
	(void)qj_take(c, "action");
	(void)qj_take(c, "event");
	(void)qj_take(c, "exitCode");
	return rule;
}

/* The job is completed when this task is. */
static bool ends_job(const struct qj_conv *c, const char *task, struct qj_doc *ending)
{
	if (!task || !kar_streq(qj_doc_text(c->from, "event"), "TaskCompleted") ||
		!kar_streq(qj_doc_text(c->from, "action"), "CompleteJob"))
		return false;
	(void)qj_take(c, "event");
	(void)qj_take(c, "action");
	qj_doc_append(c->a, ending, qj_doc_new(c->a, QJ_DOC_TEXT, task));
	qj_note(c, "event", "spec.successPolicy.tasks names %s", task);
	return true;
}

static void move_policies(const struct qj_conv *c, const char *path, const char *task, struct qj_doc *rules,
	struct qj_doc *ending)
{
	struct qj_doc *policies = qj_doc_get(c->from, path);
	size_t i = 0;

	for (struct qj_doc *p = policies ? policies->first : NULL; p; p = p->next, i++) {
		struct qj_conv one = qj_conv_item(c, p, path, i, "spec.failurePolicy.rules", 0);
		const struct qj_doc *rule;

		if (ends_job(&one, task, ending))
			continue;
		rule = rule_of(&one, task);
		if (rule) {
			qj_doc_append(c->a, rules, rule);
			qj_note(&one, "action", "a rule of spec.failurePolicy");
		}
	}
}

static void move_dependencies(const struct qj_conv *task)
{
	struct qj_doc *names = qj_doc_get(task->from, "dependsOn.name"),
		      *ours = qj_doc_new(task->a, QJ_DOC_LIST, NULL);

	for (const struct qj_doc *n = names ? names->first : NULL; n; n = n->next) {
		struct qj_doc *one = qj_doc_new(task->a, QJ_DOC_MAP, NULL);

		qj_doc_put(task->a, one, "name", n);
		qj_doc_append(task->a, ours, one);
	}
	if (!ours->first)
		return;
	(void)qj_take(task, "dependsOn.name");
	qj_put(task, "dependsOn.name", "dependsOn", ours);
}

static void move_tasks(const struct qj_conv *c, struct qj_doc *rules, struct qj_doc *ending)
{
	struct qj_doc *theirs = qj_doc_get(c->from, "spec.tasks"),
		      *ours = qj_doc_new(c->a, QJ_DOC_LIST, NULL);
	size_t i = 0;

	for (struct qj_doc *t = theirs ? theirs->first : NULL; t; t = t->next, i++) {
		struct qj_conv task = qj_conv_item(c, t, "spec.tasks", i, "spec.taskSpecs", i);

		(void)qj_move(&task, "name", "name");
		(void)qj_move(&task, "replicas", "replicas");
		(void)qj_move(&task, "minAvailable", "minAvailable");
		qj_move_template(&task, "template");
		move_dependencies(&task);
		move_policies(&task, "policies", qj_doc_text(t, "name"), rules, ending);
		qj_doc_append(c->a, ours, task.to);
	}
	qj_doc_put(c->a, c->to, "spec.taskSpecs", ours);
}

static void add_framework(const struct qj_conv *c, const char *plugin, const char *framework)
{
	struct qj_doc *list = qj_doc_get(c->to, "spec.network.frameworks");

	if (!qj_take(c, plugin))
		return;
	if (!list)
		list = qj_doc_put(c->a, c->to, "spec.network.frameworks",
			qj_doc_new(c->a, QJ_DOC_LIST, NULL));
	qj_doc_append(c->a, list, qj_doc_new(c->a, QJ_DOC_TEXT, framework));
	qj_doc_put(c->a, c->to, "spec.network.enableDNSHostnames", qj_doc_new(c->a, QJ_DOC_PLAIN, "true"));
	qj_note(c, plugin, "spec.network.frameworks has %s", framework);
}

static void move_plugins(const struct qj_conv *c)
{
	if (qj_take(c, "spec.plugins.svc"))
		qj_put(c, "spec.plugins.svc", "spec.network.enableDNSHostnames",
			qj_doc_new(c->a, QJ_DOC_PLAIN, "true"));
	if (qj_take(c, "spec.plugins.env"))
		qj_note(c, "spec.plugins.env",
			"every pod has KAR_INDEX, KAR_RANK and others, not VC_TASK_INDEX");
	if (qj_take(c, "spec.plugins.ssh"))
		qj_note(c, "spec.plugins.ssh", "the image must bring its ssh keys: see docs/NETWORK.md");
	add_framework(c, "spec.plugins.pytorch", "torch");
	add_framework(c, "spec.plugins.mpi", "mpi");
}

void qj_convert_volcano(const struct qj_conv *c)
{
	static const char *const moves[][2] = {
		{ "spec.queue", "spec.queue" },
		{ "spec.minAvailable", "spec.schedSpec.minAvailable" },
		{ "spec.priorityClassName", "spec.schedSpec.priorityClassName" },
		{ "spec.minSuccess", "spec.successPolicy.minSucceeded" },
		{ "spec.maxRetry", "spec.backoffLimit" },
		{ "spec.ttlSecondsAfterFinished", "spec.ttlSecondsAfterFinished" },
	};
	struct qj_doc *rules = qj_doc_new(c->a, QJ_DOC_LIST, NULL),
		      *ending = qj_doc_new(c->a, QJ_DOC_LIST, NULL);

	for (size_t i = 0; i < KAR_LEN(moves); i++)
		(void)qj_move(c, moves[i][0], moves[i][1]);
	if (qj_take(c, "spec.schedulerName"))
		qj_note(c, "spec.schedulerName",
			"left out: kar-controllers starts gangs itself, with the scheduler of the cluster");
	move_plugins(c);
	move_tasks(c, rules, ending);
	move_policies(c, "spec.policies", NULL, rules, ending);
	if (rules->first)
		qj_doc_put(c->a, c->to, "spec.failurePolicy.rules", rules);
	if (ending->first)
		qj_doc_put(c->a, c->to, "spec.successPolicy.tasks", ending);
}
