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
#include "controllers/plan.h"

struct kar_json_writer;
struct kar_priorityclass;
struct kar_refusal;

/* The shared caches. All reconcilers see the same ones. */
struct kar_stores {
	struct kar_store *pods, *queuejobs, *podgroups, *schedulingspecs, *queues, *priorityclasses;
};

/* Settings from the command line that decisions depend on. */
struct kar_settings {
	kar_time schedule_timeout; /* ms, --schedule-timeout; at most INT32_MAX seconds */
	uint64_t seed;
};

/* What is remembered per key between two syncs, in memory only; losing it costs at most a repeated attempt. */
struct kar_key_state {
	struct kar_refusal *refusal; /* the create that was refused last (see refusal.h); owned; NULL: none */
	uint64_t logged;             /* hash of the last failure that was logged as an error; 0: none since */
	kar_time status_written;     /* mono, of the last status write; 0: never */
	int32_t owner_checked; /* incarnation for which the owner was read from the API server (see queuejob) */
	uint64_t owner_uid;    /* hash of the UID that it had: the key may have got another object since */
	kar_rv owner_latest;   /* a version of it that was the latest one when it was read; 0: none */
	kar_time owner_asked; /* mono, when that was last asked for; 0: never */
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
	int32_t pods; /* live pods of the key: with fewer a refused create may pass (see refusal.h) */
};

struct kar_controller {
	const char *name; /* "queuejob"; prefix of keys in logs and metrics */
	const struct kar_stores *stores;
	const struct kar_settings *settings;
	struct kar_workqueue *queue;
	struct kar_barrier *barrier;
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
	/* A write of this sync has succeeded; NULL: not interested. @a is NULL for the status write. */
	void (*wrote)(const struct kar_sync *s, const struct kar_action *a, const struct kar_answer *answer);
};

/*
 * For store listeners: a change in @store concerns @key. What its first list brings waits behind what changes now.
 */
void kar_enqueue(struct kar_controller *c, const struct kar_store *store, const char *key) KAR_NONNULL;
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
