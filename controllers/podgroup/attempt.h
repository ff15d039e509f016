/*
 * attempt - the life of an attempt to start a gang: status.placement of a group that has been placed (docs/design/podgroup.md, 4). Pure.
 *
 * The queue reconciler places a group: that begins an attempt. From then on this table decides how the attempt goes on; the owner of the
 * pods creates and deletes them as the state says. So no gang holds a part of its minimum for longer than its time-out.
 */
#ifndef KAR_PODGROUP_ATTEMPT_H
#define KAR_PODGROUP_ATTEMPT_H

#include "api/podgroup/podgroup.h"
#include "controllers/podgroup/count.h"
#include "controllers/runtime/plan.h"

/* Failed attempts in a row after which a group is not placed any more until its owner is edited. */
enum { PODGROUP_MOST_ATTEMPTS = 20 };

/* ms in which the next member must come, as long as some of the minimum do not exist. */
#define PODGROUP_MEMBERS_WITHIN (30 * KAR_SECOND)

struct podgroup_attempt {
	const struct podgroup_view *v;
	const struct podgroup_counts *t; /* of a wave (OnlyWaiting): of the members in the plan */
	bool wanted;                     /* it is admitted, and its owner has not ended */
	bool next_wave;                  /* OnlyWaiting: so many wait that they are a gang by themselves */
	bool placeable;                  /* of others: it would be placed here if its pods were gated */
	const char *unbound; /* names of members without a node: "w-1, w-2 and 3 more"; "": none */
	/* The first member, by name; NULL: none. */
	const struct kar_pod *unnamed; /* that starts by itself, because it lost the name of its group */
	const struct kar_pod
		*stuck; /* that is Unschedulable on its node, if the quorum is lost by such ones */
	const struct kar_pod *refused; /* that its kubelet has refused, likewise */
	kar_time timeout;              /* ms in which the minimum must be bound */
	kar_time now;                  /* wall ms, whole seconds */
};

/*
 * The placement of the group from now on; equal to the recorded one if nothing changes. Its texts are in the arena of @p, which is asked to
 * come again when time alone may change it, and gets the events RolledBack and Deactivated.
 */
struct kar_pg_placement podgroup_next_placement(const struct podgroup_attempt *a,
	struct kar_plan *p) KAR_NONNULL;
/* Reason and message of condition Scheduled while the minimum is not bound; .reason NULL: the attempt does not explain it. @now: wall ms. */
struct podgroup_text {
	const char *reason, *message;
};
struct podgroup_text podgroup_attempt_text(const struct kar_pg_placement *pl, const struct kar_podgroup *g,
	const struct podgroup_counts *t, kar_time now, struct kar_arena *arena) KAR_NONNULL;

#endif
