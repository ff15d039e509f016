/*
 * The shell of the Queue reconciler. One key for the pass over all queues and all groups: admission compares them
 * with each other. Every write is an action, its body encoded while the objects are at hand.
 */
#include <stdlib.h>

#include "api/copy.h"
#include "common/str.h"
#include "api/names.h"
#include "common/json.h"
#include "controllers/controllers.h"
#include "controllers/queue/pass.h"

#define ALL "all"
/* Its sync only asks for a pass, at most once a second: for changes that affect nothing but counts of queues and messages. */
#define COUNTS "counts"
/* Its sync writes changed positions. They have a plan of their own, because they may wait for long and admissions must not. */
#define POSITIONS "positions"

enum {
	PASS_INTERVAL = 50, /* ms between two passes, at least, */
	PASS_GROUPS = 50,   /* and one ms more per 50 groups, so that passes take a few % of a core at most */
	COUNTS_INTERVAL =
		1000, /* ms between two passes that write statuses of queues for their counts alone */
	POSITION_INTERVAL = 5000, /* ms between two passes that write positions */
	CACHE_WAIT = 50,          /* ms between two checks whether the caches have our own writes */
};

/* Numbers of struct kar_action.what. */
enum {
	CREATE_DEFAULT_QUEUE,
	PATCH_GROUP,
	PATCH_QUEUE,
};

/* Payload of an action. */
struct body {
	struct kar_str json;
	kar_rv rv; /* of the object that it was made from; 0: none */
};

/* kar_key_state.memory of this reconciler. */
struct memory {
	kar_time last_pass; /* mono; 0: never */
};

static struct memory *memory_of(const struct kar_sync *s)
{
	return s->state->memory;
}

/* ---- when to pass ---- */

static void on_change(void *arg, const struct kar_object *old KAR_UNUSED,
	const struct kar_object *new KAR_UNUSED)
{
	struct kar_controller *c = arg;

	kar_workqueue_add(c->queue, ALL);
}

/* Do both ask for the same? Counts of members, and admissions that we wrote, do not matter. */
static bool same_request(const struct kar_podgroup *a, const struct kar_podgroup *b)
{
	return kar_object_same(&a->o, &b->o) && a->generation == b->generation &&
		!a->deletion == !b->deletion && kar_streq(a->owner_uid, b->owner_uid) &&
		(a->status.phase == KAR_PG_PHASE_FINISHED) == (b->status.phase == KAR_PG_PHASE_FINISHED);
}

static void on_group(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_controller *c = arg;

	if (old && new &&kar_podgroup_same_content(kar_as_podgroup(old), kar_as_podgroup(new)))
		return; /* only labels or annotations changed, which no pass reads */
	kar_workqueue_add(c->queue,
		old && new &&same_request(kar_as_podgroup(old), kar_as_podgroup(new)) ? COUNTS : ALL);
}

/* A pass decides by only this of a job; its status changes all the time. */
static bool same_claim(const struct kar_queuejob *a, const struct kar_queuejob *b)
{
	return kar_object_same(&a->o, &b->o) && a->spec.suspend == b->spec.suspend &&
		!a->deletion == !b->deletion && queue_job_is_invalid(a) == queue_job_is_invalid(b) &&
		kar_queuejob_has_ended(&a->status) == kar_queuejob_has_ended(&b->status);
}

static void on_job(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_controller *c = arg;

	if (!old || !new || !same_claim(kar_as_queuejob(old), kar_as_queuejob(new)))
		on_change(arg, old, new);
	else if (!kar_streq(queue_job_state(kar_as_queuejob(old)), queue_job_state(kar_as_queuejob(new))))
		kar_workqueue_add(c->queue, COUNTS); /* messages of others name it */
}

static void start(struct kar_controller *c)
{
	kar_store_listen(c->stores->podgroups, on_group, c);
	kar_store_listen(c->stores->queues, on_change, c);
	kar_store_listen(c->stores->priorityclasses, on_change, c);
	kar_store_listen(c->stores->queuejobs, on_job, c);
	kar_workqueue_add(c->queue, ALL); /* an empty cluster has no changes, but needs its default queue */
}

/* ---- write ---- */

