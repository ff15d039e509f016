/* The status of each queue after a pass. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "controllers/queue/pass.h"

#include "api/core/amounts_wire.h"
#include "api/status/reasons.h"
#include "common/base/str.h"
#include "common/sched/amounts.h"

/* A share, and what a queue is entitled to, are written anew when they have moved by so many thousandths. */
enum { SHARE_STEP = 10 };

/* The new status of one queue, and what it is made from. */
struct update {
	const struct queue_pass *p;
	const struct kar_queue *q;
	uint32_t number; /* of the queue */
	const struct kar_queue_status_out *out;
	const struct queue_hold *hold; /* NULL: it is not being deleted */
	struct kar_queue_status *status;
	struct kar_arena *arena;
};

static enum kar_queue_state state_of(const struct kar_queue_status_out *out)
{
	if (!out->closed)
		return KAR_QUEUE_STATE_OPEN;
	return out->closing ? KAR_QUEUE_STATE_CLOSING : KAR_QUEUE_STATE_CLOSED;
}

/* --- conditions ------------------------------------------------------------------------------------- */

static void set_condition(const struct update *u, const char *type, bool status, const char *reason,
	const char *message)
{
	const struct kar_condition c = {
		.type = type,
		.status = status ? KAR_COND_TRUE : KAR_COND_FALSE,
		.observed_generation = u->q->generation,
		.reason = reason,
		.message = message,
	};

	kar_condition_set(&u->status->conditions, &c, u->p->now, u->arena);
}

/* The first parent that is missing or goes away; else its own. */
static const char *blamed(const struct update *u, bool *deleted)
{
	const struct kar_queue *q = u->q;
	uint32_t above = queue_named(u->p, q->spec.parent);

	while (u->out->validity == KAR_QUEUE_PARENT_NOT_FOUND && above != KAR_QUEUE_NONE &&
		!u->p->queues[above]->deletion && u->p->queues[above]->spec.parent) {
		q = u->p->queues[above];
		above = queue_named(u->p, q->spec.parent);
	}
	*deleted = above != KAR_QUEUE_NONE;
	return q->spec.parent;
}

static const char *describe_parent(const struct update *u)
{
	bool deleted;
	const char *name = blamed(u, &deleted);

	return kar_arena_printf(u->arena, "parent %s %s", name,
		u->out->validity == KAR_QUEUE_PARENT_CYCLE       ? "is in a cycle"
			: u->out->validity == KAR_QUEUE_TOO_DEEP ? "is too deep"
			: deleted                                ? "is being deleted"
								 : "does not exist");
}

static void set_valid(const struct update *u)
{
	const struct kar_queue_spec *spec = &u->q->spec;
	const char *strategy = spec->queueing_strategy, *warnings;

	if (spec->state == KAR_QUEUE_STATE_UNKNOWN)
		set_condition(u, "Valid", false, kar_reason_UnknownState,
			kar_arena_printf(u->arena, "spec.state %s is neither Open nor Closed",
				spec->state_text));
	else if (u->out->validity != KAR_QUEUE_VALID)
		set_condition(u, "Valid", false, kar_queue_validity_name(u->out->validity),
			describe_parent(u));
	else if (strategy && !kar_streq(strategy, "StrictFIFO") && !kar_streq(strategy, "BestEffortFIFO"))
		set_condition(u, "Valid", false, kar_reason_UnknownQueueingStrategy,
			kar_arena_printf(u->arena, "unknown spec.queueingStrategy %s; using BestEffortFIFO",
				strategy));
	else if (spec->namespaces_problem)
		set_condition(u, "Valid", false, kar_reason_InvalidNamespaceSelector,
			kar_arena_printf(u->arena, "no job is admitted: spec.namespaceSelector: %s",
				spec->namespaces_problem));
	else if ((warnings = queue_warnings(u->p, u->number)) != NULL)
		set_condition(u, "Valid", true, kar_reason_ValidWithWarnings, warnings);
	else
		set_condition(u, "Valid", true, kar_reason_Valid, "the spec is valid");
}

/* It admits nobody who asks for more of that, and stops nobody. */
static void set_over(const struct update *u)
{
	if (u->out->over)
		set_condition(u, "OverCapability", true, kar_reason_CapabilityExceeded,
			kar_arena_printf(u->arena,
				"its pods have more than its capability: %s; nothing is stopped, and nothing more comes",
				u->out->over));
	else if (kar_condition_find(&u->status->conditions, "OverCapability"))
		set_condition(u, "OverCapability", false, kar_reason_WithinCapability,
			"its pods have no more than its capability");
}

