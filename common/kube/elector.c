#include "common/kube/elector.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/backoff.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/codec/json.h"
#include "common/kube/lease.h"
#include "common/kube/request.h"

enum {
	TIMEOUT_MIN = 1000,    /* ms; of a request, which else takes half the renew deadline */
	CONFLICT_PAUSE = 100,  /* ms */
	STOP_TIMEOUT = 1000,   /* ms */
	LEADER_HURRY = 4,      /* a leader repeats what has failed so many times as often */
	SAID_AGAIN = 600000,   /* ms */
	EVENT_BYTES = 2 << 20, /* what others put into a Lease is bounded by etcd */
};
static const double JITTER = 1.2; /* client-go's */

/* What a request is for, beyond enum kar_election_move. */
enum { RELEASE = KAR_ELECTION_LOST + 1 };

struct kar_elector {
	struct kar_loop *loop;
	struct kar_client *client;
	struct kar_elector_options o;
	struct kar_election election;
	struct kar_timer *timer;
	struct kar_call *call; /* NULL: none in flight */
	int move;              /* what it is for */
	kar_time begun;
	kar_time paused; /* until then nothing is asked */
	kar_time poll;   /* a candidate reads the lease then */
	struct kar_backoff pause;
	struct kar_call *watch; /* NULL: none */
	char *selector;
	struct kar_json_stream *events; /* of the watch */
	bool told_won, told_lost, told_fenced;
	struct kar_seen said;
	kar_time said_at;
	void (*stopped)(void *arg); /* NULL: it is not to stop */
	void *stopped_arg;
	kar_time stop_deadline;
};

static kar_time now_of(const struct kar_elector *e)
{
	return kar_loop_mono_now(e->loop);
}

static bool may_write(void *arg)
{
	return kar_elector_may_write(arg);
}

static bool may_never(void *arg KAR_UNUSED)
{
	return false;
}

static kar_time timeout_of(const struct kar_elector *e)
{
	kar_time half = e->o.times.deadline / 2;

	return half > TIMEOUT_MIN ? half : TIMEOUT_MIN;
}

static void wake_at(struct kar_elector *e, kar_time at)
{
	kar_time now = now_of(e);

	if (at == KAR_NEVER)
		kar_timer_stop(e->timer);
	else
		kar_timer_start(e->timer, at > now ? at - now : 0);
}

static void end_watch(struct kar_elector *e)
{
	kar_client_cancel(e->client, e->watch);
	e->watch = NULL;
	kar_json_stream_free(e->events);
	e->events = NULL;
}

/* --- what is said --- */

static const char *verb_of(int move)
{
	return move == KAR_ELECTION_READ ? "get" : move == KAR_ELECTION_CREATE ? "create" : "patch";
}

static void say_obstacle(struct kar_elector *e, const char *verb, const struct kar_err *err)
{
	kar_time now = now_of(e);

	if (!kar_seen_first(&e->said, err->msg) && now - e->said_at < SAID_AGAIN)
		return;
	e->said_at = now;
	kar_error(KAR_MSG("Leader election meets an obstacle"), KAR_S("verb", verb),
		KAR_S("resource", "leases.coordination.k8s.io"), KAR_S("namespace", e->o.ns),
		KAR_S("name", e->o.name), KAR_S("err", err->msg));
}

/* A leader that cannot renew in time is silent from outside. */
static void say_fence(struct kar_elector *e)
{
	bool fenced = e->election.leads && !may_write(e);

	if (fenced && !e->told_fenced)
		kar_warn(KAR_MSG("The lease could not be renewed in time: nothing is written until it is"));
	if (!fenced && e->told_fenced && e->election.leads)
		kar_info(0, KAR_MSG("The lease is renewed, nobody else held it meanwhile: going on"));
	e->told_fenced = fenced;
}

