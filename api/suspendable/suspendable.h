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
#define KAR_SUSPENDABLES(X) X(kar_batchjob_type, batchjobs)

/* Pods of one template. */
struct kar_suspendable_set {
	int32_t count;                        /* that are still to run at the same time */
	int32_t most;                         /* that run at the same time while none has succeeded */
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
	const char *queue; /* of its label; NULL: none */
	const char *
		managed_by; /* another controller that runs it, perhaps in another cluster; NULL: that of its kind */
	const char *controlled_by; /* "JobSet a": who made it, and decides when it runs; NULL: nobody does */
	bool suspended;
	bool by_queue; /* of .suspended: by the manager */
	bool resumed;  /* by the manager, and not suspended since */
	bool started;  /* it has run; its template cannot be changed then, unless this is taken back first */
	bool ended;
	struct kar_suspendable_set set; /* of the pods that it makes */
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

/* Is nothing changed that a queue depends on? Counts of a status change often. */
bool kar_suspendable_same(const struct kar_suspendable *a, const struct kar_suspendable *b) KAR_NONNULL;

/* --- for the kinds ------------------------------------------------------------------------------------ */

/* A new object with what the metadata say. For project(). */
struct kar_suspendable *kar_suspendable_new(const struct kar_type *type, const struct kar_wire_object *head,
	struct kar_intern *strings) KAR_NONNULL KAR_RETNN;
/* Reads the PodTemplateSpec @raw (JSON) into .set of @s. For project(). */
void kar_suspendable_read_template(struct kar_suspendable *s, struct kar_str raw) KAR_NONNULL;
/* For kar_type.destroy. */
void kar_suspendable_destroy(struct kar_object *o, struct kar_intern *strings) KAR_NONNULL;

#endif
