#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/kube/request.h"
#include "sim/client_sim_impl.h"

enum {
	THROTTLED_MAX = 3,      /* times the HTTP client repeats a request itself */
	THROTTLED_WAIT = 10000, /* ms; a longer Retry-After it hands on */
	MS_PER_S = 1000,
	RETRY_AFTER_MAX = 5, /* s, in injected answers */
	LATE_MAX = 20000,    /* ms after the time-out */
	TWICE_MAX = 5000,    /* ms after the first execution */
	HALF = 500,          /* of 1000 */
};

/* --- what is asked ------------------------------------------------------------------------------------- */

static const char *not_empty(const char *s)
{
	return s && *s ? s : NULL;
}

static struct sim_request translate(const struct kar_request *r, const char *user)
{
	const char *page = not_empty(r->continue_token); /* version and match are not sent beside it */

	return (struct sim_request){
		.verb = r->verb,
		.group = r->res->group,
		.version = r->res->version,
		.resource = r->res->plural,
		.ns = r->res->namespaced ? not_empty(r->ns) : NULL,
		.name = r->name,
		.subresource = r->subresource,
		.patch_type = r->patch_type,
		.body = r->body,
		.resource_version = page ? NULL : r->resource_version,
		.resource_version_match = page ? NULL : r->resource_version_match,
		.continue_token = page,
		.label_selector = r->label_selector,
		.field_selector = r->field_selector,
		.limit = r->limit,
		.bookmarks = r->bookmarks,
		.timeout_seconds = r->timeout_seconds,
		.field_manager = r->field_manager,
		.force = r->force,
		.dry_run = r->dry_run,
		.field_validation = r->strict ? "Strict" : NULL,
		.user = user,
	};
}

/* --- the end of a call --------------------------------------------------------------------------------- */

void sim_call_free(struct kar_call *call)
{
	sim_alarm_free(call->alarm);
	kar_timer_free(call->timer);
	sim_watch_close(call->in.watch);
	kar_buf_release(&call->in.bytes);
	sim_response_release(&call->response);
	free(call->text);
	free(call);
}

void sim_call_end(struct kar_call *call, const struct kar_answer *answer, const struct kar_err *err)
{
	TAILQ_REMOVE(&call->client->calls, call, link);
	if (call->on_done)
		call->on_done(call->arg, answer, err);
	sim_call_free(call);
}

static kar_time retry_after(const struct kar_call *call)
{
	return sim_get_int(call->response.object, 0, "details", "retryAfterSeconds") * MS_PER_S;
}

void sim_call_refuse(struct kar_call *call)
{
	struct kar_buf body = { 0 };
	struct kar_err err;
	char *what = sim_call_what(call);

	sim_response_body(&call->response, &body);
	kar_status_error(&err, call->response.code, "application/json",
		(struct kar_str){ kar_buf_cstr(&body), body.n }, retry_after(call), call->write, what);
	free(what);
	kar_buf_release(&body);
	sim_call_end(call, NULL, &err);
}

static void end_well(struct kar_call *call)
{
	const struct sim_response *r = &call->response;
	const char *version = sim_get_text(r->object, "metadata", "resourceVersion");
	struct kar_answer answer = { .status = r->code,
		.rv = version ? kar_rv_parse(version) : 0,
		.uid = sim_text_or(sim_get(r->object, "metadata", "uid"), "") };
	struct kar_buf printed = { 0 };

	if (r->text && !sim_get(r->object, "metadata", "annotations", SIM_GARBLE)) {
		answer.body = (struct kar_str){ r->text->p, r->text->n };
	} else {
		sim_response_body(r, &printed);
		sim_garble(&printed, 0);
		answer.body = (struct kar_str){ kar_buf_cstr(&printed), printed.n };
	}
	sim_call_end(call, &answer, NULL);
	kar_buf_release(&printed);
}

/* --- from the loop of the process ---------------------------------------------------------------------- */

static void send_call(struct kar_call *call);

static bool may_wait(const struct kar_call *call)
{
	bool refused = call->response.code == 429 || (call->response.code == 503 && retry_after(call));

	return refused && !call->stream && call->throttled < THROTTLED_MAX &&
		retry_after(call) <= THROTTLED_WAIT;
}

