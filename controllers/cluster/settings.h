/*
 * settings - what decisions depend on beside objects: the command line, and what the cluster offers. All reconcilers read it as
 * kar_controller.settings.
 */
#ifndef KAR_SETTINGS_H
#define KAR_SETTINGS_H

#include "api/types.h"
#include "common/base/base.h"
#include "common/kube/object.h"
#include "controllers/cluster/preemptible.h"

/* What is known about the PodGroups of Kubernetes itself (native.h). */
struct kar_native {
	bool known;                  /* false: there was no answer yet */
	const struct kar_type *type; /* of the PodGroups to be used; NULL: there are none */
	char why_not[256];           /* with .known and without .type: for people */
};

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
	kar_time
		usage_half_life; /* ms, --usage-half-life: top queues go by what they have had; 0: by shares */
	int32_t max_load_permille;                /* --max-load-desired in thousandths; 0: 1000 */
	struct kar_preemptible_limit preemptible; /* --preemptible-below */
	kar_time schedule_timeout;                /* ms, --schedule-timeout; at most INT32_MAX seconds */
	/* --namespace is set. Groups of other namespaces may use the same queues, so Queues are neither created nor written. */
	bool one_namespace;
	bool recounts;                 /* of tests: struct kar_queue_snapshot */
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

#endif
