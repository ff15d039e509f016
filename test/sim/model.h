/*
 * model - what an observer who misses nothing knows of the jobs and pods of a run; fed with every committed write.
 *
 * The rules (rules.h) compare each write with it. It remembers what the API server forgets: which pods ever succeeded or were
 * lost, since when a job is deleted, suspended or finished, which values were in force a while ago. Times are mono ms of
 * the timeline.
 *
 * Staleness: a manager may act on what it read some time ago. A rule about such a moment holds against every state of the
 * last `staleness` ms, which is short without faults and long with them.
 */
#ifndef TEST_SIM_LEDGER_H
#define TEST_SIM_LEDGER_H

#include <bsd/sys/queue.h>
#include <bsd/sys/tree.h>

#include "api/podgroup/podgroup.h"
#include "api/queuejob/queuejob.h"
#include "sim/apiserver/apiserver.h"

/* What managers hear of; of Services only those that bear our label. */
enum model_resource { MODEL_JOBS, MODEL_PODS, MODEL_GROUPS, MODEL_SPECS, MODEL_RESOURCES };

enum {
	MODEL_TASKS = 8,
	MODEL_INDEXES = 256,
	MODEL_PAST = 16, /* values remembered of one setting */
	MODEL_READERS = 32,
	MODEL_MANAGERS = 8,
	MODEL_QUEUES = 3,
	MODEL_EVICTIONS = 64,
	MODEL_NAME = 64,
	MODEL_NO_LIMIT = INT32_MAX,
	MODEL_NO_TIME = -1,
};

/* The values of a number in the course of time. */
struct setting {
	int now;
	struct {
		int value;
		kar_time until;
	} past[MODEL_PAST];
	size_t n;
};
void model_set(struct setting *s, int value, kar_time now) KAR_NONNULL;
int setting_max(const struct setting *s, kar_time since) KAR_NONNULL;
int setting_min(const struct setting *s, kar_time since) KAR_NONNULL;

struct model_task {
	char name[MODEL_NAME];
	char checked
		[MODEL_NAME]; /* the hash of the templates of which a dry run has shown that they are possible */
	kar_time checked_at;
	struct setting replicas;
	bool succeeded
		[MODEL_INDEXES]; /* a pod of this index has, ever, and was not stopped by a manager before */
	kar_time restarting;     /* since when, by the status; 0: it is not */
	int done_in[MODEL_INDEXES]; /* the incarnation in which one has last; 0: never */
	struct setting own_minimum; /* -1: it has none */
	/* dependsOn */
	struct {
		int task; /* -1: there is none of the name */
		bool succeeded;
	} after[MODEL_TASKS];
	int n_after;
	int may_start_in;          /* the last incarnation in which all its dependencies were reached */
	bool asked[MODEL_INDEXES]; /* a manager has asked for one, ever */
	kar_time asked_at[MODEL_INDEXES],
		freed_at[MODEL_INDEXES]; /* when last; when the name last became free */
	/* Until when the back-off lasts of the pod that has failed, and in which incarnation. */
	kar_time held_until[MODEL_INDEXES];
	int held_in[MODEL_INDEXES];
};

struct model_pod {
	RB_ENTRY(model_pod) by_name;
	TAILQ_ENTRY(model_pod) of_job;
	struct model_job *job; /* that owns it; NULL: none */
	char uid[MODEL_NAME], ns[MODEL_NAME], name[MODEL_NAME];
	char task[MODEL_NAME];
	int index, incarnation;     /* as created */
	kar_time created, deleting; /* 0: not being deleted */
	bool running, succeeded, failed;
	bool lost;                      /* failed, or deleted by somebody else than a manager */
	bool stopped, stopped_for_task; /* deleted by a manager; because its task is restarted */
	bool shed_late;                 /* when it may be wanted again */
	unsigned actions; /* of the failure policy, one bit each, by what it looked like since it was lost */
	bool tampered;    /* a person edited it, or took it from its owner */
	bool taken;       /* in another way than by editing its labels */
	bool done_first;  /* it succeeded before anybody deleted it */
	kar_time failed_at;
};
int model_compare_pods(const struct model_pod *a, const struct model_pod *b) KAR_NONNULL;
RB_HEAD(model_pods, model_pod);
RB_PROTOTYPE(model_pods, model_pod, by_name, model_compare_pods)
TAILQ_HEAD(model_pod_list, model_pod);

