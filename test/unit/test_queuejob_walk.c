/*
 * Random walks: a QueueJob among pods that run, fail, vanish, users who edit it and managers that crash between any two
 * calls. After every step the invariants of the life cycle are checked. A failing walk prints its seed; KAR_SEED=n runs
 * that one alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/status/intervals.h"
#include "controllers/podset/podset.h"
#include "test/unit/queuejob_walk.h"

enum { WALKS = 400, STEPS = 200, CALM_ROUNDS = 200 };

/* --- what must hold of a plan -------------------------------------------------------------------- */

/* Does @st say that @pod has done its work? */
static bool is_done(const struct walk *w, const struct kar_queuejob_status *st, const struct kar_pod *pod)
{
	struct kar_intervals done;
	struct kar_arena scratch = { 0 };
	size_t task;
	int32_t index;
	bool is = false;

	if (pod->phase == KAR_POD_SUCCEEDED &&
		kar_queuejob_pod_index(&w->s.job, pod->o.name, &task, &index) &&
		kar_intervals_parse(st->tasks[task].succeeded_indexes, &scratch, &done) == 0)
		is = kar_intervals_has(&done, index);
	kar_arena_release(&scratch);
	return is;
}

static bool repairs(const struct kar_plan *p, const struct kar_pod *pod)
{
	for (size_t i = 0; i < p->n_actions; i++) {
		if (p->actions[i].what == PODSET_RELABEL && strcmp(p->actions[i].name, pod->o.name) == 0)
			return true;
	}
	return false;
}

/* Its task is being restarted, or the queue does not want it: it goes, whatever its label says. */
static bool goes_anyway(const struct walk *w, const struct kar_plan *p, const struct kar_pod *pod)
{
	const struct kar_queuejob_status *st = p->status ? p->status : &w->s.job.status;
	size_t task;
	int32_t index;

	return is_recorded(w, pod) ||
		(kar_queuejob_pod_index(&w->s.job, pod->o.name, &task, &index) &&
			st->tasks[task].restart_time);
}

static void check_create(struct walk *w, const struct kar_plan *p, const struct kar_action *a,
	bool *extras_seen)
{
	const struct kar_queuejob_status *next = p->status ? p->status : &w->s.job.status;
	const struct queuejob_new_pod *pod = a->payload;
	int32_t incarnation = incarnation_of(w);

	CHECK(w, may_create(w), "creates %s in phase %s", a->name, kar_qj_phase_name(w->s.job.status.phase));
	CHECK(w, pod->incarnation == incarnation, "creates %s of another incarnation", a->name);
	CHECK(w, w->s.owner_checked == incarnation, "creates %s without having checked the owner", a->name);
	CHECK(w, w->s.has_group && kar_condition_is_true(&w->s.group.status.conditions, KAR_PG_ADMITTED),
		"creates %s without admission", a->name);
	CHECK(w, !w->done[pod->task][pod->index], "creates %s, which has succeeded", a->name);
	for (size_t i = 0; i < w->s.n_pods; i++) {
		const struct kar_pod *other = w->s.pods[i];

		if (other->job && other->job->incarnation < incarnation && other->job->incarnation > 0)
			CHECK(w, is_done(w, next, other) || repairs(p, other) || goes_anyway(w, p, other),
				"creates %s while %s of an older incarnation exists", a->name, other->o.name);
	}
	if (a->rank.tier == KAR_TIER_EXTRA)
		*extras_seen = true;
	else
		CHECK(w, !*extras_seen, "creates %s of the minimum after an extra", a->name);
}

static const struct kar_pod *find_pod(const struct walk *w, const char *name)
{
	for (size_t i = 0; i < w->s.n_pods; i++) {
		if (strcmp(w->s.pods[i]->o.name, name) == 0)
			return w->s.pods[i];
	}
	return NULL;
}

