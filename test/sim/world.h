/*
 * world - one run: a cluster in virtual time, the managers under test in it, people who act by a plan, and faults.
 */
#ifndef TEST_SIM_WORLD_H
#define TEST_SIM_WORLD_H

#include <stdio.h>

#include "common/kube/elector.h"
#include "controllers/controllers.h"
#include "sim/client_sim.h"
#include "sim/nodes/nodes.h"
#include "sim/virtual_loop.h"
#include "test/sim/model.h"
#include "test/sim/plan.h"

enum { WORLD_PROCESSES = 2 };

/* A place in which managers run, one after the other. */
struct process {
	struct world *w;
	char **names; /* of every manager that ran here; they outlive it */
	size_t n_names;
	struct kar_loop *loop;
	struct kar_client *client;
	struct kar_manager *manager; /* NULL: none runs */
	struct kar_elector *elector; /* of a plan with leases */
	kar_time wall_error;
	struct sim_alarm *change; /* its end, or its next beginning */
	struct sim_alarm *thaw;
	struct sim_alarm *kill;
};

struct world {
	const struct plan *plan;
	struct sim_timeline *timeline;
	kar_time start; /* mono */
	struct sim_apiserver *server;
	struct sim_wire *wire;
	struct sim_nodes *nodes;
	struct sim_other_user *other;
	struct model *model;
	struct process processes[WORLD_PROCESSES]; /* without leases, [1] runs only while two overlap */
	struct sim_faults faults;
	struct sim_random random;
	struct sim_alarm *next_action, *chaos;
	struct {
		char ns[MODEL_NAME], name[MODEL_NAME]; /* that it is going to take; "": none */
		char after[MODEL_NAME]; /* once this pod is created; "": once the other is gone */
		struct sim_alarm *alarm;
	} race_pod_name;
	struct {
		char ns[MODEL_NAME], job[MODEL_NAME]; /* whose suspension it waits for; "": none */
		char pod[MODEL_NAME];
		struct sim_alarm *alarm;
	} race_suspend;
	struct {
		char ns[MODEL_NAME], job[MODEL_NAME]; /* whose next plan it waits for; "": none */
		char node[MODEL_NAME];
		int seconds, thieves; /* for which the pod runs; that came so far */
		struct sim_alarm *alarm;
		bool bound; /* it goes there past the scheduler */
	} race_room;
	struct {
		char ns[MODEL_NAME], job[MODEL_NAME]; /* whose end it waits for; "": none */
		kar_time later;
		struct sim_alarm *alarm;
	} race_ttl;
	struct users_gangs *gangs; /* other controllers */
	size_t action;
	bool calm;
	bool dying;  /* a manager is being killed: what it says does not count */
	FILE *trace; /* NULL: nobody listens */
	uint64_t crashes, kills, overlaps, freezes, jumps, stops, terms; /* terms: of leaders */
	kar_time moment;                                                 /* of the last step */
	int steps;                                                       /* in it */
	kar_time looked; /* when it was last looked what is due */
	uint64_t hash;   /* of all writes: equal runs have equal hashes */
	uint64_t events; /* Event objects written */
};

/* Borrows @plan. Faults are those of the plan, or none. @trace may be NULL. */
void world_init(struct world *w, const struct plan *plan, bool faults, FILE *trace)
	__attribute__((nonnull(1, 2)));
void world_release(struct world *w) KAR_NONNULL;
/* Runs until @until (ms after the start) or until a rule is broken: then false. */
bool world_run(struct world *w, kar_time until) KAR_NONNULL;
/* Faults end, people undo what would keep jobs from going on: nodes are back, quotas gone, queues open. */
void world_calm(struct world *w) KAR_NONNULL;
kar_time world_time(const struct world *w) KAR_NONNULL; /* ms since the start */

/* --- process.c --- */