/* A manager that has seen at the API server itself that the job is alive and may run. */
struct model_reader {
	const char *user;
	int incarnation;
};

struct model_job {
	RB_ENTRY(model_job) by_uid;
	TAILQ_ENTRY(model_job) in_present;
	char uid[MODEL_NAME], ns[MODEL_NAME], name[MODEL_NAME];
	struct model_pod_list pods; /* that exist */
	struct model_task tasks[MODEL_TASKS];
	int n_tasks, n_known; /* known: with those that were dropped, or have other names now */
	int total, live;      /* replicas wanted; pods that exist, have not ended and are not being deleted */
	kar_time created;
	kar_time invalid; /* when its pods were last known to be impossible; 0: never */
	kar_time deleting, gone, suspended, finished, admitted; /* since when; 0: it is not */
	kar_time resumed;                                       /* when last; 0: never */
	kar_time was_admitted;                                  /* until when; 0: never */
	kar_time runs_since;  /* admitted, and not suspended since by its status; 0: it is not */
	bool admitted_before; /* its group was, when it was adopted: that is when the start is counted from */
	kar_time start_noted; /* when its startTime was last recorded, or taken away */
	bool has_times;       /* activeDeadlineSeconds or ttlSecondsAfterFinished */
	kar_time spec_edited; /* when last; 0: never */
	int64_t spec_rv;      /* of the last write that edited, deleted or removed it */
	bool template_changed; /* in this incarnation */
	bool ever_suspended;
	bool keeps_done; /* it was suspended, has given nodes back or lost its admission: what had succeeded stayed done */
	bool crowded; /* others' pods had names of its pods when it came, or a manager may think so */
	bool status_edited, pods_edited; /* by a person */
	bool other_template; /* a pod came so late that its template is none that the status knows */
	enum kar_qj_phase phase;
	kar_time phase_since;
	int incarnation, restarts_here; /* in this incarnation */
	int minimum;                    /* of pods that make its gang, when all tasks have started */
	bool ordered;                   /* a task depends on another */
	int queue;                      /* 0: default, 1: q1, 2: q2 */
	int failures, losses;           /* distinct pods that failed; that were lost in any way */
	int last_loss;                  /* the latest incarnation that has lost a pod */
	int last_gang_loss;             /* the same, in a way for which the gang may be restarted */
	int ignored;                    /* of .failures: those that a rule ignores */
	unsigned actions;               /* of all its pods (see struct model_pod) */
	int most_up,
		up_incarnation; /* most pods that ran or had succeeded at once, in the incarnation of the newest pod */
	struct model_reader readers[MODEL_READERS];
	size_t n_readers;
	kar_time without_service; /* since when no Service is its own; 0: there is one */
	kar_time service_changed; /* when anybody last wrote the Service of its name; 0: never */
	kar_time refused_since;   /* when the first of .n_refused creates was */
	int n_refused;
	unsigned writes; /* by managers, of its status */
	/* The last refusal of one of its pods: by the quota, as invalid, or because somebody else's has the name. */
	struct {
		const char *user; /* who has heard it; NULL: nobody */
		kar_time at;
		int64_t spec_rv;
	} refused;
	kar_time fewer;       /* when it last had fewer live pods; 0: never */
	kar_time lost_at;     /* when it last lost one, by a failure or through somebody else; 0: never */
	struct setting limit; /* of its active pods, by the queue */
	/* Since when a quota refuses the rest of its minimum while it has a part of that; and the part has our gate. 0: it has not. */
	kar_time short_since;
	/* It holds so many nodes, which are too few for its minimum, and has got none since (rules_nodes.c). */
	kar_time part_since;
	int part;
	int n_lowered;          /* see .lowered_since */
	kar_time placed;        /* when the last attempt to start it began; 0: never */
	kar_time scaled;        /* when its queue last changed how many of its pods may be active; 0: never */
	kar_time lowered_since; /* when the first of the last .n_lowered changes was that each took pods */
	/* Since when its group has no places for its pods, because it waits or is rolled back; 0: it has. Until when that was so last. */
	kar_time no_places, had_no_places;
	int asked;     /* distinct indexes that managers have asked for */
	int overtaken; /* by extras of other jobs, while it waited for its minimum */
};
int model_compare_jobs(const struct model_job *a, const struct model_job *b) KAR_NONNULL;
RB_HEAD(model_jobs, model_job);
RB_PROTOTYPE(model_jobs, model_job, by_uid, model_compare_jobs)
TAILQ_HEAD(model_job_list, model_job);