/* The finalizer of a pod that has ended goes only when what it tells is in the recorded status. */
static void check_release(struct walk *w, const struct kar_plan *p, const struct kar_action *a)
{
	const struct kar_queuejob_status *st = &w->s.job.status;
	const struct kar_queuejob_status *next = p->status ? p->status : st;
	const struct kar_pod *pod = find_pod(w, a->name);
	size_t task;
	int32_t index;
	bool counts = st->phase == next->phase && pod && is_current(w, pod) &&
		kar_queuejob_pod_index(&w->s.job, pod->o.name, &task, &index);

	if (!counts || pod->phase != KAR_POD_SUCCEEDED || !w->done[task][index])
		return;
	CHECK(w, is_done(w, st, pod), "lets go of %s before its success is recorded", a->name);
}

/* The label of its incarnation can be edited, and is no reason to kill a pod of a gang that goes on. */
static void check_delete(struct walk *w, const struct kar_plan *p, const struct kar_action *a)
{
	const struct kar_queuejob_status *st = &w->s.job.status;
	const struct kar_queuejob_status *next = p->status ? p->status : st;
	const struct kar_pod *pod = find_pod(w, a->name);
	size_t task;
	int32_t index;

	if (!pod || !pod->job || !st->incarnation || pod->job->incarnation >= st->incarnation ||
		kar_pod_finished(pod) || !queuejob_has_gang(st->phase) || !queuejob_has_gang(next->phase) ||
		!kar_queuejob_pod_index(&w->s.job, pod->o.name, &task, &index) ||
		index >= w->s.tasks[task].replicas || next->tasks[task].restart_time)
		return;
	CHECK(w, w->done[task][index] || is_done(w, st, pod) || is_recorded(w, pod),
		"deletes %s for its label", a->name);
}

/* A healthy pod of a gang that goes on is only taken away because of the queue, or of a user's edit, and that is recorded. */
static bool sheds(const struct walk *w, const struct kar_plan *p, const struct kar_action *a)
{
	const struct kar_queuejob_status *st = &w->s.job.status, *next = p->status ? p->status : st;
	const struct kar_pod *pod =
		a->what == PODSET_DELETE || a->what == PODSET_DISRUPT ? find_pod(w, a->name) : NULL;
	size_t task;
	int32_t index;

	return pod && pod->job && pod->job->incarnation == st->incarnation && !kar_pod_lost(pod) &&
		!kar_pod_finished(pod) && !pod->gate_ours && queuejob_has_gang(st->phase) &&
		queuejob_has_gang(next->phase) &&
		kar_queuejob_pod_index(&w->s.job, pod->o.name, &task, &index) &&
		index < w->s.tasks[task].replicas && !next->tasks[task].restart_time;
}

/* Of the gang: run, or have succeeded, without what @p takes away (NULL: nothing). */
static int32_t count_up(struct walk *w, const struct kar_plan *p)
{
	const struct kar_queuejob_status *next = p && p->status ? p->status : &w->s.job.status;
	int32_t n = next->succeeded;

	for (size_t i = 0; i < w->s.n_pods; i++) {
		const struct kar_pod *pod = w->s.pods[i];
		bool runs = pod->phase == KAR_POD_RUNNING || pod->phase == KAR_POD_UNKNOWN;
		bool stays = true;

		for (size_t k = 0; p && k < p->n_actions; k++)
			stays &= (p->actions[k].what != PODSET_DELETE &&
					 p->actions[k].what != PODSET_DISRUPT) ||
				strcmp(p->actions[k].name, pod->o.name) != 0;
		n += runs && stays && !pod->deletion;
	}
	return n;
}

static void check_shed(struct walk *w, const struct kar_plan *p)
{
	const struct kar_queuejob_status *next = p->status ? p->status : &w->s.job.status;
	int32_t before = count_up(w, NULL), after = count_up(w, p), min = scene_quorum(&w->s);
	unsigned shed = w->reach->shed;

	for (size_t i = 0; i < p->n_actions; i++) {
		if (!sheds(w, p, &p->actions[i]))
			continue;
		w->reach->shed++;
		CHECK(w, is_recorded(w, find_pod(w, p->actions[i].name)), "deletes %s unrecorded",
			p->actions[i].name);
	}
	/* What has not formed lacks a pod of an own minimum, perhaps, which goes before any that runs. */
	if (w->reach->shed > shed && next->record.formed_min_available >= min)
		CHECK(w, before < min || after >= min, "sheds the minimum: %d of %d left, quorum %d", after,
			before, min);
}

