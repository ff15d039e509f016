/* Lists and watches: bytes that come in any pieces, late, or not to their end. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"
#include "common/kube/request.h"
#include "sim/apiserver/selector.h"
#include "sim/client_sim_impl.h"

enum {
	BATCH = 200,    /* events read at once */
	HOLD_MIN = 100, /* ms */
	HOLD_MAX = 60000,
	HOLD_EVENTS = 20,
	TRAVEL_MIN = 2000, /* ms into the past */
	TRAVEL_MAX = 60000,
	GONE = 410,
	HALF = 500, /* of 1000 */
};

static kar_time now(const struct kar_call *call)
{
	return sim_timeline_mono(call->wire->timeline);
}

static void hold(struct kar_call *call)
{
	struct sim_random *r = &call->wire->random;

	/* Short ones are as interesting as long ones: the exponent is uniform. */
	call->in.poll = true;
	call->in.held_until =
		now(call) + HOLD_MIN + sim_random_between(r, 0, (kar_time)HOLD_MAX >> sim_random_below(r, 8));
}

static void break_off(struct kar_call *call)
{
	char *what = sim_call_what(call);

	kar_fail(&call->err, KAR_RETRY, "%s: Connection reset by peer", what);
	call->err.cause = KAR_CAUSE_CONNECTION;
	free(what);
	call->failed = true;
}

/* The connection ends somewhere in what has come: at any byte, or in order between two events. */
static void cut(struct kar_call *call)
{
	struct sim_inbox *in = &call->in;
	struct sim_random *r = &call->wire->random;

	in->ended = true;
	in->read_to = 0;
	if (sim_random_chance(r, HALF))
		return;
	in->bytes.n = in->at + sim_random_below(r, in->bytes.n - in->at + 1);
	break_off(call);
}

/* --- at the server ------------------------------------------------------------------------------------- */

static void to_be_read(struct kar_call *call)
{
	call->state = SIM_CALL_STREAM;
	kar_timer_start(call->timer, sim_wire_way(call->wire));
}

static void refused(struct kar_call *call)
{
	call->state = SIM_CALL_ANSWERED;
	kar_timer_start(call->timer, sim_wire_way(call->wire));
}

static bool is_first_page(const struct sim_request *rq)
{
	return !rq->resource_version && !rq->continue_token;
}

/* The list as of some time ago; false if the server does not know any more. */
static bool list_the_past(struct kar_call *call)
{
	struct sim_wire *w = call->wire;
	int64_t rv = sim_wire_version_of(w, sim_random_between(&w->random, TRAVEL_MIN, TRAVEL_MAX));
	struct sim_request rq = call->rq;
	char version[24];

	if (!rv)
		return false;
	snprintf(version, sizeof(version), "%" PRId64, rv);
	call->rq.resource_version = version;
	call->rq.resource_version_match = "Exact";
	sim_wire_execute(w, call);
	call->rq = rq;
	if (call->response.code != 200)
		return false;
	call->client->travelled = call->res;
	return true;
}

static void list(struct kar_call *call)
{
	struct sim_wire *w = call->wire;
	bool past = is_first_page(&call->rq) && sim_wire_strikes(w, call, SIM_FAULT_TRAVEL) &&
		list_the_past(call);

	if (!past)
		sim_wire_execute(w, call);
	if (call->response.code != 200) {
		refused(call);
		return;
	}
	sim_response_body(&call->response, &call->in.bytes);
	sim_garble(&call->in.bytes, 0);
	call->in.ended = true;
	if (sim_wire_strikes(w, call, SIM_FAULT_CUT))
		cut(call);
	to_be_read(call);
}

/* Somebody has written: from inside the server, so only a timer is set. */
static void on_news(void *arg)
{
	struct kar_call *call = arg;

	call->in.poll = true;
	if (!kar_timer_running(call->timer) || call->in.held_events)
		kar_timer_start(call->timer, sim_wire_way(call->wire));
}

static void open_watch(struct kar_call *call)
{
	call->in.watch = sim_watch_open(call->wire->server, &call->rq, on_news, call, &call->response);
}

