/*
 * impl - what the files of the placement engine share. Private to this folder.
 *
 *   match.c  node against needs     snapshot.c  nodes and what is taken from them      class.c  equal needs are one class
 *   hot.c    copies and buckets     domain.c    values of topology labels              place.c  gangs   search.c  backtracking
 *   tree.c   levels of topologies            whole.c    domains that are broken last       offered.c  what nodes have, whatever runs
 *   hold.c   room for later pods    explain.c   why not                       rules.c   other pods   fill.c  pods with rules
 *
 * Nodes, classes and resources are numbers (indexes) in here. Invariant, between two calls: of each hot class, .copies[node] is what
 * recount() in hot.c computes from the node, the node is in the bucket of that number, and the totals are the sums.
 */
#ifndef KAR_SCHED_IMPL_H
#define KAR_SCHED_IMPL_H

#include <assert.h>

#include <bsd/sys/tree.h>

#include "common/base/intern.h"
#include "common/codec/quantity.h"
#include "common/sched/sched.h"
#include "common/sched/table.h"

#define SCHED_NONE UINT32_MAX

/*
 * Buckets: 0 copies, 1, 2 ... 58, and 59 or more; in four groups: nodes that should stay free for others come behind the rest, and in both nodes of
 * whole domains behind those of others.
 */
enum {
	SCHED_COPIES = 60,
	SCHED_GROUPS = 4,
	SCHED_BUCKETS = SCHED_GROUPS * SCHED_COPIES,
	SCHED_NO_BUCKET = 255
};

/* A resource and how much of it, by number. */
struct sched_share {
	uint32_t resource;
	int64_t amount;
};

struct sched_port_use {
	struct kar_host_port port; /* its texts are interned */
	int32_t n;
};

/* A value of a topology label, and the pods on all nodes that have it. */
struct sched_domain {
	RB_ENTRY(sched_domain) link;
	const char *value; /* interned */
	int64_t members;   /* pods of the set */
	int64_t carriers;  /* pods whose anti-affinity keeps the set away */
};
RB_HEAD(sched_domains, sched_domain);

/* A set by the domains of a label; made when a class has a rule about both. */
struct sched_spot {
	struct sched_spot *next;      /* of the same set */
	const char *key;              /* interned */
	struct sched_domains domains; /* without those that have neither */
	int64_t members, carriers;    /* in all of them */
};

/* Pods about which a class has a rule. */
struct sched_set {
	RB_ENTRY(sched_set) link;
	const struct kar_pod_set *of; /* shared */
	struct sched_spot *spots;
	uint32_t refs; /* of classes */
};
RB_HEAD(sched_sets, sched_set);

/* Pods on a node: in a set, or (.spot) whose anti-affinity keeps the set away from the domains of the spot. */
struct sched_tally {
	struct sched_set *set;
	struct sched_spot *spot; /* NULL: they are in it */
	int64_t n;
};

struct sched_rule {
	const struct kar_pod_rule *rule;
	struct sched_set *set;
	struct sched_spot *spot;
	bool self; /* pods of the class are in the set */
};

struct sched_node {
	const char *name; /* interned */
	bool known;       /* a Node object exists */
	int64_t n_taken;  /* pods and holds */
	int64_t n_own; /* of these: pods that are on each node anyway, and take no domain away from anybody */
	struct kar_node_offer
		offer; /* its strings are interned, its arrays in .block; without .allocatable */
	void *block;
	struct sched_port_use *ports;
	uint32_t n_ports, room_ports;
	uint64_t idle;               /* extended resources of which some is free */
	struct sched_tally *tallies; /* of sets; without those of 0 */
	uint32_t n_tallies, room_tallies;
};

struct sched_hot {
	uint8_t *match;        /* per node: enum kar_obstacle */
	uint8_t *bucket;       /* per node; SCHED_NO_BUCKET: in none */
	int32_t *copies;       /* per node */
	uint32_t *next, *prev; /* per node: neighbours in its bucket */
	uint32_t head[SCHED_BUCKETS];
	uint64_t filled[SCHED_GROUPS];         /* which buckets have nodes */
	int64_t total;                         /* copies */
	int64_t *domain_total[KAR_SCHED_KEYS]; /* per domain */
	uint64_t asked;                        /* when, by the counter of questions */
	uint32_t room;                         /* nodes in the arrays */
};

