#include "controllers/podgroup/attempt.h"

#include <assert.h>

#include "api/podgroup/pg_hold.h"
#include "api/podgroup/pg_members.h"
#include "api/podgroup/placement.h"
#include "api/status/reasons.h"
#include "common/base/intern.h"
#include "common/base/str.h"
#include "common/base/timefmt.h"

static const kar_time REFUSED_FOR = 5 * KAR_SECOND;
/* In which there may come room in the domain of a gang for what it has lost. */
static const kar_time DOMAIN_LACKS_ROOM_FOR = 30 * KAR_SECOND;

/* --- what a move does ------------------------------------------------------------------------------ */

static const struct kar_pg_placement *recorded(const struct podgroup_attempt *a)
{
	return &a->v->group->status.placement;
}

/* That exist, but for those that vanish without having had a node. */
static int32_t members_of(const struct podgroup_attempt *a)
{
	return a->t->active + a->t->succeeded;
}

static struct kar_pg_placement count_formed(const struct podgroup_attempt *a, struct kar_plan *p KAR_UNUSED)
{
	return kar_pg_count_formed(recorded(a), a->t->quorum);
}

static struct kar_pg_placement satisfy(const struct podgroup_attempt *a, struct kar_plan *p KAR_UNUSED)
{
	return kar_pg_satisfy(recorded(a), a->t->quorum, a->now);
}

static kar_time waited(const struct podgroup_attempt *a)
{
	const struct kar_pg_placement *pl = &a->v->group->status.placement;

	return pl->state == KAR_PG_STATE_UNPLACED && pl->deadline ? pl->deadline - pl->time : a->timeout;
}

static const char *why_refused(const struct kar_pod *pod, struct kar_arena *arena)
{
	const char *reason = kar_pod_loss_of(pod)->pod_reason;

	return kar_arena_printf(arena, "%s was refused by node %s: %s", pod->o.name,
		pod->node ? pod->node : "?", reason ? reason : "?");
}

static const char *why(const struct podgroup_attempt *a, struct kar_arena *arena)
{
	const struct kar_pod *pod = a->stuck;
	char text[KAR_TIME_LEN];

	if (a->v->unit_failing)
		return kar_arena_printf(arena, "%s, with which it starts, is rolled back",
			a->v->unit_failing);
	if (a->refused)
		return why_refused(a->refused, arena);
	if (a->v->release_refused)
		return kar_arena_printf(arena, "release refused: %s", a->v->release_refused);
	if (a->unnamed)
		return kar_arena_printf(arena,
			"the API server has dropped spec.schedulingGroup of %s: is the feature gate GenericWorkload off on one of its servers? The gang is placed again without it",
			a->unnamed->o.name);
	if (pod)
		return kar_arena_printf(arena, "%s was unschedulable on %s: %s", pod->o.name, pod->pin,
			pod->unplaced && pod->unplaced->message ? pod->unplaced->message
								: "the scheduler does not say why");
	if (!kar_has_text(a->unbound))
		return kar_arena_printf(arena, "%d of %d members were not created",
			(int)(a->t->quorum - a->t->scheduled), (int)a->t->quorum);
	return kar_arena_printf(arena, "not bound after %s: %s", kar_duration_format(waited(a), text),
		a->unbound);
}

/* What has no controller is not deleted, because nobody would make it again. */
static void warn_of_bare(const struct podgroup_attempt *a, struct kar_plan *p)
{
	if (a->v->of_others && a->t->bare)
		kar_plan_event(p, true, kar_reason_CannotRollBack, "RollBack",
			"%d members have no controller that would make them again, so they stay: %s",
			(int)a->t->bare, a->unbound);
}

static struct kar_pg_placement roll_back(const struct podgroup_attempt *a, struct kar_plan *p)
{
	/* Of a wave: who else is a member is not of this attempt (podgroup_keeps()). */
	struct kar_pg_placement pl =
		kar_pg_roll_back(recorded(a), why(a, p->arena), a->v->group->options.only_waiting, a->now);

	kar_plan_event(p, true, kar_reason_RolledBack, "RollBack", "%s",
		kar_pg_failed_attempt(&pl, p->arena));
	warn_of_bare(a, p);
	return pl;
}

/*
 * The domain that one of its members lacks a place in; none: it need not be in one, or nobody knows which member that is. Of members that were created
 * bound, tasks may be in domains of their own, and what lacks places is not recorded by task.
 */
