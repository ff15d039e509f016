/*
 * The children of a job: a SchedulingSpec, a PodGroup and, if the spec asks for it, a Service. They have the name of the job and
 * live as long as it.
 *
 * A gang scheduler waits for PodGroup.spec.minMember pods before it binds one of them. It does not count pods that have ended, so
 * minMember must leave out succeeded ones, or a second stage, a resumed job and a replacement would wait without end. minMember
 * changes only while a pod is missing, or waits for a node; otherwise each success would cost a write (docs/decisions/020).
 */
#include "controllers/queuejob/reconcile.h"

#include "api/copy.h"
#include "common/base/str.h"

/* --- minMember ---------------------------------------------------------------------------------------- */

/* The input of minMember. */
struct need {
	int32_t done;     /* succeeded pods of started tasks */
	int32_t recorded; /* those of them that the status records, or will with this plan */
	bool waits;       /* a pod is to be created, or has no node yet */
};

static void count_task(const struct queuejob_reconcile *r, const struct podset_task *t, struct need *n)
{
	for (int32_t i = 0; i < t->n; i++) {
		const struct podset_slot *s = &t->slots[i];
		bool done = s->state == PODSET_DONE;

		n->done += done;
		n->recorded += done && (s->recorded || !s->pod || r->want.starts_tasks);
		n->waits |= (s->state == PODSET_MISSING && !queuejob_is_scaled_down(r, s)) ||
			(s->state == PODSET_PENDING && !s->pod->node);
	}
}

/* A CRD without succeededMembers prunes the number; then it follows from minMember. */
static int32_t left_out_before(const struct queuejob_reconcile *r, const struct kar_podgroup_spec *have)
{
	int32_t n = have->succeeded_members;

	if (!have->has_succeeded_members && have->min_member > 0)
		n = r->want.min - have->min_member;
	return n > 0 ? n : 0;
}

static void put_min_member(struct queuejob_reconcile *r, const struct kar_podgroup_spec *have,
	struct kar_podgroup_spec *want)
{
	int32_t quorum = r->want.min > 1 ? r->want.min : 1; /* the schema's minimum */
	int32_t left = queuejob_minimum_left(r), most = quorum - (left > 1 ? left : 1);
	int32_t before = left_out_before(r, have), left_out;
	struct need n = { 0 };

	for (size_t i = 0; i < r->f->pods.n_tasks && r->f->pods.done; i++) {
		if (r->want.tasks[i].started)
			count_task(r, &r->f->pods.tasks[i], &n);
	}
	n.waits &= r->st.phase != KAR_QJ_PHASE_SUSPENDED;
	/* Recorded successes change at most once a second, as the status does, and so does minMember. */
	left_out = n.waits && before < n.recorded ? n.recorded : before;
	left_out = left_out < n.done ? left_out : n.done;
	left_out = left_out < most ? left_out : most;
	left_out = left_out > 0 ? left_out : 0;
	want->min_member = quorum - left_out;
	want->succeeded_members = left_out;
	r->min_member = want->min_member;
}

/* --- SchedulingSpec and PodGroup ---------------------------------------------------------------------- */

static const kar_time ORPHAN_RETRY = 5 * KAR_SECOND;

#define WAITING_MESSAGE "waiting for queue %s to admit the job"

static bool is_own(const struct queuejob_reconcile *r, const char *owner_uid)
{
	return kar_streq(owner_uid, r->f->job->o.uid);
}

struct kar_action *queuejob_child_action(struct queuejob_reconcile *r, enum kar_verb verb,
	const struct kar_type *type, int what, const char *uid)
{
	struct kar_action *a = kar_plan_add(r->p, verb, type, kar_copy(r->arena, r->f->job->o.ns),
		kar_copy_text(r->arena, r->f->job->o.name));

	a->what = what;
	a->uid = kar_copy(r->arena, uid);
	a->patch_type = KAR_PATCH_JSON;
	return a;
}

/*
 * Adopts a child without owner: one that a former job of this name left when it was deleted with propagationPolicy Orphan, or
 * one whose ownerReference was removed by hand. An adopted PodGroup keeps its admission if it is for the queue of the job.
 *
 * A job that is just being deleted with Orphan must not adopt the children that the garbage collector frees. So either the job has
 * not started, or the cache has it at a version that is newer than the child, and shows no deletion.
 */
