/*
 * podgroup - scheduling.x-k8s.io/v1alpha1 PodGroup, with our additions (design api.md, podgroup.md).
 */
#ifndef KAR_API_PODGROUP_H
#define KAR_API_PODGROUP_H

#include <assert.h>

#include "api/condition.h"
#include "common/kube/object.h"

/* Condition types. */
#define KAR_PG_ADMITTED "Admitted"           /* written by the queue reconciler: its pods may be created */
#define KAR_PG_SCHEDULED "Scheduled"         /* minMember members are bound */
#define KAR_PG_MEMBER_FAILED "MemberFailed"  /* a member failed although the quorum holds */
#define KAR_PG_UNSCHEDULABLE "Unschedulable" /* a member cannot be placed */

struct kar_podgroup_spec {
	int32_t min_member;
	/* Of the quorum: have succeeded, and are left out of min_member, because a scheduler does not see pods that have ended. */
	int32_t succeeded_members;
	bool has_succeeded_members;      /* if not, although we write it always, the CRD does not know it */
	const char *queue;               /* NULL: default */
	const char *priority_class_name; /* NULL: none */
	int32_t priority;                /* resolved number our controllers hand on; see has_priority */
	bool has_priority;
	int32_t schedule_timeout_seconds;
	bool has_schedule_timeout;
	struct kar_array min_resources;   /* struct kar_pair, quantities as text, sorted by key */
	struct kar_array total_resources; /* likewise */
};

struct kar_podgroup_status {
	const char *phase;       /* "Pending" ...; NULL: never written */
	const char *occupied_by; /* "" or "ns/owner,..." */
	int32_t scheduled, running, succeeded, failed, members;
	kar_time schedule_start_time; /* 0: absent */
	int32_t desired;              /* members that may be active at once; only with .has_desired */
	bool has_desired;             /* false: no limit */
	int32_t position; /* among the waiting groups of its queue, 1 = next; 0: not waiting; queue reconciler's */
	struct kar_conditions conditions;
};

struct kar_podgroup {
	struct kar_object o; /* first */
	struct kar_arena mem;
	int64_t generation;
	kar_time creation, deletion;
	const char *owner_uid; /* interned; controller's; NULL: none */
	const char *owner_name;
	bool owner_is_queuejob; /* of our API group; other projects have a kind of that name too */
	bool orphan;            /* see kar_queuejob_orphan() */
	struct kar_podgroup_spec spec;
	struct kar_podgroup_status status;
};

extern const struct kar_type kar_podgroup_type;
enum { KAR_PG_BY_OWNER };

static inline const struct kar_podgroup *kar_as_podgroup(const struct kar_object *o)
{
	assert(o && o->type == &kar_podgroup_type);
	return (const struct kar_podgroup *)(const void *)o;
}

/* Writes the spec object value. */
void kar_podgroup_spec_write(struct kar_json_writer *w, const struct kar_podgroup_spec *s) KAR_NONNULL;
bool kar_podgroup_spec_equal(const struct kar_podgroup_spec *a,
	const struct kar_podgroup_spec *b) KAR_NONNULL;

#endif
