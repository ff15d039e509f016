/*
 * Host names, the Services behind them, and templates that the API server refuses (since version 5 of the drawing); drawn from a
 * stream of their own.
 */
#include "test/sim/plan_stream.h"

static kar_time a_while(struct draw *d)
{
	return sim_random_between(&d->r, 1, chance(d, 50) ? 5 * KAR_SECOND : 20 * KAR_MINUTE);
}

/* What people do to the Service, or about it. */
static void draw_service_life(struct draw *d, int job, kar_time submitted)
{
	enum { EDITS = 4 };
	int edits = between(d, 0, EDITS);

	for (int i = 0; i < edits; i++)
		act(d, submitted + a_while(d), PLAN_EDIT_SERVICE, job, 0,
			between(d, 0, PLAN_SERVICE_EDITS - 1));
	if (chance(d, 15)) {
		kar_time at = submitted + between(d, -100, 100);

		act(d, at > 0 ? at : 0, PLAN_TAKE_SERVICE, job, 0, 0);
		act(d, at + KAR_SECOND + a_while(d), PLAN_FREE_SERVICE, job, 0, 0);
	}
	if (chance(d, 20))
		act(d, submitted + a_while(d), PLAN_NETWORK, job, 0, between(d, 0, 1));
}

/* From the beginning or later, until somebody mends it. */
static void draw_impossible(struct draw *d, int job, kar_time submitted)
{
	struct plan_job *j = &d->p->jobs[job];
	int task = between(d, 0, j->n_tasks - 1);
	kar_time at = submitted;

	if (chance(d, 50)) {
		j->impossible = task;
	} else {
		at += a_while(d);
		act(d, at, PLAN_IMPOSSIBLE, job, task, 0);
	}
	if (chance(d, 80))
		act(d, at + a_while(d), PLAN_MEND, job, task, 0);
}

void plan_draw_network(struct plan *p)
{
	struct draw d = { .p = p, .r = sim_random_of(p->seed, "network") };
	size_t n = p->n_actions;

	for (size_t i = 0; i < n; i++) {
		const struct plan_action submit = p->actions[i];

		if (submit.verb != PLAN_SUBMIT)
			continue;
		if (chance(&d, 25)) {
			p->jobs[submit.job].network = true;
			draw_service_life(&d, submit.job, submit.at);
		} else if (chance(&d, 5)) {
			act(&d, submit.at + a_while(&d), PLAN_NETWORK, submit.job, 0, 1);
		}
		if (chance(&d, 8))
			draw_impossible(&d, submit.job, submit.at);
	}
}

bool plan_is_obstructed(const struct plan *p)
{
	for (size_t i = 0; i < p->n_actions; i++) {
		enum plan_verb verb = p->actions[i].verb;
		const struct plan_job *j = &p->jobs[p->actions[i].job];

		if (verb == PLAN_IMPOSSIBLE || verb == PLAN_TAKE_SERVICE || verb == PLAN_SELECT ||
			(verb == PLAN_SUBMIT && (j->impossible != PLAN_UNSET || j->selector)))
			return true;
	}
	return false;
}

/* The container mounts a volume that the pod has not. */
void plan_make_impossible(struct sim_value **template)
{
	struct sim_value *containers = sim_ref(sim_get(*template, "spec", "containers"));
	struct sim_value *container = sim_ref(sim_item(containers, 0));
	struct sim_value *mounts = sim_array(), *mount = sim_object();

	sim_set_text(&mount, "nowhere", "name");
	sim_set_text(&mount, "/data", "mountPath");
	sim_append(&mounts, mount);
	sim_set(&container, mounts, "volumeMounts");
	sim_replace(&containers, 0, container);
	sim_set(template, containers, "spec", "containers");
}
