#include "controllers/podgroup/podgroup.h"

#include <string.h>

#include "api/names.h"
#include "api/podgroup/pg_members.h"
#include "api/status/reasons.h"
#include "common/base/str.h"
#include "common/base/text.h"
#include "controllers/podgroup/release.h"

static const kar_time too_long = 48 * 60 * KAR_MINUTE; /* without anything running: the Warning Timeout */

/* Reasons of the condition Scheduled for which there is an event too. */

/* The phase alone would lose this between a loss and the first attempt to place the replacement. */
static bool was_running(const struct kar_podgroup_status *old)
{
	return old->phase == KAR_PG_PHASE_RUNNING || old->phase == KAR_PG_PHASE_UNKNOWN ||
		old->record.quorum_lost;
}

/* The phase table of docs/design/podgroup.md, line by line. */
static enum kar_pg_phase phase_now(const struct podgroup_counts *t, bool ran)
{
	int32_t alive = t->running + t->succeeded;

	if (t->succeeded >= t->quorum && !t->active)
		return KAR_PG_PHASE_FINISHED;
	/* A replacement exists if the members that have not failed could make up the quorum. */
	if (t->failed > 0 && alive < t->quorum && t->members - t->failed < t->quorum)
		return KAR_PG_PHASE_FAILED;
	if (alive >= t->quorum)
		return KAR_PG_PHASE_RUNNING;
	if (ran && t->unschedulable.n > 0)
		return KAR_PG_PHASE_UNKNOWN;
	if (t->scheduled >= t->quorum)
		return KAR_PG_PHASE_SCHEDULED;
	return t->members >= t->quorum ? KAR_PG_PHASE_SCHEDULING : KAR_PG_PHASE_PENDING;
}

/* Why the quorum is not there, in one line: "1/3 members bound; j-2: Unschedulable". */
static const char *why_not(const struct podgroup_counts *t, struct kar_arena *a)
{
	const char *text = kar_arena_printf(a, "%d/%d members bound", t->scheduled, t->quorum);

	if (t->members < t->quorum)
		text = kar_arena_printf(a, "%s; %d/%d created", text, t->members, t->quorum);
	if (t->unschedulable.n)
		text = kar_arena_printf(a, "%s; %s: Unschedulable", text,
			podgroup_list(&t->unschedulable, a));
	if (t->failed)
		text = kar_arena_printf(a, "%s; failed: %s", text, podgroup_list(&t->losses, a));
	return text;
}

/* The new status, and what it is made from. */
struct update {
	struct kar_podgroup_status *status;
	const struct podgroup_view *v;
	const struct podgroup_counts *t;
	kar_time now;
	struct kar_plan *plan;
	struct kar_arena *arena; /* of .plan */
};

static void set_condition(const struct update *u, const char *type, bool status, const char *reason,
	const char *message)
{
	const struct kar_condition c = {
		.type = type,
		.status = status ? KAR_COND_TRUE : KAR_COND_FALSE,
		.observed_generation = u->v->group->generation,
		.reason = reason,
		.message = message,
	};

	kar_condition_set(&u->status->conditions, &c, u->now, u->arena);
}

/* Time until the wait is too long; <= 0: it is; KAR_NEVER: the group does not wait. */
static kar_time time_left(const struct update *u)
{
	const struct kar_condition *c = kar_condition_find(&u->v->group->status.conditions, KAR_PG_SCHEDULED);
	kar_time since = c && c->status == KAR_COND_FALSE ? c->last_transition : u->now;
	enum kar_pg_phase phase = u->status->phase;

	if (u->v->owner == PODGROUP_OWNER_TERMINAL || u->t->running > 0 ||
		!(phase == KAR_PG_PHASE_PENDING || phase == KAR_PG_PHASE_SCHEDULING))
		return KAR_NEVER;
	return since + too_long - u->now;
}

static bool is_scheduled(const struct update *u)
{
	return u->t->scheduled >= u->t->quorum;
}

static bool timed_out(const struct update *u)
{
	return !is_scheduled(u) && time_left(u) <= 0;
}

