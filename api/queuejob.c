#include "api/queuejob.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/keep.h"
#include "api/names.h"
#include "api/queuejob_order.h"
#include "api/queuejob_wire.h"
#include "common/json.h"

enum { DEFAULT_BACKOFF_LIMIT = 6, DEFAULT_REPLICAS = 1 };

/* --- the JSON that is read --------------------------------------------------------------------------- */

struct wire_task {
	struct kar_taskspec t; /* without what comes from the template */
	bool has_replicas;
	struct kar_array depends_on; /* struct kar_wire_dependency */
};

struct wire_success_policy {
	int32_t min_succeeded;
	bool has_min_succeeded;
	struct kar_array tasks; /* const char * */
};

struct wire_network {
	bool dns_hostnames, publish_not_ready, has_publish_not_ready;
};

struct wire_spec {
	const char *queue, *scheduler_name;
	bool suspend, has_backoff_limit, has_active_deadline, has_ttl;
	const struct kar_wire_selector *selector;
	struct kar_schedspec sched;
	struct kar_array tasks; /* struct wire_task */
	int32_t backoff_limit;
	int64_t active_deadline_seconds, ttl_seconds_after_finished;
	struct wire_success_policy success;
	struct kar_wire_failure_policy failure;
	struct wire_network network;
};

struct wire_status {
	struct kar_queuejob_status s; /* without what follows */
	const char *phase;
	struct kar_array tasks;      /* struct kar_task_status */
	struct kar_array conditions; /* struct kar_wire_condition */
	const char *pods_version;
};

struct wire_queuejob {
	struct kar_wire_object head;
	struct wire_spec spec;
	struct wire_status status;
};

static const struct kar_field requirement_fields[] = {
	KAR_FIELD(struct kar_wire_requirement, key, "key", KAR_F_STRING),
	KAR_FIELD(struct kar_wire_requirement, op, "operator", KAR_F_STRING),
	KAR_FIELD(struct kar_wire_requirement, values, "values", KAR_F_ARRAY),
};
static const struct kar_desc requirement_desc =
	KAR_DESC("LabelSelectorRequirement", struct kar_wire_requirement, requirement_fields);

static const struct kar_field selector_fields[] = {
	KAR_FIELD(struct kar_wire_selector, labels, "matchLabels", KAR_F_MAP),
	KAR_FIELD_SUB(struct kar_wire_selector, expressions, "matchExpressions", KAR_F_ARRAY,
		&requirement_desc),
};
static const struct kar_desc selector_desc =
	KAR_DESC("LabelSelector", struct kar_wire_selector, selector_fields);

static const struct kar_field task_fields[] = {
	KAR_FIELD(struct wire_task, t.name, "name", KAR_F_STRING),
	KAR_FIELD_OPT(struct wire_task, t.replicas, has_replicas, "replicas", KAR_F_INT32),
	KAR_FIELD_OPT(struct wire_task, t.min_available, t.has_min_available, "minAvailable", KAR_F_INT32),
	KAR_FIELD_OPT(struct wire_task, t.priority, t.has_priority, "priority", KAR_F_INT32),
	KAR_FIELD_SUB(struct wire_task, depends_on, "dependsOn", KAR_F_ARRAY, &kar_wire_dependency_desc),
	KAR_FIELD(struct wire_task, t.template_raw, "template", KAR_F_RAW),
};
static const struct kar_desc task_desc = KAR_DESC("TaskSpec", struct wire_task, task_fields);

static const struct kar_field success_fields[] = {
	KAR_FIELD_OPT(struct wire_success_policy, min_succeeded, has_min_succeeded, "minSucceeded",
		KAR_F_INT32),
	KAR_FIELD(struct wire_success_policy, tasks, "tasks", KAR_F_ARRAY),
};
static const struct kar_desc success_desc =
	KAR_DESC("SuccessPolicy", struct wire_success_policy, success_fields);

