/*
 * ledger - what an observer who misses nothing knows of the jobs and pods of a run; fed with every committed write.
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

#include "api/queuejob.h"
#include "sim/apiserver/apiserver.h"

enum {
	LEDGER_TASKS = 8,
	LEDGER_INDEXES = 256,
	LEDGER_PAST = 16, /* values remembered of one setting */
	LEDGER_READERS = 32,
	LEDGER_MANAGERS = 8,
	LEDGER_QUEUES = 3,
	LEDGER_NAME = 64,
	LEDGER_NO_LIMIT = INT32_MAX,
	LEDGER_NO_TIME = -1,
};

/* The values of a number in the course of time. */
struct setting {
	int now;
	struct {
		int value;
		kar_time until;
	} past[LEDGER_PAST];
	size_t n;
};
void ledger_set(struct setting *s, int value, kar_time now) KAR_NONNULL;
int setting_max(const struct setting *s, kar_time since) KAR_NONNULL;
int setting_min(const struct setting *s, kar_time since) KAR_NONNULL;

struct ledger_task {
	char name[LEDGER_NAME];
	char checked
		[LEDGER_NAME]; /* the hash of the templates of which a dry run has shown that they are possible */
	struct setting replicas;
	bool succeeded
		[LEDGER_INDEXES]; /* a pod of this index has, ever, and was not stopped by a manager before */
	kar_time restarting;      /* since when, by the status; 0: it is not */
	int done_in[LEDGER_INDEXES]; /* the incarnation in which one has last; 0: never */
	struct setting own_minimum;  /* -1: it has none */
	/* dependsOn */
	struct {
		int task; /* -1: there is none of the name */
		bool succeeded;
	} after[LEDGER_TASKS];
	int n_after;
	int may_start_in;           /* the last incarnation in which all its dependencies were reached */
	bool asked[LEDGER_INDEXES]; /* a manager has asked for one, ever */
	kar_time asked_at[LEDGER_INDEXES],
		freed_at[LEDGER_INDEXES]; /* when last; when the name last became free */
	/* Until when the back-off lasts of the pod that has failed, and in which incarnation. */
	kar_time held_until[LEDGER_INDEXES];
	int held_in[LEDGER_INDEXES];
};

