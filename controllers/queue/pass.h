/*
 * pass - the state of one pass of the Queue reconciler; internal to its shell.
 *
 * The pass itself is pure (common/queue/queue.h). The shell makes its input from the caches (observe.c, gangs.c, members.c, capacity.c,
 * tree.c) and writes what it decides (write.c, write_order.c, record.c, renew.c, status.c). Groups have the same number in .groups, in the input
 * and in the result. Those that are finished are not among them: they are only counted.
 */
#ifndef KAR_QUEUE_PASS_H
#define KAR_QUEUE_PASS_H

#include "api/podgroup/placement.h"
#include "controllers/cluster/stores.h"
#include "controllers/queue/queue.h"
#include "controllers/queue/quota.h"
#include "controllers/queue/runs.h"
#include "controllers/runtime/plan.h"

/* ms that a cluster autoscaler has to add nodes for a gang without room. */
#define QUEUE_PROVISION_TIMEOUT (15 * KAR_MINUTE)

struct kar_pg_seat;
struct kar_topology_wishes;
struct queue_failures;
struct queue_backoffs;
struct queue_sums;

struct queue_number {
	const struct kar_podgroup *group;
	uint32_t number;
};

struct queue_pass {
	const struct kar_stores *stores; /* borrowed, like the next four; the rest is in .arena */
	struct kar_arena *arena;
	struct kar_plan *plan; /* what is to be written */
	struct queue_shared *shared;
	kar_time now, mono;
	const struct kar_queue **queues; /* by name */
	uint32_t n_queues;
	struct queue_group *groups;
	struct kar_queue_group *in; /* of the pass, one per group */
	uint32_t n_groups;
	const struct kar_podgroup *const *finished; /* not among .groups */
	size_t n_finished;
	struct queue_number *numbers;       /* of the groups, by address */
	struct kar_queue_in *queue_in;      /* of the pass, one per queue */
	struct kar_queue_snapshot snapshot; /* made of these */
	struct kar_queue_result result;
	struct queue_rights *rights; /* while statuses of queues are made */
	int32_t *waiting; /* likewise, by parent, top queues last: groups that wait below (history.c) */
	struct queue_quota *quota;                 /* the ledger, while it is made */
	struct kar_queue_preemptible *preemptible; /* of the snapshot; the pods are in .preemptible_pods */
	const struct kar_pod **preemptible_pods;
	struct queue_sums *sums;  /* what pods use that no group owns, while it is counted */
	int32_t default_priority; /* of the global default PriorityClass */
	kar_time yields_in;       /* ms until the next group without members yields; KAR_NEVER: none will */
	bool for_positions;       /* the pass writes only positions */
	bool moved;               /* a group has only a new position, or new numbers in its text */
	kar_time others_in; /* ms until those of others than the first of a line may be written; <= 0: now */
	bool others_wait, others_written; /* there are such */
	int32_t *lengths; /* per queue: of its line, as its groups know it after they are told */
	bool *line_moved; /* per queue: by enough that all of its line are told */
	/* ms until statuses of queues may be written in which only counts changed; <= 0: now */
	kar_time counts_in;
	bool counts_written;
	bool makes_default;         /* the queue "default" is created in this pass */
	bool queues_are_read_only;  /* decision 032 */
	struct kar_snapshot *nodes; /* NULL: no group is placed */
	const char *served;         /* struct kar_settings, .direct_schedulers */
	const struct kar_settings *settings;
	kar_time
		awaited; /* ms for which groups whose answer is due before others go for them wait for it, at most */
	kar_time retry_in; /* ms until the next group may be placed again; KAR_NEVER: none waits for that */
};

/* The lengths of lines that groups were told last (pace.h); without them each group with a new text is told once more. */
struct queue_lines {
	struct line *items; /* by name of the queue */
	uint32_t n;
};

/* kar_controller.shared of this reconciler. */
struct queue_shared {
	struct queue_lines lines;
	struct queue_said *said;
	struct queue_backoffs *backoffs;
	struct queue_failures *failures;
	bool waits_for_room; /* a group does: a pass is due whenever room comes free */
	bool may_grow;       /* a group may get more pods: a pass is due when one runs */
	kar_time
		withheld; /* mono, since when admissions wait for others that are taken back (write_order.c); 0: none does */
};

