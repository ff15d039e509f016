/* The status of a group after a pass. */
#include "controllers/queue/next.h"

#include "controllers/queue/doubts.h"

#include <assert.h>

#include "api/podgroup/pg_members.h"
#include "api/status/reasons.h"
#include "common/base/str.h"
#include "common/base/text.h"

/* An admission by another queue ends with the one that begins now, so lastTransitionTime must move. */
static void end_admission(const struct queue_group *qg, struct kar_conditions *conditions)
{
	for (size_t i = 0; i < conditions->n; i++) {
		if (kar_streq(conditions->items[i].type, KAR_PG_ADMITTED) &&
			!kar_podgroup_admitted_by(qg->group, qg->queue))
			conditions->items[i].status = KAR_COND_FALSE;
	}
}

static void set_preempted(struct queue_pass *p, const struct kar_podgroup *g, bool is, const char *reason,
	const char *message, struct kar_podgroup_status *st)
{
	const struct kar_condition c = {
		.type = KAR_PG_PREEMPTED,
		.status = is ? KAR_COND_TRUE : KAR_COND_FALSE,
		.observed_generation = g->generation,
		.reason = reason,
		.message = message,
	};

	kar_condition_set(&st->conditions, &c, p->now, p->arena);
}

static kar_time this_second(const struct queue_pass *p)
{
	return p->now - p->now % KAR_SECOND;
}

static const char *name_of(const struct queue_pass *p, uint32_t group)
{
	const struct kar_object *o = &p->groups[group].group->o;

	assert(group < p->n_groups);
	return kar_arena_printf(p->arena, "%s/%s", o->ns, o->name);
}

/* For whom it was evicted: "ns/name"; of a queue that is drained, what no group is called. */
static const char *name_taker(const struct queue_pass *p, const struct queue_group *qg,
	const struct kar_queue_decision *d)
{
	if (d->evicted_for == KAR_QUEUE_NONE)
		return kar_arena_printf(p->arena, "queue %s", qg->queue);
	return name_of(p, d->evicted_for);
}

/* A count that somebody else has written may be any. */
static void count_eviction(struct queue_pass *p, const struct queue_group *qg,
	const struct kar_queue_decision *d, struct kar_podgroup_status *st)
{
	bool drains = d->evicted_for == KAR_QUEUE_NONE;

	st->evictions = (int32_t)kar_clamp((int64_t)st->evictions + 1, 1, INT32_MAX);
	st->last_eviction = (struct kar_eviction){
		.time = this_second(p),
		.reason = kar_queue_cause_name(d->cause),
		.by = drains ? "" : st->placement.evicted_by,
		.queue = drains ? qg->queue : p->groups[d->evicted_for].queue,
	};
}

/* Its pods are deleted as after an attempt that failed, but it has not failed, and is in its queue at once. */
static void set_evicted(struct queue_pass *p, const struct queue_group *qg,
	const struct kar_queue_decision *d, struct kar_podgroup_status *st)
{
	st->placement = kar_pg_evict(&st->placement, name_taker(p, qg, d), d->evicted_text, this_second(p));
	set_preempted(p, qg->group, true, kar_queue_cause_name(d->cause), d->evicted_text, st);
	count_eviction(p, qg, d, st);
}

/* Which group has got the room that it held for members to come, by this pass or before; "": none. */
static const char *hold_ended_for(const struct queue_pass *p, const struct queue_group *qg,
	const struct kar_queue_decision *d)
{
	if (d->hold_ends_for != KAR_QUEUE_NONE)
		return name_of(p, d->hold_ends_for);
	return qg->admitted ? qg->group->status.placement.hold_ended_for : "";
}

/* "nodes n1, n2 and 3 more are taken last: two pods of this gang failed there" */
static const char *name_last(const struct queue_pass *p, const struct kar_queue_group *in)
{
	enum { NAMED = 3 };
	const char *names = in->last[0];

	for (uint32_t i = 1; i < in->n_last && i < NAMED; i++)
		names = kar_arena_printf(p->arena, "%s, %s", names, in->last[i]);
	if (in->n_last > NAMED)
		names = kar_arena_printf(p->arena, "%s and %d more", names, (int)(in->n_last - NAMED));
	return in->n_last == 1
		? kar_arena_printf(p->arena, "node %s is taken last: two pods of this gang failed there",
			  names)
		: kar_arena_printf(p->arena, "nodes %s are taken last: two pods of this gang failed on each",
			  names);
}

