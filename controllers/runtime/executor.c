#include "controllers/runtime/executor.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "controllers/runtime/executor_wire.h"
#include "controllers/runtime/write_rate.h"
#include "controllers/runtime/create_backoff.h"
#include "controllers/runtime/extras_limit.h"
#include "controllers/runtime/slow_start.h"
#include "controllers/runtime/turns.h"

enum {
	DEFAULT_MAX_IN_FLIGHT = 64,
	DEFAULT_STATUS_INTERVAL = 1000, /* ms */
	TURN = 64,                      /* control writes of one plan before other plans of its namespace */
	SHARE = 16, /* writes of a plan for all namespaces that are sent even if it is outdated, beside firm ones */
	YOUNG = 250,               /* ms for which all firm ones are */
	DEFAULT_COUNTER_RATE = 10, /* per second */
	HTTP_TOO_MANY_REQUESTS = 429,
	HTTP_SERVER_ERROR = 500,
};

/* One plan that is being carried out. It waits for its turn exactly while it has a write that may be sent now. */
struct run {
	struct kar_turn turn; /* .number is renewed after every TURN, for fairness among control writes */
	struct kar_executor *x;
	struct kar_sync *s;
	struct kar_rank control;      /* of all its control writes */
	bool status_due, status_sent; /* the status write has not been answered yet; it was sent */
	size_t next;                  /* first action not sent */
	size_t firm;                  /* of those sent */
	int in_flight;
	size_t creates; /* sent */
	size_t ranked;  /* of these, the creates that are no control writes */
	int creates_in_flight;
	int window;   /* creates that may be in flight: slow start */
	bool refused; /* a create was */
	bool stopped; /* nothing more is sent */
	struct kar_outcome outcome;
};

struct kar_executor {
	struct kar_loop *loop;
	struct kar_client *client;
	struct kar_recorder *recorder;
	int max_in_flight;
	struct kar_write_rate write_rate;
	kar_applied_fn *applied;
	void *arg;
	struct kar_turns *turns;
	uint64_t arrivals;
	int in_flight;
	struct kar_extras_limit extras;
	struct kar_timer *extra_due; /* another extra may be sent */
	size_t waiting;              /* writes of all runs not sent yet */
	bool draining;
};

/* One request in flight. */
struct item {
	struct run *run;
	const struct kar_action *action; /* NULL: the status write */
	bool is_lookup; /* the read of an object that already existed, to see who controls it */
};

static void pump(struct kar_executor *x);
static void send_lookup(struct item *it);

static const struct kar_rank *next_rank(const struct run *r)
{
	const struct kar_rank *rank = r->status_due ? &r->control : &r->s->plan.actions[r->next].rank;

	return rank->tier == KAR_TIER_CONTROL ? &r->control : rank;
}

static bool can_send(const struct run *r)
{
	const struct kar_plan *p = &r->s->plan;

	if (r->stopped)
		return false;
	if (r->status_due)
		return !r->status_sent;
	if (r->next >= p->n_actions)
		return false;
	return !kar_action_creates(&p->actions[r->next]) || r->creates_in_flight < r->window;
}

static size_t unsent(const struct run *r)
{
	return r->stopped ? 0 : r->s->plan.n_actions - r->next + (r->status_due && !r->status_sent);
}

/* Must be called, after delist(), whenever the input of can_send() or next_rank() has changed. */
static void enlist(struct run *r)
{
	if (can_send(r))
		kar_turns_add(r->x->turns, &r->turn, next_rank(r));
}

static void delist(struct run *r)
{
	kar_turns_remove(r->x->turns, &r->turn);
}

/* Does the plan concern objects of all namespaces? Then its actions are independent of each other. */
static bool is_for_all(const struct run *r)
{
	return !strchr(r->s->key, '/');
}

static struct run *run_of(struct kar_turn *w)
{
	return w ? kar_container_of(w, struct run, turn) : NULL;
}

/* Ends the run when nothing is in flight and nothing will be sent. */
static void finish_if_done(struct run *r)
{
	struct kar_executor *x = r->x;

	if (r->in_flight || unsent(r))
		return;
	delist(r);
	if (r->outcome.what == KAR_OK && r->ranked)
		kar_slow_start_went_through(r->s, r->ranked);
	if (r->outcome.what == KAR_OK && r->creates && r->next == r->s->plan.n_actions)
		kar_create_backoff_all_created(r->s);
	x->applied(x->arg, r->s, &r->outcome);
	free(r);
}

static void stop(struct run *r)
{
	delist(r);
	r->x->waiting -= unsent(r);
	r->stopped = true;
}

/* Users see refusals; lost connections and conflicts are handled without them. */
static bool is_refusal(enum kar_class what)
{
	return what == KAR_DENIED || what == KAR_INVALID || what == KAR_EXISTS || what == KAR_NOTFOUND;
}

