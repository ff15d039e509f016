/*
 * node_line - gangs that wait for nodes, and which of them goes first.
 *
 * The default scheduler binds pod by pod, so several gangs can each hold a part of the nodes, and none ever forms. They stand in
 * one line, over all namespaces: the first keeps what it has, the others give back (queuejob/nodes.c). Order: turns that were
 * lost, few first, then priority, then age. A gang that loses its turn thereby goes behind the others, and one that comes later
 * begins with as many as any has, so nobody is overtaken for ever.
 *
 * Each key says itself how it stands there; nobody else's pods are looked at. In memory only: what must be known after a restart
 * of the manager is in the status of the jobs. See docs/decisions/026.
 */
#ifndef KAR_NODE_LINE_H
#define KAR_NODE_LINE_H

#include "common/kube/workqueue.h"
#include "controllers/runtime/plan.h"

struct kar_node_line;
struct kar_node_place; /* of one key */

/* How a gang waits for nodes that others may hold. */
enum kar_node_wait {
	KAR_NODES_NONE,   /* it does not */
	KAR_NODES_WAITS,  /* its pods exist, and none has a node, nor had one: it may fit nowhere */
	KAR_NODES_TRIES,  /* it has given some back, and none has one yet this time */
	KAR_NODES_HOLDS,  /* some of them have one */
	KAR_NODES_LEAVES, /* it gives them back: its pods are on their way out */
	KAR_NODES_RESTS,  /* it has none, and does not ask for any yet */
	KAR_NODES_AWAY,   /* it has none, and tries again when nobody goes before it */
	KAR_NODES_STATES
};

/* What a decision says about it. All 0: it does not wait. */
struct kar_node_wish {
	enum kar_node_wait how; /* from now on */
	bool frees;             /* it ends, and others can have what it holds */
	int32_t lost_turns;     /* to others that wait for nodes */
	kar_time since;         /* wall ms, when it began to wait for them */
};
/* "nodes waits", for the printed plan; NULL: it does not wait. */
const char *kar_node_wish_text(const struct kar_node_wish *w) KAR_NONNULL;

/* Keys for which something has changed are added to @q, which is borrowed. */
struct kar_node_line *kar_node_line_new(struct kar_workqueue *q) KAR_MUSTUSE KAR_RETNN KAR_NONNULL;
void kar_node_line_free(struct kar_node_line *l); /* accepts NULL; nobody stands in it any more */

/* What one of the line, or one that may come to stand in it, sees of the others. */
struct kar_node_outlook {
	const char *ahead;    /* key of the first, if that is another; NULL: nobody goes first */
	kar_time ahead_since; /* wall ms, when that began to wait */
	bool rivals;          /* others wait as well, and could go on at once */
	bool awaited;         /* some of them have given back, and wait for those before them */
	bool stands;          /* it has a place in the line already */
	kar_time turn;   /* ms for which it has been the first, and could have what the others gave back */
	kar_time passed; /* ms since it let others pass; 0: it has not */
	kar_time room;   /* ms since a job has ended, and others can have its nodes; 0: none has */
	kar_time unsure; /* ms until all others have surely been seen since the manager was started */
};

/* The key of @p (NULL: it does not wait) is in a sync. If it is the first, its turn begins, unless it has begun already. */
void kar_node_line_begin_turn(struct kar_node_line *l, const struct kar_node_place *p, kar_time mono)
	__attribute__((nonnull(1)));

/*
 * Changes nothing. @old: its place, or NULL. @rank: priority and age of the job. @lost: turns that it has lost. .ahead is the line's, until that
 * changes.
 */
struct kar_node_outlook kar_node_line_look(const struct kar_node_line *l, const struct kar_node_place *old,
	const char *key, const struct kar_rank *rank, int32_t lost, kar_time mono)
	__attribute__((nonnull(1, 3, 4)));

/*
 * @key now waits as @wish says. @old: its place so far, which is given up, or NULL. Returns the new one; NULL if it does not
 * wait. Wakes up whom it concerns, but not @key.
 */
struct kar_node_place *kar_node_line_move(struct kar_node_line *l, struct kar_node_place *old,
	const char *key, const struct kar_rank *rank, const struct kar_node_wish *wish,
	kar_time mono) KAR_MUSTUSE __attribute__((nonnull(1, 3, 4, 5)));
void kar_node_line_leave(struct kar_node_place *p); /* accepts NULL; wakes up likewise */

#endif
