/*
 * The part of /debug/state that `kar-sim run --from-state` plays: what decides who runs when, in the form of the API. Of templates only
 * what pods need of nodes: no environment, no commands, no names of Secrets.
 */
#include "controllers/process/debug.h"

#include <stdio.h>
#include <string.h>

#include "api/podgroup/placement_words.h"
#include "common/base/str.h"
#include "controllers/cluster/stores.h"

static void put_metadata(const struct kar_object *o, struct kar_json_writer *w)
{
	kar_jw_key(w, "metadata");
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "name", o->name);
	if (kar_has_text(o->ns))
		kar_jw_kv_string(w, "namespace", o->ns);
}

static void put_labels(const char *key, const struct kar_sched_label *labels, uint32_t n,
	struct kar_json_writer *w)
{
	kar_jw_key(w, key);
	kar_jw_begin_object(w);
	for (uint32_t i = 0; i < n; i++)
		kar_jw_kv_string(w, labels[i].key, labels[i].value);
	kar_jw_end_object(w);
}

/* "1500m" of cpu, whole units of all else. @extended: only of those with a domain in their name, nvidia.com/gpu. */
static void put_amounts(const char *key, const struct kar_sched_amount *amounts, uint32_t n, bool extended,
	struct kar_json_writer *w)
{
	char text[32];

	kar_jw_key(w, key);
	kar_jw_begin_object(w);
	for (uint32_t i = 0; i < n; i++) {
		if (extended && !strchr(amounts[i].resource, '/'))
			continue;
		snprintf(text, sizeof(text), "%lld%s", (long long)amounts[i].amount,
			kar_streq(amounts[i].resource, "cpu") ? "m" : "");
		kar_jw_kv_string(w, amounts[i].resource, text);
	}
	kar_jw_end_object(w);
}

static void put_effect(enum kar_effect e, struct kar_json_writer *w)
{
	if (kar_effect_name(e))
		kar_jw_kv_string(w, "effect", kar_effect_name(e));
}

/* ---- nodes ---- */

static void put_taints(const struct kar_node_offer *n, struct kar_json_writer *w)
{
	kar_jw_key(w, "taints");
	kar_jw_begin_array(w);
	for (uint32_t i = 0; i < n->n_taints; i++) {
		kar_jw_begin_object(w);
		kar_jw_kv_string(w, "key", n->taints[i].key);
		kar_jw_kv_string(w, "value", n->taints[i].value);
		put_effect(n->taints[i].effect, w);
		kar_jw_end_object(w);
	}
	kar_jw_end_array(w);
}

static void put_ready(bool ready, struct kar_json_writer *w)
{
	kar_jw_key(w, "conditions");
	kar_jw_begin_array(w);
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "type", "Ready");
	kar_jw_kv_string(w, "status", ready ? "True" : "False");
	kar_jw_end_object(w);
	kar_jw_end_array(w);
}

static void put_node(const struct kar_object *o, struct kar_json_writer *w)
{
	const struct kar_node_offer *n = &kar_as_node(o)->offer;

	put_metadata(o, w);
	put_labels("labels", n->labels, n->n_labels, w);
	kar_jw_end_object(w);
	kar_jw_key(w, "spec");
	kar_jw_begin_object(w);
	kar_jw_kv_bool(w, "unschedulable", n->cordoned);
	put_taints(n, w);
	kar_jw_end_object(w);
	kar_jw_key(w, "status");
	kar_jw_begin_object(w);
	put_amounts("allocatable", n->allocatable, n->n_allocatable, false, w);
	put_ready(n->ready, w);
	kar_jw_end_object(w);
}

/* ---- queues, quotas, priorities ---- */

static void put_queue(const struct kar_object *o, struct kar_json_writer *w)
{
	const struct kar_queue_spec *s = &kar_as_queue(o)->spec;

	put_metadata(o, w);
	kar_jw_end_object(w);
	kar_jw_key(w, "spec");
	kar_jw_begin_object(w);
	if (s->has_max_jobs)
		kar_jw_kv_int(w, "maxJobs", s->max_jobs);
	if (s->has_max_priority)
		kar_jw_kv_int(w, "maxPriority", s->max_priority);
	if (s->state == KAR_QUEUE_STATE_CLOSED)
		kar_jw_kv_string(w, "state", kar_queue_state_name(s->state));
	if (s->queueing_strategy)
		kar_jw_kv_string(w, "queueingStrategy", s->queueing_strategy);
	if (s->preempts)
		kar_jw_kv_string(w, "preemptionPolicy", "LowerPriority");
	if (s->provisions)
		kar_jw_kv_string(w, "provisioning", "Pods");
	kar_jw_end_object(w);
}

static bool is_of_cpu(const char *resource)
{
	static const char *const names[] = { "cpu", "requests.cpu", "limits.cpu" };

	return kar_streq_any(resource, names, KAR_LEN(names));
}

