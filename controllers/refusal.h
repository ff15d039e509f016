/*
 * refusal - a create that the API server said no to: what it said, and when it is worth asking again.
 *
 * One per key, and only while there is one, in memory. Every event of the key leads to a new plan, and every plan
 * would ask again; so the manager holds the creates of a key back until their time has come (500 ms, doubling up to
 * 30 s; up to 10 min for what is invalid). They are tried at once when the answer may have changed: the object was
 * edited or replaced by another of its name, or the key has fewer pods than when it was refused, so that a quota has room.
 * Where a ResourceQuota has refused it, it stands in line with others (quota_line.h), and is also tried when a pod
 * of the namespace has ended or is gone: twice, as the API server counts what is used a moment later; and not more
 * often than every 5 s, if pods end all the time. A try that had to take back what it had made is the longer before the next,
 * the more that was. A key that has not been refused stands in line too, behind those who go first and lack what it may need.
 */
#ifndef KAR_REFUSAL_H
#define KAR_REFUSAL_H

#include "controllers/controller.h"
#include "controllers/quota_line.h"

struct kar_refusal {
	struct kar_err err;
	const struct kar_type *type; /* of what was to be created */
	enum kar_tier tier;
	char name[KAR_KEY_LEN];
	/* For which object of the key: */
	char uid[64];
	int64_t generation;
	int32_t pods;   /* the most live pods it has had since */
	unsigned tries; /* in a row */
	kar_time again; /* mono: not before, */
	/* unless a quota may have room for it: */
	struct kar_quota_place *place; /* owned; NULL: no quota has refused it */
	kar_time at;                   /* mono, of the last answer of the try */
	bool woken;                    /* the try on its way is a wake-up's */
	unsigned misses;               /* of such tries, in a row */
	bool trying;                   /* the creates were let out, and nothing has refused them yet */
	int32_t tried_with;            /* live pods of the key then */
	kar_time since;                /* mono, of the first refusal in a row in this tier */
	kar_time makes_room_since;     /* mono; KAR_NEVER: it does not */
	int32_t taken_back;            /* objects that were of no use without the refused one */
};

/* The create @a of @s was refused at @mono. */
void kar_refusal_note(struct kar_sync *s, const struct kar_action *a, const struct kar_err *err,
	kar_time mono) KAR_NONNULL;
/* Another create of the same try was refused too, at @mono: what is held back is so from then on. */
void kar_refusal_prolong(struct kar_sync *s, kar_time mono) KAR_NONNULL;
/* What was refused to the very object of @s as it is now (uid, generation); NULL: nothing. */
const struct kar_refusal *kar_refusal_of(const struct kar_sync *s) KAR_NONNULL;
/* ms for which the creates of @s should still be held back; 0: not at all. */
kar_time kar_refusal_hold(struct kar_sync *s) KAR_NONNULL;
/*
 * Takes the creates out of the plan of @s while the last refusal stands, and asks for another look when it no longer does.
 * A plan that wants no create, and is not unfinished, has no use for what was refused: it is forgotten; after some seconds, if the
 * plan makes room first, for that may be held up.
 */
void kar_refusal_hold_creates(struct kar_sync *s) KAR_NONNULL;
/* Every create of the plan of @s was carried out. The refusal of a pod stands for those that are still to come. */
void kar_refusal_all_created(struct kar_sync *s) KAR_NONNULL;
void kar_refusal_forget(struct kar_key_state *state) KAR_NONNULL;

#endif