static const char *describe_hold(const struct update *u)
{
	const struct kar_podgroup *g = u->hold->group;

	assert(u->q->deletion);
	if (g)
		return kar_arena_printf(u->arena, "it is being deleted, and gone when %s/%s%s ended", g->o.ns,
			g->o.name, u->hold->more ? " and others have" : " has");
	if (u->hold->child)
		return kar_arena_printf(u->arena, "deletion waits: queue %s still names this queue as parent",
			u->hold->child);
	return "it is being deleted"; /* somebody else keeps it */
}

static void set_active(const struct update *u)
{
	if (u->hold)
		set_condition(u, "Active", false, kar_reason_Deleting, describe_hold(u));
	else if (!u->out->closed && u->q->spec.namespaces_problem)
		set_condition(u, "Active", false, kar_reason_InvalidNamespaceSelector,
			"admits no job until spec.namespaceSelector is corrected");
	else if (!u->out->in_force)
		set_condition(u, "Active", false, kar_queue_validity_name(u->out->validity),
			"admits no job until its parent is valid");
	else if (!u->out->leaf && !u->out->closed)
		set_condition(u, "Active", true, kar_reason_Parent, "its child queues admit jobs");
	else
		set_condition(u, "Active", !u->out->closed, kar_queue_state_name(u->status->state),
			u->out->closed ? "admits no further job" : "admits jobs");
}

/* --- amounts ---------------------------------------------------------------------------------------- */

static int compare_pairs(const void *a, const void *b)
{
	const struct kar_pair *x = a, *y = b;

	return strcmp(x->key, y->key);
}

static struct kar_array pairs_of(const struct kar_queue_amounts *amounts, const struct kar_array *before,
	struct kar_arena *a)
{
	struct kar_pair *pairs = kar_arena_alloc(a, (size_t)amounts->n + 1, sizeof(*pairs));
	struct kar_array list = { .items = pairs, .n = amounts->n };

	for (uint32_t i = 0; i < amounts->n; i++)
		pairs[i] = (struct kar_pair){ amounts->items[i].resource,
			kar_amount_quantity(&amounts->items[i], a) };
	if (list.n)
		qsort(pairs, list.n, sizeof(*pairs), compare_pairs);
	return kar_status_pairs_over(before, &list, a);
}

/* A share of all memory is a number that nobody can read: whole Mi are shown. It is compared with nothing. */
static struct kar_queue_amounts readable(const struct kar_queue_amounts *all, struct kar_arena *a)
{
	struct kar_sched_amount *items = kar_arena_alloc(a, (size_t)all->n + 1, sizeof(*items));
	const int64_t mi = (int64_t)1 << 20;

	for (uint32_t i = 0; i < all->n; i++) {
		items[i] = all->items[i];
		if (kar_counts_bytes(items[i].resource) && items[i].amount > mi)
			items[i].amount -= items[i].amount % mi;
	}
	return (struct kar_queue_amounts){ items, all->n };
}

static bool moved(int64_t before, int64_t now, int64_t whole)
{
	kar_nano by = (kar_nano)before - now;

	return by && (!before || !now || (by < 0 ? -by : by) * 1000 >= (kar_nano)whole * SHARE_STEP);
}

/* Of what it was entitled to, by as much as counts. */
static bool is_entitled_anew(const struct kar_queue_amounts *now, const struct kar_array *before)
{
	if (now->n != before->n)
		return true;
	for (uint32_t i = 0; i < now->n; i++) {
		const char *text = kar_pairs_get(before, now->items[i].resource);
		struct kar_quantity q;

		if (!text || kar_quantity_parse(text, &q, NULL) ||
			moved(kar_amount_rounded_down(now->items[i].resource, &q).amount,
				now->items[i].amount, now->items[i].amount))
			return true;
	}
	return false;
}

/* As it was, if what its pods use is the same, and what it is entitled to has hardly changed. */
static bool is_same_use(const struct kar_queue_flavor_status *now, const struct kar_queue_flavor_status *was,
	const struct kar_queue_amounts *entitled)
{
	return kar_streq(now->name, was->name) && kar_status_same_pairs(&now->allocated, &was->allocated) &&
		!is_entitled_anew(entitled, &was->entitled);
}

