/* The manager as a whole over a cluster that refuses what it asks for: how often it asks, what it logs, and what events say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/log.h"
#include "common/mem.h"
#include "controllers/manager.h"

enum { DEADLINE = 5000 };

#define QUEUE "{\"metadata\":{\"name\":\"default\",\"uid\":\"u\",\"resourceVersion\":\"3\"},\"spec\":{}}"

struct cluster {
	struct kar_client client; /* first */
	enum kar_verb refuses;
	const char *queues; /* the items of their list */
	int events;         /* that tell of a refusal */
	struct kar_loop *loop;
	struct kar_manager *manager;
	struct kar_timer *watchdog;
	kar_time asked[2]; /* mono, of what it refuses */
	int refused;
	int errors, repeated; /* lines of the log about failed syncs */
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
		is_of(r, "queues") ? c->queues : "");
	r->on_data(r->arg, list, strlen(list));
}

static void answer(void *arg)
{
	static const struct kar_err denied = { .what = KAR_DENIED, .msg = "write queues default: no" };
	static const struct kar_answer ok = { .status = 200, .uid = "", .rv = 7 };
	struct kar_call *call = arg;
	const struct kar_request r = call->request;
	struct cluster *c = call->cluster;

	end_call(call);
	if (r.verb == c->refuses) {
		r.on_done(r.arg, NULL, &denied);
		return;
	}
	if (r.on_data)
		give_list(c, &r);
	r.on_done(r.arg, &ok, NULL);
}

static void note(struct cluster *c, const struct kar_request *r)
{
	static const char told[] = "\"note\":\"cannot write queues default: no\"";

	if (r->verb == c->refuses && is_of(r, "queues") && c->refused < (int)KAR_LEN(c->asked))
		c->asked[c->refused++] = kar_loop_mono(c->loop);
	if (r->verb == KAR_CREATE && is_of(r, "events") && memmem(r->body.p, r->body.n, told, strlen(told)))
		c->events++;
}

static struct kar_call *start(struct kar_client *client, const struct kar_request *r)
{
	struct cluster *c = kar_container_of(client, struct cluster, client);
	struct kar_call *call = kar_xcalloc(1, sizeof(*call));

	call->cluster = c;
	call->request = *r;
	call->timer = kar_timer_new(c->loop, answer, call);
	note(c, r);
	if (r->verb != KAR_WATCH) /* those hang until they are cancelled */
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

/* The second refusal has been answered: enough seen. */
static void count_line(void *arg, const char *line, size_t n)
{
	struct cluster *c = arg;

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
	static const struct kar_client_ops ops = { start, cancel, free_client };
	const struct kar_manager_options o = { .instance = "here" };

	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct cluster c = { .client = { &ops },
			.loop = kar_loop_new(),
			.refuses = rows[i].refuses,
			.queues = rows[i].queues };

		kar_log_init(KAR_LOG_TEXT, 2);
		kar_log_redirect(count_line, &c);
		c.watchdog = kar_timer_new(c.loop, too_late, &c);
		kar_timer_start(c.watchdog, DEADLINE);
		c.manager = kar_manager_new(c.loop, &c.client, &o);
		kar_manager_start(c.manager);
		kar_loop_run(c.loop);
		kar_log_redirect(NULL, NULL);
		if (c.events != rows[i].events)
			fail_msg("%s: %d events", rows[i].name, c.events);
		assert_true(c.clean);
		assert_int_equal(c.refused, 2);
		assert_true(c.asked[1] - c.asked[0] >= rows[i].apart);
		assert_int_equal(c.errors, 1);
		assert_int_equal(c.repeated, 1);
		kar_manager_free(c.manager);
		kar_timer_free(c.watchdog);
		kar_loop_free(c.loop);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refused_write_is_rarely_tried_and_told_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