/* The body of a patch of @o's status: what @mask chooses of @status. Appended to @out. */
static void write_patch(struct kar_buf *out, const struct kar_object *o, const struct kar_desc *table,
	const void *status, unsigned mask)
{
	struct kar_json_writer w;

	kar_json_writer_init(&w, out);
	kar_jw_begin_object(&w);
	kar_write_preconditions(&w, o);
	kar_jw_key(&w, "status");
	kar_jw_begin_object(&w);
	kar_status_write(&w, table, status, mask);
	kar_jw_end_object(&w);
	kar_jw_end_object(&w);
	kar_json_writer_release(&w);
}

/* The patch of @o's status whose body is in @out, which is released. */
static struct kar_action *add_patch(struct queue_pass *p, const struct kar_object *o, int what,
	const char *note, struct kar_buf *out)
{
	struct kar_arena *arena = &p->s->arena;
	struct body *body = kar_arena_alloc(arena, 1, sizeof(*body));
	struct kar_action *a;

	body->json = (struct kar_str){ kar_arena_strndup(arena, out->p, out->n), out->n };
	body->rv = o->rv;
	a = kar_plan_add(&p->s->plan, KAR_PATCH, o->type, kar_copy(arena, o->ns), kar_copy(arena, o->name));
	a->subresource = "status";
	a->patch_type = KAR_PATCH_MERGE;
	a->uid = kar_copy(arena, o->uid);
	a->what = what;
	a->payload = body;
	a->note = note;
	kar_buf_release(out);
	return a;
}

/* An admission by another queue ends with the one that begins now, so lastTransitionTime must move. */
static void end_admission(const struct kar_podgroup *g, struct kar_conditions *conditions)
{
	for (size_t i = 0; i < conditions->n; i++) {
		if (kar_streq(conditions->items[i].type, KAR_PG_ADMITTED) &&
			!kar_podgroup_admitted_by(g, kar_podgroup_queue(g)))
			conditions->items[i].status = KAR_COND_FALSE;
	}
}

static void set_admitted(struct queue_pass *p, const struct queue_group *qg, const struct queue_decision *d,
	struct kar_podgroup_status *st)
{
	const struct kar_condition admitted = {
		.type = KAR_PG_ADMITTED,
		.status = d->reason == QUEUE_ADMITTED ? KAR_COND_TRUE : KAR_COND_FALSE,
		.observed_generation = qg->group->generation,
		.reason = queue_reason_name(d->reason),
		.message = d->message,
	};

	st->conditions = kar_conditions_copy(&st->conditions, &p->s->arena);
	if (d->reason == QUEUE_ADMITTED)
		end_admission(qg->group, &st->conditions);
	kar_condition_set(&st->conditions, &admitted, p->s->now, &p->s->arena);
}

/* The status of the group as it is after @d. */
static struct kar_podgroup_status next_status(struct queue_pass *p, const struct queue_group *qg,
	const struct queue_decision *d)
{
	struct kar_podgroup_status st = qg->group->status;
	bool admitted = d->reason == QUEUE_ADMITTED;

	st.position = d->position;
	st.has_position = true;
	st.admitted_queue = admitted ? kar_podgroup_queue(qg->group) : "";
	if (admitted)
		st.waiting_since = 0;
	else if (qg->admitted && qg->yields)
		st.waiting_since = p->s->now - p->s->now % KAR_SECOND;
	set_admitted(p, qg, d, &st);
	return st;
}

static struct kar_action *patch_group(struct queue_pass *p, const struct queue_group *qg,
	const struct queue_decision *d)
{
	const struct kar_podgroup *g = qg->group;
	struct kar_podgroup_status st = next_status(p, qg, d);
	unsigned mask = KAR_PG_QUEUE;
	struct kar_buf out = { 0 };

	if (st.phase ==
		KAR_PG_PHASE_NONE) { /* the first write also sets phase and counts, which saves a second one */
		st.phase = KAR_PG_PHASE_PENDING;
		mask |= KAR_PG_MEMBERS;
	}
	write_patch(&out, &g->o, &kar_podgroup_status_table, &st, mask);
	return add_patch(p, &g->o, PATCH_GROUP,
		kar_arena_printf(&p->s->arena, "Admitted=%s/%s position=%d",
			d->reason == QUEUE_ADMITTED ? "True" : "False", queue_reason_name(d->reason),
			d->position),
		&out);
}

/*
 * Does @d say more than the recorded status of the group? The recorded reason is compared with the wanted one only to know
 * whether the status must be written; what is decided does not depend on it. An admission by another queue than before is new.
 */
