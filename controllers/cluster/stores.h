/*
 * stores - the caches that the reconcilers read, the only list of their kinds, and the snapshot for placement.
 * What is read here is pure; that the manager fills the caches is in caches.h.
 *
 * Each kind in KAR_STORES is listed, watched and cached; test_stores compares the list with manifests/rbac.yaml.
 */
#ifndef KAR_STORES_H
#define KAR_STORES_H

#include "api/types.h"
#include "common/kube/store.h"
#include "controllers/cluster/capacity.h"
#include "controllers/cluster/claims.h"
#include "controllers/cluster/devices.h"
#include "controllers/cluster/expected.h"
#include "controllers/cluster/preemptible.h"
#include "controllers/cluster/lookups.h"
#include "controllers/cluster/settings.h"
#include "controllers/cluster/snapshot.h"
#include "controllers/cluster/templates.h"
#include "controllers/cluster/usage.h"
#include "controllers/cluster/volumes.h"

#define KAR_IF_NO_CRD \
	"the CustomResourceDefinition is not installed: kubectl apply -f manifests/crds/; waiting for it"

/* Clusters before Kubernetes 1.34 have no devices to count, and an administrator may not grant this. */
#define KAR_IF_NO_DEVICES "devices of DeviceClasses are not counted"
#define KAR_IF_NO_TOPOLOGIES "gangs that ask for a topology wait until the manager may read Topologies"
#define KAR_IF_NO_FLAVORS "no node is of a flavor until the manager may read Flavors"
#define KAR_IF_NO_TRAININGJOBS "TrainingJobs stay as they are until the manager may read them"
#define KAR_IF_NO_JOBS \
	"batch Jobs with the label " KAR_LABEL_QUEUE " stay as they are until the manager may read them"
#define KAR_IF_NO_KIND \
	"its objects with the label " KAR_LABEL_QUEUE \
	" stay as they are until there are some that the manager may read"
#define KAR_IF_NO_VOLUMES "gangs with PersistentVolumeClaims are not pinned, and evict nobody"

/*
 * X(name of the cache, its type, label selector, remedy). The selector limits the cache to our own objects if others may have many
 * objects of the kind; NULL: all objects. The remedy is logged if the API server does not know the type; NULL: there is none.
 */
#define KAR_STORES(X) \
	X(pods, kar_pod_type, NULL, NULL) \
	X(nodes, kar_node_type, NULL, NULL) \
	X(queuejobs, kar_queuejob_type, NULL, KAR_IF_NO_CRD) \
	X(podgroups, kar_podgroup_type, NULL, KAR_IF_NO_CRD) \
	X(schedulingspecs, kar_schedulingspec_type, NULL, KAR_IF_NO_CRD) \
	X(queues, kar_queue_type, NULL, KAR_IF_NO_CRD) \
	X(namespaces, kar_namespace_type, NULL, NULL) \
	X(priorityclasses, kar_priorityclass_type, NULL, NULL) \
	X(services, kar_service_type, KAR_LABEL_QUEUEJOB, NULL) \
	X(resourcequotas, kar_resourcequota_type, NULL, NULL) \
	X(limitranges, kar_limitrange_type, NULL, NULL) \
	X(disruptionbudgets, kar_disruptionbudget_type, NULL, NULL) \
	X(deviceclasses, kar_deviceclass_type, NULL, KAR_IF_NO_DEVICES) \
	X(resourceslices, kar_resourceslice_type, NULL, KAR_IF_NO_DEVICES) \
	X(resourceclaims, kar_resourceclaim_type, NULL, KAR_IF_NO_DEVICES) \
	X(claimtemplates, kar_resourceclaimtemplate_type, NULL, KAR_IF_NO_DEVICES) \
	X(volumeclaims, kar_volumeclaim_type, NULL, KAR_IF_NO_VOLUMES) \
	X(volumes, kar_volume_type, NULL, KAR_IF_NO_VOLUMES) \
	X(storageclasses, kar_storageclass_type, NULL, KAR_IF_NO_VOLUMES) \
	X(csidrivers, kar_csidriver_type, NULL, KAR_IF_NO_VOLUMES) \
	X(topologies, kar_topology_type, NULL, KAR_IF_NO_TOPOLOGIES) \
	X(flavors, kar_flavor_type, NULL, KAR_IF_NO_FLAVORS) \
	X(trainingjobs, kar_trainingjob_type, NULL, KAR_IF_NO_TRAININGJOBS) \
	X(batchjobs, kar_batchjob_type, KAR_LABEL_QUEUE, KAR_IF_NO_JOBS) \
	X(jobsets, kar_jobset_type, KAR_LABEL_QUEUE, KAR_IF_NO_KIND) \
	X(pytorchjobs, kar_pytorchjob_type, KAR_LABEL_QUEUE, KAR_IF_NO_KIND) \
	X(tfjobs, kar_tfjob_type, KAR_LABEL_QUEUE, KAR_IF_NO_KIND) \
	X(xgboostjobs, kar_xgboostjob_type, KAR_LABEL_QUEUE, KAR_IF_NO_KIND) \
	X(paddlejobs, kar_paddlejob_type, KAR_LABEL_QUEUE, KAR_IF_NO_KIND) \
	X(jaxjobs, kar_jaxjob_type, KAR_LABEL_QUEUE, KAR_IF_NO_KIND) \
	X(mpijobs, kar_mpijob_type, KAR_LABEL_QUEUE, KAR_IF_NO_KIND) \
	X(rayclusters, kar_raycluster_type, KAR_LABEL_QUEUE, KAR_IF_NO_KIND) \
	X(rayjobs, kar_rayjob_type, KAR_LABEL_QUEUE, KAR_IF_NO_KIND)