static struct kar_array lost_domain(const struct podgroup_attempt *a, struct kar_arena *arena)
{
	const struct podgroup_few *lost = &a->t->unschedulable;
	struct kar_array found = { 0 };

	for (size_t i = 0; i < lost->n && !found.n; i++)
		found = kar_pg_required_domain(recorded(a), kar_pod_role(lost->items[i].pod), arena);
	if (!lost->n && recorded(a)->n_domains && !recorded(a)->domains[0].role)
		found = kar_pg_required_domain(recorded(a), "", arena);
	return found;
}

/* Its path and its label: "example.com/rack=b1/r3"; NULL: there is none. */
static const char *domain_of(const struct podgroup_attempt *a, struct kar_arena *arena)
{
	const struct kar_array all = lost_domain(a, arena);
	const struct kar_pair *levels = all.items;
	const char *path = "";

	for (size_t i = 0; i < all.n; i++)
		path = kar_arena_printf(arena, "%s%s%s", path, i ? "/" : "", levels[i].value);
	return all.n ? kar_arena_printf(arena, "%s=%s", levels[all.n - 1].key, path) : NULL;
}

/* It starts again, in a domain that has room for all of it. */
static struct kar_pg_placement leave_domain(const struct podgroup_attempt *a, struct kar_plan *p)
{
	const char *domain = domain_of(a, p->arena);
	const char *who = kar_has_text(a->unbound)
		? a->unbound
		: kar_arena_printf(p->arena, "%d of %d members", (int)(a->t->quorum - a->t->scheduled),
			  (int)a->t->quorum);
	struct kar_pg_placement pl = kar_pg_roll_back(recorded(a),
		kar_arena_printf(p->arena, "%s has no room for %s", domain, who), false, a->now);

	assert(domain);
	kar_plan_event(p, true, kar_reason_TopologyLost, "RollBack",
		"%s: the gang starts again in a domain that has room for all of it", pl.cause);
	return pl;
}

/* None of its members is released, but for those that terminate. */
static bool is_all_gated(const struct podgroup_attempt *a)
{
	return a->v->of_others && a->t->gated && a->t->gated == a->t->active - a->t->leaving &&
		a->t->scheduled - a->t->leaving < a->t->quorum;
}

/*
 * The members do not come, for example because of a quota: the room is not held for longer, and that is no failure. Those of others are
 * placed when they are there again.
 */
static struct kar_pg_placement give_up(const struct podgroup_attempt *a, struct kar_plan *p KAR_UNUSED)
{
	enum kar_pg_state to = a->v->of_others ? KAR_PG_STATE_NONE
		: a->v->unit_waits             ? KAR_PG_STATE_WAITING
					       : KAR_PG_STATE_UNPLACED;

	return kar_pg_give_up(recorded(a), to, is_all_gated(a) || (a->v->of_others && !a->t->active), a->now);
}

static struct kar_pg_placement end_hold(const struct podgroup_attempt *a, struct kar_plan *p)
{
	const char *taker = recorded(a)->hold_ended_for;

	if (kar_has_text(taker))
		kar_plan_event(p, true, kar_reason_HoldReclaimed, "HoldRoom",
			"room for %d of %d members went to %s; those that come later are a gang of their own",
			(int)(a->t->quorum - members_of(a)), (int)a->t->quorum, taker);
	else
		kar_plan_event(p, true, kar_reason_HoldExpired, "HoldRoom",
			"room was held for %d min, and %d of %d members have not come; those that come later are a gang of their own",
			(int)(KAR_PG_HOLD / KAR_MINUTE), (int)(a->t->quorum - members_of(a)),
			(int)a->t->quorum);
	return give_up(a, p);
}

/* What is created bound cannot exist without places, so the gang is placed again a while later. */
static struct kar_pg_placement postpone(const struct podgroup_attempt *a, struct kar_plan *p)
{
	return kar_pg_postpone(recorded(a), why(a, p->arena), a->now);
}

static int64_t generation_of(const struct podgroup_attempt *a)
{
	return a->v->of_others ? a->v->group->generation : a->v->owner_generation;
}

static struct kar_pg_placement wait(const struct podgroup_attempt *a, struct kar_plan *p KAR_UNUSED)
{
	if (kar_has_text(recorded(a)->evicted_by)) /* it has not failed */
		return kar_pg_wait(recorded(a), a->now);
	return kar_pg_back_off(recorded(a), generation_of(a), kar_hash_str(1, a->v->group->o.uid), a->now);
}

