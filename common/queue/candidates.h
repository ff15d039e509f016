/*
 * candidates - what a group that does not fit takes from others, while that is found out; private to preempt.c, candidates.c and foreign_take.c.
 */
#ifndef KAR_QUEUE_CANDIDATES_H
#define KAR_QUEUE_CANDIDATES_H

#include "common/queue/impl.h"

/* In which order victims go. */
struct rank {
	int64_t share;
	int32_t base, evictions, extras;
	kar_time young; /* admitted or created */
};

/* Groups below a sibling of the path of the taker: all have the same share. */
struct source {
	struct q_queue *ours, *theirs; /* the pair; both are the leaf of the taker, for extras there */
	bool known;                    /* .first is who goes first; NULL: nobody there may go */
	struct q_group *first;
	struct rank rank;
};

struct taking {
	struct q_pass *pass;
	struct q_group *taker;
	struct q_ask ask;
	struct q_short lacks;
	uint64_t resources; /* that are short, for rights */
	/*
	 * Of a taker that must be in one domain, while one is tried: its path, and per group whether pods of it are there, which alone are of use, a bit for
	 * each domain that is tried; NULL: any is looked at.
	 */
	const char *inside;
	const uint8_t *in_domains;
	uint8_t domain; /* the bit of .inside */
	struct q_victim *victims;
	uint32_t n_victims;
	enum q_way way; /* of the sources */
	struct source *sources;
	uint32_t n_sources;
	uint64_t sources_short;       /* .resources, with which they are known */
	struct q_short sources_lacks; /* .lacks, likewise */
	bool within[Q_PATH];          /* by depth of the path of the taker: it is within its right there */
	int64_t share[Q_PATH];        /* and its share with what it asks for */
};

/* Who goes next by that way (docs/design/queue.md, 6); NULL: nobody. */
struct q_group *q_best_victim(struct taking *t, enum q_way way) KAR_NONNULL;
/* False: q_best_victim() would find nobody, as things are. */
bool q_may_find(struct taking *t, enum q_way way) KAR_NONNULL;

/* --- preempt.c: does it fit when these are gone? What is short is in it then. */
bool q_taker_fits(struct taking *t) KAR_NONNULL;
/* --- foreign_take.c: pods of no queue go until it fits; false: that is not enough, and none goes. */
bool q_take_foreign(struct taking *t) KAR_NONNULL;

#endif
