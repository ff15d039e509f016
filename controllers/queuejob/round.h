/*
 * round - one decision in the making; internal to the pure part of the QueueJob reconciler.
 *
 * decide.c is the table of contents: it calls the functions declared here, each of which lives in a small file of
 * its own named after what it is about. All are pure. A rule that must hold for every one of them: what has to be counted
 * once is looked up in .seen, which is surely recorded, before its evidence (a finalizer, an object) is removed.
 */
#ifndef KAR_QUEUEJOB_ROUND_H
#define KAR_QUEUEJOB_ROUND_H

#include "api/reasons.h"
#include "controllers/queuejob/tally.h"

enum { QUEUEJOB_LONGEST_BACKOFF = 10 * KAR_MINUTE }; /* ms, after failures of pods as of tasks */

/* What the failure policy says of a loss. */
struct queuejob_judged {
	size_t task;                         /* of the pod */
	const struct kar_failure_rule *rule; /* that it falls under; NULL: none */
};

struct queuejob_round {
	const struct queuejob_view *v;
	const struct kar_queuejob *job;
	const struct kar_queuejob_status *recorded; /* the status as the API server has it */
	const struct kar_queuejob_status *seen;     /* the same, but for a first start (see start.c) */
	struct kar_queuejob_status st;              /* what it becomes */
	struct queuejob_tally t;
	int32_t min;       /* quorum of the tasks that have started; 0: no gang */
	bool starts_tasks; /* now, so the status is written first, with all that has succeeded */
	bool raised;       /* by an edit: it is higher than recorded, or a task waits for nothing any more */
	kar_time now;      /* wall ms */
	kar_time second;   /* the same without fraction, as the API keeps it */
	bool template_changed; /* what runs is not what is specified */
	/* No pod is created now: the API server has refused one, or is to be asked first, or the Service is not there yet. */
	bool unchecked;
	bool replaces_template; /* the incarnation is given up for another with the templates as they are now */
	bool said;              /* st.reason and st.message are set */
	int32_t wanted;         /* pods that have not succeeded, and are wanted now */
	bool limited;           /* these are not all */
	bool forget;            /* the succeeded indexes count no more: the incarnation is given up */
	bool lacks_room;        /* pods are created when those that are to go do so */
	bool remembers_surplus; /* newly in st.counted_pods: their deletion waits for that to be recorded */
	/* Set by queuejob_count_losses(). */
	bool broken; /* the gang is below its quorum because of a loss, or a rule says so: it restarts */
	bool rearm;  /* an edit, or a rule of the failure policy: it must form anew, but need not restart */
	bool by_failure;                     /* .cause failed; false: it was taken away */
	const struct kar_pod *cause;         /* the loss that is to blame; NULL: none is known */
	const struct kar_failure_rule *rule; /* that .cause falls under; NULL: none */
	const char *unformed_by;             /* why .rearm, for condition Formed; NULL: by an edit */
	/* Set by queuejob_judge_losses(). */
	struct queuejob_judged *judged;  /* one per .t.lost; NULL: there is no failure policy */
	enum kar_failure_action verdict; /* the strongest of them */
	struct kar_plan *p;
	struct kar_arena *arena;
};

/* --- decide.c: small tools ----------------------------------------------------------------------- */

/* Sets reason and message of the status. Only the first call of a round counts: call in order of importance. */
void queuejob_say(struct queuejob_round *r, const char *reason, const char *fmt, ...) KAR_PRINTF(3, 4);
void queuejob_set_condition(struct queuejob_round *r, const char *type, bool value, const char *reason,
	const char *fmt, ...) KAR_PRINTF(5, 6);
/* "1 pod", "20 pods" in the arena. */
const char *queuejob_count_pods(const struct queuejob_round *r, int32_t n) KAR_NONNULL KAR_RETNN;
/* The gang has formed in this incarnation, for the present quorum. */
bool queuejob_was_formed(const struct queuejob_round *r) KAR_NONNULL;
/* Enough of the pods of its started tasks, and enough of each such task's, run or have succeeded. */
bool queuejob_has_quorum(const struct queuejob_round *r) KAR_NONNULL;

/* --- remove.c: taking pods away ------------------------------------------------------------------ */

/* An action on @pod, which may be gone from the cache when the plan is carried out. */
struct kar_action *queuejob_pod_action(struct kar_plan *p, enum kar_verb verb, const struct kar_pod *pod,
	int what) KAR_NONNULL KAR_RETNN;
