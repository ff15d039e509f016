/*
 * sim_client_world - an API server, its wire and a client in virtual time; calls, and what became of them. For one test
 * executable: all functions are static. Include after cmocka.h.
 */
#ifndef KAR_TEST_SIM_CLIENT_WORLD_H
#define KAR_TEST_SIM_CLIENT_WORLD_H

#include <stdio.h>
#include <string.h>

#include "common/base/buf.h"
#include "sim/client_sim.h"
#include "sim/virtual_loop.h"

enum { ALWAYS = 10000, SEEDS = 20 };
static const kar_time wall = 1795268787000; /* 2026-11-21T13:46:27Z */

static const struct kar_resource configmaps = { .group = "",
	.version = "v1",
	.plural = "configmaps",
	.kind = "ConfigMap",
	.namespaced = true };

struct world {
	struct sim_timeline *timeline;
	struct sim_apiserver *server;
	struct sim_wire *wire;
	struct kar_loop *loop;
	struct kar_client *client;
	unsigned executed, struck, sent, heard;
	int64_t told; /* -1: nothing yet */
	enum sim_fault last;
	bool once; /* calm after the first fault */
};

static KAR_UNUSED void on_executed(void *arg, const char *user, const struct sim_request *rq KAR_UNUSED,
	const struct sim_response *answer KAR_UNUSED)
{
	struct world *w = arg;

	assert_string_equal(user, "tester");
	w->executed++;
}

static KAR_UNUSED void on_struck(void *arg, struct kar_client *c KAR_UNUSED, enum sim_fault f,
	const struct sim_request *rq KAR_UNUSED)
{
	struct world *w = arg;

	w->struck++;
	w->last = f;
	if (w->once)
		sim_wire_calm(w->wire);
}

static KAR_UNUSED void on_sent(void *arg, const char *user KAR_UNUSED,
	const struct sim_request *rq KAR_UNUSED)
{
	struct world *w = arg;

	w->sent++;
}

static KAR_UNUSED void on_heard(void *arg, const char *user KAR_UNUSED,
	const struct sim_request *rq KAR_UNUSED, const struct sim_response *answer)
{
	struct world *w = arg;

	w->heard += answer->code < 300;
}

static KAR_UNUSED void on_told(void *arg, const char *user, const char *resource, int64_t rv)
{
	struct world *w = arg;

	assert_string_equal(user, "tester");
	assert_string_equal(resource, "configmaps");
	w->told = rv;
}

static KAR_UNUSED void set_up(struct world *w, uint64_t seed, enum sim_fault fault, unsigned rate)
{
	const struct sim_apiserver_options server = { .seed = seed };
	const struct sim_wire_observer observer = { .sent = on_sent,
		.told = on_told,
		.heard = on_heard,
		.executed = on_executed,
		.struck = on_struck,
		.arg = w };
	struct sim_faults faults = { 0 };

	*w = (struct world){ .last = SIM_FAULT_NONE, .told = -1 };
	if (fault != SIM_FAULT_NONE)
		faults.rate[fault] = rate;
	w->timeline = sim_timeline_new(wall);
	w->server = sim_apiserver_new(w->timeline, &server);
	w->wire = sim_wire_new(w->server, seed, &faults);
	sim_wire_observe(w->wire, &observer);
	w->loop = sim_loop_new(w->timeline);
	w->client = sim_client_new(w->loop, w->wire, "tester");
}

static KAR_UNUSED void tear_down(struct world *w)
{
	kar_client_free(w->client);
	kar_loop_free(w->loop);
	sim_wire_free(w->wire);
	sim_apiserver_free(w->server);
	sim_timeline_free(w->timeline);
}

static KAR_UNUSED void run(struct world *w, kar_time ms)
{
	sim_timeline_run(w->timeline, sim_timeline_mono(w->timeline) + ms);
}

struct outcome {
	struct world *w;
	int done;
	int status;
	kar_rv rv;
	char uid[64], body[2048];
	struct kar_err err;
	kar_time at;
	struct kar_buf stream;
	bool refuse, cancel;
	struct kar_call *call;
};

static KAR_UNUSED void on_done(void *arg, const struct kar_answer *answer, const struct kar_err *err)
{
	struct outcome *o = arg;

	o->done++;
	o->at = kar_loop_mono(o->w->loop);
	o->call = NULL;
	if (err) {
		o->err = *err;
		return;
	}
	o->status = answer->status;
	o->rv = answer->rv;
	snprintf(o->uid, sizeof(o->uid), "%s", answer->uid);
	snprintf(o->body, sizeof(o->body), "%.*s", (int)answer->body.n, answer->body.p ? answer->body.p : "");
}

static KAR_UNUSED int on_data(void *arg, const char *bytes, size_t n)
{
	struct outcome *o = arg;

	kar_buf_append(&o->stream, bytes, n);
	if (o->cancel) {
		kar_client_cancel(o->w->client, o->call);
		o->call = NULL;
	}
	return o->refuse ? -1 : 0;
}

static KAR_UNUSED void start(struct world *w, struct outcome *o, struct kar_request rq)
{
	kar_time before = kar_loop_mono(w->loop);

	*o = (struct outcome){ .w = w, .refuse = o->refuse, .cancel = o->cancel };
	rq.on_data = on_data;
	rq.on_done = on_done;
	rq.arg = o;
	o->call = kar_client_start(w->client, &rq);
	assert_int_equal(o->done, 0); /* never from inside start */
	assert_int_equal(kar_loop_mono(w->loop), before);
}

static KAR_UNUSED struct kar_str text(const char *s)
{
	return (struct kar_str){ s, strlen(s) };
}

static KAR_UNUSED struct kar_request create(const char *name)
{
	static char body[256];

	snprintf(body, sizeof(body),
		"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"%s\"},\"data\":{\"a\":\"1\"}}",
		name);
	return kar_client_create(&configmaps, "default", text(body));
}

static KAR_UNUSED struct kar_request update_data(const char *name, const char *value)
{
	static char body[128];

	snprintf(body, sizeof(body), "{\"data\":{\"a\":\"%s\"}}", value);
	return kar_client_patch(&configmaps, "default", name, KAR_PATCH_MERGE, text(body));
}

static KAR_UNUSED bool exists(struct world *w, const char *name)
{
	const struct sim_request rq = { .verb = KAR_GET,
		.group = "",
		.version = "v1",
		.resource = "configmaps",
		.ns = "default",
		.name = name };
	struct sim_response r;
	bool found;

	sim_apiserver_call(w->server, &rq, &r);
	found = r.code == 200;
	sim_response_release(&r);
	return found;
}

/* Without the wire: now. */
static KAR_UNUSED void write_now(struct world *w, struct kar_request rq)
{
	const struct sim_request direct = { .verb = rq.verb,
		.group = "",
		.version = "v1",
		.resource = "configmaps",
		.ns = "default",
		.name = rq.name,
		.patch_type = rq.patch_type,
		.body = rq.body };
	struct sim_response r;

	sim_apiserver_call(w->server, &direct, &r);
	if (r.code >= 300)
		fail_msg("direct write was answered %d", r.code);
	sim_response_release(&r);
}

#endif
