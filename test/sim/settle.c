/* The end of a run: nothing moves any more, and what is said agrees with what is there. */
#include <string.h>

#include "api/names.h"
#include "api/status/intervals.h"
#include "api/status/reasons.h"
#include "common/base/mem.h"
#include "common/base/str.h"
#include "test/sim/rules.h"
#include "test/sim/world.h"

/* Longer than any pod runs and any back-off, deadline or TTL of a plan lasts. */
static const kar_time QUIET = 30 * KAR_MINUTE, AT_MOST = 24 * 60 * KAR_MINUTE;

/* --- quiescence ---------------------------------------------------------------------------------------- */

/* What is due at a time that a wrong clock has recorded, or was computed by one, comes as much later. */
static bool is_quiet(const struct world *w)
{
	kar_time quiet = sim_timeline_mono(w->timeline) - w->model->last_write;

	return quiet >= QUIET + 2 * w->model->worst_clock;
}

static bool wait_until_quiet(struct world *w)
{
	kar_time began = world_time(w);

	while (!is_quiet(w)) {
		if (world_time(w) - began > AT_MOST) {
			model_break(w->model, "convergence",
				"something still moves %lld h after all became calm",
				(long long)(AT_MOST / (60 * KAR_MINUTE)));
			return false;
		}
		if (!world_run(w, world_time(w) + KAR_MINUTE))
			return false;
	}
	return true;
}

/* --- the recount of one job ---------------------------------------------------------------------------- */

struct recount {
	struct world *w;
	const struct sim_value *job;
	struct model_job *known;
	const char *ns, *name;
	enum kar_qj_phase phase;
	int objects, pending, running, terminating, succeeded, missing, blocked;
	int unbound;  /* live pods without a node */
	int held;     /* ended pods with our finalizer */
	int of_tasks; /* live pods that the status counts in its tasks */
	int in_place; /* restarts of containers of live pods with restartPolicy OnFailure */
};

static void wrong(const struct recount *r, const char *what, int said, int found)
{
	model_break(r->w->model, "recount", "job %s/%s, phase %s: status says %s %d, there are %d", r->ns,
		r->name, kar_qj_phase_name(r->phase), what, said, found);
}

/* As batch/v1 Job counts: of pods that are pending or running, in place. */
static int restarts_in_place(const struct sim_value *pod)
{
	static const char *const lists[] = { "initContainerStatuses", "containerStatuses" };
	int n = 0;

	if (!kar_streq(sim_text(sim_get(pod, "spec", "restartPolicy")), "OnFailure"))
		return 0;
	for (size_t i = 0; i < KAR_LEN(lists); i++) {
		const struct sim_value *list = sim_get(pod, "status", lists[i]);

		for (size_t k = 0; k < sim_count(list); k++)
			n += (int)sim_int_of(sim_member(sim_item(list, k), "restartCount"), 0);
	}
	return n;
}

static void count_pod(struct recount *r, const struct sim_value *pod)
{
	const char *phase = sim_text_or(sim_get(pod, "status", "phase"), "Pending");
	bool deleting = sim_get(pod, "metadata", "deletionTimestamp") != NULL;
	bool ended = strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0;

	r->objects++;
	r->terminating += deleting;
	r->pending += !deleting && strcmp(phase, "Pending") == 0;
	r->running += !deleting && strcmp(phase, "Running") == 0;
	r->unbound += !deleting && !ended && !sim_get(pod, "spec", "nodeName");
	r->held += ended && model_has_finalizer(pod, KAR_FINALIZER_POD_TRACKING);
	r->in_place += deleting || ended ? 0 : restarts_in_place(pod);
}

static void count_pods(struct recount *r)
{
	const struct model_pod *p;

	TAILQ_FOREACH(p, &r->known->pods, of_job) {
		const struct sim_value *pod = sim_apiserver_peek(r->w->server, "", "pods", p->ns, p->name);
		const char *owner = model_owner(pod);

		if (owner && strcmp(owner, r->known->uid) == 0)
			count_pod(r, pod);
	}
}