static const struct kar_field network_fields[] = {
	KAR_FIELD(struct wire_network, dns_hostnames, "enableDNSHostnames", KAR_F_BOOL),
	KAR_FIELD_OPT(struct wire_network, publish_not_ready, has_publish_not_ready,
		"publishNotReadyAddresses", KAR_F_BOOL),
};
static const struct kar_desc network_desc = KAR_DESC("Network", struct wire_network, network_fields);

static const struct kar_field spec_fields[] = {
	KAR_FIELD(struct wire_spec, queue, "queue", KAR_F_STRING),
	KAR_FIELD(struct wire_spec, suspend, "suspend", KAR_F_BOOL),
	KAR_FIELD(struct wire_spec, scheduler_name, "schedulerName", KAR_F_STRING),
	KAR_FIELD_SUB(struct wire_spec, selector, "selector", KAR_F_OBJECT_PTR, &selector_desc),
	KAR_FIELD_SUB(struct wire_spec, sched, "schedSpec", KAR_F_OBJECT, &kar_schedspec_desc),
	KAR_FIELD_SUB(struct wire_spec, tasks, "taskSpecs", KAR_F_ARRAY, &task_desc),
	KAR_FIELD_OPT(struct wire_spec, backoff_limit, has_backoff_limit, "backoffLimit", KAR_F_INT32),
	KAR_FIELD_OPT(struct wire_spec, active_deadline_seconds, has_active_deadline, "activeDeadlineSeconds",
		KAR_F_INT64),
	KAR_FIELD_OPT(struct wire_spec, ttl_seconds_after_finished, has_ttl, "ttlSecondsAfterFinished",
		KAR_F_INT64),
	KAR_FIELD_SUB(struct wire_spec, success, "successPolicy", KAR_F_OBJECT, &success_desc),
	KAR_FIELD_SUB(struct wire_spec, failure, "failurePolicy", KAR_F_OBJECT, &kar_failure_policy_desc),
	KAR_FIELD_SUB(struct wire_spec, network, "network", KAR_F_OBJECT, &network_desc),
};
static const struct kar_desc spec_desc = KAR_DESC("QueueJobSpec", struct wire_spec, spec_fields);

static const struct kar_field task_status_fields[] = {
	KAR_FIELD(struct kar_task_status, name, "name", KAR_F_STRING),
	KAR_FIELD(struct kar_task_status, replicas, "replicas", KAR_F_INT32),
	KAR_FIELD(struct kar_task_status, desired, "desired", KAR_F_INT32),
	KAR_FIELD(struct kar_task_status, pending, "pending", KAR_F_INT32),
	KAR_FIELD(struct kar_task_status, running, "running", KAR_F_INT32),
	KAR_FIELD(struct kar_task_status, succeeded, "succeeded", KAR_F_INT32),
	KAR_FIELD(struct kar_task_status, failed, "failed", KAR_F_INT32),
	KAR_FIELD(struct kar_task_status, started, "started", KAR_F_BOOL),
	KAR_FIELD(struct kar_task_status, succeeded_indexes, "succeededIndexes", KAR_F_STRING),
	KAR_FIELD(struct kar_task_status, restart_time, "restartTime", KAR_F_TIME),
};
static const struct kar_desc task_status_desc =
	KAR_DESC("TaskStatus", struct kar_task_status, task_status_fields);

static const struct kar_field restart_fields[] = {
	KAR_FIELD(struct kar_restart, time, "time", KAR_F_TIME),
	KAR_FIELD(struct kar_restart, reason, "reason", KAR_F_STRING),
	KAR_FIELD(struct kar_restart, message, "message", KAR_F_STRING),
	KAR_FIELD(struct kar_restart, pod, "pod", KAR_F_STRING),
	KAR_FIELD(struct kar_restart, node, "node", KAR_F_STRING),
	KAR_FIELD(struct kar_restart, exit_code, "exitCode", KAR_F_INT32),
};
static const struct kar_desc restart_desc = KAR_DESC("Restart", struct kar_restart, restart_fields);

