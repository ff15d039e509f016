/* The in-process client: what it answers, and what each fault looks like to who called it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/mem.h"
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

static void on_executed(void *arg, const char *user, const struct sim_request *rq KAR_UNUSED,
	const struct sim_response *answer KAR_UNUSED)
{
	struct world *w = arg;

	assert_string_equal(user, "tester");
	w->executed++;
}

static void on_struck(void *arg, struct kar_client *c KAR_UNUSED, enum sim_fault f,
	const struct sim_request *rq KAR_UNUSED)
{
	struct world *w = arg;

	w->struck++;
	w->last = f;
	if (w->once)
		sim_wire_calm(w->wire);
}

static void on_sent(void *arg, const char *user KAR_UNUSED, const struct sim_request *rq KAR_UNUSED)
{
	struct world *w = arg;

	w->sent++;
}

static void on_heard(void *arg, const char *user KAR_UNUSED, const struct sim_request *rq KAR_UNUSED,
	const struct sim_response *answer)
{
	struct world *w = arg;

	w->heard += answer->code < 300;
}

static void on_told(void *arg, const char *user, const char *resource, int64_t rv)
{
	struct world *w = arg;

	assert_string_equal(user, "tester");
	assert_string_equal(resource, "configmaps");
	w->told = rv;
}

static void set_up(struct world *w, uint64_t seed, enum sim_fault fault, unsigned rate)
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

static void tear_down(struct world *w)
{
	kar_client_free(w->client);
	kar_loop_free(w->loop);
	sim_wire_free(w->wire);
	sim_apiserver_free(w->server);
	sim_timeline_free(w->timeline);
}

static void run(struct world *w, kar_time ms)
{
	sim_timeline_run(w->timeline, sim_timeline_mono(w->timeline) + ms);
}

/* --- one call ------------------------------------------------------------------------------------------ */

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

static void on_done(void *arg, const struct kar_answer *answer, const struct kar_err *err)
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

static int on_data(void *arg, const char *bytes, size_t n)
{
	struct outcome *o = arg;

	kar_buf_append(&o->stream, bytes, n);
	if (o->cancel) {
		kar_client_cancel(o->w->client, o->call);
		o->call = NULL;
	}
	return o->refuse ? -1 : 0;
}

static void start(struct world *w, struct outcome *o, struct kar_request rq)
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

static struct kar_str text(const char *s)
{
	return (struct kar_str){ s, strlen(s) };
}

static struct kar_request create(const char *name)
{
	static char body[256];

	snprintf(body, sizeof(body),
		"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"%s\"},\"data\":{\"a\":\"1\"}}",
		name);
	return kar_client_create(&configmaps, "default", text(body));
}

static struct kar_request update_data(const char *name, const char *value)
{
	static char body[128];

	snprintf(body, sizeof(body), "{\"data\":{\"a\":\"%s\"}}", value);
	return kar_client_patch(&configmaps, "default", name, KAR_PATCH_MERGE, text(body));
}

static bool exists(struct world *w, const char *name)
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
static void write_now(struct world *w, struct kar_request rq)
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

static void when_a_call_goes_well_then_the_answer_has_object_version_and_uid(void **state KAR_UNUSED)
{
	struct world w;
	struct outcome o = { 0 };

	set_up(&w, 1, SIM_FAULT_NONE, 0);
	start(&w, &o, create("a"));
	run(&w, 100);
	assert_int_equal(o.done, 1);
	assert_int_equal(o.status, 201);
	assert_true(o.rv > 0);
	assert_int_equal(strlen(o.uid), 36);
	assert_non_null(strstr(o.body, "\"name\":\"a\""));

	kar_rv created = o.rv;

	start(&w, &o, kar_client_get(&configmaps, "default", "a"));
	run(&w, 100);
	assert_int_equal(o.status, 200);
	assert_int_equal(o.rv, created);
	tear_down(&w);
}

