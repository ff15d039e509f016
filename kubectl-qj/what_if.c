/* what-if: when would a job start? A suspended copy of it asks the manager. */
#include "kubectl-qj/doc.h"
#include "kubectl-qj/qj.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/names.h"
#include "common/base/str.h"
#include "common/base/text.h"

/* --- the question ----------------------------------------------------------------------------------- */

static const char *name_of(const struct qj_doc *d)
{
	const char *name = qj_doc_text(d, "metadata.name");

	return name ? name : qj_doc_text(d, "metadata.generateName");
}

/* The one QueueJob of the file; NULL: it has been said why not. */
static struct qj_doc *read_job(struct qj *q)
{
	struct qj_doc *all = qj_read_objects(q), *d = all ? all->first : NULL;
	const char *kind;

	if (!d)
		return NULL;
	kind = qj_doc_text(d, "kind");
	if (d->next || !kar_streq(qj_doc_text(d, "apiVersion"), KAR_API_VERSION) ||
		!kar_streq(kind, "QueueJob")) {
		fprintf(stderr,
			"error: %s: want one QueueJob of " KAR_API_VERSION
			"%s; \"kubectl qj convert -f FILE\" makes one of others\n",
			q->o.file, d->next ? ", and no other object" : "");
		return NULL;
	}
	return d;
}

/* The annotation, beside those that it has: admission may look at them. */
static void put_annotation(struct qj_doc *d, struct kar_arena *a)
{
	struct qj_doc *notes = qj_doc_get(d, "metadata.annotations"), *m;

	if (!notes || notes->kind != QJ_DOC_MAP)
		notes = qj_doc_put(a, d, "metadata.annotations", qj_doc_new(a, QJ_DOC_MAP, NULL));
	for (m = notes->first; m && !kar_streq(m->key, KAR_ANNOTATION_WHAT_IF);)
		m = m->next;
	if (!m)
		m = qj_doc_append(a, notes, qj_doc_new(a, QJ_DOC_TEXT, NULL));
	m->key = KAR_ANNOTATION_WHAT_IF;
	m->text = "true";
	m->kind = QJ_DOC_TEXT;
}

/* The same job under a name of its own, suspended. */
static const char *question(struct qj *q, struct qj_doc *d)
{
	struct kar_arena *a = &q->arena;
	const char *name = name_of(d);
	char *text = NULL;
	size_t n = 0;
	FILE *out;

	put_annotation(d, a);
	qj_doc_put(a, d, "metadata.generateName",
		qj_doc_new(a, QJ_DOC_TEXT, kar_arena_printf(a, "%.20s-what-if-", name ? name : "job")));
	qj_doc_put(a, d, "metadata.name", qj_doc_new(a, QJ_DOC_NULL, "null"));
	qj_doc_put(a, d, "status", qj_doc_new(a, QJ_DOC_NULL, "null"));
	qj_doc_put(a, d, "spec.suspend", qj_doc_new(a, QJ_DOC_PLAIN, "true"));
	out = open_memstream(&text, &n);
	if (!out)
		abort();
	qj_doc_print_json(d, out);
	fclose(out);
	name = kar_arena_strndup(a, text, n);
	free(text);
	return name;
}

/* Creates it. Its name, NULL: .err says why there is none. */
static const char *create(struct qj *q, const char *json)
{
	struct kar_request r = kar_client_create(&qj_jobs, q->ns, (struct kar_str){ json, strlen(json) });
	struct qj_doc *made;
	const char *name;

	r.field_manager = "kubectl-qj";
	r.strict = true;
	if (qj_ask(q, r))
		return NULL;
	made = qj_doc_parse(&q->arena, kar_buf_cstr(&q->answer));
	name = qj_doc_text(made, "metadata.name");
	if (!name)
		kar_fail(&q->err, KAR_FATAL, "the API server has created a job without a name");
	return name;
}

/* --- the answer ------------------------------------------------------------------------------------- */

struct asking {
	struct qj *q;
	bool answered, gone;
	char why[512]; /* what keeps the manager from answering: the job is invalid, or a PriorityClass is missing; "": nothing is known */
};

