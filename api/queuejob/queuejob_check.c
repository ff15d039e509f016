#include "api/queuejob/queuejob_wire.h"

#include <string.h>

#include "api/copy.h"
#include "common/base/str.h"
#include "api/names.h"
#include "api/queuejob/queuejob_order.h"
#include "common/base/buf.h"

static const char *to_arena(struct kar_buf *b, struct kar_arena *arena)
{
	const char *text = kar_copy_fit(arena, kar_buf_cstr(b), KAR_QJ_SELECTOR_BYTES);

	kar_buf_release(b);
	return text;
}

static void comma(struct kar_buf *b)
{
	if (b->n)
		kar_buf_puts(b, ",");
}

/* The notation of labels.Selector: `a=b`, `a in (b,c)`, `a notin (b)`, `a`, `!a`. */
static void print_requirement(const struct kar_selector_requirement *r, struct kar_buf *b)
{
	const char *const *values = r->values.items;

	comma(b);
	if (kar_streq(r->op, "Exists") || kar_streq(r->op, "DoesNotExist")) {
		kar_buf_printf(b, "%s%s", kar_streq(r->op, "Exists") ? "" : "!", r->key);
		return;
	}
	kar_buf_printf(b, "%s %s (", r->key, kar_streq(r->op, "In") ? "in" : "notin");
	for (size_t i = 0; i < r->values.n; i++)
		kar_buf_printf(b, "%s%s", i ? "," : "", values[i]);
	kar_buf_puts(b, ")");
}

const char *kar_queuejob_selector_text(const struct kar_selector *selector, const char *job_name,
	struct kar_arena *arena)
{
	struct kar_buf b = { 0 };

	if (!selector || kar_selector_is_empty(selector)) /* which would select every pod */
		return kar_arena_printf(arena, "%s=%s", KAR_LABEL_QUEUEJOB, job_name);

	const struct kar_pair *labels = selector->labels.items;
	const struct kar_selector_requirement *requirements = selector->expressions.items;

	for (size_t i = 0; i < selector->labels.n; i++) {
		comma(&b);
		kar_buf_printf(&b, "%s=%s", labels[i].key, labels[i].value);
	}
	for (size_t i = 0; i < selector->expressions.n; i++) {
		if (requirements[i].key)
			print_requirement(&requirements[i], &b);
	}
	return to_arena(&b, arena);
}

/* No node can have two values for one key. */
static const char *check_node_selector(struct kar_queuejob *job, const struct kar_taskspec *t,
	const struct kar_wire_template *template)
{
	const struct kar_array *all = &job->spec.sched.node_selector;
	const struct kar_pair *want = all->items;

	for (size_t i = 0; i < all->n; i++) {
		const char *has = kar_pairs_get(&template->spec.node_selector, want[i].key);

		if (has && strcmp(has, want[i].value))
			return kar_arena_printf(&job->mem,
				"task %s: nodeSelector %s=%s of the template conflicts with %s=%s of schedSpec.nodeSelector",
				t->name, want[i].key, has, want[i].key, want[i].value);
	}
	return NULL;
}

/* With DNS host names, the job sets hostname and subdomain of each pod. */
static const char *check_names(struct kar_queuejob *job, const struct kar_taskspec *t,
	const struct kar_wire_template_spec *template)
{
	if (!job->spec.dns_hostnames)
		return NULL;
	if (kar_has_text(template->hostname))
		return kar_arena_printf(&job->mem,
			"task %s: remove hostname %s from the template, because network.enableDNSHostnames sets it to the name of the pod",
			t->name, template->hostname);
	if (kar_has_text(template->subdomain) && strcmp(template->subdomain, job->o.name))
		return kar_arena_printf(&job->mem,
			"task %s: remove subdomain %s from the template, because network.enableDNSHostnames sets it to the name of the job",
			t->name, template->subdomain);
	return NULL;
}

