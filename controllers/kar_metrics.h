/*
 * kar_metrics - the metrics of the process and of the reconcilers. Those of the runtime are in controllers/runtime/runtime_metrics.h,
 * those of the client in common/kube/kube_metrics.h. docs/METRICS.md has the table of all of them.
 */
#ifndef KAR_KAR_METRICS_H
#define KAR_KAR_METRICS_H

#include "common/base/metrics.h"
#include "controllers/runtime/controller.h"

struct kar_manager;

#define KAR_METRICS(X) \
	X(process_cpu_seconds_total, KAR_COUNTER, NULL, "", "CPU time that the process has used") \
	X(process_resident_memory_bytes, KAR_GAUGE, NULL, "", "Memory of the process that is in RAM") \
	X(process_virtual_memory_bytes, KAR_GAUGE, NULL, "", "Address space of the process") \
	X(process_open_fds, KAR_GAUGE, NULL, "", "Open file descriptors") \
	X(process_max_fds, KAR_GAUGE, NULL, "", "File descriptors that may be open") \
	X(process_start_time_seconds, KAR_GAUGE, NULL, "", \
		"Start of the process, seconds since the Unix epoch") \
	X(kar_build_info, KAR_GAUGE, NULL, "version,compiler", "1; the labels say what runs") \
	X(kar_certificate_expiration_timestamp_seconds, KAR_GAUGE, NULL, "", \
		"End of the validity of the certificate of --metrics-bind-address, seconds since the Unix epoch") \
	X(kar_queuejobs, KAR_GAUGE, NULL, "phase", "QueueJobs by phase") \
	X(kar_pods_created_total, KAR_COUNTER, NULL, "", "Pods that the manager has created") \
	X(kar_pods_deleted_total, KAR_COUNTER, NULL, "", "Pods that the manager has deleted") \
	X(kar_pods_replaced_total, KAR_COUNTER, NULL, "", \
		"Losses of pods that were answered by new pods, while the rest of the gang ran on") \
	X(kar_gang_restarts_total, KAR_COUNTER, NULL, "cause", \
		"Gangs of QueueJobs that were stopped to be created again; Nodes is the roll back of an attempt to start") \
	X(kar_admission_attempts_total, KAR_COUNTER, NULL, "result", \
		"Decisions about groups that wait in a queue, by result: admitted, inadmissible") \
	X(kar_admission_wait_seconds, KAR_HISTOGRAM, &kar_buckets_wait, "", \
		"Time that a group waited until its queue admitted it") \
	X(kar_pending_groups, KAR_GAUGE, NULL, "queue,reason", "PodGroups that wait in a queue, by reason") \
	X(kar_pending_longest_seconds, KAR_GAUGE, NULL, "queue,reason", \
		"Time that the PodGroup has waited that has waited longest") \
	X(kar_gangs, KAR_GAUGE, NULL, "state", "PodGroups that have a placement, by its state") \
	X(kar_queue_groups, KAR_GAUGE, NULL, "queue,state", \
		"PodGroups of a queue by what they do: pending, inqueue, running, completed, unknown") \
	X(kar_queue_usage, KAR_GAUGE, NULL, "queue,resource", \
		"What the admitted groups of a queue and of all below it hold: cores, bytes, pieces") \
	X(kar_queue_usage_seconds_total, KAR_COUNTER, NULL, "queue,resource", \
		"What the pods of a queue and of all below it have used: amounts (cores, bytes, pieces) times seconds, as .status.usage of the Queue") \
	X(kar_queue_flavor_usage_seconds_total, KAR_COUNTER, NULL, "queue,flavor,resource", \
		"The part of that on nodes of a flavor, for resources of which some queue has a right by flavor") \
	X(kar_queue_over_capability, KAR_GAUGE, NULL, "queue", \
		"1: the live pods of the queue have more than its capability (condition OverCapability), else 0") \
	X(kar_queue_passes_unsettled_total, KAR_COUNTER, NULL, "", \
		"Passes over the queues that had not settled after 20 steps, which is a bug")

extern const struct kar_buckets kar_buckets_wait;
KAR_METRICS(KAR_METRIC_DECLARE)

/* A registry with all families of the manager. */
struct kar_metrics *kar_all_metrics_new(void) KAR_MUSTUSE KAR_RETNN;
/* Sets what is read when it is asked for: the process, the manager (NULL: there is none), and the objects in its caches. @now: wall. */
void kar_collect(struct kar_metrics *m, const struct kar_manager *manager, kar_time now)
	__attribute__((nonnull(1)));

/* The part of that which is about objects. */
struct kar_stores;
void kar_collect_objects(struct kar_metrics *m, const struct kar_stores *stores, kar_time now) KAR_NONNULL;
/* Why @g waits in its queue, one of a bounded number of words; NULL: it does not. */
struct kar_podgroup;
const char *kar_pending_reason(const struct kar_podgroup *g) KAR_NONNULL;

/* From wrote() of a controller (@a NULL: the status): counts pods. */
void kar_count_write(const struct kar_sync *s, const struct kar_action *a) __attribute__((nonnull(1)));

#endif
