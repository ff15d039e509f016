/* SchedulingSpec and PodGroup: one of each per job, under its name, for its whole life. And a Service, if it is wanted. */
#include "controllers/queuejob/round.h"

#include "api/keep.h"

static const kar_time ORPHAN_RETRY = 5 * KAR_SECOND;

#define WAITING_MESSAGE "waiting for queue %s to admit the job"

static bool is_own(const struct queuejob_round *r, const char *owner_uid)
{
	return kar_same(owner_uid, r->job->o.uid);
}

const struct kar_podgroup *queuejob_own_group(const struct queuejob_round *r)
{
	const struct kar_podgroup *g = r->v->group;

	return g && !g->deletion && is_own(r, g->owner_uid) ? g : NULL;
}

struct kar_action *queuejob_child_action(struct queuejob_round *r, enum kar_verb verb,
	const struct kar_type *type, int what, const char *uid)
{
	struct kar_action *a = kar_plan_add(r->p, verb, type, kar_keep(r->arena, r->job->o.ns),
		kar_keep_text(r->arena, r->job->o.name));

	a->what = what;
	a->uid = kar_keep(r->arena, uid);
	a->patch_type = KAR_PATCH_JSON;
	return a;
}

/*
 * What a former job of the name left when it was deleted with propagationPolicy Orphan; a user does not even know of it. A
 * group keeps its admission: its place in the queue is taken already. Also what somebody has taken away from this job. A
 * job which is just being orphaned must not take back what it lets go: it has not started, or what is known of it is
 * newer than the child without owner, and says nothing of a deletion.
 */
static bool adopts(const struct queuejob_round *r, const struct queuejob_child *c)
{
	bool started = r->seen->phase != KAR_QJ_PHASE_NONE && r->seen->phase != KAR_QJ_PHASE_PENDING;

	return c->orphan && (!started || r->v->jobs_version > c->o->rv);
}

static void adopt(struct queuejob_round *r, const struct kar_object *o)
{
	struct kar_action *a = queuejob_child_action(r, KAR_PATCH, o->type, QUEUEJOB_ADOPT, o->uid);

	a->patch_type = KAR_PATCH_MERGE;
	a->rv = o->rv;
	a->note = "adopt";
}

/* Somebody else's object, or an old one of ours that is still on its way out, has the name. */
static void say_conflict(struct queuejob_round *r, const char *what, bool own)
{
	if (own)
		queuejob_say(r, kar_reason_NameConflict, "waiting for the deleted %s %s to be gone", what,
			r->job->o.name);
	else
		queuejob_say(r, kar_reason_NameConflict,
			"a %s %s exists already and is not controlled by this job; waiting for the name",
			what, r->job->o.name);
}

bool queuejob_claim_child(struct queuejob_round *r, const struct queuejob_child *c)
{
	bool own = is_own(r, c->owner_uid);

	if (!c->deletion && adopts(r, c)) {
		adopt(r, c->o);
		return false;
	}
	if (!c->deletion && c->orphan) /* a bookmark tells how new the job is, and wakes up nobody */
		kar_plan_requeue(r->p, ORPHAN_RETRY);
	if (c->deletion || !own)
		say_conflict(r, c->o->type->res.kind, own);
	return own && !c->deletion;
}

/* What the job asks for; of the minimum, what of it holds now, as in the PodGroup. */
static struct kar_schedspec wanted_spec(const struct queuejob_round *r)
{
	struct kar_schedspec want = r->job->spec.sched;

	want.min_available = r->min;
	want.has_min_available = true;
	return want;
}

