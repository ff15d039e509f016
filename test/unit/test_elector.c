/*
 * elector: processes of a simulated cluster that want the same lease. What becomes of it when they stop, die, freeze or may not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/log.h"
#include "common/kube/elector.h"
#include "common/kube/lease.h"
#include "sim/client_sim.h"
#include "sim/virtual_loop.h"

enum { MEMBERS = 3 };
#define LEASE "kar-controllers"
#define NS "default"

static const kar_time wall = 1795268787000; /* 2026-11-21T13:46:27Z */
static const struct kar_resource configmaps = { .group = "",
	.version = "v1",
	.plural = "configmaps",
	.kind = "ConfigMap",
	.namespaced = true };

struct member {
	struct world *w;
	char name[8];
	struct kar_loop *loop;
	struct kar_client *client;
	struct kar_elector *elector; /* NULL: it does not live */
	bool leads, lost, stopped;
	kar_time since; /* when it was told that it leads */
	int written, refused;
};

struct world {
	struct sim_timeline *timeline;
	struct sim_apiserver *server;
	struct sim_wire *wire;
	struct member members[MEMBERS];
	struct kar_buf log;
	int writes; /* of the lease */
};

static kar_time now_of(const struct world *w)
{
	return sim_timeline_mono(w->timeline);
}

static void on_won(void *arg)
{
	struct member *m = arg;

	m->leads = true;
	m->since = now_of(m->w);
}

static void on_lost(void *arg, const char *holder)
{
	struct member *m = arg;

	assert_non_null(holder);
	m->leads = false;
	m->lost = true;
}

static void on_stopped(void *arg)
{
	struct member *m = arg;

	m->leads = false;
	m->stopped = true;
}

static void keep_log(void *arg, const char *line, size_t n)
{
	struct world *w = arg;

	kar_buf_append(&w->log, line, n);
}

static void on_change(void *arg, const struct sim_change *c)
{
	struct world *w = arg;

	w->writes += strcmp(c->resource, "leases") == 0;
}

static void set_up(struct world *w)
{
	const struct sim_apiserver_options o = { .seed = 1 };

	*w = (struct world){ 0 };
	w->timeline = sim_timeline_new(wall);
	w->server = sim_apiserver_new(w->timeline, &o);
	w->wire = sim_wire_new(w->server, 1, &(struct sim_faults){ 0 });
	sim_apiserver_listen(w->server, on_change, w);
	kar_log_init(KAR_LOG_TEXT, 2);
	kar_log_redirect(keep_log, w);
	for (size_t i = 0; i < MEMBERS; i++) {
		w->members[i].w = w;
		snprintf(w->members[i].name, sizeof(w->members[i].name), "m%zu", i);
	}
}

static void join(struct member *m)
{
	const struct kar_elector_options o = { .ns = NS,
		.name = LEASE,
		.identity = m->name,
		.app = "me",
		.times = { 15 * KAR_SECOND, 10 * KAR_SECOND, 2 * KAR_SECOND },
		.seed = (uint64_t)m->name[1],
		.won = on_won,
		.lost = on_lost,
		.arg = m };

	m->loop = sim_loop_new(m->w->timeline);
	m->client = sim_client_new(m->loop, m->w->wire, m->name);
	m->elector = kar_elector_new(m->loop, m->client, &o);
	kar_elector_start(m->elector);
}

/* Without a word to anybody. */
static void die(struct member *m)
{
	if (!m->elector)
		return;
	kar_elector_free(m->elector);
	kar_client_free(m->client);
	kar_loop_free(m->loop);
	m->elector = NULL;
	m->leads = false;
}

static void tear_down(struct world *w)
{
	for (size_t i = 0; i < MEMBERS; i++)
		die(&w->members[i]);
	sim_wire_free(w->wire);
	sim_apiserver_free(w->server);
	sim_timeline_free(w->timeline);
	kar_log_redirect(NULL, NULL);
	kar_buf_release(&w->log);
}

static void run(struct world *w, kar_time ms)
{
	sim_timeline_run(w->timeline, now_of(w) + ms);
}

static struct member *leader(struct world *w)
{
	struct member *found = NULL;

	for (size_t i = 0; i < MEMBERS; i++) {
		if (!w->members[i].leads)
			continue;
		assert_null(found); /* two of them */
		found = &w->members[i];
	}
	return found;
}

static const char *spec_of(struct world *w, const char *member)
{
	const struct sim_value *lease =
		sim_apiserver_peek(w->server, "coordination.k8s.io", "leases", NS, LEASE);

	return sim_text_or(sim_get(lease, "spec", member), "");
}

static const char *label_of(struct world *w, const char *key)
{
	const struct sim_value *lease =
		sim_apiserver_peek(w->server, "coordination.k8s.io", "leases", NS, LEASE);

	return sim_text_or(sim_get(lease, "metadata", "labels", key), "");
}

static void on_written(void *arg, const struct kar_answer *answer, const struct kar_err *err)
{
	struct member *m = arg;

	m->written += answer != NULL;
	m->refused += err != NULL && err->what == KAR_RETRY;
}

