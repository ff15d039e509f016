/*
 * The rest of what a spec may say, and edits of it (since version 9 of the drawing): deadlines and TTLs that matter, selectors,
 * nodeSelectors, schedulers, tasks that get other names or go, and quotas for some of the pods. Drawn from a stream of its own.
 */
#include "test/sim/plan_stream.h"

static kar_time a_while(struct draw *d)
{
	return sim_random_between(&d->r, KAR_SECOND, 20 * KAR_MINUTE);
}

static kar_time soon_or_later(struct draw *d)
{
	return chance(d, 50) ? a_moment(d) : a_while(d);
}

/* --- time ------------------------------------------------------------------------------------------------ */

/* A deadline that often comes before the end, and is paused, or edited. */
static void draw_deadline(struct draw *d, int job, kar_time submitted)
{
	enum { SHORTEST = 1, LONGEST = 600 }; /* s */
	kar_time at = submitted + soon_or_later(d);

	d->p->jobs[job].deadline = between(d, SHORTEST, LONGEST);
	if (chance(d, 40)) {
		act(d, at, PLAN_SUSPEND, job, 0, 0);
		act(d, at + soon_or_later(d), PLAN_RESUME, job, 0, 0);
	}
	if (chance(d, 30))
		act(d, submitted + soon_or_later(d), PLAN_DEADLINE, job, 0,
			chance(d, 80) ? between(d, SHORTEST, LONGEST) : PLAN_UNSET);
}

static void draw_ttl(struct draw *d, int job, kar_time submitted)
{
	enum { LONGEST = 120, LATER = 4 }; /* s, ms */

	d->p->jobs[job].ttl = between(d, 0, LONGEST);
	if (chance(d, 50))
		act(d, submitted, PLAN_KEEP, job, 0, between(d, 0, LATER));
	if (chance(d, 30))
		act(d, submitted + a_while(d), PLAN_TTL, job, 0, between(d, 0, LONGEST));
}

/* --- which pods, where ----------------------------------------------------------------------------------- */

static void draw_selector(struct draw *d, int job, kar_time submitted)
{
	struct plan_job *j = &d->p->jobs[job];
	int edits = chance(d, 40) ? between(d, 1, 3) : 0;

	j->selector = (enum plan_selector)between(d, PLAN_SELECTOR_LABEL, PLAN_SELECTOR_EXISTS);
	if (chance(d, 20))
		j->selector = chance(d, 50) ? PLAN_SELECTOR_OTHER : PLAN_SELECTOR_NOT_IN;
	for (int i = 0; i < j->n_tasks; i++)
		j->tasks[i].labelled = true;
	for (int i = 0; i < edits; i++)
		act(d, submitted + soon_or_later(d), PLAN_SELECT, job, 0, between(d, 0, PLAN_SELECTORS - 1));
}

static void draw_place(struct draw *d, int job, kar_time submitted)
{
	int edits = chance(d, 40) ? between(d, 1, 2) : 0;

	d->p->jobs[job].place = (enum plan_place)between(d, PLAN_ANYWHERE, PLAN_ZONE_1);
	for (int i = 0; i < edits; i++)
		act(d, submitted + soon_or_later(d), PLAN_PLACE, job, 0, between(d, 0, PLAN_PLACES - 1));
}

static void draw_scheduler(struct draw *d, int job, kar_time submitted)
{
	int edits = chance(d, 40) ? between(d, 1, 2) : 0;

	d->p->jobs[job].scheduler = (enum plan_scheduler)between(d, 0, PLAN_SCHEDULERS - 1);
	for (int i = 0; i < edits; i++)
		act(d, submitted + soon_or_later(d), PLAN_SCHEDULER, job, 0,
			between(d, 0, PLAN_SCHEDULERS - 1));
}

/* --- tasks ----------------------------------------------------------------------------------------------- */

static void draw_names(struct draw *d, int job, kar_time submitted)
{
	int task = between(d, 0, d->p->jobs[job].n_tasks - 1);
	kar_time at = submitted + soon_or_later(d);

	act(d, at, PLAN_RENAME_TASK, job, task, 1);
	if (chance(d, 50))
		act(d, at + soon_or_later(d), PLAN_RENAME_TASK, job, task, 0);
	/* At the same moment the edit becomes impossible. */
	if (chance(d, 25)) {
		act(d, at + between(d, 0, 1), PLAN_IMPOSSIBLE, job, task, 0);
		act(d, at + soon_or_later(d), PLAN_MEND, job, task, 0);
	}
}

static void draw_drop(struct draw *d, int job, kar_time submitted)
{
	act(d, submitted + soon_or_later(d), PLAN_DROP_TASK, job, between(d, 0, d->p->jobs[job].n_tasks - 1),
		0);
}

/* --- quotas ---------------------------------------------------------------------------------------------- */

