/*
 * controller - what a reconciler is: a name, the stores it listens to, and one function per key.
 *
 * A key ("namespace/name") is all a reconciler is told. sync() observes the caches, calls its pure decide function
 * and leaves the plan in the sync; the manager then lets the executor carry it out. One key of a controller
 * is never in two syncs at once. Reconcilers talk to each other only through API objects.
 */
#ifndef KAR_CONTROLLER_H
#define KAR_CONTROLLER_H

#include "common/kube/barrier.h"
#include "common/kube/client.h"
#include "common/kube/store.h"
#include "common/kube/workqueue.h"
#include "controllers/pace.h"
#include "controllers/plan.h"

struct kar_json_writer;
struct kar_node_line;
struct kar_node_place;
struct kar_pod;
struct kar_priorityclass;
struct kar_quota_line;
struct kar_refusal;
struct queuejob_memory;

/* The shared caches. All reconcilers see the same ones. */
struct kar_stores {
	struct kar_store *pods, *queuejobs, *podgroups, *schedulingspecs, *queues, *priorityclasses;
	struct kar_store *services; /* those with our label */
	struct kar_store *resourcequotas;
};

/* Settings from the command line that decisions depend on. */
struct kar_settings {
	kar_time schedule_timeout; /* ms, --schedule-timeout; at most INT32_MAX seconds */
	uint64_t seed;
};

/* What is remembered per key between two syncs, in memory only; losing it costs at most a repeated attempt. */
struct kar_key_state {
	struct kar_refusal *
		refusal; /* the create that was refused first in the last such plan (see refusal.h); owned; NULL: none */
	struct queuejob_memory *job; /* see queuejob/memory.h; owned; NULL: nothing */
	/* Of the pods that it is creating, see api/pod_stencil.h; owned; NULL: none. */
	struct kar_pod_stencil *stencil;
	struct kar_node_place *nodes; /* among those that wait for nodes; owned; NULL: it does not wait */
	int window; /* the most pods that one plan has created, at most 32, none failed since (see slow_start.h); 0: none */
	uint64_t window_owner; /* hash of UID and generation of the object then */
	uint64_t told
		[4]; /* hashes of kinds of failures, the latest first, since a plan went through (see failure.h); 0: none */
	struct kar_rest rest;    /* how often the key is looked at */
	kar_time status_written; /* mono, of the last status write; 0: never */
	int32_t owner_checked; /* incarnation for which the owner was read from the API server (see queuejob) */
	uint64_t owner_uid;    /* hash of the UID that it had: the key may have got another object since */
	kar_rv owner_latest;   /* a version of it that was the latest one when it was read; 0: none */
	kar_time owner_asked; /* mono, when that was last asked for; 0: never */
	/* Of the cache of pods, when that was asked for last, and when it was for owner_latest. */
	kar_rv owner_asked_pods, owner_latest_pods;
	uint64_t deleted_uid; /* hash of the UID of the object that we have deleted; 0: none */
	kar_time last_pass;   /* mono, of the last pass over all queues; 0: never (see queue) */
	/* mono, of the last round of writes that only moved positions; 0: never (see queue) */
	kar_time last_positions;
};

/* One key being synced. Lives until its plan is carried out. */
struct kar_sync {
	struct kar_controller *controller;
	const char *key;
	kar_time now; /* wall */
	kar_time mono;
	struct kar_arena arena; /* of view and plan */
	struct kar_plan plan;
	struct kar_key_state *state;
	/* The object whose status plan.status is, for the write's preconditions and as subject of the events. */
	const struct kar_object *object; /* referenced; NULL if the key has no object */
	int64_t generation;              /* its own; 0 where that plays no part */
	int32_t pods;   /* live pods of the key: with fewer a refused create may pass (see refusal.h) */
	size_t objects; /* that were looked at, as far as their number grows with the key (see pace.h) */
};

