/* batch/v1 Job. */
#include "api/suspendable/suspendable.h"

#include "api/copy.h"
#include "api/status/condition.h"
#include "common/base/str.h"

#define ITSELF "kubernetes.io/job-controller" /* spec.managedBy of a Job that no other controller runs */

struct wire_spec {
	int64_t active_deadline_seconds; /* 0: none */
	int32_t parallelism, completions;
	bool has_parallelism, has_completions, suspend;
	const char *managed_by;
	struct kar_str template;
};

struct wire_status {
	int32_t succeeded;
	kar_time started;
	struct kar_array conditions; /* struct kar_wire_condition */
};

struct wire_job {
	struct kar_wire_object head;
	struct wire_spec spec;
	struct wire_status status;
};

static const struct kar_field spec_fields[] = {
	KAR_FIELD_OPT(struct wire_spec, parallelism, has_parallelism, "parallelism", KAR_F_INT32),
	KAR_FIELD_OPT(struct wire_spec, completions, has_completions, "completions", KAR_F_INT32),
	KAR_FIELD(struct wire_spec, active_deadline_seconds, "activeDeadlineSeconds", KAR_F_INT64),
	KAR_FIELD(struct wire_spec, suspend, "suspend", KAR_F_BOOL),
	KAR_FIELD(struct wire_spec, managed_by, "managedBy", KAR_F_STRING),
	KAR_FIELD(struct wire_spec, template, "template", KAR_F_RAW),
};
static const struct kar_desc spec_desc = KAR_DESC("JobSpec", struct wire_spec, spec_fields);

static const struct kar_field status_fields[] = {
	KAR_FIELD(struct wire_status, succeeded, "succeeded", KAR_F_INT32),
	KAR_FIELD(struct wire_status, started, "startTime", KAR_F_TIME),
	KAR_FIELD_SUB(struct wire_status, conditions, "conditions", KAR_F_ARRAY, &kar_wire_condition_desc),
};
static const struct kar_desc status_desc = KAR_DESC("JobStatus", struct wire_status, status_fields);

static const struct kar_field fields[] = {
	KAR_WIRE_HEAD_FIELDS(struct wire_job),
	KAR_FIELD_SUB(struct wire_job, spec, "spec", KAR_F_OBJECT, &spec_desc),
	KAR_FIELD_SUB(struct wire_job, status, "status", KAR_F_OBJECT, &status_desc),
};
static const struct kar_desc desc = KAR_WIRE_DESC("Job", struct wire_job, fields);

/* At most so many pods run at the same time. A Job without completions ends with the first that succeeds. */
static void read_set(const struct wire_job *w, struct kar_suspendable *s)
{
	int64_t most = w->spec.has_parallelism ? w->spec.parallelism : 1, all = INT32_MAX, left;
	struct kar_suspendable_set *set;

	if (w->spec.has_completions)
		all = w->spec.completions;
	left = all - (w->spec.has_completions ? w->status.succeeded : 0);
	set = kar_suspendable_add(s, s->o.name, "/spec/template", most < left ? most : left,
		w->spec.template);
	set->most = (int32_t)kar_clamp(most < all ? most : all, 0, INT32_MAX);
	set->ever = (int32_t)kar_clamp(all, 0, INT32_MAX);
}

static struct kar_object *project(const void *wire, struct kar_intern *strings)
{
	const struct wire_job *w = wire;
	struct kar_suspendable *s = kar_suspendable_new(&kar_batchjob_type, &w->head, strings);

	s->suspended = w->spec.suspend;
	s->started = w->status.started != 0;
	s->started_at = w->status.started;
	s->limits_time = true;
	s->run_seconds = kar_clamp(w->spec.active_deadline_seconds, 0, INT32_MAX);
	s->ended = kar_suspendable_is_so(&w->status.conditions, "Complete") ||
		kar_suspendable_is_so(&w->status.conditions, "Failed");
	s->managed_by = kar_suspendable_manager(s, w->spec.managed_by, ITSELF);
	read_set(w, s);
	return &s->o;
}

const struct kar_type kar_batchjob_type = {
	.res = {
		.group = "batch",
		.version = "v1",
		.plural = "jobs",
		.kind = "Job",
		.namespaced = true,
	},
	.wire = &desc,
	.project = project,
	.destroy = kar_suspendable_destroy,
};