/* A PodGroup of another controller; also when it is gone. */
struct model_gang {
	TAILQ_ENTRY(model_gang) of_model;
	char name[MODEL_NAME];
	struct setting state; /* enum kar_pg_state */
	kar_time planned;     /* when its state or its plan changed last */
	kar_time gone;        /* 0: it is not */
	bool satisfied;       /* once, since it was new */
	int part;             /* of its pods that are on nodes, while they are too few */
	kar_time part_since;
	bool released_late; /* one of its pods, after its last attempt was given up */
};
TAILQ_HEAD(model_gang_list, model_gang);

/* The pods of such a group as they are. */
struct model_members {
	const char *group;
	int alive, going, succeeded, failed; /* going: being deleted, and not ended */
	/* Of .alive: on nodes; running; with our gate; with another one too; without a controller; of these without our gate. */
	int bound, running, gated, held, unowned, bare;
	const struct sim_value *any; /* of .alive; NULL: there is none */
};

/* What a manager has been told. */
struct model_manager {
	const char *user;
	int64_t told[MODEL_RESOURCES]; /* it knows all of them as of this version; 0: that is not sure */
};

/* The Lease of the managers, as the server has it. */
struct model_lease {
	char holder[MODEL_NAME]; /* "": nobody */
	kar_time renewed;        /* by .holder, at the server */
	kar_time free;           /* since when nobody holds it; 0: somebody does */
};

/* Groups by "ns/name". */
struct model_eviction {
	char taker[2 * MODEL_NAME], victim[2 * MODEL_NAME];
	int times; /* since people last changed anything */
};

struct model {
	struct sim_apiserver *server;
	struct sim_timeline *timeline;
	kar_time staleness;
	bool faultless;       /* nothing goes wrong */
	bool bounds;          /* no capability is ever lowered: plans with .bounds */
	kar_time undisturbed; /* since when nothing does; KAR_NEVER: something may */
	kar_time min_runtime,
		freezing_window; /* ms, --min-runtime, --freezing-window; that of plans with .shares, else 0 */
	kar_time worst_clock;    /* ms by which a clock was wrong at most */
	bool overlaps;           /* two managers may work at once */
	bool leases;             /* the managers elect one of them */
	bool sure_network;       /* each request gets its answer, and each watch its events */
	struct model_lease lease;
	bool hindered;     /* quotas, foreign pods: creates may be refused */
	bool quota;        /* one may be in force */
	bool squatted;     /* foreign pods may take names */
	int max_in_flight; /* writes of a manager; 0: many */
	struct model_manager managers[MODEL_MANAGERS];
	size_t n_managers;
	struct model_jobs jobs;
	struct model_job_list present; /* those that are not gone */
	struct model_pods pods;
	struct model_gang_list gangs;
	struct model_eviction evictions[MODEL_EVICTIONS]; /* the first so many pairs */
	size_t n_evictions;
	struct setting max_jobs[MODEL_QUEUES];
	kar_time
		nodes_changed; /* when a node last came, went, was cordoned or became ready, or not any more */
	kar_time freed;        /* when somebody else's pod last went away */
	uint64_t manager_writes, writes;
	int64_t written[MODEL_RESOURCES];                   /* version of the last write */
	kar_time last_manager_write, last_write, last_edit; /* edit: by a person */
	/* The first rule that was broken; NULL: none was. */
	const char *broken;
	char story[1024];
};

