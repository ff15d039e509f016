/* Which change concerns which job. */
#include "controllers/runtime/create_backoff.h"
#include "controllers/queuejob/watch.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/str.h"
#include "api/types.h"
#include "common/base/mem.h"
#include "controllers/cluster/asked.h"
#include "controllers/cluster/caches.h"
#include "controllers/cluster/stores.h"
#include "controllers/queuejob/journal.h"
#include "controllers/queuejob/memory.h"
#include "controllers/queuejob/observe.h"

static const struct kar_object *present(const struct kar_object *old, const struct kar_object *new)
{
	assert(old || new);
	return new ? new : old;
}

static void enqueue_named(struct kar_controller *c, const struct kar_store *store, const struct kar_object *o)
{
	char key[KAR_KEY_LEN];

	kar_enqueue(c, store, kar_object_key(o, key));
}

/* Does the change from @old to @new, one of which may be NULL, concern jobs that wait for this one? */
static bool is_news_for_followers(const struct kar_queuejob *old, const struct kar_queuejob *new)
{
	return !old || !new || old->status.phase != new->status.phase ||
		(kar_queuejob_follows(old) && !kar_queuejob_same_content(old, new)); /* a circle may end */
}

static void enqueue_followers(struct kar_controller *c, const struct kar_object *job)
{
	struct kar_iter it = kar_store_by_index(c->stores->queuejobs, KAR_QUEUEJOB_FOLLOWERS, job->ns);
	const struct kar_object *o;

	while (kar_iter_next(&it, &o)) {
		if (queuejob_names(kar_as_queuejob(o), job->name))
			enqueue_named(c, c->stores->queuejobs, o);
	}
}

/* Those that @job waits for: they may be deleted when it has recorded their ends, or waits no more. */
static void enqueue_awaited(struct kar_controller *c, const struct kar_queuejob *job)
{
	const struct kar_after *after = job->spec.after.items;
	char key[KAR_KEY_LEN];

	for (size_t i = 0; i < job->spec.after.n; i++)
		kar_enqueue(c, c->stores->queuejobs, kar_key(job->o.ns, after[i].name, key));
}

static void wake_others(struct kar_controller *c, const struct kar_queuejob *old,
	const struct kar_queuejob *new)
{
	bool lets_go = old && kar_queuejob_follows(old) &&
		(!new || !kar_queuejob_follows(new) || old->status.n_after != new->status.n_after);

	if (is_news_for_followers(old, new))
		enqueue_followers(c, present(old ? &old->o : NULL, new ? &new->o : NULL));
	if (lets_go)
		enqueue_awaited(c, old);
}

/* A change only of fields that no decision reads enqueues nothing. */
static void on_job(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_controller *c = arg;

	if (kar_store_synced(c->stores->queuejobs))
		queuejob_log_change(old, new);
	if (!old || !new || !kar_queuejob_same_content(kar_as_queuejob(old), kar_as_queuejob(new)))
		enqueue_named(c, c->stores->queuejobs, present(old, new));
	wake_others(c, old ? kar_as_queuejob(old) : NULL, new ? kar_as_queuejob(new) : NULL);
}

/* All children have the name of their job, and an object of somebody else with that name may block a child. */
static void on_podgroup(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_controller *c = arg;

	if (!old || !new || !kar_podgroup_same_content(kar_as_podgroup(old), kar_as_podgroup(new)))
		enqueue_named(c, c->stores->podgroups, present(old, new));
}

static void on_service(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_controller *c = arg;

	if (!old || !new || !kar_service_same_content(kar_as_service(old), kar_as_service(new)))
		enqueue_named(c, c->stores->services, present(old, new));
}

static void on_schedulingspec(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_controller *c = arg;

	if (!old || !new ||
		!kar_schedulingspec_same_content(kar_as_schedulingspec(old), kar_as_schedulingspec(new)))
		enqueue_named(c, c->stores->schedulingspecs, present(old, new));
}

