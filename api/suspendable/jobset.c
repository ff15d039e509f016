/* jobset.x-k8s.io JobSet: batch Jobs of several templates. */
#include "api/suspendable/suspendable.h"

#include <stdio.h>

#include "api/status/condition.h"
#include "common/base/str.h"

#define ITSELF \
	"jobset.sigs.k8s.io/jobset-controller" /* spec.managedBy of one that no other controller runs */

struct wire_job_spec {
	int32_t parallelism, completions;
	bool has_parallelism, has_completions;
	struct kar_str template;
};

struct wire_job_template {
	struct wire_job_spec spec;
};

struct wire_job {
	const char *name;
	int32_t replicas;
	bool has_replicas;
	struct wire_job_template template;
	struct kar_array depends_on; /* struct wire_depends */
};

struct wire_depends {
	const char *name;
};

struct wire_startup {
	const char *order;
};

struct wire_spec {
	bool suspend;
	const char *managed_by;
	struct wire_startup startup;
	struct kar_array jobs; /* struct wire_job */
};

struct wire_done {
	const char *name;
	int32_t succeeded; /* Jobs */
};

struct wire_status {
	struct kar_array conditions; /* struct kar_wire_condition */
	struct kar_array jobs;       /* struct wire_done */
};

struct wire_jobset {
	struct kar_wire_object head;
	struct wire_spec spec;
	struct wire_status status;
};

static const struct kar_field job_spec_fields[] = {
	KAR_FIELD_OPT(struct wire_job_spec, parallelism, has_parallelism, "parallelism", KAR_F_INT32),
	KAR_FIELD_OPT(struct wire_job_spec, completions, has_completions, "completions", KAR_F_INT32),
	KAR_FIELD(struct wire_job_spec, template, "template", KAR_F_RAW),
};
static const struct kar_desc job_spec_desc = KAR_DESC("JobSpec", struct wire_job_spec, job_spec_fields);

static const struct kar_field job_template_fields[] = {
	KAR_FIELD_SUB(struct wire_job_template, spec, "spec", KAR_F_OBJECT, &job_spec_desc),
};
static const struct kar_desc job_template_desc =
	KAR_DESC("JobTemplateSpec", struct wire_job_template, job_template_fields);

static const struct kar_field depends_fields[] = {
	KAR_FIELD(struct wire_depends, name, "name", KAR_F_STRING),
};
static const struct kar_desc depends_desc = KAR_DESC("DependsOn", struct wire_depends, depends_fields);

static const struct kar_field job_fields[] = {
	KAR_FIELD(struct wire_job, name, "name", KAR_F_STRING),
	KAR_FIELD_OPT(struct wire_job, replicas, has_replicas, "replicas", KAR_F_INT32),
	KAR_FIELD_SUB(struct wire_job, template, "template", KAR_F_OBJECT, &job_template_desc),
	KAR_FIELD_SUB(struct wire_job, depends_on, "dependsOn", KAR_F_ARRAY, &depends_desc),
};
static const struct kar_desc job_desc = KAR_DESC("ReplicatedJob", struct wire_job, job_fields);

static const struct kar_field startup_fields[] = {
	KAR_FIELD(struct wire_startup, order, "startupPolicyOrder", KAR_F_STRING),
};
static const struct kar_desc startup_desc = KAR_DESC("StartupPolicy", struct wire_startup, startup_fields);

static const struct kar_field spec_fields[] = {
	KAR_FIELD(struct wire_spec, suspend, "suspend", KAR_F_BOOL),
	KAR_FIELD(struct wire_spec, managed_by, "managedBy", KAR_F_STRING),
	KAR_FIELD_SUB(struct wire_spec, startup, "startupPolicy", KAR_F_OBJECT, &startup_desc),
	KAR_FIELD_SUB(struct wire_spec, jobs, "replicatedJobs", KAR_F_ARRAY, &job_desc),
};
static const struct kar_desc spec_desc = KAR_DESC("JobSetSpec", struct wire_spec, spec_fields);