struct model *model_new(struct sim_apiserver *s, kar_time staleness) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
void model_free(struct model *l);
/* @user read the job at the API server, as @object. */
void model_read(struct model *l, const char *user, const struct sim_value *object) KAR_NONNULL;
/* @user knows all of @resource as of version @rv; 0: it begins anew. @user is borrowed. */
void model_told(struct model *l, const char *user, const char *resource, int64_t rv) KAR_NONNULL;
/* @user sends @rq now. */
void model_sent(struct model *l, const char *user, const struct sim_request *rq) KAR_NONNULL;
/* @rq of @user is handed to its connection. */
void model_handed(struct model *l, const char *user, const struct sim_request *rq) KAR_NONNULL;
/* The Lease was written. */
void model_note_lease(struct model *l, const struct sim_change *c) KAR_NONNULL;
/* @rq of @user has been executed. */
void model_executed(struct model *l, const char *user, const struct sim_request *rq,
	const struct sim_response *answer) KAR_NONNULL;
/* The answer to @rq has reached @user. */
void model_heard(struct model *l, const char *user, const struct sim_request *rq,
	const struct sim_response *answer) KAR_NONNULL;
/* A manager's create of @pod was answered with @code. */
struct sim_request;
void model_answered(struct model *l, const struct sim_request *rq, const struct sim_value *pod,
	int code) KAR_NONNULL;
/* A Service was written; rules_network.c. */
void model_note_service(struct model *l, const struct sim_change *c) KAR_NONNULL;
/* Only the first is kept. @rule: static. */
void model_break(struct model *l, const char *rule, const char *fmt, ...) KAR_PRINTF(3, 4);
kar_time model_now(const struct model *l) KAR_NONNULL;
/* The beginning of the time whose states a stale manager may still act upon. */
kar_time model_horizon(const struct model *l) KAR_NONNULL;

struct model_job *model_find_job(const struct model *l, const char *uid) KAR_NONNULL;
struct model_pod *model_find_pod(const struct model *l, const char *ns, const char *name) KAR_NONNULL;
struct model_task *model_find_task(struct model_job *j, const char *name) KAR_NONNULL;

/* --- model_gangs.c --- */

/* Is this the namespace of other controllers? @ns may be NULL. */
bool model_is_of_others(const char *ns);
/* NULL: there never was one. @name may be NULL. */
struct model_gang *model_find_gang(const struct model *l, const char *name) __attribute__((nonnull(1)));
struct model_gang *model_gang_of(const struct model *l, const struct sim_value *pod) KAR_NONNULL;
/* NULL: it is gone. */
const struct sim_value *model_gang_group(const struct model *l, const struct model_gang *g) KAR_NONNULL;
struct model_members model_count_members(const struct model *l, const struct model_gang *g) KAR_NONNULL;
/* Was it in this state as far as a manager may know? */
bool model_gang_was(const struct model *l, const struct model_gang *g, enum kar_pg_state s) KAR_NONNULL;
/* Its group, or a pod in the namespace, was written. */
void model_note_gang_group(struct model *l, const struct sim_change *c) KAR_NONNULL;
/* A group has changed: it may have been evicted (rules_evict.c). */
void model_note_eviction(struct model *l, const struct sim_change *c) KAR_NONNULL;
void model_note_gang_pod(struct model *l, const struct sim_change *c) KAR_NONNULL;

/* --- model_life.c --- */

/* A person has edited the pod. */
void model_note_edit(struct model_pod *p, const struct sim_change *c) KAR_NONNULL;
/* A pod of @j has been created: of which templates? */
void model_note_template(const struct model *l, struct model_job *j, const struct sim_value *pod) KAR_NONNULL;
/* What is to be known of it before it becomes what it is in @c. */
void model_note_end(struct model *l, struct model_pod *p, const struct sim_change *c) KAR_NONNULL;
/* Losses that the status counts now. */
void model_note_backoff(struct model *l, struct model_job *j, const struct sim_change *c) KAR_NONNULL;

/* --- model_order.c --- */

/* Indexes that have succeeded: what was done before a suspension counts; what was done before a restart does not. */
int model_count_done(const struct model_job *j, const struct model_task *t, int incarnation) KAR_NONNULL;
/* The job was written. */
void model_note_dependencies(struct model *l, struct model_job *j, const struct sim_value *job) KAR_NONNULL;
/* Something of an ordered job has changed. */
void model_note_order(struct model *l, struct model_job *j) KAR_NONNULL;
/* Of the tasks that depend on no other. */
int model_first_minimum(const struct model_job *j) KAR_NONNULL;

