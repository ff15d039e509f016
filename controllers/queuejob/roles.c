/* What queues and groups ask of a QueueJob (controllers/workload.h). */
#include <stdlib.h>
#include <string.h>

#include "api/names.h"
#include "api/queuejob/queuejob_direct.h"
#include "api/queuejob/queuejob_gang.h"
#include "api/status/reasons.h"
#include "common/base/str.h"
#include "controllers/cluster/templates.h"
#include "controllers/queuejob/queuejob.h"
#include "controllers/workload.h"

/* --- the job as a whole --------------------------------------------------------------------------- */

static kar_time true_since(const struct kar_conditions *list, const char *type)
{
	const struct kar_condition *c = kar_condition_find(list, type);

	return c && c->status == KAR_COND_TRUE ? c->last_transition : 0;
}

static int64_t count_succeeded(const struct kar_queuejob_status *st)
{
	int64_t n = 0;

	for (size_t i = 0; i < st->n_tasks; i++)
		n += st->tasks[i].succeeded;
	return n;
}

static void describe_times(const struct kar_queuejob *job, struct kar_workload *out)
{
	const struct kar_queuejob_status *st = &job->status;

	out->formed_at = true_since(&st->conditions, KAR_QJ_FORMED);
	out->started_at = st->start_time;
	out->ended_at = st->completion_time;
	out->completed_at = st->phase == KAR_QJ_PHASE_COMPLETED ? st->completion_time : 0;
	if (job->spec.has_active_deadline)
		out->run_seconds = kar_clamp(job->spec.active_deadline_seconds, 1, INT32_MAX);
	if (job->spec.has_freezing_window)
		out->freezing_window =
			job->spec.freezing_window ? job->spec.freezing_window * KAR_SECOND : -1;
}

static bool is_edited(const struct kar_queuejob *job)
{
	const struct kar_queuejob_status *st = &job->status;
	bool runs = st->phase == KAR_QJ_PHASE_STARTING || st->phase == KAR_QJ_PHASE_RUNNING;

	return runs && st->record.template_hash[0] && !job->invalid &&
		!kar_streq(st->record.template_hash, job->spec_template_hash);
}

/* All its pods have succeeded and none is to come, but no task of its successPolicy has replicas (reason NoReplicas). */
static bool has_nothing_left(const struct kar_queuejob *job)
{
	const struct kar_queuejob_status *st = &job->status;
	bool runs = st->phase == KAR_QJ_PHASE_STARTING || st->phase == KAR_QJ_PHASE_RUNNING;

	return runs && !is_edited(job) && st->observed_generation == job->generation && !st->pending &&
		!st->running && st->succeeded > 0 && count_succeeded(st) >= kar_queuejob_total(&job->spec);
}

static void describe(const struct kar_object *o, struct kar_workload *out)
{
	const struct kar_queuejob *job = kar_as_queuejob(o);
	const struct kar_queuejob_status *st = &job->status;

	*out = (struct kar_workload){
		.generation = job->generation,
		.queue_label = job->queue_label,
		.priority_class = job->spec.sched.has_priority ? NULL : job->spec.sched.priority_class_name,
		.conflict = kar_streq(st->reason, kar_reason_NameConflict) ? st->message : NULL,
		.topology = &job->spec.sched.topology,
		.gang_groups = &job->spec.sched.gang_groups,
		.succeeded = count_succeeded(st),
		.pods = kar_queuejob_total(&job->spec),
		.minimum = kar_queuejob_min_available(&job->spec),
		.deleting = job->deletion != 0,
		.orphans = job->has_orphan_finalizer,
		.ended = kar_queuejob_has_ended(st),
		.rests = has_nothing_left(job),
		.suspended = job->spec.suspend,
		.asks = job->asks && !st->incarnation,
		.unusable = kar_condition_is_true(&st->conditions, KAR_QJ_INVALID),
		.begun = st->incarnation > 0,
		.ran = st->incarnation > 0 && kar_streq(st->record.template_hash, job->spec_template_hash),
		.edited = is_edited(job),
		.waits = kar_queuejob_waits(st),
		.starts = st->phase == KAR_QJ_PHASE_STARTING &&
			st->record.formation == KAR_QJ_FORMATION_FIRST && !st->replicas,
		.raised = st->record.formation == KAR_QJ_FORMATION_RAISED,
		.non_strict = kar_streq(job->spec.sched.mode, "NonStrict"),
	};
	out->invalid = out->unusable && !st->replicas;
	describe_times(job, out);
}