static void put_spec(struct queuejob_round *r, const struct kar_schedulingspec *s,
	const struct kar_schedspec *want)
{
	struct kar_schedspec *payload = kar_arena_alloc(r->arena, 1, sizeof(*payload));
	struct kar_action *a = queuejob_child_action(r, s ? KAR_PATCH : KAR_CREATE, &kar_schedulingspec_type,
		s ? QUEUEJOB_PATCH_SCHEDULINGSPEC : QUEUEJOB_CREATE_SCHEDULINGSPEC, s ? s->o.uid : NULL);

	*payload = kar_schedspec_copy(want, r->arena);
	a->payload = payload;
	a->note = kar_arena_printf(r->arena, "minAvailable=%d", (int)want->min_available);
}

static bool keep_schedulingspec(struct queuejob_round *r)
{
	const struct kar_schedulingspec *s = r->v->sched;
	const struct kar_schedspec want = wanted_spec(r);

	if (!s) {
		queuejob_tell_refusal(r);
		put_spec(r, NULL, &want);
		return false;
	}

	const struct queuejob_child child = {
		.o = &s->o,
		.owner_uid = s->owner_uid,
		.orphan = s->orphan,
		.deletion = s->deletion,
	};

	if (!queuejob_claim_child(r, &child))
		return false;
	if (!kar_schedspec_equal(&s->spec, &want))
		put_spec(r, s, &want);
	return true;
}

static struct kar_podgroup_spec wanted_group(const struct queuejob_round *r)
{
	const struct kar_queuejob_spec *s = &r->job->spec;
	bool own_timeout = s->sched.has_schedule_timeout;

	return (struct kar_podgroup_spec){
		.queue = s->queue,
		.priority_class_name = s->sched.priority_class_name,
		.priority = r->v->priority,
		.has_priority = true,
		.has_succeeded_members = true,
		.schedule_timeout_seconds =
			own_timeout ? s->sched.schedule_timeout_seconds : r->v->schedule_timeout_seconds,
		.has_schedule_timeout = own_timeout || r->v->schedule_timeout_seconds > 0,
	};
}

/* An older CRD of ours knows all fields but this one, which is asked for only together with minMember. */
static void ask_for_succeeded_members(const struct kar_podgroup_spec *have, bool pruned,
	struct kar_podgroup_spec *want)
{
	if (have->has_succeeded_members || (!pruned && want->min_member != have->min_member))
		return;
	want->succeeded_members = have->succeeded_members;
	want->has_succeeded_members = false;
}

/*
 * What the group should be, given what it is: resources belong to others. A CRD of another origin prunes our
 * additions; then they are not asked for again and again.
 */
static struct kar_podgroup_spec corrected_group(const struct queuejob_round *r,
	const struct kar_podgroup_spec *have)
{
	struct kar_podgroup_spec want = wanted_group(r);
	bool pruned = !have->queue && !have->has_priority && !have->priority_class_name;

	if (!r->job->spec.sched
			.has_schedule_timeout) { /* another default than the one of its creation changes nothing */
		want.schedule_timeout_seconds = have->schedule_timeout_seconds;
		want.has_schedule_timeout = have->has_schedule_timeout;
	}
	want.min_resources = have->min_resources;
	want.total_resources = have->total_resources;
	queuejob_put_min_member(r, have, &want);
	ask_for_succeeded_members(have, pruned, &want);
	if (pruned) {
		want.queue = NULL;
		want.priority_class_name = NULL;
		want.has_priority = false;
		want.priority = have->priority;
	} else if (r->v->priority_class_missing) {
		want.priority =
			have->priority; /* a class that was deleted does not change a job that has its number */
		want.has_priority = have->has_priority;
	}
	return want;
}

