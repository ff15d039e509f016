/* Observing has no side effects: the same view twice, the same memory after it, and the same view later as without it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "controllers/queuejob/observe.h"
#include "test/unit/queuejob_quota_fixture.h"

enum { NOW = 5000, LATER = 5600 };

/* --- states -------------------------------------------------------------------------------------- */

#define TASK_OF_TWO "\"taskSpecs\":[{\"name\":\"w\",\"replicas\":2," TEMPLATE "}]"

static void job_begins_to_wait(void)
{
	put_job(",\"spec\":{\"suspend\":true," TASK_OF_TWO "}");
}

static void job_waits(void)
{
	job_begins_to_wait();
	assert_true(sync_at(NOW - 100));
}

static void job_waits_no_more(void)
{
	job_waits();
	put_starting_job();
}

static void refuse_template(void)
{
	const struct queuejob_new_pod pod = { .task = 0 };
	struct kar_err err = { 0 };

	kar_fail(&err, KAR_INVALID, "Pod \"j-w-0\" is invalid: spec.x: Not found");
	queuejob_remember_refused(queuejob_remember(&w.sync), &pod, 1, &err, NOW - 100);
}

static void template_is_refused(void)
{
	job_waits();
	refuse_template();
}

static void refused_template_is_edited(void)
{
	template_is_refused();
	put(w.stores.queuejobs, "j", "job-uid", ",\"generation\":2",
		",\"spec\":{\"suspend\":true," TASK_OF_TWO "}");
}

static void memory_is_of_another_job(void)
{
	template_is_refused();
	kar_store_delete(w.stores.queuejobs, "ns", "j", "job-uid", ++w.rv);
	put(w.stores.queuejobs, "j", "new-uid", ",\"generation\":1", SPEC);
}

static void create_is_refused(void)
{
	start_refused();
}

static const struct {
	const char *name;
	void (*put)(void);
	bool remembers; /* the memory of the job exists, so that it could be changed */
} states[] = {
	{ "job begins to wait", job_begins_to_wait, false },
	{ "job waits", job_waits, true },
	{ "job waits no more", job_waits_no_more, true },
	{ "template is refused", template_is_refused, true },
	{ "refused template is edited", refused_template_is_edited, true },
	{ "memory is of another job", memory_is_of_another_job, true },
	{ "create is refused", create_is_refused, false },
};

/* --- a view as text: every member ---------------------------------------------------------------- */

static void print_object(struct kar_buf *out, const char *what, const struct kar_object *o)
{
	if (o)
		kar_buf_printf(out, "%s %s %s %ju; ", what, o->name, o->uid, (uintmax_t)o->rv);
}

static void print_pods(struct kar_buf *out, const char *what, const struct kar_pod *const *pods, size_t n)
{
	for (size_t i = 0; i < n; i++)
		print_object(out, what, &pods[i]->o);
}

static void print_objects(struct kar_buf *out, const struct queuejob_view *v)
{
	print_object(out, "job", v->job ? &v->job->o : NULL);
	print_object(out, "spec", v->sched ? &v->sched->o : NULL);
	print_object(out, "group", v->group ? &v->group->o : NULL);
	print_object(out, "service", v->service ? &v->service->o : NULL);
	print_object(out, "queue", v->queues[0] ? &v->queues[0]->o : NULL);
	print_pods(out, "pod", v->pods, v->n_pods);
	print_pods(out, "blocking", v->blocking, v->n_blocking);
	print_pods(out, "orphan", v->orphans, v->n_orphans);
	for (size_t i = 0; v->job && i < v->job->spec.n_tasks; i++)
		kar_buf_printf(out, "task priority %d; ", v->task_priority[i]);
}

static void print_refusal(struct kar_buf *out, const struct queuejob_view *v)
{
	kar_buf_printf(out, "refused %s %s stands=%d extra=%d rolled back=%d; ",
		v->refused ? v->refused->msg : "-", v->refused_what ? v->refused_what : "-",
		v->refusal_stands, v->refused_extra, v->rolled_back);
	kar_buf_printf(out, "quota %d; ", v->quota_limits_pods);
}

static void print_check(struct kar_buf *out, const struct queuejob_check *c)
{
	kar_buf_printf(out,
		"check waits=%d passed=%ju refused=%s forbidden=%d task=%zu retry=%ld early=%ld; ", c->waits,
		(uintmax_t)c->passed, c->refused ? c->refused : "-", c->forbidden, c->task, (long)c->retry_in,
		(long)c->early_in);
}

