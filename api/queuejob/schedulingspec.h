/*
 * schedulingspec - SchedulingSpec (S0): the scheduling requirements of a job, in an object with the name of the job.
 *
 * spec.schedSpec of a QueueJob has the same struct. The QueueJob reconciler creates one per job; custom
 * controllers may create their own.
 */
#ifndef KAR_API_SCHEDULINGSPEC_H
#define KAR_API_SCHEDULINGSPEC_H

#include <assert.h>

#include "api/core/topology.h"
#include "common/base/mem.h"
#include "common/kube/object.h"

struct kar_json_writer;

struct kar_schedspec {
	int32_t min_available;
	bool has_min_available; /* explicit 0 means: no gang */
	int32_t priority;
	bool has_priority;
	const char *priority_class_name; /* NULL: none */
	struct kar_array node_selector;  /* struct kar_pair, sorted by key */
	int32_t schedule_timeout_seconds;
	bool has_schedule_timeout;
	struct kar_topology_ask topology;
	const char *mode;         /* "Strict" or "NonStrict"; NULL: absent */
	const char *match_policy; /* "OnceSatisfied" ...; NULL: absent */
	struct kar_array
		gang_groups; /* const char * "ns/name", of a QueueJob; as written, in a SchedulingSpec */
};
extern const struct kar_desc kar_schedspec_desc; /* decodes into struct kar_schedspec */

/* Deep copy into @arena. */
struct kar_schedspec kar_schedspec_copy(const struct kar_schedspec *from,
	struct kar_arena *arena) KAR_NONNULL;
bool kar_schedspec_equal(const struct kar_schedspec *a, const struct kar_schedspec *b) KAR_NONNULL;
/* Writes the object value { "minAvailable": ... }; absent members are left out. */
void kar_schedspec_write(struct kar_json_writer *w, const struct kar_schedspec *s) KAR_NONNULL;

struct kar_schedulingspec {
	struct kar_object o; /* first */
	struct kar_arena mem;
	const char *owner_uid; /* interned; of its controller; NULL: none */
	const char *owner;     /* "CRDJob demo"; NULL: none */
	/* Of a controller that is no QueueJob; NULL: of that, or none. */
	const char *owner_api_version, *owner_kind, *owner_name;
	kar_time creation;
	bool orphan; /* see kar_queuejob_orphan() */
	kar_time deletion;
	struct kar_schedspec spec;
};

extern const struct kar_type kar_schedulingspec_type;
enum { KAR_SCHEDULINGSPEC_BY_OWNER }; /* its UID; not of those of QueueJobs */

static inline const struct kar_schedulingspec *kar_as_schedulingspec(const struct kar_object *o)
{
	assert(o && o->type == &kar_schedulingspec_type);
	return (const struct kar_schedulingspec *)(const void *)o;
}

/* See kar_podgroup_same_content(). */
bool kar_schedulingspec_same_content(const struct kar_schedulingspec *a,
	const struct kar_schedulingspec *b) KAR_NONNULL;

#endif
