/*
 * reconcile - one decision about a job while it is made; internal to the pure part of the QueueJob reconciler.
 *
 * decide.c calls the functions below in the order of this file: facts, wanted pods, losses, moves, report, actions. All
 * of them are pure: they read the view, change struct queuejob_reconcile, and add events and actions to its plan.
 *
 * Invariant: an observation that must be counted exactly once (a success, a loss) is in the recorded status before a plan
 * removes its evidence (a finalizer, an object). So .seen decides what may be removed, never .st.
 *
 * Times are wall ms, durations ms. Text and lists live in the arena of the plan. @r is the decision in every function.
 */
#ifndef KAR_QUEUEJOB_RECONCILE_H
#define KAR_QUEUEJOB_RECONCILE_H

#include "api/podgroup/pg_plan.h"
#include "api/status/reasons.h"
#include "common/codec/quantity.h"
#include "controllers/podset/podset.h"
#include "controllers/queuejob/queuejob.h"

/* ms; the limit of the back-off after failures, of a pod, a task or a gang. */
enum { QUEUEJOB_LONGEST_BACKOFF = 10 * KAR_MINUTE };

/* One loss, and the rule of spec.failurePolicy that matches it. */
struct queuejob_classified {
	size_t task;                         /* of the pod */
	const struct kar_failure_rule *rule; /* NULL: none matches */
};

/* The observed, recorded and counted state. Const: queuejob_count_again() replaces it as a whole. */
struct queuejob_facts {
	const struct queuejob_view *v;
	const struct kar_queuejob *job;
	const struct kar_queuejob_status *recorded; /* the status that the API server has */
	/* The status that the decision starts from: .recorded, or the one assumed by queuejob_assume_recorded(). */
	const struct kar_queuejob_status *seen;
	struct podset pods;
	const struct kar_task_status **known; /* .seen per task of the spec; NULL: the task is not recorded */
	kar_time now;                         /* wall ms */
	kar_time second;                      /* .now in whole seconds, the precision of the API */
	bool template_changed;                /* the recorded template is not the specified one */
	/* No pod may be created yet: a dry run has failed or is due, or the Service does not exist. */
	bool unchecked;
	bool edit_waits;        /* the queue has not let the changed templates in: the incarnation goes on */
	bool replaces_template; /* the incarnation is restarted with the changed templates */
};

/* The pods that should exist now (order.c, limit.c). */
struct queuejob_task_want {
	bool started;          /* in this incarnation; a task that has not started gets no pods */
	kar_time restart_time; /* not 0: the task restarts; its pods are deleted, and created again then */
	int32_t pods;          /* wanted now; without those that have succeeded */
};
struct queuejob_want {
	struct queuejob_task_want *tasks; /* as in the spec */
	bool starts_tasks; /* in this decision; the status, with all successes, is stored before their pods */
	int32_t min;       /* quorum of the started tasks; 0: the job is no gang */
	bool raised;       /* an edit made .min higher than recorded, or removed the dependencies of a task */
	int32_t pods;      /* of all tasks; without those that have succeeded */
	bool limited;      /* the queue allows fewer pods than have not succeeded */
	/* By slot number: the pod is Unschedulable, and the repaired plan has no place for it; NULL: nothing was repaired. */
	bool *unplanned;
	bool *scaled_down; /* by slot number: the queue does not allow this pod now; NULL: all are allowed */
	bool from_nothing; /* the incarnation is given up: its succeeded indexes do not count */
	/* Pods at no index of the spec, and live pods that the queue does not allow; in the order of the view. */
	struct podset_pods surplus;
};

/* New losses, and the answer to them (losses.c, failure_policy.c). */
struct queuejob_loss {
	struct podset_pods lost;                /* not counted yet; without those of restarting tasks */
	struct queuejob_classified *classified; /* one per .lost; NULL: there is no failure policy */
	enum kar_failure_action action;         /* the strongest action of the matching rules */
	bool broken;                         /* below the quorum, or a rule demands it: the gang restarts */
	bool rearm;                          /* the gang must form again, without a restart */
	enum kar_qj_formation unformed_by;   /* the cause of .rearm; NONE: an edit */
	bool by_failure;                     /* .cause failed; false: it was disrupted */
	const struct kar_pod *cause;         /* the loss that is reported as the cause; NULL: none is known */
	const struct kar_failure_rule *rule; /* that matches .cause; NULL: none */
};