static const struct kar_field done_fields[] = {
	KAR_FIELD(struct wire_done, name, "name", KAR_F_STRING),
	KAR_FIELD(struct wire_done, succeeded, "succeeded", KAR_F_INT32),
};
static const struct kar_desc done_desc = KAR_DESC("ReplicatedJobStatus", struct wire_done, done_fields);

static const struct kar_field status_fields[] = {
	KAR_FIELD_SUB(struct wire_status, conditions, "conditions", KAR_F_ARRAY, &kar_wire_condition_desc),
	KAR_FIELD_SUB(struct wire_status, jobs, "replicatedJobsStatus", KAR_F_ARRAY, &done_desc),
};
static const struct kar_desc status_desc = KAR_DESC("JobSetStatus", struct wire_status, status_fields);

static const struct kar_field fields[] = {
	KAR_WIRE_HEAD_FIELDS(struct wire_jobset),
	KAR_FIELD_SUB(struct wire_jobset, spec, "spec", KAR_F_OBJECT, &spec_desc),
	KAR_FIELD_SUB(struct wire_jobset, status, "status", KAR_F_OBJECT, &status_desc),
};
static const struct kar_desc desc = KAR_WIRE_DESC("JobSet", struct wire_jobset, fields);

/* Jobs of @name that are complete. They stay so when the JobSet is suspended and resumed. */
static int32_t complete_jobs(const struct wire_status *status, const char *name)
{
	const struct wire_done *d = status->jobs.items;

	for (size_t i = 0; i < status->jobs.n; i++) {
		if (kar_streq(d[i].name, name))
			return d[i].succeeded > 0 ? d[i].succeeded : 0;
	}
	return 0;
}

static int64_t at_least_0(int64_t n)
{
	return n > 0 ? n : 0;
}

static void read_job(struct kar_suspendable *s, const struct wire_jobset *w, size_t i)
{
	const struct wire_job *job = &((const struct wire_job *)w->spec.jobs.items)[i];
	const struct wire_job_spec *spec = &job->template.spec;
	int64_t replicas = job->has_replicas ? at_least_0(job->replicas) : 1,
		most = spec->has_parallelism ? at_least_0(spec->parallelism) : 1,
		all = spec->has_completions ? at_least_0(spec->completions) : most,
		left = at_least_0(replicas - complete_jobs(&w->status, job->name));
	struct kar_suspendable_set *set;
	char at[96];

	most = most < all ? most : all;
	snprintf(at, sizeof(at), "/spec/replicatedJobs/%zu/template/spec/template", i);
	set = kar_suspendable_add(s, job->name, at, left * most, spec->template);
	if (!set)
		return;
	set->most = (int32_t)kar_clamp(replicas * most, 0, INT32_MAX);
	set->ever = (int32_t)kar_clamp(replicas * all, 0, INT32_MAX);
	s->in_turn |= job->depends_on.n > 0;
}

static struct kar_object *project(const void *wire, struct kar_intern *strings)
{
	const struct wire_jobset *w = wire;
	struct kar_suspendable *s = kar_suspendable_new(&kar_jobset_type, &w->head, strings);

	s->suspended = w->spec.suspend;
	s->ended = kar_suspendable_is_so(&w->status.conditions, "Completed") ||
		kar_suspendable_is_so(&w->status.conditions, "Failed");
	s->managed_by = kar_suspendable_manager(s, w->spec.managed_by, ITSELF);
	s->in_turn = kar_streq(w->spec.startup.order, "InOrder");
	for (size_t i = 0; i < w->spec.jobs.n; i++)
		read_job(s, w, i);
	return &s->o;
}

const struct kar_type kar_jobset_type = {
	.res = {
		.group = "jobset.x-k8s.io",
		.version = "v1alpha2",
		.plural = "jobsets",
		.kind = "JobSet",
		.namespaced = true,
	},
	.wire = &desc,
	.project = project,
	.destroy = kar_suspendable_destroy,
};