static bool is_own(const struct recount *r, const struct sim_value *pod)
{
	const char *owner = model_owner(pod);

	return owner && strcmp(owner, r->known->uid) == 0;
}

/* Does nothing keep the index from being created? */
static bool is_missing(struct recount *r, const char *task, int index, const struct kar_intervals *done)
{
	char name[MODEL_NAME * 2];
	const struct sim_value *pod;

	if (kar_intervals_has(done, index)) {
		r->succeeded++;
		return false;
	}
	snprintf(name, sizeof(name), "%s-%s-%d", r->name, task, index);
	pod = sim_apiserver_peek(r->w->server, "", "pods", r->ns, name);
	if (!pod)
		return true;
	if (!is_own(r, pod)) {
		r->blocked++;
		return false;
	}
	return strcmp(sim_text_or(sim_get(pod, "status", "phase"), ""), "Failed") == 0;
}

/* What the queue holds back is missing, but not missed. */
static void count_task(struct recount *r, const struct sim_value *t, struct kar_arena *arena)
{
	const char *name = sim_text_or(sim_member(t, "name"), "");
	const struct model_task *known = model_find_task(r->known, name);
	int replicas = known ? known->replicas.now : 0, missing = 0;
	struct kar_intervals done = { 0 };

	r->of_tasks +=
		(int)sim_int_of(sim_member(t, "pending"), 0) + (int)sim_int_of(sim_member(t, "running"), 0);
	(void)kar_intervals_parse(sim_text_or(sim_member(t, "succeededIndexes"), ""), arena, &done);
	for (int k = 0; k < replicas; k++)
		missing += is_missing(r, name, k, &done);
	missing -= replicas - (int)sim_int_of(sim_member(t, "desired"), 0);
	if (missing > 0 && !rules_task_waits(r->job, name))
		r->missing += missing;
}

static void count_indexes(struct recount *r)
{
	const struct sim_value *tasks = sim_get(r->job, "status", "tasks");
	struct kar_arena arena = { 0 };

	for (size_t i = 0; i < sim_count(tasks); i++)
		count_task(r, sim_item(tasks, i), &arena);
	kar_arena_release(&arena);
}

static int said(const struct recount *r, const char *field)
{
	return (int)sim_get_int(r->job, 0, "status", field);
}

static void check_counts(const struct recount *r)
{
	if (said(r, "replicas") != r->objects)
		wrong(r, "replicas", said(r, "replicas"), r->objects);
	else if (said(r, "pending") != r->pending)
		wrong(r, "pending", said(r, "pending"), r->pending);
	else if (said(r, "running") != r->running)
		wrong(r, "running", said(r, "running"), r->running);
	else if (said(r, "terminating") != r->terminating)
		wrong(r, "terminating", said(r, "terminating"), r->terminating);
	else if (!kar_qj_phase_terminal(r->phase) && said(r, "succeeded") != r->succeeded)
		wrong(r, "succeeded", said(r, "succeeded"), r->succeeded);
	else if (r->of_tasks > r->pending + r->running) /* fewer if an edit has removed a task */
		wrong(r, "live pods of tasks", r->of_tasks, r->pending + r->running);
	else if (r->held)
		wrong(r, "ended pods that are held by our finalizer", 0, r->held);
	else if (r->terminating)
		wrong(r, "pods that do not go away", 0, r->terminating);
}

static void strange_phase(const struct recount *r, const char *why)
{
	model_break(r->w->model, "phase",
		"job %s/%s rests in phase %s, but %s (%d pending, %d running, %d succeeded, %d missing)",
		r->ns, r->name, kar_qj_phase_name(r->phase), why, r->pending, r->running, r->succeeded,
		r->missing);
}