/*
 * Removes our gate, only from @pod as it was read: the gate of one that has been taken back since must stay, for it tells that
 * the pod has never run.
 */
void queuejob_ungate_pod(struct kar_plan *p, const struct kar_pod *pod) KAR_NONNULL;
/* Deletes @pod unless that is under way, and removes our finalizer, so that nothing holds it. */
void queuejob_remove_pod(struct queuejob_round *r, const struct kar_pod *pod) KAR_NONNULL;
/* The same where a success that comes in between must not be lost. */
void queuejob_stop_pod(struct queuejob_round *r, const struct kar_pod *pod) KAR_NONNULL;
/* Every pod that has not ended. */
void queuejob_remove_live(struct queuejob_round *r) KAR_NONNULL;
void queuejob_stop_live(struct queuejob_round *r) KAR_NONNULL;
void queuejob_remove_all(struct queuejob_round *r, const struct queuejob_pods *pods) KAR_NONNULL;
/* Pods at no wanted index, once it is recorded that this is our doing and no loss. */
void queuejob_remove_surplus(struct queuejob_round *r) KAR_NONNULL;
/* Succeeded pods whose success is recorded. */
void queuejob_release_done(struct queuejob_round *r) KAR_NONNULL;
/* Every pod that has ended, unless its success is to be recorded first; for phases in which no loss counts. */
void queuejob_release_ended(struct queuejob_round *r) KAR_NONNULL;
/* The job is being deleted: the garbage collector does the work, we only let go. */
void queuejob_let_go(struct queuejob_round *r) KAR_NONNULL;
/* Pods of a job that is gone lose our finalizer; those that stay, first our gate. */
void queuejob_release_orphans(const struct queuejob_view *v, struct kar_plan *p) KAR_NONNULL;
/* Puts back what somebody took off a live pod: labels, finalizer. */
void queuejob_repair_pods(struct queuejob_round *r) KAR_NONNULL;

/* --- service.c: the headless Service --------------------------------------------------------------- */

/* Creates, repairs or removes it. True if pods may be created as far as it is concerned; else says why not. */
bool queuejob_keep_service(struct queuejob_round *r) KAR_NONNULL;
/* A gang that runs is to be made anew, but the Service that the new pods need is not there: its name may be taken. */
bool queuejob_awaits_service(const struct queuejob_round *r) KAR_NONNULL;
/* Removes it unless it is wanted. */
void queuejob_drop_service(struct queuejob_round *r) KAR_NONNULL;

/* --- children.c: SchedulingSpec and PodGroup ----------------------------------------------------- */

/* What all children have in common: an object with the name of its job. */
struct queuejob_child {
	const struct kar_object *o;
	const char *owner_uid;
	bool orphan;
	kar_time deletion;
};

/* An action on the child of @type. */
struct kar_action *queuejob_child_action(struct queuejob_round *r, enum kar_verb verb,
	const struct kar_type *type, int what, const char *uid) __attribute__((nonnull(1, 3))) KAR_RETNN;
/* True if it is the job's own and not on its way out; else adopts it if that may be, or says what is in the way. */
bool queuejob_claim_child(struct queuejob_round *r, const struct queuejob_child *c) KAR_NONNULL;

/* The PodGroup that is the job's own and not on its way out, or NULL. */
const struct kar_podgroup *queuejob_own_group(const struct queuejob_round *r) KAR_NONNULL;
/* Creates or repairs both, and the Service. True if all are there as they should be; else says why not. */
bool queuejob_repair_children(struct queuejob_round *r) KAR_NONNULL;
/*
 * The same. True if pods may be created: both exist and the group is admitted; else says why not and
 * keeps condition Admitted and the position.
 */
bool queuejob_keep_children(struct queuejob_round *r) KAR_NONNULL;

/* --- min_member.c ---------------------------------------------------------------------------------- */

/* Fills in what a gang scheduler is to wait for. @have: the group as it is. */
void queuejob_put_min_member(const struct queuejob_round *r, const struct kar_podgroup_spec *have,
	struct kar_podgroup_spec *want) KAR_NONNULL;

/* --- limit.c: how many pods the queue lets run at once ---------------------------------------------- */

