/*
 * native - does the cluster have PodGroups of its own (api/podgroup/native_group.h)? It is asked at the start and every 30 s (--native-interval), because the
 * cluster may be upgraded or downgraded under a running manager.
 *
 * Discovery does not suffice: the field of the pod may be dropped where the API is served, so a dry run of a pod shows whether it is
 * kept. That is one request as long as the API is not served, else two. Whether kube-scheduler has the feature too, nobody can see.
 */
#ifndef KAR_NATIVE_H
#define KAR_NATIVE_H

#include "common/kube/client.h"
#include "common/loop/loop.h"
#include "controllers/cluster/settings.h"

struct kar_native_probe;

/*
 * Asks from the loop every @interval ms, and keeps @out up to date until it is freed. An API server that does not answer changes nothing.
 * What it is given is borrowed.
 */
struct kar_native_probe *kar_native_probe_new(struct kar_loop *l, struct kar_client *client,
	kar_time interval, struct kar_native *out) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
void kar_native_probe_free(struct kar_native_probe *p); /* accepts NULL */

#endif