/* --- pass.c ----------------------------------------------------------------------------------------- */

/* The workload whose group @g is, readable or not; NULL: it is of none, or that is gone. */
const struct kar_object *queue_owner_of(const struct kar_stores *stores,
	const struct kar_podgroup *g) KAR_NONNULL;
bool queue_is_rolled_back(const struct kar_podgroup *g) KAR_NONNULL;
/* Because it was evicted. */
bool queue_is_evicted(const struct kar_podgroup *g) KAR_NONNULL;
/* A pass is due in @in ms at the latest; <= 0: that time is over. */
void queue_come_again(struct queue_pass *p, kar_time in) KAR_NONNULL;
/* It should have been gone for a while, so it may stay permanently, on a node that is lost: nobody waits for its room. */
bool queue_is_overdue(struct queue_pass *p, const struct kar_pod *pod) KAR_NONNULL;
/* Number of the queue @name, or KAR_QUEUE_NONE. */
uint32_t queue_named(const struct queue_pass *p, const char *name) KAR_NONNULL;
/* The manager makes this queue for the first group that asks for it, and has not yet. */
bool queue_comes_by_itself(const struct queue_pass *p, const char *queue) KAR_NONNULL;
/* It has room that the pass before has held for it. */
bool queue_holds_claim(const struct kar_podgroup *g) KAR_NONNULL;
/* The group is to be placed: its admission holds nothing. */
bool queue_waits_for_places(const struct kar_podgroup *g) KAR_NONNULL;
/* Fills in what every gang has, from the placement of its group. */
void queue_fill_gang(struct queue_pass *p, uint32_t i, struct queue_gang *out) KAR_NONNULL;
/* It is not eligible for @reason, unless an earlier one was given already. */
void queue_refuse(struct kar_queue_group *in, enum kar_queue_reason reason, const char *why) KAR_NONNULL;
/* Refuses devices that nobody offers, and those of pods that are created bound; @waits: it waits for admission. What it asks for is counted. */
void queue_check_devices(const struct queue_pass *p, struct kar_queue_group *in, bool waits) KAR_NONNULL;
/* A workload controls it, whose name it has. */
bool queue_is_owned(const struct kar_podgroup *g) KAR_NONNULL;

/* --- observe.c -------------------------------------------------------------------------------------- */

/* Fills in .groups, .queues and .snapshot from the caches; groups are in order. */
void queue_observe(struct queue_pass *p) KAR_NONNULL;
/* The group of number @i of the pass, or KAR_QUEUE_NONE. */
uint32_t queue_number_of(const struct queue_pass *p, const struct kar_podgroup *g) KAR_NONNULL;

/* --- namespaces.c ------------------------------------------------------------------------------------ */

/* Adds what queues allow each namespace, when all groups and the rows of ResourceQuotas are complete. */
void queue_observe_namespaces(struct queue_pass *p) KAR_NONNULL;

/* --- flavors.c --------------------------------------------------------------------------------------- */

/* Fills in what queues name of flavors; what is used of them, once nobody changes the nodes any more; and the number of a flavor, 0: none. */
void queue_observe_flavors(struct queue_pass *p) KAR_NONNULL;
uint32_t queue_flavor_number(const struct queue_pass *p, const char *name) KAR_NONNULL;
/* What is wrong with the flavors that queue number @i names, in the arena; NULL: nothing. */
const char *queue_flavor_warning(const struct queue_pass *p, uint32_t i) KAR_NONNULL;

/* --- run_time.c --------------------------------------------------------------------------------------- */

/* Refuses a group that may run for longer than its queue allows. */
void queue_check_run_time(const struct queue_pass *p, const struct queue_group *qg,
	struct kar_queue_group *in) KAR_NONNULL;
/* status.runSeconds of a group that is admitted now. */
int64_t queue_run_seconds(const struct queue_pass *p, const struct queue_group *qg) KAR_NONNULL;
/* No extra of the group comes before that, as it has lost one to others: wall ms, or 0. */
kar_time queue_grows_at(const struct queue_pass *p, const struct kar_podgroup *g) KAR_NONNULL;
/* For how long a group runs, and when one that has started ends at the latest. */
void queue_observe_end(const struct queue_pass *p, const struct queue_group *qg,
	struct kar_queue_group *in) KAR_NONNULL;

