#include "controllers/apply.h"

#include <assert.h>
#include <stdlib.h>

#include <bsd/sys/tree.h>

#include "common/mem.h"
#include "controllers/apply_wire.h"
#include "controllers/pace.h"
#include "controllers/refusal.h"
#include "controllers/slow_start.h"

enum {
	DEFAULT_MAX_IN_FLIGHT = 200,
	DEFAULT_STATUS_INTERVAL = 1000, /* ms */
	TURN = 64,                      /* control writes of one plan after which the others have theirs */
	BUSY_WAIT = 10000,              /* ms that a status which is not urgent lets other writes go first */
	DEFAULT_COUNTER_RATE = 10,      /* per second */
};

/* One plan on its way. In the tree of runnable plans exactly while it has something it may send now. */
struct run {
	RB_ENTRY(run) link; /* kar_executor::runnable */
	bool linked;
	struct kar_executor *x;
	struct kar_sync *s;
	uint64_t number; /* order of arrival, anew after every turn: fairness among control writes */
	bool status_due; /* the status write has not been answered yet */
	bool status_sent;
	size_t next; /* first action not sent */
	int in_flight;
	size_t creates; /* sent */
	size_t pods;    /* of these, those that are ranked: the children of a key tell nothing of its pods */
	int creates_in_flight;
	int window;   /* creates that may be in flight: slow start */
	bool refused; /* a create was */
	bool stopped; /* nothing more is sent */
	struct kar_outcome outcome;
};

RB_HEAD(runnable, run);

struct kar_executor {
	struct kar_loop *loop;
	struct kar_client *client;
	struct kar_recorder *recorder;
	int max_in_flight;
	struct kar_pace pace;
	kar_applied_fn *applied;
	void *arg;
	struct runnable runnable;
	uint64_t arrivals;
	int in_flight;
	size_t waiting; /* writes of all runs not sent yet */
	bool draining;
};

/* One request in flight. */
struct item {
	struct run *run;
	const struct kar_action *action; /* NULL: the status write */
	bool looking; /* the create was answered AlreadyExists: this is the read that tells whose it is */
};

static void pump(struct kar_executor *x);
static void send_lookup(struct item *it);

static const struct kar_rank *next_rank(const struct run *r)
{
	static const struct kar_rank control = { .tier = KAR_TIER_CONTROL };

	return r->status_due ? &control : &r->s->plan.actions[r->next].rank;
}

static int compare_runs(const struct run *a, const struct run *b)
{
	int order = kar_rank_compare(next_rank(a), a->s->key, next_rank(b), b->s->key);

	return order ? order : (a->number > b->number) - (a->number < b->number);
}

RB_GENERATE_INTERNAL(runnable, run, link, compare_runs, KAR_UNUSED static)

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

/* Must be called with the run out of the tree whenever what can_send() or next_rank() look at changes. */
static void enlist(struct run *r)
{
	if (!r->linked && can_send(r)) {
		RB_INSERT(runnable, &r->x->runnable, r);
		r->linked = true;
	}
}

static void delist(struct run *r)
{
	if (r->linked)
		RB_REMOVE(runnable, &r->x->runnable, r);
	r->linked = false;
}

/* Gives the sync back once nothing is in flight and nothing will be sent. */
static void finish_if_done(struct run *r)
{
	struct kar_executor *x = r->x;

	if (r->in_flight || unsent(r))
		return;
	delist(r);
	if (r->outcome.what == KAR_OK && r->pods)
		kar_slow_start_went_through(r->s, r->pods);
	if (r->outcome.what == KAR_OK && r->creates && r->next == r->s->plan.n_actions)
		kar_refusal_all_created(r->s);
	x->applied(x->arg, r->s, &r->outcome);
	free(r);
}

static void stop(struct run *r)
{
	delist(r);
	r->x->waiting -= unsent(r);
	r->stopped = true;
}

/* A refusal is what the user should see; lost connections and conflicts are our own business. */
static bool is_refusal(enum kar_class what)
{
	return what == KAR_DENIED || what == KAR_INVALID || what == KAR_EXISTS || what == KAR_NOTFOUND;
}

