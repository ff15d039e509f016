/*
 * create_backoff - the back-off of creates that the API server refused: its answer, and when the next try is due.
 *
 * A key has at most one, in memory, and only after a refusal. Every event of the key leads to a new plan, and every plan
 * would send the creates again; so the manager holds them back until they are due (after 500 ms, doubling up to
 * 30 s; up to 10 min if the object is invalid). They are tried at once when the answer may have changed: the object was
 * edited or replaced by another of its name, or the key has fewer live objects than when it was refused. After a try that
 * had to roll back objects, the wait grows with their number.
 *
 * Refusals for a shortage (kar_err_is_shortage()) of a namespace are ordered by the rank of what is to be created next, because others may
 * release what is short. The first key tries early when that may have happened (kar_create_backoff_wake()): twice, because the API
 * server updates its counts a moment later, and at most every 5 s. The others try 30 s after their own last answer, since the first
 * may never fit, and one of them early when it becomes the first. So what is released goes to the highest rank, and costs one try.
 */
#ifndef KAR_CREATE_BACKOFF_H
#define KAR_CREATE_BACKOFF_H

#include <bsd/sys/tree.h>

#include "controllers/runtime/controller.h"

struct kar_create_backoff {
	struct kar_err err;
	const struct kar_type *type; /* of the refused create, as .tier and .name */
	enum kar_tier tier;
	char name[KAR_KEY_LEN];
	/* UID and generation of the key's object then */
	char uid[64];
	int64_t generation;
	int32_t live;   /* highest number of live objects of the key since the refusal */
	unsigned tries; /* in a row */
	kar_time again; /* mono: the next try, but for the order of those that are short of something */
	RB_ENTRY(kar_create_backoff) link; /* in kar_controller.short_of */
	bool ordered;                      /* it is there */
	bool woken;                        /* somebody may have released what is short since the last try */
	struct kar_rank rank;              /* of the create that is wanted next */
	char key[KAR_KEY_LEN];
	kar_time at;               /* mono, of the last answer in this try */
	bool early;                /* the running try is an early one */
	unsigned misses;           /* early tries that failed, in a row */
	bool trying;               /* the creates are allowed, and none was refused yet */
	int32_t tried_with;        /* live objects of the key then */
	kar_time makes_room_since; /* mono; KAR_NEVER: the plan does not make room */
	int32_t rolled_back;       /* objects that the last try made and had to delete again */
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
void kar_create_backoff_forget(struct kar_controller *c, struct kar_key_state *state) KAR_NONNULL;
/*
 * An object of @ns has ended or is gone, or more of them may exist now: the first key of the namespace that is short of something tries early.
 * @owner: the key whose object it was, which has no news of what it has rolled back itself; NULL: nobody's.
 */
void kar_create_backoff_wake(struct kar_controller *c, const char *ns, const char *owner)
	__attribute__((nonnull(1, 2)));

#endif
