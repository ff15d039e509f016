/*
 * plan - what a decide function wants done: the only output of the pure heart.
 *
 * A plan is data: at most one status write, the events that go with it, Kubernetes verbs on objects, and when to
 * look again. The executor (controllers/apply.h) carries it out in this order: (1) the status write, if there is
 * one; (2) its events, once it has succeeded; (3) the actions. "Record first, act afterwards" is what makes a crash
 * between any two calls harmless: whatever must be counted once is in status before the evidence is removed.
 *
 * Everything lives in the sync's arena. Plans print themselves (kar_plan_print) as the text that the tests compare
 * and that -v 4 logs. Pure: no I/O.
 */
#ifndef KAR_PLAN_H
#define KAR_PLAN_H

#include "common/buf.h"
#include "common/kube/object.h"
#include "common/kube/verb.h"
#include "common/mem.h"

/*
 * Which waiting write goes out first when the client's in-flight or rate limit bites; compared over all keys of
 * all controllers. Lower tier first; in KAR_TIER_MINIMUM then priority (high first), age (old first), key, seq;
 * in KAR_TIER_EXTRA then seq (the round: round robin over jobs), priority, age, key (design queuejob.md, Creation 2).
 */
enum kar_tier {
	KAR_TIER_CONTROL, /* status, deletes, children that pods depend on: first come, first served */
	KAR_TIER_MINIMUM, /* pods that make up a quorum */
	KAR_TIER_EXTRA,   /* pods beyond it */
};

struct kar_rank {
	enum kar_tier tier;
	int32_t priority; /* of the job */
	kar_time age;     /* its creationTimestamp, wall */
	/* minimum: position in the job; extra: the round, i.e. how many extras the job has before it */
	uint32_t seq;
};

struct kar_action {
	enum kar_verb verb; /* KAR_CREATE, KAR_PATCH, KAR_DELETE, or KAR_GET for a live read */
	const struct kar_type *type;
	const char *ns, *name;
	const char *subresource;        /* "status", or NULL */
	enum kar_patch_type patch_type; /* KAR_PATCH only */
	const char *uid;                /* precondition for patch and delete; NULL: none */
	kar_rv rv;                      /* likewise, where the object must be as it was read; 0: none */
	/* KAR_CREATE only: a question, to which refused() or wrote() of the controller get the answer; it changes nothing */
	bool dry_run;
	int what; /* the controller's own number: its encoder makes the body from it and @payload */
	const void *payload; /* in the plan's arena */
	const char *note;    /* for the printed plan: "task=worker index=3"; may be NULL */
	struct kar_rank rank;
};

/* How a gang waits for nodes that others may hold (node_line.h). */
enum kar_node_wait {
	KAR_NODES_NONE,   /* it does not */
	KAR_NODES_WAITS,  /* its pods exist, and none has a node */
	KAR_NODES_HOLDS,  /* some of them have one */
	KAR_NODES_LEAVES, /* it gives them back: its pods are on their way out */
	KAR_NODES_RESTS,  /* it has none, and does not ask for any yet */
	KAR_NODES_AWAY,   /* it has none, and tries again when nobody goes before it */
	KAR_NODES_STATES
};

struct kar_plan_event {
	bool warning;
	const char *reason, *action, *note;
};

struct kar_plan {
	struct kar_arena *arena; /* the sync's; borrowed */
	/*
	 * New content of the object's status in the controller's own type, or NULL: nothing changed. @urgent: it tells
	 * a new story (phase, condition, reason) and goes out at once. Otherwise the executor may hold it back (pace.h) and fold
	 * it into the next; @counters: nothing but numbers moved, or (QueueJob) the first start: what may be late under load.
	 */
	const void *status;
	const char *status_text; /* for the printed plan: "phase=Running running=3 ..." */
	bool urgent, counters;
	struct kar_plan_event *events; /* about the key's object */
	size_t n_events;
	struct kar_action *actions;
	size_t n_actions;
	/*
	 * More creates are wanted than it has: the refusal of an earlier one is not forgotten with it. If it is not set where it
	 * should be, a key that waits for a ResourceQuota loses its place in the line (quota_line.h).
	 */
	bool unfinished;
	bool makes_room; /* it has none, but wants some when objects that it takes away are seen to be deleted */
	bool metered; /* a ResourceQuota limits what it creates: whether there is room is to be seen each time */
	/* Objects that it takes back because the create of another was refused, and one is of no use without the other. */
	int32_t taken_back;
	enum kar_node_wait nodes; /* from now on */
	bool frees_nodes;         /* it ends, and others can have what it holds */
	int32_t lost_turns;       /* to others that wait for nodes */
	kar_time nodes_since;     /* wall ms, when it began to wait for them */
	/* ms until the key should be looked at again at the latest; KAR_NEVER: on events only */
	kar_time requeue_after;
};

/* It makes an object. */
static inline bool kar_action_creates(const struct kar_action *a)
{
	return a->verb == KAR_CREATE && !a->dry_run;
}

void kar_plan_init(struct kar_plan *p, struct kar_arena *arena) KAR_NONNULL;
/* Appends an action and returns it (zeroed) to be filled in. Valid until the next kar_plan_add(). */
struct kar_action *kar_plan_add(struct kar_plan *p, enum kar_verb verb, const struct kar_type *type,
	const char *ns, const char *name) __attribute__((nonnull(1, 3, 5)));
/* Note is a printf text made in the arena. */
void kar_plan_event(struct kar_plan *p, bool warning, const char *reason, const char *action, const char *fmt,
	...) KAR_PRINTF(5, 6);
/* Does it have an action with the number @what? */
bool kar_plan_has(const struct kar_plan *p, int what) KAR_NONNULL;
/* Asks for another look in @ms; keeps the earliest. */
void kar_plan_requeue(struct kar_plan *p, kar_time ms) KAR_NONNULL;
/* "create pods default/j-w-0 (task=w index=0); status phase=Starting; event Normal Admitted ...; requeue 10s" */
void kar_plan_print(const struct kar_plan *p, struct kar_buf *out) KAR_NONNULL;
/* <0: @a goes before @b. @key_a, @key_b break ties. */
int kar_rank_compare(const struct kar_rank *a, const char *key_a, const struct kar_rank *b,
	const char *key_b) KAR_NONNULL;

#endif