static const struct kar_field status_fields[] = {
	KAR_FIELD(struct wire_status, phase, "phase", KAR_F_STRING),
	KAR_FIELD(struct wire_status, s.reason, "reason", KAR_F_STRING),
	KAR_FIELD(struct wire_status, s.message, "message", KAR_F_STRING),
	KAR_FIELD(struct wire_status, s.observed_generation, "observedGeneration", KAR_F_INT64),
	KAR_FIELD(struct wire_status, s.selector, "selector", KAR_F_STRING),
	KAR_FIELD(struct wire_status, s.replicas, "replicas", KAR_F_INT32),
	KAR_FIELD(struct wire_status, s.desired, "desired", KAR_F_INT32),
	KAR_FIELD(struct wire_status, s.pending, "pending", KAR_F_INT32),
	KAR_FIELD(struct wire_status, s.running, "running", KAR_F_INT32),
	KAR_FIELD(struct wire_status, s.succeeded, "succeeded", KAR_F_INT32),
	KAR_FIELD(struct wire_status, s.failed, "failed", KAR_F_INT32),
	KAR_FIELD(struct wire_status, s.terminating, "terminating", KAR_F_INT32),
	KAR_FIELD(struct wire_status, s.min_available, "minAvailable", KAR_F_INT32),
	KAR_FIELD_SUB(struct wire_status, tasks, "tasks", KAR_F_ARRAY, &task_status_desc),
	KAR_FIELD(struct wire_status, s.incarnation, "incarnation", KAR_F_INT32),
	KAR_FIELD(struct wire_status, s.formed_min_available, "formedMinAvailable", KAR_F_INT32),
	KAR_FIELD(struct wire_status, s.restarts, "restarts", KAR_F_INT32),
	KAR_FIELD(struct wire_status, s.pod_failures, "podFailures", KAR_F_INT32),
	KAR_FIELD(struct wire_status, s.disruptions, "disruptions", KAR_F_INT32),
	KAR_FIELD(struct wire_status, s.backoff_steps, "backoffSteps", KAR_F_INT32),
	KAR_FIELD(struct wire_status, s.schedule_timeouts, "scheduleTimeouts", KAR_F_INT32),
	KAR_FIELD(struct wire_status, s.last_failure_time, "lastFailureTime", KAR_F_TIME),
	KAR_FIELD(struct wire_status, s.counted_pods, "countedPods", KAR_F_ARRAY),
	KAR_FIELD(struct wire_status, s.template_hash, "templateHash", KAR_F_STRING),
	KAR_FIELD(struct wire_status, pods_version, "podsResourceVersion", KAR_F_STRING),
	KAR_FIELD(struct wire_status, s.start_time, "startTime", KAR_F_TIME),
	KAR_FIELD(struct wire_status, s.completion_time, "completionTime", KAR_F_TIME),
	KAR_FIELD(struct wire_status, s.last_scale_time, "lastScaleTime", KAR_F_TIME),
	KAR_FIELD_SUB(struct wire_status, s.last_restart, "lastRestart", KAR_F_OBJECT, &restart_desc),
	KAR_FIELD(struct wire_status, s.position, "position", KAR_F_INT32),
	KAR_FIELD_SUB(struct wire_status, conditions, "conditions", KAR_F_ARRAY, &kar_wire_condition_desc),
};
static const struct kar_desc status_desc = KAR_DESC("QueueJobStatus", struct wire_status, status_fields);

static const struct kar_field fields[] = {
	KAR_WIRE_HEAD_FIELDS(struct wire_queuejob),
	KAR_FIELD_SUB(struct wire_queuejob, spec, "spec", KAR_F_OBJECT, &spec_desc),
	KAR_FIELD_SUB(struct wire_queuejob, status, "status", KAR_F_OBJECT, &status_desc),
};
static const struct kar_desc desc = KAR_DESC("QueueJob", struct wire_queuejob, fields);

