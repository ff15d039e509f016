/*
 * pg_members - the pods of a PodGroup that are gated until the group is placed: those of any controller but the QueueJob's, which creates
 * its pods only for places. Both reconcilers of groups read them by these rules. Pure.
 */
#ifndef KAR_API_PG_MEMBERS_H
#define KAR_API_PG_MEMBERS_H

#include "api/pod/pod.h"
#include "api/podgroup/podgroup.h"

/* So often members that are stuck get other nodes in an attempt, at most. */
enum { KAR_PG_REPAIRS = 3 };

/*
 * ms for which a pod may be Unschedulable on the node it is pinned to: the scheduler may see later than we do that its room is free, or
 * makes room by preemption.
 */
#define KAR_PG_STUCK_AFTER ((kar_time)3000)

/* Members that a plan names at most; a larger gang is released whole when it is admitted, wherever its pods go. */
enum { KAR_PG_PLAN_PODS = 2048, KAR_PG_PLAN_PODS_ANNOTATED = 1000 };

/* Not a group of a QueueJob: its pods are created by somebody else. */
bool kar_pg_of_others(const struct kar_podgroup *g) KAR_NONNULL;
/* Its state; NONE if it is RESERVING or SUSPENDED: nobody has placed it, and only its queue has to know what it waits for. */
enum kar_pg_state kar_pg_lasting_state(const struct kar_podgroup *g) KAR_NONNULL;
/*
 * Members of a gang that has started without which it is broken: @quorum, or as many as were bound when all of its minimum was, if it was raised
 * since. What a raised minimum lacks is let in by the queue like other members that come late (decision 093).
 */
int64_t kar_pg_formed(const struct kar_podgroup *g, int64_t quorum) KAR_NONNULL;
/* Those that the plan of @g names at most: the API server takes 256 KiB of annotations. */
size_t kar_pg_plan_pods(const struct kar_podgroup *g) KAR_NONNULL;
/* A CRD that keeps conditions, but not status.placement: it would be written again and again, so such groups are not placed. */
bool kar_pg_keeps_placement(const struct kar_podgroup *g) KAR_NONNULL;

/* Not a pod of a QueueJob. */
bool kar_pg_pod_of_others(const struct kar_pod *p) KAR_NONNULL;
/* Our gate holds it, and it is not a pod of a QueueJob. Other gates may hold it too. */
bool kar_pg_is_gated(const struct kar_pod *p) KAR_NONNULL;
/* A gate of others holds it, and it is not a pod of a QueueJob: it is not on its way to a node. */
bool kar_pg_is_held(const struct kar_pod *p) KAR_NONNULL;
/*
 * What to say of a group with the only member @only (NULL: it has none, or others): a StatefulSet that creates its pods one after the other
 * never creates the second, as the first does not start. In @a; "": nothing.
 */
const char *kar_pg_about_order(const struct kar_pod *only, struct kar_arena *a)
	__attribute__((nonnull(2))) KAR_RETNN;
/* Nothing but our gate keeps it from a node. */
bool kar_pg_waits(const struct kar_pod *p) KAR_NONNULL;
/*
 * It waits for a node that the manager binds it to, because it names one of the schedulers @served (api/pod/pod_direct.h) and has no gate. Not a
 * pod of a QueueJob.
 */
bool kar_pg_binds(const struct kar_pod *p, const char *served) __attribute__((nonnull(1)));
/* It is the manager that has let it start, by removing the gate or by binding it: only such pods are taken back. */
bool kar_pg_was_started(const struct kar_pod *p, const char *served) __attribute__((nonnull(1)));
/* Its own affinity cannot be added to, or names a node already: it is released without a certain node. */
bool kar_pg_is_unpinnable(const struct kar_pod *p) KAR_NONNULL;

/*
 * ms until @p is stuck: Unschedulable on the node that it is pinned to since the placement of @g began or was repaired; <= 0: it is.
 * KAR_NEVER: it is not Unschedulable, or may get any node. @now: wall ms.
 */
kar_time kar_pg_stuck_in(const struct kar_podgroup *g, const struct kar_pod *p, kar_time now) KAR_NONNULL;

/* Priority (high first), creation (old first), name: the order in which members get places. For qsort() of const struct kar_pod *. */
int kar_pg_compare_members(const void *a, const void *b) KAR_NONNULL;

/*
 * Those of @pods that are alive and may run: first .started ones, which no gate holds, then those that only our gate holds, in the order of
 * kar_pg_compare_members(). In @a. @served: as above.
 */
struct kar_pg_line {
	const struct kar_pod **items;
	size_t n, started;
};
struct kar_pg_line kar_pg_line(const struct kar_pod *const *pods, size_t n, const char *served,
	struct kar_arena *a) __attribute__((nonnull(4)));
/* A number that stands for these pods, in any order; never 0. */
int32_t kar_pg_digest(const struct kar_pod *const *pods, size_t n);

#endif
