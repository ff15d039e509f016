/*
 * users_impl - what the two halves of the people share. Private to users.c and users_cluster.c.
 */
#ifndef TEST_SIM_USERS_IMPL_H
#define TEST_SIM_USERS_IMPL_H

#include "test/sim/world.h"

#define USERS_ALICE "alice" /* works with the jobs */
#define USERS_BOB "bob"     /* knows nothing of them */
#define USERS_QUEUE "queue" /* scales them */

struct users_kind {
	const char *group, *version, *resource;
};
extern const struct users_kind users_jobs, users_queues, users_groups, users_specs, users_pods;

/* A request of Alice's. */
struct sim_request users_request(enum kar_verb verb, const struct users_kind *k, const char *ns,
	const char *name);
/* Consumes @object. People do not mind being refused. */
void users_ask(struct world *w, struct sim_request rq, struct sim_value *object);
/* Borrowed until the next write; NULL: none. */
const struct sim_value *users_peek(const struct world *w, const struct users_kind *k, const char *ns,
	const char *name);
/* A new object with no more than its name. */
struct sim_value *users_named(const char *api_version, const char *kind,
	const char *name) KAR_MUSTUSE KAR_RETNN;
/* @propagation: 0 Background, 1 Foreground, 2 Orphan. */
void users_delete(struct world *w, const struct users_kind *k, const char *ns, const char *name,
	int propagation);
/* Bob creates a pod of this name. */
void users_block_pod(struct world *w, const char *ns, const char *name);
/* A pod that has nothing to do with jobs. */
bool users_is_foreign(const struct sim_value *pod);

/* @pods: PLAN_UNSET: no quota. @max_jobs: PLAN_UNSET: no limit; 0: closed. */
void users_set_quota(struct world *w, int ns, int pods) KAR_NONNULL;
void users_set_scoped_quota(struct world *w, int ns, enum plan_scope scope, int pods) KAR_NONNULL;
void users_set_queue(struct world *w, int queue, int max_jobs, bool strict) KAR_NONNULL;
/* Gives it the rights of the plan, or takes them away. */
void users_set_rights(struct world *w, int queue, bool on) KAR_NONNULL;
void users_act_on_node(struct world *w, const struct plan_action *a) KAR_NONNULL;

/* --- users_queue.c --- */

/* PLAN_MAKE_GROUP, PLAN_MOVE_GROUP. */
void users_act_on_queue(struct world *w, const struct plan_action *a) KAR_NONNULL;

/* --- users_network.c --- */

/* PLAN_NETWORK .. PLAN_FREE_SERVICE about the job @ns/@name. */
void users_act_on_network(struct world *w, const char *ns, const char *name,
	const struct plan_action *a) KAR_NONNULL;
/* No template is impossible any more, no name of a Service taken. */
void users_mend_jobs(struct world *w) KAR_NONNULL;

/* --- users_spec.c --- */

/* PLAN_SELECT .. PLAN_KEEP about the job @ns/@name. */
void users_act_on_spec(struct world *w, const char *ns, const char *name,
	const struct plan_action *a) KAR_NONNULL;
/* Every job can run somewhere, and no selector contradicts its templates. */
void users_mend_specs(struct world *w) KAR_NONNULL;
/* Has it the pods that its minimum, and its success policy, ask for? If not, the minimum may be made smaller. */
bool users_keep_valid(struct sim_value **job) KAR_NONNULL;
/* Do all dependencies, rules and policies of the job name tasks that it has? */
bool users_names_agree(const struct sim_value *job);

/* --- users_hostile.c --- */

void users_prepare_hostile(struct world *w) KAR_NONNULL;
/* PLAN_HOSTILE */
void users_act_hostile(struct world *w, const struct plan_action *a) KAR_NONNULL;
/* The tenant holds nothing any more that others may wait for. */
void users_calm_hostile(struct world *w) KAR_NONNULL;

/* --- users_gangs.c --- */

void users_prepare_gangs(struct world *w) KAR_NONNULL;
/* PLAN_GANG_GROUP .. PLAN_GANG_END */
void users_act_on_gang(struct world *w, const struct plan_action *a) KAR_NONNULL;
/* Other controllers make all their pods. */
void users_calm_gangs(struct world *w) KAR_NONNULL;
/* Has another controller made it? */
bool users_is_gang_pod(const struct sim_value *pod);

#endif
