/* The manager as a whole over a cluster that refuses what it asks for: how often it asks, what it logs, and what events say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "controllers/controllers.h"

enum { DEADLINE = 5000, WAIT = 100 };

#define QUEUE "{\"metadata\":{\"name\":\"default\",\"uid\":\"u\",\"resourceVersion\":\"3\"},\"spec\":{}}"

/* It waits for the queue "default". */
#define GROUP \
	"{\"metadata\":{\"namespace\":\"ns\",\"name\":\"g\",\"uid\":\"u\",\"resourceVersion\":\"3\"},\"spec\":{}}"

struct cluster {
	struct kar_client client; /* first */
	enum kar_verb refuses;
	const char *queues; /* the items of their list */
	int events;         /* that tell of a refusal */
	struct kar_loop *loop;
	struct kar_manager *manager;
	struct kar_timer *watchdog, *lead;
	kar_time asked[2]; /* mono, of what it refuses */
	int refused;
	int errors, repeated;      /* lines of the log about failed syncs */
	int unreadable;            /* lines of the log, and events, about objects that cannot be read */
	enum kar_class list_error; /* answer to each list; 0: it is served */
	int optional, missing_crds,
		others; /* lines of the log about lists that fail: with the remedy for a CRD, or another */
	int away;       /* lists that are still left without an answer */
	int outages, backs;       /* lines of the log: the API server is unreachable, or is reachable again */
	bool candidate;           /* its manager waits */
	int early;                /* writes of a manager that waits */
	const char *ns;           /* the only one that is managed; NULL: all */
	bool no_namespace;        /* it does not exist */
	int warnings;             /* lines of the log that it does not */
	enum kar_verb unanswered; /* of events: KAR_CREATE; of the status of queues: KAR_PATCH */
	kar_time stopping;        /* mono, since when it is; in the end for how long it was */
	struct kar_call *waits;   /* the write that is not answered before the manager has stopped */
	bool clean;
};

struct kar_call {
	struct cluster *cluster;
	struct kar_request request;
	struct kar_timer *timer;
};

static void end_call(struct kar_call *call)
{
	kar_timer_free(call->timer);
	free(call);
}

static bool is_of(const struct kar_request *r, const char *plural)
{
	return strcmp(r->res->plural, plural) == 0;
}

static void give_list(const struct cluster *c, const struct kar_request *r)
{
	char list[256];

	snprintf(list, sizeof(list),
		"{\"kind\":\"%sList\",\"metadata\":{\"resourceVersion\":\"7\"},\"items\":[%s]}", r->res->kind,
		is_of(r, "queues")                                          ? c->queues
			: is_of(r, "podgroups") && c->refuses == KAR_CREATE ? GROUP
									    : "");
	r->on_data(r->arg, list, strlen(list));
}

static void on_stopped(void *arg, bool clean);

static void expect_path(const struct kar_request *r, const char *want)
{
	struct kar_buf path = { 0 };

	kar_request_path(r, &path);
	assert_string_equal(kar_buf_cstr(&path), want);
	kar_buf_release(&path);
}

static void answer(void *arg)
{
	static const struct kar_err denied = { .what = KAR_DENIED, .msg = "write queues default: no" };
	static const struct kar_err away = { .what = KAR_RETRY,
		.cause = KAR_CAUSE_CONNECTION,
		.msg = "refused" };
	static const struct kar_err missing = { .what = KAR_NOTFOUND, .http = 404, .msg = "no" };
	static const struct kar_answer ok = { .status = 200, .uid = "", .rv = 7 };
	struct kar_call *call = arg;
	const struct kar_request r = call->request;
	struct cluster *c = call->cluster;

	end_call(call);
	if (r.verb == KAR_GET) {
		expect_path(&r, "/api/v1/namespaces/nope");
		r.on_done(r.arg, c->no_namespace ? NULL : &ok, c->no_namespace ? &missing : NULL);
		kar_manager_stop(c->manager, on_stopped, c);
		return;
	}
	if (r.verb == c->refuses) {
		r.on_done(r.arg, NULL, &denied);
		return;
	}
	if (r.verb == KAR_LIST && c->away > 0) {
		c->away--;
		r.on_done(r.arg, NULL, &away);
		return;
	}
	if (r.verb == KAR_LIST && c->list_error) {
		r.on_done(r.arg, NULL, &(struct kar_err){ .what = c->list_error, .msg = "no" });
		return;
	}
	if (r.on_data)
		give_list(c, &r);
	r.on_done(r.arg, &ok, NULL);
}

/* A line of the log or the body of an event. Both have been seen: enough. */
static void note_unreadable(struct cluster *c, const char *text, size_t n)
{
	static const char problem[] = "spec.state: want a string, got a number";

	if (memmem(text, n, problem, strlen(problem)) && ++c->unreadable == 2)
		kar_manager_stop(c->manager, on_stopped, c);
}