void process_init(struct world *w, struct process *p) KAR_NONNULL;
void process_release(struct process *p) KAR_NONNULL;
void process_start(struct process *p) KAR_NONNULL;
void process_crash(struct process *p) KAR_NONNULL; /* nothing runs: no effect */
/* Once per virtual minute: freezes, clock jumps, overlaps, as the faults have it. */
void world_chaos(struct world *w) KAR_NONNULL;
/* From now on one manager works, and clocks are right. */
void process_calm(struct world *w) KAR_NONNULL;
/* Does it know all that there is, if it lives? */
void process_check_reader(const struct process *p) KAR_NONNULL;
/* What the wire tells. */
void process_observe(struct world *w) KAR_NONNULL;

/* --- users.c --- */

void users_prepare(struct world *w) KAR_NONNULL; /* namespaces, classes, queues */
void users_act(struct world *w, const struct plan_action *a) KAR_NONNULL;
void users_restore(struct world *w) KAR_NONNULL;

/* --- users_gangs.c --- */

void users_gangs_init(struct world *w) KAR_NONNULL;
void users_gangs_release(struct world *w) KAR_NONNULL;
void users_gangs_see(struct world *w, const struct sim_change *c) KAR_NONNULL;

/* --- race_pod_name.c --- */

void race_pod_name_init(struct world *w) KAR_NONNULL;
void race_pod_name_release(struct world *w) KAR_NONNULL;
/* When this pod is gone (@after: when that one is created), somebody else's will have its name. One at a time. */
void race_pod_name_wait(struct world *w, const char *ns, const char *name, const char *after)
	__attribute__((nonnull(1, 2, 3)));
void race_pod_name_see(struct world *w, const struct sim_change *c) KAR_NONNULL;

/* --- race_room.c --- */

void race_room_init(struct world *w) KAR_NONNULL;
void race_room_release(struct world *w) KAR_NONNULL;
/* When this job is placed next, somebody else's pod is pinned to a node of the plan, for so many seconds. One at a time. */
void race_room_wait(struct world *w, const char *ns, const char *job, int seconds) KAR_NONNULL;
void race_room_see(struct world *w, const struct sim_change *c) KAR_NONNULL;

/* --- race_suspend.c --- */

void race_suspend_init(struct world *w) KAR_NONNULL;
void race_suspend_release(struct world *w) KAR_NONNULL;
/* When this job is suspended, its pod will succeed before anybody deletes it. One at a time. */
void race_suspend_wait(struct world *w, const char *ns, const char *job, const char *pod) KAR_NONNULL;
void race_suspend_see(struct world *w, const struct sim_change *c) KAR_NONNULL;

/* --- race_ttl.c --- */

void race_ttl_init(struct world *w) KAR_NONNULL;
void race_ttl_release(struct world *w) KAR_NONNULL;
/* So many ms after the TTL of this job is over, it has none any more. One at a time. */
void race_ttl_wait(struct world *w, const char *ns, const char *job, kar_time later) KAR_NONNULL;
void race_ttl_see(struct world *w, const struct sim_change *c) KAR_NONNULL;

/* --- trace.c --- */

/* One line with the time in front, if anybody listens. */
void trace_tell(const struct world *w, const char *actor, const char *fmt, ...) KAR_PRINTF(3, 4);
void trace_change(const struct world *w, const struct sim_change *c) KAR_NONNULL;
/* A line of a manager's log. */
void trace_log(const struct world *w, const char *line, size_t n) KAR_NONNULL;

/* --- settle.c --- */

/* After world_calm(): runs until nothing moves, and checks the end. False: a rule is broken. */
bool world_settle(struct world *w) KAR_NONNULL;

/* --- oracle.c --- */

/* What became of the jobs, as far as the plan alone determines it: one line each, in a fixed order. */
void world_outcome(const struct world *w, struct kar_buf *out) KAR_NONNULL;
/* Is it what the plan foretells? False: a rule is broken. */
bool world_foretell(const struct world *w) KAR_NONNULL;

#endif