/* Only of tasks that have started, and this is recorded first. */
static void check_order(struct walk *w, const struct kar_plan *p, const struct kar_action *a)
{
	const struct kar_queuejob_status *st = p->status ? p->status : &w->s.job.status;
	const struct queuejob_new_pod *pod = a->payload;

	CHECK(w, st->tasks[pod->task].started, "creates %s, whose task waits", a->name);
}

static void check_plan(struct walk *w, const struct kar_plan *p)
{
	bool extras_seen = false;

	for (size_t i = 0; i < p->n_actions; i++) {
		const struct kar_action *a = &p->actions[i];

		if (a->what == QUEUEJOB_CREATE_POD && a->verb == KAR_CREATE) {
			check_create(w, p, a, &extras_seen);
			check_order(w, p, a);
		} else if (a->what == PODSET_DELETE) {
			check_delete(w, p, a);
		} else if (a->what == PODSET_RELEASE) {
			check_release(w, p, a);
		}
		for (size_t k = 0; k < i; k++)
			CHECK(w,
				p->actions[k].verb == a->verb || p->actions[k].type != a->type ||
					a->verb == KAR_PATCH || p->actions[k].verb == KAR_PATCH ||
					strcmp(p->actions[k].name, a->name),
				"does two things to %s", a->name);
	}
	check_shed(w, p);
	CHECK(w, !p->n_events || p->status, "has events without a status write: %s", p->events[0].note);
}

/* --- what must hold of a status write ------------------------------------------------------------ */

static void check_done(struct walk *w, const struct kar_queuejob_status *old,
	const struct kar_queuejob_status *new)
{
	for (size_t i = 0; i < old->n_tasks && i < new->n_tasks; i++) {
		struct kar_intervals was, is;

		assert_int_equal(kar_intervals_parse(old->tasks[i].succeeded_indexes, &w->s.arena, &was), 0);
		assert_int_equal(kar_intervals_parse(new->tasks[i].succeeded_indexes, &w->s.arena, &is), 0);
		for (int32_t k = 0; k < w->s.tasks[i].replicas; k++)
			CHECK(w, !kar_intervals_has(&was, k) || kar_intervals_has(&is, k),
				"forgets that %s-%d succeeded", new->tasks[i].name, k);
	}
}

static void check_status(struct walk *w, const struct kar_queuejob_status *old,
	const struct kar_queuejob_status *new)
{
	bool keeps = old->incarnation == new->incarnation &&new->phase != KAR_QJ_PHASE_RESTARTING &&
		old->phase != KAR_QJ_PHASE_RESTARTING &&
		old->phase != KAR_QJ_PHASE_SUSPENDED &&new->phase != KAR_QJ_PHASE_PENDING;
	/* Before it is at work, and when it is suspended, the order begins anew each time. */
	bool latched = keeps && old->incarnation && queuejob_has_gang(old->phase) &&
		new->phase != KAR_QJ_PHASE_SUSPENDED;

	CHECK(w, !kar_qj_phase_terminal(old->phase) || new->phase == old->phase, "%s becomes %s",
		kar_qj_phase_name(old->phase), kar_qj_phase_name(new->phase));
	CHECK(w,
		old->incarnation == 0 ? new->incarnation == 0 || new->incarnation == incarnation_of(w)
				      : new->incarnation - old->incarnation ==
				(new->phase == KAR_QJ_PHASE_STARTING &&
					(old->phase == KAR_QJ_PHASE_NONE ||
						old->phase == KAR_QJ_PHASE_PENDING ||
						old->phase == KAR_QJ_PHASE_RESTARTING)),
		"incarnation %d becomes %d, phase %s", old->incarnation, new->incarnation,
		kar_qj_phase_name(new->phase));
	CHECK(w,
		new->restarts - old->restarts == 0 ||
			(new->restarts - old->restarts == 1 && new->phase == KAR_QJ_PHASE_RESTARTING &&
				(old->phase == KAR_QJ_PHASE_RUNNING || w->s.job.spec.failure_policy.n)),
		"restarts %d becomes %d", old->restarts, new->restarts);
	CHECK(w, new->pod_failures >= old->pod_failures &&new->disruptions >= old->disruptions,
		"counts %d %d backwards", new->pod_failures, new->disruptions);
	CHECK(w, old->phase != KAR_QJ_PHASE_RESTARTING || new->phase != KAR_QJ_PHASE_STARTING || !w->s.n_pods,
		"starts while %s exists", w->s.pods[0]->o.name);
	if (keeps)
		check_done(w, old, new);
	for (size_t i = 0; latched && i < old->n_tasks; i++)
		CHECK(w, !old->tasks[i].started || new->tasks[i].started, "forgets that task %s has started",
			old->tasks[i].name);
}