/* Chooses the indexes that are wanted now, and the pods that are not; again when the quorum has changed, or .forget. */
void queuejob_limit(struct queuejob_round *r) KAR_NONNULL;
/* Pods of the minimum that have not succeeded. Successes of one task do not stand in for the own minimum of another. */
int32_t queuejob_minimum_left(const struct queuejob_round *r) KAR_NONNULL;
/* status.desired: what has succeeded, and what is wanted. */
int32_t queuejob_desired(const struct queuejob_round *r) KAR_NONNULL;
/* Keeps status.lastScaleTime, and tells of a change that the queue has made. */
void queuejob_note_scaling(struct queuejob_round *r) KAR_NONNULL;
/* Says that fewer pods run than could, if so. */
void queuejob_say_limit(struct queuejob_round *r) KAR_NONNULL;

/* --- valid.c: whether the spec can be run ---------------------------------------------------------- */

/* Keeps condition Invalid; true if pods can be made of the spec, whether or not the API server takes them. */
bool queuejob_is_valid(struct queuejob_round *r) KAR_NONNULL;
/* See r->unchecked. */
bool queuejob_awaits_check(const struct queuejob_round *r) KAR_NONNULL;
/*
 * Other templates are not known to be possible, or the spec is not: the edit may be taken back. What the tasks that it renames
 * or removes have made and done is kept until then.
 */
bool queuejob_awaits_edit(const struct queuejob_round *r) KAR_NONNULL;
/* Asks the API server what it would say, where that is worth a request and not known. Call last. */
void queuejob_check_templates(struct queuejob_round *r) KAR_NONNULL;

/* --- lose.c: losses, back-off -------------------------------------------------------------------- */

/* Starting and Running: counts new losses, in the status; tells whether the gang is broken. */
void queuejob_count_losses(struct queuejob_round *r) KAR_NONNULL;
/* Makes room for replacements of the losses that are recorded, once their back-off is over. */
void queuejob_replace_lost(struct queuejob_round *r) KAR_NONNULL;
/* The incarnation ends: if it was a good one, and no failure ends it, counting starts anew. */
void queuejob_end_backoff(struct queuejob_round *r) KAR_NONNULL;
/* ms until the back-off after the last failure is over; 0: it is. */
kar_time queuejob_backoff_left(const struct queuejob_round *r) KAR_NONNULL;
/* "pod w-1 on node n1 failed with exit code 3 (Error)" in the arena. */
const char *queuejob_describe_loss(const struct queuejob_round *r,
	const struct kar_pod *pod) KAR_NONNULL KAR_RETNN;

/* The loss number @i of t.lost is to blame for what is done now. */
void queuejob_blame(struct queuejob_round *r, size_t i) KAR_NONNULL;
/* Counts the loss number @i of t.lost as what it is; returns how long its replacement has to wait (ms). */
kar_time queuejob_count_loss(struct queuejob_round *r, size_t i) KAR_NONNULL;

/* --- failure_policy.c ----------------------------------------------------------------------------- */

/* Which rules the losses fall under: sets r->judged and r->verdict. */
void queuejob_judge_losses(struct queuejob_round *r) KAR_NONNULL;
/* Of the loss number @i of t.lost. */
const struct kar_failure_rule *queuejob_loss_rule(const struct queuejob_round *r, size_t i) KAR_NONNULL;
enum kar_failure_action queuejob_loss_action(const struct queuejob_round *r, size_t i) KAR_NONNULL;
/* As queuejob_describe_loss(), and by which rule it is answered (NULL: none). */
const char *queuejob_describe_ruled(const struct queuejob_round *r, const struct kar_pod *pod,
	const struct kar_failure_rule *rule) __attribute__((nonnull(1, 2))) KAR_RETNN;

/* --- restart_task.c: the restart of one task ------------------------------------------------------- */

/* The tasks whose losses a rule answers so are restarted; these leave t.lost. The gang must form anew. */
void queuejob_give_up_tasks(struct queuejob_round *r) KAR_NONNULL;
/* One is on the way. */
bool queuejob_restarts_task(const struct queuejob_round *r) KAR_NONNULL;
/* Takes their pods away, and ends the restart when all are gone and its back-off is over. */
void queuejob_restart_tasks(struct queuejob_round *r) KAR_NONNULL;