static void print_evictions(struct qj *q, const struct kar_array *list)
{
	const struct qj_what_if_eviction *all = list->items;

	for (size_t i = 0; i < list->n; i++)
		qj_print(q, "  stopped for it: %d pod%s of queue %s\n", (int)all[i].pods,
			all[i].pods == 1 ? "" : "s", all[i].queue ? all[i].queue : "");
}

static void print_answer(struct qj *q, const struct qj_job *j)
{
	const struct qj_what_if *a = &j->status.what_if;
	const char *queue = qj_job_queue(j);

	if (kar_streq(a->answer, "FitsNow")) {
		qj_print(q, "FitsNow: it would start at once in queue %s\n", queue);
	} else {
		qj_print(q, "%s: %s%s%s\n", a->answer, a->reason ? a->reason : "",
			kar_has_text(a->reason) && kar_has_text(a->message) ? ": " : "",
			a->message ? a->message : "");
		if (a->position > 0)
			qj_print(q, "  position %d in queue %s\n", (int)a->position, queue);
	}
	if (a->expected > 0)
		qj_print(q, "  expected to start in %s (%s)\n", qj_age(q, a->expected - q->now),
			a->basis ? a->basis : "an estimate");
	print_evictions(q, &a->evicts);
}

static int look(void *arg, const void *object)
{
	const struct qj_job *j = object;
	struct asking *w = arg;

	w->gone = !j;
	if (j && kar_has_text(j->status.reason) && !kar_streq(j->status.reason, "Suspended"))
		kar_text_printf(w->why, sizeof(w->why), "%s: %s", j->status.reason,
			j->status.message ? j->status.message : "");
	if (!j || !kar_has_text(j->status.what_if.answer))
		return !j;
	w->answered = true;
	if (w->q->o.output != QJ_YAML && w->q->o.output != QJ_JSON)
		print_answer(w->q, j);
	return 1;
}

static int fail(const struct asking *w, enum qj_streamed end)
{
	if (end == QJ_BROKEN)
		return qj_fail(w->q);
	if (!w->gone && w->why[0]) {
		fprintf(stderr, "error: it cannot be answered: %s\n", w->why);
		return 1;
	}
	fprintf(stderr,
		w->gone ? "error: the question has been deleted before it was answered\n"
			: "error: nobody has answered: does a manager of this version run? \"kubectl get deployments -A -l "
			  "app.kubernetes.io/name=kar-controllers\" shows it\n");
	return 1;
}

static int report(struct qj *q, const struct asking *w, const char *name, enum qj_streamed end)
{
	if (!w->answered)
		return fail(w, end);
	if (q->o.output != QJ_YAML && q->o.output != QJ_JSON)
		return 0;
	if (qj_ask(q, kar_client_get(&qj_jobs, q->ns, name)))
		return qj_fail(q);
	return qj_print_object(q, kar_buf_cstr(&q->answer));
}

int qj_cmd_what_if(struct qj *q)
{
	struct asking w = { .q = q };
	struct qj_watch job = { &qj_jobs, &qj_job_desc, NULL, look, &w };
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf options = { 0 };
	const char *ns, *name;
	struct qj_doc *d;
	int status;

	if (q->o.n_args || q->o.all || !q->o.file)
		return qj_misused(q);
	d = read_job(q);
	if (!d)
		return 1;
	ns = qj_doc_text(d, "metadata.namespace");
	if (ns && !q->o.ns)
		q->ns = ns;
	name = create(q, question(q, d));
	if (!name)
		return qj_fail(q);
	job.name = name;
	status = report(q, &w, name, qj_watch(q, &job, q->o.timeout >= 0 ? q->o.timeout : 30 * KAR_SECOND));
	kar_delete_options(&options, NULL, 0, "Background", -1);
	(void)qj_ask(q, kar_client_delete(&qj_jobs, q->ns, name, (struct kar_str){ options.p, options.n }));
	return status; /* the manager deletes it after a minute anyway */
}
