/* Commands that change a job: one patch, or one deletion, each. */
#include "kubectl-qj/qj.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/str.h"
#include "common/base/timefmt.h"
#include "common/codec/json.h"

static int report(const struct qj *q, const char *name, const char *what)
{
	fprintf(q->out, "queuejob.kube-arbitrator.io/%s %s%s\n", name, what,
		q->o.dry_run ? " (server dry run)" : "");
	return 0;
}

static int patch(struct qj *q, const char *name, enum kar_patch_type type, const struct kar_buf *body,
	const char *what)
{
	struct kar_request r =
		kar_client_patch(&qj_jobs, q->ns, name, type, (struct kar_str){ body->p, body->n });

	r.dry_run = q->o.dry_run;
	r.field_manager = "kubectl-qj";
	r.strict = true;
	return qj_ask(q, r) ? qj_fail(q) : report(q, name, what);
}

static int set_suspend(struct qj *q, bool value, const char *what)
{
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf body = { 0 };

	if (q->o.n_args != 1)
		return qj_misused(q);
	kar_buf_printf(&body, "{\"spec\":{\"suspend\":%s}}", value ? "true" : "false");
	return patch(q, q->o.args[0], KAR_PATCH_MERGE, &body, what);
}

int qj_cmd_suspend(struct qj *q)
{
	return set_suspend(q, true, "suspended");
}

int qj_cmd_resume(struct qj *q)
{
	return set_suspend(q, false, "resumed");
}

int qj_cmd_move(struct qj *q)
{
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf body = { 0 };
	struct kar_json_writer w;

	if (q->o.n_args != 2 || !*q->o.args[1])
		return qj_misused(q);
	kar_json_writer_init(&w, &body);
	kar_jw_begin_object(&w);
	kar_jw_key(&w, "spec");
	kar_jw_begin_object(&w);
	kar_jw_kv_string(&w, "queue", q->o.args[1]);
	kar_jw_end_object(&w);
	kar_jw_end_object(&w);
	kar_json_writer_release(&w);
	return patch(q, q->o.args[0], KAR_PATCH_MERGE, &body, "moved");
}

int qj_cmd_cancel(struct qj *q)
{
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf options = { 0 };
	struct kar_request r;

	if (q->o.n_args != 1)
		return qj_misused(q);
	kar_delete_options(&options, NULL, 0, "Background", -1);
	r = kar_client_delete(&qj_jobs, q->ns, q->o.args[0], (struct kar_str){ options.p, options.n });
	r.dry_run = q->o.dry_run;
	return qj_ask(q, r) ? qj_fail(q) : report(q, q->o.args[0], "deleted");
}

/* --- tasks ------------------------------------------------------------------------------------------ */

/* The number of the task that is meant; -1: it is said on stderr which there are. */
static int find_task(const struct qj *q, const struct qj_job *j)
{
	const struct qj_task *t = j->spec.tasks.items;

	for (size_t i = 0; q->o.task && i < j->spec.tasks.n; i++) {
		if (kar_streq(t[i].name, q->o.task))
			return (int)i;
	}
	if (!q->o.task && j->spec.tasks.n == 1)
		return 0;
	fprintf(stderr,
		"error: %s%s: name one of its tasks with --task:", q->o.task ? "no task " : "which task",
		q->o.task ? q->o.task : "");
	for (size_t i = 0; i < j->spec.tasks.n; i++)
		fprintf(stderr, " %s", t[i].name ? t[i].name : "(unnamed)");
	fprintf(stderr, "\n");
	return -1;
}

int qj_cmd_scale(struct qj *q)
{
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf body = { 0 };
	struct qj_job j = { 0 };
	int32_t replicas;
	int task;

	if (q->o.n_args != 2 || qj_number(q->o.args[1], &replicas))
		return qj_misused(q);
	if (qj_get(q, &qj_jobs, q->ns, q->o.args[0], &qj_job_desc, &j))
		return qj_fail(q);
	task = find_task(q, &j);
	if (task < 0)
		return 1;
	/* Whoever has changed the job meanwhile may have moved its tasks. */
	kar_buf_printf(&body,
		"[{\"op\":\"test\",\"path\":\"/metadata/resourceVersion\",\"value\":\"%s\"},"
		"{\"op\":\"add\",\"path\":\"/spec/taskSpecs/%d/replicas\",\"value\":%d}]",
		j.meta.resource_version, task, (int)replicas);
	return patch(q, q->o.args[0], KAR_PATCH_JSON, &body, "scaled");
}

