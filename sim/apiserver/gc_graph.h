/*
 * gc_graph - who owns whom, by UID; no scans. And what the collector asks of an object. Private to gc*.c.
 *
 * Nodes are objects that have an owner and objects that are named as one, whether these exist or not. A node lives
 * as long as it has an edge, or while it waits in the collector's line.
 */
#ifndef SIM_GC_GRAPH_H
#define SIM_GC_GRAPH_H

#include <bsd/sys/queue.h>
#include <bsd/sys/tree.h>

#include "sim/apiserver/internal.h"

struct gc_node;

/* "metadata.ownerReferences of @dependent names @owner." */
struct gc_edge {
	TAILQ_ENTRY(gc_edge) of_dependent, of_owner;
	struct gc_node *owner, *dependent;
	bool blocks; /* blockOwnerDeletion */
};
TAILQ_HEAD(gc_edges, gc_edge);

enum gc_task { GC_DELETE = 1, GC_ORPHAN = 2 };

struct gc_node {
	RB_ENTRY(gc_node) by_uid;
	TAILQ_ENTRY(gc_node) in_line;
	char *group, *resource, *ns, *name; /* where it is, or should be; ns NULL: cluster-scoped */
	struct gc_edges owners, dependents;
	unsigned tasks; /* enum gc_task; 0: not in the line */
	bool held;      /* being worked on: not to be released */
	char uid[];
};
RB_HEAD(gc_tree, gc_node);

/* NULL: not in the graph. */
struct gc_node *gc_node_find(struct gc_tree *t, const char *uid) KAR_NONNULL;
/* The node of @uid, made if need be. @ns may be NULL. */
struct gc_node *gc_node_at(struct gc_tree *t, const char *uid, const char *group, const char *resource,
	const char *ns, const char *name) __attribute__((nonnull(1, 2, 3, 4, 6))) KAR_RETNN;
/* The object was seen there: references may have named another place. */
void gc_node_place(struct gc_node *n, const char *group, const char *resource, const char *ns,
	const char *name) __attribute__((nonnull(1, 2, 3, 5)));
/* Removes it if it has neither edges nor tasks, and is not held. */
void gc_node_release(struct gc_tree *t, struct gc_node *n) KAR_NONNULL;
void gc_graph_free(struct gc_tree *t) KAR_NONNULL;

/* NULL: @dependent does not name @owner. */
struct gc_edge *gc_edge_find(const struct gc_node *dependent, const struct gc_node *owner) KAR_NONNULL;
void gc_edge_add(struct gc_node *dependent, struct gc_node *owner, bool blocks) KAR_NONNULL;
/* Its nodes stay; see gc_node_release(). */
void gc_edge_remove(struct gc_edge *e) KAR_NONNULL;

/* Of an object, which may be NULL. */
bool gc_has_finalizer(const struct sim_value *object, const char *finalizer) __attribute__((nonnull(2)));
bool gc_is_deleting(const struct sim_value *object, const char *finalizer) __attribute__((nonnull(2)));

#endif