static void say_holder(const struct kar_elector *e)
{
	const struct kar_lease_record *r = &e->election.record;

	kar_info(0, KAR_MSG("Another process holds the lease"), KAR_S("lease", e->o.name),
		KAR_S("namespace", e->o.ns), KAR_S("holder", r->holder), KAR_I("duration_ms", r->duration),
		KAR_I("transitions", r->transitions));
}

/* Tells the owner what is new. It may free nothing, but end the process. */
static void tell(struct kar_elector *e)
{
	const struct kar_election *n = &e->election;

	say_fence(e);
	if (e->stopped)
		return;
	if (n->leads && !e->told_won) {
		e->told_won = true;
		end_watch(e);
		kar_info(0, KAR_MSG("Leading"), KAR_S("lease", e->o.name), KAR_S("namespace", e->o.ns),
			KAR_S("identity", e->o.identity));
		e->o.won(e->o.arg);
	}
	if (n->lost && !e->told_lost) {
		e->told_lost = true;
		e->o.lost(e->o.arg, n->record.exists ? n->record.holder : "");
	}
}

static void saw(struct kar_elector *e, const struct kar_lease_record *record)
{
	bool other = strcmp(record->holder, e->election.record.holder) != 0;

	kar_election_saw(&e->election, record, now_of(e));
	if (other && record->exists && !record->ours && record->holder[0])
		say_holder(e);
}

static void read_lease(struct kar_elector *e, const struct kar_lease_record *record)
{
	if (kar_election_restored(&e->election, record, e->begun)) {
		kar_warn(KAR_MSG("The lease is older than it was: the API server has other data than before"),
			KAR_S("lease", e->o.name), KAR_S("resourceVersion", record->rv));
		end_watch(e); /* of versions that may never come */
	}
	saw(e, record);
}

/* --- the watch of a candidate --- */

static int on_event(void *arg, const void *document, struct kar_err *err)
{
	struct kar_elector *e = arg;
	const struct kar_lease_event *event = document;
	const char *type = event->type ? event->type : "";
	struct kar_lease_record record = { 0 };

	if (strcmp(type, "ADDED") != 0 && strcmp(type, "MODIFIED") != 0 && strcmp(type, "DELETED") != 0)
		return kar_fail(err, KAR_GONE, "the watch has ended");
	if (type[0] != 'D' && kar_lease_record_of(&event->object, e->o.identity, &record, err))
		return -1;
	saw(e, &record);
	wake_at(e, now_of(e)); /* not from in here: it may end the watch */
	return 0;
}

static int on_data(void *arg, const char *bytes, size_t n)
{
	struct kar_elector *e = arg;
	struct kar_err err;

	return kar_json_stream_feed(e->events, bytes, n, &err);
}

static void take_pause(struct kar_elector *e, kar_time ms)
{
	e->paused = now_of(e) + ms;
	wake_at(e, e->paused);
}

/* Whatever has ended it: what the lease is now, or whether the API server is there at all, reading it will show. */
static void on_watch_done(void *arg, const struct kar_answer *answer KAR_UNUSED, const struct kar_err *err)
{
	struct kar_elector *e = arg;

	e->watch = NULL;
	end_watch(e);
	if (err && err->what == KAR_DENIED)
		say_obstacle(e, "watch", err);
	kar_election_doubt(&e->election);
	if (!e->call)
		take_pause(e, kar_backoff_next(&e->pause, 0));
}

static void start_watch(struct kar_elector *e)
{
	static const struct kar_limits limits = { .document = EVENT_BYTES };
	struct kar_request q;

	if (e->watch || e->election.leads || !e->election.record.exists)
		return;
	q = kar_client_watch(&kar_lease_resource, e->o.ns, e->election.record.rv);
	q.field_selector = e->selector;
	q.on_data = on_data;
	q.on_done = on_watch_done;
	q.arg = e;
	e->events = kar_json_stream_new(&kar_lease_event_desc, &limits, NULL, on_event, e);
	e->watch = kar_client_start(e->client, &q);
}

/* --- requests --- */

static void step(void *arg);