static bool is_news(const struct kar_podgroup *g, const struct queue_decision *d)
{
	const struct kar_condition *c = kar_condition_find(&g->status.conditions, KAR_PG_ADMITTED);
	bool admitted = d->reason == QUEUE_ADMITTED;

	return !c || c->status != (admitted ? KAR_COND_TRUE : KAR_COND_FALSE) ||
		!kar_streq(c->reason, queue_reason_name(d->reason)) ||
		(admitted && !kar_podgroup_admitted_by(g, kar_podgroup_queue(g)));
}

/* The message of an admission stays as it was written, even if it is of an earlier day. */
static bool position_moved(const struct kar_podgroup *g, const struct queue_decision *d)
{
	const struct kar_condition *c = kar_condition_find(&g->status.conditions, KAR_PG_ADMITTED);

	return d->position != g->status.position ||
		(d->reason != QUEUE_ADMITTED && c && !kar_streq(c->message, d->message));
}

/* A new reason is written at once; new positions of many groups are written together, a while later. */
static void write_group(struct queue_pass *p, const struct queue_group *qg, const struct queue_decision *d)
{
	bool news = is_news(qg->group, d), moved = !news && position_moved(qg->group, d);

	/* Nothing more is written about a group that is finished or goes away. */
	if (qg->claim == QUEUE_CLAIM_FINISHED || qg->claim == QUEUE_CLAIM_NONE || qg->group->o.unreadable)
		return;
	if (news && !p->for_positions)
		patch_group(p, qg, d);
	else if (moved && p->for_positions)
		patch_group(p, qg, d)->rank.tier = KAR_TIER_BACKGROUND;
	p->moved |= moved;
}

static void write_groups(struct queue_pass *p)
{
	const struct queue_snapshot *s = &p->snapshot;

	for (size_t i = 0; i < s->n_groups; i++) {
		if (p->decisions[i].reason == QUEUE_ADMITTED)
			write_group(p, &s->groups[i], &p->decisions[i]);
	}
	for (size_t i = 0; i < s->n_groups; i++) {
		if (p->decisions[i].reason != QUEUE_ADMITTED)
			write_group(p, &s->groups[i], &p->decisions[i]);
	}
}

static void patch_queue(struct queue_pass *p, const struct kar_queue *q, const struct kar_queue_status *st)
{
	const struct kar_desc *table = &kar_queue_status_table;
	struct kar_buf out = { 0 };

	write_patch(&out, &q->o, table, st, KAR_SF_ALL);
	add_patch(p, &q->o, PATCH_QUEUE, kar_status_print(table, &q->status, st, &p->s->arena), &out);
}

static void write_queue(struct queue_pass *p, const struct kar_queue *q, const struct kar_queue_status *st)
{
	const struct kar_desc *table = &kar_queue_status_table;

	if (!kar_status_equal(table, st, &q->status, KAR_SF_STORY)) {
		patch_queue(p, q, st);
	} else if (!kar_status_equal(table, st, &q->status, KAR_SF_COUNTER)) {
		if (p->counts_in > 0) {
			kar_plan_requeue(&p->s->plan, p->counts_in);
			return;
		}
		patch_queue(p, q, st);
		p->counts_written = true;
	}
}

static void write_queues(struct queue_pass *p)
{
	const struct queue_snapshot *s = &p->snapshot;
	struct kar_queue_status *statuses = kar_arena_alloc(&p->s->arena, s->n_queues, sizeof(*statuses));

	queue_statuses(s, p->decisions, p->s->now, &p->s->arena, statuses);
	for (size_t i = 0; i < s->n_queues; i++) {
		if (!s->queues[i]->o.unreadable)
			write_queue(p, s->queues[i], &statuses[i]);
	}
}

static void ensure_default_queue(struct queue_pass *p)
{
	if (!kar_store_get(p->stores->queues, NULL, KAR_DEFAULT_QUEUE))
		kar_plan_add(&p->s->plan, KAR_CREATE, &kar_queue_type, NULL, KAR_DEFAULT_QUEUE)->what =
			CREATE_DEFAULT_QUEUE;
}

/* ---- the pass ---- */

/* ms until @interval has gone by since @last (0: never); <= 0: it has. */
static kar_time due_in(kar_time last, kar_time interval, kar_time mono)
{
	return last ? last + interval - mono : 0;
}

static bool caught_up(const struct kar_controller *c, const char *key)
{
	bool groups = kar_barrier_passed(c->barrier, key, c->stores->podgroups);
	bool queues = kar_barrier_passed(c->barrier, key, c->stores->queues);

	return groups && queues;
}

