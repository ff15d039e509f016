/*
 * controller - a reconciler: a name, the caches it listens to, and one function per key.
 *
 * The only input of a reconciler is a key ("namespace/name"). sync() observes the caches, calls its pure decide function
 * and leaves the plan in the sync; the manager then lets the executor carry it out. One key of a controller
 * is never in two syncs at once. Reconcilers talk to each other only through API objects.
 *
 * The runtime knows no kind: the caches, and the memory of a reconciler about a key, are opaque to it.
 */
#ifndef KAR_CONTROLLER_H
#define KAR_CONTROLLER_H

#include <bsd/sys/tree.h>

#include "common/kube/barrier.h"
#include "common/kube/client.h"
#include "common/kube/store.h"
#include "common/kube/workqueue.h"
#include "controllers/runtime/plan.h"
#include "controllers/runtime/write_rate.h"

struct kar_create_backoff;
struct kar_json_writer;
struct kar_metrics;
struct kar_settings;
struct kar_stores;

/* The memory about one key between two syncs. It is not stored; its loss costs at most a repeated attempt. */
struct kar_key_state {
	/* After a refused create; owned; NULL: none was refused (create_backoff.h). */
	struct kar_create_backoff *backoff;
	int window; /* most objects that one plan has created since the last failed create, at most 32; 0: none (slow_start.h) */
	uint64_t window_owner; /* hash of UID and generation of the object then */
	/* Hashes of the kinds of failures that were reported since the last success, the latest first; 0: none (failure.h). */
	uint64_t reported[4];
	struct kar_cooldown cooldown; /* how often the key is synced */
	kar_time status_written;      /* mono, of the last status write; 0: never */
	void *memory; /* opaque, of the reconciler: .memory_size bytes, zeroed at first; NULL if that is 0 */
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
	int64_t generation;              /* of the object; 0 where the back-off does not depend on it */
	int32_t live; /* live objects of the key: a refused create may succeed once they are fewer (create_backoff.h) */
	size_t objects; /* objects or indexes that were read: the cost of the sync (write_rate.h) */
};

struct kar_controller {
	const char *name;                    /* prefix of keys in logs and metrics; static */
	const struct kar_stores *stores;     /* the caches, which all reconcilers share; borrowed */
	const struct kar_settings *settings; /* settings that decisions depend on; borrowed */
	struct kar_metrics *metrics;         /* what it counts; borrowed; NULL: nothing */
	struct kar_workqueue *queue;
	struct kar_barrier *barrier;
	size_t memory_size; /* bytes of kar_key_state.memory */
	void *shared;       /* opaque, of the reconciler, for all keys; freed by its stop(); NULL: nothing */
	RB_HEAD(kar_short_of, kar_create_backoff)
	short_of; /* keys by namespace and rank (create_backoff.h) */
	/*
	 * Registers store listeners that enqueue keys. @c is ready to use. Called once before the first list.
	 */
	void (*start)(struct kar_controller *c);
	/* Frees .shared. No key is synced or remembered any more. NULL: nothing to do. */
	void (*stop)(struct kar_controller *c);
	/*
	 * Observe and decide. False: nothing was decided, because the key should only be forgotten (its object is
	 * gone), or because it is too early (s->plan.requeue_after is then set), e.g. for the caches.
	 */
	bool (*sync)(struct kar_controller *c, struct kar_sync *s);
	/* Appends the body of one action. -1: the object cannot be built (KAR_INVALID), which is reported like a refusal. */
	int (*encode)(const struct kar_sync *s, const struct kar_action *a, struct kar_buf *out,
		struct kar_err *err);
	/*
	 * Body of the status patch: {"metadata":{...preconditions},"status":{...}}. Returns the subresource that is patched, "status" or, where
	 * annotations have what is to be kept, NULL.
	 */
	const char *(*encode_status)(const struct kar_sync *s, struct kar_buf *out);
	/* Called just before an action is sent: is it still wanted? NULL: always. */
	bool (*still_wanted)(const struct kar_sync *s, const struct kar_action *a);
	/*
	 * Called for the creates that fail until one is refused (that one included), for any other action that is refused, and for a
	 * failed dry run, which has no other consequence. NULL: not interested.
	 */
	void (*refused)(const struct kar_sync *s, const struct kar_action *a, const struct kar_err *err);
	/* A write of this sync has succeeded; NULL: not interested. @a is NULL for the status write. */
	void (*wrote)(const struct kar_sync *s, const struct kar_action *a, const struct kar_answer *answer);
	/* The key is not needed any more: frees what @memory refers to, not @memory itself; NULL: nothing. */
	void (*forget)(void *memory);
};

enum {
	KAR_MARK_AGAIN =
		60000, /* ms until a mark that was refused is tried again; without it what must go goes unmarked */
	KAR_UNREADABLE_RETRY =
		30000, /* ms between two syncs of a key that depends on an object that is unreadable */
};

/*
 * For store listeners: a change in @store concerns @key. Keys of the first list of a store wait behind those of later changes.
 */
void kar_enqueue(struct kar_controller *c, const struct kar_store *store, const char *key) KAR_NONNULL;
/*
 * Writes the member "metadata" of a patch that applies only to @o as it was read: a decision on older data must be repeated.
 */
void kar_write_preconditions(struct kar_json_writer *w, const struct kar_object *o) KAR_NONNULL;
/* The same without the braces, for a patch that changes the metadata itself. */
void kar_write_precondition_members(struct kar_json_writer *w, const struct kar_object *o) KAR_NONNULL;

#endif