/*
 * Does this failure end the plan? A refused create does, because the next would be refused too. A failed status write does,
 * because actions must be recorded first. An unreachable server does. A refused patch or delete does not: the others may succeed.
 */
static bool ends_plan(const struct kar_action *a, enum kar_class what)
{
	return !a || kar_action_creates(a) || what == KAR_RETRY || what == KAR_UNKNOWN ||
		what == KAR_UNAUTHORIZED;
}

static void report_refused(struct run *r, const struct kar_action *a, const struct kar_err *err)
{
	if (r->s->controller->refused)
		r->s->controller->refused(r->s, a, err);
}

/* Creates that were in flight together with the first refused one belong to the same try. */
static void fail_create(struct run *r, const struct kar_action *a, const struct kar_err *err)
{
	kar_time mono = kar_loop_mono(r->x->loop);
	bool reported = r->refused;

	if (a->rank.tier != KAR_TIER_CONTROL)
		kar_slow_start_failed(r->s);
	if (!reported)
		report_refused(r, a, err);
	if (!is_refusal(err->what))
		return;
	r->refused = true;
	if (reported)
		kar_create_backoff_prolong(r->s, mono); /* the client may have tried for a long time */
	else
		kar_create_backoff_note(r->s, a, err, mono);
}

/* A 429 is a budget that allows no disruption; a 500 is more budgets than one of the same object, or a webhook that fails. */
static bool is_about_this_one(const struct kar_action *a, const struct kar_err *err)
{
	return a->may_refuse && (err->http == HTTP_TOO_MANY_REQUESTS || err->http == HTTP_SERVER_ERROR);
}

static void fail(struct run *r, const struct kar_action *a, const struct kar_err *err)
{
	if (a && (a->dry_run || is_about_this_one(a, err))) {
		report_refused(r, a, err);
		return;
	}
	if (r->outcome.what == KAR_OK) {
		r->outcome.what = err->what;
		r->outcome.err = *err;
		r->outcome.failed = a;
	}
	if (a && kar_action_creates(a))
		fail_create(r, a, err);
	else if (a && is_refusal(err->what))
		report_refused(r, a, err);
	if (ends_plan(a, err->what))
		stop(r);
}

static void record_event(struct run *r, const struct kar_object *o, const struct kar_plan_event *e)
{
	char api_version[KAR_EXECUTOR_API_VERSION];
	const struct kar_object_ref about = kar_executor_about(o, api_version);

	kar_recorder_event(r->x->recorder, &about, e->warning ? KAR_WARNING : KAR_NORMAL, e->reason,
		e->action, e->note);
}

static void record_event_of(struct run *r, const struct kar_action *a)
{
	const struct kar_object object = { .type = a->type,
		.ns = a->ns,
		.name = a->name,
		.uid = a->uid ? a->uid : "" };

	record_event(r, &object, a->event);
}

static void record_events(struct run *r)
{
	const struct kar_sync *s = r->s;

	for (size_t i = 0; i < s->plan.n_events && s->object; i++)
		record_event(r, s->plan.events[i].about ? s->plan.events[i].about : s->object,
			&s->plan.events[i]);
}

static void succeed(struct run *r, const struct kar_action *a, const struct kar_answer *answer)
{
	struct kar_sync *s = r->s;
	struct kar_controller *c = s->controller;
	const struct kar_type *type;

	assert(a || s->object); /* a status write has an object */
	type = a ? a->type : s->object->type;
	if (answer && (!a || (a->verb != KAR_GET && !a->dry_run)))
		kar_barrier_wrote(c->barrier, s->key, type, answer->rv);
	if (answer && c->wrote)
		c->wrote(s, a, answer);
	if (a && a->event)
		record_event_of(r, a);
	if (a)
		return;
	r->status_due = false;
	s->state->status_written = kar_loop_mono(r->x->loop);
	record_events(r);
}

static bool is_extra(const struct kar_action *a)
{
	return a && a->rank.tier == KAR_TIER_EXTRA;
}

/* Extras of a lower priority make room for what brings a job to its minimum. */
static void note_step(struct run *r, const struct kar_action *a)
{
	bool own = a && (is_for_all(r) || a->rank.tier != KAR_TIER_CONTROL);

	if (a && kar_is_step(a))
		kar_extras_limit_step(&r->x->extras, own ? a->rank.priority : r->control.priority,
			kar_loop_mono(r->x->loop));
}

/* The object is gone already, which makes a delete or a patch of it superfluous. */
static bool is_moot(const struct kar_action *a, const struct kar_err *err)
{
	return a && (a->verb == KAR_DELETE || a->verb == KAR_PATCH || a->subresource) &&
		err->what == KAR_NOTFOUND;
}

