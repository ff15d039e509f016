/*
 * podgroup - the PodGroup reconciler: counts members, keeps phase and conditions (docs/design/podgroup.md).
 *
 * Phase, counts and conditions are recomputed from the pods in the cache; only status.record is remembered. The reconciler does
 * not know tasks or jobs, so the pods of any controller may join a group by label. The condition Admitted belongs to the queue
 * reconciler.
 */
#ifndef KAR_PODGROUP_RECONCILER_H
#define KAR_PODGROUP_RECONCILER_H

#include "api/types.h"
#include "controllers/runtime/plan.h"

enum podgroup_owner {
	PODGROUP_OWNER_UNKNOWN, /* none, or one of which we cannot see whether it has ended */
	PODGROUP_OWNER_WORKS,   /* the workload that controls the group has not ended, or is gone */
	PODGROUP_OWNER_TERMINAL, /* the workload that controls the group has ended, or wants no more pods than have succeeded */
};

/* Which kind of waiting was told in an event (tell.h). */
struct podgroup_told {
	kar_time since; /* wall ms, when it began, or was seen first */
	uint8_t kind;   /* 0: none that is told */
	bool known;     /* this manager has looked at the group before */
	bool told;
};

struct podgroup_view {
	const struct kar_podgroup *group;
	const struct kar_pod **pods; /* members: same namespace, by label or annotation */
	size_t n_pods;
	const struct kar_flavor *flavor; /* in which it is admitted; NULL: its pods may be anywhere */
	const char *queue;               /* in which it is (controllers/cluster/asked.h) */
	const char *
		ignored; /* why what annotations of its members ask for of a topology is not acted upon; NULL: it is, or they ask for nothing */
	const char *
		outside; /* its nodes that are not in its required domain any more, as a message; NULL: none */
	const char *served;       /* names of schedulers whose work the manager does; "a,b"; NULL: none */
	const char *unit_failing; /* "ns/name" of one of its unit that is being rolled back; NULL: none */
	const char *
		release_refused; /* what the API server said of a member that it does not let start; NULL: nothing */
	kar_time refused_since;   /* wall ms, of .release_refused */
	kar_time native_interval; /* ms until .native_lost may change */
	kar_time default_timeout; /* ms; of groups without scheduleTimeoutSeconds */
	int64_t owner_generation; /* of the workload; 0: none */
	struct podgroup_told told;
	enum podgroup_owner owner;
	bool bounded; /* its queue says how many of its members start beyond the minimum (controllers/cluster/asked.h) */
	bool moves;     /* its members name another queue, which is not its label yet (cluster/asked.h) */
	bool suspended; /* its workload is suspended by the manager, which removes its pods */
	bool of_others; /* its members are of other controllers: those with our gate are released here */
	bool unplaced; /* nobody places it: it keeps no placement, or the manager does not see all pods on the nodes */
	bool outdated; /* of others: a node of its plan has no room for its members any more */
	bool unit_waits; /* it starts with other gangs, and one of them has no plan yet (controllers/cluster/unit.h) */
	bool mark_refused; /* the API server has refused the condition DisruptionTarget: pods are deleted without it */
	bool non_strict; /* a member without room fails the attempt only when its time is over */
	bool direct;     /* the pods of the workload are created bound (api/pod/pod_direct.h) */
	bool native_lost; /* the cluster has no PodGroups of its own (any more), if the group is to start with one */
	bool raised; /* the workload runs on with the minimum that it had before an edit */
};

/*
 * Will this pod stay gated for good once its group is gone? A pod of a workload will not: its controller creates the
 * group again, and releases or deletes the pods.
 */
bool podgroup_strands(const struct kar_pod *pod) KAR_NONNULL;

/* Pure. Sets p->status to a struct kar_podgroup_status if it must be written. @now: wall ms. */
void podgroup_decide(const struct podgroup_view *v, kar_time now, struct kar_plan *p) KAR_NONNULL;

#endif
