#include "api/queuejob/queuejob.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/copy.h"
#include "api/pod/pod_charge.h"
#include "api/core/topology_wish.h"
#include "api/pod/pod_needs.h"
#include "common/base/str.h"
#include "api/names.h"
#include "api/queuejob/queuejob_env.h"
#include "api/queuejob/queuejob_order.h"
#include "api/queuejob/queuejob_wire.h"
#include "api/pod/template_admission.h"
#include "common/codec/json.h"

enum { DEFAULT_BACKOFF_LIMIT = 6, DEFAULT_REPLICAS = 1 };

/* --- the JSON that is read --------------------------------------------------------------------------- */

struct wire_task {
	struct kar_taskspec t; /* without the members that are read from the template */
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
	struct kar_array frameworks; /* const char * */
};

struct wire_after {
	const char *name, *status;
};

struct wire_spec {
	struct kar_array after; /* struct wire_after */
	const char *queue, *scheduler_name, *managed_by;
	bool suspend, has_backoff_limit, has_active_deadline, has_ttl, has_freezing_window;
	const struct kar_selector *selector;
	struct kar_schedspec sched;
	struct kar_array tasks; /* struct wire_task */
	int32_t backoff_limit, freezing_window, backoff_limit_per_index, max_failed_indexes;
	bool has_per_index, has_max_failed_indexes;
	int64_t active_deadline_seconds, ttl_seconds_after_finished;
	struct wire_success_policy success;
	struct kar_wire_failure_policy failure;
	struct wire_network network;
};

struct wire_queuejob {
	struct kar_wire_object head;
	struct wire_spec spec;
	struct kar_wire_qj_status status;
};

static const struct kar_field task_fields[] = {
	KAR_FIELD(struct wire_task, t.name, "name", KAR_F_STRING),
	KAR_FIELD_OPT(struct wire_task, t.replicas, has_replicas, "replicas", KAR_F_INT32),
	KAR_FIELD_OPT(struct wire_task, t.min_available, t.has_min_available, "minAvailable", KAR_F_INT32),
	KAR_FIELD_OPT(struct wire_task, t.priority, t.has_priority, "priority", KAR_F_INT32),
	KAR_FIELD_SUB(struct wire_task, depends_on, "dependsOn", KAR_F_ARRAY, &kar_wire_dependency_desc),
	KAR_FIELD_SUB(struct wire_task, t.topology, "topology", KAR_F_OBJECT, &kar_topology_ask_desc),
	KAR_FIELD(struct wire_task, t.topology_group, "topologyGroup", KAR_F_STRING),
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
	KAR_FIELD(struct wire_network, frameworks, "frameworks", KAR_F_ARRAY),
};
static const struct kar_desc network_desc = KAR_DESC("Network", struct wire_network, network_fields);

static const struct kar_field after_fields[] = {
	KAR_FIELD(struct wire_after, name, "name", KAR_F_STRING),
	KAR_FIELD(struct wire_after, status, "status", KAR_F_STRING),
};
static const struct kar_desc after_desc = KAR_DESC("After", struct wire_after, after_fields);

static const struct kar_field spec_fields[] = {
	KAR_FIELD(struct wire_spec, queue, "queue", KAR_F_STRING),
	KAR_FIELD_SUB(struct wire_spec, after, "after", KAR_F_ARRAY, &after_desc),
	KAR_FIELD(struct wire_spec, suspend, "suspend", KAR_F_BOOL),
	KAR_FIELD(struct wire_spec, scheduler_name, "schedulerName", KAR_F_STRING),
	KAR_FIELD(struct wire_spec, managed_by, "managedBy", KAR_F_STRING),
	KAR_FIELD_SUB(struct wire_spec, selector, "selector", KAR_F_OBJECT_PTR, &kar_selector_desc),
	KAR_FIELD_SUB(struct wire_spec, sched, "schedSpec", KAR_F_OBJECT, &kar_schedspec_desc),
	KAR_FIELD_SUB(struct wire_spec, tasks, "taskSpecs", KAR_F_ARRAY, &task_desc),
	KAR_FIELD_OPT(struct wire_spec, backoff_limit, has_backoff_limit, "backoffLimit", KAR_F_INT32),
	KAR_FIELD_OPT(struct wire_spec, backoff_limit_per_index, has_per_index, "backoffLimitPerIndex",
		KAR_F_INT32),
	KAR_FIELD_OPT(struct wire_spec, max_failed_indexes, has_max_failed_indexes, "maxFailedIndexes",
		KAR_F_INT32),
	KAR_FIELD_OPT(struct wire_spec, active_deadline_seconds, has_active_deadline, "activeDeadlineSeconds",
		KAR_F_INT64),
	KAR_FIELD_OPT(struct wire_spec, ttl_seconds_after_finished, has_ttl, "ttlSecondsAfterFinished",
		KAR_F_INT64),
	KAR_FIELD_SUB(struct wire_spec, success, "successPolicy", KAR_F_OBJECT, &success_desc),
	KAR_FIELD_SUB(struct wire_spec, failure, "failurePolicy", KAR_F_OBJECT, &kar_failure_policy_desc),
	KAR_FIELD_OPT(struct wire_spec, freezing_window, has_freezing_window, "freezingWindowSeconds",
		KAR_F_INT32),
	KAR_FIELD_SUB(struct wire_spec, network, "network", KAR_F_OBJECT, &network_desc),
};
static const struct kar_desc spec_desc = KAR_DESC("QueueJobSpec", struct wire_spec, spec_fields);

