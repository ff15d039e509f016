/*
 * reasons - every reason that a QueueJob shows, in one list: in status.reason, in its conditions, in its events.
 *
 * Code names a reason by its constant, kar_reason_BackOff for "BackOff", so none can be used that is not in the list. From the
 * list comes docs/REASONS.md, which a unit test compares with it. The word is part of the API: programs match it.
 */
#ifndef KAR_API_REASONS_H
#define KAR_API_REASONS_H

#include <stddef.h>

#include "common/base.h"

/* Where a reason is shown. */
enum {
	KAR_SHOWN_IN_STATUS = 1 << 0, /* status.reason */
	KAR_SHOWN_ADMITTED = 1 << 1,  /* as the reason of a condition of that type */
	KAR_SHOWN_FORMED = 1 << 2,
	KAR_SHOWN_COMPLETE = 1 << 3,
	KAR_SHOWN_FAILED = 1 << 4,
	KAR_SHOWN_SUSPENDED = 1 << 5,
	KAR_SHOWN_INVALID = 1 << 6,
	KAR_SHOWN_NORMAL = 1 << 7,  /* in an event of type Normal */
	KAR_SHOWN_WARNING = 1 << 8, /* in an event of type Warning */
	KAR_SHOWN_RESTART = 1 << 9, /* status.lastRestart.reason */
};
#define KAR_REASON_SHOWN 10 /* of these */

