/*
 * kube_metrics - the metrics of the client, with the names, labels and buckets that client-go's have.
 */
#ifndef KAR_KUBE_METRICS_H
#define KAR_KUBE_METRICS_H

#include "common/base/metrics.h"

#define KAR_KUBE_METRICS(X) \
	X(rest_client_requests_total, KAR_COUNTER, NULL, "code,method,host", \
		"Requests to the API server; the code of one without an answer is the word error in angle brackets") \
	X(rest_client_request_duration_seconds, KAR_HISTOGRAM, &kar_buckets_request, "verb,host", \
		"Time until an answer began") \
	X(leader_election_master_status, KAR_GAUGE, NULL, "name", \
		"1 if this process leads and may write, 0 if it waits for the lease or could not renew it in time; name is that of the Lease")

extern const struct kar_buckets kar_buckets_request;
extern const struct kar_metric *const kar_kube_metrics[];
KAR_KUBE_METRICS(KAR_METRIC_DECLARE)

#endif