static void put_quota(const struct kar_object *o, struct kar_json_writer *w)
{
	const struct kar_resourcequota *q = kar_as_resourcequota(o);
	const struct kar_quota_limit *limits = q->limits.items;
	char text[32];

	put_metadata(o, w);
	kar_jw_end_object(w);
	kar_jw_key(w, "spec");
	kar_jw_begin_object(w);
	kar_jw_key(w, "hard");
	kar_jw_begin_object(w);
	for (size_t i = 0; !q->scopes.n && !q->other_scopes && i < q->limits.n; i++) {
		if (limits[i].spec < 0)
			continue;
		snprintf(text, sizeof(text), "%lld%s", (long long)limits[i].spec,
			is_of_cpu(limits[i].resource) ? "m" : "");
		kar_jw_kv_string(w, limits[i].resource, text);
	}
	kar_jw_end_object(w);
	kar_jw_end_object(w);
}

static void put_priority(const struct kar_object *o, struct kar_json_writer *w)
{
	const struct kar_priorityclass *c = kar_as_priorityclass(o);

	put_metadata(o, w);
	kar_jw_end_object(w);
	kar_jw_kv_int(w, "value", c->value);
	kar_jw_kv_bool(w, "globalDefault", c->global_default);
	if (c->never_preempts)
		kar_jw_kv_string(w, "preemptionPolicy", "Never");
}

/* ---- jobs ---- */

static void put_requirement(const struct kar_requirement *r, struct kar_json_writer *w)
{
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "key", r->field ? "metadata.name" : r->key);
	kar_jw_kv_string(w, "operator", kar_operator_name(r->op));
	if (r->n_values) {
		kar_jw_key(w, "values");
		kar_jw_begin_array(w);
		for (uint32_t i = 0; i < r->n_values; i++)
			kar_jw_string(w, r->values[i]);
		kar_jw_end_array(w);
	}
	kar_jw_end_object(w);
}

static void put_requirements(const char *key, const struct kar_node_term *t, bool fields,
	struct kar_json_writer *w)
{
	kar_jw_key(w, key);
	kar_jw_begin_array(w);
	for (uint32_t i = 0; i < t->n; i++) {
		if (t->requirements[i].field == fields)
			put_requirement(&t->requirements[i], w);
	}
	kar_jw_end_array(w);
}

static void put_affinity(const struct kar_pod_needs *p, struct kar_json_writer *w)
{
	static const char *const path[] = { "affinity", "nodeAffinity",
		"requiredDuringSchedulingIgnoredDuringExecution" };

	for (size_t i = 0; i < KAR_LEN(path); i++) {
		kar_jw_key(w, path[i]);
		kar_jw_begin_object(w);
	}
	kar_jw_key(w, "nodeSelectorTerms");
	kar_jw_begin_array(w);
	for (uint32_t i = 0; i < p->n_terms; i++) {
		kar_jw_begin_object(w);
		put_requirements("matchExpressions", &p->terms[i], false, w);
		put_requirements("matchFields", &p->terms[i], true, w);
		kar_jw_end_object(w);
	}
	kar_jw_end_array(w);
	for (size_t i = 0; i < KAR_LEN(path); i++)
		kar_jw_end_object(w);
}

static void put_tolerations(const struct kar_pod_needs *p, struct kar_json_writer *w)
{
	kar_jw_key(w, "tolerations");
	kar_jw_begin_array(w);
	for (uint32_t i = 0; i < p->n_tolerations; i++) {
		const struct kar_toleration *t = &p->tolerations[i];

		if (t->unknown)
			continue;
		kar_jw_begin_object(w);
		if (t->key)
			kar_jw_kv_string(w, "key", t->key);
		kar_jw_kv_string(w, "operator", t->exists ? "Exists" : "Equal");
		if (!t->exists)
			kar_jw_kv_string(w, "value", t->value);
		put_effect(t->effect, w);
		kar_jw_end_object(w);
	}
	kar_jw_end_array(w);
}

static void put_container(const struct kar_pod_needs *p, struct kar_json_writer *w)
{
	kar_jw_key(w, "containers");
	kar_jw_begin_array(w);
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "name", "all");
	kar_jw_kv_string(w, "image", "left-out");
	kar_jw_key(w, "resources");
	kar_jw_begin_object(w);
	put_amounts("requests", p->amounts, p->n_amounts, false, w);
	put_amounts("limits", p->amounts, p->n_amounts, true,
		w); /* as the API wants it of extended resources */
	kar_jw_end_object(w);
	kar_jw_end_object(w);
	kar_jw_end_array(w);
}

static void put_template(const struct kar_taskspec *t, struct kar_json_writer *w)
{
	const struct kar_pod_needs *needs = t->needs ? t->needs : &kar_no_needs;

	kar_jw_key(w, "template");
	kar_jw_begin_object(w);
	kar_jw_key(w, "spec");
	kar_jw_begin_object(w);
	put_container(needs, w);
	if (needs->n_selector)
		put_labels("nodeSelector", needs->selector, needs->n_selector, w);
	if (needs->n_terms)
		put_affinity(needs, w);
	if (needs->n_tolerations)
		put_tolerations(needs, w);
	if (t->template_priority_class)
		kar_jw_kv_string(w, "priorityClassName", t->template_priority_class);
	kar_jw_end_object(w);
	kar_jw_end_object(w);
}