static void failed(struct kar_elector *e, const struct kar_err *err)
{
	kar_time pause = kar_backoff_next(&e->pause, 0);

	say_obstacle(e, verb_of(e->move), err);
	kar_election_failed(&e->election);
	take_pause(e, e->election.leads ? e->o.times.retry / LEADER_HURRY : pause);
}

static void succeeded(struct kar_elector *e, const struct kar_lease_record *record)
{
	if (e->move == KAR_ELECTION_READ)
		read_lease(e, record);
	else if (e->move == RELEASE)
		saw(e, record);
	else
		kar_election_wrote(&e->election, record, e->begun, now_of(e));
}

/* Somebody else wrote first, or deleted it. */
static bool is_race(const struct kar_elector *e, const struct kar_err *err)
{
	return err->what == KAR_CONFLICT || (e->move == KAR_ELECTION_CREATE && err->what == KAR_EXISTS) ||
		(e->move > KAR_ELECTION_CREATE && err->what == KAR_NOTFOUND);
}

static void on_done(void *arg, const struct kar_answer *answer, const struct kar_err *err)
{
	struct kar_elector *e = arg;
	struct kar_lease_record record = { 0 };
	struct kar_err mine;

	e->call = NULL;
	if (answer && kar_lease_decode(answer->body, e->o.identity, &record, &mine))
		err = &mine;
	if (!err || (e->move == KAR_ELECTION_READ && err->what == KAR_NOTFOUND)) {
		succeeded(e, &record);
	} else if (is_race(e, err)) {
		kar_election_doubt(&e->election);
		take_pause(e, CONFLICT_PAUSE);
	} else {
		failed(e, err);
	}
	tell(e);
	step(e);
}

static struct kar_request request_for(struct kar_elector *e, struct kar_buf *body)
{
	const struct kar_lease_write w = { .identity = e->o.identity,
		.duration = e->o.times.duration,
		.now = kar_loop_wall(e->loop),
		.app = e->o.app };
	const struct kar_lease_record *before = &e->election.record;

	if (e->move == KAR_ELECTION_READ)
		return kar_client_get(&kar_lease_resource, e->o.ns, e->o.name);
	if (e->move == KAR_ELECTION_CREATE) {
		kar_lease_create_body(&w, e->o.ns, e->o.name, body);
		return kar_client_create(&kar_lease_resource, e->o.ns, (struct kar_str){ body->p, body->n });
	}
	if (e->move == KAR_ELECTION_TAKE)
		kar_lease_take_body(&w, before, body);
	else if (e->move == KAR_ELECTION_RENEW)
		kar_lease_renew_body(&w, before, body);
	else
		kar_lease_release_body(&w, before, body);
	return kar_client_patch(&kar_lease_resource, e->o.ns, e->o.name, KAR_PATCH_MERGE,
		(struct kar_str){ body->p, body->n });
}

static void send(struct kar_elector *e, int move)
{
	struct kar_buf body = { 0 };
	struct kar_request q;

	e->move = move;
	e->begun = now_of(e);
	q = request_for(e, &body);
	q.lane = KAR_LANE_LEASE;
	q.timeout = timeout_of(e);
	q.on_done = on_done;
	q.arg = e;
	e->call = kar_client_start(e->client, &q);
	kar_buf_release(&body);
	wake_at(e, e->begun + timeout_of(e) + CONFLICT_PAUSE);
}

/* The client waits for more than the connection: for credentials, or because the server asked it to. */
static void give_up_call(struct kar_elector *e)
{
	struct kar_err err;

	kar_client_cancel(e->client, e->call);
	e->call = NULL;
	kar_fail(&err, KAR_UNKNOWN, "no answer in time");
	failed(e, &err);
}

/* --- what to do now --- */

static void finish(struct kar_elector *e)
{
	void (*stopped)(void *arg) = e->stopped;

	kar_client_cancel(e->client, e->call);
	e->call = NULL;
	e->stopped = NULL;
	e->told_won = e->told_lost = true;
	kar_timer_stop(e->timer);
	e->election.leads = false;
	e->election.lost = true;
	stopped(e->stopped_arg);
}

