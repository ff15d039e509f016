/* uninstall and release-gates: for the day on which kar-controllers is removed (uninstall/). */
#include "kubectl-qj/qj.h"

#include <stdio.h>

#include <bsd/stdlib.h>

#include "api/names.h"
#include "common/base/str.h"
#include "kubectl-qj/uninstall/uninstall.h"

struct batch_spec {
	bool suspend;
};
struct batch_job {
	struct kar_wire_meta meta;
	struct batch_spec spec;
};
static const struct kar_field spec_fields[] = { KAR_FIELD(struct batch_spec, suspend, "suspend",
	KAR_F_BOOL) };
static const struct kar_desc spec_desc = KAR_DESC("spec", struct batch_spec, spec_fields);
static const struct kar_field job_fields[] = {
	KAR_FIELD_SUB(struct batch_job, meta, "metadata", KAR_F_OBJECT, &kar_wire_meta_desc),
	KAR_FIELD_SUB(struct batch_job, spec, "spec", KAR_F_OBJECT, &spec_desc),
};
static const struct kar_desc job_desc = KAR_DESC("Job", struct batch_job, job_fields);
static const struct kar_resource batch_jobs = { "batch", "v1", "jobs", "Job", true };

static uint64_t seed(void)
{
	return (uint64_t)arc4random() << 32 | arc4random();
}

static int fail(const struct kar_err *err)
{
	fprintf(stderr, "error: %s\n", err->msg);
	return 1;
}

struct suspended {
	struct qj *q;
	size_t n;
	const char *ns, *name; /* of the first */
};

static int count(void *arg, const struct kar_array *items)
{
	const struct batch_job *j = items->items;
	struct suspended *s = arg;

	for (size_t i = 0; i < items->n; i++) {
		if (!j[i].spec.suspend || !j[i].meta.name || !j[i].meta.ns ||
			!kar_streq(kar_pairs_get(&j[i].meta.annotations, KAR_ANNOTATION_SUSPENDED_BY),
				KAR_BY_QUEUE))
			continue;
		if (!s->n++) {
			s->ns = qj_clean(s->q, j[i].meta.ns);
			s->name = qj_clean(s->q, j[i].meta.name);
		}
	}
	return 0;
}

/* Nobody but the manager resumes them, and their user cannot see that it is gone. */
void qj_report_suspended_jobs(struct qj *q)
{
	const struct qj_query query = { &batch_jobs, &job_desc, q->o.ns ? q->o.ns : "", KAR_LABEL_QUEUE,
		NULL };
	struct suspended s = { .q = q };

	if (qj_list(q, &query, count, &s))
		qj_print(q, "Batch Jobs that wait in a queue stay suspended; these cannot be listed: %s\n",
			q->err.msg);
	else if (s.n)
		qj_print(q,
			"Batch Jobs that stay suspended without the manager: %zu; this resumes one: kubectl patch job %s -n %s --type=merge -p '{\"spec\":{\"suspend\":false}}'\n",
			s.n, s.name, s.ns);
}

int qj_cmd_uninstall(struct qj *q)
{
	const struct kar_uninstall_options o = { .keep_crds = q->o.keep_crds,
		.seed = seed(),
		.out = q->out,
		.times = &kar_uninstall_default_times };
	struct kar_err err = { 0 };

	if (q->o.n_args)
		return qj_misused(q);
	if (q->o.ns) {
		fprintf(stderr,
			"error: uninstall is about the whole cluster: --namespace is not accepted; for one namespace see docs/USING.md\n");
		return 1;
	}
	if (kar_uninstall(q->loop, q->client, &o, &err))
		return fail(&err);
	qj_report_suspended_jobs(q);
	return 0;
}

/* Only a namespace that was named: that of the context is not meant. */
int qj_cmd_release_gates(struct qj *q)
{
	const struct kar_release_options o = { .ns = q->o.ns,
		.command = "release-gates",
		.seed = seed(),
		.out = q->out,
		.times = &kar_release_default_times };
	struct kar_err err = { 0 };

	if (q->o.n_args)
		return qj_misused(q);
	if (q->o.ns && !*q->o.ns) { /* a shell makes it of a variable that is not set */
		fprintf(stderr, "error: the name of the namespace is empty\n");
		return 1;
	}
	if (kar_release_gates(q->loop, q->client, &o, &err))
		return fail(&err);
	qj_report_suspended_jobs(q);
	return 0;
}
