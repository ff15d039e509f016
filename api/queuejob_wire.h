/*
 * queuejob_wire - the decoded JSON of a QueueJob, shared by the files that read it.
 */
#ifndef KAR_API_QUEUEJOB_WIRE_H
#define KAR_API_QUEUEJOB_WIRE_H

#include "api/queuejob.h"

/* One requirement of a LabelSelector. */
struct kar_wire_requirement {
	const char *key, *op;
	struct kar_array values; /* const char * */
};

struct kar_wire_selector {
	struct kar_array labels;      /* matchLabels: struct kar_pair */
	struct kar_array expressions; /* struct kar_wire_requirement */
};

struct kar_wire_failure_policy {
	struct kar_array rules;
};
extern const struct kar_desc kar_failure_policy_desc;
struct kar_failure_policy kar_failure_policy_read(const struct kar_wire_failure_policy *wire,
	struct kar_arena *mem) KAR_NONNULL;

/*
 * The effective selector as a string in @arena: @selector's, or for NULL and an empty one the system's own for @job_name.
 */
const char *kar_queuejob_selector_text(const struct kar_wire_selector *selector, const char *job_name,
	struct kar_arena *arena) __attribute__((nonnull(2, 3)));
/*
 * Why no pod can be made of @job's spec although the API server took it, as a text in its arena; NULL: nothing is
 * wrong. @selector NULL: none was given. The CRD's CEL rules say most of this earlier; they may be missing or older.
 */
const char *kar_queuejob_check(struct kar_queuejob *job, const struct kar_wire_selector *selector)
	__attribute__((nonnull(1)));

#endif