/* What the manager must know of a pod template besides its bytes. */
struct wire_template_spec {
	const char *priority_class, *scheduler, *hostname, *subdomain;
	struct kar_array node_selector;
};

struct wire_template {
	struct kar_wire_meta meta;
	struct wire_template_spec spec;
};

static const struct kar_field template_spec_fields[] = {
	KAR_FIELD(struct wire_template_spec, priority_class, "priorityClassName", KAR_F_STRING),
	KAR_FIELD(struct wire_template_spec, scheduler, "schedulerName", KAR_F_STRING),
	KAR_FIELD(struct wire_template_spec, hostname, "hostname", KAR_F_STRING),
	KAR_FIELD(struct wire_template_spec, subdomain, "subdomain", KAR_F_STRING),
	KAR_FIELD(struct wire_template_spec, node_selector, "nodeSelector", KAR_F_MAP),
};
static const struct kar_desc template_spec_desc =
	KAR_DESC("PodSpec", struct wire_template_spec, template_spec_fields);

static const struct kar_field template_fields[] = {
	KAR_FIELD_SUB(struct wire_template, meta, "metadata", KAR_F_OBJECT, &kar_wire_meta_desc),
	KAR_FIELD_SUB(struct wire_template, spec, "spec", KAR_F_OBJECT, &template_spec_desc),
};
static const struct kar_desc template_desc =
	KAR_DESC("PodTemplateSpec", struct wire_template, template_fields);

/* --- from the wire to the cached object -------------------------------------------------------------- */

/* A template that cannot be decoded leaves the members empty; kar_queuejob_check() reports it. */
static void read_template(struct kar_taskspec *t, struct kar_arena *mem)
{
	struct kar_arena scratch = { 0 };
	struct wire_template w = { 0 };

	if (t->template_raw.n &&
		kar_json_decode(&scratch, &template_desc, NULL, t->template_raw.p, t->template_raw.n, &w,
			NULL) == 0) {
		t->template_priority_class = kar_keep(mem, w.spec.priority_class);
		t->template_scheduler = kar_keep(mem, w.spec.scheduler);
		t->template_hostname = kar_keep(mem, w.spec.hostname);
		t->template_subdomain = kar_keep(mem, w.spec.subdomain);
		t->template_labels = kar_keep_pairs(mem, &w.meta.labels);
		t->template_node_selector = kar_keep_pairs(mem, &w.spec.node_selector);
	}
	kar_arena_release(&scratch);
}

static void read_tasks(struct kar_queuejob_spec *s, const struct kar_array *wire, struct kar_arena *mem)
{
	const struct wire_task *w = wire->items;

	s->n_tasks = wire->n;
	s->tasks = kar_arena_alloc(mem, wire->n, sizeof(*s->tasks));
	for (size_t i = 0; i < wire->n; i++) {
		struct kar_taskspec *t = &s->tasks[i];

		*t = w[i].t;
		t->name = w[i].t.name && w[i].t.name[0] ? kar_keep(mem, w[i].t.name)
							: kar_arena_printf(mem, "task%zu", i);
		t->replicas = !w[i].has_replicas ? DEFAULT_REPLICAS
			: w[i].t.replicas > 0    ? w[i].t.replicas
						 : 0;
		t->template_raw = kar_keep_raw(mem, w[i].t.template_raw);
		read_template(t, mem);
	}
	for (size_t i = 0; i < wire->n; i++)
		s->tasks[i].depends_on = kar_queuejob_read_order(s, &w[i].depends_on, mem);
}