const char *queue_message(const struct queue_pass *p, const struct queue_group *qg,
	const struct kar_queue_decision *d)
{
	struct kar_arena *a = p->arena;
	const char *text = d->message;

	if (queue_is_admitted(d))
		text = kar_has_text(d->text) && d->provisions
			? kar_arena_printf(a, "admitted by queue %s to wait for new nodes: %s", qg->queue,
				  d->text)
			: kar_has_text(d->text) ? d->text
						: kar_arena_printf(a, "admitted by queue %s", qg->queue);
	else if (d->cause)
		text = d->evicted_text;
	if (d->lent_no_more)
		text = kar_arena_printf(a, "%s; queue %s lends it no more: %s", text, qg->queue,
			p->in[qg - p->groups].not_returnable);
	if (queue_is_admitted(d) && kar_has_text(hold_ended_for(p, qg, d)))
		text = kar_arena_printf(a, "%s; room for members to come went to %s", text,
			hold_ended_for(p, qg, d));
	if (p->in[qg - p->groups].n_last)
		text = kar_arena_printf(a, "%s; %s", text, name_last(p, &p->in[qg - p->groups]));
	if (queue_who_is_late(p, qg, d))
		text = kar_arena_printf(a, "%s; %s", text, queue_who_is_late(p, qg, d));
	if (qg->next)
		text = kar_arena_printf(a, "%s; " KAR_QUEUE_MOVES, text, qg->next);
	if (qg->asked > qg->priority)
		text = kar_arena_printf(a, "%s; " KAR_QUEUE_CLAMPED, text, qg->asked, qg->priority);
	return kar_text_fit(a, text,
		KAR_MAX_MESSAGE_BYTES); /* as it is stored, or it would be written again and again */
}

static void set_admitted(struct queue_pass *p, const struct queue_group *qg,
	const struct kar_queue_decision *d, struct kar_podgroup_status *st)
{
	const struct kar_condition admitted = {
		.type = KAR_PG_ADMITTED,
		.status = queue_is_admitted(d) ? KAR_COND_TRUE : KAR_COND_FALSE,
		.observed_generation = qg->group->generation,
		.reason = kar_queue_reason_name(d->reason),
		.message = queue_message(p, qg, d),
	};

	st->conditions = kar_conditions_copy(&st->conditions, p->arena);
	if (queue_is_admitted(d))
		end_admission(qg, &st->conditions);
	kar_condition_set(&st->conditions, &admitted, p->now, p->arena);
}

/* It waits for places, and gets none: its scheduler is another now, or it has no minimum, or no pods. */
bool queue_ends_waiting(const struct queue_group *qg, const struct kar_queue_decision *d)
{
	bool placed = qg->gang && (d->places || d->provisions);

	return queue_is_admitted(d) && !placed && queue_waits_for_places(qg->group);
}

/* Places for pods that are to be created now: those of a task that waits for another one are only kept free. */
static bool has_new_places(const struct queue_gang *g, const struct kar_placement *places)
{
	for (uint32_t i = 0; places && i < places->n_places; i++) {
		if (g->pods || g->tasks[places->places[i].role])
			return true;
	}
	return false;
}

/* It has no place yet for pods that are created bound, or names places that nobody needs. */
bool queue_renews_plan(const struct queue_group *qg, const struct kar_queue_decision *d)
{
	return queue_is_admitted(d) && qg->admitted && qg->gang && qg->gang->renews &&
		(has_new_places(qg->gang, d->places) || qg->gang->ends_plan ||
			queue_lacks_places(qg, d) != (qg->group->status.placement.deadline != 0));
}

/* A limit that its pods do not reach is none, so that it is not written whenever a pod ends. */
static int32_t limit_of(const struct queue_pass *p, const struct queue_group *qg)
{
	const struct kar_podgroup_status *st = &qg->group->status;
	const struct kar_queue_group *in = &p->in[qg - p->groups];
	int64_t left = 0;

	assert(qg->workload); /* of others it is the members whom the queue lets in */
	for (uint32_t i = 0; i < in->n_runs; i++)
		left += in->runs[i].n;
	return st->has_desired ? kar_podgroup_allows(qg->group, qg->workload->pods, left) : (int32_t)left;
}

/* The number of its pods is another now. It is recorded when a job is admitted, because its spec may ask for more at any time. */
bool queue_is_scaled(const struct queue_pass *p, const struct queue_group *qg,
	const struct kar_queue_decision *d)
{
	const struct kar_queue_group *in = &p->in[qg - p->groups];
	bool has = qg->group->status.has_desired;

	if (!queue_is_admitted(d) || !qg->workload)
		return false;
	return (!qg->recorded && !has) || ((in->elastic || has) && d->desired != limit_of(p, qg));
}