/* From some time before the version that is asked for; false if the server does not know any more. */
static bool open_in_the_past(struct kar_call *call)
{
	struct sim_wire *w = call->wire;
	int64_t rv = sim_wire_version_of(w, sim_random_between(&w->random, TRAVEL_MIN, TRAVEL_MAX));
	const char *asked = call->rq.resource_version;
	char version[24];

	if (!rv || !asked || rv >= (int64_t)kar_rv_parse(asked))
		return false;
	snprintf(version, sizeof(version), "%" PRId64, rv);
	call->rq.resource_version = version;
	open_watch(call);
	call->rq.resource_version = asked;
	sim_response_release(&call->response);
	call->response = (struct sim_response){ 0 };
	call->in.replay_to = call->in.watch ? (int64_t)kar_rv_parse(asked) : 0;
	return call->in.watch != NULL;
}

static void watch(struct kar_call *call)
{
	struct sim_wire *w = call->wire;

	if (sim_wire_strikes(w, call, SIM_FAULT_SILENT))
		call->rq.bookmarks = false;
	w->stats.watches++;
	if (!sim_wire_strikes(w, call, SIM_FAULT_REPLAY) || !open_in_the_past(call))
		open_watch(call);
	if (!call->in.watch) {
		refused(call);
		return;
	}
	if (call->rq.resource_version)
		sim_wire_told(w, call, (int64_t)kar_rv_parse(call->rq.resource_version));
	if (call->client->travelled == call->res) {
		call->client->travelled = NULL;
		hold(call);
	}
	to_be_read(call);
}

void sim_stream_arrive(struct kar_call *call)
{
	if (call->rq.verb == KAR_LIST)
		list(call);
	else
		watch(call);
}

/* --- in the client ------------------------------------------------------------------------------------- */

static void say_gone(struct sim_inbox *in)
{
	static const char gone[] =
		"{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
		"\"status\":\"Failure\",\"message\":\"too old resource version\",\"reason\":\"Expired\",\"code\":410}}\n";

	kar_buf_release(&in->bytes);
	in->at = 0;
	in->read_to = 0;
	kar_buf_puts(&in->bytes, gone);
	in->ended = true;
}

/* What may happen to a batch that has just come. */
static void suffer(struct kar_call *call)
{
	struct sim_wire *w = call->wire;
	struct sim_inbox *in = &call->in;

	if (sim_wire_strikes(w, call, SIM_FAULT_CUT)) {
		cut(call);
	} else if (sim_wire_strikes(w, call, SIM_FAULT_LAG)) {
		hold(call);
		in->held_events = sim_random_chance(&w->random, HALF)
			? 1 + (unsigned)sim_random_below(&w->random, HOLD_EVENTS)
			: 0;
	} else if (sim_wire_strikes(w, call, SIM_FAULT_SKIP)) {
		hold(call);
		in->skip = true;
	}
}

static bool selects(const struct kar_call *call, const struct sim_value *object)
{
	struct kar_err err;
	struct sim_selector *labels = sim_label_selector_new(call->rq.label_selector, &err);
	bool is = labels && sim_label_selector_matches(labels, sim_get(object, "metadata", "labels"));

	sim_selector_free(labels);
	return is;
}

/* Is the object of the event there now, for this watch? What is gone must not come back to life for good. */
static bool still_exists(const struct kar_call *call, const struct sim_value *object)
{
	const struct sim_value *there = sim_apiserver_peek(call->wire->server, call->rq.group,
		call->rq.resource, sim_get_text(object, "metadata", "namespace"),
		sim_text_or(sim_get(object, "metadata", "name"), ""));

	return there && sim_equal(sim_get(there, "metadata", "uid"), sim_get(object, "metadata", "uid")) &&
		selects(call, there);
}

/* What a watch that has gone back in time says again: of the event that begins at @at, nothing but an older version is left. */
static void replay(struct kar_call *call, size_t at)
{
	struct sim_inbox *in = &call->in;
	struct kar_err err;
	struct sim_value *event = sim_parse(in->bytes.p + at, in->bytes.n - at, &err);
	const struct sim_value *object = sim_member(event, "object");
	const char *version = sim_text_or(sim_get(object, "metadata", "resourceVersion"), "0");

	if ((int64_t)kar_rv_parse(version) > in->replay_to)
		in->replay_to = 0;
	else if (!still_exists(call, object))
		in->bytes.n = at;
	sim_unref(event);
}

