/* What a pass writes: admissions and positions of groups, statuses of queues, the default queue. */
#include <assert.h>

#include "controllers/queue/doubts.h"
#include "controllers/queue/next.h"
#include "controllers/queue/pace.h"
#include "controllers/queue/preemptible.h"
#include "controllers/queue/backoffs.h"
#include "controllers/queue/shell.h"
#include "controllers/queue/write.h"

#include "api/names.h"
#include "api/status/reasons.h"
#include "api/copy.h"
#include "controllers/cluster/status_patch.h"
#include "common/codec/json.h"
#include "common/base/str.h"
#include "controllers/cluster/group_status.h"
#include "controllers/kar_metrics.h"

/* Numbers of struct kar_action.what. */
enum {
	CREATE_DEFAULT_QUEUE,
	PATCH_GROUP,
	PATCH_QUEUE,
	PATCH_LABEL,
	PATCH_FINALIZER,
	EVICT,
};

/* Payload of an action. */
struct body {
	struct kar_str json;
	kar_rv rv;        /* of the object that it was made from; 0: none */
	kar_time waited;  /* ms that the group has waited which it admits; -1: it admits none */
	bool loses_extra; /* the group, to others */
};

static const kar_time REFUSED_MOST = 10 * KAR_MINUTE, EXTRA_MOST = KAR_MINUTE; /* of backoffs.h */

/* The patch of @o whose body is in @out, which is released. @subresource NULL: none. */
static struct kar_action *add_patch(struct queue_pass *p, const struct kar_object *o, const char *subresource,
	int what, const char *note, struct kar_buf *out)
{
	struct kar_arena *arena = p->arena;
	struct body *body = kar_arena_alloc(arena, 1, sizeof(*body));
	struct kar_action *a;

	assert(o->name && o->uid[0]); /* without it the write could hit another object of the name */
	body->json = (struct kar_str){ kar_arena_strndup(arena, out->p, out->n), out->n };
	body->rv = o->rv;
	body->waited = -1;
	a = kar_plan_add(p->plan, KAR_PATCH, o->type, kar_copy(arena, o->ns), kar_copy(arena, o->name));
	a->subresource = subresource;
	a->patch_type = KAR_PATCH_MERGE;
	a->uid = kar_copy(arena, o->uid);
	a->what = what;
	a->payload = body;
	a->note = note;
	kar_buf_release(out);
	return a;
}

static void note_admission(const struct queue_pass *p, const struct kar_podgroup *g, struct kar_action *a)
{
	struct body *body = (struct body *)(uintptr_t)a->payload;
	kar_time since = g->status.waiting_since ? g->status.waiting_since : g->creation;

	assert(a->what == PATCH_GROUP);
	body->waited = p->now > since ? p->now - since : 0;
}

/* kube-scheduler may bind the next extra where it bound the one that is stopped: there is a pause before it. */
static void note_lost_extra(const struct kar_podgroup *g, const struct kar_queue_decision *d,
	struct kar_action *a)
{
	struct body *body = (struct body *)(uintptr_t)a->payload;

	body->loses_extra = d->scaled && d->desired < g->status.desired &&
		(d->limit == KAR_QUEUE_LIMIT_SHARE || d->limit == KAR_QUEUE_LIMIT_NODES);
}

static struct kar_action *patch_group(struct queue_pass *p, const struct queue_group *qg,
	const struct kar_queue_decision *d)
{
	const struct kar_podgroup *g = qg->group;
	struct kar_podgroup_status st = queue_next_status(p, qg, d);
	unsigned mask = KAR_PG_QUEUE;
	const char *subresource;
	struct kar_buf out = { 0 };
	struct kar_action *a;

	if (st.phase ==
		KAR_PG_PHASE_NONE) { /* the first write also sets phase and counts, which saves a second one */
		st.phase = KAR_PG_PHASE_PENDING;
		mask |= KAR_PG_MEMBERS;
	}
	subresource = kar_group_status_patch(g, &st, mask, &out);
	a = add_patch(p, &g->o, subresource, PATCH_GROUP,
		kar_arena_printf(p->arena, "Admitted=%s/%s position=%d%s",
			queue_is_admitted(d) ? "True" : "False", kar_queue_reason_name(d->reason),
			d->position,
			d->cause                                     ? " evicted"
				: d->hold_ends_for != KAR_QUEUE_NONE ? " hold-ends"
				: d->provisions                      ? " provisions"
				: d->places                          ? " placed"
								     : ""),
		&out);
	if (queue_is_admitted(d) && !qg->admitted && !qg->taken_back)
		note_admission(p, g, a);
	note_lost_extra(g, d, a);
	return a;
}