/* A manager of one namespace may not read the others. */
static void check_list(const struct cluster *c, const struct kar_request *r)
{
	if (r->verb == KAR_LIST && is_of(r, "namespaces"))
		expect_path(r,
			c->ns ? "/api/v1/namespaces?fieldSelector=metadata.name%3Dnope&limit=500"
			      : "/api/v1/namespaces?limit=500");
}

static void note(struct cluster *c, const struct kar_request *r)
{
	static const char told[] = "\"note\":\"cannot write queues default: no\"";

	check_list(c, r);
	c->early += c->candidate && r->verb != KAR_LIST && r->verb != KAR_WATCH;
	if (r->verb == c->refuses && is_of(r, "queues") && c->refused < (int)KAR_LEN(c->asked))
		c->asked[c->refused++] = kar_loop_mono(c->loop);
	if (r->verb == KAR_CREATE && is_of(r, "events") && memmem(r->body.p, r->body.n, told, strlen(told)))
		c->events++;
	if (r->verb == KAR_CREATE && is_of(r, "events"))
		note_unreadable(c, r->body.p, r->body.n);
}

static bool is_unanswered(const struct cluster *c, const struct kar_request *r)
{
	return c->unanswered && r->verb == c->unanswered &&
		is_of(r, r->verb == KAR_CREATE ? "events" : "queues");
}

static struct kar_call *start(struct kar_client *client, const struct kar_request *r)
{
	struct cluster *c = kar_container_of(client, struct cluster, client);
	struct kar_call *call = kar_xcalloc(1, sizeof(*call));

	call->cluster = c;
	call->request = *r;
	call->timer = kar_timer_new(c->loop, answer, call);
	note(c, r);
	if (is_unanswered(c, r)) {
		if (!c->stopping)
			kar_manager_stop(c->manager, on_stopped, c);
		c->stopping = c->stopping ? c->stopping : kar_loop_mono(c->loop);
		c->waits = r->verb == KAR_PATCH ? call : NULL;
	} else if (r->verb != KAR_WATCH) /* those hang until they are cancelled */
		kar_timer_start(call->timer, 0);
	return call;
}

static void cancel(struct kar_client *client, struct kar_call *call)
{
	(void)client;
	end_call(call);
}

static void free_client(struct kar_client *client)
{
	(void)client;
}

static void on_stopped(void *arg, bool clean)
{
	struct cluster *c = arg;

	c->clean = clean;
	kar_loop_stop(c->loop);
}

/* When each cache has had its line, enough has been seen. */
static void note_list(struct cluster *c, const char *line, size_t n)
{
	static const char crd[] = "remedy=\"the CustomResourceDefinition is not installed: ";

	static const char without[] = "Going on without a resource";

	if (memmem(line, n, without, strlen(without)))
		c->optional++;
	else if (!memmem(line, n, "Cannot list", strlen("Cannot list")))
		return;
	else if (memmem(line, n, crd, strlen(crd)))
		c->missing_crds++;
	else
		c->others++;
	if (c->missing_crds + c->others + c->optional == KAR_N_STORES)
		kar_manager_stop(c->manager, on_stopped, c);
}

static void note_outage(struct cluster *c, const char *line, size_t n)
{
	static const char lost[] = "API server unreachable", again[] = "API server reachable again";

	c->outages += memmem(line, n, lost, strlen(lost)) != NULL;
	if (!memmem(line, n, again, strlen(again)))
		return;
	assert_int_equal(line[0], 'I');
	c->backs++;
	kar_manager_stop(c->manager, on_stopped, c);
}

/* The second refusal has been answered: enough seen. */
static void count_line(void *arg, const char *line, size_t n)
{
	struct cluster *c = arg;

	note_unreadable(c, line, n);
	note_list(c, line, n);
	note_outage(c, line, n);
	if (c->candidate && memmem(line, n, "Caches synced", strlen("Caches synced")))
		kar_timer_start(c->lead, WAIT);
	c->warnings += line[0] == 'W' && memmem(line, n, "namespace=\"nope\"", strlen("namespace=\"nope\""));
	if (memmem(line, n, "Sync failed, ", strlen("Sync failed, "))) {
		assert_int_equal(line[0], 'E');
		c->errors++;
	} else if (memmem(line, n, "Sync failed again, ", strlen("Sync failed again, "))) {
		assert_int_equal(line[0], 'I');
		c->repeated++;
	}
	if (c->errors + c->repeated == 2)
		kar_manager_stop(c->manager, on_stopped, c);
}

static void too_late(void *arg)
{
	const struct cluster *c = arg;

	fail_msg("stuck: %d refused, %d errors, %d repeated", c->refused, c->errors, c->repeated);
}

static void lead(void *arg)
{
	struct cluster *c = arg;

	c->candidate = false;
	kar_manager_lead(c->manager);
}

