/* What a QueueJob needs: the classes of its pods, and how many of them are its minimum. */
#include "controllers/queue/making.h"

#include "api/pod_needs.h"
#include "api/queuejob_gang.h"
#include "common/str.h"

/* --- classes --------------------------------------------------------------------------------------- */

/* The class of the template's needs with the node selector of the job, which its pods get as well (api/queuejob_pod.c). */
static kar_class class_with_selector(const struct making *m, const char *text)
{
	const struct kar_array *own = &m->job->spec.sched.node_selector;
	const struct kar_pair *pairs = own->items;
	struct kar_pod_needs needs;
	struct kar_sched_label *all;
	kar_class class;

	if (kar_pod_needs_parse(text, m->arena, &needs, NULL))
		return 0;
	all = kar_arena_alloc(m->arena, needs.n_selector + own->n, sizeof(*all));
	for (uint32_t i = 0; i < needs.n_selector; i++)
		all[i] = needs.selector[i];
	for (size_t i = 0; i < own->n; i++)
		all[needs.n_selector++] = (struct kar_sched_label){ pairs[i].key, pairs[i].value };
	needs.selector = all;
	class = kar_sched_class(kar_snapshot_sched(m->p->stores->snapshot), &needs);
	m->p->classes = kar_arena_grow(m->arena, m->p->classes, m->p->n_classes, sizeof(*m->p->classes));
	m->p->classes[m->p->n_classes++] = class;
	return class;
}

void queue_forget_classes(struct queue_pass *p)
{
	for (size_t i = 0; i < p->n_classes; i++)
		kar_sched_class_put(kar_snapshot_sched(p->stores->snapshot), p->classes[i]);
	p->n_classes = 0;
}

bool queue_find_classes(struct making *m)
{
	bool all = true;

	m->classes = kar_arena_alloc(m->arena, m->job->spec.n_tasks + 1, sizeof(*m->classes));
	for (size_t i = 0; i < m->job->spec.n_tasks; i++) {
		const struct kar_taskspec *t = &m->job->spec.tasks[i];
		const char *stored = kar_template_needs_stored(kar_templates_find(m->p->stores->templates,
								       m->job, i, m->p->s->mono),
			m->p->s->mono);

		if (stored) /* with the node selector of the job */
			m->classes[i] = kar_snapshot_class_of(m->p->stores->snapshot, stored);
		else if (t->needs)
			m->classes[i] = m->job->spec.sched.node_selector.n
				? class_with_selector(m, t->needs)
				: kar_snapshot_class_of(m->p->stores->snapshot, t->needs);
		all &= m->classes[i] != 0;
		if (!m->classes[i])
			m->classes[i] = kar_snapshot_class_of(m->p->stores->snapshot, "{}");
	}
	return all;
}

/* --- what it needs ---------------------------------------------------------------------------------- */

static const int32_t *priorities(const struct making *m)
{
	int32_t *all = kar_arena_alloc(m->arena, m->job->spec.n_tasks, sizeof(*all));

	for (size_t i = 0; i < m->job->spec.n_tasks; i++) {
		const struct kar_taskspec *t = &m->job->spec.tasks[i];
		const struct kar_priorityclass *class =
			kar_stores_priorityclass(m->p->stores, t->template_priority_class);

		all[i] = t->has_priority ? t->priority : class ? class->value : 0;
	}
	return all;
}

static int32_t own_minimum_left(const struct making *m, size_t task)
{
	const struct kar_taskspec *t = &m->job->spec.tasks[task];
	int32_t min = t->min_available < t->replicas ? t->min_available : t->replicas;

	return t->has_min_available && min > m->done[task] ? min - m->done[task] : 0;
}

/* Room for tasks that wait for others is admitted with the first ones: what of the whole quorum the started ones do not have. */
static void need_later_tasks(struct making *m, int64_t rest)
{
	for (size_t i = 0; i < m->job->spec.n_tasks; i++) {
		if (m->started[i])
			continue;
		m->need[i] = own_minimum_left(m, i);
		m->want[i] -= m->need[i];
		rest -= m->need[i];
	}
	for (size_t i = 0; i < m->job->spec.n_tasks; i++) {
		int32_t more = (int32_t)kar_clamp(m->started[i] ? 0 : rest, 0, m->want[i]);

		m->need[i] += more;
		m->want[i] -= more;
		rest -= more;
	}
}

