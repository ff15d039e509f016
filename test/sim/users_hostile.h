/*
 * users_hostile - what the parts of the hostile tenant share. Private to users_hostile.c and users_garbage.c.
 */
#ifndef TEST_SIM_USERS_HOSTILE_H
#define TEST_SIM_USERS_HOSTILE_H

#include "test/sim/users_impl.h"

/* An action; the victim's job, and its name, which the tenant uses for its own. */
struct users_attack {
	struct world *w;
	const struct plan_job *victim;
	char name[PLAN_NAME];
	int variant;
	int queue; /* of its jobs */
};

/* PodGroups without pods: "empty-0" .. */
enum { USERS_EMPTY_GROUPS = 24 };

/* A request of the tenant's, in its namespace. @kind: enum plan_kind. */
struct sim_request users_hostile_request(enum kar_verb verb, int kind, const char *name);
/* What @fmt makes, as JSON. New. */
struct sim_value *users_json(const char *fmt, ...) KAR_MUSTUSE KAR_RETNN KAR_PRINTF(1, 2);
void users_hostile_create(const struct users_attack *a, int kind, struct sim_value *consumed) KAR_NONNULL;
/* Its object of this kind that bears the name, or is the first pod of its job. New; NULL: there is none. */
struct sim_value *users_take(const struct users_attack *a, int kind) KAR_MUSTUSE KAR_NONNULL;
/* Writes it back. */
void users_put(const struct users_attack *a, int kind, const char *subresource, struct sim_value *consumed)
	__attribute__((nonnull(1, 4)));

/* --- users_garbage.c --- */

/* PLAN_TRICK_UNREADABLE, _READABLE, _STATUS, _HUGE */
void users_hide(const struct users_attack *a) KAR_NONNULL;
void users_show(const struct users_attack *a) KAR_NONNULL;
void users_deface(const struct users_attack *a) KAR_NONNULL;
void users_add_huge(const struct users_attack *a) KAR_NONNULL;

#endif