static struct kar_pg_placement deactivate(const struct podgroup_attempt *a, struct kar_plan *p)
{
	struct kar_pg_placement pl = kar_pg_deactivate(recorded(a), generation_of(a), a->now);

	kar_plan_event(p, true, kar_reason_Deactivated, "Deactivate", "%s",
		kar_pg_failed_attempts(a->v->group, &pl, p->arena));
	return pl;
}

static struct kar_pg_placement reactivate(const struct podgroup_attempt *a, struct kar_plan *p KAR_UNUSED)
{
	return kar_pg_reactivate(recorded(a), a->now);
}

/* --- when ------------------------------------------------------------------------------------------ */

/* Asks to come again when it is not over yet. */
static bool is_over(kar_time left, struct kar_plan *p)
{
	if (left > 0)
		kar_plan_requeue(p, left);
	return left <= 0;
}

static bool is_bound(const struct podgroup_attempt *a, struct kar_plan *p KAR_UNUSED)
{
	return a->t->scheduled >= a->t->quorum;
}

/*
 * Released members that were given up, because a cache that was behind did not show them or because nobody would make them again, have got
 * their nodes. Or the gang has started by itself, without our gate: from now on it is one that runs.
 */
static bool is_bound_late(const struct podgroup_attempt *a, struct kar_plan *p)
{
	return a->v->of_others && (recorded(a)->attempt || a->placeable) && is_bound(a, p) && !a->next_wave;
}

static kar_time later(kar_time a, kar_time b)
{
	return a > b ? a : b;
}

/* Room is held for members that come later, and nobody knows when that is. */
static bool has_stages(const struct podgroup_attempt *a)
{
	return a->v->of_others && kar_pg_holds(a->v->group, a->now);
}

/* The members that the room was held for did not come: those that run stay, and later ones are a gang of their own. */
static bool hold_is_over(const struct podgroup_attempt *a, struct kar_plan *p)
{
	kar_time ends = kar_pg_hold_ends(a->v->group);

	return a->v->of_others && ends && members_of(a) < a->t->quorum && is_over(ends - a->now, p);
}

/* As long as members come, the last one has its time; but without stages an attempt has at most five times that. */
static kar_time left_of_attempt(const struct podgroup_attempt *a)
{
	kar_time last = recorded(a)->time + 5 * a->timeout,
		 end = later(recorded(a)->deadline, a->t->newest + a->timeout);

	return (end < last || has_stages(a) ? end : last) - a->now;
}

/* It is no failure that the members that are missing are not there. */
static bool is_staged(const struct podgroup_attempt *a)
{
	return has_stages(a) && members_of(a) < a->t->quorum;
}

static bool is_late(const struct podgroup_attempt *a, struct kar_plan *p)
{
	return a->t->active && !(is_staged(a) && !kar_has_text(a->unbound)) && is_over(left_of_attempt(a), p);
}

/* Nobody makes members: the room that is held for them is needed elsewhere. After a stage that has succeeded the next one is made. */
static bool has_no_members(const struct podgroup_attempt *a, struct kar_plan *p)
{
	return !a->t->active && !(is_staged(a) && a->t->scheduled) &&
		is_over(recorded(a)->time + PODGROUP_MEMBERS_WITHIN - a->now, p);
}

static bool has_no_bound_members(const struct podgroup_attempt *a, struct kar_plan *p)
{
	return a->v->direct && has_no_members(a, p);
}

static bool lacks_members(const struct podgroup_attempt *a, struct kar_plan *p)
{
	return a->t->active && members_of(a) < a->t->quorum && !is_staged(a) &&
		is_over(later(recorded(a)->time, a->t->youngest) + PODGROUP_MEMBERS_WITHIN - a->now, p);
}

static bool is_stuck(const struct podgroup_attempt *a, struct kar_plan *p)
{
	if (a->t->stuck_in != KAR_NEVER)
		kar_plan_requeue(p, a->t->stuck_in);
	return a->stuck && !a->v->non_strict;
}

static bool is_refused(const struct podgroup_attempt *a, struct kar_plan *p KAR_UNUSED)
{
	return a->refused;
}

