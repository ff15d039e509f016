/*
 * queuejob_order - taskSpecs[].dependsOn: which task waits for which other ones. Shared by the files that read a QueueJob.
 */
#ifndef KAR_API_QUEUEJOB_ORDER_H
#define KAR_API_QUEUEJOB_ORDER_H

#include "api/queuejob/queuejob.h"
#include "common/codec/decode.h"

/* One decoded entry. */
struct kar_wire_dependency {
	const char *name, *status;
};
extern const struct kar_desc kar_wire_dependency_desc;

/* The entries of @wire (struct kar_wire_dependency) as struct kar_dependency in @mem. @s has all tasks with their names. */
struct kar_array kar_queuejob_read_order(const struct kar_queuejob_spec *s, const struct kar_array *wire,
	struct kar_arena *mem) KAR_NONNULL;
/*
 * Why the tasks of @job can never all start, as a text in its arena: a task depends on one that does not exist, or some tasks
 * depend on each other ("a -> b -> a"). NULL: all can start.
 */
const char *kar_queuejob_check_order(struct kar_queuejob *job) KAR_NONNULL;

#endif