/* --- its tasks ------------------------------------------------------------------------------------- */

static const int32_t *priorities(const struct kar_queuejob *job, const struct kar_roles_input *in)
{
	int32_t *all = kar_arena_alloc(in->arena, job->spec.n_tasks, sizeof(*all));

	for (size_t i = 0; i < job->spec.n_tasks; i++) {
		const struct kar_taskspec *t = &job->spec.tasks[i];

		all[i] = t->has_priority ? t->priority : in->class_value(in->arg, t->template_priority_class);
	}
	return all;
}

size_t *queuejob_order(const int32_t *priority, size_t n, struct kar_arena *arena)
{
	size_t *order = kar_arena_alloc(arena, n + 1, sizeof(*order));

	for (size_t i = 0; i < n; i++) {
		size_t k = i;

		for (; k > 0 && priority[order[k - 1]] < priority[i]; k--)
			order[k] = order[k - 1];
		order[k] = i;
	}
	return order;
}

/* Of pods whose template names none: a job hands on its own (api/queuejob/queuejob_pod.c). */
static const char *charged_class(const struct kar_queuejob *job, size_t task)
{
	const char *own = job->spec.sched.priority_class_name;

	return kar_has_text(own) && !job->spec.tasks[task].template_has_priority ? own : NULL;
}

static struct kar_workload_role role_of_task(const struct kar_queuejob *job, size_t task,
	struct kar_arena *arena)
{
	const struct kar_taskspec *t = &job->spec.tasks[task];
	struct kar_workload_role r = {
		.name = t->name,
		.needs = t->needs,
		.selector = &job->spec.sched.node_selector,
		.charge = t->charge,
		.charged_class = charged_class(job, task),
		.priority_class = kar_queuejob_pod_class(job, task),
		.template_class = t->template_priority_class,
		.scheduler = kar_queuejob_scheduler(job, task),
		.topology = t->template_topology,
		.done = kar_queuejob_done_indexes(job, task),
		.failed = kar_queuejob_failed_indexes(job, task),
		.n_done = kar_queuejob_done(job, task),
		.n_failed = kar_queuejob_failed(job, task, arena),
		.replicas = t->replicas,
	};

	r.want = (int32_t)kar_clamp((int64_t)t->replicas - r.n_done - r.n_failed, 0, INT32_MAX);
	return r;
}

/* The first task of the same group; @i: it is none, or in none. */
static size_t first_of_group(const struct kar_queuejob_spec *s, size_t i)
{
	size_t k = 0;

	while (k < i &&
		!(s->tasks[i].topology_group &&
			kar_streq(s->tasks[k].topology_group, s->tasks[i].topology_group)))
		k++;
	return k;
}

/* A group of tasks is one ask, and so is a task that says by itself what it wants. Of a group any task may say it. */
static void number_asks(const struct kar_queuejob_spec *s, struct kar_roles *roles)
{
	uint32_t n = 0;

	for (size_t i = 0; i < s->n_tasks; i++) {
		const struct kar_topology_ask *own = &s->tasks[i].topology;
		size_t first = first_of_group(s, i);

		if (!s->tasks[i].topology_group && !kar_topology_asks(own))
			continue;
		roles->items[i].ask = first < i ? roles->items[first].ask : ++n;
		for (size_t k = first; k <= i && kar_topology_asks(own); k++) {
			if (roles->items[k].ask == roles->items[i].ask)
				roles->items[k].asks_for = own;
		}
		if (first < i)
			roles->items[i].asks_for = roles->items[first].asks_for;
	}
}

/* --- what it needs ---------------------------------------------------------------------------------- */

static int32_t own_minimum_left(const struct kar_taskspec *t, int32_t done)
{
	int32_t min = t->min_available < t->replicas ? t->min_available : t->replicas;

	return t->has_min_available && min > done ? min - done : 0;
}

static void need(struct kar_workload_role *r, int32_t n)
{
	r->need += n;
	r->want -= n;
}