/* Pods of a former job of the name run on, on the account of the queue that admitted that one. Or somebody has moved its group by hand. */
static bool is_on_another_account(const struct recount *r)
{
	const struct sim_value *group =
		sim_apiserver_peek(r->w->server, "scheduling.x-k8s.io", "podgroups", r->ns, r->name);
	const char *by = group ? sim_text_or(sim_get(group, "status", "admittedQueue"), "") : "";

	return by[0] && !kar_streq(by, sim_text_or(sim_get(r->job, "status", "queue"), ""));
}

/*
 * It waits before it starts (again): for room, or for the end of its back-off. While it starts it does so too, without pods: if it is
 * deactivated, or if somebody deleted its PodGroup and the new one finds no room.
 */
static bool rests(const struct recount *r)
{
	bool before_start = r->phase == KAR_QJ_PHASE_PENDING || r->phase == KAR_QJ_PHASE_RESTARTING;
	const char *reason = sim_get_text(r->job, "status", "reason");
	bool stopped =
		kar_streq(reason, kar_reason_Deactivated) || (rules_is_for_room(reason) && !r->pending);

	/* After an attempt that has failed it is not placed before a name that somebody else has is free. */
	if (r->blocked && !r->pending && !r->running &&
		(before_start ? kar_streq(reason, kar_reason_BackOff)
			      : !model_is_admitted(model_group(r->w->model, r->known))))
		return true;
	if (is_on_another_account(r))
		return true;
	return (before_start || ((stopped || rules_is_direct(r->job)) && !r->running)) &&
		rules_waits_for_places(r->w->model, r->known);
}

/*
 * A minimum that an edit has raised is created all or none, and somebody else's pod has one of its names; or templates were edited since, and
 * wait for their queue while those of the former ones run on: no pod of these is created any more. That also holds for a gang whose first
 * forming nobody has recorded, because the manager died, before its minimum was raised.
 */
static bool cannot_begin(const struct recount *r)
{
	const struct sim_value *edit =
		model_condition(model_group(r->w->model, r->known), KAR_PG_TEMPLATES_ADMITTED);

	bool edit_waits = kar_streq(sim_text(sim_member(edit, "status")), "False");

	return (rules_is_raised(r->job) && (r->blocked || edit_waits)) || (edit_waits && r->running);
}

static void check_gang(const struct recount *r)
{
	int quorum = said(r, "minAvailable") > 0 ? said(r, "minAvailable") : 1;
	bool formed = r->running + r->succeeded >= quorum;
	/* It has run, and a task that has started since cannot: its pods find no node, or its names are taken. */
	bool grows = r->known->ordered &&
		(int)sim_get_int(r->job, 0, "status", "record", "formedMinAvailable") == 0;

	if (r->missing && !model_is_invalid(r->job) && !cannot_begin(r) && !rests(r) &&
		!rules_waits_with_extras(r->w->model, r->known, r->job))
		strange_phase(r, "pods are missing");
	else if (r->in_place && r->in_place >= (int)sim_get_int(r->job, 6, "spec", "backoffLimit"))
		strange_phase(r, "its containers have restarted too often");
	else if (r->phase == KAR_QJ_PHASE_RUNNING && !formed && !grows && said(r, "minAvailable") > 0)
		strange_phase(r, "it has no quorum");
}