/* Needs that have a class. */
struct sched_known {
	RB_ENTRY(sched_known) link;
	const struct kar_pod_needs *needs; /* shared */
	uint32_t class;
};
RB_HEAD(sched_knowns, sched_known);

struct sched_class {
	const struct kar_pod_needs *needs;
	struct sched_known *known;  /* NULL: the number is unused */
	uint32_t refs;              /* of others */
	int64_t n_taken;            /* on all nodes; with .refs 0 as well, the class is forgotten */
	struct sched_share *shares; /* with "pods" */
	uint32_t n_shares;
	bool has_ports; /* .needs has some; asked for each node, so it is here as well */
	uint64_t wants; /* bit of each extended resource it asks for */
	const struct kar_sched_amount *unknown; /* one that has no number, so no node has it; NULL: none */
	struct sched_hot *hot;                  /* NULL: cold */
	struct sched_rule *rules;               /* as many as .needs has */
	struct sched_set **sets;                /* likewise */
	bool social; /* it has rules, or is in sets: asked for each pod, so it is here as well */
};

struct sched_resource {
	const char *name; /* interned */
	bool extended; /* has a bit in .idle: neither cpu, memory, ephemeral-storage, pods nor hugepages-* */
	int64_t spare; /* free in all known nodes together */
	kar_nano offered; /* by all known nodes together */
	int64_t largest;  /* the most that a node offers; may be too high until .stale is mended */
	bool stale;
	bool of_node;      /* a node has had some; false: only pods have named it */
	const char *doubt; /* static; NULL: what is offered is exact */
};

/* A domain of the key whose domains are to stay whole. */
struct sched_state {
	uint32_t nodes, busy; /* nodes in it; of these: with pods */
	bool whole;           /* none is busy */
};

struct sched_named {
	const char *name;
	uint32_t node;
};

/* The domains by the values of some labels, a path, that somebody asked for. */
struct sched_key {
	const char *labels[KAR_SCHED_LEVELS]; /* interned */
	uint32_t n_labels;
	uint64_t asked;            /* when, by the counter of questions */
	const char **values;       /* per domain, "b1/r3"; interned */
	uint32_t *first;           /* per domain: its first node */
	struct sched_state *state; /* per domain; only of kar_sched.whole */
	uint32_t *domain, *next,
		*prev;    /* per node: SCHED_NONE if it has not the label; its neighbours in the domain */
	uint32_t n, room; /* domains, with those that have no node any more */
	uint32_t *unused; /* of these: their numbers; .values is NULL */
	uint32_t n_unused;
	uint32_t room_nodes; /* nodes in the arrays */
	struct kar_table by_value;
};

struct sched_change {
	uint32_t node, class;
	int32_t n;
};

struct kar_sched {
	struct kar_intern *strings, *shared; /* .shared: for needs */
	struct sched_resource resources[KAR_SCHED_RESOURCES];
	uint32_t n_resources, stride; /* .stride: >= .n_resources */
	struct sched_node *nodes;
	uint32_t n_nodes, room_nodes; /* n_nodes: with unused ones among them */
	uint32_t *unused;
	struct sched_named *named; /* in the order of names; .n_named 0: to be sorted again */
	uint32_t n_unused, n_named;
	struct kar_table node_by_name;
	int64_t *allocatable;        /* [node * .stride + resource], as the next one */
	uint64_t *taken;             /* wraps around, and back */
	struct sched_class *classes; /* [0] is unused */
	uint32_t n_classes, room_classes, n_free_classes;
	struct sched_knowns known;
	struct sched_sets sets;
	kar_sched_who *who; /* names a pod; NULL: nobody does */
	void *who_arg;
	uint32_t hot[KAR_SCHED_HOT];
	uint32_t n_hot;
	uint64_t questions;
	struct sched_key keys[KAR_SCHED_KEYS];
	uint32_t n_keys;
	uint32_t whole; /* the key whose domains are broken last; SCHED_NONE: none */
	struct sched_change *log;
	size_t n_log, room_log, marks;
	uint64_t touched;
};