/* What is known of the indexes of a task with backoffLimitPerIndex: recorded, and what this decision has counted. */
struct queuejob_indexes {
	const char *failed; /* as struct kar_task_status.failed_indexes */
	int32_t *failures;  /* per index; NULL: there are none */
};

struct queuejob_reconcile {
	const struct queuejob_facts *f;
	struct queuejob_indexes *indexes; /* as in the spec */
	bool gives_up;                    /* an index has failed for good in this decision */
	struct queuejob_want want;
	struct queuejob_loss loss;
	struct kar_queuejob_status st; /* the status to be written */
	bool reported;                 /* st.reason and st.message are set */
	bool announced;                /* queuejob_announce_wait() has added an event */
	bool lacks_room;               /* creates wait until surplus pods terminate */
	int32_t min_member;            /* of the PodGroup, as it is from now on */
	bool remembers_surplus; /* st.record.counted_pods has new surplus pods: stored before their deletion */
	struct kar_plan *p;
	struct kar_arena *arena; /* of .p */
};

/* The queue does not allow the pod of this index now. False for a succeeded index. */
static inline bool queuejob_is_scaled_down(const struct queuejob_reconcile *r, const struct podset_slot *slot)
{
	return r->want.scaled_down && r->want.scaled_down[slot->number];
}

/* === facts ========================================================================================= */

/* --- begin.c --------------------------------------------------------------------------------------- */

/* Makes the facts of @v at @now (wall ms), and resets .st, .want and .loss to them. @recorded: as in struct queuejob_facts. */
void queuejob_begin(struct queuejob_reconcile *r, const struct queuejob_view *v,
	const struct kar_queuejob_status *recorded, kar_time now) KAR_NONNULL;
/* Begins again as if r->st were recorded already; for a first start (decision 007) and an edited status. */
void queuejob_assume_recorded(struct queuejob_reconcile *r) KAR_NONNULL;
/* Counts the pods again, after .want.tasks[].restart_time has changed. */
void queuejob_count_again(struct queuejob_reconcile *r) KAR_NONNULL;

/* --- edited.c -------------------------------------------------------------------------------------- */

/*
 * Reports that another client has edited the status, and begins again with a derived one: of the recorded status it believes
 * what decision 025 lists, the pods show the rest. Stops no pod.
 */
void queuejob_derive_status(struct queuejob_reconcile *r) KAR_NONNULL;
/* Removes the conditions Complete and Failed from .st, except the one of its phase. */
void queuejob_drop_false_ends(struct queuejob_reconcile *r) KAR_NONNULL;

/* --- facts.c: the gang ----------------------------------------------------------------------------- */

/* True if the gang has formed in this incarnation with at least the present quorum. */
bool queuejob_was_formed(const struct queuejob_reconcile *r) KAR_NONNULL;
/* True if enough pods of the started tasks, and of each task with its own minimum, run or have succeeded. */
bool queuejob_has_quorum(const struct queuejob_reconcile *r) KAR_NONNULL;
/* True if an edit has raised the quorum of a running gang, and it has not formed with it yet. */
bool queuejob_is_raised(const struct queuejob_reconcile *r) KAR_NONNULL;
/* True if a task is being restarted. */
bool queuejob_restarts_task(const struct queuejob_reconcile *r) KAR_NONNULL;
/* True if @s is Restarting and the succeeded indexes do not count; they do if it was only rolled back. */
bool queuejob_drops_results(const struct kar_queuejob_status *s) KAR_NONNULL;
/* True if the last restart was a roll-back of an attempt to start the gang. */
bool queuejob_was_rolled_back(const struct queuejob_reconcile *r) KAR_NONNULL;
/* Returns the PodGroup if this job owns it and it is not terminating, else NULL. */
const struct kar_podgroup *queuejob_own_group(const struct queuejob_reconcile *r) KAR_NONNULL;

/* --- facts.c: missing pods ------------------------------------------------------------------------- */

/* Returns the task numbers by task priority, high first, then in the order of the spec. */
const size_t *queuejob_creation_order(const struct queuejob_reconcile *r) KAR_NONNULL KAR_RETNN;
/* Returns how many pods of a task count for the quorum when they run: pending, running and succeeded ones. */
int32_t queuejob_covered(const struct podset_task *t) KAR_NONNULL;
/* Returns how many pods of the quorum are missing, lost or terminating. */
int32_t queuejob_lacks(const struct queuejob_reconcile *r) KAR_NONNULL;
/* Returns how many of these must belong to task number @i, because of its own minAvailable. */
int32_t queuejob_task_lacks(const struct queuejob_reconcile *r, size_t i) KAR_NONNULL;

