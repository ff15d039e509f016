/*
 * sched - the room of all nodes, and where gangs fit: one answer for queues, gangs and explanations. Pure: no I/O, no clock.
 *
 * One struct kar_sched holds a snapshot that is kept by events: nodes (kar_sched_node), and what is taken from them
 * (kar_sched_take: bound pods, plans, holds). Classes are what pods need; equal needs are one class. A class that was asked about is
 * *hot* (at most KAR_SCHED_HOT): how many copies of it each node has room for is then kept by events too, and nodes are in buckets
 * by copies. So an event costs O(hot classes), a gang that cannot fit costs one comparison, and one that fits costs O(nodes used).
 *
 * Policy: best fit, so that big holes stay whole. Nodes without an idle extended resource that the pod does not want come first, then
 * those of domains in which pods are already (kar_sched_keep_whole()), then those with the fewest copies. Among equals any.
 *
 * Single-threaded. The struct owns its memory and copies what it is given.
 */
#ifndef KAR_SCHED_SCHED_H
#define KAR_SCHED_SCHED_H

#include "common/base/buf.h"
#include "common/base/intern.h"
#include "common/base/mem.h"
#include "common/sched/needs.h"

enum {
	KAR_SCHED_HOT = 64,
	KAR_SCHED_KEYS = 16,
	KAR_SCHED_LEVELS = 16,
	KAR_SCHED_RESOURCES = 64,
	KAR_SCHED_WHOLE = 256
};

struct kar_sched;
typedef uint32_t kar_class; /* never 0 */

/* @strings (NULL: its own) outlive it: needs that are shared there cost nothing in it. */
struct kar_sched *kar_sched_new(struct kar_intern *strings) KAR_MUSTUSE KAR_RETNN;
void kar_sched_free(struct kar_sched *s); /* accepts NULL */

/* --- the snapshot ---------------------------------------------------------------------------------------------------------- */

/* The node is new or has changed. What was taken from a node of this name before it was known counts. */
void kar_sched_node(struct kar_sched *s, const struct kar_node_offer *node) KAR_NONNULL;
void kar_sched_node_gone(struct kar_sched *s, const char *name) KAR_NONNULL;
/* Is the node known, and one that new pods may go to (kar_sched_usable())? */
bool kar_sched_node_usable(const struct kar_sched *s, const char *name) KAR_NONNULL;
/* What is free of the resource on a node; below 0 if more is taken than there is; 0 if the node or the resource is not known. */
int64_t kar_sched_node_free(const struct kar_sched *s, const char *name, const char *resource) KAR_NONNULL;

/* The class of these needs; one more reference. */
kar_class kar_sched_class(struct kar_sched *s, const struct kar_pod_needs *needs) KAR_NONNULL;
void kar_sched_class_ref(struct kar_sched *s, kar_class c) KAR_NONNULL;
/* One reference less. The class stays known while something of it is taken. */
void kar_sched_class_put(struct kar_sched *s, kar_class c) KAR_NONNULL;
/* The needs of a class, for as long as it is referenced. */
const struct kar_pod_needs *kar_sched_needs(const struct kar_sched *s, kar_class c) KAR_NONNULL KAR_RETNN;

/*
 * What is offered of the resource is an upper bound: @why, static: "a selector of its DeviceClass"; NULL: it is exact. A resource that
 * nobody has named yet is left out.
 */
void kar_sched_doubt(struct kar_sched *s, const char *resource, const char *why)
	__attribute__((nonnull(1, 2)));
/* Why a fit of the class is no promise: .unverified of its needs, or a doubt about a resource that it asks for; NULL: it is one. */
const char *kar_sched_unverified(const struct kar_sched *s, kar_class c) KAR_NONNULL;

/*
 * Names a pod whose anti-affinity keeps those of the set off the nodes where the label has the value: "ns/pod", in @a; NULL: nobody knows one.
 */
typedef const char *kar_sched_who(void *arg, const struct kar_pod_set *of, const char *key, const char *value,
	struct kar_arena *a);
void kar_sched_name_pods(struct kar_sched *s, kar_sched_who *who, void *arg) __attribute__((nonnull(1)));

/*
 * @n more pods of the class (fewer, if negative) take room and host ports of the node, which need not be known yet. The constraints
 * of the class are not looked at.
 */
void kar_sched_take(struct kar_sched *s, const char *node, kar_class c, int32_t n) KAR_NONNULL;