static void settle(struct item *it, const struct kar_answer *answer, const struct kar_err *err)
{
	struct run *r = it->run;
	struct kar_executor *x = r->x;
	bool create = it->action && kar_action_creates(it->action);

	delist(r);
	r->in_flight--;
	x->in_flight--;
	if (is_extra(it->action))
		kar_extras_limit_answered(&x->extras);
	note_step(r, it->action);
	r->creates_in_flight -= create;
	if (!err || is_moot(it->action, err)) {
		r->window += create;
		succeed(r, it->action, answer);
	} else {
		fail(r, it->action, err);
	}
	free(it);
	if (x->draining)
		stop(r);
	enlist(r);
	finish_if_done(r);
	pump(x);
}

/* AlreadyExists is a success if the object is our own: a reply was lost, or the manager has restarted. */
static void check_existing(struct item *it, const struct kar_answer *answer)
{
	struct kar_err err;
	bool own = kar_executor_check_own(it->run->s, it->action, answer->body, &err) == 0;

	settle(it, own ? answer : NULL, own ? NULL : &err);
}

/* The object in the way has vanished meanwhile, so this is no refusal. */
static void settle_vanished(struct item *it)
{
	struct kar_err err;

	kar_fail(&err, KAR_CONFLICT, "%s %s existed and is gone", it->action->type->res.kind,
		it->action->name);
	settle(it, NULL, &err);
}

static void on_done(void *arg, const struct kar_answer *answer, const struct kar_err *err)
{
	struct item *it = arg;

	if (it->is_lookup && answer)
		check_existing(it, answer);
	else if (it->is_lookup && err && err->what == KAR_NOTFOUND)
		settle_vanished(it);
	else if (!it->is_lookup && err && err->what == KAR_EXISTS && it->action &&
		kar_action_creates(it->action))
		send_lookup(it);
	else
		settle(it, answer, err);
}

static void start_request(struct item *it, struct kar_request *rq)
{
	const struct kar_action *a = it->is_lookup ? NULL : it->action;

	rq->metadata_only =
		!a || !(a->dry_run || a->whole_answer); /* only version, UID, owners and deletion are read */
	rq->on_done = on_done;
	rq->arg = it;
	(void)kar_client_start(it->run->x->client, rq);
}

static void send_lookup(struct item *it)
{
	const struct kar_action *a = it->action;
	struct kar_request rq = kar_client_get(&a->type->res, a->ns, a->name);

	it->is_lookup = true;
	start_request(it, &rq);
}

static struct item *new_item(struct run *r, const struct kar_action *a)
{
	struct item *it = kar_xcalloc(1, sizeof(*it));

	it->run = r;
	it->action = a;
	r->in_flight++;
	r->x->in_flight++;
	if (is_extra(a))
		kar_extras_limit_sent(&r->x->extras, kar_loop_mono(r->x->loop));
	note_step(r, a);
	return it;
}

static void send_status(struct run *r)
{
	struct kar_buf body = { 0 };
	struct kar_request rq = kar_executor_status_request(r->s, &body);

	r->status_sent = true;
	start_request(new_item(r, NULL), &rq);
	kar_buf_release(&body);
}

static void send_action(struct run *r)
{
	const struct kar_action *a = &r->s->plan.actions[r->next];
	struct kar_buf body = { 0 };
	struct kar_request rq;
	struct kar_err err = { 0 };

	r->next++;
	r->firm += a->firm;
	if (r->next % TURN == 0) /* the deletes of a large job must not delay all others */
		r->turn.number = r->x->arrivals++;
	if (kar_executor_action_request(r->s, a, &body, &rq, &err)) {
		fail(r, a, &err);
	} else {
		r->creates += kar_action_creates(a);
		r->ranked += kar_action_creates(a) && a->rank.tier != KAR_TIER_CONTROL;
		r->creates_in_flight += kar_action_creates(a);
		start_request(new_item(r, a), &rq);
	}
	kar_buf_release(&body);
}

static bool still_wanted(const struct run *r)
{
	const struct kar_controller *c = r->s->controller;

	return r->status_due || !c->still_wanted || c->still_wanted(r->s, &r->s->plan.actions[r->next]);
}

/* Drops an outdated action. An outdated create ends the plan; any other action concerns only its object. */
static void drop_next(struct run *r)
{
	r->outcome.requeue_after = 0;
	if (kar_action_creates(&r->s->plan.actions[r->next])) {
		stop(r);
		return;
	}
	r->next++;
	r->x->waiting--;
}

/*
 * A plan for all namespaces may be long. If the key was enqueued meanwhile, the plan ends after its share and the key is decided
 * again, so that an urgent change does not wait for the rest. What is firm still goes out while the plan is young.
 */