static void put_order(const struct kar_taskspec *t, struct kar_json_writer *w)
{
	const struct kar_dependency *all = t->depends_on.items;

	if (!t->depends_on.n)
		return;
	kar_jw_key(w, "dependsOn");
	kar_jw_begin_array(w);
	for (size_t i = 0; i < t->depends_on.n; i++) {
		kar_jw_begin_object(w);
		kar_jw_kv_string(w, "name", all[i].name);
		kar_jw_kv_string(w, "status", all[i].succeeded ? "Succeeded" : "Running");
		kar_jw_end_object(w);
	}
	kar_jw_end_array(w);
}

static void put_tasks(const struct kar_queuejob_spec *s, struct kar_json_writer *w)
{
	kar_jw_key(w, "taskSpecs");
	kar_jw_begin_array(w);
	for (size_t i = 0; i < s->n_tasks; i++) {
		const struct kar_taskspec *t = &s->tasks[i];

		kar_jw_begin_object(w);
		kar_jw_kv_string(w, "name", t->name);
		kar_jw_kv_int(w, "replicas", t->replicas);
		if (t->has_min_available)
			kar_jw_kv_int(w, "minAvailable", t->min_available);
		if (t->has_priority)
			kar_jw_kv_int(w, "priority", t->priority);
		put_order(t, w);
		put_template(t, w);
		kar_jw_end_object(w);
	}
	kar_jw_end_array(w);
}

static void put_job_spec(const struct kar_queuejob *job, struct kar_json_writer *w)
{
	const struct kar_queuejob_spec *s = &job->spec;
	const char *queue = kar_has_text(s->queue) ? s->queue : job->status.queue; /* whatever named it */

	kar_jw_key(w, "spec");
	kar_jw_begin_object(w);
	if (kar_has_text(queue))
		kar_jw_kv_string(w, "queue", queue);
	kar_jw_kv_bool(w, "suspend", s->suspend);
	kar_jw_kv_int(w, "backoffLimit", s->backoff_limit);
	kar_jw_key(w, "schedSpec");
	kar_schedspec_write(w, &s->sched);
	put_tasks(s, w);
	kar_jw_end_object(w);
}

static void put_job(const struct kar_object *o, struct kar_json_writer *w)
{
	const struct kar_queuejob *job = kar_as_queuejob(o);

	put_metadata(o, w);
	kar_jw_kv_time(w, "creationTimestamp", job->creation);
	kar_jw_end_object(w);
	put_job_spec(job, w);
	kar_jw_key(w, "status");
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "phase", kar_qj_phase_name(job->status.phase));
	if (job->status.position)
		kar_jw_kv_int(w, "position", job->status.position);
	kar_jw_end_object(w);
}

/* What has ended, is being deleted, or cannot be run, plays no part. */
static bool plays(const struct kar_object *o)
{
	const struct kar_queuejob *job = kar_as_queuejob(o);

	if (o->unreadable || job->deletion || kar_queuejob_has_ended(&job->status))
		return false;
	for (size_t i = 0; i < job->spec.n_tasks; i++) {
		if (!job->spec.tasks[i].template_raw.n)
			return false;
	}
	return true;
}

/* ---- all of it ---- */

static bool always(const struct kar_object *o)
{
	return !o->unreadable;
}

struct kind {
	const char *name;
	const struct kar_store *store;
	bool (*shown)(const struct kar_object *o);
	void (*put)(const struct kar_object *o, struct kar_json_writer *w);
};

/* Returns how many are left out. */
static int64_t put_kind(const struct kind *k, struct kar_json_writer *w)
{
	const struct kar_object *o;
	int64_t shown = 0, left_out = 0;

	kar_jw_key(w, k->name);
	kar_jw_begin_array(w);
	for (struct kar_iter it = kar_store_all(k->store); kar_iter_next(&it, &o);) {
		if (!k->shown(o))
			continue;
		if (shown == KAR_DEBUG_OBJECTS) {
			left_out++;
			continue;
		}
		kar_jw_begin_object(w);
		k->put(o, w);
		kar_jw_end_object(w);
		shown++;
	}
	kar_jw_end_array(w);
	return left_out;
}

void kar_debug_print_cluster(const struct kar_stores *s, struct kar_json_writer *w)
{
	const struct kind kinds[] = {
		{ "Node", s->nodes, always, put_node },
		{ "ResourceQuota", s->resourcequotas, always, put_quota },
		{ "PriorityClass", s->priorityclasses, always, put_priority },
		{ "Queue", s->queues, always, put_queue },
		{ "QueueJob", s->queuejobs, plays, put_job },
	};
	int64_t left_out = 0;

	kar_jw_key(w, "cluster");
	kar_jw_begin_object(w);
	for (size_t i = 0; i < KAR_LEN(kinds); i++)
		left_out += put_kind(&kinds[i], w);
	kar_jw_end_object(w);
	kar_jw_kv_int(w, "clusterLeftOut", left_out);
}