/* Which of these holds a group up may change with each job that starts or ends, and is written with the positions. */
static bool both_wait_for_room(const char *recorded, enum kar_queue_reason now)
{
	bool before = false, after = now >= KAR_QR_GANG_GROUP;

	for (int r = KAR_QR_GANG_GROUP; r < KAR_N_QUEUE_REASONS; r++)
		before |= kar_streq(recorded, kar_queue_reason_name((enum kar_queue_reason)r));
	return before && after;
}

/* It begins, it ends, or its reason is another. */
static bool is_another(const struct queue_group *qg, const struct kar_condition *next)
{
	const struct kar_condition *c = kar_condition_find(&qg->group->status.conditions, next->type);

	return !c || c->status != next->status || !kar_streq(c->reason, next->reason);
}

static bool has_other_condition(const struct queue_pass *p, const struct queue_group *qg)
{
	struct kar_condition next;

	return (queue_reserved(p, qg, &next) && is_another(qg, &next)) ||
		(queue_unverified(p, qg, &next) && is_another(qg, &next));
}

/* A job waits for the word that the group of somebody, which it has taken over, is admitted for it. */
static bool is_taken_over(const struct queue_group *qg, const struct kar_queue_decision *d)
{
	return queue_is_admitted(d) && qg->workload && qg->workload->waits &&
		qg->group->status.placement.state == KAR_PG_STATE_NONE &&
		!qg->group->status.admitted_generation;
}

/*
 * The recorded reason is compared with the wanted one only to know whether the status must be written; what is decided does not depend
 * on it. An admission by another queue than before is new.
 */
bool queue_is_news(const struct queue_pass *p, const struct queue_group *qg,
	const struct kar_queue_decision *d)
{
	const struct kar_podgroup *g = qg->group;
	const struct kar_condition *c = kar_condition_find(&g->status.conditions, KAR_PG_ADMITTED);
	bool admitted = queue_is_admitted(d);
	struct kar_pg_placement repaired;

	return !c || qg->answer || has_other_condition(p, qg) || queue_ends_waiting(qg, d) ||
		queue_renews_plan(qg, d) || queue_repairs_plan(qg, d, p->now, p->arena, &repaired) ||
		(admitted && !qg->admitted) || d->cause || d->hold_ends_for != KAR_QUEUE_NONE ||
		queue_is_scaled(p, qg, d) || queue_lets_in(p, qg, d) || is_taken_over(qg, d) ||
		c->status != (admitted ? KAR_COND_TRUE : KAR_COND_FALSE) ||
		!(kar_streq(c->reason, kar_queue_reason_name(d->reason)) ||
			both_wait_for_room(c->reason, d->reason)) ||
		(admitted && !kar_podgroup_admitted_by(g, qg->queue)) || queue_decides_edit(p, qg, d);
}

/* When a new message of a condition is written that is there: what is used changes all the time. */
static enum queue_pace pace_of_condition(const struct queue_group *qg, const struct kar_condition *next)
{
	const struct kar_condition *c = kar_condition_find(&qg->group->status.conditions, next->type);

	if (!c || kar_streq(c->message, next->message))
		return QUEUE_NEVER;
	return queue_says_the_same(c->message, next->message) ? QUEUE_LATER : QUEUE_SOON;
}

/* Of what keeps an elastic job from growing: its numbers change with each pod that starts or ends. */
static enum queue_pace pace_of_limit(const struct queue_pass *p, uint32_t i)
{
	const struct kar_podgroup_status *st = &p->groups[i].group->status;
	struct kar_podgroup_status next = *st;