static void step_to_the_end(struct kar_elector *e)
{
	const struct kar_election *n = &e->election;
	kar_time now = now_of(e);

	if (now >= e->stop_deadline || (!e->call && (!n->leads || (n->known && !n->record.exists))))
		finish(e);
	else if (e->call || now < e->paused)
		wake_at(e, e->call || e->stop_deadline < e->paused ? e->stop_deadline : e->paused);
	else
		send(e, n->known ? RELEASE : (int)KAR_ELECTION_READ);
}

/*
 * The watch tells a candidate what happens, and reading from time to time whether the API server is there at all: of an outage that
 * nobody notices, a candidate would think that it is the holder who is away.
 */
static void wait_for(struct kar_elector *e, kar_time at)
{
	kar_time now = now_of(e);

	if (e->election.leads) {
		wake_at(e, at);
	} else if (now >= e->poll) {
		e->poll = now + kar_backoff_next(&e->pause, 0);
		send(e, KAR_ELECTION_READ);
	} else {
		start_watch(e);
		wake_at(e, at < e->poll ? at : e->poll);
	}
}

static void step(void *arg)
{
	struct kar_elector *e = arg;
	struct kar_election_step next;
	kar_time now = now_of(e);

	if (e->stopped) {
		step_to_the_end(e);
		return;
	}
	tell(e);
	if (e->call && now >= e->begun + timeout_of(e) + CONFLICT_PAUSE)
		give_up_call(e);
	if (e->call)
		return;
	next = kar_election_next(&e->election, now);
	if (next.move == KAR_ELECTION_LOST)
		return;
	if (next.move == KAR_ELECTION_WAIT) {
		wait_for(e, next.at);
	} else if (now < e->paused) {
		wake_at(e, e->paused);
	} else {
		end_watch(e); /* it may be what has led to this */
		send(e, (int)next.move);
	}
}

/* --- life --- */

struct kar_elector *kar_elector_new(struct kar_loop *l, struct kar_client *client,
	const struct kar_elector_options *o)
{
	struct kar_elector *e = kar_xcalloc(1, sizeof(*e));

	e->loop = l;
	e->client = client;
	e->o = *o;
	e->election.times = o->times;
	e->timer = kar_timer_new(l, step, e);
	e->selector = kar_xasprintf("metadata.name=%s", o->name);
	e->pause = (struct kar_backoff){ .base = o->times.retry,
		.cap = o->times.retry,
		.jitter = JITTER,
		.random = o->seed };
	kar_client_fence(client, may_write, e);
	return e;
}

void kar_elector_start(struct kar_elector *e)
{
	kar_info(0, KAR_MSG("Waiting for the lease"), KAR_S("lease", e->o.name), KAR_S("namespace", e->o.ns),
		KAR_S("identity", e->o.identity));
	kar_timer_start(e->timer, 0);
}

const char *kar_elector_holder(const struct kar_elector *e)
{
	return e->election.record.exists ? e->election.record.holder : "";
}

bool kar_elector_leads(const struct kar_elector *e)
{
	return e->election.leads;
}

bool kar_elector_may_write(const struct kar_elector *e)
{
	return kar_election_may_write(&e->election, now_of(e));
}

void kar_elector_stop(struct kar_elector *e, void (*stopped)(void *arg), void *arg)
{
	if (e->stopped)
		return;
	e->stopped = stopped;
	e->stopped_arg = arg;
	e->stop_deadline = now_of(e) + STOP_TIMEOUT;
	end_watch(e);
	kar_client_fence(e->client, may_never,
		NULL); /* events that are left are not sent while the lease is given back */
	kar_timer_start(e->timer, 0);
}

void kar_elector_free(struct kar_elector *e)
{
	if (!e)
		return;
	kar_client_fence(e->client, may_never, NULL);
	kar_client_cancel(e->client, e->call);
	end_watch(e);
	kar_timer_free(e->timer);
	free(e->selector);
	free(e);
}
