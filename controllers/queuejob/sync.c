/* The shell of the QueueJob reconciler: observes one job, lets decide.c decide, and remembers the answers to its writes. */
#include "controllers/controllers.h"

#include "common/base/str.h"
#include "api/names.h"
#include "api/pod/pod_renderer.h"
#include "api/pod/pod_wire.h"
#include "api/queuejob/queuejob_direct.h"
#include "api/types.h"
#include "common/base/log.h"
#include "common/kube/request.h"
#include "controllers/podset/podset.h"
#include "controllers/kar_metrics.h"
#include "controllers/queuejob/encode.h"
#include "controllers/queuejob/journal.h"
#include "controllers/queuejob/memory.h"
#include "controllers/queuejob/observe.h"
#include "controllers/queuejob/queuejob.h"
#include "controllers/queuejob/watch.h"

enum {
	BARRIER_RETRY = 500, /* ms; the awaited event normally enqueues the key earlier */
};

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
 * Is our cache of pods older than the pods that the recorded status was derived from? Another manager may have written that status
 * from a newer cache: one that has died since, or does not know yet that it lost the lease. With older pods a formed gang would seem
 * broken, and a loss that was counted and dropped from the record would count again. A recorded version later than the status itself
 * cannot be true, so it is ignored.
 */
static bool pods_are_behind(const struct kar_sync *s)
{
	kar_rv have = kar_store_rv(s->controller->stores->pods);
	kar_rv need = s->object ? kar_as_queuejob(s->object)->status.record.pods_version : 0;

	return have && have < need && need < s->object->rv;
}

static int32_t count_unfinished(const struct queuejob_view *v)
{
	int32_t n = 0;

	for (size_t i = 0; i < v->n_pods; i++)
		n += !kar_pod_finished(v->pods[i]);
	return n;
}

/* A sync visits every index of a job, whether or not its pod exists. */
static size_t count_objects(const struct queuejob_view *v)
{
	size_t replicas = v->job ? (size_t)kar_queuejob_total(&v->job->spec) : 0,
	       pods = v->n_pods + v->n_orphans;

	replicas = replicas < KAR_QJ_MAX_PODS ? replicas : KAR_QJ_MAX_PODS;
	return pods > replicas ? pods : replicas;
}

/* We have deleted the job after its TTL, and the cache does not show that yet. */
static bool is_deleted(const struct kar_sync *s)
{
	return s->object && queuejob_key(s)->deleted_uid == kar_hash_str(1, s->object->uid) &&
		!kar_as_queuejob(s->object)->deletion;
}

/* Observing must not change anything, so this goes before it. */
static void refresh_memory(const struct kar_controller *c, const struct kar_sync *s)
{
	if (!s->object)
		return;
	queuejob_refresh_memory(s,
		queuejob_waits(c->stores, s) || queuejob_is_asked(c->stores->templates, s));
	queuejob_import_verdicts(c->stores->templates, s);
}

static void report_old_crd(const struct kar_sync *s)
{
	struct queuejob_shared *shared = queuejob_shared(s->controller);

	if (!shared->old_crd_reported)
		kar_error(
			KAR_MSG("The API server drops a field of the status of QueueJobs: their "
				"CustomResourceDefinition is of another version; kubectl apply -f manifests/crds/ of "
				"this version"),
			KAR_S("key", s->key));
	shared->old_crd_reported = true;
}

/*
 * Our last status write made the version in the cache, and yet its status does not match its digest: the API server dropped a
 * field. Until the CRD is replaced, such a job is decided about only now and then. Returns the ms until then, 0: now.
 */
static kar_time waits_for_crd(const struct kar_sync *s)
{
	const struct queuejob_key *key = queuejob_key(s);
	kar_time left = key->status_written + KAR_UNREADABLE_RETRY - s->mono;

	if (!s->object || !kar_as_queuejob(s->object)->status.edited || key->status_rv != s->object->rv)
		return 0;
	report_old_crd(s);
	return left > 0 && !kar_as_queuejob(s->object)->deletion ? left : 0;
}