static void when_the_server_refuses_then_the_error_is_that_of_the_http_client(void **state KAR_UNUSED)
{
	struct world w;
	struct outcome o = { 0 };

	set_up(&w, 1, SIM_FAULT_NONE, 0);
	start(&w, &o, kar_client_get(&configmaps, "default", "b"));
	run(&w, 100);
	assert_int_equal(o.done, 1);
	assert_int_equal(o.err.what, KAR_NOTFOUND);
	assert_int_equal(o.err.http, 404);
	assert_string_equal(o.err.reason, "NotFound");
	assert_string_equal(o.err.msg, "get configmaps default/b: configmaps \"b\" not found");

	write_now(&w, create("a"));
	start(&w, &o, create("a"));
	run(&w, 100);
	assert_int_equal(o.err.what, KAR_EXISTS);
	tear_down(&w);
}

/* --- faults of one call -------------------------------------------------------------------------------- */

/* What a create sees while @fault strikes always. @executed: how often the server did it, at the least and at most. */
static const struct {
	const char *name;
	enum sim_fault fault;
	enum kar_class either, or ;
	int http;
	unsigned low, high;
	bool late; /* it is there only after the client gave up */
} rows[] = {
	{ "lost", SIM_FAULT_LOST, KAR_UNKNOWN, KAR_RETRY, 0, 0, 0, false },
	{ "reply lost", SIM_FAULT_REPLY, KAR_UNKNOWN, KAR_UNKNOWN, 0, 1, 1, false },
	{ "late", SIM_FAULT_LATE, KAR_UNKNOWN, KAR_UNKNOWN, 0, 1, 1, true },
	{ "conflict", SIM_FAULT_CONFLICT, KAR_CONFLICT, KAR_CONFLICT, 409, 0, 0, false },
	{ "throttled", SIM_FAULT_THROTTLED, KAR_RETRY, KAR_RETRY, 429, 0, 0, false },
	{ "error", SIM_FAULT_ERROR, KAR_UNKNOWN, KAR_UNKNOWN, 500, 0, 1, false },
	{ "unavailable", SIM_FAULT_UNAVAILABLE, KAR_RETRY, KAR_RETRY, 503, 0, 0, false },
	{ "time-out", SIM_FAULT_TIMEOUT, KAR_UNKNOWN, KAR_UNKNOWN, 504, 0, 1, false },
	{ "twice", SIM_FAULT_TWICE, KAR_OK, KAR_EXISTS, 409, 2, 2, false },
};

static void check_row(size_t i, uint64_t seed)
{
	const char *name = rows[i].name;
	struct world w;
	struct outcome o = { 0 };
	bool there;

	set_up(&w, seed, rows[i].fault, ALWAYS);
	start(&w, &o, create("a"));
	for (int s = 0; s < 120 && !o.done; s++)
		run(&w, KAR_SECOND);
	there = w.executed > 0;
	run(&w, KAR_MINUTE);
	if (o.done != 1)
		fail_msg("%s, seed %d: answered %d times", name, (int)seed, o.done);
	if (o.err.what != rows[i].either && o.err.what != rows[i].or)
		fail_msg("%s, seed %d: %s: %s", name, (int)seed, kar_err_class_name(o.err.what), o.err.msg);
	if (o.err.what != KAR_OK && o.err.http != rows[i].http)
		fail_msg("%s, seed %d: HTTP %d: %s", name, (int)seed, o.err.http, o.err.msg);
	if (w.executed < rows[i].low || w.executed > rows[i].high || exists(&w, "a") != (w.executed > 0))
		fail_msg("%s, seed %d: executed %u times", name, (int)seed, w.executed);
	if (rows[i].late && there)
		fail_msg("%s, seed %d: it was there before the client gave up", name, (int)seed);
	if (!w.struck || w.last != rows[i].fault)
		fail_msg("%s, seed %d: told of fault %s", name, (int)seed, sim_fault_name(w.last));
	tear_down(&w);
}

static void when_a_fault_strikes_a_create_then_it_looks_as_it_would_over_http(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		for (uint64_t seed = 1; seed <= SEEDS; seed++)
			check_row(i, seed);
	}
}