/* Room for tasks that wait for others is admitted with the first ones: what of the whole quorum the started ones do not have. */
static void need_later_tasks(const struct kar_queuejob_spec *s, struct kar_roles *roles, int64_t rest)
{
	for (size_t i = 0; i < s->n_tasks; i++) {
		int32_t own = own_minimum_left(&s->tasks[i], roles->items[i].n_done);

		if (roles->items[i].started)
			continue;
		need(&roles->items[i], own);
		rest -= own;
	}
	for (size_t i = 0; i < s->n_tasks; i++) {
		struct kar_workload_role *r = &roles->items[i];
		int32_t more = (int32_t)kar_clamp(r->started ? 0 : rest, 0, r->want);

		need(r, more);
		rest -= more;
	}
}

static void count_needs(const struct kar_queuejob *job, const int32_t *priority, struct kar_arena *arena,
	struct kar_roles *roles)
{
	const struct kar_queuejob_spec *s = &job->spec;
	struct kar_gang_role *parts = kar_arena_alloc(arena, s->n_tasks + 1, sizeof(*parts));
	int32_t *done = kar_arena_alloc(arena, s->n_tasks + 1, sizeof(*done)),
		*failed = kar_arena_alloc(arena, s->n_tasks + 1, sizeof(*failed));
	bool *started = kar_arena_alloc(arena, s->n_tasks + 1, sizeof(*started)),
	     *all = kar_arena_alloc(arena, s->n_tasks + 1, sizeof(*all));
	int64_t rest;
	size_t n;

	kar_queuejob_started(job, started);
	for (size_t i = 0; i < s->n_tasks; i++) {
		all[i] = true;
		done[i] = roles->items[i].n_done;
		failed[i] = roles->items[i].n_failed;
		roles->items[i].started = started[i];
	}
	n = kar_queuejob_roles(s, started, done, failed, priority, INT32_MAX, parts);
	rest = kar_queuejob_quorum(s, all);
	for (size_t i = 0; i < n; i++) {
		need(&roles->items[parts[i].task], parts[i].need);
		rest -= parts[i].need;
	}
	for (size_t i = 0; i < s->n_tasks; i++)
		rest -= done[i];
	if (rest > 0 || kar_queuejob_quorum(s, all) > 0)
		need_later_tasks(s, roles, rest);
}

/* --- its pods --------------------------------------------------------------------------------------- */

/* A pod that stays. */
struct kept {
	const struct kar_pod *pod;
	size_t task;
	int32_t index;
};

static bool is_of(const struct kar_queuejob *job, const struct kar_pod *pod, size_t *task, int32_t *index)
{
	return kar_streq(pod->owner_uid, job->o.uid) && kar_queuejob_pod_index(job, pod->o.name, task, index);
}

static int compare_kept(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;
	int order = (x->task > y->task) - (x->task < y->task);

	if (!order)
		order = (int)queuejob_kept(x->pod) - (int)queuejob_kept(y->pod);
	return order ? order : (x->index > y->index) - (x->index < y->index);
}

static void add_pods(const struct kar_queuejob *job, const struct kar_roles_input *in,
	struct kar_roles *roles)
{
	struct kept *all = kar_arena_alloc(in->arena, in->n_pods + 1, sizeof(*all));
	const struct kar_pod **pods = kar_arena_alloc(in->arena, in->n_pods + 1, sizeof(struct kar_pod *));
	size_t n = 0;

	for (size_t i = 0; i < in->n_pods; i++) {
		all[n] = (struct kept){ .pod = in->pods[i] };
		n += kar_pod_alive(in->pods[i]) && is_of(job, in->pods[i], &all[n].task, &all[n].index);
	}
	qsort(all, n, sizeof(*all), compare_kept);
	for (size_t i = 0; i < n; i++) {
		struct kar_workload_role *r = &roles->items[all[i].task];

		pods[i] = all[i].pod;
		if (!r->n_pods)
			r->pods = &pods[i];
		r->n_pods++;
	}
}

