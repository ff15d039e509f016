/*
 * The shell of the Queue reconciler. One key for the pass over all queues and all groups: admission compares them
 * with each other. Every write is an action, its body encoded while the objects are at hand.
 */
#include <stdlib.h>

#include "api/keep.h"
#include "api/names.h"
#include "common/json.h"
#include "controllers/controller.h"
#include "controllers/queue/queue.h"

#define ALL "all"
/* Its sync does nothing but ask for a pass, once in a while: for changes that can only move counts of queues. */
#define COUNTS "counts"

enum {
	PASS_INTERVAL = 50,       /* ms between two passes, at least, */
	PASS_GROUPS = 50,         /* and one more for so many groups: passes take a few % of a core at most */
	COUNTS_INTERVAL = 1000,   /* ms between two rounds of writes that only move counts of queues */
	POSITION_INTERVAL = 5000, /* ms between two rounds of writes that only move positions of groups */
	CACHE_WAIT = 50,          /* ms between two looks whether the caches have our own writes */
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
	kar_rv rv; /* of the object it was made from; 0: cannot say */
};

struct pass {
	const struct kar_stores *stores;
	struct kar_sync *s;
	struct queue_snapshot snapshot;
	struct queue_decision *decisions;
	int32_t default_priority; /* of the global default PriorityClass */
	/* Is it time for a round of writes that only move numbers? How long until then? */
	kar_time positions_in, counts_in;
	bool positions_told, counts_told;
};

/* ---- when to pass ---- */

static void on_change(void *arg, const struct kar_object *old KAR_UNUSED,
	const struct kar_object *new KAR_UNUSED)
{
	struct kar_controller *c = arg;

	kar_workqueue_add(c->queue, ALL);
}

/* Do both ask for the same? What the status says of members, or of an admission we wrote, asks for nothing new. */
static bool same_request(const struct kar_podgroup *a, const struct kar_podgroup *b)
{
	return kar_same(a->o.uid, b->o.uid) && a->generation == b->generation &&
		!a->deletion == !b->deletion && kar_same(a->owner_uid, b->owner_uid) &&
		kar_same(a->status.phase, "Finished") == kar_same(b->status.phase, "Finished");
}

static void on_group(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct kar_controller *c = arg;

	kar_workqueue_add(c->queue,
		old && new &&same_request(kar_as_podgroup(old), kar_as_podgroup(new)) ? COUNTS : ALL);
}

/*
 * Its pods are impossible, and there is none: the place in the queue is for those who can use it. Pods that exist
 * (of another task perhaps, or from before an edit) keep theirs.
 */
static bool is_invalid(const struct kar_queuejob *job)
{
	return kar_condition_is_true(&job->status.conditions, KAR_QJ_INVALID) && !job->status.replicas;
}

/* Of the jobs only this matters; their statuses change all the time. */
static bool same_claim(const struct kar_queuejob *a, const struct kar_queuejob *b)
{
	return a->spec.suspend == b->spec.suspend && !a->deletion == !b->deletion &&
		is_invalid(a) == is_invalid(b) &&
		kar_queuejob_has_ended(&a->status) == kar_queuejob_has_ended(&b->status);
}

static void on_job(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	if (!old || !new || !same_claim(kar_as_queuejob(old), kar_as_queuejob(new)))
		on_change(arg, old, new);
}

static void start(struct kar_controller *c)
{
	kar_store_listen(c->stores->podgroups, on_group, c);
	kar_store_listen(c->stores->queues, on_change, c);
	kar_store_listen(c->stores->priorityclasses, on_change, c);
	kar_store_listen(c->stores->queuejobs, on_job, c);
	kar_workqueue_add(c->queue,
		ALL); /* an empty cluster tells of no change, but needs its default queue */
}

/* ---- observe ---- */

/*
 * Of a QueueJob's group the job says when its work is over: with a quorum below the
 * sum of its replicas it goes on when the group is Finished. A group of an unknown kind of owner speaks for itself.
 */
static enum queue_claim claim_of(const struct kar_stores *stores, const struct kar_podgroup *g)
{
	const struct kar_queuejob *job;
	const struct kar_object *o;