static void read_spec(struct kar_queuejob *job, const struct wire_spec *w)
{
	struct kar_arena *mem = &job->mem;
	struct kar_queuejob_spec *s = &job->spec;

	s->queue = kar_has_text(w->queue) ? kar_keep(mem, w->queue) : KAR_DEFAULT_QUEUE;
	s->suspend = w->suspend;
	s->scheduler_name = kar_keep(mem, w->scheduler_name);
	s->selector = kar_queuejob_selector_text(w->selector, job->o.name, mem);
	s->sched = kar_schedspec_copy(&w->sched, mem);
	read_tasks(s, &w->tasks, mem);
	s->backoff_limit = w->has_backoff_limit ? w->backoff_limit : DEFAULT_BACKOFF_LIMIT;
	s->active_deadline_seconds = w->active_deadline_seconds;
	s->has_active_deadline = w->has_active_deadline;
	s->ttl_seconds_after_finished = w->ttl_seconds_after_finished;
	s->has_ttl = w->has_ttl;
	s->min_succeeded = w->success.min_succeeded;
	s->has_min_succeeded = w->success.has_min_succeeded;
	s->success_tasks = kar_keep_strings(mem, &w->success.tasks);
	s->failure_policy = kar_failure_policy_read(&w->failure, mem);
	s->dns_hostnames = w->network.dns_hostnames;
	s->publish_not_ready = !w->network.has_publish_not_ready || w->network.publish_not_ready;
}

static enum kar_qj_phase phase_of(const char *name)
{
	for (int p = KAR_QJ_PHASE_PENDING; name && p <= KAR_QJ_PHASE_FAILED; p++) {
		if (strcmp(name, kar_qj_phase_name((enum kar_qj_phase)p)) == 0)
			return (enum kar_qj_phase)p;
	}
	return KAR_QJ_PHASE_NONE;
}

static void read_task_statuses(struct kar_queuejob_status *s, const struct kar_array *wire,
	struct kar_arena *mem)
{
	const struct kar_task_status *w = wire->items;

	s->n_tasks = wire->n;
	s->tasks = kar_arena_alloc(mem, wire->n, sizeof(*s->tasks));
	for (size_t i = 0; i < wire->n; i++) {
		s->tasks[i] = w[i];
		s->tasks[i].name = kar_keep_text(mem, w[i].name);
		s->tasks[i].succeeded_indexes = kar_keep_text(mem, w[i].succeeded_indexes);
	}
}

static void read_status(struct kar_queuejob *job, const struct wire_status *w)
{
	struct kar_arena *mem = &job->mem;
	struct kar_queuejob_status *s = &job->status;

	*s = w->s;
	s->phase = phase_of(w->phase);
	s->reason = kar_keep_text(mem, w->s.reason);
	s->message = kar_keep_text(mem, w->s.message);
	s->selector = kar_keep_text(mem, w->s.selector);
	s->counted_pods = kar_keep_strings(mem, &w->s.counted_pods);
	s->template_hash = kar_keep_text(mem, w->s.template_hash);
	s->pods_version = w->pods_version ? kar_rv_parse(w->pods_version) : 0;
	s->last_restart.reason = kar_keep_text(mem, w->s.last_restart.reason);
	s->last_restart.message = kar_keep_text(mem, w->s.last_restart.message);
	s->last_restart.pod = kar_keep_text(mem, w->s.last_restart.pod);
	s->last_restart.node = kar_keep_text(mem, w->s.last_restart.node);
	read_task_statuses(s, &w->tasks, mem);
	s->conditions = kar_conditions_from_wire(&w->conditions, mem);
}

static uint64_t hash_pairs(uint64_t h, const struct kar_array *pairs)
{
	const struct kar_pair *p = pairs->items;

	for (size_t i = 0; i < pairs->n; i++)
		h = kar_hash_str(kar_hash_str(h, p[i].key), p[i].value);
	return h;
}

/*
 * Order of members and white space do not matter, so that re-applying the same manifest changes nothing; the names
 * do: they are part of the pods'. So is what the job adds to the templates, where it does: only its PriorityClass is not, so
 * that a job can be given another place in its queue without a restart.
 */