static void pause_call(struct kar_call *call)
{
	kar_time wait = retry_after(call) ? retry_after(call) : MS_PER_S;

	call->state = SIM_CALL_PAUSED;
	call->throttled++;
	kar_timer_start(call->timer, wait + sim_random_between(&call->wire->random, 0, wait / 2));
}

static void on_answer(struct kar_call *call)
{
	const struct sim_wire_observer *o = &call->wire->observer;

	if (!call->failed && o->heard)
		o->heard(o->arg, call->client->user, &call->rq, &call->response);
	if (call->failed)
		sim_call_end(call, NULL, &call->err);
	else if (call->response.code >= 200 && call->response.code < 300)
		end_well(call);
	else if (may_wait(call))
		pause_call(call);
	else
		sim_call_refuse(call);
}

static void on_timer(void *arg)
{
	struct kar_call *call = arg;

	if (call->state == SIM_CALL_PAUSED)
		send_call(call);
	else if (call->state == SIM_CALL_STREAM)
		sim_stream_read(call);
	else
		on_answer(call);
}

/* --- at the server ------------------------------------------------------------------------------------- */

static void answer(struct kar_call *call)
{
	call->state = SIM_CALL_ANSWERED;
	kar_timer_start(call->timer, sim_wire_way(call->wire));
}

/* The client hears nothing but that its connection broke, @after ms from now. */
static void fail_call(struct kar_call *call, enum kar_class what, const char *text, kar_time after)
{
	char *request = sim_call_what(call);

	kar_fail(&call->err, what, "%s: %s", request, text);
	call->err.cause = KAR_CAUSE_CONNECTION;
	free(request);
	call->failed = true;
	call->state = SIM_CALL_ANSWERED;
	kar_timer_start(call->timer, after);
}

static enum kar_class lost_class(const struct kar_call *call)
{
	return call->write ? KAR_UNKNOWN : KAR_RETRY;
}

static void time_out(struct kar_call *call)
{
	kar_time left = call->started + call->timeout - sim_timeline_mono(call->wire->timeline);

	fail_call(call, lost_class(call), "Timeout was reached", call->timeout && left > 0 ? left : 0);
}

static void lose(struct kar_call *call)
{
	enum { REFUSED, RESET, SILENCE, WAYS };

	switch (sim_random_below(&call->wire->random, WAYS)) {
	case REFUSED:
		fail_call(call, KAR_RETRY, "Couldn't connect to server", sim_wire_way(call->wire));
		break;
	case RESET:
		fail_call(call, lost_class(call), "Connection reset by peer", sim_wire_way(call->wire));
		break;
	default:
		time_out(call);
		break;
	}
}

static struct sim_value *status(int code, const char *reason, const char *message, int64_t retry)
{
	struct sim_value *v = sim_object();

	sim_set_text(&v, "Status", "kind");
	sim_set_text(&v, "v1", "apiVersion");
	sim_set(&v, sim_object(), "metadata");
	sim_set_text(&v, "Failure", "status");
	sim_set_text(&v, message, "message");
	sim_set_text(&v, reason, "reason");
	if (retry)
		sim_set(&v, sim_int(retry), "details", "retryAfterSeconds");
	sim_set(&v, sim_int(code), "code");
	return v;
}

/* What is answered with 500 and 504 may have been done all the same. */
static void execute_perhaps(struct kar_call *call)
{
	if (call->write && sim_random_chance(&call->wire->random, HALF))
		sim_wire_execute(call->wire, call);
}

static void execute_twice(struct kar_call *call)
{
	struct sim_wire *w = call->wire;

	sim_wire_execute(w, call);
	if (sim_random_chance(&w->random, HALF))
		sim_wire_execute(w, call); /* the client sees the second answer */
	else
		sim_wire_orphan(w, call, sim_random_between(&w->random, 0, TWICE_MAX));
	answer(call);
}

static void execute_late(struct kar_call *call)
{
	struct sim_wire *w = call->wire;

	sim_wire_orphan(w, call, call->timeout + sim_random_between(&w->random, 0, LATE_MAX));
	time_out(call);
}