/* A manager over @c, from its start until it is stopped. */
static void run(struct cluster *c)
{
	static const struct kar_client_ops ops = { start, cancel, free_client };
	const struct kar_controllers_options o = { .instance = "here",
		.ns = c->ns,
		.candidate = c->candidate };

	c->client = (struct kar_client){ &ops };
	c->loop = kar_loop_new();
	kar_log_init(KAR_LOG_TEXT, 4);
	kar_log_redirect(count_line, c);
	c->watchdog = kar_timer_new(c->loop, too_late, c);
	kar_timer_start(c->watchdog, DEADLINE);
	c->lead = kar_timer_new(c->loop, lead, c);
	c->manager = kar_controllers_new(c->loop, &c->client, &o);
	kar_manager_start(c->manager);
	kar_loop_run(c->loop);
	kar_log_redirect(NULL, NULL);
	assert_int_equal(c->clean, c->unanswered != KAR_PATCH);
	c->stopping = c->stopping ? kar_loop_mono(c->loop) - c->stopping : 0;
	if (c->waits)
		answer(c->waits);
	kar_manager_free(c->manager);
	kar_timer_free(c->watchdog);
	kar_timer_free(c->lead);
	kar_loop_free(c->loop);
}

static const struct {
	const char *name, *queues;
	enum kar_verb refuses;
	kar_time apart; /* ms, at least */
	int events;
} rows[] = {
	{ "the default queue cannot be created", "", KAR_CREATE, 400, 0 },
	{ "the status of a queue cannot be written", QUEUE, KAR_PATCH, 2, 1 },
};

static void refused_write_is_rarely_tried_and_told_once(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct cluster c = { .refuses = rows[i].refuses, .queues = rows[i].queues };

		run(&c);
		if (c.events != rows[i].events)
			fail_msg("%s: %d events", rows[i].name, c.events);
		assert_int_equal(c.refused, 2);
		assert_true(c.asked[1] - c.asked[0] >= rows[i].apart);
		assert_int_equal(c.errors, 1);
		assert_int_equal(c.repeated, 1);
	}
}

static void candidate_reads_and_does_nothing_until_it_leads(void **state)
{
	struct cluster c = { .refuses = KAR_CREATE, .queues = "", .candidate = true };

	(void)state;
	run(&c);
	assert_int_equal(c.early, 0);
	assert_false(c.candidate);
	assert_int_equal(c.refused, 2);
}

#define UNREADABLE \
	"{\"metadata\":{\"name\":\"default\",\"uid\":\"u\",\"resourceVersion\":\"3\"},\"spec\":{\"state\":5}}"

static void unreadable_object_is_told_in_the_log_and_in_an_event(void **state)
{
	struct cluster c = { .refuses = KAR_DELETE, .queues = UNREADABLE };

	(void)state;
	run(&c);
	assert_int_equal(c.unreadable, 2);
}

static void list_that_fails_is_logged_with_its_remedy(void **state)
{
	struct cluster missing = { .refuses = KAR_DELETE, .list_error = KAR_NOTFOUND };
	struct cluster denied = { .refuses = KAR_DELETE, .list_error = KAR_DENIED };

	(void)state;
	run(&missing);
	assert_int_equal(missing.missing_crds, 4);
	assert_int_equal(missing.optional, 21);
	run(&denied);
	assert_int_equal(denied.missing_crds, 0);
	assert_int_equal(denied.optional, 21);
}

/* All caches fail twice. Those whose turn is later do not wait for it once the first has had an answer. */
static void outage_is_logged_once_for_all_caches(void **state)
{
	struct cluster c = { .refuses = KAR_DELETE, .queues = "", .away = 2 * KAR_N_STORES };

	(void)state;
	run(&c);
	assert_int_equal(c.outages, 1);
	assert_int_equal(c.backs, 1);
	assert_int_equal(c.missing_crds + c.others, 0);
}

/* Who only waits for events does not keep its successor waiting. */
static void stop_waits_for_writes_longer_than_for_events(void **state)
{
	struct cluster events = { .refuses = KAR_PATCH, .queues = QUEUE, .unanswered = KAR_CREATE };
	struct cluster writes = { .refuses = KAR_DELETE, .queues = QUEUE, .unanswered = KAR_PATCH };

	(void)state;
	run(&events);
	assert_in_range(events.stopping, 1000, 2500);
	run(&writes);
	assert_in_range(writes.stopping, 3000, 4500);
}

static void namespace_that_does_not_exist_is_named(void **state)
{
	(void)state;
	for (int missing = 0; missing <= 1; missing++) {
		struct cluster c = { .refuses = KAR_DELETE,
			.queues = "",
			.ns = "nope",
			.no_namespace = missing };

		run(&c);
		assert_int_equal(c.warnings, missing);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refused_write_is_rarely_tried_and_told_once),
		cmocka_unit_test(candidate_reads_and_does_nothing_until_it_leads),
		cmocka_unit_test(unreadable_object_is_told_in_the_log_and_in_an_event),
		cmocka_unit_test(outage_is_logged_once_for_all_caches),
		cmocka_unit_test(namespace_that_does_not_exist_is_named),
		cmocka_unit_test(stop_waits_for_writes_longer_than_for_events),
		cmocka_unit_test(list_that_fails_is_logged_with_its_remedy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
