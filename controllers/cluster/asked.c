#include "controllers/cluster/asked.h"

#include <string.h>

#include "api/names.h"
#include "api/podgroup/pg_members.h"
#include "common/base/str.h"

static const struct kar_namespace *namespace_of(const struct kar_stores *stores, const char *ns)
{
	const struct kar_object *o = kar_store_get(stores->namespaces, NULL, ns);

	return o ? kar_as_namespace(o) : NULL;
}

static bool is_older(const struct kar_pod *a, const struct kar_pod *b)
{
	return a->creation != b->creation ? a->creation < b->creation : strcmp(a->o.name, b->o.name) < 0;
}

/* Of those that are alive; NULL: none is. */
static const struct kar_pod *oldest_member(const struct kar_stores *stores, const struct kar_podgroup *g)
{
	const struct kar_pod *oldest = NULL;
	const struct kar_object *o;
	char key[KAR_KEY_LEN];

	kar_object_key(&g->o, key);
	for (struct kar_iter it = kar_store_by_index(stores->pods, KAR_POD_BY_GROUP, key);
		kar_iter_next(&it, &o);) {
		const struct kar_pod *pod = kar_as_pod(o);

		if (kar_pod_alive(pod) && (!oldest || is_older(pod, oldest)))
			oldest = pod;
	}
	return oldest;
}

static bool is_admitted(const struct kar_podgroup *g)
{
	return kar_condition_is_true(&g->status.conditions, KAR_PG_ADMITTED) &&
		kar_has_text(g->status.admitted_queue);
}

/* --- QueueJobs --------------------------------------------------------------------------------------- */

static const struct kar_podgroup *group_of_job(const struct kar_stores *stores,
	const struct kar_queuejob *job)
{
	const struct kar_object *o = kar_store_get(stores->podgroups, job->o.ns, job->o.name);
	const struct kar_podgroup *g = o ? kar_as_podgroup(o) : NULL;

	return g && kar_streq(g->owner_uid, job->o.uid) ? g : NULL;
}

static const struct kar_queuejob *job_of_group(const struct kar_stores *stores, const struct kar_podgroup *g)
{
	const struct kar_object *o =
		g->owner_name ? kar_store_get(stores->queuejobs, g->o.ns, g->owner_name) : NULL;

	return o && kar_streq(o->uid, g->owner_uid) ? kar_as_queuejob(o) : NULL;
}

const char *kar_asked_queue_of_job(const struct kar_stores *stores, const struct kar_queuejob *job)
{
	const struct kar_podgroup *g = group_of_job(stores, job);
	const struct kar_namespace *ns;

	/* A group that a former job of the name has left, or that a user has moved, may be admitted, too; this job has not been there. */
	if (g && is_admitted(g) && kar_streq(g->status.admitted_queue, job->status.queue) &&
		kar_condition_is_true(&job->status.conditions, KAR_QJ_ADMITTED))
		return job->status.queue;
	if (kar_has_text(job->spec.queue))
		return job->spec.queue;
	if (kar_has_text(job->queue_label))
		return job->queue_label;
	ns = namespace_of(stores, job->o.ns);
	return ns && ns->queue ? ns->queue : kar_stores_default_queue(stores);
}

/* --- groups ------------------------------------------------------------------------------------------ */

/* It goes on where it was admitted. */
static bool has_started(const struct kar_podgroup *g)
{
	return g->orphan || kar_pg_lasting_state(g) != KAR_PG_STATE_NONE ||
		kar_condition_is_true(&g->status.conditions, KAR_PG_SCHEDULED);
}

static bool has_bound_pods(const struct kar_stores *stores, const struct kar_podgroup *g)
{
	const struct kar_object *o;
	char key[KAR_KEY_LEN];

	kar_object_key(&g->o, key);
	for (struct kar_iter it = kar_store_by_index(stores->pods, KAR_POD_BY_GROUP, key);
		kar_iter_next(&it, &o);) {
		if (kar_as_pod(o)->node && !kar_pod_finished(kar_as_pod(o)))
			return true;
	}
	return false;
}

/* What runs stays on the account of the queue that has admitted it, whatever its owner asks for since. NULL: it asks for no other, or has no pods. */
static const char *account_of(const struct kar_stores *stores, const struct kar_podgroup *g,
	const char *asked)
{
	const char *by = g->status.admitted_queue;

	if (!has_started(g) || !is_admitted(g) || kar_streq(by, asked) ||
		!kar_store_get(stores->queues, NULL, by) || !has_bound_pods(stores, g))
		return NULL;
	return by;
}

/* Of one that names no queue, and belongs to no QueueJob. */
static struct kar_asked asked_by_members(const struct kar_stores *stores, const struct kar_podgroup *g)
{
	struct kar_asked asked = { .queue = kar_stores_default_queue(stores) };
	const struct kar_namespace *ns = namespace_of(stores, g->o.ns);
	const struct kar_pod *oldest = oldest_member(stores, g);
	const char *named = oldest ? kar_pod_queue(oldest) : NULL;

