/*
 * rules - what must hold after every committed write. Each rule is one small function with a name and a sentence.
 */
#ifndef TEST_SIM_RULES_H
#define TEST_SIM_RULES_H

#include "api/podgroup/pg_plan.h"
#include "test/sim/model.h"

/* A manager sends the request for a pod. */
struct ask {
	const char *user;
	const struct sim_value *pod;
	struct model_task *task; /* NULL: the job has none of that name */
	int index;
	int64_t told; /* version up to which the manager knows all jobs; 0: none is sure */
};

/* One write, and what the model knew before it. */
struct write {
	struct model *l;
	const struct sim_change *c;
	const struct ask *ask; /* RULE_POD_ASKED: instead of .c */
	struct model_job *job; /* of the object; NULL: unknown */
	struct model_pod *pod; /* of a pod that is known; NULL: being created */
	bool by_manager;
};

enum rule_when {
	RULE_POD_ASKED, /* a manager sends the request; the others are about what is committed */
	RULE_POD_CREATED,
	RULE_POD_CHANGED, /* or removed */
	RULE_JOB_CHANGED,
	RULE_JOB_DELETED, /* by a manager */
	RULE_GROUP_CHANGED,
	RULE_EVENT_WRITTEN, /* about a job */
	RULE_WRITTEN,       /* by a manager, in any namespace; without events */
};

struct rule {
	enum rule_when when;
	const char *name, *text;
	/* Calls model_break() if the rule is broken. */
	void (*check)(const struct rule *r, const struct write *w);
};

/* --- rules_order.c --- */

/* A job at work: no task waits without a reason, and the quorum is that of the others. */
void rules_check_order_at_rest(struct model *l, const struct model_job *j,
	const struct sim_value *job) KAR_NONNULL;
/* What the status of a QueueJob says of the task, or NULL. */
const struct sim_value *rules_task_status(const struct sim_value *job, const char *name) KAR_NONNULL;
/* Does its status say that the task waits for others? */
bool rules_task_waits(const struct sim_value *job, const char *task) KAR_NONNULL;
/* Of the tasks that have started. */
int rules_quorum(const struct model_job *j, const struct sim_value *job) KAR_NONNULL;
int rules_done(const struct model_job *j, const struct sim_value *job) KAR_NONNULL;
/* What the minimum still needs, of the tasks that have started. */
int rules_minimum_left(const struct model_job *j, const struct sim_value *job) KAR_NONNULL;

/* --- rules_pods.c --- */

/* Takes this write our finalizer off the pod? */
bool rules_lets_go(const struct write *w) KAR_NONNULL;
/* Does the status of @job record the index as succeeded? */
bool rules_is_recorded(const struct sim_value *job, const char *task, int index);

/* --- rules_queue.c --- */

/* Of a quantity that is a whole number, or one of thousandths. */
int64_t rules_thousandths(const char *text) KAR_NONNULL;
/* What the pod, as it is stored, asks for, in thousandths. */
int64_t rules_requested_cpu(const struct sim_value *pod) KAR_NONNULL;

/* --- rules_limit.c --- */

/* Is the pod of this write taken away because the queue lets fewer be active, which is recorded in @job? */
bool rules_sheds(const struct write *w, const struct sim_value *job) KAR_NONNULL;
/* A job at work with @live active pods has as many as it should, and says so. */
void rules_check_limit_at_rest(struct model *l, const struct model_job *j, const struct sim_value *job,
	int live) KAR_NONNULL;

/* --- rules_network.c --- */

/* The job has the Service that it wants, and no other. */
void rules_check_service_at_rest(struct model *l, const struct model_job *j,
	const struct sim_value *job) KAR_NONNULL;

/* Its pods wait for a Service that is missing, or that is not seen to be the job's. */
bool rules_lacks_service(const struct model *l, const struct model_job *j) KAR_NONNULL;
/* Does every manager know that @service, which may be NULL, exists? Not without its label, nor just after that was put back. */
bool rules_is_service_seen(const struct model *l, const struct sim_value *service)
	__attribute__((nonnull(1)));
/* Nor is one without a Service, or without the label of it, for long and in silence, as long as nothing goes wrong. */
void rules_check_services_due(struct model *l) KAR_NONNULL;

/* --- rules_nodes.c --- */

/* Does the job go on with the minimum that it had before an edit? */
bool rules_is_raised(const struct sim_value *job);
/* No gang holds a part of its minimum for long, as long as nothing goes wrong. Called now and then. */
void rules_check_nodes(struct model *l) KAR_NONNULL;
/* Is a PodGroup placed by this write? */
bool rules_begins_attempt(const struct sim_change *c) KAR_NONNULL;
/* Do members of a placed group get other nodes by this write, because some are stuck on theirs? */
bool rules_changes_plan(const struct sim_change *c) KAR_NONNULL;
/* Is the pod Unschedulable, and pinned to a node? */
bool rules_is_stuck(const struct sim_value *pod);
/* Wall ms before which the group is not placed again; 0: there is no such time. */
kar_time rules_retry_after(const struct sim_value *group);
/* ms for which an attempt to start it may last. @group: NULL: the default. */
kar_time rules_timeout_of(const struct sim_value *group);
/* No attempt to start the gang of a job that has not ended is left unfinished. */
void rules_check_group_at_rest(struct model *l, const struct sim_value *group) KAR_NONNULL;

/* --- rules_topology.c --- */

/* The label of the level of which one domain has all pods of the job; NULL: it may be anywhere. */
const char *rules_together(const struct sim_value *job) KAR_NONNULL;

/* --- rules_pins.c --- */

