/* Gangs are placed whole: how an attempt to start one goes on, and that none holds a part of what it needs (docs/design/podgroup.md, 4). */
#include <string.h>

#include "api/names.h"
#include "api/podgroup/pg_plan.h"
#include "api/status/reasons.h"
#include "common/base/str.h"
#include "common/base/timefmt.h"
#include "test/sim/rules.h"

static const kar_time TIME_OUT = KAR_MINUTE; /* the manager's default; for jobs no plan sets another */
static const kar_time SOON = 20 * KAR_SECOND;

/* --- the placement of a group -------------------------------------------------------------------------- */

enum kar_pg_state model_placement(const struct sim_value *group)
{
	const char *state = sim_text_or(sim_get(group, "status", "placement", "state"), "");

	for (int s = KAR_PG_STATE_NONE + 1; s < KAR_PG_STATES; s++) {
		if (strcmp(kar_pg_state_name((enum kar_pg_state)s), state) == 0)
			return (enum kar_pg_state)s;
	}
	return KAR_PG_STATE_NONE;
}

const struct sim_value *model_group(const struct model *l, const struct model_job *j)
{
	const struct sim_value *group =
		sim_apiserver_peek(l->server, KAR_PODGROUP_GROUP, "podgroups", j->ns, j->name);
	const char *owner = model_owner(group);

	return owner && strcmp(owner, j->uid) == 0 ? group : NULL;
}

/* No pod of the group may be created, and those that have not ended are deleted. */
static bool has_no_places(enum kar_pg_state s)
{
	return s == KAR_PG_STATE_WAITING || s == KAR_PG_STATE_ROLLING_BACK || s == KAR_PG_STATE_DEACTIVATED;
}

void model_note_places(const struct model *l, struct model_job *j, const struct sim_value *group)
{
	bool none = has_no_places(model_placement(group));

	if (j->no_places && !none)
		j->had_no_places = model_now(l);
	j->no_places = !none ? 0 : j->no_places ? j->no_places : model_now(l);
}

static int number(const struct sim_value *group, const char *field)
{
	return (int)sim_get_int(group, 0, "status", "placement", field);
}

/* Wall ms; 0: it has none. */
static kar_time time_of(const struct sim_value *group, const char *field)
{
	const char *text = sim_get_text(group, "status", "placement", field);
	kar_time at;

	return text && kar_time_parse(text, &at) == 0 ? at : 0;
}

kar_time rules_timeout_of(const struct sim_value *group)
{
	kar_time own = sim_get_int(group, 0, "spec", "scheduleTimeoutSeconds") * KAR_SECOND;

	return own ? own : TIME_OUT;
}

kar_time rules_retry_after(const struct sim_value *group)
{
	return time_of(group, "retryAfter");
}

/* --- who has what -------------------------------------------------------------------------------------- */

/* What the pods of a gang have. */
struct seats {
	int alive, bound; /* pods; on nodes */
	bool goes;        /* one is being deleted, and has its name until it is gone */
	kar_time created; /* the youngest pod, also if it is lost */
};

static struct seats look(const struct model *l, const struct model_job *j)
{
	struct seats s = { 0 };
	const struct model_pod *p;

	TAILQ_FOREACH(p, &j->pods, of_job) {
		const struct sim_value *pod = sim_apiserver_peek(l->server, "", "pods", p->ns, p->name);

		s.goes |= p->deleting != 0;
		s.created = s.created > p->created ? s.created : p->created;
		if (p->failed || p->succeeded || p->deleting)
			continue;
		s.alive++;
		s.bound += sim_get(pod, "spec", "nodeName") != NULL;
	}
	return s;
}

bool rules_is_raised(const struct sim_value *job)
{
	const struct sim_value *formed = model_condition(job, KAR_QJ_FORMED);

	return kar_streq(sim_text(sim_member(formed, "reason")), kar_reason_QuorumRaised);
}

/* Does somebody's hand make it lack a part, or keep its pods? */
static bool is_disturbed(const struct model *l, const struct model_job *j, const struct sim_value *job,
	const struct seats *s, int left)
{
	bool lacks_name = s->goes && s->alive < left;

	return j->status_edited || j->pods_edited || j->deleting || rules_is_raised(job) || lacks_name ||
		!model_names_are_free(l, j);
}