static bool quorum_lost(const struct update *u)
{
	return !is_scheduled(u) && !timed_out(u) && u->t->members > 0 && was_running(&u->v->group->status);
}

static const char *reason_not_scheduled(const struct update *u)
{
	if (timed_out(u))
		return kar_reason_Timeout;
	if (u->status->record.quorum_lost)
		return kar_reason_QuorumLost;
	if (u->t->members < u->t->quorum)
		return kar_reason_NotEnoughMembers;
	return u->t->unschedulable.n ? kar_reason_Unschedulable : kar_reason_Pending;
}

/* why_not() and the words of the scheduler; its numbers of nodes change all the time, so a change of nothing else is not written. */
static const char *why_not_and_who(const struct update *u, const char *type)
{
	const struct kar_condition *c = kar_condition_find(&u->v->group->status.conditions, type);
	const char *why = kar_unplaced_describe(&u->t->unplaced, u->arena), *what = why_not(u->t, u->arena);

	if (u->v->suspended && !u->v->n_pods)
		return kar_arena_printf(u->arena, "%s; %s makes its pods when its queue has admitted it",
			what, u->v->group->owner);
	if (u->v->of_others && !u->v->n_pods && !u->v->group->status.schedule_start_time)
		what = kar_arena_printf(u->arena,
			"%s; no pod names this group: its label belongs on the pod template (spec.template.metadata.labels)",
			what);
	return kar_text_steady(u->arena, what, why[0] ? kar_arena_printf(u->arena, "; %s", why) : "",
		c ? c->message : NULL);
}

/* The attempt to start the gang explains it, or what the members show. */
static void set_unscheduled(const struct update *u)
{
	const struct kar_pg_placement *pl = &u->status->placement;
	struct podgroup_text attempt = podgroup_attempt_text(pl, u->v->group, u->t, u->now, u->arena);

	if (pl->state == KAR_PG_STATE_WAITING && attempt.reason)
		kar_plan_requeue(u->plan, pl->retry_after - u->now); /* the text is out of date then */
	if (!attempt.reason)
		attempt = podgroup_gated_text(u->v, u->t, u->arena);
	if (!attempt.reason && (!u->v->of_others || (u->v->suspended && !u->v->n_pods)))
		attempt = podgroup_refused_text(u->v->group);
	if (!attempt.reason && u->t->unseen)
		attempt = (struct podgroup_text){ kar_reason_NoScheduler,
			kar_pod_describe_unseen(u->t->unseen, u->t->n_unseen, u->arena) };
	if (attempt.reason)
		set_condition(u, KAR_PG_SCHEDULED, false, timed_out(u) ? kar_reason_Timeout : attempt.reason,
			attempt.message);
	else
		set_condition(u, KAR_PG_SCHEDULED, false, reason_not_scheduled(u),
			why_not_and_who(u, KAR_PG_SCHEDULED));
}

/* Of a gang that has started: members that came later, and start together when enough of them exist. */
static const char *who_waits_for_more(const struct update *u)
{
	const int32_t waiting = u->t->waiting, wave = podgroup_wave(u->t);

	if (!u->v->of_others || !u->v->group->options.only_waiting || !waiting || waiting >= wave)
		return "";
	return kar_arena_printf(u->arena,
		"; %d of %d more exist; none of these starts before all exist (match-policy)", (int)waiting,
		(int)wave);
}

static void set_scheduled(const struct update *u)
{
	if (is_scheduled(u))
		set_condition(u, KAR_PG_SCHEDULED, true, kar_reason_Scheduled,
			kar_arena_printf(u->arena, "minMember %d reached%s", u->t->min_member,
				who_waits_for_more(u)));
	else
		set_unscheduled(u);
}

/* Of annotations of the group, and of its members. */
static const char *what_is_ignored(const struct update *u)
{
	const char *own = u->v->group->options.invalid, *of_members = u->v->ignored;

	return own && of_members ? kar_arena_printf(u->arena, "%s; %s", own, of_members)
		: own            ? own
				 : of_members;
}