static void write_something(struct member *m)
{
	static const char body[] = "{\"metadata\":{\"generateName\":\"x-\"}}";
	struct kar_request q = kar_client_create(&configmaps, NS, (struct kar_str){ body, sizeof(body) - 1 });

	q.on_done = on_written;
	q.arg = m;
	(void)kar_client_start(m->client, &q);
}

static void join_all(struct world *w)
{
	for (size_t i = 0; i < MEMBERS; i++) {
		join(&w->members[i]);
		run(w, 100);
	}
}

static void the_first_leads_and_the_others_wait(void **state KAR_UNUSED)
{
	struct world w;

	set_up(&w);
	join_all(&w);
	run(&w, 60 * KAR_SECOND);
	assert_ptr_equal(leader(&w), &w.members[0]);
	assert_string_equal(spec_of(&w, "holderIdentity"), "m0");
	assert_string_equal(label_of(&w, "app.kubernetes.io/name"), "me");
	assert_in_range(w.writes, 28, 33); /* one every two seconds, and none of the others */
	for (size_t i = 0; i < MEMBERS; i++)
		write_something(&w.members[i]);
	run(&w, KAR_SECOND);
	assert_int_equal(w.members[0].written, 1);
	assert_int_equal(w.members[1].written + w.members[2].written, 0);
	assert_int_equal(w.members[1].refused + w.members[2].refused, 2);
	tear_down(&w);
}

static void a_stopped_leader_is_followed_at_once(void **state KAR_UNUSED)
{
	struct world w;
	kar_time begin;

	set_up(&w);
	join_all(&w);
	run(&w, 30 * KAR_SECOND);
	begin = now_of(&w);
	kar_elector_stop(w.members[0].elector, on_stopped, &w.members[0]);
	run(&w, 500);
	assert_true(w.members[0].stopped);
	assert_non_null(leader(&w));
	assert_in_range(leader(&w)->since - begin, 1, 500);
	write_something(&w.members[0]);
	run(&w, 100);
	assert_int_equal(w.members[0].written, 0);
	tear_down(&w);
}

static void a_candidate_stops_without_a_write(void **state KAR_UNUSED)
{
	struct world w;
	int writes;

	set_up(&w);
	join_all(&w);
	run(&w, 1000);
	writes = w.writes;
	kar_elector_stop(w.members[1].elector, on_stopped, &w.members[1]);
	run(&w, 100);
	assert_true(w.members[1].stopped);
	assert_int_equal(w.writes, writes);
	assert_string_equal(spec_of(&w, "holderIdentity"), "m0");
	tear_down(&w);
}

static void a_dead_leader_is_followed_when_the_lease_is_over(void **state KAR_UNUSED)
{
	struct world w;
	kar_time begin;
	int before;

	set_up(&w);
	join_all(&w);
	run(&w, 30 * KAR_SECOND);
	for (before = w.writes; w.writes == before;)
		run(&w, 1);
	begin = now_of(&w); /* it has just renewed */
	die(&w.members[0]);
	run(&w, 14900);
	assert_null(leader(&w));
	run(&w, 2100);
	assert_non_null(leader(&w));
	assert_in_range(leader(&w)->since - begin, 15000, 15500);
	assert_string_equal(spec_of(&w, "holderIdentity"), leader(&w)->name);
	tear_down(&w);
}

static void a_frozen_leader_writes_nothing_when_it_thaws(void **state KAR_UNUSED)
{
	struct world w;
	struct member *m = &w.members[0];

	set_up(&w);
	join_all(&w);
	run(&w, 30 * KAR_SECOND);
	sim_loop_freeze(m->loop);
	run(&w, 20 * KAR_SECOND);
	assert_true(w.members[1].leads || w.members[2].leads);
	sim_loop_thaw(m->loop);
	write_something(m); /* before it has looked at anything */
	run(&w, KAR_SECOND);
	assert_int_equal(m->written, 0);
	assert_true(m->lost);
	assert_false(kar_elector_leads(m->elector));
	assert_non_null(leader(&w));
	tear_down(&w);
}

static void an_outage_shorter_than_the_lease_costs_nothing(void **state KAR_UNUSED)
{
	struct world w;

	set_up(&w);
	join_all(&w);
	run(&w, 30 * KAR_SECOND);
	sim_wire_disturb(w.wire, &(struct sim_faults){ .rate[SIM_FAULT_LOST] = 10000 });
	run(&w, 14 * KAR_SECOND);
	write_something(&w.members[0]);
	run(&w, 100);
	assert_int_equal(w.members[0].refused, 1);
	sim_wire_calm(w.wire);
	run(&w, 10 * KAR_SECOND);
	assert_ptr_equal(leader(&w), &w.members[0]);
	assert_false(w.members[0].lost);
	write_something(&w.members[0]);
	run(&w, 100);
	assert_int_equal(w.members[0].written, 1);
	tear_down(&w);
}