/* Nodes that a gang holds which has too few of them for its minimum, and pods that wait for more; 0: it is not so. */
static int part_of(const struct model *l, const struct model_job *j, const struct seats *s)
{
	const struct sim_value *group = model_group(l, j);
	enum kar_pg_state state = model_placement(group);
	const struct sim_value *job = model_stored(l, j);
	int quorum = rules_quorum(j, job), left;

	if (state == KAR_PG_STATE_SATISFIED && number(group, "satisfiedMember") < quorum)
		quorum = number(group, "satisfiedMember"); /* what runs may go on if it was raised since */
	left = quorum - rules_done(j, job);
	if (state == KAR_PG_STATE_NONE || (j->ordered && state == KAR_PG_STATE_SATISFIED) ||
		s->bound >= left || s->alive == s->bound || is_disturbed(l, j, job, s, left))
		return 0;
	return s->bound;
}

/* --- for long ------------------------------------------------------------------------------------------ */

/* A pod that it gets, or one that is new, begins the time anew. */
static void note_part(const struct model *l, struct model_job *j, const struct seats *s)
{
	int part = part_of(l, j, s);

	if (j->part != part || j->part_since < s->created)
		j->part_since = model_now(l);
	j->part = part;
}

static void check_held(struct model *l, struct model_job *j)
{
	const struct sim_value *group = model_group(l, j);
	struct seats s = look(l, j);
	kar_time since = j->placed > s.created ? j->placed : s.created; /* the last pod has its time */

	note_part(l, j, &s);
	if (j->finished || j->invalid) /* an impossible template replaces no pods */
		return;
	if (j->part && model_now(l) - j->part_since > TIME_OUT + SOON)
		model_break(l, "nodes-whole",
			"job %s/%s has held %d nodes for a part of its minimum for more than %lld s", j->ns,
			j->name, j->part, (long long)(TIME_OUT + SOON) / KAR_SECOND);
	else if (model_placement(group) == KAR_PG_STATE_PLACED && since && !j->status_edited &&
		model_now(l) - since > TIME_OUT + SOON)
		model_break(l, "nodes-plan-ends", "the plan of job %s/%s has not ended after %lld s", j->ns,
			j->name, (long long)(TIME_OUT + SOON) / KAR_SECOND);
	else if (j->no_places && s.alive && !j->pods_edited && !j->status_edited &&
		model_now(l) - j->no_places > SOON && model_now(l) - s.created > SOON)
		model_break(l, "nodes-rolled-back",
			"job %s/%s has had no places for more than %lld s, and has %d pods", j->ns, j->name,
			(long long)SOON / KAR_SECOND, s.alive);
}

void rules_check_nodes(struct model *l)
{
	struct model_job *j;

	if (!l->faultless)
		return;
	TAILQ_FOREACH(j, &l->present, in_present)
		check_held(l, j);
}

/* --- the moves of an attempt --------------------------------------------------------------------------- */

/* For each state those from which it is entered, one bit each. */
#define FROM(s) (1U << KAR_PG_STATE_##s)
#define HELD (FROM(RESERVING) | FROM(SUSPENDED))
static const unsigned entered_from[KAR_PG_STATES] = {
	[KAR_PG_STATE_NONE] = FROM(WAITING) | FROM(DEACTIVATED) | HELD, /* nobody places it any more */
	[KAR_PG_STATE_WAITING] = FROM(ROLLING_BACK) | FROM(DEACTIVATED),
	[KAR_PG_STATE_PLACED] =
		FROM(NONE) | FROM(WAITING) | FROM(PLACED) | FROM(UNPLACED) | FROM(SATISFIED) | HELD,
	[KAR_PG_STATE_UNPLACED] = FROM(PLACED) | FROM(SATISFIED),
	[KAR_PG_STATE_SATISFIED] = FROM(PLACED) | FROM(UNPLACED),
	[KAR_PG_STATE_ROLLING_BACK] = FROM(PLACED) | FROM(UNPLACED) | FROM(SATISFIED),
	[KAR_PG_STATE_DEACTIVATED] = FROM(ROLLING_BACK),
	[KAR_PG_STATE_RESERVING] = FROM(NONE) | FROM(WAITING) | FROM(SUSPENDED),
	[KAR_PG_STATE_SUSPENDED] = FROM(NONE) | FROM(WAITING) | FROM(PLACED) | FROM(UNPLACED) |
		FROM(SATISFIED) | FROM(ROLLING_BACK) | FROM(DEACTIVATED) | FROM(RESERVING),
};

/* The pods of a group of others are there before it is placed: if they go, it is a new gang. While it runs, nobody stops it. */
static const unsigned ends_from = FROM(PLACED) | FROM(SATISFIED);

