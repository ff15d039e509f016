/*
 * record - what became of the jobs, pods and nodes of a run, as intervals of time. Filled by a listener of the API server.
 *
 * Times are ms after the start of the run; KAR_NEVER: has not happened. Strings and arrays belong to the record.
 */
#ifndef SIM_RECORD_H
#define SIM_RECORD_H

#include "common/base/mem.h"
#include "sim/apiserver/apiserver.h"
#include "sim/apiserver/quantity.h"
#include "sim/scenario/lookup.h"

/* A stretch of time in one phase. */
struct sim_stretch {
	const char *phase;
	const char *reason; /* of a job's restart; else "" */
	kar_time from, to;  /* to: KAR_NEVER while it lasts */
};

struct sim_job_record {
	const char *ns, *name, *queue;
	kar_time submitted, admitted /* by the queue, as its PodGroup says */, running, ended,
		deleted;            /* the first of each */
	const char *phase, *reason; /* the last */
	const char *waited_for;     /* the message that stood longest before it ran for the first time; "" */
	int64_t restarts, pods;     /* pods: of its spec */
	int64_t milli_cpu;          /* that its pods ask for */
	struct sim_stretch *stretches;
	size_t n_stretches;
	/* Of .waited_for. */
	const char *message, *unfit; /* unfit: what the scheduler said last of one of its pods; "" */
	kar_time message_since, message_longest;
};

struct sim_pod_record {
	size_t job; /* index, or SIZE_MAX: somebody else's */
	const char *name, *node, *uid;
	size_t node_number;             /* index of .node, or SIZE_MAX */
	kar_time bound, started, ended; /* ended: terminal or gone; it then holds nothing any more */
	bool failed;                    /* by itself: what is stopped does not fail */
	struct sim_value *requests;     /* sums over the containers; owned */
};

struct sim_node_record {
	const char *name;
	kar_time added, removed;
	struct sim_value *allocatable; /* owned */
	struct sim_value *labels;      /* owned; NULL: it has none */
	struct sim_stretch *down;      /* not Ready or cordoned: phase says which */
	size_t n_down;
	size_t *pods; /* indices of all that were ever bound to it, in order of binding */
	size_t n_pods;
};

/* Requests of the manager that write, of one kind. */
struct sim_write_record {
	const char *what; /* "patch podgroups/status", "create pods (dry run)" */
	int64_t n;        /* sent; refused ones count */
};

struct sim_record {
	struct kar_arena arena;
	kar_time start; /* wall */
	kar_time end;   /* ms after the start: set by sim_record_close() */
	struct sim_timeline *timeline;
	struct sim_job_record *jobs; /* in order of submission */
	struct sim_pod_record *pods; /* in order of binding */
	struct sim_node_record *nodes;
	struct sim_write_record *writes; /* in order of the first of each */
	size_t n_jobs, n_pods, n_nodes, n_writes;
	const char *
		rack_label; /* of the narrowest level of a Topology that is wider than a node; NULL: there is none */
	size_t n_ended;                                   /* jobs that ended or were deleted */
	struct sim_lookup job_keys, pod_uids, node_names; /* the newest of each */
};

/* Starts to record what happens at @s from now on. @r must stay where it is as long as the server lives. */
void sim_record_start(struct sim_record *r, struct sim_apiserver *s) KAR_NONNULL;
/* Counts @rq if it writes. */
void sim_record_request(struct sim_record *r, const struct sim_request *rq) KAR_NONNULL;
/* Ends what still lasts at the present moment. */
void sim_record_close(struct sim_record *r) KAR_NONNULL;
void sim_record_release(struct sim_record *r) KAR_NONNULL;

/* Share of @resource ("cpu") of node @i that was in use over the time it existed, in thousandths; -1: it has none. */
int sim_record_node_use(const struct sim_record *r, size_t i, const char *resource) KAR_NONNULL;
/* Over all nodes. */
int sim_record_use(const struct sim_record *r, const char *resource) KAR_NONNULL;
/* The largest share that @pod takes of its node, over all resources, in thousandths. */
int sim_record_pod_share(const struct sim_record *r, const struct sim_pod_record *pod) KAR_NONNULL;
/* ms from the first run of @j to its end in which its gang did not run: it formed again, or was suspended. */
kar_time sim_record_lost(const struct sim_record *r, const struct sim_job_record *j) KAR_NONNULL;
/* Does the gang release in @s what it holds, because it got only a part of its nodes or of its quota? That is no restart. */
bool sim_stretch_releases(const struct sim_stretch *s) KAR_NONNULL;
/* Index of the node @name, or SIZE_MAX. */
size_t sim_record_node(const struct sim_record *r, const char *name) KAR_NONNULL;

#endif
