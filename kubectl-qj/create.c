/* create: a job of one task, as "kubectl create job" makes one. */
#include "kubectl-qj/qj.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/names.h"
#include "common/base/str.h"
#include "common/codec/json.h"
#include "common/codec/quantity.h"
#include "kubectl-qj/doc.h"

static void kv_map(struct kar_json_writer *w, const char *key)
{
	kar_jw_key(w, key);
	kar_jw_begin_object(w);
}

/* "2" is of nvidia.com/gpu; "amd.com/gpu=2" names the resource. */
static const char *gpu_name(struct qj *q, const char **amount)
{
	const char *wish = q->o.wish.gpu, *equals = strchr(wish, '=');

	*amount = equals ? equals + 1 : wish;
	return equals ? kar_arena_strndup(&q->arena, wish, (size_t)(equals - wish)) : "nvidia.com/gpu";
}

static void write_resources(struct qj *q, struct kar_json_writer *w)
{
	const struct qj_wish *wish = &q->o.wish;
	const char *amount;

	if (!wish->cpu && !wish->memory && !wish->gpu)
		return;
	kv_map(w, "resources");
	if (wish->cpu || wish->memory) {
		kv_map(w, "requests");
		if (wish->cpu)
			kar_jw_kv_string(w, "cpu", wish->cpu);
		if (wish->memory)
			kar_jw_kv_string(w, "memory", wish->memory);
		kar_jw_end_object(w);
	}
	if (wish->gpu) { /* an extended resource: its request is its limit */
		const char *name = gpu_name(q, &amount);

		kv_map(w, "limits");
		kar_jw_kv_string(w, name, amount);
		kar_jw_end_object(w);
	}
	kar_jw_end_object(w);
}

static void write_task(struct qj *q, struct kar_json_writer *w)
{
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "name", "worker");
	kar_jw_kv_int(w, "replicas", q->o.wish.replicas ? q->o.wish.replicas : 1);
	kv_map(w, "template");
	kv_map(w, "spec");
	kar_jw_key(w, "containers");
	kar_jw_begin_array(w);
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "name", "main");
	kar_jw_kv_string(w, "image", q->o.wish.image);
	if (q->o.n_rest) {
		kar_jw_key(w, "command");
		kar_jw_begin_array(w);
		for (int i = 0; i < q->o.n_rest; i++)
			kar_jw_string(w, q->o.rest[i]);
		kar_jw_end_array(w);
	}
	write_resources(q, w);
	kar_jw_end_object(w);
	kar_jw_end_array(w);
	kar_jw_end_object(w);
	kar_jw_end_object(w);
	kar_jw_end_object(w);
}

/* "fetch,clean:Ended": the API server looks at the words. */
static void write_after(const char *list, struct kar_json_writer *w)
{
	char *copy = kar_xstrdup(list), *rest = copy;

	kar_jw_key(w, "after");
	kar_jw_begin_array(w);
	for (char *name; (name = strsep(&rest, ",")) != NULL;) {
		char *end = name;

		(void)strsep(&end, ":");
		kar_jw_begin_object(w);
		kar_jw_kv_string(w, "name", name);
		if (end)
			kar_jw_kv_string(w, "status", end);
		kar_jw_end_object(w);
	}
	kar_jw_end_array(w);
	free(copy);
}

static void write_job(struct qj *q, struct kar_buf *out)
{
	struct kar_json_writer w;

	kar_json_writer_init(&w, out);
	kar_jw_begin_object(&w);
	kar_jw_kv_string(&w, "apiVersion", KAR_API_VERSION);
	kar_jw_kv_string(&w, "kind", "QueueJob");
	kv_map(&w, "metadata");
	kar_jw_kv_string(&w, "name", q->o.args[0]);
	if (kar_has_text(q->ns))
		kar_jw_kv_string(&w, "namespace", q->ns);
	kar_jw_end_object(&w);
	kv_map(&w, "spec");
	if (q->o.wish.queue)
		kar_jw_kv_string(&w, "queue", q->o.wish.queue);
	if (q->o.wish.after)
		write_after(q->o.wish.after, &w);
	if (q->o.wish.min) {
		kv_map(&w, "schedSpec");
		kar_jw_kv_int(&w, "minAvailable", q->o.wish.min);
		kar_jw_end_object(&w);
	}
	kar_jw_key(&w, "taskSpecs");
	kar_jw_begin_array(&w);
	write_task(q, &w);
	kar_jw_end_array(&w);
	kar_jw_end_object(&w);
	kar_jw_end_object(&w);
	kar_json_writer_release(&w);
}

static bool is_amount(const char *flag, const char *text)
{
	struct kar_quantity n;
	struct kar_err err;

	if (!text || (kar_quantity_parse(text, &n, &err) == 0 && n.nano > 0))
		return true;
	fprintf(stderr, "error: --%s %s: want an amount, as in 500m, 4 or 2Gi\n", flag, text);
	return false;
}

/* What the API server would say less clearly, or only the manager. */
static bool is_sound(struct qj *q)
{
	const struct qj_wish *wish = &q->o.wish;
	const char *gpus = NULL;

	if (wish->gpu)
		(void)gpu_name(q, &gpus);
	if (!is_amount("cpu", wish->cpu) || !is_amount("memory", wish->memory) || !is_amount("gpu", gpus))
		return false;
	if (wish->min <= (wish->replicas ? wish->replicas : 1))
		return true;
	fprintf(stderr, "error: --min %d is more than --replicas %d\n", (int)wish->min,
		wish->replicas ? (int)wish->replicas : 1);
	return false;
}

static int report(struct qj *q, const char *json)
{
	const char *how = q->o.dry_here ? " (dry run)" : q->o.dry_run ? " (server dry run)" : "";

	if (q->o.output == QJ_YAML || q->o.output == QJ_JSON)
		return qj_print_object(q, json);
	fprintf(q->out, "queuejob.kube-arbitrator.io/%s%s%s\n", q->o.args[0],
		q->o.output == QJ_NAME ? "" : " created", q->o.output == QJ_NAME ? "" : how);
	return 0;
}

int qj_cmd_create(struct qj *q)
{
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf body = { 0 };
	struct kar_request r;

	if (q->o.n_args != 1 || q->o.all)
		return qj_misused(q);
	if (!q->o.wish.image) {
		fprintf(stderr, "error: required flag(s) \"image\" not set\n");
		return 1;
	}
	if (!is_sound(q))
		return 1;
	write_job(q, &body);
	if (q->o.dry_here)
		return report(q, kar_buf_cstr(&body));
	r = kar_client_create(&qj_jobs, q->ns, (struct kar_str){ body.p, body.n });
	r.dry_run = q->o.dry_run;
	r.field_manager = "kubectl-qj";
	r.strict = true;
	return qj_ask(q, r) ? qj_fail(q) : report(q, kar_buf_cstr(&q->answer));
}
