/* The shell: which events concern which job, and one job's sync. */
#include "controllers/controller.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include <bsd/string.h>

#include "api/keep.h"
#include "api/names.h"
#include "api/pod_stencil.h"
#include "api/types.h"
#include "common/kube/request.h"
#include "controllers/queuejob/encode.h"
#include "controllers/queuejob/memory.h"
#include "controllers/queuejob/observe.h"
#include "controllers/queuejob/queuejob.h"
#include "controllers/quota_line.h"

enum {
	BARRIER_RETRY = 500, /* ms; the event that is waited for comes earlier */
	HTTP_OK = 200,       /* not 201: what was to be created exists already */
};

/* --- from events to keys ------------------------------------------------------------------------- */

static void enqueue_named(struct kar_controller *c, const struct kar_store *store, const struct kar_object *o)
{
	char key[KAR_KEY_LEN];

	kar_enqueue(c, store, kar_object_key(o, key));
}

static void on_job(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_controller *c = arg;

	enqueue_named(c, c->stores->queuejobs, new ? new : old);
}

/* All children have the name of their job, and so has whatever stands in their way. */
static void on_podgroup(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_controller *c = arg;

	enqueue_named(c, c->stores->podgroups, new ? new : old);
}

static void on_service(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_controller *c = arg;

	enqueue_named(c, c->stores->services, new ? new : old);
}

static void on_schedulingspec(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_controller *c = arg;

	enqueue_named(c, c->stores->schedulingspecs, new ? new : old);
}

/* The keys that concern @pod, which is one of @old and @new. */
static void enqueue_pod(struct kar_controller *c, const struct kar_pod *pod, const struct kar_pod *old,
	const struct kar_pod *new)
{
	char key[KAR_KEY_LEN];

	if (kar_same(pod->owner_kind, kar_queuejob_type.res.kind))
		kar_enqueue_pod(c, kar_key(pod->o.ns, pod->owner_name, key), old, new);
	if (pod->tracked && pod->group) /* the owner may be gone, or the reference to it */
		kar_enqueue_pod(c, pod->group, old, new);
	else if (kar_pod_is_nobodys(pod))
		kar_enqueue_pod(c, kar_object_key(&pod->o, key), old, new);
}

/*
 * @gone may have had the name of an index of a job that is not its own, which could not be created. Any '-' in it may be the one
 * behind the name of that job.
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
		if (job && !kar_same(job->uid, gone->owner_uid) &&
			kar_queuejob_pod_index(kar_as_queuejob(job), name, &task, &index))
			kar_enqueue(c, c->stores->pods, kar_object_key(job, key));
	}
}

/* @pod is charged to a quota no more. One that was taken back tells its job nothing: that knows how many do not fit. */
static void make_room(struct kar_controller *c, const struct kar_pod *pod)
{
	char key[KAR_KEY_LEN];

	if (pod->gate_ours && pod->owner_name)
		kar_quota_line_wake_others(c->line, pod->o.ns, kar_key(pod->o.ns, pod->owner_name, key));
	else
		kar_quota_line_wake(c->line, pod->o.ns);
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

/* Is what @old was charged for given back? @new: NULL: it is gone. */
static bool gives_room(const struct kar_controller *c, const struct kar_pod *old, const struct kar_pod *new)
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

	if (c->line && old && gives_room(c, old, new))
		make_room(c, old);
	if (old)
		enqueue_pod(c, old, old, new);
	if (new)
		enqueue_pod(c, new, old, new);
	else if (old)
		enqueue_blocked(c, old);
}

/* Every job looks its numbers up again. That is rare, so no index is kept for it. */
static void on_priorityclass(void *arg, const struct kar_object *old KAR_UNUSED,
	const struct kar_object *new KAR_UNUSED)
{
	struct kar_controller *c = arg;
	struct kar_iter it = kar_store_all(c->stores->queuejobs);
	const struct kar_object *o;

	while (kar_iter_next(&it, &o))
		enqueue_named(c, c->stores->priorityclasses, o);
}