/* A value of a label or a taint, interned. It may be empty, and the table of strings has no empty one. */
static inline const char *sched_value_get(struct kar_sched *s, const char *value)
{
	return *value ? kar_intern_get(s->strings, value) : "";
}

static inline void sched_value_put(struct kar_sched *s, const char *value)
{
	if (*value)
		kar_intern_put(s->strings, value);
}

/* A gang in the making. */
struct sched_try {
	struct kar_sched *s;
	const struct kar_gang *gang;
	struct kar_arena *a;
	uint32_t key, domain; /* SCHED_NONE: everywhere */
	uint32_t depth;       /* of the domain in the wish of the gang; 0: everywhere */
	struct kar_place *places;
	uint32_t n_places;
	/* Pods that are in the set, or ask for its company, go to nodes with this value of the label; NULL: wherever they may. */
	const char *seed_key, *seed_value;
	const struct sched_set *seed_set;
	bool seed_all; /* also those that have no rule of their own */
};

/* Value of a label that is interned; NULL: it has not the label. */
static inline const char *sched_label(const struct sched_node *n, const char *label)
{
	for (uint32_t i = 0; i < n->offer.n_labels; i++) {
		if (n->offer.labels[i].key == label)
			return n->offer.labels[i].value;
	}
	return NULL;
}

/* --- snapshot.c */
/* The number of the resource; SCHED_NONE: it has none. */
uint32_t sched_resource(const struct kar_sched *s, const char *name) KAR_NONNULL;
/*
 * As sched_resource(), but it gets a number if it has none. Tenants may name any resource in their pods, so these get at most half of the
 * numbers until a node has them (@of_node). SCHED_NONE: there are too many.
 */
uint32_t sched_resource_make(struct kar_sched *s, const char *name, bool of_node) KAR_NONNULL;
uint32_t sched_find_node(const struct kar_sched *s, const char *name) KAR_NONNULL; /* SCHED_NONE: not there */
/* As kar_sched_take(), by number. */
void sched_take(struct kar_sched *s, uint32_t node, uint32_t class, int32_t n) KAR_NONNULL;

static inline int64_t sched_allocatable(const struct kar_sched *s, uint32_t node, uint32_t resource)
{
	return s->allocatable[(size_t)node * s->stride + resource];
}

static inline int64_t sched_free(const struct kar_sched *s, uint32_t node, uint32_t resource)
{
	size_t cell = (size_t)node * s->stride + resource;

	return (int64_t)((uint64_t)s->allocatable[cell] - s->taken[cell]);
}

/* --- rules.c */
void sched_rules_read(struct kar_sched *s, struct sched_class *c) KAR_NONNULL;
void sched_rules_forget(struct kar_sched *s, struct sched_class *c) KAR_NONNULL;
/* @n more pods of the class are on the node. */
void sched_rules_take(struct kar_sched *s, uint32_t node, const struct sched_class *c, int32_t n) KAR_NONNULL;
/* The labels of the node come (@sign 1) or go: so do its pods in the domains. */
void sched_rules_move(struct kar_sched *s, uint32_t node, int sign) KAR_NONNULL;
/* May pods decide where others of the class go? */
bool sched_is_ruled(const struct sched_class *c) KAR_NONNULL;
/* Pods of the set on the node. */
int64_t sched_members_on(const struct sched_node *n, const struct sched_set *set) KAR_NONNULL;
/*
 * Does a rule keep one more pod of the class off the node? Topology spread is left out. @rule (may be NULL): which; NULL if it is one of a pod
 * there. @spot (may be NULL): whose carriers these are.
 */
enum kar_obstacle sched_rule_obstacle(const struct kar_sched *s, const struct sched_class *c, uint32_t node,
	const struct sched_rule **rule, const struct sched_spot **spot) __attribute__((nonnull(1, 2)));