	queue_set_limit(p, &p->groups[i], &p->result.groups[i], &next);
	if (next.scaling_limit != st->scaling_limit)
		return QUEUE_SOON;
	return kar_streq(next.scaling_limit_message, st->scaling_limit_message) ? QUEUE_NEVER : QUEUE_LATER;
}

static enum queue_pace sooner(enum queue_pace a, enum queue_pace b)
{
	if (a == QUEUE_SOON || b == QUEUE_NEVER)
		return a;
	return b;
}

/* What is said of nodes to come stays as it was written, even if it is of an earlier day. */
static enum queue_pace pace_of(const struct queue_pass *p, uint32_t i)
{
	const struct kar_queue_decision *d = &p->result.groups[i];

	struct kar_condition next;
	enum queue_pace pace = pace_of_limit(p, i),
			of_admission = queue_pace_of(p, i,
				queue_is_admitted(d) && (d->provisions || p->in[i].provisioned)
					? NULL
					: queue_message(p, &p->groups[i], d));

	if (queue_reserved(p, &p->groups[i], &next))
		pace = sooner(pace, pace_of_condition(&p->groups[i], &next));
	if (queue_unverified(p, &p->groups[i], &next))
		pace = sooner(pace, pace_of_condition(&p->groups[i], &next));
	return sooner(of_admission, pace);
}

/* It is time to write what of the group is only a new position, or a new number. */
static bool is_due(struct queue_pass *p, enum queue_pace pace)
{
	if (!p->for_positions || pace == QUEUE_NEVER)
		return false;
	if (pace == QUEUE_SOON)
		return true;
	p->others_wait |= p->others_in > 0;
	p->others_written |= p->others_in <= 0;
	return p->others_in <= 0;
}

/* What is decided about it is written after that, in the next pass. */
static void patch_label(struct queue_pass *p, const struct queue_group *qg)
{
	const struct kar_object *o = &qg->group->o;
	struct kar_buf out = { 0 };
	struct kar_json_writer w;

	assert(qg->label && !p->for_positions);
	kar_json_writer_init(&w, &out);
	kar_jw_begin_object(&w);
	kar_jw_key(&w, "metadata");
	kar_jw_begin_object(&w);
	kar_write_precondition_members(&w, o);
	kar_jw_key(&w, "labels");
	kar_jw_begin_object(&w);
	kar_jw_kv_string(&w, KAR_LABEL_QUEUE, qg->label);
	kar_jw_end_object(&w);
	kar_jw_end_object(&w);
	kar_jw_end_object(&w);
	kar_json_writer_release(&w);
	/* Until it is written the pass gives the group room in vain. */
	add_patch(p, o, NULL, PATCH_LABEL, kar_arena_printf(p->arena, "queue=%s", qg->label), &out)->firm =
		true;
}

/* Its queue will be there in a moment: that there is none is not worth a word to who has just created his first job. */
static bool gets_its_queue(const struct queue_pass *p, uint32_t i)
{
	const struct queue_group *qg = &p->groups[i];

	return p->makes_default && p->result.groups[i].reason == KAR_QR_QUEUE_NOT_FOUND &&
		kar_streq(qg->queue, KAR_DEFAULT_QUEUE) &&
		!kar_condition_find(&qg->group->status.conditions, KAR_PG_ADMITTED);
}

/* Who gets room, and who gives it up, before who only waits: pods depend on it, with the priority of their group. */
static void rank_news(struct kar_action *a, enum queue_turn turn, int32_t priority)
{
	a->firm = turn < QUEUE_WAITS;
	if (a->firm)
		a->rank.priority = priority;
}

/* Most answers come within a few ms, and then another reason holds. */
static bool is_checked_for_a_moment(struct queue_pass *p, uint32_t i)
{
	enum { MOMENT = 2000 }; /* ms */
	kar_time left = MOMENT - queue_awaits_verdict(p, i);

	if (p->result.groups[i].reason != KAR_QR_CHECKING_TEMPLATE || left <= 0)
		return false;
	queue_come_again(p, left);
	return true;
}