/* --- facts.c: the end ------------------------------------------------------------------------------ */

/* True if the success policy holds. */
bool queuejob_is_complete(const struct queuejob_reconcile *r) KAR_NONNULL;
/* True if a task that counts for the success policy has replicas. */
bool queuejob_can_complete(const struct queuejob_reconcile *r) KAR_NONNULL;
/* True if more failures are counted than spec.backoffLimit allows. */
bool queuejob_over_limit(const struct queuejob_reconcile *r) KAR_NONNULL;
/* Returns how many indexes "0-2,5" names; 0 if it cannot be read. */
int32_t queuejob_count_indexes(const struct queuejob_reconcile *r, const char *indexes) KAR_NONNULL;

/* --- facts.c: the incarnation ---------------------------------------------------------------------- */

/* Returns the hash of the template that the pods of r->st.incarnation have; an edit may have changed the spec since. */
const char *queuejob_template_of(const struct queuejob_reconcile *r) KAR_NONNULL KAR_RETNN;
/* Returns condition Admitted of the PodGroup, or NULL unless its queue admits the job now. */
const struct kar_condition *queuejob_admission(const struct queuejob_reconcile *r) KAR_NONNULL;
/* Returns when the queue admitted the job (wall ms): no earlier than its creation; now, if that is not known. */
kar_time queuejob_admitted_at(const struct queuejob_reconcile *r) KAR_NONNULL;
/*
 * True if the API server confirmed, when the cache of pods already had this version of @pod, that the cached job is the
 * latest. Later changes of a pod prove nothing: the job may have changed before them.
 */
bool queuejob_is_known(const struct queuejob_reconcile *r, const struct kar_pod *pod) KAR_NONNULL;
/* True if a pod has a later incarnation than the recorded one: the cached job is out of date, or a label was edited. */
bool queuejob_is_behind(const struct queuejob_reconcile *r) KAR_NONNULL;
/* True if the job has pods, but no start is recorded. */
bool queuejob_runs_unrecorded(const struct queuejob_reconcile *r) KAR_NONNULL;

/* === wanted pods =================================================================================== */

/* --- order.c: the order between tasks -------------------------------------------------------------- */

/* Sets .want.tasks[].started from the record and the pods, and the quorum .want.min. */
void queuejob_want_started(struct queuejob_reconcile *r) KAR_NONNULL;
/* Sets both for the start of the next incarnation, in which no pod runs yet. */
void queuejob_reset_order(struct queuejob_reconcile *r) KAR_NONNULL;
/* Starts tasks whose dependencies are met: one event, a larger quorum, and the gang must form again. */
void queuejob_start_tasks(struct queuejob_reconcile *r) KAR_NONNULL;
/* True if a task may start now. */
bool queuejob_can_start_task(const struct queuejob_reconcile *r) KAR_NONNULL;
/* True if only started tasks keep a running gang from its quorum; its phase stays Running then. */
bool queuejob_grows(const struct queuejob_reconcile *r) KAR_NONNULL;
/* Returns how many pods of the started tasks are wanted now; without those that have succeeded. */
int32_t queuejob_missing(const struct queuejob_reconcile *r) KAR_NONNULL;
/* Reports a task that waits for another, if there is one. */
void queuejob_report_waiting_task(struct queuejob_reconcile *r) KAR_NONNULL;

/* --- limit.c: the number of pods that the queue allows --------------------------------------------- */

