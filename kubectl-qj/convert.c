/* convert: reads a file of another tool, prints our objects, and says on stderr of each field what became of it. */
#include "kubectl-qj/convert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/names.h"
#include "common/base/str.h"

static const struct {
	const char *group, *kind, *becomes;
	qj_convert_fn *run;
} kinds[] = {
	{ "batch.volcano.sh", "Job", "QueueJob", qj_convert_volcano },
	{ "batch", "Job", "QueueJob", qj_convert_batch },
	{ "jobset.x-k8s.io", "JobSet", "QueueJob", qj_convert_jobset },
	{ "kubeflow.org", "MPIJob", "QueueJob", qj_convert_mpi },
	{ "kueue.x-k8s.io", "ClusterQueue", "Queue", qj_convert_cluster_queue },
	{ "kueue.x-k8s.io", "LocalQueue", "Namespace", qj_convert_local_queue },
};

/* --- objects ---------------------------------------------------------------------------------------- */

static bool is_used_below(const struct qj_doc *d)
{
	bool used = d->used;

	for (const struct qj_doc *m = d->first; m && !used; m = m->next)
		used = is_used_below(m);
	return used;
}

/* What nobody has taken: the largest parts of which that is true. */
static void say_rest(const struct qj_conv *c, const struct qj_doc *d, const char *path)
{
	size_t i = 0;

	if (d->used || d->kind == QJ_DOC_NULL)
		return;
	if (!is_used_below(d)) {
		fprintf(stderr, "  %s: not carried over\n", qj_clean(c->q, path));
		return;
	}
	for (const struct qj_doc *m = d->first; m; m = m->next, i++)
		say_rest(c, m,
			m->key ? kar_arena_printf(c->a, "%s%s%s", path, *path ? "." : "", m->key)
			       : kar_arena_printf(c->a, "%s[%zu]", path, i));
}

/* What the cluster writes, or what is the same in ours. */
static void take_head(const struct qj_conv *c)
{
	static const char *const fields[] = { "apiVersion", "kind", "status", "metadata" };
	const struct qj_doc *meta = qj_doc_get(c->from, "metadata");

	for (size_t i = 0; i < KAR_LEN(fields); i++)
		(void)qj_take(c, fields[i]);
	for (const struct qj_doc *m = meta ? meta->first : NULL; m; m = m->next) {
		bool ours = kar_streq(m->key, "labels") || kar_streq(m->key, "generateName");

		if (ours && m->kind != QJ_DOC_NULL)
			qj_doc_put(c->a, c->to, kar_arena_printf(c->a, "metadata.%s", m->key), m);
		else if (kar_streq(m->key, "annotations") || kar_streq(m->key, "finalizers") ||
			kar_streq(m->key, "ownerReferences"))
			qj_note(c, kar_arena_printf(c->a, "metadata.%s", m->key), "not carried over");
	}
}

/* The labels are those of .from until it is read. */
static void drop_labels(const struct qj_conv *c)
{
	qj_drop_labels(qj_doc_get(c->to, "metadata.labels"));
}

static void print(struct qj *q, const struct qj_doc *d)
{
	if (q->o.output == QJ_JSON) {
		qj_doc_print_json(d, q->out);
		return;
	}
	fprintf(q->out, "---\n");
	qj_doc_print_yaml(d, q->out);
}

static void begin(const struct qj_conv *c, const char *becomes)
{
	static const char *const fields[] = { "metadata.name", "metadata.namespace" };

	qj_doc_put(c->a, c->to, "apiVersion",
		qj_doc_new(c->a, QJ_DOC_TEXT, kar_streq(becomes, "Namespace") ? "v1" : KAR_API_VERSION));
	qj_doc_put(c->a, c->to, "kind", qj_doc_new(c->a, QJ_DOC_TEXT, becomes));
	for (size_t i = 0; i < KAR_LEN(fields); i++) {
		const struct qj_doc *d = qj_doc_get(c->from, fields[i]);

		if (d && !kar_streq(becomes, "Namespace"))
			qj_doc_put(c->a, c->to, fields[i], d);
	}
}

static int convert(struct qj *q, struct qj_doc *d, const struct qj_doc *all)
{
	struct qj_conv c = { q, &q->arena, d, qj_doc_new(&q->arena, QJ_DOC_MAP, NULL), "", "", all };
	const char *version = qj_doc_text(d, "apiVersion"), *kind = qj_doc_text(d, "kind"),
		   *name = qj_doc_text(d, "metadata.name");
	size_t n = version ? strcspn(version, "/") : 0;

	if (!version || !kind) {
		fprintf(stderr,
			"error: there is a document that is no object of Kubernetes: it has no apiVersion or no kind\n");
		return 1;
	}
	for (size_t i = 0; i < KAR_LEN(kinds); i++) {
		if (!kar_streq(kinds[i].kind, kind) || strlen(kinds[i].group) != n ||
			strncmp(kinds[i].group, version, n) != 0)
			continue;
		fprintf(stderr, "%s %s of %s -> %s\n", kind, qj_clean(q, name ? name : "(no name)"),
			qj_clean(q, version), kinds[i].becomes);
		begin(&c, kinds[i].becomes);
		if (!kar_streq(kinds[i].becomes, "Namespace"))
			take_head(&c);
		kinds[i].run(&c);
		drop_labels(&c);
		say_rest(&c, d, "");
		print(q, c.to);
		return 0;
	}
	fprintf(stderr,
		"error: %s %s of %s is not converted: Job of batch or of Volcano, JobSet, MPIJob, ClusterQueue and LocalQueue are\n",
		qj_clean(q, kind), qj_clean(q, name ? name : "(no name)"), qj_clean(q, version));
	return 1;
}

/* --- the command ------------------------------------------------------------------------------------ */

int qj_cmd_convert(struct qj *q)
{
	const struct qj_doc *all;
	int status = 0;

	if (q->o.n_args || !q->o.file)
		return qj_misused(q);
	all = qj_read_objects(q);
	if (!all)
		return 1;
	for (struct qj_doc *d = all->first; d; d = d->next)
		status |= convert(q, d, all);
	return status;
}