static const struct kar_field fields[] = {
	KAR_WIRE_HEAD_FIELDS(struct wire_queuejob),
	KAR_FIELD_SUB(struct wire_queuejob, spec, "spec", KAR_F_OBJECT, &spec_desc),
	KAR_FIELD_SUB(struct wire_queuejob, status, "status", KAR_F_OBJECT, &kar_queuejob_status_table),
};
static const struct kar_desc desc = KAR_WIRE_DESC("QueueJob", struct wire_queuejob, fields);

static const struct kar_field template_spec_fields[] = {
	KAR_FIELD(struct kar_wire_template_spec, priority_class, "priorityClassName", KAR_F_STRING),
	KAR_FIELD_OPT(struct kar_wire_template_spec, priority, has_priority, "priority", KAR_F_INT32),
	KAR_FIELD(struct kar_wire_template_spec, scheduler, "schedulerName", KAR_F_STRING),
	KAR_FIELD(struct kar_wire_template_spec, restart_policy, "restartPolicy", KAR_F_STRING),
	KAR_FIELD(struct kar_wire_template_spec, hostname, "hostname", KAR_F_STRING),
	KAR_FIELD(struct kar_wire_template_spec, subdomain, "subdomain", KAR_F_STRING),
	KAR_FIELD(struct kar_wire_template_spec, node_selector, "nodeSelector", KAR_F_MAP),
};
static const struct kar_desc template_spec_desc =
	KAR_DESC("PodSpec", struct kar_wire_template_spec, template_spec_fields);

static const struct kar_field template_fields[] = {
	KAR_FIELD_SUB(struct kar_wire_template, meta, "metadata", KAR_F_OBJECT, &kar_wire_meta_desc),
	KAR_FIELD_SUB(struct kar_wire_template, spec, "spec", KAR_F_OBJECT, &template_spec_desc),
};
static const struct kar_desc template_desc =
	KAR_DESC("PodTemplateSpec", struct kar_wire_template, template_fields);

/* --- from the wire to the cached object -------------------------------------------------------------- */

/* A template that cannot be decoded gets no members; kar_queuejob_check() reports it. */
static const struct kar_wire_template *read_templates(const struct kar_array *tasks,
	struct kar_arena *scratch)
{
	const struct wire_task *w = tasks->items;
	struct kar_wire_template *templates = kar_arena_alloc(scratch, tasks->n, sizeof(*templates));

	for (size_t i = 0; i < tasks->n; i++) {
		const struct kar_str raw = w[i].t.template_raw;

		if (!raw.n ||
			kar_json_decode(scratch, &template_desc, NULL, raw.p, raw.n, &templates[i], NULL))
			templates[i] = (struct kar_wire_template){ 0 };
	}
	return templates;
}

/* A template that is pinned to a node by its user is left to the scheduler. */
static const struct kar_pod_needs *read_needs(struct kar_str raw, struct kar_arena *scratch)
{
	const char *pin = NULL;
	const struct kar_pod_needs *needs = raw.n ? kar_template_needs(raw, scratch, &pin, NULL) : NULL;

	return pin ? NULL : needs;
}

static const char *topology_of(const struct kar_wire_meta *template, struct kar_arena *mem)
{
	char text[KAR_TOPOLOGY_WISH_BYTES];

	return kar_copy(mem, kar_topology_wish_read(&template->annotations, text));
}