/* Takes what there is, up to a batch; how many events. */
static unsigned take(struct kar_call *call)
{
	struct sim_inbox *in = &call->in;
	enum sim_watch_state state = SIM_WATCH_EVENT;
	unsigned n = 0;

	if (in->ended)
		return 0;
	while (n < BATCH && state == SIM_WATCH_EVENT) {
		size_t at = in->bytes.n;

		state = sim_watch_read(in->watch, &in->bytes);
		n += state == SIM_WATCH_EVENT;
		if (state == SIM_WATCH_EVENT && in->replay_to)
			replay(call, at);
		sim_garble(&in->bytes, at);
	}
	in->read_to = state == SIM_WATCH_DRY ? sim_apiserver_rv(call->wire->server) : 0;
	in->ended = state == SIM_WATCH_ENDED;
	if (state == SIM_WATCH_EVENT)
		in->poll = true;
	return n;
}

static void refill(struct kar_call *call)
{
	bool replays = call->in.replay_to != 0;

	kar_buf_clear(&call->in.bytes);
	call->in.at = 0;
	call->in.poll = false;
	take(call);
	if (call->in.bytes.n && replays && sim_random_chance(&call->wire->random, HALF))
		cut(call);
	else if (call->in.bytes.n)
		suffer(call);
}

/* One that is held until enough events have come counts them. */
static void count_events(struct kar_call *call)
{
	struct sim_inbox *in = &call->in;
	unsigned n = take(call);

	in->held_events = n < in->held_events ? in->held_events - n : 0;
	if (!in->held_events)
		in->held_until = 0;
}

/* True: not yet. */
static bool is_held(struct kar_call *call)
{
	struct sim_inbox *in = &call->in;

	if (in->held_until && in->held_events)
		count_events(call);
	if (!in->held_until)
		return false;
	if (now(call) < in->held_until) {
		kar_timer_start(call->timer, in->held_until - now(call));
		return true;
	}
	in->held_until = 0;
	in->held_events = 0;
	return false;
}

static size_t piece(struct kar_call *call)
{
	struct sim_inbox *in = &call->in;
	size_t n = in->bytes.n - in->at;

	if (n < 2 || !sim_wire_strikes(call->wire, call, SIM_FAULT_CHUNKS))
		return n;
	return 1 + sim_random_below(&call->wire->random, n - 1);
}

static void end_stream(struct kar_call *call)
{
	const struct kar_answer done = { .status = 200, .uid = "" };

	if (call->failed)
		sim_call_end(call, NULL, &call->err);
	else
		sim_call_end(call, &done, NULL);
}

static void refuse_bytes(struct kar_call *call)
{
	struct kar_err err;
	char *what = sim_call_what(call);

	kar_fail(&err, KAR_INVALID, "%s: the response was refused by its receiver", what);
	free(what);
	sim_call_end(call, NULL, &err);
}

/* What was left unread rings no bell. */
static void poll_again(struct kar_call *call)
{
	call->in.poll = false;
	kar_timer_start(call->timer, 0);
}

static void deliver(struct kar_call *call)
{
	struct sim_inbox *in = &call->in;
	size_t n = piece(call);
	int rc = 0;

	call->busy = true;
	if (n && call->on_data)
		rc = call->on_data(call->arg, in->bytes.p + in->at, n);
	call->busy = false;
	in->at += n;
	if (!call->cancelled && !rc && in->at == in->bytes.n && in->read_to)
		sim_wire_told(call->wire, call, in->read_to);
	if (call->cancelled)
		sim_call_free(call);
	else if (rc)
		refuse_bytes(call);
	else if (in->at < in->bytes.n)
		kar_timer_start(call->timer, 1);
	else if (in->ended)
		end_stream(call);
	else if (in->poll)
		poll_again(call);
}

static void tell_begun(struct kar_call *call)
{
	void (*on_begun)(void *arg) = call->on_begun;

	call->on_begun = NULL;
	if (on_begun)
		on_begun(call->arg);
}

void sim_stream_read(struct kar_call *call)
{
	struct sim_inbox *in = &call->in;

	tell_begun(call);
	if (is_held(call))
		return;
	if (in->skip)
		say_gone(in);
	else if (in->at == in->bytes.n && in->watch && !in->ended)
		refill(call);
	if (is_held(call))
		return;
	deliver(call);
}