/*
 * Does this failure end the plan? A refused create does (the next would be refused too), a failed status write does (what
 * is not recorded must not be acted upon), and so does a server that cannot be reached. A patch or delete that is
 * refused says nothing about the others.
 */
static bool ends_plan(const struct kar_action *a, enum kar_class what)
{
	return !a || kar_action_creates(a) || what == KAR_RETRY || what == KAR_UNKNOWN ||
		what == KAR_UNAUTHORIZED;
}

static void tell_refused(struct run *r, const struct kar_action *a, const struct kar_err *err)
{
	if (r->s->controller->refused)
		r->s->controller->refused(r->s, a, err);
}

/* All that were in flight with the first one that is refused are one try. */
static void fail_create(struct run *r, const struct kar_action *a, const struct kar_err *err)
{
	kar_time mono = kar_loop_mono(r->x->loop);
	bool told = r->refused;

	if (a->rank.tier != KAR_TIER_CONTROL) /* children tell nothing of the pods */
		kar_slow_start_failed(r->s);
	if (!told)
		tell_refused(r, a, err);
	if (!is_refusal(err->what))
		return;
	r->refused = true;
	if (told)
		kar_refusal_prolong(r->s, mono); /* the client may have tried it for long */
	else
		kar_refusal_note(r->s, a, err, mono);
}

static void fail(struct run *r, const struct kar_action *a, const struct kar_err *err)
{
	if (a && a->dry_run) {
		tell_refused(r, a, err);
		return;
	}
	if (r->outcome.what == KAR_OK) {
		r->outcome.what = err->what;
		r->outcome.err = *err;
		r->outcome.failed = a;
	}
	if (a && a->verb == KAR_CREATE)
		fail_create(r, a, err);
	else if (a && is_refusal(err->what))
		tell_refused(r, a, err);
	if (ends_plan(a, err->what))
		stop(r);
}

static void record_events(struct run *r)
{
	const struct kar_sync *s = r->s;
	const struct kar_object *o = s->object;
	char api_version[KAR_APPLY_API_VERSION];

	if (!o || !s->plan.n_events)
		return;
	const struct kar_object_ref about = kar_apply_about(o, api_version);

	for (size_t i = 0; i < s->plan.n_events; i++) {
		const struct kar_plan_event *e = &s->plan.events[i];

		kar_recorder_event(r->x->recorder, &about, e->warning ? KAR_WARNING : KAR_NORMAL, e->reason,
			e->action, e->note);
	}
}

static void succeed(struct run *r, const struct kar_action *a, const struct kar_answer *answer)
{
	struct kar_sync *s = r->s;
	struct kar_controller *c = s->controller;
	const struct kar_type *type;

	assert(a || s->object); /* without an action it was a status, and that belongs to an object */
	type = a ? a->type : s->object->type;
	if (answer && (!a || (a->verb != KAR_GET && !a->dry_run)))
		kar_barrier_wrote(c->barrier, s->key, type, answer->rv);
	if (answer && c->wrote)
		c->wrote(s, a, answer);
	if (a)
		return;
	r->status_due = false;
	s->state->status_written = kar_loop_mono(r->x->loop);
	record_events(r);
}

/* What counts as done although the server said no: somebody was faster. */
static bool is_moot(const struct kar_action *a, const struct kar_err *err)
{
	return a && (a->verb == KAR_DELETE || a->verb == KAR_PATCH) && err->what == KAR_NOTFOUND;
}

static void settle(struct item *it, const struct kar_answer *answer, const struct kar_err *err)
{
	struct run *r = it->run;
	struct kar_executor *x = r->x;
	bool create = it->action && kar_action_creates(it->action);

	delist(r);
	r->in_flight--;
	x->in_flight--;
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

/* AlreadyExists is a success of ours (a lost reply, a restart of the manager) if the object is our own. */
static void judge_existing(struct item *it, const struct kar_answer *answer)
{
	struct kar_err err;
	bool own = kar_apply_check_own(it->run->s, it->action, answer->body, &err) == 0;

	settle(it, own ? answer : NULL, own ? NULL : &err);
}

/* It existed a moment ago and is gone now: nobody refused anything. */
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

	if (it->looking && answer)
		judge_existing(it, answer);
	else if (it->looking && err && err->what == KAR_NOTFOUND)
		settle_vanished(it);
	else if (!it->looking && err && err->what == KAR_EXISTS && it->action &&
		kar_action_creates(it->action))
		send_lookup(it);
	else
		settle(it, answer, err);
}