/* Begins the round on what r->job->status says; decide.c. */
void queuejob_look(struct queuejob_round *r) KAR_NONNULL;
/* Fills in the counts of the tasks, and which have started; decide.c. */
void queuejob_count_tasks(struct queuejob_round *r) KAR_NONNULL;

/* --- order.c: the order between tasks -------------------------------------------------------------- */

/* Which tasks have started, by what is recorded and what is there; with that the quorum. */
void queuejob_look_at_order(struct queuejob_round *r) KAR_NONNULL;
/* The same for the beginning of the next incarnation: nothing runs. */
void queuejob_order_anew(struct queuejob_round *r) KAR_NONNULL;
/* Tasks whose dependencies are reached start. The gang grows by them and has to form anew. */
void queuejob_start_tasks(struct queuejob_round *r) KAR_NONNULL;
/* The gang runs, and tasks that have started since are not up yet: that is no reason to call it Starting again. */
bool queuejob_grows(const struct queuejob_round *r) KAR_NONNULL;
/* Pods of the started tasks that are wanted now and have not succeeded. */
int32_t queuejob_missing(const struct queuejob_round *r) KAR_NONNULL;
/* Says which task waits for which other, if one does. */
void queuejob_say_waiting_task(struct queuejob_round *r) KAR_NONNULL;

/* --- create.c: whether the job may be believed ---------------------------------------------------- */

/* Reads the job at the API server, unless that has just been done. */
void queuejob_check_owner(struct queuejob_round *r) KAR_NONNULL;

/* --- start.c: how an incarnation starts ---------------------------------------------------------- */

/* The next incarnation starts, or one that is not recorded has been found running. */
void queuejob_start(struct queuejob_round *r) KAR_NONNULL;
/*
 * When @pod was as it is, the API server had the job as it is here. Of what is newer than the question the answer tells
 * nothing: the job may have changed first.
 */
bool queuejob_is_known(const struct queuejob_round *r, const struct kar_pod *pod) KAR_NONNULL;
/* A pod is of a later incarnation than the last that is recorded: what is here of the job is out of date, unless it is known. */
bool queuejob_is_behind(const struct queuejob_round *r) KAR_NONNULL;
/* The template that the pods of r->st.incarnation were made of: the job may have been edited since. */
const char *queuejob_template_of(const struct queuejob_round *r) KAR_NONNULL KAR_RETNN;
/* When the queue admitted the job, but not before it was created; now, if that is not known (see children.c). */
kar_time queuejob_admitted_at(const struct queuejob_round *r) KAR_NONNULL;
/* Pods run, but no start is recorded. */
bool queuejob_runs_unrecorded(const struct queuejob_round *r) KAR_NONNULL;
/* The round goes on as if r->st were recorded already. Only for a first start. */
void queuejob_take_as_recorded(struct queuejob_round *r) KAR_NONNULL;
/* Nothing is told but the first start: most gangs run soon after, and that is told at once. */
bool queuejob_only_starts(const struct queuejob_round *r) KAR_NONNULL;

/* --- mend.c: a status that somebody has edited ---------------------------------------------------- */

/* If the status contradicts itself, the plan is to put it right and nothing else. False: it does not. */
bool queuejob_mend_status(struct queuejob_round *r) KAR_NONNULL;

/* --- gang.c: the life of an incarnation ---------------------------------------------------------- */

/* The status tells of a restart now, caused by r->cause. */
void queuejob_note_restart(struct queuejob_round *r, const char *reason, const char *message) KAR_NONNULL;
void queuejob_wait_for_admission(struct queuejob_round *r) KAR_NONNULL; /* Pending */
void queuejob_keep_gang(struct queuejob_round *r) KAR_NONNULL;          /* Starting, Running */
void queuejob_wait_until_gone(struct queuejob_round *r) KAR_NONNULL;    /* Restarting */

/* --- explain.c: why it waits ----------------------------------------------------------------------- */

/* "; pod w-1 on node n1 is not gone yet" of those that must be, or "". */
const char *queuejob_tell_not_gone(const struct queuejob_round *r) KAR_NONNULL KAR_RETNN;
/* Says why it has not formed, for @reason. NULL: it has; only what keeps all of it from running. */
void queuejob_say_starting(struct queuejob_round *r, const char *reason) __attribute__((nonnull(1)));
/* Says why the gang waits, or that it does not. Call last. */
void queuejob_explain(struct queuejob_round *r) KAR_NONNULL;

/* --- create.c ------------------------------------------------------------------------------------ */

