/* Gangs on too few nodes: none gives back what nobody else waits for, and in the end no two hold what the other lacks. */
#include <string.h>

#include "common/str.h"
#include "api/names.h"
#include "api/reasons.h"
#include "common/timefmt.h"
#include "test/sim/rules.h"

static const kar_time TIME_OUT = KAR_MINUTE; /* the manager's default; no plan sets another */

/* --- who waits ----------------------------------------------------------------------------------------- */

/* What the pods of a gang have. */
struct seats {
	int alive, bound; /* pods; on nodes */
	bool goes;        /* one is being deleted, and has its name until it is gone */
	bool waits;       /* one of those that are not on nodes is unschedulable */
	kar_time created; /* the youngest of them */
};

static bool is_unschedulable(const struct sim_value *pod)
{
	const char *reason = sim_text(sim_member(model_condition(pod, "PodScheduled"), "reason"));

	return !sim_get(pod, "spec", "nodeName") && kar_streq(reason, "Unschedulable");
}

static struct seats look(const struct model *l, const struct model_job *j)
{
	struct seats s = { 0 };
	const struct model_pod *p;

	TAILQ_FOREACH(p, &j->pods, of_job) {
		const struct sim_value *pod = sim_apiserver_peek(l->server, "", "pods", p->ns, p->name);

		s.goes |= p->deleting != 0;
		if (p->failed || p->succeeded || p->deleting)
			continue;
		s.alive++;
		s.bound += sim_get(pod, "spec", "nodeName") != NULL;
		s.waits |= is_unschedulable(pod);
		s.created = s.created > p->created ? s.created : p->created;
	}
	return s;
}

bool rules_is_raised(const struct sim_value *job)
{
	const struct sim_value *formed = model_condition(job, KAR_QJ_FORMED);

	return kar_streq(sim_text(sim_member(formed, "reason")), kar_reason_QuorumRaised);
}

/* May some of its pods still be without a node? */
static bool gets_nodes(const struct model_job *j)
{
	return j->phase == KAR_QJ_PHASE_STARTING || (j->ordered && j->phase == KAR_QJ_PHASE_RUNNING);
}

/* A gang at work that lacks nodes for its minimum. (One of one pod, or that waits for a name, is in no line for nodes.) */
static bool is_short(const struct model *l, const struct model_job *j, const struct sim_value *job,
	const struct seats *s)
{
	int quorum = rules_quorum(j, job), left = quorum - rules_done(j, job);
	bool lacks_name = s->goes && s->alive < left;

	return gets_nodes(j) && quorum > 1 && s->waits && !rules_is_raised(job) && s->bound < left &&
		!lacks_name && model_names_are_free(l, j);
}

/* --- at rest ------------------------------------------------------------------------------------------- */

static int number(const struct sim_value *job, const char *field)
{
	return (int)sim_get_int(job, 0, "status", field);
}

static int timeouts(const struct sim_value *job)
{
	return (int)sim_get_int(job, 0, "status", "record", "scheduleTimeouts");
}

kar_time rules_nodes_pause(int lost, kar_time longest)
{
	kar_time pause = TIME_OUT;

	for (int i = 1; i < lost && pause < longest; i++)
		pause = pause * 2 < longest ? pause * 2 : longest;
	return pause;
}

/* It holds nothing, and has let those pass that wait behind it, for longer perhaps than all was quiet. */
static bool lets_pass(const struct model *l, const struct model_job *j, const struct sim_value *job,
	const struct seats *s)
{
	return !s->bound && j->turn_lost &&
		model_now(l) - j->turn_lost <
		TIME_OUT + 2 * l->worst_clock + rules_nodes_pause(timeouts(job), RULES_LONGEST_PAUSE);
}

void rules_check_nodes_at_rest(struct model *l)
{
	const struct model_job *j, *holds = NULL, *other = NULL;

	TAILQ_FOREACH(j, &l->present, in_present) {
		const struct sim_value *job = model_stored(l, j);
		struct seats s = look(l, j);

		if (!is_short(l, j, job, &s) || lets_pass(l, j, job, &s))
			continue;
		if (!holds && s.bound)
			holds = j;
		else
			other = j;
	}
	if (holds && other)
		model_break(l, "nodes-shared",
			"job %s/%s holds nodes for a part of its minimum for ever, and %s/%s lacks nodes too",
			holds->ns, holds->name, other->ns, other->name);
}

/* --- for long ------------------------------------------------------------------------------------------ */