/* Do the pods of the job (or this pod) name kar-scheduler? They are created bound. */
bool rules_is_direct(const struct sim_value *job) KAR_NONNULL;
/* Has the kubelet refused the pod, which was created bound? It has never run. */
bool rules_is_refused(const struct sim_value *pod) KAR_NONNULL;
/* The node that a pod was created for: its affinity names it, or it is bound; NULL: none. */
const char *rules_pin_of(const struct sim_value *pod) KAR_NONNULL;

/* --- rules_room.c --- */

/* The places of a role in the plan of @group, with what is read from it in the arena. */
struct kar_pg_seats rules_seats_of(const struct sim_value *group, const char *role,
	struct kar_arena *a) KAR_NONNULL;
/* The job waits with pods that are created bound: there is no room for one more. */
bool rules_waits_with_extras(struct model *l, const struct model_job *j,
	const struct sim_value *job) KAR_NONNULL;
/* Is it one of the reasons for which a group waits because the nodes are full? */
bool rules_is_for_room(const char *reason);
/* Does its group say that the job waits for room, for the end of its back-off, or for an edit? */
bool rules_waits_for_places(const struct model *l, const struct model_job *j) KAR_NONNULL;
/* Who waits for room does so because there is none. */
void rules_check_room_at_rest(struct model *l, const struct model_job *j,
	const struct sim_value *job) KAR_NONNULL;
/* Do so many pods of @spec fit into what nobody waits for? Labels of nodes are not looked at. */
bool rules_have_room(const struct model *l, const struct sim_value *spec, int pods) KAR_NONNULL;

/* --- rules_queue.c --- */

/* What is admitted is so by the queue that it asks for, or has pods there. For nobody capacity is held while no pod stops. */
void rules_check_admission_at_rest(struct model *l, const struct sim_value *group) KAR_NONNULL;
/* Its status counts the groups that name it. It is no part of another queue, and has none. */
void rules_check_queue_at_rest(struct model *l, const struct sim_value *queue) KAR_NONNULL;

/* --- rules_gangs.c, rules_gangs_rest.c --- */

/* No gang of another controller holds a part of its minimum for long, as long as nothing goes wrong. Called now and then. */
void rules_check_gangs(struct model *l) KAR_NONNULL;
/* Each of them that is whole runs, or there is no room for it; and its counts are right. */
void rules_check_gang_at_rest(struct model *l, const struct sim_value *group) KAR_NONNULL;

/* --- rules_evict.c --- */

/* The group for which it is evicted, "ns/name", until it is placed again; the words for a drained queue; "": it is not. */
const char *rules_evicted_by(const struct sim_value *group);
/* Wall ms since which the condition is True; 0: it is not. */
kar_time rules_true_since(const struct sim_value *object, const char *type);

/* --- rules_shares.c --- */

/* Each queue has what it is entitled to: nothing is free that somebody wants, and no pod would bring two shares nearer to each other. */
struct plan;
void rules_check_shares_at_rest(struct model *l, const struct plan *p) KAR_NONNULL;

/* --- rules_quota.c --- */

/* --- rules_spec.c --- */

/* What @job says otherwise than it did when the pod was made; NULL: nothing. */
const char *rules_outdated(const struct sim_value *pod, const char *task,
	const struct sim_value *job) KAR_NONNULL;
/* The live pods of a job at work are as its spec wants them. */
void rules_check_pods_at_rest(struct model *l, const struct model_job *j,
	const struct sim_value *job) KAR_NONNULL;

/* --- rules_tenant.c --- */

/* @user, who is alive, has heard of everything. */
void rules_check_reader_at_rest(struct model *l, const char *user) KAR_NONNULL;
/* Annotation of what cannot be read: since when, in mono ms. */
#define RULES_UNREADABLE_SINCE "test.kube-arbitrator.io/unreadable-since"

/* --- rules_lease.c --- */

/* Somebody holds the lease, and renews it, as long as nothing goes wrong. Called now and then. */
void rules_check_lease_due(struct model *l) KAR_NONNULL;
/* @user lists @resource. */
void rules_check_list(struct model *l, const char *user, const char *resource) KAR_NONNULL;
/* @user, a manager, has stopped and says that all is in order. */
void rules_check_stopped(struct model *l, const char *user) KAR_NONNULL;

/* --- rules_time.c --- */

/* What is due by the virtual clock is done soon, as long as nothing goes wrong. */
void rules_check_due(struct model *l) KAR_NONNULL;

/* Checks all rules that are about this kind of write. */
void rules_check(const struct write *w, enum rule_when when) KAR_NONNULL;
/* The i-th rule; NULL past the end. For lists of them. */
const struct rule *rules_at(size_t i);

extern const struct rule rules_of_asks[], rules_of_evictions[], rules_of_gangs[], rules_of_life[],
	rules_of_limit[], rules_of_network[], rules_of_nodes[], rules_of_order[], rules_of_pods[],
	rules_of_limits[], rules_of_pins[], rules_of_policy[], rules_of_queue[], rules_of_quota[],
	rules_of_room[], rules_of_shares[], rules_of_spec[], rules_of_status[], rules_of_tenants[],
	rules_of_time[], rules_of_topology[];
extern const size_t n_rules_of_asks, n_rules_of_evictions, n_rules_of_gangs, n_rules_of_life,
	n_rules_of_limit, n_rules_of_network, n_rules_of_nodes, n_rules_of_order, n_rules_of_pins,
	n_rules_of_limits, n_rules_of_room, n_rules_of_pods, n_rules_of_policy, n_rules_of_queue,
	n_rules_of_quota, n_rules_of_shares, n_rules_of_spec, n_rules_of_status, n_rules_of_tenants,
	n_rules_of_time, n_rules_of_topology;

#endif
