/*
 * queuejob_wire - the decoded JSON of a QueueJob, shared by the files that read it.
 */
#ifndef KAR_API_QUEUEJOB_WIRE_H
#define KAR_API_QUEUEJOB_WIRE_H

#include "api/core/selector.h"
#include "api/queuejob/queuejob.h"

/* The fields of a pod template that the manager decodes. */
struct kar_wire_template_spec {
	int32_t priority;
	bool has_priority;
	const char *priority_class, *scheduler, *restart_policy, *hostname, *subdomain;
	struct kar_array node_selector; /* struct kar_pair */
};

struct kar_wire_template {
	struct kar_wire_meta meta;
	struct kar_wire_template_spec spec;
};

struct kar_wire_failure_policy {
	struct kar_array rules;
};
extern const struct kar_desc kar_failure_policy_desc;
struct kar_failure_policy kar_failure_policy_read(const struct kar_wire_failure_policy *wire,
	struct kar_arena *mem) KAR_NONNULL;

struct kar_wire_qj_record {
	struct kar_qj_record s; /* first */
	const char *restart_kind, *formation, *objection, *pods_version;
};

struct kar_wire_qj_status {
	struct kar_queuejob_status s; /* first */
	const char *phase;
	struct kar_array tasks; /* struct kar_task_status */
	struct kar_array after; /* struct kar_after_status */
	struct kar_what_if_wire what_if;
	struct kar_array conditions; /* struct kar_wire_condition */
	struct kar_wire_qj_record record;
};
/* Clamps impossible numbers, and copies texts to @mem. */
void kar_queuejob_status_read(const struct kar_wire_qj_status *wire, struct kar_queuejob_status *s,
	struct kar_arena *mem) KAR_NONNULL;

/*
 * The effective selector as a string in @arena. If @selector is NULL or empty: the label that the manager sets for @job_name.
 */
const char *kar_queuejob_selector_text(const struct kar_selector *selector, const char *job_name,
	struct kar_arena *arena) __attribute__((nonnull(2, 3)));
/*
 * Why no pod can be made of the spec of @job, as a text in its arena; NULL: it is valid. @selector NULL: the spec has none.
 * @templates: one for each task. The CEL rules of the CRD reject most of this earlier, but the installed CRD may be older.
 */
const char *kar_queuejob_check(struct kar_queuejob *job, const struct kar_selector *selector,
	const struct kar_wire_template *templates) __attribute__((nonnull(1, 3)));

#endif