static bool adopts(const struct queuejob_reconcile *r, const struct queuejob_child *c)
{
	bool started = r->f->seen->phase != KAR_QJ_PHASE_NONE && r->f->seen->phase != KAR_QJ_PHASE_PENDING;

	return c->orphan && (!started || r->f->v->jobs_version > c->o->rv);
}

static void adopt(struct queuejob_reconcile *r, const struct kar_object *o)
{
	struct kar_action *a = queuejob_child_action(r, KAR_PATCH, o->type, QUEUEJOB_ADOPT, o->uid);

	a->patch_type = KAR_PATCH_MERGE;
	a->rv = o->rv;
	a->note = "adopt";
}

/* Of a job that had the name before: the garbage collector deletes what it owned. */
static bool is_of_former_job(const struct queuejob_reconcile *r, const struct queuejob_child *c)
{
	return kar_streq(c->owner, kar_arena_printf(r->arena, "QueueJob %s", r->f->job->o.name));
}

/* The name is taken by an object of another owner, or by one that is being deleted. */
static void report_conflict(struct queuejob_reconcile *r, const struct queuejob_child *c)
{
	const char *what = c->o->type->res.kind, *name = r->f->job->o.name;

	if (r->reported)
		return;
	if (c->deletion)
		queuejob_report(r, kar_reason_NameConflict, "waiting until the deleted %s %s is gone", what,
			name);
	else if (c->orphan)
		queuejob_report(r, kar_reason_NameConflict,
			"%s %s exists and has no owner; waiting to adopt it", what, name);
	else if (is_of_former_job(r, c))
		queuejob_report(r, kar_reason_NameConflict,
			"%s %s exists and belongs to a former %s; waiting until it is deleted", what, name,
			c->owner);
	else if (c->owner)
		queuejob_report(r, kar_reason_NameConflict,
			"%s %s exists and belongs to %s; rename the job, or delete what has the name. The job goes on by itself "
			"then.",
			what, name, c->owner);
	else
		queuejob_report(r, kar_reason_NameConflict,
			"%s %s exists and was not made for this job (no owner); delete it, or rename the job. The job goes on by "
			"itself then.",
			what, name);
	if (!c->deletion && !c->orphan) /* else it goes on soon */
		queuejob_warn(r, kar_reason_NameConflict, "CreateChildren");
}

bool queuejob_claim_child(struct queuejob_reconcile *r, const struct queuejob_child *c)
{
	bool own = is_own(r, c->owner_uid);

	if (!c->deletion && adopts(r, c)) {
		adopt(r, c->o);
		return false;
	}
	if (!c->deletion && c->orphan) /* a bookmark makes the job newer, but triggers no sync */
		kar_plan_requeue(r->p, ORPHAN_RETRY);
	if (c->deletion || !own)
		report_conflict(r, c);
	return own && !c->deletion;
}

/* The spec of the job, with the quorum of the tasks that have started, as in the PodGroup. */
static struct kar_schedspec wanted_spec(const struct queuejob_reconcile *r)
{
	struct kar_schedspec want = r->f->job->spec.sched;

	want.min_available = r->want.min;
	want.has_min_available = true;
	return want;
}

static void put_spec(struct queuejob_reconcile *r, const struct kar_schedulingspec *s,
	const struct kar_schedspec *want)
{
	struct kar_schedspec *payload = kar_arena_alloc(r->arena, 1, sizeof(*payload));
	struct kar_action *a = queuejob_child_action(r, s ? KAR_PATCH : KAR_CREATE, &kar_schedulingspec_type,
		s ? QUEUEJOB_PATCH_SCHEDULINGSPEC : QUEUEJOB_CREATE_SCHEDULINGSPEC, s ? s->o.uid : NULL);

	*payload = kar_schedspec_copy(want, r->arena);
	a->payload = payload;
	a->note = kar_arena_printf(r->arena, "minAvailable=%d", (int)want->min_available);
}