static const char *check_task(struct kar_queuejob *job, const struct kar_taskspec *t,
	const struct kar_wire_template *template, const struct kar_selector *selector)
{
	const char *problem = check_names(job, t, &template->spec);
	struct kar_err err = { 0 };

	for (const struct kar_taskspec *other = job->spec.tasks; other < t; other++) {
		if (strcmp(other->name, t->name) == 0)
			return kar_arena_printf(&job->mem, "two tasks have the name %s", t->name);
	}
	if (strlen(job->o.name) + strlen(t->name) > KAR_QJ_MAX_NAMES)
		return kar_arena_printf(&job->mem,
			"the name of the QueueJob and the name of task %s have %zu characters together, but at most %d are allowed, because "
			"<job>-<task>-<index> is the host name of a pod",
			t->name, strlen(job->o.name) + strlen(t->name), KAR_QJ_MAX_NAMES);
	if (kar_queuejob_template_check(t->template_raw, &err))
		return kar_arena_printf(&job->mem, "task %s: template: %s", t->name, err.msg);
	if (selector && !kar_selector_selects(selector, &template->meta.labels))
		return kar_arena_printf(&job->mem,
			"task %s: the labels of the template do not match the selector %s", t->name,
			job->spec.selector);
	return problem ? problem : check_node_selector(job, t, template);
}

/* As batch/v1 has it: where the kubelet restarts containers in place, pods of an index hardly fail. */
static const char *check_per_index(struct kar_queuejob *job, const struct kar_wire_template *templates)
{
	const struct kar_queuejob_spec *s = &job->spec;

	if (!s->per_index)
		return s->has_max_failed_indexes ? "maxFailedIndexes needs backoffLimitPerIndex" : NULL;
	if (kar_queuejob_total(s) > KAR_QJ_MAX_COUNTED_INDEXES)
		return kar_arena_printf(&job->mem,
			"the tasks have %d replicas together, but a job with backoffLimitPerIndex can have at most %d",
			(int)kar_queuejob_total(s), KAR_QJ_MAX_COUNTED_INDEXES);
	for (size_t i = 0; i < s->n_tasks; i++) {
		if (kar_streq(templates[i].spec.restart_policy, "OnFailure"))
			return kar_arena_printf(&job->mem,
				"task %s: restartPolicy of the template is OnFailure, but backoffLimitPerIndex needs Never",
				s->tasks[i].name);
	}
	return NULL;
}

/* What asks for a topology asks for one. */
static const char *check_topology_groups(struct kar_queuejob *job)
{
	const struct kar_queuejob_spec *s = &job->spec;

	for (size_t i = 0; i < s->n_tasks; i++) {
		for (size_t k = 0; k < i; k++) {
			const struct kar_taskspec *a = &s->tasks[k], *b = &s->tasks[i];

			if (!a->topology_group || !kar_streq(a->topology_group, b->topology_group) ||
				!kar_topology_asks(&a->topology) || !kar_topology_asks(&b->topology) ||
				kar_topology_ask_equal(&a->topology, &b->topology))
				continue;
			return kar_arena_printf(&job->mem,
				"tasks %s and %s of topologyGroup %s ask for different topologies", a->name,
				b->name, a->topology_group);
		}
	}
	return NULL;
}

static size_t template_bytes(const struct kar_queuejob_spec *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_tasks; i++)
		n += s->tasks[i].template_raw.n;
	return n;
}

const char *kar_queuejob_check(struct kar_queuejob *job, const struct kar_selector *selector,
	const struct kar_wire_template *templates)
{
	const struct kar_queuejob_spec *s = &job->spec;
	int32_t total = kar_queuejob_total(s);

	if (!s->n_tasks)
		return "taskSpecs is empty";
	if (s->frameworks && !s->dns_hostnames)
		return "network.frameworks needs network.enableDNSHostnames";
	if (total > KAR_QJ_MAX_PODS)
		return kar_arena_printf(&job->mem,
			"the tasks have %d replicas together, but a job can have at most %d", (int)total,
			KAR_QJ_MAX_PODS);
	if (kar_queuejob_min_available(s) > total)
		return kar_arena_printf(&job->mem,
			"schedSpec.minAvailable %d is more than the %d replicas of all tasks",
			(int)kar_queuejob_min_available(s), (int)total);
	if (template_bytes(s) > KAR_QJ_MAX_TEMPLATE_BYTES)
		return kar_arena_printf(&job->mem,
			"the templates have %zu bytes together, but at most %d are allowed, so that the status fits into the object",
			template_bytes(s), KAR_QJ_MAX_TEMPLATE_BYTES);
	for (size_t i = 0; i < s->n_tasks; i++) {
		const char *problem = check_task(job, &s->tasks[i], &templates[i], selector);

		if (problem)
			return problem;
	}
	const char *problem = check_per_index(job, templates);

	problem = problem ? problem : check_topology_groups(job);
	problem = problem ? problem : kar_failure_policy_check(job);

	return problem ? problem : kar_queuejob_check_order(job);
}