/* --- what is read and written --------------------------------------------------------------------------- */

static const struct {
	const char *name, *lease, *want;
} shapes[] = {
	{ "whole",
		"{\"metadata\":{\"resourceVersion\":\"5\"},\"spec\":{\"holderIdentity\":\"a\",\"leaseDurationSeconds\":15,\"leaseTransitions\":3}}",
		"5 a 15000 3" },
	{ "ours", "{\"metadata\":{\"resourceVersion\":\"5\"},\"spec\":{\"holderIdentity\":\"me\"}}",
		"5 me! 0 0" },
	{ "empty", "{\"metadata\":{\"resourceVersion\":\"5\"}}", "5  0 0" },
	{ "null", "{\"metadata\":{\"resourceVersion\":\"5\"},\"spec\":null}", "5  0 0" },
	{ "negative",
		"{\"metadata\":{\"resourceVersion\":\"5\"},\"spec\":{\"holderIdentity\":\"a\",\"leaseDurationSeconds\":-1,\"leaseTransitions\":-1}}",
		"5 a 0 0" },
	{ "wrong types",
		"{\"metadata\":{\"resourceVersion\":\"5\"},\"spec\":{\"holderIdentity\":[1],\"leaseDurationSeconds\":\"x\"}}",
		"5  0 0" },
	{ "no version", "{\"metadata\":{},\"spec\":{}}", "the Lease has no usable metadata.resourceVersion" },
};

static void reads_records_of_any_shape(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(shapes); i++) {
		struct kar_lease_record r;
		struct kar_err err;
		char got[KAR_ERR_MSG_BYTES];

		if (kar_lease_decode((struct kar_str){ shapes[i].lease, strlen(shapes[i].lease) }, "me", &r,
			    &err))
			snprintf(got, sizeof(got), "%s", err.msg);
		else
			snprintf(got, sizeof(got), "%s %s%s %lld %lld", r.rv, r.holder, r.ours ? "!" : "",
				(long long)r.duration, (long long)r.transitions);
		if (strcmp(got, shapes[i].want) != 0)
			fail_msg("%s: got \"%s\", want \"%s\"", shapes[i].name, got, shapes[i].want);
	}
}

static void put_lease(struct world *w, const char *text)
{
	struct kar_err err;
	struct sim_value *v = sim_parse(text, strlen(text), &err);
	struct sim_request rq = { .verb = KAR_CREATE,
		.group = "coordination.k8s.io",
		.version = "v1",
		.resource = "leases",
		.ns = NS,
		.body = { text, strlen(text) },
		.user = "stranger" };
	struct sim_response answer = { 0 };

	assert_non_null(v);
	sim_unref(v);
	sim_apiserver_call(w->server, &rq, &answer);
	assert_int_equal(answer.code, 201);
	sim_response_release(&answer);
}

static void a_lease_of_a_stranger_keeps_what_is_his(void **state KAR_UNUSED)
{
	struct world w;

	set_up(&w);
	put_lease(&w,
		"{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{\"name\":\"" LEASE
		"\",\"labels\":{\"a\":\"b\"},\"annotations\":{\"c\":\"d\"}},\"spec\":{\"holderIdentity\":\"x\\u001b[31m\","
		"\"leaseDurationSeconds\":40,\"leaseTransitions\":7}}");
	join(&w.members[0]);
	run(&w, 39 * KAR_SECOND);
	assert_null(leader(&w));
	run(&w, 2 * KAR_SECOND);
	assert_ptr_equal(leader(&w), &w.members[0]);
	const struct sim_value *lease =
		sim_apiserver_peek(w.server, "coordination.k8s.io", "leases", NS, LEASE);

	assert_string_equal(sim_text_or(sim_get(lease, "metadata", "labels", "a"), ""), "b");
	assert_string_equal(label_of(&w, "app.kubernetes.io/name"), "me"); /* it is ours now */
	assert_string_equal(sim_text_or(sim_get(lease, "metadata", "annotations", "c"), ""), "d");
	assert_int_equal(sim_get_int(lease, -1, "spec", "leaseTransitions"), 8);
	assert_int_equal(sim_get_int(lease, -1, "spec", "leaseDurationSeconds"), 15);
	assert_non_null(strstr(kar_buf_cstr(&w.log), "holder=\"x\\x1b[31m\""));
	assert_null(strchr(kar_buf_cstr(&w.log), '\x1b'));
	tear_down(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_leads_and_the_others_wait),
		cmocka_unit_test(a_stopped_leader_is_followed_at_once),
		cmocka_unit_test(a_candidate_stops_without_a_write),
		cmocka_unit_test(a_dead_leader_is_followed_when_the_lease_is_over),
		cmocka_unit_test(a_frozen_leader_writes_nothing_when_it_thaws),
		cmocka_unit_test(an_outage_shorter_than_the_lease_costs_nothing),
		cmocka_unit_test(reads_records_of_any_shape),
		cmocka_unit_test(a_lease_of_a_stranger_keeps_what_is_his),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