static void draw_scopes(struct draw *d)
{
	enum { QUOTAS = 3, ROOM = 12 };
	int n = between(d, 1, QUOTAS);

	for (size_t i = 0; i < d->p->n_jobs; i++) {
		for (int t = 0; t < d->p->jobs[i].n_tasks; t++) {
			d->p->jobs[i].tasks[t].best_effort = chance(d, 30);
			d->p->jobs[i].tasks[t].terminating = chance(d, 30);
		}
	}
	for (int i = 0; i < n; i++) {
		int where =
			between(d, 0, PLAN_NAMESPACES - 1) + PLAN_NAMESPACES * between(d, 0, PLAN_SCOPES - 1);
		kar_time at = sim_random_between(&d->r, 0, d->p->length);

		act(d, at, PLAN_SCOPED, 0, where, between(d, 0, ROOM));
		if (chance(d, 50))
			act(d, at + a_while(d), PLAN_SCOPED, 0, where,
				chance(d, 50) ? between(d, 0, ROOM) : PLAN_UNSET);
	}
}

/* --- all of it ------------------------------------------------------------------------------------------- */

static void draw_spec(struct draw *d, bool selectors, int job, kar_time submitted)
{
	if (chance(d, 10))
		draw_deadline(d, job, submitted);
	if (chance(d, 15))
		draw_ttl(d, job, submitted);
	if (selectors && chance(d, 40))
		draw_selector(d, job, submitted);
	if (d->p->zones && chance(d, 40))
		draw_place(d, job, submitted);
	if (chance(d, 10))
		draw_scheduler(d, job, submitted);
	if (chance(d, 8))
		draw_names(d, job, submitted);
	if (d->p->jobs[job].n_tasks > 1 && chance(d, 10))
		draw_drop(d, job, submitted);
}

void plan_draw_specs(struct plan *p)
{
	struct draw d = { .p = p, .r = sim_random_of(p->seed, "specs") };
	bool selectors = chance(&d, 30); /* which get in the way of rules about other things */
	size_t n = p->n_actions;

	p->zones = p->nodes > 1 && chance(&d, 40);
	for (size_t i = 0; i < n; i++) {
		const struct plan_action submit = p->actions[i];

		if (submit.verb == PLAN_SUBMIT)
			draw_spec(&d, selectors, submit.job, submit.at);
	}
	if (chance(&d, 15))
		draw_scopes(&d);
}

/* --- objects --------------------------------------------------------------------------------------------- */

bool plan_selects(enum plan_selector s)
{
	return s != PLAN_SELECTOR_OTHER && s != PLAN_SELECTOR_NOT_IN;
}

static void require(struct sim_value **selector, const char *key, const char *operator, const char * value)
{
	struct sim_value *r = sim_object(), *values = sim_array();
	const struct sim_value *there = sim_member(*selector, "matchExpressions");
	struct sim_value *list = there ? sim_ref(there) : sim_array();

	sim_set_text(&r, key, "key");
	sim_set_text(&r, operator, "operator");
	if (value) {
		sim_append(&values, sim_string(value));
		sim_append(&values, sim_string("y"));
		sim_set(&r, sim_ref(values), "values");
	}
	sim_unref(values);
	sim_append(&list, r);
	sim_set(selector, list, "matchExpressions");
}

struct sim_value *plan_selector_object(enum plan_selector s)
{
	struct sim_value *v = s ? sim_object() : NULL;

	switch (s) {
	case PLAN_SELECTOR_LABELS:
		sim_set_text(&v, "x", "matchLabels", "tier");
		sim_set_text(&v, "mine", "matchLabels", "app");
		break;
	case PLAN_SELECTOR_LABEL:
	case PLAN_SELECTOR_IN:
		sim_set_text(&v, "mine", "matchLabels", "app");
		if (s == PLAN_SELECTOR_IN)
			require(&v, "tier", "In", "x");
		break;
	case PLAN_SELECTOR_EXISTS:
		require(&v, "app", "Exists", NULL);
		require(&v, "other", "DoesNotExist", NULL);
		break;
	case PLAN_SELECTOR_OTHER:
		sim_set_text(&v, "other", "matchLabels", "app");
		break;
	case PLAN_SELECTOR_NOT_IN:
		require(&v, "tier", "NotIn", "x");
		break;
	default:
		break;
	}
	return v;
}

const char *plan_zone_name(int node)
{
	return node % 2 ? "z1" : "z0";
}

void plan_set_place(struct sim_value **job, enum plan_place place)
{
	static const char *const zones[PLAN_PLACES] = { NULL, "z0", "z1", "z9" };

	if (place == PLAN_ANYWHERE)
		sim_remove(job, "spec", "schedSpec", "nodeSelector");
	else
		sim_set_text(job, zones[place], "spec", "schedSpec", "nodeSelector", PLAN_ZONE_LABEL);
}

void plan_set_scheduler(struct sim_value **job, enum plan_scheduler s)
{
	static const char *const names[] = {
		[PLAN_DEFAULT_SCHEDULER] = "default-scheduler",
		[PLAN_NO_SCHEDULER] = "nobody",
		[PLAN_KAR_SCHEDULER] = "kar-scheduler",
	};

	if (s == PLAN_UNNAMED)
		sim_remove(job, "spec", "schedulerName");
	else
		sim_set_text(job, names[s], "spec", "schedulerName");
}

const char *plan_scope_name(enum plan_scope s)
{
	static const char *const names[PLAN_SCOPES] = { "PriorityClass", "Terminating", "BestEffort" };

	return names[s];
}