void queue_count_needs(struct making *m)
{
	const struct kar_queuejob_spec *s = &m->job->spec;
	struct kar_gang_role *parts = kar_arena_alloc(m->arena, s->n_tasks + 1, sizeof(*parts));
	bool *all = kar_arena_alloc(m->arena, s->n_tasks + 1, sizeof(*all));
	size_t n = kar_queuejob_roles(s, m->started, m->done, m->failed, priorities(m), INT32_MAX, parts);
	int64_t rest;

	for (size_t i = 0; i < s->n_tasks; i++) {
		all[i] = true;
		m->want[i] = (int32_t)kar_clamp((int64_t)s->tasks[i].replicas - m->done[i] - m->failed[i], 0,
			INT32_MAX);
	}
	rest = kar_queuejob_quorum(s, all);
	for (size_t i = 0; i < n; i++) {
		m->need[parts[i].task] = parts[i].need;
		m->want[parts[i].task] -= parts[i].need;
		rest -= parts[i].need;
	}
	for (size_t i = 0; i < s->n_tasks; i++)
		rest -= m->done[i];
	if (rest > 0 || kar_queuejob_quorum(s, all) > 0)
		need_later_tasks(m, rest);
}

struct stored_pods queue_next_pods(struct making *m, size_t task, int32_t most)
{
	struct stored_list *of = &m->stored[task];
	struct stored_pods next = { m->classes[task], queue_quota_of_task(m->p->quota, m->job, task), most };

	if (of->next == of->n)
		return next;
	next = of->items[of->next];
	next.n = next.n < most ? next.n : most;
	of->items[of->next].n -= next.n;
	of->next += !of->items[of->next].n;
	return next;
}

static void add_run(struct making *m, size_t task, int32_t n)
{
	while (n > 0) {
		const struct stored_pods some = queue_next_pods(m, task, n);

		m->tasks = kar_arena_grow(m->arena, m->tasks, m->runs.n, sizeof(*m->tasks));
		m->tasks[m->runs.n] = task;
		queue_run_add(&m->runs, some.class, some.n, some.charges);
		n -= some.n;
	}
}

static int32_t live_of(const struct making *m, size_t task)
{
	int64_t n = m->pending[task];

	for (uint32_t i = 0; i < m->seats[task].n; i++)
		n += m->seats[task].items[i].n;
	return (int32_t)kar_clamp(n, 0, INT32_MAX);
}

/* As the QueueJob's reconciler creates them (queuejob_creation_order()): by priority, then as they are listed. */
static const size_t *creation_order(const struct making *m)
{
	size_t *order = kar_arena_alloc(m->arena, m->job->spec.n_tasks + 1, sizeof(*order));
	const int32_t *priority = priorities(m);

	for (size_t i = 0; i < m->job->spec.n_tasks; i++) {
		size_t k = i;

		for (; k > 0 && priority[order[k - 1]] < priority[i]; k--)
			order[k] = order[k - 1];
		order[k] = i;
	}
	return order;
}

/*
 * The order is that in which the job keeps its pods: those that run, then those that exist, then those to come. So an extra that comes or goes
 * is the one that the pass had in mind, with its needs and its node.
 */
static void add_extras(struct making *m)
{
	const size_t *order = creation_order(m);
	size_t n = m->job->spec.n_tasks;
	int32_t *added = kar_arena_alloc(m->arena, n + 1, sizeof(*added));

	for (int part = 0; part < 2; part++) {
		for (size_t k = 0; k < n; k++) {
			size_t i = order[k];
			int32_t there = part ? live_of(m, i) : m->running[i];
			int32_t extras = (int32_t)kar_clamp((int64_t)there - m->need[i], 0, m->want[i]);

			add_run(m, i, extras - added[i]);
			added[i] = extras;
		}
	}
	for (int later = 0; later < 2; later++) {
		for (size_t k = 0; k < n; k++) {
			size_t i = order[k];

			if (m->started[i] == !later)
				add_run(m, i, m->want[i] - added[i]);
		}
	}
}

/* What exists is before what is to come: of a minimum that was raised the queue may not allow the rest. */
static void add_minimum(struct making *m)
{
	size_t n = m->job->spec.n_tasks;
	int32_t *added = kar_arena_alloc(m->arena, n + 1, sizeof(*added));

	for (size_t i = 0; i < n && m->qg->admitted; i++) {
		added[i] = (int32_t)kar_clamp(live_of(m, i), 0, m->need[i]);
		add_run(m, i, added[i]);
	}
	for (int later = 0; later < 2; later++) {
		for (size_t i = 0; i < n; i++) {
			if (m->started[i] == !later)
				add_run(m, i, m->need[i] - added[i]);
		}
	}
}

void queue_add_runs(struct making *m)
{
	add_minimum(m);
	add_extras(m);
	for (size_t i = 0; i < m->job->spec.n_tasks; i++)
		m->in->min += m->need[i];
}