static bool may_enter(const struct sim_change *c, enum kar_pg_state was, enum kar_pg_state is)
{
	unsigned from = entered_from[is];

	if (!model_owner(c->new) && is == KAR_PG_STATE_NONE)
		from |= ends_from;
	if (!model_owner(c->new) && is == KAR_PG_STATE_SATISFIED)
		from |= FROM(NONE) | FROM(WAITING) |
			FROM(RESERVING); /* released, given up, and bound all the same */
	if (!model_owner(c->new) && is == KAR_PG_STATE_ROLLING_BACK && !rules_evicted_by(c->new)[0])
		from &= ~(FROM(SATISFIED));
	return was == is || (from & 1U << was);
}

bool rules_begins_attempt(const struct sim_change *c)
{
	return c->new &&model_placement(c->new) == KAR_PG_STATE_PLACED &&
		(model_placement(c->old) != KAR_PG_STATE_PLACED ||
			number(c->new, "attempt") != number(c->old, "attempt"));
}

bool rules_changes_plan(const struct sim_change *c)
{
	return c->new && c->old &&model_placement(c->new) == KAR_PG_STATE_PLACED &&
		!rules_begins_attempt(c) &&
		!sim_equal(sim_get(c->old, "status", "placement", "plan"),
			sim_get(c->new, "status", "placement", "plan"));
}

/* Pods that the plan has places for. */
static int64_t places_of(const struct sim_value *group)
{
	const struct sim_value *plan = sim_get(group, "status", "placement", "plan");
	struct kar_arena arena = { 0 };
	int64_t n = 0;

	for (size_t i = 0; i < sim_count(plan); i++) {
		struct kar_pg_planned role = { sim_text_or(sim_member(sim_item(plan, i), "role"), ""),
			sim_text_or(sim_member(sim_item(plan, i), "nodes"), "") };
		const struct kar_pg_placement p = { .plan = &role, .n_plan = 1 };
		struct kar_pg_seats seats = kar_pg_plan_seats(&p, role.role, &arena);

		for (size_t k = 0; k < seats.n; k++)
			n += seats.items[k].n;
	}
	kar_arena_release(&arena);
	return n;
}

/* For what comes in the stead of a stuck pod of another controller there is a place, without another repair. */
static void check_repair(const struct rule *r, const struct write *w)
{
	const struct sim_change *c = w->c;
	bool needs_less = w->job && w->job->spec_edited > w->job->created;
	int repairs;

	if (!w->by_manager || !rules_changes_plan(c))
		return;
	repairs = number(c->new, "repairs") - number(c->old, "repairs");
	if (repairs < !!model_owner(c->new) || repairs > 1 || number(c->new, "repairs") > 3)
		model_break(w->l, r->name, "group %s/%s: repair %d follows repair %d", c->ns, c->name,
			number(c->new, "repairs"), number(c->old, "repairs"));
	else if (model_owner(c->new) &&
		(places_of(c->new) > places_of(c->old) ||
			(places_of(c->new) < places_of(c->old) && !needs_less)))
		model_break(w->l, r->name, "group %s/%s had places for %lld pods, and has them for %lld",
			c->ns, c->name, (long long)places_of(c->old), (long long)places_of(c->new));
	else if (time_of(c->new, "deadline") != time_of(c->old, "deadline"))
		model_break(w->l, r->name, "group %s/%s: its deadline is another now", c->ns, c->name);
}

static int64_t admitted_generation(const struct sim_value *group)
{
	return sim_get_int(group, 0, "status", "admittedGeneration");
}

/* Its job was edited, or refused, before it had a pod. */
static bool is_taken_back(const struct sim_change *c)
{
	return admitted_generation(c->old) && !admitted_generation(c->new) && model_is_admitted(c->old) &&
		!model_is_admitted(c->new);
}

/* Its job was edited after it was admitted, and had no pods, as far as the manager knew. */
static bool is_admitted_anew(const struct sim_change *c)
{
	return admitted_generation(c->old) && admitted_generation(c->new) != admitted_generation(c->old);
}