static bool is_overtaken(const struct run *r)
{
	bool young = kar_loop_mono(r->x->loop) - r->s->mono < YOUNG;
	bool firm = young && !r->status_due && r->s->plan.actions[r->next].firm;

	return is_for_all(r) && r->next - (young ? r->firm : 0) >= SHARE && !firm &&
		next_rank(r)->tier == KAR_TIER_CONTROL &&
		kar_workqueue_is_dirty(r->s->controller->queue, r->s->key);
}

/* Sends the next write of @r, which does not wait any more. */
static void send_next(struct run *r)
{
	if (is_overtaken(r)) {
		stop(r);
		return;
	}
	if (!still_wanted(r)) {
		drop_next(r);
		return;
	}
	r->x->waiting--;
	if (r->status_due)
		send_status(r);
	else
		send_action(r);
}

/* May the extra that is the next create be sent now? */
static bool extra_is_due(struct kar_executor *x)
{
	const struct kar_rank *rank = kar_turns_extra(x->turns);
	kar_time wait = rank ? kar_extras_limit_wait(&x->extras, rank->priority, kar_loop_mono(x->loop)) : 0;

	if (wait && wait != KAR_NEVER)
		kar_timer_start(x->extra_due, wait);
	return !wait;
}

static void send_all(struct kar_executor *x)
{
	while (!x->draining && x->in_flight < x->max_in_flight) {
		struct run *r = run_of(kar_turns_take(x->turns, extra_is_due(x)));

		if (!r)
			return;
		send_next(r);
		enlist(r);
		finish_if_done(r);
	}
}

static void pump(struct kar_executor *x)
{
	send_all(x);
	kar_recorder_busy(x->recorder, x->waiting > 0 && !x->draining);
}

static void on_extra_due(void *arg)
{
	pump(arg);
}

static struct kar_rank control_rank(const struct kar_plan *p)
{
	struct kar_rank rank = { .tier = KAR_TIER_CONTROL, .priority = p->priority };

	for (size_t i = 0; i < p->n_actions; i++) {
		const struct kar_rank *of = &p->actions[i].rank;

		if (of->tier == KAR_TIER_CONTROL && of->priority > rank.priority)
			rank.priority = of->priority;
	}
	return rank;
}

void kar_executor_start(struct kar_executor *x, struct kar_sync *s)
{
	struct run *r = kar_xcalloc(1, sizeof(*r));

	r->x = x;
	r->s = s;
	r->control = control_rank(&s->plan);
	r->turn.key = s->key;
	r->turn.number = x->arrivals++;
	r->window = kar_slow_start_first(s);
	r->outcome.requeue_after = s->plan.requeue_after;
	if (is_for_all(r))
		kar_plan_take_turns(&s->plan);
	if (s->plan.status) {
		kar_time wait = kar_write_rate_status(&x->write_rate, &s->plan, s->state->status_written,
			x->waiting > 0, s->mono);

		r->status_due = wait == 0;
		r->outcome.status_waits = wait != 0;
		if (wait && wait < r->outcome.requeue_after)
			r->outcome.requeue_after = wait;
	}
	if (s->plan.events_alone)
		record_events(r);
	if (x->draining)
		r->stopped = true;
	x->waiting += unsent(r);
	enlist(r);
	finish_if_done(r);
	pump(x);
}

struct kar_executor *kar_executor_new(struct kar_loop *l, struct kar_client *client,
	struct kar_recorder *recorder, const struct kar_executor_options *o, kar_applied_fn *applied,
	void *arg)
{
	struct kar_executor *x = kar_xcalloc(1, sizeof(*x));

	x->loop = l;
	x->client = client;
	x->recorder = recorder;
	x->max_in_flight = o->max_in_flight > 0 ? o->max_in_flight : DEFAULT_MAX_IN_FLIGHT;
	x->write_rate.interval = o->status_interval > 0 ? o->status_interval : DEFAULT_STATUS_INTERVAL;
	x->write_rate.rate = DEFAULT_COUNTER_RATE;
	x->applied = applied;
	x->arg = arg;
	x->turns = kar_turns_new();
	x->extra_due = kar_timer_new(l, on_extra_due, x);
	return x;
}

void kar_executor_drain(struct kar_executor *x)
{
	x->draining = true;
	for (struct run *r; (r = run_of(kar_turns_take(x->turns, true))) != NULL;) {
		stop(r);
		finish_if_done(r);
	}
}

void kar_executor_free(struct kar_executor *x)
{
	assert(!x || (!x->in_flight && !x->waiting));
	if (!x)
		return;
	kar_timer_free(x->extra_due);
	kar_turns_free(x->turns);
	free(x);
}

size_t kar_executor_in_flight(const struct kar_executor *x)
{
	return (size_t)x->in_flight;
}
