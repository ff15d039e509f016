/*
 * reasons - the list of all reasons that a QueueJob, PodGroup, Queue or Topology shows: in status.reason, in conditions and in events.
 *
 * Code uses the constant of a reason (kar_reason_BackOff for "BackOff"), so every reason in use is in the list. docs/REASONS.md is
 * generated from the list, and a unit test compares them. A reason is part of the API, because programs match it.
 */
#ifndef KAR_API_REASONS_H
#define KAR_API_REASONS_H

#include <stddef.h>

#include "common/base/base.h"

/* Where a reason is shown, and how often its message changes. */
enum {
	KAR_SHOWN_IN_STATUS = 1 << 0, /* status.reason */
	KAR_SHOWN_ADMITTED = 1 << 1,  /* as the reason of a condition of that type */
	KAR_SHOWN_FORMED = 1 << 2,
	KAR_SHOWN_COMPLETE = 1 << 3,
	KAR_SHOWN_FAILED = 1 << 4,
	KAR_SHOWN_SUSPENDED = 1 << 5,
	KAR_SHOWN_INVALID = 1 << 6,
	KAR_SHOWN_PREEMPTED = 1 << 7,
	KAR_SHOWN_NORMAL = 1 << 8,       /* in an event of type Normal */
	KAR_SHOWN_WARNING = 1 << 9,      /* in an event of type Warning */
	KAR_SHOWN_RESTART = 1 << 10,     /* status.lastRestart.reason */
	KAR_SHOWN_ON_PODGROUP = 1 << 11, /* in a condition or an event of a PodGroup */
	KAR_SHOWN_ON_QUEUE = 1 << 12,    /* in a condition of a Queue */
	KAR_SHOWN_ON_TOPOLOGY = 1 << 13, /* in a condition or an event of a Topology */
	/* Its message in status contains a number of pods: a change of it may wait for the next write, as a counter may. */
	KAR_REASON_COUNTS = 1 << 14,
	/* A job that waits for its admission gets one event: Normal with reason Waiting, or a Warning with the reason, if somebody must act. */
	KAR_WAIT_IS_TOLD = 1 << 15,
	KAR_WAIT_WARNS = 1 << 16,
};
#define KAR_REASON_SHOWN 14         /* number of the KAR_SHOWN_ flags */
#define KAR_REASON_SHOWN_OF_JOBS 11 /* the first of them, which are about QueueJobs */