/* Times of waiting, by what it was and what it becomes. */
static void count_waiting(const struct queue_pass *p, const struct queue_group *qg,
	const struct kar_queue_decision *d, struct kar_podgroup_status *st)
{
	const struct kar_podgroup *g = qg->group;
	bool was_suspended = g->status.placement.state == KAR_PG_STATE_SUSPENDED;
	bool waited = !qg->recorded && !was_suspended;
	bool waits = !queue_is_admitted(d) && d->reason != KAR_QR_SUSPENDED;
	kar_time since = g->status.waiting_since ? g->status.waiting_since : g->creation;

	if (waited && !waits) {
		st->waited_seconds = kar_clamp(st->waited_seconds, 0, KAR_QUEUE_MAX_WAITED);
		if (since && p->now > since)
			st->waited_seconds += (p->now - since) / KAR_SECOND;
		st->waiting_since = 0;
	} else if (!waited && waits && !st->waiting_since) {
		st->waiting_since = this_second(p);
	}
}

bool queue_reserved(const struct queue_pass *p, const struct queue_group *qg, struct kar_condition *out)
{
	const struct queue_reservation *r = qg->reservation;

	if (!r && !kar_condition_find(&qg->group->status.conditions, KAR_PG_QUOTA_RESERVED))
		return false;
	*out = (struct kar_condition){ .type = KAR_PG_QUOTA_RESERVED,
		.status = r && r->granted ? KAR_COND_TRUE : KAR_COND_FALSE,
		.observed_generation = qg->group->generation,
		.reason = !r         ? kar_reason_NotRequested
			: r->granted ? kar_reason_Reserved
				     : kar_queue_reason_name(KAR_QR_QUOTA_EXCEEDED),
		.message = !r ? "nothing is reserved"
			: !r->granted
			? kar_text_fit(p->arena, queue_quota_describe(p->quota, r), KAR_MAX_MESSAGE_BYTES)
			: r->account
			? "room for spec.totalResources is kept in the ResourceQuotas of the namespace"
			: "no ResourceQuota of the namespace limits pods" };
	return true;
}

void queue_set_reserved(struct queue_pass *p, const struct queue_group *qg, struct kar_podgroup_status *st)
{
	struct kar_condition c;

	if (queue_reserved(p, qg, &c))
		kar_condition_set(&st->conditions, &c, p->now, p->arena);
}

static void set_unverified(struct queue_pass *p, const struct queue_group *qg, struct kar_podgroup_status *st)
{
	struct kar_condition c;

	if (queue_unverified(p, qg, &c))
		kar_condition_set(&st->conditions, &c, p->now, p->arena);
}

/* Its pods are created bound, and run already: those that it lacks get their places as those of a gang that has started. */
static bool is_adopted(const struct queue_group *qg)
{
	return qg->workload && qg->admitted && !qg->recorded && qg->gang && qg->gang->direct &&
		qg->group->status.placement.state == KAR_PG_STATE_NONE;
}

/* Nothing of its attempt is there, or will be: it waits as one that has not begun. What has failed before counts on, unless it was edited. */
static void end_attempt(struct queue_pass *p, const struct queue_group *qg, struct kar_podgroup_status *st)
{
	const struct kar_pg_placement *old = &qg->group->status.placement;
	bool edited = qg->workload && kar_podgroup_admission_is_old(qg->group, qg->workload->generation);

	if (old->state == KAR_PG_STATE_PLACED || old->state == KAR_PG_STATE_UNPLACED) {
		st->placement = kar_pg_reactivate(old, this_second(p));
		if (!edited)
			st->placement.failures = kar_pg_failures(old, this_second(p));
	} else if (old->state == KAR_PG_STATE_SATISFIED)
		st->placement = kar_pg_give_up(old, KAR_PG_STATE_WAITING, true, this_second(p));
}

/* What it waits for in its queue, as far as the next pass has to know it. A gang whose attempt goes on keeps its state. */
static void set_waiting(struct queue_pass *p, const struct queue_group *qg,
	const struct kar_queue_decision *d, struct kar_podgroup_status *st)
{
	const struct kar_pg_placement *old = &qg->group->status.placement;
	enum kar_pg_state state = old->state, lasting = kar_pg_lasting_state(qg->group);
	bool held = state == KAR_PG_STATE_RESERVING || state == KAR_PG_STATE_SUSPENDED;

	if (d->reason == KAR_QR_SUSPENDED) {
		if (state != KAR_PG_STATE_SUSPENDED)
			st->placement = kar_pg_suspend(old, this_second(p));
	} else if (d->reason == KAR_QR_RESERVING) {
		if (state != KAR_PG_STATE_RESERVING &&
			(lasting == KAR_PG_STATE_NONE || lasting == KAR_PG_STATE_WAITING))
			st->placement = kar_pg_reserve(old);
	} else if (held) {
		st->placement = kar_pg_queue_again(old);
	}
}

