#include <stdio.h>
#include <stdlib.h>

#include "common/base/mem.h"
#include "sim/client_sim_impl.h"

enum {
	OCCASIONS = 10000, /* rates are of so many */
	WAY_MIN = 1,
	WAY_MAX = 3, /* ms */
	SLOW_WAY_MIN = 200,
	SLOW_WAY_MAX = 8000,
	SLOW_MIN = 5000,
	SLOW_MAX = 60000,
	PAST_STEP = 1000, /* ms between two versions that are remembered */
};

struct sim_wire *sim_wire_new(struct sim_apiserver *s, uint64_t seed, const struct sim_faults *faults)
{
	struct sim_wire *w = kar_xcalloc(1, sizeof(*w));

	w->server = s;
	w->timeline = sim_apiserver_timeline(s);
	w->faults = *faults;
	w->random = sim_random_of(seed, "wire");
	TAILQ_INIT(&w->orphans);
	return w;
}

void sim_wire_free(struct sim_wire *w)
{
	struct kar_call *call;

	if (!w)
		return;
	while ((call = TAILQ_FIRST(&w->orphans)) != NULL) {
		TAILQ_REMOVE(&w->orphans, call, link);
		sim_call_free(call);
	}
	free(w);
}

void sim_wire_calm(struct sim_wire *w)
{
	w->faults = (struct sim_faults){ 0 };
	w->slow_until = 0;
}

void sim_wire_disturb(struct sim_wire *w, const struct sim_faults *faults)
{
	w->faults = *faults;
}

void sim_wire_observe(struct sim_wire *w, const struct sim_wire_observer *o)
{
	w->observer = *o;
}

struct sim_wire_stats sim_wire_stats(const struct sim_wire *w)
{
	return w->stats;
}

void sim_wire_tell(struct sim_wire *w, const struct kar_call *call, enum sim_fault f)
{
	struct kar_client *client = call->client ? &call->client->base : NULL;

	w->stats.struck[f]++;
	if (w->observer.struck)
		w->observer.struck(w->observer.arg, client, f, &call->rq);
}

void sim_wire_told(struct sim_wire *w, const struct kar_call *call, int64_t rv)
{
	if (w->observer.told && call->client)
		w->observer.told(w->observer.arg, call->client->user, call->rq.resource, rv);
}

bool sim_wire_draws(struct sim_wire *w, enum sim_fault f)
{
	return w->faults.rate[f] && sim_random_below(&w->random, OCCASIONS) < w->faults.rate[f];
}

bool sim_wire_strikes(struct sim_wire *w, const struct kar_call *call, enum sim_fault f)
{
	if (!sim_wire_draws(w, f))
		return false;
	sim_wire_tell(w, call, f);
	return true;
}

kar_time sim_wire_way(struct sim_wire *w)
{
	if (sim_timeline_mono(w->timeline) < w->slow_until)
		return sim_random_between(&w->random, SLOW_WAY_MIN, SLOW_WAY_MAX);
	return sim_random_between(&w->random, WAY_MIN, WAY_MAX);
}

void sim_wire_slow_down(struct sim_wire *w)
{
	w->slow_until = sim_timeline_mono(w->timeline) + sim_random_between(&w->random, SLOW_MIN, SLOW_MAX);
}

/* --- the past ------------------------------------------------------------------------------------------ */

static void remember(struct sim_wire *w)
{
	kar_time now = sim_timeline_mono(w->timeline);
	size_t newest = (w->n_past - 1) % SIM_PAST;

	if (w->n_past && now - w->past[newest].at < PAST_STEP)
		return;
	w->past[w->n_past % SIM_PAST].at = now;
	w->past[w->n_past % SIM_PAST].rv = sim_apiserver_rv(w->server);
	w->n_past++;
}

int64_t sim_wire_version_of(const struct sim_wire *w, kar_time ago)
{
	size_t oldest = w->n_past > SIM_PAST ? w->n_past - SIM_PAST : 0;
	int64_t rv = 0;

	for (size_t i = oldest; i < w->n_past; i++) {
		if (w->past[i % SIM_PAST].at > sim_timeline_mono(w->timeline) - ago)
			break;
		rv = w->past[i % SIM_PAST].rv;
	}
	return rv;
}

/* --- execution ----------------------------------------------------------------------------------------- */

void sim_wire_execute(struct sim_wire *w, struct kar_call *call)
{
	sim_response_release(&call->response);
	call->response = (struct sim_response){ 0 };
	w->stats.requests++;
	sim_apiserver_call(w->server, &call->rq, &call->response);
	remember(w);
	if (w->observer.executed)
		w->observer.executed(w->observer.arg, call->rq.user, &call->rq, &call->response);
}

static void on_orphan_arrived(void *arg)
{
	struct kar_call *call = arg;
	struct sim_wire *w = call->wire;

	TAILQ_REMOVE(&w->orphans, call, link);
	sim_wire_execute(w, call);
	sim_call_free(call);
}

void sim_wire_orphan(struct sim_wire *w, const struct kar_call *call, kar_time after)
{
	struct kar_call *orphan = kar_xcalloc(1, sizeof(*orphan));

	orphan->wire = w;
	orphan->res = call->res;
	sim_call_copy_request(orphan, &call->rq);
	orphan->alarm = sim_alarm_new(w->timeline, on_orphan_arrived, orphan);
	TAILQ_INSERT_TAIL(&w->orphans, orphan, link);
	sim_alarm_start(orphan->alarm, after);
}
