/*
 * plan - the only output of a decide function.
 *
 * A plan is data: at most one status write, its events, Kubernetes verbs on objects, and when to sync the key again.
 * The executor (controllers/runtime/executor.h) carries it out in this order: (1) the status write, if there is
 * one; (2) its events, once it has succeeded; (3) the actions. "Record first, act afterwards" makes a crash
 * between any two calls harmless: whatever must be counted once is in status before the evidence is removed.
 *
 * Everything lives in the sync's arena. Plans print themselves (kar_plan_print) as the text that the tests compare
 * and that -v 4 logs. Pure: no I/O.
 */
#ifndef KAR_PLAN_H
#define KAR_PLAN_H

#include "common/base/buf.h"
#include "common/base/mem.h"
#include "common/kube/object.h"
#include "common/kube/verb.h"

/*
 * The order of waiting writes, of all keys of all controllers, when the in-flight or rate limit of the client is reached. Control
 * writes alternate with creates, and namespaces take turns (turns.h); the control writes of one namespace are ordered by priority,
 * then by arrival. KAR_TIER_MINIMUM is ordered by priority (high first), age (old first), key, seq; KAR_TIER_EXTRA by seq (the
 * round: round robin over jobs), priority, age, key (docs/design/queuejob.md, Creation 2).
 */
enum kar_tier {
	KAR_TIER_CONTROL,    /* status, deletes, objects that others depend on: namespaces take turns */
	KAR_TIER_MINIMUM,    /* creates that make up a quorum */
	KAR_TIER_EXTRA,      /* creates beyond it */
	KAR_TIER_BACKGROUND, /* writes that only change numbers for display */
};

struct kar_rank {
	enum kar_tier tier;
	/* Of the object that asks for it. Among control writes of a plan for all namespaces the highest counts, for all of them. */
	int32_t priority;
	kar_time age; /* its creationTimestamp, wall */
	/* minimum: position in the job; extra: the round, i.e. the number of extras that the job has before it */
	uint32_t seq;
};

struct kar_plan_event {
	bool warning;
	const char *reason, *action, *note;
	/* About another object than the key's: its type, ns, name and uid, in the arena. NULL: about the key's object. */
	const struct kar_object *about;
};

struct kar_action {
	/* A KAR_CREATE with a .subresource, such as "binding", is about the object .name, and makes none. */
	enum kar_verb verb; /* KAR_CREATE, KAR_PATCH, KAR_DELETE, or KAR_GET for a live read */
	const struct kar_type *type;
	const char *ns, *name;
	const char *subresource;        /* "status", or NULL */
	enum kar_patch_type patch_type; /* KAR_PATCH only */
	const char *uid;                /* precondition for patch and delete; NULL: none */
	kar_rv rv;                      /* likewise, where the object must be as it was read; 0: none */
	/* KAR_CREATE only: changes nothing in the cluster; the answer goes to refused() or wrote() of the controller */
	bool dry_run;
	bool whole_answer; /* KAR_CREATE only: wrote() gets the object as it is stored, else its metadata only; a dry run always does */
	bool strict; /* KAR_CREATE only: a field that the API server does not know makes the object invalid */
	/*
	 * Of a plan for all namespaces: goes before the others of its tier, and is sent although something has changed since the plan was
	 * made (executor.h), as long as that is a moment ago.
	 */
	bool firm;
	/*
	 * KAR_CREATE only: the label by which the caches find such objects, and its value is the name of the key's object; NULL: they
	 * show all. One that exists without it is never seen: it is in the way, whosever it is.
	 */
	const char *seen_by;
	bool may_refuse; /* a 429 or 500 is an answer about this object, not about the server: it ends no plan, and goes to refused() */
	int what;        /* the controller's own number: its encoder makes the body from it and @payload */
	const void *payload; /* in the plan's arena */
	const struct kar_plan_event
		*event;   /* about the object, whose .uid is given, once this has succeeded; NULL: none */
	const char *note; /* for the printed plan: "task=worker index=3"; may be NULL */
	struct kar_rank rank;
};