/* Copies the bytes only if the job may still create pods, so that large templates of ended jobs cost no memory. */
static void copy_templates(struct kar_queuejob *job, const struct kar_wire_template *templates,
	struct kar_arena *scratch)
{
	bool used = !job->invalid && !kar_queuejob_has_ended(&job->status);

	for (size_t i = 0; i < job->spec.n_tasks; i++) {
		struct kar_taskspec *t = &job->spec.tasks[i];

		t->template_raw = used ? kar_copy_raw(&job->mem, t->template_raw) : (struct kar_str){ 0 };
		t->template_priority_class =
			kar_copy_fit(&job->mem, templates[i].spec.priority_class, KAR_COPY_NAME);
		t->template_labels =
			used ? kar_copy_pairs(&job->mem, &templates[i].meta.labels) : (struct kar_array){ 0 };
		t->template_has_priority = templates[i].spec.has_priority;
		t->template_scheduler = kar_copy_fit(&job->mem, templates[i].spec.scheduler, KAR_COPY_NAME);
		t->template_topology = topology_of(&templates[i].meta, &job->mem);
		t->needs =
			kar_share_get(job->o.strings, &kar_needs_shape, read_needs(t->template_raw, scratch));
		t->charge = kar_share_get(job->o.strings, &kar_counted_shape,
			kar_template_charge(t->template_raw, scratch));
		t->admission = kar_template_admission(t->template_raw, scratch);
	}
}

/* The template bytes are borrowed from @wire until copy_templates(). */
static void read_tasks(struct kar_queuejob_spec *s, const struct kar_array *wire, struct kar_arena *mem)
{
	const struct wire_task *w = wire->items;

	s->n_tasks = wire->n;
	s->tasks = kar_arena_alloc(mem, wire->n, sizeof(*s->tasks));
	for (size_t i = 0; i < wire->n; i++) {
		struct kar_taskspec *t = &s->tasks[i];

		*t = w[i].t;
		t->name = kar_has_text(w[i].t.name) ? kar_copy_fit(mem, w[i].t.name, KAR_COPY_VALUE)
						    : kar_arena_printf(mem, "task%zu", i);
		t->topology = kar_topology_ask_copy(&w[i].t.topology, mem);
		t->topology_group = kar_has_text(w[i].t.topology_group)
			? kar_copy_fit(mem, w[i].t.topology_group, KAR_COPY_VALUE)
			: NULL;
		t->replicas = !w[i].has_replicas ? DEFAULT_REPLICAS
			: w[i].t.replicas > 0    ? w[i].t.replicas
						 : 0;
	}
	for (size_t i = 0; i < wire->n; i++)
		s->tasks[i].depends_on = kar_queuejob_read_order(s, &w[i].depends_on, mem);
}

static struct kar_array read_after(const struct kar_array *wire, struct kar_arena *mem)
{
	const struct wire_after *w = wire->items;
	struct kar_after *out = kar_arena_alloc(mem, KAR_QJ_MAX_AFTER, sizeof(*out));
	size_t n = 0;

	for (size_t i = 0; i < wire->n && n < KAR_QJ_MAX_AFTER; i++) {
		if (!kar_has_text(w[i].name))
			continue;
		out[n++] = (struct kar_after){
			.name = kar_copy_fit(mem, w[i].name, KAR_COPY_NAME),
			.on = kar_streq(w[i].status, "Failed")    ? KAR_AFTER_FAILED
				: kar_streq(w[i].status, "Ended") ? KAR_AFTER_ENDED
								  : KAR_AFTER_COMPLETED,
		};
	}
	return (struct kar_array){ .items = out, .n = n };
}

static unsigned read_frameworks(const struct kar_array *names)
{
	return (kar_strings_have(names, "torch") ? KAR_FRAMEWORK_TORCH : 0u) |
		(kar_strings_have(names, "jax") ? KAR_FRAMEWORK_JAX : 0u) |
		(kar_strings_have(names, "mpi") ? KAR_FRAMEWORK_MPI : 0u);
}