/* It is admitted, and nobody places it: what it remembers of attempts is of no use. */
static void end_placing(const struct queue_group *qg, struct kar_podgroup_status *st)
{
	if (qg->promised && st->placement.state != KAR_PG_STATE_DEACTIVATED) {
		st->placement = kar_pg_queue_again(&st->placement);
		return;
	}
	if (!st->placement.attempt && kar_pg_lasting_state(qg->group) == KAR_PG_STATE_NONE) {
		st->placement = kar_pg_queue_again(&st->placement);
		return;
	}
	st->placement = kar_pg_end(&st->placement);
	st->backend = KAR_PG_BACKEND_NONE;
}

static void set_placement(struct queue_pass *p, const struct queue_group *qg,
	const struct kar_queue_decision *d, struct kar_podgroup_status *st)
{
	bool begins = queue_is_admitted(d) && !qg->admitted && qg->gang && (d->places || d->provisions);
	struct kar_pg_placement repaired;

	if (queue_repairs_plan(qg, d, this_second(p), p->arena, &repaired)) {
		st->placement = repaired;
	} else if (queue_renews_plan(qg, d)) {
		st->placement = queue_renew_places(qg, d, this_second(p), p->arena);
	} else if (begins) {
		st->placement = queue_record_places(p, qg, d->provisions ? NULL : d->places, this_second(p));
		st->backend = qg->gang->backend;
	} else if (is_adopted(qg)) {
		st->placement = kar_pg_adopt(&st->placement, p->in[qg - p->groups].min, this_second(p));
	} else if (queue_ends_waiting(qg, d)) {
		end_placing(qg, st);
	} else if (!queue_is_admitted(d)) {
		if (qg->taken_back && d->reason != KAR_QR_SUSPENDED)
			end_attempt(p, qg, st);
		else
			set_waiting(p, qg, d, st);
	}
}

void queue_set_limit(const struct queue_pass *p, const struct queue_group *qg,
	const struct kar_queue_decision *d, struct kar_podgroup_status *st)
{
	static const enum kar_pg_limit limits[KAR_QUEUE_LIMITS] = {
		[KAR_QUEUE_UNLIMITED] = KAR_PG_LIMIT_NONE,
		[KAR_QUEUE_LIMIT_STARTING] = KAR_PG_LIMIT_STARTING,
		[KAR_QUEUE_LIMIT_CLOSED] = KAR_PG_LIMIT_QUEUE_CLOSED,
		[KAR_QUEUE_LIMIT_FREEZING] = KAR_PG_LIMIT_FREEZING_WINDOW,
		[KAR_QUEUE_LIMIT_LOAD] = KAR_PG_LIMIT_MAX_LOAD,
		[KAR_QUEUE_LIMIT_QUOTA] = KAR_PG_LIMIT_QUOTA_EXCEEDED,
		[KAR_QUEUE_LIMIT_NAMESPACE] = KAR_PG_LIMIT_NAMESPACE_LIMIT,
		[KAR_QUEUE_LIMIT_CAPABILITY] = KAR_PG_LIMIT_QUEUE_CAPABILITY,
		[KAR_QUEUE_LIMIT_SHARE] = KAR_PG_LIMIT_FAIR_SHARE,
		[KAR_QUEUE_LIMIT_HEAD] = KAR_PG_LIMIT_HEAD_RESERVED,
		[KAR_QUEUE_LIMIT_GUARANTEE] = KAR_PG_LIMIT_GUARANTEE_RESERVED,
		[KAR_QUEUE_LIMIT_CAPACITY] = KAR_PG_LIMIT_INSUFFICIENT_CAPACITY,
		[KAR_QUEUE_LIMIT_NODES] = KAR_PG_LIMIT_NO_FIT,
		[KAR_QUEUE_LIMIT_STOPPING] = KAR_PG_LIMIT_WAITING_FOR_TERMINATION,
	};

	const char *late = queue_who_is_late(p, qg, d), *text = late ? late : d->limit_text;

	assert(d->limit < KAR_QUEUE_LIMITS);
	st->scaling_limit = qg->workload || late ? limits[d->limit] : KAR_PG_LIMIT_NONE;
	st->scaling_limit_message =
		st->scaling_limit && text ? kar_text_fit(p->arena, text, KAR_MAX_MESSAGE_BYTES) : "";
}