/* A write that changes nothing causes no event, so the next sync compares the version of its answer with the cache. */
static void note_status_written(const struct kar_sync *s, const struct kar_answer *answer)
{
	const struct kar_queuejob_status *recorded = &kar_as_queuejob(s->object)->status;

	queuejob_count_written(s->controller->metrics, recorded, s->plan.status);
	queuejob_key(s)->status_rv = answer->rv;
	queuejob_key(s)->status_written = s->mono;
	if (recorded->edited)
		kar_workqueue_add(s->controller->queue, s->key);
}

/* Other jobs with these templates wait for the answer to a dry run. Of the pods that are created one a minute is shown: the others are like it. */
static void note_asked(const struct kar_controller *c, struct kar_sync *s)
{
	struct kar_template *e = NULL;
	size_t task = 0;

	for (size_t i = 0; i < s->plan.n_actions; i++) {
		struct kar_action *a = &s->plan.actions[i];
		const struct queuejob_new_pod *pod = a->payload;

		if (a->what != QUEUEJOB_CREATE_POD)
			continue;
		if (!e || task != pod->task)
			e = kar_templates_of(c->stores->templates, queuejob_of(s), pod->task, s->mono);
		task = pod->task;
		if (a->dry_run)
			e->asked = s->mono;
		else
			a->whole_answer = kar_template_wants_pod(e, s->mono);
	}
}

/* The pods that the queue allows; INT32_MAX: any number. */
static int32_t allowed_by(const struct kar_podgroup *g)
{
	return g && g->status.has_desired ? g->status.desired : INT32_MAX;
}

static bool sync(struct kar_controller *c, struct kar_sync *s)
{
	struct queuejob_view view;
	kar_time crd;

	if (!caught_up(c, s->key)) {
		kar_plan_requeue(&s->plan, BARRIER_RETRY);
		return false;
	}
	find_job(s);
	if (pods_are_behind(s) || is_deleted(s)) {
		kar_plan_requeue(&s->plan, BARRIER_RETRY);
		return false;
	}
	refresh_memory(c, s);
	if (!queuejob_observe(c->stores, s, &s->arena, &view))
		return false;
	crd = waits_for_crd(s);
	if (crd || queuejob_view_is_unreadable(&view)) {
		kar_plan_requeue(&s->plan, crd ? crd : KAR_UNREADABLE_RETRY);
		return false;
	}
	s->live = count_unfinished(&view);
	s->objects = count_objects(&view);
	view.native.type = c->settings->native.type;
	view.native.again = kar_native_interval(c->settings);
	view.native.lost = kar_native_is_lost(c->settings);
	view.schedule_timeout_seconds = (int32_t)(c->settings->schedule_timeout / KAR_SECOND);
	if (view.job) {
		const char *served = kar_settings_served(c->settings);

		view.direct = kar_queuejob_is_direct(view.job, served);
		view.obstacle = kar_queuejob_direct_obstacle(view.job, served, &s->arena);
	}
	s->plan.priority = queuejob_priority(&view);
	queuejob_key(s)->allowed = allowed_by(view.group);
	queuejob_decide(&view, s->now, &s->plan);
	if (!kar_plan_has(&s->plan, QUEUEJOB_CREATE_POD))
		kar_pod_renderer_drop(&queuejob_key(s)->renderer);
	note_asked(c, s);
	if (kar_plan_has(&s->plan, QUEUEJOB_PATCH_NATIVE)) { /* until the answer: it may be gone */
		queuejob_key(s)->native_uid = 0;
		kar_plan_requeue(&s->plan, KAR_SECOND);
	}
	if (kar_plan_has(&s->plan, QUEUEJOB_CHECK_OWNER)) {
		queuejob_key(s)->owner_asked = s->mono;
		queuejob_key(s)->owner_asked_pods = kar_store_rv(c->stores->pods);
	}
	return true;
}

/* Extras may wait long for their turn. Meanwhile the queue may have taken back what it allowed. */
static bool is_still_allowed(const struct kar_sync *s)
{
	const struct kar_object *o =
		kar_store_get(s->controller->stores->podgroups, s->object->ns, s->object->name);

	return allowed_by(o ? kar_as_podgroup(o) : NULL) >= queuejob_key(s)->allowed;
}