#define KAR_STORES_TYPE(name, type, selector, remedy) extern const struct kar_type type;
KAR_STORES(KAR_STORES_TYPE)
#undef KAR_STORES_TYPE

#define KAR_STORES_MEMBER(name, type, selector, remedy) struct kar_store *name;
struct kar_stores {
	KAR_STORES(KAR_STORES_MEMBER)
	struct kar_snapshot *snapshot; /* of the nodes, and of the pods on them; owned (snapshot.h) */
	struct kar_usage *usage;       /* of quotas, by live pods; owned (usage.h) */
	struct kar_capacity *capacity; /* of usable nodes, and what counts against it; owned (capacity.h) */
	struct kar_devices *devices;   /* of nodes, by DeviceClasses; owned (devices.h) */
	struct kar_expected *expected; /* pods that are about to be bound; owned (expected.h) */
	struct kar_preemptible *preemptible; /* pods of no queue that may be evicted; owned (preemptible.h) */
	struct kar_templates
		*templates;        /* what the API server has said of pods of jobs; owned (templates.h) */
	const char *default_queue; /* --default-queue; borrowed; NULL: "default" */
};
#undef KAR_STORES_MEMBER

#define KAR_STORES_NUMBER(name, type, selector, remedy) KAR_STORE_##name,
enum { KAR_STORES(KAR_STORES_NUMBER) KAR_N_STORES };
#undef KAR_STORES_NUMBER

/* Makes empty caches, which the snapshot, the usage and the capacity are the first to listen to. Their strings are in @strings, which is borrowed. */
void kar_stores_init(struct kar_stores *s, struct kar_intern *strings) KAR_NONNULL;
void kar_stores_release(struct kar_stores *s) KAR_NONNULL;
/* Returns the queue of jobs and groups that name none; "": there is none. */
const char *kar_stores_default_queue(const struct kar_stores *s) KAR_NONNULL KAR_RETNN;
/* Returns the PriorityClass @name (may be NULL), or NULL. */
const struct kar_priorityclass *kar_stores_priorityclass(const struct kar_stores *s, const char *name)
	__attribute__((nonnull(1)));
/* Returns the global default, or NULL. */
const struct kar_priorityclass *kar_stores_default_class(const struct kar_stores *s) KAR_NONNULL;
/* Returns the value of the global default, 0 if there is none. */
int32_t kar_stores_default_priority(const struct kar_stores *s) KAR_NONNULL;

#endif