/* X(name, where, meaning), in the order of a job's life. */
#define KAR_REASONS(X) \
	X(SpecInvalid, KAR_SHOWN_INVALID, \
		"The spec cannot be run; the message says which field and why. Edit the job.") \
	X(Invalid, KAR_SHOWN_IN_STATUS | KAR_SHOWN_WARNING, "The same, in status and event.") \
	X(InvalidTemplate, KAR_SHOWN_IN_STATUS | KAR_SHOWN_INVALID | KAR_SHOWN_WARNING, \
		"The API server refuses the pods of a task; the message has its words. Edit the template.") \
	X(InvalidObject, KAR_SHOWN_IN_STATUS | KAR_SHOWN_INVALID | KAR_SHOWN_WARNING, \
		"The API server refuses the SchedulingSpec, the PodGroup or the Service of the job; the message has its words. It is tried again after an edit, else after up to ten minutes.") \
	X(SpecValid, KAR_SHOWN_INVALID, "What was invalid has been mended.") \
	X(NameConflict, KAR_SHOWN_IN_STATUS, \
		"A SchedulingSpec, PodGroup or Service of the job's name exists and is somebody else's, or is still being deleted. The job waits for the name.") \
	X(PriorityClassNotFound, KAR_SHOWN_IN_STATUS, \
		"schedSpec names a PriorityClass that does not exist. The job waits for it.") \
	X(WaitingForAdmission, KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED, \
		"The queue has not said anything about the job yet.") \
	X(QueueNotFound, KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED, \
		"There is no Queue of the name in spec.queue. The job waits for it.") \
	X(QueueClosed, KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED, \
		"The queue is closed, or is being deleted.") \
	X(QueueCapability, KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED, \
		"The queue has as many jobs as its maxJobs allows.") \
	X(HeadReserved, KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED, \
		"The queue is StrictFIFO, and the job before this one goes first.") \
	X(JobInvalid, KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED, \
		"The queue passes the job over until its spec or template is mended.") \
	X(Admitted, KAR_SHOWN_ADMITTED | KAR_SHOWN_NORMAL, \
		"The queue has admitted the job; its pods are created.") \
	X(WaitingForTermination, KAR_SHOWN_IN_STATUS, \
		"Pods that were deleted, or are to be, are not gone yet; none is created in their place before.") \
	X(Starting, KAR_SHOWN_IN_STATUS | KAR_SHOWN_FORMED | KAR_SHOWN_NORMAL, \
		"Pods are created; fewer than the quorum run.") \
	X(QuotaExceeded, KAR_SHOWN_IN_STATUS | KAR_SHOWN_FORMED | KAR_SHOWN_RESTART, \
		"A ResourceQuota refuses pods, or jobs that go first wait for it. They are created when there is room, the minimum all or none.") \
	X(QuotaInfeasible, KAR_SHOWN_IN_STATUS | KAR_SHOWN_WARNING, \
		"The minimum is more pods than a ResourceQuota allows in all. Nothing is created until the quota or the job is changed.") \
	X(Forbidden, KAR_SHOWN_IN_STATUS, \
		"The API server forbids a create: RBAC, or an admission plugin; the message has its words.") \
	X(PodNameConflict, KAR_SHOWN_IN_STATUS, \
		"Somebody else's pod has the name of a pod of the job. The job waits for the name.") \
	X(FailedCreate, KAR_SHOWN_IN_STATUS | KAR_SHOWN_WARNING, \
		"A create was refused; it is tried again. In status only if none of the reasons above fits.") \
	X(Unschedulable, KAR_SHOWN_IN_STATUS, \
		"Pods wait for a node that fits them. The PodGroup says which.") \
	X(ScheduleTimeout, KAR_SHOWN_IN_STATUS | KAR_SHOWN_FORMED | KAR_SHOWN_WARNING | KAR_SHOWN_RESTART, \
		"Only a part of the minimum got nodes within scheduleTimeoutSeconds, and other gangs wait for some too: they go first. The pods are deleted and created again later; nothing is counted.") \
	X(ContainerWaiting, KAR_SHOWN_IN_STATUS, \
		"A container of a pod does not start, for want of its image, a Secret or the like; the message has the kubelet's word.") \
	X(NoReplicas, KAR_SHOWN_IN_STATUS, \
		"The tasks have no replicas, or those by which the job would complete have none. It goes on when they are given some.") \
	X(ServiceChanged, KAR_SHOWN_IN_STATUS, \
		"The headless Service was replaced by one with an address; it is made anew.") \
	X(TaskWaiting, KAR_SHOWN_IN_STATUS, "A task waits for another one that it depends on.") \
	X(TaskStarted, KAR_SHOWN_NORMAL, "What a task depends on has been reached; its pods are created.") \
	X(TaskStarting, KAR_SHOWN_IN_STATUS, "The gang runs; pods of a later task are still starting.") \
	X(QuorumReached, KAR_SHOWN_FORMED, \
		"The gang has formed: as many pods as the quorum run or have succeeded.") \
	X(Running, KAR_SHOWN_NORMAL, "The gang has formed.") \
	X(Scaled, KAR_SHOWN_IN_STATUS | KAR_SHOWN_NORMAL, \
		"The queue lets fewer pods of the job be active at once than are left to do, or has changed their number. No pod of the minimum is stopped for it.") \
	X(QuorumRaised, KAR_SHOWN_FORMED, \
		"An edit has raised minAvailable, or taken away what a task waited for; the gang has to form anew. No pod is stopped for it.") \
	X(PodFailed, KAR_SHOWN_IN_STATUS | KAR_SHOWN_FORMED | KAR_SHOWN_WARNING | KAR_SHOWN_RESTART, \
		"A pod failed: it is replaced, or the gang is restarted. Counts against backoffLimit.") \
	X(PodDisrupted, KAR_SHOWN_IN_STATUS | KAR_SHOWN_FORMED | KAR_SHOWN_WARNING | KAR_SHOWN_RESTART, \
		"A pod was taken away (deletion, eviction, preemption, node loss): it is replaced, or the gang is restarted. Never counts against backoffLimit.") \
	X(PodsMissing, KAR_SHOWN_IN_STATUS | KAR_SHOWN_FORMED | KAR_SHOWN_RESTART, \
		"Pods of a formed gang are gone without a trace; the gang is restarted.") \
	X(PodRecreated, KAR_SHOWN_FORMED, \
		"A rule of the failure policy replaces a pod alone although the gang is below its quorum without it.") \
	X(TaskRestarting, KAR_SHOWN_IN_STATUS | KAR_SHOWN_FORMED | KAR_SHOWN_WARNING, \
		"A rule of the failure policy restarts all pods of the task.") \
	X(TemplateChanged, KAR_SHOWN_IN_STATUS | KAR_SHOWN_FORMED | KAR_SHOWN_RESTART, \
		"A pod template was changed; all pods are created anew. Does not count.") \
	X(Restarting, KAR_SHOWN_NORMAL | KAR_SHOWN_WARNING, \
		"The gang is stopped and created anew. Normal after an edit, Warning after a loss.") \
	X(BackOff, KAR_SHOWN_IN_STATUS, \
		"The next start after a failure waits; the message says until when.") \
	X(Suspended, \
		KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED | KAR_SHOWN_FORMED | KAR_SHOWN_SUSPENDED | \
			KAR_SHOWN_NORMAL, \
		"spec.suspend is true.") \
	X(Resumed, KAR_SHOWN_SUSPENDED | KAR_SHOWN_NORMAL, "spec.suspend is false again.") \
	X(Completed, KAR_SHOWN_IN_STATUS | KAR_SHOWN_COMPLETE | KAR_SHOWN_NORMAL, \
		"The success policy holds. Final.") \
	X(BackoffLimitExceeded, KAR_SHOWN_IN_STATUS | KAR_SHOWN_FAILED | KAR_SHOWN_WARNING, \
		"More failures than backoffLimit allows. Final.") \
	X(DeadlineExceeded, KAR_SHOWN_IN_STATUS | KAR_SHOWN_FAILED | KAR_SHOWN_WARNING, \
		"Not complete after activeDeadlineSeconds. Final.") \
	X(PodFailurePolicy, \
		KAR_SHOWN_IN_STATUS | KAR_SHOWN_FORMED | KAR_SHOWN_COMPLETE | KAR_SHOWN_FAILED | \
			KAR_SHOWN_WARNING | KAR_SHOWN_RESTART, \
		"A rule of the failure policy fails or completes the job, which is final, or restarts the gang.") \
	X(StatusRepaired, KAR_SHOWN_WARNING, \
		"The status contradicted itself, as if somebody had edited it. What most of it tells is believed; the message names the fields that were put right.") \
	X(FailedSync, KAR_SHOWN_WARNING, \
		"The API server refuses a change, a deletion or a read (RBAC, a webhook, validation); the message has its words. It is tried again.")

/* kar_reason_BackOff and so on: the texts. */
#define KAR_REASON_DECLARE(name, where, meaning) extern const char kar_reason_##name[];
KAR_REASONS(KAR_REASON_DECLARE)
#undef KAR_REASON_DECLARE

struct kar_reason {
	const char *name;
	unsigned where; /* KAR_SHOWN_... */
	const char *meaning;
};

/* The list; *@n: its length. */
const struct kar_reason *kar_reasons(size_t *n) KAR_NONNULL KAR_RETNN;
/* NULL: no such reason. */
const struct kar_reason *kar_reason_find(const char *name) KAR_NONNULL;
/* "status", "condition Formed", "event (Warning)" ...; @bit: 0 .. KAR_REASON_SHOWN - 1. */
const char *kar_reason_shown(unsigned bit) KAR_RETNN;

#endif
