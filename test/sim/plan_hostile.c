/*
 * A tenant who wants to harm the others (since version 12 of the drawing): everything that its rights in its own namespace allow,
 * in names that others use in theirs. Drawn from a stream of its own; on some days nothing else goes wrong, so that the others
 * must not only end as without it, but also in time.
 */
#include <string.h>

#include "test/sim/plan_stream.h"

enum { VARIANTS = 1000 };

static const char *const names[PLAN_TRICKS] = {
	[PLAN_TRICK_JOB] = "submit a job",
	[PLAN_TRICK_IMPOSSIBLE] = "submit a job that fits nowhere",
	[PLAN_TRICK_INVALID] = "submit a job with impossible pods",
	[PLAN_TRICK_SQUAT] = "take the name of a child",
	[PLAN_TRICK_FORGE] = "create a pod that claims to be one",
	[PLAN_TRICK_GROUPS] = "create PodGroups without pods",
	[PLAN_TRICK_SNEAK] = "let another queue admit a job",
	[PLAN_TRICK_UNREADABLE] = "make an object unreadable",
	[PLAN_TRICK_READABLE] = "make an object readable again",
	[PLAN_TRICK_STATUS] = "write garbage into a status",
	[PLAN_TRICK_HUGE] = "create an object with long texts",
	[PLAN_TRICK_FLOOD] = "edit an object hundreds of times",
	[PLAN_TRICK_PRIORITIES] = "change the priorities of all groups",
	[PLAN_TRICK_CHURN] = "delete and create again and again",
	[PLAN_TRICK_DELETE] = "delete an object",
};

const char *plan_trick_name(enum plan_trick t)
{
	return names[t];
}

static void play(struct draw *d, kar_time at, int job, enum plan_trick t)
{
	act(d, at, PLAN_HOSTILE, job, between(d, 0, VARIANTS - 1), (int)t);
}

/* Each of them once or more, one soon after the other. */
static kar_time repeat(struct draw *d, kar_time at, int job, enum plan_trick t, int most)
{
	for (int n = between(d, 1, most); n > 0; n--) {
		play(d, at, job, t);
		at += a_moment(d);
	}
	return at;
}

/* What cannot be read, while something happens to it that would have to be answered. */
static void hide(struct draw *d, kar_time at, int job)
{
	play(d, at, job, PLAN_TRICK_JOB);
	at = repeat(d, at + a_moment(d), job, PLAN_TRICK_UNREADABLE, 4);
	at = repeat(d, at, job, PLAN_TRICK_DELETE, 3);
	if (chance(d, 50))
		repeat(d, at + a_moment(d), job, PLAN_TRICK_READABLE, 4);
}

static void squat(struct draw *d, kar_time at, int job)
{
	at = repeat(d, at, job, PLAN_TRICK_SQUAT, 3);
	play(d, at, job, chance(d, 70) ? PLAN_TRICK_JOB : PLAN_TRICK_INVALID);
	repeat(d, at + a_moment(d), job, PLAN_TRICK_DELETE, 3);
}

static void forge(struct draw *d, kar_time at, int job)
{
	if (chance(d, 50))
		play(d, at, job, PLAN_TRICK_JOB);
	at = repeat(d, at + a_moment(d), job, PLAN_TRICK_FORGE, 6);
	if (chance(d, 30))
		repeat(d, at, job, PLAN_TRICK_UNREADABLE, 2);
}

static void crowd(struct draw *d, kar_time at, int job)
{
	at = repeat(d, at, job, PLAN_TRICK_GROUPS, 4);
	at = repeat(d, at, job, PLAN_TRICK_PRIORITIES, 4);
	if (chance(d, 50))
		repeat(d, at, job, PLAN_TRICK_STATUS, 6);
	if (chance(d, 40))
		play(d, at, job, PLAN_TRICK_SNEAK);
}

static void flood(struct draw *d, kar_time at, int job)
{
	play(d, at, job, chance(d, 80) ? PLAN_TRICK_JOB : PLAN_TRICK_INVALID);
	at = repeat(d, at + a_moment(d), job, chance(d, 60) ? PLAN_TRICK_FLOOD : PLAN_TRICK_CHURN, 4);
	repeat(d, at, job, PLAN_TRICK_STATUS, 4);
}

static void deface(struct draw *d, kar_time at, int job)
{
	play(d, at, job, PLAN_TRICK_JOB);
	at = repeat(d, at + a_moment(d), job, PLAN_TRICK_STATUS, 6);
	if (chance(d, 50))
		repeat(d, at, job, PLAN_TRICK_HUGE, 3);
}

/* Of those that wait for nodes, it goes first. */
static void starve(struct draw *d, kar_time at, int job)
{
	if (chance(d, 50))
		plan_collide(d, at);
	at = repeat(d, at, job, PLAN_TRICK_IMPOSSIBLE, 2);
	if (chance(d, 70))
		act(d, at + sim_random_between(&d->r, 0, 2 * KAR_MINUTE), PLAN_HOSTILE, job,
			PLAN_KINDS * between(d, 0, VARIANTS) + PLAN_KIND_JOB, PLAN_TRICK_UNREADABLE);
}

/* Mostly when the job of that name comes to life. */
static void attack(struct draw *d, const struct plan_action *submit)
{
	static void (*const ways[])(struct draw * d, kar_time at, int job) = { hide, hide, squat, forge,
		forge, crowd, flood, deface, starve };
	kar_time at = chance(d, 70) ? submit->at + a_moment(d) : sim_random_between(&d->r, 0, d->p->length);

	ways[between(d, 0, (int)KAR_LEN(ways) - 1)](d, at, submit->job);
}

void plan_draw_hostile(struct plan *p)
{
	enum { MOST = 6 };
	struct draw d = { .p = p, .r = sim_random_of(p->seed, "hostile") };
	size_t n = p->n_actions;
	int attacks = chance(&d, 35) ? between(&d, 1, MOST) : 0;

	if (attacks && chance(&d, 40))
		p->faults = (struct sim_faults){ 0 };
	while (attacks && n) {
		const struct plan_action a = p->actions[between(&d, 0, (int)n - 1)];

		if (a.verb != PLAN_SUBMIT)
			continue;
		attack(&d, &a);
		attacks--;
	}
}

bool plan_is_hostile(const struct plan *p)
{
	for (size_t i = 0; i < p->n_actions; i++) {
		if (p->actions[i].verb == PLAN_HOSTILE)
			return true;
	}
	return false;
}

void plan_copy_honest(struct plan *to, const struct plan *from)
{
	size_t n = 0;

	plan_copy(to, from);
	for (size_t i = 0; i < to->n_actions; i++) {
		if (to->actions[i].verb != PLAN_HOSTILE)
			to->actions[n++] = to->actions[i];
	}
	to->n_actions = n;
}