/* A policy does not let a member start, and the others must not hold their nodes meanwhile. */
static bool is_release_refused(const struct podgroup_attempt *a, struct kar_plan *p)
{
	return a->v->release_refused && is_over(a->v->refused_since + REFUSED_FOR - a->now, p);
}

/* A minimum that an edit has raised since does not stop what runs; that of a further stage does. */
static int32_t minimum_of(const struct podgroup_attempt *a)
{
	const struct kar_pg_placement *pl = recorded(a);
	bool raised =
		pl->state == KAR_PG_STATE_SATISFIED && a->v->raised && pl->satisfied_member < a->t->quorum;

	return raised ? pl->satisfied_member : a->t->quorum;
}

/* Since when the minimum is not bound, or its youngest member exists. */
static kar_time short_since(const struct podgroup_attempt *a)
{
	const struct kar_condition *c = kar_condition_find(&a->v->group->status.conditions, KAR_PG_SCHEDULED);
	kar_time since = c && c->status == KAR_COND_FALSE ? c->last_transition : a->now;

	return later(since, a->t->newest < a->now ? a->t->newest : a->now);
}

/* The queue finds no places for members that are missing. Those that terminate have to go first. */
static bool lacks_places_for_long(const struct podgroup_attempt *a, struct kar_plan *p)
{
	return a->v->direct && recorded(a)->deadline && a->t->active && !a->t->leaving &&
		is_over(recorded(a)->deadline - a->now, p);
}

/* The youngest member that waits is as old, or the minimum is bound no more since then. */
static kar_time lost_since(const struct podgroup_attempt *a)
{
	const struct kar_condition *c = kar_condition_find(&a->v->group->status.conditions, KAR_PG_SCHEDULED);
	bool is_short = c && c->status == KAR_COND_FALSE;

	return later(is_short ? c->last_transition : 0,
		a->t->newest && a->t->newest < a->now ? a->t->newest
			: is_short && !a->t->newest   ? 0
						      : a->now);
}

/*
 * All must be in one domain, and this has no room for those that replace members which are gone, or stay on nodes that are lost. A gang that
 * starts what it lacks together waits for that, and members that nobody would make again stay.
 */
static bool has_lost_domain(const struct podgroup_attempt *a, struct kar_plan *p)
{
	const struct kar_pg_options *o = &a->v->group->options;
	bool lacks = a->t->unschedulable.n || (a->v->direct && recorded(a)->deadline && a->t->active);

	return lacks && domain_of(a, p->arena) && !o->and_running && !o->only_waiting && !a->t->bare &&
		a->t->scheduled - (a->t->leaving - a->t->stopping) < minimum_of(a) &&
		is_over(lost_since(a) + DOMAIN_LACKS_ROOM_FOR - a->now, p);
}

/*
 * It has members that wait for nodes, or lacks places, and is below its minimum for as long as a new gang may be. A gang of others that runs is not
 * stopped: whether it is of use without what it lacks is for its controller to say.
 */
static bool is_short_for_long(const struct podgroup_attempt *a, struct kar_plan *p)
{
	return !a->v->of_others && a->t->scheduled < minimum_of(a) &&
		(kar_has_text(a->unbound) || lacks_places_for_long(a, p)) &&
		is_over(short_since(a) + a->timeout - a->now, p);
}

/* The same of one that has no places: also if the others never come. */
static bool is_partial_for_long(const struct podgroup_attempt *a, struct kar_plan *p)
{
	return !recorded(a)->deadline && a->t->active && a->t->scheduled < a->t->quorum &&
		is_over(later(short_since(a), a->t->youngest) + a->timeout - a->now, p);
}

/* None of its pods is there any more, and none comes. */
static bool is_gone_for_long(const struct podgroup_attempt *a, struct kar_plan *p)
{
	return a->wanted && !a->t->active && a->t->scheduled < a->t->quorum &&
		is_over(short_since(a) + a->timeout - a->now, p);
}

/* The same of others: whatever comes next is a new gang. */
static bool is_gone(const struct podgroup_attempt *a, struct kar_plan *p KAR_UNUSED)
{
	return a->v->of_others && a->wanted && !a->t->active && a->t->scheduled < a->t->quorum;
}

static bool is_gone_and_direct(const struct podgroup_attempt *a, struct kar_plan *p)
{
	return a->v->direct && is_gone_for_long(a, p);
}