/* --- claim.c ----------------------------------------------------------------------------------------- */

/* What @g asks for. @w: what its workload says of itself; NULL: it has none. @s: of another controller; NULL: it has none. */
enum queue_claim queue_claim_of(const struct queue_pass *p, const struct kar_podgroup *g,
	const struct kar_workload *w, const struct kar_suspendable *s) __attribute__((nonnull(1, 2)));
enum kar_queue_reason queue_reason_of_claim(enum queue_claim claim);
const char *queue_why_of_claim(enum queue_claim claim) KAR_RETNN;

/* --- tree.c ----------------------------------------------------------------------------------------- */

/* Fills in .queues, in order, and the input of the pass about them, without what depends on groups. */
void queue_observe_queues(struct queue_pass *p) KAR_NONNULL;
/* For which group capacity comes together. */
void queue_finish_queues(struct queue_pass *p) KAR_NONNULL;
/* Finished groups are counted, and how long they ran says when others may end. */
void queue_observe_finished(struct queue_pass *p, const struct kar_podgroup *const *finished, size_t n)
	__attribute__((nonnull(1)));

/* --- capacity.c ------------------------------------------------------------------------------------- */

/* Counts what the nodes offer, and what all pods use, in the input of the pass. Without .nodes: nothing. */
void queue_count_capacity(struct queue_pass *p) KAR_NONNULL;
/* @pod belongs to a group of the pass: it is in the runs of that. */
void queue_owns(struct queue_pass *p, const struct kar_pod *pod) KAR_NONNULL;
/* To be called when all groups have what they own. */
void queue_finish_capacity(struct queue_pass *p) KAR_NONNULL;

/* --- gangs.c ---------------------------------------------------------------------------------------- */

/* The pods of the group of a workload: number @i of the pass. */
void queue_observe_gang(struct queue_pass *p, uint32_t i) KAR_NONNULL;
/* Its pods are all there for the first time, and must stop: they do, or are of no use to anybody. All of its owner leave. */
void queue_observe_leaving(struct queue_pass *p, uint32_t i) KAR_NONNULL;

/* --- accepted.c ------------------------------------------------------------------------------------- */

/* After the pass: asks for what the API server says of the templates of jobs that wait without it, or for which others would go. */
void queue_want_verdicts(struct queue_pass *p) KAR_NONNULL;
/* The API server has said what the pods of a job that asks would need, and that it accepts them; else it is asked. */
bool queue_question_is_checked(struct queue_pass *p, const struct queue_group *qg) KAR_NONNULL;
/* ms for which group number @i, whose reason is CHECKING_TEMPLATE, waits for the verdict about its job, or one ahead. */
kar_time queue_awaits_verdict(const struct queue_pass *p, uint32_t i) KAR_NONNULL;

/* --- members.c -------------------------------------------------------------------------------------- */

/* The same of a group of another controller, whose pods exist before they are placed. */
void queue_observe_members(struct queue_pass *p, uint32_t i) KAR_NONNULL;
/* The highest priority of the members of @g, a group of another controller; without members the default. */
int32_t queue_highest_priority(const struct queue_pass *p, const struct kar_podgroup *g) KAR_NONNULL;
/* What is left of the room that is held for members of @g that do not exist yet, beside @runs and @others (hold.c). */
struct kar_queue_amounts queue_hold(struct queue_pass *p, const struct kar_podgroup *g,
	const struct queue_runs *runs, const struct queue_runs *others) KAR_NONNULL;

/* Writes spec.minResources of @g to @out, which has room for as many. Returns how many there are. */
uint32_t queue_hold_whole(const struct kar_podgroup *g, struct kar_sched_amount *out) KAR_NONNULL;
/* Subtracts from @amounts what @runs ask for. Returns how many are left; these are the first then. */
uint32_t queue_hold_rest(const struct queue_pass *p, struct kar_sched_amount *amounts, size_t n,
	const struct queue_runs *runs) KAR_NONNULL;