static void follow_incarnation(struct walk *w)
{
	const struct kar_queuejob_status *st = &w->s.job.status;
	struct kar_arena scratch = { 0 };

	CHECK(w, st->restarts <= w->restarts + 1, "%d restarts in incarnation %d", st->restarts - w->restarts,
		st->incarnation);
	if (!st->incarnation) /* what runs is not recorded yet */
		return;
	if (!w->incarnation && st->phase != KAR_QJ_PHASE_RESTARTING && st->phase != KAR_QJ_PHASE_SUSPENDED) {
		w->incarnation = st->incarnation;
		return;
	}
	if (st->incarnation == w->incarnation && st->phase != KAR_QJ_PHASE_RESTARTING &&
		st->phase != KAR_QJ_PHASE_PENDING && st->phase != KAR_QJ_PHASE_SUSPENDED)
		return;
	if (st->incarnation != w->incarnation)
		w->restarts = st->restarts;
	w->incarnation = st->incarnation;
	memset(w->done, 0, sizeof(w->done));
	for (size_t i = 0; i < st->n_tasks; i++) {
		struct kar_intervals done;

		assert_int_equal(kar_intervals_parse(st->tasks[i].succeeded_indexes, &scratch, &done), 0);
		for (int32_t k = 0; k < w->s.tasks[i].replicas; k++)
			w->done[i][k] = kar_intervals_has(&done, k);
	}
	kar_arena_release(&scratch);
}

static void note_reach(struct walk *w, const struct kar_queuejob_status *old, const struct kar_plan *p)
{
	const struct kar_queuejob_status *new = p->status ? p->status : old;
	struct reach *r = w->reach;

	if (new->phase != old->phase)
		r->phase[new->phase]++;
	r->restarts += new->restarts > old->restarts;
	r->resumed += old->phase == KAR_QJ_PHASE_PENDING &&
		new->phase == KAR_QJ_PHASE_STARTING &&new->succeeded > 0;
	for (size_t i = 0; i < new->n_tasks &&i < old->n_tasks; i++)
		r->task_restarts += new->tasks[i].restart_time && !old->tasks[i].restart_time;
	for (size_t i = 0; i < p->n_actions; i++) {
		r->creates += p->actions[i].what == QUEUEJOB_CREATE_POD;
		r->releases += p->actions[i].what == PODSET_RELEASE;
		r->repairs += p->actions[i].what == PODSET_RELABEL;
	}
}

/* --- walking ------------------------------------------------------------------------------------- */

/* The manager decides, and gets as far as luck lets it. */
static bool decide(struct walk *w, bool whole)
{
	struct kar_queuejob_status old = w->s.job.status;
	struct kar_plan p, again;
	bool status = whole || draw(w, 4) > 0;

	scene_decide(&w->s, &p);
	scene_decide(&w->s, &again);
	CHECK(w, strcmp(scene_print(&w->s, &p), scene_print(&w->s, &again)) == 0, "is not deterministic: %s",
		scene_print(&w->s, &p));
	check_plan(w, &p);
	if (p.status)
		check_status(w, &old, p.status);
	/* Without its status write, a plan goes no further; counters alone may be held back. */
	note_reach(w, &old, &p);
	scene_apply(&w->s, &p, status,
		whole                         ? p.n_actions
			: status || !p.urgent ? draw(w, (uint32_t)p.n_actions + 1)
					      : 0);
	follow_incarnation(w);
	return p.status || p.n_actions;
}

static void come_to_rest(struct walk *w)
{
	int rounds = 0;

	while (decide(w, true) && rounds++ < CALM_ROUNDS)
		w->step++;
	CHECK(w, rounds < CALM_ROUNDS, "does not come to rest in phase %s",
		kar_qj_phase_name(w->s.job.status.phase));
}