static void when_throttled_once_then_the_client_waits_and_repeats_by_itself(void **state KAR_UNUSED)
{
	struct world w;
	struct outcome o = { 0 };

	set_up(&w, 3, SIM_FAULT_THROTTLED, ALWAYS);
	w.once = true;
	start(&w, &o, create("a"));
	run(&w, 30 * KAR_SECOND);
	assert_int_equal(o.status, 201);
	assert_in_range(o.at, sim_timeline_mono(w.timeline) - 29 * KAR_SECOND,
		sim_timeline_mono(w.timeline) - 20 * KAR_SECOND);
	tear_down(&w);
}

static void when_a_read_is_lost_then_it_is_harmless(void **state KAR_UNUSED)
{
	struct world w;
	struct outcome o = { 0 };

	set_up(&w, 4, SIM_FAULT_LOST, ALWAYS);
	start(&w, &o, kar_client_get(&configmaps, "default", "a"));
	run(&w, KAR_MINUTE);
	assert_int_equal(o.err.what, KAR_RETRY);
	tear_down(&w);
}

static void when_the_server_is_slow_then_a_call_takes_long(void **state KAR_UNUSED)
{
	struct world w;
	struct outcome o = { 0 };
	kar_time began;

	set_up(&w, 5, SIM_FAULT_SLOW, ALWAYS);
	began = sim_timeline_mono(w.timeline);
	start(&w, &o, create("a"));
	run(&w, KAR_MINUTE);
	assert_int_equal(o.status, 201);
	assert_in_range(o.at - began, 200, 20000);
	tear_down(&w);
}

/* --- the life of the process --------------------------------------------------------------------------- */

static void when_a_write_is_cancelled_then_it_is_executed_but_not_answered(void **state KAR_UNUSED)
{
	struct world w;
	struct outcome o = { 0 };

	set_up(&w, 6, SIM_FAULT_NONE, 0);
	start(&w, &o, create("a"));
	kar_client_cancel(w.client, o.call);
	run(&w, KAR_SECOND);
	assert_int_equal(o.done, 0);
	assert_int_equal(w.executed, 1);
	assert_true(exists(&w, "a"));
	tear_down(&w);
}

static void when_the_process_dies_then_calls_end_at_once_and_what_was_sent_arrives(void **state KAR_UNUSED)
{
	struct world w;
	struct outcome o = { 0 }, after = { 0 };

	set_up(&w, 7, SIM_FAULT_NONE, 0);
	start(&w, &o, create("a"));
	sim_client_kill(w.client);
	assert_int_equal(o.done, 1);
	assert_int_equal(o.err.what, KAR_UNKNOWN);
	start(&w, &after, create("b"));
	run(&w, KAR_MINUTE);
	assert_int_equal(o.done, 1);
	assert_int_equal(after.done, 0);
	assert_true(exists(&w, "a"));
	assert_false(exists(&w, "b"));
	tear_down(&w);
}

static void when_the_process_crashes_at_a_write_then_it_is_told_when_that_has_arrived(void **state KAR_UNUSED)
{
	unsigned done = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct world w;
		struct outcome o = { 0 };

		set_up(&w, seed, SIM_FAULT_CRASH, ALWAYS);
		start(&w, &o, create("a"));
		assert_int_equal(w.struck, 0);
		run(&w, KAR_MINUTE);
		assert_int_equal(w.struck, 1);
		assert_int_equal(o.done, 0); /* whoever is told kills it */
		assert_int_equal(exists(&w, "a"), w.executed);
		done += w.executed;
		tear_down(&w);
	}
	assert_in_range(done, 1, SEEDS - 1);
}

static void when_the_process_is_frozen_then_its_request_arrives_and_the_answer_waits(void **state KAR_UNUSED)
{
	struct world w;
	struct outcome o = { 0 };

	set_up(&w, 8, SIM_FAULT_NONE, 0);
	start(&w, &o, create("a"));
	sim_loop_freeze(w.loop);
	run(&w, KAR_SECOND);
	assert_true(exists(&w, "a"));
	assert_int_equal(o.done, 0);
	sim_loop_thaw(w.loop);
	run(&w, 1);
	assert_int_equal(o.done, 1);
	assert_int_equal(o.status, 201);
	tear_down(&w);
}

