/*
 * attempt - the life of an attempt to start a gang: status.placement of a group that has been placed (docs/design/podgroup.md, 4). Pure.
 *
 * The queue reconciler places a group: that begins an attempt. From then on this table decides how the attempt goes on; the owner of the
 * pods creates and deletes them as the state says. So no gang holds a part of its minimum for longer than its time-out.
 */
#ifndef KAR_PODGROUP_ATTEMPT_H
#define KAR_PODGROUP_ATTEMPT_H

#include "api/podgroup.h"
#include "controllers/podgroup/count.h"
#include "controllers/runtime/plan.h"

/* Failed attempts in a row after which a group is not placed any more until its owner is edited. */
enum { PODGROUP_MOST_ATTEMPTS = 20 };

/* ms in which the next member must come, as long as some of the minimum do not exist. */
#define PODGROUP_MEMBERS_WITHIN (30 * KAR_SECOND)

/* Of an attempt of a wave (OnlyWaiting), the numbers are those of the members in the plan. */
struct podgroup_attempt {
	const struct kar_podgroup *group;
	int32_t scheduled, quorum; /* members that are bound or have succeeded; how many must */
	int32_t members;           /* that exist, but for those that vanish without having had a node */
	bool raised;               /* an edit has raised the minimum of a gang that runs */
	bool wanted;               /* it is admitted, and its owner has not ended */
	int32_t unfinished;        /* members that have neither finished nor vanished */
	int32_t leaving;           /* of .unfinished: those that terminate */
	int32_t removable;         /* of .unfinished: those that are taken back when the attempt fails */
	int32_t gated;             /* of .unfinished: not released yet; always 0 for pods of a workload */
	bool next_wave;            /* OnlyWaiting: so many wait that they are a gang by themselves */
	int32_t bare;              /* of .unfinished: released, but nobody would make them again */
	bool placeable;            /* .of_others: it would be placed here if its pods were gated */
	const struct kar_pod *
		unnamed; /* the first member, by name, that starts by itself, because it lost the name of its group; NULL: none */
	kar_time native_interval;    /* ms until .native_lost may change */
	bool native_lost;            /* what it is to start with is not there any more */
	bool of_others;              /* the members are pods of other controllers */
	bool unit_waits, non_strict; /* as in struct podgroup_view */
	const char *unit_failing;
	bool outdated;               /* as in struct podgroup_view */
	const char *release_refused; /* as in struct podgroup_view */
	kar_time refused_since;
	const char *unbound; /* names of members without a node: "w-1, w-2 and 3 more"; "": none */
	const struct kar_pod *
		stuck; /* the first member, by name, that is Unschedulable on its node for too long; NULL: none */
	bool direct; /* the members are created bound, or not at all */
	const struct kar_pod *
		refused; /* of .direct: the first member, by name, that its kubelet has refused; NULL: none */
	kar_time stuck_in;  /* ms until the next member may be stuck; KAR_NEVER: none may */
	kar_time newest;    /* wall ms, creation of the youngest member without a node; 0: there is none */
	kar_time youngest;  /* the same of all unfinished members */
	int64_t generation; /* of the owner; 0: not known */
	kar_time timeout;   /* ms in which the minimum must be bound */
	kar_time now;       /* wall ms, whole seconds */
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