static void check_begin(const struct rule *r, const struct write *w)
{
	const struct sim_change *c = w->c;
	enum kar_pg_state was = model_placement(c->old);
	bool waited = was == KAR_PG_STATE_WAITING || HELD & 1U << was;
	kar_time retry = waited ? time_of(c->old, "retryAfter") : 0;

	if (number(c->new, "attempt") != number(c->old, "attempt") + 1)
		model_break(w->l, r->name, "group %s/%s: attempt %d follows attempt %d", c->ns, c->name,
			number(c->new, "attempt"), number(c->old, "attempt"));
	else if (time_of(c->new, "deadline") != time_of(c->new, "time") + rules_timeout_of(c->new))
		model_break(w->l, r->name, "group %s/%s: its deadline is not the time-out after its begin",
			c->ns, c->name);
	/* An admission without places is not believed: a job may have adopted the group, or somebody else has written it. */
	else if (was != KAR_PG_STATE_WAITING && was != KAR_PG_STATE_NONE && model_is_admitted(c->old) &&
		!is_admitted_anew(c))
		model_break(w->l, r->name, "group %s/%s is admitted, in state %s, and is placed again", c->ns,
			c->name, kar_pg_state_name(was));
	else if (w->l->faultless && sim_timeline_wall(w->l->timeline) < retry)
		model_break(w->l, r->name, "group %s/%s is placed again %lld ms too early", c->ns, c->name,
			(long long)(retry - sim_timeline_wall(w->l->timeline)));
}

/* 5 s, twice as long after each failure, at most 10 min; a tenth more or less, in whole seconds. */
static void check_pause(const struct rule *r, const struct write *w)
{
	static const kar_time FIRST = 5 * KAR_SECOND, LONGEST = 10 * KAR_MINUTE;
	kar_time pause = FIRST, is = time_of(w->c->new, "retryAfter") - time_of(w->c->new, "time");

	for (int i = 1; i < number(w->c->new, "failures") && pause < LONGEST; i++)
		pause *= 2;
	pause = pause < LONGEST ? pause : LONGEST;
	if (is < pause * 9 / 10 || is > pause * 11 / 10 + KAR_SECOND)
		model_break(w->l, r->name, "group %s/%s waits for %lld s after %d failures in a row",
			w->c->ns, w->c->name, (long long)is / KAR_SECOND, number(w->c->new, "failures"));
}

static int failures_after(const struct sim_change *c, enum kar_pg_state was, enum kar_pg_state is)
{
	int failures = number(c->old, "failures");

	bool has_run_long = was == KAR_PG_STATE_SATISFIED &&
		time_of(c->new, "time") - time_of(c->old, "time") >= 10 * KAR_MINUTE;

	if (was == is)
		return failures;
	if (is == KAR_PG_STATE_WAITING && is_taken_back(c))
		return number(c->new, "failures") ? failures : 0;
	if (was == KAR_PG_STATE_SATISFIED && is == KAR_PG_STATE_NONE && !number(c->new, "failures"))
		return 0; /* its admission was withdrawn */
	if (is == KAR_PG_STATE_NONE &&
		HELD & 1U << was) /* nobody places it any more, or it goes on waiting */
		return number(c->new, "failures") ? failures : 0;
	if (is == KAR_PG_STATE_NONE && !(ends_from & 1U << was))
		return 0;
	if (was == KAR_PG_STATE_ROLLING_BACK && is != KAR_PG_STATE_SUSPENDED)
		return failures + !rules_evicted_by(c->old)[0];
	return has_run_long || was == KAR_PG_STATE_DEACTIVATED ? 0 : failures;
}

/* Pods that are created bound cannot go without places, so the gang waits for them again. */
static unsigned entered_if_direct(const struct write *w, enum kar_pg_state is)
{
	const struct sim_value *job = w->job ? model_stored(w->l, w->job) : NULL;

	bool edited = job && w->job->spec_edited >= model_horizon(w->l);

	/* A new group of a job that runs: it has started. */
	if (is == KAR_PG_STATE_SATISFIED && job && rules_is_direct(job) && !TAILQ_EMPTY(&w->job->pods))
		return FROM(NONE);
	if (is != KAR_PG_STATE_WAITING || (job && !edited && !rules_is_direct(job) && !is_taken_back(w->c)))
		return 0;
	return FROM(NONE) | FROM(PLACED) | FROM(UNPLACED) | FROM(SATISFIED);
}