/* Answers of the server that are made up. */
static const struct refusal {
	enum sim_fault fault;
	int code;
	const char *reason, *message;
	int retry_low, retry_high; /* s, of Retry-After; 0: none */
	bool perhaps;              /* a write may have been executed all the same */
} refusals[] = {
	{ SIM_FAULT_CONFLICT, 409, "Conflict",
		"the object has been modified; please apply your changes to the latest version", 0, 0,
		false },
	{ SIM_FAULT_THROTTLED, 429, "TooManyRequests", "the server is busy", 1, RETRY_AFTER_MAX, false },
	{ SIM_FAULT_UNAVAILABLE, 503, "ServiceUnavailable",
		"the server is currently unable to handle the request", 0, RETRY_AFTER_MAX, false },
	{ SIM_FAULT_ERROR, 500, "InternalError", "Internal error occurred: simulated", 0, 0, true },
	{ SIM_FAULT_TIMEOUT, 504, "Timeout", "Timeout: request did not complete within the allotted timeout",
		0, 0, true },
};

static const struct refusal *refusal_of(enum sim_fault f)
{
	for (size_t i = 0; i < KAR_LEN(refusals); i++) {
		if (refusals[i].fault == f)
			return &refusals[i];
	}
	return NULL;
}

static void refuse(struct kar_call *call, const struct refusal *r)
{
	int64_t retry =
		r->retry_high ? sim_random_between(&call->wire->random, r->retry_low, r->retry_high) : 0;

	if (r->perhaps)
		execute_perhaps(call);
	sim_response_release(&call->response);
	call->response = (struct sim_response){ .code = r->code,
		.object = status(r->code, r->reason, r->message, retry) };
	answer(call);
}

/* Just before or just after the server executes its write, the client dies. */
static void crash(struct kar_call *call)
{
	execute_perhaps(call);
	call->state = SIM_CALL_UNHEARD;
	sim_wire_tell(call->wire, call, SIM_FAULT_CRASH);
}

static void go_well(struct kar_call *call)
{
	if (call->stream) {
		sim_stream_arrive(call);
		return;
	}
	sim_wire_execute(call->wire, call);
	answer(call);
}

static void arrive(struct kar_call *call)
{
	const struct refusal *r = refusal_of(call->fault);

	if (r) {
		refuse(call, r);
		return;
	}
	switch (call->fault) {
	case SIM_FAULT_LOST:
		lose(call);
		break;
	case SIM_FAULT_REPLY:
		sim_wire_execute(call->wire, call);
		fail_call(call, lost_class(call), "Connection reset by peer", sim_wire_way(call->wire));
		break;
	case SIM_FAULT_TWICE:
		execute_twice(call);
		break;
	case SIM_FAULT_LATE:
		execute_late(call);
		break;
	case SIM_FAULT_CRASH:
		crash(call);
		break;
	default:
		go_well(call);
		break;
	}
}

static void on_arrived(void *arg)
{
	arrive(arg);
}

/* --- sending ------------------------------------------------------------------------------------------- */

static enum sim_fault draw_fault(const struct kar_call *call)
{
	static const enum sim_fault any[] = { SIM_FAULT_LOST, SIM_FAULT_THROTTLED, SIM_FAULT_ERROR,
		SIM_FAULT_UNAVAILABLE, SIM_FAULT_TIMEOUT };
	static const enum sim_fault writes[] = { SIM_FAULT_REPLY, SIM_FAULT_TWICE, SIM_FAULT_LATE,
		SIM_FAULT_CONFLICT };

	for (size_t i = 0; i < KAR_LEN(any); i++) {
		if (sim_wire_strikes(call->wire, call, any[i]))
			return any[i];
	}
	for (size_t i = 0; call->write && i < KAR_LEN(writes); i++) {
		if (sim_wire_strikes(call->wire, call, writes[i]))
			return writes[i];
	}
	if (call->write && sim_wire_draws(call->wire, SIM_FAULT_CRASH))
		return SIM_FAULT_CRASH; /* told when it happens */
	return SIM_FAULT_NONE;
}

static bool may_send(const struct kar_call *call)
{
	return kar_client_may_send(&call->client->base, call->rq.verb, call->lane);
}

