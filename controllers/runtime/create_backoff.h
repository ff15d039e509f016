/*
 * create_backoff - the back-off of creates that the API server refused: its answer, and when the next try is due.
 *
 * A key has at most one, in memory, and only after a refusal. Every event of the key leads to a new plan, and every plan
 * would send the creates again; so the manager holds them back until they are due (after 500 ms, doubling up to
 * 30 s; up to 10 min if the object is invalid). They are tried at once when the answer may have changed: the object was
 * edited or replaced by another of its name, or the key has fewer live objects than when it was refused. After a try that
 * had to roll back objects, the wait grows with their number.
 *
 * A controller may have a gate (struct kar_create_gate), which knows the waiting creates of all keys, orders them, and reports
 * when an answer may have changed. Then the first key tries early: twice, because the API server updates its usage counts a moment
 * later, and at most every 5 s if the gate reports changes all the time. Those that come after others try late.
 */
#ifndef KAR_CREATE_BACKOFF_H
#define KAR_CREATE_BACKOFF_H

#include "controllers/runtime/controller.h"

struct kar_create_backoff {
	struct kar_err err;
	const struct kar_type *type; /* of the refused create, as .tier and .name */
	enum kar_tier tier;
	char name[KAR_KEY_LEN];
	/* UID and generation of the key's object then */
	char uid[64];
	int64_t generation;
	int32_t live;              /* highest number of live objects of the key since the refusal */
	unsigned tries;            /* in a row */
	kar_time again;            /* mono: the next try; the gate may allow an earlier one */
	void *entry;               /* of this key at the gate; owned; NULL: none */
	kar_time at;               /* mono, of the last answer in this try */
	bool early;                /* the running try is an early one */
	unsigned misses;           /* early tries that failed, in a row */
	bool trying;               /* the creates are allowed, and none was refused yet */
	int32_t tried_with;        /* live objects of the key then */
	kar_time since;            /* mono, of the first refusal in a row in this tier */
	kar_time makes_room_since; /* mono; KAR_NEVER: the plan does not make room */
	int32_t rolled_back;       /* objects that the last try made and had to delete again */
};

enum kar_gate_state {
	KAR_GATE_LATE, /* others go first: 30 s after the last answer; the gate enqueues the key when it becomes the first */
	KAR_GATE_MAY_TRY, /* when the next try is due */
	KAR_GATE_EARLY,   /* the answer may have changed */
};

/* The gate makes entries, one per key; the back-off owns it until it calls leave(). No function is NULL. */
struct kar_create_gate {
	/* @a of @s, no control write, was refused with @err. Takes @old, the entry so far (may be NULL); returns the new one or NULL. */
	void *(*refused)(const struct kar_sync *s, const struct kar_action *a, const struct kar_err *err,
		void *old);
	enum kar_gate_state (*state)(const void *entry);
	/* The creates of the key are sent now. */
	void (*try)(void *entry);
	/* The next create of its key has @rank. */
	void (*move)(void *entry, const struct kar_rank *rank);
	void (*leave)(void *entry);
};

/* The create @a of @s was refused at @mono. */
void kar_create_backoff_note(struct kar_sync *s, const struct kar_action *a, const struct kar_err *err,
	kar_time mono) KAR_NONNULL;
/* Another create of the same try was refused at @mono: the hold counts from then. */
void kar_create_backoff_prolong(struct kar_sync *s, kar_time mono) KAR_NONNULL;
/* The refusal, if it was for the object of @s as it is now (UID, generation); else NULL. */
const struct kar_create_backoff *kar_create_backoff_of(const struct kar_sync *s) KAR_NONNULL;
/* ms until the creates of @s may be tried; 0: now. */
kar_time kar_create_backoff_hold(struct kar_sync *s) KAR_NONNULL;
/*
 * Removes the creates from the plan of @s while the last refusal stands, and requeues the key for when it ends. A refused control
 * write that is not wanted any more is forgotten.
 * If the plan has no create and is not unfinished, the refusal is forgotten; if the plan makes room first, only after some seconds,
 * because its deletions may take long.
 */
void kar_create_backoff_hold_creates(struct kar_sync *s) KAR_NONNULL;
/* Every create of the plan of @s succeeded. A refusal of a lower tier stands while the plan is unfinished. */
void kar_create_backoff_all_created(struct kar_sync *s) KAR_NONNULL;
void kar_create_backoff_forget(const struct kar_controller *c, struct kar_key_state *state) KAR_NONNULL;

#endif