/* Who takes its places, or whose it takes of pods of no queue; NULL: neither. */
static const struct kar_plan_event *eviction_event(struct queue_pass *p, uint32_t i)
{
	const struct kar_queue_decision *d = &p->result.groups[i];
	const char *note = d->cause ? d->evicted_text : queue_name_evicted(p, i);
	struct kar_plan_event *e = note ? kar_arena_alloc(p->arena, 1, sizeof(*e)) : NULL;

	if (e)
		*e = (struct kar_plan_event){ .warning = d->cause != KAR_QUEUE_NOT_EVICTED,
			.reason = d->cause ? kar_reason_Preempted : kar_reason_Reserving,
			.action = "Evict",
			.note = note };
	return e;
}

enum queue_turn queue_turn_of(const struct queue_pass *p, uint32_t i)
{
	const struct kar_queue_decision *d = &p->result.groups[i];

	if (d->reason == KAR_QR_RESERVING)
		return QUEUE_RESERVES;
	if (d->cause || p->groups[i].recorded)
		return QUEUE_KEEPS_OR_LOSES;
	if (queue_is_admitted(d))
		return QUEUE_GIVES;
	/* One that has moved gives up what it holds in its former queue. */
	return p->in[i].also_in != KAR_QUEUE_NONE ? QUEUE_KEEPS_OR_LOSES : QUEUE_WAITS;
}

/* A new reason is written at once; new positions of many groups are written together, a while later. */
void queue_write_group(struct queue_pass *p, uint32_t i)
{
	const struct queue_group *qg = &p->groups[i];
	const struct kar_queue_decision *d = &p->result.groups[i];
	bool news = queue_is_news(p, qg, d);
	enum queue_pace pace = news ? QUEUE_NEVER : pace_of(p, i);

	if (!queue_is_written(qg) || gets_its_queue(p, i) || is_checked_for_a_moment(p, i))
		return;
	if (qg->label) {
		if (!p->for_positions)
			patch_label(p, qg);
		return;
	}
	if (news && !p->for_positions) {
		struct kar_action *a = patch_group(p, qg, d);

		a->event = eviction_event(p, i);
		rank_news(a, queue_turn_of(p, i), qg->priority);
	} else if (is_due(p, pace)) {
		patch_group(p, qg, d)->rank.tier = KAR_TIER_BACKGROUND;
	}
	p->moved |= pace != QUEUE_NEVER;
}

/* It has ended, and shows a reservation that it has no longer. */
static void write_finished(struct queue_pass *p, const struct kar_podgroup *g)
{
	const struct queue_group qg = { .group = g };
	struct kar_podgroup_status st = g->status;
	const char *subresource;
	struct kar_buf out = { 0 };

	if (!kar_condition_is_true(&st.conditions, KAR_PG_QUOTA_RESERVED) || g->o.unreadable)
		return;
	st.conditions = kar_conditions_copy(&st.conditions, p->arena);
	queue_set_reserved(p, &qg, &st);
	subresource = kar_group_status_patch(g, &st, KAR_PG_QUEUE, &out);
	add_patch(p, &g->o, subresource, PATCH_GROUP, "QuotaReserved=False", &out);
}

void queue_write_evictions(struct queue_pass *p)
{
	if (!p->for_positions)
		queue_evict_preemptible(p, EVICT);
}

void queue_write_finished(struct queue_pass *p)
{
	for (size_t i = 0; i < p->n_finished && !p->for_positions; i++)
		write_finished(p, p->finished[i]);
}

/* Of a queue that has become invalid, has rights that cannot be kept, or is in order again; NULL: nothing is new. */
static const struct kar_plan_event *validity_event(struct queue_pass *p, const struct kar_queue *q,
	const struct kar_queue_status *st)
{
	const struct kar_condition *before = kar_condition_find(&q->status.conditions, "Valid");
	const struct kar_condition *now = kar_condition_find(&st->conditions, "Valid");
	struct kar_plan_event *e;

	if (!now ||
		(before && kar_streq(before->reason, now->reason) &&
			kar_streq(before->message, now->message)))
		return NULL;
	if (!before && kar_streq(now->reason, "Valid"))
		return NULL;
	e = kar_arena_alloc(p->arena, 1, sizeof(*e));
	*e = (struct kar_plan_event){ .warning = !kar_streq(now->reason, "Valid"),
		.reason = now->reason,
		.action = "Validate",
		.note = now->message };
	return e;
}