/*
 * A plan may wait long for its turn. Meanwhile the job may have been edited or deleted, or another job may have got its name; then
 * the creates of the plan must not be sent any more.
 */
static bool still_wanted(const struct kar_sync *s, const struct kar_action *a)
{
	const struct kar_object *o;
	const struct kar_queuejob *planned, *job;

	if (!s->object)
		return true;
	planned = kar_as_queuejob(s->object);
	o = kar_store_get(s->controller->stores->queuejobs, s->object->ns, s->object->name);
	if (!o || !kar_streq(o->uid, s->object->uid))
		return false;
	job = kar_as_queuejob(o);
	if (a->verb != KAR_CREATE && a->what != QUEUEJOB_DELETE_JOB)
		return true;
	if (a->rank.tier == KAR_TIER_EXTRA && !is_still_allowed(s))
		return false;
	return !job->deletion && job->generation == planned->generation;
}

struct wire_head {
	struct kar_wire_object head;
};
static const struct kar_field head_fields[] = { KAR_WIRE_HEAD_FIELDS(struct wire_head) };
static const struct kar_desc head_desc = KAR_DESC("QueueJob", struct wire_head, head_fields);

/* Does the API server's answer show the job of @s (the same UID), and that it is not being deleted? */
static bool shows_alive(const struct kar_sync *s, const struct kar_answer *answer)
{
	struct kar_arena arena = { 0 };
	struct wire_head w = { 0 };
	bool alive = kar_document_decode(&arena, &head_desc, answer->body, &w, NULL) == 0 &&
		kar_streq(w.head.meta.uid, s->object->uid) && !w.head.meta.deletion;

	kar_arena_release(&arena);
	return alive;
}

static void refused(const struct kar_sync *s, const struct kar_action *a, const struct kar_err *err)
{
	if (a->what == PODSET_DISRUPT)
		queuejob_key(s)->mark_refused = s->mono;
	if (!s->object || a->what != QUEUEJOB_CREATE_POD)
		return;
	if (a->dry_run || err->what == KAR_INVALID) /* else the create back-off remembers this refusal */
		queuejob_remember_refused(queuejob_remember(s), a->payload, s->generation, err, s->mono);
	queuejob_share_answer(s->controller->stores->templates, s, a->payload, err, NULL);
	if (!a->dry_run && err->what != KAR_INVALID)
		return;
	kar_workqueue_add(s->controller->queue, s->key);
}

/* How the pod that @answer shows is stored, in @arena; false: it shows the metadata only. */
static bool read_stored(const struct kar_answer *answer, struct kar_arena *arena, struct kar_pod_stored *out)
{
	struct pod_wire w = { 0 };

	if (!answer->body.n || kar_document_decode(arena, kar_pod_type.wire, answer->body, &w, NULL) ||
		!w.spec.containers.n)
		return false;
	*out = kar_pod_stored_of(&w, arena);
	return true;
}

static bool asks_for(const struct kar_queuejob *job, size_t task, const char *label)
{
	const struct kar_pod_needs *own = job->spec.tasks[task].needs;
	bool asks = kar_pairs_get(&job->spec.sched.node_selector, label) != NULL;

	for (uint32_t i = 0; own && i < own->n_selector; i++)
		asks |= kar_streq(own->selector[i].key, label);
	return asks;
}

/* Pods of the same template, of any job, go to other domains. */
static const struct kar_pod_needs *outside_of_domain(const struct kar_pod_needs *needs,
	const struct kar_queuejob *job, const struct queuejob_new_pod *pod, struct kar_arena *a)
{
	struct kar_pod_needs *out = kar_arena_alloc(a, 1, sizeof(*out));
	struct kar_sched_label *left = kar_arena_alloc(a, needs->n_selector + 1, sizeof(*left));

	*out = *needs;
	out->n_selector = 0;
	for (uint32_t i = 0; i < needs->n_selector; i++) {
		const char *label = needs->selector[i].key;

		if (!kar_pairs_get(&pod->domain, label) ||
			(pod->task < job->spec.n_tasks && asks_for(job, pod->task, label)))
			left[out->n_selector++] = needs->selector[i];
	}
	out->selector = left;
	return out;
}