/* Chooses the wanted indexes and the surplus pods. Call again after a change of .want.min or .want.from_nothing. */
void queuejob_limit(struct queuejob_reconcile *r) KAR_NONNULL;
/* Returns how many pods of the quorum have not succeeded. Successes beyond a task's own minimum do not replace another's. */
int32_t queuejob_minimum_left(const struct queuejob_reconcile *r) KAR_NONNULL;
/* Returns how many of these must be of task number @i, because of its own minAvailable. */
int32_t queuejob_own_minimum_left(const struct queuejob_reconcile *r, size_t i) KAR_NONNULL;
/* Returns status.desired: succeeded and wanted pods. */
int32_t queuejob_desired(const struct queuejob_reconcile *r) KAR_NONNULL;
/* Sets status.lastScaleTime, and adds an event if the queue has changed the number of pods. */
void queuejob_record_scaling(struct queuejob_reconcile *r) KAR_NONNULL;
/* Returns the number of pods of this incarnation that are pending or running. */
int32_t queuejob_count_live(const struct queuejob_reconcile *r) KAR_NONNULL;
/* The queue allows fewer pods than a minimum needs that was raised: what exists goes on as it is. */
bool queuejob_waits_for_raised(const struct queuejob_reconcile *r) KAR_NONNULL;
/* Reports, with @reason, that the queue allows fewer pods than a minimum needs that was raised, if it does. */
void queuejob_report_raised(struct queuejob_reconcile *r, const char *reason) KAR_NONNULL;
/* The queue has let in the templates as they are now, in the place of those of the pods that run. */
bool queuejob_edit_is_let_in(const struct queuejob_reconcile *r) KAR_NONNULL;
/* Reports why it has not, if it has decided so. */
void queuejob_report_edit(struct queuejob_reconcile *r) KAR_NONNULL;
/* Reports that the queue allows fewer pods than have not succeeded, if it does. */
void queuejob_report_limit(struct queuejob_reconcile *r) KAR_NONNULL;

/* --- valid.c: whether the spec can run ------------------------------------------------------------- */

/* Sets condition Invalid. False if no pod can be made of the spec, whatever the API server thinks of it. */
bool queuejob_is_valid(struct queuejob_reconcile *r) KAR_NONNULL;
/* True if the templates must pass a dry run before a pod is created; part of .f->unchecked. */
bool queuejob_awaits_check(const struct queuejob_reconcile *r) KAR_NONNULL;
/*
 * True if the new templates have not passed a dry run, or the spec is invalid, so the edit may be reverted. Until then pods
 * and results of renamed or removed tasks are kept.
 */
bool queuejob_template_is_pending(const struct queuejob_reconcile *r) KAR_NONNULL;
/*
 * True if the API server has accepted no pod of task number @task from the present templates, as far as the job shows: its next
 * create must have no unknown field. False after a restart, a loss or a suspension: what ran before goes on (decision 042).
 */
bool queuejob_is_unproven(const struct queuejob_reconcile *r, size_t task) KAR_NONNULL;
/* Adds the dry runs that are due. Call after the move: waiting jobs are checked early, finished ones never. */
void queuejob_check_templates(struct queuejob_reconcile *r) KAR_NONNULL;

/* === losses ======================================================================================== */

/* --- losses.c -------------------------------------------------------------------------------------- */

/* Counts new losses of a gang in Starting or Running, in .st; sets .loss. */
void queuejob_count_losses(struct queuejob_reconcile *r) KAR_NONNULL;
/* Deletes lost pods whose loss is recorded and whose back-off is over, so that they can be replaced. */
void queuejob_replace_lost(struct queuejob_reconcile *r) KAR_NONNULL;
/* Resets the back-off when an incarnation ends that was formed for long and did not end by a failure. */
void queuejob_end_backoff(struct queuejob_reconcile *r) KAR_NONNULL;
/* Returns ms until the back-off after the last failure is over; 0: it is. */
kar_time queuejob_backoff_left(const struct queuejob_reconcile *r) KAR_NONNULL;
/* Deletes the pods of restarting tasks; ends the restart when all are gone and the back-off is over. */
void queuejob_continue_task_restarts(struct queuejob_reconcile *r) KAR_NONNULL;

/* --- failure_policy.c ------------------------------------------------------------------------------ */

/* Matches the losses with the rules of spec.failurePolicy: sets .loss.classified and .loss.action. */
void queuejob_classify_losses(struct queuejob_reconcile *r) KAR_NONNULL;
/* Returns the rule that matches loss number @i of .loss.lost; NULL: none. */
const struct kar_failure_rule *queuejob_loss_rule(const struct queuejob_reconcile *r, size_t i) KAR_NONNULL;
/* Returns the action of that rule; KAR_FAILURE_NONE: no rule matches. */
enum kar_failure_action queuejob_loss_action(const struct queuejob_reconcile *r, size_t i) KAR_NONNULL;
/* Returns "exit code 137 (signal 9, OOMKilled): last words". @reason, @words: NULL: unknown. */
const char *queuejob_describe_exit(const struct queuejob_reconcile *r, int32_t code, const char *reason,
	const char *words) __attribute__((nonnull(1))) KAR_RETNN;
/* Returns a description of a loss: "pod w-1 on node n1 failed with exit code 3 (Error)". */
const char *queuejob_describe_loss(const struct queuejob_reconcile *r,
	const struct kar_pod *pod) KAR_NONNULL KAR_RETNN;
