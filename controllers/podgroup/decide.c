#include "controllers/podgroup/podgroup.h"

#include <string.h>

#include "api/keep.h"

enum {
	NAMES_SHOWN = 3,   /* of pods, in a message */
	OWNERS_SHOWN = 16, /* in occupiedBy */
};

static const kar_time too_long = 48 * 60 * KAR_MINUTE; /* without anything running: the Warning Timeout */

/* Reasons of the condition Scheduled; the last two are also what the reconciler remembers. */
static const char not_enough_members[] = "NotEnoughMembers";
static const char quorum_lost[] = "QuorumLost"; /* was Running, and still has members */
static const char timed_out[] = "Timeout";      /* the Warning has been given */
static const char gated_forever[] = "DeletedWithGatedMembers";

/* The first few of a set of pods by name, so that a text does not depend on the order of the input. */
struct few {
	struct {
		const char *name;
		const struct kar_pod *pod;
	} items[OWNERS_SHOWN];
	size_t n;
	int32_t added;
};

struct tally {
	int32_t min_member;
	int32_t quorum; /* of the members that exist, the succeeded included */
	int32_t members, scheduled, running, succeeded, failed;
	int32_t active;   /* neither finished nor about to vanish unbound */
	int32_t stranded; /* if the group goes: they keep our scheduling gate */
	struct few unschedulable, losses, owners;
};

static void add_few(struct few *f, size_t max, const char *name, const struct kar_pod *pod)
{
	size_t at = f->n;

	f->added++;
	while (at > 0 && strcmp(f->items[at - 1].name, name) > 0)
		at--;
	if (at == max || (at > 0 && kar_same(f->items[at - 1].name, name)))
		return;
	if (f->n < max)
		f->n++;
	memmove(&f->items[at + 1], &f->items[at], (f->n - 1 - at) * sizeof(f->items[0]));
	f->items[at].name = name;
	f->items[at].pod = pod;
}

bool podgroup_strands(const struct kar_pod *pod)
{
	return pod->gate_ours && !pod->deletion && !kar_same(pod->owner_kind, kar_queuejob_type.res.kind);
}

static void count_active(struct tally *t, const struct kar_pod *p)
{
	t->active++;
	if (p->node)
		t->scheduled++;
	/* What is bound and Terminating holds its place until it is gone. */
	if (p->phase == KAR_POD_RUNNING || (p->deletion && p->node))
		t->running++;
	if (p->unschedulable && !p->node)
		add_few(&t->unschedulable, NAMES_SHOWN, p->o.name, p);
	t->stranded += podgroup_strands(p);
}

static void count(struct tally *t, const struct kar_pod *p)
{
	if (kar_pod_withdrawn(p) || (p->deletion && !p->node && !kar_pod_finished(p)))
		return;
	t->members++;
	if (p->owner_name)
		add_few(&t->owners, OWNERS_SHOWN, p->owner_name, p);
	if (p->phase == KAR_POD_SUCCEEDED) {
		t->succeeded++;
		t->scheduled++;
	} else if (p->phase == KAR_POD_FAILED) {
		t->failed++;
		add_few(&t->losses, NAMES_SHOWN, p->o.name, p);
	} else {
		count_active(t, p);
	}
}

/* Here all that have succeeded count, so those that minMember leaves out are put back, unless they are gone. */
static int32_t left_out(const struct kar_podgroup_spec *spec, const struct tally *t)
{
	int32_t n = spec->succeeded_members, most = INT32_MAX - t->min_member;

	n = n < t->succeeded ? n : t->succeeded;
	n = n < most ? n : most;
	return n > 0 ? n : 0;
}

static struct tally count_members(const struct podgroup_view *v)
{
	const struct kar_podgroup_spec *spec = &v->group->spec;
	struct tally t = { 0 };

	for (size_t i = 0; i < v->n_pods; i++)
		count(&t, v->pods[i]);
	/* 1 is the schema's minimum; the upstream schema lets the field be absent. */
	t.min_member = spec->min_member > 0 ? spec->min_member : 1;
	t.quorum = t.min_member + left_out(spec, &t);
	return t;
}