	if (g->deletion)
		return QUEUE_CLAIM_NONE;
	if (!g->owner_uid || !g->owner_is_queuejob)
		return kar_same(g->status.phase, "Finished") ? QUEUE_CLAIM_FINISHED : QUEUE_CLAIM_ALIVE;
	o = g->owner_name ? kar_store_get(stores->queuejobs, g->o.ns, g->owner_name) : NULL;
	if (!o || !kar_same(o->uid, g->owner_uid) || kar_as_queuejob(o)->deletion)
		return QUEUE_CLAIM_NONE;
	job = kar_as_queuejob(o);
	if (kar_queuejob_has_ended(&job->status))
		return QUEUE_CLAIM_FINISHED;
	if (job->spec.suspend)
		return QUEUE_CLAIM_SUSPENDED;
	return is_invalid(job) ? QUEUE_CLAIM_INVALID : QUEUE_CLAIM_ALIVE;
}

static int32_t priority_of(const struct pass *p, const struct kar_podgroup_spec *spec)
{
	const struct kar_priorityclass *class;

	if (spec->has_priority)
		return spec->priority;
	class = kar_stores_priorityclass(p->stores, spec->priority_class_name);
	return class ? class->value : p->default_priority;
}

static void observe_groups(struct pass *p)
{
	const struct kar_store *store = p->stores->podgroups;
	struct queue_group *groups = kar_arena_alloc(&p->s->arena, kar_store_count(store), sizeof(*groups));
	const struct kar_object *o;
	size_t n = kar_store_count(store), live = 0, finished = n;

	/* Finished ones are only counted. They stand at the end, in no order: there may be ten for each that lives. */
	for (struct kar_iter it = kar_store_all(store); kar_iter_next(&it, &o);) {
		const struct kar_podgroup *g = kar_as_podgroup(o);
		enum queue_claim claim = claim_of(p->stores, g);

		if (claim == QUEUE_CLAIM_FINISHED) {
			finished--;
			groups[finished] = (struct queue_group){ .group = g, .claim = claim };
			continue;
		}
		groups[live++] = (struct queue_group){
			.group = g,
			.priority = priority_of(p, &g->spec),
			.admitted = kar_condition_is_true(&g->status.conditions, KAR_PG_ADMITTED),
			.claim = claim,
		};
	}
	/* Writes go out in this order: when requests are scarce, the first in line is admitted first. */
	qsort(groups, live, sizeof(*groups), queue_group_compare);
	p->snapshot.groups = groups;
	p->snapshot.n_groups = n;
}

static void observe_queues(struct pass *p)
{
	const struct kar_store *store = p->stores->queues;
	const struct kar_object *o;

	p->snapshot.queues =
		kar_arena_alloc(&p->s->arena, kar_store_count(store), sizeof(struct kar_queue *));
	for (struct kar_iter it = kar_store_all(store); kar_iter_next(&it, &o);)
		p->snapshot.queues[p->snapshot.n_queues++] = kar_as_queue(o);
}

/* ---- write ---- */

static void begin_patch(struct kar_json_writer *w, struct kar_buf *out, const struct kar_object *o)
{
	kar_json_writer_init(w, out);
	kar_jw_begin_object(w);
	kar_write_preconditions(w, o);
	kar_jw_key(w, "status");
	kar_jw_begin_object(w);
}

static void end_patch(struct kar_json_writer *w)
{
	kar_jw_end_object(w);
	kar_jw_end_object(w);
	kar_json_writer_release(w);
}

/* The patch of @o's status whose body is in @out, which is released. */
static void add_patch(struct pass *p, const struct kar_object *o, int what, const char *note,
	struct kar_buf *out)
{
	struct kar_arena *arena = &p->s->arena;
	struct body *body = kar_arena_alloc(arena, 1, sizeof(*body));
	struct kar_action *a;

	body->json = (struct kar_str){ kar_arena_strndup(arena, out->p, out->n), out->n };
	body->rv = o->rv;
	a = kar_plan_add(&p->s->plan, KAR_PATCH, o->type, kar_keep(arena, o->ns), kar_keep(arena, o->name));
	a->subresource = "status";
	a->patch_type = KAR_PATCH_MERGE;
	a->uid = kar_keep(arena, o->uid);
	a->what = what;
	a->payload = body;
	a->note = note;
	kar_buf_release(out);
}

