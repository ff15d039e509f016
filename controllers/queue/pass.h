/*
 * pass - the state of one pass of the Queue reconciler; internal to its shell (sync.c, observe.c).
 */
#ifndef KAR_QUEUE_PASS_H
#define KAR_QUEUE_PASS_H

#include "controllers/stores.h"
#include "controllers/queue/queue.h"

/* ms that a cluster autoscaler has to add nodes for a gang without room. */
#define QUEUE_PROVISION_TIMEOUT (15 * KAR_MINUTE)

struct queue_pass {
	const struct kar_stores *stores; /* borrowed, like .s; the rest is in the arena of .s */
	struct kar_sync *s;
	struct queue_snapshot snapshot;
	struct queue_decision *decisions;
	int32_t default_priority; /* of the global default PriorityClass */
	kar_time yields_in;       /* ms until the next group without members yields; KAR_NEVER: none will */
	bool for_positions;       /* the pass writes only positions */
	bool moved;               /* a group has only a new position */
	kar_time texts_in;        /* ms until numbers of nodes in texts may be written; <= 0: now */
	bool texts_wait;          /* there are new ones */
	/* ms until statuses of queues may be written in which only counts changed; <= 0: now */
	kar_time counts_in;
	bool counts_written;
	bool queues_are_read_only;  /* decision 032 */
	struct kar_snapshot *nodes; /* NULL: no group is placed */
	kar_class *classes;         /* of this pass alone; one reference each */
	size_t n_classes;
	kar_time min_runtime; /* ms for which a gang runs at least before it may be evicted */
	const char *served;   /* struct kar_settings, .direct_schedulers */
	const struct kar_settings *settings;
	kar_time retry_in; /* ms until the next group may be placed again; KAR_NEVER: none waits for that */
};

/* kar_controller.shared of this reconciler. */
struct queue_shared {
	bool waits_for_room; /* a group does: a pass is due whenever room comes free */
};

/* Fills in the snapshot from the caches; groups are in order. */
void queue_observe(struct queue_pass *p) KAR_NONNULL;
/*
 * @job has no pods and its pods cannot be created, so it must not take room in the queue. A job that has pods (of another task, or
 * from before an edit) keeps its admission.
 */
bool queue_job_is_invalid(const struct kar_queuejob *job) KAR_NONNULL;
/*
 * Returns one word for what an admitted job does, for the messages of those that wait: the reason while its gang starts or restarts,
 * else the phase. It changes a few times in the life of a job, never with a counter.
 */
const char *queue_job_state(const struct kar_queuejob *job) KAR_NONNULL KAR_RETNN;
/* The QueueJob whose group @g is; NULL: it is of no job, or the job is gone. */
const struct kar_queuejob *queue_job_of(const struct kar_stores *stores,
	const struct kar_podgroup *g) KAR_NONNULL;

/* --- write.c --------------------------------------------------------------------------------------- */

/* Adds the writes for groups, for queues, and for the queue "default" if it does not exist. */
void queue_write_groups(struct queue_pass *p) KAR_NONNULL;
void queue_write_queues(struct queue_pass *p) KAR_NONNULL;
void queue_ensure_default(struct queue_pass *p) KAR_NONNULL;
/* See struct kar_controller. */
int queue_encode(const struct kar_sync *s, const struct kar_action *a, struct kar_buf *out,
	struct kar_err *err) KAR_NONNULL;
bool queue_still_wanted(const struct kar_sync *s, const struct kar_action *a) KAR_NONNULL;
/* Measures how long an admission has taken. */
void queue_wrote(const struct kar_sync *s, const struct kar_action *a, const struct kar_answer *answer)
	__attribute__((nonnull(1)));

/* --- gangs.c --------------------------------------------------------------------------------------- */

/*
 * What the pass places of the group of @job; NULL: nothing, because another scheduler places its pods, or it is no gang. @admitted: it is, and
 * keeps its places.
 */
const struct queue_gang *queue_observe_gang(struct queue_pass *p, const struct kar_podgroup *g,
	const struct kar_queuejob *job, bool admitted) KAR_NONNULL;
/* The same of the members of @g, a group of another controller, whose pods exist before they are placed. */
const struct queue_gang *queue_observe_members(struct queue_pass *p, const struct kar_podgroup *g,
	bool admitted) KAR_NONNULL;
/* The highest priority of the members of @g, a group of another controller; without members the default. */
int32_t queue_highest_priority(const struct queue_pass *p, const struct kar_podgroup *g) KAR_NONNULL;
/* Its members are all there, and were never placed: it waits for places, even if it was admitted before they existed. */
bool queue_has_new_gang(const struct kar_podgroup *g, const struct queue_gang *gang)
	__attribute__((nonnull(1)));
/* Sets what every gang has, from the placement of its group. */
void queue_fill_gang(struct queue_pass *p, const struct kar_podgroup *g, struct queue_gang *out) KAR_NONNULL;
/*
 * Its minimum is bound, as its own status says, so its pods need not be looked at. Without a state nothing was placed, or it was admitted by
 * a version that placed nothing.
 */
bool queue_is_whole(const struct kar_podgroup *g) KAR_NONNULL;
/*
 * Adds to @gang, whose roles are complete, the room that is held for members of @g that do not exist yet. False: nothing is (hold.c).
 */
bool queue_hold(struct queue_pass *p, const struct kar_podgroup *g, struct queue_gang *gang) KAR_NONNULL;
/* What the pods of a group that may be evicted, or is being evicted, use. */
struct queue_used {
	const struct queue_seat *seats; /* in the arena; NULL: it may not be evicted */
	size_t n;
	kar_time started; /* wall ms, when it was admitted */
};
struct queue_used queue_observe_used(struct queue_pass *p, const struct kar_podgroup *g,
	bool admitted) KAR_NONNULL;
/* The plan of a gang of bound pods of others with @places (NULL: none) for members that came after its start; in @a. */
struct kar_pg_placement queue_renew_pods(const struct queue_group *qg, const struct kar_placement *places,
	struct kar_arena *a) __attribute__((nonnull(1, 3)));
/* Forgets the classes of the pass. */
void queue_forget_classes(struct queue_pass *p) KAR_NONNULL;
/* The group is to be placed again: its admission holds nothing. */
bool queue_waits_for_places(const struct kar_podgroup *g) KAR_NONNULL;
/* The record of @places (NULL: it waits for new nodes) for the status of the group, whose attempt begins now (wall ms, whole seconds); in the arena. */
struct kar_pg_placement queue_record_places(const struct queue_group *qg, const struct kar_placement *places,
	kar_time now, struct kar_arena *a) __attribute__((nonnull(1, 4)));

/* --- renew.c --------------------------------------------------------------------------------------- */

/* The record of a gang that renews its plan (struct queue_gang), as decided; in the arena. */
struct kar_pg_placement queue_renew_places(const struct queue_group *qg, const struct queue_decision *d,
	kar_time now, struct kar_arena *a) KAR_NONNULL;

#endif