/* X(name, where, meaning), in the order of a job's life. */
#define KAR_REASONS(X) \
	X(SpecInvalid, KAR_SHOWN_INVALID, \
		"The spec cannot be run; the message says which field and why. Edit the job.") \
	X(Invalid, KAR_SHOWN_IN_STATUS | KAR_SHOWN_WARNING, \
		"The spec cannot be run (condition Invalid has reason SpecInvalid); the message says which field and why. Edit the job.") \
	X(InvalidTemplate, \
		KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED | KAR_SHOWN_INVALID | KAR_SHOWN_WARNING | \
			KAR_SHOWN_ON_PODGROUP, \
		"The API server rejects the pods of a task; the message quotes it. Edit the template.") \
	X(InvalidObject, KAR_SHOWN_IN_STATUS | KAR_SHOWN_INVALID | KAR_SHOWN_WARNING, \
		"The API server rejects the SchedulingSpec, the PodGroup or the Service of the job; the message quotes it. Retried after an edit, and at the latest after ten minutes.") \
	X(SpecValid, KAR_SHOWN_INVALID, "The spec is valid again.") \
	X(NameConflict, KAR_SHOWN_IN_STATUS | KAR_SHOWN_WARNING, \
		"A SchedulingSpec, PodGroup or Service of the job's name exists and does not belong to the job, or is still being deleted; or the Service has lost its label `kube-arbitrator.io/queuejob`. The message says which. Delete that object, or restore the label. A running gang goes on, but gets no new pods. Retried at the latest after 30 s.") \
	X(PriorityClassNotFound, \
		KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED | KAR_SHOWN_WARNING | KAR_SHOWN_ON_PODGROUP | \
			KAR_WAIT_WARNS, \
		"schedSpec or a template names a PriorityClass that does not exist. The job is not in the queue until somebody creates it.") \
	X(CheckingTemplate, KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED | KAR_SHOWN_ON_PODGROUP, \
		"The API server is asked whether it accepts the pods of the job, or of one ahead for which room is held meanwhile. Until it has answered nobody makes room for the job; it starts if there is room for it anyway. An answer that is older than ten seconds is asked for again before anybody is evicted.") \
	X(WaitingForAdmission, KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED, \
		"The queue has not decided about the job yet; or it has not let its edited templates in, and the pods of the former ones run on.") \
	X(WaitingForJob, KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED | KAR_WAIT_IS_TOLD, \
		"Jobs of spec.after have not ended yet, or do not exist yet; the message names them with their phases. The job is in no queue until they have ended as asked.") \
	X(Waiting, KAR_SHOWN_NORMAL | KAR_SHOWN_ON_PODGROUP, \
		"The job waits in its queue or for room on the nodes, or the queue is closed; the message says which. One event for each reason, not for each change of the position.") \
	X(QueueNotFound, \
		KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED | KAR_SHOWN_WARNING | KAR_SHOWN_ON_PODGROUP | \
			KAR_WAIT_WARNS, \
		"There is no Queue of the name in status.queue, or none is named and there is no default queue. The job waits.") \
	X(QueueInvalid, \
		KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED | KAR_SHOWN_WARNING | KAR_SHOWN_ON_PODGROUP | \
			KAR_WAIT_WARNS, \
		"The queue admits nothing: its parent does not exist, is in a cycle or is too deep, it has a field that cannot be read (see the events of the queue), or its spec.namespaceSelector means nothing. Correct the queue, or use another one.") \
	X(QueueNotLeaf, \
		KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED | KAR_SHOWN_WARNING | KAR_SHOWN_ON_PODGROUP | \
			KAR_WAIT_WARNS, \
		"The queue is the parent of others, and only those admit jobs. Name one of them.") \
	X(QueueClosed, KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED | KAR_SHOWN_ON_PODGROUP | KAR_WAIT_IS_TOLD, \
		"The queue or a queue above it is closed, or is being deleted.") \
	X(NamespaceNotAllowed, \
		KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED | KAR_SHOWN_WARNING | KAR_SHOWN_ON_PODGROUP | \
			KAR_WAIT_WARNS, \
		"The labels of the namespace do not fit the spec.namespaceSelector of the queue. Use another queue, or ask the administrator of the cluster. A job that is admitted already goes on.") \
	X(RunTimeTooLong, \
		KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED | KAR_SHOWN_WARNING | KAR_SHOWN_ON_PODGROUP | \
			KAR_WAIT_WARNS, \
		"The job may run for longer than the spec.maxRunSeconds of the queue, or of a queue above it; the message has both times. Lower its spec.activeDeadlineSeconds, or use another queue. A job that is admitted already goes on.") \
	X(MaxJobsReached, \
		KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED | KAR_SHOWN_ON_PODGROUP | KAR_WAIT_IS_TOLD, \
		"The queue, or a queue above it, has as many jobs as its maxJobs allows.") \
	X(NamespaceLimit, \
		KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED | KAR_SHOWN_ON_PODGROUP | KAR_WAIT_IS_TOLD, \
		"The jobs of the namespace have as much in the queue, or in a queue above it, as its spec.perNamespace allows each namespace, or another job of the namespace goes first for that; the message says which, and how much is short.") \
	X(QueueCapability, \
		KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED | KAR_SHOWN_ON_PODGROUP | KAR_WAIT_IS_TOLD, \
		"The queue, or a queue above it, has as much of a resource as its capability allows, or, for a job that could not be evicted again, as it is entitled to; the message says which, and how much is short.") \
	X(HeadReserved, KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED | KAR_SHOWN_ON_PODGROUP | KAR_WAIT_IS_TOLD, \
		"There is room, but it is kept for a job that has waited for longer than --starvation-timeout; the message names it.") \
	X(GuaranteeReserved, \
		KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED | KAR_SHOWN_ON_PODGROUP | KAR_WAIT_IS_TOLD, \
		"There is room, but it is guaranteed to other queues.") \
	X(WaitingForReclaim, \
		KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED | KAR_SHOWN_ON_PODGROUP | KAR_WAIT_IS_TOLD, \
		"Others use what the queue has a right to, and have scaled or started a moment ago; the message says when it can be taken from them.") \
	X(BehindHead, KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED | KAR_SHOWN_ON_PODGROUP | KAR_WAIT_IS_TOLD, \
		"The queue is StrictFIFO, and a job that is ahead of this one has to be admitted first.") \
	X(NoFit, KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED | KAR_SHOWN_ON_PODGROUP | KAR_WAIT_IS_TOLD, \
		"The nodes have no room for the whole minimum now, although together they have enough; the message says how many pods would fit, and what is short where. No pod exists, and none holds anything. Starts when there is room for all.") \
	X(InsufficientCapacity, \
		KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED | KAR_SHOWN_ON_PODGROUP | KAR_WAIT_IS_TOLD, \
		"All usable nodes together have too little of a resource now; the message says how much is short, which nodes are cordoned, not ready or tainted, and what pods of no queue have. No pod exists, and none holds anything. Starts when there is room for all.") \
	X(Provisioning, KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED | KAR_SHOWN_ON_PODGROUP | KAR_WAIT_IS_TOLD, \
		"There is no room, the queue has provisioning: Pods, and another job of it waits for new nodes already.") \
	X(Infeasible, \
		KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED | KAR_SHOWN_WARNING | KAR_SHOWN_ON_PODGROUP | \
			KAR_WAIT_WARNS, \
		"The minimum does not fit with all nodes ready, uncordoned and empty, or is more than a queue may ever have; the message says why. Lower the requests or the minimum, or add other nodes.") \
	X(BackendUnavailable, \
		KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED | KAR_SHOWN_WARNING | KAR_SHOWN_ON_PODGROUP | \
			KAR_WAIT_WARNS, \
		"What `--gang-backend` asks for to start gangs whole is not there, or cannot do what the job asks for; the message says why. Nothing weaker is used in its place. It is looked again every 30 s.") \
	X(DevicesUnknown, \
		KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED | KAR_SHOWN_ON_PODGROUP | KAR_WAIT_IS_TOLD, \
		"A DeviceClass serves a resource that the pods ask for, and no node has a device of it: no complete pool of ResourceSlices lists one that matches the class and has no taint. The message names both. See whether its driver runs. Or the pods name a ResourceClaimTemplate, a ResourceClaim or a DeviceClass that does not exist; the message names it.") \
	X(TopologyNotFound, \
		KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED | KAR_SHOWN_WARNING | KAR_SHOWN_ON_PODGROUP | \
			KAR_WAIT_WARNS, \
		"The job asks for a level of a topology (`schedSpec.topology`, or an annotation of its pods), and no Topology has it; the message names the label. Correct it, or create the Topology.") \
	X(TopologyAmbiguous, \
		KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED | KAR_SHOWN_WARNING | KAR_SHOWN_ON_PODGROUP | \
			KAR_WAIT_WARNS, \
		"The job asks for a level of a topology that two Topologies have below different levels; the message names both. Give the level another label in one of them, or delete one.") \
	X(VolumePending, \
		KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED | KAR_SHOWN_ON_PODGROUP | KAR_WAIT_IS_TOLD, \
		"The pods name a PersistentVolumeClaim that does not exist, is not bound, or is being deleted; the message names it. No pod can have a node before it has its volumes. See `kubectl describe pvc`.") \
	X(Deactivated, \
		KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED | KAR_SHOWN_WARNING | KAR_SHOWN_ON_PODGROUP | \
			KAR_WAIT_WARNS, \
		"Twenty attempts in a row to start the gang failed, over about two hours; the message has the cause of the last one. It is not tried again until somebody edits the job.") \
	X(Unsupported, \
		KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED | KAR_SHOWN_WARNING | KAR_SHOWN_ON_PODGROUP | \
			KAR_WAIT_WARNS, \
		"The pods name a scheduler whose work kar-controllers does itself, and ask for something that it cannot check; the message names it. Use default-scheduler for the job, or drop that feature. Or the tasks of a job, or the pods of a PodGroup, name more than one scheduler, so that nobody can start them together.") \
	X(PodRefused, KAR_SHOWN_IN_STATUS | KAR_SHOWN_FORMED | KAR_SHOWN_WARNING | KAR_SHOWN_RESTART, \
		"The kubelet has refused a pod, for example because somebody else took the room first, or because the node was restarted and lacks a device now. No work has failed: it counts as no failure and no disruption. The pod is deleted and placed again; a gang that is below its quorum without it is restarted.") \
	X(JobInvalid, KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED | KAR_SHOWN_ON_PODGROUP, \
		"The queue skips the job until its spec or template is corrected.") \
	X(Unreadable, KAR_SHOWN_WARNING, \
		"A field of the object holds a value that kar-controllers cannot read; the message names it. The object, and the job it belongs to, are not managed until it has been corrected. All others go on.") \
	X(Admitted, KAR_SHOWN_ADMITTED | KAR_SHOWN_PREEMPTED | KAR_SHOWN_NORMAL | KAR_SHOWN_ON_PODGROUP, \
		"The queue has admitted the job; its pods are created.") \
	X(WaitingForTermination, \
		KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED | KAR_REASON_COUNTS | KAR_SHOWN_ON_PODGROUP, \
		"Deleted pods, or pods about to be deleted, are not gone yet; their replacements are created afterwards.") \
	X(Starting, KAR_SHOWN_IN_STATUS | KAR_SHOWN_FORMED | KAR_SHOWN_NORMAL | KAR_REASON_COUNTS, \
		"Pods are created; fewer than the quorum run.") \
	X(QuotaExceeded, \
		KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED | KAR_SHOWN_WARNING | KAR_SHOWN_FORMED | \
			KAR_SHOWN_RESTART | KAR_SHOWN_ON_PODGROUP | KAR_WAIT_IS_TOLD, \
		"A ResourceQuota has no room for the minimum, or has refused pods, or other jobs go first for it. The pods are created when there is room; those of the minimum only all together.") \
	X(QuotaInfeasible, \
		KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED | KAR_SHOWN_WARNING | KAR_SHOWN_ON_PODGROUP | \
			KAR_WAIT_WARNS, \
		"The minimum has more pods, or asks for more of a resource, than a ResourceQuota allows in total. No pod is created until the quota is raised or the minimum is lowered.") \
	X(QuotaInvalidTemplate, \
		KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED | KAR_SHOWN_WARNING | KAR_SHOWN_ON_PODGROUP | \
			KAR_WAIT_WARNS, \
		"A ResourceQuota limits something that a container sets no request or limit for, so the API server would refuse its pods. Set it in the template, or add a LimitRange with a default.") \
	X(Forbidden, \
		KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED | KAR_SHOWN_WARNING | KAR_SHOWN_ON_PODGROUP | \
			KAR_WAIT_WARNS, \
		"The API server forbids a create: RBAC, an admission plugin, or an object that the pods name and that does not exist, such as the ServiceAccount; the message quotes it. A job that waits has no place in its queue until that has changed.") \
	X(PodNameConflict, KAR_SHOWN_IN_STATUS | KAR_SHOWN_WARNING, \
		"A pod that does not belong to the job has the name of one of its pods. The job waits until that pod is deleted.") \
	X(FailedCreate, KAR_SHOWN_IN_STATUS | KAR_SHOWN_WARNING, \
		"A create was refused; it is retried. Shown in status only if none of the reasons above fits.") \
	X(Unschedulable, \
		KAR_SHOWN_IN_STATUS | KAR_SHOWN_WARNING | KAR_REASON_COUNTS | KAR_SHOWN_ON_PODGROUP, \
		"Pods wait for a node that fits them; the message has the words of the scheduler and what the pods ask for. The conditions of the PodGroup name the pods.") \
	X(RolledBack, \
		KAR_SHOWN_IN_STATUS | KAR_SHOWN_FORMED | KAR_SHOWN_WARNING | KAR_SHOWN_RESTART | \
			KAR_SHOWN_ON_PODGROUP, \
		"An attempt to start the gang failed: a place was taken by other pods, or the minimum was not bound within scheduleTimeoutSeconds. Its pods are deleted, so that it holds no part of what others could use, and it is placed again after a pause. Does not count as a failure or a restart.") \
	X(ContainerWaiting, KAR_SHOWN_IN_STATUS | KAR_SHOWN_WARNING | KAR_REASON_COUNTS, \
		"A container of a pod does not start, for example because its image or a Secret is missing; the message has the reason of the kubelet. Or a container fails again and again and is restarted in place; it is shown until it has run for ten minutes. Under restartPolicy OnFailure its restarts count against backoffLimit.") \
	X(ContainerEnded, KAR_SHOWN_IN_STATUS | KAR_SHOWN_WARNING | KAR_REASON_COUNTS, \
		"A container of a pod has ended and is not restarted, and another container keeps the pod running; the message has both. Kubernetes calls such a pod Running, so the job waits for it. Let the helper end with the work, or make it a native sidecar (an init container with restartPolicy Always).") \
	X(NoReplicas, KAR_SHOWN_IN_STATUS, \
		"The tasks have no replicas, or the tasks of the success policy have none. The job goes on when their replicas are raised.") \
	X(ServiceChanged, KAR_SHOWN_IN_STATUS, \
		"The Service of the job is not headless; it is deleted and created again.") \
	X(TaskWaiting, KAR_SHOWN_IN_STATUS | KAR_REASON_COUNTS, \
		"A task waits for another one that it depends on.") \
	X(TaskStarted, KAR_SHOWN_NORMAL, \
		"The tasks that a task depends on have reached the state it waits for; its pods are created.") \
	X(TaskStarting, KAR_SHOWN_IN_STATUS, "The gang runs; pods of a later task are still starting.") \
	X(NoScheduler, KAR_SHOWN_IN_STATUS | KAR_SHOWN_WARNING | KAR_SHOWN_ON_PODGROUP, \
		"Pods name a scheduler (schedulerName) that has not looked at them for 10 seconds: it does not run, or the name is wrong. Correct the template, or start the scheduler.") \
	X(QuorumReached, KAR_SHOWN_FORMED, \
		"The gang has formed: as many pods as the quorum run or have succeeded.") \
	X(Running, KAR_SHOWN_NORMAL, "The gang has formed.") \
	X(Scaled, KAR_SHOWN_IN_STATUS | KAR_SHOWN_NORMAL, \
		"The queue allows fewer pods at once than have not succeeded yet (the message, and status.scalingLimit of the PodGroup, say why), or has changed that number (pods of the minimum are never stopped for it); or an edit changed the number of replicas.") \
	X(QuorumRaised, KAR_SHOWN_FORMED, \
		"An edit raised minAvailable, or removed the dependency that a task waited for; the gang has to form again. No pod is stopped for it.") \
	X(PodFailed, KAR_SHOWN_IN_STATUS | KAR_SHOWN_FORMED | KAR_SHOWN_WARNING | KAR_SHOWN_RESTART, \
		"A pod failed: it is replaced, or the gang is restarted. Counts against backoffLimit.") \
	X(PodDisrupted, KAR_SHOWN_IN_STATUS | KAR_SHOWN_FORMED | KAR_SHOWN_WARNING | KAR_SHOWN_RESTART, \
		"A pod was deleted, evicted, preempted or lost with its node: it is replaced, or the gang is restarted. Never counts against backoffLimit.") \
	X(PodsMissing, KAR_SHOWN_IN_STATUS | KAR_SHOWN_FORMED | KAR_SHOWN_RESTART, \
		"Pods of a formed gang were removed before their end was seen; the gang is restarted.") \
	X(PodRecreated, KAR_SHOWN_FORMED, \
		"A rule of the failure policy replaces a single pod instead of restarting the gang, which is below its quorum meanwhile.") \
	X(TaskRestarting, KAR_SHOWN_IN_STATUS | KAR_SHOWN_FORMED | KAR_SHOWN_WARNING, \
		"A rule of the failure policy restarts all pods of the task.") \
	X(TemplateChanged, KAR_SHOWN_IN_STATUS | KAR_SHOWN_FORMED | KAR_SHOWN_RESTART, \
		"A pod template was edited; all pods are created again. Does not count as a restart.") \
	X(Restarting, KAR_SHOWN_NORMAL | KAR_SHOWN_WARNING, \
		"The gang is stopped and created again. Normal after an edit, Warning after a loss.") \
	X(Reserving, KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED | KAR_SHOWN_ON_PODGROUP | KAR_WAIT_IS_TOLD, \
		"Room is held for the job: pods that have it are stopping, for example of gangs that were evicted for it.") \
	X(Preempted, \
		KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED | KAR_SHOWN_FORMED | KAR_SHOWN_WARNING | \
			KAR_SHOWN_RESTART | KAR_SHOWN_ON_PODGROUP | KAR_WAIT_WARNS, \
		"The gang is evicted for a job of higher priority, or of another queue that has a right to its room, or because its queue is drained; it is placed again when there is room.") \
	X(Reclaim, KAR_SHOWN_PREEMPTED | KAR_SHOWN_ON_PODGROUP, \
		"Another queue has a right to the room that the gang had borrowed.") \
	X(InQueue, KAR_SHOWN_PREEMPTED | KAR_SHOWN_ON_PODGROUP, \
		"A job of the same queue goes before it and needs its room.") \
	X(Drain, KAR_SHOWN_PREEMPTED | KAR_SHOWN_ON_PODGROUP, "Its queue is closed and drained.") \
	X(WaitingForGangGroup, \
		KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED | KAR_SHOWN_ON_PODGROUP | KAR_WAIT_IS_TOLD, \
		"The gang starts together with another one (schedSpec.gangGroups), which does not exist or cannot start yet.") \
	X(BackOff, KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED | KAR_SHOWN_ON_PODGROUP, \
		"The job waits before it creates pods again after a failure; the message says until when.") \
	X(Suspended, \
		KAR_SHOWN_IN_STATUS | KAR_SHOWN_ADMITTED | KAR_SHOWN_FORMED | KAR_SHOWN_SUSPENDED | \
			KAR_SHOWN_NORMAL | KAR_SHOWN_ON_PODGROUP, \
		"spec.suspend is true.") \
	X(Resumed, KAR_SHOWN_SUSPENDED | KAR_SHOWN_NORMAL, "spec.suspend is false again.") \
	X(Completed, KAR_SHOWN_IN_STATUS | KAR_SHOWN_COMPLETE | KAR_SHOWN_NORMAL, \
		"The success policy is met. Final.") \
	X(BackoffLimitExceeded, KAR_SHOWN_IN_STATUS | KAR_SHOWN_FAILED | KAR_SHOWN_WARNING, \
		"More failures than backoffLimit allows. Final.") \
	X(HostsTooLong, KAR_SHOWN_WARNING, \
		"The host names of the pods of a task have more than 64 KiB together, so KAR_HOSTS is not set for them.") \
	X(IndexFailed, KAR_SHOWN_WARNING, \
		"An index has failed more often than backoffLimitPerIndex allows, or a rule of the failure policy says FailIndex: it gets no pod any more, and the job goes on with the others.") \
	X(FailedIndexes, KAR_SHOWN_IN_STATUS | KAR_SHOWN_FAILED | KAR_SHOWN_WARNING, \
		"Indexes have failed (backoffLimitPerIndex), and all others have succeeded; or fewer are left than minAvailable asks for. Final.") \
	X(MaxFailedIndexesExceeded, KAR_SHOWN_IN_STATUS | KAR_SHOWN_FAILED | KAR_SHOWN_WARNING, \
		"More indexes have failed than maxFailedIndexes allows. Final.") \
	X(DependencyFailed, KAR_SHOWN_IN_STATUS | KAR_SHOWN_FAILED | KAR_SHOWN_WARNING, \
		"A job of spec.after has ended otherwise than asked; the message names it. The job has failed without a pod.") \
	X(DeadlineExceeded, KAR_SHOWN_IN_STATUS | KAR_SHOWN_FAILED | KAR_SHOWN_WARNING, \
		"Not complete after activeDeadlineSeconds. Final.") \
	X(PodFailurePolicy, \
		KAR_SHOWN_IN_STATUS | KAR_SHOWN_FORMED | KAR_SHOWN_COMPLETE | KAR_SHOWN_FAILED | \
			KAR_SHOWN_WARNING | KAR_SHOWN_RESTART, \
		"A rule of the failure policy fails or completes the job, which is final, or restarts the gang.") \
	X(StatusEdited, KAR_SHOWN_WARNING, \
		"Another client has edited the status, or another version of kar-controllers has written it. The incarnation, the succeeded indexes, the counters, and an end on which phase and condition agree are kept; all other fields are derived from the pods. No pod is stopped for it.") \
	X(FailedSync, KAR_SHOWN_WARNING, \
		"The API server refuses a change, a deletion or a read (RBAC, a webhook, validation); the message quotes it. It is retried.") \
	X(WaitingForMembers, KAR_SHOWN_ON_PODGROUP, \
		"Fewer pods of the group exist than its minimum asks for; none starts before all exist, unless spec.minResources says what the rest needs.") \
	X(ForeignGate, KAR_SHOWN_ON_PODGROUP, \
		"Pods of the group have scheduling gates of others, so that fewer than the minimum can start; the message names them.") \
	X(MixedSchedulers, KAR_SHOWN_ON_PODGROUP, \
		"The pods of the group name several schedulers, so nobody can start them together.") \
	X(Placing, KAR_SHOWN_ON_PODGROUP, "The gang has its places; its pods are released and bound.") \
	X(Scheduled, KAR_SHOWN_ON_PODGROUP, "As many members as minMember are bound, or have succeeded.") \
	X(RollingBack, KAR_SHOWN_ON_PODGROUP, \
		"The attempt to start the gang has failed, or it is evicted; its pods are being removed.") \
	X(QuorumLost, KAR_SHOWN_ON_PODGROUP, \
		"The gang ran, and has fewer members than minMember now. Event, if nobody replaces them for 10 s.") \
	X(NotEnoughMembers, KAR_SHOWN_ON_PODGROUP, \
		"Of a group that nobody places: fewer members exist than minMember.") \
	X(Pending, KAR_SHOWN_ON_PODGROUP, \
		"Of a group that nobody places: its members exist, and no scheduler has bound them yet.") \
	X(Timeout, KAR_SHOWN_ON_PODGROUP, \
		"Nothing of the group has run for 48 hours; the message has the last reason. Event, once.") \
	X(DeletedWithGatedMembers, KAR_SHOWN_ON_PODGROUP, \
		"The PodGroup is deleted while pods wait for it: they keep our gate until somebody makes it again.") \
	X(Schedulable, KAR_SHOWN_ON_PODGROUP, "No member is unschedulable any more.") \
	X(MemberFailed, KAR_SHOWN_ON_PODGROUP, \
		"Members have failed, and the minimum runs without them; the message has names and exit codes.") \
	X(NoFailedMember, KAR_SHOWN_ON_PODGROUP, "No member has failed any more.") \
	X(Ignored, KAR_SHOWN_ON_PODGROUP, \
		"Annotations of the PodGroup, or of its pods, are ignored; the message says which, and why.") \
	X(InvalidOptions, KAR_SHOWN_ON_PODGROUP, \
		"Event: an annotation of the PodGroup, or of its pods, is ignored; the message says which, and why.") \
	X(TopologyLost, KAR_SHOWN_ON_PODGROUP, \
		"Event: the domain that all pods of the gang must be in has had no room for 30 s for pods that replace lost ones; the gang is removed, and starts again where all of it has room.") \
	X(TopologyChanged, KAR_SHOWN_ON_PODGROUP, \
		"Condition and event: labels of a node with pods of the gang were changed, so that it is not in the domain of the gang any more. Nothing is stopped.") \
	X(TopologyKept, KAR_SHOWN_ON_PODGROUP, \
		"Of condition TopologyChanged: all nodes of the gang are in its domain again.") \
	X(NotEnforced, KAR_SHOWN_ON_PODGROUP, \
		"Event: members have no scheduling gate of ours, so that they start one by one.") \
	X(CannotRollBack, KAR_SHOWN_ON_PODGROUP, \
		"Event: members without a controller stay although the start of their gang has failed, because nobody would make them again.") \
	X(HoldReclaimed, KAR_SHOWN_ON_PODGROUP, \
		"Event: room that was held for members to come went to a gang that goes first.") \
	X(HoldExpired, KAR_SHOWN_ON_PODGROUP, \
		"Event: room was held for members that have not come; those that come later are a gang of their own.") \
	X(PodGroupNotFound, KAR_SHOWN_ON_PODGROUP, \
		"Event of the oldest gated pod: the PodGroup that it names does not exist.") \
	X(SchedulingSpecNotFound, KAR_SHOWN_ON_PODGROUP, \
		"Of a PodGroup that was made of a SchedulingSpec: that is gone or is being deleted, so nobody knows the nodes that it selects, and the gang does not start. Event of the first of some pods that name a scheduler whose work kar-controllers does, and no PodGroup: no SchedulingSpec has their controller as its own.") \
	X(Contested, KAR_SHOWN_ON_PODGROUP, \
		"Event of a workload of another controller: somebody resumes it again and again although its queue has no room for it, so the manager leaves it alone for a minute.") \
	X(Reserved, KAR_SHOWN_ON_PODGROUP, \
		"Every ResourceQuota of the namespace has room for spec.totalResources, and keeps it.") \
	X(NotRequested, KAR_SHOWN_ON_PODGROUP, "The group reserves nothing any more.") \
	X(NotModelled, KAR_SHOWN_ON_PODGROUP, \
		"Of condition FitUnverified: kube-scheduler checks something of the pods that is not known here; the message names it. The gang takes idle room, its pods are not pinned to nodes, and nobody is evicted for it.") \
	X(Verified, KAR_SHOWN_ON_PODGROUP, \
		"All that decides where the pods of the group can be is known again.") \
	X(Finished, KAR_SHOWN_ON_PODGROUP, "The group has ended; it is in no queue.") \
	X(Valid, KAR_SHOWN_ON_PODGROUP | KAR_SHOWN_ON_QUEUE | KAR_SHOWN_ON_TOPOLOGY, \
		"The spec means something: nothing of it is ignored.") \
	X(ValidWithWarnings, KAR_SHOWN_ON_QUEUE, \
		"The spec is valid; the message says what of it cannot have the effect that it seems to have.") \
	X(UnknownState, KAR_SHOWN_ON_QUEUE, "spec.state is neither Open nor Closed.") \
	X(UnknownQueueingStrategy, KAR_SHOWN_ON_QUEUE, \
		"spec.queueingStrategy is not known; BestEffortFIFO is used.") \
	X(InvalidNamespaceSelector, KAR_SHOWN_ON_QUEUE, \
		"spec.namespaceSelector means nothing, so no job is admitted until it is corrected.") \
	X(ParentNotFound, KAR_SHOWN_ON_QUEUE, \
		"The queue that spec.parent names does not exist, or is being deleted.") \
	X(ParentCycle, KAR_SHOWN_ON_QUEUE, "The queue is its own parent, directly or by others.") \
	X(TooDeep, KAR_SHOWN_ON_QUEUE, "The queue is below more than three others.") \
	X(Parent, KAR_SHOWN_ON_QUEUE, "The queue has child queues, which admit jobs.") \
	X(Open, KAR_SHOWN_ON_QUEUE, "The queue admits jobs.") \
	X(Closing, KAR_SHOWN_ON_QUEUE, "The queue admits no further job; some of its jobs still run.") \
	X(Closed, KAR_SHOWN_ON_QUEUE, "The queue admits no job.") \
	X(Deleting, KAR_SHOWN_ON_QUEUE, "The queue is being deleted; the message says what it waits for.") \
	X(CapabilityExceeded, KAR_SHOWN_ON_QUEUE, \
		"The pods of the queue have more than its capability, which was lowered or is exceeded by pods that grew. Nothing is stopped, and nothing more comes.") \
	X(WithinCapability, KAR_SHOWN_ON_QUEUE, \
		"The pods of the queue have no more than its capability any more.") \
	X(InvalidLevels, KAR_SHOWN_ON_TOPOLOGY, \
		"Levels of the Topology are ignored, which its CustomResourceDefinition should have refused; the message says which, and why. Apply the CRDs of this version, and correct the Topology.")

/* kar_reason_BackOff and so on: the texts. */
#define KAR_REASON_DECLARE(name, where, meaning) extern const char kar_reason_##name[];
KAR_REASONS(KAR_REASON_DECLARE)
#undef KAR_REASON_DECLARE

struct kar_reason {
	const char *name;
	unsigned where; /* KAR_SHOWN_..., KAR_REASON_COUNTS */
	const char *meaning;
};

/* The list; *@n: its length. */
const struct kar_reason *kar_reasons(size_t *n) KAR_NONNULL KAR_RETNN;
/* NULL: no such reason. */
const struct kar_reason *kar_reason_find(const char *name) KAR_NONNULL;
/* "status", "condition Formed", "event (Warning)" ...; @bit: 0 .. KAR_REASON_SHOWN - 1. */
const char *kar_reason_shown(unsigned bit) KAR_RETNN;

#endif