static void send_call(struct kar_call *call)
{
	struct sim_wire *w = call->wire;

	if (!may_send(call)) {
		fail_call(call, KAR_RETRY, "not sent: this process may not write now", 0);
		call->err.cause = KAR_CAUSE_FENCE;
		return;
	}
	if (w->observer.handed)
		w->observer.handed(w->observer.arg, call->client->user, &call->rq);
	if (sim_wire_strikes(w, call, SIM_FAULT_SLOW))
		sim_wire_slow_down(w);
	if (sim_wire_strikes(w, call, SIM_FAULT_COMPACT))
		sim_apiserver_compact(w->server);
	call->fault = draw_fault(call);
	call->state = SIM_CALL_SENT;
	sim_alarm_start(call->alarm, sim_wire_way(w));
}

static struct kar_call *start(struct kar_client *base, const struct kar_request *r)
{
	struct sim_client *c = kar_container_of(base, struct sim_client, base);
	struct kar_call *call = kar_xcalloc(1, sizeof(*call));
	const struct sim_request rq = translate(r, c->user);

	assert(kar_request_is_whole(r));
	call->client = c;
	call->wire = c->wire;
	call->res = r->res;
	call->write = kar_request_writes(r->verb);
	call->lane = r->lane;
	call->stream = r->verb == KAR_LIST || r->verb == KAR_WATCH;
	call->timeout = r->timeout || r->verb == KAR_WATCH ? r->timeout : SIM_TIMEOUT_DEFAULT;
	call->started = kar_loop_mono(c->loop);
	call->on_begun = r->on_begun;
	call->on_data = r->on_data;
	call->on_done = r->on_done;
	call->arg = r->arg;
	sim_call_copy_request(call, &rq);
	TAILQ_INSERT_TAIL(&c->calls, call, link);
	call->state = SIM_CALL_UNHEARD;
	if (c->dead)
		return call;
	if (c->wire->observer.sent && may_send(call))
		c->wire->observer.sent(c->wire->observer.arg, c->user, &call->rq);
	if (rq.verb == KAR_LIST)
		sim_wire_told(c->wire, call, 0);
	call->alarm = sim_alarm_new(c->wire->timeline, on_arrived, call);
	call->timer = kar_timer_new(c->loop, on_timer, call);
	send_call(call);
	return call;
}

/* What is under way already reaches the server, whatever becomes of the client. */
static void leave_behind(const struct kar_call *call)
{
	if (call->state == SIM_CALL_SENT && call->write && call->fault != SIM_FAULT_LOST &&
		call->fault != SIM_FAULT_CRASH)
		sim_wire_orphan(call->wire, call, sim_wire_way(call->wire));
}

static void cancel(struct kar_client *base KAR_UNUSED, struct kar_call *call)
{
	TAILQ_REMOVE(&call->client->calls, call, link);
	leave_behind(call);
	if (call->busy)
		call->cancelled = true; /* from inside on_data: its caller frees it */
	else
		sim_call_free(call);
}

static void free_client(struct kar_client *base)
{
	struct sim_client *c = kar_container_of(base, struct sim_client, base);

	while (!TAILQ_EMPTY(&c->calls))
		cancel(base, TAILQ_FIRST(&c->calls));
	free(c);
}

struct kar_client *sim_client_new(struct kar_loop *l, struct sim_wire *w, const char *user)
{
	static const struct kar_client_ops ops = { .start = start, .cancel = cancel, .free = free_client };
	struct sim_client *c = kar_xcalloc(1, sizeof(*c));

	c->base.ops = &ops;
	c->loop = l;
	c->wire = w;
	c->user = user;
	TAILQ_INIT(&c->calls);
	return &c->base;
}

void sim_client_kill(struct kar_client *base)
{
	struct sim_client *c = kar_container_of(base, struct sim_client, base);
	struct kar_call *call;
	struct kar_err err;

	c->dead = true;
	kar_fail(&err, KAR_UNKNOWN, "the process has died");
	/* Behind the last that had been sent are those that the callbacks start: they have no alarm. */
	while ((call = TAILQ_FIRST(&c->calls)) != NULL && call->alarm) {
		leave_behind(call);
		sim_call_end(call, NULL, &err);
	}
}
