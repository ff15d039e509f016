/*
 * suspendable - workloads of other controllers that make no pods while they are suspended (a batch Job), as far as queues need them: what
 * pods they would make, and who has suspended them (docs/WORKLOADS.md).
 *
 * Each kind is one file, which reads the fields of that kind into the same struct. Only objects with the label KAR_LABEL_QUEUE are cached.
 * The objects are immutable; strings live in the object's own memory.
 */
#ifndef KAR_API_SUSPENDABLE_H
#define KAR_API_SUSPENDABLE_H

#include <assert.h>

#include "api/pod/pod_charge.h"
#include "api/pod/pod_needs.h"
#include "common/kube/object.h"

/* X(type, name of the cache): the kinds. */
#define KAR_SUSPENDABLES(X) \
	X(kar_batchjob_type, batchjobs) \
	X(kar_jobset_type, jobsets) \
	X(kar_pytorchjob_type, pytorchjobs) \
	X(kar_tfjob_type, tfjobs) \
	X(kar_xgboostjob_type, xgboostjobs) \
	X(kar_paddlejob_type, paddlejobs) \
	X(kar_jaxjob_type, jaxjobs) \
	X(kar_mpijob_type, mpijobs) \
	X(kar_raycluster_type, rayclusters) \
	X(kar_rayjob_type, rayjobs)

enum { KAR_SUSPENDABLE_SETS = 64 }; /* more of one object are not read */

/* Pods of one template: a role of the gang. */
struct kar_suspendable_set {
	const char *name;  /* as its kind calls it */
	const char *at;    /* where its template is in the object, as a JSON pointer */
	int32_t count;     /* that are still to run at the same time */
	int32_t most;      /* that run at the same time while none has succeeded */
	int32_t ever;      /* members that the group can have: one that has succeeded is not made again */
	bool has_metadata; /* the template has */
	bool has_labels;   /* likewise */
	const struct kar_pod_needs *needs;    /* shared; NULL: not known, or its user names the node */
	const struct kar_pod_counted *charge; /* shared: what a ResourceQuota counts of a pod */
	const char *priority_class;           /* NULL: none */
	const char *scheduler;                /* "default-scheduler" if it names none */
	const char *topology;   /* what its annotations ask for (api/core/topology_wish.h); NULL */
	const char *group;      /* the PodGroup that its label names; NULL: none */
	struct kar_array gates; /* const char *: its scheduling gates */
	bool gated;             /* KAR_GATE is one of them */
};

struct kar_suspendable {
	struct kar_object o; /* first */
	struct kar_arena mem;
	int64_t generation;
	kar_time creation, deletion;
	kar_time started_at; /* the time from which .run_seconds count; 0: it has not started */
	int64_t run_seconds; /* after which it fails if it runs still; 0: it names no such time */
	const char *queue;   /* of its label; NULL: none */
	const char *
		managed_by; /* another controller that runs it, perhaps in another cluster; NULL: that of its kind */
	const char *controlled_by; /* "JobSet a": who made it, and decides when it runs; NULL: nobody does */
	bool limits_time;          /* objects of its kind can have .run_seconds */
	bool suspended;
	bool by_queue; /* of .suspended: by the manager */
	bool resumed;  /* by the manager, and not suspended since */
	bool started;  /* it has run; its template cannot be changed then, unless this is taken back first */
	bool ended;
	bool in_turn; /* some of its pods are made only when others of them run */
	const char *
		suspend_in; /* the member of the spec that says whether it is suspended; NULL: the spec itself */
	const char *unsupported;          /* why it cannot be in a queue, for its user; NULL: it can */
	struct kar_suspendable_set *sets; /* of the pods that it makes */
	size_t n_sets;
};

#define KAR_SUSPENDABLE_TYPE(type_, cache_) extern const struct kar_type type_;
KAR_SUSPENDABLES(KAR_SUSPENDABLE_TYPE)
#undef KAR_SUSPENDABLE_TYPE

/* Is @type one of KAR_SUSPENDABLES? */
bool kar_is_suspendable(const struct kar_type *type) KAR_NONNULL;

static inline const struct kar_suspendable *kar_as_suspendable(const struct kar_object *o)
{
	assert(o && kar_is_suspendable(o->type));
	return (const struct kar_suspendable *)(const void *)o;
}

/* Pods of all sets: .count, .most and .ever. */
int32_t kar_suspendable_count(const struct kar_suspendable *s) KAR_NONNULL;
int32_t kar_suspendable_most(const struct kar_suspendable *s) KAR_NONNULL;
int32_t kar_suspendable_ever(const struct kar_suspendable *s) KAR_NONNULL;
/* Are the needs of all its pods known? */
bool kar_suspendable_is_known(const struct kar_suspendable *s) KAR_NONNULL;
/* Are the pods that it makes members of the group of its name, which wait at our gate? */
bool kar_suspendable_is_ready(const struct kar_suspendable *s) KAR_NONNULL;
/* Likewise those of one set. */
bool kar_suspendable_set_is_ready(const struct kar_suspendable *s,
	const struct kar_suspendable_set *set) KAR_NONNULL;

/* Is nothing changed that a queue depends on? Counts of a status change often. */
bool kar_suspendable_same(const struct kar_suspendable *a, const struct kar_suspendable *b) KAR_NONNULL;

/* --- for the kinds ------------------------------------------------------------------------------------ */

/* A new object with what the metadata say. For project(). */
struct kar_suspendable *kar_suspendable_new(const struct kar_type *type, const struct kar_wire_object *head,
	struct kar_intern *strings) KAR_NONNULL KAR_RETNN;
/*
 * Adds a set @name (NULL: it has none), @count pods of the PodTemplateSpec @raw (JSON), which is at the JSON pointer @at. .most and .ever are @count. For project().
 * NULL: it would be one too many, and .unsupported says so. More are added later, so the result is not kept.
 */
struct kar_suspendable_set *kar_suspendable_add(struct kar_suspendable *s, const char *name, const char *at,
	int64_t count, struct kar_str raw) __attribute__((nonnull(1, 3)));
/* Is the condition @type True in @conditions (struct kar_wire_condition)? */
bool kar_suspendable_is_so(const struct kar_array *conditions, const char *type) KAR_NONNULL;
/* .managed_by of @s, whose spec names the controller @named (may be NULL), for a kind whose own controller is @itself. */
const char *kar_suspendable_manager(struct kar_suspendable *s, const char *named, const char *itself)
	__attribute__((nonnull(1, 3)));
/* For kar_type.destroy. */
void kar_suspendable_destroy(struct kar_object *o, struct kar_intern *strings) KAR_NONNULL;

#endif