/* --- restart ---------------------------------------------------------------------------------------- */

struct template_meta {
	struct kar_array annotations; /* struct kar_pair */
};
struct template
{
	struct template_meta meta;
	bool has_meta;
};
struct template_task {
	struct template template;
};
struct template_spec {
	struct kar_array tasks; /* struct template_task */
};
struct template_job {
	struct kar_wire_meta meta;
	struct template_spec spec;
};

static const struct kar_field meta_fields[] = { KAR_FIELD(struct template_meta, annotations, "annotations",
	KAR_F_MAP) };
static const struct kar_desc meta_desc = KAR_DESC("metadata", struct template_meta, meta_fields);
static const struct kar_field template_fields[] = { { .name = "metadata",
	.type = KAR_F_OBJECT,
	.offset = offsetof(struct template, meta),
	.has = offsetof(struct template, has_meta),
	.sub = &meta_desc } };
static const struct kar_desc template_desc = KAR_DESC("template", struct template, template_fields);
static const struct kar_field task_fields[] = { KAR_FIELD_SUB(struct template_task, template, "template",
	KAR_F_OBJECT, &template_desc) };
static const struct kar_desc task_desc = KAR_DESC("task", struct template_task, task_fields);
static const struct kar_field spec_fields[] = { KAR_FIELD_SUB(struct template_spec, tasks, "taskSpecs",
	KAR_F_ARRAY, &task_desc) };
static const struct kar_desc spec_desc = KAR_DESC("spec", struct template_spec, spec_fields);
static const struct kar_field job_fields[] = {
	KAR_FIELD_SUB(struct template_job, meta, "metadata", KAR_F_OBJECT, &kar_wire_meta_desc),
	KAR_FIELD_SUB(struct template_job, spec, "spec", KAR_F_OBJECT, &spec_desc),
};
static const struct kar_desc job_desc = KAR_DESC("QueueJob", struct template_job, job_fields);

/* What is missing on the way to the annotation is added with it. */
static void add_annotation(struct kar_buf *out, size_t task, const struct template *t, const char *time)
{
	kar_buf_printf(out, ",{\"op\":\"add\",\"path\":\"/spec/taskSpecs/%zu/template/metadata", task);
	if (!t->has_meta)
		kar_buf_printf(out,
			"\",\"value\":{\"annotations\":{\"kube-arbitrator.io/restartedAt\":\"%s\"}}}", time);
	else if (!t->meta.annotations.n)
		kar_buf_printf(out, "/annotations\",\"value\":{\"kube-arbitrator.io/restartedAt\":\"%s\"}}",
			time);
	else
		kar_buf_printf(out, "/annotations/kube-arbitrator.io~1restartedAt\",\"value\":\"%s\"}", time);
}

int qj_cmd_restart(struct qj *q)
{
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf body = { 0 };
	struct template_job j = { 0 };
	const struct template_task *t;
	char time[KAR_TIME_LEN];

	if (q->o.n_args != 1)
		return qj_misused(q);
	if (qj_get(q, &qj_jobs, q->ns, q->o.args[0], &job_desc, &j))
		return qj_fail(q);
	kar_time_format(q->now, time);
	kar_buf_printf(&body, "[{\"op\":\"test\",\"path\":\"/metadata/resourceVersion\",\"value\":\"%s\"}",
		j.meta.resource_version);
	t = j.spec.tasks.items;
	for (size_t i = 0; i < j.spec.tasks.n; i++)
		add_annotation(&body, i, &t[i].template, time);
	kar_buf_puts(&body, "]");
	return patch(q, q->o.args[0], KAR_PATCH_JSON, &body, "restarted");
}