static void read_spec(struct kar_queuejob *job, const struct wire_spec *w)
{
	struct kar_arena *mem = &job->mem;
	struct kar_queuejob_spec *s = &job->spec;

	s->queue = kar_has_text(w->queue) ? kar_copy_fit(mem, w->queue, KAR_COPY_NAME) : NULL;
	if (w->after.n)
		s->after = read_after(&w->after, mem);
	s->suspend = w->suspend;
	s->scheduler_name = kar_copy_fit(mem, w->scheduler_name, KAR_COPY_NAME);
	s->of_others = kar_has_text(w->managed_by) && !kar_streq(w->managed_by, KAR_MANAGED_BY_US);
	s->selector = kar_queuejob_selector_text(w->selector, job->o.name, mem);
	s->sched = kar_schedspec_copy(&w->sched, mem);
	s->sched.gang_groups = kar_copy_keys(mem, job->o.ns, &w->sched.gang_groups);
	read_tasks(s, &w->tasks, mem);
	s->backoff_limit = w->has_backoff_limit ? w->backoff_limit : DEFAULT_BACKOFF_LIMIT;
	s->per_index = w->has_per_index;
	s->backoff_limit_per_index = w->backoff_limit_per_index > 0 ? w->backoff_limit_per_index : 0;
	s->has_max_failed_indexes = w->has_max_failed_indexes;
	s->max_failed_indexes = w->max_failed_indexes > 0 ? w->max_failed_indexes : 0;
	s->active_deadline_seconds = w->active_deadline_seconds;
	s->has_active_deadline = w->has_active_deadline;
	s->ttl_seconds_after_finished = w->ttl_seconds_after_finished;
	s->has_ttl = w->has_ttl;
	s->min_succeeded = w->success.min_succeeded;
	s->has_min_succeeded = w->success.has_min_succeeded;
	s->success_tasks = kar_copy_strings(mem, &w->success.tasks);
	s->failure_policy = kar_failure_policy_read(&w->failure, mem);
	s->freezing_window = w->freezing_window > 0 ? w->freezing_window : 0;
	s->has_freezing_window = w->has_freezing_window;
	s->dns_hostnames = w->network.dns_hostnames;
	s->frameworks = read_frameworks(&w->network.frameworks);
	s->publish_not_ready = !w->network.has_publish_not_ready || w->network.publish_not_ready;
}

static uint64_t hash_pairs(uint64_t h, const struct kar_array *pairs)
{
	const struct kar_pair *p = pairs->items;

	for (size_t i = 0; i < pairs->n; i++)
		h = kar_hash_str(kar_hash_str(h, p[i].key), p[i].value);
	return h;
}

/* The lists of host names, and what frameworks read, follow from the names of the tasks and these. */
static uint64_t hash_hosts(uint64_t h, const struct kar_queuejob *job)
{
	const struct kar_queuejob_spec *s = &job->spec;

	h = kar_hash_str(h, "hosts");
	h = kar_hash(h, &s->frameworks, sizeof(s->frameworks));
	for (size_t i = 0; i < s->n_tasks; i++) {
		bool listed = s->frameworks || !kar_queuejob_hosts_too_long(job, i);
		int32_t replicas = listed ? s->tasks[i].replicas : -1;

		h = kar_hash(h, &replicas, sizeof(replicas));
	}
	return h;
}

/*
 * The order of members and white space do not matter, so that re-applying the same manifest changes nothing. Task names are part
 * of the pod names, so they are hashed, and so are the fields that the job adds to the templates. Its PriorityClass is left out, so
 * that the priority of a job can be changed without a restart. With @hosts the lists of host names count as well.
 */
static const char *hash_templates(struct kar_queuejob *job, const struct kar_wire_template *templates,
	bool hosts)
{
	const struct kar_queuejob_spec *s = &job->spec;

	uint64_t h = 0;

	for (size_t i = 0; i < s->n_tasks; i++) {
		const struct kar_str *raw = &s->tasks[i].template_raw;
		struct kar_buf canonical = { 0 };

		h = kar_hash_str(h, s->tasks[i].name);
		if (raw->n && kar_json_canonical(raw->p, raw->n, &canonical, NULL) == 0)
			h = kar_hash(h, canonical.p, canonical.n);
		kar_buf_release(&canonical);
		if (kar_has_text(s->scheduler_name) && !kar_has_text(templates[i].spec.scheduler))
			h = kar_hash_str(kar_hash_str(h, "schedulerName"), s->scheduler_name);
	}
	if (s->dns_hostnames)
		h = kar_hash_str(h, "enableDNSHostnames");
	if (s->sched.node_selector.n)
		h = hash_pairs(kar_hash_str(h, "nodeSelector"), &s->sched.node_selector);
	if (hosts)
		h = hash_hosts(h, job);
	return kar_arena_printf(&job->mem, "%016" PRIx64, h);
}

/*
 * A job that runs with the templates of a version without lists of host names keeps their hash, until a template is edited: a new
 * version restarts no job.
 */
