/*
 * executor_bench - an executor over a fake client, and plans for it. For one test executable: all functions are static.
 */
#ifndef KAR_TEST_EXECUTOR_BENCH_H
#define KAR_TEST_EXECUTOR_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "controllers/runtime/executor.h"
#include "controllers/runtime/create_backoff.h"
#include "test/fixture/fake_client.h"

static const struct kar_type jobs = { .res = { "example.com", "v1", "jobs", "Job", true } };
static const struct kar_type pods = { .res = { "", "v1", "pods", "Pod", true } };

/* One executor over a fake client, a controller without a mind of its own, and what the executor reported. */
struct bench {
	struct kar_loop *loop;
	struct fake_client *fake;
	struct kar_recorder *recorder;
	struct kar_executor *x;
	struct kar_controller controller;
	int applied;
	struct kar_outcome outcome; /* of the last plan */
	bool unwanted;              /* still_wanted() says no */
	int wrote, refused;
};

static struct bench *bench;

static void on_applied(void *arg, struct kar_sync *s, const struct kar_outcome *o)
{
	struct bench *b = arg;

	(void)s;
	b->applied++;
	b->outcome = *o;
}

static int encode(const struct kar_sync *s, const struct kar_action *a, struct kar_buf *out,
	struct kar_err *err)
{
	(void)s;
	if (a->what == 99)
		return kar_fail(err, KAR_INVALID, "cannot be built");
	kar_buf_printf(out, "{\"metadata\":{\"name\":\"%s\"}}", a->name);
	return 0;
}

static const char *encode_status(const struct kar_sync *s, struct kar_buf *out)
{
	kar_buf_printf(out, "{\"status\":\"%s\"}", (const char *)s->plan.status);
	return "status";
}

static bool still_wanted(const struct kar_sync *s, const struct kar_action *a)
{
	(void)s;
	return a->verb == KAR_CREATE ? !bench->unwanted : strcmp(a->name, "old") != 0;
}

static void wrote(const struct kar_sync *s, const struct kar_action *a, const struct kar_answer *answer)
{
	(void)s;
	(void)a;
	(void)answer;
	bench->wrote++;
}

static void refused(const struct kar_sync *s, const struct kar_action *a, const struct kar_err *err)
{
	(void)s;
	(void)a;
	(void)err;
	bench->refused++;
}

static int set_up(void **state)
{
	struct bench *b = kar_xcalloc(1, sizeof(*b));
	const struct kar_executor_options o = { .max_in_flight = 4, .status_interval = 1000 };
	const struct kar_workqueue_options q = { 0 };

	b->loop = kar_loop_new();
	b->fake = fake_client_new();
	b->recorder = kar_recorder_new(b->loop, &b->fake->client, "test", "here", 1);
	b->x = kar_executor_new(b->loop, &b->fake->client, b->recorder, &o, on_applied, b);
	b->controller = (struct kar_controller){ .name = "test",
		.queue = kar_workqueue_new(&q),
		.barrier = kar_barrier_new(),
		.encode = encode,
		.encode_status = encode_status,
		.still_wanted = still_wanted,
		.refused = refused,
		.wrote = wrote };
	bench = b;
	*state = b;
	return 0;
}

static int tear_down(void **state)
{
	struct bench *b = *state;

	kar_executor_free(b->x);
	kar_recorder_free(b->recorder);
	kar_workqueue_free(b->controller.queue);
	kar_barrier_free(b->controller.barrier);
	kar_client_free(&b->fake->client);
	kar_loop_free(b->loop);
	free(b);
	return 0;
}

/* A sync of @key whose object has the UID "uid-" + name. */
struct job {
	struct kar_sync s;
	struct kar_key_state state;
	struct kar_object object;
};

static struct job *new_job(struct bench *b, const char *name)
{
	struct job *j = kar_xcalloc(1, sizeof(*j));

	j->object = (struct kar_object){ .type = &jobs,
		.refs = 1,
		.ns = "default",
		.name = name,
		.uid = "uid-1" };
	j->s = (struct kar_sync){ .controller = &b->controller,
		.key = name,
		.mono = 5000,
		.state = &j->state,
		.object = &j->object };
	kar_plan_init(&j->s.plan, &j->s.arena);
	return j;
}

static void free_job(struct job *j)
{
	kar_create_backoff_forget(j->s.controller, &j->state);
	kar_arena_release(&j->s.arena);
	free(j);
}

static struct kar_action *add(struct job *j, enum kar_verb verb, const char *name)
{
	return kar_plan_add(&j->s.plan, verb, &pods, "default", name);
}

static KAR_UNUSED void add_pod(struct job *j, const char *name, enum kar_tier tier, int32_t priority,
	uint32_t seq)
{
	add(j, KAR_CREATE, name)->rank = (struct kar_rank){ tier, priority, 100, seq };
}

static KAR_UNUSED void assert_open(const struct bench *b, const char *want)
{
	char got[4096];

	assert_string_equal(fake_open(b->fake, got, sizeof(got)), want);
}

static void answer(struct bench *b, const char *request)
{
	int i = fake_find(b->fake, request);

	if (i < 0)
		fail_msg("no open request \"%s\"", request);
	fake_answer(b->fake, i, "{}", 7);
}

static KAR_UNUSED void refuse(struct bench *b, const char *request, enum kar_class what)
{
	int i = fake_find(b->fake, request);

	if (i < 0)
		fail_msg("no open request \"%s\"", request);
	fake_refuse(b->fake, i, what, "no");
}

#endif