/* --- lists and watches --------------------------------------------------------------------------------- */

static unsigned count(const struct outcome *o, const char *what)
{
	unsigned n = 0;

	for (const char *p = o->stream.n ? kar_buf_cstr(&o->stream) : ""; (p = strstr(p, what)) != NULL; p++)
		n++;
	return n;
}

/* Without the one that each namespace gets. */
#define OURS "metadata.name!=kube-root-ca.crt"

static struct kar_request list(void)
{
	struct kar_request rq = kar_client_list(&configmaps, "default");

	rq.field_selector = OURS;
	return rq;
}

static struct kar_request watch(void)
{
	struct kar_request rq = kar_client_watch(&configmaps, "default", "1");

	rq.field_selector = OURS;
	rq.bookmarks = true;
	rq.timeout_seconds = 600;
	return rq;
}

static void when_listed_then_the_bytes_are_the_list(void **state KAR_UNUSED)
{
	struct world w;
	struct outcome o = { 0 };

	set_up(&w, 9, SIM_FAULT_CHUNKS, ALWAYS);
	write_now(&w, create("a"));
	write_now(&w, create("b"));
	start(&w, &o, list());
	run(&w, KAR_MINUTE);
	assert_int_equal(o.done, 1);
	assert_int_equal(o.status, 200);
	assert_int_equal(count(&o, "ConfigMapList"), 1);
	assert_int_equal(count(&o, "\"data\""), 2);
	kar_buf_release(&o.stream);
	tear_down(&w);
}

static void when_watched_then_events_come_in_order_and_the_server_ends_it(void **state KAR_UNUSED)
{
	struct world w;
	struct outcome o = { 0 };

	set_up(&w, 10, SIM_FAULT_CHUNKS, ALWAYS / 2);
	start(&w, &o, watch());
	run(&w, KAR_SECOND);
	for (int i = 0; i < 20; i++) {
		char value[16];

		snprintf(value, sizeof(value), "v%d", i);
		write_now(&w, i ? update_data("a", value) : create("a"));
		run(&w, i % 3);
	}
	run(&w, KAR_SECOND);
	assert_int_equal(count(&o, "ADDED"), 1);
	assert_int_equal(count(&o, "MODIFIED"), 19);
	assert_int_equal(o.done, 0);
	run(&w, 11 * KAR_MINUTE);
	assert_int_equal(o.done, 1);
	assert_int_equal(o.status, 200);
	assert_true(count(&o, "BOOKMARK") > 0);
	kar_buf_release(&o.stream);
	tear_down(&w);
}

/* A watch during which @n changes happen under one fault. */
static void watch_under(struct world *w, struct outcome *o, uint64_t seed, enum sim_fault f, int n)
{
	set_up(w, seed, f, ALWAYS);
	start(w, o, watch());
	run(w, KAR_SECOND);
	write_now(w, create("a"));
	for (int i = 0; i < n; i++) {
		char value[16];

		snprintf(value, sizeof(value), "v%d", i);
		write_now(w, update_data("a", value));
	}
}

static void finish_watch(struct world *w, struct outcome *o)
{
	kar_client_cancel(w->client, o->call);
	kar_buf_release(&o->stream);
	tear_down(w);
}

static void when_a_watch_is_cut_then_what_came_is_a_beginning_of_what_happened(void **state KAR_UNUSED)
{
	unsigned broken = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct world w;
		struct outcome o = { 0 };

		watch_under(&w, &o, seed, SIM_FAULT_CUT, 3);
		run(&w, KAR_MINUTE);
		assert_int_equal(o.done, 1);
		assert_true(count(&o, "\n") <= 4);
		assert_true(o.err.what == KAR_OK || o.err.what == KAR_RETRY);
		if (o.err.what == KAR_OK)
			assert_int_equal(count(&o, "\n"), 4);
		broken += o.err.what != KAR_OK;
		finish_watch(&w, &o);
	}
	assert_in_range(broken, 1, SEEDS - 1);
}