/*
 * ms for which @g, a group of others that has started, keeps room for what it has lost (lost.c); in state NONE: all of its place, for all of it.
 * <= 0: for nothing. @now: wall ms.
 */
kar_time queue_keeps_room_for(const struct kar_podgroup *g, kar_time now) KAR_NONNULL;

/* --- budgets.c -------------------------------------------------------------------------------------- */

/* Fills in the budgets of the snapshot, and which of them protect pods of groups. */
void queue_observe_budgets(struct queue_pass *p) KAR_NONNULL;

/* --- what_if.c -------------------------------------------------------------------------------------- */

/* After the pass: answers one job that asks when it would start. The answer is in .answer of its group. */
void queue_answer_questions(struct queue_pass *p) KAR_NONNULL;

/* --- write.c, write_order.c ------------------------------------------------------------------------- */

/* Adds the writes for groups, for queues, and for the queue "default" if that is the default queue, a group waits for it, and it does not exist. */
void queue_write_groups(struct queue_pass *p) KAR_NONNULL;
void queue_write_queues(struct queue_pass *p) KAR_NONNULL;
void queue_make_default(struct queue_pass *p) KAR_NONNULL;
/* --- finalizer.c ------------------------------------------------------------------------------------ */

/* What keeps a queue that is deleted from going: nothing, if both are NULL. */
struct queue_hold {
	const struct kar_podgroup
		*group;    /* the first in order that it, or a queue below it, has admitted; NULL: none */
	bool more;         /* there are others */
	const char *child; /* the first queue by name that names it as parent; NULL: none does */
};
/* One per queue, in the arena; only those that are being deleted have one. NULL: no queue is being deleted. */
const struct queue_hold *queue_holds(const struct queue_pass *p);
/* Its finalizer is to be added, or to be removed. @holds: of all. */
bool queue_finalizer_is_due(const struct queue_pass *p, const struct queue_hold *holds, uint32_t i)
	__attribute__((nonnull(1)));
/* The body of the patch that does so. */
void queue_write_finalizers(const struct kar_queue *q, struct kar_buf *out) KAR_NONNULL;

/* --- used.c ----------------------------------------------------------------------------------------- */

/* Fills in .usage of @now, which has its allocated amounts; @before: what the API server has. @at: wall ms. */
void queue_count_usage(const struct kar_queue_status *before, struct kar_queue_status *now, kar_time at,
	struct kar_arena *a) KAR_NONNULL;

/* --- history.c -------------------------------------------------------------------------------------- */

/* The value of @h at @now; @half_life: ms, 0: none is kept. */
int64_t queue_history_at(const struct kar_queue_history *h, kar_time half_life, kar_time now) KAR_NONNULL;
/* What the order of queues takes of queue number @i. */
void queue_observe_history(const struct queue_pass *p, uint32_t i, struct kar_queue_in *in) KAR_NONNULL;
/* Fills in .history of @st, which has its allocated amounts, of queue number @i. */
void queue_count_history(struct queue_pass *p, uint32_t i, struct kar_queue_status *st) KAR_NONNULL;

/* --- status.c --------------------------------------------------------------------------------------- */

/* The status of queue number @i after the pass. @holds: of all; NULL: none is being deleted. */
struct kar_queue_status queue_status(struct queue_pass *p, const struct queue_hold *holds, uint32_t i)
	__attribute__((nonnull(1)));

/* --- warnings.c ------------------------------------------------------------------------------------- */

/* What the children of each queue have a right to, for queue_warnings(); in the arena. To be called after the pass. */
struct queue_rights *queue_sum_rights(struct queue_pass *p) KAR_NONNULL KAR_RETNN;
/*
 * What of the rights of queue number @i cannot be kept, with the numbers: "its guarantee is 300 cpu, all nodes have 256"; NULL: nothing.
 * In the arena.
 */
const char *queue_warnings(const struct queue_pass *p, uint32_t i) KAR_NONNULL;

/* --- repair.c --------------------------------------------------------------------------------------- */

/* @pod of @g, which is PLACED, is to get another node (kar_pg_stuck_in()). The pass comes again when it may be so. */
bool queue_is_stuck(struct queue_pass *p, const struct kar_podgroup *g,
	const struct kar_pod *pod) KAR_NONNULL;