static bool keep_schedulingspec(struct queuejob_reconcile *r)
{
	const struct kar_schedulingspec *s = r->f->v->sched;
	const struct kar_schedspec want = wanted_spec(r);

	if (!s) {
		queuejob_report_refusal(r);
		put_spec(r, NULL, &want);
		return false;
	}

	const struct queuejob_child child = {
		.o = &s->o,
		.owner_uid = s->owner_uid,
		.owner = s->owner,
		.orphan = s->orphan,
		.deletion = s->deletion,
	};

	if (!queuejob_claim_child(r, &child))
		return false;
	if (!kar_schedspec_equal(&s->spec, &want))
		put_spec(r, s, &want);
	return true;
}

/* 0 is the default, as in a PodGroup. */
static bool has_own_timeout(const struct kar_queuejob_spec *s)
{
	return s->sched.has_schedule_timeout && s->sched.schedule_timeout_seconds > 0;
}

static struct kar_podgroup_spec wanted_group(const struct queuejob_reconcile *r)
{
	const struct kar_queuejob_spec *s = &r->f->job->spec;
	bool own_timeout = has_own_timeout(s);

	return (struct kar_podgroup_spec){
		.queue = kar_queue_may_be_called(r->f->v->queue) ? r->f->v->queue
								 : NULL, /* else no group could say it */
		.priority_class_name = r->f->v->priority_class,
		.priority = r->f->v->priority,
		.has_priority = true,
		.has_succeeded_members = true,
		.topology = s->sched.topology,
		.schedule_timeout_seconds =
			own_timeout ? s->sched.schedule_timeout_seconds : r->f->v->schedule_timeout_seconds,
		.has_schedule_timeout = own_timeout || r->f->v->schedule_timeout_seconds > 0,
	};
}

/*
 * An older CRD of ours prunes only succeededMembers. So that its absence alone does not cause a patch in every sync, the field is
 * set only in a patch that changes minMember. A group with admittedQueue, which the CRD got later, is from a CRD that has
 * succeededMembers: there the field is only missing because the group was adopted.
 */
static void omit_succeeded_members(const struct kar_podgroup *g, bool pruned, struct kar_podgroup_spec *want)
{
	const struct kar_podgroup_spec *have = &g->spec;

	if (have->has_succeeded_members ||
		(!pruned && (kar_has_text(g->status.admitted_queue) || want->min_member != have->min_member)))
		return;
	want->succeeded_members = have->succeeded_members;
	want->has_succeeded_members = false;
}

/* A CRD of another project prunes our fields. Without this check each sync would set them again. */
static bool is_pruned(const struct kar_podgroup *g)
{
	const struct kar_podgroup_spec *have = &g->spec;

	return g->pruned ||
		(!have->queue && !have->has_priority && !have->priority_class_name &&
			!g->status.has_position);
}

/* The spec that the group should have. Resources are written by other clients, so they stay as they are. */
static struct kar_podgroup_spec corrected_group(struct queuejob_reconcile *r, const struct kar_podgroup *g)
{
	const struct kar_podgroup_spec *have = &g->spec;
	struct kar_podgroup_spec want = wanted_group(r);
	bool pruned = is_pruned(g);

	if (!has_own_timeout(&r->f->job->spec)) { /* a new default does not change an existing group */
		want.schedule_timeout_seconds = have->schedule_timeout_seconds;
		want.has_schedule_timeout = have->has_schedule_timeout;
	}
	want.min_resources = have->min_resources;
	want.has_min_resources = have->has_min_resources;
	want.total_resources = have->total_resources;
	put_min_member(r, have, &want);
	omit_succeeded_members(g, pruned, &want);
	/* The CRD allows no other queue, only none: remove it now, and set the new one in the next sync. */
	if (pruned || (kar_has_text(have->queue) && !kar_streq(have->queue, want.queue)))
		want.queue = NULL;
	if (pruned) {
		want.topology = have->topology;
		want.priority_class_name = NULL;
		want.has_priority = false;
		want.priority = have->priority;
	} else if (r->f->v->priority_class_missing) {
		want.priority = have->priority; /* keep the value of a class that was deleted */
		want.has_priority = have->has_priority;
	}
	return want;
}