/* Of a queue whose pods have got more than its capability; NULL: it is not so, or has been said. */
static const struct kar_plan_event *over_event(struct queue_pass *p, const struct kar_queue *q,
	const struct kar_queue_status *st)
{
	const struct kar_condition *now = kar_condition_find(&st->conditions, "OverCapability");
	struct kar_plan_event *e;

	if (!now || now->status != KAR_COND_TRUE ||
		kar_condition_is_true(&q->status.conditions, "OverCapability"))
		return NULL;
	e = kar_arena_alloc(p->arena, 1, sizeof(*e));
	*e = (struct kar_plan_event){ .warning = true,
		.reason = now->type,
		.action = "Count",
		.note = now->message };
	return e;
}

static void patch_queue(struct queue_pass *p, const struct kar_queue *q, const struct kar_queue_status *st)
{
	const struct kar_desc *table = &kar_queue_status_table;
	const struct kar_plan_event *validity = validity_event(p, q, st);
	struct kar_buf out = { 0 };

	kar_write_status_patch(&out, &q->o, table, st, KAR_SF_ALL);
	add_patch(p, &q->o, "status", PATCH_QUEUE, kar_status_print(table, &q->status, st, p->arena), &out)
		->event = validity ? validity : over_event(p, q, st);
}

static void write_queue(struct queue_pass *p, const struct kar_queue *q, const struct kar_queue_status *st)
{
	const struct kar_desc *table = &kar_queue_status_table;

	if (!kar_status_equal(table, st, &q->status, KAR_SF_STORY)) {
		patch_queue(p, q, st);
	} else if (!kar_status_equal(table, st, &q->status, KAR_SF_COUNTER)) {
		if (p->counts_in > 0) {
			kar_plan_requeue(p->plan, p->counts_in);
			return;
		}
		patch_queue(p, q, st);
		p->counts_written = true;
	}
}

/* Its status is written after that, in the next pass. */
static void patch_finalizer(struct queue_pass *p, const struct kar_queue *q)
{
	struct kar_buf out = { 0 };

	queue_write_finalizers(q, &out);
	add_patch(p, &q->o, NULL, PATCH_FINALIZER, q->deletion ? "finalizer removed" : "finalizer added",
		&out);
}

void queue_write_queues(struct queue_pass *p)
{
	const struct queue_hold *holds = queue_holds(p);

	assert(!p->queues_are_read_only && !p->for_positions);
	p->rights = queue_sum_rights(p);
	for (uint32_t i = 0; i < p->n_queues; i++) {
		struct kar_queue_status st;

		if (queue_finalizer_is_due(p, holds, i)) {
			patch_finalizer(p, p->queues[i]);
			continue;
		}
		if (p->queues[i]->o.unreadable)
			continue;
		st = queue_status(p, holds, i);
		write_queue(p, p->queues[i], &st);
	}
}

/* Groups that have no other reason to wait than that there is no such queue. */
static bool is_missed(const struct queue_pass *p, const char *queue)
{
	for (uint32_t i = 0; i < p->n_groups; i++) {
		const struct queue_group *qg = &p->groups[i];
		bool misses = p->result.groups[i].reason == KAR_QR_QUEUE_NOT_FOUND ||
			(qg->question && !qg->group->status.what_if.answer &&
				qg->question->queue == KAR_QUEUE_NONE);

		if (misses && kar_streq(qg->queue, queue))
			return true;
	}
	return false;
}

void queue_make_default(struct queue_pass *p)
{
	assert(!p->queues_are_read_only);
	p->makes_default = queue_comes_by_itself(p, KAR_DEFAULT_QUEUE) && is_missed(p, KAR_DEFAULT_QUEUE);
	if (p->makes_default)
		kar_plan_add(p->plan, KAR_CREATE, &kar_queue_type, NULL, KAR_DEFAULT_QUEUE)->what =
			CREATE_DEFAULT_QUEUE;
}

/* ---- bodies ---- */