/*
 * @n more of the pods that are taken from the node (fewer, if negative) are those that each node has, as of a DaemonSet: they break no domain. To be
 * called while they are taken.
 */
void kar_sched_take_own(struct kar_sched *s, const char *node, int32_t n) KAR_NONNULL;
/*
 * Domains of this path of @n labels (0: none) that have no pods are filled after all others, whatever level a gang asks for. Not those of more than
 * KAR_SCHED_WHOLE nodes: these are no racks. Not while there is a mark.
 */
void kar_sched_keep_whole(struct kar_sched *s, const char *const *labels, uint32_t n)
	__attribute__((nonnull(1)));

/*
 * Everything after a mark (takes, not nodes) can be taken back, last mark first. kar_sched_keep() ends a mark and keeps what was done.
 * Nodes must not change while there is a mark.
 */
size_t kar_sched_mark(struct kar_sched *s) KAR_NONNULL;
void kar_sched_undo(struct kar_sched *s, size_t mark) KAR_NONNULL;
void kar_sched_keep(struct kar_sched *s, size_t mark) KAR_NONNULL;

/* --- gangs ----------------------------------------------------------------------------------------------------------------- */

struct kar_role {
	kar_class class;
	int32_t need;  /* pods that must fit; >= 0 */
	int32_t want;  /* more that are placed if there is room, after all needs; >= 0 */
	int32_t later; /* more that may come some day: a domain with room for them as well is better; >= 0 */
	uint32_t ask;  /* what it asks for: 0: .topology of the gang; else number .ask - 1 of its .asks */
};

/*
 * Where the pods of a gang are to be together. A domain of depth k is what the nodes share that have the same values of the first k labels: rack
 * 1 of one block is not rack 1 of another. A node without one of these labels is in no domain of that depth.
 */
struct kar_topology_wish {
	const char *const *labels; /* of the levels, the widest first; at most KAR_SCHED_LEVELS */
	uint32_t n_labels;         /* 0: no wish */
	uint32_t
		required; /* depth: all pods are in one domain of it, or none has a place; 0: it may be anywhere */
	uint32_t
		preferred; /* depth: in one domain of it if possible, else of the next wider one ...; 0: that of .required */
	uint32_t
		slice_depth; /* depth: every .slice_size pods of a role that follow each other are in one domain of it; 0: none need be */
	int32_t slice_size; /* with .slice_depth: > 0; the last slice of a role may be smaller */
	const char *inside; /* of .required: the path of the only domain that is looked at; NULL: any */
	bool balance; /* domains get equally many slices, or pods, to one: of .slice_depth, else of .preferred, else below .required */
};

struct kar_gang {
	const struct kar_role *roles;
	uint32_t n_roles;
	/* Room for pods that do not exist yet: it may lie on any usable nodes (kar_sched_usable()). Its amounts; 0 of them: none. */
	const struct kar_sched_amount *hold;
	uint32_t n_hold;
	struct kar_sched_label hold_on; /* only on nodes with this label; .key NULL: on any */
	struct kar_topology_wish topology;
	/* Of roles that ask for other things: each of these is placed by itself, and .want of all roles is 0. */
	const struct kar_topology_wish *asks;
	uint32_t n_asks;
};

struct kar_place {
	const char *node; /* of the scheduler; valid until the node is gone */
	uint32_t role;
	int32_t n;
};

struct kar_held {
	const char *node;
	kar_class class; /* its amounts; one reference belongs to whoever asked */
};

struct kar_placement {
	const struct kar_place *
		places; /* in the order in which nodes were filled, or with a wish those of a role in that of ranks; a role and a node may meet twice */
	uint32_t n_places;
	const struct kar_held *held;
	uint32_t n_held;
	int32_t extra; /* pods of .want that have a place */
	const char *
		domain; /* inside which all are: the values of its labels, "b1/r3"; NULL: none was looked for, or several */
	uint32_t depth; /* of it */
	bool proved;    /* a miss is certain, not only what the heuristics found */
};

/*
 * Places all needed pods or none, then as many wanted ones as fit, in @out (its arrays in @a). Returns whether the gang fits. If so,
 * its room is taken (undo it by a mark). If not, nothing is taken.
 */
bool kar_sched_place(struct kar_sched *s, const struct kar_gang *gang, struct kar_arena *a,
	struct kar_placement *out) KAR_NONNULL;