static bool was_running(const struct kar_podgroup_status *old)
{
	const struct kar_condition *c = kar_condition_find(&old->conditions, KAR_PG_SCHEDULED);

	/* The phase alone would forget it in the moment between a loss and the replacement's first attempt. */
	return kar_same(old->phase, "Running") || kar_same(old->phase, "Unknown") ||
		(c && kar_same(c->reason, quorum_lost));
}

/* The phase table of design podgroup.md, line by line. */
static const char *phase_now(const struct tally *t, bool ran)
{
	int32_t alive = t->running + t->succeeded;

	if (t->succeeded >= t->quorum && !t->active)
		return "Finished";
	/* A replacement exists if the members that have not failed could make up the quorum. */
	if (t->failed > 0 && alive < t->quorum && t->members - t->failed < t->quorum)
		return "Failed";
	if (alive >= t->quorum)
		return "Running";
	if (ran && t->unschedulable.n > 0)
		return "Unknown";
	if (t->scheduled >= t->quorum)
		return "Scheduled";
	return t->members >= t->quorum ? "Scheduling" : "Pending";
}

/* "j-1 (OOMKilled, exit code 137)"; the name alone if nothing more is known. */
static const char *describe(const char *name, const struct kar_pod *pod, struct kar_arena *a)
{
	const struct kar_pod_loss *loss = kar_pod_loss_of(pod);

	if (loss->exit_code)
		return kar_arena_printf(a, "%s (%s, exit code %d)", name,
			loss->reason ? loss->reason : "Error", loss->exit_code);
	if (loss->reason)
		return kar_arena_printf(a, "%s (%s)", name, loss->reason);
	return name;
}

static const char *list(const struct few *f, struct kar_arena *a)
{
	const char *text = "";

	for (size_t i = 0; i < f->n; i++)
		text = kar_arena_printf(a, "%s%s%s", text, i ? ", " : "",
			describe(f->items[i].name, f->items[i].pod, a));
	if (f->added > (int32_t)f->n)
		text = kar_arena_printf(a, "%s and %d more", text, f->added - (int32_t)f->n);
	return text;
}

/* Why the quorum is not there, in one line: "1/3 members bound; j-2: Unschedulable". */
static const char *why_not(const struct tally *t, struct kar_arena *a)
{
	const char *text = kar_arena_printf(a, "%d/%d members bound", t->scheduled, t->quorum);

	if (t->members < t->quorum)
		text = kar_arena_printf(a, "%s; %d/%d created", text, t->members, t->quorum);
	if (t->unschedulable.n)
		text = kar_arena_printf(a, "%s; %s: Unschedulable", text, list(&t->unschedulable, a));
	if (t->failed)
		text = kar_arena_printf(a, "%s; failed: %s", text, list(&t->losses, a));
	return text;
}