/* What is decided about edited templates; false: nothing. */
static bool decide_edit(const struct queue_pass *p, const struct queue_group *qg,
	const struct kar_queue_decision *d, struct kar_condition *out)
{
	if (!d->takes_edit && !d->edit_text)
		return false;
	assert(qg->workload && !(d->takes_edit && d->edit_text));
	*out = (struct kar_condition){ .type = KAR_PG_TEMPLATES_ADMITTED,
		.status = d->takes_edit ? KAR_COND_TRUE : KAR_COND_FALSE,
		.observed_generation = qg->workload->generation,
		.reason = d->takes_edit ? kar_queue_reason_name(KAR_QR_ADMITTED)
					: kar_reason_WaitingForAdmission,
		.message = d->takes_edit
			? "the pods are made again with the edited templates"
			: kar_text_fit(p->arena,
				  kar_arena_printf(p->arena, "templates edited: %s", d->edit_text),
				  KAR_MAX_MESSAGE_BYTES) };
	return true;
}

bool queue_decides_edit(const struct queue_pass *p, const struct queue_group *qg,
	const struct kar_queue_decision *d)
{
	const struct kar_condition *c =
		kar_condition_find(&qg->group->status.conditions, KAR_PG_TEMPLATES_ADMITTED);
	struct kar_condition next;

	return decide_edit(p, qg, d, &next) &&
		(!c || c->status != next.status || c->observed_generation != next.observed_generation);
}

static void set_templates(struct queue_pass *p, const struct queue_group *qg,
	const struct kar_queue_decision *d, struct kar_podgroup_status *st)
{
	struct kar_condition c;

	if (decide_edit(p, qg, d, &c))
		kar_condition_set(&st->conditions, &c, p->now, p->arena);
}

/* The status of the group as it is after @d. */
struct kar_podgroup_status queue_next_status(struct queue_pass *p, const struct queue_group *qg,
	const struct kar_queue_decision *d)
{
	struct kar_podgroup_status st = qg->group->status;
	bool admitted = queue_is_admitted(d);

	assert(!d->cause || qg->admitted); /* who has no place loses none */
	assert(!admitted || d->reason == KAR_QR_ADMITTED || d->provisions);
	st.position = d->position;
	st.has_position = true;
	st.estimated_start = d->estimated_start - d->estimated_start % KAR_SECOND;
	st.admitted_queue = admitted ? qg->queue : "";
	if (d->flavor)
		st.flavor = p->snapshot.flavors[d->flavor - 1].name;
	else if (!admitted ||
		!qg->admitted) /* one that no queue names any more stays as long as the group has it */
		st.flavor = "";
	if (qg->answer)
		st.what_if = *qg->answer;
	else if (!qg->question)
		st.what_if = (struct kar_what_if){ 0 };
	if (!admitted || !qg->admitted ||
		!st.admitted_generation) /* also of somebody's group that a job has taken over */
		st.admitted_generation = admitted && qg->workload ? qg->workload->generation : 0;
	if (!admitted || !qg->admitted ||
		!qg->recorded) /* also of a group that was deleted while its job runs */
		st.run_seconds = admitted ? queue_run_seconds(p, qg) : 0;
	count_waiting(p, qg, d, &st);
	if (queue_is_scaled(p, qg, d)) {
		st.desired = d->desired;
		st.has_desired = true;
		st.desired_of = qg->workload->pods;
	}
	queue_set_let_in(p, qg, d, &st);
	if (d->scaled)
		st.last_scale_time = this_second(p);
	queue_set_limit(p, qg, d, &st);
	set_placement(p, qg, d, &st);
	set_admitted(p, qg, d, &st);
	queue_set_reserved(p, qg, &st);
	set_unverified(p, qg, &st);
	set_templates(p, qg, d, &st);
	if (d->hold_ends_for != KAR_QUEUE_NONE)
		st.placement = kar_pg_yield_hold(&st.placement, name_of(p, d->hold_ends_for));
	if (d->cause)
		set_evicted(p, qg, d, &st);
	else if (admitted && kar_condition_is_true(&st.conditions, KAR_PG_PREEMPTED))
		set_preempted(p, qg->group, false, "Admitted", "it has its places again", &st);
	return st;
}