/* --- fill.c */
/* The nodes within the scope of @t that have a copy of the class, in the order of the policy; in the arena. */
uint32_t *sched_candidates(struct sched_try *t, uint32_t class, uint32_t *n) KAR_NONNULL KAR_RETNN;
/* Copies of the class within the scope of @t. */
int64_t sched_total(struct sched_try *t, uint32_t class) KAR_NONNULL;
/* @n pods of the role take room on the node. */
void sched_put(struct sched_try *t, uint32_t role, uint32_t node, int32_t n) KAR_NONNULL;
/* How many pods of the class its own anti-affinity allows on all nodes that may suit it, were they empty. */
int64_t sched_rules_bound(const struct kar_sched *s, const struct sched_class *c) KAR_NONNULL;
/* The domains of a topology spread of a class. */
struct sched_spread;
/* Of all its rules of that kind, in the arena; NULL: it has none. */
struct sched_spread *sched_spread(const struct kar_sched *s, const struct sched_class *c,
	struct kar_arena *a) KAR_NONNULL;
/* NULL: one more pod may go to the node. */
const struct sched_rule *sched_spread_obstacle(const struct sched_spread *x, uint32_t node)
	__attribute__((nonnull(1)));
/* May one more pod of the class be there, as far as rules say? */
bool sched_rules_allow(const struct kar_sched *s, const struct sched_class *c, uint32_t node) KAR_NONNULL;
/* Do the topology spreads and affinities of all pods that @t has placed hold, whichever of them comes last? */
bool sched_rules_hold(const struct sched_try *t) KAR_NONNULL;
/* May a pod of the class, which is there already, be on the node if all others come before it? As far as its affinities say. */
bool sched_has_company(const struct kar_sched *s, const struct sched_class *c, uint32_t node) KAR_NONNULL;
/* As sched_fill(), for a class that is ruled. */
int32_t sched_fill_ruled(struct sched_try *t, uint32_t role, int32_t n) KAR_NONNULL;
/* A miss of one role by sched_fill_ruled() is certain. */
bool sched_fill_is_exact(const struct sched_class *c) KAR_NONNULL;
/* Would all ways in which its pods may go be one another's permutations? */
bool sched_is_spread(const struct sched_class *c) KAR_NONNULL;
bool sched_is_orderless(const struct sched_class *c) KAR_NONNULL;
/* It can only go where pods are of which there are none, and is none of them. */
bool sched_goes_after(const struct sched_class *c) KAR_NONNULL;
/* Values of a label of which one is to have all pods of some roles. */
struct sched_seeds {
	const char *key, **values; /* interned; those that may do first; NULL: no role needs it */
	const struct sched_set *set;
	uint32_t n, n_may; /* .n_may: have room for all pods of a role */
};
struct sched_seeds sched_find_seeds(struct sched_try *t) KAR_NONNULL;
/* Pods that want to be together go where most of them have room. */
void sched_seed_largest(struct sched_try *t) KAR_NONNULL;
/* The role goes where the seed is, though it has no rule of its own. */
bool sched_follows_seed(const struct sched_try *t, uint32_t role) KAR_NONNULL;

/* --- class.c */
/* A resource has got a number: classes that ask for it can have it. */
void sched_classes_read(struct kar_sched *s) KAR_NONNULL;
void sched_class_free(struct kar_sched *s, uint32_t class) KAR_NONNULL;
void sched_class_drop_unused(struct kar_sched *s, uint32_t class) KAR_NONNULL;

/* --- hot.c */
size_t sched_hot_bytes(const struct kar_sched *s) KAR_NONNULL;
/* Takes the node out of all buckets and totals until it is recounted with @match. */
void sched_withdraw(struct kar_sched *s, uint32_t node) KAR_NONNULL;
/* The counts of a class; the class becomes hot. They stay valid for as long as no other KAR_SCHED_HOT classes are asked about. */
struct sched_hot *sched_hot(struct kar_sched *s, uint32_t class) KAR_NONNULL KAR_RETNN;
void sched_cool(struct kar_sched *s, uint32_t class) KAR_NONNULL;
/* The node has changed: its room (@match: and what kar_sched_match() looks at). */
void sched_recount(struct kar_sched *s, uint32_t node, bool match) KAR_NONNULL;
void sched_hot_grow(struct kar_sched *s) KAR_NONNULL; /* .room_nodes has grown */
void sched_hot_add_key(struct kar_sched *s, struct sched_hot *h, uint32_t key) KAR_NONNULL;
/* Whether the domain of these nodes is whole has changed: they go to the buckets of that. The first of them will be the first of its bucket. */
void sched_rebucket(struct kar_sched *s, const uint32_t *nodes, uint32_t n) KAR_NONNULL;
/* The first node in the order of the policy that has a copy; SCHED_NONE: none. */
uint32_t sched_best(const struct sched_hot *h) KAR_NONNULL;
/* Copies of the class on the node: as it is, or (@empty) with nothing on it. 0 if it does not match. */
int32_t sched_copies(const struct kar_sched *s, const struct sched_class *c, uint32_t node,
	bool empty) KAR_NONNULL;