static void set_options(const struct update *u)
{
	const char *invalid = what_is_ignored(u);

	if (invalid)
		set_condition(u, KAR_PG_INVALID_OPTIONS, true, kar_reason_Ignored, invalid);
	else if (kar_condition_find(&u->status->conditions, KAR_PG_INVALID_OPTIONS))
		set_condition(u, KAR_PG_INVALID_OPTIONS, false, kar_reason_Valid, "no annotation is ignored");
}

static void set_topology(const struct update *u)
{
	if (u->v->outside)
		set_condition(u, KAR_PG_TOPOLOGY_CHANGED, true, kar_reason_TopologyChanged, u->v->outside);
	else if (kar_condition_find(&u->status->conditions, KAR_PG_TOPOLOGY_CHANGED))
		set_condition(u, KAR_PG_TOPOLOGY_CHANGED, false, kar_reason_TopologyKept,
			"its nodes are in its domain");
}

/* MemberFailed, Unschedulable, InvalidOptions and TopologyChanged appear when they first become True. */
static void set_problems(const struct update *u)
{
	const struct podgroup_counts *t = u->t;
	const struct kar_conditions *conditions = &u->status->conditions;

	if (t->failed > 0 && t->running + t->succeeded >= t->quorum)
		set_condition(u, KAR_PG_MEMBER_FAILED, true, kar_reason_MemberFailed,
			kar_arena_printf(u->arena, "%d of %d members failed: %s", t->failed, t->members,
				podgroup_list(&t->losses, u->arena)));
	else if (kar_condition_find(conditions, KAR_PG_MEMBER_FAILED))
		set_condition(u, KAR_PG_MEMBER_FAILED, false, kar_reason_NoFailedMember,
			"no member has failed");
	if (t->unschedulable.n)
		set_condition(u, KAR_PG_UNSCHEDULABLE, true, kar_reason_Unschedulable,
			why_not_and_who(u, KAR_PG_UNSCHEDULABLE));
	else if (kar_condition_find(conditions, KAR_PG_UNSCHEDULABLE))
		set_condition(u, KAR_PG_UNSCHEDULABLE, false, kar_reason_Schedulable,
			"no member is unschedulable");
	set_options(u);
	set_topology(u);
}

/* Sorted, comma-joined "ns/ownerName". */
static const char *occupied_by(const struct podgroup_view *v, const struct podgroup_counts *t,
	struct kar_arena *a)
{
	const char *text = "";

	for (size_t i = 0; i < t->owners.n; i++)
		text = kar_arena_printf(a, "%s%s%s/%s", text, i ? "," : "", v->group->o.ns,
			t->owners.items[i].name);
	return text;
}

/* True on entry to Scheduling, and when one write goes from Pending past Scheduling. */
static bool starts_scheduling(enum kar_pg_phase from, enum kar_pg_phase to)
{
	if (to == KAR_PG_PHASE_SCHEDULING)
		return from != KAR_PG_PHASE_SCHEDULING;
	return from <= KAR_PG_PHASE_PENDING && (to == KAR_PG_PHASE_SCHEDULED || to == KAR_PG_PHASE_RUNNING);
}

static struct kar_podgroup_status *copy_status(const struct kar_podgroup_status *old, enum kar_pg_phase phase,
	struct kar_arena *a)
{
	struct kar_podgroup_status *s = kar_arena_alloc(a, 1, sizeof(*s));

	*s = *old;
	s->conditions = kar_conditions_copy(&old->conditions, a);
	s->phase = phase;
	return s;
}

/*
 * Are so many members stuck on their nodes, or refused by them, that the rest is below the quorum? As long as some of it do not exist, those that do may only wait
 * for them.
 */
static bool breaks_quorum(const struct podgroup_counts *t)
{
	int32_t there = t->active + t->succeeded;

	return there + t->n_refused >= t->quorum && there - t->n_stuck < t->quorum;
}