/* Returns the same with the rule that answers it. @rule: NULL: none. */
const char *queuejob_describe_ruled(const struct queuejob_reconcile *r, const struct kar_pod *pod,
	const struct kar_failure_rule *rule) __attribute__((nonnull(1, 2))) KAR_RETNN;

/* --- indexes.c: failures per index ------------------------------------------------------------------ */

/* Sets .indexes from .f->seen. */
void queuejob_read_indexes(struct queuejob_reconcile *r) KAR_NONNULL;
/* True if loss number @i of .loss.lost makes its index fail for good. */
bool queuejob_ends_index(const struct queuejob_reconcile *r, size_t i) KAR_NONNULL;
/* Counts that loss for its index, in .indexes. Call once for each loss that counts. */
void queuejob_count_index(struct queuejob_reconcile *r, size_t i) KAR_NONNULL;
/* Returns how often the index of @pod has failed. */
int32_t queuejob_failures_of(const struct queuejob_reconcile *r, const struct kar_pod *pod) KAR_NONNULL;
/* True if too many indexes have failed, or none is left that could succeed. */
bool queuejob_ends_by_indexes(struct queuejob_reconcile *r) KAR_NONNULL;
/* Returns the reason for that, and *@message. */
const char *queuejob_describe_failed_indexes(const struct queuejob_reconcile *r,
	const char **message) KAR_NONNULL KAR_RETNN;
/* Return status.tasks[].failedIndexes and .indexFailures of task number @task. */
const char *queuejob_failed_indexes(const struct queuejob_reconcile *r, size_t task) KAR_NONNULL KAR_RETNN;
const char *queuejob_index_failures(const struct queuejob_reconcile *r, size_t task) KAR_NONNULL KAR_RETNN;

/* --- crashes.c: containers that are restarted in place ---------------------------------------------- */

/*
 * True if the containers of the pods that are pending or running were restarted as often as backoffLimit allows, at least once. Only
 * pods with restartPolicy OnFailure count, as for batch/v1 Job; restarts and .st.pod_failures are not added up.
 */
bool queuejob_over_restart_limit(struct queuejob_reconcile *r) KAR_NONNULL;
/* Reports containers that crash again and again. Requests a sync at the time when they have run well for long enough. */
void queuejob_report_crashes(struct queuejob_reconcile *r) KAR_NONNULL;
/* Reports containers that have ended for good while others keep their pods running. */
void queuejob_report_half_ended(struct queuejob_reconcile *r) KAR_NONNULL;

/* --- places.c -------------------------------------------------------------------------------------- */

/* True if the attempt to start the gang has failed, and pods of it are left. */
bool queuejob_is_rolled_back(struct queuejob_reconcile *r) KAR_NONNULL;
/*
 * True of a pod that was pinned to its place in a plan, if somebody else has taken the place, and either the plan names another node for it, or
 * the gang has started without it, so that the plan is over. It is replaced by a pod for that node, or for any. While that is not certain, requests
 * the sync at which it is. @slot NULL: false.
 */
bool queuejob_is_stranded(struct queuejob_reconcile *r, const struct podset_slot *slot)
	__attribute__((nonnull(1)));

/* === moves ========================================================================================= */

/* --- moves.c --------------------------------------------------------------------------------------- */

/* Makes the first move of the table that holds for .f->seen. */
void queuejob_move(struct queuejob_reconcile *r) KAR_NONNULL;

/* --- after.c --------------------------------------------------------------------------------------- */

/* A job of spec.after has ended otherwise than asked. */
bool queuejob_cannot_follow(struct queuejob_reconcile *r) KAR_NONNULL;
void queuejob_fail_dependency(struct queuejob_reconcile *r) KAR_NONNULL;
/* Jobs of spec.after have not ended. The job has no children meanwhile, so it has no place in any queue. */
bool queuejob_waits_for_jobs(struct queuejob_reconcile *r) KAR_NONNULL;
void queuejob_wait_for_jobs(struct queuejob_reconcile *r) KAR_NONNULL;
/* Records which of them have ended: they may be deleted after that. */
void queuejob_record_ends(struct queuejob_reconcile *r) KAR_NONNULL;

/* --- used.c ---------------------------------------------------------------------------------------- */