/*
 * Since when @j holds a part: a pod that it gets, or one that is new, begins the time anew. @came: when the last gang has come
 * that lacks nodes, and may go first. The others give back when they and it have waited for so long.
 */
static void note_part(const struct model *l, struct model_job *j, kar_time *came)
{
	struct seats s = { 0 };

	if (gets_nodes(j))
		s = look(l, j);
	if (!is_short(l, j, model_stored(l, j), &s)) {
		j->part = 0;
		j->lacks_since = 0;
		return;
	}
	j->lacks_since = j->lacks_since ? j->lacks_since : model_now(l);
	*came = s.created > *came ? s.created : *came;
	if (j->part != s.bound || j->part_since < s.created)
		j->part_since = model_now(l);
	j->part = s.bound;
}

void rules_check_nodes(struct model *l)
{
	const kar_time LATE = TIME_OUT + 20 * KAR_SECOND;
	const struct model_job *first = NULL;
	struct model_job *j;
	kar_time came = 0;

	if (!l->faultless)
		return;
	TAILQ_FOREACH(j, &l->present, in_present)
		note_part(l, j, &came);
	TAILQ_FOREACH(j, &l->present, in_present) {
		if (j->status_edited || j->pods_edited || !j->part ||
			model_now(l) - (j->part_since > came ? j->part_since : came) < LATE)
			continue;
		if (first)
			model_break(l, "nodes-shared",
				"jobs %s/%s and %s/%s have held parts of their minimums for more than %lld s",
				first->ns, first->name, j->ns, j->name, (long long)LATE / KAR_SECOND);
		first = j;
	}
}

/* --- giving back --------------------------------------------------------------------------------------- */

static bool gives_back(const struct write *w)
{
	return w->by_manager && w->c->old && model_phase(w->c->old) != KAR_QJ_PHASE_RESTARTING &&
		model_phase(w->c->new) == KAR_QJ_PHASE_RESTARTING && model_gave_back(w->c->new);
}

/* Does any gang besides @j lack nodes, perhaps, or did a while ago? Its first start may not be recorded yet. */
static bool has_rival(const struct model *l, const struct model_job *j)
{
	const struct model_job *k;

	if (l->hostile)
		return true;
	TAILQ_FOREACH(k, &l->present, in_present) {
		bool steady = kar_qj_phase_terminal(k->phase) || k->phase == KAR_QJ_PHASE_SUSPENDED ||
			(k->phase == KAR_QJ_PHASE_RUNNING && !k->ordered);

		if (k != j && (!steady || k->phase_since >= model_horizon(l)))
			return true;
	}
	return false;
}

static void check_given_back(const struct rule *r, const struct write *w)
{
	struct seats s;

	if (!gives_back(w) || w->job->status_edited || w->job->pods_edited)
		return;
	s = look(w->l, w->job);
	if (!has_rival(w->l, w->job))
		model_break(w->l, r->name, "job %s/%s gives its nodes back, and nobody else lacks any",
			w->c->ns, w->c->name);
	else if (w->l->faultless && s.created && model_now(w->l) - s.created < TIME_OUT - 2 * KAR_SECOND)
		model_break(w->l, r->name,
			"job %s/%s gives its nodes back %lld s after its last pod was created", w->c->ns,
			w->c->name, (long long)(model_now(w->l) - s.created) / KAR_SECOND);
	else if (w->l->faultless && !s.bound)
		model_break(w->l, r->name, "job %s/%s gives nodes back, but holds none", w->c->ns,
			w->c->name);
}

static void check_nothing_lost(const struct rule *r, const struct write *w)
{
	static const char *const counters[] = { "restarts", "podFailures", "disruptions" };

	if (!gives_back(w) || w->job->status_edited || w->job->template_changed)
		return;
	for (size_t i = 0; i < KAR_LEN(counters) && w->l->faultless; i++) {
		if (number(w->c->new, counters[i]) > number(w->c->old, counters[i]) + w->job->losses)
			model_break(w->l, r->name, "job %s/%s gives its nodes back, and %s grows", w->c->ns,
				w->c->name, counters[i]);
	}
	if (number(w->c->new, "succeeded") < number(w->c->old, "succeeded") &&
		w->job->spec_edited == w->job->created)
		model_break(w->l, r->name,
			"job %s/%s gives its nodes back, and forgets %d pods that succeeded", w->c->ns,
			w->c->name, number(w->c->old, "succeeded") - number(w->c->new, "succeeded"));
}

/* --- trying again -------------------------------------------------------------------------------------- */