static void put_group(struct queuejob_reconcile *r, const struct kar_podgroup *g,
	const struct kar_podgroup_spec *want)
{
	struct kar_podgroup_spec *payload = kar_arena_alloc(r->arena, 1, sizeof(*payload));
	struct kar_action *a = queuejob_child_action(r, g ? KAR_PATCH : KAR_CREATE, &kar_podgroup_type,
		g ? QUEUEJOB_PATCH_PODGROUP : QUEUEJOB_CREATE_PODGROUP, g ? g->o.uid : NULL);

	*payload = *want;
	payload->queue = kar_copy(r->arena, want->queue);
	payload->priority_class_name = kar_copy(r->arena, want->priority_class_name);
	payload->topology = kar_topology_ask_copy(&want->topology, r->arena);
	payload->min_resources = kar_copy_pairs(r->arena, &want->min_resources);
	payload->total_resources = kar_copy_pairs(r->arena, &want->total_resources);
	a->payload = payload;
	a->note = kar_arena_printf(r->arena, "minMember=%d%s queue=%s priority=%d", (int)want->min_member,
		want->succeeded_members ? kar_arena_printf(r->arena, "+%d", (int)want->succeeded_members)
					: "",
		want->queue ? want->queue : "-", (int)want->priority);
}

static bool keep_group(struct queuejob_reconcile *r)
{
	const struct kar_podgroup *g = r->f->v->group;
	struct kar_podgroup_spec want;

	if (!g) {
		queuejob_report_refusal(r);
		want = wanted_group(r);
		put_min_member(r, &want, &want);
		put_group(r, NULL, &want);
		return false;
	}

	const struct queuejob_child child = {
		.o = &g->o,
		.owner_uid = g->owner_uid,
		.owner = g->owner,
		.orphan = g->orphan,
		.deletion = g->deletion,
	};

	if (!queuejob_claim_child(r, &child))
		return false;
	want = corrected_group(r, g);
	if (!kar_podgroup_spec_equal(&g->spec, &want))
		put_group(r, g, &want);
	return true;
}

/* Without a PodGroup: a class that is deleted later changes nothing. */
static bool lacks_priority_class(const struct queuejob_reconcile *r)
{
	return r->f->v->priority_class_missing && !r->f->v->group;
}

/*
 * Who moved the group by hand had it admitted by another queue. What runs stays on the account of that one until its pods are gone (asked.h),
 * so lost pods are replaced, and the job may grow. A group that a former job of the name has left has no pods of this one.
 */
static bool runs_in_another_queue(const struct queuejob_reconcile *r, const struct kar_podgroup *g)
{
	return queuejob_has_gang(r->f->seen->phase) && r->f->pods.objects &&
		kar_condition_is_true(&g->status.conditions, KAR_PG_ADMITTED);
}

static void report_admitted(struct queuejob_reconcile *r, const char *by)
{
	int32_t asked = r->f->v->priority, counts = queuejob_priority(r->f->v);
	const char *clamped =
		asked > counts ? kar_arena_printf(r->arena, "; " KAR_QUEUE_CLAMPED, asked, counts) : "";

	queuejob_set_condition(r, KAR_QJ_ADMITTED, true, kar_reason_Admitted, "admitted by queue %s%s%s", by,
		kar_streq(by, r->f->v->queue)
			? ""
			: kar_arena_printf(r->arena, "; " KAR_QUEUE_MOVES, r->f->v->queue),
		clamped);
}

static void wait_for_admission(struct queuejob_reconcile *r, const char *reason, const char *message)
{
	queuejob_report(r, reason, "%s", message);
	queuejob_set_condition(r, KAR_QJ_ADMITTED, false, reason, "%s", message);
}

/* True if the job does not wait in its queue, whatever the PodGroup still says: the status shows no position then. */
static bool is_not_queued(struct queuejob_reconcile *r)
{
	if (kar_condition_is_true(&r->st.conditions, KAR_QJ_INVALID) && !r->f->pods.objects)
		wait_for_admission(r, kar_reason_JobInvalid, KAR_NOT_QUEUED_INVALID);
	else if (r->f->v->priority_class_missing)
		wait_for_admission(r, kar_reason_PriorityClassNotFound,
			kar_arena_printf(r->arena, KAR_NOT_QUEUED_CLASS, r->f->v->missing_class));
	else
		return false;
	r->st.position = 0;
	return true;
}