struct kar_controller {
	const char *name; /* "queuejob"; prefix of keys in logs and metrics */
	const struct kar_stores *stores;
	const struct kar_settings *settings;
	struct kar_workqueue *queue;
	struct kar_barrier *barrier;
	struct kar_quota_line *line; /* of keys whose creates a quota has refused; NULL: there is none */
	struct kar_node_line *nodes; /* of gangs that wait for nodes; NULL: there is none */
	/*
	 * Registers store listeners that enqueue keys. @c is ready to use. Called once before the first list.
	 */
	void (*start)(struct kar_controller *c);
	/*
	 * Observe and decide. False: nothing was decided, because the key should only be forgotten (its object is
	 * gone), or because it is too early (s->plan.requeue_after is then set), e.g. for the caches.
	 */
	bool (*sync)(struct kar_controller *c, struct kar_sync *s);
	/* Body of one action. -1: the object cannot be built (KAR_INVALID), which is reported like a refusal. */
	int (*encode)(const struct kar_sync *s, const struct kar_action *a, struct kar_buf *out,
		struct kar_err *err);
	/* Body of the status patch: {"metadata":{...preconditions},"status":{...}}. */
	void (*encode_status)(const struct kar_sync *s, struct kar_buf *out);
	/* May an action that has not been sent still go out? Asked just before it is sent; NULL: always. */
	bool (*still_wanted)(const struct kar_sync *s, const struct kar_action *a);
	/*
	 * The first create of this sync that was refused, or one that failed before in another way; any other action that was
	 * refused; and any dry run, for which there is no other consequence. NULL: not interested.
	 */
	void (*refused)(const struct kar_sync *s, const struct kar_action *a, const struct kar_err *err);
	/*
	 * May the pods that the sync wants need what others lack (see quota_line.h)? Asked before creates of pods go out; NULL: they
	 * may need anything.
	 */
	bool (*may_need)(const struct kar_sync *s, const char *quota, const char *resource);
	/* Does the ResourceQuota @quota of the key's namespace hold only for some pods? NULL: none does. */
	bool (*has_scopes)(const struct kar_sync *s, const char *quota);
	/* The key is not needed any more: gives back what the controller remembers of it in @state; NULL: nothing. */
	void (*forget)(struct kar_key_state *state);
	/* A write of this sync has succeeded; NULL: not interested. @a is NULL for the status write. */
	void (*wrote)(const struct kar_sync *s, const struct kar_action *a, const struct kar_answer *answer);
};

/*
 * For store listeners: a change in @store concerns @key. What its first list brings waits behind what changes now.
 */
void kar_enqueue(struct kar_controller *c, const struct kar_store *store, const char *key) KAR_NONNULL;
/*
 * The same for a change of a pod of @key, from @old (NULL: none) to @new (NULL: gone). That it was created, bound, runs or has
 * succeeded is progress, which may wait until the key has rested (pace.h): there is one such event for each of its pods. A loss
 * may not.
 */
void kar_enqueue_pod(struct kar_controller *c, const char *key, const struct kar_pod *old,
	const struct kar_pod *new) __attribute__((nonnull(1, 2)));
/* The PriorityClass @name, or NULL; @name may be NULL. Value of the global default, 0 if there is none. */
const struct kar_priorityclass *kar_stores_priorityclass(const struct kar_stores *s, const char *name)
	__attribute__((nonnull(1)));
int32_t kar_stores_default_priority(const struct kar_stores *s) KAR_NONNULL;
/*
 * Writes the member "metadata" of a patch that only applies to @o as it was read: whoever decided on older data must
 * decide anew.
 */
void kar_write_preconditions(struct kar_json_writer *w, const struct kar_object *o) KAR_NONNULL;

/* The three reconcilers. Each fills in @c's functions. Static registration in manager.c. */
void kar_queuejob_controller(struct kar_controller *c) KAR_NONNULL;
void kar_podgroup_controller(struct kar_controller *c) KAR_NONNULL;
void kar_queue_controller(struct kar_controller *c) KAR_NONNULL;

#endif