/* --- domain.c */
/* The number of the path of @n labels. It stays valid until KAR_SCHED_KEYS others were asked for. */
uint32_t sched_key(struct kar_sched *s, const char *const *labels, uint32_t n) KAR_NONNULL;
/* .room_nodes has grown. */
void sched_keys_grow(struct kar_sched *s) KAR_NONNULL;
void sched_key_free(struct kar_sched *s, struct sched_key *key) KAR_NONNULL;
void sched_domains_enter(struct kar_sched *s, uint32_t node) KAR_NONNULL;
void sched_domains_leave(struct kar_sched *s, uint32_t node) KAR_NONNULL;

/* --- whole.c */
static inline bool sched_is_busy(const struct sched_node *n)
{
	return n->n_taken > n->n_own;
}
/* Is the node in a domain that is whole? */
static inline bool sched_is_whole(const struct kar_sched *s, uint32_t node)
{
	const struct sched_key *k = s->whole == SCHED_NONE ? NULL : &s->keys[s->whole];

	return k && k->domain[node] != SCHED_NONE && k->state[k->domain[node]].whole;
}
/* Domains of this key are broken last from now on; SCHED_NONE: none are. */
void sched_whole_begin(struct kar_sched *s, uint32_t key) KAR_NONNULL;
/* The node has come into its domain, or is about to leave it. */
void sched_whole_enter(struct kar_sched *s, uint32_t node) KAR_NONNULL;
void sched_whole_leave(struct kar_sched *s, uint32_t node) KAR_NONNULL;
/* Pods on the node have come or gone; @was: it was busy. */
void sched_whole_taken(struct kar_sched *s, uint32_t node, bool was) KAR_NONNULL;

/* --- place.c */

/* May it be on the node, some day? */
static inline bool sched_may_suit(const struct kar_node_offer *node, const struct kar_pod_needs *needs)
{
	return kar_sched_match_at_best(node, needs, NULL) == KAR_FITS;
}
/* How many of the pods that the role needs have no place on all nodes, were these ready, uncordoned and empty. */
int64_t sched_missing_on_empty(struct kar_sched *s, const struct kar_gang *gang,
	const struct kar_role *role) KAR_NONNULL;
/* All needed pods of the gang within the scope of @t or none, then wanted ones. */
bool sched_place_in_scope(struct sched_try *t, struct kar_placement *out) KAR_NONNULL;
/* What all needed pods of the gang ask for; INT64_MAX: at least as much. */
int64_t sched_asked_in_all(const struct kar_sched *s, const struct kar_gang *gang,
	uint32_t resource) KAR_NONNULL;
/* As sched_fill(), whatever levels are below the scope. */
int32_t sched_fill_level(struct sched_try *t, uint32_t role, int32_t n) KAR_NONNULL;
/* Up to @n pods of the role in the order of the policy; how many. */
int32_t sched_fill(struct sched_try *t, uint32_t role, int32_t n) KAR_NONNULL;
/* Roles, the one with the largest request relative to the largest node first; in the arena. */
uint32_t *sched_order_by_size(struct sched_try *t) KAR_NONNULL KAR_RETNN;

/* --- slices.c */
struct sched_ranked {
	uint32_t domain;
	int64_t copies;
	const char *path; /* decides between equals: numbers come from the order of events */
};
/* For qsort(): the one with the least room first. */
int sched_compare_room(const void *a, const void *b) KAR_NONNULL;
/*
 * The domains of the depth with room for pods of the class inside the scope, the one with the least room first; in the arena. @whole: only room
 * in whole slices counts, which are not wider.
 */
