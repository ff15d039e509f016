/*
 * stores - the caches that the reconcilers read, the only list of their kinds, and the snapshot for placement; what else all
 * reconcilers share: the settings from the command line (struct kar_settings), and how a change of a pod enqueues a key
 * (kar_enqueue_pod).
 *
 * Each kind in KAR_STORES is listed, watched and cached; test_stores compares the list with manifests/rbac.yaml.
 */
#ifndef KAR_STORES_H
#define KAR_STORES_H

#include "api/types.h"
#include "controllers/cluster/capacity.h"
#include "controllers/cluster/devices.h"
#include "controllers/cluster/expected.h"
#include "controllers/cluster/native.h"
#include "controllers/cluster/snapshot.h"
#include "controllers/cluster/templates.h"
#include "controllers/cluster/usage.h"
#include "controllers/runtime/controller.h"
#include "controllers/runtime/manager.h"

#define KAR_IF_NO_CRD \
	"the CustomResourceDefinition is not installed: kubectl apply -f manifests/crds/; waiting for it"

/* Clusters before Kubernetes 1.34 have no devices to count, and an administrator may not grant this. */
#define KAR_IF_NO_DEVICES "devices of DeviceClasses are not counted"

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
	X(resourceclaims, kar_resourceclaim_type, NULL, KAR_IF_NO_DEVICES)

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
	struct kar_templates
		*templates;        /* what the API server has said of pods of jobs; owned (templates.h) */
	const char *default_queue; /* --default-queue; borrowed; NULL: "default" */
};
#undef KAR_STORES_MEMBER

#define KAR_STORES_NUMBER(name, type, selector, remedy) KAR_STORE_##name,
enum { KAR_STORES(KAR_STORES_NUMBER) KAR_N_STORES };
#undef KAR_STORES_NUMBER

/* --gang-backend: what starts the gangs of QueueJobs whole. */
enum kar_gang_backend {
	KAR_GANGS_BY_GATES,  /* we choose the nodes */
	KAR_GANGS_BY_NATIVE, /* the PodGroups of Kubernetes, or the job waits and says why */
	KAR_GANGS_BY_EITHER, /* those, where they can do what the job asks for, else we */
};

/* Settings from the command line that decisions depend on, and what the cluster offers. */
struct kar_settings {
	/* --default-queue: of who names none; NULL: "default"; KAR_NO_DEFAULT_QUEUE: none is. Read kar_stores_default_queue(). */
	const char *default_queue;
	kar_time min_runtime; /* ms, --min-runtime: a gang is not evicted before it has run for so long */
	/* ms each, 0: off: what the pass of queues takes (docs/design/queue.md, 2). */
	kar_time aging_interval, starvation_timeout, freezing_window;
	int32_t max_load_permille; /* --max-load-desired in thousandths; 0: 1000 */
	kar_time schedule_timeout; /* ms, --schedule-timeout; at most INT32_MAX seconds */
	/* --namespace is set. Groups of other namespaces may use the same queues, so Queues are neither created nor written. */
	bool one_namespace;
	const char *direct_schedulers; /* "a,b": names whose pods are created bound; NULL or "": none */
	enum kar_gang_backend gang_backend;
	kar_time
		native_interval; /* ms, --native-interval: between two looks at what the API server has; 0: 30 s */
	struct kar_native native; /* unknown with KAR_GANGS_BY_GATES, which does not ask */
};
/* The same, as far as whole nodes are seen: a manager of one namespace places nothing. */
static inline const char *kar_settings_served(const struct kar_settings *s)
{
	return s->one_namespace ? NULL : s->direct_schedulers;
}
static inline kar_time kar_native_interval(const struct kar_settings *s)
{
	return s->native_interval > 0 ? s->native_interval : 30 * KAR_SECOND;
}
/* Are there no PodGroups of Kubernetes for groups that were started with them? */
static inline bool kar_native_is_lost(const struct kar_settings *s)
{
	return s->gang_backend == KAR_GANGS_BY_GATES || (s->native.known && !s->native.type);
}

/* Makes empty caches, which the snapshot, the usage and the capacity are the first to listen to. Their strings are in @strings, which is borrowed. */
void kar_stores_init(struct kar_stores *s, struct kar_intern *strings) KAR_NONNULL;
void kar_stores_release(struct kar_stores *s) KAR_NONNULL;
/* Fills in @out with the caches for the manager, in the order of KAR_STORES. */
void kar_stores_list(const struct kar_stores *s, struct kar_cache out[KAR_N_STORES]) KAR_NONNULL;

/*
 * Like kar_enqueue(), for a change of a pod of @key from @old (NULL: it is new) to @new (NULL: it is gone). Progress (the pod was
 * created or bound, runs or has succeeded) waits for the cool-down of the key (write_rate.h), because each of its pods causes such
 * changes. A loss does not wait.
 */
void kar_enqueue_pod(struct kar_controller *c, const char *key, const struct kar_pod *old,
	const struct kar_pod *new) __attribute__((nonnull(1, 2)));
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
