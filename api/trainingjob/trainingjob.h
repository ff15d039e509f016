/*
 * trainingjob - TrainingJob (namespaced, paddlepaddle.org/v1): a distributed training of Paddle, of which a QueueJob is made (S4).
 *
 * Its published examples write the same member in several ways, as min-instance and min_instance, and all of them are read. Names of
 * resources that Kubernetes has given up are rewritten. trainingjob_queuejob.h says what becomes of it.
 */
#ifndef KAR_API_TRAININGJOB_H
#define KAR_API_TRAININGJOB_H

#include <assert.h>

#include "api/status/condition.h"
#include "api/status/status_fields.h"
#include "common/kube/object.h"

/* What the pods of one part ask for, and how many there are. */
struct kar_training_part {
	bool given;
	int32_t min, max;                  /* instances, 0 <= min; .max is .min if it is absent */
	struct kar_array limits, requests; /* struct kar_pair, by today's names */
};

/* Texts are NULL when absent. Raw JSON has length 0 then. */
struct kar_trainingjob_spec {
	const char *image, *entrypoint, *workspace, *etcd_endpoint, *priority_class;
	int32_t port, ports_num, ports_num_for_sparse, passes;
	bool host_network, fault_tolerant, suspend;
	struct kar_str volumes, volume_mounts, pull_secrets; /* as in a pod */
	struct kar_training_part master, pserver, trainer;
};

enum kar_training_phase {
	KAR_TRAINING_NONE,
	KAR_TRAINING_CREATING, /* it waits, or its pods come */
	KAR_TRAINING_RUNNING,
	KAR_TRAINING_SCALING, /* it runs, and trainers come or go */
	KAR_TRAINING_SUCCEEDED,
	KAR_TRAINING_FAILED,
};

/* A change of the number of its trainers. */
struct kar_training_scale {
	const char *reason;
	const char *status; /* "True": it was made */
	kar_time time;
	int32_t additional; /* <0: so many fewer */
};
enum { KAR_TRAINING_SCALES = 20 }; /* that are kept */

struct kar_training_states {
	int32_t starting, running, succeeded, failed; /* pods */
};

/* How one part is. */
struct kar_training_replicas {
	const char *type;  /* "master", "pserver" or "trainer" */
	const char *state; /* "starting", "running", "succeeded" or "failed" */
	struct kar_training_states states;
};

struct kar_training_scales {
	struct kar_training_scale *items; /* the oldest first */
	size_t n;
};

struct kar_trainingjob_status {
	enum kar_training_phase phase;
	const char *reason; /* why it is in this phase; "" when there is nothing to say */
	int64_t observed_generation;
	int32_t trainers; /* that are wanted now */
	int32_t running;  /* trainers that run */
	kar_time start_time, completion_time;
	struct kar_training_scales scales;
	struct kar_training_replicas *replicas;
	size_t n_replicas;
	struct kar_conditions conditions;
};
/* Table of the status (api/status/status_fields.h). */
extern const struct kar_desc kar_trainingjob_status_table;

/* Condition types. */
#define KAR_TRAINING_RENAMED "ResourceRenamed"
#define KAR_TRAINING_FIXED_PSERVERS "PserverScalingUnsupported"

struct kar_trainingjob {
	struct kar_object o; /* first */
	struct kar_arena mem;
	int64_t generation;
	kar_time deletion;
	const char *queue;          /* of its label; NULL: none */
	const char *priority_level; /* of its label; NULL: none */
	int32_t freezing_window;    /* s, of its annotation; <0: none */
	struct kar_trainingjob_spec spec;
	struct kar_trainingjob_status status;
	const char *problem; /* why it cannot be run; NULL: it can */
	const char *renamed; /* what was rewritten in its resources, for a condition; NULL: nothing */
};

extern const struct kar_type kar_trainingjob_type;

static inline const struct kar_trainingjob *kar_as_trainingjob(const struct kar_object *o)
{
	assert(o && o->type == &kar_trainingjob_type);
	return (const struct kar_trainingjob *)(const void *)o;
}

/* The amount of @resource that a pod of @part asks for, the limit before the request; NULL: it names none. */
const char *kar_training_amount(const struct kar_training_part *part, const char *resource) KAR_NONNULL;
/* GPUs that a pod of @part has, of any maker. */
int64_t kar_training_gpus(const struct kar_training_part *part) KAR_NONNULL;

#endif