struct sched_ranked *sched_domains_inside(struct sched_try *t, uint32_t depth, uint32_t class, bool whole,
	uint32_t *n) KAR_NONNULL KAR_RETNN;
/* Is its scope wider than the domain of a slice? */
bool sched_is_sliced(const struct sched_try *t) KAR_NONNULL;
/* For how many pods in whole slices each domain of the depth, which is not narrower, has room; per domain, in the arena. */
int64_t *sched_whole_slices(struct sched_try *t, uint32_t class, uint32_t depth) KAR_NONNULL KAR_RETNN;
/* Is there room for so many pods of the class within the scope, in slices if they are to be in some? */
bool sched_may_hold(struct sched_try *t, uint32_t class, int64_t need) KAR_NONNULL;
/* How many of the pods that the role needs have no place in slices on the empty nodes of the domain (@key SCHED_NONE: on all). */
int64_t sched_missing_slices(struct kar_sched *s, const struct kar_gang *gang, const struct kar_role *role,
	uint32_t key, uint32_t domain) KAR_NONNULL;
/* "each 16 in one example.com/rack" */
void sched_put_slices(const struct kar_topology_wish *w, struct kar_buf *out) KAR_NONNULL;
/* Those from number @from on: by role, and then in the order of ranks. */
void sched_sort_places(struct sched_try *t, uint32_t from) KAR_NONNULL;

/* --- tree.c */
/* As sched_fill(), for a gang with a wish: its places are in the order of ranks. */
int32_t sched_fill_by_wish(struct sched_try *t, uint32_t role, int32_t n) KAR_NONNULL;
/* Places a gang that has a wish. */
bool sched_place_by_wish(struct sched_try *t, struct kar_placement *out) KAR_NONNULL;
/* As sched_fill(): in the fewest domains of the next level, and so on down. */
int32_t sched_fill_packed(struct sched_try *t, uint32_t role, int32_t n) KAR_NONNULL;
/* In which domain of the required depth fewest pods have no place on empty nodes, and how many: 0: it may fit. */
struct sched_largest {
	uint32_t key, domain; /* SCHED_NONE: there is none */
	int64_t holds;        /* pods */
	bool fits;
	int64_t unlabelled; /* nodes in none */
};
struct sched_largest sched_largest_domain(struct kar_sched *s, const struct kar_gang *gang) KAR_NONNULL;
/* Which label keeps all nodes out of the required level: no node is in a domain of that. */
void sched_explain_no_domain(struct kar_sched *s, const struct kar_gang *gang,
	struct kar_buf *out) KAR_NONNULL;
enum { SCHED_WHY_BYTES = 513 }; /* of a text, NUL included */
/* kar_sched_explain_empty() of a gang that requires one domain. */
struct kar_sched_why sched_explain_largest(struct kar_sched *s, const struct kar_gang *gang,
	struct kar_arena *a) KAR_NONNULL;

/* --- place.c, explain.c: the questions of sched.h about a gang without .asks; asks.c answers them about any */
bool sched_place(struct kar_sched *s, const struct kar_gang *gang, struct kar_arena *a,
	struct kar_placement *out) KAR_NONNULL;
bool sched_feasible(struct kar_sched *s, const struct kar_gang *gang) KAR_NONNULL;
struct kar_sched_why sched_explain(struct kar_sched *s, const struct kar_gang *gang, const char *const *names,
	struct kar_arena *a) __attribute__((nonnull(1, 2, 4)));
struct kar_sched_why sched_explain_empty(struct kar_sched *s, const struct kar_gang *gang,
	const char *const *names, struct kar_arena *a) __attribute__((nonnull(1, 2, 4)));

/* --- search.c */
/*
 * Places all by trying all ways, for gangs of at most 12 pods, within a bound on the work. Returns whether it fits. *@all becomes whether
 * everything was tried, so that a miss is certain.
 */
bool sched_search(struct sched_try *t, bool *all) KAR_NONNULL;

/* --- hold.c */
/* Takes the room that the gang holds for later; false: there is not enough, and nothing is taken. */
bool sched_hold(struct kar_sched *s, const struct kar_gang *gang, struct kar_arena *a,
	struct kar_placement *out) KAR_NONNULL;

#endif