static void print_rest(struct kar_buf *out, const struct queuejob_view *v)
{
	kar_buf_printf(out,
		"priority %d class missing=%d; owner check in %ld checked=%d latest=%d pods %ju; "
		"schedule timeout %d; versions %ju %ju",
		v->priority, v->priority_class_missing, (long)v->owner_check_in, v->owner_checked, v->latest,
		(uintmax_t)v->latest_pods, v->schedule_timeout_seconds, (uintmax_t)v->pods_version,
		(uintmax_t)v->jobs_version);
}

static void begin_sync(kar_time mono)
{
	end_sync();
	w.sync = (struct kar_sync){ .controller = &w.controller,
		.key = "ns/j",
		.now = wall,
		.mono = mono,
		.state = &w.state,
		.object = kar_object_ref(kar_store_get(w.stores.queuejobs, "ns", "j")) };
	w.sync.generation = kar_as_queuejob(w.sync.object)->generation;
	kar_plan_init(&w.sync.plan, &w.sync.arena);
}

/* The view of the sync that has begun, as text. Owned. */
static char *observe(void)
{
	struct kar_buf out = { 0 };
	struct queuejob_view v;
	char *text;

	assert_true(queuejob_observe(&w.stores, &w.sync, &w.sync.arena, &v));
	print_objects(&out, &v);
	print_refusal(&out, &v);
	print_check(&out, &v.check);
	print_rest(&out, &v);
	text = kar_xstrdup(kar_buf_cstr(&out));
	kar_buf_release(&out);
	return text;
}

static char *observe_at(kar_time mono)
{
	begin_sync(mono);
	return observe();
}

/* --- memory -------------------------------------------------------------------------------------- */

/* All bytes of what is remembered of the key. */
struct snapshot {
	unsigned char bytes[8192];
	size_t n;
};

static void add_bytes(struct snapshot *s, const void *from, size_t n)
{
	if (!from)
		return;
	assert_true(n <= sizeof(s->bytes) - s->n);
	memcpy(s->bytes + s->n, from, n);
	s->n += n;
}

static void take_snapshot(struct snapshot *s)
{
	s->n = 0;
	add_bytes(s, &w.state, sizeof(w.state));
	add_bytes(s, key_memory(), sizeof(*key_memory()));
	add_bytes(s, key_memory()->job, sizeof(*key_memory()->job));
	add_bytes(s, w.state.backoff, sizeof(*w.state.backoff));
}

/* --- tests --------------------------------------------------------------------------------------- */

static void check_equal(size_t i, char *have, char *want)
{
	if (strcmp(have, want))
		fail_msg("%s:\n%s\ninstead of\n%s", states[i].name, have, want);
	free(have);
	free(want);
}

static void observing_twice_gives_the_same_view_and_leaves_the_memory_as_it_is(void **state)
{
	static struct snapshot before, after;

	for (size_t i = 0; i < KAR_LEN(states); i++) {
		char *first, *second;

		setup(state);
		states[i].put();
		begin_sync(NOW);
		take_all();
		take_snapshot(&before);
		assert_int_equal(key_memory()->job != NULL, states[i].remembers);
		first = observe();
		second = observe();
		take_snapshot(&after);
		check_equal(i, second, first);
		if (before.n != after.n || memcmp(before.bytes, after.bytes, before.n) != 0)
			fail_msg("%s: observing has changed the memory", states[i].name);
		if (w.sync.plan.n_actions || w.sync.plan.requeue_after != KAR_NEVER || *take())
			fail_msg("%s: observing has planned something", states[i].name);
		assert_int_equal(teardown(state), 0);
	}
}

/* The memory that all keys share is opaque; only a later view can show that it was changed. */
static void view_does_not_depend_on_an_earlier_one(void **state)
{
	for (size_t i = 0; i < KAR_LEN(states); i++) {
		char *alone, *again;

		setup(state);
		states[i].put();
		alone = observe_at(LATER);
		teardown(state);
		setup(state);
		states[i].put();
		free(observe_at(NOW));
		again = observe_at(LATER);
		assert_int_equal(teardown(state), 0);
		check_equal(i, again, alone);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(observing_twice_gives_the_same_view_and_leaves_the_memory_as_it_is),
		cmocka_unit_test(view_does_not_depend_on_an_earlier_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