static void start_request(struct item *it, struct kar_request *rq)
{
	rq->metadata_only = true; /* version, UID, owners and deletion are all that is looked at */
	rq->on_done = on_done;
	rq->arg = it;
	(void)kar_client_start(it->run->x->client, rq);
}

static void send_lookup(struct item *it)
{
	const struct kar_action *a = it->action;
	struct kar_request rq = kar_client_get(&a->type->res, a->ns, a->name);

	it->looking = true;
	start_request(it, &rq);
}

static struct item *new_item(struct run *r, const struct kar_action *a)
{
	struct item *it = kar_xcalloc(1, sizeof(*it));

	it->run = r;
	it->action = a;
	r->in_flight++;
	r->x->in_flight++;
	return it;
}

static void send_status(struct run *r)
{
	struct kar_buf body = { 0 };
	struct kar_request rq = kar_apply_status_request(r->s, &body);

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
	if (r->next % TURN == 0) /* the deletes of a large job must not hold up all others */
		r->number = r->x->arrivals++;
	if (kar_apply_action_request(r->s, a, &body, &rq, &err)) {
		fail(r, a, &err);
	} else {
		r->creates += kar_action_creates(a);
		r->pods += kar_action_creates(a) && a->rank.tier != KAR_TIER_CONTROL;
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

/* What a plan has overtaken is decided anew. Creates stand and fall together, other actions are about one object. */
static void drop_next(struct run *r)
{
	r->outcome.requeue_after = 0;
	if (r->s->plan.actions[r->next].verb == KAR_CREATE) {
		stop(r);
		return;
	}
	r->next++;
	r->x->waiting--;
}

/* Sends the next write of @r, which is out of the tree. */
static void send_next(struct run *r)
{
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

static void send_all(struct kar_executor *x)
{
	while (!x->draining && x->in_flight < x->max_in_flight) {
		struct run *r = RB_MIN(runnable, &x->runnable);

		if (!r)
			return;
		delist(r);
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

/*
 * 0 if the status write goes out now, else ms to hold it back. What is not urgent does not go before actions: these wait for
 * nothing that it would record. Nor does it compete with the writes of other plans, for a while.
 */
static kar_time status_delay(struct kar_executor *x, const struct kar_sync *s)
{
	kar_time written = s->state->status_written;

	if (s->plan.urgent)
		return 0;
	if ((s->plan.n_actions || x->waiting) && s->mono - written < BUSY_WAIT)
		return x->pace.interval;
	return kar_pace_delay(&x->pace, written, s->plan.counters, s->mono);
}

void kar_executor_start(struct kar_executor *x, struct kar_sync *s)
{
	struct run *r = kar_xcalloc(1, sizeof(*r));

	r->x = x;
	r->s = s;
	r->number = x->arrivals++;
	r->window = kar_slow_start_first(s);
	r->outcome.requeue_after = s->plan.requeue_after;
	if (s->plan.status) {
		kar_time wait = status_delay(x, s);

		r->status_due = wait == 0;
		if (wait && wait < r->outcome.requeue_after)
			r->outcome.requeue_after = wait;
	}
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
	x->pace.interval = o->status_interval > 0 ? o->status_interval : DEFAULT_STATUS_INTERVAL;
	x->pace.rate = DEFAULT_COUNTER_RATE;
	x->applied = applied;
	x->arg = arg;
	RB_INIT(&x->runnable);
	return x;
}

void kar_executor_drain(struct kar_executor *x)
{
	x->draining = true;
	for (struct run *r = RB_MIN(runnable, &x->runnable); r; r = RB_MIN(runnable, &x->runnable)) {
		stop(r);
		finish_if_done(r);
	}
}

void kar_executor_free(struct kar_executor *x)
{
	assert(!x || (!x->in_flight && !x->waiting));
	free(x);
}

size_t kar_executor_in_flight(const struct kar_executor *x)
{
	return (size_t)x->in_flight;
}