/* The new status in the making. */
struct update {
	struct kar_podgroup_status *status;
	const struct podgroup_view *v;
	const struct tally *t;
	kar_time now;
	struct kar_arena *arena;
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

/* Until the wait is too long; <= 0: it is; KAR_NEVER: the group is not one that waits. */
static kar_time time_left(const struct update *u)
{
	const struct kar_condition *c = kar_condition_find(&u->v->group->status.conditions, KAR_PG_SCHEDULED);
	kar_time since = c && c->status == KAR_COND_FALSE ? c->last_transition : u->now;
	const char *phase = u->status->phase;

	if (u->v->owner == PODGROUP_OWNER_TERMINAL || u->t->running > 0 ||
		!(kar_same(phase, "Pending") || kar_same(phase, "Scheduling")))
		return KAR_NEVER;
	return since + too_long - u->now;
}

static const char *reason_not_scheduled(const struct update *u)
{
	if (time_left(u) <= 0)
		return timed_out;
	if (u->t->members > 0 && was_running(&u->v->group->status))
		return quorum_lost;
	if (u->t->members < u->t->quorum)
		return not_enough_members;
	return u->t->unschedulable.n ? "Unschedulable" : "Pending";
}

static void set_scheduled(const struct update *u)
{
	if (u->t->scheduled >= u->t->quorum)
		set_condition(u, KAR_PG_SCHEDULED, true, "Scheduled",
			kar_arena_printf(u->arena, "minMember %d reached", u->t->min_member));
	else
		set_condition(u, KAR_PG_SCHEDULED, false, reason_not_scheduled(u), why_not(u->t, u->arena));
}

/* The other two appear when they first become True. */
static void set_troubles(const struct update *u)
{
	const struct tally *t = u->t;
	const struct kar_conditions *conditions = &u->status->conditions;

	if (t->failed > 0 && t->running + t->succeeded >= t->quorum)
		set_condition(u, KAR_PG_MEMBER_FAILED, true, "MemberFailed",
			kar_arena_printf(u->arena, "%d of %d members failed: %s", t->failed, t->members,
				list(&t->losses, u->arena)));
	else if (kar_condition_find(conditions, KAR_PG_MEMBER_FAILED))
		set_condition(u, KAR_PG_MEMBER_FAILED, false, "NoFailedMember", "");
	if (t->unschedulable.n)
		set_condition(u, KAR_PG_UNSCHEDULABLE, true, "Unschedulable", why_not(t, u->arena));
	else if (kar_condition_find(conditions, KAR_PG_UNSCHEDULABLE))
		set_condition(u, KAR_PG_UNSCHEDULABLE, false, "Schedulable", "");
}

/* Sorted, comma-joined "ns/ownerName". */
static const char *occupied_by(const struct podgroup_view *v, const struct tally *t, struct kar_arena *a)
{
	const char *text = "";

	for (size_t i = 0; i < t->owners.n; i++)
		text = kar_arena_printf(a, "%s%s%s/%s", text, i ? "," : "", v->group->o.ns,
			t->owners.items[i].name);
	return text;
}

/* On entry to Scheduling, or past it when the phases in between were folded into one write. */
static bool starts_scheduling(const char *from, const char *to)
{
	if (kar_same(to, "Scheduling"))
		return !kar_same(from, "Scheduling");
	return (!from || kar_same(from, "Pending")) && (kar_same(to, "Scheduled") || kar_same(to, "Running"));
}

static struct kar_podgroup_status *copy_status(const struct kar_podgroup_status *old, const char *phase,
	struct kar_arena *a)
{
	struct kar_podgroup_status *s = kar_arena_alloc(a, 1, sizeof(*s));

	*s = *old;
	s->conditions = kar_conditions_copy(&old->conditions, a);
	s->phase = phase;
	return s;
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
	if (starts_scheduling(u->v->group->status.phase, s->phase))
		s->schedule_start_time = u->now;
	set_scheduled(u);
	set_troubles(u);
}

static bool same_status(const struct kar_podgroup_status *a, const struct kar_podgroup_status *b)
{
	return kar_same(a->phase, b->phase) && kar_same(a->occupied_by, b->occupied_by) &&
		a->members == b->members && a->scheduled == b->scheduled && a->running == b->running &&
		a->succeeded == b->succeeded && a->failed == b->failed &&
		a->schedule_start_time == b->schedule_start_time &&
		kar_conditions_equal(&a->conditions, &b->conditions);
}

/*
 * Pending, Scheduling and Scheduled follow each other within seconds and may share a write. That the group of a QueueJob runs,
 * or has finished, the job's own status tells at once; of any other nobody else does.
 */
static bool is_told_at_once(const char *phase, enum podgroup_owner owner)
{
	if (kar_same(phase, "Failed") || kar_same(phase, "Unknown"))
		return true;
	return owner == PODGROUP_OWNER_UNKNOWN && (kar_same(phase, "Running") || kar_same(phase, "Finished"));
}

static bool urgent(const struct kar_podgroup_status *old, const struct kar_podgroup_status *new,
	enum podgroup_owner owner)
{
	if (kar_condition_is_true(&new->conditions, KAR_PG_UNSCHEDULABLE) &&
		!kar_condition_is_true(&old->conditions, KAR_PG_UNSCHEDULABLE))
		return true;
	return is_told_at_once(new->phase, owner) && !kar_same(old->phase, new->phase);
}

static const char *status_text(const struct kar_podgroup_status *s, struct kar_arena *a)
{
	static const char *const own[] = { KAR_PG_SCHEDULED, KAR_PG_MEMBER_FAILED, KAR_PG_UNSCHEDULABLE };
	const char *text =
		kar_arena_printf(a, "phase=%s members=%d scheduled=%d running=%d succeeded=%d failed=%d",
			s->phase, s->members, s->scheduled, s->running, s->succeeded, s->failed);

	for (size_t i = 0; i < KAR_LEN(own); i++) {
		const struct kar_condition *c = kar_condition_find(&s->conditions, own[i]);

		if (c)
			text = kar_arena_printf(a, "%s %s=%s/%s", text, c->type,
				kar_condition_status_name(c->status), c->reason);
	}
	return text;
}

static void tell(const struct kar_podgroup_status *old, const struct kar_podgroup_status *new,
	struct kar_plan *p)
{
	const struct kar_condition *was = kar_condition_find(&old->conditions, KAR_PG_SCHEDULED);
	const struct kar_condition *is_now = kar_condition_find(&new->conditions, KAR_PG_SCHEDULED);
	const struct kar_condition *trouble = kar_condition_find(&new->conditions, KAR_PG_UNSCHEDULABLE);