static struct kar_pg_placement next_placement(const struct update *u)
{
	const struct kar_podgroup *g = u->v->group;
	bool waves = u->v->of_others && g->options.only_waiting;
	const struct podgroup_counts wave = waves && g->status.placement.state == KAR_PG_STATE_PLACED
		? podgroup_count_wave(u->v, u->t, u->now, u->arena)
		: *u->t;
	const struct podgroup_counts *t = &wave;
	const struct podgroup_attempt a = { .v = u->v,
		.t = t,
		.wanted = u->v->owner != PODGROUP_OWNER_TERMINAL &&
			kar_condition_is_true(&u->status->conditions, KAR_PG_ADMITTED),
		.next_wave = waves && u->t->waiting >= podgroup_wave(u->t),
		.placeable = !u->v->unplaced && !t->schedulers.n,
		.unbound = podgroup_list(&t->unbound, u->arena),
		.unnamed = g->status.backend == KAR_PG_BACKEND_NATIVE ? t->unnamed : NULL,
		.stuck = breaks_quorum(t) ? t->stuck : NULL,
		.refused = breaks_quorum(t) ? t->refused : NULL,
		.timeout = kar_podgroup_timeout(g, u->v->default_timeout),
		.now = u->now };

	return podgroup_next_placement(&a, u->plan);
}

/* Of the placement as it becomes. Here no group is made RESERVING or SUSPENDED. */
static enum kar_pg_state lasting_state(const struct update *u)
{
	enum kar_pg_state state = u->status->placement.state;

	return state == u->v->group->status.placement.state ? kar_pg_lasting_state(u->v->group) : state;
}

/* It has been placed, though it may reserve or be suspended now: pods of the attempt before may be left. */
static bool has_begun(const struct update *u)
{
	const struct kar_pg_placement *p = &u->status->placement;

	return p->state != KAR_PG_STATE_NONE && (p->attempt || lasting_state(u) != KAR_PG_STATE_NONE);
}

/* The queue reconciler chooses it when it places the group, and it stays until nobody places it any more. */
static enum kar_pg_backend next_backend(const struct update *u)
{
	enum kar_pg_backend old = u->v->group->status.backend;

	if (has_begun(u) || !kar_pg_keeps_placement(u->v->group))
		return old;
	if (u->t->schedulers.n && !u->t->n_default)
		return KAR_PG_BACKEND_LABELS;
	return old == KAR_PG_BACKEND_LABELS && !u->t->active ? old : KAR_PG_BACKEND_NONE;
}

static void fill_status(const struct update *u)
{
	struct kar_podgroup_status *s = u->status;

	s->occupied_by = occupied_by(u->v, u->t, u->arena);
	s->members = u->t->members;
	s->scheduled = u->t->scheduled;
	s->running = u->t->running;
	s->succeeded = u->t->succeeded;
	s->failed = u->t->failed;
	s->record.quorum_lost = quorum_lost(u);
	s->placement = next_placement(u);
	s->backend = next_backend(u);
	if (starts_scheduling(u->v->group->status.phase, s->phase))
		s->schedule_start_time = u->now;
	set_scheduled(u);
	set_problems(u);
}

/*
 * Pending, Scheduling and Scheduled follow each other within seconds and may share a write. If the group of a workload runs or
 * has finished, the status of the workload shows it at once; for a group of any other owner only its own status does.
 */
static bool is_urgent_phase(enum kar_pg_phase phase, enum podgroup_owner owner)
{
	if (phase == KAR_PG_PHASE_FAILED || phase == KAR_PG_PHASE_UNKNOWN)
		return true;
	return owner == PODGROUP_OWNER_UNKNOWN &&
		(phase == KAR_PG_PHASE_RUNNING || phase == KAR_PG_PHASE_FINISHED);
}

static bool urgent(const struct kar_podgroup_status *old, const struct kar_podgroup_status *new,
	enum podgroup_owner owner)
{
	/* What is lost from now on is made again anywhere, and not on the nodes of the plan. */
	if (old->placement.state != new->placement.state)
		return true;
	if (kar_condition_is_true(&new->conditions, KAR_PG_UNSCHEDULABLE) &&
		!kar_condition_is_true(&old->conditions, KAR_PG_UNSCHEDULABLE))
		return true;
	/* The queue holds room for what a gang lacks as soon as it knows. */
	if (kar_condition_is_true(&old->conditions, KAR_PG_SCHEDULED) &&
		!kar_condition_is_true(&new->conditions, KAR_PG_SCHEDULED))
		return true;
	return is_urgent_phase(new->phase, owner) && old->phase != new->phase;
}