/* Jobs of @ns whose pods a quota may limit; one that is over makes no more of them. */
static void enqueue_limited(struct kar_controller *c, const char *ns)
{
	struct kar_iter it = kar_store_by_index(c->stores->queuejobs, KAR_QUEUEJOB_BY_NAMESPACE, ns);
	const struct kar_object *o;

	while (kar_iter_next(&it, &o)) {
		if (!kar_qj_phase_terminal(kar_as_queuejob(o)->status.phase))
			enqueue_named(c, c->stores->resourcequotas, o);
	}
}

/* That more is used, or less, is told by the pods. */
static void on_resourcequota(void *arg, const struct kar_object *o, const struct kar_object *n)
{
	const struct kar_resourcequota *old = o ? kar_as_resourcequota(o) : NULL;
	const struct kar_resourcequota *new = n ? kar_as_resourcequota(n) : NULL;
	struct kar_controller *c = arg;

	assert(o || n);
	if (!kar_store_synced(c->stores->resourcequotas))
		return; /* no job has looked at it yet */

	const char *ns = (n ? n : o)->ns;

	if (!old || !new || old->limits_pods != new->limits_pods || old->pods != new->pods)
		enqueue_limited(c, ns);
	if (c->line && (!old || !new || old->enforced != new->enforced))
		kar_quota_line_wake(c->line, ns);
}

static void start(struct kar_controller *c)
{
	kar_store_listen(c->stores->queuejobs, on_job, c);
	kar_store_listen(c->stores->podgroups, on_podgroup, c);
	kar_store_listen(c->stores->schedulingspecs, on_schedulingspec, c);
	kar_store_listen(c->stores->services, on_service, c);
	kar_store_listen(c->stores->pods, on_pod, c);
	kar_store_listen(c->stores->priorityclasses, on_priorityclass, c);
	kar_store_listen(c->stores->resourcequotas, on_resourcequota, c);
}

/* --- one job ------------------------------------------------------------------------------------- */

static bool caught_up(const struct kar_controller *c, const char *key)
{
	const struct kar_stores *s = c->stores;

	return kar_barrier_passed(c->barrier, key, s->queuejobs) &&
		kar_barrier_passed(c->barrier, key, s->pods) &&
		kar_barrier_passed(c->barrier, key, s->podgroups) &&
		kar_barrier_passed(c->barrier, key, s->services) &&
		kar_barrier_passed(c->barrier, key, s->schedulingspecs);
}

static void find_job(struct kar_sync *s)
{
	char buf[KAR_KEY_LEN];
	const char *ns, *name;

	kar_key_split(s->key, buf, &ns, &name);
	s->object = kar_object_ref(kar_store_get(s->controller->stores->queuejobs, ns, name));
	if (s->object)
		s->generation = kar_as_queuejob(s->object)->generation;
}

/*
 * Are our pods older than those that the recorded status was made from? It may be another manager's, which has died since, or
 * does not know yet that it leads no more. With older pods a gang that has formed would look broken, and a loss that was
 * counted and forgotten like a new one. A version that is later than the status itself is nobody's.
 */
static bool pods_are_behind(const struct kar_sync *s)
{
	kar_rv have = kar_store_rv(s->controller->stores->pods);
	kar_rv need = s->object ? kar_as_queuejob(s->object)->status.pods_version : 0;

	return have && have < need && need < s->object->rv;
}

static int32_t count_live(const struct queuejob_view *v)
{
	int32_t n = 0;

	for (size_t i = 0; i < v->n_pods; i++)
		n += !kar_pod_finished(v->pods[i]);
	return n;
}

/* Its TTL was over, the API server has deleted it, and the event that tells so is on its way. */
static bool is_deleted(const struct kar_sync *s)
{
	return s->object && s->state->deleted_uid == kar_hash_str(1, s->object->uid) &&
		!kar_as_queuejob(s->object)->deletion;
}

/* How it waits for nodes, as its plan says: others may wait for the same. */
static void line_up(const struct kar_controller *c, struct kar_sync *s, const struct queuejob_view *v)
{
	struct kar_rank rank = { 0 };

	if (v->job)
		rank = queuejob_node_rank(v);
	if (c->nodes)
		s->state->nodes =
			kar_node_line_move(c->nodes, s->state->nodes, s->key, &rank, &s->plan, s->mono);
}