/* What the status says of the resources in use is no longer so, and no other change of the status is to come soon. */
bool queuejob_use_has_changed(const struct queuejob_reconcile *r) KAR_NONNULL;
/* Only for a status that is written: what has been used until now. */
void queuejob_record_use(struct queuejob_reconcile *r) KAR_NONNULL;

/* --- gang.c ---------------------------------------------------------------------------------------- */

/* Starts the next incarnation, or adopts one whose start is not recorded. Creates nothing. */
void queuejob_start(struct queuejob_reconcile *r) KAR_NONNULL;
/* None, Pending, Suspended: creates the children; starts when admitted and all old pods are gone. */
void queuejob_wait_for_admission(struct queuejob_reconcile *r) KAR_NONNULL;
/* Starting, Running: forms the gang, replaces lost pods, creates missing ones. */
void queuejob_keep_gang(struct queuejob_reconcile *r) KAR_NONNULL;
/* Restarting: deletes the old pods; starts when they are gone and the back-off is over. */
void queuejob_wait_until_gone(struct queuejob_reconcile *r) KAR_NONNULL;
/* Has it lost its place before any of its pods ran, and are these gone? A quota had room for a part of them, for example. */
bool queuejob_start_is_over(struct queuejob_reconcile *r) KAR_NONNULL;
/* It waits in its queue as before that start. */
void queuejob_wait_again(struct queuejob_reconcile *r) KAR_NONNULL;
/* The four restarts enter phase Restarting and delete the pods of the incarnation. Only the first one counts as a restart. */
void queuejob_restart_broken(struct queuejob_reconcile *r) KAR_NONNULL;
void queuejob_restart_with_new_template(struct queuejob_reconcile *r) KAR_NONNULL;
void queuejob_restart_for_quota(struct queuejob_reconcile *r) KAR_NONNULL;
void queuejob_roll_back(struct queuejob_reconcile *r) KAR_NONNULL; /* keeps the succeeded indexes */

/* Of a job that was suspended: condition and event. Of another: nothing. */
void queuejob_resume(struct queuejob_reconcile *r) KAR_NONNULL;

/* --- finish.c -------------------------------------------------------------------------------------- */

/* The ends enter phase Completed or Failed, with event and condition, and delete the pods that have not finished. */
void queuejob_complete(struct queuejob_reconcile *r) KAR_NONNULL;
void queuejob_end_by_rule(
	struct queuejob_reconcile *r) KAR_NONNULL; /* .loss.action: FailJob or CompleteJob */
void queuejob_fail(struct queuejob_reconcile *r, const char *reason, const char *message) KAR_NONNULL;
void queuejob_fail_restarts(struct queuejob_reconcile *r) KAR_NONNULL; /* crashes.c */
void queuejob_fail_indexes(struct queuejob_reconcile *r) KAR_NONNULL;  /* indexes.c */
void queuejob_fail_limit(struct queuejob_reconcile *r) KAR_NONNULL;
void queuejob_fail_deadline(struct queuejob_reconcile *r) KAR_NONNULL;
/* True if activeDeadlineSeconds are over; else requests the sync at which they are. */
bool queuejob_past_deadline(struct queuejob_reconcile *r) KAR_NONNULL;
/* Completed, Failed: deletes and releases what is left; deletes the job after ttlSecondsAfterFinished. */
void queuejob_stay_finished(struct queuejob_reconcile *r) KAR_NONNULL;
/* Enters or stays in phase Suspended: deletes the pods that have not finished, keeps children and results. */
void queuejob_suspend(struct queuejob_reconcile *r) KAR_NONNULL;

/* === report ======================================================================================== */

/* --- report.c -------------------------------------------------------------------------------------- */

/* Sets reason and message of the status. Only the first call of a decision counts: report the most important first. */
void queuejob_report(struct queuejob_reconcile *r, const char *reason, const char *fmt, ...) KAR_PRINTF(3, 4);
/* Adds a Warning event with the message of the status if its reason is @reason and either has changed. @action: of the event. */
void queuejob_warn(struct queuejob_reconcile *r, const char *reason, const char *action) KAR_NONNULL;
/* Adds a Warning event with the message of the status if its reason is @reason and was another before. For messages that count pods. */
void queuejob_warn_once(struct queuejob_reconcile *r, const char *reason, const char *action) KAR_NONNULL;
/*
 * Adds an event if the job waits for its admission for another reason than recorded. Like all events it is sent with the status, and the
 * first status of a job waits a moment: a job that is admitted meanwhile gets no such event.
 */