/* The first status of a group, so that it does not take a second write to say what is obvious. */
static void write_pending(struct kar_json_writer *w)
{
	static const char *const counters[] = { "members", "scheduled", "running", "succeeded", "failed" };

	kar_jw_kv_string(w, "phase", "Pending");
	for (size_t i = 0; i < KAR_LEN(counters); i++)
		kar_jw_kv_int(w, counters[i], 0);
}

static void patch_group(struct pass *p, const struct kar_podgroup *g, const struct queue_decision *d)
{
	struct kar_arena *arena = &p->s->arena;
	struct kar_conditions conditions = kar_conditions_copy(&g->status.conditions, arena);
	const struct kar_condition admitted = {
		.type = KAR_PG_ADMITTED,
		.status = d->reason == QUEUE_ADMITTED ? KAR_COND_TRUE : KAR_COND_FALSE,
		.observed_generation = g->generation,
		.reason = queue_reason_name(d->reason),
		.message = d->message,
	};
	struct kar_json_writer w;
	struct kar_buf out = { 0 };

	kar_condition_set(&conditions, &admitted, p->s->now - p->s->now % KAR_SECOND, arena);
	begin_patch(&w, &out, &g->o);
	if (!g->status.phase)
		write_pending(&w);
	kar_jw_kv_int(&w, "position", d->position);
	kar_jw_key(&w, "conditions");
	kar_conditions_write(&w, &conditions);
	end_patch(&w);
	add_patch(p, &g->o, PATCH_GROUP,
		kar_arena_printf(arena, "Admitted=%s/%s position=%d",
			kar_condition_status_name(admitted.status), admitted.reason, d->position),
		&out);
}

/* A new reason is told at once; new positions of many are told together, a while later. */
static void tell_group(struct pass *p, const struct queue_group *qg, const struct queue_decision *d)
{
	const struct kar_podgroup *g = qg->group;
	const struct kar_condition *c = kar_condition_find(&g->status.conditions, KAR_PG_ADMITTED);
	enum kar_condition_status status = d->reason == QUEUE_ADMITTED ? KAR_COND_TRUE : KAR_COND_FALSE;
	bool new_reason = !c || c->status != status || !kar_same(c->reason, queue_reason_name(d->reason));
	/* What was admitted stays as it was written: its message may be of an earlier day. */
	bool new_position =
		d->position != g->status.position || (d->position && c && !kar_same(c->message, d->message));

	/* The last word about a group that is finished or goes away has been said. */
	if (qg->claim == QUEUE_CLAIM_FINISHED || qg->claim == QUEUE_CLAIM_NONE)
		return;
	if (new_reason) {
		patch_group(p, g, d);
	} else if (new_position && p->positions_in > 0) {
		kar_plan_requeue(&p->s->plan, p->positions_in);
	} else if (new_position) {
		patch_group(p, g, d);
		p->positions_told = true;
	}
}

static void tell_groups(struct pass *p)
{
	const struct queue_snapshot *s = &p->snapshot;

	for (size_t i = 0; i < s->n_groups; i++) {
		if (p->decisions[i].reason == QUEUE_ADMITTED)
			tell_group(p, &s->groups[i], &p->decisions[i]);
	}
	for (size_t i = 0; i < s->n_groups; i++) {
		if (p->decisions[i].reason != QUEUE_ADMITTED)
			tell_group(p, &s->groups[i], &p->decisions[i]);
	}
}

static void patch_queue(struct pass *p, const struct kar_queue *q, const struct kar_queue_status *st)
{
	struct kar_json_writer w;
	struct kar_buf out = { 0 };

	begin_patch(&w, &out, &q->o);
	kar_jw_kv_string(&w, "state", st->state);
	kar_jw_kv_int(&w, "pending", st->pending);
	kar_jw_kv_int(&w, "inqueue", st->inqueue);
	kar_jw_kv_int(&w, "running", st->running);
	kar_jw_kv_int(&w, "completed", st->completed);
	kar_jw_kv_int(&w, "unknown", st->unknown);
	kar_jw_key(&w, "conditions");
	kar_conditions_write(&w, &st->conditions);
	end_patch(&w);
	add_patch(p, &q->o, PATCH_QUEUE,
		kar_arena_printf(&p->s->arena, "%s pending=%d inqueue=%d running=%d completed=%d unknown=%d",
			st->state, st->pending, st->inqueue, st->running, st->completed, st->unknown),
		&out);
}