static void when_a_watch_lags_then_the_events_come_later_and_complete(void **state KAR_UNUSED)
{
	unsigned late = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct world w;
		struct outcome o = { 0 };

		watch_under(&w, &o, seed, SIM_FAULT_LAG, 3);
		w.once = true;
		run(&w, 50);
		late += count(&o, "\n") == 0;
		run(&w, 3 * KAR_MINUTE);
		if (count(&o, "ADDED") != 1 || count(&o, "MODIFIED") != 3)
			fail_msg("seed %d: %s", (int)seed, kar_buf_cstr(&o.stream));
		finish_watch(&w, &o);
	}
	assert_int_equal(late, SEEDS);
}

static void when_a_watch_skips_then_it_ends_with_gone_instead_of_the_events(void **state KAR_UNUSED)
{
	struct world w;
	struct outcome o = { 0 };

	watch_under(&w, &o, 11, SIM_FAULT_SKIP, 3);
	run(&w, 3 * KAR_MINUTE);
	assert_int_equal(o.done, 1);
	assert_int_equal(count(&o, "MODIFIED"), 0);
	assert_int_equal(count(&o, "ERROR"), 1);
	assert_int_equal(count(&o, "\"code\":410"), 1);
	finish_watch(&w, &o);
}

static void when_a_watch_is_silent_then_no_bookmarks_come(void **state KAR_UNUSED)
{
	struct world w;
	struct outcome o = { 0 };

	watch_under(&w, &o, 12, SIM_FAULT_SILENT, 0);
	run(&w, 5 * KAR_MINUTE);
	assert_int_equal(count(&o, "ADDED"), 1);
	assert_int_equal(count(&o, "BOOKMARK"), 0);
	finish_watch(&w, &o);
}

static void when_a_first_list_travels_then_it_shows_the_past(void **state KAR_UNUSED)
{
	struct world w;
	struct outcome o = { 0 };
	unsigned old = 0;

	set_up(&w, 13, SIM_FAULT_TRAVEL, ALWAYS);
	for (int i = 0; i < 90; i++) { /* the wire learns versions from what passes */
		start(&w, &o, i ? update_data("a", "2") : create("a"));
		run(&w, KAR_SECOND);
	}
	start(&w, &o, create("new"));
	run(&w, KAR_SECOND);
	start(&w, &o, list());
	run(&w, KAR_SECOND);
	old = count(&o, "\"name\":\"new\"") == 0;
	assert_int_equal(o.status, 200);
	assert_int_equal(count(&o, "\"name\":\"a\""), 1);
	kar_buf_release(&o.stream);
	assert_int_equal(old, 1);
	tear_down(&w);
}

/* A watch at the latest version, after a minute in which "a" has changed each second and "gone" came and went. */
static void replay(uint64_t seed, struct world *w, struct outcome *o)
{
	struct kar_request rq = watch();
	char position[24];

	set_up(w, seed, SIM_FAULT_REPLAY, ALWAYS);
	for (int i = 0; i < 70; i++) {
		start(w, o, i ? update_data("a", i % 2 ? "2" : "3") : create("a"));
		run(w, KAR_SECOND);
		if (i == 20)
			write_now(w, create("gone"));
	}
	write_now(w, kar_client_delete(&configmaps, "default", "gone", text("{}")));
	snprintf(position, sizeof(position), "%lld", (long long)sim_apiserver_rv(w->server));
	rq.resource_version = position;
	start(w, o, rq);
	run(w, KAR_SECOND);
}

static void when_a_watch_replays_then_older_versions_of_what_exists_come_again(void **state KAR_UNUSED)
{
	unsigned again = 0, whole = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct world w;
		struct outcome o = { 0 };

		replay(seed, &w, &o);
		again += count(&o, "\"type\":\"MODIFIED\"") > 0;
		assert_int_equal(count(&o, "\"gone\""), 0); /* neither as it was nor that it went */
		assert_true(w.told >= sim_apiserver_rv(w.server));
		whole += o.done == 0; /* the others end in the middle of it */
		finish_watch(&w, &o);
	}
	assert_in_range(again, SEEDS / 2, SEEDS);
	assert_in_range(whole, 1, SEEDS - 1);
}