static void set_flavors(const struct update *u)
{
	const struct kar_queue_status *before = &u->q->status;
	struct kar_queue_flavor_status *all =
		kar_arena_alloc(u->arena, (size_t)u->out->n_flavors + 1, sizeof(*all));
	static const struct kar_array none;

	for (uint32_t i = 0; i < u->out->n_flavors; i++) {
		const struct kar_queue_flavor_use *use = &u->out->flavors[i];
		const struct kar_queue_amounts entitled = readable(&use->entitled, u->arena);
		const struct kar_queue_flavor_status *was =
			i < before->n_flavors ? &before->flavors[i] : NULL;

		all[i] = (struct kar_queue_flavor_status){ .name = use->name,
			.allocated = pairs_of(&use->allocated, was ? &was->allocated : &none, u->arena),
			.entitled = pairs_of(&entitled, was ? &was->entitled : &none, u->arena) };
		if (was && is_same_use(&all[i], was, &entitled))
			all[i].entitled = was->entitled;
	}
	u->status->flavors = all;
	u->status->n_flavors = u->out->n_flavors;
}

/* What others do changes a share, and what a queue is entitled to, all the time: small changes are written with others. */
static void set_amounts(const struct update *u)
{
	const struct kar_queue_status *before = &u->q->status;
	const struct kar_queue_amounts entitled = readable(&u->out->entitled, u->arena);
	bool news;

	u->status->allocated = pairs_of(&u->out->allocated, &before->allocated, u->arena);
	news = moved(before->share, u->out->share, 1000) || is_entitled_anew(&entitled, &before->entitled) ||
		!kar_status_same_pairs(&u->status->allocated, &before->allocated);
	u->status->share = news ? u->out->share : before->share;
	u->status->entitled = news ? pairs_of(&entitled, &before->entitled, u->arena) : before->entitled;
}

/* --- groups ----------------------------------------------------------------------------------------- */

static kar_time waits_since(const struct kar_podgroup *g)
{
	return g->status.waiting_since ? g->status.waiting_since : g->creation;
}

static void set_head(const struct update *u)
{
	const struct kar_podgroup *g;

	if (u->out->head == KAR_QUEUE_NONE)
		return;
	assert(u->out->head < u->p->n_groups);
	g = u->p->groups[u->out->head].group;
	u->status->head = (struct kar_queue_head){ g->o.ns, g->o.name, g->o.uid, waits_since(g) };
}

static void set_reservation(const struct update *u)
{
	const struct kar_podgroup *g;

	if (u->out->keeps_reservation)
		u->status->reservation = u->q->status.reservation;
	if (u->out->reserved_for == KAR_QUEUE_NONE)
		return;
	assert(u->out->reserved_for < u->p->n_groups);
	g = u->p->groups[u->out->reserved_for].group;
	u->status->reservation = (struct kar_queue_reservation){
		.job = kar_arena_printf(u->arena, "%s/%s", g->o.ns, g->o.name),
		.uid = g->o.uid,
		.since = u->out->reserved_since - u->out->reserved_since % KAR_SECOND,
		.until = u->out->reserved_until - u->out->reserved_until % KAR_SECOND,
		.start = u->out->reserved_start,
		.pods = u->out->reserved_pods,
		.gathered = u->out->reserved_gathered,
		.resources = pairs_of(&u->out->reserved, &u->q->status.reservation.resources, u->arena),
	};
}

static const char *parent_of(const struct queue_pass *p, const struct kar_queue_status_out *out)
{
	if (!out->in_force)
		return "";
	return out->parent == KAR_QUEUE_NONE ? KAR_QUEUE_ROOT : p->queues[out->parent]->o.name;
}

struct kar_queue_status queue_status(struct queue_pass *p, const struct queue_hold *holds, uint32_t i)
{
	const struct kar_queue_status_out *out = &p->result.queues[i];
	const struct kar_queue *q = p->queues[i];
	struct kar_queue_status st = {
		.state = state_of(out),
		.pending = out->counts.pending,
		.inqueue = out->counts.inqueue,
		.running = out->counts.running,
		.completed = out->counts.completed,
		.unknown = out->counts.unknown,
		.parent = parent_of(p, out),
		.conditions = kar_conditions_copy(&q->status.conditions, p->arena),
	};
	const struct update u = { p, q, i, out, q->deletion ? &holds[i] : NULL, &st, p->arena };

	assert(!q->deletion || holds);
	set_amounts(&u);
	set_flavors(&u);
	queue_count_usage(&q->status, &st, p->now, p->arena);
	queue_count_history(p, i, &st);
	set_head(&u);
	set_reservation(&u);
	set_valid(&u);
	set_active(&u);
	set_over(&u);
	return st;
}