struct kar_plan {
	struct kar_arena *arena; /* the sync's; borrowed */
	/*
	 * New content of the object's status in the controller's own type, or NULL: nothing changed. @urgent: the phase, a condition or a
	 * reason is new, and the write is sent at once. Otherwise the executor may hold it back (write_rate.h) and fold it into the next.
	 * @counters: only numbers changed, or facts that other objects show as well; such a write may be late under load.
	 * @answers: the first status of the object, which says already why it waits. Its user looks at it, so it is sent at once, but in a burst.
	 */
	const void *status;
	const char *status_text; /* for the printed plan: "phase=Running running=3 ..." */
	bool urgent, counters, answers;
	int32_t priority; /* of the key's object; ranks the status write and all of KAR_TIER_CONTROL */
	struct kar_plan_event *events; /* about the key's object */
	size_t n_events;
	bool events_alone; /* there is no status to be written first, and no action: they are recorded at once */
	struct kar_action *actions;
	size_t n_actions;
	/*
	 * More creates are wanted than the plan has, so the refusal of an earlier one is not forgotten. If a plan fails to set it, the
	 * key loses its place in the order of those that are short of something (create_backoff.h).
	 */
	bool unfinished;
	bool makes_room; /* it has no creates, but will once the deletions that it asks for are seen */
	bool metered; /* the API server limits how many objects may exist, so each plan must find out whether there is room */
	/* Number of objects that it deletes because they are useless without one whose create was refused. */
	int32_t rolled_back;
	/* For the reconciler's own sync(), in the arena; NULL: nothing. @note: its text in the printed plan. */
	const void *extra;
	const char *note;
	/* ms until the key is synced again at the latest; KAR_NEVER: on events only */
	kar_time requeue_after;
};

/* Does it make an object? A dry run does not, nor a create below an object. */
static inline bool kar_action_creates(const struct kar_action *a)
{
	return a->verb == KAR_CREATE && !a->dry_run && !a->subresource;
}

void kar_plan_init(struct kar_plan *p, struct kar_arena *arena) KAR_NONNULL;
/* Appends an action and returns it (zeroed) to be filled in. Valid until the next kar_plan_add(). */
struct kar_action *kar_plan_add(struct kar_plan *p, enum kar_verb verb, const struct kar_type *type,
	const char *ns, const char *name) __attribute__((nonnull(1, 3, 5)));
/* Appends an event; its note is a printf text made in the arena. */
void kar_plan_event(struct kar_plan *p, bool warning, const char *reason, const char *action, const char *fmt,
	...) KAR_PRINTF(5, 6);
/* The last event that was added is about @o. */
void kar_plan_event_about(struct kar_plan *p, const struct kar_object *o) KAR_NONNULL;
/* Does it have an action with the number @what? */
bool kar_plan_has(const struct kar_plan *p, int what) KAR_NONNULL;
/*
 * Sorts the actions, which must not depend on each other, so that namespaces take turns: by tier, firm ones first, and then the first action
 * of every namespace comes before the second of any. The actions of one namespace keep their order.
 */
void kar_plan_take_turns(struct kar_plan *p) KAR_NONNULL;
/* Requeues the key in @ms, unless it is requeued earlier already. */
void kar_plan_requeue(struct kar_plan *p, kar_time ms) KAR_NONNULL;
/* "create things default/t-0 (index=0); status phase=Starting; event Normal Admitted ...; requeue 10s" */
void kar_plan_print(const struct kar_plan *p, struct kar_buf *out) KAR_NONNULL;
/* <0: @a goes before @b. @key_a, @key_b break ties. */
int kar_rank_compare(const struct kar_rank *a, const char *key_a, const struct kar_rank *b,
	const char *key_b) KAR_NONNULL;

#endif