/* A group that was made anew counts from 0. The job goes on counting. */
static void mirror_eviction(struct queuejob_reconcile *r, const struct kar_podgroup *g)
{
	const struct kar_eviction *last = &g->status.last_eviction;
	const struct kar_condition *c = kar_condition_find(&g->status.conditions, KAR_PG_PREEMPTED);

	if (last->time > r->f->seen->last_eviction.time) {
		int32_t next = r->f->seen->evictions < INT32_MAX ? r->f->seen->evictions + 1 : INT32_MAX;

		r->st.evictions = next > g->status.evictions ? next : g->status.evictions;
		r->st.last_eviction = (struct kar_eviction){ .time = last->time,
			.reason = kar_copy_text(r->arena, last->reason),
			.by = kar_copy_text(r->arena, last->by),
			.queue = kar_copy_text(r->arena, last->queue) };
	}
	if (c)
		queuejob_set_condition(r, KAR_QJ_PREEMPTED, c->status == KAR_COND_TRUE,
			kar_copy_text(r->arena, c->reason), "%s", c->message);
	else if (kar_condition_is_true(&r->f->seen->conditions, KAR_QJ_PREEMPTED) &&
		kar_podgroup_admitted_by(g, r->f->v->queue)) /* the group was made anew meanwhile */
		queuejob_set_condition(r, KAR_QJ_PREEMPTED, false, kar_reason_Admitted,
			"admitted by queue %s", r->f->v->queue);
}

/*
 * What its queue has admitted are not the pods that the job has to create now: the job was edited since, or the group was that of
 * somebody, without pods, and no pass has looked for nodes since it is ours.
 */
static bool is_of_others(const struct queuejob_reconcile *r, const struct kar_podgroup *g)
{
	bool unseen = g->status.has_position && g->status.placement.state == KAR_PG_STATE_NONE &&
		!g->status.admitted_generation;

	return kar_queuejob_waits(r->f->seen) && !r->f->v->n_pods &&
		(unseen || kar_podgroup_admission_is_old(g, r->f->job->generation));
}

/* Copies from the PodGroup why the job waits, and its position. True: it is admitted. */
static bool mirror_admission(struct queuejob_reconcile *r)
{
	const struct kar_podgroup *g = queuejob_own_group(r);
	const struct kar_condition *c = g ? kar_condition_find(&g->status.conditions, KAR_PG_ADMITTED) : NULL;
	const char *queue = r->f->v->queue;

	if (g)
		mirror_eviction(r, g);
	if (g && kar_podgroup_admitted_by(g, queue) && !is_of_others(r, g)) {
		r->st.position = 0;
		report_admitted(r, queue);
		return true;
	}
	if (g && runs_in_another_queue(r, g)) {
		r->st.position = 0;
		report_admitted(r, kar_copy_text(r->arena, g->status.admitted_queue));
		return true;
	}
	if (is_not_queued(r))
		return false;
	r->st.position = g ? g->status.position : 0;
	if (c && c->status == KAR_COND_FALSE && c->reason[0]) {
		wait_for_admission(r, kar_copy_text(r->arena, c->reason), c->message);
		return false;
	}
	queuejob_report(r, kar_reason_WaitingForAdmission, WAITING_MESSAGE, queue);
	if (!kar_condition_is_true(&r->f->seen->conditions, KAR_QJ_ADMITTED))
		queuejob_set_condition(r, KAR_QJ_ADMITTED, false, kar_reason_WaitingForAdmission,
			WAITING_MESSAGE, queue);
	return false;
}

bool queuejob_repair_children(struct queuejob_reconcile *r)
{
	bool valid = queuejob_is_valid(r);
	/* A job that has run keeps its admission, even if an edit makes it invalid. */
	bool wanted = valid || r->f->seen->incarnation > 0;
	bool ready = false;

	if (wanted && !lacks_priority_class(r)) {
		bool has_spec = keep_schedulingspec(r);

		bool has_group = keep_group(r);

		ready = valid && queuejob_keep_service(r) && has_group && has_spec;
	}
	return ready;
}

bool queuejob_keep_children(struct queuejob_reconcile *r)
{
	size_t before = r->p->n_actions;
	bool ready = queuejob_repair_children(r);

	r->p->unfinished = !ready && r->p->n_actions > before; /* pods are created by the next sync */
	return mirror_admission(r) && ready && !r->f->unchecked && !r->f->edit_waits;
}