static const char *hash_templates(const struct kar_queuejob_spec *s, struct kar_arena *mem)
{
	uint64_t h = 0;

	for (size_t i = 0; i < s->n_tasks; i++) {
		const struct kar_str *raw = &s->tasks[i].template_raw;
		struct kar_buf canonical = { 0 };

		h = kar_hash_str(h, s->tasks[i].name);
		if (raw->n && kar_json_canonical(raw->p, raw->n, &canonical, NULL) == 0)
			h = kar_hash(h, canonical.p, canonical.n);
		kar_buf_release(&canonical);
		if (kar_has_text(s->scheduler_name) && !kar_has_text(s->tasks[i].template_scheduler))
			h = kar_hash_str(kar_hash_str(h, "schedulerName"), s->scheduler_name);
	}
	if (s->dns_hostnames)
		h = kar_hash_str(h, "enableDNSHostnames");
	if (s->sched.node_selector.n)
		h = hash_pairs(kar_hash_str(h, "nodeSelector"), &s->sched.node_selector);
	return kar_arena_printf(mem, "%016" PRIx64, h);
}

static struct kar_object *project(const void *wire, struct kar_intern *strings,
	struct kar_err *err KAR_UNUSED)
{
	const struct wire_queuejob *w = wire;
	const struct kar_wire_meta *m = &w->head.meta;
	struct kar_queuejob *job = kar_xcalloc(1, sizeof(*job));

	kar_object_init(&job->o, &kar_queuejob_type, &w->head, kar_keep_text(&job->mem, m->name),
		kar_keep_text(&job->mem, m->uid), strings);
	job->generation = m->generation;
	job->creation = m->creation;
	job->deletion = m->deletion;
	job->has_orphan_finalizer = kar_strings_have(&m->finalizers, "orphan");
	read_spec(job, &w->spec);
	read_status(job, &w->status);
	job->spec_template_hash = hash_templates(&job->spec, &job->mem);
	job->invalid = kar_queuejob_check(job, w->spec.selector);
	return &job->o;
}

static void destroy(struct kar_object *o, struct kar_intern *strings KAR_UNUSED)
{
	struct kar_queuejob *job = kar_container_of(o, struct kar_queuejob, o);

	kar_arena_release(&job->mem);
	free(job);
}

static const char *index_key(const struct kar_object *o, int i KAR_UNUSED)
{
	return o->ns;
}

const struct kar_type kar_queuejob_type = {
	.res = {
		.group = KAR_GROUP,
		.version = KAR_VERSION_V1ALPHA1,
		.plural = "queuejobs",
		.kind = "QueueJob",
		.namespaced = true,
	},
	.wire = &desc,
	.project = project,
	.destroy = destroy,
	.index_key = index_key,
	.n_index = 1,
};

/* --- questions --------------------------------------------------------------------------------------- */

bool kar_queuejob_orphan(const struct kar_wire_meta *m)
{
	return !m->owners.n && kar_same(kar_pairs_get(&m->labels, KAR_LABEL_QUEUEJOB), m->name);
}

size_t kar_queuejob_find_task(const struct kar_queuejob_spec *s, const char *name)
{
	for (size_t i = 0; i < s->n_tasks; i++) {
		if (strcmp(s->tasks[i].name, name) == 0)
			return i;
	}
	return KAR_NO_TASK;
}

int32_t kar_queuejob_total(const struct kar_queuejob_spec *s)
{
	int64_t total = 0;

	for (size_t i = 0; i < s->n_tasks; i++)
		total += s->tasks[i].replicas;
	return total > INT32_MAX ? INT32_MAX : (int32_t)total;
}

int32_t kar_queuejob_min_available(const struct kar_queuejob_spec *s)
{
	return s->sched.has_min_available ? s->sched.min_available : kar_queuejob_total(s);
}