static void share_acceptance(const struct kar_sync *s, const struct queuejob_new_pod *pod,
	const struct kar_answer *answer)
{
	struct kar_arena arena = { 0 };
	struct kar_pod_stored stored;
	bool shown = read_stored(answer, &arena, &stored);

	if (shown && (pod->flavor.labels.n || kar_has_text(pod->flavor.tolerations)))
		stored.needs = NULL; /* they are more than those of the template */
	if (shown && stored.needs && pod->domain.n)
		stored.needs = outside_of_domain(stored.needs, kar_as_queuejob(s->object), pod, &arena);
	queuejob_share_answer(s->controller->stores->templates, s, pod, NULL, shown ? &stored : NULL);
	kar_arena_release(&arena);
}

static void passed(const struct kar_sync *s, const struct kar_action *a, const struct kar_answer *answer)
{
	struct queuejob_memory *m = a->dry_run ? queuejob_remember(s) : queuejob_recall(s);
	const struct queuejob_new_pod *pod = a->payload;

	share_acceptance(s, pod, answer);
	if (m)
		queuejob_remember_passed(m, pod->task);
	if (a->dry_run)
		kar_workqueue_add(s->controller->queue, s->key);
}

/* One that existed before the create may have another minCount. */
static void note_native_written(const struct kar_sync *s, const struct kar_action *a,
	const struct kar_answer *answer)
{
	enum { HTTP_CREATED = 201 };
	const struct kar_native_spec *spec = a->payload;
	bool known = a->verb == KAR_PATCH || answer->status == HTTP_CREATED;

	queuejob_key(s)->native_uid = kar_hash_str(1, s->object->uid);
	queuejob_key(s)->native_min = known ? spec->min_count : 0;
	kar_workqueue_add(s->controller->queue, s->key);
}

static void wrote(const struct kar_sync *s, const struct kar_action *a, const struct kar_answer *answer)
{
	const struct kar_queuejob_status *status = s->plan.status;
	int32_t incarnation;
	uint64_t uid;

	kar_count_write(s, a);
	if (!s->object)
		return; /* the job is gone */
	if (!a)
		note_status_written(s, answer);
	if (a && a->what == QUEUEJOB_DELETE_JOB)
		queuejob_key(s)->deleted_uid = kar_hash_str(1, s->object->uid);
	if (a && a->what == QUEUEJOB_CREATE_POD)
		passed(s, a, answer);
	if (a && (a->what == QUEUEJOB_CREATE_NATIVE || a->what == QUEUEJOB_PATCH_NATIVE))
		note_native_written(s, a, answer);
	if (a && a->what != QUEUEJOB_CHECK_OWNER)
		return;
	uid = kar_hash_str(1, s->object->uid);
	incarnation = a ? *(const int32_t *)a->payload : status->incarnation;
	if (!a && queuejob_key(s)->owner_checked == incarnation && queuejob_key(s)->owner_uid == uid)
		return;
	if (!shows_alive(s, answer))
		return;
	if (a && answer->rv != s->object->rv)
		return; /* the job has changed since the plan; its event enqueues the key again */
	if (a) {
		queuejob_key(s)->owner_latest = answer->rv;
		queuejob_key(s)->owner_latest_pods = queuejob_key(s)->owner_asked_pods;
	}
	queuejob_key(s)->owner_checked = incarnation;
	queuejob_key(s)->owner_uid = uid;
}

void kar_queuejob_controller(struct kar_controller *c)
{
	c->name = "queuejob";
	c->start = queuejob_watch;
	c->sync = sync;
	c->encode = queuejob_encode;
	c->encode_status = queuejob_encode_status;
	c->still_wanted = still_wanted;
	c->memory_size = sizeof(struct queuejob_key);
	c->stop = queuejob_unwatch;
	c->refused = refused;
	c->wrote = wrote;
	c->forget = queuejob_forget;
}
