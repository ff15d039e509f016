/*
 * ledger - what ResourceQuotas allow, and what pods are charged with (docs/design/queue.md section 7). Pure.
 *
 * Made anew by each pass: one account per namespace that has a quota for pods, and one row for each resource of pods that a quota of it
 * limits. Invariant, once it is closed: for each row, .foreign and what managed groups are charged with in all are together at least
 * .status.used without what that still counts of pods that are gone (said.h), and at least what the cached pods that have not ended are charged with.
 *
 * A managed pod that exists is in .status.used, and one that its job is about to create is not yet, or is and no cache shows it. So
 * from .status.used all is taken that managed groups are charged with, existing or not; from the cached pods those that exist.
 *
 * Everything is in the arena, or borrowed for as long.
 */
#ifndef KAR_QUEUE_LEDGER_H
#define KAR_QUEUE_LEDGER_H

#include "api/pod/pod_charge.h"
#include "common/queue/queue.h"
#include "controllers/queue/said.h"

struct queue_account;

/* Zero-initialise but for the arena. */
struct queue_ledger {
	struct kar_arena *arena;
	struct kar_queue_quota_row *rows; /* of all accounts */
	uint32_t n_rows;
	struct queue_account *accounts; /* a list */
};

/* The objects of one namespace; the arrays are copied. */
struct queue_quotas {
	const struct kar_resourcequota *const *quotas;
	size_t n_quotas;
	const struct kar_limitrange *const *ranges;
	size_t n_ranges;
};

/* What one pod is charged with, without rows of which it takes nothing. */
struct queue_charges {
	const struct kar_queue_charge *items; /* by row */
	uint32_t n;
	/*
	 * The first quota that lets no pod of the template in, because a container sets nothing of a resource that it limits; NULL: none.
	 * Then also that resource, and the container ("": one of those that are too many to be kept).
	 */
	const char *refused_by, *demands, *container;
	const char *
		unknown; /* of a template: the first quota of which nothing is computed yet that it would be charged to; NULL: none */
};

/* Adds the rows of the quotas of @ns, in the order of names. NULL: none of them limits pods. Once per namespace. */
struct queue_account *queue_ledger_open(struct queue_ledger *l, const char *ns,
	const struct queue_quotas *q) KAR_NONNULL;

/* Of a pod to come of a template: @of as of kar_template_charge(), shared; @class: its PriorityClass if @of has none, or NULL. */
const struct queue_charges *queue_charge_template(struct queue_account *a, const struct kar_pod_counted *of,
	const char *class) __attribute__((nonnull(1, 2))) KAR_RETNN;
/* Of a pod that exists: kar_pod.charge. */
const struct queue_charges *queue_charge_pod(struct queue_account *a,
	const struct kar_pod_counted *of) KAR_NONNULL KAR_RETNN;
/*
 * Of room for members to come, whose amounts are as those of nodes. Quotas with scopes have no part in it, because nobody knows whether they hold
 * for pods that do not exist.
 */
const struct queue_charges *queue_charge_hold(struct queue_account *a,
	const struct kar_queue_amounts *hold) KAR_NONNULL KAR_RETNN;
/* "quota c needs limits.cpu, container x of task t sets none", in @arena; NULL: no quota refuses it. */
const char *queue_charges_problem(const struct queue_charges *c, const char *task,
	struct kar_arena *arena) KAR_NONNULL;

/* --- what the rows are used by, each in any order -------------------------------------------------------- */

/* @n cached pods that live. */
void queue_account_live(struct queue_account *a, const struct kar_pod_counted *of, int64_t n) KAR_NONNULL;
/* One of them is of a managed group, whose runs are charged for it. */
void queue_account_managed(struct queue_account *a, const struct kar_pod_counted *of) KAR_NONNULL;
/* Managed groups are charged for @pods pods, existing or not. */
void queue_account_kept(struct queue_account *a, const struct kar_queue_charge *charges, uint32_t n,
	int64_t pods) __attribute__((nonnull(1)));

/* --- reservations ---------------------------------------------------------------------------------------- */

/* A group asks for room for members that do not exist yet (PodGroup spec.totalResources). */
struct queue_reservation {
	struct queue_account *account; /* NULL: no quota of its namespace limits pods */
	struct kar_queue_charge *
		rest; /* by row: what of the total its members are not charged with; without rows of which that is nothing */
	uint32_t n_rest;
	bool held;      /* it was granted before */
	bool granted;   /* out */
	uint32_t lacks; /* out, if it is not granted: the first row that is too small, */
	int64_t room;   /* and what it has */
};

/*
 * Fills in .rest of @r, which has its account: @totals are struct kar_pair by names of containers ("cpu" is what the rows for "cpu" and
 * "requests.cpu" are charged with), or "pods"; @members: what the members are charged with that exist. Quotas with scopes have no
 * part in it, because nobody knows whether they hold for pods that do not exist. What is no quantity is left out.
 */
void queue_reservation_rest(struct queue_reservation *r, const struct kar_array *totals,
	const struct queue_charges *const *members, size_t n) __attribute__((nonnull(1, 2)));
/*
 * Decides about @all, which are in the order in which they are granted, once everything else is counted. Those that are held stay so
 * as long as there is room; if there is not, the last ones lose what members to come would use.
 */
void queue_reservations_decide(struct queue_reservation *const *all, size_t n);

/*
 * Once all groups are charged, before reservations: what .status.used seems to count of others is compared with what it did in the passes
 * before. *@again_in, @now: as for queue_said_of().
 */
void queue_ledger_believe(struct queue_ledger *l, struct queue_said *said, kar_time now,
	kar_time *again_in) KAR_NONNULL;
/* Computes .foreign of all rows. */
void queue_ledger_close(struct queue_ledger *l) KAR_NONNULL;

#endif