void queuejob_announce_wait(struct queuejob_reconcile *r) KAR_NONNULL;
/* Sets condition @type. An empty message becomes the meaning of @reason (docs/REASONS.md). */
void queuejob_set_condition(struct queuejob_reconcile *r, const char *type, bool value, const char *reason,
	const char *fmt, ...) KAR_PRINTF(5, 6);
/* Returns "1 pod", "20 pods". */
const char *queuejob_count_pods(const struct queuejob_reconcile *r, int32_t n) KAR_NONNULL KAR_RETNN;
/* Sets status.lastRestart, with the pod r->loss.cause. */
void queuejob_record_restart(struct queuejob_reconcile *r, enum kar_qj_restart_kind kind, const char *reason,
	const char *message) KAR_NONNULL;
/* Reports the last refused create, if one is known, in the API server's words; one event per distinct refusal. */
void queuejob_report_refusal(struct queuejob_reconcile *r) KAR_NONNULL;
/* True if the last refused create was one of a pod, false if of a child or if there was none. */
bool queuejob_refused_is_pod(const struct queuejob_reconcile *r) KAR_NONNULL;
/* Returns why the API server refuses the SchedulingSpec, PodGroup or Service as invalid; NULL: it does not, or is not known to. */
const char *queuejob_invalid_child(const struct queuejob_reconcile *r) KAR_NONNULL;
/* Reports a pod of another owner that has the name of a pod of this job, if there is one. */
void queuejob_report_blocker(struct queuejob_reconcile *r) KAR_NONNULL;

/* --- explain.c ------------------------------------------------------------------------------------- */

/* Returns "; pod w-1 on node n1 is not gone yet" about the pods that the job waits for, or "". */
const char *queuejob_describe_not_gone(const struct queuejob_reconcile *r) KAR_NONNULL KAR_RETNN;
/* Reports why the gang has not formed. @reason: of the general message; NULL: the gang has formed, omit it. */
void queuejob_report_starting(struct queuejob_reconcile *r, const char *reason) __attribute__((nonnull(1)));
/* Reports why the gang waits, or clears reason and message. Call last in a move. */
void queuejob_explain(struct queuejob_reconcile *r) KAR_NONNULL;

/* === actions ======================================================================================= */

/* --- children.c: SchedulingSpec and PodGroup ------------------------------------------------------- */

/* An object with the name of the job. */
struct queuejob_child {
	const struct kar_object *o;
	const char *owner_uid; /* of its controller; NULL: none */
	const char *owner;     /* likewise, "CRDJob demo" */
	bool orphan;           /* may be adopted */
	kar_time deletion;
};

/* Adds @verb on the child of @type. @what: enum queuejob_action. @uid: of the object, NULL for a create. Returns the action. */
struct kar_action *queuejob_child_action(struct queuejob_reconcile *r, enum kar_verb verb,
	const struct kar_type *type, int what, const char *uid) __attribute__((nonnull(1, 3))) KAR_RETNN;
/* True if the job owns @c and it is not terminating. Else adopts it, if allowed, or reports the conflict. */
bool queuejob_claim_child(struct queuejob_reconcile *r, const struct queuejob_child *c) KAR_NONNULL;
/* Creates or repairs both, and the Service. True if all exist as specified and the spec is valid; else reports why not. */
bool queuejob_repair_children(struct queuejob_reconcile *r) KAR_NONNULL;
/*
 * Does queuejob_repair_children(), and sets condition Admitted and the position. True if pods may be created: the group is
 * admitted, the children exist and no check is due; else reports why not.
 */
bool queuejob_keep_children(struct queuejob_reconcile *r) KAR_NONNULL;

/* --- service.c: the headless Service --------------------------------------------------------------- */

/* Creates, repairs or deletes it. True if it does not keep pods from being created; else reports why it does. */
bool queuejob_keep_service(struct queuejob_reconcile *r) KAR_NONNULL;
/* True if a running gang is to be re-created with host names, but the Service for them does not exist yet. */
bool queuejob_awaits_service(const struct queuejob_reconcile *r) KAR_NONNULL;
/* Deletes it unless spec.network asks for it. */
void queuejob_drop_service(struct queuejob_reconcile *r) KAR_NONNULL;

/* --- native.c: the PodGroup of Kubernetes itself --------------------------------------------------- */

/* True if pods name it: kube-scheduler starts the gang whole. */
bool queuejob_is_native(const struct queuejob_reconcile *r) KAR_NONNULL;
/* Creates it, or changes its minCount. True if pods may be created; else reports why not. */
bool queuejob_keep_native(struct queuejob_reconcile *r) KAR_NONNULL;