/* It was admitted without places, when somebody else served its scheduler, or its pods named another. */
static bool has_no_places(const struct podgroup_attempt *a, struct kar_plan *p KAR_UNUSED)
{
	return a->v->direct && a->wanted && a->v->group->status.has_position &&
		a->t->scheduled < a->t->quorum;
}

/* New nodes did not come in time (Queue.spec.provisioning). */
static bool waited_for_nodes(const struct podgroup_attempt *a, struct kar_plan *p)
{
	return recorded(a)->deadline && is_over(recorded(a)->deadline - a->now, p);
}

static bool is_empty(const struct podgroup_attempt *a, struct kar_plan *p KAR_UNUSED)
{
	return !a->t->removable;
}

static bool was_the_last(const struct podgroup_attempt *a, struct kar_plan *p)
{
	return is_empty(a, p) && !kar_has_text(recorded(a)->evicted_by) &&
		recorded(a)->failures >= PODGROUP_MOST_ATTEMPTS - 1;
}

static bool is_edited(const struct podgroup_attempt *a, struct kar_plan *p KAR_UNUSED)
{
	return generation_of(a) != recorded(a)->generation;
}

/* Members are gone before they were released: those that their controller makes in their place are not in the plan. */
static bool lost_members(const struct podgroup_attempt *a, struct kar_plan *p KAR_UNUSED)
{
	return is_all_gated(a) && members_of(a) < a->t->quorum && !is_staged(a);
}

/* Somebody has taken a place of the plan before any member was released, for example while no manager ran. */
static bool lost_places(const struct podgroup_attempt *a, struct kar_plan *p KAR_UNUSED)
{
	return a->v->outdated && is_all_gated(a);
}

/* All that ran is gone, and new members wait: they are a new gang. */
static bool begins_anew(const struct podgroup_attempt *a, struct kar_plan *p KAR_UNUSED)
{
	return is_all_gated(a);
}

/* WaitingAndRunning: what it lacks starts together or not at all. OnlyWaiting: so do those that wait. */
static bool asks_again(const struct podgroup_attempt *a, struct kar_plan *p KAR_UNUSED)
{
	return a->v->of_others &&
		(a->next_wave ||
			(a->v->group->options.and_running && a->t->gated && a->t->scheduled < a->t->quorum));
}

/* A gang of its unit could not start, so this one has not started whole. */
static bool unit_fails(const struct podgroup_attempt *a, struct kar_plan *p KAR_UNUSED)
{
	return a->v->unit_failing;
}

/* The minimum was changed, and all of it is bound: from now on the gang is broken below that. */
static bool formed_anew(const struct podgroup_attempt *a, struct kar_plan *p)
{
	int32_t formed = recorded(a)->satisfied_member;

	return a->v->of_others && formed && formed != a->t->quorum && is_bound(a, p);
}

static bool is_unnamed(const struct podgroup_attempt *a, struct kar_plan *p KAR_UNUSED)
{
	return a->unnamed;
}

/* Nothing of it is there yet: another backend may be chosen. */
static bool has_no_backend(const struct podgroup_attempt *a, struct kar_plan *p)
{
	if (a->v->group->status.backend != KAR_PG_BACKEND_NATIVE || !a->wanted || a->t->active ||
		is_bound(a, p))
		return false;
	if (!a->v->native_lost)
		kar_plan_requeue(p, a->v->native_interval);
	return a->v->native_lost;
}

/* --- the table ------------------------------------------------------------------------------------- */

struct move {
	enum kar_pg_state from;
	bool (*holds)(const struct podgroup_attempt *a, struct kar_plan *p);
	struct kar_pg_placement (*make)(const struct podgroup_attempt *a, struct kar_plan *p);
};

