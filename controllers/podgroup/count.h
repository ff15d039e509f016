/*
 * count - the members of a PodGroup, counted: what its phase, its conditions and its attempts are decided from. Pure.
 */
#ifndef KAR_PODGROUP_COUNT_H
#define KAR_PODGROUP_COUNT_H

#include "controllers/podgroup/podgroup.h"

enum { PODGROUP_OWNERS_SHOWN = 16 }; /* in occupiedBy */

/* The first few pods of a set, by name, so that a text does not depend on the order of the input. */
struct podgroup_few {
	struct {
		const char *name;
		const struct kar_pod *pod;
	} items[PODGROUP_OWNERS_SHOWN];
	size_t n;
	int32_t added;
};

/* ms in which the queue finds other nodes for members that are stuck: only then the attempt has failed. */
#define PODGROUP_REPAIRED_WITHIN ((kar_time)1000)

struct podgroup_counts {
	int32_t min_member;
	int32_t quorum; /* .min_member plus the succeeded members, which spec.minMember does not count */
	int32_t members, scheduled, running, succeeded, failed;
	int32_t active;  /* not finished, and not terminating before they were bound */
	int32_t leaving; /* of .active: those that terminate */
	/* Of .leaving: those whose time to terminate is not over; the others may stay for ever, for example on a node that is lost. */
	int32_t stopping;
	kar_time overdue_in; /* ms until the next of .stopping is overdue; KAR_NEVER: there are none */
	int32_t gated; /* of .active: held by any gate, or waiting to be bound by us, and of a controller of others */
	int32_t waiting; /* of .gated: by no other gate */
	int32_t loose; /* of .active: of the default scheduler, never with our gate, not of a workload; nobody holds them together */
	int32_t bare; /* of .active: those without a controller, but for gated ones */
	int32_t removable; /* of .active: those that an attempt that failed takes back: neither bare nor gated, nor overdue */
	int32_t stranded; /* keep our scheduling gate for good when the group is gone */
	const struct kar_pod *
		stuck; /* the first by name that is Unschedulable on its node, and gets no other; NULL: none */
	kar_time newest;   /* wall ms, creation of the youngest member without a node; 0: there is none */
	kar_time youngest; /* the same of all active members */
	const struct kar_pod *
		unnamed; /* the first by name that does not name the PodGroup of Kubernetes itself; NULL: none */
	int32_t n_stuck;
	int32_t n_refused;             /* by their kubelets, in this attempt; no members */
	const struct kar_pod *refused; /* the first of them by name; NULL: none */
	kar_time stuck_in;             /* ms until the next one may be; KAR_NEVER: none may */
	int32_t n_unseen;              /* members that no scheduler has looked at for too long */
	const struct kar_pod *unseen;  /* the first of them by name; NULL: none */
	kar_time unseen_in;            /* ms until the next one is such a member; KAR_NEVER: none will be */
	struct podgroup_few unschedulable, unbound, losses, owners;
	struct podgroup_few held; /* by another gate than ours, or by both */
	struct podgroup_few
		schedulers; /* that active members name, but for the default one and those served here; .pod: one of each */
	int32_t n_served;             /* active members that we bind ourselves */
	int32_t n_default;            /* active members of the default scheduler */
	struct kar_unplaced unplaced; /* .unschedulable */
};

/*
 * Does the roll back of an attempt leave this pod of another controller alone? It was made after the attempt had failed, or it was bound in a
 * gang that had started, and that asks for what it lacks together (WaitingAndRunning).
 */
bool podgroup_keeps(const struct kar_podgroup *g, const struct kar_pod *pod) KAR_NONNULL;
/* OnlyWaiting: how many must wait, and start together. */
int32_t podgroup_wave(const struct podgroup_counts *t) KAR_NONNULL;
/*
 * The members in the plan of an attempt alone (OnlyWaiting): they are a gang whose quorum is podgroup_wave() of @all. In @a.
 */
struct podgroup_counts podgroup_count_wave(const struct podgroup_view *v, const struct podgroup_counts *all,
	kar_time now, struct kar_arena *a) KAR_NONNULL;
/* @now: wall ms. */
struct podgroup_counts podgroup_count(const struct podgroup_view *v, kar_time now) KAR_NONNULL;
/* "j-1 (OOMKilled, exit code 137), j-2 and 3 more", in the arena. */
const char *podgroup_list(const struct podgroup_few *f, struct kar_arena *a) KAR_NONNULL KAR_RETNN;

#endif