static void roles(const struct kar_object *o, const struct kar_roles_input *in, struct kar_roles *out)
{
	const struct kar_queuejob *job = kar_as_queuejob(o);
	const int32_t *priority = priorities(job, in);

	out->n = job->spec.n_tasks;
	out->items = kar_arena_alloc(in->arena, out->n + 1, sizeof(*out->items));
	out->order = queuejob_order(priority, out->n, in->arena);
	for (size_t i = 0; i < out->n; i++)
		out->items[i] = role_of_task(job, i, in->arena);
	number_asks(&job->spec, out);
	count_needs(job, priority, in->arena, out);
	add_pods(job, in, out);
}

static size_t role_of(const struct kar_object *o, const struct kar_pod *pod)
{
	size_t task;
	int32_t index;

	return is_of(kar_as_queuejob(o), pod, &task, &index) ? task : KAR_NO_ROLE;
}

static void pod_name(const struct kar_object *o, size_t role, int32_t index, char out[KAR_POD_NAME_LEN])
{
	const struct kar_queuejob *job = kar_as_queuejob(o);

	kar_queuejob_pod_name(job, job->spec.tasks[role].name, index, out);
}

/* Those of the template, and ours. */
static struct kar_array labels(const struct kar_object *o, size_t role, bool runs, struct kar_arena *arena)
{
	const struct kar_queuejob *job = kar_as_queuejob(o);
	const struct kar_array *own = &job->spec.tasks[role].template_labels;
	struct kar_pair *all = kar_arena_alloc(arena, own->n + 4, sizeof(*all));
	bool same = runs && job->status.incarnation > 0;

	if (own->n)
		memcpy(all, own->items, own->n * sizeof(*all));
	all[own->n] = (struct kar_pair){ KAR_LABEL_QUEUEJOB, job->o.name };
	all[own->n + 1] = (struct kar_pair){ KAR_LABEL_POD_GROUP, job->o.name };
	all[own->n + 2] = (struct kar_pair){ KAR_LABEL_TASK, job->spec.tasks[role].name };
	all[own->n + 3] = (struct kar_pair){ KAR_LABEL_INCARNATION,
		kar_arena_printf(arena, "%d", (int)job->status.incarnation + !same) };
	return (struct kar_array){ .items = all, .n = own->n + 4 };
}

/* --- who starts it ---------------------------------------------------------------------------------- */

static bool is_direct(const struct kar_object *o, const char *served)
{
	return kar_queuejob_is_direct(kar_as_queuejob(o), served);
}

static const char *why_not_direct(const struct kar_object *o, const char *served, struct kar_arena *arena)
{
	return kar_queuejob_direct_obstacle(kar_as_queuejob(o), served, arena);
}

static const char *why_mixed(const struct kar_object *o, struct kar_arena *arena)
{
	return kar_queuejob_mixed_schedulers(kar_as_queuejob(o), arena);
}

static const struct kar_template *template(const struct kar_object *o, size_t role, struct kar_templates *t,
	kar_time mono)
{
	return kar_templates_find(t, kar_as_queuejob(o), role, mono);
}

static void want_template(const struct kar_object *o, size_t role, struct kar_templates *t, kar_time mono)
{
	kar_templates_want(t, kar_as_queuejob(o), role, mono);
}

static struct kar_template_needs needs(const struct kar_object *o, size_t role, struct kar_templates *t,
	kar_time mono)
{
	return kar_templates_needs(t, kar_as_queuejob(o), role, mono);
}

static void want_needs(const struct kar_object *o, size_t role, struct kar_templates *t, kar_time mono)
{
	kar_templates_want_needs(t, kar_as_queuejob(o), role, mono);
}

static const char *why_refused(const struct kar_object *o, size_t role, const struct kar_template *t,
	struct kar_arena *arena)
{
	return kar_template_refusal(t, kar_as_queuejob(o), role, arena);
}

const struct kar_workload_kind kar_queuejob_workload = {
	.type = &kar_queuejob_type,
	.describe = describe,
	.roles = roles,
	.role_of = role_of,
	.pod_name = pod_name,
	.labels = labels,
	.is_direct = is_direct,
	.why_mixed = why_mixed,
	.why_not_direct = why_not_direct,
	.template = template,
	.want_template = want_template,
	.needs = needs,
	.want_needs = want_needs,
	.why_refused = why_refused,
};
