/*
 * quota_retry_fixture - jobs ns/j0 ... that a quota refuses, and the queue in which they are woken. For
 * one test executable: all functions are static.
 */
#ifndef KAR_TEST_QUOTA_RETRY_FIXTURE_H
#define KAR_TEST_QUOTA_RETRY_FIXTURE_H

#include <stdio.h>
#include <string.h>

#include "common/kube/barrier.h"
#include "controllers/queuejob/memory.h"
#include "controllers/queuejob/quota_retry.h"

enum { JOBS = 8 };

static const struct kar_type pods = { .res = { "", "v1", "pods", "Pod", true } };

struct world {
	struct kar_controller controller;
	struct kar_key_state states[JOBS];
};

static struct world w;
static struct queuejob_shared shared;

static KAR_UNUSED int set_up(void **state)
{
	const struct kar_workqueue_options o = { 0 };

	(void)state;
	w = (struct world){
		.controller = { .queue = kar_workqueue_new(&o), .gate = &quota_retry_gate, .shared = &shared }
	};
	shared.quotas = quota_retry_new(w.controller.queue);
	return 0;
}

static KAR_UNUSED int tear_down(void **state)
{
	(void)state;
	for (int i = 0; i < JOBS; i++)
		kar_create_backoff_forget(&w.controller, &w.states[i]);
	quota_retry_free(shared.quotas);
	kar_workqueue_free(w.controller.queue);
	return 0;
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

static const char *const keys[JOBS] = { "ns/j0", "ns/j1", "ns/j2", "ns/j3", "other/j4", "ns/j5", "ns/j6",
	"ns/j7" };

static KAR_UNUSED const char *ns_of(int job)
{
	return keys[job][0] == 'n' ? "ns" : "other";
}

static KAR_UNUSED struct kar_sync sync_of(int job, kar_time mono)
{
	return (struct kar_sync){ .controller = &w.controller,
		.key = keys[job],
		.state = &w.states[job],
		.mono = mono };
}

/* A pod of the job is refused. */
static KAR_UNUSED void refuse_rank(int job, struct kar_rank rank, kar_time mono)
{
	struct kar_sync s = sync_of(job, mono);
	const struct kar_action a = { .verb = KAR_CREATE,
		.type = &pods,
		.ns = ns_of(job),
		.name = "p",
		.rank = rank };
	struct kar_err err = { 0 };

	kar_fail(&err, KAR_DENIED, "create pods in ns: pods \"p\" is forbidden: exceeded quota: q");
	err.cause = KAR_CAUSE_QUOTA;
	kar_create_backoff_note(&s, &a, &err, mono);
}

static KAR_UNUSED struct kar_rank minimum_of(int job, int32_t priority)
{
	return (struct kar_rank){ .tier = KAR_TIER_MINIMUM, .priority = priority, .age = job };
}

static KAR_UNUSED struct kar_rank extra_of(int job, int32_t priority, uint32_t round)
{
	return (struct kar_rank){ .tier = KAR_TIER_EXTRA, .priority = priority, .age = job, .seq = round };
}

static KAR_UNUSED void refuse(int job, int32_t priority, kar_time mono)
{
	refuse_rank(job, minimum_of(job, priority), mono);
}

/* Plans a create with @rank of the job at @mono, as the manager does; does it go out? */
static KAR_UNUSED bool goes_out(int job, struct kar_rank rank, kar_time mono, kar_time *hold)
{
	struct kar_sync s = sync_of(job, mono);
	bool out;

	kar_plan_init(&s.plan, &s.arena);
	kar_plan_add(&s.plan, KAR_CREATE, &pods, ns_of(job), "p")->rank = rank;
	kar_create_backoff_hold_creates(&s);
	out = s.plan.n_actions > 0;
	if (hold)
		*hold = s.plan.requeue_after;
	kar_arena_release(&s.arena);
	return out;
}

/* What it was refused before decides. */
static KAR_UNUSED bool tries(int job, kar_time mono, kar_time *hold)
{
	return goes_out(job, (struct kar_rank){ .tier = KAR_TIER_CONTROL }, mono, hold);
}

/* Jobs whose keys wait in the work queue, "0 2". */
static KAR_UNUSED const char *woken(void)
{
	static char text[64];
	const char *key;
	int n = 0;

	text[0] = '\0';
	while ((key = kar_workqueue_take(w.controller.queue, 0)) != NULL) {
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%s%c", n ? " " : "", key[strlen(key) - 1]);
		kar_workqueue_done(w.controller.queue, key);
	}
	return text;
}

#endif