	if (!named)
		named = ns ? ns->queue : NULL;
	if (!named || strcmp(named, asked.queue) == 0)
		return asked;
	asked.queue = named;
	asked.label = oldest && kar_queue_may_be_called(named) ? named : NULL;
	return asked;
}

/* Whatever runs. */
static struct kar_asked asked_now(const struct kar_stores *stores, const struct kar_podgroup *g)
{
	const char *named = kar_podgroup_queue(g);
	const struct kar_queuejob *job = kar_pg_of_others(g) ? NULL : job_of_group(stores, g);

	if (named)
		return (struct kar_asked){ .queue = named };
	if (job && is_admitted(g)) /* the job is about to write it */
		return (struct kar_asked){ .queue = g->status.admitted_queue };
	if (job)
		return (struct kar_asked){ .queue = kar_asked_queue_of_job(stores, job) };
	if (kar_pg_of_others(g) && !has_started(g))
		return asked_by_members(stores, g);
	return (struct kar_asked){ .queue = kar_stores_default_queue(stores) };
}

struct kar_asked kar_asked_queue(const struct kar_stores *stores, const struct kar_podgroup *g)
{
	struct kar_asked asked = asked_now(stores, g);
	const char *account = account_of(stores, g, asked.queue);

	return account ? (struct kar_asked){ .queue = account, .next = asked.queue } : asked;
}

/* --- queues ------------------------------------------------------------------------------------------ */

bool kar_asked_admits(const struct kar_stores *stores, const struct kar_queue *q,
	const struct kar_podgroup *g)
{
	static const struct kar_array none = { 0 };
	const struct kar_namespace *ns;

	if (kar_selector_is_empty(&q->spec.namespaces))
		return true;
	ns = namespace_of(stores, g->o.ns);
	return kar_selector_selects(&q->spec.namespaces, ns ? &ns->labels : &none);
}

/* In force, or, of a queue whose status nobody writes (decision 032), what its spec says. NULL: none. */
static const char *parent_of(const struct kar_queue *q)
{
	const char *parent = kar_has_text(q->status.parent) ? q->status.parent : q->spec.parent;

	return kar_streq(parent, KAR_QUEUE_ROOT) ? NULL : parent;
}

size_t kar_asked_path(const struct kar_stores *stores, const char *name,
	const struct kar_queue *path[KAR_QUEUE_LEVELS])
{
	size_t n = 0;

	while (name && n < KAR_QUEUE_LEVELS) {
		const struct kar_object *o = kar_store_get(stores->queues, NULL, name);

		if (!o)
			break;
		path[n] = kar_as_queue(o);
		name = parent_of(path[n++]);
	}
	return n;
}

bool kar_asked_is_below(const struct kar_stores *stores, const char *name, const char *above)
{
	const struct kar_queue *path[KAR_QUEUE_LEVELS];
	size_t n = kar_asked_path(stores, name, path);

	if (strcmp(name, above) == 0)
		return true;
	for (size_t i = 0; i < n; i++) {
		if (kar_streq(parent_of(path[i]), above))
			return true;
	}
	return false;
}

int32_t kar_asked_priority(const struct kar_stores *stores, const char *name, int32_t asked)
{
	const struct kar_queue *path[KAR_QUEUE_LEVELS];
	size_t n = kar_asked_path(stores, name, path);

	for (size_t i = 0; i < n; i++)
		asked = kar_queue_priority(path[i], asked);
	return asked;
}

struct kar_run_limits kar_asked_run_limits(const struct kar_stores *stores, const char *name)
{
	const struct kar_queue *path[KAR_QUEUE_LEVELS];
	size_t n = kar_asked_path(stores, name, path);
	struct kar_run_limits out = { 0 };

	for (size_t i = 0; i < n; i++) {
		const struct kar_queue_spec *s = &path[i]->spec;

		if (s->max_run_seconds > 0 && (!out.most || s->max_run_seconds < out.most)) {
			out.most = s->max_run_seconds;
			out.most_of = path[i]->o.name;
		}
		if (s->default_run_seconds > 0 &&
			(!out.by_default || s->default_run_seconds < out.by_default))
			out.by_default = s->default_run_seconds;
	}
	if (out.most && (!out.by_default || out.most < out.by_default))
		out.by_default = out.most;
	return out;
}

bool kar_asked_bounds(const struct kar_stores *stores, const struct kar_podgroup *g, const char *name)
{
	const struct kar_queue *path[KAR_QUEUE_LEVELS];
	size_t n = kar_asked_path(stores, name, path);
	bool bounds = n && kar_streq(path[0]->spec.queueing_strategy, "StrictFIFO");

	for (size_t i = 0; i < n; i++)
		bounds |= kar_queue_has_limits(&path[i]->spec);
	return bounds && kar_pg_keeps_placement(g);
}