/* Who comes to wait after a turn was lost counts that as lost too. Is @k no such newcomer, or @ours one as well? */
static bool counts_no_more(const struct model *l, const struct model_job *k, const struct model_job *ours)
{
	return l->turn_lost < ours->created ||
		(k->lacks_since && k->lacks_since + KAR_SECOND < l->first_lost);
}

/* Among those that have lost no turn: higher priority, then older. */
static bool goes_before(const struct model *l, const struct model_job *k, const struct write *w)
{
	const struct sim_value *job = model_stored(l, k);
	const struct sim_value *theirs =
		sim_apiserver_peek(l->server, KAR_PODGROUP_GROUP, "podgroups", k->ns, k->name);
	const struct sim_value *ours =
		sim_apiserver_peek(l->server, KAR_PODGROUP_GROUP, "podgroups", w->c->ns, w->c->name);
	int64_t a = sim_get_int(theirs, 0, "spec", "priority"), b = sim_get_int(ours, 0, "spec", "priority");
	struct seats s = look(l, k);

	/* That it got a node of late shows that its turn is not over. */
	return counts_no_more(l, k, w->job) && is_short(l, k, job, &s) && k->part &&
		model_now(l) - k->part_since < TIME_OUT - 5 * KAR_SECOND && !timeouts(job) &&
		(a > b || (a == b && k->created + KAR_SECOND < w->job->created));
}

static bool loses_turn(const struct sim_change *c)
{
	return c->old && timeouts(c->new) > timeouts(c->old);
}

void rules_note_turn_of_others(struct model *l, const struct sim_change *c)
{
	if (strcmp(c->resource, "queuejobs") != 0 || !loses_turn(c))
		return;
	l->turn_lost = model_now(l);
	if (!l->first_lost)
		l->first_lost = l->turn_lost;
}

static void note_turn(const struct write *w)
{
	if (loses_turn(w->c))
		w->l->turn_lost = w->job->turn_lost = model_now(w->l);
	if (!w->l->first_lost)
		w->l->first_lost = w->l->turn_lost;
}

/* After it has given its nodes back, in a run in which nothing goes wrong. */
static bool tries_again(const struct write *w)
{
	return w->l->faultless && w->by_manager && !w->job->status_edited &&
		model_phase(w->c->old) == KAR_QJ_PHASE_RESTARTING &&
		model_phase(w->c->new) == KAR_QJ_PHASE_STARTING && model_gave_back(w->c->old);
}

static void check_turn(const struct rule *r, const struct write *w)
{
	const struct model_job *k;

	note_turn(w);
	if (!tries_again(w) || timeouts(w->c->old))
		return;
	TAILQ_FOREACH(k, &w->l->present, in_present) {
		if (k != w->job && !k->status_edited && !k->pods_edited && goes_before(w->l, k, w))
			model_break(w->l, r->name,
				"job %s/%s tries again to get nodes, but %s/%s goes first, and lacks some",
				w->c->ns, w->c->name, k->ns, k->name);
	}
}

/* When a job has ended since, the pause may be cut short to LONGEST. */
static void check_pause(const struct rule *r, const struct write *w)
{
	static const kar_time LONGEST = 10 * KAR_MINUTE;
	int lost = timeouts(w->c->old);
	kar_time at, passed;

	if (!tries_again(w) || !lost ||
		kar_time_parse(sim_text_or(sim_get(w->c->old, "status", "lastRestart", "time"), ""), &at))
		return;
	passed = sim_timeline_wall(w->l->timeline) - at;
	if (passed < rules_nodes_pause(lost, LONGEST) - 2 * KAR_SECOND)
		model_break(w->l, r->name,
			"job %s/%s has lost %d turns, and tries again to get nodes %lld s after the last one",
			w->c->ns, w->c->name, lost, (long long)passed / KAR_SECOND);
}

const struct rule rules_of_nodes[] = {
	{ RULE_JOB_CHANGED, "nodes-given-back",
		"a gang gives its nodes back after the time-out, and only if others lack nodes",
		check_given_back },
	{ RULE_JOB_CHANGED, "nodes-nothing-lost", "that counts as nothing, and forgets no success",
		check_nothing_lost },
	{ RULE_JOB_CHANGED, "nodes-turn", "it tries again when those that go first have theirs", check_turn },
	{ RULE_JOB_CHANGED, "nodes-pause", "and after a pause, which grows with each turn that it loses",
		check_pause },
};
const size_t n_rules_of_nodes = KAR_LEN(rules_of_nodes);