/* It has become true, or is for another cause than before. */
static bool is_new_problem(const struct kar_conditions *old, const struct kar_conditions *new,
	const char *type)
{
	const struct kar_condition *was = kar_condition_find(old, type), *is = kar_condition_find(new, type);

	return is && is->status == KAR_COND_TRUE &&
		(!was || was->status != KAR_COND_TRUE || !kar_streq(was->message, is->message));
}

/* They start as they come: who wants a gang has forgotten the gate. */
static void warn_of_loose(const struct update *u, struct kar_plan *p)
{
	const struct kar_podgroup_status *old = &u->v->group->status;
	enum kar_pg_state state = lasting_state(u);
	/* Bound without a plan is satisfied, too. */
	bool placed = kar_pg_lasting_state(u->v->group) != KAR_PG_STATE_NONE ||
		(state != KAR_PG_STATE_NONE && state != KAR_PG_STATE_SATISFIED);

	if (u->t->loose && u->t->quorum > 1 && !placed && starts_scheduling(old->phase, u->status->phase))
		kar_plan_event(p, true, kar_reason_NotEnforced, "Start",
			"%d of %d members have no scheduling gate " KAR_GATE
			": they start one by one, as they fit, and not as a gang",
			(int)u->t->loose, (int)u->t->members);
}

static void add_events(const struct update *u, struct kar_plan *p)
{
	const struct kar_conditions *old = &u->v->group->status.conditions, *new = &u->status->conditions;

	if (is_new_problem(old, new, KAR_PG_INVALID_OPTIONS))
		kar_plan_event(p, true, kar_reason_InvalidOptions, "Read", "%s", what_is_ignored(u));
	if (is_new_problem(old, new, KAR_PG_TOPOLOGY_CHANGED))
		kar_plan_event(p, true, kar_reason_TopologyChanged, "Observe", "%s", u->v->outside);
	warn_of_loose(u, p);
	/* The workload of the group says it. */
	if (u->v->of_others && kar_condition_is_true(new, KAR_PG_SCHEDULED) &&
		!kar_condition_is_true(old, KAR_PG_SCHEDULED))
		kar_plan_event(p, false, kar_reason_Scheduled, "Schedule", "%s",
			kar_condition_find(new, KAR_PG_SCHEDULED)->message);
	if (timed_out(u) && kar_condition_is_news(old, new, KAR_PG_SCHEDULED))
		kar_plan_event(p, true, kar_reason_Timeout, "Schedule", "nothing has run for 48 hours: %s",
			kar_condition_find(new, KAR_PG_SCHEDULED)->message);
	if (kar_condition_is_true(new, KAR_PG_UNSCHEDULABLE) &&
		!kar_condition_is_true(old, KAR_PG_UNSCHEDULABLE))
		kar_plan_event(p, true, kar_reason_Unschedulable, "Schedule", "%s",
			kar_condition_find(new, KAR_PG_UNSCHEDULABLE)->message);
}

/*
 * Most groups are told once that they run, and once that they are over. The counts of their queue are counts of these, so such a write
 * is not held back with those that only move numbers.
 */
static bool is_turning_point(const struct kar_podgroup_status *old, const struct kar_podgroup_status *new)
{
	return old->phase != new->phase &&
		(new->phase == KAR_PG_PHASE_RUNNING || new->phase == KAR_PG_PHASE_FINISHED);
}

/* Has more than numbers changed, of a group whose state nothing else shows? The status of a workload shows that of its group. */
static bool is_only_shown_here(const struct podgroup_view *v, const struct kar_podgroup_status *new)
{
	const struct kar_podgroup_status *old = &v->group->status;

	return v->of_others &&
		(old->phase != new->phase ||
			kar_condition_is_news(&old->conditions, &new->conditions, KAR_PG_SCHEDULED));
}