static void check_move(const struct rule *r, const struct write *w)
{
	const struct sim_change *c = w->c;
	enum kar_pg_state was = model_placement(c->old), is = model_placement(c->new);

	if (!w->by_manager || !c->new || !c->old)
		return;
	if (!may_enter(c, was, is) && !(entered_if_direct(w, is) & 1U << was))
		model_break(w->l, r->name, "group %s/%s goes from state %s to %s", c->ns, c->name,
			kar_pg_state_name(was), kar_pg_state_name(is));
	else if (number(c->new, "failures") != failures_after(c, was, is))
		model_break(w->l, r->name, "group %s/%s goes from state %s with %d failures to %s with %d",
			c->ns, c->name, kar_pg_state_name(was), number(c->old, "failures"),
			kar_pg_state_name(is), number(c->new, "failures"));
	else if (rules_begins_attempt(c))
		check_begin(r, w);
	else if (was == KAR_PG_STATE_ROLLING_BACK && is == KAR_PG_STATE_WAITING &&
		!rules_evicted_by(c->old)[0])
		check_pause(r, w);
}

/* --- its pods ------------------------------------------------------------------------------------------ */

static void check_no_places(const struct rule *r, const struct write *w)
{
	if (w->by_manager && w->job && w->job->no_places && w->job->no_places < model_horizon(w->l))
		model_break(w->l, r->name, "pod %s/%s is created, and its group has had no places for %lld s",
			w->c->ns, w->c->name, (long long)(model_now(w->l) - w->job->no_places) / KAR_SECOND);
}

/* --- rolling back -------------------------------------------------------------------------------------- */

static bool gives_back(const struct write *w)
{
	return w->by_manager && w->c->old && model_phase(w->c->old) != KAR_QJ_PHASE_RESTARTING &&
		model_phase(w->c->new) == KAR_QJ_PHASE_RESTARTING && model_gave_back(w->c->new);
}

static void check_given_back(const struct rule *r, const struct write *w)
{
	if (gives_back(w) && !w->job->status_edited && !w->job->no_places &&
		w->job->had_no_places < model_horizon(w->l))
		model_break(w->l, r->name, "job %s/%s rolls back, and its group has not said so", w->c->ns,
			w->c->name);
}

static int counter(const struct sim_value *job, const char *field)
{
	return (int)sim_get_int(job, 0, "status", field);
}

static void check_nothing_lost(const struct rule *r, const struct write *w)
{
	static const char *const counters[] = { "restarts", "podFailures", "disruptions" };

	if (!gives_back(w) || w->job->status_edited || w->job->template_changed)
		return;
	for (size_t i = 0; i < KAR_LEN(counters) && w->l->faultless; i++) {
		if (counter(w->c->new, counters[i]) > counter(w->c->old, counters[i]) + w->job->losses)
			model_break(w->l, r->name, "job %s/%s rolls back, and %s grows", w->c->ns, w->c->name,
				counters[i]);
	}
	if (counter(w->c->new, "succeeded") < counter(w->c->old, "succeeded") &&
		w->job->spec_edited == w->job->created)
		model_break(w->l, r->name, "job %s/%s rolls back, and forgets %d pods that succeeded",
			w->c->ns, w->c->name,
			counter(w->c->old, "succeeded") - counter(w->c->new, "succeeded"));
}

/* --- at rest ------------------------------------------------------------------------------------------- */

void rules_check_group_at_rest(struct model *l, const struct sim_value *group)
{
	const char *owner = model_owner(group);
	const struct model_job *j = owner ? model_find_job(l, owner) : NULL;
	enum kar_pg_state s = model_placement(group);

	if (!j || j->finished)
		return;
	if (s == KAR_PG_STATE_PLACED || s == KAR_PG_STATE_ROLLING_BACK)
		model_break(l, "nodes-rest", "group %s/%s rests in state %s",
			sim_text_or(sim_get(group, "metadata", "namespace"), ""),
			sim_text_or(sim_get(group, "metadata", "name"), ""), kar_pg_state_name(s));
}

const struct rule rules_of_nodes[] = {
	{ RULE_GROUP_CHANGED, "nodes-attempt",
		"an attempt to start a gang goes on as specified: failures count once, and the next one waits for its time",
		check_move },
	{ RULE_GROUP_CHANGED, "nodes-repair",
		"members that are stuck get other nodes at most three times in an attempt, and nothing else changes",
		check_repair },
	{ RULE_POD_CREATED, "nodes-no-places", "no pod is created for a group that waits or is rolled back",
		check_no_places },
	{ RULE_JOB_CHANGED, "nodes-given-back", "a gang is rolled back only if its group says so",
		check_given_back },
	{ RULE_JOB_CHANGED, "nodes-nothing-lost", "that counts as nothing, and forgets no success",
		check_nothing_lost },
};
const size_t n_rules_of_nodes = KAR_LEN(rules_of_nodes);