/* Enqueues the keys that @pod (@old or @new) concerns. */
static void enqueue_pod(struct kar_controller *c, const struct kar_pod *pod, const struct kar_pod *old,
	const struct kar_pod *new)
{
	char key[KAR_KEY_LEN];

	if (kar_streq(pod->owner_kind, kar_queuejob_type.res.kind))
		kar_enqueue_pod(c, kar_key(pod->o.ns, pod->owner_name, key), old, new);
	/* The owner may be gone, or somebody may have removed the ownerReference. */
	if (pod->tracked && pod->group)
		kar_enqueue_pod(c, pod->group, old, new);
	else if (kar_pod_is_unreferenced(pod))
		kar_enqueue_pod(c, kar_object_key(&pod->o, key), old, new);
}

/*
 * @gone may have blocked the name of a pod of some job, which can be created now. Any '-' in the name may be the one that ends the
 * name of that job.
 */
static void enqueue_blocked(struct kar_controller *c, const struct kar_pod *gone)
{
	const char *name = gone->o.name;
	char key[KAR_KEY_LEN], job_name[KAR_KEY_LEN];
	size_t task;
	int32_t index;

	for (const char *dash = strchr(name, '-'); dash; dash = strchr(dash + 1, '-')) {
		const struct kar_object *job;

		snprintf(job_name, sizeof(job_name), "%.*s", (int)(dash - name), name);
		job = kar_store_get(c->stores->queuejobs, gone->o.ns, job_name);
		if (job && !kar_streq(job->uid, gone->owner_uid) &&
			kar_queuejob_pod_index(kar_as_queuejob(job), name, &task, &index))
			kar_enqueue(c, c->stores->pods, kar_object_key(job, key));
	}
}

/*
 * Quotas no longer count @pod, so refused creates may succeed now. If its own job has rolled the pod back, only other jobs are woken,
 * because that job already knows that its pods do not fit.
 */
static void wake_waiting_creates(struct kar_controller *c, const struct kar_pod *pod)
{
	char key[KAR_KEY_LEN];

	kar_create_backoff_wake(c, pod->o.ns,
		pod->owner_name ? kar_key(pod->o.ns, pod->owner_name, key) : NULL);
}

static bool counts_objects(const struct kar_controller *c, const char *ns)
{
	struct kar_iter it =
		kar_store_by_index(c->stores->resourcequotas, KAR_RESOURCEQUOTA_BY_NAMESPACE, ns);
	const struct kar_object *o;

	while (kar_iter_next(&it, &o)) {
		if (kar_as_resourcequota(o)->counts_objects)
			return true;
	}
	return false;
}

/* Do quotas stop counting the pod by its change from @old to @new (NULL: it is gone)? Object counts end only with the object. */
static bool frees_quota(const struct kar_controller *c, const struct kar_pod *old, const struct kar_pod *new)
{
	bool gone = new == NULL;

	if (kar_pod_finished(old))
		return gone && counts_objects(c, old->o.ns);
	return gone || kar_pod_finished(new);
}

static void on_pod(void *arg, const struct kar_object *o, const struct kar_object *n)
{
	const struct kar_pod *old = o ? kar_as_pod(o) : NULL;
	const struct kar_pod *new = n ? kar_as_pod(n) : NULL;
	struct kar_controller *c = arg;

	if (old && frees_quota(c, old, new))
		wake_waiting_creates(c, old);
	if (old)
		enqueue_pod(c, old, old, new);
	if (new)
		enqueue_pod(c, new, old, new);
	else if (old)
		enqueue_blocked(c, old);
}

/* The priority of every job, or of those in @queue and below it, may have changed. That is rare, so there is no index for it. */
static void enqueue_jobs(struct kar_controller *c, const struct kar_store *changed, const char *queue)
{
	struct kar_iter it = kar_store_all(c->stores->queuejobs);
	const struct kar_object *o;

	while (kar_iter_next(&it, &o)) {
		if (!queue ||
			kar_asked_is_below(c->stores, kar_asked_queue_of_job(c->stores, kar_as_queuejob(o)),
				queue))
			enqueue_named(c, changed, o);
	}
}