static void tell_queue(struct pass *p, const struct kar_queue *q, const struct kar_queue_status *st)
{
	const struct kar_queue_status *old = &q->status;
	bool new_state =
		!kar_same(st->state, old->state) || !kar_conditions_equal(&st->conditions, &old->conditions);
	bool new_counts = st->pending != old->pending || st->inqueue != old->inqueue ||
		st->running != old->running || st->completed != old->completed || st->unknown != old->unknown;

	if (new_state) {
		patch_queue(p, q, st);
	} else if (new_counts && p->counts_in > 0) {
		kar_plan_requeue(&p->s->plan, p->counts_in);
	} else if (new_counts) {
		patch_queue(p, q, st);
		p->counts_told = true;
	}
}

static void tell_queues(struct pass *p)
{
	const struct queue_snapshot *s = &p->snapshot;
	struct kar_queue_status *statuses = kar_arena_alloc(&p->s->arena, s->n_queues, sizeof(*statuses));

	queue_statuses(s, p->decisions, p->s->now, &p->s->arena, statuses);
	for (size_t i = 0; i < s->n_queues; i++)
		tell_queue(p, s->queues[i], &statuses[i]);
}

static void ensure_default_queue(struct pass *p)
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

static bool caught_up(const struct kar_controller *c)
{
	bool groups = kar_barrier_passed(c->barrier, ALL, c->stores->podgroups);
	bool queues = kar_barrier_passed(c->barrier, ALL, c->stores->queues);

	return groups && queues;
}

static void pass(struct pass *p)
{
	p->default_priority = kar_stores_default_priority(p->stores);
	observe_queues(p);
	observe_groups(p);
	p->decisions = kar_arena_alloc(&p->s->arena, p->snapshot.n_groups, sizeof(*p->decisions));
	queue_plan(&p->snapshot, &p->s->arena, p->decisions);
	ensure_default_queue(p);
	tell_groups(p);
	tell_queues(p);
}

static bool ask_for_pass(struct kar_controller *c, struct kar_sync *s)
{
	kar_time wait = due_in(s->state->last_pass, COUNTS_INTERVAL, s->mono);

	if (wait > 0) {
		kar_plan_requeue(&s->plan, wait);
		return false;
	}
	s->state->last_pass = s->mono;
	kar_workqueue_add(c->queue, ALL);
	return true;
}

static bool sync_all(struct kar_controller *c, struct kar_sync *s)
{
	struct kar_key_state *state = s->state;
	kar_time interval = PASS_INTERVAL + (kar_time)kar_store_count(c->stores->podgroups) / PASS_GROUPS;
	kar_time wait = due_in(state->last_pass, interval, s->mono);

	if (wait > 0) {
		kar_plan_requeue(&s->plan, wait);
		return false;
	}
	if (!caught_up(c)) {
		kar_plan_requeue(&s->plan, CACHE_WAIT);
		return false;
	}

	struct pass p = {
		.stores = c->stores,
		.s = s,
		.positions_in = due_in(state->last_positions, POSITION_INTERVAL, s->mono),
		.counts_in = due_in(state->status_written, COUNTS_INTERVAL, s->mono),
	};

	state->last_pass = s->mono;
	pass(&p);
	if (p.positions_told)
		state->last_positions = s->mono;
	if (p.counts_told)
		state->status_written = s->mono;
	return true;
}

static bool sync(struct kar_controller *c, struct kar_sync *s)
{
	return kar_same(s->key, COUNTS) ? ask_for_pass(c, s) : sync_all(c, s);
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

/* A patch of an object that has changed meanwhile would only be answered with a Conflict. */
static bool still_wanted(const struct kar_sync *s, const struct kar_action *a)
{
	const struct kar_stores *stores = s->controller->stores;
	const struct kar_store *store = a->type == &kar_podgroup_type ? stores->podgroups : stores->queues;
	const struct body *body = a->payload;
	const struct kar_object *o;

	if (a->what == CREATE_DEFAULT_QUEUE)
		return true;
	o = kar_store_get(store, a->ns, a->name);
	return o && kar_same(o->uid, a->uid) && o->rv == body->rv;
}

void kar_queue_controller(struct kar_controller *c)
{
	c->name = "queue";
	c->start = start;
	c->sync = sync;
	c->encode = encode;
	c->still_wanted = still_wanted;
}