/* Task numbers by priority (high first), then list order; in the arena. */
const size_t *queuejob_creation_order(const struct queuejob_round *r) KAR_NONNULL KAR_RETNN;
/* Pods that are missing: the minimum first, in the order of task priorities. */
void queuejob_create_pods(struct queuejob_round *r) KAR_NONNULL;
/* Says why the last create was refused, in the API server's own words; one event per distinct refusal. */
void queuejob_tell_refusal(struct queuejob_round *r) KAR_NONNULL;

/* Was the create that was refused last one of a pod, not of the SchedulingSpec, the PodGroup or the Service? */
bool queuejob_refused_is_pod(const struct queuejob_round *r) KAR_NONNULL;
/* Why the API server takes the SchedulingSpec, the PodGroup or the Service for invalid; NULL: it is not known to. */
const char *queuejob_invalid_child(const struct queuejob_round *r) KAR_NONNULL;

/* Says whose pod has a name of ours, if one has. */
void queuejob_tell_blocker(struct queuejob_round *r) KAR_NONNULL;
/* Pods of the minimum that are missing: not there, or on their way out. */
int32_t queuejob_lacks(const struct queuejob_round *r) KAR_NONNULL;
/* Those of them that must be of task number @i, by its own minAvailable. */
int32_t queuejob_task_lacks(const struct queuejob_round *r, size_t i) KAR_NONNULL;

/* --- transaction.c: the minimum under a ResourceQuota -------------------------------------------- */

/* Pods of the minimum are missing, and are to exist before any other pod is created, or one of them is scheduled. */
bool queuejob_is_transaction(struct queuejob_round *r) KAR_NONNULL;
/*
 * Lets the gated pods go when the minimum is complete; takes them back when it cannot be now. True: @admitted, and pods may be
 * created.
 */
bool queuejob_settle_minimum(struct queuejob_round *r, bool admitted) KAR_NONNULL;
/*
 * A gang that waits for a quota, and never had its whole minimum or is to form anew, has pods that it could start, and has
 * kept them long enough.
 */
bool queuejob_gives_back(struct queuejob_round *r) KAR_NONNULL;

/* An edit has raised the quorum of a gang that runs. */
bool queuejob_is_raised(const struct queuejob_round *r) KAR_NONNULL;

/* --- nodes.c: gangs that wait for nodes ------------------------------------------------------------ */

/*
 * Whether the gang waits for nodes that others may hold; and if it is to give back those that it holds, why, for people. NULL: it
 * is not.
 */
const char *queuejob_wants_to_give_nodes_back(struct queuejob_round *r) KAR_NONNULL;
/* That is what the last restart was. */
bool queuejob_gave_nodes_back(const struct queuejob_round *r) KAR_NONNULL;
/* May pods be created after that? @gone: all that stood in the way are. Else says why not. */
bool queuejob_may_try_nodes(struct queuejob_round *r, bool gone) KAR_NONNULL;

/* --- finish.c: how a job ends, or pauses --------------------------------------------------------- */

bool queuejob_is_complete(const struct queuejob_round *r) KAR_NONNULL;
/* There are pods by whose success it would be. */
bool queuejob_can_complete(const struct queuejob_round *r) KAR_NONNULL;
void queuejob_complete(struct queuejob_round *r) KAR_NONNULL;
bool queuejob_over_limit(const struct queuejob_round *r) KAR_NONNULL;
/* FailJob, CompleteJob. */
void queuejob_end_by_rule(struct queuejob_round *r) KAR_NONNULL;
void queuejob_fail_limit(struct queuejob_round *r) KAR_NONNULL;
/* Also asks for a look at the moment the deadline passes. */
bool queuejob_past_deadline(struct queuejob_round *r) KAR_NONNULL;
void queuejob_fail_deadline(struct queuejob_round *r) KAR_NONNULL;
void queuejob_stay_finished(struct queuejob_round *r) KAR_NONNULL;
void queuejob_suspend(struct queuejob_round *r) KAR_NONNULL;

/* --- print.c ------------------------------------------------------------------------------------- */

/* "phase=Running running=3": what is new, for logs and tests; in @arena. */
const char *queuejob_status_text(const struct kar_queuejob_status *seen, const struct kar_queuejob_status *st,
	struct kar_arena *arena) KAR_NONNULL KAR_RETNN;

#endif