static const char *choose_hash(struct kar_queuejob *job, const struct kar_wire_template *templates)
{
	const char *plain = hash_templates(job, templates, false);

	if (!job->spec.dns_hostnames ||
		(!job->spec.frameworks && kar_streq(job->status.record.template_hash, plain)))
		return plain;
	return hash_templates(job, templates, true);
}

/* The text may quote parts of any size, so it is made in @scratch and only a message of bounded size is copied. */
static const char *find_problem(struct kar_queuejob *job, const struct kar_selector *selector,
	const struct kar_wire_template *templates, struct kar_arena *scratch)
{
	struct kar_arena saved = job->mem;
	const char *problem;

	job->mem = *scratch;
	problem = kar_queuejob_check(job, selector, templates);
	*scratch = job->mem;
	job->mem = saved;
	return kar_copy_fit(&job->mem, problem, KAR_MAX_MESSAGE_BYTES);
}

static void read_owner(struct kar_queuejob *job, const struct kar_wire_meta *m)
{
	const struct kar_wire_owner *owner = kar_wire_controller(m);

	job->owner_uid = owner ? kar_copy_fit(&job->mem, owner->uid, KAR_COPY_UID) : NULL;
	job->owner = kar_owner_text(m, &job->mem);
	job->made_of =
		kar_copy_fit(&job->mem, kar_pairs_get(&m->annotations, KAR_ANNOTATION_MADE_OF), KAR_COPY_UID);
	job->annotated = m->annotations.n > 0;
}

static struct kar_object *project(const void *wire, struct kar_intern *strings)
{
	const struct wire_queuejob *w = wire;
	const struct kar_wire_meta *m = &w->head.meta;
	struct kar_queuejob *job = kar_xcalloc(1, sizeof(*job));
	struct kar_arena scratch = { 0 };
	const struct kar_wire_template *templates = read_templates(&w->spec.tasks, &scratch);

	kar_object_init(&job->o, &kar_queuejob_type, &w->head, kar_copy_text(&job->mem, m->name),
		kar_copy_text(&job->mem, m->uid), strings);
	job->generation = m->generation;
	job->creation = m->creation;
	job->deletion = m->deletion;
	job->has_orphan_finalizer = kar_strings_have(&m->finalizers, "orphan");
	job->queue_label =
		kar_copy_fit(&job->mem, kar_pairs_get(&m->labels, KAR_LABEL_QUEUE), KAR_COPY_VALUE);
	read_owner(job, m);
	read_spec(job, &w->spec);
	job->asks = job->spec.suspend &&
		kar_streq(kar_pairs_get(&m->annotations, KAR_ANNOTATION_WHAT_IF), "true");
	kar_queuejob_status_read(&w->status, &job->status, &job->mem);
	job->spec_template_hash = choose_hash(job, templates);
	job->invalid = find_problem(job, w->spec.selector, templates, &scratch);
	copy_templates(job, templates, &scratch);
	kar_arena_release(&scratch);
	return &job->o;
}

static void destroy(struct kar_object *o, struct kar_intern *strings)
{
	struct kar_queuejob *job = kar_container_of(o, struct kar_queuejob, o);

	for (size_t i = 0; i < job->spec.n_tasks; i++) {
		kar_share_put(strings, job->spec.tasks[i].needs);
		kar_share_put(strings, job->spec.tasks[i].charge);
	}
	kar_arena_release(&job->mem);
	free(job);
}

static const char *index_key(const struct kar_object *o, int i)
{
	return i == KAR_QUEUEJOB_BY_NAMESPACE || kar_queuejob_follows(kar_as_queuejob(o)) ? o->ns : NULL;
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
	.n_index = 2,
};

/* --- queries ----------------------------------------------------------------------------------------- */

bool kar_queuejob_same_content(const struct kar_queuejob *a, const struct kar_queuejob *b)
{
	return kar_object_same(&a->o, &b->o) && a->generation == b->generation &&
		a->creation == b->creation && a->deletion == b->deletion &&
		a->has_orphan_finalizer == b->has_orphan_finalizer &&
		kar_streq(a->queue_label, b->queue_label) && kar_streq(a->owner_uid, b->owner_uid) &&
		kar_streq(a->made_of, b->made_of) && a->asks == b->asks &&
		kar_streq(a->spec_template_hash, b->spec_template_hash) &&
		a->status.edited == b->status.edited &&
		kar_status_equal(&kar_queuejob_status_table, &a->status, &b->status,
			KAR_QJ_WRITTEN | KAR_QJ_BELIEVED);
}