static void decide(struct queue_pass *p)
{
	queue_observe(p);
	p->decisions = kar_arena_alloc(&p->s->arena, p->snapshot.n_groups, sizeof(*p->decisions));
	queue_plan(&p->snapshot, &p->s->arena, p->decisions);
}

static void pass(struct queue_pass *p)
{
	decide(p);
	kar_plan_requeue(&p->s->plan, p->yields_in);
	if (!p->queues_are_read_only)
		ensure_default_queue(p);
	write_groups(p);
	if (!p->queues_are_read_only)
		write_queues(p);
}

static bool sync_positions(struct kar_controller *c, struct kar_sync *s)
{
	kar_time wait = due_in(memory_of(s)->last_pass, POSITION_INTERVAL, s->mono);
	struct queue_pass p = { .stores = c->stores, .s = s, .for_positions = true };

	if (wait <= 0 && !caught_up(c, POSITIONS))
		wait = CACHE_WAIT;
	if (wait > 0) {
		kar_plan_requeue(&s->plan, wait);
		return false;
	}
	memory_of(s)->last_pass = s->mono;
	decide(&p);
	write_groups(&p);
	return true;
}

static bool ask_for_pass(struct kar_controller *c, struct kar_sync *s)
{
	kar_time wait = due_in(memory_of(s)->last_pass, COUNTS_INTERVAL, s->mono);

	if (wait > 0) {
		kar_plan_requeue(&s->plan, wait);
		return false;
	}
	memory_of(s)->last_pass = s->mono;
	kar_workqueue_add(c->queue, ALL);
	return true;
}

static bool sync_all(struct kar_controller *c, struct kar_sync *s)
{
	struct kar_key_state *state = s->state;
	kar_time interval = PASS_INTERVAL + (kar_time)kar_store_count(c->stores->podgroups) / PASS_GROUPS;
	kar_time wait = due_in(memory_of(s)->last_pass, interval, s->mono);

	if (wait > 0) {
		kar_plan_requeue(&s->plan, wait);
		return false;
	}
	if (!caught_up(c, ALL)) {
		kar_plan_requeue(&s->plan, CACHE_WAIT);
		return false;
	}

	struct queue_pass p = {
		.stores = c->stores,
		.s = s,
		.counts_in = due_in(state->status_written, COUNTS_INTERVAL, s->mono),
		.queues_are_read_only = c->settings->one_namespace,
	};

	memory_of(s)->last_pass = s->mono;
	pass(&p);
	if (p.moved)
		kar_workqueue_add(c->queue, POSITIONS);
	if (p.counts_written)
		state->status_written = s->mono;
	return true;
}

static bool sync(struct kar_controller *c, struct kar_sync *s)
{
	if (kar_streq(s->key, COUNTS))
		return ask_for_pass(c, s);
	return kar_streq(s->key, POSITIONS) ? sync_positions(c, s) : sync_all(c, s);
}

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
	kar_jw_end_object(&w);
	kar_jw_key(&w, "spec");
	kar_jw_begin_object(&w);
	kar_jw_end_object(&w);
	kar_jw_end_object(&w);
	kar_json_writer_release(&w);
}

static int encode(const struct kar_sync *s KAR_UNUSED, const struct kar_action *a, struct kar_buf *out,
	struct kar_err *err KAR_UNUSED)
{
	const struct body *body = a->payload;

	if (a->what == CREATE_DEFAULT_QUEUE)
		write_default_queue(out);
	else
		kar_buf_append(out, body->json.p, body->json.n);
	return 0;
}

/* A patch of an object that has changed meanwhile would only meet a Conflict. */
static bool still_wanted(const struct kar_sync *s, const struct kar_action *a)
{
	const struct kar_stores *stores = s->controller->stores;
	const struct kar_store *store = a->type == &kar_podgroup_type ? stores->podgroups : stores->queues;
	const struct body *body = a->payload;
	const struct kar_object *o;

	if (a->what == CREATE_DEFAULT_QUEUE)
		return true;
	o = kar_store_get(store, a->ns, a->name);
	return o && kar_streq(o->uid, a->uid) && o->rv == body->rv;
}

void kar_queue_controller(struct kar_controller *c)
{
	c->name = "queue";
	c->memory_size = sizeof(struct memory);
	c->start = start;
	c->sync = sync;
	c->encode = encode;
	c->still_wanted = still_wanted;
}