/* --- pods.c ---------------------------------------------------------------------------------------- */

/* Adds a GET of the job, to prove that it is alive; at most one per plan, and no more often than the view allows. */
void queuejob_check_owner(struct queuejob_reconcile *r) KAR_NONNULL;
/* Creates missing pods: the minimum first, in the order of task priorities, then the extras. */
void queuejob_create_pods(struct queuejob_reconcile *r) KAR_NONNULL;
/* Deletes and releases every pod that has not finished. */
void queuejob_remove_live(struct queuejob_reconcile *r) KAR_NONNULL;
/* Deletes every pod that has not finished, only as it was read: a success in between is not lost. */
void queuejob_stop_live(struct queuejob_reconcile *r) KAR_NONNULL;
/* Deletes @pod, which has to go for others, as podset_evict() does; @why is its message. */
void queuejob_evict_pod(struct queuejob_reconcile *r, const struct kar_pod *pod, const char *why) KAR_NONNULL;
/* Deletes surplus pods once they are recorded, so that their deletion is not counted as a loss. */
void queuejob_remove_surplus(struct queuejob_reconcile *r) KAR_NONNULL;
/* Releases finished pods, except successes that are not recorded; for phases in which no loss counts. */
void queuejob_release_ended(struct queuejob_reconcile *r) KAR_NONNULL;
/* Releases the pods of a job that is being deleted: the garbage collector deletes them. */
void queuejob_release_pods(struct queuejob_reconcile *r) KAR_NONNULL;
/* Restores labels and finalizer of live pods. */
void queuejob_repair_pods(struct queuejob_reconcile *r) KAR_NONNULL;

/* --- places.c: where pods go ----------------------------------------------------------------------- */

/* False: the gang waits to be placed, or is rolled back, and gets no pods. */
bool queuejob_has_places(const struct queuejob_reconcile *r) KAR_NONNULL;
/*
 * Fills in .want.unplanned. Where the plan names a node for fewer pods of a task than are there, those have the places that do not wait for
 * them, and then the first ones.
 */
void queuejob_find_unplanned(struct queuejob_reconcile *r) KAR_NONNULL;
/* Its queue has evicted it, and has not placed it again. */
bool queuejob_is_evicted(const struct queuejob_reconcile *r) KAR_NONNULL;
/* Where the pod goes that replaces one that is stranded. */
const char *queuejob_describe_next_place(const struct queuejob_reconcile *r) KAR_NONNULL KAR_RETNN;
/* Returns why it is rolled back: "attempt 2 to start the gang failed: w-1 was unschedulable on n1". */
const char *queuejob_describe_roll_back(const struct queuejob_reconcile *r) KAR_NONNULL KAR_RETNN;

/* The places of one task that no pod has yet, in the order of ranks. */
struct task_seats {
	struct kar_pg_seats seats;
	size_t first;   /* those in front have no place left */
	int64_t *start; /* per seat: its first rank; NULL: it is not known which places were for which pods */
	int32_t *rank;  /* per index, as long as .start is there: among those that still have to succeed */
};
/* The places of the plan that no pod has yet. */
struct pod_pins {
	bool planned; /* pods go to these places only: while the gang forms, or because they are created bound */
	bool bound;     /* no pod is created without a node */
	bool returning; /* some are for indexes whose pods stop: no other pod of the minimum comes instead */
	struct task_seats *tasks;
};
/* Labels (struct kar_pair) of the domain inside which all pods of the gang must be; in the arena of the sync. */
struct kar_array queuejob_domain(const struct queuejob_reconcile *r, size_t task) KAR_NONNULL;
/* Of the flavor in which it is admitted; in the arena of the sync. */
struct kar_flavor_terms queuejob_flavor(const struct queuejob_reconcile *r) KAR_NONNULL;
struct pod_pins *pod_pins_new(const struct queuejob_reconcile *r) KAR_NONNULL KAR_RETNN;
/*
 * The node of the new pod with this index of the task, in *@pin; "": any. It is the place of its rank, or if that is taken the next one. False: the pod must wait, because all places are for pods of the @minimum, or
 * because it needs a node and the plan has none.
 */
bool queuejob_next_pin(struct pod_pins *pins, size_t task, int32_t index, bool minimum,
	const char **pin) KAR_NONNULL;

#endif
