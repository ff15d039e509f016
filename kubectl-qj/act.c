/* Commands that change a job by one patch, or delete it. */
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

static int send(struct qj *q, const char *name, enum kar_patch_type type, const struct kar_buf *body)
{
	struct kar_request r =
		kar_client_patch(&qj_jobs, q->ns, name, type, (struct kar_str){ body->p, body->n });

	r.dry_run = q->o.dry_run;
	r.field_manager = "kubectl-qj";
	r.strict = true;
	return qj_ask(q, r);
}

static int patch(struct qj *q, const char *name, enum kar_patch_type type, const struct kar_buf *body,
	const char *what)
{
	return send(q, name, type, body) ? qj_fail(q) : report(q, name, what);
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
static int find_task(struct qj *q, const struct qj_job *j)
{
	for (size_t i = 0; q->o.task && i < j->spec.tasks.n; i++) {
		if (kar_streq(qj_task_name(q, j, i), q->o.task))
			return (int)i;
	}
	if (!q->o.task && j->spec.tasks.n == 1)
		return 0;
	fprintf(stderr,
		"error: %s%s: name one of its tasks with --task:", q->o.task ? "no task " : "which task",
		q->o.task ? q->o.task : "");
	for (size_t i = 0; i < j->spec.tasks.n; i++)
		fprintf(stderr, " %s", qj_clean(q, qj_task_name(q, j, i)));
	fprintf(stderr, "\n");
	return -1;
}

/* Reads the job, and writes patches behind the test of its generation. Not 0: the exit status, the reason is said. */
typedef int write_fn(struct qj *q, struct kar_buf *out, int64_t *generation);

/* Whoever has changed the spec meanwhile may have moved its tasks; statuses, which a job at work gets all the time, change no generation. */
static void test_generation(struct kar_buf *out, int64_t generation)
{
	kar_buf_printf(out, "[{\"op\":\"test\",\"path\":\"/metadata/generation\",\"value\":%lld}",
		(long long)generation);
}

/* The API server refuses a test that fails like a patch that is wrong: only if the spec is another by now it was the test. */
static int patch_as_read(struct qj *q, write_fn *write, const char *what)
{
	enum { READS = 4 };
	struct kar_err refused = { 0 };
	int64_t tested = -1, generation = 0;

	for (int i = 0; i < READS; i++) {
		KAR_CLEANUP(kar_cleanup_buf) struct kar_buf body = { 0 };
		int status = write(q, &body, &generation);

		if (status)
			return status;
		if (generation == tested && refused.what == KAR_INVALID)
			break;
		if (send(q, q->o.args[0], KAR_PATCH_JSON, &body) == 0)
			return report(q, q->o.args[0], what);
		if (q->err.what != KAR_INVALID && q->err.what != KAR_CONFLICT)
			return qj_fail(q);
		refused = q->err;
		tested = generation;
	}
	q->err = refused;
	return qj_fail(q);
}

static int write_replicas(struct qj *q, struct kar_buf *out, int64_t *generation)
{
	struct qj_job j = { 0 };
	int32_t replicas = 0;
	int task;

	if (qj_get(q, &qj_jobs, q->ns, q->o.args[0], &qj_job_desc, &j))
		return qj_fail(q);
	task = find_task(q, &j);
	if (task < 0)
		return 1;
	(void)qj_number(q->o.args[1], &replicas); /* it is one */
	*generation = j.meta.generation;
	test_generation(out, *generation);
	kar_buf_printf(out, ",{\"op\":\"add\",\"path\":\"/spec/taskSpecs/%d/replicas\",\"value\":%d}]", task,
		(int)replicas);
	return 0;
}

int qj_cmd_scale(struct qj *q)
{
	int32_t replicas;

	if (q->o.n_args != 2 || qj_number(q->o.args[1], &replicas))
		return qj_misused(q);
	return patch_as_read(q, write_replicas, "scaled");
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

static int write_restart(struct qj *q, struct kar_buf *out, int64_t *generation)
{
	struct template_job j = { 0 };
	const struct template_task *t;
	char time[KAR_TIME_LEN];

	if (qj_get(q, &qj_jobs, q->ns, q->o.args[0], &job_desc, &j))
		return qj_fail(q);
	kar_time_format(q->now, time);
	*generation = j.meta.generation;
	test_generation(out, *generation);
	t = j.spec.tasks.items;
	for (size_t i = 0; i < j.spec.tasks.n; i++)
		add_annotation(out, i, &t[i].template, time);
	kar_buf_puts(out, "]");
	return 0;
}

int qj_cmd_restart(struct qj *q)
{
	return q->o.n_args == 1 ? patch_as_read(q, write_restart, "restarted") : qj_misused(q);
}