static void check_phase(const struct recount *r)
{
	bool suspend = sim_bool_of(sim_get(r->job, "spec", "suspend"), false);
	int live = r->pending + r->running;

	if (sim_get(r->job, "metadata", "deletionTimestamp"))
		strange_phase(r, "it is being deleted");
	else if (kar_qj_phase_terminal(r->phase) && live)
		strange_phase(r, "pods live");
	else if (kar_qj_phase_terminal(r->phase) || r->known->total == 0)
		return; /* a job that asks for no pods waits */
	else if (suspend != (r->phase == KAR_QJ_PHASE_SUSPENDED))
		strange_phase(r, suspend ? "spec.suspend is true" : "spec.suspend is false");
	else if (suspend && live)
		strange_phase(r, "pods live");
	else if (!suspend && r->phase != KAR_QJ_PHASE_STARTING && r->phase != KAR_QJ_PHASE_RUNNING &&
		!model_is_invalid(r->job) && !rests(r))
		strange_phase(r, "nothing stands in its way");
	else if (!suspend)
		check_gang(r);
	if (rests(r))
		rules_check_room_at_rest(r->w->model, r->known, r->job);
	if (r->phase != KAR_QJ_PHASE_STARTING && r->phase != KAR_QJ_PHASE_RUNNING)
		return;
	rules_check_order_at_rest(r->w->model, r->known, r->job);
	rules_check_pods_at_rest(r->w->model, r->known, r->job);
	rules_check_limit_at_rest(r->w->model, r->known, r->job, live);
}

/* Whoever edits what the job owns gets it back as the job has it, as long as the job is at work, or has been. */
static void check_child(const struct recount *r, const char *group, const char *resource, const char *member,
	const struct sim_value *wanted)
{
	const struct sim_value *child = sim_apiserver_peek(r->w->server, group, resource, r->ns, r->name);
	const struct sim_value *found = sim_get(child, "spec", member);
	const char *uid = model_owner(child);

	if (!uid || strcmp(uid, r->known->uid) != 0)
		model_break(r->w->model, "children", "job %s/%s, phase %s, has none of its %s", r->ns,
			r->name, kar_qj_phase_name(r->phase), resource);
	else if (found != wanted && (!found || !wanted || !sim_equal(found, wanted)))
		model_break(r->w->model, "children", "%s of %s/%s has an edited %s, which nobody repairs",
			resource, r->ns, r->name, member);
}

/* How much of the quorum a gang scheduler waits for, which does not see pods that have ended. */
static void check_min_member(const struct recount *r)
{
	const struct sim_value *group =
		sim_apiserver_peek(r->w->server, KAR_PODGROUP_GROUP, "podgroups", r->ns, r->name);
	int quorum = rules_quorum(r->known, r->job), done = rules_done(r->known, r->job);
	int base = quorum > 1 ? quorum : 1, left = rules_minimum_left(r->known, r->job);
	/* A group that somebody else has made may not say it. */
	int unsaid = base - (int)sim_get_int(group, base, "spec", "minMember");
	int left_out = (int)sim_get_int(group, unsaid > 0 ? unsaid : 0, "spec", "succeededMembers");
	struct sim_value *members = sim_int(base - left_out);
	int room = base - (left > 1 ? left : 1), most = done < room ? done : room;

	check_child(r, KAR_PODGROUP_GROUP, "podgroups", "minMember", members);
	sim_unref(members);
	if (left_out > most || (r->unbound && left_out < most))
		model_break(r->w->model, "min-member",
			"job %s/%s: %d members have succeeded, minMember leaves %d of them out, and %d pods have no node",
			r->ns, r->name, done, left_out, r->unbound);
}

static void check_min_available(const struct recount *r)
{
	struct sim_value *quorum = sim_int(rules_quorum(r->known, r->job));

	check_child(r, KAR_GROUP, "schedulingspecs", "minAvailable", quorum);
	sim_unref(quorum);
}

static void check_children(const struct recount *r)
{
	const struct sim_value *spec = sim_get(r->job, "spec", "schedSpec");
	bool paused = r->phase == KAR_QJ_PHASE_SUSPENDED && said(r, "incarnation") > 0;

	if (r->phase == KAR_QJ_PHASE_STARTING || r->phase == KAR_QJ_PHASE_RUNNING || paused) {
		check_min_member(r);
		check_child(r, KAR_PODGROUP_GROUP, "podgroups", "queue",
			sim_get(r->job, sim_get(r->job, "spec", "queue") ? "spec" : "status", "queue"));
		check_min_available(r);
		check_child(r, KAR_GROUP, "schedulingspecs", "priorityClassName",
			sim_member(spec, "priorityClassName"));
	}
}