static void write_status(const struct podgroup_view *v, const struct kar_podgroup_status *s,
	struct kar_plan *p)
{
	const struct kar_podgroup_status *old = &v->group->status;

	p->status = s;
	p->status_text = kar_status_print(&kar_podgroup_status_table, old, s, p->arena);
	p->urgent = urgent(old, s, v->owner);
	p->counters = !p->urgent && old->phase != KAR_PG_PHASE_NONE && !is_turning_point(old, s) &&
		!is_only_shown_here(v, s);
}

/* The pods of a group that is being deleted are left alone (S2), but nobody else will release them either. */
static void warn_of_gated(const struct podgroup_view *v, const struct podgroup_counts *t, kar_time now,
	struct kar_plan *p)
{
	const struct kar_podgroup_status *old = &v->group->status;
	enum kar_pg_phase phase = old->phase != KAR_PG_PHASE_NONE ? old->phase : KAR_PG_PHASE_PENDING;
	const char *message = kar_arena_printf(p->arena,
		"the PodGroup is being deleted; %d of its members stay SchedulingGated", t->stranded);
	const struct update u = {
		.status = copy_status(old, phase, p->arena),
		.v = v,
		.t = t,
		.now = now,
		.plan = p,
		.arena = p->arena,
	};

	set_condition(&u, KAR_PG_SCHEDULED, false, kar_reason_DeletedWithGatedMembers, message);
	if (!kar_condition_is_news(&old->conditions, &u.status->conditions, KAR_PG_SCHEDULED))
		return;
	write_status(v, u.status, p);
	kar_plan_event(p, true, kar_reason_DeletedWithGatedMembers, "Delete", "%s", message);
}

/*
 * A CRD that is not ours drops the record, so a difference of nothing else is no reason to write: it would be written again and
 * again. When it changes, the phase or a condition changes too.
 */
static bool is_recorded(const struct kar_podgroup_status *wanted, const struct kar_podgroup_status *old)
{
	return kar_status_equal(&kar_podgroup_status_table, wanted, old, KAR_SF_STORY | KAR_SF_COUNTER);
}

static void follow_members(const struct podgroup_view *v, const struct podgroup_counts *t, kar_time now,
	struct kar_plan *p)
{
	const struct kar_podgroup_status *old = &v->group->status;
	const struct update u = {
		.status = copy_status(old, phase_now(t, was_running(old)), p->arena),
		.v = v,
		.t = t,
		.now = now,
		.plan = p,
		.arena = p->arena,
	};
	kar_time left = time_left(&u);

	fill_status(&u);
	if (u.status->placement.state == old->placement.state)
		podgroup_release(v, t, now, p);
	if (left > 0 && left != KAR_NEVER)
		kar_plan_requeue(p, left);
	if (t->unseen_in != KAR_NEVER)
		kar_plan_requeue(p, t->unseen_in);
	if (is_recorded(u.status, old))
		return;
	write_status(v, u.status, p);
	add_events(&u, p);
}

/*
 * Finished is final once the owner has ended. If we cannot see whether it has, a group without active members stays Finished: pods
 * that are removed afterwards do not make it wait in its queue again, only a new member does.
 */
static bool stays_finished(const struct podgroup_view *v, const struct podgroup_counts *t)
{
	bool over = v->owner == PODGROUP_OWNER_TERMINAL || (v->owner == PODGROUP_OWNER_UNKNOWN && !t->active);

	/* Its queue may have evicted it before it saw that: then it waits again, as nothing else ends that state. */
	return over && v->group->status.phase == KAR_PG_PHASE_FINISHED &&
		v->group->status.placement.state != KAR_PG_STATE_ROLLING_BACK;
}

void podgroup_decide(const struct podgroup_view *v, kar_time now, struct kar_plan *p)
{
	struct podgroup_counts t;

	now -= now % KAR_SECOND; /* what the API can hold */
	t = podgroup_count(v, now);
	if (!v->group->deletion && !stays_finished(v, &t))
		follow_members(v, &t, now, p);
	else if (v->group->deletion && t.stranded)
		warn_of_gated(v, &t, now, p);
}