static const struct move moves[] = {
	{ KAR_PG_STATE_NONE, has_no_places, postpone },
	{ KAR_PG_STATE_NONE, is_bound_late, satisfy },
	{ KAR_PG_STATE_WAITING, is_bound_late, satisfy },
	{ KAR_PG_STATE_RESERVING, is_bound_late, satisfy },
	{ KAR_PG_STATE_PLACED, has_no_backend, reactivate },
	{ KAR_PG_STATE_PLACED, is_bound, satisfy },
	{ KAR_PG_STATE_PLACED, is_unnamed, roll_back },
	{ KAR_PG_STATE_PLACED, unit_fails, roll_back },
	{ KAR_PG_STATE_PLACED, is_stuck, roll_back },
	{ KAR_PG_STATE_PLACED, is_refused, roll_back },
	{ KAR_PG_STATE_PLACED, is_release_refused, roll_back },
	{ KAR_PG_STATE_PLACED, has_no_bound_members, roll_back },
	{ KAR_PG_STATE_PLACED, has_no_members, give_up },
	{ KAR_PG_STATE_PLACED, lost_members, give_up },
	{ KAR_PG_STATE_PLACED, lost_places, give_up },
	{ KAR_PG_STATE_PLACED, hold_is_over, end_hold },
	{ KAR_PG_STATE_PLACED, lacks_members, roll_back },
	{ KAR_PG_STATE_PLACED, is_late, roll_back },
	{ KAR_PG_STATE_UNPLACED, has_no_backend, reactivate },
	{ KAR_PG_STATE_UNPLACED, is_bound, satisfy },
	{ KAR_PG_STATE_UNPLACED, is_unnamed, roll_back },
	{ KAR_PG_STATE_UNPLACED, has_no_places, postpone },
	{ KAR_PG_STATE_UNPLACED, waited_for_nodes, roll_back },
	{ KAR_PG_STATE_UNPLACED, is_partial_for_long, roll_back },
	{ KAR_PG_STATE_SATISFIED, begins_anew, give_up },
	{ KAR_PG_STATE_SATISFIED, asks_again, give_up },
	{ KAR_PG_STATE_SATISFIED, is_gone, give_up },
	{ KAR_PG_STATE_SATISFIED, has_lost_domain, leave_domain },
	{ KAR_PG_STATE_SATISFIED, is_short_for_long, roll_back },
	{ KAR_PG_STATE_SATISFIED, is_gone_and_direct, postpone },
	{ KAR_PG_STATE_SATISFIED, is_gone_for_long, give_up },
	{ KAR_PG_STATE_SATISFIED, formed_anew, count_formed },
	{ KAR_PG_STATE_ROLLING_BACK, was_the_last, deactivate },
	{ KAR_PG_STATE_ROLLING_BACK, is_empty, wait },
	{ KAR_PG_STATE_DEACTIVATED, is_edited, reactivate },
};

struct kar_pg_placement podgroup_next_placement(const struct podgroup_attempt *a, struct kar_plan *p)
{
	const struct kar_pg_placement *pl = recorded(a);

	assert(a->now % KAR_SECOND == 0);
	if (a->now < pl->time)
		return kar_pg_set_clock_back(pl, a->now);
	for (size_t i = 0; i < KAR_LEN(moves); i++) {
		if (moves[i].from == pl->state && moves[i].holds(a, p))
			return moves[i].make(a, p);
	}
	return *pl;
}

struct podgroup_text podgroup_attempt_text(const struct kar_pg_placement *pl, const struct kar_podgroup *g,
	const struct podgroup_counts *t, kar_time now, struct kar_arena *arena)
{
	char text[KAR_TIME_LEN];

	switch (pl->state) {
	case KAR_PG_STATE_ROLLING_BACK:
		return (struct podgroup_text){ kar_reason_RollingBack,
			kar_arena_printf(arena, "%s; its pods are being removed", pl->cause) };
	case KAR_PG_STATE_DEACTIVATED:
		return (struct podgroup_text){ kar_reason_Deactivated, kar_pg_failed_attempts(g, pl, arena) };
	case KAR_PG_STATE_WAITING:
		if (!pl->failures || now >= pl->retry_after)
			break;
		return (struct podgroup_text){ kar_reason_BackOff, kar_pg_next_try(pl, arena) };
	case KAR_PG_STATE_PLACED:
		if (t->scheduled >= t->quorum)
			break;
		if (kar_pg_of_others(g) && t->active + t->succeeded < t->quorum && kar_pg_holds(g, now))
			return (struct podgroup_text){ kar_reason_Placing,
				kar_arena_printf(arena,
					"%d of %d members started, room for the rest is held until %s",
					(int)t->scheduled, (int)t->quorum,
					kar_time_format(kar_pg_hold_ends(g), text)) };
		return (struct podgroup_text){ kar_reason_Placing,
			kar_arena_printf(arena, "%d/%d members bound, attempt %d", (int)t->scheduled,
				(int)t->quorum, (int)pl->attempt) };
	default:
		break;
	}
	return (struct podgroup_text){ NULL, "" };
}
