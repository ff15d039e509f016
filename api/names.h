/*
 * names - every group, label, annotation, finalizer and environment variable the project writes or reads.
 *
 * The contract of docs/design/api.md, "Keys we set". Constants only.
 */
#ifndef KAR_API_NAMES_H
#define KAR_API_NAMES_H

#define KAR_GROUP "kube-arbitrator.io"
#define KAR_VERSION_V1ALPHA1 "v1alpha1"
#define KAR_API_VERSION KAR_GROUP "/" KAR_VERSION_V1ALPHA1
#define KAR_PODGROUP_GROUP "scheduling.x-k8s.io"
#define KAR_PODGROUP_API_VERSION KAR_PODGROUP_GROUP "/" KAR_VERSION_V1ALPHA1

/* spec.managedBy of a QueueJob that we run, as without it. */
#define KAR_MANAGED_BY_US "kube-arbitrator.io/queuejob-controller"
#define KAR_LABEL_QUEUEJOB KAR_GROUP "/queuejob"
/* Of a PodGroup whose spec names no queue; of its pods, and of a namespace (or as an annotation), if it has no such label either. */
#define KAR_LABEL_QUEUE KAR_GROUP "/queue"
/* Of a PodGroup that the manager has made: for a workload that can be suspended, or else "true". */
#define KAR_LABEL_MADE KAR_GROUP "/made-for-pods"
#define KAR_MADE_FOR_WORKLOAD "workload"
#define KAR_LABEL_TASK KAR_GROUP "/task"
#define KAR_LABEL_INDEX KAR_GROUP "/index"
#define KAR_LABEL_DOMAIN KAR_GROUP "/domain" /* of the narrowest level that is required */
#define KAR_LABEL_INCARNATION KAR_GROUP "/incarnation"
/* Of a TrainingJob, as labels or annotations: experiment, offline, normal or production; seconds between two scalings. */
#define KAR_LABEL_PRIORITY_LEVEL KAR_GROUP "/priority-level"
#define KAR_ANNOTATION_FREEZING_WINDOW KAR_GROUP "/freezing-window-seconds"
#define KAR_ANNOTATION_MADE_OF \
	KAR_GROUP "/made-of" /* of a QueueJob: what of its TrainingJob it was made of */
/* Of a workload of another controller that can be suspended: the last who suspended it, or resumed it, is the manager (KAR_BY_QUEUE). */
#define KAR_ANNOTATION_SUSPENDED_BY KAR_GROUP "/suspended-by"
#define KAR_ANNOTATION_RESUMED_BY KAR_GROUP "/resumed-by"
#define KAR_BY_QUEUE "queue"
#define KAR_ANNOTATION_TEMPLATE_HASH KAR_GROUP "/template-hash"
#define KAR_ANNOTATION_RELEASED \
	KAR_GROUP "/released" /* of a pod from which the manager has removed its gate; "true" */
/* Of a PodGroup whose CRD drops what we write into its status (decision 099): this is kept there. The last one is only for people. */
#define KAR_ANNOTATION_PLACEMENT KAR_GROUP "/placement"
#define KAR_ANNOTATION_QUEUE_STATUS KAR_GROUP "/queue-status"
#define KAR_ANNOTATION_MESSAGE KAR_GROUP "/message"
#define KAR_ANNOTATION_WHAT_IF KAR_GROUP "/what-if" /* "true" on a suspended QueueJob: when would it start? */
#define KAR_GATE KAR_GROUP "/gang"
#define KAR_FINALIZER_POD_TRACKING KAR_GROUP "/pod-tracking"
#define KAR_FINALIZER_QUEUE KAR_GROUP "/queue" /* of a Queue: it stays until nothing of it is at work */

#define KAR_ENV_QUEUEJOB "KAR_QUEUEJOB"
#define KAR_ENV_TASK "KAR_TASK"
#define KAR_ENV_INDEX "KAR_INDEX"
#define KAR_ENV_RANK "KAR_RANK"
#define KAR_ENV_WORLD_SIZE "KAR_WORLD_SIZE"
#define KAR_ENV_TASK_SIZE "KAR_TASK_SIZE"
#define KAR_ENV_HOSTS "KAR_HOSTS"
#define KAR_ENV_DOMAIN "KAR_DOMAIN"

/* How pods name their PodGroup, strongest first; a label wins over an annotation (docs/design/api.md, Membership). */
#define KAR_LABEL_POD_GROUP "scheduling.x-k8s.io/pod-group"
#define KAR_LABEL_POD_GROUP_OLD "pod-group.scheduling.sigs.k8s.io"
#define KAR_LABEL_POD_GROUP_NAME "pod-group.scheduling.sigs.k8s.io/name"
#define KAR_ANNOTATION_GANG "gang.scheduling.koordinator.sh/" /* of all options of a gang */
#define KAR_ANNOTATION_GANG_NAME KAR_ANNOTATION_GANG "name"
#define KAR_LABEL_MIN_AVAILABLE "pod-group.scheduling.sigs.k8s.io/min-available" /* beside the third */
#define KAR_ANNOTATION_GROUP_NAME "scheduling.k8s.io/group-name"

#define KAR_DEFAULT_QUEUE "default"
#define KAR_NO_DEFAULT_QUEUE "none" /* --default-queue: nobody is in a queue that he does not name */
#define KAR_DEFAULT_SCHEDULER "default-scheduler"

#endif