/* --- who watches the wire ------------------------------------------------------------------------------- */

static void when_a_client_lists_and_watches_then_it_is_known_what_it_was_told(void **state KAR_UNUSED)
{
	struct world w;
	struct outcome o = { 0 };

	set_up(&w, 3, SIM_FAULT_NONE, 0);
	start(&w, &o, list());
	assert_int_equal(w.told, 0);
	run(&w, KAR_SECOND);
	assert_int_equal(w.told, 0); /* a list alone tells nothing: its client may refuse it */
	kar_buf_release(&o.stream);
	start(&w, &o, watch());
	run(&w, KAR_SECOND);
	assert_true(w.told > 0);
	write_now(&w, create("a"));
	assert_true(w.told < sim_apiserver_rv(w.server));
	run(&w, KAR_SECOND);
	assert_true(w.told == sim_apiserver_rv(w.server));
	finish_watch(&w, &o);
}

static void when_a_call_is_throttled_then_it_was_sent_once_and_heard_once(void **state KAR_UNUSED)
{
	struct world w;
	struct outcome o = { 0 };

	set_up(&w, 4, SIM_FAULT_THROTTLED, ALWAYS);
	w.once = true;
	start(&w, &o, create("a"));
	assert_int_equal(w.sent, 1);
	run(&w, KAR_MINUTE);
	assert_int_equal(o.status, 201);
	assert_int_equal(w.sent, 1);
	assert_int_equal(w.heard, 1);
	tear_down(&w);
}

static void when_history_is_compacted_then_an_old_watch_is_refused(void **state KAR_UNUSED)
{
	struct world w;
	struct outcome o = { 0 };

	set_up(&w, 14, SIM_FAULT_COMPACT, ALWAYS);
	write_now(&w, create("a"));
	run(&w, KAR_SECOND);
	start(&w, &o, watch());
	run(&w, KAR_SECOND);
	assert_true(o.err.what == KAR_GONE || count(&o, "\"code\":410") == 1);
	kar_client_cancel(w.client, o.call);
	kar_buf_release(&o.stream);
	tear_down(&w);
}

static void when_the_receiver_refuses_or_cancels_then_the_stream_ends(void **state KAR_UNUSED)
{
	struct world w;
	struct outcome o = { .refuse = true };

	set_up(&w, 15, SIM_FAULT_NONE, 0);
	write_now(&w, create("a"));
	start(&w, &o, list());
	run(&w, KAR_SECOND);
	assert_int_equal(o.done, 1);
	assert_int_equal(o.err.what, KAR_INVALID);
	kar_buf_release(&o.stream);

	o = (struct outcome){ .cancel = true };
	start(&w, &o, watch());
	run(&w, KAR_SECOND);
	write_now(&w, update_data("a", "2"));
	run(&w, KAR_MINUTE);
	assert_int_equal(o.done, 0);
	assert_null(o.call);
	assert_true(o.stream.n > 0);
	kar_buf_release(&o.stream);
	tear_down(&w);
}

/* --- determinism, names -------------------------------------------------------------------------------- */

/* When everything was answered, in one number. */
static uint64_t transcript(uint64_t seed)
{
	struct world w;
	struct outcome o[8] = { { 0 } };
	uint64_t hash = 0;

	set_up(&w, seed, SIM_FAULT_TWICE, ALWAYS / 2);
	for (size_t i = 0; i < KAR_LEN(o); i++)
		start(&w, &o[i], i % 2 ? update_data("a", "3") : create("a"));
	run(&w, KAR_MINUTE);
	for (size_t i = 0; i < KAR_LEN(o); i++)
		hash = hash * 31 + (uint64_t)o[i].at * 7 + (uint64_t)o[i].err.what;
	tear_down(&w);
	return hash;
}

static void when_the_seed_is_the_same_then_so_is_everything(void **state KAR_UNUSED)
{
	assert_int_equal(transcript(1), transcript(1));
	assert_int_not_equal(transcript(1), transcript(2));
}