static void on_priorityclass(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_controller *c = arg;

	if (old && new &&kar_as_priorityclass(old)->value == kar_as_priorityclass(new)->value &&
		kar_as_priorityclass(old)->global_default == kar_as_priorityclass(new)->global_default)
		return;
	enqueue_jobs(c, c->stores->priorityclasses, NULL);
}

static void on_wanted(void *arg, const struct kar_queuejob *job)
{
	struct kar_controller *c = arg;
	char key[KAR_KEY_LEN];

	kar_workqueue_add(c->queue, kar_object_key(&job->o, key));
}

static int32_t highest_priority(const struct kar_object *queue)
{
	return kar_queue_priority(queue ? kar_as_queue(queue) : NULL, INT32_MAX);
}

/* In force; "": none. */
static const char *parent(const struct kar_object *queue)
{
	const char *name = queue ? kar_as_queue(queue)->status.parent : NULL;

	return !name || kar_streq(name, KAR_QUEUE_ROOT) ? "" : name;
}

/* Before the first list is complete no job has been observed, so none needs to be observed again. */
static void on_queue(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_controller *c = arg;

	if (kar_store_synced(c->stores->queues) &&
		(highest_priority(old) != highest_priority(new) || !kar_streq(parent(old), parent(new))))
		enqueue_jobs(c, c->stores->queues, new ? new->name : old->name);
}

/* Enqueues the jobs of @ns that have not ended. */
static void enqueue_unended(struct kar_controller *c, const struct kar_store *changed, const char *ns)
{
	struct kar_iter it = kar_store_by_index(c->stores->queuejobs, KAR_QUEUEJOB_BY_NAMESPACE, ns);
	const struct kar_object *o;

	while (kar_iter_next(&it, &o)) {
		if (!kar_qj_phase_terminal(kar_as_queuejob(o)->status.phase))
			enqueue_named(c, changed, o);
	}
}

static const char *queue_of_namespace(const struct kar_object *o)
{
	return o ? kar_as_namespace(o)->queue : NULL;
}

static void on_namespace(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_controller *c = arg;

	if (kar_store_synced(c->stores->namespaces) &&
		!kar_streq(queue_of_namespace(old), queue_of_namespace(new)))
		enqueue_unended(c, c->stores->namespaces, present(old, new)->name);
}

/* Changes of status.used are ignored, because the events of the pods already show them. */
static void on_resourcequota(void *arg, const struct kar_object *o, const struct kar_object *n)
{
	const struct kar_resourcequota *old = o ? kar_as_resourcequota(o) : NULL;
	const struct kar_resourcequota *new = n ? kar_as_resourcequota(n) : NULL;
	struct kar_controller *c = arg;

	assert(o || n);
	if (!kar_store_synced(c->stores->resourcequotas))
		return; /* as in on_queue() */

	const char *ns = (n ? n : o)->ns;

	if (!old || !new || old->specified != new->specified)
		enqueue_unended(c, c->stores->resourcequotas, ns);
	if ((!old || !new || old->enforced != new->enforced))
		kar_create_backoff_wake(c, ns, NULL);
}

void queuejob_watch(struct kar_controller *c)
{
	struct queuejob_shared *shared = kar_xcalloc(1, sizeof(*shared));

	c->shared = shared;
	kar_store_listen(c->stores->queuejobs, on_job, c);
	kar_store_listen(c->stores->podgroups, on_podgroup, c);
	kar_store_listen(c->stores->schedulingspecs, on_schedulingspec, c);
	kar_store_listen(c->stores->services, on_service, c);
	kar_store_listen(c->stores->pods, on_pod, c);
	kar_store_listen(c->stores->priorityclasses, on_priorityclass, c);
	kar_store_listen(c->stores->queues, on_queue, c);
	kar_store_listen(c->stores->resourcequotas, on_resourcequota, c);
	kar_templates_listen(c->stores->templates, on_wanted, NULL, c);
	kar_store_listen(c->stores->namespaces, on_namespace, c);
}

void queuejob_unwatch(struct kar_controller *c)
{
	struct queuejob_shared *shared = c->shared;

	free(shared);
	c->shared = NULL;
}