/* What of @plan stays: all of it, and of the role these nodes. For gangs of workloads. */
void queue_keep_plan(struct queue_gang *g, const struct kar_pg_placement *plan,
	struct kar_arena *a) KAR_NONNULL;
void queue_keep_role(struct queue_gang *g, const char *role, const char *nodes) KAR_NONNULL;
/*
 * The pass has places for all members that are stuck, or for those that have come in the stead of such: then *@out is the placement with these,
 * in @a. False if it has not, or if the plan names no other nodes by that. @now: wall ms, whole seconds.
 */
bool queue_repairs_plan(const struct queue_group *qg, const struct kar_queue_decision *d, kar_time now,
	struct kar_arena *a, struct kar_pg_placement *out) KAR_NONNULL;

/* --- topology.c ------------------------------------------------------------------------------------- */

/* The SchedulingSpec of which @g was made, if the CRD of @g drops what else it says; NULL: @g says all itself, or it is gone. */
const struct kar_schedulingspec *queue_spec_beside(const struct queue_pass *p,
	const struct kar_podgroup *g) KAR_NONNULL;

/* What @g asks for, whose pods have the wishes @of_pods. */
struct kar_topology_ask queue_topology_asked(const struct queue_pass *p, const struct queue_group *qg,
	const struct kar_topology_wishes *of_pods) KAR_NONNULL;
/* The same of group number @i, as the pass knows it; refuses the group if that means nothing. */
void queue_ask_topology(struct queue_pass *p, uint32_t i, const struct kar_topology_wishes *of_pods,
	struct queue_gang *out) KAR_NONNULL;
#define QUEUE_NOT_BY_ITS_SCHEDULER "its pods name a scheduler that does not keep to that"
/* Nobody finds places for group number @i. Why it cannot start then, in the arena: it must be in one domain; NULL: it need not. @who: does not place it. */
const char *queue_why_not_together(const struct queue_pass *p, uint32_t i,
	const struct kar_topology_wishes *of_pods, const char *who) KAR_NONNULL;
/* Labels (struct kar_pair, in @a) of the domain inside which all that is placed for the role of @g now must be. @has_pods: some of it are on nodes. */
struct kar_array queue_domain(const struct kar_podgroup *g, const char *role, bool admitted, bool has_pods,
	struct kar_arena *a) KAR_NONNULL;
/* The domains of @places, of what group number @i asks for, in the arena; returns how many levels these have together. */
size_t queue_domains_of(const struct queue_pass *p, uint32_t i, const struct kar_placement *places,
	struct kar_pg_domain **out) KAR_NONNULL;

/* --- record.c, renew.c ------------------------------------------------------------------------------ */

/* The text of @seats of one role, which are in the order of ranks if the gang has one, and are sorted by name else; in the arena. */
const char *queue_seats_text(const struct queue_gang *g, struct kar_pg_seat *seats, size_t n,
	struct kar_arena *a) KAR_NONNULL KAR_RETNN;
/*
 * The record of @places (NULL: it waits for new nodes) for the status of the group, whose attempt begins now (wall ms, whole seconds);
 * in the arena.
 */
struct kar_pg_placement queue_record_places(const struct queue_pass *p, const struct queue_group *qg,
	const struct kar_placement *places, kar_time now) __attribute__((nonnull(1, 2)));
/* The plan of a gang of pods of others, which keeps its places, with @places (NULL: none) for members that came after its start; in @a. */
struct kar_pg_roles queue_plan_of_pods(const struct queue_group *qg, const struct kar_placement *places,
	struct kar_arena *a) __attribute__((nonnull(1, 3)));
/* There is no room for what a gang that renews its plan lacks; a pass that places nothing does not know. */
bool queue_lacks_places(const struct queue_group *qg, const struct kar_queue_decision *d) KAR_NONNULL;
/* The record of a gang that renews its plan (struct queue_gang), as decided; in the arena. */
struct kar_pg_placement queue_renew_places(const struct queue_group *qg, const struct kar_queue_decision *d,
	kar_time now, struct kar_arena *a) KAR_NONNULL;

#endif