static void when_faults_are_named_then_the_set_has_them(void **state KAR_UNUSED)
{
	static const struct {
		const char *text;
		int rc;
		uint32_t set;
	} names[] = {
		{ "none", 0, 0 },
		{ "all", 0, SIM_FAULTS_ALL },
		{ "lost", 0, 1u << SIM_FAULT_LOST },
		{ "cut,crash", 0, 1u << SIM_FAULT_CUT | 1u << SIM_FAULT_CRASH },
		{ "all,-clock", 0, SIM_FAULTS_ALL & ~(1u << SIM_FAULT_CLOCK) },
		{ "", -1, 77 },
		{ "cut,", -1, 77 },
		{ "cuts", -1, 77 },
		{ "-", -1, 77 },
	};

	for (size_t i = 0; i < KAR_LEN(names); i++) {
		struct kar_err err = { 0 };
		uint32_t set = 77;
		int rc = sim_faults_parse(names[i].text, &set, &err);

		if (rc != names[i].rc || set != names[i].set)
			fail_msg("\"%s\": %d, set %x, %s", names[i].text, rc, (unsigned)set, err.msg);
	}
}

static void when_a_plan_is_drawn_then_only_allowed_faults_are_in_it(void **state KAR_UNUSED)
{
	struct sim_faults all = sim_faults_draw(7, SIM_FAULTS_ALL),
			  some = sim_faults_draw(7, 1u << SIM_FAULT_CUT);
	unsigned on = 0;

	for (enum sim_fault f = 0; f < SIM_FAULT_COUNT; f++) {
		on += all.rate[f] > 0;
		assert_int_equal(some.rate[f], f == SIM_FAULT_CUT ? all.rate[f] : 0);
	}
	assert_in_range(on, 1, SIM_FAULT_COUNT - 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(when_a_call_goes_well_then_the_answer_has_object_version_and_uid),
		cmocka_unit_test(when_the_server_refuses_then_the_error_is_that_of_the_http_client),
		cmocka_unit_test(when_a_fault_strikes_a_create_then_it_looks_as_it_would_over_http),
		cmocka_unit_test(when_throttled_once_then_the_client_waits_and_repeats_by_itself),
		cmocka_unit_test(when_a_read_is_lost_then_it_is_harmless),
		cmocka_unit_test(when_the_server_is_slow_then_a_call_takes_long),
		cmocka_unit_test(when_a_write_is_cancelled_then_it_is_executed_but_not_answered),
		cmocka_unit_test(when_the_process_dies_then_calls_end_at_once_and_what_was_sent_arrives),
		cmocka_unit_test(when_the_process_crashes_at_a_write_then_it_is_told_when_that_has_arrived),
		cmocka_unit_test(when_the_process_is_frozen_then_its_request_arrives_and_the_answer_waits),
		cmocka_unit_test(when_listed_then_the_bytes_are_the_list),
		cmocka_unit_test(when_watched_then_events_come_in_order_and_the_server_ends_it),
		cmocka_unit_test(when_a_watch_is_cut_then_what_came_is_a_beginning_of_what_happened),
		cmocka_unit_test(when_a_watch_lags_then_the_events_come_later_and_complete),
		cmocka_unit_test(when_a_watch_skips_then_it_ends_with_gone_instead_of_the_events),
		cmocka_unit_test(when_a_watch_is_silent_then_no_bookmarks_come),
		cmocka_unit_test(when_a_first_list_travels_then_it_shows_the_past),
		cmocka_unit_test(when_a_watch_replays_then_older_versions_of_what_exists_come_again),
		cmocka_unit_test(when_a_client_lists_and_watches_then_it_is_known_what_it_was_told),
		cmocka_unit_test(when_a_call_is_throttled_then_it_was_sent_once_and_heard_once),
		cmocka_unit_test(when_history_is_compacted_then_an_old_watch_is_refused),
		cmocka_unit_test(when_the_receiver_refuses_or_cancels_then_the_stream_ends),
		cmocka_unit_test(when_the_seed_is_the_same_then_so_is_everything),
		cmocka_unit_test(when_faults_are_named_then_the_set_has_them),
		cmocka_unit_test(when_a_plan_is_drawn_then_only_allowed_faults_are_in_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