static void put_group(struct queuejob_round *r, const struct kar_podgroup *g,
	const struct kar_podgroup_spec *want)
{
	struct kar_podgroup_spec *payload = kar_arena_alloc(r->arena, 1, sizeof(*payload));
	struct kar_action *a = queuejob_child_action(r, g ? KAR_PATCH : KAR_CREATE, &kar_podgroup_type,
		g ? QUEUEJOB_PATCH_PODGROUP : QUEUEJOB_CREATE_PODGROUP, g ? g->o.uid : NULL);

	*payload = *want;
	payload->queue = kar_keep(r->arena, want->queue);
	payload->priority_class_name = kar_keep(r->arena, want->priority_class_name);
	payload->min_resources = kar_keep_pairs(r->arena, &want->min_resources);
	payload->total_resources = kar_keep_pairs(r->arena, &want->total_resources);
	a->payload = payload;
	a->note = kar_arena_printf(r->arena, "minMember=%d%s queue=%s priority=%d", (int)want->min_member,
		want->succeeded_members ? kar_arena_printf(r->arena, "+%d", (int)want->succeeded_members)
					: "",
		want->queue ? want->queue : "-", (int)want->priority);
}

static bool keep_group(struct queuejob_round *r)
{
	const struct kar_podgroup *g = r->v->group;
	struct kar_podgroup_spec want;

	if (!g) {
		queuejob_tell_refusal(r);
		want = wanted_group(r);
		queuejob_put_min_member(r, &want, &want);
		put_group(r, NULL, &want);
		return false;
	}

	const struct queuejob_child child = {
		.o = &g->o,
		.owner_uid = g->owner_uid,
		.orphan = g->orphan,
		.deletion = g->deletion,
	};

	if (!queuejob_claim_child(r, &child))
		return false;
	want = corrected_group(r, &g->spec);
	if (!kar_podgroup_spec_equal(&g->spec, &want))
		put_group(r, g, &want);
	return true;
}

/* Hands the queue's words on: why the job waits, and at which position. */
static bool mirror_admission(struct queuejob_round *r)
{
	const struct kar_podgroup *g = queuejob_own_group(r);
	const struct kar_condition *c = g ? kar_condition_find(&g->status.conditions, KAR_PG_ADMITTED) : NULL;
	bool admitted = c && c->status == KAR_COND_TRUE;
	const char *queue = r->job->spec.queue;

	if (admitted) {
		r->st.position = 0;
		queuejob_set_condition(r, KAR_QJ_ADMITTED, true, kar_reason_Admitted, "admitted by queue %s",
			queue);
		return true;
	}
	r->st.position = g ? g->status.position : 0;
	if (c && c->status == KAR_COND_FALSE && c->reason[0]) {
		queuejob_say(r, kar_keep_text(r->arena, c->reason), "%s", c->message);
		queuejob_set_condition(r, KAR_QJ_ADMITTED, false, kar_keep_text(r->arena, c->reason), "%s",
			c->message);
		return false;
	}
	queuejob_say(r, kar_reason_WaitingForAdmission, WAITING_MESSAGE, queue);
	if (!kar_condition_is_true(&r->seen->conditions, KAR_QJ_ADMITTED))
		queuejob_set_condition(r, KAR_QJ_ADMITTED, false, kar_reason_WaitingForAdmission,
			WAITING_MESSAGE, queue);
	return false;
}

bool queuejob_repair_children(struct queuejob_round *r)
{
	bool valid = queuejob_is_valid(r);
	/* What runs, or has run, keeps its place in the queue, whatever is edited. */
	bool wanted = valid || r->seen->incarnation > 0;
	bool ready = false;

	if (wanted && r->v->priority_class_missing && !r->v->group) {
		queuejob_say(r, kar_reason_PriorityClassNotFound,
			"there is no PriorityClass %s; waiting for it",
			r->job->spec.sched.priority_class_name);
	} else if (wanted) {
		bool has_spec = keep_schedulingspec(r);

		bool has_group = keep_group(r);

		ready = valid && queuejob_keep_service(r) && has_group && has_spec;
	}
	return ready;
}

bool queuejob_keep_children(struct queuejob_round *r)
{
	size_t before = r->p->n_actions;
	bool ready = queuejob_repair_children(r);

	r->p->unfinished = !ready && r->p->n_actions > before; /* the pods come after what is done now */
	return mirror_admission(r) && ready && !r->unchecked;
}