/* The path of the domain of the required depth that the node is in; NULL: it is in none. Valid as long as the node is. */
const char *kar_sched_domain_of(struct kar_sched *s, const struct kar_topology_wish *w,
	const char *node) KAR_NONNULL;
/*
 * The domains of the required depth that could have all pods of the gang if they were empty: at most @most of them, the one with most room for
 * them first. Their paths, in @a; returns how many.
 */
uint32_t kar_sched_domains_for(struct kar_sched *s, const struct kar_gang *gang, uint32_t most,
	struct kar_arena *a, const char **out) KAR_NONNULL;
/* Is there room for one more pod of the class on this node? */
bool kar_sched_fits_on(const struct kar_sched *s, kar_class c, const char *node) KAR_NONNULL;
/* The same of a pod that is there already: rules about other pods move nobody. */
bool kar_sched_stays_on(const struct kar_sched *s, kar_class c, const char *node) KAR_NONNULL;
/*
 * Of nodes with room for equally many pods of the class, the one that changed last is filled first. After this it is the first by name,
 * until they change again: equal nodes give an equal placement, whatever happened before.
 */
void kar_sched_settle(struct kar_sched *s, kar_class c) KAR_NONNULL;
/* False: not even on empty nodes, whatever stops running. */
bool kar_sched_feasible(struct kar_sched *s, const struct kar_gang *gang) KAR_NONNULL;
/* Why a gang has no place. */
struct kar_sched_why {
	bool fits;      /* it has one: there is nothing to explain */
	int64_t placed; /* pods that have a place beside each other */
	const char *
		text; /* "2 nodes lack nvidia.com/gpu (short 3), 1 tainted (infra), 1 not ready"; at most 512 bytes */
	bool only_room;       /* nodes lack room, and nothing else stands in the way */
	const char *resource; /* that most of these lack; NULL: none lacks room */
	int64_t asked, free;  /* of it: by one pod, and the most that one of these nodes has free */
	const char *
		domain; /* of the required depth: it is the best one, "b1/r3"; in the arena; NULL: none was looked for */
	int64_t unlabelled; /* with .domain: nodes that are in none */
};

/* Why it does not fit; the text is in @a. @names: of the roles, used if there are several. Nothing is taken. */
struct kar_sched_why kar_sched_explain(struct kar_sched *s, const struct kar_gang *gang,
	const char *const *names, struct kar_arena *a) __attribute__((nonnull(1, 2, 4)));

/*
 * The same with all nodes ready, uncordoned and empty, for the role of which most pods are missing then: why a gang is not feasible.
 * .placed: at most so many have a place.
 */
struct kar_sched_why kar_sched_explain_empty(struct kar_sched *s, const struct kar_gang *gang,
	const char *const *names, struct kar_arena *a) __attribute__((nonnull(1, 2, 4)));

/*
 * Can nothing but room stop it? Every node is ready, neither cordoned nor tainted (those that have a role, as the control plane, do not
 * count), and no pod chooses among nodes.
 */
bool kar_sched_all_alike(const struct kar_sched *s, const struct kar_gang *gang) KAR_NONNULL;
/* Has any node or pod named the resource? */
bool kar_sched_knows(const struct kar_sched *s, const char *resource) KAR_NONNULL;
/* What all nodes together offer, cordoned and not ready ones included. */
int64_t kar_sched_offered(const struct kar_sched *s, const char *resource) KAR_NONNULL;

struct kar_sched_excess {
	const char *resource; /* borrowed */
	int64_t asked, most;  /* by one pod; on the largest node that it may be on */
	bool elsewhere;       /* a node that it may not be on has more */
};
/* Does a pod ask for more than any node has, cordoned and not ready ones included? False too if there is no node for it at all. */
bool kar_sched_exceeds_nodes(const struct kar_sched *s, const struct kar_gang *gang,
	struct kar_sched_excess *out) KAR_NONNULL;

/* For tests and metrics. */
size_t kar_sched_bytes(const struct kar_sched *s) KAR_NONNULL;
/* Value of a label of a known node; NULL: it has not the label. Valid until the node changes. */
const char *kar_sched_label_of(const struct kar_sched *s, const char *node, const char *label) KAR_NONNULL;
uint64_t kar_sched_touched(const struct kar_sched *s) KAR_NONNULL;      /* nodes looked at since the start */
int64_t kar_sched_copies(struct kar_sched *s, kar_class c) KAR_NONNULL; /* in all nodes together */

#endif