	if (kar_same(is_now->reason, timed_out) && !(was && kar_same(was->reason, timed_out)))
		kar_plan_event(p, true, timed_out, "Schedule", "nothing has run for 48 hours: %s",
			is_now->message);
	if (trouble && trouble->status == KAR_COND_TRUE &&
		!kar_condition_is_true(&old->conditions, KAR_PG_UNSCHEDULABLE))
		kar_plan_event(p, true, "Unschedulable", "Schedule", "%s", trouble->message);
}

static void write_status(const struct podgroup_view *v, const struct kar_podgroup_status *s,
	struct kar_plan *p)
{
	p->status = s;
	p->status_text = status_text(s, p->arena);
	p->urgent = urgent(&v->group->status, s, v->owner);
	p->counters = !p->urgent && v->group->status.phase;
}

/* Nothing is done to the pods of a group that is being deleted (S2), but nobody will release them either. */
static void warn_of_gated(const struct podgroup_view *v, const struct tally *t, kar_time now,
	struct kar_plan *p)
{
	const struct kar_podgroup_status *old = &v->group->status;
	const struct kar_condition *c = kar_condition_find(&old->conditions, KAR_PG_SCHEDULED);
	const char *message;

	if (!t->stranded || (c && kar_same(c->reason, gated_forever)))
		return;
	message = kar_arena_printf(p->arena,
		"the PodGroup is being deleted; %d of its members stay SchedulingGated", t->stranded);

	const struct update u = {
		.status = copy_status(old, old->phase ? old->phase : "Pending", p->arena),
		.v = v,
		.t = t,
		.now = now,
		.arena = p->arena,
	};

	set_condition(&u, KAR_PG_SCHEDULED, false, gated_forever, message);
	write_status(v, u.status, p);
	kar_plan_event(p, true, gated_forever, "Delete", "%s", message);
}

static void follow_members(const struct podgroup_view *v, const struct tally *t, kar_time now,
	struct kar_plan *p)
{
	const struct kar_podgroup_status *old = &v->group->status;
	const struct update u = {
		.status = copy_status(old, phase_now(t, was_running(old)), p->arena),
		.v = v,
		.t = t,
		.now = now,
		.arena = p->arena,
	};
	kar_time left = time_left(&u);

	fill_status(&u);
	if (left > 0 && left != KAR_NEVER)
		kar_plan_requeue(p, left);
	if (same_status(u.status, old))
		return;
	write_status(v, u.status, p);
	tell(old, u.status, p);
}

/*
 * Finished is final with its owner. Of an owner whose end we cannot see, the group itself must say that the work is over:
 * then pods that are removed afterwards do not make it claim a place in its queue again; only a new member does.
 */
static bool stays_finished(const struct podgroup_view *v, const struct tally *t)
{
	bool over = v->owner == PODGROUP_OWNER_TERMINAL || (v->owner == PODGROUP_OWNER_UNKNOWN && !t->active);

	return over && kar_same(v->group->status.phase, "Finished");
}

void podgroup_decide(const struct podgroup_view *v, kar_time now, struct kar_plan *p)
{
	struct tally t = count_members(v);

	now -= now % KAR_SECOND; /* what the API can hold */
	if (v->group->deletion)
		warn_of_gated(v, &t, now, p);
	else if (!stays_finished(v, &t))
		follow_members(v, &t, now, p);
}