struct ledger_pod {
	RB_ENTRY(ledger_pod) by_name;
	TAILQ_ENTRY(ledger_pod) of_job;
	struct ledger_job *job; /* that owns it; NULL: none */
	char uid[LEDGER_NAME], ns[LEDGER_NAME], name[LEDGER_NAME];
	char task[LEDGER_NAME];
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
int ledger_compare_pods(const struct ledger_pod *a, const struct ledger_pod *b) KAR_NONNULL;
RB_HEAD(ledger_pods, ledger_pod);
RB_PROTOTYPE(ledger_pods, ledger_pod, by_name, ledger_compare_pods)
TAILQ_HEAD(ledger_pod_list, ledger_pod);

/* A manager that has seen at the API server itself that the job is alive and may run. */
struct ledger_reader {
	const char *user;
	int incarnation;
};

struct ledger_job {
	RB_ENTRY(ledger_job) by_uid;
	TAILQ_ENTRY(ledger_job) in_present;
	char uid[LEDGER_NAME], ns[LEDGER_NAME], name[LEDGER_NAME];
	struct ledger_pod_list pods; /* that exist */
	struct ledger_task tasks[LEDGER_TASKS];
	int n_tasks, n_known; /* known: with those that were dropped, or have other names now */
	int total, live;      /* replicas wanted; pods that exist, have not ended and are not being deleted */
	kar_time created;
	kar_time invalid; /* when its pods were last known to be impossible; 0: never */
	kar_time deleting, gone, suspended, finished, admitted; /* since when; 0: it is not */
	kar_time resumed;                                       /* when last; 0: never */
	kar_time was_admitted;                                  /* until when; 0: never */
	kar_time runs_since;   /* admitted, and not suspended since by its status; 0: it is not */
	kar_time start_noted;  /* when its startTime was last recorded, or taken away */
	bool has_times;        /* activeDeadlineSeconds or ttlSecondsAfterFinished */
	kar_time spec_edited;  /* when last; 0: never */
	int64_t spec_rv;       /* of the last write that edited, deleted or removed it */
	bool template_changed; /* in this incarnation */
	bool ever_suspended;
	bool keeps_done; /* it was suspended, or has given nodes back: what had succeeded stayed done */
	bool crowded;    /* others' pods had names of its pods when it came, or a manager may think so */
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
	unsigned actions;               /* of all its pods (see struct ledger_pod) */
	int most_up,
		up_incarnation; /* most pods that ran or had succeeded at once, in the incarnation of the newest pod */
	struct ledger_reader readers[LEDGER_READERS];
	size_t n_readers;
	unsigned writes;          /* by managers, of its status */
	kar_time without_service; /* since when no Service is its own; 0: there is one */
	kar_time refused_since;   /* when the first of .n_refused creates was */
	int n_refused;
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
	kar_time short_since, gated_since;
	/* It holds so many nodes, which are too few for its minimum, and has got none since (rules_nodes.c). */
	int part;
	kar_time part_since;
	kar_time lacks_since; /* without a break; 0: it lacks none */
	kar_time turn_lost;   /* when it last lost one; 0: never */
	int asked;            /* distinct indexes that managers have asked for */
	int overtaken;        /* by extras of other jobs, while it waited for its minimum */
};
int ledger_compare_jobs(const struct ledger_job *a, const struct ledger_job *b) KAR_NONNULL;
RB_HEAD(ledger_jobs, ledger_job);
RB_PROTOTYPE(ledger_jobs, ledger_job, by_uid, ledger_compare_jobs)
TAILQ_HEAD(ledger_job_list, ledger_job);

/* What a manager has been told. */
struct ledger_manager {
	const char *user;
	int64_t jobs_told; /* it knows all QueueJobs as of this version; 0: that is not sure */
};

struct ledger {
	struct sim_apiserver *server;
	struct sim_timeline *timeline;
	kar_time staleness;
	bool faultless;       /* nothing goes wrong */
	kar_time turn_lost;   /* when a gang lost its turn to others that wait for nodes last */
	kar_time first_lost;  /* the same, the first time; 0: never */
	kar_time undisturbed; /* since when nothing does; KAR_NEVER: something may */
	kar_time worst_clock; /* ms by which a clock was wrong at most */
	bool overlaps;        /* two managers may work at once */
	bool hindered;        /* quotas, foreign pods: creates may be refused */
	bool quota;           /* one may be in force */
	bool squatted;        /* foreign pods may take names */
	int max_in_flight;    /* writes of a manager; 0: many */
	struct ledger_manager managers[LEDGER_MANAGERS];
	size_t n_managers;
	struct ledger_jobs jobs;
	struct ledger_job_list present; /* those that are not gone */
	struct ledger_pods pods;
	struct setting max_jobs[LEDGER_QUEUES];
	kar_time freed; /* when somebody else's pod last went away */
	uint64_t manager_writes, writes;
	kar_time last_manager_write, last_write, last_edit; /* edit: by a person */
	/* The first rule that was broken; NULL: none was. */
	const char *broken;
	char story[1024];
};

struct ledger *ledger_new(struct sim_apiserver *s, kar_time staleness) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
void ledger_free(struct ledger *l);
/* @user read the job at the API server, as @object. */
void ledger_read(struct ledger *l, const char *user, const struct sim_value *object) KAR_NONNULL;
/* @user knows all of @resource as of version @rv; 0: it begins anew. @user is borrowed. */
void ledger_told(struct ledger *l, const char *user, const char *resource, int64_t rv) KAR_NONNULL;
/* @user sends @rq now. */
void ledger_sent(struct ledger *l, const char *user, const struct sim_request *rq) KAR_NONNULL;
/* @rq of @user has been executed. */
void ledger_executed(struct ledger *l, const char *user, const struct sim_request *rq,
	const struct sim_response *answer) KAR_NONNULL;
/* The answer to @rq has reached @user. */
void ledger_heard(struct ledger *l, const char *user, const struct sim_request *rq,
	const struct sim_response *answer) KAR_NONNULL;
/* A manager's create of @pod was answered with @code. */
struct sim_request;
void ledger_answered(struct ledger *l, const struct sim_request *rq, const struct sim_value *pod,
	int code) KAR_NONNULL;
/* A Service was written; rules_network.c. */
void ledger_note_service(struct ledger *l, const struct sim_change *c) KAR_NONNULL;
/* Only the first is kept. @rule: static. */
void ledger_break(struct ledger *l, const char *rule, const char *fmt, ...) KAR_PRINTF(3, 4);
kar_time ledger_now(const struct ledger *l) KAR_NONNULL;
/* The beginning of the time whose states a stale manager may still act upon. */
kar_time ledger_horizon(const struct ledger *l) KAR_NONNULL;

struct ledger_job *ledger_find_job(const struct ledger *l, const char *uid) KAR_NONNULL;
struct ledger_pod *ledger_find_pod(const struct ledger *l, const char *ns, const char *name) KAR_NONNULL;
struct ledger_task *ledger_find_task(struct ledger_job *j, const char *name) KAR_NONNULL;

/* --- ledger_life.c --- */

/* A person has edited the pod. */
void ledger_note_edit(struct ledger_pod *p, const struct sim_change *c) KAR_NONNULL;
/* A pod of @j has been created: of which templates? */
void ledger_note_template(const struct ledger *l, struct ledger_job *j,
	const struct sim_value *pod) KAR_NONNULL;
/* What is to be known of it before it becomes what it is in @c. */
void ledger_note_end(struct ledger *l, struct ledger_pod *p, const struct sim_change *c) KAR_NONNULL;
/* Losses that the status counts now. */
void ledger_note_backoff(struct ledger *l, struct ledger_job *j, const struct sim_change *c) KAR_NONNULL;

/* --- ledger_order.c --- */

/* Indexes that have succeeded: what was done before a suspension counts; what was done before a restart does not. */
int ledger_count_done(const struct ledger_job *j, const struct ledger_task *t, int incarnation) KAR_NONNULL;
/* The job was written. */
void ledger_note_dependencies(struct ledger *l, struct ledger_job *j,
	const struct sim_value *job) KAR_NONNULL;
/* Something of an ordered job has changed. */
void ledger_note_order(struct ledger *l, struct ledger_job *j) KAR_NONNULL;
/* Of the tasks that depend on no other. */
int ledger_first_minimum(const struct ledger_job *j) KAR_NONNULL;

/* Pods of the gang that are there: they run, will run, or have succeeded. */
int ledger_members(const struct ledger_job *j) KAR_NONNULL;
/* Is this the name of one of the job's pods? */
bool ledger_has_name(const struct ledger_job *j, const char *name) KAR_NONNULL;
/* One of the same name has just gone, and a manager whose watch lags may still see its pods. */
bool ledger_has_just_followed(struct ledger *l, const struct ledger_job *j) KAR_NONNULL;
/* Has nobody else's pod, a former job's perhaps, a name that the job needs? */
bool ledger_names_are_free(const struct ledger *l, const struct ledger_job *j) KAR_NONNULL;

/* Is @user one of the managers under test? */
bool ledger_is_manager(const char *user) KAR_NONNULL;
#define LEDGER_MANAGER "kar-controllers-"

/* The QueueJob as the API server has it; NULL: gone. */
const struct sim_value *ledger_stored(const struct ledger *l, const struct ledger_job *j) KAR_NONNULL;
/* The condition of this type; NULL: @object has none. */
const struct sim_value *ledger_condition(const struct sim_value *object, const char *type);
/* Of a pod: the UID of its controller if that is a QueueJob, else NULL. */
const char *ledger_owner(const struct sim_value *object);
/* Has @object the finalizer @name? */
bool ledger_has_finalizer(const struct sim_value *object, const char *name);
enum kar_qj_phase ledger_phase(const struct sim_value *job);
/* The failure policy's part of a change of @p, or of its job's status. */
void ledger_note_policy(struct ledger *l, struct ledger_pod *p, const struct sim_change *c) KAR_NONNULL;
void ledger_note_task_restarts(struct ledger *l, struct ledger_job *j,
	const struct sim_value *job) KAR_NONNULL;
/* Has the pod condition DisruptionTarget? */
bool ledger_is_disrupted(const struct sim_value *pod) KAR_NONNULL;
/* Is the loss of the pod recorded in status.countedPods of @job? */
bool ledger_is_counted(const struct sim_value *job, const char *uid) KAR_NONNULL;
/* Does the status of @job say that the task is being restarted? */
bool ledger_restarts(const struct sim_value *job, const char *task) KAR_NONNULL;
/* Has the pod our scheduling gate? rules_quota.c. */
bool ledger_is_gated(const struct sim_value *pod) KAR_NONNULL;
/* A pod of the job has come, gone or changed. */
void ledger_note_part(const struct ledger *l, struct ledger_job *j) KAR_NONNULL;
/* A quota has refused one. */
void ledger_note_short(struct ledger *l, struct ledger_job *j) KAR_NONNULL;
/* 0: default, 1: q1, 2: q2. */
int ledger_queue(const char *name) KAR_NONNULL;
bool ledger_is_admitted(const struct sim_value *group);
/* Is the last restart of @job one that gave its nodes back? */
bool ledger_gave_back(const struct sim_value *job);
/* Does the status say that the pods of the job are impossible? Without pods it gives its place in the queue away. */
bool ledger_is_invalid(const struct sim_value *job);

#endif