static bool sync(struct kar_controller *c, struct kar_sync *s)
{
	struct queuejob_view view;

	if (!caught_up(c, s->key)) {
		kar_plan_requeue(&s->plan, BARRIER_RETRY);
		return false;
	}
	find_job(s);
	if (pods_are_behind(s) || is_deleted(s)) {
		kar_plan_requeue(&s->plan, BARRIER_RETRY);
		return false;
	}
	if (!queuejob_observe(c->stores, s, &s->arena, &view))
		return false;
	s->pods = count_live(&view);
	s->objects = view.n_pods + view.n_orphans;
	view.schedule_timeout_seconds = (int32_t)(c->settings->schedule_timeout / KAR_SECOND);
	queuejob_decide(&view, s->now, &s->plan);
	line_up(c, s, &view);
	if (!kar_plan_has(&s->plan, QUEUEJOB_CREATE_POD))
		kar_pod_stencil_drop(&s->state->stencil);
	if (kar_plan_has(&s->plan, QUEUEJOB_CHECK_OWNER)) {
		s->state->owner_asked = s->mono;
		s->state->owner_asked_pods = kar_store_rv(c->stores->pods);
	}
	return true;
}

/*
 * A plan may wait for its turn for long. Its creates go out only for the job as it was: not one that has been edited,
 * deleted, or replaced by another of the same name since.
 */
static bool still_wanted(const struct kar_sync *s, const struct kar_action *a)
{
	const struct kar_object *o;
	const struct kar_queuejob *planned, *job;

	if (!s->object)
		return true;
	planned = kar_as_queuejob(s->object);
	o = kar_store_get(s->controller->stores->queuejobs, s->object->ns, s->object->name);
	if (!o || !kar_same(o->uid, s->object->uid))
		return false;
	job = kar_as_queuejob(o);
	if (a->verb != KAR_CREATE && a->what != QUEUEJOB_DELETE_JOB)
		return true;
	return !job->deletion && job->generation == planned->generation;
}

struct wire_head {
	struct kar_wire_object head;
};
static const struct kar_field head_fields[] = { KAR_WIRE_HEAD_FIELDS(struct wire_head) };
static const struct kar_desc head_desc = KAR_DESC("QueueJob", struct wire_head, head_fields);

/* Does the API server's answer show the very job of @s, alive? */
static bool shows_alive(const struct kar_sync *s, const struct kar_answer *answer)
{
	struct kar_arena arena = { 0 };
	struct wire_head w = { 0 };
	bool alive = kar_document_decode(&arena, &head_desc, answer->body, &w, NULL) == 0 &&
		kar_same(w.head.meta.uid, s->object->uid) && !w.head.meta.deletion;

	kar_arena_release(&arena);
	return alive;
}

/* "requests.nvidia.com/gpu" is what a container asks for as "nvidia.com/gpu". */
static const char *as_in_containers(const char *resource)
{
	static const char *const prefixes[] = { "requests.", "limits." };

	for (size_t i = 0; i < KAR_LEN(prefixes); i++) {
		size_t n = strlen(prefixes[i]);

		if (strncmp(resource, prefixes[i], n) == 0)
			return resource + n;
	}
	return resource;
}

/* Does the text of a template of @job name @resource anywhere? */
static bool names(const struct kar_queuejob *job, const char *resource)
{
	char quoted[KAR_KEY_LEN];
	size_t n = (size_t)snprintf(quoted, sizeof(quoted), "\"%s\"", resource);

	for (size_t i = 0; i < job->spec.n_tasks; i++) {
		struct kar_str raw = job->spec.tasks[i].template_raw;

		if (memmem(raw.p, raw.n, quoted, n))
			return true;
	}
	return false;
}

static bool has_scopes(const struct kar_sync *s, const char *quota)
{
	const struct kar_object *o = quota[0] && s->object
		? kar_store_get(s->controller->stores->resourcequotas, s->object->ns, quota)
		: NULL;

	return o && kar_as_resourcequota(o)->scoped;
}