static void write_default_queue(struct kar_buf *out)
{
	struct kar_json_writer w;

	kar_json_writer_init(&w, out);
	kar_jw_begin_object(&w);
	kar_jw_kv_string(&w, "apiVersion", KAR_API_VERSION);
	kar_jw_kv_string(&w, "kind", "Queue");
	kar_jw_key(&w, "metadata");
	kar_jw_begin_object(&w);
	kar_jw_kv_string(&w, "name", KAR_DEFAULT_QUEUE);
	kar_jw_key(&w, "finalizers");
	kar_jw_begin_array(&w);
	kar_jw_string(&w, KAR_FINALIZER_QUEUE);
	kar_jw_end_array(&w);
	kar_jw_end_object(&w);
	kar_jw_key(&w, "spec");
	kar_jw_begin_object(&w);
	kar_jw_end_object(&w);
	kar_jw_end_object(&w);
	kar_json_writer_release(&w);
}

static void write_eviction(const struct kar_action *a, struct kar_buf *out)
{
	struct kar_json_writer w;

	kar_json_writer_init(&w, out);
	kar_jw_begin_object(&w);
	kar_jw_kv_string(&w, "apiVersion", "policy/v1");
	kar_jw_kv_string(&w, "kind", "Eviction");
	kar_jw_key(&w, "metadata");
	kar_jw_begin_object(&w);
	kar_jw_kv_string(&w, "name", a->name);
	kar_jw_kv_string(&w, "namespace", a->ns ? a->ns : "");
	kar_jw_end_object(&w);
	kar_jw_key(&w, "deleteOptions");
	kar_jw_begin_object(&w);
	kar_jw_key(&w, "preconditions");
	kar_jw_begin_object(&w);
	kar_jw_kv_string(&w, "uid", a->uid);
	kar_jw_end_object(&w);
	kar_jw_end_object(&w);
	kar_jw_end_object(&w);
	kar_json_writer_release(&w);
}

int queue_encode(const struct kar_sync *s KAR_UNUSED, const struct kar_action *a, struct kar_buf *out,
	struct kar_err *err KAR_UNUSED)
{
	const struct body *body = a->payload;

	if (a->what == CREATE_DEFAULT_QUEUE)
		write_default_queue(out);
	else if (a->what == EVICT)
		write_eviction(a, out);
	else
		kar_buf_append(out, body->json.p, body->json.n);
	return 0;
}

static bool is_still_evicted(const struct kar_stores *stores, const struct kar_action *a)
{
	const struct kar_object *o = kar_store_get(stores->pods, a->ns, a->name);

	return o && kar_streq(o->uid, a->uid) && !kar_as_pod(o)->deletion;
}

/* A patch of an object that has changed meanwhile would only meet a Conflict. */
bool queue_still_wanted(const struct kar_sync *s, const struct kar_action *a)
{
	const struct kar_stores *stores = s->controller->stores;
	const struct kar_store *store = a->type == &kar_podgroup_type ? stores->podgroups : stores->queues;
	const struct body *body = a->payload;
	const struct kar_object *o;

	if (a->what == CREATE_DEFAULT_QUEUE)
		return true;
	if (a->what == EVICT)
		return is_still_evicted(stores, a);
	o = kar_store_get(store, a->ns, a->name);
	return o && kar_streq(o->uid, a->uid) && o->rv == body->rv;
}

void queue_wrote(const struct kar_sync *s, const struct kar_action *a,
	const struct kar_answer *answer KAR_UNUSED)
{
	const struct body *body = a ? a->payload : NULL;

	if (body && body->waited >= 0)
		kar_metric_observe(s->controller->metrics, &kar_m_kar_admission_wait_seconds,
			(double)body->waited / KAR_SECOND, NULL);
	if (body && body->loses_extra)
		queue_backoffs_note(((struct queue_shared *)s->controller->shared)->backoffs, a->uid,
			"it lost a pod to others", EXTRA_MOST, s->mono);
}

void queue_refused(const struct kar_sync *s, const struct kar_action *a, const struct kar_err *err)
{
	struct queue_shared *shared = s->controller->shared;

	if (a->what != EVICT)
		return;
	queue_backoffs_note(shared->backoffs, a->uid, err->msg, REFUSED_MOST, s->mono);
	/* The room that was held for its taker is not to come. Others may be refused as well, one pass after the other. */
	kar_workqueue_add_at(s->controller->queue, s->key, s->mono + KAR_SECOND);
}
