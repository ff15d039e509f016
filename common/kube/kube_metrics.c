#include "common/kube/kube_metrics.h"

const struct kar_buckets kar_buckets_request = { 12,
	{ 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60 } };

KAR_METRIC_LIST(kar_kube_metrics, KAR_KUBE_METRICS)