/*
 * Every pod is charged as a pod, and must ask for cpu and memory where these are limited. Of other resources its templates know,
 * unless somebody puts a default in: then it is refused, and waits from there on. Whom a quota with scopes holds for is not
 * known; it finds out as well.
 */
static bool may_need(const struct kar_sync *s, const char *quota, const char *resource)
{
	static const char *const always[] = { "", "pods", "count/pods", "cpu", "memory" };
	const char *name = as_in_containers(resource);

	if (!s->object || has_scopes(s, quota))
		return false;
	return kar_same_any(name, always, KAR_LEN(always)) || names(kar_as_queuejob(s->object), name);
}

static void remember_service(const struct kar_sync *s, const char *uid)
{
	struct queuejob_memory *m = queuejob_remember(s);

	strlcpy(m->service, uid, sizeof(m->service));
}

static void refused(const struct kar_sync *s, const struct kar_action *a, const struct kar_err *err)
{
	if (!s->object)
		return;
	if (a->what == QUEUEJOB_LABEL_SERVICE)
		remember_service(s, a->uid); /* to find it once more would look like a success */
	if (a->what != QUEUEJOB_CREATE_POD)
		return;
	if (!a->dry_run && err->what != KAR_INVALID) /* which refusal.h remembers */
		return;
	queuejob_note_refused(queuejob_remember(s), a->payload, s->generation, err, s->mono);
	kar_workqueue_add(s->controller->queue, s->key);
}

static void passed(const struct kar_sync *s, const struct kar_action *a)
{
	struct queuejob_memory *m = a->dry_run ? queuejob_remember(s) : queuejob_recall(s);
	const struct queuejob_new_pod *pod = a->payload;

	if (m)
		queuejob_note_passed(m, pod->task);
	if (a->dry_run)
		kar_workqueue_add(s->controller->queue, s->key);
}

/* One that exists, but was not in the cache: perhaps it has lost the label by which it is found. */
static void found_service(const struct kar_sync *s, const struct kar_answer *answer)
{
	if (answer->status != HTTP_OK)
		return;
	remember_service(s, answer->uid);
	kar_workqueue_add(s->controller->queue, s->key); /* no event tells of it */
}

static void wrote(const struct kar_sync *s, const struct kar_action *a, const struct kar_answer *answer)
{
	const struct kar_queuejob_status *status = s->plan.status;
	int32_t incarnation;
	uint64_t uid;

	if (!s->object)
		return; /* the job is gone */
	if (a && a->what == QUEUEJOB_DELETE_JOB)
		s->state->deleted_uid = kar_hash_str(1, s->object->uid);
	if (a && a->what == QUEUEJOB_CREATE_POD)
		passed(s, a);
	if (a && a->what == QUEUEJOB_CREATE_SERVICE)
		found_service(s, answer);
	if (a && a->what != QUEUEJOB_CHECK_OWNER)
		return;
	uid = kar_hash_str(1, s->object->uid);
	incarnation = a ? *(const int32_t *)a->payload : status->incarnation;
	if (!a && s->state->owner_checked == incarnation && s->state->owner_uid == uid)
		return;
	if (!shows_alive(s, answer))
		return;
	if (a && answer->rv != s->object->rv)
		return; /* alive, but perhaps suspended or finished since: the event that tells is on its way */
	if (a) {
		s->state->owner_latest = answer->rv;
		s->state->owner_latest_pods = s->state->owner_asked_pods;
	}
	s->state->owner_checked = incarnation;
	s->state->owner_uid = uid;
}

void kar_queuejob_controller(struct kar_controller *c)
{
	c->name = "queuejob";
	c->start = start;
	c->sync = sync;
	c->encode = queuejob_encode;
	c->encode_status = queuejob_encode_status;
	c->still_wanted = still_wanted;
	c->may_need = may_need;
	c->has_scopes = has_scopes;
	c->refused = refused;
	c->wrote = wrote;
	c->forget = queuejob_forget;
}