/* What the queue lets be active, or the minimum, whichever is more. */
static void check_limit_at_rest(struct walk *w)
{
	const struct kar_queuejob_status *st = &w->s.job.status;
	const struct kar_podgroup *g = &w->s.group;
	int32_t live = 0, allowed = st->min_available - st->succeeded, own = 0;

	if (!w->s.has_group || !g->status.has_desired || !queuejob_has_gang(st->phase))
		return;
	for (size_t i = 0; i < w->s.n_pods; i++)
		live += !kar_pod_lost(w->s.pods[i]) && !kar_pod_finished(w->s.pods[i]);
	for (size_t i = 0; i < st->n_tasks; i++)
		own += w->s.tasks[i].has_min_available ? w->s.tasks[i].min_available : 0;
	allowed = allowed < g->status.desired ? g->status.desired : allowed;
	allowed = allowed < own ? own : allowed;
	CHECK(w, live <= allowed, "%d pods are active, %d are allowed", live, allowed);
	CHECK(w, st->desired == st->succeeded || st->desired - st->succeeded <= allowed,
		"%d pods are wanted, %d are allowed", st->desired - st->succeeded, allowed);
}

/* Every other walk has a failure policy. What fails here has exit code 1. */
static const char *policy_of(uint64_t seed)
{
	static const char *const policies[] = {
		"; rule RestartTask tasks=w in=1",
		"; rule RecreatePod in=1",
		"; rule RestartJob tasks=m in=1; rule RestartTask",
		"; rule Ignore in=1; rule RestartTask condition=DisruptionTarget",
		"; rule FailJob tasks=m in=1; rule RecreatePod",
	};

	return seed % 2 ? policies[seed / 2 % KAR_LEN(policies)] : "";
}

static void walk(uint64_t seed, struct reach *reach)
{
	struct walk w = { .reach = reach, .seed = seed, .random = seed * 2654435761u + 1 };
	char text[512];

	w.ordered = seed % 3 == 0;
	snprintf(text, sizeof(text), "%s%s",
		w.ordered
			? "job min=2 backoff=8; task w replicas=2; task m replicas=1 min=1 priority=5 after=w;"
			  "task x replicas=2 after=w"
			: "job min=2 backoff=8; task w replicas=3; task m replicas=1 min=1 priority=5",
		policy_of(seed));
	scene_read(&w.s, text);
	for (w.step = 0; w.step < STEPS; w.step++) {
		happen(&w);
		if (draw(&w, 3) > 0)
			decide(&w, false);
	}
	come_to_rest(&w);
	check_limit_at_rest(&w);
	scene_release(&w.s);
}

static void test_walks_keep_the_invariants(void **state)
{
	static const uint64_t once_failed[] = { 988, 9345, 27660, 32775 }; /* of those beyond */
	const char *only = getenv("KAR_SEED");
	struct reach reach = { 0 };

	(void)state;
	if (only) {
		walk(strtoull(only, NULL, 10), &reach);
		return;
	}
	print_message("seeds 1 to %d\n", WALKS);
	for (uint64_t seed = 1; seed <= WALKS; seed++)
		walk(seed, &reach);
	for (size_t i = 0; i < KAR_LEN(once_failed); i++)
		walk(once_failed[i], &reach);
	for (int p = KAR_QJ_PHASE_PENDING; p <= KAR_QJ_PHASE_FAILED; p++) {
		print_message("%s: %u times\n", kar_qj_phase_name((enum kar_qj_phase)p), reach.phase[p]);
		assert_true(reach.phase[p] >= WALKS / 10);
	}
	print_message(
		"%u creates, %u releases, %u repairs, %u restarts, %u of a task, %u resumed with success, %u shed\n",
		reach.creates, reach.releases, reach.repairs, reach.restarts, reach.task_restarts,
		reach.resumed, reach.shed);
	assert_true(reach.creates > 0 && reach.releases > 0 && reach.repairs > 0 && reach.restarts > 0 &&
		reach.task_restarts > 0 && reach.resumed > 0 && reach.shed > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walks_keep_the_invariants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
