/*
 * what_if - the answer to a job that asks when it would start (status.whatIf of a QueueJob and its PodGroup).
 *
 * A QueueJob asks with annotation kube-arbitrator.io/what-if: "true" and spec.suspend: true. The pass answers as if it had been submitted
 * then; it changes nothing (controllers/queue/what_if.c).
 */
#ifndef KAR_API_WHAT_IF_H
#define KAR_API_WHAT_IF_H

#include "common/codec/decode.h"

enum kar_what_if_answer {
	KAR_WHAT_IF_NONE,     /* not answered yet */
	KAR_WHAT_IF_FITS_NOW, /* it would start at once */
	KAR_WHAT_IF_WAITS,
	KAR_WHAT_IF_NEVER,  /* unless the job, the queue or the cluster changes */
	KAR_WHAT_IF_REFUSED /* too many questions of its namespace are open */
};

/* Pods that would go for it. */
struct kar_what_if_eviction {
	const char *queue; /* that they are of */
	int32_t pods;
};

struct kar_what_if {
	enum kar_what_if_answer answer;
	kar_time time;       /* of the answer, wall ms, whole seconds */
	const char *reason;  /* why it would wait, as condition Admitted would give it; "": it would not */
	const char *message; /* with amounts; of FitsNow: "" */
	int32_t position;    /* that it would have in its queue; 0: none */
	struct kar_what_if_eviction *evicts;
	size_t n_evicts;
	kar_time expected; /* when it would start, 0: nobody can say */
	const char *basis; /* of that: "deadlines"; "": there is none */
};

/* Its wire struct (api/status/status_fields.h). */
struct kar_what_if_wire {
	struct kar_what_if s;
	const char *answer;
	struct kar_array evicts; /* struct kar_what_if_eviction */
};

extern const struct kar_desc kar_what_if_table; /* its status_fields, each with KAR_SF_STORY */

const char *kar_what_if_name(enum kar_what_if_answer a) KAR_RETNN;
/* All of it in @a. */
struct kar_what_if kar_what_if_copy(const struct kar_what_if *from, struct kar_arena *a) KAR_NONNULL;

#endif
