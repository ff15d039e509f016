/*
 * runtime_metrics - the metrics of the runtime. Families that client-go and controller-runtime have keep their names, labels and
 * buckets, so that dashboards made for those show this manager too. What goes with them beyond a plain call is in measure.h.
 */
#ifndef KAR_RUNTIME_METRICS_H
#define KAR_RUNTIME_METRICS_H

#include "common/base/metrics.h"

#define KAR_RUNTIME_METRICS(X) \
	X(workqueue_depth, KAR_GAUGE, NULL, "name", "Keys that are ready to be synced") \
	X(workqueue_adds_total, KAR_COUNTER, NULL, "name", "Keys that became ready") \
	X(workqueue_queue_duration_seconds, KAR_HISTOGRAM, &kar_buckets_work, "name", \
		"Time that a key was ready before its sync began") \
	X(workqueue_work_duration_seconds, KAR_HISTOGRAM, &kar_buckets_work, "name", \
		"Time that a sync took, with its writes") \
	X(workqueue_unfinished_work_seconds, KAR_GAUGE, NULL, "name", \
		"Time that the syncs under way have taken so far, together") \
	X(workqueue_longest_running_processor_seconds, KAR_GAUGE, NULL, "name", \
		"Time that the longest sync under way has taken so far") \
	X(workqueue_retries_total, KAR_COUNTER, NULL, "name", "Keys that are to be synced again later") \
	X(controller_runtime_reconcile_total, KAR_COUNTER, NULL, "controller,result", \
		"Syncs by result: success, error, requeue, requeue_after") \
	X(controller_runtime_reconcile_errors_total, KAR_COUNTER, NULL, "controller", "Syncs that failed") \
	X(controller_runtime_reconcile_time_seconds, KAR_HISTOGRAM, &kar_buckets_reconcile, "controller", \
		"Time that a sync took, with its writes") \
	X(kar_caches_synced, KAR_GAUGE, NULL, "", "1 if the first list of each kind is in") \
	X(kar_informer_objects, KAR_GAUGE, NULL, "kind", "Objects in the cache") \
	X(kar_informer_relists_total, KAR_COUNTER, NULL, "kind", "Lists after the first one") \
	X(kar_informer_undecodable_total, KAR_COUNTER, NULL, "kind", \
		"Objects that could not be read as a whole, each time they arrived, and documents that could not be read at all") \
	X(kar_informer_unreadable_objects, KAR_GAUGE, NULL, "kind", \
		"Objects in the cache of which a part cannot be read; nothing is done for them") \
	X(kar_informer_failing_seconds, KAR_GAUGE, NULL, "kind", \
		"Time for which lists and watches of the kind have been failing; 0 if they work") \
	X(kar_loop_lag_seconds, KAR_HISTOGRAM, &kar_buckets_lag, "", \
		"Longest turn of the event loop between two slices of work") \
	X(kar_writes_in_flight, KAR_GAUGE, NULL, "", "Writes that wait for their answer")

extern const struct kar_buckets kar_buckets_work, kar_buckets_reconcile, kar_buckets_lag;
extern const struct kar_metric *const kar_runtime_metrics[];
KAR_RUNTIME_METRICS(KAR_METRIC_DECLARE)

#endif