/* Pods of the gang that are there: they run, will run, or have succeeded. */
int model_members(const struct model_job *j) KAR_NONNULL;
/* Is this the name of one of the job's pods? */
bool model_has_name(const struct model_job *j, const char *name) KAR_NONNULL;
/* One of the same name has just gone, and a manager whose watch lags may still see its pods. */
bool model_has_just_followed(struct model *l, const struct model_job *j) KAR_NONNULL;
/* Has nobody else's pod, a former job's perhaps, a name that the job needs? */
bool model_names_are_free(const struct model *l, const struct model_job *j) KAR_NONNULL;

const char *model_resource_name(enum model_resource r) KAR_RETNN;
/* MODEL_RESOURCES: none of them. */
enum model_resource model_resource_of(const char *resource) KAR_NONNULL;
/* Is this the namespace of a tenant whose objects mean nothing? Its jobs are none of the model's. @ns may be NULL. */
bool model_is_hostile(const char *ns);
/* Is @user one of the managers under test? */
bool model_is_manager(const char *user) KAR_NONNULL;
#define MODEL_MANAGER "kar-controllers-"

/* The QueueJob as the API server has it; NULL: gone. */
const struct sim_value *model_stored(const struct model *l, const struct model_job *j) KAR_NONNULL;
/* The condition of this type; NULL: @object has none. */
const struct sim_value *model_condition(const struct sim_value *object, const char *type);
/* Of a pod: the UID of its controller if that is a QueueJob, else NULL. */
const char *model_owner(const struct sim_value *object);
/* Has @object the finalizer @name? */
bool model_has_finalizer(const struct sim_value *object, const char *name);
enum kar_qj_phase model_phase(const struct sim_value *job);
/* The failure policy's part of a change of @p, or of its job's status. */
void model_note_policy(struct model *l, struct model_pod *p, const struct sim_change *c) KAR_NONNULL;
void model_note_task_restarts(struct model *l, struct model_job *j, const struct sim_value *job) KAR_NONNULL;
/* Has the pod condition DisruptionTarget? */
bool model_is_disrupted(const struct sim_value *pod) KAR_NONNULL;
/* Is the loss of the pod recorded in status.countedPods of @job? */
bool model_is_counted(const struct sim_value *job, const char *uid) KAR_NONNULL;
/* Does the status of @job say that the task is being restarted? */
bool model_restarts(const struct sim_value *job, const char *task) KAR_NONNULL;
/* Has the pod our scheduling gate? rules_quota.c. */
bool model_is_gated(const struct sim_value *pod) KAR_NONNULL;
/* A pod of the job has come, gone or changed. */
void model_note_part(struct model_job *j) KAR_NONNULL;
/* A quota has refused one. */
void model_note_short(struct model *l, struct model_job *j) KAR_NONNULL;
/* 0: default, 1: q1, 2: q2. */
int model_queue(const char *name) KAR_NONNULL;
/* By the queue that it asks for. @group may be NULL. */
bool model_is_admitted(const struct sim_value *group);
const char *model_group_queue(const struct sim_value *group);
/* Is the group (NULL: not there) admitted by the queue of that number, whatever queue it asks for now? */
bool model_is_admitted_by(const struct sim_value *group, int queue);
/* --- rules_nodes.c --- */

/* How far the attempt to start the group (NULL: none) is. */
enum kar_pg_state model_placement(const struct sim_value *group);
/* The group of the job, or NULL. */
const struct sim_value *model_group(const struct model *l, const struct model_job *j) KAR_NONNULL;
/* Its queue may have scaled it (rules_shares.c). */
void model_note_scaling(const struct model *l, struct model_job *j, const struct sim_change *c) KAR_NONNULL;
/* The group of @j was written; NULL: it is gone. */
void model_note_places(const struct model *l, struct model_job *j, const struct sim_value *group)
	__attribute__((nonnull(1, 2)));

/* Is the last restart of @job one that gave its nodes back? */
bool model_gave_back(const struct sim_value *job);
/* Does the status say that the pods of the job are impossible? Without pods it gives its place in the queue away. */
bool model_is_invalid(const struct sim_value *job);

#endif