static void check_generation(const struct recount *r)
{
	int64_t is = sim_get_int(r->job, 0, "metadata", "generation"), seen = said(r, "observedGeneration");

	if (is != seen)
		wrong(r, "observedGeneration", (int)seen, (int)is);
}

static void check_job(void *arg, const struct sim_value *job)
{
	struct recount r = { .w = arg, .job = job, .phase = model_phase(job) };

	r.ns = sim_text_or(sim_get(job, "metadata", "namespace"), "");
	r.name = sim_text_or(sim_get(job, "metadata", "name"), "");
	r.known = model_find_job(r.w->model, sim_text_or(sim_get(job, "metadata", "uid"), ""));
	if (!r.known || r.w->model->broken)
		return;
	count_pods(&r);
	count_indexes(&r);
	check_phase(&r);
	check_counts(&r);
	check_children(&r);
	if (!kar_qj_phase_terminal(r.phase) && r.phase != KAR_QJ_PHASE_SUSPENDED)
		rules_check_service_at_rest(r.w->model, r.known, job);
	check_generation(&r);
}

/* --- leaks --------------------------------------------------------------------------------------------- */

static bool is_hostile(const struct sim_value *object)
{
	return model_is_hostile(sim_get_text(object, "metadata", "namespace"));
}

static void check_owned(void *arg, const struct sim_value *object)
{
	struct world *w = arg;
	const char *uid = model_owner(object);
	const struct model_job *j = uid ? model_find_job(w->model, uid) : NULL;

	if (uid && (!j || j->gone) && !is_hostile(object))
		model_break(w->model, "leak", "%s %s/%s is left over from a job that is gone",
			sim_text_or(sim_member(object, "kind"), ""),
			sim_text_or(sim_get(object, "metadata", "namespace"), ""),
			sim_text_or(sim_get(object, "metadata", "name"), ""));
}

static void check_tracked(void *arg, const struct sim_value *pod)
{
	struct world *w = arg;

	check_owned(arg, pod);
	if (!is_hostile(pod) && !model_owner(pod) && sim_get(pod, "metadata", "deletionTimestamp") &&
		model_has_finalizer(pod, KAR_FINALIZER_POD_TRACKING))
		model_break(w->model, "leak", "pod %s/%s is held by our finalizer, but has no owner",
			sim_text_or(sim_get(pod, "metadata", "namespace"), ""),
			sim_text_or(sim_get(pod, "metadata", "name"), ""));
}

static void check_group(void *arg, const struct sim_value *group)
{
	struct world *w = arg;

	check_owned(arg, group);
	rules_check_admission_at_rest(w->model, group);
	rules_check_group_at_rest(w->model, group);
	if (model_is_of_others(sim_get_text(group, "metadata", "namespace")))
		rules_check_gang_at_rest(w->model, group);
}

static void check_queue(void *arg, const struct sim_value *queue)
{
	struct world *w = arg;

	rules_check_queue_at_rest(w->model, queue);
}

bool world_settle(struct world *w)
{
	if (!wait_until_quiet(w))
		return false;
	process_check_reader(&w->processes[0]);
	sim_apiserver_each(w->server, KAR_GROUP, "queuejobs", check_job, w);
	sim_apiserver_each(w->server, "", "pods", check_tracked, w);
	sim_apiserver_each(w->server, KAR_PODGROUP_GROUP, "podgroups", check_group, w);
	sim_apiserver_each(w->server, KAR_GROUP, "queues", check_queue, w);
	if (w->plan->shares)
		rules_check_shares_at_rest(w->model, w->plan);
	sim_apiserver_each(w->server, KAR_GROUP, "schedulingspecs", check_owned, w);
	sim_apiserver_each(w->server, "", "services", check_owned, w);
	return !w->model->broken;
}
